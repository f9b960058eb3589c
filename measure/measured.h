/*
 * Inside of measure/: a run between its sweeps and its tables.  Not for other folders.
 */
#ifndef MEASURE_MEASURED_H
#define MEASURE_MEASURED_H

#include "hardware/roofline.h"
#include "hlo/collective.h"
#include "hlo/memory.h"
#include "measure/aggregate.h"
#include "measure/gaps.h"
#include "measure/phase.h"
#include "measure/run.h"
#include "measure/schedule.h"
#include "measure/sweep.h"

/* A device plane, and what came of it.  One task fills it. */
struct device {
	struct plane *plane;
	int32_t host;
	struct step_plan plan;
	struct sweep sweep;
	struct chip_match match;
	struct chip_device chip;
	bool failed;
	struct diag err;
};

/* How large the job is (shape.c); known once the steps are. */
struct run_shape {
	double partitions;	     /* devices as the compiler counts them; 0 unknown */
	double planes_per_partition; /* one of them shows as so many planes */
	double devices;		     /* JAX's: the job file's, else the compiler's; NaN unknown */
	double hosts_expected; /* by the job file, or by the planes a host shows; NaN unknown */
	int64_t chips;	       /* by the main program's device assignment, else those seen */
	int64_t slices;	       /* that the main program joins; 1 when it says nothing of others */
	bool devices_mixed;    /* ops of several devices stand in one plane */
};

/* Steps of the device that shows most of them, and why some of them are not steady. */
struct steps_seen {
	int64_t all, warmup, compiled, profiled, cut;
	bool cut_last; /* of those that are cut it is the last */
};

/* What the device that ends last ran, by begin. */
struct lasting {
	const struct device *device; /* NULL: no execution is known, or more than are kept */
	const struct program_run *runs;
	ptrdiff_t run_count;
};

struct measured {
	struct profile *hosts;
	ptrdiff_t host_count;
	const struct measure_options *options;
	struct arena *keep;
	struct tables *tables;
	struct diag_list *notes;
	struct registry *registry;
	struct str wanted;     /* the step's pattern, or missing, */
	const char *wanted_by; /* and who asks for it */
	struct host_facts facts;
	struct aggregate *sums; /* the sums of all devices */
	struct device *devices; /* planes with op lanes, by host, then plane */
	ptrdiff_t device_count;
	enum platform platform;
	enum step_source source;
	const struct program *main;
	int sweeps;	  /* of all devices, that measured */
	bool is_foreseen; /* the schedule was made by a look, and no sweep has confirmed it yet */
	bool is_scheduled;
	struct schedule schedule; /* where that is */
	struct lasting lasting;
	struct steps_seen seen; /* before the window was taken for the one step, else at the end */
	const struct device
		*first;	     /* the first device with steady steps, else with events, or NULL */
	int64_t steps;	     /* the least of any device that has some */
	double steady_s;     /* sum of all devices' steady time */
	double windows_s;    /* and of their windows */
	double device_steps; /* steady steps, summed over devices */
	double step_time_s;  /* NaN without steps */
	struct run_shape shape;
	struct kernels *kernels;
	int32_t *op_rows; /* by subject: its row in ops, or -1; set by fill_ops, as are */
	const struct subject **op_subjects; /* by row of ops: of what it is */
	bool incomplete;		    /* a limit cut one of the tables */
	struct program_floor *floors;	    /* by program */
	struct str plan_unread; /* a module whose plan for memory is there and cannot be read */
	bool planned; /* nothing ran: programs of a dump, on `first`, which has no events */
};

/*
 * A ratio of all FLOPs says something only when nearly all were counted: what is left out would
 * pass for work that was saved.
 */
#define UNCOUNTED_MAX 0.05

/*
 * modules.c: what every device ran, to its sweep's `runs` in `keep`, by the Modules lines; false
 * when not all devices have one that is understood.
 */
bool modules_read(struct measured *m, struct arena *keep);

/* steps.c */
bool steps_plan(struct measured *m, struct diag *err);
/* Sweeps every device under its plan, and again where the first guess was wrong. */
bool steps_sweep(struct measured *m, struct diag *err);

/* The columns an op and the family it stands for share (ops.c). */
struct op_facts {
	struct hlo_cost cost;
	struct op_work work;	 /* of one execution; its type is the result's without a matmul */
	struct roofline roof;	 /* NaN where nothing can be said */
	enum cost_source source; /* of the FLOPs */
	enum cost_bound bound;	 /* COST_UNKNOWN: not counted */
};
extern const struct str role_names[]; /* by enum role */
void op_facts_of(const struct measured *m, const struct subject *s, struct op_facts *ret);

/* What the HLO says of a collective, and how long it should take; false when it is none, or
 * nothing is known of the chip. */
bool collective_facts(const struct measured *m, const struct subject *s, struct hlo_collective *c,
	struct collective_time *t);

/* 1 from the device to the host, -1 to the device, 0 neither or not known. */
int transfer_way(const struct subject *s);

/* Totals of a subject over all devices. */
void subject_sum(const struct measured *m, ptrdiff_t subject, struct op_total *ret);

/* The device memory a program was planned with; false when its plan is not in the profile, or,
 * with a note and m->plan_unread, when it cannot be read. */
bool program_memory(struct measured *m, const struct program *p, struct hlo_memory *ret);

/* floor.c: what a program takes at least, per execution, and with nothing overlapped; NaN where the
 * cost of none of its ops is known. */
struct program_floor {
	double floor_s, serial_s;
	int64_t known, unknown; /* ops */
};
struct program_floor *program_floors(const struct measured *m); /* by program */
/* Of the programs of a step, one after another, on the device that ends last. */
double predicted_step_s(const struct measured *m);
/* A new row of devices: which one it is. */
struct devices_row *device_row_new(struct measured *m, const struct plane *p, struct str core_type);
/* A new row of programs, without what tells when it ran. */
struct programs_row *program_row_new(struct measured *m, const struct program *p);

/* planned.c: programs of a dump that has no profile, and what they come to on the chip. */
bool plan_programs(struct measured *m, struct diag *err);
struct str plan_run_row(struct measured *m, struct run_row *row); /* as fill_job_facts */
void plan_program_rows(struct measured *m);
void quality_plan(struct measured *m);
void quality_programs(struct measured *m); /* spmd.c: do all devices run one program? */

struct run_shape run_shape_of(const struct measured *m);
double host_device_planes(const struct profile *host);

/* run_row.c: training or inference, as the job file says, else as the main program looks. */
enum phase run_phase(const struct measured *m);

/* skew.c: largest over lower median of the devices' time in an op; NaN with fewer than two. */
double subject_skew(const struct measured *m, ptrdiff_t subject);
/* By device: in three quarters of its compute time an op takes it at least this many times as long
 * as the median device; NaN with fewer than two devices. */
double *devices_slowness(const struct measured *m);

/* job_facts.c: what the job file adds to the run row.  Returns where it contradicts the profile;
 * missing: nowhere. */
struct str fill_job_facts(struct measured *m, struct run_row *row, double counted_flops);
void quality_add(struct measured *m, const char *name, bool ok, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* The dense peak that utilisation is held against: bf16's, fp16's where there is no bf16. */
double main_peak_flops(const struct chip_device *c);

/* Union of all activity: every moment with some mask but 0, which is idle. */
int64_t busy_ps(const struct sweep *s);

/* Seconds of the steady steps kept, on the device that ends last. */
double *step_times(const struct measured *m, ptrdiff_t *count);

/* One writer per group of tables; devices, steps and programs are run.c's own. */
/* phases.c: what the device that ends last ran; before fill_gaps and fill_phases. */
struct lasting lasting_of(const struct measured *m);
void fill_phases(struct measured *m, const struct gap_sums *gaps);
/* Executions of programs in a step of that device; NaN without steps. */
double programs_per_step(const struct measured *m);

/* After all others but quality; returns what fill_job_facts does. */
struct str fill_run(struct measured *m, struct str name, const struct gap_sums *gaps);
void fill_ops(struct measured *m);	   /* ops, families, edges */
void fill_collectives(struct measured *m); /* after ops */
void fill_transfers(struct measured *m);
void fill_memory(struct measured *m); /* memory, buffers */
void fill_live(struct measured *m);
bool fill_sparse_cores(struct measured *m, struct diag *err); /* into devices, behind the others */
void fill_compiles(struct measured *m);
void fill_files(struct measured *m);
struct str files_line(struct measured *m); /* the same in words */
/* The main program's HLO; without a main one, that of any program that ran; or NULL. */
const struct hlo_module *any_hlo(const struct measured *m);
void fill_quality(struct measured *m, struct str job_wrong);
void quality_dump(struct measured *m); /* dumped.c: is the dump of what ran? */

/* And one per group of plots (plots.h). */
struct plots;
/* Devices that the picture of a step shows.  More would not fit a screen. */
#define SHOWN_DEVICES 4
enum shown_role { SHOWN_OTHER, SHOWN_SLOWEST, SHOWN_MEDIAN, SHOWN_WAITING };
struct shown {
	const struct device *device;
	const struct swept_step *step;
	double own_s; /* mean of its steady steps, without waiting for others */
	enum shown_role role;
};
/* representative.c: a step that stands for the others, and the devices to show it on, in their
 * order; 0 when no step is steady. */
ptrdiff_t representative_step(const struct measured *m, struct shown **ret, ptrdiff_t *left_out);
bool fill_timeline(struct measured *m, struct plots *ret, struct diag *err);
void fill_usage(struct measured *m, struct plots *ret);

/* The program that ran with the largest plan for device memory; NULL without plans. */
const struct program *largest_program(struct measured *m, struct hlo_memory *ret);
bool is_host_allocator(const struct allocator *a);

#endif
