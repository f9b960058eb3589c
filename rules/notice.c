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

#define KEY(member, shape, required, words, count, meaning)                                        \
	{                                                                                          \
		STR_INIT(#member), offsetof(struct notice, member), shape, required, words, count, \
			STR_INIT(meaning)                                                          \
	}

static const struct section_key notice_keys[] = {
	KEY(kind, SHAPE_TEXT, true, kinds, NOTICE_KINDS, "the service"),
	KEY(url_from, SHAPE_TEXT, true, NULL, 0, "environment variable with the address"),
	KEY(secret_from, SHAPE_TEXT, false, NULL, 0, "environment variable that signs"),
	KEY(when, SHAPE_TEXT, false, whens, NOTICE_WHENS, "when there is something to say"),
	KEY(required, SHAPE_BOOL, false, NULL, 0, "whether a failed delivery is one of check's"),
};
const struct section notice_section = { "a notification", notice_keys,
	sizeof(notice_keys) / sizeof(notice_keys[0]) };

static bool read_word(const struct rule_reader *r, const struct doc_node *v, struct str key,
	const struct str *words, int count, int *ret)
{
	*ret = word_index(v->text, words, count);
	if (v->kind == DOC_SCALAR && *ret >= 0)
		return true;
	struct str hint = did_you_mean(r->keep, v->text, words, count);
	return node_fail(r, v, DIAG_RULE_SCHEMA, "%.*s is %.*s%.*s", STR_ARG(key),
		STR_ARG(words_text(words, count, r->keep)), STR_ARG(hint));
}

static bool read_bool(
	const struct rule_reader *r, const struct doc_node *v, struct str key, bool *ret)
{
	static const struct str words[] = { STR_INIT("false"), STR_INIT("true") };
	int word;
	if (!read_word(r, v, key, words, 2, &word))
		return false;
	*ret = word;
	return true;
}

static bool read_variable(
	const struct rule_reader *r, const struct doc_node *v, struct str key, struct str *ret)
{
	*ret = v->text;
	return (v->kind == DOC_SCALAR && secret_name_ok(v->text)) ||
	       node_fail(r, v, DIAG_RULE_SCHEMA,
		       "%.*s is the name of an environment variable: ROOFLINT_ and more of A-Z, "
		       "0-9 and _; what is in it does not belong into a file",
		       STR_ARG(key));
}

/* An enum is as large as an int. */
_Static_assert(sizeof(enum notice_kind) == sizeof(int), "read as a word's index");
_Static_assert(sizeof(enum notice_when) == sizeof(int), "read as a word's index");

static bool read_key(const struct rule_reader *r, const struct doc_pair *pair, struct notice *n)
{
	const struct section_key *key = section_key_find(r, &notice_section, pair->key);
	void *at = key ? (char *)n + key->value : NULL;
	if (!key)
		return false;
	if (key->words)
		return read_word(r, pair->value, key->name, key->words, key->word_count, at);
	if (key->shape == SHAPE_BOOL)
		return read_bool(r, pair->value, key->name, at);
	return read_variable(r, pair->value, key->name, at);
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
