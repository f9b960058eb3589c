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
 * report.  Private to rules/.
 */
#ifndef RULES_MESSAGE_H
#define RULES_MESSAGE_H

#include "rules/engine.h"

struct expression;

enum piece_kind {
	PIECE_TEXT,
	PIECE_COLUMN, /* of the row */
	PIECE_RUN,    /* column of the run */
	PIECE_PARAM,
	PIECE_VALUE,	  /* the number that is limited */
	PIECE_PLACES,	  /* what makes it up, the largest first */
	PIECE_PROFILE,	  /* its path, as a shell takes it */
	PIECE_BASELINE,	  /* the same of what it is compared with */
	PIECE_EXPRESSION, /* computed with the row */
	PIECE_PART,	  /* so many pieces behind this may be left out */
};

struct piece {
	enum piece_kind kind;
	struct str text; /* literal */
	const struct column *column;
	ptrdiff_t param; /* of the rule's */
	struct expression *expression;
	bool is_text;
	bool formatted;	 /* the template says how */
	bool brief;	 /* of a text: without its middle, when that is long */
	bool bare;	 /* without its unit */
	struct str noun; /* of a count: what is counted, one of it */
	enum unit unit;	 /* to show it with */
	ptrdiff_t part;
};

struct template
{
	struct piece *pieces;
	ptrdiff_t count, cap;
};

/* What an expression of a text came to: a text when it has one, else a number; NaN: not known. */
struct extra {
	struct str text;
	double real;
};

struct template_names {
	const struct table_def *rows;
	struct rule *rule;
	enum unit value_unit;
	/* An expression between braces, so many bytes into the text; NULL and a fault. */
	struct expression *(*compile)(void *arg, struct str sql, ptrdiff_t at, enum unit *unit,
		bool *is_text, struct sql_fault *fault);
	void *arg;
};

/* What a template is filled with. */
struct template_values {
	const struct rule *rule; /* with its parameters, which profiles: may have changed since */
	const void *row;
	const struct tables *tables;
	double value, explained;
	const struct extra *extras; /* by expression */
	struct str words[3];	    /* PIECE_PLACES and what follows it */
};

/* Parameters met are marked as used. */
bool template_compile(struct str text, const struct template_names *names, struct arena *keep,
	struct template *ret, struct sql_fault *fault);
struct str template_fill(
	const struct template *t, const struct template_values *v, struct arena *keep);

#endif
