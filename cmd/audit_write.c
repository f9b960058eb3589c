/* The weekly report's files, and the pages of the runs that it names.  See audit.h. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/audit.h"

/* ---- pages of single runs -------------------------------------------------------------------- */

/* Of the runs that lines of the page tell of, not of each of thousands. */
struct pages {
	struct audit *audit;
	const struct page_template *page;
	struct str dir;
	struct map wanted; /* runs */
	struct list profiles;
	struct fleet_pages written;
	struct arena scratch;
	bool ok;
};

static void want(struct pages *p, const struct fleet_row *row)
{
	struct arena *keep = p->audit->keep;
	if (!row->run.p || !row->profile.p || map_get(&p->wanted, row->run) != MAP_NONE)
		return;
	map_put(&p->wanted, row->run, 0, keep);
	*arena_push(keep, p->profiles.items, p->profiles.count, p->profiles.cap) = row->profile;
}

static void want_all(struct pages *p)
{
	for (int id = 0; id < FLEET_COUNT; id++) {
		const struct fleet_answer *a = &p->audit->report.answers[id];
		for (ptrdiff_t i = 0; i < a->count && i < FLEET_LINES; i++)
			if (id != FLEET_HISTORY)
				want(p, &a->rows[i]);
	}
}

static struct str run_of(const struct report *r)
{
	for (ptrdiff_t i = 0; i < r->fact_count; i++)
		if (str_eq(r->facts[i].name, STR("fingerprint")))
			return r->facts[i].text;
	return (struct str){ NULL, 0 };
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
		report_html(&set, p->page, &p->scratch, o);
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

static bool make_dir(struct str dir, struct arena *keep, struct diag *err)
{
	if (!mkdir(arena_z(keep, dir), 0777) || errno == EEXIST)
		return true;
	return diag_set(err, DIAG_OUTPUT, "cannot make the directory '%.*s': %s", STR_ARG(dir),
		strerror(errno));
}

static bool judge_again(struct pages *p, struct diag *err)
{
	struct audit *a = p->audit;
	struct report_set set;
	struct batch batch = {
		.rules = &a->rules, .options = &a->options, .workers = a->jobs, .give_up = give_up
	};
	batch.keep_tables = batch.keep_plots = true;
	batch.take = take_pages;
	batch.take_arg = p;
	return !p->profiles.count || batch_run(&batch, &p->profiles, a->keep, &set, err);
}

struct str audit_pages_below(const struct audit_settings *s)
{
	struct str parent = str_head(s->html, str_rfind_char(s->html, '/') + 1), rest = s->pages;
	bool is_below = str_take(&rest, parent) && rest.len && !str_starts(rest, STR("/")) &&
			!str_starts(rest, STR(".."));
	return is_below ? rest : (struct str){ NULL, 0 };
}

static bool write_pages(
	const struct audit_settings *s, struct audit *a, struct fleet_pages *ret, struct diag *err)
{
	struct pages p = { .audit = a, .dir = s->pages, .ok = true };
	p.page = report_html_load(s->templates, a->keep, err);
	if (!p.page || !make_dir(s->pages, a->keep, err))
		return false;
	p.scratch = arena_new(ARENA_SCRATCH_BYTES);
	want_all(&p);
	bool ok = judge_again(&p, err);
	arena_free(&p.scratch);
	*ret = p.written;
	ret->dir = audit_pages_below(s);
	return ok && (p.ok || diag_set(err, DIAG_OUTPUT, "not every run's page was written"));
}

/* ---- files ----------------------------------------------------------------------------------- */

/* What a page needs beside the report. */
struct page_parts {
	const struct page_template *template;
	struct fleet_pages pages;
};

/* What may fail is done before a file is touched. */
static bool prepare_html(
	const struct audit_settings *s, struct audit *a, struct page_parts *ret, struct diag *err)
{
	ret->template = report_fleet_load(s->templates, a->keep, err);
	return ret->template && (!s->pages.p || write_pages(s, a, &ret->pages, err));
}

static void put_html(const struct fleet_report *r, const struct page_parts *parts,
	struct arena *scratch, struct out *out)
{
	report_fleet_html(r, &parts->pages, parts->template, scratch, out);
}

static void put_markdown(const struct fleet_report *r, const struct page_parts *parts,
	struct arena *scratch, struct out *out)
{
	(void)parts;
	report_fleet_markdown(r, scratch, out);
}

static void put_json(const struct fleet_report *r, const struct page_parts *parts,
	struct arena *scratch, struct out *out)
{
	(void)parts;
	(void)scratch;
	report_fleet_json(r, out);
}

static void put_csv(const struct fleet_report *r, const struct page_parts *parts,
	struct arena *scratch, struct out *out)
{
	(void)parts;
	report_fleet_csv(r, scratch, out);
}

static const struct output {
	ptrdiff_t path; /* in the settings */
	/* NULL: nothing is needed. */
	bool (*prepare)(const struct audit_settings *s, struct audit *a, struct page_parts *ret,
		struct diag *err);
	void (*put)(const struct fleet_report *r, const struct page_parts *parts,
		struct arena *scratch, struct out *out);
} outputs[] = {
	{ offsetof(struct audit_settings, json), NULL, put_json },
	{ offsetof(struct audit_settings, csv), NULL, put_csv },
	{ offsetof(struct audit_settings, markdown), NULL, put_markdown },
	{ offsetof(struct audit_settings, html), prepare_html, put_html },
};

/* A file is there when it is closed, and whole; main closes standard output. */
static bool put_output(struct context *c, const struct audit *a, struct str path,
	const struct output *output, const struct page_parts *parts, struct diag *err)
{
	bool is_stdout = str_eq(path, STR("-"));
	struct arena scratch = arena_new(ARENA_SCRATCH_BYTES);
	struct arena of_file = arena_new(ARENA_SCRATCH_BYTES);
	struct out *o = is_stdout ? c->out : out_file(&of_file, path, err);
	if (o)
		output->put(&a->report, parts, &scratch, o);
	bool ok = o && (is_stdout || out_close(o, err));
	arena_free(&of_file);
	arena_free(&scratch);
	return ok;
}

static bool write_output(struct context *c, const struct audit_settings *s, struct audit *a,
	const struct output *output, bool *takes_stdout)
{
	struct str path = *(const struct str *)(const void *)((const char *)s + output->path);
	struct page_parts parts = { 0 };
	if (!path.p)
		return true;
	*takes_stdout |= str_eq(path, STR("-"));
	if ((!output->prepare || output->prepare(s, a, &parts, &a->err)) &&
		put_output(c, a, path, output, &parts, &a->err))
		return true;
	print_error(&a->err);
	return false;
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
	for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++)
		delivered &= write_output(c, s, a, &outputs[i], &takes_stdout);
	if (!takes_stdout)
		report_fleet_text(&a->report, a->keep, c->out);
	out_flush(c->out); /* nobody waits for servers to see what is written */
	struct message_source source = fleet_message(&a->report);
	delivered &= !plan_deliver(&a->plan, &source, a->keep);
	return delivered ? STATUS_OK : STATUS_DELIVERY;
}
