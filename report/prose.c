/* Pages of plain text, and the text of a finding.  See prose.h. */
#include "report/prose.h"

#include <math.h>
#include <stdarg.h>

#include "base/stats.h"
#include "base/text.h"

/* ---- verdicts -------------------------------------------------------------------------------- */

#define CROSS	 "\xe2\x9d\x8c"
#define QUESTION "\xe2\x9d\x94"
#define TRIANGLE "\xe2\x9a\xa0\xef\xb8\x8f"
#define CHECK	 "\xe2\x9c\x85"

const struct verdict_look verdict_looks[VERDICT_ERROR + 1] = {
	[VERDICT_PASS] = { TINT_GOOD, "pass", "passed", "passed", "Passed", "PASS", CHECK,
		"passed" },
	[VERDICT_FAIL] = { TINT_BAD, "fail", "failed", "failed", "Failed", "FAIL", CROSS,
		"failed" },
	[VERDICT_WARN] = { TINT_WARN, "warning", "warning", "warnings", "Warning", "WARN", TRIANGLE,
		"with warnings" },
	[VERDICT_INCONCLUSIVE] = { TINT_UNSURE, "inconclusive", "inconclusive", "inconclusive",
		"Inconclusive", "INCONCLUSIVE", QUESTION, "inconclusive" },
	/* Of reports alone. */
	[VERDICT_ERROR] = { TINT_BAD, .word = "Unreadable", "ERROR", CROSS, "unreadable" },
	/* Of rules alone: a report that had one would be open, never green. */
	[VERDICT_WAIVED] = { TINT_DIM, "waived", "waived", "waived", "Waived", "INCONCLUSIVE",
		QUESTION, NULL },
	[VERDICT_NOT_APPLICABLE] = { TINT_DIM, "not applicable", "not applicable", "not applicable",
		"Not applicable", "INCONCLUSIVE", QUESTION, NULL },
	[VERDICT_OFF] = { TINT_DIM, "off", "off", "off", "Off", "INCONCLUSIVE", QUESTION, NULL },
};

/* The verdicts of reports, worst first. */
enum { REPORT_VERDICTS = 5 };
static const enum verdict report_verdicts[REPORT_VERDICTS] = { VERDICT_FAIL, VERDICT_ERROR,
	VERDICT_INCONCLUSIVE, VERDICT_WARN, VERDICT_PASS };
const enum verdict rule_verdicts[RULE_VERDICTS] = { VERDICT_FAIL, VERDICT_WARN,
	VERDICT_INCONCLUSIVE, VERDICT_PASS, VERDICT_WAIVED, VERDICT_NOT_APPLICABLE, VERDICT_OFF };

/* Of equal verdicts what costs most of a step, then by name. */
static int worst_first(const void *x, const void *y)
{
	const struct report *a = x, *b = y;
	double cost_a = a->gain_s / run_of(a)->step_mean_s;
	double cost_b = b->gain_s / run_of(b)->step_mean_s;
	int v = 0;
	while (v < REPORT_VERDICTS && a->verdict != report_verdicts[v] &&
		b->verdict != report_verdicts[v])
		v++;
	if (a->verdict != b->verdict)
		return a->verdict == report_verdicts[v] ? -1 : 1;
	int order = order_numbers(cost_b > 0 ? cost_b : 0, cost_a > 0 ? cost_a : 0);
	return order ? order : str_cmp(a->profile, b->profile);
}

void report_set_sort(struct report_set *set)
{
	sort_by(set->items, set->count, worst_first);
}

static ptrdiff_t count_reports(const struct report_set *set, enum verdict v)
{
	ptrdiff_t count = 0;
	for (ptrdiff_t i = 0; i < set->count; i++)
		count += set->items[i].verdict == v;
	return count;
}

enum verdict worst_verdict(const struct report_set *set)
{
	int v = 0;
	while (v < REPORT_VERDICTS && !count_reports(set, report_verdicts[v]))
		v++;
	return v < REPORT_VERDICTS ? report_verdicts[v] : VERDICT_INCONCLUSIVE;
}

struct str prose_profiles(const struct report_set *set, struct arena *keep)
{
	struct out *o = out_memory(keep);
	const char *before = ": ";
	out_fmt(o, "%td profile%s", set->count, set->count == 1 ? "" : "s");
	for (int i = 0; i < REPORT_VERDICTS; i++) {
		ptrdiff_t count = count_reports(set, report_verdicts[i]);
		if (!count)
			continue;
		out_fmt(o, "%s%td %s", before, count, verdict_looks[report_verdicts[i]].profiles);
		before = ", ";
	}
	return out_text(o);
}

struct str prose_rules(const struct report *r, struct arena *keep)
{
	struct out *o = out_memory(keep);
	for (int i = 0; i < RULE_VERDICTS; i++) {
		const struct verdict_look *look = &verdict_looks[rule_verdicts[i]];
		ptrdiff_t count = count_results(r, rule_verdicts[i]);
		if (count)
			out_fmt(out_part(o, ", "), "%td %s", count,
				count == 1 ? look->one : look->many);
	}
	return out_text(o).len ? out_text(o) : STR("no rules");
}

/* ---- the page -------------------------------------------------------------------------------- */

static int larger(int a, int b)
{
	return a > b ? a : b;
}

/* Text that is clean and has no newline. */
static void put_clean(struct page *p, struct str text)
{
	out_str(p->out, text);
	p->column += text_columns(text);
}

void page_put(struct page *p, struct str text)
{
	put_clean(p, text_clean(p->keep, text));
}

void page_z(struct page *p, const char *z)
{
	page_put(p, str_from(z));
}

static void new_line(struct page *p)
{
	out_char(p->out, '\n');
	p->column = 0;
}

void page_line(struct page *p)
{
	if (p->column)
		new_line(p);
}

void page_break(struct page *p)
{
	page_line(p);
	new_line(p);
}

void page_pad(struct page *p, int column)
{
	if (column > p->column) {
		out_repeat(p->out, ' ', column - p->column);
		p->column = column;
	}
}

/* Eight colours and bold only: they follow the reader's own theme. */
static const char *const tint_codes[] = {
	[TINT_NONE] = "",
	[TINT_BOLD] = "\033[1m",
	[TINT_DIM] = "\033[2m",
	[TINT_BAD] = "\033[1;31m",
	[TINT_WARN] = "\033[1;33m",
	[TINT_GOOD] = "\033[1;32m",
	[TINT_UNSURE] = "\033[1;35m",
};

static void tint_on(struct page *p, enum tint tint)
{
	if (p->color)
		out_z(p->out, tint_codes[tint]);
}

static void tint_off(struct page *p, enum tint tint)
{
	if (p->color && tint != TINT_NONE)
		out_z(p->out, "\033[0m");
}

void page_tint(struct page *p, enum tint tint, struct str text)
{
	if (!text.len)
		return;
	tint_on(p, tint);
	page_put(p, text);
	tint_off(p, tint);
}

static void wrap_line(struct page *p, int indent, struct str line)
{
	page_pad(p, indent);
	if (str_starts(line, STR("  ")))
		put_clean(p, line);
	else
		p->column = out_words(p->out, line, p->column, indent, p->width);
}

void page_wrap(struct page *p, int indent, struct str text)
{
	struct str line;
	bool more = true;
	text = clean_lines(p->keep, text);
	/* A block scalar ends with newlines. */
	while (str_ends(text, STR("\n")) || str_ends(text, STR(" ")))
		text.len--;
	while (more) {
		more = str_cut(text, '\n', &line, &text);
		if (line.len)
			wrap_line(p, indent, line);
		if (more)
			new_line(p);
	}
}

void page_wrap_tint(struct page *p, enum tint tint, int indent, struct str text)
{
	tint_on(p, tint);
	page_wrap(p, indent, text);
	tint_off(p, tint);
}

void page_fmt(struct page *p, int indent, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	page_wrap(p, indent, arena_vfmt(p->keep, fmt, args));
	va_end(args);
}

void page_item(struct page *p, int indent, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	page_line(p);
	page_wrap(p, indent, arena_vfmt(p->keep, fmt, args));
	va_end(args);
}

void page_told(struct page *p, int indent, struct str text)
{
	if (text.len)
		page_item(p, indent, "%.*s", STR_ARG(text));
}

void page_lines(struct page *p, int indent, struct list lines)
{
	for (ptrdiff_t i = 0; i < lines.count; i++)
		page_told(p, indent, lines.items[i]);
}

/* A new line that begins with a label; text at PAGE_TEXT follows. */
static void page_label(struct page *p, const char *label)
{
	page_line(p);
	page_pad(p, PAGE_LABEL);
	page_tint(p, TINT_BOLD, str_from(label));
	page_pad(p, PAGE_TEXT);
}

void page_field(struct page *p, const char *label, struct str text)
{
	if (!str_trim(text).len)
		return;
	page_label(p, label);
	page_wrap(p, PAGE_TEXT, text);
}

/* ---- what a finding says --------------------------------------------------------------------- */

struct str capital(struct str s, struct arena *keep)
{
	bool is_small = s.len && s.p[0] >= 'a' && s.p[0] <= 'z';
	return is_small ? arena_fmt(keep, "%c%.*s", s.p[0] - 'a' + 'A',
				  STR_ARG(str_from_offset(s, 1)))
			: s;
}

struct str time_text(struct arena *keep, double seconds)
{
	return unit_text(keep, seconds, UNIT_SECONDS);
}

struct str signed_time_text(struct arena *keep, double seconds)
{
	return arena_fmt(
		keep, "%s%.*s", seconds < 0 ? "-" : "+", STR_ARG(time_text(keep, fabs(seconds))));
}

struct str ratio_text(struct arena *keep, double ratio)
{
	return unit_text(keep, ratio, UNIT_RATIO);
}

struct str bytes_text(struct arena *keep, double bytes)
{
	return unit_text(keep, bytes, UNIT_BYTES);
}

struct str prose_gain(const struct report *r, double gain_s, struct arena *keep)
{
	double step_s = run_of(r)->step_mean_s;
	struct str gain = time_text(keep, gain_s);
	if (!(step_s > 0))
		return arena_fmt(keep, "up to %.*s %s", STR_ARG(gain), prose_per(r));
	return arena_fmt(keep, "up to %.*s of %.*s %s (%.*s)", STR_ARG(gain),
		STR_ARG(time_text(keep, step_s)), prose_per(r),
		STR_ARG(ratio_text(keep, gain_s / step_s)));
}

/* Seconds of a claim that are worth a sentence; rounding is not. */
static double worth_telling(const struct finding *f, double seconds)
{
	return seconds <= 0.01 * f->claimed_s ? 0 : seconds;
}

/* What it claims and is not credited with: others are, or the step has no room for it. */
static void put_rest(
	struct out *o, const struct report *r, const struct finding *f, struct arena *keep)
{
	bool is_paid = out_text(o).len > 0;
	double shared_s = f->shared_s > 0 ? f->shared_s : 0;
	double told_s = worth_telling(f, shared_s);
	double beyond_s = worth_telling(f, f->claimed_s - f->gain_s - shared_s);
	if (told_s > 0 && is_about_baseline(r, f))
		out_fmt(o,
			is_paid ? "; other findings may explain %.*s more"
				: "%.*s, which other findings may explain",
			STR_ARG(time_text(keep, told_s)));
	else if (told_s > 0)
		out_fmt(o,
			is_paid ? "; %.*s more are already counted in other findings"
				: "%.*s, already counted in other findings",
			STR_ARG(time_text(keep, told_s)));
	if (beyond_s > 0)
		out_fmt(o,
			out_text(o).len ? "; a fix may give back %.*s more"
					: "%.*s, which a fix may or may not give back",
			STR_ARG(time_text(keep, beyond_s)));
}

struct str prose_cost(const struct report *r, const struct group *g, struct arena *keep)
{
	const struct finding *f = g->items[0];
	struct out *o = out_memory(keep);
	double step_s = run_of(r)->step_mean_s;
	if (f->of_window && f->claimed_s > 0 && step_s > 0)
		return arena_fmt(keep, "up to %.*s of the window",
			STR_ARG(unit_text(keep, f->claimed_s / step_s, UNIT_RATIO)));
	if (isnan(f->gain_s))
		return f->bytes > 0 ? arena_fmt(keep, "up to %.*s of memory",
					      STR_ARG(unit_text(keep, f->bytes, UNIT_BYTES)))
				    : MISSING;
	if (worth_telling(f, f->gain_s) > 0)
		out_str(o, prose_gain(r, f->gain_s, keep));
	put_rest(o, r, f, keep);
	if (!out_text(o).len)
		out_z(o, "no step time");
	if (g->count > 1 && g->gain_s > f->gain_s) {
		out_z(o, "; ");
		if (g->count > 2)
			out_fmt(o, "all %lld", (long long)g->count);
		else
			out_z(o, "both");
		out_fmt(o, " together %.*s", STR_ARG(time_text(keep, g->gain_s)));
	}
	return out_text(o);
}

struct str evidence_text(const struct evidence *e, struct arena *keep)
{
	if (e->value.is_null)
		return STR("unknown");
	return e->value.is_text ? text_clean(keep, e->value.text)
				: unit_text(keep, e->value.real, e->unit);
}

/* A text value may be an op's whole name; the columns do not follow it that far. */
enum { VALUE_COLUMNS = 24 };

static void put_evidence(struct page *p, const struct finding *f, const char *label, bool limits)
{
	int name = 0, value = 0;
	for (ptrdiff_t i = 0; i < f->evidence.count; i++) {
		const struct evidence *e = &f->evidence.items[i];
		int columns = text_columns(evidence_text(e, p->keep));
		name = larger(name, text_columns(text_clean(p->keep, e->name)));
		if (columns <= VALUE_COLUMNS)
			value = larger(value, columns);
	}
	int value_at = PAGE_TEXT + name + 2, meaning_at = value_at + value + 2;
	for (ptrdiff_t i = 0; i < f->evidence.count; i++) {
		const struct evidence *e = &f->evidence.items[i];
		if (e->limit != limits)
			continue;
		page_label(p, label);
		label = "";
		page_put(p, e->name);
		page_pad(p, value_at);
		page_tint(p, TINT_BOLD, evidence_text(e, p->keep));
		/* Narrower than 30 columns an explanation is a tower of words. */
		if (!e->meaning.len || meaning_at + 30 > p->width)
			continue;
		if (p->column >= meaning_at) /* the value is longer than its column */
			page_z(p, "  ");
		page_pad(p, meaning_at);
		page_wrap_tint(p, TINT_DIM, meaning_at, e->meaning);
	}
}

/* A subject in a line: its name, its number, its cost and its place. */
static struct str subject_line(const struct report *r, const struct finding *f, struct arena *keep)
{
	const struct rule_result *rule = rule_of(r, f->rule);
	struct out *o = out_memory(keep);
	out_str(o, text_brief(keep, text_clean(keep, f->name)));
	if (rule && !isnan(f->value))
		out_fmt(o, ": %.*s", STR_ARG(unit_text(keep, f->value, rule->number.unit)));
	if (f->gain_s > 0)
		out_fmt(o, ", up to %.*s", STR_ARG(time_text(keep, f->gain_s)));
	return out_text(o);
}

/*
 * Subjects from the one at `from` on, at most `shown` of them; the rest are counted.  As a whole
 * each has its message.
 */
static void put_subjects(struct page *p, const struct report *r, const char *label,
	const struct group *g, ptrdiff_t from, const struct prose_style *style)
{
	ptrdiff_t shown = style->others;
	ptrdiff_t end = g->count - from < shown ? g->count : from + shown;
	for (ptrdiff_t i = from; i < end; i++) {
		page_label(p, i == from ? label : "");
		const struct finding *f = g->items[i];
		struct str place = place_text(f->source_file, f->source_line, p->keep);
		struct out *o = out_memory(p->keep);
		bool is_brief = !style->whole && f->name.len;
		out_str(o,
			is_brief ? subject_line(r, f, p->keep) : text_clean(p->keep, f->message));
		if (f->gain_s > 0 && !is_brief)
			out_fmt(o, "; costs up to %.*s", STR_ARG(time_text(p->keep, f->gain_s)));
		if (place.len)
			out_fmt(o, " (%.*s)", STR_ARG(place));
		page_wrap(p, PAGE_TEXT, out_text(o));
	}
	if (g->count <= end)
		return;
	page_label(p, end > from ? "" : label);
	page_fmt(
		p, PAGE_TEXT, "%s%lld more", end > from ? "and " : "", (long long)(g->count - end));
}

/* "3 more could not be judged: " and why not the first; missing when all could. */
static struct str prose_unknown(
	const struct report *r, const struct rule_result *rule, struct arena *keep)
{
	struct group g = group_of(r, rule->name, VERDICT_INCONCLUSIVE, keep);
	struct str first = g.count ? g.items[0]->message : MISSING;
	if (!(rule->unknown > 0))
		return MISSING;
	return arena_fmt(keep, "%.0f more could not be judged%s%.*s", rule->unknown,
		first.len ? ": " : "", STR_ARG(first));
}

void prose_unsure(
	struct page *p, const struct report *r, const struct rule_result *rule, struct str todo)
{
	struct group g = group_of(r, rule->name, VERDICT_INCONCLUSIVE, p->keep);
	if (g.count) {
		put_evidence(p, g.items[0], "measured", false);
		put_evidence(p, g.items[0], "limit", true);
	}
	page_field(p, "do", todo);
	page_line(p);
}

/* Three digits may round to the limit that the value misses. */
static struct str value_text(double value, const struct rule_number *n, struct arena *keep)
{
	const double limits[] = { n->fail_limit, n->warn_limit };
	struct str text = unit_text(keep, value, n->unit);

	for (int i = 0; i < COUNT_OF(limits); i++)
		if (value != limits[i] && str_eq(text, unit_text(keep, limits[i], n->unit)))
			return arena_fmt(keep, "just %s %.*s", value < limits[i] ? "under" : "over",
				STR_ARG(text));
	return text;
}

struct str prose_limits(const struct rule_result *rule, double value, struct arena *keep)
{
	const struct rule_number *n = &rule->number;
	const char *word = n->at_least ? "below" : "above", *before = ": ";
	struct out *o = out_memory(keep);
	if (isnan(value))
		return MISSING;
	out_str(o, value_text(value, n, keep));
	/* "-3% beyond what is attainable" would be a riddle. */
	if (rule->says.len && !(value < 0))
		out_fmt(o, " %.*s", STR_ARG(rule->says));
	if (!isnan(n->warn_limit) && n->warn_limit != n->fail_limit) {
		out_fmt(o, ": warns %s %.*s", word,
			STR_ARG(unit_text(keep, n->warn_limit, n->unit)));
		before = ", ";
	}
	if (!isnan(n->fail_limit))
		out_fmt(o, "%sfails %s %.*s", before, word,
			STR_ARG(unit_text(keep, n->fail_limit, n->unit)));
	return out_text(o);
}

struct finding_told prose_told(const struct report *r, const struct group *g, struct arena *keep)
{
	const struct finding *f = g->items[0];
	struct finding_told t = { .finding = f, .rule = rule_of(r, f->rule) };
	t.message = f->message;
	t.place = place_text(f->source_file, f->source_line, keep);
	t.cost = prose_cost(r, g, keep);
	if (t.rule) {
		t.expected = t.rule->title;
		t.number = prose_limits(t.rule, f->value, keep);
		t.unknown = prose_unknown(r, t.rule, keep);
		t.why = t.rule->why;
	}
	if (f->verdict == VERDICT_FAIL)
		t.warned = group_of(r, f->rule, VERDICT_WARN, keep);
	return t;
}

void prose_group(struct page *p, const struct report *r, const struct group *g,
	const struct prose_style *style)
{
	const struct finding_told t = prose_told(r, g, p->keep);
	const struct finding *f = t.finding;
	if (t.place.len || f->scope.len) {
		page_line(p);
		page_z(p, "   --> ");
		page_tint(p, TINT_BOLD, t.place);
		if (f->scope.len && (style->whole || !t.place.len))
			page_fmt(p, 7, "%sin %.*s", t.place.len ? " " : "", STR_ARG(f->scope));
	}
	page_field(p, "costs", t.cost);
	if (style->whole) {
		page_field(p, "expected", t.expected);
		put_evidence(p, f, "measured", false);
		put_evidence(p, f, "limit", true);
	} else {
		page_field(p, "measured", t.number);
	}
	page_field(p, "note", f->note);
	put_subjects(p, r, "also", g, 1, style);
	put_subjects(p, r, "warned", &t.warned, 0, style);
	page_field(p, "unknown", t.unknown);
	if (style->whole)
		page_field(p, "cause", f->cause);
	page_field(p, "fix", f->fix);
	if (style->whole)
		page_field(p, "why", t.why);
	page_line(p);
}

struct str prose_whole(
	const struct report *r, const struct group *g, ptrdiff_t others, struct arena *keep)
{
	struct page page = { .out = out_memory(keep), .keep = keep, .width = BLOCK_WIDTH };
	struct prose_style style = { .others = others, .whole = true };
	page_wrap(&page, 0, g->items[0]->message);
	prose_group(&page, r, g, &style);
	return out_text(page.out);
}

struct str prose_gives_back(const struct report *r, struct arena *keep)
{
	double step_s = run_of(r)->step_mean_s;
	if (!(r->gain_s > 0))
		return MISSING;
	if (!(step_s > 0))
		return time_text(keep, r->gain_s);
	return arena_fmt(keep, "%.*s (%.*s)", STR_ARG(time_text(keep, r->gain_s)),
		STR_ARG(ratio_text(keep, r->gain_s / step_s)));
}

/* ---- the head of a report -------------------------------------------------------------------- */

bool is_whole_capture(const struct report *r)
{
	return str_eq(run_of(r)->steps_source, STR("window")) || is_window(&r->tables);
}

const char *prose_span(const struct report *r)
{
	return is_whole_capture(r) ? "capture" : "step";
}

const char *prose_per(const struct report *r)
{
	return is_whole_capture(r) ? "in the whole capture" : "per step";
}

static struct str mean_text(
	const struct report *r, const char *before, const char *after, struct arena *keep)
{
	struct str median = time_text(keep, run_of(r)->step_time_s);
	struct str mean = time_text(keep, run_of(r)->step_mean_s);
	if (is_whole_capture(r) || str_eq(mean, median) || !(run_of(r)->step_mean_s > 0))
		return STR("");
	return arena_fmt(keep, "%s%.*s on average%s", before, STR_ARG(mean), after);
}

/*
 * " (median; 8.34 ms on average)": what shares and costs are of, where it does not read as the
 * median does; empty else.
 */
static struct str prose_median(const struct report *r, struct arena *keep)
{
	return mean_text(r, " (median; ", ")", keep);
}

struct str prose_mean(const struct report *r, struct arena *keep)
{
	return mean_text(r, "; ", "", keep);
}

struct str prose_step(const struct report *r, struct arena *keep)
{
	double step_s = run_of(r)->step_mean_s;
	if (!(step_s > 0) || !isfinite(step_s))
		return STR("");
	return arena_fmt(keep, "%.*s%s", STR_ARG(time_text(keep, step_s)),
		is_whole_capture(r) ? ", no steps" : "");
}

void prose_shares(const struct report *r, double ret[SHARES])
{
	const struct run_row *run = run_of(r);
	ret[SHARE_COMPUTE] = run->compute_ratio;
	ret[SHARE_COMMS] = run->comms_exposed_ratio;
	ret[SHARE_TRANSFER] = run->transfer_ratio;
	ret[SHARE_IDLE] = run->idle_ratio;
	ret[SHARE_COPY] =
		1 - ret[SHARE_COMPUTE] - ret[SHARE_COMMS] - ret[SHARE_TRANSFER] - ret[SHARE_IDLE];
}

struct str prose_unclear(const struct report *r, struct arena *keep)
{
	double share = run_of(r)->unclear_comms_ratio;
	if (!(share >= 0.005))
		return STR("");
	return arena_fmt(keep, "; nothing says what %.0f%% of it does", share * 100);
}

const char *prose_bound(struct str cost_bound)
{
	return str_eq(cost_bound, STR("lower"))	  ? "at least "
	       : str_eq(cost_bound, STR("upper")) ? "at most "
						  : "";
}

struct str prose_unpredicted(const struct report *r, struct arena *keep)
{
	double ops = run_of(r)->unpredicted_ops;
	if (!(ops > 0))
		return STR("");
	return arena_fmt(keep, " without %.0f op%s of unknown cost", ops, ops == 1 ? "" : "s");
}

/*
 * "9 steady steps, 32.5 ms per step"; where nothing told steps apart, the window is no step:
 * "the whole capture, 45.3 ms".  Empty when no device op was recorded.
 */
static struct str prose_steps(const struct report *r, struct arena *keep)
{
	double steps = run_of(r)->steps, step_s = run_of(r)->step_time_s;
	double planned_s = run_of(r)->predicted_step_s;
	struct out *o = out_memory(keep);
	if (str_eq(run_of(r)->evidence, STR("planned")) && planned_s > 0)
		return arena_fmt(keep,
			"planned: %td of %td rules judged, at least %.*s per step%.*s",
			r->results.count - count_results(r, VERDICT_NOT_APPLICABLE) -
				count_results(r, VERDICT_INCONCLUSIVE) -
				count_results(r, VERDICT_OFF),
			r->results.count - count_results(r, VERDICT_OFF),
			STR_ARG(time_text(keep, planned_s)), STR_ARG(prose_unpredicted(r, keep)));
	if (!is_whole_capture(r) && steps >= 0)
		out_fmt(o, "%.0f steady step%s", steps, steps == 1 ? "" : "s");
	if (is_whole_capture(r) && step_s > 0)
		out_fmt(o, "the whole capture, %.*s", STR_ARG(time_text(keep, step_s)));
	else if (step_s > 0)
		out_fmt(out_part(o, ", "), "%.*s per step%.*s", STR_ARG(time_text(keep, step_s)),
			STR_ARG(prose_median(r, keep)));
	return out_text(o);
}

/* A verdict that speaks for less of the device time says so. */
#define SPEAKS_FOR_MOST 0.95
/* Work and sorts that the head names; the table of phases has all. */
enum { REST_NAMED = 3, SORTS_NAMED = 4 };
/* Of work that rules judge as far as its rooflines are known. */
#define SHARE_NAMED 0.05
/* Of the device time: less would be said as 0%. */
#define SHARE_SAID 0.005

/* What a server waits between its steps, and for how much of it requests are the reason. */
static void put_waits_between(struct out *o, const struct report *r)
{
	const struct phases_row *rows = table_rows(&r->tables, phases);
	double wait = 0, request = 0, unknown = 0;
	for (ptrdiff_t i = 0; i < table_count(&r->tables, phases); i++) {
		double share = rows[i].is_wait > 0 ? fmax(0, rows[i].time_share) : 0;
		wait += share;
		request += str_eq(rows[i].name, STR("request")) ? share : 0;
		unknown += str_eq(rows[i].name, STR("unknown")) ? share : 0;
	}
	if (!(run_of(r)->is_server > 0) || !(wait >= SHARE_NAMED))
		return;
	out_fmt(out_part(o, "; "), "the device waits between its steps for %.0f%% of the time",
		wait * 100);
	if (request >= SHARE_NAMED)
		out_fmt(o, ", for requests %.0f%%", request * 100);
	if (unknown >= SHARE_NAMED)
		out_fmt(o, ", for what the profile does not show %.0f%%", unknown * 100);
}

static void put_speaks_for(struct out *o, const struct report *r, struct arena *keep)
{
	const struct phases_row *rows = table_rows(&r->tables, phases);
	double share = run_of(r)->verdict_share, all_s = 0;
	ptrdiff_t count = table_count(&r->tables, phases), named = 0, others = 0;
	if (!(share < SPEAKS_FOR_MOST))
		return;
	for (ptrdiff_t i = 0; i < count; i++)
		all_s += rows[i].is_wait > 0 ? 0 : rows[i].time_s;
	out_fmt(o, "this verdict speaks for %.0f%% of the device time", share * 100);
	for (ptrdiff_t i = 0; i < count; i++) {
		double left = 1 - rows[i].judged_share;
		double taken = left * rows[i].time_s / all_s;
		if (rows[i].is_wait > 0 || !(left >= SHARE_NAMED))
			continue;
		if (named == REST_NAMED || (named > 0 && taken < SHARE_SAID)) {
			others++;
			continue;
		}
		named++;
		out_fmt(o, "%s %.*s%s %.0f%%", named > 1 ? "," : ";",
			STR_ARG(text_brief(keep, rows[i].modules)), named > 1 ? "" : " takes",
			taken * 100);
	}
	if (others > 0)
		out_fmt(o, ", and %td more the rest", others);
}

struct str prose_speaks_for(const struct report *r, struct arena *keep)
{
	struct out *o = out_memory(keep);
	put_speaks_for(o, r, keep);
	put_waits_between(o, r);
	return out_text(o);
}

struct str prose_sorts(const struct report *r, struct arena *keep)
{
	const struct phases_row *rows = table_rows(&r->tables, phases);
	struct out *o = out_memory(keep);
	ptrdiff_t named = 0, others = 0;
	for (ptrdiff_t i = 0; i < table_count(&r->tables, phases); i++)
		others += rows[i].step.len && !(rows[i].is_judged > 0);
	for (ptrdiff_t i = 0; others && i < table_count(&r->tables, phases); i++) {
		if ((!(rows[i].is_judged > 0) && !rows[i].step.len) || !(rows[i].p50_s > 0))
			continue;
		if (named++ == SORTS_NAMED) {
			out_z(o, "; and more");
			break;
		}
		out_fmt(o, "%s%.*s, %.0f times %.*s", named > 1 ? "; " : "sorts of steps: ",
			STR_ARG(text_brief(keep, rows[i].name)), rows[i].count,
			STR_ARG(time_text(keep, rows[i].p50_s)));
		if (rows[i].is_judged > 0)
			out_z(o, ", judged");
		else
			out_fmt(o, " (--step %.*s)", STR_ARG(rows[i].step));
	}
	return out_text(o);
}

struct list prose_speaks(const struct report *r, struct arena *keep)
{
	const struct str said[] = { prose_speaks_for(r, keep), prose_sorts(r, keep) };
	struct list lines = { 0 };
	for (ptrdiff_t i = 0; i < COUNT_OF(said); i++)
		if (said[i].len)
			list_add(&lines, said[i], keep);
	return lines;
}

struct str prose_job(const struct report *r, struct arena *keep)
{
	const struct run_row *run = run_of(r);
	const struct {
		const char *between, *name;
		struct str text;
	} facts[] = {
		{ "", "", run->model },
		{ " ", "of ", run->owner },
		{ ", ", "commit ", run->commit_id },
		{ ", ", "MFU ", isnan(run->mfu) ? MISSING : ratio_text(keep, run->mfu) },
		{ ", ", "HFU ", isnan(run->hfu) ? MISSING : ratio_text(keep, run->hfu) },
	};
	struct out *o = out_memory(keep);
	for (ptrdiff_t i = 0; i < COUNT_OF(facts); i++)
		if (facts[i].text.len)
			out_fmt(o, "%s%s%.*s", out_text(o).len ? facts[i].between : "",
				facts[i].name, STR_ARG(facts[i].text));
	return out_text(o);
}

/* ---- the machine ----------------------------------------------------------------------------- */

/* A user's own chip has an id of the same kind. */
struct str chip_text(struct arena *keep, struct str id)
{
	struct out *o = out_memory(keep);
	bool is_tpu = str_take(&id, STR("tpu_"));
	if (is_tpu)
		out_z(o, "TPU ");
	for (ptrdiff_t i = 0; i < id.len; i++) {
		char c = id.p[i];
		bool is_small = c >= 'a' && c <= 'z';
		out_char(o, c == '_' ? ' ' : is_small && !is_tpu ? (char)(c - 'a' + 'A') : c);
	}
	return out_text(o);
}

struct str prose_chips(const struct report *r, const char *times, struct arena *keep)
{
	double chips = run_of(r)->chips;
	if (!(chips > 0 && chips < 1e9))
		return MISSING;
	return text_brief(keep, text_clean(keep, prose_machine(r, times, keep)));
}

struct str prose_machine(const struct report *r, const char *times, struct arena *keep)
{
	struct out *o = out_memory(keep);
	struct str chip = run_of(r)->chip, platform = run_of(r)->platform;
	struct str name = run_of(r)->chip_name;
	double chips = run_of(r)->chips;
	if (chip.len)
		out_str(o, chip_text(keep, chip));
	else if (str_eq(platform, STR("cpu")))
		out_z(o, "CPU devices");
	else if (!platform.len || str_eq(platform, STR("unknown")))
		out_z(o, "no device ops");
	else if (!name.len)
		out_fmt(o, "unrecognised %.*s chip", STR_ARG(platform));
	else
		out_fmt(o, "unknown \"%.*s\"", STR_ARG(name));
	if (chips > 0)
		out_fmt(o, " %s%.0f", times, chips);
	return out_text(o);
}

struct str prose_ran(const struct report *r, const char *times, struct arena *keep)
{
	struct out *o = out_memory(keep);
	struct str steps = prose_steps(r, keep);
	double hosts = run_of(r)->hosts, expected = run_of(r)->hosts_expected;
	double machines = run_of(r)->machines;
	bool has_processes = machines < hosts;
	const char *what = has_processes		   ? "processes"
			   : hosts == 1 && !(expected > 1) ? "host"
							   : "hosts";
	out_str(o, prose_machine(r, times, keep));
	if (expected > hosts && hosts > 0)
		out_fmt(o, ", %.0f of %.0f %s", hosts, expected, what);
	else if (hosts > 0)
		out_fmt(o, ", %.0f %s", hosts, what);
	if (has_processes)
		out_fmt(o, " on %.0f host%s", machines, machines == 1 ? "" : "s");
	if (steps.len)
		out_fmt(o, ", %.*s", STR_ARG(steps));
	return out_text(o);
}

/* Whether more than one rule finds something that costs time; of one the headline says it. */
static bool several_cost(const struct report *r)
{
	const struct finding *first = NULL;

	for (ptrdiff_t i = 0; i < r->findings.count; i++) {
		const struct finding *f = &r->findings.items[i];

		if (!(f->gain_s > 0))
			continue;
		if (first && !str_eq(f->rule, first->rule))
			return true;
		first = f;
	}
	return false;
}

/* What kept the findings from giving back more. */
static struct str gain_limit(const struct report *r, struct arena *keep)
{
	const struct run_row *run = run_of(r);
	const struct deltas_row *d = step_delta(r);
	double rest = run->step_mean_s - r->gain_s, least = run->predicted_step_s;
	if (fabs(rest - least) <= 1e-6 * least)
		return arena_fmt(keep, ": all but the %.*s that its programs need at least",
			STR_ARG(time_text(keep, least)));
	if (d && fabs(r->gain_s - d->lost_s) <= 1e-6 * d->lost_s)
		return arena_fmt(
			keep, ": what it lost since %.*s", STR_ARG(comparison_name(d, keep)));
	return STR("");
}

struct str prose_promise(const struct report *r, struct arena *keep)
{
	return several_cost(r) ? arena_fmt(keep, "all fixes together give back %.*s%.*s",
					 STR_ARG(prose_gain(r, r->gain_s, keep)),
					 STR_ARG(gain_limit(r, keep)))
			       : MISSING;
}

struct str prose_brief(const struct report *r, const char *times, struct arena *keep)
{
	struct out *o = out_memory(keep);
	struct str chips = prose_chips(r, times, keep), promise = prose_promise(r, keep);
	double step_s = run_of(r)->step_time_s;
	if (step_s > 0)
		out_fmt(o, "%.*s %s%.*s", STR_ARG(time_text(keep, step_s)), prose_per(r),
			STR_ARG(prose_median(r, keep)));
	if (chips.len)
		out_fmt(out_part(o, " "), "on %.*s", STR_ARG(chips));
	if (promise.len)
		out_str(out_part(o, "; "), promise);
	return out_text(o);
}

/* ---- what was seen --------------------------------------------------------------------------- */

static bool is_name_of_others(const struct families_row *all, ptrdiff_t count, ptrdiff_t i)
{
	bool any = false;
	for (ptrdiff_t k = 0; k < count && !any; k++)
		any = k != i && str_eq(all[k].name, all[i].name);
	return any;
}

/* Which of several ops of one name: "custom-call.1, model.py:31", else by its scope. */
static struct str name_and_place(struct page *p, const struct families_row *f, struct str name)
{
	bool users = f->user_file.len > 0;
	struct str file = path_end(text_clean(p->keep, users ? f->user_file : f->source_file));
	struct str place = place_text(file, users ? f->user_line : f->source_line, p->keep);
	if (!place.len)
		place = text_brief(p->keep, text_clean(p->keep, f->scope));
	return place.len ? arena_fmt(p->keep, "%.*s, %.*s", STR_ARG(name), STR_ARG(place)) : name;
}

void page_heaviest(struct page *p, const struct report *r, ptrdiff_t most)
{
	enum { NAME_COLUMNS = 40 };
	const struct families_row *f = table_rows(&r->tables, families);
	/* A report may have been cut to these: names are told apart among them alone. */
	ptrdiff_t count = table_count(&r->tables, families) < REPORT_SEEN_ROWS
				  ? table_count(&r->tables, families)
				  : REPORT_SEEN_ROWS;
	for (ptrdiff_t i = 0; is_only_seen(r) && i < count && i < most; i++) {
		struct str name = text_cut(
			p->keep, text_function(text_clean(p->keep, f[i].name)), NAME_COLUMNS);
		struct out *o = out_memory(p->keep);
		if (is_name_of_others(f, count, i))
			name = name_and_place(p, &f[i], name);
		out_fmt(o, "%.*s: %.*s, %.*s%s", STR_ARG(name),
			STR_ARG(ratio_text(p->keep, f[i].time_share)),
			STR_ARG(time_text(p->keep, f[i].p50_s)), f[i].count > 1 ? " each" : "");
		/* A bound that was beaten does not tell what is attainable. */
		if (f[i].attainable_s > 0 && !(f[i].attainable_s > f[i].p50_s))
			out_fmt(o, " where %s%.*s is attainable", prose_bound(f[i].cost_bound),
				STR_ARG(time_text(p->keep, f[i].attainable_s)));
		page_field(p, i ? "" : "heaviest", out_text(o));
	}
	page_line(p);
}
