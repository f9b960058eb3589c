/* A finding: a subject that did not pass, put into words and numbers.  See trial.h. */
#include "rules/trial.h"

#include <math.h>

#include "base/out.h"
#include "base/text.h"

/* ---- evidence ----------------------------------------------------------------------------- */

/* The row that a column's value stands in: the subject's, or the run's, which has just one. */
static const void *row_of(
	const struct trial *t, const struct subject *s, const struct column_read *read)
{
	if (read->table == t->code->subjects.rows)
		return s->row;
	if (read->table == &table_defs[TABLE_run] && table_count(t->s->tables, run) == 1)
		return t->s->tables->items[TABLE_run].rows;
	if (read->table == &base_table_defs[TABLE_run] && t->s->context->base &&
		table_count(t->s->context->base, run) == 1)
		return t->s->context->base->items[TABLE_run].rows;
	return NULL;
}

static struct str read_name(const struct trial *t, const struct column_read *read)
{
	const struct table_def *rows = t->code->subjects.rows;

	if (read->table == rows ||
		(t->code->subjects.select && table_column(rows, read->column->name)))
		return read->column->name;
	return arena_fmt(
		t->s->keep, "%.*s.%.*s", STR_ARG(read->table->name), STR_ARG(read->column->name));
}

static struct evidence_value number_value(double number)
{
	bool is_null = !isfinite(number);

	return (struct evidence_value){ .is_null = is_null, .real = is_null ? 0 : number };
}

static struct evidence_value cell_value(const struct column *c, const void *row)
{
	if (c->type == COLUMN_REAL || cell_is_null(c, row))
		return number_value(c->type == COLUMN_REAL ? cell_real(c, row) : (double)NAN);
	return (struct evidence_value){ .is_text = true, .text = cell_text(c, row) };
}

static void add_evidence(const struct trial *t, const struct subject *s, const struct expression *x,
	struct finding *f)
{
	struct evidence *items = arena_make(
		t->s->keep, struct evidence, x->facts.reads.count + t->rule->param_count + 1);
	ptrdiff_t n = 0;

	for (ptrdiff_t i = 0; i < x->facts.reads.count; i++) {
		const struct column_read *read = &x->facts.reads.items[i];
		const void *row = row_of(t, s, read);

		if (row)
			items[n++] = (struct evidence){ .name = read_name(t, read),
				.value = cell_value(read->column, row),
				.unit = read->column->unit,
				.meaning = read->column->meaning };
	}
	for (ptrdiff_t i = 0; i < t->rule->param_count; i++) {
		const struct rule_param *param = &t->rule->params[i];

		bool is_limit = i < PARAM_EXPLAINED && t->rule->value.text.p && param->text.p;

		if (x->facts.uses[i] || is_limit)
			items[n++] = (struct evidence){ .name = param->name,
				.value = number_value(
					i == PARAM_EXPLAINED ? t->s->ret->explained : param->value),
				.unit = param->unit,
				.limit = true };
	}
	f->evidence.items = items;
	f->evidence.count = n;
}

/* ---- what is missing ---------------------------------------------------------------------- */

/* Which of the columns that an expression reads. */
enum which { WHICH_NULL, WHICH_ELSEWHERE, WHICH_ALL };
static struct reads columns_of(const struct trial *t, const struct subject *s,
	const struct expression *x, enum which which)
{
	struct reads ret = { NULL, 0, 0 };

	for (ptrdiff_t i = 0; i < x->facts.reads.count; i++) {
		const struct column_read *read = &x->facts.reads.items[i];
		const void *row = row_of(t, s, read);
		bool is_null = row && cell_is_null(read->column, row);

		if (which == WHICH_ALL || (which == WHICH_NULL ? is_null : !row))
			*arena_push(t->s->keep, ret.items, ret.count, ret.cap) = *read;
	}
	return ret;
}

static const struct quality_row *check_of(const struct trial *t, struct str name)
{
	return NAMED(table_rows(t->s->tables, quality), table_count(t->s->tables, quality), name);
}

/* "the profile does not say "median execution"", */
static struct str subject_unknown(const struct trial *t, const struct subject *s, struct finding *f)
{
	struct reads *unknown = &f->unknown;

	if (s->open == &t->code->unclear && !isnan(s->value) && !isnan(s->unclear)) {
		*unknown = columns_of(t, s, s->open, WHICH_ALL);
		return arena_fmt(t->s->keep, "of %.*s %.*s is known, and %.*s may come %s",
			STR_ARG(t->rule->name),
			STR_ARG(unit_text(t->s->keep, s->value, t->code->unit)),
			STR_ARG(unit_text(t->s->keep, s->unclear, t->code->unit)),
			t->rule->at_least ? "off it" : "on top");
	}
	/* Where no cell in sight is NULL, it was computed over others; x / 0 names nothing. */
	*unknown = columns_of(t, s, s->open, WHICH_NULL);
	if (!unknown->count)
		*unknown = columns_of(t, s, s->open, WHICH_ELSEWHERE);
	for (ptrdiff_t i = 0; i < unknown->count; i++) {
		const struct column *c = column_owner(unknown->items[i].column);

		if (!c)
			continue;
		/* The same of many subjects, and of many rules. */
		struct str says = column_absence(c, t->s->keep, &f->lacks);
		const struct quality_row *check = check_of(t, f->lacks);
		return check && !(check->ok > 0) ? check->detail : says;
	}
	return arena_fmt(t->s->keep, "%.*s cannot be judged: the rule's %s is unknown for it",
		STR_ARG(f->name), s->open->key);
}

/* ---- places ------------------------------------------------------------------------------- */

struct str row_text(const struct column *c, const void *row, struct arena *keep)
{
	if (!c || cell_is_null(c, row))
		return MISSING;
	if (c->type == COLUMN_TEXT)
		return cell_text(c, row);
	return double_text(keep, cell_real(c, row));
}

/* Hosts in their order: their names may be new with each job. */
static ptrdiff_t host_number(const struct tables *t, struct str host)
{
	const struct devices_row *d = table_rows(t, devices);
	ptrdiff_t number = 0;

	for (ptrdiff_t i = 0; i < table_count(t, devices); i++) {
		number += i > 0 && !str_eq(d[i].host, d[i - 1].host);
		if (str_eq(d[i].host, host))
			break;
	}
	return number;
}

static bool is_name_of_run(const struct tables *t, struct str text)
{
	const struct run_row *run = row_of_run(t);

	return run && str_eq(text, run->name);
}

struct str row_subject(const struct judging *s, const struct listing *l, const void *row)
{
	const struct run_row *run = row_of_run(s->tables);
	struct str key = row_text(l->key, row, s->keep), host = row_text(l->host, row, s->keep);

	if (!key.p)
		return l->rows->name;
	if (is_name_of_run(s->tables, key))
		return STR(SUBJECT_RUN);
	return host.p && l->device && run && run->hosts > 1
		       ? arena_fmt(s->keep, "host %td/%.*s", host_number(s->tables, host),
				 STR_ARG(key))
		       : key;
}

void place_fill(const struct judging *s, const struct listing *l, const void *row, double value,
	struct found_place *ret)
{
	struct arena *keep = s->keep;
	/* The first frame in the user's own code where that is known. */
	bool users = l->user_file && !cell_is_null(l->user_file, row);
	const struct column *line = users ? l->user_line : l->source_line;

	*ret = (struct found_place){ .subject = row_subject(s, l, row),
		.name = row_text(l->name, row, keep),
		.value = value,
		.source_file = row_text(users ? l->user_file : l->source_file, row, keep),
		.source_line = line ? cell_real(line, row) : NAN,
		.scope = row_text(l->scope, row, keep) };
	if (!ret->name.p || is_name_of_run(s->tables, ret->name))
		ret->name = ret->subject;
}

/* "copy.1 (3.2%), copy.2 (1.1%) and 4 more". */
struct str places_text(const struct trial *t, const struct places_told *places)
{
	enum { TOLD = 3 };
	struct str names[TOLD];
	ptrdiff_t told = places->count < TOLD ? places->count : TOLD, more = places->of - told;

	for (ptrdiff_t i = 0; i < told; i++)
		names[i] = arena_fmt(t->s->keep, "%.*s (%.*s)",
			STR_ARG(text_brief(t->s->keep, text_function(places->items[i].name))),
			STR_ARG(unit_text(t->s->keep, places->items[i].value, t->code->unit)));
	struct str text = words_joined(t->s->keep, names, told, more ? ", " : " and ");
	return more ? arena_fmt(t->s->keep, "%.*s and %td more", STR_ARG(text), more) : text;
}

/* ---- the finding -------------------------------------------------------------------------- */

struct str finding_says(const struct trial *t, const struct advice_code *items, ptrdiff_t count)
{
	const struct listing *l = &t->code->texts;

	for (ptrdiff_t i = 0; i < count; i++)
		if (!items[i].when || truth_of(l, items[i].when) == IS_TRUE)
			return template_fill(&items[i].text, t->rule, l, false, t->s->keep);
	return MISSING;
}

/* Of a rule without one: "fusion.3: p50_s is 2.1 ms", "fusion.3: this does not hold: <title>". */
static struct str usual_message(const struct trial *t, const struct finding *f)
{
	const struct listing *l = &t->code->subjects;
	const struct rule *rule = t->rule;
	struct arena *keep = t->s->keep;
	bool is_named = !str_eq(f->subject, STR(SUBJECT_RUN)) &&
			(l->name || (l->key && l->key->type == COLUMN_TEXT));
	struct str of =
		is_named ? arena_fmt(keep, "%.*s: ", STR_ARG(text_brief(keep, f->name))) : STR("");

	if (rule->value.text.p)
		return arena_fmt(keep, "%.*s%.*s is %.*s", STR_ARG(of), STR_ARG(rule->value.text),
			STR_ARG(unit_text(keep, f->value, t->code->unit)));
	return arena_fmt(keep, "%.*sthis does not hold: %.*s", STR_ARG(of),
		STR_ARG(rule->title.origin.node ? rule->title.text : rule->assert.text));
}

bool finding_fill(
	const struct trial *t, const struct subject *s, enum verdict verdict, struct finding *ret)
{
	if (!rule_rest_want(t->rule, t->s->err))
		return false;
	const struct rule_code *code = t->code;
	struct expression *x = s->fault ? s->fault : s->open;
	const struct advice_code message = { NULL, code->message };
	struct found_place here;

	place_fill(t->s, &code->subjects, s->row, s->value, &here);
	*ret = (struct finding){ .rule = t->rule->name,
		.verdict = verdict,
		.subject = here.subject,
		.name = here.name,
		.value = s->value,
		.gain_s = NAN,
		.claimed_s = NAN,
		.shared_s = NAN,
		.source_file = here.source_file,
		.source_line = here.source_line,
		.scope = here.scope,
		.places = { s->places.items, s->places.count },
		.seen = s->seen,
		.failed_before = s->failed_before };
	if (s->places.count && !ret->source_file.p) {
		ret->source_file = s->places.items[0].source_file;
		ret->source_line = s->places.items[0].source_line;
		ret->scope = s->places.items[0].scope;
	}
	add_evidence(t, s, x, ret);
	struct listing *texts = &t->code->texts;
	if (texts->result_count &&
		(!trial_prepare(t, texts, s) ||
			!trial_ended(t, texts, sqlite3_step(texts->stmt), SQLITE_ROW)))
		return false;
	if (verdict == VERDICT_INCONCLUSIVE && s->open) {
		ret->message = subject_unknown(t, s, ret);
		struct list names = { NULL, 0, 0 };
		for (ptrdiff_t i = 0; i < ret->unknown.count; i++)
			list_add(&names, read_name(t, &ret->unknown.items[i]), t->s->keep);
		ret->missing = words_joined(t->s->keep, names.items, names.count, ", ");
	} else {
		if (t->rule->message.text.p)
			ret->message = finding_says(t, &message, 1);
		if (!ret->message.len) /* all of it was optional, and unknown */
			ret->message = usual_message(t, ret);
		/* Which check of the data it tells. */
		struct str check = code->subjects.tells
					   ? row_text(code->subjects.tells, s->row, t->s->keep)
					   : ret->subject;
		if (check_of(t, check))
			ret->lacks = check;
	}
	ret->cause = finding_says(t, code->cause, t->rule->cause.count);
	ret->fix = finding_says(t, code->fix, t->rule->fix.count);
	if (s->waiver) {
		ret->note = waiver_note(s->waiver, s->excuse, t->s->today, t->s->keep);
		if (s->excuse == EXCUSE_HOLDS || s->excuse == EXCUSE_EXPIRED)
			ret->waiver_ends = s->waiver->expires.text;
	}
	return true;
}
