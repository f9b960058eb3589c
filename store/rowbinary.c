/* Rows as RowBinary.  See rowbinary.h. */
#include "store/rowbinary.h"

#include <math.h>
#include <string.h>

#include "base/wire.h"

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

ptrdiff_t rowbinary_types(struct arena *keep, struct rowbinary_column **ret)
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
	return count;
}

ptrdiff_t rowbinary_numbers(struct arena *keep, struct rowbinary_column **ret)
{
	ptrdiff_t count = rowbinary_types(keep, ret), cap = count;
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
	*arena_push(keep, *ret, count, cap) =
		(struct rowbinary_column){ STR("outcome"), STR("LowCardinality(String)") };
	*arena_push(keep, *ret, count, cap) =
		(struct rowbinary_column){ STR("because"), STR("Nullable(String)") };
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
 * are what questions read.  Runs without a date stay.
 */
static void put_table(struct out *o, const char *name, const char *engine)
{
	out_fmt(o, "CREATE TABLE %s\n(\n", name);
	put_columns(o, &run_facts_def, "    ");
	for (int i = 0; i < FACT_NUMBER_COUNT; i++)
		out_fmt(o, ",\n    %.*s %s", STR_ARG(fact_number_names[i]), number_type(i));
	out_z(o, ",\n    outcome LowCardinality(String),\n    because Nullable(String)");
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
	put_table(o, "rooflint_facts", "ReplacingMergeTree");
}

void store_table_cluster(struct out *o)
{
	/* Not currentDatabase(): some servers ask it again when they start, in another one. */
	out_z(o, "-- On every server of the cluster, in the database perf.\n");
	put_table(o, "perf.rooflint_facts_shard",
		"ReplicatedReplacingMergeTree(\n"
		"    '/clickhouse/tables/{shard}/perf/rooflint_facts', '{replica}')");
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

static void put_cell(struct out *o, const struct column *c, const void *row)
{
	bool is_text = c->type == COLUMN_TEXT;
	bool is_null = is_text ? cell_is_null(c, row) : !isfinite(cell_real(c, row));
	if (!is_key(c))
		out_char(o, is_null);
	if (is_text && (!is_null || is_key(c))) {
		put_count(o, (uint64_t)cell_text(c, row).len);
		out_str(o, cell_text(c, row));
	} else if (!is_null) {
		uint64_t bits;
		double value = cell_real(c, row);
		memcpy(&bits, &value, sizeof(bits));
		for (int i = 0; i < 64; i += 8)
			out_char(o, (char)(bits >> i));
	}
}

void rowbinary_write(struct out *o, const struct run_facts *f)
{
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

void rowbinary_write_numbers(struct out *o, const struct run_facts *f, struct arena *scratch)
{
	struct run_numbers n;
	run_numbers_of(f, scratch, &n);
	rowbinary_write(o, f);
	for (int part = 0; part < FACT_PARTS; part++)
		for (int i = 0; i < FACT_PART_NUMBERS && fact_part_numbers[part][i].p; i++) {
			put_count(o, (uint64_t)f->parts[part].count);
			for (ptrdiff_t k = 0; k < f->parts[part].count; k++)
				put_number(o, fact_part_number(f, (enum fact_part)part, k, i));
		}
	for (int i = 0; i < FACT_NUMBER_COUNT; i++)
		(i == FACT_captured_ns ? put_int : put_number)(o, n.values[i]);
	put_count(o, (uint64_t)n.outcome.len);
	out_str(o, n.outcome);
	out_char(o, !n.because.p);
	if (n.because.p) {
		put_count(o, (uint64_t)n.because.len);
		out_str(o, n.because);
	}
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The state is sticky: ROWBINARY_ROW as long as all went well. */
struct reading {
	struct str rest;
	enum rowbinary_state state;
};

static bool end_with(struct reading *r, enum rowbinary_state state)
{
	if (r->state == ROWBINARY_ROW)
		r->state = state;
	return false;
}

static bool take_bytes(struct reading *r, ptrdiff_t n, struct str *ret)
{
	if (r->state != ROWBINARY_ROW)
		return false;
	if (n > r->rest.len)
		return end_with(r, ROWBINARY_CUT);
	*ret = str_head(r->rest, n);
	r->rest = str_from_offset(r->rest, n);
	return true;
}

static bool take_count(struct reading *r, ptrdiff_t most, ptrdiff_t *ret)
{
	struct wire w = wire_open(r->rest);
	uint64_t n;
	if (r->state != ROWBINARY_ROW)
		return false;
	if (!wire_varint(&w, &n))
		return end_with(r, r->rest.len < WIRE_NUMBER_BYTES ? ROWBINARY_CUT : ROWBINARY_BAD);
	if (n > (uint64_t)most)
		return end_with(r, ROWBINARY_BAD);
	r->rest = str_span((const char *)w.at, (const char *)w.end);
	*ret = (ptrdiff_t)n;
	return true;
}

static bool take_flag(struct reading *r, bool *ret)
{
	struct str byte;
	if (!take_bytes(r, 1, &byte))
		return false;
	*ret = *byte.p == 1;
	return *byte.p == 0 || *byte.p == 1 || end_with(r, ROWBINARY_BAD);
}

static bool take_string(struct reading *r, struct str *ret)
{
	ptrdiff_t len;
	return take_count(r, FACTS_MAX_LINE, &len) && take_bytes(r, len, ret);
}

/* Infinities and NaN are read as NULL. */
static void take_cell(struct reading *r, const struct column *c, void *row)
{
	struct str bytes;
	double value;
	bool is_null = false;
	if ((!is_key(c) && !take_flag(r, &is_null)) || is_null)
		return;
	if (c->type == COLUMN_TEXT) {
		if (take_string(r, &bytes))
			cell_set_text(c, row, bytes);
	} else if (take_bytes(r, sizeof(value), &bytes)) {
		uint64_t bits = wire_load64((const uint8_t *)bytes.p);
		memcpy(&value, &bits, sizeof(value));
		cell_set_real(c, row, isfinite(value) ? value : (double)NAN);
	}
}

/* The first array says how many rows there are, and the others have as many. */
static void take_part(
	struct reading *r, int part, ptrdiff_t column, struct arena *keep, struct run_facts *f)
{
	const struct table_def *def = &fact_part_defs[part];
	ptrdiff_t count;
	if (!take_count(r, FACTS_MAX_ROWS, &count))
		return;
	for (ptrdiff_t i = 0; !column && i < count; i++)
		run_facts_add(f, (enum fact_part)part, keep);
	if (count != f->parts[part].count)
		end_with(r, ROWBINARY_BAD);
	for (ptrdiff_t i = 0; i < count && r->state == ROWBINARY_ROW; i++)
		take_cell(
			r, &def->columns[column], (char *)f->parts[part].rows + i * def->row_bytes);
}

enum rowbinary_state rowbinary_read(struct str *rest, struct arena *keep, struct run_facts *ret)
{
	struct reading r = { *rest, ROWBINARY_ROW };
	run_facts_clear(ret);
	if (!rest->len)
		return ROWBINARY_END;
	for (ptrdiff_t i = 0; i < run_facts_def.column_count; i++)
		take_cell(&r, &run_facts_def.columns[i], ret);
	for (int part = 0; part < FACT_PARTS; part++)
		for (ptrdiff_t i = 0; i < fact_part_defs[part].column_count; i++)
			take_part(&r, part, i, keep, ret);
	if (r.state == ROWBINARY_ROW)
		*rest = r.rest;
	return r.state;
}

enum rowbinary_state rowbinary_read_pair(struct str *rest, struct str *first, struct str *second)
{
	struct reading r = { *rest, ROWBINARY_ROW };
	if (!rest->len)
		return ROWBINARY_END;
	if (take_string(&r, first) && take_string(&r, second))
		*rest = r.rest;
	return r.state;
}
