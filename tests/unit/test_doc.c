/* base/doc: trees with places, what is refused and where the caret points. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/embed.h"
#include "tests/unit/keep.h"

static struct diag err;
static struct doc d;

static const struct doc_node *parse(const char *text)
{
	if (!doc_parse(STR("f.yaml"), str_from(text), &keep, &d, &err))
		fail_msg("%s", err.text);
	return d.root;
}

static void assert_at(const struct doc_node *n, int line, int column, int width)
{
	assert_non_null(n);
	assert_int_equal(n->line, line);
	assert_int_equal(n->column, column);
	assert_int_equal(n->width, width);
}

static void assert_text(const struct doc_node *n, const char *text)
{
	assert_non_null(n);
	assert_int_equal(n->kind, DOC_SCALAR);
	assert_true(str_eq(n->text, str_from(text)));
}

static void maps_and_lists(void **state)
{
	(void)state;
	const struct doc_node *root = parse("version: 1\n"
					    "rules:\n"
					    "  first:\n"
					    "    where: a > 1\n"
					    "  second: { limit: 5%, tags: [x, y] }\n"
					    "list:\n"
					    "- one\n"
					    "-  two: 2\n"
					    "   three:\n");
	assert_int_equal(root->kind, DOC_MAP);
	assert_int_equal(root->count, 3);
	assert_at(root, 1, 1, 7);
	assert_text(doc_get(root, STR("version")), "1");
	assert_at(doc_get(root, STR("version")), 1, 10, 1);
	const struct doc_node *rules = doc_get(root, STR("rules"));
	assert_at(rules, 3, 3, 5);
	assert_at(rules->pairs[1].key, 5, 3, 6);
	assert_at(rules->pairs[1].value, 5, 11, 1);
	assert_text(doc_get(rules->pairs[1].value, STR("limit")), "5%");
	const struct doc_node *tags = doc_get(rules->pairs[1].value, STR("tags"));
	assert_int_equal(tags->count, 2);
	assert_at(tags, 5, 30, 1);
	assert_at(tags->items[1], 5, 34, 1);
	const struct doc_node *list = doc_get(root, STR("list"));
	assert_at(list, 7, 1, 1);
	assert_at(list->items[0], 7, 3, 3);
	assert_at(list->items[1], 8, 4, 3);
	/* An empty value stands behind its key. */
	assert_text(doc_get(list->items[1], STR("three")), "");
	assert_at(doc_get(list->items[1], STR("three")), 9, 9, 1);
	assert_null(doc_get(root, STR("absent")));
	assert_null(doc_get(list, STR("one")));
	assert_null(doc_get(NULL, STR("one")));
}

static void scalars(void **state)
{
	(void)state;
	const struct doc_node *root =
		parse("a: 1\nb: '1'\nc: \"x\\ty\"\nd: |\n\n    one\n"
		      "      two\ne: >-\n  folded\n  line\nf: plain\n  goes on\n"
		      "g: ''\nh: 'it''s'\n");
	assert_false(doc_get(root, STR("a"))->quoted);
	assert_true(doc_get(root, STR("b"))->quoted);
	assert_text(doc_get(root, STR("b")), "1");
	assert_at(doc_get(root, STR("b")), 2, 4, 3);
	assert_text(doc_get(root, STR("c")), "x\ty");
	assert_at(doc_get(root, STR("c")), 3, 4, 6);
	const struct doc_node *literal = doc_get(root, STR("d"));
	assert_text(literal, "\none\n  two\n");
	assert_true(literal->block && literal->quoted);
	assert_at(literal, 6, 5, 3);
	assert_text(doc_get(root, STR("e")), "folded line");
	assert_at(doc_get(root, STR("e")), 9, 3, 6);
	assert_text(doc_get(root, STR("f")), "plain goes on");
	assert_at(doc_get(root, STR("f")), 11, 4, 5);
	assert_text(doc_get(root, STR("g")), "");
	assert_at(doc_get(root, STR("g")), 13, 4, 2);
	assert_text(doc_get(root, STR("h")), "it's");
	assert_false(doc_get(root, STR("c"))->block);
}

static void json_too(void **state)
{
	(void)state;
	const struct doc_node *root = parse("{\n\t\"name\": \"caf\\u00e9 \\ud83d\\ude00 \\/\",\n"
					    "\t\"list\": [1, -2.5e3, true, null, {}],\n"
					    "\t\"none\": []\n}\n");
	assert_text(doc_get(root, STR("name")), "caf\xc3\xa9 \xf0\x9f\x98\x80 /");
	assert_at(doc_get(root, STR("name")), 2, 10, 27);
	const struct doc_node *list = doc_get(root, STR("list"));
	assert_int_equal(list->count, 5);
	assert_text(list->items[3], "null");
	assert_int_equal(list->items[4]->kind, DOC_MAP);
	assert_int_equal(doc_get(root, STR("none"))->count, 0);
}

static void empty_documents(void **state)
{
	(void)state;
	assert_null(parse(""));
	assert_null(parse(" \n\n"));
	assert_null(parse("# nothing\n"));
	assert_null(parse("\xef\xbb\xbf"));
	assert_text(parse("word"), "word");
	assert_int_equal(parse("{}")->count, 0);
}

/* An empty text in SQL, in a quoted expression, is four quotes in a row. */
static void quotes_in_quotes(void **state)
{
	(void)state;
	const struct doc_node *root = parse("a: 'scope != '''''\nb: ''''''\nc: 'x''''y'''\n"
					    "d: 'one  \n   two\n\n\n   three'\ne: 'a  b'\n");
	assert_text(doc_get(root, STR("a")), "scope != ''");
	assert_text(doc_get(root, STR("b")), "''");
	assert_text(doc_get(root, STR("c")), "x''y'");
	assert_text(doc_get(root, STR("d")), "one two\n\nthree");
	assert_text(doc_get(root, STR("e")), "a  b");
}

/* Columns count bytes, and a byte order mark is three of them. */
static void beyond_ascii(void **state)
{
	(void)state;
	const struct doc_node *root = parse("\xef\xbb\xbfna\xc3\xafve: \xe2\x82\xac 5\r\nb: 2\r\n");
	assert_at(root->pairs[0].key, 1, 4, 6);
	assert_at(root->pairs[0].value, 1, 12, 5);
	assert_at(root->pairs[1].value, 2, 4, 1);
	assert_text(root->pairs[1].value, "2");
}

static void assert_error(const char *text, enum diag_id id, const char *want)
{
	struct str source = str_from(text);
	assert_false(doc_parse(STR("f.yaml"), source, &keep, &d, &err));
	assert_int_equal(d.root != NULL, d.repeat_count > 0);
	if (strncmp(err.text, want, strlen(want)))
		fail_msg("%s\n-- instead of --\n%s", err.text, want);
	assert_int_equal(err.id, id);
}

static void refused(void **state)
{
	const enum diag_id bad = DIAG_RULE_SYNTAX;
	(void)state;
	assert_error("a: &x 1\n", bad,
		"f.yaml:1:4: anchors (&name) are not read: write the value out\n"
		"  a: &x 1\n"
		"     ^~");
	assert_error("a: 1\nb: *x\n", bad,
		"f.yaml:2:4: aliases (*name) are not read: write the value out, or quote a text "
		"that begins with '*'\n"
		"  b: *x\n"
		"     ^~");
	assert_error("a: !!str 1\n", bad,
		"f.yaml:1:4: tags (!type) are not read: the key decides the type; quote a text "
		"that begins with '!'\n"
		"  a: !!str 1\n"
		"     ^~~~~");
	assert_error("<<: {a: 1}\n", bad,
		"f.yaml:1:1: merge keys are not read: write the keys out\n"
		"  <<: {a: 1}\n"
		"  ^~");
	assert_error("{[x]: 1}\n", bad,
		"f.yaml:1:2: a key must be a word, not a list or map\n"
		"  {[x]: 1}\n"
		"   ^");
	/* libfyaml 0.7 frees an indent twice at the second. */
	assert_error("a: 1\n- ? x\n", bad,
		"f.yaml:2:3: no line may begin with '? ': write keys as `key: value`\n"
		"  - ? x\n"
		"    ^");
	assert_error("? x:\t:", bad, "f.yaml:1:1: no line may begin with '? '");
	assert_error(": ? x:\t:", bad, "f.yaml:1:3: no line may begin with '? '");
	assert_error(": - ? x:\t:", bad, "f.yaml:1:5: no line may begin with '? '");
	assert_error(":[? x:\t: ? x:\t:", bad, "f.yaml:1:7: no tab may stand between two colons");
	assert_error("--- ?", bad, "f.yaml:1:5: no line may begin with '? '");
	assert_error("a: 1\n---\nb: 1\n", bad,
		"f.yaml:2:1: a second document begins here, and only one is read\n"
		"  ---\n"
		"  ^~~");
	assert_error("&a [x]\n", bad, "f.yaml:1:1: anchors");
	assert_error("!t {x: 1}\n", bad, "f.yaml:1:1: tags");
}

static void duplicate_keys(void **state)
{
	(void)state;
	assert_error("rule:\n  warn: 1\n  \"assert\": 2\n  why: 3\n  assert: 4\n", DIAG_RULE_SYNTAX,
		"f.yaml:5:3: the key 'assert' stands here a second time; the first is on line 3\n"
		"    assert: 4\n"
		"    ^~~~~~");
	/* The first of several is told. */
	assert_error("b: 1\na: 1\na: 2\nb: 2\n", DIAG_RULE_SYNTAX, "f.yaml:3:1: the key 'a'");
	assert_error("b: 1\na: 1\nb: 2\na: 2\n", DIAG_RULE_SYNTAX, "f.yaml:3:1: the key 'b'");
	parse("a: {x: 1}\nb: {x: 1}\nx: 1\n");
}

static void syntax_errors(void **state)
{
	const enum diag_id bad = DIAG_RULE_SYNTAX;
	(void)state;
	assert_error("a:\n\tb: 1\n", bad,
		"f.yaml:2:1: tab character may not be used as indentation; indent with spaces\n"
		"  \tb: 1\n"
		"  ^");
	assert_error("a: 1\n\tb: 1\n", bad, "f.yaml:2:1: tab character");
	assert_error("a: b: c\n", bad,
		"f.yaml:1:5: invalid nested block mapping on the same line; "
		"a value that holds ': ' must be quoted\n"
		"  a: b: c\n"
		"      ^");
	assert_error("a: 1\nb: [1, 2\n\n", bad,
		"f.yaml:2:4: flow sequence without a closing bracket\n"
		"  b: [1, 2\n"
		"     ^");
	assert_error("a: \"open\n", bad,
		"f.yaml:1:5: double-quoted scalar without closing quote\n"
		"  a: \"open\n"
		"      ^~~~");
	assert_error("a: 1\n  b: 2\n", bad, "f.yaml:1:4: invalid multiline plain key; ");
	assert_error("a: @x\n", bad, "f.yaml:1:4: plain scalar cannot start with '@'; quote");
	assert_error("a: 1\nb\nc: 2\n", bad, "f.yaml:2:1: could not find expected ':'");
	assert_error("a:\n  - x\n y: 2\n", bad, "f.yaml:3:2: invalid indentation in mapping; ");
	assert_error("\xc3\xa9: 1\n\xc3\xa9: \xc3\xa9: 2\n", bad, "f.yaml:2:7: invalid nested");
	assert_error("a: 1\n}\n", bad, "f.yaml:2:1: ");
	assert_error("- a\nb: 1\n", bad, "f.yaml:");
}

static void bad_characters(void **state)
{
	const enum diag_id bad = DIAG_RULE_SYNTAX;
	(void)state;
	assert_error("a: \xff\n", bad, "f.yaml:1:4: this byte is not UTF-8");
	assert_error("a: 1\nb: \xed\xa0\x80\n", bad, "f.yaml:2:4: this byte is not UTF-8");
	assert_error("a: \x01\n", bad, "f.yaml:1:4: the character U+0001 is not allowed");
	assert_error("a: \xe2\x80\xae\n", bad, "f.yaml:1:4: the character U+202E is not allowed");
	assert_error("a: \"x\\0y\"\n", bad, "f.yaml:1:4: the text holds a character");
	assert_error("a: \"\\u202e\"\n", bad, "f.yaml:1:4: the text holds a character");
	assert_false(doc_parse(STR("f"), STR("a: \0\n"), &keep, &d, &err));
	assert_non_null(strstr(err.text, "U+0000"));
}

static void too_deep(void **state)
{
	static char text[4096];
	(void)state;
	for (int depth = DOC_MAX_DEPTH; depth <= DOC_MAX_DEPTH + 1; depth++) {
		memset(text, '[', (size_t)depth);
		memset(text + depth, ']', (size_t)depth);
		text[2 * depth] = 0;
		assert_int_equal(doc_parse(STR("f.yaml"), str_from(text), &keep, &d, &err),
			depth == DOC_MAX_DEPTH);
	}
	assert_int_equal(err.id, DIAG_LIMIT);
	assert_int_equal(strncmp(err.text, "f.yaml:1:33: ", 13), 0);
}

/* Hostile texts of some length: an answer, soon, and no crash. */
static void large_texts(void **state)
{
	static char text[DOC_MAX_BYTES + 1];
	static const char *const patterns[] = { "[", "{", "- ", "a: ", "? ", "[a,", "{a: ", "x\n",
		"\t", "\"", "#", "!", "&a ", "a: 1\n", "- - \n", "|\n ", ": ", "\n", "%x\n", "'" };
	(void)state;
	assert_false(doc_parse(STR("f"), (struct str){ text, sizeof(text) }, &keep, &d, &err));
	assert_int_equal(err.id, DIAG_LIMIT);
	for (size_t p = 0; p < sizeof(patterns) / sizeof(patterns[0]); p++) {
		size_t len = strlen(patterns[p]);
		struct arena scratch = keep;
		for (size_t i = 0; i < 1 << 19; i++)
			text[i] = patterns[p][i % len];
		doc_parse(STR("f"), (struct str){ text, 1 << 19 }, &scratch, &d, &err);
	}
}

/* Every cut of a document parses or fails with a place; under ASan no byte beyond is read. */
static void every_truncation(void **state)
{
	static const char text[] = "a: {x: [1, \"two\\n\", 'th''ree']}\nb:\n  - |\n    lit\n  - >\n"
				   "    fold\n    ed\n? k\n: v # c\n\"d\": caf\xc3\xa9\n";
	(void)state;
	for (ptrdiff_t n = 0; n < (ptrdiff_t)sizeof(text); n++) {
		struct arena scratch = keep;
		char *cut = test_malloc((size_t)n + 1);
		memcpy(cut, text, (size_t)n);
		if (!doc_parse(STR("f"), (struct str){ cut, n }, &scratch, &d, &err))
			assert_int_equal(strncmp(err.text, "f:", 2), 0);
		test_free(cut);
	}
}

/* libfyaml likes to print; a library must not. */
static void nothing_on_stderr(void **state)
{
	int ends[2], saved = dup(STDERR_FILENO);
	char got;
	(void)state;
	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	doc_parse(STR("f"), STR("a: [\n"), &keep, &d, &err);
	doc_parse(STR("f"), STR("%FOO\n--- a\n"), &keep, &d, &err);
	doc_parse(STR("f"), STR("a: \"\\q\"\n"), &keep, &d, &err);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(ends[1]);
	assert_int_equal(read(ends[0], &got, 1), 0);
	close(ends[0]);
	close(saved);
}

/* The place of `part` of a value, as text of the source. */
static void assert_found(const char *key, const char *part, int line, int column)
{
	const struct doc_node *n = doc_get(d.root, str_from(key));
	ptrdiff_t offset = str_find(n->text, str_from(part));
	assert_true(offset >= 0);
	struct text_place place = doc_place_in(&d, n, offset, str_from(part).len);
	if (place.line != line || place.column != column)
		fail_msg("%s is at %d:%d", part, (int)place.line, (int)place.column);
	assert_int_equal(place.width, str_from(part).len);
}

static void places_in_a_scalar(void **state)
{
	(void)state;
	parse("p: a < bb and cc\n"
	      "q: \"x > yy\"\n"
	      "s: 'it''s zz'\n"
	      "e: \"tab\\t\\u00e9\\x41 ee \\\"ff\\\"\"\n"
	      "l: |\n"
	      "  select one\n"
	      "    from two\n"
	      "\n"
	      "  where three\n"
	      "f: >-\n"
	      "  one word\n"
	      "  two words\n"
	      "\n"
	      "  last\n"
	      "m: first line\n"
	      "   second line\n"
	      "j: \"joined \\\n"
	      "   here\"\n");
	assert_found("p", "bb", 1, 8);
	assert_found("p", "a", 1, 4);
	assert_found("q", "yy", 2, 9);
	assert_found("s", "zz", 3, 11);
	assert_found("e", "ee", 4, 21);
	assert_found("e", "ff", 4, 26);
	assert_found("l", "one", 6, 10);
	assert_found("l", "from", 7, 5);
	assert_found("l", "two", 7, 10);
	assert_found("l", "three", 9, 9);
	assert_found("f", "word", 11, 7);
	assert_found("f", "two", 12, 3);
	assert_found("f", "last", 14, 3);
	assert_found("m", "line", 15, 10);
	assert_found("m", "second", 16, 4);
	assert_found("j", "here", 18, 4);
}

static void places_out_of_reach(void **state)
{
	(void)state;
	const struct doc_node *root = parse("a: word\nb: [x]\n");
	const struct doc_node *word = doc_get(root, STR("a"));
	assert_int_equal(doc_place_in(&d, word, 99, 1).column, 4);
	assert_int_equal(doc_place_in(&d, word, -1, 1).column, 4);
	assert_int_equal(doc_place_in(&d, word, 4, 1).column, 8);
	assert_int_equal(doc_place_in(&d, word, 1, PTRDIFF_MAX).width, 3);
	assert_int_equal(doc_place_in(&d, doc_get(root, STR("b")), 0, 1).column, 4);
}

static void assert_same(const struct doc_node *a, const struct doc_node *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->quoted, b->quoted);
	assert_int_equal(a->block, b->block);
	assert_at(a, (int)b->line, (int)b->column, (int)b->width);
	assert_int_equal(a->count, b->count);
	assert_true(str_eq(a->text, b->text));
	for (ptrdiff_t i = 0; i < a->count; i++)
		if (a->kind == DOC_LIST) {
			assert_same(a->items[i], b->items[i]);
		} else {
			assert_same(a->pairs[i].key, b->pairs[i].key);
			assert_same(a->pairs[i].value, b->pairs[i].value);
		}
}

/* What the build parsed is what its text says. */
static void trees_of_the_build(void **state)
{
	(void)state;
	int rules = 0, chips = 0;
	for (ptrdiff_t i = 0; i < embedded_count; i++) {
		const struct embedded *e = &embedded_files[i];
		if (!e->tree.nodes)
			continue;
		struct str name = str_from(e->name);
		assert_true(doc_parse(name, e->text, &keep, &d, &err));
		const struct doc_node *packed = d.root;
		assert_true(doc_parse(name, arena_str(&keep, e->text), &keep, &d, &err));
		assert_same(packed, d.root);
		rules += str_starts(name, STR("rules/"));
		chips += str_starts(name, STR("hardware/"));
	}
	assert_true(rules >= 3 && chips >= 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maps_and_lists),
		cmocka_unit_test(scalars),
		cmocka_unit_test(json_too),
		cmocka_unit_test(empty_documents),
		cmocka_unit_test(quotes_in_quotes),
		cmocka_unit_test(beyond_ascii),
		cmocka_unit_test(refused),
		cmocka_unit_test(duplicate_keys),
		cmocka_unit_test(syntax_errors),
		cmocka_unit_test(bad_characters),
		cmocka_unit_test(too_deep),
		cmocka_unit_test(large_texts),
		cmocka_unit_test(every_truncation),
		cmocka_unit_test(nothing_on_stderr),
		cmocka_unit_test(places_in_a_scalar),
		cmocka_unit_test(places_out_of_reach),
		cmocka_unit_test(trees_of_the_build),
	};
	return cmocka_run_group_tests(tests, keep_begin, keep_end);
}
