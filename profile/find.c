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

#include <sys/stat.h>

#include "base/stats.h"
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

/*
 * What JAX makes of a run for another viewer, without the host's name: read when it is alone.
 * jax.collect_profile lays the last beside an xplane that is named after the server's address.
 */
static const struct str nameless[] = { STR_INIT("perfetto_trace.json.gz"),
	STR_INIT("perfetto_trace.json"), STR_INIT("remote.trace.json.gz") };

/* Files that stand beside profiles or are taken for them; the most telling first. */
static const struct other {
	struct str names[14]; /* patterns */
	const char *is, *todo;
} others[] = {
#define ASK_XPLANE "give the *.xplane.pb of the same run"
#define GIVE_DUMP                                                                                  \
	"`rooflint check DIRECTORY --hardware CHIP` judges it before it runs; of a run give the "  \
	"*.xplane.pb"
	{ { STR_INIT("*.xplane.pb.*") }, "a packed or unfinished profile",
		"unpack it, or wait until its writer is done" },
	{ { STR_INIT("*.trace.gz") }, "a trace of an old TensorFlow, a form that is not read",
		"capture with jax.profiler, which writes *.xplane.pb" },
	{ { STR_INIT("*.nsys-rep"), STR_INIT("*.qdrep") },
		"an Nsight Systems report, which only its own tools read",
		"have it written as *.sqlite with `nsys export --type sqlite`, and give that" },
	{ { STR_INIT("*.qdstrm") }, "an Nsight Systems recording that was not made a report",
		"open it in Nsight Systems, and have that written as *.sqlite" },
	{ { STR_INIT("*.ncu-rep") }, "a report of Nsight Compute on single kernels",
		"profile the job with Nsight Systems, and give `nsys export --type sqlite` of it" },
	{ { STR_INIT("*.pftrace") }, "a trace in Perfetto's own form, which is not read",
		"capture with jax.profiler, which writes *.xplane.pb" },
	{ { STR_INIT("*.prof") }, "a snapshot of live buffers, which is read beside a profile",
		"put it into the run's directory, next to the *.xplane.pb" },
	{ { STR_INIT("*.hlo_proto.pb") }, "a compiled program, without times", ASK_XPLANE },
	{ { STR_INIT("*after_optimizations*.txt"), STR_INIT("*buffer-assignment.txt"),
		  STR_INIT("*memory-usage-report.txt") },
		"a compiler's dump of a program, without times", GIVE_DUMP },
	{ { STR_INIT("*.hlo"), STR_INIT("*.hlo.txt"), STR_INIT("*.hlo.pb"),
		  STR_INIT("*_optimizations.txt") },
		"a compiler's program, without times",
		"`rooflint hlo` says what it costs; check and diff take what XLA names "
		"*after_optimizations.txt or *after_optimizations.hlo.pb" },
	{ { STR_INIT("*.mlir") }, "a program that is not compiled yet", GIVE_DUMP },
	{ { STR_INIT("module_????.*") }, "a part of a compiler's dump that is not read",
		GIVE_DUMP },
	{ { STR_INIT("*.op_stats*.pb"), STR_INIT("*_stats.pb"), STR_INIT("*.smart_suggestion.pb"),
		  STR_INIT("*.overview_page.pb"), STR_INIT("*.input_pipeline.pb"),
		  STR_INIT("*_stats.json*"), STR_INIT("*overview_page.json*"),
		  STR_INIT("*input_pipeline*.json*"), STR_INIT("*memory_profile.json*"),
		  STR_INIT("*op_profile.json*"), STR_INIT("*pod_viewer.json*"),
		  STR_INIT("*.SSTABLE") },
		"a result that XProf made from a profile and kept", ASK_XPLANE },
	{ { STR_INIT("*.json.gz"), STR_INIT("*.json") },
		"JSON: a trace under another name, or a report of rooflint",
		"name a trace itself; of a report name the profile that it is of (reports are for "
		"`rooflint render`, --baseline and --previous)" },
	{ { STR_INIT("*.db") }, "a database, such as rocprof writes",
		"capture with jax.profiler, which writes *.xplane.pb; what `nsys export` wrote "
		"must be called *.sqlite" },
	{ { STR_INIT("*tfevents*") }, "a TensorBoard event file, without a profile",
		"wrap some steps in jax.profiler.trace to have one written" },
	{ { STR_INIT("*.tar*"), STR_INIT("*.tgz"), STR_INIT("*.zip"), STR_INIT("*.zst"),
		  STR_INIT("*.gz"), STR_INIT("*.xz"), STR_INIT("*.bz2") },
		"a packed file", "unpack it and name what comes out" },
};

static const struct other *other_of(struct str name)
{
	for (const struct other *o = others; o < others + COUNT_OF(others); o++)
		for (ptrdiff_t i = 0; i < COUNT_OF(o->names) && o->names[i].p; i++)
			if (str_glob(name, o->names[i]))
				return o;
	return NULL;
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* Of a file's name: all but the path; false when it is not a profile's. */
static bool profile_name(struct str name, struct found_file *ret)
{
	ret->trace = MISSING;
	if (NAMED(nameless, COUNT_OF(nameless), name)) {
		ret->host = str_head(name, str_find_char(name, '.'));
		ret->format = FORMAT_TRACE;
		return true;
	}
	for (ptrdiff_t i = 0; i < COUNT_OF(endings); i++) {
		ret->host = str_head(name, name.len - endings[i].text.len);
		ret->format = endings[i].format;
		if (str_ends(name, endings[i].text) && ret->host.len > 0)
			return true;
	}
	return false;
}

bool find_is_profile(struct str name)
{
	struct found_file ignored;
	return profile_name(name, &ignored);
}

bool find_is_useful(struct str name)
{
	return find_is_profile(name) || other_of(name) || dump_is_program(name);
}

/* ---- runs ------------------------------------------------------------------------------------ */

struct place {
	dev_t device;
	ino_t inode;
};

/* The latest run among the directories of one parent; those behind it may still belong to it. */
struct level {
	bool has_run;
	struct found_run run;
	struct str first;  /* name of the first directory of it */
	struct arena keep; /* of both; none before the first run */
};

/* What is listed of a directory dies when the search leaves it, and a run when it was told. */
struct search {
	const struct tree *tree;
	struct diag *err;
	found_fn *take;
	void *arg;
	ptrdiff_t count, empty; /* directories and files that are runs; of them without a profile */
	int64_t entries, most_entries;
	bool all_runs;
	bool is_bare; /* everything was looked at, and there is no profile */
	struct place above[FIND_MAX_DEPTH + 1]; /* the directories that are being searched */
	struct level levels[FIND_MAX_DEPTH + 1];
	const struct other *other; /* the most telling of what was met instead */
	struct str other_path;	   /* the first such file */
	struct arena keep;	   /* of that */
};

static int by_host(const void *a, const void *b)
{
	const struct found_file *x = a, *y = b;
	int order = str_cmp(x->host, y->host);
	/* Directories of one run, the newest first. */
	order = order ? order : str_cmp(path_parent(y->path), path_parent(x->path));
	order = order ? order : (int)x->format - (int)y->format;
	return order ? order : str_cmp(x->path, y->path);
}

/*
 * One host in several forms in one directory: the first in order says the most.  The first trace
 * beside an xplane is noted.
 */
static void files_dedupe(struct found_run *r)
{
	ptrdiff_t kept = 0;
	for (ptrdiff_t i = 0; i < r->file_count; i++) {
		const struct found_file *f = &r->files[i];
		struct found_file *last = kept ? &r->files[kept - 1] : NULL;
		bool twin = last && str_eq(last->host, f->host);
		/* Of nothing but such files the last is read. */
		bool other = kept || i + 1 < r->file_count;
		if (twin && last->format == FORMAT_XPLANE && f->format == FORMAT_TRACE &&
			!last->trace.p)
			last->trace = f->path;
		if (!twin && !(other && NAMED(nameless, COUNT_OF(nameless), path_base(f->path))))
			r->files[kept++] = *f;
	}
	r->file_count = kept;
}

static void meet_other(struct search *s, struct str dir, struct str name)
{
	const struct other *other = other_of(name);
	if (!other || (s->other && s->other <= other))
		return;
	s->other = other;
	s->other_path = path_join(dir, name, &s->keep);
}

/* macOS lays a "._NAME" beside files that it copies; no profile is hidden. */
static bool is_hidden(struct str name)
{
	return str_starts(name, STR("."));
}

static bool is_profile(const struct dir_entry *e, struct found_file *ret)
{
	return !e->is_dir && !is_hidden(e->name) && profile_name(e->name, ret);
}

static struct found_run run_of(struct str path)
{
	return (struct found_run){ .path = path, .name = path_base(path) };
}

/*
 * What a directory holds, without those below it; no file: it is no run.  A database may be
 * anything's, so one makes no run of the directory that it lies in.
 */
static bool run_read(struct str dir, const struct dir_entry *entries, ptrdiff_t count,
	struct arena *keep, struct found_run *ret, struct diag *err)
{
	struct found_file file;
	ptrdiff_t cap = 0, snapshot_cap = 0;
	*ret = run_of(dir);
	for (ptrdiff_t i = 0; i < count; i++) {
		if (!is_profile(&entries[i], &file) || file.format == FORMAT_NSYS)
			continue;
		if (ret->file_count >= FIND_MAX_HOSTS)
			return diag_set(err, DIAG_LIMIT,
				"%.*s: more than %d profiles in one run; name a run with fewer",
				STR_ARG(dir), FIND_MAX_HOSTS);
		file.path = path_join(dir, entries[i].name, keep);
		*arena_push(keep, ret->files, ret->file_count, cap) = file;
		ret->bytes += entries[i].bytes;
	}
	if (!ret->file_count)
		return true;
	sort_by(ret->files, ret->file_count, by_host);
	files_dedupe(ret);
	for (ptrdiff_t i = 0; i < count && ret->snapshot_count < FIND_MAX_SNAPSHOTS; i++) {
		struct str name = entries[i].name;
		if (!entries[i].is_dir && !is_hidden(name) && str_ends(name, STR(".prof")))
			*arena_push(keep, ret->snapshots, ret->snapshot_count, snapshot_cap) =
				path_join(dir, name, keep);
	}
	return true;
}

static struct str *copy_names(const struct str *names, ptrdiff_t count, struct arena *keep)
{
	struct str *copies = arena_make(keep, struct str, count);
	for (ptrdiff_t i = 0; i < count; i++)
		copies[i] = arena_str(keep, names[i]);
	return copies;
}

struct found_run found_copy(const struct found_run *run, struct arena *keep)
{
	struct found_run copy = *run;
	copy.path = arena_str(keep, run->path);
	copy.name = path_base(copy.path);
	copy.files = arena_make(keep, struct found_file, run->file_count);
	for (ptrdiff_t i = 0; i < run->file_count; i++) {
		const struct found_file *f = &run->files[i];
		copy.files[i] = (struct found_file){ arena_str(keep, f->path),
			arena_str(keep, f->host), f->format, arena_str(keep, f->trace) };
	}
	copy.snapshots = copy_names(run->snapshots, run->snapshot_count, keep);
	copy.refused = arena_str(keep, run->refused);
	copy.older = copy_names(run->older, run->older_count, keep);
	return copy;
}

/* ---- files that landed in neighbouring directories ------------------------------------------- */

/* "2026_03_14_09_26_53" as seconds; -1 for any other name. */
static int64_t name_seconds(struct str name)
{
	int64_t ns;
	return when_parse_run(name, &ns) ? ns / 1000000000 : -1;
}

bool find_is_near(struct str earlier, struct str later)
{
	int64_t a = name_seconds(earlier), b = name_seconds(later);
	return a >= 0 && b >= 0 && b - a <= NEAR_SECONDS;
}

static bool is_near(struct str first, const struct found_run *last, const struct found_run *next)
{
	return find_is_near(first, next->name) && !last->refused.p && !next->refused.p;
}

/* `next` is the newer one and gives the run its name; it may die. */
static void run_join(struct found_run *run, const struct found_run *next, struct arena *keep)
{
	struct found_run older = *run;
	ptrdiff_t cap = 0;
	*run = found_copy(next, keep);
	run->bytes += older.bytes;
	cap = run->file_count;
	for (ptrdiff_t i = 0; i < older.file_count; i++)
		*arena_push(keep, run->files, run->file_count, cap) = older.files[i];
	sort_by(run->files, run->file_count, by_host);
	if (!run->snapshot_count) {
		run->snapshots = older.snapshots;
		run->snapshot_count = older.snapshot_count;
	}
	run->older = older.older;
	run->older_count = cap = older.older_count;
	*arena_push(keep, run->older, run->older_count, cap) = older.name;
}

static void tell(struct search *s, struct found_run *run)
{
	run->tree = s->tree;
	s->take(s->arg, run);
}

/* No other directory of its parent belongs to it. */
static void level_end(struct search *s, struct level *l)
{
	if (l->has_run)
		tell(s, &l->run);
	l->has_run = false;
	arena_clear(&l->keep);
}

/*
 * A directory's run, which may die.  Those of one parent come in the order of their names, so a
 * neighbour comes next; where only the newest is wanted, it takes the place of the one before.
 */
static void meet_run(struct search *s, int depth, const struct found_run *run)
{
	struct level *l = &s->levels[depth];
	s->count++;
	s->empty += run->refused.p != NULL;
	if (!l->keep.base)
		l->keep = arena_new(ARENA_SCRATCH_BYTES);
	if (l->has_run && is_near(l->first, &l->run, run) &&
		l->run.file_count + run->file_count <= FIND_MAX_HOSTS) {
		run_join(&l->run, run, &l->keep);
		return;
	}
	l->has_run = l->has_run && s->all_runs;
	level_end(s, l);
	l->run = found_copy(run, &l->keep);
	l->first = l->run.name;
	l->has_run = true;
}

/* ---- the search ------------------------------------------------------------------------------ */

/*
 * A run directory without a profile must be told, or an older run would be judged in its place.
 * Only names that JAX gives to runs count: other directories may hold what they like.
 */
static void meet_empty_run(struct search *s, struct str dir, const struct dir_entry *entries,
	ptrdiff_t count, int depth, struct arena scratch)
{
	struct found_run run = run_of(dir);
	if (name_seconds(run.name) < 0)
		return;
	for (ptrdiff_t i = 0; i < count; i++) {
		const struct other *other = other_of(entries[i].name);
		if (entries[i].is_dir || is_hidden(entries[i].name) || !other)
			continue;
		run.refused_id = DIAG_FILE_KIND;
		run.refused = arena_fmt(&scratch,
			"no *.xplane.pb; %.*s is %s; %s, or name an older run to have that one "
			"judged",
			STR_ARG(entries[i].name), other->is, other->todo);
		meet_run(s, depth, &run);
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

static bool search_below(struct search *s, struct str dir, const struct dir_entry *entries,
	ptrdiff_t count, int depth, struct arena scratch)
{
	for (ptrdiff_t i = 0; i < count; i++) {
		const struct dir_entry *e = &entries[i];
		struct arena below = scratch;
		if (is_hidden(e->name))
			continue;
		if (!e->is_dir)
			meet_other(s, dir, e->name);
		if (!e->is_dir || depth == FIND_MAX_DEPTH || leads_up(s, e, depth))
			continue;
		s->above[depth + 1] = (struct place){ e->device, e->inode };
		struct str path = path_join(dir, e->name, &below);
		if (!search_dir(s, path, depth + 1, below))
			return false;
	}
	if (depth < FIND_MAX_DEPTH)
		level_end(s, &s->levels[depth + 1]);
	return true;
}

/* `file` is the only one of the run, and has its host and its format. */
static void meet_file(struct search *s, struct found_file *file, struct str path, int64_t bytes)
{
	struct found_run run = run_of(path);
	file->path = path;
	run.files = file;
	run.file_count = 1;
	run.bytes = bytes;
	s->count++;
	tell(s, &run);
}

/*
 * Exports of Nsight Systems where no other profile is, below neither: each is a run of its own, as
 * nothing in their names says which belong together, or which is the newest.
 */
static bool meet_exports(struct search *s, struct str dir, const struct dir_entry *entries,
	ptrdiff_t count, struct arena scratch)
{
	struct found_file file;
	struct str first = { NULL, 0 };
	ptrdiff_t exports = 0;
	for (ptrdiff_t i = 0; i < count; i++) {
		if (!is_profile(&entries[i], &file) || file.format != FORMAT_NSYS)
			continue;
		first = exports++ ? first : entries[i].name;
		struct arena of_file = scratch;
		meet_file(s, &file, path_join(dir, entries[i].name, &of_file), entries[i].bytes);
	}
	if (s->all_runs || exports <= 1)
		return true;
	return diag_set(s->err, DIAG_FILE_KIND,
		"%.*s: %td databases, as Nsight Systems exports them; name one, such as %.*s, or "
		"give --all-runs to have each judged",
		STR_ARG(dir), exports, STR_ARG(first));
}

static bool search_dir(struct search *s, struct str dir, int depth, struct arena scratch)
{
	struct dir_entry *entries;
	struct found_run run;
	ptrdiff_t count, before = s->count;
	if (!s->tree->list(s->tree, dir, &scratch, &entries, &count, s->err)) {
		/* In a fleet's tree a directory that cannot be read costs itself alone. */
		if (!depth || !s->all_runs || s->err->id != DIAG_FILE_OPEN)
			return false;
		run = run_of(dir);
		run.refused_id = s->err->id;
		run.refused =
			arena_fmt(&scratch, "the directory was passed over: %s", s->err->text);
		meet_run(s, depth, &run);
		return true;
	}
	s->entries += count;
	if (s->entries > s->most_entries)
		return diag_set(s->err, DIAG_LIMIT,
			"%.*s: more than %lld names before the search was over; name a directory "
			"nearer to the profile",
			STR_ARG(dir), (long long)s->most_entries);
	if (!run_read(dir, entries, count, &scratch, &run, s->err))
		return false;
	if (run.file_count)
		meet_run(s, depth, &run);
	if (run.file_count && !s->all_runs)
		return true;
	if (!search_below(s, dir, entries, count, depth, scratch))
		return false;
	if (s->count == before)
		meet_empty_run(s, dir, entries, count, depth, scratch);
	return s->count > before || meet_exports(s, dir, entries, count, scratch);
}

/* What to do about a path without a profile. */
#define NAME_LOGDIR "name the directory that was given to jax.profiler.trace"

/* ---- refusals -------------------------------------------------------------------------------- */

static bool exists(struct str path, struct arena scratch)
{
	struct stat st;
	return !stat(arena_z(&scratch, path), &st);
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
	struct str near = path_guess(parent, path_base(missing), &scratch);
	struct str todo = near.p ? arena_fmt(&scratch, "did you mean '%.*s'?", STR_ARG(near))
				 : STR(NAME_LOGDIR);
	return diag_set(err, DIAG_NO_PROFILE, "%.*s: no such file or directory%.*s; %.*s",
		STR_ARG(path), STR_ARG(where), STR_ARG(todo));
}

static bool refuse_dir(const struct search *s, struct str dir)
{
	struct str below = s->other_path;
	if (!str_take(&below, dir) || !str_take(&below, STR("/")))
		below = s->other_path;
	if (s->other)
		return diag_set(s->err, DIAG_FILE_KIND,
			"%.*s: no *.xplane.pb here or below; %.*s is %s; %s", STR_ARG(dir),
			STR_ARG(below), s->other->is, s->other->todo);
	return diag_set(s->err, DIAG_NO_PROFILE,
		"%.*s: %s; " NAME_LOGDIR ", which writes it when the trace is stopped",
		STR_ARG(dir),
		s->entries ? "no profile (*.xplane.pb) here or below"
			   : "the directory is empty, and a profile (*.xplane.pb) was expected");
}

/* ---- programs that have not run -------------------------------------------------------------- */

/* A dump is a run only when it is named itself: beside a profile it is a part of that. */
static struct found_run run_of_dump(struct str path, struct str file, struct arena *keep)
{
	struct found_run run = run_of(path);
	run.files = arena_make(keep, struct found_file, 1);
	run.files[0] =
		(struct found_file){ .path = file, .host = STR("dump"), .format = FORMAT_DUMP };
	run.file_count = 1;
	return run;
}

static bool find_dump(struct str dir, struct arena *keep, struct found_run *ret)
{
	struct dir_entry *entries;
	struct diag ignored;
	ptrdiff_t count;
	if (!dir_list(dir, keep, &entries, &count, &ignored))
		return false;
	for (ptrdiff_t i = 0; i < count; i++)
		if (!entries[i].is_dir && dump_is_program(entries[i].name)) {
			*ret = run_of_dump(dir, path_join(dir, entries[i].name, keep), keep);
			return true;
		}
	return false;
}

/* ---- the ways in ----------------------------------------------------------------------------- */

/* JSON may be a trace under a name of its owner's, and is opened when it is asked for. */
static bool file_format(struct str path, struct found_file *ret, struct diag *err)
{
	struct str name = path_base(path);
	const struct other *other = other_of(name);
	if (profile_name(name, ret))
		return true;
	if (str_ends(name, STR(".json")) || str_ends(name, STR(".json.gz"))) {
		*ret = (struct found_file){ .host = str_head(name, str_find(name, STR(".json"))),
			.format = FORMAT_TRACE };
		return true;
	}
	if (other)
		return diag_set(
			err, DIAG_FILE_KIND, "%.*s: %s; %s", STR_ARG(path), other->is, other->todo);
	return diag_set(err, DIAG_FILE_KIND,
		"%.*s: not a kind of file that is read; a profile's name ends in .xplane.pb, so "
		"rename it if it is one",
		STR_ARG(path));
}

static bool find_file(struct search *s, struct str path)
{
	struct found_file file;
	if (dump_is_program(path_base(path))) {
		struct found_run run = run_of_dump(path, path, &s->keep);
		tell(s, &run);
		return true;
	}
	if (!file_format(path, &file, s->err))
		return false;
	meet_file(s, &file, path, 0);
	return true;
}

static bool search_path(struct search *s, struct str path)
{
	struct tree_node node;
	s->most_entries = s->all_runs ? FIND_MAX_TREE : FIND_MAX_FILES;
	path = path_trim(path);
	if (!path.len)
		return diag_set(s->err, DIAG_NO_PROFILE,
			"the path of a profile is empty; a variable without a value?");
	if (!s->tree->look(s->tree, path, &s->keep, &node, s->err))
		return false;
	if (node.kind == TREE_ABSENT)
		return refuse_absent(path, s->keep, s->err);
	s->above[0] = (struct place){ node.device, node.inode };
	if (node.kind == TREE_FILE)
		return find_file(s, path);
	struct arena scratch = arena_new(ARENA_RUN_BYTES);
	bool ok = search_dir(s, path, 0, scratch);
	arena_free(&scratch);
	if (!ok)
		return false;
	level_end(s, &s->levels[0]);
	s->is_bare = s->count == s->empty;
	return !s->is_bare || refuse_dir(s, path);
}

static bool search_run(struct search *s, struct str path)
{
	s->keep = arena_new(ARENA_SCRATCH_BYTES);
	bool ok = search_path(s, path);
	arena_free(&s->keep);
	for (int i = 0; i <= FIND_MAX_DEPTH; i++)
		arena_free(&s->levels[i].keep);
	return ok;
}

bool find_each(
	const struct tree *tree, struct str path, found_fn *take, void *arg, struct diag *err)
{
	struct search s = { .tree = tree, .err = err, .take = take, .arg = arg, .all_runs = true };
	return search_run(&s, path);
}

struct collecting {
	struct found *found;
	ptrdiff_t cap;
	struct arena *keep;
};

static void collect(void *arg, const struct found_run *run)
{
	struct collecting *c = arg;
	*arena_push(c->keep, c->found->runs, c->found->count, c->cap) = found_copy(run, c->keep);
}

/* A compiler's dump is no profile; it is taken where there are no profiles. */
bool find_runs(const struct tree *tree, struct str path, struct arena *keep, struct found *ret,
	struct diag *err)
{
	struct collecting c = { .found = ret, .keep = keep };
	struct search s = { .tree = tree, .err = err, .take = collect, .arg = &c };
	struct found_run dump;
	*ret = (struct found){ NULL, 0 };
	if (!search_run(&s, path)) {
		if (!s.is_bare || !find_dump(arena_str(keep, path_trim(path)), keep, &dump))
			return false;
		c.cap = 0;
		*ret = (struct found){ NULL, 0 };
		tell(&s, &dump);
	}
	sort_by(ret->runs, ret->count, names_order);
	return true;
}

/* ---- found before ---------------------------------------------------------------------------- */

bool find_again(const struct tree *tree, struct str path, const struct str *older,
	ptrdiff_t older_count, struct arena *keep, struct found_run *ret, struct diag *err)
{
	struct found_run found = { 0 }, part;
	struct tree_node node;
	path = arena_str(keep, path);
	*ret = run_of(path);
	ret->tree = tree;
	if (!tree->look(tree, path, keep, &node, err))
		return false;
	if (node.kind == TREE_ABSENT)
		return refuse_absent(path, *keep, err);
	if (node.kind == TREE_FILE) {
		struct found_file *file = arena_make(keep, struct found_file, 1);
		if (!file_format(path, file, err))
			return false;
		file->path = path;
		ret->files = file;
		ret->file_count = 1;
		return true;
	}
	for (ptrdiff_t i = 0; i <= older_count; i++) {
		struct dir_entry *entries;
		ptrdiff_t count;
		struct str dir =
			i < older_count ? path_join(path_parent(path), older[i], keep) : path;
		if (!tree->list(tree, dir, keep, &entries, &count, err) ||
			!run_read(dir, entries, count, keep, &part, err))
			return false;
		if (!part.file_count)
			return diag_set(err, DIAG_NO_PROFILE,
				"%.*s: its profile is gone since it was found", STR_ARG(dir));
		if (i)
			run_join(&found, &part, keep);
		else
			found = part;
	}
	*ret = found;
	ret->tree = tree;
	return true;
}
