/*
 * Signatures of messages.
 *
 * https://www.standardwebhooks.com (spec/standard-webhooks.md); X-Hub-Signature-256 as in
 * https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries
 */
#include "http/http.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/out.h"

enum { DIGEST_BYTES = 32, DIGEST_BASE64 = 4 * ((DIGEST_BYTES + 2) / 3) + 1 };

struct key {
	unsigned char bytes[SIGN_MAX_KEY + 3]; /* EVP_DecodeBlock pads to threes */
	int len;
};

/* The Base64 of 64 bytes has 88 characters. */
static bool key_decode(struct str text, struct key *ret)
{
	enum { BASE64_MAX = 4 * ((SIGN_MAX_KEY + 2) / 3) };
	str_take(&text, STR("whsec_"));
	if (text.len % 4 || text.len > BASE64_MAX)
		return false;
	ret->len = EVP_DecodeBlock(ret->bytes, (const unsigned char *)text.p, (int)text.len);
	for (int i = 0; i < 2 && str_ends(text, STR("=")); i++) {
		text = str_head(text, text.len - 1);
		ret->len--;
	}
	return ret->len >= SIGN_MIN_KEY && ret->len <= SIGN_MAX_KEY;
}

static void hmac_sha256(
	const void *key, ptrdiff_t key_len, struct str text, unsigned char ret[DIGEST_BYTES])
{
	unsigned int len = DIGEST_BYTES;
	HMAC(EVP_sha256(), key, (int)key_len, (const unsigned char *)text.p, (size_t)text.len, ret,
		&len);
}

/* "v1," and the signature behind what is there; false when the word is no key. */
static bool put_signature(struct out *o, struct str word, struct str text)
{
	struct key key;
	unsigned char digest[DIGEST_BYTES], base64[DIGEST_BASE64];
	bool ok = key_decode(word, &key);
	if (ok) {
		hmac_sha256(key.bytes, key.len, text, digest);
		EVP_EncodeBlock(base64, digest, DIGEST_BYTES);
		out_fmt(o, "%sv1,%s", out_text(o).len ? " " : "", (const char *)base64);
	}
	OPENSSL_cleanse(&key, sizeof(key));
	return ok;
}

struct str sign_standard(struct str secret, struct str id, int64_t timestamp, struct str body,
	struct arena *keep, struct diag *err)
{
	struct out *text = out_memory(keep), *o = out_memory(keep);
	struct str rest = str_trim(secret), word;
	bool ok = true;
	out_fmt(text, "%.*s.%lld.", STR_ARG(id), (long long)timestamp);
	out_str(text, body);
	for (bool more = true; more && ok;) {
		more = str_cut(rest, ' ', &word, &rest);
		ok = !word.len || put_signature(o, word, out_text(text));
	}
	if (ok && out_text(o).len)
		return out_text(o);
	diag_set(err, DIAG_DELIVERY, "a signing key is \"whsec_\" and the Base64 of %d to %d bytes",
		SIGN_MIN_KEY, SIGN_MAX_KEY);
	return MISSING;
}

struct str sign_hub(struct str secret, struct str body, struct arena *keep)
{
	struct out *o = out_memory(keep);
	struct str key, rest;
	unsigned char digest[DIGEST_BYTES];
	str_cut(str_trim(secret), ' ', &key, &rest);
	hmac_sha256(key.p, key.len, body, digest);
	out_z(o, "sha256=");
	for (int i = 0; i < DIGEST_BYTES; i++)
		out_fmt(o, "%02x", digest[i]);
	return out_text(o);
}
