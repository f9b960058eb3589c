/* Reading a fleet file.  See fleet_file.h. */
#include "store/fleet_file.h"

#include <math.h>

#include "base/keyed.h"
#include "base/when.h"

#define ENTRY(what, table, ...)                                                                    \
	{                                                                                          \
		.name = STR_INIT(what), .keys = table, __VA_ARGS__                                 \
	}
#define LIST(items, count) KEYED_ARRAY(struct fleet_file, items, count), .max = FLEET_FILE_MAX
#define TEXT(type, name, is_required)                                                              \
	KEYED(#name, key_text, .offset = offsetof(struct type, name), .required = is_required)

static bool read_every(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	struct fleet_expected *e = r->to;
	if (!key_text(r, k, node))
		return false;
	return span_parse(e->every, &e->every_ns) ||
	       keyed_fail(r, node, "every takes a span above zero, like 1d or 12h, not '%.*s'",
		       STR_ARG(e->every));
}

static bool read_day(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	const struct fleet_snooze *s = r->to;
	if (!key_text(r, k, node))
		return false;
	return when_is_day(s->until) ||
	       keyed_fail(r, node,
		       "until takes the last day of the silence, like 2026-12-31, not "
		       "'%.*s'",
		       STR_ARG(s->until));
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* One step from any name to the one it has now, so that there are no rings. */
static bool check_aliases(const struct keyed *r, const struct doc_node *node)
{
	const struct fleet_file *f = r->to;

	for (ptrdiff_t i = 0; i < f->alias_count; i++)
		for (ptrdiff_t k = 0; k < f->alias_count; k++) {
			const struct fleet_alias *a = &f->aliases[i], *b = &f->aliases[k];
			if (str_eq(a->to, b->from))
				return keyed_fail(r, node->items[i],
					"'%.*s' is itself an alias of '%.*s'; name that",
					STR_ARG(a->to), STR_ARG(b->to));
			if (i < k && str_eq(a->from, b->from))
				return keyed_fail(r, node->items[k], "'%.*s' has two aliases",
					STR_ARG(b->from));
		}
	return true;
}

static bool check_budget(const struct keyed *r, const struct doc_node *node)
{
	const struct fleet_budget *b = r->to;

	return isnan(b->dollars) != isnan(b->chip_hours) ||
	       keyed_fail(r, node, "a budget has either dollars or chip_hours");
}

/* ---- the tables ------------------------------------------------------------------------------ */

static const struct key expected_keys[] = {
	TEXT(fleet_expected, workload, true),
	KEYED("every", read_every, .offset = offsetof(struct fleet_expected, every)),
	KEYED_END,
};
static const struct key snoozed_keys[] = {
	TEXT(fleet_snooze, workload, true),
	KEYED("until", read_day, .offset = offsetof(struct fleet_snooze, until), .required = true),
	TEXT(fleet_snooze, reason, true),
	KEYED_END,
};
static const struct key alias_keys[] = {
	TEXT(fleet_alias, from, true),
	TEXT(fleet_alias, to, true),
	KEYED_END,
};
#define LIMIT(name)                                                                                \
	KEYED(#name, key_number, .offset = offsetof(struct fleet_budget, name), .max = 1e12,       \
		.form = "a number from 0, as in 2000")
static const struct key budget_keys[] = {
	TEXT(fleet_budget, owner, false),
	LIMIT(dollars),
	LIMIT(chip_hours),
	KEYED_END,
};
static const struct key route_keys[] = {
	TEXT(fleet_route, owner, true),
	TEXT(fleet_route, notify, true),
	KEYED_END,
};
static const struct fleet_budget no_budget = { .dollars = NAN, .chip_hours = NAN };

static const struct key expected_entry = ENTRY("an expected workload", expected_keys);
static const struct key snoozed_entry = ENTRY("a snoozed workload", snoozed_keys);
static const struct key alias_entry = ENTRY("an alias", alias_keys);
static const struct key budget_entry = ENTRY("a budget", budget_keys, .agree = check_budget);
static const struct key route_entry = ENTRY("a route", route_keys);

static const struct key fleet_keys[] = {
	KEYED("version", key_version, .form = "fleet files", .required = true),
	KEYED("expected", key_array, LIST(expected, expected_count), .each = &expected_entry,
		.form = "a list: - { workload: runs/llama-70b, every: 1d }"),
	KEYED("snoozed", key_array, LIST(snoozed, snoozed_count), .each = &snoozed_entry,
		.form = "a list: - { workload: runs/old, until: 2026-12-31, reason: it moved }"),
	/* each is compared with each */
	KEYED("aliases", key_array, KEYED_ARRAY(struct fleet_file, aliases, alias_count),
		.max = 1000, .each = &alias_entry, .agree = check_aliases,
		.form = "a list: - { from: runs/llama, to: runs/llama-70b }"),
	KEYED("budgets", key_array, LIST(budgets, budget_count), .each = &budget_entry,
		.initial = &no_budget, .form = "a list: - { owner: vision, dollars: 2000 }"),
	KEYED("routes", key_array, LIST(routes, route_count), .each = &route_entry,
		.form = "a list: - { owner: vision, notify: 'slack:ROOFLINT_SLACK_VISION' }"),
	KEYED_END,
};
static const struct key fleet_document = { .name = STR_INIT("a fleet file"), .keys = fleet_keys };

bool fleet_file_parse(struct str file, struct str text, struct arena *keep, struct fleet_file *ret,
	struct diag *err)
{
	struct doc doc;
	const struct keyed r = {
		.doc = &doc, .keep = keep, .mistake = DIAG_FLEET_FILE, .err = err, .to = ret
	};
	*ret = (struct fleet_file){ 0 };
	return keyed_open(&r, &doc, file, text, &fleet_document) &&
	       keyed_map(&r, &fleet_document, doc.root, doc.root);
}
