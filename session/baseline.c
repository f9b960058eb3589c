/* Baselines from the command line.  See baseline.h. */
#include "session/baseline.h"

#include <math.h>

#include "session/bucket.h"
#include "session/history.h"
#include "session/previous.h"
#include "session/profile_name.h"

static bool load_report(
	struct str path, struct arena *keep, struct baselines *ret, struct diag *err)
{
	struct report_set set;
	ptrdiff_t before = ret->count;
	if (!report_load(path, keep, &set, err))
		return false;
	for (ptrdiff_t i = 0; i < set.count; i++) {
		const struct report *r = &set.items[i];
		if (r->error.text.p || !table_count(&r->tables, run))
			continue;
		*arena_push(keep, ret->items, ret->count, ret->cap) =
			(struct baseline){ .name = set.count == 1 ? path : r->profile,
				.tables = &r->tables };
	}
	return ret->count > before ||
	       diag_set(err, DIAG_BASELINE,
		       "%.*s: no profile in it was measured, so it is no baseline", STR_ARG(path));
}

static bool load_profile(struct str path, const struct load_options *options, struct arena *keep,
	struct baselines *ret, struct diag *err)
{
	struct found found;
	struct tables *tables = arena_make(keep, struct tables, 1);
	if (!find_profiles(path, keep, &found, err) ||
		!run_tables(&found.runs[0], options, keep, tables, err))
		return false;
	*arena_push(keep, ret->items, ret->count, ret->cap) =
		(struct baseline){ .name = path, .tables = tables };
	return true;
}

struct load_options baseline_options(const struct load_options *of_head)
{
	struct load_options o = *of_head;
	o.expect_commit = MISSING;
	o.max_age_s = NAN;
	o.measure.job = NULL;
	return o;
}

bool baseline_load(struct str path, const struct load_options *options, struct arena *keep,
	struct baselines *ret, struct diag *err)
{
	/* A trace that was unpacked ends in .json, too. */
	bool is_report = str_ends(path, STR(".json")) && !str_ends(path, STR(".trace.json"));
	return (is_report ? load_report(path, keep, ret, err)
			  : load_profile(path, options, keep, ret, err));
}

bool baselines_load(struct baselines *ret, const struct list *words, struct str store,
	const struct load_options *options, struct arena *keep, struct diag *err)
{
	struct load_options *earlier = arena_make(keep, struct load_options, 1);
	*earlier = baseline_options(options);
	*ret = (struct baselines){ .store = store, .prior = NOISE_PRIOR_DEFAULT };
	for (ptrdiff_t i = 0; i < words->count; i++) {
		struct str word = words->items[i];
		if (!history_is_query(word)) {
			if (!baseline_load(word, earlier, keep, ret, err))
				return diag_context(err, "baseline");
			continue;
		}
		if (!store.p)
			return diag_set(err, DIAG_USAGE,
				"--baseline %.*s asks a store; name it with --store FILE",
				STR_ARG(word));
		if (!history_query_parse(word, keep,
			    arena_push(keep, ret->queries, ret->query_count, ret->query_cap), err))
			return false;
	}
	return true;
}

bool baselines_compare(const struct baselines *b, struct tables *head, struct str shown,
	struct arena *keep, const struct baseline **ret, struct diag_list *notes, struct diag *err)
{
	struct baselines all = { 0 };
	struct noise_prior prior = b->prior;
	for (ptrdiff_t i = 0; i < b->count; i++) {
		struct baseline *item = arena_push(keep, all.items, all.count, all.cap);
		*item = b->items[i];
		/* A plan has no times to be known by, and another one may be the same. */
		item->is_head = str_eq(profile_name(item->name, keep), shown);
		item->is_of_others = b->are_of_others;
	}
	if (b->query_count && table_count(head, run)) {
		struct connection store;
		bool ok = connection_open(&store, b->store, STORE_READ, keep, err);
		ok = ok && history_noise(store.store, head, shown, keep, &prior, err);
		for (ptrdiff_t i = 0; i < b->query_count && ok; i++)
			ok = history_recall(
				store.store, &b->queries[i], head, shown, keep, &all, err);
		connection_close(&store);
		if (!ok) { /* no comparison, which is for the judge to tell; the rest is judged */
			all.count = b->count;
			*arena_push(keep, all.items, all.count, all.cap) = (struct baseline){
				.name = arena_str(keep, str_from(err->text)),
				.query = b->queries[0].text,
			};
		}
	}
	return baseline_compare(head, all.items, all.count, prior, keep, ret, notes, err);
}

/* ---- good runs ------------------------------------------------------------------------------- */

/* Fewer do not tell what is usual; the gate steps-recorded of recommended asks for as many. */
enum { STEPS_NEEDED = 2 };

static bool has_steps(const struct baseline *good, struct diag *err)
{
	double steps = row_of_run(good->tables) ? row_of_run(good->tables)->steps : 0;
	if (steps >= STEPS_NEEDED)
		return true;
	return diag_set(err, DIAG_BASELINE,
		"%.*s: steady steps: %.0f, and a limit needs at least %d; capture a longer run "
		"(`rooflint check` says what it lacks)",
		STR_ARG(good->name), steps > 0 ? steps : 0, STEPS_NEEDED);
}

bool limits_from_runs(const struct ruleset *rules, const struct list *paths,
	const struct load_options *options, struct arena *keep, struct limits *ret,
	struct diag *err)
{
	struct baselines good = { 0 };
	struct judgement judgement;
	for (ptrdiff_t i = 0; i < paths->count; i++)
		if (!baseline_load(paths->items[i], options, keep, &good, err))
			return false;
	limits_begin(ret, rules, keep);
	for (ptrdiff_t i = 0; i < good.count; i++) {
		const struct tables *tables = good.items[i].tables;
		if (!has_steps(&good.items[i], err) ||
			!judge_alone(rules, tables, keep, &judgement, err))
			return false;
		limits_add(ret, &judgement, tables);
	}
	limits_end(ret, keep);
	return true;
}
