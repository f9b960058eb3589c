/* What storage servers answer.  See listing.h. */
#include "http/listing.h"

#include <curl/curl.h>

enum { WORD_MAX = 64 };

/* ---- escapes of URLs ------------------------------------------------------------------------- */

struct str url_escape(struct str s, struct arena *keep)
{
	struct out *o = out_memory(keep);
	out_uri(o, s, false);
	return out_text(o);
}

struct str url_unescape(struct str s, struct arena *keep)
{
	static const char *const blank[] = { " " };
	struct out *o = out_memory(keep);
	int len = 0;
	out_replaced(o, s, "+", blank);
	char *plain = curl_easy_unescape(NULL, arena_z(keep, out_text(o)), (int)s.len, &len);
	struct str ret = arena_str(keep, (struct str){ plain, len });
	curl_free(plain);
	return ret;
}

void url_part(struct out *o, const char *before, struct str value, const char *after)
{
	if (!value.len)
		return;
	out_fmt(o, "%s", before);
	out_uri(o, value, false);
	out_fmt(o, "%s", after);
}

/* ---- S3's XML: tags and the text behind each, all that its answers use ----------------------- */

struct tag {
	struct str name, text;
	bool is_end;
};

static bool tag_next(struct str *rest, struct tag *ret)
{
	ptrdiff_t open = str_find_char(*rest, '<');
	struct str inside = str_from_offset(*rest, open + 1);
	ptrdiff_t close = open < 0 ? -1 : str_find_char(inside, '>');
	if (close < 0)
		return false;
	*rest = str_from_offset(inside, close + 1);
	inside = str_head(inside, close);
	ptrdiff_t until = str_find_char(*rest, '<');
	*ret = (struct tag){ .text = str_head(*rest, until < 0 ? rest->len : until) };
	ret->is_end = str_take(&inside, STR("/"));
	str_cut(inside, ' ', &ret->name, &inside);
	return true;
}

static struct str entities_decode(struct str s, struct arena *keep)
{
	static const struct {
		struct str entity;
		char c;
	} entities[] = { { STR_INIT("&amp;"), '&' }, { STR_INIT("&lt;"), '<' },
		{ STR_INIT("&gt;"), '>' }, { STR_INIT("&quot;"), '"' }, { STR_INIT("&#34;"), '"' },
		{ STR_INIT("&apos;"), '\'' }, { STR_INIT("&#39;"), '\'' } };
	if (str_find_char(s, '&') < 0)
		return arena_str(keep, s);
	struct out *o = out_memory(keep);
	while (s.len) {
		size_t i = 0, count = COUNT_OF(entities);
		while (i < count && !str_take(&s, entities[i].entity))
			i++;
		out_char(o, i < count ? entities[i].c : s.p[0]);
		s = i < count ? s : str_from_offset(s, 1);
	}
	return out_text(o);
}

struct str etag_text(struct str s)
{
	str_take(&s, STR("\""));
	return str_head(s, s.len - str_ends(s, STR("\"")));
}

/* ---- lists ----------------------------------------------------------------------------------- */

static bool no_list(struct diag *err)
{
	return diag_set(err, DIAG_BUCKET,
		"the server's answer is no list of objects, or was cut short; is the endpoint a "
		"storage server, and does nothing in between answer for it?");
}

/* A directory has no version. */
static void add_item(cJSON *to, struct str name, int64_t bytes, struct str version)
{
	cJSON *item = cJSON_CreateObject();
	json_add_str(item, "name", name);
	if (version.p) {
		json_add_double(item, "bytes", (double)bytes);
		json_add_str(item, "version", version);
	}
	cJSON_AddItemToArray(to, item);
}

struct s3_object {
	struct str name, bytes, version;
};

/* Names are escaped if the answer says so: not every server does as it is asked. */
static bool add_object(
	cJSON *to, struct s3_object o, bool is_escaped, struct arena *keep, struct diag *err)
{
	int64_t bytes;
	if (!o.name.p || !str_to_i64(o.bytes, &bytes) || bytes < 0 || !o.version.p)
		return diag_set(err, DIAG_BUCKET,
			"the server's list has an object without Key, Size or ETag");
	add_item(to, is_escaped ? url_unescape(o.name, keep) : o.name, bytes,
		etag_text(entities_decode(o.version, keep)));
	return true;
}

bool listing_read_s3(
	struct str body, cJSON *ret, struct str *next, struct arena *keep, struct diag *err)
{
	struct s3_object o = { { NULL, 0 }, { NULL, 0 }, { NULL, 0 } };
	struct tag tag;
	bool in_object = false, in_dir = false, is_list = false, is_whole = false, goes_on = false;
	bool is_escaped = str_eq(xml_text(body, STR("EncodingType"), keep), STR("url"));
	*next = MISSING;
	while (tag_next(&body, &tag)) {
		bool is_object = str_eq(tag.name, STR("Contents"));
		is_list |= str_eq(tag.name, STR("ListBucketResult"));
		is_whole |= tag.is_end && str_eq(tag.name, STR("ListBucketResult"));
		if (is_object && tag.is_end && !add_object(ret, o, is_escaped, keep, err))
			return false;
		if (is_object)
			o = (struct s3_object){ { NULL, 0 }, { NULL, 0 }, { NULL, 0 } };
		in_object = is_object ? !tag.is_end : in_object;
		if (str_eq(tag.name, STR("CommonPrefixes")))
			in_dir = !tag.is_end;
		if (tag.is_end)
			continue;
		if (in_dir && str_eq(tag.name, STR("Prefix"))) {
			struct str dir = entities_decode(tag.text, keep);
			add_item(ret, is_escaped ? url_unescape(dir, keep) : dir, 0, MISSING);
		} else if (in_object && str_eq(tag.name, STR("Key")))
			o.name = entities_decode(tag.text, keep);
		else if (in_object && str_eq(tag.name, STR("Size")))
			o.bytes = tag.text;
		else if (in_object && str_eq(tag.name, STR("ETag")))
			o.version = tag.text;
		else if (str_eq(tag.name, STR("NextContinuationToken")))
			*next = entities_decode(tag.text, keep);
		else if (str_eq(tag.name, STR("IsTruncated")))
			goes_on = str_eq(tag.text, STR("true"));
	}
	if (!is_list || !is_whole)
		return no_list(err);
	/* With half a list, the newest runs might be missing, and an older one would be judged. */
	return !goes_on || next->len ||
	       diag_set(err, DIAG_BUCKET,
		       "the server's list goes on, but it does not say how; it has to know "
		       "ListObjectsV2");
}

/* ---- Google's JSON --------------------------------------------------------------------------- */

/* Numbers of 64 bits are texts there. */
static bool add_generation(cJSON *to, const cJSON *from, struct diag *err)
{
	struct str name = json_get_str(from, "name"), version = json_get_str(from, "generation");
	int64_t bytes;
	if (!name.p || !version.p || !str_to_i64(json_get_str(from, "size"), &bytes) || bytes < 0)
		return diag_set(err, DIAG_BUCKET,
			"the server's list has an object without name, size or generation");
	add_item(to, name, bytes, version);
	return true;
}

bool listing_read_gcs(
	struct str body, cJSON *ret, struct str *next, struct arena *keep, struct diag *err)
{
	cJSON *page = json_parse(STR("list"), body, err);
	const cJSON *items = cJSON_GetObjectItemCaseSensitive(page, "items"), *item;
	const cJSON *dirs = cJSON_GetObjectItemCaseSensitive(page, "prefixes");
	const cJSON *more = cJSON_GetObjectItemCaseSensitive(page, "nextPageToken");
	*next = MISSING;
	/* One without objects has no items. */
	bool ok = (cJSON_IsObject(page) && (!items || cJSON_IsArray(items)) &&
			  (!more || cJSON_IsString(more))) ||
		  no_list(err);
	cJSON_ArrayForEach(item, items)
	{
		ok = ok && add_generation(ret, item, err);
	}
	cJSON_ArrayForEach(item, dirs)
	{
		add_item(ret, str_from(item->valuestring), 0, MISSING);
	}
	struct str token = json_get_str(page, "nextPageToken");
	if (token.len)
		*next = arena_str(keep, token);
	cJSON_Delete(page);
	return ok;
}

/* ---- refusals -------------------------------------------------------------------------------- */

/* A text of letters, digits and -._~, or nothing. */
static struct str word_only(struct str s, struct arena *keep)
{
	bool ok = s.len > 0 && s.len <= WORD_MAX && str_eq(url_escape(s, keep), s);
	return ok ? arena_str(keep, s) : MISSING;
}

struct str xml_text(struct str body, struct str name, struct arena *keep)
{
	struct tag tag;
	while (tag_next(&body, &tag))
		if (!tag.is_end && str_eq(tag.name, name))
			return entities_decode(tag.text, keep);
	return MISSING;
}

struct str refusal_s3(struct str body, struct arena *keep)
{
	return word_only(xml_text(body, STR("Code"), keep), keep);
}

struct str refusal_region(struct str body, struct arena *keep)
{
	return word_only(xml_text(body, STR("Region"), keep), keep);
}

struct str refusal_gcs(struct str body, struct arena *keep)
{
	struct diag ignored;
	cJSON *root = json_parse(STR("refusal"), body, &ignored);
	const cJSON *error = cJSON_GetObjectItemCaseSensitive(root, "error");
	const cJSON *first =
		cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(error, "errors"), 0);
	struct str word = json_get_str(first, "reason");
	if (!word.p) /* of the service of impersonation; of a token server */
		word = cJSON_IsString(error) ? str_from(error->valuestring)
					     : json_get_str(error, "status");
	word = word_only(word, keep);
	cJSON_Delete(root);
	return word;
}
