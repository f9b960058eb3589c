/* hlo/text: modules from text equal those from protos; pasted instructions; mistakes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "base/out.h"
#include "hlo/collective.h"
#include "hlo/cost.h"
#include "hlo/text.h"
#include "tests/unit/keep.h"

static struct diag err;

static struct hlo_module *parse(struct str text)
{
	struct hlo_module *m = hlo_text_parse(STR("test"), text, &keep, &err);
	if (!m)
		fail_msg("%s", err.text);
	return m;
}

static struct hlo_module *parse_alone(struct str text)
{
	struct hlo_module *m = hlo_text_instruction(STR("test"), text, &keep, &err);
	if (!m)
		fail_msg("%s", err.text);
	return m;
}

static const struct hlo_instruction *find(const struct hlo_module *m, struct str name)
{
	ptrdiff_t at = hlo_find_exact(m, name);
	if (at < 0)
		fail_msg("%.*s is missing", STR_ARG(name));
	return &m->instructions[at];
}

static const struct hlo_instruction *root(const struct hlo_module *m)
{
	return &m->instructions[m->computations[m->entry].root];
}

static void assert_str(struct str got, struct str want)
{
	if (!str_eq(got, want))
		fail_msg("'%.*s' is not '%.*s'", STR_ARG(got), STR_ARG(want));
}

/* ---- pairs: one compile, dumped both ways ---------------------------------------------------- */

static struct str read_file(const char *folder, struct str name, const char *ending)
{
	struct input in;
	struct str path = arena_fmt(&keep, "%s/%.*s%s", folder, STR_ARG(name), ending);
	if (!input_open(path, &keep, &in, &err))
		fail_msg("%s", err.text);
	struct str bytes = arena_str(&keep, in.bytes);
	input_close(&in);
	return bytes;
}

struct pair {
	const struct hlo_module *a, *b;	     /* proto, text */
	const struct hlo_instruction *i, *j; /* the same instruction in each */
	struct str name;		     /* of the pair */
};

static void differ(const struct pair *p, const char *what, struct str a, struct str b)
{
	fail_msg("%.*s: %.*s: %s is '%.*s' in the proto and '%.*s' in the text", STR_ARG(p->name),
		STR_ARG(p->i->name), what, STR_ARG(a), STR_ARG(b));
}

static void same_text(const struct pair *p, const char *what, struct str a, struct str b)
{
	if (!str_eq(a, b))
		differ(p, what, a, b);
}

static void same_number(const struct pair *p, const char *what, double a, double b)
{
	if (a != b && !(isnan(a) && isnan(b)))
		differ(p, what, double_text(&keep, a), double_text(&keep, b));
}

static void same_dims(
	const struct pair *p, const char *what, const struct hlo_dims *a, const struct hlo_dims *b)
{
	same_number(p, what, (double)a->count, (double)b->count);
	for (ptrdiff_t k = 0; k < a->count; k++)
		same_number(p, what, (double)a->items[k], (double)b->items[k]);
}

/* Text leaves a precision out that is the default for all operands. */
static int64_t precision_at(const struct hlo_dims *d, ptrdiff_t k)
{
	return k < d->count ? d->items[k] : 0;
}

static void same_precision(const struct pair *p)
{
	for (ptrdiff_t k = 0; k < p->i->precision.count || k < p->j->precision.count; k++)
		same_number(p, "precision", (double)precision_at(&p->i->precision, k),
			(double)precision_at(&p->j->precision, k));
	same_number(p, "algorithm", (double)p->i->algorithm, (double)p->j->algorithm);
}

static struct str name_of(const struct hlo_module *m, ptrdiff_t instruction)
{
	return instruction < 0 ? STR("none") : m->instructions[instruction].name;
}

static void same_links(const struct pair *p)
{
	same_number(p, "operand count", (double)p->i->operand_count, (double)p->j->operand_count);
	for (ptrdiff_t k = 0; k < p->i->operand_count; k++)
		same_text(p, "operand", name_of(p->a, p->i->operands[k]),
			name_of(p->b, p->j->operands[k]));
	same_number(p, "callee count", (double)p->i->called_count, (double)p->j->called_count);
	for (ptrdiff_t k = 0; k < p->i->called_count; k++)
		same_text(p, "callee", p->a->computations[p->i->called[k]].name,
			p->b->computations[p->j->called[k]].name);
	same_number(p, "users", (double)p->i->user_count, (double)p->j->user_count);
	same_text(p, "computation", p->a->computations[p->i->computation].name,
		p->b->computations[p->j->computation].name);
}

enum { STACK = 32 };

static void same_transfer(const struct pair *p)
{
	const struct hlo_transfer none = { { NULL, 0 }, { NULL, 0 } };
	const struct hlo_transfer *a = p->i->transfer ? p->i->transfer : &none;
	const struct hlo_transfer *b = p->j->transfer ? p->j->transfer : &none;
	same_text(p, "transfer", a->type, b->type);
	same_text(p, "target", a->target, b->target);
}

static void same_source(const struct pair *p)
{
	struct hlo_source a[STACK], b[STACK];
	ptrdiff_t n = hlo_stack(p->a, p->i, a, STACK);
	same_number(p, "stack depth", (double)n, (double)hlo_stack(p->b, p->j, b, STACK));
	for (ptrdiff_t k = 0; k < n; k++) {
		same_text(p, "file", a[k].file, b[k].file);
		same_text(p, "function", a[k].function, b[k].function);
		same_number(p, "line", (double)a[k].line, (double)b[k].line);
	}
	same_text(p, "op_name", p->i->op_name, p->j->op_name);
	same_text(p, "source file", p->i->source.file, p->j->source.file);
}

static int64_t bytes_of(struct str s, int byte)
{
	int64_t n = 0;
	for (ptrdiff_t k = 0; k < s.len; k++)
		n += (unsigned char)s.p[k] == byte;
	return n;
}

/* XLA sorts the keys of a JSON configuration when it prints text. */
static void same_config(const struct pair *p)
{
	if (str_eq(p->i->backend_config, p->j->backend_config))
		return;
	for (int byte = 0; byte < 256; byte++)
		if (bytes_of(p->i->backend_config, byte) != bytes_of(p->j->backend_config, byte))
			differ(p, "backend config", p->i->backend_config, p->j->backend_config);
}

static void same_attributes(const struct pair *p)
{
	const struct hlo_instruction *i = p->i, *j = p->j;
	same_text(p, "opcode", i->opcode, j->opcode);
	same_text(
		p, "shape", shape_text(&i->shape, true, &keep), shape_text(&j->shape, true, &keep));
	same_text(p, "target", i->custom_call_target, j->custom_call_target);
	same_config(p);
	same_text(p, "direction", i->direction, j->direction);
	same_precision(p);
	same_dims(p, "pairs", &(struct hlo_dims){ (void *)i->pairs, 2 * i->pair_count },
		&(struct hlo_dims){ (void *)j->pairs, 2 * j->pair_count });
	same_dims(p, "slice", &(struct hlo_dims){ (void *)i->slice, 3 * i->slice_rank },
		&(struct hlo_dims){ (void *)j->slice, 3 * j->slice_rank });
	same_dims(p, "group", &i->groups.first, &j->groups.first);
	same_number(p, "groups", (double)i->groups.group_count, (double)j->groups.group_count);
	same_number(p, "channel", (double)i->channel_id, (double)j->channel_id);
	same_number(p, "parameter", (double)i->parameter_number, (double)j->parameter_number);
	same_number(p, "index", (double)i->tuple_index, (double)j->tuple_index);
	same_number(p, "value", (double)i->value, (double)j->value);
	same_number(p, "has value", i->has_value, j->has_value);
}

static void same_collective(const struct pair *p, ptrdiff_t i, ptrdiff_t j)
{
	struct hlo_collective a = { 0 }, b = { 0 };
	bool is = hlo_collective(p->a, i, &keep, &a);
	same_number(p, "collective", is, hlo_collective(p->b, j, &keep, &b));
	if (!is)
		return;
	same_number(p, "kind", a.kind, b.kind);
	same_number(p, "async", a.is_async, b.is_async);
	same_number(p, "message", (double)a.message_bytes, (double)b.message_bytes);
	same_number(p, "wire", (double)a.wire_bytes, (double)b.wire_bytes);
	same_number(p, "group size", (double)a.group_size, (double)b.group_size);
	same_number(p, "group count", (double)a.groups, (double)b.groups);
	same_number(p, "stride", (double)a.stride, (double)b.stride);
	same_text(p, "axis", a.axis, b.axis);
	same_text(p, "operand kind", a.operand_kind, b.operand_kind);
	same_text(p, "inner", name_of(p->a, a.instruction), name_of(p->b, b.instruction));
}

static void same_cost(const struct pair *p, struct hlo_cost a, struct hlo_cost b)
{
	same_number(p, "flops bound", a.flops_bound, b.flops_bound);
	same_number(p, "bytes bound", a.bytes_bound, b.bytes_bound);
	same_number(p, "flops", a.flops, b.flops);
	same_number(p, "matmul flops", a.matmul_flops, b.matmul_flops);
	same_number(p, "other flops", a.other_flops, b.other_flops);
	same_number(p, "transcendentals", a.transcendentals, b.transcendentals);
	same_number(p, "dtype", a.dtype, b.dtype);
	same_number(p, "passes", a.precision_passes, b.precision_passes);
	same_number(p, "hbm", a.hbm_bytes, b.hbm_bytes);
	same_number(p, "padded hbm", a.hbm_padded_bytes, b.hbm_padded_bytes);
	same_number(p, "host", a.host_bytes, b.host_bytes);
	same_number(p, "logical", a.logical_bytes, b.logical_bytes);
	same_number(p, "padded", a.padded_bytes, b.padded_bytes);
}

static void same_instructions(struct pair *p, enum hlo_platform platform)
{
	struct hlo_costs *a = hlo_costs_new(p->a, platform, &keep);
	struct hlo_costs *b = hlo_costs_new(p->b, platform, &keep);
	for (ptrdiff_t k = 0; k < p->a->instruction_count; k++) {
		p->i = &p->a->instructions[k];
		p->j = find(p->b, p->i->name);
		ptrdiff_t j = p->j - p->b->instructions;
		same_attributes(p);
		same_links(p);
		same_transfer(p);
		same_source(p);
		same_collective(p, k, j);
		same_cost(p, hlo_cost(a, k), hlo_cost(b, j));
		same_number(p, "kind", hlo_kind(p->a, k), hlo_kind(p->b, j));
		same_number(p, "trips", (double)hlo_trip_count(p->a, k),
			(double)hlo_trip_count(p->b, j));
	}
}

static const struct hlo_computation *computation(const struct hlo_module *m, struct str name)
{
	for (ptrdiff_t k = 0; k < m->computation_count; k++)
		if (str_eq(m->computations[k].name, name))
			return &m->computations[k];
	fail_msg("computation %.*s is missing", STR_ARG(name));
	return NULL;
}

static void same_computations(const struct hlo_module *a, const struct hlo_module *b)
{
	assert_int_equal(a->computation_count, b->computation_count);
	for (ptrdiff_t k = 0; k < a->computation_count; k++) {
		const struct hlo_computation *c = &a->computations[k];
		const struct hlo_computation *d = computation(b, c->name);
		assert_str(name_of(b, d->root), name_of(a, c->root));
		assert_int_equal(c->count, d->count);
		assert_int_equal(c->in_loop, d->in_loop);
		assert_int_equal(c->depth, d->depth);
	}
	assert_str(b->computations[b->entry].name, a->computations[a->entry].name);
}

static void same_module(const char *folder, struct str name)
{
	struct str proto = read_file(folder, name, ".hlo.pb");
	struct str text = read_file(folder, name, ".hlo.txt");
	assert_true(hlo_is_text(text) && !hlo_is_text(proto));
	struct pair p = { .name = name };
	p.a = hlo_module_parse(proto, proto, &keep, &err);
	if (!p.a)
		fail_msg("%s", err.text);
	p.b = parse(text);
	assert_str(p.b->name, p.a->name);
	assert_int_equal(p.a->donated.count, p.b->donated.count);
	assert_int_equal(p.a->instruction_count, p.b->instruction_count);
	for (ptrdiff_t k = 0; k < p.a->donated.count; k++)
		assert_int_equal(
			p.a->donated.items[k], p.b->donated.items[k]);
	if (p.a->replica_count) {
		assert_int_equal(p.a->replica_count, p.b->replica_count);
		assert_int_equal(p.a->partition_count, p.b->partition_count);
	}
	same_computations(p.a, p.b);
	same_instructions(&p, HLO_TPU);
	same_instructions(&p, HLO_GPU);
}

static const char *carried(void)
{
	const char *folder = getenv("CARRIED");
	return folder ? folder : "tests/profiles";
}

/* HLO_PAIRS names another folder of pairs. */
static void test_text_equals_proto(void **state)
{
	(void)state;
	struct dir_entry *entries;
	ptrdiff_t count, pairs = 0;
	const char *other = getenv("HLO_PAIRS");
	const char *folder = other ? other : arena_z(&keep, arena_fmt(&keep, "%s/hlo", carried()));
	if (!dir_list(str_from(folder), &keep, &entries, &count, &err))
		fail_msg("%s", err.text);
	for (ptrdiff_t i = 0; i < count; i++) {
		struct arena before = keep;
		if (!str_ends(entries[i].name, STR(".hlo.txt")))
			continue;
		same_module(folder, str_head(entries[i].name, entries[i].name.len - 8));
		keep = before;
		pairs++;
	}
	assert_true(pairs >= 6);
}

/* ---- dialects -------------------------------------------------------------------------------- */

static const char old_dialect[] =
	"HloModule jit_step.12, replica_count=2, num_partitions=4, is_scheduled=true, "
	"input_output_alias={ {0}: (1, {}, may-alias), {1}: (3, {}) }\n\n"
	"%region_0.1 (a: f32[], b: f32[]) -> f32[] {\n"
	"  %a = f32[] parameter(0)\n"
	"  %b = f32[] parameter(1)\n"
	"  ROOT %add = f32[] add(f32[] %a, f32[] %b)\n"
	"}\n\n"
	"%cond (s: (s32[], f32[8,8])) -> pred[] {\n"
	"  %s = (s32[], f32[8,8]{1,0}) parameter(0)\n"
	"  %i = s32[] get-tuple-element((s32[], f32[8,8]{1,0}) %s), index=0\n"
	"  %n = s32[] constant(12)\n"
	"  ROOT %less = pred[] compare(s32[] %i, s32[] %n), direction=LT\n"
	"}\n\n"
	"%body (s: (s32[], f32[8,8])) -> (s32[], f32[8,8]) {\n"
	"  %s = (s32[], f32[8,8]{1,0}) parameter(0)\n"
	"  %i = s32[] get-tuple-element((s32[], f32[8,8]{1,0}) %s), index=0\n"
	"  %x = f32[8,8]{1,0} get-tuple-element((s32[], f32[8,8]{1,0}) %s), index=1\n"
	"  %one = s32[] constant(3)\n"
	"  %next = s32[] add(s32[] %i, s32[] %one)\n"
	"  %table = f32[2,2]{1,0} constant({ { 1, 2 },\n    { nan, -inf } })\n"
	"  %y = f32[8,8]{1,0} dot(f32[8,8]{1,0} %x, f32[8,8]{1,0} %x), lhs_contracting_dims={1}, "
	"rhs_contracting_dims={0}, metadata={op_type=\"dot_general\" "
	"op_name=\"jit(f)/\\\"q\\\"\\303\\251\\n\" source_file=\"a b.py\" source_line=7 "
	"profile_type={1,2}}\n"
	"  ROOT %out = (s32[], f32[8,8]{1,0}) tuple(s32[] %next, f32[8,8]{1,0} %y)\n"
	"}\n\n"
	"ENTRY %main.1 (p: f32[8,8]) -> f32[8,8] {\n"
	"  %p = f32[8,8]{1,0} parameter(0), sharding={devices=[2,1]<=[2]}\n"
	"  %zero = s32[] constant(-3)\n"
	"  %init = (s32[], f32[8,8]{1,0}) tuple(s32[] %zero, f32[8,8]{1,0} %p)\n"
	"  %loop = (s32[], /*index=1*/f32[8,8]{1,0}) while((s32[], f32[8,8]{1,0}) %init), "
	"condition=%cond, body=%body, backend_config=\"{\\\"known\\\":[]}\"\n"
	"  %got = f32[8,8]{1,0} get-tuple-element(%loop), index=1\n"
	"  ROOT %sum = f32[8,8]{1,0} all-reduce(f32[8,8]{1,0} /*why*/ %got), channel_id=3, "
	"replica_groups={{0,2},{1,3}}, to_apply=%region_0.1, use_global_device_ids=true\n"
	"}\n";

static void test_old_dialect(void **state)
{
	(void)state;
	struct hlo_module *m = parse(str_from(old_dialect));
	assert_str(m->name, STR("jit_step.12"));
	assert_int_equal(m->replica_count, 2);
	assert_int_equal(m->partition_count, 4);
	assert_int_equal(m->donated.count, 2);
	assert_int_equal(m->donated.items[1], 3);
	assert_int_equal(m->computation_count, 4);
	assert_str(m->computations[m->entry].name, STR("main.1"));
	assert_str(root(m)->name, STR("sum"));
	const struct hlo_instruction *dot = find(m, STR("y"));
	assert_str(dot->op_name, STR("jit(f)/\"q\"\xc3\xa9\n"));
	assert_str(dot->source.file, STR("a b.py"));
	assert_int_equal(dot->source.line, 7);
	assert_str(find(m, STR("loop"))->backend_config, STR("{\"known\":[]}"));
}

/* Loops in loops that would run for ever are loops of unknown length, and no time is infinite. */
static void test_endless_loops(void **state)
{
	struct out *o = out_memory(&keep);
	(void)state;
	out_z(o, "HloModule m\nc {\n  p = s32[] parameter(0)\n  ROOT t = pred[] constant(true)\n}\n"
		 "b0 {\n  ROOT p = s32[] parameter(0)\n}\n");
	for (int i = 1; i <= 40; i++)
		out_fmt(o,
			"%sb%d {\n  p = s32[] parameter(0)\n  ROOT w = s32[] while(p), "
			"condition=c, "
			"body=b%d, "
			"backend_config={\"known_trip_count\":{\"n\":\"999999999999\"}}\n}\n",
			i == 40 ? "ENTRY " : "", i, i - 1);
	struct hlo_module *m = parse(out_text(o));
	int64_t unknown;
	const double *runs = hlo_runs(m, &keep, &unknown);
	assert_true(unknown > 0);
	for (ptrdiff_t k = 0; k < m->computation_count; k++)
		assert_true(runs[k] <= 1e12);
}

static void test_loop(void **state)
{
	(void)state;
	struct hlo_module *m = parse(str_from(old_dialect));
	const struct hlo_instruction *loop = find(m, STR("loop"));
	int64_t unknown;
	assert_str(m->computations[loop->called[0]].name, STR("body"));
	assert_str(m->computations[loop->called[1]].name, STR("cond"));
	assert_int_equal(hlo_trip_count(m, loop - m->instructions), 5); /* -3, 0, 3, 6, 9 */
	const double *runs = hlo_runs(m, &keep, &unknown);
	assert_int_equal(unknown, 0);
	assert_true(runs[m->entry] == 1 && runs[loop->called[0]] == 5 && runs[0] == 0);
	struct hlo_collective c;
	assert_true(hlo_collective(m, root(m) - m->instructions, &keep, &c));
	assert_int_equal(c.group_size, 2);
	assert_int_equal(c.groups, 2);
	assert_int_equal(c.stride, 2);
}

/* The same program as a newer XLA would print it: no sigils, no types, no parameter lists. */
static void test_new_dialect(void **state)
{
	(void)state;
	struct hlo_module *m =
		parse(STR("HloModule m\n\nfused {\n"
			  "  a = f32[4,8]{1,0} parameter(0)\n"
			  "  b = f32[8,2]{1,0} parameter(1)\n"
			  "  ROOT d = f32[4,2]{1,0} dot(a, b), lhs_contracting_dims={1}, "
			  "rhs_contracting_dims={0}, operand_precision={default,highest}\n"
			  "}, execution_thread=\"x\"\n\n"
			  "ENTRY main {\n"
			  "  b.1 = f32[8,2]{1,0} parameter(1)\n"
			  "  a.1 = f32[4,8]{1,0} parameter(0)\n"
			  "  ROOT f = f32[4,2]{1,0} fusion(a.1, b.1), kind=kOutput, calls=fused\n"
			  "}\n"));
	struct hlo_cost c = hlo_cost(hlo_costs_new(m, HLO_TPU, &keep), root(m) - m->instructions);
	struct hlo_product p;
	assert_true(c.flops == 2 * 4 * 2 * 8);
	assert_int_equal(c.precision_passes, 6);
	assert_int_equal(m->partition_count, 1);
	assert_true(hlo_product(m, root(m) - m->instructions, keep, &p));
	assert_true(p.batch == 1 && p.m == 4 && p.n == 2 && p.k == 8);
}

#define FRAME_TABLES(first, second)                                                                \
	"HloModule m\n\nFileNames\n1 \"a.py\"\n2 \"lib/b.py\"\n\nFunctionNames\n1 \"f\"\n2 "       \
	"\"g\"\n"                                                                                  \
	"\nFileLocations\n1 {file_name_id=1 function_name_id=1 line=10 end_line=10 column=0}\n"    \
	"2 {file_name_id=2 function_name_id=2 line=20}\n\nStackFrames\n"                           \
	"1 {file_location_id=1" first "}\n2 {file_location_id=2 parent_frame_id=" second "}\n\n"

static const char frame_body[] = "ENTRY e {\n  ROOT p = f32[2]{0} parameter(0), "
				 "metadata={op_name=\"p\" stack_frame_id=2}\n}\n";

static void assert_stack(struct str text)
{
	struct hlo_source stack[4];
	struct hlo_module *m = parse(text);
	assert_int_equal(hlo_stack(m, root(m), stack, 4), 2);
	assert_str(stack[0].file, STR("lib/b.py"));
	assert_str(stack[1].function, STR("f"));
	assert_int_equal(stack[1].line, 10);
	assert_str(root(m)->source.file, STR("lib/b.py"));
	assert_int_equal(root(m)->source.line, 20);
}

/* Parents as ids, as ids + 1, and the tables behind the computations. */
static void test_frames(void **state)
{
	(void)state;
	struct str plain = STR(FRAME_TABLES("", "1"));
	struct str shifted = STR(FRAME_TABLES(" parent_frame_id=1", "2"));
	assert_stack(arena_fmt(&keep, "%.*s%s", STR_ARG(plain), frame_body));
	assert_stack(arena_fmt(&keep, "%.*s%s", STR_ARG(shifted), frame_body));
	struct str tables = str_from_offset(plain, 13);
	assert_stack(arena_fmt(&keep, "HloModule m\n\n%s%.*s", frame_body, STR_ARG(tables)));
}

/* ---- attributes ------------------------------------------------------------------------------ */

static void assert_ids(const struct hlo_dims *d, const int64_t *want, ptrdiff_t count)
{
	assert_int_equal(d->count, count);
	for (ptrdiff_t i = 0; i < count; i++)
		assert_int_equal(d->items[i], want[i]);
}

static void assert_groups(
	const char *groups, int64_t count, int64_t size, int64_t first, int64_t second)
{
	const struct hlo_instruction *i = root(parse_alone(arena_fmt(&keep,
		"r = f32[8] all-reduce(f32[8] x), replica_groups=%s, dimensions={0}", groups)));
	assert_true(!i->groups.unreadable);
	assert_int_equal(i->groups.group_count, count);
	assert_int_equal(i->groups.group_size, size);
	if (size)
		assert_int_equal(i->groups.first.items[0], first);
	if (size > 1)
		assert_int_equal(i->groups.first.items[1], second);
}

static void test_groups(void **state)
{
	(void)state;
	assert_groups("{}", 0, 0, 0, 0);
	assert_groups("{{0,16,32},{1,17,33}}", 2, 3, 0, 16);
	assert_groups("[16,8]<=[128]", 16, 8, 0, 1);
	assert_groups("[16,8]<=[8,16]T(1,0)", 16, 8, 0, 16);
	assert_groups("mesh['a'=2,'b'=4] {'b'}", 2, 4, 0, 1);
	assert_groups("mesh['a'=2,'b'=4] {'a'}", 4, 2, 0, 4);
	assert_groups("mesh['a'=8] {'a':(2)2}", 4, 2, 0, 2);
	assert_groups("mesh['a'=4], device_ids=(3,2,1,0) {'a'}", 1, 4, 3, 2);
	assert_groups("mesh['a'=2,'b'=4], device_ids=([4,2]T(1,0)) {'b'}", 2, 4, 0, 2);
	assert_groups("mesh['a'=8]", 1, 8, 0, 1);
	assert_groups("mesh['a'=2,'b'=4] {}", 1, 8, 0, 1);
	assert_groups("mesh['a'=4], device_ids=(3,2,1,0)", 1, 4, 3, 2);
	const struct hlo_instruction *i = root(
		parse_alone(STR("r = f32[8] all-reduce(f32[8] x), replica_groups=[3,4]<=[8]")));
	assert_true(i->groups.unreadable);
}

static void test_convolution(void **state)
{
	(void)state;
	const struct hlo_instruction *i = root(parse_alone(
		STR("c = f32[1,5,6,2] convolution(f32[1,9,9,4] a, f32[3,3,2,2] b), "
		    "window={size=3x3 stride=2x1 pad=1_2x-1_0 lhs_dilate=1x2 rhs_dilate=2x1 "
		    "rhs_reversal=0x1}, dim_labels=b01f_10io->bf01, feature_group_count=2")));
	assert_int_equal(i->window_rank, 2);
	assert_int_equal(i->window[0].stride, 2);
	assert_int_equal(i->window[1].padding_low, -1);
	assert_int_equal(i->window[1].base_dilation, 2);
	assert_int_equal(i->window[0].window_dilation, 2);
	assert_int_equal(i->feature_group_count, 2);
	assert_int_equal(i->batch_group_count, 1);
	assert_int_equal(i->convolution->input_feature, 3);
	assert_int_equal(i->convolution->kernel_output_feature, 3);
	assert_ids(&i->convolution->kernel_spatial, (int64_t[]){ 1, 0 }, 2);
	assert_ids(&i->convolution->output_spatial, (int64_t[]){ 2, 3 }, 2);
}

static void test_transform(void **state)
{
	(void)state;
	const struct hlo_instruction *i =
		root(parse_alone(STR("f = c64[4,8,9] fft(f32[4,8,16] x), fft_type=RFFT, "
				     "fft_length={8,16}, metadata={op_name=\"fft\"}")));
	assert_ids(&i->fft_length, (int64_t[]){ 8, 16 }, 2);
	assert_str(i->op_name, STR("fft"));
}

/* JSON, MLIR attributes, base64 of any length, brackets in strings. */
static void test_configs(void **state)
{
	(void)state;
	char *base64 = arena_make(&keep, char, 1 << 20);
	memset(base64, 'A', 1 << 20);
	const struct hlo_instruction *i = root(parse_alone(arena_fmt(&keep,
		"r = (f32[8], s8[0]) custom-call(f32[8] x, f32[8] y), "
		"custom_call_target=\"__cublas$gemm\", operand_layout_constraints={f32[8]{0}}, "
		"backend_config={mhlo.a = \"}\", b = [1 : i32], c = #x<y>, body = \"%.*s\"}, "
		"metadata={op_name=\"end\"}",
		1 << 20, base64)));
	assert_str(i->custom_call_target, STR("__cublas$gemm"));
	assert_int_equal(i->backend_config.len, (1 << 20) + 51);
	assert_str(i->op_name, STR("end"));
	assert_int_equal(i->operand_count, 2);
	i = root(parse_alone(STR("r = f32[] custom-call(), unheard_of=~{x}y, channel_id=7, "
				 "source_target_pairs={{0,1},{1,0}}, is_host_transfer=true")));
	assert_int_equal(i->channel_id, 7);
	assert_true(i->is_host_transfer);
	assert_int_equal(i->pair_count, 2);
	assert_int_equal(i->pairs[0].target, 1);
	assert_int_equal(i->pairs[1].source, 1);
	i = root(parse_alone(STR("r = token[] recv(token[] t), frontend_attributes={a=\"x, y\","
				 "_xla_megascale_target=\"{1,2}x{0:3}\","
				 "_xla_megascale_transfer_type=\"ALL_REDUCE\"}, channel_id=7")));
	assert_str(i->transfer->type, STR("ALL_REDUCE"));
	assert_str(i->transfer->target, STR("{1,2}x{0:3}"));
	assert_int_equal(i->channel_id, 7);
}

/* What JAX's as_text() calls a slice-start and a reduce-scatter-start, and what dumps write. */
#define SUM                                                                                        \
	"add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\n"
#define SUGARED                                                                                    \
	"HloModule m, num_partitions=4\n" SUM "ENTRY e {\n x = f32[8,4] parameter(0)\n"            \
	" ss = ((f32[8,4]), f32[2,4]{1,0:S(1)}, u32[]) slice-start(x), slice={[0:2], [0:4]}\n"     \
	" rs = ((f32[8,4]), f32[2,4]) reduce-scatter-start(x), channel_id=1, "                     \
	"replica_groups={{0,1,2,3}}, dimensions={0}, to_apply=add\n"                               \
	" rd = f32[2,4] reduce-scatter-done(rs)\n sd = f32[2,4]{1,0:S(1)} slice-done(ss)\n"        \
	" ROOT r = f32[2,4] add(rd, sd)\n}\n"
#define SPELT                                                                                      \
	"HloModule m, num_partitions=4\n" SUM "c1 {\n p = f32[8,4] parameter(0)\n"                 \
	" ROOT ss.1 = f32[2,4]{1,0:S(1)} slice(p), slice={[0:2], [0:4]}\n}\n"                      \
	"c2 {\n p = f32[8,4] parameter(0)\n ROOT rs.1 = f32[2,4] reduce-scatter(p), "              \
	"channel_id=1, "                                                                           \
	"replica_groups={{0,1,2,3}}, dimensions={0}, to_apply=add\n}\n"                            \
	"ENTRY e {\n x = f32[8,4] parameter(0)\n"                                                  \
	" ss = ((f32[8,4]), f32[2,4]{1,0:S(1)}, u32[]) async-start(x), calls=c1\n"                 \
	" rs = ((f32[8,4]), f32[2,4]) async-start(x), calls=c2\n"                                  \
	" rd = f32[2,4] async-done(rs)\n sd = f32[2,4]{1,0:S(1)} async-done(ss)\n"                 \
	" ROOT r = f32[2,4] add(rd, sd)\n}\n"

static void test_sugar(void **state)
{
	static const char *const names[] = { "ss", "rs", "rd", "sd", "r" };
	(void)state;
	struct pair p = { .a = parse(STR(SPELT)), .b = parse(STR(SUGARED)), .name = STR("sugar") };
	struct hlo_costs *a = hlo_costs_new(p.a, HLO_TPU, &keep);
	struct hlo_costs *b = hlo_costs_new(p.b, HLO_TPU, &keep);
	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
		ptrdiff_t i = hlo_find_exact(p.a, str_from(names[k]));
		ptrdiff_t j = hlo_find_exact(p.b, str_from(names[k]));
		p.i = &p.a->instructions[i];
		p.j = &p.b->instructions[j];
		same_number(&p, "kind", hlo_kind(p.a, i), hlo_kind(p.b, j));
		same_number(
			&p, "start", hlo_async_start(p.a, i) >= 0, hlo_async_start(p.b, j) >= 0);
		struct hlo_collective x = { 0 }, y = { 0 };
		same_number(&p, "collective", hlo_collective(p.a, i, &keep, &x),
			hlo_collective(p.b, j, &keep, &y));
		same_number(&p, "message", (double)x.message_bytes, (double)y.message_bytes);
		same_number(&p, "group", (double)x.group_size, (double)y.group_size);
		same_cost(&p, hlo_cost(a, i), hlo_cost(b, j));
	}
	assert_int_equal(hlo_kind(p.b, hlo_find_exact(p.b, STR("rd"))), KIND_REDUCE_SCATTER);
	assert_int_equal(hlo_kind(p.b, hlo_find_exact(p.b, STR("sd"))), KIND_COPY);
	assert_int_equal(find(p.b, STR("rs"))->op, HLO_ASYNC_START);
	assert_int_equal(p.b->computation_count, 4);
}

static void test_alone(void **state)
{
	(void)state;
	struct hlo_module *m = parse_alone(STR(
		"  ROOT %f.1 = bf16[8]{0:T(1024)} fusion((f32[2], s32[]) %a.b, %c, b(f32[4]) %d),"
		" kind=kLoop, calls=%elsewhere\n"));
	const struct hlo_instruction *i = root(m);
	assert_int_equal(i->operand_count, 3);
	assert_str(m->instructions[i->operands[0]].name, STR("a.b"));
	assert_int_equal(m->instructions[i->operands[0]].shape.leaves, 2);
	assert_int_equal(i->operands[1], -1);
	assert_int_equal(i->called[0], -1);
	assert_int_equal(
		hlo_cost(hlo_costs_new(m, HLO_TPU, &keep), i - m->instructions).flops_bound,
		COST_UNKNOWN);
	assert_str(root(parse_alone(STR("f32[8] add(f32[8] a, f32[8] a)")))->opcode, STR("add"));
}

/* What ran of a program: operands among them by name, others by their types, calls into nothing. */
static void test_ops(void **state)
{
	(void)state;
	static const struct str texts[] = {
		STR_INIT("%copy-done.1 = f32[64]{0} copy-done((f32[64]{0}, u32[]) %copy-start.1)"),
		STR_INIT("no instruction at all"),
		STR_INIT("%copy-start.1 = (f32[64]{0}, u32[]) copy-start(f32[64]{0} %p.1)"),
		STR_INIT("%f.2 = f32[64]{0} fusion(f32[64]{0} %p.1, %typeless), calls=%inside"),
		STR_INIT("%f.2 = f32[1]{0} negate(f32[1]{0} %twin)"),
		STR_INIT("%loop.3 = f32[1]{0} negate(f32[1]{0} %loop.3)"),
	};
	struct hlo_module *m = hlo_text_ops(STR("jit_f"), texts, 6, &keep, &err);
	assert_non_null(m);
	assert_true(m->partial);
	assert_int_equal(m->instruction_count, 5); /* and p.1, once */
	ptrdiff_t done = hlo_find(m, STR("copy-done.1")), start = hlo_find(m, STR("copy-start.1"));
	assert_int_equal(hlo_async_start(m, done), start);
	const struct hlo_instruction *fusion = &m->instructions[hlo_find(m, STR("f.2"))];
	assert_int_equal(fusion->operand_count, 2);
	assert_int_equal(fusion->operands[0], m->instructions[start].operands[0]);
	assert_str(m->instructions[fusion->operands[0]].opcode, STR("parameter"));
	assert_int_equal(m->instructions[fusion->operands[0]].user_count, 2);
	assert_int_equal(fusion->operands[1], -1);
	assert_int_equal(fusion->called[0], -1);
	struct hlo_costs *costs = hlo_costs_new(m, HLO_TPU, &keep);
	for (ptrdiff_t i = 0; i < m->instruction_count; i++)
		hlo_cost(costs, i);
	assert_null(hlo_text_ops(STR("jit_f"), texts + 1, 1, &keep, &err));
	assert_true(str_contains(str_from(err.text), STR("none of the 1 texts")));
}

/*
 * A product in parts is written, and the sum of them reads it: 201326592 + 50331648 B, as XLA's
 * cost analysis of this reduction has it.  It ran in 35.2 us on an MI355X, at 0.89 of the memory's
 * rate.
 */
static void test_split_products(void **state)
{
	enum { FACTORS = 2 * 2 * (4096 * 1024 + 1024 * 6144), PARTS = 4 * 2 * 4096 * 6144 };
	static const struct str text = STR_INIT(
		"HloModule m\n\nadd {\n  x = f32[]{} parameter(0)\n  y = f32[]{} parameter(1)\n"
		"  ROOT s = f32[]{} add(x, y)\n}\n\n"
		"held {\n  p = f32[2,4096,6144]{2,1,0} parameter(0)\n  z = f32[]{} constant(0)\n"
		"  r = f32[4096,6144]{1,0} reduce(p, z), dimensions={0}, to_apply=add\n"
		"  ROOT c = bf16[4096,6144]{1,0} convert(r)\n}\n\n"
		"ENTRY main {\n  a = bf16[2,4096,1024]{2,1,0} parameter(0)\n"
		"  b = bf16[2,1024,6144]{2,1,0} parameter(1)\n"
		"  d = f32[2,4096,6144]{2,1,0} dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, "
		"lhs_contracting_dims={2}, rhs_contracting_dims={1}\n"
		"  ROOT f = bf16[4096,6144]{1,0} fusion(d), kind=kLoop, calls=held\n}\n");
	(void)state;
	struct hlo_module *m = hlo_text_parse(STR("m"), text, &keep, &err);
	if (!m)
		fail_msg("%s", err.text);
	struct hlo_costs *costs = hlo_costs_new(m, HLO_GPU, &keep);
	struct hlo_cost dot = hlo_cost(costs, hlo_find_exact(m, STR("d")));
	struct hlo_cost root = hlo_cost(costs, hlo_find_exact(m, STR("f")));
	assert_true(dot.hbm_bytes == FACTORS + PARTS);
	assert_true(root.hbm_bytes == PARTS + 2 * 4096 * 6144);
}

/* As a trace of vLLM has them: what an asynchronous op wraps is not among the ops. */
static void test_hollow_copies(void **state)
{
	static const struct str texts[] = {
		STR_INIT("%slice-start = ((s8[10485760]{0}), s8[4194304]{0:S(1)}, s32[]{:S(2)}) "
			 "async-start(s8[10485760]{0} %p), calls=%async_computation"),
		STR_INIT("%slice-done = s8[4194304]{0:S(1)} async-done(((s8[10485760]{0}), "
			 "s8[4194304]{0:S(1)}, s32[]{:S(2)}) %slice-start)"),
		STR_INIT("%host-start = ((f32[64]{0:S(5)}), f32[64]{0}, s32[]{:S(2)}) "
			 "async-start(f32[64]{0:S(5)} %h), calls=%async_computation.1"),
		STR_INIT("%other-start = ((f32[64]{0}), f32[8]{0}, s32[]{:S(2)}) "
			 "async-start(f32[64]{0} %o), calls=%async_computation.2"),
	};
	static const struct {
		struct str name;
		enum op_kind kind;
		double hbm_bytes, host_bytes;
	} cases[] = {
		{ STR_INIT("slice-start"), KIND_COPY, 4194304, 0 },
		{ STR_INIT("slice-done"), KIND_COPY, 0, 0 },
		{ STR_INIT("host-start"), KIND_TRANSFER, 256, 256 },
		{ STR_INIT("other-start"), KIND_UNKNOWN, 0, 0 },
	};
	struct hlo_module *m = hlo_text_ops(STR("jit_f"), texts, 4, &keep, &err);
	(void)state;
	assert_non_null(m);
	struct hlo_costs *costs = hlo_costs_new(m, HLO_TPU, &keep);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ptrdiff_t at = hlo_find_exact(m, cases[i].name);
		struct hlo_cost c = hlo_cost(costs, at);
		assert_int_equal(hlo_kind(m, at), cases[i].kind);
		if (cases[i].kind == KIND_UNKNOWN) {
			assert_int_equal(c.bytes_bound, COST_UNKNOWN);
			continue;
		}
		assert_true(c.hbm_bytes == cases[i].hbm_bytes);
		assert_true(c.host_bytes == cases[i].host_bytes);
	}
}

/* ---- mistakes -------------------------------------------------------------------------------- */

static void refused(struct str text, const char *why)
{
	err = (struct diag){ .id = DIAG_NONE };
	if (hlo_text_parse(STR("f.txt"), text, &keep, &err))
		fail_msg("was read: %.*s", STR_ARG(str_head(text, 200)));
	if (!str_contains(str_from(err.text), str_from(why)))
		fail_msg("'%s' does not say '%s'", err.text, why);
}

static void test_mistakes(void **state)
{
	(void)state;
	refused(STR(""), "holds no HLO computation");
	refused(STR("HloModule m, x\n"), "f.txt:1:15: expected '='");
	refused(STR("HloModule m\n\nsome prose\n"), "f.txt:3:1: expected HloModule");
	refused(STR("e {\n  a = f32[2] add(b)\n}\n"),
		"f.txt:2:18: no instruction of this computation has that name");
	refused(STR("e {\n  a = f32[2] parameter(0)\n  a = f32[2] negate(a)\n}"),
		"f.txt:3:3: another instruction");
	refused(STR("e {\n  a = f32[2] call(), to_apply=f\n}"), "f.txt:2:31: no computation");
	refused(STR("e {\n  a = f32[2 parameter(0)\n}"), "f.txt:2:12: expected ',' or ']'");
	refused(STR("e {\n  a = f32[2] parameter(x)\n}"), "f.txt:2:24: expected a number");
	refused(STR("e {\n  a = f32[2] parameter(0)"), "f.txt:2:26: the computation does not end");
	refused(STR("e {\n  a = f32[2] parameter(0) b = f32[2] negate(a)\n}"),
		"f.txt:2:27: expected ','");
	refused(STR("e {\n  a = f32[] call(), to_apply=e\n}"), "ring");
	refused(STR("e {\n}\ne {\n}\n"), "another computation has the same name");
	refused(STR("e {\n}\n"), "the ENTRY computation has no instructions");
	refused(STR("StackFrames\n2 {file_location_id=1}\n"), "numbered from 1");
	refused(STR("e {\n  a = f32[] iota(), metadata={op_name=\"x}\n}"), "string does not end");
	refused(STR("e {\n  a = f32[] iota(), sharding={{{\n}"), "bracket in this is not closed");
}

/* Long, deep and repetitive inputs, each in linear time. */
static void test_hostile(void **state)
{
	(void)state;
	enum { MANY = 300000 };
	static const char *const pieces[] = { "(", "{", "[", "/*", "\"", "a=", "\n", "a {\n}\n",
		"1 \"\"\n", "HloModule ", "x = f32[] iota()\n" };
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
		for (int head = 0; head < 2; head++) {
			struct arena scratch = keep;
			struct out *o = out_memory(&scratch);
			out_z(o, head ? "e {\n  a = f32[] iota(), sharding=" : "");
			for (int n = 0; n < MANY; n++)
				out_z(o, pieces[i]);
			struct str text = out_text(o);
			if (!hlo_text_parse(STR("f"), text, &scratch, &err))
				assert_true(err.text[0] != 0);
			hlo_text_instruction(STR("f"), text, &scratch, &err);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_equals_proto),
		cmocka_unit_test(test_old_dialect),
		cmocka_unit_test(test_loop),
		cmocka_unit_test(test_endless_loops),
		cmocka_unit_test(test_new_dialect),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_convolution),
		cmocka_unit_test(test_transform),
		cmocka_unit_test(test_configs),
		cmocka_unit_test(test_sugar),
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_ops),
		cmocka_unit_test(test_hollow_copies),
		cmocka_unit_test(test_split_products),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_hostile),
	};
	return cmocka_run_group_tests(tests, keep_begin, keep_end);
}
