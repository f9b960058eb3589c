/* Questions as an engine's SQL.  See question.h. */
#include "store/question.h"

#include <assert.h>

#include "base/embed.h"
#include "base/text.h"
#include "store/facts.h"

struct str question_statement(const char *file, ptrdiff_t index)
{
	struct str sql = embed_find(str_from(file)), end = STR("\n;\n");
	for (; index > 0; index--)
		sql = str_from_offset(sql, str_find(sql, end) + end.len);
	return str_head(sql, str_find(sql, end));
}

static void put_aliases(struct out *o, const struct question_value *v, const struct dialect *d)
{
	if (!v->count) {
		out_z(o, "workload");
		return;
	}
	out_z(o, "CASE workload");
	for (ptrdiff_t i = 0; i < v->count; i++) {
		out_z(o, " WHEN ");
		d->put_text(o, v->aliases[i].from);
		out_z(o, " THEN ");
		d->put_text(o, v->aliases[i].to);
	}
	out_z(o, " ELSE workload END");
}

static void put_sql(
	struct out *o, struct str sql, const struct question *q, const struct dialect *d);

static void put_value(struct out *o, const struct question_value *v, const struct question *q,
	const struct dialect *d)
{
	switch (v->kind) {
	case QUESTION_NUMBER:
		out_fmt(o, "%lld", (long long)v->number);
		break;
	case QUESTION_TEXT:
		d->put_text(o, v->text);
		break;
	case QUESTION_NUMBERS:
		for (ptrdiff_t i = 0; i < v->count; i++)
			out_fmt(o, "%s%lld", i ? ", " : "", (long long)v->numbers[i]);
		break;
	case QUESTION_TEXTS:
		for (ptrdiff_t i = 0; i < v->count; i++) {
			out_z(o, i ? ", " : "");
			d->put_text(o, v->texts[i]);
		}
		break;
	case QUESTION_ALIASES:
		put_aliases(o, v, d);
		break;
	case QUESTION_COLUMNS:
		for (ptrdiff_t i = 0; i < v->columns->column_count; i++)
			out_fmt(o, "%s%.*s%.*s", i ? ", " : "", STR_ARG(v->text),
				STR_ARG(v->columns->columns[i].name));
		break;
	case QUESTION_SQL:
		put_sql(o, v->text, q, d);
		break;
	}
}

static void put_name(
	struct out *o, struct str name, const struct question *q, const struct dialect *d)
{
	const struct word {
		struct str name, text;
	} words[] = { { STR("place"), d->place }, { STR("has_kept"), d->has_kept },
		{ STR("kept"), d->kept } };
	const struct word *word = NAMED(words, COUNT_OF(words), name);
	if (word) {
		out_str(o, word->text);
		return;
	}
	for (enum fact_record i = 0; i < FACT_RECORDS; i++) {
		if (!str_eq(name, fact_forms[i].source))
			continue;
		out_fmt(o, "%.*s AS r", STR_ARG(d->runs));
		if (i != FACT_RUN)
			d->put_part(o, &fact_forms[i].table);
		return;
	}
	for (ptrdiff_t i = 0; i < q->count; i++)
		if (str_eq(name, str_from(q->values[i].name))) {
			put_value(o, &q->values[i], q, d);
			return;
		}
	assert(false); /* a name that no value has */
}

static void put_sql(
	struct out *o, struct str sql, const struct question *q, const struct dialect *d)
{
	struct str before, line, name;
	for (bool more = true; more;) {
		more = str_cut(sql, '{', &before, &sql);
		/* Tabs are for readers of questions.sql, and a question is sent often. */
		while (str_cut(before, '\t', &line, &before))
			out_str(o, line);
		out_str(o, line);
		if (!more)
			break;
		str_cut(sql, '}', &name, &sql);
		put_name(o, name, q, d);
	}
}

struct str question_text(const struct question *q, const struct dialect *d, struct arena *keep)
{
	struct out *o = out_memory(keep);
	put_sql(o, q->sql, q, d);
	return (struct str){ arena_z(keep, out_text(o)), out_text(o).len };
}
