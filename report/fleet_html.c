/*
 * The weekly page.  See fleet.h.
 *
 * Answers become tables by their columns' units alone; what a column means better is said in one
 * table here, so that a new column needs no code.
 */
#include <math.h>

#include "base/text.h"
#include "report/fleet_view.h"
#include "report/model.h"
#include "report/svg.h"

enum {
	TEXT_COLUMNS = 110,
	SOON_DAYS = 14,	  /* two more reports, and the waiver is over */
	SHORT_BYTES = 14, /* a date, most owners and chips */
};

static RECORD(fleet_section, "a section", NULL, FLEET_SECTION);
RECORD(fleet_page, "the weekly page", NULL, FLEET_PAGE);

/* ---- where a section stands ------------------------------------------------------------------ */

static const enum fleet_id in_main[] = { FLEET_MISSING, FLEET_BUDGETS, FLEET_GOODPUT, FLEET_RANKING,
	FLEET_RULES, FLEET_MACHINES };
static const enum fleet_id in_groups[] = { FLEET_BY_CHIP, FLEET_BY_OWNER, FLEET_BY_MODEL,
	FLEET_BY_SIZE };
static const enum fleet_id in_rest[] = { FLEET_TREND, FLEET_COVERAGE, FLEET_MOVERS, FLEET_CHANGES,
	FLEET_PROBLEMS, FLEET_WAIVERS, FLEET_QUALITY };

/* The column that names a line: the workload, else the first of texts. */
static struct str head_of(const struct fleet_answer *a)
{
	const struct fleet_column *c = a->question->columns;
	if (fleet_column(a, STR("workload")) >= 0)
		return STR("workload");
	while (!c->is_text)
		c++;
	return c->name;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* The order shows the rank, and the head stands in front. */
static bool is_shown(const struct fleet_answer *a, ptrdiff_t column, struct str head)
{
	struct str name = a->question->columns[column].name;
	return !str_eq(name, head) && !str_eq(name, STR("rank")) && fleet_is_shown(a, column);
}

static struct template_list columns_of(
	const struct fleet_answer *a, struct str head, struct arena *keep)
{
	const struct fleet_question *q = a->question;
	struct html_column *items = arena_make(keep, struct html_column, q->column_count + 1);
	ptrdiff_t count = 0;
	for (ptrdiff_t i = 0; i < q->column_count; i++) {
		const struct fleet_column *c = &q->columns[i];
		if (!is_shown(a, i, head) && !str_eq(c->name, head))
			continue;
		struct html_column *column = &items[str_eq(c->name, head) ? 0 : ++count];
		column->name = str_from(fleet_head(c->name).label);
		column->meaning = c->meaning;
		column->is_number = !c->is_text;
	}
	return LIST(items, count + 1);
}

static void set_text(struct str text, struct str *ret, struct str *whole, struct arena *keep)
{
	*ret = html_clip(text, TEXT_COLUMNS, keep);
	if (!str_eq(*ret, text_clean(keep, text)))
		*whole = text;
}

static double most_of(const struct fleet_answer *a, const char *column)
{
	double most = 0;
	for (ptrdiff_t i = 0; i < a->count; i++)
		most = fmax(most, fleet_real(a, i, column));
	return most;
}

static void value_of(const struct fleet_answer *a, ptrdiff_t row, ptrdiff_t column,
	struct html_cell *ret, struct arena *keep)
{
	const struct fleet_column *c = &a->question->columns[column];
	const struct fleet_cell *cell = &a->rows[row].cells[column];
	const struct fleet_head head = fleet_head(c->name);
	ret->label = str_from(head.label);
	ret->is_number = !c->is_text;
	ret->is_short = c->is_text && cell->text.len <= SHORT_BYTES;
	if (cell->is_null)
		return;
	set_text(fleet_text(a, row, column, keep), &ret->text, &ret->whole, keep);
	if (head.kind == HEAD_LOSS)
		ret->tone = cell->real > 0 ? STR("bad") : STR("good");
	if (head.kind == HEAD_DEADLINE && cell->real <= SOON_DAYS)
		ret->tone = STR("bad");
	if (head.kind == HEAD_PART)
		ret->picture = svg_share(cell->real, keep);
	if (head.kind == HEAD_AMOUNT)
		ret->picture = svg_share(cell->real / most_of(a, c->name.p), keep);
}

static struct str link_text(
	struct str before, const char *between, struct str page, struct arena *keep)
{
	struct out *link = out_memory(keep);
	out_uri(link,
		arena_fmt(keep, "%.*s%s%.*s", STR_ARG(before), between,
			STR_ARG(fleet_page_name(page, keep))),
		true);
	return out_text(link);
}

struct str fleet_page_link(
	const struct fleet_row *row, const struct fleet_pages *pages, struct arena *keep)
{
	bool has_page = row->run.p && map_get(&pages->runs, row->run) != MAP_NONE;
	return has_page ? link_text(pages->dir, "/", row->run, keep) : MISSING;
}

static void line_of(const struct fleet_answer *a, ptrdiff_t row, struct str head,
	const struct fleet_pages *pages, struct html_row *ret, struct arena *keep)
{
	const struct fleet_question *q = a->question;
	struct html_cell *cells = arena_make(keep, struct html_cell, q->column_count);
	ptrdiff_t count = 0;
	for (ptrdiff_t i = 0; i < q->column_count; i++)
		if (is_shown(a, i, head))
			value_of(a, row, i, &cells[count++], keep);
	ret->page = fleet_page_link(&a->rows[row], pages, keep);
	struct str group = fleet_word(a, row, "group");
	if (a->question == &fleet_questions[FLEET_BY_OWNER] && pages->owners.p &&
		!str_eq(group, STR("unknown")))
		ret->page = link_text(pages->owners, "", group, keep);
	ret->cells = LIST(cells, count);
	set_text(fleet_text(a, row, fleet_column(a, head), keep), &ret->head, &ret->head_whole,
		keep);
}

static struct fleet_section section_of(const struct fleet_report *r, enum fleet_id id,
	const struct fleet_pages *pages, struct arena *keep)
{
	const struct fleet_answer *a = &r->answers[id];
	struct str head = head_of(a);
	ptrdiff_t count = a->count < FLEET_LINES ? a->count : FLEET_LINES;
	struct html_row *lines = arena_make(keep, struct html_row, count);
	struct fleet_section s = { .id = a->question->name,
		.title = a->question->title,
		.about = a->question->about,
		.none = fleet_none_text(r, id) };
	for (ptrdiff_t i = 0; i < count; i++)
		line_of(a, i, head, pages, &lines[i], keep);
	if (a->total > count)
		s.more = arena_fmt(keep, "%td more in the JSON", a->total - count);
	s.lines = LIST(lines, count);
	s.columns = columns_of(a, head, keep);
	return s;
}

static struct template_list sections_of(const struct fleet_report *r, const enum fleet_id *ids,
	ptrdiff_t count, const struct fleet_pages *pages, struct arena *keep)
{
	struct fleet_section *items = arena_make(keep, struct fleet_section, count);
	for (ptrdiff_t k = 0; k < count; k++) {
		struct fleet_section *s = &items[k];
		*s = section_of(r, ids[k], pages, keep);
		s->is_narrow = ids == in_groups;
		/* Change points have their history drawn before them. */
		const struct html_row *lines = s->lines.items;
		for (ptrdiff_t i = 0; ids[k] == FLEET_CHANGES && i < s->lines.count; i++) {
			struct html_cell *cells = (struct html_cell *)lines[i].cells.items;
			struct str workload = fleet_word(&r->answers[ids[k]], i, "workload");
			for (ptrdiff_t c = 0; c < lines[i].cells.count; c++)
				if (cells[c].tone.p)
					cells[c].picture = svg_history(r, workload, keep);
		}
	}
	return LIST(items, count);
}

/* ---- the numbers at the top ------------------------------------------------------------------ */

static const struct tile {
	const char *column, *label, *note;
	const char *known; /* column with the workloads it is known of, where that varies */
	struct str section;
} tiles[] = {
	{ "chips_back", "Chips back", "whose work all fixes together give back", NULL,
		STR_INIT("ranking") },
	{ "share", "Recoverable", "of step time", NULL, STR_INIT("rules") },
	{ "chip_hours_back", "Chip-hours back", "of those in the usage file", NULL,
		STR_INIT("ranking") },
	{ "dollars_back", "Money back", "at the prices of the usage file", NULL,
		STR_INIT("ranking") },
	{ "roofline_ratio", "Of its roofline", "ideal over measured step time",
		"roofline_workloads", STR_INIT("by-chip") },
	{ "mfu", "MFU", "model FLOPs over peak", "mfu_workloads", STR_INIT("by-model") },
	{ "workloads", "Workloads", "with a usable run", NULL, STR_INIT("by-owner") },
};

static struct template_list tiles_of(const struct fleet_report *r, struct arena *keep)
{
	const struct fleet_answer *a = &r->answers[FLEET_TOTALS];
	struct html_fact *items = arena_make(keep, struct html_fact, COUNT_OF(tiles));
	ptrdiff_t count = 0;
	for (int i = 0; fleet_has_week(r) && i < COUNT_OF(tiles); i++) {
		const struct tile *tile = &tiles[i];
		if (isnan(fleet_real(a, 0, tile->column)))
			continue;
		/* "ideal over measured step time of 12 workloads; 31.0% before" */
		ptrdiff_t column = fleet_column(a, str_from(tile->column));
		struct out *note = out_memory(keep);
		out_z(note, tile->note);
		if (tile->known) {
			double known = fleet_real(a, 0, tile->known);
			out_fmt(note, " of %.0f workload%s", known, known == 1 ? "" : "s");
		}
		if (!isnan(fleet_real(a, 1, tile->column)))
			out_fmt(note, "; %.*s before", STR_ARG(fleet_text(a, 1, column, keep)));
		items[count++] = (struct html_fact){ .label = str_from(tile->label),
			.value = fleet_text(a, 0, column, keep),
			.note = out_text(note),
			.section = tile->section };
	}
	return LIST(items, count);
}

/* ---- the page -------------------------------------------------------------------------------- */

struct doc_template *report_fleet_load(struct str dir, struct arena *keep, struct diag *err)
{
	return template_load(dir, STR("fleet.xhtml"), &fleet_page_record, keep, err);
}

void report_fleet_html(const struct fleet_report *r, const struct fleet_pages *pages,
	const struct doc_template *t, struct arena *keep, struct out *out)
{
	struct xhtml x = xhtml_new(out, keep);
	struct fleet_page page = {
		.window = fleet_window_text(r, keep),
		.owner = r->owner,
		.before = str_head(r->window.before, 10),
#define X(R, kind, name, meaning) .name = fleet_said(r, SAID_##name, keep),
		FLEET_SAIDS(, X)
#undef X
			.version = r->tool_version,
		.weight = r->by_hours ? STR("chip-hours") : STR("chips"),
		.has_mfu =
			fleet_has_week(r) && fleet_real(&r->answers[FLEET_TOTALS], 0, "mfu") >= 0,
		.has_usage = r->has_usage,
		.tiles = tiles_of(r, keep),
		.main = sections_of(r, in_main, COUNT_OF(in_main), pages, keep),
		.groups = sections_of(r, in_groups, COUNT_OF(in_groups), pages, keep),
		.rest = sections_of(r, in_rest, COUNT_OF(in_rest), pages, keep),
	};
	page.title = arena_fmt(keep, "%.*s, %.*s",
		STR_ARG(r->owner.p ? text_clean(keep, r->owner) : STR("Fleet")),
		STR_ARG(page.window));
	template_fill_page(t, &page, &x);
	out_char(out, '\n');
}
