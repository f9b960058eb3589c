/*
 * Custom calls: library routines whose target says what they compute.
 *
 * Sources: XLA's cublas_cudnn.h and gpu backend_configs.proto (targets, gemm_backend_config),
 * Transformer Engine's JAX primitives (te_*_ffi and their attributes), jaxlib's
 * py_client_cpu.cc and py_client_gpu.cc (callbacks).
 *
 * A kernel that a user wrote (Pallas, Triton, FFI) is unknown; the estimate that it may carry is
 * its author's, and kept apart.
 */
#include <math.h>

#include "base/json.h"
#include "hlo/work.h"

static library_fn no_flops, once_each, triangular, top_k, gemm, convolution, cudnn_attention,
	te_attention;

#define CALL(pattern, kind_, ...)                                                                  \
	{                                                                                          \
		.target = STR_INIT(pattern), .kind = KIND_##kind_, __VA_ARGS__                     \
	}
static const struct library libraries[] = {
	CALL("__cublas$lt$groupedMatmul*", MATMUL, .work = gemm, .roles = { 0, 1 }, .sizes = 2),
	CALL("__cublas$triangularSolve", CUSTOM, .work = triangular),
	CALL("__cublas$*", MATMUL, .work = gemm, .roles = { 0, 1 }),
	CALL("__cudnn$convBackwardInput*", CONVOLUTION, .work = convolution,
		.roles = { RESULT, 1, 0 }),
	CALL("__cudnn$convBackwardFilter*", CONVOLUTION, .work = convolution,
		.roles = { 0, RESULT, 1 }),
	CALL("__cudnn$conv*", CONVOLUTION, .work = convolution, .roles = { 0, 1, RESULT }),
	CALL("__cudnn$fmha*", ATTENTION, .work = cudnn_attention),
	CALL("__cudnn$blockScaledDot", MATMUL, .work = gemm, .roles = { 0, 1 }),
	CALL("__cub$*", SORT),
	CALL("xla.gpu.ext.cub_sort*", SORT),
	CALL("__onednn$matmul*", MATMUL, .work = gemm, .roles = { 0, 1 }),
	CALL("__onednn$convolution*", CONVOLUTION),
	CALL("te_grouped_gemm*", MATMUL),
	CALL("te_gemm*", MATMUL, .work = gemm, .roles = { 0, 2 }),
	CALL("te_fused_attn_*ward*", ATTENTION, .work = te_attention),
	CALL("*attention*", ATTENTION),
	CALL("*flash_attn*", ATTENTION),
	CALL("lapack_*trsm*", CUSTOM, .work = triangular),
	CALL("TopK", SORT, .work = top_k),
	CALL("ApproxTopK", SORT),
	CALL("PartialReduce", SORT, .work = once_each),
	CALL("*threefry2x32*", RNG),
	CALL("xla_*python*callback", CALLBACK),
	CALL("xla_buffer*callback", CALLBACK),
	CALL("X64Combine", ELEMENTWISE, .work = no_flops),
	CALL("X64Split*", ELEMENTWISE, .work = no_flops, .halves = true),
	CALL("AllocateBuffer", CONTROL, .is_free = true),
	CALL("AssumeGatherIndicesInBound", CONTROL, .is_free = true),
	CALL("ConcatBitcast", CONTROL, .is_free = true),
	CALL("GatherScatterIndicesBitpacked", CONTROL, .is_free = true),
	CALL("Sharding", CONTROL, .is_free = true),
	CALL("SPMDFullToShardShape", CONTROL, .is_free = true),
	CALL("SPMDShardToFullShape", CONTROL, .is_free = true),
	CALL("AsyncCollectiveStart", CONTROL, .is_free = true),
	CALL("AsyncCollectiveDone", CONTROL, .is_free = true),
	CALL("PrepareAsyncCall*", CONTROL, .is_free = true),
	CALL("Noop", CONTROL, .is_free = true),
	CALL("*", CUSTOM),
};

const struct library *library_find(struct str target)
{
	const struct library *l = libraries;
	while (!str_glob(target, l->target))
		l++;
	return l;
}

/* Integers are texts in a configuration's JSON. */
static double number_of(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
	double value = cJSON_IsNumber(item) ? item->valuedouble : NAN;

	if (cJSON_IsString(item) && !str_to_double(str_from(item->valuestring), &value))
		return NAN;
	return value >= 0 && isfinite(value) ? value : NAN;
}

/* The kernel's code stands beside it in the configuration and may have megabytes. */
bool hlo_author_cost(const struct hlo_instruction *i, struct hlo_author_cost *ret)
{
	struct str key = STR("\"cost_estimate\":{"), rest = i->backend_config;
	struct diag ignored;
	ptrdiff_t at = i->op == HLO_CUSTOM_CALL ? str_find(rest, key) : -1;
	if (at < 0)
		return false;
	rest = str_from_offset(rest, at + key.len - 1);
	ptrdiff_t end = str_find_char(rest, '}');
	cJSON *object = json_parse(
		STR("cost_estimate"), str_head(rest, end < 0 ? rest.len : end + 1), &ignored);
	*ret = (struct hlo_author_cost){ number_of(object, "flops"),
		number_of(object, "bytes_accessed") };
	cJSON_Delete(object);
	return !isnan(ret->flops) || !isnan(ret->bytes);
}

/* The result itself: the first leaf of a tuple, the rest being scratch and by-products. */
static const struct shape *result(const struct hlo_instruction *i)
{
	static const struct shape none = { .dtype = DTYPE_INVALID };
	const struct shape *leaf = shape_leaf(&i->shape, 0);
	return leaf ? leaf : &none;
}

static const struct shape *role_shape(
	const struct hlo_costs *c, const struct hlo_instruction *i, int role)
{
	return role == RESULT ? result(i) : operand_shape(c->m, i, role);
}

/* GPU library calls return (result, scratch): bytes that are not read again. */
bool is_workspace(const struct hlo_instruction *i, ptrdiff_t leaf)
{
	if (leaf == 0 || leaf != i->shape.leaves - 1 || i->op != HLO_CUSTOM_CALL)
		return false;
	enum dtype type = shape_leaf(&i->shape, leaf)->dtype;
	return type == DTYPE_S8 || type == DTYPE_U8;
}

static bool is_whole(double value)
{
	return value > 0 && value == floor(value);
}

/*
 * 2MNK from [batch] M x K, K x N and M x N alone: lhs * rhs / out = batch * K^2.  A result of rank
 * three and more has its batch in front.
 */
static double flops_from_shapes(
	const struct shape *out, const struct shape *lhs, const struct shape *rhs, double groups)
{
	double batch = 1;
	for (ptrdiff_t i = 0; i + 2 < out->rank && i + 2 < rhs->rank; i++)
		batch *= (double)out->dims[i];
	double k = sqrt(
		element_count(lhs) * element_count(rhs) / (element_count(out) * batch * groups));
	/* Shapes of something else would hardly divide evenly. */
	if (!is_whole(k) || !is_whole(element_count(lhs) / (batch * k)))
		return NAN;
	return 2 * element_count(out) * k;
}

static void read_dims(
	const cJSON *object, const char *key, struct arena *keep, struct hlo_dims *ret)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(object, key), *item;
	ptrdiff_t count = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;
	if (count <= 0 || count > SHAPE_MAX_RANK)
		return;
	ret->items = arena_make(keep, int64_t, count);
	cJSON_ArrayForEach(item, list)
	{
		int64_t value = -1;
		if (cJSON_IsString(item))
			str_to_i64(str_from(item->valuestring), &value);
		else if (cJSON_IsNumber(item) && item->valuedouble >= 0 &&
			 item->valuedouble < SHAPE_MAX_RANK)
			value = (int64_t)item->valuedouble;
		ret->items[ret->count++] = value;
	}
}

/* The object under one key of a GPU backend config; NULL when there is none. */
static cJSON *config_open(const struct hlo_instruction *i)
{
	struct diag ignored; /* a config that is no JSON is no config */
	if (!str_starts(i->backend_config, STR("{\"")))
		return NULL;
	return json_parse(STR("backend_config"), i->backend_config, &ignored);
}

static const cJSON *member(const cJSON *object, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(object, key);
}

bool gemm_dims(const struct hlo_instruction *i, struct arena *keep, struct hlo_dot *ret)
{
	cJSON *root = config_open(i);
	const cJSON *dims = member(member(root, "gemm_backend_config"), "dot_dimension_numbers");
	if (dims) {
		read_dims(dims, "lhs_contracting_dimensions", keep, &ret->lhs_contracting);
		read_dims(dims, "lhs_batch_dimensions", keep, &ret->lhs_batch);
	}
	cJSON_Delete(root);
	return dims != NULL;
}

/* Calls of a GPU's matmul say in their configuration what dots say themselves. */
static struct f32_way gemm_f32(struct hlo_costs *c, const struct hlo_instruction *i, enum dtype lhs)
{
	struct hlo_instruction dot = *i;
	int64_t operands[] = { 0, 0 };
	cJSON *root = config_open(i);
	const cJSON *said = member(member(root, "gemm_backend_config"), "precision_config");
	const cJSON *list = member(said, "operand_precision"), *name = member(said, "algorithm");
	for (int k = 0; k < 2; k++) {
		const cJSON *item = cJSON_GetArrayItem(list, k);
		struct str text = cJSON_IsString(item) ? str_from(item->valuestring) : STR("");
		operands[k] = str_eq(text, STR("HIGHEST")) ? 2 : str_eq(text, STR("HIGH"));
	}
	struct str text = cJSON_IsString(name) ? str_from(name->valuestring) : STR("");
	if (said)
		dot.precision = (struct hlo_dims){ operands, 2 };
	if (str_take(&text, STR("ALG_")))
		dot.algorithm = hlo_algorithm(text);
	cJSON_Delete(root);
	return f32_way_of(&dot, lhs, c->platform);
}

static void add(struct hlo_costs *c, const struct hlo_instruction *i, const struct shape *lhs,
	const struct shape *rhs, double flops, enum cost_bound bound, struct work *w)
{
	if (i->shape.is_dynamic)
		bound = COST_UPPER;
	matmul_add(w, flops, lhs->dtype, rhs->dtype, gemm_f32(c, i, lhs->dtype), bound);
}

/* By its dimension numbers where the call tells them.  Groups need not fill the left side. */
static bool gemm(struct hlo_costs *c, const struct hlo_instruction *i, const struct library *l,
	struct work *w)
{
	const struct shape *lhs = role_shape(c, i, l->roles[0]),
			   *rhs = role_shape(c, i, l->roles[1]),
			   *sizes = l->sizes ? operand_shape(c->m, i, l->sizes) : NULL;
	struct arena scratch = *c->keep;
	struct hlo_dot dims = { 0 };
	double flops;
	if (!lhs || !rhs || (l->sizes && !sizes))
		return false;
	if (!sizes && gemm_dims(i, &scratch, &dims))
		flops = dot_flops(result(i), lhs, &dims);
	else
		flops = flops_from_shapes(result(i), lhs, rhs, sizes ? element_count(sizes) : 1);
	add(c, i, lhs, rhs, flops, sizes ? COST_UPPER : COST_EXACT, w);
	return true;
}

/*
 * Gradients have the dimension numbers and window of the forward convolution, and its FLOPs: only
 * the roles of input, kernel and output go around.
 */
static bool convolution(struct hlo_costs *c, const struct hlo_instruction *i,
	const struct library *l, struct work *w)
{
	const struct convolution x = { role_shape(c, i, l->roles[0]), role_shape(c, i, l->roles[1]),
		role_shape(c, i, l->roles[2]), i };
	if (!x.in || !x.kernel || !x.out || !i->convolution)
		return false;
	add(c, i, x.in, x.kernel, convolution_flops(&x, &c->taps), COST_EXACT, w);
	return w->has_convolution = true;
}

/*
 * Attention over B batches, N heads, T queries, S keys, widths of queries/keys and of values:
 * forward QK' and PV, backward those of five matmuls.
 */
struct attention {
	double heads;	       /* B N */
	double queries, keys;  /* T, S */
	double width, value;   /* H of queries and keys; H of values */
	bool causal, is_whole; /* query t sees the first t + 1 keys; nothing else skips any */
};

/* Pairs of a query and a key that it sees; of T = S with a causal mask half of them and T / 2. */
static double scores_of(const struct attention *a)
{
	double both = fmin(a->queries, a->keys);
	if (!a->causal)
		return a->heads * a->queries * a->keys;
	return a->heads * (both * (both + 1) / 2 + (a->queries - both) * a->keys);
}

static bool attention_add(struct hlo_costs *c, const struct hlo_instruction *i,
	const struct attention *a, struct work *w)
{
	const struct shape *q = operand_shape(c->m, i, 0);
	bool backward = str_contains(i->custom_call_target, STR("ackward"));
	double products = backward ? 3 * a->width + 2 * a->value : a->width + a->value;
	if (!q)
		return false;
	add(c, i, q, q, 2 * scores_of(a) * products, a->is_whole ? COST_EXACT : COST_UPPER, w);
	return true;
}

/*
 * A TPU has no numbers of 64 bits: it takes them apart, the real part from the imaginary one as
 * well, and joins what comes out.
 */
static bool no_flops(struct hlo_costs *c, const struct hlo_instruction *i, const struct library *l,
	struct work *w)
{
	(void)c;
	(void)i;
	(void)l;
	(void)w;
	return true;
}

static bool other_add(struct work *w, double flops)
{
	bool known = isfinite(flops) && flops >= 0;
	w->other += known ? flops : 0;
	return known;
}

/* Of A X = B each element of X takes what its row of A has on one side of the diagonal. */
static bool triangular(struct hlo_costs *c, const struct hlo_instruction *i,
	const struct library *l, struct work *w)
{
	(void)l;
	const struct shape *a = operand_shape(c->m, i, 0);
	return a && a->rank &&
	       other_add(w, element_count(result(i)) * (double)a->dims[a->rank - 1]);
}

/* The largest of each of many bins: every element is compared once. */
static bool once_each(struct hlo_costs *c, const struct hlo_instruction *i, const struct library *l,
	struct work *w)
{
	(void)l;
	const struct shape *in = operand_shape(c->m, i, 0);
	return in && other_add(w, element_count(in));
}

/* As XLA counts it on TPU: each element is compared with each of the largest so far. */
static bool top_k(struct hlo_costs *c, const struct hlo_instruction *i, const struct library *l,
	struct work *w)
{
	(void)l;
	const struct shape *in = operand_shape(c->m, i, 0), *out = shape_leaf(&i->shape, 0);
	return in && out && out->rank &&
	       other_add(w, element_count(in) * (double)out->dims[out->rank - 1]);
}

static bool cudnn_attention(struct hlo_costs *c, const struct hlo_instruction *i,
	const struct library *l, struct work *w)
{
	(void)l;
	struct arena scratch = *c->keep;
	cJSON *root = config_open(i);
	const cJSON *config = member(root, "cudnn_fmha_backend_config");
	const cJSON *mask = member(config, "mask_type");
	const struct shape *q = operand_shape(c->m, i, 0);
	struct hlo_dims scores = { 0 }, contracting = { 0 };
	read_dims(member(config, "intermediate_tensor_shape"), "dimensions", &scratch, &scores);
	/* QK', or backward dO V', whose left side is laid out as the queries are. */
	const cJSON *product = member(config, "bmm1_dot_dimension_numbers");
	if (!product)
		product = member(config, "bmm2_grad_gemm2_dot_dimension_numbers");
	read_dims(product, "lhs_contracting_dimensions", &scratch, &contracting);
	struct attention a = { .heads = scores.count >= 2 ? 1 : NAN, .width = NAN };
	for (ptrdiff_t k = 0; k < scores.count - 2; k++)
		a.heads *= (double)scores.items[k];
	a.queries = scores.count >= 2 ? (double)scores.items[scores.count - 2] : NAN;
	a.keys = scores.count >= 2 ? (double)scores.items[scores.count - 1] : NAN;
	struct str how = cJSON_IsString(mask) ? str_from(mask->valuestring) : STR("");
	a.causal = str_eq(how, STR("CAUSAL"));
	a.is_whole = a.causal || str_eq(how, STR("NO_MASK"));
	if (q && contracting.count == 1 && contracting.items[0] >= 0 &&
		contracting.items[0] < q->rank)
		a.width = (double)q->dims[contracting.items[0]];
	a.value = a.width;
	cJSON_Delete(root);
	return attention_add(c, i, &a, w);
}

/* The value of "key = 16 : i64" in an attribute dictionary as MLIR prints it; NaN if absent. */
static double attribute(struct str config, struct str key)
{
	while (config.len) {
		struct str entry, name, text;
		str_cut(config, ',', &entry, &config);
		str_take(&entry, STR("{"));
		if (!str_cut(entry, '=', &name, &text) || !str_eq(str_trim(name), key))
			continue;
		str_cut(text, ':', &text, &MISSING);
		str_cut(str_trim(text), '}', &text, &MISSING);
		int64_t value;
		return str_to_i64(str_trim(text), &value) ? (double)value : NAN;
	}
	return NAN;
}

/*
 * Transformer Engine's mask_type 0 is none, 2 is causal from the first key on; others depend on the
 * lengths of sequences.  A window of -1 is no window; a causal mask may end its window at 0.
 */
static bool te_attention(struct hlo_costs *c, const struct hlo_instruction *i,
	const struct library *l, struct work *w)
{
	(void)l;
	struct str config = i->backend_config;
	enum { NO_MASK = 0, CAUSAL_MASK = 2 };
	double mask = attribute(config, STR("mask_type"));
	double right = attribute(config, STR("window_size_right"));
	struct attention a = {
		.heads = attribute(config, STR("input_batch")) *
			 attribute(config, STR("attn_heads")),
		.queries = attribute(config, STR("q_max_seqlen")),
		.keys = attribute(config, STR("kv_max_seqlen")),
		.width = attribute(config, STR("qk_head_dim")),
		.value = attribute(config, STR("v_head_dim")),
	};
	if (isnan(a.width)) /* before queries and values could differ */
		a.width = a.value = attribute(config, STR("head_dim"));
	a.causal = mask == CAUSAL_MASK;
	a.is_whole = (a.causal || mask == NO_MASK) &&
		     attribute(config, STR("window_size_left")) == -1 &&
		     (right == -1 || (a.causal && right == 0));
	return attention_add(c, i, &a, w);
}
