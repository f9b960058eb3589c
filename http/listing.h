/*
 * Answers of storage servers: pages of names, and the words of their refusals.
 *
 * The bytes come from whatever server answers, so nothing in them is trusted: a page that makes no
 * sense is an error, and only a refusal's code is ever repeated, never its text.
 */
#ifndef HTTP_LISTING_H
#define HTTP_LISTING_H

#include "base/json.h"

#define LISTING_MAX_PAGE 1000 /* names that are asked for at once; the most that both clouds give */

/*
 * Objects of one page, each {"name", "bytes", "version"}, and directories, which have a name alone,
 * behind those in the array `ret`.  *next is what asks for the page after it, and missing on the
 * last.
 */
bool listing_read_s3(
	struct str body, cJSON *ret, struct str *next, struct arena *keep, struct diag *err);
bool listing_read_gcs(
	struct str body, cJSON *ret, struct str *next, struct arena *keep, struct diag *err);

/* A quoted ETag without its quotes, so that a version reads the same everywhere. */
struct str etag_text(struct str s);

/* "NoSuchBucket", "AccessDenied": a word, or missing where there is none. */
struct str refusal_s3(struct str body, struct arena *keep);
struct str refusal_gcs(struct str body, struct arena *keep);
/* The region that a bucket is in, by a refusal of S3; or missing. */
struct str refusal_region(struct str body, struct arena *keep);

/* The text behind the first tag of this name; missing when there is none. */
struct str xml_text(struct str body, struct str name, struct arena *keep);

/* As in a URL: all but letters, digits and "-._~" as %XX. */
struct str url_escape(struct str s, struct arena *keep);
struct str url_unescape(struct str s, struct arena *keep);
/* A part of a query that is there when it has a value. */
void url_part(struct out *o, const char *before, struct str value, const char *after);

#endif
