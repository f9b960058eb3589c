/* Chip-hours as CSV: whatever comes, numbers are numbers, and a mistake has its line. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "store/usage.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool check(void *arg, const struct usage *u, struct diag *err)
{
	(void)arg;
	(void)err;
	if (!u->workload.len || !(u->chip_hours >= 0) || u->price < 0 || isinf(u->chip_hours))
		abort();
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct diag err = { 0 };
	struct str text = { size ? (const char *)data : "", (ptrdiff_t)size };
	if (!usage_read(STR("f"), text, check, NULL, &err) &&
		!str_starts(str_from(err.text), STR("f:")))
		abort();
	return 0;
}
