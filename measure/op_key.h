/*
 * Identities that last: keys of ops that survive a recompile, and where an op stands in Python.
 *
 * A key says what an op is (kind, result shape without layout), where it belongs (scope) and which
 * source file and function made it; never an instruction's name or a line number, since a
 * recompile renumbers the one and an edit above moves the other.
 */
#ifndef MEASURE_OP_KEY_H
#define MEASURE_OP_KEY_H

#include "measure/swept.h"

struct op_source {
	struct str file, function; /* of the innermost frame; missing when unknown */
	double line;		   /* NaN when unknown */
	struct str user_file;	   /* first frame under --source-root */
	double user_line;
};
void op_source_of(const struct run *run, const struct subject *s, struct op_source *ret);
/* One more frame of a stack, innermost first: the first one under --source-root is the user's. */
void op_source_user(const struct run *run, struct str file, double line, struct op_source *ret);

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
