/*
 * Inside of the sweep: what its three parts share.  Not for others.
 *
 *	sweep.c       events: which op, execution, launch and step each belongs to
 *	sweep_time.c  what runs when, and what runs beside it
 *	sweep_step.c  the open step: figures that wait until it proves steady
 */
#ifndef MEASURE_SWEEP_STATE_H
#define MEASURE_SWEEP_STATE_H

#include "measure/sweep.h"

/* Kernels of one execution told apart by name; more is one execution all the same. */
#define GROUP_KERNELS 32
/* Async pairs in flight; more are not followed. */
#define SPANS_MAX 256
/* Steps whose fate is remembered for executions that end after their step. */
#define STEP_MEMORY 64
/* Executions of the open step kept one by one; more are gathered by subject. */
#define JOURNAL_MAX 8192

/*
 * What an op of one activity goes through as a step passes, for all its ops at once: each takes
 * the difference between when it leaves and when it joined.  Its share of exposed and hidden time
 * is no whole number where several divide it; a double holds that to 10^-16 of the step.
 *
 * Exposed time is that of the ops in front: those that run themselves, and pairs whose done waits.
 * What is only in flight beside them delays nothing; it shares the time when it is alone.
 */
struct activity_clock {
	int64_t overlap_ps;  /* something else computes or communicates */
	double hidden_ps;    /* with work for it to hide behind; without, */
	double exposed_ps;   /* of an op in front, */
	double in_flight_ps; /* and of one that is not */
};

/* An event, or an async pair in flight. */
struct running {
	struct running *parent, *next_free; /* the one it suspends; NULL none */
	const struct known *known;
	struct lane_state *lane; /* NULL: a pair in flight, */
	int32_t place;		 /* and where it is among them */
	bool is_half;		 /* of an async pair: its span tells what it hides */
	bool in_front;
	bool is_taken; /* some of it, by who watches */
	int64_t start_ps, end_ps, step;
	int64_t below_end_ps;	      /* nothing below it among the active ends before this */
	int64_t self_ps;	      /* active up to now, but for */
	int64_t active_ps;	      /* the time since this, */
	struct activity_clock joined; /* when its activity's clock stood so */
};

/* Consecutive kernels of one op on one stream. */
struct kernel_group {
	int32_t subject; /* -1 none */
	int32_t kernels[GROUP_KERNELS];
	int kernel_count;
	int64_t self_ps, step;
};

struct lane_state {
	int32_t index;	     /* in the plane */
	bool nested;	     /* ops suspend the one they begin in */
	struct running *top; /* the innermost running op of a nested lane; NULL none */
	struct kernel_group group;
};

/* Runs of one program that a CPU has at work side by side. */
#define RUNS_AT_ONCE 8

struct program_state {
	struct program_total total; /* its marker is -1 until it is met */
	int32_t index;
	int32_t last;  /* subject of the event that began last, */
	int32_t lane;  /* and where it did */
	int64_t times; /* the marker runs so often in an execution, once for each of its devices, */
	int64_t left;  /* and so often before the next one begins */
	bool open;
	int64_t run, start_ps, end_ps;
	int64_t runs[RUNS_AT_ONCE]; /* the last ones, */
	int run_at;		    /* and the place of the next */
};

/* What the open step owes a subject, beside the journal.  Small: cleared with every step. */
struct pending {
	int64_t overlap_ps, bytes, pageable_bytes; /* as in op_total */
	double exposed_ps, hidden_ps;		   /* the same */
	struct dist *poured;			   /* executions that left the journal; NULL none */
	bool touched;				   /* listed in sweeping.touched */
};

struct execution {
	int32_t subject;
	int64_t self_ps;
};

struct pending_instance {
	int32_t subject;
	int64_t span_ps;
};

/*
 * What is looked up once for every op of the plane, with what its events ask of the subject.  It
 * never changes, and stays where it is when the table grows.
 */
struct known {
	const struct subject *subject; /* NULL: not yet */
	struct program_state *program; /* NULL: not known */
	int32_t index;		       /* of the subject, and its */
	enum async_role async;
	int32_t bit;	/* enum activity while it runs */
	bool is_busy;	/* it computes or communicates */
	bool is_shared; /* its time is shared with others of its activity: that takes a clock */
	bool groups_kernels, may_mark; /* the subject's */
	bool pageable;
	enum op_kind kind;
};

/*
 * The newest event.  Most end before anything else begins or ends: they need no place among the
 * active, and are settled in one go when the next event comes.
 */
struct held {
	const struct known *known; /* NULL: none */
	struct lane_state *lane;
	int64_t start_ps, end_ps;
};

#define SWEEP_ENDED INT64_MIN

struct sweeping {
	struct sweep *out;
	const struct step_plan *plan;
	const struct host_facts *facts;
	struct registry *registry;
	struct arena *keep;	 /* for what is handed out */
	struct arena *work;	 /* for what dies with the sweep */
	struct arena step_keep;	 /* what was poured; begins anew with every step */
	struct arena step_empty; /* the same, unused; made when first poured into */
	int64_t now_ps;
	int64_t limit;	  /* events; 0 none */
	int64_t until_ps; /* no op that begins then is taken; SWEEP_ENDED: none at all */

	struct ahead *ahead; /* NULL: events are read as they are taken */
	struct known *known; /* by plane op index */
	ptrdiff_t known_cap;

	struct running *active[SWEEP_MAX_RUNNING]; /* events */
	struct running *spans[SPANS_MAX];	   /* async pairs in flight, in no order */
	struct running *free;			   /* chained by next_free */
	int active_count, span_count;
	int running_count;  /* of both, and of events that are suspended */
	int64_t unfollowed; /* spans that found no room */
	struct held held;
	/* By activity: how many are active, how many of them share time, and how many of those are
	 * in front, and the clock. */
	int by_bit[ACTIVITY_MASKS], sharing[ACTIVITY_MASKS], in_front[ACTIVITY_MASKS];
	struct activity_clock clocks[ACTIVITY_MASKS];
	int mask;	     /* the bits whose by_bit is above 0 */
	int64_t next_end_ps; /* nothing active ends before this */
	struct lane_state *lanes;
	struct program_state **programs;   /* by index; NULL not met */
	struct program_state *running;	   /* the one of the event that began last, */
	bool beside;			   /* while the one before it still ran */
	int64_t awaited_ps;		   /* and the wait for the next such event */
	int64_t executed_ps;		   /* where the last execution ends so far */
	int64_t last_run, last_run_end_ps; /* of the last OP_EXECUTION */

	/*
	 * The open step's executions as they came.  A step of millions (a window without steps)
	 * must not cost memory per event: a full journal is poured into `pending`.
	 */
	struct execution *journal;
	ptrdiff_t journal_count, journal_cap;
	struct pending *pending;    /* of the open step; from out->op_first on, as are */
	struct running **in_flight; /* its pair; NULL none */
	int32_t *touched;	    /* subjects with something pending; room for every subject */
	ptrdiff_t touched_count;
	struct pending_instance *instances;
	ptrdiff_t instance_count, instance_cap;
	struct gap_heap gaps, other_gaps;
	int64_t inside_ps;   /* of the open step: idle inside executions; */
	int64_t step_events; /* that began in it */

	struct swept_step step;		 /* the open one, */
	int64_t mask_ps[ACTIVITY_MASKS]; /* and its time */
	bool in_step;
	bool paused;		   /* the open step waits for the end of other work */
	bool in_other;		   /* work outside the steps */
	int64_t serial;		   /* of the open step */
	bool steady[STEP_MEMORY];  /* of closed steps, by serial */
	struct step_mark *marks;   /* of an explicit plan, or NULL, */
	ptrdiff_t mark;		   /* and the next or current one */
	ptrdiff_t expected, begun; /* executions listed before the next boundary; begun so far */
	int64_t boundary_ps;	   /* where it begins or ends; never without such a plan, */
	int64_t passed_ps;	   /* and the boundary before */

	int64_t idle_since_ps, told_ps; /* gaps before this are told */
	int32_t last_subject;
};

static inline bool is_idle(const struct sweeping *s)
{
	return s->active_count + s->span_count == 0;
}

/* sweep_step.c */

/* What the open step owes a subject. */
static inline struct pending *pending_of(struct sweeping *s, int32_t subject)
{
	struct pending *p = &s->pending[subject - s->out->op_first];

	if (!p->touched)
		s->touched[s->touched_count++] = subject;
	p->touched = true;
	return p;
}

/* Room for one more in the journal, which is gathered by subject when it cannot grow. */
void journal_make_room(struct sweeping *s);
/* An execution that began in a step that is closed. */
void execution_add_late(struct sweeping *s, int32_t subject, int64_t serial, int64_t self_ps);

/* Serials of executions that began in no step, and in other work. */
enum { SERIAL_NONE = -1, SERIAL_OTHER = -2 };

/* Of an op that begins now.  What runs in the steps, too, counts there alone. */
static inline int64_t serial_now(const struct sweeping *s, const struct subject *op)
{
	const struct step_plan *p = s->plan;

	if (mostly(s->in_step))
		return s->serial;
	return s->in_other && op->program->index < p->in_step_count &&
			       !p->in_step[op->program->index]
		       ? SERIAL_OTHER
		       : SERIAL_NONE;
}

/* An execution that began in step `serial` and took `self_ps`. */
static inline void execution_add(
	struct sweeping *s, int32_t subject, int64_t serial, int64_t self_ps)
{
	if (rarely((!s->in_step && !s->paused) || serial != s->serial)) {
		execution_add_late(s, subject, serial, self_ps);
		return;
	}
	if (rarely(s->journal_count == s->journal_cap))
		journal_make_room(s);
	s->journal[s->journal_count].subject = subject;
	s->journal[s->journal_count++].self_ps = self_ps;
}

/* A collective's, or a pair's, time from start to end. */
void instance_add(struct sweeping *s, const struct subject *op, int64_t span_ps);
/* The device did nothing from idle_since_ps on. */
void gap_tell(struct sweeping *s, const struct subject *next, int64_t at_ps, bool inside);
static inline void gap_end(
	struct sweeping *s, const struct subject *next, int64_t at_ps, bool inside)
{
	if (at_ps > s->idle_since_ps && is_idle(s) && s->last_subject >= 0 &&
		(s->in_step || s->in_other))
		gap_tell(s, next, at_ps, inside);
}

void step_open(struct sweeping *s, int64_t at_ps);
void step_close(struct sweeping *s, int64_t at_ps, bool complete);
/* The next explicit boundary, or never; and to pass it. */
int64_t boundary_next(const struct sweeping *s);
void boundary_cross(struct sweeping *s, int64_t at_ps);
/*
 * Of a plan by listed executions: one begins now, and passes the boundaries up to it that lie at
 * the end of another one; then those at its own begin.
 */
void listed_ends(struct sweeping *s, int32_t program);
bool listed_begins(struct sweeping *s); /* true: it passed one */

/* sweep_time.c */

void time_begin(struct sweeping *s);
/* Let time pass up to `until_ps`: ends of ops, and step boundaries before it, in their order. */
void time_advance(struct sweeping *s, int64_t until_ps);
/* Pass the boundaries that lie at this moment, behind the gap that ends there; true: any did. */
static inline bool time_cross(struct sweeping *s)
{
	bool any = s->boundary_ps <= s->now_ps;

	while (rarely(s->boundary_ps <= s->now_ps))
		boundary_cross(s, s->boundary_ps);
	return any;
}
/* An event that begins now. */
static inline void event_hold(struct sweeping *s, const struct known *known,
	struct lane_state *lane, const struct op_event *e)
{
	s->held.known = known;
	s->held.lane = lane;
	s->held.start_ps = e->start_ps;
	s->held.end_ps = e->end_ps;
}
/* The open step gets its part of what is active, and the next one begins at zero. */
void clocks_restart(struct sweeping *s);
/* What has not ended never will. */
void time_end(struct sweeping *s);

#endif
