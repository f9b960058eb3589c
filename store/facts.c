/* Columns of facts, their hash and their lines.  See facts.h. */
#include "store/facts.h"

#include <assert.h>
#include <math.h>

#include "base/diag.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/when.h"

/* ---- columns --------------------------------------------------------------------------------- */

#define AS_TEXT(name, words, meaning)                                                              \
	{ STR_INIT(#name), COLUMN_TEXT, UNIT_NONE, offsetof(struct ROW, name), words,              \
		STR_INIT(meaning), NULL },
#define AS_REAL(name, unit, meaning)                                                               \
	{ STR_INIT(#name), COLUMN_REAL, UNIT_##unit, offsetof(struct ROW, name), NULL,             \
		STR_INIT(meaning), NULL },

/* clang-format off */
#define ROW run_facts
static const struct column run_columns[] = {
	FACT_IDENTITY(AS_TEXT, AS_REAL)
	FACT_OUTCOME(AS_TEXT, AS_REAL)
	FACT_MEASURES(AS_TEXT, AS_REAL)
};
#undef ROW
#define ROW rule_facts
static const struct column rule_columns[] = {
	FACT_OUTCOME(AS_TEXT, AS_REAL)
	FACT_RULE(AS_TEXT, AS_REAL)
};
#undef ROW
#define ROW device_facts
static const struct column device_columns[] = { FACT_DEVICE(AS_TEXT, AS_REAL) };
#undef ROW
/* clang-format on */

static const struct fact_extra run_extras[] = {
	{ STR_INIT("captured_ns"), false }, /* since 1970; 0 when no date is known */
	{ STR_INIT("step_ns"), false },
	{ STR_INIT("share_e12"), false }, /* of the step: what findings would give back, or all */
	{ STR_INIT("lo_e12"), false },	  /* of the roofline, where some op was judged */
	{ STR_INIT("hi_e12"), false },	  /* the same, or lo where there is none */
	{ STR_INIT("mfu_e12"), false }, { STR_INIT("steps_e12"), false },
	{ STR_INIT("outcome"), true }, /* "judged": a number can be made of it; else why not */
	{ STR_INIT("because"), true }, /* the same in words; missing when judged */
};
static const struct fact_extra rule_extras[] = {
	{ STR_INIT("gain_e12"), false }, /* share of the step that it claims */
};
static const struct fact_extra device_extras[] = {
	{ STR_INIT("excess_e12"), false }, /* slowness less one */
	{ STR_INIT("lost_e12"), false },   /* share of the step */
};
static_assert(COUNT_OF(run_extras) == FACT_EXTRAS_MAX, "others have fewer");

#define ALL(list) list, COUNT_OF(list)
const struct fact_form fact_forms[FACT_RECORDS] = {
	[FACT_RUN] = { { STR_INIT("runs"), STR_INIT("a judged run"), STR_INIT("hash"),
			       ALL(run_columns), sizeof(struct run_facts) },
		STR_INIT("run"), STR_INIT("runs"), ALL(run_extras) },
	[FACT_RULES] = { { STR_INIT("verdicts"), STR_INIT("what a rule said of it"),
				 STR_INIT("rule"), ALL(rule_columns), sizeof(struct rule_facts) },
		STR_INIT("rule"), STR_INIT("of_rules"), ALL(rule_extras) },
	[FACT_DEVICES] = { { STR_INIT("machines"),
				   STR_INIT("a device beside the others of its job"),
				   STR_INIT("device"), ALL(device_columns),
				   sizeof(struct device_facts) },
		STR_INIT("device"), STR_INIT("of_devices"), ALL(device_extras) },
};

const struct fact_form *fact_first(struct str column)
{
	const struct fact_form *f = fact_forms;
	while (!table_column(&f->table, column))
		f++;
	return f;
}

void run_facts_clear(struct run_facts *f)
{
	*f = (struct run_facts){ 0 };
	for (ptrdiff_t i = 0; i < COUNT_OF(run_columns); i++)
		if (run_columns[i].type == COLUMN_REAL)
			cell_set_real(&run_columns[i], f, NAN);
}

void *run_facts_add(struct run_facts *f, enum fact_record part, struct arena *keep)
{
	return rows_add(&f->parts[part], &fact_forms[part].table, keep);
}

ptrdiff_t fact_row_count(const struct run_facts *f, enum fact_record record)
{
	return record == FACT_RUN ? 1 : f->parts[record].count;
}

const void *fact_row(const struct run_facts *f, enum fact_record record, ptrdiff_t row)
{
	const char *rows = record == FACT_RUN ? (const char *)f : f->parts[record].rows;
	return rows + row * fact_forms[record].table.row_bytes;
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
	for (enum fact_record k = 0; k < FACT_RECORDS; k++)
		for (ptrdiff_t i = 0; i < fact_row_count(f, k); i++)
			hash_row(&h, &fact_forms[k].table, fact_row(f, k, i), keep);
	return sha256_id(&h, keep);
}

void run_facts_seal(struct run_facts *f, struct arena *keep)
{
	f->version = STR(FACTS_VERSION);
	f->hash = hash_of(f, keep);
}

static bool has_version(const struct run_facts *f)
{
	return str_starts(f->version, STR("2."));
}

const char *run_facts_flaw(const struct run_facts *f, struct arena *scratch)
{
	if (!f->hash.p || !f->run.p || !f->profile.p)
		return "a run without hash, run or profile";
	if (!has_version(f))
		return "facts of another version than 2";
	if (str_eq(f->version, STR(FACTS_VERSION)) && !str_eq(f->hash, hash_of(f, scratch)))
		return "a run that does not fit its hash";
	return NULL;
}

/* ---- whole numbers --------------------------------------------------------------------------- */

static int64_t whole(double value, double unit)
{
	double scaled = value * unit;
	return fabs(scaled) < 9e18 ? (int64_t)llround(scaled) : FACT_NONE; /* not for NaN, either */
}

static double of_step(const struct run_facts *f, double s)
{
	return f->step_mean_s > 0 ? s / f->step_mean_s : (double)NAN;
}

/* The gate that keeps most rules from being judged. */
static struct str gate_of(const struct run_facts *f)
{
	struct str best = { NULL, 0 };
	ptrdiff_t most = 0;
	const struct rule_facts *rules = run_rules(f);
	for (ptrdiff_t i = 0; i < run_rule_count(f); i++) {
		struct str gate = rules[i].closed_gate;
		ptrdiff_t count = 0;
		for (ptrdiff_t k = 0; gate.p && k < run_rule_count(f); k++)
			count += str_eq(rules[k].closed_gate, gate);
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
	for (ptrdiff_t i = 0; i < run_rule_count(f); i++) {
		const struct rule_facts *r = &run_rules(f)[i];
		if (gate.p && str_eq(r->rule, gate) && r->reason.p)
			return r->reason;
		if (str_eq(r->verdict, STR("inconclusive")) && r->reason.p &&
			(!first || str_cmp(r->rule, first->rule) < 0))
			first = r;
	}
	return first ? first->reason : MISSING;
}

/* Returns why, in words. */
static struct str outcome_of(
	const struct run_facts *f, int64_t captured_ns, struct arena *keep, struct str *outcome)
{
	if (f->error_id.p) {
		const struct diag_kind *kind = diag_kind(f->error_id);
		*outcome = arena_fmt(
			keep, "unreadable: %.*s", STR_ARG(kind ? kind->words : f->error_id));
		return f->error;
	}
	if (!captured_ns) {
		*outcome = STR("no date");
		return STR("neither the profile nor its directory says when it was captured");
	}
	if (str_eq(f->verdict, STR("inconclusive"))) {
		struct str gate = gate_of(f);
		*outcome =
			arena_fmt(keep, "inconclusive%s%.*s", gate.len ? ": " : "", STR_ARG(gate));
		return open_reason(f, gate);
	}
	if (!(f->step_time_s > 0)) {
		*outcome = STR("no steps");
		return STR("the profile shows no step");
	}
	*outcome = STR("judged");
	return MISSING;
}

static void run_values(const struct run_facts *f, struct arena *keep, union fact_value *ret)
{
	bool is_counted = f->judged_ratio != 0; /* where no op's cost is known, no ratio is */
	double hi = isnan(f->roofline_ratio_hi) ? f->roofline_ratio_lo : f->roofline_ratio_hi;
	double share = of_step(f, f->gain_s);
	struct str outcome;
	int64_t captured;
	int64_t captured_ns = f->captured.p && when_parse(f->captured, &captured) ? captured : 0;
	struct str because = outcome_of(f, captured_ns, keep, &outcome);
	const union fact_value values[] = {
		{ captured_ns },
		{ whole(f->step_time_s, 1e9) },
		{ whole(isnan(share) ? share : fmin(1, fmax(0, share)), 1e12) },
		{ is_counted ? whole(f->roofline_ratio_lo, 1e12) : FACT_NONE },
		{ is_counted ? whole(hi, 1e12) : FACT_NONE },
		/* Above one the job file is of another job. */
		{ f->mfu <= 1 ? whole(f->mfu, 1e12) : FACT_NONE },
		{ whole(f->steps_ratio, 1e12) },
		{ .text = outcome },
		{ .text = because },
	};
	static_assert(COUNT_OF(values) == COUNT_OF(run_extras), "in their order");
	memcpy(ret, values, sizeof(values));
}

void fact_extras(const struct run_facts *f, enum fact_record record, ptrdiff_t row,
	struct arena *keep, union fact_value *ret)
{
	if (record == FACT_RUN) {
		run_values(f, keep, ret);
	} else if (record == FACT_RULES) {
		ret[0].number = whole(of_step(f, run_rules(f)[row].gain_s), 1e12);
	} else {
		ret[0].number = whole(run_devices(f)[row].slowness - 1, 1e12);
		ret[1].number = whole(of_step(f, run_devices(f)[row].lost_s), 1e12);
	}
}

/* ---- writing --------------------------------------------------------------------------------- */

/* What is known of a row.  A part's has the hash that joins it to its run. */
static void write_line(
	const struct run_facts *f, enum fact_record record, const void *row, struct out *out)
{
	const struct table_def *def = &fact_forms[record].table;
	cJSON *line = cJSON_CreateObject();
	json_add_str(line, "record", fact_forms[record].word);
	if (record != FACT_RUN)
		json_add_str(line, "hash", f->hash);
	for (ptrdiff_t i = 0; i < def->column_count; i++) {
		const struct column *c = &def->columns[i];
		if (cell_is_null(c, row))
			continue;
		if (c->type == COLUMN_TEXT)
			json_add_str(line, c->name.p, cell_text(c, row));
		else
			json_add_double(line, c->name.p, cell_real(c, row));
	}
	json_line(line, out);
	cJSON_Delete(line);
}

void run_facts_write(const struct run_facts *f, struct out *out)
{
	assert(f->hash.p);
	for (enum fact_record k = 0; k < FACT_RECORDS; k++)
		for (ptrdiff_t i = 0; i < fact_row_count(f, k); i++)
			write_line(f, k, fact_row(f, k, i), out);
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
	arena_clear(&r->keep);
	return ok;
}

static bool begin_run(struct reading *r, const cJSON *line)
{
	if (!end_run(r) || !read_row(r, line, &fact_forms[FACT_RUN].table, &r->run))
		return false;
	if (!r->run.hash.p || !r->run.run.p || !r->run.profile.p)
		return bad_line(r, "a run without hash, run or profile");
	if (!has_version(&r->run))
		return bad_line(r, "facts of another version than 2");
	return true;
}

static bool add_row(struct reading *r, const cJSON *line, enum fact_record record)
{
	if (!r->run.hash.p || !str_eq(r->run.hash, json_get_str(line, "hash")))
		return bad_line(r, "a record of a rule or a device does not follow its run's");
	if (r->run.parts[record].count >= FACTS_MAX_ROWS)
		return bad_line(r, "more rules or devices than a run's facts have");
	return read_row(
		r, line, &fact_forms[record].table, run_facts_add(&r->run, record, &r->keep));
}

static bool read_line(struct reading *r, struct str text)
{
	enum fact_record record = 0;
	if (text.len > FACTS_MAX_LINE)
		return bad_line(r, "a line longer than any record");
	if (!str_trim(text).len)
		return true;
	cJSON *line = cJSON_ParseWithLength(text.p, (size_t)text.len);
	struct str word = line ? json_get_str(line, "record") : STR("");
	while (record < FACT_RECORDS && !str_eq(word, fact_forms[record].word))
		record++;
	bool ok = !line			   ? bad_line(r, "not a JSON object in one line")
		  : record == FACT_RECORDS ? bad_line(r, "no record of a run, a rule or a device")
		  : record == FACT_RUN	   ? begin_run(r, line)
					   : add_row(r, line, record);
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

/* ---- BigQuery -------------------------------------------------------------------------------- */

static void add_field(cJSON *fields, struct str name, const char *type, struct str meaning)
{
	cJSON *field = json_push_object(fields);
	json_add_str(field, "name", name);
	json_add_str(field, "type", str_from(type));
	json_add_str(field, "mode", STR("NULLABLE"));
	json_add_str(field, "description", meaning);
}

void facts_bigquery(struct out *out)
{
	struct arena scratch = arena_new(ARENA_SCRATCH_BYTES);
	cJSON *fields = cJSON_CreateArray();
	add_field(fields, STR("record"), "STRING", STR(FACT_RECORD_MEANING));
	for (const struct fact_form *f = fact_forms; f < fact_forms + FACT_RECORDS; f++)
		for (ptrdiff_t i = 0; i < f->table.column_count; i++) {
			const struct column *c = &f->table.columns[i];
			bool is_moment = str_eq(c->name, STR("captured"));
			if (fact_first(c->name) == f)
				add_field(fields, c->name,
					c->type == COLUMN_REAL ? "FLOAT64"
					: is_moment	       ? "TIMESTAMP"
							       : "STRING",
					c->meaning);
		}
	out_str(out, json_text(fields, &scratch));
	cJSON_Delete(fields);
	arena_free(&scratch);
}
