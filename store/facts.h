/*
 * Facts: what is remembered of a judged run, as flat records that a warehouse loads as they are.
 *
 * A run is one record of its own, one for each rule, and one for each device that can be held
 * against the others of its job.  A record has the columns that are known, in one order: scalars
 * only, UTC times in ISO 8601.  Who ran what stands in the run's record alone; `hash` joins the
 * others to it.  The columns stand in the lists below and nowhere else; docs/facts.md, the store's
 * tables and the reader are made from them.
 *
 * `hash` is over all that is said of a run and its rules, so that the same facts are the same
 * wherever they come from, and may be sent, appended and merged as often as one likes.
 *
 * Refuses: knowing where facts come from (report/facts.c) or go to (store.h).
 */
#ifndef STORE_FACTS_H
#define STORE_FACTS_H

#include "base/input.h"
#include "base/out.h"
#include "measure/tables.h"

/* Major: a column changed its meaning or went away.  Minor: a column came. */
#define FACTS_VERSION "2.0"

/* In the record of the run. */
#define FACT_IDENTITY(TEXT, REAL)                                                                  \
	TEXT(version, 0, "version of these columns: " FACTS_VERSION)                               \
	TEXT(hash, 0,                                                                              \
		"content of a run, its rules and devices together; the same hash never counts "    \
		"twice")                                                                           \
	TEXT(run, 0, "identity of the capture, wherever its files lie")                            \
	TEXT(profile, 0, "the profile as it was named")                                            \
	TEXT(captured, 0, "when the capture began")                                                \
	TEXT(captured_source, "profile|name",                                                      \
		"who says so: the profile, or its directory's name, which is local time")          \
	TEXT(workload, 0, "what ran: --job's workload, else the directory of its captures")        \
	TEXT(owner, 0, "whom to ask, by its job file")                                             \
	TEXT(model, 0, "the model, by its job file")                                               \
	TEXT(commit_id, 0, "source that ran, by its job file")                                     \
	TEXT(platform, "tpu|nvidia|amd|cpu|unknown", "as in table run")                            \
	TEXT(chip, 0, "as in table run")                                                           \
	REAL(chips, COUNT, "as in table run")                                                      \
	TEXT(phase, PHASE_WORDS, "as in table run")                                                \
	TEXT(judge, 0, "identity of rules, options and rooflint's version that judged")            \
	TEXT(rules, 0, "name of the rule file")                                                    \
	TEXT(tool, 0, "rooflint's version")

/* In the records of the run and of its rules, each with a meaning of its own. */
#define FACT_OUTCOME(TEXT, REAL)                                                                   \
	TEXT(verdict, 0, "of the run (pass, fail, warn, inconclusive, error), or of the rule")     \
	REAL(gain_s, SECONDS, "step time that findings would give back: all of them, or the rule's")

/* In the record of the run. */
#define FACT_MEASURES(TEXT, REAL)                                                                  \
	TEXT(listing, 0, "as in table run")                                                        \
	REAL(hosts, COUNT, "as in table run")                                                      \
	REAL(hosts_expected, COUNT, "as in table run")                                             \
	REAL(devices, COUNT, "as in table run")                                                    \
	REAL(steps, COUNT, "as in table run")                                                      \
	REAL(global_batch, COUNT, "as in table run")                                               \
	REAL(tokens_per_step, COUNT, "as in table run")                                            \
	REAL(step_time_s, SECONDS, "as in table run")                                              \
	REAL(step_time_lo_s, SECONDS, "as in table run")                                           \
	REAL(step_time_hi_s, SECONDS, "as in table run")                                           \
	REAL(step_mean_s, SECONDS, "as in table run")                                              \
	REAL(busy_ratio, RATIO, "as in table run")                                                 \
	REAL(idle_ratio, RATIO, "as in table run")                                                 \
	REAL(compute_ratio, RATIO, "as in table run")                                              \
	REAL(comms_exposed_ratio, RATIO, "as in table run")                                        \
	REAL(layout_copy_ratio, RATIO, "as in table run")                                          \
	REAL(transfer_ratio, RATIO, "as in table run")                                             \
	REAL(op_util, RATIO, "as in table run")                                                    \
	REAL(mfu, RATIO, "as in table run")                                                        \
	REAL(hfu, RATIO, "as in table run")                                                        \
	REAL(hbm_util, RATIO, "as in table run")                                                   \
	REAL(roofline_ratio_lo, RATIO, "as in table run")                                          \
	REAL(roofline_ratio_hi, RATIO, "as in table run")                                          \
	REAL(judged_ratio, RATIO, "as in table run")                                               \
	REAL(unattributed_ratio, RATIO, "as in table run")                                         \
	REAL(steps_ratio, RATIO,                                                                   \
		"share of the captured window in steps that are judged: the rest "                 \
		"is other programs, and waiting between")                                          \
	TEXT(quality, 0, "checks of the data itself that do not hold, separated by commas")        \
	TEXT(labels, 0, "as in table run")                                                         \
	TEXT(jax_version, 0, "as in table run")                                                    \
	TEXT(jaxlib_version, 0, "as in table run")                                                 \
	TEXT(runtime_version, 0, "as in table run")                                                \
	TEXT(error_id, 0, "why the profile could not be judged: id of the diagnostic")             \
	TEXT(error, 0, "the same in words")

/* In the record of a rule.  Rules that are off have none. */
#define FACT_RULE(TEXT, REAL)                                                                      \
	TEXT(rule, 0, "name of the rule")                                                          \
	TEXT(rule_group, 0, "what it is about")                                                    \
	TEXT(title, 0, "what it demands")                                                          \
	TEXT(reason, 0,                                                                            \
		"why it was not judged; where a gate is closed, the gate's record says it")        \
	TEXT(closed_gate, 0, "the gate that kept it from being judged")                            \
	REAL(value, NONE, "the number that it limits, of its worst subject, in base units")        \
	REAL(warn_limit, NONE, "where it warns")                                                   \
	REAL(fail_limit, NONE, "where it fails")                                                   \
	REAL(warn_headroom, RATIO, "share of that limit that is left, as what it costs matters")   \
	REAL(fail_headroom, RATIO, "the same of the failure's")                                    \
	REAL(subjects, COUNT, "what it was asked of")                                              \
	REAL(findings, COUNT, "of them that did not pass")                                         \
	TEXT(message, 0, "what is wrong with the costliest of them")                               \
	TEXT(note, 0, "why its verdict is not what the rule alone says, such as a waiver")         \
	TEXT(waiver_ends, 0, "last day of the waiver that holds for it, or held")                  \
	TEXT(source_file, 0, "where that one comes from")                                          \
	REAL(source_line, COUNT, "its line")

/* In the record of a device: an accelerator on a host with a name, beside others of its job. */
#define FACT_DEVICE(TEXT, REAL)                                                                    \
	TEXT(host, 0, "as in table devices")                                                       \
	TEXT(device, 0, "as in table devices")                                                     \
	REAL(slowness, NONE, "as in table devices")                                                \
	REAL(lost_s, SECONDS, "step time for which the other devices wait for it")

struct rule_facts {
	FACT_OUTCOME(ROW_TEXT, ROW_REAL)
	FACT_RULE(ROW_TEXT, ROW_REAL)
};

struct device_facts {
	FACT_DEVICE(ROW_TEXT, ROW_REAL)
};

/* Sorts of records, a table of a store each, in their order: a run, and its parts: what it has many
 * of. */
enum fact_record { FACT_RUN, FACT_RULES, FACT_DEVICES, FACT_RECORDS };

struct run_facts {
	FACT_IDENTITY(ROW_TEXT, ROW_REAL)
	FACT_OUTCOME(ROW_TEXT, ROW_REAL)
	FACT_MEASURES(ROW_TEXT, ROW_REAL)
	struct table parts[FACT_RECORDS]; /* none of FACT_RUN */
};
#define run_rules(f)	    ((struct rule_facts *)(f)->parts[FACT_RULES].rows)
#define run_rule_count(f)   ((f)->parts[FACT_RULES].count)
#define run_devices(f)	    ((struct device_facts *)(f)->parts[FACT_DEVICES].rows)
#define run_device_count(f) ((f)->parts[FACT_DEVICES].count)

/*
 * What questions read of a record beside its columns: texts, and what they add up as whole numbers,
 * so that sums are the same in any order and in any store: times in nanoseconds, ratios in units of
 * 1e-12.  A sum has room for nine million ratios of 1.
 */
#define FACT_NONE INT64_MIN
struct fact_extra {
	struct str name;
	bool is_text;
};
union fact_value {
	int64_t number;
	struct str text;
};
enum { FACT_EXTRAS_MAX = 9 };
/* In the order of the record's extras. */
void fact_extras(const struct run_facts *f, enum fact_record record, ptrdiff_t row,
	struct arena *keep, union fact_value *ret);

/*
 * More rules than a rule file may have (RULES_MAX) are no facts of ours.  Of more devices the
 * slowest are kept: the largest slices have nine thousand chips, and nothing waits for the others.
 */
#define FACTS_MAX_ROWS 1000
/* Longest record read: each text is at most TEXT_MAX, and there are some twenty. */
#define FACTS_MAX_LINE ((ptrdiff_t)1 << 18)

/* What whoever keeps records has to know of a sort; `hash` joins the parts to their run. */
extern const struct fact_form {
	struct table_def table;
	struct str word;   /* in a line of it */
	struct str source; /* in questions: its rows, beside their run */
	const struct fact_extra *extras;
	ptrdiff_t extra_count;
} fact_forms[FACT_RECORDS];

/* The first sort whose records have that column. */
const struct fact_form *fact_first(struct str column);
#define FACT_RECORD_MEANING "sort of this record: run, rule or device"

ptrdiff_t fact_row_count(const struct run_facts *f, enum fact_record record);
const void *fact_row(const struct run_facts *f, enum fact_record record, ptrdiff_t row);

/* Every cell NULL, and no rows. */
void run_facts_clear(struct run_facts *f);
/* A new last row with every cell NULL; the pointer lives until the next one. */
void *run_facts_add(struct run_facts *f, enum fact_record part, struct arena *keep);
/* Set version and hash, after everything else is said. */
void run_facts_seal(struct run_facts *f, struct arena *keep);

/* What is wrong with a run that somebody else wrote, or NULL: it lacks what every run has, or its
 * hash is not that of its content.  Hashes of other minor versions cannot be checked. */
const char *run_facts_flaw(const struct run_facts *f, struct arena *scratch);

/* The records of one run: a line for it, then one for each row of its parts. */
void run_facts_write(const struct run_facts *f, struct out *out);

/*
 * Records as run_facts_write makes them, in that order: a run's parts follow their run.  `take`
 * gets a run when it is complete and may keep nothing of it; false from it ends the reading.
 * Columns that are not known are skipped, as a newer minor version has them.  A run of this version
 * whose hash does not fit its content is refused, since it was cut or edited.  What was read of a
 * file is given back: ten thousand runs are half a gigabyte.
 */
typedef bool run_facts_fn(void *arg, const struct run_facts *f, struct diag *err);
bool run_facts_read(const struct input *in, run_facts_fn *take, void *arg, struct diag *err);

/*
 * The columns of a line as BigQuery's schema file.  Guessed from the lines, a column would be
 * a text that the first of them leave null.
 */
void facts_bigquery(struct out *out);

#endif
