/*
 * Looking into fusions, calls and async wrappers.
 *
 * Computations may be shared by many callers, so a walk of everything inside can take exponential
 * time on a crafted module: every walk has a budget of instructions and says when it ran out.
 *
 * Private to hlo/.
 */
#ifndef HLO_INSIDE_H
#define HLO_INSIDE_H

#include "hlo/module.h"

/* More than any fusion or wrapped computation met; a fused scan body has a few thousand. */
#define INSIDE_BUDGET 65536

/* Called for every instruction that is no wrapper itself; false ends the walk. */
typedef bool inside_fn(void *arg, const struct hlo_module *m, ptrdiff_t instruction);
/* False when ended by the visitor or the budget. */
bool inside_walk(const struct hlo_module *m, ptrdiff_t wrapper, inside_fn *visit, void *arg);

bool is_wrapper(const struct hlo_instruction *i);
/* The root of the first computation that `i` calls, through bitcasts; -1 if there is none. */
ptrdiff_t inside_root(const struct hlo_module *m, const struct hlo_instruction *i);

/* TPU fusions that begin or end a collective which runs beside others. */
bool is_async_collective_start(const struct hlo_module *m, const struct hlo_instruction *i);
bool is_async_collective_done(const struct hlo_module *m, const struct hlo_instruction *i);

/* The collective that an op is, or KIND_UNKNOWN: an all-reduce that a TPU fusion slices down to
 * each device's share is a reduce-scatter. */
enum op_kind collective_kind(const struct hlo_module *m, const struct hlo_instruction *wrapper,
	const struct hlo_instruction *collective);

#endif
