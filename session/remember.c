/* Facts of judged runs.  See remember.h. */
#include "session/remember.h"

#include "base/sha256.h"
#include "rules/print.h"

struct str judge_identity(
	const struct ruleset *rules, const struct read_settings *read, struct arena *keep)
{
	struct sha256 h = sha256_new();
	struct out *o = out_memory(keep);
	rules_print(rules, keep, o);
	sha256_field(&h, out_text(o));
	sha256_field(&h, read->hardware);
	for (ptrdiff_t i = 0; i < read->source_roots.count; i++)
		sha256_field(&h, read->source_roots.items[i]);
	sha256_field(&h, arena_fmt(keep, "%td", read->source_roots.count));
	sha256_field(&h, read->job);
	sha256_field(&h, arena_fmt(keep, "%d", read->hosts_sample));
	sha256_field(&h, STR(ROOFLINT_VERSION));
	return sha256_id(&h, keep);
}

void remember_each(const struct report_set *set, struct str judge, run_facts_fn *take, void *arg,
	struct arena *scratch, struct diag *err, bool *ok)
{
	struct run_facts facts;
	for (ptrdiff_t i = 0; i < set->count && *ok; i++) {
		report_facts(&set->items[i], judge, STR(ROOFLINT_VERSION), scratch, &facts);
		*ok = take(arg, &facts, err);
		arena_clear(scratch);
	}
}
