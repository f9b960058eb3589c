/* Chips by name, and what one device plane of a chip can do.  See chip.h. */
#include "hardware/chip.h"

#include <math.h>

#include "base/embed.h"
#include "base/input.h"
#include "base/text.h"

/* ---- the set ------------------------------------------------------------------------------ */

static bool is_chip_file(struct str name)
{
	return str_starts(name, STR("hardware/")) && str_ends(name, STR(".json"));
}

/*
 * Sorted by id because embedded_files is sorted by name, a file is named after its id, and '.'
 * comes before every character an id may have.
 */
bool chip_set_load(struct arena *keep, struct chip_set *ret, struct diag *err)
{
	*ret = (struct chip_set){ arena_make(keep, const struct chip *, embedded_count), 0 };
	for (ptrdiff_t i = 0; i < embedded_count; i++) {
		struct str name = str_from(embedded_files[i].name);
		if (!is_chip_file(name))
			continue;
		const struct chip *c = chip_parse(name, embedded_files[i].text, keep, err);
		if (!c)
			return false;
		ret->items[ret->count++] = c;
	}
	return true;
}

/* ---- names -------------------------------------------------------------------------------- */

/* The next character that counts in a name, in lower case; 0 at the end. */
static char name_next(struct str *s)
{
	while (s->len) {
		char c = s->p[0];
		*s = str_from_offset(*s, 1);
		if (c >= 'A' && c <= 'Z')
			return (char)(c - 'A' + 'a');
		if (c && c != ' ' && c != '\t' && c != '-' && c != '_')
			return c;
	}
	return 0;
}

bool chip_name_eq(struct str a, struct str b)
{
	for (;;) {
		char c = name_next(&a);
		if (c != name_next(&b))
			return false;
		if (!c)
			return true;
	}
}

bool chip_is_called(const struct chip *c, struct str name)
{
	if (chip_name_eq(c->id, name) || chip_name_eq(c->name, name))
		return true;
	for (ptrdiff_t i = 0; i < c->alias_count; i++)
		if (chip_name_eq(c->aliases[i], name))
			return true;
	return false;
}

static bool is_path(struct str name)
{
	return str_find_char(name, '/') >= 0 || str_ends(name, STR(".json"));
}

static const struct chip *read_file(struct str path, struct arena *keep, struct diag *err)
{
	struct str text;
	return input_text(path, CHIP_FILE_MAX, keep, &text, err) ? chip_parse(path, text, keep, err)
								 : NULL;
}

/* Every id, name and alias, for "did you mean". */
static struct str nearest(const struct chip_set *set, struct str name, struct arena scratch)
{
	struct str *words = NULL;
	ptrdiff_t count = 0, cap = 0;
	for (ptrdiff_t i = 0; i < set->count; i++) {
		const struct chip *c = set->items[i];
		*arena_push(&scratch, words, count, cap) = c->id;
		*arena_push(&scratch, words, count, cap) = c->name;
		for (ptrdiff_t j = 0; j < c->alias_count; j++)
			*arena_push(&scratch, words, count, cap) = c->aliases[j];
	}
	return text_nearest(name, words, count);
}

/* Ids that begin with the name ("h100"), or all of them. */
static struct str ids(const struct chip_set *set, struct str prefix, struct arena *keep)
{
	struct str list = { "", 0 };
	for (ptrdiff_t i = 0; i < set->count; i++) {
		struct str id = set->items[i]->id;
		if (chip_name_eq(str_head(id, prefix.len), prefix))
			list = arena_fmt(keep, "%.*s%s%.*s", STR_ARG(list), list.len ? ", " : "",
				STR_ARG(id));
	}
	return list;
}

static void not_found(
	const struct chip_set *set, struct str name, struct arena scratch, struct diag *err)
{
	struct str clean = str_head(text_clean(&scratch, name), 200);
	struct str near = nearest(set, clean, scratch);
	struct str alike = clean.len ? ids(set, clean, &scratch) : (struct str){ "", 0 };
	struct str all = ids(set, (struct str){ "", 0 }, &scratch);
	diag_set(err, DIAG_HARDWARE_NAME, "no chip is called '%.*s'", STR_ARG(clean));
	if (alike.len)
		diag_append(err, "did you mean one of %.*s?", STR_ARG(alike));
	else if (near.p)
		diag_append(err, "did you mean '%.*s'?", STR_ARG(near));
	diag_append(err,
		"known are %.*s; for another one name a JSON file, as hardware/README.md "
		"describes it",
		STR_ARG(all));
}

const struct chip *chip_find(
	const struct chip_set *set, struct str name, struct arena *keep, struct diag *err)
{
	if (is_path(name))
		return read_file(name, keep, err);
	for (ptrdiff_t i = 0; i < set->count; i++)
		if (chip_is_called(set->items[i], name))
			return set->items[i];
	not_found(set, name, *keep, err);
	return NULL;
}

/* ---- one plane of a chip ------------------------------------------------------------------ */

/* How far a plane's own figure is from the table's, read as of `share` chips or of a whole one. */
static double drift(double own, double table, double share)
{
	if (!(own > 0) || !(table > 0))
		return NAN;
	double of_share = own / (table * share), of_chip = own / table;
	return fabs(log(of_share)) <= fabs(log(of_chip)) ? of_share : of_chip;
}

/* Below this part of a chip's peak (the geometric mean of 1/2 and 1) a plane is one core. */
#define CORE_BELOW 0.70710678

static double plane_share(const struct chip *c, const struct chip_hints *h)
{
	if (c->planes_per_chip)
		return 1.0 / c->planes_per_chip;
	double peak = h->peak_flops / c->peak[DTYPE_BF16].value;
	if (!(peak > 0))
		peak = h->peak_hbm_bps / c->hbm_bps.value;
	return peak > 0 && peak < CORE_BELOW ? 0.5 : 1.0;
}

/* What the plane says of its memory; AMD's figure is half of the truth. */
static double own_hbm_bps(const struct chip *c, const struct chip_hints *h)
{
	if (h->peak_hbm_bps > 0)
		return h->peak_hbm_bps;
	return c->vendor == VENDOR_NVIDIA ? h->memory_bps : NAN;
}

/* GPUs' figure is for their fastest 16-bit type, TPUs' for bf16. */
static double table_peak(const struct chip *c)
{
	double bf16 = c->peak[DTYPE_BF16].value;
	return isnan(bf16) ? c->peak[DTYPE_F16].value : bf16;
}

struct chip_device chip_device(const struct chip *chip, const struct chip_hints *hints)
{
	if (!chip)
		return (struct chip_device){ .share = 1, .peak_drift = NAN, .hbm_drift = NAN };
	double share = plane_share(chip, hints);
	return (struct chip_device){
		.chip = chip,
		.share = share,
		.peak_drift = drift(hints->peak_flops, table_peak(chip), share),
		.hbm_drift = drift(own_hbm_bps(chip, hints), chip->hbm_bps.value, share),
	};
}
