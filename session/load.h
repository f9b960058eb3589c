/*
 * From what the command line names to what is judged: rules, chips, and the tables of a run.
 */
#ifndef SESSION_LOAD_H
#define SESSION_LOAD_H

#include "measure/run.h"
#include "profile/find.h"
#include "report/report.h"
#include "rules/ruleset.h"

/* Options of the commands that read profiles. */
struct read_settings {
	struct str hardware, job, hlo, expect_commit, max_age;
	struct list source_roots;
	struct str step;
	int hosts_sample;
};
/* Options of the commands that read a rule file. */
struct rule_settings {
	struct str rules, rules_from;
	struct list set;
};

enum { COMMIT_MIN = 7 }; /* digits of a commit, on the command line and in the job file */

/* How runs are read and which are refused. */
struct load_options {
	struct measure_options measure;
	struct str hlo;		  /* directory of the dump; missing: the run's own */
	struct str expect_commit; /* missing: any will do */
	double max_age_s;	  /* NaN: any will do */
	struct str max_age;	  /* the same as it was written */
	int64_t now_ns;		  /* since 1970: what an age is counted from */
	int hosts_sample;	  /* 0: all */
	struct str words;	  /* " --hardware v5e": what a command line says of how to read */
};

/* `engine` is NULL when it could not be made, as *err then says. */
bool load_rules(struct engine *engine, const struct rule_settings *s, struct arena *keep,
	struct ruleset *ret, struct diag *err);
bool load_options(const struct read_settings *s, int threads, struct arena *keep,
	struct load_options *ret, struct diag *err);
/* Both, for who uses rules: their costs are part of how a run is measured. */
bool load_judge(struct engine *engine, const struct rule_settings *rule,
	const struct read_settings *read, int threads, struct arena *keep, struct ruleset *rules,
	struct load_options *options, struct diag *err);

/*
 * Identity of whoever judges: rules as they were understood, options, version.  Facts of the same
 * judge can be compared, and need not be judged again.
 */
struct str judge_identity(
	const struct ruleset *rules, const struct read_settings *read, struct arena *keep);

/* What a list of objects says of a run's files; missing where there is none, as on a disk. */
struct str run_listing(const struct found_run *run, struct arena *keep);

/*
 * The run with N of its hosts, the first and the last among them: stragglers sit anywhere, and a
 * choice by chance would judge another job at every run.  N of 0, or no fewer than it has: all.
 */
struct found_run run_sample(const struct found_run *run, int hosts, struct arena *keep);

/*
 * A directory whose file cannot be read, of a host that has a newer one next to it: a capture that
 * was cut short and taken again.  It costs the newer run nothing where that is complete.
 */
struct passed_over {
	struct str dir;
	struct diag why;
};

/* The files of one run, mapped and indexed. */
struct loaded {
	struct found_run run;
	int64_t hosts_found;	  /* before a sample was taken; 0: none was */
	struct input *inputs;	  /* one per file of the run */
	struct profile *profiles; /* the same */
	ptrdiff_t count;	  /* of those that are open */
	struct dump dump;	  /* of the compiler, beside them or where --hlo says */
	struct passed_over *passed_over;
	ptrdiff_t passed_over_count;
};
bool run_open(const struct found_run *run, const struct load_options *options, struct arena *keep,
	struct loaded *ret, struct diag *err);
void run_close(struct loaded *l);

/*
 * Files from neighbouring directories belong together when they tell, at the same time, of one
 * program that is for more devices than either has; of one host they are its processes', and are
 * numbered.  Moves those that belong to the newest directory of `l` to *ret, and leaves the others
 * in `l`; false when none is left.
 */
bool run_take(struct loaded *l, struct arena *keep, struct loaded *ret);

/*
 * Measure what is open; the tables borrow from it.  A file that shrank meanwhile is an error,
 * whatever else was found, and so is a run that is not the one asked for: NULL.  measure_end what
 * comes back.
 */
struct measured *run_measure(const struct loaded *l, const struct load_options *options,
	struct arena *keep, struct tables *ret, struct diag_list *notes, struct diag *err);
/* From a run that was found to its tables, which borrow from files that stay mapped. */
bool run_tables(const struct found_run *run, const struct load_options *options, struct arena *keep,
	struct tables *ret, struct diag *err);
/* The care of run_measure for report_plots. */
bool run_plots(const struct loaded *l, struct measured *m, struct arena *keep, struct report *ret,
	struct diag *err);

/*
 * beside.c: notes of a dump and a snapshot in the log directory, which may be of another run of the
 * job, so they are reported and not taken.
 */
void note_log_dir(const struct loaded *l, const struct load_options *options, struct arena *keep,
	struct diag_list *notes);
/* The job file beside the run.  *ret is NULL where there is none. */
bool job_file_find(
	const struct loaded *l, struct arena *keep, const struct job_file **ret, struct diag *err);
bool job_file_read(const struct tree *tree, struct str path, struct arena *keep,
	const struct job_file **ret, struct diag *err);
/* Is it of the commit and the age that were asked for? */
bool run_is_current(const struct loaded *l, const struct load_options *options,
	const struct job_file *job, struct diag *err);

#endif
