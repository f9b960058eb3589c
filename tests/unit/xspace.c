/* Writing XSpaces and measuring them.  See xspace.h. */
#include "tests/unit/xspace.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "profile/xplane.h"

#define PS_PER_US 1000000

/* Texts numbered from 1 in the order they came. */
struct names {
	struct str *items;
	ptrdiff_t count, cap;
};

struct xline {
	struct xplane *plane;
	const char *name;
	int64_t id, timestamp_us;
	struct pb events;
};

struct xplane {
	struct arena *keep;
	const char *name;
	struct xline **lines;
	ptrdiff_t line_count, line_cap;
	struct names events, stats;
	struct pb event_metadata, stat_metadata, own_stats;
};

struct xspace {
	struct arena *keep;
	struct xplane **planes;
	ptrdiff_t plane_count, plane_cap;
	struct pb behind; /* the planes */
};

/* ---- stats ----------------------------------------------------------------------------------- */

struct xstat x_int(const char *name, int64_t value)
{
	return (struct xstat){ .name = name, .type = XSTAT_IS_INT, .number = value };
}

struct xstat x_unnamed(void)
{
	return (struct xstat){ .name = "", .type = XSTAT_IS_INT };
}

struct xstat x_real(const char *name, double value)
{
	return (struct xstat){ .name = name, .type = XSTAT_IS_REAL, .real = value };
}

struct xstat x_text(const char *name, const char *value)
{
	return (struct xstat){ .name = name, .type = XSTAT_IS_TEXT, .text = str_from(value) };
}

struct xstat x_ref(const char *name, const char *value)
{
	return (struct xstat){ .name = name,
		.type = XSTAT_IS_REF,
		.text = value ? str_from(value) : (struct str){ 0 } };
}

struct xstat x_bytes(const char *name, struct str value)
{
	return (struct xstat){ .name = name, .type = XSTAT_IS_BYTES, .text = value };
}

/* The number of a text, and whether it is new. */
static int64_t names_add(struct names *n, struct arena *keep, struct str text, bool *is_new)
{
	*is_new = false;
	for (ptrdiff_t i = 0; i < n->count; i++)
		if (str_eq(n->items[i], text))
			return i + 1;
	*is_new = true;
	*arena_push(keep, n->items, n->count, n->cap) = text;
	return n->count;
}

static void map_add(struct pb *b, int field, int64_t key, struct str value)
{
	struct pb entry = pb_new(b->keep);

	pb_int(&entry, MAP_KEY, key);
	pb_bytes(&entry, MAP_VALUE, value);
	pb_bytes(b, field, pb_done(&entry));
}

#define NOT_IN_THE_FILE 999999 /* the id of no metadata */

static int64_t stat_id(struct xplane *p, struct str name)
{
	bool is_new;
	int64_t id = names_add(&p->stats, p->keep, name, &is_new);

	if (is_new) {
		struct pb b = pb_new(p->keep);
		pb_int(&b, XMETADATA_ID, id);
		pb_bytes(&b, XMETADATA_NAME, name);
		map_add(&p->stat_metadata, XPLANE_STAT_METADATA, id, pb_done(&b));
	}
	return id;
}

static void pb_double(struct pb *b, int field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	pb_varint(b, (uint64_t)field << 3 | WIRE_I64);
	for (int i = 0; i < 8; i++) {
		char byte = (char)(bits >> (8 * i) & 0xff);
		pb_raw(b, (struct str){ &byte, 1 });
	}
}

static struct str stat_write(struct xplane *p, const struct xstat *s)
{
	struct pb b = pb_new(p->keep);

	pb_int(&b, XSTAT_METADATA_ID, s->name[0] ? stat_id(p, str_from(s->name)) : NOT_IN_THE_FILE);
	switch (s->type) {
	case XSTAT_IS_INT:
		pb_int(&b, XSTAT_INT64, s->number);
		break;
	case XSTAT_IS_REAL:
		pb_double(&b, XSTAT_DOUBLE, s->real);
		break;
	case XSTAT_IS_TEXT:
		pb_bytes(&b, XSTAT_STR, s->text);
		break;
	case XSTAT_IS_REF:
		pb_int(&b, XSTAT_REF, s->text.p ? stat_id(p, s->text) : NOT_IN_THE_FILE);
		break;
	case XSTAT_IS_BYTES:
		pb_bytes(&b, XSTAT_BYTES, s->text);
		break;
	}
	return pb_done(&b);
}

static void stats_write(struct xplane *p, struct pb *into, int field, const struct xstat *stats)
{
	for (; stats && stats->name; stats++)
		pb_bytes(into, field, stat_write(p, stats));
}

/* ---- planes, lines, events ------------------------------------------------------------------- */

struct xspace *xspace_new(struct arena *keep)
{
	struct xspace *x = arena_make(keep, struct xspace, 1);

	x->keep = keep;
	x->behind = pb_new(keep);
	return x;
}

void x_error(struct xspace *x, const char *text)
{
	pb_text(&x->behind, XSPACE_ERRORS, text);
}

void x_hostname(struct xspace *x, const char *name)
{
	pb_text(&x->behind, XSPACE_HOSTNAMES, name);
}

void x_behind(struct xspace *x, struct str plane)
{
	pb_bytes(&x->behind, XSPACE_PLANES, plane);
}

struct xplane *x_plane(struct xspace *x, const char *name, const struct xstat *stats)
{
	struct xplane *p = arena_make(x->keep, struct xplane, 1);

	*arena_push(x->keep, x->planes, x->plane_count, x->plane_cap) = p;
	p->keep = x->keep;
	p->name = name;
	p->event_metadata = pb_new(x->keep);
	p->stat_metadata = pb_new(x->keep);
	p->own_stats = pb_new(x->keep);
	stats_write(p, &p->own_stats, XPLANE_STATS, stats);
	return p;
}

struct xline *x_line(struct xplane *p, const char *name)
{
	struct xline *l = arena_make(p->keep, struct xline, 1);

	*arena_push(p->keep, p->lines, p->line_count, p->line_cap) = l;
	l->plane = p;
	l->name = name;
	l->id = p->line_count;
	l->events = pb_new(p->keep);
	return l;
}

void x_line_at(struct xline *l, int64_t timestamp_us)
{
	if (l->events.len > 0)
		fail_msg("line %s has events already", l->name);
	l->timestamp_us = timestamp_us;
}

/* Events call an instruction by its short name, so that is what is remembered. */
void x_name(struct xplane *p, const char *name, const char *display_name, const struct xstat *stats)
{
	struct pb b = pb_new(p->keep);
	bool is_new;
	int64_t id = names_add(
		&p->events, p->keep, str_from(display_name ? display_name : name), &is_new);

	if (!is_new)
		fail_msg("%s is named already", name);
	pb_int(&b, XMETADATA_ID, id);
	pb_text(&b, XMETADATA_NAME, name);
	if (display_name)
		pb_text(&b, XMETADATA_DISPLAY_NAME, display_name);
	stats_write(p, &b, XMETADATA_STATS, stats);
	map_add(&p->event_metadata, XPLANE_EVENT_METADATA, id, pb_done(&b));
}

static int64_t event_id(struct xplane *p, const char *name)
{
	if (!name)
		return NOT_IN_THE_FILE;
	for (ptrdiff_t i = 0; i < p->events.count; i++)
		if (str_eq(p->events.items[i], str_from(name)))
			return i + 1;
	x_name(p, name, NULL, NULL);
	return p->events.count;
}

void x_event(struct xline *l, const char *name, int64_t from_us, int64_t to_us,
	const struct xstat *stats)
{
	struct pb b = pb_new(l->plane->keep);

	pb_int(&b, XEVENT_METADATA_ID, event_id(l->plane, name));
	pb_int(&b, XEVENT_OFFSET_PS, (from_us - l->timestamp_us) * PS_PER_US);
	if (to_us != from_us)
		pb_int(&b, XEVENT_DURATION_PS, (to_us - from_us) * PS_PER_US);
	stats_write(l->plane, &b, XEVENT_STATS, stats);
	pb_bytes(&l->events, XLINE_EVENTS, pb_done(&b));
}

/* Lines before the metadata that explain them, as real files have it. */
static struct str plane_write(const struct xplane *p)
{
	struct pb b = pb_new(p->keep);

	pb_text(&b, XPLANE_NAME, p->name);
	for (ptrdiff_t i = 0; i < p->line_count; i++) {
		const struct xline *l = p->lines[i];
		struct pb line = pb_new(p->keep);
		pb_int(&line, XLINE_ID, l->id);
		pb_text(&line, XLINE_NAME, l->name);
		pb_int(&line, XLINE_TIMESTAMP_NS, l->timestamp_us * 1000);
		pb_raw(&line, pb_done(&l->events));
		pb_bytes(&b, XPLANE_LINES, pb_done(&line));
	}
	pb_raw(&b, pb_done(&p->event_metadata));
	pb_raw(&b, pb_done(&p->stat_metadata));
	pb_raw(&b, pb_done(&p->own_stats));
	return pb_done(&b);
}

struct str xspace_done(const struct xspace *x)
{
	struct pb b = pb_new(x->keep);

	for (ptrdiff_t i = 0; i < x->plane_count; i++)
		pb_bytes(&b, XSPACE_PLANES, plane_write(x->planes[i]));
	pb_raw(&b, pb_done(&x->behind));
	return pb_done(&b);
}

/* ---- what producers write -------------------------------------------------------------------- */

static struct xplane *plane_named(const struct xspace *x, const char *name)
{
	for (ptrdiff_t i = 0; i < x->plane_count; i++)
		if (strcmp(x->planes[i]->name, name) == 0)
			return x->planes[i];
	return NULL;
}

static const char *numbered(struct arena *keep, const char *prefix, int n)
{
	return arena_z(keep, arena_fmt(keep, "%s%d", prefix, n));
}

struct xplane *x_tpu(struct xspace *x, int ordinal, const char *device_type)
{
	return x_plane(x, numbered(x->keep, "/device:TPU:", ordinal),
		X_STATS(x_text("device_type_string", device_type)));
}

void x_op(struct xplane *p, const char *instruction, const struct xstat *stats)
{
	x_name(p, instruction, instruction, stats);
}

struct xplane *x_gpu(struct xspace *x, int ordinal, const char *device_name)
{
	return x_plane(x, numbered(x->keep, "/device:GPU:", ordinal),
		X_STATS(x_text("device_vendor", "Nvidia"), x_text("gpu_device_name", device_name)));
}

struct xplane *x_host(struct xspace *x)
{
	struct xplane *p = plane_named(x, "/host:CPU");

	return p ? p : x_plane(x, "/host:CPU", NULL);
}

void x_hlo(struct xspace *x, const char *module, uint64_t program, struct str proto)
{
	struct xplane *p = plane_named(x, "/host:metadata");
	struct str name = arena_fmt(x->keep, "%s(%llu)", module, (unsigned long long)program);

	if (!p)
		p = x_plane(x, "/host:metadata", NULL);
	x_name(p, arena_z(x->keep, name), NULL, X_STATS(x_bytes("Hlo Proto", proto)));
}

/* ---- a run ----------------------------------------------------------------------------------- */

void xrun_begin(struct xrun *r)
{
	memset(r, 0, sizeof(*r));
	r->keep = arena_new(ARENA_RUN_BYTES);
	r->options = (struct measure_options){ .chips = chip_set_new(&r->keep), .threads = 1 };
}

void xrun_end(struct xrun *r)
{
	measure_end(r->measured);
	arena_free(&r->keep);
}

struct xspace *xrun_host(struct xrun *r, const char *name)
{
	if (r->count == XRUN_HOSTS)
		fail_msg("more than %d hosts", XRUN_HOSTS);
	struct xspace *x = xspace_new(&r->keep);
	r->files[r->count] = x;
	r->names[r->count++] = name;
	x_plane(x, "Task Environment", X_STATS(x_int("profile_start_time", 1700000000000000000)));
	return x;
}

bool xrun_profiles(struct xrun *r, struct profile *profiles, ptrdiff_t count)
{
	measure_end(r->measured);
	r->measured = measure_begin(profiles, count, STR("test"), &r->options, &r->keep, &r->tables,
		&r->notes, &r->err);
	return r->measured != NULL;
}

bool xrun_try(struct xrun *r)
{
	struct input *inputs = arena_make(&r->keep, struct input, r->count);
	struct profile *profiles = arena_make(&r->keep, struct profile, r->count);

	r->notes = (struct diag_list){ .count = 0 };
	for (ptrdiff_t i = 0; i < r->count; i++) {
		inputs[i] = input_memory(str_from(r->names[i]), xspace_done(r->files[i]));
		if (!xplane_open(
			    &inputs[i], str_from(r->names[i]), &r->keep, &profiles[i], &r->err))
			return false;
	}
	return xrun_profiles(r, profiles, r->count);
}

void xrun_measure(struct xrun *r)
{
	if (!xrun_try(r))
		fail_msg("%s", r->err.text);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static const void *row_named(
	const struct xrun *r, enum table_id id, struct str column, const char *value)
{
	const struct table_def *def = &table_defs[id];
	const struct column *c = table_column(def, column);
	const char *rows = r->tables.items[id].rows;

	for (ptrdiff_t i = 0; i < r->tables.items[id].count; i++)
		if (str_eq(cell_text(c, rows + i * def->row_bytes), str_from(value)))
			return rows + i * def->row_bytes;
	fail_msg("no row of %.*s has the %.*s '%s'", STR_ARG(def->name), STR_ARG(column), value);
	return NULL;
}

const struct run_row *xrun_row(const struct xrun *r)
{
	return row_named(r, TABLE_run, STR("name"), "test");
}

const struct ops_row *xrun_op(const struct xrun *r, const char *name)
{
	return row_named(r, TABLE_ops, STR("name"), name);
}

const struct families_row *xrun_family(const struct xrun *r, const char *name)
{
	return row_named(r, TABLE_families, STR("name"), name);
}

const struct programs_row *xrun_program(const struct xrun *r, const char *module)
{
	return row_named(r, TABLE_programs, STR("module"), module);
}

const struct collectives_row *xrun_collective(const struct xrun *r, const char *name)
{
	return row_named(r, TABLE_collectives, STR("name"), name);
}

const struct transfers_row *xrun_transfer(const struct xrun *r, const char *direction)
{
	return row_named(r, TABLE_transfers, STR("direction"), direction);
}

const struct devices_row *xrun_device(const struct xrun *r, const char *device)
{
	return row_named(r, TABLE_devices, STR("device"), device);
}

const struct memory_row *xrun_memory(const struct xrun *r, const char *device)
{
	return row_named(r, TABLE_memory, STR("device"), device);
}

const struct quality_row *xrun_quality(const struct xrun *r, const char *name)
{
	return row_named(r, TABLE_quality, STR("name"), name);
}

static void cell_write(struct pb *b, const struct column *c, const void *row)
{
	if (cell_is_null(c, row))
		pb_raw(b, STR("-"));
	else if (c->type == COLUMN_REAL)
		pb_raw(b, arena_fmt(b->keep, "%.17g", cell_real(c, row)));
	else
		pb_raw(b, cell_text(c, row));
	pb_raw(b, STR("|"));
}

struct str xrun_text(struct xrun *r)
{
	struct pb b = pb_new(&r->keep);

	for (int id = 0; id < TABLE_COUNT; id++) {
		const struct table_def *def = &table_defs[id];
		const char *rows = r->tables.items[id].rows;
		for (ptrdiff_t i = 0; i < r->tables.items[id].count; i++) {
			pb_raw(&b, def->name);
			pb_raw(&b, STR(": "));
			for (ptrdiff_t k = 0; k < def->column_count; k++)
				cell_write(&b, &def->columns[k], rows + i * def->row_bytes);
			pb_raw(&b, STR("\n"));
		}
	}
	return pb_done(&b);
}

/* ---- assertions ------------------------------------------------------------------------------ */

void x_assert_number(const char *what, double got, double want, const char *file, int line)
{
	if (fabs(got - want) <= 1e-9 * fabs(want))
		return;
	print_error("%s is %.12g, not %.12g\n", what, got, want);
	_fail(file, line);
}

void x_assert_unknown(const char *what, double got, const char *file, int line)
{
	if (isnan(got))
		return;
	print_error("%s is %.12g, not NULL\n", what, got);
	_fail(file, line);
}

void x_assert_text(const char *what, struct str got, const char *want, const char *file, int line)
{
	if (want ? got.p && str_eq(got, str_from(want)) : !got.p)
		return;
	print_error("%s is '%.*s', not '%s'\n", what, STR_ARG(got), want ? want : "(NULL)");
	_fail(file, line);
}

void x_assert_has(const char *what, struct str got, const char *part, const char *file, int line)
{
	if (str_contains(got, str_from(part)))
		return;
	print_error("%s is '%.*s', without '%s'\n", what, STR_ARG(got), part);
	_fail(file, line);
}
