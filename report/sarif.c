/*
 * SARIF 2.1.0, within what GitHub's code scanning accepts.
 *
 *   fail, warn        results of level error and warning, those of largest gain first
 *   inconclusive      notifications of the run: GitHub shows any result as an alert on the code,
 *                     whatever its kind, and no line of code repairs missing evidence
 *   unreadable        a notification of level error; the run is then not successful
 *   waived            results with a suppression, which editors and Azure hide; GitHub shows them
 *                     as open, at level note
 *
 * GitHub refuses the whole file when one result has no physical location.  A result without a line
 * in the user's sources points at the profile, the artifact that was analysed; logical locations
 * (scope and op) and properties say the rest.
 */
#include <math.h>

#include "base/json.h"
#include "base/text.h"
#include "report/alert.h"
#include "report/md.h"

enum {
	RESULTS_MAX = 5000, /* GitHub shows these and hides the others */
	RULES_SHOWN = 5000, /* GitHub takes 25,000 */
	LINE_DEFAULT = 1,
};

#define SARIF_SCHEMA                                                                               \
	"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"                      \
	"sarif-schema-2.1.0.json"

static const char *const levels[ALERT_LEVELS] = {
	[ALERT_ERROR] = "error",
	[ALERT_WARNING] = "warning",
	[ALERT_NOTE] = "note",
};

struct sarif {
	struct arena *keep;
	const struct rule_result **rules; /* of all profiles, each name once */
	ptrdiff_t count, cap;
};

static void add_z(cJSON *o, const char *key, const char *value)
{
	json_add_str(o, key, str_from(value));
}

/* Nothing at all for what is missing: SARIF has no null. */
static void add_text(cJSON *o, const char *key, struct str value, struct arena *keep)
{
	if (value.len)
		json_add_str(o, key, clean_lines(keep, value));
}

static void add_number(cJSON *o, const char *key, double value)
{
	if (isfinite(value))
		json_add_double(o, key, value);
}

/* "[text](target)" in a plain message is a link; a blank between the two makes it text. */
static struct str unlinked(struct str text, struct arena *keep)
{
	struct out *o = out_memory(keep);
	text = clean_lines(keep, text);
	for (ptrdiff_t i = 0; i < text.len; i++) {
		out_char(o, text.p[i]);
		if (str_starts(str_from_offset(text, i), STR("](")))
			out_char(o, ' ');
	}
	return out_text(o);
}

static void add_message(cJSON *o, const char *key, struct str text, struct arena *keep)
{
	json_add_str(json_add_object(o, key), "text", unlinked(text, keep));
}

/* ---- rules ----------------------------------------------------------------------------------- */

static ptrdiff_t rule_index(const struct sarif *s, struct str name)
{
	for (ptrdiff_t i = 0; i < s->count; i++)
		if (str_eq(s->rules[i]->name, name))
			return i;
	return -1;
}

static void put_section(struct out *text, struct out *md, const char *head, struct str body)
{
	if (!str_trim(body).len)
		return;
	out_fmt(text, "%s: %.*s\n\n", head, STR_ARG(str_trim(body)));
	out_fmt(md, "**%s**\n\n", head);
	md_lines(md, body);
	out_z(md, "\n\n");
}

static void add_help(
	cJSON *o, const struct rule_result *rule, const struct finding *f, struct arena *keep)
{
	struct out *text = out_memory(keep), *md = out_memory(keep);
	struct str name = text_clean(keep, rule->name);
	if (f) {
		put_section(text, md, "Cause", clean_lines(keep, f->cause));
		put_section(text, md, "Fix", clean_lines(keep, f->fix));
	}
	out_fmt(text, "More about it: rooflint explain %.*s", STR_ARG(name));
	out_z(md, "More about it: rooflint explain ");
	md_text(md, name);
	cJSON *help = json_add_object(o, "help");
	json_add_str(help, "text", unlinked(out_text(text), keep));
	json_add_str(help, "markdown", out_text(md));
}

static void put_rule(cJSON *list, const struct sarif *s, const struct report_set *set,
	const struct rule_result *rule)
{
	const struct finding *f = NULL;
	for (ptrdiff_t i = 0; i < set->count && !f; i++)
		f = finding_of(&set->items[i], rule->name);
	struct str title = rule->title.len ? rule->title : rule->name;
	cJSON *o = json_push_object(list), *properties, *tags;
	json_add_str(o, "id", text_clean(s->keep, rule->name));
	add_message(o, "shortDescription", title, s->keep);
	add_message(o, "fullDescription", rule->why.len ? rule->why : title, s->keep);
	add_help(o, rule, f, s->keep);
	/* The least that can be said; each result has a level of its own. */
	bool has_failed = f && f->verdict == VERDICT_FAIL;
	add_z(json_add_object(o, "defaultConfiguration"), "level",
		rule->gate   ? "note"
		: has_failed ? "error"
			     : "warning");
	properties = json_add_object(o, "properties");
	tags = json_add_array(properties, "tags");
	cJSON_AddItemToArray(tags, json_str(STR("performance")));
}

/* ---- notifications --------------------------------------------------------------------------- */

static cJSON *put_notification(
	cJSON *list, const char *level, struct str id, struct str message, struct arena *keep)
{
	cJSON *o = json_push_object(list);
	json_add_str(json_add_object(o, "descriptor"), "id", id);
	add_z(o, "level", level);
	add_message(o, "message", message, keep);
	return o;
}

static void put_alert_notification(cJSON *list, const struct sarif *s, const struct alert *a)
{
	struct str text = arena_fmt(
		s->keep, "%.*s: %.*s", STR_ARG(a->title), STR_ARG(alert_text(a, s->keep)));
	bool unread = a->report->error.text.p != NULL;
	cJSON *o = put_notification(list, levels[a->level],
		unread ? ALERT_UNREADABLE : STR("inconclusive"), text, s->keep);
	ptrdiff_t index = rule_index(s, a->rule);
	if (unread || index < 0)
		return;
	cJSON *rule = json_add_object(o, "associatedRule");
	json_add_str(rule, "id", a->rule);
	json_add_i64(rule, "index", index);
}

static void put_invocation(cJSON *run, const struct sarif *s, const struct report_set *set,
	const struct alerts *all, ptrdiff_t left_out)
{
	cJSON *o = json_push_object(json_add_array(run, "invocations"));
	bool is_read = true;
	for (ptrdiff_t i = 0; i < set->count; i++)
		is_read &= !set->items[i].error.text.p;
	json_add_bool(o, "executionSuccessful", is_read);
	cJSON *list = json_add_array(o, "toolExecutionNotifications");
	for (ptrdiff_t i = 0; i < all->count; i++)
		if (!all->items[i].finding)
			put_alert_notification(list, s, &all->items[i]);
	if (left_out)
		put_notification(list, "warning", STR("left-out"),
			arena_fmt(s->keep,
				"%lld more findings, the last of the report, were left out; "
				"report.json has all",
				(long long)left_out),
			s->keep);
}

/* ---- results --------------------------------------------------------------------------------- */

static void put_logical(cJSON *location, const struct finding *f, struct arena *keep)
{
	struct str name = text_clean(keep, f->name.len ? f->name : f->subject);
	struct str scope = text_clean(keep, f->scope);
	if (!name.len)
		return;
	cJSON *o = json_push_object(json_add_array(location, "logicalLocations"));
	json_add_str(o, "name", name);
	json_add_str(o, "fullyQualifiedName",
		scope.len ? arena_fmt(keep, "%.*s/%.*s", STR_ARG(scope), STR_ARG(name)) : name);
	if (scope.len)
		add_z(o, "kind", "op");
}

static void put_location(cJSON *result, const struct alert *a, struct arena *keep)
{
	cJSON *location = json_push_object(json_add_array(result, "locations"));
	cJSON *physical = json_add_object(location, "physicalLocation");
	cJSON *artifact = json_add_object(physical, "artifactLocation");
	struct out *uri = out_memory(keep);
	out_uri(uri, a->path, true);
	json_add_str(artifact, "uri", out_text(uri));
	if (a->in_source)
		add_z(artifact, "uriBaseId", "%SRCROOT%");
	json_add_i64(
		json_add_object(physical, "region"), "startLine", a->line ? a->line : LINE_DEFAULT);
	put_logical(location, a->finding, keep);
}

static void put_evidence(cJSON *properties, const struct finding *f, struct arena *keep)
{
	cJSON *list = json_add_array(properties, "evidence");
	for (ptrdiff_t i = 0; i < f->evidence.count; i++) {
		const struct evidence *e = &f->evidence.items[i];
		cJSON *o = json_push_object(list);
		add_text(o, "name", e->name, keep);
		if (e->value.is_text && !e->value.is_null)
			add_text(o, "value", e->value.text, keep);
		else if (!e->value.is_null)
			add_number(o, "value", e->value.real);
		add_z(o, "unit", unit_name(e->unit));
		json_add_bool(o, "limit", e->limit);
	}
}

static void put_properties(cJSON *result, const struct alert *a, struct arena *keep)
{
	const struct finding *f = a->finding;
	cJSON *o = json_add_object(result, "properties");
	add_text(o, "profile", a->report->profile, keep);
	add_text(o, "subject", f->subject, keep);
	add_text(o, "scope", f->scope, keep);
	add_number(o, "gain_s", a->gain_s);
	add_text(o, "source_file", f->source_file, keep);
	add_number(o, "source_line", f->source_line);
	put_evidence(o, f, keep);
}

static void put_result(cJSON *list, const struct sarif *s, const struct alert *a)
{
	cJSON *o = json_push_object(list), *prints;
	ptrdiff_t index = rule_index(s, a->finding->rule);
	json_add_str(o, "ruleId", a->rule);
	if (index >= 0)
		json_add_i64(o, "ruleIndex", index);
	add_z(o, "kind", "fail");
	add_z(o, "level", levels[a->level]);
	add_message(o, "message", alert_text(a, s->keep), s->keep);
	put_location(o, a, s->keep);
	prints = json_add_object(o, "partialFingerprints");
	json_add_str(prints, "rooflint/v1", a->fingerprint);
	/* The only one that GitHub looks at; without it, the upload hashes the line's text. */
	json_add_str(prints, "primaryLocationLineHash", a->fingerprint);
	/* A priority from 0 to 100: the share of the step that a fix gives back. */
	double step_s = run_of(a->report)->step_mean_s;
	double share = a->gain_s > 0 && step_s > 0 ? a->gain_s / step_s : 0;
	json_add_double(o, "rank", share < 1 ? 100 * share : 100);
	if (a->finding->verdict == VERDICT_WAIVED) {
		cJSON *waiver = json_push_object(json_add_array(o, "suppressions"));
		add_z(waiver, "kind", "external");
		add_z(waiver, "status", "accepted");
		add_text(waiver, "justification", a->finding->note, s->keep);
	}
	put_properties(o, a, s->keep);
}

/* `room` is what still fits; returns how many did not. */
static ptrdiff_t put_alerts(
	cJSON *list, const struct sarif *s, const struct alerts *all, ptrdiff_t *room)
{
	ptrdiff_t left_out = 0;
	for (ptrdiff_t i = 0; i < all->count; i++) {
		if (!all->items[i].finding)
			continue;
		if (!*room) {
			left_out++;
			continue;
		}
		--*room;
		put_result(list, s, &all->items[i]);
	}
	return left_out;
}

/* ---- the document ---------------------------------------------------------------------------- */

static void put_run(cJSON *runs, const struct report_set *set, struct arena *keep)
{
	struct sarif s = { .keep = keep };
	struct alerts all = alerts_of(set, keep), waived = alerts_waived(set, keep);
	cJSON *run = json_push_object(runs), *list, *root;
	for (ptrdiff_t i = 0; i < set->count; i++)
		for (ptrdiff_t k = 0; k < set->items[i].results.count; k++) {
			const struct rule_result *rule = &set->items[i].results.items[k];
			if (s.count < RULES_SHOWN && rule_index(&s, rule->name) < 0)
				*arena_push(keep, s.rules, s.count, s.cap) = rule;
		}
	cJSON *driver = json_add_object(json_add_object(run, "tool"), "driver");
	add_z(driver, "name", "rooflint");
	add_text(driver, "version", set->tool_version, keep);
	add_text(driver, "semanticVersion", set->tool_version, keep);
	list = json_add_array(driver, "rules");
	for (ptrdiff_t i = 0; i < s.count; i++)
		put_rule(list, &s, set, s.rules[i]);
	add_z(run, "columnKind", "unicodeCodePoints");
	root = json_add_object(json_add_object(run, "originalUriBaseIds"), "%SRCROOT%");
	add_z(json_add_object(root, "description"), "text",
		"the root of the repository; of files that it does not have, the directory in "
		"which the job was started");
	list = json_add_array(run, "results");
	ptrdiff_t room = RESULTS_MAX, left_out = put_alerts(list, &s, &all, &room);
	left_out += put_alerts(list, &s, &waived, &room);
	put_invocation(run, &s, set, &all, left_out);
}

void report_sarif(const struct report_set *set, struct arena *keep, struct out *out)
{
	cJSON *root = cJSON_CreateObject();
	add_z(root, "$schema", SARIF_SCHEMA);
	add_z(root, "version", "2.1.0");
	put_run(json_add_array(root, "runs"), set, keep);
	json_write(root, keep, out);
}
