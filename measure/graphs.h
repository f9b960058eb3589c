/*
 * Which instructions the kernels of CUDA graphs run.
 *
 * XLA launches a stretch of a program at once, and the profiler names that stretch
 * ("command_buffer_1") in place of each kernel's instruction.  It does number the nodes of the
 * graph.  XLA makes a graph by walking the schedule, so its kernels run in the order of the
 * program's instructions.  Those that XLA compiles bear the name of theirs, or of an instruction
 * alike that was compiled before:
 *
 *	kernels   loop_fusion_3  Memset  nvjet_..  loop_fusion_3   gemm_fusion_7
 *	schedule  loop_fusion.3  custom-call.1     loop_fusion.4   gemm_fusion.7
 *
 * A library's kernels bear names of its own.  They belong to what stands between the neighbours.
 * Where there is more than one way to do that, they differ by name alone, as kernels of no
 * program are.
 */
#ifndef MEASURE_GRAPHS_H
#define MEASURE_GRAPHS_H

#include "measure/subject.h"

/*
 * Reads a learned plane to its end and settles plane->nodes.  Its events are read again then: which
 * nodes a launch has is known only when they have run.  Bytes that cannot be read end the reading:
 * the sweep reports them.
 */
void graphs_read(struct plane *p, struct registry *r, struct arena scratch);

/*
 * For kernels of one graph, in the order in which they first ran, the instruction of each; -1 where
 * it is not known.
 */
void graph_align(const struct hlo_module *m, const struct profile_op *const *kernels,
	ptrdiff_t count, enum platform platform, ptrdiff_t *ret, struct arena scratch);

#endif
