/* Costs of custom calls, by name.  See kernels.h. */
#include "measure/kernels.h"

#include <math.h>

#include "base/embed.h"
#include "base/keyed.h"
#include "base/text.h"

struct kernels {
	const struct op_costs *own;
	struct op_costs known;
	bool is_read; /* the file that ships: when the first custom call asks */
	struct formulas *formulas;
	struct arena *keep;
};

const struct str kernel_kinds[KERNEL_KINDS] = { STR_INIT("custom"), STR_INIT("matmul"),
	STR_INIT("convolution"), STR_INIT("attention"), STR_INIT("elementwise"), STR_INIT("reduce"),
	STR_INIT("gather"), STR_INIT("scatter"), STR_INIT("sort"), STR_INIT("rng") };
static const enum op_kind kinds[KERNEL_KINDS] = { KIND_CUSTOM, KIND_MATMUL, KIND_CONVOLUTION,
	KIND_ATTENTION, KIND_ELEMENTWISE, KIND_REDUCE, KIND_GATHER, KIND_SCATTER, KIND_SORT,
	KIND_RNG };

const struct str kernel_bounds[KERNEL_BOUNDS] = { STR_INIT("exact"), STR_INIT("upper"),
	STR_INIT("lower") };
static const enum cost_bound bounds[KERNEL_BOUNDS] = { COST_EXACT, COST_UPPER, COST_LOWER };

/* ---- the file that ships --------------------------------------------------------------------- */

static bool read_formula(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	struct formula *to = (void *)((char *)r->to + k->offset);

	return key_text(r, &(struct key){ .name = k->name, .offset = k->offset }, node) &&
	       to->text.p;
}

static bool read_word(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	bool is_kind = str_eq(k->name, STR("kind"));
	const struct str *words = is_kind ? kernel_kinds : kernel_bounds;
	const struct str *word = NAMED(words, is_kind ? KERNEL_KINDS : KERNEL_BOUNDS, node->text);

	if (word)
		*(int *)(void *)((char *)r->to + k->offset) = (int)(word - words);
	return word || keyed_fail(r, node, "%.*s is no word of it", STR_ARG(node->text));
}

#define AT(what) .offset = offsetof(struct op_cost, what)
static const struct key cost_keys[] = {
	KEYED("flops", read_formula, AT(flops)),
	KEYED("bytes", read_formula, AT(bytes)),
	KEYED("dtype", read_formula, AT(dtype)),
	KEYED("slowest", read_formula, AT(slowest)),
	KEYED("kind", read_word, AT(kind)),
	KEYED("bound", read_word, AT(bound)),
	KEYED("gradient", key_bool, AT(gradient)),
	KEYED("source", key_text, AT(source), .required = true),
	KEYED_END,
};

const struct op_costs *kernels_known(struct arena *keep, struct op_costs *ret, struct diag *err)
{
	static const struct str file = STR_INIT("hardware/kernels.yaml");
	struct doc *doc = arena_make(keep, struct doc, 1);

	*ret = (struct op_costs){ 0 };
	if (!doc_parse(file, embed_find(file), keep, doc, err))
		return NULL;
	const struct doc_node *map = doc->root ? doc_get(doc->root, STR("costs")) : NULL;
	for (ptrdiff_t i = 0; map && i < map->count; i++) {
		const struct doc_pair *p = &map->pairs[i];
		struct op_cost *cost = arena_push(keep, ret->items, ret->count, ret->cap);
		struct keyed r = { doc, keep, DIAG_RULE_SCHEMA, err, cost };
		*cost = (struct op_cost){ .name = p->key->text, .origin = { doc, p->key } };
		if (!keyed_map(&r, p->key->text, cost_keys, p->value))
			return NULL;
	}
	return ret;
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

	return cost && cost->kind > 0 ? kinds[cost->kind] : kind;
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
		ret->bound = bounds[cost->bound];
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
