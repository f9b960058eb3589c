/* The weekly report's files, and the pages of the runs that it names.  See audit.h. */
#include "cmd/audit.h"

/* ---- pages of single runs -------------------------------------------------------------------- */

/* Of the runs that lines of the page tell of, not of each of thousands. */
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

struct str audit_pages_below(const struct audit_settings *s)
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

bool audit_check_templates(const struct audit_settings *s, struct diag *err)
{
	struct arena scratch = arena_new(ARENA_SCRATCH_BYTES);
	bool ok = !s->html.p ||
		  (report_fleet_load(s->templates, &scratch, err) &&
			  (!s->pages.p || report_html_load(s->templates, &scratch, err)));
	arena_free(&scratch);
	return ok;
}

enum status audit_write(struct context *c, const struct audit_settings *s, struct audit *a)
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
