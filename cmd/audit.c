/*
 * rooflint audit: what a fleet wastes, where, whose it is, and what would give it back.
 */
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/task.h"
#include "base/when.h"
#include "cmd/shared.h"
#include "report/facts.h"
#include "report/fleet.h"
#include "session/batch.h"
#include "session/connection.h"
#include "session/deliver.h"
#include "session/known.h"
#include "store/address.h"

struct audit_settings {
	struct read_settings read;
	struct rule_settings rule;
	struct notify_settings notify;
	struct str since, until, store, usage, fleet, owner, html, pages, markdown, json, csv,
		openmetrics, facts, shard;
	struct str templates;
	int jobs;
	bool merge, owner_pages;
};

struct audit {
	struct arena *keep;
	struct ruleset rules;
	struct load_options options;
	struct shard shard;
	int jobs;
	struct connection connection; /* open when there is a --store */
	struct fleet *fleet;	      /* gets the facts where there is no --store */
	struct out *facts;	      /* --facts, or NULL */
	struct arena scratch;	      /* of the facts of one run */
	bool has_answers;	      /* in the report */
	bool is_partial;	      /* a ROOT could not be listed; it was told */
	bool is_full;		      /* the store took no more; err says why */
	struct str judge;
	struct str first_error; /* of a profile: said when there is nothing else to say */
	int64_t since_ns, until_ns, tomorrow_ns;
	int64_t newest_ns; /* of the runs that were taken; 0: none had a date */
	struct fleet_window window;
	struct fleet_report report;
	struct plan plan; /* whom the report is told */
	struct fleet_file file;
	struct fleet_pages pages; /* of --html, for owners' pages beside it */
	struct plan *routes;	  /* as many as the file has: whom an owner's part is told */
	struct diag err;
};

/* ---- judging --------------------------------------------------------------------------------- */

static bool take_facts(void *arg, const struct run_facts *f, struct diag *err)
{
	struct audit *a = arg;
	int64_t ns = 0;
	if (f->error.p && !a->first_error.p)
		a->first_error = arena_str(a->keep, f->error);
	if (when_parse(f->captured, &ns) && ns <= a->tomorrow_ns && ns > a->newest_ns)
		a->newest_ns = ns;
	if (a->facts)
		run_facts_write(f, a->facts);
	return a->connection.store ? store_append(a->connection.store, f, MISSING, err)
				   : fleet_take(a->fleet, f, err);
}

/* After a store failed nothing more is taken; what was judged until then is in it. */
static void take_reports(void *arg, const struct report_set *set)
{
	struct audit *a = arg;
	struct run_facts facts;
	for (ptrdiff_t i = 0; i < set->count && !a->is_full; i++) {
		report_facts(&set->items[i], a->judge, STR(ROOFLINT_VERSION), &a->scratch, &facts);
		a->is_full = !take_facts(a, &facts, &a->err);
		arena_clear(&a->scratch);
	}
}

/* What was judged does not wait for a large run that is still at work. */
static void flush(void *arg)
{
	struct audit *a = arg;
	a->is_full = a->is_full || !store_flush(a->connection.store, &a->err);
}

/* ---- judging roots --------------------------------------------------------------------------- */

/* A ROOT that cannot be listed is no run that cannot be read: what lies below it is unknown. */
static void tell_lost(void *arg, const struct diag *err)
{
	struct audit *a = arg;
	a->is_partial = true;
	print_error(err);
}

static bool judge_roots(struct audit *a, const struct list *roots)
{
	struct known known;
	struct report_set set;
	struct diag err;
	struct batch batch = {
		.rules = &a->rules, .options = &a->options, .workers = a->jobs, .give_up = give_up
	};
	batch.all_runs = true;
	batch.lost = tell_lost;
	batch.take = take_reports;
	batch.take_arg = a;
	batch.shard = a->shard;
	if (isatty(STDERR_FILENO))
		batch.progress = show_progress;
	if (a->connection.store)
		known_begin(&known, a->connection.store, a->judge, &batch);
	if (a->connection.store)
		batch.idle = flush;
	bool ok = batch_run(&batch, roots, a->keep, &set, &err);
	if (a->connection.store)
		known_end(&known);
	if (!ok)
		a->err = err;
	return ok && !a->is_full;
}

/* Facts from elsewhere. */
static bool merge_files(struct audit *a, const struct list *files)
{
	bool ok = true;
	for (ptrdiff_t i = 0; i < files->count && ok; i++) {
		struct input in;
		if (!input_open(files->items[i], a->keep, &in, &a->err))
			return false;
		ok = run_facts_read(&in, take_facts, a, &a->err) && input_check(&in, &a->err);
		input_close(&in);
	}
	return ok;
}

/* ---- the window ------------------------------------------------------------------------------ */

/*
 * The end of the window when the user names none: the newest capture.  The clock is asked for one
 * thing only, that a host whose clock is ahead does not move the window away from all the others.
 */
static bool find_newest(struct audit *a)
{
	if (!fleet_newest(a->fleet, a->connection.store, a->tomorrow_ns, &a->until_ns, &a->err))
		return false;
	/* A replica may answer before it has fetched what another one took. */
	if (a->connection.store && a->until_ns < a->newest_ns)
		return diag_set(&a->err, DIAG_STORE_SERVER,
			"the store does not show yet what was just put into it; try again when its "
			"replicas agree");
	return true;
}

/* Moments before 1970 do not exist. */
static struct str moment_before(struct audit *a, int64_t windows)
{
	int64_t end_ns = a->until_ns;
	int64_t begin = end_ns / a->since_ns < windows ? 0 : end_ns - windows * a->since_ns;
	return when_text(a->keep, begin);
}

static bool set_window(struct audit *a)
{
	if (!a->until_ns && !find_newest(a))
		return false;
	if (!a->until_ns)
		return diag_set(&a->err, DIAG_NO_PROFILE,
			"no run with a date was found, so there is no newest one to end the window "
			"at; give --until DATE%s%.*s",
			a->first_error.p ? "; what was found: " : "", STR_ARG(a->first_error));
	a->window.to = moment_before(a, 0);
	a->window.from = moment_before(a, 1);
	a->window.before = moment_before(a, 2);
	return true;
}

/* ---- pages of single runs -------------------------------------------------------------------- */

/* Of the runs that the page lists, not of each of thousands. */
struct pages {
	struct audit *audit;
	const struct doc_template *page;
	struct str dir;
	struct map wanted; /* runs */
	struct list profiles;
	struct fleet_pages written;
	struct arena scratch;
	bool ok;
};

static void want_all(struct pages *p)
{
	struct arena *keep = p->audit->keep;
	for (int id = 0; id < FLEET_COUNT; id++) {
		const struct fleet_answer *a = &p->audit->report.answers[id];
		for (ptrdiff_t i = 0; i < a->count && i < FLEET_LINES && id != FLEET_HISTORY; i++) {
			const struct fleet_row *row = &a->rows[i];
			if (!row->run.p || !row->profile.p ||
				map_get(&p->wanted, row->run) != MAP_NONE)
				continue;
			map_put(&p->wanted, row->run, 0, keep);
			list_add(&p->profiles, row->profile, keep);
		}
	}
}

static struct str run_of(const struct report *r)
{
	return r->facts ? r->facts->fingerprint : MISSING;
}

static bool write_page(struct pages *p, const struct report *r, struct str run)
{
	struct report one = *r;
	struct report_set set = { &one, 1, STR(ROOFLINT_VERSION) };
	struct diag err;
	struct str path = arena_fmt(&p->scratch, "%.*s/%.*s", STR_ARG(p->dir),
		STR_ARG(fleet_page_name(run, &p->scratch)));
	struct out *o = out_file(&p->scratch, path, &err);
	if (o) {
		report_html(&set, HTML_WHOLE, p->page, &p->scratch, o);
		if (out_close(o, &err))
			return true;
	}
	print_error(&err);
	return false;
}

/* A profile that changed or went away since it was judged has no page, and no link. */
static void take_pages(void *arg, const struct report_set *set)
{
	struct pages *p = arg;
	struct arena *keep = p->audit->keep;
	for (ptrdiff_t i = 0; i < set->count && p->ok; i++) {
		struct str run = run_of(&set->items[i]);
		if (!run.p || map_get(&p->wanted, run) == MAP_NONE)
			continue;
		p->ok = write_page(p, &set->items[i], run);
		if (map_get(&p->written.runs, run) == MAP_NONE)
			map_put(&p->written.runs, arena_str(keep, run), 0, keep);
		arena_clear(&p->scratch);
	}
}

/* --pages as the page at --html reaches it; missing when it does not lie below that directory. */
static struct str audit_pages_below(const struct audit_settings *s)
{
	struct str parent = str_head(s->html, str_rfind_char(s->html, '/') + 1), rest = s->pages;
	bool is_below = str_take(&rest, parent) && rest.len && !str_starts(rest, STR("/")) &&
			!str_starts(rest, STR(".."));
	return is_below ? rest : MISSING;
}

static bool write_pages(
	const struct audit_settings *s, struct audit *a, struct fleet_pages *ret, struct diag *err)
{
	struct pages p = { .audit = a, .dir = s->pages, .ok = true };
	p.page = report_html_load(s->templates, a->keep, err);
	struct report_set set;
	struct batch batch = {
		.rules = &a->rules, .options = &a->options, .workers = a->jobs, .give_up = give_up
	};
	if (!p.page || !out_folder(s->pages, a->keep, err))
		return false;
	p.scratch = arena_new(ARENA_SCRATCH_BYTES);
	want_all(&p);
	batch.keep_tables = batch.keep_plots = true;
	batch.take = take_pages;
	batch.take_arg = &p;
	bool ok = !p.profiles.count || batch_run(&batch, &p.profiles, a->keep, &set, err);
	arena_free(&p.scratch);
	*ret = p.written;
	ret->dir = audit_pages_below(s);
	return ok && (p.ok || diag_set(err, DIAG_OUTPUT, "not every run's page was written"));
}

/* ---- files ----------------------------------------------------------------------------------- */

/* In the order of writing: the page comes last, as it may judge its runs again. */
static const struct file_output {
	ptrdiff_t path; /* in the settings */
	/* NULL: the page, which has more to know. */
	void (*write)(const struct fleet_report *r, struct arena *keep, struct out *out);
} files[] = {
	{ offsetof(struct audit_settings, json), report_fleet_json },
	{ offsetof(struct audit_settings, csv), report_fleet_csv },
	{ offsetof(struct audit_settings, openmetrics), report_fleet_openmetrics },
	{ offsetof(struct audit_settings, markdown), report_fleet_markdown },
	{ offsetof(struct audit_settings, html), NULL },
};

/* "weekly-" beside weekly.html. */
static struct str owners_of(const struct audit_settings *s, struct arena *keep)
{
	struct str name = path_base(s->html);
	ptrdiff_t end = str_rfind_char(name, '.');
	return arena_fmt(keep, "%.*s-", STR_ARG(str_head(name, end > 0 ? end : name.len)));
}

/* What may fail is done before a file is touched; it is whole when it is closed. */
static bool write_output(struct context *c, const struct audit_settings *s, struct audit *a,
	struct str path, const struct file_output *file)
{
	const struct doc_template *page = NULL;
	struct fleet_pages pages = { 0 };
	struct arena scratch, of_file;
	bool is_stdout = str_eq(path, STR("-"));
	if (!file->write && (!(page = report_fleet_load(s->templates, a->keep, &a->err)) ||
				    (s->pages.p && !write_pages(s, a, &pages, &a->err))))
		return false;
	scratch = arena_new(ARENA_SCRATCH_BYTES);
	of_file = arena_new(ARENA_SCRATCH_BYTES);
	struct out *o = is_stdout ? c->out : out_file(&of_file, path, &a->err);
	if (o && file->write)
		file->write(&a->report, &scratch, o);
	if (s->owner_pages)
		pages.owners = owners_of(s, a->keep);
	if (o && !file->write)
		report_fleet_html(&a->report, &pages, page, &scratch, o);
	bool ok = o && (is_stdout || out_close(o, &a->err)); /* main closes standard output */
	if (ok && !file->write)
		a->pages = pages;
	arena_free(&of_file);
	arena_free(&scratch);
	return ok;
}

/* ---- owners ---------------------------------------------------------------------------------- */

/* weekly-vision.html beside weekly.html; of a URL, too. */
static struct str beside(struct str path, struct str owners, struct str owner, struct arena *keep)
{
	return arena_fmt(keep, "%.*s%.*s%.*s",
		STR_ARG(str_head(path, str_rfind_char(path, '/') + 1)), STR_ARG(owners),
		STR_ARG(fleet_page_name(owner, keep)));
}

static bool write_owner_page(const struct audit_settings *s, struct audit *a,
	const struct fleet_report *r, struct arena *keep)
{
	const struct doc_template *page = report_fleet_load(s->templates, keep, &a->err);
	struct str path = beside(s->html, a->pages.owners, r->owner, keep);
	struct out *o = page ? out_file(keep, path, &a->err) : NULL;
	if (o)
		report_fleet_html(r, &a->pages, page, keep, o);
	return o && out_close(o, &a->err);
}

/* One owner's part: a page beside the fleet's, and messages to whom routes name. */
static bool write_owner(const struct audit_settings *s, struct audit *a, struct str owner)
{
	struct arena part = arena_new(ARENA_SCRATCH_BYTES);
	struct fleet_report report;
	bool ok = fleet_ask_owner(a->fleet, owner, &part, &report, &a->err);
	report.tool_version = a->report.tool_version;
	ok = ok && (!s->owner_pages || write_owner_page(s, a, &report, &part));
	if (!ok)
		print_error(&a->err);
	for (ptrdiff_t i = 0; ok && i < a->file.route_count; i++) {
		struct plan plan = a->routes[i];
		struct message_source source = fleet_message(&report, &a->pages, &part);
		if (!str_eq(a->file.routes[i].owner, owner))
			continue;
		if (plan.report_url.p && s->owner_pages)
			plan.report_url = beside(plan.report_url, a->pages.owners, owner, &part);
		ok = !plan_deliver(&plan, &source, &part);
	}
	arena_free(&part);
	return ok;
}

/* Those of the report, and those of the routes, who may have nothing but what is missing. */
static bool write_owners(const struct audit_settings *s, struct audit *a)
{
	const struct fleet_answer *of = &a->report.answers[FLEET_BY_OWNER];
	struct map seen = { 0 };
	bool ok = true;
	for (ptrdiff_t i = 0; !s->owner.p && i < of->count + a->file.route_count; i++) {
		bool is_row = i < of->count;
		struct str owner = is_row ? fleet_cell(of, i, STR("group"))->text
					  : a->file.routes[i - of->count].owner;
		bool is_named = !is_row || !str_eq(owner, STR("unknown"));
		if (!is_named || map_get(&seen, owner) != MAP_NONE || (is_row && !s->owner_pages))
			continue;
		map_put(&seen, owner, 0, a->keep);
		ok &= write_owner(s, a, owner);
	}
	return ok;
}

/* Templates are read before anything is judged, since somebody may have edited them. */
static bool audit_check_templates(const struct audit_settings *s, struct diag *err)
{
	struct arena scratch = arena_new(ARENA_SCRATCH_BYTES);
	bool ok = !s->html.p ||
		  (report_fleet_load(s->templates, &scratch, err) &&
			  (!s->pages.p || report_html_load(s->templates, &scratch, err)));
	arena_free(&scratch);
	return ok;
}

/* Every output that was asked for. */
static enum status audit_write(struct context *c, const struct audit_settings *s, struct audit *a)
{
	bool delivered = true, takes_stdout = false;
	for (ptrdiff_t i = 0; i < COUNT_OF(files); i++) {
		struct str path = *(const struct str *)((const char *)s + files[i].path);
		if (!path.p)
			continue;
		takes_stdout |= str_eq(path, STR("-"));
		if (write_output(c, s, a, path, &files[i]))
			continue;
		print_error(&a->err);
		delivered = false;
	}
	if (!takes_stdout)
		report_fleet_text(&a->report, a->keep, c->out);
	out_flush(c->out); /* what is written is seen before servers answer */
	struct message_source source = fleet_message(&a->report, &a->pages, a->keep);
	delivered &= !plan_deliver(&a->plan, &source, a->keep);
	delivered &= write_owners(s, a);
	return delivered ? STATUS_OK : STATUS_DELIVERY;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool gather(struct audit *a, const struct audit_settings *s, const struct list *args)
{
	bool ok = true;
	if (s->facts.p && !(a->facts = out_file(a->keep, s->facts, &a->err)))
		return false;
	a->scratch = arena_new(ARENA_SCRATCH_BYTES);
	if (args->count)
		ok = (s->merge ? merge_files : judge_roots)(a, args);
	arena_free(&a->scratch);
	ok = ok && connection_flush(&a->connection, &a->err);
	/* A part that is not whole has no file: a merge would take it for a whole one. */
	return ok && (!a->facts || a->is_partial || out_close(a->facts, &a->err));
}

static bool ask(struct audit *a, struct str owner)
{
	if (!set_window(a) ||
		!fleet_ask(a->fleet, a->connection.store, &a->window, a->judge, a->keep, &a->report,
			&a->err) ||
		(owner.p && !fleet_ask_owner(a->fleet, owner, a->keep, &a->report, &a->err)))
		return false;
	a->report.tool_version = STR(ROOFLINT_VERSION);
	a->has_answers = true;
	return true;
}

/* What the command line says, checked before anything is judged. */
static bool audit_prepare(
	struct context *c, struct audit *a, const struct audit_settings *s, ptrdiff_t args)
{
	struct timespec now;
	a->since_ns = INT64_C(7) * 86400 * 1000000000;
	if (s->since.p && !span_parse(s->since, &a->since_ns))
		return diag_set(&a->err, DIAG_USAGE,
			"--since takes a span above zero, like 7d, 36h or 4w, not '%.*s'",
			STR_ARG(s->since));
	if (s->until.p && (!when_parse(s->until, &a->until_ns) || !a->until_ns))
		return diag_set(&a->err, DIAG_USAGE,
			"--until takes a date or a moment in UTC, like 2026-11-20 or "
			"2026-11-20T06:00:00Z, not '%.*s'",
			STR_ARG(s->until));
	clock_gettime(CLOCK_REALTIME, &now);
	a->tomorrow_ns = ((int64_t)now.tv_sec + 86400) * 1000000000;
	if (s->shard.p && !shard_parse(s->shard, &a->shard, &a->err))
		return false;
	bool is_shard = a->shard.count > 0;
	const struct {
		bool is_made;
		const char *text;
	} mistakes[] = {
		{ !args && !s->store.p,
			"nothing to audit: name a ROOT with profiles, or a --store with facts" },
		{ s->facts.p && s->store.p && !s->merge,
			"--facts has what is judged now, and runs that the --store has are not "
			"judged again; give one of them" },
		{ s->owner_pages && (!s->html.p || str_eq(s->html, STR("-"))),
			"--owner-pages lie beside the file of --html, and none is named" },
		{ s->pages.p && !s->html.p, "--pages is for runs that the --html links to" },
		{ s->pages.p && s->html.p && !audit_pages_below(s).p,
			"--pages lies in the directory of --html, so that links between them hold "
			"wherever both are moved" },
		{ is_shard && !s->store.p && !s->facts.p,
			"a shard's work goes to a --store or into a --facts file, and neither is "
			"given" },
		{ is_shard && s->notify.to.count,
			"--notify reports on the whole fleet, and a shard is a part of it; give it "
			"where the shards are merged" },
	};
	for (ptrdiff_t i = 0; i < COUNT_OF(mistakes); i++)
		if (mistakes[i].is_made)
			return diag_set(&a->err, DIAG_USAGE, "%s", mistakes[i].text);
	bool ok = load_judge(load_engine(c, &a->err), &s->rule, &s->read, a->jobs, a->keep,
		&a->rules, &a->options, &a->err);
	/* A fleet's jobs are of many repositories, whose files have the same names. */
	a->options.measure.checkout = MISSING;
	return ok && audit_check_templates(s, &a->err) &&
	       plan_make(&s->notify, &a->rules, s->templates, false, print_line, a->keep, &a->plan,
		       &a->err);
}

static bool read_usage(struct audit *a, struct str path)
{
	struct str text;
	return !path.p || (input_text(path, JSON_MAX_BYTES, a->keep, &text, &a->err) &&
				  fleet_usage(a->fleet, path, text, &a->err));
}

/* The same spool and links as --notify has. */
static bool make_routes(struct audit *a, const struct audit_settings *s)
{
	struct notify_settings notify = s->notify;
	a->routes = arena_make(a->keep, struct plan, a->file.route_count);
	for (ptrdiff_t i = 0; i < a->file.route_count; i++) {
		notify.to = (struct list){ &a->file.routes[i].notify, 1, 1 };
		if (!plan_make(&notify, &a->rules, s->templates, false, print_line, a->keep,
			    &a->routes[i], &a->err))
			return false;
	}
	return true;
}

static bool read_fleet(struct audit *a, const struct audit_settings *s)
{
	struct str text;
	return !s->fleet.p ||
	       (input_text(s->fleet, JSON_MAX_BYTES, a->keep, &text, &a->err) &&
		       fleet_file_parse(s->fleet, text, a->keep, &a->file, &a->err) &&
		       fleet_expect(a->fleet, &a->file, &a->err) && make_routes(a, s));
}

static bool audit_open(struct audit *a, const struct audit_settings *s, ptrdiff_t args)
{
	struct str place = s->store;
	bool is_file = place.p && !address_is_remote(place);
	a->judge = judge_identity(&a->rules, &s->read, a->keep);
	/* One that nothing is put into is not made, only to be empty: its name may be misspelt. */
	if (!args && is_file && access(arena_z(a->keep, place), F_OK))
		return diag_set(&a->err, DIAG_STORE,
			"store '%.*s' is not there, and no ROOT is named to fill it from",
			STR_ARG(place));
	if (place.p && !connection_open(&a->connection, place, args ? STORE_WRITE : STORE_READ,
			       a->keep, &a->err))
		return false;
	if (!(a->fleet = fleet_new(a->keep, &a->err)))
		return false;
	return read_usage(a, s->usage) && read_fleet(a, s);
}

/* The first that applies: a broken budget, what is missing, what could not be delivered. */
static enum status audit_status(struct audit *a, enum status status)
{
	if (a->has_answers && fleet_said(&a->report, SAID_budget, a->keep).p)
		return STATUS_RULE;
	return a->is_partial || (a->has_answers && fleet_is_silent(&a->report)) ? STATUS_PROFILE
										: status;
}

/* A shard sees a part, and a report on a part would be taken for one on the whole. */
static enum status audit_run(struct context *c, const void *settings, const struct list *args)
{
	const struct audit_settings *s = settings;
	struct audit *a = arena_make(c->keep, struct audit, 1);
	enum status status = STATUS_OK;
	a->keep = c->keep;
	a->jobs = s->jobs ? s->jobs : task_cpus();
	if (!audit_prepare(c, a, s, args->count))
		return misused(&a->err);
	if (!audit_open(a, s, args->count))
		status = misused(&a->err);
	else if (!gather(a, s, args))
		status = fail(&a->err);
	else if (!a->shard.count && !ask(a, s->owner))
		/* That there is nothing to ask of follows from what was told of a ROOT. */
		status = a->is_partial && a->err.id == DIAG_NO_PROFILE ? STATUS_PROFILE
								       : fail(&a->err);
	else if (!a->shard.count)
		status = audit_write(c, s, a);
	if (status != STATUS_USAGE)
		status = audit_status(a, status);
	fleet_free(a->fleet);
	connection_close(&a->connection);
	return status;
}

#define AT(member) offsetof(struct audit_settings, member)
static const struct option audit_options[] = {
	{ "since", 0, OPTION_TEXT, AT(since), "SPAN",
		"length of the window, like 36h or 4w; by default 7d" },
	{ "until", 0, OPTION_TEXT, AT(until), "MOMENT",
		"end of the window in UTC, like 2026-11-20; by default when the newest run was "
		"captured" },
	{ "store", 0, OPTION_TEXT, AT(store), STORE_ARGUMENT,
		"keep facts there and report on all of them: history from week to week; runs that "
		"it has are not judged again; a file, or clickhouses://HOST/DATABASE "
		"(docs/fleet.md)" },
	{ "usage", 0, OPTION_TEXT, AT(usage), "FILE",
		"chip-hours of each workload and their price, as CSV: no profile knows them" },
	{ "fleet", 0, OPTION_TEXT, AT(fleet), "FILE",
		"what is expected to come, which silence is known, and earlier names of workloads "
		"(docs/fleet.md)" },
	{ "owner", 0, OPTION_TEXT, AT(owner), "NAME",
		"report on the runs of one owner, as job files name them" },
	{ "html", 0, OPTION_TEXT, AT(html), "FILE", "write the report as a page" },
	{ "owner-pages", 0, OPTION_FLAG, AT(owner_pages), NULL,
		"write a page for each owner beside it, like weekly-vision.html" },
	{ "pages", 0, OPTION_TEXT, AT(pages), "DIR",
		"write the pages of the runs that it names, and link to them" },
	{ "markdown", 0, OPTION_TEXT, AT(markdown), "FILE", "write it as Markdown" },
	{ "json", 0, OPTION_TEXT, AT(json), "FILE", "write it as JSON, every answer in full" },
	{ "csv", 0, OPTION_TEXT, AT(csv), "FILE", "write the ranking as CSV" },
	{ "openmetrics", 0, OPTION_TEXT, AT(openmetrics), "FILE",
		"write totals and the ranking as OpenMetrics text" },
	{ "facts", 0, OPTION_TEXT, AT(facts), "FILE",
		"write the facts of the runs that were judged or merged, as `rooflint facts` "
		"does" },
	{ "merge", 0, OPTION_FLAG, AT(merge), NULL,
		"the arguments are files of facts, of shards or of jobs that upload no profiles" },
	{ "shard", 0, OPTION_TEXT, AT(shard), "I/N|auto",
		"judge one part of N, balanced by size, and write no report; auto asks GitLab, "
		"Buildkite, Slurm or Kubernetes" },
	{ "jobs", 'j', OPTION_NUMBER, AT(jobs), "N",
		"worker processes; by default one per processor" },
	{ "templates", 0, OPTION_TEXT, AT(templates), "DIR",
		"templates of pages and messages that replace built-in ones (docs/templates.md, "
		"docs/notify.md)" },
	NOTIFY_OPTIONS(struct audit_settings, "notify", "notify-when",
		"tell a notification of the rule file, or KIND:VARIABLE (rooflint notify --help), "
		"what the report says; may be repeated"),
	RULE_OPTIONS(struct audit_settings),
	READ_OPTIONS(struct audit_settings),
	OPTIONS_END,
};

const struct command audit_command = {
	.name = "audit",
	.arguments = "[ROOT...]",
	.summary = "what a fleet wastes in a week, where, whose it is, and what gives it back",
	.details =
		"Judges every run below each ROOT and reports on those captured in the window: "
		"coverage, how near to its roofline the fleet runs, what would give back most, the "
		"rules whose findings cost most, movers, change points, new and fixed problems. "
		"The "
		"window before is compared with. docs/fleet.md says how each number is made.\n"
		"\n"
		"A profile that cannot be read is a line in the coverage. Money and chip-hours "
		"appear only with --usage. The same facts give the same bytes, in whatever order "
		"and in however many shards they came.\n"
		"\n"
		"The exit status is 0 whatever the rules say, 2 for what was given wrongly, 1 when "
		"a budget of --fleet is broken, 3 when "
		"no run was found in the window, a ROOT could not be listed, or what --fleet "
		"expects or whom it names did not come, 5 when an output could not be written or a "
		"required message "
		"delivered.",
	.options = audit_options,
	.most = -1,
	.settings_bytes = sizeof(struct audit_settings),
	.run = audit_run,
};
