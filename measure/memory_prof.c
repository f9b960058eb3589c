/*
 * The table of what a snapshot saw alive: by device and the line of Python that made it.
 *
 * The line is the innermost one outside of installed packages, since below it every array comes
 * from the same lines of JAX.
 */
#include <math.h>

#include "base/stats.h"
#include "base/text.h"
#include "measure/op_source.h"
#include "measure/writers.h"
#include "profile/pprof.h"

/* Distinct lines kept of all snapshots; a large program has a few thousand. */
#define LIVE_MAX 20000

static bool is_of_packages(struct str file)
{
	return is_installed(file) || str_contains(file, STR("/jax/_src/"));
}

/* An empty frame of an empty stack. */
static const struct live_frame *frame_of(const struct live_site *s)
{
	static const struct live_frame none = { { 0 }, { 0 }, 0 };

	for (ptrdiff_t i = 0; i < s->frame_count; i++)
		if (s->frames[i].file.len > 0 && !is_of_packages(s->frames[i].file))
			return &s->frames[i];
	return s->frame_count > 0 ? &s->frames[0] : &none;
}

/* What a snapshot says of a line, by one stack. */
struct site {
	const struct live_snapshot *from;
	const struct live_site *said;
	const struct live_frame *frame;
	ptrdiff_t order; /* in which it was read */
};

/* Of one line of one device: all the same but for the sizes. */
static int line_cmp(const struct site *x, const struct site *y)
{
	int c = str_cmp(x->from->name, y->from->name);

	c = c ? c : str_cmp(x->said->device, y->said->device);
	c = c ? c : str_cmp(x->said->kind, y->said->kind);
	c = c ? c : str_cmp(x->frame->file, y->frame->file);
	return c ? c : order_integers(x->frame->line, y->frame->line);
}

static int site_cmp(const void *a, const void *b)
{
	const struct site *x = a, *y = b;
	int c = line_cmp(x, y);

	return c ? c : order_integers(x->order, y->order);
}

static struct live_row *row_new(const struct run *run, const struct site *of)
{
	struct live_row *row = table_new(run->tables, live, run->keep);
	const struct live_site *s = of->said;
	const struct live_frame *f = of->frame;
	struct op_source user = { .user_line = NAN };

	row->snapshot = text_clean(run->keep, of->from->name);
	row->device = s->device.p ? text_clean(run->keep, s->device) : s->device;
	row->kind = str_eq(s->kind, STR("buffer"))	 ? STR("buffer")
		    : str_eq(s->kind, STR("executable")) ? STR("executable")
							 : STR("other");
	row->count = row->bytes = 0;
	if (s->frame_count > 0)
		row->function = text_clean(run->keep, f->function);
	if (f->file.len > 0)
		row->source_file = text_clean(run->keep, f->file);
	if (f->line > 0)
		row->source_line = (double)f->line;
	for (ptrdiff_t i = 0; i < s->frame_count; i++)
		op_source_user(run, s->frames[i].file, (double)s->frames[i].line, &user);
	row->user_file = user.user_file;
	row->user_line = user.user_line;
	return row;
}

static int live_cmp(const void *a, const void *b)
{
	const struct live_row *x = a, *y = b;
	int c = str_cmp(x->snapshot, y->snapshot);

	c = c ? c : str_cmp(x->kind, y->kind);
	c = c ? c : str_cmp(x->device, y->device);
	c = c ? c : order_numbers(isnan(y->bytes) ? -1 : y->bytes, isnan(x->bytes) ? -1 : x->bytes);
	c = c ? c : str_cmp(x->source_file, y->source_file);
	c = c ? c
	      : order_numbers(isnan(x->source_line) ? 0 : x->source_line,
			isnan(y->source_line) ? 0 : y->source_line);
	return c ? c : str_cmp(x->function, y->function);
}

static struct site *sites_read(const struct run *run, ptrdiff_t *count)
{
	struct site *sites = NULL;
	ptrdiff_t cap = 0;

	*count = 0;
	for (ptrdiff_t h = 0; h < run->host_count; h++)
		for (ptrdiff_t i = 0; i < run->hosts[h].snapshot_count; i++) {
			const struct live_snapshot *s = &run->hosts[h].snapshots[i];
			if (s->why)
				diag_note(run->notes, run->keep, s->why->id, "%s", s->why->text);
			for (ptrdiff_t k = 0; k < s->site_count; k++)
				*arena_push(run->keep, sites, *count, cap) = (struct site){ s,
					&s->sites[k], frame_of(&s->sites[k]), *count - 1 };
		}
	sort_by(sites, *count, site_cmp);
	return sites;
}

bool fill_live(const struct run *run)
{
	ptrdiff_t count;
	const struct site *sites = sites_read(run, &count);
	struct live_row *row = NULL;
	bool is_whole = true;

	for (ptrdiff_t i = 0; i < count; i++) {
		bool is_new = i == 0 || line_cmp(&sites[i - 1], &sites[i]);
		is_whole = !is_new || table_count(run->tables, live) < LIVE_MAX;
		if (!is_whole)
			break;
		row = is_new ? row_new(run, &sites[i]) : row;
		row->count += (double)sites[i].said->count;
		/* An unknown size makes the sum unknown. */
		row->bytes += sites[i].said->bytes >= 0 ? (double)sites[i].said->bytes : NAN;
	}
	struct live_row *rows = table_rows(run->tables, live);
	ptrdiff_t n = table_count(run->tables, live);
	sort_by(rows, n, live_cmp);
	/* Rows of one device stand together; an unknown size makes its shares unknown. */
	for (ptrdiff_t i = 0, end; i < n; i = end) {
		double sum = 0;
		for (end = i; end < n && str_eq(rows[i].snapshot, rows[end].snapshot) &&
			      str_eq(rows[i].device, rows[end].device) &&
			      str_eq(rows[i].kind, rows[end].kind);
			end++)
			sum += rows[end].bytes;
		for (ptrdiff_t k = i; k < end && sum > 0; k++)
			rows[k].share = rows[k].bytes / sum;
	}
	return is_whole;
}
