/*
 * Collectives between TPU slices: sends and receives that the host's runtime carries over the data
 * centre network.
 *
 * XLA splits a collective over slices into one within each, and a send and a recv with frontend
 * attributes that say what the two of them come to:
 *
 *	_xla_megascale_transfer_type="ALL_REDUCE"
 *	_xla_megascale_target="{1,2}x{0:7}"		slices 1 and 2, devices 0 to 7 of each
 *	_xla_megascale_target={{100000,200000},...}	groups of devices, one of each slice
 *	_xla_megascale_target={{100000->200000},...}	pairs
 *
 * The program is one slice's: its device assignment has the devices of that alone.  Source: what
 * libtpu 0.0.51 compiles for two slices (tests/profiles/hlo).
 *
 * The recv stands for the collective, since what it receives is the result; the send is a send.
 *
 * Private to hlo/.
 */
#ifndef HLO_SLICES_H
#define HLO_SLICES_H

#include "hlo/module.h"

/* What a send or recv is part of; KIND_UNKNOWN when it does not go between slices. */
enum op_kind transfer_kind(const struct hlo_instruction *i);

struct transfer_group {
	int64_t members; /* of a group, each on a slice of its own; 0 unknown */
	int64_t groups;	 /* 0 unknown */
};
struct transfer_group transfer_group(const struct hlo_instruction *i);

/* Slices of the largest group (a pair means two at least), and how many groups there are. */
void slices_note(struct hlo_module *m);

#endif
