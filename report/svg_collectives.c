/* What collectives took, against what was expected, and how much of it held up a step. */
#include <math.h>
#include <string.h>

#include "report/prose.h"
#include "report/svg.h"

enum { COLLECTIVES = 10, NAME_COLUMNS = 32, BAR_HEIGHT = 9 };

/* How long one execution took: while the data moved, else from start to end. */
static double took(const struct collectives_row *c)
{
	return c->transfer_s > 0 ? c->transfer_s : c->span_s;
}

static bool has_run(const struct collectives_row *c)
{
	return took(c) > 0;
}

static bool is_late(const struct collectives_row *c)
{
	return c->expected_hi_s > 0 && took(c) > c->expected_hi_s;
}

/* What it took and should take; below, of all its executions, what held up the step. */
static void add_collective(
	struct svg_rows *rows, const struct collectives_row *c, const char *per, struct arena *keep)
{
	double exposed = fmax(c->exposed_s, 0), hidden = fmax(c->hidden_s, 0);
	struct out *name = out_memory(keep);
	struct str time = time_text(keep, took(c)), expected = MISSING;
	out_str(name, html_clip(c->name, NAME_COLUMNS, keep));
	if (c->message_bytes > 0)
		out_fmt(name, " \xc2\xb7 %.*s", STR_ARG(bytes_text(keep, c->message_bytes)));
	if (c->group_size > 0)
		out_fmt(name, " over %.0f devices", c->group_size);
	if (c->per_step > 0 && c->per_step != 1)
		out_fmt(name, " \xc2\xb7 %.3g %s", c->per_step, per);
	if (c->expected_hi_s > 0 && c->expected_hi_s >= c->expected_lo_s)
		expected = arena_fmt(keep, "expected %.*s to %.*s",
			STR_ARG(time_text(keep, c->expected_lo_s)),
			STR_ARG(time_text(keep, c->expected_hi_s)));
	svg_row_add(rows, out_text(name), has_run(c) ? time : MISSING, keep);
	if (has_run(c))
		svg_bar_add(rows, 0, is_late(c) ? INK_BAD : INK_TEXT, 0, took(c),
			arena_fmt(keep, "%.*s\ntook %.*s", STR_ARG(c->name), STR_ARG(time)), keep);
	if (expected.p)
		svg_bar_add(rows, 1, INK_BAND, c->expected_lo_s, c->expected_hi_s, expected, keep);
	svg_bar_add(rows, 2, INK_COMMS, 0, exposed,
		arena_fmt(keep, "exposed: %.*s %s", STR_ARG(time_text(keep, exposed)), per), keep);
	svg_bar_add(rows, 2, INK_HIDDEN, exposed, exposed + hidden,
		arena_fmt(keep, "hidden behind compute: %.*s %s", STR_ARG(time_text(keep, hidden)),
			per),
		keep);
}

static struct str caption_of(const struct report *r, struct arena *keep)
{
	const struct collectives_row *rows = table_rows(&r->tables, collectives);
	bool any_expected = false, any_run = false;
	double exposed = 0, hidden = 0, step = run_of(r)->step_mean_s;
	ptrdiff_t late = 0, count = table_count(&r->tables, collectives);
	for (ptrdiff_t i = 0; i < count; i++) {
		exposed += fmax(rows[i].exposed_s, 0);
		hidden += fmax(rows[i].hidden_s, 0);
		late += is_late(&rows[i]);
		any_expected |= rows[i].expected_hi_s > 0;
		any_run |= has_run(&rows[i]);
	}
	if (!any_run)
		return STR("Nothing has run: the bars are what the links should need for each.");
	struct str share =
		step > 0 ? arena_fmt(keep, " (%.*s)", STR_ARG(ratio_text(keep, exposed / step)))
			 : STR("");
	struct str speed = !any_expected ? STR("what they should take is not known")
			   : late	 ? arena_fmt(keep, "%lld of %lld took longer than expected",
						   (long long)late, (long long)count)
					 : STR("none took longer than expected");
	struct str behind = hidden > 0 ? arena_fmt(keep, "%.*s more hide behind compute",
						 STR_ARG(time_text(keep, hidden)))
				       : STR("nothing hides behind compute");
	const char *who = is_whole_capture(r) ? "The capture" : "A step";
	if (!(exposed > 0) && !(hidden > 0))
		return arena_fmt(keep, "%s waits for none of them; %.*s.", who, STR_ARG(speed));
	return arena_fmt(keep, "%s waits %.*s%.*s for them, and %.*s; %.*s.", who,
		STR_ARG(time_text(keep, exposed)), STR_ARG(share), STR_ARG(behind), STR_ARG(speed));
}

bool svg_collectives(const struct report *r, struct arena *keep, struct html_picture *ret)
{
	static const struct svg_plot plot = { "picture-collectives", "Collectives", NULL,
		"For each collective the time it took, the interval that was expected, and how "
		"much "
		"time it held up.",
		SVG_HALF, svg_draw_rows };
	const struct svg_key keys[] = { { INK_TEXT, STR("took") }, { INK_BAND, STR("expected") },
		{ INK_BAD, STR("took longer than expected") },
		{ INK_COMMS, arena_fmt(keep, "exposed %s", prose_per(r)) },
		{ INK_HIDDEN, arena_fmt(keep, "hidden %s", prose_per(r)) } };
	const struct collectives_row *items = table_rows(&r->tables, collectives);
	struct svg_rows *rows = svg_rows_new(BAR_HEIGHT, keep);
	rows->ticks = 6;
	rows->keys = memcpy(arena_make(keep, struct svg_key, COUNT_OF(keys)), keys, sizeof(keys));
	rows->key_count = COUNT_OF(keys);
	bool any_run = false;
	for (ptrdiff_t i = 0; i < table_count(&r->tables, collectives) && i < COLLECTIVES; i++) {
		add_collective(rows, &items[i], prose_per(r), keep);
		any_run |= has_run(&items[i]);
	}
	if (!any_run) { /* names have the ink of the first key */
		rows->keys++;
		rows->key_count--;
	}
	if (!(rows->most > 0))
		return false;
	*ret = svg_picture(&plot, rows, caption_of(r, keep), keep);
	return true;
}
