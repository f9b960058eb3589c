/* Messages: what is news, text that stays text, limits that hold, templates that are checked. */
#include "base/input.h"
#include "report/chat.h"
#include "report/message.h"
#include "report/transition.h"
#include "tests/unit/test_report_fixture.h"
#include "tests/unit/keep.h"

static struct diag err;

static struct report_set set_of(struct report *r)
{
	return (struct report_set){ r, 1, STR("0.1.0") };
}

static struct str write_news(enum notice_kind kind, const struct transitions *news)
{
	struct str text = NONE;
	struct message_source source = report_message(news);
	struct doc_template *t = message_load(kind, NONE, &keep, &err);
	if (!t)
		fail_msg("%s", err.text);
	if (!message_write(
		    kind, t, &source, STR("https://ci.example/a_b?x=1&y=2"), &keep, &text, &err))
		fail_msg("%s", err.text);
	return text;
}

static struct str message(enum notice_kind kind, struct report *r)
{
	struct report_set set = set_of(r);
	struct transitions news = transitions_of(&set, NULL, &keep);
	return write_news(kind, &news);
}

static void assert_has(struct str text, const char *part)
{
	if (!str_contains(text, str_from(part)))
		fail_msg("no '%s' in:\n%.*s", part, STR_ARG(text));
}

static void assert_lacks(struct str text, const char *part)
{
	if (str_contains(text, str_from(part)))
		fail_msg("'%s' in:\n%.*s", part, STR_ARG(text));
}

/* ---- what is news ---------------------------------------------------------------------------- */

/* A report with one rule in that verdict, and a finding where it failed. */
static struct report one_rule(const char *profile, const char *verdict)
{
	struct report r = { .profile = str_from(profile),
		.verdict = verdict_by_name(str_from(verdict)) };
	r.results.items = arena_make(&keep, struct rule_result, 1);
	r.results.count = 1;
	r.results.items[0] = (struct rule_result){ .name = STR("copy-share"),
		.verdict = verdict_by_name(str_from(verdict)),
		.reason = STR("no steps"),
		.gate = true };
	if (strcmp(verdict, "fail") != 0)
		return r;
	r.findings.items = arena_make(&keep, struct finding, 1);
	r.findings.count = 1;
	r.findings.items[0] = (struct finding){ .rule = STR("copy-share"),
		.verdict = VERDICT_FAIL,
		.message = STR("too many copies"),
		.gain_s = 0.001,
		.source_line = NAN };
	return r;
}

static struct transitions compare(struct report *before, struct report *now)
{
	struct report_set a = set_of(before), *b = arena_make(&keep, struct report_set, 1);
	struct report *copy = arena_make(&keep, struct report, 1);
	*copy = *now;
	*b = set_of(copy);
	return transitions_of(b, before ? &a : NULL, &keep);
}

static void test_changes(void **state)
{
	(void)state;
	enum { O = -1 };
	static const struct {
		const char *before, *now; /* NULL: none */
		int expected;		  /* enum transition_kind, or none */
		bool change, failure;
	} cases[] = {
		{ NULL, "fail", TRANSITION_NEW, true, true },
		{ NULL, "pass", O, false, false },
		{ NULL, "inconclusive", TRANSITION_LOST, true, true },
		{ "pass", "fail", TRANSITION_NEW, true, true },
		{ "warn", "fail", TRANSITION_NEW, true, true },
		{ "fail", "fail", TRANSITION_STILL, false, true },
		{ "fail", "pass", TRANSITION_FIXED, true, false },
		{ "fail", "waived", TRANSITION_FIXED, true, false },
		{ "fail", "not-applicable", TRANSITION_FIXED, true, false },
		{ "fail", "inconclusive", TRANSITION_LOST, true, true },
		{ "fail", "error", TRANSITION_NEW, true, true },
		{ "pass", "pass", O, false, false },
		{ "error", "error", TRANSITION_STILL, false, true },
		{ "error", "pass", TRANSITION_FIXED, true, false },
		{ "inconclusive", "inconclusive", O, false, false },
		{ "inconclusive", "pass", O, false, false },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct report pair[2];
		const char *verdicts[2] = { cases[i].before, cases[i].now };
		for (int k = 0; k < 2; k++) {
			pair[k] = one_rule("runs/a", verdicts[k] ? verdicts[k] : "pass");
			if (pair[k].verdict == VERDICT_ERROR)
				pair[k].error.text = STR("cut off");
		}
		struct report_set before = set_of(&pair[0]), now = set_of(&pair[1]);
		struct transitions n =
			transitions_of(&now, cases[i].before ? &before : NULL, &keep);
		for (int kind = 0; kind < TRANSITION_WARNS; kind++)
			if (kind == cases[i].expected && !n.kinds[kind])
				fail_msg("case %d: no item of kind %d", (int)i, kind);
		if (cases[i].expected == O)
			assert_int_equal(n.kinds[TRANSITION_NEW] + n.kinds[TRANSITION_FIXED] +
						 n.kinds[TRANSITION_LOST] +
						 n.kinds[TRANSITION_STILL],
				0);
		if (transitions_are_due(&n, NOTICE_CHANGE) != cases[i].change ||
			transitions_are_due(&n, NOTICE_FAILURE) != cases[i].failure)
			fail_msg("case %d: due", (int)i);
		assert_true(transitions_are_due(&n, NOTICE_ALWAYS));
	}
}

/* Another run of the same workload; a workload that is not there any more. */
static void test_workloads(void **state)
{
	(void)state;
	struct report before = one_rule("runs/a/plugins/profile/2026_01_01_00_00_00", "fail");
	struct report now = one_rule("runs/a/plugins/profile/2026_01_02_00_00_00", "fail");
	assert_int_equal(compare(&before, &now).kinds[TRANSITION_STILL], 1);
	now = one_rule("other/name", "pass"); /* one report beside one */
	assert_int_equal(compare(&before, &now).kinds[TRANSITION_FIXED], 1);

	struct report two[2] = { one_rule("runs/b", "pass"), one_rule("runs/c", "pass") };
	struct report_set earlier = set_of(&before), later = { two, 2, STR("0.1.0") };
	struct transitions n = transitions_of(&later, &earlier, &keep);
	assert_int_equal(n.kinds[TRANSITION_LOST], 1);
	assert_has(n.items[0].reason, "no such profile this time");
	assert_true(transitions_are_due(&n, NOTICE_CHANGE));
}

/* ---- what they say --------------------------------------------------------------------------- */

static void test_demo(void **state)
{
	(void)state;
	struct report r = demo_report(&keep);
	struct str text = message(NOTICE_SLACK, &r);
	assert_has(
		text, "\"text\":\"\xe2\x9d\x8c FAIL rooflint: runs/nightly: 1 new failure, 1 warn");
	assert_has(text, "28.1 ms per step on TPU v5e x8; all fixes together give back up to 18.6");
	assert_has(text,
		"*New failure: oversized-all-gather*\\nall-gather.17 stands in the way for "
		"12.3 ms of every step, and gathers the same array 4 times; costs up to "
		"12.3 ms of 28.1 ms per step (43.8%); and 1 more (model/ffn.py:41)");
	assert_has(text, "<https://ci.example/a_b?x=1&amp;y=2|Open the report>");
	assert_lacks(text, "data-");
	text = message(NOTICE_WEBHOOK, &r);
	assert_has(text, "\"counts\":{\"new\":1,\"lost\":0,\"fixed\":0,\"still\":0,\"warning\":1}");
	assert_has(text, "\"gain_s\":0.0123,\"subjects\":2,\"place\":\"model/ffn.py:41\"");
	assert_has(text, "\"report_url\":\"https://ci.example/a_b?x=1&y=2\"");
	assert_lacks(text, "left_out");
	text = message(NOTICE_DISCORD, &r);
	assert_has(text, "\"allowed_mentions\":{\"parse\":[]}");
	assert_has(text, "\"url\":\"https://ci.example/a_b?x=1&y=2\"");
	assert_has(text, "on TPU v5e x8");
	assert_has(message(NOTICE_TEAMS, &r),
		"\"type\":\"TextRun\",\"text\":\"oversized-all-gather costs 65.2% ");
}

/* Nothing to show is no reason for an empty list, which services refuse. */
static void test_good(void **state)
{
	(void)state;
	struct report r = good_report(&keep);
	for (int kind = 0; kind < NOTICE_KINDS; kind++) {
		struct str text = message((enum notice_kind)kind, &r);
		assert_has(text, "PASS rooflint: runs/good");
		assert_lacks(text, "\"items\":[]");
		assert_lacks(text, "\"fields\":[]");
	}
}

#define MARKUP "</script><img src=x onerror=alert(1)> @everyone <!channel> [a](b) *c*"

static struct report many_findings(const char *message_text, int count)
{
	struct report r = one_rule("runs/a", "fail");
	r.findings.items = arena_make(&keep, struct finding, count);
	r.results.items = arena_make(&keep, struct rule_result, count);
	r.findings.count = r.results.count = count;
	for (int i = 0; i < count; i++) {
		r.results.items[i] = (struct rule_result){ .name = arena_fmt(&keep, "rule-%d", i),
			.verdict = VERDICT_FAIL };
		r.findings.items[i] = (struct finding){ .rule = r.results.items[i].name,
			.verdict = VERDICT_FAIL,
			.message = str_from(message_text),
			.gain_s = 0.001,
			.source_file = str_from(message_text),
			.source_line = 3 };
	}
	return r;
}

static void test_markup(void **state)
{
	(void)state;
	struct report r = many_findings(MARKUP, 1);
	static const enum notice_kind entity_kinds[] = { NOTICE_SLACK, NOTICE_GOOGLE_CHAT };
	for (int i = 0; i < 2; i++) {
		struct str text = message(entity_kinds[i], &r);
		assert_has(text, "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt; @everyone "
				 "&lt;!channel&gt;");
		assert_lacks(text, "<img");
		assert_lacks(text, "<!channel");
	}
	static const enum notice_kind markdown_kinds[] = { NOTICE_DISCORD, NOTICE_MATTERMOST };
	for (int i = 0; i < 2; i++) {
		struct str text = message(markdown_kinds[i], &r);
		assert_has(text,
			"\\\\</script\\\\>\\\\<img src=x onerror=alert(1)\\\\> @\xe2\x80\x8b"
			"everyone \\\\<!\xe2\x80\x8b"
			"channel");
		assert_lacks(text, "@everyone");
	}
	assert_has(message(NOTICE_TEAMS, &r), "\"type\":\"TextRun\",\"text\":\"" MARKUP);
	assert_has(message(NOTICE_WEBHOOK, &r), "\"message\":\"" MARKUP "\"");
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* Discord's manual, apart from the table in chat.c. */
static void assert_discord(const cJSON *root)
{
	const cJSON *embed = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "embeds"), 0), *field;
	ptrdiff_t sum = json_get_str(embed, "title").len + json_get_str(embed, "description").len;
	assert_true(json_get_str(embed, "title").len <= 256);
	cJSON_ArrayForEach(field, cJSON_GetObjectItem(embed, "fields"))
	{
		struct str name = json_get_str(field, "name"), value = json_get_str(field, "value");
		assert_true(name.len > 0 && name.len <= 256 && value.len > 0 && value.len <= 1024);
		sum += name.len + value.len;
	}
	assert_true(sum <= 6000);
}

static void assert_kept(enum notice_kind kind, struct report *r, bool is_cut)
{
	struct str text = message(kind, r);
	cJSON *root = json_parse(STR("message"), text, &err);
	assert_non_null(root);
	assert_null(chat_too_long(&chats[kind], root, text));
	assert_has(text, "rule-0");
	if (is_cut)
		assert_has(text, "more are left out here; the report has all.");
	if (kind == NOTICE_DISCORD)
		assert_discord(root);
	if (kind == NOTICE_SLACK)
		assert_true(text.len <= 13000 &&
			    cJSON_GetArraySize(cJSON_GetObjectItem(root, "blocks")) <= 50);
	if (kind == NOTICE_TEAMS)
		assert_true(text.len <= 28 << 10);
	cJSON_Delete(root);
}

static void test_limits(void **state)
{
	(void)state;
	static char longest[5000];
	static const char *const fills[] = { "a", "@e", "<", "\"", "\xf0\x9f\x94\xa5", "a " };
	static const int counts[] = { 1, 4, 150 };
	for (size_t f = 0; f < sizeof(fills) / sizeof(fills[0]); f++) {
		longest[0] = 0;
		for (size_t len = 0; len + 8 < sizeof(longest); len += strlen(fills[f]))
			strcpy(longest + len, fills[f]); /* style: a buffer of our own */
		for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
			struct report r = many_findings(longest, counts[i]);
			if (counts[i] != 1)
				r.profile = str_from(longest);
			for (int kind = 0; kind < NOTICE_KINDS; kind++)
				assert_kept((enum notice_kind)kind, &r, counts[i] > 100);
		}
	}
}

/* The measure itself: one byte more is too long. */
static void test_measure(void **state)
{
	(void)state;
	struct out *o = out_memory(&keep);
	const struct chat *discord = &chats[NOTICE_DISCORD];
	for (int bytes = 255; bytes <= 257; bytes++) {
		o = out_memory(&keep);
		out_z(o, "{\"embeds\":[{\"title\":\"");
		out_repeat(o, 'a', bytes);
		out_z(o, "\"}]}");
		cJSON *root = json_parse(STR("t"), out_text(o), &err);
		const char *why = chat_too_long(discord, root, out_text(o));
		assert_int_equal(why != NULL, bytes > 256);
		cJSON_Delete(root);
	}
}

/* ---- templates ------------------------------------------------------------------------------- */

static struct doc_template *parse(const char *text)
{
	return template_parse(STR("t.json"), str_from(text), &message_record, &keep, &err);
}

static void assert_refused(const char *text, const char *part)
{
	assert_null(parse(text));
	assert_int_equal(err.id, DIAG_TEMPLATE);
	if (!strstr(err.text, part))
		fail_msg("no '%s' in: %s", part, err.text);
}

static void test_bad_templates(void **state)
{
	(void)state;
	assert_refused("{\n  \"text\": \"{{titel}}\"\n}", "t.json:2:14: no field 'titel' in the "
							  "message; did you mean 'title'?");
	assert_refused("{\"a\": \"{{title\"}", "'{{' has no '}}' behind it");
	assert_refused("{\"a\": [{\"data-each\": \"title\"}]}", "'title' is no list");
	assert_refused("{\"a\": {\"data-each\": \"items\"}}", "put [ ] around it");
	assert_refused("{\"a\": \"{{items}}\"}", "is a list");
	assert_refused("{\"a\": \"{{rule}}\"}", "no field 'rule' in the message");
	assert_refused("{\"data-when\": \"title\"}", "unknown 'data-when'");
	assert_refused("{\"data-if\": 3}", "data-if takes the name of a field");
	assert_refused("{\"{{title}}\": 3}", "no slot may stand in a key");
	assert_refused("[]", "a message is an object");
	assert_refused("{\"a\": }", "t.json:1:7: not valid JSON");
}

static struct str filled(const char *text, const struct message *m)
{
	struct doc_template *t = parse(text);
	if (!t)
		fail_msg("%s", err.text);
	cJSON *root = template_fill_json(t, m, chats[NOTICE_WEBHOOK].escapes, &keep);
	struct str line = json_compact(root, &keep);
	cJSON_Delete(root);
	return line;
}

static void test_filling(void **state)
{
	(void)state;
	static const struct message_item items[] = {
		{ .rule = STR_INIT("a"), .gain_s = 0.5 },
		{ .rule = STR_INIT("b\""), .cost = STR_INIT("1 ms"), .gain_s = NAN },
	};
	struct message m = { .title = STR("T"), .items = { items, 2 }, .profiles = 3 };
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "{\"a\":\"{{title}}!\",\"b\":[1.5,true,null,\"x\"]}",
			"{\"a\":\"T!\",\"b\":[1.5,true,null,\"x\"]}" },
		{ "{\"n\":\"{{profiles}}\",\"s\":\"{{profiles}} of\",\"w\":\"{{word}}\"}",
			"{\"n\":3,\"s\":\"3 of\"}" },
		{ "{\"a\":{\"data-if\":\"title\",\"x\":1},\"b\":{\"data-if\":\"word\"},"
		  "\"c\":{\"data-else\":\"word\"}}",
			"{\"a\":{\"x\":1},\"c\":{}}" },
		{ "{\"l\":[{\"data-each\":\"items\",\"r\":\"{{title}}{{rule}}\",\"g\":\"{{gain_s}}"
		  "\"}]}",
			"{\"l\":[{\"r\":\"Ta\",\"g\":0.5},{\"r\":\"Tb\\\"\"}]}" },
		{ "{\"l\":[{\"data-if\":\"cost\",\"data-each\":\"items\",\"r\":\"{{rule}}\"}],"
		  "\"m\":[{\"data-if\":\"word\"}],\"e\":[]}",
			"{\"l\":[{\"r\":\"b\\\"\"}],\"e\":[]}" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(arena_z(&keep, filled(cases[i].in, &m)), cases[i].out);
}

static void test_template_too_long(void **state)
{
	(void)state;
	struct report r = demo_report(&keep);
	struct report_set set = set_of(&r);
	struct transitions news = transitions_of(&set, NULL, &keep);
	struct out *o = out_memory(&keep);
	struct str text;
	out_z(o, "{\"content\":\"{{title}}");
	out_repeat(o, 'x', 2000);
	out_z(o, "\"}");
	struct doc_template *t = parse(arena_z(&keep, out_text(o)));
	struct message_source source = report_message(&news);
	assert_false(message_write(NOTICE_DISCORD, t, &source, NONE, &keep, &text, &err));
	assert_non_null(strstr(err.text, "template of discord"));
	assert_non_null(strstr(err.text, "content of more than 2000 bytes"));
}

static void find_in_manual(struct str manual, const struct record *record)
{
	for (const struct record_field *f = record->fields; f->name; f++) {
		struct str row = arena_fmt(&keep, "| `%s` | %s |", f->name, f->meaning);
		if (!str_contains(manual, row))
			fail_msg("docs/notify.md lacks: %.*s", STR_ARG(row));
		if (f->record)
			find_in_manual(manual, f->record);
	}
}

static void test_manual_names_every_field(void **state)
{
	(void)state;
	struct input in;
	if (!input_open(STR("docs/notify.md"), &keep, &in, &err))
		skip(); /* run from elsewhere */
	find_in_manual(in.bytes, &message_record);
	input_close(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_workloads),
		cmocka_unit_test(test_demo),
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_markup),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_measure),
		cmocka_unit_test(test_bad_templates),
		cmocka_unit_test(test_filling),
		cmocka_unit_test(test_template_too_long),
		cmocka_unit_test(test_manual_names_every_field),
	};
	return cmocka_run_group_tests_name("message", tests, keep_begin, keep_end);
}
