/*
 * Any bytes as a formula: it is refused with a place inside its text, or comes to a finite number
 * that is not negative, or to nothing.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "hlo/text.h"
#include "measure/formula.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
	if (!truth)
		abort();
}

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct arena keep;
	struct formula f;
	struct formula_fault fault;
	if (!keep.base)
		keep = arena_new(ARENA_SCRATCH_BYTES);
	arena_clear(&keep);
	struct str text = { size ? (const char *)data : "", (ptrdiff_t)size };
	if (!formula_parse(text, &keep, &f, &fault)) {
		require(fault.at >= 0 && fault.at <= text.len && fault.width > 0 && fault.text.p);
		return 0;
	}
	const struct hlo_module *m = some_call();
	double value = formula_value(&f, m, &m->instructions[hlo_find_exact(m, STR("c"))]);
	require(isnan(value) || (value >= 0 && isfinite(value)));
	return 0;
}
