/* A directory of fetched objects.  See cache.h. */
#include "session/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/input.h"
#include "base/sha256.h"
#include "base/unit.h"

enum { NAME_DIGITS = 32, LEFTOVER_S = 86400 /* a temporary file nobody writes to any more */ };
#define TEMPORARY ".new-"

/* ---- where and how much ---------------------------------------------------------------------- */

static struct str cache_dir(struct arena *keep)
{
	const char *own = getenv("ROOFLINT_CACHE"), *xdg = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	if (own && *own)
		return str_from(own);
	if (xdg && *xdg == '/')
		return arena_fmt(keep, "%s/rooflint", xdg);
	if (home && *home == '/')
		return arena_fmt(keep, "%s/.cache/rooflint", home);
	return str_from(NULL);
}

static bool read_limit(int64_t *ret, struct diag *err)
{
	const char *text = getenv("ROOFLINT_CACHE_LIMIT");
	struct str nearest;
	enum unit unit;
	double bytes;
	*ret = CACHE_LIMIT;
	if (!text || !*text)
		return true;
	if (!unit_parse(str_from(text), &bytes, &unit, &nearest) || bytes < 0 || bytes > 1e18 ||
		(unit != UNIT_BYTES && (unit != UNIT_NONE || bytes != 0)))
		return diag_set(err, DIAG_USAGE,
			"$ROOFLINT_CACHE_LIMIT takes a size, as in 20 GiB or 0, not '%.100s'",
			text);
	*ret = (int64_t)bytes;
	return true;
}

bool cache_open(struct arena *keep, struct cache *ret, struct diag *err)
{
	ret->dir = cache_dir(keep);
	if (!ret->dir.p)
		return diag_set(err, DIAG_USAGE,
			"no place for what comes from buckets: there is no $HOME, so name a "
			"directory in $ROOFLINT_CACHE");
	return read_limit(&ret->limit, err) &&
	       (dir_make(ret->dir, keep, err) ||
		       diag_context(err, "no place for what comes from buckets; name another "
					 "directory in $ROOFLINT_CACHE"));
}

/* ---- names ----------------------------------------------------------------------------------- */

struct str cache_name(struct str origin, struct str object, struct str version, struct arena *keep)
{
	struct sha256 h = sha256_new();
	sha256_field(&h, origin);
	sha256_field(&h, object);
	sha256_field(&h, version);
	return sha256_id(&h, keep);
}

static bool is_object(struct str name)
{
	return name.len == NAME_DIGITS && str_only(name, "0-9a-f");
}

static struct str path_of(const struct cache *c, struct str name, struct arena *keep)
{
	return arena_fmt(keep, "%.*s/%.*s", STR_ARG(c->dir), STR_ARG(name));
}

struct str cache_find(const struct cache *c, struct str name, int64_t bytes, struct arena *keep)
{
	struct str path = path_of(c, name, keep);
	struct stat st;
	if (stat(path.p, &st) || !S_ISREG(st.st_mode) || st.st_size != bytes)
		return str_from(NULL);
	(void)!utimensat(AT_FDCWD, path.p, NULL, 0); /* at worst it goes too early */
	return path;
}

/* ---- what has to go -------------------------------------------------------------------------- */

static int by_use(const void *a, const void *b)
{
	const struct dir_entry *x = a, *y = b;
	if (x->mtime_ns != y->mtime_ns)
		return x->mtime_ns < y->mtime_ns ? -1 : 1;
	return str_cmp(x->name, y->name);
}

/* Temporary files count, and go only when nobody can be writing to them. */
static bool may_go(const struct dir_entry *e, int64_t now_ns)
{
	return is_object(e->name) || (str_starts(e->name, STR(TEMPORARY)) &&
					     now_ns - e->mtime_ns > LEFTOVER_S * 1000000000LL);
}

static bool make_room(const struct cache *c, int64_t bytes, struct arena scratch, struct diag *err)
{
	struct dir_entry *entries;
	struct timespec now;
	ptrdiff_t count;
	int64_t used = bytes;
	clock_gettime(CLOCK_REALTIME, &now);
	int64_t now_ns = now.tv_sec * 1000000000LL + now.tv_nsec;
	if (!dir_list(c->dir, &scratch, &entries, &count, err))
		return false;
	for (ptrdiff_t i = 0; i < count; i++)
		if (is_object(entries[i].name) || str_starts(entries[i].name, STR(TEMPORARY)))
			used += entries[i].bytes;
	if (count)
		qsort(entries, (size_t)count, sizeof(*entries), by_use);
	for (ptrdiff_t i = 0; i < count; i++) {
		bool stale = str_starts(entries[i].name, STR(TEMPORARY));
		if ((used <= c->limit && !stale) || !may_go(&entries[i], now_ns))
			continue;
		unlink(path_of(c, entries[i].name, &scratch).p); /* or another program did */
		used -= entries[i].bytes;
	}
	return true;
}

/* ---- files on their way ---------------------------------------------------------------------- */

bool cache_begin(const struct cache *c, int64_t bytes, struct arena *keep, struct str *ret_path,
	struct diag *err)
{
	*ret_path = path_of(c, STR(TEMPORARY "XXXXXX"), keep);
	if (!make_room(c, bytes, *keep, err))
		return false;
	/* Its letters are replaced in place: the path is ours, in the arena. */
	int fd = mkstemp((char *)(uintptr_t)ret_path->p);
	if (fd < 0)
		return diag_set(err, DIAG_BUCKET,
			"cannot make a file in the cache '%.*s': %s; $ROOFLINT_CACHE names another "
			"directory",
			STR_ARG(c->dir), strerror(errno));
	close(fd);
	return true;
}

/* Its bytes are on the disk before it has its name: a machine that stops leaves no half of it. */
static bool settle(struct str path, int64_t bytes)
{
	struct stat st;
	int fd = open(path.p, O_RDONLY | O_CLOEXEC);
	bool ok = fd >= 0 && !fsync(fd) && !fstat(fd, &st) && st.st_size == bytes;
	if (fd >= 0)
		close(fd);
	return ok;
}

bool cache_commit(const struct cache *c, struct str path, struct str name, int64_t bytes,
	struct arena *keep, struct diag *err)
{
	if (settle(path, bytes) && !rename(path.p, path_of(c, name, keep).p))
		return true;
	cache_abandon(path);
	return diag_set(
		err, DIAG_BUCKET, "a file could not be kept in the cache '%.*s'", STR_ARG(c->dir));
}

void cache_abandon(struct str path)
{
	unlink(path.p);
}
