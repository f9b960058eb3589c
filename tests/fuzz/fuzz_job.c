/*
 * Any bytes as a job file: it is refused with a place, or no figure of it is negative, and what
 * runs on more devices needs no more memory on one of them.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/text.h"
#include "measure/job.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
	if (!truth)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct arena keep;
	struct diag err = { 0 };
	struct job_file job;
	if (!keep.base)
		keep = arena_new(ARENA_SCRATCH_BYTES);
	arena_clear(&keep);
	struct str text = { size ? (const char *)data : "", (ptrdiff_t)size };
	if (!job_parse(STR("f"), text, &keep, &job, &err)) {
		require(err.id != DIAG_NONE && str_starts(str_from(err.text), STR("f:")));
		return 0;
	}
	require(text_is_clean(job.labels) && text_is_clean(job.mesh) && text_is_clean(job.owner));
	for (int phase = JOB_PHASE_UNSAID; phase <= JOB_INFERENCE; phase++) {
		require(!(job_model_flops(&job, (enum job_phase)phase) < 0));
		require(!(job_hardware_flops(&job, (enum job_phase)phase) < 0));
	}
	require(!(job_memory_bytes(&job, 1) < job_memory_bytes(&job, 8)));
	require(!(job_bubble(&job) < 0) && !(job_bubble(&job) > 1));
	return 0;
}
