/*
 * Google Cloud Storage by its JSON interface.
 *
 * https://cloud.google.com/storage/docs/json_api/v1/objects/list, .../objects/get
 */
#include "http/cloud.h"
#include "http/listing.h"

/* An emulator knows no credentials, and gets none. */
static struct str emulator(struct arena *keep)
{
	struct str s = path_trim(env("STORAGE_EMULATOR_HOST"));
	return s.p && str_find(s, STR("://")) < 0 ? arena_fmt(keep, "http://%.*s", STR_ARG(s)) : s;
}

/* A token is as good as a key while it lasts, so it never goes over an open connection. */
static bool server(struct arena *keep, struct str *ret, struct diag *err)
{
	struct str given = path_trim(env("ROOFLINT_GCS_ENDPOINT")), host;
	*ret = given.p ? given : STR("https://storage.googleapis.com");
	const char *why = address_refused(*ret, keep, &host);
	return !why || diag_set(err, DIAG_BUCKET, "the address in $ROOFLINT_GCS_ENDPOINT %s", why);
}

static struct str url_of(const struct call *c)
{
	struct out *o = out_memory(c->keep);
	out_fmt(o, "%.*s/storage/v1/b/%.*s/o", STR_ARG(c->origin), STR_ARG(c->bucket));
	if (c->is_list)
		out_fmt(o,
			"?fields=items(name%%2Csize%%2Cgeneration)%%2Cprefixes%%2CnextPageToken&"
			"maxResults=%d&prefix=",
			LISTING_MAX_PAGE);
	else
		out_char(o, '/');
	out_uri(o, c->key, false);
	if (!c->is_list)
		out_fmt(o, "?alt=media");
	url_part(o, "&generation=", c->r->version, "");
	url_part(o, "&pageToken=", c->r->page, "");
	url_part(o, "&startOffset=", c->r->after, "");
	url_part(o, "&delimiter=", c->r->delimiter, "");
	return out_text(o);
}

static bool prepare(struct call *c, struct diag *err)
{
	struct credential found = { .until_s = 0 };
	c->origin = emulator(c->keep);
	if (!c->origin.p && (!server(c->keep, &c->origin, err) ||
				    !keyring_google(&c->clouds->keys, &found, err)))
		return false;
	c->from = found.token.p ? found.from : MISSING;
	c->x.url = arena_z(c->keep, url_of(c));
	/* Objects stored packed come as they are stored: their length and hashes are of that. */
	bool ok =
		header_add(&c->x.headers, "accept-encoding", STR("gzip"), c->keep) &&
		(!found.token.p ||
			header_add(&c->x.headers, "authorization",
				arena_fmt(c->keep, "Bearer %.*s", STR_ARG(found.token)), c->keep));
	return ok || diag_set(err, DIAG_LIMIT, "no memory for a request");
}

const struct cloud cloud_gcs = {
	.scheme = STR_INIT("gs://"),
	.version_header = STR_INIT("x-goog-generation"),
	.looked = "$GOOGLE_APPLICATION_CREDENTIALS, those of gcloud, the metadata server of GCE",
	.prepare = prepare,
	.read_list = listing_read_gcs,
	.refusal = refusal_gcs,
};
