/*
 * What follows an instruction's operands, and a module's name, back into text.
 *
 * Private to hlo/.
 */
#ifndef HLO_PRINT_ATTR_H
#define HLO_PRINT_ATTR_H

#include "base/out.h"
#include "hlo/module.h"

struct printed {
	const struct hlo_module *m;
	const struct hlo_instruction *i;
	const struct hlo_instruction
		*caller; /* what calls what it says: itself, or the op inside */
	bool percent;
	struct arena *keep;
};

void print_attributes(struct out *o, const struct printed *p);
void print_module_attributes(struct out *o, const struct hlo_module *m);
void print_name(struct out *o, struct str name, bool percent);
/* In double quotes, escaped as XLA does it. */
void print_string(struct out *o, struct str s);

#endif
