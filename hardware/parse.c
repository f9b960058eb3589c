/*
 * A chip's file: every key by table, every mistake with a caret.
 *
 * Strict on purpose: an unknown key is a typing mistake whose number would silently not count, and
 * a value far out of range is one in TFLOP/s or GB/s where base units are due.
 *
 * Refuses: what cannot be known from one file alone, such as whether an alias is taken.
 */
#include <math.h>

#include "base/keyed.h"
#include "base/text.h"
#include "hardware/chip.h"

#define REQUIRED .required = true
/* Names and conflicts of one chip; more would be generated data. */
#define ARRAY(items, count)                                                                        \
	KEYED_ARRAY(struct chip, items, count), .form = "a list of at most 256", .max = 256
#define AT(what) .offset = offsetof(struct chip, what)
/* From a 1980s vector unit to a rack; outside, the unit is another one. */
#define FLOPS                                                                                      \
	.form = "a positive number of FLOP/s in base units (1.97e14, not 197), or 197 TFLOP/s",    \
	.unit = UNIT_FLOPS_PER_SECOND, .min = 1e9, .max = 1e18
#define RATE                                                                                       \
	.form = "a positive number of bytes/s in base units (8.19e11, not 819), or 819 GB/s",      \
	.unit = UNIT_BYTES_PER_SECOND, .min = 1e6, .max = 1e15
#define SIZE                                                                                       \
	.form = "a positive number of bytes in base units (17179869184, not 16), or 16 GiB",       \
	.unit = UNIT_BYTES, .min = 1e3, .max = 1e15
#define HERTZ                                                                                      \
	.form = "a positive number of Hz in base units (2.4e9, not 2400)", .min = 1e6, .max = 1e11
#define SHARE .form = "a share above 0 and up to 1", .unit = UNIT_RATIO, .min = 0.01, .max = 1
#define COUNT(lo, hi)                                                                              \
	.form = "a whole number from " #lo " to " #hi, .whole = true, .min = lo, .max = hi

/* ---- keys with a form of their own ----------------------------------------------------------- */

static bool read_id(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	if (!key_text(r, k, node))
		return false;
	return str_only(node->text, "a-z0-9_") ||
	       keyed_fail(r, node, "id has lower-case letters, digits and '_'");
}

/* 8.19e11, or { value: 8.19e11, source: data sheet }. */
static bool read_number(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	struct chip_number *to = (void *)((char *)r->to + k->offset);
	struct key keys[] = { *k,
		KEYED("source", key_text, .offset = offsetof(struct chip_number, source)),
		KEYED_END };
	const struct key whole = { .name = k->name, .offset = k->offset, .keys = keys };
	to->source = STR("not stated");
	if (node->kind != DOC_MAP)
		return keyed_number(r, k, node, &to->value);
	keys[0].name = STR("value");
	keys[0].read = key_number;
	keys[0].offset = offsetof(struct chip_number, value);
	keys[0].required = true;
	return key_map(r, &whole, node);
}

/* [lo, hi] into two doubles that stand side by side. */
static bool read_range(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	double *to = (void *)((char *)r->to + k->offset);
	if (node->kind != DOC_LIST || node->count != 2)
		return keyed_fail(r, node, "%.*s is a list of two numbers, lowest and highest",
			STR_ARG(k->name));
	return keyed_number(r, k, node->items[0], &to[0]) &&
	       keyed_number(r, k, node->items[1], &to[1]) &&
	       (to[0] <= to[1] || keyed_fail(r, node, "the lowest is above the highest"));
}

static const struct key alias = { .name = STR_INIT("an alias"), .read = key_text };

static const struct key conflict_keys[] = {
	KEYED("field", key_text, .offset = offsetof(struct chip_conflict, field), REQUIRED),
	KEYED("text", key_text, .offset = offsetof(struct chip_conflict, text), REQUIRED),
	KEYED_END,
};
static const struct key conflict = { .name = STR_INIT("a conflict"), .keys = conflict_keys };

/* "9.0" */
static bool read_capability(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	struct chip *c = r->to;
	struct str major, minor;
	int64_t high, low;
	(void)k;
	if (!str_cut(node->text, '.', &major, &minor) || !str_to_i64(major, &high) ||
		!str_to_i64(minor, &low) || high < 1 || high > 1000 || low < 0 || low > 1000)
		return keyed_fail(r, node, "a compute capability is like \"9.0\"");
	c->match_cc_major = (int)high;
	c->match_cc_minor = (int)low;
	return true;
}

/* ---- peaks ----------------------------------------------------------------------------------- */

#define PEAK(name, type) KEYED(name, read_number, AT(peak[DTYPE_##type]), FLOPS)
static const struct key peak_keys[] = {
	PEAK("f64", F64),
	PEAK("f32", F32),
	PEAK("f16", F16),
	PEAK("bf16", BF16),
	PEAK("f8", F8E5M2),
	PEAK("f6", F6E3M2FN),
	PEAK("f4", F4E2M1FN),
	PEAK("s8", S8),
	PEAK("s4", S4),
	KEYED_END,
};

/* Operand types that run at the rate of another. */
static const struct {
	enum dtype type, as;
} same_rate[] = {
	{ DTYPE_F8E4M3FN, DTYPE_F8E5M2 },
	{ DTYPE_F8E4M3B11FNUZ, DTYPE_F8E5M2 },
	{ DTYPE_F8E5M2FNUZ, DTYPE_F8E5M2 },
	{ DTYPE_F8E4M3FNUZ, DTYPE_F8E5M2 },
	{ DTYPE_F8E4M3, DTYPE_F8E5M2 },
	{ DTYPE_F8E3M4, DTYPE_F8E5M2 },
	{ DTYPE_F6E2M3FN, DTYPE_F6E3M2FN },
	{ DTYPE_U8, DTYPE_S8 },
	{ DTYPE_U4, DTYPE_S4 },
};

static bool read_peaks(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	struct chip *c = r->to;
	if (!key_map(r, k, node))
		return false;
	for (ptrdiff_t i = 0; i < COUNT_OF(same_rate); i++)
		c->peak[same_rate[i].type] = c->peak[same_rate[i].as];
	return node->count || keyed_fail(r, node, "a chip has a peak, as in { bf16: 1.97e14 }");
}

/* ---- the tables ------------------------------------------------------------------------------ */

static const struct key attainable_keys[] = {
	KEYED("matmul", read_number, AT(attainable_matmul), SHARE),
	KEYED("matmul_f8", read_number, AT(attainable_matmul_f8), SHARE),
	KEYED("hbm", read_number, AT(attainable_hbm), SHARE),
	KEYED("link", read_number, AT(attainable_link), SHARE),
	KEYED("pcie", read_number, AT(attainable_pcie), SHARE),
	KEYED_END,
};

static const struct key match_keys[] = {
	KEYED("compute_capability", read_capability, REQUIRED),
	KEYED("core_count", key_int, AT(match_core_count), COUNT(1, 100000)),
	KEYED("memory_bytes", read_range, AT(match_memory_lo), SIZE),
	KEYED("clock_hz", read_range, AT(match_clock_lo), HERTZ),
	KEYED_END,
};
/* read_range writes two doubles from the first one's address. */
_Static_assert(offsetof(struct chip, match_memory_hi) ==
		       offsetof(struct chip, match_memory_lo) + sizeof(double),
	"a range is a pair");
_Static_assert(offsetof(struct chip, match_clock_hi) ==
		       offsetof(struct chip, match_clock_lo) + sizeof(double),
	"a range is a pair");

static const struct key chip_keys[] = {
	KEYED("id", read_id, AT(id), REQUIRED),
	KEYED("name", key_text, AT(name), REQUIRED),
	KEYED("vendor", key_word, AT(vendor), REQUIRED, .form = "|google|nvidia|amd|cpu"),
	KEYED("aliases", key_array, ARRAY(aliases, alias_count), .each = &alias),
	KEYED("arch", key_text, AT(arch)),
	KEYED("match", key_map, .keys = match_keys),
	KEYED("cores_per_chip", key_int, AT(cores_per_chip), COUNT(1, 2)),
	KEYED("planes_per_chip", key_int, AT(planes_per_chip), COUNT(0, 2)),
	KEYED("peak_flops", read_peaks, REQUIRED, .keys = peak_keys),
	KEYED("f32_vector_flops", read_number, AT(f32_vector_flops), FLOPS),
	KEYED("hbm_bytes", read_number, AT(hbm_bytes), SIZE),
	KEYED("hbm_bps", read_number, AT(hbm_bps), REQUIRED, RATE),
	KEYED("on_chip_bytes", read_number, AT(on_chip_bytes), SIZE),
	KEYED("topology", key_word, AT(topology), .form = "|none|torus_2d|torus_3d|switch|mesh"),
	KEYED("link_bps", read_number, AT(link_bps), RATE),
	KEYED("links", key_int, AT(links), COUNT(1, 1000)),
	KEYED("torus_wrap", key_int, AT(torus_wrap), COUNT(2, 1000)),
	KEYED("torus_axis_max", key_int, AT(torus_axis_max), COUNT(2, 1000)),
	KEYED("scaleup_bps", read_number, AT(scaleup_bps), RATE),
	KEYED("scaleup_domain", key_int, AT(scaleup_domain), COUNT(1, 1000000)),
	KEYED("switch_reduces", key_bool, AT(switch_reduces)),
	KEYED("scaleout_bps", read_number, AT(scaleout_bps), RATE),
	KEYED("pcie_bps", read_number, AT(pcie_bps), RATE),
	KEYED("attainable", key_map, .keys = attainable_keys),
	KEYED("conflicts", key_array, ARRAY(conflicts, conflict_count), .each = &conflict),
	KEYED("notes", key_text, AT(notes)),
	KEYED_END,
};

static const struct key chip_document = { .name = STR_INIT("a chip's file"), .keys = chip_keys };

/* ---- the whole ------------------------------------------------------------------------------- */

static struct chip *chip_new(struct str file, struct str text, struct arena *keep)
{
	const struct chip_number unknown = { NAN, { NULL, 0 } };
	const struct chip_number whole_share = { 1.0, STR("nothing known") };
	struct chip *c = arena_make(keep, struct chip, 1);
	struct chip_number *numbers[] = { &c->f32_vector_flops, &c->hbm_bytes, &c->hbm_bps,
		&c->on_chip_bytes, &c->link_bps, &c->scaleup_bps, &c->scaleout_bps, &c->pcie_bps };
	for (int t = 0; t < DTYPE_COUNT; t++)
		c->peak[t] = unknown;
	for (ptrdiff_t i = 0; i < COUNT_OF(numbers); i++)
		*numbers[i] = unknown;
	c->attainable_matmul = c->attainable_hbm = whole_share;
	c->attainable_link = c->attainable_pcie = whole_share;
	c->attainable_matmul_f8 = unknown;
	c->match_memory_lo = c->match_memory_hi = c->match_clock_lo = c->match_clock_hi = NAN;
	c->cores_per_chip = c->planes_per_chip = 1;
	c->topology = TOPOLOGY_NONE;
	c->arch = c->notes = STR("");
	c->file = file;
	c->text = text;
	return c;
}

/* What no single key can tell. */
static bool is_whole(const struct keyed *r, const struct doc_node *root)
{
	const struct chip *c = r->to;
	bool linked = !isnan(c->link_bps.value) && c->scaleup_domain;
	bool joined = !isnan(c->scaleup_bps.value) && c->scaleup_domain;
	if (c->planes_per_chip != 1 && c->cores_per_chip != 2)
		return keyed_fail(r, doc_get(root, STR("planes_per_chip")),
			"planes_per_chip %d needs cores_per_chip 2", c->planes_per_chip);
	const struct doc_node *topology = doc_get(root, STR("topology"));
	if (c->torus_axes && !linked)
		return keyed_fail(r, topology, "a torus needs link_bps and scaleup_domain");
	if (c->topology == TOPOLOGY_SWITCH && !joined)
		return keyed_fail(r, topology, "a switch needs scaleup_bps and scaleup_domain");
	if (c->topology == TOPOLOGY_MESH && !linked)
		return keyed_fail(r, topology, "a mesh needs link_bps and scaleup_domain");
	return true;
}

const struct chip *chip_parse(
	struct str file, struct str text, struct arena *keep, struct diag *err)
{
	struct doc doc;
	struct chip *c = chip_new(text_clean(keep, file), text, keep);
	const struct keyed r = {
		.doc = &doc, .keep = keep, .mistake = DIAG_HARDWARE_FILE, .err = err, .to = c
	};
	if (!keyed_open(&r, &doc, c->file, text, &chip_document) ||
		!keyed_map(&r, &chip_document, doc.root, doc.root))
		return NULL;
	c->torus_axes = c->topology == TOPOLOGY_TORUS_2D   ? 2
			: c->topology == TOPOLOGY_TORUS_3D ? 3
							   : 0;
	if (isnan(c->attainable_matmul_f8.value))
		c->attainable_matmul_f8 = c->attainable_matmul;
	return is_whole(&r, doc.root) ? c : NULL;
}
