/* measure/graphs: kernels of a CUDA graph against the schedule of their program. */
#include <string.h>

#include "hlo/text.h"
#include "measure/graphs.h"
#include "tests/unit/keep.h"

#define PROGRAM(body)                                                                              \
	"HloModule m, is_scheduled=true\n"                                                         \
	"twice {\n p = f32[8,8] parameter(0)\n ROOT r = f32[8,8] add(p, p)\n}\n"                   \
	"again {\n p = f32[8,8] parameter(0)\n ROOT r = f32[8,8] add(p, p)\n}\n"                   \
	"other {\n p = f32[8,8] parameter(0)\n ROOT r = f32[8,8] negate(p)\n}\n"                   \
	"ENTRY e {\n a = f32[8,8] parameter(0)\n" body "}\n"
#define TWICE(n, of) " fusion." n " = f32[8,8] fusion(" of "), kind=kLoop, calls=twice\n"
#define AGAIN(n, of) " fusion." n " = f32[8,8] fusion(" of "), kind=kLoop, calls=again\n"
#define OTHER(n, of) " fusion." n " = f32[8,8] fusion(" of "), kind=kLoop, calls=other\n"
#define GEMM(n, of)                                                                                \
	" custom-call." n " = f32[8,8] custom-call(" of ", a), "                                   \
	"custom_call_target=\"__cublas$lt$matmul\"\n"
#define ATTENTION(n, of)                                                                           \
	" custom-call." n " = f32[8,8] custom-call(" of ", a), "                                   \
	"custom_call_target=\"__cudnn$fmhaSoftmax\"\n"

/* Kernels by name, and the instructions found for them, in words apart by blanks. */
static const char *aligned(const char *program, const char *kernels)
{
	static struct diag err;
	struct hlo_module *m = hlo_text_parse(STR("test"), str_from(program), &keep, &err);
	struct profile_op *ops = arena_make(&keep, struct profile_op, 32);
	const struct profile_op **list = arena_make(&keep, const struct profile_op *, 32);
	ptrdiff_t runs[32], n = 0;
	struct str rest = str_from(kernels), text = STR("");
	bool more = true;

	if (!m)
		fail_msg("%s", err.text);
	for (; more && n < 32; n++) {
		more = str_cut(rest, ' ', &ops[n].name, &rest);
		list[n] = &ops[n];
	}
	graph_align(m, list, n, PLATFORM_NVIDIA, runs, keep);
	for (ptrdiff_t i = 0; i < n; i++)
		text = arena_fmt(&keep, "%.*s%s%.*s", STR_ARG(text), i ? " " : "",
			STR_ARG(runs[i] < 0 ? STR("?") : m->instructions[runs[i]].name));
	return arena_z(&keep, text);
}

/* XLA compiles what is alike once; the kernel bears the name of the first. */
static void twins(void **state)
{
	(void)state;
	assert_string_equal(aligned(PROGRAM(TWICE("1", "a") OTHER("2", "fusion.1")
						    AGAIN("3", "fusion.2") TWICE("4", "fusion.3")),
				    "fusion_1 fusion_2 fusion_1 fusion_1"),
		"fusion.1 fusion.2 fusion.3 fusion.4");
}

/* A graph is a stretch of the program: what stands before it is another's. */
static void begins_in_the_middle(void **state)
{
	(void)state;
	assert_string_equal(
		aligned(PROGRAM(TWICE("1", "a") GEMM("1", "fusion.1") OTHER("2", "custom-call.1")
					GEMM("2", "fusion.2") OTHER("3", "custom-call.2")),
			"nvjet_tst fusion_3"),
		"custom-call.2 fusion.3");
}

/* Zeroes belong to the product behind them, sums of parts to the one before. */
static void shares_of_products(void **state)
{
	(void)state;
	assert_string_equal(
		aligned(PROGRAM(TWICE("1", "a") GEMM("1", "fusion.1") GEMM("2", "custom-call.1")
					OTHER("2", "custom-call.2")),
			"fusion_1 Memset nvjet_a Memset nvjet_b cublas_splitKreduce fusion_2"),
		"fusion.1 custom-call.1 custom-call.1 custom-call.2 custom-call.2 custom-call.2 "
		"fusion.2");
}

/* cuDNN's attention runs several kernels, and one of them says what it is. */
static void kernels_of_one_call(void **state)
{
	(void)state;
	assert_string_equal(
		aligned(PROGRAM(TWICE("1", "a") GEMM("1", "fusion.1")
					ATTENTION("2", "custom-call.1") GEMM("3", "custom-call.2")
						OTHER("2", "custom-call.3")),
			"fusion_1 nvjet_a dot_do_o flash_bwd convert_dq nvjet_b fusion_2"),
		"fusion.1 custom-call.1 custom-call.2 custom-call.2 custom-call.2 custom-call.3 "
		"fusion.2");
}

/* Three kernels of two products: nothing says which of them has two. */
static void not_told_apart(void **state)
{
	(void)state;
	assert_string_equal(aligned(PROGRAM(TWICE("1", "a") GEMM("1", "fusion.1") GEMM(
					    "2", "custom-call.1") OTHER("2", "custom-call.2")),
				    "fusion_1 nvjet_a nvjet_b nvjet_c fusion_2"),
		"fusion.1 ? ? ? fusion.2");
}

/* Kernels of another program, or of none: they are left alone. */
static void nothing_fits(void **state)
{
	(void)state;
	assert_string_equal(aligned(PROGRAM(TWICE("1", "a") OTHER("2", "fusion.1")), "x y"), "? ?");
}

#define BRANCHING(body)                                                                            \
	"HloModule m, is_scheduled=true\n"                                                         \
	"twice {\n p = f32[8,8] parameter(0)\n ROOT r = f32[8,8] add(p, p)\n}\n"                   \
	"yes {\n p = f32[8,8] parameter(0)\n a = f32[8,8] custom-call(p, p), "                     \
	"custom_call_target=\"__cublas$lt$matmul\"\n ROOT fusion.2 = f32[8,8] fusion(a), "         \
	"kind=kLoop, calls=twice\n}\n"                                                             \
	"no {\n p = f32[8,8] parameter(0)\n ROOT fusion.3 = f32[8,8] fusion(p), kind=kLoop, "      \
	"calls=twice\n}\n"                                                                         \
	"more {\n p = f32[8,8] parameter(0)\n ROOT fusion.4 = pred[] fusion(p), kind=kLoop, "      \
	"calls=twice\n}\n"                                                                         \
	"ENTRY e {\n a = f32[8,8] parameter(0)\n q = pred[] parameter(1)\n" body "}\n"

/* The kernel that hands a graph its condition runs no instruction of the branch. */
static void conditions_of_branches(void **state)
{
	(void)state;
	assert_string_equal(
		aligned(BRANCHING(
				TWICE("1", "a") " b = f32[8,8] conditional(q, fusion.1, fusion.1), "
						"true_computation=yes, false_computation=no\n"),
			"fusion_1 set_case_condition nvjet_a fusion_2 fusion_3"),
		"fusion.1 b a fusion.2 fusion.3");
}

/* That of a loop runs before its first round and behind each. */
static void conditions_of_loops(void **state)
{
	(void)state;
	assert_string_equal(
		aligned(BRANCHING(TWICE("1", "a") " w = f32[8,8] while(fusion.1), condition=more, "
						  "body=yes\n"),
			"fusion_1 fusion_4 set_while_condition nvjet_a fusion_2 fusion_4 "
			"set_while_condition"),
		"fusion.1 fusion.4 w a fusion.2 fusion.4 w");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(twins),
		cmocka_unit_test(begins_in_the_middle),
		cmocka_unit_test(shares_of_products),
		cmocka_unit_test(kernels_of_one_call),
		cmocka_unit_test(not_told_apart),
		cmocka_unit_test(conditions_of_branches),
		cmocka_unit_test(conditions_of_loops),
		cmocka_unit_test(nothing_fits),
	};
	return cmocka_run_group_tests(tests, keep_begin, keep_end);
}
