/* Chips by name, and what one device plane of a chip can do.  See chip.h. */
#include "hardware/chip.h"

#include <assert.h>
#include <math.h>

#include "base/doc.h"
#include "base/embed.h"
#include "base/input.h"
#include "base/text.h"

/* ---- the set --------------------------------------------------------------------------------- */

static bool is_chip_file(const struct embedded *file)
{
	struct str name = str_from(file->name);
	return str_starts(name, STR("hardware/")) && str_ends(name, STR(".json"));
}

/* The texts in double quotes up to the figures. */
static struct list words_of(struct str file, struct arena *keep)
{
	struct list words = { 0 };
	struct str word;
	while (str_cut(file, '"', &word, &file) && str_cut(file, '"', &word, &file) &&
		!str_eq(word, STR("peak_flops")))
		list_add(&words, word, keep);
	return words;
}

/*
 * Sorted by id because embedded_files is sorted by name, a file is named after its id, and '.'
 * comes before every character an id may have.
 */
struct chip_set *chip_set_new(struct arena *keep)
{
	struct chip_set *set = arena_make(keep, struct chip_set, 1);
	/* All chips and what reading them leaves behind are 2 MB; a user's file may be longer. */
	set->own = arena_new(ARENA_RUN_BYTES);
	ptrdiff_t cap = 0;
	for (const struct embedded *file = embedded_files; file->name; file++)
		if (is_chip_file(file))
			*arena_push(keep, set->entries, set->count, cap) =
				(struct chip_entry){ .file = file,
					.words = words_of(file->text, keep) };
	return set;
}

const struct chip *chip_at(struct chip_set *set, ptrdiff_t i)
{
	assert(i >= 0 && i < set->count);
	const struct embedded *file = set->entries[i].file;
	const struct chip **chip = &set->entries[i].chip;
	if (!*chip)
		*chip = chip_parse(str_from(file->name), file->text, &set->own, NULL);
	assert(*chip); /* the unit tests read them all */
	return *chip;
}

/* ---- names -------------------------------------------------------------------------------- */

/* The next character that counts in a name, in lower case; 0 at the end. */
static char name_next(struct str *s)
{
	while (s->len) {
		char c = s->p[0];
		*s = str_from_offset(*s, 1);
		if (c && c != ' ' && c != '\t' && c != '-' && c != '_')
			return lower_case(c);
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

bool chip_mentions(const struct chip_set *set, ptrdiff_t i, struct str text)
{
	const struct list *words = &set->entries[i].words;
	for (ptrdiff_t k = 0; k < words->count; k++)
		if (chip_name_eq(words->items[k], text))
			return true;
	return false;
}

static const struct chip *read_file(struct str path, struct arena *keep, struct diag *err)
{
	struct str text;
	return input_text(path, DOC_MAX_BYTES, keep, &text, err)
		       ? chip_parse(arena_str(keep, path), text, keep, err)
		       : NULL;
}

/* Ids that begin with the name, as three do with "h100", or go on with it, as two do with "v5". */
static struct list ids_from(struct chip_set *set, struct str prefix)
{
	struct list ids = { 0 };
	for (ptrdiff_t i = 0; prefix.len && i < set->count; i++) {
		struct str id = chip_at(set, i)->id, vendor, rest = MISSING;
		str_cut(id, '_', &vendor, &rest);
		if (chip_name_eq(str_head(id, prefix.len), prefix) ||
			chip_name_eq(str_head(rest, prefix.len), prefix))
			list_add(&ids, id, &set->own);
	}
	return ids;
}

enum { NEAR_CHIPS = 3, NEAR_LETTERS = 3 };

/* Ids of the chips whose id, name or alias is like the name, the likest first. */
static struct list ids_near(struct chip_set *set, struct str name)
{
	struct list words = { 0 }, of = { 0 }, ids = { 0 }; /* each word, and the id of its chip */
	struct str near;
	for (ptrdiff_t i = 0; i < set->count; i++) {
		const struct chip *c = chip_at(set, i);
		for (ptrdiff_t j = -2; j < c->alias_count; j++) {
			list_add(&words,
				j == -2	  ? c->id
				: j == -1 ? c->name
					  : c->aliases[j],
				&set->own);
			list_add(&of, c->id, &set->own);
		}
	}
	while (ids.count < NEAR_CHIPS && (near = text_nearest(name, words.items, words.count)).p) {
		ptrdiff_t at = 0;
		while (words.items[at].p != near.p)
			at++;
		list_add(&ids, of.items[at], &set->own);
		for (ptrdiff_t i = 0; i < of.count; i++)
			if (of.items[i].p == ids.items[ids.count - 1].p)
				words.items[i] = STR("");
	}
	return ids;
}

static void not_found(struct chip_set *set, struct str name, struct diag *err)
{
	struct str clean = str_head(text_clean(&set->own, name), 200);
	struct list alike = ids_from(set, clean);
	if (!alike.count)
		alike = ids_near(set, clean);
	for (ptrdiff_t n = clean.len - 1; !alike.count && n >= NEAR_LETTERS; n--)
		alike = ids_from(set, str_head(clean, n));
	diag_set(err, DIAG_HARDWARE_NAME, "no chip is called '%.*s'", STR_ARG(clean));
	if (alike.count)
		diag_append(err, "did you mean %s%.*s?", alike.count > 1 ? "one of " : "",
			STR_ARG(words_joined(&set->own, alike.items, alike.count, ", ")));
	diag_append(err, "`rooflint hardware` lists all; for another one name a YAML or JSON file, "
			 "as hardware/README.md describes it");
}

const struct chip *chip_find(struct chip_set *set, struct str name, struct diag *err)
{
	if (str_find_char(name, '/') >= 0 || str_ends(name, STR(".json")) ||
		str_ends(name, STR(".yaml")) || str_ends(name, STR(".yml")))
		return read_file(name, &set->own, err);
	for (ptrdiff_t i = 0; i < set->count; i++)
		if (chip_mentions(set, i, name) && chip_is_called(chip_at(set, i), name))
			return chip_at(set, i);
	not_found(set, name, err);
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
	if (c->vendor == VENDOR_AMD)
		return NAN;
	return h->peak_hbm_bps > 0 ? h->peak_hbm_bps : h->memory_bps;
}

const struct chip_number *chip_peak16(const struct chip *c)
{
	const struct chip_number *bf16 = &c->peak[DTYPE_BF16];
	return isfinite(bf16->value) ? bf16 : &c->peak[DTYPE_F16];
}

struct chip_device chip_device(const struct chip *chip, const struct chip_hints *hints)
{
	if (!chip)
		return (struct chip_device){ .share = 1, .peak_drift = NAN, .hbm_drift = NAN };
	double share = plane_share(chip, hints);
	return (struct chip_device){
		.chip = chip,
		.share = share,
		/* GPUs' figure is for their fastest 16-bit type, TPUs' for bf16. */
		.peak_drift = drift(hints->peak_flops, chip_peak16(chip)->value, share),
		.hbm_drift = drift(own_hbm_bps(chip, hints), chip->hbm_bps.value, share),
	};
}
