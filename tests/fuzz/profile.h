/*
 * A profile read whole, for the targets of its readers: merges over the device planes and cursors
 * over all lanes, twice; both readings must agree, and times must leave room for sums.
 */
#ifndef FUZZ_PROFILE_H
#define FUZZ_PROFILE_H

#include "profile/xplane.h"
#include "tests/fuzz/fuzz.h"

/* A lane found out of order begins its plane anew. */
enum { MERGES_MAX = 64 };

static struct diag err;

static void check_times(int64_t start_ps, int64_t end_ps)
{
	require(end_ps >= start_ps);
	require(start_ps >= -(INT64_MAX / 4) && end_ps <= INT64_MAX / 2);
}

static uint64_t mix(uint64_t hash, int64_t value)
{
	return (hash ^ (uint64_t)value) * UINT64_C(0x100000001b3);
}

/* True when the plane was read; its events as a hash. */
static bool merge_once(struct plane *p, struct arena *keep, uint64_t *hash)
{
	struct merge *m = merge_new(p, keep);
	const struct op_event *e;
	int64_t last_ps = INT64_MIN;

	*hash = 0;
	while ((e = merge_next(m))) {
		check_times(e->start_ps, e->end_ps);
		require(e->start_ps >= last_ps);
		require(e->op == OP_EXECUTION || (e->op >= 0 && e->op < p->op_count));
		require(e->lane >= 0 && e->lane < p->lane_count);
		last_ps = e->start_ps;
		*hash = mix(mix(mix(*hash, e->start_ps), e->end_ps), e->op);
	}
	bool ok = merge_end(m, &err);
	require(ok || err.id == DIAG_NONE || err.text[0]);
	merge_free(m);
	return ok;
}

static bool merge_plane(struct plane *p, struct arena scratch, uint64_t *hash)
{
	bool ok = false;

	for (int i = 0; i < MERGES_MAX && !ok; i++) {
		plane_forget(p);
		plane_learn(p, &scratch);
		ok = merge_once(p, &scratch, hash);
		if (!ok && err.id != DIAG_NONE)
			break;
	}
	plane_forget(p);
	return ok;
}

static void read_lane(const struct plane *p, const struct lane *l, uint64_t want, uint64_t classes,
	struct arena scratch)
{
	struct cursor *c = cursor_new(p, l, want, &scratch);
	struct event *e = arena_make(&scratch, struct event, 1);

	cursor_only(c, classes);
	while (cursor_next(c, e)) {
		check_times(e->start_ps, e->end_ps);
		require(classes >> e->host & 1);
	}
	require(cursor_end(c, &err) || err.text[0]);
}

static void read_plane(struct plane *p, struct arena scratch)
{
	uint64_t first = 0, again = 0;

	if (p->class == PLANE_DEVICE || p->class == PLANE_SPARSE) {
		bool ok = merge_plane(p, scratch, &first);
		require(merge_plane(p, scratch, &again) == ok && (!ok || first == again));
	}
	plane_learn(p, &scratch);
	for (ptrdiff_t i = 0; i < p->lane_count; i++) {
		read_lane(p, &p->lanes[i], UINT64_MAX, UINT64_MAX, scratch);
		read_lane(p, &p->lanes[i], 0, 1u << HOST_STEP | 1u << HOST_ALLOCATION, scratch);
	}
	plane_forget(p);
}

static inline void read_profile(struct profile *profile, struct arena scratch)
{
	for (ptrdiff_t i = 0; i < profile->plane_count; i++)
		read_plane(&profile->planes[i], scratch);
}

#endif
