/*
 * XLA:CPU has no device planes: its ops stand on host threads, and an ordinal among an event's
 * stats says which (virtual) device ran it.  A thread is not a device, so every ordinal gets a
 * plane that shares the host plane's lanes and names, and takes its own events.  Writers before
 * jaxlib 0.7.2 give no ordinal: the ops of all devices are then in one plane, which is reported.
 */
#include "profile/xplane.h"

/* Virtual devices of one process; jobs have a few hundred at most. */
#define CPU_MAX_DEVICES 1024
/* JAX numbers the devices of process k from 2048 k on. */
#define CPU_PROCESS_ORDINALS 2048

/*
 * Marks the ordinals that ran ops, from the process's first on, the lanes they ran on, and tells
 * whether any op named one.
 */
static bool ordinals_scan(const struct plane *host, bool *ordinals, int64_t *first, bool *lanes,
	bool *told, struct diag *err)
{
	/* On GPU the host's launches carry an op too, and the id that ties them to a kernel. */
	uint64_t want = STAT_BIT(HLO_OP) | STAT_BIT(DEVICE_ORDINAL) | STAT_BIT(CORRELATION_ID) |
			STAT_BIT(RUN_ID);

	for (ptrdiff_t i = 0; i < host->lane_count; i++) {
		struct lane_walk w = lane_walk_new(host, &host->lanes[i]);
		struct raw_event raw;

		while (lane_walk_next(&w, &raw)) {
			struct stats s;
			s.present = 0;
			if (!event_stats_read(w.part, &raw, want, &s, &w.fail))
				break;
			int64_t said = cpu_ordinal(&s), n = said < 0 ? 0 : said;
			bool op = s.present & STAT_BIT(HLO_OP) &&
				  !(s.present & STAT_BIT(CORRELATION_ID));
			lanes[i] |= cpu_execution_is(&s);
			if (!op || n > INT32_MAX)
				continue;
			if (*first < 0)
				*first = n - n % CPU_PROCESS_ORDINALS;
			if (n < *first || n - *first >= CPU_MAX_DEVICES)
				continue;
			ordinals[n - *first] = lanes[i] = true;
			*told |= said >= 0;
		}
		if (w.fail.why)
			return wire_error(&w.fail, host->profile->input->bytes, "XEvent", err);
	}
	return true;
}

bool cpu_planes(struct profile *profile, struct arena *keep, struct diag *err)
{
	bool ordinals[CPU_MAX_DEVICES] = { 0 }, told = false, has_device = false;
	const struct plane *host = NULL;
	uint64_t known = 0;
	int64_t first = -1;

	for (ptrdiff_t i = profile->plane_count - 1; i >= 0; i--) {
		has_device |= profile->planes[i].class == PLANE_DEVICE;
		if (profile->planes[i].class == PLANE_HOST)
			host = &profile->planes[i];
	}
	for (ptrdiff_t i = 0; host && i < host->part_count; i++)
		known |= host->parts[i].known;
	if (has_device || !(known & STAT_BIT(HLO_OP)))
		return true;
	bool *ran = arena_make(keep, bool, host->lane_count);
	if (!ordinals_scan(host, ordinals, &first, ran, &told, err))
		return false;
	profile->devices_mixed = !told;
	struct plane shared = *host;
	ptrdiff_t cap = profile->plane_count;
	for (int i = 0; i < CPU_MAX_DEVICES; i++) {
		int64_t ordinal = first + i;

		if (!ordinals[i])
			continue;
		struct plane *p = arena_push(keep, profile->planes, profile->plane_count, cap);
		*p = shared;
		p->name = arena_fmt(keep, "/device:CPU:%lld", (long long)ordinal);
		p->class = PLANE_DEVICE;
		p->platform = PLATFORM_CPU;
		p->ordinal = ordinal;
		p->lanes = arena_make(keep, struct lane, shared.lane_count);
		for (ptrdiff_t k = 0; k < shared.lane_count; k++) {
			p->lanes[k] = shared.lanes[k];
			p->lanes[k].class = ran[k] ? LANE_OPS : LANE_OTHER;
		}
	}
	return true;
}
