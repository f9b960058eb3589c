/*
 * The tables of work: ops, the families they form, and the edges between them.
 */
#include <math.h>

#include "base/map.h"
#include "base/stats.h"
#include "base/text.h"
#include "hlo/walk.h"
#include "measure/op_key.h"
#include "measure/writers.h"

/* Edges are for explaining a finding; the heaviest this many are kept. */
#define EDGES_MAX 20000

/* Clean, and without the colon XProf puts behind a framework op. */
static struct str scope_of(const struct subject *s, struct arena *keep)
{
	const struct hlo_instruction *i = subject_instruction(s);
	struct str scope = i && i->op_name.len > 0 ? i->op_name : s->said->scope;

	if (str_ends(scope, STR(":")))
		scope = str_head(scope, scope.len - 1);
	return scope.len > 0 ? text_clean(keep, scope) : MISSING;
}

/* A fusion has few distinct opcodes; more than these say nothing new. */
enum { INSIDE_MAX = 64 };

/* Missing where the op is not a fusion, or what it holds is not known. */
static struct str inside_of(const struct subject *s, struct arena *keep)
{
	struct str texts[INSIDE_MAX];
	ptrdiff_t count = 0;
	const struct hlo_module *h = program_hlo(s->program);
	const struct hlo_instruction *op = subject_instruction(s);

	if (!op || op->op != HLO_FUSION || !op->called_count || op->called[0] < 0)
		return MISSING;
	const struct hlo_computation *held = &h->computations[op->called[0]];
	for (ptrdiff_t i = held->first; i < held->first + held->count; i++) {
		struct str text = h->instructions[i].opcode;
		ptrdiff_t k = 0;
		while (k < count && !str_eq(texts[k], text))
			k++;
		if (k == count && k < INSIDE_MAX &&
			opcode_rule(h->instructions[i].op) != HLO_RULE_FREE)
			texts[count++] = text;
	}
	if (!count)
		return MISSING;
	return text_clean(keep, text_sorted(keep, texts, count, ", "));
}

static const struct str attribution_names[] = {
	[ATTRIBUTION_NONE] = STR_INIT("none"),
	[ATTRIBUTION_PROFILE] = STR_INIT("profile"),
	[ATTRIBUTION_NAME] = STR_INIT("name"),
	[ATTRIBUTION_SCHEDULE] = STR_INIT("schedule"),
	[ATTRIBUTION_EXACT] = STR_INIT("name"),
};

/* Compute and copies on the chip, without halves of asynchronous pairs. */
bool op_is_judgeable(const struct subject *s)
{
	enum activity a = op_kind_activity(s->kind);

	return (a == ACTIVITY_COMPUTE || a == ACTIVITY_COPY) && s->async == ASYNC_NONE;
}

/* The columns that ops and families share, computed once and copied to either row by name. */
struct op_measures {
	OP_MEASURES(ROW_TEXT, ROW_REAL, ROW_TEXT, ROW_REAL)
};
#define TAKE_COLUMN(name, words_or_unit, meaning) op->name,
#define TAKE_COMMON(name, words_or_unit, meaning) op->common->name,
#define COPY_COLUMN(name, words_or_unit, meaning) row->name = v.name;
#define COPY_COMMON(name, words_or_unit, meaning) row->common->name = v.name;

static void executions_measure(const struct run *run, const struct op_total *t, double planned,
	enum role role, struct op_measures *v)
{
	bool in_step = role == ROLE_STEP;
	double steps = in_step ? run->device_steps : run->windows_s / run->step_mean_s;

	if (planned > 0) { /* of a program that has not run only this is known */
		v->count = 0;
		v->per_step = v->rate = in_step ? planned : 0;
		v->time_s = v->time_share = v->window_share = v->mean_s = v->p50_s = v->lo_s = NAN;
		v->hi_s = v->max_s = v->overlap_ratio = NAN;
		return;
	}
	v->count = (double)t->self.count;
	v->rate = steps > 0 ? v->count / steps : NAN;
	v->per_step = in_step ? v->rate : 0;
	v->time_s = (double)t->self.sum * PS;
	v->time_share = !in_step ? 0 : run->steady_s > 0 ? v->time_s / run->steady_s : NAN;
	v->window_share = run->windows_s > 0 ? v->time_s / run->windows_s : NAN;
	v->mean_s = v->time_s / v->count;
	v->p50_s = dist_quantile(&t->self, 0.5, *run->keep) * PS;
	dist_median_interval(&t->self, run->steps, *run->keep, &v->lo_s, &v->hi_s);
	v->lo_s *= PS;
	v->hi_s *= PS;
	v->max_s = (double)t->self.max * PS;
	v->overlap_ratio = t->self.sum > 0 ? (double)t->overlap_ps / (double)t->self.sum : NAN;
}

static void op_costs(
	const struct op_facts *f, const struct op_costing *costing, struct op_common *common)
{
	common->flops = costing->work.flops;
	common->hbm_bytes = costing->work.hbm_bytes;
	common->t_math_s = f->roof.t_math_s;
	common->t_hbm_s = f->roof.t_hbm_s;
	common->t_comms_s = f->roof.t_comms_s;
	common->t_host_s = f->roof.t_host_s;
	common->roofline_s = f->roof.roofline_s;
	/* What takes at least so long may well take what it took. */
	common->attainable_s = f->bound == COST_LOWER ? NAN : f->roof.attainable_s;
	if (f->roof.bound != BOUND_UNKNOWN)
		common->bound = bound_name(f->roof.bound);
	common->logical_bytes = costing->logical_bytes;
	common->padded_bytes = costing->padded_bytes;
	common->padding_ratio = common->padded_bytes / common->logical_bytes;
	common->rows_ratio = costing->rows_ratio;
	common->aligned_to = costing->aligned_to;
	if (isnan(common->flops))
		return;
	common->flops_source = word_at(FLOPS_SOURCE_WORDS, f->source);
	common->cost_bound = word_at(COST_WORDS, f->bound - 1);
}

/* Work that ran more than once can be expected again. */
static bool program_recurs(const struct run *run, const struct program *p)
{
	bool recurs = p->role == ROLE_STEP;

	for (ptrdiff_t i = 0; i < run->device_count && !recurs; i++) {
		const struct sweep *s = &run->devices[i].sweep;
		recurs = p->index < s->program_cap && s->programs[p->index].executions > 1;
	}
	return recurs;
}

/*
 * `op` is its row, or the heaviest one's of a family, and has what it costs; `t` counts at least
 * one execution, or one is planned.
 */
static struct op_measures measures_of(const struct run *run, const struct ops_row *op,
	const struct op_total *t, double planned, enum role role)
{
	struct op_measures v = { OP_MEASURES(TAKE_COLUMN, TAKE_COLUMN, TAKE_COMMON, TAKE_COMMON) };

	v.role = word_at(WORK_WORDS, role);
	executions_measure(run, t, planned, role, &v);
	v.efficiency =
		word_is(v.cost_bound, COST_WORDS, COST_LOWER - 1) ? NAN : v.roofline_s / v.p50_s;
	v.gain_s = (v.p50_s - v.attainable_s) * v.per_step;
	if (v.gain_s < 0)
		v.gain_s = 0;
	return v;
}

/* Fills the columns that say what the op is and costs. */
static void op_row(const struct run *run, const struct subject *s, const struct op_facts *f,
	const struct op_costing *costing, struct ops_row *row)
{
	const struct hlo_instruction *i = subject_instruction(s);
	struct op_common *common = row->common;
	struct op_source where;
	struct op_key_text key;

	op_source_of(run, s, &where);
	common->program = program_text(s->program, run->keep);
	common->module = s->program->module;
	row->name = s->name;
	if (i)
		common->opcode = text_clean(run->keep, i->opcode);
	common->inside = inside_of(s, run->keep);
	common->kind = op_kind_name(s->kind);
	if (s->said->category.len > 0)
		common->category = text_clean(run->keep, s->said->category);
	common->attribution = attribution_names[s->attribution];
	row->scope = scope_of(s, run->keep);
	common->source_file = where.file;
	common->source_line = where.line;
	common->user_file = where.user_file;
	common->user_line = where.user_line;
	common->dtype =
		costing->work.dtype != DTYPE_INVALID ? dtype_name(costing->work.dtype) : MISSING;
	op_costs(f, costing, common);
	if (i)
		common->shape = text_clean(run->keep, shape_text(&i->shape, true, run->keep));
	else if (s->said->shape.len > 0)
		common->shape = text_clean(run->keep, s->said->shape);
	key = op_key_text(run, s, row->scope, &where);
	row->key = key.key;
	common->family = key.family;
	common->copy_cause = word_at(CAUSE_WORDS, f->copy_cause - 1);
	const struct op_cost *kernel = i ? kernel_find(run->kernels, i) : NULL;
	common->is_remat = (str_contains(row->scope, STR("rematted_computation")) ||
				   str_contains(s->name, STR(".remat"))) &&
			   !(kernel && kernel->gradient);
	common->is_async = s->async != ASYNC_NONE;
}

static void op_measure(const struct run *run, const struct subject *s, const struct op_total *t,
	struct ops_row *row)
{
	struct op_measures v = measures_of(run, row, t, s->planned, s->program->role);

	v.skew = subject_skew(run, s->index);
	if (s->async != ASYNC_NONE)
		v.overlap_ratio = NAN; /* the pair's span tells, not its halves */
	v.recurs = program_recurs(run, s->program);
	OP_MEASURES(COPY_COLUMN, COPY_COLUMN, COPY_COMMON, COPY_COMMON)
	if (t->devices > 0) {
		row->least_s = (double)t->least_ps * PS / (double)t->devices;
		row->most_s = (double)t->most_ps * PS / (double)t->devices;
	}
}

/* An op that has not run weighs what it would take at its roofline. */
static double op_weight(const struct ops_row *op)
{
	double s = isnan(op->time_s) ? op->common->roofline_s * op->common->per_step : op->time_s;

	return isnan(s) ? 0 : s;
}

/* What rows have in common, each kept once: there are fewer families and shapes than ops. */
struct commons {
	struct map text_ids, ids;
	struct str *texts;
	ptrdiff_t text_count, text_cap;
	struct op_common **items;
	ptrdiff_t count, cap;
	struct arena keep; /* for the lists; texts and items are the run's */
};

static struct str text_once(struct commons *c, struct str text, struct arena *keep)
{
	int32_t at = map_get(&c->text_ids, text);

	if (at != MAP_NONE)
		return c->texts[at];
	text = arena_str(keep, text);
	map_put(&c->text_ids, text, (int32_t)c->text_count, &c->keep);
	return *arena_push(&c->keep, c->texts, c->text_count, c->text_cap) = text;
}

static struct str bytes_of(const struct op_common *common)
{
	return (struct str){ (const char *)common, sizeof(*common) };
}

/* By its bytes, as its texts are kept once. */
static struct op_common *common_once(
	struct commons *c, const struct op_common *common, struct arena *keep)
{
	int32_t at = map_get(&c->ids, bytes_of(common));

	if (at != MAP_NONE)
		return c->items[at];
	struct op_common *own = arena_make(keep, struct op_common, 1);
	*own = *common;
	map_put(&c->ids, bytes_of(own), (int32_t)c->count, &c->keep);
	return *arena_push(&c->keep, c->items, c->count, c->cap) = own;
}

/* A row takes many texts to make, and few of them stay.  A key is mostly its own. */
static void op_add(const struct run *run, const struct subject *s, const struct op_facts *f,
	const struct op_costing *costing, struct commons *commons, struct arena scratch)
{
	const struct table_def *def = &table_defs[TABLE_ops];
	struct table *ops = &run->tables->items[TABLE_ops], alone = { 0 };
	struct ops_row *row = rows_add(&alone, def, &scratch);
	struct run brief = *run;

	brief.keep = &scratch;
	op_row(&brief, s, f, costing, row);
	op_measure(&brief, s, f->total, row);
	row->key = arena_str(run->keep, row->key);
	if (row->scope.p)
		row->scope = text_once(commons, row->scope, run->keep);
	/* A file may have them for each op: its pages would come back with each row. */
	for (ptrdiff_t i = 0; i < def->column_count; i++) {
		const struct column *c = &def->columns[i];

		if (c->offset >= CELL_COMMON && c->type == COLUMN_TEXT && !c->words &&
			!cell_is_null(c, row))
			cell_set_text(c, row, text_once(commons, cell_text(c, row), run->keep));
	}
	row->common = common_once(commons, row->common, run->keep);
	memcpy(arena_grow(run->keep, &ops->rows, &ops->count, &ops->cap, def->row_bytes), row,
		sizeof(*row));
}

struct op_order {
	struct ops_row *row;
	const struct subject *subject;
};

/* By time, then by what does not depend on who came first. */
static int op_cmp(const void *a, const void *b)
{
	const struct ops_row *x = ((const struct op_order *)a)->row;
	const struct ops_row *y = ((const struct op_order *)b)->row;
	int c = order_numbers(op_weight(y), op_weight(x));

	c = c ? c : str_cmp(x->common->program, y->common->program);
	c = c ? c : str_cmp(x->common->module, y->common->module);
	c = c ? c : str_cmp(x->name, y->name);
	return c ? c : str_cmp(x->key, y->key);
}

/* Rows may be many: they change places where they are. */
static void ops_sort(struct tables *tables, const struct subject **subjects, struct arena scratch)
{
	ptrdiff_t n = table_count(tables, ops);
	struct ops_row *rows = table_rows(tables, ops);
	struct op_order *order = arena_make(&scratch, struct op_order, n);

	for (ptrdiff_t i = 0; i < n; i++)
		order[i] = (struct op_order){ &rows[i], subjects[i] };
	sort_by(order, n, op_cmp);
	for (ptrdiff_t i = 0; i < n; i++) {
		struct ops_row out = rows[i];
		ptrdiff_t at = i;

		subjects[i] = order[i].subject;
		while (order[at].row != &rows[i]) {
			ptrdiff_t from = order[at].row - rows;
			rows[at] = rows[from];
			order[at].row = &rows[at];
			at = from;
		}
		rows[at] = out;
		order[at].row = &rows[at];
	}
}

/* Found program by program, and told by the weight of the ops that they lead to. */
struct edges {
	struct edge {
		int32_t from, to; /* subjects */
		int64_t bytes;
	} * items; /* those that lead to one op are together */
	ptrdiff_t count, cap;
	/* By subject: of those that lead to it, where it has some.  No arena holds 2^31 of them. */
	int32_t *first;
	struct arena keep; /* theirs alone: they grow in place, and are gone once they are rows */
};

static void edges_find(const struct run *run, const struct subject *s, struct edges *ret)
{
	const struct hlo_instruction *to = subject_instruction(s);

	ret->first[s->index] = (int32_t)ret->count;
	for (ptrdiff_t k = 0; to && k < to->operand_count; k++) {
		if (to->operands[k] < 0)
			continue;
		const struct hlo_module *h = program_hlo(s->program);
		ptrdiff_t from = hlo_walk(h, to->operands[k], THROUGH_BITCASTS | THROUGH_ELEMENTS);
		const struct subject *p =
			from < 0 ? NULL : registry_find(run->registry, s->program, from);
		if (!p || !subject_ran(run, p))
			continue;
		int64_t bytes = shape_padded_bytes(&h->instructions[to->operands[k]].shape);
		*arena_push(&ret->keep, ret->items, ret->count, ret->cap) =
			(struct edge){ p->index, s->index, bytes };
	}
}

static void edges_fill(
	const struct run *run, const struct op_rows *op_rows, const struct edges *edges)
{
	for (ptrdiff_t i = 0; i < op_rows->count; i++) {
		const struct subject *s = op_rows->subjects[i];
		for (ptrdiff_t k = edges->first[s->index];
			k < edges->count && edges->items[k].to == s->index &&
			table_count(run->tables, edges) < EDGES_MAX;
			k++) {
			const struct subject *from =
				registry_subject_at(run->registry, edges->items[k].from);
			struct edges_row *row = table_new(run->tables, edges, run->keep);
			row->program = program_text(s->program, run->keep);
			row->producer = from->name;
			row->producer_kind = op_kind_name(from->kind);
			row->consumer = s->name;
			row->consumer_kind = op_kind_name(s->kind);
			row->key = op_rows->rows[i].key;
			row->bytes = (double)edges->items[k].bytes;
		}
	}
}

/* Families: rows of ops alike in module, family, kind and role, summed; the heaviest names them. */

static void family_begin(const struct run *run, const struct ops_row *op)
{
	struct families_row *row = table_new(run->tables, families, run->keep);

	OP_PLACE, OP_COMMON(module), OP_COMMON(family), OP_COMMON(opcode), OP_COMMON(dtype);
	OP_COMMON(copy_cause);
	row->members = 0;
}

struct family {
	ptrdiff_t op; /* the row of its heaviest one */
	struct op_total total;
	double planned;
	enum role role;
	bool recurs;
	bool halves; /* of pairs: their span tells how much overlaps */
};

static void families_fill(const struct run *run, const struct op_rows *ops)
{
	struct family *families = NULL;
	struct map modules[ROLES] = { 0 };
	struct map *by_module =
		arena_make(run->keep, struct map, registry_program_count(run->registry));
	ptrdiff_t count = 0, cap = 0;
	int32_t module_count = 0;

	for (ptrdiff_t i = 0; i < ops->count; i++) {
		const struct ops_row *op = &ops->rows[i];
		const struct program *p = ops->subjects[i]->program;
		const struct op_total *total = aggregate_op(run->sums, ops->subjects[i]->index);
		int32_t module = map_put(&modules[p->role], p->module, module_count, run->keep);
		module_count += module == module_count;
		int32_t at =
			map_put(&by_module[module], op->common->family, (int32_t)count, run->keep);
		if (at == count) {
			family_begin(run, op);
			*arena_push(run->keep, families, count, cap) = (struct family){
				.op = i, .role = p->role, .halves = op->common->is_async > 0
			};
		}
		struct family *f = &families[at];
		struct families_row *row = &table_rows(run->tables, families)[at];
		row->members++;
		if (word_is(op->common->copy_cause, CAUSE_WORDS, COPY_LAYOUT - 1))
			row->copy_cause = op->common->copy_cause;
		f->recurs |= op->common->recurs > 0;
		f->total.overlap_ps += total->overlap_ps;
		f->planned += ops->subjects[i]->planned;
		dist_merge(&f->total.self, run->keep, &total->self);
	}
	for (ptrdiff_t i = 0; i < count; i++) {
		const struct family *f = &families[i];
		struct families_row *row = &table_rows(run->tables, families)[i];
		struct op_measures v =
			measures_of(run, &ops->rows[f->op], &f->total, f->planned, f->role);
		v.recurs = f->recurs;
		if (f->halves)
			v.overlap_ratio = NAN;
		OP_MEASURES(COPY_COLUMN, COPY_COLUMN, COPY_COLUMN, COPY_COLUMN)
	}
}

/* Of collectives and transfers there are tables. */
static bool moves_data(const struct subject *s, const struct op_facts *f)
{
	return op_kind_is_collective(s->kind) || f->is_copy ||
	       op_kind_activity(s->kind) == ACTIVITY_TRANSFER;
}

/* Rows of the ops of one program, all that there are, and where its edges lead. */
static void program_ops(const struct run *run, const struct subject *const *ops, ptrdiff_t count,
	struct commons *commons, struct edges *edges, struct op_rows *ret, struct arena scratch)
{
	struct op_facts *facts = arena_make(&scratch, struct op_facts, count);
	const struct program *p = ops[0]->program;

	for (ptrdiff_t i = 0; i < count; i++) {
		const struct subject *s = ops[i];
		struct op_facts *f = &facts[i];
		struct op_costing costing;

		*f = op_facts_of(run, s, &costing);
		if (moves_data(s, f)) {
			struct op_facts *own = arena_make(run->work, struct op_facts, 1);
			*own = *f;
			ret->moving[s->index] = own;
		}
		if (!f->ran)
			continue;
		op_add(run, s, f, &costing, commons, scratch);
		edges_find(run, s, edges);
		ret->subjects[ret->count++] = s;
	}
	ret->programs[p->index] = program_facts_of(run, ops, facts, count);
	registry_forget(run->registry, ops, count);
	/* A job may have a large program for each host, and reads one file after the other. */
	if (p->proto.len >= SHELF_LARGE)
		profile_drop(p->from);
}

struct op_rows fill_ops(const struct run *run)
{
	ptrdiff_t n = registry_subject_count(run->registry);
	ptrdiff_t programs = registry_program_count(run->registry);
	const struct subject *const *ranked = registry_subjects_ranked(run->registry);
	int32_t *at = arena_make(run->work, int32_t, n);
	struct edges edges = { .keep = arena_new(ARENA_RUN_BYTES) };
	struct commons commons = { .keep = arena_new(ARENA_RUN_BYTES) };
	struct arena scratch = arena_new(ARENA_RUN_BYTES);
	struct op_rows ret = { .moving = arena_make(run->work, const struct op_facts *, n),
		.programs = arena_make(run->keep, struct program_facts, programs),
		.subjects = arena_make(run->work, const struct subject *, n),
		.at = at };

	edges.first = arena_make(&edges.keep, int32_t, n);
	table_reserve(run->tables, TABLE_ops, n, run->keep);
	for (ptrdiff_t i = 0; i < programs; i++)
		ret.programs[i] = program_facts_of(run, NULL, NULL, 0);
	for (ptrdiff_t first = 0, end; first < n; first = end) {
		for (end = first + 1; end < n && ranked[end]->program == ranked[first]->program;
			end++)
			;
		program_ops(run, ranked + first, end - first, &commons, &edges, &ret, scratch);
	}
	arena_free(&commons.keep);
	arena_free(&scratch);
	ret.rows = table_rows(run->tables, ops);
	ops_sort(run->tables, ret.subjects, *run->keep);
	for (ptrdiff_t i = 0; i < n; i++)
		at[i] = -1;
	for (ptrdiff_t i = 0; i < ret.count; i++)
		at[ret.subjects[i]->index] = (int32_t)i;
	edges_fill(run, &ret, &edges);
	arena_free(&edges.keep);
	families_fill(run, &ret);
	return ret;
}
