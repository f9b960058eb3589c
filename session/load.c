/* Rules, chips and runs as commands want them.  See load.h. */
#include "session/load.h"

#include <limits.h>
#include <math.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/out.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/unit.h"
#include "hlo/module.h"
#include "profile/pprof.h"
#include "rules/print.h"
#include "session/git.h"

/* ---- rules and chips ------------------------------------------------------------------------- */

static bool read_from_ref(
	void *arg, struct str path, struct arena *keep, struct str *ret, struct diag *err)
{
	const struct str *ref = arg;
	return git_read(*ref, path, keep, ret, err);
}

/* The rule file's name: as given, else found where the rules come from, else the built-in set. */
static bool name_rules(
	const struct rule_settings *s, struct arena *keep, struct str *ret, struct diag *err)
{
	*ret = s->rules;
	if (!ret->p && !s->rules_from.p)
		*ret = ruleset_find(STR("."), keep);
	else if (!ret->p && !git_find_rules(s->rules_from, keep, ret, err))
		return false;
	if (!ret->p)
		*ret = STR("recommended");
	return true;
}

bool load_rules(struct engine *engine, const struct rule_settings *s, struct arena *keep,
	struct ruleset *ret, struct diag *err)
{
	struct str ref = s->rules_from, name;
	struct rule_source git = { read_from_ref, &ref };
	return engine && name_rules(s, keep, &name, err) &&
	       ruleset_load(engine, ref.p ? &git : NULL, name, &s->set, keep, ret, err);
}

/* "/job/src=python/src"; nothing behind it, and the repository begins there. */
static bool source_root_parse(struct str text, struct source_root *ret, struct diag *err)
{
	ptrdiff_t equals = str_rfind_char(text, '=');

	*ret = (struct source_root){ text, STR("") };
	if (equals >= 0) {
		ret->seen = str_head(text, equals);
		ret->kept = str_from_offset(text, equals + 1);
	}
	bool is_inside = ret->seen.len && !str_starts(ret->kept, STR("/")) &&
			 !str_contains(ret->kept, STR(".."));
	ret->kept = path_trim(ret->kept);
	while (str_ends(ret->seen, STR("/")))
		ret->seen.len--;
	if (is_inside)
		return true;
	return diag_set(err, DIAG_USAGE,
		"--source-root takes DIR or DIR=PATH, with a PATH inside the repository, not "
		"'%.*s'",
		STR_ARG(text));
}

/* The folder with a .git in it, which is a file in a worktree; missing: none above this one. */
static void checkout_find(struct measure_options *m, struct arena *keep)
{
	char buffer[PATH_MAX];
	const struct str here = str_from(getcwd(buffer, sizeof(buffer)));
	struct stat st;

	for (struct str top = here; top.len; top.len = str_rfind_char(top, '/'))
		if (!stat(arena_fmt(keep, "%.*s/.git", STR_ARG(top)).p, &st)) {
			m->checkout = arena_str(keep, top);
			m->checkout_folder = arena_str(keep, str_from_offset(here, top.len + 1));
			return;
		}
}

/* What a command that is printed has to repeat, so that it reads a run in the same way. */
static struct str options_words(const struct read_settings *s, struct arena *keep)
{
	const struct {
		const char *option;
		struct str value;
	} said[] = { { "hardware", s->hardware }, { "job", s->job }, { "hlo", s->hlo },
		{ "step", s->step } };
	struct out *o = out_memory(keep);

	for (int i = 0; i < COUNT_OF(said); i++)
		if (said[i].value.p)
			out_fmt(o, " --%s %.*s", said[i].option,
				STR_ARG(text_shell(keep, said[i].value)));
	return out_text(o);
}

bool load_options(const struct read_settings *s, int threads, struct arena *keep,
	struct load_options *ret, struct diag *err)
{
	struct source_root *roots = arena_make(keep, struct source_root, s->source_roots.count);
	struct measure_options *m = &ret->measure;
	struct timespec now;
	enum unit unit;

	*ret = (struct load_options){ .expect_commit = s->expect_commit,
		.max_age = s->max_age,
		.max_age_s = NAN,
		.hlo = s->hlo,
		.hosts_sample = s->hosts_sample,
		.words = options_words(s, keep) };
	*m = (struct measure_options){ .chips = chip_set_new(keep),
		.threads = threads,
		.step = s->step,
		.source_roots = roots,
		.source_root_count = s->source_roots.count };
	/* Git shows seven digits of a commit at the least; fewer fit too many. */
	if (s->expect_commit.p && s->expect_commit.len < COMMIT_MIN)
		return diag_set(err, DIAG_USAGE,
			"--expect-commit takes at least %d digits of a commit's hash, not '%.*s'",
			COMMIT_MIN, STR_ARG(s->expect_commit));
	if (s->max_age.p && (!unit_parse(s->max_age, &ret->max_age_s, &unit, NULL) ||
				    unit != UNIT_SECONDS || !(ret->max_age_s > 0)))
		return diag_set(err, DIAG_USAGE,
			"--max-age takes a duration, as in 30min, 2h or 7d, not '%.*s'",
			STR_ARG(s->max_age));
	clock_gettime(CLOCK_REALTIME, &now);
	ret->now_ns = now.tv_sec * 1000000000 + now.tv_nsec;
	for (ptrdiff_t i = 0; i < s->source_roots.count; i++)
		if (!source_root_parse(s->source_roots.items[i], &roots[i], err))
			return false;
	checkout_find(m, keep);
	if (s->job.p && !job_file_read(&tree_local, s->job, keep, &m->job, err))
		return false;
	if (s->hardware.p)
		m->chip = chip_find(m->chips, s->hardware, err);
	return m->chip || !s->hardware.p;
}

bool load_judge(struct engine *engine, const struct rule_settings *rule,
	const struct read_settings *read, int threads, struct arena *keep, struct ruleset *rules,
	struct load_options *options, struct diag *err)
{
	if (!load_rules(engine, rule, keep, rules, err) ||
		!load_options(read, threads, keep, options, err))
		return false;
	options->measure.costs = &rules->costs;
	if (!options->measure.step.p)
		options->measure.step = rules->step.text;
	return true;
}

struct str judge_identity(
	const struct ruleset *rules, const struct read_settings *read, struct arena *keep)
{
	struct sha256 h = sha256_new();
	sha256_field(&h, rules_identity(rules, keep));
	sha256_field(&h, read->hardware);
	for (ptrdiff_t i = 0; i < read->source_roots.count; i++)
		sha256_field(&h, read->source_roots.items[i]);
	sha256_field(&h, arena_fmt(keep, "%td", read->source_roots.count));
	sha256_field(&h, read->job);
	sha256_field(&h, read->step);
	sha256_field(&h, arena_fmt(keep, "%d", read->hosts_sample));
	sha256_field(&h, STR(ROOFLINT_VERSION));
	return sha256_id(&h, keep);
}

/* ---- opening --------------------------------------------------------------------------------- */

/* What is read, but not as a profile of this name, by enum input_kind. */
static const char *const misplaced[] = {
	[INPUT_GZIP] = "gzip data at byte 0, where a plain protobuf message was expected; unpack "
		       "it first (gzip -dc OLD >NEW.xplane.pb)",
	[INPUT_SQLITE] = "a SQLite database at byte 0, where a profile was expected; call it "
			 "*.sqlite if `nsys export` wrote it, or give the *.xplane.pb of the run",
	[INPUT_TEXT] = "text at byte 0, where a protobuf message was expected; give the "
		       "*.xplane.pb of the run",
};

static bool accept(enum profile_format format, const struct input *in, struct diag *err)
{
	enum input_kind k = in->kind;
	bool is_common = k == INPUT_EMPTY || k == INPUT_LFS || k == INPUT_MANGLED;
	/* A trace is gzip or text; what else a file may be by mistake has its own words. */
	if (format == FORMAT_TRACE && (k == INPUT_GZIP || k == INPUT_TEXT || k == INPUT_MANGLED))
		return true;
	/* Blanks before JSON, as PyTorch writes them; a newline may begin a message. */
	if (format == FORMAT_TRACE && str_starts(str_trim(str_head(in->bytes, 64)), STR("{")))
		return true;
	if (format == FORMAT_TRACE && k == INPUT_UNKNOWN)
		return diag_set(err, DIAG_FILE_KIND,
			"neither gzip data nor JSON at byte 0, where a trace was expected; give "
			"the *.xplane.pb of the run");
	/* Other programs write databases, too; the reader refuses those that are not Nsight's. */
	if (format == FORMAT_NSYS && k == INPUT_SQLITE)
		return true;
	if (format == FORMAT_NSYS && !is_common)
		return diag_set(err, DIAG_FILE_KIND,
			"no SQLite database at byte 0, as `nsys export --type sqlite` writes one; "
			"export the report again");
	if ((int)k < COUNT_OF(misplaced) && misplaced[k])
		return diag_set(err, DIAG_FILE_KIND, "%s", misplaced[k]);
	return input_accept(in, err);
}

/*
 * What a reader said of bytes becomes a message for people: the path in front, unless it is
 * missing, and behind it what to do about bytes that break off or make no sense.
 */
static bool explain(struct str path, struct diag *err)
{
	if (err->id == DIAG_FILE_SHRANK) /* names it already */
		return false;
	if (err->id == DIAG_WIRE)
		diag_set(err, err->id,
			"%s; the file is damaged or was cut short: copy or capture it again",
			err->text);
	return path.p ? diag_context(err, "%.*s", STR_ARG(path)) : false;
}

/* By enum profile_format. */
static bool (*const readers[])(struct input *in, struct str host, struct arena *keep,
	struct profile *ret, struct diag *err) = {
	[FORMAT_XPLANE] = xplane_open,
	[FORMAT_RIEGELI] = riegeli_open,
	[FORMAT_TRACE] = trace_open,
};

/* A file still being written reads like a damaged one; the more useful error wins. */
static bool index_file(const struct found_file *file, const struct measure_options *o,
	struct input *in, struct arena *keep, struct profile *ret, struct diag *err)
{
	/* Of an export any range may be the step, so its reader has to know which. */
	struct str step = !o->step.p && o->job ? o->job->step : o->step;
	if (!accept(file->format, in, err))
		return explain(in->path, err);
	if (file->format == FORMAT_NSYS ? nsys_open(in, file->host, step, keep, ret, err)
					: readers[file->format](in, file->host, keep, ret, err))
		return true;
	return input_check(in, err) && explain(in->path, err);
}

/* In a bucket only what is needed is fetched. */
static void look_beside(const struct found_run *run, const struct found_file *file,
	struct arena *keep, struct profile *p)
{
	struct diag ignored;
	struct input in;
	if (!file->trace.p || run->tree != &tree_local ||
		!run->tree->open(run->tree, file->trace, keep, &in, &ignored))
		return;
	p->trace_beside = path_base(file->trace);
	p->trace_kin = trace_kin_of(&in, p);
	input_close(&in);
}

/* A snapshot that cannot be read is left out, with the reason. */
static void open_snapshots(const struct found_run *run, struct arena *keep, struct profile *first)
{
	struct live_snapshot *all = arena_make(keep, struct live_snapshot, run->snapshot_count);
	first->snapshots = all;
	first->snapshot_count = run->snapshot_count;
	for (ptrdiff_t i = 0; i < run->snapshot_count; i++) {
		struct str path = run->snapshots[i];
		struct live_snapshot *s = &all[i];
		struct diag *err = arena_make(keep, struct diag, 1);
		struct input in;
		bool opened = run->tree->open(run->tree, path, keep, &in, err);
		bool ok = opened && (pprof_open(&in, keep, s, err) || explain(path, err));
		if (!ok)
			*s = (struct live_snapshot){ .why = err };
		s->name = path_base(path);
		if (opened)
			input_close(&in);
	}
}

struct str run_listing(const struct found_run *run, struct arena *keep)
{
	struct sha256 h = sha256_new();
	if (!run->tree || !run->tree->version)
		return MISSING;
	for (ptrdiff_t i = 0; i < run->file_count; i++) {
		struct str path = run->files[i].path;
		struct str version = run->tree->version(run->tree, path);
		if (!version.p)
			return MISSING;
		sha256_field(&h, path_base(path));
		sha256_field(&h, version);
	}
	return sha256_id(&h, keep);
}

struct found_run run_sample(const struct found_run *run, int hosts, struct arena *keep)
{
	struct found_run sample = *run;
	if (hosts == 0 || run->file_count <= hosts)
		return sample;
	sample.files = arena_make(keep, struct found_file, hosts);
	sample.file_count = hosts;
	for (ptrdiff_t i = 0; i < hosts; i++)
		sample.files[i] =
			run->files[hosts > 1 ? i * (run->file_count - 1) / (hosts - 1) : 0];
	return sample;
}

static enum platform platform_of(const struct chip *c)
{
	static const enum platform of[] = { [VENDOR_UNKNOWN] = PLATFORM_UNKNOWN,
		[VENDOR_GOOGLE] = PLATFORM_TPU,
		[VENDOR_NVIDIA] = PLATFORM_NVIDIA,
		[VENDOR_AMD] = PLATFORM_AMD,
		[VENDOR_CPU] = PLATFORM_CPU };
	return of[c->vendor];
}

/* A program that has not run: a dump, and a chip to think of. */
static bool open_plan(
	struct loaded *l, const struct load_options *options, struct arena *keep, struct diag *err)
{
	const struct chip *chip = options->measure.chip;
	struct str path = l->run.path, file = l->run.files[0].path;

	if (!chip)
		return diag_set(err, DIAG_FILE_KIND,
			"%.*s: a compiler's dump of a program, without times; name the chip with "
			"--hardware to have it judged before it runs, or give the *.xplane.pb of a "
			"run",
			STR_ARG(path));
	if (!(str_eq(path, file) ? dump_of_file(path, keep, &l->dump, err)
				 : dump_list(path, keep, &l->dump, err)))
		return false;
	l->inputs = arena_make(keep, struct input, 1);
	l->profiles = arena_make(keep, struct profile, 1);
	dump_profile(&l->dump, platform_of(chip), keep, l->inputs, l->profiles);
	l->inputs[0].path = path;
	l->count = 1;
	return true;
}

/* Beside the profile nothing is promised; who names a directory expects a dump in it. */
static bool open_dump(const struct found_run *run, const struct load_options *options,
	struct arena *keep, struct dump *ret, struct diag *err)
{
	struct str beside = path_parent(run->files[0].path);

	*ret = (struct dump){ .dir = beside };
	if (!options->hlo.p && run->tree != &tree_local)
		return true; /* a dump is read file by file, and would be fetched for nothing */
	if (!dump_list(options->hlo.p ? options->hlo : beside, keep, ret, err))
		return false;
	return ret->count || !options->hlo.p ||
	       diag_set(err, DIAG_FILE_KIND,
		       "%.*s: no compiler's dump here; --hlo takes the directory that was given to "
		       "--xla_dump_to, with its *after_optimizations.txt",
		       STR_ARG(options->hlo));
}

static bool is_older_twin(const struct found_run *run, ptrdiff_t i)
{
	return i && str_eq(run->files[i].host, run->files[i - 1].host);
}

static bool open_files(
	struct loaded *l, const struct measure_options *o, struct arena *keep, struct diag *err)
{
	struct found_run *run = &l->run;
	struct found_file *files = arena_make(keep, struct found_file, run->file_count);
	ptrdiff_t cap = 0;

	l->inputs = arena_make(keep, struct input, run->file_count);
	l->profiles = arena_make(keep, struct profile, run->file_count);
	for (ptrdiff_t i = 0; i < run->file_count; i++) {
		const struct found_file *file = &run->files[i];
		struct input *in = &l->inputs[l->count];
		struct profile *p = &l->profiles[l->count];
		bool is_open = run->tree->open(run->tree, file->path, keep, in, err);
		if (is_open && index_file(file, o, in, keep, p, err)) {
			look_beside(run, file, keep, p);
			files[l->count++] = *file;
			continue;
		}
		if (is_open)
			input_close(in);
		if (!is_older_twin(run, i))
			return false;
		*arena_push(keep, l->passed_over, l->passed_over_count, cap) =
			(struct passed_over){ path_parent(file->path), *err };
	}
	run->files = files;
	run->file_count = l->count;
	return true;
}

bool run_open(const struct found_run *found, const struct load_options *options, struct arena *keep,
	struct loaded *ret, struct diag *err)
{
	const struct found_run *run = &ret->run;

	*ret = (struct loaded){ .run = run_sample(found, options->hosts_sample, keep) };
	if (run->file_count < found->file_count)
		ret->hosts_found = found->file_count;
	if (run->refused.p)
		return diag_set(err, run->refused_id, "%.*s: %.*s", STR_ARG(run->path),
			STR_ARG(run->refused));
	if (run->files[0].format == FORMAT_DUMP)
		return open_plan(ret, options, keep, err);
	if (!open_files(ret, &options->measure, keep, err)) {
		run_close(ret);
		return false;
	}
	if (run->snapshot_count)
		open_snapshots(run, keep, &ret->profiles[0]);
	if (open_dump(run, options, keep, &ret->dump, err))
		return true;
	run_close(ret);
	return false;
}

void run_close(struct loaded *l)
{
	for (ptrdiff_t i = 0; i < l->count; i++)
		input_close(&l->inputs[i]);
	l->count = 0;
	dump_close(&l->dump);
}

/* ---- one job or several ---------------------------------------------------------------------- */

/* Devices that worked; the planes of a chip, which may be one device or two, are counted once. */
static ptrdiff_t devices_here(const struct profile *p)
{
	ptrdiff_t n = 0;
	int64_t chip = -1;

	for (ptrdiff_t i = 0; i < p->plane_count; i++) {
		const struct plane *plane = &p->planes[i];
		if (plane->class != PLANE_DEVICE || !plane->lane_count)
			continue;
		n += plane->chip.global_chip_id < 0 || plane->chip.global_chip_id != chip;
		chip = plane->chip.global_chip_id;
	}
	return n;
}

/* Whether it is for more devices than worked in this file; true where its HLO does not tell. */
static bool reaches_beyond(
	const struct hlo_entry *program, const struct profile *p, struct arena scratch)
{
	struct diag untold = { 0 };

	if (!program->proto.len)
		return true;
	const struct hlo_module *m =
		hlo_module_parse(program->proto, p->input->bytes, &scratch, &untold);
	double devices = m ? hlo_devices(m) : 0;
	return devices == 0 || devices > (double)devices_here(p);
}

/* Of each of its programs, whether it is for more devices than worked here. */
static const bool *programs_beyond(const struct profile *p, struct arena *keep)
{
	bool *ret = arena_make(keep, bool, p->hlo_count);
	for (ptrdiff_t i = 0; i < p->hlo_count; i++)
		ret[i] = reaches_beyond(&p->hlo[i], p, *keep);
	return ret;
}

/*
 * Of the programs of `model` those that stay within its devices say nothing: whoever tries one
 * model with two rates of learning runs it twice, and every job has the small programs that JAX
 * makes.
 */
static bool share_program(const struct profile *p, const struct profile *model, const bool *beyond)
{
	for (ptrdiff_t i = 0; i < model->hlo_count; i++)
		for (ptrdiff_t k = 0; beyond[i] && k < p->hlo_count; k++)
			if (p->hlo[k].program == model->hlo[i].program &&
				str_eq(p->hlo[k].name, model->hlo[i].name))
				return true;
	return p->hlo_count == 0 || model->hlo_count == 0;
}

static bool overlap(const struct profile *a, const struct profile *b)
{
	if (!a->start_ns || !a->stop_ns || !b->start_ns || !b->stop_ns)
		return true;
	return a->start_ns <= b->stop_ns && b->start_ns <= a->stop_ns;
}

static struct str dir_of(const struct loaded *l, ptrdiff_t i)
{
	struct str path = l->run.files[i].path;
	return str_head(path, str_rfind_char(path, '/'));
}

/*
 * Whether it belongs to the run of `model`, which is in the newest directory.  Of a host that
 * `taken` has already it is another process when both were captured at one time, and else another
 * capture; a copy of one begins at the same nanosecond.
 */
static bool belongs(const struct profile *p, const struct profile *model, const bool *beyond,
	const struct loaded *taken)
{
	bool is_its = overlap(p, model) && share_program(p, model, beyond);
	/* Files are sorted by host. */
	for (ptrdiff_t i = taken->count; is_its && i-- > 0;) {
		const struct profile *twin = &taken->profiles[i];
		if (!str_eq(taken->run.files[i].host, p->host))
			break;
		is_its = p->stop_ns && twin->stop_ns && p->start_ns != twin->start_ns &&
			 overlap(p, twin);
	}
	return is_its;
}

/* "worker-0#2": a host's processes are numbered, the newest directory's is the first. */
static void number_process(struct loaded *l, struct arena *keep)
{
	ptrdiff_t last = l->count - 1, first = last;
	struct str host = l->run.files[last].host;
	while (first > 0 && str_eq(l->run.files[first - 1].host, host))
		first--;
	if (first < last)
		l->profiles[last].host =
			arena_fmt(keep, "%.*s#%td", STR_ARG(host), last - first + 1);
}

/* Moves entry `i` to the end of the other; planes point back at their profile, so they follow. */
static void move(const struct loaded *from, ptrdiff_t i, struct loaded *to)
{
	ptrdiff_t at = to->count++;
	struct profile *p = &to->profiles[at];
	to->inputs[at] = from->inputs[i];
	to->run.files[at] = from->run.files[i];
	to->run.file_count = to->count;
	*p = from->profiles[i];
	p->input = &to->inputs[at];
	for (ptrdiff_t k = 0; k < p->plane_count; k++)
		p->planes[k].profile = p;
}

/* Of a file in the newest directory; `count` is not 0. */
static ptrdiff_t newest_file(const struct loaded *l)
{
	ptrdiff_t newest = 0;
	for (ptrdiff_t i = 1; i < l->count; i++)
		if (str_cmp(dir_of(l, i), dir_of(l, newest)) > 0)
			newest = i;
	return newest;
}

static void name_after(struct loaded *l, struct str dir)
{
	l->run.path = dir;
	l->run.name = path_base(dir);
}

bool run_take(struct loaded *l, struct arena *keep, struct loaded *ret)
{
	ptrdiff_t count = l->count;
	bool is_one_dir = true;
	if (!count)
		return false;
	for (ptrdiff_t i = 1; i < count; i++)
		is_one_dir &= str_eq(dir_of(l, i), dir_of(l, 0));
	*ret = *l;
	l->count = 0;
	l->dump.count = 0;
	l->passed_over_count = 0;
	if (is_one_dir)
		return true;
	ptrdiff_t first = newest_file(ret);
	struct str dir = dir_of(ret, first);
	struct profile model = l->profiles[first];
	const bool *beyond = programs_beyond(&model, keep);
	*ret = (struct loaded){ .hosts_found = l->hosts_found,
		.dump = ret->dump,
		.passed_over = ret->passed_over,
		.passed_over_count = ret->passed_over_count };
	ret->run.tree = l->run.tree;
	name_after(ret, dir);
	ret->run.files = arena_make(keep, struct found_file, count);
	ret->inputs = arena_make(keep, struct input, count);
	ret->profiles = arena_make(keep, struct profile, count);
	for (ptrdiff_t i = 0; i < count; i++) {
		bool is_its =
			str_eq(dir_of(l, i), dir) || belongs(&l->profiles[i], &model, beyond, ret);
		move(l, i, is_its ? ret : l);
		if (is_its)
			number_process(ret, keep);
	}
	if (l->count)
		name_after(l, dir_of(l, newest_file(l)));
	return true;
}

/* ---- measuring ------------------------------------------------------------------------------- */

/* Whether what was read of the files can be trusted, and if not, why. */
static bool run_check(const struct loaded *l, bool ok, struct diag *err)
{
	for (ptrdiff_t i = 0; i < l->count; i++)
		if (!input_check(&l->inputs[i], err))
			return false;
	if (!dump_check(&l->dump, err))
		return false;
	bool is_plan = l->run.files[0].format == FORMAT_DUMP; /* whose reader names its files */
	return ok || explain(is_plan	    ? MISSING
			     : l->count > 1 ? l->run.path
					    : l->inputs[0].path,
			     err);
}

/* A file that was passed over may be a process of this run, unless all of its hosts are here. */
static bool lacks_passed_over(const struct loaded *l, const struct tables *t)
{
	const struct run_row *row = table_rows(t, run);
	return l->passed_over_count && !(table_count(t, run) && row->hosts_expected <= row->hosts);
}

/* Fewer bytes are read in less time than another thread takes to start, and to be waited for. */
#define THREAD_BYTES ((int64_t)1 << 20)

static int threads_for(const struct loaded *l, int most)
{
	int64_t bytes = 0;
	for (ptrdiff_t i = 0; i < l->count; i++)
		bytes += l->inputs[i].bytes.len;
	return bytes / THREAD_BYTES < most ? (int)(bytes / THREAD_BYTES) + 1 : most;
}

struct measured *run_measure(const struct loaded *l, const struct load_options *options,
	struct arena *keep, struct tables *ret, struct diag_list *notes, struct diag *err)
{
	/* What was measured goes on looking at it. */
	struct measure_options *mine = arena_make(keep, struct measure_options, 1);
	*mine = options->measure;
	mine->threads = threads_for(l, mine->threads);
	mine->hosts_found = l->hosts_found;
	mine->dump = arena_make(keep, struct dump, 1);
	*mine->dump = l->dump;
	if ((!mine->job && !job_file_find(l, keep, &mine->job, err)) ||
		!run_is_current(l, options, mine->job, err))
		return NULL;
	struct measured *m =
		measure_begin(l->profiles, l->count, l->run.name, mine, keep, ret, notes, err);
	bool ok = run_check(l, m != NULL, err);
	if (ok && lacks_passed_over(l, ret)) {
		*err = l->passed_over[0].why;
		ok = false;
	}
	if (ok)
		return m;
	measure_end(m);
	return NULL;
}

bool run_tables(const struct found_run *run, const struct load_options *options, struct arena *keep,
	struct tables *ret, struct diag *err)
{
	struct loaded all, newest;
	struct diag_list notes = { 0 };
	struct measured *m = NULL;
	if (run_open(run, options, keep, &all, err) && run_take(&all, keep, &newest))
		m = run_measure(&newest, options, keep, ret, &notes, err);
	measure_end(m);
	if (!m)
		return false;
	run_close(&all);
	return true;
}

bool run_plots(const struct loaded *l, struct measured *m, struct arena *keep, struct report *ret,
	struct diag *err)
{
	return run_check(l, report_plots(m, keep, ret, err), err);
}
