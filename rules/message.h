/*
 * Message templates: "{name} takes {p50_s:time}, {efficiency:percent} of its {bound} roofline".
 *
 * A field is a column of the row, a parameter of the rule or run.<column>; without a format it is
 * shown by its unit.  A part between {? and } ("gathers{? over {group_size:count} devices}") is
 * left out when one of its fields is not known.  {{ and }} are braces.  Templates are compiled when
 * the rule file is loaded, so an unknown field is an error with a caret and never a hole in a
 * report.  Private to rules/.
 */
#ifndef RULES_MESSAGE_H
#define RULES_MESSAGE_H

#include "rules/engine.h"

struct piece {
	struct str text;	     /* literal, unless one of the next is set */
	const struct column *column; /* of the row, or of the run */
	bool of_run;
	const struct rule_param *param;
	bool formatted; /* the template says how */
	bool brief;	/* of a text: without its middle, when that is long */
	bool bare;	/* without its unit */
	enum unit unit; /* to show it with */
	ptrdiff_t part; /* so many pieces behind this are a part that may be left out; 0: none */
};

struct template
{
	struct piece *pieces;
	ptrdiff_t count, cap;
};

/* Parameters met are marked as used. */
bool template_compile(struct str text, const struct table_def *rows, struct rule *rule,
	struct arena *keep, struct template *ret, struct sql_fault *fault);
/* `rule` has the parameters' values, which profiles: may have changed since. */
struct str template_fill(const struct template *t, const struct rule *rule, const void *row,
	const struct tables *tables, struct arena *keep);

#endif
