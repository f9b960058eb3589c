/*
 * The sweep: one pass over a device's ops in time order, reduced to what the tables need.
 *
 * At every moment the sweep knows which ops are running, adds the elapsed time to the mask of
 * their activities, to the ops it belongs to, and to the step it falls in.  A step's figures are
 * pending until it closes and count only if it proves steady.
 *
 *	lane 0   |--while-----------------------|        self time: the parent gives back
 *	         |  |--matmul--|  |--matmul--|  |        what its children take
 *	lane 1        |====all-reduce====|               mask: compute, compute+comms, ...
 *
 * Memory is bounded by distinct ops, steps kept and gaps kept, never by events.
 */
#ifndef MEASURE_SWEEP_H
#define MEASURE_SWEEP_H

#include "base/stats.h"
#include "measure/hostfacts.h"
#include "measure/subject.h"

/* Address space of a device's results, of a sweep's own state, and of one step's: a million ops
 * need a tenth.  Many devices are swept at once, so it is less than a run's. */
#define SWEEP_ARENA_BYTES ((ptrdiff_t)512 << 20)
#define STEP_ARENA_BYTES  ((ptrdiff_t)128 << 20)
/* Step rows kept per device, of steady ones and of others; all steady steps count in the sums. */
#define SWEEP_MAX_STEPS 256
#define SWEEP_MAX_GAPS	100
/* Ops running at the same time on one device; more is a broken clock. */
#define SWEEP_MAX_RUNNING 512

#define PS 1e-12 /* seconds per picosecond */

/* Room for `n` items: `ahead` zeros, copies of the first `old_n`, then zeros. */
void *items_longer(struct arena *keep, const void *old, ptrdiff_t old_n, ptrdiff_t n,
	ptrdiff_t ahead, ptrdiff_t size);
#define MOVED(keep, items, old_n, n, ahead)                                                        \
	((items) = items_longer(                                                                   \
		 (keep), (items), (old_n), (n), (ahead), (ptrdiff_t)sizeof(*(items))))
#define LONGER(keep, items, old_n, n) MOVED(keep, items, old_n, n, 0)

/* In the order of STEPS_WORDS. */
enum step_source { STEPS_WINDOW, STEPS_PROGRAM, STEPS_ANNOTATION, STEPS_LINE };

/*
 * A stretch of a step, on the lane's clock: a step that other work interrupts has several, with one
 * number, one behind the other.  Or a stretch of work that is no step: MARK_OTHER of this device,
 * MARK_ELSEWHERE of another one, which this one waits for.
 */
enum mark_kind { MARK_STEP, MARK_OTHER, MARK_ELSEWHERE };
struct step_mark {
	int64_t start_ps, end_ps, number;
	enum mark_kind kind;
	bool goes_on;	   /* the next stretch but for other work is of the same step */
	bool is_cut;	   /* its end was not seen */
	bool is_marked;	   /* other work that is marked as the steps are, */
	bool is_counted;   /* and steady in the last sweep: its waits count */
	int64_t marked_ps; /* its mark on a Steps line ends here; what it waits for comes behind */
};

/* A mark that ends before the next one begins leaves a wait behind it; a clock's tick is none. */
static inline bool mark_leaves(int64_t start_ps, int64_t end_ps, int64_t next_ps)
{
	return next_ps - end_ps > (end_ps - start_ps) / 1000;
}

/* An execution of a program. */
struct program_run {
	int64_t start_ps, end_ps;
	int32_t program;   /* index */
	int32_t step;	   /* the schedule's, as are */
	int32_t sort;	   /* of its step; -1 none of both */
	bool is_cut;	   /* the window ended within it: not with an op that others ended with */
	bool is_elsewhere; /* on another device; see executions_seen */
};
void program_runs_sort(struct program_run *runs, ptrdiff_t count);
/* Kept per device, for telling the steps: a day of one a second.  Of more none is kept: the marks
 * are not used, and phases are the programs' sums. */
#define PROGRAM_RUNS_MAX 100000

/* Where a device's steps begin and end. */
struct step_plan {
	enum step_source source;
	struct step_mark *marks; /* in order, not overlapping; or NULL, and then */
	ptrdiff_t mark_count;
	const struct program *main; /* PROGRAM: its executions are the steps */
	bool has_more;		    /* behind its last mark one was cut, and is none of them */
	bool drop_first;	    /* the first step is a warm-up: there are three or more */
	bool keep_compiled;	    /* steps that hold a compilation are steps like others */
	const bool *in_step;	    /* by program, with marks of other work: it runs in the steps */
	ptrdiff_t in_step_count;
	/* The marks are by these executions of Modules lines, whose clock is not the ops': they are
	 * passed by count, and changed to where that was.  NULL: marks are on the ops' clock. */
	const struct program_run *listed;
	ptrdiff_t listed_count;
	bool runs_cut;	/* there are more executions than are kept: none need be, */
	bool keep_runs; /* they are wanted, */
	bool only_runs; /* and nothing else: a look at what ran when, which measures nothing */
	struct sweep_watch *watch; /* who is told what runs; or NULL */
};

/* A stretch of time in which an op was the innermost one on its lane, or in flight. */
struct sweep_stretch {
	const struct subject *op;
	enum op_kind kind;
	int32_t lane; /* -1: a pair in flight */
	int64_t start_ps, end_ps;
};
struct sweep_watch {
	/* Each as it ends; `is_new`: of its op nothing was taken yet.  True when this is taken. */
	bool (*take)(void *to, const struct sweep_stretch *s, bool is_new);
	void *to;
	int64_t until_ps; /* no op that begins later is read; set earlier when a limit is met */
};

struct op_total {
	struct dist self;		    /* self time of its executions */
	int64_t overlap_ps;		    /* of that, with something else running */
	int64_t devices, least_ps, most_ps; /* sums over devices: 1, of each its extremes */
	int64_t began, began_on;	    /* in steps or not; and devices on which it did */
	int64_t entered;		    /* so often it came behind another program's op, */
	int64_t awaited_ps; /* and so long the device waited for it, and what is of no program */
	bool nested;	    /* it ran inside another op */
	bool last;	    /* an execution of its program ended with it */
	bool done_before;   /* of a done: what it ends now began in the window */
};

/* Of one that moves data, which few do. */
struct moving_total {
	int64_t exposed_ps, hidden_ps; /* collectives and transfers: without and with compute */
	int64_t bytes;		       /* moved by copies that say so, */
	int64_t pageable_bytes;	       /* and of them to or from pageable memory */
	/* Of async pairs or of synchronous collectives: each in kept steps, in order. */
	int64_t *spans_ps;
	ptrdiff_t count, cap;
	struct dist span;
	int64_t done_self_ps; /* of the pair's dones: waiting */
};

/* Seconds by what ran: exposed is communication without compute, copies and transfers alone. */
struct mask_sum {
	double compute, exposed, hidden, copy, transfer, idle;
};
struct mask_sum mask_sum(const int64_t *mask_ps, int64_t idle_ps);

struct swept_step {
	int64_t start_ps, end_ps, number;
	int64_t other_ps;      /* in other work, */
	int64_t other_wait_ps; /* and in this device's outside of executions */
	struct mask_sum sum;
	bool warmup, complete;
};

static inline bool step_is_steady(const struct swept_step *s)
{
	return s->complete && !s->warmup;
}

static inline int64_t step_length_ps(const struct swept_step *s)
{
	return s->end_ps - s->start_ps - s->other_ps;
}

struct swept_gap {
	int64_t start_ps, end_ps, step;
	int32_t before, after; /* subjects; -1 none */
	bool inside;	       /* an execution of a program: the host has no part in it */
	bool is_other;	       /* between programs of other work, which interrupts the step */
};

/* The longest: a heap, the shortest of them first. */
struct gap_heap {
	struct swept_gap *items;
	ptrdiff_t count;
};

struct program_total {
	int64_t executions;
	int64_t time_ps;    /* in them; where two overlap, what the first one leaves */
	int32_t marker;	    /* the subject whose executions these are; -1 none, */
	bool marker_nested; /* and it ran inside another op (set by aggregate_add) */
	struct dist dist;
	int64_t kernels_self_ps;
};

struct sweep {
	struct plane *plane;
	int32_t host;
	/* Of subjects from op_first on: a device has few of a job of many programs, and they lie
	 * together.  NULL once the device has joined the others. */
	struct op_total *ops;
	struct moving_total *moving;
	ptrdiff_t op_first, op_cap;
	/* Their sums, once the device has joined the others: of the subjects from the first one
	 * that took time to the last. */
	int64_t *self_ps;
	ptrdiff_t self_first, self_count;
	/* by program index, over the whole window */
	struct program_total *programs;
	ptrdiff_t program_cap;
	struct swept_step *steps; /* the first SWEEP_MAX_STEPS steady ones, and as many others */
	ptrdiff_t step_count, step_cap;
	struct program_run *runs; /* by begin; none unless they were wanted */
	ptrdiff_t run_count, run_cap;
	bool runs_cut;			   /* there were more than are kept */
	int64_t steady_count, other_count; /* all of them, */
	int64_t first_end_ps, last_end_ps; /* and where the warm-up and the last one ended */
	bool is_window;			   /* the one step is the whole capture */
	int64_t steady_ps;		   /* the steady ones' time, */
	struct dist lengths;		   /* and that of each; */
	int64_t other_ps, other_wait_ps;   /* what they add up to; */
	int64_t steady_events;		   /* events that began in them, */
	int64_t full_events, full_steps;   /* the most in one, and how many have as many */
	int64_t mask_ps[ACTIVITY_MASKS];   /* in steady steps */
	int64_t busy_ps;		   /* with anything running, in the whole window */
	int64_t idle_ps, inside_ps;	   /* of it, inside executions */
	int64_t first_ps, last_ps, events;
	struct gap_heap gaps, other_gaps; /* of steady steps; of other work in them */
	bool too_deep;	    /* more ops running at once than can be: times are not to be trusted */
	int64_t cut_ps;	    /* of ops that reached into the next of their lane without holding it */
	int64_t lost_dones; /* async starts whose done never came, */
	int64_t lost_starts; /* and dones whose start never did, within the window */
	bool sorted;	     /* a lane had to be sorted */
};

static inline struct op_total *sweep_op(const struct sweep *s, ptrdiff_t subject)
{
	return &s->ops[subject - s->op_first];
}

static inline struct moving_total *sweep_moving(const struct sweep *s, ptrdiff_t subject)
{
	return &s->moving[subject - s->op_first];
}

/*
 * Sweep one device plane, which has been learned.  `keep` is this task's own arena.  False with err
 * set when the bytes are bad.  `limit` stops after so many events (for a first guess); 0 means all.
 * `facts` may be NULL where the plan has no step.
 * `ahead`: a thread of its own reads the events, and has the arena that the plane was learned with.
 */
bool sweep_plane(struct plane *p, int32_t host, const struct step_plan *plan,
	const struct host_facts *facts, struct registry *registry, int64_t limit, bool ahead,
	struct arena *keep, struct sweep *ret, struct diag *err);

#endif
