/*
 * Which work is a step: executions of programs, held against the marks of the host.
 *
 *	host    |--train 0--|   |--train 1--|            |--train 2--|
 *	device    [jit_train]      [jit_train] [jit_eval]   [jit_train]
 *	steps     |----- 0 ------->|----- 1 -->|  other  |1>|--- 2 ...
 *
 * A step begins with the first op of its work and lasts until the next step of any sort begins,
 * less other work between.  The last one ends with its last op: its end was not seen, unless a
 * Steps line's marks hold the waits, and its mark, too.
 * Other work lasts from its first op to its last; each run of what other threads launch beside the
 * loop is alone, since the loop does not stop for it.
 *
 * Work belongs to the mark that launched it.  The k-th call of a function is the k-th execution of
 * the module named after it, where there are as many; else work belongs to the mark it ran in, if
 * the job waits for it there; else the n-th group of executions to the n-th mark, if they divide.
 * What runs behind every mark is of its step, too, but for evaluations.
 *
 * Steps of one sort bear one name and run the same modules, whatever their shapes; a stage of a
 * pipeline, which has a host or a device of its own, runs its modules of the step.  Of a job that
 * marks nothing, a period of its sequence of modules is a step; there two functions of one name, as
 * lambdas are, count as two modules.  Where one module alone trains, and updates its weights, a
 * step is an execution of it with all that runs as often between any two; the rest is other work.
 * Of a server, a step is an execution of the module that takes most of its time.
 *
 * schedule_make goes this way; what one pass writes, those below it read:
 *
 *	            line_sorts            marks_tell            periods_tell, where these fail
 *	marks       of the Steps lines    of the hosts          none
 *	runs' step  a mark's index        a mark's index        a period's number
 *	sorts       sorts_read: by name and modules of marks    one: the modules that repeat
 *	judged      sort_judge: of those that --step wants      that one
 *	            sorts_settle: the runs' sort, what --step takes, lasting, in_step, per_step
 *	            device_plan: each device's plan; p50_ps by the device that ends last
 *
 * Refuses: reading events (sweep.h), and telling whether a step is steady.
 */
#ifndef MEASURE_SCHEDULE_H
#define MEASURE_SCHEDULE_H

#include "measure/hostfacts.h"
#include "measure/phase.h"
#include "measure/subject.h"
#include "measure/sweep.h"

/* A sequence of modules is periodic when it repeats so often. */
#define PERIODS_MIN 3

struct step_sort {
	struct str name;    /* of its marks; of unmarked steps their modules */
	struct str modules; /* names in order, separated by " + " */
	bool *has;	    /* by the schedule's modules: those that make it what it is */
	int64_t count;	    /* marks, or periods of the device that has most */
	int64_t time_ps;    /* of its executions in marks, over all devices, */
	int64_t most_ps;    /* and of them those of one mark, which may hold the warm-up */
	double p50_ps;	    /* median step on the device that ends last */
	struct str option;  /* what --step takes to judge it; missing: nothing does */
	bool trains;
};

struct schedule {
	bool is_marked; /* by the host's annotations; else by what repeats */
	bool is_server; /* a step is an execution, without the wait for the next */
	struct step_sort *sorts;
	ptrdiff_t sort_count;
	ptrdiff_t judged;   /* index of the sort whose steps are the run's */
	bool *in_step;	    /* by program: some execution is in a judged step */
	double *per_step;   /* by program: executions in a judged step, the mean of all devices, */
	double *on_last;    /* and on the device that ends last */
	struct str trouble; /* why marks there are were not used; missing: they were */
};

struct run;
/*
 * From what each device ran to the run's schedule, its source, and the devices' plans.
 *
 * A schedule that a sweep has confirmed is not made again.  `is_changed`: some device's plan is
 * another than before.  False when neither marks nor periods tell steps; the source and the plans
 * are as they were then, and of the schedule only sorts and trouble tell.  Where the devices'
 * plans have marks of their own (a Steps line), which hold their work, those are the steps; false
 * when they do not.
 */
bool schedule_make(struct run *run, bool *is_changed);
/* Some device ran more than is kept: no schedule is made. */
bool runs_cut(const struct run *run);

/* Of so many executions three, or an eighth, may wait in a device's queue. */
static inline int64_t may_wait(int64_t executions)
{
	return executions > 3 * 8 ? executions / 8 : 3;
}

/* "jit_train_step" is the module of "train_step": what of a name is the same on both sides. */
struct str function_core(struct str name, struct arena *keep);

#endif
