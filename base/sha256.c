/* SHA-256.  See sha256.h. */
#include "base/sha256.h"

#include <string.h>

static const uint32_t rounds[64] = {
	0x428a2f98,
	0x71374491,
	0xb5c0fbcf,
	0xe9b5dba5,
	0x3956c25b,
	0x59f111f1,
	0x923f82a4,
	0xab1c5ed5,
	0xd807aa98,
	0x12835b01,
	0x243185be,
	0x550c7dc3,
	0x72be5d74,
	0x80deb1fe,
	0x9bdc06a7,
	0xc19bf174,
	0xe49b69c1,
	0xefbe4786,
	0x0fc19dc6,
	0x240ca1cc,
	0x2de92c6f,
	0x4a7484aa,
	0x5cb0a9dc,
	0x76f988da,
	0x983e5152,
	0xa831c66d,
	0xb00327c8,
	0xbf597fc7,
	0xc6e00bf3,
	0xd5a79147,
	0x06ca6351,
	0x14292967,
	0x27b70a85,
	0x2e1b2138,
	0x4d2c6dfc,
	0x53380d13,
	0x650a7354,
	0x766a0abb,
	0x81c2c92e,
	0x92722c85,
	0xa2bfe8a1,
	0xa81a664b,
	0xc24b8b70,
	0xc76c51a3,
	0xd192e819,
	0xd6990624,
	0xf40e3585,
	0x106aa070,
	0x19a4c116,
	0x1e376c08,
	0x2748774c,
	0x34b0bcb5,
	0x391c0cb3,
	0x4ed8aa4a,
	0x5b9cca4f,
	0x682e6ff3,
	0x748f82ee,
	0x78a5636f,
	0x84c87814,
	0x8cc70208,
	0x90befffa,
	0xa4506ceb,
	0xbef9a3f7,
	0xc67178f2,
};

struct sha256 sha256_new(void)
{
	return (struct sha256){
		.state = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
			0x1f83d9ab, 0x5be0cd19 },
	};
}

static uint32_t rotate(uint32_t x, int by)
{
	return x >> by | x << (32 - by);
}

static void schedule(const unsigned char *block, uint32_t w[64])
{
	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (int i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];
		w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] +
		       (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
	}
}

/* Of the eight words two change; then all move on by one, which is left to the caller's order. */
static inline void turn(uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e, uint32_t f,
	uint32_t g, uint32_t *h, uint32_t word)
{
	uint32_t big1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
	uint32_t big0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
	uint32_t t1 = *h + big1 + (g ^ (e & (f ^ g))) + word;
	*d += t1;
	*h = t1 + big0 + ((a & b) | (c & (a | b)));
}

static void mix(struct sha256 *into)
{
	uint32_t w[64], *s = into->state;
	uint32_t a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
	schedule(into->block, w);
	for (int i = 0; i < 64; i++)
		w[i] += rounds[i];
	for (int i = 0; i < 64; i += 8) {
		turn(a, b, c, &d, e, f, g, &h, w[i]);
		turn(h, a, b, &c, d, e, f, &g, w[i + 1]);
		turn(g, h, a, &b, c, d, e, &f, w[i + 2]);
		turn(f, g, h, &a, b, c, d, &e, w[i + 3]);
		turn(e, f, g, &h, a, b, c, &d, w[i + 4]);
		turn(d, e, f, &g, h, a, b, &c, w[i + 5]);
		turn(c, d, e, &f, g, h, a, &b, w[i + 6]);
		turn(b, c, d, &e, f, g, h, &a, w[i + 7]);
	}
	s[0] += a, s[1] += b, s[2] += c, s[3] += d;
	s[4] += e, s[5] += f, s[6] += g, s[7] += h;
}

void sha256_add(struct sha256 *h, struct str bytes)
{
	while (bytes.len > 0) {
		ptrdiff_t used = (ptrdiff_t)(h->bytes % sizeof(h->block));
		ptrdiff_t room = (ptrdiff_t)sizeof(h->block) - used;
		struct str part = str_head(bytes, room);
		memcpy(h->block + used, part.p, (size_t)part.len);
		h->bytes += (uint64_t)part.len;
		if (part.len == room)
			mix(h);
		bytes = str_from_offset(bytes, part.len);
	}
}

static void add_number(struct sha256 *h, uint64_t value)
{
	char bytes[8];
	for (int i = 0; i < 8; i++)
		bytes[i] = (char)(value >> (56 - 8 * i) & 0xff);
	sha256_add(h, (struct str){ bytes, sizeof(bytes) });
}

void sha256_field(struct sha256 *h, struct str text)
{
	add_number(h, (uint64_t)text.len);
	sha256_add(h, text);
}

static void finish(struct sha256 *h)
{
	static const char pad[64] = { (char)0x80 };
	uint64_t bits = h->bytes * 8;
	ptrdiff_t used = (ptrdiff_t)(h->bytes % sizeof(h->block));
	sha256_add(h, (struct str){ pad, used < 56 ? 56 - used : 120 - used });
	add_number(h, bits);
}

struct str sha256_id(struct sha256 *h, struct arena *keep)
{
	finish(h);
	return arena_fmt(
		keep, "%08x%08x%08x%08x", h->state[0], h->state[1], h->state[2], h->state[3]);
}

void sha256_id_bytes(struct sha256 *h, unsigned char ret[16])
{
	finish(h);
	for (int i = 0; i < 16; i++)
		ret[i] = (unsigned char)(h->state[i / 4] >> (24 - 8 * (i % 4)) & 0xff);
}

/* Six bits of the hash from bit `at` on; behind its end there are zeros. */
static unsigned sextet(const struct sha256 *h, int at)
{
	uint64_t high = h->state[at / 32], low = at / 32 < 7 ? h->state[at / 32 + 1] : 0;
	return (unsigned)((high << 32 | low) >> (58 - at % 32)) & 63;
}

struct str sha256_source(const struct sha256 *h, struct arena *keep)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	struct sha256 done = *h;
	char text[43];
	finish(&done);
	for (int i = 0; i < 43; i++)
		text[i] = digits[sextet(&done, 6 * i)];
	return arena_fmt(keep, "sha256-%.43s=", text);
}
