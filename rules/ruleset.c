/*
 * Loading rule files: finding them, following `extends`, applying --set, and checking the result
 * as a whole.  See ruleset.h.
 */
#include "rules/ruleset.h"

#include <sys/stat.h>

#include "base/embed.h"
#include "base/input.h"
#include "rules/profiles.h"
#include "rules/waiver.h"

/* Files that extend one another: a longer chain than anyone can follow by reading. */
enum { EXTENDS_MAX = 16 };
/* Folders above the working directory that are searched; deeper trees are generated. */
enum { FIND_MAX = 64 };

const struct rule *ruleset_rule(const struct ruleset *set, struct str name)
{
	return rule_named(set, name);
}

struct loader {
	struct ruleset *set;
	struct arena *keep;
	struct diag *err;
	bool in_memory;			  /* no files may be read */
	const struct rule_source *source; /* of files; NULL: the disk */
	struct str chain[EXTENDS_MAX];	  /* files being read, outermost first */
	int depth;
	struct str folder; /* of the file that was named, on the disk; missing: no such file */
};

static bool load_text(struct loader *l, struct str file, struct str text);

/* ---- where files come from ---------------------------------------------------------------- */

static bool is_bare_name(struct str s)
{
	return s.len && str_find_char(s, '/') < 0 && str_find_char(s, '.') < 0;
}

/* The built-in set of that name; *file is how it is called in messages. */
static struct str find_builtin(struct loader *l, struct str name, struct str *file)
{
	if (!is_bare_name(name))
		return (struct str){ NULL, 0 };
	*file = arena_fmt(l->keep, "rules/%.*s.yaml", STR_ARG(name));
	return embed_find(*file);
}

static struct str builtin_hint(struct loader *l, struct str name)
{
	struct str names[32];
	ptrdiff_t n = 0;

	for (ptrdiff_t i = 0; i < embedded_count && n < 32; i++) {
		struct str s = str_from(embedded_files[i].name);

		if (str_take(&s, STR("rules/")) && str_ends(s, STR(".yaml")) &&
			!str_ends(s, STR(".test.yaml")))
			names[n++] = str_head(s, s.len - 5);
	}
	return did_you_mean(l->keep, name, names, n);
}

static bool read_file(struct loader *l, struct str path, struct str *ret)
{
	if (l->source)
		return l->source->read(l->source->arg, path, l->keep, ret, l->err);
	return input_text(path, DOC_MAX_BYTES, l->keep, ret, l->err);
}

/* ---- extends ------------------------------------------------------------------------------ */

static bool is_open(const struct loader *l, struct str file)
{
	for (int i = 0; i < l->depth; i++)
		if (str_eq(l->chain[i], file))
			return true;
	return false;
}

static bool load_extended(
	struct loader *l, const struct rule_reader *r, const struct doc_node *node)
{
	struct str file, text = find_builtin(l, node->text, &file);

	if (text.p && !is_open(l, file))
		return load_text(l, file, text);
	if (is_bare_name(node->text) && !text.p) {
		struct str hint = builtin_hint(l, node->text);

		if (!hint.len)
			hint = STR("; a file is written ./name.yaml");
		return node_fail(r, node, DIAG_RULE_NAME,
			"there is no built-in rule set '%.*s'%.*s", STR_ARG(node->text),
			STR_ARG(hint));
	}
	/* A rule file may come with a pull request, and must not show what other files hold. */
	if (!text.p && !str_ends(node->text, STR(".yaml")) && !str_ends(node->text, STR(".yml")) &&
		!str_ends(node->text, STR(".json")))
		return node_fail(r, node, DIAG_RULE_SCHEMA,
			"a rule file's name ends in .yaml, .yml or .json");
	if (!text.p) { /* as seen from the file that names it */
		ptrdiff_t slash = str_rfind_char(r->doc->file, '/');

		file = node->text;
		while (str_take(&file, STR("./")))
			;
		if (slash >= 0 && !str_starts(file, STR("/")))
			file = arena_fmt(l->keep, "%.*s%.*s",
				STR_ARG(str_head(r->doc->file, slash + 1)), STR_ARG(file));
	}
	if (l->in_memory && !text.p)
		return node_fail(r, node, DIAG_RULE_SCHEMA, "files cannot be extended here");
	if (is_open(l, file))
		return node_fail(r, node, DIAG_RULE_SCHEMA, "%.*s extends itself", STR_ARG(file));
	if (!text.p && !l->source && !input_is_below(l->folder, file))
		return node_fail(r, node, DIAG_RULE_SCHEMA,
			"a rule file extends what lies below its own folder, links followed; with "
			"--rules-from, what its repository holds");
	if (!read_file(l, file, &text))
		return diag_context(l->err, "%.*s:%lld:%lld: extends", STR_ARG(r->doc->file),
			(long long)node->line, (long long)node->column);
	return load_text(l, file, text);
}

/*
 * Another file's lines are shown when it is a rule file beyond doubt: the keys of the document are
 * known.  Of the file that the user named, mistakes show the line at once, unless it is a link that
 * leads away.
 */
static bool refuse_stranger(struct loader *l, struct str file)
{
	bool is_own = !l->depth && (!l->folder.p || input_is_below(l->folder, file));

	return !is_own &&
	       diag_set(l->err, DIAG_RULE_SCHEMA,
		       "%.*s: this is no rule file, so nothing of it is shown; 'rooflint rules "
		       "check' says more of a file itself",
		       STR_ARG(file));
}

static bool load_document(struct loader *l, const struct doc *doc, const struct doc_node *extends)
{
	struct rule_reader r = { l->set, doc, l->keep, l->err };

	if (extends && l->depth == EXTENDS_MAX)
		return node_fail(&r, extends, DIAG_LIMIT, "more than %d files extend one another",
			EXTENDS_MAX);
	if (extends && !load_extended(l, &r, extends))
		return false;
	return document_read(&r);
}

static bool load_text(struct loader *l, struct str file, struct str text)
{
	struct doc *doc = arena_make(l->keep, struct doc, 1);
	struct rule_reader r = { l->set, doc, l->keep, l->err };
	const struct doc_node *extends;

	if (!doc_parse(file, text, l->keep, doc, l->err) || !document_check(&r, &extends))
		return refuse_stranger(l, file);
	*arena_push(l->keep, l->set->files, l->set->file_count, l->set->file_cap) = file;
	l->chain[l->depth++] = file;
	bool ok = load_document(l, doc, extends);
	l->depth--;
	return ok;
}

/* ---- --set -------------------------------------------------------------------------------- */

/* The setting as a document of its own, so that mistakes get carets like any other. */
struct setting {
	struct doc doc;
	struct doc_node rule, key, value;
};

static struct doc_node part_node(const struct setting *s, struct str part)
{
	return (struct doc_node){ .kind = DOC_SCALAR,
		.text = part,
		.line = 1,
		.column = part.p - s->doc.source.p + 1,
		.width = part.len ? part.len : 1 };
}

static bool split_setting(struct setting *s, struct str text, struct diag *err)
{
	struct str left, right, rule, key;

	s->doc = (struct doc){ STR_INIT("--set"), text, NULL };
	if (!str_cut(text, '=', &left, &right) || !str_cut(left, '.', &rule, &key))
		return diag_set(err, DIAG_USAGE,
			"--set %.*s: it takes rule.parameter=value, such as copy-share.limit=5%%",
			STR_ARG(text));
	s->rule = part_node(s, rule);
	s->key = part_node(s, key);
	s->value = part_node(s, str_trim(right));
	return true;
}

/* "; did you mean 'x'?", of the rules (or gates) but for the one of that very name. */
static struct str hint_among(
	const struct ruleset *set, struct str name, bool gates, struct arena *keep)
{
	struct str *names = arena_make(keep, struct str, set->count + 1);
	ptrdiff_t count = 0;

	for (ptrdiff_t i = 0; i < set->count; i++)
		if ((!gates || set->items[i]->gate) && !str_eq(set->items[i]->name, name))
			names[count++] = set->items[i]->name;
	return did_you_mean(keep, name, names, count);
}

struct str rule_hint(const struct ruleset *set, struct str name, struct arena *keep)
{
	return hint_among(set, name, false, keep);
}

static bool apply_setting(struct loader *l, struct str text)
{
	struct setting *s = arena_make(l->keep, struct setting, 1);
	struct rule_reader r = { l->set, &s->doc, l->keep, l->err };

	if (!split_setting(s, arena_str(l->keep, text), l->err))
		return false;
	struct rule *rule = rule_named(l->set, s->rule.text);
	if (!rule)
		return node_fail(&r, &s->rule, DIAG_RULE_NAME, "there is no rule '%.*s'%.*s",
			STR_ARG(s->rule.text), STR_ARG(rule_hint(l->set, s->rule.text, l->keep)));
	const struct rule_key *key = section_key(&rule_section, s->key.text);
	if (key && (key->type == KEY_BOOL || key->type == KEY_COUNT ||
			   str_eq(key->name, STR("severity"))))
		return value_set(&r, rule->name, key, &s->value, rule);
	if (rule_param_named(rule, s->key.text))
		return param_set(&r, rule, s->key.text, &s->key, &s->value);
	struct str *names = arena_make(l->keep, struct str, rule->param_count + 1);
	for (ptrdiff_t i = 0; i < rule->param_count; i++)
		names[i] = rule->params[i].name;
	names[rule->param_count] = STR("severity");
	struct str hint = did_you_mean(l->keep, s->key.text, names, rule->param_count + 1);
	return node_fail(&r, &s->key, DIAG_RULE_NAME, "rule %.*s has no parameter '%.*s'%.*s",
		STR_ARG(rule->name), STR_ARG(s->key.text), STR_ARG(hint));
}

/* ---- the set as a whole ------------------------------------------------------------------- */

static bool rule_fail(
	const struct loader *l, const struct origin *origin, enum diag_id id, struct str text)
{
	return diag_caret(l->err, id, doc_place(origin->doc, origin->node), "%.*s", STR_ARG(text));
}

/* A rule that demands nothing is most often a misspelt name of an inherited one. */
static bool check_complete(const struct loader *l, const struct rule *rule)
{
	const char *lack = NULL;

	if (!rule->from && !rule->select.text.p)
		lack = "from (a table) or select";
	else if (!rule->warn.text.p && !rule->assert.text.p)
		lack = "warn or assert";
	else if (rule->gate && !rule->assert.text.p)
		lack = "assert, which a gate needs";
	if (!lack)
		return true;
	struct str hint = rule_hint(l->set, rule->name, l->keep);
	return rule_fail(l, &rule->origin, DIAG_RULE_NAME,
		arena_fmt(l->keep,
			"there is no rule '%.*s' to change, and as a new one it lacks "
			"%s%.*s",
			STR_ARG(rule->name), lack, STR_ARG(hint)));
}

static bool check_needs(const struct loader *l, struct rule *rule)
{
	if (rule->gate && !rule->needs_all && rule->need_count)
		return rule_fail(l, &rule->needs_origin, DIAG_RULE_SCHEMA,
			arena_fmt(l->keep, "%.*s.needs: a gate does not depend on other gates",
				STR_ARG(rule->name)));
	if (rule->gate && rule->waiver_count)
		return rule_fail(l, &rule->waivers[0]->rule.origin, DIAG_RULE_SCHEMA,
			arena_fmt(l->keep,
				"%.*s is a gate, and evidence that is missing cannot be waived",
				STR_ARG(rule->name)));
	if (rule->gate)
		rule->needs_all = false;
	for (ptrdiff_t i = 0; i < rule->need_count; i++) {
		const struct rule *gate = ruleset_rule(l->set, rule->needs[i]);
		struct origin at = rule->needs_origin;

		if (gate && gate->gate)
			continue;
		struct str hint = hint_among(l->set, rule->needs[i], true, l->keep);
		at.node = at.node->items[i];
		return rule_fail(l, &at, DIAG_RULE_NAME,
			arena_fmt(l->keep, "%.*s.needs: %s '%.*s'%.*s", STR_ARG(rule->name),
				gate ? "this rule is no gate:" : "there is no gate",
				STR_ARG(rule->needs[i]), STR_ARG(hint)));
	}
	return true;
}

static bool finish(struct loader *l)
{
	bool ok = true;

	for (ptrdiff_t i = 0; i < l->set->count && ok; i++) {
		struct rule *rule = l->set->items[i];

		ok = check_complete(l, rule) && check_needs(l, rule) &&
		     rule_compile(l->set->engine, rule, l->keep, l->err);
		if (!rule->title.text.p)
			rule->title.text = rule->name;
	}
	return ok && profiles_check(l->set, l->keep, l->err);
}

/* ---- entry -------------------------------------------------------------------------------- */

bool ruleset_load(struct engine *e, const struct rule_source *source, struct str name_or_path,
	const struct list *settings, struct arena *keep, struct ruleset *ret, struct diag *err)
{
	struct loader l = { .set = ret, .keep = keep, .err = err, .source = source };
	struct str name = arena_str(keep, name_or_path), file = name;
	struct str text = find_builtin(&l, name, &file);

	*ret = (struct ruleset){ .engine = e, .name = name };
	if (!text.p) {
		file = name;
		l.folder = source ? (struct str){ NULL, 0 } : path_folder(name);
		if (!read_file(&l, name, &text)) {
			struct str hint = builtin_hint(&l, name);

			return hint.len
				       ? diag_append(err, "%.*s", STR_ARG(str_from_offset(hint, 2)))
				       : false;
		}
	}
	if (!load_text(&l, file, text))
		return false;
	for (ptrdiff_t i = 0; settings && i < settings->count; i++)
		if (!apply_setting(&l, settings->items[i]))
			return false;
	return finish(&l);
}

bool ruleset_parse(struct engine *e, struct str file, struct str text, struct arena *keep,
	struct ruleset *ret, struct diag *err)
{
	struct loader l = { .set = ret, .keep = keep, .err = err, .in_memory = true };

	*ret = (struct ruleset){ .engine = e, .name = file };
	return load_text(&l, file, text) && finish(&l);
}

struct str ruleset_find(struct str from, struct arena *keep)
{
	struct str folder = from.len ? from : STR(".");
	struct stat st, here, above;

	for (int i = 0; i < FIND_MAX; i++) {
		bool is_here = str_eq(folder, STR("."));
		struct str path = is_here ? STR("rooflint.yaml")
					  : arena_fmt(keep, "%.*s/rooflint.yaml", STR_ARG(folder));

		if (!stat(path.p, &st) && S_ISREG(st.st_mode))
			return path;
		struct str up = arena_fmt(keep, "%.*s/..", STR_ARG(folder));
		if (stat(arena_z(keep, folder), &here) || stat(up.p, &above) ||
			(here.st_dev == above.st_dev && here.st_ino == above.st_ino))
			break; /* the root is its own parent */
		folder = is_here ? STR("..") : up;
	}
	return (struct str){ NULL, 0 };
}
