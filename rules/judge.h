/*
 * Judging: a rule set against the tables of a run.
 *
 * Limits say what is wrong, `matters` whether it is worth a build.  The findings of a rule are the
 * subjects beyond their warning limit; what they cost adds up, and decides.
 *
 * Never green by absence: what is not known may be good or bad, and cost between nothing and the
 * time the subject takes.  A rule is inconclusive when a worse verdict is possible; the missing
 * columns are named.  A closed gate makes the rules that need it inconclusive.  Each second of gain
 * is credited to one finding only, and all gains together never exceed step time minus ideal.
 *
 * SQLite evaluates the expressions over virtual tables; the authorizer allows reading the tables
 * and calling an allow-list of functions, and the budget is virtual-machine steps, so a verdict
 * never depends on the machine's speed.
 */
#ifndef RULES_JUDGE_H
#define RULES_JUDGE_H

#include <math.h>

#include "base/record.h"
#include "measure/plots.h"
#include "measure/tables.h"
#include "rules/ruleset.h"

/* Not in order of weight: see by_rank and run_verdict in judge.c. */
enum verdict {
	VERDICT_PASS,
	VERDICT_FAIL,
	VERDICT_WARN,
	VERDICT_WAIVED,
	VERDICT_NOT_APPLICABLE, /* no subject: the where clause matched nothing, all of it known */
	VERDICT_INCONCLUSIVE,
	VERDICT_OFF,
	VERDICT_ERROR, /* of a profile that could not be read; no rule has it */
};
/* What a rule can come to, in the same order. */
#define VERDICT_WORDS "pass|fail|warn|waived|not-applicable|inconclusive|off"
struct str verdict_name(enum verdict v); /* "pass", "fail", "not-applicable" ... */

struct evidence_value {
	bool is_text, is_null;
	double real;
	struct str text;
};

#define EVIDENCE(R, F)                                                                             \
	F(R, NEEDED, name, "a column, or a parameter of the rule")                                 \
	F(R, VALUE, value, NULL)                                                                   \
	F(R, UNIT, unit, NULL)                                                                     \
	F(R, FLAG, limit, "a parameter of the rule, not something measured")                       \
	F(R, TEXT, meaning, "of the column")
RECORD_STRUCT(evidence, EVIDENCE);

/* A row that makes up a part of a run's number. */
#define FOUND_PLACE(R, F)                                                                          \
	F(R, NEEDED, subject, "the row's key")                                                     \
	F(R, TEXT, name, "the row's name, for people")                                             \
	F(R, REAL, value, "its part, in the rule's unit")                                          \
	F(R, TEXT, source_file, "where to look")                                                   \
	F(R, REAL, source_line, NULL)                                                              \
	F(R, TEXT, scope, "JAX name stack")
RECORD_STRUCT(found_place, FOUND_PLACE);

/* What judging may know beside the tables of the run.  All zero: nothing. */
struct judge_context {
	const struct tables *base; /* of the baseline, as base_*; NULL: none */
	bool is_compared;	   /* there were earlier runs, though none of them may be alike */
	struct str profile;	   /* its path as a shell takes it, for commands; may be missing */
	struct str baseline;	   /* the same of the run that it is compared with */
	struct str today;	   /* "2027-01-31", for waivers; missing: the day of the capture */
	/*
	 * What the report before says of the profile, and what the baseline comes to by itself:
	 * that a rule which could be judged there is open is news.  NULL: there was none.
	 */
	const struct judgement *previous, *alone;
};

#define SUBJECT_RUN "run"

/* One subject (row) of a rule that did not pass.  NaN: not known, or none. */
#define FINDING(R, F)                                                                              \
	F(R, NEEDED, rule, "name of the rule")                                                     \
	F(R, WORD(verdict, verdict_words), verdict, NULL) /* of a gate never FAIL */               \
	F(R, TEXT, subject,                                                                        \
		"the row's key, stable over recompiles and captures: `run` for what is of the "    \
		"whole run, with the host's number for a device of several hosts")                 \
	F(R, TEXT, name, "the row's name, for people")                                             \
	F(R, NEEDED, message, "what is wrong")                                                     \
	F(R, REAL, value, "the number that is limited, in the rule's unit")                        \
	F(R, REAL, bytes, "of memory that it would give back")                                     \
	F(R, FLAG, of_window,                                                                      \
		"work outside the steps: claimed_s is for as much of the window as a step lasts")  \
	F(R, REAL, gain_s, "seconds per step credited to this finding")                            \
	F(R, REAL, claimed_s, "the same before each second was credited once")                     \
	F(R, REAL, shared_s, "seconds of claimed_s that other findings are credited with")         \
	F(R, TEXT, source_file, "where to look")                                                   \
	F(R, REAL, source_line, NULL)                                                              \
	F(R, TEXT, scope, "JAX name stack")                                                        \
	F(R, TEXT, missing, "columns that were unknown, separated by commas")                      \
	F(R, TEXT, note, "why the verdict is not what the rule alone says")                        \
	F(R, TEXT, waiver_ends, "last day of the waiver that holds, or held")                      \
	F(R, REAL, seen, "reports in a row with it, this one too; null: no --previous")            \
	F(R, FLAG, failed_before, "it failed in the previous report, too")                         \
	F(R, ITEMS(evidence), evidence, "what the rule's expression read")                         \
	F(R, ITEMS(found_place), places, "the rows that make up the value, the largest first")     \
	F(R, PART(around), around, NULL) /* of the program's graph: report_plots fills it in */    \
	F(R, TEXT, cause, "the likely cause")                                                      \
	F(R, TEXT, fix, "what to do")
struct finding {
	FINDING(finding, RECORD_MEMBER)
	/* While judging. */
	ptrdiff_t rank;	      /* of its rule among all, the costliest is 0 */
	struct reads unknown; /* what `missing` names */
	struct str lacks;     /* as of a rule's result; missing: it is alone with its message */
};

#define PLACES_KEPT 20 /* of a finding: what a reader looks through */

/*
 * A rule's number.  Of one subject its value; of many the smallest limit at which `matters` would
 * let it pass, one for the warning, one for the failure.  NaN: not known, or it would pass at any;
 * of limits: none.
 */
#define RULE_NUMBER(R, F)                                                                          \
	F(R, REAL, value, "the number that is limited, of the worst subject")                      \
	F(R, UNIT, unit, "of value, numbers and limits")                                           \
	F(R, FLAG, at_least, "the limits are lower ones")                                          \
	F(R, REAL, warn_limit, "beyond it, it warns")                                              \
	F(R, REAL, fail_limit, "beyond it, it fails")                                              \
	F(R, REAL, warn_number,                                                                    \
		"the smallest limit at which the rule would not warn; null: any would do")         \
	F(R, REAL, fail_number,                                                                    \
		"the smallest limit at which it would not fail for what lies beyond it")           \
	/* Of a limit of 0 what is left, from -1 to 1. */                                          \
	F(R, REAL, warn_headroom, "share of the limit that is left; below 0: beyond it")           \
	F(R, REAL, fail_headroom, "the same for the failure")
RECORD_STRUCT(rule_number, RULE_NUMBER);

/* Of a rule that has none. */
#define NO_NUMBER ((struct rule_number){ NAN, UNIT_NONE, false, NAN, NAN, NAN, NAN, NAN, NAN })

/* What a rule came to. */
#define RULE_RESULT(R, F)                                                                          \
	F(R, NEEDED, name, NULL)                                                                   \
	F(R, TEXT, title, "what the rule demands")                                                 \
	F(R, TEXT, says, "what its number counts")                                                 \
	F(R, TEXT, why, "why the rule exists")                                                     \
	F(R, TEXT, group, "what it is about")                                                      \
	F(R, WORD(verdict, verdict_words), verdict, NULL)                                          \
	F(R, INLINE(rule_number), number, NULL)                                                    \
	F(R, REAL, cost, "of its findings together, or of what it let be: a share")                \
	F(R, FLAG, of_capacity, "the share is of the memory, else of the step")                    \
	F(R, REAL, let_be, "subjects beyond a limit that together do not matter")                  \
	F(R, TEXT, reason, "why it is not applicable, inconclusive or off")                        \
	F(R, TEXT, lacks,                                                                          \
		"what the reason is about: a column that is unknown, or a check that does not "    \
		"hold")                                                                            \
	F(R, TEXT, closed_gate, "the gate that holds it up")                                       \
	F(R, REAL, withheld, "subjects that would not pass, while a gate holds it up")             \
	F(R, TEXT, todo, "what would make it conclusive") /* report_build says it */               \
	F(R, REAL, subjects, "rows it judged")                                                     \
	F(R, REAL, unknown, "rows it could not judge")                                             \
	F(R, FLAG, gate, "other rules rely on it")                                                 \
	F(R, FLAG, demanded, "being inconclusive makes the run so")                                \
	F(R, FLAG, breaks, "it made the exit status 1 or 4, with --fail-on and --inconclusive")
struct rule_result {
	RULE_RESULT(rule_result, RECORD_MEMBER)
	/* While judging. */
	const struct rule *rule; /* NULL in a report, which outlives it */
	double credited;	 /* of the cost, what no other rule is credited with; NaN: none */
	ptrdiff_t first_finding; /* findings are sorted afterwards */
	ptrdiff_t finding_count; /* 0 when a gate holds the rule up: they are not to be trusted */
};

/* What a waiver says of a row that did not pass, the better ones first. */
enum excuse {
	EXCUSE_HOLDS,
	EXCUSE_EXCEEDED, /* beyond the limit */
	EXCUSE_UNKNOWN,	 /* the value is not known */
	EXCUSE_EXPIRED,
	EXCUSE_UNDATED, /* the day is not known */
	EXCUSE_NONE,
};

/* What became of a waiver in this run. */
struct waiver_result {
	const struct waiver *waiver;
	bool judged;		       /* its rule was, and no gate holds it up */
	int64_t subjects[EXCUSE_NONE]; /* by what it says of them */
};

struct judgement {
	struct rule_result *results; /* in rule order */
	ptrdiff_t result_count;
	/* Fail, warn, waived, inconclusive; each by its rule's cost.  Texts may be the tables'. */
	struct finding *findings;
	ptrdiff_t finding_count;
	double gain_s;	  /* sum of credited gains, per step; run.gain_s too */
	double explained; /* of it, backstops aside, as a share of the step; NaN: no step */
	/*
	 * Of the whole, as the exit status has it: fail; inconclusive if a gate that a live rule
	 * needs, a required rule, or one that could be judged before is open; warn; pass;
	 * inconclusive if no rule but gates passed.
	 */
	enum verdict verdict;
	struct waiver_result *waivers; /* of all rules, in order of reading */
	ptrdiff_t waiver_count;
};

/*
 * Judges by the engine that compiled the rules, as often as there are tables to judge.  False only
 * for a rule that runs past its budget.  For one thread at a time; a forked process may go on with
 * what its parent compiled, since nothing of a connection in memory is shared.
 *
 * A gate that would fail is INCONCLUSIVE: the profile lacks the evidence, and that is no verdict on
 * the program.  Rules that need it are INCONCLUSIVE with the gate's name.  One that only warns
 * closes nothing.
 */
bool judge(const struct ruleset *rules, struct tables *tables, const struct judge_context *context,
	struct arena *keep, struct judgement *ret, struct diag *err);
/* A run by itself: without a baseline, and without a report before it. */
bool judge_alone(const struct ruleset *rules, const struct tables *tables, struct arena *keep,
	struct judgement *ret, struct diag *err);

/*
 * Free SQL for `rooflint query`, over `tables` and, as base_*, `base` (NULL: no rows): calls
 * `header` once with the column names (cells are NULL) and `row` with each row; either may be NULL,
 * and false from them ends the query, which then fails with what they wrote to the caller's
 * diagnostic.
 * Texts live until `row` returns.  Reading only; the same authorizer, a larger budget.
 */
struct query_cell {
	bool is_null, is_text;
	double real;
	struct str text;
	bool is_integer;
	int64_t integer;
};
typedef bool query_row_fn(
	void *arg, const struct str *columns, const struct query_cell *cells, ptrdiff_t count);
bool engine_query(struct engine *e, const struct tables *tables, const struct tables *base,
	struct str sql, query_row_fn *row, query_row_fn *header, void *arg, struct diag *err);

#endif
