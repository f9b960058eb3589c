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

/* Objects below one prefix, of 200 bytes each: 2 GB.  A larger fleet goes prefix by prefix. */
#define BUCKET_MAX_OBJECTS 10000000
/*
 * A server decides how much is on a page, and some pages may be empty: this many, and beyond them a
 * tenth of what full pages hold.  Each page is a request, so a list of nothing has to end.
 */
#define BUCKET_FREE_PAGES 200
#define BUCKET_PAGE_LEAST 100

/* find_runs and find_each, for paths on this machine and in buckets; trees live in `keep`. */
bool find_profiles(struct str path, struct arena *keep, struct found *ret, struct diag *err);
bool each_profile(struct str path, struct arena *keep, found_fn *take, void *arg, struct diag *err);

#endif
