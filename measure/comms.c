/*
 * The tables of moving data: collectives between chips, and transfers between host and device.
 */
#include <math.h>

#include "base/stats.h"
#include "base/text.h"
#include "hlo/walk.h"
#include "measure/writers.h"

/*
 * Durations of instances over devices.  The last device to arrive does not wait, so the
 * shortest duration is the transfer and the longest minus it is waiting; clocks never matter.
 */
static double transfer_s(const struct aggregate_moving *c, struct arena scratch, double *wait_s)
{
	double *transfers = arena_make(&scratch, double, c->count);
	double *waits = arena_make(&scratch, double, c->count);

	for (ptrdiff_t i = 0; i < c->count; i++) {
		const struct aggregate_instance *k = &c->instances[i];
		transfers[i] = (double)k->min_ps * PS;
		waits[i] = (double)(k->max_ps - k->min_ps) * PS;
	}
	*wait_s = median(waits, c->count);
	return median(transfers, c->count);
}

/* A done that lasts longer than this was waiting: an issue alone takes well under it. */
#define DONE_WAITS_PS 2000000 /* 2 us */

static bool done_waits(const struct subject *s, const struct aggregate_moving *moved)
{
	return s->async != ASYNC_START ||
	       (double)moved->done_self_ps > DONE_WAITS_PS * (double)moved->span.count;
}

/*
 * Was every member of the collective's groups seen?  All are when all devices were; of a part of
 * the hosts, groups of neighbours that fit on one host are whole too.
 */
static bool groups_are_whole(const struct run *run, const struct hlo_collective *c)
{
	double per_partition = run->shape.planes_per_partition;
	double expected = run->shape.partitions * per_partition, seen = 0;

	for (ptrdiff_t i = 0; i < run->device_count; i++)
		seen += run->devices[i].sweep.steady_count > 0;
	if (!(expected > seen))
		return true;
	double host = seen / (double)run->host_count / per_partition;
	return c && c->stride == 1 && c->group_size > 0 && (double)c->group_size <= host;
}

/* The last to arrive may be on a host whose profile is not here. */
static bool transfer_is_known(const struct run *run, const struct subject *s,
	const struct op_facts *f, const struct aggregate_moving *moved)
{
	return moved->count > 0 && done_waits(s, moved) && groups_are_whole(run, f->collective);
}

static void collective_times(const struct run *run, const struct subject *s,
	const struct op_facts *f, struct collectives_row *row)
{
	const struct aggregate_moving *moved = aggregate_moving(run->sums, s->index);
	bool async = s->async == ASYNC_START;

	row->is_async = async;
	if (s->planned > 0) {
		row->per_step = s->program->role == ROLE_STEP ? s->planned : 0;
		return;
	}
	bool in_step = s->program->role == ROLE_STEP;
	double steps = in_step ? run->device_steps : run->windows_s / run->step_mean_s;
	row->rate = steps > 0 ? (double)moved->span.count / steps : (double)NAN;
	row->per_step = in_step ? row->rate : 0;
	row->span_s =
		moved->span.count > 0 ? dist_quantile(&moved->span, 0.5, *run->keep) * PS : NAN;
	row->done_waits = done_waits(s, moved);
	if (transfer_is_known(run, s, f, moved))
		row->transfer_s = transfer_s(moved, *run->keep, &row->wait_s);
	if (run->device_steps > 0 && in_step) {
		row->exposed_s = (double)moved->exposed_ps * PS / run->device_steps;
		row->hidden_s = (double)moved->hidden_ps * PS / run->device_steps;
	}
	if (run->windows_s > 0)
		row->window_share = (double)moved->exposed_ps * PS / run->windows_s;
	row->exposed_share = in_step ? row->exposed_s / run->step_mean_s : 0;
	row->bandwidth_bps = row->wire_bytes / row->transfer_s;
}

/* With the mesh's own names in front, where the job file tells them. */
static struct str axis_text(const struct run *run, const struct hlo_collective *c)
{
	const struct job_file *j = run->options->job;
	struct str text = text_clean(run->keep, c->axis);
	struct str name = { NULL, 0 };
	int64_t stride = c->stride;

	/* Devices are numbered slice by slice. */
	if (c->between_slices)
		stride = (int64_t)(run->shape.partitions / (double)run->shape.slices);

	if (j && text.p && j->devices == run->shape.partitions)
		name = job_axis_name(j, c->group_size, stride, run->keep);
	return name.p ? arena_fmt(run->keep, "%.*s: %.*s", STR_ARG(name), STR_ARG(text)) : text;
}

static void collective_hlo(
	const struct run *run, const struct op_facts *f, struct collectives_row *row)
{
	const struct hlo_collective *c = f->collective;

	if (!c)
		return;
	row->group_size = c->group_size > 0 ? (double)c->group_size : NAN;
	row->groups = c->groups > 0 ? (double)c->groups : NAN;
	row->axis = axis_text(run, c);
	row->operand_kind = c->operand_kind;
	row->message_bytes = (double)c->message_bytes;
	row->wire_bytes = (double)c->wire_bytes;
	row->link = link_name(f->comms		  ? f->comms->link
			      : c->between_slices ? LINK_DCN
						  : LINK_UNKNOWN);
	if (!f->comms)
		return;
	row->expected_lo_s = f->comms->lo_s;
	row->expected_hi_s = f->comms->hi_s;
	row->topology_source = f->comms->topology_source;
}

static void collective_row(
	const struct run *run, const struct op_rows *op_rows, const struct subject *s)
{
	const struct ops_row *op = &op_rows->rows[op_rows->at[s->index]];
	const struct op_facts *f = op_rows->moving[s->index];
	struct collectives_row *row = table_new(run->tables, collectives, run->keep);

	OP_PLACE, OP_COMMON(module), OP_COMMON(family), OP_COMMON(program), OP_COMMON(role);
	OP_COMMON(recurs);
	collective_hlo(run, f, row);
	collective_times(run, s, f, row);
}

static int collective_cmp(const void *a, const void *b)
{
	const struct collectives_row *x = a, *y = b;
	int c = !!isnan(x->exposed_s) - !!isnan(y->exposed_s);

	c = c ? c : order_numbers(y->exposed_s, x->exposed_s);
	c = c ? c : str_cmp(x->program, y->program);
	return c ? c : str_cmp(x->name, y->name);
}

/* How often each gathered array is gathered in a step.  Without its loops it is not known which
 * gathers are one. */
static void regathers_count(struct collectives_row *rows, const struct subject **subjects,
	ptrdiff_t n, struct arena scratch)
{
	struct hlo_array *arrays = arena_make(&scratch, struct hlo_array, n);

	for (ptrdiff_t i = 0; i < n; i++) {
		const struct subject *s = subjects[i];
		bool known = s->kind == KIND_ALL_GATHER && s->instruction >= 0 &&
			     !s->program->is_partial;
		arrays[i] = known ? hlo_array_taken(program_hlo(s->program), s->instruction)
				  : (struct hlo_array){ .instruction = -1 };
		rows[i].regathers = arrays[i].instruction >= 0 ? 0 : (double)NAN;
	}
	for (ptrdiff_t i = 0; i < n; i++) {
		for (ptrdiff_t k = 0; k < n; k++) {
			const struct subject *o = subjects[k];
			if (o->program != subjects[i]->program ||
				!hlo_array_same(&arrays[i], &arrays[k]))
				continue;
			/* In a loop over layers every trip gathers another slice: all are one. */
			const struct hlo_module *h = program_hlo(o->program);
			ptrdiff_t c = h->instructions[o->instruction].computation;
			rows[i].regathers += h->computations[c].in_loop ? 1 : rows[k].per_step;
		}
	}
}

/* More than clocks and rounding can explain. */
#define BEATS 1.05

/* Collectives of one run; counting regathers compares them in pairs. */
#define COLLECTIVES_MAX 5000

static const struct subject **collective_subjects(const struct run *run, ptrdiff_t *count)
{
	ptrdiff_t n = registry_subject_count(run->registry);
	const struct subject *const *subjects = registry_subjects_ranked(run->registry);
	const struct subject **ret = NULL;
	ptrdiff_t cap = 0;

	*count = 0;
	for (ptrdiff_t i = 0; i < n; i++)
		if (op_kind_is_collective(subjects[i]->kind) && subjects[i]->async != ASYNC_DONE)
			*arena_push(run->keep, ret, *count, cap) = subjects[i];
	return ret;
}

/* What beats the network between the job file's slices disproves them. */
struct str comms_disprove(const struct run *run)
{
	const struct job_file *job = run->options->job;
	const struct subject *beats = NULL;
	int64_t most_ps = -1; /* exposed, of that one */
	ptrdiff_t n;
	const struct subject **subjects = collective_subjects(run, &n);

	for (ptrdiff_t i = 0; job && job->slices > 1 && i < n; i++) {
		const struct subject *s = subjects[i];
		const struct aggregate_moving *moved = aggregate_moving(run->sums, s->index);
		struct op_facts f = { 0 };
		double wait_s;
		if (!subject_ran(run, s))
			continue;
		op_comms_of(run, s, &f);
		if (f.comms && f.comms->link == LINK_DCN && transfer_is_known(run, s, &f, moved) &&
			transfer_s(moved, *run->keep, &wait_s) * BEATS < f.comms->lo_s &&
			moved->exposed_ps > most_ps) {
			beats = s;
			most_ps = moved->exposed_ps;
		}
	}
	return beats ? beats->name : MISSING;
}

bool fill_collectives(const struct run *run, const struct op_rows *op_rows)
{
	ptrdiff_t n, rows = 0;
	const struct subject **subjects = collective_subjects(run, &n);

	for (ptrdiff_t i = 0; i < n && i < COLLECTIVES_MAX; i++) {
		const struct subject *s = subjects[i];

		if ((aggregate_moving(run->sums, s->index)->span.count == 0 && !(s->planned > 0)) ||
			op_rows->at[s->index] < 0)
			continue;
		collective_row(run, op_rows, s);
		subjects[rows++] = s;
	}
	struct collectives_row *all = table_rows(run->tables, collectives);
	regathers_count(all, subjects, rows, *run->keep);
	sort_by(all, rows, collective_cmp);
	return n <= COLLECTIVES_MAX;
}

/* ---- transfers ------------------------------------------------------------------------------- */

/* Bytes of one execution: as the event says, else of the array that moves. */
static double transfer_bytes(
	const struct subject *s, const struct aggregate_moving *moved, int64_t count)
{
	if (moved->bytes > 0)
		return (double)moved->bytes;
	const struct hlo_instruction *i = subject_instruction(s);
	const struct shape *leaf = i ? shape_leaf(&i->shape, 0) : NULL;
	return leaf ? (double)shape_logical_bytes(leaf) * (double)count : NAN;
}

/* One way, between a device and its host, as good code reaches it. */
static double host_link_bps(const struct run *run)
{
	const struct chip_device *d = run->device_count ? &run->devices[0].chip : NULL;

	return d && d->chip ? roofline_pcie_bps(d) * d->chip->attainable_pcie.value : (double)NAN;
}

void fill_transfers(const struct run *run, const struct op_rows *op_rows)
{
	/* Sums over all devices and steady steps. */
	struct sums {
		double count, bytes, pageable_bytes, time_ps, exposed_ps;
	} sums[COPY_UNKNOWN + 1] = { { 0 } };
	const struct subject *const *subjects = registry_subjects_ranked(run->registry);

	for (ptrdiff_t i = 0; i < registry_subject_count(run->registry); i++) {
		const struct subject *s = subjects[i];
		const struct op_facts *f = op_rows->moving[s->index];

		if (!f || (op_kind_activity(s->kind) != ACTIVITY_TRANSFER && !f->is_copy) ||
			s->kind == KIND_CALLBACK || s->async == ASYNC_DONE ||
			s->program->role != ROLE_STEP)
			continue;
		const struct dist *self = &f->total->self;
		const struct aggregate_moving *moved = aggregate_moving(run->sums, s->index);
		struct sums *d = &sums[f->direction];
		d->count += (double)self->count;
		d->bytes += self->count > 0 ? transfer_bytes(s, moved, self->count) : 0;
		d->pageable_bytes += (double)moved->pageable_bytes;
		/* An async transfer's time is its span's, which exposed and hidden add up to. */
		d->time_ps += s->async == ASYNC_START
				      ? (double)(moved->exposed_ps + moved->hidden_ps)
				      : (double)self->sum;
		d->exposed_ps += (double)moved->exposed_ps;
	}
	for (int way = COPY_H2D; way <= COPY_UNKNOWN; way++) {
		const struct sums *d = &sums[way];
		if (!(d->count > 0))
			continue;
		struct transfers_row *row = table_new(run->tables, transfers, run->keep);
		row->direction = word_at(DIRECTION_WORDS, way - 1);
		row->count = d->count;
		if (!(run->device_steps > 0))
			continue;
		row->per_step = d->count / run->device_steps;
		row->bytes = d->bytes / run->device_steps;
		row->pageable_ratio = d->pageable_bytes / d->bytes;
		row->time_s = d->time_ps * PS / run->device_steps;
		row->exposed_s = d->exposed_ps * PS / run->device_steps;
		row->step_share = row->exposed_s / run->step_mean_s;
		row->bps = row->bytes / row->time_s;
		if (way == COPY_H2D || way == COPY_D2H)
			row->least_s = row->bytes / host_link_bps(run);
	}
}
