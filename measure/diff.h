/*
 * Two runs, op by op: what is new, gone, changed, split, slower, faster, and what runs more or less
 * often, with the time each lost or won.
 *
 * Ops are matched by their key, which is what they are and where they come from and not what the
 * compiler called them.  Ops of one key are one (a layer repeated, a program compiled twice).
 *
 * An op has changed when one is gone and one is new that serves the same purpose: another shape,
 * operand or block size gives an op another key.  Such two are of one kind and one scope; else of
 * one kind, one line and one name but for its numbers; else of one such name and the same
 * dimensions; else, where an author named the kernel, of one such name; else, where they keep the
 * matrix units busy, of one layer by their scopes; else of one kind and line; else,
 * but for elementwise work, of one kind and the same dimensions.  Of several the nearest in time,
 * by their ratio, are taken together, the heaviest of both runs first, each once.
 *
 * A profile may not tell the instruction of a kernel: of those in a CUDA graph, say.  Where it is
 * told in one of the runs alone, kernel and instruction of one name, and of no two kinds, are one
 * op if no third has that name.  A library's kernel has another name than its instruction: last,
 * such matmuls and convolutions pair with custom calls of their kind.
 *
 * One piece of source code is many ops where its loop is written out, and fewer where it is a
 * loop.  So other ops, more or fewer, that are of one kind and line and come from one scope, but
 * for numbers and what a loop adds to it, are one change.  So are the ops of one kind, line and
 * pass (forward or backward).  They run 1.5 times as often as before or less.  Where no line is
 * known, only those of one kind and such a scope that run as often as before.  This comes before
 * the pairs.
 *
 * A fusion has split when it is gone, or still there under its key and holds less than it did, and
 * new ops stand in its place (their scopes are its own but for the last part; the same line of the
 * same file where it has no scope).  It and these ops are one change
 * where they are two or more.  Each of them does only what the fusion held (its opcodes, and those
 * in it, are among the fusion's) and something that those before it do not; together they have at
 * least half of the fusion's opcodes.
 *
 * Of runs that are planned, ops take as long as their rooflines say.
 *
 * Refuses: verdicts; whether the runs may be compared (baseline.h).
 */
#ifndef MEASURE_DIFF_H
#define MEASURE_DIFF_H

#include "base/kind.h"
#include "measure/tables.h"

/* In the order of CHANGE_WORDS. */
enum change {
	CHANGE_NEW,
	CHANGE_GONE,
	CHANGE_CHANGED,
	CHANGE_SPLIT,
	CHANGE_SLOWER,
	CHANGE_FASTER,
	CHANGE_MORE, /* it runs more often, which makes more of its loss than how long it runs */
	CHANGE_FEWER,
	CHANGE_SAME, /* counted, and no row */
	CHANGES
};

/* Time of all ops of a kind; or "between ops", where that changed. */
struct diff_kind {
	struct str kind;
	double base_s, head_s;
	double same_s; /* what the ops lost that count as the same */
};

#define DIFF_KINDS (KIND_COUNT + 2)

struct op_diff {
	bool is_planned;
	bool is_window; /* one of them: times are of whole captures, which may hold unlike work */
	/* Of such captures: the head's work as a multiple of the base's, by how often most ops
	 * ran.  The base's times are multiplied by it.  NaN: ops do not agree, or there are
	 * steps. */
	double work;
	struct changes_row *items; /* by lost_s, the largest loss first; then by key */
	ptrdiff_t count;
	double base_step_s, head_step_s;
	const struct devices_row *straggler; /* of the head where the base has none; or NULL */
	double base_ops_s, head_ops_s;	     /* sums over all ops, hidden time too */
	struct diff_kind kinds[DIFF_KINDS];  /* the largest change first */
	int kind_count;
	int kinds_changed;     /* so many of them, by half a percent of all ops or more */
	double lost_s, same_s; /* sum over all ops whose times are known; of these, CHANGE_SAME */
	ptrdiff_t counts[CHANGES];
	ptrdiff_t untimed; /* without a time in a run that has them: in no sum */
};

/*
 * Slower and faster are changes of at least 2%.  An op that comes as often as before has changed
 * only where the median intervals do not meet, or the devices' own ranges (least_s to most_s) do
 * not: one slow device widens the interval of all devices, but not the range of each.  What is less
 * counts as the same, and so does an op whose time is not known in one of the runs.
 */
void diff_ops(const struct tables *base, const struct tables *head, struct arena *keep,
	struct op_diff *ret);
/* Steps that differ by less count as the same. */
#define DIFF_SAME 0.005

/* What a diff compares: a step of each run, or all ops together where there is none to compare. */
struct diff_times {
	double base_s, head_s;
	bool by_ops;
};
struct diff_times diff_times(const struct op_diff *d);

/* The rows of `d` as the table changes. */
void diff_fill(const struct op_diff *d, struct tables *head, struct arena *keep);

#endif
