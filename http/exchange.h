/*
 * One HTTP request and its answer, by libcurl: the part that messages and buckets share.
 *
 * TLS is verified, no redirect is followed, and an address of a private network is refused
 * unless the caller vouches for the host.  Nothing that libcurl says in its own words is passed on:
 * it may quote the address.
 */
#ifndef HTTP_EXCHANGE_H
#define HTTP_EXCHANGE_H

#include <curl/curl.h>

#include "base/when.h"
#include "http/http.h"

/* A second's bytes. A server that sends fewer is as good as silent: a megabyte would take hours. */
#define STALL_BYTES 1024L

struct exchange {
	const char *method, *url;
	struct str host; /* of the URL */
	struct curl_slist *headers;
	const char *user, *password; /* basic authentication; both NULL: none */
	const char *signature;	 /* "aws:amz:REGION:SERVICE": they are a key that signs instead */
	struct str body;	 /* of a POST or PUT */
	long connect_ms;	 /* to connect, ten seconds at most; 0: ten seconds */
	double timeout_s;	 /* of all of it; 0: no limit */
	double stall_s;		 /* with less than STALL_BYTES in each; 0: no limit */
	bool is_trusted;	 /* the host may have any address */
	const char *authorities; /* a file of them; NULL: those that curl's users name, or the
				    system's */
	bool may_pack;		 /* the answer may come as gzip; `take` gets it unpacked */
	bool is_direct; /* past proxies: a metadata server speaks to its own machine only */
	bool (*take)(void *arg, struct str bytes); /* of the answer's body; false: stop */
	void (*header)(void *arg, struct str name, struct str value); /* or NULL */
	void (*alive)(void *arg); /* about once a second while it lasts; or NULL */
	void *arg;
	/* What came of it. */
	CURL *curl;
	CURLcode code;
	long status; /* known when the first byte of the body is taken */
	double retry_after_s, took_s;
	long proxy_status; /* of a proxy that was to lead to the server; 0: of none */
	long verify;	   /* what is wrong with its certificate, by X509_V_ERR_* */
	bool is_private;   /* it was stopped by address_allowed */
};
void exchange_run(CURL *curl, struct exchange *x);

/* What is wrong without a status; *lasting when another attempt would not help. */
const char *exchange_error(const struct exchange *x, bool *lasting);

bool header_add(struct curl_slist **list, const char *name, struct str value, struct arena *keep);

enum outcome outcome_of(long status);
double retry_wait_s(int attempts, double retry_after_s);
void sleep_s(double seconds);

#endif
