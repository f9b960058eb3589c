/*
 * Rule files: what is demanded of a run, read from YAML, checked completely at load.
 *
 * A rule is a SQL condition over one table.  Loading resolves `extends`, `--set` and built-in
 * sets, converts units, compiles every expression against the tables, and learns which columns it
 * reads.  Whatever is wrong is an error at load with file, line, column, a caret and the nearest
 * name, so that judging cannot fail for a spelling.
 *
 * Refuses: judging (rules/judge.h); aliases in YAML; any SQL but one expression over one table or
 * one SELECT.
 */
#ifndef RULES_RULESET_H
#define RULES_RULESET_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/doc.h"
#include "base/unit.h"
#include "measure/formula.h"
#include "measure/tables.h"
#include "rules/notice.h"

#define RULES_MAX 1000 /* a rule file with more is generated, and no report shows it */

enum severity { SEVERITY_OFF, SEVERITY_WARN, SEVERITY_ERROR };

/*
 * Which part of a step a rule's gain would give back.  A second of a pool is credited once, and a
 * pool gives back no more than it holds (credit.c).
 */
enum pool {
	POOL_AUTO, /* by the table, and for ops by the row's kind */
	POOL_COMPUTE,
	POOL_UPDATE, /* in-place updates */
	POOL_COPY,
	POOL_COMMS,
	POOL_TRANSFER,
	POOL_IDLE,
	POOL_MEMORY, /* bytes, no time */
	POOL_COUNT
};
extern const struct str pool_names[POOL_COUNT]; /* "auto", "compute" ... */

/* Where a value came from: for `rules show` and for error messages. */
struct origin {
	struct str
		file; /* "rules/recommended.yaml", "rooflint.yaml", "--set"; missing: a default */
	int64_t line, column;
	const struct doc *doc; /* for carets */
	const struct doc_node *node;
};

struct rule_param {
	struct str name;
	double value;
	enum unit unit; /* as written: 1% is UNIT_RATIO */
	struct str text;
	struct origin origin;
	bool used; /* by an expression or the message */
};

struct rule_text {
	struct str text; /* missing when the rule has no such key */
	struct origin origin;
};

/* A finding that a team has accepted; rules/waiver.h says how. */
struct waiver {
	struct origin origin;
	struct rule_text rule, where, ceiling, owner, reason, issue, expires;
};

struct rule {
	struct str name;
	struct origin origin;
	const struct table_def *from; /* NULL when `select` is given */
	struct rule_text title, from_text, select, where, warn, assert, gain, message, why, fix,
		cause, measured, wrong_when; /* the last three feed `rooflint explain` */
	enum severity severity; /* SEVERITY_WARN demotes a failed assert to a warning */
	bool gate;		/* its failure makes dependent rules inconclusive */
	bool required;		/* inconclusive counts for the exit status */
	struct str *needs;	/* gates this rule depends on; default: all gates */
	ptrdiff_t need_count;
	bool needs_all;
	int64_t min_subjects; /* fewer subjects: inconclusive; 0 = none needed */
	int64_t confirm;      /* reports in a row that must fail; before that it warns; 0 = 1 */
	enum pool pool;
	struct origin severity_origin, gate_origin, required_origin, needs_origin,
		min_subjects_origin, confirm_origin, params_origin, pool_origin;
	struct rule_param *params;
	ptrdiff_t param_count, param_cap;
	struct waiver **waivers; /* in file order */
	ptrdiff_t waiver_count, waiver_cap;
	struct rule_code *code; /* compiled: rules/compile.h */
};

/* Changes for some workloads; rules/profiles.h says how. */
struct tuning {
	struct origin origin;
	struct rule_text match, label; /* globs; missing: any */
	const struct doc_node *rules;
};

struct ruleset {
	struct engine *engine; /* that compiled the rules, and judges by them */
	struct rule **items;   /* file order; inherited ones first */
	ptrdiff_t count, cap;
	struct op_costs costs; /* of custom calls, for measuring */
	struct str name;       /* the file or built-in set given */
	struct str *files;     /* every file that took part, in order of reading */
	ptrdiff_t file_count, file_cap;
	struct waiver **waivers; /* of all rules, in order of reading */
	ptrdiff_t waiver_count, waiver_cap;
	struct tuning *tunings; /* in order of reading */
	ptrdiff_t tuning_count, tuning_cap;
	struct notice *notices; /* who is told; in file order, inherited ones first */
	ptrdiff_t notice_count, notice_cap;
};

/*
 * Where files come from when not from the disk: fills *ret with the text of `path`, as named in
 * messages; false with a diagnostic.
 */
struct rule_source {
	bool (*read)(
		void *arg, struct str path, struct arena *keep, struct str *ret, struct diag *err);
	void *arg;
};

/*
 * A connection with the tables as virtual tables, in which rules are compiled and queries run; it
 * outlives the rules.
 */
struct engine;
struct engine *engine_new(struct diag *err);
void engine_free(struct engine *e); /* NULL is fine */

/*
 * A built-in set by name ("recommended", "strict", "fleet") or a file, which comes from `source`
 * (NULL: the disk).  Settings (NULL: none) are "matmul-roofline.near=5%" or
 * "copy-share.severity=off".  Reports the first error.
 */
bool ruleset_load(struct engine *e, const struct rule_source *source, struct str name_or_path,
	const struct list *settings, struct arena *keep, struct ruleset *ret, struct diag *err);
/* The same from text in memory, for tests and fuzzing; `extends` of files is refused. */
bool ruleset_parse(struct engine *e, struct str file, struct str text, struct arena *keep,
	struct ruleset *ret, struct diag *err);
/* "rooflint.yaml" in `from` or a folder above it; missing when there is none. */
struct str ruleset_find(struct str from, struct arena *keep);

struct rule_param *rule_param_named(const struct rule *rule, struct str name); /* or NULL */
const struct rule *ruleset_rule(const struct ruleset *set, struct str name);   /* or NULL */
/* Whether a value of the rule was set in that file. */
bool rule_is_from(const struct rule *rule, struct str file);

#endif
