/*
 * Questions about a fleet, asked once: SQL over facts, whatever store or file they came from.
 *
 * A store is asked about a window (questions.sql), or facts that were taken one by one into a file
 * of this process.  What comes back is a row for each workload and day, and for each workload and
 * rule; every question of fleet_questions[] is then answered from these.  The same set of facts
 * gives the same answers, in whatever order and however often they came.
 *
 * Money and chip-hours come from the fleet's owner or not at all: a profile knows neither.
 *
 * Refuses: writing the answers down (report/fleet.h); changing a store.
 */
#ifndef STORE_FLEET_H
#define STORE_FLEET_H

#include "store/fleet_file.h"
#include "store/store.h"

/* Windows before this one that change points are looked for in: a quarter of a year of weeks. */
#define FLEET_HISTORY_WINDOWS 13

/* Rows kept of an answer: more are too many to read, and the facts can be asked directly. */
#define FLEET_MAX_ROWS 1000
/* Of histories: a hundred of them, each of a year of captures in a working week. */
#define FLEET_MAX_HISTORY 26000

struct fleet_column {
	struct str name;
	bool is_text;
	enum unit unit;
	struct str meaning;
	bool is_chip; /* a text that is a chip's id, "cpu" or "unknown" */
};

struct fleet_question {
	struct str name, title;
	struct str about; /* what a row is, and by what they are sorted */
	struct str none;  /* what it means when there are no rows */
	const struct fleet_column *columns;
	ptrdiff_t column_count;
	ptrdiff_t most_rows;
};

enum fleet_id {
	FLEET_TOTALS, /* a row for this window, one for the window before */
	FLEET_MISSING,
	FLEET_BUDGETS,
	FLEET_GOODPUT,
	FLEET_TREND,
	FLEET_COVERAGE,
	FLEET_RANKING,
	FLEET_BY_CHIP,
	FLEET_BY_OWNER,
	FLEET_BY_MODEL,
	FLEET_BY_SIZE,
	FLEET_RULES,
	FLEET_MACHINES,
	FLEET_MOVERS,
	FLEET_CHANGES,
	FLEET_HISTORY, /* of the workloads in FLEET_CHANGES: what their pictures are made of */
	FLEET_PROBLEMS,
	FLEET_WAIVERS,
	FLEET_QUALITY,
	FLEET_COUNT
};
extern const struct fleet_question fleet_questions[FLEET_COUNT];

struct fleet_cell {
	bool is_null;
	double real;
	struct str text;
};

struct fleet_row {
	struct fleet_cell *cells;
	struct str run, profile; /* the run to look at; missing when there is none */
};

struct fleet_answer {
	const struct fleet_question *question;
	struct fleet_row *rows;
	ptrdiff_t count, cap;
	ptrdiff_t total; /* with those that were not kept */
};

/* (from, to] and (before, from], as facts have moments. */
struct fleet_window {
	struct str from, to, before;
};

struct fleet_report {
	struct fleet_window window;
	struct str tool_version;
	struct str owner; /* whose workloads; missing: all */
	bool has_usage;	  /* chip-hours of a workload are known */
	bool by_hours;	  /* those of all are, and ratios are weighted by them */
	struct fleet_answer answers[FLEET_COUNT];
};

struct fleet;
struct fleet *fleet_new(struct arena *keep, struct diag *err);
void fleet_free(struct fleet *f);
/* A run_facts_fn; `fleet` is a struct fleet. */
bool fleet_take(void *fleet, const struct run_facts *facts, struct diag *err);
/* When the newest run was captured, until then; 0 when none has a date.  Asked once. */
bool fleet_newest(
	struct fleet *f, struct store *store, int64_t until_ns, int64_t *ret, struct diag *err);
/* Chip-hours as CSV: columns workload, chip_hours and, if known, price in dollars per chip-hour. */
bool fleet_usage(struct fleet *f, struct str file, struct str text, struct diag *err);
/* What is expected, snoozed and renamed; before any facts are taken. */
bool fleet_expect(struct fleet *f, const struct fleet_file *file, struct diag *err);
/*
 * `store`: NULL for what was taken.  `judge` is preferred where several judged a run.  Asked once;
 * the answers live in `keep`.
 */
bool fleet_ask(struct fleet *f, struct store *store, const struct fleet_window *window,
	struct str judge, struct arena *keep, struct fleet_report *ret, struct diag *err);
/*
 * The same of one owner's workloads, after that and from what was asked then, so that a store of
 * any size is asked once.  A workload is whose its newest capture says.
 */
bool fleet_ask_owner(struct fleet *f, struct str owner, struct arena *keep,
	struct fleet_report *ret, struct diag *err);

/* Where a named column stands; -1 when the question has none. */
ptrdiff_t fleet_column(const struct fleet_answer *a, struct str name);
/* The cell of a named column; NULL when the question has none. */
const struct fleet_cell *fleet_cell(const struct fleet_answer *a, ptrdiff_t row, struct str column);

#endif
