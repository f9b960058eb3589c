/*
 * Attributes back into text: those that attr_rows.h lists, printed from what they were read into.
 * The text gives their order, and the values of the others.
 */
#include "hlo/print_attr.h"

#include "hlo/attr_rows.h"
#include "hlo/scan.h"

/* One attribute: what it is of, which one it is of those that call, how it was written. */
struct printing {
	const struct printed *p;
	const ptrdiff_t *owners; /* of each callee, the ordinal of the attribute that names it */
	ptrdiff_t ordinal;
	struct str raw;
};

typedef void print_fn(struct out *o, const struct printing *x, const void *from);

/* ---- names ----------------------------------------------------------------------------------- */

void print_name(struct out *o, struct str name, bool percent)
{
	/* A name that begins so was read with a '%' before it. */
	if (percent || str_starts(name, STR("%")) || str_starts(name, STR("/*")))
		out_char(o, '%');
	out_str(o, name);
}

/* ---- plain values ---------------------------------------------------------------------------- */

static void number(struct out *o, const struct printing *x, const void *from)
{
	(void)x;
	out_i64(o, *(const int64_t *)from);
}

static void truth(struct out *o, const struct printing *x, const void *from)
{
	(void)x;
	out_z(o, *(const bool *)from ? "true" : "false");
}

static void word(struct out *o, const struct printing *x, const void *from)
{
	(void)x;
	out_str(o, *(const struct str *)from);
}

static void numbers(struct out *o, const int64_t *items, ptrdiff_t count)
{
	out_char(o, '{');
	for (ptrdiff_t k = 0; k < count; k++) {
		out_z(o, k ? "," : "");
		out_i64(o, items[k]);
	}
	out_char(o, '}');
}

static void dims(struct out *o, const struct printing *x, const void *from)
{
	const struct hlo_dims *d = from;
	(void)x;
	numbers(o, d->items, d->count);
}

static void print_char(struct out *o, unsigned char c)
{
	static const char escaped[] = "\n\r\t\"'\\", letters[] = "nrt\"'\\";
	const char *at = c ? strchr(escaped, c) : NULL;
	if (at)
		out_fmt(o, "\\%c", letters[at - escaped]);
	else if (c < ' ' || c >= 0x7f)
		out_fmt(o, "\\%03o", c);
	else
		out_char(o, (char)c);
}

void print_string(struct out *o, struct str s)
{
	out_char(o, '"');
	for (ptrdiff_t k = 0; k < s.len; k++)
		print_char(o, (unsigned char)s.p[k]);
	out_char(o, '"');
}

static void string(struct out *o, const struct printing *x, const void *from)
{
	(void)x;
	print_string(o, *(const struct str *)from);
}

static void as_written(struct out *o, const struct printing *x, const void *from)
{
	(void)from;
	out_str(o, x->raw);
}

/* JSON and MLIR attributes stand without quotes. */
static void config(struct out *o, const struct printing *x, const void *from)
{
	if (str_starts(x->raw, STR("\"")))
		print_string(o, *(const struct str *)from);
	else
		out_str(o, *(const struct str *)from);
}

/* ---- metadata -------------------------------------------------------------------------------- */

struct row {
	struct str name;
	print_fn *print;
	ptrdiff_t offset; /* of what it is printed from */
};
#define PRINT_ROW(name, offset, read, print) { STR_INIT(name), print, offset },

static const struct row metadata_rows[] = { HLO_METADATA_ATTRS(PRINT_ROW) };

static const struct row *row_find(const struct row *rows, size_t count, struct str name)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(rows[i].name, name))
			return &rows[i];
	return NULL;
}

#define ROW_FIND(rows, name) row_find(rows, sizeof(rows) / sizeof((rows)[0]), name)

/* "name=value", or something else that stood between two blanks. */
static void print_pair(struct out *o, const struct row *rows, size_t count, struct str element,
	const struct printing *x, const char *from)
{
	struct scan s = { .text = element };
	const struct row *row = row_find(rows, count, scan_name(&s));
	if (!row || !scan_take(&s, STR("="))) {
		out_str(o, element);
		return;
	}
	out_str(o, row->name);
	out_char(o, '=');
	row->print(o, x, from + row->offset);
}

/* "{name=value name=value}" */
static void print_pairs(struct out *o, const struct row *rows, size_t count,
	const struct printing *x, const void *from)
{
	struct scan s = { .text = x->raw };
	ptrdiff_t n = 0;
	scan_take(&s, STR("{"));
	out_char(o, '{');
	for (; scan_more(&s); n++) {
		ptrdiff_t at = s.at;
		scan_element(&s);
		if (s.at == at)
			break;
		out_z(o, n ? " " : "");
		print_pair(o, rows, count, scan_since(&s, at), x, from);
	}
	out_char(o, '}');
}

static void metadata(struct out *o, const struct printing *x, const void *from)
{
	print_pairs(o, metadata_rows, sizeof(metadata_rows) / sizeof(*metadata_rows), x, from);
}

/* ---- dot, convolution, window ---------------------------------------------------------------- */

#define DOT_DIMS(member)                                                                           \
	static void member(struct out *o, const struct printing *x, const void *from)              \
	{                                                                                          \
		const struct hlo_instruction *i = from;                                            \
		dims(o, x, &i->dot->member);                                                       \
	}
DOT_DIMS(lhs_contracting)
DOT_DIMS(rhs_contracting)
DOT_DIMS(lhs_batch)
DOT_DIMS(rhs_batch)
DOT_DIMS(lhs_ragged)
DOT_DIMS(rhs_group)

/* One side of dim_labels: dimension n is what the letter at position n says. */
struct side {
	char letters[SHAPE_MAX_RANK];
	ptrdiff_t count;
};

static void label(struct side *s, int64_t at, char letter)
{
	if (at < 0 || at >= SHAPE_MAX_RANK)
		return;
	for (; s->count <= at; s->count++)
		s->letters[s->count] = '?';
	s->letters[at] = letter;
}

static void print_side(struct out *o, char first, int64_t first_at, char second, int64_t second_at,
	const struct hlo_dims *spatial)
{
	struct side s = { .count = 0 };
	label(&s, first_at, first);
	label(&s, second_at, second);
	for (ptrdiff_t k = 0; k < spatial->count; k++)
		label(&s, spatial->items[k], (char)('0' + k));
	out_str(o, (struct str){ s.letters, s.count });
}

static void dim_labels(struct out *o, const struct printing *x, const void *from)
{
	const struct hlo_convolution *c = ((const struct hlo_instruction *)from)->convolution;
	(void)x;
	print_side(o, 'b', c->input_batch, 'f', c->input_feature, &c->input_spatial);
	out_char(o, '_');
	print_side(
		o, 'i', c->kernel_input_feature, 'o', c->kernel_output_feature, &c->kernel_spatial);
	out_z(o, "->");
	print_side(o, 'b', c->output_batch, 'f', c->output_feature, &c->output_spatial);
}

/* "3x3": a number of each dimension. */
static void window_numbers(struct out *o, const struct hlo_instruction *i, ptrdiff_t offset)
{
	for (ptrdiff_t n = 0; n < i->window_rank; n++) {
		const char *dim = (const char *)&i->window[n];
		out_z(o, n ? "x" : "");
		out_i64(o, *(const int64_t *)(const void *)(dim + offset));
	}
}

#define WINDOW(name, member)                                                                       \
	static void name(struct out *o, const struct printing *x, const void *from)                \
	{                                                                                          \
		(void)x;                                                                           \
		window_numbers(o, from, offsetof(struct hlo_window_dim, member));                  \
	}
WINDOW(window_size, size)
WINDOW(window_stride, stride)
WINDOW(window_lhs_dilate, base_dilation)
WINDOW(window_rhs_dilate, window_dilation)

static void window_pad(struct out *o, const struct printing *x, const void *from)
{
	const struct hlo_instruction *i = from;
	(void)x;
	for (ptrdiff_t n = 0; n < i->window_rank; n++)
		out_fmt(o, "%s%lld_%lld", n ? "x" : "", (long long)i->window[n].padding_low,
			(long long)i->window[n].padding_high);
}

static void window_reversal(struct out *o, const struct printing *x, const void *from)
{
	const struct hlo_instruction *i = from;
	(void)x;
	for (ptrdiff_t n = 0; n < i->window_rank; n++)
		out_fmt(o, "%s%d", n ? "x" : "", i->window[n].reversal);
}

static const struct row window_rows[] = { HLO_WINDOW_ATTRS(PRINT_ROW) };

static void window(struct out *o, const struct printing *x, const void *from)
{
	print_pairs(o, window_rows, sizeof(window_rows) / sizeof(*window_rows), x, from);
}

/* ---- precision ------------------------------------------------------------------------------- */

/* A word that has no number here stands as it was written. */
static void numbered(struct out *o, const struct scan_words *words, int64_t n, struct str raw)
{
	bool known = n > 0 && n < words->count;
	out_str(o, known || str_eq(raw, words->items[0]) ? words->items[known ? n : 0] : raw);
}

static void precision(struct out *o, const struct printing *x, const void *from)
{
	const struct hlo_dims *d = from;
	struct scan s = { .text = x->raw };
	scan_take(&s, STR("{"));
	out_char(o, '{');
	for (ptrdiff_t k = 0; k < d->count && scan_more(&s); k++) {
		out_z(o, k ? "," : "");
		numbered(o, &scan_precisions, d->items[k], scan_name(&s));
	}
	out_char(o, '}');
}

static void algorithm(struct out *o, const struct printing *x, const void *from)
{
	numbered(o, &scan_algorithms, *(const int64_t *)from, x->raw);
}

/* ---- what it calls --------------------------------------------------------------------------- */

static ptrdiff_t callees_written(struct str raw)
{
	struct scan s = { .text = raw };
	ptrdiff_t n = 0;
	if (!scan_take(&s, STR("{")))
		return 1;
	for (; scan_more(&s); n++)
		scan_name(&s);
	return n;
}

/* A callee that is not in the module, of a lone instruction, is what the text says. */
static void print_callee(struct out *o, const struct printing *x, ptrdiff_t at, struct str raw)
{
	print_name(o, at < 0 ? raw : x->p->m->computations[at].name, x->p->percent);
}

static void callees(struct out *o, const struct printing *x, const void *from)
{
	const struct hlo_instruction *i = x->p->caller;
	struct scan s = { .text = x->raw };
	(void)from;
	bool list = scan_take(&s, STR("{"));
	ptrdiff_t n = 0;
	out_z(o, list ? "{" : "");
	for (ptrdiff_t k = 0; k < i->called_count; k++) {
		if (x->owners[k] != x->ordinal || (list && !scan_more(&s)))
			continue;
		out_z(o, n++ ? ", " : "");
		print_callee(o, x, i->called[k], scan_name(&s));
	}
	out_z(o, list ? "}" : "");
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* The model holds the first group of a list, and the counts of an iota. */
static void replica_groups(struct out *o, const struct printing *x, const void *from)
{
	const struct hlo_replica_groups *g = from;
	ptrdiff_t end = str_find_char(x->raw, '}'), bracket = str_find_char(x->raw, ']');
	struct str rest = x->raw;
	bool digit = rest.len > 2 && rest.p[2] >= '0' && rest.p[2] <= '9';
	if (str_starts(rest, STR("{{")) && digit && g->first.count && end > 0) {
		out_char(o, '{');
		numbers(o, g->first.items, g->first.count);
		rest = str_from_offset(rest, end + 1);
	} else if (str_starts(rest, STR("[")) && !g->unreadable && bracket > 0) {
		out_fmt(o, "[%lld,%lld]", (long long)g->group_count, (long long)g->group_size);
		rest = str_from_offset(rest, bracket + 1);
	}
	out_str(o, rest);
}

static void pairs(struct out *o, const struct printing *x, const void *from)
{
	const struct hlo_dims *d = from;
	(void)x;
	out_char(o, '{');
	for (ptrdiff_t k = 0; k + 1 < d->count; k += 2) {
		out_z(o, k ? "," : "");
		numbers(o, &d->items[k], 2);
	}
	out_char(o, '}');
}

/* ---- all of them ----------------------------------------------------------------------------- */

static const struct row rows[] = { HLO_ATTRS(PRINT_ROW) };

struct attribute {
	struct str name, raw;
};

static bool attribute_next(struct scan *s, struct attribute *a)
{
	scan_blanks(s);
	if (!scan_take(s, STR(",")))
		return false;
	scan_blanks(s);
	a->name = scan_name(s);
	if (!scan_take(s, STR("=")))
		return false;
	a->raw = scan_value(s);
	return !s->why;
}

/* Of a mesh's axes, whose names stand in single quotes, none was cut in two. */
static bool has_whole_names(struct str raw)
{
	bool whole = true;
	if (str_find(raw, STR("mesh[")) < 0)
		return true;
	for (ptrdiff_t k = 0; k < raw.len; k++)
		whole ^= raw.p[k] == '\'';
	return whole;
}

/* The reader goes by each value's own grammar, this by brackets and commas: do they agree? */
static bool is_walked(struct str attributes)
{
	struct scan s = { .text = attributes };
	struct attribute a;
	while (attribute_next(&s, &a))
		if (!has_whole_names(a.raw))
			return false;
	return !s.why && s.at == s.text.len;
}

/* Which attribute each callee comes from, in the order that the reader gave them: body first. */
static ptrdiff_t *owners_of(const struct hlo_instruction *i, struct arena *keep)
{
	ptrdiff_t *owners = arena_make(keep, ptrdiff_t, i->called_count);
	struct scan s = { .text = i->written.attributes };
	struct attribute a;
	ptrdiff_t count = 0;
	for (ptrdiff_t ordinal = 0; attribute_next(&s, &a); ordinal++) {
		const struct row *row = ROW_FIND(rows, a.name);
		ptrdiff_t n = row && row->print == callees ? callees_written(a.raw) : 0;
		while (n-- > 0 && count < i->called_count)
			owners[count++] = ordinal;
		if (count && str_eq(a.name, STR("body"))) {
			owners[count - 1] = owners[0];
			owners[0] = ordinal;
		}
	}
	return owners;
}

static void print_attribute_name(struct out *o, struct str name)
{
	out_z(o, ", ");
	print_name(o, name, false);
	out_char(o, '=');
}

void print_attributes(struct out *o, const struct printed *p)
{
	struct scan s = { .text = p->i->written.attributes };
	struct printing x = { .p = p };
	struct attribute a;
	if (!is_walked(s.text)) {
		out_str(o, s.text);
		return;
	}
	x.owners = owners_of(p->caller, p->keep);
	for (; attribute_next(&s, &a); x.ordinal++) {
		const struct row *row = ROW_FIND(rows, a.name);
		x.raw = a.raw;
		print_attribute_name(o, a.name);
		if (row)
			row->print(o, &x, (const char *)p->i + row->offset);
		else
			out_str(o, a.raw);
	}
}

void print_module_attributes(struct out *o, const struct hlo_module *m)
{
	struct scan s = { .text = m->written.attributes };
	struct attribute a;
	if (!is_walked(s.text)) {
		out_str(o, s.text);
		return;
	}
	while (attribute_next(&s, &a)) {
		print_attribute_name(o, a.name);
		if (str_eq(a.name, STR("num_partitions")))
			out_i64(o, m->partition_count);
		else if (str_eq(a.name, STR("replica_count")))
			out_i64(o, m->replica_count);
		else
			out_str(o, a.raw);
	}
}
