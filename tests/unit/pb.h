/*
 * Small protobufs for the tests of hlo/, and the HLO modules inside of profiles.
 *
 * Everything is allocated in the arena of the test.  Ids of instructions start at 1, so that a list
 * of operands may end at 0.
 */
#ifndef TEST_PB_H
#define TEST_PB_H

#include <string.h>

#include "base/input.h"
#include "base/wire.h"
#include "hlo/module.h"

struct pb {
	struct arena *keep;
	char *p;
	ptrdiff_t len, cap;
};

static inline struct pb pb_new(struct arena *keep)
{
	return (struct pb){ .keep = keep };
}

static inline struct str pb_done(const struct pb *b)
{
	return (struct str){ b->p ? b->p : "", b->len };
}

static inline void pb_varint(struct pb *b, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*arena_push(b->keep, b->p, b->len, b->cap) = (char)(value | 0x80);
	*arena_push(b->keep, b->p, b->len, b->cap) = (char)value;
}

static inline void pb_int(struct pb *b, int field, int64_t value)
{
	pb_varint(b, (uint64_t)field << 3);
	pb_varint(b, (uint64_t)value);
}

static inline void pb_raw(struct pb *b, struct str bytes)
{
	for (ptrdiff_t i = 0; i < bytes.len; i++)
		*arena_push(b->keep, b->p, b->len, b->cap) = bytes.p[i];
}

static inline void pb_bytes(struct pb *b, int field, struct str bytes)
{
	pb_varint(b, (uint64_t)field << 3 | WIRE_LEN);
	pb_varint(b, (uint64_t)bytes.len);
	pb_raw(b, bytes);
}

static inline void pb_text(struct pb *b, int field, const char *text)
{
	pb_bytes(b, field, str_from(text));
}

static inline void pb_packed(struct pb *b, int field, const int64_t *items, ptrdiff_t count)
{
	struct pb list = pb_new(b->keep);
	for (ptrdiff_t i = 0; i < count; i++)
		pb_varint(&list, (uint64_t)items[i]);
	pb_bytes(b, field, pb_done(&list));
}

static inline void pb_unpacked(struct pb *b, int field, const int64_t *items, ptrdiff_t count)
{
	for (ptrdiff_t i = 0; i < count; i++)
		pb_int(b, field, items[i]);
}

#define PB_LIST(...)                                                                               \
	(const int64_t[]){ __VA_ARGS__ },                                                          \
		(ptrdiff_t)(sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t))

/* A message of one packed list, which many are. */
static inline struct str pb_list(
	struct arena *keep, int field, const int64_t *items, ptrdiff_t count)
{
	struct pb b = pb_new(keep);
	pb_packed(&b, field, items, count);
	return pb_done(&b);
}

static inline struct str pb_layout(struct arena *keep, const struct shape *s)
{
	struct pb b = pb_new(keep);
	pb_packed(&b, 1, s->minor_to_major, s->rank);
	for (ptrdiff_t i = 0; i < s->tile_count; i++)
		pb_bytes(&b, 6, pb_list(keep, 1, s->tiles[i].dims, s->tiles[i].rank));
	pb_int(&b, 7, s->element_bits);
	pb_int(&b, 8, s->memory_space);
	pb_int(&b, 15, s->metadata_bytes);
	pb_int(&b, 16, s->tail_alignment);
	return pb_done(&b);
}

static inline struct str pb_shape_proto(struct arena *keep, const struct shape *s)
{
	struct pb b = pb_new(keep);
	pb_int(&b, 2, s->dtype);
	pb_packed(&b, 3, s->dims, s->rank);
	for (ptrdiff_t i = 0; i < s->element_count; i++)
		pb_bytes(&b, 4, pb_shape_proto(keep, &s->elements[i]));
	if (s->has_layout)
		pb_bytes(&b, 5, pb_layout(keep, s));
	for (ptrdiff_t i = 0; i < s->rank; i++)
		pb_int(&b, 6, (int64_t)(s->dynamic_dims >> i & 1));
	return pb_done(&b);
}

/* ShapeProto from text. */
static inline struct str pb_shape(struct arena *keep, const char *text)
{
	struct diag err;
	struct shape s;
	struct str rest;
	if (!shape_parse(str_from(text), keep, &s, &rest, &err) || rest.len)
		return STR("\xff");
	return pb_shape_proto(keep, &s);
}

/* One instruction as a test writes it; `more` holds further fields, ready made. */
struct pb_instruction {
	const char *name, *opcode, *shape;
	int64_t id;
	int64_t operands[8]; /* up to the first 0 */
	int64_t called[4];   /* likewise */
	int64_t number;	     /* of a parameter */
	struct str more;
};

static inline ptrdiff_t pb_count(const int64_t *ids, ptrdiff_t max)
{
	ptrdiff_t n = 0;
	while (n < max && ids[n])
		n++;
	return n;
}

static inline struct str pb_write_instruction(struct arena *keep, const struct pb_instruction *i)
{
	struct pb b = pb_new(keep);
	pb_text(&b, 1, i->name);
	pb_text(&b, 2, i->opcode);
	if (i->shape)
		pb_bytes(&b, 3, pb_shape(keep, i->shape));
	if (i->number)
		pb_int(&b, 9, i->number);
	pb_int(&b, 35, i->id);
	pb_packed(&b, 36, i->operands, pb_count(i->operands, 8));
	pb_packed(&b, 38, i->called, pb_count(i->called, 4));
	pb_raw(&b, i->more);
	return pb_done(&b);
}

/* Instructions up to the first without a name; the last one is the root. */
struct pb_computation {
	const char *name;
	int64_t id;
	const struct pb_instruction *instructions;
};

static inline struct str pb_write_computation(struct arena *keep, const struct pb_computation *c)
{
	struct pb b = pb_new(keep);
	const struct pb_instruction *i = c->instructions;
	int64_t root = 0;
	pb_text(&b, 1, c->name);
	for (; i->name; i++) {
		pb_bytes(&b, 2, pb_write_instruction(keep, i));
		root = i->id;
	}
	pb_int(&b, 5, c->id);
	pb_int(&b, 6, root);
	return pb_done(&b);
}

/* A bare HloModuleProto of computations up to the first without a name; the last is the entry. */
static inline struct str pb_write_module(
	struct arena *keep, const struct pb_computation *c, struct str more)
{
	struct pb b = pb_new(keep);
	int64_t entry = 0;
	pb_text(&b, 1, "test");
	for (; c->name; c++) {
		pb_bytes(&b, 3, pb_write_computation(keep, c));
		entry = c->id;
	}
	pb_int(&b, 5, 42);
	pb_int(&b, 6, entry);
	pb_raw(&b, more);
	return pb_done(&b);
}

/* One file, function and line of a StackFrameIndexProto, called from the frame behind it. */
static inline void pb_frame(struct arena *keep, struct pb *b, int64_t id, const char *file,
	const char *function, int64_t line)
{
	struct pb location = pb_new(keep), f = pb_new(keep);
	pb_text(b, 1, file);
	pb_text(b, 2, function);
	pb_int(&location, 1, id);
	pb_int(&location, 2, id);
	pb_int(&location, 3, line);
	pb_bytes(b, 3, pb_done(&location));
	pb_int(&f, 1, id);
	pb_int(&f, 2, id + 1);
	pb_bytes(b, 4, pb_done(&f));
}

static inline struct hlo_module *pb_parse(
	struct arena *keep, const struct pb_computation *c, struct str more, struct diag *err)
{
	struct str bytes = pb_write_module(keep, c, more);
	return hlo_module_parse(bytes, bytes, keep, err);
}

/* A file's module, NULL if there is no such file. */
static inline struct hlo_module *pb_file(struct arena *keep, const char *path, struct diag *err)
{
	struct input in;
	if (!input_open(str_from(path), keep, &in, err))
		return NULL;
	return hlo_module_parse(in.bytes, in.bytes, keep, err);
}

static inline struct str pb_field(struct str message, uint32_t number)
{
	struct wire w = wire_open(message);
	struct wire_field f;
	while (wire_next(&w, &f))
		if (f.number == number && f.type == WIRE_LEN)
			return f.bytes;
	return (struct str){ NULL, 0 };
}

/* The longest bytes among a metadata entry's stats: its HloProto. */
static inline struct str pb_longest_stat(struct str metadata)
{
	struct wire w = wire_open(metadata);
	struct wire_field f;
	struct str longest = { NULL, 0 };
	while (wire_next(&w, &f)) {
		struct str bytes = f.number == 5 ? pb_field(f.bytes, 6) : (struct str){ NULL, 0 };
		if (bytes.len > longest.len)
			longest = bytes;
	}
	return longest;
}

/* The HloProto of program `name` in an xplane.pb; missing if the file or the program is. */
static inline struct str pb_profile_program(
	struct arena *keep, const char *path, const char *name, struct diag *err)
{
	struct input in;
	struct wire_field plane, entry;
	if (!input_open(str_from(path), keep, &in, err))
		return (struct str){ NULL, 0 };
	struct wire space = wire_open(in.bytes);
	while (wire_next(&space, &plane)) {
		if (!str_eq(pb_field(plane.bytes, 2), STR("/host:metadata")))
			continue;
		struct wire w = wire_open(plane.bytes);
		while (wire_next(&w, &entry)) {
			struct str metadata =
				entry.number == 4 ? pb_field(entry.bytes, 2) : STR("");
			if (str_eq(pb_field(metadata, 2), str_from(name)))
				return pb_longest_stat(metadata);
		}
	}
	return (struct str){ NULL, 0 };
}

#define PB_PROFILES "../shared/profiles/"

static inline struct hlo_module *pb_profile(
	struct arena *keep, const char *path, const char *name, struct diag *err)
{
	struct str bytes = pb_profile_program(keep, path, name, err);
	return bytes.p ? hlo_module_parse(bytes, bytes, keep, err) : NULL;
}

#endif
