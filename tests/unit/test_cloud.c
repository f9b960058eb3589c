/* rooflint-http and buckets: answers as they come, checksums. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/when.h"
#include "http/cloud.h"
#include "http/download.h"
#include "http/listing.h"
#include "tests/unit/keep.h"

static struct diag err;

#define assert_str(s, text) assert_string_equal(arena_z(&keep, (s)), (text))

/* ---- lists ----------------------------------------------------------------------------------- */

#define PAGE(inside)                                                                               \
	"<?xml version=\"1.0\"?>\n<ListBucketResult xmlns=\"http://s3\"><Prefix>a</Prefix>" inside \
	"</ListBucketResult>"
#define OBJECT(key, etag, size)                                                                    \
	"<Contents><Key>" key "</Key><ETag>" etag "</ETag><Size>" size "</Size></Contents>"

static const cJSON *list_s3(const char *text, struct str *next, cJSON **array)
{
	*array = cJSON_CreateArray();
	return listing_read_s3(str_from(text), *array, next, &keep, &err) ? *array : NULL;
}

static void test_list_s3(void **state)
{
	(void)state;
	cJSON *array;
	struct str next;
	assert_non_null(list_s3(
		PAGE("<IsTruncated>true</IsTruncated>"
		     "<NextContinuationToken>t&amp;1=</NextContinuationToken>" OBJECT(
			     "a/b%20%2B&amp;", "&quot;e1&quot;", "12")
				OBJECT("c", "\"e2-3\"", "0") "<EncodingType>url</EncodingType>"),
		&next, &array));
	assert_str(next, "t&1=");
	assert_int_equal(cJSON_GetArraySize(array), 2);
	assert_str(json_get_str(cJSON_GetArrayItem(array, 0), "name"), "a/b +&");
	assert_str(json_get_str(cJSON_GetArrayItem(array, 0), "version"), "e1");
	assert_true(json_get_double(cJSON_GetArrayItem(array, 0), "bytes") == 12);
	assert_str(json_get_str(cJSON_GetArrayItem(array, 1), "version"), "e2-3");
	cJSON_Delete(array);
	assert_non_null(list_s3(PAGE(OBJECT("a%20+b&lt;", "e", "1")), &next, &array));
	assert_str(json_get_str(cJSON_GetArrayItem(array, 0), "name"), "a%20+b<");
	cJSON_Delete(array);
	assert_non_null(list_s3(PAGE("<IsTruncated>false</IsTruncated>"), &next, &array));
	assert_null(next.p);
	assert_int_equal(cJSON_GetArraySize(array), 0);
	cJSON_Delete(array);
}

static void test_bad_lists(void **state)
{
	(void)state;
	static const char *const bad[] = { "", "<html><body>It works</body></html>",
		"<ListBucketResult><Contents><Key>a</Key>", PAGE("<Contents></Contents>"),
		PAGE(OBJECT("a", "e", "-1")), PAGE(OBJECT("a", "e", "x")),
		"<ListBucketResult>" OBJECT("a", "e", "1"),
		PAGE("<IsTruncated>true</IsTruncated>" OBJECT("a", "e", "1")),
		PAGE("<IsTruncated>true</IsTruncated><NextContinuationToken/>") };
	static const char *const bad_json[] = { "", "[]", "{\"items\":[1]}", "{\"items\":[{}]}",
		"{\"items\":[{\"name\":\"a\",\"generation\":\"1\",\"size\":\"-2\"}]}", "{\"items\"",
		"{\"items\":\"a\"}", "{\"nextPageToken\":7}" };
	struct str next;
	cJSON *array;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_null(list_s3(bad[i], &next, &array));
		cJSON_Delete(array);
	}
	for (size_t i = 0; i < sizeof(bad_json) / sizeof(bad_json[0]); i++) {
		array = cJSON_CreateArray();
		assert_false(listing_read_gcs(str_from(bad_json[i]), array, &next, &keep, &err));
		cJSON_Delete(array);
	}
}

static void test_list_gcs(void **state)
{
	(void)state;
	cJSON *array = cJSON_CreateArray();
	struct str next;
	assert_true(listing_read_gcs(
		STR("{\"nextPageToken\":\"t\",\"items\":[{\"name\":\"a/b\",\"size\":\"7\","
		    "\"generation\":\"1763658000123456\"}]}"),
		array, &next, &keep, &err));
	assert_str(next, "t");
	assert_str(json_get_str(cJSON_GetArrayItem(array, 0), "version"), "1763658000123456");
	cJSON_Delete(array);
	array = cJSON_CreateArray();
	assert_true(listing_read_gcs(STR("{\"kind\":\"x\"}"), array, &next, &keep, &err));
	assert_null(next.p);
	assert_int_equal(cJSON_GetArraySize(array), 0);
	cJSON_Delete(array);
}

static void test_refusals(void **state)
{
	(void)state;
	assert_str(refusal_s3(STR("<Error><Code>NoSuchKey</Code></Error>"), &keep), "NoSuchKey");
	assert_null(refusal_s3(STR("<Error><Code>a key: \"x\"</Code></Error>"), &keep).p);
	assert_null(refusal_s3(STR("<Error>"), &keep).p);
	assert_str(refusal_region(STR("<Region>eu-west-1</Region>"), &keep), "eu-west-1");
	assert_str(refusal_gcs(STR("{\"error\":{\"errors\":[{\"reason\":\"notFound\"}]}}"), &keep),
		"notFound");
	assert_str(refusal_gcs(STR("{\"error\":\"invalid_grant\"}"), &keep), "invalid_grant");
	assert_null(refusal_gcs(STR("<html>"), &keep).p);
}

static void test_escapes(void **state)
{
	(void)state;
	assert_str(url_escape(STR("a/b c+\xc3\xbc~"), &keep), "a%2Fb%20c%2B%C3%BC~");
	assert_str(url_unescape(STR("a%2fb+c%2B%zz%2"), &keep), "a/b c+%zz%2");
}

/* ---- addresses ------------------------------------------------------------------------------- */

static void assert_url(const struct cloud *cloud, bool is_list, const char *key, const char *url)
{
	static struct clouds all;
	struct request r = { .version = is_list ? str_from(NULL) : STR("7") };
	struct call c = { .clouds = &all, .cloud = cloud, .r = &r, .keep = &keep };
	all.keys = (struct keyring){ .keep = &keep };
	c.is_list = is_list;
	c.bucket = STR("runs");
	c.key = str_from(key);
	assert_true(cloud->prepare(&c, &err));
	curl_slist_free_all(c.x.headers);
	assert_string_equal(c.x.url, url);
}

static void test_urls(void **state)
{
	(void)state;
	setenv("AWS_ACCESS_KEY_ID", "id", 1);
	setenv("AWS_SECRET_ACCESS_KEY", "secret", 1);
	setenv("AWS_REGION", "eu-west-1", 1);
	unsetenv("ROOFLINT_S3_ENDPOINT");
	unsetenv("AWS_ENDPOINT_URL_S3");
	unsetenv("AWS_ENDPOINT_URL");
	assert_url(&cloud_s3, false, "a b/c", "https://runs.s3.eu-west-1.amazonaws.com/a%20b/c");
	assert_url(&cloud_s3, true, "a/",
		"https://runs.s3.eu-west-1.amazonaws.com/"
		"?encoding-type=url&list-type=2&max-keys=1000&prefix=a%2F");
	setenv("AWS_REGION", "cn-north-1", 1);
	assert_url(&cloud_s3, false, "c", "https://runs.s3.cn-north-1.amazonaws.com.cn/c");
	setenv("AWS_ENDPOINT_URL", "http://minio:9000/", 1);
	assert_url(&cloud_s3, false, "c", "http://minio:9000/runs/c");
	setenv("STORAGE_EMULATOR_HOST", "localhost:1", 1);
	assert_url(&cloud_gcs, false, "a b/c",
		"http://localhost:1/storage/v1/b/runs/o/a%20b%2Fc?alt=media&generation=7");
}

/* ---- files of keys --------------------------------------------------------------------------- */

static void test_ini(void **state)
{
	(void)state;
	static const struct str text = STR_INIT("key = outside\n# [a]\n[a]\n; key = 1\nkey= one "
						"\r\nnested =\n  key = no\n[ b ]\nkey=two");
	assert_str(ini_get(text, STR("a"), STR("key")), "one");
	assert_str(ini_get(text, STR("b"), STR("key")), "two");
	assert_str(ini_get(text, STR("a"), STR("nested")), "");
	assert_null(ini_get(text, STR("c"), STR("key")).p);
	assert_null(ini_get(STR(""), STR("c"), STR("key")).p);
	static const struct str quoted =
		STR_INIT("[profile \"my team\"]\nkey = 1\n[profile   'b']\nkey = 2\n"
			 "[profile \"]\nkey = 3\n[\"c\"]\nkey = 4\n");
	assert_str(ini_get(quoted, STR("profile my team"), STR("key")), "1");
	assert_str(ini_get(quoted, STR("profile b"), STR("key")), "2");
	assert_null(ini_get(quoted, STR("profile "), STR("key")).p);
	assert_null(ini_get(quoted, STR("c"), STR("key")).p);
	static const struct str tabs = STR_INIT("[profile\ta]\nKey\t=\t1\n[ profile \t\"b c\"\t]\n"
						"KEY = 2\n[profile\t]\nkey = 3\n");
	assert_str(ini_get(tabs, STR("profile a"), STR("key")), "1");
	assert_str(ini_get(tabs, STR("profile b c"), STR("key")), "2");
	assert_null(ini_get(tabs, STR("profile"), STR("other")).p);
	assert_true(ini_has(quoted, STR("profile b")));
	assert_false(ini_has(quoted, STR("profile c")));
}

/* In the config file the default profile has two spellings; the longer one counts. */
static void test_default_profile(void **state)
{
	(void)state;
	struct aws_profile p = { .credentials = STR("") };
	p.config = STR("[default]\nregion = a\n");
	aws_profile_name(&p, STR("default"), &keep);
	assert_str(aws_profile_get(&p, "region"), "a");
	p.config = STR("[profile default]\nregion = b\n[default]\nregion = a\n");
	aws_profile_name(&p, STR("default"), &keep);
	assert_str(aws_profile_get(&p, "region"), "b");
	aws_profile_name(&p, STR("team"), &keep);
	assert_null(aws_profile_get(&p, "region").p);
}

/* ---- bytes and checksums --------------------------------------------------------------------- */

/* hashlib.md5(b"123456789"); CRC-32C's check value is e3069283. */
#define DIGITS	   "123456789"
#define DIGITS_MD5 "25f9e794323b453885f5181f1b624d0b"
#define DIGITS_64  "JfnnlDI7RTiF9RgfG2JNCw=="
#define DIGITS_CRC "4waSgw=="

static bool arrives(const char *header, const char *value, int64_t expected)
{
	char path[] = "/tmp/rooflint-cloud-XXXXXX";
	struct checks checks = { .md5 = "" };
	struct download d;
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	checks_take(&checks, str_from(header), str_from(value));
	assert_true(download_begin(&d, str_from(path), expected, &checks, &err));
	assert_true(download_take(&d, STR("1234")));
	assert_int_equal(download_take(&d, STR("56789")), expected >= 9);
	bool ok = download_end(&d, &err);
	unlink(path);
	return ok;
}

static void test_download(void **state)
{
	(void)state;
	static const int64_t all = sizeof(DIGITS) - 1;
	assert_true(arrives("x", "y", all));
	assert_true(arrives("ETag", "\"" DIGITS_MD5 "\"", all));
	assert_true(arrives("x-goog-hash", "crc32c=" DIGITS_CRC ",md5=" DIGITS_64, all));
	assert_true(arrives("etag", "\"" DIGITS_MD5 "-3\"", all)); /* of parts: no MD5 */
	assert_false(arrives("x", "y", all + 1));
	assert_non_null(strstr(err.text, "only 9 of 10 bytes"));
	assert_false(arrives("x", "y", all - 1));
	assert_non_null(strstr(err.text, "more came than the 8 bytes that were listed"));
	assert_false(arrives("etag", "\"25f9e794323b453885f5181f1b624d0c\"", all));
	assert_non_null(strstr(err.text, "checksum"));
	assert_false(arrives("x-goog-hash", "crc32c=4waSgg==", all));
	assert_false(arrives("x-goog-hash", "md5=JfnnlDI7RTiF9RgfG2JNCx==", all));
}

static void test_encrypted(void **state)
{
	(void)state;
	struct checks c = { .md5 = "" };
	checks_take(&c, STR("x-amz-server-side-encryption"), STR("AES256"));
	checks_take(&c, STR("etag"), STR("\"" DIGITS_MD5 "\""));
	assert_string_equal(c.md5, DIGITS_MD5);
	checks_take(&c, STR("x-amz-server-side-encryption"), STR("aws:kms"));
	checks_take(&c, STR("etag"), STR("\"" DIGITS_MD5 "\""));
	assert_string_equal(c.md5, "-");
}

/* The version that came, as a list would tell it. */
static void test_versions(void **state)
{
	(void)state;
	struct checks c = { .version_header = STR("etag") };
	checks_take(&c, STR("ETag"), STR("\"a-2\""));
	assert_string_equal(c.version, "a-2");
	checks_take(&c, STR("x-goog-generation"), STR("17"));
	checks_take(&c, STR("etag"), STR("W/\"b\""));
	assert_string_equal(c.version, "a-2");
	c = (struct checks){ .version_header = STR("x-goog-generation") };
	checks_take(&c, STR("etag"), STR("CO"));
	assert_string_equal(c.version, "");
	checks_take(&c, STR("X-Goog-Generation"), STR("17"));
	assert_string_equal(c.version, "17");
}

/* ---- credentials ----------------------------------------------------------------------------- */

static void test_words(void **state)
{
	(void)state;
	static const struct {
		const char *line, *words; /* "|" behind each; NULL: a quote is open */
	} cases[] = {
		{ "", "" },
		{ " \t\n", "" },
		{ "a  bc\td ", "a|bc|d|" },
		{ "'a b' \"c d\"", "a b|c d|" },
		{ "a'b'\"c\"d", "abcd|" },
		{ "\"\" ''", "||" },
		{ "'a\\b' \"a\\b\\\"c\\\\\" a\\ b", "a\\b|a\\b\"c\\|a b|" },
		{ "$HOME `x` ;|", "$HOME|`x`|;||" },
		{ "'a", NULL },
		{ "a \"b\\\"", NULL },
		{ "a\\", NULL },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char **words;
		struct out *o = out_memory(&keep);
		bool closed = words_split(str_from(cases[i].line), &keep, &words);
		assert_int_equal(closed, cases[i].words != NULL);
		for (; closed && *words; words++)
			out_fmt(o, "%s|", *words);
		if (closed)
			assert_str(out_text(o), cases[i].words);
	}
}

static void nothing(void *arg)
{
	++*(int *)arg;
}

static bool ran(const char *line, double longest_s, struct str *ret, int *ticks)
{
	struct keyring k = { .keep = &keep, .alive = nothing, .alive_arg = ticks };
	return run_program(&k, str_from(line), longest_s, ret, &err);
}

static void test_run(void **state)
{
	(void)state;
	struct str text;
	int ticks = 0;
	assert_true(ran("sh -c 'echo \"$1\"; echo hidden >&2' sh 'a  b'", 20, &text, &ticks));
	assert_str(text, "a  b\n");
	assert_true(ticks > 0);
	assert_false(ran("sh -c 'exit 7'", 20, &text, &ticks));
	assert_string_equal(err.text, "ended with status 7; run it by hand to see what it says");
	double begun = now_s();
	assert_false(ran("sh -c 'sleep 60 & sleep 60'", 0.3, &text, &ticks));
	assert_string_equal(
		err.text, "did not end in time; run it by hand to see what it waits for");
	assert_false(ran("sh -c 'exec >&-; sleep 60'", 0.3, &text, &ticks));
	assert_string_equal(
		err.text, "did not end in time; run it by hand to see what it waits for");
	assert_false(ran("yes", 20, &text, &ticks));
	assert_string_equal(err.text, "printed more than any keys have");
	assert_true(now_s() - begun < 20);
	assert_false(ran("'a", 20, &text, &ticks));
	assert_false(ran(" ", 20, &text, &ticks));
}

static void test_moments(void **state)
{
	(void)state;
	assert_true(moment_s(STR("1970-01-02T00:00:00Z")) == 86400);
	assert_true(moment_s(STR("1970-01-01T00:00:01.5Z")) == 1.5);
	assert_true(moment_s(STR("1970-01-01T00:01:00+00:00")) == 60);
	assert_true(isnan(moment_s(STR("1970-01-01T00:01:00+02:00"))));
	assert_true(isnan(moment_s(STR("soon"))));
	assert_true(isnan(moment_s(str_from(NULL))));
	static const struct field fields[] = { { "a", STR_INIT("x/y z") }, { "b", { NULL, 0 } },
		{ "c", STR_INIT("") } };
	assert_str(form_of(fields, 3, &keep), "a=x%2Fy%20z&c=");
}

/* Keys last until a little before their end, and are refused behind it. */
static void test_accept(void **state)
{
	(void)state;
	struct keyring k = { .keep = &keep };
	const struct credential came = { .id = STR_INIT("id"), .secret = STR_INIT("secret") };
	struct credential keys = came;
	int64_t now = (int64_t)time(NULL) * 1000000000;
	assert_true(aws_accept(&k, STR(""), &keys, &err));
	assert_true(keys.until_s > now_s() + 800 && keys.until_s < now_s() + 1000);
	assert_str(keys.id, "id");
	assert_null(keys.token.p);
	keys = came;
	assert_true(aws_accept(&k, when_text(&keep, now + 300000000000), &keys, &err));
	assert_true(keys.until_s > now_s() + 200 && keys.until_s < now_s() + 241);
	keys = came;
	assert_false(aws_accept(&k, when_text(&keep, now - 1000000000), &keys, &err));
	assert_null(keys.id.p);
	keys = came;
	keys.secret = STR("");
	assert_false(aws_accept(&k, STR(""), &keys, &err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list_s3),
		cmocka_unit_test(test_bad_lists),
		cmocka_unit_test(test_list_gcs),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_urls),
		cmocka_unit_test(test_ini),
		cmocka_unit_test(test_default_profile),
		cmocka_unit_test(test_download),
		cmocka_unit_test(test_encrypted),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_run),
		cmocka_unit_test(test_moments),
		cmocka_unit_test(test_accept),
	};
	return cmocka_run_group_tests_name("cloud", tests, keep_begin, keep_end);
}
