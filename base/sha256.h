/*
 * SHA-256: an identity for content, whoever wrote it and wherever it lies.
 *
 * Libmd computes it: libcrypto, which does so too, takes longer to load than a check takes.
 *
 * Refuses: keys and signatures (they belong to the program that speaks to the
 * network).
 */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <sha2.h>

#include "base/arena.h"

struct sha256 {
	SHA2_CTX state;
};

struct sha256 sha256_new(void);
void sha256_add(struct sha256 *h, struct str bytes);
/* The bytes behind their length: of two texts in a row it is clear where one ends. */
void sha256_field(struct sha256 *h, struct str text);
/* The first 32 of the 64 hexadecimal digits: 128 bits tell any number of runs apart. */
struct str sha256_id(struct sha256 *h, struct arena *keep);
/* The same 128 bits as bytes. */
void sha256_id_bytes(struct sha256 *h, unsigned char ret[16]);
/* All of them, as a page's security policy names a script: "sha256-" and the hash in base64. */
struct str sha256_source(const struct sha256 *h, struct arena *keep);

#endif
