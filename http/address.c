/*
 * Where a request may go.
 *
 * The address comes from whoever owns the environment, but a name in it resolves to what its
 * owner likes: to this machine, to the network behind the firewall, to a cloud's metadata server,
 * which gives out credentials.  So the address that a name resolved to is looked at, too.
 */
#include "http/http.h"

#include <curl/curl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Hosts named in ROOFLINT_HTTP_ALLOW, commas between, may have any address. */
static bool is_named(struct str host)
{
	struct str rest = str_from(getenv("ROOFLINT_HTTP_ALLOW")), name;
	for (bool more = rest.len > 0; more;) {
		more = str_cut(rest, ',', &name, &rest);
		if (str_eq_nocase(str_trim(name), host))
			return true;
	}
	return false;
}

/* Hosts that mean this machine whatever a name server says. */
static bool is_here(struct str host)
{
	return str_eq_nocase(host, STR("localhost")) || str_eq(host, STR("127.0.0.1")) ||
	       str_eq(host, STR("[::1]"));
}

const char *address_refused(struct str url, struct arena *keep, struct str *host)
{
	char *scheme = NULL, *name = NULL;
	const char *why = NULL;
	CURLU *u = curl_url();
	if (!u || curl_url_set(u, CURLUPART_URL, arena_z(keep, url), 0) ||
		curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) ||
		curl_url_get(u, CURLUPART_HOST, &name, 0)) {
		why = "is no address such as https://host/path";
	} else {
		*host = arena_str(keep, str_from(name));
		bool is_http = !strcmp(scheme, "http");
		if (strcmp(scheme, "https") != 0 && !is_http)
			why = "does not begin with https://";
		else if (is_http && !is_here(*host))
			why = "begins with http://, and only this machine is spoken to without TLS";
	}
	curl_free(scheme);
	curl_free(name);
	curl_url_cleanup(u);
	return why;
}

/* ---- proxies --------------------------------------------------------------------------------- */

/* The first variable that has a value. */
static struct str first_set(const char *const *names)
{
	for (; *names; names++) {
		struct str value = str_from(getenv(*names));
		if (value.len)
			return value;
	}
	return STR("");
}

static struct str without_brackets(struct str host)
{
	bool has = str_starts(host, STR("[")) && str_ends(host, STR("]"));
	return has ? str_head(str_from_offset(host, 1), host.len - 2) : host;
}

static bool is_number(struct str host)
{
	for (ptrdiff_t i = 0; i < host.len; i++)
		if (host.p[i] != '.' && (host.p[i] < '0' || host.p[i] > '9'))
			return str_find_char(host, ':') >= 0;
	return true;
}

/* "example.com" names a.example.com as well.  Of networks ("10.0.0.0/8") every number may be, and
 * IPv6 has several spellings. */
static bool entry_names(struct str entry, struct str host)
{
	if (str_find_char(entry, '/') >= 0)
		return is_number(host);
	if (str_find_char(host, ':') >= 0)
		return str_find_char(entry, ':') >= 0;
	while (str_take(&entry, STR(".")))
		;
	if (str_ends(entry, STR(".")))
		entry.len--;
	ptrdiff_t front = host.len - entry.len;
	return entry.len > 0 && front >= 0 && str_eq_nocase(str_from_offset(host, front), entry) &&
	       (!front || host.p[front - 1] == '.');
}

/* Names stand between commas or blanks; a star alone is all. */
static bool is_past_proxies(struct str host)
{
	static const char *const names[] = { "no_proxy", "NO_PROXY", NULL };
	struct str list = first_set(names);
	for (ptrdiff_t from = 0, i = 0; i <= list.len; i++) {
		if (i < list.len && list.p[i] != ',' && list.p[i] != ' ' && list.p[i] != '\t')
			continue;
		struct str entry = str_head(str_from_offset(list, from), i - from);
		if (str_eq(entry, STR("*")) || entry_names(entry, host))
			return true;
		from = i + 1;
	}
	return false;
}

bool address_is_proxied(struct str url, struct str host)
{
	static const char *const https[] = { "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
		NULL };
	static const char *const http[] = { "http_proxy", "all_proxy", "ALL_PROXY", NULL };
	bool is_https = str_eq_nocase(str_head(url, 6), STR("https:"));
	host = without_brackets(host);
	if (str_ends(host, STR(".")))
		host.len--;
	return first_set(is_https ? https : http).len && !is_past_proxies(host);
}

/* ---- addresses ------------------------------------------------------------------------------- */

/* IANA's special-purpose registries; IPv4 as ::ffff:a.b.c.d, in which a prefix has 96 bits more. */
#define V4(a, b, c) 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c
static const struct prefix {
	unsigned char bytes[16];
	int bits;
	bool is_loopback;
} private_prefixes[] = {
	{ { V4(0, 0, 0) }, 96 + 8, false },	 /* this network */
	{ { V4(10, 0, 0) }, 96 + 8, false },	 /* private */
	{ { V4(100, 64, 0) }, 96 + 10, false },	 /* carrier's NAT */
	{ { V4(127, 0, 0) }, 96 + 8, true },	 /* loopback */
	{ { V4(169, 254, 0) }, 96 + 16, false }, /* link-local: metadata servers */
	{ { V4(172, 16, 0) }, 96 + 12, false },	 /* private */
	{ { V4(192, 0, 0) }, 96 + 24, false },	 /* protocol assignments */
	{ { V4(192, 168, 0) }, 96 + 16, false }, /* private */
	{ { V4(198, 18, 0) }, 96 + 15, false },	 /* benchmarking */
	{ { V4(224, 0, 0) }, 96 + 3, false },	 /* multicast and reserved */
	{ { 0 }, 128, false },			 /* unspecified */
	{ { [15] = 1 }, 128, true },		 /* loopback */
	{ { 0 }, 96, false },			 /* IPv4-compatible: IPv4 inside */
	{ { 0, 0x64, 0xff, 0x9b }, 32, false },	 /* translated IPv4 */
	{ { 0x20, 0x02 }, 16, false },		 /* 6to4: IPv4 inside */
	{ { 0xfc }, 7, false },			 /* unique local */
	{ { 0xfe, 0x80 }, 10, false },		 /* link-local */
	{ { 0xff }, 8, false },			 /* multicast */
};

static bool has_prefix(const unsigned char address[16], const struct prefix *p)
{
	int whole = p->bits / 8, rest = p->bits % 8;
	if (memcmp(address, p->bytes, (size_t)whole) != 0)
		return false;
	return !rest || (address[whole] ^ p->bytes[whole]) >> (8 - rest) == 0;
}

/* False for any other text than an internet address. */
static bool address_bytes(const struct curl_sockaddr *a, unsigned char ret[16])
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
	if (a->family == AF_INET6) {
		struct sockaddr_in6 in6;
		memcpy(&in6, &a->addr, sizeof(in6));
		memcpy(ret, &in6.sin6_addr, 16);
		return true;
	}
	struct sockaddr_in in;
	memcpy(&in, &a->addr, sizeof(in));
	memcpy(ret, mapped, sizeof(mapped));
	memcpy(ret + sizeof(mapped), &in.sin_addr, 4);
	return a->family == AF_INET;
}

bool address_allowed(struct str host, const struct curl_sockaddr *address)
{
	unsigned char bytes[16];
	if (is_named(host))
		return true;
	if (!address_bytes(address, bytes))
		return false;
	for (ptrdiff_t i = 0; i < COUNT_OF(private_prefixes); i++) {
		const struct prefix *p = &private_prefixes[i];
		if (has_prefix(bytes, p))
			return p->is_loopback && is_here(host);
	}
	return true;
}
