/*
 * Shapes and layouts: what an array is, and how many bytes it occupies where.
 *
 * Logical bytes are the elements alone; padded bytes are what the layout's tiles make of them.
 * The two are never mixed: on TPU narrow arrays differ by up to 128x.
 *
 * Sources: XLA's xla_data.proto (ShapeProto, LayoutProto) and its tiled-layout page; text as
 * printed by xla/layout.cc.
 *
 * Refuses: deciding whether a memory space is HBM.  That depends on the platform (S(1) is VMEM on
 * TPU and HBM on GPU); see hlo_space in hlo/cost.h.
 */
#ifndef HLO_SHAPE_H
#define HLO_SHAPE_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/kind.h"
#include "base/out.h"
#include "base/str.h"

#define SHAPE_MAX_RANK	  64	/* XLA itself refuses more than 8 on most backends */
#define SHAPE_MAX_DEPTH	  16	/* tuples within tuples; real modules stay below 4 */
#define SHAPE_MAX_LEAVES  65536 /* a combined collective or a while state of a large model */
#define LAYOUT_MAX_TILES  8
#define LAYOUT_MAX_NUMBER ((int64_t)1 << 31) /* alignments and prefixes are a few words */
#define ELEMENT_MAX_BITS  1024	    /* wider than any format's, small enough for sums of sizes */
#define TILE_MAX_RANK	  16	    /* tiles met in the wild have at most 5 */
#define SHAPE_HOST_SPACE  5	    /* S(5) */
#define DIM_UNBOUNDED	  INT64_MIN /* "?": makes every size INT64_MAX, that is, unknown */
#define TILE_COMBINE	  INT64_MIN /* "*" in a tile: folded into the next more minor dimension */

struct tile {
	int64_t *dims;
	ptrdiff_t rank;
};

/* A tuple may be large and have many users: its sizes are added up once. */
struct shape_sums {
	int64_t elements, logical, padded;
};

struct shape {
	enum dtype dtype; /* DTYPE_TUPLE for tuples */
	bool is_dynamic;  /* some dimension is a bound only */
	bool has_layout;
	bool on_host; /* a leaf has memory space 5, the host's on every platform */
	ptrdiff_t rank;
	int64_t *dims;		 /* bounds where dynamic */
	uint64_t dynamic_dims;	 /* bit i: dims[i] is a bound */
	int64_t *minor_to_major; /* rank entries when has_layout */
	struct tile *tiles;
	ptrdiff_t tile_count;
	int64_t element_bits;	/* E(n): 0 when the type's own width holds */
	int64_t tail_alignment; /* L(n): elements, 0 or 1 for none */
	int64_t metadata_bytes; /* M(n): dynamic shape prefix */
	int64_t memory_space;	/* S(n): 0 default */
	struct shape *elements; /* of a tuple, arrays or inner tuples; of a buffer, its array */
	ptrdiff_t element_count;
	ptrdiff_t leaves;	       /* leaves below it; 1 for anything that is no tuple */
	ptrdiff_t leaf_first;	       /* leaves of the siblings before it in its tuple */
	const struct shape_sums *sums; /* of a tuple read from a file; NULL: added up when asked */
};

/*
 * From text, e.g. "bf16[32,8192]{1,0:T(8,128)(2,1)S(1)}"; XLA's own grammar.
 * *rest is what follows.  The error names the column.
 */
bool shape_parse(
	struct str text, struct arena *keep, struct shape *ret, struct str *rest, struct diag *err);
struct str shape_text(const struct shape *s, bool with_layout, struct arena *keep);

/* Elements of an array; of a tuple, the sum over its leaves.  Saturates at INT64_MAX. */
int64_t shape_elements(const struct shape *s);
/*
 * Bytes of the elements alone, packed as a narrower E(n) says, else as the type is stored; a tuple
 * is the sum of its leaves (XLA's pointer table not counted); tokens and opaques are 0.
 */
int64_t shape_logical_bytes(const struct shape *s);
/* Bytes with tiles, element width, alignment and prefix; equal to logical without those. */
int64_t shape_padded_bytes(const struct shape *s);

/* Of one type and dimensions; `placed`: in one memory space and of one padded size, too. */
bool shape_equal(const struct shape *a, const struct shape *b, bool placed);

/* For the readers: what is known of a shape once it is complete (on_host, sums). */
void shape_complete(struct shape *s, struct arena *keep);

/* The i-th leaf (array, token or opaque), in order; NULL past the end.  A lone array is its own
 * leaf 0. */
const struct shape *shape_leaf(const struct shape *s, ptrdiff_t i);

#endif
