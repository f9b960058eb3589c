/*
 * GitLab's code quality report: one array, one object an alert.
 *
 * Fields as GitLab's documentation asks for them: description, check_name, fingerprint, severity,
 * location.path (relative, without "./") and location.lines.begin.  A place is demanded of each
 * entry, so what has none in the user's sources stands at line 1 of its profile.
 */
#include "base/json.h"
#include "report/alert.h"

/* The merge request shows a list to be read by people; the widget gets slow long before. */
enum { GITLAB_MAX = 1000 };

static const char *const severities[ALERT_LEVELS] = {
	[ALERT_ERROR] = "major",
	[ALERT_WARNING] = "minor",
	[ALERT_NOTE] = "info",
};

static void put_entry(cJSON *list, const struct alert *a, struct str description)
{
	cJSON *o = json_push_object(list), *location;
	json_add_str(o, "description", description);
	json_add_str(o, "check_name", a->rule);
	json_add_str(o, "fingerprint", a->fingerprint);
	json_add_str(o, "severity", str_from(severities[a->level]));
	location = json_add_object(o, "location");
	json_add_str(location, "path", a->path);
	json_add_i64(json_add_object(location, "lines"), "begin", a->line ? a->line : 1);
}

void report_gitlab(const struct report_set *set, struct arena *keep, struct out *out)
{
	struct alerts all = alerts_of(set, keep);
	cJSON *list = cJSON_CreateArray();
	for (ptrdiff_t i = 0; i < all.count && i < GITLAB_MAX; i++)
		put_entry(list, &all.items[i], alert_text(&all.items[i], keep));
	if (all.count > GITLAB_MAX)
		put_entry(list,
			&(struct alert){ .level = ALERT_NOTE,
				.rule = STR("left-out"),
				.fingerprint = STR("rooflint-left-out"),
				.path = STR("profile") },
			arena_fmt(keep,
				"%td more, the last of the report, were left out; report.json has "
				"all",
				all.count - GITLAB_MAX));
	json_write(list, keep, out);
}
