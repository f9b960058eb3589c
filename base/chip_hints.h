/*
 * What a device plane says of its chip: profile/ reads it, and hardware/ knows the chip by it.
 */
#ifndef BASE_CHIP_HINTS_H
#define BASE_CHIP_HINTS_H

#include <math.h>

#include "base/str.h"

/* 0, NaN or missing where it says nothing. */
struct chip_hints {
	struct str device_type; /* TPU device_type_string */
	struct str device_name; /* gpu_device_name; on AMD it may be "gfx942:sramecc+:xnack-" */
	struct str vendor;	/* device_vendor */
	int cc_major, cc_minor; /* compute capability; AMD 9.4 is gfx942 */
	int core_count;		/* SMs or CUs */
	double clock_hz, memory_bytes;
	double memory_bps;		 /* AMD reports half of the truth: never read there */
	double peak_flops, peak_hbm_bps; /* plane stats, per plane */
	int64_t global_chip_id;		 /* its number in the job; -1 unknown */
};

#define CHIP_HINTS_NONE                                                                            \
	((struct chip_hints){ .clock_hz = NAN,                                                     \
		.memory_bytes = NAN,                                                               \
		.memory_bps = NAN,                                                                 \
		.peak_flops = NAN,                                                                 \
		.peak_hbm_bps = NAN,                                                               \
		.global_chip_id = -1 })

#endif
