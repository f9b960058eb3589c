/*
 * The protobuf wire format, one field at a time.  See wire.h.
 *
 * The hottest code of the program: a profile is a few hundred million fields, and each must wait
 * for the length of the one before.  So the common field (a tag of one byte and a number of up to
 * seven, or a length of one) is taken from a single load of eight bytes without a loop; all else
 * goes through next_slow.
 */
#include "base/wire.h"

static inline uint32_t load32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static const char WHY_VARINT_END[] = "a number runs past the end of its message";
static const char WHY_VARINT_LONG[] = "a number is longer than 64 bits";

/* The general case, a byte at a time.  NULL and *why on failure. */
static const uint8_t *varint_slow(
	const uint8_t *p, const uint8_t *end, uint64_t *ret, const char **why)
{
	uint64_t value = 0;
	for (int i = 0; i < WIRE_NUMBER_BYTES; i++) {
		if (p == end) {
			*why = WHY_VARINT_END;
			return NULL;
		}
		uint64_t byte = *p++;
		if (i == WIRE_NUMBER_BYTES - 1 && byte > 1)
			break;
		value |= (byte & 0x7f) << (7 * i);
		if (byte < 0x80) {
			*ret = value;
			return p;
		}
	}
	*why = WHY_VARINT_LONG;
	return NULL;
}

/* Eight bytes at `p`, where only n < 8 are; the others look like an unfinished varint. */
static inline uint64_t load_tail(const uint8_t *p, ptrdiff_t n)
{
	uint64_t x;
	if (n <= 0)
		return UINT64_MAX;
	if (n >= 4)
		x = load32(p) | (uint64_t)load32(p + n - 4) << (8 * (n - 4));
	else
		x = p[0] | (uint64_t)p[n / 2] << (8 * (n / 2)) |
		    (uint64_t)p[n - 1] << (8 * (n - 1));
	return x | UINT64_MAX << (8 * n);
}

static inline uint64_t load_up_to(const uint8_t *p, const uint8_t *end)
{
	return end - p >= 8 ? wire_load64(p) : load_tail(p, end - p);
}

const uint8_t *wire_ten_bytes(const uint8_t *p, uint64_t *ret)
{
	const char *why;
	return varint_slow(p, p + WIRE_NUMBER_BYTES, ret, &why);
}

/* Behind the varint at `p`; NULL, and why, when there is none. */
static inline const uint8_t *varint(struct wire *w, const uint8_t *p, uint64_t *ret)
{
	uint64_t x = load_up_to(p, w->end), stops = ~x & 0x8080808080808080u;
	if (!stops)
		return varint_slow(p, w->end, ret, &w->why);
	*ret = wire_varint_in(x, stops);
	return p + wire_varint_bytes(stops);
}

static bool fail(struct wire *w, const char *why)
{
	w->why = why;
	return false;
}

static bool take_varint(struct wire *w, struct wire_field *f, const uint8_t *p)
{
	if (!(p = varint(w, p, &f->num)))
		return false;
	w->at = p;
	return true;
}

static bool take_len(struct wire *w, struct wire_field *f, const uint8_t *p)
{
	uint64_t len;
	if (!(p = varint(w, p, &len)))
		return false;
	if (len > (uint64_t)(w->end - p))
		return fail(w, "length runs past the end of its message");
	f->bytes = (struct str){ (const char *)p, (ptrdiff_t)len };
	w->at = p + len;
	return true;
}

static bool take_fixed(struct wire *w, struct wire_field *f, const uint8_t *p, ptrdiff_t size)
{
	if (w->end - p < size)
		return fail(w, WHY_VARINT_END);
	f->num = size == 8 ? wire_load64(p) : load32(p);
	w->at = p + size;
	return true;
}

/* Any field.  Kept out of line so that wire_next needs no stack frame. */
static __attribute__((noinline)) bool next_slow(struct wire *w, struct wire_field *f)
{
	uint64_t tag;
	const uint8_t *p = varint(w, w->at, &tag);
	if (!p)
		return false;
	if (tag > UINT32_MAX)
		return fail(w, "a field number is past the largest there is");
	if (tag < 8)
		return fail(w, "a field has number 0");
	f->number = (uint32_t)(tag >> 3);
	f->type = (enum wire_type)(tag & 7);
	switch (tag & 7) {
	case WIRE_VARINT:
		return take_varint(w, f, p);
	case WIRE_LEN:
		return take_len(w, f, p);
	case WIRE_I64:
		return take_fixed(w, f, p, 8);
	case WIRE_I32:
		return take_fixed(w, f, p, 4);
	case 3:
	case 4:
		return fail(w, "a field is a group, which no message here has");
	default:
		return fail(w, "a field has an unknown wire type");
	}
}

/* 0x87 in a tag: the continuation bit and the wire type.  Below 8 the field number is 0. */
static inline bool is_short(uint64_t tag, enum wire_type type)
{
	return (tag & 0x87) == (uint64_t)type && tag >= 8;
}

bool wire_next(struct wire *w, struct wire_field *f)
{
	const uint8_t *p = w->at;
	if (p == w->end || w->why)
		return false;
	uint64_t x = load_up_to(p, w->end), tag = x & 0xff, rest = x >> 8;
	if (is_short(tag, WIRE_VARINT)) {
		uint64_t stops = ~rest & 0x0080808080808080u;
		if (!stops)
			return next_slow(w, f);
		f->number = (uint32_t)(tag >> 3);
		f->type = WIRE_VARINT;
		f->num = wire_varint_in(rest, stops);
		w->at = p + 1 + wire_varint_bytes(stops);
		return true;
	}
	if (is_short(tag, WIRE_LEN)) {
		ptrdiff_t len = (ptrdiff_t)(rest & 0xff);
		if (len >= 0x80 || len > w->end - p - 2)
			return next_slow(w, f);
		f->number = (uint32_t)(tag >> 3);
		f->type = WIRE_LEN;
		f->bytes = (struct str){ (const char *)p + 2, len };
		w->at = p + 2 + len;
		return true;
	}
	return next_slow(w, f);
}

bool wire_varint(struct wire *w, uint64_t *ret)
{
	if (w->at == w->end || w->why)
		return false;
	const uint8_t *p = varint(w, w->at, ret);
	if (!p)
		return false;
	w->at = p;
	return true;
}

bool wire_error(const struct wire *w, struct str whole, const char *message, struct diag *err)
{
	long long at = whole.p ? (long long)(w->at - (const uint8_t *)whole.p) : 0;
	return diag_set(
		err, DIAG_WIRE, "%s at byte %lld: %s", message, at, w->why ? w->why : "malformed");
}
