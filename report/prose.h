/*
 * A page of plain text: words wrapped under their indent, labels in a margin, colour if wanted.
 * The terminal is made of it, and so is the text inside a JUnit failure.  Private to report/.
 *
 * Everything put on a page is cleaned here (clean_lines), so nothing in a profile can move the
 * cursor, colour the screen or forge a line.
 */
#ifndef REPORT_PROSE_H
#define REPORT_PROSE_H

#include "report/model.h"

enum tint { TINT_NONE, TINT_BOLD, TINT_DIM, TINT_BAD, TINT_WARN, TINT_GOOD, TINT_UNSURE };

/* The words and the sign of a verdict. */
struct verdict_look {
	enum tint tint;
	const char *tag;	/* in front of a finding: "warning" */
	const char *one, *many; /* counted rules: "2 warnings" */
	const char *word;	/* on a page: "Warning" */
	const char *head;	/* of a report: "WARN" */
	const char *mark;	/* where there is room for a sign only */
	const char *profiles;	/* counted reports: "with warnings" */
};
extern const struct verdict_look verdict_looks[VERDICT_ERROR + 1];
/* The worst of the reports' verdicts; inconclusive when there are none. */
enum verdict worst_verdict(const struct report_set *set);
/* "3 profiles: 1 failed, 2 passed" */
struct str prose_profiles(const struct report_set *set, struct arena *keep);
/* "1 failed, 2 warnings, 12 passed": its rules */
struct str prose_rules(const struct report *r, struct arena *keep);
/* As a sentence begins. */
struct str capital(struct str s, struct arena *keep);
/* Rules are counted in this order. */
enum { RULE_VERDICTS = 7 };
extern const enum verdict rule_verdicts[RULE_VERDICTS];

struct page {
	struct out *out;
	struct arena *keep;
	bool color;
	int width;
	int column; /* where the next character goes, from 0 */
};

/* Margins of the page.  A label starts at 2; what it labels starts behind the longest. */
enum { PAGE_LABEL = 2, PAGE_TEXT = 12 };
enum { BLOCK_WIDTH = 100 }; /* of a block of code, or in a viewer of logs */

void page_line(struct page *p);			/* end the line, unless it is empty */
void page_break(struct page *p);		/* a blank line */
void page_put(struct page *p, struct str text); /* as it is, on this line */
void page_z(struct page *p, const char *z);
void page_tint(struct page *p, enum tint tint, struct str text);
void page_pad(struct page *p, int column); /* blanks up to a column */
/*
 * Prose, from the current column on: lines that get full go on below `indent`.  Newlines are kept;
 * a line of the text that begins with two blanks is code, and is never wrapped.
 */
void page_wrap(struct page *p, int indent, struct str text);
void page_wrap_tint(struct page *p, enum tint tint, int indent, struct str text);
void page_fmt(struct page *p, int indent, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The same on a new line. */
void page_item(struct page *p, int indent, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* A text on a new line; nothing at all when it is empty. */
void page_told(struct page *p, int indent, struct str text);
void page_lines(struct page *p, int indent, struct list lines);
/* The label and its text; nothing at all when the text is empty. */
void page_field(struct page *p, const char *label, struct str text);

struct str time_text(struct arena *keep, double seconds);
struct str signed_time_text(struct arena *keep, double seconds); /* "+1.2 ms" */
struct str ratio_text(struct arena *keep, double ratio);	 /* "12.5%" */
struct str bytes_text(struct arena *keep, double bytes);
/* "tpu_v5e" is sold as "TPU v5e", "h100_sxm" as "H100 SXM". */
struct str chip_text(struct arena *keep, struct str id);

/*
 * What a group of findings says below its headline: where, cost, the number and its limits, the
 * other subjects and the fix; as a whole also what was expected, the evidence, the cause and why
 * the rule exists.  At most `others` more subjects are listed, the rest are counted; those of a
 * failed rule that only warn are listed with it.
 */
struct prose_style {
	ptrdiff_t others;
	bool whole;
};
void prose_group(struct page *p, const struct report *r, const struct group *g,
	const struct prose_style *style);
/* What a group of findings says, for text and page alike. */
struct finding_told {
	const struct finding *finding;	/* its first */
	const struct rule_result *rule; /* or NULL */
	struct str message, place, cost, expected, number, unknown, why;
	struct group warned; /* subjects that share cause and fix with those that fail */
};
struct finding_told prose_told(const struct report *r, const struct group *g, struct arena *keep);
/* The headline's sentence and all of that, as a block. */
struct str prose_whole(
	const struct report *r, const struct group *g, ptrdiff_t others, struct arena *keep);
/* The same of a rule that could not be judged: what was seen, and what to do. */
void prose_unsure(
	struct page *p, const struct report *r, const struct rule_result *rule, struct str todo);
struct str evidence_text(const struct evidence *e, struct arena *keep);
/* "6.2 ms (18.0%)": what all fixes give back; missing when nothing is known. */
struct str prose_gives_back(const struct report *r, struct arena *keep);
/* "all fixes together give back up to ..."; missing when nothing is known. */
struct str prose_promise(const struct report *r, struct arena *keep);
/* What the findings of a group cost, its first above all; missing when its rule gives no gain. */
struct str prose_cost(const struct report *r, const struct group *g, struct arena *keep);
/* "32.5 ms per step on TPU v5e x8; " and the promise, as far as they are known. */
struct str prose_brief(const struct report *r, const char *times, struct arena *keep);
/* "up to 12.3 ms of 28.1 ms per step (43.8%)", or "... in the whole capture (43.8%)" */
struct str prose_gain(const struct report *r, double gain_s, struct arena *keep);
/* "at least ", "at most " or nothing, before what follows from a cost: families.cost_bound. */
const char *prose_bound(struct str cost_bound);
/* " without 12 ops of unknown cost", behind what is predicted; or empty. */
struct str prose_unpredicted(const struct report *r, struct arena *keep);
/*
 * "; nothing says what 63% of it does": of the time that counts as computing, for want of a kind.
 * Empty where that is less than half a percent.
 */
struct str prose_unclear(const struct report *r, struct arena *keep);
/* What a step is made of; what the others leave is copying within the chip.  NaN is not known. */
enum { SHARE_COMPUTE, SHARE_COMMS, SHARE_COPY, SHARE_TRANSFER, SHARE_IDLE, SHARES };
void prose_shares(const struct report *r, double ret[SHARES]);
/* "TPU v5e x8", with `times` for the x; in words where the chip is not known. */
struct str prose_machine(const struct report *r, const char *times, struct arena *keep);
/* With its hosts and steps: "TPU v5e x8, 1 of 4 hosts, 9 steady steps, 32.5 ms per step". */
struct str prose_ran(const struct report *r, const char *times, struct arena *keep);
/* The machine, clean and short; missing where no chip is known to have run. */
struct str prose_chips(const struct report *r, const char *times, struct arena *keep);
/* What the job file says and makes known: "llama-7b of perf-team, commit 3f2a9c1, MFU 46.2%". */
struct str prose_job(const struct report *r, struct arena *keep);
/* Where nothing told steps apart, no number is one of a step: these words follow. */
bool is_whole_capture(const struct report *r);
const char *prose_span(const struct report *r); /* "step", else "capture" */
const char *prose_per(const struct report *r);	/* "per step", else "in the whole capture" */
/*
 * "this verdict speaks for 54% of the device time; jit_eval_epoch takes 46%", where it is less than
 * nearly all, and "the device waits between its steps for 54% of the time", where these are the
 * executions of a server; empty elsewhere, as is the second: "sorts of steps: train, 38 of 2.39 ms,
 * judged; eval, 6 of 3.51 ms (--step eval)", where there are several.
 */
struct str prose_speaks_for(const struct report *r, struct arena *keep);
struct str prose_sorts(const struct report *r, struct arena *keep);
struct list prose_speaks(const struct report *r, struct arena *keep); /* both, where there are */
/* "; 8.34 ms on average", behind a median that it does not read as; empty else. */
struct str prose_mean(const struct report *r, struct arena *keep);
/* The step time in a column of them: "32.5 ms", "63.8 ms, no steps"; empty when it is unknown. */
struct str prose_step(const struct report *r, struct arena *keep);

/* "46.9% of the step: warns above 10.0%, fails above 100%"; missing where a rule has no number. */
struct str prose_limits(const struct rule_result *rule, double value, struct arena *keep);

/* Of a run that is_only_seen the heaviest ops beside their rooflines, a line each. */
void page_heaviest(struct page *p, const struct report *r, ptrdiff_t most);

/* ---- headline.c: what a reader of one line gets, with which every writer begins -------------- */

/* One clean line, without the verdict and the profile; never empty but for a report of nothing. */
struct str headline_of(const struct report *r, struct arena *keep);
/* A change against a baseline. */
bool is_about_baseline(const struct report *r, const struct finding *f);
/* The finding whose message the headline is; or NULL. */
const struct finding *headline_finding(const struct report *r, struct arena *keep);
/* Whether it says how the step changed against the baseline. */
bool headline_says_step(const struct report *r, struct arena *keep);
/* Why rules could not be judged, first of all: what had to be, before what else; or NULL. */
const struct rule_result *headline_cause(const struct report *r);
/* The step beside the baseline's: "+7.60% against night-0.json"; missing: not compared. */
struct str headline_delta(const struct report *r, struct arena *keep);

/* ---- comparison.c: the run beside its baseline, in sentences --------------------------------- */

/* Why there was no earlier run to compare with; missing: there was, or none was asked for. */
struct str comparison_missing(const struct report *r);
/* Why the baselines that were there are not alike; missing: one is, or none was there. */
struct str comparison_unlike(const struct report *r);
/* What it is compared with, short enough for a sentence. */
struct str comparison_name(const struct deltas_row *d, struct arena *keep);
/* What is too little to be told from noise. */
struct str comparison_unseen(const struct deltas_row *d, struct arena *keep);
/* How much longer the step takes: 7.4 is 7.4%. */
double comparison_percent(const struct deltas_row *d);
/* From so many times on a change is said as a multiple: a percentage has to be read twice. */
#define MANY_TIMES	    2
#define COMPARISON_STEPLESS "without steps a change looks like noise"
/* Of deltas.is_short. */
#define COMPARISON_SHORT "with fewer than 2 independent steps on a side a change looks like noise"
/* Whether all is told, or the headline has said the step's change, and how sure it is remains. */
enum comparison_told { COMPARISON_WHOLE, COMPARISON_REST };
/* What differs, the step time, and what else changed beyond noise; none without a baseline. */
struct list comparison_lines(const struct report *r, enum comparison_told told, struct arena *keep);
/* Whether a note stands in those lines. */
bool note_is_comparison(const struct diag_note *note);
#endif
