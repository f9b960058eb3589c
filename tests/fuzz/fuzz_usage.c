/* Chip-hours as CSV: whatever comes, numbers are numbers, and a mistake has its line. */
#include <math.h>

#include "store/usage.h"
#include "tests/fuzz/fuzz.h"

static bool check(void *arg, const struct usage *u, struct diag *err)
{
	(void)arg;
	(void)err;
	if (!u->workload.len || !(u->chip_hours >= 0) || u->price < 0 || isinf(u->chip_hours))
		abort();
	return true;
}

static void fuzz(struct str bytes, struct arena *keep)
{
	struct diag err = { 0 };
	(void)keep;
	if (!usage_read(STR("f"), bytes, check, NULL, &err) &&
		!str_starts(str_from(err.text), STR("f:")))
		abort();
}
