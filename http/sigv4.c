/* AWS signatures.  See sigv4.h. */
#include "http/sigv4.h"

#include <assert.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>

#include "http/http.h"

static void out_names(struct out *o, const struct sigv4_request *r)
{
	for (ptrdiff_t i = 0; i < r->header_count; i++)
		out_fmt(o, "%s%.*s", i ? ";" : "", STR_ARG(r->headers[i].name));
}

struct str sigv4_sign(
	const struct sigv4_key *key, const struct sigv4_request *r, struct arena *keep)
{
	struct out *request = out_memory(keep), *text = out_memory(keep), *o = out_memory(keep);
	struct str day = str_head(r->stamp, 8);
	struct str scope = arena_fmt(keep, "%.*s/%.*s/%.*s/aws4_request", STR_ARG(day),
		STR_ARG(key->region), STR_ARG(key->service));
	unsigned char digest[DIGEST_BYTES], derived[DIGEST_BYTES];
	for (ptrdiff_t i = 1; i < r->header_count; i++)
		assert(str_cmp(r->headers[i - 1].name, r->headers[i].name) < 0);
	/* Task 1: the request in its canonical form, hashed. */
	out_fmt(request, "%.*s\n%.*s\n%.*s\n", STR_ARG(r->method), STR_ARG(r->path),
		STR_ARG(r->query));
	for (ptrdiff_t i = 0; i < r->header_count; i++)
		out_fmt(request, "%.*s:%.*s\n", STR_ARG(r->headers[i].name),
			STR_ARG(r->headers[i].value));
	out_char(request, '\n');
	out_names(request, r);
	out_fmt(request, "\n%.*s", STR_ARG(r->payload_hash));
	struct str canonical = out_text(request);
	SHA256((const unsigned char *)canonical.p, (size_t)canonical.len, digest);
	/* Task 2: the text that is signed. */
	out_fmt(text, "AWS4-HMAC-SHA256\n%.*s\n%.*s\n", STR_ARG(r->stamp), STR_ARG(scope));
	out_hex(text, digest, DIGEST_BYTES);
	/* Task 3: a key for one day, region and service. */
	struct str first = arena_fmt(keep, "AWS4%.*s", STR_ARG(key->secret));
	hmac_sha256(first.p, first.len, day, derived);
	hmac_sha256(derived, DIGEST_BYTES, key->region, derived);
	hmac_sha256(derived, DIGEST_BYTES, key->service, derived);
	hmac_sha256(derived, DIGEST_BYTES, STR("aws4_request"), derived);
	out_fmt(o, "AWS4-HMAC-SHA256 Credential=%.*s/%.*s,SignedHeaders=", STR_ARG(key->id),
		STR_ARG(scope));
	out_names(o, r);
	out_z(o, ",Signature=");
	hmac_sha256(derived, DIGEST_BYTES, out_text(text), digest);
	out_hex(o, digest, DIGEST_BYTES);
	OPENSSL_cleanse(derived, sizeof(derived));
	return out_text(o);
}
