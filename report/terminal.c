/*
 * The report for people, laid out like a compiler's:
 *
 *     FAIL  runs/nightly: TPU v5e x8, 2 hosts, 8 steady steps, 28.1 ms per step
 *           read from 2 xplane.pb (235 KiB), 1 HLO module
 *           a step is 26% computing, 65% waiting for communication, 2% idle
 *           all fixes together give back up to ...
 *
 *     fail[rule]: what is wrong
 *        --> file.py:41 in scope
 *       costs     ...
 *       ...
 *
 *     inconclusive[rule, rule]: why
 *       do        ...
 *
 *     note[RL202]: ...
 *
 *     2 failed, 1 warning, 1 inconclusive, 9 passed, 2 not applicable
 *
 * Failures come before warnings, each by gain.  The count stands last, where a reader of a long
 * log looks first.  A batch ends with a table of its profiles.
 */
#include <limits.h>
#include <stdarg.h>

#include "base/text.h"
#include "report/delta.h"
#include "report/prose.h"

enum { WIDTH_DEFAULT = 80, WIDTH_LEAST = 40, WIDTH_MOST = 100 /* longer lines read badly */ };

/* Subjects of one rule that are listed behind the first; `verbose` shows all. */
enum { OTHERS_SHOWN = 3 };

/* Lines below "FAIL  runs/nightly". */
enum { HEAD_INDENT = 6 };

static int larger(int a, int b)
{
	return a > b ? a : b;
}

/* A list "a, b, c" that grows by printf. */
static void add_item(struct out *list, struct arena *keep, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void add_item(struct out *list, struct arena *keep, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	if (out_text(list).len)
		out_z(list, ", ");
	out_str(list, arena_vfmt(keep, fmt, args));
	va_end(args);
}

/* ---- the head of a profile ------------------------------------------------------------------- */

/* "2 hosts", "1 of 4 hosts" */
static void add_hosts(struct out *list, const struct report *r, struct arena *keep)
{
	double hosts = fact_real(r, STR("hosts")), expected = fact_real(r, STR("hosts_expected"));
	if (hosts > 0 && expected > hosts)
		add_item(list, keep, "%.0f of %.0f hosts", hosts, expected);
	else if (hosts > 0)
		add_item(list, keep, "%.0f host%s", hosts, hosts == 1 ? "" : "s");
}

static struct str summary_text(const struct report *r, struct arena *keep)
{
	struct out *list = out_memory(keep);
	struct str steps = prose_steps(r, keep);
	out_str(list, prose_machine(r, "x", keep));
	add_hosts(list, r, keep);
	if (steps.len)
		add_item(list, keep, "%.*s", STR_ARG(steps));
	return out_text(list);
}

/* Shares of a step.  They do not overlap: what they leave is copying within the chip. */
static const struct share {
	struct str fact;
	const char *text;
} shares[] = {
	{ STR_INIT("compute_ratio"), "computing" },
	{ STR_INIT("comms_exposed_ratio"), "waiting for communication" },
	{ STR_INIT("transfer_ratio"), "moving data to or from the host" },
	{ STR_INIT("idle_ratio"), "idle" },
};

static void add_share(struct out *list, double share, const char *text, struct arena *keep)
{
	/* Below half a percent nobody would act. */
	if (share >= 0.005)
		add_item(list, keep, "%.0f%% %s", share * 100, text);
}

static void put_shares(struct page *p, const struct report *r)
{
	struct out *list = out_memory(p->keep);
	double rest = 1; /* NaN as soon as one share is unknown, which adds no item */
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		double share = fact_real(r, shares[i].fact);
		add_share(list, share, shares[i].text, p->keep);
		rest -= share;
	}
	add_share(list, rest, "copying", p->keep);
	if (!out_text(list).len)
		return;
	page_line(p);
	page_fmt(p, HEAD_INDENT, "%s is %.*s%.*s", is_whole_capture(r) ? "the capture" : "a step",
		STR_ARG(out_text(list)), STR_ARG(prose_unclear(r, p->keep)));
}

static void put_job(struct page *p, const struct report *r)
{
	struct str text = prose_job(r, p->keep);
	if (!text.len)
		return;
	page_line(p);
	page_fmt(p, HEAD_INDENT, "%.*s", STR_ARG(text));
}

static void put_promise(struct page *p, const struct report *r)
{
	if (!(r->gain_s > 0))
		return;
	page_line(p);
	page_fmt(p, HEAD_INDENT, "all fixes together give back %.*s",
		STR_ARG(prose_gain(r, r->gain_s, p->keep)));
}

static void put_deltas(struct page *p, const struct report *r)
{
	struct str *lines;
	ptrdiff_t count = delta_lines(r, p->keep, &lines);
	for (ptrdiff_t i = 0; i < count; i++) {
		page_line(p);
		page_fmt(p, HEAD_INDENT, "%.*s", STR_ARG(lines[i]));
	}
}

static void put_verdict(struct page *p, const struct report *r)
{
	const struct verdict_look *look = &verdict_looks[r->verdict];
	page_tint(p, look->tint, str_from(look->head));
	page_z(p, "  ");
	page_tint(p, TINT_BOLD, r->profile);
}

/* ---- findings -------------------------------------------------------------------------------- */

static void put_tag(struct page *p, enum tint tint, const char *word, struct str name)
{
	struct out *o = out_memory(p->keep);
	out_fmt(o, "%s[%.*s]", word, STR_ARG(name));
	page_tint(p, tint, out_text(o));
	page_z(p, ": ");
}

/* The indent of a headline's second line: under the words of --> file. */
enum { HEADLINE_INDENT = 7 };

static void put_group(struct page *p, const struct report *r, enum verdict v, const struct group *g,
	const struct report_style *style)
{
	struct prose_style prose = { style->verbose ? g->count : OTHERS_SHOWN, style->verbose > 0 };
	page_break(p);
	put_tag(p, verdict_looks[v].tint, verdict_looks[v].tag, g->items[0]->rule);
	page_wrap(p, HEADLINE_INDENT, prose_message(r, g->items[0], p->keep));
	prose_group(p, r, g, &prose);
}

/* The warnings of a rule that also failed stand with its failures. */
static bool is_told(
	const struct report *r, enum verdict v, const struct group *g, struct arena *keep)
{
	return v == VERDICT_WARN && group_of(r, g->items[0]->rule, VERDICT_FAIL, keep).count > 0;
}

static void put_findings(struct page *p, const struct report *r, const struct report_style *style)
{
	static const enum verdict order[] = { VERDICT_FAIL, VERDICT_WARN };
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		struct group *groups;
		ptrdiff_t count = group_findings(r, order[i], p->keep, &groups);
		for (ptrdiff_t k = 0; k < count; k++)
			if (!is_told(r, order[i], &groups[k], p->keep))
				put_group(p, r, order[i], &groups[k], style);
	}
}

static void put_waived(struct page *p, const struct report *r)
{
	struct group *groups;
	ptrdiff_t count = group_findings(r, VERDICT_WAIVED, p->keep, &groups);
	for (ptrdiff_t i = 0; i < count; i++) {
		const struct group *g = &groups[i];
		page_break(p);
		put_tag(p, TINT_DIM, "waived", g->items[0]->rule);
		page_wrap(p, HEADLINE_INDENT, prose_message(r, g->items[0], p->keep));
		if (g->count > 1)
			page_fmt(p, HEADLINE_INDENT, " and %lld more", (long long)g->count - 1);
		page_line(p);
		page_field(p, "note", g->items[0]->note);
		page_line(p);
	}
}

/* ---- what could not be judged ---------------------------------------------------------------- */

static void put_unsure(struct page *p, const struct report *r)
{
	struct trouble *troubles;
	ptrdiff_t count = group_troubles(r, p->keep, &troubles);
	for (ptrdiff_t i = 0; i < count; i++) {
		const struct trouble *t = &troubles[i];
		struct out *names = out_memory(p->keep);
		for (ptrdiff_t k = 0; k < t->count; k++)
			out_fmt(names, "%s%.*s", k ? ", " : "",
				STR_ARG(text_clean(p->keep, t->rules[k]->name)));
		page_break(p);
		page_tint(p, TINT_UNSURE, STR("inconclusive"));
		page_fmt(p, HEADLINE_INDENT, "[%.*s]: %.*s", STR_ARG(out_text(names)),
			STR_ARG(t->reason));
		prose_unsure(p, r, t->rules[0]);
	}
}

/* ---- notes, rules, rows, the count ----------------------------------------------------------- */

static void put_note(struct page *p, struct str id, struct str text)
{
	put_tag(p, TINT_BOLD, "note", id);
	page_wrap(p, HEADLINE_INDENT, text);
	page_line(p);
}

static bool is_remark(const struct quality_row *q, int verbose)
{
	return q->detail.len && (q->ok == 0 || verbose);
}

static void put_notes(struct page *p, const struct report *r, int verbose)
{
	const struct quality_row *rows = table_rows(&r->tables, quality);
	bool any = false;
	for (ptrdiff_t i = 0; i < table_count(&r->tables, quality); i++) {
		if (!is_remark(&rows[i], verbose))
			continue;
		if (!any)
			page_break(p);
		any = true;
		put_note(p, rows[i].name, rows[i].detail);
	}
	for (ptrdiff_t i = 0; i < r->note_count; i++) {
		if (note_is_news(&r->notes[i]))
			continue;
		if (!any)
			page_break(p);
		any = true;
		put_note(p, diag_name(r->notes[i].id, p->keep), r->notes[i].text);
	}
}

static int longest_rule(const struct report *r, struct arena *keep)
{
	int most = 0;
	for (ptrdiff_t i = 0; i < r->result_count; i++)
		most = larger(most, text_columns(text_clean(keep, r->results[i].name)));
	return most;
}

static void put_rule(struct page *p, const struct report_rule *rule, int name_columns)
{
	/* "not applicable" is the longest verdict. */
	enum { VERDICT_COLUMNS = 16 };
	const struct verdict_look *look = &verdict_looks[rule->verdict];
	int indent = PAGE_LABEL + VERDICT_COLUMNS + name_columns + 2;
	page_pad(p, PAGE_LABEL);
	page_tint(p, look->tint, str_from(look->tag));
	page_pad(p, PAGE_LABEL + VERDICT_COLUMNS);
	page_put(p, rule->name);
	page_pad(p, indent);
	page_wrap(p, indent, rule->title);
	if (rule->reason.len && rule->verdict != VERDICT_INCONCLUSIVE)
		page_fmt(p, indent, " (%.*s)", STR_ARG(rule->reason));
	page_line(p);
}

static void put_rules(struct page *p, const struct report *r)
{
	int columns = longest_rule(r, p->keep);
	if (!r->result_count)
		return;
	page_break(p);
	page_fmt(p, 0, "rules of %.*s", STR_ARG(r->rules));
	page_line(p);
	for (ptrdiff_t i = 0; i < r->result_count; i++)
		put_rule(p, &r->results[i], columns);
}

static struct str count_text(const struct report *r, struct arena *keep)
{
	struct out *list = out_memory(keep);
	for (int i = 0; i < RULE_VERDICTS; i++) {
		const struct verdict_look *look = &verdict_looks[rule_verdicts[i]];
		ptrdiff_t count = count_results(r, rule_verdicts[i]);
		if (count)
			add_item(list, keep, "%lld %s", (long long)count,
				count == 1 ? look->one : look->many);
	}
	if (!out_text(list).len)
		out_z(list, "no rules");
	return out_text(list);
}

/* ---- one profile ----------------------------------------------------------------------------- */

/*
 * One line, whatever its length, so that it can be searched for; carets stay under what they
 * point at.
 */
static void put_error(struct page *p, const struct report *r)
{
	struct str text = clean_lines(p->keep, r->error), line;
	bool more = true;
	page_tint(p, TINT_BAD,
		arena_fmt(p->keep, "ERROR[%.*s]", STR_ARG(diag_name(r->error_id, p->keep))));
	page_z(p, "  ");
	if (!str_contains(text, r->profile))
		page_put(p, arena_fmt(p->keep, "%.*s: ", STR_ARG(r->profile)));
	while (more) {
		more = str_cut(text, '\n', &line, &text);
		page_put(p, line);
		page_line(p);
	}
}

static void put_head(struct page *p, const struct report *r)
{
	put_verdict(p, r);
	page_z(p, ":");
	page_fmt(p, HEAD_INDENT, " %.*s", STR_ARG(summary_text(r, p->keep)));
}

/* A hint for those who see a rule for the first time: a command to copy. */
static void put_hint(struct page *p, const struct report *r)
{
	struct group *groups;
	if (!group_findings(r, VERDICT_FAIL, p->keep, &groups) &&
		!group_findings(r, VERDICT_WARN, p->keep, &groups))
		return;
	page_line(p);
	page_fmt(p, 0, "More about a rule: rooflint explain %.*s",
		STR_ARG(groups[0].items[0]->rule));
}

static void put_profile(struct page *p, const struct report *r, const struct report_style *style)
{
	put_head(p, r);
	if (!style->quiet) {
		page_inputs(p, r, HEAD_INDENT, style->verbose > 0);
		put_job(p, r);
		put_shares(p, r);
		put_promise(p, r);
		put_deltas(p, r);
		page_line(p);
		put_findings(p, r, style);
		put_unsure(p, r);
		put_waived(p, r);
		put_notes(p, r, style->verbose);
		if (style->verbose)
			put_rules(p, r);
		if (style->verbose > 1)
			page_tables(p, r);
		page_break(p);
		page_wrap_tint(p, TINT_BOLD, 0, count_text(r, p->keep));
		put_hint(p, r);
	}
	page_line(p);
}

/* ---- a batch --------------------------------------------------------------------------------- */

static struct str step_text(const struct report *r, struct arena *keep)
{
	struct str text = prose_step(r, keep);
	return text.len ? text : STR("-");
}

static struct str gain_text(const struct report *r, struct arena *keep)
{
	double step_s = fact_real(r, STR("step_time_s"));
	if (!(r->gain_s > 0))
		return STR("-");
	if (!(step_s > 0))
		return time_text(keep, r->gain_s);
	return arena_fmt(keep, "%.*s (%.*s)", STR_ARG(time_text(keep, r->gain_s)),
		STR_ARG(ratio_text(keep, r->gain_s / step_s)));
}

/* The rule that costs most, for the table's last column. */
static struct str top_text(const struct report *r, struct arena *keep)
{
	static const enum verdict order[] = { VERDICT_FAIL, VERDICT_WARN };
	struct group *groups;
	if (r->error.len)
		return diag_name(r->error_id, keep);
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (group_findings(r, order[i], keep, &groups))
			return text_clean(keep, groups[0].items[0]->rule);
	return STR("-");
}

enum { SUMMARY_COLUMNS = 5 };
struct summary_row {
	struct str cells[SUMMARY_COLUMNS]; /* verdict, profile, step, gives back, first finding */
};

static void put_summary_row(struct page *p, const struct summary_row *row, enum tint verdict,
	enum tint rest, const int *widths)
{
	int at = 0;
	for (int i = 0; i < SUMMARY_COLUMNS; i++) {
		page_pad(p, at);
		page_tint(p, i ? rest : verdict, row->cells[i]);
		at += widths[i] + 2;
	}
	page_line(p);
}

static void put_summary(struct page *p, const struct report_set *set)
{
	static const struct summary_row head = { { STR_INIT(""), STR_INIT("profile"),
		STR_INIT("step"), STR_INIT("gives back"), STR_INIT("first finding") } };
	struct summary_row *rows = arena_make(p->keep, struct summary_row, set->count);
	int widths[SUMMARY_COLUMNS];
	for (int k = 0; k < SUMMARY_COLUMNS; k++)
		widths[k] = text_columns(head.cells[k]);
	for (ptrdiff_t i = 0; i < set->count; i++) {
		const struct report *r = &set->items[i];
		rows[i] = (struct summary_row){ { str_from(verdict_looks[r->verdict].head),
			text_clean(p->keep, r->profile), step_text(r, p->keep),
			gain_text(r, p->keep), top_text(r, p->keep) } };
		for (int k = 0; k < SUMMARY_COLUMNS; k++)
			widths[k] = larger(widths[k], text_columns(rows[i].cells[k]));
	}
	page_break(p);
	put_summary_row(p, &head, TINT_DIM, TINT_DIM, widths);
	for (ptrdiff_t i = 0; i < set->count; i++)
		put_summary_row(
			p, &rows[i], verdict_looks[set->items[i].verdict].tint, TINT_NONE, widths);
	page_line(p);
}

static void put_totals(struct page *p, const struct report_set *set)
{
	struct out *list = out_memory(p->keep);
	for (int i = 0; i < REPORT_VERDICTS; i++) {
		ptrdiff_t count = 0;
		for (ptrdiff_t k = 0; k < set->count; k++)
			count += set->items[k].verdict == report_verdicts[i];
		if (count)
			add_item(list, p->keep, "%lld %s", (long long)count,
				verdict_looks[report_verdicts[i]].profiles);
	}
	page_fmt(p, 0, "%lld profiles: %.*s", (long long)set->count, STR_ARG(out_text(list)));
	page_line(p);
}

/* One line a profile is a promise of -q: nothing wraps. */
static int page_width(const struct report_style *style)
{
	int wanted = style->width;
	if (style->quiet)
		return INT_MAX / 2;
	int width = wanted > 0 ? wanted : WIDTH_DEFAULT;
	return width < WIDTH_LEAST ? WIDTH_LEAST : width > WIDTH_MOST ? WIDTH_MOST : width;
}

void report_terminal(const struct report_set *set, const struct report_style *style,
	struct arena *keep, struct out *out)
{
	struct page page = { out, keep, style->color, page_width(style), 0 };
	for (ptrdiff_t i = 0; i < set->count; i++) {
		if (i && !style->quiet)
			page_break(&page);
		if (set->items[i].error.p)
			put_error(&page, &set->items[i]);
		else
			put_profile(&page, &set->items[i], style);
	}
	if (set->count > 1) {
		if (!style->quiet) {
			put_summary(&page, set);
			page_break(&page);
		}
		put_totals(&page, set);
	}
}
