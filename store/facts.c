/* Columns of facts, their hash and their lines.  See facts.h. */
#include "store/facts.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/sha256.h"
#include "base/when.h"

/* ---- columns --------------------------------------------------------------------------------- */

#define RUN_TEXT(name, words, meaning)                                                             \
	{ STR_INIT(#name), COLUMN_TEXT, UNIT_NONE, offsetof(struct run_facts, name), words,        \
		STR_INIT(meaning) },
#define RUN_REAL(name, unit, meaning)                                                              \
	{ STR_INIT(#name), COLUMN_REAL, UNIT_##unit, offsetof(struct run_facts, name), NULL,       \
		STR_INIT(meaning) },
#define RULE_TEXT(name, words, meaning)                                                            \
	{ STR_INIT(#name), COLUMN_TEXT, UNIT_NONE, offsetof(struct rule_facts, name), words,       \
		STR_INIT(meaning) },
#define RULE_REAL(name, unit, meaning)                                                             \
	{ STR_INIT(#name), COLUMN_REAL, UNIT_##unit, offsetof(struct rule_facts, name), NULL,      \
		STR_INIT(meaning) },

/* clang-format off */
static const struct column run_columns[] = {
	FACT_IDENTITY(RUN_TEXT, RUN_REAL)
	FACT_OUTCOME(RUN_TEXT, RUN_REAL)
	FACT_MEASURES(RUN_TEXT, RUN_REAL)
};
static const struct column rule_columns[] = {
	FACT_OUTCOME(RULE_TEXT, RULE_REAL)
	FACT_RULE(RULE_TEXT, RULE_REAL)
};
/* clang-format on */

#define ONE(...) +1
enum {
	IDENTITIES = FACT_IDENTITY(ONE, ONE),
	OUTCOMES = FACT_OUTCOME(ONE, ONE),
	RUN_COLUMN_COUNT = sizeof(run_columns) / sizeof(run_columns[0]),
	RULE_COLUMN_COUNT = sizeof(rule_columns) / sizeof(rule_columns[0]),
	FLAT_COLUMNS = RUN_COLUMN_COUNT + RULE_COLUMN_COUNT - OUTCOMES,
};

const struct table_def run_facts_def = { STR_INIT("runs"), STR_INIT("a judged run"),
	STR_INIT("hash"), run_columns, RUN_COLUMN_COUNT, sizeof(struct run_facts) };
const struct table_def rule_facts_def = { STR_INIT("verdicts"), STR_INIT("what a rule said of it"),
	STR_INIT("rule"), rule_columns, RULE_COLUMN_COUNT, sizeof(struct rule_facts) };

/* A column of a line: of the run's record, of a rule's, or of both; NULL where it is neither's. */
struct flat {
	const struct column *run, *rule;
	const struct column *any; /* the one that there is */
};

static struct flat flat_column(int i)
{
	const struct column *run = i < RUN_COLUMN_COUNT ? &run_columns[i] : NULL;
	const struct column *rule = NULL;
	if (i >= RUN_COLUMN_COUNT)
		rule = &rule_columns[i - RUN_COLUMN_COUNT + OUTCOMES];
	else if (i >= IDENTITIES && i < IDENTITIES + OUTCOMES)
		rule = &rule_columns[i - IDENTITIES];
	return (struct flat){ run, rule, run ? run : rule };
}

static bool is_identity(const struct column *c)
{
	return c >= run_columns && c < run_columns + IDENTITIES;
}

static void clear(const struct table_def *def, void *row)
{
	for (ptrdiff_t i = 0; i < def->column_count; i++) {
		const struct column *c = &def->columns[i];
		if (c->type == COLUMN_TEXT)
			cell_set_text(c, row, (struct str){ NULL, 0 });
		else
			cell_set_real(c, row, NAN);
	}
}

void run_facts_clear(struct run_facts *f)
{
	*f = (struct run_facts){ 0 };
	clear(&run_facts_def, f);
}

void rule_facts_clear(struct rule_facts *f)
{
	clear(&rule_facts_def, f);
}

/* ---- the hash -------------------------------------------------------------------------------- */

/* Name and value of each cell that is known, so that a column that came later changes no hash. */
static void hash_row(
	struct sha256 *h, const struct table_def *def, const void *row, struct arena *scratch)
{
	for (ptrdiff_t i = 0; i < def->column_count; i++) {
		const struct column *c = &def->columns[i];
		if (cell_is_null(c, row) || str_eq(c->name, STR("hash")))
			continue;
		sha256_field(h, c->name);
		sha256_field(h, c->type == COLUMN_TEXT ? cell_text(c, row)
						       : double_text(scratch, cell_real(c, row)));
	}
	sha256_field(h, STR(""));
}

static struct str hash_of(const struct run_facts *f, struct arena *keep)
{
	struct sha256 h = sha256_new();
	hash_row(&h, &run_facts_def, f, keep);
	for (ptrdiff_t i = 0; i < f->item_count; i++)
		hash_row(&h, &rule_facts_def, &f->items[i], keep);
	return sha256_id(&h, keep);
}

void run_facts_seal(struct run_facts *f, struct arena *keep)
{
	f->version = STR(FACTS_VERSION);
	f->hash = hash_of(f, keep);
}

static bool has_version(const struct run_facts *f)
{
	return str_starts(f->version, STR("1."));
}

const char *run_facts_flaw(const struct run_facts *f, struct arena *scratch)
{
	if (!f->hash.p || !f->run.p || !f->profile.p)
		return "a run without hash, run or profile";
	if (!has_version(f))
		return "facts of another version than 1";
	if (str_eq(f->version, STR(FACTS_VERSION)) && !str_eq(f->hash, hash_of(f, scratch)))
		return "a run that does not fit its hash";
	return NULL;
}

/* ---- whole numbers --------------------------------------------------------------------------- */

const struct str fact_number_names[FACT_NUMBER_COUNT] = {
#define X(name, meaning) STR_INIT(#name),
	FACT_NUMBERS(X)
#undef X
};

static int64_t whole(double value, double unit)
{
	double scaled = value * unit;
	return fabs(scaled) < 9e18 ? (int64_t)llround(scaled) : FACT_NONE; /* not for NaN, either */
}

int64_t rule_gain_e12(const struct run_facts *f, const struct rule_facts *rule)
{
	return f->step_time_s > 0 ? whole(rule->gain_s / f->step_time_s, 1e12) : FACT_NONE;
}

/* The gate that keeps most rules from being judged. */
static struct str gate_of(const struct run_facts *f)
{
	struct str best = { NULL, 0 };
	ptrdiff_t most = 0;
	for (ptrdiff_t i = 0; i < f->item_count; i++) {
		struct str gate = f->items[i].closed_gate;
		ptrdiff_t count = 0;
		for (ptrdiff_t k = 0; gate.p && k < f->item_count; k++)
			count += str_eq(f->items[k].closed_gate, gate);
		if (count > most || (count && count == most && str_cmp(gate, best) < 0)) {
			most = count;
			best = gate;
		}
	}
	return best;
}

/* The gate's own reason, else that of the first open rule by name. */
static struct str open_reason(const struct run_facts *f, struct str gate)
{
	const struct rule_facts *first = NULL;
	for (ptrdiff_t i = 0; i < f->item_count; i++) {
		const struct rule_facts *r = &f->items[i];
		if (gate.p && str_eq(r->rule, gate) && r->reason.p)
			return r->reason;
		if (str_eq(r->verdict, STR("inconclusive")) && r->reason.p &&
			(!first || str_cmp(r->rule, first->rule) < 0))
			first = r;
	}
	return first ? first->reason : (struct str){ NULL, 0 };
}

static void take_outcome(const struct run_facts *f, struct arena *keep, struct run_numbers *ret)
{
	struct str gate;
	ret->because = (struct str){ NULL, 0 };
	if (f->error_id.p) {
		ret->outcome = arena_fmt(keep, "unreadable: %.*s", STR_ARG(f->error_id));
		ret->because = f->error;
	} else if (!ret->values[FACT_captured_ns]) {
		ret->outcome = STR("no date");
		ret->because =
			STR("neither the profile nor its directory says when it was captured");
	} else if (str_eq(f->verdict, STR("inconclusive"))) {
		gate = gate_of(f);
		ret->outcome =
			arena_fmt(keep, "inconclusive%s%.*s", gate.len ? ": " : "", STR_ARG(gate));
		ret->because = open_reason(f, gate);
	} else if (!(f->step_time_s > 0)) {
		ret->outcome = STR("no steps");
		ret->because = STR("the profile shows no step");
	} else {
		ret->outcome = STR("judged");
	}
}

void run_numbers_of(const struct run_facts *f, struct arena *keep, struct run_numbers *ret)
{
	int64_t *n = ret->values, captured;
	bool is_counted = f->judged_ratio != 0; /* where no op's cost is known, no ratio is */
	double hi = isnan(f->roofline_ratio_hi) ? f->roofline_ratio_lo : f->roofline_ratio_hi;
	double share = f->step_time_s > 0 ? f->gain_s / f->step_time_s : (double)NAN;
	n[FACT_captured_ns] = f->captured.p && when_parse(f->captured, &captured) ? captured : 0;
	n[FACT_step_ns] = whole(f->step_time_s, 1e9);
	n[FACT_share_e12] = whole(isnan(share) ? share : fmin(1, fmax(0, share)), 1e12);
	n[FACT_lo_e12] = is_counted ? whole(f->roofline_ratio_lo, 1e12) : FACT_NONE;
	n[FACT_hi_e12] = is_counted ? whole(hi, 1e12) : FACT_NONE;
	n[FACT_mfu_e12] = whole(f->mfu, 1e12);
	take_outcome(f, keep, ret);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The run's own record when `rule` is NULL. */
static void write_line(const struct run_facts *f, const struct rule_facts *rule, struct out *out)
{
	cJSON *line = cJSON_CreateObject();
	cJSON_AddStringToObject(line, "record", rule ? "rule" : "run");
	for (int i = 0; i < FLAT_COLUMNS; i++) {
		struct flat flat = flat_column(i);
		const char *name = flat.any->name.p;
		bool is_run = !rule || is_identity(flat.run);
		const struct column *c = is_run ? flat.run : flat.rule;
		const void *row = is_run ? (const void *)f : rule;
		if (!c || cell_is_null(c, row))
			cJSON_AddNullToObject(line, name);
		else if (c->type == COLUMN_TEXT)
			json_add_str(line, name, cell_text(c, row));
		else
			json_add_double(line, name, cell_real(c, row));
	}
	json_line(line, out);
	cJSON_Delete(line);
}

void run_facts_write(const struct run_facts *f, struct out *out)
{
	assert(f->hash.p);
	write_line(f, NULL, out);
	for (ptrdiff_t i = 0; i < f->item_count; i++)
		write_line(f, &f->items[i], out);
}

/* ---- reading --------------------------------------------------------------------------------- */

struct reading {
	struct str file;
	int64_t line;
	run_facts_fn *take;
	void *arg;
	struct arena keep;    /* of the run at hand */
	ptrdiff_t dropped;    /* bytes of the file that were given back */
	struct run_facts run; /* its hash is missing when there is none */
	ptrdiff_t cap;
	struct diag *err;
};

static bool bad_line(struct reading *r, const char *what)
{
	return diag_set(r->err, DIAG_FACTS,
		"%.*s:%lld: %s; give what `rooflint facts` wrote, whole and unchanged",
		STR_ARG(r->file), (long long)r->line, what);
}

static bool read_row(struct reading *r, const cJSON *line, const struct table_def *def, void *row)
{
	for (ptrdiff_t i = 0; i < def->column_count; i++) {
		const struct column *c = &def->columns[i];
		const cJSON *item = cJSON_GetObjectItemCaseSensitive(line, c->name.p);
		if (!item || cJSON_IsNull(item))
			continue;
		if (c->type == COLUMN_TEXT && cJSON_IsString(item))
			cell_set_text(c, row, arena_str(&r->keep, str_from(item->valuestring)));
		else if (c->type == COLUMN_REAL && cJSON_IsNumber(item))
			cell_set_real(c, row, item->valuedouble);
		else
			return diag_set(r->err, DIAG_FACTS, "%.*s:%lld: %.*s is no %s",
				STR_ARG(r->file), (long long)r->line, STR_ARG(c->name),
				c->type == COLUMN_TEXT ? "text" : "number");
	}
	return true;
}

/* The run at hand is over. */
static bool end_run(struct reading *r)
{
	if (!r->run.hash.p)
		return true;
	const char *flaw = run_facts_flaw(&r->run, &r->keep);
	if (flaw)
		return bad_line(r, arena_fmt(&r->keep, "what ends here is %s", flaw).p);
	bool ok = r->take(r->arg, &r->run, r->err);
	run_facts_clear(&r->run);
	r->cap = 0;
	arena_clear(&r->keep);
	return ok;
}

static bool begin_run(struct reading *r, const cJSON *line)
{
	if (!end_run(r) || !read_row(r, line, &run_facts_def, &r->run))
		return false;
	if (!r->run.hash.p || !r->run.run.p || !r->run.profile.p)
		return bad_line(r, "a run without hash, run or profile");
	if (!has_version(&r->run))
		return bad_line(r, "facts of another version than 1");
	return true;
}

static bool add_rule(struct reading *r, const cJSON *line)
{
	if (!r->run.hash.p || !str_eq(r->run.hash, json_get_str(line, "hash")))
		return bad_line(r, "a rule's record does not follow its run's");
	if (r->run.item_count >= FACTS_MAX_RULES)
		return bad_line(r, "more rules than a rule file may have");
	struct rule_facts *rule = arena_push(&r->keep, r->run.items, r->run.item_count, r->cap);
	rule_facts_clear(rule);
	return read_row(r, line, &rule_facts_def, rule);
}

static bool read_line(struct reading *r, struct str text)
{
	if (text.len > FACTS_MAX_LINE)
		return bad_line(r, "a line longer than any record");
	if (!str_trim(text).len)
		return true;
	cJSON *line = cJSON_ParseWithLength(text.p, (size_t)text.len);
	struct str record = line ? json_get_str(line, "record") : STR("");
	bool ok = !line				? bad_line(r, "not a JSON object in one line")
		  : str_eq(record, STR("run"))	? begin_run(r, line)
		  : str_eq(record, STR("rule")) ? add_rule(r, line)
						: bad_line(r, "no record of a run or a rule");
	cJSON_Delete(line);
	return ok;
}

/* Whole pages, and not a system call for each. */
static void let_go(const struct input *in, ptrdiff_t at, ptrdiff_t *dropped)
{
	const ptrdiff_t unit = (ptrdiff_t)1 << 20;
	if (at - *dropped < unit)
		return;
	input_drop(in, *dropped, at / unit * unit);
	*dropped = at / unit * unit;
}

bool run_facts_read(const struct input *in, run_facts_fn *take, void *arg, struct diag *err)
{
	struct reading r = { .file = in->path, .take = take, .arg = arg, .err = err };
	struct str text = in->bytes, head;
	bool ok = true;
	r.keep = arena_new(ARENA_SCRATCH_BYTES);
	run_facts_clear(&r.run);
	for (bool more = true; ok && more;) {
		more = str_cut(text, '\n', &head, &text);
		r.line++;
		ok = read_line(&r, head);
		let_go(in, in->bytes.len - text.len, &r.dropped);
	}
	ok = ok && end_run(&r);
	arena_free(&r.keep);
	return ok;
}

/* ---- the manual ------------------------------------------------------------------------------ */

static const struct str record_meaning = STR_INIT("sort of this record: run or rule");

static const char *records_of(struct flat flat)
{
	if (is_identity(flat.run))
		return "both";
	return flat.run && flat.rule ? "both" : flat.run ? "run" : "rule";
}

static cJSON *bigquery_field(struct str name, const char *type, struct str meaning)
{
	cJSON *field = cJSON_CreateObject();
	json_add_str(field, "name", name);
	json_add_str(field, "type", str_from(type));
	json_add_str(field, "mode", STR("NULLABLE"));
	json_add_str(field, "description", meaning);
	return field;
}

void facts_bigquery(struct out *out)
{
	struct arena scratch = arena_new(ARENA_SCRATCH_BYTES);
	cJSON *fields = cJSON_CreateArray();
	cJSON_AddItemToArray(fields, bigquery_field(STR("record"), "STRING", record_meaning));
	for (int i = 0; i < FLAT_COLUMNS; i++) {
		struct flat flat = flat_column(i);
		const struct column *c = flat.any;
		bool is_moment = str_eq(c->name, STR("captured"));
		const char *type = c->type == COLUMN_REAL ? "FLOAT64"
				   : is_moment		  ? "TIMESTAMP"
							  : "STRING";
		cJSON_AddItemToArray(fields, bigquery_field(c->name, type, c->meaning));
	}
	out_str(out, json_text(fields, &scratch));
	cJSON_Delete(fields);
	arena_free(&scratch);
}

void facts_manual(struct out *out)
{
	out_fmt(out,
		"| column | type | unit | record | meaning |\n|---|---|---|---|---|\n"
		"| `record` | text | | both | %.*s |\n",
		STR_ARG(record_meaning));
	for (int i = 0; i < FLAT_COLUMNS; i++) {
		struct flat flat = flat_column(i);
		const struct column *c = flat.any;
		bool is_text = c->type == COLUMN_TEXT;
		out_fmt(out, "| `%.*s` | %s | %s | %s | %.*s |\n", STR_ARG(c->name),
			is_text ? "text" : "number", is_text ? "" : unit_name(c->unit),
			records_of(flat), STR_ARG(c->meaning));
	}
}
