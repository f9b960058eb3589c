/*
 * One character of UTF-8 at a time, strictly: no overlong forms, no surrogates, nothing past
 * U+10FFFF (Unicode 15, table 3-7).  Private to base/; everyone else wants text.h.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <string.h>

#include "base/str.h"

#define UTF8_REPLACEMENT 0xfffdu

/*
 * The first character of a non-empty string: returns its length in bytes and sets *ret.  For
 * malformed bytes the result is negative: minus the length of the piece that one U+FFFD stands for.
 */
static inline int utf8_next(struct str s, uint32_t *ret)
{
	const unsigned char *p = (const unsigned char *)s.p;
	unsigned lead = p[0];
	*ret = lead;
	if (lead < 0x80)
		return 1;
	*ret = UTF8_REPLACEMENT;
	if (lead < 0xc2 || lead > 0xf4)
		return -1;
	int more = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
	unsigned lo = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
	unsigned hi = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
	uint32_t value = lead & (0x3fu >> more);
	for (int i = 1; i <= more; i++, lo = 0x80, hi = 0xbf) {
		if (i >= s.len || p[i] < lo || p[i] > hi)
			return -i;
		value = value << 6 | (p[i] & 0x3fu);
	}
	*ret = value;
	return more + 1;
}

/*
 * Where printable ASCII that begins at `at` ends: nearly all of most texts is that.  Eight bytes at
 * a time while all are: of the lowest one that is not, its own top bit, that of the sum or that of
 * the difference is set.
 */
static inline ptrdiff_t utf8_skip_ascii(struct str s, ptrdiff_t at)
{
	for (uint64_t x; at + 8 <= s.len; at += 8) {
		memcpy(&x, s.p + at, 8);
		if ((x | (x + 0x0101010101010101u) | (x - 0x2020202020202020u)) &
			0x8080808080808080u)
			break;
	}
	while (at < s.len && s.p[at] >= ' ' && s.p[at] <= '~')
		at++;
	return at;
}

/* Characters that reorder or forge a line: marks, embeddings, overrides, isolates, separators, and
 * U+FEFF, which has no width and makes another of a name that looks the same. */
static inline bool utf8_is_forging(uint32_t c)
{
	return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

/* Fit for a document: no control, no noncharacter, nothing that forges a line. */
static inline bool utf8_is_plain(uint32_t c)
{
	if (c < 0x20 || (c >= 0x7f && c < 0xa0))
		return false;
	if ((c & 0xfffe) == 0xfffe || (c >= 0xfdd0 && c <= 0xfdef))
		return false;
	return !utf8_is_forging(c);
}

#endif
