/* The table behind opcode.h. */
#include "hlo/opcode.h"

static const struct row {
	struct str text;
	enum op_kind kind;
	enum hlo_rule rule;
} rows[HLO_OP_COUNT] = { [HLO_OP_UNKNOWN] = { STR_INIT(""), KIND_UNKNOWN, HLO_RULE_UNKNOWN },
#define X(id, text, kind, rule) [HLO_##id] = { STR_INIT(text), KIND_##kind, HLO_RULE_##rule },
	HLO_OPS(X)
#undef X
};

enum hlo_op opcode_find(struct str text)
{
	int low = HLO_OP_UNKNOWN, high = HLO_OP_COUNT;
	while (high - low > 1) {
		int middle = low + (high - low) / 2;
		if (str_cmp(rows[middle].text, text) <= 0)
			low = middle;
		else
			high = middle;
	}
	return str_eq(rows[low].text, text) ? (enum hlo_op)low : HLO_OP_UNKNOWN;
}

enum op_kind opcode_kind(enum hlo_op op)
{
	return rows[(unsigned)op < HLO_OP_COUNT ? op : HLO_OP_UNKNOWN].kind;
}

enum hlo_rule opcode_rule(enum hlo_op op)
{
	return rows[(unsigned)op < HLO_OP_COUNT ? op : HLO_OP_UNKNOWN].rule;
}
