/* base/diag: texts that stay valid, contexts, and carets under the right column. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"

static struct diag d;

static void setting(void **state)
{
	(void)state;
	assert_false(diag_set(&d, DIAG_WIRE, "%s %d", "at", 7));
	assert_int_equal(d.id, 201);
	assert_string_equal(d.text, "at 7");
	assert_false(diag_context(&d, "reading '%s'", "x.pb"));
	assert_string_equal(d.text, "reading 'x.pb': at 7");
	assert_false(diag_append(&d, "try %d", 8));
	assert_string_equal(d.text, "reading 'x.pb': at 7\ntry 8");
	assert_int_equal(d.id, 201);
	/* Its own text may be an argument. */
	diag_set(&d, DIAG_HLO, "again: %s", d.text);
	assert_string_equal(d.text, "again: reading 'x.pb': at 7\ntry 8");
	diag_set(&d, DIAG_HLO, "no final newline\n\n");
	assert_string_equal(d.text, "no final newline");
}

static void nowhere_to_put_it(void **state)
{
	(void)state;
	assert_false(diag_set(NULL, DIAG_WIRE, "x"));
	assert_false(diag_context(NULL, "x"));
	assert_false(diag_append(NULL, "x"));
	assert_false(diag_caret(NULL, DIAG_WIRE, (struct text_place){ .line = 1 }, "x"));
}

static void hostile_text(void **state)
{
	(void)state;
	diag_set(&d, DIAG_WIRE, "%s", "a\x1b[31mb\x07\xff\xc3\xa9\xe2\x80\xae!\tz");
	assert_string_equal(d.text, "a?[31mb??\xc3\xa9?!\tz");
}

/* Every cut of a text of two- and three-byte characters leaves whole ones. */
static void truncation(void **state)
{
	static char longest[3 * DIAG_BYTES];
	(void)state;
	for (int lead = 0; lead < 3; lead++) {
		size_t at = 0;
		for (; at < (size_t)lead; at++)
			longest[at] = 'x';
		for (; at + 3 < sizeof(longest) - 3; at += 3)
			memcpy(longest + at, "\xe2\x82\xac", 3);
		longest[at] = 0;
		diag_set(&d, DIAG_WIRE, "%s", longest);
		assert_null(strchr(d.text, '?'));
		assert_true(strlen(d.text) > DIAG_BYTES - 8 && strlen(d.text) < DIAG_BYTES);
		diag_context(&d, "%.*s", lead + 1, "yyy");
		assert_null(strchr(d.text, '?'));
		assert_int_equal(strncmp(d.text, &"yyy: "[2 - lead], (size_t)lead + 3), 0);
		diag_append(&d, "%s", longest);
		assert_null(strchr(d.text, '?'));
	}
}

static struct text_place place(const char *source, int64_t line, int64_t column, int64_t width)
{
	return (struct text_place){ STR("f.yaml"), str_from(source), line, column, width };
}

static void carets(void **state)
{
	const char *source = "one: 1\n\ttwo: x\xc3\xa9z bad\nlast";
	(void)state;
	diag_caret(&d, DIAG_RULE_SCHEMA, place(source, 1, 6, 1), "unknown %s", "thing");
	assert_int_equal(d.id, 302);
	assert_string_equal(d.text, "f.yaml:1:6: unknown thing\n  one: 1\n       ^");
	diag_caret(&d, DIAG_RULE_SCHEMA, place(source, 2, 12, 3), "m");
	assert_string_equal(d.text, "f.yaml:2:12: m\n  \ttwo: x\xc3\xa9z bad\n  \t         ^~~");
	/* Behind the end of a line, at the end of the text, too wide. */
	diag_caret(&d, DIAG_RULE_SCHEMA, place(source, 3, 5, 1), "m");
	assert_string_equal(d.text, "f.yaml:3:5: m\n  last\n      ^");
	diag_caret(&d, DIAG_RULE_SCHEMA, place(source, 3, 99, 5), "m");
	assert_string_equal(d.text, "f.yaml:3:99: m\n  last\n      ^");
	diag_caret(&d, DIAG_RULE_SCHEMA, place(source, 3, 3, INT64_MAX), "m");
	assert_string_equal(d.text, "f.yaml:3:3: m\n  last\n    ^~");
	diag_caret(&d, DIAG_RULE_SCHEMA, place(source, 3, 1, 0), "m");
	assert_string_equal(d.text, "f.yaml:3:1: m\n  last\n  ^");
}

static void carets_at_odd_places(void **state)
{
	(void)state;
	diag_caret(&d, DIAG_RULE_SCHEMA, place("a\n", 9, 1, 1), "m");
	assert_string_equal(d.text, "f.yaml:9:1: m");
	diag_caret(&d, DIAG_RULE_SCHEMA, place("a\r\nb\r\n", 1, 1, 9), "m");
	assert_string_equal(d.text, "f.yaml:1:1: m\n  a\n  ^");
	diag_caret(&d, DIAG_RULE_SCHEMA, place("", 1, 1, 1), "m");
	assert_string_equal(d.text, "f.yaml:1:1: m\n  \n  ^");
	diag_caret(&d, DIAG_RULE_SCHEMA, place("a\xff\x01z", 1, 4, 1), "m");
	assert_string_equal(d.text, "f.yaml:1:4: m\n  a??z\n     ^");
}

/* Offset of the caret in its line minus that of 'X' in the excerpt. */
static ptrdiff_t caret_error(void)
{
	struct str first, excerpt, under, rest;
	str_cut(str_from(d.text), '\n', &first, &rest);
	str_cut(rest, '\n', &excerpt, &under);
	assert_true(excerpt.len <= 2 + 100 + 6);
	return str_find_char(under, '^') - str_find_char(excerpt, 'X');
}

static void long_lines_are_windowed(void **state)
{
	static char line[5001];
	(void)state;
	for (int at = 0; at < 5000; at += 7) {
		memset(line, '-', 5000);
		line[at] = 'X';
		diag_caret(&d, DIAG_RULE_SCHEMA, place(line, 1, at + 1, 4000), "m");
		assert_int_equal(caret_error(), 0);
		assert_int_equal(strstr(d.text, "...") != NULL, 1);
	}
}

static void notes(void **state)
{
	static struct diag_list list;
	(void)state;
	struct arena a = arena_new(1 << 20);
	diag_note(&list, &a, DIAG_XPLANE, "same %d", 1);
	diag_note(&list, &a, DIAG_XPLANE, "same %d", 1);
	diag_note(&list, &a, DIAG_HLO, "same %d", 1);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.items[0].id, DIAG_XPLANE);
	assert_string_equal(list.items[0].text.p, "same 1");
	for (int i = 0; i < 100; i++)
		diag_note(&list, &a, DIAG_LIMIT, "note %d", i);
	assert_int_equal(list.count, 64);
	assert_int_equal(list.dropped, 38);
	arena_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(setting),
		cmocka_unit_test(nowhere_to_put_it),
		cmocka_unit_test(hostile_text),
		cmocka_unit_test(truncation),
		cmocka_unit_test(carets),
		cmocka_unit_test(carets_at_odd_places),
		cmocka_unit_test(long_lines_are_windowed),
		cmocka_unit_test(notes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
