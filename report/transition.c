/* Comparing two sets of reports.  See transition.h. */
#include "report/transition.h"

#include "base/map.h"
#include "base/stats.h"
#include "base/text.h"
#include "report/alert.h"

/* A set, and the workload of each of its reports. */
struct named_set {
	const struct report_set *set; /* NULL: there is none */
	struct str *workloads;
	struct map first; /* of each workload, by name */
};

struct comparison {
	struct transitions *found;
	struct named_set now, before;
	struct map items; /* those with an alert, by alert_key */
	struct arena *keep;
};

static struct named_set named_set(const struct report_set *set, struct arena *keep)
{
	struct named_set ret = { .set = set };
	if (set)
		ret.workloads = arena_make(keep, struct str, set->count + 1);
	for (ptrdiff_t i = 0; set && i < set->count; i++) {
		ret.workloads[i] = workload_of(&set->items[i], keep);
		if (map_get(&ret.first, ret.workloads[i]) == MAP_NONE)
			map_put(&ret.first, ret.workloads[i], (int32_t)i, keep);
	}
	return ret;
}

static struct str workload_in(const struct named_set *s, const struct report *r)
{
	return s->workloads[r - s->set->items];
}

/* ---- what holds of a rule -------------------------------------------------------------------- */

enum state { STATE_NONE, STATE_FAILS, STATE_UNKNOWN, STATE_HOLDS };

/* A profile that could not be read fails a rule of its own, and leaves the others unknown. */
static enum state state_of(const struct report *r, struct str rule)
{
	bool is_readable = str_eq(rule, ALERT_UNREADABLE);
	if (!r)
		return STATE_NONE;
	if (r->error.text.p)
		return is_readable ? STATE_FAILS : STATE_UNKNOWN;
	if (is_readable)
		return STATE_HOLDS;
	const struct rule_result *result = rule_of(r, rule);
	if (!result)
		return STATE_NONE;
	if (result->verdict == VERDICT_FAIL)
		return STATE_FAILS;
	return result->verdict == VERDICT_INCONCLUSIVE ? STATE_UNKNOWN : STATE_HOLDS;
}

static bool is_inconclusive(const struct report *r)
{
	return r && !r->error.text.p && r->verdict == VERDICT_INCONCLUSIVE;
}

/*
 * The report of that workload; or the only one, where it is compared with only one, since names
 * may hold dates.
 */
static const struct report *find_workload(
	const struct named_set *s, struct str workload, const struct named_set *other)
{
	int32_t first = s->set ? map_get(&s->first, workload) : MAP_NONE;
	if (first != MAP_NONE)
		return &s->set->items[first];
	bool is_pair = s->set && s->set->count == 1 && other->set && other->set->count == 1;
	return is_pair ? s->set->items : NULL;
}

/* ---- the list -------------------------------------------------------------------------------- */

static struct transition *add(
	const struct comparison *c, enum transition_kind kind, struct str workload, struct str rule)
{
	struct transition *item =
		arena_push(c->keep, c->found->items, c->found->count, c->found->cap);
	*item = (struct transition){ .kind = kind, .workload = workload, .rule = rule };
	c->found->kinds[kind]++;
	return item;
}

/* One item a rule: alerts come by gain, so the first is the one to show. */
static void add_alert(struct comparison *c, const struct alert *a)
{
	if (a->level == ALERT_NOTE)
		return;
	struct str key = arena_fmt(c->keep, "%td\n%d\n%.*s", a->report - c->now.set->items,
		(int)a->level, STR_ARG(a->rule));
	int32_t at = map_get(&c->items, key);
	if (at == MAP_NONE) {
		struct str workload = workload_in(&c->now, a->report);
		const struct report *before = find_workload(&c->before, workload, &c->now);
		enum transition_kind kind = a->level != ALERT_ERROR ? TRANSITION_WARNS
					    : state_of(before, a->rule) == STATE_FAILS
						    ? TRANSITION_STILL
						    : TRANSITION_NEW;
		at = (int32_t)c->found->count;
		map_put(&c->items, key, at, c->keep);
		add(c, kind, workload, a->rule)->alert = a;
	}
	c->found->items[at].subjects++;
}

/* Compares what failed before with what fails now. */
static void compare_rule(const struct comparison *c, const struct report *before,
	const struct report *now, struct str rule)
{
	struct str workload = workload_in(&c->before, before);
	enum state state = state_of(now, rule);
	if (state_of(before, rule) != STATE_FAILS || state == STATE_FAILS)
		return;
	if (state == STATE_HOLDS) {
		add(c, TRANSITION_FIXED, workload, rule)->reason =
			STR("failed before, and does not now");
		return;
	}
	const struct rule_result *result = now ? rule_of(now, rule) : NULL;
	struct str reason = !now		? STR("no such profile this time")
			    : now->error.text.p ? STR("the profile could not be read")
			    : result		? reason_of(result, c->keep)
						: STR("the rule is not in the rule file any more");
	add(c, TRANSITION_LOST, workload, rule)->reason =
		arena_fmt(c->keep, "failed before, and could not be judged now: %.*s",
			STR_ARG(text_clean(c->keep, reason)));
}

static int by_kind(const void *x, const void *y)
{
	const struct transition *a = x, *b = y;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->alert && b->alert) /* one array, in their order */
		return (a->alert > b->alert) - (a->alert < b->alert);
	int order = str_cmp(a->workload, b->workload);
	return order ? order : str_cmp(a->rule, b->rule);
}

struct transitions transitions_of(
	const struct report_set *set, const struct report_set *previous, struct arena *keep)
{
	struct transitions n = { .set = set };
	struct comparison c = { .found = &n,
		.now = named_set(set, keep),
		.before = named_set(previous, keep),
		.keep = keep };
	struct alerts alerts = alerts_of(set, keep);
	for (ptrdiff_t i = 0; i < alerts.count; i++)
		add_alert(&c, &alerts.items[i]);
	for (ptrdiff_t i = 0; i < set->count; i++) {
		/* A whole profile that says nothing is told: silence would look like success. */
		struct str workload = c.now.workloads[i];
		if (is_inconclusive(&set->items[i]) &&
			!is_inconclusive(find_workload(&c.before, workload, &c.now)))
			add(&c, TRANSITION_LOST, workload, STR("verdict"))->reason =
				STR("the profile could not be judged");
	}
	for (ptrdiff_t i = 0; previous && i < previous->count; i++) {
		const struct report *before = &previous->items[i];
		const struct report *now = find_workload(&c.now, c.before.workloads[i], &c.before);
		compare_rule(&c, before, now, ALERT_UNREADABLE);
		for (ptrdiff_t k = 0; k < before->results.count; k++)
			compare_rule(&c, before, now, before->results.items[k].name);
	}
	sort_by(n.items, n.count, by_kind);
	return n;
}

bool transitions_are_due(const struct transitions *n, enum notice_when when)
{
	bool fails =
		n->kinds[TRANSITION_NEW] || n->kinds[TRANSITION_STILL] || n->kinds[TRANSITION_LOST];
	bool changed =
		n->kinds[TRANSITION_NEW] || n->kinds[TRANSITION_FIXED] || n->kinds[TRANSITION_LOST];
	return when == NOTICE_ALWAYS || (when == NOTICE_FAILURE ? fails : changed);
}
