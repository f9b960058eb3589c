/*
 * What the files behind cost.h share: work (FLOPs), traffic (bytes) and library calls.
 *
 * Sums carry how far they can be trusted: anything unknown in them makes them unknown, anything
 * that is an upper limit makes them one.
 *
 * Private to hlo/.
 */
#ifndef HLO_WORK_H
#define HLO_WORK_H

#include "base/saturate.h"
#include "hlo/cost.h"

/* How f32 is multiplied; of other types { F32_ANY, 1 }. */
struct f32_way {
	enum f32_units units; /* as an algorithm names them, else F32_ANY */
	int passes;	      /* of it, or what operand_precision asks for: 1, 3, 6 */
};

struct work {
	double matmul, other, transcendental; /* FLOPs; the last one in operations */
	enum cost_bound bound;
	enum dtype dtype; /* of the heaviest matmul's operands */
	struct f32_way f32;
	double heaviest; /* its FLOPs */
	bool has_matmul, has_convolution;
};

struct traffic {
	double hbm, hbm_padded, host; /* bytes */
	double logical, padded;	      /* of everything touched, in all spaces */
	enum cost_bound bound;
};

struct extent {
	double logical, padded; /* bytes */
	bool whole;		/* all of it, however large */
	enum cost_bound bound;
};

/* What a fused computation reads of each parameter and writes of each result leaf. */
struct footprint {
	struct extent *reads;
	ptrdiff_t read_count;
	struct extent *writes;
	ptrdiff_t write_count;
	ptrdiff_t base;		 /* the parameter that its one result updates in place; -1 none */
	struct extent constants; /* large ones, which live in memory too */
};

struct callee {
	bool has_work, has_traffic;
	struct work work;
	struct traffic traffic;
	struct footprint *footprint, *element; /* of all of the result, and of one element */
};

struct hlo_costs {
	const struct hlo_module *m;
	enum hlo_platform platform;
	struct arena *keep;
	int64_t taps;		 /* of convolutions that may still be walked: see flops.c */
	struct callee *callees;	 /* per computation */
	struct traffic **tuples; /* per instruction: all of its result, once it was asked for */
};

/* What one instruction adds to a sum. */
typedef void work_fn(struct hlo_costs *c, const struct hlo_instruction *i, struct work *w);
typedef void traffic_fn(struct hlo_costs *c, const struct hlo_instruction *i, struct traffic *t);

static inline enum cost_bound worse(enum cost_bound a, enum cost_bound b)
{
	if (a == COST_UNKNOWN || b == COST_UNKNOWN)
		return COST_UNKNOWN;
	return a == COST_UPPER || b == COST_UPPER ? COST_UPPER : COST_EXACT;
}

/* What one instruction needs of the module; operands that could not be resolved are NULL. */
const struct hlo_instruction *operand_at(
	const struct hlo_module *m, const struct hlo_instruction *i, ptrdiff_t k);
const struct shape *operand_shape(
	const struct hlo_module *m, const struct hlo_instruction *i, ptrdiff_t k);
const struct hlo_computation *called_at(
	const struct hlo_module *m, const struct hlo_instruction *i, ptrdiff_t k);

/* traffic.c */
/* Does it need what it meets, to combine it with the updates? */
bool scatter_combines(const struct hlo_module *m, const struct hlo_instruction *i);
traffic_fn traffic_instruction;
struct extent extent_of(const struct shape *s);
void extent_add(struct extent *e, struct extent more);
/* The whole where it is that already, or where the factor is not finite. */
struct extent extent_scaled(struct extent e, double factor);
/* As many elements of the type that `to` has. */
struct extent extent_as(struct extent e, const struct shape *from, const struct shape *to);

/* footprint.c: made once for each computation. */
const struct footprint *footprint_of(struct hlo_costs *c, ptrdiff_t computation);

/* flops.c */
double element_count(const struct shape *s); /* NaN when they are too many to count */
/* 2MNK from shapes and dimension numbers; NaN if they do not fit. */
double dot_flops(const struct shape *out, const struct shape *lhs, const struct hlo_dot *dims);
/* Pairs of an output and a kernel tap that meet a real input element, along one dimension. */
double valid_positions(
	const struct hlo_window_dim *w, int64_t in, int64_t out, int64_t kernel, int64_t *budget);
struct convolution {
	const struct shape *in, *kernel, *out;
	const struct hlo_instruction *i;
};
/* Walks at most *budget taps, and takes them off; NaN when there are more. */
double convolution_flops(const struct convolution *c, int64_t *budget);
bool convolution_is_matmul(const struct convolution *c);

/* matmul.c: dots and convolutions as instructions. */
void matmul_add(struct work *w, double flops, enum dtype lhs, enum dtype rhs, struct f32_way f32,
	enum cost_bound bound);
struct f32_way f32_way_of(
	const struct hlo_instruction *i, enum dtype operands, enum hlo_platform platform);
bool is_real_convolution(const struct hlo_module *m, const struct hlo_instruction *i);
work_fn work_dot, work_ragged_dot, work_convolution;

/* text_attr.c: the number of "dot_bf16_bf16_f32_x3" in PrecisionConfig; 0 unknown. */
int64_t hlo_algorithm(struct str name);

/* library.c: custom calls whose names tell what they do. */
struct library;
/* False where it is unknown. */
typedef bool library_fn(struct hlo_costs *c, const struct hlo_instruction *i,
	const struct library *l, struct work *w);
enum { RESULT = -1 };
struct library {
	struct str target; /* a glob */
	enum op_kind kind;
	library_fn *work; /* NULL: unknown */
	/* Operands, or RESULT: left and right; of a convolution input, kernel and output. */
	int roles[3];
	int sizes;    /* operand of a matmul with a size for each of its groups; 0 none */
	bool is_free; /* moves nothing */
	bool halves;  /* reads of each element the half that it writes */
};
/* Never NULL: the last row is any custom call. */
const struct library *library_find(struct str target);
bool is_workspace(const struct hlo_instruction *i, ptrdiff_t leaf);
/* Which dimensions a call of a GPU's matmul contracts; false where its configuration is silent. */
bool gemm_dims(const struct hlo_instruction *i, struct arena *keep, struct hlo_dot *ret);

#endif
