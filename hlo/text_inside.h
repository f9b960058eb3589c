/*
 * What the readers of HLO text share: of modules (text.c), and of instructions without one
 * (text_alone.c).
 *
 * Private to hlo/.
 */
#ifndef HLO_TEXT_INSIDE_H
#define HLO_TEXT_INSIDE_H

#include "hlo/scan.h"
#include "hlo/text.h"

struct text {
	struct scan s;
	struct hlo_module *m;
	struct shape_cache *cache;
	ptrdiff_t instruction_cap, computation_cap;
	ptrdiff_t root;	      /* of the computation being read; -1 none yet */
	struct shape *types;  /* of the operands of a lone instruction; else NULL */
	ptrdiff_t type_count; /* read_push's capacity rule */
	bool alone;
};

/* text_sugar.c: "slice-start" is an async-start.  The op of such an opcode, or unknown; and once
 * all names are indices, the computations that were left out. */
enum hlo_op text_sugar_op(struct str opcode);
bool text_desugar(struct text *t);

/* One more instruction, or such a parameter; NULL with why when there are too many. */
struct hlo_instruction *text_push(struct text *t);
struct hlo_instruction *text_parameter(
	struct text *t, struct str name, const struct shape *shape, int64_t number);

void text_begin(struct text *t, struct str text, struct arena *keep);
/* "name = shape opcode(operands), attributes" at the cursor; operands and callees as offsets. */
bool text_instruction(struct text *t, struct hlo_instruction *i);
struct str text_name_at(const struct text *t, ptrdiff_t at);

#endif
