/*
 * Sizes and leaves of shapes.  Reading them is shape_proto.c's and shape_text.c's work, and both
 * promise what is relied on here: ranks, tiles and depths within the limits of shape.h, dimensions
 * that are not negative (but for DIM_UNBOUNDED), tile entries above zero, no '*' in the last one.
 */
#include "hlo/shape.h"

#include "base/saturate.h"
#include "base/stats.h"

static bool is_tuple(const struct shape *s)
{
	return s->dtype == DTYPE_TUPLE || s->dtype == DTYPE_BUFFER;
}

/* Sum of `one` over the leaves; recursion is bounded by SHAPE_MAX_DEPTH. */
static int64_t sum_leaves(const struct shape *s, int64_t (*one)(const struct shape *))
{
	if (!is_tuple(s))
		return one(s);
	int64_t sum = 0;
	for (ptrdiff_t i = 0; i < s->element_count; i++)
		sum = sat_add(sum, sum_leaves(&s->elements[i], one));
	return sum;
}

static int64_t product(const int64_t *dims, ptrdiff_t rank)
{
	int64_t n = 1;
	for (ptrdiff_t i = 0; i < rank; i++)
		if (dims[i] == 0)
			return 0;
	for (ptrdiff_t i = 0; i < rank; i++)
		n = dims[i] == DIM_UNBOUNDED ? INT64_MAX : sat_mul(n, dims[i]);
	return n;
}

static bool has_elements(const struct shape *s)
{
	return s->dtype != DTYPE_TOKEN && s->dtype != DTYPE_OPAQUE && s->dtype != DTYPE_INVALID;
}

static int64_t leaf_elements(const struct shape *s)
{
	return has_elements(s) ? product(s->dims, s->rank) : 0;
}

/* n * bits / 8 rounded up, without the intermediate product. */
static int64_t bytes_of(int64_t n, int64_t bits)
{
	if (n == INT64_MAX)
		return bits ? n : 0;
	return sat_add(sat_mul(n / 8, bits), ceil_div(n % 8 * bits, 8));
}

static int64_t leaf_logical_bytes(const struct shape *s)
{
	int64_t bits = dtype_storage_bits(s->dtype);
	if (s->element_bits && s->element_bits < bits)
		bits = s->element_bits;
	return bytes_of(leaf_elements(s), bits);
}

/* Dimensions from major to minor, as memory sees them; every tile appends its own. */
struct physical {
	int64_t dims[SHAPE_MAX_RANK + (LAYOUT_MAX_TILES + 1) * TILE_MAX_RANK];
	ptrdiff_t rank;
};

static void physical_init(struct physical *p, const struct shape *s)
{
	p->rank = s->rank;
	for (ptrdiff_t i = 0; i < s->rank; i++)
		p->dims[i] = s->dims[s->minor_to_major[s->rank - 1 - i]];
}

static void pad_rank(struct physical *p, ptrdiff_t rank)
{
	ptrdiff_t more = rank - p->rank;
	if (more <= 0)
		return;
	for (ptrdiff_t i = p->rank; i-- > 0;)
		p->dims[i + more] = p->dims[i];
	for (ptrdiff_t i = 0; i < more; i++)
		p->dims[i] = 1;
	p->rank = rank;
}

static int64_t dim_ceil(int64_t dim, int64_t tile)
{
	return dim == DIM_UNBOUNDED ? dim : ceil_div(dim, tile);
}

static int64_t dim_fold(int64_t major, int64_t minor)
{
	if (major == DIM_UNBOUNDED || minor == DIM_UNBOUNDED)
		return DIM_UNBOUNDED;
	return sat_mul(major, minor);
}

/*
 * One tile over the trailing dimensions: [.., a, b] under T(s,t) becomes
 * [.., ceil(a/s), ceil(b/t), s, t].  A dimension marked '*' is folded into the next more minor one
 * first.
 */
static void physical_tile(struct physical *p, const struct tile *t)
{
	pad_rank(p, t->rank);
	ptrdiff_t from = p->rank - t->rank, to = from;
	int64_t entries[TILE_MAX_RANK];
	ptrdiff_t count = 0;
	int64_t folded = 1;
	for (ptrdiff_t i = 0; i < t->rank; i++) {
		folded = dim_fold(folded, p->dims[from + i]);
		if (t->dims[i] == TILE_COMBINE)
			continue;
		p->dims[to++] = dim_ceil(folded, t->dims[i]);
		entries[count++] = t->dims[i];
		folded = 1;
	}
	for (ptrdiff_t i = 0; i < count; i++)
		p->dims[to++] = entries[i];
	p->rank = to;
}

static int64_t padded_elements(const struct shape *s)
{
	struct physical p;
	physical_init(&p, s);
	for (ptrdiff_t i = 0; i < s->tile_count; i++)
		physical_tile(&p, &s->tiles[i]);
	int64_t n = product(p.dims, p.rank);
	if (s->tail_alignment > 1 && n != INT64_MAX)
		n = sat_mul(ceil_div(n, s->tail_alignment), s->tail_alignment);
	return n;
}

static int64_t leaf_padded_bytes(const struct shape *s)
{
	if (!s->has_layout || !has_elements(s))
		return leaf_logical_bytes(s);
	int64_t bits = s->element_bits ? s->element_bits : dtype_storage_bits(s->dtype);
	return sat_add(bytes_of(padded_elements(s), bits), s->metadata_bytes);
}

int64_t shape_elements(const struct shape *s)
{
	return s->sums ? s->sums->elements : sum_leaves(s, leaf_elements);
}

int64_t shape_logical_bytes(const struct shape *s)
{
	return s->sums ? s->sums->logical : sum_leaves(s, leaf_logical_bytes);
}

int64_t shape_padded_bytes(const struct shape *s)
{
	return s->sums ? s->sums->padded : sum_leaves(s, leaf_padded_bytes);
}

/* Elements are complete before their tuple is, so every leaf is added up once a level. */
void shape_complete(struct shape *s, struct arena *keep)
{
	s->on_host = !is_tuple(s) && s->memory_space == SHAPE_HOST_SPACE;
	if (!is_tuple(s))
		return;
	struct shape_sums *sums = arena_make(keep, struct shape_sums, 1);
	for (ptrdiff_t i = 0; i < s->element_count; i++) {
		const struct shape *element = &s->elements[i];
		s->on_host |= element->on_host;
		sums->elements = sat_add(sums->elements, shape_elements(element));
		sums->logical = sat_add(sums->logical, shape_logical_bytes(element));
		sums->padded = sat_add(sums->padded, shape_padded_bytes(element));
	}
	s->sums = sums;
}

/* The last element whose first leaf is at or before `i`: the one that holds it, since elements
 * without leaves share their first leaf with the next sibling. */
static const struct shape *element_with(const struct shape *s, ptrdiff_t i)
{
	ptrdiff_t next;
	FIND_FIRST(next, 1, s->element_count, s->elements[next].leaf_first > i);
	return &s->elements[next - 1];
}

const struct shape *shape_leaf(const struct shape *s, ptrdiff_t i)
{
	if (i < 0 || i >= s->leaves)
		return NULL;
	while (is_tuple(s)) {
		const struct shape *element = element_with(s, i);
		i -= element->leaf_first;
		s = element;
	}
	return s;
}

/* Recursion is bounded by SHAPE_MAX_DEPTH. */
bool shape_equal(const struct shape *a, const struct shape *b, bool placed)
{
	if (a->dtype != b->dtype || a->rank != b->rank || a->element_count != b->element_count)
		return false;
	if (placed && (a->memory_space != b->memory_space ||
			      shape_padded_bytes(a) != shape_padded_bytes(b)))
		return false;
	for (ptrdiff_t i = 0; i < a->rank; i++)
		if (a->dims[i] != b->dims[i])
			return false;
	for (ptrdiff_t i = 0; i < a->element_count; i++)
		if (!shape_equal(&a->elements[i], &b->elements[i], placed))
			return false;
	return true;
}
