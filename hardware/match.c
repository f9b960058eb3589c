/*
 * Which chip a device plane is: by what it calls itself, else by what it counts.
 *
 * A name that no file lists is not overruled by counters that fit some file: an H800 counts like an
 * H100 and has half its links.  Then the answer is "unknown", with the line that would settle it.
 */
#include "hardware/chip.h"

#include <math.h>

#include "base/text.h"

/* Room for every chip of the set: 39 files exist. */
#define CANDIDATES_MAX 64

struct candidates {
	const struct chip *items[CANDIDATES_MAX];
	int count;
};

/* ---- vendors ------------------------------------------------------------------------------ */

static enum chip_vendor vendor_of(struct str text)
{
	static const struct {
		struct str name;
		enum chip_vendor vendor;
	} names[] = {
		{ STR_INIT("nvidia"), VENDOR_NVIDIA },
		{ STR_INIT("amd"), VENDOR_AMD },
		{ STR_INIT("advancedmicrodevices"), VENDOR_AMD },
		{ STR_INIT("google"), VENDOR_GOOGLE },
	};
	text = str_head(text, 64);
	for (ptrdiff_t i = 0; i < COUNT_OF(names); i++)
		for (ptrdiff_t end = 1; end <= text.len; end++)
			if (chip_name_eq(str_head(text, end), names[i].name))
				return names[i].vendor;
	return VENDOR_UNKNOWN;
}

static bool is_vendor(const struct chip *c, enum chip_vendor v)
{
	return v == VENDOR_UNKNOWN || c->vendor == v;
}

/* ---- texts -------------------------------------------------------------------------------- */

static struct str names_of(const struct candidates *list, struct arena *keep)
{
	struct list ids = { 0 };
	for (int i = 0; i < list->count; i++)
		list_add(&ids, list->items[i]->id, keep);
	return words_joined(keep, ids.items, ids.count, ", ");
}

/* "compute capability 9.0, 132 cores, 84.9 GB, 1.98 GHz", of what is known. */
static struct str counters(const struct chip_hints *h, struct arena *keep)
{
	struct str text = STR("no compute capability");
	if (h->cc_major > 0)
		text = arena_fmt(keep, "compute capability %d.%d", h->cc_major, h->cc_minor);
	if (h->core_count > 0)
		text = arena_fmt(keep, "%.*s, %d cores", STR_ARG(text), h->core_count);
	if (h->memory_bytes > 0)
		text = arena_fmt(keep, "%.*s, %.1f GB", STR_ARG(text), h->memory_bytes / 1e9);
	if (h->clock_hz > 0)
		text = arena_fmt(keep, "%.*s, %.3g GHz", STR_ARG(text), h->clock_hz / 1e9);
	return text;
}

static struct str quoted(struct str name, struct arena *keep)
{
	struct str clean = str_head(text_clean(keep, name), 200);
	return arena_fmt(keep, "\"%.*s\"", STR_ARG(text_clean(keep, clean)));
}

static struct chip_match unknown(struct str why, struct str todo)
{
	return (struct chip_match){ NULL, why, todo };
}

/* ---- by name ------------------------------------------------------------------------------ */

static struct candidates called(struct chip_set *set, struct str name, enum chip_vendor v)
{
	struct candidates list = { .count = 0 };
	for (ptrdiff_t i = 0; name.len && i < set->count && list.count < CANDIDATES_MAX; i++)
		if (chip_mentions(set, i, name) && is_vendor(chip_at(set, i), v) &&
			chip_is_called(chip_at(set, i), name))
			list.items[list.count++] = chip_at(set, i);
	return list;
}

/* The chip whose names look most like this one, as a model to copy; else a common one. */
static struct str model_for(struct chip_set *set, struct str name, enum chip_vendor v)
{
	static const struct str common[] = { [VENDOR_UNKNOWN] = STR_INIT("h100_sxm"),
		[VENDOR_GOOGLE] = STR_INIT("tpu_v5e"),
		[VENDOR_NVIDIA] = STR_INIT("h100_sxm"),
		[VENDOR_AMD] = STR_INIT("mi300x"),
		[VENDOR_CPU] = STR_INIT("h100_sxm") };
	struct str *words = NULL;
	ptrdiff_t count = 0, cap = 0;
	for (ptrdiff_t i = 0; i < set->count; i++) {
		const struct chip *c = chip_at(set, i);
		for (ptrdiff_t j = 0; is_vendor(c, v) && j < c->alias_count; j++) {
			if (chip_name_eq(str_head(c->aliases[j], name.len), name))
				return c->id;
			*arena_push(&set->own, words, count, cap) = c->aliases[j];
		}
	}
	struct str near = text_nearest(name, words, count);
	return near.p ? called(set, near, v).items[0]->id : common[v];
}

static struct str add_alias(struct str quoted_name, struct str model, struct arena *keep)
{
	return arena_fmt(keep,
		"If `rooflint hardware` lists the chip by another name, pass that name with "
		"--hardware. Else write a like chip's file with `rooflint hardware %.*s --format "
		"json >chip.json`, put \"aliases\": [%.*s] and the chip's own figures into it, and "
		"pass it with --hardware chip.json",
		STR_ARG(model), STR_ARG(quoted_name));
}

static const struct str say_which = STR_INIT("Say which it is with --hardware");

static struct chip_match by_list(const struct candidates *list, struct str what, struct arena *keep)
{
	if (list->count == 1)
		return (struct chip_match){ list->items[0], what, MISSING };
	struct str ids = names_of(list, keep);
	return unknown(arena_fmt(keep, "%.*s fits %.*s", STR_ARG(what), STR_ARG(ids)), say_which);
}

static struct chip_match tpu(struct chip_set *set, struct str type, struct arena *keep)
{
	struct candidates list = called(set, type, VENDOR_UNKNOWN);
	struct str name = quoted(type, keep);
	if (list.count)
		return by_list(&list, arena_fmt(keep, "device type %.*s", STR_ARG(name)), keep);
	struct str model = model_for(set, type, VENDOR_GOOGLE);
	return unknown(
		arena_fmt(keep, "no hardware file knows the device type %.*s", STR_ARG(name)),
		add_alias(name, model, keep));
}

/* ---- by counters -------------------------------------------------------------------------- */

/* Neither contradicts: unknown on one side is no contradiction. */
static bool count_fits(int want, int have)
{
	return want <= 0 || have <= 0 || want == have;
}

static bool range_fits(double lo, double hi, double have)
{
	return isnan(lo) || !(have > 0) || (have >= lo && have <= hi);
}

static bool fits(const struct chip *c, const struct chip_hints *h, struct str arch)
{
	if (arch.len && !str_eq_nocase(c->arch, arch))
		return false;
	if (h->cc_major > 0 &&
		(c->match_cc_major != h->cc_major || c->match_cc_minor != h->cc_minor))
		return false;
	return c->match_cc_major && count_fits(c->match_core_count, h->core_count) &&
	       range_fits(c->match_memory_lo, c->match_memory_hi, h->memory_bytes) &&
	       range_fits(c->match_clock_lo, c->match_clock_hi, h->clock_hz);
}

/* NVIDIA's memory_bandwidth stat is exact enough to part an A100 SXM from its PCIe sister. */
#define BANDWIDTH_NEAR 0.015

static void keep_near(struct candidates *list, double bps)
{
	struct candidates near = { .count = 0 };
	for (int i = 0; i < list->count; i++)
		if (fabs(list->items[i]->hbm_bps.value / bps - 1) <= BANDWIDTH_NEAR)
			near.items[near.count++] = list->items[i];
	if (near.count == 1)
		*list = near;
}

static struct str capability(const struct chip_hints *h, struct arena *keep)
{
	return h->cc_major > 0 ? arena_fmt(keep, "%d.%d", h->cc_major, h->cc_minor) : STR("");
}

/* Of a device that says its architecture or its compute capability. */
static struct candidates counted(
	struct chip_set *set, const struct chip_hints *h, enum chip_vendor v, struct str arch)
{
	struct candidates list = { .count = 0 };
	struct str clue = arch.len ? arch : capability(h, &set->own);
	for (ptrdiff_t i = 0; i < set->count && list.count < CANDIDATES_MAX; i++)
		if (clue.len && chip_mentions(set, i, clue) && is_vendor(chip_at(set, i), v) &&
			fits(chip_at(set, i), h, arch))
			list.items[list.count++] = chip_at(set, i);
	if (list.count > 1 && v == VENDOR_NVIDIA && h->memory_bps > 0)
		keep_near(&list, h->memory_bps);
	return list;
}

static struct chip_match by_counters(struct chip_set *set, const struct chip_hints *h,
	enum chip_vendor v, struct str arch, struct arena *keep)
{
	struct candidates list = counted(set, h, v, arch);
	struct str what = counters(h, keep), ids = names_of(&list, keep);
	if (h->cc_major <= 0 && !arch.len)
		return unknown(
			STR("the chip is unknown: the device says neither its name nor its compute "
			    "capability"),
			STR("Name the chip with --hardware"));
	if (!list.count)
		return unknown(arena_fmt(keep, "no hardware file fits %.*s", STR_ARG(what)),
			STR("Write one with a \"match\" for these figures, as hardware/README.md "
			    "describes it, and pass it with --hardware"));
	if (h->core_count <= 0)
		return unknown(arena_fmt(keep, "%.*s without a core count could be %.*s",
				       STR_ARG(what), STR_ARG(ids)),
			say_which);
	return by_list(&list, what, keep);
}

/* The device has a name that no file lists. */
static struct chip_match unlisted(
	struct chip_set *set, const struct chip_hints *h, enum chip_vendor v, struct arena *keep)
{
	struct str name = quoted(h->device_name, keep), what = counters(h, keep);
	struct candidates list = counted(set, h, v, MISSING);
	struct str ids = names_of(&list, keep);
	if (str_contains(h->device_name, STR(" MIG ")))
		return unknown(
			arena_fmt(keep,
				"%.*s is a slice of a GPU (MIG), whose share of the peaks no "
				"file lists",
				STR_ARG(name)),
			STR("Write a file with the slice's figures and pass it with --hardware"));
	if (list.count)
		return unknown(
			arena_fmt(keep,
				"no hardware file lists the name %.*s, but its counters (%.*s) "
				"fit %.*s",
				STR_ARG(name), STR_ARG(what), STR_ARG(ids)),
			arena_fmt(keep,
				"If it is that chip, pass it with --hardware %.*s, or add %.*s to "
				"\"aliases\" in hardware/%.*s.json",
				STR_ARG(list.items[0]->id), STR_ARG(name),
				STR_ARG(list.items[0]->id)));
	struct str model = model_for(set, h->device_name, v);
	return unknown(arena_fmt(keep, "no hardware file lists the name %.*s (%.*s)", STR_ARG(name),
			       STR_ARG(what)),
		add_alias(name, model, keep));
}

/* "gfx942:sramecc+:xnack-" -> "gfx942"; missing for any other text. */
static struct str arch_of(struct str name)
{
	struct str arch, rest;
	if (!str_starts(name, STR("gfx")))
		return MISSING;
	str_cut(name, ':', &arch, &rest);
	return arch;
}

struct chip_match chip_recognise(
	struct chip_set *set, const struct chip_hints *hints, struct arena *keep)
{
	enum chip_vendor v = vendor_of(hints->vendor);
	struct str name = str_trim(hints->device_name), arch = arch_of(name);
	if (str_trim(hints->device_type).len)
		return tpu(set, str_trim(hints->device_type), keep);
	struct candidates list = called(set, name, v);
	struct str shown = quoted(name, keep);
	if (list.count)
		return by_list(&list, arena_fmt(keep, "device name %.*s", STR_ARG(shown)), keep);
	if (name.len && !arch.len)
		return unlisted(set, hints, v, keep);
	return by_counters(set, hints, v, arch, keep);
}
