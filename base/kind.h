/*
 * The words every room shares: what sort of work an op does, and which number format it uses.
 *
 * Only measure/kind.c decides which kind an op is; the list stands here because costs, hardware
 * and reports all speak of it.
 */
#ifndef BASE_KIND_H
#define BASE_KIND_H

#include "base/str.h"

/* What an op occupies while it runs.  Masks of these bits partition a device's time. */
enum activity {
	ACTIVITY_COMPUTE = 1,
	ACTIVITY_COMMS = 2,    /* between chips */
	ACTIVITY_COPY = 4,     /* within a chip: layout copies, HBM<->VMEM prefetches, D2D */
	ACTIVITY_TRANSFER = 8, /* between host and device: H2D, D2H, infeed, outfeed */
	ACTIVITY_MASKS = 16,   /* number of combinations; mask 0 is idle */
};

/* X(enum, name in the tables, activity) */
#define OP_KINDS(X)                                                                                \
	X(UNKNOWN, "unknown", ACTIVITY_COMPUTE)                                                    \
	X(MATMUL, "matmul", ACTIVITY_COMPUTE)                                                      \
	X(CONVOLUTION, "convolution", ACTIVITY_COMPUTE)                                            \
	X(ATTENTION, "attention", ACTIVITY_COMPUTE)                                                \
	X(ELEMENTWISE, "elementwise", ACTIVITY_COMPUTE)                                            \
	X(REDUCE, "reduce", ACTIVITY_COMPUTE)                                                      \
	X(GATHER, "gather", ACTIVITY_COMPUTE)                                                      \
	X(SCATTER, "scatter", ACTIVITY_COMPUTE)                                                    \
	X(SORT, "sort", ACTIVITY_COMPUTE)                                                          \
	X(RNG, "rng", ACTIVITY_COMPUTE)                                                            \
	X(UPDATE, "update", ACTIVITY_COMPUTE) /* dynamic-update-slice and its fusions */           \
	X(CUSTOM, "custom", ACTIVITY_COMPUTE) /* a custom call of unknown cost */                  \
	X(CONTROL, "control", 0)	      /* while, call, conditional: holds others */         \
	X(COPY, "copy", ACTIVITY_COPY)                                                             \
	X(ALL_GATHER, "all-gather", ACTIVITY_COMMS)                                                \
	X(ALL_REDUCE, "all-reduce", ACTIVITY_COMMS)                                                \
	X(REDUCE_SCATTER, "reduce-scatter", ACTIVITY_COMMS)                                        \
	X(ALL_TO_ALL, "all-to-all", ACTIVITY_COMMS)                                                \
	X(PERMUTE, "permute", ACTIVITY_COMMS)                                                      \
	X(BROADCAST, "broadcast", ACTIVITY_COMMS) /* collective-broadcast, not the array op */     \
	X(SEND, "send", ACTIVITY_COMMS)                                                            \
	X(RECV, "recv", ACTIVITY_COMMS)                                                            \
	X(BARRIER, "barrier", ACTIVITY_COMMS)                                                      \
	X(TRANSFER, "transfer", ACTIVITY_TRANSFER)                                                 \
	X(INFEED, "infeed", ACTIVITY_TRANSFER)                                                     \
	X(OUTFEED, "outfeed", ACTIVITY_TRANSFER)                                                   \
	X(CALLBACK, "callback", ACTIVITY_TRANSFER) /* runs Python on the host */

enum op_kind {
#define X(id, name, activity) KIND_##id,
	OP_KINDS(X)
#undef X
		KIND_COUNT
};

struct str op_kind_name(enum op_kind k);
enum op_kind op_kind_find(struct str name); /* KIND_UNKNOWN when it is none */
enum activity op_kind_activity(enum op_kind k);
bool op_kind_is_collective(enum op_kind k); /* all-gather .. permute, broadcast */
/* Its time is FLOPs before all: without a peak for its type, that of its bytes says nothing. */
bool op_kind_multiplies(enum op_kind k);
/* Its arithmetic is the vector units', as far as is known. */
bool op_kind_is_vector(enum op_kind k);

/* XLA's PrimitiveType numbers. */
enum dtype {
	DTYPE_INVALID = 0,
	DTYPE_PRED = 1,
	DTYPE_S8,
	DTYPE_S16,
	DTYPE_S32,
	DTYPE_S64,
	DTYPE_U8,
	DTYPE_U16,
	DTYPE_U32,
	DTYPE_U64,
	DTYPE_F16,
	DTYPE_F32,
	DTYPE_F64,
	DTYPE_TUPLE,
	DTYPE_OPAQUE,
	DTYPE_C64,
	DTYPE_BF16,
	DTYPE_TOKEN,
	DTYPE_C128,
	DTYPE_F8E5M2,
	DTYPE_F8E4M3FN,
	DTYPE_S4,
	DTYPE_U4,
	DTYPE_F8E4M3B11FNUZ,
	DTYPE_F8E5M2FNUZ,
	DTYPE_F8E4M3FNUZ,
	DTYPE_S2,
	DTYPE_U2,
	DTYPE_F8E4M3,
	DTYPE_F8E3M4,
	DTYPE_S1,
	DTYPE_U1,
	DTYPE_F4E2M1FN,
	DTYPE_F8E8M0FNU,
	DTYPE_BUFFER,
	DTYPE_F6E3M2FN,
	DTYPE_F6E2M3FN,
	DTYPE_COUNT
};

struct str dtype_name(enum dtype t);	/* "bf16" */
enum dtype dtype_find(struct str name); /* DTYPE_INVALID when unknown */
int dtype_bits(enum dtype t);		/* bits of the number itself: s4 is 4, pred is 8 */
bool dtype_is_float(enum dtype t);	/* a real one: no scale of others, no complex number */
/* What multiplies f32: numbers rounded to bf16 or TF32, or all of their digits. */
enum f32_units { F32_ANY, F32_BF16, F32_TF32, F32_FULL };

/* f32 of c64, f64 of c128; of others the type itself. */
enum dtype dtype_of_parts(enum dtype t);
/* Bits an element takes in memory when the layout names no width: sub-byte types take 8. */
int dtype_storage_bits(enum dtype t);

#endif
