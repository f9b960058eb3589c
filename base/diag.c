/*
 * Diagnostics: filling, prefixing, and pointing with a caret.  See diag.h.
 *
 * What is put into a diagnostic may come from a hostile file (a path, an op's name), so every text
 * passes `tidy` before it is kept: a diagnostic can be printed to a terminal as it is.
 */
#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/utf8.h"

const struct diag_kind *diag_kind(struct str name)
{
	static const struct diag_kind all[] = {
#define X(id, number, text) { DIAG_##id, STR_INIT("RL" #number), STR_INIT(text) },
		DIAG_CATALOGUE(X)
#undef X
	};
	ptrdiff_t i = 0;
	while (i < COUNT_OF(all) && !str_eq(all[i].name, name))
		i++;
	return i < COUNT_OF(all) ? &all[i] : NULL;
}

/* Columns of a source line shown around a caret; longer lines get "..." at the cut. */
enum { EXCERPT_COLUMNS = 100 };

/*
 * Make `text` valid in place: anything but plain characters, newline and tab becomes one '?', so
 * the text never grows and carets stay under what they point at.  Newlines at the end drop.
 */
static void tidy(char *text)
{
	struct str rest = str_from(text);
	char *to = text;
	while (rest.len) {
		uint32_t c;
		int n = utf8_next(rest, &c);
		if (n > 0 && (utf8_is_plain(c) || c == '\n' || c == '\t')) {
			memmove(to, rest.p, (size_t)n);
			to += n;
		} else {
			*to++ = '?';
		}
		rest = str_from_offset(rest, n > 0 ? n : -n);
	}
	while (to > text && to[-1] == '\n')
		to--;
	*to = 0;
}

/* vsnprintf that always leaves a string, cut at a character (half of one is a '?' in tidy). */
static void format(char *to, ptrdiff_t cap, const char *fmt, va_list args)
{
	to[0] = 0;
	int len = vsnprintf(to, (size_t)cap, fmt, args);
	if (len >= cap) {
		/* The byte under the final NUL is gone; assume the worst, that it went on. */
		ptrdiff_t end = cap - 1;
		while (end > 0 && end > cap - 4 && ((unsigned char)to[end - 1] & 0xc0) == 0x80)
			end--;
		if (end > 0 && (unsigned char)to[end - 1] >= 0xc0)
			end--;
		to[end] = 0;
	}
}

bool diag_set(struct diag *d, enum diag_id id, const char *fmt, ...)
{
	char text[DIAG_BYTES]; /* what is said may be what stands there */
	va_list args;
	if (!d)
		return false;
	va_start(args, fmt);
	format(text, DIAG_BYTES, fmt, args);
	va_end(args);
	*d = (struct diag){ .id = id };
	memcpy(d->text, text, strlen(text) + 1);
	tidy(d->text);
	return false;
}

/* The same diagnostic in other words. */
static bool reword(struct diag *d, const char *head, const char *between, const char *tail)
{
	struct text_place place = d->place;
	diag_set(d, d->id, "%s%s%s", head, between, tail);
	d->place = place;
	return false;
}

bool diag_context(struct diag *d, const char *fmt, ...)
{
	char text[DIAG_BYTES];
	va_list args;
	va_start(args, fmt);
	format(text, DIAG_BYTES, fmt, args);
	va_end(args);
	return d ? reword(d, text, ": ", d->text) : false;
}

bool diag_append(struct diag *d, const char *fmt, ...)
{
	char text[DIAG_BYTES];
	va_list args;
	va_start(args, fmt);
	format(text, DIAG_BYTES, fmt, args);
	va_end(args);
	return d ? reword(d, d->text, d->text[0] && text[0] != '\n' ? "\n" : "", text) : false;
}

struct text_place text_place_at(struct str file, struct str source, ptrdiff_t offset)
{
	struct text_place place = { .file = file, .source = source, .line = 1, .width = 1 };
	struct str line, before = str_head(source, offset);
	while (str_cut(before, '\n', &line, &before))
		place.line++;
	place.column = line.len + 1;
	return place;
}

static struct str source_line(struct str source, int64_t line)
{
	struct str head, rest = source;
	while (line-- > 1)
		if (!str_cut(rest, '\n', &head, &rest))
			return MISSING;
	str_cut(rest, '\n', &head, &rest);
	if (str_ends(head, STR("\r")))
		head.len--;
	return head;
}

/* Step to the next character of a line, malformed bytes counting as tidy will show them. */
static ptrdiff_t step(struct str line, ptrdiff_t at)
{
	uint32_t c;
	int n = utf8_next(str_from_offset(line, at), &c);
	return at + (n > 0 ? n : -n);
}

static ptrdiff_t columns_between(struct str line, ptrdiff_t from, ptrdiff_t to)
{
	ptrdiff_t n = 0;
	for (; from < to; from = step(line, from))
		n++;
	return n;
}

/* The part of a line that is shown: at most EXCERPT_COLUMNS characters. */
static struct str around(struct str line, ptrdiff_t caret)
{
	ptrdiff_t from = 0, to;
	ptrdiff_t before = columns_between(line, 0, caret);
	for (ptrdiff_t skip = before - EXCERPT_COLUMNS * 3 / 4; skip > 0; skip--)
		from = step(line, from);
	if (columns_between(line, 0, line.len) <= EXCERPT_COLUMNS)
		from = 0;
	to = from;
	for (int i = 0; i < EXCERPT_COLUMNS && to < line.len; i++)
		to = step(line, to);
	return str_head(str_from_offset(line, from), to - from);
}

/* Blanks as wide as line[from, to), tabs kept so that they end at the same stop. */
static ptrdiff_t pad(char *to, struct str line, ptrdiff_t from, ptrdiff_t caret)
{
	ptrdiff_t n = 0;
	for (; from < caret; from = step(line, from))
		to[n++] = line.p[from] == '\t' ? '\t' : ' ';
	return n;
}

static void append_excerpt(struct diag *d, struct str line, ptrdiff_t caret, ptrdiff_t width)
{
	char under[2 * EXCERPT_COLUMNS + 2];
	struct str shown = around(line, caret);
	ptrdiff_t from = shown.p - line.p, to = from + shown.len;
	ptrdiff_t end = caret + width < to ? caret + width : to;
	ptrdiff_t n = pad(under, line, from, caret), marks = columns_between(line, caret, end);
	under[n++] = '^';
	for (ptrdiff_t i = 1; i < marks; i++)
		under[n++] = '~';
	under[n] = 0;
	diag_append(d, "  %s%.*s%s\n  %s%s", from ? "..." : "", STR_ARG(shown),
		to < line.len ? "..." : "", from ? "   " : "", under);
}

bool diag_caret(struct diag *d, enum diag_id id, struct text_place place, const char *fmt, ...)
{
	char text[DIAG_BYTES / 2];
	va_list args;
	va_start(args, fmt);
	format(text, (ptrdiff_t)sizeof(text), fmt, args);
	va_end(args);
	diag_set(d, id, "%.*s:%lld:%lld: %s", STR_ARG(place.file), (long long)place.line,
		(long long)place.column, text);
	struct str line = source_line(place.source, place.line);
	if (d)
		d->place = place;
	if (!d || !line.p || place.column < 1)
		return false;
	ptrdiff_t caret = place.column - 1 < line.len ? (ptrdiff_t)(place.column - 1) : line.len;
	ptrdiff_t width = place.width < line.len ? (ptrdiff_t)place.width : line.len;
	append_excerpt(d, line, caret, width < 1 ? 1 : width);
	return false;
}

void diag_note(struct diag_list *list, struct arena *a, enum diag_id id, const char *fmt, ...)
{
	struct diag d;
	va_list args;
	va_start(args, fmt);
	format(d.text, DIAG_BYTES, fmt, args);
	va_end(args);
	tidy(d.text);
	struct str text = str_from(d.text);
	for (int64_t i = 0; i < list->count; i++)
		if (list->items[i].id == id && str_eq(list->items[i].text, text))
			return;
	if (list->count == COUNT_OF(list->items)) {
		list->dropped++;
		return;
	}
	list->items[list->count++] = (struct diag_note){ id, arena_str(a, text) };
}
