/*
 * From what a user points at to runs: which files belong to one job.
 *
 * A path may be a log directory, a run directory, a file, or a tree.  Hosts, and the processes of
 * one host, land in directories seconds apart, so neighbours are offered as one run (the caller
 * confirms by program and time).  Every refusal names what was found instead and what to do.
 */
#ifndef PROFILE_FIND_H
#define PROFILE_FIND_H

#include "base/input.h"
#include "profile/profile.h"

#define FIND_MAX_FILES	   100000   /* entries looked at below one path, when one run is wanted */
#define FIND_MAX_TREE	   20000000 /* when all are: a fleet's tree, some gigabytes of names */
#define FIND_MAX_SNAPSHOTS 64	 /* one per host of a large slice, or one for each phase of a job */
#define FIND_MAX_HOSTS	   20000 /* profiles of one run; the largest pods have 2300 hosts */

/*
 * One for each host: its xplane where there is one, else what a trace viewer got.  Of a compiler's
 * dump that is named itself, its first program; the run's path is the same when only that is meant.
 */
struct found_file {
	struct str path, host;
	enum profile_format format;
	struct str trace; /* of the same host, where the file is an xplane; missing: none */
};

struct found_run {
	struct str path;	  /* the run directory, or the file */
	struct str name;	  /* its last component */
	struct found_file *files; /* sorted by host; of one host the newest directory's first */
	ptrdiff_t file_count;
	struct str *snapshots; /* *.prof beside them: what was alive on the devices */
	ptrdiff_t snapshot_count;
	const struct tree *tree; /* where all these paths lead to */
	int64_t bytes;		 /* of the files together */
	struct str refused;	 /* why a directory that is, or may hold, a run cannot be judged */
	enum diag_id refused_id;
	struct str *older; /* names of the directories beside it that are part of it, in order */
	ptrdiff_t older_count;
};

struct found {
	struct found_run *runs; /* sorted by path */
	ptrdiff_t count;
};

/* The newest run of each parent. */
bool find_runs(const struct tree *tree, struct str path, struct arena *keep, struct found *ret,
	struct diag *err);

/*
 * All runs, each told when it is found, in the order of the search; it dies when `take` returns, so
 * that memory does not grow with their number.  When it ends with false, nothing was found: what
 * was told is to be forgotten.
 */
typedef void found_fn(void *arg, const struct found_run *run);
bool find_each(
	const struct tree *tree, struct str path, found_fn *take, void *arg, struct diag *err);

/*
 * A run by its path and the names of what is part of it, as it is now; one that was refused, or is
 * a compiler's dump, has to be kept instead.  False: it is there no more; *ret has its name.
 */
bool find_again(const struct tree *tree, struct str path, const struct str *older,
	ptrdiff_t older_count, struct arena *keep, struct found_run *ret, struct diag *err);
/* Whether directories of these names, the earlier one first, may hold hosts of one run. */
bool find_is_near(struct str earlier, struct str later);
/* Whether a file of this name is a profile; whether it is read, or named in a message. */
bool find_is_profile(struct str name);
bool find_is_useful(struct str name);
struct found_run found_copy(const struct found_run *run, struct arena *keep);

#endif
