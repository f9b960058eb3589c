/* Templates: what is filled in, what is left out, and what is refused with its place. */
#include <string.h>

#include "report/template.h"
#include "tests/unit/keep.h"

/* ---- a small world to fill pages with -------------------------------------------------------- */

struct pet {
	struct str name, toy;
	bool is_cat;
};

struct owner {
	struct str name, motto;
	struct template_list pets;
	struct template_picture photo;
	bool is_rich;
};

static const struct record_field pet_fields[] = {
	{ .name = "name", .type = RECORD_TEXT, .offset = offsetof(struct pet, name) },
	{ .name = "toy", .type = RECORD_TEXT, .offset = offsetof(struct pet, toy) },
	{ .name = "is_cat", .type = RECORD_FLAG, .offset = offsetof(struct pet, is_cat) },
	{ 0 },
};
static const struct record pet_record = { "a pet", NULL, sizeof(struct pet), pet_fields };

static const struct record_field owner_fields[] = {
	{ .name = "name", .type = RECORD_TEXT, .offset = offsetof(struct owner, name) },
	{ .name = "motto", .type = RECORD_TEXT, .offset = offsetof(struct owner, motto) },
	{ .name = "pets",
		.type = RECORD_LIST,
		.offset = offsetof(struct owner, pets),
		.record = &pet_record },
	{ .name = "photo", .type = RECORD_PICTURE, .offset = offsetof(struct owner, photo) },
	{ .name = "is_rich", .type = RECORD_FLAG, .offset = offsetof(struct owner, is_rich) },
	{ 0 },
};
static const struct record owner_record = { "the owner", NULL, sizeof(struct owner), owner_fields };

static void draw(const void *what, struct xhtml *x)
{
	xhtml_open(x, STR("svg"));
	xhtml_open(x, STR("path"));
	xhtml_attr(x, STR("d"), *(const struct str *)what);
	xhtml_close(x);
	xhtml_close(x);
}

static struct owner world(void)
{
	static struct pet pets[] = {
		{ STR_INIT("Tom"), STR_INIT("mouse"), true },
		{ STR_INIT("<Rex>"), { NULL, 0 }, false },
	};
	static const struct str path = STR_INIT("M0 0");
	return (struct owner){ STR("Ann & \"Bo\""), { NULL, 0 }, { pets, 2 }, { draw, &path },
		true };
}

static const char *fill(const char *source)
{
	struct diag err = { 0 };
	struct owner owner = world();
	const struct doc_template *t =
		template_parse(STR("t.xhtml"), str_from(source), &owner_record, &keep, &err);
	if (!t)
		fail_msg("%s", err.text);
	struct out *out = out_memory(&keep);
	struct xhtml x = xhtml_new(out, &keep);
	template_fill_page(t, &owner, &x);
	struct str text = out_text(out);
	assert_true(str_take(&text, STR("<!DOCTYPE html>\n")));
	return arena_z(&keep, text);
}

static const char *refuse(const char *source)
{
	struct diag *err = arena_make(&keep, struct diag, 1);
	assert_null(template_parse(STR("t.xhtml"), str_from(source), &owner_record, &keep, err));
	assert_int_equal(err->id, DIAG_TEMPLATE);
	return err->text;
}

static void assert_refused(const char *source, const char *words)
{
	const char *text = refuse(source);
	if (!strstr(text, words))
		fail_msg("'%s' is not in: %s", words, text);
}

/* ---- filling --------------------------------------------------------------------------------- */

static void test_slots_are_escaped(void **state)
{
	(void)state;
	assert_string_equal(fill("<p title=\"of {{name}}!\">by {{name}}</p>"),
		"<p title=\"of Ann &amp; &quot;Bo&quot;!\">by Ann &amp; &quot;Bo&quot;</p>");
}

static void test_each_and_scopes(void **state)
{
	(void)state;
	assert_string_equal(
		fill("<ul><li data-each=\"pets\">{{name}}<b data-if=\"is_rich\">!</b></li></ul>"),
		"<ul><li>Tom<b>!</b></li><li>&lt;Rex&gt;<b>!</b></li></ul>");
}

static void test_if_and_else(void **state)
{
	(void)state;
	assert_string_equal(fill("<p><a data-if=\"motto\">no</a><b data-else=\"motto\">none</b>"
				 "<i data-if=\"pets\">some</i><i data-else=\"pets\">no</i>"
				 "<template data-each=\"pets\"><u "
				 "data-if=\"is_cat\">{{name}}</u></template></p>"),
		"<p><b>none</b><i>some</i><u>Tom</u></p>");
}

/* An attribute that is one slot goes away with its value; a flag becomes a bare attribute. */
static void test_attributes_that_vanish(void **state)
{
	(void)state;
	assert_string_equal(fill("<p><i data-each=\"pets\" title=\"{{toy}}\" id=\"x{{toy}}\" "
				 "hidden=\"{{is_cat}}\"/></p>"),
		"<p><i title=\"mouse\" id=\"xmouse\" hidden=\"\"></i><i id=\"x\"></i></p>");
}

static void test_html_not_xml(void **state)
{
	(void)state;
	assert_string_equal(
		fill("<div xmlns=\"http://www.w3.org/1999/xhtml\"><br/><p/><!-- gone -->\n"
		     "  \n<template>a <b>b</b></template></div>"),
		"<div><br><p></p>\na <b>b</b></div>");
}

static void test_pictures(void **state)
{
	(void)state;
	assert_string_equal(
		fill("<p data-picture=\"photo\"/>"), "<p><svg><path d=\"M0 0\"/></svg></p>");
}

static void test_style_is_raw(void **state)
{
	(void)state;
	assert_string_equal(
		fill("<style>a > b { color: red }</style>"), "<style>a > b { color: red }</style>");
}

/* ---- refusing -------------------------------------------------------------------------------- */

static void test_place_and_hint(void **state)
{
	(void)state;
	assert_string_equal(refuse("<p>\n  <b>{{name}}</b> {{mame}}\n</p>"),
		"t.xhtml:2:21: no field 'mame' in the owner; did you mean 'name'?\n"
		"    <b>{{name}}</b> {{mame}}\n"
		"                      ^~~~");
	/* A name that is known elsewhere is still unknown here, and the place is the second. */
	const char *text = refuse("<p><i data-each=\"pets\">{{toy}}</i>\n{{toy}}</p>");
	assert_non_null(strstr(text, "t.xhtml:2:3: no field 'toy' in the owner"));
}

static void test_names_and_kinds(void **state)
{
	(void)state;
	assert_refused("<p>{{pets}}</p>", "'pets' is a list");
	assert_refused("<p>{{photo}}</p>", "'photo' is a picture");
	assert_refused("<p>{{is_rich}}</p>", "'is_rich' is yes or no");
	assert_refused("<p data-each=\"name\"/>", "'name' is no list");
	assert_refused("<p data-picture=\"name\"/>", "'name' is no picture");
	assert_refused("<p data-if=\"nope\"/>", "no field 'nope'");
	assert_refused("<p>{{name</p>", "has no '}}'");
	assert_refused("<p>{{}}</p>", "no field ''");
}

static void test_slots_where_nothing_can_be_safe(void **state)
{
	(void)state;
	assert_refused("<style>a{content:'{{name}}'}</style>", "no slot may stand in a stylesheet");
	assert_refused("<p><!-- {{name}} --></p>", "comment");
	assert_refused("<p onclick=\"f('{{name}}')\"/>", "'onclick'");
	assert_refused("<p style=\"color:{{name}}\"/>", "'style'");
	assert_refused("<meta http-equiv=\"x\" content=\"{{name}}\"/>", "<meta>");
	assert_refused("<p class={{name}}/>", "not well-formed");
}

#define POLICY "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'\"/>"

/* A script stands in a file, and a policy names its hash. */
static void test_scripts(void **state)
{
	(void)state;
	const char *one = "a script is <script data-include=\"file.js\">";
	assert_refused("<p><script>{{name}}</script></p>", one);
	assert_refused("<p><script>f()</script></p>", one);
	assert_refused("<script src=\"x.js\"></script>", "the page is one file");
	assert_refused("<script data-include=\"report.js\">f()</script>", one);
	assert_refused("<script data-include=\"report.js\" type=\"module\"></script>", one);
	assert_refused("<script data-include=\"../x.js\"></script>", "a file's name");
	assert_refused("<script data-include=\"no-such.js\"></script>", "there is no template");
	assert_refused("<script data-include=\"report.xhtml\"></script>", "neither '</' nor '<!'");
	const char *page = fill("<p>" POLICY "<script data-include=\"report.js\"></script></p>");
	assert_non_null(
		strstr(page, "content=\"default-src &#39;none&#39;; script-src &#39;sha256-"));
	page = fill("<p>" POLICY "</p>");
	assert_null(strstr(page, "script-src"));
}

static void test_addresses(void **state)
{
	(void)state;
	assert_refused("<a href=\"{{name}}\"/>", "an address with a slot");
	assert_refused("<a href=\"https://{{name}}/\"/>", "an address with a slot");
	assert_refused("<a href=\"https://a.b{{name}}/\"/>", "an address with a slot");
	assert_refused("<a href=\"javascript:f()\"/>", "a link leads to");
	assert_refused("<a href=\" JavaScript:f()\"/>", "a link leads to");
	assert_refused("<img src=\"https://a.b/c.png\"/>", "the page is one file");
	assert_refused("<link href=\"x.css\"/>", "the page is one file");
	assert_refused("<style>@import 'x'</style>", "@import");
	assert_refused("<style>a{background:url(x.png)}</style>", "'url('");
	assert_string_equal(fill("<a href=\"https://a.b/?q={{motto}}\">x</a>"),
		"<a href=\"https://a.b/?q=\">x</a>");
	assert_string_equal(fill("<a href=\"#r-{{motto}}\">x</a>"), "<a href=\"#r-\">x</a>");
}

static void test_documents(void **state)
{
	(void)state;
	assert_refused("", "not well-formed");
	assert_refused("<p>\n<b>\n</p>", "t.xhtml:3:");
	assert_refused("<!DOCTYPE html [<!ENTITY a 'b'>]><p>&a;</p>", "document type");
	assert_refused("<p>&nbsp;</p>", "t.xhtml:1:");
	assert_refused("<p><?php x ?></p>", "only elements");
	assert_refused("<p><x:b xmlns:x=\"y\"/></p>", "prefix");
	assert_refused("<p><template data-include=\"../x\"/></p>", "a file's name");
	assert_refused("<p><template data-include=\"no-such.xhtml\"/></p>", "there is no template");
	assert_refused("<p data-include=\"finding.xhtml\"/>", "data-include stands in");
}

/* As deep as it may be, and one more. */
static void test_depth(void **state)
{
	(void)state;
	struct out *o = out_memory(&keep);
	for (int i = 0; i < 150; i++)
		out_z(o, "<b>");
	for (int i = 0; i < 150; i++)
		out_z(o, "</b>");
	assert_refused(arena_z(&keep, out_text(o)), "elements within each other");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slots_are_escaped),
		cmocka_unit_test(test_each_and_scopes),
		cmocka_unit_test(test_if_and_else),
		cmocka_unit_test(test_attributes_that_vanish),
		cmocka_unit_test(test_html_not_xml),
		cmocka_unit_test(test_pictures),
		cmocka_unit_test(test_style_is_raw),
		cmocka_unit_test(test_place_and_hint),
		cmocka_unit_test(test_names_and_kinds),
		cmocka_unit_test(test_slots_where_nothing_can_be_safe),
		cmocka_unit_test(test_scripts),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_documents),
		cmocka_unit_test(test_depth),
	};
	return cmocka_run_group_tests_name("template", tests, keep_begin, keep_end);
}
