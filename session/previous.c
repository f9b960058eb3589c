/* Reports written before.  See previous.h. */
#include "session/previous.h"

#include "base/input.h"

bool report_load(struct str path, struct arena *keep, struct report_set *ret, struct diag *err)
{
	struct input in;
	if (!input_open(path, keep, &in, err)) {
		path_missing(path, keep, err);
		return diag_append(err, "`rooflint check --json FILE` writes a report");
	}
	struct str text = str_trim(in.bytes);
	bool ok = !text.len || text.p[0] == '{'
			  ? report_json_read(path, in.bytes, keep, ret, err)
			  : diag_set(err, DIAG_FILE_KIND,
				    "'%.*s' is no report: `rooflint check --json FILE` writes one",
				    STR_ARG(path));
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

struct judgement previous_judgement(const struct report_set *previous, struct str profile)
{
	const struct report *r = previous_report(previous, profile);
	return r ? (struct judgement){ .results = r->results.items,
		.result_count = r->results.count,
		.findings = r->findings.items,
		.finding_count = r->findings.count }
		 : (struct judgement){ 0 };
}
