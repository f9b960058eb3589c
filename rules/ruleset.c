/*
 * Loading rule files: finding them, following `extends`, applying --set, and checking the result
 * as a whole.  See ruleset.h.
 */
#include "rules/ruleset.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "base/embed.h"
#include "base/input.h"
#include "base/stats.h"
#include "base/text.h"
#include "rules/compile.h"
#include "rules/parse.h"
#include "rules/trial.h"

/* Files that extend one another: a longer chain than anyone can follow by reading. */
enum { EXTENDS_MAX = 16 };
/* Folders above the working directory that are searched; deeper trees are generated. */
enum { FIND_MAX = 64 };

struct loader {
	struct ruleset *set;
	struct arena *keep;
	struct diag *err;
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

/* Of a file that travels inside the program: the set's name; or missing. */
static struct str set_name(const struct embedded *file)
{
	struct str s = str_from(file->name);

	return str_take(&s, STR("rules/")) && str_ends(s, STR(".yaml")) &&
			       !str_ends(s, STR(".test.yaml"))
		       ? str_head(s, s.len - 5)
		       : MISSING;
}

/* The built-in set of that name, or NULL. */
static const struct embedded *find_builtin(struct str name)
{
	for (const struct embedded *f = embedded_files; f->name; f++)
		if (name.len && str_eq(set_name(f), name))
			return f;
	return NULL;
}

bool ruleset_is_name(struct str word)
{
	return !is_bare_name(word) || find_builtin(word);
}

static struct str builtin_hint(struct loader *l, struct str name)
{
	struct list names = { NULL, 0, 0 };

	for (const struct embedded *f = embedded_files; f->name; f++)
		if (set_name(f).p)
			list_add(&names, set_name(f), l->keep);
	return did_you_mean(l->keep, name, names.items, names.count);
}

static bool read_file(struct loader *l, struct str path, struct str *ret)
{
	if (l->source)
		return l->source->read(l->source->arg, path, l->keep, ret, l->err);
	return input_text(path, DOC_MAX_BYTES, l->keep, ret, l->err);
}

/* ---- extends ------------------------------------------------------------------------------ */

static bool load_extended(struct loader *l, const struct keyed *r, const struct doc_node *node)
{
	if (!key_set(r, key_named(document.keys, STR("extends")), node))
		return false;
	const struct embedded *builtin = find_builtin(node->text);
	struct str file = builtin ? str_from(builtin->name) : node->text, text;

	if (builtin && !NAMED(l->chain, l->depth, file))
		return load_text(l, file, builtin->text);
	if (is_bare_name(node->text) && !builtin) {
		struct str hint = builtin_hint(l, node->text);

		if (!hint.len)
			hint = STR("; a file is written ./name.yaml");
		return keyed_fail_as(r, node, DIAG_RULE_NAME,
			"there is no built-in rule set '%.*s'%.*s", STR_ARG(node->text),
			STR_ARG(hint));
	}
	/* A rule file may come with a pull request, and must not show what other files hold. */
	if (!builtin && !str_ends(file, STR(".yaml")) && !str_ends(file, STR(".yml")) &&
		!str_ends(file, STR(".json")))
		return keyed_fail(r, node, "a rule file's name ends in .yaml, .yml or .json");
	if (!builtin) { /* as seen from the file that names it */
		ptrdiff_t slash = str_rfind_char(r->doc->file, '/');

		while (str_take(&file, STR("./")))
			;
		if (slash >= 0 && !str_starts(file, STR("/")))
			file = arena_fmt(l->keep, "%.*s%.*s",
				STR_ARG(str_head(r->doc->file, slash + 1)), STR_ARG(file));
	}
	if (NAMED(l->chain, l->depth, file))
		return keyed_fail(r, node, "%.*s extends itself", STR_ARG(file));
	if (!l->source && !input_is_below(l->folder, file))
		return keyed_fail(r, node,
			"a rule file extends what lies below its own folder, links followed; with "
			"--rules-from, what its repository holds");
	if (!read_file(l, file, &text)) {
		struct str why = arena_str(l->keep, str_from(l->err->text));
		return keyed_fail_as(r, node, l->err->id,
			"extends: %.*s; a path begins at the folder of this file", STR_ARG(why));
	}
	return load_text(l, file, text);
}

/*
 * Another file's lines are shown when it is a rule file beyond doubt: the keys of the document are
 * known.  Of the file that the user named, mistakes show the line at once, unless it is a link that
 * leads away.
 */
static bool refuse_stranger(struct loader *l, struct str file, ptrdiff_t mistakes)
{
	bool is_own = !l->depth && (!l->folder.p || input_is_below(l->folder, file));

	if (is_own)
		return false;
	l->set->mistakes->count = mistakes;
	diag_set(l->err, DIAG_RULE_SCHEMA,
		"%.*s: this is no rule file, so nothing of it is shown; 'rooflint rules "
		"check' says more of a file itself",
		STR_ARG(file));
	return true;
}

static bool load_document(struct loader *l, const struct doc *doc, const struct doc_node *extends)
{
	const struct keyed r = rule_reading(l->set, doc, l->keep, l->err);

	if (extends && l->depth == EXTENDS_MAX)
		return keyed_fail_as(&r, extends, DIAG_LIMIT,
			"more than %d files extend one another", EXTENDS_MAX);
	/* Without its base a file is read all the same, for what is wrong in itself. */
	bool ok = !extends || load_extended(l, &r, extends);
	l->set->lacks_base |= !ok;
	document_read(&r);
	return ok;
}

static bool load_text(struct loader *l, struct str file, struct str text)
{
	struct doc *doc = arena_make(l->keep, struct doc, 1);
	const struct keyed r = rule_reading(l->set, doc, l->keep, l->err);
	const struct doc_node *extends;

	ptrdiff_t before = l->set->mistakes->count;
	bool is_rules = keyed_open(&r, doc, file, text, &document) && document_check(&r, &extends);
	bool is_strange = !is_rules || l->set->mistakes->count > before;
	if ((is_strange && refuse_stranger(l, file, before)) || !is_rules)
		return mistake_note(l->set->mistakes, l->keep, l->err);
	*arena_push(l->keep, l->set->files, l->set->file_count, l->set->file_cap) = file;
	if (!l->depth)
		l->set->doc = doc;
	l->chain[l->depth++] = file;
	bool ok = load_document(l, doc, extends);
	l->depth--;
	return ok;
}

/* ---- --set -------------------------------------------------------------------------------- */

/* Of the sets that ship it is the one that states rules. */
static bool is_recommended(struct str rule, struct arena scratch)
{
	const struct embedded *file = find_builtin(STR("recommended"));
	struct diag never; /* what ships can be read */
	struct doc doc;

	return doc_parse(str_from(file->name), file->text, &scratch, &doc, &never) &&
	       doc_get(doc_get(doc.root, STR("rules")), rule);
}

struct str rule_hint(
	const struct ruleset *set, struct str name, const struct doc *but, struct arena *keep)
{
	struct str *names = arena_make(keep, struct str, set->count + 1);
	ptrdiff_t count = 0;

	for (ptrdiff_t i = 0; i < set->count; i++)
		if (!str_eq(set->items[i]->name, name) && set->items[i]->origin.doc != but)
			names[count++] = set->items[i]->name;
	struct str hint = did_you_mean(keep, name, names, count);
	return hint.len || !is_recommended(name, *keep)
		       ? hint
		       : STR("; the set recommended has it: extends: recommended");
}

/*
 * "copy-share.fail=5%" is read as the document copy-share: { at_most: { fail: 5% } }, which is what
 * mistakes show.  Warnings are set last: each is held against the failure that all settings leave,
 * in whatever order they stand.
 */
static bool apply_setting(struct loader *l, struct str text, bool warnings)
{
	struct doc *doc = arena_make(l->keep, struct doc, 1);
	const struct keyed r = rule_reading(l->set, doc, l->keep, l->err);
	struct str left, value, name, key;

	text = str_trim(text);
	bool is_whole = str_cut(text, '=', &left, &value) && str_cut(left, '.', &name, &key);
	if ((is_whole && str_eq(str_trim(key), STR("warn"))) != warnings)
		return true;
	if (!is_whole) {
		diag_set(l->err, DIAG_USAGE,
			"--set %.*s: it takes rule.key=value, such as %.*s.fail=5%%", STR_ARG(text),
			STR_ARG(ruleset_rule(l->set, left) ? left : STR("copy-share")));
		return mistake_note(l->set->mistakes, l->keep, l->err);
	}
	const struct rule *rule = ruleset_rule(l->set, name);
	const struct key *known = key_named(rule_entry.keys, key);
	bool is_key = known && known->read;
	const char *in = is_key			  ? ""
			 : !known		  ? "params: { "
			 : rule && rule->at_least ? "at_least: { "
						  : "at_most: { ";
	struct str change = arena_fmt(l->keep, "%.*s: { %s%.*s: %.*s }%s", STR_ARG(name), in,
		STR_ARG(key), STR_ARG(str_trim(value)), is_key ? "" : " }");
	return keyed_open(&r, doc, STR("--set"), change, &document)
		       ? rules_tune(&r, NULL, doc->root)
		       : mistake_note(l->set->mistakes, l->keep, l->err);
}

/* ---- the set as a whole ------------------------------------------------------------------- */

__attribute__((format(printf, 4, 5))) static bool rule_fail(const struct loader *l,
	struct rule *rule, const struct origin *origin, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	struct str text = arena_vfmt(l->keep, fmt, args);
	va_end(args);
	rule->is_broken = true;
	diag_caret(l->err, DIAG_RULE_NAME, doc_place(origin->doc, origin->node), "%.*s: %.*s",
		STR_ARG(rule->name), STR_ARG(text));
	return mistake_note(l->set->mistakes, l->keep, l->err);
}

/*
 * A rule that demands nothing is most often a misspelt name of an inherited one.  Of a broken rule
 * only that is said: what else it lacks may stand in what could not be read.
 */
static bool check_complete(const struct loader *l, struct rule *rule)
{
	bool has_limit = rule->params[PARAM_WARN].text.p || rule->params[PARAM_FAIL].text.p;
	bool is_select = rule->select.text.p != NULL, has_value = rule->value.text.p != NULL;
	const char *lack = NULL;

	if (!rule->from && !is_select)
		lack = "from (a table) or select";
	else if (!has_value && !rule->assert.text.p)
		lack = "value (a number) and its limit, or assert";
	else if (has_value && !has_limit)
		lack = "the value's limit: at_most or at_least";
	bool is_bare = !rule->from_text.text.p && !is_select && !has_value && !rule->assert.text.p;
	if (rule->is_broken && !is_bare)
		return false;
	if (lack) {
		struct str hint = rule_hint(l->set, rule->name, rule->origin.doc, l->keep);

		if (rule->is_broken && !hint.len)
			return false;
		const struct keyed r = rule_reading(l->set, rule->origin.doc, l->keep, l->err);
		rule->is_broken = true;
		return keyed_fail_as(&r, rule->origin.node, DIAG_RULE_NAME,
			"there is no rule '%.*s' to change, and as a new one it lacks %s%.*s",
			STR_ARG(rule->name), lack, STR_ARG(hint));
	}
	if (!has_value && has_limit)
		return rule_fail(l, rule, &rule->limit_origin,
			"a limit is of a value, and it has an assert");
	if (!has_value && rule->unclear.text.p)
		return rule_fail(l, rule, &rule->unclear.origin,
			"unclear is of a value, and it has an assert");
	if (rule->only_warns.count && !rule->can_fail.text.p)
		return rule_fail(l, rule, &rule->only_warns.items[0].text.origin,
			"only_warns tells people why can_fail is false of a row, and there is no "
			"can_fail");
	bool has_places = rule->places.from || rule->places.select.text.p;
	if (rule->places.origin.node && (!has_places || !rule->places.value.text.p))
		return rule_fail(l, rule, &rule->places.origin,
			"places have from (a table) or select, and value");
	return true;
}

/* The names that stand for a gate: its own, and those of sets with it in them. */
static bool add_gates(const struct loader *l, struct rule *rule, const struct name_list *names,
	const struct origin *whole, int depth)
{
	for (ptrdiff_t i = 0; i < names->count; i++) {
		struct origin place = *whole, *at = &place;

		if (!depth && whole->node->kind == DOC_LIST)
			place.node = whole->node->items[i];
		const struct rule_set *set = set_named(l->set, names->items[i]);
		const struct rule *gate = ruleset_rule(l->set, names->items[i]);
		ptrdiff_t k = 0;

		if (set && depth == 8)
			return rule_fail(l, rule, at, "needs: the set '%.*s' names itself",
				STR_ARG(set->name));
		if (set && !add_gates(l, rule, &set->names, at, depth + 1))
			return false;
		if (set)
			continue;
		if (!gate || !gate->gate) {
			struct list all = { NULL, 0, 0 };

			for (ptrdiff_t g = 0; g < l->set->count; g++)
				NAMES(&all, l->keep, l->set->items[g], l->set->items[g]->gate);
			NAMES(&all, l->keep, l->set->sets, l->set->set_count);
			return rule_fail(l, rule, at, "needs: %s '%.*s'%.*s",
				gate ? "this rule is not of the group evidence:"
				     : "there is no gate or set",
				STR_ARG(names->items[i]),
				STR_ARG(did_you_mean(
					l->keep, names->items[i], all.items, all.count)));
		}
		while (k < rule->gate_count && rule->gates[k] != gate)
			k++;
		if (k == rule->gate_count)
			rule->gates[rule->gate_count++] = gate;
	}
	return true;
}

/* Its own needs, else the group's, else all gates. */
static bool check_needs(const struct loader *l, struct rule *rule, const struct rule_group *group)
{
	const struct name_list *needs = &rule->needs;

	if (rule->gate && needs->count)
		return rule_fail(l, rule, &needs->origin, "a gate does not depend on other gates");
	rule->gates = arena_make(l->keep, const struct rule *, l->set->count + 1);
	rule->gate_count = 0;
	if (rule->gate)
		return true;
	if (!needs->origin.node && group)
		needs = &group->needs;
	if (needs->origin.node)
		return add_gates(l, rule, needs, &needs->origin, 0);
	for (ptrdiff_t i = 0; i < l->set->count; i++)
		if (l->set->items[i]->gate)
			rule->gates[rule->gate_count++] = l->set->items[i];
	return true;
}

static const struct str known_groups[GROUP_COUNT] = { [GROUP_EVIDENCE] = STR_INIT("evidence"),
	[GROUP_COMPUTE] = STR_INIT("compute"),
	[GROUP_COMMUNICATION] = STR_INIT("communication"),
	[GROUP_COPIES] = STR_INIT("copies"),
	[GROUP_WAITING] = STR_INIT("waiting"),
	[GROUP_MEMORY] = STR_INIT("memory"),
	[GROUP_REGRESSION] = STR_INIT("regression") };

static bool check_group(const struct loader *l, struct rule *rule, const struct rule_group *group)
{
	struct list names = { NULL, 0, 0 };

	if (group && !rule->severity_origin.node && group->severity_origin.node) {
		rule->severity = group->severity;
		rule->severity_origin = group->severity_origin;
	}
	const struct str *known = NAMED(known_groups + 1, GROUP_COUNT - 1, rule->group.text);
	rule->known = known ? (enum group_id)(known - known_groups) : GROUP_OWN;
	rule->gate = rule->known == GROUP_EVIDENCE;
	/* Of a group switched off one gate says it for all. */
	const struct mistakes *m = l->set->mistakes;
	const struct text_place *last = m->count ? &m->items[m->count - 1].place : NULL;
	const struct doc_node *said = rule->severity_origin.node;
	bool is_told = last && said && last->line == said->line && last->column == said->column;
	if (rule->gate && rule->severity == SEVERITY_OFF && !is_told)
		return rule_fail(l, rule, &rule->severity_origin,
			"a gate cannot be switched off: what needs it would be judged without "
			"evidence; with severity: warn it closes nothing and still says what is "
			"missing");
	if (group || !rule->group.text.p || known)
		return true;
	NAMES(&names, l->keep, known_groups + 1, GROUP_COUNT - 1);
	NAMES(&names, l->keep, l->set->groups, l->set->group_count);
	struct str hint = did_you_mean(l->keep, rule->group.text, names.items, names.count);
	if (hint.len)
		return rule_fail(l, rule, &rule->group.origin, "there is no group '%.*s'%.*s",
			STR_ARG(rule->group.text), STR_ARG(hint));
	return rule_fail(l, rule, &rule->group.origin,
		"there is no group '%.*s': %.*s, or one of your own under groups:",
		STR_ARG(rule->group.text),
		STR_ARG(words_joined(l->keep, known_groups + 1, GROUP_COUNT - 1, ", ")));
}

/* What is said of a group that no rule is of changes nothing. */
static void check_group_is_used(const struct loader *l, const struct rule_group *group)
{
	struct str *names = arena_make(l->keep, struct str, l->set->count + 1);
	const struct keyed r = rule_reading(l->set, group->origin.doc, l->keep, l->err);

	for (ptrdiff_t i = 0; i < l->set->count; i++) {
		names[i] = l->set->items[i]->group.text;
		if (str_eq(names[i], group->name))
			return;
	}
	keyed_fail_as(&r, group->origin.node, DIAG_RULE_NAME, "no rule is of the group '%.*s'%.*s",
		STR_ARG(group->name),
		STR_ARG(did_you_mean(l->keep, group->name, names, l->set->count)));
}

/* What it does not say itself, as the rule above says it in the end. */
static bool take_advice(const struct loader *l, ptrdiff_t at)
{
	struct rule *rule = l->set->items[at];
	const struct rule_text *name = &rule->advice_of;
	const struct rule *of = NULL;

	if (!name->text.p)
		return true;
	for (ptrdiff_t i = 0; i < at && !of; i++)
		if (str_eq(l->set->items[i]->name, name->text))
			of = l->set->items[i];
	if (!of)
		return rule_fail(l, rule, &name->origin, "no rule '%.*s' stands above%.*s",
			STR_ARG(name->text), STR_ARG(rule_hint(l->set, name->text, NULL, l->keep)));
	rule->is_own |= of->is_own;
	if (!rule->cause.count)
		rule->cause = of->cause;
	if (!rule->fix.count)
		rule->fix = of->fix;
	return true;
}

/*
 * What each rule is, of a broken one as far as it was read.  Without its base a file is asked only
 * what its own rules demand by themselves: the base may have the rest.
 */
static void check_rules(struct loader *l)
{
	struct ruleset *set = l->set;

	for (ptrdiff_t i = 0; i < set->count && !set->lacks_base; i++)
		check_group(l, set->items[i], group_named(set, set->items[i]->group.text));
	for (ptrdiff_t i = 0; i < set->group_count && !set->lacks_base; i++)
		check_group_is_used(l, &set->groups[i]);
	for (ptrdiff_t i = 0; i < set->count; i++) {
		struct rule *rule = set->items[i];

		if (!set->lacks_base)
			check_complete(l, rule);
		if (!set->lacks_base)
			take_advice(l, i);
		if (rule->from || rule->select.text.p)
			rule_compile(set, rule, l->keep, l->err);
		if (!set->lacks_base)
			check_needs(l, rule, group_named(set, rule->group.text));
		if (!rule->title.text.p)
			rule->title.text = rule->name;
	}
	if (!set->lacks_base)
		profiles_check(set, l->keep, l->err);
}

/* File by file, as they stand in it; what points nowhere first. */
static int by_place(const void *a, const void *b)
{
	const struct mistake_at *x = a, *y = b;
	int64_t order = str_cmp(x->place.file, y->place.file);

	order = order ? order : x->place.line - y->place.line;
	order = order ? order : x->place.column - y->place.column;
	order = order ? order : x->number - y->number;
	return (order > 0) - (order < 0);
}

/* Whether there are none; else all of them, one below the other: *err has room for some twenty. */
static bool finish(struct loader *l)
{
	const struct mistakes *m = l->set->mistakes;
	ptrdiff_t i = 1;

	check_rules(l);
	if (!m->count)
		return true;
	sort_by(m->items, m->count, by_place);
	diag_set(l->err, m->items[0].note.id, "%.*s", STR_ARG(m->items[0].note.text));
	for (; i < m->count &&
		(ptrdiff_t)strlen(l->err->text) + m->items[i].note.text.len < DIAG_BYTES - 100;
		i++)
		diag_append(l->err, "%.*s", STR_ARG(m->items[i].note.text));
	if (i < m->count)
		diag_append(l->err, "and %s%td more mistakes",
			m->count == MISTAKES_MAX ? "at least " : "", m->count - i);
	return false;
}

/* What matters where no file says it. */
static void set_defaults(struct ruleset *set, struct arena *keep)
{
	static const struct {
		struct str name;
		double value;
		struct doc_node node;
	} matters[MATTERS] = { [MATTER_WARN] = { STR_INIT("warn"), 0.01,
				       { .text = STR_INIT("1%") } },
		[MATTER_FAIL] = { STR_INIT("fail"), 0.02, { .text = STR_INIT("2%") } },
		[MATTER_TOGETHER] = { STR_INIT("together"), 0.10, { .text = STR_INIT("10%") } },
		[MATTER_MEMORY_WARN] = { STR_INIT("memory.warn"), 0.05,
			{ .text = STR_INIT("5%") } },
		[MATTER_MEMORY_FAIL] = {
			STR_INIT("memory.fail"), 0.10, { .text = STR_INIT("10%") } } };
	static const struct doc defaults = { .file = STR_INIT("the default") };

	for (int i = 0; i < MATTERS; i++)
		set->matters[i] = (struct rule_param){ .name = matters[i].name,
			.value = matters[i].value,
			.unit = UNIT_RATIO,
			.text = matters[i].node.text,
			.origin = { &defaults, &matters[i].node } };
	set->noise_assumed.value = set->noise_worth.value = NAN;
	set->mistakes = arena_make(keep, struct mistakes, 1);
}

const struct rule *ruleset_find_rule(
	const struct ruleset *set, struct str name, struct arena *keep, struct diag *err)
{
	const struct rule *rule = ruleset_rule(set, name);

	if (!rule)
		diag_set(err, DIAG_USAGE,
			"no rule of %.*s is called '%.*s'%.*s (rooflint rules list)",
			STR_ARG(set->name), STR_ARG(name),
			STR_ARG(rule_hint(set, name, NULL, keep)));
	return rule;
}

struct noise_prior ruleset_noise(const struct ruleset *set)
{
	struct noise_prior ret = NOISE_PRIOR_DEFAULT;

	if (set->noise_assumed.text.p)
		ret.sd = set->noise_assumed.value;
	if (set->noise_worth.text.p)
		ret.worth = set->noise_worth.value;
	return ret;
}

double rule_matter(const struct ruleset *set, const struct rule *rule, enum matter m)
{
	return rule->matters[m].text.p ? rule->matters[m].value : set->matters[m].value;
}

/* ---- entry -------------------------------------------------------------------------------- */

bool ruleset_load(struct engine *e, const struct rule_source *source, struct str name_or_path,
	const struct list *settings, struct arena *keep, struct ruleset *ret, struct diag *err)
{
	struct loader l = { .set = ret, .keep = keep, .err = err, .source = source };
	struct str name = arena_str(keep, name_or_path), file = name;
	const struct embedded *builtin = find_builtin(name);
	struct str text = { NULL, 0 };

	*ret = (struct ruleset){ .engine = e, .name = name };
	set_defaults(ret, keep);
	if (builtin) {
		file = str_from(builtin->name);
		text = builtin->text;
	} else {
		l.folder = source ? MISSING : path_parent(name);
		if (!read_file(&l, name, &text)) {
			struct str hint = builtin_hint(&l, name);

			return hint.len
				       ? diag_append(err, "%.*s", STR_ARG(str_from_offset(hint, 2)))
				       : false;
		}
	}
	ret->lacks_base |= !load_text(&l, file, text);
	for (int warnings = 0; warnings < 2; warnings++)
		for (ptrdiff_t i = 0; settings && i < settings->count && !ret->lacks_base; i++)
			apply_setting(&l, settings->items[i], warnings);
	return finish(&l);
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
	return MISSING;
}
