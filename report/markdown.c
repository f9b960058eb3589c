/*
 * Markdown for a job summary or a comment: the verdict, a table of findings by gain, and the
 * whole text of each behind a fold.
 *
 * Targets refuse what is too long, and GitHub then loses all of it: every piece is written only
 * when it fits, in the order of what it is worth, and the last line counts what did not.
 */
#include <math.h>

#include "base/text.h"
#include "report/alert.h"
#include "report/md.h"
#include "report/prose.h"

enum {
	TAIL_BYTES = 256,   /* kept free for the line that says what was left out */
	CELL_BYTES = 400,   /* of text in a cell; the fold has the whole */
	ROWS_MAX = 50,	    /* of a table: a comment is read, a list is not */
	SUBJECTS_SHOWN = 10 /* of one rule in its fold; report.json has all */
};

struct paper {
	struct out *out;
	struct arena *keep;
	ptrdiff_t room;	       /* bytes left before the tail */
	ptrdiff_t rows, folds; /* that were left out */
	const char *gain;      /* heads its column */
};

/* All of it or nothing. */
static bool put(struct paper *p, struct out *piece)
{
	struct str text = out_text(piece);
	if (text.len > p->room)
		return false;
	out_str(p->out, text);
	p->room -= text.len;
	return true;
}

static struct str cell(struct str text, struct arena *keep)
{
	return text_cut(keep, text_clean(keep, text), CELL_BYTES);
}

static struct str gain_cell(double gain_s, struct arena *keep)
{
	return gain_s > 0 && isfinite(gain_s) ? time_text(keep, gain_s) : STR("");
}

/* What is wholly counted in others says so, and what no step waits for. */
static struct str finding_gain(const struct alert *a, struct arena *keep)
{
	const struct group one = { &(const struct finding *){ a->finding }, 1, NAN, NAN };
	if (!a->finding || a->gain_s > 0)
		return gain_cell(a->gain_s, keep);
	return prose_cost(a->report, &one, keep);
}

/* ---- the head -------------------------------------------------------------------------------- */

static struct str sign(enum verdict v, struct arena *keep)
{
	return arena_fmt(keep, "%s %s", verdict_looks[v].mark, verdict_looks[v].head);
}

static void put_head(struct paper *p, const struct report *r)
{
	struct out *o = out_memory(p->keep);
	out_fmt(o, "## %.*s rooflint: ", STR_ARG(sign(r->verdict, p->keep)));
	md_text(o, cell(r->profile, p->keep));
	out_z(o, "\n\n");
	if (r->error.text.p) {
		put(p, o);
		return;
	}
	out_z(o, "**");
	md_text(o, cell(headline_of(r, p->keep), p->keep));
	out_z(o, "**\n\n");
	md_text(o, prose_brief(r, "\xc3\x97", p->keep));
	out_z(o, "\n\n");
	struct list lines = prose_speaks(r, p->keep),
		    compared = comparison_lines(r, COMPARISON_WHOLE, p->keep);
	for (ptrdiff_t i = 0; i < compared.count; i++)
		list_add(&lines, compared.items[i], p->keep);
	for (ptrdiff_t i = 0; i < lines.count; i++)
		md_item(o, lines.items[i]);
	out_z(o, lines.count ? "\n" : "");
	out_fmt(o, "Rules: %.*s\n\n", STR_ARG(prose_rules(r, p->keep)));
	put(p, o);
}

/* ---- several profiles ------------------------------------------------------------------------ */

static void put_batch(struct paper *p, const struct report_set *set)
{
	struct out *o = out_memory(p->keep);
	ptrdiff_t rows = 0;
	out_fmt(o, "## %.*s rooflint: %.*s\n\n", STR_ARG(sign(worst_verdict(set), p->keep)),
		STR_ARG(prose_profiles(set, p->keep)));
	if (set->count)
		out_fmt(o,
			"| Verdict | Profile | Machine | Mean step | %s |\n|---|---|---|--:|--:|\n",
			p->gain);
	put(p, o);
	for (ptrdiff_t i = 0; i < set->count; i++) {
		const struct report *r = &set->items[i];
		const struct str cells[] = { sign(r->verdict, p->keep), cell(r->profile, p->keep),
			prose_chips(r, "\xc3\x97", p->keep), prose_step(r, p->keep),
			gain_cell(r->gain_s, p->keep) };
		o = out_memory(p->keep);
		md_row(o, cells, COUNT_OF(cells));
		p->rows += rows++ >= ROWS_MAX || !put(p, o);
	}
	if (set->count && p->room > 0) {
		out_char(p->out, '\n');
		p->room--;
	}
}

/* ---- the table of findings ------------------------------------------------------------------- */

static void put_alert_row(struct paper *p, const struct alert *a, bool with_profile)
{
	struct out *o = out_memory(p->keep);
	const struct finding *f = a->finding;
	struct str cells[5];
	ptrdiff_t count = 0;
	cells[count++] = cell(a->title, p->keep);
	if (with_profile)
		cells[count++] = cell(a->report->profile, p->keep);
	cells[count++] = cell(a->message, p->keep);
	cells[count++] = finding_gain(a, p->keep);
	cells[count++] =
		f ? cell(place_text(f->source_file, f->source_line, p->keep), p->keep) : STR("");
	md_row(o, cells, count);
	p->rows += !put(p, o);
}

static void put_alerts(struct paper *p, const struct alerts *all, bool with_profile)
{
	struct out *o = out_memory(p->keep);
	if (!all->count)
		return;
	out_fmt(o, "| Rule |%s Finding | %s | Where |\n|---|%s---|--:|---|\n",
		with_profile ? " Profile |" : "", p->gain, with_profile ? "---|" : "");
	if (!put(p, o)) {
		p->rows += all->count;
		return;
	}
	for (ptrdiff_t i = 0; i < all->count && i < ROWS_MAX; i++)
		put_alert_row(p, &all->items[i], with_profile);
	if (all->count > ROWS_MAX)
		p->rows += all->count - ROWS_MAX;
	o = out_memory(p->keep);
	out_char(o, '\n');
	put(p, o);
}

/* ---- folds ----------------------------------------------------------------------------------- */

/* No fold is shorter: below it, none is made only to be thrown away. */
enum { FOLD_BYTES = 100 };

/* A rule that failed tells what it only warns of, too. */
static void put_fold(struct paper *p, const struct alert *a, bool with_profile)
{
	struct out *o = out_memory(p->keep);
	if (p->room < FOLD_BYTES) {
		p->folds++;
		return;
	}
	out_z(o, "<details>\n<summary><b>");
	md_html(o, cell(a->title, p->keep));
	out_z(o, "</b>");
	if (with_profile) {
		out_z(o, " in ");
		md_html(o, cell(a->report->profile, p->keep));
	}
	out_z(o, "</summary>\n\n");
	enum verdict v = a->level == ALERT_ERROR ? VERDICT_FAIL : VERDICT_WARN;
	struct group g = group_of(a->report, a->finding->rule, v, p->keep);
	md_block(o, prose_whole(a->report, &g, SUBJECTS_SHOWN, p->keep));
	out_z(o, "\n</details>\n\n");
	p->folds += !put(p, o);
}

/* Folds tried: each signs through the alerts before it, and no comment holds more. */
enum { FOLDS_MAX = 1000 };

/* One fold a rule and profile: the first of its alerts opens it. */
static void put_folds(struct paper *p, const struct alerts *all, bool with_profile)
{
	ptrdiff_t tried = 0;
	for (ptrdiff_t i = 0; i < all->count && tried < FOLDS_MAX; i++) {
		const struct alert *a = &all->items[i], *b = all->items;
		if (!a->finding)
			continue;
		while (b < a && !(b->finding && b->report == a->report && str_eq(b->rule, a->rule)))
			b++;
		if (b < a)
			continue;
		tried++;
		put_fold(p, a, with_profile);
	}
}

/* ---- what was seen --------------------------------------------------------------------------- */

static void put_seen(struct paper *p, const struct report *r)
{
	struct page page = { .out = out_memory(p->keep), .keep = p->keep, .width = BLOCK_WIDTH };
	struct out *o = out_memory(p->keep);
	page_heaviest(&page, r, REPORT_SEEN_ROWS);
	if (!out_text(page.out).len)
		return;
	md_block(o, out_text(page.out));
	out_char(o, '\n');
	p->folds += !put(p, o);
}

/* ---- the document ---------------------------------------------------------------------------- */

static void put_tail(struct paper *p)
{
	const char *between = "";
	if (!p->rows && !p->folds)
		return;
	out_z(p->out, "_Left out here for its length:");
	if (p->rows) {
		out_fmt(p->out, " %lld row%s", (long long)p->rows, p->rows == 1 ? "" : "s");
		between = " and";
	}
	if (p->folds)
		out_fmt(p->out, "%s %lld detail%s", between, (long long)p->folds,
			p->folds == 1 ? "" : "s");
	out_z(p->out, ". report.json has all._\n");
}

void report_markdown(
	const struct report_set *set, ptrdiff_t bytes, struct arena *keep, struct out *out)
{
	struct alerts all = alerts_of(set, keep);
	bool is_batch = set->count != 1;
	struct paper paper = { .out = out, .keep = keep, .room = bytes - TAIL_BYTES };
	paper.gain = "Gain";
	for (ptrdiff_t i = 0; i < set->count; i++)
		if (!is_whole_capture(&set->items[i]))
			paper.gain = "Gain per step";
	if (bytes < TAIL_BYTES) /* a summary that is full already */
		return;
	if (is_batch)
		put_batch(&paper, set);
	else
		put_head(&paper, &set->items[0]);
	put_alerts(&paper, &all, is_batch);
	put_folds(&paper, &all, is_batch);
	if (!is_batch)
		put_seen(&paper, &set->items[0]);
	put_tail(&paper);
}
