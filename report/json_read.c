/*
 * report.json back into the model.
 *
 * The document may come from anywhere: every type, verdict and length is checked, and what is
 * wrong is named by its path ("reports[0].findings[3].verdict").  A key that a newer 1.x may add
 * is skipped; one that is absent is null.
 */
#include <math.h>
#include <stdalign.h>
#include <stdarg.h>
#include <string.h>

#include "base/json.h"
#include "report/model.h"

/* reports[i].findings[k].around.ops[m] is the deepest. */
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

/* Go into an item of a list (or a key, with index -1); it must be an object, or absent. */
static bool enter(struct reader *rd, const char *key, ptrdiff_t index, const cJSON *item)
{
	rd->path[rd->depth].key = key;
	rd->path[rd->depth++].index = index;
	if (item && !cJSON_IsObject(item))
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

static struct str get_text(struct reader *rd, const cJSON *o, const char *key)
{
	const cJSON *item = get(rd, o, key);
	if (item && !cJSON_IsString(item))
		fail(rd, key, "must be a text or null");
	return item && rd->ok ? clean_copy(rd->keep, str_from(item->valuestring)) : MISSING;
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

static const cJSON *get_map(struct reader *rd, const cJSON *o, const char *key)
{
	const cJSON *item = get(rd, o, key);
	if (item && !cJSON_IsObject(item))
		fail(rd, key, "must be an object");
	return rd->ok ? item : NULL;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void read_cell(struct reader *rd, const struct column *c, const cJSON *item, void *row)
{
	if (cJSON_IsNull(item))
		return;
	if (c->type == COLUMN_TEXT && cJSON_IsString(item))
		cell_set_text(c, row, clean_copy(rd->keep, str_from(item->valuestring)));
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
			read_cell(rd, c, item, table_row(def, t, i));
		i++;
	}
	if (!cJSON_IsArray(list) || i != t->count)
		fail(rd, c->name.p, "must be a list of %lld values", (long long)t->count);
}

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

static void read_tables(struct reader *rd, const cJSON *o, const struct shelf *shelf,
	struct table *ret, double *totals)
{
	const cJSON *map = get_map(rd, o, shelf->name);
	enter(rd, shelf->name, -1, map);
	for (int i = 0; i < shelf->count && map; i++) {
		const struct table_def *def = &shelf->defs[i];
		const cJSON *table = get(rd, map, def->name.p);
		if (enter(rd, def->name.p, -1, table) && table)
			read_table(
				rd, table, def, shelf->most, &ret[i], totals ? &totals[i] : NULL);
		leave(rd);
	}
	leave(rd);
}

/* ---- records --------------------------------------------------------------------------------- */

static struct run_row *read_facts(struct reader *rd, const cJSON *map)
{
	struct tables t = { 0 };
	struct run_row *row = map ? table_new(&t, run, rd->keep) : NULL;
	const cJSON *item;
	enter(rd, "facts", -1, map);
	cJSON_ArrayForEach(item, map)
	{
		const struct column *c =
			table_column(&table_defs[TABLE_run], str_from(item->string));
		if (c)
			read_cell(rd, c, item, row);
	}
	leave(rd);
	return row;
}

static void read_value(struct reader *rd, const cJSON *o, struct evidence_value *ret)
{
	const cJSON *value = get(rd, o, "value");
	ret->is_null = !value;
	ret->is_text = cJSON_IsString(value);
	if (ret->is_text)
		ret->text = get_text(rd, o, "value");
	else
		ret->real = get_real(rd, o, "value");
}

static int read_word(struct reader *rd, const struct record_field *f, struct str word)
{
	/* Some values have no word, so an empty word matches none. */
	for (int value = 0; value < f->words->count && word.len; value++)
		if (str_eq(word, f->words->word(value)))
			return value;
	if (word.p)
		fail(rd, f->name, "is '%.*s', %s", STR_ARG(word), f->words->refusal);
	return 0;
}

static int read_diag(struct reader *rd, const struct record_field *f, struct str name)
{
	enum diag_id id = diag_by_name(name);
	if (name.p && !id)
		fail(rd, f->name, "is '%.*s', which is no id such as RL202", STR_ARG(name));
	return (int)id;
}

static void read_record(struct reader *rd, const struct record *record, const cJSON *o, char *ret);

static void read_list(struct reader *rd, const struct record_field *f, const cJSON *o, char *ret)
{
	const cJSON *list = get(rd, o, f->name), *item;
	if (list && !cJSON_IsArray(list))
		fail(rd, f->name, "must be a list");
	ptrdiff_t count = list && rd->ok ? cJSON_GetArraySize(list) : 0, bytes = f->record->bytes,
		  i = 0;
	char *items = arena_alloc(rd->keep, bytes, alignof(max_align_t), count);
	cJSON_ArrayForEach(item, list)
	{
		if (enter(rd, f->name, i, item))
			read_record(rd, f->record, item, items + i * bytes);
		leave(rd);
		i++;
	}
	memcpy(ret + f->offset, &(struct template_list){ items, count },
		sizeof(struct template_list));
}

static void read_field(struct reader *rd, const struct record_field *f, const cJSON *o, char *ret)
{
	void *cell = ret + f->offset;
	struct report *r = (void *)ret;
	const cJSON *part;
	int value;
	switch (f->type) {
	case RECORD_TEXT:
		*(struct str *)cell = get_text(rd, o, f->name);
		break;
	case RECORD_REAL:
		*(double *)cell = get_real(rd, o, f->name);
		break;
	case RECORD_FLAG:
		part = get(rd, o, f->name);
		if (part && !cJSON_IsBool(part))
			fail(rd, f->name, "must be true or false");
		*(bool *)cell = cJSON_IsTrue(part);
		break;
	case RECORD_WORD:
		value = read_word(rd, f, get_text(rd, o, f->name));
		memcpy(cell, &value, sizeof(value));
		break;
	case RECORD_DIAG:
		value = read_diag(rd, f, get_text(rd, o, f->name));
		memcpy(cell, &value, sizeof(value));
		break;
	case RECORD_LIST:
		read_list(rd, f, o, ret);
		break;
	case RECORD_PART:
		part = get(rd, o, f->name);
		if (enter(rd, f->name, -1, part) && part)
			read_record(rd, f->record, part, cell);
		leave(rd);
		break;
	case RECORD_INLINE:
		read_record(rd, f->record, o, cell);
		break;
	case RECORD_PICTURE:
	case RECORD_CONSTANT: /* looked at by read_head */
		break;
	case RECORD_VALUE:
		read_value(rd, o, cell);
		break;
	case RECORD_FACTS:
		r->facts = read_facts(rd, get_map(rd, o, f->name));
		break;
	case RECORD_TABLES:
		read_tables(rd, o, &tables_shelf, r->tables.items, r->row_totals);
		break;
	case RECORD_PLOTS:
		read_tables(rd, o, &plots_shelf, r->plots.items, NULL);
		break;
	}
}

static void read_record(struct reader *rd, const struct record *record, const cJSON *o, char *ret)
{
	for (const struct record_field *f = record->fields; f->name && rd->ok; f++) {
		if (f->is_needed && !get(rd, o, f->name))
			fail(rd, f->name, "is missing");
		read_field(rd, f, o, ret);
	}
}

/* ---- the document ---------------------------------------------------------------------------- */

static void read_head(struct reader *rd, const cJSON *root)
{
	struct str major, minor, format = get_text(rd, root, "format"),
				 version = get_text(rd, root, "version");
	if (!cJSON_IsObject(root) || !str_eq(format, STR(REPORT_FORMAT))) {
		fail(rd, "format", "must be \"" REPORT_FORMAT "\"");
		return;
	}
	str_cut(version, '.', &major, &minor);
	if (!str_eq(major, STR("1")))
		fail(rd, "version",
			"is '%.*s', and this rooflint reads 1.x; use the rooflint that wrote it",
			STR_ARG(version));
}

bool report_json_read(struct str file, struct str text, struct arena *keep, struct report_set *ret,
	struct diag *err)
{
	struct reader rd = { .keep = keep, .err = err, .file = file, .ok = true };
	cJSON *root = json_parse(file, text, err);
	*ret = (struct report_set){ 0 };
	if (!root)
		return false;
	read_head(&rd, root);
	read_record(&rd, &document_record, root, (char *)ret);
	cJSON_Delete(root);
	return rd.ok;
}
