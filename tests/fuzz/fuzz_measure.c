/*
 * Any bytes as the profile of a job, by the reader that their first ones ask for, measured on one
 * thread: whatever opens has a row of its run and times that are no less than nothing, or an error
 * that says something.
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

static bool open_profile(
	struct input *in, struct arena *keep, struct profile *ret, struct diag *err)
{
	if (str_starts(in->bytes, STR("SQLite")))
		return nsys_open(in, STR("host"), (struct str){ 0 }, keep, ret, err);
	if (str_starts(in->bytes, STR("{")))
		return trace_open(in, STR("host"), keep, ret, err);
	return xplane_open(in, STR("host"), keep, ret, err);
}

static void fuzz(struct str bytes, struct arena *keep)
{
	static struct arena own;
	static struct chip_set *chips;
	if (!chips) {
		own = arena_new(ARENA_SCRATCH_BYTES);
		chips = chip_set_new(&own);
	}
	struct input in = input_memory(STR("fuzz"), bytes);
	struct measure_options options = { .chips = chips, .threads = 1 };
	struct diag_list notes = { 0 };
	struct profile profile;
	struct tables tables;
	struct plots plots;
	struct diag err = { 0 };

	if (!open_profile(&in, keep, &profile, &err)) {
		require(err.text[0] && err.id != DIAG_NONE);
		return;
	}
	struct measured *m =
		measure_begin(&profile, 1, STR("fuzz"), &options, keep, &tables, &notes, &err);
	require(m || (err.text[0] && err.id != DIAG_NONE));
	if (m) {
		require(table_count(&tables, run) == 1);
		check_steps(&tables);
		require(measure_plots(m, &plots, &err) || err.text[0]);
	}
	measure_end(m);
	input_close(&in);
}
