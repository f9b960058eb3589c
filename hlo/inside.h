/*
 * What is inside of computations: the raw material for telling what a fusion, a call or an async
 * wrapper is.
 *
 * Gathered once, callees before callers, because computations are shared: looking into them anew
 * from every caller would take exponential time on a crafted module.
 *
 * Private to hlo/.
 */
#ifndef HLO_INSIDE_H
#define HLO_INSIDE_H

#include "hlo/module.h"

struct hlo_inside {
	uint32_t kinds;	     /* 1 << kind of everything in it, and of what wrappers in it hold */
	bool has_small_work; /* slices, and arithmetic on indices: what no copy is spoilt by */
	bool only_hands_on;  /* nothing but copies, casts and slices of its parameters */
	bool only_moves;     /* the same, with padding, joining and reversing */
	bool slices;	     /* has a dynamic-slice */
	int targets;	     /* matmuls and collectives; 2 stands for several */
	ptrdiff_t target;    /* the instruction, when it is one */
	ptrdiff_t only;	     /* the one instruction that does anything; -1 none, or several */
};

/* `callees_first` lists all computations.  NULL in m->inside until then. */
void inside_gather(struct hlo_module *m, const ptrdiff_t *callees_first, struct arena *keep);

/* Of the first computation that `i` calls; NULL if it calls none, or is no wrapper. */
const struct hlo_inside *inside_of(const struct hlo_module *m, const struct hlo_instruction *i);

/* Fusions, calls, async starts, custom calls of computations.  Reducers and loop bodies are called
 * too, but what they hold is not what the op is. */
bool is_wrapper(const struct hlo_instruction *i);
/* The root of the first computation that `i` calls, through bitcasts; -1 if there is none. */
ptrdiff_t inside_root(const struct hlo_module *m, const struct hlo_instruction *i);

/* TPU fusions that begin or end a collective which runs beside others. */
enum collective_half { HALF_NONE, HALF_START, HALF_DONE };
enum collective_half collective_half(const struct hlo_module *m, const struct hlo_instruction *i);

/* The collective that an op is, or KIND_UNKNOWN: an all-reduce that a TPU fusion slices down to
 * each device's share is a reduce-scatter. */
enum op_kind collective_kind(const struct hlo_module *m, const struct hlo_instruction *collective);

/*
 * What the start of an asynchronous op brings from one memory to another, where the computation
 * that it wraps is not there: the first array of its results, of its first operand's type.  NULL
 * when it is anything else: collectives leave arrays in the memory where they were.
 *
 *	((s8[10485760]), s8[4194304]{S(1)}, s32[]) async-start(s8[10485760])	   a prefetch
 */
const struct shape *hollow_copy(const struct hlo_module *m, const struct hlo_instruction *i);

/* kind.c: the kind of an instruction without looking into what it calls. */
enum op_kind kind_alone(const struct hlo_module *m, const struct hlo_instruction *i);

#endif
