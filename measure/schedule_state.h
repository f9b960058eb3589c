/*
 * Inside of the schedule: what its four parts share.  Not for others.
 *
 *	schedule_marks.c    which mark of the host launched what
 *	schedule_periods.c  without marks: what repeats
 *	schedule.c          sorts of steps, which one is judged, and what follows for the job
 *	schedule_plan.c     and for each device: when its steps begin and end
 */
#ifndef MEASURE_SCHEDULE_STATE_H
#define MEASURE_SCHEDULE_STATE_H

#include "measure/swept.h"

#define MODULES_BETWEEN " + "

/* A mark that holds no other mark, on the host's clock; or a step as a device ran or marked it. */
struct mark {
	int64_t start_ps, end_ps, number;
	int64_t length_ps; /* of a step: until the next one, less other work */
	struct str name;
	int32_t by; /* the host whose mark it is; of a Steps line, the device */
	int32_t thread;
	int32_t sort; /* -1: no work belongs to it */
};

struct scheduling {
	struct run *run;
	struct arena *keep, *scratch;
	struct schedule *ret;	  /* the run's */
	struct program_run **all; /* what all devices ran, device by device */
	ptrdiff_t all_count;
	/* Modules by name: what is compiled anew for other shapes is the same to a schedule.
	 * To periods two functions of one name are two. */
	struct str *modules;
	ptrdiff_t module_count;
	int32_t *module_of; /* by program */
	struct mark *marks; /* by whose they are, thread, then begin */
	ptrdiff_t mark_count;
	ptrdiff_t sort_cap;
};

static inline struct sweep *ran(const struct scheduling *s, ptrdiff_t device)
{
	return &s->run->devices[device].sweep;
}

static inline int32_t module_at(const struct scheduling *s, const struct program_run *r)
{
	return s->module_of[r->program];
}

/* schedule.c */
void functions_read(struct scheduling *s, bool by_source);
/* The modules' names in order, each once; `has` is by module. */
struct str modules_text(const struct scheduling *s, const bool *has);
/* Made where there is none yet.  Lives until the next one is made. */
struct step_sort *sort_of(struct scheduling *s, struct str name, const bool *has);
bool module_trains(const struct scheduling *s, int32_t module);
bool module_serves(const struct scheduling *s, int32_t module);
/* Fits a name, or the function that a module is named after? */
bool name_is_wanted(struct str wanted, struct str name);

/*
 * schedule_marks.c: reads the host's marks and tells each execution's step.  False when there are
 * none, or, with the trouble in ret, when too much of a device's work cannot be told.
 */
bool marks_tell(struct scheduling *s);
/* The mark that a moment lies in, of `count` from `first` on, or -1. */
int32_t mark_at(const struct scheduling *s, ptrdiff_t first, ptrdiff_t count, int64_t at_ps);

/* schedule_periods.c: what repeats is the one sort; numbers executions.  False: nothing does. */
bool periods_tell(struct scheduling *s);
/* Does the module with most time, `ret`, serve?  A job that also trains is no server. */
bool is_server(
	const struct scheduling *s, const int64_t *time_ps, const bool *left_out, int32_t *ret);

/* schedule_plan.c: modules that run beside the loop, as a loader's do; by module. */
const bool *modules_beside(const struct scheduling *s);
/*
 * `marks`: the device's own, or NULL.  Of a server a step is what its work takes, without what
 * comes behind.  True when the plan is another than before.
 */
bool device_plan(struct scheduling *s, struct device *device, enum step_source source,
	const bool *beside, struct mark *marks);

#endif
