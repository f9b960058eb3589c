/*
 * An HLO module as a graph: computations of instructions, resolved by id.
 *
 * Read from an HloProto or HloModuleProto, or from text (hlo/text.h).  Everything borrows from the
 * bytes read or lives in `keep`; the bytes must outlive the module.
 *
 * Sources: XLA's hlo.proto and xla_data.proto, whose field numbers the tables of the readers name.
 *
 * Guarantees after a successful parse: operand, called-computation and root indices are valid or
 * -1; the entry computation has a root; operands belong to the same computation; there is no cycle
 * of called computations (checked, since costs recurse); ids are 64-bit and need not be dense.
 *
 * Refuses: costs (hlo/cost.h), buffers (hlo/memory.h), collectives (hlo/collective.h).
 */
#ifndef HLO_MODULE_H
#define HLO_MODULE_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "hlo/opcode.h"
#include "hlo/shape.h"

#define HLO_MAX_INSTRUCTIONS (8 << 20) /* the largest unrolled training steps have about 10^6 */
#define HLO_MAX_CALL_DEPTH   128 /* of computations that call each other; real ones stay below 20 */
#define HLO_MAX_GROUP	     (1 << 20) /* ids kept of a replica group: ten times the largest pods */

struct hlo_source {
	struct str file;
	int64_t line; /* 0 unknown */
	struct str function;
};

/* Dimension numbers of dot and convolution; all pointers are NULL when absent. */
struct hlo_dims {
	int64_t *items;
	ptrdiff_t count;
};

struct hlo_dot {
	struct hlo_dims lhs_contracting, lhs_batch;
	struct hlo_dims lhs_ragged; /* of a ragged-dot */
};

struct hlo_convolution {
	int64_t input_batch, input_feature, kernel_output_feature;
	struct hlo_dims input_spatial, kernel_spatial, output_spatial;
};

struct hlo_window_dim {
	int64_t size, stride, padding_low, window_dilation, base_dilation;
};

struct hlo_pair {
	int64_t source, target;
};

struct hlo_slice_dim {
	int64_t start, limit, stride;
};

struct hlo_replica_groups {
	bool unreadable;       /* its numbers contradict each other */
	int64_t group_count;   /* 0 with group_size 0: one group of everybody */
	int64_t group_size;    /* of the largest group when they differ */
	struct hlo_dims first; /* ids of the first group */
};

/* A send or recv between TPU slices, by its frontend attributes: see hlo/slices.h. */
struct hlo_transfer {
	struct str type, target; /* "ALL_REDUCE", "{1,2}x{0:7}" */
};

/* A large program has a million: flags stand together, where they take no room of their own. */
struct hlo_instruction {
	struct str name, opcode;
	enum hlo_op op; /* of `opcode`; HLO_OP_UNKNOWN for one not known here */
	bool use_global_device_ids, is_host_transfer;
	bool has_value; /* a scalar constant of 32 or 64 bit integers: */
	int64_t value;
	int64_t id;
	ptrdiff_t computation; /* index into module->computations */
	struct shape shape;
	ptrdiff_t *operands; /* indices into module->instructions */
	ptrdiff_t operand_count;
	ptrdiff_t *called; /* indices into module->computations */
	ptrdiff_t called_count;
	ptrdiff_t user_count;
	struct str op_name;	  /* "jit(f)/jit(main)/layers/dot_general" */
	int64_t stack_frame;	  /* 1-based, 0 none */
	struct hlo_source source; /* from metadata, else the innermost stack frame */
	struct str custom_call_target;
	struct str backend_config; /* JSON or MLIR attribute text, as stored */
	struct hlo_dot *dot;
	struct hlo_convolution *convolution;
	struct hlo_window_dim *window;
	ptrdiff_t window_rank;
	int64_t feature_group_count, batch_group_count; /* at least 1 */
	struct hlo_dims fft_length;
	struct hlo_dims precision; /* operand_precision: 0 default, 1 high, 2 highest */
	int64_t algorithm;	   /* PrecisionConfig.algorithm */
	int64_t parameter_number, tuple_index;
	int64_t channel_id; /* 0 none */
	struct hlo_replica_groups groups;
	struct hlo_pair *pairs; /* of a permute */
	ptrdiff_t pair_count;
	struct hlo_slice_dim *slice;
	ptrdiff_t slice_rank;
	struct hlo_transfer *transfer; /* of sends and recvs; NULL: not between slices */
	int64_t backend_payload; /* 1 + HloModuleProto.payloads index, 0 none; for the parser */
	struct str direction;	 /* of a compare: "LT" ... */
};

struct hlo_computation {
	struct str name;
	int64_t id;
	ptrdiff_t first, count; /* its instructions are [first, first+count) */
	ptrdiff_t root;		/* index into module->instructions */
	bool in_loop;		/* reached through a while body or condition */
	int depth;	/* longest chain of calls that leads here; below HLO_MAX_CALL_DEPTH */
	ptrdiff_t loop; /* the while whose body it is; -1 none */
};

/* A text that a compiler dumped beside the module. */
struct hlo_note {
	struct str file, text;
};

struct hlo_module {
	struct str name;
	bool partial;	 /* only ops that ran: loops, fusions and calls are empty */
	ptrdiff_t entry; /* index into computations */
	struct hlo_computation *computations;
	ptrdiff_t computation_count;
	struct hlo_instruction *instructions;
	ptrdiff_t instruction_count;
	struct hlo_dims donated; /* numbers of parameters whose memory an output takes */
	/* From the device assignment, usually of one slice; 0 unknown. */
	int64_t replica_count, partition_count;
	int64_t slices;	       /* TPU slices that it joins; 1 when it says nothing of others */
	int64_t slice_devices; /* of each, as far as it names them; 0 unknown */
	struct str schedule;   /* proto bytes for hlo_order; empty when absent */
	struct str buffer_assignment; /* proto bytes for hlo/memory.h; empty when absent */
	struct hlo_note buffers_note; /* else *-buffer-assignment.txt, where the dump has it, */
	struct hlo_note memory_note;  /* and *-memory-usage-report.txt */
	struct map names;	      /* of instructions */
	struct hlo_frames *frames;    /* stack frames */
	struct hlo_inside *inside;    /* per computation: what is in it and what it calls */
};

/*
 * `proto` is an HloProto (field 1 = module) or a bare HloModuleProto; which, is seen from its
 * fields.  `whole` gives file offsets in errors.
 */
struct hlo_module *hlo_module_parse(
	struct str proto, struct str whole, struct arena *keep, struct diag *err);

/* In place of a module whose bytes are no longer there: so many instructions that do nothing. */
struct hlo_module *hlo_module_blank(ptrdiff_t instructions, struct arena *keep);

/*
 * The instruction a profile means by `name`: exact, else without a leading '%', else with a
 * trailing ".N" stripped, else with "-start" put behind the name or before its ".N" (profilers
 * and dumps disagree in these ways); -1 if none.  A "a::b" path means its last part.
 */
ptrdiff_t hlo_find(const struct hlo_module *m, struct str name);
ptrdiff_t hlo_find_exact(const struct hlo_module *m, struct str name);
struct str hlo_unnumbered(struct str name); /* without a final ".N" */

/* A stack of source lines, innermost first; returns how many were written (at most max). */
ptrdiff_t hlo_stack(const struct hlo_module *m, const struct hlo_instruction *i,
	struct hlo_source *ret, ptrdiff_t max);

/* The files of all its stacks, each once. */
const struct str *hlo_files(const struct hlo_module *m, ptrdiff_t *count);

/*
 * How often a while runs its body: as the backend wrote it down, else read off a loop that counts
 * up to a constant (TPU programs only have that); 0 unknown.
 */
int64_t hlo_trip_count(const struct hlo_module *m, ptrdiff_t instruction);

/*
 * How often each computation runs while the program runs once, by index: loops multiplied out,
 * calls and all branches followed.  0 for what an op holds inside (fusions, reducers, async
 * wrappers).  Loops whose trip count is not known count as one and are added to *unknown.
 */
double *hlo_runs(const struct hlo_module *m, struct arena *keep, int64_t *unknown);

/*
 * The instructions that do something, from the entry's first on: in the order of the schedule, else
 * of the text.  A call's body stands in its place, a loop's or a branch's behind it.  Asynchronous
 * pairs are there by their starts.  Returns their number.
 */
ptrdiff_t hlo_order(const struct hlo_module *m, struct arena *keep, ptrdiff_t **ret);

/*
 * The `-start` of a `-done` (through operands), else -1.  Copies, collectives, async wrappers.
 * What a loop carries may have been begun at several places: hlo_async_starts tells them all, the
 * nearest first, and returns how many.  Of one start only one instance is under way: what a loop
 * carries has one place in memory.
 */
enum { HLO_MAX_STARTS = 4 };
ptrdiff_t hlo_async_start(const struct hlo_module *m, ptrdiff_t done);
int hlo_async_starts(const struct hlo_module *m, ptrdiff_t done, ptrdiff_t ret[HLO_MAX_STARTS]);
/* The opcodes of asynchronous halves, those that are not known here by their last word. */
bool hlo_starts(const struct hlo_instruction *i);
bool hlo_ends(const struct hlo_instruction *i);
/* Is it a fusion that begins a collective, and leaves it to another fusion to end it? */
bool hlo_begins_collective(const struct hlo_module *m, ptrdiff_t instruction);
/* The instruction an async-start or fusion wraps for classification: the root's collective or
 * matmul if there is exactly one; the instruction itself otherwise. */
ptrdiff_t hlo_unwrap(const struct hlo_module *m, ptrdiff_t instruction);
/* Is it of a backward pass?  JAX names that transpose(jvp(..)). */
bool hlo_is_backward(const struct hlo_instruction *i);

/* Those it runs on, as the compiler counts them; 0 unknown. */
double hlo_devices(const struct hlo_module *m);
/* Is it one program, compiled or written out twice?  same.c */
bool hlo_same(const struct hlo_module *a, const struct hlo_module *b);

#endif
