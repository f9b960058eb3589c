/*
 * Waivers: what a rule would find bad and a team has accepted, up to a limit and until a day.
 *
 *     waivers:
 *       - rule: oversized-all-gather
 *         where: scope glob '*embed*'        # subjects it speaks of; without it all of the rule
 *         at_most: 30%                       # beyond it the finding stands
 *         owner: perf-team
 *         reason: the vocabulary is gathered on purpose until the sharded softmax lands
 *         issue: PERF-12                     # may be left out
 *         expires: 2027-01-31                # the last day on which it holds
 *
 * Of a rule with places, `where` speaks of the places: they leave the value while their sum is
 * within the limit.  A waiver whose where or value is unknown for a row does not hold for it, nor
 * does one on a day that is not known: silence never excuses.
 *
 * Refuses: waiving a gate, which says whether the profile can be judged at all.
 */
#include "rules/parse.h"
#include "rules/trial.h"

#include <math.h>

#include "base/embed.h"
#include "base/when.h"

/* ---- reading ------------------------------------------------------------------------------ */

#define KEY(member, how, ...) RULE_KEY(#member, how, struct waiver, member, __VA_ARGS__)

static const struct key waiver_keys[] = {
	KEY(rule, key_trimmed, "name of the rule whose findings are accepted", .required = true),
	KEY(where, key_sql, "which of them, or of their places; without it all"),
	RULE_KEY("at_most", key_ceiling, struct waiver, limit,
		"how large the value may be for the waiver to hold"),
	RULE_KEY("at_least", key_ceiling, struct waiver, limit, "how small it may be",
		.flags = RULE_AT_LEAST, .instead = "at_most"),
	KEY(owner, key_trimmed, "who accepted it", .required = true),
	KEY(reason, key_trimmed, "why", .required = true),
	KEY(issue, key_trimmed, "where it is tracked"),
	KEY(expires, key_trimmed, "its last day, such as 2027-01-31", .required = true),
	KEYED_END,
};

static bool read_waiver(const struct keyed *r, const struct key *each, const struct doc_node *node,
	const struct doc_node *map)
{
	struct ruleset *set = r->arg;
	struct waiver *w = arena_make(r->keep, struct waiver, 1);

	w->origin = origin_of(r, node);
	bool ok = entry_read(r, each, STR("waiver"), node, map, w);
	/* Without a name it is no rule's, not that of a rule whose name is empty. */
	struct rule *rule = w->rule.text.p ? ruleset_rule(set, w->rule.text) : NULL;
	if (w->expires.text.p && !when_is_day(w->expires.text))
		ok = keyed_fail(r, w->expires.origin.node, "expires is a day, such as 2027-01-31");
	if (w->rule.text.p && !rule && set->lacks_base)
		return false; /* it may be the base's */
	if (w->rule.text.p && !rule)
		ok = keyed_fail_as(r, w->rule.origin.node, DIAG_RULE_NAME,
			"there is no rule '%.*s' to waive%.*s", STR_ARG(w->rule.text),
			STR_ARG(rule_hint(set, w->rule.text, NULL, r->keep)));
	if (!rule)
		return false;
	rule->is_own |= !embed_of(r->doc->source);
	*arena_push(r->keep, rule->waivers, rule->waiver_count, rule->waiver_cap) = w;
	*arena_push(r->keep, set->waivers, set->waiver_count, set->waiver_cap) = w;
	return ok;
}

const struct key waiver_entry = { .name = STR_INIT("a waiver"),
	.form = "{ rule: copy-share, at_most: 20%, owner: us, reason: \"...\", "
		"expires: 2027-01-31 }",
	.origin = offsetof(struct waiver, origin),
	.keys = waiver_keys,
	.is_list = true,
	.entry = read_waiver };

/* ---- what it says of a row ---------------------------------------------------------------- */

/* "perf-team (PERF-12)" */
static struct str owner_of(const struct waiver *w, struct arena *keep)
{
	return w->issue.text.p ? arena_fmt(keep, "%.*s (%.*s)", STR_ARG(w->owner.text),
					 STR_ARG(w->issue.text))
			       : w->owner.text;
}

/* Days of this form sort as text. */
static bool is_over(const struct waiver *w, struct str day)
{
	return str_cmp(str_head(day, 10), w->expires.text) > 0;
}

struct str waiver_expired(const struct waiver *w, struct str day, struct arena *keep)
{
	return is_over(w, day) ? arena_fmt(keep, "the waiver by %.*s expired on %.*s",
					 STR_ARG(owner_of(w, keep)), STR_ARG(w->expires.text))
			       : MISSING;
}

enum excuse waiver_excuse(const struct waiver *w, double value, struct str today)
{
	double over = w->at_least ? w->limit.value - value : value - w->limit.value;

	if (!today.p)
		return EXCUSE_UNDATED;
	if (is_over(w, today))
		return EXCUSE_EXPIRED;
	if (w->limit.text.p && isnan(value))
		return EXCUSE_UNKNOWN;
	return w->limit.text.p && over > 0 ? EXCUSE_EXCEEDED : EXCUSE_HOLDS;
}

struct str waiver_note(
	const struct waiver *w, enum excuse excuse, struct str today, struct arena *keep)
{
	struct str by = owner_of(w, keep);

	switch (excuse) {
	case EXCUSE_HOLDS:
		return arena_fmt(keep, "waived until %.*s by %.*s: %.*s", STR_ARG(w->expires.text),
			STR_ARG(by), STR_ARG(w->reason.text));
	case EXCUSE_EXCEEDED:
		return arena_fmt(keep, "beyond what the waiver by %.*s accepts: %s %.*s",
			STR_ARG(by), w->at_least ? "at least" : "at most", STR_ARG(w->limit.text));
	case EXCUSE_UNKNOWN:
		return arena_fmt(keep,
			"the waiver by %.*s does not hold, as the value is not known here",
			STR_ARG(by));
	case EXCUSE_EXPIRED:
		return waiver_expired(w, today, keep);
	case EXCUSE_UNDATED:
		return arena_fmt(keep,
			"the waiver by %.*s holds until %.*s, but the profile does not say when it "
			"was captured: give --today",
			STR_ARG(by), STR_ARG(w->expires.text));
	case EXCUSE_NONE:
		break;
	}
	return MISSING;
}
