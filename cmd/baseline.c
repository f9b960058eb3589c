/* Baselines from the command line.  See baseline.h. */
#include "cmd/baseline.h"

#include <math.h>

#include "cmd/bucket.h"
#include "cmd/previous.h"

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
