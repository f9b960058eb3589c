/* AWS signatures.  See sigv4.h. */
#include "http/sigv4.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include "base/out.h"

enum { DIGEST = SHA256_DIGEST_LENGTH };

struct digest {
	unsigned char bytes[DIGEST];
};

static struct digest hmac(const void *key, ptrdiff_t key_len, struct str text)
{
	struct digest ret = { { 0 } };
	unsigned int len = DIGEST;
	HMAC(EVP_sha256(), key, (int)key_len, (const unsigned char *)text.p, (size_t)text.len,
		ret.bytes, &len);
	return ret;
}

static void out_hex(struct out *o, struct digest d)
{
	for (int i = 0; i < DIGEST; i++)
		out_fmt(o, "%02x", d.bytes[i]);
}

static void out_names(struct out *o, const struct sigv4_request *r)
{
	for (ptrdiff_t i = 0; i < r->header_count; i++)
		out_fmt(o, "%s%.*s", i ? ";" : "", STR_ARG(r->headers[i].name));
}

/* Task 1: the request in its canonical form, hashed. */
static struct digest hash_request(const struct sigv4_request *r, struct arena *keep)
{
	struct out *o = out_memory(keep);
	struct digest ret;
	out_fmt(o, "%.*s\n%.*s\n%.*s\n", STR_ARG(r->method), STR_ARG(r->path), STR_ARG(r->query));
	for (ptrdiff_t i = 0; i < r->header_count; i++)
		out_fmt(o, "%.*s:%.*s\n", STR_ARG(r->headers[i].name),
			STR_ARG(r->headers[i].value));
	out_char(o, '\n');
	out_names(o, r);
	out_fmt(o, "\n%.*s", STR_ARG(r->payload_hash));
	struct str text = out_text(o);
	SHA256((const unsigned char *)text.p, (size_t)text.len, ret.bytes);
	return ret;
}

/* Task 3: a key for one day, region and service. */
static struct digest derive(const struct sigv4_key *key, struct str day, struct arena *keep)
{
	struct str first = arena_fmt(keep, "AWS4%.*s", STR_ARG(key->secret));
	struct digest d = hmac(first.p, first.len, day);
	d = hmac(d.bytes, DIGEST, key->region);
	d = hmac(d.bytes, DIGEST, key->service);
	return hmac(d.bytes, DIGEST, STR("aws4_request"));
}

struct str sigv4_sign(
	const struct sigv4_key *key, const struct sigv4_request *r, struct arena *keep)
{
	struct out *text = out_memory(keep), *o = out_memory(keep);
	struct str day = str_head(r->stamp, 8);
	struct str scope = arena_fmt(keep, "%.*s/%.*s/%.*s/aws4_request", STR_ARG(day),
		STR_ARG(key->region), STR_ARG(key->service));
	struct digest derived = derive(key, day, keep);
	out_fmt(text, "AWS4-HMAC-SHA256\n%.*s\n%.*s\n", STR_ARG(r->stamp), STR_ARG(scope));
	out_hex(text, hash_request(r, keep));
	out_fmt(o, "AWS4-HMAC-SHA256 Credential=%.*s/%.*s,SignedHeaders=", STR_ARG(key->id),
		STR_ARG(scope));
	out_names(o, r);
	out_z(o, ",Signature=");
	out_hex(o, hmac(derived.bytes, DIGEST, out_text(text)));
	OPENSSL_cleanse(&derived, sizeof(derived));
	return out_text(o);
}
