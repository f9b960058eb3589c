/*
 * rooflint hlo: the back of the envelope for a shape, a product, an instruction or a module.
 */
#include "cmd/hlo.h"

#include <unistd.h>

#include "base/input.h"
#include "profile/dump.h"
#include "session/load.h"
#include "hlo/text.h"

enum { FORMAT_TEXT, FORMAT_JSON };
enum { PLATFORM_GUESSED }; /* and then those of enum hlo_platform, plus one */

struct hlo_settings {
	struct str hardware, instruction, rules;
	int format, platform;
};

/* As asked, else that of the chip, else TPU where layouts have tiles: only they do. */
static void choose_platform(const struct hlo_settings *s, bool tiles, struct hlo_view *v)
{
	static const enum hlo_platform of[] = { [VENDOR_UNKNOWN] = HLO_GPU,
		[VENDOR_GOOGLE] = HLO_TPU,
		[VENDOR_NVIDIA] = HLO_GPU,
		[VENDOR_AMD] = HLO_GPU,
		[VENDOR_CPU] = HLO_CPU };
	v->platform = tiles ? HLO_TPU : HLO_GPU;
	v->platform_known = tiles || v->device.chip || s->platform != PLATFORM_GUESSED;
	if (s->platform != PLATFORM_GUESSED)
		v->platform = (enum hlo_platform)(s->platform - 1);
	else if (v->device.chip && v->device.chip->vendor != VENDOR_UNKNOWN)
		v->platform = of[v->device.chip->vendor];
}

static bool has_tiles(const struct shape *s)
{
	const struct shape *leaf = shape_leaf(s, 0);
	return leaf && leaf->tile_count;
}

static bool read_rules(struct hlo_view *v, struct str file, struct diag *err)
{
	struct ruleset *rules = arena_make(v->c->keep, struct ruleset, 1);
	v->formulas = &rules->costs;
	return load_rules(load_engine(v->c, err), &(struct rule_settings){ .rules = file },
		v->c->keep, rules, err);
}

/*
 * What the module itself decides: the platform, and, where it calls kernels and --rules said
 * nothing, whether the rule file that check would find is read.
 */
static bool view_module(const struct hlo_settings *s, struct hlo_view *v, struct diag *err)
{
	bool tiles = false, calls = false;
	for (ptrdiff_t i = 0; i < v->m->instruction_count; i++) {
		tiles |= has_tiles(&v->m->instructions[i].shape);
		calls |= v->m->instructions[i].op == HLO_CUSTOM_CALL;
	}
	choose_platform(s, tiles, v);
	struct str file = v->formulas || !calls ? STR("") : ruleset_find(STR("."), v->c->keep);
	if (file.len && !read_rules(v, file, err))
		return false;
	v->kernels = kernels_new(v->formulas, v->c->keep);
	return true;
}

static bool show_instruction(
	const struct hlo_settings *s, struct hlo_view *v, struct str text, struct diag *err)
{
	v->m = hlo_text_instruction(STR("text"), text, v->c->keep, err);
	if (!v->m || !view_module(s, v, err))
		return false;
	put_instruction(v, v->m->computations[v->m->entry].root);
	return true;
}

static bool show_module(const struct hlo_settings *s, struct hlo_view *v, struct str file,
	struct str bytes, struct diag *err)
{
	bool is_text = hlo_is_text(bytes);
	v->m = is_text ? hlo_text_parse(file, bytes, v->c->keep, err)
		       : hlo_module_parse(bytes, bytes, v->c->keep, err);
	if (!v->m)
		return is_text ? false : diag_context(err, "%.*s", STR_ARG(file));
	if (!view_module(s, v, err))
		return false;
	if (!s->instruction.p) {
		put_module(v);
		return true;
	}
	ptrdiff_t at = hlo_find(v->m, s->instruction);
	if (at < 0)
		return diag_set(err, DIAG_HLO, "%.*s has no instruction called '%.*s'",
			STR_ARG(file), STR_ARG(s->instruction));
	put_instruction(v, at);
	return true;
}

static bool show_file(
	const struct hlo_settings *s, struct hlo_view *v, struct str path, struct diag *err)
{
	struct input in;
	struct tree_node node;
	if (tree_local.look(&tree_local, path, v->c->keep, &node, err) && node.kind == TREE_DIR)
		return diag_set(err, DIAG_FILE_KIND,
			"%.*s: a directory; name one program in it, or have all of a compiler's "
			"dump judged (rooflint check DIR --hardware NAME)",
			STR_ARG(path));
	if (!dump_open(path, v->c->keep, &in, err))
		return false;
	bool ok = (input_accept(&in, err) || diag_context(err, "%.*s", STR_ARG(path))) &&
		  show_module(s, v, path, in.bytes, err) && input_check(&in, err);
	input_close(&in);
	return ok;
}

static bool show_text(
	const struct hlo_settings *s, struct hlo_view *v, struct str text, struct diag *err)
{
	struct shape shape;
	struct str product, rest;
	if (str_starts(text, STR("HloModule")))
		return show_module(s, v, STR("text"), text, err);
	if (s->instruction.p)
		return diag_set(err, DIAG_USAGE,
			"--instruction names one of a module: give the module's file");
	if (!hlo_text_product(text, v->c->keep, &product, err))
		return false;
	if (product.p)
		return show_instruction(s, v, product, err);
	/* A shape may hold a '=', too: f32[<=10]. */
	bool is_shape = shape_parse(text, v->c->keep, &shape, &rest, err);
	if (is_shape ? str_trim(rest).len > 0 : str_find_char(text, '=') >= 0)
		return show_instruction(s, v, text, err);
	if (!is_shape)
		return false;
	choose_platform(s, has_tiles(&shape), v);
	put_shape(v, &shape);
	return true;
}

static bool use_chip(struct hlo_view *v, struct str name, struct diag *err)
{
	const struct chip_hints none = CHIP_HINTS_NONE;
	v->device = chip_device(NULL, &none);
	if (!name.p)
		return true;
	const struct chip *chip = chip_find(chip_set_new(v->c->keep), name, err);
	v->device = chip_device(chip, &none);
	return chip != NULL;
}

static enum status hlo_run(struct context *c, const void *settings, const struct list *args)
{
	const struct hlo_settings *s = settings;
	struct hlo_view v = { .c = c, .json = s->format == FORMAT_JSON };
	struct str what = str_trim(args->items[0]);
	struct diag err;
	if (!use_chip(&v, s->hardware, &err) || (s->rules.p && !read_rules(&v, s->rules, &err)))
		return misused(&err);
	bool is_text = (str_find_char(what, '[') >= 0 || str_find_char(what, '\n') >= 0) &&
		       access(arena_z(c->keep, what), F_OK) != 0;
	bool ok = is_text ? show_text(s, &v, what, &err) : show_file(s, &v, what, &err);
	kernels_free(v.kernels);
	return ok ? STATUS_OK : is_text ? misused(&err) : fail(&err);
}

static const struct option hlo_options[] = {
	{ "hardware", 0, OPTION_TEXT, offsetof(struct hlo_settings, hardware), "NAME|FILE",
		"the chip whose times are wanted; a name of `rooflint hardware` or a YAML or JSON "
		"file" },
	{ "platform", 0, OPTION_WORD, offsetof(struct hlo_settings, platform), "guess|tpu|gpu|cpu",
		"what memory spaces mean; guessed from the chip, else from tiled layouts, which "
		"only a TPU has" },
	{ "instruction", 0, OPTION_TEXT, offsetof(struct hlo_settings, instruction), "NAME",
		"one instruction of the module in FILE" },
	{ "rules", 0, OPTION_TEXT, offsetof(struct hlo_settings, rules), "FILE|SET",
		"rule file whose costs: of custom calls count, found as check finds it" },
	{ "format", 0, OPTION_WORD, offsetof(struct hlo_settings, format), "text|json",
		"for people (default), or base units for programs" },
	OPTIONS_END,
};

const struct command hlo_command = {
	.name = "hlo",
	.arguments = "TEXT|FILE",
	.summary = "the back of the envelope: bytes, FLOPs and times of a shape, an op or a module",
	.details =
		"TEXT is one of\n"
		"  bf16[32,1024,8192]{2,1,0:T(8,128)(2,1)}\n"
		"  'bf16[32,1024,8192] x bf16[8192,32768]'\n"
		"  '%d = f32[8,8] dot(f32[8,4] %a, f32[4,8] %b), lhs_contracting_dims={1}, "
		"rhs_contracting_dims={0}'\n"
		"The first is a shape: its bytes, what its layout wastes, where it lies. The "
		"second is a product of arrays, the last dimension of one against the first of the "
		"other. The third is an instruction as XLA prints it, with the types of its "
		"operands; operands, results and times are those of one device.\n\n"
		"FILE is a module: an HloProto, an HloModuleProto, or the text of one (*.hlo.txt, "
		"*after_optimizations.txt), or either packed by gzip. Its instructions are listed "
		"by what they cost over a "
		"whole run, loops multiplied out where their trip count is known. A proto with "
		"buffer assignment also says what memory the program needs.",
	.options = hlo_options,
	.least = 1,
	.most = 1,
	.settings_bytes = sizeof(struct hlo_settings),
	.run = hlo_run,
};
