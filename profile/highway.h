/*
 * HighwayHash of 64 bits, as riegeli records use it to tell damage.
 *
 *	struct highway h = highway_new(key);
 *	highway_add(&h, bytes);		any number of times
 *	uint64_t hash = highway_end(&h);
 *
 * Refuses: its forms of 128 and 256 bits.
 *
 * Source: Alakuijala, Cox, Wassenberg: Fast keyed hash/pseudo-random function using SIMD multiply
 * and permute, arXiv 1612.06257.
 */
#ifndef PROFILE_HIGHWAY_H
#define PROFILE_HIGHWAY_H

#include "base/str.h"

enum { HIGHWAY_LANES = 4, HIGHWAY_PACKET = 32 };

struct highway {
	uint64_t v0[HIGHWAY_LANES], v1[HIGHWAY_LANES], mul0[HIGHWAY_LANES], mul1[HIGHWAY_LANES];
	unsigned char rest[HIGHWAY_PACKET]; /* of a packet that is not full */
	int rest_len;
};

struct highway highway_new(const uint64_t key[HIGHWAY_LANES]);
void highway_add(struct highway *h, struct str bytes);
uint64_t highway_end(struct highway *h); /* nothing may be added afterwards */

#endif
