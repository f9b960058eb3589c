/*
 * rooflint hlo of one shape or one instruction: sheets of a label, a value and a remark, which JSON
 * has as members.
 */
#include "cmd/hlo.h"

#include <math.h>

#include "base/text.h"

static struct arena *arena_of(const struct sheet *s)
{
	return s->v->c->keep;
}

void put(struct sheet *s, const char *label, const char *key, double value, enum unit unit,
	struct str remark)
{
	if (!s->json && label)
		grid_row(&s->grid, str_from(label),
			isnan(value) ? STR("-") : unit_text(arena_of(s), value, unit), remark);
	else if (s->json && key)
		json_add_double(s->json, key, value);
}

void put_word(struct sheet *s, const char *key, struct str text)
{
	if (s->json)
		json_add_str(s->json, key, text);
}

void put_heading(struct sheet *s, struct str text)
{
	if (s->json)
		return;
	grid_print(&s->grid, s->v->c->out);
	s->grid.count = 0;
	out_fmt(s->v->c->out, "%.*s\n", STR_ARG(text));
}

struct sheet sheet_begin(const struct hlo_view *v)
{
	struct sheet s = { .v = v };
	s.grid = (struct grid){ .keep = v->c->keep, .columns = 3, .indent = 2, .wrap = TEXT_WIDTH };
	if (v->json)
		s.json = cJSON_CreateObject();
	return s;
}

void sheet_end(struct sheet *s)
{
	grid_print(&s->grid, s->v->c->out);
	if (s->json)
		out_str(s->v->c->out, json_text(s->json, arena_of(s)));
	cJSON_Delete(s->json);
}

/* ---- what both views of hlo say -------------------------------------------------------------- */

struct str device_text(const struct hlo_view *v)
{
	const struct chip *c = v->device.chip;
	if (v->device.share == 1)
		return c->name;
	return arena_fmt(v->c->keep, "%.*s, a device that is 1/%.0f of a chip", STR_ARG(c->name),
		1 / v->device.share);
}

void put_no_chip(const struct hlo_view *v)
{
	if (!v->device.chip && !v->json)
		out_z(v->c->out, "--hardware NAME adds times (`rooflint hardware` lists names).\n");
}

struct estimator hlo_estimator(const struct hlo_view *v)
{
	return (struct estimator){ .device = &v->device,
		.m = v->m,
		.costs = hlo_costs_new(v->m, v->platform, v->c->keep),
		.kernels = v->kernels,
		.keep = v->c->keep };
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* INT64_MAX is "too large to count". */
static double size_of(int64_t bytes)
{
	return bytes == INT64_MAX ? NAN : (double)bytes;
}

static struct str where_text(const struct shape *s, enum hlo_platform p, struct arena *keep)
{
	static const char *const names[] = {
		[SPACE_HBM] = "HBM",
		[SPACE_ON_CHIP] = "on-chip memory",
		[SPACE_HOST] = "host memory",
		[SPACE_OTHER] = "neither HBM nor host memory",
	};
	const char *name = names[hlo_space(s->memory_space, p)];
	if (s->dtype == DTYPE_TUPLE)
		return STR("a tuple");
	if (s->dtype == DTYPE_TOKEN || s->dtype == DTYPE_OPAQUE)
		return STR("no array");
	if (!s->memory_space)
		return str_from(name);
	return arena_fmt(keep, "S(%lld) is %s", (long long)s->memory_space, name);
}

static struct str padding_text(const struct shape *s, struct arena *keep)
{
	int64_t logical = shape_logical_bytes(s), padded = shape_padded_bytes(s);
	if (padded == INT64_MAX || !logical)
		return STR("");
	if (padded == logical)
		return STR("as logical: nothing is wasted");
	return arena_fmt(keep, "%.4gx; %.*s wasted", (double)padded / (double)logical,
		STR_ARG(unit_text(keep, (double)(padded - logical), UNIT_BYTES)));
}

/* An array in an instruction: its bytes and what it is. */
static void put_array(
	struct sheet *s, const char *label, const char *key, const struct shape *shape)
{
	struct arena *keep = arena_of(s);
	struct str text = text_clean(keep, shape_text(shape, true, keep));
	double logical = size_of(shape_logical_bytes(shape));
	double padded = size_of(shape_padded_bytes(shape));
	if (s->json) {
		cJSON *item = cJSON_CreateObject(), *list = cJSON_GetObjectItem(s->json, key);
		json_add_str(item, "shape", text);
		json_add_double(item, "logical_bytes", logical);
		json_add_double(item, "padded_bytes", padded);
		cJSON_AddItemToArray(list ? list : json_add_array(s->json, key), item);
		return;
	}
	if (padded != logical)
		text = arena_fmt(keep, "%.*s; %.*s with padding", STR_ARG(text),
			STR_ARG(unit_text(keep, padded, UNIT_BYTES)));
	put(s, label, NULL, logical, UNIT_BYTES, text);
}

static bool is_unbounded(const struct shape *s)
{
	for (ptrdiff_t k = 0; k < s->leaves; k++) {
		const struct shape *leaf = shape_leaf(s, k);
		for (ptrdiff_t d = 0; d < leaf->rank; d++)
			if (leaf->dims[d] == DIM_UNBOUNDED)
				return true;
	}
	return false;
}

static struct str exact_bytes(const struct shape *s, struct arena *keep)
{
	double bytes = size_of(shape_logical_bytes(s));
	if (is_unbounded(s))
		return STR("a dimension has no bound");
	if (isnan(bytes))
		return STR("too large to count");
	return arena_fmt(keep, "%s%.0f B", s->is_dynamic ? "at most " : "", bytes);
}

/* Padded bytes of an array, or of a tuple's arrays, by where they lie. */
static double bytes_in(const struct shape *s, enum hlo_space space, enum hlo_platform p)
{
	double sum = 0;
	for (ptrdiff_t k = 0; k < s->leaves; k++) {
		const struct shape *leaf = shape_leaf(s, k);
		if (hlo_space(leaf->memory_space, p) == space)
			sum += size_of(shape_padded_bytes(leaf));
	}
	return sum;
}

/* What it is, and who says so. */
static struct str sourced(struct arena *keep, struct str what, struct str source)
{
	return source.len ? arena_fmt(keep, "%.*s: %.*s", STR_ARG(what), STR_ARG(source)) : what;
}

/* A rate on one device, and who says so of the chip. */
static struct str rate_text(struct arena *keep, double bps, const struct chip_number *from)
{
	struct str rate = unit_text(keep, bps, UNIT_BYTES_PER_SECOND);
	return sourced(keep, arena_fmt(keep, "at %.*s", STR_ARG(rate)), from->source);
}

/* What lies on chip has no rate here: none is published. */
static void put_shape_times(struct sheet *s, const struct shape *shape)
{
	const struct chip_device *d = &s->v->device;
	struct arena *keep = arena_of(s);
	double hbm = bytes_in(shape, SPACE_HBM, s->v->platform);
	double host = bytes_in(shape, SPACE_HOST, s->v->platform);
	double capacity = d->chip->hbm_bytes.value * d->share;
	put_word(s, "chip", d->chip->id);
	if (hbm == 0 && host == 0) {
		if (shape_padded_bytes(shape) > 0)
			put_heading(s, STR("The speed of that memory is not published."));
		return;
	}
	put_heading(s, arena_fmt(keep, "On %.*s:", STR_ARG(device_text(s->v))));
	if (hbm != 0) {
		put(s, "read once", "read_s", hbm / roofline_hbm_bps(d), UNIT_SECONDS,
			rate_text(keep, roofline_hbm_bps(d), &d->chip->hbm_bps));
		put(s, "of its HBM", "hbm_share", hbm / capacity, UNIT_RATIO,
			unit_text(keep, capacity, UNIT_BYTES));
	}
	if (host != 0)
		put(s, "over PCIe", "host_s", host / roofline_pcie_bps(d), UNIT_SECONDS,
			rate_text(keep, roofline_pcie_bps(d), &d->chip->pcie_bps));
}

void put_shape(const struct hlo_view *v, const struct shape *shape)
{
	struct sheet s = sheet_begin(v);
	struct arena *keep = arena_of(&s);
	struct str text = shape_text(shape, true, keep);
	double logical = size_of(shape_logical_bytes(shape));
	double padded = size_of(shape_padded_bytes(shape));
	struct str where = where_text(shape, v->platform, keep);
	put_heading(&s, arena_fmt(keep, "%.*s: %.*s", STR_ARG(text), STR_ARG(where)));
	put_word(&s, "shape", text);
	put_word(&s, "memory_space", where);
	put(&s, "elements", "elements", size_of(shape_elements(shape)), UNIT_COUNT, STR(""));
	put(&s, "logical", "logical_bytes", logical, UNIT_BYTES, exact_bytes(shape, keep));
	put(&s, "padded", "padded_bytes", padded, UNIT_BYTES, padding_text(shape, keep));
	if (v->device.chip)
		put_shape_times(&s, shape);
	sheet_end(&s);
	put_no_chip(v);
}

/* ---- one instruction ------------------------------------------------------------------------- */

static void put_arrays(struct sheet *s, const struct hlo_module *m, ptrdiff_t instruction)
{
	const struct hlo_instruction *i = &m->instructions[instruction];
	put_array(s, "result", "result", &i->shape);
	for (ptrdiff_t k = 0; k < i->operand_count; k++) {
		const char *label = arena_z(arena_of(s), arena_fmt(arena_of(s), "operand %td", k));
		if (i->operands[k] >= 0)
			put_array(s, label, "operands", &m->instructions[i->operands[k]].shape);
		else if (!s->json)
			grid_row(&s->grid, str_from(label), STR("-"),
				STR("write its type before its name: f32[8,128] %name"));
	}
}

static struct str counted_text(const struct hlo_module *m, ptrdiff_t instruction,
	const struct estimate *e, struct arena *keep)
{
	struct hlo_product p;
	if (e->cost.has_matmul && hlo_product(m, instruction, *keep, &p) &&
		2 * p.batch * p.m * p.n * p.k == e->cost.matmul_flops) {
		struct str batch =
			p.batch == 1 ? STR("") : arena_fmt(keep, " x batch %.0f", p.batch);
		return arena_fmt(keep, "2%.*s x M %.0f x N %.0f x K %.0f = %.0f", STR_ARG(batch),
			p.m, p.n, p.k, e->work.flops);
	}
	if (e->cost.flops == 0 && e->cost.transcendentals == 0)
		return STR("it only moves data");
	if (e->cost.has_convolution)
		return STR("2 x every position where the kernel meets the input");
	if (e->cost.has_matmul)
		return STR("of all products in it");
	if (e->cost.transcendentals > 0)
		return arena_fmt(keep, "and %.0f transcendental functions, which are none",
			e->cost.transcendentals);
	return STR("one per element and operation");
}

/* "4 * dim(0, 0): rooflint.yaml:12", whether or not it can be computed here. */
static struct str formula_text(
	const struct kernel_work *k, bool of_flops, double value, struct arena *keep)
{
	if (!k->cost)
		return STR("the kernel's author says so");
	const struct formula *f = of_flops ? &k->cost->flops : &k->cost->bytes;
	return arena_fmt(keep, "%s%s%.*s: %.*s:%lld",
		k->bound == COST_UPPER	 ? "at most "
		: k->bound == COST_LOWER ? "at least "
					 : "",
		isnan(value) ? "its operands do not fit " : "", STR_ARG(text_clean(keep, f->text)),
		STR_ARG(text_clean(keep, k->cost->origin.doc->file)),
		(long long)k->cost->origin.node->line);
}

static struct str flops_text(const struct hlo_module *m, ptrdiff_t instruction,
	const struct estimate *e, struct arena *keep)
{
	if (e->kernel.has_flops)
		return formula_text(&e->kernel, true, e->work.flops, keep);
	struct str text = counted_text(m, instruction, e, keep);
	if (e->cost.flops_bound == COST_UNKNOWN)
		return STR("this text does not say enough to count them");
	if (m->instructions[instruction].op == HLO_WHILE)
		text = STR("of one turn of the loop");
	if (e->cost.flops_bound == COST_UPPER)
		return arena_fmt(
			keep, "%.*s; at most: masks and ragged rows may need less", STR_ARG(text));
	return e->cost.flops_bound == COST_LOWER
		       ? arena_fmt(keep, "%.*s; at least: some of it is unknown", STR_ARG(text))
		       : text;
}

/* FLOPs per byte, on which UNIT_NONE has nothing to say. */
static void put_intensity(
	struct sheet *s, const char *label, const char *key, double value, struct str remark)
{
	if (s->json)
		json_add_double(s->json, key, value);
	else if (isfinite(value) && value > 0)
		grid_row(&s->grid, str_from(label),
			arena_fmt(arena_of(s), value < 10 ? "%.2f FLOP/B" : "%.0f FLOP/B", value),
			remark);
}

static struct str hbm_text(const struct estimate *e, struct arena *keep)
{
	if (e->kernel.has_bytes)
		return formula_text(&e->kernel, false, e->work.hbm_bytes, keep);
	if (isnan(e->work.hbm_bytes))
		return STR("not all that it touches is in the text");
	if (pads_little(e->work.hbm_bytes, e->hbm_padded_bytes))
		return STR("read and written");
	return arena_fmt(keep, "read and written; %.*s with padding",
		STR_ARG(unit_text(keep, e->hbm_padded_bytes, UNIT_BYTES)));
}

static void put_work(struct sheet *s, const struct hlo_module *m, ptrdiff_t instruction,
	const struct estimate *e)
{
	struct arena *keep = arena_of(s);
	put(s, "FLOPs", "flops", e->work.flops, UNIT_FLOPS, flops_text(m, instruction, e, keep));
	put_word(s, "cost_bound", word_at(COST_WORDS, e->cost.flops_bound - 1));
	put(s, "HBM", "hbm_bytes", e->work.hbm_bytes, UNIT_BYTES, hbm_text(e, keep));
	put(s, NULL, "hbm_padded_bytes", e->hbm_padded_bytes, UNIT_BYTES, STR(""));
	if (e->cost.host_bytes > 0)
		put(s, "host memory", "host_bytes", e->cost.host_bytes, UNIT_BYTES,
			STR("over PCIe"));
	put_intensity(s, "intensity", "intensity", e->work.flops / e->work.hbm_bytes, STR(""));
}

static void put_message(struct sheet *s, const struct estimate *e)
{
	const struct hlo_collective *c = &e->collective;
	struct arena *keep = arena_of(s);
	double message = size_of(c->message_bytes), n = (double)c->group_size;
	put(s, "message V", "message_bytes", message, UNIT_BYTES,
		isnan(message) ? STR("too large to count") : arena_fmt(keep, "%.0f B", message));
	put(s, "group N", "group_size", n > 0 ? n : NAN, UNIT_COUNT,
		n > 0 ? arena_fmt(keep, "%.*s; %lld %s", STR_ARG(c->axis), (long long)c->groups,
				c->groups == 1 ? "group" : "groups")
		      : STR("not known: replica_groups, or counts in a module's header"));
	put(s, "wire", "wire_bytes", n > 0 ? size_of(c->wire_bytes) : NAN, UNIT_BYTES,
		c->kind == KIND_ALL_REDUCE   ? STR("2 V (N-1)/N through each device")
		: c->kind == KIND_ALL_TO_ALL ? STR("V (N-1)/N^2 through each device")
		: c->kind == KIND_PERMUTE    ? STR("V through each device")
					     : STR("V (N-1)/N through each device"));
}

static struct str vector_text(const struct chip *c)
{
	return isfinite(c->f32_vector_flops.value) ? STR("f32 on the vector units")
						   : STR("of the vector units: not published");
}

/* What f32 is multiplied as: on a TPU bf16, once or several times. */
static struct str f32_text(const struct chip *c, const struct op_work *w, struct arena *keep)
{
	int passes = w->passes;
	double f32 = c->peak[DTYPE_F32].value, vector = c->f32_vector_flops.value;
	if (c->vendor == VENDOR_GOOGLE && !isfinite(f32))
		return passes <= 1
			       ? STR("f32 in one bf16 pass")
			       : arena_fmt(keep, "f32 in %d bf16 passes, as operand_precision asks",
					 passes);
	if (w->f32_units == F32_BF16)
		return arena_fmt(keep, "f32 in %d bf16 pass%s, as the algorithm asks", passes,
			passes == 1 ? "" : "es");
	if (c->vendor != VENDOR_NVIDIA || !(f32 > vector))
		return STR("f32");
	if (w->f32_units == F32_TF32)
		return passes <= 1 ? STR("f32 as TF32, as the algorithm asks")
				   : arena_fmt(keep, "f32 in %d TF32 passes, as the algorithm asks",
					     passes);
	bool whole = w->f32_units == F32_FULL || passes >= PASSES_HIGHEST;
	return whole ? vector_text(c) : STR("f32 as TF32");
}

static struct str peak_text(const struct sheet *s, const struct estimate *e)
{
	const struct chip *c = s->v->device.chip;
	if (e->work.is_vector)
		return vector_text(c);
	if (isnan(roofline_op_flops(&s->v->device, &e->work)))
		return arena_fmt(arena_of(s), "no rate for %.*s is known",
			STR_ARG(dtype_name(e->work.dtype)));
	if (dtype_of_parts(e->work.dtype) == DTYPE_F32)
		return f32_text(c, &e->work, arena_of(s));
	return dtype_name(e->work.dtype);
}

static void put_rates(struct sheet *s, const struct estimate *e)
{
	const struct chip_device *d = &s->v->device;
	struct str what = sourced(arena_of(s), peak_text(s, e), roofline_op_source(d, &e->work));
	if (s->json || e->work.flops != 0)
		put(s, "peak", "peak_flops", roofline_op_flops(d, &e->work), UNIT_FLOPS_PER_SECOND,
			what);
	put(s, "HBM", "hbm_bps", roofline_hbm_bps(d), UNIT_BYTES_PER_SECOND,
		d->chip->hbm_bps.source);
	if (e->work.host_bytes > 0)
		put(s, "PCIe", "pcie_bps", roofline_pcie_bps(d), UNIT_BYTES_PER_SECOND,
			d->chip->pcie_bps.source);
	if (s->json || e->work.flops != 0)
		put_intensity(s, "ridge", "ridge", roofline_ridge(d, &e->work),
			STR("where the two limits meet"));
}

/* Which share of which rate, and who says so. */
static struct str attainable_text(const struct sheet *s, const struct roofline *r)
{
	static const char *const rates[] = { [BOUND_COMPUTE] = "the peak",
		[BOUND_MEMORY] = "the HBM rate",
		[BOUND_HOST] = "the PCIe rate" };
	if (r->attainable_bound == BOUND_UNKNOWN || !r->attainable_share)
		return STR("");
	double at_peak_s = r->attainable_s * r->attainable_share->value;
	bool slower = r->attainable_bound == BOUND_COMPUTE && at_peak_s > r->t_math_s * 1.001;
	return arena_fmt(arena_of(s), "%.*s of %s: %.*s",
		STR_ARG(unit_text(arena_of(s), r->attainable_share->value, UNIT_RATIO)),
		slower ? "f32's own rate, should it run as f32" : rates[r->attainable_bound],
		STR_ARG(r->attainable_share->source));
}

static void put_op_times(struct sheet *s, const struct estimate *e)
{
	const struct chip_device *d = &s->v->device;
	const struct roofline *r = &e->roof;
	const struct chip_number *share = r->attainable_share;
	double padded_s = e->hbm_padded_bytes / roofline_hbm_bps(d);
	bool is_bound = r->bound != BOUND_UNKNOWN;
	if (s->json || e->work.flops != 0)
		put(s, "T_math", "t_math_s", r->t_math_s, UNIT_SECONDS, STR("FLOPs / peak"));
	put(s, "T_hbm", "t_hbm_s", r->t_hbm_s, UNIT_SECONDS, STR("dense bytes / HBM"));
	if (s->json || !pads_little(r->t_hbm_s, padded_s))
		put(s, "", "t_hbm_padded_s", padded_s, UNIT_SECONDS, STR("with padding"));
	if (e->work.host_bytes > 0)
		put(s, "T_host", "t_host_s", r->t_host_s, UNIT_SECONDS,
			STR("bytes in host memory / PCIe"));
	put(s, "bound", "roofline_s", is_bound ? r->roofline_s : NAN, UNIT_SECONDS,
		bound_name(r->bound));
	if (s->json || is_bound)
		put(s, "attainable", "attainable_s", is_bound ? r->attainable_s : NAN, UNIT_SECONDS,
			attainable_text(s, r));
	put_word(s, "peak_source", roofline_op_source(d, &e->work));
	put_word(s, "hbm_source", d->chip->hbm_bps.source);
	put(s, NULL, "attainable_share", share ? share->value : NAN, UNIT_RATIO, STR(""));
	put_word(s, "attainable_source", share ? share->source : MISSING);
	put_word(s, "bound", bound_name(r->bound));
}

/* Of a mesh, where every pair of devices has a link of its own: those that the group uses. */
static double links_used(const struct chip *c, const struct hlo_collective *collective)
{
	bool is_pair = collective->kind == KIND_PERMUTE || collective->group_size < 2;
	if (c->topology != TOPOLOGY_MESH || collective->between_slices || is_pair)
		return 1;
	return (double)collective->group_size - 1;
}

static const struct chip_number *link_of(const struct chip *c, bool far)
{
	if (far)
		return &c->scaleout_bps;
	return c->torus_axes || c->topology == TOPOLOGY_MESH ? &c->link_bps : &c->scaleup_bps;
}

/* What one device sends over, one way; of a torus the one link that the last of a line has. */
static void put_comms_times(struct sheet *s, const struct estimate *e)
{
	const struct chip *c = s->v->device.chip;
	bool far = e->collective.between_slices, line = c->torus_axes && !far;
	const struct chip_number *from = link_of(c, far);
	double link = from->value * links_used(c, &e->collective);
	double wire = e->collective.group_size > 0 ? size_of(e->collective.wire_bytes) : NAN;
	struct arena *keep = arena_of(s);
	put(s,
		far    ? "network"
		: line ? "one link"
		       : "scale-up",
		"link_bps", link, UNIT_BYTES_PER_SECOND,
		sourced(keep, far ? STR("a chip's share") : STR("one way"), from->source));
	if (e->collective.kind != KIND_ALL_TO_ALL || !line)
		put(s, "wire / link", "wire_s", wire / link, UNIT_SECONDS,
			line ? STR("a line, whose last device has one link") : STR(""));
	put(s, "T_comms", "t_comms_lo_s", e->comms.lo_s, UNIT_SECONDS, STR("at the least"));
	put(s, "", "t_comms_hi_s", e->comms.hi_s, UNIT_SECONDS,
		arena_fmt(keep, "at the most: %.*s", STR_ARG(e->comms.topology_source)));
	put_word(s, "link_source", from->source);
	put_word(s, "topology_source", e->comms.topology_source);
	put_word(s, "bound", bound_name(e->roof.bound));
}

static void put_times(struct sheet *s, const struct estimate *e)
{
	struct arena *keep = arena_of(s);
	put_heading(s, arena_fmt(keep, "On %.*s:", STR_ARG(device_text(s->v))));
	put_word(s, "chip", s->v->device.chip->id);
	if (e->is_collective) {
		put_comms_times(s, e);
	} else {
		put_rates(s, e);
		put_op_times(s, e);
	}
}

void put_instruction(const struct hlo_view *v, ptrdiff_t at)
{
	const struct hlo_module *m = v->m;
	struct estimator estimator = hlo_estimator(v);
	struct estimate e = estimate_op(&estimator, at);
	struct sheet s = sheet_begin(v);
	const struct hlo_instruction *i = &m->instructions[at];
	struct str name = i->name.len ? i->name : i->opcode, kind = op_kind_name(e.kind);
	put_heading(&s, text_clean(v->c->keep, arena_fmt(v->c->keep, "%.*s: %.*s, on each device",
						       STR_ARG(name), STR_ARG(kind))));
	put_word(&s, "name", text_clean(v->c->keep, i->name));
	put_word(&s, "kind", kind);
	put_arrays(&s, m, at);
	bool has_time = v->json || e.is_collective || hlo_is_work(m, at);
	if (e.is_collective)
		put_message(&s, &e);
	else if (has_time || e.work.flops > 0)
		put_work(&s, m, at, &e);
	if (!has_time)
		put_heading(&s, STR("No time of its own: it holds, names or ends what others do."));
	else if (v->device.chip)
		put_times(&s, &e);
	sheet_end(&s);
	if (has_time)
		put_no_chip(v);
}
