/* HighwayHash: four lanes of 64 bits, two of state and two of multipliers.  See highway.h. */
#include "profile/highway.h"

#include <string.h>

#include "base/wire.h"

enum { LANES = HIGHWAY_LANES, PACKET = HIGHWAY_PACKET, FINAL_ROUNDS = 4 };

/* Digits of pi, as in the paper. */
static const uint64_t init0[LANES] = { UINT64_C(0xdbe6d5d5fe4cce2f), UINT64_C(0xa4093822299f31d0),
	UINT64_C(0x13198a2e03707344), UINT64_C(0x243f6a8885a308d3) };
static const uint64_t init1[LANES] = { UINT64_C(0x3bd39e10cb0ef593), UINT64_C(0xc0acf169b5f18a8c),
	UINT64_C(0xbe5466cf34e90c6c), UINT64_C(0x452821e638d01377) };

static inline uint64_t swap_halves(uint64_t x)
{
	return x >> 32 | x << 32;
}

struct highway highway_new(const uint64_t key[LANES])
{
	struct highway h = { .rest_len = 0 };
	for (int i = 0; i < LANES; i++) {
		h.mul0[i] = init0[i];
		h.mul1[i] = init1[i];
		h.v0[i] = init0[i] ^ key[i];
		h.v1[i] = init1[i] ^ swap_halves(key[i]);
	}
	return h;
}

/* Sixteen bytes of two lanes in another order, so that those in the middle of a product, which
 * depend on most of its factors, come where they matter most. */
static inline void zipper_add(uint64_t to[2], const uint64_t from[2])
{
	static const unsigned char order[2][8] = { { 3, 12, 2, 5, 14, 1, 15, 0 },
		{ 11, 4, 10, 13, 9, 6, 8, 7 } };
	for (int i = 0; i < 2; i++) {
		uint64_t x = 0;
		for (int k = 0; k < 8; k++)
			x |= (from[order[i][k] / 8] >> (order[i][k] % 8 * 8) & 0xff) << (8 * k);
		to[i] += x;
	}
}

static void mix(struct highway *h, const uint64_t packet[LANES])
{
	for (int i = 0; i < LANES; i++) {
		h->v1[i] += h->mul0[i] + packet[i];
		h->mul0[i] ^= (h->v1[i] & UINT32_MAX) * (h->v0[i] >> 32);
		h->v0[i] += h->mul1[i];
		h->mul1[i] ^= (h->v0[i] & UINT32_MAX) * (h->v1[i] >> 32);
	}
	zipper_add(&h->v0[0], &h->v1[0]);
	zipper_add(&h->v0[2], &h->v1[2]);
	zipper_add(&h->v1[0], &h->v0[0]);
	zipper_add(&h->v1[2], &h->v0[2]);
}

static void mix_bytes(struct highway *h, const unsigned char *p)
{
	uint64_t packet[LANES];
	for (int i = 0; i < LANES; i++)
		packet[i] = wire_load64(p + 8 * i);
	mix(h, packet);
}

static void fill_rest(struct highway *h, struct str *bytes)
{
	ptrdiff_t room = PACKET - h->rest_len, n = bytes->len < room ? bytes->len : room;
	if (n)
		memcpy(h->rest + h->rest_len, bytes->p, (size_t)n);
	h->rest_len += (int)n;
	*bytes = str_from_offset(*bytes, n);
}

void highway_add(struct highway *h, struct str bytes)
{
	if (h->rest_len)
		fill_rest(h, &bytes);
	if (h->rest_len == PACKET) {
		mix_bytes(h, h->rest);
		h->rest_len = 0;
	}
	for (; bytes.len >= PACKET; bytes = str_from_offset(bytes, PACKET))
		mix_bytes(h, (const unsigned char *)bytes.p);
	if (bytes.len)
		fill_rest(h, &bytes);
}

/* Both halves of each lane, by themselves. */
static void rotate_halves(uint64_t lanes[LANES], int bits)
{
	for (int i = 0; i < LANES; i++) {
		uint32_t low = (uint32_t)lanes[i], high = (uint32_t)(lanes[i] >> 32);
		low = low << bits | low >> (32 - bits);
		high = high << bits | high >> (32 - bits);
		lanes[i] = (uint64_t)high << 32 | low;
	}
}

/* The last packet, of 1 to 31 bytes: what is behind whole words of four is put at its end, or
 * spread over the second half, and its length goes into the state. */
static void mix_rest(struct highway *h)
{
	unsigned char packet[PACKET] = { 0 };
	int n = h->rest_len, odd = n % 4, words = n - odd;
	const unsigned char *tail = h->rest + words;
	for (int i = 0; i < LANES; i++)
		h->v0[i] += ((uint64_t)n << 32) + (uint64_t)n;
	rotate_halves(h->v1, n);
	memcpy(packet, h->rest, (size_t)words);
	if (n >= PACKET / 2) {
		memcpy(packet + PACKET - 4, tail + odd - 4, 4);
	} else if (odd) {
		packet[PACKET / 2] = tail[0];
		packet[PACKET / 2 + 1] = tail[odd / 2];
		packet[PACKET / 2 + 2] = tail[odd - 1];
	}
	mix_bytes(h, packet);
}

uint64_t highway_end(struct highway *h)
{
	if (h->rest_len)
		mix_rest(h);
	for (int i = 0; i < FINAL_ROUNDS; i++) {
		const uint64_t turned[LANES] = { swap_halves(h->v0[2]), swap_halves(h->v0[3]),
			swap_halves(h->v0[0]), swap_halves(h->v0[1]) };
		mix(h, turned);
	}
	return h->v0[0] + h->v1[0] + h->mul0[0] + h->mul1[0];
}
