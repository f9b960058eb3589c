/* Requests to Amazon, signed now.  See keyring_aws.h. */
#include <openssl/sha.h>
#include <time.h>

#include "base/out.h"
#include "http/keyring_aws.h"
#include "http/sigv4.h"

static struct str hash_of(struct str body, struct arena *keep)
{
	unsigned char digest[SHA256_DIGEST_LENGTH];
	struct out *o = out_memory(keep);
	SHA256((const unsigned char *)(body.p ? body.p : ""), (size_t)body.len, digest);
	for (int i = 0; i < SHA256_DIGEST_LENGTH; i++)
		out_fmt(o, "%02x", digest[i]);
	return out_text(o);
}

static struct str stamp_of_now(struct arena *keep)
{
	char stamp[32] = "";
	time_t now = time(NULL);
	struct tm utc;
	if (gmtime_r(&now, &utc))
		strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &utc);
	return arena_str(keep, str_from(stamp));
}

/* "host:port", and the path, which begins with its slash. */
static void split_url(struct str url, struct str *host, struct str *path, struct str *query)
{
	struct str rest = str_from_offset(url, str_find(url, STR("://")) + 3);
	ptrdiff_t slash = str_find_char(rest, '/');
	*host = slash < 0 ? rest : str_head(rest, slash);
	rest = slash < 0 ? STR("/") : str_from_offset(rest, slash);
	*query = STR("");
	str_cut(rest, '?', path, query);
}

bool aws_sign(const struct aws_request *r, const struct aws_keys *keys, struct curl_slist **list,
	struct arena *keep)
{
	struct sigv4_header headers[4];
	struct sigv4_request s = { .method = r->method, .headers = headers };
	struct sigv4_key key = { keys->id, keys->secret, r->region, r->service };
	struct str host;
	split_url(r->url, &host, &s.path, &s.query);
	s.stamp = stamp_of_now(keep);
	s.payload_hash = hash_of(r->body, keep);
	headers[s.header_count++] = (struct sigv4_header){ STR("host"), host };
	headers[s.header_count++] =
		(struct sigv4_header){ STR("x-amz-content-sha256"), s.payload_hash };
	headers[s.header_count++] = (struct sigv4_header){ STR("x-amz-date"), s.stamp };
	if (keys->token.len)
		headers[s.header_count++] =
			(struct sigv4_header){ STR("x-amz-security-token"), keys->token };
	for (ptrdiff_t i = 0; i < s.header_count; i++)
		if (!header_add(list, arena_z(keep, headers[i].name), headers[i].value, keep))
			return false;
	return header_add(list, "authorization", sigv4_sign(&key, &s, keep), keep);
}

const char *aws_domain(struct str region)
{
	return str_starts(region, STR("cn-")) ? "amazonaws.com.cn" : "amazonaws.com";
}
