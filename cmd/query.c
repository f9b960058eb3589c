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
#include "session/baseline.h"

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
	enum format format;
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

/* Lines end in a newline alone.  NULL is an empty field, an empty text is "". */
static void csv_field(struct out *o, struct str s, bool is_text)
{
	bool needs_quotes = !s.len || (is_text && csv_is_formula(s)) ||
			    str_starts(str_trim(s), STR("::")) || str_find_char(s, ',') >= 0 ||
			    str_find_char(s, '"') >= 0 || str_find_char(s, '\n') >= 0 ||
			    str_find_char(s, '\r') >= 0;
	if (needs_quotes)
		out_csv(o, s);
	else
		out_str(o, s);
}

/* Of an object the keys are unique, so columns must be. */
static bool put_header(
	void *arg, const struct str *columns, const struct query_cell *cells, ptrdiff_t count)
{
	struct result *r = arg;
	(void)cells;
	r->grid = (struct grid){ .keep = r->keep, .columns = count, .has_header = true };
	for (ptrdiff_t i = 0; i < count; i++) {
		for (ptrdiff_t k = 0; k < i && r->format == FORMAT_JSON; k++)
			if (str_eq(columns[i], columns[k]))
				return diag_set(r->err, DIAG_RULE_SQL,
					"two columns are called '%.*s', which JSON objects cannot "
					"hold; name one with AS",
					STR_ARG(columns[i]));
		if (r->format == FORMAT_TABLE)
			grid_add(&r->grid, columns[i]);
		if (r->format != FORMAT_CSV)
			continue;
		out_z(r->out, i ? "," : "");
		csv_field(r->out, columns[i], true);
	}
	if (r->format == FORMAT_CSV)
		out_char(r->out, '\n');
	return true;
}

static void json_add_cell(cJSON *o, const char *key, const struct query_cell *cell)
{
	if (cell->is_null)
		json_add_double(o, key, NAN);
	else if (cell->is_text)
		json_add_str(o, key, cell->text);
	else if (cell->is_integer)
		json_add_i64(o, key, cell->integer);
	else
		json_add_double(o, key, cell->real);
}

static bool put_row(
	void *arg, const struct str *columns, const struct query_cell *cells, ptrdiff_t count)
{
	struct result *r = arg;
	struct arena scratch = *r->keep;
	cJSON *o = r->format == FORMAT_JSON ? cJSON_CreateObject() : NULL;
	for (ptrdiff_t i = 0; i < count; i++) {
		switch (r->format) {
		case FORMAT_TABLE:
			grid_add(&r->grid, cell_rounded(&cells[i], r->keep));
			break;
		case FORMAT_CSV:
			out_z(r->out, i ? "," : "");
			if (!cells[i].is_null)
				csv_field(
					r->out, cell_plain(&cells[i], &scratch), cells[i].is_text);
			break;
		case FORMAT_JSON:
			json_add_cell(o, arena_z(&scratch, columns[i]), &cells[i]);
			break;
		}
	}
	if (r->format == FORMAT_CSV)
		out_char(r->out, '\n');
	if (r->format == FORMAT_JSON) {
		char *text = cJSON_PrintUnformatted(o);
		out_z(r->out, r->rows++ ? ",\n  " : "[\n  ");
		out_z(r->out, text ? text : "null");
		cJSON_free(text);
	}
	cJSON_Delete(o);
	return true;
}

/* ---- the command ----------------------------------------------------------------------------- */

static bool load_tables(const struct load_options *options, struct str path, struct arena *keep,
	struct found_run *run, struct tables *ret, struct diag *err)
{
	struct found found;
	if (!find_profiles(path, keep, &found, err))
		return false;
	*run = found.runs[0];
	if (found.count > 1)
		return diag_set(err, DIAG_USAGE,
			"%.*s: %td jobs are below it, and a query is about one; name it, as in "
			"%.*s",
			STR_ARG(path), found.count, STR_ARG(run->path));
	return run_tables(run, options, keep, ret, err);
}

/*
 * Fills deltas and changes of `head`, and what base_* show; without --baseline none of them has a
 * row.  Nothing to compare with is an error, so that no row never means that nothing changed.
 */
static bool compare(const struct query_settings *s, const struct load_options *options,
	struct str shown, struct tables *head, struct arena *keep, const struct tables **ret,
	struct diag *err)
{
	const struct baseline *chosen = NULL;
	struct baselines named;
	struct diag_list notes = { 0 };
	*ret = NULL;
	if (!s->baseline.count)
		return !s->store.p ||
		       diag_set(err, DIAG_USAGE,
			       "--store names what --baseline store:... asks; give that, too");
	if (!baselines_load(&named, &s->baseline, s->store, options, keep, err) ||
		!baselines_compare(&named, head, shown, keep, &chosen, &notes, err))
		return false;
	*ret = chosen ? chosen->tables : NULL;
	ptrdiff_t last = table_count(head, quality) - 1;
	return *ret || diag_set(err, DIAG_BASELINE, "no baseline can be compared: %.*s",
			       STR_ARG(table_rows(head, quality)[last].detail));
}

static enum status query_run(struct context *c, const void *settings, const struct list *args)
{
	const struct query_settings *s = settings;
	struct load_options options;
	struct tables tables = { 0 };
	struct ruleset rules;
	struct found_run run;
	struct diag err;
	if (!load_judge(load_engine(c, &err), &s->rule, &s->read, task_cpus(), c->keep, &rules,
		    &options, &err))
		return misused(&err);
	if (!load_tables(&options, args->items[0], c->keep, &run, &tables, &err))
		return fail(&err);
	const struct tables *base;
	struct result r = { .format = (enum format)s->format, .out = c->out, .keep = c->keep };
	r.err = &err;
	if (!compare(s, &options, run.path, &tables, c->keep, &base, &err) ||
		!engine_query(
			c->engine, &tables, base, args->items[1], put_row, put_header, &r, &err))
		return fail(&err);
	if (r.format == FORMAT_TABLE)
		grid_print(&r.grid, r.out);
	if (r.format == FORMAT_JSON)
		out_z(r.out, r.rows ? "\n]\n" : "[]\n");
	return STATUS_OK;
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
	OPTIONS_END,
};

const struct command query_command = {
	.name = "query",
	.arguments = "PROFILE 'SQL'",
	.summary = "look at the tables that the rules see, with SQL",
	.details = "`rooflint tables` lists them. Everything is in base units: seconds, bytes, "
		   "FLOPs, shares from 0 to 1; NULL is unknown. For example:\n"
		   "\n"
		   "  rooflint query LOGDIR \"SELECT name, time_s, efficiency FROM families\n"
		   "      WHERE kind = 'matmul' ORDER BY time_s DESC LIMIT 10\"\n"
		   "\n"
		   "Exit status: 0; 2 the SQL or the command line is wrong; 3 the profile could "
		   "not be read.",
	.options = query_options,
	.least = 2,
	.most = 2,
	.settings_bytes = sizeof(struct query_settings),
	.run = query_run,
};
