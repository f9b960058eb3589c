/*
 * What a compiled program needs in memory, per memory space, and what is alive at the peak.
 *
 * Allocated is what the runtime sets aside: indefinite allocations (parameters, constants,
 * live-outs) and the one that temporaries share, holes between them included.  In use at most is
 * the peak of the heap-simulator trace of that space in place of the latter.  Donated parameters
 * are one allocation with their output and count once.
 *
 * Thread-local allocations are apart: they are how called computations see their arguments and
 * results, which are the caller's buffers (a TPU program lists 150 MB of them for its
 * SparseCore calls).  XLA's CompiledMemoryStats leave them out too.
 *
 * Where the module has no such message, the texts that XLA dumps beside it take its place: the
 * buffer assignment, which has no trace, or the memory usage report, which has a total.
 *
 * Source: BufferAssignmentProto and HeapSimulatorTrace of XLA's hlo.proto; the method is that of
 * XProf's memory viewer.  The texts are XLA's BufferAllocation::ToString and MemoryUsageReport.
 */
#ifndef HLO_MEMORY_H
#define HLO_MEMORY_H

#include "hlo/module.h"

#define HLO_MAX_LIVE 4096 /* live buffers kept, the largest */

struct hlo_live_buffer {
	ptrdiff_t instruction;	/* -1 unknown */
	struct str name;	/* of the instruction */
	struct shape shape;	/* the leaf */
	struct str kind;	/* "parameter", "output", "constant", "temp", "hole" */
	int64_t bytes;		/* as allocated: padded */
	int64_t unpadded_bytes; /* elements alone; 0 of an allocation that buffers share */
};

struct hlo_memory {
	int64_t space;		 /* the colour these figures are of */
	int64_t allocated_bytes; /* sum of the allocations */
	int64_t arguments_bytes, output_bytes, temp_bytes, alias_bytes;
	int64_t peak_bytes;	      /* in use at most; without a trace, what is allocated */
	bool from_trace;	      /* `live` are the trace's buffers */
	bool total_only;	      /* the parts are not known */
	struct hlo_live_buffer *live; /* at the peak, largest first */
	ptrdiff_t live_count;
};

/* False with err->id DIAG_NONE when the module carries no buffer assignment and no text of one. */
bool hlo_memory(const struct hlo_module *m, int64_t space, struct arena *keep,
	struct hlo_memory *ret, struct diag *err);

/* Bytes in use over a stretch of the program's schedule; indefinite allocations are in both. */
struct hlo_memory_point {
	int64_t most, least;
};

/*
 * The same replay as a curve: at most `most` points, of equally many heap events each.  Returns how
 * many; 0 when there is no trace, or it cannot be read.
 */
ptrdiff_t hlo_memory_points(const struct hlo_module *m, struct arena *keep,
	struct hlo_memory_point *ret, ptrdiff_t most, int64_t *events);

/*
 * Padded bytes of outputs that could live in the memory of a parameter of the same type and
 * dimensions, when that parameter's memory was not donated to any output.  Which output a donated
 * parameter took does not matter: pairs of equal shape are counted.
 */
int64_t hlo_undonated_bytes(const struct hlo_module *m, struct arena scratch);

/*
 * Does it hand back, changed, parameters that it also computes with, as a whole training step does
 * with its weights?  One that only makes gradients, or adds to what others made, does not.
 */
bool hlo_updates_weights(const struct hlo_module *m);

#endif
