/*
 * Reading one rule file: YAML nodes into rules, later files over earlier ones.  Private to rules/.
 *
 * A file has sections, a section has entries, and an entry has keys.  Tables describe them
 * (base/keyed.h): for the reader (value.c has the types), the printer (print.c) and the schema
 * (schema.c).  The reading's `arg` is the set.
 *
 * Refuses: looking at what the rules mean (ruleset.c, compile.c) and following `extends`.
 */
#ifndef RULES_PARSE_H
#define RULES_PARSE_H

#include "rules/ruleset.h"

/* What one entry of a section is. */
extern const struct key rule_entry, waiver_entry, profile_entry, notice_entry, set_entry,
	advice_entry;
extern const struct key document;

/* Flags of a key. */
enum {
	RULE_TUNED = 1,	   /* needs no new expression: profiles: may change it */
	RULE_AT_LEAST = 2, /* of a limit: a lower one */
};

/* A row of a table of keys whose value keeps its origin; one whose value does not. */
#define RULE_KEY(key, how, owner, member, says, ...)                                               \
	KEYED(key, how, .offset = offsetof(owner, member),                                         \
		.origin = offsetof(owner, member.origin), .meaning = STR_INIT(says), __VA_ARGS__)
#define RULE_PLAIN(key, how, owner, member, says, ...)                                             \
	KEYED(key, how, .offset = offsetof(owner, member), .meaning = STR_INIT(says), __VA_ARGS__)

/* Types of values (value.c). */
KEY_READ(key_trimmed);	/* struct rule_text, without blanks around it */
KEY_READ(key_sql);	/* struct rule_text as it stands, so that places in it are the file's */
KEY_READ(key_table);	/* struct rule_text: the name of a table */
KEY_READ(key_list);	/* struct name_list: a list, or one name */
KEY_READ(key_measure);	/* struct rule_param: of the key's unit, within its bounds */
KEY_READ(key_limit);	/* of a rule: a number, or { warn, fail } */
KEY_READ(key_ceiling);	/* of a waiver: a number */
KEY_READ(key_params);	/* those of a rule */
KEY_READ(key_advice);	/* struct advice_list: a text, or a list of { when, do } */
KEY_READ(key_changes);	/* const struct doc_node *: changes of rules by name */
KEY_READ(key_variable); /* struct str: name of an environment variable */

/*
 * The document's keys, its version and what it extends (NULL: nothing).  False when the rest cannot
 * be read; other mistakes are noted.
 */
bool document_check(const struct keyed *r, const struct doc_node **extends);
/* Its sections into the set; mistakes are noted. */
void document_read(const struct keyed *r);
/* A reading of rules, into the set. */
struct keyed rule_reading(
	struct ruleset *set, const struct doc *doc, struct arena *keep, struct diag *err);
/* The same of one entry: `owner` names it in messages, `at` lacks what is required. */
bool entry_read(const struct keyed *r, const struct key *of, struct str owner,
	const struct doc_node *at, const struct doc_node *map, void *to);

/* Lower-case letters, digits and '-', not too long. */
bool rule_name_ok(struct str s);
struct rule_group *group_named(const struct ruleset *set, struct str name); /* or NULL */
struct rule_set *set_named(const struct ruleset *set, struct str name);	    /* or NULL */
/*
 * "; did you mean 'x'?", of rules that another file than `but` states; else the built-in set that
 * has this one; or nothing.  (ruleset.c)
 */
struct str rule_hint(
	const struct ruleset *set, struct str name, const struct doc *but, struct arena *keep);
struct origin origin_of(const struct keyed *r, const struct doc_node *node);

/* value.c */
void limits_clear(struct rule *rule);
/*
 * A number meets what it is held against, which has the unit `wanted`; a bare one takes that over,
 * unless it is a share above 1 or a time.  `instead`: why that unit, as a message goes on.
 */
bool number_fits(const struct keyed *r, struct str name, struct rule_param *number,
	enum unit wanted, struct str instead);

/* profiles.c: changes by rule.  One that is `from`'s, too, is copied before; NULL: none is. */
bool rules_tune(const struct keyed *r, const struct ruleset *from, const struct doc_node *changes);
/* Once all rules are known, whether every entry could be applied. */
bool profiles_check(const struct ruleset *set, struct arena *keep, struct diag *err);
/* The set as it is for this run; the same one when no entry matches. */
const struct ruleset *profiles_apply(
	const struct ruleset *set, const struct tables *tables, struct arena *keep);

#endif
