/* What a profile lacks where a column is NULL, for those that say so alone.  See tables.h. */
#include "measure/tables.h"

#define NO_ALLOCATOR "the host's plane holds no memory events of an allocator"
#define NO_HOST	     "the profile holds no events of the host"

/* By name alone: a rule's own SELECT hands a column on under it. */
static const struct {
	struct str column, lacks;
} absences[] = {
	{ STR_INIT("window_peak_bytes"), STR_INIT(NO_ALLOCATOR) },
	{ STR_INIT("other_live_bytes"), STR_INIT(NO_ALLOCATOR) },
	{ STR_INIT("compiled_bytes"),
		STR_INIT("no program's HLO with its buffers is in the profile") },
	{ STR_INIT("compiles_in_steps"), STR_INIT(NO_HOST) },
	{ STR_INIT("input_wait_ratio"), STR_INIT(NO_HOST) },
	{ STR_INIT("sync_wait_ratio"), STR_INIT(NO_HOST) },
	{ STR_INIT("mfu"),
		STR_INIT("the job file does not say the model and its tokens, or contradicts the "
			 "profile") },
	{ STR_INIT("useful_flops_ratio"),
		STR_INIT("the job file contradicts the profile, or not all FLOPs are counted") },
	{ STR_INIT("remat_flops_ratio"),
		STR_INIT("nobody counted the FLOPs of too much of the compute time") },
	{ STR_INIT("slowness"), STR_INIT("only one device was recorded") },
	{ STR_INIT("all_hosts_read"),
		STR_INIT("not all hosts of the job were read (files are missing, or --hosts-sample "
			 "left them out), or nothing says how many it has") },
	{ STR_INIT("small_per_step"),
		STR_INIT("collectives of unknown size, or over links of unknown speed, could "
			 "decide it") },
};

struct str column_absence(const struct column *c)
{
	for (size_t i = 0; i < sizeof(absences) / sizeof(absences[0]); i++)
		if (str_eq(absences[i].column, c->name))
			return absences[i].lacks;
	return (struct str){ NULL, 0 };
}
