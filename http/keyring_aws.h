/*
 * Inside of Amazon's part of the keyring: keyring_aws.c looks in order, aws_profile.c knows the
 * profiles of the shared files, aws_service.c the services that give keys away, aws_sign.c signs.
 *
 * Not for others but s3.c, which signs.
 */
#ifndef HTTP_KEYRING_AWS_H
#define HTTP_KEYRING_AWS_H

#include "http/keyring.h"

struct aws_files {
	struct str credentials, config;		  /* texts; empty where there is no such file */
	struct str credentials_path, config_path; /* missing where there is none */
};
struct aws_profile {
	const struct aws_files *files;
	struct str name;
	struct str section; /* as the config file calls it */
	int depth;	    /* of profiles whose keys are those of another */
};
bool aws_files_read(struct arena *keep, struct aws_files *ret, struct diag *err);
struct aws_profile aws_profile_of(
	const struct aws_files *files, struct str name, struct arena *keep);
struct str aws_profile_name(void); /* that the environment names, else "default" */
struct str aws_profile_get(const struct aws_profile *p, const char *key);
/* The file that AWS_CA_BUNDLE names, or the profile's ca_bundle; NULL for neither. */
const char *aws_authorities(struct arena *keep);
/* No id in *ret when the profile says nothing of keys. */
bool aws_profile_keys(
	struct keyring *k, const struct aws_profile *p, struct aws_keys *ret, struct diag *err);

/* ---- services -------------------------------------------------------------------------------- */

/* Keys with the moment they end; or an error that begins with what they are from. */
struct aws_fresh {
	struct str id, secret, token, until; /* borrowed; until missing: not told */
};
bool aws_accept(struct keyring *k, struct aws_fresh got, struct aws_keys *ret, struct diag *err);

struct aws_role {
	struct str arn, session, external_id;
	struct str region;
	struct str token_file;	     /* of a web identity; else, */
	const struct aws_keys *keys; /* of whoever assumes the role */
};
bool aws_assume(
	struct keyring *k, const struct aws_role *role, struct aws_keys *ret, struct diag *err);
struct aws_sso {
	struct str url, session; /* the start page; the sso-session, or missing */
	struct str region, account, role;
	struct str profile; /* for people */
};
bool aws_sso(struct keyring *k, const struct aws_sso *sso, struct aws_keys *ret, struct diag *err);
bool aws_process(struct keyring *k, struct str line, struct aws_keys *ret, struct diag *err);
/* No id in *ret when there is none. */
bool aws_container(struct keyring *k, struct aws_keys *ret, struct diag *err);
bool aws_machine(struct keyring *k, struct aws_keys *ret);

/* ---- signing --------------------------------------------------------------------------------- */

struct aws_request {
	struct str method, url; /* with its query, whose parts are in order of their names */
	struct str service, region;
	struct str body;
};
/* The headers of a signed request, behind those in *list. */
bool aws_sign(const struct aws_request *r, const struct aws_keys *keys, struct curl_slist **list,
	struct arena *keep);
const char *aws_domain(struct str region);

#endif
