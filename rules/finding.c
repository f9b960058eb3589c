/* Findings.  See finding.h. */
#include "rules/finding.h"

#include <math.h>

#include "base/out.h"
#include "rules/parse.h"

/* ---- evidence ----------------------------------------------------------------------------- */

/* The row that a column's value stands in: the subject's, or the run's, which has just one. */
static const void *row_of(const struct subject *s, const struct column_read *read)
{
	if (read->table == s->code->rows)
		return s->row;
	if (read->table == &table_defs[TABLE_run] && table_count(s->tables, run) == 1)
		return s->tables->items[TABLE_run].rows;
	if (read->table == &base_table_defs[TABLE_run] && s->base && table_count(s->base, run) == 1)
		return s->base->items[TABLE_run].rows;
	return NULL;
}

static struct str read_name(const struct subject *s, const struct column_read *read)
{
	if (read->table == s->code->rows)
		return read->column->name;
	return arena_fmt(
		s->keep, "%.*s.%.*s", STR_ARG(read->table->name), STR_ARG(read->column->name));
}

static void add_evidence(const struct subject *s, const struct expression *x, struct finding *f)
{
	ptrdiff_t n = 0;

	f->evidence =
		arena_make(s->keep, struct evidence, x->reads.count + s->rule->param_count + 1);
	for (ptrdiff_t i = 0; i < x->reads.count; i++) {
		const struct column *c = x->reads.items[i].column;
		const void *row = row_of(s, &x->reads.items[i]);

		if (!row)
			continue;
		struct evidence *e = &f->evidence[n++];
		*e = (struct evidence){ .column = read_name(s, &x->reads.items[i]),
			.unit = c->unit,
			.is_text = c->type == COLUMN_TEXT,
			.is_null = cell_is_null(c, row),
			.real = NAN };
		if (e->is_text)
			e->text = cell_text(c, row);
		else
			e->real = cell_real(c, row);
	}
	for (ptrdiff_t i = 0; i < s->rule->param_count; i++) {
		const struct rule_param *param = &s->rule->params[i];

		if (x->uses[i])
			f->evidence[n++] = (struct evidence){
				.column = param->name, .unit = param->unit, .real = param->value
			};
	}
	f->evidence_count = n;
}

/* ---- what is missing ---------------------------------------------------------------------- */

/*
 * Which NULLs made an expression unknown.  When no cell in sight is NULL, it was computed over
 * other rows, and those columns are named; a division by zero names nothing.  *lacks: what the
 * profile lacks, when the first NULL in sight tells.
 */
static struct str missing_columns(
	const struct subject *s, const struct expression *x, ptrdiff_t *count, struct str *lacks)
{
	struct str *names = arena_make(s->keep, struct str, x->reads.count + 1);

	*count = 0;
	*lacks = (struct str){ NULL, 0 };
	for (int in_sight = 1; in_sight >= 0 && !*count; in_sight--)
		for (ptrdiff_t i = 0; i < x->reads.count; i++) {
			const struct column_read *read = &x->reads.items[i];
			const void *row = row_of(s, read);

			if (in_sight ? !row || !cell_is_null(read->column, row) : row != NULL)
				continue;
			if (in_sight && !*count)
				*lacks = column_absence(read->column);
			names[(*count)++] = read_name(s, read);
		}
	return words_joined(s->keep, names, *count, ", ");
}

static void tell_unknown(const struct subject *s, const struct expression *x, struct finding *f)
{
	struct str lacks;
	ptrdiff_t count;

	f->missing = missing_columns(s, x, &count, &lacks);
	if (count)
		f->message = arena_fmt(s->keep, "%.*s cannot be judged: %.*s %s not known%s%.*s",
			STR_ARG(f->name), STR_ARG(f->missing), count > 1 ? "are" : "is",
			lacks.len ? ": " : "", STR_ARG(lacks));
	else if (x->is_open) /* the rule itself says when: its reader needs no SQL */
		f->message = arena_fmt(s->keep,
			"%.*s cannot be judged: what is known leaves pass and fail open",
			STR_ARG(f->name));
	else
		f->message = arena_fmt(s->keep, "%.*s cannot be judged: this has no value: %.*s",
			STR_ARG(f->name), STR_ARG(x->source->text));
}

/* ---- the finding -------------------------------------------------------------------------- */

struct str subject_text(const struct subject *s, const struct column *c)
{
	if (!c || cell_is_null(c, s->row))
		return (struct str){ NULL, 0 };
	if (c->type == COLUMN_TEXT)
		return cell_text(c, s->row);
	return double_text(s->keep, cell_real(c, s->row));
}

void finding_fill(const struct subject *s, enum verdict verdict, const struct expression *x,
	bool is_unknown, struct finding *ret)
{
	const struct rule_code *code = s->code;

	*ret = (struct finding){
		.rule = s->rule, .verdict = verdict, .gain_s = NAN, .claimed_s = NAN
	};
	ret->subject = subject_text(s, code->key);
	ret->name = subject_text(s, code->name);
	if (!ret->subject.p)
		ret->subject = code->rows->name;
	if (!ret->name.p)
		ret->name = ret->subject;
	/* The first frame in the user's own code where that is known. */
	bool users = code->user_file && !cell_is_null(code->user_file, s->row);
	const struct column *line = users ? code->user_line : code->source_line;
	ret->source_file = subject_text(s, users ? code->user_file : code->source_file);
	ret->source_line = line ? cell_real(line, s->row) : NAN;
	ret->scope = subject_text(s, code->scope);
	add_evidence(s, x, ret);
	if (is_unknown)
		tell_unknown(s, x, ret);
	else
		ret->message = template_fill(&code->message, s->rule, s->row, s->tables, s->keep);
}
