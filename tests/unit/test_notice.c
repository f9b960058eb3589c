/* notifications: in rule files and on the command line; each mistake with its place. */
#include <string.h>

#include "rules/ruleset.h"
#include "session/deliver.h"
#include "tests/unit/keep.h"
#include "tests/unit/rules_text.h"

static struct diag err;
static struct ruleset set;

#define NOTICES "version: 1\nnotifications:\n"

static bool parse(const char *yaml)
{
	return ruleset_parse(NULL, STR("t.yaml"), str_from(yaml), &keep, &set, &err);
}

static void test_read(void **state)
{
	(void)state;
	if (!parse(NOTICES "  chat: { kind: google-chat, url_from: ROOFLINT_A }\n"
			   "  events:\n    kind: webhook\n    url_from: ROOFLINT_B\n"
			   "    secret_from: ROOFLINT_C\n    when: always\n    required: true\n"))
		fail_msg("%s", err.text);
	assert_int_equal(set.notice_count, 2);
	const struct notice *chat = &set.notices[0], *events = &set.notices[1];
	assert_true(str_eq(chat->name, STR("chat")) && chat->kind == NOTICE_GOOGLE_CHAT);
	assert_true(chat->when == NOTICE_CHANGE && !chat->required && !chat->secret_from.p);
	assert_true(events->kind == NOTICE_WEBHOOK && events->when == NOTICE_ALWAYS);
	assert_true(events->required && str_eq(events->secret_from, STR("ROOFLINT_C")));
	assert_int_equal(events->origin.node->line, 4);
}

static void refused(const char *yaml, const char *error)
{
	assert_false(parse(yaml));
	if (strncmp(err.text, error, strlen(error)) != 0)
		fail_msg("not '%s' but: %s", error, err.text);
}

static void test_mistakes(void **state)
{
	(void)state;
	refused(NOTICES "  a: { kind: slak, url_from: ROOFLINT_A }\n",
		"t.yaml:3:14: a.kind is slack, google-chat, teams, discord, mattermost or webhook; "
		"did you mean 'slack'?\n");
	refused(NOTICES "  a: { kind: slack, url: ROOFLINT_A }\n",
		"t.yaml:3:3: a: a notification needs 'url_from': environment variable with the "
		"address\n"
		"    a: { kind: slack, url: ROOFLINT_A }\n"
		"    ^\n"
		"t.yaml:3:21: a: a notification has no key 'url'");
	refused(NOTICES "  a: { kind: slack, url_from: https://hooks.slack.com/x }\n",
		"t.yaml:3:31: a.url_from is the name of an environment variable: ROOFLINT_ and");
	refused(NOTICES "  a: { kind: webhook, url_from: ROOFLINT_A, secret_from: AWS_KEY }\n",
		"t.yaml:3:58: a.secret_from is the name of an environment variable");
	refused(NOTICES "  a: { kind: slack, url_from: ROOFLINT_A, secret_from: ROOFLINT_B }\n",
		"t.yaml:3:56: a: only a webhook is signed, slack is not\n");
	refused(NOTICES "  a: { kind: slack, url_from: ROOFLINT_A, when: never }\n",
		"t.yaml:3:49: a.when is change, failure or always");
	refused(NOTICES "  a: { kind: slack, url_from: ROOFLINT_A, required: yes }\n",
		"t.yaml:3:53: a.required is true or false");
	refused(NOTICES "  a: { kind: slack }\n", "t.yaml:3:3: a: a notification needs 'url_from'");
	refused(NOTICES "  A b: { kind: slack, url_from: ROOFLINT_A }\n",
		"t.yaml:3:3: a notification's name has small letters, digits and '-'\n");
	refused(NOTICES "  a: slack\n", "t.yaml:3:6: a: a notification is a map");
	refused("version: 1\nnotifications: [slack]\n", "t.yaml:2:16: notifications is a map");
	refused("version: 1\nnotification: {}\n",
		"t.yaml:2:1: a rule file has no key 'notification'; did you mean "
		"'notifications'?\n");
}

static void test_words(void **state)
{
	(void)state;
	struct notice n;
	assert_true(target_parse(STR("teams:ROOFLINT_A"), &keep, &n, &err));
	assert_true(n.kind == NOTICE_TEAMS && str_eq(n.url_from, STR("ROOFLINT_A")));
	assert_true(str_eq(n.name, STR("teams")) && !n.secret_from.p && !n.required);
	assert_true(target_parse(STR("webhook:ROOFLINT_A:ROOFLINT_B"), &keep, &n, &err));
	assert_true(str_eq(n.secret_from, STR("ROOFLINT_B")));
}

static void test_bad_words(void **state)
{
	(void)state;
	static const struct {
		const char *word, *error;
	} cases[] = {
		{ "team-chat", "'team-chat' is no kind of target; KIND:VARIABLE has slack, " },
		{ "irc:ROOFLINT_A", "'irc' is no kind" },
		{ "slack:", "in 'slack:...', the name of an environment variable was expected" },
		{ "slack:https://hooks.example/T0SECRET", "in 'slack:...'" },
		{ "https://hooks.example/T0SECRET", "an address is a secret: put it into an " },
		{ "webhook:ROOFLINT_A:T0SECRET", "in 'webhook:...'" },
		{ "slack:ROOFLINT_A:ROOFLINT_B", "only a webhook is signed, slack is not" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct notice n;
		assert_false(target_parse(str_from(cases[i].word), &keep, &n, &err));
		assert_int_equal(err.id, DIAG_USAGE);
		if (strncmp(err.text, cases[i].error, strlen(cases[i].error)) != 0)
			fail_msg("not '%s' but: %s", cases[i].error, err.text);
		assert_null(strstr(err.text, "T0SECRET"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_bad_words),
	};
	return cmocka_run_group_tests_name("notice", tests, keep_begin, keep_end);
}
