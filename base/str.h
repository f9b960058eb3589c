/*
 * Borrowed strings: a pointer and a length, passed by value.
 *
 * A struct str owns nothing and need not end in NUL: whoever made the bytes keeps them alive (the
 * input mapping, an arena, a literal).  All pointer arithmetic on text lives in str.c, so parsers
 * above it have none.  Numbers are read without locale; a number is the whole string or an error.
 *
 * Refuses: ownership, growth (see out.h), Unicode (see text.h).
 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
	const char *p; /* NULL means "no value", which differs from empty in the tables */
	ptrdiff_t len; /* bytes, never negative */
};

#define MISSING	     ((struct str){ NULL, 0 }) /* the one way to say "no value" */
#define STR(literal) ((struct str){ "" literal, (ptrdiff_t)sizeof(literal) - 1 })
#define STR_INIT(literal)                                                                          \
	{                                                                                          \
		"" literal, (ptrdiff_t)sizeof(literal) - 1                                         \
	}
/* printf("%.*s", STR_ARG(s)), which evaluates s twice; safe because a diagnostic never prints more
 * than INT_MAX bytes. */
#define STR_ARG(s) str_width(s), str_bytes(s)
static inline int str_width(struct str s)
{
	return s.len > INT32_MAX ? INT32_MAX : (int)s.len;
}
static inline const char *str_bytes(struct str s)
{
	return s.p ? s.p : "";
}

#define COUNT_OF(array) ((ptrdiff_t)(sizeof(array) / sizeof((array)[0])))

/* Strings in an order that says something; grown by arena_push. */
struct list {
	struct str *items;
	ptrdiff_t count, cap;
};

struct str str_from(const char *z); /* NULL gives the missing string */
struct str str_span(const char *begin, const char *end);

/* Inline, because most questions end at the length. */
static inline bool str_eq(struct str a, struct str b)
{
	return a.len == b.len && (!a.len || !memcmp(a.p, b.p, (size_t)a.len));
}
bool str_same_nocase(struct str a, struct str b);	     /* of one length */
static inline bool str_eq_nocase(struct str a, struct str b) /* ASCII only */
{
	return a.len == b.len && (!a.len || !((a.p[0] ^ b.p[0]) & ~0x20)) && str_same_nocase(a, b);
}
int str_cmp(struct str a, struct str b); /* bytewise; shorter first on a tie */
uint64_t str_hash(struct str s);	 /* stable over runs and machines */
/* Four times as fast for long texts.  For tables in memory: see map.h for the seed. */
uint64_t str_hash_quick(struct str s, uint64_t seed);

/* The finaliser of MurmurHash3 (Austin Appleby, public domain): every input bit reaches all. */
static inline uint64_t hash_mix(uint64_t h)
{
	h ^= h >> 33;
	h *= 0xff51afd7ed558ccdu;
	h ^= h >> 33;
	h *= 0xc4ceb9fe1a85ec53u;
	return h ^ h >> 33;
}

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}
static inline bool is_letter(char c) /* ASCII, whatever the locale */
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline char lower_case(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool str_starts(struct str s, struct str prefix);
bool str_ends(struct str s, struct str suffix);
bool str_contains(struct str s, struct str needle);
ptrdiff_t str_find(struct str s, struct str needle); /* offset of the first, or -1 */
ptrdiff_t str_find_char(struct str s, char c);	     /* offset of the first, or -1 */
ptrdiff_t str_rfind_char(struct str s, char c);	     /* offset of the last, or -1 */

struct str str_from_offset(struct str s, ptrdiff_t from); /* clamped to the string */
struct str str_head(struct str s, ptrdiff_t n);		  /* the first n bytes, clamped */
struct str str_trim(struct str s);			  /* ASCII blanks at both ends */
bool str_take(struct str *s, struct str prefix);	  /* drop the prefix if it is there */
/* Cut at the first `sep`: head before it, tail after it.  False, and head = s, when absent. */
bool str_cut(struct str s, char sep, struct str *head, struct str *tail);
/* The next part of a list, without its separator; false behind the last.  `rest` is used up. */
bool str_next(struct str *rest, char sep, struct str *part);
bool str_glob(struct str s, struct str pattern); /* * and ? */

/* Whether it is one of these words, with a blank between them. */
bool str_is_among(struct str s, const char *words);
/* Whether it has bytes of the set alone, in which "a-z" is a range and a '-' of its own is last. */
bool str_only(struct str s, const char *set);
/* The digits that it begins with, at most eight: how many, and their value. */
int str_digits(struct str s, uint64_t *value);
bool str_to_i64(struct str s, int64_t *ret);
bool str_to_u64(struct str s, uint64_t *ret);
/* How far a number goes: sign, digits, '.', exponent.  An 'e' belongs to it only before digits:
 * "1e3 s", and not "5 eggs". */
ptrdiff_t str_number(struct str s);
/* No hex, inf or nan. */
bool str_to_double(struct str s, double *ret);

/* "b" of "a/b"; "a/b" of "a/b/"; "a" of "a/b", "." of "b", "/" of "/b". */
struct str path_base(struct str path);
struct str path_trim(struct str path);
struct str path_parent(struct str path);

#endif
