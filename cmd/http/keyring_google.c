/*
 * Google's tokens.  See keyring.h.
 *
 * A key of a service account signs a claim (RFC 7523), which its token server changes for a token:
 * https://developers.google.com/identity/protocols/oauth2/service-account#authorizingrequests
 */
#include <math.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <time.h>

#include "base/input.h"
#include "base/json.h"
#include "cmd/http/keyring.h"
#include "cmd/http/listing.h"

#define SCOPE	     "https://www.googleapis.com/auth/devstorage.read_only"
#define TOKEN_SERVER "https://oauth2.googleapis.com/token"
#define METADATA     "metadata.google.internal"
#define SPARE_S	     120.0 /* a token is changed this long before its end */
#define LIFE_S	     3600  /* of a claim; the most that is accepted */

/* ---- a signed claim -------------------------------------------------------------------------- */

/* Base64 of URLs, without padding. */
static struct str base64_url(struct str bytes, struct arena *keep)
{
	unsigned char *text = arena_make(keep, unsigned char, 4 * ((bytes.len + 2) / 3) + 1);
	int len = EVP_EncodeBlock(text, (const unsigned char *)bytes.p, (int)bytes.len);
	for (int i = 0; i < len; i++)
		text[i] = text[i] == '+' ? '-' : text[i] == '/' ? '_' : text[i];
	while (len > 0 && text[len - 1] == '=')
		len--;
	return (struct str){ (const char *)text, len };
}

static struct str sign_rs256(struct str pem, struct str text, struct arena *keep)
{
	BIO *bio = BIO_new_mem_buf(pem.p, (int)pem.len);
	EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL) : NULL;
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	struct str ret = { NULL, 0 };
	size_t len = key ? (size_t)EVP_PKEY_size(key) : 0;
	unsigned char *bytes = arena_make(keep, unsigned char, (ptrdiff_t)len + 1);
	if (key && ctx && EVP_PKEY_base_id(key) == EVP_PKEY_RSA &&
		EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, key) == 1 &&
		EVP_DigestSign(ctx, bytes, &len, (const unsigned char *)text.p, (size_t)text.len) ==
			1)
		ret = (struct str){ (const char *)bytes, (ptrdiff_t)len };
	EVP_MD_CTX_free(ctx);
	EVP_PKEY_free(key);
	BIO_free(bio);
	return ret;
}

static struct str json_part(cJSON *o, struct arena *keep)
{
	struct str text = json_compact(o, keep);
	cJSON_Delete(o);
	return base64_url(text, keep);
}

/* Missing when the key is none. */
static struct str make_claim(const cJSON *key, struct str server, struct arena *keep)
{
	cJSON *head = cJSON_CreateObject(), *claim = cJSON_CreateObject();
	int64_t now = (int64_t)time(NULL);
	json_add_str(head, "alg", STR("RS256"));
	json_add_str(head, "typ", STR("JWT"));
	if (json_get_str(key, "private_key_id").p)
		json_add_str(head, "kid", json_get_str(key, "private_key_id"));
	json_add_str(claim, "iss", json_get_str(key, "client_email"));
	json_add_str(claim, "scope", STR(SCOPE));
	json_add_str(claim, "aud", server);
	json_add_i64(claim, "iat", now);
	json_add_i64(claim, "exp", now + LIFE_S);
	struct str h = json_part(head, keep), c = json_part(claim, keep);
	struct str text = arena_fmt(keep, "%.*s.%.*s", STR_ARG(h), STR_ARG(c));
	struct str signature = sign_rs256(json_get_str(key, "private_key"), text, keep);
	if (!signature.p)
		return signature;
	signature = base64_url(signature, keep);
	return arena_fmt(keep, "%.*s.%.*s", STR_ARG(text), STR_ARG(signature));
}

/* ---- token servers --------------------------------------------------------------------------- */

static bool read_token(struct keyring *k, struct str body, struct google_token *ret)
{
	struct diag ignored;
	cJSON *root = json_parse(STR("token"), body, &ignored);
	struct str text = json_get_str(root, "access_token");
	double life_s = json_get_double(root, "expires_in");
	bool ok = text.len > 0;
	ret->text = ok ? arena_str(k->keep, text) : str_from(NULL);
	k->google_until_s = now_s() + (life_s > 2 * SPARE_S ? life_s - SPARE_S : SPARE_S);
	cJSON_Delete(root);
	return ok;
}

static bool change_for_token(struct keyring *k, struct str server, struct str form,
	struct google_token *ret, struct diag *err)
{
	struct str host, body;
	const char *why = address_refused(server, k->keep, &host);
	if (why)
		return diag_set(
			err, DIAG_BUCKET, "the token server in %.*s %s", STR_ARG(ret->from), why);
	struct question q = { .method = "POST", .url = arena_z(k->keep, server), .body = form };
	header_add(&q.headers, "content-type", STR("application/x-www-form-urlencoded"), k->keep);
	long status = ask(k, &q, k->keep, &body, err);
	if (!status)
		return diag_context(err, "the token server of Google");
	if (status == 200 && read_token(k, body, ret))
		return true;
	struct str word = refusal_gcs(body, k->keep);
	return diag_set(err, DIAG_BUCKET,
		"the token server of Google answered %ld%s%.*s to the key in %.*s; has it been "
		"revoked, or is this machine's clock wrong?",
		status, word.p ? " " : "", STR_ARG(word), STR_ARG(ret->from));
}

/* ---- files of keys --------------------------------------------------------------------------- */

static bool by_service_account(
	struct keyring *k, const cJSON *key, struct google_token *ret, struct diag *err)
{
	struct str server = json_get_str(key, "token_uri");
	server = server.p ? server : STR(TOKEN_SERVER);
	struct str claim = make_claim(key, server, k->keep);
	if (!claim.p || !json_get_str(key, "client_email").len)
		return diag_set(err, DIAG_BUCKET,
			"%.*s: no client_email and RSA private_key that could be used; make a new "
			"key",
			STR_ARG(ret->from));
	return change_for_token(k, server,
		arena_fmt(k->keep,
			"grant_type=urn%%3Aietf%%3Aparams%%3Aoauth%%3Agrant-type%%3Ajwt-bearer"
			"&assertion=%.*s",
			STR_ARG(claim)),
		ret, err);
}

static bool by_user(struct keyring *k, const cJSON *key, struct google_token *ret, struct diag *err)
{
	static const char *const fields[] = { "client_id", "client_secret", "refresh_token" };
	struct out *o = out_memory(k->keep);
	out_z(o, "grant_type=refresh_token");
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		struct str value = url_escape(json_get_str(key, fields[i]), false, k->keep);
		if (!value.len)
			return diag_set(err, DIAG_BUCKET, "%.*s: no %s in it", STR_ARG(ret->from),
				fields[i]);
		out_fmt(o, "&%s=%.*s", fields[i], STR_ARG(value));
	}
	return change_for_token(k, STR(TOKEN_SERVER), out_text(o), ret, err);
}

static bool by_file(struct keyring *k, struct str text, struct google_token *ret, struct diag *err)
{
	struct diag ignored; /* would quote the file */
	cJSON *key = json_parse(STR("key"), text, &ignored);
	struct str type = json_get_str(key, "type");
	bool ok;
	if (str_eq(type, STR("service_account")))
		ok = by_service_account(k, key, ret, err);
	else if (str_eq(type, STR("authorized_user")))
		ok = by_user(k, key, ret, err);
	else
		ok = diag_set(err, DIAG_BUCKET,
			"%.*s: neither the key of a service account nor what `gcloud auth "
			"application-default login` writes",
			STR_ARG(ret->from));
	cJSON_Delete(key);
	return ok;
}

static struct str default_file(struct arena *keep)
{
	static const char name[] = "application_default_credentials.json";
	struct str config = env("CLOUDSDK_CONFIG"), home = env("HOME");
	if (config.p)
		return arena_fmt(keep, "%.*s/%s", STR_ARG(config), name);
	return home.p ? arena_fmt(keep, "%.*s/.config/gcloud/%s", STR_ARG(home), name) : home;
}

/* ---- the metadata server --------------------------------------------------------------------- */

static bool from_metadata(struct keyring *k, struct google_token *ret)
{
	struct str host = env("GCE_METADATA_HOST"), body;
	struct question q = { .method = "GET", .is_metadata = true };
	struct diag ignored; /* that nothing answers says only that this machine is elsewhere */
	if (str_eq_nocase(env("NO_GCE_CHECK"), STR("true")))
		return false;
	host = host.p ? host : STR(METADATA);
	q.url = arena_fmt(k->keep,
		"http://%.*s/computeMetadata/v1/instance/service-accounts/default/token",
		STR_ARG(host))
			.p;
	ret->from = STR("the service account of this machine");
	return header_add(&q.headers, "metadata-flavor", STR("Google"), k->keep) &&
	       ask(k, &q, k->keep, &body, &ignored) == 200 && read_token(k, body, ret);
}

/* ---- all together ---------------------------------------------------------------------------- */

static bool find_token(struct keyring *k, struct google_token *ret, struct diag *err)
{
	struct str named = env("GOOGLE_APPLICATION_CREDENTIALS"), text;
	struct str path = named.p ? named : default_file(k->keep);
	bool found = path.p && input_text(path, SMALL_BYTES, k->keep, &text, err);
	if (named.p && !found)
		return diag_context(err, "$GOOGLE_APPLICATION_CREDENTIALS");
	ret->from = path;
	if (found)
		return by_file(k, text, ret, err);
	if (from_metadata(k, ret))
		return true;
	*ret = (struct google_token){ .text = { NULL, 0 } };
	k->google_until_s = INFINITY;
	return true;
}

bool keyring_google(struct keyring *k, struct google_token *ret, struct diag *err)
{
	*ret = k->google;
	if (now_s() < k->google_until_s)
		return true;
	*ret = (struct google_token){ .text = { NULL, 0 } };
	if (!find_token(k, ret, err))
		return false;
	k->google = *ret;
	return true;
}
