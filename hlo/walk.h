/*
 * From an operand to the array it stands for: back over ops that show, name or hand on what another
 * made.  Every walk of this kind is this one; they differ in what they see through.
 *
 * Refuses: ways that part.  What a loop carries has two ends: hlo/pairs.c.
 */
#ifndef HLO_WALK_H
#define HLO_WALK_H

#include "hlo/module.h"

enum hlo_through {
	THROUGH_BITCASTS = 1 << 0,
	THROUGH_RESHAPES = 1 << 1,
	THROUGH_COPIES = 1 << 2,   /* and casts to another type */
	THROUGH_ELEMENTS = 1 << 3, /* get-tuple-element; of a tuple made here, what was put in */
	THROUGH_DONES = 1 << 4,	   /* the ends of asynchronous pairs */
	THROUGH_MOVES = 1 << 5,	   /* slices, transposes, broadcasts, copies in the background */
	THROUGH_LAYERS = 1 << 6	   /* dynamic slices: one layer's share of stacked arrays */
};

/* The instruction at the end of the way; -1 when it leads to an operand that is not known. */
ptrdiff_t hlo_walk(const struct hlo_module *m, ptrdiff_t instruction, unsigned through);

/* What of enum hlo_through an opcode belongs to; 0 for one that makes something. */
unsigned hlo_seen_through(enum hlo_op op);

/* The operand that stands at an index of a tuple made here; -1 for anything else. */
ptrdiff_t hlo_tuple_element(const struct hlo_module *m, ptrdiff_t tuple, int64_t index);

/*
 * What an op takes first, so that two ops can be told to take one array: an op's result, of a tuple
 * one element, or of an array one slice.  Fusions that only cast or slice are looked into.
 */
struct hlo_array {
	ptrdiff_t instruction;		     /* -1 unknown */
	int64_t element;		     /* -1: the whole result */
	const struct hlo_instruction *slice; /* NULL: the whole array */
};

struct hlo_array hlo_array_taken(const struct hlo_module *m, ptrdiff_t instruction);
bool hlo_array_same(const struct hlo_array *a, const struct hlo_array *b);

#endif
