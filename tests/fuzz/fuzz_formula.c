/*
 * Any bytes as a formula: it is refused with a place inside its text, or comes to a finite number
 * that is not negative, or to nothing.
 */
#include <math.h>

#include "base/sql.h"
#include "hlo/text.h"
#include "measure/formula.h"
#include "tests/fuzz/fuzz.h"

static const struct hlo_module *some_call(void)
{
	static const char text[] =
		"HloModule m\n\nENTRY main {\n"
		"  a = bf16[8,128]{1,0} parameter(0)\n"
		"  ROOT c = f32[8]{0} custom-call(a), custom_call_target=\"t\"\n}\n";
	static struct arena keep;
	static const struct hlo_module *m;
	struct diag err;
	if (!m) {
		keep = arena_new(ARENA_SCRATCH_BYTES);
		m = hlo_text_parse(STR("m"), str_from(text), &keep, &err);
		require(m != NULL);
	}
	return m;
}

static void fuzz(struct str bytes, struct arena *keep)
{
	struct formula f;
	struct sql_fault fault;
	if (!formula_parse(bytes, keep, &f, &fault)) {
		require(fault.at >= 0 && fault.at <= bytes.len && fault.width > 0 && fault.text.p);
		return;
	}
	const struct hlo_module *m = some_call();
	struct formulas *all = formulas_new(keep);
	double value = formula_value(all, &f, m, &m->instructions[hlo_find_exact(m, STR("c"))]);
	require(isnan(value) || (value >= 0 && isfinite(value)));
	formulas_free(all);
}
