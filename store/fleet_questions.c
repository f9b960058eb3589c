/* The questions and their columns; fleet.sql has the answers' tables, by the same names. */
#include "store/fleet.h"

#define T(name, meaning)                                                                           \
	{                                                                                          \
		STR_INIT(name), true, UNIT_NONE, STR_INIT(meaning), false                          \
	}
#define R(name, unit, meaning)                                                                     \
	{                                                                                          \
		STR_INIT(name), false, UNIT_##unit, STR_INIT(meaning), false                       \
	}
/* A chip's id. */
#define C(name, meaning)                                                                           \
	{                                                                                          \
		STR_INIT(name), true, UNIT_NONE, STR_INIT(meaning), true                           \
	}

#define RECOVERABLE_COLUMNS                                                                        \
	R("chips_back", COUNT, "chips that do nothing useful while it runs: chips times share"),   \
		R("chip_hours_back", COUNT, "chip-hours of the usage file that could be saved"),   \
		R("dollars_back", DOLLARS, "what those of them cost that have a price")
#define PRICED_COLUMN R("priced_hours_back", COUNT, "chip-hours back that have a price")

static const struct fleet_column totals_columns[] = {
	T("window", "this, or the one before it"),
	R("workloads", COUNT, "workloads with a usable run"),
	R("cpu_workloads", COUNT, "of them that ran on CPUs alone, and count for no chips"),
	R("runs", COUNT, "their usable runs"),
	R("chips", COUNT, "chips of their newest runs"),
	R("roofline_ratio", RATIO,
		"program goodput: ideal over measured step time, ops of unknown cost taken as "
		"free"),
	R("roofline_ratio_hi", RATIO, "the same, ops of unknown cost taken as ideal"),
	R("roofline_workloads", COUNT, "workloads where it is known"),
	R("mfu", RATIO, "model FLOPs utilisation, where the job file describes the model"),
	R("mfu_workloads", COUNT, "workloads where it is known"),
	R("share", RATIO, "step time that settling every finding would give back"),
	RECOVERABLE_COLUMNS,
	PRICED_COLUMN,
	R("by_hours", BOOL, "ratios are weighted by chip-hours, which are known of every workload"),
	R("billed_workloads", COUNT, "of them the usage file lists"),
	R("listed_workloads", COUNT, "workloads in the usage file"),
	R("listed_hours", COUNT, "their chip-hours"),
	R("listed_dollars", DOLLARS, "what those of them cost that have a price"),
	R("outside_hours", COUNT, "chip-hours of them that no usable run speaks for"),
	R("outside_dollars", DOLLARS, "what those cost"),
	R("new_problems", COUNT, "rules that workloads began to break"),
	R("fixed_problems", COUNT, "rules that they ceased to break"),
	R("rejudged", COUNT,
		"rules whose verdict differs where the judge does: rules, options or version"),
	R("rejudged_workloads", COUNT, "workloads that another judge judged before this window"),
	R("slower", COUNT,
		"workloads whose step time rose by 1% or more, and by more than its noise"),
	R("faster", COUNT, "workloads whose step time fell as far"),
	R("other_work", COUNT,
		"workloads whose step time moved as the roofline time of a step did"),
	R("unlike_before", COUNT,
		"workloads with another batch or on other chips than before: their steps are not "
		"compared"),
	R("older_runs", COUNT, "usable runs that are older than both windows"),
};

static const struct fleet_column missing_columns[] = {
	T("what", "expected, workload, night, billed or owner"),
	T("workload",
		"what did not come; of what is expected, the pattern that names it; of an owner, "
		"the name"),
	T("owner", "whose it was, by its last job file"),
	T("due", "when the night's capture was due"),
	R("came", COUNT, "captures of this window"),
	R("wanted", COUNT, "captures that were expected in it"),
	T("last_seen", "its newest capture that is known"),
	R("chip_hours", COUNT, "chip-hours of the usage file that no usable run speaks for"),
	R("dollars", DOLLARS, "what they cost"),
	R("is_new", BOOL,
		"it is missing for the first time, or has to be there; a message names it"),
	T("snoozed_until", "last day of the silence that the fleet file knows of"),
	T("reason", "of that silence"),
};

static const struct fleet_column budgets_columns[] = {
	T("owner", "whose budget it is, or the fleet's"),
	R("dollars_back", DOLLARS, "what could be had back, at least"),
	R("dollars_limit", DOLLARS, "what may be recoverable"),
	R("chip_hours_back", COUNT, "chip-hours that could be had back"),
	R("chip_hours_limit", COUNT, "chip-hours that may be recoverable"),
	R("is_broken", BOOL, "more is recoverable than may be; null where it is not known"),
};

static const struct fleet_column goodput_columns[] = {
	T("part", "what the hours were: each is a part of the one before"),
	R("chip_hours", COUNT, "of the usage file, for which it is known"),
	R("of_hours", COUNT, "of the part before, of the same workloads"),
	R("ratio", RATIO,
		"the one over the other; at the roofline: ops of unknown cost taken as free"),
	R("ratio_hi", RATIO, "the same, ops of unknown cost taken as ideal"),
	R("dollars", DOLLARS, "what those of them cost that have a price"),
	R("workloads", COUNT, "of which it is known"),
};

static const struct fleet_column trend_columns[] = {
	T("until", "day on which the window ends"),
	R("workloads", COUNT, "with a usable run"),
	R("runs", COUNT, "their usable captures"),
	R("chips", COUNT, "of their last usable runs"),
	R("chips_back", COUNT, "chips whose work settling every finding would give back"),
	R("share", RATIO, "step time that settling every finding would give back"),
	R("roofline_ratio", RATIO, "program goodput, ops of unknown cost taken as free"),
	R("roofline_ratio_hi", RATIO, "the same, ops of unknown cost taken as ideal"),
	R("changes", COUNT, "change points in it"),
};

static const struct fleet_column coverage_columns[] = {
	T("outcome", "judged, or why a run counts for nothing elsewhere"),
	R("runs", COUNT, "runs of this window, and those without a date"),
	R("part", RATIO, "of all of them"),
	T("example", "the reason in one of them"),
};

#define SEEN_COLUMNS                                                                               \
	R("seen_before", COUNT,                                                                    \
		"windows before this one, thirteen at most, in which it was broken, too; looked "  \
		"up for what stands first"),                                                       \
		R("ran_before", COUNT, "of so many in which it ran")

static const struct fleet_column ranking_columns[] = {
	R("rank", COUNT, "1 gives back most"),
	T("workload", "what ran"),
	T("owner", "whose it is, by its job file"),
	RECOVERABLE_COLUMNS,
	R("share", RATIO, "step time that settling every finding would give back"),
	R("share_before", RATIO, "the same in the window before"),
	T("top_rule", "the rule that costs most"),
	SEEN_COLUMNS,
	R("roofline_ratio", RATIO,
		"program goodput, mean over its runs; ops of unknown cost taken as free"),
	R("roofline_ratio_hi", RATIO, "the same, ops of unknown cost taken as ideal"),
	R("mfu", RATIO, "model FLOPs utilisation, mean over its runs"),
	R("step_time_s", SECONDS, "mean over its runs on those chips"),
	C("chip", "what it ran on"),
	R("chips", COUNT, "of its newest run"),
	T("model", "the model's family, by its job file"),
	R("runs", COUNT, "usable runs in the window"),
	T("first_seen", "day of its first usable run that is known"),
};

#define GROUP_COLUMNS                                                                              \
	R("share", RATIO, "step time that settling every finding would give back"),                \
		RECOVERABLE_COLUMNS, PRICED_COLUMN,                                                \
		R("roofline_ratio", RATIO, "program goodput, ops of unknown cost taken as free"),  \
		R("roofline_ratio_hi", RATIO, "the same, ops of unknown cost taken as ideal"),     \
		R("mfu", RATIO, "model FLOPs utilisation, where it is known"),                     \
		R("chips", COUNT, "chips of their newest runs"),                                   \
		R("workloads", COUNT, "workloads in it"), R("runs", COUNT, "their usable runs")

static const struct fleet_column group_columns[] = {
	T("group", "what they have in common"),
	GROUP_COLUMNS,
};

static const struct fleet_column chip_columns[] = {
	C("group", "the chip"),
	GROUP_COLUMNS,
};

static const struct fleet_column rules_columns[] = {
	T("rule", "name of the rule"),
	T("title", "what it demands"),
	R("workloads", COUNT, "whose newest run breaks it"),
	R("failed", COUNT, "of them failed, the others were warned"),
	R("chips_back", COUNT, "chips that settling its findings would free, mean over the window"),
	R("chip_hours_back", COUNT, "chip-hours of the usage file that could be saved"),
	R("dollars_back", DOLLARS, "what those of them cost that have a price"),
	PRICED_COLUMN,
	T("example", "the costliest finding of the workload it costs most"),
};

static const struct fleet_column machines_columns[] = {
	T("host", "the machine, as its profiles name it"),
	T("device", "its one slow device; null where several are"),
	R("workloads", COUNT, "in more than half of whose runs there it is slow"),
	R("of_workloads", COUNT, "that ran on it in the window"),
	R("slow_runs", COUNT,
		"runs in which its slowest device takes 5% longer than the job's median"),
	R("runs", COUNT, "usable runs on it"),
	R("slowness", NONE, "times as long as the median device, mean over its slow runs"),
	R("chips_back", COUNT, "chips that wait for it: what is lost in each run counts once"),
	R("chip_hours_back", COUNT, "chip-hours of the usage file lost to it"),
	R("dollars_back", DOLLARS, "what those of them cost that have a price"),
	PRICED_COLUMN,
};

static const struct fleet_column movers_columns[] = {
	T("state", "slower, faster, or other-work: the roofline time of its step moved as far, by "
		   "another batch, model or type, or by work that is done twice"),
	T("workload", "what ran, on the same chips in both windows"),
	T("owner", "whose it is"),
	R("before_s", SECONDS, "mean step time in the window before"),
	R("now_s", SECONDS, "mean step time in this window"),
	R("change", RATIO, "now over before, less one: above zero takes longer"),
	R("work_change", RATIO, "roofline time of its step, now over before, less one"),
	R("chips_lost", COUNT,
		"chips' worth of work lost by it; below zero: won; null of other work"),
	T("top_rule", "the rule that costs most now"),
};

static const struct fleet_column changes_columns[] = {
	T("workload", "what ran"),
	T("owner", "whose it is"),
	T("since", "capture of the first run at the new level"),
	R("is_now", BOOL, "it lies in this window"),
	R("before_s", SECONDS, "level of the step time until then"),
	R("after_s", SECONDS, "level from then on"),
	R("change", RATIO, "after over before, less one: above zero takes longer"),
	R("work_change", RATIO, "roofline time of its step, after over before, less one"),
	R("p_value", NONE, "that chance does as much at one given place"),
	T("commit_id", "of the first run at the new level"),
};

static const struct fleet_column history_columns[] = {
	T("workload", "what ran"),
	T("captured", "when"),
	R("step_time_s", SECONDS, "its step time"),
};

static const struct fleet_column problems_columns[] = {
	T("state", "new, fixed, or rejudged: the judge changed, too"),
	T("workload", "what ran"),
	T("rule", "which the run before it held and this one breaks, or the other way round"),
	T("before", "verdict of the newest run before this window"),
	T("now", "verdict of the newest run in it"),
	R("chips", COUNT, "chips that its findings cost, or did cost"),
	T("message", "what is wrong"),
	SEEN_COLUMNS,
};

static const struct fleet_column waivers_columns[] = {
	T("workload", "what ran"),
	T("rule", "which is waived there, or was"),
	T("note", "until when, by whom, and why; the first to end come first"),
	T("ends", "last day of the waiver"),
	R("days_left", COUNT,
		"from the window's end to the end of that day; below zero: it expired"),
	R("share", RATIO, "step time that settling the waived findings would give back"),
	T("message", "what is waived"),
};

static const struct fleet_column quality_columns[] = {
	T("check", "of the data itself"),
	R("runs", COUNT, "runs of this window in which it does not hold"),
	R("workloads", COUNT, "whose runs those are"),
};

#define Q(id, name, title, columns, about, none)                                                   \
	[id] = { STR_INIT(name), STR_INIT(title), STR_INIT(about), STR_INIT(none), columns,        \
		COUNT_OF(columns), (id) == FLEET_HISTORY ? FLEET_MAX_HISTORY : FLEET_MAX_ROWS }
const struct fleet_question fleet_questions[FLEET_COUNT] = {
	Q(FLEET_TOTALS, "totals", "The fleet", totals_columns,
		"This window, and the one before it.", "No usable run in either window."),
	Q(FLEET_MISSING, "missing", "Missing", missing_columns,
		"What the fleet file expects, workloads and nights that were there in four windows "
		"running, billed hours without a usable run, and owners in the fleet file without "
		"one.",
		"All that was expected came."),
	Q(FLEET_BUDGETS, "budgets", "Budgets", budgets_columns,
		"How much may be recoverable in a window, by the fleet file; the broken ones "
		"first.",
		"No budget of a fleet file applies."),
	Q(FLEET_GOODPUT, "goodput", "Where the chip-hours go", goodput_columns,
		"Hours of the usage file: allocated; running, where the file says so; in steps, by "
		"what captures show; and those that the steps would take at their roofline.",
		"The usage file is not given."),
	Q(FLEET_TREND, "trend", "Twelve windows", trend_columns,
		"This window and those before it, weighted by chips; the newest first.",
		"No usable run."),
	Q(FLEET_COVERAGE, "coverage", "Coverage", coverage_columns,
		"What became of the runs that were found. Only judged ones count elsewhere.",
		"No run was found in this window."),
	Q(FLEET_RANKING, "ranking", "What would give back most", ranking_columns,
		"Workloads by what settling their findings would give back.",
		"No usable run in this window."),
	Q(FLEET_BY_CHIP, "by-chip", "By chip", chip_columns,
		"Workloads that ran on one kind of chip.", "No usable run in this window."),
	Q(FLEET_BY_OWNER, "by-owner", "By owner", group_columns,
		"Workloads of one owner, as their job files say.", "No usable run in this window."),
	Q(FLEET_BY_MODEL, "by-model", "By model family", group_columns,
		"Workloads of one family of models, as their job files say.",
		"No usable run in this window."),
	Q(FLEET_BY_SIZE, "by-size", "By size of the job", group_columns,
		"Workloads on about as many chips.", "No usable run in this window."),
	Q(FLEET_RULES, "rules", "Rules whose findings cost most", rules_columns,
		"Rules that newest runs break, by what settling them would give back.",
		"No rule is broken."),
	Q(FLEET_MACHINES, "machines", "Slow machines", machines_columns,
		"Hosts that are slow in most of at least two workloads that ran on them, by what "
		"waiting for them costs.",
		"No host is slow in several workloads."),
	Q(FLEET_MOVERS, "movers", "Movers", movers_columns,
		"Workloads on the same chips as in the window before whose step time moved by "
		"1% or more, and by more than its noise.",
		"No workload moved by more than its noise, or none ran in both windows."),
	Q(FLEET_CHANGES, "changes", "Change points", changes_columns,
		"Where a workload's step time took another level for at least three runs, newest "
		"first.",
		"No history shows another level."),
	Q(FLEET_HISTORY, "history", "Histories", history_columns,
		"Step times of the workloads with change points.",
		"No history shows another level."),
	Q(FLEET_PROBLEMS, "problems", "New and fixed", problems_columns,
		"Rules that a workload's newest run breaks and the newest before this window did "
		"not, "
		"or the other way round.",
		"No problem is new or fixed, or no workload ran in both windows."),
	Q(FLEET_WAIVERS, "waivers", "Waived", waivers_columns,
		"Findings that the rule file waives, or did until their waiver expired; the first "
		"to end first.",
		"Nothing is waived."),
	Q(FLEET_QUALITY, "quality", "Data quality", quality_columns,
		"Checks of the profiles themselves that do not hold.", "Every check holds."),
};
