/*
 * Inside of Amazon's part of the keyring: keyring_aws.c looks in order and knows the profiles of
 * the shared files, aws_service.c the services that give keys away.
 *
 * Not for others but s3.c, which signs.
 */
#ifndef HTTP_KEYRING_AWS_H
#define HTTP_KEYRING_AWS_H

#include "http/keyring.h"

struct aws_profile {
	struct str credentials, config;		  /* texts; empty where there is no such file */
	struct str credentials_path, config_path; /* missing where there is none */
	struct str name;
	struct str section; /* as the config file calls it */
};
/* Of the texts that are there. */
void aws_profile_name(struct aws_profile *p, struct str name, struct arena *keep);
struct str aws_profile_get(const struct aws_profile *p, const char *key);
/* The file that AWS_CA_BUNDLE names, or the profile's ca_bundle; NULL for neither. */
const char *aws_authorities(struct arena *keep);
const char *aws_domain(struct str region);

/* ---- services -------------------------------------------------------------------------------- */

/* Keys with the moment they end; or an error that begins with what they are from. */
struct aws_fresh {
	struct str id, secret, token, until; /* borrowed; until missing: not told */
};
bool aws_accept(struct keyring *k, struct aws_fresh got, struct aws_keys *ret, struct diag *err);

/* A role for whoever has the token in `token_file`; a missing session is "rooflint". */
struct aws_role {
	struct str arn, session, token_file;
};
bool aws_web_identity(
	struct keyring *k, const struct aws_role *role, struct aws_keys *ret, struct diag *err);
bool aws_process(struct keyring *k, struct str line, struct aws_keys *ret, struct diag *err);
/* No id in *ret when there is none. */
bool aws_container(struct keyring *k, struct aws_keys *ret, struct diag *err);
bool aws_machine(struct keyring *k, struct aws_keys *ret);

#endif
