/*
 * Any bytes as what a storage server, a metadata server or a file of credentials says: pages of
 * names, refusals, headers, keys, the words of a program.  What is listed has a name; an object
 * has a version and a size, a directory has neither.
 */
#include "http/download.h"
#include "http/keyring.h"
#include "http/listing.h"
#include "tests/fuzz/fuzz.h"

typedef bool read_list(
	struct str body, cJSON *ret, struct str *next, struct arena *keep, struct diag *err);

static void check_list(read_list *read, struct str text, struct arena *keep)
{
	struct diag err = { 0 };
	struct str next = { NULL, 0 };
	const cJSON *item;
	cJSON *objects = cJSON_CreateArray();
	if (!read(text, objects, &next, keep, &err))
		require(err.text[0] != 0);
	cJSON_ArrayForEach(item, objects)
	{
		require(json_get_str(item, "name").p);
		require(!json_get_str(item, "version").p || json_get_double(item, "bytes") >= 0);
	}
	cJSON_Delete(objects);
}

static void check_word(struct str word)
{
	for (ptrdiff_t i = 0; i < word.len; i++)
		require(word.p[i] > ' ' && word.p[i] <= '~');
}

/* Words hold no more than the line. */
static void check_words(struct str text, struct arena *keep)
{
	char **words;
	ptrdiff_t bytes = 0;
	if (!words_split(text, keep, &words))
		return;
	for (; *words; words++)
		bytes += str_from(*words).len;
	require(bytes <= text.len);
}

static void fuzz(struct str text, struct arena *keep)
{
	struct str name, value;
	struct checks checks = { .version_header = STR("etag") };
	check_list(listing_read_s3, text, keep);
	check_list(listing_read_gcs, text, keep);
	check_word(refusal_s3(text, keep));
	check_word(refusal_gcs(text, keep));
	check_word(refusal_region(text, keep));
	ini_get(text, STR("default"), STR("region"));
	check_words(text, keep);
	require(xml_text(text, STR("SessionToken"), keep).len <= text.len);
	moment_s(text);
	require(url_unescape(text, keep).len <= text.len);
	require(str_eq(url_unescape(url_escape(text, keep), keep), text));
	if (str_cut(text, ':', &name, &value))
		checks_take(&checks, name, value);
}
