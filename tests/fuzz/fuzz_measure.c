/*
 * Any bytes as the xplane.pb of a job, measured on one thread: whatever opens has a row of its run
 * and times that are no less than nothing, or an error that says something.
 */
#include "measure/plots.h"
#include "measure/run.h"
#include "tests/fuzz/fuzz.h"

static void check_steps(const struct tables *t)
{
	for (ptrdiff_t i = 0; i < table_count(t, steps); i++) {
		const struct steps_row *s = &table_rows(t, steps)[i];
		require(!(s->time_s < 0) && !(s->compute_s < 0) && !(s->idle_s < 0));
		require(!(s->compute_s > s->time_s * 1.000001));
	}
}

static void fuzz(struct str bytes, struct arena *keep)
{
	struct input in = input_memory(STR("fuzz"), bytes);
	struct measure_options options = { .chips = chip_set_new(keep), .threads = 1 };
	struct diag_list notes = { 0 };
	struct profile profile;
	struct tables tables;
	struct plots plots;
	struct diag err = { 0 };

	if (!xplane_open(&in, STR("host"), keep, &profile, &err)) {
		require(err.text[0] && err.id != DIAG_NONE);
		return;
	}
	struct measured *m = measure_begin(
		&profile, 1, STR("fuzz"), &options, keep, &tables, &notes, &err);
	require(m || (err.text[0] && err.id != DIAG_NONE));
	if (m) {
		require(table_count(&tables, run) == 1);
		check_steps(&tables);
		require(measure_plots(m, &plots, &err) || err.text[0]);
	}
	measure_end(m);
}
