/*
 * Texts with numbers in them: "{name} takes {p50_s:time}, {efficiency:percent} of its roofline".
 *
 * A field is a column of the row, a parameter or limit of the rule, value, places, profile and
 * baseline (ready for a command line), run.<column>, a column of the run that the row has none of,
 * or an SQL expression over the row; without a format it is shown by its unit.  A count may take a
 * noun, which follows the number ("{steps:count step}": "1 step", "2 steps").  A part between {?
 * and } ("gathers{? over {group_size:count} devices}") is left out when one of its fields is not
 * known.  {{ and }} are braces.  Templates are compiled
 * when the rule file is loaded, so an unknown field is an error with a caret and never a hole in a
 * report.  Each field is an expression of one statement over the row.  Private to rules/.
 */
#ifndef RULES_MESSAGE_H
#define RULES_MESSAGE_H

#include "rules/engine.h"

struct compiler;
struct expression;
struct listing;

/* A literal, or what an expression comes to. */
struct piece {
	struct str text;
	struct expression *expression;
	ptrdiff_t param; /* of the rule's, said as the rule file says it; -1: none */
	bool brief;	 /* of a text: without its middle, when that is long */
	bool bare;	 /* without its unit */
	struct str noun; /* of a count: what is counted, one of it */
	enum unit unit;	 /* to show it with */
	ptrdiff_t part;	 /* so many pieces behind this may be left out */
};

struct template
{
	struct piece *pieces;
	ptrdiff_t count, cap;
};

/* Beside its rule's parameters a text may speak of these: {value}, {places} ... */
enum wording { WORDING_VALUE, WORDING_PLACES, WORDING_PROFILE, WORDING_BASELINE, WORDINGS };
extern const struct str wording_names[WORDINGS];

/* A text of the compiler's rule; mistakes are reported, as of `key`. */
void template_compile(
	struct compiler *c, const struct rule_text *source, const char *key, struct template *ret);
/*
 * With the current row of the texts' listing; the rule is the one that is judged.  An outline is of
 * no row: its numbers read "...".
 */
struct str template_fill(const struct template *t, const struct rule *rule,
	const struct listing *texts, bool is_outline, struct arena *keep);

#endif
