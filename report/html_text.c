/* Words of a page: prose with code in it, names cut to fit, places, anchors.  See html.h. */
#include <assert.h>

#include "base/text.h"
#include "report/html.h"

/* ---- prose ----------------------------------------------------------------------------------- */

struct spans {
	struct html_span *items;
	ptrdiff_t count, cap;
};

/* A blank ends it, or punctuation before one. */
static bool is_option_end(struct str s, ptrdiff_t at)
{
	if (s.p[at] == ' ' || s.p[at] == ')')
		return true;
	bool is_last = at + 1 == s.len || s.p[at + 1] == ' ';
	return is_last && str_find_char(STR(".,;:"), s.p[at]) >= 0;
}

static void add_span(struct spans *s, struct str text, bool is_code, struct arena *keep)
{
	if (text.len)
		*arena_push(keep, s->items, s->count, s->cap) = (struct html_span){ text, is_code };
}

/* The blank or bracket before an option; -1. */
static ptrdiff_t find_option(struct str s)
{
	for (ptrdiff_t i = 0; i + 3 < s.len; i++)
		if ((s.p[i] == ' ' || s.p[i] == '(') && s.p[i + 1] == '-' && s.p[i + 2] == '-' &&
			s.p[i + 3] >= 'a' && s.p[i + 3] <= 'z')
			return i;
	return -1;
}

/* Options, which may not be broken after their dashes, are code without quotes, too. */
static void add_plain(struct spans *s, struct str text, struct arena *keep)
{
	for (ptrdiff_t at; (at = find_option(text)) >= 0;) {
		struct str rest = str_from_offset(text, at + 1);
		ptrdiff_t end = 0;
		while (end < rest.len && !is_option_end(rest, end))
			end++;
		add_span(s, str_head(text, at + 1), false, keep);
		add_span(s, str_head(rest, end), true, keep);
		text = str_from_offset(rest, end);
	}
	add_span(s, text, false, keep);
}

/* A backquote without a partner is only a backquote. */
struct template_list html_spans(struct str text, struct arena *keep)
{
	struct spans s = { NULL, 0, 0 };
	struct str before, code, rest;
	text = text_clean(keep, text);
	while (str_cut(text, '`', &before, &rest) && str_cut(rest, '`', &code, &rest)) {
		add_plain(&s, before, keep);
		add_span(&s, code, true, keep);
		text = rest;
	}
	add_plain(&s, text, keep);
	return LIST(s.items, s.count);
}

struct blocks {
	struct html_block *items;
	ptrdiff_t count, cap;
};

/* Lines of code that follow each other stand in one block. */
static void add_line(struct blocks *b, struct str line, struct arena *keep)
{
	struct html_block *last = b->count ? &b->items[b->count - 1] : NULL;
	if (!str_starts(line, STR("  "))) {
		struct html_block *new = arena_push(keep, b->items, b->count, b->cap);
		new->spans = html_spans(line, keep);
	} else if (last && last->code.p) {
		last->code = arena_fmt(
			keep, "%.*s\n%.*s", STR_ARG(last->code), STR_ARG(str_from_offset(line, 2)));
	} else {
		arena_push(keep, b->items, b->count, b->cap)->code = str_from_offset(line, 2);
	}
}

struct template_list html_prose(struct str text, struct arena *keep)
{
	struct blocks b = { NULL, 0, 0 };
	struct str line;
	text = clean_lines(keep, text);
	while (str_next(&text, '\n', &line))
		if (str_trim(line).len)
			add_line(&b, line, keep);
	return LIST(b.items, b.count);
}

/* ---- names ----------------------------------------------------------------------------------- */

struct str html_clip(struct str s, int columns, struct arena *keep)
{
	ptrdiff_t end = 0, cut = 0;
	int seen = 0;
	assert(columns > 0);
	s = text_clean(keep, s);
	for (; end < s.len; end++) {
		if (((unsigned char)s.p[end] & 0xc0) == 0x80)
			continue;
		if (seen == columns - 1)
			cut = end;
		if (++seen > columns)
			return arena_fmt(keep, "%.*s\xe2\x80\xa6", STR_ARG(str_head(s, cut)));
	}
	return s;
}

struct str html_slug(struct str s, struct arena *keep)
{
	struct out *o = out_memory(keep);
	for (ptrdiff_t i = 0; i < s.len; i++)
		out_char(o, str_only(str_head(str_from_offset(s, i), 1), "A-Za-z0-9_.-") ? s.p[i]
											 : '-');
	return out_text(o);
}

/* ---- the fields of page templates ------------------------------------------------------------ */

#define X(scope, R, label, FIELDS) scope RECORD(R, label, NULL, FIELDS);
HTML_RECORDS(X)
