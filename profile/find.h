/*
 * From what a user points at to runs: which files belong to one job.
 *
 * A path may be a log directory, a run directory, a file, or a tree.  Hosts land in directories
 * seconds apart, so neighbours with disjoint hosts are offered as one run (the caller confirms by
 * program).  Every refusal names what was found instead and what to do.
 */
#ifndef PROFILE_FIND_H
#define PROFILE_FIND_H

#include "base/tree.h"
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
};

struct found_run {
	struct str path;	  /* the run directory, or the file */
	struct str name;	  /* its last component */
	struct found_file *files; /* sorted by host */
	ptrdiff_t file_count;
	struct str *snapshots; /* *.prof beside them: what was alive on the devices */
	ptrdiff_t snapshot_count;
	const struct tree *tree; /* where all these paths lead to */
	int64_t bytes;		 /* of the files together */
	struct str refused;	 /* why a directory that is, or may hold, a run cannot be judged */
	enum diag_id refused_id;
};

struct found {
	struct found_run *runs; /* sorted by path; newest only unless all_runs */
	ptrdiff_t count;
};

bool find_runs(
	struct str path, bool all_runs, struct arena *keep, struct found *ret, struct diag *err);
/* The same in any tree; what is not in it at all is for the caller to tell, unless it is local. */
bool find_runs_in(const struct tree *tree, struct str path, bool all_runs, struct arena *keep,
	struct found *ret, struct diag *err);

#endif
