/*
 * Shapes from the wire: ShapeProto, LayoutProto and TileProto of XLA's xla_data.proto.
 *
 * A layout that does not fit its shape is refused here, so that sizes can be computed without
 * looking again.
 */
#include "hlo/read.h"

/* The layout is read last, when the rank is known: it may come first on the wire. */
struct shape_proto {
	struct shape s;
	struct str layout;
	ptrdiff_t order_count; /* of s.minor_to_major */
	struct hlo_dims dynamic;
};

static const struct read_rule tile_table_rules[] = {
	[1] = READ_NUMBERS(struct tile, dims, rank),
};
READ_TABLE(tile_table, "TileProto");

static const char *tile_why(const struct tile *t)
{
	if (t->rank > TILE_MAX_RANK)
		return "a tile has too many dimensions";
	for (ptrdiff_t i = 0; i < t->rank; i++)
		if (t->dims[i] <= 0 && t->dims[i] != TILE_COMBINE)
			return "a tile's dimension is not positive";
	if (t->rank && t->dims[t->rank - 1] == TILE_COMBINE)
		return "a tile's last dimension has nothing to be combined with";
	return NULL;
}

static bool read_tile(struct reader *r, const struct wire_field *f, void *into)
{
	struct shape *s = &((struct shape_proto *)into)->s;
	struct tile tile = { NULL, 0 };
	if (!read_message(r, &tile_table, f->bytes, &tile))
		return false;
	const char *why = tile_why(&tile);
	if (!why && s->tile_count == LAYOUT_MAX_TILES)
		why = "a layout has too many tiles";
	if (why)
		return read_refuse(r, f->bytes, tile_table.message, why);
	*READ_PUSH(r->keep, s->tiles, s->tile_count) = tile;
	return true;
}

static const struct read_rule layout_table_rules[] = {
	[1] = READ_NUMBERS(struct shape_proto, s.minor_to_major, order_count),
	[6] = { .kind = READ_CALL, .read = read_tile },
	[7] = READ_FIELD(INT, struct shape_proto, s.element_bits),
	[8] = READ_FIELD(INT, struct shape_proto, s.memory_space),
	[15] = READ_FIELD(INT, struct shape_proto, s.metadata_bytes),
	[16] = READ_FIELD(INT, struct shape_proto, s.tail_alignment),
};
READ_TABLE(layout_table, "LayoutProto");

static const char *layout_why(const struct shape_proto *p)
{
	const struct shape *s = &p->s;
	uint64_t seen = 0;
	if (s->element_bits < 0 || s->element_bits > ELEMENT_MAX_BITS)
		return "an element cannot have that many bits";
	if (s->metadata_bytes < 0 || s->metadata_bytes > LAYOUT_MAX_NUMBER)
		return "the dynamic shape prefix has an impossible size";
	if (s->tail_alignment < 0 || s->tail_alignment > LAYOUT_MAX_NUMBER)
		return "the tail alignment is impossible";
	if (!s->has_layout)
		return NULL;
	if (p->order_count != s->rank)
		return "the layout names another number of dimensions than the shape has";
	for (ptrdiff_t i = 0; i < s->rank; i++) {
		int64_t dim = s->minor_to_major[i];
		if (dim < 0 || dim >= s->rank || (seen >> dim & 1))
			return "the layout is no order of the shape's dimensions";
		seen |= (uint64_t)1 << dim;
	}
	return NULL;
}

static bool read_element(struct reader *r, const struct wire_field *f, void *into)
{
	struct shape *s = &((struct shape_proto *)into)->s;
	if (s->leaves >= SHAPE_MAX_LEAVES || s->element_count >= SHAPE_MAX_LEAVES)
		return read_refuse(r, f->bytes, "ShapeProto", "a tuple has too many leaves");
	struct shape element;
	if (!read_shape(r, f->bytes, &element))
		return false;
	element.leaf_first = s->leaves;
	s->leaves += element.leaves;
	*READ_PUSH(r->keep, s->elements, s->element_count) = element;
	return true;
}

static const struct read_rule shape_table_rules[] = {
	[2] = READ_FIELD(DTYPE, struct shape_proto, s.dtype),
	[3] = READ_NUMBERS(struct shape_proto, s.dims, s.rank),
	[4] = { .kind = READ_CALL, .read = read_element },
	[5] = READ_FIELD(STR, struct shape_proto, layout),
	[6] = READ_DIMS(struct shape_proto, dynamic),
};
READ_TABLE(shape_table, "ShapeProto");

static const char *dims_why(const struct shape *s)
{
	if (s->rank > SHAPE_MAX_RANK)
		return "the shape has too many dimensions";
	for (ptrdiff_t i = 0; i < s->rank; i++)
		if (s->dims[i] < 0 && s->dims[i] != DIM_UNBOUNDED)
			return "a dimension is negative";
	return NULL;
}

/* A default layout, which old writers left empty, orders nothing. */
static bool read_layout(struct reader *r, struct shape_proto *p)
{
	struct shape plain = p->s;
	if (!read_message(r, &layout_table, p->layout, p))
		return false;
	p->s.has_layout = p->order_count || !p->s.rank || p->s.tile_count;
	const char *why = layout_why(p);
	if (why)
		return read_refuse(r, p->layout, layout_table.message, why);
	if (!p->s.has_layout)
		p->s = plain;
	return true;
}

bool read_shape(struct reader *r, struct str message, struct shape *ret)
{
	struct shape_proto p = { .layout = { NULL, 0 } };
	struct shape *s = &p.s;
	if (r->depth == SHAPE_MAX_DEPTH)
		return read_refuse(r, message, shape_table.message, "tuples are nested too deeply");
	r->depth++;
	bool ok = read_message(r, &shape_table, message, &p);
	r->depth--;
	if (!ok)
		return false;
	const char *why = dims_why(s);
	bool tuple = s->dtype == DTYPE_TUPLE || s->dtype == DTYPE_BUFFER;
	if (!why && !tuple && s->element_count)
		why = "an array has tuple elements";
	if (why)
		return read_refuse(r, message, shape_table.message, why);
	if (tuple)
		s->rank = 0;
	else
		s->leaves = 1;
	for (ptrdiff_t i = 0; i < s->rank && i < p.dynamic.count; i++)
		s->dynamic_dims |= (uint64_t)(p.dynamic.items[i] != 0) << i;
	s->is_dynamic = s->dynamic_dims != 0;
	if (!tuple && p.layout.p && !read_layout(r, &p))
		return false;
	shape_complete(s, r->keep);
	*ret = *s;
	return true;
}
