/* Amazon's keys.  See keyring.h. */
#include <math.h>

#include "base/input.h"
#include "base/json.h"
#include "cmd/http/keyring.h"

#define METADATA "http://169.254.169.254"
#define FRESH_S	 900.0 /* of keys that end: EC2 gives new ones at least five minutes before */

/* ---- files ----------------------------------------------------------------------------------- */

struct profile_files {
	struct str name;		/* of the profile */
	struct str section;		/* as the config file calls it */
	struct str credentials, config; /* texts; empty where there is no such file */
};

/* The file that `name` names, or ~/.aws/`home`; only one that was named must be there. */
static bool read_file(
	const char *name, const char *home, struct arena *keep, struct str *ret, struct diag *err)
{
	struct str named = env(name), base = env("HOME");
	struct str path = named.p ? named : arena_fmt(keep, "%.*s/.aws/%s", STR_ARG(base), home);
	*ret = STR("");
	if ((!named.p && !base.p) || input_text(path, SMALL_BYTES, keep, ret, err))
		return true;
	*ret = STR("");
	return !named.p || diag_context(err, "$%s", name);
}

static bool read_files(struct arena *keep, struct profile_files *ret, struct diag *err)
{
	struct str name = env("AWS_PROFILE");
	name = name.p ? name : env("AWS_DEFAULT_PROFILE");
	ret->name = name.p ? name : STR("default");
	ret->section = str_eq(ret->name, STR("default"))
			       ? ret->name
			       : arena_fmt(keep, "profile %.*s", STR_ARG(ret->name));
	return read_file("AWS_SHARED_CREDENTIALS_FILE", "credentials", keep, &ret->credentials,
		       err) &&
	       read_file("AWS_CONFIG_FILE", "config", keep, &ret->config, err);
}

static struct str profile_get(const struct profile_files *f, const char *key)
{
	struct str value = ini_get(f->credentials, f->name, str_from(key));
	return value.p ? value : ini_get(f->config, f->section, str_from(key));
}

/* Ways to keys that are not gone: each starts a program or asks another service. */
static bool refuse_other_ways(const struct profile_files *f, struct diag *err)
{
	static const char *const ways[] = { "role_arn", "sso_session", "sso_start_url",
		"credential_process", "web_identity_token_file" };
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (profile_get(f, ways[i]).p)
			return diag_set(err, DIAG_BUCKET,
				"the AWS profile '%.*s' has its keys by %s, which is not done "
				"here; put them into the environment: eval \"$(aws configure "
				"export-credentials --format env)\"",
				STR_ARG(f->name), ways[i]);
	return true;
}

static bool from_files(struct arena *keep, struct aws_keys *ret, struct diag *err)
{
	struct profile_files f;
	if (!read_files(keep, &f, err))
		return false;
	ret->id = profile_get(&f, "aws_access_key_id");
	ret->secret = profile_get(&f, "aws_secret_access_key");
	ret->token = profile_get(&f, "aws_session_token");
	ret->from = arena_fmt(keep, "the AWS profile '%.*s'", STR_ARG(f.name));
	if (ret->id.len && ret->secret.len)
		return true;
	bool half = ret->id.len || ret->secret.len;
	*ret = (struct aws_keys){ .id = { NULL, 0 } };
	if (half)
		return diag_set(err, DIAG_BUCKET,
			"the AWS profile '%.*s' has one of aws_access_key_id and "
			"aws_secret_access_key without the other",
			STR_ARG(f.name));
	if (!refuse_other_ways(&f, err))
		return false;
	return !env("AWS_PROFILE").p ||
	       diag_set(err, DIAG_BUCKET,
		       "$AWS_PROFILE names '%.*s', and no file of AWS has keys for it",
		       STR_ARG(f.name));
}

/* ---- the environment ------------------------------------------------------------------------- */

static bool from_environment(struct aws_keys *ret, struct diag *err)
{
	ret->id = env("AWS_ACCESS_KEY_ID");
	ret->secret = env("AWS_SECRET_ACCESS_KEY");
	ret->token = env("AWS_SESSION_TOKEN");
	ret->from = STR("$AWS_ACCESS_KEY_ID");
	return !ret->id.p == !ret->secret.p ||
	       diag_set(err, DIAG_BUCKET,
		       "one of $AWS_ACCESS_KEY_ID and $AWS_SECRET_ACCESS_KEY is set without the "
		       "other");
}

/* ---- the metadata server of EC2: a token by PUT, the role's name, its keys ------------------- */

static bool metadata(struct keyring *k, const char *method, const char *path, const char *header,
	struct str value, struct str *ret)
{
	struct str base = env("AWS_EC2_METADATA_SERVICE_ENDPOINT");
	struct question q = { .method = method, .is_metadata = true };
	struct diag ignored; /* that nothing answers says only that this machine is elsewhere */
	base = base.p ? base : STR(METADATA);
	while (str_ends(base, STR("/")))
		base = str_head(base, base.len - 1);
	q.url = arena_fmt(k->keep, "%.*s/latest/%s", STR_ARG(base), path).p;
	return header_add(&q.headers, header, value, k->keep) &&
	       ask(k, &q, k->keep, ret, &ignored) == 200 && ret->len;
}

static bool from_metadata(struct keyring *k, struct aws_keys *ret)
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
	cJSON *root = json_parse(STR("metadata"), body, &ignored);
	ret->id = arena_str(k->keep, json_get_str(root, "AccessKeyId"));
	ret->secret = arena_str(k->keep, json_get_str(root, "SecretAccessKey"));
	ret->token = arena_str(k->keep, json_get_str(root, "Token"));
	ret->from = arena_fmt(k->keep, "the role '%.*s' of this machine", STR_ARG(role));
	cJSON_Delete(root);
	return ret->id.len && ret->secret.len;
}

/* ---- all together ---------------------------------------------------------------------------- */

bool keyring_aws(struct keyring *k, struct aws_keys *ret, struct diag *err)
{
	struct aws_keys none = { .id = { NULL, 0 } };
	*ret = k->aws;
	if (now_s() < k->aws_until_s)
		return true;
	*ret = none;
	k->aws_until_s = INFINITY;
	if (!from_environment(ret, err) || (!ret->id.p && !from_files(k->keep, ret, err))) {
		k->aws_until_s = 0;
		return false;
	}
	if (!ret->id.p) {
		bool found = from_metadata(k, ret);
		k->aws_until_s = found ? now_s() + FRESH_S : INFINITY;
		*ret = found ? *ret : none;
	}
	k->aws = *ret;
	return true;
}

struct str keyring_region(struct arena *keep)
{
	struct profile_files f;
	struct diag ignored;
	struct str region = env("AWS_REGION");
	region = region.p ? region : env("AWS_DEFAULT_REGION");
	if (!region.p && read_files(keep, &f, &ignored))
		region = profile_get(&f, "region");
	return region.len ? region : STR("us-east-1");
}
