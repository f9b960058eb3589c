/* base/kind: the tables agree with their enums and with XLA's numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/kind.h"

static void kinds(void **state)
{
	(void)state;
	for (int k = 0; k < KIND_COUNT; k++) {
		assert_true(op_kind_name((enum op_kind)k).len > 0);
		for (int j = 0; j < k; j++)
			assert_false(str_eq(
				op_kind_name((enum op_kind)k), op_kind_name((enum op_kind)j)));
	}
	assert_true(str_eq(op_kind_name(KIND_REDUCE_SCATTER), STR("reduce-scatter")));
	assert_int_equal(op_kind_activity(KIND_MATMUL), ACTIVITY_COMPUTE);
	assert_int_equal(op_kind_activity(KIND_CONTROL), 0);
	assert_int_equal(op_kind_activity(KIND_COPY), ACTIVITY_COPY);
	assert_int_equal(op_kind_activity(KIND_SEND), ACTIVITY_COMMS);
	assert_int_equal(op_kind_activity(KIND_INFEED), ACTIVITY_TRANSFER);
	assert_true(str_eq(op_kind_name((enum op_kind)999), STR("unknown")));
	assert_true(str_eq(op_kind_name((enum op_kind) - 1), STR("unknown")));
}

static void collectives(void **state)
{
	(void)state;
	int count = 0;
	for (int k = 0; k < KIND_COUNT; k++)
		count += op_kind_is_collective((enum op_kind)k);
	assert_int_equal(count, 6);
	assert_true(op_kind_is_collective(KIND_ALL_GATHER));
	assert_true(op_kind_is_collective(KIND_BROADCAST));
	assert_false(op_kind_is_collective(KIND_SEND));
	assert_false(op_kind_is_collective(KIND_COPY));
}

static void vector_units(void **state)
{
	(void)state;
	assert_true(op_kind_is_vector(KIND_ELEMENTWISE) && op_kind_is_vector(KIND_REDUCE));
	assert_false(op_kind_is_vector(KIND_MATMUL) || op_kind_is_vector(KIND_ATTENTION));
	/* What nobody looked into may multiply. */
	assert_false(op_kind_is_vector(KIND_CUSTOM) || op_kind_is_vector(KIND_UNKNOWN));
}

static void dtypes(void **state)
{
	(void)state;
	for (int t = 1; t < DTYPE_COUNT; t++) {
		assert_true(dtype_name((enum dtype)t).len > 0);
		assert_int_equal(dtype_find(dtype_name((enum dtype)t)), t);
	}
	assert_int_equal(dtype_find(STR("f32")), 11);
	assert_int_equal(dtype_find(STR("bf16")), 16);
	assert_int_equal(dtype_find(STR("c128")), 18);
	assert_int_equal(dtype_find(STR("f8e4m3b11fnuz")), 23);
	assert_int_equal(dtype_find(STR("u1")), 31);
	assert_int_equal(dtype_find(STR("f6e2m3fn")), 36);
	assert_int_equal(dtype_find(STR("f31")), DTYPE_INVALID);
	assert_int_equal(dtype_find(STR("invalid")), DTYPE_INVALID);
}

static void bits(void **state)
{
	(void)state;
	assert_int_equal(dtype_bits(DTYPE_PRED), 8);
	assert_int_equal(dtype_bits(DTYPE_BF16), 16);
	assert_int_equal(dtype_bits(DTYPE_C128), 128);
	assert_int_equal(dtype_bits(DTYPE_S4), 4);
	assert_int_equal(dtype_storage_bits(DTYPE_S4), 8);
	assert_int_equal(dtype_storage_bits(DTYPE_F6E3M2FN), 8);
	assert_int_equal(dtype_storage_bits(DTYPE_F32), 32);
	assert_int_equal(dtype_bits(DTYPE_TUPLE), 0);
	assert_int_equal(dtype_storage_bits(DTYPE_TUPLE), 0);
	assert_int_equal(dtype_bits((enum dtype)77), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds),
		cmocka_unit_test(collectives),
		cmocka_unit_test(vector_units),
		cmocka_unit_test(dtypes),
		cmocka_unit_test(bits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
