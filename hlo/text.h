/*
 * HLO modules from text, as XLA dumps them and as people paste them.
 *
 *	module      := ["HloModule" name {"," attribute}] {table | computation}
 *	table       := ("FileNames" | "FunctionNames" | "FileLocations" | "StackFrames") {row}
 *	computation := ["ENTRY"] name [parameters "->" shape] "{" {instruction} "}" [attributes]
 *	instruction := ["ROOT"] name "=" shape opcode "(" {[shape] name} ")" {"," attribute}
 *
 * Names may carry a '%' and operands their types (older dumps) or not (newer ones); async ops may
 * stand for the computations that they call (text_sugar.c).  The result is the same struct
 * hlo_module as from a proto, short of what text does not have: ids, device assignment, buffer
 * assignment.  Attributes that nothing here needs are skipped, known or not.
 *
 * Refuses: a line that is none of these, an operand or a callee that is not there.
 */
#ifndef HLO_TEXT_H
#define HLO_TEXT_H

#include "hlo/module.h"

/* True when bytes are a text rather than a proto, by the first of them. */
bool hlo_is_text(struct str bytes);

/* NULL and a diagnostic with file, line, column and a caret. */
struct hlo_module *hlo_text_parse(
	struct str file, struct str text, struct arena *keep, struct diag *err);

/*
 * One instruction alone, as the root of a module whose parameters are its operands, with the types
 * written beside their names; an operand without one is -1, and so is what it calls.  `name =` may
 * be missing.
 */
struct hlo_module *hlo_text_instruction(
	struct str file, struct str text, struct arena *keep, struct diag *err);

/*
 * "A x B" as the text of an instruction: the last dimension of A against the first of B.  Missing
 * when the text has no " x " outside of brackets.
 */
bool hlo_text_product(
	struct str text, struct arena *keep, struct str *instruction, struct diag *err);

/*
 * The instructions that a program ran, each as one text, as a partial module: one computation,
 * without what they call and what did not run.  Operands are those of them that have the name, else
 * parameters of the type written beside it.  A text that is no instruction is left out; NULL when
 * all are.  The texts must outlive the module.
 */
struct hlo_module *hlo_text_ops(struct str name, const struct str *texts, ptrdiff_t count,
	struct arena *keep, struct diag *err);

#endif
