/*
 * The programs of a run: what each takes at least (floor_s) and with nothing overlapped (serial_s),
 * the memory it was planned with, and their table.
 *
 * Each resource has so much to do: the core, whose ops run one after another, each at its roofline
 * (a TPU's collectives and transfers that are not asynchronous hold it, too; a GPU's have streams
 * of their own); memory, with what copies move behind the core; each link in each direction; the
 * network; the way to the host.  None can take longer than the program, so the floor is the
 * longest.  What cannot be counted is free.
 */
#include <math.h>

#include "measure/op_key.h"
#include "measure/writers.h"

struct demand {
	double core_s, hbm_s, network_s;
	struct both_ways {
		double up_s, down_s;
	} links, host; /* inside an island, to higher and lower device ids; to the host and back */
};

/* Work that goes up (1), down (-1) or, as far as is known, half of it either way (0). */
static void add_way(struct both_ways *w, int way, double seconds)
{
	w->up_s += seconds * (1 + way) / 2;
	w->down_s += seconds * (1 - way) / 2;
}

/* 1 from the device to the host, -1 to the device, 0 neither or not known. */
static int transfer_way(enum copy_direction d)
{
	return d == COPY_D2H ? 1 : d == COPY_H2D ? -1 : 0;
}

static double counted(double seconds)
{
	return isnan(seconds) ? 0 : seconds;
}

/*
 * A shift uses the links in its direction alone, and one in both half of each.  A switch has one
 * way in and one out for all; other collectives are taken to use every link in the best layout.
 */
static void demand_links(const struct run *run, const struct hlo_collective *c,
	const struct collective_time *t, double times, struct demand *d)
{
	/* Latencies of collectives in the background may pass together. */
	double seconds = t->lo_s > t->latency_s ? t->lo_s * times : 0;
	bool shift = c->kind == KIND_PERMUTE && run->first->chip.chip->topology != TOPOLOGY_SWITCH;

	if (t->link == LINK_DCN)
		d->network_s += seconds;
	else if (shift)
		add_way(&d->links, c->direction, seconds);
	else
		add_way(&d->links, 0, 2 * seconds);
}

static bool holds_core(const struct subject *s)
{
	bool moves = op_kind_is_collective(s->kind) || s->kind == KIND_TRANSFER;

	return s->async == ASYNC_NONE && (s->platform == PLATFORM_TPU || !moves);
}

/* What one execution takes alone; NaN unknown. */
static double demand_op(const struct run *run, const struct subject *s, const struct op_facts *f,
	double times, struct demand *d)
{
	const struct roofline *r = f->behind ? f->behind : &f->roof;
	double core_times = holds_core(s) ? times : 0;

	if (op_kind_is_collective(s->kind)) {
		if (!f->comms || isnan(f->comms->lo_s))
			return NAN;
		demand_links(run, f->collective, f->comms, times, d);
		d->core_s += f->comms->lo_s * core_times;
		return f->comms->lo_s;
	}
	double least_s = f->bound == COST_UPPER ? r->t_hbm_s : r->roofline_s;
	if (f->bound == COST_UPPER && !f->reads_all) /* masks and short groups leave most out */
		return NAN;
	d->core_s += counted(least_s) * core_times;
	d->hbm_s += counted(r->t_hbm_s) * times;
	add_way(&d->host, transfer_way(f->direction), counted(r->t_host_s) * times);
	return least_s;
}

/* Executions of a program that its ops' counts stand for; 0 unknown. */
static double executions_of(const struct run *run, const struct program *p)
{
	double per_step =
		run->plans == PLANS_SCHEDULED ? run->schedule.per_step[p->index] : p == run->main;

	if (p->role != ROLE_STEP || run->source == STEPS_WINDOW)
		return (double)aggregate_program(run->sums, p->index).count;
	return per_step * run->device_steps;
}

/* How often it runs in an execution; 0 where that is not known, and of the ends of pairs. */
static double times_of(const struct run *run, const struct subject *s, const struct op_facts *f)
{
	double executions;

	if (s->async == ASYNC_DONE)
		return 0;
	if (s->planned > 0)
		return s->planned;
	executions = executions_of(run, s->program);
	if (!(executions > 0))
		return 0;
	return (double)f->total->self.count / executions;
}

struct program_facts program_facts_of(const struct run *run, const struct subject *const *ops,
	const struct op_facts *facts, ptrdiff_t count)
{
	struct program_facts ret = { 0 };
	struct demand d = { 0 };
	double judgeable_ps = 0, judged_ps = 0;

	for (ptrdiff_t i = 0; i < count; i++) {
		const struct op_facts *f = &facts[i];
		double times = times_of(run, ops[i], f);
		double time_ps = op_is_judgeable(ops[i]) ? (double)f->total->self.sum : 0;

		judgeable_ps += time_ps;
		if (f->ran && !isnan(f->roof.roofline_s))
			judged_ps += time_ps;
		if (!(times > 0))
			continue;
		double alone_s = demand_op(run, ops[i], f, times, &d);
		*(isnan(alone_s) ? &ret.unknown : &ret.known) += 1;
		ret.serial_s += counted(alone_s) * times;
	}
	const double all[] = { d.hbm_s, d.network_s, d.links.up_s, d.links.down_s, d.host.up_s,
		d.host.down_s };
	ret.floor_s = d.core_s;
	for (ptrdiff_t k = 0; k < COUNT_OF(all); k++)
		ret.floor_s = fmax(ret.floor_s, all[k]);
	if (!ret.known)
		ret.floor_s = ret.serial_s = NAN;
	ret.judged_ratio = judgeable_ps > 0 ? judged_ps / judgeable_ps : (double)NAN;
	return ret;
}

/* Reads the buffers that live at the peak; the report tells those of the largest plan alone. */
static void live_read(const struct run *run, const struct program *p)
{
	struct hlo_memory *plan = p->plan;
	struct arena scratch = arena_new(ARENA_RUN_BYTES);
	struct diag ignored;

	shelved_hold(p->hlo, true); /* the buffers' shapes are the module's */
	hlo_memory(program_hlo(p), 0, &scratch, plan, &ignored);
	struct hlo_live_buffer *live =
		arena_make(run->keep, struct hlo_live_buffer, plan->live_count);
	for (ptrdiff_t i = 0; i < plan->live_count; i++)
		live[i] = plan->live[i];
	plan->live = live;
	arena_free(&scratch);
}

/* Notes what could not be read. */
static void plans_know(const struct run *run, struct programs *ret)
{
	for (ptrdiff_t i = 0; i < registry_program_count(run->registry); i++) {
		const struct program *p = registry_program_at(run->registry, i);
		int64_t most = ret->largest ? ret->largest->plan->allocated_bytes : -1;
		if (p->plan_unread) {
			diag_note(run->notes, run->keep, p->plan_unread->id, "module %.*s: %s",
				STR_ARG(p->module), p->plan_unread->text);
			ret->unread = p->module;
		}
		if (p->plan &&
			(p->plan->allocated_bytes > most ||
				(p->plan->allocated_bytes == most && p->id < ret->largest->id)))
			ret->largest = p;
	}
	if (ret->largest)
		live_read(run, ret->largest);
}

struct programs programs_know(const struct run *run, const struct program_facts *of)
{
	struct programs ret = { .of = of };

	plans_know(run, &ret);
	return ret;
}

void predict_step(const struct run *run, const struct programs *programs, struct run_row *row)
{
	bool any = false, of_main = run->source == STEPS_WINDOW || run->plans != PLANS_SCHEDULED;
	double sum_s = 0, left_out = 0;
	const struct program *const *ranked = registry_programs_ranked(run->registry);

	for (ptrdiff_t i = 0; i < registry_program_count(run->registry); i++) {
		const struct program_facts *p = &programs->of[ranked[i]->index];
		double per_step =
			of_main ? ranked[i] == run->main : run->schedule.on_last[ranked[i]->index];
		if (!(per_step > 0))
			continue;
		any |= !isnan(p->floor_s);
		sum_s += counted(p->floor_s) * per_step;
		left_out += (double)p->unknown;
	}
	row->predicted_step_s = any ? sum_s : (double)NAN;
	row->unpredicted_ops = left_out;
}

/* ---- the table of programs ------------------------------------------------------------------- */

static void program_row(
	const struct run *run, const struct programs *programs, const struct program *p)
{
	struct dist d = aggregate_program(run->sums, p->index);
	const struct program_facts *f = &programs->of[p->index];

	if (!run_is_planned(run) && (p->id == PROGRAM_UNKNOWN || d.count == 0))
		return;
	struct programs_row *row = table_new(run->tables, programs, run->keep);
	row->program = program_text(p, run->keep);
	row->module = p->module;
	row->role = word_at(WORK_WORDS, p->role);
	row->phase = word_at(PHASE_WORDS, program_phase(p));
	row->has_hlo = p->has_hlo;
	row->floor_s = f->floor_s;
	row->serial_s = f->serial_s;
	row->unpredicted_ops = (double)f->unknown;
	if (p->has_hlo)
		row->undonated_bytes = (double)p->undonated_bytes;
	if (p->plan)
		row->compiled_bytes = (double)p->plan->allocated_bytes;
	row->executions = (double)d.count;
	if (d.count == 0)
		return;
	row->time_s = (double)d.sum * PS;
	row->time_share = run->windows_s > 0 ? row->time_s / run->windows_s : NAN;
	row->p50_s = dist_quantile(&d, 0.5, *run->keep) * PS;
	row->judged_ratio = f->judged_ratio;
}

/* By time; those that have not run by what they take at least. */
static int program_cmp(const void *a, const void *b)
{
	const struct programs_row *x = a, *y = b;
	double p = isnan(x->floor_s) ? 0 : x->floor_s, q = isnan(y->floor_s) ? 0 : y->floor_s;
	int order = order_numbers(y->time_s, x->time_s);

	if (isnan(x->time_s)) {
		order = order_numbers(q, p);
		order = order ? order : str_cmp(x->module, y->module);
	}
	return order ? order : str_cmp(x->program, y->program);
}

void fill_programs(const struct run *run, const struct programs *programs)
{
	for (ptrdiff_t i = 0; i < registry_program_count(run->registry); i++)
		program_row(run, programs, registry_program_at(run->registry, i));
	sort_by(table_rows(run->tables, programs), table_count(run->tables, programs), program_cmp);
}
