/* profile/find: directories as people have them, and which runs are found below a path. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/find.h"

static struct arena keep;
static struct diag err;
static struct found found;
static char folder[64];
static int home;	 /* where the tests were started */
static struct str *made; /* in the order they were made */
static ptrdiff_t made_count, made_cap;

/* Each test has a folder of its own, and works in it. */
static int setup(void **state)
{
	(void)state;
	keep = arena_new(ARENA_SCRATCH_BYTES);
	made = NULL;
	made_count = made_cap = 0;
	snprintf(folder, sizeof(folder), "/tmp/rooflint-find-XXXXXX");
	home = open(".", O_RDONLY);
	return home < 0 || !mkdtemp(folder) || chdir(folder);
}

static int teardown(void **state)
{
	(void)state;
	int failed = chdir(folder);
	while (made_count > 0)
		failed |= remove(made[--made_count].p);
	failed |= fchdir(home) | close(home) | rmdir(folder);
	arena_free(&keep);
	return failed;
}

#define assert_str(s, text) assert_string_equal(arena_z(&keep, (s)), (text))

static const char *text_of(const char *fmt, int number)
{
	char text[256];
	snprintf(text, sizeof(text), fmt, number);
	return arena_z(&keep, str_from(text));
}

/* ---- what there is --------------------------------------------------------------------------- */

static void remember(const char *path)
{
	*arena_push(&keep, made, made_count, made_cap) = arena_str(&keep, str_from(path));
}

/* A directory and those above it. */
static void dir(const char *path)
{
	for (ptrdiff_t i = 1; i <= (ptrdiff_t)strlen(path); i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		const char *part = arena_z(&keep, str_head(str_from(path), i));
		if (!mkdir(part, 0700))
			remember(part);
	}
}

static void file(const char *path)
{
	const char *slash = strrchr(path, '/');
	if (slash)
		dir(arena_z(&keep, str_head(str_from(path), slash - path)));
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	close(fd);
	remember(path);
}

static void sym_link(const char *target, const char *path)
{
	assert_int_equal(symlink(target, path), 0);
	remember(path);
}

/* ---- what is found --------------------------------------------------------------------------- */

static ptrdiff_t found_cap;

/* As it is told, and as it is found again. */
static void take(void *arg, const struct found_run *run)
{
	struct found_run again;
	(void)arg;
	*arena_push(&keep, found.runs, found.count, found_cap) = found_copy(run, &keep);
	if (run->refused.p)
		return;
	if (!find_again(run->tree, run->path, run->older, run->older_count, &keep, &again, &err))
		fail_msg("%s", err.text);
	assert_true(str_eq(again.path, run->path) && str_eq(again.name, run->name));
	assert_ptr_equal(again.tree, run->tree);
	assert_int_equal(again.snapshot_count, run->snapshot_count);
	assert_int_equal(again.older_count, run->older_count);
	assert_int_equal(again.file_count, run->file_count);
	for (ptrdiff_t i = 0; i < run->file_count; i++) {
		assert_true(str_eq(again.files[i].path, run->files[i].path));
		assert_true(str_eq(again.files[i].host, run->files[i].host));
		assert_int_equal(again.files[i].format, run->files[i].format);
	}
}

static int by_path(const void *a, const void *b)
{
	return str_cmp(((const struct found_run *)a)->path, ((const struct found_run *)b)->path);
}

static bool find_all(struct str path)
{
	found = (struct found){ NULL, 0 };
	found_cap = 0;
	if (!find_each(&tree_local, path, take, NULL, &err))
		return false;
	qsort(found.runs, (size_t)found.count, sizeof(*found.runs), by_path);
	return true;
}

static void find(const char *path, bool all_runs)
{
	struct str s = str_from(path);
	if (!(all_runs ? find_all(s) : find_runs(&tree_local, s, &keep, &found, &err)))
		fail_msg("%s", err.text);
}

static void refused(const char *path, enum diag_id id, const char *reason)
{
	assert_false(find_runs(&tree_local, str_from(path), &keep, &found, &err));
	assert_int_equal(err.id, id);
	if (!strstr(err.text, reason))
		fail_msg("'%s' does not say '%s'", err.text, reason);
}

/* "host host" of a run's files, in their order. */
static struct str hosts_of(ptrdiff_t run)
{
	struct str text = STR("");
	assert_true(run < found.count);
	for (ptrdiff_t i = 0; i < found.runs[run].file_count; i++)
		text = arena_fmt(&keep, "%.*s%s%.*s", STR_ARG(text), i ? " " : "",
			STR_ARG(found.runs[run].files[i].host));
	return text;
}

#define PROFILE "log/plugins/profile"
#define OLD	PROFILE "/2026_03_14_09_26_53"
#define NEW	PROFILE "/2026_03_15_08_00_00"

static void two_runs_of_two_hosts(void)
{
	file(NEW "/worker-1.xplane.pb");
	file(NEW "/worker-0.xplane.pb");
	file(OLD "/worker-1.xplane.pb"); /* made last: its time says nothing */
	file(OLD "/worker-0.xplane.pb");
	file("log/events.out.tfevents.1.host");
}

static void a_log_directory(void **state)
{
	(void)state;
	two_runs_of_two_hosts();
	find("log", false);
	assert_int_equal(found.count, 1);
	assert_str(found.runs[0].path, NEW);
	assert_str(found.runs[0].name, "2026_03_15_08_00_00");
	assert_str(hosts_of(0), "worker-0 worker-1");
	assert_str(found.runs[0].files[0].path, NEW "/worker-0.xplane.pb");
}

static void every_way_in_leads_to_the_run(void **state)
{
	static const char *const ways[] = { "log", "log/", "log//", "./log", "log/plugins", PROFILE,
		NEW, NEW "/" };
	(void)state;
	two_runs_of_two_hosts();
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		find(ways[i], false);
		assert_int_equal(found.count, 1);
		assert_str(found.runs[0].name, "2026_03_15_08_00_00");
		assert_str(hosts_of(0), "worker-0 worker-1");
	}
}

/* The working directory is not written in front of everything. */
static void from_inside(void **state)
{
	(void)state;
	two_runs_of_two_hosts();
	assert_int_equal(chdir("log"), 0);
	find(".", false);
	assert_str(found.runs[0].path, "plugins/profile/2026_03_15_08_00_00");
	assert_int_equal(chdir("plugins/profile/2026_03_15_08_00_00"), 0);
	find(".", false);
	assert_str(hosts_of(0), "worker-0 worker-1");
	assert_str(found.runs[0].files[0].path, "worker-0.xplane.pb");
}

static void an_absolute_path(void **state)
{
	(void)state;
	two_runs_of_two_hosts();
	find(arena_z(&keep, arena_fmt(&keep, "%s/log", folder)), false);
	assert_true(str_starts(found.runs[0].path, str_from(folder)));
	assert_true(str_ends(found.runs[0].path, STR("/" NEW)));
}

static void an_older_run_by_its_name(void **state)
{
	(void)state;
	two_runs_of_two_hosts();
	find(OLD, false);
	assert_int_equal(found.count, 1);
	assert_str(found.runs[0].path, OLD);
}

static void one_file_of_many(void **state)
{
	(void)state;
	two_runs_of_two_hosts();
	find(NEW "/worker-1.xplane.pb", false);
	assert_int_equal(found.count, 1);
	assert_str(found.runs[0].path, NEW "/worker-1.xplane.pb");
	assert_str(found.runs[0].name, "worker-1.xplane.pb");
	assert_str(hosts_of(0), "worker-1");
	assert_str(found.runs[0].files[0].path, NEW "/worker-1.xplane.pb");
}

/* Of a tree: a directory with a profile of its own, whatever it is, hides none below. */
static void stray_files(void **state)
{
	(void)state;
	file("fleet/empty.xplane.pb");
	file("fleet/a/plugins/profile/2026_03_13_08_00_00/h.xplane.pb");
	file("fleet/a/old.trace.json");
	file("fleet/b/h.xplane.pb");
	find("fleet", true);
	assert_int_equal(found.count, 4);
	assert_str(found.runs[0].path, "fleet");
	assert_str(found.runs[1].path, "fleet/a");
	assert_str(found.runs[2].path, "fleet/a/plugins/profile/2026_03_13_08_00_00");
	assert_str(found.runs[3].path, "fleet/b");
	find("fleet", false);
	assert_int_equal(found.count, 1);
}

static void all_runs(void **state)
{
	(void)state;
	two_runs_of_two_hosts();
	find("log", true);
	assert_int_equal(found.count, 2);
	assert_str(found.runs[0].path, OLD);
	assert_str(found.runs[1].path, NEW);
	assert_str(hosts_of(0), "worker-0 worker-1");
}

/* A tree of many jobs: the newest of each. */
static void a_tree_of_jobs(void **state)
{
	(void)state;
	file("team/a/plugins/profile/2026_01_01_00_00_00/h.xplane.pb");
	file("team/a/plugins/profile/2026_01_02_00_00_00/h.xplane.pb");
	file("team/b/plugins/profile/2025_12_31_00_00_00/h.xplane.pb");
	file("team/c/flat.xplane.pb");
	find("team", false);
	assert_int_equal(found.count, 3);
	assert_str(found.runs[0].name, "2026_01_02_00_00_00");
	assert_str(found.runs[1].name, "2025_12_31_00_00_00");
	assert_str(found.runs[2].path, "team/c");
	find("team", true);
	assert_int_equal(found.count, 4);
}

/* A newest run without a profile is told: an older one must not be judged in its place. */
static void the_newest_has_no_profile(void **state)
{
	(void)state;
	file("log/plugins/profile/2026_01_01_00_00_00/h.xplane.pb");
	file("log/plugins/profile/2026_01_02_00_00_00/h.trace.gz");
	find("log", false);
	assert_int_equal(found.count, 1);
	assert_str(found.runs[0].name, "2026_01_02_00_00_00");
	assert_int_equal(found.runs[0].file_count, 0);
	assert_true(str_contains(found.runs[0].refused, STR("h.trace.gz")));
	find("log", true);
	assert_int_equal(found.count, 2);
	assert_null(found.runs[0].refused.p);
}

/* Below a directory that holds profiles nothing is looked for when one run is wanted. */
static void a_run_holds_no_runs(void **state)
{
	(void)state;
	file("run/h.xplane.pb");
	file("run/old/g.xplane.pb");
	find("run", false);
	assert_int_equal(found.count, 1);
	assert_str(hosts_of(0), "h");
}

/* By the hosts' names, which is not the order of the files' ("a-b" comes before "a."). */
static void hosts_in_order(void **state)
{
	(void)state;
	file("run/a-b.xplane.pb");
	file("run/a.xplane.pb");
	file("run/a0.xplane.pb");
	find("run", false);
	assert_str(hosts_of(0), "a a-b a0");
}

static void both_endings(void **state)
{
	(void)state;
	file("run/a.xspace.pb");
	file("run/b.xplane.pb");
	file("run/.xplane.pb"); /* of no host */
	find("run", false);
	assert_str(hosts_of(0), "a b");
}

static void both_endings_of_one_host(void **state)
{
	(void)state;
	file("run/a.xspace.pb");
	file("run/a.xplane.pb");
	file("run/a-b.xplane.pb");
	find("run", false);
	assert_str(hosts_of(0), "a a-b");
	assert_str(found.runs[0].files[0].path, "run/a.xplane.pb");
}

/* What macOS lays beside copied files is neither a profile nor worth a word. */
static void hidden_files_are_passed_by(void **state)
{
	(void)state;
	file("run/._worker-0.xplane.pb");
	file("run/._trace.json.gz");
	refused(".", DIAG_NO_PROFILE, "no profile (*.xplane.pb) here or below");
	file("run/worker-0.xplane.pb");
	find(".", false);
	assert_str(hosts_of(0), "worker-0");
}

/* A directory may be named like a file. */
static void a_directory_with_a_profiles_name(void **state)
{
	(void)state;
	file("worker-0.xplane.pb/inside.xplane.pb");
	find(".", false);
	assert_str(found.runs[0].path, "worker-0.xplane.pb");
	assert_str(hosts_of(0), "inside");
}

static void hidden_directories_are_passed_by(void **state)
{
	(void)state;
	file("log/.trash/2026_01_01_00_00_00/h.xplane.pb");
	refused("log", DIAG_NO_PROFILE, "no profile (*.xplane.pb) here or below");
	find("log/.trash", false); /* but not when they are named */
	assert_str(hosts_of(0), "h");
}

static void links_are_followed(void **state)
{
	(void)state;
	two_runs_of_two_hosts();
	sym_link("log", "latest");
	find("latest", false);
	assert_str(found.runs[0].path, "latest/plugins/profile/2026_03_15_08_00_00");
}

/* A link to a directory above: the search ends all the same. */
static void a_link_in_a_circle(void **state)
{
	(void)state;
	dir("log/plugins");
	sym_link("..", "log/plugins/up");
	refused("log", DIAG_NO_PROFILE, "no profile (*.xplane.pb) here or below");
	file(PROFILE "/2026_03_14_09_26_53/worker-0.xplane.pb");
	sym_link(".", PROFILE "/again");
	find("log", true);
	assert_int_equal(found.count, 1);
}

/* Sixteen levels are looked through below the path. */
static void depth(void **state)
{
	(void)state;
	file("16/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/h.xplane.pb");
	file("17/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/h.xplane.pb");
	find("16", false);
	assert_str(hosts_of(0), "h");
	refused("17", DIAG_NO_PROFILE, "no profile");
}

static void a_thousand_hosts(void **state)
{
	enum { HOSTS = 1000 };
	(void)state;
	for (int i = HOSTS; i-- > 0;)
		file(text_of("run/worker-%04d.xplane.pb", i));
	find("run", false);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.runs[0].file_count, HOSTS);
	for (int i = 0; i < HOSTS; i++)
		assert_str(found.runs[0].files[i].host, text_of("worker-%04d", i));
}

static void names_of_all_sorts(void **state)
{
	static const char *const names[] = { "my laptop", "r\xc3\xa9gion-\xe6\x9d\xb1", "a'b\"c",
		"$HOME", "-v", "100%s", "two\nlines", "x.y.z" };
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *where = arena_z(&keep, arena_fmt(&keep, "log %zu/%s", i, names[i]));
		file(arena_z(&keep, arena_fmt(&keep, "%s/%s.xplane.pb", where, names[i])));
		find(where, false);
		assert_int_equal(found.count, 1);
		assert_str(found.runs[0].path, where);
		assert_str(found.runs[0].name, names[i]);
		assert_str(hosts_of(0), names[i]);
	}
}

/* ---- neighbours ------------------------------------------------------------------------------ */

/* Hosts name directories by their own clocks. */
static void neighbours(void **state)
{
	static const struct {
		const char *first, *second;
		bool one;
	} cases[] = {
		{ "2026_03_14_09_26_53", "2026_03_14_09_26_54", true },
		{ "2026_03_14_09_26_53", "2026_03_14_09_27_23", true }, /* 30 s */
		{ "2026_03_14_09_26_53", "2026_03_14_09_27_24", false },
		{ "2026_02_28_23_59_50", "2026_03_01_00_00_10", true },
		{ "2024_02_28_23_59_50", "2024_03_01_00_00_10", false }, /* a day between */
		{ "2025_12_31_23_59_59", "2026_01_01_00_00_01", true },
		{ "nightly_1", "nightly_2", false },
		{ "2026-03-14_09_26_53", "2026-03-14_09_26_54", false },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *log = text_of("log%d", (int)i);
		file(arena_z(
			&keep, arena_fmt(&keep, "%s/%s/worker-1.xplane.pb", log, cases[i].first)));
		file(arena_z(
			&keep, arena_fmt(&keep, "%s/%s/worker-0.xplane.pb", log, cases[i].second)));
		find(log, true);
		if (found.count != (cases[i].one ? 1 : 2))
			fail_msg("%s and %s are %td runs", cases[i].first, cases[i].second,
				found.count);
		/* the newer one gives its name */
		assert_str(found.runs[found.count - 1].name, cases[i].second);
		assert_str(
			hosts_of(found.count - 1), cases[i].one ? "worker-0 worker-1" : "worker-0");
	}
}

/* They may be of two processes, or two captures: who opens them tells. */
static void a_host_twice_is_offered_as_one_run(void **state)
{
	(void)state;
	file(PROFILE "/2026_03_14_09_26_53/worker-0.xplane.pb");
	file(PROFILE "/2026_03_14_09_26_53/worker-1.xplane.pb");
	file(PROFILE "/2026_03_14_09_26_58/worker-1.xplane.pb");
	find("log", true);
	assert_int_equal(found.count, 1);
	assert_str(hosts_of(0), "worker-0 worker-1 worker-1");
	/* the newer directory's first */
	assert_str(found.runs[0].files[1].path, PROFILE "/2026_03_14_09_26_58/worker-1.xplane.pb");
	assert_str(found.runs[0].name, "2026_03_14_09_26_58");
}

/* Thirty seconds count from the first: a capture every 20 s does not become one. */
static void a_chain_of_neighbours_breaks(void **state)
{
	(void)state;
	file(PROFILE "/2026_03_14_09_00_00/a.xplane.pb");
	file(PROFILE "/2026_03_14_09_00_20/b.xplane.pb");
	file(PROFILE "/2026_03_14_09_00_40/c.xplane.pb");
	find("log", true);
	assert_int_equal(found.count, 2);
	assert_str(hosts_of(0), "a b");
	assert_str(hosts_of(1), "c");
}

static void neighbours_of_other_jobs(void **state)
{
	(void)state;
	file("team/a/2026_03_14_09_00_00/h0.xplane.pb");
	file("team/b/2026_03_14_09_00_00/h1.xplane.pb");
	find("team", false);
	assert_int_equal(found.count, 2);
}

/* ---- refusals -------------------------------------------------------------------------------- */

/* What it is, and what to do; by its name, and by that of the directory it lies in. */
static void other_kinds_of_files(void **state)
{
	static const struct {
		const char *name, *is, *todo;
	} cases[] = {
#define XPLANE "give the *.xplane.pb of the same run"
		{ "h.trace.gz", "a trace of an old TensorFlow", "capture with jax.profiler" },
		{ "h.xplane.pb.tmp", "packed or unfinished", "wait until its writer is done" },
		{ "report.nsys-rep", "Nsight Systems", "nsys export --type sqlite" },
		{ "memory.prof", "a snapshot of live buffers", "next to the *.xplane.pb" },
		{ "module_1.jit_f.after_optimizations-buffer-assignment.txt", "a compiler's dump",
			"--hardware" },
		{ "module_0042.jit_f.wrapped_add.ir-with-opt.ll", "a part of a compiler's dump",
			"--hardware" },
		{ "step.mlir", "not compiled yet", "--hardware" },
		{ "kernels.ncu-rep", "Nsight Compute", "nsys export --type sqlite" },
		{ "1_results.db", "rocprof", "*.sqlite" },
		{ "step.hlo.txt", "a compiler's program", "`rooflint hlo`" },
		{ "step.hlo.pb", "a compiler's program", "`rooflint hlo`" },
		{ "module_1.jit_f.before_optimizations.txt", "a compiler's program",
			"after_optimizations" },
		{ "ALL_HOSTS.op_stats.pb", "a result that XProf made", XPLANE },
		{ "events.out.tfevents.1.h", "a TensorBoard event file", "jax.profiler.trace" },
		{ "run.tar.gz", "a packed file", "unpack it" },
		{ "h.trace.gz", "a trace of an old TensorFlow", "capture with jax.profiler" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *where = text_of("dir%d", (int)i);
		const char *path = arena_z(&keep, arena_fmt(&keep, "%s/%s", where, cases[i].name));
		file(path);
		refused(path, DIAG_FILE_KIND, cases[i].is);
		refused(path, DIAG_FILE_KIND, cases[i].todo);
		refused(where, DIAG_FILE_KIND, "no *.xplane.pb here or below");
		refused(where, DIAG_FILE_KIND, cases[i].name);
		refused(where, DIAG_FILE_KIND, cases[i].todo);
	}
}

/* Of several the most telling one is named, wherever it lies. */
static void the_most_telling_of_many(void **state)
{
	(void)state;
	file("log/a.json");
	refused("log", DIAG_FILE_KIND, "a.json is JSON");
	file("log/plugins/profile/1/report.nsys-rep");
	file("log/z.tar");
	refused("log", DIAG_FILE_KIND, "plugins/profile/1/report.nsys-rep is an Nsight");
}

/* One profile makes up for everything else. */
static void a_profile_among_others(void **state)
{
	(void)state;
	file("log/plugins/profile/1/h.hlo_proto.pb");
	file("log/plugins/profile/1/h.xplane.pb");
	file("log/plugins/profile/2/h.hlo_proto.pb");
	find("log", true);
	assert_int_equal(found.count, 1);
	assert_str(hosts_of(0), "h");
}

/* Where it is named itself and no profile is there; a fleet's tree has no use for it. */
static void a_dump_alone(void **state)
{
	static const char name[] = "dump/module_1.jit_f.sm_9.0_gpu_after_optimizations.txt";
	(void)state;
	file(name);
	file("dump/module_1.jit_f.sm_9.0_gpu_after_optimizations-buffer-assignment.txt");
	find("dump", false);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.runs[0].files[0].format, FORMAT_DUMP);
	assert_str(found.runs[0].files[0].path, name);
	assert_str(found.runs[0].path, "dump");
	find(name, false);
	assert_str(found.runs[0].path, name);
	refused(".", DIAG_FILE_KIND, "a compiler's dump");
	assert_false(find_all(STR("dump")));
	file("dump/h.xplane.pb");
	find("dump", false);
	assert_int_equal(found.runs[0].files[0].format, FORMAT_XPLANE);
}

/* A host's xplane is read, its trace where that is all, and the nameless one when it is alone. */
static void traces(void **state)
{
	(void)state;
	file("log/1/a.trace.json.gz");
	file("log/1/a.xplane.pb");
	file("log/1/b.trace.json.gz");
	file("log/1/perfetto_trace.json.gz");
	find("log/1", false);
	assert_str(hosts_of(0), "a b");
	assert_int_equal(found.runs[0].files[0].format, FORMAT_XPLANE);
	assert_str(found.runs[0].files[0].path, "log/1/a.xplane.pb");
	assert_str(found.runs[0].files[0].trace, "log/1/a.trace.json.gz");
	assert_int_equal(found.runs[0].files[1].format, FORMAT_TRACE);
	assert_null(found.runs[0].files[1].trace.p);

	file("log/3/a.trace.json.gz");
	file("log/3/a.trace.json");
	find("log/3", false);
	assert_str(found.runs[0].files[0].path, "log/3/a.trace.json");
	assert_null(found.runs[0].files[0].trace.p);

	file("log/2/perfetto_trace.json.gz");
	find("log/2", false);
	assert_str(hosts_of(0), "perfetto_trace");
	assert_int_equal(found.runs[0].files[0].format, FORMAT_TRACE);

	/* As jax.collect_profile lays them: the xplane is named after the address it asked. */
	file("log/5/127.0.0.1_9012.xplane.pb");
	file("log/5/perfetto_trace.json.gz");
	file("log/5/remote.trace.json.gz");
	find("log/5", false);
	assert_str(hosts_of(0), "127.0.0.1_9012");
	file("log/6/perfetto_trace.json.gz");
	file("log/6/remote.trace.json.gz");
	find("log/6", false);
	assert_str(hosts_of(0), "remote");

	/* Snapshots of memory go along. */
	file("log/2/memory.prof");
	file("log/2/other.pb");
	find("log/2", false);
	assert_int_equal(found.runs[0].snapshot_count, 1);
	assert_str(found.runs[0].snapshots[0], "log/2/memory.prof");

	/* Under any name, when it is asked for. */
	file("mine.json");
	find("mine.json", false);
	assert_str(hosts_of(0), "mine");
	assert_int_equal(found.runs[0].files[0].format, FORMAT_TRACE);
}

/* A database is a run where nothing else is, and only when it is the only one. */
static void databases(void **state)
{
	(void)state;
	file("log/store.sqlite");
	file("log/plugins/profile/1/h.xplane.pb");
	file("log/plugins/profile/1/h.sqlite");
	find("log", true);
	assert_int_equal(found.count, 1);
	assert_str(hosts_of(0), "h");
	assert_int_equal(found.runs[0].files[0].format, FORMAT_XPLANE);

	file("nsys/job/report.sqlite");
	find("nsys", false);
	assert_str(found.runs[0].path, "nsys/job/report.sqlite");
	assert_int_equal(found.runs[0].files[0].format, FORMAT_NSYS);

	file("nsys/job/rank1.sqlite");
	refused("nsys", DIAG_FILE_KIND, "nsys/job: 2 databases");
	refused("nsys", DIAG_FILE_KIND, "name one, such as rank1.sqlite, or give --all-runs");
	find("nsys", true);
	assert_int_equal(found.count, 2);
	assert_str(found.runs[0].path, "nsys/job/rank1.sqlite");
}

static void a_file_of_no_known_kind(void **state)
{
	(void)state;
	file("notes.txt");
	file("xplane.pb");
	refused("notes.txt", DIAG_FILE_KIND, "notes.txt: not a kind of file that is read");
	refused("notes.txt", DIAG_FILE_KIND, "rename it");
	refused("xplane.pb", DIAG_FILE_KIND, "name ends in .xplane.pb");
	refused(".", DIAG_NO_PROFILE, "no profile (*.xplane.pb) here or below");
}

static void an_empty_directory(void **state)
{
	(void)state;
	dir("log");
	refused("log", DIAG_NO_PROFILE, "log: the directory is empty");
	refused("log", DIAG_NO_PROFILE, "given to jax.profiler.trace");
}

static void paths_that_lead_nowhere(void **state)
{
	(void)state;
	dir("runs/nightly/plugins");
	file("runs/notes.txt");
	sym_link("gone", "link");
	refused("nowhere", DIAG_NO_PROFILE, "nowhere: no such file or directory");
	refused("runs/nigthly", DIAG_NO_PROFILE, "did you mean 'runs/nightly'?");
	refused("runs/nightly/plugin/profile", DIAG_NO_PROFILE, "'runs/nightly' has no 'plugin'");
	refused("runs/nightly/plugin/profile", DIAG_NO_PROFILE, "'runs/nightly/plugins'?");
	refused("runs/notes.txt/plugins", DIAG_NO_PROFILE, "no such file or directory");
	refused("link", DIAG_NO_PROFILE, "link: a link that leads nowhere");
	refused("-", DIAG_NO_PROFILE, "cannot be read from standard input");
	refused("", DIAG_NO_PROFILE, "the path of a profile is empty");
	refused("/no/such/path", DIAG_NO_PROFILE, "/no/such/path: no such file or directory");
}

/* A link to a file that is gone is still a name in its directory: opening it will tell. */
static void a_dead_link_among_the_hosts(void **state)
{
	(void)state;
	file("run/a.xplane.pb");
	sym_link("gone", "run/b.xplane.pb");
	find("run", false);
	assert_str(hosts_of(0), "a b");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_log_directory),
		TEST(every_way_in_leads_to_the_run),
		TEST(from_inside),
		TEST(an_absolute_path),
		TEST(an_older_run_by_its_name),
		TEST(one_file_of_many),
		TEST(stray_files),
		TEST(all_runs),
		TEST(a_tree_of_jobs),
		TEST(the_newest_has_no_profile),
		TEST(a_run_holds_no_runs),
		TEST(hosts_in_order),
		TEST(both_endings),
		TEST(both_endings_of_one_host),
		TEST(hidden_files_are_passed_by),
		TEST(a_directory_with_a_profiles_name),
		TEST(hidden_directories_are_passed_by),
		TEST(links_are_followed),
		TEST(a_link_in_a_circle),
		TEST(depth),
		TEST(a_thousand_hosts),
		TEST(names_of_all_sorts),
		TEST(neighbours),
		TEST(a_host_twice_is_offered_as_one_run),
		TEST(a_chain_of_neighbours_breaks),
		TEST(neighbours_of_other_jobs),
		TEST(other_kinds_of_files),
		TEST(the_most_telling_of_many),
		TEST(a_profile_among_others),
		TEST(a_dump_alone),
		TEST(traces),
		TEST(databases),
		TEST(a_file_of_no_known_kind),
		TEST(an_empty_directory),
		TEST(paths_that_lead_nowhere),
		TEST(a_dead_link_among_the_hosts),
	};
	return cmocka_run_group_tests_name("find", tests, NULL, NULL);
}
