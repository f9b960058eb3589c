/* Costs of custom calls, by name.  See kernels.h. */
#include "measure/kernels.h"

#include <math.h>

#include "base/embed.h"
#include "base/keyed.h"
#include "measure/tables.h"

struct kernels {
	const struct op_costs *own;
	struct op_costs known;
	bool is_read; /* the file that ships: when the first custom call asks */
	struct formulas *formulas;
	struct arena *keep;
};

/* ---- what a file says of a kernel ------------------------------------------------------------ */

/* The first stands for a kind that is not given: then the kernel's name decides. */
#define KINDS "custom|matmul|convolution|attention|elementwise|reduce|gather|scatter|sort|rng"

bool key_formula(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	struct formula *to = key_slot(r, k);

	if (!key_scalar(r, k, node))
		return false;
	to->text = node->text;
	return true;
}

#define KEY(what, how, says, ...)                                                                  \
	KEYED(#what, how, .offset = offsetof(struct op_cost, what), .meaning = STR_INIT(says),     \
		__VA_ARGS__)
const struct key kernel_keys[] = {
	KEY(gradient, key_bool, "it makes gradients"),
	KEY(source, key_text, "where its name and operands are from", .required = true),
	KEY(flops, key_formula, "SQL over the shapes of operands"),
	KEY(bytes, key_formula, "SQL over the shapes of operands"),
	KEY(dtype, key_formula,
		"SQL that gives the type that is multiplied; the first factor's by default"),
	KEY(slowest, key_formula,
		"SQL that gives a type that it may be multiplied in as well, at a lower rate"),
	KEY(kind, key_word, "what it is judged as", .form = KINDS),
	KEY(bound, key_word, "what the figures are", .form = COST_WORDS),
	KEYED_END,
};
const struct op_costs *kernels_known(struct arena *keep, struct op_costs *ret, struct diag *err)
{
	static const struct str file = STR_INIT("hardware/kernels.yaml");
	static const struct key each = { .name = STR_INIT("a cost"),
		.origin = offsetof(struct op_cost, origin),
		.keys = kernel_keys };
	static const struct key costs = KEYED("costs", key_entries,
		KEYED_ITEMS(struct op_costs, items, count, cap), .each = &each);
	struct doc *doc = arena_make(keep, struct doc, 1);
	const struct keyed r = {
		.doc = doc, .keep = keep, .mistake = DIAG_RULE_SCHEMA, .err = err, .to = ret
	};

	*ret = (struct op_costs){ 0 };
	return doc_parse(file, embed_find(file), keep, doc, err) &&
			       key_entries(&r, &costs, doc_get(doc->root, costs.name))
		       ? ret
		       : NULL;
}

struct kernels *kernels_new(const struct op_costs *own, struct arena *keep)
{
	struct kernels *k = arena_make(keep, struct kernels, 1);

	*k = (struct kernels){ .own = own, .keep = keep, .formulas = formulas_new(keep) };
	return k;
}

void kernels_free(struct kernels *k)
{
	if (k)
		formulas_free(k->formulas);
}

/* ---- which call ------------------------------------------------------------------------------ */

/* Users name what they know. */
static const struct op_cost *find_own(const struct op_costs *costs, const struct hlo_instruction *i)
{
	for (ptrdiff_t k = costs ? costs->count - 1 : -1; k >= 0; k--) {
		struct str name = costs->items[k].name;
		if (str_glob(i->custom_call_target, name) || str_glob(i->op_name, name) ||
			str_glob(hlo_unnumbered(i->name), name))
			return &costs->items[k];
	}
	return NULL;
}

/* Pallas, by any backend. */
static bool is_kernel(const struct hlo_instruction *i)
{
	return str_eq(i->custom_call_target, STR("tpu_custom_call")) ||
	       str_contains(i->custom_call_target, STR("triton")) ||
	       str_contains(i->custom_call_target, STR("mosaic"));
}

/* A scope further out may have any name. */
static const struct op_cost *find_known(
	const struct op_costs *costs, const struct hlo_instruction *i)
{
	for (ptrdiff_t k = is_kernel(i) ? costs->count - 1 : -1; k >= 0; k--) {
		struct str name = costs->items[k].name;
		if (str_glob(hlo_unnumbered(i->name), name) ||
			str_glob(hlo_scope_end(i->op_name), name))
			return &costs->items[k];
	}
	return NULL;
}

const struct op_cost *kernel_find(struct kernels *k, const struct hlo_instruction *i)
{
	struct diag err;

	if (!k || i->op != HLO_CUSTOM_CALL)
		return NULL;
	const struct op_cost *own = find_own(k->own, i);
	if (own)
		return own;
	if (!k->is_read && !kernels_known(k->keep, &k->known, &err))
		k->known = (struct op_costs){ 0 };
	k->is_read = true;
	return find_known(&k->known, i);
}

enum op_kind kernel_kind(struct kernels *k, const struct hlo_instruction *i, enum op_kind kind)
{
	const struct op_cost *cost = kernel_find(k, i);

	return cost && cost->kind > 0 ? op_kind_find(word_at(KINDS, cost->kind)) : kind;
}

/* ---- what it does ---------------------------------------------------------------------------- */

static enum dtype factor_dtype(const struct hlo_module *m, const struct hlo_instruction *i)
{
	ptrdiff_t at = formula_factor(m, i);
	const struct shape *s = hlo_operand_array(m, i, at >= 0 ? at : 0);

	return s ? s->dtype : DTYPE_INVALID;
}

bool kernel_work(struct kernels *k, const struct hlo_module *m, ptrdiff_t instruction,
	struct kernel_work *ret)
{
	const struct hlo_instruction *i = &m->instructions[instruction];
	const struct op_cost *cost = kernel_find(k, i);
	struct hlo_author_cost author;

	*ret = (struct kernel_work){ .cost = cost, .flops = NAN, .bytes = NAN };
	ret->dtype = factor_dtype(m, i);
	if (cost) {
		ret->source = cost->source.p ? COST_OF_KERNELS : COST_OF_RULES;
		ret->bound = (enum cost_bound)(COST_EXACT + cost->bound);
		ret->has_flops = cost->flops.text.p != NULL;
		ret->has_bytes = cost->bytes.text.p != NULL;
		ret->flops = formula_value(k->formulas, &cost->flops, m, i);
		ret->bytes = formula_value(k->formulas, &cost->bytes, m, i);
		ret->slowest = formula_dtype(k->formulas, &cost->slowest, m, i);
		if (cost->dtype.text.p)
			ret->dtype = formula_dtype(k->formulas, &cost->dtype, m, i);
		return true;
	}
	if (!k || !hlo_author_cost(i, &author))
		return false;
	ret->source = COST_OF_AUTHOR;
	ret->bound = COST_UPPER; /* what a kernel would do without masks, and reads over and over */
	ret->has_flops = ret->has_bytes = true;
	ret->flops = author.flops;
	ret->bytes = author.bytes;
	return true;
}
