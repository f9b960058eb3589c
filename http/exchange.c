/* One request by libcurl.  See exchange.h. */
#include "http/exchange.h"

#include <math.h>
#include <openssl/x509_vfy.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CONNECT_MS 10000L
#define BUFFER_BYTES                                                                               \
	(512L << 10) /* the largest that libcurl takes: fewer calls for a large object */

/* ---- what libcurl calls ---------------------------------------------------------------------- */

static size_t take_body(char *bytes, size_t size, size_t count, void *arg)
{
	struct exchange *x = arg;
	size_t len = size * count;
	curl_easy_getinfo(x->curl, CURLINFO_RESPONSE_CODE, &x->status);
	return x->take(x->arg, (struct str){ bytes, (ptrdiff_t)len }) ? len : 0;
}

static size_t take_header(char *bytes, size_t size, size_t count, void *arg)
{
	struct exchange *x = arg;
	struct str name, value;
	if (str_cut((struct str){ bytes, (ptrdiff_t)(size * count) }, ':', &name, &value))
		x->header(x->arg, name, str_trim(value));
	return size * count;
}

static int tick(void *arg, curl_off_t all, curl_off_t now, curl_off_t up_all, curl_off_t up_now)
{
	struct exchange *x = arg;
	(void)all, (void)now, (void)up_all, (void)up_now;
	x->alive(x->arg);
	return 0;
}

static curl_socket_t open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *a)
{
	struct exchange *x = arg;
	(void)purpose;
	bool is_free = x->is_trusted || address_is_proxied(str_from(x->url), x->host);
	x->is_private = !is_free && !address_allowed(x->host, a);
	return x->is_private ? CURL_SOCKET_BAD : socket(a->family, a->socktype, a->protocol);
}

/* ---- how it is asked ------------------------------------------------------------------------- */

/* Of Debian, Ubuntu, Alpine and Arch; of Fedora and RHEL; of openSUSE; of macOS and the BSDs. */
static const char *const bundles[] = {
	"/etc/ssl/certs/ca-certificates.crt",
	"/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/ssl/ca-bundle.pem",
	"/etc/ssl/cert.pem",
};

/* A libcurl that was built for one system knows its file; a static one is for all. */
static const char *system_bundle(void)
{
	if (curl_version_info(CURLVERSION_NOW)->cainfo)
		return NULL;
	for (ptrdiff_t i = 0; i < COUNT_OF(bundles); i++)
		if (!access(bundles[i], R_OK))
			return bundles[i];
	return NULL;
}

/* As users of curl expect: the files named by these, else the system's. */
static void set_authorities(CURL *c, const char *file)
{
	const char *dir = getenv("SSL_CERT_DIR");
	if (!file)
		file = getenv("CURL_CA_BUNDLE");
	if (!file || !*file)
		file = getenv("SSL_CERT_FILE");
	if (!file || !*file)
		file = system_bundle();
	if (file && *file)
		curl_easy_setopt(c, CURLOPT_CAINFO, file);
	if (dir && *dir)
		curl_easy_setopt(c, CURLOPT_CAPATH, dir);
}

static void set_all(CURL *c, struct exchange *x)
{
	curl_easy_setopt(c, CURLOPT_URL, x->url);
	curl_easy_setopt(c, CURLOPT_USERAGENT, "rooflint/" ROOFLINT_VERSION);
	curl_easy_setopt(c, CURLOPT_HTTPHEADER, x->headers);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS,
		x->connect_ms && x->connect_ms < CONNECT_MS ? x->connect_ms : CONNECT_MS);
	curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)(x->timeout_s * 1000));
	if (x->stall_s > 0) {
		curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, STALL_BYTES);
		curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, x->stall_s < 1 ? 1L : (long)x->stall_s);
	}
	curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "https,http");
	curl_easy_setopt(c, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(c, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L); /* they are the proxy's */
	curl_easy_setopt(c, CURLOPT_PATH_AS_IS, 1L); /* what was signed is what is sent */
	if (x->may_pack)
		curl_easy_setopt(c, CURLOPT_ACCEPT_ENCODING, "gzip");
	if (x->is_direct)
		curl_easy_setopt(c, CURLOPT_PROXY, "");
	if (x->user || x->password) {
		curl_easy_setopt(c, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		if (x->signature)
			curl_easy_setopt(c, CURLOPT_AWS_SIGV4, x->signature);
		curl_easy_setopt(c, CURLOPT_USERNAME, x->user ? x->user : "");
		curl_easy_setopt(c, CURLOPT_PASSWORD, x->password ? x->password : "");
	}
	set_authorities(c, x->authorities);
	curl_easy_setopt(c, CURLOPT_BUFFERSIZE, BUFFER_BYTES);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, x);
	curl_easy_setopt(c, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	curl_easy_setopt(c, CURLOPT_OPENSOCKETDATA, x);
	if (x->header) {
		curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, take_header);
		curl_easy_setopt(c, CURLOPT_HEADERDATA, x);
	}
	if (x->alive) {
		curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
		curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, tick);
		curl_easy_setopt(c, CURLOPT_XFERINFODATA, x);
	}
	if (!str_eq(str_from(x->method), STR("GET"))) {
		curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)x->body.len);
		curl_easy_setopt(c, CURLOPT_POSTFIELDS, x->body.p ? x->body.p : "");
		curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, x->method);
	}
}

void exchange_run(CURL *curl, struct exchange *x)
{
	curl_off_t retry_after = 0, took_us = 0;
	x->curl = curl;
	x->is_private = false;
	x->status = 0;
	curl_easy_reset(curl);
	set_all(curl, x);
	x->code = curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &x->status);
	curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &retry_after);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, NULL);
	curl_easy_getinfo(curl, CURLINFO_TOTAL_TIME_T, &took_us);
	curl_easy_getinfo(curl, CURLINFO_HTTP_CONNECTCODE, &x->proxy_status);
	curl_easy_getinfo(curl, CURLINFO_SSL_VERIFYRESULT, &x->verify);
	x->retry_after_s = (double)retry_after;
	x->took_s = (double)took_us / 1e6;
}

/* ---- what went wrong ------------------------------------------------------------------------- */

#define UNVERIFIED "the server's certificate could not be verified: "

/* libcurl itself compares the name, and what it tells then is not always the same. */
static const char *certificate_error(const struct exchange *x)
{
	switch (x->verify) {
	case X509_V_ERR_CERT_HAS_EXPIRED:
	case X509_V_ERR_CERT_NOT_YET_VALID:
		return UNVERIFIED
			"it has expired or is not valid yet, or this machine's clock is wrong";
	case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
	case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
	case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
		return UNVERIFIED "it is not from an authority known here; CURL_CA_BUNDLE names a "
				  "file of your own authorities";
	default:
		return UNVERIFIED "it is for another name than the address has, or cannot be "
				  "checked; CURL_CA_BUNDLE names a file of your own authorities";
	}
}

const char *exchange_error(const struct exchange *x, bool *lasting)
{
	*lasting = true;
	if (x->is_private)
		return "its address belongs to a private network; if that is meant, name the host "
		       "in ROOFLINT_HTTP_ALLOW";
	if (x->proxy_status >= 300) { /* a proxy's answer to CONNECT: its status says enough */
		*lasting = outcome_of(x->proxy_status) == OUTCOME_REFUSED;
		return x->proxy_status == 407
			       ? "the proxy wants a user and a password, or others (HTTPS_PROXY)"
			       : "the proxy refused to lead to the server (HTTPS_PROXY, NO_PROXY)";
	}
	switch ((int)x->code) { /* these stay until somebody changes something; others may pass */
	case CURLE_PEER_FAILED_VERIFICATION:
		return certificate_error(x);
	case CURLE_SSL_CACERT_BADFILE:
		return "the file of authorities (CURL_CA_BUNDLE, or of AWS: AWS_CA_BUNDLE, "
		       "ca_bundle) cannot be read";
	case CURLE_URL_MALFORMAT:
		return "the address is not a valid one";
	default:
		*lasting = false;
		return curl_easy_strerror(x->code);
	}
}

bool header_add(struct curl_slist **list, const char *name, struct str value, struct arena *keep)
{
	struct str line = arena_fmt(keep, "%s: %.*s", name, STR_ARG(value));
	struct curl_slist *longer = curl_slist_append(*list, line.p);
	*list = longer ? longer : *list;
	return longer != NULL;
}

/* ---- when to try again ----------------------------------------------------------------------- */

#define FIRST_WAIT_S   0.5
#define LONGEST_WAIT_S 20.0

enum outcome outcome_of(long status)
{
	if (status >= 200 && status < 300)
		return OUTCOME_DELIVERED;
	if (status == 410)
		return OUTCOME_GONE;
	return status == 408 || status == 425 || status == 429 || status >= 500 ? OUTCOME_LATER
										: OUTCOME_REFUSED;
}

/* From a half to one and a half: those who failed together do not come back together. */
static double jitter(void)
{
	unsigned char random[2] = { 0, 128 };
	(void)!getentropy(random, sizeof(random));
	return 0.5 + (random[0] + 256.0 * random[1]) / 65536.0;
}

double retry_wait_s(int attempts, double retry_after_s)
{
	double wait = FIRST_WAIT_S * ldexp(1, attempts - 1);
	wait = (wait < LONGEST_WAIT_S ? wait : LONGEST_WAIT_S) * jitter();
	return retry_after_s > wait ? retry_after_s : wait;
}

void sleep_s(double seconds)
{
	struct timespec t = { (time_t)seconds, (long)((seconds - floor(seconds)) * 1e9) };
	nanosleep(&t, NULL);
}
