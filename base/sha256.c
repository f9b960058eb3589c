/* SHA-256, as libmd computes it.  See sha256.h. */
#include "base/sha256.h"

#include <stdio.h>
#include <string.h>

void sha256_add(struct sha256 *h, struct str bytes)
{
	SHA256Update(&h->state, (const uint8_t *)bytes.p, (size_t)bytes.len);
}

struct sha256 sha256_new(void)
{
	struct sha256 h;
	SHA256Init(&h.state);
	return h;
}

void sha256_field(struct sha256 *h, struct str text)
{
	uint8_t length[8];
	for (int i = 0; i < 8; i++)
		length[i] = (uint8_t)((uint64_t)text.len >> (56 - 8 * i));
	SHA256Update(&h->state, length, sizeof(length));
	sha256_add(h, text);
}

void sha256_id_bytes(struct sha256 *h, unsigned char ret[16])
{
	uint8_t digest[SHA256_DIGEST_LENGTH];
	SHA256Final(digest, &h->state);
	memcpy(ret, digest, 16);
}

struct str sha256_id(struct sha256 *h, struct arena *keep)
{
	unsigned char id[16];
	char text[33];
	sha256_id_bytes(h, id);
	for (int i = 0; i < 16; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
	return arena_str(keep, (struct str){ text, 32 });
}

struct str sha256_source(const struct sha256 *h, struct arena *keep)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint8_t digest[SHA256_DIGEST_LENGTH + 1] = { 0 };
	struct sha256 done = *h;
	char text[43];
	SHA256Final(digest, &done.state);
	/* Six bits at a time; behind the end there are zeros. */
	for (int i = 0; i < 43; i++) {
		unsigned two = (unsigned)digest[6 * i / 8] << 8 | digest[6 * i / 8 + 1];
		text[i] = digits[two >> (10 - 6 * i % 8) & 63];
	}
	return arena_fmt(keep, "sha256-%.43s=", text);
}
