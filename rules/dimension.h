/*
 * Units of computed values: what seconds times a share is, and what must not be compared.
 *
 * Only mistakes are found; where a unit cannot be known (a product of times) nothing is refused.
 * Private to rules/.
 */
#ifndef RULES_DIMENSION_H
#define RULES_DIMENSION_H

#include "base/unit.h"

enum dimension_kind {
	DIMENSION_ANY,	/* cannot be known */
	DIMENSION_BARE, /* a number as written: 1.5 takes the unit of its neighbour */
	DIMENSION_UNIT, /* of a column or a parameter with a unit, or computed from such */
};

struct dimension {
	enum dimension_kind kind;
	enum unit unit;
};

const char *unit_noun(enum unit u); /* "a time", "a ratio" ... */
struct dimension dimension_of(enum unit u);
/* Seconds and bytes never meet; shares, counts and flags are plain numbers among themselves. */
bool dimension_fits(struct dimension a, struct dimension b);
/* The result of `a sign b` for + - * / %. */
struct dimension dimension_combine(char sign, struct dimension a, struct dimension b);

#endif
