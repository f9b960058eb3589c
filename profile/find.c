/*
 * Finding runs below a path, and saying well why there are none.  See find.h.
 *
 *     logdir/plugins/profile/2026_03_14_09_26_53/worker-0.xplane.pb
 *     `----- parent of runs -----'`----- run ----'`- host -'
 *
 * A directory that holds profiles is a run; the directories below it are looked at only when all
 * runs are wanted, so that a stray file hides nothing of a fleet.  The newest run is the last by
 * name among those of one parent, so a tree of many jobs gives the newest of each.
 *
 * Refuses: opening files.  What is in them is the opener's to judge; here only names count.
 */
#include "profile/find.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "base/when.h"
#include "profile/dump.h"

/* Levels below the path: a log directory has three, and fleets sort theirs by team and date. */
enum { FIND_MAX_DEPTH = 16 };
/* Hosts of one capture name their directories by their own clocks, this far apart at the most. */
enum { NEAR_SECONDS = 30 };

/* ---- what is a profile, and what is something else ------------------------------------------- */

/* By rank: of several files of one host the first kind is read. */
static const struct ending {
	struct str text;
	enum profile_format format;
} endings[] = {
	{ STR_INIT(".xplane.pb"), FORMAT_XPLANE },
	{ STR_INIT(".xspace.pb"), FORMAT_XPLANE },
	{ STR_INIT(".xplane.riegeli"), FORMAT_RIEGELI },
	{ STR_INIT(".trace.json.gz"), FORMAT_TRACE },
	{ STR_INIT(".trace.json"), FORMAT_TRACE },
	{ STR_INIT(".sqlite"), FORMAT_NSYS },
};
enum { ENDINGS = sizeof(endings) / sizeof(endings[0]) };

/* A trace.json.gz for another viewer, without the host's name: read when it is alone. */
static const struct str perfetto[] = { STR_INIT("perfetto_trace.json.gz"),
	STR_INIT("perfetto_trace.json") };

/* It may be a trace under a name of its owner's, and is opened when it is asked for. */
static const char some_json[] = "not a profile but JSON";

/* Files that stand beside profiles or are taken for them; the most telling first. */
static const struct other {
	struct str name; /* a pattern */
	const char *is, *todo;
} others[] = {
#define ASK_XPLANE "give the *.xplane.pb of the same run"
#define CACHE	   "a result that XProf made from a profile and kept"
#define DUMP	   "a compiler's dump of a program, without times"
#define PROGRAM	   "a compiler's program, without times"
#define COST_IT                                                                                    \
	"`rooflint hlo` says what it costs; check and diff take what XLA names "                   \
	"*after_optimizations.txt or .hlo.pb"
#define PACKED	    "a packed file"
#define EXPORT_NSYS "have it written as *.sqlite with `nsys export --type sqlite`, and give that"
	{ STR_INIT("*.xplane.pb.*"), "a packed or unfinished profile",
		"unpack it, or wait until its writer is done" },
	{ STR_INIT("*.trace.gz"), "a trace of an old TensorFlow, a form that is not read",
		"capture with jax.profiler, which writes *.xplane.pb" },
	{ STR_INIT("*.nsys-rep"), "an Nsight Systems report, which only its own tools read",
		EXPORT_NSYS },
	{ STR_INIT("*.qdrep"), "an Nsight Systems report, which only its own tools read",
		EXPORT_NSYS },
	{ STR_INIT("*.prof"), "a snapshot of live buffers, which is read beside a profile",
		"lay it into the run's directory, next to the *.xplane.pb" },
	{ STR_INIT("*.hlo_proto.pb"), "a compiled program, without times", ASK_XPLANE },
	{ STR_INIT("*after_optimizations*.txt"), DUMP, ASK_XPLANE },
	{ STR_INIT("*buffer-assignment.txt"), DUMP, ASK_XPLANE },
	{ STR_INIT("*memory-usage-report.txt"), DUMP, ASK_XPLANE },
	{ STR_INIT("*.hlo"), PROGRAM, COST_IT },
	{ STR_INIT("*.hlo.txt"), PROGRAM, COST_IT },
	{ STR_INIT("*.hlo.pb"), PROGRAM, COST_IT },
	{ STR_INIT("*_optimizations.txt"), PROGRAM, COST_IT },
	{ STR_INIT("*.op_stats*.pb"), CACHE, ASK_XPLANE },
	{ STR_INIT("*_stats.pb"), CACHE, ASK_XPLANE },
	{ STR_INIT("*.smart_suggestion.pb"), CACHE, ASK_XPLANE },
	{ STR_INIT("*.overview_page.pb"), CACHE, ASK_XPLANE },
	{ STR_INIT("*.input_pipeline.pb"), CACHE, ASK_XPLANE },
	{ STR_INIT("*.memory_profile.json.gz"), CACHE, ASK_XPLANE },
	{ STR_INIT("*.pod_viewer.json"), CACHE, ASK_XPLANE },
	{ STR_INIT("*.SSTABLE"), CACHE, ASK_XPLANE },
	{ STR_INIT("*.json.gz"), some_json, ASK_XPLANE },
	{ STR_INIT("*.json"), some_json, ASK_XPLANE },
	{ STR_INIT("*tfevents*"), "a TensorBoard event file, without a profile",
		"wrap some steps in jax.profiler.trace to have one written" },
	{ STR_INIT("*.tar*"), PACKED, "unpack it and name what comes out" },
	{ STR_INIT("*.tgz"), PACKED, "unpack it and name what comes out" },
	{ STR_INIT("*.zip"), PACKED, "unpack it and name what comes out" },
	{ STR_INIT("*.zst"), PACKED, "unpack it and name what comes out" },
	{ STR_INIT("*.gz"), PACKED, "unpack it and name what comes out" },
};
enum { OTHERS = sizeof(others) / sizeof(others[0]) };

static const struct other *other_of(struct str name)
{
	for (int i = 0; i < OTHERS; i++)
		if (str_glob(name, others[i].name))
			return &others[i];
	return NULL;
}

/* ---- paths ----------------------------------------------------------------------------------- */

static struct str path_trim(struct str path)
{
	while (path.len > 1 && str_ends(path, STR("/")))
		path = str_head(path, path.len - 1);
	return path;
}

static struct str path_base(struct str path)
{
	return str_from_offset(path, str_rfind_char(path, '/') + 1);
}

static struct str path_parent(struct str path)
{
	ptrdiff_t slash = str_rfind_char(path, '/');
	return slash < 0 ? STR(".") : slash == 0 ? STR("/") : path_trim(str_head(path, slash));
}

static struct str path_join(struct str dir, struct str name, struct arena *keep)
{
	if (str_eq(dir, STR(".")))
		return arena_str(keep, name);
	return arena_fmt(keep, "%.*s%s%.*s", STR_ARG(dir), str_ends(dir, STR("/")) ? "" : "/",
		STR_ARG(name));
}

/* The part of `path` behind `dir`, in which it is. */
static struct str path_below(struct str dir, struct str path)
{
	struct str rest = path;
	return str_take(&rest, dir) && str_take(&rest, STR("/")) ? rest : path;
}

static bool is_perfetto(struct str name)
{
	return str_eq(name, perfetto[0]) || str_eq(name, perfetto[1]);
}

/* Of a file's name: the host and the format; false when it is not a profile's. */
static bool profile_name(struct str name, struct found_file *ret)
{
	if (is_perfetto(name)) {
		ret->host = str_head(name, str_find_char(name, '.'));
		ret->format = FORMAT_TRACE;
		return true;
	}
	for (int i = 0; i < ENDINGS; i++) {
		ret->host = str_head(name, name.len - endings[i].text.len);
		ret->format = endings[i].format;
		if (str_ends(name, endings[i].text) && ret->host.len > 0)
			return true;
	}
	return false;
}

/* ---- runs ------------------------------------------------------------------------------------ */

struct place {
	dev_t device;
	ino_t inode;
};

/* What is listed of a directory dies when the search leaves it: a run costs its own names only. */
struct search {
	const struct tree *tree;
	struct arena *keep;
	struct diag *err;
	struct found_run *runs;
	ptrdiff_t count, cap;
	ptrdiff_t empty; /* of them without a profile */
	int64_t entries, most_entries;
	bool all_runs;
	struct place above[FIND_MAX_DEPTH + 1]; /* the directories that are being searched */
	const struct other *other;		/* the most telling of what was met instead */
	struct str other_path;			/* the first such file */
};

static int by_host(const void *a, const void *b)
{
	const struct found_file *x = a, *y = b;
	int order = str_cmp(x->host, y->host);
	order = order ? order : (int)x->format - (int)y->format;
	return order ? order : str_cmp(x->path, y->path);
}

static int by_path(const void *a, const void *b)
{
	return str_cmp(((const struct found_run *)a)->path, ((const struct found_run *)b)->path);
}

static int by_parent(const void *a, const void *b)
{
	const struct found_run *x = a, *y = b;
	int order = str_cmp(path_parent(x->path), path_parent(y->path));
	return order ? order : str_cmp(x->name, y->name);
}

static void files_sort(struct found_run *r)
{
	qsort(r->files, (size_t)r->file_count, sizeof(*r->files), by_host);
}

/* One host in several forms in one directory: the first in order says the most. */
static void files_dedupe(struct found_run *r)
{
	ptrdiff_t kept = 0;
	for (ptrdiff_t i = 0; i < r->file_count; i++) {
		bool twin = kept && str_eq(r->files[kept - 1].host, r->files[i].host);
		bool nameless = r->file_count > 1 && is_perfetto(path_base(r->files[i].path));
		if (!twin && !nameless)
			r->files[kept++] = r->files[i];
	}
	r->file_count = kept;
}

static void meet_other(struct search *s, struct str dir, struct str name)
{
	const struct other *other = other_of(name);
	if (!other || (s->other && s->other <= other))
		return;
	s->other = other;
	s->other_path = path_join(dir, name, s->keep);
}

/* macOS lays a "._NAME" beside files that it copies; nobody hides a profile. */
static bool is_hidden(struct str name)
{
	return str_starts(name, STR("."));
}

/* A database may be anything's, so one makes no run of the directory that it lies in. */
static bool is_profile(const struct dir_entry *e, struct found_file *ret)
{
	return !e->is_dir && !is_hidden(e->name) && profile_name(e->name, ret) &&
	       ret->format != FORMAT_NSYS;
}

static bool is_export(const struct dir_entry *e, struct found_file *ret)
{
	return !e->is_dir && !is_hidden(e->name) && profile_name(e->name, ret) &&
	       ret->format == FORMAT_NSYS;
}

static bool is_snapshot(const struct dir_entry *e)
{
	return !e->is_dir && !is_hidden(e->name) && str_ends(e->name, STR(".prof"));
}

/* A run without files as yet; `dir` may die. */
static struct found_run *add_run(struct search *s, struct str dir)
{
	struct found_run *run = arena_push(s->keep, s->runs, s->count, s->cap);
	run->path = arena_str(s->keep, dir);
	run->name = path_base(run->path);
	return run;
}

static void add_snapshots(
	struct search *s, struct found_run *run, const struct dir_entry *entries, ptrdiff_t count)
{
	ptrdiff_t cap = 0;
	for (ptrdiff_t i = 0; i < count; i++)
		if (is_snapshot(&entries[i]) && run->snapshot_count < FIND_MAX_SNAPSHOTS)
			*arena_push(s->keep, run->snapshots, run->snapshot_count, cap) =
				path_join(run->path, entries[i].name, s->keep);
}

static bool run_add(struct search *s, struct str dir, const struct dir_entry *entries,
	ptrdiff_t count, struct arena scratch)
{
	struct found_run *run = add_run(s, dir);
	struct found_file file, *files;
	ptrdiff_t cap = 0;
	for (ptrdiff_t i = 0; i < count; i++) {
		if (!is_profile(&entries[i], &file))
			continue;
		if (run->file_count >= FIND_MAX_HOSTS)
			return diag_set(s->err, DIAG_LIMIT,
				"%.*s: more than %d profiles in one run; name a run with fewer",
				STR_ARG(dir), FIND_MAX_HOSTS);
		file.path = path_join(run->path, entries[i].name, s->keep);
		profile_name(path_base(file.path), &file); /* its host out of what is kept */
		*arena_push(&scratch, run->files, run->file_count, cap) = file;
		run->bytes += entries[i].bytes;
	}
	files_sort(run);
	files_dedupe(run);
	files = arena_make(s->keep, struct found_file, run->file_count);
	memcpy(files, run->files, (size_t)run->file_count * sizeof(*files));
	run->files = files;
	add_snapshots(s, run, entries, count);
	return true;
}

/* "2026_03_14_09_26_53" as seconds; -1 for any other name. */
static int64_t name_seconds(struct str name)
{
	int64_t ns;
	return when_parse_run(name, &ns) ? ns / 1000000000 : -1;
}

/*
 * A run directory without a profile must be told, or an older run would be judged in its place.
 * Only names that JAX gives to runs count: other directories may hold what they like.
 */
static void meet_empty_run(
	struct search *s, struct str dir, const struct dir_entry *entries, ptrdiff_t count)
{
	if (name_seconds(path_base(dir)) < 0)
		return;
	for (ptrdiff_t i = 0; i < count; i++) {
		const struct other *other = other_of(entries[i].name);
		if (entries[i].is_dir || is_hidden(entries[i].name) || !other)
			continue;
		struct found_run *run = add_run(s, dir);
		run->refused_id = DIAG_FILE_KIND;
		run->refused = arena_fmt(s->keep,
			"no *.xplane.pb; %.*s is %s; %s, or name an older run to have that one "
			"judged",
			STR_ARG(entries[i].name), other->is, other->todo);
		s->empty++;
		return;
	}
}

static bool search_dir(struct search *s, struct str dir, int depth, struct arena scratch);

/* A link to a directory above would have everything below it found again at every level. */
static bool leads_up(const struct search *s, const struct dir_entry *e, int depth)
{
	for (int i = 0; e->inode && i <= depth; i++)
		if (s->above[i].device == e->device && s->above[i].inode == e->inode)
			return true;
	return false;
}

static bool search_next(struct search *s, struct str dir, const struct dir_entry *e, int depth,
	struct arena scratch)
{
	if (depth == FIND_MAX_DEPTH || leads_up(s, e, depth))
		return true;
	s->above[depth + 1] = (struct place){ e->device, e->inode };
	return search_dir(s, path_join(dir, e->name, &scratch), depth + 1, scratch);
}

static bool search_below(struct search *s, struct str dir, const struct dir_entry *entries,
	ptrdiff_t count, int depth, struct arena scratch)
{
	for (ptrdiff_t i = 0; i < count; i++) {
		struct str name = entries[i].name;
		if (is_hidden(name))
			continue;
		if (!entries[i].is_dir)
			meet_other(s, dir, name);
		else if (!search_next(s, dir, &entries[i], depth, scratch))
			return false;
	}
	return true;
}

static void file_run_add(struct search *s, struct found_file file, struct str path, int64_t bytes)
{
	struct found_run *run = arena_push(s->keep, s->runs, s->count, s->cap);
	*run = (struct found_run){ .path = path, .name = path_base(path), .bytes = bytes };
	run->files = arena_make(s->keep, struct found_file, 1);
	run->files[0] = file;
	run->files[0].path = path;
	run->file_count = 1;
}

/*
 * Exports of Nsight Systems where no other profile is, below neither: each is a run of its own, as
 * nothing in their names says which belong together, or which is the newest.
 */
static bool exports_add(
	struct search *s, struct str dir, const struct dir_entry *entries, ptrdiff_t count)
{
	struct found_file file;
	struct str first = { NULL, 0 };
	ptrdiff_t exports = 0;
	for (ptrdiff_t i = 0; i < count; i++) {
		if (!is_export(&entries[i], &file))
			continue;
		first = exports++ ? first : entries[i].name;
		struct str path = path_join(dir, entries[i].name, s->keep);
		profile_name(path_base(path), &file);
		file_run_add(s, file, path, entries[i].bytes);
	}
	if (s->all_runs || exports <= 1)
		return true;
	return diag_set(s->err, DIAG_FILE_KIND,
		"%.*s: %td databases, as Nsight Systems exports them; name one, such as %.*s, or "
		"give --all-runs to have each judged",
		STR_ARG(dir), exports, STR_ARG(first));
}

/* One directory of a fleet's tree that nobody may read costs itself, and is told. */
static bool meet_closed_dir(struct search *s, struct str dir)
{
	struct str why = str_from(s->err->text);
	struct found_run *run = add_run(s, dir);
	run->refused_id = s->err->id;
	run->refused = arena_fmt(s->keep, "the directory was passed over;%.*s",
		STR_ARG(str_from_offset(why, str_rfind_char(why, ':') + 1)));
	s->empty++;
	return true;
}

static bool search_dir(struct search *s, struct str dir, int depth, struct arena scratch)
{
	struct dir_entry *entries;
	struct found_file file;
	ptrdiff_t count;
	if (!s->tree->list(s->tree, dir, &scratch, &entries, &count, s->err))
		return depth && s->all_runs && s->err->id == DIAG_FILE_OPEN &&
		       meet_closed_dir(s, dir);
	s->entries += count;
	if (s->entries > s->most_entries)
		return diag_set(s->err, DIAG_LIMIT,
			"%.*s: more than %lld names before the search was over; name a directory "
			"nearer to the profile",
			STR_ARG(dir), (long long)s->most_entries);
	for (ptrdiff_t i = 0; i < count; i++)
		if (is_profile(&entries[i], &file))
			return run_add(s, dir, entries, count, scratch) &&
			       (!s->all_runs ||
				       search_below(s, dir, entries, count, depth, scratch));
	ptrdiff_t before = s->count;
	if (!search_below(s, dir, entries, count, depth, scratch))
		return false;
	if (s->count == before)
		meet_empty_run(s, dir, entries, count);
	return s->count > before || exports_add(s, dir, entries, count);
}

/* ---- hosts that landed in neighbouring directories ------------------------------------------- */

static bool is_near(const struct found_run *first, const struct found_run *next)
{
	int64_t a = name_seconds(first->name), b = name_seconds(next->name);
	return a >= 0 && b >= 0 && b - a <= NEAR_SECONDS && !first->refused.p && !next->refused.p &&
	       str_eq(path_parent(first->path), path_parent(next->path));
}

static bool are_disjoint(const struct found_run *a, const struct found_run *b)
{
	for (ptrdiff_t i = 0, j = 0; i < a->file_count && j < b->file_count;) {
		int order = str_cmp(a->files[i].host, b->files[j].host);
		if (!order)
			return false;
		i += order < 0;
		j += order > 0;
	}
	return a->file_count + b->file_count <= FIND_MAX_HOSTS;
}

/* `next` is the newer one and gives the run its name. */
static void run_join(struct found_run *run, const struct found_run *next, struct arena *keep)
{
	ptrdiff_t count = run->file_count + next->file_count;
	struct found_file *files = arena_make(keep, struct found_file, count);
	memcpy(files, run->files, (size_t)run->file_count * sizeof(*files));
	memcpy(files + run->file_count, next->files, (size_t)next->file_count * sizeof(*files));
	int64_t bytes = run->bytes + next->bytes;
	struct found_run older = *run;
	*run = *next;
	run->bytes = bytes;
	run->files = files;
	run->file_count = count;
	files_sort(run);
	if (!run->snapshot_count) {
		run->snapshots = older.snapshots;
		run->snapshot_count = older.snapshot_count;
	}
}

/* Runs are sorted by parent and name: neighbours stand next to each other. */
static void join_neighbours(struct search *s)
{
	struct found_run first = { 0 };
	ptrdiff_t kept = 0;
	for (ptrdiff_t i = 0; i < s->count; i++) {
		struct found_run *last = kept ? &s->runs[kept - 1] : NULL;
		if (last && is_near(&first, &s->runs[i]) && are_disjoint(last, &s->runs[i])) {
			run_join(last, &s->runs[i], s->keep);
			continue;
		}
		first = s->runs[i];
		s->runs[kept++] = first;
	}
	s->count = kept;
}

static void keep_newest(struct search *s)
{
	ptrdiff_t kept = 0;
	for (ptrdiff_t i = 0; i < s->count; i++)
		if (i + 1 == s->count ||
			!str_eq(path_parent(s->runs[i].path), path_parent(s->runs[i + 1].path)))
			s->runs[kept++] = s->runs[i];
	s->count = kept;
}

/* ---- refusals -------------------------------------------------------------------------------- */

static bool exists(struct str path, struct arena scratch)
{
	struct stat st;
	return !stat(arena_z(&scratch, path), &st);
}

/* "; did you mean ...?" with the name in `dir` that may have been meant; or nothing. */
static struct str guess(struct str dir, struct str name, struct arena *keep)
{
	struct dir_entry *entries;
	struct diag ignored;
	ptrdiff_t count;
	if (!dir_list(dir, keep, &entries, &count, &ignored))
		return STR("");
	struct str *names = arena_make(keep, struct str, count);
	for (ptrdiff_t i = 0; i < count; i++)
		names[i] = entries[i].name;
	struct str nearest = text_nearest(name, names, count);
	if (!nearest.p)
		return STR("");
	return arena_fmt(keep, "; did you mean '%.*s'?", STR_ARG(path_join(dir, nearest, keep)));
}

static bool refuse_absent(struct str path, struct arena scratch, struct diag *err)
{
	struct str missing = path, parent = path_parent(path), where = STR("");
	struct stat st;
	if (!lstat(arena_z(&scratch, path), &st))
		return diag_set(
			err, DIAG_NO_PROFILE, "%.*s: a link that leads nowhere", STR_ARG(path));
	while (!exists(parent, scratch) && parent.len > 1) {
		missing = parent;
		parent = path_parent(parent);
	}
	if (str_eq(path, STR("-")))
		where = STR(" (a profile cannot be read from standard input)");
	else if (!str_eq(missing, path))
		where = arena_fmt(&scratch, ": '%.*s' has no '%.*s'", STR_ARG(parent),
			STR_ARG(path_base(missing)));
	struct str hint = guess(parent, path_base(missing), &scratch);
	return diag_set(err, DIAG_NO_PROFILE, "%.*s: no such file or directory%.*s%.*s",
		STR_ARG(path), STR_ARG(where), STR_ARG(hint));
}

static bool refuse_dir(const struct search *s, struct str dir)
{
	if (s->other)
		return diag_set(s->err, DIAG_FILE_KIND,
			"%.*s: no *.xplane.pb here or below; %.*s is %s; %s", STR_ARG(dir),
			STR_ARG(path_below(dir, s->other_path)), s->other->is, s->other->todo);
	return diag_set(s->err, DIAG_NO_PROFILE,
		"%.*s: %s; name the directory that was given to jax.profiler.trace", STR_ARG(dir),
		s->entries ? "no profile (*.xplane.pb) here or below"
			   : "the directory is empty, and a profile (*.xplane.pb) was expected");
}

/* ---- programs that have not run -------------------------------------------------------------- */

/* A dump is a run only when it is named itself: beside a profile it is a part of that. */
static void add_dump(struct search *s, struct str path, struct str file)
{
	struct found_run *run = arena_push(s->keep, s->runs, s->count, s->cap);
	*run = (struct found_run){ .path = path, .name = path_base(path), .file_count = 1 };
	run->files = arena_make(s->keep, struct found_file, 1);
	run->files[0] = (struct found_file){ file, STR("dump"), FORMAT_DUMP };
}

static bool find_dump(struct search *s, struct str dir)
{
	struct dir_entry *entries;
	struct diag ignored;
	ptrdiff_t count;
	if (!dir_list(dir, s->keep, &entries, &count, &ignored))
		return false;
	for (ptrdiff_t i = 0; i < count; i++)
		if (!entries[i].is_dir && dump_is_program(entries[i].name)) {
			s->count = 0;
			add_dump(s, dir, path_join(dir, entries[i].name, s->keep));
			return true;
		}
	return false;
}

/* ---- the ways in ----------------------------------------------------------------------------- */

static bool find_file(struct search *s, struct str path)
{
	struct str name = path_base(path);
	const struct other *other = other_of(name);
	struct found_file file;
	bool known = profile_name(name, &file);
	if (dump_is_program(name)) {
		add_dump(s, path, path);
		return true;
	}
	if (!known && other && other->is != some_json)
		return diag_set(s->err, DIAG_FILE_KIND, "%.*s: %s; %s", STR_ARG(path), other->is,
			other->todo);
	if (!known && !other)
		return diag_set(s->err, DIAG_FILE_KIND,
			"%.*s: not a kind of file that is read; a profile's name ends in "
			".xplane.pb, so rename it if it is one",
			STR_ARG(path));
	if (!known)
		file = (struct found_file){ .host = str_head(name, str_find(name, STR(".json"))),
			.format = FORMAT_TRACE };
	file_run_add(s, file, path, 0);
	return true;
}

static bool find_dir(struct search *s, struct str path, bool all_runs)
{
	struct arena scratch = arena_new(ARENA_RUN_BYTES);
	bool ok = search_dir(s, path, 0, scratch);
	arena_free(&scratch);
	if (!ok)
		return false;
	if (s->count == s->empty)
		return (!all_runs && find_dump(s, path)) || refuse_dir(s, path);
	qsort(s->runs, (size_t)s->count, sizeof(*s->runs), by_parent);
	join_neighbours(s);
	if (!all_runs)
		keep_newest(s);
	qsort(s->runs, (size_t)s->count, sizeof(*s->runs), by_path);
	return true;
}

bool find_runs_in(const struct tree *tree, struct str path, bool all_runs, struct arena *keep,
	struct found *ret, struct diag *err)
{
	struct search s = { .tree = tree, .keep = keep, .err = err };
	struct tree_node node;
	s.all_runs = all_runs;
	s.most_entries = all_runs ? FIND_MAX_TREE : FIND_MAX_FILES;
	path = arena_str(keep, path_trim(path));
	if (!path.len)
		return diag_set(err, DIAG_NO_PROFILE,
			"the path of a profile is empty; a variable without a value?");
	if (!tree->look(tree, path, keep, &node, err))
		return false;
	if (node.kind == TREE_ABSENT)
		return refuse_absent(path, *keep, err);
	s.above[0] = (struct place){ node.device, node.inode };
	if (node.kind == TREE_DIR ? !find_dir(&s, path, all_runs) : !find_file(&s, path))
		return false;
	for (ptrdiff_t i = 0; i < s.count; i++)
		s.runs[i].tree = tree;
	*ret = (struct found){ .runs = s.runs, .count = s.count };
	return true;
}

bool find_runs(
	struct str path, bool all_runs, struct arena *keep, struct found *ret, struct diag *err)
{
	return find_runs_in(&tree_local, path, all_runs, keep, ret, err);
}
