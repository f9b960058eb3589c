/* measure/formula: what formulas come to by hand, which calls they are for, and their mistakes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "hlo/text.h"
#include "measure/formula.h"

static struct arena keep;
static struct hlo_module *module;
static const struct hlo_instruction *call;

static int setup(void **state)
{
	static const char text[] =
		"HloModule m\n\nENTRY main {\n"
		"  q = bf16[2,8,128,64]{3,2,1,0} parameter(0)\n"
		"  k = bf16[2,8,256,64]{3,2,1,0} parameter(1)\n"
		"  s = f32[]{} parameter(2)\n"
		"  flash_fwd.3 = (bf16[2,8,128,64]{3,2,1,0}, s8[999]{0}) custom-call(q, k, s), "
		"custom_call_target=\"tpu_custom_call\", "
		"metadata={op_name=\"jit(f)/layer_0/flash_attention/pallas_call\"}\n"
		"  ROOT r = bf16[2,8,128,64]{3,2,1,0} get-tuple-element(flash_fwd.3), index=0\n}\n";
	struct diag err;
	(void)state;
	keep = arena_new(ARENA_SCRATCH_BYTES);
	module = hlo_text_parse(STR("m"), str_from(text), &keep, &err);
	if (!module)
		fail_msg("%s", err.text);
	call = &module->instructions[hlo_find_exact(module, STR("flash_fwd.3"))];
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(&keep);
	return 0;
}

static double value_of(const char *text)
{
	struct formula f;
	struct formula_fault fault;
	if (!formula_parse(str_from(text), &keep, &f, &fault))
		fail_msg("%s: %s", text, arena_z(&keep, fault.text));
	return formula_value(&f, module, call);
}

static void test_values(void **state)
{
	static const struct {
		const char *text;
		double value;
	} cases[] = {
		{ "7", 7 },
		{ "1 + 2 * 3", 7 },
		{ "(1 + 2) * 3", 9 },
		{ "20 - 8 - 2", 10 },
		{ "24 / 4 / 2", 3 },
		{ "-2 + 5", 3 },
		{ "2 * -3 * -1", 6 },
		{ "1.5e3", 1500 },
		{ "dim(0, 2)", 128 },
		{ "dim(0, -1)", 64 },
		{ "elements(1)", 2 * 8 * 256 * 64 },
		{ "bytes(1)", 2 * 2 * 8 * 256 * 64 },
		{ "bytes(2)", 4 },
		{ "out_dim(2) + out_elements() + out_bytes()", 128 + 3 * 131072 },
		{ "min(2, dim(0, 0)) + max(3, 4)", 6 },
		/* Attention: two products of 2 x B x N x T x S x H. */
		{ "4 * dim(0, 0) * dim(0, 1) * dim(0, 2) * dim(1, 2) * dim(0, 3)",
			4. * 2 * 8 * 128 * 256 * 64 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (value_of(cases[i].text) != cases[i].value)
			fail_msg("%s is %g, not %g", cases[i].text, value_of(cases[i].text),
				cases[i].value);
}

/* What does not fit this call is unknown, never 0. */
static void test_unknown(void **state)
{
	static const char *const cases[] = { "dim(3, 0)", "dim(0, 4)", "dim(0, -5)", "dim(2, 0)",
		"bytes(7)", "elements(0.5)", "1 / 0", "0 / 0", "1 - 2", "max(1, dim(9, 0))",
		"min(1, dim(9, 0))", "dim(-1, 0)", "out_dim(9)" };
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!isnan(value_of(cases[i])))
			fail_msg("%s is %g", cases[i], value_of(cases[i]));
}

static void test_mistakes(void **state)
{
	static const struct {
		const char *text;
		ptrdiff_t at;
		const char *says;
	} cases[] = {
		{ "", 0, "a number or a function is expected here" },
		{ "2 *", 3, "a number or a function is expected here" },
		{ "2 * dims(0, 1)", 4, "did you mean 'dim'?" },
		{ "seq_len * 2", 0, "there is no 'seq_len' here, but dim(operand, i)" },
		{ "dim(0)", 0, "it is written dim(operand, i)" },
		{ "out_bytes", 0, "it is written out_bytes()" },
		{ "(1 + 2", 6, "a ')' is missing here" },
		{ "1 2", 2, "an operator is expected here" },
		{ "1 + 2)", 5, "an operator is expected here" },
		{ "12GB", 0, "this is not a number" },
		{ "dim(0, ", 7, "a number or a function is expected here" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct formula f;
		struct formula_fault fault;
		assert_false(formula_parse(str_from(cases[i].text), &keep, &f, &fault));
		if (fault.at != cases[i].at || !strstr(arena_z(&keep, fault.text), cases[i].says))
			fail_msg("%s: at %td: %s", cases[i].text, fault.at,
				arena_z(&keep, fault.text));
	}
}

static void test_limits(void **state)
{
	struct formula f;
	struct formula_fault fault;
	struct str deep = STR("1"), longest = STR("1");
	(void)state;
	for (int i = 0; i < FORMULA_MAX_DEPTH; i++)
		deep = arena_fmt(&keep, "(%.*s)", STR_ARG(deep));
	assert_false(formula_parse(deep, &keep, &f, &fault));
	for (int i = 0; i < FORMULA_MAX_NODES; i++)
		longest = arena_fmt(&keep, "%.*s+1", STR_ARG(longest));
	assert_false(formula_parse(longest, &keep, &f, &fault));
	/* A row of signs nests as well. */
	struct str signs = STR("1");
	for (int i = 0; i < FORMULA_MAX_NODES; i++)
		signs = arena_fmt(&keep, "-%.*s", STR_ARG(signs));
	assert_false(formula_parse(signs, &keep, &f, &fault));
}

static void test_names(void **state)
{
	static const struct {
		const char *name;
		bool fits;
	} cases[] = { { "tpu_custom_call", true }, { "tpu_*", true }, { "flash_fwd", true },
		{ "*flash_attention*", true }, { "flash_bwd", false }, { "", false } };
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct op_cost items[] = { { .name = STR("other") },
			{ .name = str_from(cases[i].name) } };
		struct op_costs costs = { items, 2, 2 };
		assert_true((op_cost_find(&costs, call) == &items[1]) == cases[i].fits);
		assert_null(op_cost_find(&costs, &module->instructions[call->operands[0]]));
	}
	struct op_cost twice[] = { { .name = STR("tpu_*") }, { .name = STR("*") } };
	struct op_costs costs = { twice, 2, 2 };
	assert_ptr_equal(op_cost_find(&costs, call), &twice[1]);
	assert_null(op_cost_find(NULL, call));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_names),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
