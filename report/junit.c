/*
 * JUnit XML, through libxml2's writer, so that escaping is by construction.
 *
 *   suite = profile         name: the profile as given
 *   case  = rule            name: "rule [profile]", classname: "rooflint.profile"
 *
 *   fail, warn              failure when it breaks (--fail-on): message, and again in the text with
 *                           evidence, cause and fix; else passes, with the same text in system-out
 *   waived, off             skipped, with the reason
 *   not applicable          skipped, with the reason
 *   inconclusive            error when it breaks (--inconclusive), else skipped: a run that exits 0
 *                           must not break a build
 *   unreadable profile      a suite with the single case "profile-readable" in error
 *
 * `time` is no duration of ours (two runs on the same input give the same bytes) but the seconds
 * per step that the rule's findings would give back; of a suite, their sum.
 *
 * Strict is what Jenkins' junit-10 schema allows: neither file, line nor properties in a case.
 * Rich has all three, for GitLab and the GitHub actions that annotate.
 *
 * Names are unique over the whole document, as GitLab keeps only the first of equal ones, and do
 * not change from run to run, as histories are kept by classname and name.
 */
#include <libxml/xmlwriter.h>
#include <math.h>

#include "base/text.h"
#include "report/prose.h"

/* ---- writing XML ----------------------------------------------------------------------------- */

struct junit {
	xmlTextWriterPtr writer;
	struct arena *keep;
	struct str tool_version;
	enum junit_flavor flavor;
	struct unique names; /* of suites and cases */
};

static void open_element(struct junit *j, const char *name)
{
	xmlTextWriterStartElement(j->writer, (const xmlChar *)name);
}

static void close_element(struct junit *j)
{
	xmlTextWriterEndElement(j->writer);
}

/* Attributes hold one line: a newline there would be a blank to every reader. */
static void attribute(struct junit *j, const char *name, struct str value)
{
	const char *z = arena_z(j->keep, text_clean(j->keep, value));
	xmlTextWriterWriteAttribute(j->writer, (const xmlChar *)name, (const xmlChar *)z);
}

static void count_attribute(struct junit *j, const char *name, int64_t value)
{
	attribute(j, name, arena_fmt(j->keep, "%lld", (long long)value));
}

static void text(struct junit *j, struct str s)
{
	const char *z = arena_z(j->keep, clean_lines(j->keep, s));
	xmlTextWriterWriteString(j->writer, (const xmlChar *)z);
}

/*
 * Jenkins' pattern (SUREFIRE_TIME in its junit-10.xsd) takes digits and at most three decimals, no
 * exponent.  No step lasts for a month.
 */
static void time_attribute(struct junit *j, double seconds)
{
	double most = 1e6;
	double shown = !(seconds > 0) ? 0 : seconds < most ? seconds : most;
	attribute(j, "time", arena_fmt(j->keep, "%.3f", shown));
}

static void property(struct junit *j, const char *name, struct str value)
{
	open_element(j, "property");
	attribute(j, "name", str_from(name));
	attribute(j, "value", value);
	close_element(j);
}

static void number_property(struct junit *j, const char *name, double value)
{
	if (isfinite(value))
		property(j, name, double_text(j->keep, value));
}

/* ---- what becomes of a rule ------------------------------------------------------------------ */

enum outcome { OUTCOME_PASS, OUTCOME_FAILURE, OUTCOME_ERROR, OUTCOME_SKIPPED, OUTCOMES };

static enum outcome outcome_of(const struct rule_result *rule)
{
	switch (rule->verdict) {
	case VERDICT_PASS:
		return OUTCOME_PASS;
	case VERDICT_WARN:
	case VERDICT_FAIL:
		return rule->breaks ? OUTCOME_FAILURE : OUTCOME_PASS;
	case VERDICT_INCONCLUSIVE:
		return rule->breaks ? OUTCOME_ERROR : OUTCOME_SKIPPED;
	case VERDICT_WAIVED:
	case VERDICT_NOT_APPLICABLE:
	case VERDICT_OFF:
	case VERDICT_ERROR:
		break;
	}
	return OUTCOME_SKIPPED;
}

struct tally {
	int64_t cases, outcomes[OUTCOMES];
	double time_s;
};

static struct tally tally_of(const struct report *r)
{
	struct tally t = { r->results.count, { 0 }, 0 };
	if (r->error.text.p) {
		t.cases = t.outcomes[OUTCOME_ERROR] = 1;
		return t;
	}
	for (ptrdiff_t i = 0; i < r->results.count; i++)
		t.outcomes[outcome_of(&r->results.items[i])]++;
	t.time_s = r->gain_s > 0 ? r->gain_s : 0;
	return t;
}

/* ---- a case ---------------------------------------------------------------------------------- */

static struct str headline(struct junit *j, const struct group *g)
{
	struct str message = g->items[0]->message;
	if (g->count == 1)
		return message;
	return arena_fmt(
		j->keep, "%.*s (and %lld more)", STR_ARG(message), (long long)g->count - 1);
}

static void put_outcome(
	struct junit *j, const char *element, struct str type, struct str message, struct str body)
{
	open_element(j, element);
	attribute(j, "type", type);
	attribute(j, "message", message);
	if (body.len)
		text(j, body);
	close_element(j);
}

/* What did not break the run, and is reported all the same. */
static void put_told(struct junit *j, const struct report *r, const struct rule_result *rule)
{
	bool failed = rule->verdict == VERDICT_FAIL;
	struct group g = group_of(r, rule->name, failed ? VERDICT_FAIL : VERDICT_WARN, j->keep);
	if (!g.count)
		return;
	open_element(j, "system-out");
	text(j, failed ? STR("failed, and --fail-on lets it be: ") : STR("warning: "));
	text(j, prose_whole(r, &g, g.count, j->keep));
	close_element(j);
}

/* Skipped, or in error: the verdict, why, and what to do. */
static void put_unjudged(struct junit *j, const struct report *r, const struct rule_result *rule,
	const char *element)
{
	struct group waived = group_of(r, rule->name, VERDICT_WAIVED, j->keep);
	struct str why = reason_of(rule, j->keep);
	if (!why.len && waived.count)
		why = arena_fmt(j->keep, "%.*s%s%.*s", STR_ARG(headline(j, &waived)),
			waived.items[0]->note.len ? "; " : "", STR_ARG(waived.items[0]->note));
	struct str message = arena_fmt(j->keep, "%.*s%s%.*s", STR_ARG(verdict_name(rule->verdict)),
		why.len ? ": " : "", STR_ARG(why));
	struct page page = { .out = out_memory(j->keep), .keep = j->keep, .width = BLOCK_WIDTH };
	page_wrap(&page, 0, message);
	prose_unsure(&page, r, rule, rule->todo);
	put_outcome(j, element, verdict_name(rule->verdict), message, out_text(page.out));
}

static void put_properties(struct junit *j, const struct rule_result *rule, const struct finding *f)
{
	open_element(j, "properties");
	property(j, "verdict", verdict_name(rule->verdict));
	property(j, "title", rule->title);
	number_property(j, "value", rule->number.value);
	number_property(j, "warn_limit", rule->number.warn_limit);
	number_property(j, "fail_limit", rule->number.fail_limit);
	number_property(j, "warn_headroom", rule->number.warn_headroom);
	number_property(j, "fail_headroom", rule->number.fail_headroom);
	if (f) {
		property(j, "subject", f->subject);
		property(j, "scope", f->scope);
		number_property(j, "gain_s", f->gain_s);
		for (ptrdiff_t i = 0; i < f->evidence.count; i++) {
			const struct evidence *e = &f->evidence.items[i];
			const char *name = arena_z(j->keep, e->name);
			if (e->value.is_null || e->value.is_text)
				property(
					j, name, e->value.is_null ? STR("unknown") : e->value.text);
			else
				number_property(j, name, e->value.real);
		}
	}
	close_element(j);
}

static void open_case(struct junit *j, struct str name, struct str suite)
{
	struct str full = arena_fmt(
		j->keep, "%.*s [%.*s]", STR_ARG(text_clean(j->keep, name)), STR_ARG(suite));
	struct out *class = out_memory(j->keep);
	/* Jenkins makes a package of what is before the last point: leave it one. */
	for (ptrdiff_t i = 0; i < suite.len; i++)
		out_char(class, suite.p[i] == '.' ? '_' : suite.p[i]);
	open_element(j, "testcase");
	attribute(j, "name", unique_name(&j->names, full, j->keep));
	attribute(j, "classname", arena_fmt(j->keep, "rooflint.%.*s", STR_ARG(out_text(class))));
}

static void put_case(
	struct junit *j, const struct report *r, const struct rule_result *rule, struct str suite)
{
	const struct finding *f = finding_of(r, rule->name);
	struct group g;
	open_case(j, rule->name, suite);
	time_attribute(j, rule_gain(r, rule->name));
	if (j->flavor == JUNIT_RICH) {
		if (f && f->source_file.len) {
			attribute(j, "file", f->source_file);
			if (is_line(f->source_line))
				count_attribute(j, "line", (int64_t)f->source_line);
		}
		put_properties(j, rule, f);
	}
	switch (outcome_of(rule)) {
	case OUTCOME_FAILURE:
		g = group_of(r, rule->name, rule->verdict, j->keep);
		put_outcome(j, "failure", verdict_name(rule->verdict),
			g.count ? headline(j, &g) : rule->title,
			g.count ? prose_whole(r, &g, g.count, j->keep) : rule->title);
		break;
	case OUTCOME_ERROR:
		put_unjudged(j, r, rule, "error");
		break;
	case OUTCOME_SKIPPED:
		put_unjudged(j, r, rule, "skipped");
		break;
	case OUTCOME_PASS:
	case OUTCOMES:
		put_told(j, r, rule);
		break;
	}
	close_element(j);
}

/* ---- suites and the document ----------------------------------------------------------------- */

static void put_facts(struct junit *j, const struct report *r)
{
	open_element(j, "properties");
	property(j, "rooflint_version", j->tool_version);
	property(j, "rules", r->rules);
	property(j, "verdict", verdict_name(r->verdict));
	const struct table_def *run = &table_defs[TABLE_run];
	for (const struct column *c = run->columns; c < run->columns + run->column_count; c++)
		if (c->type == COLUMN_REAL)
			number_property(j, c->name.p, cell_real(c, run_of(r)));
		else if (cell_text(c, run_of(r)).p)
			property(j, c->name.p, cell_text(c, run_of(r)));
	close_element(j);
}

static void put_tally(struct junit *j, const struct tally *t)
{
	count_attribute(j, "tests", t->cases);
	count_attribute(j, "failures", t->outcomes[OUTCOME_FAILURE]);
	count_attribute(j, "errors", t->outcomes[OUTCOME_ERROR]);
	time_attribute(j, t->time_s);
}

static void put_suite(struct junit *j, const struct report *r)
{
	struct tally tally = tally_of(r);
	struct str profile = text_clean(j->keep, r->profile);
	struct str name = unique_name(&j->names, profile.len ? profile : STR("unnamed"), j->keep);
	open_element(j, "testsuite");
	attribute(j, "name", name);
	put_tally(j, &tally);
	count_attribute(j, "skipped", tally.outcomes[OUTCOME_SKIPPED]);
	put_facts(j, r);
	if (r->error.text.p) {
		open_case(j, STR("profile-readable"), name);
		time_attribute(j, 0);
		put_outcome(
			j, "error", diag_name(r->error.id, j->keep), r->error.text, r->error.text);
		close_element(j);
	}
	for (ptrdiff_t i = 0; i < r->results.count && !r->error.text.p; i++)
		put_case(j, r, &r->results.items[i], name);
	close_element(j);
}

static void put_document(struct junit *j, const struct report_set *set)
{
	struct tally all = { 0 };
	for (ptrdiff_t i = 0; i < set->count; i++) {
		struct tally one = tally_of(&set->items[i]);
		all.cases += one.cases;
		all.time_s += one.time_s;
		for (int k = 0; k < OUTCOMES; k++)
			all.outcomes[k] += one.outcomes[k];
	}
	xmlTextWriterSetIndent(j->writer, 1);
	xmlTextWriterStartDocument(j->writer, NULL, "UTF-8", NULL);
	open_element(j, "testsuites");
	attribute(j, "name", STR("rooflint"));
	put_tally(j, &all);
	for (ptrdiff_t i = 0; i < set->count; i++)
		put_suite(j, &set->items[i]);
	close_element(j);
	xmlTextWriterEndDocument(j->writer);
}

/* libxml2 hands over its bytes here. */
static int take_bytes(void *out, const char *bytes, int count)
{
	out_str(out, (struct str){ bytes, count });
	return count;
}

void report_junit(
	const struct report_set *set, enum junit_flavor flavor, struct arena *keep, struct out *out)
{
	struct junit junit = { .keep = keep,
		.writer = xmlNewTextWriter(xmlOutputBufferCreateIO(take_bytes, NULL, out, NULL)),
		.flavor = flavor,
		.tool_version = set->tool_version };
	put_document(&junit, set);
	xmlFreeTextWriter(junit.writer);
}
