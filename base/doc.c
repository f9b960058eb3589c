/*
 * libfyaml's events turned into a tree of our own.  See doc.h.
 *
 * Events and not libfyaml's documents: nothing in it recurses then, and depth, size, anchors and
 * duplicate keys are ours to judge.  Positions come from byte offsets, since libfyaml counts
 * columns in characters and stops counting lines at other line breaks than we do.
 */
#include "base/doc.h"

#include <libfyaml.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/out.h"
#include "base/utf8.h"

/* A rule file has some thousand nodes; this bounds the tree of a hostile one to some 30 MB. */
enum { DOC_MAX_NODES = 1 << 18 };

/* One open list or map. */
struct frame {
	struct doc_node *node, *key; /* key: read, its value is still to come */
	ptrdiff_t cap;
	bool implicit; /* has no mark of its own: begins with its first child */
};

struct builder {
	struct doc *doc;
	struct arena *keep;
	struct diag *err;
	ptrdiff_t bom;	      /* bytes before what libfyaml sees */
	ptrdiff_t last;	      /* where the last token ended: an empty value stands there */
	ptrdiff_t line_start; /* cursor for positions; moves both ways */
	int64_t line, documents, nodes;
	int depth;
	struct frame stack[DOC_MAX_DEPTH];
};

/* Length of the line at `start`, without its break. */
static ptrdiff_t line_len(struct str source, ptrdiff_t start)
{
	struct str rest = str_from_offset(source, start);
	ptrdiff_t len = str_find_char(rest, '\n');
	return len < 0 ? rest.len : len;
}

static ptrdiff_t space_len(struct str s)
{
	ptrdiff_t n = 0;
	while (n < s.len && (s.p[n] == ' ' || s.p[n] == '\t' || s.p[n] == '\n' || s.p[n] == '\r'))
		n++;
	return n;
}

static void seek(struct builder *b, ptrdiff_t offset)
{
	struct str source = b->doc->source;
	while (b->line_start > offset) {
		b->line_start = str_rfind_char(str_head(source, b->line_start - 1), '\n') + 1;
		b->line--;
	}
	for (;;) {
		ptrdiff_t next = b->line_start + line_len(source, b->line_start) + 1;
		if (next > offset || next > source.len)
			return;
		b->line_start = next;
		b->line++;
	}
}

/* The place of source[from, to), cut at the end of its first line. */
static struct text_place place_at(struct builder *b, ptrdiff_t from, ptrdiff_t to)
{
	seek(b, from);
	ptrdiff_t end = b->line_start + line_len(b->doc->source, b->line_start);
	to = to < end ? to : end;
	return (struct text_place){ .file = b->doc->file,
		.source = b->doc->source,
		.line = b->line,
		.column = from - b->line_start + 1,
		.width = to > from ? to - from : 1 };
}

static bool syntax(struct builder *b, ptrdiff_t from, ptrdiff_t to, const char *what)
{
	return diag_caret(b->err, DIAG_RULE_SYNTAX, place_at(b, from, to), "%s", what);
}

/* YAML's own idea of printable, less what forges a line. */
static bool is_allowed(uint32_t c)
{
	return utf8_is_plain(c) || c == '\n' || c == '\r' || c == '\t';
}

/* Offset of the first byte that is no allowed character, or -1. */
static ptrdiff_t first_bad(struct str s, uint32_t *ret)
{
	ptrdiff_t mark = str_starts(s, STR("\xef\xbb\xbf")) ? 3 : 0; /* some editors write it */
	for (ptrdiff_t at = mark; (at = utf8_skip_ascii(s, at)) < s.len;) {
		int n = utf8_next(str_from_offset(s, at), ret);
		if (n < 0 || !is_allowed(*ret))
			return at;
		at += n;
	}
	return -1;
}

/*
 * Offset of the first `? ` that begins a line, behind document marks, list items and `:`, or -1.
 * YAML's explicit keys are refused before libfyaml sees them: 0.7 frees an indent twice at
 * "? x:\t:".
 */
static ptrdiff_t explicit_key(struct str source, ptrdiff_t from)
{
	bool begins = true;
	for (ptrdiff_t at = from; at < source.len; at++) {
		struct str rest = str_from_offset(source, at);
		if (begins && *rest.p == '?' &&
			(rest.len == 1 || space_len(str_from_offset(rest, 1))))
			return at;
		begins = strchr("\r\n", *rest.p) || (begins && strchr(" \t-:", *rest.p));
	}
	return -1;
}

/* Offset of a tab between two colons, or -1: in brackets that is enough for the same. */
static ptrdiff_t tab_of_colons(struct str source, ptrdiff_t from)
{
	bool colon = false;
	ptrdiff_t tab = -1;
	for (ptrdiff_t at = from; at < source.len; at++) {
		char c = source.p[at];
		if (c == ':' && tab >= 0)
			return tab;
		tab = colon && c == '\t' ? at : c == ' ' ? tab : -1;
		colon = c == ':' || (colon && strchr(" \t", c));
	}
	return -1;
}

static bool check_source(struct builder *b)
{
	uint32_t c;
	struct str source = b->doc->source;
	if (source.len > DOC_MAX_BYTES)
		return diag_set(b->err, DIAG_LIMIT, "%.*s: larger than %lld MiB, the most read",
			STR_ARG(b->doc->file), (long long)(DOC_MAX_BYTES >> 20));
	ptrdiff_t at = first_bad(source, &c), key = explicit_key(source, b->bom);
	if (at < 0 && key >= 0)
		return syntax(
			b, key, key + 1, "no line may begin with '? ': write keys as `key: value`");
	ptrdiff_t tab = tab_of_colons(source, b->bom);
	if (at < 0 && tab >= 0)
		return syntax(b, tab, tab + 1, "no tab may stand between two colons: write \\t");
	if (at < 0)
		return true;
	if (c == UTF8_REPLACEMENT)
		return syntax(b, at, at + 1, "this byte is not UTF-8");
	return diag_caret(b->err, DIAG_RULE_SYNTAX, place_at(b, at, at + 1),
		"the character U+%04X is not allowed in a text file", (unsigned)c);
}

static ptrdiff_t mark_offset(const struct builder *b, const struct fy_mark *m)
{
	ptrdiff_t offset = m ? (ptrdiff_t)m->input_pos + b->bom : b->last;
	return offset < b->doc->source.len ? offset : b->doc->source.len;
}

static void set_position(struct builder *b, struct doc_node *n, ptrdiff_t from, ptrdiff_t to)
{
	struct text_place place = place_at(b, from, to);
	n->line = place.line;
	n->column = place.column;
	n->width = place.width;
}

static bool has(const struct builder *b, ptrdiff_t offset, char c)
{
	struct str source = b->doc->source;
	return offset >= 0 && offset < source.len && source.p[offset] == c;
}

static bool key_is_good(struct builder *b, const struct doc_node *n)
{
	struct text_place place = doc_place(b->doc, n);
	if (n->kind != DOC_SCALAR)
		return diag_caret(
			b->err, DIAG_RULE_SYNTAX, place, "a key must be a word, not a list or map");
	if (!n->quoted && str_eq(n->text, STR("<<")))
		return diag_caret(b->err, DIAG_RULE_SYNTAX, place,
			"merge keys are not read: write the keys out");
	return true;
}

/* Hang a node into the open list or map, or make it the root. */
static bool attach(struct builder *b, struct doc_node *n)
{
	if (!b->depth) {
		b->doc->root = n;
		return true;
	}
	struct frame *f = &b->stack[b->depth - 1];
	if (f->implicit && !f->node->count && !f->key) {
		f->node->line = n->line;
		f->node->column = n->column;
		f->node->width = n->width;
	}
	if (f->node->kind == DOC_LIST) {
		*arena_push(b->keep, f->node->items, f->node->count, f->cap) = n;
	} else if (f->key) {
		struct doc_pair pair = { f->key, n };
		*arena_push(b->keep, f->node->pairs, f->node->count, f->cap) = pair;
		f->key = NULL;
	} else {
		if (!key_is_good(b, n))
			return false;
		f->key = n;
	}
	return true;
}

static struct doc_node *node_new(struct builder *b, enum doc_kind kind)
{
	if (b->nodes++ == DOC_MAX_NODES) {
		diag_set(b->err, DIAG_LIMIT, "%.*s: more than %d values, the most read",
			STR_ARG(b->doc->file), DOC_MAX_NODES);
		return NULL;
	}
	struct doc_node *n = arena_make(b->keep, struct doc_node, 1);
	n->kind = kind;
	return n;
}

/* Anchors, aliases and tags all come with a token; its mark stands behind '&' and '*'. */
static bool refuse(struct builder *b, struct fy_token *token, const char *what)
{
	if (!token)
		return true;
	ptrdiff_t from = mark_offset(b, fy_token_start_mark(token));
	ptrdiff_t to = mark_offset(b, fy_token_end_mark(token));
	if (has(b, from - 1, '&') || has(b, from - 1, '*'))
		from--;
	return syntax(b, from, to, what);
}

static bool no_extras(struct builder *b, struct fy_token *anchor, struct fy_token *tag)
{
	return refuse(b, anchor, "anchors (&name) are not read: write the value out") &&
	       refuse(b, tag,
		       "tags (!type) are not read: the key decides the type; quote a text that "
		       "begins "
		       "with '!'");
}

static void scalar_position(struct builder *b, struct doc_node *n, ptrdiff_t from, ptrdiff_t to)
{
	if (n->block) {
		/* The mark stands before the indentation and before leading empty lines. */
		from += space_len(str_head(str_from_offset(b->doc->source, from), to - from));
	} else if (n->quoted) {
		from--;
		to++;
	}
	set_position(b, n, from, to);
	b->last = to;
}

/* Of the source nothing is left to refuse; escapes may have made what it does not hold. */
static bool check_value(struct builder *b, const struct doc_node *n)
{
	uint32_t c;
	if (!n->quoted || first_bad(n->text, &c) < 0)
		return true;
	return diag_caret(b->err, DIAG_RULE_SYNTAX, doc_place(b->doc, n),
		"the text holds a character that is not allowed (U+%04X)", (unsigned)c);
}

/* Not fy_token_get_text: libfyaml 0.7.12 leaks in it when a line has many quotes or escapes. */
static struct str token_text(struct arena *keep, struct fy_token *token)
{
	if (!token)
		return STR("");
	struct out *o = out_memory(keep);
	struct fy_token_iter *iter = fy_token_iter_create(token);
	const struct fy_iter_chunk *chunk = NULL;
	if (!iter)
		memory_gone();
	while ((chunk = fy_token_iter_chunk_next(iter, chunk, NULL)))
		out_str(o, (struct str){ chunk->str, (ptrdiff_t)chunk->len });
	fy_token_iter_destroy(iter);
	return out_text(o);
}

/*
 * A line break within quotes, with the blanks around it: one break becomes a blank, more become
 * one newline less.  Returns the bytes written; *at is moved behind the blanks.
 */
static ptrdiff_t fold(struct str raw, ptrdiff_t *at, char *to)
{
	struct str blanks =
		str_head(str_from_offset(raw, *at), space_len(str_from_offset(raw, *at)));
	ptrdiff_t breaks = 0;
	for (ptrdiff_t i = 0; i < blanks.len; i++) {
		bool pair = blanks.p[i] == '\r' && i + 1 < blanks.len && blanks.p[i + 1] == '\n';
		breaks += !pair && (blanks.p[i] == '\n' || blanks.p[i] == '\r');
	}
	*at += blanks.len;
	if (!breaks) {
		memcpy(to, blanks.p, (size_t)blanks.len);
		return blanks.len;
	}
	memset(to, breaks > 1 ? '\n' : ' ', (size_t)(breaks > 1 ? breaks - 1 : 1));
	return breaks > 1 ? breaks - 1 : 1;
}

/* Not libfyaml's text, in which 0.7.12 turns '' '' side by side into three quotes. */
static struct str single_quoted(struct arena *keep, struct str raw)
{
	char *p = arena_make(keep, char, raw.len + 1);
	ptrdiff_t len = 0;
	for (ptrdiff_t i = 0; i < raw.len;) {
		if (space_len(str_from_offset(raw, i))) {
			len += fold(raw, &i, p + len);
			continue;
		}
		p[len++] = raw.p[i];
		i += raw.p[i] == '\'' ? 2 : 1;
	}
	return (struct str){ p, len };
}

/* `raw` is the scalar as written, without its quotes. */
static struct str scalar_text(
	struct builder *b, struct fy_token *token, enum fy_scalar_style style, struct str raw)
{
	if (style == FYSS_SINGLE_QUOTED)
		return single_quoted(b->keep, raw);
	if (style == FYSS_PLAIN && str_find_char(raw, '\n') < 0 && str_find_char(raw, '\r') < 0)
		return raw; /* on one line it means itself */
	return token_text(b->keep, token);
}

static bool on_scalar(struct builder *b, struct fy_event *e)
{
	struct fy_token *token = e->scalar.value;
	struct doc_node *n = node_new(b, DOC_SCALAR);
	if (!n || !no_extras(b, e->scalar.anchor, e->scalar.tag))
		return false;
	enum fy_scalar_style style = token ? fy_token_scalar_style(token) : FYSS_PLAIN;
	n->block = style == FYSS_LITERAL || style == FYSS_FOLDED;
	n->quoted = style != FYSS_PLAIN && style != FYSS_ANY;
	ptrdiff_t from = mark_offset(b, fy_event_start_mark(e));
	ptrdiff_t to = mark_offset(b, fy_event_end_mark(e));
	n->text = scalar_text(
		b, token, style, str_span(b->doc->source.p + from, b->doc->source.p + to));
	scalar_position(b, n, from, to);
	return check_value(b, n) && attach(b, n);
}

static bool on_open(struct builder *b, struct fy_event *e, enum doc_kind kind)
{
	bool map = kind == DOC_MAP;
	struct fy_token *anchor = map ? e->mapping_start.anchor : e->sequence_start.anchor;
	struct fy_token *tag = map ? e->mapping_start.tag : e->sequence_start.tag;
	ptrdiff_t from = mark_offset(b, fy_event_start_mark(e));
	struct doc_node *n = node_new(b, kind);
	if (!n || !no_extras(b, anchor, tag))
		return false;
	if (b->depth == DOC_MAX_DEPTH)
		return diag_caret(b->err, DIAG_LIMIT, place_at(b, from, from + 1),
			"lists and maps are nested deeper than %d levels", DOC_MAX_DEPTH);
	n->flow = has(b, from, map ? '{' : '[');
	bool implicit = !n->flow && (map || !has(b, from, '-'));
	set_position(b, n, from, from + 1);
	b->last = from;
	if (!attach(b, n))
		return false;
	b->stack[b->depth++] = (struct frame){ .node = n, .implicit = implicit };
	return true;
}

static int by_key(const void *a, const void *b)
{
	const struct doc_pair *x = *(const struct doc_pair *const *)a;
	const struct doc_pair *y = *(const struct doc_pair *const *)b;
	int order = str_cmp(x->key->text, y->key->text);
	return order ? order : (x > y) - (x < y);
}

/* Sorted, so that a map of a hundred thousand keys is no quadratic matter. */
static void note_repeats(struct builder *b, const struct doc_node *map)
{
	struct doc *doc = b->doc;
	const struct doc_pair **sorted = arena_make(b->keep, const struct doc_pair *, map->count);
	const struct doc_node *first = NULL;

	for (ptrdiff_t i = 0; i < map->count; i++)
		sorted[i] = &map->pairs[i];
	if (map->count)
		qsort(sorted, (size_t)map->count, sizeof(*sorted), by_key);
	for (ptrdiff_t i = 0; i < map->count; i++) {
		const struct doc_node *key = sorted[i]->key;

		if (first && str_eq(key->text, first->text))
			*arena_push(b->keep, doc->repeats, doc->repeat_count, doc->repeat_cap) =
				(struct doc_repeat){ key, first };
		else
			first = key;
	}
}

bool doc_tell_repeat(const struct doc *d, const struct doc_repeat *repeat, struct diag *err)
{
	return diag_caret(err, DIAG_RULE_SYNTAX, doc_place(d, repeat->key),
		"the key '%.*s' stands here a second time; the first is on line %lld",
		STR_ARG(repeat->key->text), (long long)repeat->first->line);
}

static bool on_close(struct builder *b, struct fy_event *e)
{
	if (!b->depth)
		return true;
	const struct doc_node *n = b->stack[--b->depth].node;
	b->last = mark_offset(b, fy_event_end_mark(e));
	if (n->kind == DOC_MAP)
		note_repeats(b, n);
	return true;
}

static bool on_document(struct builder *b, struct fy_event *e)
{
	ptrdiff_t at = mark_offset(b, fy_event_start_mark(e));
	if (!b->documents++)
		return true;
	return syntax(b, at, at + 3, "a second document begins here, and only one is read");
}

static bool on_event(struct builder *b, struct fy_event *e)
{
	switch (e->type) {
	case FYET_DOCUMENT_START:
		return on_document(b, e);
	case FYET_ALIAS:
		return refuse(b, e->alias.anchor,
			"aliases (*name) are not read: write the value out, or quote a text "
			"that begins with '*'");
	case FYET_SCALAR:
		return on_scalar(b, e);
	case FYET_MAPPING_START:
		return on_open(b, e, DOC_MAP);
	case FYET_SEQUENCE_START:
		return on_open(b, e, DOC_LIST);
	case FYET_MAPPING_END:
	case FYET_SEQUENCE_END:
		return on_close(b, e);
	default:
		return true;
	}
}

/* What to do about libfyaml's commonest complaints; matched as a part of its text. */
static const char *hint_for(struct str message)
{
	static const struct {
		struct str part;
		const char *hint;
	} hints[] = {
		{ STR_INIT("tab character"), "indent with spaces" },
		{ STR_INIT("invalid multiline plain key"),
			"a value goes on here and a key follows: check the indentation of the next "
			"line" },
		{ STR_INIT("invalid nested block mapping"),
			"a value that holds ': ' must be quoted" },
		{ STR_INIT("plain scalar cannot start"), "quote the value" },
		{ STR_INIT("could not find expected ':'"), "behind a key stand a ':' and a space" },
		{ STR_INIT("invalid indentation"), "line this up with the keys or items above it" },
		{ STR_INIT("invalid mapping in plain multiline"),
			"line this up with the keys above it" },
		{ STR_INIT("wrongly indented"), "is its quote closed?" },
		{ STR_INIT("block scalar"), "quote a text that begins with '>' or '|'" },
		{ STR_INIT("missing comma"), "or its closing bracket is missing" },
		{ STR_INIT("invalid value after mapping"), "quote a text that begins with '{'" },
		{ STR_INIT("invalid trailing content"),
			"put the whole value in quotes of the other kind" },
		{ STR_INIT("invalid escape"), "write \\\\ for a backslash, or use single quotes" },
	};
	for (ptrdiff_t i = 0; i < COUNT_OF(hints); i++)
		if (str_contains(message, hints[i].part))
			return hints[i].hint;
	return NULL;
}

/* Offset of a line and column. */
static ptrdiff_t line_offset(struct str source, int64_t line, int64_t column)
{
	ptrdiff_t at = 0;
	while (line-- > 1 && at < source.len)
		at += line_len(source, at) + 1;
	at += column > 0 ? (ptrdiff_t)column - 1 : 0;
	return at < source.len ? at : source.len;
}

/* A tab that indents one of the lines at source[from, to) is the likeliest mistake; or -1. */
static ptrdiff_t indenting_tab(struct builder *b, ptrdiff_t from, ptrdiff_t to)
{
	if (b->depth && b->stack[b->depth - 1].node->flow)
		return -1;
	seek(b, from);
	for (ptrdiff_t line = b->line_start; line < to;) {
		ptrdiff_t at = line;
		while (has(b, at, ' '))
			at++;
		if (has(b, at, '\t'))
			return at;
		line += line_len(b->doc->source, line) + 1;
	}
	return -1;
}

bool doc_is_open(const struct doc_node *n)
{
	ptrdiff_t depth = 0;
	for (ptrdiff_t i = 0; i < n->text.len; i++)
		depth += (n->text.p[i] == '(') - (n->text.p[i] == ')');
	return n->kind == DOC_SCALAR && !n->quoted && depth > 0;
}

/* The value whose comma ended it, so that its rest is no YAML; or NULL. */
static const struct doc_node *cut_value(const struct builder *b)
{
	const struct doc_node *map = b->depth ? b->stack[b->depth - 1].node : NULL;
	for (ptrdiff_t i = 0; map && map->kind == DOC_MAP && map->flow && i < map->count; i++)
		if (doc_is_open(map->pairs[i].value))
			return map->pairs[i].value;
	return NULL;
}

/* At the end of the text the mistake is the bracket that was never closed. */
static const struct doc_node *unclosed(const struct builder *b, ptrdiff_t at)
{
	bool at_end = !str_trim(str_from_offset(b->doc->source, at)).len;
	const struct frame *f = b->depth ? &b->stack[b->depth - 1] : NULL;
	return at_end && f && f->node->flow ? f->node : NULL;
}

static bool report(struct builder *b, const struct fy_diag_error *e)
{
	struct str message = str_from(e->msg ? e->msg : "not valid YAML");
	ptrdiff_t from = line_offset(b->doc->source, e->line, e->column), to = from + 1;
	if (e->fyt && fy_token_start_mark(e->fyt)) {
		from = mark_offset(b, fy_token_start_mark(e->fyt));
		to = mark_offset(b, fy_token_end_mark(e->fyt));
	}
	const struct doc_node *cut = cut_value(b), *open = unclosed(b, from);
	if (cut)
		return diag_caret(b->err, DIAG_RULE_SYNTAX, doc_place(b->doc, cut), DOC_CUT);
	struct text_place place = open ? doc_place(b->doc, open) : place_at(b, from, to);
	ptrdiff_t tab = open ? -1 : indenting_tab(b, from, to);
	if (tab >= 0) {
		message = STR("tab character may not be used as indentation");
		place = place_at(b, tab, tab + 1);
	}
	const char *hint = hint_for(message);
	return diag_caret(b->err, DIAG_RULE_SYNTAX, place, "%.*s%s%s", STR_ARG(message),
		hint ? "; " : "", hint ? hint : "");
}

/* The first error that libfyaml collected, if any. */
static bool check_parser(struct builder *b, struct fy_diag *collected, bool failed)
{
	void *at = NULL;
	struct fy_diag_error *e;
	while ((e = fy_diag_errors_iterate(collected, &at)))
		if (e->type >= FYET_ERROR)
			return report(b, e);
	return !failed || syntax(b, b->last, b->last + 1, "not valid YAML from here on");
}

/* libfyaml writes to standard error unless its output has another place to go. */
static void swallow(struct fy_diag *d, void *user, const char *text, size_t len)
{
	(void)d, (void)user, (void)text, (void)len;
}

static struct fy_diag *collector(void)
{
	struct fy_diag_cfg cfg;
	fy_diag_cfg_default(&cfg);
	cfg.fp = NULL;
	cfg.output_fn = swallow;
	cfg.colorize = false;
	struct fy_diag *d = fy_diag_create(&cfg);
	if (d)
		fy_diag_set_collect_errors(d, true);
	return d;
}

/* All events of the text; stops at the first that we refuse. */
static bool build(struct builder *b, struct fy_parser *parser, struct fy_diag *collected)
{
	struct fy_event *e;
	struct str text = str_from_offset(b->doc->source, b->bom);
	bool ok = true, ended = false;
	if (fy_parser_set_string(parser, text.p, (size_t)text.len))
		return syntax(b, 0, 1, "not valid YAML");
	while (ok && !ended && (e = fy_parser_parse(parser))) {
		ended = e->type == FYET_STREAM_END;
		ok = on_event(b, e);
		fy_parser_event_free(parser, e);
	}
	return ok && check_parser(b, collected, !ended);
}

/* A tree of the build's; *at moves behind it. */
static struct doc_node *unpack(
	const struct doc_packed **at, struct str source, struct str texts, struct arena *keep)
{
	const struct doc_packed *p = (*at)++;
	struct doc_node *n = arena_make(keep, struct doc_node, 1);
	*n = (struct doc_node){ .kind = p->kind,
		.quoted = p->quoted,
		.block = p->block,
		.line = p->line,
		.column = p->column,
		.width = p->width };
	if (n->kind == DOC_SCALAR) {
		n->text = str_head(str_from_offset(p->is_slice ? source : texts, p->at), p->count);
		return n;
	}
	n->count = p->count;
	if (n->kind == DOC_LIST)
		n->items = arena_make(keep, struct doc_node *, n->count);
	else
		n->pairs = arena_make(keep, struct doc_pair, n->count);
	for (ptrdiff_t i = 0; i < n->count; i++)
		if (n->items) {
			n->items[i] = unpack(at, source, texts, keep);
		} else {
			n->pairs[i].key = unpack(at, source, texts, keep);
			n->pairs[i].value = unpack(at, source, texts, keep);
		}
	return n;
}

bool doc_parse(
	struct str file, struct str source, struct arena *keep, struct doc *ret, struct diag *err)
{
	const struct embedded *shipped = embed_of(source);
	*ret = (struct doc){ .file = file, .source = source };
	if (shipped && shipped->tree.nodes) {
		const struct doc_packed *at = shipped->tree.nodes;
		ret->root = unpack(&at, source, shipped->tree.texts, keep);
		return true;
	}
	struct builder b = { .doc = ret, .keep = keep, .err = err, .line = 1 };
	b.bom = str_starts(source, STR("\xef\xbb\xbf")) ? 3 : 0;
	b.last = b.bom;
	if (!check_source(&b))
		return false;
	if (!str_trim(str_from_offset(source, b.bom)).len)
		return true;
	struct fy_diag *collected = collector();
	struct fy_parse_cfg cfg = { .flags = FYPCF_QUIET | FYPCF_JSON_NONE, .diag = collected };
	struct fy_parser *parser = collected ? fy_parser_create(&cfg) : NULL;
	bool ok = parser ? build(&b, parser, collected)
			 : diag_set(err, DIAG_LIMIT, "no memory to read %.*s", STR_ARG(file));
	fy_parser_destroy(parser);
	fy_diag_destroy(collected);
	if (!ok) {
		ret->root = NULL;
		ret->repeat_count = 0;
		return false;
	}
	const struct doc_repeat *told = ret->repeats; /* the first in the file */
	for (ptrdiff_t i = 1; i < ret->repeat_count; i++) {
		const struct doc_node *key = ret->repeats[i].key;

		if (key->line < told->key->line ||
			(key->line == told->key->line && key->column < told->key->column))
			told = &ret->repeats[i];
	}
	return !told || doc_tell_repeat(ret, told, err);
}

const struct doc_node *doc_get(const struct doc_node *map, struct str key)
{
	if (!map || map->kind != DOC_MAP)
		return NULL;
	for (ptrdiff_t i = 0; i < map->count; i++)
		if (str_eq(map->pairs[i].key->text, key))
			return map->pairs[i].value;
	return NULL;
}

struct text_place doc_place(const struct doc *d, const struct doc_node *n)
{
	return (struct text_place){ .file = d->file,
		.source = d->source,
		.line = n->line,
		.column = n->column,
		.width = n->width };
}

/* Length of an escape in double quotes that stands for a character of `bytes` bytes. */
static ptrdiff_t escape_len(struct str source, int bytes)
{
	switch (source.len > 1 ? source.p[1] : 0) {
	case 'x':
		return 4;
	case 'u':
		return bytes == 4 ? 12 : 6; /* a surrogate pair, as JSON writes it */
	case 'U':
		return 10;
	default:
		return 2;
	}
}

/*
 * Where in the source, from `start` on, the value's byte `offset` was written, or ends what stands
 * before it; or -1.  At a line break, what was folded into a blank, kept as one or stripped as
 * indentation is all blank on both sides, so both go on to the next word.
 */
static ptrdiff_t written_at(const struct doc *d, const struct doc_node *n, ptrdiff_t start,
	ptrdiff_t offset, bool is_end)
{
	struct str source = str_from_offset(d->source, start), text = n->text;
	char quote = n->quoted && !n->block && source.len ? source.p[0] : 0;
	ptrdiff_t left = text.len - offset;
	source = str_from_offset(source, quote != 0);
	if (n->block) /* its place is its first character that is no blank */
		text = str_from_offset(text, space_len(text));
	while (text.len > left || (text.len && !is_end)) {
		struct str blanks = str_head(source, space_len(source));
		uint32_t character;
		int bytes = utf8_next(text, &character);
		bool is_escape = quote == '"' && str_starts(source, STR("\\"));
		ptrdiff_t joined = is_escape ? space_len(str_from_offset(source, 1)) : 0;
		if (joined && source.p[1] != ' ' && source.p[1] != '\t') {
			source = str_from_offset(source, 1 + joined);
			continue;
		}
		if (str_find_char(blanks, '\n') >= 0) {
			source = str_from_offset(source, blanks.len);
			text = str_from_offset(text, space_len(text));
			continue;
		}
		if (text.len <= left)
			break;
		if (bytes < 0 || !source.len || (!is_escape && source.p[0] != text.p[0]))
			return -1;
		bool is_doubled = quote == '\'' && text.p[0] == quote;
		source = str_from_offset(
			source, is_escape ? escape_len(source, bytes) : bytes + is_doubled);
		text = str_from_offset(text, bytes);
	}
	return d->source.len - source.len;
}

struct text_place doc_place_in(
	const struct doc *d, const struct doc_node *n, ptrdiff_t offset, ptrdiff_t width)
{
	struct doc copy = *d;
	struct builder b = { .doc = &copy, .line = 1 };
	struct text_place place = doc_place(d, n);
	if (n->kind != DOC_SCALAR || offset < 0 || offset > n->text.len)
		return place;
	ptrdiff_t start = line_offset(d->source, n->line, n->column);
	ptrdiff_t end = width < n->text.len - offset ? offset + width : n->text.len;
	ptrdiff_t from = written_at(d, n, start, offset, false);
	if (from < 0)
		return place;
	return place_at(&b, from, written_at(d, n, start, end, true));
}
