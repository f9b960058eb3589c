/* Baselines from the command line.  See baseline.h. */
#include "session/baseline.h"

#include <math.h>

#include "base/task.h"
#include "session/bucket.h"
#include "session/previous.h"

static bool load_report(
	struct str path, struct arena *keep, struct baselines *ret, struct diag *err)
{
	struct report_set set;
	ptrdiff_t before = ret->count;
	if (!report_load(path, keep, &set, err))
		return false;
	for (ptrdiff_t i = 0; i < set.count; i++) {
		const struct report *r = &set.items[i];
		if (r->error.p || !table_count(&r->tables, run))
			continue;
		*arena_push(keep, ret->items, ret->count, ret->cap) =
			(struct baseline){ .name = set.count == 1 ? path : r->profile,
				.tables = &r->tables };
	}
	return ret->count > before ||
	       diag_set(err, DIAG_BASELINE,
		       "%.*s: no profile in it was measured, so it is no baseline", STR_ARG(path));
}

/* Its tables borrow from the mapped files, which stay open as long as the program runs. */
static bool load_profile(struct str path, const struct load_options *options, struct arena *keep,
	struct baselines *ret, struct diag *err)
{
	struct found found;
	struct loaded all, part;
	struct tables *tables = arena_make(keep, struct tables, 1);
	struct diag_list *notes = arena_make(keep, struct diag_list, 1);
	struct measured *m = NULL;
	if (find_profiles(path, keep, &found, err) &&
		run_open(&found.runs[0], options, keep, &all, err) && run_take(&all, keep, &part))
		m = run_measure(&part, options, keep, tables, notes, err);
	measure_end(m);
	if (!m)
		return false;
	run_close(&all);
	*arena_push(keep, ret->items, ret->count, ret->cap) =
		(struct baseline){ .name = path, .tables = tables };
	return true;
}

/* A trace that was unpacked ends in .json, too. */
static bool is_report(struct str path)
{
	return str_ends(path, STR(".json")) && !str_ends(path, STR(".trace.json"));
}

struct load_options baseline_options(const struct load_options *of_head)
{
	struct load_options o = *of_head;
	o.expect_commit = (struct str){ NULL, 0 };
	o.max_age_s = NAN;
	o.measure.job = NULL;
	return o;
}

bool baseline_load(struct str path, const struct load_options *options, struct arena *keep,
	struct baselines *ret, struct diag *err)
{
	if (is_report(path))
		return load_report(path, keep, ret, err);
	return load_profile(path, options, keep, ret, err);
}

/* ---- a good run ------------------------------------------------------------------------------ */

/* Fewer do not tell what is usual; the gate enough-steps of recommended asks for as many. */
enum { STEPS_NEEDED = 2 };

static bool is_enough(const struct baseline *run, struct diag *err)
{
	const struct run_row *row = table_rows(run->tables, run);
	double steps = table_count(run->tables, run) ? row->steps : 0;
	if (steps >= STEPS_NEEDED)
		return true;
	return diag_set(err, DIAG_BASELINE,
		"%.*s: steady steps: %.0f, and a limit needs at least %d; capture a longer run "
		"(`rooflint check` says what it lacks)",
		STR_ARG(run->name), steps > 0 ? steps : 0, STEPS_NEEDED);
}

bool baseline_load_good(struct str path, const struct read_settings *s, struct arena *keep,
	struct baseline *ret, struct diag *err)
{
	struct load_options options;
	struct baselines all = { 0 };
	if (!load_options(s, task_cpus(), keep, &options, err) ||
		!baseline_load(path, &options, keep, &all, err))
		return false;
	if (all.count > 1)
		return diag_set(err, DIAG_USAGE,
			"%.*s: it reports on %td profiles, and one good run is wanted",
			STR_ARG(path), all.count);
	*ret = all.items[0];
	return is_enough(ret, err);
}
