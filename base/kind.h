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

/* XLA's PrimitiveType by its numbers (xla_data.proto).  X(enum, name, bits, 0 of types without;
 * whether it is a float) */
#define DTYPES(X)                                                                                  \
	X(INVALID, "invalid", 0, false)                                                            \
	X(PRED, "pred", 8, false)                                                                  \
	X(S8, "s8", 8, false)                                                                      \
	X(S16, "s16", 16, false)                                                                   \
	X(S32, "s32", 32, false)                                                                   \
	X(S64, "s64", 64, false)                                                                   \
	X(U8, "u8", 8, false)                                                                      \
	X(U16, "u16", 16, false)                                                                   \
	X(U32, "u32", 32, false)                                                                   \
	X(U64, "u64", 64, false)                                                                   \
	X(F16, "f16", 16, true)                                                                    \
	X(F32, "f32", 32, true)                                                                    \
	X(F64, "f64", 64, true)                                                                    \
	X(TUPLE, "tuple", 0, false)                                                                \
	X(OPAQUE, "opaque", 0, false)                                                              \
	X(C64, "c64", 64, false)                                                                   \
	X(BF16, "bf16", 16, true)                                                                  \
	X(TOKEN, "token", 0, false)                                                                \
	X(C128, "c128", 128, false)                                                                \
	X(F8E5M2, "f8e5m2", 8, true)                                                               \
	X(F8E4M3FN, "f8e4m3fn", 8, true)                                                           \
	X(S4, "s4", 4, false)                                                                      \
	X(U4, "u4", 4, false)                                                                      \
	X(F8E4M3B11FNUZ, "f8e4m3b11fnuz", 8, true)                                                 \
	X(F8E5M2FNUZ, "f8e5m2fnuz", 8, true)                                                       \
	X(F8E4M3FNUZ, "f8e4m3fnuz", 8, true)                                                       \
	X(S2, "s2", 2, false)                                                                      \
	X(U2, "u2", 2, false)                                                                      \
	X(F8E4M3, "f8e4m3", 8, true)                                                               \
	X(F8E3M4, "f8e3m4", 8, true)                                                               \
	X(S1, "s1", 1, false)                                                                      \
	X(U1, "u1", 1, false)                                                                      \
	X(F4E2M1FN, "f4e2m1fn", 4, true)                                                           \
	X(F8E8M0FNU, "f8e8m0fnu", 8, false)                                                        \
	X(BUFFER, "buffer", 0, false)                                                              \
	X(F6E3M2FN, "f6e3m2fn", 6, true)                                                           \
	X(F6E2M3FN, "f6e2m3fn", 6, true)

enum dtype {
#define X(id, name, bits, is_float) DTYPE_##id,
	DTYPES(X)
#undef X
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
