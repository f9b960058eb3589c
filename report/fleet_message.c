/*
 * What a message says of a fleet: what is wasted, where, whose it is, what gives it back, and what
 * moved.  See message.h.
 */
#include <math.h>

#include "base/text.h"
#include "report/alert.h"
#include "report/fleet_view.h"
#include "report/message.h"
#include "report/prose.h"

/* ---- cells ----------------------------------------------------------------------------------- */

static struct str prose(
	const struct fleet_answer *a, ptrdiff_t row, const char *column, struct arena *keep)
{
	return text_clean(keep, fleet_word(a, row, column));
}

/* What a profile or its owner says, cut. */
static struct str name(
	const struct fleet_answer *a, ptrdiff_t row, const char *column, struct arena *keep)
{
	return text_cut(keep, prose(a, row, column, keep), MESSAGE_NAME_BYTES);
}

static void part_costliest(struct out *o, struct str rule)
{
	if (rule.len)
		out_fmt(out_part(o, "; "), "%.*s costs most", STR_ARG(rule));
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
		out_fmt(out_part(d->text, "; "), "owner: %.*s", STR_ARG(d->item->owner));
}

/* An old problem is another one than a new one. */
static void part_often(struct draft *d, const struct fleet_answer *a, ptrdiff_t row)
{
	struct message_item *m = d->item;
	m->seen_before = fleet_real(a, row, "seen_before");
	m->ran_before = fleet_real(a, row, "ran_before");
	if (m->ran_before > 0)
		out_fmt(out_part(d->text, "; "), "found before in %.0f of %.0f window%s",
			m->seen_before, m->ran_before, m->ran_before == 1 ? "" : "s");
}

static void put_missing(const struct fleet_answer *a, ptrdiff_t row, struct draft *d)
{
	struct message_item *m = d->item;
	out_fmt(d->heading, "Missing: %.*s", STR_ARG(m->workload));
	out_str(d->text, fleet_absence_text(a, row, d->keep));
	part_owner(d);
}

static void put_waste(const struct fleet_answer *a, ptrdiff_t row, struct draft *d)
{
	struct message_item *m = d->item;
	double share = fleet_real(a, row, "share"), before = fleet_real(a, row, "share_before");
	struct str ratio = fleet_ratio_text(a, row, "roofline_ratio", d->keep);
	out_fmt(d->heading, "%.*s could be had back: %.*s",
		STR_ARG(fleet_back_text(a, row, d->keep)), STR_ARG(m->workload));
	part_costliest(d->text, m->rule);
	part_often(d, a, row);
	out_fmt(out_part(d->text, "; "), "%.*s of its step time",
		STR_ARG(ratio_text(d->keep, share)));
	if (before >= 0)
		out_fmt(d->text, " (%.*s before)", STR_ARG(ratio_text(d->keep, before)));
	if (ratio.p)
		out_fmt(out_part(d->text, "; "), "%.*s of its roofline", STR_ARG(ratio));
	part_owner(d);
}

static void put_rule(const struct fleet_answer *a, ptrdiff_t row, struct draft *d)
{
	struct message_item *m = d->item;
	double workloads = fleet_real(a, row, "workloads");
	out_fmt(d->heading, "%.*s: ", STR_ARG(m->rule));
	if (m->chips >= 0)
		out_fmt(d->heading, "%.*s in ", STR_ARG(fleet_back_text(a, row, d->keep)));
	out_fmt(d->heading, "%.0f workload%s", workloads, workloads == 1 ? "" : "s");
	out_fmt(out_part(d->text, "; "), "%.*s", STR_ARG(prose(a, row, "title", d->keep)));
	if (m->message.len)
		out_fmt(out_part(d->text, "; "), "for example: %.*s", STR_ARG(m->message));
}

static void put_machine(const struct fleet_answer *a, ptrdiff_t row, struct draft *d)
{
	struct message_item *m = d->item;
	struct str device = name(a, row, "device", d->keep);
	out_fmt(d->heading, "Slow machine: %.*s", STR_ARG(name(a, row, "host", d->keep)));
	if (m->chips >= 0)
		out_fmt(d->heading, ", for which %.*s wait",
			STR_ARG(fleet_back_text(a, row, d->keep)));
	out_fmt(out_part(d->text, "; "),
		"%.2f times the median device of its jobs, in %.0f of %.0f workloads",
		fleet_real(a, row, "slowness"), fleet_real(a, row, "workloads"),
		fleet_real(a, row, "of_workloads"));
	if (device.p)
		out_fmt(out_part(d->text, "; "), "it is %.*s alone", STR_ARG(device));
	out_z(out_part(d->text, "; "), "take it out and have it serviced");
}

static void put_problem(const struct fleet_answer *a, ptrdiff_t row, struct draft *d)
{
	struct message_item *m = d->item;
	bool is_new = str_eq(fleet_word(a, row, "state"), STR("new"));
	out_fmt(d->heading, "%s: %.*s in %.*s", is_new ? "New" : "Fixed", STR_ARG(m->rule),
		STR_ARG(m->workload));
	if (m->message.len)
		out_fmt(out_part(d->text, "; "), "%s%.*s",
			is_new ? "" : "it was: ", STR_ARG(m->message));
	if (m->chips > 0)
		out_fmt(out_part(d->text, "; "), "%s %.*s", is_new ? "costs" : "gives back",
			STR_ARG(fleet_chips_text(m->chips, d->keep)));
	if (is_new)
		part_often(d, a, row);
	if (!out_text(d->text).len)
		out_fmt(out_part(d->text, "; "), "%.*s before, %.*s now",
			STR_ARG(prose(a, row, "before", d->keep)),
			STR_ARG(prose(a, row, "now", d->keep)));
}

static void put_mover(const struct fleet_answer *a, ptrdiff_t row, struct draft *d)
{
	struct message_item *m = d->item;
	double work = fleet_real(a, row, "work_change");
	m->state = fleet_word(a, row, "state");
	bool is_other = str_eq(m->state, STR("other-work")), is_slower = m->change > 0;
	m->mark = is_other    ? STR("\xf0\x9f\x93\x90")
		  : is_slower ? m->mark
			      : STR("\xf0\x9f\x93\x89");
	if (is_other)
		out_z(d->heading, "Other work");
	else
		out_fmt(d->heading, "%s by %.*s", is_slower ? "Slower" : "Faster",
			STR_ARG(ratio_text(d->keep, fabs(m->change))));
	out_fmt(d->heading, ": %.*s", STR_ARG(m->workload));
	out_fmt(out_part(d->text, "; "), "%.*s per step, was %.*s",
		STR_ARG(time_text(d->keep, fleet_real(a, row, "now_s"))),
		STR_ARG(time_text(d->keep, fleet_real(a, row, "before_s"))));
	if (fabs(work) >= 0.01)
		out_fmt(out_part(d->text, "; "), "its roofline time %s by %.*s",
			work > 0 ? "rose" : "fell", STR_ARG(ratio_text(d->keep, fabs(work))));
	if (is_other)
		out_z(d->text, ": another batch or model, which the job file can say");
	if (m->chips > 0 || m->chips < 0)
		out_fmt(out_part(d->text, "; "), "%.*s %s",
			STR_ARG(fleet_chips_text(fabs(m->chips), d->keep)),
			is_slower ? "lost" : "won");
	if (is_slower && !is_other)
		part_costliest(d->text, m->rule);
	part_owner(d);
}

static void put_waiver(const struct fleet_answer *a, ptrdiff_t row, struct draft *d)
{
	struct message_item *m = d->item;
	out_fmt(d->heading, "Waiver %s %.*s: %.*s in %.*s",
		fleet_real(a, row, "days_left") <= 0 ? "ended" : "ends",
		STR_ARG(name(a, row, "ends", d->keep)), STR_ARG(m->rule), STR_ARG(m->workload));
	out_fmt(out_part(d->text, "; "), "%.*s", STR_ARG(m->message));
}

static void put_unjudged(const struct fleet_answer *a, ptrdiff_t row, struct draft *d)
{
	struct message_item *m = d->item;
	double runs = fleet_real(a, row, "runs");
	out_fmt(d->heading, "%.0f run%s: %.*s", runs, runs == 1 ? "" : "s",
		STR_ARG(name(a, row, "outcome", d->keep)));
	out_str(d->text, m->message.len ? m->message : STR("no reason is given"));
}

/* ---- which rows become items ----------------------------------------------------------------- */

enum { SECTIONS = 9, SECTION_MOST = 3 }; /* of a section: a chat is glanced at */
/* As they are shown. */
static const struct section {
	enum fleet_id id;
	struct str state, mark;
	void (*put)(const struct fleet_answer *a, ptrdiff_t row, struct draft *d);
} sections[SECTIONS] = {
	{ FLEET_MISSING, STR_INIT("missing"), STR_INIT("\xf0\x9f\x95\xb3"), put_missing },
	{ FLEET_RANKING, STR_INIT("waste"), STR_INIT("\xf0\x9f\x94\xa5"), put_waste },
	{ FLEET_RULES, STR_INIT("rule"), STR_INIT("\xf0\x9f\x94\xa7"), put_rule },
	{ FLEET_MACHINES, STR_INIT("machine"), STR_INIT("\xf0\x9f\x90\x8c"), put_machine },
	{ FLEET_PROBLEMS, STR_INIT("new"), STR_INIT("\xe2\x9d\x8c"), put_problem },
	{ FLEET_MOVERS, STR_INIT("slower"), STR_INIT("\xf0\x9f\x93\x88"), put_mover },
	{ FLEET_PROBLEMS, STR_INIT("fixed"), STR_INIT("\xe2\x9c\x85"), put_problem },
	{ FLEET_WAIVERS, STR_INIT("waiver"), STR_INIT("\xe2\x8f\xb3"), put_waiver },
	{ FLEET_COVERAGE, STR_INIT("unjudged"), STR_INIT("\xe2\x9d\x94"), put_unjudged },
};

/*
 * Two weeks: the next report comes too late to write another waiver in time.  One that has ended is
 * told of for as long.
 */
enum { SOON_DAYS = 14 };

/* Whether a row of its answer is an item of a section. */
static bool takes(const struct section *s, const struct fleet_answer *a, ptrdiff_t row)
{
	if (s->id == FLEET_MISSING)
		return fleet_real(a, row, "is_new") > 0;
	if (s->id == FLEET_RANKING)
		return fleet_real(a, row, "share") > 0 && fleet_real(a, row, "chips_back") > 0;
	if (s->id == FLEET_PROBLEMS)
		return str_eq(fleet_word(a, row, "state"), s->state);
	if (s->id == FLEET_WAIVERS)
		return fabs(fleet_real(a, row, "days_left")) <= SOON_DAYS;
	return s->id != FLEET_COVERAGE || !str_eq(fleet_word(a, row, "outcome"), STR("judged"));
}

/* How many rows a section could show. */
static ptrdiff_t section_rows(const struct section *s, const struct fleet_report *r)
{
	const struct fleet_answer *a = &r->answers[s->id];
	ptrdiff_t count = 0;
	for (ptrdiff_t row = 0; row < a->count; row++)
		count += takes(s, a, row);
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

/* The first of these columns that the answer has. */
static const char *column_of(const struct fleet_answer *a, const char *const names[3])
{
	int i = 0;
	while (i < 2 && fleet_column(a, str_from(names[i])) < 0)
		i++;
	return names[i];
}

/* Fields that are columns. */
static void take_columns(
	const struct fleet_answer *a, ptrdiff_t row, struct message_item *m, struct arena *keep)
{
	static const char *const rules[] = { "top_rule", "rule", "rule" };
	static const char *const chips[] = { "chips_lost", "chips_back", "chips" };
	static const char *const messages[] = { "example", "note", "message" };
	m->workload = name(a, row, "workload", keep);
	m->owner = name(a, row, "owner", keep);
	m->rule = name(a, row, column_of(a, rules), keep);
	m->message = prose(a, row, column_of(a, messages), keep);
	m->chips = fleet_real(a, row, column_of(a, chips));
	m->chip_hours = fleet_real(a, row, "chip_hours_back");
	m->dollars = fleet_real(a, row, "dollars_back");
	m->change = fleet_real(a, row, "change");
}

static struct message_item item_of(const struct section *s, const struct fleet_answer *a,
	ptrdiff_t row, const struct told *t, const struct message_room *room, struct arena *keep)
{
	struct message_item m = message_item_empty();
	struct draft d = { &m, out_memory(keep), out_memory(keep), keep, t->report->owner.p };
	m.state = s->state;
	m.mark = s->mark;
	take_columns(a, row, &m, keep);
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
			if (!takes(&sections[s], a, row))
				continue;
			items[count++] = item_of(&sections[s], a, row, t, room, keep);
			quota[s]--;
		}
	}
	return (struct template_list){ items, count };
}

/* ---- the head -------------------------------------------------------------------------------- */

/* Most have the names of their columns; `runs` means more than its. */
static void set_totals(struct message *m, const struct fleet_answer *totals)
{
	for (const struct record_field *f = message_record.fields; f->name; f++)
		if (f->type == RECORD_REAL && fleet_column(totals, str_from(f->name)) >= 0)
			*(double *)(void *)((char *)m + f->offset) = fleet_real(totals, 0, f->name);
	m->new_count = fleet_real(totals, 0, "new_problems");
	m->fixed_count = fleet_real(totals, 0, "fixed_problems");
	m->slower_count = fleet_real(totals, 0, "slower");
	m->faster_count = fleet_real(totals, 0, "faster");
}

static struct message make(
	const void *of, ptrdiff_t shown, const struct message_room *room, struct arena *keep)
{
	const struct told *t = of;
	const struct fleet_report *r = t->report;
	struct message m = message_empty();
	bool has_week = fleet_has_week(r);
	struct str promise = fleet_said(r, SAID_promise, keep);
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
		fleet_paragraph(r, 1u << SAID_promise | 1u << SAID_missing, keep), room->text);
	m.version = r->tool_version;
	m.from = r->window.from;
	m.to = r->window.to;
	if (has_week)
		set_totals(&m, &r->answers[FLEET_TOTALS]);
	fleet_coverage(r, &m.judged_runs, &m.runs);
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
