/*
 * rooflint hlo FILE: what the instructions of a module cost over one run of the program.
 */
#include <math.h>

#include "base/saturate.h"
#include "base/stats.h"
#include "base/text.h"
#include "cmd/hlo.h"
#include "hlo/memory.h"

enum { SHOWN = 12, SHOWN_JSON = 1000, NAME_BYTES = 73 };

struct op {
	ptrdiff_t instruction;
	struct str name;
	double runs;
	double weight; /* seconds over a run; without a chip FLOPs */
	struct estimate e;
};

struct listing {
	const struct hlo_view *v;
	const struct hlo_module *m;
	struct op *ops;
	ptrdiff_t count, cap;
	int64_t loops, unknown_loops;
	int64_t uncounted, unweighed; /* ops whose FLOPs, whose bytes in HBM are unknown */
	/* Over a run; the last three are of the ops that the chip, links, PCIe bind. */
	double flops, flops_upper, hbm_bytes, hbm_padded_bytes, host_bytes;
	double math_seconds, hbm_seconds;
	double seconds, comms_seconds, host_seconds;
};

static double known(double value)
{
	return isnan(value) ? 0 : value;
}

static double *seconds_of(struct listing *l, const struct estimate *e)
{
	if (e->is_collective)
		return &l->comms_seconds;
	return e->roof.bound == BOUND_HOST ? &l->host_seconds : &l->seconds;
}

static void add_op(struct listing *l, const struct estimator *e, ptrdiff_t instruction, double runs)
{
	struct op op = { instruction, l->m->instructions[instruction].name, runs, 0,
		{ .is_collective = false } };
	op.e = estimate_op(e, instruction);
	op.weight = runs * known(l->v->device.chip ? op.e.roof.roofline_s : op.e.work.flops);
	*arena_push(l->v->c->keep, l->ops, l->count, l->cap) = op;
	l->flops += runs * known(op.e.work.flops);
	l->hbm_bytes += runs * known(op.e.work.hbm_bytes);
	l->hbm_padded_bytes += runs * known(op.e.hbm_padded_bytes);
	l->host_bytes += runs * known(op.e.work.host_bytes);
	l->math_seconds += runs * known(op.e.roof.t_math_s);
	l->hbm_seconds += runs * known(op.e.roof.t_hbm_s);
	if (op.e.cost.flops_bound == COST_UPPER)
		l->flops_upper += known(op.e.work.flops) * runs;
	l->uncounted += isnan(op.e.work.flops) && !op.e.is_collective;
	l->unweighed += isnan(op.e.work.hbm_bytes) && !op.e.is_collective;
	*seconds_of(l, &op.e) += runs * known(op.e.roof.roofline_s);
}

/* Heaviest first; of equals the one that moves more, then by name: dumps differ in order. */
static int heavier(const void *a, const void *b)
{
	const struct op *x = a, *y = b;
	double p = known(x->e.work.hbm_bytes) * x->runs, q = known(y->e.work.hbm_bytes) * y->runs;
	int order = order_numbers(y->weight, x->weight);
	order = order ? order : order_numbers(q, p);
	order = order ? order : str_cmp(x->name, y->name);
	return order ? order : order_integers(x->instruction, y->instruction);
}

static struct listing list_ops(const struct hlo_view *v)
{
	const struct hlo_module *m = v->m;
	struct listing l = { .v = v, .m = m };
	struct estimator estimator = hlo_estimator(v);
	const double *runs = hlo_runs(m, v->c->keep, &l.unknown_loops);
	for (ptrdiff_t k = 0; k < m->instruction_count; k++) {
		double n = runs[m->instructions[k].computation];
		l.loops += n > 0 && m->instructions[k].op == HLO_WHILE;
		if (n > 0 && hlo_is_work(m, k))
			add_op(&l, &estimator, k, n);
	}
	sort_by(l.ops, l.count, heavier);
	return l;
}

/* ---- text ------------------------------------------------------------------------------------ */

static struct str cut_text(struct str s, struct arena *keep)
{
	return text_cut(keep, text_clean(keep, s), NAME_BYTES);
}

/* "fusion.3 matmul, model.py:151" */
static struct str what_text(const struct listing *l, const struct op *op)
{
	struct arena *keep = l->v->c->keep;
	const struct hlo_instruction *i = &l->m->instructions[op->instruction];
	struct str kind = op_kind_name(op->e.kind);
	struct str name = cut_text(i->name, keep);
	if (!i->source.file.len)
		return arena_fmt(keep, "%.*s %.*s", STR_ARG(kind), STR_ARG(name));
	return arena_fmt(keep, "%.*s %.*s, %.*s:%lld", STR_ARG(kind), STR_ARG(name),
		STR_ARG(cut_text(i->source.file, keep)), (long long)i->source.line);
}

static struct str or_dash(struct arena *keep, double value, enum unit u)
{
	return isnan(value) ? STR("-") : unit_text(keep, value, u);
}

/* The first two columns are times, which need a chip. */
static struct grid grid_of(const struct listing *l, const char *const names[6])
{
	int first = l->v->device.chip ? 0 : 2;
	struct grid g = {
		.keep = l->v->c->keep, .columns = 6 - first, .has_header = true, .indent = 2
	};
	for (int k = first; k < 6; k++)
		grid_add(&g, str_from(names[k]));
	return g;
}

static void put_heaviest(const struct listing *l)
{
	struct arena *keep = l->v->c->keep;
	bool timed = l->v->device.chip != NULL;
	static const char *const names[6] = { "TIME", "BOUND", "FLOPS", "HBM", "RUNS", "OP" };
	struct grid g = grid_of(l, names);
	for (ptrdiff_t k = 0; k < l->count && k < SHOWN; k++) {
		const struct op *op = &l->ops[k];
		if (timed)
			grid_row(&g, or_dash(keep, op->e.roof.roofline_s * op->runs, UNIT_SECONDS),
				bound_name(op->e.roof.bound));
		grid_row(&g, or_dash(keep, op->e.work.flops * op->runs, UNIT_FLOPS),
			or_dash(keep, op->e.work.hbm_bytes * op->runs, UNIT_BYTES),
			unit_text(keep, op->runs, UNIT_COUNT), what_text(l, op));
	}
	grid_print(&g, l->v->c->out);
}

static void add_collective(const struct listing *l, const struct op *op, struct grid *g)
{
	const struct hlo_collective *c = &op->e.collective;
	if (l->v->device.chip)
		grid_row(g, or_dash(g->keep, op->e.comms.lo_s, UNIT_SECONDS),
			or_dash(g->keep, op->e.comms.hi_s, UNIT_SECONDS));
	grid_row(g, unit_text(g->keep, (double)c->message_bytes, UNIT_BYTES),
		unit_text(g->keep, op->runs, UNIT_COUNT),
		c->axis.len ? c->axis : STR("group not known"), what_text(l, op));
}

/* What the times of the collectives shown take for granted, each once. */
static void put_assumed(const struct listing *l)
{
	struct str said[SHOWN];
	ptrdiff_t count = 0, shown = 0;
	for (ptrdiff_t k = 0; k < l->count && shown < SHOWN; k++) {
		struct str source = l->ops[k].e.comms.topology_source;
		if (!l->ops[k].e.is_collective)
			continue;
		shown++;
		if (NAMED(said, count, source))
			continue;
		said[count++] = source;
		out_fmt(l->v->c->out, "  assumed: %.*s\n", STR_ARG(source));
	}
}

static void put_collectives(const struct listing *l)
{
	bool timed = l->v->device.chip != NULL;
	static const char *const names[6] = { "LEAST", "MOST", "MESSAGE", "RUNS", "GROUP", "OP" };
	struct grid g = grid_of(l, names);
	ptrdiff_t shown = 0;
	for (ptrdiff_t k = 0; k < l->count && shown < SHOWN; k++) {
		if (!l->ops[k].e.is_collective)
			continue;
		add_collective(l, &l->ops[k], &g);
		shown++;
	}
	if (!shown)
		return;
	out_z(l->v->c->out, "\nCollectives, one run each:\n");
	grid_print(&g, l->v->c->out);
	if (timed)
		put_assumed(l);
}

static void put_memory(const struct listing *l, struct sheet *s)
{
	struct arena *keep = l->v->c->keep;
	const struct chip_device *d = &l->v->device;
	struct hlo_memory mem;
	struct diag err;
	struct str share = STR("");
	if (!hlo_memory(l->m, 0, keep, &mem, &err))
		return;
	double hbm = d->chip ? d->chip->hbm_bytes.value * d->share : NAN;
	if (hbm > 0)
		share = arena_fmt(keep, "%.*s of the device's %.*s",
			STR_ARG(unit_text(keep, (double)mem.allocated_bytes / hbm, UNIT_RATIO)),
			STR_ARG(unit_text(keep, hbm, UNIT_BYTES)));
	struct str donated = arena_fmt(keep, "%.*s of it in donated arguments",
		STR_ARG(unit_text(keep, (double)mem.alias_bytes, UNIT_BYTES)));
	struct sheet sums = *s;
	sums.json = s->json ? json_add_object(s->json, "memory") : NULL;
	put_heading(&sums, STR("\nMemory on a device, from the buffer assignment:"));
	put(&sums, "allocated", "allocated_bytes", (double)mem.allocated_bytes, UNIT_BYTES, share);
	put(&sums, "in use", "peak_bytes", (double)mem.peak_bytes, UNIT_BYTES, STR("at most"));
	put(&sums, "arguments", "arguments_bytes", (double)mem.arguments_bytes, UNIT_BYTES,
		STR(""));
	put(&sums, "output", "output_bytes", (double)mem.output_bytes, UNIT_BYTES, donated);
	put(&sums, NULL, "alias_bytes", (double)mem.alias_bytes, UNIT_BYTES, STR(""));
	put(&sums, "temporary", "temp_bytes", (double)mem.temp_bytes, UNIT_BYTES, STR(""));
	s->grid = sums.grid;
}

static struct str loops_text(const struct listing *l, struct arena *keep)
{
	if (!l->loops)
		return STR("no loops");
	if (!l->unknown_loops)
		return arena_fmt(keep, "loops multiplied out: %lld", (long long)l->loops);
	return arena_fmt(keep, "loops: %lld; %lld have an unknown trip count and are counted once",
		(long long)l->loops, (long long)l->unknown_loops);
}

/* "without 2 ops whose cost is unknown" */
static struct str without_text(int64_t ops, struct arena *keep)
{
	return ops ? arena_fmt(keep, "without %lld op%s whose cost is unknown", (long long)ops,
			     ops == 1 ? "" : "s")
		   : STR("");
}

/* A kernel may do less than its shapes tell: attention under a mask. */
static struct str counted_text(const struct listing *l, struct arena *keep)
{
	struct str without = without_text(l->uncounted, keep);
	if (!(l->flops_upper > 0))
		return without;
	return arena_fmt(keep, "%.*s of it at most%s%.*s",
		STR_ARG(unit_text(keep, l->flops_upper, UNIT_FLOPS)), without.len ? "; " : "",
		STR_ARG(without));
}

static struct str moved_text(const struct listing *l, struct arena *keep)
{
	struct out *o = out_memory(keep);
	out_z(o, "read and written");
	if (!pads_little(l->hbm_bytes, l->hbm_padded_bytes))
		out_fmt(o, "; %.*s with padding",
			STR_ARG(unit_text(keep, l->hbm_padded_bytes, UNIT_BYTES)));
	if (l->unweighed)
		out_fmt(o, "; %.*s", STR_ARG(without_text(l->unweighed, keep)));
	return out_text(o);
}

static void put_totals(const struct listing *l, struct sheet *s)
{
	struct arena *keep = l->v->c->keep;
	bool hosts = s->json || l->host_bytes > 0, transfers = s->json || l->host_seconds > 0;
	put(s, "FLOPs", "flops", l->flops, UNIT_FLOPS, counted_text(l, keep));
	put(s, NULL, "flops_upper", l->flops_upper, UNIT_FLOPS, STR(""));
	put(s, NULL, "ops_uncounted", (double)l->uncounted, UNIT_COUNT, STR(""));
	put(s, "HBM", "hbm_bytes", l->hbm_bytes, UNIT_BYTES, moved_text(l, keep));
	put(s, NULL, "ops_hbm_unknown", (double)l->unweighed, UNIT_COUNT, STR(""));
	put(s, NULL, "hbm_padded_bytes", l->hbm_padded_bytes, UNIT_BYTES, STR(""));
	if (hosts)
		put(s, "host memory", "host_bytes", l->host_bytes, UNIT_BYTES, STR("over PCIe"));
	if (!l->v->device.chip)
		return;
	put(s, "T_math", "t_math_s", l->math_seconds, UNIT_SECONDS, STR("sum of FLOPs / peak"));
	put(s, "T_hbm", "t_hbm_s", l->hbm_seconds, UNIT_SECONDS, STR("sum of dense bytes / HBM"));
	put(s, "compute", "compute_s", l->seconds, UNIT_SECONDS,
		STR("sum of the ops' rooflines, of each the longer of the two"));
	put(s, "collectives", "collectives_s", l->comms_seconds, UNIT_SECONDS,
		STR("sum of the least times; they may overlap with compute"));
	if (transfers)
		put(s, "transfers", "transfers_s", l->host_seconds, UNIT_SECONDS,
			STR("sum over PCIe; they may overlap, and both ways at once"));
}

static void put_title(const struct listing *l, struct sheet *s)
{
	static const char *const platforms[] = { "TPU ", "GPU ", "CPU " };
	const struct hlo_module *m = l->m;
	struct arena *keep = l->v->c->keep;
	struct out *o = out_memory(keep);
	int64_t devices = sat_mul(m->replica_count, m->partition_count);
	put_word(s, "module", text_clean(keep, m->name));
	if (l->v->device.chip)
		put_word(s, "chip", l->v->device.chip->id);
	put(s, NULL, "loops", (double)l->loops, UNIT_COUNT, STR(""));
	put(s, NULL, "loops_unknown", (double)l->unknown_loops, UNIT_COUNT, STR(""));
	out_fmt(o, "%.*s: %td instructions, %sprogram", STR_ARG(text_clean(keep, m->name)),
		m->instruction_count, l->v->platform_known ? platforms[l->v->platform] : "");
	if (devices > 0)
		out_fmt(o, " for %lld device%s", (long long)devices, devices == 1 ? "" : "s");
	out_fmt(o, "; %.*s", STR_ARG(loops_text(l, keep)));
	if (l->v->device.chip)
		out_fmt(o, "\nOn each device, %.*s:", STR_ARG(device_text(l->v)));
	put_heading(s, out_text(o));
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_op(const struct listing *l, cJSON *list, const struct op *op)
{
	struct arena *keep = l->v->c->keep;
	const struct hlo_instruction *i = &l->m->instructions[op->instruction];
	cJSON *o = cJSON_CreateObject();
	cJSON_AddItemToArray(list, o);
	json_add_str(o, "name", text_clean(keep, i->name));
	json_add_str(o, "kind", op_kind_name(op->e.kind));
	json_add_double(o, "runs", op->runs);
	json_add_double(o, "flops", op->e.work.flops);
	json_add_str(o, "cost_bound", word_at(COST_WORDS, op->e.cost.flops_bound - 1));
	json_add_double(o, "hbm_bytes", op->e.work.hbm_bytes);
	json_add_double(o, "hbm_padded_bytes", op->e.hbm_padded_bytes);
	json_add_double(o, "host_bytes", op->e.work.host_bytes);
	json_add_str(o, "scope", text_clean(keep, i->op_name));
	json_add_str(o, "source_file", text_clean(keep, i->source.file));
	json_add_double(o, "source_line", i->source.line ? (double)i->source.line : NAN);
	if (op->e.is_collective) {
		json_add_double(o, "message_bytes", (double)op->e.collective.message_bytes);
		json_add_double(o, "group_size", (double)op->e.collective.group_size);
		json_add_double(o, "t_comms_lo_s", op->e.comms.lo_s);
		json_add_double(o, "t_comms_hi_s", op->e.comms.hi_s);
	}
	if (!l->v->device.chip)
		return;
	json_add_double(o, "t_math_s", op->e.roof.t_math_s);
	json_add_double(o, "t_hbm_s", op->e.roof.t_hbm_s);
	json_add_double(o, "t_host_s", op->e.roof.t_host_s);
	json_add_double(o, "roofline_s", op->e.roof.roofline_s);
	json_add_str(o, "bound", bound_name(op->e.roof.bound));
}

void put_module(const struct hlo_view *v)
{
	struct listing l = list_ops(v);
	struct sheet s = sheet_begin(v);
	put_title(&l, &s);
	put_totals(&l, &s);
	if (!s.json) {
		put_heading(&s, arena_fmt(v->c->keep,
					"\nHeaviest of %td ops, over all their runs:", l.count));
		put_heaviest(&l);
		put_collectives(&l);
	}
	put_memory(&l, &s);
	if (s.json) {
		json_add_double(s.json, "op_count", (double)l.count);
		cJSON *list = json_add_array(s.json, "ops");
		for (ptrdiff_t k = 0; k < l.count && k < SHOWN_JSON; k++)
			json_op(&l, list, &l.ops[k]);
	}
	sheet_end(&s);
	put_no_chip(v);
}
