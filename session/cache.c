/* A directory of fetched objects.  See cache.h. */
#include "session/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <isa-l/crc64.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/input.h"
#include "base/out.h"
#include "base/sha256.h"
#include "base/stats.h"
#include "base/text.h"
#include "base/unit.h"

enum { NAME_DIGITS = 32, LEFTOVER_S = 86400 /* a temporary file whose writer is gone */ };
#define TEMPORARY ".new-"
#define SUM	  ".sum" /* beside each object: its checksum, in 16 hexadecimal digits */

/* ---- where and how much ---------------------------------------------------------------------- */

static bool read_limit(int64_t *ret, struct diag *err)
{
	const char *text = getenv("ROOFLINT_CACHE_LIMIT");
	enum unit unit;
	double bytes;
	*ret = CACHE_LIMIT;
	if (!text || !*text)
		return true;
	if (!unit_parse(str_from(text), &bytes, &unit, NULL) || bytes < 0 || bytes > 1e18 ||
		(unit != UNIT_BYTES && (unit != UNIT_NONE || bytes != 0)))
		return diag_set(err, DIAG_USAGE,
			"$ROOFLINT_CACHE_LIMIT takes a size, as in 20 GiB or 0, not '%.100s'",
			text);
	*ret = (int64_t)bytes;
	return true;
}

/* What others may write to could hold any run, and turn any verdict. */
static bool is_own(const struct stat *st)
{
	return st->st_uid == geteuid() && !(st->st_mode & 022);
}

static bool check_owner(struct str dir, struct arena *keep, struct diag *err)
{
	struct stat st;
	return (!stat(arena_z(keep, dir), &st) && is_own(&st)) ||
	       diag_set(err, DIAG_BUCKET,
		       "others may write to the cache '%.*s', or it is another user's; chmod 700 "
		       "it, or name another directory in $ROOFLINT_CACHE",
		       STR_ARG(dir));
}

bool cache_open(struct arena *keep, struct cache *ret, struct diag *err)
{
	struct str own = str_from(getenv("ROOFLINT_CACHE"));
	ret->dir = own.len ? own : dir_of_user("XDG_CACHE_HOME", ".cache", "rooflint", keep);
	if (!ret->dir.p)
		return diag_set(err, DIAG_USAGE,
			"no place for what comes from buckets: there is no $HOME, so name a "
			"directory in $ROOFLINT_CACHE");
	return read_limit(&ret->limit, err) &&
	       (dir_make(ret->dir, keep, err) ||
		       diag_context(err, "no place for what comes from buckets; name another "
					 "directory in $ROOFLINT_CACHE")) &&
	       check_owner(ret->dir, keep, err);
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

/* ---- checksums ------------------------------------------------------------------------------- */

static struct str sum_path(struct str path, struct arena *keep)
{
	return arena_fmt(keep, "%.*s" SUM, STR_ARG(path));
}

/* Of all bytes of a file: against damage, as whoever could mean harm cannot write here. */
static bool sum_of(struct str path, struct arena *keep, struct str *ret)
{
	struct arena scratch = *keep;
	struct input in;
	struct diag ignored;
	if (!input_open(path, &scratch, &in, &ignored))
		return false;
	uint64_t sum =
		crc64_ecma_refl(0, (const unsigned char *)in.bytes.p, (uint64_t)in.bytes.len);
	bool ok = input_check(&in, &ignored);
	input_close(&in);
	*ret = arena_fmt(keep, "%016llx", (unsigned long long)sum);
	return ok;
}

static bool is_sound(struct str path, int64_t bytes, struct arena *keep)
{
	struct str sum, kept;
	struct diag ignored;
	struct stat st, beside;
	return !lstat(path.p, &st) && S_ISREG(st.st_mode) && is_own(&st) && st.st_size == bytes &&
	       !lstat(sum_path(path, keep).p, &beside) && S_ISREG(beside.st_mode) &&
	       is_own(&beside) && input_text(sum_path(path, keep), 16, keep, &kept, &ignored) &&
	       sum_of(path, keep, &sum) && str_eq(sum, kept);
}

struct str cache_find(const struct cache *c, struct str name, int64_t bytes, struct arena *keep)
{
	struct str path = path_join(c->dir, name, keep);
	if (!is_sound(path, bytes, keep))
		return MISSING;
	(void)!utimensat(AT_FDCWD, path.p, NULL, 0); /* at worst it goes too early */
	return path;
}

/* ---- what has to go -------------------------------------------------------------------------- */

static int by_use(const void *a, const void *b)
{
	const struct dir_entry *x = a, *y = b;
	int order = order_integers(x->mtime_ns, y->mtime_ns);
	return order ? order : str_cmp(x->name, y->name);
}

/* Temporary files count, and go only when their writer must be gone. */
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
	sort_by(entries, count, by_use);
	for (ptrdiff_t i = 0; i < count; i++) {
		bool stale = str_starts(entries[i].name, STR(TEMPORARY));
		if ((used <= c->limit && !stale) || !may_go(&entries[i], now_ns))
			continue;
		struct str path = path_join(c->dir, entries[i].name, &scratch);
		unlink(path.p); /* or another program did */
		unlink(sum_path(path, &scratch).p);
		used -= entries[i].bytes;
	}
	return true;
}

/* ---- files on their way ---------------------------------------------------------------------- */

bool cache_begin(const struct cache *c, int64_t bytes, struct arena *keep, struct str *ret_path,
	struct diag *err)
{
	*ret_path = path_join(c->dir, STR(TEMPORARY "XXXXXX"), keep);
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
	struct str target = path_join(c->dir, name, keep), sum;
	struct diag ignored;
	/* Between the two renamings the old object looks damaged, and is fetched anew. */
	if (settle(path, bytes) && sum_of(path, keep, &sum)) {
		struct out *o = out_file(keep, sum_path(target, keep), &ignored);
		if (o)
			out_str(o, sum);
		if (o && out_close(o, &ignored) && !chmod(sum_path(target, keep).p, 0600) &&
			!rename(path.p, target.p))
			return true;
	}
	cache_abandon(path);
	return diag_set(
		err, DIAG_BUCKET, "a file could not be kept in the cache '%.*s'", STR_ARG(c->dir));
}

void cache_abandon(struct str path)
{
	unlink(path.p);
}
