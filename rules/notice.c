/* The `notifications:` of a rule file.  See notice.h. */
#include "rules/notice.h"

#include "rules/parse.h"

#define KEY(member, how, ...) RULE_PLAIN(#member, how, struct notice, member, __VA_ARGS__)

/* The first has the words of enum notice_kind. */
static const struct key notice_keys[] = {
	KEY(kind, key_word, "the service", .required = true,
		.form = "slack|google-chat|teams|discord|mattermost|webhook"),
	KEY(url_from, key_variable, "environment variable with the address", .required = true),
	KEY(secret_from, key_variable, "environment variable that signs"),
	KEY(when, key_word, "when there is something to say", .form = "change|failure|always"),
	KEY(required, key_bool, "whether a failed delivery is one of check's"),
	KEYED_END,
};

struct str notice_kind_name(enum notice_kind kind)
{
	struct str kinds[KEY_WORDS_MAX];

	key_words(notice_keys, kinds);
	return kinds[kind];
}

/* Chats have no signatures; a key for one would be a wish that nothing fulfils. */
static bool check_notice(const struct keyed *r, const struct doc_node *map)
{
	const struct notice *n = r->to;

	return !n->secret_from.p || n->kind == NOTICE_WEBHOOK ||
	       keyed_fail(r, doc_get(map, STR("secret_from")),
		       "%.*s: only a webhook is signed, %.*s is not", STR_ARG(n->name),
		       STR_ARG(notice_kind_name(n->kind)));
}

const struct key notice_entry = { .name = STR_INIT("a notification"),
	.form = "{ kind: slack, url_from: ROOFLINT_SLACK_URL }",
	.origin = offsetof(struct notice, origin),
	.keys = notice_keys,
	.is_name = rule_name_ok,
	.agree = check_notice };
