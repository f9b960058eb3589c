/* The `notifications:` of a rule file.  See notice.h. */
#include "base/text.h"
#include "rules/notice.h"

#include "base/secret.h"
#include "rules/engine.h"
#include "rules/parse.h"

enum { NOTICES_MAX = 64 }; /* each waits for a server; a team reads two */

static const struct str kinds[NOTICE_KINDS] = {
	[NOTICE_SLACK] = STR_INIT("slack"),
	[NOTICE_GOOGLE_CHAT] = STR_INIT("google-chat"),
	[NOTICE_TEAMS] = STR_INIT("teams"),
	[NOTICE_DISCORD] = STR_INIT("discord"),
	[NOTICE_MATTERMOST] = STR_INIT("mattermost"),
	[NOTICE_WEBHOOK] = STR_INIT("webhook"),
};
static const struct str whens[NOTICE_WHENS] = {
	[NOTICE_CHANGE] = STR_INIT("change"),
	[NOTICE_FAILURE] = STR_INIT("failure"),
	[NOTICE_ALWAYS] = STR_INIT("always"),
};

struct str notice_kind_name(enum notice_kind kind)
{
	return kinds[kind];
}

/* ---- in a rule file -------------------------------------------------------------------------- */

#define KEY(member, how, ...) RULE_KEY(#member, how, struct notice, member, __VA_ARGS__)

static const struct rule_key notice_keys[] = {
	KEY(kind, KEY_WORD, "the service", .required = true, .words = kinds,
		.word_count = NOTICE_KINDS),
	KEY(url_from, KEY_VARIABLE, "environment variable with the address", .required = true),
	KEY(secret_from, KEY_VARIABLE, "environment variable that signs"),
	KEY(when, KEY_WORD, "when there is something to say", .words = whens,
		.word_count = NOTICE_WHENS),
	KEY(required, KEY_BOOL, "whether a failed delivery is one of check's"),
};

static bool read_notice(
	const struct rule_reader *r, const struct doc_node *name, const struct doc_node *map)
{
	struct notice n = { .name = name->text, .origin = origin_of(r, name) };
	if (!rule_name_ok(n.name))
		return node_fail(r, name, DIAG_RULE_SCHEMA,
			"a notification's name has small letters, digits and '-'");
	if (!entry_read(r, &notice_section, n.name, name, map, &n))
		return false;
	/* Chats have no signatures; a key for one would be a wish that nothing fulfils. */
	if (n.secret_from.p && n.kind != NOTICE_WEBHOOK)
		return node_fail(r, doc_get(map, STR("secret_from")), DIAG_RULE_SCHEMA,
			"%.*s: only a webhook is signed, %.*s is not", STR_ARG(n.name),
			STR_ARG(kinds[n.kind]));
	if (r->set->notice_count >= NOTICES_MAX)
		return node_fail(r, name, DIAG_LIMIT, "more than %d notifications", NOTICES_MAX);
	/* That of the name, which a file that extends another may write anew. */
	struct notice *to = NAMED(r->set->notices, r->set->notice_count, n.name);
	if (!to)
		to = arena_push(r->keep, r->set->notices, r->set->notice_count, r->set->notice_cap);
	*to = n;
	return true;
}

const struct section notice_section = { "a notification",
	"{ kind: slack, url_from: ROOFLINT_SLACK_URL }",
	"a map from names to targets: team-chat: { kind: slack, url_from: ROOFLINT_SLACK_URL }",
	notice_keys, sizeof(notice_keys) / sizeof(notice_keys[0]), false, read_notice, NULL };

/* ---- on the command line --------------------------------------------------------------------- */

bool notice_parse(struct str word, struct arena *keep, struct notice *ret, struct diag *err)
{
	struct str kind, rest, url, secret;
	bool has_url = str_cut(word, ':', &kind, &rest);
	bool has_secret = str_cut(rest, ':', &url, &secret);
	const struct str *found = NAMED(kinds, NOTICE_KINDS, kind);
	/* What stands behind the colon is not repeated: it may be an address pasted by mistake. */
	if (!found || !has_url)
		return diag_set(err, DIAG_USAGE,
			"'%.*s' is no kind of target; KIND:VARIABLE has %.*s for a KIND",
			STR_ARG(kind), STR_ARG(words_joined(keep, kinds, NOTICE_KINDS, " or ")));
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
