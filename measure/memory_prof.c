/*
 * The table of what a snapshot saw alive: by device and the line of Python that made it.
 *
 * The line is the innermost one outside of installed packages, since below it every array comes
 * from the same lines of JAX.
 */
#include <math.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/text.h"
#include "measure/op_key.h"
#include "measure/writers.h"
#include "profile/pprof.h"

/* Distinct lines kept of all snapshots; a large program has a few thousand. */
#define LIVE_MAX 20000

static bool is_installed(struct str file)
{
	return str_contains(file, STR("/site-packages/")) ||
	       str_contains(file, STR("/dist-packages/")) || str_contains(file, STR("/jax/_src/"));
}

/* An empty frame of an empty stack. */
static const struct live_frame *frame_of(const struct live_site *s)
{
	static const struct live_frame none = { { 0 }, { 0 }, 0 };

	for (ptrdiff_t i = 0; i < s->frame_count; i++)
		if (s->frames[i].file.len > 0 && !is_installed(s->frames[i].file))
			return &s->frames[i];
	return s->frame_count > 0 ? &s->frames[0] : &none;
}

static struct live_row *row_new(const struct capture *in, struct tables *tables,
	const struct live_snapshot *from, const struct live_site *s)
{
	struct live_row *row = table_new(tables, live, in->keep);
	const struct live_frame *f = frame_of(s);
	struct op_source user = { .user_line = NAN };

	row->snapshot = text_clean(in->keep, from->name);
	row->device = s->device.p ? text_clean(in->keep, s->device) : s->device;
	row->kind = str_eq(s->kind, STR("buffer"))	 ? STR("buffer")
		    : str_eq(s->kind, STR("executable")) ? STR("executable")
							 : STR("other");
	row->count = row->bytes = 0;
	if (s->frame_count > 0)
		row->function = text_clean(in->keep, f->function);
	if (f->file.len > 0)
		row->source_file = text_clean(in->keep, f->file);
	if (f->line > 0)
		row->source_line = (double)f->line;
	for (ptrdiff_t i = 0; i < s->frame_count; i++)
		op_source_user(in, s->frames[i].file, (double)s->frames[i].line, &user);
	row->user_file = user.user_file;
	row->user_line = user.user_line;
	return row;
}

/* An unknown size makes the sum unknown. */
static bool add_site(const struct capture *in, struct tables *tables, struct map *index,
	const struct live_snapshot *from, const struct live_site *s)
{
	const struct live_frame *f = frame_of(s);
	struct str key = arena_fmt(in->keep, "%.*s\n%.*s\n%.*s\n%.*s\n%lld", STR_ARG(from->name),
		STR_ARG(s->device), STR_ARG(s->kind), STR_ARG(f->file), (long long)f->line);
	int32_t next = (int32_t)table_count(tables, live);
	int32_t at = next < LIVE_MAX ? map_put(index, key, next, in->keep) : map_get(index, key);

	if (at == MAP_NONE)
		return false;
	struct live_row *row =
		at == next ? row_new(in, tables, from, s) : &table_rows(tables, live)[at];
	row->count += (double)s->count;
	row->bytes += s->bytes >= 0 ? (double)s->bytes : NAN;
	return true;
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

bool fill_live(const struct capture *in, struct tables *tables)
{
	struct map index = { 0 };
	bool whole = true;

	for (ptrdiff_t h = 0; h < in->host_count; h++)
		for (ptrdiff_t i = 0; i < in->hosts[h].snapshot_count; i++) {
			const struct live_snapshot *s = &in->hosts[h].snapshots[i];
			if (s->why)
				diag_note(in->notes, in->keep, s->why->id, "%s", s->why->text);
			for (ptrdiff_t k = 0; k < s->site_count; k++)
				whole &= add_site(in, tables, &index, s, &s->sites[k]);
		}
	struct live_row *rows = table_rows(tables, live);
	ptrdiff_t n = table_count(tables, live);
	if (n > 1)
		qsort(rows, (size_t)n, sizeof(*rows), live_cmp);
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
	return whole;
}
