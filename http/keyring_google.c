/*
 * Google's tokens.  See keyring.h.
 *
 * A key of a service account signs a claim (RFC 7523), which its token server changes for a token:
 * https://developers.google.com/identity/protocols/oauth2/service-account#authorizingrequests
 * A token of another issuer is exchanged (workload identity federation, RFC 8693), and one who may
 * becomes a service account (impersonation): https://google.aip.dev/auth/4117,
 * https://cloud.google.com/iam/docs/reference/sts/rest/v1/,
 * https://cloud.google.com/iam/docs/reference/credentials/rest/v1/projects.serviceAccounts
 */
#include <math.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <time.h>

#include "base/input.h"
#include "base/json.h"
#include "http/keyring.h"
#include "http/listing.h"

#define GOOGLE_READ  "https://www.googleapis.com/auth/devstorage.read_only"
#define GOOGLE_CLOUD "https://www.googleapis.com/auth/cloud-platform" /* to become another */
#define EXCHANGE     "urn:ietf:params:oauth:grant-type:token-exchange"
#define ACCESS	     "urn:ietf:params:oauth:token-type:access_token"
#define FEDERATED    "the service of federation (STS) of Google"
#define MACHINE	     "169.254.169.254"
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

/* A server of tokens: what is said to it goes over TLS, or to this machine. */
struct google_server {
	const char *name; /* "the token server of Google" */
	struct str url, content_type, body, bearer;
	const char *hint; /* what a refusal may mean */
};

/* The token in `body`, by each service's own words; false when there is none.  One whose end is not
 * told lasts two minutes. */
static bool google_read(struct keyring *k, struct str body, struct credential *ret)
{
	cJSON *root = parse_secret(body);
	struct str text = json_get_str(root, "access_token"),
		   end = json_get_str(root, "expireTime");
	text = text.p ? text : json_get_str(root, "accessToken");
	ret->token = text.len ? arena_str(k->keep, text) : MISSING;
	double life_s =
		end.p ? moment_s(end) - (double)time(NULL) : json_get_double(root, "expires_in");
	ret->until_s = now_s() + (life_s > 2 * SPARE_S ? life_s - SPARE_S : SPARE_S);
	cJSON_Delete(root);
	return ret->token.len > 0;
}

/* The token that it answers with; ret->from is whose it is to be, for errors. */
static bool google_ask(
	struct keyring *k, const struct google_server *s, struct credential *ret, struct diag *err)
{
	struct str host, body;
	const char *why = address_refused(s->url, k->keep, &host);
	struct question q = { .method = "POST", .url = arena_z(k->keep, s->url), .body = s->body };
	if (why)
		return diag_set(err, DIAG_BUCKET, "the address of %s in %.*s %s", s->name,
			STR_ARG(ret->from), why);
	header_add(&q.headers, "content-type", s->content_type, k->keep);
	if (s->bearer.p)
		header_add(&q.headers, "authorization",
			arena_fmt(k->keep, "Bearer %.*s", STR_ARG(s->bearer)), k->keep);
	long status = ask(k, &q, k->keep, &body, err);
	if (!status)
		return diag_context(err, "%s", s->name);
	if (status == 200)
		return google_read(k, body, ret) ||
		       diag_set(err, DIAG_BUCKET, "%s: no token came for %.*s", s->name,
			       STR_ARG(ret->from));
	struct str word = refusal_gcs(body, k->keep);
	return diag_set(err, DIAG_BUCKET, "%s answered %ld%s%.*s to %.*s; %s", s->name, status,
		word.p ? " " : "", STR_ARG(word), STR_ARG(ret->from), s->hint);
}

static bool change_for_token(struct keyring *k, struct str server, struct str form,
	struct credential *ret, struct diag *err)
{
	struct google_server s = { "the token server of Google", server,
		STR("application/x-www-form-urlencoded"), form, { NULL, 0 },
		"has it been revoked, or is this machine's clock wrong?" };
	return google_ask(k, &s, ret, err);
}

/* ---- files of keys --------------------------------------------------------------------------- */

static bool by_service_account(struct keyring *k, const cJSON *key, const char *scope,
	struct credential *ret, struct diag *err)
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

static bool by_user(struct keyring *k, const cJSON *key, struct credential *ret, struct diag *err)
{
	const struct field fields[] = {
		{ "grant_type", STR("refresh_token") },
		{ "client_id", json_get_str(key, "client_id") },
		{ "client_secret", json_get_str(key, "client_secret") },
		{ "refresh_token", json_get_str(key, "refresh_token") },
	};
	struct str server = json_get_str(key, "token_uri");
	for (ptrdiff_t i = 0; i < COUNT_OF(fields); i++)
		if (!fields[i].value.len)
			return diag_set(err, DIAG_BUCKET, "%.*s: no %s in it", STR_ARG(ret->from),
				fields[i].name);
	return change_for_token(k, server.p ? server : STR(TOKEN_SERVER),
		form_of(fields, COUNT_OF(fields), k->keep), ret, err);
}

static bool google_by_key(struct keyring *k, const cJSON *key, const char *scope,
	struct credential *ret, struct diag *err)
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

/* ---- impersonation --------------------------------------------------------------------------- */

static struct str impersonation_body(const cJSON *key, struct arena *keep)
{
	const cJSON *delegates = cJSON_GetObjectItemCaseSensitive(key, "delegates");
	const cJSON *how = cJSON_GetObjectItemCaseSensitive(key, "service_account_impersonation");
	double life_s = json_get_double(how, "token_lifetime_seconds");
	cJSON *root = cJSON_CreateObject();
	if (cJSON_IsArray(delegates))
		cJSON_AddItemToObject(root, "delegates", cJSON_Duplicate(delegates, true));
	cJSON_AddItemToArray(json_add_array(root, "scope"), json_str(STR(GOOGLE_READ)));
	json_add_str(root, "lifetime",
		arena_fmt(keep, "%.0fs", life_s >= 600 && life_s <= 43200 ? life_s : 3600));
	struct str ret = json_compact(root, keep);
	cJSON_Delete(root);
	return ret;
}

/* *ret, which may become the service account, becomes it. */
static bool become(struct keyring *k, struct str url, const cJSON *key, struct credential *ret,
	struct diag *err)
{
	struct google_server s = { "the service of impersonation of Google", url,
		STR("application/json"), impersonation_body(key, k->keep), ret->token,
		"may it be a Service Account Token Creator (roles/iam.serviceAccountTokenCreator) "
		"of that account?" };
	return google_ask(k, &s, ret, err);
}

/* ---- the token of another issuer ------------------------------------------------------------- */

/* What came is the token, or a JSON with it in a field. */
static bool read_subject(struct keyring *k, const cJSON *source, struct str text, struct str *ret)
{
	const cJSON *format = cJSON_GetObjectItemCaseSensitive(source, "format");
	*ret = arena_str(k->keep, str_trim(text));
	if (!str_eq(json_get_str(format, "type"), STR("json")))
		return ret->len > 0;
	struct str field = json_get_str(format, "subject_token_field_name");
	cJSON *root = parse_secret(text);
	*ret = arena_str(k->keep, json_get_str(root, field.p ? arena_z(k->keep, field) : ""));
	cJSON_Delete(root);
	return ret->len > 0;
}

/* Without TLS only this machine and its metadata server are asked. */
static const char *source_refused(struct str url, struct arena *keep)
{
	struct str host = { NULL, 0 };
	const char *why = address_refused(url, keep, &host);
	return str_starts(url, STR("http://")) && str_eq(host, STR(MACHINE)) ? NULL : why;
}

static bool ask_source(
	struct keyring *k, const cJSON *source, struct str url, struct str *ret, struct diag *err)
{
	const char *why = source_refused(url, k->keep);
	struct question q = { .method = "GET", .url = arena_z(k->keep, url) };
	const cJSON *header;
	if (why)
		return diag_set(err, DIAG_BUCKET, "the address %s", why);
	cJSON_ArrayForEach(header, cJSON_GetObjectItemCaseSensitive(source, "headers"))
	{
		struct str value = str_from(cJSON_GetStringValue(header));
		if (value.p && str_find_char(value, '\n') < 0 && str_find_char(value, '\r') < 0)
			header_add(&q.headers, header->string, value, k->keep);
	}
	return ask_well(k, &q, ret, err);
}

static bool subject_token(
	struct keyring *k, const cJSON *key, struct str *ret, struct str from, struct diag *err)
{
	const cJSON *source = cJSON_GetObjectItemCaseSensitive(key, "credential_source");
	struct str file = json_get_str(source, "file"), url = json_get_str(source, "url"), text;
	if (json_get_str(source, "environment_id").p || (!file.p && !url.p))
		return diag_set(err, DIAG_BUCKET,
			"%.*s: its credential_source is neither a file nor a url (AWS, "
			"certificates and executables are not done here); name one that is, or the "
			"key of a service account",
			STR_ARG(from));
	bool ok = file.p ? input_text(file, SMALL_BYTES, k->keep, &text, err)
			 : ask_source(k, source, url, &text, err);
	if (!ok)
		return diag_context(err, "%.*s: its credential_source", STR_ARG(from));
	return read_subject(k, source, text, ret) ||
	       diag_set(err, DIAG_BUCKET, "%.*s: no token is in its credential_source",
		       STR_ARG(from));
}

/* ---- federation ------------------------------------------------------------------------------ */

static struct str exchange_form(
	const cJSON *key, struct str subject, const char *scope, struct arena *keep)
{
	const struct field fields[] = {
		{ "grant_type", STR(EXCHANGE) },
		{ "audience", json_get_str(key, "audience") },
		{ "scope", str_from(scope) },
		{ "requested_token_type", STR(ACCESS) },
		{ "subject_token", subject },
		{ "subject_token_type", json_get_str(key, "subject_token_type") },
	};
	return form_of(fields, COUNT_OF(fields), keep);
}

static bool google_by_external(
	struct keyring *k, const cJSON *key, struct credential *ret, struct diag *err)
{
	struct str url = json_get_str(key, "service_account_impersonation_url"), subject;
	struct google_server s = { .name = FEDERATED, .url = json_get_str(key, "token_url") };
	if (!s.url.len || !json_get_str(key, "audience").len)
		return diag_set(err, DIAG_BUCKET, "%.*s: it needs token_url and audience",
			STR_ARG(ret->from));
	if (!subject_token(k, key, &subject, ret->from, err))
		return false;
	s.content_type = STR("application/x-www-form-urlencoded");
	s.body = exchange_form(key, subject, url.p ? GOOGLE_CLOUD : GOOGLE_READ, k->keep);
	s.hint =
		"has the token ended, and does the pool's provider accept its issuer and audience?";
	return google_ask(k, &s, ret, err) && (!url.len || become(k, url, key, ret, err));
}

static bool google_by_impersonation(
	struct keyring *k, const cJSON *key, struct credential *ret, struct diag *err)
{
	const cJSON *source = cJSON_GetObjectItemCaseSensitive(key, "source_credentials");
	struct str url = json_get_str(key, "service_account_impersonation_url");
	struct str type = json_get_str(source, "type");
	if (!url.len || !cJSON_IsObject(source))
		return diag_set(err, DIAG_BUCKET,
			"%.*s: it needs service_account_impersonation_url and source_credentials",
			STR_ARG(ret->from));
	bool ok = str_eq(type, STR("external_account"))
			  ? google_by_external(k, source, ret, err)
			  : google_by_key(k, source, GOOGLE_CLOUD, ret, err);
	return ok && become(k, url, key, ret, err);
}

static bool by_file(struct keyring *k, struct str text, struct credential *ret, struct diag *err)
{
	cJSON *key = parse_secret(text);
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

static bool from_metadata(struct keyring *k, struct credential *ret)
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

static bool find_token(struct keyring *k, struct credential *ret, struct diag *err)
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
	*ret = (struct credential){ .until_s = INFINITY };
	return true;
}

bool keyring_google(struct keyring *k, struct credential *ret, struct diag *err)
{
	*ret = k->google;
	if (now_s() < ret->until_s)
		return true;
	*ret = (struct credential){ .until_s = 0 };
	if (!find_token(k, ret, err))
		return false;
	k->google = *ret;
	return true;
}
