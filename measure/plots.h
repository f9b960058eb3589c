/*
 * Plots: what a page draws of a run and no rule judges.
 *
 * They cost another look at the profile and the programs, so they are made only when somebody asks,
 * after the run was measured.  Columns are described as those of the tables are, and every plot is
 * bounded: a picture has so many pixels, and what is finer than one is merged.
 *
 * Refuses: numbers for rules.  What is merged here for the eye is exact in the tables.
 */
#ifndef MEASURE_PLOTS_H
#define MEASURE_PLOTS_H

#include "base/record.h"
#include "measure/run.h"

/* Rows of any plot: a picture's width has 600 units, and it has four rows that are full.  Half a
 * megabyte as SVG. */
#define PLOT_MAX_ROWS 2400

#define ACTIVITY_WORDS "compute|communication|copy|transfer"
#define ROLE_WORDS     "slowest|median|waiting"
#define SOURCE_WORDS   "allocator|schedule"

#define MOMENT_COLUMNS(TEXT, REAL)                                                                 \
	TEXT(host, 0, "host")                                                                      \
	TEXT(device, 0, "plane name")                                                              \
	TEXT(role, ROLE_WORDS,                                                                     \
		"slowest: works longest, so that others wait; waiting: works shortest; NULL: "     \
		"neither, or all are alike")                                                       \
	REAL(own_s, SECONDS, "mean of its steady steps, without exposed communication")            \
	REAL(left_out, COUNT, "devices with such a step that are not drawn")                       \
	REAL(step, COUNT, "number of the step; NULL when the whole window is the one step")        \
	REAL(step_s, SECONDS, "how long it took on this device")                                   \
	REAL(shown_s, SECONDS,                                                                     \
		"how much of it was read: less when too many ops come before the rest")            \
	REAL(sliver_s, SECONDS, "neighbours that together last less are one bar")                  \
	REAL(ops, COUNT, "executions in the bars")                                                 \
	REAL(merged, COUNT, "of those, in a bar with others")                                      \
	REAL(lanes, COUNT, "lanes with ops in this step")                                          \
	REAL(lanes_shown, COUNT, "of those, the busiest")

#define TIMELINE_COLUMNS(TEXT, REAL)                                                               \
	REAL(moment, COUNT, "row of moment, from 0")                                               \
	TEXT(lane, 0, "line, stream or thread; \"... in flight\" for asynchronous ones")           \
	TEXT(activity, ACTIVITY_WORDS, "what most of its time is")                                 \
	TEXT(kind, KIND_WORDS, "of the op named")                                                  \
	TEXT(name, 0, "the longest op in it")                                                      \
	REAL(start_s, SECONDS, "since the step began")                                             \
	REAL(time_s, SECONDS, "from its first op to the end of its last")                          \
	REAL(busy_s, SECONDS, "time of its ops")                                                   \
	REAL(ops, COUNT, "executions in it")

#define CURVES_COLUMNS(TEXT, REAL)                                                                 \
	TEXT(source, SOURCE_WORDS,                                                                 \
		"allocator: events of the window; schedule: the compiler's plan replayed")         \
	TEXT(host, 0, "host of the allocator")                                                     \
	TEXT(device, 0, "the fullest allocator")                                                   \
	TEXT(module, 0, "the program with the largest plan")                                       \
	REAL(length_s, SECONDS, "from the first sample to the last; NULL for a schedule")          \
	REAL(slot_s, SECONDS, "samples this close are one point; NULL for a schedule")             \
	REAL(samples, COUNT, "events behind the points")

#define USAGE_COLUMNS(TEXT, REAL)                                                                  \
	TEXT(source, SOURCE_WORDS, "which curve")                                                  \
	REAL(position, RATIO, "of its length: where the point begins")                             \
	REAL(bytes, BYTES, "most in use there")                                                    \
	REAL(least_bytes, BYTES, "least in use there")

/* As TABLES: X(plot, COLUMNS list, key column or "", meaning) */
#define PLOTS(X)                                                                                   \
	X(moment, MOMENT_COLUMNS, "",                                                              \
		"the step that the timeline shows; a row for each device drawn")                   \
	X(timeline, TIMELINE_COLUMNS, "", "a stretch of that step on one lane")                    \
	X(curves, CURVES_COLUMNS, "", "a curve of memory in use")                                  \
	X(usage, USAGE_COLUMNS, "", "a point of such a curve; it holds until the next")

#define X(plot, COLUMNS, key, meaning)                                                             \
	struct plot##_row {                                                                        \
		COLUMNS(ROW_TEXT, ROW_REAL)                                                        \
	};
PLOTS(X)
#undef X

enum plot_id {
#define X(plot, COLUMNS, key, meaning) PLOT_##plot,
	PLOTS(X)
#undef X
		PLOT_COUNT
};

extern const struct table_def plot_defs[PLOT_COUNT];

struct plots {
	struct table items[PLOT_COUNT];
};
#define plot_rows(p, plot)  ((struct plot##_row *)(p)->items[PLOT_##plot].rows)
#define plot_count(p, plot) ((p)->items[PLOT_##plot].count)
#define plot_new(p, plot, keep)                                                                    \
	((struct plot##_row *)rows_add(&(p)->items[PLOT_##plot], &plot_defs[PLOT_##plot], (keep)))

/*
 * What is handed out lives until measure_end.  A run without steps or memory has empty plots; false
 * when a profile's bytes turn out bad.
 */
bool measure_plots(struct measured *m, struct plots *ret, struct diag *err);

/* ---- the neighbourhood of an op -------------------------------------------------------------- */

enum around_role { AROUND_TAKES, AROUND_SELF, AROUND_HOLDS, AROUND_GIVES, AROUND_ROLES };
#define AROUND_WORDS "takes|self|holds|gives"
struct str around_role_name(enum around_role r);

/* Texts are clean. */
#define NEIGHBOUR(R, F)                                                                            \
	F(R, WORD(around_role, role_words), role, NULL)                                            \
	F(R, TEXT, name, "instruction")                                                            \
	F(R, TEXT, opcode, NULL)                                                                   \
	F(R, TEXT, shape, "of its result, with layout")                                            \
	F(R, REAL, bytes, "of its result, as laid out")
RECORD_STRUCT(neighbour, NEIGHBOUR);

#define AROUND(R, F)                                                                               \
	F(R, REAL, takes_left_out, "ops it takes from that are not listed")                        \
	F(R, REAL, holds_left_out, "ops in it that are not listed")                                \
	F(R, REAL, gives_left_out, "ops that take from it and are not listed")                     \
	F(R, ITEMS(neighbour), ops, "the heaviest of each role, in the program's order")
RECORD_STRUCT(around, AROUND);

/*
 * What an op takes, holds and gives, by its name and, where several programs have the name, its
 * scope.  False when no program in the profile has it.
 */
bool measure_around(struct measured *m, struct str name, struct str scope, struct around *ret);

#endif
