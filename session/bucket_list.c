/* Lists of buckets.  See bucket_list.h. */
#include "session/bucket_list.h"

#include "base/stats.h"
#include "base/text.h"
#include "measure/job.h"
#include "session/http_client.h"

enum { ATTEMPTS = 3, VERSION_MAX = 1024 };

/* One for this process: buckets are asked one after the other. */
static struct http_client http;

struct bucket *bucket_new(const struct bucket *like, struct arena *keep)
{
	struct bucket *b = arena_make(keep, struct bucket, 1);
	*b = like ? *like : (struct bucket){ .keep = keep };
	b->objects = NULL;
	b->count = b->cap = 0;
	b->names = arena_new(ARENA_RUN_BYTES);
	b->list = arena_new(ARENA_RUN_BYTES);
	return b;
}

void bucket_end(struct bucket *b)
{
	arena_free(&b->names);
	arena_free(&b->list);
}

/* ---- asking ---------------------------------------------------------------------------------- */

cJSON *bucket_request(const struct bucket *b, const char *method, struct str object)
{
	cJSON *head = cJSON_CreateObject();
	json_add_str(head, "method", str_from(method));
	json_add_str(head, "object", object);
	json_add_i64(head, "attempts", ATTEMPTS);
	json_add_double(head, "stall_s", b->stall_s);
	return head;
}

bool bucket_ask(
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

static struct listing list_new(struct str prefix)
{
	bool is_dir = str_ends(prefix, STR("/"));
	return (struct listing){ .prefix = prefix, .shown = str_head(prefix, prefix.len - is_dir) };
}

static bool bad_order(const struct listing *l, struct diag *err)
{
	return diag_set(err, DIAG_BUCKET,
		"%.*s: the server's list goes round in a ring: after '%.*s' came a name that "
		"sorts before it; this is a fault of the server, or of what is in between",
		STR_ARG(l->shown), STR_ARG(l->last));
}

/* One object that is not read stands for all such of its directory. */
static bool is_useful(const struct bucket *b, const struct listing *l, struct str path)
{
	struct str name = path_base(path), dir = str_head(path, path.len - name.len);
	return l->delimiter.p || find_is_useful(name) || str_eq(name, STR(JOB_FILE_NAME)) ||
	       !b->count || !str_starts(b->objects[b->count - 1].path, dir);
}

/* Names come in order, so one that does not lie behind the pages before would come for ever. */
static bool read_page(struct bucket *b, struct listing *l, struct str body, struct arena scratch,
	struct diag *err)
{
	struct str bucket = bucket_of(l->prefix), last = l->last;
	cJSON *objects = json_parse(STR("rooflint-http"), body, err);
	bool makes_sense = cJSON_IsArray(objects), is_behind = true;
	const cJSON *item;
	cJSON_ArrayForEach(item, objects)
	{
		struct object o = { .version = json_get_str(item, "version") };
		struct str name = json_get_str(item, "name");
		double bytes = o.version.p ? json_get_double(item, "bytes") : 0;
		makes_sense = makes_sense && name.len && o.version.len <= VERSION_MAX &&
			      (o.version.len || l->delimiter.p) && bytes >= 0 && bytes < 1e15;
		if (!makes_sense)
			break;
		o.path = arena_fmt(&scratch, "%.*s/%.*s", STR_ARG(bucket), STR_ARG(name));
		/* What a list begins behind may be in it. */
		if (!l->next.p && l->last.p && str_eq(o.path, l->last))
			continue;
		is_behind = is_behind && (!l->last.p || str_cmp(o.path, l->last) > 0);
		if (!last.p || str_cmp(o.path, last) > 0)
			last = o.path;
		l->is_done |= l->until.p && str_cmp(o.path, l->until) >= 0;
		if (l->until.p && str_cmp(o.path, l->until) >= 0)
			continue;
		l->objects++;
		l->dirs += !o.version.len;
		if (!is_useful(b, l, o.path))
			continue;
		o.path = arena_str(&b->names, o.path);
		o.version = arena_str(&b->names, o.version);
		o.bytes = (int64_t)bytes;
		*arena_push(&b->list, b->objects, b->count, b->cap) = o;
	}
	cJSON_Delete(objects);
	if (!makes_sense)
		return diag_set(
			err, DIAG_BUCKET, "%.*s: a list that makes no sense came", STR_ARG(bucket));
	if (!is_behind)
		return bad_order(l, err);
	l->last = arena_str(&b->names, last);
	return true;
}

static bool list_page(struct bucket *b, struct listing *l, struct diag *err)
{
	struct frame f;
	cJSON *head = bucket_request(b, "LIST", l->prefix);
	if (l->next.p)
		json_add_str(head, "page", l->next);
	else if (l->last.p)
		json_add_str(head, "after", str_from_offset(l->last, bucket_of(l->prefix).len + 1));
	if (l->delimiter.p)
		json_add_str(head, "delimiter", l->delimiter);
	struct arena page = arena_new(ARENA_SCRATCH_BYTES);
	bool ok = bucket_ask(head, l->shown, &page, &f, err);
	if (ok) {
		if (!b->origin.p)
			b->origin = arena_str(b->keep, json_get_str(f.head, "origin"));
		ok = read_page(b, l, f.body, page, err);
		l->next = arena_str(&b->names, json_get_str(f.head, "next"));
		l->is_done |= !l->next.len;
		frame_release(&f);
	}
	arena_free(&page);
	if (ok && l->pages++ == BUCKET_FREE_PAGES + l->objects / BUCKET_PAGE_LEAST)
		return diag_set(err, DIAG_LIMIT,
			"%.*s: %lld pages of the server's list hold %lld objects; this is a fault "
			"of the server, or the prefix has to be nearer to the profiles",
			STR_ARG(l->shown), (long long)l->pages - 1, (long long)l->objects);
	return ok;
}

bool list_some(struct bucket *b, struct listing *l, ptrdiff_t most, struct diag *err)
{
	while (!l->is_done && b->count < most)
		if (!list_page(b, l, err))
			return false;
	return l->is_done || b->count < BUCKET_MAX_OBJECTS ||
	       diag_set(err, DIAG_LIMIT,
		       "%.*s: more than %d objects that have to be looked at together; name a "
		       "prefix nearer to the profiles",
		       STR_ARG(l->shown), BUCKET_MAX_OBJECTS);
}

ptrdiff_t bucket_first(const struct bucket *b, struct str path)
{
	ptrdiff_t i;
	FIND_FIRST(i, 0, b->count, str_cmp(b->objects[i].path, path) >= 0);
	return i;
}

const struct object *bucket_at(const struct bucket *b, struct str path)
{
	ptrdiff_t i = bucket_first(b, path);
	return i < b->count && str_eq(b->objects[i].path, path) ? &b->objects[i] : NULL;
}

struct listing list_below(struct str path, struct arena *keep)
{
	return list_new(arena_fmt(keep, "%.*s/", STR_ARG(path)));
}

/* ---- from a list to stretches of it ---------------------------------------------------------- */

static struct str parent_of(struct str path)
{
	return str_head(path, str_rfind_char(path, '/'));
}

/* One job file, which is no part of a list of names that begin as its own does. */
static bool list_job_file(struct bucket *b, struct str dir, struct diag *err)
{
	struct listing l = list_new(arena_fmt(&b->names, "%.*s/%s", STR_ARG(dir), JOB_FILE_NAME));
	return list_page(b, &l, err);
}

/*
 * Job files that a part of a list may lack: at the top of the log directory that the root lies in,
 * and in the directories that lead from the root to `path`.
 */
bool list_job_files(struct bucket *b, struct str root, struct str path, struct diag *err)
{
	ptrdiff_t plugins = str_find(root, STR("/plugins"));
	bool ok = plugins <= 5 || list_job_file(b, str_head(root, plugins), err);
	for (path = parent_of(path); ok && path.len >= root.len; path = parent_of(path))
		ok = list_job_file(b, path, err);
	sort_by(b->objects, b->count, names_order);
	return ok;
}

/*
 * The first object of the run that the last one may belong to: hosts may land in directories side
 * by side.  `dir` is one that leads to the last object.
 */
static ptrdiff_t run_begin(const struct bucket *b, struct str dir)
{
	struct arena scratch = b->names;
	struct str above = arena_fmt(&scratch, "%.*s/", STR_ARG(parent_of(dir)));
	struct str name = path_base(dir), earlier, rest;
	if (!find_is_near(name, name)) /* not a run's */
		return b->count;
	ptrdiff_t first = bucket_first(b, arena_fmt(&scratch, "%.*s/", STR_ARG(dir)));
	while (first > 0) {
		struct str before = b->objects[first - 1].path;
		if (!str_take(&before, above) || !str_cut(before, '/', &earlier, &rest) ||
			!find_is_near(earlier, name))
			break;
		name = earlier;
		first = bucket_first(
			b, arena_fmt(&scratch, "%.*s%.*s/", STR_ARG(above), STR_ARG(name)));
	}
	return first;
}

bool list_cut(
	struct bucket *b, struct str root, struct listing *l, struct bucket *rest, struct diag *err)
{
	struct object last = b->objects[b->count - 1];
	ptrdiff_t kept = 0, begin = b->count;
	for (struct str d = parent_of(last.path); d.len > root.len; d = parent_of(d)) {
		ptrdiff_t first = run_begin(b, d);
		begin = first < begin ? first : begin;
	}
	for (ptrdiff_t i = 0; i < b->count; i++) {
		struct object o = b->objects[i];
		struct str dir = str_head(o.path, str_rfind_char(o.path, '/') + 1);
		bool waits = i >= begin || str_starts(last.path, dir);
		if (!waits || str_eq(path_base(o.path), STR(JOB_FILE_NAME)))
			b->objects[kept++] = o;
		if (waits)
			*arena_push(&rest->list, rest->objects, rest->count, rest->cap) =
				(struct object){ arena_str(&rest->names, o.path),
					arena_str(&rest->names, o.version), o.bytes };
	}
	b->count = kept;
	l->next = MISSING;
	l->last = arena_str(&rest->names, last.path);
	return list_job_files(b, root, last.path, err);
}

/* Nothing lies below the name: looks for an object of that name. */
static bool list_object(struct bucket *b, struct str path, struct diag *err)
{
	struct listing l = list_new(path);
	if (!str_eq(path, bucket_of(path)) && !list_page(b, &l, err))
		return false;
	sort_by(b->objects, b->count, names_order);
	if (bucket_at(b, path))
		return list_job_file(b, parent_of(path), err);
	struct str hint =
		b->count ? arena_fmt(b->keep, "; did you mean '%.*s'?", STR_ARG(b->objects[0].path))
			 : STR("");
	return diag_set(err, DIAG_NO_PROFILE,
		"%.*s: nothing there: no object of that name, and none below it%.*s", STR_ARG(path),
		STR_ARG(hint));
}

bool list_end(struct bucket *b, struct str path, struct listing *l, struct diag *err)
{
	if (!l->objects && !l->until.p && !b->count && !list_object(b, path, err))
		return false;
	return list_job_files(b, path, l->until.p && l->last.p ? l->last : path, err);
}

/* ---- ranges of names for shards -------------------------------------------------------------- */

/* A directory from which a part may begin. */
struct place {
	struct str path;
	bool is_whole; /* what lies below it has to stay together, as far as is known */
};

struct places {
	struct place *items;
	ptrdiff_t count, cap;
	int64_t pages; /* that were listed for them */
};

static void add_place(struct places *p, struct str path, bool is_whole, struct arena *keep)
{
	*arena_push(keep, p->items, p->count, p->cap) =
		(struct place){ arena_str(keep, path), is_whole };
}

/* The directories below one, or itself where a run lies in it, or files alone. */
static void add_level(const struct bucket *level, struct str dir, struct places *to)
{
	struct str before = { NULL, 0 };
	ptrdiff_t count = to->count;
	for (ptrdiff_t i = 0; i < level->count; i++) {
		struct str path = level->objects[i].path;
		bool is_dir = !level->objects[i].version.len;
		struct str name = path_base(str_head(path, path.len - is_dir));
		if (!is_dir && find_is_profile(name)) {
			to->count = count;
			break;
		}
		if (is_dir && (!before.p || !find_is_near(before, name)))
			add_place(to, path, false, level->keep);
		before = is_dir ? name : before;
	}
	if (to->count == count)
		add_place(to, dir, true, level->keep);
}

/* One level below each place. */
static bool refine(struct bucket *b, struct places *p, struct diag *err)
{
	struct places finer = { .pages = p->pages };
	bool ok = true;
	for (ptrdiff_t i = 0; ok && i < p->count; i++) {
		struct place at = p->items[i];
		struct bucket *level = bucket_new(b, b->keep);
		struct listing l = list_new(at.path);
		l.delimiter = STR("/");
		at.is_whole |= finer.pages >= BUCKET_PLACE_PAGES;
		/* One that begins with a page of files is not worth more pages. */
		for (; ok && !at.is_whole && !l.is_done && finer.pages < BUCKET_PLACE_PAGES;
			finer.pages++) {
			ok = list_page(level, &l, err);
			at.is_whole = !l.dirs;
		}
		sort_by(level->objects, level->count, names_order);
		if (at.is_whole || !l.is_done)
			add_place(&finer, at.path, true, b->keep);
		else
			add_level(level, at.path, &finer);
		bucket_end(level);
	}
	*p = finer;
	return ok;
}

bool list_divide(
	struct bucket *b, struct shard shard, struct listing *l, bool *is_divided, struct diag *err)
{
	struct places p = { NULL, 0, 0, 0 };
	int64_t pages = -1;
	add_place(&p, l->prefix, false, b->keep);
	while (p.count < BUCKET_SHARD_PLACES * shard.count && p.pages > pages) {
		pages = p.pages;
		if (!refine(b, &p, err))
			return false;
	}
	*is_divided = p.count >= shard.count;
	if (!*is_divided)
		return true;
	*l = list_new(l->prefix);
	if (shard.index)
		l->last = p.items[p.count * shard.index / shard.count].path;
	if (shard.index + 1 < shard.count)
		l->until = p.items[p.count * (shard.index + 1) / shard.count].path;
	return true;
}
