/* Waivers.  See waiver.h. */
#include "rules/waiver.h"

#include "base/when.h"
#include "rules/engine.h"

/* ---- reading ------------------------------------------------------------------------------ */

#define KEY(name, member, shape, required, meaning)                                                \
	{                                                                                          \
		STR_INIT(name), offsetof(struct waiver, member), shape, required, NULL, 0,         \
			STR_INIT(meaning)                                                          \
	}

static const struct section_key waiver_keys[] = {
	KEY("rule", rule, SHAPE_TEXT, true, "name of the rule whose findings are accepted"),
	KEY("where", where, SHAPE_TEXT, false, "which of them; without it all"),
	KEY("ceiling", ceiling, SHAPE_TEXT, true, "what must hold for the waiver to hold"),
	KEY("owner", owner, SHAPE_TEXT, true, "who accepted it"),
	KEY("reason", reason, SHAPE_TEXT, true, "why"),
	KEY("issue", issue, SHAPE_SCALAR, false, "where it is tracked"),
	KEY("expires", expires, SHAPE_TEXT, true, "its last day: 2027-01-31"),
};
enum { WAIVER_KEYS = sizeof(waiver_keys) / sizeof(waiver_keys[0]) };
const struct section waiver_section = { "a waiver", waiver_keys, WAIVER_KEYS };

static struct rule_text *key_text(struct waiver *w, const struct section_key *key)
{
	return (struct rule_text *)(void *)((char *)w + key->value);
}

static bool read_key(const struct rule_reader *r, struct waiver *w, const struct doc_pair *pair)
{
	const struct section_key *key = section_key_find(r, &waiver_section, pair->key);

	if (!key)
		return false;
	if (pair->value->kind != DOC_SCALAR || !str_trim(pair->value->text).len)
		return node_fail(r, pair->value, DIAG_RULE_SCHEMA,
			"a waiver's %.*s takes one value", STR_ARG(key->name));
	*key_text(w, key) = (struct rule_text){ pair->value->text, origin_of(r, pair->value) };
	return true;
}

static bool read_keys(const struct rule_reader *r, struct waiver *w, const struct doc_node *node)
{
	if (node->kind != DOC_MAP)
		return node_fail(r, node, DIAG_RULE_SCHEMA,
			"a waiver is a map with the keys rule, ceiling, owner, reason and expires");
	for (ptrdiff_t i = 0; i < node->count; i++)
		if (!read_key(r, w, &node->pairs[i]))
			return false;
	for (int i = 0; i < WAIVER_KEYS; i++)
		if (waiver_keys[i].required && !key_text(w, &waiver_keys[i])->text.p)
			return node_fail(r, node, DIAG_RULE_SCHEMA, "this waiver lacks '%.*s'",
				STR_ARG(waiver_keys[i].name));
	return true;
}

static struct rule *find_rule(const struct rule_reader *r, struct str name)
{
	for (ptrdiff_t i = 0; i < r->set->count; i++)
		if (str_eq(r->set->items[i]->name, name))
			return r->set->items[i];
	return NULL;
}

static bool attach(const struct rule_reader *r, struct waiver *w)
{
	const struct doc_node *at = w->rule.origin.node;
	struct rule *rule = find_rule(r, w->rule.text);
	struct str *names = arena_make(r->keep, struct str, r->set->count + 1);

	for (ptrdiff_t i = 0; i < r->set->count; i++)
		names[i] = r->set->items[i]->name;
	if (!rule) {
		struct str hint = did_you_mean(r->keep, w->rule.text, names, r->set->count);
		return node_fail(r, at, DIAG_RULE_NAME, "there is no rule '%.*s' to waive%.*s",
			STR_ARG(w->rule.text), STR_ARG(hint));
	}
	if (r->set->waiver_count >= WAIVERS_MAX)
		return node_fail(r, at, DIAG_LIMIT, "more than %d waivers", WAIVERS_MAX);
	*arena_push(r->keep, rule->waivers, rule->waiver_count, rule->waiver_cap) = w;
	*arena_push(r->keep, r->set->waivers, r->set->waiver_count, r->set->waiver_cap) = w;
	return true;
}

static bool read_waiver(const struct rule_reader *r, const struct doc_node *node)
{
	struct waiver *w = arena_make(r->keep, struct waiver, 1);

	w->origin = origin_of(r, node);
	if (!read_keys(r, w, node))
		return false;
	if (!when_is_day(w->expires.text))
		return node_fail(r, w->expires.origin.node, DIAG_RULE_SCHEMA,
			"expires is a day, such as 2027-01-31");
	return attach(r, w);
}

bool document_waivers(const struct rule_reader *r)
{
	const struct doc_node *list = doc_get(r->doc->root, STR("waivers"));

	if (!list)
		return true;
	if (list->kind != DOC_LIST)
		return node_fail(r, list, DIAG_RULE_SCHEMA,
			"waivers is a list: each begins with '- rule: NAME'");
	for (ptrdiff_t i = 0; i < list->count; i++)
		if (!read_waiver(r, list->items[i]))
			return false;
	return true;
}

/* ---- what it says of a row ---------------------------------------------------------------- */

/* Days of this form sort as text. */
enum excuse waiver_excuse(const struct waiver *w, bool is_known, bool is_below, struct str today)
{
	if (!today.p)
		return EXCUSE_UNDATED;
	if (str_cmp(str_head(today, 10), w->expires.text) > 0)
		return EXCUSE_EXPIRED;
	if (!is_known)
		return EXCUSE_UNKNOWN;
	return is_below ? EXCUSE_HOLDS : EXCUSE_EXCEEDED;
}

static struct str who(const struct waiver *w, struct arena *keep)
{
	if (!w->issue.text.p)
		return w->owner.text;
	return arena_fmt(keep, "%.*s (%.*s)", STR_ARG(w->owner.text), STR_ARG(w->issue.text));
}

struct str waiver_note(const struct waiver *w, enum excuse excuse, struct arena *keep)
{
	struct str by = who(w, keep);

	switch (excuse) {
	case EXCUSE_HOLDS:
		return arena_fmt(keep, "waived until %.*s by %.*s: %.*s", STR_ARG(w->expires.text),
			STR_ARG(by), STR_ARG(w->reason.text));
	case EXCUSE_EXCEEDED:
		return arena_fmt(keep, "beyond the ceiling of the waiver by %.*s: %.*s",
			STR_ARG(by), STR_ARG(w->ceiling.text));
	case EXCUSE_UNKNOWN:
		return arena_fmt(keep,
			"the waiver by %.*s does not hold, as its ceiling asks for what is not "
			"known here: %.*s",
			STR_ARG(by), STR_ARG(w->ceiling.text));
	case EXCUSE_EXPIRED:
		return arena_fmt(keep, "the waiver by %.*s expired on %.*s", STR_ARG(by),
			STR_ARG(w->expires.text));
	case EXCUSE_UNDATED:
		return arena_fmt(keep,
			"the waiver by %.*s holds until %.*s, but the profile does not say when it "
			"was captured: give --today",
			STR_ARG(by), STR_ARG(w->expires.text));
	case EXCUSE_NONE:
		break;
	}
	return (struct str){ NULL, 0 };
}
