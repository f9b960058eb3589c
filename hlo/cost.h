/*
 * What an instruction has to do, at the least: FLOPs of its matmuls and convolutions, and bytes.
 *
 * FLOPs count multiply and add separately: 2MNK, of complex numbers 8MNK.  Only work for the matrix
 * units is counted, plus one FLOP per element for elementwise work when there is no matmul: a
 * fusion's elementwise tail is below 1% of its matmul and would need the backend's cycle tables.
 * A count that is not known is COST_UNKNOWN, never 0.
 *
 * Source: XLA's HloCostAnalysis (matmul_flops + other_flops is its "flops", but for products of
 * complex numbers, which it counts as real ones).
 */
#ifndef HLO_COST_H
#define HLO_COST_H

#include "hlo/module.h"

enum hlo_platform { HLO_TPU, HLO_GPU, HLO_CPU };

/* Where a layout's S(n) lies.  On GPU S(1) and S(2) are HBM; on TPU S(1) is VMEM. */
enum hlo_space { SPACE_HBM, SPACE_ON_CHIP, SPACE_HOST, SPACE_OTHER };
enum hlo_space hlo_space(int64_t memory_space, enum hlo_platform platform);

/* Counts here are never lower bounds; those of kernels whose work is data may be.  In the order of
 * COST_WORDS, behind the first. */
enum cost_bound { COST_UNKNOWN, COST_EXACT, COST_UPPER, COST_LOWER };

struct hlo_cost {
	enum cost_bound flops_bound, bytes_bound;
	double flops;	     /* per execution; meaningless when unknown */
	double matmul_flops; /* the part done by dots and convolutions */
	double other_flops;  /* the rest, one per element and op; not in `flops` beside a matmul */
	double transcendentals; /* exp, log, tanh ...: elements, not FLOPs */
	enum dtype dtype;	/* operand type of the heaviest matmul; DTYPE_INVALID without one */
	int precision_passes;	/* f32 at HIGH is 3, HIGHEST 6, or an algorithm's; else 1 */
	enum f32_units f32_units; /* an algorithm's, else F32_ANY */
	double hbm_bytes;	  /* logical (dense) bytes of operands and results in HBM */
	double hbm_padded_bytes;
	double host_bytes;		    /* operands and results in host memory, feeds */
	double logical_bytes, padded_bytes; /* of the result and operands, in all spaces */
	bool has_matmul, has_convolution;
};

/*
 * Cost of one execution of an instruction: fusions and calls include what they call; a while is
 * one iteration; a conditional its heaviest branch.  Results are cached per computation in `memo`.
 */
struct hlo_costs;
struct hlo_costs *hlo_costs_new(
	const struct hlo_module *m, enum hlo_platform platform, struct arena *keep);
struct hlo_cost hlo_cost(struct hlo_costs *costs, ptrdiff_t instruction);

/* A product's sizes, of 2 x batch x m x n x k FLOPs.  True for a dot, a convolution that is one,
 * and a library call that names its dimensions; wrappers and fusions around a single one are looked
 * into. */
struct hlo_product {
	double batch, m, n, k;
};
bool hlo_product(const struct hlo_module *m, ptrdiff_t instruction, struct arena scratch,
	struct hlo_product *ret);

/* The first array of an operand; NULL where it is not known, or has none. */
const struct shape *hlo_operand_array(
	const struct hlo_module *m, const struct hlo_instruction *i, ptrdiff_t operand);
/* Text of the ops that ran may name operands that are not among them. */
bool hlo_knows_operands(const struct hlo_instruction *i);

/* What a kernel's author says that a call costs (pl.CostEstimate); false when they say nothing. */
struct hlo_author_cost {
	double flops, bytes;
};
bool hlo_author_cost(const struct hlo_instruction *i, struct hlo_author_cost *ret);

/* The end of a scope that names a kernel: "flash_attention/pallas_call". */
struct str hlo_scope_end(struct str op_name);

/* The sort of work an instruction does, looking into fusions and async wrappers: the raw material
 * for measure/kind.c.  KIND_UNKNOWN for unknown opcodes. */
enum op_kind hlo_kind(const struct hlo_module *m, ptrdiff_t instruction);
/* Does it take time of its own?  Not loops and calls, names for bytes, and the ends of what was
 * counted where it began. */
bool hlo_is_work(const struct hlo_module *m, ptrdiff_t instruction);

#endif
