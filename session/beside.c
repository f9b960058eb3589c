/*
 * What lies beside a run: its job file, and files in the log directory that may be of another run:
 *
 *	logdir/rooflint.job.yaml		a job knows logdir before the profiler names the run
 *	logdir/memory.prof			jax.profiler.save_device_memory_profile
 *	logdir/module_0042.jit_f....txt		--xla_dump_to
 *	logdir/plugins/profile/RUN/
 *
 * And whether the run is the one that was asked for, by the job file's commit and the capture's
 * age.
 * A pull request whose job failed to write a profile finds an older one in the same place.  So a
 * run whose commit or age was asked for, and does not fit or is not told, is refused like a file
 * that cannot be read: no setting of the rules lets it pass.
 */
#include <math.h>
#include <time.h>

#include "session/load.h"

/* A job file is written by people; a larger one is some other file. */
enum { JOB_FILE_MAX = 1 << 20 };

/* ---- finding and reading --------------------------------------------------------------------- */

bool job_file_read(const struct tree *tree, struct str path, struct arena *keep,
	const struct job_file **ret, struct diag *err)
{
	struct job_file *job = arena_make(keep, struct job_file, 1);
	struct input in;
	struct str text;

	*ret = job;
	return tree->open(tree, path, keep, &in, err) &&
	       input_take_text(&in, JOB_FILE_MAX, keep, &text, err) &&
	       job_parse(path, text, keep, job, err);
}

/* The file in `dir`, as a path, or the missing string. */
static struct str job_file_in(const struct tree *tree, struct str dir, struct arena *keep)
{
	struct str path = arena_fmt(keep, "%.*s/%s", STR_ARG(dir), JOB_FILE_NAME);
	struct tree_node node;
	struct diag ignored; /* opening it says why it cannot be looked at */

	return !tree->look(tree, path, keep, &node, &ignored) || node.kind != TREE_ABSENT ? path
											  : MISSING;
}

/*
 * DIR of "DIR/plugins/profile/RUN", where the files of `l` are; "." where nothing is in front, and
 * missing for any other path.
 */
static struct str log_dir_of(const struct loaded *l)
{
	struct str path = l->run.files[0].path, end = STR("plugins/profile");
	path = str_head(path, str_rfind_char(path, '/'));
	path = str_head(path, str_rfind_char(path, '/'));
	if (!str_ends(path, end))
		return MISSING;
	path = str_head(path, path.len - end.len);
	if (!path.len)
		return STR(".");
	if (!str_ends(path, STR("/")))
		return MISSING;
	return path.len > 1 ? str_head(path, path.len - 1) : path;
}

bool job_file_find(
	const struct loaded *l, struct arena *keep, const struct job_file **ret, struct diag *err)
{
	struct str file = l->run.files[0].path;
	ptrdiff_t slash = str_rfind_char(file, '/');
	struct str dir = slash < 0 ? STR(".") : str_head(file, slash);
	const struct tree *tree = l->run.tree;
	struct str path = job_file_in(tree, dir, keep), log_dir = log_dir_of(l);

	*ret = NULL;
	if (!path.p && log_dir.p)
		path = job_file_in(tree, log_dir, keep);
	if (path.p && tree == &tree_local && !input_is_below(path_parent(path), path))
		return diag_set(err, DIAG_JOB_FILE,
			"%.*s is a link that leaves its folder; name the file with --job",
			STR_ARG(path));
	return !path.p || job_file_read(tree, path, keep, ret, err);
}

/* ---- what is told of and not taken ----------------------------------------------------------- */

static bool has_programs(const struct loaded *l)
{
	for (ptrdiff_t i = 0; i < l->count; i++)
		for (ptrdiff_t k = 0; k < l->profiles[i].hlo_count; k++)
			if (l->profiles[i].hlo[k].proto.len)
				return true;
	return false;
}

void note_log_dir(const struct loaded *l, const struct load_options *options, struct arena *keep,
	struct diag_list *notes)
{
	struct arena scratch = arena_new(ARENA_SCRATCH_BYTES);
	struct str dir = l->run.tree == &tree_local ? log_dir_of(l) : MISSING;
	struct str dump = { NULL, 0 }, snapshot = { NULL, 0 };
	struct dir_entry *entries;
	struct diag ignored;
	ptrdiff_t count = 0;
	bool lacks_dump = !options->hlo.p && !l->dump.count && !has_programs(l);

	if (!dir.p || !dir_list(dir, &scratch, &entries, &count, &ignored))
		count = 0;
	for (ptrdiff_t i = 0; i < count; i++) {
		if (entries[i].is_dir || str_starts(entries[i].name, STR(".")))
			continue;
		if (!dump.p && lacks_dump && dump_is_program(entries[i].name))
			dump = entries[i].name;
		if (!snapshot.p && !l->run.snapshot_count &&
			str_ends(entries[i].name, STR(".prof")))
			snapshot = entries[i].name;
	}
	if (dump.p)
		diag_note(notes, keep, DIAG_FILE_KIND,
			"the profile has no HLO, and %.*s in the log directory was not taken for "
			"it; give --hlo %.*s if that is the run's",
			STR_ARG(dump), STR_ARG(dir));
	if (snapshot.p)
		diag_note(notes, keep, DIAG_FILE_KIND,
			"%.*s in the log directory was not read; put it beside the run's "
			"*.xplane.pb if it is of that",
			STR_ARG(snapshot));
	arena_free(&scratch);
}

/* ---- the right run --------------------------------------------------------------------------- */

static bool is_commit(struct str a, struct str b)
{
	struct str shorter = a.len < b.len ? a : b;

	return str_eq_nocase(a, b) ||
	       (shorter.len >= COMMIT_MIN && str_eq_nocase(str_head(a, shorter.len), shorter) &&
		       str_eq_nocase(str_head(b, shorter.len), shorter));
}

static bool check_commit(const struct loaded *l, const struct load_options *o,
	const struct job_file *job, struct diag *err)
{
	if (!job || !job->commit.p)
		return diag_set(err, DIAG_STALE,
			"%.*s: nothing says which commit ran, and --expect-commit asks for %.*s; "
			"have the job write 'commit: SHA' to %s",
			STR_ARG(l->run.path), STR_ARG(o->expect_commit),
			job ? "its job file" : "a " JOB_FILE_NAME " beside the profile");
	if (is_commit(job->commit, o->expect_commit))
		return true;
	return diag_set(err, DIAG_STALE,
		"%.*s: it is a profile of commit %.*s, and --expect-commit asks for %.*s: an older "
		"run's, or the job of this commit wrote none",
		STR_ARG(l->run.path), STR_ARG(job->commit), STR_ARG(o->expect_commit));
}

/* The earliest end of any host's capture, in ns since 1970; 0 when one does not say. */
static int64_t captured_ns(const struct loaded *l)
{
	int64_t first = 0;

	for (ptrdiff_t i = 0; i < l->count; i++) {
		const struct profile *p = &l->profiles[i];
		int64_t at = (int64_t)(p->stop_ns ? p->stop_ns : p->start_ns);
		if (at <= 0)
			return 0;
		first = !first || at < first ? at : first;
	}
	return first;
}

/* Clocks of machines differ by seconds; one that is ahead by hours says nothing about age. */
#define CLOCK_SLACK_S 3600.0

static bool check_age(const struct loaded *l, const struct load_options *o, struct diag *err)
{
	int64_t at_ns = captured_ns(l);
	double age_s = (double)(o->now_ns - at_ns) / 1e9;
	time_t at_s = (time_t)(at_ns / 1000000000);
	char date[64] = "";
	struct tm utc;

	if (at_ns == 0)
		return diag_set(err, DIAG_STALE,
			"%.*s: it does not say when it was captured, and --max-age asks",
			STR_ARG(l->run.path));
	if (gmtime_r(&at_s, &utc))
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S UTC", &utc);
	if (age_s < -CLOCK_SLACK_S)
		return diag_set(err, DIAG_STALE,
			"%.*s: it was captured at %s by its own clock, which has not come yet; its "
			"age is not known, and --max-age asks",
			STR_ARG(l->run.path), date);
	if (age_s <= o->max_age_s)
		return true;
	return diag_set(err, DIAG_STALE,
		"%.*s: it was captured at %s, longer ago than --max-age %.*s allows: an older "
		"run's, or this run wrote none",
		STR_ARG(l->run.path), date, STR_ARG(o->max_age));
}

bool run_is_current(const struct loaded *l, const struct load_options *options,
	const struct job_file *job, struct diag *err)
{
	return (!options->expect_commit.p || check_commit(l, options, job, err)) &&
	       (isnan(options->max_age_s) || check_age(l, options, err));
}
