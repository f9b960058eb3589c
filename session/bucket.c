/* Buckets as trees.  See bucket.h. */
#include "session/bucket.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/secret.h"
#include "base/text.h"
#include "base/unit.h"
#include "session/cache.h"
#include "session/http_client.h"
#include "measure/job.h"

enum { FETCH_ATTEMPTS = 3, VERSION_MAX = 1024 };
#define STALL_S 30.0 /* without a byte; ROOFLINT_HTTP_STALL says otherwise */

struct object {
	struct str path; /* "s3://bucket/key" */
	struct str version;
	int64_t bytes;
};

struct bucket {
	struct tree tree;
	struct arena *keep;
	struct object *objects; /* sorted by path */
	ptrdiff_t count, cap;
	struct str origin; /* of the server */
	struct cache cache;
	double stall_s;
};

/* One for this process: buckets are asked one after the other. */
static struct http_client http;

static bool is_bucket(struct str path)
{
	return str_starts(path, STR("gs://")) || str_starts(path, STR("s3://"));
}

/* ---- asking ---------------------------------------------------------------------------------- */

static cJSON *request_new(const char *method, struct str object, double stall_s)
{
	cJSON *head = cJSON_CreateObject();
	json_add_str(head, "method", str_from(method));
	json_add_str(head, "object", object);
	json_add_i64(head, "attempts", FETCH_ATTEMPTS);
	json_add_double(head, "stall_s", stall_s);
	return head;
}

/* `shown` is what the user named: it begins whatever goes wrong. */
static bool request_do(
	cJSON *head, struct str shown, struct arena *keep, struct frame *ret, struct diag *err)
{
	bool came = http_client_ask(&http, head, STR(""), NULL, keep, ret, err);
	cJSON_Delete(head);
	if (!came) {
		err->id = DIAG_BUCKET;
		return diag_context(err, "%.*s", STR_ARG(shown));
	}
	if (str_eq(json_get_str(ret->head, "outcome"), STR("delivered")))
		return true;
	struct str why = text_clean(keep, arena_str(keep, json_get_str(ret->head, "error")));
	double attempts = json_get_double(ret->head, "attempts");
	bool later = str_eq(json_get_str(ret->head, "outcome"), STR("later"));
	struct str often = attempts > 1 && attempts < 100
				   ? arena_fmt(keep, " (%d attempts%s)", (int)attempts,
					     later ? "; try again later" : "")
				   : STR("");
	frame_release(ret);
	return diag_set(
		err, DIAG_BUCKET, "%.*s: %.*s%.*s", STR_ARG(shown), STR_ARG(why), STR_ARG(often));
}

/* ---- listing --------------------------------------------------------------------------------- */

/* "s3://bucket": what is in front of each key. */
static struct str bucket_of(struct str path)
{
	ptrdiff_t slash = str_find_char(str_from_offset(path, 5), '/');
	return slash < 0 ? path : str_head(path, 5 + slash);
}

static bool read_page(struct bucket *b, struct str body, struct str bucket, struct diag *err)
{
	cJSON *objects = json_parse(STR("rooflint-http"), body, err);
	const cJSON *item;
	bool makes_sense = cJSON_IsArray(objects), fits = true;
	cJSON_ArrayForEach(item, objects)
	{
		struct str name = json_get_str(item, "name"),
			   version = json_get_str(item, "version");
		double bytes = json_get_double(item, "bytes");
		makes_sense = makes_sense && name.len && version.len &&
			      version.len <= VERSION_MAX && bytes >= 0 && bytes < 1e15;
		fits = fits && b->count < BUCKET_MAX_OBJECTS;
		if (makes_sense && fits)
			*arena_push(b->keep, b->objects, b->count, b->cap) = (struct object){
				arena_fmt(b->keep, "%.*s/%.*s", STR_ARG(bucket), STR_ARG(name)),
				arena_str(b->keep, version), (int64_t)bytes
			};
	}
	cJSON_Delete(objects);
	if (!makes_sense)
		return diag_set(
			err, DIAG_BUCKET, "%.*s: a list that makes no sense came", STR_ARG(bucket));
	return fits || diag_set(err, DIAG_LIMIT,
			       "%.*s: more than %d objects; name a prefix nearer to the profiles",
			       STR_ARG(bucket), BUCKET_MAX_OBJECTS);
}

/* All objects whose names begin with `prefix`, or, of those, the first page. */
static bool list_prefix(struct bucket *b, struct str prefix, bool all, struct diag *err)
{
	struct str bucket = bucket_of(prefix), shown = prefix;
	struct str next = { NULL, 0 }; /* what asks for the next page; missing: there is none */
	/*
	 * A server that gives a page twice would do so for ever.  One page is remembered, a later
	 * one each time that their number doubles, so a ring of any length is found (Brent).
	 */
	struct str seen = { NULL, 0 };
	struct arena page = arena_new(ARENA_SCRATCH_BYTES);
	ptrdiff_t before = b->count;
	bool ok = true;
	if (str_ends(shown, STR("/")))
		shown = str_head(shown, shown.len - 1);
	for (int64_t count = 0, until = 0; ok && (!count || (all && next.p)); count++) {
		struct frame f;
		cJSON *head = request_new("LIST", prefix, b->stall_s);
		if (next.p)
			json_add_str(head, "page", next);
		ok = request_do(head, shown, &page, &f, err);
		if (!ok)
			break;
		b->origin = arena_str(b->keep, json_get_str(f.head, "origin"));
		ok = read_page(b, f.body, bucket, err);
		next = json_get_str(f.head, "next");
		next = next.len ? arena_str(b->keep, next) : str_from(NULL);
		if (ok && next.p && seen.p && str_eq(next, seen))
			ok = diag_set(err, DIAG_BUCKET,
				"%.*s: the server's list goes round in a ring: it gave the same "
				"page again; this is a fault of the server, or of what is in "
				"between",
				STR_ARG(shown));
		if (ok && count == BUCKET_FREE_PAGES + (b->count - before) / BUCKET_PAGE_LEAST)
			ok = diag_set(err, DIAG_LIMIT,
				"%.*s: %lld pages of the server's list hold %td objects; this is a "
				"fault of the server, or the prefix has to be nearer to the "
				"profiles",
				STR_ARG(shown), (long long)count, b->count - before);
		if (count == until) {
			seen = next;
			until = 2 * until + 1;
		}
		frame_release(&f);
		arena_clear(&page);
	}
	arena_free(&page);
	return ok;
}

static int by_path(const void *a, const void *b)
{
	return str_cmp(((const struct object *)a)->path, ((const struct object *)b)->path);
}

static void sort_objects(struct bucket *b)
{
	if (b->count)
		qsort(b->objects, (size_t)b->count, sizeof(*b->objects), by_path);
}

/* ---- as a tree ------------------------------------------------------------------------------- */

/* The first object that does not sort before `path`. */
static ptrdiff_t first_from(const struct bucket *b, struct str path)
{
	ptrdiff_t low = 0, high = b->count;
	while (low < high) {
		ptrdiff_t middle = low + (high - low) / 2;
		if (str_cmp(b->objects[middle].path, path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct object *object_at(const struct bucket *b, struct str path)
{
	ptrdiff_t i = first_from(b, path);
	return i < b->count && str_eq(b->objects[i].path, path) ? &b->objects[i] : NULL;
}

static bool bucket_look(const struct tree *t, struct str path, struct arena *scratch,
	struct tree_node *ret, struct diag *err)
{
	const struct bucket *b = (const struct bucket *)t;
	struct str below = arena_fmt(scratch, "%.*s/", STR_ARG(path));
	ptrdiff_t i = first_from(b, below);
	bool is_dir = i < b->count && str_starts(b->objects[i].path, below);
	(void)err;
	*ret = (struct tree_node){ .kind = TREE_ABSENT };
	ret->kind = is_dir ? TREE_DIR : object_at(b, path) ? TREE_FILE : TREE_ABSENT;
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

static int by_name(const void *a, const void *b)
{
	return str_cmp(((const struct dir_entry *)a)->name, ((const struct dir_entry *)b)->name);
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
	for (ptrdiff_t i = first_from(b, dir); i < b->count;) {
		struct str rest = b->objects[i].path, name, below;
		if (!str_take(&rest, dir))
			break;
		struct dir_entry e = { .is_dir = str_cut(rest, '/', &name, &below) };
		e.name = name;
		e.bytes = e.is_dir ? 0 : b->objects[i].bytes;
		if (name.len) /* else "dir/" itself, as consoles make it */
			add_entry(ret, count, &cap, e, keep);
		char after = '/' + 1; /* behind all that is below the name */
		i = e.is_dir && name.len ? first_from(b, arena_fmt(keep, "%.*s%.*s%c", STR_ARG(dir),
								 STR_ARG(name), after))
					 : i + 1;
	}
	if (*count)
		qsort(*ret, (size_t)*count, sizeof(**ret), by_name);
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
	cJSON *head = request_new("FETCH", o->path, b->stall_s);
	json_add_str(head, "version", o->version);
	json_add_str(head, "to", path);
	json_add_double(head, "bytes", (double)o->bytes);
	if (!request_do(head, o->path, keep, &f, err)) {
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
	const struct object *o = object_at(b, path);
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
	const struct object *o = object_at((const struct bucket *)t, path);
	return o ? o->version : (struct str){ NULL, 0 };
}

/* ---- the whole way --------------------------------------------------------------------------- */

/* Keys that lie above what was named, where a run's job file may be. */
static bool list_job_files(struct bucket *b, struct str path, bool is_file, struct diag *err)
{
	struct str dir = is_file ? str_head(path, str_rfind_char(path, '/')) : path;
	ptrdiff_t plugins = str_find(dir, STR("/plugins"));
	struct str above = str_head(dir, plugins < 0 ? 0 : plugins);
	struct str places[] = { is_file ? dir : STR(""), above };
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (is_bucket(places[i]) && places[i].len > 5 &&
			!list_prefix(b,
				arena_fmt(b->keep, "%.*s/%s", STR_ARG(places[i]), JOB_FILE_NAME),
				false, err))
			return false;
	return true;
}

static bool list_all(struct bucket *b, struct str path, struct diag *err)
{
	if (!list_prefix(b, arena_fmt(b->keep, "%.*s/", STR_ARG(path)), true, err))
		return false;
	bool is_file = b->count == 0;
	if (is_file && !str_eq(path, bucket_of(path)) && !list_prefix(b, path, false, err))
		return false;
	sort_objects(b);
	if (is_file && !object_at(b, path)) {
		struct str hint = b->count ? arena_fmt(b->keep, "; did you mean '%.*s'?",
						     STR_ARG(b->objects[0].path))
					   : STR("");
		return diag_set(err, DIAG_NO_PROFILE,
			"%.*s: nothing there: no object of that name, and none below it%.*s",
			STR_ARG(path), STR_ARG(hint));
	}
	if (!list_job_files(b, path, is_file, err))
		return false;
	sort_objects(b);
	return true;
}

static bool read_stall(double *ret, struct diag *err)
{
	const char *text = getenv("ROOFLINT_HTTP_STALL");
	struct str nearest;
	enum unit unit;
	*ret = STALL_S;
	if (!text || !*text ||
		(unit_parse(str_from(text), ret, &unit, &nearest) && unit == UNIT_SECONDS &&
			*ret >= 1 && *ret <= 600))
		return true;
	return diag_set(err, DIAG_USAGE,
		"$ROOFLINT_HTTP_STALL takes a duration from 1s to 10min, not '%.100s'", text);
}

/* NULL: the list cannot be had. */
static const struct tree *open_bucket(struct str path, struct arena *keep, struct diag *err)
{
	struct bucket *b = arena_make(keep, struct bucket, 1);
	b->tree = (struct tree){ bucket_look, bucket_list, bucket_open, bucket_version };
	b->keep = keep;
	path = arena_str(keep, path);
	while (path.len > 5 && str_ends(path, STR("/")))
		path = str_head(path, path.len - 1);
	secret_seal(); /* a hostile profile's crash leaves no environment, where keys may be */
	return read_stall(&b->stall_s, err) && cache_open(keep, &b->cache, err) &&
			       list_all(b, path, err)
		       ? &b->tree
		       : NULL;
}

static const struct tree *tree_of(struct str path, struct arena *keep, struct diag *err)
{
	return is_bucket(path) ? open_bucket(path, keep, err) : &tree_local;
}

bool find_profiles(struct str path, struct arena *keep, struct found *ret, struct diag *err)
{
	const struct tree *tree = tree_of(path, keep, err);
	return tree && find_runs(tree, path, keep, ret, err);
}

bool each_profile(struct str path, struct arena *keep, found_fn *take, void *arg, struct diag *err)
{
	const struct tree *tree = tree_of(path, keep, err);
	return tree && find_each(tree, path, take, arg, err);
}
