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
enum { FORMATS = COUNT_OF(formats) };

struct template_reader {
	struct str text;
	ptrdiff_t at;
	struct compiler *c;
	const struct rule_text *source;
	const char *key;
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

const struct str wording_names[WORDINGS] = { STR_INIT("value"), STR_INIT("places"),
	STR_INIT("profile"), STR_INIT("baseline") };

/* A bare word as an expression: a column, a parameter, or one of the words above. */
static void find_field(struct template_reader *r, struct str name, struct piece *piece)
{
	struct str sql = name, of_run = name;
	ptrdiff_t more = 0; /* bytes that stand before the name in its expression */
	bool is_column = table_column(r->c->code->subjects.rows, name);

	const struct rule_param *param = rule_param_named(r->c->rule, name);
	if (!is_column && (param || NAMED(wording_names, WORDINGS, name))) {
		sql = arena_fmt(r->keep, ":%.*s", STR_ARG(name));
		piece->param = param ? param - r->c->rule->params : -1;
		more = 1;
	} else if (!is_column && str_take(&of_run, STR("run."))) {
		sql = arena_fmt(r->keep, "(select %.*s from run)", STR_ARG(of_run));
		more = 4;
	}
	piece->expression = text_expression(r->c, r->source, r->key, sql, r->at - more, r->fault);
}

/* "count step": a format, and for a count what it counts. */
static const struct format *find_format(struct str text, struct str *noun)
{
	struct str name;

	str_cut(text, ' ', &name, noun);
	return NAMED(formats, FORMATS, name);
}

static bool is_name(struct str s)
{
	return str_only(s, "a-zA-Z0-9_.-");
}

static bool apply_format(struct template_reader *r, struct str field, struct str name, ptrdiff_t at,
	struct piece *piece)
{
	const struct format *f = find_format(name, &piece->noun);
	bool is_text = piece->expression->facts.dimension.kind == DIMENSION_TEXT;
	struct list names = { NULL, 0, 0 };

	NAMES(&names, r->keep, formats, FORMATS);
	if (!f) {
		struct str hint = did_you_mean(r->keep, name, names.items, names.count);
		if (!hint.len)
			hint = arena_fmt(r->keep,
				"; there are %.*s; %.*s alone is shown in its unit",
				STR_ARG(words_joined(r->keep, names.items, names.count, ", ")),
				STR_ARG(field));
		return sql_fail(r->fault, r->keep, DIAG_RULE_NAME, at, name.len,
			"there is no format '%.*s'%.*s", STR_ARG(name), STR_ARG(hint));
	}
	if (piece->noun.len && f->fallback != UNIT_COUNT)
		return sql_fail(r->fault, r->keep, DIAG_RULE_NAME, at, name.len,
			"only 'count' takes a noun, as in 'count step'");
	piece->brief = !f->units;
	/* Of a quotient or a product, only its author knows whether it counts or is a share. */
	if (!is_name(field) && (piece->unit == UNIT_RATIO || piece->unit == UNIT_COUNT))
		piece->unit = UNIT_NONE;
	if (is_text)
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
	piece->param = -1;
	piece->bare = f->bare;
	if (piece->unit == UNIT_NONE)
		piece->unit = f->fallback;
	return true;
}

/* Between the braces: field, or field:format.  What is more than a name is an expression. */
static bool read_field(struct template_reader *r)
{
	struct str rest = str_from_offset(r->text, r->at), name, noun;
	ptrdiff_t len = str_find_char(rest, '}'), colon;
	struct piece *piece = add(r);

	piece->param = -1;
	if (len < 0 || str_find_char(str_head(rest, len), '{') >= 0)
		return sql_fail(r->fault, r->keep, DIAG_RULE_SQL, r->at - 1, 1,
			"this brace is never closed; a brace itself is written {{");
	name = str_head(rest, len);
	colon = str_rfind_char(name, ':');
	if (colon >= 0 && (find_format(str_from_offset(name, colon + 1), &noun) ||
				  is_name(str_head(name, colon))))
		name = str_head(name, colon);
	if (is_name(name))
		find_field(r, name, piece);
	else
		piece->expression = text_expression(r->c, r->source, r->key, name, r->at, r->fault);
	if (!piece->expression)
		return false;
	piece->unit = piece->expression->facts.dimension.unit;
	ptrdiff_t at = r->at + name.len + 1;
	if (name.len < len && !apply_format(r, name, slice(r, at, r->at + len), at, piece))
		return false;
	r->at += len + 1;
	return true;
}

/* Behind a brace that is not meant as one.  "{?" begins a part, and parts hold no parts. */
static bool read_brace(struct template_reader *r, char c)
{
	if (c == '{' && (r->at == r->text.len || r->text.p[r->at] != '?')) {
		if (read_field(r))
			return true;
		/* The rest of the field is passed over, and what is behind it read. */
		rule_fault(r->c, r->key, &r->source->origin, r->fault);
		r->at += str_find_char(str_from_offset(r->text, r->at), '}') + 1;
		return true;
	}
	if (c == '{' && r->part >= 0)
		return sql_fail(r->fault, r->keep, DIAG_RULE_SQL, r->at - 1, 2,
			"a part that may be left out holds no other");
	if (c == '{') {
		r->part = r->ret->count;
		r->part_at = r->at++ - 1;
		add(r)->text = STR("");
		return true;
	}
	if (r->part < 0)
		return sql_fail(r->fault, r->keep, DIAG_RULE_SQL, r->at - 1, 1,
			"this brace was never opened; a brace itself is written }}");
	r->ret->pieces[r->part].part = r->ret->count - r->part - 1;
	r->part = -1;
	return true;
}

void template_compile(
	struct compiler *c, const struct rule_text *source, const char *key, struct template *ret)
{
	struct sql_fault fault;
	struct str text = source->text;
	struct template_reader r = { text, 0, c, source, key, c->keep, ret, &fault, -1, 0 };
	ptrdiff_t from = 0;

	*ret = (struct template){ NULL, 0, 0 };
	while (r.at < text.len) {
		char brace = text.p[r.at];

		if (brace != '{' && brace != '}') {
			r.at++;
			continue;
		}
		bool twice = r.at + 1 < text.len && text.p[r.at + 1] == brace;
		add(&r)->text = slice(&r, from, r.at + twice);
		r.at += 1 + twice;
		if (!twice && !read_brace(&r, brace)) {
			rule_fault(c, key, &source->origin, &fault);
			return;
		}
		from = r.at;
	}
	add(&r)->text = slice(&r, from, r.at);
	if (r.part < 0)
		return;
	sql_fail(&fault, c->keep, DIAG_RULE_SQL, r.part_at, 2,
		"this part is never closed; a brace itself is written {{");
	rule_fault(c, key, &source->origin, &fault);
}

/* ---- filling ------------------------------------------------------------------------------ */

/* "1 step", "2 steps", "unknown steps": as the number is printed. */
static struct str counted(struct str number, struct str noun, struct arena *keep)
{
	bool is_hissed = str_ends(noun, STR("s")) || str_ends(noun, STR("x")) ||
			 str_ends(noun, STR("ch")) || str_ends(noun, STR("sh"));
	const char *ending = str_eq(number, STR("1")) ? "" : is_hissed ? "es" : "s";
	return noun.len ? arena_fmt(keep, "%.*s %.*s%s", STR_ARG(number), STR_ARG(noun), ending)
			: number;
}

/* Missing when it is not known, and of an outline when it is a number. */
static struct str piece_text(const struct piece *p, const struct rule *rule,
	const struct listing *texts, bool is_outline, struct arena *keep)
{
	if (!p->expression)
		return p->text;
	if (p->param >= 0 && rule->params[p->param].text.p)
		return rule->params[p->param].text;
	int column = result_column(texts, p->expression);
	double number = number_of(texts, p->expression);
	if (sqlite3_column_type(texts->stmt, column) == SQLITE_TEXT) {
		struct str text = arena_str(keep, sql_text(texts->stmt, column));

		return p->brief ? text_brief(keep, text) : text;
	}
	if (is_outline || isnan(number))
		return MISSING;
	return unit_text(keep, number, p->bare ? UNIT_NONE : p->unit);
}

struct str template_fill(const struct template *t, const struct rule *rule,
	const struct listing *texts, bool is_outline, struct arena *keep)
{
	struct str hole = is_outline ? STR("...") : STR("unknown");
	struct out *o = out_memory(keep);

	for (ptrdiff_t i = 0; i < t->count; i++) {
		const struct piece *piece = &t->pieces[i];
		struct str text = piece_text(piece, rule, texts, is_outline, keep);

		out_str(o, counted(text.p ? text : hole, piece->noun, keep));
		/* A part whose fields are not all known is left out. */
		for (ptrdiff_t k = 1; k <= piece->part; k++)
			if (!piece_text(piece + k, rule, texts, is_outline, keep).p) {
				i += piece->part;
				break;
			}
	}
	return out_text(o);
}
