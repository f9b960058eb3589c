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
#include "http/keyring_google.h"
#include "http/listing.h"

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
static struct str make_claim(
	const cJSON *key, struct str server, const char *scope, struct arena *keep)
{
	cJSON *head = cJSON_CreateObject(), *claim = cJSON_CreateObject();
	int64_t now = (int64_t)time(NULL);
	json_add_str(head, "alg", STR("RS256"));
	json_add_str(head, "typ", STR("JWT"));
	if (json_get_str(key, "private_key_id").p)
		json_add_str(head, "kid", json_get_str(key, "private_key_id"));
	json_add_str(claim, "iss", json_get_str(key, "client_email"));
	json_add_str(claim, "scope", str_from(scope));
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

double google_until_s(double life_s)
{
	return now_s() + (life_s > 2 * SPARE_S ? life_s - SPARE_S : SPARE_S);
}

bool google_read(struct keyring *k, struct str body, struct google_token *ret)
{
	struct diag ignored; /* would quote the token */
	cJSON *root = json_parse(STR("token"), body, &ignored);
	struct str text = json_get_str(root, "access_token");
	ret->text = text.len ? arena_str(k->keep, text) : str_from(NULL);
	k->google_until_s = google_until_s(json_get_double(root, "expires_in"));
	cJSON_Delete(root);
	return ret->text.len > 0;
}

bool google_ask(struct keyring *k, const struct google_server *s, struct str from, struct str *ret,
	struct diag *err)
{
	struct str host;
	const char *why = address_refused(s->url, k->keep, &host);
	struct question q = { .method = "POST", .url = arena_z(k->keep, s->url), .body = s->body };
	if (why)
		return diag_set(err, DIAG_BUCKET, "the address of %s in %.*s %s", s->name,
			STR_ARG(from), why);
	header_add(&q.headers, "content-type", s->content_type, k->keep);
	if (s->bearer.p)
		header_add(&q.headers, "authorization",
			arena_fmt(k->keep, "Bearer %.*s", STR_ARG(s->bearer)), k->keep);
	long status = ask(k, &q, k->keep, ret, err);
	if (!status)
		return diag_context(err, "%s", s->name);
	if (status == 200)
		return true;
	struct str word = refusal_gcs(*ret, k->keep);
	return diag_set(err, DIAG_BUCKET, "%s answered %ld%s%.*s to %.*s; %s", s->name, status,
		word.p ? " " : "", STR_ARG(word), STR_ARG(from), s->hint);
}

static bool change_for_token(struct keyring *k, struct str server, struct str form,
	struct google_token *ret, struct diag *err)
{
	struct google_server s = { "the token server of Google", server,
		STR("application/x-www-form-urlencoded"), form, { NULL, 0 },
		"has it been revoked, or is this machine's clock wrong?" };
	struct str body;
	return google_ask(k, &s, ret->from, &body, err) &&
	       (google_read(k, body, ret) ||
		       diag_set(err, DIAG_BUCKET, "%s: no token came for %.*s", s.name,
			       STR_ARG(ret->from)));
}

/* ---- files of keys --------------------------------------------------------------------------- */

static bool by_service_account(struct keyring *k, const cJSON *key, const char *scope,
	struct google_token *ret, struct diag *err)
{
	struct str server = json_get_str(key, "token_uri");
	server = server.p ? server : STR(TOKEN_SERVER);
	struct str claim = make_claim(key, server, scope, k->keep);
	const struct field fields[] = {
		{ "grant_type", STR("urn:ietf:params:oauth:grant-type:jwt-bearer") },
		{ "assertion", claim },
	};
	if (!claim.p || !json_get_str(key, "client_email").len)
		return diag_set(err, DIAG_BUCKET,
			"%.*s: no client_email and RSA private_key that could be used; make a new "
			"key",
			STR_ARG(ret->from));
	return change_for_token(k, server, form_of(fields, 2, k->keep), ret, err);
}

static bool by_user(struct keyring *k, const cJSON *key, struct google_token *ret, struct diag *err)
{
	const struct field fields[] = {
		{ "grant_type", STR("refresh_token") },
		{ "client_id", json_get_str(key, "client_id") },
		{ "client_secret", json_get_str(key, "client_secret") },
		{ "refresh_token", json_get_str(key, "refresh_token") },
	};
	enum { FIELDS = COUNT_OF(fields) };
	struct str server = json_get_str(key, "token_uri");
	for (int i = 0; i < FIELDS; i++)
		if (!fields[i].value.len)
			return diag_set(err, DIAG_BUCKET, "%.*s: no %s in it", STR_ARG(ret->from),
				fields[i].name);
	return change_for_token(k, server.p ? server : STR(TOKEN_SERVER),
		form_of(fields, FIELDS, k->keep), ret, err);
}

bool google_by_key(struct keyring *k, const cJSON *key, const char *scope, struct google_token *ret,
	struct diag *err)
{
	struct str type = json_get_str(key, "type");
	if (str_eq(type, STR("service_account")))
		return by_service_account(k, key, scope, ret, err);
	if (str_eq(type, STR("authorized_user")))
		return by_user(k, key, ret, err);
	return diag_set(err, DIAG_BUCKET,
		"%.*s: neither the key of a service account, nor what `gcloud auth "
		"application-default login` writes, nor a configuration of workload identity "
		"federation",
		STR_ARG(ret->from));
}

static bool by_file(struct keyring *k, struct str text, struct google_token *ret, struct diag *err)
{
	struct diag ignored; /* would quote the file */
	cJSON *key = json_parse(STR("key"), text, &ignored);
	struct str type = json_get_str(key, "type");
	bool ok;
	if (str_eq(type, STR("external_account")))
		ok = google_by_external(k, key, ret, err);
	else if (str_eq(type, STR("impersonated_service_account")))
		ok = google_by_impersonation(k, key, ret, err);
	else
		ok = google_by_key(k, key, GOOGLE_READ, ret, err);
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
	       ask(k, &q, k->keep, &body, &ignored) == 200 && google_read(k, body, ret);
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
