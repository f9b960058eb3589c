/*
 * What to do about a rule that could not be judged.
 *
 * Rules say why in their own words; what would make the missing column known depends on how the
 * profile was recorded, which is the same for every rule, so it stands here once.
 */
#include <math.h>

#include "report/model.h"

/* What a capture has to be like for a row to hold: all of these bits. */
enum lack {
	LACK_ANY = 0,
	LACK_CHIP = 1 << 0,   /* the chip was not recognised */
	LACK_XLA = 1 << 1,    /* no program of XLA ran */
	LACK_EXPORT = 1 << 2, /* its format holds neither programs nor memory events */
	LACK_HLO = 1 << 3,    /* no program is in it */
	LACK_HOST = 1 << 4,   /* no event of the host is in it */
	LACK_STEPS = 1 << 5,  /* nothing told steps apart */
	LACK_DEVICE = 1 << 6, /* it ran on CPU devices */
};

struct advice {
	const char *columns; /* globs, separated by blanks; the first row that matches and holds */
	unsigned when;	     /* bits of enum lack */
	struct str text;     /* what to do */
};

#define OF_PEAKS                                                                                   \
	"peak_flops hbm_bps t_* roofline_* attainable_s efficiency bound judged_ratio op_util "    \
	"hbm_util"
#define OF_HOST "compiles_in_steps input_wait_ratio sync_wait_ratio"
#define OF_PROGRAM                                                                                 \
	"flops flops_source hbm_bytes logical_bytes padded_bytes padding_ratio copy_cause "        \
	"message_bytes wire_bytes compiled_* arguments_bytes temp_bytes "                          \
	"output_bytes "                                                                            \
	"other_live_bytes unattributed_ratio layout_copy_ratio update_excess_ratio regathers "     \
	"unknown_kind_ratio unclear_comms_ratio operand_kind remat_flops_ratio "                   \
	"expected_*_s whole_hlo"
#define OF_ALLOCATOR "capacity_bytes *_peak_bytes fragmentation samples"
#define OF_STEPS                                                                                   \
	"steps step_* *_share per_step idle_ratio busy_ratio comms_*_ratio compute_ratio "         \
	"transfer_ratio tiny_ops_* exposed_s hidden_s lo_s hi_s p50_s"

#define WHOLE_STEPS                                                                                \
	STR_INIT("Record a few whole steps after warm-up, each in a "                              \
		 "jax.profiler.StepTraceAnnotation.")

/* The same of frameworks that have no program of XLA: under Nsight Systems, and TensorFlow's. */
#define RANGED_STEPS                                                                               \
	STR_INIT("Record a few whole steps after warm-up, each in an NVTX range named "            \
		 "\"step 12\".")
#define TRACED_STEPS                                                                               \
	STR_INIT("Record a few whole steps after warm-up, each in a "                              \
		 "tf.profiler.experimental.Trace('train', step_num=n, _r=1).")

static const struct advice advices[] = {
	/* Only the owner knows these. */
	{ "mfu hfu useful_flops_ratio owner_bytes", LACK_ANY,
		STR_INIT("Only the model's owner can say what this should be: in "
			 "rooflint.job.yaml.") },
	/* Peaks, and everything divided by them. */
	{ OF_PEAKS " chip expected_*_s", LACK_CHIP,
		STR_INIT("Name the chip with --hardware NAME; `rooflint hardware` lists the known "
			 "ones, and a file of your own works too.") },
	{ OF_PEAKS " " OF_PROGRAM, LACK_XLA,
		STR_INIT("Nothing to do: only XLA programs record this, and none ran.") },
	{ OF_PEAKS " " OF_PROGRAM, LACK_EXPORT,
		STR_INIT("Exports do not hold the program (HLO). Give the compiler's dump of the "
			 "job with --hlo DIR, or the *.xplane.pb of the same run.") },
	{ OF_PEAKS " " OF_PROGRAM, LACK_HLO,
		STR_INIT("The program (HLO) is not in the profile. Record it with jax.profiler and "
			 "keep the whole *.xplane.pb, or give the compiler's dump with --hlo "
			 "DIR.") },
	{ OF_PEAKS " flops hbm_bytes remat_flops_ratio", LACK_ANY,
		STR_INIT("The program does not say what custom calls cost: give their FLOPs and "
			 "bytes under costs: in the rule file.") },
	{ "expected_*_s", LACK_ANY,
		STR_INIT("Where the job file contradicts the profile, correct it. Otherwise the "
			 "sizes of these collectives are data, or the speed of the links is not in "
			 "the chip's file: add the links in a copy of the file and give it to "
			 "--hardware.") },
	{ OF_HOST, LACK_HOST,
		STR_INIT("Record it with host tracing on (host_tracer_level 2), and keep the whole "
			 "*.xplane.pb.") },
	{ OF_HOST " " OF_STEPS, LACK_XLA | LACK_EXPORT | LACK_STEPS, RANGED_STEPS },
	{ OF_HOST " " OF_STEPS, LACK_XLA | LACK_STEPS, TRACED_STEPS },
	{ OF_HOST " " OF_STEPS, LACK_STEPS, WHOLE_STEPS },
	{ "lo", LACK_ANY, STR_INIT("Name more baselines, or capture more steps.") },
	{ "is_slower", LACK_ANY,
		STR_INIT("Say in the job files of both runs that the batch is the same "
			 "(global_batch, in rooflint.job.yaml): then the step time decides. Where "
			 "FLOPs are unknown, give those of custom calls under costs: in the rule "
			 "file, and capture GPUs without CUDA graphs "
			 "(--xla_gpu_enable_command_buffer=).") },
	{ "all_hosts_read", LACK_ANY,
		STR_INIT("Copy the files of the other hosts beside these, and read all of them "
			 "(without --hosts-sample). Where nothing says how many there are, say it "
			 "with hosts: in rooflint.job.yaml.") },
	{ OF_ALLOCATOR, LACK_XLA | LACK_EXPORT,
		STR_INIT("Nothing: an export of Nsight Systems holds no memory events.") },
	{ OF_ALLOCATOR, LACK_EXPORT,
		STR_INIT("Exports hold no memory events. Record the run with jax.profiler, and "
			 "give its *.xplane.pb.") },
	{ OF_ALLOCATOR, LACK_DEVICE,
		STR_INIT("Nothing: XLA records no allocator on CPU devices. Record the job on the "
			 "accelerator that it is for.") },
	{ OF_ALLOCATOR, LACK_ANY,
		STR_INIT("The profile has no allocator events. Record it with host tracing on "
			 "(host_tracer_level 2).") },
	{ "transfer_s wait_s bandwidth_bps done_waits", LACK_ANY,
		STR_INIT("Nothing, while the transfer hides behind compute: how long it took "
			 "cannot be seen, and it costs no step time.") },
	{ OF_STEPS, LACK_XLA | LACK_EXPORT, RANGED_STEPS },
	{ OF_STEPS, LACK_XLA, TRACED_STEPS },
	{ OF_STEPS, LACK_ANY, WHOLE_STEPS },
};

static bool is_export(const struct report *r)
{
	const struct files_row *rows = table_rows(&r->tables, files);
	bool any = false;
	for (ptrdiff_t i = 0; i < table_count(&r->tables, files); i++)
		any |= str_eq(rows[i].format, STR("nsys")) || str_eq(rows[i].format, STR("trace"));
	return any;
}

static bool has_program(const struct report *r)
{
	const struct quality_row *row = check_of(r, STR("hlo-present"));
	return row && row->ok > 0;
}

static unsigned lacks(const struct report *r)
{
	unsigned ret = LACK_ANY;

	ret |= !run_of(r)->chip.len ? LACK_CHIP : 0;
	ret |= str_eq(run_of(r)->compiler, STR("none")) ? LACK_XLA : 0;
	ret |= is_export(r) && !has_program(r) ? LACK_EXPORT : 0;
	ret |= !has_program(r) ? LACK_HLO : 0;
	ret |= isnan(run_of(r)->compiles_in_steps) ? LACK_HOST : 0;
	ret |= is_only_seen(r) ? LACK_STEPS : 0;
	ret |= str_eq(run_of(r)->platform, STR("cpu")) ? LACK_DEVICE : 0;
	return ret;
}

/* What to do about one column; missing when nothing is known. */
static struct str advice_column(const struct report *r, struct str column)
{
	unsigned has = lacks(r);

	for (ptrdiff_t i = 0; i < COUNT_OF(advices); i++) {
		const struct advice *a = &advices[i];
		struct str rest = str_from(a->columns), glob;
		while (str_next(&rest, ' ', &glob))
			if (glob.len && str_glob(column, glob) && (has & a->when) == a->when)
				return a->text;
	}
	return MISSING;
}

/* What to do about the first of them that has an advice. */
static struct str advice_columns(
	const struct report *r, const struct reads *unknown, struct arena *keep)
{
	struct str text = MISSING;
	for (ptrdiff_t i = 0; i < unknown->count && !text.p; i++) {
		const struct column *c = column_owner(unknown->items[i].column);
		if (c && str_eq(c->name, STR("lo")))
			text = comparison_needs(r, keep);
		if (c && !text.p)
			text = advice_column(r, c->name);
	}
	return text;
}

static struct str advice_gate(
	const struct judgement *j, const struct rule *rule, struct arena *keep)
{
	for (ptrdiff_t i = 0; i < j->result_count && !rule->gate; i++) {
		const struct rule_result *g = &j->results[i];
		bool shut = g->verdict == VERDICT_INCONCLUSIVE, needed = false;
		for (ptrdiff_t k = 0; k < rule->gate_count; k++)
			needed |= str_eq(rule->gates[k]->name, g->name);
		if (shut && needed)
			return arena_fmt(keep,
				"Settle '%.*s' first: what relies on it is not judged before.",
				STR_ARG(g->name));
	}
	return MISSING;
}

/* What to do about a gate that is closed: by the finding that closed it, else in general. */
static struct str gate_fix(const struct judgement *j, const struct rule *gate)
{
	for (ptrdiff_t i = 0; i < j->finding_count; i++)
		if (str_eq(j->findings[i].rule, gate->name) && j->findings[i].fix.p &&
			j->findings[i].verdict == VERDICT_INCONCLUSIVE)
			return j->findings[i].fix;
	return advice_text(&gate->fix);
}

struct str advice_for(const struct report *r, const struct judgement *j,
	const struct rule_result *result, struct arena *keep)
{
	const struct quality_row *check = check_of(r, result->lacks);
	struct str text = check ? check->todo : MISSING;
	/* A check that does not hold is the gate's to explain. */
	for (ptrdiff_t i = 0; check && i < j->result_count && !text.p; i++) {
		const struct rule_result *g = &j->results[i];
		if (g->gate && str_eq(g->lacks, result->lacks))
			text = gate_fix(j, g->rule);
	}
	for (ptrdiff_t i = 0; i < j->finding_count && !text.p; i++)
		if (str_eq(j->findings[i].rule, result->name))
			text = advice_columns(r, &j->findings[i].unknown, keep);
	if (!text.p)
		text = advice_gate(j, result->rule, keep);
	if (!text.p && result->gate) /* it was judged, and found wanting */
		text = gate_fix(j, result->rule);
	if (!text.p)
		text = arena_fmt(keep, "`rooflint explain -v %.*s` lists what it reads.",
			STR_ARG(result->name));
	return text;
}
