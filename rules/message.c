/* Message templates.  See message.h. */
#include "rules/message.h"

#include <math.h>

#include "base/out.h"
#include "base/text.h"
#include "rules/compile.h"

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
	const struct template_names *names;
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

static void column_piece(struct piece *piece, const struct column *c, enum piece_kind kind)
{
	piece->kind = kind;
	piece->column = c;
	piece->unit = c->unit;
	piece->is_text = c->type == COLUMN_TEXT;
}

static const struct str words[] = { STR_INIT("places"), STR_INIT("profile"), STR_INIT("baseline") };
enum { WORDS = sizeof(words) / sizeof(words[0]) };

static bool find_field(struct template_reader *r, struct str name, struct piece *piece)
{
	const struct column *c = table_column(r->names->rows, name);
	struct rule_param *param = rule_param_named(r->names->rule, name);
	struct str of_run = name;
	int word = 0;

	while (word < WORDS && !str_eq(name, words[word]))
		word++;
	if (c) {
		column_piece(piece, c, PIECE_COLUMN);
	} else if (param) {
		param->used = true;
		piece->kind = PIECE_PARAM;
		piece->param = param - r->names->rule->params;
		piece->unit = param->unit;
	} else if (str_eq(name, STR("value"))) {
		piece->kind = PIECE_VALUE;
		piece->unit = r->names->value_unit;
	} else if (word < WORDS) {
		piece->kind = (enum piece_kind)(PIECE_PLACES + word);
		piece->is_text = true;
	} else {
		str_take(&of_run, STR("run."));
		c = table_column(&table_defs[TABLE_run], of_run);
		if (c)
			column_piece(piece, c, PIECE_RUN);
	}
	return c || param || piece->kind != PIECE_TEXT;
}

static bool unknown_field(struct template_reader *r, struct str name)
{
	const struct rule *rule = r->names->rule;
	bool of_run = str_starts(name, STR("run."));
	const struct table_def *def = of_run ? &table_defs[TABLE_run] : r->names->rows;
	ptrdiff_t count = 0, params = of_run ? 0 : rule->param_count;
	struct str *names = arena_make(r->keep, struct str, def->column_count + params + 1);

	for (ptrdiff_t i = 0; i < def->column_count; i++)
		names[count++] =
			of_run ? arena_fmt(r->keep, "run.%.*s", STR_ARG(def->columns[i].name))
			       : def->columns[i].name;
	for (ptrdiff_t i = 0; i < params; i++)
		names[count++] = rule->params[i].name;
	struct str hint = did_you_mean(r->keep, name, names, count);
	return sql_fail(r->fault, r->keep, DIAG_RULE_NAME, r->at, name.len,
		"'%.*s' is neither a column of %.*s nor a parameter%.*s", STR_ARG(name),
		STR_ARG(def->name), STR_ARG(hint));
}

/* "count step": a format, and for a count what it counts. */
static struct str noun_of(struct str format)
{
	ptrdiff_t blank = str_find_char(format, ' ');
	return blank < 0 ? STR("") : str_from_offset(format, blank + 1);
}

static const struct format *find_format(struct str text)
{
	ptrdiff_t blank = str_find_char(text, ' ');
	struct str name = blank < 0 ? text : str_head(text, blank);
	for (int i = 0; i < FORMATS; i++)
		if (str_eq(formats[i].name, name))
			return &formats[i];
	return NULL;
}

static bool apply_format(struct template_reader *r, struct str field, struct str name, ptrdiff_t at,
	struct piece *piece)
{
	const struct format *f = find_format(name);
	struct str names[FORMATS];

	for (int i = 0; i < FORMATS; i++)
		names[i] = formats[i].name;
	if (!f) {
		struct str hint = did_you_mean(r->keep, name, names, FORMATS);
		if (!hint.len)
			hint = STR("; there are time, percent, bytes, rate, flops, count, number "
				   "and brief");
		return sql_fail(r->fault, r->keep, DIAG_RULE_NAME, at, name.len,
			"there is no format '%.*s'%.*s", STR_ARG(name), STR_ARG(hint));
	}
	piece->noun = noun_of(name);
	if (piece->noun.len && f->fallback != UNIT_COUNT)
		return sql_fail(r->fault, r->keep, DIAG_RULE_NAME, at, name.len,
			"only 'count' takes a noun, as in 'count step'");
	piece->brief = !f->units;
	/* Of a quotient or a product, only its author knows whether it counts or is a share. */
	if (piece->kind == PIECE_EXPRESSION &&
		(piece->unit == UNIT_RATIO || piece->unit == UNIT_COUNT))
		piece->unit = UNIT_NONE;
	if (piece->is_text)
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

static bool is_name(struct str s)
{
	return str_only(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");
}

/* Between the braces: field, or field:format.  What is more than a name is an expression. */
static bool read_field(struct template_reader *r)
{
	struct str rest = str_from_offset(r->text, r->at), name, format = STR("");
	ptrdiff_t len = str_find_char(rest, '}'), colon;
	struct piece *piece = add(r);

	if (len < 0)
		return sql_fail(r->fault, r->keep, DIAG_RULE_SQL, r->at - 1, 1,
			"this brace is never closed; a brace itself is written {{");
	name = str_head(rest, len);
	colon = str_rfind_char(name, ':');
	if (colon >= 0) {
		format = str_from_offset(name, colon + 1);
		if (find_format(format) || is_name(str_head(name, colon)))
			name = str_head(name, colon);
		else
			format = STR("");
	}
	if (is_name(name)) {
		if (!find_field(r, name, piece))
			return unknown_field(r, name);
	} else {
		piece->kind = PIECE_EXPRESSION;
		piece->expression = r->names->compile(
			r->names->arg, name, r->at, &piece->unit, &piece->is_text, r->fault);
		if (!piece->expression)
			return false;
	}
	if (name.len < len && !apply_format(r, name, format, r->at + name.len + 1, piece))
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
		add(r)->kind = PIECE_PART;
		return true;
	}
	if (r->part < 0)
		return sql_fail(r->fault, r->keep, DIAG_RULE_SQL, r->at - 1, 1,
			"this brace was never opened; a brace itself is written }}");
	r->ret->pieces[r->part].part = r->ret->count - r->part - 1;
	r->part = -1;
	return true;
}

bool template_compile(struct str text, const struct template_names *names, struct arena *keep,
	struct template *ret, struct sql_fault *fault)
{
	struct template_reader r = { text, 0, names, keep, ret, fault, -1, 0 };
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

/* False when it is not known. */
static bool piece_cell(const struct piece *p, const struct template_values *v, struct extra *ret)
{
	const void *row = v->row;

	*ret = (struct extra){ { NULL, 0 }, NAN };
	switch (p->kind) {
	case PIECE_RUN:
		row = table_count(v->tables, run) ? v->tables->items[TABLE_run].rows : NULL;
		/* fall through */
	case PIECE_COLUMN:
		if (!row || cell_is_null(p->column, row))
			return false;
		if (p->is_text)
			ret->text = cell_text(p->column, row);
		else
			ret->real = cell_real(p->column, row);
		return true;
	case PIECE_PARAM:
		ret->real = p->param == PARAM_EXPLAINED ? v->explained
							: v->rule->params[p->param].value;
		return !isnan(ret->real);
	case PIECE_VALUE:
		ret->real = v->value;
		return !isnan(v->value);
	case PIECE_PLACES:
	case PIECE_PROFILE:
	case PIECE_BASELINE:
		ret->text = v->words[p->kind - PIECE_PLACES];
		return ret->text.len > 0;
	case PIECE_EXPRESSION:
		*ret = v->extras[p->expression->extra];
		return ret->text.p || !isnan(ret->real);
	case PIECE_TEXT:
	case PIECE_PART:
		break;
	}
	return true;
}

/* "1 step", "2 steps", "unknown steps": as the number is printed. */
static struct str counted(struct str number, struct str noun, struct arena *keep)
{
	bool is_hissed = str_ends(noun, STR("s")) || str_ends(noun, STR("x")) ||
			 str_ends(noun, STR("ch")) || str_ends(noun, STR("sh"));
	const char *ending = str_eq(number, STR("1")) ? "" : is_hissed ? "es" : "s";
	return noun.len ? arena_fmt(keep, "%.*s %.*s%s", STR_ARG(number), STR_ARG(noun), ending)
			: number;
}

static struct str piece_text(
	const struct piece *p, const struct template_values *v, struct arena *keep)
{
	enum unit unit = p->bare ? UNIT_NONE : p->unit;
	struct extra cell;

	if (p->kind == PIECE_TEXT || p->kind == PIECE_PART)
		return p->text;
	if (!piece_cell(p, v, &cell))
		return counted(STR("unknown"), p->noun, keep);
	if (p->kind == PIECE_PARAM && !p->formatted && v->rule->params[p->param].text.p)
		return v->rule->params[p->param].text; /* as the rule file says it */
	if (cell.text.p)
		return p->brief ? text_brief(keep, cell.text) : cell.text;
	return counted(unit_text(keep, cell.real, unit), p->noun, keep);
}

struct str template_fill(
	const struct template *t, const struct template_values *v, struct arena *keep)
{
	struct out *o = out_memory(keep);
	struct extra ignored;

	for (ptrdiff_t i = 0; i < t->count; i++) {
		const struct piece *piece = &t->pieces[i];

		out_str(o, piece_text(piece, v, keep));
		bool is_known = true; /* all fields of the part that begins here */
		for (const struct piece *p = piece + 1; p <= piece + piece->part; p++)
			is_known &= piece_cell(p, v, &ignored);
		if (!is_known)
			i += piece->part;
	}
	return out_text(o);
}
