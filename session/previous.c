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

ptrdiff_t previous_sightings(const struct report_set *previous, struct str profile,
	struct arena *keep, struct sighting **ret)
{
	const struct report *r = previous->count == 1 ? previous->items : NULL;
	for (ptrdiff_t i = previous->count - 1; i >= 0; i--)
		if (str_eq(previous->items[i].profile, profile))
			r = &previous->items[i];
	r = r && !r->error.p ? r : NULL;
	struct sighting *seen = arena_make(keep, struct sighting, r ? r->finding_count : 0);
	ptrdiff_t count = 0;
	for (ptrdiff_t i = 0; r && i < r->finding_count; i++) {
		const struct report_finding *f = &r->findings[i];
		bool failed = f->verdict == VERDICT_FAIL;
		if (!failed && f->verdict != VERDICT_WARN)
			continue;
		seen[count++] = (struct sighting){ f->rule, f->subject,
			f->seen >= 1 && f->seen < SEEN_MAX ? (int64_t)f->seen : 1, failed };
	}
	*ret = seen;
	return count;
}
