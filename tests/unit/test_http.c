/* rooflint-http: signatures by their specification, requests by their table, addresses by rule. */
#include <arpa/inet.h>
#include <curl/curl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "http/exchange.h"
#include "http/http.h"
#include "tests/unit/keep.h"

static struct diag err;

/* ---- signatures ------------------------------------------------------------------------------ */

/*
 * Made by Python's hmac and base64:
 *   base64(hmac(b64decode(KEY), b"msg_p5.1614265330." + BODY, sha256))
 */
#define KEY    "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
#define OTHER  "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
#define BODY   "{\"test\": 2432232314}"
#define SIGNED "XfPz8ouraKrCW2SVrjYa72Bq4t6LRcj1nuGLrBNbvZQ="
#define ALSO   "4pqjpYFaQ4eRo8o/blCa3sZ7g7tIR3mNNr2TGpZJJ5Y="
#define HUB    "80ec8a89ce3cd22133a1066caecb4d04fea7467657c8514d717ec42c38a5c94c"

static void assert_signed(const char *secret, const char *expected)
{
	struct str s =
		sign_standard(str_from(secret), STR("msg_p5"), 1614265330, STR(BODY), &keep, &err);
	assert_non_null(s.p);
	assert_string_equal(arena_z(&keep, s), expected);
}

static void test_sign(void **state)
{
	(void)state;
	assert_signed("whsec_" KEY, "v1," SIGNED);
	assert_signed(KEY, "v1," SIGNED);
	assert_signed("  whsec_" KEY "  whsec_" OTHER " ", "v1," SIGNED " v1," ALSO);
	assert_string_equal(
		arena_z(&keep, sign_hub(STR("whsec_" KEY " x"), STR(BODY), &keep)), "sha256=" HUB);
}

static void test_bad_keys(void **state)
{
	(void)state;
	static const char *const bad[] = { "  ", "secret", "whsec_c2hvcnQ=", "whsec_*" KEY,
		"whsec_" KEY "A",
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
		"AAAAAAAA" };
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct str s = sign_standard(str_from(bad[i]), STR("id"), 1, STR("x"), &keep, &err);
		assert_null(s.p);
		assert_null(strstr(err.text, bad[i])); /* the key is not told */
	}
}

/* ---- requests -------------------------------------------------------------------------------- */

static bool read_request(const char *text, struct request *r)
{
	cJSON *head = json_parse(STR("test"), str_from(text), &err);
	assert_non_null(head);
	bool ok = request_read(head, STR(""), r, &err);
	if (!ok)
		r = NULL;
	else
		r->url_from = arena_str(&keep, r->url_from);
	cJSON_Delete(head);
	return ok;
}

static void test_request(void **state)
{
	(void)state;
	struct request r;
	assert_true(read_request("{\"id\":3,\"method\":\"POST\",\"url_from\":\"ROOFLINT_A\","
				 "\"attempts\":2,\"length\":0}",
		&r));
	assert_true(r.id == 3 && r.attempts == 2 && r.timeout_s == 20);
	assert_true(str_eq(r.url_from, STR("ROOFLINT_A")));
}

static void assert_refused(const char *text, const char *part)
{
	struct request r;
	assert_false(read_request(text, &r));
	if (!strstr(err.text, part))
		fail_msg("no '%s' in: %s", part, err.text);
}

#define SOME "\"id\":1,\"method\":\"POST\",\"url_from\":\"ROOFLINT_A\""
static void test_bad_requests(void **state)
{
	(void)state;
	assert_refused("{}", "needs 'id'");
	assert_refused("{\"id\":1,\"method\":\"POST\"}", "needs 'url' or 'url_from'");
	assert_refused("{" SOME ",\"url\":\"https://x\"}", "needs 'url' or 'url_from'");
	assert_refused("{" SOME ",\"headers\":\"x: y\"}", "no key 'headers'");
	assert_refused("{" SOME ",\"password_from\":\"PGPASSWORD\"}", "ROOFLINT_ and more");
	assert_refused(
		"{\"id\":1,\"method\":\"DELETE\",\"url_from\":\"ROOFLINT_A\"}", "POST, LIST");
	assert_refused(
		"{\"id\":1,\"method\":\"POST\",\"url_from\":\"HOME\"}", "ROOFLINT_ and more");
	assert_refused("{" SOME ",\"content_type\":\"a\\r\\nx: y\"}", "plain ASCII");
	assert_refused("{" SOME ",\"attempts\":11}", "from 0 to 10");
	assert_refused("{" SOME ",\"deadline_s\":\"9\"}", "from 0 to 600");
	assert_refused("{" SOME ",\"secret_from\":\"ROOFLINT_B\"}", "needs a 'message_id'");
}

/* ---- addresses ------------------------------------------------------------------------------- */

static void test_urls(void **state)
{
	(void)state;
	static const struct {
		const char *url, *why;
	} cases[] = {
		{ "https://hooks.example/x", NULL },
		{ "http://127.0.0.1:8080/x", NULL },
		{ "http://localhost/x", NULL },
		{ "http://[::1]/x", NULL },
		{ "http://hooks.example/x", "without TLS" },
		{ "http://127.0.0.2/x", "without TLS" },
		{ "http://localhost.evil.example/", "without TLS" },
		{ "http://localhost@evil.example/", "without TLS" },
		{ "ftp://hooks.example/x", "https://" },
		{ "file:///etc/passwd", "https" },
		{ "hooks.example/x", "no address" },
		{ "", "no address" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct str host;
		const char *why = address_refused(str_from(cases[i].url), &keep, &host);
		if (!why != !cases[i].why || (why && !strstr(why, cases[i].why)))
			fail_msg("%s: %s", cases[i].url, why ? why : "allowed");
	}
}

/* libcurl's struct has room for an IPv4 address only; what it hands over is longer. */
static bool allowed(const char *host, const char *address)
{
	union {
		struct curl_sockaddr curl;
		char room[sizeof(struct curl_sockaddr) + sizeof(struct sockaddr_in6)];
	} a = { .curl.family = strchr(address, ':') ? AF_INET6 : AF_INET };
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	char *to = a.room + offsetof(struct curl_sockaddr, addr);
	if (a.curl.family == AF_INET) {
		assert_int_equal(inet_pton(AF_INET, address, &in.sin_addr), 1);
		memcpy(to, &in, sizeof(in));
	} else {
		assert_int_equal(inet_pton(AF_INET6, address, &in6.sin6_addr), 1);
		memcpy(to, &in6, sizeof(in6));
	}
	return address_allowed(str_from(host), &a.curl);
}

static void test_addresses(void **state)
{
	(void)state;
	static const char *const public[] = { "93.184.216.34", "8.8.8.8", "172.32.0.1", "11.0.0.1",
		"2606:2800:220:1::1", "::ffff:8.8.8.8" };
	static const char *const private[] = { "127.0.0.1", "10.1.2.3", "172.31.255.255",
		"192.168.0.1", "169.254.169.254", "100.100.0.1", "0.0.0.0", "224.0.0.1",
		"255.255.255.255", "::1", "::", "fe80::1", "fd00:ec2::254", "ff02::1",
		"::ffff:169.254.169.254", "::10.0.0.1", "::169.254.169.254", "64:ff9b::a9fe:a9fe",
		"2002:a9fe:a9fe::1" };
	for (size_t i = 0; i < sizeof(public) / sizeof(public[0]); i++)
		if (!allowed("hooks.example", public[i]))
			fail_msg("%s is refused", public[i]);
	setenv("ROOFLINT_HTTP_ALLOW", "chat.corp, Hooks.Corp", 1);
	for (size_t i = 0; i < sizeof(private) / sizeof(private[0]); i++) {
		if (allowed("hooks.example", private[i]))
			fail_msg("%s is allowed", private[i]);
		assert_true(allowed("hooks.corp", private[i]));
	}
	unsetenv("ROOFLINT_HTTP_ALLOW");
	assert_true(allowed("localhost", "127.0.0.1") && allowed("[::1]", "::1"));
	assert_false(allowed("localhost", "10.0.0.1"));
}

/* As libcurl decides it; where its reading is not ours alone, a host is asked itself. */
static void test_proxies(void **state)
{
	static const struct {
		const char *https, *all, *none, *url, *host;
		bool proxied;
	} cases[] = {
		{ NULL, NULL, NULL, "https://a.example/", "a.example", false },
		{ "http://p:1", NULL, NULL, "https://a.example/", "a.example", true },
		{ NULL, "http://p:1", NULL, "https://a.example/", "a.example", true },
		{ "http://p:1", NULL, NULL, "http://localhost/", "localhost", false },
		{ NULL, "http://p:1", NULL, "http://localhost/", "localhost", true },
		{ "", NULL, NULL, "https://a.example/", "a.example", false },
		{ "http://p:1", NULL, "*", "https://a.example/", "a.example", false },
		{ "http://p:1", NULL, "b.example, A.Example", "https://a.example/", "a.example",
			false },
		{ "http://p:1", NULL, "b.example\t.example.", "https://a.example/", "a.example.",
			false },
		{ "http://p:1", NULL, ".a.example", "https://a.example/", "a.example", false },
		{ "http://p:1", NULL, "ample,x.a.example,,.", "https://a.example/", "a.example",
			true },
		{ "http://p:1", NULL, "10.0.0.0/8", "https://a.example/", "a.example", true },
		{ "http://p:1", NULL, "10.0.0.0/8", "https://10.1.2.3/", "10.1.2.3", false },
		{ "http://p:1", NULL, "10.1.2.4", "https://10.1.2.3/", "10.1.2.3", true },
		{ "http://p:1", NULL, "fd00:0::1", "https://[fd00::1]/", "[fd00::1]", false },
		{ "http://p:1", NULL, "fd00", "https://[fd00::1]/", "[fd00::1]", true },
	};
	static const char *const names[] = { "https_proxy", "HTTPS_PROXY", "http_proxy",
		"all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY" };
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
			unsetenv(names[k]);
		if (cases[i].https)
			setenv("HTTPS_PROXY", cases[i].https, 1);
		if (cases[i].all)
			setenv("all_proxy", cases[i].all, 1);
		if (cases[i].none)
			setenv("NO_PROXY", cases[i].none, 1);
		if (address_is_proxied(str_from(cases[i].url), str_from(cases[i].host)) !=
			cases[i].proxied)
			fail_msg("case %zu: %s", i, cases[i].host);
	}
	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
		unsetenv(names[k]);
}

/* Half a second, doubled each time up to twenty, give or take a half; never before Retry-After. */
static void test_waits(void **state)
{
	(void)state;
	double least = INFINITY, most = 0;
	for (int i = 0; i < 200; i++) {
		double wait = retry_wait_s(1, 0);
		least = fmin(least, wait);
		most = fmax(most, wait);
	}
	assert_true(least >= 0.25 && most <= 0.75);
	assert_true(most - least > 0.25); /* those who failed together come back apart */
	for (int i = 2; i < 40; i++) {
		double middle = fmin(0.5 * pow(2, i - 1), 20), wait = retry_wait_s(i, 0);
		assert_true(wait >= middle / 2 && wait <= middle * 1.5);
	}
	assert_true(retry_wait_s(1, 7) == 7);
	assert_true(retry_wait_s(9, 0.1) >= 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sign),
		cmocka_unit_test(test_bad_keys),
		cmocka_unit_test(test_request),
		cmocka_unit_test(test_bad_requests),
		cmocka_unit_test(test_urls),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_proxies),
		cmocka_unit_test(test_waits),
	};
	return cmocka_run_group_tests_name("http", tests, keep_begin, keep_end);
}
