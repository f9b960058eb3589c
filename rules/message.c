/* Message templates.  See message.h. */
#include "rules/message.h"

#include "base/out.h"
#include "base/text.h"
#include "rules/dimension.h"

#define UNIT_BIT(u) (1u << UNIT_##u)
#define ANY_UNIT    0xffffffffu

/* What each format may show; a number without a unit may take any of them. */
static const struct format {
	struct str name;
	const char *shows;
	unsigned units;
	enum unit fallback; /* for a number without a unit */
	bool bare;
} formats[] = {
	{ STR_INIT("time"), "times", UNIT_BIT(SECONDS), UNIT_SECONDS, false },
	{ STR_INIT("percent"), "ratios", UNIT_BIT(RATIO), UNIT_RATIO, false },
	{ STR_INIT("bytes"), "sizes", UNIT_BIT(BYTES), UNIT_BYTES, false },
	{ STR_INIT("rate"), "rates", UNIT_BIT(BYTES_PER_SECOND) | UNIT_BIT(FLOPS_PER_SECOND),
		UNIT_BYTES_PER_SECOND, false },
	{ STR_INIT("flops"), "FLOPs and FLOP/s", UNIT_BIT(FLOPS) | UNIT_BIT(FLOPS_PER_SECOND),
		UNIT_FLOPS, false },
	{ STR_INIT("count"), "counts", UNIT_BIT(COUNT), UNIT_COUNT, false },
	{ STR_INIT("number"), "any number", ANY_UNIT, UNIT_NONE, true },
	{ STR_INIT("brief"), "texts", 0, UNIT_NONE, false },
};
enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

struct template_reader {
	struct str text;
	ptrdiff_t at;
	const struct table_def *rows;
	struct rule *rule;
	struct arena *keep;
	struct template *ret;
	struct sql_fault *fault;
	ptrdiff_t part, part_at; /* the piece that began the part that is open, and where; or -1 */
};

static struct piece *add(struct template_reader *r)
{
	return arena_push(r->keep, r->ret->pieces, r->ret->count, r->ret->cap);
}

static struct str slice(const struct template_reader *r, ptrdiff_t from, ptrdiff_t to)
{
	return str_head(str_from_offset(r->text, from), to - from);
}

/* ---- fields ------------------------------------------------------------------------------- */

static bool find_field(struct template_reader *r, struct str name, struct piece *piece)
{
	const struct table_def *def = r->rows;

	if (str_take(&name, STR("run."))) {
		def = &table_defs[TABLE_run];
		piece->of_run = true;
	}
	piece->column = table_column(def, name);
	struct rule_param *param =
		piece->column || piece->of_run ? NULL : rule_param_named(r->rule, name);
	if (piece->column)
		piece->unit = piece->column->unit;
	if (param) {
		param->used = true;
		piece->param = param;
		piece->unit = param->unit;
	}
	return piece->column || param;
}

static bool unknown_field(struct template_reader *r, struct str name)
{
	bool of_run = str_starts(name, STR("run."));
	const struct table_def *def = of_run ? &table_defs[TABLE_run] : r->rows;
	ptrdiff_t count = 0, params = of_run ? 0 : r->rule->param_count;
	struct str *names = arena_make(r->keep, struct str, def->column_count + params + 1);

	for (ptrdiff_t i = 0; i < def->column_count; i++)
		names[count++] =
			of_run ? arena_fmt(r->keep, "run.%.*s", STR_ARG(def->columns[i].name))
			       : def->columns[i].name;
	for (ptrdiff_t i = 0; i < params; i++)
		names[count++] = r->rule->params[i].name;
	struct str hint = did_you_mean(r->keep, name, names, count);
	return sql_fail(r->fault, r->keep, DIAG_RULE_NAME, r->at, name.len,
		"'%.*s' is neither a column of %.*s nor a parameter%.*s", STR_ARG(name),
		STR_ARG(def->name), STR_ARG(hint));
}

static bool apply_format(struct template_reader *r, struct str field, struct str name, ptrdiff_t at,
	struct piece *piece)
{
	const struct format *f = NULL;
	struct str names[FORMATS];

	for (int i = 0; i < FORMATS; i++) {
		names[i] = formats[i].name;
		if (str_eq(names[i], name))
			f = &formats[i];
	}
	if (!f) {
		struct str hint = did_you_mean(r->keep, name, names, FORMATS);
		if (!hint.len)
			hint = STR("; there are time, percent, bytes, rate, flops, count, number "
				   "and brief");
		return sql_fail(r->fault, r->keep, DIAG_RULE_NAME, at, name.len,
			"there is no format '%.*s'%.*s", STR_ARG(name), STR_ARG(hint));
	}
	piece->brief = !f->units;
	if (piece->column && piece->column->type == COLUMN_TEXT)
		return piece->brief ||
		       sql_fail(r->fault, r->keep, DIAG_RULE_TYPE, at, name.len,
			       "%.*s is a text and takes no format but 'brief'", STR_ARG(field));
	if (piece->brief)
		return sql_fail(r->fault, r->keep, DIAG_RULE_TYPE, at, name.len,
			"%.*s is a number; 'brief' shows texts", STR_ARG(field));
	if (piece->unit != UNIT_NONE && !(f->units & 1u << piece->unit))
		return sql_fail(r->fault, r->keep, DIAG_RULE_UNIT, at, name.len,
			"%.*s is %s; '%.*s' shows %s", STR_ARG(field), unit_noun(piece->unit),
			STR_ARG(name), f->shows);
	piece->formatted = true;
	piece->bare = f->bare;
	if (piece->unit == UNIT_NONE)
		piece->unit = f->fallback;
	return true;
}

/* Between the braces: field or field:format. */
static bool read_field(struct template_reader *r)
{
	struct str rest = str_from_offset(r->text, r->at), name, format;
	ptrdiff_t len = str_find_char(rest, '}');
	struct piece *piece = add(r);

	if (len < 0)
		return sql_fail(r->fault, r->keep, DIAG_RULE_SQL, r->at - 1, 1,
			"this brace is never closed; a brace itself is written {{");
	bool has_format = str_cut(str_head(rest, len), ':', &name, &format);
	if (!find_field(r, name, piece))
		return unknown_field(r, name);
	if (has_format && !apply_format(r, name, format, r->at + name.len + 1, piece))
		return false;
	r->at += len + 1;
	return true;
}

/* Behind a brace that is not meant as one.  "{?" begins a part, and parts hold no parts. */
static bool read_brace(struct template_reader *r, char c)
{
	if (c == '{' && (r->at == r->text.len || r->text.p[r->at] != '?'))
		return read_field(r);
	if (c == '{' && r->part >= 0)
		return sql_fail(r->fault, r->keep, DIAG_RULE_SQL, r->at - 1, 2,
			"a part that may be left out holds no other");
	if (c == '{') {
		r->part = r->ret->count;
		r->part_at = r->at++ - 1;
		add(r);
		return true;
	}
	if (r->part < 0)
		return sql_fail(r->fault, r->keep, DIAG_RULE_SQL, r->at - 1, 1,
			"this brace was never opened; a brace itself is written }}");
	r->ret->pieces[r->part].part = r->ret->count - r->part - 1;
	r->part = -1;
	return true;
}

bool template_compile(struct str text, const struct table_def *rows, struct rule *rule,
	struct arena *keep, struct template *ret, struct sql_fault *fault)
{
	struct template_reader r = { text, 0, rows, rule, keep, ret, fault, -1, 0 };
	ptrdiff_t from = 0;

	*ret = (struct template){ NULL, 0, 0 };
	while (r.at < text.len) {
		char c = text.p[r.at];

		if (c != '{' && c != '}') {
			r.at++;
			continue;
		}
		bool twice = r.at + 1 < text.len && text.p[r.at + 1] == c;
		add(&r)->text = slice(&r, from, r.at + twice);
		r.at += 1 + twice;
		if (!twice && !read_brace(&r, c))
			return false;
		from = r.at;
	}
	add(&r)->text = slice(&r, from, r.at);
	return r.part < 0 || sql_fail(fault, keep, DIAG_RULE_SQL, r.part_at, 2,
				     "this part is never closed; a brace itself is written {{");
}

/* ---- filling ------------------------------------------------------------------------------ */

/* The row that the piece's column is of; NULL: what it holds is not known. */
static const void *piece_row(
	const struct piece *piece, const void *row, const struct tables *tables)
{
	if (piece->of_run)
		row = table_count(tables, run) ? tables->items[TABLE_run].rows : NULL;
	return row && !cell_is_null(piece->column, row) ? row : NULL;
}

static struct str piece_text(const struct piece *piece, const struct rule *rule, const void *row,
	const struct tables *tables, struct arena *keep)
{
	const struct rule_param *param =
		piece->param ? rule_param_named(rule, piece->param->name) : NULL;
	enum unit unit = piece->bare ? UNIT_NONE : piece->unit;

	if (param) /* without a format as the rule file says it */
		return piece->formatted ? unit_text(keep, param->value, unit) : param->text;
	if (!piece->column)
		return piece->text;
	row = piece_row(piece, row, tables);
	if (!row)
		return STR("unknown");
	if (piece->column->type == COLUMN_TEXT)
		return piece->brief ? text_brief(keep, cell_text(piece->column, row))
				    : cell_text(piece->column, row);
	return unit_text(keep, cell_real(piece->column, row), unit);
}

struct str template_fill(const struct template *t, const struct rule *rule, const void *row,
	const struct tables *tables, struct arena *keep)
{
	struct out *o = out_memory(keep);

	for (ptrdiff_t i = 0; i < t->count; i++) {
		const struct piece *piece = &t->pieces[i];
		out_str(o, piece_text(piece, rule, row, tables, keep));
		bool is_known = true; /* all fields of the part that begins here */
		for (const struct piece *p = piece + 1; p <= piece + piece->part; p++)
			is_known &= !p->column || piece_row(p, row, tables);
		if (!is_known)
			i += piece->part;
	}
	return out_text(o);
}
