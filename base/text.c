/* Cleaning hostile text, and near misses.  See text.h. */
#include "base/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "base/utf8.h"

static const struct str replacement = STR_INIT("\xef\xbf\xbd");
static const struct str ellipsis = STR_INIT("...");

bool text_is_clean(struct str s)
{
	if (s.len > TEXT_MAX)
		return false;
	for (ptrdiff_t at = 0; (at = utf8_skip_ascii(s, at)) < s.len;) {
		uint32_t c;
		int n = utf8_next(str_from_offset(s, at), &c);
		if (n < 0 || !utf8_is_plain(c))
			return false;
		at += n;
	}
	return true;
}

/* Take one character off `s` and return what stands for it in a clean text. */
static struct str clean_next(struct str *s)
{
	uint32_t c;
	int n = utf8_next(*s, &c);
	struct str raw = str_head(*s, n);
	*s = str_from_offset(*s, n > 0 ? n : -n);
	if (n > 0 && utf8_is_plain(c))
		return raw;
	return c >= '\t' && c <= '\r' ? STR(" ") : replacement;
}

struct str text_clean(struct arena *keep, struct str s)
{
	char clean[TEXT_MAX];
	ptrdiff_t len = 0, cut = 0;
	if (text_is_clean(s))
		return s;
	while (s.len) {
		struct str piece = clean_next(&s);
		if (len + piece.len > TEXT_MAX) {
			memcpy(clean + cut, ellipsis.p, (size_t)ellipsis.len);
			len = cut + ellipsis.len;
			break;
		}
		memcpy(clean + len, piece.p, (size_t)piece.len);
		len += piece.len;
		if (len <= TEXT_MAX - ellipsis.len)
			cut = len;
	}
	return arena_str(keep, (struct str){ clean, len });
}

struct str path_join(struct str dir, struct str name, struct arena *keep)
{
	if (str_eq(dir, STR(".")))
		return arena_str(keep, name);
	return arena_fmt(keep, "%.*s%s%.*s", STR_ARG(dir), str_ends(dir, STR("/")) ? "" : "/",
		STR_ARG(name));
}

static bool begins_character(struct str s, ptrdiff_t at)
{
	return ((unsigned char)s.p[at] & 0xc0) != 0x80;
}

int text_columns(struct str clean)
{
	int columns = 0;
	for (ptrdiff_t i = 0; i < clean.len; i++)
		columns += begins_character(clean, i);
	return columns;
}

/* Where the character with that number, from 0, begins. */
static ptrdiff_t character_offset(struct str s, ptrdiff_t number)
{
	ptrdiff_t at = 0;
	while (at < s.len && !(begins_character(s, at) && number-- == 0))
		at++;
	return at;
}

struct str text_brief(struct arena *keep, struct str clean)
{
	const ptrdiff_t columns = TEXT_BRIEF;
	ptrdiff_t count = clean.len > columns ? text_columns(clean) : 0;
	ptrdiff_t kept = columns - ellipsis.len, tail = kept / 4;
	if (count <= columns)
		return clean;
	struct str head = str_head(clean, character_offset(clean, kept - tail));
	struct str end = str_from_offset(clean, character_offset(clean, count - tail));
	return arena_fmt(keep, "%.*s%.*s%.*s", STR_ARG(head), STR_ARG(ellipsis), STR_ARG(end));
}

/* The name that "<gemm_relu_128x64<...>, int>" begins with; or empty. */
static struct str first_argument(struct str arguments)
{
	struct str rest = arguments;
	if (!str_take(&rest, STR("<")))
		return STR("");
	ptrdiff_t end = 0;
	while (end < rest.len &&
		!str_contains(STR("<,>( "), str_head(str_from_offset(rest, end), 1)))
		end++;
	return str_head(rest, end);
}

/* Names that say no more than that it is a kernel. */
static const struct str any_kernel[] = { STR_INIT("Kernel"), STR_INIT("Kernel2"),
	STR_INIT("kernel"), STR_INIT("device_kernel") };

struct str text_function(struct str name)
{
	ptrdiff_t from = 0, end = 0, depth = 0;
	if (!str_contains(name, STR("::")) && !str_starts(name, STR("void ")))
		return name;
	for (; end < name.len; end++) {
		char c = name.p[end];
		bool opens = c == '<' || c == '(';
		/* Only a namespace without a name is in brackets that nothing stands before. */
		if (opens && !depth && end > from)
			break;
		/* "A::Execute (jit_f)": behind the blank stands the program. */
		struct str rest = str_from_offset(name, end);
		if (!depth && str_take(&rest, STR(" (")) && !str_starts(rest, STR("anonymous ")))
			break;
		depth += opens;
		depth -= c == '>' || c == ')';
		if (!depth && (c == ':' || c == ' '))
			from = end + 1;
	}
	struct str function = str_from_offset(str_head(name, end), from);
	struct str of = first_argument(str_from_offset(name, end));
	if (of.len > 0 && NAMED(any_kernel, COUNT_OF(any_kernel), function))
		return of;
	return end > from ? function : name;
}

struct str text_cut(struct arena *keep, struct str clean, ptrdiff_t bytes)
{
	ptrdiff_t end = bytes - ellipsis.len;
	if (clean.len <= bytes)
		return clean;
	while (end > 0 && !begins_character(clean, end))
		end--;
	return arena_fmt(keep, "%.*s%.*s", STR_ARG(str_head(clean, end)), STR_ARG(ellipsis));
}

/* Longest word worth a guess, in bytes: keys and names are far shorter. */
enum { WORD_MAX = 64 };

static int least(int a, int b)
{
	return a < b ? a : b;
}

/* Optimal string alignment: insert, delete, replace, swap neighbours; letter case is free. */
static int distance(struct str a, struct str b)
{
	int rows[3][WORD_MAX + 1];
	int *before = rows[0], *last = rows[1], *row = rows[2];
	for (int j = 0; j <= b.len; j++)
		last[j] = j;
	for (int i = 1; i <= a.len; i++) {
		row[0] = i;
		for (int j = 1; j <= b.len; j++) {
			char x = lower_case(a.p[i - 1]), y = lower_case(b.p[j - 1]);
			row[j] = least(last[j - 1] + (x != y), least(last[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && x == lower_case(b.p[j - 2]) &&
				y == lower_case(a.p[i - 2]))
				row[j] = least(row[j], before[j - 2] + 1);
		}
		int *spare = before;
		before = last;
		last = row;
		row = spare;
	}
	return last[b.len];
}

struct str text_shell(struct arena *keep, struct str s)
{
	static const char *const escaped[] = { "'\\''" };
	struct out *o = out_memory(keep);
	if (s.len && str_only(s, "a-zA-Z0-9./:_+=-"))
		return s;
	out_char(o, '\'');
	out_replaced(o, s, "'", escaped);
	out_char(o, '\'');
	return out_text(o);
}

struct str text_nearest(struct str word, const struct str *candidates, ptrdiff_t count)
{
	struct str best = { NULL, 0 };
	if (!word.len || word.len > WORD_MAX)
		return best;
	int limit = (int)(word.len / 3);
	for (ptrdiff_t i = 0; i < count; i++) {
		if (!candidates[i].len || candidates[i].len > WORD_MAX)
			continue;
		int d = distance(word, candidates[i]);
		if (d > limit)
			continue;
		best = candidates[i];
		limit = d - 1;
	}
	return best;
}

/*
 * What edit distance does not see: "overlap" for overlap_ratio, "p50_seconds" for p50_s.  The
 * shortest candidate that goes on from the word, else the longest that it goes on from.
 */
static struct str nearest_prefix(struct str word, const struct str *candidates, ptrdiff_t count)
{
	struct str best = { NULL, 0 };
	for (ptrdiff_t i = 0; i < count; i++) {
		struct str c = candidates[i];
		bool longer = word.len >= 2 && str_starts(c, word);
		bool shorter = c.len >= 3 && str_starts(word, c);
		if (longer && (best.len < word.len || c.len < best.len))
			best = c;
		else if (shorter && c.len > best.len)
			best = c;
	}
	return best;
}

int names_order(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

struct str text_sorted(struct arena *keep, struct str *texts, ptrdiff_t count, const char *between)
{
	struct out *o = out_memory(keep);

	if (count > 1)
		qsort(texts, (size_t)count, sizeof(*texts), names_order);
	for (ptrdiff_t i = 0; i < count; i++)
		out_fmt(o, "%s%.*s", i ? between : "", STR_ARG(texts[i]));
	return out_text(o);
}

void *text_named(const void *items, ptrdiff_t count, size_t bytes, struct str name)
{
	for (const char *at = items; count-- > 0; at += bytes)
		if (str_eq(*(const struct str *)(const void *)at, name))
			return (void *)(uintptr_t)at;
	return NULL;
}

void text_names(
	struct list *ret, struct arena *keep, const void *items, ptrdiff_t count, size_t bytes)
{
	for (const char *at = items; count-- > 0; at += bytes)
		*arena_push(keep, ret->items, ret->count, ret->cap) =
			*(const struct str *)(const void *)at;
}

enum { PLURAL_LEAST = 5 }; /* of a shorter word too little is left without its last letter */

struct str did_you_mean(
	struct arena *keep, struct str word, const struct str *candidates, ptrdiff_t count)
{
	struct str near = text_nearest(word, candidates, count);
	if (!near.p)
		near = nearest_prefix(word, candidates, count);
	if (!near.p && word.len >= PLURAL_LEAST) /* "family" for families */
		near = nearest_prefix(str_head(word, word.len - 1), candidates, count);
	return near.p ? arena_fmt(keep, "; did you mean '%.*s'?", STR_ARG(near)) : STR("");
}

ptrdiff_t text_words(struct str form, struct str *ret, ptrdiff_t most)
{
	ptrdiff_t count = 0;
	for (bool more = true; more; count++) {
		assert(count < most);
		more = str_cut(form, '|', &ret[count], &form);
	}
	return count;
}

struct str words_joined(
	struct arena *keep, const struct str *words, ptrdiff_t count, const char *last)
{
	struct str all = count ? words[0] : STR("");

	for (ptrdiff_t i = 1; i < count; i++)
		all = arena_fmt(keep, "%.*s%s%.*s", STR_ARG(all), i + 1 < count ? ", " : last,
			STR_ARG(words[i]));
	return all;
}

struct str text_without_digits(struct arena *keep, struct str s)
{
	ptrdiff_t first = 0;
	while (first < s.len && !is_digit(s.p[first]))
		first++;
	if (first == s.len)
		return s;
	char *p = arena_make(keep, char, s.len);
	ptrdiff_t len = 0;
	for (ptrdiff_t i = 0; i < s.len; i++)
		if (!is_digit(s.p[i]))
			p[len++] = s.p[i];
	return (struct str){ p, len };
}
