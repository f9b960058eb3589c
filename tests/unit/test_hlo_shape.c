/* hlo/shape: XLA's grammar, sizes with and without tiles, and shapes that cannot be. */
#include <string.h>

#include "hlo/read.h"
#include "tests/unit/pb.h"
#include "tests/unit/keep.h"

static struct diag err;

static struct shape parse(const char *text)
{
	struct shape s;
	struct str rest;
	if (!shape_parse(str_from(text), &keep, &s, &rest, &err))
		fail_msg("%s: %s", text, err.text);
	assert_int_equal(rest.len, 0);
	return s;
}

static bool from_proto(struct str bytes, struct shape *ret)
{
	struct reader r = { .keep = &keep, .whole = bytes, .err = &err };
	return read_shape(&r, bytes, ret);
}

/* Through the wire and back. */
static struct shape reread(const struct shape *s)
{
	struct shape back;
	if (!from_proto(pb_shape_proto(&keep, s), &back))
		fail_msg("%s", err.text);
	return back;
}

#define assert_str(s, text) assert_string_equal(arena_z(&keep, (s)), (text))

/* Sources: XLA's tiled-layout page, its layout tests, and the out-of-memory reports of users. */
static const struct {
	const char *text;
	int64_t logical, padded;
} sizes[] = {
	{ "f32[3,5]{1,0:T(2,2)}", 60, 96 },
	{ "bf16[3,5]{1,0:T(8,128)(2,1)}", 30, 2048 },
	{ "f32[3,5]{1,0:T(8,128)}", 60, 4096 },
	{ "f32[3,5]{1,0:T(4,128)}", 60, 2048 },
	{ "s8[3,5]{1,0:T(8,128)(4,1)}", 15, 1024 },
	{ "bf16[3,5]{1,0:T(16,128)(2,1)}", 30, 4096 },
	{ "bf16[4,8]{1,0:T(2,4)(2,1)}", 64, 64 },
	{ "bf16[32,32,8192]{2,1,0:T(8,128)(2,1)S(1)}", 16777216, 16777216 },
	{ "bf16[8,256]{1,0:T(8,128)(2,1,1,1)}", 4096, 8192 },
	{ "bf16[8192]{0:T(1024)(128)(2,1)}", 16384, 16384 },
	{ "bf16[1000]{0:T(1024)(128)(2,1)}", 2000, 2048 },
	{ "f32[]{:T(128)}", 4, 512 },
	{ "pred[]{:T(512)}", 1, 512 },
	{ "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", 49280, 49728 },
	/* What TPUs said when they ran out of memory: sizes as the reports print them. */
	{ "f32[4,128,128,9,18]{4,3,0,2,1:T(8,128)}", 42467328, 536870912 },
	{ "bf16[4,512,512,64]{3,0,2,1:T(4,128)(2,1)}", 134217728, 268435456 },
	{ "s32[29360128,10]{1,0:T(8,128)}", 1174405120, 15032385536 },
	{ "f32[128,256,896,18]{0,3,2,1:T(8,128)}", 2113929216, 2818572288 },
	{ "s32[8388608,8,4]{2,1,0:T(8,128)}", 1073741824, 34359738368 },
	{ "u32[12582912,1]{1,0:T(8,128)}", 50331648, 6442450944 },
	{ "bf16[2048,1,2048,128]{0,1,3,2:T(4,128)(2,1)}", 1073741824, 4294967296 },
	{ "pred[64,512,2048]{2,1,0:T(8,128)E(32)}", 67108864, 268435456 },
	{ "u8[327680,327680]{1,0:T(8,128)(4,1)}", 107374182400, 107374182400 },
	/* Widths, alignment, prefix. */
	{ "s4[3]{0:E(4)}", 2, 2 },
	{ "s4[3]", 3, 3 },
	{ "u1[9]{0:E(1)}", 2, 2 },
	{ "f6e2m3fn[4]", 4, 4 },
	{ "s32[128]{0:T(1)L(128)S(4)}", 512, 512 },
	{ "s32[100]{0:L(128)}", 400, 512 },
	{ "s32[<=4]{0:M(64)}", 16, 80 },
	{ "c128[2,2]{1,0}", 64, 64 },
	{ "f32[0,5]{1,0:T(8,128)}", 0, 0 },
	{ "token[]", 0, 0 },
	{ "opaque[]", 0, 0 },
	{ "()", 0, 0 },
	{ "(f32[2]{0}, (bf16[3]{0:T(128)}, pred[]))", 8 + 6 + 1, 8 + 256 + 1 },
	{ "b(f32[2]{0})", 8, 8 },
	/* Too large to count is the largest number, never a small one. */
	{ "f32[4294967296,4294967296]{1,0}", INT64_MAX, INT64_MAX },
	{ "u8[9223372036854775807]{0:T(8)}", INT64_MAX, INT64_MAX },
	{ "f32[?,2]{1,0:T(8,128)}", INT64_MAX, INT64_MAX },
	{ "f32[?,0]{1,0}", 0, 0 },
};

static void sizes_of_shapes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct shape s = parse(sizes[i].text), back = reread(&s);
		if (shape_logical_bytes(&s) != sizes[i].logical ||
			shape_padded_bytes(&s) != sizes[i].padded)
			fail_msg("%s: %lld and %lld bytes", sizes[i].text,
				(long long)shape_logical_bytes(&s),
				(long long)shape_padded_bytes(&s));
		assert_true(shape_logical_bytes(&back) == sizes[i].logical);
		assert_true(shape_padded_bytes(&back) == sizes[i].padded);
	}
}

/* Printed as XLA prints it, and the same after a way over the wire. */
static void text_comes_back(void **state)
{
	static const char *const texts[] = {
		"bf16[32,8192]{1,0:T(8,128)(2,1)S(1)}",
		"f32[]",
		"f32[]{:T(128)}",
		"f32[2,3]",
		"s4[8]{0:T(8)L(16)E(4)S(5)M(4)}",
		"f32[2,7,8]{2,1,0:T(*,2,3)}",
		"s32[<=5,?,3]{2,1,0}",
		"()",
		"token[]",
		"b(f32[2]{0})",
		"(f32[], f32[], f32[], f32[], f32[], /*index=5*/f32[], (u8[1]{0}))",
	};
	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct shape s = parse(texts[i]), back = reread(&s);
		assert_str(shape_text(&s, true, &keep), texts[i]);
		assert_str(shape_text(&back, true, &keep), texts[i]);
	}
	struct shape s = parse("bf16[32,8192]{1,0:T(8,128)(2,1)S(1)}");
	assert_str(shape_text(&s, false, &keep), "bf16[32,8192]");
}

/* What sizes do not depend on is skipped. */
static void attributes_skipped(void **state)
{
	static const char text[] = "f32[8,8]{1,0:D(D,C+~)T(2,2)#(u32)*(u8)E(32)S(3)"
				   "SC(0:4)(1:2,6)P((f32[2],(u8[])))M(8)}";
	(void)state;
	struct shape s = parse(text);
	assert_str(shape_text(&s, true, &keep), "f32[8,8]{1,0:T(2,2)E(32)S(3)M(8)}");
	assert_int_equal(shape_padded_bytes(&s), 8 * 8 * 4 + 8);
	s = parse("  ( /* a */ f32[1] ,pred[]\n)");
	assert_int_equal(s.element_count, 2);
}

static void rest_is_returned(void **state)
{
	struct shape s;
	struct str rest;
	(void)state;
	assert_true(shape_parse(STR("f32[2]{0} add(a, b)"), &keep, &s, &rest, &err));
	assert_str(rest, " add(a, b)");
	assert_true(shape_parse(STR("f32[2]"), &keep, &s, &rest, &err));
}

static const struct {
	const char *text, *says;
	int column;
} mistakes[] = {
	{ "", "expected a shape", 1 },
	{ "f33[2]", "expected a shape", 1 },
	{ "tuple[2]", "expected a shape", 1 },
	{ "f32", "expected '['", 4 },
	{ "f32[", "expected a number", 5 },
	{ "f32[2", "expected ',' or ']'", 6 },
	{ "f32[-2]", "expected a number", 5 },
	{ "f32[99999999999999999999]", "too large", 5 },
	{ "f32[2,2]{1,1}", "every dimension once", 12 },
	{ "f32[2,2]{1}", "expected ','", 11 },
	{ "f32[2,2]{2,0}", "every dimension once", 10 },
	{ "f32[2]{0,T(2)}", "expected '}'", 9 },
	{ "f32[2]{0:T(0)}", "above 0", 13 },
	{ "f32[2]{0:T(2,*)}", "end in '*'", 15 },
	{ "f32[2]{0:Q(1)}", "layout attribute", 10 },
	{ "f32[2]{0:T(1)(1)(1)(1)(1)(1)(1)(1)(1)}", "too many tiles", 36 },
	{ "f32[2]{0:E(9999)}", "too large", 12 },
	{ "f32[2]{0:P(((}", "expected ')'", 15 },
	{ "(f32[2]", "expected ','", 8 },
	{ "(f32[2],)", "expected a shape", 9 },
	{ "b(f32[], f32[])", "too many elements", 9 },
};

static void mistakes_have_columns(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		struct shape s;
		struct str rest;
		struct str where = arena_fmt(&keep, "shape:1:%d: ", mistakes[i].column);
		assert_false(shape_parse(str_from(mistakes[i].text), &keep, &s, &rest, &err));
		if (!str_starts(str_from(err.text), where) || !strstr(err.text, mistakes[i].says))
			fail_msg("'%s': %s", mistakes[i].text, err.text);
	}
}

static struct str nested(int depth)
{
	struct pb b = pb_new(&keep);
	for (int i = 0; i < depth; i++)
		pb_raw(&b, STR("("));
	for (int i = 0; i < depth; i++)
		pb_raw(&b, STR(")"));
	return pb_done(&b);
}

static void depth_is_limited(void **state)
{
	struct shape s;
	struct str rest;
	(void)state;
	assert_true(shape_parse(nested(SHAPE_MAX_DEPTH), &keep, &s, &rest, &err));
	assert_false(shape_parse(nested(SHAPE_MAX_DEPTH + 1), &keep, &s, &rest, &err));
	assert_non_null(strstr(err.text, "nested too deeply"));
	struct str bytes = pb_shape(&keep, "()");
	for (int i = 1; i < SHAPE_MAX_DEPTH; i++) {
		struct pb b = pb_new(&keep);
		pb_int(&b, 2, DTYPE_TUPLE);
		pb_bytes(&b, 4, bytes);
		bytes = pb_done(&b);
	}
	assert_true(from_proto(bytes, &s));
	struct pb b = pb_new(&keep);
	pb_int(&b, 2, DTYPE_TUPLE);
	pb_bytes(&b, 4, bytes);
	assert_false(from_proto(pb_done(&b), &s));
	assert_non_null(strstr(err.text, "nested too deeply"));
}

static void rank_is_limited(void **state)
{
	int64_t dims[SHAPE_MAX_RANK + 1];
	struct shape s;
	(void)state;
	for (int i = 0; i <= SHAPE_MAX_RANK; i++)
		dims[i] = 1;
	for (int more = 0; more < 2; more++) {
		struct pb b = pb_new(&keep);
		pb_int(&b, 2, DTYPE_F32);
		pb_unpacked(&b, 3, dims, SHAPE_MAX_RANK + more);
		assert_int_equal(from_proto(pb_done(&b), &s), !more);
	}
	assert_non_null(strstr(err.text, "too many dimensions"));
}

static void wire_mistakes(void **state)
{
	static const struct {
		int64_t dims[2], order[2], tile, bits;
		ptrdiff_t order_count;
		const char *says;
	} cases[] = {
		{ { 2, -3 }, { 1, 0 }, 8, 0, 2, "a dimension is negative" },
		{ { 2, 3 }, { 1, 1 }, 8, 0, 2, "no order" },
		{ { 2, 3 }, { 1, 7 }, 8, 0, 2, "no order" },
		{ { 2, 3 }, { 1, 0 }, 8, 0, 1, "another number of dimensions" },
		{ { 2, 3 }, { 1, 0 }, 0, 0, 2, "not positive" },
		{ { 2, 3 }, { 1, 0 }, TILE_COMBINE, 0, 2, "combined" },
		{ { 2, 3 }, { 1, 0 }, 8, -1, 2, "bits" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pb layout = pb_new(&keep), b = pb_new(&keep);
		struct shape s;
		pb_packed(&layout, 1, cases[i].order, cases[i].order_count);
		pb_bytes(&layout, 6, pb_list(&keep, 1, &cases[i].tile, 1));
		pb_int(&layout, 7, cases[i].bits);
		pb_int(&b, 2, DTYPE_F32);
		pb_bytes(&b, 5, pb_done(&layout)); /* before the dimensions it is about */
		pb_packed(&b, 3, cases[i].dims, 2);
		assert_false(from_proto(pb_done(&b), &s));
		if (!strstr(err.text, cases[i].says))
			fail_msg("%s: %s", cases[i].says, err.text);
	}
}

static void unknown_types_have_no_size(void **state)
{
	struct pb b = pb_new(&keep);
	struct shape s;
	(void)state;
	pb_int(&b, 2, 99);
	pb_packed(&b, 3, PB_LIST(4, 4));
	assert_true(from_proto(pb_done(&b), &s));
	assert_int_equal(s.dtype, DTYPE_INVALID);
	assert_int_equal(shape_logical_bytes(&s), 0);
}

static void leaves(void **state)
{
	struct shape s = parse("((), f32[1], (), (f32[2], ((f32[3]), token[])), f32[5])");
	static const int64_t first[] = { 1, 2, 3, 0, 5 };
	(void)state;
	assert_int_equal(s.leaves, 5);
	for (ptrdiff_t i = 0; i < 5; i++)
		assert_int_equal(shape_elements(shape_leaf(&s, i)), first[i]);
	assert_null(shape_leaf(&s, 5));
	assert_null(shape_leaf(&s, -1));
	s = parse("f32[7]");
	assert_ptr_equal(shape_leaf(&s, 0), &s);
	s = parse("((), ())");
	assert_null(shape_leaf(&s, 0));
}

/* Every cut of a shape's bytes is read or refused, and no more than that. */
static void truncation(void **state)
{
	struct str bytes =
		pb_shape(&keep, "(bf16[32,8192]{1,0:T(8,128)(2,1)S(1)}, s4[<=9]{0:E(4)})");
	struct shape s;
	(void)state;
	for (ptrdiff_t n = 0; n <= bytes.len; n++)
		from_proto(str_head(bytes, n), &s);
	assert_int_equal(s.element_count, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_of_shapes),
		cmocka_unit_test(text_comes_back),
		cmocka_unit_test(attributes_skipped),
		cmocka_unit_test(rest_is_returned),
		cmocka_unit_test(mistakes_have_columns),
		cmocka_unit_test(depth_is_limited),
		cmocka_unit_test(rank_is_limited),
		cmocka_unit_test(wire_mistakes),
		cmocka_unit_test(unknown_types_have_no_size),
		cmocka_unit_test(leaves),
		cmocka_unit_test(truncation),
	};
	return cmocka_run_group_tests(tests, keep_begin, keep_end);
}
