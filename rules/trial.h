/*
 * A rule at work: its statement runs over the rows, its places are listed, and waivers are asked.
 * judge.c decides about the rows, finding.c puts them into words.  Private to rules/.
 */
#ifndef RULES_TRIAL_H
#define RULES_TRIAL_H

#include "base/map.h"
#include "rules/compile.h"
#include "rules/weigh.h"

/* Of a rule with places: each place has a bit for each of them. */
#define PLACE_WAIVERS_MAX 64

/* Of a waiver that speaks of the row, or of places with this sum, on a day that may be missing. */
enum excuse waiver_excuse(const struct waiver *w, double value, struct str today);
/* For people: "waived until 2027-01-31 by perf-team (PERF-12): ..." */
struct str waiver_note(
	const struct waiver *w, enum excuse excuse, struct str today, struct arena *keep);

/* One call of judge(). */
struct judging {
	const struct ruleset *rules;
	struct tables *tables;
	const struct judge_context *context;
	struct str today; /* missing: not known */
	struct arena *keep;
	struct map before; /* what context->previous found bad, by rule and subject */
	struct judgement *ret;
	struct claim *claims;
	ptrdiff_t claim_count, claim_cap, finding_cap;
	struct arena scratch;	  /* of the rule that is judged */
	double step_s;		  /* what gains in seconds are shares of */
	double capacity;	  /* what gains in bytes are */
	double total_s;		  /* the step, for values that are shares of it */
	double pools[POOL_COUNT]; /* as shares */
	bool ok;		  /* else *err says what ended it */
	struct diag *err;
};

/* A place, while it may still be waived. */
struct place_row {
	struct found_place place;
	struct str role, module; /* of the program that it is in; missing: the rows name none */
	enum pool pool;
	uint64_t waivers; /* that speak of it: a bit each, PLACE_WAIVERS_MAX */
};

/* The largest of so many places. */
struct places_told {
	struct found_place *items;
	ptrdiff_t count, of;
};

/* The places of one row, the largest first: what is left of its value, and what is waived. */
struct row_places {
	struct place_row *left, *waived;
	ptrdiff_t left_count, waived_count;
	double waived_value;
	enum excuse excuse; /* the best that a waiver says of them */
	const struct waiver *waiver;
};

/* A rule at work. */
struct trial {
	struct judging *s;
	const struct rule *rule;
	struct rule_code *code;
	struct rule_result *result;
	struct weighed *items;
	ptrdiff_t count, cap;
	struct scale scale;
	struct map chips;	  /* by host and device */
	bool has_places;	  /* they have been listed */
	struct place_row *places; /* of all rows, the largest first */
	ptrdiff_t place_count, place_cap;
};

/* A row beyond a limit, or perhaps beyond it. */
struct subject {
	const void *row; /* laid out by code->subjects.rows */
	double value;	 /* NaN: not known, or an assert */
	double unclear;
	double gain; /* seconds per step, bytes, or a share; NaN: none, or not known */
	struct expression *fault,
		*open; /* the one that is broken; the one that is not known; or NULL */
	struct places_told places;
	enum excuse excuse;
	const struct waiver *waiver;
	bool failed_before; /* in the previous report */
	double seen;	    /* as of a finding */
};

enum truth { IS_FALSE, IS_TRUE, IS_UNKNOWN };

/* ---- the current row ---------------------------------------------------------------------- */

/* Of a condition that the rule does not have: true. */
enum truth truth_of(const struct listing *l, const struct expression *x);
/* The row in its table.  A row of a SELECT is in no table: it is copied out of the result. */
const void *current_row(const struct judging *s, const struct listing *l);
/* Sets the best that the rule's waivers say of it, where that is better than what is set. */
void find_excuse(const struct trial *t, struct subject *x);

/* ---- all rows ----------------------------------------------------------------------------- */

/* Its statement, ready to run over the rows, or as texts of a subject; false with a diagnostic. */
bool trial_prepare(const struct trial *t, struct listing *l, const struct subject *s);
/* What sqlite3_step said ends it well; else false with a diagnostic: it ran past its budget. */
bool trial_ended(const struct trial *t, const struct listing *l, int code, int wanted);
bool each_row(struct trial *t, struct listing *l, void (*look)(struct trial *t));
/*
 * The row's places.  Those of the rule are listed when they are first wanted, between two rows,
 * which go on with a budget of their own.
 */
bool judge_places(struct trial *t, const void *row, struct row_places *ret);
/* Those of them that a finding lists. */
struct places_told tell_places(const struct place_row *places, ptrdiff_t count, struct arena *keep);

/* ---- findings (finding.c) ----------------------------------------------------------------- */

/*
 * The columns that its expression reads are the evidence.  Credit is the caller's.  False with a
 * diagnostic, as each_row.
 */
bool finding_fill(
	const struct trial *t, const struct subject *s, enum verdict verdict, struct finding *ret);
/* Of the last one filled: the first text of the list whose condition holds; missing: none does. */
struct str finding_says(const struct trial *t, const struct advice_code *items, ptrdiff_t count);
/* The largest places in words; empty for none. */
struct str places_text(const struct trial *t, const struct places_told *places);
/* A cell as text; missing for NULL and for a table without that column. */
struct str row_text(const struct column *c, const void *row, struct arena *keep);
/*
 * By what a row is known again in another capture of the job: by its key, and where it is a
 * device's by its host's number, too.  The run's own name may be a date.
 */
struct str row_subject(const struct judging *s, const struct listing *l, const void *row);
/* The place that a row stands for. */
void place_fill(const struct judging *s, const struct listing *l, const void *row, double value,
	struct found_place *ret);

#endif
