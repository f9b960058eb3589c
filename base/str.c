/* Borrowed strings: comparing, cutting and reading numbers.  See str.h. */
#include "base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/wire.h"

struct str str_from(const char *z)
{
	return (struct str){ z, z ? (ptrdiff_t)strlen(z) : 0 };
}

struct str str_span(const char *begin, const char *end)
{
	return (struct str){ begin, begin ? end - begin : 0 };
}

bool str_same_nocase(struct str a, struct str b)
{
	for (ptrdiff_t i = 0; i < a.len; i++)
		if (lower_case(a.p[i]) != lower_case(b.p[i]))
			return false;
	return true;
}

int str_cmp(struct str a, struct str b)
{
	ptrdiff_t n = a.len < b.len ? a.len : b.len;
	int order = n ? memcmp(a.p, b.p, (size_t)n) : 0;
	return order ? order : (a.len > b.len) - (a.len < b.len);
}

uint64_t str_hash(struct str s)
{
	const unsigned char *p = (const unsigned char *)s.p;
	uint64_t h = 0x9e3779b97f4a7c15u ^ (uint64_t)s.len;
	ptrdiff_t i = 0;
	for (; s.len - i >= 8; i += 8)
		h = hash_mix(h ^ wire_load64(p + i)) * 0x9fb21c651e98df25u;
	uint64_t rest = 0;
	for (int shift = 0; i < s.len; i++, shift += 8)
		rest |= (uint64_t)p[i] << shift;
	return hash_mix(h ^ rest);
}

/* Both halves of the product: every bit of either factor reaches both. */
static inline uint64_t fold(uint64_t a, uint64_t b)
{
	__extension__ unsigned __int128 product = (unsigned __int128)a * b;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Sixteen bytes at a time; the last ones overlap those before them. */
uint64_t str_hash_quick(struct str s, uint64_t seed)
{
	const unsigned char *p = (const unsigned char *)s.p;
	uint64_t h = seed ^ (uint64_t)s.len * 0x9fb21c651e98df25u, a = 0, b = 0;
	seed ^= 0x9e3779b97f4a7c15u;
	for (ptrdiff_t i = 0; i + 16 < s.len; i += 16)
		h = fold(seed ^ wire_load64(p + i), h ^ wire_load64(p + i + 8));
	if (s.len >= 16)
		a = wire_load64(p + s.len - 16);
	else if (s.len >= 8)
		a = wire_load64(p);
	if (s.len >= 8)
		b = wire_load64(p + s.len - 8);
	else
		for (ptrdiff_t i = 0; i < s.len; i++)
			b = b << 8 | p[i];
	return hash_mix(fold(seed ^ a, h ^ b));
}

bool str_starts(struct str s, struct str prefix)
{
	return s.len >= prefix.len && str_eq(str_head(s, prefix.len), prefix);
}

bool str_ends(struct str s, struct str suffix)
{
	return s.len >= suffix.len && str_eq(str_from_offset(s, s.len - suffix.len), suffix);
}

bool str_contains(struct str s, struct str needle)
{
	return str_find(s, needle) >= 0;
}

ptrdiff_t str_find(struct str s, struct str needle)
{
	if (!needle.len)
		return 0;
	for (ptrdiff_t from = 0; s.len - from >= needle.len;) {
		const char *hit =
			memchr(s.p + from, needle.p[0], (size_t)(s.len - from - needle.len + 1));
		if (!hit)
			return -1;
		if (!memcmp(hit, needle.p, (size_t)needle.len))
			return hit - s.p;
		from = hit - s.p + 1;
	}
	return -1;
}

ptrdiff_t str_find_char(struct str s, char c)
{
	const char *hit = s.len ? memchr(s.p, c, (size_t)s.len) : NULL;
	return hit ? hit - s.p : -1;
}

ptrdiff_t str_rfind_char(struct str s, char c)
{
	ptrdiff_t i = s.len;
	while (i > 0 && s.p[i - 1] != c)
		i--;
	return i - 1;
}

struct str str_from_offset(struct str s, ptrdiff_t from)
{
	if (!s.p || from <= 0)
		return s;
	if (from > s.len)
		from = s.len;
	return (struct str){ s.p + from, s.len - from };
}

struct str str_head(struct str s, ptrdiff_t n)
{
	if (n < 0)
		n = 0;
	return (struct str){ s.p, n < s.len ? n : s.len };
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

struct str str_trim(struct str s)
{
	while (s.len && is_blank(s.p[0]))
		s = str_from_offset(s, 1);
	while (s.len && is_blank(s.p[s.len - 1]))
		s.len--;
	return s;
}

static bool is_in(const char *set, char c)
{
	for (; *set; set++) {
		bool is_range = set[1] == '-' && set[2];
		if (c == *set || (is_range && c > *set && c <= set[2]))
			return true;
		set += is_range ? 2 : 0;
	}
	return false;
}

bool str_only(struct str s, const char *set)
{
	ptrdiff_t i = 0;

	while (i < s.len && is_in(set, s.p[i]))
		i++;
	return i == s.len;
}

bool str_is_among(struct str s, const char *words)
{
	struct str rest = str_from(words), word;
	while (str_next(&rest, ' ', &word))
		if (str_eq(word, s))
			return true;
	return false;
}

bool str_take(struct str *s, struct str prefix)
{
	if (!str_starts(*s, prefix))
		return false;
	*s = str_from_offset(*s, prefix.len);
	return true;
}

bool str_cut(struct str s, char sep, struct str *head, struct str *tail)
{
	ptrdiff_t at = str_find_char(s, sep);
	if (at < 0) {
		*head = s;
		*tail = MISSING;
		return false;
	}
	*head = str_head(s, at);
	*tail = str_from_offset(s, at + 1);
	return true;
}

bool str_next(struct str *rest, char sep, struct str *part)
{
	bool is_any = rest->p != NULL;
	if (is_any)
		str_cut(*rest, sep, part, rest);
	return is_any;
}

/* Linear space, at worst s.len * pattern.len steps: only the last star is ever retried. */
bool str_glob(struct str s, struct str pattern)
{
	ptrdiff_t i = 0, j = 0, star = -1, retry = 0;
	while (i < s.len) {
		if (j < pattern.len && pattern.p[j] == '*') {
			star = j++;
			retry = i;
		} else if (j < pattern.len && (pattern.p[j] == '?' || pattern.p[j] == s.p[i])) {
			i++;
			j++;
		} else if (star >= 0) {
			j = star + 1;
			i = ++retry;
		} else {
			return false;
		}
	}
	while (j < pattern.len && pattern.p[j] == '*')
		j++;
	return j == pattern.len;
}

/* The first character in the lowest byte, as little-endian machines have them; no digits behind. */
static uint64_t eight_bytes(struct str s)
{
	uint64_t x = 0;
	if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && s.len >= 8)
		memcpy(&x, s.p, sizeof(x));
	else
		for (ptrdiff_t i = 0; i < s.len && i < 8; i++)
			x |= (uint64_t)(unsigned char)s.p[i] << 8 * i;
	return x;
}

int str_digits(struct str s, uint64_t *value)
{
	const uint64_t each = UINT64_C(0x0101010101010101), pair = UINT64_C(0x000000ff000000ff);
	uint64_t x = eight_bytes(s) ^ '0' * each;
	/* Above 9; of the lowest such byte this is exact, a carry goes only into higher ones. */
	uint64_t others = ((x + (0x80 - 10) * each) | x) & 0x80 * each;
	int n = others ? __builtin_ctzll(others) / 8 : 8;
	if (!n) {
		*value = 0;
		return 0;
	}
	/* Zeros in front; then neighbours become pairs, and four pairs are added up at once. */
	x <<= 8 * (8 - n);
	x = x * 10 + (x >> 8);
	uint64_t odd = (x & pair) * (100 + (UINT64_C(1000000) << 32));
	uint64_t even = (x >> 16 & pair) * (1 + (UINT64_C(10000) << 32));
	*value = (odd + even) >> 32;
	return n;
}

bool str_to_u64(struct str s, uint64_t *ret)
{
	enum { SAFE = 19 }; /* so many digits always fit */
	uint64_t value = 0, eight;
	ptrdiff_t i = 0;
	if (!s.len)
		return false;
	for (; i < 16 && s.len - i >= 8; i += 8) {
		if (str_digits((struct str){ s.p + i, s.len - i }, &eight) < 8)
			return false;
		value = value * 100000000 + eight;
	}
	for (; i < s.len; i++) {
		if (!is_digit(s.p[i]))
			return false;
		uint64_t digit = (uint64_t)(s.p[i] - '0');
		if (i >= SAFE && value > (UINT64_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*ret = value;
	return true;
}

bool str_to_i64(struct str s, int64_t *ret)
{
	uint64_t magnitude;
	bool minus = s.len && s.p[0] == '-';
	if (!str_to_u64(str_from_offset(s, minus), &magnitude) ||
		magnitude > (uint64_t)INT64_MAX + minus)
		return false;
	*ret = minus ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
	return true;
}

/* Behind the digits from `at` on. */
static ptrdiff_t digits(struct str s, ptrdiff_t at)
{
	while (at < s.len && is_digit(s.p[at]))
		at++;
	return at;
}

ptrdiff_t str_number(struct str s)
{
	ptrdiff_t at = digits(s, str_starts(s, STR("-")));
	if (at < s.len && s.p[at] == '.')
		at = digits(s, at + 1);
	if (at < s.len && (s.p[at] == 'e' || s.p[at] == 'E')) {
		ptrdiff_t sign = at + 1 < s.len && (s.p[at + 1] == '-' || s.p[at + 1] == '+');
		ptrdiff_t end = digits(s, at + 1 + sign);
		if (end > at + 1 + sign)
			return end;
	}
	return at;
}

/* One of the two runs of digits, before and behind the point, may be missing. */
static bool is_decimal(struct str s)
{
	struct str digit = str_from_offset(s, str_starts(s, STR("-")));
	str_take(&digit, STR("."));
	return digit.len && is_digit(digit.p[0]) && str_number(s) == s.len;
}

/* Longest number read: no double needs more than 767 significant digits to be told apart. */
enum { NUMBER_BYTES = 1024 };

bool str_to_double(struct str s, double *ret)
{
	char z[NUMBER_BYTES];
	if (s.len >= NUMBER_BYTES || !is_decimal(s))
		return false;
	memcpy(z, s.p, (size_t)s.len);
	z[s.len] = 0;
	double value = strtod(z, NULL);
	if (isinf(value))
		return false;
	*ret = value;
	return true;
}

struct str path_base(struct str path)
{
	return str_from_offset(path, str_rfind_char(path, '/') + 1);
}

struct str path_trim(struct str path)
{
	while (path.len > 1 && str_ends(path, STR("/")))
		path = str_head(path, path.len - 1);
	return path;
}

struct str path_parent(struct str path)
{
	ptrdiff_t slash = str_rfind_char(path, '/');
	return slash < 0 ? STR(".") : slash == 0 ? STR("/") : path_trim(str_head(path, slash));
}
