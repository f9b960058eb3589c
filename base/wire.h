/*
 * One message's worth of protobuf wire bytes, read front to back.
 *
 * `at` is the only cursor and `end` never moves.  `why` is sticky: after the first malformed field
 * every call returns false and `at` stays on that field's tag; check it once, after the loop.
 * A nested message is wire_open on its bytes: a bad inner message cannot move the outer cursor.
 *
 * Policy: unknown fields are skipped; a known number with another wire type is the reader's to
 * refuse or skip (wire_field.type says which it was); groups are refused; the last scalar wins.
 * Lengths are 64-bit and compared before they are added.
 *
 * Source: the public protobuf encoding description.
 */
#ifndef BASE_WIRE_H
#define BASE_WIRE_H

#include <string.h>

#include "base/branch.h"
#include "base/diag.h"
#include "base/str.h"

enum wire_type { WIRE_VARINT = 0, WIRE_I64 = 1, WIRE_LEN = 2, WIRE_I32 = 5 };
/* Of one byte: fields up to 15. */
#define WIRE_TAG(field, type) ((uint8_t)((field) << 3 | (type)))

struct wire {
	const uint8_t *at, *end;
	const char *why; /* NULL, or what is wrong at `at` */
};

struct wire_field {
	uint32_t number;
	enum wire_type type;
	uint64_t num;	  /* VARINT, I64 and I32 as raw bits */
	struct str bytes; /* LEN: borrowed */
};

static inline struct wire wire_open(struct str message)
{
	const uint8_t *p = (const uint8_t *)message.p;
	return (struct wire){ p, message.len ? p + message.len : p, NULL };
}

/* The next field; false at the end and after an error. */
bool wire_next(struct wire *w, struct wire_field *f);
/* One varint from a packed list; false at the end and after an error. */
bool wire_varint(struct wire *w, uint64_t *ret);

/*
 * For a decoder of one message that is met millions of times (profile/cursor.c): the common layout
 * is matched bytewise with these, anything else goes through wire_next, which reports.
 */
static inline uint64_t wire_load64(const uint8_t *p)
{
	return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 |
	       (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 |
	       (uint64_t)p[7] << 56;
}

/*
 * Close the gaps of one bit between eight groups of seven: 8 x 7 -> 4 x 14 -> 2 x 28 -> 56.  The
 * upper group of each two moves down: x - u + u/2, x - u + u/4, and the last two by themselves.
 */
static inline uint64_t wire_squeeze(uint64_t x)
{
	x &= 0x7f7f7f7f7f7f7f7fu;
	x -= (x & 0x7f007f007f007f00u) >> 1;
	x -= 3 * ((x & 0x3fff00003fff0000u) >> 2);
	return (x & 0xffffffffu) | x >> 32 << 28;
}

/* The varint that ends at the lowest of `stops`, the clear top bits of x's bytes. */
static inline uint64_t wire_varint_in(uint64_t x, uint64_t stops)
{
	return wire_squeeze(x & (stops ^ (stops - 1)));
}

/*
 * The same with its gaps, where the sum has no more bits than the gaps leave: such numbers compare
 * as they are, and a carry passes through a gap that is set.
 */
static inline uint64_t wire_loose_in(uint64_t x, uint64_t stops)
{
	return x & (stops ^ (stops - 1)) & 0x7f7f7f7f7f7f7f7fu;
}
static inline uint64_t wire_loose_sum(uint64_t a, uint64_t b)
{
	return ((a | 0x8080808080808080u) + b) & 0x7f7f7f7f7f7f7f7fu;
}

/* How many bytes that is. */
static inline ptrdiff_t wire_varint_bytes(uint64_t stops)
{
	return (ptrdiff_t)((unsigned)__builtin_ctzll(stops) >> 3) + 1;
}

/*
 * Behind the varint at `p`, where WIRE_NUMBER_BYTES are readable; NULL when it is no 64-bit number.
 * What is readable may reach past the message: the caller compares the result with its end.
 */
#define WIRE_NUMBER_BYTES 10 /* 7 bits a byte; the tenth holds only the last one */
const uint8_t *wire_ten_bytes(const uint8_t *p, uint64_t *ret);
static inline const uint8_t *wire_number(const uint8_t *p, uint64_t *ret)
{
	uint64_t x = wire_load64(p), stops = ~x & 0x8080808080808080u, num;
	if (mostly(stops)) {
		*ret = wire_varint_in(x, stops);
		return p + wire_varint_bytes(stops);
	}
	if (p[8] < 0x80) {
		*ret = wire_squeeze(x) | (uint64_t)p[8] << 56;
		return p + 9;
	}
	p = wire_ten_bytes(p, &num); /* not ret, so that *ret may stay in a register */
	*ret = p ? num : 0;
	return p;
}

/* The same for one that is mostly of one byte. */
static inline const uint8_t *wire_small_number(const uint8_t *p, uint64_t *ret)
{
	if (*p >= 0x80)
		return wire_number(p, ret);
	*ret = *p;
	return p + 1;
}

/* The same without its value. */
static inline const uint8_t *wire_number_skip(const uint8_t *p)
{
	uint64_t stops = ~wire_load64(p) & 0x8080808080808080u, ignored;

	if (mostly(stops))
		return p + wire_varint_bytes(stops);
	return p[8] < 0x80 ? p + 9 : wire_ten_bytes(p, &ignored);
}

/*
 * Where `p` is the tag of a LEN field whose length takes one byte or two, as nearly all do, and its
 * bytes end by `end`: those bytes; else NULL.  Three bytes are readable.
 */
static inline const uint8_t *wire_short_field(
	const uint8_t *p, const uint8_t *end, uint8_t tag, ptrdiff_t *ret_len)
{
	const uint8_t *body = p + 2;

	*ret_len = p[1] & 0x7f;
	if (p[1] >= 0x80) {
		*ret_len |= (ptrdiff_t)p[2] << 7;
		body++;
	}
	return p[0] == tag && (p[1] < 0x80 || p[2] < 0x80) && *ret_len <= end - body ? body : NULL;
}

static inline double wire_double(uint64_t bits)
{
	double d;
	memcpy(&d, &bits, sizeof(d));
	return d;
}

/*
 * What one field says of a repeated integer: a packed list of varints, or one number.
 *
 *	struct wire_list list = wire_list(&f);
 *	while (wire_list_next(&list, &num))
 *		...
 *	list.packed.why is the damage
 */
struct wire_list {
	struct wire packed;
	uint64_t single;
	bool is_single, is_taken;
};

static inline struct wire_list wire_list(const struct wire_field *f)
{
	bool is_packed = f->type == WIRE_LEN;

	return (struct wire_list){ .packed = wire_open(is_packed ? f->bytes : STR("")),
		.single = is_packed ? 0 : f->num,
		.is_single = !is_packed };
}

static inline bool wire_list_next(struct wire_list *l, uint64_t *ret)
{
	if (!l->is_single)
		return wire_varint(&l->packed, ret);
	bool first = !l->is_taken;
	l->is_taken = true;
	*ret = l->single;
	return first;
}

/*
 * Report w->why as "<message> at byte N: <why>", N counted from the first byte of `whole` (the
 * file's bytes, of which the message is a part).  Always returns false.
 */
bool wire_error(const struct wire *w, struct str whole, const char *message, struct diag *err);

#endif
