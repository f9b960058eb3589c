/* hlo/module: ids old and new, the graph of calls, names, source lines, replica groups, damage. */
#include <string.h>

#include "tests/unit/pb.h"
#include "tests/unit/keep.h"

static struct diag err;

#define assert_str(s, text) assert_string_equal(arena_z(&keep, (s)), (text))
#define NONE		    ((struct str){ NULL, 0 })

static struct hlo_module *parse(const struct pb_computation *c, struct str more)
{
	struct hlo_module *m = pb_parse(&keep, c, more, &err);
	if (!m)
		fail_msg("%s", err.text);
	return m;
}

static void refused(const struct pb_computation *c, const char *says)
{
	assert_null(pb_parse(&keep, c, NONE, &err));
	if (!strstr(err.text, says))
		fail_msg("'%s' lacks '%s'", err.text, says);
}

static const struct pb_instruction add_scalars[] = {
	{ "x", "parameter", "f32[]", 1, { 0 }, { 0 }, 0, { 0 } },
	{ "y", "parameter", "f32[]", 2, { 0 }, { 0 }, 1, { 0 } },
	{ "sum", "add", "f32[]", 3, { 1, 2 }, { 0 }, 0, { 0 } },
	{ 0 },
};

static const struct pb_instruction reduce_all[] = {
	{ "a", "parameter", "f32[8]{0}", 4, { 0 }, { 0 }, 0, { 0 } },
	{ "zero", "constant", "f32[]", 5, { 0 }, { 0 }, 0, { 0 } },
	{ "total.7", "reduce", "f32[]", 6, { 4, 5 }, { 1 }, 0, { 0 } },
	{ 0 },
};

static const struct pb_computation reduction[] = {
	{ "adder", 1, add_scalars },
	{ "main", 2, reduce_all },
	{ 0 },
};

static void graph(void **state)
{
	(void)state;
	struct hlo_module *m = parse(reduction, NONE);
	assert_str(m->name, "test");
	assert_int_equal(m->computation_count, 2);
	assert_int_equal(m->instruction_count, 6);
	assert_int_equal(m->entry, 1);
	assert_int_equal(m->computations[1].first, 3);
	assert_int_equal(m->computations[1].root, 5);
	assert_int_equal(m->computations[0].depth, 1);
	const struct hlo_instruction *total = &m->instructions[5];
	assert_int_equal(total->op, HLO_REDUCE);
	assert_int_equal(total->operands[0], 3);
	assert_int_equal(total->operands[1], 4);
	assert_int_equal(total->called[0], 0);
	assert_int_equal(m->instructions[1].parameter_number, 1);
	assert_int_equal(m->instructions[0].user_count, 1);
	assert_int_equal(total->user_count, 0);
	assert_int_equal(total->feature_group_count, 1);
}

/* An HloProto holds the module in field 1 and the buffers in field 3. */
static void wrapped(void **state)
{
	struct pb b = pb_new(&keep);
	(void)state;
	pb_bytes(&b, 1, pb_write_module(&keep, reduction, NONE));
	pb_text(&b, 3, "buffers");
	struct hlo_module *m = hlo_module_parse(pb_done(&b), pb_done(&b), &keep, &err);
	assert_non_null(m);
	assert_int_equal(m->instruction_count, 6);
	assert_str(m->buffer_assignment, "buffers");
}

#define ID(computation, local) ((int64_t)(computation) << 32 | (local))

static void wide_ids(void **state)
{
	static const struct pb_instruction body[] = {
		{ "a", "parameter", "f32[8]", ID(3, 0), { 0 }, { 0 }, 0, { 0 } },
		/* By the full id, by its local half, forward, and nowhere. */
		{ "b", "add", "f32[8]", ID(3, 2), { ID(3, 0), ID(3, 9) }, { 0 }, 0, { 0 } },
		{ "c", "add", "f32[8]", ID(3, 5), { 2, ID(4, 1) }, { 0 }, 0, { 0 } },
		{ "d", "negate", "f32[8]", ID(3, 9), { ID(3, 5) }, { 77 }, 0, { 0 } },
		{ 0 },
	};
	static const struct pb_computation c[] = { { "main", 3, body }, { 0 } };
	(void)state;
	struct hlo_module *m = parse(c, NONE);
	assert_int_equal(m->instructions[1].operands[0], 0);
	assert_int_equal(m->instructions[1].operands[1], 3);
	assert_int_equal(m->instructions[2].operands[0], 1);
	assert_int_equal(m->instructions[2].operands[1], -1);
	assert_int_equal(m->instructions[3].called[0], -1);
	assert_int_equal(m->computations[0].root, 3);
}

static void unpacked_lists(void **state)
{
	struct pb more = pb_new(&keep);
	(void)state;
	pb_unpacked(&more, 36, PB_LIST(1, 2, 1, 2, 1));
	pb_unpacked(&more, 14, PB_LIST(5, 6, 7));
	const struct pb_instruction body[] = {
		{ "x", "parameter", "f32[]", 1, { 0 }, { 0 }, 0, { 0 } },
		{ "y", "parameter", "f32[]", 2, { 0 }, { 0 }, 1, { 0 } },
		{ "t", "tuple", "()", 3, { 2 }, { 0 }, 0, pb_done(&more) },
		{ 0 },
	};
	const struct pb_computation c[] = { { "main", 3, body }, { 0 } };
	struct hlo_module *m = parse(c, NONE);
	assert_int_equal(m->instructions[2].operand_count, 6);
	assert_int_equal(m->instructions[2].operands[0], 1);
	assert_int_equal(m->instructions[2].operands[5], 0);
	assert_int_equal(m->instructions[0].user_count, 3);
}

static void loops(void **state)
{
	static const struct pb_instruction inner[] = {
		{ "p0", "parameter", "f32[]", 1, { 0 }, { 0 }, 0, { 0 } }, { 0 }
	};
	static const struct pb_instruction body[] = {
		{ "p1", "parameter", "f32[]", 2, { 0 }, { 0 }, 0, { 0 } },
		{ "f", "fusion", "f32[]", 3, { 2 }, { 1 }, 0, { 0 } },
		{ 0 },
	};
	static const struct pb_instruction condition[] = {
		{ "p2", "parameter", "f32[]", 4, { 0 }, { 0 }, 0, { 0 } }, { 0 }
	};
	static const struct pb_instruction entry[] = {
		{ "p3", "parameter", "f32[]", 5, { 0 }, { 0 }, 0, { 0 } },
		{ "w", "while", "f32[]", 6, { 5 }, { 2, 3 }, 0, { 0 } },
		{ 0 },
	};
	static const struct pb_computation c[] = {
		{ "inner", 1, inner },
		{ "body", 2, body },
		{ "condition", 3, condition },
		{ "main", 4, entry },
		{ 0 },
	};
	(void)state;
	struct hlo_module *m = parse(c, NONE);
	assert_true(m->computations[0].in_loop);
	assert_true(m->computations[1].in_loop);
	assert_true(m->computations[2].in_loop);
	assert_false(m->computations[3].in_loop);
	assert_int_equal(m->computations[0].depth, 2);
}

static void rings_are_refused(void **state)
{
	static const struct pb_instruction one[] = {
		{ "a", "call", "f32[]", 1, { 0 }, { 2 }, 0, { 0 } }, { 0 }
	};
	static const struct pb_instruction two[] = {
		{ "b", "call", "f32[]", 2, { 0 }, { 1 }, 0, { 0 } }, { 0 }
	};
	static const struct pb_computation c[] = { { "one", 1, one }, { "two", 2, two }, { 0 } };
	static const struct pb_instruction self[] = {
		{ "a", "fusion", "f32[]", 1, { 0 }, { 1 }, 0, { 0 } }, { 0 }
	};
	static const struct pb_computation d[] = { { "self", 1, self }, { 0 } };
	(void)state;
	refused(c, "in a ring");
	refused(d, "in a ring");
}

static void chain_of(struct pb_computation *c, struct pb_instruction (*i)[2], int64_t length)
{
	for (int64_t k = 0; k < length; k++) {
		i[k][0] = (struct pb_instruction){ .name = "call", .opcode = "call", .id = k + 1 };
		i[k][0].called[0] = k; /* computation k, counted from 1; 0 is none */
		c[k] = (struct pb_computation){ "c", k + 1, i[k] };
	}
	c[length].name = NULL;
}

static void depth_is_limited(void **state)
{
	static struct pb_computation c[HLO_MAX_CALL_DEPTH + 2];
	static struct pb_instruction i[HLO_MAX_CALL_DEPTH + 2][2];
	(void)state;
	chain_of(c, i, HLO_MAX_CALL_DEPTH);
	parse(c, NONE);
	chain_of(c, i, HLO_MAX_CALL_DEPTH + 1);
	refused(c, "deep");
}

static void twins_are_refused(void **state)
{
	static const struct pb_instruction body[] = {
		{ "a", "constant", "f32[]", 7, { 0 }, { 0 }, 0, { 0 } },
		{ "b", "constant", "f32[]", 7, { 0 }, { 0 }, 0, { 0 } },
		{ 0 },
	};
	static const struct pb_computation c[] = { { "main", 1, body }, { 0 } };
	(void)state;
	refused(c, "two instructions have the id 7");
	refused(&(struct pb_computation){ 0 }, "no HLO computation");
}

static void names(void **state)
{
	static const struct pb_instruction body[] = {
		{ "dot.3", "dot", "f32[]", 1, { 0 }, { 0 }, 0, { 0 } },
		{ "all-gather-start", "all-gather-start", "f32[]", 2, { 0 }, { 0 }, 0, { 0 } },
		{ "copy-start.9", "copy-start", "f32[]", 3, { 0 }, { 0 }, 0, { 0 } },
		{ "cudnn-conv", "custom-call", "f32[]", 4, { 0 }, { 0 }, 0, { 0 } },
		{ "f.clone.1", "fusion", "f32[]", 5, { 0 }, { 0 }, 0, { 0 } },
		{ 0 },
	};
	static const struct pb_computation c[] = { { "main", 1, body }, { 0 } };
	static const struct {
		const char *name;
		ptrdiff_t found, exact;
	} cases[] = {
		{ "dot.3", 0, 0 },
		{ "%dot.3", 0, -1 },
		{ "while.1::dot.3", 0, -1 },
		{ "dot.4", -1, -1 },
		{ "dot", -1, -1 },
		{ "all-gather", 1, -1 },
		{ "all-gather.12", 1, -1 },
		{ "copy.9", 2, -1 },
		{ "cudnn-conv.1.0", -1, -1 },
		{ "cudnn-conv.1", 3, -1 },
		{ "f.clone.1", 4, 4 },
		{ "f.clone.1.0", 4, -1 },
		{ "", -1, -1 },
		{ "::", -1, -1 },
		{ "a:b", -1, -1 },
	};
	(void)state;
	struct hlo_module *m = parse(c, NONE);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (hlo_find(m, str_from(cases[i].name)) != cases[i].found)
			fail_msg("%s: %td", cases[i].name, hlo_find(m, str_from(cases[i].name)));
		assert_int_equal(hlo_find_exact(m, str_from(cases[i].name)), cases[i].exact);
	}
}

/* Frames 1 (inner, called by 2) and 2; frames 3 and 4 call each other. */
static struct str frames(void)
{
	struct pb f = pb_new(&keep), b = pb_new(&keep);
	pb_text(&f, 1, "layer.py");
	pb_text(&f, 1, "train.py");
	pb_text(&f, 2, "forward");
	pb_text(&f, 2, "step");
	for (int64_t k = 1; k <= 2; k++) {
		struct pb location = pb_new(&keep);
		pb_int(&location, 1, k);
		pb_int(&location, 2, k);
		pb_int(&location, 3, k * 10);
		pb_bytes(&f, 3, pb_done(&location));
	}
	static const int64_t locations[] = { 1, 2, 1, 2 }, parents[] = { 2, 0, 4, 3 };
	for (int k = 0; k < 4; k++) {
		struct pb frame = pb_new(&keep);
		pb_int(&frame, 1, locations[k]);
		pb_int(&frame, 2, parents[k]);
		pb_bytes(&f, 4, pb_done(&frame));
	}
	pb_bytes(&b, 17, pb_done(&f));
	return pb_done(&b);
}

static struct str metadata(int64_t frame, const char *file)
{
	struct pb inner = pb_new(&keep), b = pb_new(&keep);
	pb_text(&inner, 2, "jit(f)/dot_general");
	if (file) {
		pb_text(&inner, 3, file);
		pb_int(&inner, 4, 5);
	}
	pb_int(&inner, 15, frame);
	pb_bytes(&b, 7, pb_done(&inner));
	return pb_done(&b);
}

static void source_lines(void **state)
{
	const struct pb_instruction body[] = {
		{ "a", "constant", "f32[]", 1, { 0 }, { 0 }, 0, metadata(1, NULL) },
		{ "b", "constant", "f32[]", 2, { 0 }, { 0 }, 0, metadata(1, "own.py") },
		{ "c", "constant", "f32[]", 3, { 0 }, { 0 }, 0, metadata(3, NULL) },
		{ "d", "constant", "f32[]", 4, { 0 }, { 0 }, 0, metadata(99, NULL) },
		{ "e", "constant", "f32[]", 5, { 0 }, { 0 }, 0, metadata(0, "own.py") },
		{ 0 },
	};
	const struct pb_computation c[] = { { "main", 1, body }, { 0 } };
	struct hlo_source stack[8];
	(void)state;
	struct hlo_module *m = parse(c, frames());
	assert_str(m->instructions[0].source.file, "layer.py");
	assert_int_equal(m->instructions[0].source.line, 10);
	assert_str(m->instructions[0].source.function, "forward");
	assert_str(m->instructions[0].op_name, "jit(f)/dot_general");
	assert_str(m->instructions[1].source.file, "own.py");
	assert_int_equal(hlo_stack(m, &m->instructions[0], stack, 8), 2);
	assert_str(stack[1].file, "train.py");
	assert_int_equal(stack[1].line, 20);
	assert_int_equal(hlo_stack(m, &m->instructions[0], stack, 1), 1);
	assert_int_equal(hlo_stack(m, &m->instructions[2], stack, 8), 8);
	assert_int_equal(hlo_stack(m, &m->instructions[3], stack, 8), 0);
	assert_null(m->instructions[3].source.file.p);
	assert_int_equal(hlo_stack(m, &m->instructions[4], stack, 8), 1);
	assert_str(stack[0].file, "own.py");
}

static struct hlo_replica_groups groups(struct str more)
{
	const struct pb_instruction body[] = {
		{ "r", "all-reduce", "f32[]", 1, { 0 }, { 0 }, 0, more }, { 0 }
	};
	const struct pb_computation c[] = { { "main", 1, body }, { 0 } };
	return parse(c, NONE)->instructions[0].groups;
}

static void assert_groups(struct str more, int64_t count, int64_t size, const int64_t *first)
{
	struct hlo_replica_groups g = groups(more);
	assert_true(!g.unreadable);
	assert_int_equal(g.group_count, count);
	assert_int_equal(g.group_size, size);
	assert_int_equal(g.first.count, size);
	for (int64_t k = 0; k < size; k++)
		if (g.first.items[k] != first[k])
			fail_msg("id %lld is %lld", (long long)k, (long long)g.first.items[k]);
}

#define IDS(...) ((const int64_t[]){ __VA_ARGS__ })

static struct str field(int number, struct str bytes)
{
	struct pb b = pb_new(&keep);
	pb_bytes(&b, number, bytes);
	return pb_done(&b);
}

static void groups_as_lists(void **state)
{
	struct pb b = pb_new(&keep), list = pb_new(&keep);
	(void)state;
	pb_bytes(&b, 49, pb_list(&keep, 1, PB_LIST(0, 4, 8)));
	pb_bytes(&b, 49, pb_list(&keep, 1, PB_LIST(1, 5, 9)));
	assert_groups(pb_done(&b), 2, 3, IDS(0, 4, 8));
	pb_bytes(&list, 1, pb_list(&keep, 1, PB_LIST(3, 2)));
	pb_bytes(&list, 1, pb_list(&keep, 1, PB_LIST(1)));
	assert_groups(field(87, pb_done(&list)), 2, 2, IDS(3, 2));
	/* {} and {{}} are everybody. */
	assert_int_equal(groups(field(87, STR(""))).group_count, 0);
	assert_int_equal(groups(field(49, STR(""))).group_count, 0);
}

static struct str iota(int64_t count, int64_t size, struct str dims, struct str perm)
{
	struct pb b = pb_new(&keep);
	pb_int(&b, 1, count);
	pb_int(&b, 2, size);
	pb_raw(&b, dims);
	pb_raw(&b, perm);
	return pb_done(&b);
}

#define DIMS(...) pb_list(&keep, 3, PB_LIST(__VA_ARGS__))
#define PERM(...) pb_list(&keep, 4, PB_LIST(__VA_ARGS__))

static void groups_as_iota(void **state)
{
	(void)state;
	/* [16,8]<=[8,16]T(1,0) and [8,16]<=[16,8]T(1,0) */
	assert_groups(field(92, iota(16, 8, DIMS(8, 16), PERM(1, 0))), 16, 8,
		IDS(0, 16, 32, 48, 64, 80, 96, 112));
	assert_groups(field(92, iota(8, 16, DIMS(16, 8), PERM(1, 0))), 8, 16,
		IDS(0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120));
	assert_groups(field(92, iota(2, 4, DIMS(8), NONE)), 2, 4, IDS(0, 1, 2, 3));
	assert_groups(field(92, iota(2, 4, DIMS(2, 2, 2), PERM(1, 2, 0))), 2, 4, IDS(0, 4, 1, 5));
	/* Inside a CollectiveDeviceList, as files of 2024 have it. */
	assert_groups(field(87, field(2, iota(4, 2, DIMS(2, 4), PERM(1, 0)))), 4, 2, IDS(0, 4));
}

static void groups_that_contradict_themselves(void **state)
{
	(void)state;
	assert_true(groups(field(92, iota(2, 4, DIMS(9), NONE))).unreadable);
	assert_true(groups(field(92, iota(2, 4, DIMS(2, 4), PERM(0, 0)))).unreadable);
	assert_true(groups(field(92, iota(2, 4, DIMS(2, 4), PERM(0)))).unreadable);
	assert_true(groups(field(92, iota(-2, -4, DIMS(8), NONE))).unreadable);
	assert_true(groups(field(92, iota(1, 0, DIMS(0), NONE))).unreadable);
	assert_true(groups(field(92, iota(1, INT64_MAX, DIMS(INT64_MAX), NONE))).unreadable);
	assert_true(groups(field(92, iota(2, HLO_MAX_GROUP * 2, DIMS(4, HLO_MAX_GROUP), NONE)))
			    .unreadable);
}

struct axis {
	int64_t index, pre, size; /* size 0: the whole axis */
};

/* A mesh of axes, and the axes that groups run over, up to the first of index -1. */
static struct str mesh(
	const int64_t *sizes, ptrdiff_t count, struct str order, const struct axis *over)
{
	struct pb m = pb_new(&keep), b = pb_new(&keep);
	for (ptrdiff_t i = 0; i < count; i++) {
		struct pb a = pb_new(&keep);
		pb_text(&a, 1, "axis");
		pb_int(&a, 2, sizes[i]);
		pb_bytes(&m, 1, pb_done(&a));
	}
	pb_raw(&m, order);
	pb_bytes(&b, 1, pb_done(&m));
	for (; over->index >= 0; over++) {
		struct pb ref = pb_new(&keep), part = pb_new(&keep);
		pb_int(&ref, 1, over->index);
		pb_int(&part, 1, over->pre);
		pb_int(&part, 2, over->size);
		if (over->size)
			pb_bytes(&ref, 2, pb_done(&part));
		pb_bytes(&b, 2, pb_done(&ref));
	}
	return field(93, pb_done(&b));
}

#define OVER(...) ((const struct axis[]){ __VA_ARGS__, { -1, 0, 0 } })

/* The first groups of XLA's own replica_group_test. */
static void groups_as_meshes(void **state)
{
	const int64_t *six = IDS(6, 6), *eight = IDS(8);
	(void)state;
	assert_groups(mesh(IDS(2, 2), 2, NONE, OVER({ 0, 0, 0 })), 2, 2, IDS(0, 2));
	assert_groups(mesh(IDS(2, 2), 2, NONE, OVER({ 1, 0, 0 })), 2, 2, IDS(0, 1));
	assert_groups(
		mesh(IDS(2, 2), 2, NONE, OVER({ 0, 0, 0 }, { 1, 0, 0 })), 1, 4, IDS(0, 1, 2, 3));
	assert_groups(mesh(six, 2, NONE, OVER({ 0, 1, 2 })), 18, 2, IDS(0, 18));
	assert_groups(mesh(six, 2, NONE, OVER({ 0, 1, 3 })), 12, 3, IDS(0, 12, 24));
	assert_groups(mesh(six, 2, NONE, OVER({ 0, 3, 2 })), 18, 2, IDS(0, 6));
	assert_groups(mesh(six, 2, NONE, OVER({ 1, 1, 3 })), 12, 3, IDS(0, 2, 4));
	assert_groups(mesh(six, 2, NONE, OVER({ 1, 3, 2 })), 18, 2, IDS(0, 1));
	assert_groups(mesh(six, 2, NONE, OVER({ 0, 1, 2 }, { 1, 1, 2 })), 9, 4, IDS(0, 3, 18, 21));
	assert_groups(mesh(six, 2, NONE, OVER({ 1, 1, 3 }, { 0, 1, 3 })), 4, 9,
		IDS(0, 12, 24, 2, 14, 26, 4, 16, 28));
	assert_groups(mesh(eight, 1, NONE, OVER({ 0, 2, 2 })), 4, 2, IDS(0, 2));
	assert_groups(mesh(eight, 1, NONE, OVER({ 0, 4, 2 }, { 0, 1, 2 })), 2, 4, IDS(0, 4, 1, 5));
	/* Devices in another order: listed, and as a transposed iota. */
	assert_groups(mesh(IDS(2, 2), 2, pb_list(&keep, 2, PB_LIST(3, 1, 0, 2)), OVER({ 0, 0, 0 })),
		2, 2, IDS(3, 0));
	struct pb order = pb_new(&keep);
	pb_packed(&order, 1, PB_LIST(4, 2));
	pb_packed(&order, 2, PB_LIST(1, 0));
	assert_groups(mesh(IDS(2, 4), 2, field(3, pb_done(&order)), OVER({ 1, 0, 0 })), 2, 4,
		IDS(0, 2, 4, 6));
}

static void meshes_that_contradict_themselves(void **state)
{
	(void)state;
	assert_true(groups(mesh(IDS(10), 1, NONE, OVER({ 1, 1, 2 }))).unreadable);
	assert_true(groups(mesh(IDS(10), 1, NONE, OVER({ 0, 8, 2 }))).unreadable);
	assert_true(groups(mesh(IDS(10), 1, NONE, OVER({ 0, 0, 0 }, { 0, 0, 0 }))).unreadable);
	assert_true(groups(mesh(IDS(0), 1, NONE, OVER({ 0, 0, 0 }))).unreadable);
	assert_true(groups(mesh(IDS(4), 1, pb_list(&keep, 2, PB_LIST(0, 1)), OVER({ 0, 0, 0 })))
			    .unreadable);
	/* None named: all of the mesh. */
	assert_groups(mesh(IDS(4), 1, NONE, OVER({ -1, 0, 0 })), 1, 4, IDS(0, 1, 2, 3));
	/* None at all: everybody. */
	struct hlo_replica_groups g = groups(mesh(NULL, 0, NONE, OVER({ -1, 0, 0 })));
	assert_true(!g.unreadable && !g.group_count);
}

static struct str literal(int field, int64_t value)
{
	struct pb b = pb_new(&keep), inner = pb_new(&keep);
	pb_packed(&inner, field, &value, 1);
	pb_bytes(&b, 8, pb_done(&inner));
	return pb_done(&b);
}

/* for (i = begin; i < end; i += step) */
static int64_t trips(
	int64_t begin, int64_t end, int64_t step, const char *direction, const char *config)
{
	struct pb compare = pb_new(&keep), loop = pb_new(&keep);
	pb_text(&compare, 63, direction);
	pb_text(&loop, 43, config);
	const struct pb_instruction body[] = {
		{ "p", "parameter", "(s32[])", 1, { 0 }, { 0 }, 0, { 0 } },
		{ "i", "get-tuple-element", "s32[]", 2, { 1 }, { 0 }, 0, { 0 } },
		{ "step", "constant", "s32[]", 3, { 0 }, { 0 }, 0, literal(4, step) },
		{ "next", "add", "s32[]", 4, { 3, 2 }, { 0 }, 0, { 0 } },
		{ "copy", "copy", "s32[]", 5, { 4 }, { 0 }, 0, { 0 } },
		{ "state", "tuple", "(s32[])", 6, { 5 }, { 0 }, 0, { 0 } },
		{ 0 },
	};
	const struct pb_instruction condition[] = {
		{ "p", "parameter", "(s32[])", 11, { 0 }, { 0 }, 0, { 0 } },
		{ "i", "get-tuple-element", "s32[]", 12, { 11 }, { 0 }, 0, { 0 } },
		{ "end", "constant", "s32[]", 13, { 0 }, { 0 }, 0, literal(5, end) },
		{ "lt", "compare", "pred[]", 14, { 12, 13 }, { 0 }, 0, pb_done(&compare) },
		{ 0 },
	};
	const struct pb_instruction entry[] = {
		{ "begin", "constant", "s32[]", 21, { 0 }, { 0 }, 0, literal(4, begin) },
		{ "copy", "copy", "s32[]", 22, { 21 }, { 0 }, 0, { 0 } },
		{ "state", "tuple", "(s32[])", 23, { 22 }, { 0 }, 0, { 0 } },
		{ "loop", "while", "(s32[])", 24, { 23 }, { 1, 2 }, 0, pb_done(&loop) },
		{ 0 },
	};
	const struct pb_computation c[] = { { "body", 1, body }, { "condition", 2, condition },
		{ "main", 3, entry }, { 0 } };
	struct hlo_module *m = parse(c, NONE);
	assert_int_equal(hlo_trip_count(m, 0), 0);
	return hlo_trip_count(m, m->computations[2].root);
}

static void trip_counts(void **state)
{
	(void)state;
	assert_int_equal(trips(0, 12, 1, "LT", ""), 12);
	assert_int_equal(trips(-3, 12, 4, "LT", ""), 4);
	assert_int_equal(trips(0, 12, 1, "GT", ""), 0);
	assert_int_equal(trips(0, 12, 0, "LT", ""), 0);
	assert_int_equal(trips(0, 12, -1, "LT", ""), 0);
	assert_int_equal(trips(12, 12, 1, "LT", ""), 0);
	assert_int_equal(trips(INT64_MIN, INT64_MAX, 1, "LT", ""), 0);
	assert_int_equal(trips(0, 12, 1, "GT", "{\"known_trip_count\":{\"n\":\"6\"},\"x\":1}"), 6);
	assert_int_equal(trips(0, 12, 1, "GT", "{\"known_trip_count\":{\"n\":\"-6\"}}"), 0);
	assert_int_equal(trips(0, 12, 1, "GT", "{\"known_trip_count\":{\"n\":\"6"), 0);
}

static struct str instruction_fields(void)
{
	struct pb b = pb_new(&keep), inner = pb_new(&keep), dim = pb_new(&keep);
	pb_int(&dim, 1, 3);
	pb_int(&dim, 3, 1);
	pb_int(&dim, 4, -1);
	pb_bytes(&inner, 1, pb_done(&dim));
	pb_bytes(&b, 15, pb_done(&inner));
	inner = pb_new(&keep);
	pb_packed(&inner, 1, PB_LIST(0, 2));
	pb_int(&inner, 2, 7);
	pb_bytes(&b, 51, pb_done(&inner));
	inner = pb_new(&keep);
	pb_int(&inner, 1, 3);
	pb_int(&inner, 2, 4);
	pb_bytes(&b, 52, pb_done(&inner));
	pb_bytes(&b, 52, STR(""));
	pb_int(&b, 26, -1);
	pb_int(&b, 71, 1);
	pb_text(&b, 11, "kOutput");
	inner = pb_new(&keep);
	pb_int(&inner, 2, 1);
	pb_bytes(&b, 99, pb_done(&inner));
	return pb_done(&b);
}

static void fields(void **state)
{
	const struct pb_instruction body[] = {
		{ "a", "never-heard-of", "f32[]", 1, { 0 }, { 0 }, 0, instruction_fields() },
		{ 0 },
	};
	const struct pb_computation c[] = { { "main", 1, body }, { 0 } };
	struct pb more = pb_new(&keep), inner = pb_new(&keep), alias = pb_new(&keep);
	(void)state;
	pb_text(&more, 22, "first");
	pb_text(&more, 22, "second");
	pb_int(&alias, 2, 3);
	pb_bytes(&inner, 1, pb_done(&alias));
	pb_bytes(&more, 8, pb_done(&inner));
	inner = pb_new(&keep);
	pb_int(&inner, 1, 2);
	pb_int(&inner, 2, 4);
	pb_bytes(&more, 15, pb_done(&inner));
	struct hlo_module *m = parse(c, pb_done(&more));
	const struct hlo_instruction *i = &m->instructions[0];
	assert_int_equal(i->op, HLO_OP_UNKNOWN);
	assert_int_equal(i->window_rank, 1);
	assert_int_equal(i->window[0].size, 3);
	assert_int_equal(i->window[0].stride, 1); /* 0 on the wire */
	assert_int_equal(i->window[0].base_dilation, 1);
	assert_int_equal(i->precision.items[1], 2);
	assert_int_equal(i->algorithm, 7);
	assert_int_equal(i->pair_count, 2);
	assert_int_equal(i->pairs[0].target, 4);
	assert_int_equal(i->channel_id, 0);
	assert_true(i->use_global_device_ids);
	assert_str(i->backend_config, "second"); /* payloads[1] */
	assert_int_equal(m->donated.count, 1);
	assert_int_equal(m->donated.items[0], 3);
	assert_int_equal(m->replica_count, 2);
	assert_int_equal(m->partition_count, 4);
}

/* Known numbers with another wire type are skipped; the error of a broken field names its byte. */
static void damage(void **state)
{
	struct pb b = pb_new(&keep);
	(void)state;
	pb_text(&b, 35, "an id that is text");
	pb_int(&b, 7, 3);
	const struct pb_instruction body[] = {
		{ "a", "constant", "f32[]", 1, { 0 }, { 0 }, 0, pb_done(&b) }, { 0 }
	};
	const struct pb_computation c[] = { { "main", 1, body }, { 0 } };
	assert_int_equal(parse(c, NONE)->instructions[0].id, 1);
	const struct pb_instruction broken[] = {
		{ "bad", "constant", "f32[]", 1, { 0 }, { 0 }, 0, STR("\x3a\x02\x12\x7f") }, { 0 }
	};
	const struct pb_computation d[] = { { "main", 1, broken }, { 0 } };
	refused(d, "HLO module test: computation main: instruction bad: OpMetadata at byte 48: ");
}

/* Every cut and every flipped byte of a good module is read or refused, and no more than that. */
static void fuzzing_by_hand(void **state)
{
	struct pb b = pb_new(&keep);
	(void)state;
	pb_bytes(&b, 1, pb_write_module(&keep, reduction, frames()));
	struct str bytes = pb_done(&b);
	char *copy = arena_make(&keep, char, bytes.len);
	for (ptrdiff_t n = 0; n < bytes.len; n++) {
		struct arena scratch = keep;
		hlo_module_parse(str_head(bytes, n), bytes, &scratch, &err);
		for (int bit = 0; bit < 8; bit++) {
			struct arena again = keep;
			memcpy(copy, bytes.p, (size_t)bytes.len);
			copy[n] = (char)(copy[n] ^ 1 << bit);
			struct str flipped = { copy, bytes.len };
			hlo_module_parse(flipped, flipped, &again, &err);
		}
	}
}

static void real_modules(void **state)
{
	static const struct {
		const char *path, *name;
		ptrdiff_t instructions;
		int64_t trips; /* of all its loops */
	} files[] = {
		{ "fsdp_one_layer.tpu7x-2x2x1", "jit_fsdp_one_layer", 175, 0 },
		{ "fsdp_scan.v5e-2x4", "jit_fsdp_scan", 383, 4 },
		{ "matmul_bf16.v5e-2x4", "jit_matmul_bf16", 14, 0 },
		{ "moe_all_to_all.v5p-2x2x2", "jit_moe_all_to_all", 42, 0 },
		{ "scan_layers.v6e-2x4", "jit_scan_layers", 46, 12 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct str path = arena_fmt(&keep, "tests/profiles/hlo/%s.hlo.pb", files[i].path);
		struct hlo_module *m = pb_file(&keep, path.p, &err);
		if (!m && err.id == DIAG_FILE_OPEN)
			skip(); /* run from the repository's root */
		if (!m)
			fail_msg("%s", err.text);
		assert_str(m->name, files[i].name);
		assert_int_equal(m->instruction_count, files[i].instructions);
		for (ptrdiff_t k = 0; k < m->instruction_count; k++) {
			assert_int_not_equal(m->instructions[k].op, HLO_OP_UNKNOWN);
			assert_int_equal(hlo_find(m, m->instructions[k].name), k);
			int64_t trips_seen = hlo_trip_count(m, k);
			if (m->instructions[k].op == HLO_WHILE)
				assert_int_equal(trips_seen, files[i].trips);
		}
	}
}

static void profile_of_amd(void **state)
{
	(void)state;
	struct hlo_module *m =
		pb_profile(&keep, PB_PROFILES "mi300-conv-08/plugins/profile/test/tw003.xplane.pb",
			"jit_forward_3d_conv(15)", &err);
	if (!m) {
		print_message("the shared profiles are not here\n");
		skip();
	}
	ptrdiff_t conv = hlo_find(m, STR("cudnn-conv.1"));
	assert_true(conv >= 0);
	assert_str(m->instructions[conv].custom_call_target, "__cudnn$convForward");
	assert_true(m->instructions[conv].id > INT32_MAX);
	assert_int_equal(m->replica_count * m->partition_count, 8);
}

static void opcodes_are_sorted(void **state)
{
	static const char *const texts[] = {
#define X(id, text, kind, rule) text,
		HLO_OPS(X)
#undef X
	};
	(void)state;
	for (int i = 0; i + 1 < HLO_OP_COUNT; i++) {
		if (i && strcmp(texts[i - 1], texts[i]) >= 0)
			fail_msg("%s stands before %s", texts[i - 1], texts[i]);
		assert_int_equal(opcode_find(str_from(texts[i])), i + 1);
	}
	assert_int_equal(opcode_find(STR("")), HLO_OP_UNKNOWN);
	assert_int_equal(opcode_find(STR("zebra")), HLO_OP_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opcodes_are_sorted),
		cmocka_unit_test(graph),
		cmocka_unit_test(wrapped),
		cmocka_unit_test(wide_ids),
		cmocka_unit_test(unpacked_lists),
		cmocka_unit_test(loops),
		cmocka_unit_test(rings_are_refused),
		cmocka_unit_test(depth_is_limited),
		cmocka_unit_test(twins_are_refused),
		cmocka_unit_test(names),
		cmocka_unit_test(source_lines),
		cmocka_unit_test(groups_as_lists),
		cmocka_unit_test(groups_as_iota),
		cmocka_unit_test(groups_that_contradict_themselves),
		cmocka_unit_test(groups_as_meshes),
		cmocka_unit_test(meshes_that_contradict_themselves),
		cmocka_unit_test(trip_counts),
		cmocka_unit_test(fields),
		cmocka_unit_test(damage),
		cmocka_unit_test(fuzzing_by_hand),
		cmocka_unit_test(real_modules),
		cmocka_unit_test(profile_of_amd),
	};
	return cmocka_run_group_tests(tests, keep_begin, keep_end);
}
