/* The tables of a page, for people: the columns that are read most, with units. */
#include <math.h>

#include "base/text.h"
#include "report/alert.h"
#include "report/html.h"
#include "report/prose.h"

/* The name of a row, and all cells of a table of few columns, have room for more. */
enum { COLUMNS = 17, TEXT_COLUMNS = 36, FEW_COLUMNS = 3 };

struct pick {
	const char *column, *label; /* no label: the column's name */
};

/* The first column names the row.  "source_file" is shown with its line. */
static const struct spec {
	enum table_id id;
	const char *title;
	struct pick columns[COLUMNS];
} specs[] = {
	{ TABLE_families, "Families",
		{ { "name", "heaviest op" }, { "kind", 0 }, { "members", 0 },
			{ "time_share", "share of step" }, { "p50_s", "median" },
			{ "attainable_s", "attainable" }, { "efficiency", 0 }, { "bound", 0 },
			{ "cost_bound", "cost" }, { "skew", 0 }, { "gain_s", "gain" },
			{ "family", 0 } } },
	{ TABLE_ops, "Ops",
		{ { "name", "op" }, { "kind", 0 }, { "time_share", "share of step" },
			{ "per_step", "per step" }, { "p50_s", "median" },
			{ "source_file", "source" }, { "roofline_s", "roofline" },
			{ "cost_bound", "cost" }, { "efficiency", 0 }, { "bound", 0 },
			{ "gain_s", "gain" }, { "flops", "FLOPs" }, { "hbm_bytes", "HBM" },
			{ "padding_ratio", "padding" }, { "shape", 0 }, { "scope", 0 } } },
	{ TABLE_collectives, "Collectives",
		{ { "name", "collective" }, { "kind", 0 }, { "source_file", "source" },
			{ "group_size", "group" }, { "link", 0 }, { "message_bytes", "message" },
			{ "per_step", "per step" }, { "span_s", "span" },
			{ "transfer_s", "transfer" }, { "expected_lo_s", "expected from" },
			{ "expected_hi_s", "to" }, { "exposed_s", "exposed" },
			{ "hidden_s", "hidden" }, { "wait_s", "wait" },
			{ "bandwidth_bps", "bandwidth" } } },
	{ TABLE_transfers, "Transfers",
		{ { "direction", 0 }, { "per_step", "per step" }, { "bytes", 0 },
			{ "time_s", "time" }, { "exposed_s", "exposed" },
			{ "step_share", "share of step" }, { "bps", "bandwidth" } } },
	{ TABLE_buffers, "Buffers at the peak",
		{ { "op", "defined by" }, { "kind", 0 }, { "bytes", 0 },
			{ "unpadded_bytes", "elements" }, { "padding_ratio", "padding" },
			{ "share", "share of peak" }, { "source_file", "source" }, { "shape", 0 },
			{ "scope", 0 } } },
	{ TABLE_memory, "Memory",
		{ { "device", 0 }, { "host", 0 }, { "capacity_bytes", "capacity" },
			{ "compiled_bytes", "planned" },
			{ "window_peak_bytes", "peak in the window" },
			{ "lifetime_peak_bytes", "heap peak ever" },
			{ "arguments_bytes", "arguments" }, { "temp_bytes", "temporaries" },
			{ "output_bytes", "outputs" }, { "other_live_bytes", "others" },
			{ "fragmentation", 0 } } },
	{ TABLE_live, "Alive when a snapshot was taken",
		{ { "source_file", "made by" }, { "function", 0 }, { "kind", 0 }, { "device", 0 },
			{ "count", 0 }, { "bytes", 0 }, { "share", "share of device" },
			{ "snapshot", 0 } } },
	{ TABLE_gaps, "Idle gaps",
		{ { "after", "op that waited" }, { "before", "op before" }, { "cause", 0 },
			{ "host_call", "on the host" }, { "host_activity", "in it" },
			{ "time_s", "length" }, { "step", 0 }, { "device", 0 }, { "host", 0 } } },
	{ TABLE_phases, "What the window was spent on",
		{ { "name", "phase" }, { "role", 0 }, { "marks", "annotations" },
			{ "count", "times" }, { "p50_s", "median" }, { "time_s", "in all" },
			{ "time_share", "share of window" }, { "modules", 0 },
			{ "step", "judged by --step" } } },
	{ TABLE_programs, "Programs",
		{ { "module", 0 }, { "role", 0 }, { "phase", 0 }, { "executions", 0 },
			{ "time_s", "device time" }, { "p50_s", "median" },
			{ "floor_s", "at least" }, { "unpredicted_ops", "without ops" },
			{ "compiled_bytes", "planned memory" }, { "has_hlo", "HLO" } } },
	{ TABLE_compiles, "Compilations",
		{ { "module", 0 }, { "programs", 0 }, { "start_s", "start" },
			{ "time_s", "length" }, { "in_step", "in a step" } } },
	{ TABLE_devices, "Devices",
		{ { "device", 0 }, { "host", 0 }, { "core_type", "core" }, { "chip", 0 },
			{ "steps", 0 }, { "events", 0 }, { "busy_ratio", "busy" },
			{ "idle_ratio", "idle" }, { "peak_flops", "peak" },
			{ "hbm_bps", "HBM bandwidth" }, { "hbm_bytes", "HBM" } } },
	{ TABLE_quality, "Quality of the data",
		{ { "name", "check" }, { "ok", "holds" }, { "detail", 0 } } },
};

/* A column that is shown: some row has a value. */
struct shown {
	const struct column *column, *line;
	const char *label;
};

static bool has_values(
	const struct table_def *def, const struct table *t, ptrdiff_t rows, const struct column *c)
{
	for (ptrdiff_t i = 0; i < rows; i++) {
		const void *row = table_row(def, t, i);
		if (!cell_is_null(c, row) && (c->type == COLUMN_REAL || cell_text(c, row).len))
			return true;
	}
	return false;
}

/* Where nothing told steps apart, what is labelled for a step is of the capture. */
static const char *label_of(const struct report *r, const struct pick *pick)
{
	static const struct label {
		struct str step;
		const char *capture;
	} labels[] = {
		{ STR_INIT("per step"), "in the capture" },
		{ STR_INIT("share of step"), "share of capture" },
	};
	struct str said = str_from(pick->label ? pick->label : pick->column);
	const struct label *l = is_whole_capture(r) ? NAMED(labels, COUNT_OF(labels), said) : NULL;
	return l ? l->capture : said.p;
}

/* The first is always shown.  Returns how many are. */
static int choose(
	const struct report *r, const struct spec *spec, ptrdiff_t rows, struct shown ret[COLUMNS])
{
	const struct table_def *def = &table_defs[spec->id];
	int count = 0;
	for (int i = 0; i < COLUMNS && spec->columns[i].column; i++) {
		struct str name = str_from(spec->columns[i].column);
		const struct column *c = table_column(def, name);
		if (c && (!i || has_values(def, &r->tables.items[spec->id], rows, c)))
			ret[count++] = (struct shown){
				.column = c,
				.line = str_eq(name, STR("source_file"))
						? table_column(def, STR("source_line"))
						: NULL,
				.label = label_of(r, &spec->columns[i]),
			};
	}
	return count;
}

/* The end of a path tells more than its beginning. */
static struct str tail_of(struct str path, struct arena *keep)
{
	struct str end = path_end(path);
	return end.len < path.len ? arena_fmt(keep, "\xe2\x80\xa6/%.*s", STR_ARG(end)) : path;
}

static struct html_cell cell_of(
	const struct shown *s, const void *row, bool is_roomy, struct arena *keep)
{
	const struct column *c = s->column;
	struct html_cell cell = { .is_number = c->type == COLUMN_REAL };
	if (cell.is_number) {
		double value = cell_real(c, row);
		if (cell_is_null(c, row))
			return cell;
		cell.text = unit_text(keep, value, c->unit);
		if (isfinite(value))
			cell.value = double_text(keep, value);
		return cell;
	}
	struct str whole = text_clean(keep, cell_text(c, row));
	if (s->line)
		whole = place_text(whole, cell_real(s->line, row), keep);
	cell.text = s->line    ? html_clip(tail_of(whole, keep), TEXT_COLUMNS, keep)
		    : is_roomy ? text_brief(keep, whole)
			       : html_clip(whole, TEXT_COLUMNS, keep);
	if (!str_eq(cell.text, whole))
		cell.whole = whole;
	return cell;
}

static struct html_table table_of(const struct report *r, const struct spec *spec, ptrdiff_t most,
	struct str ids, struct arena *keep)
{
	const struct table_def *def = &table_defs[spec->id];
	const struct table *t = &r->tables.items[spec->id];
	double total = r->row_totals[spec->id];
	ptrdiff_t row_count = t->count < most ? t->count : most;
	struct shown shown[COLUMNS];
	int count = choose(r, spec, row_count, shown);
	struct html_row *rows = arena_make(keep, struct html_row, row_count);
	struct html_column *columns = arena_make(keep, struct html_column, count);
	for (int k = 0; k < count; k++)
		columns[k] = (struct html_column){
			.name = str_from(shown[k].label),
			.meaning = shown[k].column->meaning,
			.is_number = shown[k].column->type == COLUMN_REAL,
			.is_choice = shown[k].column->words != NULL,
		};
	for (ptrdiff_t i = 0; i < row_count; i++) {
		struct html_cell *cells = arena_make(keep, struct html_cell, count);
		for (int k = 0; k < count; k++)
			cells[k] = cell_of(&shown[k], table_row(def, t, i),
				k == 0 || count <= FEW_COLUMNS, keep);
		rows[i] = (struct html_row){ .head = cells[0].text,
			.head_whole = cells[0].whole,
			.head_value = cells[0].value,
			.cells = LIST(cells + 1, count - 1) };
	}
	return (struct html_table){
		.id = arena_fmt(keep, "%.*stable-%.*s", STR_ARG(ids), STR_ARG(def->name)),
		.title = str_from(spec->title),
		.meaning = def->meaning,
		.count = total > (double)row_count
				 ? arena_fmt(keep, "the first %td of %.0f rows", row_count, total)
				 : arena_fmt(
					   keep, "%td row%s", row_count, row_count == 1 ? "" : "s"),
		.columns = LIST(columns, count),
		.rows = LIST(rows, row_count),
	};
}

void html_tables(const struct report *r, struct arena *keep, struct html_report *ret)
{
	struct html_table *items = arena_make(keep, struct html_table, COUNT_OF(specs));
	ptrdiff_t count = 0;
	for (int i = 0; i < COUNT_OF(specs); i++)
		if (r->tables.items[specs[i].id].count)
			items[count++] = table_of(r, &specs[i], REPORT_MAX_ROWS, ret->ids, keep);
	ret->tables = LIST(items, count);
}
