/*
 * What a message says of a fleet: what is wasted, where, whose it is, what gives it back, and what
 * moved.  See message.h.
 */
#include <math.h>

#include "base/text.h"
#include "report/alert.h"
#include "report/fleet_view.h"
#include "report/message.h"
#include "report/model.h"
#include "report/prose.h"

/* ---- cells ----------------------------------------------------------------------------------- */

static double real(const struct fleet_answer *a, ptrdiff_t row, const char *column)
{
	return fleet_cell(a, row, str_from(column))->real;
}

/* What a profile or its owner says, cut; missing for NULL. */
static struct str name(
	const struct fleet_answer *a, ptrdiff_t row, const char *column, struct arena *keep)
{
	const struct fleet_cell *cell = fleet_cell(a, row, str_from(column));
	if (cell->is_null)
		return MISSING;
	return text_cut(keep, text_clean(keep, cell->text), MESSAGE_NAME_BYTES);
}

static struct str prose(
	const struct fleet_answer *a, ptrdiff_t row, const char *column, struct arena *keep)
{
	const struct fleet_cell *cell = fleet_cell(a, row, str_from(column));
	return cell->is_null ? MISSING : text_clean(keep, cell->text);
}

static struct str count_text(double count, struct arena *keep)
{
	return fleet_number_text(count, UNIT_COUNT, keep);
}

/* Begins another part of a sentence. */
static struct out *next(struct out *o)
{
	out_z(o, out_text(o).len ? "; " : "");
	return o;
}

static void part_costliest(struct out *o, struct str rule)
{
	if (rule.len)
		out_fmt(next(o), "%.*s costs most", STR_ARG(rule));
}

static struct str chips_text(double count, struct arena *keep)
{
	struct str text = count_text(count, keep);
	return arena_fmt(keep, "%.*s chip%s", STR_ARG(text), str_eq(text, STR("1")) ? "" : "s");
}

/* ---- items ----------------------------------------------------------------------------------- */

/* What a message is made of. */
struct told {
	const struct fleet_report *report;
	const struct fleet_pages *pages;
};

/* An item's heading and text before they are cut. */
struct draft {
	struct message_item *item;
	struct out *heading, *text;
	struct arena *keep;
	bool is_owners; /* the message is one owner's, who needs no telling */
};

static void part_owner(struct draft *d)
{
	if (d->item->owner.len && !d->is_owners)
		out_fmt(next(d->text), "owner: %.*s", STR_ARG(d->item->owner));
}

/* An old problem is another one than a new one. */
static void part_often(struct draft *d, const struct fleet_answer *a, ptrdiff_t row)
{
	struct message_item *m = d->item;
	m->seen_before = real(a, row, "seen_before");
	m->ran_before = real(a, row, "ran_before");
	if (m->ran_before > 0)
		out_fmt(next(d->text), "found before in %.0f of %.0f window%s", m->seen_before,
			m->ran_before, m->ran_before == 1 ? "" : "s");
}

static void put_missing(const struct fleet_answer *a, ptrdiff_t row, struct draft *d)
{
	struct message_item *m = d->item;
	m->state = STR("missing");
	m->mark = STR("\xf0\x9f\x95\xb3");
	m->owner = name(a, row, "owner", d->keep);
	out_fmt(d->heading, "Missing: %.*s", STR_ARG(m->workload));
	out_str(d->text, fleet_absence_text(a, row, d->keep));
	part_owner(d);
}

static void put_waste(const struct fleet_answer *a, ptrdiff_t row, struct draft *d)
{
	struct message_item *m = d->item;
	double share = real(a, row, "share"), before = real(a, row, "share_before");
	struct str ratio = fleet_ratio_text(a, row, STR("roofline_ratio"), d->keep);
	m->state = STR("waste");
	m->mark = STR("\xf0\x9f\x94\xa5");
	m->rule = name(a, row, "top_rule", d->keep);
	m->owner = name(a, row, "owner", d->keep);
	m->chips = real(a, row, "chips_back");
	m->chip_hours = real(a, row, "chip_hours_back");
	m->dollars = real(a, row, "dollars_back");
	out_fmt(d->heading, "%.*s could be had back: %.*s",
		STR_ARG(fleet_back_text(a, row, d->keep)), STR_ARG(m->workload));
	part_costliest(d->text, m->rule);
	part_often(d, a, row);
	out_fmt(next(d->text), "%.*s of its step time", STR_ARG(ratio_text(d->keep, share)));
	if (before >= 0)
		out_fmt(d->text, " (%.*s before)", STR_ARG(ratio_text(d->keep, before)));
	if (ratio.p)
		out_fmt(next(d->text), "%.*s of its roofline", STR_ARG(ratio));
	part_owner(d);
}

static void put_rule(const struct fleet_answer *a, ptrdiff_t row, struct draft *d)
{
	struct message_item *m = d->item;
	double workloads = real(a, row, "workloads");
	m->state = STR("rule");
	m->mark = STR("\xf0\x9f\x94\xa7");
	m->rule = name(a, row, "rule", d->keep);
	m->chips = real(a, row, "chips_back");
	m->chip_hours = real(a, row, "chip_hours_back");
	m->dollars = real(a, row, "dollars_back");
	m->message = prose(a, row, "example", d->keep);
	out_fmt(d->heading, "%.*s: ", STR_ARG(m->rule));
	if (m->chips >= 0)
		out_fmt(d->heading, "%.*s in ", STR_ARG(fleet_back_text(a, row, d->keep)));
	out_fmt(d->heading, "%.0f workload%s", workloads, workloads == 1 ? "" : "s");
	out_fmt(next(d->text), "%.*s", STR_ARG(prose(a, row, "title", d->keep)));
	if (m->message.len)
		out_fmt(next(d->text), "for example: %.*s", STR_ARG(m->message));
}

static void put_machine(const struct fleet_answer *a, ptrdiff_t row, struct draft *d)
{
	struct message_item *m = d->item;
	struct str device = name(a, row, "device", d->keep);
	m->state = STR("machine");
	m->mark = STR("\xf0\x9f\x90\x8c");
	m->chips = real(a, row, "chips_back");
	m->chip_hours = real(a, row, "chip_hours_back");
	m->dollars = real(a, row, "dollars_back");
	out_fmt(d->heading, "Slow machine: %.*s", STR_ARG(name(a, row, "host", d->keep)));
	if (m->chips >= 0)
		out_fmt(d->heading, ", for which %.*s wait",
			STR_ARG(fleet_back_text(a, row, d->keep)));
	out_fmt(next(d->text),
		"%.2f times the median device of its jobs, in %.0f of %.0f workloads",
		real(a, row, "slowness"), real(a, row, "workloads"), real(a, row, "of_workloads"));
	if (device.p)
		out_fmt(next(d->text), "it is %.*s alone", STR_ARG(device));
	out_z(next(d->text), "take it out and have it serviced");
}

static void put_problem(const struct fleet_answer *a, ptrdiff_t row, struct draft *d)
{
	struct message_item *m = d->item;
	bool is_new = str_eq(prose(a, row, "state", d->keep), STR("new"));
	m->state = is_new ? STR("new") : STR("fixed");
	m->mark = is_new ? STR("\xe2\x9d\x8c") : STR("\xe2\x9c\x85");
	m->rule = name(a, row, "rule", d->keep);
	m->chips = real(a, row, "chips");
	m->message = prose(a, row, "message", d->keep);
	out_fmt(d->heading, "%s: %.*s in %.*s", is_new ? "New" : "Fixed", STR_ARG(m->rule),
		STR_ARG(m->workload));
	if (m->message.len)
		out_fmt(next(d->text), "%s%.*s", is_new ? "" : "it was: ", STR_ARG(m->message));
	if (m->chips > 0)
		out_fmt(next(d->text), "%s %.*s", is_new ? "costs" : "gives back",
			STR_ARG(chips_text(m->chips, d->keep)));
	if (is_new)
		part_often(d, a, row);
	if (!out_text(d->text).len)
		out_fmt(next(d->text), "%.*s before, %.*s now",
			STR_ARG(prose(a, row, "before", d->keep)),
			STR_ARG(prose(a, row, "now", d->keep)));
}

static void put_mover(const struct fleet_answer *a, ptrdiff_t row, struct draft *d)
{
	struct message_item *m = d->item;
	double lost = real(a, row, "chips_lost");
	m->change = real(a, row, "change");
	bool is_slower = m->change > 0;
	m->state = is_slower ? STR("slower") : STR("faster");
	m->mark = is_slower ? STR("\xf0\x9f\x93\x88") : STR("\xf0\x9f\x93\x89");
	m->rule = name(a, row, "top_rule", d->keep);
	m->owner = name(a, row, "owner", d->keep);
	m->chips = lost;
	out_fmt(d->heading, "%s by %.*s: %.*s", is_slower ? "Slower" : "Faster",
		STR_ARG(ratio_text(d->keep, fabs(m->change))), STR_ARG(m->workload));
	out_fmt(next(d->text), "%.*s per step, was %.*s",
		STR_ARG(time_text(d->keep, real(a, row, "now_s"))),
		STR_ARG(time_text(d->keep, real(a, row, "before_s"))));
	if (lost > 0 || lost < 0)
		out_fmt(next(d->text), "%.*s %s", STR_ARG(chips_text(fabs(lost), d->keep)),
			is_slower ? "lost" : "won");
	if (is_slower)
		part_costliest(d->text, m->rule);
	part_owner(d);
}

static void put_waiver(const struct fleet_answer *a, ptrdiff_t row, struct draft *d)
{
	struct message_item *m = d->item;
	m->state = STR("waiver");
	m->mark = STR("\xe2\x8f\xb3");
	m->rule = name(a, row, "rule", d->keep);
	m->message = prose(a, row, "note", d->keep);
	out_fmt(d->heading, "Waiver %s %.*s: %.*s in %.*s",
		real(a, row, "days_left") <= 0 ? "ended" : "ends",
		STR_ARG(name(a, row, "ends", d->keep)), STR_ARG(m->rule), STR_ARG(m->workload));
	out_fmt(next(d->text), "%.*s", STR_ARG(m->message));
}

static void put_unjudged(const struct fleet_answer *a, ptrdiff_t row, struct draft *d)
{
	struct message_item *m = d->item;
	double runs = real(a, row, "runs");
	m->state = STR("unjudged");
	m->mark = STR("\xe2\x9d\x94");
	m->message = prose(a, row, "example", d->keep);
	out_fmt(d->heading, "%.0f run%s: %.*s", runs, runs == 1 ? "" : "s",
		STR_ARG(name(a, row, "outcome", d->keep)));
	out_str(d->text, m->message.len ? m->message : STR("no reason is told"));
}

/* ---- which rows become items ----------------------------------------------------------------- */

static bool is_newly_missing(const struct fleet_answer *a, ptrdiff_t row)
{
	return real(a, row, "is_new") > 0;
}

static bool wastes(const struct fleet_answer *a, ptrdiff_t row)
{
	return real(a, row, "share") > 0 && real(a, row, "chips_back") > 0;
}

static bool is_new(const struct fleet_answer *a, ptrdiff_t row)
{
	return str_eq(fleet_cell(a, row, STR("state"))->text, STR("new"));
}

static bool is_fixed(const struct fleet_answer *a, ptrdiff_t row)
{
	return str_eq(fleet_cell(a, row, STR("state"))->text, STR("fixed"));
}

/* Two weeks: the next report comes too late to write another waiver in time.  One that has ended is
 * told of for as long. */
static bool ends_soon(const struct fleet_answer *a, ptrdiff_t row)
{
	return fabs(real(a, row, "days_left")) <= 14;
}

static bool is_unjudged(const struct fleet_answer *a, ptrdiff_t row)
{
	return !str_eq(fleet_cell(a, row, STR("outcome"))->text, STR("judged"));
}

/* Beyond noise, or large enough for noise to matter. */
static bool is_felt(const struct fleet_answer *a, ptrdiff_t row)
{
	return fabs(real(a, row, "change")) >= 0.05 || fabs(real(a, row, "chips_lost")) >= 1;
}

static bool any(const struct fleet_answer *a, ptrdiff_t row)
{
	(void)a;
	(void)row;
	return true;
}

enum { SECTIONS = 9, SECTION_MOST = 3 }; /* of a section: a chat is glanced at */
/* As they are shown. */
static const struct section {
	enum fleet_id id;
	bool (*takes)(const struct fleet_answer *a, ptrdiff_t row);
	void (*put)(const struct fleet_answer *a, ptrdiff_t row, struct draft *d);
} sections[SECTIONS] = {
	{ FLEET_MISSING, is_newly_missing, put_missing },
	{ FLEET_RANKING, wastes, put_waste },
	{ FLEET_RULES, any, put_rule },
	{ FLEET_MACHINES, any, put_machine },
	{ FLEET_PROBLEMS, is_new, put_problem },
	{ FLEET_MOVERS, is_felt, put_mover },
	{ FLEET_PROBLEMS, is_fixed, put_problem },
	{ FLEET_WAIVERS, ends_soon, put_waiver },
	{ FLEET_COVERAGE, is_unjudged, put_unjudged },
};

/* How many rows a section could show. */
static ptrdiff_t section_rows(const struct section *s, const struct fleet_report *r)
{
	const struct fleet_answer *a = &r->answers[s->id];
	ptrdiff_t count = 0;
	for (ptrdiff_t row = 0; row < a->count; row++)
		count += s->takes(a, row);
	return count;
}

static ptrdiff_t at_most(ptrdiff_t count, ptrdiff_t most)
{
	return count < most ? count : most;
}

/* Each section gets one in turn, so that none fills the message alone. */
static void share_out(const struct fleet_report *r, ptrdiff_t shown, ptrdiff_t quota[SECTIONS])
{
	ptrdiff_t rows[SECTIONS];
	for (int s = 0; s < SECTIONS; s++) {
		rows[s] = at_most(section_rows(&sections[s], r), SECTION_MOST);
		quota[s] = 0;
	}
	for (ptrdiff_t round = 0; round < SECTION_MOST; round++)
		for (int s = 0; s < SECTIONS; s++)
			if (shown && round < rows[s]) {
				quota[s]++;
				shown--;
			}
}

static struct message_item item_of(const struct section *s, const struct fleet_answer *a,
	ptrdiff_t row, const struct told *t, const struct message_room *room, struct arena *keep)
{
	struct message_item m = message_item_empty();
	struct draft d = { &m, out_memory(keep), out_memory(keep), keep, t->report->owner.p };
	if (fleet_cell(a, row, STR("workload")))
		m.workload = name(a, row, "workload", keep);
	s->put(a, row, &d);
	m.url = fleet_page_link(&a->rows[row], t->pages, keep);
	if (!m.url.p)
		m.url = arena_fmt(keep, "#%.*s", STR_ARG(a->question->name));
	m.heading = text_cut(keep, out_text(d.heading), room->line);
	m.text = text_cut(keep, out_text(d.text), room->text);
	m.message = text_cut(keep, m.message, room->text);
	return m;
}

static struct template_list items_of(
	const struct told *t, ptrdiff_t shown, const struct message_room *room, struct arena *keep)
{
	const struct fleet_report *r = t->report;
	struct message_item *items = arena_make(keep, struct message_item, shown + 1);
	ptrdiff_t quota[SECTIONS], count = 0;
	share_out(r, shown, quota);
	for (int s = 0; s < SECTIONS; s++) {
		const struct fleet_answer *a = &r->answers[sections[s].id];
		for (ptrdiff_t row = 0; row < a->count && quota[s]; row++) {
			if (!sections[s].takes(a, row))
				continue;
			items[count++] = item_of(&sections[s], a, row, t, room, keep);
			quota[s]--;
		}
	}
	return (struct template_list){ items, count };
}

/* ---- the head -------------------------------------------------------------------------------- */

static void set_totals(struct message *m, const struct fleet_answer *totals)
{
	m->workloads = real(totals, 0, "workloads");
	m->chips = real(totals, 0, "chips");
	m->chips_back = real(totals, 0, "chips_back");
	m->chip_hours_back = real(totals, 0, "chip_hours_back");
	m->dollars_back = real(totals, 0, "dollars_back");
	m->share = real(totals, 0, "share");
	m->roofline_ratio = real(totals, 0, "roofline_ratio");
	m->mfu = real(totals, 0, "mfu");
	m->new_count = real(totals, 0, "new_problems");
	m->fixed_count = real(totals, 0, "fixed_problems");
	m->slower_count = real(totals, 0, "slower");
	m->faster_count = real(totals, 0, "faster");
}

static struct message make(
	const void *of, ptrdiff_t shown, const struct message_room *room, struct arena *keep)
{
	const struct told *t = of;
	const struct fleet_report *r = t->report;
	struct message m = message_empty();
	bool has_week = fleet_has_week(r);
	struct str promise = fleet_said(r, SAID_PROMISE, keep);
	m.event = STR("fleet");
	m.word = STR("FLEET");
	m.mark = STR("\xf0\x9f\x93\x8a");
	m.title = text_cut(keep,
		arena_fmt(keep, "rooflint: %.*s, %.*s",
			STR_ARG(r->owner.p ? text_clean(keep, r->owner) : STR("the fleet")),
			STR_ARG(fleet_window_text(r, keep))),
		room->line);
	m.change = promise.p  ? promise
		   : has_week ? STR("No run in this window was on a chip")
			      : STR("No usable run in this window");
	/* What gives back what is the change; what is missing is told item by item. */
	m.summary = text_cut(keep,
		fleet_paragraph(r, 1u << SAID_PROMISE | 1u << SAID_MISSING, keep), room->text);
	m.version = r->tool_version;
	m.from = r->window.from;
	m.to = r->window.to;
	fleet_coverage(r, &m.judged_runs, &m.runs);
	if (has_week)
		set_totals(&m, &r->answers[FLEET_TOTALS]);
	m.items = items_of(t, shown, room, keep);
	return m;
}

/* A window is told once it is over: it is itself what changed. */
struct message_source fleet_message(
	const struct fleet_report *r, const struct fleet_pages *pages, struct arena *keep)
{
	struct told *told = arena_make(keep, struct told, 1);
	struct message_source s = { .of = told, .make = make };
	*told = (struct told){ r, pages };
	double judged, runs;
	fleet_coverage(r, &judged, &runs);
	for (int i = 0; i < SECTIONS; i++) {
		ptrdiff_t rows = section_rows(&sections[i], r);
		s.count += at_most(rows, SECTION_MOST);
		s.total += rows;
	}
	s.is_due[NOTICE_ALWAYS] = true;
	s.is_due[NOTICE_CHANGE] = true;
	s.is_due[NOTICE_FAILURE] =
		r->answers[FLEET_RULES].count || judged < runs || fleet_is_silent(r);
	return s;
}
