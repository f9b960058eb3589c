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

static int64_t as_int(uint64_t bits)
{
	return (int64_t)bits;
}

static void put(void *items, ptrdiff_t i, uint64_t num)
{
	int64_t value = as_int(num);
	memcpy((char *)items + i * (ptrdiff_t)sizeof(value), &value, sizeof(value));
}

static bool read_packed(struct reader *r, struct str packed, void **items, ptrdiff_t *count)
{
	ptrdiff_t more = count_varints(packed);
	if (more > READ_MAX_LIST - *count)
		return read_refuse(r, packed, "list", "too many numbers");
	*items = list_reserve(r->keep, *items, *count, more, (ptrdiff_t)sizeof(int64_t));
	if (!more && !packed.len)
		return true;
	struct wire w = wire_open(packed);
	uint64_t num;
	while (wire_varint(&w, &num))
		put(*items, (*count)++, num);
	return !w.why || wire_error(&w, r->whole, "list", r->err);
}

/* int64_t and ptrdiff_t lists alike: the assertion above makes the element size the same. */
bool read_list(struct reader *r, const struct wire_field *f, void **items, ptrdiff_t *count)
{
	if (f->type == WIRE_LEN)
		return read_packed(r, f->bytes, items, count);
	if (*count >= READ_MAX_LIST)
		return diag_set(r->err, DIAG_WIRE, "a list has too many numbers");
	*items = list_reserve(r->keep, *items, *count, 1, (ptrdiff_t)sizeof(int64_t));
	put(*items, (*count)++, f->num);
	return true;
}

static bool fits(const struct read_rule *rule, enum wire_type type)
{
	switch (rule->kind) {
	case READ_STR:
	case READ_STRS:
	case READ_MESSAGE:
	case READ_POINTER:
	case READ_CALL:
		return type == WIRE_LEN;
	case READ_INT:
	case READ_BOOL:
	case READ_DTYPE:
		return type == WIRE_VARINT;
	case READ_INTS:
	case READ_LIST:
		return type == WIRE_VARINT || type == WIRE_LEN;
	case READ_SKIP:
		break;
	}
	return false;
}

static bool read_field(
	struct reader *r, const struct read_rule *rule, const struct wire_field *f, void *member)
{
	switch (rule->kind) {
	case READ_STR:
		*(struct str *)member = f->bytes;
		return true;
	case READ_INT:
		*(int64_t *)member = as_int(f->num);
		return true;
	case READ_BOOL:
		*(bool *)member = f->num != 0;
		return true;
	case READ_DTYPE:
		*(enum dtype *)member = f->num < DTYPE_COUNT ? (enum dtype)f->num : DTYPE_INVALID;
		return true;
	case READ_INTS: {
		struct hlo_dims *list = member;
		return read_list(r, f, (void **)&list->items, &list->count);
	}
	case READ_STRS: {
		struct read_strs *list = member;
		*READ_PUSH(r->keep, list->items, list->count) = f->bytes;
		return true;
	}
	case READ_MESSAGE:
		return read_message(r, rule->table, f->bytes, member);
	case READ_POINTER: {
		void *made;
		memcpy(&made, member, sizeof(made));
		if (!made) {
			made = arena_alloc(r->keep, rule->size, alignof(max_align_t), 1);
			memcpy(member, &made, sizeof(made));
		}
		return read_message(r, rule->table, f->bytes, made);
	}
	case READ_CALL:
	case READ_LIST:
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
		if (fits(rule, f.type) && !read_field(r, rule, &f, (char *)into + rule->offset))
			return false;
	}
	return !w.why || wire_error(&w, r->whole, t->message, r->err);
}
