/*
 * The opcodes of HLO as numbers, with what is known about each.
 *
 * One row per opcode: X(id, text, kind, cost).  The kind is what the op is when it stands alone;
 * hlo/kind.c looks further for fusions, wrappers and custom calls.  The cost says which rule of
 * XLA's HloCostAnalysis counts it.
 *
 * Rows are sorted by text: opcode_find searches by halves.
 */
#ifndef HLO_OPCODE_H
#define HLO_OPCODE_H

#include "base/kind.h"

/* How HloCostAnalysis counts an op. */
enum hlo_rule {
	HLO_RULE_UNKNOWN,	 /* its work is unknown */
	HLO_RULE_FREE,		 /* no work, no bytes: names and bit casts */
	HLO_RULE_MOVE,		 /* no work; operands are read, results written */
	HLO_RULE_ELEMENTWISE,	 /* one FLOP per result element */
	HLO_RULE_TRANSCENDENTAL, /* one transcendental per result element */
	HLO_RULE_DOT,
	HLO_RULE_RAGGED_DOT,
	HLO_RULE_CONVOLUTION,
	HLO_RULE_CUSTOM_CALL,
	HLO_RULE_REDUCE, /* (operand - result elements) times the reducer */
	HLO_RULE_WINDOW, /* (window - 1) times the reducer per result element */
	HLO_RULE_SELECT_SCATTER,
	HLO_RULE_SCATTER,  /* the combiner per update element; indices, updates, what they meet */
	HLO_RULE_MAP,	   /* the called computation per result element */
	HLO_RULE_SORT,	   /* n ceil(log2 n) */
	HLO_RULE_SLICE,	   /* reads as much as the result holds, and indices */
	HLO_RULE_UPDATE,   /* reads and writes the update only */
	HLO_RULE_GENERATE, /* writes its result: iota, constants of loops, rng state */
	HLO_RULE_FFT,
	HLO_RULE_CHOLESKY,
	HLO_RULE_TRIANGULAR,
	HLO_RULE_BATCH_NORM,
	HLO_RULE_FUSION,
	HLO_RULE_CALL,	      /* what it calls */
	HLO_RULE_CONDITIONAL, /* the heaviest of what it calls */
	HLO_RULE_DONE,	      /* counted on its start */
	HLO_RULE_COUNT
};

#define HLO_OPS(X)                                                                                 \
	X(ABS, "abs", ELEMENTWISE, ELEMENTWISE)                                                    \
	X(ACOS, "acos", ELEMENTWISE, TRANSCENDENTAL)                                               \
	X(ACOSH, "acosh", ELEMENTWISE, TRANSCENDENTAL)                                             \
	X(ADD, "add", ELEMENTWISE, ELEMENTWISE)                                                    \
	X(ADD_DEPENDENCY, "add-dependency", CONTROL, FREE)                                         \
	X(AFTER_ALL, "after-all", CONTROL, FREE)                                                   \
	X(ALL_GATHER, "all-gather", ALL_GATHER, MOVE)                                              \
	X(ALL_GATHER_DONE, "all-gather-done", ALL_GATHER, DONE)                                    \
	X(ALL_GATHER_START, "all-gather-start", ALL_GATHER, MOVE)                                  \
	X(ALL_REDUCE, "all-reduce", ALL_REDUCE, ELEMENTWISE)                                       \
	X(ALL_REDUCE_DONE, "all-reduce-done", ALL_REDUCE, DONE)                                    \
	X(ALL_REDUCE_START, "all-reduce-start", ALL_REDUCE, ELEMENTWISE)                           \
	X(ALL_TO_ALL, "all-to-all", ALL_TO_ALL, MOVE)                                              \
	X(AND, "and", ELEMENTWISE, ELEMENTWISE)                                                    \
	X(ASIN, "asin", ELEMENTWISE, TRANSCENDENTAL)                                               \
	X(ASINH, "asinh", ELEMENTWISE, TRANSCENDENTAL)                                             \
	X(ASYNC_DONE, "async-done", CONTROL, DONE)                                                 \
	X(ASYNC_START, "async-start", CONTROL, CALL)                                               \
	X(ASYNC_UPDATE, "async-update", CONTROL, DONE)                                             \
	X(ATAN2, "atan2", ELEMENTWISE, TRANSCENDENTAL)                                             \
	X(ATANH, "atanh", ELEMENTWISE, TRANSCENDENTAL)                                             \
	X(BATCH_NORM_GRAD, "batch-norm-grad", ELEMENTWISE, BATCH_NORM)                             \
	X(BATCH_NORM_INFERENCE, "batch-norm-inference", ELEMENTWISE, BATCH_NORM)                   \
	X(BATCH_NORM_TRAINING, "batch-norm-training", ELEMENTWISE, BATCH_NORM)                     \
	X(BITCAST, "bitcast", CONTROL, FREE)                                                       \
	X(BITCAST_CONVERT, "bitcast-convert", COPY, MOVE)                                          \
	X(BROADCAST, "broadcast", ELEMENTWISE, MOVE)                                               \
	X(CALL, "call", CONTROL, CALL)                                                             \
	X(CBRT, "cbrt", ELEMENTWISE, TRANSCENDENTAL)                                               \
	X(CEIL, "ceil", ELEMENTWISE, ELEMENTWISE)                                                  \
	X(CHOLESKY, "cholesky", CUSTOM, CHOLESKY)                                                  \
	X(CLAMP, "clamp", ELEMENTWISE, ELEMENTWISE)                                                \
	X(COLLECTIVE_BROADCAST, "collective-broadcast", BROADCAST, MOVE)                           \
	X(COLLECTIVE_PERMUTE, "collective-permute", PERMUTE, MOVE)                                 \
	X(COLLECTIVE_PERMUTE_DONE, "collective-permute-done", PERMUTE, DONE)                       \
	X(COLLECTIVE_PERMUTE_START, "collective-permute-start", PERMUTE, MOVE)                     \
	X(COMPARE, "compare", ELEMENTWISE, ELEMENTWISE)                                            \
	X(COMPLEX, "complex", ELEMENTWISE, ELEMENTWISE)                                            \
	X(CONCATENATE, "concatenate", ELEMENTWISE, MOVE)                                           \
	X(CONDITIONAL, "conditional", CONTROL, CONDITIONAL)                                        \
	X(CONSTANT, "constant", CONTROL, FREE)                                                     \
	X(CONVERT, "convert", ELEMENTWISE, ELEMENTWISE)                                            \
	X(CONVOLUTION, "convolution", CONVOLUTION, CONVOLUTION)                                    \
	X(COPY, "copy", COPY, MOVE)                                                                \
	X(COPY_DONE, "copy-done", COPY, DONE)                                                      \
	X(COPY_START, "copy-start", COPY, MOVE)                                                    \
	X(COSH, "cosh", ELEMENTWISE, TRANSCENDENTAL)                                               \
	X(COSINE, "cosine", ELEMENTWISE, TRANSCENDENTAL)                                           \
	X(COUNT_LEADING_ZEROS, "count-leading-zeros", ELEMENTWISE, ELEMENTWISE)                    \
	X(CUSTOM_CALL, "custom-call", CUSTOM, CUSTOM_CALL)                                         \
	X(DIVIDE, "divide", ELEMENTWISE, ELEMENTWISE)                                              \
	X(DOMAIN, "domain", CONTROL, FREE)                                                         \
	X(DOT, "dot", MATMUL, DOT)                                                                 \
	X(DYNAMIC_RESHAPE, "dynamic-reshape", COPY, MOVE)                                          \
	X(DYNAMIC_SLICE, "dynamic-slice", ELEMENTWISE, SLICE)                                      \
	X(DYNAMIC_UPDATE_SLICE, "dynamic-update-slice", UPDATE, UPDATE)                            \
	X(ERF, "erf", ELEMENTWISE, TRANSCENDENTAL)                                                 \
	X(EXPONENTIAL, "exponential", ELEMENTWISE, TRANSCENDENTAL)                                 \
	X(EXPONENTIAL_MINUS_ONE, "exponential-minus-one", ELEMENTWISE, TRANSCENDENTAL)             \
	X(FFT, "fft", CUSTOM, FFT)                                                                 \
	X(FLOOR, "floor", ELEMENTWISE, ELEMENTWISE)                                                \
	X(FUSION, "fusion", ELEMENTWISE, FUSION)                                                   \
	X(GATHER, "gather", GATHER, SLICE)                                                         \
	X(GET_DIMENSION_SIZE, "get-dimension-size", CONTROL, FREE)                                 \
	X(GET_TUPLE_ELEMENT, "get-tuple-element", CONTROL, FREE)                                   \
	X(IMAG, "imag", ELEMENTWISE, ELEMENTWISE)                                                  \
	X(INFEED, "infeed", INFEED, GENERATE)                                                      \
	X(IOTA, "iota", ELEMENTWISE, GENERATE)                                                     \
	X(IS_FINITE, "is-finite", ELEMENTWISE, ELEMENTWISE)                                        \
	X(LOG, "log", ELEMENTWISE, TRANSCENDENTAL)                                                 \
	X(LOG_PLUS_ONE, "log-plus-one", ELEMENTWISE, TRANSCENDENTAL)                               \
	X(LOGISTIC, "logistic", ELEMENTWISE, TRANSCENDENTAL)                                       \
	X(MAP, "map", ELEMENTWISE, MAP)                                                            \
	X(MAXIMUM, "maximum", ELEMENTWISE, ELEMENTWISE)                                            \
	X(MINIMUM, "minimum", ELEMENTWISE, ELEMENTWISE)                                            \
	X(MULHI, "mulhi", ELEMENTWISE, ELEMENTWISE)                                                \
	X(MULTIPLY, "multiply", ELEMENTWISE, ELEMENTWISE)                                          \
	X(NEGATE, "negate", ELEMENTWISE, ELEMENTWISE)                                              \
	X(NOT, "not", ELEMENTWISE, ELEMENTWISE)                                                    \
	X(OPT_BARRIER, "opt-barrier", CONTROL, FREE)                                               \
	X(OR, "or", ELEMENTWISE, ELEMENTWISE)                                                      \
	X(OUTFEED, "outfeed", OUTFEED, MOVE)                                                       \
	X(PAD, "pad", ELEMENTWISE, MOVE)                                                           \
	X(PARAMETER, "parameter", CONTROL, FREE)                                                   \
	X(PARTITION_ID, "partition-id", CONTROL, FREE)                                             \
	X(POPCNT, "popcnt", ELEMENTWISE, ELEMENTWISE)                                              \
	X(POWER, "power", ELEMENTWISE, TRANSCENDENTAL)                                             \
	X(RAGGED_ALL_TO_ALL, "ragged-all-to-all", ALL_TO_ALL, MOVE)                                \
	X(RAGGED_DOT, "ragged-dot", MATMUL, RAGGED_DOT)                                            \
	X(REAL, "real", ELEMENTWISE, ELEMENTWISE)                                                  \
	X(RECV, "recv", RECV, MOVE)                                                                \
	X(RECV_DONE, "recv-done", RECV, DONE)                                                      \
	X(REDUCE, "reduce", REDUCE, REDUCE)                                                        \
	X(REDUCE_PRECISION, "reduce-precision", ELEMENTWISE, ELEMENTWISE)                          \
	X(REDUCE_SCATTER, "reduce-scatter", REDUCE_SCATTER, MOVE)                                  \
	X(REDUCE_WINDOW, "reduce-window", REDUCE, WINDOW)                                          \
	X(REMAINDER, "remainder", ELEMENTWISE, ELEMENTWISE)                                        \
	X(REPLICA_ID, "replica-id", CONTROL, FREE)                                                 \
	X(RESHAPE, "reshape", COPY, MOVE)                                                          \
	X(REVERSE, "reverse", ELEMENTWISE, MOVE)                                                   \
	X(RNG, "rng", RNG, TRANSCENDENTAL)                                                         \
	X(RNG_BIT_GENERATOR, "rng-bit-generator", RNG, TRANSCENDENTAL)                             \
	X(RNG_GET_AND_UPDATE_STATE, "rng-get-and-update-state", RNG, GENERATE)                     \
	X(ROUND_NEAREST_AFZ, "round-nearest-afz", ELEMENTWISE, ELEMENTWISE)                        \
	X(ROUND_NEAREST_EVEN, "round-nearest-even", ELEMENTWISE, ELEMENTWISE)                      \
	X(RSQRT, "rsqrt", ELEMENTWISE, TRANSCENDENTAL)                                             \
	X(SCALED_DOT, "scaled-dot", MATMUL, DOT)                                                   \
	X(SCAN, "scan", CONTROL, UNKNOWN)                                                          \
	X(SCATTER, "scatter", SCATTER, SCATTER)                                                    \
	X(SELECT, "select", ELEMENTWISE, ELEMENTWISE)                                              \
	X(SELECT_AND_SCATTER, "select-and-scatter", SCATTER, SELECT_SCATTER)                       \
	X(SEND, "send", SEND, MOVE)                                                                \
	X(SEND_DONE, "send-done", SEND, DONE)                                                      \
	X(SET_DIMENSION_SIZE, "set-dimension-size", CONTROL, FREE)                                 \
	X(SHIFT_LEFT, "shift-left", ELEMENTWISE, ELEMENTWISE)                                      \
	X(SHIFT_RIGHT_ARITHMETIC, "shift-right-arithmetic", ELEMENTWISE, ELEMENTWISE)              \
	X(SHIFT_RIGHT_LOGICAL, "shift-right-logical", ELEMENTWISE, ELEMENTWISE)                    \
	X(SIGN, "sign", ELEMENTWISE, ELEMENTWISE)                                                  \
	X(SINE, "sine", ELEMENTWISE, TRANSCENDENTAL)                                               \
	X(SINH, "sinh", ELEMENTWISE, TRANSCENDENTAL)                                               \
	X(SLICE, "slice", ELEMENTWISE, SLICE)                                                      \
	X(SORT, "sort", SORT, SORT)                                                                \
	X(SQRT, "sqrt", ELEMENTWISE, TRANSCENDENTAL)                                               \
	X(STOCHASTIC_CONVERT, "stochastic-convert", ELEMENTWISE, ELEMENTWISE)                      \
	X(SUBTRACT, "subtract", ELEMENTWISE, ELEMENTWISE)                                          \
	X(TAN, "tan", ELEMENTWISE, TRANSCENDENTAL)                                                 \
	X(TANH, "tanh", ELEMENTWISE, TRANSCENDENTAL)                                               \
	X(TOPK, "topk", SORT, MOVE)                                                                \
	X(TRANSPOSE, "transpose", COPY, MOVE)                                                      \
	X(TRIANGULAR_SOLVE, "triangular-solve", CUSTOM, TRIANGULAR)                                \
	X(TUPLE, "tuple", CONTROL, FREE)                                                           \
	X(WHILE, "while", CONTROL, CALL)                                                           \
	X(XOR, "xor", ELEMENTWISE, ELEMENTWISE)

enum hlo_op {
	HLO_OP_UNKNOWN,
#define X(id, text, kind, rule) HLO_##id,
	HLO_OPS(X)
#undef X
		HLO_OP_COUNT
};

enum hlo_op opcode_find(struct str text);
enum op_kind opcode_kind(enum hlo_op op);
enum hlo_rule opcode_rule(enum hlo_op op);

#endif
