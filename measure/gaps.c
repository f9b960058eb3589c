/*
 * The table of gaps: idle time of the devices, and what the host was doing in it.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/text.h"
#include "measure/measured.h"

/* Gaps below this share of a step are the launch overhead of a healthy program. */
#define GAP_SHARE 0.001

/* Gaps of a job that have a row: more say nothing new, and memory must not grow with devices. */
#define GAP_ROWS ((ptrdiff_t)64 * SWEEP_MAX_GAPS)

/* A gap on the host's clock, and the host event that explains it best. */
struct host_gap {
	const struct device *device;
	const struct swept_gap *gap;
	int64_t start_ps, end_ps;
	struct str name; /* as the file has it; missing while nothing was found */
	enum host_class class;
	int64_t covered_ps, length_ps; /* of the event found */
};

static int64_t length_of(const struct swept_gap *g)
{
	return g->end_ps - g->start_ps;
}

static bool is_gap(const struct measured *m, const struct swept_gap *g)
{
	return (double)length_of(g) * PS >= GAP_SHARE * m->step_time_s;
}

static int gap_cmp(const void *a, const void *b)
{
	const struct host_gap *x = a, *y = b;
	int order = order_integers(x->device - y->device, 0);

	return order ? order : order_integers(x->start_ps, y->start_ps);
}

/* Of one host's devices: by device, then by start. */
static struct host_gap *gaps_collect(
	const struct measured *m, int32_t host, struct arena *keep, ptrdiff_t *count)
{
	struct host_gap *gaps = NULL;
	ptrdiff_t cap = 0;

	*count = 0;
	for (ptrdiff_t i = 0; i < m->device_count; i++) {
		const struct device *d = &m->devices[i];
		int64_t shift_ps = d->plane->host_shift_ps;
		for (ptrdiff_t k = 0; d->host == host && k < d->sweep.gap_count; k++) {
			const struct swept_gap *g = &d->sweep.gaps[k];
			if (is_gap(m, g))
				*arena_push(keep, gaps, *count, cap) =
					(struct host_gap){ .device = d,
						.gap = g,
						.start_ps = g->start_ps + shift_ps,
						.end_ps = g->end_ps + shift_ps };
		}
	}
	if (*count > 1)
		qsort(gaps, (size_t)*count, sizeof(*gaps), gap_cmp);
	return gaps;
}

/*
 * Of the events that cover most of a gap the shortest says what the host was at: the longer ones
 * are the functions around it.  While none does, the one that covers more.
 */
static void gap_meet(struct host_gap *g, const struct event *e)
{
	int64_t from = e->start_ps > g->start_ps ? e->start_ps : g->start_ps;
	int64_t to = e->end_ps < g->end_ps ? e->end_ps : g->end_ps;
	int64_t covered_ps = to - from, length_ps = e->end_ps - e->start_ps;
	int64_t half = (g->end_ps - g->start_ps) / 2;
	bool old_covers = g->covered_ps > half, new_covers = covered_ps > half;

	if (to <= from)
		return;
	if (g->name.p && (new_covers != old_covers ? old_covers
				 : new_covers	   ? length_ps >= g->length_ps
						   : covered_ps <= g->covered_ps))
		return;
	g->name = e->name;
	g->class = e->host;
	g->covered_ps = covered_ps;
	g->length_ps = length_ps;
}

/* A device's gaps are disjoint and in order, so those that an event meets are neighbours. */
static void event_explain(struct host_gap *gaps, ptrdiff_t count, const struct event *e)
{
	ptrdiff_t lo = 0, hi = count;

	while (lo < hi) {
		ptrdiff_t mid = lo + (hi - lo) / 2;
		if (gaps[mid].end_ps <= e->start_ps)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < count && gaps[lo].start_ps < e->end_ps; lo++)
		gap_meet(&gaps[lo], e);
}

static bool gaps_explain(const struct profile *host, struct host_gap *gaps, ptrdiff_t count,
	struct arena scratch, struct diag *err)
{
	ptrdiff_t *ends = arena_make(&scratch, ptrdiff_t, count), devices = 0;

	for (ptrdiff_t i = 0; i < count; i++) {
		devices += i == 0 || gaps[i].device != gaps[i - 1].device;
		ends[devices - 1] = i + 1;
	}
	struct event *e = arena_make(&scratch, struct event, 1);
	for (ptrdiff_t i = 0; devices > 0 && i < host->plane_count; i++) {
		const struct plane *p = &host->planes[i];
		for (ptrdiff_t k = 0; p->class == PLANE_HOST && k < p->lane_count; k++) {
			struct arena of_lane = scratch;
			struct cursor *c = cursor_new(p, &p->lanes[k], 0, &of_lane);
			while (cursor_next(c, e))
				for (ptrdiff_t d = 0, first = 0; d < devices && e->name.len > 0;
					first = ends[d++])
					event_explain(&gaps[first], ends[d] - first, e);
			if (!cursor_end(c, err))
				return false;
		}
	}
	return true;
}

static struct str cause_of(const struct host_gap *g)
{
	if (!g->name.p)
		return STR("unknown");
	switch (g->class) {
	case HOST_COMPILE:
	case HOST_COMPILER:
		return STR("compile");
	case HOST_TRANSFER:
		return STR("transfer");
	case HOST_INPUT:
		return STR("input");
	case HOST_SYNC:
		return STR("sync");
	default:
		return STR("host");
	}
}

/* Which gaps have a row: all that are longer than this, and some of those that are as long. */
struct gap_limit {
	int64_t longer_than_ps;
	ptrdiff_t as_long;
};

static struct gap_limit gap_limit(const struct measured *m, struct arena scratch)
{
	int64_t *lengths = arena_make(&scratch, int64_t, m->device_count * SWEEP_MAX_GAPS);
	ptrdiff_t n = 0, longer = 0;

	for (ptrdiff_t i = 0; i < m->device_count; i++)
		for (ptrdiff_t k = 0; k < m->devices[i].sweep.gap_count; k++)
			if (is_gap(m, &m->devices[i].sweep.gaps[k]))
				lengths[n++] = length_of(&m->devices[i].sweep.gaps[k]);
	if (n <= GAP_ROWS)
		return (struct gap_limit){ -1, 0 };
	sort_integers(lengths, n);
	int64_t last = lengths[n - GAP_ROWS];
	while (lengths[n - 1 - longer] > last)
		longer++;
	return (struct gap_limit){ last, GAP_ROWS - longer };
}

static void gap_row(struct measured *m, const struct host_gap *g)
{
	struct gaps_row *row = table_new(m->tables, gaps, m->keep);

	row->host = text_clean(m->keep, m->hosts[g->device->host].host);
	row->device = text_clean(m->keep, g->device->plane->name);
	row->step = (double)g->gap->step;
	row->start_s = (double)(g->gap->start_ps - g->device->sweep.first_ps) * PS;
	row->time_s = (double)length_of(g->gap) * PS;
	row->before = registry_subject_at(m->registry, g->gap->before)->name;
	row->after = registry_subject_at(m->registry, g->gap->after)->name;
	if (m->op_rows[g->gap->after] >= 0)
		row->key = table_rows(m->tables, ops)[m->op_rows[g->gap->after]].key;
	row->cause = cause_of(g);
	/* A copy: the name's page would come back for every row that is read. */
	row->host_activity = arena_str(m->keep, text_clean(m->keep, g->name));
}

bool fill_gaps(struct measured *m, struct gap_sums *ret, struct diag *err)
{
	struct arena work = arena_new(ARENA_SCRATCH_BYTES);
	struct gap_limit limit = gap_limit(m, work);
	bool ok = true;

	assert(m->op_rows);
	*ret = (struct gap_sums){ 0 };
	for (ptrdiff_t h = 0; ok && h < m->host_count; h++) {
		ptrdiff_t count;
		struct host_gap *gaps = gaps_collect(m, (int32_t)h, &work, &count);
		ok = gaps_explain(&m->hosts[h], gaps, count, work, err);
		for (ptrdiff_t i = 0; ok && i < count; i++) {
			const struct host_gap *g = &gaps[i];
			int64_t length_ps = length_of(g->gap);
			ret->all_s += (double)length_ps * PS;
			ret->input_s += g->class == HOST_INPUT ? (double)g->covered_ps * PS : 0;
			ret->sync_s += g->class == HOST_SYNC ? (double)g->covered_ps * PS : 0;
			if (length_ps > limit.longer_than_ps ||
				(length_ps == limit.longer_than_ps && limit.as_long-- > 0))
				gap_row(m, g);
		}
		profile_drop(&m->hosts[h]);
		arena_clear(&work);
	}
	arena_free(&work);
	return ok;
}
