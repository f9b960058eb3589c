/*
 * Modules and instructions back into text, byte for byte as XLA printed what was read.
 *
 * What the model holds is printed from the model: names, shapes with their layouts, opcodes,
 * operands, callees, dimension numbers, windows, channels, metadata, stack frames, backend
 * configurations.  What it does not (literals of arrays, shardings, frontend attributes, all but
 * the first replica group, aliases) stands as in the text, and so does the order of attributes.
 * The dialect is the text's: '%' or not, types of operands or not, indices between operands or not.
 * Blanks and comments are XLA's, so a text by other hands comes out in XLA's form.
 *
 * Refuses: modules from protos, which have no text; what was read of one is not all of it.
 */
#ifndef HLO_PRINT_H
#define HLO_PRINT_H

#include "base/out.h"
#include "hlo/module.h"

/* Was the module read from text? */
bool hlo_prints(const struct hlo_module *m);

/* "%name = shape opcode(operands), attributes", without "ROOT" and the line's end. */
void hlo_print_instruction(
	const struct hlo_module *m, ptrdiff_t instruction, struct arena *keep, struct out *o);
void hlo_print_computation(
	const struct hlo_module *m, ptrdiff_t computation, struct arena *keep, struct out *o);
void hlo_print_module(const struct hlo_module *m, struct arena *keep, struct out *o);

#endif
