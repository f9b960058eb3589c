/*
 * Shapes from the wire: ShapeProto, LayoutProto and TileProto of XLA's xla_data.proto.
 *
 * A layout that does not fit its shape is refused here, so that sizes can be computed without
 * looking again.
 */
#include "hlo/read.h"

struct layout {
	struct hlo_dims minor_to_major;
	struct tile tiles[LAYOUT_MAX_TILES];
	ptrdiff_t tile_count;
	int64_t element_bits, memory_space, metadata_bytes, tail_alignment;
};

struct tile_proto {
	struct hlo_dims dims;
};

static const struct read_rule tile_table_rules[] = {
	[1] = READ_FIELD(INTS, struct tile_proto, dims),
};
READ_TABLE(tile_table, "TileProto");

static const char *tile_why(const struct hlo_dims *dims)
{
	if (dims->count > TILE_MAX_RANK)
		return "a tile has too many dimensions";
	for (ptrdiff_t i = 0; i < dims->count; i++)
		if (dims->items[i] <= 0 && dims->items[i] != TILE_COMBINE)
			return "a tile's dimension is not positive";
	if (dims->count && dims->items[dims->count - 1] == TILE_COMBINE)
		return "a tile's last dimension has nothing to be combined with";
	return NULL;
}

static bool read_tile(struct reader *r, const struct wire_field *f, void *into)
{
	struct layout *layout = into;
	struct tile_proto proto = { 0 };
	if (!read_message(r, &tile_table, f->bytes, &proto))
		return false;
	const char *why = tile_why(&proto.dims);
	if (!why && layout->tile_count == LAYOUT_MAX_TILES)
		why = "a layout has too many tiles";
	if (why)
		return read_refuse(r, f->bytes, tile_table.message, why);
	layout->tiles[layout->tile_count++] = (struct tile){ proto.dims.items, proto.dims.count };
	return true;
}

static const struct read_rule layout_table_rules[] = {
	[1] = READ_FIELD(INTS, struct layout, minor_to_major),
	[6] = { .kind = READ_CALL, .read = read_tile },
	[7] = READ_FIELD(INT, struct layout, element_bits),
	[8] = READ_FIELD(INT, struct layout, memory_space),
	[15] = READ_FIELD(INT, struct layout, metadata_bytes),
	[16] = READ_FIELD(INT, struct layout, tail_alignment),
};
READ_TABLE(layout_table, "LayoutProto");

static const char *layout_why(const struct layout *l)
{
	if (l->element_bits < 0 || l->element_bits > ELEMENT_MAX_BITS)
		return "an element cannot have that many bits";
	if (l->metadata_bytes < 0 || l->metadata_bytes > LAYOUT_MAX_NUMBER)
		return "the dynamic shape prefix has an impossible size";
	if (l->tail_alignment < 0 || l->tail_alignment > LAYOUT_MAX_NUMBER)
		return "the tail alignment is impossible";
	return NULL;
}

static void layout_keep(struct reader *r, const struct layout *l, struct shape *s)
{
	s->has_layout = true;
	s->minor_to_major = l->minor_to_major.items;
	s->element_bits = (int)l->element_bits;
	s->memory_space = l->memory_space;
	s->metadata_bytes = l->metadata_bytes;
	s->tail_alignment = l->tail_alignment;
	s->tile_count = l->tile_count;
	s->tiles = arena_make(r->keep, struct tile, l->tile_count);
	memcpy(s->tiles, l->tiles, (size_t)l->tile_count * sizeof(s->tiles[0]));
}

static const char *order_why(const struct hlo_dims *order, ptrdiff_t rank)
{
	uint64_t seen = 0;
	if (order->count != rank)
		return "the layout names another number of dimensions than the shape has";
	for (ptrdiff_t i = 0; i < rank; i++) {
		int64_t dim = order->items[i];
		if (dim < 0 || dim >= rank || (seen >> dim & 1))
			return "the layout is no order of the shape's dimensions";
		seen |= (uint64_t)1 << dim;
	}
	return NULL;
}

/* Read last, when the rank is known: the layout may come before the dimensions on the wire. */
static bool read_layout(struct reader *r, struct str message, struct shape *s)
{
	struct layout layout = { 0 };
	if (!read_message(r, &layout_table, message, &layout))
		return false;
	const char *why = layout_why(&layout);
	/* A tuple's layout, and a default layout that old writers left empty, order nothing. */
	if (!why && layout.minor_to_major.count == 0 && s->rank > 0 && !layout.tile_count)
		return true;
	if (!why)
		why = order_why(&layout.minor_to_major, s->rank);
	if (why)
		return read_refuse(r, message, layout_table.message, why);
	layout_keep(r, &layout, s);
	return true;
}

struct shape_proto {
	struct shape *shape;
	enum dtype dtype;
	struct hlo_dims dims, dynamic;
	struct str layout;
};

static bool read_element(struct reader *r, const struct wire_field *f, void *into)
{
	struct shape *s = ((struct shape_proto *)into)->shape;
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
	[2] = READ_FIELD(DTYPE, struct shape_proto, dtype),
	[3] = READ_FIELD(INTS, struct shape_proto, dims),
	[4] = { .kind = READ_CALL, .read = read_element },
	[5] = READ_FIELD(STR, struct shape_proto, layout),
	[6] = READ_FIELD(INTS, struct shape_proto, dynamic),
};
READ_TABLE(shape_table, "ShapeProto");

static const char *dims_why(const struct hlo_dims *dims)
{
	if (dims->count > SHAPE_MAX_RANK)
		return "the shape has too many dimensions";
	for (ptrdiff_t i = 0; i < dims->count; i++)
		if (dims->items[i] < 0 && dims->items[i] != DIM_UNBOUNDED)
			return "a dimension is negative";
	return NULL;
}

static uint64_t dynamic_bits(const struct hlo_dims *flags, ptrdiff_t rank)
{
	uint64_t bits = 0;
	for (ptrdiff_t i = 0; i < rank && i < flags->count; i++)
		bits |= (uint64_t)(flags->items[i] != 0) << i;
	return bits;
}

static bool shape_finish(struct reader *r, struct str message, const struct shape_proto *p)
{
	struct shape *s = p->shape;
	const char *why = dims_why(&p->dims);
	s->dtype = p->dtype;
	bool tuple = s->dtype == DTYPE_TUPLE || s->dtype == DTYPE_BUFFER;
	if (!why && !tuple && s->element_count)
		why = "an array has tuple elements";
	if (why)
		return read_refuse(r, message, shape_table.message, why);
	if (tuple)
		return true;
	s->leaves = 1;
	s->rank = p->dims.count;
	s->dims = p->dims.items;
	s->dynamic_dims = dynamic_bits(&p->dynamic, s->rank);
	s->is_dynamic = s->dynamic_dims != 0;
	return !p->layout.p || read_layout(r, p->layout, s);
}

bool read_shape(struct reader *r, struct str message, struct shape *ret)
{
	struct shape_proto p = { .shape = ret };
	*ret = (struct shape){ 0 };
	if (r->depth == SHAPE_MAX_DEPTH)
		return read_refuse(r, message, shape_table.message, "tuples are nested too deeply");
	r->depth++;
	bool ok = read_message(r, &shape_table, message, &p);
	r->depth--;
	if (!ok || !shape_finish(r, message, &p))
		return false;
	shape_complete(ret, r->keep);
	return true;
}
