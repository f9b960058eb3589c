/*
 * Amazon's keys, in the order in which its own tools look: the profiles of its shared files, and
 * services and programs that give keys away.  See keyring.h.
 *
 * https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html, settings-reference.html,
 * feature-container-credentials.html, feature-process-credentials.html,
 * https://docs.aws.amazon.com/STS/latest/APIReference/ (AssumeRoleWithWebIdentity)
 *
 * Refuses: roles that a profile's keys assume, and SSO: `aws configure export-credentials` gives
 * their keys, and the message says so.
 */
#include <math.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/input.h"
#include "base/json.h"
#include "http/keyring.h"
#include "http/listing.h"

#define MACHINE	  "http://169.254.169.254"
#define CONTAINER "http://169.254.170.2"
#define FRESH_S	  900.0 /* then they are asked for again: EC2 has new ones five minutes before */
#define SPARE_S	  60.0
#define PROGRAM_S 60.0 /* it may ask a server, but there is no user to ask */

/* ---- files ----------------------------------------------------------------------------------- */

/* The file that `name` names, or ~/.aws/`home`; only one that was named must be there. */
static bool read_file(const char *name, const char *home, struct arena *keep, struct str *path,
	struct str *ret, struct diag *err)
{
	struct str named = env(name), base = env("HOME");
	*path = named.p ? named : arena_fmt(keep, "%.*s/.aws/%s", STR_ARG(base), home);
	*ret = STR("");
	if ((!named.p && !base.p) || input_text(*path, SMALL_BYTES, keep, ret, err))
		return true;
	*ret = STR("");
	return !named.p || diag_context(err, "$%s", name);
}

static struct str profile_name(void)
{
	struct str name = env("AWS_PROFILE");
	if (!name.p)
		name = env("AWS_DEFAULT_PROFILE");
	return name.p ? name : STR("default");
}

void aws_profile_name(struct aws_profile *p, struct str name, struct arena *keep)
{
	struct str section = arena_fmt(keep, "profile %.*s", STR_ARG(name));
	/* The default one may stand there under its name alone. */
	bool is_bare = str_eq(name, STR("default")) && !ini_has(p->config, section);
	p->name = name;
	p->section = is_bare ? name : section;
}

/* That the environment names, else "default". */
static bool read_profile(struct arena *keep, struct aws_profile *ret, struct diag *err)
{
	if (!read_file("AWS_SHARED_CREDENTIALS_FILE", "credentials", keep, &ret->credentials_path,
		    &ret->credentials, err) ||
		!read_file("AWS_CONFIG_FILE", "config", keep, &ret->config_path, &ret->config, err))
		return false;
	aws_profile_name(ret, profile_name(), keep);
	return true;
}

struct str aws_profile_get(const struct aws_profile *p, const char *key)
{
	struct str value = ini_get(p->credentials, p->name, str_from(key));
	return value.p ? value : ini_get(p->config, p->section, str_from(key));
}

/* A variable's, else the profile's; whoever needs keys of the files learns what is wrong. */
static struct str setting(
	const char *variable, const char *other, const char *key, struct arena *keep)
{
	struct aws_profile p;
	struct diag ignored;
	struct str value = env(variable);
	if (!value.p && other)
		value = env(other);
	return value.p || !read_profile(keep, &p, &ignored) ? value : aws_profile_get(&p, key);
}

const char *aws_authorities(struct arena *keep)
{
	struct str path = setting("AWS_CA_BUNDLE", NULL, "ca_bundle", keep);
	return path.len ? arena_z(keep, path) : NULL;
}

struct str keyring_region(struct arena *keep)
{
	struct str region = setting("AWS_REGION", "AWS_DEFAULT_REGION", "region", keep);
	return region.len ? region : STR("us-east-1");
}

const char *aws_domain(struct str region)
{
	return str_starts(region, STR("cn-")) ? "amazonaws.com.cn" : "amazonaws.com";
}

/* ---- what came ------------------------------------------------------------------------------- */

bool aws_accept(struct keyring *k, struct str end, struct credential *ret, struct diag *err)
{
	double left = end.len ? moment_s(end) - (double)time(NULL) : (double)NAN;
	struct credential got = *ret;
	*ret = (struct credential){ .from = got.from, .until_s = got.until_s };
	if (!got.id.len || !got.secret.len)
		return diag_set(err, DIAG_BUCKET, "what came has no keys in it");
	if (left <= 0)
		return diag_set(err, DIAG_BUCKET,
			"the keys that came have ended already; is this machine's clock right?");
	ret->id = arena_str(k->keep, got.id);
	ret->secret = arena_str(k->keep, got.secret);
	ret->token = got.token.len ? arena_str(k->keep, got.token) : MISSING;
	ret->until_s = now_s() + (left < FRESH_S + SPARE_S ? left - SPARE_S : FRESH_S);
	return true;
}

static bool accept_json(struct keyring *k, struct str body, const char *token,
	struct credential *ret, struct diag *err)
{
	cJSON *root = parse_secret(body);
	ret->id = json_get_str(root, "AccessKeyId");
	ret->secret = json_get_str(root, "SecretAccessKey");
	ret->token = json_get_str(root, token);
	bool ok = aws_accept(k, json_get_str(root, "Expiration"), ret, err);
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

/* That it gives none is no error: it is asked last, and the bucket may be public. */
static bool aws_machine(struct keyring *k, struct credential *ret, struct diag *err)
{
	static const char roles[] = "meta-data/iam/security-credentials/";
	static const char key[] = "x-aws-ec2-metadata-token";
	struct str token, role, body, rest;
	struct diag ignored;
	(void)err;
	if (str_eq_nocase(env("AWS_EC2_METADATA_DISABLED"), STR("true")) ||
		!metadata(k, "PUT", "api/token", "x-aws-ec2-metadata-token-ttl-seconds",
			STR("21600"), &token) ||
		!metadata(k, "GET", roles, key, token, &role))
		return true;
	str_cut(str_trim(role), '\n', &role, &rest);
	const char *path = arena_fmt(k->keep, "%s%.*s", roles, STR_ARG(role)).p;
	if (!metadata(k, "GET", path, key, token, &body))
		return true;
	ret->from = arena_fmt(k->keep, "the role '%.*s' of this machine", STR_ARG(role));
	accept_json(k, body, "Token", ret, &ignored);
	return true;
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

/* No id in *ret when there is none. */
static bool aws_container(struct keyring *k, struct credential *ret, struct diag *err)
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
	return (ask_well(k, &q, &body, err) && accept_json(k, body, "Token", ret, err)) ||
	       diag_context(err, "%.*s", STR_ARG(ret->from));
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

/* A role for whoever has the token in `token_file`; a missing session is "rooflint". */
struct aws_role {
	struct str arn, session, token_file;
};

static bool aws_web_identity(
	struct keyring *k, const struct aws_role *role, struct credential *ret, struct diag *err)
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
	ret->id = xml_text(body, STR("AccessKeyId"), k->keep);
	ret->secret = xml_text(body, STR("SecretAccessKey"), k->keep);
	ret->token = xml_text(body, STR("SessionToken"), k->keep);
	return aws_accept(k, xml_text(body, STR("Expiration"), k->keep), ret, err);
}

/* ---- programs -------------------------------------------------------------------------------- */

static bool aws_process(
	struct keyring *k, struct str line, struct credential *ret, struct diag *err)
{
	struct str text;
	return (run_program(k, line, PROGRAM_S, &text, err) &&
		       accept_json(k, text, "SessionToken", ret, err)) ||
	       diag_context(err, "its credential_process");
}

/* ---- what a profile may name ----------------------------------------------------------------- */

/* A file that others may write to would let them run programs as this user. */
static bool is_ours(struct str path, struct arena *keep)
{
	struct stat s;
	return !stat(arena_z(keep, path), &s) && (s.st_uid == geteuid() || s.st_uid == 0) &&
	       !(s.st_mode & S_IWOTH);
}

/* Another tool turns into keys what `how` names. */
static bool refuse(const struct aws_profile *p, const char *how, struct diag *err)
{
	return diag_set(err, DIAG_BUCKET,
		"it has its keys by %s, which is not done here; put them into the environment: "
		"eval \"$(aws configure export-credentials --profile '%.*s' --format env)\", or "
		"name a profile with a credential_process that prints them",
		how, STR_ARG(p->name));
}

/* *ret stays without an id when the profile says nothing of keys. */
static bool profile_keys(
	struct keyring *k, const struct aws_profile *p, struct credential *ret, struct diag *err)
{
	struct aws_role role = { aws_profile_get(p, "role_arn"),
		aws_profile_get(p, "role_session_name"),
		aws_profile_get(p, "web_identity_token_file") };
	struct str line = aws_profile_get(p, "credential_process");
	if (role.token_file.len && role.arn.len)
		return aws_web_identity(k, &role, ret, err);
	if (role.token_file.len)
		return diag_set(
			err, DIAG_BUCKET, "it has a web_identity_token_file without a role_arn");
	if (role.arn.len)
		return refuse(p, "a role (role_arn)", err); /* its own keys may do other things */
	ret->id = aws_profile_get(p, "aws_access_key_id");
	ret->secret = aws_profile_get(p, "aws_secret_access_key");
	ret->token = aws_profile_get(p, "aws_session_token");
	if (!ret->id.len != !ret->secret.len)
		return diag_set(err, DIAG_BUCKET,
			"it has one of aws_access_key_id and aws_secret_access_key without the "
			"other");
	if (ret->id.len)
		return true;
	if (!line.len)
		return (!aws_profile_get(p, "sso_session").len &&
			       !aws_profile_get(p, "sso_start_url").len) ||
		       refuse(p, "SSO", err);
	bool first = ini_get(p->credentials, p->name, STR("credential_process")).p;
	struct str path = first ? p->credentials_path : p->config_path;
	if (!is_ours(path, k->keep))
		return diag_set(err, DIAG_BUCKET,
			"%.*s: its credential_process is not run, because the file is another's, "
			"or others may write to it (chmod o-w)",
			STR_ARG(path));
	return aws_process(k, line, ret, err);
}

/* ---- in order -------------------------------------------------------------------------------- */

static bool by_environment(struct keyring *k, struct credential *ret, struct diag *err)
{
	(void)k;
	ret->id = env("AWS_ACCESS_KEY_ID");
	ret->secret = env("AWS_SECRET_ACCESS_KEY");
	ret->token = env("AWS_SESSION_TOKEN");
	ret->from = STR("$AWS_ACCESS_KEY_ID");
	return !ret->id.p == !ret->secret.p ||
	       diag_set(err, DIAG_BUCKET,
		       "one of $AWS_ACCESS_KEY_ID and $AWS_SECRET_ACCESS_KEY is set without the "
		       "other");
}

static bool by_web_identity(struct keyring *k, struct credential *ret, struct diag *err)
{
	struct aws_role role = { env("AWS_ROLE_ARN"), env("AWS_ROLE_SESSION_NAME"),
		env("AWS_WEB_IDENTITY_TOKEN_FILE") };
	if (!role.token_file.p)
		return true;
	bool ok = role.arn.p ? aws_web_identity(k, &role, ret, err)
			     : diag_set(err, DIAG_BUCKET, "$AWS_ROLE_ARN is not set");
	return ok || diag_context(err, "$AWS_WEB_IDENTITY_TOKEN_FILE");
}

static bool by_profile(struct keyring *k, struct credential *ret, struct diag *err)
{
	struct aws_profile p;
	if (!read_profile(k->keep, &p, err))
		return false;
	struct str from = arena_fmt(k->keep, "the AWS profile '%.*s'", STR_ARG(p.name));
	if (!profile_keys(k, &p, ret, err))
		return diag_context(err, "%.*s", STR_ARG(from));
	ret->from = from;
	return ret->id.p || !env("AWS_PROFILE").p ||
	       diag_set(err, DIAG_BUCKET,
		       "$AWS_PROFILE names '%.*s', and no file of AWS has keys for it",
		       STR_ARG(p.name));
}

bool keyring_aws(struct keyring *k, struct credential *ret, struct diag *err)
{
	static bool (*const ways[])(struct keyring *, struct credential *, struct diag *) = {
		by_environment, by_web_identity, by_profile, aws_container, aws_machine
	};
	*ret = k->aws;
	if (now_s() < ret->until_s)
		return true;
	*ret = (struct credential){ .until_s = INFINITY };
	for (ptrdiff_t i = 0; i < COUNT_OF(ways) && !ret->id.len; i++) {
		*ret = (struct credential){ .until_s = INFINITY };
		if (!ways[i](k, ret, err))
			return false;
	}
	k->aws = *ret;
	return true;
}
