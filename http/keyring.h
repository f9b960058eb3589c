/*
 * Credentials for buckets, found where the clouds' own tools find them.
 *
 * Amazon: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (AWS_SESSION_TOKEN), then the profile
 * AWS_PROFILE of the shared credentials and config files (a web identity, keys,
 * credential_process), then the container's (ECS, EKS), then the metadata server of EC2 (IMDSv2).
 * A web identity may be named by the environment, too.
 * Google: the file GOOGLE_APPLICATION_CREDENTIALS, then what `gcloud auth application-default
 * login` left, then the metadata server.  A file is a service account's key, a user's token, one of
 * workload identity federation, or one that impersonates.
 *
 * They stay in this process.  What is set but cannot be used is an error, never a reason to go on
 * without.  Finding none is no error: a bucket may be public.
 *
 * Refuses: asking a person (passwords, second factors, browsers), and writing any file: keys of
 * SSO and of roles that lead to roles come from the cloud's own tool, which the message names.
 */
#ifndef HTTP_KEYRING_H
#define HTTP_KEYRING_H

#include "http/exchange.h"

/* Amazon's keys, or Google's token.  Neither id nor token: none were found. */
struct credential {
	struct str id, secret, token; /* keys without a token are lasting ones */
	struct str from;	      /* for people: where they were found */
	double until_s;		      /* by now_s; then they are asked for again */
};

struct keyring {
	CURL *curl;
	struct arena *keep;	  /* lives as long as the program */
	void (*alive)(void *arg); /* called about once a second while something lasts */
	void *alive_arg;
	struct credential aws, google;
};
bool keyring_aws(struct keyring *k, struct credential *ret, struct diag *err);
bool keyring_google(struct keyring *k, struct credential *ret, struct diag *err);
/* The region that the environment or the profile names; "us-east-1" where none does. */
struct str keyring_region(struct arena *keep);

/* ---- keyring_aws.c: for s3.c, which signs ---------------------------------------------------- */

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
/* Keeps what *ret borrows, until shortly before the moment they end (missing: not told); or it has
 * none, with an error. */
bool aws_accept(struct keyring *k, struct str end, struct credential *ret, struct diag *err);

/* ---- what both clouds' parts share ----------------------------------------------------------- */

/* A variable's value; missing when it is unset or empty. */
struct str env(const char *name);

/* ask.c: what servers of credentials answer, and what is in files of them; both are small. */
#define SMALL_BYTES ((ptrdiff_t)1 << 20)
struct question {
	const char *method, *url;
	struct curl_slist *headers; /* freed by ask */
	struct str body;
	bool is_metadata;	 /* of this very machine: near, or not there at all */
	const char *authorities; /* as in struct exchange */
};
/* The status; 0 when nothing came, with an error. */
long ask(struct keyring *k, const struct question *q, struct arena *keep, struct str *ret,
	struct diag *err);
/* The same, where every status but 200 is an error. */
bool ask_well(struct keyring *k, const struct question *q, struct str *ret, struct diag *err);
/* A text in what only a credential's owner may see: errors would quote it. */
cJSON *parse_secret(struct str text);
/*
 * Key of a section "[name]" of an INI file, as AWS writes them; missing when it is not there.  The
 * second word of a name may stand in quotes, and behind a tab.
 */
bool ini_has(struct str text, struct str section);
struct str ini_get(struct str text, struct str section, struct str key);
/* "a=1&b=x%2Fy" of a form; one with a missing value is left out. */
struct field {
	const char *name;
	struct str value;
};
struct str form_of(const struct field *fields, ptrdiff_t count, struct arena *keep);
/* Seconds since 1970 of "2026-03-14T09:26:53Z", also with a fraction or "+00:00"; else NaN. */
double moment_s(struct str text);

/* run.c: what a program prints, started without a shell; then it and what it started is ended. */
bool run_program(
	struct keyring *k, struct str line, double longest_s, struct str *ret, struct diag *err);
/* Words of a line as a POSIX shell tells them apart, NULL behind them; false: an open quote. */
bool words_split(struct str line, struct arena *keep, char ***ret);

#endif
