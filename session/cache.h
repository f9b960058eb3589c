/*
 * Objects of buckets, kept on this machine: one file each, in one directory.
 *
 * A file's name is a hash of where the object is and of its version, so an object that was written
 * anew is another file, and nothing here can be stale.  Files are made under a temporary name and
 * renamed when they are whole; beside each stands its checksum.  What is damaged, a link, or not
 * the user's alone to write counts as absent, and is fetched anew.  When there is too much, what
 * was used longest ago goes first; a reader that has a file open keeps it.  Several programs may
 * share the directory.
 *
 * Refuses: knowing how objects come, and removing files that are not its own.
 */
#ifndef SESSION_CACHE_H
#define SESSION_CACHE_H

#include "base/arena.h"
#include "base/diag.h"

/* Unless ROOFLINT_CACHE_LIMIT says otherwise: some hundred runs of a few hosts. */
#define CACHE_LIMIT ((int64_t)10 << 30)

struct cache {
	struct str dir;
	int64_t limit; /* bytes of all files, the one that is about to come included */
};
/* ROOFLINT_CACHE, else rooflint/ in XDG_CACHE_HOME or ~/.cache; made when it is not there. */
bool cache_open(struct arena *keep, struct cache *ret, struct diag *err);

/* `origin` is whose objects they are: two servers may have a bucket of one name. */
struct str cache_name(struct str origin, struct str object, struct str version, struct arena *keep);

/* The path of a whole file of that name, which counts as used now; missing where there is none. */
struct str cache_find(const struct cache *c, struct str name, int64_t bytes, struct arena *keep);

/* Room for so many bytes, and an empty file to write them to. */
bool cache_begin(const struct cache *c, int64_t bytes, struct arena *keep, struct str *ret_path,
	struct diag *err);
/* The file is whole: it gets its name.  Otherwise it is removed. */
bool cache_commit(const struct cache *c, struct str path, struct str name, int64_t bytes,
	struct arena *keep, struct diag *err);
void cache_abandon(struct str path);

#endif
