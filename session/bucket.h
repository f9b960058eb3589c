/*
 * Profiles in buckets: "gs://bucket/prefix" and "s3://bucket/prefix" as a PROFILE.
 *
 * What lies below the prefix is listed once, and looks like a directory from then on; an object is
 * fetched when it is opened, and no other is.  rooflint-http speaks to the servers and has the
 * credentials; here there are names, versions and a cache (session/cache.h).
 */
#ifndef SESSION_BUCKET_H
#define SESSION_BUCKET_H

#include "profile/find.h"
#include "session/shard.h"

/* find_runs for paths on this machine and in buckets; its tree lives in `keep`. */
bool find_profiles(struct str path, struct arena *keep, struct found *ret, struct diag *err);

/*
 * find_each for both.  A list of any length is read in stretches: at the end of each but the last
 * `full` is called, and what was told has to be opened before it returns, since its tree dies.
 * NULL: the list is one stretch.  Of a list that has several, a shard gets a range of names of its
 * own, where directories divide it: is_divided, set before anything is told.
 */
struct run_taker {
	found_fn *take;
	bool (*full)(void *arg, struct diag *err);
	void *arg;
	struct shard shard;
	bool is_divided;
};
bool each_profile(struct str path, struct arena *keep, struct run_taker *t, struct diag *err);

#endif
