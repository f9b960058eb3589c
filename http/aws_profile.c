/*
 * Profiles of Amazon's shared files, and the ways to keys that one can name.  See keyring_aws.h.
 *
 * https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html, settings-reference.html
 */
#include <sys/stat.h>
#include <unistd.h>

#include "base/input.h"
#include "http/keyring_aws.h"

enum { MAX_DEPTH = 5 }; /* of profiles that lead to one another; real chains have two or three */

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

bool aws_files_read(struct arena *keep, struct aws_files *ret, struct diag *err)
{
	return read_file("AWS_SHARED_CREDENTIALS_FILE", "credentials", keep, &ret->credentials_path,
		       &ret->credentials, err) &&
	       read_file("AWS_CONFIG_FILE", "config", keep, &ret->config_path, &ret->config, err);
}

struct str aws_profile_name(void)
{
	struct str name = env("AWS_PROFILE");
	name = name.p ? name : env("AWS_DEFAULT_PROFILE");
	return name.p ? name : STR("default");
}

struct aws_profile aws_profile_of(
	const struct aws_files *files, struct str name, struct arena *keep)
{
	struct aws_profile ret = { .files = files, .name = name, .section = name };
	struct str section = arena_fmt(keep, "profile %.*s", STR_ARG(name));
	/* The default one may stand there under its name alone. */
	if (!str_eq(name, STR("default")) || ini_has(files->config, section))
		ret.section = section;
	return ret;
}

struct str aws_profile_get(const struct aws_profile *p, const char *key)
{
	struct str value = ini_get(p->files->credentials, p->name, str_from(key));
	return value.p ? value : ini_get(p->files->config, p->section, str_from(key));
}

const char *aws_authorities(struct arena *keep)
{
	struct aws_files files;
	struct diag ignored; /* whoever needs keys of the files is told */
	struct str path = env("AWS_CA_BUNDLE");
	if (!path.p && aws_files_read(keep, &files, &ignored)) {
		struct aws_profile p = aws_profile_of(&files, aws_profile_name(), keep);
		path = aws_profile_get(&p, "ca_bundle");
	}
	return path.len ? arena_z(keep, path) : NULL;
}

static bool fail(const char *what, struct diag *err)
{
	return diag_set(err, DIAG_BUCKET, "%s", what);
}

/* ---- ways: each leaves *ret without an id when the profile does not name it ------------------ */

static bool by_keys(
	struct keyring *k, const struct aws_profile *p, struct aws_keys *ret, struct diag *err)
{
	(void)k;
	ret->id = aws_profile_get(p, "aws_access_key_id");
	ret->secret = aws_profile_get(p, "aws_secret_access_key");
	ret->token = aws_profile_get(p, "aws_session_token");
	return !ret->id.len == !ret->secret.len ||
	       fail("it has one of aws_access_key_id and aws_secret_access_key without the other",
		       err);
}

/* credential_source: what assumes the role without a profile of its own. */
static bool source_keys(
	struct keyring *k, const struct aws_profile *p, struct aws_keys *ret, struct diag *err)
{
	struct str source = aws_profile_get(p, "credential_source");
	if (str_eq(source, STR("Environment"))) {
		ret->id = env("AWS_ACCESS_KEY_ID");
		ret->secret = env("AWS_SECRET_ACCESS_KEY");
		ret->token = env("AWS_SESSION_TOKEN");
	} else if (str_eq(source, STR("EcsContainer"))) {
		if (!aws_container(k, ret, err))
			return false;
	} else if (str_eq(source, STR("Ec2InstanceMetadata"))) {
		aws_machine(k, ret);
	} else {
		return fail(
			"it has a credential_source that is none of Environment, EcsContainer and "
			"Ec2InstanceMetadata",
			err);
	}
	return (ret->id.len && ret->secret.len) ||
	       fail("it assumes a role with a credential_source where no keys are", err);
}

/* The keys of whoever assumes the role. */
static bool base_keys(
	struct keyring *k, const struct aws_profile *p, struct aws_keys *ret, struct diag *err)
{
	struct str source = aws_profile_get(p, "source_profile");
	if (!source.p)
		return source_keys(k, p, ret, err);
	struct aws_profile base = aws_profile_of(p->files, source, k->keep);
	base.depth = p->depth + 1;
	if (base.depth > MAX_DEPTH)
		return fail("it leads by source_profile to ever more profiles", err);
	/* One that names itself has lasting keys beside its role. */
	bool ok = str_eq(source, p->name) ? by_keys(k, p, ret, err)
					  : aws_profile_keys(k, &base, ret, err);
	return ok && (ret->id.len || fail("it has a source_profile without keys", err));
}

static struct aws_role role_of(const struct aws_profile *p, struct arena *keep)
{
	struct aws_role role = { .arn = aws_profile_get(p, "role_arn") };
	role.session = aws_profile_get(p, "role_session_name");
	role.external_id = aws_profile_get(p, "external_id");
	role.region = keyring_region(keep);
	return role;
}

static bool by_role(
	struct keyring *k, const struct aws_profile *p, struct aws_keys *ret, struct diag *err)
{
	struct aws_role role = role_of(p, k->keep);
	struct aws_keys base = { .id = { NULL, 0 } };
	bool named =
		aws_profile_get(p, "source_profile").p || aws_profile_get(p, "credential_source").p;
	if (!role.arn.len || !named)
		return true;
	if (aws_profile_get(p, "mfa_serial").p)
		return fail("it wants a code of a second factor (mfa_serial), which nobody is "
			    "asked for "
			    "here; put the keys into the environment: eval \"$(aws configure "
			    "export-credentials --format env)\"",
			err);
	role.keys = &base;
	return base_keys(k, p, &base, err) && aws_assume(k, &role, ret, err);
}

static bool by_web_identity(
	struct keyring *k, const struct aws_profile *p, struct aws_keys *ret, struct diag *err)
{
	struct aws_role role = role_of(p, k->keep);
	role.token_file = aws_profile_get(p, "web_identity_token_file");
	if (!role.token_file.len)
		return true;
	return role.arn.len ? aws_assume(k, &role, ret, err)
			    : fail("it has a web_identity_token_file without a role_arn", err);
}

static bool by_sso(
	struct keyring *k, const struct aws_profile *p, struct aws_keys *ret, struct diag *err)
{
	struct aws_sso sso = { .session = aws_profile_get(p, "sso_session") };
	struct str section = arena_fmt(k->keep, "sso-session %.*s", STR_ARG(sso.session));
	bool has_session = sso.session.len > 0;
	sso.url = has_session ? ini_get(p->files->config, section, STR("sso_start_url"))
			      : aws_profile_get(p, "sso_start_url");
	sso.region = has_session ? ini_get(p->files->config, section, STR("sso_region"))
				 : aws_profile_get(p, "sso_region");
	sso.account = aws_profile_get(p, "sso_account_id");
	sso.role = aws_profile_get(p, "sso_role_name");
	sso.profile = p->name;
	if (!has_session && !sso.url.len)
		return true;
	if (!sso.url.len || !sso.region.len || !sso.account.len || !sso.role.len)
		return fail(
			"it has SSO without all of sso_start_url, sso_region, sso_account_id and "
			"sso_role_name",
			err);
	return aws_sso(k, &sso, ret, err);
}

/* A file that others may write to would let them run programs as this user. */
static bool is_ours(struct str path, struct arena *keep)
{
	struct stat s;
	return !stat(arena_z(keep, path), &s) && (s.st_uid == geteuid() || s.st_uid == 0) &&
	       !(s.st_mode & S_IWOTH);
}

static bool by_process(
	struct keyring *k, const struct aws_profile *p, struct aws_keys *ret, struct diag *err)
{
	static const char key[] = "credential_process";
	bool first = ini_get(p->files->credentials, p->name, str_from(key)).p;
	struct str line = aws_profile_get(p, key);
	struct str path = first ? p->files->credentials_path : p->files->config_path;
	if (!line.len)
		return true;
	if (!is_ours(path, k->keep))
		return diag_set(err, DIAG_BUCKET,
			"%.*s: its credential_process is not run, because the file is another's, "
			"or others may write to it (chmod o-w)",
			STR_ARG(path));
	return aws_process(k, line, ret, err);
}

bool aws_profile_keys(
	struct keyring *k, const struct aws_profile *p, struct aws_keys *ret, struct diag *err)
{
	static bool (*const ways[])(struct keyring *, const struct aws_profile *, struct aws_keys *,
		struct diag *) = { by_role, by_web_identity, by_sso, by_keys, by_process };
	*ret = (struct aws_keys){ .id = { NULL, 0 } };
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]) && !ret->id.len; i++)
		if (!ways[i](k, p, ret, err))
			return diag_context(err, "the AWS profile '%.*s'", STR_ARG(p->name));
	ret->from = arena_fmt(k->keep, "the AWS profile '%.*s'", STR_ARG(p->name));
	return true;
}
