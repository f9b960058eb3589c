/* hardware/: every chip file, names and counters of real captures, and mistakes in users' files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "base/embed.h"
#include "hardware/chip.h"

static struct arena keep;
static struct chip_set *set;
static struct diag err;

static int load(void **state)
{
	(void)state;
	keep = arena_new(ARENA_SCRATCH_BYTES);
	set = chip_set_new(&keep);
	return 0;
}

static int unload(void **state)
{
	(void)state;
	arena_free(&keep);
	return 0;
}

#define assert_str(s, text) assert_string_equal(arena_z(&keep, (s)), (text))

static void assert_says(struct str s, const char *part)
{
	if (!str_contains(s, str_from(part)))
		fail_msg("\"%.*s\" lacks \"%s\"", STR_ARG(s), part);
}

static const struct chip *find(const char *name)
{
	const struct chip *c = chip_find(set, str_from(name), &err);
	if (!c)
		fail_msg("%s: %s", name, err.text);
	return c;
}

/* ---- the files ---------------------------------------------------------------------------- */

static void every_file_is_named_after_its_chip(void **state)
{
	(void)state;
	assert_true(set->count >= 22);
	for (ptrdiff_t i = 0; i < set->count; i++) {
		const struct chip *c = chip_at(set, i);
		struct str path = arena_fmt(&keep, "hardware/%.*s.json", STR_ARG(c->id));
		assert_true(str_eq(c->file, path));
		assert_non_null(embed_find(path).p);
		if (i)
			assert_true(str_cmp(chip_at(set, i - 1)->id, c->id) < 0);
	}
}

static void assert_sourced(const struct chip *c, const char *what, struct chip_number n)
{
	if (!isnan(n.value) && (n.source.len < 5 || str_eq(n.source, STR("not stated"))))
		fail_msg("%.*s: %s has no source", STR_ARG(c->id), what);
}

static void every_number_has_a_source(void **state)
{
	(void)state;
	for (ptrdiff_t i = 0; i < set->count; i++) {
		const struct chip *c = chip_at(set, i);
		for (int t = 0; t < DTYPE_COUNT; t++)
			assert_sourced(c, dtype_name((enum dtype)t).p, c->peak[t]);
		assert_sourced(c, "f32_vector_flops", c->f32_vector_flops);
		assert_sourced(c, "hbm_bytes", c->hbm_bytes);
		assert_sourced(c, "hbm_bps", c->hbm_bps);
		assert_sourced(c, "on_chip_bytes", c->on_chip_bytes);
		assert_sourced(c, "link_bps", c->link_bps);
		assert_sourced(c, "scaleup_bps", c->scaleup_bps);
		assert_sourced(c, "scaleout_bps", c->scaleout_bps);
		assert_sourced(c, "pcie_bps", c->pcie_bps);
		assert_sourced(c, "attainable.matmul", c->attainable_matmul);
		assert_sourced(c, "attainable.matmul_f8", c->attainable_matmul_f8);
		assert_sourced(c, "attainable.hbm", c->attainable_hbm);
		assert_sourced(c, "attainable.link", c->attainable_link);
		assert_sourced(c, "attainable.pcie", c->attainable_pcie);
		assert_true(c->hbm_bytes.value > 0 && c->hbm_bps.value > 0);
	}
}

/* What chip_recognise and chip_find look for stands where chip_mentions looks. */
static void names_stand_before_figures(void **state)
{
	(void)state;
	for (ptrdiff_t i = 0; i < set->count; i++) {
		const struct chip *c = chip_at(set, i);
		assert_true(chip_mentions(set, i, c->id) && chip_mentions(set, i, c->name));
		for (ptrdiff_t k = 0; k < c->alias_count; k++)
			assert_true(chip_mentions(set, i, c->aliases[k]));
		if (c->arch.len)
			assert_true(chip_mentions(set, i, c->arch));
		if (c->match_cc_major)
			assert_true(chip_mentions(set, i,
				arena_fmt(&keep, "%d.%d", c->match_cc_major, c->match_cc_minor)));
	}
}

/* A name that two files claim would make every such device ambiguous. */
static void no_name_is_taken_twice(void **state)
{
	(void)state;
	for (ptrdiff_t i = 0; i < set->count; i++)
		for (ptrdiff_t j = 0; j < set->count; j++) {
			const struct chip *a = chip_at(set, i), *b = chip_at(set, j);
			if (i == j)
				continue;
			assert_false(chip_is_called(b, a->id));
			assert_false(chip_is_called(b, a->name));
			for (ptrdiff_t k = 0; k < a->alias_count; k++)
				assert_false(chip_is_called(b, a->aliases[k]));
		}
}

static void links_add_up(void **state)
{
	(void)state;
	for (ptrdiff_t i = 0; i < set->count; i++) {
		const struct chip *c = chip_at(set, i);
		double sum = c->link_bps.value * c->links;
		if (c->links && !isnan(c->scaleup_bps.value))
			assert_true(fabs(sum / c->scaleup_bps.value - 1) < 0.01);
	}
}

static void figures_of_the_table(void **state)
{
	(void)state;
	const struct chip *v5e = find("tpu_v5e"), *h100 = find("h100_sxm"), *mi = find("mi300x");
	assert_true(v5e->peak[DTYPE_BF16].value == 1.97e14);
	assert_true(v5e->peak[DTYPE_U8].value == 3.94e14);
	assert_true(isnan(v5e->peak[DTYPE_F32].value) && isnan(v5e->peak[DTYPE_F8E4M3FN].value));
	assert_int_equal(v5e->torus_axes, 2);
	assert_int_equal(v5e->torus_wrap, 16);
	assert_true(v5e->attainable_matmul.value == 0.95);
	assert_true(h100->peak[DTYPE_F32].value == 4.947e14);
	assert_true(h100->peak[DTYPE_F8E5M2].value == 1.9789e15);
	assert_true(h100->scaleup_bps.value == 4.5e11 && h100->scaleup_domain == 8);
	assert_true(mi->peak[DTYPE_F32].value == 1.634e14);
	assert_true(mi->peak[DTYPE_F8E4M3FNUZ].value == mi->peak[DTYPE_F8E4M3FN].value);
	assert_true(mi->conflict_count == 3);
	assert_str(mi->conflicts[0].field, "attainable.matmul");
	assert_true(isnan(find("gtx1080ti")->peak[DTYPE_BF16].value));
}

/* ---- names -------------------------------------------------------------------------------- */

static void names(void **state)
{
	(void)state;
	assert_true(chip_name_eq(STR("TPU v5 lite"), STR("tpu_v5-LITE")));
	assert_true(chip_name_eq(STR("TPU  V4"), STR("TPU v4")));
	assert_false(chip_name_eq(STR("TPU v5"), STR("TPU v5 lite")));
	assert_false(chip_name_eq(STR("TPU v5"), STR("TPU v")));
	assert_true(chip_name_eq(STR(""), STR(" -_")));
	assert_str(find("v5e")->id, "tpu_v5e");
	assert_str(find("TPU v5")->id, "tpu_v5p");
	assert_str(find("H100-SXM")->id, "h100_sxm");
	assert_str(find("NVIDIA H200")->id, "h200");
}

static void unknown_names(void **state)
{
	static const struct str files[] = { STR_INIT("no.json"), STR_INIT("no.yaml"),
		STR_INIT("no.yml"), STR_INIT("./no") };
	(void)state;
	assert_null(chip_find(set, STR("tpu_v5x"), &err));
	assert_int_equal(err.id, DIAG_HARDWARE_NAME);
	assert_says(str_from(err.text), "no chip is called 'tpu_v5x'");
	assert_says(str_from(err.text), "did you mean one of tpu_v5e, tpu_v5p, tpu_v7x?");
	assert_null(strstr(err.text, "mi300x"));
	assert_null(chip_find(set, STR("warp-core"), &err));
	assert_null(strstr(err.text, "did you mean"));
	static const char *const begun[] = { "H100", "h1000", "h100-pcie-80" };
	for (int i = 0; i < COUNT_OF(begun); i++) {
		assert_null(chip_find(set, str_from(begun[i]), &err));
		assert_says(str_from(err.text), "did you mean");
		assert_says(str_from(err.text), "h100_pcie");
	}
	assert_null(chip_find(set, STR("v5"), &err));
	assert_says(str_from(err.text), "did you mean one of tpu_v5e, tpu_v5p?");
	assert_null(chip_find(set, STR(""), &err));
	assert_says(str_from(err.text), "`rooflint hardware` lists all");
	assert_null(chip_find(set, STR("\x1b[31mred"), &err));
	assert_null(strchr(err.text, 0x1b));
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		assert_null(chip_find(set, files[i], &err));
		assert_int_equal(err.id, DIAG_FILE_OPEN);
	}
}

/* ---- recognition -------------------------------------------------------------------------- */

static struct chip_match recognise(struct chip_hints h)
{
	struct chip_match m = chip_recognise(set, &h, &keep);
	assert_true(m.why.len > 0);
	return m;
}

/* Several chips fit. */
static bool is_open(const struct chip_match *m)
{
	return !m->chip && str_ends(m->todo, STR("Say which it is with --hardware"));
}

static void assert_is(struct chip_hints h, const char *id)
{
	struct chip_match m = recognise(h);
	if (!m.chip)
		fail_msg("not %s: %.*s", id, STR_ARG(m.why));
	assert_str(m.chip->id, id);
	assert_false(is_open(&m));
}

static void tpus_by_type(void **state)
{
	static const struct {
		const char *type, *id;
	} cases[] = {
		{ "TPU v2", "tpu_v2" },
		{ "TPU v3", "tpu_v3" },
		{ "TPU v4", "tpu_v4" },
		{ "TPU V4", "tpu_v4" },
		{ "TPU v5", "tpu_v5p" },
		{ "TPU v5p", "tpu_v5p" },
		{ "TPU v5 lite", "tpu_v5e" },
		{ "TPU v5 Lite", "tpu_v5e" },
		{ "TPU v5e", "tpu_v5e" },
		{ "tpu  v5  lite", "tpu_v5e" },
		{ "TPU v6 Lite", "tpu_v6e" },
		{ "TPU v6 lite", "tpu_v6e" },
		{ "TPU v6e", "tpu_v6e" },
		{ "TPU v7x", "tpu_v7x" },
		{ "TPU7x", "tpu_v7x" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_is(
			(struct chip_hints){ .device_type = str_from(cases[i].type) }, cases[i].id);
}

static void an_unknown_tpu_gets_a_line_to_add(void **state)
{
	(void)state;
	struct chip_match m = recognise((struct chip_hints){ .device_type = STR("TPU v9 lite") });
	assert_null(m.chip);
	assert_false(is_open(&m));
	assert_says(m.why, "no hardware file knows the device type \"TPU v9 lite\"");
	assert_says(m.todo, "`rooflint hardware` lists the chip by another name");
	assert_says(m.todo, "put \"aliases\": [\"TPU v9 lite\"] and");
	assert_says(m.todo, "--hardware");
	m = recognise((struct chip_hints){ .device_type = STR("TPU v6") });
	assert_says(m.todo, "`rooflint hardware tpu_v6e --format json");
	m = recognise((struct chip_hints){ .device_type = STR("TPU\n\x01v9") });
	assert_null(memchr(m.why.p, 1, (size_t)m.why.len));
}

/* As the planes of public captures say it (openxla/xprof, AMD-AGI/TraceLens, EnzymeAD/Reactant). */
static void real_captures(void **state)
{
	(void)state;
	assert_is((struct chip_hints){ .device_type = STR("TPU v6 Lite"),
			  .peak_flops = 918e12,
			  .peak_hbm_bps = 1637.993152512e9 },
		"tpu_v6e");
	assert_is((struct chip_hints){ .device_name = STR("NVIDIA GeForce GTX 1080 Ti"),
			  .vendor = STR("Nvidia"),
			  .cc_major = 6,
			  .cc_minor = 1,
			  .core_count = 28,
			  .clock_hz = 1.582e9,
			  .memory_bytes = 11707547648.0,
			  .memory_bps = 484.44e9 },
		"gtx1080ti");
	assert_is((struct chip_hints){ .vendor = STR("AMD"),
			  .cc_major = 9,
			  .cc_minor = 4,
			  .core_count = 304,
			  .clock_hz = 2.1e9,
			  .memory_bytes = 206158430208.0,
			  .memory_bps = 2662.4e9 },
		"mi300x");
	assert_is((struct chip_hints){ .vendor = STR("AMD"),
			  .cc_major = 9,
			  .cc_minor = 5,
			  .core_count = 256,
			  .clock_hz = 2.4e9,
			  .memory_bytes = 309237645312.0,
			  .memory_bps = 4096e9 },
		"mi355x");
	/* Planes of GPUs that did not run carry the vendor and nothing else. */
	struct chip_match m = recognise((struct chip_hints){ .vendor = STR("AMD") });
	assert_null(m.chip);
	assert_says(m.why, "neither its name nor its compute capability");
}

static struct chip_hints nvidia(const char *name, int major, int minor, int cores, double bytes)
{
	return (struct chip_hints){ .vendor = STR("Nvidia"),
		.device_name = str_from(name),
		.cc_major = major,
		.cc_minor = minor,
		.core_count = cores,
		.memory_bytes = bytes };
}

static void nvidia_by_name(void **state)
{
	static const struct {
		const char *name, *id;
	} cases[] = {
		{ "Tesla V100-SXM2-16GB", "v100_sxm2" },
		{ "NVIDIA A100-SXM4-40GB", "a100_sxm_40" },
		{ "NVIDIA A100-SXM4-80GB", "a100_sxm_80" },
		{ "NVIDIA A100 80GB PCIe", "a100_pcie_80" },
		{ "NVIDIA H100 80GB HBM3", "h100_sxm" },
		{ "NVIDIA H100 PCIe", "h100_pcie" },
		{ "NVIDIA H200", "h200" },
		{ "NVIDIA B200", "b200" },
		{ "NVIDIA GB200", "gb200" },
		{ "NVIDIA L4", "l4" },
		{ "NVIDIA L40S", "l40s" },
		{ "Tesla T4", "t4" },
		{ "NVIDIA A10", "a10" },
		{ "NVIDIA A40", "a40" },
		{ "NVIDIA L40", "l40" },
		{ "NVIDIA RTX A6000", "rtx_a6000" },
		{ "NVIDIA GeForce RTX 3090", "rtx3090" },
		{ "NVIDIA GeForce RTX 4090", "rtx4090" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_is(nvidia(cases[i].name, 0, 0, 0, 0), cases[i].id);
	/* The name wins over counters that say something else. */
	assert_is(nvidia("NVIDIA H200", 9, 0, 132, 85e9), "h200");
}

static void nvidia_by_counters(void **state)
{
	(void)state;
	assert_is(nvidia(NULL, 9, 0, 132, 84942979072.0), "h100_sxm");
	assert_is(nvidia(NULL, 9, 0, 114, 84942979072.0), "h100_pcie");
	assert_is(nvidia(NULL, 9, 0, 132, 151397597184.0), "h200");
	assert_is(nvidia(NULL, 10, 0, 148, 191514411008.0), "b200");
	assert_is(nvidia(NULL, 10, 0, 152, 197897748480.0), "gb200");
	assert_is(nvidia(NULL, 7, 0, 80, 16935682048.0), "v100_sxm2");
	assert_is(nvidia(NULL, 8, 9, 58, 24e9), "l4");
}

static void bandwidth_parts_the_a100s(void **state)
{
	(void)state;
	struct chip_hints h = nvidia(NULL, 8, 0, 108, 85100068864.0);
	struct chip_match m = recognise(h);
	assert_true(is_open(&m));
	assert_null(m.chip);
	assert_says(m.why, "a100_pcie_80, a100_sxm_80");
	h.memory_bps = 2039e9;
	assert_is(h, "a100_sxm_80");
	h.memory_bps = 1935e9;
	assert_is(h, "a100_pcie_80");
}

static void too_little_is_ambiguous(void **state)
{
	(void)state;
	struct chip_match m = recognise(nvidia(NULL, 9, 0, 132, 0));
	assert_true(is_open(&m));
	assert_says(m.why, "gh200_96, h100_nvl, h100_sxm, h200");
	m = recognise((struct chip_hints){
		.vendor = STR("AMD"), .cc_major = 9, .cc_minor = 4, .core_count = 304 });
	assert_true(is_open(&m));
	assert_says(m.why, "mi300x, mi325x");
	assert_is((struct chip_hints){ .vendor = STR("AMD"),
			  .cc_major = 9,
			  .cc_minor = 4,
			  .core_count = 304,
			  .memory_bytes = 256e9 },
		"mi325x");
	m = recognise(nvidia(NULL, 7, 0, 0, 16e9));
	assert_true(is_open(&m));
	assert_says(m.why, "without a core count could be v100_sxm2");
	m = recognise(nvidia(NULL, 5, 2, 24, 12e9));
	assert_false(is_open(&m));
	assert_says(m.why, "no hardware file fits compute capability 5.2, 24 cores, 12.0 GB");
}

static void amd_by_clock_and_architecture(void **state)
{
	struct chip_hints h = { .vendor = STR("AMD"),
		.cc_major = 9,
		.cc_minor = 5,
		.core_count = 256,
		.memory_bytes = 309e9 };
	(void)state;
	struct chip_match m = recognise(h);
	assert_true(is_open(&m));
	h.clock_hz = 2.2e9;
	assert_is(h, "mi350x");
	/* gfx90a and sm_90 share a number; the vendor parts them. */
	assert_is((struct chip_hints){ .vendor = STR("AMD"),
			  .cc_major = 9,
			  .core_count = 110,
			  .memory_bytes = 67628957696.0 },
		"mi250x");
	assert_is((struct chip_hints){ .device_name = STR("gfx942:sramecc+:xnack-"),
			  .vendor = STR("AMD"),
			  .core_count = 304,
			  .memory_bytes = 206e9 },
		"mi300x");
}

/* An H800 counts as an H100 does and has slower links: the name nobody lists must not be lost. */
static void an_unlisted_name_is_not_overruled(void **state)
{
	(void)state;
	struct chip_match m = recognise(nvidia("NVIDIA H800", 9, 0, 132, 85e9));
	assert_null(m.chip);
	assert_says(m.why, "no hardware file lists the name \"NVIDIA H800\"");
	assert_says(m.why, "(compute capability 9.0, 132 cores, 85.0 GB) fit h100_sxm");
	assert_says(m.todo, "add \"NVIDIA H800\" to \"aliases\" in hardware/h100_sxm.json");
	m = recognise(nvidia("NVIDIA H100 80GB HBM3 MIG 1g.10gb", 9, 0, 16, 10468982784.0));
	assert_null(m.chip);
	assert_says(m.why, "slice of a GPU (MIG)");
	m = recognise(nvidia("NVIDIA RTX 9000", 13, 0, 200, 64e9));
	assert_null(m.chip);
	assert_says(m.todo, "put \"aliases\": [\"NVIDIA RTX 9000\"] and");
	m = recognise((struct chip_hints){ .vendor = STR("AMD"), .device_name = STR("Radeon") });
	assert_says(m.todo, "`rooflint hardware mi300x --format json >chip.json`");
}

/* ---- planes ------------------------------------------------------------------------------- */

static void near(double a, double b)
{
	if (!(fabs(a - b) <= 1e-3 * fabs(b)))
		fail_msg("%.9g is not %.9g", a, b);
}

static void a_plane_is_a_chip_or_a_core(void **state)
{
	struct chip_hints none = { .peak_flops = 0 };
	(void)state;
	assert_true(chip_device(find("tpu_v2"), &none).share == 0.5);
	assert_true(chip_device(find("tpu_v3"), &none).share == 0.5);
	assert_true(chip_device(find("tpu_v7x"), &none).share == 0.5);
	assert_true(chip_device(find("mi250x"), &none).share == 0.5);
	assert_true(chip_device(find("tpu_v5e"), &none).share == 1);
	assert_true(chip_device(find("h100_sxm"), &none).share == 1);
	assert_true(chip_device(find("tpu_v4"), &none).share == 1); /* megacore */
	assert_true(isnan(chip_device(find("tpu_v4"), &none).peak_drift));
	assert_true(isnan(chip_device(find("tpu_v4"), &none).hbm_drift));
	assert_null(chip_device(NULL, &none).chip);
}

/* The public v5p training run: 8 planes for 4 chips, each says 233.4 TFLOP/s and 1382.4 GB/s. */
static void half_a_v5p(void **state)
{
	struct chip_hints h = {
		.device_type = STR("TPU v5"), .peak_flops = 233.4e12, .peak_hbm_bps = 1382.4e9
	};
	(void)state;
	struct chip_device d = chip_device(find("tpu_v5p"), &h);
	assert_true(d.share == 0.5);
	near(d.peak_drift, 233.4 / 229.5);
	near(d.hbm_drift, 1382.4 / 1382.5);
	h.peak_flops = 466.8e12;
	h.peak_hbm_bps = 2764.8e9;
	d = chip_device(find("tpu_v5p"), &h);
	assert_true(d.share == 1);
	near(d.peak_drift, 466.8 / 459);
	h.peak_flops = 0;
	h.peak_hbm_bps = 1382.4e9;
	assert_true(chip_device(find("tpu_v5p"), &h).share == 0.5);
}

static void peaks_drift_with_libtpu(void **state)
{
	struct chip_hints h = { .peak_flops = 918e12, .peak_hbm_bps = 1637.993152512e9 };
	(void)state;
	struct chip_device d = chip_device(find("tpu_v6e"), &h);
	assert_true(d.share == 1);
	near(d.peak_drift, 1);
	near(d.hbm_drift, 1);
	h.peak_flops = 946.7e12;
	d = chip_device(find("tpu_v6e"), &h);
	assert_true(d.share == 1);
	near(d.peak_drift, 1.0313);
	/* A core's plane may report the chip's peak: no drift, and still half a chip. */
	h.peak_flops = 46e12;
	d = chip_device(find("tpu_v2"), &h);
	assert_true(d.share == 0.5);
	near(d.peak_drift, 1);
}

static void amd_bandwidth_is_not_believed(void **state)
{
	struct chip_hints amd = { .memory_bps = 2662.4e9 }, nv = { .memory_bps = 484.44e9 };
	(void)state;
	assert_true(isnan(chip_device(find("mi300x"), &amd).hbm_drift));
	amd.peak_hbm_bps = amd.memory_bps;
	assert_true(isnan(chip_device(find("mi300x"), &amd).hbm_drift));
	near(chip_device(find("gtx1080ti"), &nv).hbm_drift, 1);
}

/* ---- users' files ------------------------------------------------------------------------- */

#define HEAD "{\"id\": \"mine\", \"name\": \"Mine\", \"vendor\": \"nvidia\", "
#define TAIL "\"peak_flops\": {\"bf16\": 1e14}, \"hbm_bps\": 1e12}"

static const struct chip *parse(const char *json)
{
	return chip_parse(STR("dir/mine.json"), str_from(json), &keep, &err);
}

static void the_shortest_file(void **state)
{
	(void)state;
	const struct chip *c = parse(HEAD TAIL);
	assert_non_null(c);
	assert_str(c->hbm_bps.source, "not stated");
	assert_str(c->file, "dir/mine.json");
	assert_true(c->peak[DTYPE_BF16].value == 1e14 && isnan(c->peak[DTYPE_F16].value));
	assert_true(c->attainable_matmul.value == 1 && isnan(c->hbm_bytes.value));
	assert_str(c->attainable_matmul.source, "nothing known");
	assert_int_equal(c->planes_per_chip, 1);
	assert_int_equal(c->topology, TOPOLOGY_NONE);
}

static void mistakes(void **state)
{
	static const struct {
		const char *json, *says;
	} cases[] = {
		{ "", "dir/mine.json: the file is empty; a chip's file is a map of keys" },
		{ "{\n  \"id\": \"mine\",,\n}", "dir/mine.json:2:16: " },
		{ "{\"id\": \"mine\"", "dir/mine.json:1:1: " },
		{ "[]", "dir/mine.json:1:1: a chip's file is a map of keys" },
		{ "{}", "dir/mine.json:1:1: a chip's file needs 'id'" },
		{ "{\"id\": \"mine\"}", "a chip's file needs 'name'" },
		{ HEAD "\"hbm_bps\": 1e12}", "a chip's file needs 'peak_flops'" },
		{ HEAD "\"hbm_bsp\": 1e12, " TAIL, "dir/mine.json:1:52: a chip's file has no key "
						   "'hbm_bsp'; did you mean 'hbm_bps'?" },
		{ HEAD "\"colour\": 1, " TAIL,
			"a chip's file has no key 'colour'; it has id, name, " },
		{ HEAD "\"hbm_bps\": 1e12, " TAIL, "'hbm_bps' stands here a second time" },
		{ HEAD "\"hbm_bps\": 819, \"peak_flops\": {\"bf16\": 1e14}}",
			"hbm_bps is a positive number of bytes/s in base units (8.19e11, not 819), "
			"or 819 GB/s" },
		{ HEAD "\"hbm_bytes\": 819 GB/s, " TAIL,
			"hbm_bytes is a positive number of bytes" },
		{ HEAD "\"peak_flops\": {\"bf16\": {\"value\": \"fast\"}}, \"hbm_bps\": 1e12}",
			"value is a positive number of FLOP/s in base units (1.97e14, not 197), or "
			"197 TFLOP/s; write it without quotes" },
		{ HEAD "\"peak_flops\": {\"bf16\": 197}, \"hbm_bps\": 1e12}",
			"bf16 is a positive number of FLOP/s" },
		{ HEAD "\"peak_flops\": {\"bf16\": -1e14}, \"hbm_bps\": 1e12}",
			"bf16 is a positive" },
		{ HEAD "\"peak_flops\": {\"bf16\": 1e999}, \"hbm_bps\": 1e12}",
			"bf16 is a positive" },
		{ HEAD "\"peak_flops\": {\"bf16\": {\"source\": \"x\"}}, \"hbm_bps\": 1e12}",
			"peak_flops.bf16 needs 'value'" },
		{ HEAD "\"peak_flops\": {\"bf16\": {\"valeu\": 1}}, \"hbm_bps\": 1e12}",
			"peak_flops.bf16 has no key 'valeu'; did you mean 'value'?" },
		{ HEAD "\"peak_flops\": {\"int8\": 1e14}, \"hbm_bps\": 1e12}",
			"peak_flops has no key 'int8'; it has f64, f32, f16, bf16, f8, f6, f4, s8 "
			"and s4" },
		{ HEAD "\"peak_flops\": {\"s8\": 1e14, \"s8\": 1e14}, \"hbm_bps\": 1e12}",
			"'s8' stands here a second time" },
		{ HEAD "\"peak_flops\": {}, \"hbm_bps\": 1e12}", "a chip has a peak" },
		{ HEAD "\"peak_flops\": 1e14, \"hbm_bps\": 1e12}", "peak_flops is a map of keys" },
		{ HEAD "\"aliases\": [\"a\", \" \"], " TAIL, "an alias has no value" },
		{ HEAD "\"aliases\": [\"a\", []], " TAIL, "an alias takes one value" },
		{ HEAD "\"aliases\": \"a\", " TAIL, "aliases is a list" },
		{ HEAD "\"topology\": \"torus2d\", " TAIL,
			"topology is none, torus_2d, torus_3d, switch or mesh; did you mean "
			"'torus_2d'?" },
		{ HEAD "\"topology\": \"switch\", " TAIL,
			"a switch needs scaleup_bps and scaleup_domain" },
		{ HEAD "\"topology\": \"torus_3d\", " TAIL, "a torus needs link_bps" },
		{ HEAD "\"topology\": \"mesh\", " TAIL, "a mesh needs link_bps" },
		{ HEAD "\"topology\": [], " TAIL,
			"topology is none, torus_2d, torus_3d, switch or mesh" },
		{ HEAD "\"link_bps\": {\"value\": 1e10, \"value\": 1e11}, " TAIL,
			"'value' stands here a second time" },
		{ HEAD "\"match\": {\"compute_capability\": \"9.0\", \"memory_bytes\": "
		       "8e10}, " TAIL,
			"memory_bytes is a list of two numbers" },
		{ HEAD "\"attainable\": {\"matmul\": 95}, " TAIL,
			"matmul is a share above 0 and up to 1" },
		{ HEAD "\"match\": {\"core_count\": 132}, " TAIL,
			"match needs 'compute_capability'" },
		{ HEAD "\"match\": {\"compute_capability\": \"sm90\"}, " TAIL,
			"a compute capability is like \"9.0\"" },
		{ HEAD "\"match\": {\"compute_capability\": \"9.0\", \"memory_bytes\": [2e10, "
		       "1e10]}, " TAIL,
			"the lowest is above the highest" },
		{ HEAD "\"match\": {\"compute_capability\": \"9.0\", \"clock_hz\": [2400, "
		       "2500]}, " TAIL,
			"clock_hz is a positive number of Hz" },
		{ HEAD "\"cores_per_chip\": 1.5, " TAIL,
			"cores_per_chip is a whole number from 1 to 2" },
		{ HEAD "\"planes_per_chip\": 2, " TAIL,
			"planes_per_chip 2 needs cores_per_chip 2" },
		{ HEAD "\"switch_reduces\": 1, " TAIL, "switch_reduces is true or false" },
		{ HEAD "\"conflicts\": [{\"field\": \"x\"}], " TAIL, "a conflict needs 'text'" },
		{ HEAD "\"conflicts\": [7], " TAIL, "a conflict is a map of keys" },
		{ HEAD "\"notes\": \"\", " TAIL, "notes has no value" },
		{ HEAD "\"notes\": \"\xff\", " TAIL, "this byte is not UTF-8" },
		{ HEAD "\"notes\": \"\\u001b[31m\", " TAIL, "a character that is not allowed" },
		{ "{\"id\": \"Mine\", \"name\": \"Mine\", \"vendor\": \"nvidia\", " TAIL,
			"id has lower-case letters, digits and '_'" },
		{ "{\"id\": \"mine\", \"name\": \"Mine\", \"vendor\": \"nvida\", " TAIL,
			"vendor is google, nvidia, amd or cpu; did you mean 'nvidia'?" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		err = (struct diag){ .id = DIAG_NONE };
		if (parse(cases[i].json))
			fail_msg("accepted: %s", cases[i].json);
		assert_int_not_equal(err.id, DIAG_NONE);
		assert_says(str_from(err.text), cases[i].says);
	}
}

static void no_end_of_it(void **state)
{
	(void)state;
	struct str list = STR("\"a\"");
	for (int i = 0; i < 9; i++)
		list = arena_fmt(&keep, "%.*s,%.*s", STR_ARG(list), STR_ARG(list));
	assert_null(parse(arena_z(
		&keep, arena_fmt(&keep, HEAD "\"aliases\": [%.*s], " TAIL, STR_ARG(list)))));
	assert_says(str_from(err.text), "aliases has more than 256 entries");
}

/* JSON as editors indent it, and the same as YAML with units. */
static void other_spellings(void **state)
{
	(void)state;
	assert_non_null(parse("{\n\t\"id\": \"mine\",\n\t\"name\": \"Mine\",\n\t\"vendor\": "
			      "\"nvidia\",\n\t" TAIL));
	const struct chip *c = parse("id: mine\nname: Mine\nvendor: amd\npeak_flops:\n  bf16: 100 "
				     "TFLOP/s\nhbm_bps: { value: 819 GB/s, source: sheet }\n"
				     "hbm_bytes: 16 GiB\n");
	assert_non_null(c);
	assert_int_equal(c->vendor, VENDOR_AMD);
	assert_true(c->peak[DTYPE_BF16].value == 1e14 && c->hbm_bps.value == 819e9);
	assert_true(c->hbm_bytes.value == 17179869184.0);
	assert_str(c->hbm_bps.source, "sheet");
}

static void write_file(const char *path, struct str text)
{
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(text.p, 1, (size_t)text.len, f), text.len);
	assert_int_equal(fclose(f), 0);
}

/* A copy of a known chip with one figure changed: the user's file counts, not the embedded one. */
static void a_file_instead_of_a_name(void **state)
{
	char dir[] = "/tmp/test_chip.XXXXXX", path[64];
	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/h100_sxm.json", dir);
	struct str text = embed_find(STR("hardware/h100_sxm.json")), before, after;
	ptrdiff_t at = str_find(text, STR("3.352e12"));
	assert_true(at > 0);
	before = str_head(text, at);
	after = str_from_offset(text, at + 8);
	write_file(path, arena_fmt(&keep, "%.*s2.5e12%.*s", STR_ARG(before), STR_ARG(after)));
	const struct chip *c = chip_find(set, str_from(path), &err);
	assert_non_null(c);
	assert_str(c->id, "h100_sxm");
	assert_true(c->hbm_bps.value == 2.5e12);
	assert_str(c->file, path);
	write_file(path, STR("{\"id\": 1}"));
	assert_null(chip_find(set, str_from(path), &err));
	assert_int_equal(err.id, DIAG_HARDWARE_FILE);
	assert_says(str_from(err.text), path);
	/* A long one has its mistake told like any other. */
	struct out *o = out_memory(&keep);
	for (int i = 0; i < 80000; i++)
		out_fmt(o, "%c\"k%d\":1", i ? ',' : '{', i);
	out_z(o, "}");
	write_file(path, out_text(o));
	assert_null(chip_find(set, str_from(path), &err));
	assert_int_equal(err.id, DIAG_HARDWARE_FILE);
	unlink(path);
	assert_null(chip_find(set, str_from(path), &err));
	assert_int_equal(err.id, DIAG_FILE_OPEN);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_file_is_named_after_its_chip),
		cmocka_unit_test(every_number_has_a_source),
		cmocka_unit_test(names_stand_before_figures),
		cmocka_unit_test(no_name_is_taken_twice),
		cmocka_unit_test(links_add_up),
		cmocka_unit_test(figures_of_the_table),
		cmocka_unit_test(names),
		cmocka_unit_test(unknown_names),
		cmocka_unit_test(tpus_by_type),
		cmocka_unit_test(an_unknown_tpu_gets_a_line_to_add),
		cmocka_unit_test(real_captures),
		cmocka_unit_test(nvidia_by_name),
		cmocka_unit_test(nvidia_by_counters),
		cmocka_unit_test(bandwidth_parts_the_a100s),
		cmocka_unit_test(too_little_is_ambiguous),
		cmocka_unit_test(amd_by_clock_and_architecture),
		cmocka_unit_test(an_unlisted_name_is_not_overruled),
		cmocka_unit_test(a_plane_is_a_chip_or_a_core),
		cmocka_unit_test(half_a_v5p),
		cmocka_unit_test(peaks_drift_with_libtpu),
		cmocka_unit_test(amd_bandwidth_is_not_believed),
		cmocka_unit_test(the_shortest_file),
		cmocka_unit_test(mistakes),
		cmocka_unit_test(no_end_of_it),
		cmocka_unit_test(other_spellings),
		cmocka_unit_test(a_file_instead_of_a_name),
	};
	return cmocka_run_group_tests(tests, load, unload);
}
