/*
 * S3, and what speaks like it.
 *
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html, API_GetObject.html
 */
#include <time.h>

#include "http/cloud.h"
#include "http/download.h"
#include "http/keyring_aws.h"
#include "http/listing.h"
#include "http/sigv4.h"

/* ---- addresses ------------------------------------------------------------------------------- */

static struct str endpoint(void)
{
	struct str s = env("ROOFLINT_S3_ENDPOINT");
	s = s.p ? s : env("AWS_ENDPOINT_URL_S3");
	return path_trim(s.p ? s : env("AWS_ENDPOINT_URL"));
}

static struct bucket_region *region_known(struct call *c)
{
	for (int i = 0; i < c->clouds->region_count; i++)
		if (str_eq(c->clouds->regions[i].bucket, c->bucket))
			return &c->clouds->regions[i];
	return NULL;
}

static struct str region_of(struct call *c)
{
	const struct bucket_region *known = region_known(c);
	return known ? known->region : keyring_region(c->keep);
}

/*
 * An endpoint gets the bucket in the path.  At Amazon it is part of the host, unless a dot in its
 * name would not fit the certificate.
 */
static struct str origin_of(struct call *c, struct str region)
{
	struct str given = endpoint();
	const char *domain = aws_domain(region);
	if (given.p)
		return arena_fmt(c->keep, "%.*s/%.*s", STR_ARG(given), STR_ARG(c->bucket));
	if (str_find_char(c->bucket, '.') >= 0)
		return arena_fmt(c->keep, "https://s3.%.*s.%s/%.*s", STR_ARG(region), domain,
			STR_ARG(c->bucket));
	return arena_fmt(
		c->keep, "https://%.*s.s3.%.*s.%s", STR_ARG(c->bucket), STR_ARG(region), domain);
}

/* ---- requests -------------------------------------------------------------------------------- */

/* The query's parts are in the order of their names, as they are signed. */
static struct str url_of(struct call *c)
{
	struct out *o = out_memory(c->keep);
	out_fmt(o, "%.*s/", STR_ARG(c->origin));
	if (!c->is_list) {
		out_uri(o, c->key, true);
		return out_text(o);
	}
	out_char(o, '?');
	url_part(o, "continuation-token=", c->r->page, "&");
	url_part(o, "delimiter=", c->r->delimiter, "&");
	out_fmt(o, "encoding-type=url&list-type=2&max-keys=%d&prefix=", LISTING_MAX_PAGE);
	out_uri(o, c->key, false);
	url_part(o, "&start-after=", c->r->after, "");
	return out_text(o);
}

/* The headers of a signed request, whose path begins behind the host of `c->url`. */
static bool sign(struct call *c, const struct aws_keys *keys, struct str region)
{
	struct str rest = str_from_offset(c->url, str_find(c->url, STR("://")) + 3);
	ptrdiff_t slash = str_find_char(rest, '/');
	char stamp[32] = "";
	time_t now = time(NULL);
	struct tm utc;
	if (gmtime_r(&now, &utc))
		strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &utc);
	const struct sigv4_header headers[] = { { STR("host"), str_head(rest, slash) },
		{ STR("x-amz-content-sha256"), STR(SIGV4_EMPTY) },
		{ STR("x-amz-date"), str_from(stamp) },
		{ STR("x-amz-security-token"), keys->token } };
	struct sigv4_key key = { keys->id, keys->secret, region, STR("s3") };
	struct sigv4_request s = { .method = STR("GET"), .headers = headers };
	s.header_count = keys->token.len ? 4 : 3;
	s.stamp = str_from(stamp);
	s.payload_hash = STR(SIGV4_EMPTY);
	str_cut(str_from_offset(rest, slash), '?', &s.path, &s.query);
	for (ptrdiff_t i = 0; i < s.header_count; i++)
		if (!header_add(&c->headers, headers[i].name.p, headers[i].value, c->keep))
			return false;
	return header_add(&c->headers, "authorization", sigv4_sign(&key, &s, c->keep), c->keep);
}

static bool prepare(struct call *c, struct diag *err)
{
	struct aws_keys keys;
	struct str region = region_of(c), given = endpoint();
	if (given.p && !str_starts(given, STR("http://")) && !str_starts(given, STR("https://")))
		return diag_set(err, DIAG_BUCKET,
			"the endpoint in the environment does not begin with https:// or http://");
	if (!keyring_aws(&c->clouds->keys, &keys, err))
		return false;
	c->origin = origin_of(c, region);
	c->from = keys.id.p ? keys.from : str_from(NULL);
	c->url = url_of(c);
	c->authorities = aws_authorities(c->keep);
	bool ok = !c->r->version.p ||
		  header_add(&c->headers, "if-match",
			  arena_fmt(c->keep, "\"%.*s\"", STR_ARG(c->r->version)), c->keep);
	ok = ok && (!keys.id.p || sign(c, &keys, region));
	return ok || diag_set(err, DIAG_LIMIT, "no memory for a request");
}

/* ---- regions --------------------------------------------------------------------------------- */

/* A bucket of another region is told by a header, or in the refusal's text. */
static bool learn(struct call *c, const struct checks *headers, struct str body)
{
	struct clouds *all = c->clouds;
	struct str region = str_from(headers->region);
	struct bucket_region *known = region_known(c);
	region = region.len ? region : refusal_region(body, c->keep);
	if (!region.len || region.len > 32 || !str_only(region, "a-z0-9-") ||
		str_eq(region, region_of(c)))
		return false;
	if (!known && all->region_count == CLOUD_MAX_REGIONS)
		return false;
	if (!known)
		known = &all->regions[all->region_count++];
	known->bucket = arena_str(all->keys.keep, c->bucket);
	known->region = arena_str(all->keys.keep, region);
	return true;
}

const struct cloud cloud_s3 = {
	.scheme = STR_INIT("s3://"),
	.version_header = STR_INIT("etag"),
	.looked = "$AWS_ACCESS_KEY_ID, $AWS_WEB_IDENTITY_TOKEN_FILE, the files of AWS_PROFILE, the "
		  "container's, the metadata server of EC2",
	.prepare = prepare,
	.read_list = listing_read_s3,
	.refusal = refusal_s3,
	.learn = learn,
};
