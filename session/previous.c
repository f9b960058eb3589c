/* Reports written before.  See previous.h. */
#include "session/previous.h"

#include <math.h>

#include "base/input.h"

bool report_load(struct str path, struct arena *keep, struct report_set *ret, struct diag *err)
{
	struct input in;
	if (!input_open(path, keep, &in, err))
		return false;
	bool ok = report_json_read(path, in.bytes, keep, ret, err);
	ok = input_check(&in, err) && ok;
	input_close(&in);
	return ok;
}

/* The one of its name, or the only one there is, since names hold dates; NULL: there is none. */
static const struct report *previous_report(const struct report_set *previous, struct str profile)
{
	const struct report *r = previous->count == 1 ? previous->items : NULL;
	for (ptrdiff_t i = previous->count - 1; i >= 0; i--)
		if (str_eq(previous->items[i].profile, profile))
			r = &previous->items[i];
	return r && !r->error.text.p ? r : NULL;
}

ptrdiff_t previous_sightings(const struct report_set *previous, struct str profile,
	struct arena *keep, struct sighting **ret)
{
	const struct report *r = previous_report(previous, profile);
	struct sighting *seen = arena_make(keep, struct sighting, r ? r->findings.count : 0);
	ptrdiff_t count = 0;
	for (ptrdiff_t i = 0; r && i < r->findings.count; i++) {
		const struct finding *f = &r->findings.items[i];
		bool failed = f->verdict == VERDICT_FAIL;
		if (!failed && f->verdict != VERDICT_WARN)
			continue;
		seen[count++] = (struct sighting){ f->rule, f->subject,
			f->seen >= 1 && f->seen < SEEN_MAX ? (int64_t)f->seen : 1, failed };
	}
	*ret = seen;
	return count;
}

void previous_judged(
	const struct report_set *previous, struct str profile, struct arena *keep, struct list *ret)
{
	const struct report *r = previous_report(previous, profile);
	for (ptrdiff_t i = 0; r && i < r->results.count; i++)
		if (verdict_is_judged(r->results.items[i].verdict))
			list_add(ret, r->results.items[i].name, keep);
}

bool baseline_judged(const struct ruleset *rules, const struct tables *base, struct arena *keep,
	struct list *ret, struct diag *err)
{
	const struct judge_context alone = { 0 };
	struct tables tables = *base; /* judging takes them as its own */
	struct judgement j;
	if (!judge(rules, &tables, &alone, keep, &j, err))
		return false;
	for (ptrdiff_t i = 0; i < j.result_count; i++)
		if (verdict_is_judged(j.results[i].verdict))
			list_add(ret, j.results[i].name, keep);
	return true;
}
