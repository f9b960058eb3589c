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
 * Findings that failed stand first, each by what it costs.  The count stands last, where a reader
 * of a long log looks first.  Several profiles begin with the first of them and a table of all.
 */
#include <limits.h>
#include <string.h>

#include "base/text.h"
#include "report/alert.h"
#include "report/prose.h"

enum { WIDTH_LEAST = 40, WIDTH_MOST = 100 /* longer lines read badly */ };

/* Subjects of one rule that are listed behind the first; `verbose` shows all. */
enum { OTHERS_SHOWN = 3 };

/* Lines below "FAIL  runs/nightly". */
enum { HEAD_INDENT = 6 };

/* ---- the head of a profile ------------------------------------------------------------------- */

static void put_shares(struct page *p, const struct report *r)
{
	static const struct {
		int share;
		const char *text;
	} told[SHARES] = { { SHARE_COMPUTE, "computing" },
		{ SHARE_COMMS, "waiting for communication" },
		{ SHARE_TRANSFER, "moving data to or from the host" }, { SHARE_IDLE, "idle" },
		{ SHARE_COPY, "copying" } };
	struct out *list = out_memory(p->keep);
	double shares[SHARES];
	prose_shares(r, shares);
	for (int i = 0; i < SHARES; i++) {
		double share = shares[told[i].share];
		/* Less than half a percent is not worth a word, and all is all. */
		if (share >= 0.995)
			out_fmt(out_part(list, ", "), "%.*s %s",
				STR_ARG(unit_text(p->keep, share, UNIT_RATIO)), told[i].text);
		else if (share >= 0.005)
			out_fmt(out_part(list, ", "), "%.0f%% %s", share * 100, told[i].text);
	}
	if (!out_text(list).len)
		return;
	page_item(p, HEAD_INDENT, "%s is %.*s%.*s", is_whole_capture(r) ? "the capture" : "a step",
		STR_ARG(out_text(list)), STR_ARG(prose_unclear(r, p->keep)));
}

/* "FAIL  runs/nightly: 18.5% slower than monday.json: ..." */
static void put_verdict(struct page *p, const struct report *r)
{
	const struct verdict_look *look = &verdict_looks[r->verdict];
	page_tint(p, look->tint, str_from(look->head));
	page_z(p, "  ");
	page_tint(p, TINT_BOLD, r->profile);
	page_z(p, ":");
	page_fmt(p, HEAD_INDENT, " %.*s", STR_ARG(headline_of(r, p->keep)));
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

/* What was read, in a line; with all, each file in one of its own. */
static void put_inputs(struct page *p, const struct report *r, bool all)
{
	const struct files_row *rows = table_rows(&r->tables, files);
	ptrdiff_t count = all ? table_count(&r->tables, files) : 0;
	double left = all ? r->row_totals[TABLE_files] - (double)count : 0;
	struct str text = run_of(r)->inputs;
	if (!text.len)
		return;
	page_item(p, HEAD_INDENT, "read from %.*s", STR_ARG(text));
	for (ptrdiff_t i = 0; i < count; i++)
		page_item(p, HEAD_INDENT + 2, "%.*s", STR_ARG(file_text(&rows[i], p->keep)));
	if (left > 0)
		page_item(p, HEAD_INDENT + 2, "and %.0f more", left);
}

/* Whether the headline has said how the step changed. */
static enum comparison_told told_by(const struct report *r, struct arena *keep)
{
	return headline_says_step(r, keep) ? COMPARISON_REST : COMPARISON_WHOLE;
}

static void put_head(struct page *p, const struct report *r)
{
	page_told(p, HEAD_INDENT, prose_ran(r, "x", p->keep));
	put_inputs(p, r, true);
	page_told(p, HEAD_INDENT, prose_job(r, p->keep));
	page_told(p, HEAD_INDENT, prose_speaks_for(r, p->keep));
	page_told(p, HEAD_INDENT, prose_sorts(r, p->keep));
	put_shares(p, r);
	page_told(p, HEAD_INDENT, prose_promise(r, p->keep));
	page_lines(p, HEAD_INDENT, comparison_lines(r, told_by(r, p->keep), p->keep));
	page_line(p);
}

/* ---- findings -------------------------------------------------------------------------------- */

static void put_tag(struct page *p, enum tint tint, const char *word, struct str name)
{
	struct out *o = out_memory(p->keep);
	out_fmt(o, "%s[%.*s]", word, STR_ARG(name));
	page_tint(p, tint, out_text(o));
}

/* The indent of a headline's second line: under the words of --> file. */
enum { HEADLINE_INDENT = 7 };

static void put_finding(struct page *p, const struct report *r, const struct group *g,
	const struct report_style *style)
{
	const struct finding *f = g->items[0];
	struct prose_style prose = { style->verbose ? g->count : OTHERS_SHOWN, style->verbose };
	page_break(p);
	put_tag(p, verdict_looks[f->verdict].tint, verdict_looks[f->verdict].tag, f->rule);
	if (headline_finding(r, p->keep) != f)
		page_fmt(p, HEADLINE_INDENT, ": %.*s", STR_ARG(f->message));
	prose_group(p, r, g, &prose);
}

static void put_waived(struct page *p, const struct report *r)
{
	struct group *groups;
	ptrdiff_t count = group_findings(r, VERDICT_WAIVED, p->keep, &groups);
	for (ptrdiff_t i = 0; i < count; i++) {
		const struct group *g = &groups[i];
		page_break(p);
		put_tag(p, TINT_DIM, "waived", g->items[0]->rule);
		page_fmt(p, HEADLINE_INDENT, ": %.*s", STR_ARG(g->items[0]->message));
		if (g->count > 1)
			page_fmt(p, HEADLINE_INDENT, " and %lld more", (long long)g->count - 1);
		page_line(p);
		page_field(p, "note", g->items[0]->note);
		page_line(p);
	}
}

/* ---- what could not be judged ---------------------------------------------------------------- */

static struct str rule_names(
	const struct rule_result *const *rules, ptrdiff_t count, struct arena *keep)
{
	struct out *names = out_memory(keep);
	for (ptrdiff_t i = 0; i < count; i++)
		out_str(out_part(names, ", "), text_clean(keep, rules[i]->name));
	return out_text(names);
}

/* Each cause with what to do, and the rules that wait. */
static void put_troubles(struct page *p, const struct report *r)
{
	struct trouble *troubles;
	ptrdiff_t count = group_troubles(r, p->keep, &troubles);
	for (ptrdiff_t i = 0; i < count; i++) {
		const struct trouble *t = &troubles[i];
		page_break(p);
		page_tint(p, TINT_UNSURE, STR("inconclusive"));
		page_fmt(p, HEADLINE_INDENT, "[%.*s]: %.*s",
			STR_ARG(rule_names(t->rules, t->own, p->keep)), STR_ARG(t->reason));
		prose_unsure(p, r, t->rules[0], t->todo);
		page_field(p, "waiting", rule_names(t->rules + t->own, t->count - t->own, p->keep));
		page_line(p);
	}
}

/* In a paragraph of them, three lines of text; -v has all. */
enum { CAUSES_SHOWN = 3, CAUSES_BYTES = 3 * 76 };

static bool is_of_trouble(const struct trouble *t, const struct rule_result *rule)
{
	ptrdiff_t i = 0;
	while (i < t->count && t->rules[i] != rule)
		i++;
	return i < t->count;
}

/*
 * One paragraph: how many rules, the first cause that counts and what to do about it, and the other
 * causes.  The headline of an inconclusive report has told the first.
 */
static void put_unsure(struct page *p, const struct report *r)
{
	const struct rule_result *first = headline_cause(r);
	ptrdiff_t open = count_results(r, VERDICT_INCONCLUSIVE), told = 0, lead = 0;
	ptrdiff_t room = CAUSES_BYTES;
	struct trouble *troubles;
	ptrdiff_t count = group_troubles(r, p->keep, &troubles);
	struct out *others = out_memory(p->keep);
	if (!open)
		return;
	page_break(p);
	page_tint(p, TINT_UNSURE, STR("not judged"));
	page_fmt(p, PAGE_LABEL, ": %td of %td rules", open, r->results.count);
	while (first && lead < count && !is_of_trouble(&troubles[lead], first))
		lead++;
	lead = lead < count ? lead : 0;
	if (r->verdict != VERDICT_INCONCLUSIVE)
		page_fmt(p, PAGE_LABEL, ": %.*s",
			STR_ARG(troubles[lead].reason.len > room ? STR("-v says why")
								 : troubles[lead].reason));
	/* What was asked for stands beside what had to be. */
	struct str todo = troubles[lead].todo, needs = comparison_needs(r, p->keep);
	if (needs.len && !(first && str_eq(first->lacks, STR("lo"))))
		todo = arena_fmt(p->keep, "%.*s %.*s", STR_ARG(todo), STR_ARG(needs));
	page_field(p, "do", todo);
	for (ptrdiff_t i = 0; i < count && told < CAUSES_SHOWN; i++) {
		if (i == lead || troubles[i].reason.len > room)
			continue;
		out_str(out_part(others, "; "), troubles[i].reason);
		room -= troubles[i].reason.len;
		told++;
	}
	if (told < count - 1)
		out_fmt(out_part(others, "; and "), "%td more (-v)", count - 1 - told);
	page_field(p, "also", out_text(others));
	page_line(p);
}

/* ---- notes, rules, rows, the count ----------------------------------------------------------- */

/* Remarks of the readers; -v has what each check of the data saw, too. */
enum { NOTES_SHOWN = 3, NOTE_BYTES = 300 };

static void put_checks(struct page *p, const struct report *r)
{
	const struct quality_row *rows = table_rows(&r->tables, quality);
	const struct quality_row *told = check_of(r, STR("baseline-found")); /* in the head */
	page_break(p);
	for (ptrdiff_t i = 0; i < table_count(&r->tables, quality); i++) {
		if (!rows[i].detail.len || (&rows[i] == told && !(told->ok > 0)))
			continue;
		put_tag(p, TINT_BOLD, "note", rows[i].name);
		page_fmt(p, HEADLINE_INDENT, ": %.*s", STR_ARG(rows[i].detail));
		page_line(p);
	}
}

static void put_notes(struct page *p, const struct report *r, bool whole)
{
	ptrdiff_t shown = 0, left = 0;
	for (ptrdiff_t i = 0; i < r->notes.count; i++) {
		const struct diag_note *n = &r->notes.items[i];
		if (note_is_comparison(n))
			continue;
		if (!whole && shown == NOTES_SHOWN) {
			left++;
			continue;
		}
		if (!shown++)
			page_break(p);
		put_tag(p, TINT_BOLD, "note", diag_name(n->id, p->keep));
		page_fmt(p, HEADLINE_INDENT, ": %.*s",
			STR_ARG(whole ? n->text
				      : text_cut(p->keep, text_clean(p->keep, n->text),
						NOTE_BYTES)));
		page_line(p);
	}
	if (left)
		page_fmt(p, 0, "and %td more: -v shows all", left);
	page_line(p);
}

static void put_rules(struct page *p, const struct report *r)
{
	/* "not applicable" is the longest verdict. */
	enum { VERDICT_COLUMNS = 16 };
	int indent = 0;
	if (!r->results.count)
		return;
	for (ptrdiff_t i = 0; i < r->results.count; i++) {
		int columns = text_columns(text_clean(p->keep, r->results.items[i].name));
		indent = indent > columns ? indent : columns;
	}
	indent += PAGE_LABEL + VERDICT_COLUMNS + 2;
	page_break(p);
	page_fmt(p, 0, "rules of %.*s", STR_ARG(r->rules));
	page_line(p);
	for (ptrdiff_t i = 0; i < r->results.count; i++) {
		const struct rule_result *rule = &r->results.items[i];
		const struct verdict_look *look = &verdict_looks[rule->verdict];
		page_pad(p, PAGE_LABEL);
		page_tint(p, look->tint, str_from(look->tag));
		page_pad(p, PAGE_LABEL + VERDICT_COLUMNS);
		page_put(p, rule->name);
		page_pad(p, indent);
		page_wrap(p, indent, rule->title);
		struct str number = prose_limits(rule, rule->number.value, p->keep);
		if (number.len && rule->verdict == VERDICT_PASS)
			page_fmt(p, indent, " (%.*s)", STR_ARG(number));
		if (rule->reason.len && rule->verdict != VERDICT_INCONCLUSIVE)
			page_fmt(p, indent, " (%.*s)", STR_ARG(rule->reason));
		page_line(p);
	}
}

/* ---- one profile ----------------------------------------------------------------------------- */

/*
 * One line, whatever its length, so that it can be searched for; carets stay under what they
 * point at.
 */
static void put_error(struct page *p, const struct report *r)
{
	struct str text = clean_lines(p->keep, r->error.text), line;
	page_tint(p, TINT_BAD,
		arena_fmt(p->keep, "ERROR[%.*s]", STR_ARG(diag_name(r->error.id, p->keep))));
	page_z(p, "  ");
	/* What is wrong with rules, a job file or a baseline does not name the profile. */
	if (diag_is_of_setup(r->error.id))
		page_put(p, arena_fmt(p->keep, "%.*s: ", STR_ARG(r->profile)));
	while (str_next(&text, '\n', &line)) {
		page_put(p, line);
		page_line(p);
	}
}

/* " (events were lost)" */
static void put_short_message(struct out *o, const struct finding *f, struct arena *keep)
{
	struct str text = text_clean(keep, f->message);
	if (str_ends(text, STR(".")))
		text = str_head(text, text.len - 1);
	if (text.len)
		out_fmt(o, " (%.*s)", STR_ARG(text_cut(keep, text, TEXT_BRIEF)));
}

/*
 * "also: fail[idle], 33.2% of the step; warning[new-ops], 11.1%": those that found no room.  Where
 * no number says what it costs, its message does: "warning[data-quality] (events were lost)".  A
 * report that could not judge leaves out all of them: the headline has said what the costliest
 * costs, and its fix follows.
 */
static const struct finding *put_left_out(
	struct page *p, const struct report *r, const struct group *groups, ptrdiff_t count)
{
	const struct finding *costliest = NULL;
	struct out *also = out_memory(p->keep);
	double most_s = 0, told_s = 0, step_s = run_of(r)->step_mean_s;
	bool is_unsure = r->verdict == VERDICT_INCONCLUSIVE;
	const char *of = arena_z(p->keep, arena_fmt(p->keep, " of the %s", prose_span(r)));
	for (ptrdiff_t i = 0; i < count && is_unsure; i++) /* in the headline */
		told_s = groups[i].cost_s > told_s ? groups[i].cost_s : told_s;
	for (ptrdiff_t i = 0; i < count; i++) {
		const struct group *g = &groups[i];
		const struct finding *f = g->items[0];
		const struct rule_result *rule = rule_of(r, f->rule);
		/* Its rule stands with what could not be judged. */
		if (is_unsure && rule && rule->verdict == VERDICT_INCONCLUSIVE && !(g->gain_s > 0))
			continue;
		if (g->cost_s > most_s) {
			costliest = f;
			most_s = g->cost_s;
		}
		out_fmt(out_part(also, "; "), "%s[%.*s]", verdict_looks[f->verdict].tag,
			STR_ARG(text_clean(p->keep, f->rule)));
		if (f->of_window) {
			out_fmt(also, ", %.*s", STR_ARG(prose_cost(r, g, p->keep)));
		} else if (g->gain_s > 0 && step_s > 0) {
			out_fmt(also, ", %.*s%s", STR_ARG(ratio_text(p->keep, g->gain_s / step_s)),
				of);
			of = "";
		} else if (!(told_s > 0 && g->cost_s >= told_s)) {
			put_short_message(also, f, p->keep);
		}
	}
	if (!out_text(also).len)
		return NULL;
	page_break(p);
	page_fmt(p, PAGE_LABEL, "also: %.*s", STR_ARG(out_text(also)));
	page_line(p);
	return is_unsure ? costliest : NULL;
}

static void put_count(struct page *p, const struct report *r)
{
	page_break(p);
	page_wrap_tint(p, TINT_BOLD, 0, prose_rules(r, p->keep));
	page_line(p);
}

static void put_more(struct page *p, const struct group *groups, ptrdiff_t count)
{
	if (count) /* for those who see a rule for the first time: a command to copy */
		page_fmt(p, 0, "More about a rule: rooflint explain %.*s",
			STR_ARG(groups[0].items[0]->rule));
	page_line(p);
}

/* What fits a screen beside a prompt; a report that could not judge takes half of it. */
enum { LINES_MOST = 40, LINES_UNSURE = 20, HEAVIEST = 3 };

/* What a screen is made of; where there is no room, the last of the least worth goes first. */
enum worth { WORTH_ALL, WORTH_MUCH, WORTH_SOME, WORTH_LITTLE };
struct screen {
	const struct page *page;
	struct piece {
		struct str text;
		enum worth worth;
	} * pieces;
	ptrdiff_t count, cap;
};

/* A page for the next piece. */
static struct page page_aside(const struct page *p)
{
	return (struct page){ out_memory(p->keep), p->keep, p->color, p->width, 0 };
}

static void add_piece(struct screen *s, enum worth worth, struct page *piece)
{
	page_line(piece);
	if (out_text(piece->out).len)
		*arena_push(piece->keep, s->pieces, s->count, s->cap) =
			(struct piece){ out_text(piece->out), worth };
}

static void add_told(struct screen *s, enum worth worth, struct str text)
{
	struct page piece = page_aside(s->page);
	page_told(&piece, HEAD_INDENT, text);
	add_piece(s, worth, &piece);
}

static ptrdiff_t lines_of(const struct screen *s)
{
	ptrdiff_t lines = 0;
	for (ptrdiff_t i = 0; i < s->count; i++)
		for (ptrdiff_t k = 0; k < s->pieces[i].text.len; k++)
			lines += s->pieces[i].text.p[k] == '\n';
	return lines;
}

static bool drop_piece(struct screen *s)
{
	ptrdiff_t least = 0;
	for (ptrdiff_t i = 1; i < s->count; i++)
		if (s->pieces[i].worth >= s->pieces[least].worth)
			least = i;
	if (s->pieces[least].worth == WORTH_ALL)
		return false;
	s->count--;
	memmove(&s->pieces[least], &s->pieces[least + 1],
		(size_t)(s->count - least) * sizeof(s->pieces[0]));
	return true;
}

static void add_head(struct screen *s, const struct report *r)
{
	struct arena *keep = s->page->keep;
	struct list compared = comparison_lines(r, told_by(r, keep), keep);
	struct page verdict = page_aside(s->page), inputs = page_aside(s->page),
		    shares = page_aside(s->page);
	put_verdict(&verdict, r);
	put_inputs(&inputs, r, false);
	put_shares(&shares, r);
	add_piece(s, WORTH_ALL, &verdict);
	add_told(s, WORTH_MUCH, prose_ran(r, "x", keep));
	add_piece(s, WORTH_ALL, &inputs);
	add_told(s, WORTH_SOME, prose_job(r, keep));
	add_told(s, WORTH_SOME, prose_speaks_for(r, keep));
	/* A report that could not judge has no room for which other steps could be. */
	if (r->verdict != VERDICT_INCONCLUSIVE)
		add_told(s, WORTH_LITTLE, prose_sorts(r, keep));
	add_piece(s, WORTH_MUCH, &shares);
	add_told(s, WORTH_SOME, prose_promise(r, keep));
	for (ptrdiff_t i = 0; i < compared.count; i++)
		add_told(s, WORTH_MUCH, compared.items[i]);
}

/* The first findings whole, `shown` of them; the others in a line. */
static void fill_screen(struct screen *s, const struct report *r, const struct report_style *style,
	const struct group *groups, ptrdiff_t count, ptrdiff_t shown)
{
	struct page findings = page_aside(s->page), also = page_aside(s->page),
		    fix = page_aside(s->page), unsure = page_aside(s->page),
		    heaviest = page_aside(s->page), waived = page_aside(s->page),
		    notes = page_aside(s->page), tail = page_aside(s->page),
		    more = page_aside(s->page);
	const struct finding *costliest;
	*s = (struct screen){ .page = s->page };
	add_head(s, r);
	for (ptrdiff_t i = 0; i < shown; i++)
		put_finding(&findings, r, &groups[i], style);
	costliest = put_left_out(&also, r, groups + shown, count - shown);
	if (costliest)
		page_field(&fix, "fix",
			arena_fmt(s->page->keep, "%.*s: %.*s", STR_ARG(costliest->rule),
				STR_ARG(costliest->fix)));
	put_unsure(&unsure, r);
	page_heaviest(&heaviest, r, HEAVIEST);
	put_waived(&waived, r);
	put_notes(&notes, r, false);
	put_count(&tail, r);
	put_more(&more, groups, count);
	add_piece(s, WORTH_ALL, &findings);
	add_piece(s, WORTH_ALL, &also);
	add_piece(s, WORTH_SOME, &fix);
	add_piece(s, WORTH_ALL, &unsure);
	add_piece(s, WORTH_MUCH, &heaviest);
	add_piece(s, WORTH_MUCH, &waived);
	add_piece(s, WORTH_SOME, &notes);
	add_piece(s, WORTH_ALL, &tail);
	add_piece(s, WORTH_SOME, &more);
}

/* Moves a group behind the first `shown`, and those between one further. */
static void show_next(struct group *groups, ptrdiff_t shown, ptrdiff_t at)
{
	const struct group next = groups[at];
	memmove(&groups[shown + 1], &groups[shown], (size_t)(at - shown) * sizeof(*groups));
	groups[shown] = next;
}

/* Takes from the first finding on whatever still fits. */
static void put_screen(struct page *p, const struct report *r, const struct report_style *style,
	struct group *groups, ptrdiff_t count)
{
	bool is_unsure = r->verdict == VERDICT_INCONCLUSIVE;
	ptrdiff_t most = is_unsure ? LINES_UNSURE : LINES_MOST;
	ptrdiff_t shown = count && !is_unsure;
	struct screen screen = { .page = p }, more = { .page = p };
	struct group *tried = arena_make(p->keep, struct group, count + 1);
	fill_screen(&screen, r, style, groups, count, shown);
	for (ptrdiff_t i = shown; i < count; i++) {
		memcpy(tried, groups, (size_t)count * sizeof(*groups));
		show_next(tried, shown, i);
		fill_screen(&more, r, style, tried, count, shown + 1);
		if (lines_of(&more) > most)
			continue;
		screen = more;
		show_next(groups, shown++, i);
	}
	while (lines_of(&screen) > most && drop_piece(&screen))
		;
	for (ptrdiff_t i = 0; i < screen.count; i++)
		out_str(p->out, screen.pieces[i].text);
}

static void put_profile(struct page *p, const struct report *r, const struct report_style *style)
{
	struct group *groups;
	ptrdiff_t count = group_open(r, p->keep, &groups);
	if (!style->quiet && !style->verbose) {
		put_screen(p, r, style, groups, count);
		return;
	}
	put_verdict(p, r);
	if (!style->quiet) {
		put_head(p, r);
		for (ptrdiff_t i = 0; i < count; i++)
			put_finding(p, r, &groups[i], style);
		put_troubles(p, r);
		put_waived(p, r);
		put_notes(p, r, true);
		put_checks(p, r);
		if (is_only_seen(r))
			page_break(p);
		page_heaviest(p, r, REPORT_SEEN_ROWS);
		put_rules(p, r);
		put_count(p, r);
		put_more(p, groups, count);
	}
	page_line(p);
}

/* ---- a batch --------------------------------------------------------------------------------- */

/* The rule that decided, or the error; missing when nothing fails or warns. */
static struct str first_finding(const struct report *r, struct arena *keep)
{
	struct group *groups;
	return group_open(r, keep, &groups) ? groups[0].items[0]->rule : MISSING;
}

enum { SUMMARY_COLUMNS = 5, SUMMARY_PATH = 1, PATH_LEAST = 20 };

/* The end of a path that has more columns than that. */
static struct str path_within(struct str path, int columns, struct arena *keep)
{
	ptrdiff_t cut = path.len;
	if (text_columns(path) <= columns)
		return path;
	while (cut > 0 && text_columns(str_from_offset(path, cut - 1)) <= columns - 3)
		cut--;
	return arena_fmt(keep, "...%.*s", STR_ARG(str_from_offset(path, cut)));
}

/*
 * "FAIL  2 profiles: 1 failed, 1 passed; first runs/nightly: ...", and a row for each, in which a
 * long path leaves room for the rest: it stands whole with its report.
 */
static void put_summary(struct page *p, const struct report_set *set)
{
	const struct verdict_look *look = &verdict_looks[worst_verdict(set)];
	static const struct str heads[SUMMARY_COLUMNS] = { STR_INIT(""), STR_INIT("profile"),
		STR_INIT("mean step"), STR_INIT("gives back"), STR_INIT("first finding") };
	struct str *cells = arena_make(p->keep, struct str, (set->count + 1) * SUMMARY_COLUMNS);
	int widths[SUMMARY_COLUMNS] = { 0 }, room = p->width, starts[SUMMARY_COLUMNS] = { 0 };
	memcpy(cells, heads, sizeof(heads));
	for (ptrdiff_t i = 0; i < set->count; i++) {
		const struct report *r = &set->items[i];
		const struct str row[SUMMARY_COLUMNS] = { str_from(verdict_looks[r->verdict].head),
			r->profile, prose_step(r, p->keep), prose_gives_back(r, p->keep),
			first_finding(r, p->keep) };
		for (int k = 0; k < SUMMARY_COLUMNS; k++)
			cells[(i + 1) * SUMMARY_COLUMNS + k] =
				k > 1 && !row[k].len ? STR("-") : text_clean(p->keep, row[k]);
	}
	for (ptrdiff_t i = 0; i < (set->count + 1) * SUMMARY_COLUMNS; i++) {
		int columns = text_columns(cells[i]), *width = &widths[i % SUMMARY_COLUMNS];
		*width = columns > *width ? columns : *width;
	}
	for (int k = 0; k < SUMMARY_COLUMNS; k++)
		room -= k == SUMMARY_PATH ? 2 * (SUMMARY_COLUMNS - 1) : widths[k];
	room = room > PATH_LEAST ? room : PATH_LEAST;
	if (widths[SUMMARY_PATH] > room)
		widths[SUMMARY_PATH] = room;
	for (int k = 1; k < SUMMARY_COLUMNS; k++)
		starts[k] = starts[k - 1] + widths[k - 1] + 2;
	page_tint(p, look->tint, str_from(look->head));
	page_z(p, "  ");
	page_fmt(p, HEAD_INDENT, "%.*s; first %.*s: %.*s", STR_ARG(prose_profiles(set, p->keep)),
		STR_ARG(set->items[0].profile), STR_ARG(headline_of(&set->items[0], p->keep)));
	page_break(p);
	for (ptrdiff_t i = 0; i <= set->count; i++, page_line(p))
		for (int k = 0; k < SUMMARY_COLUMNS; k++) {
			enum tint tint = !i  ? TINT_DIM
					 : k ? TINT_NONE
					     : verdict_looks[set->items[i - 1].verdict].tint;
			page_pad(p, starts[k]);
			struct str cell = cells[i * SUMMARY_COLUMNS + k];
			page_tint(p, tint,
				k == SUMMARY_PATH ? path_within(cell, room, p->keep) : cell);
		}
}

void report_terminal(const struct report_set *set, const struct report_style *style,
	struct arena *keep, struct out *out)
{
	int wanted = style->width > 0 ? style->width : TEXT_WIDTH;
	int width = wanted < WIDTH_LEAST ? WIDTH_LEAST : wanted > WIDTH_MOST ? WIDTH_MOST : wanted;
	/* One line a profile is a promise of -q: nothing wraps. */
	struct page page = { out, keep, style->color, style->quiet ? INT_MAX / 2 : width, 0 };
	if (set->count > 1 && !style->quiet)
		put_summary(&page, set);
	for (ptrdiff_t i = 0; i < set->count; i++) {
		if (set->count > 1 && !style->quiet)
			page_break(&page);
		if (set->items[i].error.text.p)
			put_error(&page, &set->items[i]);
		else
			put_profile(&page, &set->items[i], style);
	}
	if (set->count > 1) {
		if (!style->quiet)
			page_break(&page);
		page_fmt(&page, 0, "%.*s", STR_ARG(prose_profiles(set, keep)));
		page_line(&page);
	}
}
