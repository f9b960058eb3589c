/*
 * rooflint query: SQL over the tables of one run, as a table, CSV or JSON.
 */
#include <math.h>

#include "base/json.h"
#include "base/task.h"
#include "cmd/grid.h"
#include "cmd/shared.h"
#include "rules/judge.h"
#include "session/bucket.h"
#include "session/history.h"

enum format { FORMAT_TABLE, FORMAT_CSV, FORMAT_JSON };

struct query_settings {
	struct read_settings read;
	struct rule_settings rule; /* for its costs: the tables are those that rules see */
	int format;
	struct str store;
	struct list baseline;
};

/* ---- the three formats ----------------------------------------------------------------------- */

/* Rows of a table are kept until their widths are known; the others are written as they come. */
struct result {
	struct out *out;
	struct arena *keep;
	struct grid grid;
	int64_t rows;
	struct diag *err;
};

static struct str cell_plain(const struct query_cell *cell, struct arena *keep)
{
	if (cell->is_null)
		return STR("");
	if (cell->is_text)
		return cell->text;
	if (cell->is_integer)
		return arena_fmt(keep, "%lld", (long long)cell->integer);
	if (!isfinite(cell->real))
		return cell->real > 0 ? STR("inf") : STR("-inf");
	return double_text(keep, cell->real);
}

/* Six digits are enough to look at; CSV and JSON have all of them. */
static struct str cell_rounded(const struct query_cell *cell, struct arena *keep)
{
	double rounded;
	if (cell->is_null)
		return STR("NULL");
	/* Whole numbers stay whole: bytes rounded to six digits would look exact. */
	if (!cell->is_text && !cell->is_integer && isfinite(cell->real) &&
		cell->real != trunc(cell->real) &&
		str_to_double(arena_fmt(keep, "%.6g", cell->real), &rounded))
		return double_text(keep, rounded);
	return cell_plain(cell, keep);
}

static bool table_header(
	void *arg, const struct str *columns, const struct query_cell *cells, ptrdiff_t count)
{
	struct result *r = arg;
	(void)cells;
	r->grid = (struct grid){ .keep = r->keep, .columns = count, .has_header = true };
	for (ptrdiff_t i = 0; i < count; i++)
		grid_add(&r->grid, columns[i]);
	return true;
}

static bool table_row(
	void *arg, const struct str *columns, const struct query_cell *cells, ptrdiff_t count)
{
	struct result *r = arg;
	(void)columns;
	for (ptrdiff_t i = 0; i < count; i++)
		grid_add(&r->grid, cell_rounded(&cells[i], r->keep));
	return true;
}

static void table_end(struct result *r)
{
	grid_print(&r->grid, r->out);
}

/* Lines end in a newline alone.  NULL is an empty field, an empty text is "". */
static bool csv_needs_quotes(struct str s)
{
	return !s.len || str_find_char(s, ',') >= 0 || str_find_char(s, '"') >= 0 ||
	       str_find_char(s, '\n') >= 0 || str_find_char(s, '\r') >= 0;
}

static void csv_field(struct out *o, struct str s)
{
	if (csv_needs_quotes(s))
		out_csv(o, s);
	else
		out_str(o, s);
}

static bool csv_header(
	void *arg, const struct str *columns, const struct query_cell *cells, ptrdiff_t count)
{
	struct result *r = arg;
	(void)cells;
	for (ptrdiff_t i = 0; i < count; i++) {
		out_z(r->out, i ? "," : "");
		csv_field(r->out, columns[i]);
	}
	out_char(r->out, '\n');
	return true;
}

static bool csv_row(
	void *arg, const struct str *columns, const struct query_cell *cells, ptrdiff_t count)
{
	struct result *r = arg;
	struct arena scratch = *r->keep;
	(void)columns;
	for (ptrdiff_t i = 0; i < count; i++) {
		out_z(r->out, i ? "," : "");
		if (!cells[i].is_null)
			csv_field(r->out, cell_plain(&cells[i], &scratch));
	}
	out_char(r->out, '\n');
	return true;
}

/* Keys of an object are unique, so columns must be. */
static bool json_header(
	void *arg, const struct str *columns, const struct query_cell *cells, ptrdiff_t count)
{
	struct result *r = arg;
	(void)cells;
	for (ptrdiff_t i = 0; i < count; i++)
		for (ptrdiff_t k = 0; k < i; k++)
			if (str_eq(columns[i], columns[k]))
				return diag_set(r->err, DIAG_RULE_SQL,
					"two columns are called '%.*s', which JSON objects cannot "
					"hold; name one with AS",
					STR_ARG(columns[i]));
	return true;
}

static bool json_row(
	void *arg, const struct str *columns, const struct query_cell *cells, ptrdiff_t count)
{
	struct result *r = arg;
	struct arena scratch = *r->keep;
	cJSON *o = cJSON_CreateObject();
	for (ptrdiff_t i = 0; i < count; i++) {
		const char *key = arena_z(&scratch, columns[i]);
		if (cells[i].is_null)
			json_add_double(o, key, NAN);
		else if (cells[i].is_text)
			json_add_str(o, key, cells[i].text);
		else if (cells[i].is_integer)
			json_add_i64(o, key, cells[i].integer);
		else
			json_add_double(o, key, cells[i].real);
	}
	char *text = cJSON_PrintUnformatted(o);
	out_z(r->out, r->rows++ ? ",\n  " : "[\n  ");
	out_z(r->out, text ? text : "null");
	cJSON_free(text);
	cJSON_Delete(o);
	return true;
}

static void json_end(struct result *r)
{
	out_z(r->out, r->rows ? "\n]\n" : "[]\n");
}

static const struct writer {
	query_row_fn *header, *row;
	void (*end)(struct result *r); /* NULL: nothing */
} writers[] = {
	[FORMAT_TABLE] = { table_header, table_row, table_end },
	[FORMAT_CSV] = { csv_header, csv_row, NULL },
	[FORMAT_JSON] = { json_header, json_row, json_end },
};

/* ---- the command ----------------------------------------------------------------------------- */

static bool find_one(struct str path, struct arena *keep, struct found_run *ret, struct diag *err)
{
	struct found found;
	if (!find_profiles(path, keep, &found, err))
		return false;
	*ret = found.runs[0];
	if (found.count == 1)
		return true;
	return diag_set(err, DIAG_USAGE,
		"%.*s: %td jobs are below it, and a query is about one; name it, as in %.*s",
		STR_ARG(path), found.count, STR_ARG(found.runs[0].path));
}

/* The tables borrow from the files, so `run` stays open as long as they are read. */
static bool load_tables(const struct load_options *options, struct str path, struct arena *keep,
	struct loaded *run, struct tables *ret, struct diag *err)
{
	struct found_run found;
	struct loaded all;
	struct diag_list notes = { 0 };
	if (!find_one(path, keep, &found, err) || !run_open(&found, options, keep, &all, err))
		return false;
	run_take(&all, keep, run);
	run_close(&all);
	struct measured *m = run_measure(run, options, keep, ret, &notes, err);
	measure_end(m);
	if (m)
		return true;
	run_close(run);
	return false;
}

/*
 * Fills deltas and changes of `head`, and what base_* show; without --baseline none of them has a
 * row.  Nothing to compare with is an error, so that no row never means that nothing changed.
 */
static bool compare(const struct query_settings *s, const struct load_options *options,
	struct str shown, struct tables *head, struct arena *keep, const struct tables **ret,
	struct diag *err)
{
	struct history history = { .store = s->store };
	struct baselines named = { 0 };
	struct diag_list notes = { 0 };
	*ret = NULL;
	if (!s->baseline.count)
		return !s->store.p || diag_set(err, DIAG_USAGE,
					      "--store names what --baseline store:... asks; give "
					      "that, too");
	if (!history_load(&history, &s->baseline, options, keep, &named, err) ||
		!history_compare(&history, &named, head, shown, keep, ret, &notes, err))
		return false;
	ptrdiff_t last = table_count(head, quality) - 1;
	return *ret || diag_set(err, DIAG_BASELINE, "no baseline can be compared: %.*s",
			       STR_ARG(table_rows(head, quality)[last].detail));
}

static bool print_result(struct context *c, enum format format, const struct tables *tables,
	const struct tables *base, struct str sql, struct diag *err)
{
	const struct writer *w = &writers[format];
	struct result r = { .out = c->out, .keep = c->keep, .err = err };
	struct engine *engine = load_engine(c, err);
	bool ok = engine && engine_query(engine, tables, base, sql, w->row, w->header, &r, err);
	if (ok && w->end)
		w->end(&r);
	return ok;
}

static enum status query_run(struct context *c, const void *settings, const struct list *args)
{
	const struct query_settings *s = settings;
	struct load_options options;
	struct tables tables = { 0 };
	struct ruleset rules;
	struct loaded run;
	struct diag err;
	if (!load_judge(load_engine(c, &err), &s->rule, &s->read, task_cpus(), c->keep, &rules,
		    &options, &err))
		return misused(&err);
	if (!load_tables(&options, args->items[0], c->keep, &run, &tables, &err))
		return fail(&err);
	const struct tables *base;
	bool ok = compare(s, &options, run.run.path, &tables, c->keep, &base, &err) &&
		  print_result(c, (enum format)s->format, &tables, base, args->items[1], &err);
	run_close(&run);
	return ok ? STATUS_OK : fail(&err);
}

static const struct option query_options[] = {
	{ "format", 0, OPTION_WORD, offsetof(struct query_settings, format), "table|csv|json",
		"aligned text (default), CSV, or a JSON array of objects" },
	{ "rules", 0, OPTION_TEXT, offsetof(struct query_settings, rule.rules), "FILE|SET",
		"rule file whose costs: of custom calls count, found as check finds it" },
	{ "baseline", 0, OPTION_LIST, offsetof(struct query_settings, baseline),
		"PROFILE|REPORT.json|store:QUERY",
		"a run to compare with, as for check: deltas, changes and base_* have rows then; "
		"may be repeated" },
	{ "store", 0, OPTION_TEXT, offsetof(struct query_settings, store), "FILE",
		"what --baseline store:... asks" },
	READ_OPTIONS(struct query_settings),
	{ 0 },
};

const struct command query_command = {
	.name = "query",
	.arguments = "PROFILE 'SQL'",
	.summary = "look at the tables that the rules see, with SQL",
	.details =
		"`rooflint tables` lists them. Everything is in base units: seconds, bytes, FLOPs, "
		"shares from 0 to 1; NULL is unknown. For example:\n"
		"\n"
		"  rooflint query LOGDIR \"SELECT name, time_s, efficiency FROM families\n"
		"      WHERE kind = 'matmul' ORDER BY time_s DESC LIMIT 10\"\n"
		"\n"
		"Exit status: 0; 2 the SQL or the command line is wrong; 3 the profile could not "
		"be "
		"read.",
	.options = query_options,
	.least = 2,
	.most = 2,
	.settings_bytes = sizeof(struct query_settings),
	.run = query_run,
};
