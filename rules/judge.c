/*
 * Judging.  See judge.h.
 *
 * A row is a subject unless `where` is false.  Its value lies between value and value + unclear:
 * within the warning's limit, beyond it (near), or beyond the failure's (far).  NULL leaves it
 * open, so each subject has a least and a most weight: a level, and what it costs (weigh.h).
 *
 * A rule takes the first verdict that applies: fail, if the least weights fail; inconclusive, if
 * the most weights fail; warn, if the least warn; inconclusive, if the most warn; waived; pass.
 *
 * A gate never fails.  When its subjects fail, evidence is missing: the gate is inconclusive, and
 * so is every rule that needs it.
 *
 * Rules that ask for :explained come last, when the findings of all others have been credited.
 */
#include "rules/judge.h"

#include <math.h>

#include "base/stats.h"
#include "rules/parse.h"
#include "rules/trial.h"

/* Findings kept of one rule: no report shows more, and each costs about a kilobyte. */
enum { RULE_FINDINGS_MAX = 10000 };

struct str verdict_name(enum verdict v)
{
	static const struct key names = { .form = VERDICT_WORDS "|error" };
	struct str words[KEY_WORDS_MAX];

	return (int)v < key_words(&names, words) ? words[v] : STR("");
}

/* ---- rows --------------------------------------------------------------------------------- */

static bool is_beyond(const struct rule *rule, double value, int which)
{
	const struct rule_param *limit = &rule->params[which];

	if (!limit->text.p)
		return false;
	return rule->at_least ? value < limit->value : value > limit->value;
}

static enum level level_of(const struct rule *rule, double value)
{
	return is_beyond(rule, value, PARAM_FAIL)   ? LEVEL_FAR
	       : is_beyond(rule, value, PARAM_WARN) ? LEVEL_NEAR
						    : LEVEL_OK;
}

/* A row before it is weighed. */
struct reading {
	double value, unclear, gain;
	enum truth where, demand, can_fail;
};

/* Work outside the steps that ran once: it may never run again, so it cannot fail. */
static bool runs_once(const struct listing *l, const void *row)
{
	return l->recurs && cell_real(l->recurs, row) == 0;
}

static struct reading read_row(const struct trial *t, const void *row)
{
	const struct rule_code *code = t->code;
	const struct listing *l = &code->subjects;

	return (struct reading){ .value = number_of(l, &code->value),
		.unclear = code->unclear.source ? number_of(l, &code->unclear) : 0,
		.gain = number_of(l, &code->gain),
		.where = truth_of(l, &code->where),
		.demand = truth_of(l, &code->assert),
		.can_fail = runs_once(l, row) ? IS_FALSE : truth_of(l, &code->can_fail) };
}

/* Sets the levels.  Returns the expression that leaves them open, or NULL. */
static struct expression *set_levels(struct trial *t, const struct reading *r, struct weighed *w)
{
	struct rule_code *code = t->code;
	enum level top = t->scale.can_fail ? LEVEL_FAR : LEVEL_NEAR;
	struct expression *open = NULL;

	if (code->assert.source) {
		w->least.level = r->demand == IS_FALSE ? LEVEL_FAR : LEVEL_OK;
		w->most.level = r->demand == IS_TRUE ? LEVEL_OK : LEVEL_FAR;
		open = r->demand == IS_UNKNOWN ? &code->assert : NULL;
	} else if (isnan(r->value)) {
		w->most.level = top;
		open = &code->value;
	} else {
		double more = t->rule->at_least ? -r->unclear : r->unclear;

		w->least.level = level_of(t->rule, r->value);
		w->most.level = isnan(more) ? top : level_of(t->rule, r->value + more);
		if (w->most.level < w->least.level)
			w->most.level = w->least.level;
		open = w->most.level > w->least.level ? &code->unclear : NULL;
	}
	if (r->where == IS_UNKNOWN && w->most.level) {
		w->least.level = LEVEL_OK;
		open = &code->where;
	}
	w->least.can_fail = r->can_fail == IS_TRUE;
	w->most.can_fail = r->can_fail != IS_FALSE;
	if (r->can_fail == IS_UNKNOWN && w->most.level == LEVEL_FAR && !open)
		open = &code->can_fail;
	return open;
}

/* Whether the row belongs to the steps, and not to other work such as evaluation. */
static bool is_of_step(const struct listing *l, const void *row, struct arena *keep)
{
	struct str role = row_text(l->role, row, keep);

	return !role.p || str_eq(role, STR("step"));
}

/* The most that a row can cost: the time it takes. */
static double most_cost(const struct listing *l, const void *row, struct arena *keep)
{
	const struct column *c = is_of_step(l, row, keep) ? l->share : l->window_share;
	double share = c ? cell_real(c, row) : NAN;

	return isnan(share) ? INFINITY : share;
}

/* Sets the costs.  Returns the gain's expression where an unknown gain leaves them open. */
static struct expression *set_costs(
	struct trial *t, const struct reading *r, const void *row, struct weighed *w)
{
	const struct rule_code *code = t->code;
	bool is_limited = !code->gain.source; /* limits alone */
	double per = code->is_bytes ? t->s->capacity : t->s->step_s;
	double cost = fmax(0, r->gain / per), most = most_cost(&code->subjects, row, t->s->keep);

	if (is_limited) {
		w->least.cost = w->most.cost = INFINITY;
		if (!w->least.level) /* not known to be beyond: trifles open nothing */
			w->most.cost = most;
	} else if (isnan(r->gain) || isnan(per)) {
		w->least.cost = 0;
		w->most.cost = most;
		return w->most.level ? &t->code->gain : NULL;
	} else {
		w->least.cost = w->most.cost = cost;
	}
	return NULL;
}

/* Chips are numbered as their rows come; -1 for a row that names no device. */
static int32_t chip_of(struct trial *t, const void *row)
{
	const struct listing *l = &t->code->subjects;
	struct arena *keep = t->s->keep;
	struct str device = row_text(l->device, row, keep);

	if (!device.p)
		return -1;
	struct str name = arena_fmt(
		keep, "%.*s/%.*s", STR_ARG(row_text(l->host, row, keep)), STR_ARG(device));
	int32_t chip = map_get(&t->chips, name);
	if (chip == MAP_NONE) {
		chip = t->scale.chips++;
		map_put(&t->chips, name, chip, keep);
	}
	return chip;
}

/* A number with places is one of the whole run, whatever its SELECT made it from. */
static int level_of_claim(const struct trial *t)
{
	int level = claim_level(t->code->subjects.rows);

	return t->rule->places.origin.node && level < 2 ? 2 : level;
}

static enum pool pool_of(const struct trial *t, const void *row, const struct row_places *places)
{
	const struct listing *l = &t->code->subjects;
	enum pool pool = pool_of_row(l->rows, row_text(l->kind, row, t->s->keep));

	/* A change of the whole step may come from any part of it, whatever ops grew. */
	if (t->code->is_backstop || level_of_claim(t) == LEVEL_CHANGE ||
		!is_of_step(l, row, t->s->keep))
		return POOL_NONE;
	if (pool == POOL_NONE && places->left_count)
		pool = places->left[0].pool;
	/* A number of the run, or a row with a pool_share, takes from the pool of its group. */
	bool is_of_group =
		level_of_claim(t) == 2 || (l->pool_share && cell_real(l->pool_share, row) > 0);
	return pool == POOL_NONE && is_of_group ? pool_of_group(t->rule->known) : pool;
}

static struct str found_key(struct str rule, struct str subject, struct arena *keep)
{
	return arena_fmt(keep, "%.*s\n%.*s", STR_ARG(rule), STR_ARG(subject));
}

/* What the previous report found bad, by rule and subject. */
static struct map seen_before(const struct judgement *previous, struct arena *keep)
{
	struct map ret = { 0 };

	for (ptrdiff_t i = 0; previous && i < previous->finding_count; i++) {
		const struct finding *f = &previous->findings[i];

		if (f->verdict == VERDICT_FAIL || f->verdict == VERDICT_WARN)
			map_put(&ret, found_key(f->rule, f->subject, keep), (int32_t)i, keep);
	}
	return ret;
}

/* A subject that fewer than `confirm` reports in a row found bad only warns. */
static void look_back(struct trial *t, struct subject *x, struct weighed *w)
{
	const struct judgement *previous = t->s->context->previous;
	struct str subject = row_subject(t->s, &t->code->subjects, x->row);
	int32_t at = map_get(&t->s->before, found_key(t->rule->name, subject, t->s->keep));
	const struct finding *before = at == MAP_NONE ? NULL : &previous->findings[at];
	/* A report that does not count has seen it once. */
	double times = before ? 1 + fmax(1, before->seen) : 1;

	x->seen = previous ? times : (double)NAN;
	x->failed_before = before && before->verdict == VERDICT_FAIL;
	if (times < t->rule->confirm)
		w->least.can_fail = w->most.can_fail = false;
}

/* A row, or the part of it whose places are waived, to be weighed. */
static void add_row(struct trial *t, const void *row, const struct reading *r, struct weighed w,
	struct expression *open, const struct row_places *places)
{
	struct rule_code *code = t->code;
	struct expression *costly = set_costs(t, r, row, &w);

	open = open ? open : costly;
	t->result->unknown += open && places->excuse != EXCUSE_HOLDS;
	w.value = r->where == IS_TRUE ? r->value : NAN;
	w.chip = chip_of(t, row);
	w.pool = pool_of(t, row, places);
	if (w.most.level) {
		struct subject *x = w.subject = arena_make(t->s->keep, struct subject, 1);

		*x = (struct subject){ .row = row,
			.value = r->value,
			.unclear = r->unclear,
			.gain = r->gain,
			.fault = !w.least.level	       ? NULL
				 : code->assert.source ? &code->assert
						       : &code->value,
			.open = open,
			.places = tell_places(places->left, places->left_count, t->s->keep),
			.excuse = places->excuse,
			.waiver = places->waiver };
		look_back(t, x, &w);
		if (x->excuse != EXCUSE_HOLDS)
			find_excuse(t, x);
		w.is_waived = x->excuse == EXCUSE_HOLDS;
	}
	*arena_push(&t->s->scratch, t->items, t->count, t->cap) = w;
}

static void judge_row(struct trial *t)
{
	const void *row = current_row(t->s, &t->code->subjects);
	struct reading r = read_row(t, row);
	struct weighed w = { .value = NAN };
	struct row_places places = { .excuse = EXCUSE_NONE };
	struct expression *open = set_levels(t, &r, &w);

	t->result->subjects += r.where != IS_UNKNOWN;
	/* Of a row within its limits they tell what is waived, and what holds its gain. */
	if (t->rule->places.origin.node &&
		(w.most.level || t->rule->waiver_count || t->code->gain.source))
		t->s->ok &= judge_places(t, row, &places);
	if (places.waived_value != 0 && !isnan(r.value)) {
		double rest = t->rule->at_least ? r.value + places.waived_value
						: fmax(0, r.value - places.waived_value);
		double gain = r.value > 0 ? r.gain * rest / r.value : 0;
		struct reading part = r;

		part.value = fabs(r.value - rest);
		part.gain = r.gain - gain;
		if (w.most.level)
			add_row(t, row, &part, w, open,
				&(struct row_places){ .left = places.waived,
					.left_count = places.waived_count,
					.excuse = EXCUSE_HOLDS,
					.waiver = places.waiver });
		r.value = rest;
		r.gain = gain;
		open = set_levels(t, &r, &w);
	}
	if (places.excuse == EXCUSE_HOLDS) /* what is left is not waived */
		places.excuse = EXCUSE_NONE;
	add_row(t, row, &r, w, open, &places);
}

/* ---- findings ----------------------------------------------------------------------------- */

static void add_claim(struct trial *t, const struct weighed *w, struct finding *f)
{
	struct judging *s = t->s;
	const struct listing *l = &t->code->subjects;
	struct str family = row_text(l->family, w->subject->row, s->keep);
	double waited = l->waited_share ? cell_real(l->waited_share, w->subject->row) : NAN;
	double own = l->pool_share ? cell_real(l->pool_share, w->subject->row) : NAN;
	double unneeded = l->unneeded_share ? cell_real(l->unneeded_share, w->subject->row) : NAN;
	double seconds = f->claimed_s;

	family = family.p ? family : f->subject;
	f->of_window = !is_of_step(l, w->subject->row, s->keep);
	if (!isnan(seconds) && !f->of_window)
		*arena_push(s->keep, s->claims, s->claim_count, s->claim_cap) =
			(struct claim){ .finding = s->ret->finding_count - 1,
				.pool = w->pool,
				.level = level_of_claim(t),
				.family = family,
				.seconds = seconds,
				.is_waived = w->is_waived,
				.share = own > 0      ? own
					 : waited > 0 ? 0
						      : 1,
				.waited = waited > 0 ? waited : 0,
				.unneeded_s = unneeded > 0 ? unneeded * seconds : 0 };
}

/* The chip that costs most: of those side by side it alone is what the step waits for. */
static int32_t worst_chip(const struct trial *t, bool is_waived)
{
	double *chips = arena_make(t->s->keep, double, t->scale.chips + 1);
	int32_t worst = 0;

	for (ptrdiff_t i = 0; i < t->count; i++)
		if (t->items[i].chip >= 0 && t->items[i].is_waived == is_waived &&
			(is_waived || t->items[i].least.level))
			chips[t->items[i].chip] += t->items[i].least.cost;
	for (int32_t i = 1; i < t->scale.chips; i++)
		worst = chips[i] > chips[worst] ? i : worst;
	return worst;
}

/* Why the verdict is not the one of the limit that the value passed; missing if it is. */
static struct str odd_verdict(const struct trial *t, const struct weighed *w, enum verdict verdict)
{
	const struct rule *rule = t->rule;
	const struct subject *x = w->subject;
	struct arena *keep = t->s->keep;
	bool is_far = w->least.level == LEVEL_FAR;

	if (verdict == VERDICT_FAIL && !is_far)
		return arena_fmt(keep,
			"within its failure limit; it fails since all findings of the rule "
			"together cost %.*s of the step or more (matters.together)",
			STR_ARG(unit_text(keep, t->scale.together, UNIT_RATIO)));
	if (verdict != VERDICT_WARN || !is_far || !t->scale.can_fail || rule->gate)
		return MISSING;
	if (fmax(1, x->seen) < rule->confirm)
		return arena_fmt(keep,
			"found in %.0f of the %d reports in a row after which it fails%s",
			fmax(1, x->seen), rule->confirm,
			t->s->context->previous ? "" : "; give the last one with --previous");
	if (!w->least.can_fail) {
		struct str why =
			runs_once(&t->code->subjects, x->row)
				? STR("it runs once in the window, outside of the steps")
				: finding_says(t, t->code->only_warns, rule->only_warns.count);

		return arena_fmt(keep, "beyond its failure limit; it only warns, since %.*s",
			STR_ARG(why.p ? why : STR("the rule's can_fail does not hold for it")));
	}
	return arena_fmt(keep,
		"beyond its failure limit; it fails when that costs %.*s of the %s or more",
		STR_ARG(unit_text(keep, t->scale.fail, UNIT_RATIO)),
		t->code->is_bytes ? "capacity" : "step");
}

static void add_finding(
	struct trial *t, const struct weighed *w, enum verdict verdict, const int32_t chips[2])
{
	struct judging *s = t->s;
	struct subject *x = w->subject;

	if (s->ret->finding_count - t->result->first_finding >= RULE_FINDINGS_MAX || !s->ok)
		return;
	struct finding *f =
		arena_push(s->keep, s->ret->findings, s->ret->finding_count, s->finding_cap);
	s->ok &= finding_fill(t, x, verdict, f);
	f->bytes = t->code->is_bytes && t->code->gain.source ? fmax(0, x->gain) : NAN;
	f->claimed_s = t->code->is_bytes || !t->code->gain.source ? (double)NAN : fmax(0, x->gain);
	if (t->code->is_share && t->code->unit == UNIT_RATIO)
		f->claimed_s = fmax(0, x->value * t->s->total_s);
	if (isnan(x->gain) && !t->code->is_share)
		f->claimed_s = f->bytes = NAN;
	/* Gates and open subjects claim no time. */
	if (!t->rule->gate && verdict != VERDICT_INCONCLUSIVE &&
		(w->chip < 0 || w->chip == chips[w->is_waived]))
		add_claim(t, w, f);
	struct str odd = odd_verdict(t, w, verdict);
	if (odd.p)
		f->note = f->note.p
				  ? arena_fmt(s->keep, "%.*s; %.*s", STR_ARG(f->note), STR_ARG(odd))
				  : odd;
	/* Only the next step says that there was no memory for a text of the row. */
	if (s->ok && t->code->texts.result_count)
		s->ok = trial_ended(
			t, &t->code->texts, sqlite3_step(t->code->texts.stmt), SQLITE_DONE);
	sqlite3_reset(t->code->texts.stmt);
}

/* The subjects that made the verdict, the waived ones, and warnings beside a failure. */
static void add_findings(struct trial *t, bool together)
{
	enum verdict v = t->result->verdict;
	const int32_t chips[] = { worst_chip(t, false), worst_chip(t, true) };

	for (ptrdiff_t i = 0; i < t->count; i++) {
		const struct weighed *w = &t->items[i];
		bool is_bad = w->least.level != LEVEL_OK;

		if (!w->subject)
			continue;
		if (w->is_waived) {
			add_finding(t, w, VERDICT_WAIVED, chips);
		} else if (v == VERDICT_INCONCLUSIVE && w->subject->open) {
			add_finding(t, w, VERDICT_INCONCLUSIVE, chips);
		} else if (is_bad &&
			   (v == VERDICT_WARN || v == VERDICT_FAIL || v == VERDICT_INCONCLUSIVE)) {
			bool is_fail = v == VERDICT_FAIL && w->least.can_fail &&
				       (together || w->least.level == LEVEL_FAR);
			bool is_closed = t->rule->gate && v == VERDICT_INCONCLUSIVE &&
					 w->least.can_fail && w->least.level == LEVEL_FAR;

			add_finding(t, w,
				is_fail	    ? VERDICT_FAIL
				: is_closed ? VERDICT_INCONCLUSIVE
					    : VERDICT_WARN,
				chips);
		}
	}
}

/* ---- rules -------------------------------------------------------------------------------- */

static struct str nothing_reason(const struct trial *t)
{
	const struct table_def *def = t->rule->from;
	ptrdiff_t rows = def ? t->s->tables->items[def - table_defs].count : 0;

	if (def && !rows)
		return arena_fmt(t->s->keep, "the profile has no %.*s", STR_ARG(def->name));
	if (t->rule->applies_to.text.len)
		return arena_fmt(
			t->s->keep, "the profile has no %.*s", STR_ARG(t->rule->applies_to.text));
	if (!def)
		return STR("the profile has nothing that this rule judges");
	if (def == &table_defs[TABLE_run])
		return STR("it does not apply to this run");
	return arena_fmt(t->s->keep, "no row of %.*s (of %td) is one that this rule judges",
		STR_ARG(def->name), rows);
}

/* The first finding that is inconclusive speaks for those that lack the same. */
static struct str inconclusive_reason(const struct trial *t)
{
	const struct judgement *ret = t->s->ret;
	struct rule_result *r = t->result;
	const struct finding *first = NULL;
	int64_t bad = 0;

	for (ptrdiff_t i = r->first_finding; i < ret->finding_count; i++) {
		const struct finding *f = &ret->findings[i];
		if (f->verdict != VERDICT_INCONCLUSIVE)
			continue;
		first = first ? first : f;
		bad += f == first || !f->lacks.p || !str_eq(f->lacks, first->lacks);
	}
	if (r->subjects + r->unknown == 0)
		return nothing_reason(t);
	if (!bad)
		return arena_fmt(t->s->keep, "%.0f of at least %d subjects found", r->subjects,
			t->rule->min_subjects);
	r->lacks = first->lacks;
	return bad == 1 ? first->message
			: arena_fmt(t->s->keep, "%.*s, and %lld more", STR_ARG(first->message),
				  (long long)(bad - 1));
}

static double capacity_of(const struct tables *t)
{
	const struct memory_row *memory = table_rows(t, memory);
	const struct devices_row *devices = table_rows(t, devices);
	double most = NAN;

	for (ptrdiff_t i = 0; i < table_count(t, memory); i++)
		most = fmax(most, memory[i].capacity_bytes);
	for (ptrdiff_t i = 0; isnan(most) && i < table_count(t, devices); i++)
		most = devices[i].hbm_bytes > 0 ? devices[i].hbm_bytes : most;
	return most;
}

/* What costs are held against: the step, the memory's capacity and the pools. */
static void look_at_run(struct judging *s)
{
	const struct run_row *run = row_of_run(s->tables);

	s->step_s = s->total_s = NAN;
	if (run) {
		/* Where waiting is no fault, costs are shares of the busy time. */
		s->total_s = s->step_s =
			is_planned(s->tables) ? run->predicted_step_s : run->step_mean_s;
		if (str_eq(run->phase, STR("inference")) && run->busy_ratio > 0)
			s->step_s *= run->busy_ratio;
	}
	s->capacity = capacity_of(s->tables);
	pools_fill(s->tables, s->pools);
	for (int i = 0; i < POOL_COUNT; i++)
		s->pools[i] = isnan(s->step_s) ? (double)INFINITY : s->pools[i] / s->step_s;
}

/* Takes the shares that matter from the rule, else from the file. */
static void set_scale(struct trial *t)
{
	const struct ruleset *set = t->s->rules;
	const struct rule *rule = t->rule;
	bool is_bytes = t->code->is_bytes;

	for (int i = 0; i < POOL_COUNT; i++)
		t->scale.pools[i] = is_bytes ? (double)INFINITY : t->s->pools[i];
	t->scale.at_least = rule->at_least;
	t->scale.warn = rule_matter(set, rule, is_bytes ? MATTER_MEMORY_WARN : MATTER_WARN);
	t->scale.fail = rule_matter(set, rule, is_bytes ? MATTER_MEMORY_FAIL : MATTER_FAIL);
	t->scale.together = is_bytes || !t->code->gain.source || rule->gate
				    ? (double)INFINITY
				    : rule_matter(set, rule, MATTER_TOGETHER);
	if (rule->gate)
		t->scale.fail = t->scale.warn;
	/* What is worth a failure is worth a warning. */
	t->scale.warn = fmin(t->scale.warn, fmin(t->scale.fail, t->scale.together));
	t->scale.can_fail = rule->severity != SEVERITY_WARN &&
			    (t->code->assert.source || rule->params[PARAM_FAIL].text.p);
}

/* Sets the limits; the rest is not known. */
static void number_clear(struct trial *t)
{
	struct rule_number *n = &t->result->number;

	*n = NO_NUMBER;
	n->unit = t->code->unit;
	n->at_least = t->rule->at_least;
	n->warn_limit = t->rule->params[PARAM_WARN].value;
	n->fail_limit = t->rule->params[PARAM_FAIL].value;
}

/* How much of the limit is left, as a share of it; of 0, which has no shares, what there is. */
static double headroom(const struct rule *rule, double number, double limit)
{
	double left = limit - number;

	left = limit != 0 ? left / fabs(limit) : isnan(left) ? left : fmax(-1, fmin(left, 1));
	return isfinite(left) ? (rule->at_least ? -left : left) : (double)NAN;
}

static void set_number(struct trial *t)
{
	struct rule_number *n = &t->result->number;
	const struct rule *rule = t->rule;
	const struct arena *keep = t->s->keep;

	n->value = weigh_number(t->items, t->count, &t->scale, 0, false, *keep);
	if (!isnan(n->warn_limit) || !isnan(n->fail_limit))
		n->warn_number =
			weigh_number(t->items, t->count, &t->scale, t->scale.warn, false, *keep);
	if (!isnan(n->fail_limit))
		n->fail_number =
			weigh_number(t->items, t->count, &t->scale, t->scale.fail, true, *keep);
	n->warn_headroom = headroom(
		rule, n->warn_number, isnan(n->warn_limit) ? n->fail_limit : n->warn_limit);
	n->fail_headroom = headroom(rule, n->fail_number, n->fail_limit);
	if (isnan(n->fail_limit) || isinf(t->scale.together) || n->fail_headroom < 0)
		return;
	/* What costs so much together fails beyond the warning's limit already. */
	double worst = weigh_number(t->items, t->count, &t->scale, t->scale.together, true, *keep);
	n->fail_headroom = fmin(n->fail_headroom, headroom(rule, worst, n->warn_limit));
}

/* The subjects beyond a limit that together do not matter, in words. */
static void tell_let_be(struct trial *t, double cost)
{
	struct rule_result *r = t->result;

	for (ptrdiff_t i = 0; i < t->count; i++)
		r->let_be += t->items[i].least.level && !t->items[i].is_waived;
	if (r->let_be > 0)
		r->reason = arena_fmt(t->s->keep,
			"%.0f %s beyond the limit; %s %.*s of the %s, and a rule warns from %.*s",
			r->let_be, r->let_be == 1 ? "finding is" : "findings are",
			r->let_be == 1 ? "it costs" : "together they cost",
			STR_ARG(unit_text(t->s->keep, cost, UNIT_RATIO)),
			r->of_capacity ? "memory" : "step",
			STR_ARG(unit_text(t->s->keep, t->scale.warn, UNIT_RATIO)));
}

static void conclude(struct trial *t)
{
	struct rule_result *r = t->result;
	const struct arena *keep = t->s->keep;
	double cost, most;
	bool together, ignored;
	enum verdict least = weigh(t->items, t->count, &t->scale, false, *keep, &cost, &together);
	enum verdict worst = weigh(t->items, t->count, &t->scale, true, *keep, &most, &ignored);
	bool is_waived = false;

	for (ptrdiff_t i = 0; i < t->count; i++)
		is_waived |= t->items[i].is_waived;
	if (r->subjects < t->rule->min_subjects)
		worst = VERDICT_FAIL;
	r->of_capacity = t->code->is_bytes;
	r->verdict = least == VERDICT_FAIL		       ? VERDICT_FAIL
		     : worst == VERDICT_FAIL		       ? VERDICT_INCONCLUSIVE
		     : least == VERDICT_WARN		       ? VERDICT_WARN
		     : worst == VERDICT_WARN && !t->rule->gate ? VERDICT_INCONCLUSIVE
		     : is_waived			       ? VERDICT_WAIVED
		     : r->subjects + r->unknown == 0	       ? VERDICT_NOT_APPLICABLE
							       : VERDICT_PASS;
	if (t->rule->gate && r->verdict == VERDICT_FAIL)
		r->verdict = VERDICT_INCONCLUSIVE;
	r->cost = isfinite(cost) ? cost : (double)NAN;
	if (t->code->is_share && t->code->unit == UNIT_RATIO && !isfinite(cost))
		r->cost = fmax(0, weigh_number(t->items, t->count, &t->scale, 0, false, *keep));
	if (r->verdict == VERDICT_NOT_APPLICABLE)
		r->reason = nothing_reason(t);
	if (r->verdict == VERDICT_PASS)
		tell_let_be(t, cost);
	set_number(t);
	add_findings(t, together);
	if (r->verdict == VERDICT_INCONCLUSIVE)
		r->reason = inconclusive_reason(t);
}

/* ---- gates -------------------------------------------------------------------------------- */

/* The first gate that holds the rule up, or NULL; a live rule demands all of them. */
static const struct rule_result *closed_gate(
	const struct judging *s, const struct rule *rule, bool is_live)
{
	const struct rule_result *first = NULL;

	for (ptrdiff_t i = 0; i < s->rules->count; i++)
		for (ptrdiff_t k = 0; k < rule->gate_count; k++) {
			struct rule_result *gate = &s->ret->results[i];

			if (gate->verdict != VERDICT_INCONCLUSIVE ||
				!str_eq(rule->gates[k]->name, s->rules->items[i]->name))
				continue;
			gate->demanded |= is_live;
			first = first ? first : gate;
		}
	return first;
}

/* A closed gate: the rule's findings are dropped, and only their number is kept. */
static void hold_up(struct trial *t, const struct rule_result *gate, ptrdiff_t first_claim)
{
	struct rule_result *r = t->result;
	struct judging *s = t->s;

	for (ptrdiff_t i = r->first_finding; i < s->ret->finding_count; i++)
		r->withheld += s->ret->findings[i].verdict == VERDICT_FAIL ||
			       s->ret->findings[i].verdict == VERDICT_WARN;
	s->ret->finding_count = r->first_finding;
	s->claim_count = first_claim;
	r->verdict = VERDICT_INCONCLUSIVE;
	number_clear(t);
	r->cost = NAN;
	r->let_be = 0;
	r->lacks = MISSING;
	r->closed_gate = gate->name;
	r->reason = arena_fmt(
		s->keep, "gate %.*s failed: %.*s", STR_ARG(gate->name), STR_ARG(gate->reason));
}

/* Whether the verdict of that time spoke of the program. */
static bool was_judged(const struct judgement *j, const struct rule *rule)
{
	const struct rule_result *r = j ? NAMED(j->results, j->result_count, rule->name) : NULL;

	return r && (r->verdict == VERDICT_PASS || r->verdict == VERDICT_FAIL ||
			    r->verdict == VERDICT_WARN || r->verdict == VERDICT_WAIVED);
}

static bool judge_rule(struct judging *s, ptrdiff_t index)
{
	const struct rule *rule = s->rules->items[index];
	struct rule_result *r = &s->ret->results[index];
	struct trial t = { .s = s, .rule = rule, .code = rule->code, .result = r };
	ptrdiff_t first_claim = s->claim_count;

	*r = (struct rule_result){ .name = rule->name,
		.title = rule->title.text,
		.says = rule->says.text,
		.why = rule->why.text,
		.group = rule->group.text,
		.gate = rule->gate,
		.rule = rule,
		.first_finding = s->ret->finding_count,
		.cost = NAN,
		.credited = NAN };
	number_clear(&t);
	if (rule->severity == SEVERITY_OFF) {
		r->verdict = VERDICT_OFF;
		r->reason = arena_fmt(s->keep, "switched off in %.*s, line %lld",
			STR_ARG(rule->severity_origin.doc->file),
			(long long)rule->severity_origin.node->line);
		return true;
	}
	bool is_asked = t.code->needs_baseline && s->context->is_compared;
	if (t.code->needs_baseline && !is_asked && !s->context->base &&
		!table_count(s->tables, deltas) && !table_count(s->tables, changes)) {
		r->verdict = VERDICT_NOT_APPLICABLE;
		r->reason = STR("there is no baseline to compare with (--baseline)");
		return true;
	}
	set_scale(&t);
	if (!each_row(&t, &t.code->subjects, judge_row))
		return false;
	conclude(&t);
	const struct rule_result *gate =
		closed_gate(s, rule, is_asked || r->verdict != VERDICT_NOT_APPLICABLE);
	if (gate)
		hold_up(&t, gate, first_claim);
	for (ptrdiff_t i = 0; !gate && i < s->ret->waiver_count; i++)
		if (str_eq(s->ret->waivers[i].waiver->rule.text, rule->name))
			s->ret->waivers[i].judged = true;
	r->demanded |= rule->required || is_asked;
	r->demanded |=
		was_judged(s->context->previous, rule) || was_judged(s->context->alone, rule);
	r->finding_count = s->ret->finding_count - r->first_finding;
	return s->ok;
}

/* ---- the run ------------------------------------------------------------------------------ */

/* By the first of these that differ. */
static int by_keys(const double (*keys)[2], ptrdiff_t count)
{
	for (ptrdiff_t i = 0; i < count; i++)
		if (keys[i][0] != keys[i][1])
			return keys[i][0] < keys[i][1] ? -1 : 1;
	return 0;
}

/* Sorts the largest first and NaN last. */
static double most_first(double x)
{
	return isnan(x) ? 1 : -x;
}

/* Rules as a reader wants them: the comparison that was asked for, then seconds, then bytes. */
static int by_cost(const void *a, const void *b)
{
	const struct rule_result *x = *(const struct rule_result *const *)a,
				 *y = *(const struct rule_result *const *)b;
	const struct table_def *deltas = &table_defs[TABLE_deltas];
	double cx = isnan(x->credited) ? x->cost : x->credited;
	double cy = isnan(y->credited) ? y->cost : y->credited;
	const double keys[][2] = { { x->rule->from != deltas, y->rule->from != deltas },
		{ isnan(cx), isnan(cy) }, { x->of_capacity, y->of_capacity },
		{ most_first(cx), most_first(cy) } };
	int order = by_keys(keys, COUNT_OF(keys));

	return order ? order : str_cmp(x->name, y->name);
}

static void rank_rules(const struct judgement *j, double step_s, struct arena scratch)
{
	const struct rule_result **order =
		arena_make(&scratch, const struct rule_result *, j->result_count + 1);

	for (ptrdiff_t i = 0; i < j->result_count; i++) {
		struct rule_result *r = &j->results[i];

		order[i] = r;
		for (ptrdiff_t k = 0; k < r->finding_count; k++) {
			double gain_s = j->findings[r->first_finding + k].gain_s;
			if (!isnan(gain_s))
				r->credited =
					(isnan(r->credited) ? 0 : r->credited) + gain_s / step_s;
		}
	}
	sort_by(order, j->result_count, by_cost);
	for (ptrdiff_t i = 0; i < j->result_count; i++)
		for (ptrdiff_t k = 0; k < order[i]->finding_count; k++)
			j->findings[order[i]->first_finding + k].rank = i;
}

/* The order in which findings are shown: those that decided, rule by rule, each by its gain. */
static int by_rank(const void *a, const void *b)
{
	static const int ranks[] = { [VERDICT_FAIL] = 0,
		[VERDICT_WARN] = 1,
		[VERDICT_WAIVED] = 2,
		[VERDICT_INCONCLUSIVE] = 3 };
	const struct finding *x = a, *y = b;
	const double keys[][2] = { { ranks[x->verdict], ranks[y->verdict] },
		{ (double)x->rank, (double)y->rank },
		{ most_first(x->gain_s), most_first(y->gain_s) },
		{ most_first(x->claimed_s), most_first(y->claimed_s) },
		{ most_first(x->bytes), most_first(y->bytes) } };
	int order = by_keys(keys, COUNT_OF(keys));

	if (!order)
		order = str_cmp(x->name, y->name);
	if (!order)
		order = str_cmp(x->subject, y->subject);
	return order ? order : str_cmp(x->message, y->message);
}

/*
 * As the exit status has it: demanded evidence that is missing weighs more than a warning.  A run
 * passes only when a rule other than a gate passed or was waived.
 */
static enum verdict run_verdict(const struct judging *s)
{
	bool failed = false, open = false, warned = false, good = false;

	for (ptrdiff_t i = 0; i < s->ret->result_count; i++) {
		const struct rule_result *r = &s->ret->results[i];

		failed |= r->verdict == VERDICT_FAIL;
		open |= r->verdict == VERDICT_INCONCLUSIVE && r->demanded;
		warned |= r->verdict == VERDICT_WARN;
		good |= (r->verdict == VERDICT_PASS || r->verdict == VERDICT_WAIVED) && !r->gate;
	}
	return failed	? VERDICT_FAIL
	       : open	? VERDICT_INCONCLUSIVE
	       : warned ? VERDICT_WARN
	       : good	? VERDICT_PASS
			: VERDICT_INCONCLUSIVE;
}

static void set_run_gain(struct tables *tables, double gain_s)
{
	for (ptrdiff_t i = 0; i < table_count(tables, run); i++)
		table_rows(tables, run)[i].gain_s = gain_s;
}

/*
 * Credits a copy of the claims.  What is waived counts as explained time, and not as time that a
 * fix would give back.
 */
static double credit_all(const struct judging *s, bool is_explaining)
{
	struct claim *claims = arena_make(s->keep, struct claim, s->claim_count + 1);
	ptrdiff_t count = 0;

	for (ptrdiff_t i = 0; i < s->claim_count; i++)
		if (is_explaining || !s->claims[i].is_waived)
			claims[count++] = s->claims[i];
	return credit(s->tables, is_explaining, claims, count, s->ret->findings, s->keep);
}

enum turn { TURN_GATES, TURN_RULES, TURN_BACKSTOPS, TURNS };

static enum turn turn_of(const struct rule *rule)
{
	return rule->gate ? TURN_GATES : rule->code->is_backstop ? TURN_BACKSTOPS : TURN_RULES;
}

static bool judge_all(struct judging *s)
{
	bool ok = true;

	for (int turn = 0; turn < TURNS; turn++) {
		if (turn == TURN_BACKSTOPS && table_count(s->tables, run))
			s->ret->explained =
				credit_all(s, true) / table_rows(s->tables, run)[0].step_mean_s;
		for (ptrdiff_t i = 0; i < s->rules->count && ok; i++)
			if ((int)turn_of(s->rules->items[i]) == turn) {
				arena_clear(&s->scratch);
				ok = judge_rule(s, i);
			}
	}
	return ok;
}

bool judge(const struct ruleset *rules, struct tables *tables, const struct judge_context *context,
	struct arena *keep, struct judgement *ret, struct diag *err)
{
	struct judging s = { .rules = profiles_apply(rules, tables, keep),
		.tables = tables,
		.context = context,
		.today = context->today,
		.keep = keep,
		.before = seen_before(context->previous, keep),
		.ret = ret,
		.scratch = arena_new(ARENA_RUN_BYTES),
		.ok = true,
		.err = err };

	if (!s.today.p && table_count(tables, run)) /* so that an old profile keeps its verdict */
		s.today = table_rows(tables, run)[0].captured;
	*ret = (struct judgement){ .result_count = rules->count, .explained = NAN };
	ret->results = arena_make(keep, struct rule_result, rules->count + 1);
	ret->waivers = arena_make(keep, struct waiver_result, rules->waiver_count + 1);
	for (ptrdiff_t i = 0; i < rules->waiver_count; i++)
		ret->waivers[ret->waiver_count++].waiver = rules->waivers[i];
	set_run_gain(tables, NAN); /* of an earlier judgement */
	look_at_run(&s);
	engine_show(rules->engine, tables, context->base);
	bool ok = judge_all(&s);
	engine_show(rules->engine, NULL, NULL);
	arena_free(&s.scratch);
	if (!ok)
		return false;
	ret->gain_s = credit_all(&s, false);
	set_run_gain(tables, ret->gain_s);
	rank_rules(ret, s.step_s, *keep);
	sort_by(ret->findings, ret->finding_count, by_rank);
	ret->verdict = run_verdict(&s);
	return true;
}

bool judge_alone(const struct ruleset *rules, const struct tables *tables, struct arena *keep,
	struct judgement *ret, struct diag *err)
{
	const struct judge_context nothing = { 0 };
	struct tables own = *tables; /* judging takes them as its own */

	return judge(rules, &own, &nothing, keep, ret, err);
}
