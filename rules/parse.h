/*
 * Reading one rule file: YAML nodes into rules, later files over earlier ones.  Private to rules/.
 *
 * A file has sections, a section has entries, and an entry has keys.  One table describes the keys
 * of an entry: for the reader (value.c), the printer (print.c) and the schema (schema.c).
 *
 * A mistake is noted and reading goes on behind it, so that all of a file are told at once.
 *
 * Refuses: looking at what the rules mean (ruleset.c, compile.c) and following `extends`.
 */
#ifndef RULES_PARSE_H
#define RULES_PARSE_H

#include "rules/ruleset.h"

struct rule_reader {
	struct ruleset *set;
	const struct doc *doc;
	struct arena *keep;
	struct diag *err;
};

/* A key's value becomes one of these in its entry; value.c has a row for each. */
enum key_type {
	KEY_TEXT,   /* struct rule_text, without blanks around it */
	KEY_SQL,    /* struct rule_text as it stands, so that places in it are places in the file */
	KEY_SCALAR, /* as KEY_TEXT; in a schema a number or a flag, too */
	KEY_TABLE,  /* struct rule_text: the name of a table */
	KEY_WORD,   /* an enum: index of one of `words` */
	KEY_BOOL,   /* bool */
	KEY_COUNT,  /* int64_t */
	KEY_NAMES,  /* struct name_list: a list, or one name */
	KEY_NUMBER, /* struct rule_param: a number */
	KEY_SHARE,  /* struct rule_param: a share, with its % */
	KEY_LIMIT,  /* of a rule: a number, or { warn, fail } */
	KEY_CEILING,  /* of a waiver: a number */
	KEY_PARAMS,   /* those of a rule */
	KEY_ADVICE,   /* struct advice_list: a text, or a list of { when, do } */
	KEY_PART,     /* a map with the keys of the section `part` */
	KEY_RULES,    /* const struct doc_node *: changes of rules by name */
	KEY_VARIABLE, /* struct str: name of an environment variable */
	KEY_FORMULA,  /* struct formula */
	KEY_TYPES
};

struct rule_key {
	struct str name;
	enum key_type type;
	ptrdiff_t value,
		origin; /* offsets in the entry; origin 0: the value knows its own, if any */
	struct str meaning;
	bool required;
	bool tuned;		 /* needs no new expression: profiles: may change it */
	bool at_least;		 /* KEY_LIMIT and KEY_CEILING: a lower one */
	const char *instead;	 /* the key that this one stands for: an entry has not both */
	const struct str *words; /* KEY_WORD */
	int word_count;
	const struct section *part; /* KEY_PART */
};

/* A row of a table of keys; more members may follow. */
#define RULE_KEY(key, how, owner, member, says, ...)                                               \
	{                                                                                          \
		.name = STR_INIT(key), .type = how, .value = offsetof(owner, member),              \
		.meaning = STR_INIT(says), __VA_ARGS__                                             \
	}

struct section {
	const char *entry;   /* "a waiver" */
	const char *example; /* of an entry */
	const char *wanted;  /* what the section is, for an error */
	const struct rule_key *keys;
	int count;
	bool is_list;
	/* One entry; `name` is its key, or of a list the entry itself. */
	bool (*read)(const struct rule_reader *r, const struct doc_node *name,
		const struct doc_node *value);
	/* Of a part (KEY_PART) what is left to check when its keys are read, or NULL. */
	bool (*agree)(const struct rule_reader *r, const struct doc_node *map, void *entry);
};
extern const struct section rule_section, waiver_section, profile_section, cost_section,
	notice_section, group_section, set_section, advice_section;
/* The set's own values: keys of struct ruleset. */
extern const struct section head_section;

/* A key of the document. */
struct document_key {
	struct str name, meaning;
	const struct section *section; /* NULL: version, extends and what head_section describes */
};
extern const struct document_key document_keys[];
extern const int document_key_count;

/*
 * The document's keys, its version and what it extends (NULL: nothing).  False when the rest cannot
 * be read; other mistakes are noted.
 */
bool document_check(const struct rule_reader *r, const struct doc_node **extends);
/* Its sections into the set; mistakes are noted. */
void document_read(const struct rule_reader *r);

/* Lower-case letters, digits and '-', not too long. */
bool rule_name_ok(struct str s);
struct rule_group *group_named(const struct ruleset *set, struct str name); /* or NULL */
struct rule_set *set_named(const struct ruleset *set, struct str name);	    /* or NULL */
/* "; did you mean 'x'?", or nothing when no other rule is near.  (ruleset.c) */
struct str rule_hint(const struct ruleset *set, struct str name, struct arena *keep);

/*
 * The keys of a map into `entry`, laid out as the section's keys say.  `owner` is the entry's name
 * in messages, and `at` the node that lacks what is required.
 */
bool entry_read(const struct rule_reader *r, const struct section *section, struct str owner,
	const struct doc_node *at, const struct doc_node *map, void *entry);
const struct rule_key *section_key(const struct section *section, struct str name); /* or NULL */
/* Where the key was set; NULL: the entry does not keep that.  (value.c) */
const struct origin *key_origin(const struct rule_key *key, const void *entry);
/* What the value is in a JSON Schema: a type, or what schema.c defines.  (value.c) */
const char *key_schema(enum key_type type);
/* value.c: set one key of an entry, or one parameter or limit of a rule, from a node. */
bool value_set(const struct rule_reader *r, struct str owner, const struct rule_key *key,
	const struct doc_node *node, void *entry);
bool param_set(const struct rule_reader *r, struct rule *rule, struct str name,
	const struct doc_node *at, const struct doc_node *node);
/* PARAM_WARN or PARAM_FAIL. */
bool limit_set(
	const struct rule_reader *r, struct rule *rule, int which, const struct doc_node *node);
void limits_clear(struct rule *rule);
/* A warning looser than the failure moves to it, or is a mistake at the node that sets it. */
bool limits_agree(const struct rule_reader *r, struct rule *rule, const struct doc_node *sets_warn);
/*
 * A number meets what it is held against, which has the unit `wanted`; a bare one takes that over,
 * unless it is a share above 1 or a time.  `to`: "is a ratio", as a message goes on.
 */
bool number_fits(const struct rule_reader *r, struct str owner, struct str name,
	struct rule_param *number, enum unit wanted, struct str instead);

/* An error at a node, noted.  Always false. */
bool node_fail(const struct rule_reader *r, const struct doc_node *node, enum diag_id id,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* What *err says is one more mistake.  Always false. */
bool mistake_note(struct mistakes *mistakes, struct arena *keep, const struct diag *err);
struct origin origin_of(const struct rule_reader *r, const struct doc_node *node);
/* "a, b and c", by the word that stands before the last: " and ", " or ", ", ". */
struct str words_joined(
	struct arena *keep, const struct str *words, ptrdiff_t count, const char *last);

/* profiles.c: once all rules are known, whether every entry could be applied. */
bool profiles_check(const struct ruleset *set, struct arena *keep, struct diag *err);
/* The set as it is for this run; the same one when no entry matches. */
const struct ruleset *profiles_apply(
	const struct ruleset *set, const struct tables *tables, struct arena *keep);

#endif
