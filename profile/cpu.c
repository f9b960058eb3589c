/*
 * XLA:CPU has no device planes: its ops stand on host threads, and an ordinal among an event's
 * stats says which (virtual) device ran it.  A thread is not a device, so every ordinal gets a
 * plane that shares the host plane's lanes and names, and takes its own events.  Writers before
 * jaxlib 0.7.2 give no ordinal: the ops of all devices are then in one plane, which is told.
 */
#include "profile/xplane.h"

/* Virtual devices of one process; nobody runs more than a few hundred. */
#define CPU_MAX_DEVICES 1024

static bool has_device_plane(const struct profile *profile)
{
	for (ptrdiff_t i = 0; i < profile->plane_count; i++)
		if (profile->planes[i].class == PLANE_DEVICE)
			return true;
	return false;
}

/* Marks the ordinals that ran ops, the lanes they ran on, and tells whether any op named one. */
static bool ordinals_scan(
	const struct plane *host, bool *ordinals, bool *lanes, bool *told, struct diag *err)
{
	/* On GPU the host's launches carry an op too, and the id that ties them to a kernel. */
	uint64_t want = STAT_BIT(HLO_OP) | STAT_BIT(DEVICE_ORDINAL) | STAT_BIT(CORRELATION_ID);

	for (ptrdiff_t i = 0; i < host->lane_count; i++) {
		struct lane_walk w = lane_walk_new(host, &host->lanes[i]);
		struct raw_event raw;

		while (lane_walk_next(&w, &raw)) {
			struct stats s;
			s.present = 0;
			if (!event_stats_read(w.part, &raw, want, &s, &w.fail))
				break;
			int64_t n = s.present & STAT_BIT(DEVICE_ORDINAL)
					    ? s.at[STAT_DEVICE_ORDINAL].i64
					    : 0;
			bool op = s.present & STAT_BIT(HLO_OP) &&
				  !(s.present & STAT_BIT(CORRELATION_ID));
			if (!op || n < 0 || n >= CPU_MAX_DEVICES)
				continue;
			ordinals[n] = lanes[i] = true;
			*told |= (s.present & STAT_BIT(DEVICE_ORDINAL)) != 0;
		}
		if (w.fail.why)
			return wire_error(&w.fail, host->profile->input->bytes, "XEvent", err);
	}
	return true;
}

static void plane_for(struct plane *p, const struct plane *host, int64_t ordinal, const bool *ran,
	struct arena *keep)
{
	*p = *host;
	p->name = arena_fmt(keep, "/device:CPU:%lld", (long long)ordinal);
	p->class = PLANE_DEVICE;
	p->platform = PLATFORM_CPU;
	p->ordinal = ordinal;
	p->lanes = arena_make(keep, struct lane, host->lane_count);
	for (ptrdiff_t i = 0; i < host->lane_count; i++) {
		p->lanes[i] = host->lanes[i];
		p->lanes[i].class = ran[i] ? LANE_OPS : LANE_OTHER;
	}
}

static struct plane *host_plane(struct profile *profile)
{
	for (ptrdiff_t i = 0; i < profile->plane_count; i++)
		if (profile->planes[i].class == PLANE_HOST)
			return &profile->planes[i];
	return NULL;
}

bool cpu_planes(struct profile *profile, struct arena *keep, struct diag *err)
{
	struct plane *host = host_plane(profile);
	bool ordinals[CPU_MAX_DEVICES] = { 0 }, told = false;

	if (!host || has_device_plane(profile))
		return true;
	uint64_t known = 0;
	for (ptrdiff_t i = 0; i < host->part_count; i++)
		known |= host->parts[i].known;
	if (!(known & STAT_BIT(HLO_OP)))
		return true;
	bool *lanes = arena_make(keep, bool, host->lane_count);
	if (!ordinals_scan(host, ordinals, lanes, &told, err))
		return false;
	profile->devices_mixed = !told;
	ptrdiff_t extra = 0;
	for (int i = 0; i < CPU_MAX_DEVICES; i++)
		extra += ordinals[i];
	struct plane *planes = arena_make(keep, struct plane, profile->plane_count + extra);
	memcpy(planes, profile->planes, (size_t)profile->plane_count * sizeof(*planes));
	host = &planes[host - profile->planes];
	profile->planes = planes;
	for (int i = 0; i < CPU_MAX_DEVICES; i++)
		if (ordinals[i])
			plane_for(&planes[profile->plane_count++], host, i, lanes, keep);
	return true;
}
