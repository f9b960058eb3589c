/*
 * report.json back into the model.
 *
 * The document may come from anywhere: every type, verdict and length is checked, and what is
 * wrong is named by its path ("reports[0].findings[3].verdict").  A key that a newer 1.x may add
 * is skipped; one that is absent is null.
 */
#include <math.h>
#include <stdarg.h>

#include "base/json.h"
#include "report/model.h"

/* reports[i].findings[k].evidence[m] is the deepest. */
enum { PATH_MAX_DEPTH = 6 };

struct reader {
	struct arena *keep;
	struct diag *err;
	struct str file;
	bool ok; /* sticky: after the first mistake everything reads as absent */
	struct {
		const char *key;
		ptrdiff_t index;
	} path[PATH_MAX_DEPTH];
	int depth;
};

/* ---- mistakes -------------------------------------------------------------------------------- */

static void fail(struct reader *rd, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void fail(struct reader *rd, const char *key, const char *fmt, ...)
{
	struct out *where = out_memory(rd->keep);
	va_list args;
	if (!rd->ok)
		return;
	rd->ok = false;
	for (int i = 0; i < rd->depth; i++) {
		out_fmt(where, "%s%s", i ? "." : "", rd->path[i].key);
		if (rd->path[i].index >= 0)
			out_fmt(where, "[%lld]", (long long)rd->path[i].index);
	}
	if (key)
		out_fmt(where, "%s%s", rd->depth ? "." : "", key);
	va_start(args, fmt);
	struct str what = arena_vfmt(rd->keep, fmt, args);
	va_end(args);
	diag_set(rd->err, DIAG_FILE_KIND, "'%.*s' is not a report.json: %.*s %.*s",
		STR_ARG(rd->file), STR_ARG(out_text(where)), STR_ARG(what));
}

/* Go into an item of a list (or a key, with index -1); it must be an object. */
static bool enter(struct reader *rd, const char *key, ptrdiff_t index, const cJSON *item)
{
	rd->path[rd->depth].key = key;
	rd->path[rd->depth++].index = index;
	if (!cJSON_IsObject(item))
		fail(rd, NULL, "must be an object");
	return rd->ok;
}

static void leave(struct reader *rd)
{
	rd->depth--;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* NULL when absent or null. */
static const cJSON *get(const struct reader *rd, const cJSON *o, const char *key)
{
	const cJSON *item = rd->ok ? cJSON_GetObjectItemCaseSensitive(o, key) : NULL;
	return cJSON_IsNull(item) ? NULL : item;
}

static struct str own(struct reader *rd, const char *z)
{
	return arena_str(rd->keep, clean_lines(rd->keep, str_from(z)));
}

static struct str get_text(struct reader *rd, const cJSON *o, const char *key)
{
	const cJSON *item = get(rd, o, key);
	if (item && !cJSON_IsString(item))
		fail(rd, key, "must be a text or null");
	return item && rd->ok ? own(rd, item->valuestring) : MISSING;
}

static struct str need_text(struct reader *rd, const cJSON *o, const char *key)
{
	struct str text = get_text(rd, o, key);
	if (!text.p)
		fail(rd, key, "is missing");
	return text;
}

static double real_of(const cJSON *number)
{
	return isfinite(number->valuedouble) ? number->valuedouble : (double)NAN;
}

static double get_real(struct reader *rd, const cJSON *o, const char *key)
{
	const cJSON *item = get(rd, o, key);
	if (item && !cJSON_IsNumber(item))
		fail(rd, key, "must be a number or null");
	return item && rd->ok ? real_of(item) : (double)NAN;
}

static bool get_bool(struct reader *rd, const cJSON *o, const char *key)
{
	const cJSON *item = get(rd, o, key);
	if (item && !cJSON_IsBool(item))
		fail(rd, key, "must be true or false");
	return item && cJSON_IsTrue(item);
}

static const cJSON *get_list(struct reader *rd, const cJSON *o, const char *key)
{
	const cJSON *item = get(rd, o, key);
	if (item && !cJSON_IsArray(item))
		fail(rd, key, "must be a list");
	return rd->ok ? item : NULL;
}

static const cJSON *get_map(struct reader *rd, const cJSON *o, const char *key)
{
	const cJSON *item = get(rd, o, key);
	if (item && !cJSON_IsObject(item))
		fail(rd, key, "must be an object");
	return rd->ok ? item : NULL;
}

static struct str get_verdict(struct reader *rd, const cJSON *o)
{
	struct str name = need_text(rd, o, "verdict");
	enum verdict v;
	if (rd->ok && !verdict_parse(name, &v))
		fail(rd, "verdict", "is '%.*s', which no verdict is called", STR_ARG(name));
	return name;
}

/* What report_build and report_error write; a rule has other verdicts. */
static struct str get_report_verdict(struct reader *rd, const cJSON *o)
{
	static const struct str names[] = { STR_INIT("pass"), STR_INIT("fail"), STR_INIT("warn"),
		STR_INIT("inconclusive"), STR_INIT("error") };
	struct str name = need_text(rd, o, "verdict");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_eq(name, names[i]))
			return name;
	fail(rd, "verdict", "is '%.*s', which no verdict of a profile is called", STR_ARG(name));
	return name;
}

/* ---- the parts of a report ------------------------------------------------------------------- */

static void read_facts(struct reader *rd, const cJSON *map, struct report *ret)
{
	const cJSON *item;
	ptrdiff_t cap = 0;
	cJSON_ArrayForEach(item, map)
	{
		struct report_fact *f = arena_push(rd->keep, ret->facts, ret->fact_count, cap);
		const struct column *c =
			table_column(&table_defs[TABLE_run], str_from(item->string));
		f->name = own(rd, item->string);
		f->unit = c ? c->unit : UNIT_NONE;
		f->is_text = cJSON_IsString(item);
		f->real = cJSON_IsNumber(item) ? real_of(item) : (double)NAN;
		if (f->is_text)
			f->text = own(rd, item->valuestring);
		else if (!cJSON_IsNumber(item) && !cJSON_IsNull(item))
			fail(rd, "facts", "must hold numbers and texts only");
	}
}

static void read_evidence(struct reader *rd, const cJSON *o, struct report_evidence *ret)
{
	const cJSON *value = get(rd, o, "value");
	struct str unit = get_text(rd, o, "unit");
	ret->column = need_text(rd, o, "name");
	ret->meaning = get_text(rd, o, "meaning");
	ret->is_limit = get_bool(rd, o, "limit");
	ret->is_null = !value;
	ret->is_text = cJSON_IsString(value);
	if (unit.p && !unit_by_name(unit, &ret->unit))
		fail(rd, "unit", "is '%.*s', which no unit is called", STR_ARG(unit));
	if (ret->is_text)
		ret->text = get_text(rd, o, "value");
	else
		ret->real = get_real(rd, o, "value");
}

static void read_evidence_list(struct reader *rd, const cJSON *list, struct report_finding *ret)
{
	const cJSON *item;
	ptrdiff_t cap = 0;
	cJSON_ArrayForEach(item, list)
	{
		struct report_evidence *e =
			arena_push(rd->keep, ret->evidence, ret->evidence_count, cap);
		if (enter(rd, "evidence", ret->evidence_count - 1, item))
			read_evidence(rd, item, e);
		leave(rd);
	}
}

static bool role_parse(struct str name, enum around_role *ret)
{
	for (int i = 0; i < AROUND_ROLES; i++) {
		*ret = (enum around_role)i;
		if (str_eq(name, around_role_name(*ret)))
			return true;
	}
	return false;
}

static void read_neighbour(struct reader *rd, const cJSON *o, struct neighbour *ret)
{
	struct str role = need_text(rd, o, "role");
	if (rd->ok && !role_parse(role, &ret->role))
		fail(rd, "role", "is '%.*s', which is none of %s", STR_ARG(role), AROUND_WORDS);
	ret->name = get_text(rd, o, "name");
	ret->opcode = get_text(rd, o, "opcode");
	ret->shape = get_text(rd, o, "shape");
	ret->bytes = get_real(rd, o, "bytes");
}

static void read_around(struct reader *rd, const cJSON *o, struct report_finding *ret)
{
	const cJSON *item;
	ptrdiff_t cap = 0;
	if (!o)
		return;
	ret->around_left[AROUND_TAKES] = get_real(rd, o, "takes_left_out");
	ret->around_left[AROUND_HOLDS] = get_real(rd, o, "holds_left_out");
	ret->around_left[AROUND_GIVES] = get_real(rd, o, "gives_left_out");
	cJSON_ArrayForEach(item, get_list(rd, o, "ops"))
	{
		struct neighbour *n = arena_push(rd->keep, ret->around, ret->around_count, cap);
		if (enter(rd, "around.ops", ret->around_count - 1, item))
			read_neighbour(rd, item, n);
		leave(rd);
	}
}

static void read_finding(struct reader *rd, const cJSON *o, struct report_finding *ret)
{
	ret->rule = need_text(rd, o, "rule");
	ret->verdict = get_verdict(rd, o);
	ret->subject = get_text(rd, o, "subject");
	ret->name = get_text(rd, o, "name");
	ret->message = get_text(rd, o, "message");
	ret->gain_s = get_real(rd, o, "gain_s");
	ret->claimed_s = get_real(rd, o, "claimed_s");
	ret->source_file = get_text(rd, o, "source_file");
	ret->source_line = get_real(rd, o, "source_line");
	ret->scope = get_text(rd, o, "scope");
	ret->missing = get_text(rd, o, "missing");
	ret->note = get_text(rd, o, "note");
	ret->seen = get_real(rd, o, "seen");
	ret->known = get_bool(rd, o, "known");
	ret->cause = get_text(rd, o, "cause");
	ret->fix = get_text(rd, o, "fix");
	ret->why = get_text(rd, o, "why");
	read_evidence_list(rd, get_list(rd, o, "evidence"), ret);
	read_around(rd, get_map(rd, o, "around"), ret);
}

static void read_findings(struct reader *rd, const cJSON *list, struct report *ret)
{
	const cJSON *item;
	ptrdiff_t cap = 0;
	cJSON_ArrayForEach(item, list)
	{
		struct report_finding *f =
			arena_push(rd->keep, ret->findings, ret->finding_count, cap);
		if (enter(rd, "findings", ret->finding_count - 1, item))
			read_finding(rd, item, f);
		leave(rd);
	}
}

static void read_rule(struct reader *rd, const cJSON *o, struct report_rule *ret)
{
	ret->name = need_text(rd, o, "name");
	ret->title = get_text(rd, o, "title");
	ret->verdict = get_verdict(rd, o);
	ret->reason = get_text(rd, o, "reason");
	ret->withheld = get_text(rd, o, "withheld");
	ret->todo = get_text(rd, o, "todo");
	ret->subjects = get_real(rd, o, "subjects");
	ret->unknown = get_real(rd, o, "unknown");
	ret->gate = get_bool(rd, o, "gate");
	ret->required = get_bool(rd, o, "required");
	ret->breaks = get_bool(rd, o, "breaks");
}

static void read_rules(struct reader *rd, const cJSON *list, struct report *ret)
{
	const cJSON *item;
	ptrdiff_t cap = 0;
	cJSON_ArrayForEach(item, list)
	{
		struct report_rule *rule =
			arena_push(rd->keep, ret->results, ret->result_count, cap);
		if (enter(rd, "results", ret->result_count - 1, item))
			read_rule(rd, item, rule);
		leave(rd);
	}
}

static void read_notes(struct reader *rd, const cJSON *list, struct report *ret)
{
	const cJSON *item;
	ptrdiff_t cap = 0;
	cJSON_ArrayForEach(item, list)
	{
		struct report_note *n = arena_push(rd->keep, ret->notes, ret->note_count, cap);
		if (enter(rd, "notes", ret->note_count - 1, item)) {
			n->id = get_text(rd, item, "id");
			n->text = get_text(rd, item, "text");
		}
		leave(rd);
	}
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void read_cell(struct reader *rd, const struct column *c, const cJSON *item, void *row)
{
	if (cJSON_IsNull(item))
		return;
	if (c->type == COLUMN_TEXT && cJSON_IsString(item))
		cell_set_text(c, row, own(rd, item->valuestring));
	else if (c->type == COLUMN_REAL && cJSON_IsNumber(item))
		cell_set_real(c, row, real_of(item));
	else
		fail(rd, c->name.p, "must hold %s or null",
			c->type == COLUMN_TEXT ? "texts" : "numbers");
}

static void read_column(
	struct reader *rd, const struct table_def *def, const cJSON *list, struct table *t)
{
	const struct column *c = table_column(def, str_from(list->string));
	const cJSON *item;
	ptrdiff_t i = 0;
	if (!c)
		return;
	cJSON_ArrayForEach(item, list)
	{
		if (i < t->count)
			read_cell(rd, c, item, (char *)t->rows + i * def->row_bytes);
		i++;
	}
	if (!cJSON_IsArray(list) || i != t->count)
		fail(rd, c->name.p, "must be a list of %lld values", (long long)t->count);
}

/* What a document calls a set of tables, and how many rows each may have. */
struct shelf {
	const char *key;
	const struct table_def *defs;
	int count, most;
};
static const struct shelf tables_shelf = { "tables", table_defs, TABLE_COUNT, REPORT_MAX_ROWS };
static const struct shelf plots_shelf = { "plots", plot_defs, PLOT_COUNT, PLOT_MAX_ROWS };

static void read_table(struct reader *rd, const cJSON *o, const struct table_def *def, int most,
	struct table *ret, double *total)
{
	double rows = get_real(rd, o, "rows");
	const cJSON *columns = get_map(rd, o, "columns"), *list;
	if (!(rows >= 0 && rows <= most))
		fail(rd, "rows", "must be a number from 0 to %d", most);
	if (!rd->ok)
		return;
	for (int i = 0; i < (int)rows; i++)
		rows_add(ret, def, rd->keep);
	if (total)
		*total = get_real(rd, o, "total");
	cJSON_ArrayForEach(list, columns)
	{
		read_column(rd, def, list, ret);
	}
}

static void read_shelf(struct reader *rd, const cJSON *o, const struct shelf *shelf,
	struct table *ret, double *totals)
{
	const cJSON *map = get_map(rd, o, shelf->key);
	for (int i = 0; i < shelf->count && map; i++) {
		const struct table_def *def = &shelf->defs[i];
		const cJSON *table = get(rd, map, def->name.p);
		if (!table)
			continue;
		rd->path[rd->depth].key = shelf->key;
		rd->path[rd->depth++].index = -1;
		if (enter(rd, def->name.p, -1, table))
			read_table(
				rd, table, def, shelf->most, &ret[i], totals ? &totals[i] : NULL);
		leave(rd);
		leave(rd);
	}
}

/* ---- the document ---------------------------------------------------------------------------- */

static void read_error(struct reader *rd, const cJSON *o, struct report *ret)
{
	if (!o)
		return;
	if (enter(rd, "error", -1, o)) {
		ret->error_id = get_text(rd, o, "id");
		ret->error = need_text(rd, o, "text");
	}
	leave(rd);
}

static void read_report(struct reader *rd, const cJSON *o, struct report *ret)
{
	ret->profile = need_text(rd, o, "profile");
	ret->verdict = get_report_verdict(rd, o);
	ret->rules = get_text(rd, o, "rules");
	ret->gain_s = get_real(rd, o, "gain_s");
	read_error(rd, get(rd, o, "error"), ret);
	read_facts(rd, get_map(rd, o, "facts"), ret);
	read_findings(rd, get_list(rd, o, "findings"), ret);
	read_rules(rd, get_list(rd, o, "results"), ret);
	read_notes(rd, get_list(rd, o, "notes"), ret);
	read_shelf(rd, o, &tables_shelf, ret->tables.items, ret->row_totals);
	read_shelf(rd, o, &plots_shelf, ret->plots.items, NULL);
}

static void read_head(struct reader *rd, const cJSON *root)
{
	struct str major, minor, format = get_text(rd, root, "format"),
				 version = get_text(rd, root, "version");
	if (!cJSON_IsObject(root) || !str_eq(format, STR("rooflint-report"))) {
		fail(rd, "format", "must be \"rooflint-report\"");
		return;
	}
	str_cut(version, '.', &major, &minor);
	if (!str_eq(major, STR("1")))
		fail(rd, "version",
			"is '%.*s', and this rooflint reads 1.x; use the rooflint that wrote it",
			STR_ARG(version));
}

static void read_set(struct reader *rd, const cJSON *root, struct report_set *ret)
{
	const cJSON *list, *item;
	ptrdiff_t cap = 0;
	read_head(rd, root);
	ret->tool_version = get_text(rd, root, "tool_version");
	list = get_list(rd, root, "reports");
	cJSON_ArrayForEach(item, list)
	{
		struct report *r = arena_push(rd->keep, ret->items, ret->count, cap);
		if (enter(rd, "reports", ret->count - 1, item))
			read_report(rd, item, r);
		leave(rd);
		if (!rd->ok)
			break;
	}
}

bool report_json_read(struct str file, struct str text, struct arena *keep, struct report_set *ret,
	struct diag *err)
{
	struct reader rd = { .keep = keep, .err = err, .file = file, .ok = true };
	cJSON *root = json_parse(file, text, err);
	*ret = (struct report_set){ 0 };
	if (!root)
		return false;
	read_set(&rd, root, ret);
	cJSON_Delete(root);
	return rd.ok;
}
