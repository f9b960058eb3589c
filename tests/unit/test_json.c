/* base/json: numbers that survive, text that is the same everywhere, errors with a place. */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "tests/unit/keep.h"

static struct diag err;

static void written(void **state)
{
	(void)state;
	cJSON *o = cJSON_CreateObject();
	json_add_str(o, "name", STR("a\"b\\\n\x01\xc3\xa9"));
	json_add_str(o, "missing", (struct str){ NULL, 0 });
	json_add_double(o, "third", 1.0 / 3);
	json_add_double(o, "nan", NAN);
	json_add_double(o, "inf", -INFINITY);
	json_add_i64(o, "big", INT64_MIN);
	json_add_bool(o, "yes", true);
	cJSON *numbers = json_add_array(o, "numbers");
	cJSON_AddItemToArray(numbers, json_double(0.1));
	cJSON_AddItemToArray(numbers, json_double(NAN));
	cJSON *words = json_add_array(o, "words");
	cJSON_AddItemToArray(words, json_str(STR("x")));
	json_add_object(json_add_object(o, "deep"), "empty");
	json_add_array(o, "none");
	struct str text = json_text(o, &keep);
	cJSON_Delete(o);
	assert_true(str_eq(text, STR("{\n"
				     "  \"name\": \"a\\\"b\\\\\\n\\u0001\xc3\xa9\",\n"
				     "  \"missing\": null,\n"
				     "  \"third\": 0.3333333333333333,\n"
				     "  \"nan\": null,\n"
				     "  \"inf\": null,\n"
				     "  \"big\": -9223372036854775808,\n"
				     "  \"yes\": true,\n"
				     "  \"numbers\": [0.1, null],\n"
				     "  \"words\": [\n"
				     "    \"x\"\n"
				     "  ],\n"
				     "  \"deep\": {\n"
				     "    \"empty\": {}\n"
				     "  },\n"
				     "  \"none\": []\n"
				     "}\n")));
}

static void put_rows(struct json_stream *s, const cJSON *rows)
{
	const cJSON *row;
	json_open(s, rows->string, '[');
	cJSON_ArrayForEach(row, rows) json_item(s, NULL, row);
	json_close(s, ']');
}

/* One item after the other, the bytes are those of the tree. */
static void stream(void **state)
{
	struct out *o = out_memory(&keep);
	struct json_stream s = { .out = o };
	(void)state;
	cJSON *tree = json_parse(STR("x"),
		STR("{\"a\": 1, \"b\": {\"c\": [2, 3]}, \"none\": [], \"rows\": [{\"d\": \"e\"}, "
		    "{\"d\": null}]}"),
		&err);
	assert_non_null(tree);
	cJSON *none = cJSON_DetachItemFromObject(tree, "none");
	cJSON *rows = cJSON_DetachItemFromObject(tree, "rows");
	json_open(&s, NULL, '{');
	json_items(&s, tree);
	put_rows(&s, none);
	put_rows(&s, rows);
	json_close(&s, '}');
	cJSON_AddItemToObject(tree, "none", none);
	cJSON_AddItemToObject(tree, "rows", rows);
	assert_true(str_eq(out_text(o), json_text(tree, &keep)));
	cJSON_Delete(tree);
}

/* Writing, parsing and writing again changes no byte. */
static void round_trip(void **state)
{
	struct str source =
		STR("{\"a\": [1, 2.5, 1e300, 0.1, -0], \"b\": {\"c\": [\"\\u00e9\\t/\", "
		    "{}, [], true, null]}, \"d\": 12345678901234}");
	(void)state;
	cJSON *first = json_parse(STR("x"), source, &err);
	assert_non_null(first);
	struct str text = json_text(first, &keep);
	cJSON *second = json_parse(STR("x"), text, &err);
	assert_true(str_eq(json_text(second, &keep), text));
	assert_true(str_contains(text, STR("12345678901234")));
	assert_true(str_contains(text, STR("1e300")));
	cJSON_Delete(first);
	cJSON_Delete(second);
}

static void always_utf8(void **state)
{
	(void)state;
	cJSON *item = json_str(STR("a\xff\0b"));
	assert_string_equal(item->valuestring, "a\xef\xbf\xbd\xef\xbf\xbd"
					       "b");
	cJSON_Delete(item);
}

static void read_back(void **state)
{
	(void)state;
	cJSON *o =
		json_parse(STR("x"), STR("{\"s\": \"text\", \"n\": 2.5, \"z\": null}  \n"), &err);
	assert_non_null(o);
	assert_true(str_eq(json_get_str(o, "s"), STR("text")));
	assert_null(json_get_str(o, "z").p);
	assert_null(json_get_str(o, "n").p);
	assert_null(json_get_str(o, "S").p);
	assert_true(json_get_double(o, "n") == 2.5);
	assert_true(isnan(json_get_double(o, "z")));
	assert_true(isnan(json_get_double(o, "absent")));
	/* A tree of our own answers as a parsed one does. */
	json_add_double(o, "own", 0.1);
	assert_true(json_get_double(o, "own") == 0.1);
	cJSON_Delete(o);
}

static void assert_error(struct str text, const char *where)
{
	assert_null(json_parse(STR("f.json"), text, &err));
	if (strncmp(err.text, where, strlen(where)))
		fail_msg("%s", err.text);
}

static void syntax_errors(void **state)
{
	(void)state;
	assert_error(STR("{\n  \"a\": 1,\n  \"b\": nope\n}"), "f.json:3:8: ");
	assert_non_null(strstr(err.text, "\n    \"b\": nope\n         ^"));
	assert_error(STR("[1, 2"), "f.json:1:6: ");
	assert_non_null(strstr(err.text, "too early"));
	assert_error(STR("[1, x"), "f.json:1:5: ");
	assert_non_null(strstr(err.text, "from here"));
	assert_error(STR("[1] x"), "f.json:1:5: ");
	assert_error(STR("[1]\n\n {}"), "f.json:3:2: ");
	assert_error(STR("x"), "f.json:1:1: ");
	assert_error(STR(" \n "), "'f.json' is empty");
	assert_int_equal(err.id, DIAG_FILE_EMPTY);
	assert_error((struct str){ NULL, 0 }, "'f.json' is empty");
}

/* Bounded by cJSON; the stack must hold. */
static void too_deep(void **state)
{
	static char text[100000];
	(void)state;
	memset(text, '[', sizeof(text));
	assert_null(json_parse(STR("f.json"), (struct str){ text, sizeof(text) }, &err));
}

/* The text ends where its length says, not at a NUL that may not be there. */
static void slices(void **state)
{
	(void)state;
	cJSON *o = json_parse(STR("x"), str_head(STR("[12]3]"), 4), &err);
	assert_non_null(o);
	cJSON_Delete(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written),
		cmocka_unit_test(round_trip),
		cmocka_unit_test(always_utf8),
		cmocka_unit_test(read_back),
		cmocka_unit_test(stream),
		cmocka_unit_test(syntax_errors),
		cmocka_unit_test(too_deep),
		cmocka_unit_test(slices),
	};
	return cmocka_run_group_tests(tests, keep_begin, keep_end);
}
