/* Reading a fleet file.  See fleet_file.h. */
#include "store/fleet_file.h"

#include <math.h>

#include "base/keyed.h"
#include "base/when.h"

#define TEXT(type, name, is_required)                                                              \
	KEYED(#name, key_text, .offset = offsetof(struct type, name), .required = is_required)

static bool read_version(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	(void)k;
	if (node->kind != DOC_SCALAR || node->quoted || !str_eq(node->text, STR("1")))
		return keyed_fail(r, node, "this rooflint reads fleet files of version 1");
	return true;
}

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

/* Where a list goes, and how large one of its items is. */
struct list_of {
	void *items;
	ptrdiff_t item_bytes;
};

static bool read_list(const struct keyed *r, const struct key *k, const struct doc_node *node,
	struct list_of into)
{
	for (ptrdiff_t i = 0; i < node->count; i++) {
		struct keyed one = *r;
		one.to = (char *)into.items + i * into.item_bytes;
		if (!keyed_map(&one, k->name, k->keys, node->items[i]))
			return false;
	}
	return true;
}

static bool need_list(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	if (node->kind != DOC_LIST)
		return keyed_fail(r, node, "%.*s is a list: %s", STR_ARG(k->name), k->form);
	return node->count <= FLEET_FILE_MAX || keyed_fail(r, node, "%.*s has more than %d entries",
							STR_ARG(k->name), FLEET_FILE_MAX);
}

static bool read_expected(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	struct fleet_file *f = r->to;
	if (!need_list(r, k, node))
		return false;
	f->expected_count = node->count;
	f->expected = arena_make(r->keep, struct fleet_expected, node->count);
	return read_list(r, k, node, (struct list_of){ f->expected, sizeof(*f->expected) });
}

static bool read_snoozed(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	struct fleet_file *f = r->to;
	if (!need_list(r, k, node))
		return false;
	f->snoozed_count = node->count;
	f->snoozed = arena_make(r->keep, struct fleet_snooze, node->count);
	return read_list(r, k, node, (struct list_of){ f->snoozed, sizeof(*f->snoozed) });
}

/* One step from any name to the one it has now, so that there are no rings. */
static bool check_aliases(
	const struct keyed *r, const struct fleet_file *f, const struct doc_node *node)
{
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

static bool read_aliases(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	enum { MOST = 1000 }; /* each is compared with each */
	struct fleet_file *f = r->to;
	if (!need_list(r, k, node))
		return false;
	if (node->count > MOST)
		return keyed_fail(r, node, "aliases has more than %d entries", MOST);
	f->alias_count = node->count;
	f->aliases = arena_make(r->keep, struct fleet_alias, node->count);
	return read_list(r, k, node, (struct list_of){ f->aliases, sizeof(*f->aliases) }) &&
	       check_aliases(r, f, node);
}

static bool read_budgets(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	struct fleet_file *f = r->to;
	if (!need_list(r, k, node))
		return false;
	f->budget_count = node->count;
	f->budgets = arena_make(r->keep, struct fleet_budget, node->count);
	for (ptrdiff_t i = 0; i < node->count; i++)
		f->budgets[i] = (struct fleet_budget){ .dollars = NAN, .chip_hours = NAN };
	if (!read_list(r, k, node, (struct list_of){ f->budgets, sizeof(*f->budgets) }))
		return false;
	for (ptrdiff_t i = 0; i < node->count; i++)
		if (isnan(f->budgets[i].dollars) == isnan(f->budgets[i].chip_hours))
			return keyed_fail(
				r, node->items[i], "a budget has either dollars or chip_hours");
	return true;
}

static bool read_routes(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	struct fleet_file *f = r->to;
	if (!need_list(r, k, node))
		return false;
	f->route_count = node->count;
	f->routes = arena_make(r->keep, struct fleet_route, node->count);
	return read_list(r, k, node, (struct list_of){ f->routes, sizeof(*f->routes) });
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
static const struct key fleet_keys[] = {
	KEYED("version", read_version, .required = true),
	KEYED("expected", read_expected, .keys = expected_keys,
		.form = "- { workload: runs/llama-70b, every: 1d }"),
	KEYED("snoozed", read_snoozed, .keys = snoozed_keys,
		.form = "- { workload: runs/old, until: 2026-12-31, reason: it moved }"),
	KEYED("aliases", read_aliases, .keys = alias_keys,
		.form = "- { from: runs/llama, to: runs/llama-70b }"),
	KEYED("budgets", read_budgets, .keys = budget_keys,
		.form = "- { owner: vision, dollars: 2000 }"),
	KEYED("routes", read_routes, .keys = route_keys,
		.form = "- { owner: vision, notify: 'slack:ROOFLINT_SLACK_VISION' }"),
	KEYED_END,
};

bool fleet_file_parse(struct str file, struct str text, struct arena *keep, struct fleet_file *ret,
	struct diag *err)
{
	struct doc doc;
	struct keyed r = { &doc, keep, DIAG_FLEET_FILE, err, ret };
	*ret = (struct fleet_file){ 0 };
	if (!doc_parse(file, text, keep, &doc, err))
		return false;
	if (!doc.root)
		return diag_set(err, DIAG_FLEET_FILE,
			"%.*s: the file is empty; a fleet file begins with 'version: 1'",
			STR_ARG(file));
	return keyed_map(&r, STR("a fleet file"), fleet_keys, doc.root);
}
