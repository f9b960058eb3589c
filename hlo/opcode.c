/* The table behind opcode.h. */
#include "hlo/opcode.h"

#include "base/stats.h"

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
	ptrdiff_t i;
	FIND_FIRST(i, HLO_OP_UNKNOWN, HLO_OP_COUNT, str_cmp(rows[i].text, text) >= 0);
	return i < HLO_OP_COUNT && str_eq(rows[i].text, text) ? (enum hlo_op)i : HLO_OP_UNKNOWN;
}

enum op_kind opcode_kind(enum hlo_op op)
{
	return rows[(unsigned)op < HLO_OP_COUNT ? op : HLO_OP_UNKNOWN].kind;
}

enum hlo_rule opcode_rule(enum hlo_op op)
{
	return rows[(unsigned)op < HLO_OP_COUNT ? op : HLO_OP_UNKNOWN].rule;
}
