/*
 * Rule files: what is demanded of a run, read from YAML, checked completely at load.
 *
 * A rule measures one number for each row of a table and says how large it may be.  Loading
 * resolves `extends`, `--set`, groups and sets, converts units, compiles every expression against
 * the tables, and learns which columns it reads.  Whatever is wrong is an error at load with file,
 * line, column, a caret and the nearest name, all mistakes of a file at once, so that judging
 * cannot fail for a spelling.
 *
 * Refuses: judging (rules/judge.h); aliases in YAML; any SQL but one expression over one table or
 * one SELECT.
 */
#ifndef RULES_RULESET_H
#define RULES_RULESET_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/keyed.h"
#include "base/unit.h"
#include "measure/formula.h"
#include "measure/noise.h"
#include "measure/tables.h"
#include "rules/notice.h"

#define RULES_MAX 1000 /* a rule file with more is generated, and no report shows it */

/* The groups of the language; a rule may be of one that its file makes up. */
enum group_id {
	GROUP_OWN,
	GROUP_EVIDENCE, /* its rules are gates */
	GROUP_COMPUTE,
	GROUP_COMMUNICATION,
	GROUP_COPIES,
	GROUP_WAITING,
	GROUP_MEMORY, /* gains are bytes */
	GROUP_REGRESSION,
	GROUP_COUNT
};

enum severity { SEVERITY_OFF, SEVERITY_WARN, SEVERITY_ERROR };

/* A number with its unit.  Not said: the text is missing and the value NaN. */
struct rule_param {
	struct str name;
	double value;
	enum unit unit; /* as written: 1% is UNIT_RATIO */
	struct str text;
	struct origin origin;
	bool used; /* by an expression or a text */
};

/* The first parameters of every rule are its limits, and what a backstop may ask for. */
enum { PARAM_WARN, PARAM_FAIL, PARAM_EXPLAINED, PARAM_OWN };

struct rule_text {
	struct str text; /* missing when the rule has no such key */
	struct origin origin;
};

/* A cause or what to do: said when its condition holds, the first one of the list that does. */
struct advice_item {
	struct rule_text when, text;
};
struct advice_list {
	struct advice_item *items;
	ptrdiff_t count;
	struct origin origin;
};

/* The rows that make up a number of the whole run. */
struct rule_places {
	const struct table_def *from; /* NULL when `select` is given, or there are no places */
	struct rule_text from_text, select, where, value;
	struct origin origin;
};

/* What is worth a build: shares of the step, and of the memory's capacity. */
enum matter {
	MATTER_WARN,
	MATTER_FAIL,
	MATTER_TOGETHER,
	MATTER_MEMORY_WARN,
	MATTER_MEMORY_FAIL,
	MATTERS
};

struct name_list {
	struct str *items;
	ptrdiff_t count;
	struct origin origin; /* its node is the list, or the one name */
};

/* A finding that a team has accepted; rules/waiver.c says how. */
struct waiver {
	struct rule_text rule, where, owner, reason, issue, expires;
	struct origin origin;
	struct rule_param limit; /* not said: the rule has an assert */
	bool at_least;
};

struct rule {
	struct str name;
	struct origin origin;
	const struct table_def *from; /* NULL when `select` is given */
	struct rule_text group, title, from_text, select, where, value, unclear, assert, can_fail,
		gain, says, applies_to, message, why, measured, wrong_when, advice_of;
	struct advice_list cause, fix, only_warns;
	struct rule_places places;
	bool at_least; /* the limits are lower ones */
	enum severity severity;
	enum group_id known;
	bool gate;     /* of the group evidence: what needs it is inconclusive without it */
	bool required; /* inconclusive counts for the exit status */
	struct name_list needs;
	const struct rule **gates; /* what it needs, sets resolved */
	ptrdiff_t gate_count;
	int min_subjects; /* fewer subjects: inconclusive; 0 = none needed */
	int confirm;	  /* reports in a row that must fail; before that it warns; 0 = 1 */
	struct rule_param matters[MATTERS]; /* its own; not said: the file's */
	struct origin limit_origin, severity_origin, required_origin, min_subjects_origin,
		confirm_origin, params_origin, matters_origin;
	struct rule_param *params; /* PARAM_OWN and more */
	ptrdiff_t param_count, param_cap;
	struct waiver **waivers; /* in file order */
	ptrdiff_t waiver_count, waiver_cap;
	bool is_broken;		/* a mistake in it was reported */
	bool is_own;		/* an expression or a text is the user's: all of it is checked */
	struct rule_code *code; /* compiled: rules/compile.h */
};

/* What all rules of a group have in common unless they say otherwise. */
struct rule_group {
	struct str name;
	struct origin origin, severity_origin; /* the latter: it says so */
	enum severity severity;
	struct name_list needs;
};

/* Gates, and other sets, under one name. */
struct rule_set {
	struct str name;
	struct name_list names;
};

/* Changes for some workloads; rules/profiles.c says how. */
struct tuning {
	struct rule_text match, label; /* globs; missing: any */
	struct origin origin;
	const struct doc_node *rules;
};

struct ruleset {
	struct engine *engine; /* that compiled the rules, and judges by them */
	struct rule **items;   /* file order; inherited ones first */
	ptrdiff_t count, cap;
	struct rule_param matters[MATTERS];
	struct rule_param noise_assumed, noise_worth; /* between runs; not said: the default */
	struct rule_text step; /* glob: which annotation or program is the step */
	struct rule_group *groups;
	ptrdiff_t group_count, group_cap;
	struct rule_set *sets;
	ptrdiff_t set_count, set_cap;
	struct op_costs costs; /* of custom calls, for measuring */
	struct str name;       /* the file or built-in set given */
	const struct doc *doc; /* that it was read from */
	struct str *files;     /* every file that took part, in order of reading */
	ptrdiff_t file_count, file_cap;
	struct waiver **waivers; /* of all rules, in order of reading */
	ptrdiff_t waiver_count, waiver_cap;
	struct tuning *tunings; /* in order of reading */
	ptrdiff_t tuning_count, tuning_cap;
	struct notice *notices; /* who is told; in file order, inherited ones first */
	ptrdiff_t notice_count, notice_cap;
	struct mistakes *mistakes; /* while loading */
	bool lacks_base;	   /* what a file extends could not be read: names may be its */
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
 * (NULL: the disk).  Settings (NULL: none) are "matmul-roofline.fail=5%" or
 * "copy-share.severity=off".  Reports all mistakes, one below the other.
 */
bool ruleset_load(struct engine *e, const struct rule_source *source, struct str name_or_path,
	const struct list *settings, struct arena *keep, struct ruleset *ret, struct diag *err);
/* "rooflint.yaml" in `from` or a folder above it; missing when there is none. */
struct str ruleset_find(struct str from, struct arena *keep);

struct rule_param *rule_param_named(const struct rule *rule, struct str name); /* or NULL */
/* "; did you mean 'slack'?", of its limits and parameters; or nothing. */
struct str rule_param_hint(const struct rule *rule, struct str name, struct arena *keep);
struct rule *ruleset_rule(const struct ruleset *set, struct str name); /* or NULL */
/* Whether a value of the rule was set in that file. */
bool rule_is_from(const struct rule *rule, struct str file);
/* The matter for the rule: its own, else the file's. */
double rule_matter(const struct ruleset *set, const struct rule *rule, enum matter m);
/* The same for a name that a user gave: NULL with a diagnostic, which names the nearest. */
const struct rule *ruleset_find_rule(
	const struct ruleset *set, struct str name, struct arena *keep, struct diag *err);
/* Whether that is a file or a built-in set, as opposed to a rule. */
bool ruleset_is_name(struct str word);
/* "the waiver by perf-team expired on 2027-01-31": of a day behind that; else missing. */
struct str waiver_expired(const struct waiver *w, struct str day, struct arena *keep);
/* What is assumed of the noise between runs: the file's, else the default. */
struct noise_prior ruleset_noise(const struct ruleset *set);
/* The text of an advice that stands alone, or its last one without a condition; or missing. */
struct str advice_text(const struct advice_list *list);

/* What a rule can say, each text once, with "..." where a finding has a number of its run. */
struct rule_outline {
	struct list cause, fix, only_warns;
	bool is_bytes; /* what a finding costs is memory, and not time */
};
bool rule_outline(const struct ruleset *set, const struct rule *rule, struct arena *keep,
	struct rule_outline *ret, struct diag *err);

/* A column that a text of SQL reads. */
struct column_read {
	const struct table_def *table;
	const struct column *column;
};

struct reads {
	struct column_read *items; /* each once, in order of first use */
	ptrdiff_t count, cap;
};

/* What the rule asks of its subjects, and of its SELECT the columns behind it. */
struct reads rule_reads(const struct rule *rule, struct arena *keep);

#endif
