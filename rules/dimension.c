/* Units of computed values.  See dimension.h. */
#include "rules/dimension.h"

static const struct dimension any = { DIMENSION_ANY, UNIT_NONE };

const char *unit_noun(enum unit u)
{
	static const char *const nouns[] = {
		[UNIT_NONE] = "a number",
		[UNIT_COUNT] = "a count",
		[UNIT_RATIO] = "a ratio",
		[UNIT_SECONDS] = "a time",
		[UNIT_BYTES] = "a size in bytes",
		[UNIT_FLOPS] = "a number of FLOPs",
		[UNIT_BYTES_PER_SECOND] = "a rate in bytes/s",
		[UNIT_FLOPS_PER_SECOND] = "a rate in FLOP/s",
		[UNIT_BOOL] = "a flag",
		[UNIT_DOLLARS] = "an amount of money",
	};
	return (unsigned)u < sizeof(nouns) / sizeof(nouns[0]) ? nouns[u] : "a number";
}

struct dimension dimension_of(enum unit u)
{
	return (struct dimension){ u == UNIT_NONE ? DIMENSION_ANY : DIMENSION_UNIT, u };
}

static bool is_share(struct dimension d)
{
	return d.kind == DIMENSION_UNIT &&
	       (d.unit == UNIT_RATIO || d.unit == UNIT_COUNT || d.unit == UNIT_BOOL);
}

/* Numbers without dimension: multiplying by them keeps a unit. */
static bool is_pure(struct dimension d)
{
	return d.kind == DIMENSION_BARE || is_share(d);
}

bool dimension_fits(struct dimension a, struct dimension b)
{
	if (a.kind != DIMENSION_UNIT || b.kind != DIMENSION_UNIT)
		return true;
	return a.unit == b.unit || (is_share(a) && is_share(b));
}

static struct dimension sum(struct dimension a, struct dimension b)
{
	if (a.kind == DIMENSION_ANY || b.kind == DIMENSION_ANY)
		return any;
	return a.kind == DIMENSION_UNIT ? a : b;
}

static struct dimension product(struct dimension a, struct dimension b)
{
	if (a.kind == DIMENSION_BARE || (is_share(a) && b.kind == DIMENSION_UNIT))
		return b;
	return is_pure(b) ? a : any;
}

static const struct {
	enum unit over, under, result;
} quotients[] = {
	{ UNIT_BYTES, UNIT_SECONDS, UNIT_BYTES_PER_SECOND },
	{ UNIT_BYTES, UNIT_BYTES_PER_SECOND, UNIT_SECONDS },
	{ UNIT_FLOPS, UNIT_SECONDS, UNIT_FLOPS_PER_SECOND },
	{ UNIT_FLOPS, UNIT_FLOPS_PER_SECOND, UNIT_SECONDS },
};

static struct dimension quotient(struct dimension a, struct dimension b)
{
	if (is_pure(b))
		return a;
	if (a.kind != DIMENSION_UNIT || b.kind != DIMENSION_UNIT)
		return any;
	if (a.unit == b.unit)
		return dimension_of(UNIT_RATIO);
	for (size_t i = 0; i < sizeof(quotients) / sizeof(quotients[0]); i++)
		if (quotients[i].over == a.unit && quotients[i].under == b.unit)
			return dimension_of(quotients[i].result);
	return any;
}

struct dimension dimension_combine(char sign, struct dimension a, struct dimension b)
{
	switch (sign) {
	case '+':
	case '-':
		return sum(a, b);
	case '*':
		return product(a, b);
	case '/':
		return quotient(a, b);
	default:
		return a;
	}
}
