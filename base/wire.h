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
 * Source: the public protobuf encoding description; facts/xplane.md 1-2 for the messages.
 */
#ifndef BASE_WIRE_H
#define BASE_WIRE_H

#include <string.h>

#include "base/diag.h"
#include "base/str.h"

enum wire_type { WIRE_VARINT = 0, WIRE_I64 = 1, WIRE_LEN = 2, WIRE_I32 = 5 };

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

static inline double wire_double(uint64_t bits)
{
	double d;
	memcpy(&d, &bits, sizeof(d));
	return d;
}

/*
 * Repeated scalar, packed or not: call for every field with that number.  Appends to items up to
 * `max`; false (and w->why set) when there are more.
 */
bool wire_repeated(struct wire *w, const struct wire_field *f, int64_t *items, ptrdiff_t *count,
	ptrdiff_t max);

/*
 * Report w->why as "<message> at byte N: <why>", N counted from the first byte of `whole` (the
 * file's bytes, of which the message is a part).  Always returns false.
 */
bool wire_error(const struct wire *w, struct str whole, const char *message, struct diag *err);

#endif
