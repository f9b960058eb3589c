/*
 * Any bytes as protobuf messages: beside wire.c runs a plain reader of the same format, one byte at
 * a time, and both must agree on every field, every error and every cursor.
 */
#include "base/wire.h"
#include "tests/fuzz/fuzz.h"

/* Nested messages that are followed; the bytes shrink with depth, so the work is bounded. */
enum { DEPTH = 8 };

/* Offset behind the varint at `at`, or -1. */
static ptrdiff_t plain_varint(struct str s, ptrdiff_t at, uint64_t *ret)
{
	*ret = 0;
	for (int i = 0; i < 10 && at + i < s.len; i++) {
		uint64_t byte = (unsigned char)s.p[at + i];
		if (i == 9 && byte > 1)
			return -1;
		*ret |= (byte & 0x7f) << (7 * i);
		if (byte < 0x80)
			return at + i + 1;
	}
	return -1;
}

/* Offset behind the field at `at`, or -1. */
static ptrdiff_t plain_field(struct str s, ptrdiff_t at, struct wire_field *f)
{
	uint64_t tag, len;
	at = plain_varint(s, at, &tag);
	if (at < 0 || tag >> 32 || !(tag >> 3))
		return -1;
	f->number = (uint32_t)(tag >> 3);
	f->type = (enum wire_type)(tag & 7);
	if (f->type == WIRE_VARINT)
		return plain_varint(s, at, &f->num);
	if (f->type == WIRE_LEN) {
		at = plain_varint(s, at, &len);
		if (at < 0 || len > (uint64_t)(s.len - at))
			return -1;
		f->bytes = str_head(str_from_offset(s, at), (ptrdiff_t)len);
		return at + (ptrdiff_t)len;
	}
	ptrdiff_t bytes = f->type == WIRE_I64 ? 8 : f->type == WIRE_I32 ? 4 : -1;
	if (bytes < 0 || bytes > s.len - at)
		return -1;
	f->num = 0;
	for (ptrdiff_t i = 0; i < bytes; i++)
		f->num |= (uint64_t)(unsigned char)s.p[at + i] << (8 * i);
	return at + bytes;
}

static void require_same(const struct wire_field *f, const struct wire_field *want)
{
	require(f->number == want->number && f->type == want->type);
	if (f->type == WIRE_LEN)
		require(f->bytes.len == want->bytes.len && f->bytes.p == want->bytes.p);
	else
		require(f->num == want->num);
}

static void packed(struct str s)
{
	uint64_t num, want;
	struct wire w = wire_open(s);
	ptrdiff_t at = 0;
	while (wire_varint(&w, &num)) {
		at = plain_varint(s, at, &want);
		require(at > 0 && num == want && (const char *)w.at == s.p + at);
	}
	require(w.why ? plain_varint(s, at, &want) < 0 : at == s.len);
}

static void message(struct str s, struct str whole, int depth)
{
	struct wire_field f, want;
	struct wire w = wire_open(s);
	ptrdiff_t at = 0;
	while (wire_next(&w, &f)) {
		struct wire_list list = wire_list(&f);
		uint64_t num;
		at = plain_field(s, at, &want);
		require(at > 0 && (const char *)w.at == s.p + at);
		require_same(&f, &want);
		if (f.type != WIRE_LEN)
			require(wire_list_next(&list, &num) && num == f.num &&
				!wire_list_next(&list, &num));
		if (f.type == WIRE_LEN)
			packed(f.bytes);
		if (f.type == WIRE_LEN && depth < DEPTH)
			message(f.bytes, whole, depth + 1);
	}
	require(w.why ? plain_field(s, at, &want) < 0 : at == s.len);
	require((const char *)w.at == s.p + at);
	struct diag err;
	require(!wire_error(&w, whole, "message", &err) && err.text[0]);
}

static void fuzz(struct str bytes, struct arena *keep)
{
	(void)keep;
	packed(bytes);
	message(bytes, bytes, 0);
}
