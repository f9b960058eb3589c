/* Buckets as trees.  See bucket.h. */
#include "session/bucket.h"

#include <stdlib.h>

#include "base/secret.h"
#include "base/stats.h"
#include "base/text.h"
#include "base/unit.h"
#include "session/bucket_list.h"

#define STALL_S 30.0 /* without a byte; ROOFLINT_HTTP_STALL says otherwise */

static bool is_bucket(struct str path)
{
	return str_starts(path, STR("gs://")) || str_starts(path, STR("s3://"));
}

/* ---- as a tree ------------------------------------------------------------------------------- */

static bool bucket_look(const struct tree *t, struct str path, struct arena *scratch,
	struct tree_node *ret, struct diag *err)
{
	const struct bucket *b = (const struct bucket *)t;
	struct str below = arena_fmt(scratch, "%.*s/", STR_ARG(path));
	ptrdiff_t i = bucket_first(b, below);
	bool is_dir = i < b->count && str_starts(b->objects[i].path, below);
	(void)err;
	*ret = (struct tree_node){ .kind = TREE_ABSENT };
	ret->kind = is_dir ? TREE_DIR : bucket_at(b, path) ? TREE_FILE : TREE_ABSENT;
	return true;
}

/* "x" and "x/y" may both be there, as in no directory: then "x" is one with names below it. */
static void add_entry(struct dir_entry **ret, ptrdiff_t *count, ptrdiff_t *cap, struct dir_entry e,
	struct arena *keep)
{
	for (ptrdiff_t i = *count - 1; i >= 0 && str_starts((*ret)[i].name, e.name); i--)
		if (str_eq((*ret)[i].name, e.name)) {
			(*ret)[i] = e;
			return;
		}
	*arena_push(keep, *ret, *count, *cap) = e;
}

static bool bucket_list(const struct tree *t, struct str path, struct arena *keep,
	struct dir_entry **ret, ptrdiff_t *count, struct diag *err)
{
	const struct bucket *b = (const struct bucket *)t;
	struct str dir = arena_fmt(keep, "%.*s/", STR_ARG(path));
	ptrdiff_t cap = 0;
	(void)err;
	*ret = NULL;
	*count = 0;
	for (ptrdiff_t i = bucket_first(b, dir); i < b->count;) {
		struct str rest = b->objects[i].path, name, below;
		if (!str_take(&rest, dir))
			break;
		struct dir_entry e = { .is_dir = str_cut(rest, '/', &name, &below) };
		e.name = name;
		e.bytes = e.is_dir ? 0 : b->objects[i].bytes;
		if (name.len) /* else "dir/" itself, as consoles make it */
			add_entry(ret, count, &cap, e, keep);
		char after = '/' + 1; /* behind all that is below the name */
		i = e.is_dir && name.len
			    ? bucket_first(b, arena_fmt(keep, "%.*s%.*s%c", STR_ARG(dir),
						      STR_ARG(name), after))
			    : i + 1;
	}
	sort_by(*ret, *count, names_order);
	return true;
}

/* ---- fetching -------------------------------------------------------------------------------- */

static bool fetch(const struct bucket *b, const struct object *o, struct str name,
	struct arena *keep, struct diag *err)
{
	struct str path;
	struct frame f;
	if (!cache_begin(&b->cache, o->bytes, keep, &path, err))
		return diag_context(err, "%.*s", STR_ARG(o->path));
	cJSON *head = bucket_request(b, "FETCH", o->path);
	json_add_str(head, "version", o->version);
	json_add_str(head, "to", path);
	json_add_double(head, "bytes", (double)o->bytes);
	if (!bucket_ask(head, o->path, keep, &f, err)) {
		cache_abandon(path);
		return false;
	}
	frame_release(&f);
	return cache_commit(&b->cache, path, name, o->bytes, keep, err) ||
	       diag_context(err, "%.*s", STR_ARG(o->path));
}

/* Between its finding and its opening another program may have made room: then it is fetched. */
static bool bucket_open(const struct tree *t, struct str path, struct arena *keep,
	struct input *ret, struct diag *err)
{
	const struct bucket *b = (const struct bucket *)t;
	const struct object *o = bucket_at(b, path);
	if (!o)
		return diag_set(err, DIAG_BUCKET, "%.*s: no such object", STR_ARG(path));
	struct str name = cache_name(b->origin, o->path, o->version, keep);
	for (int tries = 0; tries < 3; tries++) {
		struct str local = cache_find(&b->cache, name, o->bytes, keep);
		if (!local.p && !fetch(b, o, name, keep, err))
			return false;
		local = cache_find(&b->cache, name, o->bytes, keep);
		if (local.p && input_open(local, keep, ret, err)) {
			ret->path = o->path;
			return true;
		}
	}
	return diag_set(err, DIAG_BUCKET,
		"%.*s: it was fetched, and removed from the cache before it could be read; give "
		"the cache more room in $ROOFLINT_CACHE_LIMIT",
		STR_ARG(path));
}

static struct str bucket_version(const struct tree *t, struct str path)
{
	const struct object *o = bucket_at((const struct bucket *)t, path);
	return o ? o->version : MISSING;
}

/* ---- the whole way --------------------------------------------------------------------------- */

static bool read_stall(double *ret, struct diag *err)
{
	const char *text = getenv("ROOFLINT_HTTP_STALL");
	enum unit unit;
	*ret = STALL_S;
	if (!text || !*text ||
		(unit_parse(str_from(text), ret, &unit, NULL) && unit == UNIT_SECONDS &&
			*ret >= 1 && *ret <= 600))
		return true;
	return diag_set(err, DIAG_USAGE,
		"$ROOFLINT_HTTP_STALL takes a duration from 1s to 10min, not '%.100s'", text);
}

/* Nothing is asked yet.  `path` loses the slashes at its end. */
static struct bucket *open_bucket(struct str *path, struct arena *keep, struct diag *err)
{
	struct bucket *b = bucket_new(NULL, keep);
	b->tree = (struct tree){ bucket_look, bucket_list, bucket_open, bucket_version };
	*path = arena_str(keep, *path);
	while (path->len > 5 && str_ends(*path, STR("/")))
		*path = str_head(*path, path->len - 1);
	secret_seal(); /* a hostile profile's crash leaves no environment, where keys may be */
	return read_stall(&b->stall_s, err) && cache_open(keep, &b->cache, err) ? b : NULL;
}

bool find_profiles(struct str path, struct arena *keep, struct found *ret, struct diag *err)
{
	if (!is_bucket(path))
		return find_runs(&tree_local, path, keep, ret, err);
	struct bucket *b = open_bucket(&path, keep, err);
	struct listing l = list_below(path, keep);
	return b && list_some(b, &l, BUCKET_MAX_OBJECTS, err) && list_end(b, path, &l, err) &&
	       find_runs(&b->tree, path, keep, ret, err);
}

/* A stretch without a profile says nothing of the others; *bare has what would be said. */
static bool find_some(const struct bucket *b, struct str path, const struct run_taker *t,
	bool *found, struct diag *bare, struct diag *err)
{
	struct diag why;
	if (!b->count || find_each(&b->tree, path, t->take, t->arg, &why)) {
		*found |= b->count > 0;
		return true;
	}
	*(why.id == DIAG_NO_PROFILE || why.id == DIAG_FILE_KIND ? bare : err) = why;
	return why.id == DIAG_NO_PROFILE || why.id == DIAG_FILE_KIND;
}

static bool each_in_bucket(struct bucket *b, struct str path, struct run_taker *t, struct diag *err)
{
	struct listing l = list_below(path, b->keep);
	struct diag bare = { 0 };
	bool found = false;
	bool ok = list_some(b, &l, t->full ? BUCKET_STRETCH : BUCKET_MAX_OBJECTS, err);
	if (ok && !l.is_done && t->shard.count) {
		ok = list_divide(b, t->shard, &l, &t->is_divided, err);
		b = t->is_divided ? bucket_new(b, b->keep) : b;
		ok = ok && (!l.last.p || list_job_files(b, path, l.last, err)) &&
		     list_some(b, &l, BUCKET_STRETCH, err);
	}
	while (ok && !l.is_done) {
		struct bucket *rest = bucket_new(b, b->keep);
		ok = list_cut(b, path, &l, rest, err) &&
		     find_some(b, path, t, &found, &bare, err) && t->full(t->arg, err);
		bucket_end(b);
		b = rest;
		ok = ok && list_some(b, &l, b->count + BUCKET_STRETCH, err);
	}
	if (!ok || !list_end(b, path, &l, err) || !find_some(b, path, t, &found, &bare, err))
		return false;
	if (!found && !t->is_divided)
		*err = bare;
	return found || t->is_divided;
}

bool each_profile(struct str path, struct arena *keep, struct run_taker *t, struct diag *err)
{
	t->is_divided = false;
	if (!is_bucket(path))
		return find_each(&tree_local, path, t->take, t->arg, err);
	struct bucket *b = open_bucket(&path, keep, err);
	return b && each_in_bucket(b, path, t, err);
}
