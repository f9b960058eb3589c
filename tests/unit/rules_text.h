/* Rules from a text in memory, which extends no files.  For tests and fuzzing. */
#ifndef TESTS_RULES_TEXT_H
#define TESTS_RULES_TEXT_H

#include "rules/ruleset.h"

/* The first file that is asked for is the text. */
static inline bool rules_text_read(
	void *arg, struct str path, struct arena *arena, struct str *ret, struct diag *err)
{
	struct str *text = arg;

	(void)arena;
	if (!text->p)
		return diag_set(
			err, DIAG_FILE_OPEN, "%.*s: there are no files here", STR_ARG(path));
	*ret = *text;
	*text = MISSING;
	return true;
}

static inline bool ruleset_parse(struct engine *e, struct str file, struct str text,
	struct arena *to, struct ruleset *ret, struct diag *err)
{
	const struct rule_source source = { rules_text_read, &text };

	return ruleset_load(e, &source, file, NULL, to, ret, err);
}

#endif
