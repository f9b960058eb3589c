/*
 * Measuring a run: profiles of its hosts in, tables of facts out.
 *
 * The one place where what happened (profile/), what it costs (hlo/) and what is possible
 * (hardware/) meet.  Definitions every reader of the tables may rely on:
 *
 *  - A step is what the Steps line, the step annotations, or the executions of the main program
 *    (the one with the most device time among those that ran at least twice) say, in that order;
 *    run.steps_source tells which.  A step of the last two kinds lasts from its first op to the
 *    first op of the next, so the last one, whose end is not seen, is not complete.
 *  - Steady steps are complete ones, without the first (when there are three or more) and without
 *    those during which the host compiled or the profiler started.  Tables over steps count only
 *    steady ones.  Without any, the whole window is the one step and steps_source is "window".
 *  - An execution belongs to the step in which it starts.  On GPU consecutive kernels of one
 *    stream with the same HLO op are one execution.  A kernel's name that comes again begins a new
 *    one if another op of the program began in between, on any stream, or if no other op of its
 *    computation does any work.
 *  - Times of ops are self times: an op that holds others gives theirs back.  Busy is a union.
 *
 * Refuses: verdicts, printing.  Unknown stays NULL.
 */
#ifndef MEASURE_RUN_H
#define MEASURE_RUN_H

#include "base/diag.h"
#include "hardware/chip.h"
#include "measure/formula.h"
#include "measure/job.h"
#include "measure/tables.h"
#include "profile/dump.h"
#include "profile/profile.h"

/*
 * Where the job saw the user's sources, without the slash at the end, and where they lie in the
 * repository ("": its root).
 */
struct source_root {
	struct str seen, kept;
};

struct measure_options {
	struct chip_set *chips;
	const struct chip *chip;      /* from --hardware; NULL: recognise it */
	const struct job_file *job;   /* what the owner says; NULL: nothing */
	const struct op_costs *costs; /* of custom calls, by the rule file; NULL: none */
	struct dump *dump;	      /* of the compiler; NULL: none */
	int64_t hosts_found;	      /* when only a sample of them was opened; 0: all were */
	/* What is the user's own, as op_source.h says; the first root that fits. */
	const struct source_root *source_roots;
	ptrdiff_t source_root_count;
	/* The top of one, in which the user's files are, and the working directory below it. */
	struct str checkout, checkout_folder; /* missing: there is none */
	/* Pattern of the step's mark or module; missing: the job file's, else found by what ran. */
	struct str step;
	int threads; /* at least 1 */
};

/*
 * `hosts` are the opened profiles of one run, in order of host name.  NULL with a diagnostic when
 * a profile's bytes turn out bad; `notes` gathers what was seen and survived.  What comes back can
 * be asked for more (plots.h) until measure_end; the tables outlive it.
 */
struct measured;
struct measured *measure_begin(struct profile *hosts, ptrdiff_t host_count, struct str name,
	const struct measure_options *options, struct arena *keep, struct tables *ret,
	struct diag_list *notes, struct diag *err);
void measure_end(struct measured *m); /* NULL is fine */

/* What the job file says of a run, whether or not it could be measured. */
void run_row_tell(const struct job_file *j, struct run_row *row);

/* Identity of a capture; reads `host` and `input` of each only, so they need not be indexed. */
struct str capture_fingerprint(const struct profile *hosts, ptrdiff_t count, struct arena *keep);
/* Two hosts with one and the same file of more than 8 KiB: idle hosts' may well be alike. */
bool capture_twin(const struct profile *hosts, ptrdiff_t count, struct arena *keep,
	const struct profile *ret[2]);

#endif
