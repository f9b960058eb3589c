/*
 * Inside of fill_gaps: what its three parts share.  Not for others.
 *
 *	gaps.c        which waits of the devices are looked at, their rows and sums
 *	gap_calls.c   which of a host's threads keeps a device waiting
 *	gap_causes.c  what the host's events say of a wait, and what that comes to
 */
#ifndef MEASURE_GAPS_H
#define MEASURE_GAPS_H

#include "base/map.h"
#include "measure/writers.h"

/* Clocks of host and device agree to so much, or to a tenth of the gap. */
#define GAP_SLACK_PS INT64_C(200000000)

/* A host's calls, as far as they tell which thread keeps a device waiting. */
struct calls {
	const struct host_span **items; /* by begin */
	bool *of_main; /* each: of the program that takes most of a step, or other work's */
	ptrdiff_t count;
	bool of_threads; /* of several */
	bool tell_main;	 /* some are of that */
};

/* An event of the host that explains a gap. */
struct best {
	struct str name; /* missing while there is none */
	int64_t covered_ps, start_ps, length_ps;
	enum host_class class;
	bool launches; /* of call and user: work of the steps */
};

/* How much of a gap events of a lane cover, which are in order. */
struct cover {
	int64_t ps, until_ps;
};

/* A gap on the host's clock, and what explains it. */
struct host_gap {
	const struct device *device;
	const struct swept_gap *gap; /* NULL: a wait between two executions, wherever it lies */
	bool has_row;		     /* as far as the device's other gaps leave it one */
	int64_t start_ps, end_ps;
	int32_t program; /* what ended it; -1 unknown */
	int64_t work_ps; /* of the device before it: what the host could have done beside that */
	const struct calls *calls;
	int32_t thread; /* which called what ended it; 0: any that launches work */

	/* What the host's events say of it, */
	struct best host,  /* the one that explains it best */
		call,	   /* the longest that lies in it and covers most of it */
		user,	   /* the user's own frame that covers most of it, the shortest */
		wait,	   /* a callback, else the event in which the host waited longest */
		dispatch,  /* the longest call of a library that launches one step */
		copy,	   /* the longest copy of a thread that launches nothing */
		others;	   /* the one of the lane that works longest and launches nothing */
	int64_t copied_ps; /* by all such copies */
	int64_t dispatch_ps, dispatch_until_ps; /* in all such calls, and up to when */
	int64_t others_ps;			/* that lane works */
	int64_t seen_ps;     /* by any event, on the lane whose events cover most */
	int64_t launched_ps; /* the most in launches of programs, on a lane */
	int64_t by_cause_ps[CAUSES];
	struct str feeder; /* the loader that reaches further than the gap */
	bool user_is_loop; /* around several steps */
	bool has_frames;   /* Python's tracer was on */
	bool waited;	   /* the host waited for a result when it began */
	struct {
		const struct lane *of; /* the one that is being read, as far as it was seen: */
		struct cover all, waits, launches; /* events; those that may wait; that launch */
		struct time_span call; /* the last that may, unless a function is called in it */
		struct best busy;      /* what explains the gap best, if it launches nothing */
	} lane;

	/* and what that comes to. */
	bool by_others;	  /* another thread is at work, which keeps this one waiting */
	bool works_after; /* after the wait it went on with something else */
	bool is_dispatch; /* most of it lies in such calls */
};

/* What a host's gaps are explained with. */
struct gap_facts {
	const struct map *files;     /* of the user's */
	const struct map *libraries; /* files of libraries that the steps were traced through */
	bool infers;
};

static inline int64_t gap_overlap_ps(const struct host_gap *g, int64_t start_ps, int64_t end_ps)
{
	return (end_ps < g->end_ps ? end_ps : g->end_ps) -
	       (start_ps > g->start_ps ? start_ps : g->start_ps);
}

/* How far beyond a gap an event may reach that lies in it. */
static inline int64_t gap_slack_ps(const struct host_gap *g)
{
	int64_t tenth = (g->end_ps - g->start_ps) / 10;

	return tenth < GAP_SLACK_PS ? tenth : GAP_SLACK_PS;
}

/* gap_calls.c */

/* For each gap of host `h` its calls and its thread. */
void gaps_call(const struct run *run, int32_t h, struct host_gap *gaps, ptrdiff_t count,
	struct arena *keep);

/* gap_causes.c */

/* Reads the events of host `h` beside its gaps.  False with err set when the bytes are bad. */
bool gaps_explain(const struct run *run, const struct gap_facts *facts, int32_t h,
	struct host_gap *gaps, ptrdiff_t count, struct arena *keep, struct diag *err);
/* The cause is that of the larger part; then the names are those of what caused it. */
enum cause gap_settle(struct host_gap *g, const struct gap_facts *facts);

#endif
