/*
 * Amazon's keys, in the order in which its own tools look, and the profiles of its shared files.
 * See keyring.h.
 *
 * https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html, settings-reference.html
 *
 * Refuses: roles that a profile's keys assume, and SSO: `aws configure export-credentials` gives
 * their keys, and the message says so.
 */
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/input.h"
#include "http/keyring_aws.h"

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

/* A variable's, else the profile's; whoever needs keys of the files is told what is wrong. */
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
	struct keyring *k, const struct aws_profile *p, struct aws_keys *ret, struct diag *err)
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

static bool by_environment(struct keyring *k, struct aws_keys *ret, struct diag *err)
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

static bool by_web_identity(struct keyring *k, struct aws_keys *ret, struct diag *err)
{
	struct aws_role role = { env("AWS_ROLE_ARN"), env("AWS_ROLE_SESSION_NAME"),
		env("AWS_WEB_IDENTITY_TOKEN_FILE") };
	if (!role.token_file.p)
		return true;
	bool ok = role.arn.p ? aws_web_identity(k, &role, ret, err)
			     : diag_set(err, DIAG_BUCKET, "$AWS_ROLE_ARN is not set");
	return ok || diag_context(err, "$AWS_WEB_IDENTITY_TOKEN_FILE");
}

static bool by_profile(struct keyring *k, struct aws_keys *ret, struct diag *err)
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

static bool by_machine(struct keyring *k, struct aws_keys *ret, struct diag *err)
{
	(void)err;
	aws_machine(k, ret);
	return true;
}

bool keyring_aws(struct keyring *k, struct aws_keys *ret, struct diag *err)
{
	static bool (*const ways[])(struct keyring *, struct aws_keys *, struct diag *) = {
		by_environment, by_web_identity, by_profile, aws_container, by_machine
	};
	*ret = k->aws;
	if (now_s() < k->aws_until_s)
		return true;
	*ret = (struct aws_keys){ .id = { NULL, 0 } };
	k->aws_until_s = INFINITY;
	for (ptrdiff_t i = 0; i < COUNT_OF(ways) && !ret->id.len; i++) {
		*ret = (struct aws_keys){ .id = { NULL, 0 } };
		if (!ways[i](k, ret, err)) {
			k->aws_until_s = 0;
			return false;
		}
	}
	k->aws = *ret;
	return true;
}
