/*
 * A chip's JSON file: every key by table, every mistake with the path of its key.
 *
 * Strict on purpose: an unknown key is a typing mistake whose number would silently not count, and
 * a value far out of range is one in TFLOP/s or GB/s where base units are due.
 *
 * Refuses: what cannot be known from one file alone, such as whether an alias is taken.
 */
#include "hardware/chip.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"

/* A chip's file is 2 to 4 kB; what is larger is some other file. */
#define CHIP_FILE_MAX ((ptrdiff_t)1 << 20)
/* Names and conflicts of one chip; more would be generated data. */
#define LIST_MAX 256
/* Keys an object may have: they are counted in one 64-bit set. */
#define KEYS_MAX 64

struct reader {
	struct str file;
	struct arena *keep;
	struct diag *err;
	struct chip *chip;
};

/* Where a value stands: a key inside `up`, or element `index` of it when `key` is NULL. */
struct place {
	const struct place *up;
	const char *key;
	int index;
};

struct limits {
	double min, max;
	const char *expected; /* "a positive number", with an example in base units */
};

struct key {
	const char *name;
	bool (*read)(struct reader *r, const struct place *at, const cJSON *v, const struct key *k);
	size_t offset; /* in struct chip */
	bool required;
	struct limits range;
};

/* ---- mistakes ----------------------------------------------------------------------------- */

/* "peak_flops.bf16.value", "aliases[2]"; cut when the buffer is full. */
static int path_text(const struct place *at, char *buf, int size)
{
	int len = at->up ? path_text(at->up, buf, size) : 0;
	int room = size - len;
	int more = at->key ? snprintf(buf + len, (size_t)room, "%s%s", len ? "." : "", at->key)
			   : snprintf(buf + len, (size_t)room, "[%d]", at->index);
	return more < room ? len + more : size - 1;
}

static bool fail(struct reader *r, const struct place *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static bool fail(struct reader *r, const struct place *at, const char *fmt, ...)
{
	char path[512] = "";
	va_list args;
	if (at)
		path_text(at, path, sizeof(path));
	va_start(args, fmt);
	struct str what = arena_vfmt(r->keep, fmt, args);
	va_end(args);
	struct str clean_path = text_clean(r->keep, str_from(path));
	what = text_clean(r->keep, what);
	return diag_set(r->err, DIAG_HARDWARE_FILE, "%.*s: %.*s%s%.*s", STR_ARG(r->file),
		STR_ARG(clean_path), at ? ": " : "", STR_ARG(what));
}

/* A value as the user wrote it, short enough for a message. */
static struct str shown(struct reader *r, const cJSON *v)
{
	if (cJSON_IsString(v))
		return arena_fmt(r->keep, "\"%.40s\"", v->valuestring);
	if (cJSON_IsNumber(v))
		return arena_fmt(r->keep, "%.12g", v->valuedouble);
	if (cJSON_IsBool(v))
		return cJSON_IsTrue(v) ? STR("true") : STR("false");
	if (cJSON_IsArray(v))
		return STR("a list");
	return cJSON_IsNull(v) ? STR("null") : STR("an object");
}

static bool expected(struct reader *r, const struct place *at, const char *what, const cJSON *v)
{
	struct str found = shown(r, v);
	return fail(r, at, "expected %s, found %.*s", what, STR_ARG(found));
}

static bool unknown_word(struct reader *r, const struct place *at, const char *what,
	struct str word, const struct str *words, ptrdiff_t count)
{
	struct str near = text_nearest(word, words, count), list = { "", 0 };
	if (near.p)
		return fail(r, at, "unknown %s \"%.*s\"; did you mean \"%.*s\"?", what,
			STR_ARG(str_head(word, 60)), STR_ARG(near));
	for (ptrdiff_t i = 0; i < count; i++)
		list = arena_fmt(
			r->keep, "%.*s%s%.*s", STR_ARG(list), i ? ", " : "", STR_ARG(words[i]));
	return fail(r, at, "unknown %s \"%.*s\"; known are %.*s", what, STR_ARG(str_head(word, 60)),
		STR_ARG(list));
}

/* ---- objects by table --------------------------------------------------------------------- */

static bool unknown_key(struct reader *r, const struct place *at, const char *name,
	const struct key *keys, int count)
{
	struct str words[KEYS_MAX];
	for (int i = 0; i < count; i++)
		words[i] = str_from(keys[i].name);
	return unknown_word(r, at, "key", str_from(name), words, count);
}

static int key_index(const struct key *keys, int count, const char *name)
{
	int i = 0;
	while (i < count && strcmp(keys[i].name, name) != 0)
		i++;
	return i;
}

static bool read_keys(struct reader *r, const struct place *at, const cJSON *object,
	const struct key *keys, int count)
{
	uint64_t seen = 0;
	if (!cJSON_IsObject(object))
		return expected(r, at, "an object", object);
	for (const cJSON *v = object->child; v; v = v->next) {
		struct place here = { at, v->string, 0 };
		int i = key_index(keys, count, v->string);
		if (i == count)
			return unknown_key(r, at, v->string, keys, count);
		if (seen & (uint64_t)1 << i)
			return fail(r, &here, "given twice");
		seen |= (uint64_t)1 << i;
		if (!keys[i].read(r, &here, v, &keys[i]))
			return false;
	}
	for (int i = 0; i < count; i++)
		if (keys[i].required && !(seen & (uint64_t)1 << i))
			return fail(r, at, "the key \"%s\" is missing", keys[i].name);
	return true;
}

/* ---- kinds of value ----------------------------------------------------------------------- */

static void *slot(struct reader *r, const struct key *k)
{
	return (char *)r->chip + k->offset;
}

static bool text(struct reader *r, const struct place *at, const cJSON *v, struct str *ret)
{
	if (!cJSON_IsString(v) || !v->valuestring[0])
		return expected(r, at, "a text", v);
	*ret = text_clean(r->keep, arena_str(r->keep, str_from(v->valuestring)));
	return true;
}

static bool read_text(struct reader *r, const struct place *at, const cJSON *v, const struct key *k)
{
	return text(r, at, v, slot(r, k));
}

static bool read_id(struct reader *r, const struct place *at, const cJSON *v, const struct key *k)
{
	struct str *id = slot(r, k);
	if (!text(r, at, v, id))
		return false;
	for (ptrdiff_t i = 0; i < id->len; i++) {
		char c = id->p[i];
		if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_')
			return expected(r, at, "lower-case letters, digits and '_'", v);
	}
	return true;
}

static bool number(struct reader *r, const struct place *at, const cJSON *v,
	const struct limits *range, double *ret)
{
	if (!cJSON_IsNumber(v) || !(v->valuedouble >= range->min && v->valuedouble <= range->max))
		return expected(r, at, range->expected, v);
	*ret = v->valuedouble;
	return true;
}

static bool whole(struct reader *r, const struct place *at, const cJSON *v,
	const struct limits *range, int *ret)
{
	double value = 0;
	if (!number(r, at, v, range, &value))
		return false;
	if (value != floor(value))
		return expected(r, at, "a whole number", v);
	*ret = (int)value;
	return true;
}

static bool read_whole(
	struct reader *r, const struct place *at, const cJSON *v, const struct key *k)
{
	return whole(r, at, v, &k->range, slot(r, k));
}

static bool read_bool(struct reader *r, const struct place *at, const cJSON *v, const struct key *k)
{
	if (!cJSON_IsBool(v))
		return expected(r, at, "true or false", v);
	*(bool *)slot(r, k) = cJSON_IsTrue(v);
	return true;
}

/* 8.19e11, or {"value": 8.19e11, "source": "data sheet"}. */
static bool sourced(struct reader *r, const struct place *at, const cJSON *v,
	const struct limits *range, struct chip_number *ret)
{
	ret->source = STR("not stated");
	if (!cJSON_IsObject(v))
		return number(r, at, v, range, &ret->value);
	static const struct key keys[] = { { .name = "value" }, { .name = "source" } };
	bool has[2] = { false, false };
	for (const cJSON *child = v->child; child; child = child->next) {
		struct place here = { at, child->string, 0 };
		int i = key_index(keys, 2, child->string);
		if (i == 2)
			return unknown_key(r, at, child->string, keys, 2);
		if (has[i])
			return fail(r, &here, "given twice");
		has[i] = true;
		if (i == 0 ? !number(r, &here, child, range, &ret->value)
			   : !text(r, &here, child, &ret->source))
			return false;
	}
	return has[0] || fail(r, at, "the key \"value\" is missing");
}

static bool read_number(
	struct reader *r, const struct place *at, const cJSON *v, const struct key *k)
{
	return sourced(r, at, v, &k->range, slot(r, k));
}

/* [lo, hi] into two doubles that stand side by side. */
static bool read_range(
	struct reader *r, const struct place *at, const cJSON *v, const struct key *k)
{
	double *ret = slot(r, k);
	if (!cJSON_IsArray(v) || cJSON_GetArraySize(v) != 2)
		return expected(r, at, "a list of two numbers, lowest and highest", v);
	for (int i = 0; i < 2; i++) {
		struct place here = { at, NULL, i };
		if (!number(r, &here, cJSON_GetArrayItem(v, i), &k->range, &ret[i]))
			return false;
	}
	return ret[0] <= ret[1] || fail(r, at, "the lowest is above the highest");
}

static bool list_of(struct reader *r, const struct place *at, const cJSON *v)
{
	if (!cJSON_IsArray(v))
		return expected(r, at, "a list", v);
	if (cJSON_GetArraySize(v) > LIST_MAX)
		return fail(r, at, "more than %d elements", LIST_MAX);
	return true;
}

static bool word(struct reader *r, const struct place *at, const cJSON *v, const char *what,
	const struct str *words, int count, int *ret)
{
	struct str found;
	if (!text(r, at, v, &found))
		return false;
	for (*ret = 0; *ret < count; ++*ret)
		if (words[*ret].p && str_eq(words[*ret], found))
			return true;
	return unknown_word(r, at, what, found, words, count);
}

/* ---- keys with a form of their own -------------------------------------------------------- */

static bool read_vendor(
	struct reader *r, const struct place *at, const cJSON *v, const struct key *k)
{
	static const struct str words[] = { STR_INIT("google"), STR_INIT("nvidia"), STR_INIT("amd"),
		STR_INIT("cpu") };
	int i;
	(void)k;
	if (!word(r, at, v, "vendor", words, 4, &i))
		return false;
	r->chip->vendor = (enum chip_vendor)(VENDOR_GOOGLE + i);
	return true;
}

static bool read_topology(
	struct reader *r, const struct place *at, const cJSON *v, const struct key *k)
{
	static const struct str words[] = {
		[TOPOLOGY_NONE] = STR_INIT("none"),
		[TOPOLOGY_TORUS_2D] = STR_INIT("torus_2d"),
		[TOPOLOGY_TORUS_3D] = STR_INIT("torus_3d"),
		[TOPOLOGY_SWITCH] = STR_INIT("switch"),
		[TOPOLOGY_MESH] = STR_INIT("mesh"),
	};
	int i;
	(void)k;
	if (!word(r, at, v, "topology", words, TOPOLOGY_MESH + 1, &i))
		return false;
	r->chip->topology = (enum chip_topology)i;
	r->chip->torus_axes = i == TOPOLOGY_TORUS_2D ? 2 : i == TOPOLOGY_TORUS_3D ? 3 : 0;
	return true;
}

static bool read_aliases(
	struct reader *r, const struct place *at, const cJSON *v, const struct key *k)
{
	struct chip *c = r->chip;
	(void)k;
	if (!list_of(r, at, v))
		return false;
	c->aliases = arena_make(r->keep, struct str, cJSON_GetArraySize(v));
	for (const cJSON *item = v->child; item; item = item->next) {
		struct place here = { at, NULL, (int)c->alias_count };
		if (!text(r, &here, item, &c->aliases[c->alias_count++]))
			return false;
	}
	return true;
}

static bool read_conflicts(
	struct reader *r, const struct place *at, const cJSON *v, const struct key *k)
{
	struct chip *c = r->chip;
	(void)k;
	if (!list_of(r, at, v))
		return false;
	c->conflicts = arena_make(r->keep, struct chip_conflict, cJSON_GetArraySize(v));
	for (const cJSON *item = v->child; item; item = item->next) {
		struct place here = { at, NULL, (int)c->conflict_count };
		struct chip_conflict *to = &c->conflicts[c->conflict_count++];
		const cJSON *field = cJSON_GetObjectItemCaseSensitive(item, "field");
		const cJSON *what = cJSON_GetObjectItemCaseSensitive(item, "text");
		if (!field || !what || cJSON_GetArraySize(item) != 2)
			return expected(r, &here, "{\"field\": \"...\", \"text\": \"...\"}", item);
		if (!text(r, &here, field, &to->field) || !text(r, &here, what, &to->text))
			return false;
	}
	return true;
}

/* "9.0" */
static bool read_capability(
	struct reader *r, const struct place *at, const cJSON *v, const struct key *k)
{
	struct str found, major, minor;
	int64_t high, low;
	(void)k;
	if (!text(r, at, v, &found))
		return false;
	if (!str_cut(found, '.', &major, &minor) || !str_to_i64(major, &high) ||
		!str_to_i64(minor, &low) || high < 1 || high > 1000 || low < 0 || low > 1000)
		return expected(r, at, "a compute capability such as \"9.0\"", v);
	r->chip->match_cc_major = (int)high;
	r->chip->match_cc_minor = (int)low;
	return true;
}

/* Operand types that run at one rate. */
static const struct {
	struct str name;
	unsigned char types[8]; /* enum dtype, ends with DTYPE_INVALID */
} peak_keys[] = {
	{ STR_INIT("f64"), { DTYPE_F64 } },
	{ STR_INIT("f32"), { DTYPE_F32 } },
	{ STR_INIT("f16"), { DTYPE_F16 } },
	{ STR_INIT("bf16"), { DTYPE_BF16 } },
	{ STR_INIT("f8"), { DTYPE_F8E5M2, DTYPE_F8E4M3FN, DTYPE_F8E4M3B11FNUZ, DTYPE_F8E5M2FNUZ,
				  DTYPE_F8E4M3FNUZ, DTYPE_F8E4M3, DTYPE_F8E3M4 } },
	{ STR_INIT("f6"), { DTYPE_F6E3M2FN, DTYPE_F6E2M3FN } },
	{ STR_INIT("f4"), { DTYPE_F4E2M1FN } },
	{ STR_INIT("s8"), { DTYPE_S8, DTYPE_U8 } },
	{ STR_INIT("s4"), { DTYPE_S4, DTYPE_U4 } },
};
enum { PEAK_KEYS = sizeof(peak_keys) / sizeof(peak_keys[0]) };

/* From a 1980s vector unit to a rack; outside, the unit was not FLOP/s. */
#define FLOPS                                                                                      \
	{                                                                                          \
		1e9, 1e18, "FLOP/s as a positive number in base units (1.97e14, not 197)"          \
	}

static bool read_peak(struct reader *r, const struct place *at, const cJSON *v, int i)
{
	static const struct limits flops = FLOPS;
	struct chip_number *first = &r->chip->peak[peak_keys[i].types[0]];
	if (!isnan(first->value))
		return fail(r, at, "given twice");
	if (!sourced(r, at, v, &flops, first))
		return false;
	for (const unsigned char *t = peak_keys[i].types; *t; t++)
		r->chip->peak[*t] = *first;
	return true;
}

static bool read_peaks(
	struct reader *r, const struct place *at, const cJSON *v, const struct key *k)
{
	(void)k;
	if (!cJSON_IsObject(v) || !v->child)
		return expected(r, at, "an object such as {\"bf16\": 1.97e14}", v);
	for (const cJSON *child = v->child; child; child = child->next) {
		struct place here = { at, child->string, 0 };
		struct str words[PEAK_KEYS], name = str_from(child->string);
		int i = 0;
		while (i < PEAK_KEYS && !str_eq(peak_keys[i].name, name))
			i++;
		for (int j = 0; i == PEAK_KEYS && j < PEAK_KEYS; j++)
			words[j] = peak_keys[j].name;
		if (i == PEAK_KEYS)
			return unknown_word(r, at, "type", name, words, PEAK_KEYS);
		if (!read_peak(r, &here, child, i))
			return false;
	}
	return true;
}

/* ---- the tables --------------------------------------------------------------------------- */

#define AT(field) offsetof(struct chip, field)
#define RATE                                                                                       \
	{                                                                                          \
		1e6, 1e15, "bytes/s as a positive number in base units (8.19e11, not 819)"         \
	}
#define SIZE                                                                                       \
	{                                                                                          \
		1e3, 1e15, "bytes as a positive number in base units (17179869184, not 16)"        \
	}
#define SHARE                                                                                      \
	{                                                                                          \
		0.01, 1, "a share above 0 and up to 1"                                             \
	}
#define COUNT(lo, hi)                                                                              \
	{                                                                                          \
		lo, hi, "a whole number from " #lo " to " #hi                                      \
	}
#define HERTZ                                                                                      \
	{                                                                                          \
		1e6, 1e11, "Hz as a positive number in base units (2.4e9, not 2400)"               \
	}

static const struct key attainable_keys[] = {
	{ "matmul", read_number, AT(attainable_matmul), false, SHARE },
	{ "matmul_f8", read_number, AT(attainable_matmul_f8), false, SHARE },
	{ "hbm", read_number, AT(attainable_hbm), false, SHARE },
	{ "link", read_number, AT(attainable_link), false, SHARE },
	{ "pcie", read_number, AT(attainable_pcie), false, SHARE },
};

static bool read_attainable(
	struct reader *r, const struct place *at, const cJSON *v, const struct key *k)
{
	(void)k;
	return read_keys(r, at, v, attainable_keys, 5);
}

static const struct key match_keys[] = {
	{ "compute_capability", read_capability, 0, true, { 0, 0, NULL } },
	{ "core_count", read_whole, AT(match_core_count), false, COUNT(1, 100000) },
	{ "memory_bytes", read_range, AT(match_memory_lo), false, SIZE },
	{ "clock_hz", read_range, AT(match_clock_lo), false, HERTZ },
};
/* read_range writes two doubles from the first one's address. */
_Static_assert(AT(match_memory_hi) == AT(match_memory_lo) + sizeof(double), "a range is a pair");
_Static_assert(AT(match_clock_hi) == AT(match_clock_lo) + sizeof(double), "a range is a pair");

static bool read_match(
	struct reader *r, const struct place *at, const cJSON *v, const struct key *k)
{
	(void)k;
	return read_keys(r, at, v, match_keys, 4);
}

static const struct key chip_keys[] = {
	{ "id", read_id, AT(id), true, { 0, 0, NULL } },
	{ "name", read_text, AT(name), true, { 0, 0, NULL } },
	{ "vendor", read_vendor, AT(vendor), true, { 0, 0, NULL } },
	{ "aliases", read_aliases, 0, false, { 0, 0, NULL } },
	{ "arch", read_text, AT(arch), false, { 0, 0, NULL } },
	{ "match", read_match, 0, false, { 0, 0, NULL } },
	{ "cores_per_chip", read_whole, AT(cores_per_chip), false, COUNT(1, 2) },
	{ "planes_per_chip", read_whole, AT(planes_per_chip), false, COUNT(0, 2) },
	{ "peak_flops", read_peaks, 0, true, { 0, 0, NULL } },
	{ "f32_vector_flops", read_number, AT(f32_vector_flops), false, FLOPS },
	{ "hbm_bytes", read_number, AT(hbm_bytes), false, SIZE },
	{ "hbm_bps", read_number, AT(hbm_bps), true, RATE },
	{ "on_chip_bytes", read_number, AT(on_chip_bytes), false, SIZE },
	{ "topology", read_topology, 0, false, { 0, 0, NULL } },
	{ "link_bps", read_number, AT(link_bps), false, RATE },
	{ "links", read_whole, AT(links), false, COUNT(1, 1000) },
	{ "torus_wrap", read_whole, AT(torus_wrap), false, COUNT(2, 1000) },
	{ "torus_axis_max", read_whole, AT(torus_axis_max), false, COUNT(2, 1000) },
	{ "scaleup_bps", read_number, AT(scaleup_bps), false, RATE },
	{ "scaleup_domain", read_whole, AT(scaleup_domain), false, COUNT(1, 1000000) },
	{ "switch_reduces", read_bool, AT(switch_reduces), false, { 0, 0, NULL } },
	{ "scaleout_bps", read_number, AT(scaleout_bps), false, RATE },
	{ "pcie_bps", read_number, AT(pcie_bps), false, RATE },
	{ "attainable", read_attainable, 0, false, { 0, 0, NULL } },
	{ "conflicts", read_conflicts, 0, false, { 0, 0, NULL } },
	{ "notes", read_text, AT(notes), false, { 0, 0, NULL } },
};
enum { CHIP_KEYS = sizeof(chip_keys) / sizeof(chip_keys[0]) };
_Static_assert(CHIP_KEYS <= KEYS_MAX, "read_keys counts keys in 64 bits");

/* ---- the whole ---------------------------------------------------------------------------- */

static struct chip *chip_new(struct reader *r)
{
	const struct chip_number unknown = { NAN, { NULL, 0 } };
	const struct chip_number whole_share = { 1.0, STR("nothing known") };
	struct chip *c = arena_make(r->keep, struct chip, 1);
	struct chip_number *numbers[] = { &c->f32_vector_flops, &c->hbm_bytes, &c->hbm_bps,
		&c->on_chip_bytes, &c->link_bps, &c->scaleup_bps, &c->scaleout_bps, &c->pcie_bps };
	for (int t = 0; t < DTYPE_COUNT; t++)
		c->peak[t] = unknown;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		*numbers[i] = unknown;
	c->attainable_matmul = c->attainable_hbm = whole_share;
	c->attainable_link = c->attainable_pcie = whole_share;
	c->attainable_matmul_f8 = unknown;
	c->match_memory_lo = c->match_memory_hi = c->match_clock_lo = c->match_clock_hi = NAN;
	c->cores_per_chip = c->planes_per_chip = 1;
	c->arch = c->notes = (struct str){ "", 0 };
	c->file = arena_str(r->keep, r->file);
	return c;
}

/* What no single key can tell. */
static bool is_whole(struct reader *r)
{
	const struct chip *c = r->chip;
	if (c->planes_per_chip != 1 && c->cores_per_chip != 2)
		return fail(
			r, NULL, "planes_per_chip %d needs cores_per_chip 2", c->planes_per_chip);
	if (c->torus_axes && (isnan(c->link_bps.value) || !c->scaleup_domain))
		return fail(r, NULL, "a torus needs link_bps and scaleup_domain");
	if (c->topology == TOPOLOGY_SWITCH && (isnan(c->scaleup_bps.value) || !c->scaleup_domain))
		return fail(r, NULL, "a switch needs scaleup_bps and scaleup_domain");
	if (c->topology == TOPOLOGY_MESH && (isnan(c->link_bps.value) || !c->scaleup_domain))
		return fail(r, NULL, "a mesh needs link_bps and scaleup_domain");
	return true;
}

const struct chip *chip_parse(
	struct str file, struct str json, struct arena *keep, struct diag *err)
{
	struct reader r = { text_clean(keep, file), keep, err, NULL };
	if (json.len > CHIP_FILE_MAX) {
		fail(&r, NULL, "%td bytes are too many for a chip's file; is it one?", json.len);
		return NULL;
	}
	cJSON *root = json_parse(r.file, json, err);
	if (!root)
		return NULL;
	r.chip = chip_new(&r);
	bool ok = read_keys(&r, NULL, root, chip_keys, CHIP_KEYS) && is_whole(&r);
	cJSON_Delete(root);
	if (isnan(r.chip->attainable_matmul_f8.value))
		r.chip->attainable_matmul_f8 = r.chip->attainable_matmul;
	return ok ? r.chip : NULL;
}
