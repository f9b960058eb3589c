/*
 * Google's tokens for somebody else: a token of another issuer is exchanged (workload identity
 * federation, RFC 8693), and one who may becomes a service account (impersonation).
 *
 * https://google.aip.dev/auth/4117, https://cloud.google.com/iam/docs/reference/sts/rest/v1/,
 * https://cloud.google.com/iam/docs/reference/credentials/rest/v1/projects.serviceAccounts
 */
#include <math.h>
#include <time.h>

#include "base/input.h"
#include "http/keyring_google.h"
#include "http/listing.h"

#define EXCHANGE  "urn:ietf:params:oauth:grant-type:token-exchange"
#define ACCESS	  "urn:ietf:params:oauth:token-type:access_token"
#define FEDERATED "the service of federation (STS) of Google"
#define MACHINE	  "169.254.169.254"

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
static bool become(struct keyring *k, struct str url, const cJSON *key, struct google_token *ret,
	struct diag *err)
{
	struct google_server s = { "the service of impersonation of Google", url,
		STR("application/json"), impersonation_body(key, k->keep), ret->text,
		"may it be a Service Account Token Creator (roles/iam.serviceAccountTokenCreator) "
		"of that account?" };
	struct str body;
	struct diag ignored; /* would quote the token */
	if (!google_ask(k, &s, ret->from, &body, err))
		return false;
	cJSON *root = json_parse(STR("token"), body, &ignored);
	struct str text = json_get_str(root, "accessToken");
	ret->text = arena_str(k->keep, text);
	k->google_until_s =
		google_until_s(moment_s(json_get_str(root, "expireTime")) - (double)time(NULL));
	cJSON_Delete(root);
	return ret->text.len ||
	       diag_set(err, DIAG_BUCKET, "%s: no token came for %.*s", s.name, STR_ARG(ret->from));
}

bool google_by_impersonation(
	struct keyring *k, const cJSON *key, struct google_token *ret, struct diag *err)
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

/* ---- the token of another issuer ------------------------------------------------------------- */

/* What came is the token, or a JSON with it in a field. */
static bool read_subject(struct keyring *k, const cJSON *source, struct str text, struct str *ret)
{
	const cJSON *format = cJSON_GetObjectItemCaseSensitive(source, "format");
	struct diag ignored; /* would quote the token */
	*ret = arena_str(k->keep, str_trim(text));
	if (!str_eq(json_get_str(format, "type"), STR("json")))
		return ret->len > 0;
	struct str field = json_get_str(format, "subject_token_field_name");
	cJSON *root = json_parse(STR("token"), text, &ignored);
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
	long status = ask(k, &q, k->keep, ret, err);
	return status == 200 ||
	       (status && diag_set(err, DIAG_BUCKET, "the server answered %ld", status));
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

bool google_by_external(
	struct keyring *k, const cJSON *key, struct google_token *ret, struct diag *err)
{
	struct str url = json_get_str(key, "service_account_impersonation_url"), subject, body;
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
	if (!google_ask(k, &s, ret->from, &body, err))
		return false;
	if (!google_read(k, body, ret))
		return diag_set(
			err, DIAG_BUCKET, "%s: no token came for %.*s", s.name, STR_ARG(ret->from));
	return !url.len || become(k, url, key, ret, err);
}
