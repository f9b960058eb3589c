/* Tables from columns.  See table.h. */
#include "store/table.h"

#include "store/facts.h"

static void put_columns(struct out *o, const struct table_def *def, const char *indent)
{
	for (ptrdiff_t i = 0; i < def->column_count; i++) {
		const struct column *c = &def->columns[i];
		const char *type = c->type == COLUMN_TEXT ? "String" : "Float64";
		bool is_key = def == &run_facts_def && str_eq(c->name, def->key);
		out_fmt(o, is_key ? "%s%s%.*s %s" : "%s%s%.*s Nullable(%s)", i ? ",\n" : "", indent,
			STR_ARG(c->name), type);
	}
}

/* Rows of a run lie together, in the order in which a window is read. */
static void put_table(struct out *o, const char *name, const char *engine)
{
	out_fmt(o, "CREATE TABLE %s\n(\n", name);
	put_columns(o, &run_facts_def, "    ");
	out_fmt(o, ",\n    %.*s Nested\n    (\n", STR_ARG(rule_facts_def.name));
	put_columns(o, &rule_facts_def, "        ");
	out_fmt(o, "\n    )\n)\nENGINE = %s\nORDER BY (ifNull(captured, ''), hash);\n", engine);
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
