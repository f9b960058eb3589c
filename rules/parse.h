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
