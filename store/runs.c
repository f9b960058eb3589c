/* Questions about single runs.  See runs.h. */
#include "store/runs.h"

#include <assert.h>

#include "base/text.h"

/* As runs.sql has them. */
enum asked { ASK_PAGE, ASK_LEFT, ASK_PART, ASK_KEPT, ASK_LOOK, ASK_MEDIANS };

static struct str sql_of(enum asked id)
{
	return question_statement("store/runs.sql", 2 + 2 * id);
}

#define VALUES(list) list, COUNT_OF(list)

/* ---- pages ----------------------------------------------------------------------------------- */

/* At some 15 kB each a fortieth of what a server's answer may have. */
enum { PAGE_RUNS = 100 };

void run_pages_open(
	struct run_pages *p, struct store *s, struct str workload, int64_t from_ns, int64_t to_ns)
{
	*p = (struct run_pages){ .store = s,
		.workload = workload,
		.from_ns = from_ns,
		.to_ns = to_ns,
		.behind_ns = INT64_MAX,
		.behind = STR("") };
	p->place = arena_new(ARENA_SCRATCH_BYTES);
	p->keep = arena_new(ARENA_SCRATCH_BYTES);
	p->bytes = arena_new(ARENA_SCRATCH_BYTES);
}

void run_pages_close(struct run_pages *p)
{
	arena_free(&p->place);
	arena_free(&p->keep);
	arena_free(&p->bytes);
}

/* In the condition of every question of the pages, so that a server finds it by its key. */
static struct str of_workload(const struct run_pages *p)
{
	return p->workload.p ? STR("AND ifNull(workload, '') = {workload}") : STR("");
}

static void read_cells(
	const struct table_def *def, const struct str *cells, void *row, struct arena *keep)
{
	for (ptrdiff_t i = 0; i < def->column_count; i++) {
		const struct column *c = &def->columns[i];
		double value;
		if (!cells[i].p)
			continue;
		if (c->type == COLUMN_TEXT)
			cell_set_text(c, row, arena_str(keep, cells[i]));
		else if (str_to_double(cells[i], &value))
			cell_set_real(c, row, value);
	}
}

static bool take_run(void *arg, const struct str *cells, struct diag *err)
{
	struct run_pages *p = arg;
	struct stored_run *run = arena_make(&p->keep, struct stored_run, 1);
	const struct table_def *def = &fact_forms[FACT_RUN].table;
	int64_t is_kept = 0;
	(void)err;
	run_facts_clear(&run->facts);
	read_cells(def, cells, &run->facts, &p->keep);
	str_to_i64(cells[def->column_count], &run->captured_ns);
	run->is_kept = str_to_i64(cells[def->column_count + 1], &is_kept) && is_kept;
	/* A server may hold a run twice: the row with kept bytes comes first. */
	if (!p->count || !str_eq(run->facts.hash, p->runs[p->count - 1]->facts.hash))
		*arena_push(&p->keep, p->runs, p->count, p->cap) = run;
	return true;
}

bool run_pages_next(struct run_pages *p, struct diag *err)
{
	const struct question_value values[] = {
		VALUE_COLUMNS("columns", STR("r."), &fact_forms[FACT_RUN].table),
		VALUE_SQL("left", sql_of(ASK_LEFT)),
		VALUE_SQL("of_workload", of_workload(p)),
		VALUE_TEXT("workload", p->workload),
		VALUE_NUMBER("from", p->from_ns),
		VALUE_NUMBER("to", p->to_ns),
		VALUE_NUMBER("behind_ns", p->behind_ns),
		VALUE_TEXT("behind", p->behind),
		VALUE_NUMBER("most", PAGE_RUNS),
	};
	const struct question q = { sql_of(ASK_PAGE), VALUES(values),
		(int)fact_forms[FACT_RUN].table.column_count + 2 };
	arena_clear(&p->keep);
	p->runs = NULL;
	p->count = p->cap = 0;
	if (!store_ask(p->store, &q, take_run, p, err))
		return false;
	if (p->count) {
		const struct stored_run *last = p->runs[p->count - 1];
		arena_clear(&p->place);
		p->behind = arena_str(&p->place, last->facts.hash);
		p->behind_ns = last->captured_ns;
	}
	return true;
}

/* ---- of the runs of a page ------------------------------------------------------------------- */

/* A question about some of them; their moments tell a server which weeks to read. */
static bool ask_of(struct run_pages *p, enum asked id, struct stored_run **runs, ptrdiff_t count,
	enum fact_record part, answer_row_fn *take, void *arg, struct diag *err)
{
	const struct fact_form *form = &fact_forms[part];
	struct arena scratch = p->keep; /* until it is asked: then come rows */
	struct str *hashes = arena_make(&scratch, struct str, count);
	for (ptrdiff_t i = 0; i < count; i++)
		hashes[i] = runs[i]->facts.hash;
	const struct question_value values[] = {
		VALUE_COLUMNS("columns", STR("v."), &form->table),
		VALUE_SQL("of_part", arena_fmt(&scratch, "{%.*s}", STR_ARG(form->source))),
		VALUE_TEXTS("hashes", hashes, count),
		VALUE_SQL("of_workload", of_workload(p)),
		VALUE_TEXT("workload", p->workload),
		VALUE_NUMBER("from", runs[count - 1]->captured_ns),
		VALUE_NUMBER("to", runs[0]->captured_ns),
	};
	const struct question q = { sql_of(id), VALUES(values),
		id == ASK_KEPT ? 2 : (int)form->table.column_count + 3 };
	return store_ask(p->store, &q, take, arg, err);
}

struct adding {
	struct arena *keep;
	struct stored_run **runs;
	ptrdiff_t count;
	enum fact_record part;
};

/* Rows come in the order of their runs. */
static bool take_part(void *arg, const struct str *cells, struct diag *err)
{
	struct adding *a = arg;
	const struct table_def *def = &fact_forms[a->part].table;
	while (a->count && !str_eq(a->runs[0]->facts.hash, cells[1])) {
		a->runs++;
		a->count--;
	}
	if (!a->count || a->runs[0]->facts.parts[a->part].count >= FACTS_MAX_ROWS)
		return diag_set(err, DIAG_STORE,
			"the store has more rules or devices of a run than facts have");
	read_cells(def, cells + 3, run_facts_add(&a->runs[0]->facts, a->part, a->keep), a->keep);
	return true;
}

bool run_pages_add(struct run_pages *p, struct stored_run **runs, ptrdiff_t count,
	enum fact_record part, struct diag *err)
{
	struct adding a = { &p->keep, runs, count, part };
	return ask_of(p, ASK_PART, runs, count, part, take_part, &a, err);
}

/* In any order; a server may have it twice. */
static bool take_bytes(void *arg, const struct str *cells, struct diag *err)
{
	struct adding *a = arg;
	(void)err;
	for (ptrdiff_t i = 0; i < a->count; i++)
		if (str_eq(a->runs[i]->facts.hash, cells[0]))
			a->runs[i]->kept = arena_str(a->keep, cells[1]);
	return true;
}

bool run_pages_kept(
	struct run_pages *p, struct stored_run **runs, ptrdiff_t count, struct diag *err)
{
	struct adding a = { &p->bytes, runs, count, FACT_RUN };
	assert(count <= RUNS_KEPT_MAX);
	arena_clear(&p->bytes);
	return !count || ask_of(p, ASK_KEPT, runs, count, FACT_RUN, take_bytes, &a, err);
}

/* ---- the other questions --------------------------------------------------------------------- */

enum { HASH_SHOWN = 64 };

static bool hand_out(struct run_pages *p, run_facts_fn *take, void *arg, struct diag *err)
{
	for (enum fact_record part = FACT_RUN + 1; part < FACT_RECORDS; part++)
		if (!run_pages_add(p, p->runs, p->count, part, err))
			return false;
	for (ptrdiff_t i = 0; i < p->count; i++) {
		const struct run_facts *f = &p->runs[i]->facts;
		const char *flaw = run_facts_flaw(f, &p->keep);
		if (flaw)
			return diag_set(err, DIAG_STORE,
				"a row of the store (hash '%.*s') is %s; delete it",
				STR_ARG(str_head(text_clean(&p->keep, f->hash), HASH_SHOWN)), flaw);
		if (!take(arg, f, err))
			return false;
	}
	return true;
}

bool store_scan(struct store *s, int64_t from_ns, int64_t to_ns, run_facts_fn *take, void *arg,
	struct diag *err)
{
	struct run_pages p;
	bool ok = true;
	run_pages_open(&p, s, MISSING, from_ns, to_ns);
	while ((ok = ok && run_pages_next(&p, err)) && p.count)
		ok = hand_out(&p, take, arg, err);
	run_pages_close(&p);
	return ok;
}

bool store_look(struct store *s, struct str judge, const struct str *profiles, ptrdiff_t count,
	answer_row_fn *take, void *arg, struct diag *err)
{
	const struct question_value values[] = {
		VALUE_TEXT("judge", judge),
		VALUE_TEXTS("profiles", profiles, count),
	};
	const struct question q = { sql_of(ASK_LOOK), VALUES(values), 2 };
	assert(count <= QUESTION_MAX_LIST);
	return store_ask(s, &q, take, arg, err);
}

bool store_medians(
	struct store *s, int64_t until_ns, answer_row_fn *take, void *arg, struct diag *err)
{
	const int64_t day_ns = INT64_C(86400) * 1000000000, days = until_ns / day_ns - 90;
	const struct question_value values[] = {
		/* Runs without a date have the moment 0. */
		VALUE_NUMBER("from", until_ns < INT64_MAX && days > 0 ? days * day_ns : 1),
		VALUE_NUMBER("to", until_ns),
		VALUE_NUMBER("each", STORE_MEDIANS_RUNS),
		VALUE_NUMBER("most", STORE_MEDIANS_MOST),
	};
	const struct question q = { sql_of(ASK_MEDIANS), VALUES(values), 4 };
	return store_ask(s, &q, take, arg, err);
}
