/* A rule's statement over its rows, and what waivers say of them.  See trial.h. */
#include "rules/trial.h"

#include <math.h>

#include "base/stats.h"

/* ---- the statement ------------------------------------------------------------------------ */

enum truth truth_of(const struct listing *l, const struct expression *x)
{
	double number = x->source ? number_of(l, x) : 1;

	return isnan(number) ? IS_UNKNOWN : number != 0 ? IS_TRUE : IS_FALSE;
}

/* What is listed, unless a SELECT is; NULL: there is no baseline. */
static const struct table *listed_table(const struct judging *s, const struct listing *l)
{
	bool is_base = l->rows >= base_table_defs && l->rows < base_table_defs + TABLE_COUNT;
	const struct tables *t = is_base ? s->context->base : s->tables;

	return t ? &t->items[l->rows - (is_base ? base_table_defs : table_defs)] : NULL;
}

/* Whether there are no rows in any case, so that SQLite need not look; a SELECT is always tried. */
static bool is_empty(const struct judging *s, const struct listing *l)
{
	if (l->select)
		return false;
	const struct table *table = listed_table(s, l);
	return !table || !table->count;
}

const void *current_row(const struct judging *s, const struct listing *l)
{
	const struct table_def *def = l->rows;

	if (!l->select)
		return (const char *)listed_table(s, l)->rows +
		       sqlite3_column_int64(l->stmt, 0) * def->row_bytes;
	void *row = arena_alloc(s->keep, def->row_bytes, alignof(max_align_t), 1);
	for (int i = 0; i < (int)def->column_count; i++) {
		const struct column *c = &def->columns[i];

		if (c->type == COLUMN_REAL)
			cell_set_real(c, row, sql_number(l->stmt, i));
		else
			cell_set_text(c, row, arena_str(s->keep, sql_text(l->stmt, i)));
	}
	return row;
}

/* What a parameter stands for: one of the rule's, or for texts what they say, or a cell. */
static int bind_one(
	const struct trial *t, const struct listing *l, int index, const struct subject *s)
{
	struct str name = str_from(sqlite3_bind_parameter_name(l->stmt, index)), word;
	const struct judge_context *context = t->s->context;
	uint64_t i;

	if (str_take(&name, STR("@c")) && str_to_u64(name, &i)) {
		const struct column *c = &l->rows->columns[i];

		return c->type == COLUMN_TEXT
			       ? sql_bind_text(l->stmt, index, cell_text(c, s->row))
			       : sqlite3_bind_double(l->stmt, index, cell_real(c, s->row));
	}
	name = str_from_offset(name, 1);
	const struct rule_param *param = rule_param_named(t->rule, name);
	if (param == &t->rule->params[PARAM_EXPLAINED])
		return sqlite3_bind_double(l->stmt, index, t->s->ret->explained);
	if (param)
		return sqlite3_bind_double(l->stmt, index, param->value);
	if (str_eq(name, wording_names[WORDING_VALUE]))
		return sqlite3_bind_double(l->stmt, index, s->value);
	word = str_eq(name, wording_names[WORDING_PLACES])    ? places_text(t, &s->places)
	       : str_eq(name, wording_names[WORDING_PROFILE]) ? context->profile
							      : context->baseline;
	return sql_bind_text(l->stmt, index, word.len ? word : MISSING);
}

bool trial_ended(const struct trial *t, const struct listing *l, int code, int wanted)
{
	const struct origin *o = &t->rule->origin;
	struct sql_fault fault;

	if (code == wanted)
		return true;
	engine_step_fault(t->s->rules->engine, code, t->s->keep, &fault);
	sqlite3_reset(l->stmt);
	return diag_set(t->s->err, fault.id, "%.*s:%lld:%lld: rule %.*s cannot be judged: %.*s",
		STR_ARG(o->doc->file), (long long)o->node->line, (long long)o->node->column,
		STR_ARG(t->rule->name), STR_ARG(fault.text));
}

bool trial_prepare(const struct trial *t, struct listing *l, const struct subject *s)
{
	struct engine *e = t->s->rules->engine;
	struct sql_fault fault;
	int code = SQLITE_OK;

	if (!listing_prepare(e, l, t->s->keep, &fault))
		return trial_ended(t, l, SQLITE_ERROR, SQLITE_OK);
	engine_grant(e, l->is_joining);
	for (int i = sqlite3_bind_parameter_count(l->stmt); i > 0 && code == SQLITE_OK; i--)
		code = bind_one(t, l, i, s);
	return trial_ended(t, l, code, SQLITE_OK);
}

bool each_row(struct trial *t, struct listing *l, void (*look)(struct trial *t))
{
	int code;

	if (is_empty(t->s, l))
		return true;
	if (!trial_prepare(t, l, NULL))
		return false;
	while ((code = sqlite3_step(l->stmt)) == SQLITE_ROW && t->s->ok)
		look(t);
	bool ok = t->s->ok && trial_ended(t, l, code, SQLITE_DONE);
	sqlite3_reset(l->stmt);
	return ok;
}

/* ---- waivers ------------------------------------------------------------------------------ */

static void count_excuse(const struct judging *s, const struct waiver *w, enum excuse excuse)
{
	struct waiver_result *r = s->ret->waivers;

	while (r->waiver != w) /* all of the rules' are listed */
		r++;
	r->subjects[excuse]++;
}

void find_excuse(const struct trial *t, struct subject *x)
{
	for (ptrdiff_t i = 0; i < t->rule->waiver_count; i++) {
		const struct waiver_code *w = &t->code->waivers[i];

		/* Of a rule with places, `where` speaks of those. */
		if (w->where.source && (t->rule->places.origin.node ||
					       truth_of(&t->code->subjects, &w->where) != IS_TRUE))
			continue;
		enum excuse excuse = waiver_excuse(w->waiver, x->value, t->s->today);
		count_excuse(t->s, w->waiver, excuse);
		if (excuse < x->excuse) {
			x->excuse = excuse;
			x->waiver = w->waiver;
		}
	}
}

/* ---- places ------------------------------------------------------------------------------- */

static void look_at_place(struct trial *t)
{
	const struct listing *l = &t->code->places;
	double value = number_of(l, &t->code->place_value);
	enum truth where = truth_of(l, l->where);
	const void *row = current_row(t->s, l);

	if (isnan(value) || value == 0 || where != IS_TRUE)
		return;
	struct place_row *p = arena_push(&t->s->scratch, t->places, t->place_count, t->place_cap);
	*p = (struct place_row){ 0 };
	place_fill(t->s, l, row, value, &p->place);
	p->role = row_text(l->role, row, t->s->keep);
	p->module = row_text(l->module, row, t->s->keep);
	p->pool = pool_of_row(l->rows, row_text(l->kind, row, t->s->keep));
	for (ptrdiff_t i = 0; i < t->rule->waiver_count; i++) {
		const struct expression *x = &t->code->waivers[i].where;

		if (x->source && truth_of(l, x) == IS_TRUE)
			p->waivers |= UINT64_C(1) << i;
	}
}

static int by_place(const void *a, const void *b)
{
	const struct found_place *x = &((const struct place_row *)a)->place;
	const struct found_place *y = &((const struct place_row *)b)->place;
	int order = order_numbers(y->value, x->value);

	return order ? order : str_cmp(x->subject, y->subject);
}

/* Work outside the steps has rows of its own, by module, and so have its places. */
static bool is_place_of(
	const struct listing *l, const void *row, const struct place_row *p, struct arena *keep)
{
	struct str role = row_text(l->role, row, keep);

	if (!role.p || !p->role.p)
		return true;
	return str_eq(role, p->role) &&
	       (str_eq(role, STR("step")) || str_eq(row_text(l->key, row, keep), p->module));
}

/* What waived places leave of the value, while their sum is within the waiver's limit. */
static void waive_places(const struct trial *t, struct row_places *of)
{
	uint64_t held = 0;

	for (ptrdiff_t i = 0; i < t->rule->waiver_count; i++) {
		const struct waiver_code *w = &t->code->waivers[i];
		double sum = 0;
		bool is_any = false;

		for (ptrdiff_t k = 0; k < of->left_count && w->where.source; k++)
			if (of->left[k].waivers >> i & 1) {
				sum += of->left[k].place.value;
				is_any = true;
			}
		if (!is_any)
			continue;
		enum excuse excuse = waiver_excuse(w->waiver, sum, t->s->today);
		count_excuse(t->s, w->waiver, excuse);
		if (excuse == EXCUSE_HOLDS)
			held |= UINT64_C(1) << i;
		if (excuse < of->excuse) {
			of->excuse = excuse;
			of->waiver = w->waiver;
		}
	}
	ptrdiff_t n = 0;
	for (ptrdiff_t k = 0; k < of->left_count; k++) {
		if (of->left[k].waivers & held) {
			of->waived_value += of->left[k].place.value;
			of->waived[of->waived_count++] = of->left[k];
		} else {
			of->left[n++] = of->left[k];
		}
	}
	of->left_count = n;
}

struct places_told tell_places(const struct place_row *places, ptrdiff_t count, struct arena *keep)
{
	struct places_told ret = { .count = count < PLACES_KEPT ? count : PLACES_KEPT,
		.of = count };

	ret.items = arena_make(keep, struct found_place, ret.count);
	for (ptrdiff_t i = 0; i < ret.count; i++)
		ret.items[i] = places[i].place;
	return ret;
}

static bool list_places(struct trial *t)
{
	t->has_places = true;
	bool ok =
		rule_rest_want(t->rule, t->s->err) && each_row(t, &t->code->places, look_at_place);
	engine_grant(t->s->rules->engine, t->code->subjects.is_joining);
	if (ok)
		sort_by(t->places, t->place_count, by_place);
	return ok;
}

bool judge_places(struct trial *t, const void *row, struct row_places *ret)
{
	if (!t->has_places && !list_places(t))
		return false;
	ret->left = arena_make(&t->s->scratch, struct place_row, t->place_count);
	ret->waived = arena_make(&t->s->scratch, struct place_row, t->place_count);
	for (ptrdiff_t i = 0; i < t->place_count; i++)
		if (is_place_of(&t->code->subjects, row, &t->places[i], t->s->keep))
			ret->left[ret->left_count++] = t->places[i];
	waive_places(t, ret);
	return true;
}
