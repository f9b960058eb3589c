/*
 * S3, and what speaks like it.
 *
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html, API_GetObject.html
 */
#include "base/text.h"
#include "http/cloud.h"
#include "http/listing.h"

/* Of a body that has no bytes. */
#define EMPTY_SHA256 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

/* ---- addresses ------------------------------------------------------------------------------- */

static struct str endpoint(void)
{
	struct str s = env("ROOFLINT_S3_ENDPOINT");
	s = s.p ? s : env("AWS_ENDPOINT_URL_S3");
	return path_trim(s.p ? s : env("AWS_ENDPOINT_URL"));
}

static struct bucket_region *region_known(struct call *c)
{
	return NAMED(c->clouds->regions, c->clouds->region_count, c->bucket);
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

/* The query's parts are in the order of their names: older libcurl signs them as they stand. */
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

/* What libcurl signs with the rest, by Signature Version 4. */
static bool sign(struct call *c, const struct credential *keys, struct str region)
{
	c->x.user = arena_z(c->keep, keys->id);
	c->x.password = arena_z(c->keep, keys->secret);
	c->x.signature = arena_fmt(c->keep, "aws:amz:%.*s:s3", STR_ARG(region)).p;
	return header_add(&c->x.headers, "x-amz-content-sha256", STR(EMPTY_SHA256), c->keep) &&
	       (!keys->token.len ||
		       header_add(&c->x.headers, "x-amz-security-token", keys->token, c->keep));
}

static bool prepare(struct call *c, struct diag *err)
{
	struct credential keys;
	struct str region = region_of(c), given = endpoint();
	if (given.p && !str_starts(given, STR("http://")) && !str_starts(given, STR("https://")))
		return diag_set(err, DIAG_BUCKET,
			"the endpoint in the environment does not begin with https:// or http://");
	if (!keyring_aws(&c->clouds->keys, &keys, err))
		return false;
	c->origin = origin_of(c, region);
	c->from = keys.id.p ? keys.from : MISSING;
	c->x.url = arena_z(c->keep, url_of(c));
	c->x.authorities = aws_authorities(c->keep);
	bool ok = !c->r->version.p ||
		  header_add(&c->x.headers, "if-match",
			  arena_fmt(c->keep, "\"%.*s\"", STR_ARG(c->r->version)), c->keep);
	ok = ok && (!keys.id.p || sign(c, &keys, region));
	return ok || diag_set(err, DIAG_LIMIT, "no memory for a request");
}

/* ---- regions --------------------------------------------------------------------------------- */

/* A header, or the refusal's text, says that a bucket is in another region. */
static bool learn(struct call *c)
{
	struct clouds *all = c->clouds;
	struct str region = str_from(c->checks.region);
	struct bucket_region *known = region_known(c);
	region = region.len ? region : refusal_region(out_text(c->text), c->keep);
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
