/*
 * Inside of measure/: what writes the tables.  Each takes what it reads, so that none can come
 * before what it needs; what others read of its rows it hands back.
 */
#ifndef MEASURE_WRITERS_H
#define MEASURE_WRITERS_H

#include "hlo/collective.h"
#include "measure/swept.h"

/*
 * A ratio of all FLOPs says something only when nearly all were counted: what is left out would
 * pass for work that was saved.
 */
#define UNCOUNTED_MAX 0.05

/* ---- op_facts.c ------------------------------------------------------------------------------ */

/* Why a copy exists, where its instruction tells; in the order of CAUSE_WORDS. */
enum copy_cause {
	COPY_CAUSE_UNKNOWN,
	COPY_LAYOUT,
	COPY_PREFETCH,
	COPY_OFFLOAD,
	COPY_DONATION,
	COPY_ON_DEVICE
};

/* What an op did and should take.  It goes into the op's row and its program, and is kept no longer
 * than it takes to read the program: there may be a million ops. */
struct op_facts {
	const struct op_total *total;		 /* over all devices */
	struct roofline roof;			 /* NaN where nothing can be said */
	const struct roofline *behind;		 /* of what half of a pair sets off; or NULL */
	const struct hlo_collective *collective; /* NULL: it is none, or its HLO is not known */
	struct collective_time *comms;		 /* of a known chip; NULL else */
	enum cost_source source;		 /* of the FLOPs */
	enum cost_bound bound;			 /* COST_UNKNOWN: not counted */
	bool reads_all; /* it moves no less than its bytes, however many its FLOPs */
	enum copy_cause copy_cause;
	enum copy_direction direction; /* of what it copies or feeds */
	bool is_copy;		       /* it says so, and may leave the device */
	bool ran;		       /* or is planned; of others nothing else is known */
};

/* And what it costs, which its row holds then. */
struct op_costing {
	double logical_bytes, padded_bytes; /* of its arrays; NaN unknown */
	struct op_work work; /* of one execution; its type is the result's without a matmul */
	double rows_ratio, aligned_to; /* see the columns; NaN where there is none */
};
bool subject_ran(const struct run *run, const struct subject *s);
/* What facts say of a collective, and nothing else. */
void op_comms_of(const struct run *run, const struct subject *s, struct op_facts *f);
struct op_facts op_facts_of(
	const struct run *run, const struct subject *s, struct op_costing *costing);

/* ---- ops.c: ops, families, edges ------------------------------------------------------------- */

struct op_rows {
	const struct op_facts **moving; /* by subject: of those that move data; of others NULL */
	struct program_facts *programs; /* by program */
	const struct ops_row *rows;
	const struct subject **subjects; /* of each row */
	ptrdiff_t count;
	const int32_t *at; /* by subject: its row, or -1 */
};
/* Is it work on the chip, which a roofline could judge? */
bool op_is_judgeable(const struct subject *s);
/* Each program is read for all of its ops. */
struct op_rows fill_ops(const struct run *run);

/* ---- programs.c ------------------------------------------------------------------------------ */

struct program_facts {
	/* What it takes at least, per execution, and with nothing overlapped; NaN where the cost of
	 * none of its ops is known. */
	double floor_s, serial_s;
	int64_t known, unknown; /* ops */
	double judged_ratio;	/* of its time in compute and copies: roofline known */
};
struct programs {
	const struct program_facts *of; /* by program */
	const struct program *largest;	/* by its plan; NULL: there is none */
	struct str unread;		/* a module whose plan is there and cannot be read */
};
/* By all of its ops, and what is known of each. */
struct program_facts program_facts_of(const struct run *run, const struct subject *const *ops,
	const struct op_facts *facts, ptrdiff_t count);
struct programs programs_know(const struct run *run, const struct program_facts *of);
/* What the programs of a step take at least, one after another, on the device that ends last. */
void predict_step(const struct run *run, const struct programs *programs, struct run_row *row);
void fill_programs(const struct run *run, const struct programs *programs);

/* ---- memory.c, memory_prof.c ----------------------------------------------------------------- */

/* memory, buffers */
void fill_memory(const struct run *run, const struct programs *programs);
bool fill_live(const struct run *run); /* false: there are more */

/* ---- comms.c --------------------------------------------------------------------------------- */

/* A collective that the network between the job file's slices could not have carried in its time:
 * its name; else missing. */
struct str comms_disprove(const struct run *run);
/* False: there are more collectives. */
bool fill_collectives(const struct run *run, const struct op_rows *op_rows);
void fill_transfers(const struct run *run, const struct op_rows *op_rows);

/* ---- devices.c, sparsecore.c ----------------------------------------------------------------- */

void fill_devices(const struct run *run);
void fill_steps(const struct run *run);
/* A new row of devices: which one it is. */
struct devices_row *device_row_new(
	const struct run *run, const struct plane *p, struct str core_type);
/* Largest over lower median of the devices' time in an op; NaN with fewer than two. */
double subject_skew(const struct run *run, ptrdiff_t subject);
/* Into devices, behind the others. */
bool fill_sparse_cores(const struct run *run, struct diag *err);
/* The dense peak that utilisation is held against: bf16's, fp16's where there is no bf16. */
double main_peak_flops(const struct chip_device *c);

/* ---- what the host was at -------------------------------------------------------------------- */

/*
 * Why a device waits, in the order of GAP_WORDS, in which a tie is decided.  Idle inside an
 * execution is the program's own.  Outside, it is laid to what the thread that launches the steps
 * was at: to the outermost event that tells, so that a loader is one at any depth.  An event that
 * goes on when the device works again did not keep it waiting: the work had been launched before.
 * What is left of a gap that began while the host waited for a result is the wait's: without it the
 * next work would have been launched before.
 */
enum cause {
	CAUSE_UNKNOWN,
	CAUSE_INPUT,
	CAUSE_COMPILE,
	CAUSE_CHECKPOINT,
	CAUSE_TRANSFER,
	CAUSE_SYNC,
	CAUSE_REQUEST,
	CAUSE_HOST,
	CAUSE_PROGRAM,
	CAUSES
};

struct gap_sums {
	double input_s, sync_s; /* in the steady steps of all devices */
	/* Of all waits of the device that ends last, in and between the steps; of its gaps that are
	 * kept, where not all its executions are. */
	struct {
		int64_t time_ps;
		struct dist lengths; /* of those that are this for the most part */
	} waits[CAUSES];
	struct arena *keep;
};
/* Idle time of the devices, and the waits between the executions of one of them. */
bool fill_gaps(const struct run *run, const struct op_rows *op_rows, bool infers,
	struct gap_sums *ret, struct diag *err);
/* Why the device that waits most does, by the tables that are filled. */
void fill_waits(struct tables *t, bool infers, struct arena *keep);
/* How many of them lie in steps; NaN where one was not recorded. */
double fill_compiles(const struct run *run);
/* The share of the time in executions that is judged. */
double fill_phases(
	const struct run *run, const struct gap_sums *gaps, const struct programs *programs);
/* Executions of programs in a step of the device that ends last; NaN without steps. */
double programs_per_step(const struct run *run);

/* ---- the run --------------------------------------------------------------------------------- */

/* What its row sums up. */
struct run_parts {
	const struct programs *programs;
	struct op_rows ops;
	struct gap_sums gaps;
	double compiles_in_steps; /* fill_compiles */
	double verdict_share;
};
/* Returns where the job file contradicts the profile; missing: nowhere. */
struct str fill_run(const struct run *run, const struct run_parts *parts, struct str name);
/* run_row.c: training or inference, as the job file says, else as the main program looks. */
enum phase run_phase(const struct run *run);
/* job_facts.c: what the job file adds to the run row.  Returns what fill_run does. */
struct str fill_job_facts(const struct run *run, struct run_row *row, double counted_flops);

void fill_files(const struct run *run);
struct str files_line(const struct run *run); /* the same in words */
/* The main program's HLO; without a main one, that of any program that ran; or NULL. */
const struct hlo_module *any_hlo(const struct run *run);
bool has_whole_hlo(const struct run *run); /* of a program that ran */

/* ---- quality --------------------------------------------------------------------------------- */

/* `is_whole`: no table was cut by a limit. */
void fill_quality(const struct run *run, const struct programs *programs, bool is_whole,
	struct str job_wrong);
struct quality_row *quality_add(const struct run *run, const char *name, bool ok, const char *fmt,
	...) __attribute__((format(printf, 4, 5)));
/* spmd.c: the program that a device spent most time in, of those that it ran again and again; or
 * NULL.  And: do all devices run one program? */
const struct program *heaviest_program(const struct run *run, const struct device *d);
void quality_programs(const struct run *run);
/* processors.c: what virtual devices wait for a processor is time inside their executions. */
void processors_share(struct run *run);
/* dumped.c: is the dump of what ran? */
void quality_dump(const struct run *run);

/* ---- planned.c: programs of a dump, in place of what ran ------------------------------------- */

void quality_plan(const struct run *run, const struct programs *programs);

/* ---- plots.h --------------------------------------------------------------------------------- */

struct plots;
struct around;
bool fill_timeline(const struct run *run, struct plots *ret, struct diag *err);
void fill_usage(const struct run *run, const struct programs *programs, struct plots *ret);
bool around_find(const struct run *run, struct str name, struct str scope, struct around *ret);

#endif
