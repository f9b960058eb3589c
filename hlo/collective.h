/*
 * Collectives: how many bytes, among how many devices, along which mesh axis.
 *
 * V, the message, is the whole array: the result of an all-gather, the operand of a reduce-scatter
 * or all-reduce, all shards of an all-to-all, the operand of a permute.
 *
 * A permute's groups are the sets of devices that its pairs join, and its group size is that of the
 * largest: devices that send to themselves are in none.
 *
 * Between slices of TPUs XLA leaves a collective to the runtime: a send and a recv of the host's
 * that say which.  The recv stands for it.
 *
 * Source: XLA's collective_ops_utils (who takes part), the ring algorithms (what one device sends).
 */
#ifndef HLO_COLLECTIVE_H
#define HLO_COLLECTIVE_H

#include "hlo/module.h"

struct hlo_collective {
	enum op_kind kind;
	bool is_async;	       /* -start/-done pair or an async wrapper */
	int64_t message_bytes; /* V, logical */
	int64_t wire_bytes;    /* what one device sends or receives in the ring form; 0 unknown */
	bool at_most;	       /* sizes are data: the message is all that can be sent */
	int64_t group_size;    /* participants; 0 unknown */
	int64_t groups;	       /* 0 unknown */
	int direction;	       /* a permute's: 1 to higher ids, -1 to lower ones, 0 both */
	int64_t stride;	       /* between neighbours of the first group; 0 irregular */
	struct str axis;       /* "all", "axis of 8, stride 1", "axes of 4 and 2, strides 1 and 8",
				   "ring of 8, stride 1", "sets of up to 3", "2 slices",
				   "irregular", "none" or missing */
	struct str operand_kind; /* "parameter", "activation", "gradient" or missing */
	bool between_slices;	 /* over the network: its group is one device of each slice */
	ptrdiff_t instruction;	 /* the collective itself, inside any wrapper */
};

/* False when the instruction, unwrapped, is no collective. */
bool hlo_collective(const struct hlo_module *m, ptrdiff_t instruction, struct arena *keep,
	struct hlo_collective *ret);

#endif
