/*
 * Services and programs that give Amazon's keys away.  See keyring_aws.h.
 *
 * https://docs.aws.amazon.com/STS/latest/APIReference/ (AssumeRoleWithWebIdentity),
 * https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html,
 * feature-process-credentials.html
 */
#include <math.h>
#include <time.h>

#include "base/input.h"
#include "base/json.h"
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
	base = path_trim(base.p ? base : STR(MACHINE));
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
	return str_is_among(host, "169.254.170.2 169.254.170.23 [fd00:ec2::23]");
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

/* ---- a role by the token of another issuer --------------------------------------------------- */

/* The token goes over TLS, or to this machine. */
static bool role_url(struct keyring *k, struct str *ret, struct diag *err)
{
	struct str given = env("AWS_ENDPOINT_URL_STS"), region = keyring_region(k->keep), ignored;
	given = path_trim(given.p ? given : env("AWS_ENDPOINT_URL"));
	*ret = given.p ? arena_fmt(k->keep, "%.*s/", STR_ARG(given))
		       : arena_fmt(k->keep, "https://sts.%.*s.%s/", STR_ARG(region),
				 aws_domain(region));
	const char *why = address_refused(*ret, k->keep, &ignored);
	return !why || diag_set(err, DIAG_BUCKET,
			       "the address in $AWS_ENDPOINT_URL_STS or $AWS_ENDPOINT_URL %s", why);
}

static bool refuse_role(
	struct keyring *k, struct str arn, long status, struct str body, struct diag *err)
{
	struct str word = refusal_s3(body, k->keep);
	return diag_set(err, DIAG_BUCKET,
		"the service of roles (STS) answered %ld%s%.*s to whoever assumes %.*s%s", status,
		word.p ? " " : "", STR_ARG(word), STR_ARG(arn),
		str_eq(word, STR("ExpiredTokenException")) ? "; the token has ended"
		: status == 403 ? "; does the role's trust policy allow it?"
				: "");
}

bool aws_web_identity(
	struct keyring *k, const struct aws_role *role, struct aws_keys *ret, struct diag *err)
{
	struct str url, body, token;
	struct question q = { .method = "POST", .authorities = aws_authorities(k->keep) };
	if (!role_url(k, &url, err))
		return false;
	if (!input_text(role->token_file, SMALL_BYTES, k->keep, &token, err))
		return diag_context(err, "the token of the web identity");
	const struct field fields[] = {
		{ "Action", STR("AssumeRoleWithWebIdentity") },
		{ "RoleArn", role->arn },
		{ "RoleSessionName", role->session.p ? role->session : STR("rooflint") },
		{ "Version", STR("2011-06-15") },
		{ "WebIdentityToken", str_trim(token) },
	};
	q.url = url.p;
	q.body = form_of(fields, COUNT_OF(fields), k->keep);
	header_add(&q.headers, "content-type", STR("application/x-www-form-urlencoded"), k->keep);
	ret->from = arena_fmt(k->keep, "the role %.*s", STR_ARG(role->arn));
	long status = ask(k, &q, k->keep, &body, err);
	if (!status)
		return diag_context(err, "the service of roles (STS)");
	if (status != 200)
		return refuse_role(k, role->arn, status, body, err);
	struct aws_fresh got = { xml_text(body, STR("AccessKeyId"), k->keep),
		xml_text(body, STR("SecretAccessKey"), k->keep),
		xml_text(body, STR("SessionToken"), k->keep),
		xml_text(body, STR("Expiration"), k->keep) };
	return aws_accept(k, got, ret, err);
}

/* ---- programs -------------------------------------------------------------------------------- */

bool aws_process(struct keyring *k, struct str line, struct aws_keys *ret, struct diag *err)
{
	struct str text;
	return (run_program(k, line, PROGRAM_S, &text, err) &&
		       accept_json(k, text, "SessionToken", ret, err)) ||
	       diag_context(err, "its credential_process");
}
