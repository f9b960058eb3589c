/*
 * One request with all its attempts, by libcurl.
 *
 * An error never quotes libcurl's own message, which may hold parts of the address: it is made of
 * libcurl's general one, the status, and what we know.  What a server answers is passed on only
 * when nothing secret is in it.
 */
#include "cmd/http/http.h"

#include <curl/curl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/out.h"
#include "base/secret.h"

#define CONNECT_S	10L
#define FIRST_WAIT_S	0.5
#define LONGEST_WAIT_S	20.0
#define SEARCHED	4096 /* of an answer for secrets, so that none is shown by half */
#define SHORTEST_SECRET 8    /* of what is looked for in an answer: shorter texts are anywhere */

/* What one request keeps over its attempts. */
struct work {
	const struct request *r;
	struct arena *keep;
	struct str url, secret;
	struct str at, host; /* where the request goes now: the address, or what redirected there */
	CURL *curl;
	bool is_private; /* the last attempt was stopped by address_allowed */
	/* Of the last attempt. */
	struct out *body;
	ptrdiff_t body_len;
	double retry_after_s;
};

/* ---- what libcurl calls ---------------------------------------------------------------------- */

/* What is beyond the limit is read and dropped: the status counts, not the text. */
static size_t take_body(char *bytes, size_t size, size_t count, void *arg)
{
	struct work *w = arg;
	ptrdiff_t len = (ptrdiff_t)(size * count), room = (ptrdiff_t)w->r->answer_bytes;
	room = (room < SEARCHED ? SEARCHED : room) - w->body_len;
	struct str kept = str_head((struct str){ bytes, len }, room > 0 ? room : 0);
	out_str(w->body, kept);
	w->body_len += kept.len;
	return (size_t)len;
}

/* A proxy is what is connected to then, and it looks up the host itself. */
static bool has_proxy(void)
{
	static const char *const names[] = { "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
		"http_proxy" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);
		if (value && *value)
			return true;
	}
	return false;
}

static curl_socket_t open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *a)
{
	struct work *w = arg;
	(void)purpose;
	w->is_private = !has_proxy() && !address_allowed(w->host, a);
	return w->is_private ? CURL_SOCKET_BAD : socket(a->family, a->socktype, a->protocol);
}

/* ---- one attempt ----------------------------------------------------------------------------- */

static bool add_header(struct curl_slist **list, struct work *w, const char *name, struct str value)
{
	struct str line = arena_fmt(w->keep, "%s: %.*s", name, STR_ARG(value));
	struct curl_slist *longer = curl_slist_append(*list, line.p);
	*list = longer ? longer : *list;
	return longer != NULL;
}

/* The time is of this attempt: receivers refuse old ones. */
static bool add_signature(struct curl_slist **list, struct work *w, struct diag *err)
{
	int64_t now = (int64_t)time(NULL);
	const struct request *r = w->r;
	struct str standard = sign_standard(w->secret, r->message_id, now, r->body, w->keep, err);
	if (!standard.p)
		return false;
	return add_header(list, w, "webhook-id", r->message_id) &&
	       add_header(
		       list, w, "webhook-timestamp", arena_fmt(w->keep, "%lld", (long long)now)) &&
	       add_header(list, w, "webhook-signature", standard) &&
	       add_header(list, w, "x-hub-signature-256", sign_hub(w->secret, r->body, w->keep));
}

static bool make_headers(struct curl_slist **list, struct work *w, struct diag *err)
{
	*list = NULL;
	diag_set(err, DIAG_LIMIT, "no memory for a request");
	return add_header(list, w, "content-type", w->r->content_type) &&
	       add_header(list, w, "expect", STR("")) &&
	       (!w->secret.p || add_signature(list, w, err));
}

/* As users of curl expect: the files named by these, else the system's. */
static void set_authorities(CURL *c)
{
	const char *file = getenv("CURL_CA_BUNDLE"), *dir = getenv("SSL_CERT_DIR");
	if (!file || !*file)
		file = getenv("SSL_CERT_FILE");
	if (file && *file)
		curl_easy_setopt(c, CURLOPT_CAINFO, file);
	if (dir && *dir)
		curl_easy_setopt(c, CURLOPT_CAPATH, dir);
}

static void set_limits(CURL *c, const struct request *r)
{
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
	curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)(r->timeout_s * 1000));
	curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "https,http");
	curl_easy_setopt(c, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L); /* follow() does, with our own checks */
	set_authorities(c);
}

static void set_request(struct work *w)
{
	CURL *c = w->curl;
	curl_easy_reset(c);
	set_limits(c, w->r);
	curl_easy_setopt(c, CURLOPT_URL, arena_z(w->keep, w->at));
	curl_easy_setopt(c, CURLOPT_USERAGENT, "rooflint/" ROOFLINT_VERSION);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, w);
	curl_easy_setopt(c, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	curl_easy_setopt(c, CURLOPT_OPENSOCKETDATA, w);
	if (!str_eq(w->r->method, STR("GET"))) {
		curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)w->r->body.len);
		curl_easy_setopt(c, CURLOPT_POSTFIELDS, w->r->body.p ? w->r->body.p : "");
		curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, arena_z(w->keep, w->r->method));
	}
}

static struct answer failed(enum outcome outcome, const char *error)
{
	return (struct answer){ .outcome = outcome, .error = str_from(error) };
}

/* Errors that stay until somebody changes something; all others may pass. */
static const struct lasting {
	CURLcode code;
	const char *error;
} lasting[] = {
	{ CURLE_PEER_FAILED_VERIFICATION,
		"the server's certificate could not be verified; CURL_CA_BUNDLE names a file of "
		"your own authorities" },
	{ CURLE_SSL_CACERT_BADFILE, "the file of authorities (CURL_CA_BUNDLE) cannot be read" },
	{ CURLE_URL_MALFORMAT, "the address is not a valid one" },
};

static struct answer without_status(const struct work *w, CURLcode code)
{
	if (w->is_private)
		return failed(OUTCOME_REFUSED,
			"its address belongs to a private network; if that is meant, name the "
			"host in ROOFLINT_HTTP_ALLOW");
	for (size_t i = 0; i < sizeof(lasting) / sizeof(lasting[0]); i++)
		if (lasting[i].code == code)
			return failed(OUTCOME_REFUSED, lasting[i].error);
	return failed(OUTCOME_LATER, curl_easy_strerror(code));
}

static enum outcome outcome_of(long status)
{
	if (status >= 200 && status < 300)
		return OUTCOME_DELIVERED;
	if (status == 410)
		return OUTCOME_GONE;
	return status == 408 || status == 425 || status == 429 || status >= 500 ? OUTCOME_LATER
										: OUTCOME_REFUSED;
}

/* Any part of the address behind the host: with most chat services, one of them is the key. */
static bool tells_address(const struct work *w, struct str text)
{
	struct str rest = str_from_offset(w->url, str_find(w->url, STR("://")) + 3);
	rest = str_from_offset(rest, str_find_char(rest, '/'));
	for (ptrdiff_t at = 0, end = 0; end < rest.len; at = end + 1) {
		for (end = at; end < rest.len && str_find_char(STR("/?&=#"), rest.p[end]) < 0;)
			end++;
		struct str part = str_head(str_from_offset(rest, at), end - at);
		if (part.len >= SHORTEST_SECRET && str_contains(text, part))
			return true;
	}
	return false;
}

static bool tells_secret(const struct work *w, struct str text)
{
	struct str rest = w->secret, key;
	for (bool more = rest.len > 0; more;) {
		more = str_cut(rest, ' ', &key, &rest);
		str_take(&key, STR("whsec_"));
		if (key.len >= SHORTEST_SECRET && str_contains(text, key))
			return true;
	}
	return tells_address(w, text);
}

static struct answer with_status(struct work *w, long status)
{
	struct answer a = { .outcome = outcome_of(status), .status = status };
	if (status >= 300 && status < 400)
		a.error = STR("the server redirects, which is not followed; give the address it "
			      "leads to");
	else if (a.outcome != OUTCOME_DELIVERED)
		a.error = arena_fmt(w->keep, "the server answered %ld", status);
	if (!tells_secret(w, out_text(w->body)))
		a.body = str_head(out_text(w->body), (ptrdiff_t)w->r->answer_bytes);
	return a;
}

static struct answer ask(struct work *w)
{
	struct diag err;
	struct curl_slist *headers;
	curl_off_t retry_after = 0;
	long status = 0;
	w->body = out_memory(w->keep);
	w->body_len = 0;
	w->is_private = false;
	if (!make_headers(&headers, w, &err)) {
		curl_slist_free_all(headers);
		return failed(OUTCOME_REFUSED, arena_z(w->keep, str_from(err.text)));
	}
	set_request(w);
	curl_easy_setopt(w->curl, CURLOPT_HTTPHEADER, headers);
	CURLcode code = curl_easy_perform(w->curl);
	curl_easy_getinfo(w->curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(w->curl, CURLINFO_RETRY_AFTER, &retry_after);
	curl_slist_free_all(headers);
	w->retry_after_s = (double)retry_after;
	return code ? without_status(w, code) : with_status(w, status);
}

/* A message is sent on only where that keeps it a message: others would turn it into a GET. */
static bool is_followed(const struct work *w, long status, int hops)
{
	bool is_get = str_eq(w->r->method, STR("GET"));
	bool leads = status == 307 || status == 308 || (is_get && status >= 301 && status <= 303);
	return leads && hops < (int)w->r->redirects;
}

/* What was asked for may lead elsewhere, but nowhere that could not have been asked for. */
static bool follow(struct work *w, struct answer *a)
{
	const char *to = NULL;
	curl_easy_getinfo(w->curl, CURLINFO_REDIRECT_URL, &to);
	if (!to)
		return false;
	w->at = arena_str(w->keep, str_from(to));
	const char *why = address_refused(w->at, w->keep, &w->host);
	if (why)
		a->error = arena_fmt(w->keep, "the server redirects to an address that %s", why);
	return !why;
}

static struct answer attempt(struct work *w)
{
	w->at = w->url;
	const char *why = address_refused(w->url, w->keep, &w->host);
	if (why)
		return failed(OUTCOME_REFUSED,
			arena_fmt(w->keep, "the address in $%.*s %s", STR_ARG(w->r->url_from), why)
				.p);
	for (int hops = 0;; hops++) {
		struct answer a = ask(w);
		if (!is_followed(w, a.status, hops) || !follow(w, &a))
			return a;
	}
}

/* ---- all attempts ---------------------------------------------------------------------------- */

static double now_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* From a half to one and a half: those who failed together do not come back together. */
static double jitter(void)
{
	unsigned char random[2] = { 0, 128 };
	(void)!getentropy(random, sizeof(random));
	return 0.5 + (random[0] + 256.0 * random[1]) / 65536.0;
}

static double wait_s(int attempts, double retry_after_s)
{
	double wait = FIRST_WAIT_S * ldexp(1, attempts - 1);
	wait = (wait < LONGEST_WAIT_S ? wait : LONGEST_WAIT_S) * jitter();
	return retry_after_s > wait ? retry_after_s : wait;
}

static void sleep_s(double seconds)
{
	struct timespec t = { (time_t)seconds, (long)((seconds - floor(seconds)) * 1e9) };
	nanosleep(&t, NULL);
}

static void attempts(struct work *w, struct answer *ret)
{
	double end_s = now_s() + w->r->deadline_s;
	for (int count = 1;; count++) {
		*ret = attempt(w);
		ret->attempts = count;
		if (ret->outcome != OUTCOME_LATER || count >= (int)w->r->attempts)
			return;
		double wait = wait_s(count, w->retry_after_s);
		if (now_s() + wait >= end_s)
			return;
		sleep_s(wait);
	}
}

/* Blanks and newlines around a value come from how it was pasted. */
static struct str value_of(struct str name)
{
	return name.p ? str_trim(secret_value(name)) : str_from(NULL);
}

void transfer(void *curl, const struct request *r, struct arena *keep, struct answer *ret)
{
	struct work w = { .r = r, .keep = keep, .curl = curl };
	w.url = value_of(r->url_from);
	w.secret = value_of(r->secret_from);
	struct str unset = !w.url.p			     ? r->url_from
			   : r->secret_from.p && !w.secret.p ? r->secret_from
							     : str_from(NULL);
	*ret = (struct answer){ .outcome = OUTCOME_REFUSED };
	if (unset.p)
		ret->error = arena_fmt(keep, "$%.*s is not set", STR_ARG(unset));
	else
		attempts(&w, ret);
}
