/* hlo/around: neighbours through views, what a fusion holds, and what is left out. */
#include "base/out.h"
#include "hlo/around.h"
#include "tests/unit/pb.h"
#include "tests/unit/keep.h"

#define NONE                                                                                       \
	{                                                                                          \
		0                                                                                  \
	}
#define OP(name, opcode, shape, id, ...)                                                           \
	{                                                                                          \
		name, opcode, shape, id, { __VA_ARGS__ }, NONE, 0, NONE                            \
	}

static struct hlo_module *module_of(const struct pb_computation *c)
{
	struct diag err;
	struct str proto = pb_write_module(&keep, c, STR(""));
	struct hlo_module *m = hlo_module_parse(proto, proto, &keep, &err);
	if (!m)
		fail_msg("%s", err.text);
	return m;
}

static struct hlo_around around(const struct hlo_module *m, const char *name)
{
	struct hlo_around ret;
	ptrdiff_t i = hlo_find_exact(m, str_from(name));
	assert_true(i >= 0);
	hlo_around(m, i, keep, &ret);
	return ret;
}

/* The names, separated by blanks. */
static void assert_names(
	const struct hlo_module *m, const struct hlo_neighbours *n, const char *expected)
{
	struct out *o = out_memory(&keep);
	for (ptrdiff_t i = 0; i < n->count; i++) {
		out_z(o, i ? " " : "");
		out_str(o, m->instructions[n->items[i]].name);
	}
	assert_string_equal(arena_z(&keep, out_text(o)), expected);
}

/*
 *	p0, p1 -> matmul (fusion: convert, dot) -> gte -> bitcast -> add
 *	                                       \-> tuple -> gte -> copy-start -> copy-done -> root
 */
static const struct pb_instruction fused[] = {
	OP("f.p0", "parameter", "f32[64,64]{1,0}", 101),
	OP("f.p1", "parameter", "f32[64,64]{1,0}", 102),
	OP("f.convert", "convert", "bf16[64,64]{1,0}", 103, 101),
	OP("f.dot", "dot", "f32[8]{0}", 104, 103, 102),
	{ 0 },
};
static const struct pb_instruction body[] = {
	OP("p0", "parameter", "f32[64,64]{1,0}", 1),
	OP("p1", "parameter", "f32[64,64]{1,0}", 2),
	{ "matmul", "fusion", "(f32[8]{0}, f32[8]{0})", 3, { 1, 2 }, { 10 }, 0, NONE },
	OP("gte.0", "get-tuple-element", "f32[8]{0}", 4, 3),
	OP("view", "bitcast", "f32[2,4]{1,0}", 5, 4),
	OP("add", "add", "f32[2,4]{1,0}", 6, 5, 5),
	OP("both", "tuple", "(f32[8]{0}, f32[2,4]{1,0})", 7, 4, 6),
	OP("gte.1", "get-tuple-element", "f32[8]{0}", 8, 7),
	OP("copy-start", "copy-start", "(f32[8]{0}, f32[8]{0}, u32[])", 9, 8),
	OP("copy-done", "copy-done", "f32[8]{0}", 10, 9),
	OP("end", "negate", "f32[8]{0}", 11, 10),
	{ 0 },
};
static const struct pb_computation program[] = { { "fused", 10, fused }, { "main", 1, body },
	{ 0 } };

static void through_views(void **state)
{
	(void)state;
	struct hlo_module *m = module_of(program);
	struct hlo_around a = around(m, "matmul");
	assert_names(m, &a.takes, "p0 p1");
	assert_names(m, &a.holds, "f.convert f.dot");
	assert_names(m, &a.gives, "add both copy-start");
	a = around(m, "add");
	assert_names(m, &a.takes, "matmul");
	assert_names(m, &a.holds, "");
	assert_names(m, &a.gives, "both");
	a = around(m, "copy-start");
	assert_names(m, &a.takes, "matmul");
	assert_names(m, &a.gives, "end");
	a = around(m, "p0");
	assert_names(m, &a.takes, "");
	assert_names(m, &a.gives, "matmul");
}

/* Twenty consumers: the eight largest in the program's order, the others counted. */
static void the_heaviest_are_kept(void **state)
{
	(void)state;
	enum { MANY = 20 };
	struct pb_instruction *list = arena_make(&keep, struct pb_instruction, MANY + 2);
	list[0] = (struct pb_instruction)OP("p", "parameter", "f32[8]{0}", 1);
	for (int i = 0; i < MANY; i++)
		list[i + 1] = (struct pb_instruction){
			.name = arena_z(&keep, arena_fmt(&keep, "b%d", i)),
			.opcode = "broadcast",
			.shape = arena_z(&keep, arena_fmt(&keep, "f32[%d,8]{1,0}", i + 1)),
			.id = i + 2,
			.operands = { 1 },
		};
	const struct pb_computation c[] = { { "main", 1, list }, { 0 } };
	struct hlo_module *m = module_of(c);
	struct hlo_around a = around(m, "p");
	assert_names(m, &a.gives, "b12 b13 b14 b15 b16 b17 b18 b19");
	assert_int_equal(a.gives.left_out, MANY - HLO_MAX_AROUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(through_views),
		cmocka_unit_test(the_heaviest_are_kept),
	};
	return cmocka_run_group_tests_name("hlo_around", tests, keep_begin, keep_end);
}
