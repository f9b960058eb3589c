/* The `notifications:` of a rule file.  See notice.h. */
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

struct str notice_when_name(enum notice_when when)
{
	return whens[when];
}

static int word_index(struct str word, const struct str *words, int count)
{
	for (int i = 0; i < count; i++)
		if (str_eq(word, words[i]))
			return i;
	return -1;
}

static struct str words_text(const struct str *words, int count, struct arena *keep)
{
	struct str s = words[0];
	for (int i = 1; i < count; i++)
		s = arena_fmt(keep, "%.*s%s%.*s", STR_ARG(s), i == count - 1 ? " or " : ", ",
			STR_ARG(words[i]));
	return s;
}

/* ---- in a rule file -------------------------------------------------------------------------- */

enum notice_key { KEY_KIND, KEY_URL_FROM, KEY_SECRET_FROM, KEY_WHEN, KEY_REQUIRED, NOTICE_KEYS };
static const struct str keys[NOTICE_KEYS] = {
	[KEY_KIND] = STR_INIT("kind"),
	[KEY_URL_FROM] = STR_INIT("url_from"),
	[KEY_SECRET_FROM] = STR_INIT("secret_from"),
	[KEY_WHEN] = STR_INIT("when"),
	[KEY_REQUIRED] = STR_INIT("required"),
};

static bool read_word(const struct rule_reader *r, const struct doc_node *v, const char *key,
	const struct str *words, int count, int *ret)
{
	*ret = word_index(v->text, words, count);
	if (v->kind == DOC_SCALAR && *ret >= 0)
		return true;
	struct str hint = near_hint(r->keep, v->text, words, count);
	return node_fail(r, v, DIAG_RULE_SCHEMA, "%s is %.*s%.*s", key,
		STR_ARG(words_text(words, count, r->keep)), STR_ARG(hint));
}

static bool read_variable(
	const struct rule_reader *r, const struct doc_node *v, const char *key, struct str *ret)
{
	*ret = v->text;
	return (v->kind == DOC_SCALAR && secret_name_ok(v->text)) ||
	       node_fail(r, v, DIAG_RULE_SCHEMA,
		       "%s is the name of an environment variable: ROOFLINT_ and more of A-Z, 0-9 "
		       "and _; what is in it does not belong into a file",
		       key);
}

static bool read_key(const struct rule_reader *r, const struct doc_pair *pair, struct notice *n)
{
	static const struct str bools[] = { STR_INIT("false"), STR_INIT("true") };
	const struct doc_node *v = pair->value;
	int word;
	switch (word_index(pair->key->text, keys, NOTICE_KEYS)) {
	case KEY_KIND:
		if (!read_word(r, v, "kind", kinds, NOTICE_KINDS, &word))
			return false;
		n->kind = (enum notice_kind)word;
		return true;
	case KEY_WHEN:
		if (!read_word(r, v, "when", whens, NOTICE_WHENS, &word))
			return false;
		n->when = (enum notice_when)word;
		return true;
	case KEY_REQUIRED:
		if (!read_word(r, v, "required", bools, 2, &word))
			return false;
		n->required = word;
		return true;
	case KEY_URL_FROM:
		return read_variable(r, v, "url_from", &n->url_from);
	case KEY_SECRET_FROM:
		return read_variable(r, v, "secret_from", &n->secret_from);
	}
	struct str hint = near_hint(r->keep, pair->key->text, keys, NOTICE_KEYS);
	return node_fail(r, pair->key, DIAG_RULE_SCHEMA,
		"%.*s: a notification has no key '%.*s'%.*s", STR_ARG(n->name),
		STR_ARG(pair->key->text), STR_ARG(hint));
}

/* Chats have no signatures; a key for one would be a wish that nothing fulfils. */
static bool check_notice(
	const struct rule_reader *r, const struct doc_pair *pair, const struct notice *n)
{
	const struct doc_node *secret = doc_get(pair->value, STR("secret_from"));
	if (!doc_get(pair->value, STR("kind")) || !n->url_from.p)
		return node_fail(r, pair->key, DIAG_RULE_SCHEMA,
			"%.*s: a notification needs kind and url_from", STR_ARG(n->name));
	if (secret && n->kind != NOTICE_WEBHOOK)
		return node_fail(r, secret, DIAG_RULE_SCHEMA,
			"%.*s: only a webhook is signed, %.*s is not", STR_ARG(n->name),
			STR_ARG(kinds[n->kind]));
	return true;
}

static struct notice *notice_slot(struct ruleset *set, struct str name, struct arena *keep)
{
	for (ptrdiff_t i = 0; i < set->notice_count; i++)
		if (str_eq(set->notices[i].name, name))
			return &set->notices[i];
	return arena_push(keep, set->notices, set->notice_count, set->notice_cap);
}

static bool read_notice(const struct rule_reader *r, const struct doc_pair *pair)
{
	const struct doc_node *map = pair->value;
	struct notice n = {
		.name = pair->key->text, .file = r->doc->file, .line = pair->key->line
	};
	if (!rule_name_ok(n.name))
		return node_fail(r, pair->key, DIAG_RULE_SCHEMA,
			"a notification's name has small letters, digits and '-'");
	if (map->kind != DOC_MAP)
		return node_fail(r, map, DIAG_RULE_SCHEMA,
			"%.*s: a notification is a map: { kind: slack, url_from: ROOFLINT_... }",
			STR_ARG(n.name));
	for (ptrdiff_t i = 0; i < map->count; i++)
		if (!read_key(r, &map->pairs[i], &n))
			return false;
	if (!check_notice(r, pair, &n))
		return false;
	if (r->set->notice_count >= NOTICES_MAX)
		return node_fail(
			r, pair->key, DIAG_LIMIT, "more than %d notifications", NOTICES_MAX);
	*notice_slot(r->set, n.name, r->keep) = n;
	return true;
}

bool document_notices(const struct rule_reader *r)
{
	const struct doc_node *map = doc_get(r->doc->root, STR("notifications"));
	if (!map)
		return true;
	if (map->kind != DOC_MAP)
		return node_fail(r, map, DIAG_RULE_SCHEMA,
			"notifications is a map from names to targets: team-chat: { kind: slack, "
			"url_from: ROOFLINT_SLACK_URL }");
	for (ptrdiff_t i = 0; i < map->count; i++)
		if (!read_notice(r, &map->pairs[i]))
			return false;
	return true;
}

/* ---- on the command line --------------------------------------------------------------------- */

bool notice_parse(struct str word, struct arena *keep, struct notice *ret, struct diag *err)
{
	struct str kind, rest, url, secret;
	bool has_url = str_cut(word, ':', &kind, &rest);
	bool has_secret = str_cut(rest, ':', &url, &secret);
	int index = word_index(kind, kinds, NOTICE_KINDS);
	/* What stands behind the colon is not repeated: it may be an address pasted by mistake. */
	if (index < 0 || !has_url)
		return diag_set(err, DIAG_USAGE,
			"'%.*s' is no kind of target; KIND:VARIABLE has %.*s for a KIND",
			STR_ARG(kind), STR_ARG(words_text(kinds, NOTICE_KINDS, keep)));
	if (!secret_name_ok(url) || (has_secret && !secret_name_ok(secret)))
		return diag_set(err, DIAG_USAGE,
			"in '%.*s:...', the name of an environment variable was expected behind "
			"the "
			"colon: ROOFLINT_ and more of A-Z, 0-9 and _",
			STR_ARG(kind));
	if (has_secret && index != NOTICE_WEBHOOK)
		return diag_set(
			err, DIAG_USAGE, "only a webhook is signed, %.*s is not", STR_ARG(kind));
	*ret = (struct notice){ .name = kind, .kind = (enum notice_kind)index, .url_from = url };
	if (has_secret)
		ret->secret_from = secret;
	return true;
}
