/*
 * What to do about a rule that could not be judged.
 *
 * Rules say why in their own words; what would make the missing column known depends on how the
 * profile was recorded, which is the same for every rule, so it stands here once.
 */
#include "report/model.h"

struct advice {
	const char *columns; /* globs, separated by blanks; the first row that matches wins */
	struct str text;     /* what to do */
	struct str no_chip;  /* instead, when the chip was not recognised; may be missing */
};

#define NAME_THE_CHIP                                                                              \
	STR_INIT("Name the chip with --hardware NAME; `rooflint hardware` lists the known ones, "  \
		 "and a file of your own works too.")

static const struct advice advices[] = {
	/* Only the owner knows these. */
	{ "mfu hfu useful_flops_ratio owner_bytes",
		STR_INIT("Only the model's owner can say what this should be: in "
			 "rooflint.job.yaml."),
		STR_INIT("") },
	{ "chip", NAME_THE_CHIP, NAME_THE_CHIP },
	/* Peaks, and everything divided by them. */
	{ "peak_flops hbm_bps t_* roofline_* attainable_s efficiency bound judged_ratio op_util "
	  "hbm_util",
		STR_INIT("These ops have no known FLOPs or bytes. Record the profile with "
			 "jax.profiler and keep the whole *.xplane.pb, which carries the program."),
		NAME_THE_CHIP },
	{ "compiles_in_steps input_wait_ratio sync_wait_ratio",
		STR_INIT("Record it with host tracing on (host_tracer_level 2), and keep the whole "
			 "*.xplane.pb."),
		STR_INIT("") },
	{ "remat_flops_ratio",
		STR_INIT("Give the FLOPs of custom calls under costs: in the rule file, and keep "
			 "the program's HLO in the profile."),
		STR_INIT("") },
	{ "unsized",
		STR_INIT("Keep the program's HLO in the profile (enable_hlo_proto, which is on by "
			 "default): it says how large collectives are."),
		STR_INIT("") },
	{ "all_hosts_read",
		STR_INIT("Copy the files of the other hosts beside these, and read all of them "
			 "(without --hosts-sample). Where nothing says how many there are, say it "
			 "with hosts: in rooflint.job.yaml."),
		STR_INIT("") },
	{ "expected_*_s",
		STR_INIT("The sizes of these collectives are not in the profile, or the speed of "
			 "the links not in the chip's file. Keep the program's HLO in the profile; "
			 "add the links in a copy of the file and give it to --hardware."),
		NAME_THE_CHIP },
	{ "flops flops_source hbm_bytes logical_bytes padded_bytes padding_ratio copy_cause "
	  "message_bytes wire_bytes compiled_* arguments_bytes temp_bytes output_bytes "
	  "other_live_bytes unattributed_ratio layout_copy_ratio update_excess_ratio regathers "
	  "unknown_kind_ratio unclear_comms_ratio operand_kind has_hlo",
		STR_INIT("The program (HLO) is not in the profile. Record it with jax.profiler and "
			 "keep the whole *.xplane.pb."),
		STR_INIT("") },
	{ "capacity_bytes *_peak_bytes fragmentation samples",
		STR_INIT("The profile has no allocator events. Record it with host tracing on "
			 "(host_tracer_level 2)."),
		STR_INIT("") },
	{ "transfer_s wait_s bandwidth_bps done_waits",
		STR_INIT("Nothing, while the transfer hides behind compute: how long it took "
			 "cannot be seen, and it costs no step time."),
		STR_INIT("") },
	{ "steps step_* *_share per_step idle_ratio busy_ratio comms_*_ratio compute_ratio "
	  "transfer_ratio tiny_ops_* exposed_s hidden_s lo_s hi_s p50_s",
		STR_INIT("Record a few whole steps after warm-up, each in a "
			 "jax.profiler.StepTraceAnnotation."),
		STR_INIT("") },
};

/* What to do about one column; missing when nothing is known. */
static struct str advice_column(const struct report *r, struct str column)
{
	for (size_t i = 0; i < sizeof(advices) / sizeof(advices[0]); i++) {
		const struct advice *a = &advices[i];
		struct str rest = str_from(a->columns), glob;
		for (bool more = true; more;) {
			more = str_cut(rest, ' ', &glob, &rest);
			if (glob.len && str_glob(column, glob))
				return a->no_chip.len && !fact_text(r, STR("chip")).len ? a->no_chip
											: a->text;
		}
	}
	return MISSING;
}

/* The first of "column, table.column" that somebody can do something about. */
static struct str advice_columns(const struct report *r, struct str columns)
{
	struct str column;
	bool more = columns.len > 0;
	while (more) {
		more = str_cut(columns, ',', &column, &columns);
		column = str_from_offset(column, str_rfind_char(column, '.') + 1);
		struct str text = advice_column(r, str_trim(column));
		if (text.p)
			return text;
	}
	return MISSING;
}

static struct str advice_gate(
	const struct judgement *j, const struct rule *rule, struct arena *keep)
{
	for (ptrdiff_t i = 0; i < j->result_count && !rule->gate; i++) {
		const struct rule_result *g = &j->results[i];
		bool shut = g->verdict == VERDICT_INCONCLUSIVE, needed = false;
		for (ptrdiff_t k = 0; k < rule->gate_count; k++)
			needed |= str_eq(rule->gates[k]->name, g->rule->name);
		if (shut && needed)
			return arena_fmt(keep,
				"Settle '%.*s' first: what relies on it is not judged before.",
				STR_ARG(g->rule->name));
	}
	return MISSING;
}

/* What to do about a gate that was found wanting: by its first finding, else in general. */
static struct str gate_fix(const struct judgement *j, const struct rule *gate)
{
	for (ptrdiff_t i = 0; i < j->finding_count; i++)
		if (j->findings[i].rule == gate && j->findings[i].fix.p)
			return j->findings[i].fix;
	return advice_text(&gate->fix);
}

struct str advice_for(const struct report *r, const struct judgement *j,
	const struct rule_result *result, struct arena *keep)
{
	struct str text = MISSING;
	for (ptrdiff_t i = 0; i < j->finding_count && !text.p; i++)
		if (j->findings[i].rule == result->rule)
			text = advice_columns(r, j->findings[i].missing);
	if (!text.p)
		text = advice_gate(j, result->rule, keep);
	if (!text.p && result->rule->gate) /* it was judged, and found wanting */
		text = gate_fix(j, result->rule);
	if (!text.p)
		text = arena_fmt(keep,
			"`rooflint explain %.*s` says what it reads, and from where.",
			STR_ARG(result->rule->name));
	return text;
}
