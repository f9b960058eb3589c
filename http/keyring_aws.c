/* Amazon's keys, in order.  See keyring.h. */
#include <math.h>

#include "http/keyring_aws.h"

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
	struct aws_role role = { .arn = env("AWS_ROLE_ARN") };
	role.token_file = env("AWS_WEB_IDENTITY_TOKEN_FILE");
	role.session = env("AWS_ROLE_SESSION_NAME");
	role.region = keyring_region(k->keep);
	if (!role.token_file.p)
		return true;
	bool ok = role.arn.p ? aws_assume(k, &role, ret, err)
			     : diag_set(err, DIAG_BUCKET, "$AWS_ROLE_ARN is not set");
	return ok || diag_context(err, "$AWS_WEB_IDENTITY_TOKEN_FILE");
}

static bool by_profile(struct keyring *k, struct aws_keys *ret, struct diag *err)
{
	struct aws_files files;
	struct str name = aws_profile_name();
	if (!aws_files_read(k->keep, &files, err))
		return false;
	struct aws_profile p = aws_profile_of(&files, name, k->keep);
	return aws_profile_keys(k, &p, ret, err) &&
	       (ret->id.p || !env("AWS_PROFILE").p ||
		       diag_set(err, DIAG_BUCKET,
			       "$AWS_PROFILE names '%.*s', and no file of AWS has keys for it",
			       STR_ARG(name)));
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
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]) && !ret->id.len; i++) {
		*ret = (struct aws_keys){ .id = { NULL, 0 } };
		if (!ways[i](k, ret, err)) {
			k->aws_until_s = 0;
			return false;
		}
	}
	k->aws = *ret;
	return true;
}

struct str keyring_region(struct arena *keep)
{
	struct aws_files files;
	struct diag ignored;
	struct str region = env("AWS_REGION");
	region = region.p ? region : env("AWS_DEFAULT_REGION");
	if (region.p || !aws_files_read(keep, &files, &ignored))
		return region.len ? region : STR("us-east-1");
	struct aws_profile p = aws_profile_of(&files, aws_profile_name(), keep);
	region = aws_profile_get(&p, "region");
	return region.len ? region : STR("us-east-1");
}
