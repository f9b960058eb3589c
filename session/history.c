/* Runs before, from a store.  See history.h. */
#include "session/history.h"

#include <assert.h>
#include <math.h>

#include "base/text.h"
#include "base/when.h"
#include "session/pack.h"
#include "report/facts.h"
#include "store/runs.h"

/* ---- queries --------------------------------------------------------------------------------- */

#define QUERY STR("store:")

bool history_is_query(struct str word)
{
	return str_starts(word, QUERY);
}

#define TWICE "is the second of its key; give each once"

static bool fail_query(struct str word, struct str part, const char *why, struct diag *err)
{
	return diag_set(
		err, DIAG_USAGE, "--baseline %.*s: '%.*s' %s", STR_ARG(word), STR_ARG(part), why);
}

static bool read_part(
	struct history_query *q, struct str part, struct arena *keep, struct diag *err)
{
	const struct text {
		struct str key, *text;
	} texts[] = { { STR("workload"), &q->workload }, { STR("commit"), &q->commit },
		{ STR("verdict"), &q->verdict } };
	struct str key, value, before, rest;
	bool is_twice = false;

	if (!str_cut(part, '=', &key, &value) || !key.len || !value.len)
		return fail_query(q->text, part, "is no key=value, such as branch=main", err);
	const struct text *known = NAMED(texts, COUNT_OF(texts), key);
	if (known && known->text->p)
		return fail_query(q->text, part, TWICE, err);
	if (known) {
		*known->text = value;
		/* A run that could not be read is no baseline. */
		return known->text != &q->verdict ||
		       str_is_among(value, "pass warn fail inconclusive") ||
		       fail_query(q->text, part, "takes pass, warn, fail or inconclusive", err);
	}
	if (str_eq(key, STR("last"))) {
		if (q->last)
			return fail_query(q->text, part, TWICE, err);
		return (str_to_i64(value, &q->last) && q->last >= 1 &&
			       q->last <= HISTORY_MAX_LAST) ||
		       fail_query(q->text, part, "takes a number from 1 to 100", err);
	}
	for (ptrdiff_t i = 0; i < q->label_count; i++)
		is_twice |= str_cut(q->labels[i], '=', &before, &rest) && str_eq(before, key);
	*arena_push(keep, q->labels, q->label_count, q->label_cap) = part;
	return !is_twice || fail_query(q->text, part, TWICE, err);
}

bool history_query_parse(
	struct str word, struct arena *keep, struct history_query *ret, struct diag *err)
{
	assert(history_is_query(word));
	struct str rest = str_from_offset(word, QUERY.len), part;
	*ret = (struct history_query){ .text = word };
	for (bool more = rest.len > 0; more;) {
		more = str_cut(rest, ',', &part, &rest);
		if (!read_part(ret, part, keep, err))
			return false;
	}
	ret->last = ret->last ? ret->last : HISTORY_LAST;
	return true;
}

/* ---- baselines ------------------------------------------------------------------------------- */

/* As facts have it, for a window that ends then; without a date it has no end. */
static int64_t moment_of(struct str captured)
{
	int64_t ns;
	return captured.p && when_parse(captured, &ns) ? ns : INT64_MAX;
}

struct recalling {
	const struct history_query *query;
	const struct tables *head; /* the judged run */
	struct arena *keep;
	struct baselines *into;
	ptrdiff_t seen;	  /* runs of the workload before any filter */
	struct str *runs; /* identities of those looked at */
	ptrdiff_t run_count, cap;
	ptrdiff_t count; /* of those, what may be compared */
};

static bool has_label(struct str labels, struct str wanted)
{
	struct str label;
	while (str_next(&labels, ',', &label))
		if (str_eq(label, wanted))
			return true;
	return false;
}

static bool is_wanted(const struct recalling *r, const struct run_facts *f)
{
	const struct history_query *q = r->query;
	for (ptrdiff_t i = 0; i < q->label_count; i++)
		if (!has_label(f->labels, q->labels[i]))
			return false;
	return !NAMED(r->runs, r->run_count, f->run) &&
	       (!q->commit.p || str_eq(q->commit, f->commit_id)) &&
	       (!q->verdict.p || str_eq(q->verdict, f->verdict));
}

static struct baseline *add_item(
	const struct recalling *r, struct str name, const struct tables *tables)
{
	struct baseline *b = arena_push(r->keep, r->into->items, r->into->count, r->into->cap);
	*b = (struct baseline){ .name = name, .query = r->query->text, .tables = tables };
	return b;
}

/* A run that may not be compared is reported, and its tables are dropped. */
static bool add_run(struct recalling *r, const struct stored_run *run, struct diag *err)
{
	const struct run_facts *f = &run->facts;
	struct report_set set;
	struct diag why;
	struct arena before = *r->keep;
	struct str name = arena_fmt(r->keep, "%.*s of %.*s", STR_ARG(f->profile),
		STR_ARG(f->captured.p ? f->captured : STR("an unknown day")));
	struct str text = unpack(run->kept, r->keep);
	if (!text.p || !report_json_read(name, text, r->keep, &set, err) || set.count != 1)
		return diag_set(err, DIAG_STORE,
			"what the store keeps of %.*s is damaged; record into another one",
			STR_ARG(name));
	struct baseline item = { .name = name, .tables = &set.items[0].tables };
	bool fits = baseline_fits(r->head, &item, *r->keep, &why);
	if (!fits) {
		*r->keep = before;
		item = (struct baseline){ .name = arena_str(r->keep, str_from(why.text)) };
	}
	add_item(r, item.name, item.tables);
	r->count += fits;
	return true;
}

static bool is_enough(const struct recalling *r)
{
	return r->count >= r->query->last || r->run_count >= HISTORY_MAX_LOOKED;
}

static bool add_page(struct recalling *r, struct run_pages *p, struct diag *err)
{
	struct stored_run *asked[RUNS_KEPT_MAX];
	ptrdiff_t count = 0, next = 0;
	while (next < p->count && !is_enough(r)) {
		/* As many as may be needed, of those with kept bytes. */
		for (count = 0; next < p->count && !is_enough(r) && count < RUNS_KEPT_MAX &&
				r->count + count < r->query->last;
			next++) {
			const struct run_facts *f = &p->runs[next]->facts;
			if (!p->runs[next]->is_kept ||
				str_eq(f->run, table_rows(r->head, run)->fingerprint))
				continue;
			r->seen++;
			if (!is_wanted(r, f))
				continue;
			*arena_push(r->keep, r->runs, r->run_count, r->cap) =
				arena_str(r->keep, f->run);
			asked[count++] = p->runs[next];
		}
		if (!run_pages_kept(p, asked, count, err))
			return false;
		for (ptrdiff_t i = 0; i < count; i++)
			if (!add_run(r, asked[i], err))
				return false;
	}
	return true;
}

bool history_recall(struct store *store, const struct history_query *q, const struct tables *head,
	struct str shown, struct arena *keep, struct baselines *ret, struct diag *err)
{
	const struct run_row *run = table_rows(head, run);
	struct recalling r = { .query = q, .head = head, .keep = keep, .into = ret };
	struct str workload = q->workload.p ? q->workload : report_workload(shown, run->name);
	struct str until = report_moment(shown, run->name, run->captured, keep);
	struct run_pages p;
	bool ok = true;
	run_pages_open(&p, store, workload, 0, moment_of(until));
	while (!is_enough(&r) && (ok = run_pages_next(&p, err)) && p.count &&
		(ok = add_page(&r, &p, err)))
		;
	run_pages_close(&p);
	if (!ok)
		return false;
	if (r.run_count)
		return true;
	struct str why =
		r.seen ? arena_fmt(keep,
				 "of %td earlier runs of %.*s in the store, %.*s finds none",
				 r.seen, STR_ARG(workload), STR_ARG(q->text))
		       : arena_fmt(keep,
				 "the store holds no earlier run of %.*s that was recorded (check "
				 "--record)",
				 STR_ARG(workload));
	add_item(&r, why, NULL)->is_missing = true;
	return true;
}

/* ---- noise ----------------------------------------------------------------------------------- */

struct listening {
	struct str workload[3]; /* of the runs in x, with its chip and how many */
	double x[STORE_MEDIANS_RUNS];
	ptrdiff_t count;
	struct workload_noise *items;
	ptrdiff_t item_count, cap;
	struct arena *keep;
};

static void end_workload(struct listening *l)
{
	if (l->count)
		*arena_push(l->keep, l->items, l->item_count, l->cap) =
			workload_noise(l->x, l->count);
	l->count = 0;
}

static bool take_step(void *arg, const struct str *cells, struct diag *err)
{
	struct listening *l = arg;
	double step_time_s;
	bool is_same = l->count < STORE_MEDIANS_RUNS;
	(void)err;
	for (int i = 0; i < 3; i++)
		is_same = is_same && str_eq(cells[i], l->workload[i]);
	if (!is_same)
		end_workload(l);
	for (int i = 0; i < 3 && !is_same; i++)
		l->workload[i] = arena_str(l->keep, cells[i]);
	if (str_to_double(cells[3], &step_time_s))
		l->x[l->count++] = log(step_time_s);
	return true;
}

bool history_noise(struct store *store, const struct tables *head, struct str shown,
	struct arena *keep, struct noise_prior *ret, struct diag *err)
{
	const struct run_row *run = table_rows(head, run);
	struct listening l = { .keep = keep };
	struct str until = report_moment(shown, run->name, run->captured, keep);
	if (!store_medians(store, moment_of(until), take_step, &l, err))
		return false;
	end_workload(&l);
	noise_prior_fit(l.items, l.item_count, ret);
	return true;
}

/* ---- recording ------------------------------------------------------------------------------- */

static bool record_one(struct store *store, const struct report *r, struct str judge,
	void (*tell)(struct str line), struct arena *scratch, struct diag *err)
{
	struct run_facts facts;
	struct out *o = out_memory(scratch);
	struct report bare = *r;
	const struct report_set set = { &bare, 1, STR(ROOFLINT_VERSION) };
	report_facts(r, judge, STR(ROOFLINT_VERSION), scratch, &facts);
	if (r->error.text.p || !table_count(&r->tables, run))
		return store_append(store, &facts, MISSING, err);
	/* What a report.json of this run would say of it as a baseline, and nothing else. */
	bare.findings.count = bare.results.count = bare.notes.count = 0;
	bare.facts = NULL;
	bare.plots = (struct plots){ 0 };
	report_json_write(&set, scratch, o);
	struct str kept = pack(out_text(o), scratch);
	if (kept.len > STORE_KEPT_MAX) {
		tell(arena_fmt(scratch,
			"warning: %.*s is recorded, but is no baseline for later runs: its tables "
			"take %td bytes packed, and a store keeps %td",
			STR_ARG(r->profile), kept.len, STORE_KEPT_MAX));
		kept = MISSING;
	}
	return store_append(store, &facts, kept, err);
}

bool history_record(struct str store, const struct report_set *set, struct str judge,
	void (*tell)(struct str line), struct arena *keep, struct diag *err)
{
	struct connection archive;
	struct arena scratch = arena_new(ARENA_RUN_BYTES);
	bool ok = connection_open(&archive, store, STORE_WRITE, keep, err);
	for (ptrdiff_t i = 0; i < set->count && ok; i++) {
		ok = record_one(archive.store, &set->items[i], judge, tell, &scratch, err);
		arena_clear(&scratch);
	}
	ok = ok && connection_flush(&archive, err);
	connection_close(&archive);
	arena_free(&scratch);
	return ok;
}

/* ---- the run before -------------------------------------------------------------------------- */

static struct str branch_of(struct str labels)
{
	struct str label;
	while (str_next(&labels, ',', &label))
		if (str_take(&label, STR("branch=")))
			return label;
	return MISSING;
}

/* A run before that one, of its workload. */
static bool is_before(const struct run_facts *f, const struct run_facts *now, bool counts_itself)
{
	/* Of a run that could not be read no label is known, unless its job file could be. */
	bool knows_branch = (!f->error.p || f->labels.p) && (!now->error.p || now->labels.p);
	return str_eq(f->rules, now->rules) && (counts_itself || !str_eq(f->run, now->run)) &&
	       (!knows_branch || str_eq(branch_of(f->labels), branch_of(now->labels)));
}

/* Named and described as the run that it is held against, which finds it by that. */
static void add_state(struct report_set *into, const struct report *now, const struct run_facts *f,
	struct arena *keep)
{
	struct report *r = &into->items[into->count++];
	*r = (struct report){ .profile = now->profile,
		.facts = now->facts,
		.verdict = verdict_by_name(f->verdict),
		.gain_s = f->gain_s };
	if (f->error.p) {
		r->error.text = arena_str(keep, f->error);
		r->error.id = diag_by_name(f->error_id);
	}
	r->results.items = arena_make(keep, struct rule_result, run_rule_count(f));
	for (ptrdiff_t i = 0; i < run_rule_count(f); i++)
		r->results.items[r->results.count++] = (struct rule_result){
			.number = NO_NUMBER,
			.cost = NAN,
			.name = arena_str(keep, run_rules(f)[i].rule),
			.verdict = verdict_by_name(run_rules(f)[i].verdict),
		};
}

/* The newest one that a report's run follows, if there is one. */
static bool find_before(struct store *store, const struct report *now, bool counts_itself,
	struct arena *keep, struct report_set *into, struct diag *err)
{
	struct run_facts facts;
	struct run_pages p;
	bool ok = true, is_found = false;
	report_facts(now, STR(""), STR(""), keep, &facts);
	run_pages_open(&p, store, facts.workload, 0, moment_of(facts.captured));
	while (!is_found && (ok = run_pages_next(&p, err)) && p.count)
		for (ptrdiff_t i = 0; i < p.count && !is_found; i++)
			if (is_before(&p.runs[i]->facts, &facts, counts_itself)) {
				is_found = true;
				ok = run_pages_add(&p, &p.runs[i], 1, FACT_RULES, err);
				add_state(into, now, &p.runs[i]->facts, keep);
			}
	run_pages_close(&p);
	return ok;
}

bool history_previous(struct str store, const struct report_set *set, bool is_recorded,
	struct arena *keep, struct report_set *ret, struct diag *err)
{
	struct connection archive;
	*ret = (struct report_set){ .items = arena_make(keep, struct report, set->count) };
	bool ok = connection_open(&archive, store, STORE_READ, keep, err);
	for (ptrdiff_t i = 0; i < set->count && ok; i++)
		ok = find_before(archive.store, &set->items[i], is_recorded, keep, ret, err);
	connection_close(&archive);
	return ok;
}
