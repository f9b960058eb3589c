/*
 * SparseCores: how busy each was.  They work beside a chip's TensorCore, whose steps are theirs
 * too, and are no chips: of their ops only the time counts, as a union.
 */
#include "base/task.h"
#include "measure/writers.h"

struct sparse_core {
	struct plane *plane;
	const struct device *beside; /* the TensorCore of its chip; NULL: not recorded */
	int64_t events, busy_ps, first_ps, last_ps;
	int64_t steps_ps, steps_busy_ps; /* of the steady steps kept */
	ptrdiff_t step;			 /* the first that is not over */
	bool failed;
	struct diag err;
};

/* "/device:TPU:3 SparseCore 0" is beside "/device:TPU:3". */
static const struct device *device_beside(
	const struct run *run, int32_t host, const struct plane *p)
{
	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		const struct device *d = &run->devices[i];
		struct str name = d->plane->name;
		if (d->host == host && str_starts(p->name, name) && p->name.len > name.len &&
			p->name.p[name.len] == ' ')
			return d;
	}
	return NULL;
}

static void in_steps(struct sparse_core *c, int64_t from_ps, int64_t to_ps)
{
	const struct sweep *s = &c->beside->sweep;

	while (c->step < s->step_count && s->steps[c->step].end_ps <= from_ps)
		c->step++;
	for (ptrdiff_t i = c->step; i < s->step_count && s->steps[i].start_ps < to_ps; i++) {
		const struct swept_step *step = &s->steps[i];
		int64_t begin = from_ps > step->start_ps ? from_ps : step->start_ps;
		int64_t end = to_ps < step->end_ps ? to_ps : step->end_ps;
		if (step_is_steady(step) && end > begin)
			c->steps_busy_ps += end - begin;
	}
}

/* Events come by their start: what reaches beyond all before it is new. */
static void event_take(struct sparse_core *c, const struct op_event *e)
{
	int64_t from = c->events++ > 0 && c->last_ps > e->start_ps ? c->last_ps : e->start_ps;

	if (c->events == 1)
		c->first_ps = c->last_ps = e->start_ps;
	if (e->end_ps <= from)
		return;
	c->busy_ps += e->end_ps - from;
	c->last_ps = e->end_ps;
	if (c->beside)
		in_steps(c, from, e->end_ps);
}

static void core_read(void *cores, ptrdiff_t i)
{
	struct sparse_core *c = &((struct sparse_core *)cores)[i];
	struct arena work = arena_new(SWEEP_ARENA_BYTES);

	/* A second time when lanes were out of order, and were marked to be sorted. */
	for (int times = 0; times < 2; times++) {
		const struct op_event *e;
		plane_learn(c->plane, &work);
		struct merge *m = merge_new(c->plane, &work);
		c->events = c->busy_ps = c->steps_busy_ps = c->step = 0;
		while ((e = merge_next(m)))
			event_take(c, e);
		c->failed = !merge_end(m, &c->err);
		merge_free(m);
		plane_forget(c->plane);
		if (!c->failed || c->err.id != DIAG_NONE)
			break;
		arena_clear(&work);
	}
	for (ptrdiff_t k = 0; c->beside && k < c->beside->sweep.step_count; k++) {
		const struct swept_step *s = &c->beside->sweep.steps[k];
		c->steps_ps += step_is_steady(s) ? step_length_ps(s) : 0;
	}
	plane_drop(c->plane);
	arena_free(&work);
}

static void core_row(const struct run *run, const struct sparse_core *c)
{
	struct devices_row *row = device_row_new(run, c->plane, STR("sparse"));

	row->events = (double)c->events;
	row->window_s = (double)(c->events ? c->last_ps - c->first_ps : 0) * PS;
	row->busy_s = (double)c->busy_ps * PS;
	if (!c->beside || c->steps_ps <= 0)
		return;
	row->chip = c->beside->chip.chip ? c->beside->chip.chip->id : row->chip;
	row->steps = (double)c->beside->sweep.steady_count;
	row->busy_ratio = (double)c->steps_busy_ps / (double)c->steps_ps;
	row->idle_ratio = 1 - row->busy_ratio;
}

bool fill_sparse_cores(const struct run *run, struct diag *err)
{
	struct sparse_core *cores = NULL;
	ptrdiff_t count = 0, cap = 0;

	for (ptrdiff_t h = 0; h < run->host_count; h++)
		for (ptrdiff_t i = 0; i < run->hosts[h].plane_count; i++) {
			struct plane *p = &run->hosts[h].planes[i];
			if (p->class != PLANE_SPARSE)
				continue;
			struct sparse_core *c = arena_push(run->keep, cores, count, cap);
			c->plane = p;
			c->beside = device_beside(run, (int32_t)h, p);
		}
	task_threads(core_read, cores, count, run->options->threads);
	for (ptrdiff_t i = 0; i < count; i++) {
		if (cores[i].failed) {
			*err = cores[i].err;
			return false;
		}
		core_row(run, &cores[i]);
	}
	return true;
}
