/*
 * Protobuf messages into structs, by table: one row per field number.
 *
 * Unknown numbers and known numbers with another wire type are skipped, scalars that repeat keep
 * the last value, lists append.  A list's capacity is always the power of two at or above its
 * count, so it needs no field of its own.
 *
 * Private to hlo/.
 */
#ifndef HLO_READ_H
#define HLO_READ_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/wire.h"
#include "hlo/module.h"

struct read_strs {
	struct str *items;
	ptrdiff_t count;
};

/* The longest list of numbers kept: above the ids of any device assignment or tuple. */
#define READ_MAX_LIST ((ptrdiff_t)4 << 20)

enum read_kind {
	READ_SKIP,
	READ_STR,     /* struct str, borrowed */
	READ_INT,     /* int64_t */
	READ_BOOL,    /* bool */
	READ_DTYPE,   /* enum dtype; numbers unknown here become DTYPE_INVALID */
	READ_INTS,    /* a list of int64_t or ptrdiff_t; packed or not */
	READ_STRS,    /* struct read_strs: one more, borrowed */
	READ_EACH,    /* a list of structs: one more, by `table` */
	READ_MESSAGE, /* by `table` into the member itself */
	READ_POINTER, /* by `table` into what the member points to, made by the first of them */
	READ_CALL,    /* read(reader, field, member); length-delimited only */
};

/*
 * Shapes read lately, by their bytes: a layer's arrays come by the hundred, and equal bytes are
 * equal shapes.  A slot keeps the last one with its hash.
 */
enum { SHAPE_CACHE = 64 };
struct shape_cache {
	struct shape_slot {
		struct str bytes; /* missing: the shape is still to be read */
		struct shape shape;
	} slots[SHAPE_CACHE];
};

struct reader {
	struct arena *keep;
	struct str whole; /* the file, for offsets */
	struct diag *err;
	int depth;		   /* of nested shapes */
	struct shape_cache *cache; /* of an instruction's reader */
};

/* Reads a field into the struct or member at `into`; false with r->err filled. */
typedef bool read_fn(struct reader *r, const struct wire_field *f, void *into);

struct read_rule {
	enum read_kind kind;
	uint32_t offset; /* of the member, or of a list's elements */
	uint32_t count;	 /* of a list's count */
	uint32_t size;	 /* of an element, or of what the member points to */
	read_fn *read;
	const struct read_table *table;
	struct str text; /* its name in a text; missing: a text has none, or another grammar */
};

struct read_table {
	const char *message; /* for errors */
	const struct read_rule *rules;
	uint32_t count;
};

/* Rows for a member of a plain kind, read by a function or made by a table, and for lists. */
#define READ_FIELD(kind_, type, member, ...)                                                       \
	{                                                                                          \
		.kind = READ_##kind_, .offset = offsetof(type, member), __VA_ARGS__                \
	}
#define AS(text_)		      .text = STR_INIT(text_)
#define READ_BOTH(kind, type, member) READ_FIELD(kind, type, member, AS(#member))
#define READ_BY(read_, type, member)                                                               \
	{                                                                                          \
		.kind = READ_CALL, .offset = offsetof(type, member), .read = read_                 \
	}
#define READ_MADE(table_, type, member)                                                            \
	{                                                                                          \
		.kind = READ_POINTER, .offset = offsetof(type, member), .table = &table_,          \
		.size = sizeof(*((type *)0)->member)                                               \
	}
#define READ_NUMBERS(type, items_, count_, ...)                                                    \
	{                                                                                          \
		.kind = READ_INTS, .offset = offsetof(type, items_),                               \
		.count = offsetof(type, count_), __VA_ARGS__                                       \
	}
#define READ_DIMS(type, member, ...) READ_NUMBERS(type, member.items, member.count, __VA_ARGS__)
#define READ_ELEMENTS(table_, type, items_, count_, ...)                                           \
	{                                                                                          \
		.kind = READ_EACH, .offset = offsetof(type, items_),                               \
		.count = offsetof(type, count_), .size = sizeof(*((type *)0)->items_),             \
		.table = &table_, __VA_ARGS__                                                      \
	}
#define READ_TABLE(name, message_name) static READ_SHARED(name, message_name)
#define READ_SHARED(name, message_name)                                                            \
	const struct read_table name = { message_name, name##_rules,                               \
		sizeof(name##_rules) / sizeof(name##_rules[0]) }

bool read_message(struct reader *r, const struct read_table *t, struct str bytes, void *into);
/* The rule that has this name in a text; NULL none. */
const struct read_rule *read_named(const struct read_table *t, struct str text);
/* The slot of these bytes. */
struct shape_slot *shape_slot(struct shape_cache *c, struct str bytes);
/* What a READ_POINTER's member points to, made by the first who asks. */
void *read_made(struct arena *keep, const struct read_rule *rule, void *member);

/* What a message says cannot be: `why` at the first byte of `message`.  Always false. */
bool read_refuse(struct reader *r, struct str message, const char *name, const char *why);

/* One more element in a list with the capacity rule above: its address, zeroed, counted. */
void *read_push(struct arena *keep, void **items, ptrdiff_t *count, ptrdiff_t size);
#define READ_PUSH(keep, items, count)                                                              \
	(read_push((keep), (void **)&(items), &(count), (ptrdiff_t)sizeof(*(items))),              \
		&(items)[(count)-1])

/* A ShapeProto into struct shape.  A shape that came before is forgotten. */
bool read_shape(struct reader *r, struct str message, struct shape *ret);

#endif
