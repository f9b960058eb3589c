/* Table-driven protobuf reading.  See read.h. */
#include "hlo/read.h"

/* Indices and ids share one array type; both are 64 bits wherever this program runs. */
_Static_assert(sizeof(ptrdiff_t) == sizeof(int64_t), "ids are kept where indices will be");

static ptrdiff_t room(ptrdiff_t count)
{
	ptrdiff_t cap = 1;
	while (cap < count)
		cap *= 2;
	return count ? cap : 0;
}

/* Make room for `more` elements behind the first `count`. */
static void *list_reserve(
	struct arena *keep, void *items, ptrdiff_t count, ptrdiff_t more, ptrdiff_t size)
{
	if (count + more <= room(count))
		return items;
	void *grown = arena_alloc(keep, size, alignof(max_align_t), room(count + more));
	if (count)
		memcpy(grown, items, (size_t)(count * size));
	return grown;
}

void *read_push(struct arena *keep, void **items, ptrdiff_t *count, ptrdiff_t size)
{
	*items = list_reserve(keep, *items, *count, 1, size);
	void *slot = (char *)*items + *count * size;
	memset(slot, 0, (size_t)size);
	++*count;
	return slot;
}

bool read_refuse(struct reader *r, struct str message, const char *name, const char *why)
{
	struct wire w = wire_open(message);
	w.why = why;
	return wire_error(&w, r->whole, name, r->err);
}

/* Every varint ends in one byte without the high bit. */
static ptrdiff_t count_varints(struct str packed)
{
	ptrdiff_t n = 0;
	for (ptrdiff_t i = 0; i < packed.len; i++)
		n += !((unsigned char)packed.p[i] & 0x80);
	return n;
}

/* int64_t and ptrdiff_t lists alike: the assertion above makes the element size the same. */
static bool read_numbers(
	struct reader *r, const struct wire_field *f, int64_t **items, ptrdiff_t *count)
{
	struct wire_list list = wire_list(f);
	ptrdiff_t more = list.is_single ? 1 : count_varints(f->bytes);
	uint64_t num;
	if (more > READ_MAX_LIST - *count)
		return list.is_single ? diag_set(r->err, DIAG_WIRE, "a list has too many numbers")
				      : read_refuse(r, f->bytes, "list", "too many numbers");
	*items = list_reserve(r->keep, *items, *count, more, (ptrdiff_t)sizeof(int64_t));
	while (wire_list_next(&list, &num))
		(*items)[(*count)++] = (int64_t)num;
	return !list.packed.why || wire_error(&list.packed, r->whole, "list", r->err);
}

void *read_made(struct arena *keep, const struct read_rule *rule, void *member)
{
	void *made;
	memcpy(&made, member, sizeof(made));
	if (!made) {
		made = arena_alloc(keep, rule->size, alignof(max_align_t), 1);
		memcpy(member, &made, sizeof(made));
	}
	return made;
}

const struct read_rule *read_named(const struct read_table *t, struct str text)
{
	for (uint32_t k = 0; text.len && k < t->count; k++)
		if (str_eq(t->rules[k].text, text))
			return &t->rules[k];
	return NULL;
}

struct shape_slot *shape_slot(struct shape_cache *c, struct str bytes)
{
	struct shape_slot *slot = &c->slots[str_hash(bytes) % SHAPE_CACHE];
	if (!slot->bytes.p || !str_eq(slot->bytes, bytes))
		slot->bytes = MISSING;
	return slot;
}

enum { NUMBER = 1 << WIRE_VARINT, BYTES = 1 << WIRE_LEN };
static const uint8_t wire_types[] = {
	[READ_SKIP] = 0,
	[READ_STR] = BYTES,
	[READ_INT] = NUMBER,
	[READ_BOOL] = NUMBER,
	[READ_DTYPE] = NUMBER,
	[READ_INTS] = NUMBER | BYTES,
	[READ_STRS] = BYTES,
	[READ_EACH] = BYTES,
	[READ_MESSAGE] = BYTES,
	[READ_POINTER] = BYTES,
	[READ_CALL] = BYTES,
};

static bool read_field(
	struct reader *r, const struct read_rule *rule, const struct wire_field *f, char *into)
{
	void *member = into + rule->offset;
	ptrdiff_t *count = (void *)(into + rule->count); /* of a list */
	switch (rule->kind) {
	case READ_STR:
		*(struct str *)member = f->bytes;
		return true;
	case READ_INT:
		*(int64_t *)member = (int64_t)f->num;
		return true;
	case READ_BOOL:
		*(bool *)member = f->num != 0;
		return true;
	case READ_DTYPE:
		*(enum dtype *)member = f->num < DTYPE_COUNT ? (enum dtype)f->num : DTYPE_INVALID;
		return true;
	case READ_INTS:
		return read_numbers(r, f, member, count);
	case READ_STRS: {
		struct read_strs *list = member;
		*READ_PUSH(r->keep, list->items, list->count) = f->bytes;
		return true;
	}
	case READ_EACH:
		if (*count >= READ_MAX_LIST)
			return read_refuse(r, f->bytes, rule->table->message, "too many of them");
		return read_message(r, rule->table, f->bytes,
			read_push(r->keep, member, count, (ptrdiff_t)rule->size));
	case READ_MESSAGE:
		return read_message(r, rule->table, f->bytes, member);
	case READ_POINTER:
		return read_message(r, rule->table, f->bytes, read_made(r->keep, rule, member));
	case READ_CALL:
		return rule->read(r, f, member);
	case READ_SKIP:
		break;
	}
	return true;
}

bool read_message(struct reader *r, const struct read_table *t, struct str bytes, void *into)
{
	if (!bytes.len)
		return true; /* an empty message is all defaults */
	struct wire w = wire_open(bytes);
	struct wire_field f;
	while (wire_next(&w, &f)) {
		if (f.number >= t->count)
			continue;
		const struct read_rule *rule = &t->rules[f.number];
		if (wire_types[rule->kind] >> f.type & 1 && !read_field(r, rule, &f, into))
			return false;
	}
	return !w.why || wire_error(&w, r->whole, t->message, r->err);
}
