/* The report model: words, lookups, grouping.  See model.h. */
#include "report/model.h"

#include <assert.h>
#include <math.h>

#include "base/text.h"

struct str diag_name(enum diag_id id, struct arena *keep)
{
	return id ? arena_fmt(keep, "RL%d", (int)id) : MISSING;
}

enum diag_id diag_by_name(struct str name)
{
	const struct diag_kind *kind = diag_kind(name);
	return kind ? kind->id : DIAG_NONE;
}

enum verdict verdict_by_name(struct str name)
{
	enum verdict v = VERDICT_PASS;
	while (v < VERDICT_ERROR && !str_eq(name, verdict_name(v)))
		v++;
	return v;
}

/* ---- what it is of --------------------------------------------------------------------------- */

static struct str folder_of(struct str path)
{
	ptrdiff_t slash = str_rfind_char(path, '/');
	return slash > 0 ? str_head(path, slash) : path;
}

/* The profiler's "2026_03_14_09_26_53", also as "20260314-092653": digits, and marks between. */
static bool is_date(struct str name)
{
	ptrdiff_t digits = 0;
	for (ptrdiff_t i = 0; i < name.len; i++) {
		if (!is_digit(name.p[i]) && str_find_char(STR("_-.:T"), name.p[i]) < 0)
			return false;
		digits += is_digit(name.p[i]);
	}
	return digits >= 8;
}

/* "logs" of "logs/plugins/profile/NAME/host.xplane.pb", which the profiler made of it. */
static struct str stable_path(struct str path)
{
	ptrdiff_t added = str_find(path, STR("/plugins/profile"));
	if (added > 0)
		return str_head(path, added);
	if (str_ends(path, STR(".xplane.pb")) || str_ends(path, STR(".trace.json.gz")) ||
		str_ends(path, STR(".trace.json")))
		path = folder_of(path);
	return is_date(path_base(path)) ? folder_of(path) : path;
}

/* The run's name is its directory's, unless the job file gave it another. */
struct str report_workload(struct str profile, struct str name)
{
	struct str path = stable_path(profile), file = folder_of(profile);
	bool is_own = name.len && !is_date(name) && !str_eq(path_base(profile), name) &&
		      !str_eq(path_base(file), name) && !str_eq(path_base(path), name);
	return is_own ? name : path;
}

struct str workload_of(const struct report *r, struct arena *keep)
{
	struct str name = text_clean(keep, run_of(r)->name);
	struct str workload = report_workload(text_clean(keep, r->profile), name);
	return workload.len ? workload : STR("unnamed");
}

void *table_row(const struct table_def *def, const struct table *t, ptrdiff_t index)
{
	assert(index >= 0 && index < t->count);
	return (char *)t->rows + index * def->row_bytes;
}

struct str clean_lines(struct arena *keep, struct str s)
{
	struct str line;
	if (str_find_char(s, '\n') < 0)
		return text_clean(keep, s);
	struct out *o = out_memory(keep);
	while (str_cut(s, '\n', &line, &s)) {
		if (str_ends(line, STR("\r")))
			line = str_head(line, line.len - 1);
		out_str(o, text_clean(keep, line));
		out_char(o, '\n');
	}
	out_str(o, text_clean(keep, line));
	return out_text(o);
}

struct str clean_copy(struct arena *keep, struct str s)
{
	return arena_str(keep, clean_lines(keep, s));
}

const struct run_row *run_of(const struct report *r)
{
	static const struct run_row unknown = {
#define TEXT(column, ...)
#define REAL(column, ...) .column = NAN,
		RUN_COLUMNS(TEXT, REAL)
#undef TEXT
#undef REAL
	};
	return r->facts ? r->facts : &unknown;
}

double fact_real(const struct report *r, struct str name)
{
	return cell_real(table_column(&table_defs[TABLE_run], name), run_of(r));
}

const struct rule_result *rule_of(const struct report *r, struct str name)
{
	return NAMED(r->results.items, r->results.count, name);
}

const struct quality_row *check_of(const struct report *r, struct str name)
{
	return NAMED(table_rows(&r->tables, quality), table_count(&r->tables, quality), name);
}

bool is_only_seen(const struct report *r)
{
	double steps = run_of(r)->steps;
	return str_eq(run_of(r)->evidence, STR("measured")) && steps < 2;
}

ptrdiff_t count_results(const struct report *r, enum verdict v)
{
	ptrdiff_t count = 0;
	for (ptrdiff_t i = 0; i < r->results.count; i++)
		count += r->results.items[i].verdict == v;
	return count;
}

static double add_known(double sum, double x)
{
	return isnan(x) ? sum : isnan(sum) ? x : sum + x;
}

struct group group_of(const struct report *r, struct str rule, enum verdict v, struct arena *keep)
{
	struct group g = { NULL, 0, NAN, NAN };
	g.items = arena_make(keep, const struct finding *, r->findings.count);
	for (ptrdiff_t i = 0; i < r->findings.count; i++) {
		const struct finding *f = &r->findings.items[i];
		if (!str_eq(f->rule, rule) || f->verdict != v)
			continue;
		g.items[g.count++] = f;
		g.gain_s = add_known(g.gain_s, f->gain_s);
		g.cost_s = add_known(g.cost_s, f->of_window ? f->claimed_s : f->gain_s);
	}
	return g;
}

const struct finding *finding_of(const struct report *r, struct str rule)
{
	return NAMED(r->findings.items, r->findings.count, rule);
}

double rule_gain(const struct report *r, struct str rule)
{
	double gain_s = 0;
	for (ptrdiff_t i = 0; i < r->findings.count; i++) {
		const struct finding *f = &r->findings.items[i];
		if (str_eq(f->rule, rule) && f->gain_s > 0 && isfinite(f->gain_s))
			gain_s += f->gain_s;
	}
	return gain_s;
}

bool is_line(double line)
{
	return line >= 1 && line < 1e9;
}

struct str path_end(struct str path)
{
	ptrdiff_t slash = str_rfind_char(path, '/');
	slash = slash > 0 ? str_rfind_char(str_head(path, slash), '/') : -1;
	return str_from_offset(path, slash + 1);
}

struct str unique_name(struct unique *u, struct str text, struct arena *keep)
{
	struct str result = text;
	int32_t first = map_get(&u->taken, text);
	while (map_get(&u->taken, result) != MAP_NONE)
		result = arena_fmt(
			keep, "%.*s #%lld", STR_ARG(text), (long long)++u->numbers[first]);
	map_put(&u->taken, result, (int32_t)u->count, keep);
	*arena_push(keep, u->numbers, u->count, u->cap) = 1;
	return result;
}

struct str place_text(struct str file, double line, struct arena *keep)
{
	if (!file.len || !is_line(line))
		return file;
	return arena_fmt(keep, "%.*s:%.0f", STR_ARG(file), line);
}

ptrdiff_t group_findings(
	const struct report *r, enum verdict v, struct arena *keep, struct group **ret)
{
	struct group *groups = NULL;
	ptrdiff_t count = 0, cap = 0, kept = 0;
	for (ptrdiff_t i = 0; i < r->findings.count; i++) {
		const struct finding *f = &r->findings.items[i];
		ptrdiff_t at = 0;
		if (f->verdict != v)
			continue;
		while (at < count && !str_eq(groups[at].items[0]->rule, f->rule))
			at++;
		if (at == count)
			*arena_push(keep, groups, count, cap) = group_of(r, f->rule, v, keep);
	}
	for (ptrdiff_t i = 0; i < count; i++)
		if (v != VERDICT_WARN ||
			!group_of(r, groups[i].items[0]->rule, VERDICT_FAIL, keep).count)
			groups[kept++] = groups[i];
	*ret = groups;
	return kept;
}

ptrdiff_t group_open(const struct report *r, struct arena *keep, struct group **ret)
{
	struct group *failed, *warned;
	ptrdiff_t count = group_findings(r, VERDICT_FAIL, keep, &failed);
	ptrdiff_t warns = group_findings(r, VERDICT_WARN, keep, &warned);
	*ret = arena_make(keep, struct group, count + warns);
	for (ptrdiff_t i = 0; i < count + warns; i++)
		(*ret)[i] = i < count ? failed[i] : warned[i - count];
	return count + warns;
}

struct str reason_of(const struct rule_result *rule, struct arena *keep)
{
	if (!(rule->withheld > 0))
		return rule->reason;
	return arena_fmt(keep, "%.*s (%.0f of %.0f subjects would not pass)", STR_ARG(rule->reason),
		rule->withheld, rule->subjects);
}

static bool same_trouble(const struct rule_result *a, const struct rule_result *b)
{
	return a->lacks.len && str_eq(a->lacks, b->lacks) && str_eq(a->todo, b->todo);
}

/* What failed or warned since a check of the data does not hold; NULL: nothing did. */
static const struct finding *finding_about(const struct report *r, struct str check)
{
	for (ptrdiff_t i = 0; i < r->findings.count && check.len; i++) {
		const struct finding *f = &r->findings.items[i];
		if ((f->verdict == VERDICT_FAIL || f->verdict == VERDICT_WARN) &&
			str_eq(f->subject, check) && check_of(r, check))
			return f;
	}
	return NULL;
}

/* The gate that it waits for, if that has an entry of its own. */
static const struct rule_result *gate_of(const struct report *r, const struct rule_result *rule)
{
	const struct rule_result *gate =
		rule->closed_gate.len ? rule_of(r, rule->closed_gate) : NULL;
	return gate && gate != rule && gate->verdict == VERDICT_INCONCLUSIVE &&
			       !gate->closed_gate.len
		       ? gate
		       : NULL;
}

ptrdiff_t group_troubles(const struct report *r, struct arena *keep, struct trouble **ret)
{
	ptrdiff_t count = 0, cap = 0, *caps = arena_make(keep, ptrdiff_t, r->results.count + 1);
	struct trouble *troubles = NULL;
	for (ptrdiff_t i = 0; i < 2 * r->results.count; i++) {
		bool is_waiting = i >= r->results.count;
		const struct rule_result *rule = &r->results.items[i % r->results.count];
		const struct rule_result *cause = gate_of(r, rule);
		ptrdiff_t at = 0;
		if (rule->verdict != VERDICT_INCONCLUSIVE || is_waiting != (cause != NULL))
			continue;
		cause = cause ? cause : rule;
		while (at < count && troubles[at].rules[0] != cause &&
			!same_trouble(troubles[at].rules[0], cause))
			at++;
		if (at == count)
			arena_push(keep, troubles, count, cap)->reason = rule->reason;
		struct trouble *t = &troubles[at];
		t->own += !is_waiting;
		*arena_push(keep, t->rules, t->count, caps[at]) = rule;
	}
	for (ptrdiff_t i = 0; i < count; i++) {
		if (troubles[i].own == 1)
			troubles[i].reason = reason_of(troubles[i].rules[0], keep);
		if (!troubles[i].reason.len)
			troubles[i].reason = STR("could not be judged");
		const struct finding *said = finding_about(r, troubles[i].rules[0]->lacks);
		if (said)
			troubles[i].reason = arena_fmt(keep, "see %.*s", STR_ARG(said->rule));
		else
			troubles[i].todo = troubles[i].rules[0]->todo;
	}
	*ret = troubles;
	return count;
}
