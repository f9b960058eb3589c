/* The `notifications:` of a rule file.  See notice.h. */
#include "base/text.h"
#include "rules/notice.h"

#include "base/secret.h"
#include "rules/engine.h"
#include "rules/parse.h"

/* ---- in a rule file -------------------------------------------------------------------------- */

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

/* ---- on the command line --------------------------------------------------------------------- */

bool notice_parse(struct str word, struct arena *keep, struct notice *ret, struct diag *err)
{
	struct str kinds[KEY_WORDS_MAX], kind, rest, url, secret;
	int count = key_words(notice_keys, kinds);
	bool has_url = str_cut(word, ':', &kind, &rest);
	bool has_secret = str_cut(rest, ':', &url, &secret);
	const struct str *found = NAMED(kinds, count, kind);
	if (str_eq(kind, STR("https")) || str_eq(kind, STR("http")))
		return diag_set(err, DIAG_USAGE,
			"an address is a secret: put it into an environment variable, and name "
			"that, as in slack:ROOFLINT_SLACK_URL");
	/* What stands behind the colon is not repeated: it may be an address pasted by mistake. */
	if (!found || !has_url)
		return diag_set(err, DIAG_USAGE,
			"'%.*s' is no kind of target; KIND:VARIABLE has %.*s for a KIND",
			STR_ARG(kind), STR_ARG(words_joined(keep, kinds, count, " or ")));
	if (!secret_name_ok(url) || (has_secret && !secret_name_ok(secret)))
		return diag_set(err, DIAG_USAGE,
			"in '%.*s:...', the name of an environment variable was expected behind "
			"the "
			"colon: ROOFLINT_ and more of A-Z, 0-9 and _",
			STR_ARG(kind));
	if (has_secret && found != &kinds[NOTICE_WEBHOOK])
		return diag_set(
			err, DIAG_USAGE, "only a webhook is signed, %.*s is not", STR_ARG(kind));
	*ret = (struct notice){
		.name = kind, .kind = (enum notice_kind)(found - kinds), .url_from = url
	};
	if (has_secret)
		ret->secret_from = secret;
	return true;
}
