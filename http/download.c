/* Bytes into a file, counted and hashed.  See download.h. */
#include "http/download.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"

#include "http/listing.h"

enum { MD5_BYTES = 16 };

/* ---- what should come ------------------------------------------------------------------------ */

static void keep_text(char *to, size_t room, struct str s)
{
	if (s.len < (ptrdiff_t)room) {
		memcpy(to, s.p, (size_t)s.len);
		to[s.len] = 0;
	}
}
#define KEEP(to, s) keep_text((to), sizeof(to), (s))

/* An ETag of S3 is the MD5 of the bytes, unless parts were put together or a key encrypts them. */
static void take_etag(struct checks *c, struct str value)
{
	struct str digits = etag_text(value);
	if (digits.len == 2 * MD5_BYTES && str_only(digits, "0-9a-f") && strcmp(c->md5, "-") != 0)
		KEEP(c->md5, digits);
}

/* "crc32c=AAAAAA==,md5=..." in one header or in several; MD5 in Base64 has 24 characters. */
static void take_goog_hash(struct checks *c, struct str value)
{
	struct str part;
	for (bool more = true; more;) {
		more = str_cut(value, ',', &part, &value);
		part = str_trim(part);
		if (str_take(&part, STR("crc32c=")))
			KEEP(c->crc32c, part);
		else if (str_take(&part, STR("md5=")))
			KEEP(c->md5, part);
	}
}

void checks_take(struct checks *c, struct str name, struct str value)
{
	if (str_eq_nocase(name, STR("etag")))
		take_etag(c, value);
	else if (str_eq_nocase(name, STR("x-goog-hash")))
		take_goog_hash(c, value);
	else if (str_eq_nocase(name, STR("x-amz-bucket-region")))
		KEEP(c->region, value);
	/* Only what AWS names AES256 leaves the ETag an MD5. */
	if ((str_eq_nocase(name, STR("x-amz-server-side-encryption")) ||
		    str_eq_nocase(name, STR("x-amz-server-side-encryption-customer-algorithm"))) &&
		!str_eq(value, STR("AES256")))
		KEEP(c->md5, STR("-"));
	if (!c->version_header.p || !str_eq_nocase(name, c->version_header))
		return;
	/* One that a proxy made weak ("W/...") is another text for the same version. */
	if (!str_starts(etag_text(value), STR("W/")))
		KEEP(c->version, etag_text(value));
}

/* Of two hashes the stronger one is enough. */
static bool has_md5(const struct checks *c)
{
	return c->md5[0] && strcmp(c->md5, "-") != 0;
}

/* ---- what comes ------------------------------------------------------------------------------ */

/* Castagnoli's polynomial, reversed; RFC 3720, appendix B.4. */
static uint32_t crc32c_add(uint32_t crc, struct str bytes)
{
	static uint32_t table[256];
	if (!table[1])
		for (uint32_t i = 0; i < 256; i++) {
			uint32_t c = i;
			for (int bit = 0; bit < 8; bit++)
				c = c & 1 ? 0x82f63b78u ^ c >> 1 : c >> 1;
			table[i] = c;
		}
	crc = ~crc;
	for (ptrdiff_t i = 0; i < bytes.len; i++)
		crc = table[(crc ^ (unsigned char)bytes.p[i]) & 255] ^ crc >> 8;
	return ~crc;
}

static bool cannot_write(const struct download *d, int error, struct diag *err)
{
	return diag_set(err, DIAG_BUCKET,
		"cannot write to the cache: '%s': %s; $ROOFLINT_CACHE names another directory",
		d->path, strerror(error));
}

bool download_begin(struct download *d, struct str path, int64_t expected,
	const struct checks *checks, struct diag *err)
{
	*d = (struct download){ .checks = checks, .expected = expected };
	KEEP(d->path, path);
	d->fd = open(d->path, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC);
	if (d->fd < 0)
		return cannot_write(d, errno, err);
	d->md5 = EVP_MD_CTX_new();
	return (d->md5 && EVP_DigestInit_ex(d->md5, EVP_md5(), NULL) == 1) ||
	       diag_set(err, DIAG_BUCKET, "libcrypto gives no MD5");
}

bool download_take(struct download *d, struct str bytes)
{
	d->bytes += bytes.len;
	if (d->bytes > d->expected)
		return false;
	if (has_md5(d->checks))
		EVP_DigestUpdate(d->md5, bytes.p, (size_t)bytes.len);
	else if (d->checks->crc32c[0])
		d->crc32c = crc32c_add(d->crc32c, bytes);
	if (write_all(d->fd, bytes))
		return true;
	d->error = errno;
	return false;
}

/* ---- the two compared ------------------------------------------------------------------------ */

static bool is_md5(EVP_MD_CTX *ctx, const char *expected)
{
	unsigned char bytes[EVP_MAX_MD_SIZE], base64[4 * MD5_BYTES];
	char hex[2 * MD5_BYTES + 1];
	EVP_DigestFinal_ex(ctx, bytes, NULL);
	for (int i = 0; i < MD5_BYTES; i++)
		snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
	EVP_EncodeBlock(base64, bytes, MD5_BYTES);
	return !strcmp(expected, hex) || !strcmp(expected, (const char *)base64);
}

static bool is_intact(const struct download *d)
{
	unsigned char base64[16];
	uint32_t crc = d->crc32c;
	const unsigned char bytes[4] = { (unsigned char)(crc >> 24), (unsigned char)(crc >> 16),
		(unsigned char)(crc >> 8), (unsigned char)crc };
	if (has_md5(d->checks))
		return is_md5(d->md5, d->checks->md5);
	EVP_EncodeBlock(base64, bytes, sizeof(bytes));
	return !d->checks->crc32c[0] || !strcmp(d->checks->crc32c, (const char *)base64);
}

static bool is_right(const struct download *d, struct diag *err)
{
	if (d->error)
		return cannot_write(d, d->error, err);
	if (d->bytes > d->expected)
		return diag_set(err, DIAG_BUCKET, "more came than the %lld bytes that were listed",
			(long long)d->expected);
	if (d->bytes < d->expected)
		return diag_set(err, DIAG_BUCKET, "only %lld of %lld bytes came",
			(long long)d->bytes, (long long)d->expected);
	return is_intact(d) ||
	       diag_set(err, DIAG_BUCKET,
		       "all bytes came, but their checksum is not the one that the server gives");
}

bool download_end(struct download *d, struct diag *err)
{
	bool ok = is_right(d, err);
	EVP_MD_CTX_free(d->md5);
	d->md5 = NULL;
	if (d->fd >= 0 && close(d->fd) && ok)
		ok = cannot_write(d, errno, err);
	d->fd = -1;
	return ok;
}
