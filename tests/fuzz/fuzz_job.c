/*
 * Any bytes as a job file: it is refused with a place, or no figure of it is negative, and what
 * runs on more devices needs no more memory on one of them.
 */
#include "base/text.h"
#include "measure/job.h"
#include "tests/fuzz/fuzz.h"

static void fuzz(struct str bytes, struct arena *keep)
{
	struct diag err = { 0 };
	struct job_file job;
	if (!job_parse(STR("f"), bytes, keep, &job, &err)) {
		require(err.id != DIAG_NONE && str_starts(str_from(err.text), STR("f:")));
		return;
	}
	require(text_is_clean(job.labels) && text_is_clean(job.mesh) && text_is_clean(job.owner));
	for (int phase = PHASE_UNKNOWN; phase <= PHASE_INFERENCE; phase++) {
		require(!(job_model_flops(&job, (enum phase)phase) < 0));
		require(!(job_hardware_flops(&job, (enum phase)phase) < 0));
	}
	require(!(job_memory_bytes(&job, 1) < job_memory_bytes(&job, 8)));
	require(!(job_bubble(&job) < 0) && !(job_bubble(&job) > 1));
}
