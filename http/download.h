/*
 * The bytes of an object on their way into a file, and what the server says they should be.
 */
#ifndef HTTP_DOWNLOAD_H
#define HTTP_DOWNLOAD_H

#include <openssl/evp.h>

#include "base/arena.h"
#include "base/diag.h"

/* What headers tell: texts that fit, or none. */
struct checks {
	struct str version_header; /* its name; missing: the service names no version */
	char version[128];
	char md5[64];	 /* of 32 hexadecimal digits or in Base64 */
	char crc32c[16]; /* in Base64 */
	char region[64]; /* of S3: where the bucket is */
};
void checks_take(struct checks *c, struct str name, struct str value);

/* Headers come before bytes, so only what they announce is counted. */
struct download {
	const struct checks *checks;
	char path[4096];
	int fd;
	int64_t bytes, expected;
	uint32_t crc32c;
	EVP_MD_CTX *md5;
	int error; /* errno of the first write that failed */
};
bool download_begin(struct download *d, struct str path, int64_t expected,
	const struct checks *checks, struct diag *err);
/* False when it cannot be written, or when more came than expected: a disk is not filled. */
bool download_take(struct download *d, struct str bytes);
/* Closes the file.  False when it is not what was to come. */
bool download_end(struct download *d, struct diag *err);

#endif
