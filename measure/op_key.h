/*
 * Identities that last: keys of ops that survive a recompile.
 *
 * A key says what an op is (kind, result shape without layout), where it belongs (scope) and which
 * source file and function made it; never an instruction's name or a line number, since a
 * recompile renumbers the one and an edit above moves the other.
 */
#ifndef MEASURE_OP_KEY_H
#define MEASURE_OP_KEY_H

#include "measure/op_source.h"

struct op_key_text {
	struct str key, family;
};
struct op_key_text op_key_text(const struct run *run, const struct subject *s, struct str scope,
	const struct op_source *where);
/* Of a buffer, by the instruction that defines it and what it is for. */
struct str buffer_key_text(const struct hlo_instruction *i, struct str kind, struct arena *keep);

/* The id as the profile prints it, the name where it has none; missing for ops of no program. */
struct str program_text(const struct program *p, struct arena *keep);

#endif
