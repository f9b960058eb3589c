/*
 * Services and programs that give Amazon's keys away.  See keyring_aws.h.
 *
 * https://docs.aws.amazon.com/STS/latest/APIReference/ (AssumeRole, AssumeRoleWithWebIdentity),
 * https://docs.aws.amazon.com/singlesignon/latest/PortalAPIReference/ (GetRoleCredentials),
 * https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html,
 * feature-process-credentials.html
 */
#include <math.h>
#include <openssl/evp.h>
#include <time.h>

#include "base/input.h"
#include "base/json.h"
#include "base/when.h"
#include "http/keyring_aws.h"
#include "http/listing.h"

#define MACHINE	  "http://169.254.169.254"
#define CONTAINER "http://169.254.170.2"
#define FRESH_S	  900.0 /* then they are asked for again: EC2 has new ones five minutes before */
#define SPARE_S	  60.0
#define PROGRAM_S 60.0 /* it may ask a server, but nobody is there to be asked */

/* ---- what came ------------------------------------------------------------------------------- */

bool aws_accept(struct keyring *k, struct aws_fresh got, struct aws_keys *ret, struct diag *err)
{
	double left = got.until.len ? moment_s(got.until) - (double)time(NULL) : (double)NAN;
	if (!got.id.len || !got.secret.len)
		return diag_set(err, DIAG_BUCKET, "what came has no keys in it");
	if (left <= 0)
		return diag_set(err, DIAG_BUCKET,
			"the keys that came have ended already; is this machine's clock right?");
	ret->id = arena_str(k->keep, got.id);
	ret->secret = arena_str(k->keep, got.secret);
	ret->token = got.token.len ? arena_str(k->keep, got.token) : str_from(NULL);
	k->aws_until_s = now_s() + (left < FRESH_S + SPARE_S ? left - SPARE_S : FRESH_S);
	return true;
}

static bool accept_json(struct keyring *k, struct str body, const char *token, struct aws_keys *ret,
	struct diag *err)
{
	struct diag ignored; /* would quote the keys */
	cJSON *root = json_parse(STR("keys"), body, &ignored);
	struct aws_fresh got = { json_get_str(root, "AccessKeyId"),
		json_get_str(root, "SecretAccessKey"), json_get_str(root, token),
		json_get_str(root, "Expiration") };
	bool ok = aws_accept(k, got, ret, err);
	cJSON_Delete(root);
	return ok;
}

/* ---- the metadata server of EC2: a token by PUT, the role's name, its keys ------------------- */

static bool metadata(struct keyring *k, const char *method, const char *path, const char *header,
	struct str value, struct str *ret)
{
	struct str base = env("AWS_EC2_METADATA_SERVICE_ENDPOINT");
	struct question q = { .method = method, .is_metadata = true };
	struct diag ignored; /* that nothing answers says only that this machine is elsewhere */
	base = base.p ? base : STR(MACHINE);
	while (str_ends(base, STR("/")))
		base = str_head(base, base.len - 1);
	q.url = arena_fmt(k->keep, "%.*s/latest/%s", STR_ARG(base), path).p;
	return header_add(&q.headers, header, value, k->keep) &&
	       ask(k, &q, k->keep, ret, &ignored) == 200 && ret->len;
}

bool aws_machine(struct keyring *k, struct aws_keys *ret)
{
	static const char roles[] = "meta-data/iam/security-credentials/";
	static const char key[] = "x-aws-ec2-metadata-token";
	struct str token, role, body, rest;
	struct diag ignored;
	if (str_eq_nocase(env("AWS_EC2_METADATA_DISABLED"), STR("true")) ||
		!metadata(k, "PUT", "api/token", "x-aws-ec2-metadata-token-ttl-seconds",
			STR("21600"), &token) ||
		!metadata(k, "GET", roles, key, token, &role))
		return false;
	str_cut(str_trim(role), '\n', &role, &rest);
	const char *path = arena_fmt(k->keep, "%s%.*s", roles, STR_ARG(role)).p;
	if (!metadata(k, "GET", path, key, token, &body))
		return false;
	ret->from = arena_fmt(k->keep, "the role '%.*s' of this machine", STR_ARG(role));
	return accept_json(k, body, "Token", ret, &ignored);
}

/* ---- containers: ECS, and pods of EKS -------------------------------------------------------- */

/* What agents of containers are reached at; without TLS no other host gets the token. */
static bool is_agent(struct str host)
{
	static const struct str agents[] = { STR_INIT("169.254.170.2"), STR_INIT("169.254.170.23"),
		STR_INIT("[fd00:ec2::23]") };
	for (size_t i = 0; i < sizeof(agents) / sizeof(agents[0]); i++)
		if (str_eq(host, agents[i]))
			return true;
	return false;
}

static bool container_url(struct arena *keep, struct str *ret, struct diag *err)
{
	struct str relative = env("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"), host = STR("");
	*ret = env("AWS_CONTAINER_CREDENTIALS_FULL_URI");
	if (relative.p) {
		*ret = arena_fmt(keep, CONTAINER "%.*s", STR_ARG(relative));
		return str_starts(relative, STR("/")) ||
		       diag_set(err, DIAG_BUCKET,
			       "$AWS_CONTAINER_CREDENTIALS_RELATIVE_URI does not begin with '/'");
	}
	const char *why = ret->p ? address_refused(*ret, keep, &host) : NULL;
	return !why || (str_starts(*ret, STR("http://")) && is_agent(host)) ||
	       diag_set(err, DIAG_BUCKET, "the address in $AWS_CONTAINER_CREDENTIALS_FULL_URI %s",
		       why);
}

static bool container_token(struct arena *keep, struct str *ret, struct diag *err)
{
	static const char name[] = "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE";
	*ret = env("AWS_CONTAINER_AUTHORIZATION_TOKEN");
	if (env(name).p && !input_text(env(name), SMALL_BYTES, keep, ret, err))
		return diag_context(err, "$%s", name);
	*ret = str_trim(*ret);
	return (str_find_char(*ret, '\n') < 0 && str_find_char(*ret, '\r') < 0) ||
	       diag_set(err, DIAG_BUCKET, "the container's token has more than one line");
}

bool aws_container(struct keyring *k, struct aws_keys *ret, struct diag *err)
{
	struct str url, token, body;
	if (!container_url(k->keep, &url, err))
		return false;
	if (!url.p)
		return true;
	if (!container_token(k->keep, &token, err))
		return false;
	struct question q = { .method = "GET", .url = arena_z(k->keep, url), .is_metadata = true };
	if (token.len)
		header_add(&q.headers, "authorization", token, k->keep);
	ret->from = STR("the role of this container");
	long status = ask(k, &q, k->keep, &body, err);
	bool ok = status == 200 && accept_json(k, body, "Token", ret, err);
	if (status && status != 200)
		diag_set(err, DIAG_BUCKET, "the server answered %ld", status);
	return ok || diag_context(err, "%.*s", STR_ARG(ret->from));
}

/* ---- roles ----------------------------------------------------------------------------------- */

/* Tokens and sessions go over TLS, or to this machine. */
static bool service_url(struct keyring *k, const char *variable, const char *host,
	struct str region, struct str *ret, struct diag *err)
{
	struct str given = env(variable), ignored;
	given = given.p ? given : env("AWS_ENDPOINT_URL");
	while (str_ends(given, STR("/")))
		given = str_head(given, given.len - 1);
	*ret = given.p ? given
		       : arena_fmt(k->keep, "https://%s.%.*s.%s", host, STR_ARG(region),
				 aws_domain(region));
	const char *why = address_refused(*ret, k->keep, &ignored);
	return !why || diag_set(err, DIAG_BUCKET, "the address in $%s or $AWS_ENDPOINT_URL %s",
			       variable, why);
}

static bool role_form(
	struct keyring *k, const struct aws_role *role, struct str *ret, struct diag *err)
{
	struct str token = { NULL, 0 };
	bool web = role->token_file.p;
	if (web && !input_text(role->token_file, SMALL_BYTES, k->keep, &token, err))
		return diag_context(err, "the token of the web identity");
	const struct field fields[] = {
		{ "Action", web ? STR("AssumeRoleWithWebIdentity") : STR("AssumeRole") },
		{ "ExternalId", role->external_id },
		{ "RoleArn", role->arn },
		{ "RoleSessionName", role->session.p ? role->session : STR("rooflint") },
		{ "Version", STR("2011-06-15") },
		{ "WebIdentityToken", web ? str_trim(token) : token },
	};
	*ret = form_of(fields, sizeof(fields) / sizeof(fields[0]), k->keep);
	return true;
}

static bool refuse_role(struct keyring *k, const struct aws_role *role, long status,
	struct str body, struct diag *err)
{
	struct str word = refusal_s3(body, k->keep);
	return diag_set(err, DIAG_BUCKET,
		"the service of roles (STS) answered %ld%s%.*s to whoever assumes %.*s%s", status,
		word.p ? " " : "", STR_ARG(word), STR_ARG(role->arn),
		str_eq(word, STR("ExpiredTokenException")) ? "; the token has ended"
		: status == 403 ? "; does the role's trust policy allow it?"
				: "");
}

static bool read_role(struct keyring *k, struct str body, struct aws_keys *ret, struct diag *err)
{
	struct aws_fresh got = { xml_text(body, STR("AccessKeyId"), k->keep),
		xml_text(body, STR("SecretAccessKey"), k->keep),
		xml_text(body, STR("SessionToken"), k->keep),
		xml_text(body, STR("Expiration"), k->keep) };
	return aws_accept(k, got, ret, err);
}

bool aws_assume(
	struct keyring *k, const struct aws_role *role, struct aws_keys *ret, struct diag *err)
{
	struct str url, body, form;
	struct question q = { .method = "POST", .authorities = aws_authorities(k->keep) };
	if (!service_url(k, "AWS_ENDPOINT_URL_STS", "sts", role->region, &url, err) ||
		!role_form(k, role, &form, err))
		return false;
	url = arena_fmt(k->keep, "%.*s/", STR_ARG(url));
	q.url = url.p;
	q.body = form;
	header_add(&q.headers, "content-type", STR("application/x-www-form-urlencoded"), k->keep);
	struct aws_request r = { STR("POST"), url, STR("sts"), role->region, form };
	if (!role->token_file.p)
		aws_sign(&r, role->keys, &q.headers, k->keep);
	ret->from = arena_fmt(k->keep, "the role %.*s", STR_ARG(role->arn));
	long status = ask(k, &q, k->keep, &body, err);
	if (!status)
		return diag_context(err, "the service of roles (STS)");
	return status == 200 ? read_role(k, body, ret, err)
			     : refuse_role(k, role, status, body, err);
}

/* ---- SSO ------------------------------------------------------------------------------------- */

/* Where `aws sso login` keeps its token: named by the session, or by the start page. */
static struct str sso_file(struct keyring *k, const struct aws_sso *sso)
{
	struct str name = sso->session.p ? sso->session : sso->url, home = env("HOME");
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned int len = 0;
	struct out *o = out_memory(k->keep);
	EVP_Digest(name.p, (size_t)name.len, digest, &len, EVP_sha1(), NULL);
	out_fmt(o, "%.*s/.aws/sso/cache/", STR_ARG(home));
	for (unsigned int i = 0; i < len; i++)
		out_fmt(o, "%02x", digest[i]);
	out_z(o, ".json");
	return out_text(o);
}

static bool log_in(const struct aws_sso *sso, const char *why, struct diag *err)
{
	return diag_set(err, DIAG_BUCKET, "%s; log in: aws sso login --profile '%.*s'", why,
		STR_ARG(sso->profile));
}

static bool sso_token(
	struct keyring *k, const struct aws_sso *sso, struct str *ret, struct diag *err)
{
	struct str text;
	struct diag ignored; /* would quote the file */
	if (!input_text(sso_file(k, sso), SMALL_BYTES, k->keep, &text, &ignored))
		return log_in(sso, "nobody is logged in by SSO", err);
	cJSON *root = json_parse(STR("token"), text, &ignored);
	double left = moment_s(json_get_str(root, "expiresAt")) - (double)time(NULL);
	*ret = arena_str(k->keep, json_get_str(root, "accessToken"));
	cJSON_Delete(root);
	return (ret->len && left > 0) || log_in(sso, "the session of SSO has ended", err);
}

/* Their end is told in milliseconds since 1970. */
static bool read_sso(struct keyring *k, struct str body, struct aws_keys *ret, struct diag *err)
{
	struct diag ignored; /* would quote the keys */
	cJSON *root = json_parse(STR("keys"), body, &ignored);
	const cJSON *keys = cJSON_GetObjectItemCaseSensitive(root, "roleCredentials");
	double until_ms = json_get_double(keys, "expiration");
	struct aws_fresh got = { json_get_str(keys, "accessKeyId"),
		json_get_str(keys, "secretAccessKey"), json_get_str(keys, "sessionToken"),
		{ NULL, 0 } };
	if (until_ms >= 0 && until_ms < 9e15)
		got.until = when_text(k->keep, (int64_t)until_ms * 1000000);
	bool ok = aws_accept(k, got, ret, err);
	cJSON_Delete(root);
	return ok;
}

bool aws_sso(struct keyring *k, const struct aws_sso *sso, struct aws_keys *ret, struct diag *err)
{
	struct str url, token, body;
	struct question q = { .method = "GET", .authorities = aws_authorities(k->keep) };
	if (!sso_token(k, sso, &token, err) ||
		!service_url(k, "AWS_ENDPOINT_URL_SSO", "portal.sso", sso->region, &url, err))
		return false;
	const struct field fields[] = { { "role_name", sso->role },
		{ "account_id", sso->account } };
	struct str query = form_of(fields, 2, k->keep);
	q.url = arena_fmt(k->keep, "%.*s/federation/credentials?%.*s", STR_ARG(url), STR_ARG(query))
			.p;
	header_add(&q.headers, "x-amz-sso_bearer_token", token, k->keep);
	long status = ask(k, &q, k->keep, &body, err);
	if (!status)
		return diag_context(err, "the service of SSO");
	if (status == 401)
		return log_in(sso, "the session of SSO is not accepted", err);
	return status == 200 ? read_sso(k, body, ret, err)
			     : diag_set(err, DIAG_BUCKET,
				       "the service of SSO answered %ld to the role %.*s of the "
				       "account %.*s",
				       status, STR_ARG(sso->role), STR_ARG(sso->account));
}

/* ---- programs -------------------------------------------------------------------------------- */

bool aws_process(struct keyring *k, struct str line, struct aws_keys *ret, struct diag *err)
{
	struct str text;
	return (run_program(k, line, PROGRAM_S, &text, err) &&
		       accept_json(k, text, "SessionToken", ret, err)) ||
	       diag_context(err, "its credential_process");
}
