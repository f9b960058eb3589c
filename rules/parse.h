/*
 * Reading one rule file: YAML nodes into rules, later files over earlier ones.  Private to rules/.
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

/* What the value of a key looks like; of a word the key lists which. */
enum key_shape {
	SHAPE_TEXT,
	SHAPE_SCALAR,
	SHAPE_BOOL,
	SHAPE_RULES,
	SHAPE_VERSION,
	SHAPE_LIST,
	SHAPE_MAP
};

/* A key of a section's entries: for the section's reader, and for the schema. */
struct section_key {
	struct str name;
	ptrdiff_t value; /* offset in what an entry becomes */
	enum key_shape shape;
	bool required;
	const struct str *words; /* NULL: any text */
	int word_count;
	struct str meaning;
};

struct section {
	const char *entry; /* "a waiver" */
	const struct section_key *keys;
	int count;
};
extern const struct section waiver_section, profile_section, cost_section, notice_section;

/* A key of the document. */
struct document_key {
	struct str name, meaning;
	enum key_shape shape;
	const struct section *section; /* of a list of entries, or a map from names to them */
};
extern const struct document_key document_keys[];
extern const int document_key_count;

/* The entry's key of that name; NULL with an error where it has none. */
const struct section_key *section_key_find(
	const struct rule_reader *r, const struct section *section, const struct doc_node *key);

/* The document's rules into the set; *extends is the node of that key, or NULL. */
bool document_check(const struct rule_reader *r, const struct doc_node **extends);
bool document_rules(const struct rule_reader *r);
bool document_costs(const struct rule_reader *r);   /* costs.c */
bool document_notices(const struct rule_reader *r); /* notice.c */
bool rule_name_ok(struct str s); /* small letters, digits and '-', not too long */

/* value.c: set one key of a rule, or one parameter, from a node. */
bool value_set(const struct rule_reader *r, struct rule *rule, const struct rule_key *key,
	const struct doc_node *node);
bool param_set(const struct rule_reader *r, struct rule *rule, struct str name,
	const struct doc_node *at, const struct doc_node *node);

/* An error at a node.  Always false. */
bool node_fail(const struct rule_reader *r, const struct doc_node *node, enum diag_id id,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));
const struct rule_key *rule_key_find(struct str name);
struct origin origin_of(const struct rule_reader *r, const struct doc_node *node);

#endif
