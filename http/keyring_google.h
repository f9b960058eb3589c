/*
 * Inside of Google's part of the keyring: keyring_google.c looks in order and knows keys and users,
 * google_federated.c what stands for somebody else.
 */
#ifndef HTTP_KEYRING_GOOGLE_H
#define HTTP_KEYRING_GOOGLE_H

#include "base/json.h"
#include "http/keyring.h"

#define GOOGLE_READ  "https://www.googleapis.com/auth/devstorage.read_only"
#define GOOGLE_CLOUD "https://www.googleapis.com/auth/cloud-platform" /* to become another */

/* ret->from is where the key is from, for errors. */
bool google_by_key(struct keyring *k, const cJSON *key, const char *scope, struct google_token *ret,
	struct diag *err);
bool google_by_external(
	struct keyring *k, const cJSON *key, struct google_token *ret, struct diag *err);
bool google_by_impersonation(
	struct keyring *k, const cJSON *key, struct google_token *ret, struct diag *err);

/* A server of tokens: what is said to it goes over TLS, or to this machine. */
struct google_server {
	const char *name; /* "the token server of Google" */
	struct str url, content_type, body, bearer;
	const char *hint; /* what a refusal may mean */
};
/* The body of its answer with status 200. */
bool google_ask(struct keyring *k, const struct google_server *s, struct str from, struct str *ret,
	struct diag *err);
/* The token in `body`, and when it ends; false when there is none. */
bool google_read(struct keyring *k, struct str body, struct google_token *ret);
/* When a token of such a life is to be changed; what is not told lasts two minutes. */
double google_until_s(double life_s);

#endif
