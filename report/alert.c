/* The ranked list of what wants attention.  See alert.h. */
#include "report/alert.h"

#include <math.h>

#include "base/stats.h"
#include "base/text.h"
#include "measure/op_source.h"
#include "report/prose.h"

/* ---- places ---------------------------------------------------------------------------------- */

/* A path that a repository may hold: relative, not upwards, no drive and no "<string>". */
static bool is_inside(struct str path)
{
	struct str part;
	if (!path.len || str_find_char(STR("/~<"), path.p[0]) >= 0 ||
		str_find_char(path, '\\') >= 0 || str_contains(path, STR(":/")))
		return false;
	while (str_next(&path, '/', &part))
		if (str_eq(part, STR("..")))
			return false;
	return true;
}

static void set_place(struct alert *a, struct arena *keep)
{
	struct str file = a->finding ? text_clean(keep, a->finding->source_file) : MISSING;
	str_take(&file, STR("./"));
	a->in_source = is_inside(file);
	if (a->in_source) {
		a->path = file;
		a->line = is_line(a->finding->source_line) ? (int64_t)a->finding->source_line : 0;
		return;
	}
	file = report_workload(text_clean(keep, a->report->profile), MISSING);
	file = str_starts(file, STR("/")) ? path_end(file) : file;
	while (str_take(&file, STR("/")) || str_take(&file, STR("./")) ||
		str_take(&file, STR("../")))
		;
	a->path = is_inside(file) && !str_eq(file, STR(".")) ? file : STR("profile");
}

struct str alert_text(const struct alert *a, struct arena *keep)
{
	struct out *o = out_memory(keep);
	if (a->of.len)
		out_fmt(o, "%.*s: ", STR_ARG(a->of));
	out_str(o, a->message);
	if (a->cost.len)
		out_fmt(o, "; costs %.*s", STR_ARG(a->cost));
	if (a->finding && !a->in_source && a->finding->source_file.len) {
		struct str file = text_clean(keep, a->finding->source_file);
		struct str place = place_text(file, a->finding->source_line, keep);
		out_fmt(o, " (at %.*s)", STR_ARG(place));
	}
	return out_text(o);
}

/* ---- identity -------------------------------------------------------------------------------- */

static void set_identity(struct alert *a, struct arena *keep)
{
	struct str subject = a->finding ? a->finding->subject : MISSING;
	struct str text = arena_fmt(keep, "%.*s\n%.*s\n%.*s", STR_ARG(a->rule),
		STR_ARG(text_clean(keep, subject)), STR_ARG(workload_of(a->report, keep)));
	struct str salted = arena_fmt(keep, "rooflint/v1\n%.*s", STR_ARG(text));
	/* Two halves of 64 bits: with thousands of alerts, one could collide in a lifetime. */
	a->fingerprint = arena_fmt(keep, "%016llx%016llx", (unsigned long long)str_hash(text),
		(unsigned long long)str_hash(salted));
}

static int by_identity(const void *x, const void *y)
{
	const struct alert *a = x, *b = y;
	int order = str_cmp(a->fingerprint, b->fingerprint);
	return order ? order : (a->order > b->order) - (a->order < b->order);
}

/* Equal ones are numbered, ":1" being the first: GitLab keeps only one of a fingerprint. */
static void number_identities(struct alerts *all, struct arena *keep)
{
	struct str last = MISSING;
	int64_t number = 0;
	sort_by(all->items, all->count, by_identity);
	for (ptrdiff_t i = 0; i < all->count; i++) {
		struct alert *a = &all->items[i];
		number = str_eq(last, a->fingerprint) ? number + 1 : 1;
		last = a->fingerprint;
		a->fingerprint = arena_fmt(keep, "%.*s:%lld", STR_ARG(last), (long long)number);
	}
}

/* ---- the list -------------------------------------------------------------------------------- */

static struct alert *add(
	struct alerts *all, const struct report *r, enum alert_level level, struct arena *keep)
{
	ptrdiff_t order = all->count, place = 0;
	if (order && all->items[order - 1].report == r)
		place = all->items[order - 1].place + 1;
	struct alert *a = arena_push(keep, all->items, all->count, all->cap);
	*a = (struct alert){
		.level = level, .report = r, .gain_s = NAN, .order = order, .place = place
	};
	all->levels[level]++;
	return a;
}

static void finish(struct alert *a, const char *word, struct str names, struct arena *keep)
{
	a->title = arena_fmt(keep, "%s: %.*s", word, STR_ARG(names));
	set_place(a, keep);
	set_identity(a, keep);
}

static void add_finding(
	struct alerts *all, const struct report *r, const struct finding *f, struct arena *keep)
{
	enum alert_level level = f->verdict == VERDICT_FAIL   ? ALERT_ERROR
				 : f->verdict == VERDICT_WARN ? ALERT_WARNING
							      : ALERT_NOTE;
	if (level == ALERT_NOTE && f->verdict != VERDICT_WAIVED)
		return;
	struct alert *a = add(all, r, level, keep);
	a->finding = f;
	a->rule = text_clean(keep, f->rule);
	a->message = text_clean(keep, f->message);
	a->gain_s = isfinite(f->gain_s) ? f->gain_s : (double)NAN;
	if (a->gain_s > 0)
		a->cost = prose_gain(r, a->gain_s, keep);
	finish(a, verdict_looks[f->verdict].tag, a->rule, keep);
}

/* What counts for the exit status warns, and is named; the others that wait with it are counted. */
static void add_unsure(
	struct alerts *all, const struct report *r, const struct trouble *t, struct arena *keep)
{
	const struct rule_result *first = NULL;
	struct out *names = out_memory(keep);
	ptrdiff_t others = 0;
	bool counts = false;
	for (ptrdiff_t i = 0; i < t->count; i++)
		counts |= t->rules[i]->demanded;
	for (ptrdiff_t i = 0; i < t->count; i++) {
		const struct rule_result *rule = t->rules[i];
		if (counts && !rule->demanded) {
			others++;
			continue;
		}
		out_str(out_part(names, ", "), text_clean(keep, rule->name));
		first = first ? first : rule;
	}
	if (others)
		out_fmt(names, " and %td more", others);
	struct alert *a = add(all, r, counts ? ALERT_WARNING : ALERT_NOTE, keep);
	a->rule = text_clean(keep, first->name);
	a->message = text_clean(keep, arena_fmt(keep, "%.*s%s%.*s", STR_ARG(t->reason),
					      t->todo.len ? "; to do: " : "", STR_ARG(t->todo)));
	finish(a, "inconclusive", out_text(names), keep);
}

static void add_report(struct alerts *all, const struct report *r, struct arena *keep)
{
	if (r->error.text.p) {
		struct alert *a = add(all, r, ALERT_ERROR, keep);
		a->rule = ALERT_UNREADABLE;
		a->message = text_clean(keep, r->error.text);
		/* What was asked of a profile may be wrong, and the profile whole. */
		finish(a, "error",
			diag_is_of_setup((enum diag_id)r->error.id) ? STR("not judged")
								    : STR("unreadable"),
			keep);
		return;
	}
	for (ptrdiff_t i = 0; i < r->findings.count; i++)
		if (r->findings.items[i].verdict != VERDICT_WAIVED)
			add_finding(all, r, &r->findings.items[i], keep);
	struct trouble *troubles;
	ptrdiff_t count = group_troubles(r, keep, &troubles);
	for (ptrdiff_t i = 0; i < count; i++)
		add_unsure(all, r, &troubles[i], keep);
}

/*
 * What stands first in its report comes first, and reports come as they are sorted: so a batch
 * tells of every profile before it tells all of one, and each in the report's own order.
 */
static int by_rank(const void *x, const void *y)
{
	const struct alert *a = x, *b = y;
	int order = (a->level == ALERT_NOTE) - (b->level == ALERT_NOTE);
	order = order ? order : order_integers(a->place, b->place);
	return order ? order : order_integers(a->order, b->order);
}

/* Fingerprints are unique in the list. */
static struct alerts ranked(struct alerts all, struct arena *keep)
{
	number_identities(&all, keep);
	sort_by(all.items, all.count, by_rank);
	return all;
}

struct alerts alerts_of(const struct report_set *set, struct arena *keep)
{
	struct alerts all = { 0 };
	for (ptrdiff_t i = 0; i < set->count; i++)
		add_report(&all, &set->items[i], keep);
	for (ptrdiff_t i = 0; i < all.count && set->count > 1; i++) {
		const struct report *r = all.items[i].report;
		if (!r->error.text.p || diag_is_of_setup(r->error.id))
			all.items[i].of = text_clean(keep, r->profile);
	}
	return ranked(all, keep);
}

struct str alerts_lost(const struct alerts *all)
{
	struct str ret = MISSING;
	for (ptrdiff_t i = 0; i < all->count; i++) {
		const struct finding *f = all->items[i].finding;
		if (all->items[i].in_source)
			return MISSING;
		if (f && !ret.p && str_starts(f->source_file, STR("/")) &&
			!is_installed(f->source_file))
			ret = f->source_file;
	}
	return ret;
}

struct alerts alerts_waived(const struct report_set *set, struct arena *keep)
{
	struct alerts all = { 0 };
	for (ptrdiff_t i = 0; i < set->count; i++)
		for (ptrdiff_t k = 0; k < set->items[i].findings.count; k++)
			if (set->items[i].findings.items[k].verdict == VERDICT_WAIVED)
				add_finding(&all, &set->items[i], &set->items[i].findings.items[k],
					keep);
	return ranked(all, keep);
}
