/*
 * Which kind of work an op does: from its HLO where there is one, else from the profiler's
 * category, else from the kernel's name.
 */
#include "measure/subject.h"

struct word_kind {
	struct str word;
	enum op_kind kind;
};

/* libtpu's and XProf's categories, for profiles taken without HLO. */
static const struct word_kind categories[] = {
	{ STR_INIT("convolution fusion"), KIND_MATMUL },
	{ STR_INIT("convolution"), KIND_MATMUL },
	{ STR_INIT("dot"), KIND_MATMUL },
	{ STR_INIT("loop fusion"), KIND_ELEMENTWISE },
	{ STR_INIT("input fusion"), KIND_REDUCE },
	{ STR_INIT("output fusion"), KIND_ELEMENTWISE },
	{ STR_INIT("non-fusion elementwise"), KIND_ELEMENTWISE },
	{ STR_INIT("broadcast"), KIND_ELEMENTWISE },
	{ STR_INIT("reduce"), KIND_REDUCE },
	{ STR_INIT("reduce-window"), KIND_REDUCE },
	{ STR_INIT("gather"), KIND_GATHER },
	{ STR_INIT("gather fusion"), KIND_GATHER },
	{ STR_INIT("dynamic-slice"), KIND_GATHER },
	{ STR_INIT("scatter"), KIND_SCATTER },
	{ STR_INIT("scatter fusion"), KIND_SCATTER },
	{ STR_INIT("sort"), KIND_SORT },
	{ STR_INIT("dynamic-update-slice"), KIND_UPDATE },
	{ STR_INIT("data formatting"), KIND_COPY },
	{ STR_INIT("copy"), KIND_COPY },
	{ STR_INIT("copy-start"), KIND_COPY },
	{ STR_INIT("copy-done"), KIND_COPY },
	{ STR_INIT("while"), KIND_CONTROL },
	{ STR_INIT("conditional"), KIND_CONTROL },
	{ STR_INIT("call"), KIND_CONTROL },
	{ STR_INIT("megacore fusion"), KIND_CONTROL },
	{ STR_INIT("custom-call"), KIND_CUSTOM },
	{ STR_INIT("infeed"), KIND_INFEED },
	{ STR_INIT("outfeed"), KIND_OUTFEED },
	{ STR_INIT("host send"), KIND_TRANSFER },
	{ STR_INIT("host recv"), KIND_TRANSFER },
	{ STR_INIT("host send-done"), KIND_TRANSFER },
	{ STR_INIT("host recv-done"), KIND_TRANSFER },
};

/* Collectives, by any word that contains one of these; "all-reduce-scatter" before its parts. */
static const struct word_kind collectives[] = {
	{ STR_INIT("all-reduce-scatter"), KIND_REDUCE_SCATTER },
	{ STR_INIT("reduce-scatter"), KIND_REDUCE_SCATTER },
	{ STR_INIT("reducescatter"), KIND_REDUCE_SCATTER },
	{ STR_INIT("all-gather"), KIND_ALL_GATHER },
	{ STR_INIT("allgather"), KIND_ALL_GATHER },
	{ STR_INIT("all-reduce"), KIND_ALL_REDUCE },
	{ STR_INIT("allreduce"), KIND_ALL_REDUCE },
	{ STR_INIT("all-to-all"), KIND_ALL_TO_ALL },
	{ STR_INIT("alltoall"), KIND_ALL_TO_ALL },
	{ STR_INIT("collective-permute"), KIND_PERMUTE },
	{ STR_INIT("sendrecv"), KIND_PERMUTE },
	{ STR_INIT("collective-broadcast"), KIND_BROADCAST },
	{ STR_INIT("DevKernel_Broadcast"), KIND_BROADCAST },
	{ STR_INIT("Kernel_Reduce_"), KIND_ALL_REDUCE },
};

/*
 * JAX names an instruction after the primitive it was made from ("psum.7", "all_gather.6"), which
 * is all that a trace without HLO says of it.  The parallel primitives of jax.lax; axis_index and
 * the casts of varying types move nothing.
 */
static const struct word_kind primitives[] = {
	{ STR_INIT("psum"), KIND_ALL_REDUCE },
	{ STR_INIT("psum_invariant"), KIND_ALL_REDUCE },
	{ STR_INIT("unreduced_psum"), KIND_ALL_REDUCE },
	{ STR_INIT("pmax"), KIND_ALL_REDUCE },
	{ STR_INIT("pmin"), KIND_ALL_REDUCE },
	{ STR_INIT("all_gather"), KIND_ALL_GATHER },
	{ STR_INIT("all_gather_invariant"), KIND_ALL_GATHER },
	{ STR_INIT("all_gather_reduced"), KIND_ALL_GATHER },
	{ STR_INIT("reduce_scatter"), KIND_REDUCE_SCATTER },
	{ STR_INIT("unreduced_reduce_scatter"), KIND_REDUCE_SCATTER },
	{ STR_INIT("all_to_all"), KIND_ALL_TO_ALL },
	{ STR_INIT("ragged_all_to_all"), KIND_ALL_TO_ALL },
	{ STR_INIT("ppermute"), KIND_PERMUTE },
	{ STR_INIT("pbroadcast"), KIND_BROADCAST },
};

/*
 * Kernel names without an instruction, the first that fits.  Those that torch.compile writes come
 * first: they begin with what they are, and go on with all the ops that they were made from
 * (templates are of products, but for flex_attention).  Then attention (FlashAttention, cuDNN,
 * AOTriton, SageAttention, aiter, FlashInfer), convolutions (cuDNN, MIOpen and its implicit GEMMs,
 * CK), products (cuBLAS, cuBLASLt's nvjet, CUTLASS, Tensile's Cijk, XLA's Triton fusions, experts),
 * and PyTorch's own, which are templates over what they do to each element; CUB; vLLM's.
 */
static const struct word_kind kernels[] = {
	{ STR_INIT("triton_poi_"), KIND_ELEMENTWISE },
	{ STR_INIT("triton_for_"), KIND_ELEMENTWISE },
	{ STR_INIT("triton_red_"), KIND_REDUCE },
	{ STR_INIT("triton_per_"), KIND_REDUCE },
	{ STR_INIT("flex_attention"), KIND_ATTENTION },
	{ STR_INIT("triton_tem_"), KIND_MATMUL },
	{ STR_INIT("all_reduce_kernel"), KIND_ALL_REDUCE }, /* through memory that all see */
	{ STR_INIT("cross_device_reduce"), KIND_ALL_REDUCE },
	{ STR_INIT("flash_fwd"), KIND_ATTENTION },
	{ STR_INIT("flash_bwd"), KIND_ATTENTION },
	{ STR_INIT("flashattn"), KIND_ATTENTION },
	{ STR_INIT("fmha"), KIND_ATTENTION },
	{ STR_INIT("_sdpa_"), KIND_ATTENTION },
	{ STR_INIT("attn_fwd"), KIND_ATTENTION },
	{ STR_INIT("attn_bwd"), KIND_ATTENTION },
	{ STR_INIT("sage_fwd"), KIND_ATTENTION },
	{ STR_INIT("PagedKVCache"), KIND_ATTENTION },
	{ STR_INIT("unified_attention"), KIND_ATTENTION },
	{ STR_INIT("paged_attention"), KIND_ATTENTION },
	{ STR_INIT("implicit_gemm"), KIND_CONVOLUTION },
	{ STR_INIT("convolve_sgemm"), KIND_CONVOLUTION },
	{ STR_INIT("scudnn"), KIND_CONVOLUTION },
	{ STR_INIT("884cudnn"), KIND_CONVOLUTION },
	{ STR_INIT("1688cudnn"), KIND_CONVOLUTION },
	{ STR_INIT("16816cudnn"), KIND_CONVOLUTION },
	{ STR_INIT("_gtcx"), KIND_CONVOLUTION },
	{ STR_INIT("grouped_conv"), KIND_CONVOLUTION },
	{ STR_INIT("winograd"), KIND_CONVOLUTION },
	{ STR_INIT("AsmConv"), KIND_CONVOLUTION },
	{ STR_INIT("bwd_weight"), KIND_CONVOLUTION },
	{ STR_INIT("fprop"), KIND_CONVOLUTION },
	{ STR_INIT("dgrad"), KIND_CONVOLUTION },
	{ STR_INIT("wgrad"), KIND_CONVOLUTION },
	{ STR_INIT("rmsnorm"), KIND_REDUCE },
	{ STR_INIT("rms_norm"), KIND_REDUCE },
	{ STR_INIT("splitKreduce"), KIND_REDUCE },
	{ STR_INIT("RadixSort"), KIND_SORT },
	{ STR_INIT("radix_sort"), KIND_SORT },
	{ STR_INIT("bitonicSort"), KIND_SORT },
	{ STR_INIT("gemma_"), KIND_UNKNOWN }, /* a model's, and no product */
	{ STR_INIT("gemm"), KIND_MATMUL },
	{ STR_INIT("gemv"), KIND_MATMUL },
	{ STR_INIT("fused_moe_kernel"), KIND_MATMUL },
	{ STR_INIT("finalize_matmul"), KIND_REDUCE }, /* adds up what the experts made */
	{ STR_INIT("_matmul_"), KIND_MATMUL },
	{ STR_INIT("bmm_"), KIND_MATMUL },
	{ STR_INIT("act_and_mul_kernel"), KIND_ELEMENTWISE },
	{ STR_INIT("rotary_embedding"), KIND_ELEMENTWISE },
	{ STR_INIT("reshape_and_cache"), KIND_SCATTER },
	{ STR_INIT("store_kvcache"), KIND_SCATTER },
	{ STR_INIT("nvjet_"), KIND_MATMUL },
	{ STR_INIT("Cijk_"), KIND_MATMUL },
	{ STR_INIT("direct_copy_kernel"), KIND_COPY },
	{ STR_INIT("CatArrayBatchedCopy"), KIND_COPY },
	{ STR_INIT("batched_transpose"), KIND_COPY },
	{ STR_INIT("NchwToNhwc"), KIND_COPY },
	{ STR_INIT("NhwcToNchw"), KIND_COPY },
	{ STR_INIT("CNHW2NCHW"), KIND_COPY },
	{ STR_INIT("NCHW2CNHW"), KIND_COPY },
	{ STR_INIT("distribution_elementwise"), KIND_RNG },
	{ STR_INIT("index_elementwise_kernel"), KIND_GATHER },
	{ STR_INIT("gather_kernel"), KIND_GATHER },
	{ STR_INIT("indexSelect"), KIND_GATHER },
	{ STR_INIT("gatherTopK"), KIND_SORT },
	{ STR_INIT("upsample_nearest"), KIND_GATHER },
	{ STR_INIT("elementwise_kernel"), KIND_ELEMENTWISE },
	{ STR_INIT("batch_norm_transform"), KIND_ELEMENTWISE },
	{ STR_INIT("batch_norm"), KIND_REDUCE },
	{ STR_INIT("BatchNorm"), KIND_REDUCE },
	{ STR_INIT("groupnorm"), KIND_REDUCE },
	{ STR_INIT("GammaBeta"), KIND_REDUCE },
	{ STR_INIT("RowwiseMoments"), KIND_REDUCE },
	{ STR_INIT("max_pool"), KIND_REDUCE },
	{ STR_INIT("pooling_"), KIND_REDUCE },
	{ STR_INIT("multi_tensor_apply"), KIND_ELEMENTWISE },
	{ STR_INIT("quant_kernel"), KIND_ELEMENTWISE },
	{ STR_INIT("SubTensorOp"), KIND_ELEMENTWISE },
	{ STR_INIT("scalePackedTensor"), KIND_ELEMENTWISE },
	{ STR_INIT("EigenMetaKernel"), KIND_ELEMENTWISE }, /* TensorFlow's */
	{ STR_INIT("FillPhilox"), KIND_RNG },
	{ STR_INIT("reduce_kernel"), KIND_REDUCE },
	{ STR_INIT("layer_norm"), KIND_REDUCE },
	{ STR_INIT("softmax"), KIND_REDUCE },
	{ STR_INIT("copybuffer"), KIND_COPY },
	{ STR_INIT("memcpy"), KIND_COPY }, /* CUDA's own, in graphs */
	{ STR_INIT("memset"), KIND_ELEMENTWISE },
	{ STR_INIT("fillbuffer"), KIND_ELEMENTWISE },
};

/*
 * What such a kernel multiplies, the first that fits.  cuBLAS writes the types of A and B, of C and
 * D and of the sum (bf16bf16_bf16f32_f32), nvjet a letter for each, Tensile letters, CUTLASS the
 * instruction (h884: half, s1688 without a type: f32 as tf32); the others are C++ types.
 */
static const struct {
	struct str part;
	enum dtype dtype;
} kernel_dtypes[] = {
	{ STR_INIT("e4m3"), DTYPE_F8E4M3FN },
	{ STR_INIT("e5m2"), DTYPE_F8E5M2 },
	{ STR_INIT("bf16"), DTYPE_BF16 },
	{ STR_INIT("bfloat16"), DTYPE_BF16 },
	{ STR_INIT("nvjet_ts"), DTYPE_BF16 },
	{ STR_INIT("nvjet_sm103_ts"), DTYPE_BF16 },
	{ STR_INIT("_BBS_"), DTYPE_BF16 },
	{ STR_INIT("_B_BS_"), DTYPE_BF16 },
	{ STR_INIT("fp16"), DTYPE_F16 },
	{ STR_INIT("f16f16"), DTYPE_F16 },
	{ STR_INIT("_f16_"), DTYPE_F16 },
	{ STR_INIT("half_t"), DTYPE_F16 },
	{ STR_INIT("__half"), DTYPE_F16 },
	{ STR_INIT("hgemm"), DTYPE_F16 },
	{ STR_INIT("h884"), DTYPE_F16 },
	{ STR_INIT("h1688"), DTYPE_F16 },
	{ STR_INIT("h16816"), DTYPE_F16 },
	{ STR_INIT("nvjet_hs"), DTYPE_F16 },
	{ STR_INIT("_HHS_"), DTYPE_F16 },
	{ STR_INIT("_H_HS_"), DTYPE_F16 },
	{ STR_INIT("tf32"), DTYPE_F32 },
	{ STR_INIT("f32f32"), DTYPE_F32 },
	{ STR_INIT("sgemm"), DTYPE_F32 },
	{ STR_INIT("scudnn"), DTYPE_F32 },
	{ STR_INIT("s1688gemm"), DTYPE_F32 },
	{ STR_INIT("nvjet_ss"), DTYPE_F32 },
	{ STR_INIT("_S_B_"), DTYPE_F32 },
	{ STR_INIT("_SB_"), DTYPE_F32 },
	{ STR_INIT("f64f64"), DTYPE_F64 },
	{ STR_INIT("dgemm"), DTYPE_F64 },
};

enum dtype kernel_dtype(struct str kernel)
{
	for (ptrdiff_t i = 0; i < COUNT_OF(kernel_dtypes); i++)
		if (str_contains(kernel, kernel_dtypes[i].part))
			return kernel_dtypes[i].dtype;
	return DTYPE_INVALID;
}

/* Names of kernels have kilobytes. */
static bool contains_nocase(struct str s, struct str word)
{
	enum { CASE = 'a' - 'A' };
	for (ptrdiff_t i = 0; i + word.len <= s.len; i++)
		if ((s.p[i] | CASE) == (word.p[0] | CASE) &&
			str_eq_nocase(str_head(str_from_offset(s, i), word.len), word))
			return true;
	return false;
}

/* By C++ namespaces, and by what a framework's own compiler calls its kernels. */
static const struct {
	struct str part, framework;
} kernel_frameworks[] = {
	{ STR_INIT("tensorflow::"), STR_INIT("tensorflow") },
	{ STR_INIT("EigenMetaKernel"), STR_INIT("tensorflow") },
	{ STR_INIT("at::native::"), STR_INIT("pytorch") },
	{ STR_INIT("at::cuda::"), STR_INIT("pytorch") },
	{ STR_INIT("c10::"), STR_INIT("pytorch") },
	{ STR_INIT("flash::flash_"), STR_INIT("pytorch") }, /* the package's and PyTorch's copy */
	{ STR_INIT("triton_poi_"), STR_INIT("pytorch") },   /* Inductor's */
	{ STR_INIT("triton_red_"), STR_INIT("pytorch") },
	{ STR_INIT("triton_per_"), STR_INIT("pytorch") },
};

struct str kernel_framework(struct str kernel)
{
	for (ptrdiff_t i = 0; i < COUNT_OF(kernel_frameworks); i++)
		if (str_contains(kernel, kernel_frameworks[i].part))
			return kernel_frameworks[i].framework;
	return MISSING;
}

/* cuDNN's, FlashAttention's, PyTorch's and Inductor's, and the optimizers that PyTorch fuses. */
bool kernel_is_backward(struct str kernel)
{
	static const struct str words[] = { STR_INIT("bwd"), STR_INIT("backward"),
		STR_INIT("dgrad"), STR_INIT("wgrad"), STR_INIT("FusedAdam"), STR_INIT("FusedSgd") };

	for (ptrdiff_t i = 0; i < COUNT_OF(words); i++)
		if (contains_nocase(kernel, words[i]))
			return true;
	return false;
}

static enum op_kind find_equal(const struct word_kind *t, size_t n, struct str word)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(t[i].word, word))
			return t[i].kind;
	return KIND_UNKNOWN;
}

static enum op_kind find_inside(const struct word_kind *t, size_t n, struct str text)
{
	for (size_t i = 0; i < n; i++)
		if (contains_nocase(text, t[i].word))
			return t[i].kind;
	return KIND_UNKNOWN;
}

static enum op_kind kind_of_copy(enum copy_direction d)
{
	switch (d) {
	case COPY_H2D:
	case COPY_D2H:
		return KIND_TRANSFER;
	case COPY_P2P:
		return KIND_SEND;
	case COPY_D2D:
		return KIND_COPY;
	default:
		return KIND_UNKNOWN;
	}
}

/* "psum.7" and "all_gather-start.2", but no fusion that is called after what it holds. */
static enum op_kind kind_of_name(struct str hlo_op)
{
	ptrdiff_t end = 0;
	while (end < hlo_op.len && hlo_op.p[end] != '.' && hlo_op.p[end] != '-')
		end++;
	enum op_kind k = find_equal(primitives, COUNT_OF(primitives), str_head(hlo_op, end));
	return k != KIND_UNKNOWN ? k : find_inside(collectives, COUNT_OF(collectives), hlo_op);
}

static enum op_kind kind_of_kernel(const struct profile_op *said)
{
	if (contains_nocase(said->name, STR("nccl")) || contains_nocase(said->name, STR("rccl"))) {
		enum op_kind k = find_inside(collectives, COUNT_OF(collectives), said->name);
		return k != KIND_UNKNOWN ? k : KIND_SEND; /* whatever it does, it communicates */
	}
	return find_inside(kernels, COUNT_OF(kernels), said->name);
}

enum op_kind kind_decide(const struct program *program, ptrdiff_t instruction,
	const struct profile_op *said, enum platform platform)
{
	enum op_kind k = kind_of_copy(said->copy);

	if (k != KIND_UNKNOWN)
		return k;
	if (instruction >= 0) {
		const struct hlo_module *m = program_hlo(program);
		k = kernel_kind(
			program->kernels, &m->instructions[instruction], hlo_kind(m, instruction));
		if (k != KIND_UNKNOWN)
			return k;
	}
	if (instruction < 0 && str_starts(said->category, STR("copy-")) &&
		str_contains(said->shape, STR("S(5)")))
		return KIND_TRANSFER; /* memory space 5 is the host's */
	if (said->category.len > 0) {
		k = find_equal(categories, COUNT_OF(categories), said->category);
		if (k == KIND_UNKNOWN)
			k = find_inside(collectives, COUNT_OF(collectives), said->category);
		if (k != KIND_UNKNOWN)
			return k;
	}
	if (said->hlo_op.len > 0 && instruction < 0) {
		k = kind_of_name(said->hlo_op);
		if (k != KIND_UNKNOWN)
			return k;
	}
	return platform == PLATFORM_TPU ? KIND_UNKNOWN : kind_of_kernel(said);
}
