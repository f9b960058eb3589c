/*
 * Inside of measure/: what is measured, and what ran.  Not for other folders.
 *
 * The way of the data, and the type at each arrow:
 *
 *	profiles, options    struct run          and the programs and ops that are met of them
 *	 -> host lanes       its facts           marks, launches, compilations, allocators
 *	 -> plans, sweeps    its devices         their sums, their steps, and the run's shape
 *	 -> ops, once        struct op_facts     totals, cost, roofline, collective
 *	 -> programs, once   struct programs     floors, plans for memory
 *	 -> rows             writers.h           each takes what it reads
 */
#ifndef MEASURE_SWEPT_H
#define MEASURE_SWEPT_H

#include "hardware/roofline.h"
#include "measure/aggregate.h"
#include "measure/run.h"
#include "measure/schedule.h"

/* A device plane, and what came of it.  One task fills it. */
struct device {
	struct plane *plane;
	int32_t host;
	struct str host_name, name; /* clean */
	struct step_plan plan;
	struct sweep sweep;
	struct chip_match match;
	struct chip_device chip;
	bool failed;
	struct diag err;
};

/* How large the job is. */
struct run_shape {
	double partitions;	     /* devices as the compiler counts them; 0 unknown */
	double planes_per_partition; /* one of them shows as so many planes */
	double planes_per_host;	     /* of one host, at most, that may have run */
	double devices;		     /* JAX's: the job file's, else the compiler's; NaN unknown */
	double hosts_expected; /* by the job file, or by the planes a host shows; NaN unknown */
	int64_t chips;	       /* by the main program's device assignment, else those seen */
	int64_t slices;	       /* that the main program joins; 1 when it says nothing of others */
	bool devices_mixed;    /* ops of several devices stand in one plane */
};

/* Steps of the device that shows most of them, and why some of them are not steady. */
struct steps_seen {
	int64_t all, warmup, compiled, profiled, cut;
	bool cut_last;	 /* of those that are cut it is the last */
	bool ends_clean; /* the last one is steady, or was cut before it compiled */
};

/* What the devices' plans are made by.  steps.c draws what leads from one to the next. */
enum plan_state {
	PLANS_GUESSED,	 /* Steps lines, executions of the main program, or nothing */
	PLANS_FORESEEN,	 /* a schedule of what ran by a look, which no sweep has confirmed yet */
	PLANS_SCHEDULED, /* a schedule of what a sweep saw */
};

/* What the device that ends last ran, by begin. */
struct lasting {
	const struct device *device;	/* NULL: no op ran */
	const struct program_run *runs; /* none, if the device ran more than are kept */
	ptrdiff_t run_count;
};

/* What is measured and where that goes, what its hosts tell, and what its devices ran. */
struct run {
	struct profile *hosts;
	ptrdiff_t host_count;
	const struct measure_options *options;
	struct registry *registry; /* of all programs and ops */
	struct kernels *kernels;
	struct checkout *checkout; /* of the user's files; NULL: none */
	struct arena *keep;
	struct arena *work; /* for what dies once the tables are filled */
	struct tables *tables;
	struct diag_list *notes;
	struct host_facts facts;

	struct device *devices; /* planes with op lanes, by host, then plane */
	ptrdiff_t device_count;
	enum platform platform;
	struct str wanted; /* pattern for the name of a step's mark or module, or missing */
	int sweeps;	   /* of all devices, that measured */
	enum step_source source;
	ptrdiff_t without_line; /* devices that lack a Steps line which others have */
	const struct program *main;
	enum plan_state plans;
	struct schedule schedule;
	struct steps_seen seen; /* before the window was taken for the one step, else at the end */
	struct aggregate *sums; /* of all devices */
	const struct device
		*first;	     /* the first device with steady steps, else with events, or NULL */
	int64_t steps;	     /* the least of any device that has some */
	double steady_s;     /* sum of all devices' steady time */
	double other_s;	     /* and of other work between */
	double windows_s;    /* and of their windows */
	double device_steps; /* steady steps, summed over devices */
	double step_time_s;  /* the median; NaN without steps, as is */
	double step_mean_s;  /* what shares, and seconds per step, are of */
	struct run_shape shape;
	struct str beats_network; /* comms_disprove: what collectives should take is not known */
	struct lasting lasting;
};

/* Nothing ran: the programs of a dump, on one device, which has no events. */
static inline bool run_is_planned(const struct run *run)
{
	return run->host_count > 0 && run->hosts[0].format == FORMAT_DUMP;
}

/* devices.c: the planes of devices and their chips. */
void devices_find(struct run *run);

/* steps.c: plans steps, and sweeps every device; again where the first guess was wrong. */
bool steps_sweep(struct run *run, struct diag *err);
/*
 * marker.c: by what the sweeps saw, which op marks the executions of each program; true when it is
 * another one now, and executions are to be told anew.
 */
bool markers_settle(struct run *run);
/* planned.c: programs of a dump that has no profile, in place of a sweep. */
bool plan_programs(struct run *run, struct diag *err);
/*
 * modules.c: what every device ran, to its sweep's `runs`, by the Modules lines; false
 * when not all devices have one that is understood.
 */
bool modules_read(struct run *run);
/* devices.c */
struct run_shape run_shape_of(const struct run *run);
double host_device_planes(const struct profile *host);

#endif
