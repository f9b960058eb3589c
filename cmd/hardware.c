/*
 * rooflint hardware: the chips it knows, and one in full with the source of every number.
 */
#include <math.h>

#include "base/text.h"
#include "base/unit.h"
#include "cmd/cmd.h"
#include "cmd/grid.h"
#include "hardware/chip.h"

enum format { FORMAT_TEXT, FORMAT_JSON };

struct hardware_settings {
	int format;
};

/* ---- words ----------------------------------------------------------------------------------- */

static const char *const vendors[] = {
	[VENDOR_UNKNOWN] = "unknown",
	[VENDOR_GOOGLE] = "Google",
	[VENDOR_NVIDIA] = "NVIDIA",
	[VENDOR_AMD] = "AMD",
	[VENDOR_CPU] = "CPU",
};

static const char *const topologies[] = {
	[TOPOLOGY_NONE] = "no links between chips",
	[TOPOLOGY_TORUS_2D] = "2D torus",
	[TOPOLOGY_TORUS_3D] = "3D torus",
	[TOPOLOGY_SWITCH] = "switch: full rate to any peer",
	[TOPOLOGY_MESH] = "a link to every other chip of the node",
};

/* The numbers of a chip besides its peaks. */
static const struct chip_line {
	const char *label;
	ptrdiff_t offset; /* of the chip_number */
	enum unit unit;
} lines[] = {
	{ "f32, vector units", offsetof(struct chip, f32_vector_flops), UNIT_FLOPS_PER_SECOND },
	{ "HBM", offsetof(struct chip, hbm_bytes), UNIT_BYTES },
	{ "HBM bandwidth", offsetof(struct chip, hbm_bps), UNIT_BYTES_PER_SECOND },
	{ "on-chip memory", offsetof(struct chip, on_chip_bytes), UNIT_BYTES },
	{ "one link, one way", offsetof(struct chip, link_bps), UNIT_BYTES_PER_SECOND },
	{ "scale-up, one way", offsetof(struct chip, scaleup_bps), UNIT_BYTES_PER_SECOND },
	{ "scale-out", offsetof(struct chip, scaleout_bps), UNIT_BYTES_PER_SECOND },
	{ "PCIe", offsetof(struct chip, pcie_bps), UNIT_BYTES_PER_SECOND },
	{ "attainable, matmul", offsetof(struct chip, attainable_matmul), UNIT_RATIO },
	{ "attainable, HBM", offsetof(struct chip, attainable_hbm), UNIT_RATIO },
	{ "attainable, link", offsetof(struct chip, attainable_link), UNIT_RATIO },
	{ "attainable, PCIe", offsetof(struct chip, attainable_pcie), UNIT_RATIO },
};

/* ---- all chips ------------------------------------------------------------------------------- */

static struct str number_text(const struct chip_number *n, enum unit u, struct arena *keep)
{
	return isfinite(n->value) ? unit_text(keep, n->value, u) : STR("-");
}

static void put_list(struct context *c, struct chip_set *set)
{
	struct grid g = { .keep = c->keep, .columns = 5, .has_header = true };
	grid_row(
		&g, STR("NAME"), STR("CHIP"), STR("BF16 (F16) PEAK"), STR("HBM"), STR("BANDWIDTH"));
	for (ptrdiff_t i = 0; i < set->count; i++) {
		const struct chip *chip = chip_at(set, i);
		grid_row(&g, chip->id, chip->name,
			number_text(chip_peak16(chip), UNIT_FLOPS_PER_SECOND, c->keep),
			number_text(&chip->hbm_bytes, UNIT_BYTES, c->keep),
			number_text(&chip->hbm_bps, UNIT_BYTES_PER_SECOND, c->keep));
	}
	grid_print(&g, c->out);
}

/* ---- one chip -------------------------------------------------------------------------------- */

static void add_number(struct grid *g, struct str label, const struct chip_number *n, enum unit u)
{
	if (isfinite(n->value))
		grid_row(g, label, unit_text(g->keep, n->value, u), n->source);
}

static void put_field(struct context *c, const char *label, struct str text)
{
	/* As wide as the labels below it. */
	enum { COLUMN = 22 };
	if (!text.len)
		return;
	out_fmt(c->out, "  %-*s", COLUMN - 2, label);
	print_words(c->out, text, COLUMN, COLUMN, TEXT_WIDTH);
}

static struct str domain_text(const struct chip *c, struct arena *keep)
{
	struct out *o = out_memory(keep);
	out_z(o, topologies[c->topology]);
	if (c->links)
		out_fmt(o, ", %d links", c->links);
	if (c->scaleup_domain > 1)
		out_fmt(o, ", up to %d chips", c->scaleup_domain);
	if (c->torus_wrap)
		out_fmt(o, ", axes of a multiple of %d wrap", c->torus_wrap);
	if (c->switch_reduces)
		out_z(o, ", reduces in the switch");
	return out_text(o);
}

/* A file gives one figure for all 8-bit floats, and one for signed and unsigned integers. */
static struct str peak_label(enum dtype t)
{
	struct str name = dtype_name(t);
	if (str_starts(name, STR("f8e")))
		return STR("f8");
	return t == DTYPE_U8 ? STR("s8") : t == DTYPE_U4 ? STR("s4") : name;
}

static void put_numbers(struct context *c, const struct chip *chip)
{
	struct grid g = { .keep = c->keep, .columns = 3, .indent = 2, .wrap = TEXT_WIDTH };
	for (int i = 0; i < DTYPE_COUNT; i++) {
		enum dtype t = (enum dtype)i;
		bool is_said = false;
		for (int k = 0; k < i; k++)
			is_said |= str_eq(peak_label((enum dtype)k), peak_label(t)) &&
				   chip->peak[k].value == chip->peak[t].value;
		if (is_said)
			continue;
		add_number(&g, arena_fmt(c->keep, "peak, %.*s", STR_ARG(peak_label(t))),
			&chip->peak[t], UNIT_FLOPS_PER_SECOND);
	}
	for (int i = 0; i < COUNT_OF(lines); i++) {
		const void *number = (const char *)chip + lines[i].offset;
		add_number(&g, str_from(lines[i].label), number, lines[i].unit);
	}
	grid_print(&g, c->out);
}

static void put_chip(struct context *c, const struct chip *chip)
{
	struct out *aliases = out_memory(c->keep);
	out_fmt(c->out, "%.*s: %.*s\n", STR_ARG(chip->id), STR_ARG(chip->name));
	put_field(c, "vendor", str_from(vendors[chip->vendor]));
	for (ptrdiff_t i = 0; i < chip->alias_count; i++)
		out_str(out_part(aliases, ", "), chip->aliases[i]);
	put_field(c, "also called", out_text(aliases));
	put_field(c, "architecture", chip->arch);
	put_field(c, "cores",
		arena_fmt(c->keep, "%d a chip, shown as %s", chip->cores_per_chip,
			chip->planes_per_chip == 1   ? "one device plane"
			: chip->planes_per_chip == 2 ? "two device planes"
						     : "one or two device planes"));
	put_field(c, "topology", domain_text(chip, c->keep));
	put_field(c, "from", chip->file);
	out_z(c->out, "\nDense peaks and rates, each with its source:\n");
	put_numbers(c, chip);
	if (chip->conflict_count)
		out_z(c->out, "\nWhere sources disagree:\n");
	for (ptrdiff_t i = 0; i < chip->conflict_count; i++)
		put_field(c, arena_z(c->keep, chip->conflicts[i].field), chip->conflicts[i].text);
	if (chip->notes.len) {
		out_z(c->out, "\n");
		print_paragraphs(c->out, chip->notes, 0, TEXT_WIDTH);
	}
}

/* ---- files ----------------------------------------------------------------------------------- */

static void put_files(struct context *c, struct chip_set *set)
{
	out_z(c->out, "[\n");
	for (ptrdiff_t i = 0; i < set->count; i++) {
		out_str(c->out, str_trim(chip_at(set, i)->text));
		out_z(c->out, i + 1 < set->count ? ",\n" : "\n");
	}
	out_z(c->out, "]\n");
}

/* ---- the command ----------------------------------------------------------------------------- */

static enum status hardware_run(struct context *c, const void *settings, const struct list *args)
{
	const struct hardware_settings *s = settings;
	bool json = s->format == FORMAT_JSON;
	struct chip_set *set = chip_set_new(c->keep);
	struct diag err;
	const struct chip *chip = args->count ? chip_find(set, args->items[0], &err) : NULL;
	if (args->count && !chip)
		return misused(&err);
	if (chip && json)
		out_str(c->out, chip->text);
	else if (chip)
		put_chip(c, chip);
	else if (json)
		put_files(c, set);
	else
		put_list(c, set);
	return STATUS_OK;
}

static const struct option hardware_options[] = {
	{ "format", 0, OPTION_WORD, offsetof(struct hardware_settings, format), "text|json",
		"for people (default), or the chip's own file: edit a copy and give it to "
		"--hardware" },
	OPTIONS_END,
};

const struct command hardware_command = {
	.name = "hardware",
	.arguments = "[NAME|FILE]",
	.summary = "the chips it knows, or one with all its numbers and their sources",
	.details = "NAME is an id, a name or an alias (\"h100_sxm\", \"TPU v5 lite\"). A FILE is "
		   "checked and shown as rooflint understands it.",
	.options = hardware_options,
	.most = 1,
	.settings_bytes = sizeof(struct hardware_settings),
	.run = hardware_run,
};
