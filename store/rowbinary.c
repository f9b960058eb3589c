/* Rows as RowBinary.  See rowbinary.h. */
#include "store/rowbinary.h"

#include <math.h>
#include <string.h>

/* Two years: thirteen windows of four weeks, and the same season a year ago. */
enum { TTL_DAYS = 731 };

/* The one column that cannot be NULL, since a table is sorted by it. */
static bool is_key(const struct column *c)
{
	return str_eq(c->name, run_facts_def.key);
}

/* ---- columns --------------------------------------------------------------------------------- */

/* Texts that differ from run to run; of all the others there are few, which a dictionary holds. */
static bool is_free(const struct column *c)
{
	return str_is_among(
		c->name, "run listing profile captured commit_id labels error reason message note");
}

struct columns {
	struct rowbinary_column *items;
	ptrdiff_t count, cap;
	struct arena *keep;
};

/* Of a part: an array with an element for each row. */
static void add(struct columns *to, const struct table_def *part, struct str name, const char *type,
	bool has_dictionary)
{
	const char *before = part ? "Array(" : "", *after = part ? ")" : "";
	*arena_push(to->keep, to->items, to->count, to->cap) = (struct rowbinary_column){
		.name = part ? arena_fmt(to->keep, "%.*s.%.*s", STR_ARG(part->name), STR_ARG(name))
			     : name,
		.type = arena_fmt(to->keep, "%s%s%s", before, type, after),
		.stored = arena_fmt(to->keep, has_dictionary ? "%sLowCardinality(%s)%s" : "%s%s%s",
			before, type, after),
	};
}

static void add_facts(struct columns *to, const struct table_def *def, const struct table_def *part)
{
	for (ptrdiff_t i = 0; i < def->column_count; i++) {
		const struct column *c = &def->columns[i];
		bool is_text = c->type == COLUMN_TEXT;
		add(to, part, c->name,
			is_key(c) ? "String"
			: is_text ? "Nullable(String)"
				  : "Nullable(Float64)",
			is_text && !is_key(c) && !is_free(c));
	}
}

ptrdiff_t rowbinary_columns(struct arena *keep, struct rowbinary_column **ret)
{
	struct columns to = { .keep = keep };
	add_facts(&to, &run_facts_def, NULL);
	for (int part = 0; part < FACT_PARTS; part++)
		add_facts(&to, &fact_part_defs[part], &fact_part_defs[part]);
	for (int part = 0; part < FACT_PARTS; part++)
		for (int i = 0; i < FACT_PART_NUMBERS && fact_part_numbers[part][i].p; i++)
			add(&to, &fact_part_defs[part], fact_part_numbers[part][i],
				"Nullable(Int64)", false);
	/* The moment is what a table is sorted and parted by. */
	for (int i = 0; i < FACT_NUMBER_COUNT; i++)
		add(&to, NULL, fact_number_names[i],
			i == FACT_captured_ns ? "Int64" : "Nullable(Int64)", false);
	add(&to, NULL, STR("outcome"), "String", true);
	add(&to, NULL, STR("because"), "Nullable(String)", false);
	add(&to, NULL, STR("kept"), "Nullable(String)", false);
	add(&to, NULL, STR("kept_bytes"), "UInt64", false);
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

static void put_nullable(struct out *o, struct str s)
{
	out_char(o, !s.p);
	if (s.p)
		put_string(o, s);
}

static void put_int(struct out *o, int64_t n)
{
	for (int i = 0; i < 64; i += 8)
		out_char(o, (char)((uint64_t)n >> i));
}

static void put_number(struct out *o, int64_t n)
{
	out_char(o, n == FACT_NONE);
	if (n != FACT_NONE)
		put_int(o, n);
}

static void put_cell(struct out *o, const struct column *c, const void *row)
{
	if (is_key(c)) {
		put_string(o, cell_text(c, row));
	} else if (c->type == COLUMN_TEXT) {
		put_nullable(o, cell_text(c, row));
	} else {
		double value = cell_real(c, row);
		int64_t bits;
		bool is_null = !isfinite(value);
		memcpy(&bits, &value, sizeof(bits));
		out_char(o, is_null);
		if (!is_null)
			put_int(o, bits);
	}
}

void rowbinary_write(
	struct out *o, const struct run_facts *f, struct str kept, struct arena *scratch)
{
	struct run_numbers n;
	run_numbers_of(f, scratch, &n);
	for (ptrdiff_t i = 0; i < run_facts_def.column_count; i++)
		put_cell(o, &run_facts_def.columns[i], f);
	for (int part = 0; part < FACT_PARTS; part++) {
		const struct table_def *def = &fact_part_defs[part];
		const char *rows = f->parts[part].rows;
		for (ptrdiff_t i = 0; i < def->column_count; i++) {
			put_count(o, (uint64_t)f->parts[part].count);
			for (ptrdiff_t k = 0; k < f->parts[part].count; k++)
				put_cell(o, &def->columns[i], rows + k * def->row_bytes);
		}
	}
	for (int part = 0; part < FACT_PARTS; part++)
		for (int i = 0; i < FACT_PART_NUMBERS && fact_part_numbers[part][i].p; i++) {
			put_count(o, (uint64_t)f->parts[part].count);
			for (ptrdiff_t k = 0; k < f->parts[part].count; k++)
				put_number(o, fact_part_number(f, (enum fact_part)part, k, i));
		}
	for (int i = 0; i < FACT_NUMBER_COUNT; i++)
		(i == FACT_captured_ns ? put_int : put_number)(o, n.values[i]);
	put_string(o, n.outcome);
	put_nullable(o, n.because);
	put_nullable(o, kept);
	put_int(o, kept.len);
}
