/*
 * The page: one HTML file with everything a reader needs, and nothing to fetch.
 *
 * Made from struct report and the templates alone.  A batch has an index on top, the worst first.
 * Ids are the same from run to run, so that links into a page keep their meaning: "rule-NAME" when
 * a page has one report, with "p-HASH-" before it otherwise.
 */
#include "report/html.h"

#include <assert.h>
#include <math.h>

#include "report/prose.h"
#include "report/svg.h"

/* Reports of a page that get pictures and tables: with more of them browsers crawl. */
#define HTML_MAX_WHOLE 40

/* ---- the numbers at the top ------------------------------------------------------------------ */

struct facts {
	struct html_fact *items;
	ptrdiff_t count, cap;
};

static void add_fact(struct facts *f, const char *label, struct str value, struct str note,
	const char *tone, struct arena *keep)
{
	*arena_push(keep, f->items, f->count, f->cap) = (struct html_fact){
		.label = str_from(label), .value = value, .note = note, .tone = str_from(tone)
	};
}

static struct str spread_note(const struct report *r, struct arena *keep)
{
	double lo = run_of(r)->step_time_lo_s, hi = run_of(r)->step_time_hi_s;
	double steps = run_of(r)->steps;
	if (is_whole_capture(r))
		return STR("in all: its steps were not found");
	if (steps == 1)
		return STR("of one steady step");
	struct str from = time_text(keep, lo), to = time_text(keep, hi), mean = prose_mean(r, keep);
	struct out *o = out_memory(keep);
	if (!(lo > 0 && hi > 0) || str_eq(from, to))
		out_z(o, "median of the steady steps");
	else
		out_fmt(o, "median; 95%% between %.*s and %.*s", STR_ARG(from), STR_ARG(to));
	out_str(o, mean);
	return out_text(o);
}

static struct str step_note(const struct report *r, struct arena *keep)
{
	struct str delta = headline_delta(r, keep), spread = spread_note(r, keep);
	return delta.len ? arena_fmt(keep, "%.*s; %.*s", STR_ARG(delta), STR_ARG(spread)) : spread;
}

/* Beyond this share of the time a rate says so: it is a lower bound. */
#define MUCH_UNKNOWN 0.05

static const struct ratio {
	struct str fact;
	const char *label, *note;
	bool is_rare;	    /* shown from half a percent on */
	struct str unknown; /* share of the time that it leaves out; empty: none */
} ratios[] = {
	{ STR_INIT("compute_ratio"), "Computing", "of the time", false,
		STR_INIT("") }, /* stays the first */
	{ STR_INIT("comms_exposed_ratio"), "Communication", "exposed: no compute meanwhile", true,
		STR_INIT("") },
	{ STR_INIT("transfer_ratio"), "Host transfers", "and nothing else running", true,
		STR_INIT("") },
	{ STR_INIT("idle_ratio"), "Idle", "nothing running", false, STR_INIT("") },
	{ STR_INIT("mfu"), "MFU", "model FLOPs over peak", false, STR_INIT("") },
	{ STR_INIT("hfu"), "HFU", "model FLOPs with rematerialisation, over peak", false,
		STR_INIT("") },
	{ STR_INIT("op_util"), "FLOP rate", "of the peak, counted from the program", false,
		STR_INIT("uncounted_ratio") },
	{ STR_INIT("hbm_util"), "HBM bandwidth", "of the peak, counted from the program", false,
		STR_INIT("unknown_bytes_ratio") },
};

static struct template_list facts_of(const struct report *r, struct arena *keep)
{
	struct facts f = { NULL, 0, 0 };
	double step = run_of(r)->step_time_s;
	bool is_capture = is_whole_capture(r);
	if (step > 0)
		add_fact(&f, is_capture ? "The capture" : "Step time", time_text(keep, step),
			step_note(r, keep), NULL, keep);
	if (r->gain_s > 0) {
		struct str note = str_from(prose_per(r));
		if (step > 0)
			note = arena_fmt(keep, "%.*s of %s",
				STR_ARG(ratio_text(keep, r->gain_s / run_of(r)->step_mean_s)),
				is_capture ? "the capture" : "a step");
		note = arena_fmt(keep, "%.*s, if every finding is settled", STR_ARG(note));
		add_fact(&f, "Recoverable", time_text(keep, r->gain_s), note, "bad", keep);
	}
	for (ptrdiff_t i = 0; i < COUNT_OF(ratios); i++) {
		double share = fact_real(r, ratios[i].fact);
		if (isnan(share) || (ratios[i].is_rare && share < 0.005))
			continue;
		struct str unclear = i ? STR("") : prose_unclear(r, keep);
		struct str note = arena_fmt(keep, "%s%.*s", ratios[i].note, STR_ARG(unclear));
		double unknown = ratios[i].unknown.len ? fact_real(r, ratios[i].unknown) : 0;
		if (unknown > MUCH_UNKNOWN)
			note = arena_fmt(keep,
				"%.*s, at least: %.0f%% of the compute time is in ops where it is "
				"unknown",
				STR_ARG(note), unknown * 100);
		add_fact(&f, ratios[i].label, ratio_text(keep, share), note, NULL, keep);
	}
	return LIST(f.items, f.count);
}

/* ---- the head of a report -------------------------------------------------------------------- */

static struct str summary_of(const struct report *r, struct arena *keep)
{
	struct out *o = out_memory(keep);
	struct str job = prose_job(r, keep);
	out_str(o, prose_ran(r, "\xc3\x97", keep));
	if (job.len)
		out_fmt(o, "; %.*s", STR_ARG(job));
	return out_text(o);
}

static void head_of(const struct report *r, struct arena *keep, struct html_report *ret)
{
	double step = run_of(r)->step_mean_s;
	ret->machine = prose_machine(r, "\xc3\x97", keep);
	ret->headline = headline_of(r, keep);
	ret->summary = summary_of(r, keep);
	ret->speaks_for = prose_speaks_for(r, keep);
	ret->sorts = prose_sorts(r, keep);
	ret->inputs = run_of(r)->inputs;
	ret->rules = r->rules;
	ret->facts = facts_of(r, keep);
	ret->gives_back = prose_gives_back(r, keep);
	if (step > 0) {
		ret->step = prose_step(r, keep);
		ret->step_value = double_text(keep, step);
	}
	if (r->gain_s > 0)
		ret->gives_back_value = double_text(keep, r->gain_s);
	ret->promise = capital(prose_promise(r, keep), keep);
}

/* ---- reports --------------------------------------------------------------------------------- */

typedef bool draw_fn(const struct report *r, struct arena *keep, struct html_picture *ret);

static void pictures_of(const struct report *r, struct arena *keep, struct html_report *ret)
{
	static draw_fn *const draws[] = { svg_timeline, svg_treemap, svg_steps, svg_roofline,
		svg_collectives, svg_memory, svg_usage };
	struct html_picture *items = arena_make(keep, struct html_picture, COUNT_OF(draws)),
			    budget = { 0 };
	ptrdiff_t count = 0;
	for (int i = 0; i < COUNT_OF(draws); i++)
		if (draws[i](r, keep, &items[count])) {
			struct html_picture *p = &items[count++];
			p->id = arena_fmt(keep, "%.*s%.*s", STR_ARG(ret->ids), STR_ARG(p->id));
		}
	ret->pictures = LIST(items, count);
	if (svg_budget(r, keep, &budget))
		ret->budget = budget.drawing;
}

/* Tells profiles apart whose names have the same letters and digits. */
static unsigned hash_of(const struct report *r)
{
	uint64_t hash = str_hash(r->profile);
	return (unsigned)(hash ^ hash >> 32);
}

/* Of a long path the end, which is what differs; names of files have room for 255 bytes. */
enum { PAGE_NAME_BYTES = 100 };

struct str report_html_name(const struct report *r, struct arena *keep)
{
	struct str name = html_slug(r->profile, keep);
	if (name.len > PAGE_NAME_BYTES)
		name = str_from_offset(name, name.len - PAGE_NAME_BYTES);
	while (str_take(&name, STR("-")) || str_take(&name, STR(".")))
		;
	return arena_fmt(keep, "%.*s-%08x.html", STR_ARG(name), hash_of(r));
}

static struct html_report report_of(
	const struct report *r, bool alone, bool whole, struct arena *keep)
{
	struct html_report ret = { .profile = r->profile, .verdict = verdict_name(r->verdict) };
	ret.ids = alone ? STR("") : arena_fmt(keep, "p-%08x-", hash_of(r));
	ret.id = arena_fmt(keep, "%.*sreport", STR_ARG(ret.ids));
	html_rules(r, keep, &ret);
	ret.icon = svg_icon(r->verdict);
	ret.error = r->error.text;
	ret.error_id = diag_name(r->error.id, keep);
	if (!r->error.text.p) {
		head_of(r, keep, &ret);
		ret.is_cut = !whole;
		if (whole) {
			pictures_of(r, keep, &ret);
			html_tables(r, keep, &ret);
		}
	}
	return ret;
}

/* ---- the page -------------------------------------------------------------------------------- */

struct doc_template *report_html_load(struct str dir, struct arena *keep, struct diag *err)
{
	return template_load(dir, STR("report.xhtml"), &html_page_record, keep, err);
}

void report_html(const struct report_set *set, enum html_form form, const struct doc_template *t,
	struct arena *keep, struct out *out)
{
	struct html_report *reports = arena_make(keep, struct html_report, set->count);
	struct html_page page = { .version = set->tool_version, .is_batch = set->count > 1 };
	struct xhtml x = xhtml_new(out, keep);
	for (ptrdiff_t i = 0; i < set->count; i++) {
		bool whole = form != HTML_LIST && i < HTML_MAX_WHOLE;
		reports[i] = report_of(&set->items[i], set->count == 1, whole, keep);
		if (form == HTML_LIST)
			reports[i].page = report_html_name(&set->items[i], keep);
	}
	page.index = form == HTML_ONE ? STR(HTML_INDEX) : MISSING;
	page.count = prose_profiles(set, keep);
	page.icon = svg_icon(worst_verdict(set));
	page.verdict = verdict_name(worst_verdict(set));
	page.reports = LIST(reports, set->count);
	page.title = set->count == 1 ? arena_fmt(keep, "%.*s: %.*s", STR_ARG(reports->word),
					       STR_ARG(reports->profile))
				     : arena_fmt(keep, "rooflint: %.*s", STR_ARG(page.count));
	template_fill_page(t, &page, &x);
	out_char(out, '\n');
}
