/* What was read, and the first rows of the tables, for `check -vv`; `rooflint query` has all. */
#include "base/text.h"
#include "base/unit.h"
#include "report/prose.h"

enum { HEAD_COLUMNS = 8, CELL_COLUMNS = 32 };

/* What fits on a line and tells most; tables without a line here are seldom read by people. */
static const struct head {
	enum table_id id;
	const char *columns[HEAD_COLUMNS];
} heads[] = {
	{ TABLE_devices, { "device", "chip", "steps", "busy_ratio", "idle_ratio" } },
	{ TABLE_programs, { "module", "role", "executions", "p50_s", "floor_s" } },
	{ TABLE_phases, { "name", "role", "count", "p50_s", "time_s", "time_share", "step" } },
	{ TABLE_steps, { "device", "step", "time_s", "compute_s", "comms_exposed_s", "idle_s" } },
	{ TABLE_families,
		{ "name", "kind", "members", "time_share", "p50_s", "attainable_s", "bound" } },
	{ TABLE_collectives,
		{ "name", "kind", "group_size", "message_bytes", "exposed_s", "hidden_s" } },
	{ TABLE_memory, { "device", "capacity_bytes", "compiled_bytes", "window_peak_bytes" } },
	{ TABLE_buffers, { "op", "kind", "bytes", "share", "shape" } },
	{ TABLE_live, { "device", "kind", "bytes", "share", "source_file", "source_line" } },
	{ TABLE_gaps, { "device", "step", "time_s", "cause", "before", "after" } },
	{ TABLE_transfers, { "direction", "per_step", "bytes", "exposed_s" } },
	{ TABLE_compiles, { "module", "programs", "time_s", "in_step" } },
};

/* Cut at a character, with dots. */
static struct str shorten(struct arena *keep, struct str s)
{
	ptrdiff_t end = 0;
	if (text_columns(s) <= CELL_COLUMNS)
		return s;
	for (int columns = 0; columns < CELL_COLUMNS - 3; columns++)
		do
			end++;
		while (end < s.len && ((unsigned char)s.p[end] & 0xc0) == 0x80);
	return arena_fmt(keep, "%.*s...", STR_ARG(str_head(s, end)));
}

/* Row 0 holds the names. */
static struct str cell_shown(struct arena *keep, const struct column *c,
	const struct table_def *def, const struct table *t, ptrdiff_t row)
{
	const void *at = row ? table_row(def, t, row - 1) : NULL;
	if (!row)
		return c->name;
	if (cell_is_null(c, at))
		return STR("-");
	if (c->type == COLUMN_TEXT)
		return shorten(keep, text_clean(keep, cell_text(c, at)));
	return unit_text(keep, cell_real(c, at), c->unit);
}

static void put_grid(struct page *p, const struct head *head, const struct table_def *def,
	const struct table *t, ptrdiff_t rows)
{
	const struct column *columns[HEAD_COLUMNS];
	int widths[HEAD_COLUMNS] = { 0 }, count = 0;
	for (; count < HEAD_COLUMNS && head->columns[count]; count++) {
		columns[count] = table_column(def, str_from(head->columns[count]));
		for (ptrdiff_t i = 0; i <= rows; i++) {
			int wide = text_columns(cell_shown(p->keep, columns[count], def, t, i));
			widths[count] = widths[count] > wide ? widths[count] : wide;
		}
	}
	for (ptrdiff_t i = 0; i <= rows; i++) {
		int at = PAGE_LABEL;
		for (int k = 0; k < count; k++) {
			page_pad(p, at);
			page_tint(p, i ? TINT_NONE : TINT_DIM,
				cell_shown(p->keep, columns[k], def, t, i));
			at += widths[k] + 2;
		}
		page_line(p);
	}
}

static void put_tables(struct page *p, const struct report *r, bool only_seen)
{
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		const struct table *t = &r->tables.items[heads[i].id];
		const struct table_def *def = &table_defs[heads[i].id];
		ptrdiff_t rows = t->count < REPORT_SEEN_ROWS ? t->count : REPORT_SEEN_ROWS;
		if (!rows || (only_seen && !table_is_seen(heads[i].id)))
			continue;
		page_break(p);
		page_fmt(p, 0, "%.*s: %td of %.0f rows", STR_ARG(def->name), rows,
			r->row_totals[heads[i].id]);
		page_line(p);
		put_grid(p, &heads[i], def, t, rows);
	}
}

void page_tables(struct page *p, const struct report *r)
{
	put_tables(p, r, false);
}

void page_seen(struct page *p, const struct report *r)
{
	if (!table_count(&r->tables, families))
		return;
	page_break(p);
	page_fmt(p, 0,
		"What ran, as it was seen: without enough steps there is no verdict on time.");
	put_tables(p, r, true);
}

/* "worker-0.xplane.pb: 527 KiB, 4 planes, 35 lanes, 1 HLO module", and by whom. */
static struct str file_text(const struct files_row *f, struct arena *keep)
{
	struct str text = arena_fmt(keep, "%.*s", STR_ARG(f->file));
	if (f->bytes > 0) {
		struct str size = bytes_text(keep, f->bytes);
		text = arena_fmt(keep, "%.*s: %.*s, %.0f planes, %.0f lanes, %.0f HLO module%s",
			STR_ARG(text), STR_ARG(size), f->planes, f->lanes, f->modules,
			f->modules == 1 ? "" : "s");
	}
	if (f->writer.len)
		text = arena_fmt(keep, "%.*s, by %.*s", STR_ARG(text), STR_ARG(f->writer));
	return text;
}

void page_inputs(struct page *p, const struct report *r, int indent, bool all)
{
	const struct files_row *rows = table_rows(&r->tables, files);
	ptrdiff_t count = all ? table_count(&r->tables, files) : 0;
	double left = all ? r->row_totals[TABLE_files] - (double)count : 0;
	struct str text = fact_text(r, STR("inputs"));
	if (!text.len)
		return;
	page_line(p);
	page_fmt(p, indent, "read from %.*s", STR_ARG(text));
	for (ptrdiff_t i = 0; i < count; i++) {
		page_line(p);
		page_fmt(p, indent + 2, "%.*s", STR_ARG(file_text(&rows[i], p->keep)));
	}
	if (left > 0) {
		page_line(p);
		page_fmt(p, indent + 2, "and %.0f more", left);
	}
}
