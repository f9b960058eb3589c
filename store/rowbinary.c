/* Rows as RowBinary.  See rowbinary.h. */
#include "store/rowbinary.h"

#include <math.h>
#include <string.h>

/* Two years: thirteen windows of four weeks, and the same season a year ago. */
enum { TTL_DAYS = 731 };

/* Never NULL: a table is sorted and parted by the moment, and the others are always said. */
static bool is_always(struct str name)
{
	return str_is_among(name, "hash captured_ns outcome");
}

/* ---- columns --------------------------------------------------------------------------------- */

/* Texts that differ from run to run; of all the others there are few, which a dictionary holds. */
static bool is_free(struct str name)
{
	return str_is_among(name,
		"hash run listing profile captured commit_id labels error reason message note "
		"because kept");
}

struct columns {
	struct rowbinary_column *items;
	ptrdiff_t count, cap;
	struct arena *keep;
};

/* Of a part: an array with an element for each row. */
static void add(struct columns *to, enum fact_record record, struct str name, const char *type)
{
	const struct table_def *def = &fact_forms[record].table;
	bool is_run = record == FACT_RUN;
	bool has_dictionary = str_eq(str_from(type), STR("String")) && !is_free(name);
	const char *before = is_run ? "" : "Array(", *after = is_run ? "" : ")";
	if (!is_always(name))
		type = arena_fmt(to->keep, "Nullable(%s)", type).p;
	*arena_push(to->keep, to->items, to->count, to->cap) = (struct rowbinary_column){
		.name = is_run ? name
			       : arena_fmt(
					 to->keep, "%.*s.%.*s", STR_ARG(def->name), STR_ARG(name)),
		.type = arena_fmt(to->keep, "%s%s%s", before, type, after),
		.stored = arena_fmt(to->keep, has_dictionary ? "%sLowCardinality(%s)%s" : "%s%s%s",
			before, type, after),
	};
}

static void add_extras(struct columns *to, enum fact_record record)
{
	const struct fact_form *form = &fact_forms[record];
	for (ptrdiff_t i = 0; i < form->extra_count; i++)
		add(to, record, form->extras[i].name, form->extras[i].is_text ? "String" : "Int64");
}

ptrdiff_t rowbinary_columns(struct arena *keep, struct rowbinary_column **ret)
{
	struct columns to = { .keep = keep };
	for (enum fact_record k = 0; k < FACT_RECORDS; k++) {
		const struct table_def *def = &fact_forms[k].table;
		for (ptrdiff_t i = 0; i < def->column_count; i++)
			add(&to, k, def->columns[i].name,
				def->columns[i].type == COLUMN_TEXT ? "String" : "Float64");
	}
	for (enum fact_record k = FACT_RUN + 1; k < FACT_RECORDS; k++)
		add_extras(&to, k);
	add_extras(&to, FACT_RUN);
	add(&to, FACT_RUN, STR("kept"), "String");
	*arena_push(keep, to.items, to.count, to.cap) =
		(struct rowbinary_column){ STR("kept_bytes"), STR("UInt64"), STR("UInt64") };
	*ret = to.items;
	return to.count;
}

/*
 * A part for each week, since a window is read and an old one dropped as a whole; in it the runs of
 * a workload lie together.  The columns of a run and of its parts are what facts say; the numbers
 * are what questions read.  Of several rows with one hash the one with kept bytes stays.  Runs
 * without a date stay.
 */
static void put_table(struct out *o, const char *name, const char *engine)
{
	struct arena scratch = arena_new(ARENA_SCRATCH_BYTES);
	struct rowbinary_column *columns;
	ptrdiff_t count = rowbinary_columns(&scratch, &columns);
	out_fmt(o, "CREATE TABLE %s\n(\n", name);
	for (ptrdiff_t i = 0; i < count; i++)
		out_fmt(o, "%s    `%.*s` %.*s", i ? ",\n" : "", STR_ARG(columns[i].name),
			STR_ARG(columns[i].stored));
	arena_free(&scratch);
	out_fmt(o,
		"\n)\nENGINE = %s\n"
		"PARTITION BY toMonday(toDateTime(intDiv(captured_ns, 1000000000), 'UTC'))\n"
		"ORDER BY (ifNull(workload, ''), captured_ns, hash)\n"
		"TTL toDateTime(intDiv(captured_ns, 1000000000), 'UTC') + INTERVAL %d DAY "
		"DELETE WHERE captured_ns > 0;\n",
		engine, TTL_DAYS);
}

void store_table(struct out *o)
{
	put_table(o, "rooflint_facts", "ReplacingMergeTree(kept_bytes)");
}

void store_table_cluster(struct out *o)
{
	/* Not currentDatabase(): some servers ask it again when they start, in another one. */
	out_z(o, "-- On every server of the cluster, in the database perf.\n");
	put_table(o, "perf.rooflint_facts_shard",
		"ReplicatedReplacingMergeTree(\n"
		"    '/clickhouse/tables/{shard}/perf/rooflint_facts', '{replica}', kept_bytes)");
	out_z(o, "\n-- Rows of the same hash go to the same shard, and become one there.\n"
		 "CREATE TABLE perf.rooflint_facts AS perf.rooflint_facts_shard\n"
		 "ENGINE = Distributed('{cluster}', perf, rooflint_facts_shard, "
		 "cityHash64(hash));\n");
}

/* ---- writing --------------------------------------------------------------------------------- */

static void put_count(struct out *o, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		out_char(o, (char)(n | 0x80));
	out_char(o, (char)n);
}

static void put_string(struct out *o, struct str s)
{
	put_count(o, (uint64_t)s.len);
	out_str(o, s);
}

static void put_text(struct out *o, struct str name, struct str s)
{
	if (!is_always(name))
		out_char(o, !s.p);
	if (s.p || is_always(name))
		put_string(o, s);
}

static void put_int(struct out *o, int64_t n)
{
	for (int i = 0; i < 64; i += 8)
		out_char(o, (char)((uint64_t)n >> i));
}

static void put_word(struct out *o, struct str name, int64_t bits, bool is_null)
{
	if (!is_always(name))
		out_char(o, is_null);
	if (!is_null)
		put_int(o, bits);
}

static void put_cell(struct out *o, const struct column *c, const void *row)
{
	double value = c->type == COLUMN_REAL ? cell_real(c, row) : 0;
	int64_t bits;
	memcpy(&bits, &value, sizeof(bits));
	if (c->type == COLUMN_TEXT)
		put_text(o, c->name, cell_text(c, row));
	else
		put_word(o, c->name, bits, !isfinite(value));
}

/* Columns of a part are arrays: each begins with its length. */
static void put_length(struct out *o, const struct run_facts *f, enum fact_record record)
{
	if (record != FACT_RUN)
		put_count(o, (uint64_t)fact_row_count(f, record));
}

static void put_extras(
	struct out *o, const struct run_facts *f, enum fact_record record, struct arena *scratch)
{
	const struct fact_form *form = &fact_forms[record];
	union fact_value values[FACT_EXTRAS_MAX];
	for (ptrdiff_t i = 0; i < form->extra_count; i++) {
		put_length(o, f, record);
		for (ptrdiff_t row = 0; row < fact_row_count(f, record); row++) {
			fact_extras(f, record, row, scratch, values);
			if (form->extras[i].is_text)
				put_text(o, form->extras[i].name, values[i].text);
			else
				put_word(o, form->extras[i].name, values[i].number,
					values[i].number == FACT_NONE);
		}
	}
}

void rowbinary_write(
	struct out *o, const struct run_facts *f, struct str kept, struct arena *scratch)
{
	for (enum fact_record k = 0; k < FACT_RECORDS; k++) {
		const struct table_def *def = &fact_forms[k].table;
		for (ptrdiff_t i = 0; i < def->column_count; i++) {
			put_length(o, f, k);
			for (ptrdiff_t row = 0; row < fact_row_count(f, k); row++)
				put_cell(o, &def->columns[i], fact_row(f, k, row));
		}
	}
	for (enum fact_record k = FACT_RUN + 1; k < FACT_RECORDS; k++)
		put_extras(o, f, k, scratch);
	put_extras(o, f, FACT_RUN, scratch);
	put_text(o, STR("kept"), kept);
	put_int(o, kept.len);
}
