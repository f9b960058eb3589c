/* Chip-hours from CSV.  See usage.h. */
#include "store/usage.h"

#include <math.h>

enum wanted { WORKLOAD, CHIP_HOURS, PRICE, RUNNING_HOURS, WANTED };
static const struct str names[WANTED] = { STR_INIT("workload"), STR_INIT("chip_hours"),
	STR_INIT("price"), STR_INIT("running_hours") };

struct csv {
	struct str file, rest;
	int64_t line;
	struct arena keep; /* of the record at hand */
	struct str fields[USAGE_MAX_FIELDS];
	int count;
	int at[WANTED]; /* which field; -1: the file has none */
	int columns;
	bool has_any; /* a line below the header */
	struct diag *err;
};

static bool csv_fail(struct csv *c, const char *what)
{
	return diag_set(c->err, DIAG_CHIP_HOURS, "%.*s:%lld: %s", STR_ARG(c->file),
		(long long)c->line, what);
}

/* Up to the quote that ends it; two in a row are one.  No field here goes on over lines. */
static bool take_quoted(struct csv *c, struct str *ret)
{
	struct str text = STR(""), part;
	while (str_cut(c->rest, '"', &part, &c->rest)) {
		if (str_find_char(part, '\n') >= 0)
			break;
		text = arena_fmt(&c->keep, "%.*s%.*s", STR_ARG(text), STR_ARG(part));
		if (!str_take(&c->rest, STR("\""))) {
			*ret = text;
			return true;
		}
		text = arena_fmt(&c->keep, "%.*s\"", STR_ARG(text));
	}
	return csv_fail(c, "a quote that does not end on its line");
}

static bool take_record(struct csv *c)
{
	arena_clear(&c->keep);
	c->line++;
	for (c->count = 0;;) {
		if (c->count >= USAGE_MAX_FIELDS)
			return csv_fail(c, "more columns than an accounting file has");
		struct str *field = &c->fields[c->count++];
		if (str_take(&c->rest, STR("\""))) {
			if (!take_quoted(c, field))
				return false;
		} else {
			ptrdiff_t end = 0;
			while (end < c->rest.len && str_find_char(STR(",\n\r"), c->rest.p[end]) < 0)
				end++;
			*field = str_trim(str_head(c->rest, end));
			c->rest = str_from_offset(c->rest, end);
		}
		if (str_take(&c->rest, STR(",")))
			continue;
		str_take(&c->rest, STR("\r"));
		if (c->rest.len && !str_take(&c->rest, STR("\n")))
			return csv_fail(c, "text behind a quote");
		return true;
	}
}

static bool read_header(struct csv *c)
{
	str_take(&c->rest, STR("\xef\xbb\xbf")); /* as spreadsheets begin their files */
	if (!take_record(c))
		return false;
	c->columns = c->count;
	for (int w = 0; w < WANTED; w++) {
		c->at[w] = -1;
		for (int i = 0; i < c->count; i++) {
			if (!str_eq_nocase(c->fields[i], names[w]))
				continue;
			if (c->at[w] >= 0)
				return diag_set(c->err, DIAG_CHIP_HOURS,
					"%.*s:%lld: the first line names two columns %.*s",
					STR_ARG(c->file), (long long)c->line, STR_ARG(names[w]));
			c->at[w] = i;
		}
	}
	return (c->at[WORKLOAD] >= 0 && c->at[CHIP_HOURS] >= 0) ||
	       csv_fail(c, "the first line names the columns, with commas between them, and "
			   "workload and chip_hours must be among them (price and running_hours "
			   "may be)");
}

static struct str field(const struct csv *c, enum wanted w)
{
	return c->at[w] >= 0 && c->at[w] < c->count ? c->fields[c->at[w]] : MISSING;
}

static bool number(struct csv *c, enum wanted w, double most, double *ret)
{
	if (str_to_double(field(c, w), ret) && *ret >= 0 && *ret <= most)
		return true;
	return diag_set(c->err, DIAG_CHIP_HOURS,
		"%.*s:%lld: %.*s is a number from 0 to %.0g, without separators, not '%.*s'",
		STR_ARG(c->file), (long long)c->line, STR_ARG(names[w]), most,
		STR_ARG(field(c, w)));
}

static bool read_record(struct csv *c, usage_fn *take, void *arg)
{
	struct usage u = { .price = NAN, .running_hours = NAN };
	if (!take_record(c))
		return false;
	if (c->count == 1 && !c->fields[0].len)
		return true;
	c->has_any = true;
	for (int i = c->columns; i < c->count; i++) /* spreadsheets leave empty fields there */
		if (c->fields[i].len)
			return csv_fail(c,
				"more fields than the first line names columns; a number that "
				"has commas in it is written without them, and a name in quotes");
	u.workload = field(c, WORKLOAD);
	if (!u.workload.len)
		return csv_fail(c, "a line without a workload");
	return number(c, CHIP_HOURS, USAGE_MAX_HOURS, &u.chip_hours) &&
	       (!field(c, PRICE).len || number(c, PRICE, USAGE_MAX_PRICE, &u.price)) &&
	       (!field(c, RUNNING_HOURS).len ||
		       number(c, RUNNING_HOURS, USAGE_MAX_HOURS, &u.running_hours)) &&
	       (!(u.running_hours > u.chip_hours) ||
		       csv_fail(c, "running_hours are some of the chip_hours, and here more")) &&
	       take(arg, &u, c->err);
}

bool usage_read(struct str file, struct str text, usage_fn *take, void *arg, struct diag *err)
{
	struct csv c = { .file = file, .rest = text, .err = err };
	c.keep = arena_new(ARENA_SCRATCH_BYTES);
	bool ok = read_header(&c);
	while (ok && c.rest.len)
		ok = read_record(&c, take, arg);
	if (ok && !c.has_any)
		ok = csv_fail(&c, "no workload is listed below the first line");
	arena_free(&c.keep);
	return ok;
}
