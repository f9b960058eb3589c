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
	static const char *const names[] = { "run", "listing", "profile", "captured", "commit_id",
		"labels", "error", "reason", "message", "note" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_eq(c->name, str_from(names[i])))
			return true;
	return false;
}

static const char *type_name(const struct column *c)
{
	bool is_text = c->type == COLUMN_TEXT;
	return is_key(c)    ? "String"
	       : !is_text   ? "Nullable(Float64)"
	       : is_free(c) ? "Nullable(String)"
			    : "LowCardinality(Nullable(String))";
}

/* The moment is what a table is sorted and parted by. */
static const char *number_type(int number)
{
	return number == FACT_captured_ns ? "Int64" : "Nullable(Int64)";
}

/* What a row has behind facts and their numbers. */
static const struct {
	const char *name, *type;
} more_columns[] = {
	{ "outcome", "LowCardinality(String)" },
	{ "because", "Nullable(String)" },
	{ "kept", "Nullable(String)" },
	{ "kept_bytes", "UInt64" },
};

ptrdiff_t rowbinary_columns(struct arena *keep, struct rowbinary_column **ret)
{
	ptrdiff_t count = 0, cap = 0;
	*ret = NULL;
	for (ptrdiff_t i = 0; i < run_facts_def.column_count; i++) {
		const struct column *c = &run_facts_def.columns[i];
		*arena_push(keep, *ret, count, cap) =
			(struct rowbinary_column){ c->name, str_from(type_name(c)) };
	}
	for (int part = 0; part < FACT_PARTS; part++)
		for (ptrdiff_t i = 0; i < fact_part_defs[part].column_count; i++) {
			const struct column *c = &fact_part_defs[part].columns[i];
			*arena_push(keep, *ret, count, cap) = (struct rowbinary_column){
				arena_fmt(keep, "%.*s.%.*s", STR_ARG(fact_part_defs[part].name),
					STR_ARG(c->name)),
				arena_fmt(keep, "Array(%s)", type_name(c)),
			};
		}
	for (int part = 0; part < FACT_PARTS; part++)
		for (int i = 0; i < FACT_PART_NUMBERS && fact_part_numbers[part][i].p; i++)
			*arena_push(keep, *ret, count, cap) = (struct rowbinary_column){
				arena_fmt(keep, "%.*s.%.*s", STR_ARG(fact_part_defs[part].name),
					STR_ARG(fact_part_numbers[part][i])),
				STR("Array(Nullable(Int64))"),
			};
	for (int i = 0; i < FACT_NUMBER_COUNT; i++)
		*arena_push(keep, *ret, count, cap) =
			(struct rowbinary_column){ fact_number_names[i], str_from(number_type(i)) };
	for (size_t i = 0; i < sizeof(more_columns) / sizeof(more_columns[0]); i++)
		*arena_push(keep, *ret, count, cap) =
			(struct rowbinary_column){ str_from(more_columns[i].name),
				str_from(more_columns[i].type) };
	return count;
}

static void put_columns(struct out *o, const struct table_def *def, const char *indent)
{
	for (ptrdiff_t i = 0; i < def->column_count; i++)
		out_fmt(o, "%s%s%.*s %s", i ? ",\n" : "", indent, STR_ARG(def->columns[i].name),
			type_name(&def->columns[i]));
}

/*
 * A part for each week, since a window is read and an old one dropped as a whole; in it the runs of
 * a workload lie together.  The columns of a run and of its parts are what facts say; the numbers
 * are what questions read.  Of rows that are one, the one stays of which something is kept.  Runs
 * without a date stay.
 */
static void put_table(struct out *o, const char *name, const char *engine)
{
	out_fmt(o, "CREATE TABLE %s\n(\n", name);
	put_columns(o, &run_facts_def, "    ");
	for (int i = 0; i < FACT_NUMBER_COUNT; i++)
		out_fmt(o, ",\n    %.*s %s", STR_ARG(fact_number_names[i]), number_type(i));
	for (size_t i = 0; i < sizeof(more_columns) / sizeof(more_columns[0]); i++)
		out_fmt(o, ",\n    %s %s", more_columns[i].name, more_columns[i].type);
	for (int part = 0; part < FACT_PARTS; part++) {
		out_fmt(o, ",\n    %.*s Nested\n    (\n", STR_ARG(fact_part_defs[part].name));
		put_columns(o, &fact_part_defs[part], "        ");
		for (int i = 0; i < FACT_PART_NUMBERS && fact_part_numbers[part][i].p; i++)
			out_fmt(o, ",\n        %.*s Nullable(Int64)",
				STR_ARG(fact_part_numbers[part][i]));
		out_z(o, "\n    )");
	}
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
