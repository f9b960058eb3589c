/*
 * Escaping Markdown.  See md.h.
 *
 * A backslash stops markup.  It does not stop what renderers look for in the finished page:
 * "@name", "#12", "!12", bare links.  These are broken by a blank of no width (U+200B).
 */
#include "report/md.h"

#define ZERO_WIDTH "\xe2\x80\x8b"

static bool is_word(struct str s)
{
	return s.len && str_only(str_head(s, 1), "0-9a-zA-Z_\"");
}

/* Whether a renderer would make more than text of what begins with `c` and goes on with `rest`. */
static bool is_bait(char c, struct str rest)
{
	if (c == ':')
		return str_starts(rest, STR("//"));
	if (c == 'w' || c == 'W')
		return rest.len >= 2 && str_eq_nocase(str_head(rest, 2), STR("w.")); /* "www." */
	return str_find_char(STR("@#!%$&~"), c) >= 0 && is_word(rest);
}

/* `c` as it is shown, followed by what keeps the rest from being more than text. */
static void put_char(struct out *o, char c, struct str rest)
{
	out_char(o, c);
	if (is_bait(c, rest))
		out_z(o, ZERO_WIDTH);
}

/* At the start of a line these begin a list, a heading or a rule. */
static const struct str starters = STR_INIT("-+=#");
static const struct str special = STR_INIT("\\`*_{}[]<>|~&$^");

static void put_line(struct out *o, struct str line, bool is_start)
{
	for (ptrdiff_t i = 0; i < line.len; i++) {
		bool starts = is_start && i == 0 && str_find_char(starters, line.p[i]) >= 0;
		if (starts || str_find_char(special, line.p[i]) >= 0)
			out_char(o, '\\');
		put_char(o, line.p[i] == '\n' ? ' ' : line.p[i], str_from_offset(line, i + 1));
	}
}

void md_text(struct out *o, struct str text)
{
	put_line(o, str_trim(text), true);
}

void md_row(struct out *o, const struct str *cells, ptrdiff_t count)
{
	for (ptrdiff_t i = 0; i < count; i++) {
		out_z(o, "| ");
		put_line(o, str_trim(cells[i]), false);
		out_char(o, ' ');
	}
	out_z(o, "|\n");
}

void md_item(struct out *o, struct str text)
{
	out_z(o, "- ");
	md_text(o, text);
	out_char(o, '\n');
}

/* Two blanks at the end of a line break it. */
void md_lines(struct out *o, struct str text)
{
	struct str line;
	text = str_trim(text);
	while (str_cut(text, '\n', &line, &text)) {
		put_line(o, str_trim(line), true);
		out_z(o, "  \n");
	}
	put_line(o, str_trim(line), true);
}

void md_html(struct out *o, struct str text)
{
	for (ptrdiff_t i = 0; i < text.len; i++) {
		char c = text.p[i];
		if (str_find_char(STR("&<>\"'"), c) >= 0)
			out_fmt(o, "&#%d;", c);
		else
			put_char(o, c == '\n' ? ' ' : c, str_from_offset(text, i + 1));
	}
}

static ptrdiff_t longest_fence(struct str text)
{
	ptrdiff_t longest = 0, run = 0;
	for (ptrdiff_t i = 0; i < text.len; i++) {
		run = text.p[i] == '`' ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return longest;
}

void md_block(struct out *o, struct str text)
{
	ptrdiff_t fence = longest_fence(text) + 1;
	fence = fence < 3 ? 3 : fence;
	out_repeat(o, '`', fence);
	out_z(o, "text\n");
	out_str(o, text);
	if (!str_ends(text, STR("\n")))
		out_char(o, '\n');
	out_repeat(o, '`', fence);
	out_char(o, '\n');
}
