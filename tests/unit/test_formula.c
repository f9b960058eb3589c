/* measure/formula: what formulas come to by hand, and their mistakes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/sql.h"
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
	struct sql_fault fault;
	if (!formula_parse(str_from(text), &keep, &f, &fault))
		fail_msg("%s: %s", text, arena_z(&keep, fault.text));
	struct formulas *all = formulas_new(&keep);
	double value = formula_value(all, &f, module, call);
	assert_true(isnan(value) || value == formula_value(all, &f, module, call));
	formulas_free(all);
	return value;
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
		{ "1.5e3", 1500 },
		{ "dim(0, 2)", 128 },
		{ "dim(0, -1)", 64 },
		{ "dim(0, 0) / 4", 0.5 }, /* no whole numbers */
		{ "rank(1)", 4 },
		{ "elements(1)", 2 * 8 * 256 * 64 },
		{ "bytes(1)", 2 * 2 * 8 * 256 * 64 },
		{ "bytes(2)", 4 },
		{ "out_dim(2) + out_elements() + out_bytes()", 128 + 3 * 131072 },
		{ "out_count()", 2 },
		{ "factor(1)", 1 },
		{ "min(2, dim(0, 0)) + max(3, 4)", 6 },
		{ "iif(dtype(0) = 'bf16', 16, 32)", 16 },
		{ "case when rank(0) = 4 then 1 else 2 end", 1 },
		{ "coalesce(dim(9, 0), 5) -- of no operand", 5 },
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
		"bytes(7)", "elements(0.5)", "1 / 0", "0 / 0", "1 - rank(0)", "max(1, dim(9, 0))",
		"min(1, dim(9, 0))", "dim(-1, 0)", "out_dim(9)", "null", "'text'", "factor(2)",
		"dim(factor(7), 0)", "9e999", "dtype(0)", "elements(null)" };
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!isnan(value_of(cases[i])))
			fail_msg("%s is %g", cases[i], value_of(cases[i]));
}

static void test_types(void **state)
{
	static const struct {
		const char *text;
		enum dtype type;
	} cases[] = { { "dtype(0)", DTYPE_BF16 }, { "dtype(2)", DTYPE_F32 }, { "'s8'", DTYPE_S8 },
		{ "dtype(9)", DTYPE_INVALID }, { "7", DTYPE_INVALID },
		{ "'bfloat'", DTYPE_INVALID } };
	struct formulas *all = formulas_new(&keep);
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct formula *f = arena_make(&keep, struct formula, 1);
		f->text = str_from(cases[i].text);
		assert_int_equal(formula_dtype(all, f, module, call), cases[i].type);
	}
	formulas_free(all);
}

static void test_mistakes(void **state)
{
	static const struct {
		const char *text;
		ptrdiff_t at;
		const char *says;
	} cases[] = {
		{ "", 0, "an expression is expected here" },
		{ "2 *", 3, "something is missing at the end" },
		{ "2 * dims(0, 1)", 4, "no such function: dims" },
		{ "seq_len * 2", 0, "no such column: seq_len" },
		{ "\"seq_len\" * 2", 0, "no such column: seq_len" },
		{ "dim(0)", 0, "wrong number of arguments to function dim()" },
		{ "(1 + 2", 6, "something is missing at the end" },
		{ "1 2", 2, "syntax error" },
		{ "1 + 2)", 6, "a bracket too many" },
		{ "1) + (2", 0, NULL },
		{ "1), (2", 0, "one expression, no more" },
		{ "1); select (2", 1, "only one statement is allowed" },
		{ "12GB", 0, "unrecognized token" },
		{ "printf('%99999d', 1)", 0, "not allowed here" },
		{ "-2", 0, "this is -2 for every call" },
		{ "3 - 2 * 4.5", 0, "this is -6 for every call" },
		{ "coalesce(-abs(rank(0)), -1)", 0, "this is -1 for every call" },
		{ "-2 * dim(0, 0)", 0, NULL },
		{ "-out_count() * factor(0)", 0, NULL },
		{ "load_extension('x')", 0, "not allowed here" },
		{ "(select count(*) from sqlite_schema)", 0, "not allowed here" },
		{ "(with recursive r(n) as (select 1 union all select n + 1 from r) "
		  "select n from r)",
			0, "" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct formula f;
		struct sql_fault fault;
		bool ok = formula_parse(str_from(cases[i].text), &keep, &f, &fault);
		if (ok != !cases[i].says)
			fail_msg("%s: %s", cases[i].text, ok ? "fine" : "a mistake");
		if (ok || !*cases[i].says)
			continue;
		if (fault.at > str_from(cases[i].text).len ||
			!strstr(arena_z(&keep, fault.text), cases[i].says))
			fail_msg("%s: at %td: %s", cases[i].text, fault.at,
				arena_z(&keep, fault.text));
	}
}

static void test_limits(void **state)
{
	struct formula f;
	struct sql_fault fault;
	struct str deep = STR("1"), longest = STR("1");
	(void)state;
	for (int i = 0; i < 100; i++)
		deep = arena_fmt(&keep, "abs(%.*s)", STR_ARG(deep));
	assert_false(formula_parse(deep, &keep, &f, &fault));
	for (int i = 0; i < 3000; i++)
		longest = arena_fmt(&keep, "%.*s+1", STR_ARG(longest));
	assert_false(formula_parse(longest, &keep, &f, &fault));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_limits),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
