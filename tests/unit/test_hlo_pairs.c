/* hlo/pairs: which start a done waits for, in one trip of a loop and from one to the next. */
#include <string.h>

#include "hlo/collective.h"
#include "hlo/cost.h"
#include "hlo/text.h"
#include "tests/unit/keep.h"

static struct hlo_module *parse(const char *text)
{
	static struct diag err;
	struct hlo_module *m = hlo_text_parse(STR("test"), str_from(text), &keep, &err);
	if (!m)
		fail_msg("%s", err.text);
	return m;
}

static ptrdiff_t find(const struct hlo_module *m, const char *name)
{
	ptrdiff_t i = hlo_find_exact(m, str_from(name));
	if (i < 0)
		fail_msg("no %s", name);
	return i;
}

/* The starts' names in order, apart by blanks. */
static const char *starts(const struct hlo_module *m, const char *done)
{
	ptrdiff_t found[HLO_MAX_STARTS];
	int n = hlo_async_starts(m, find(m, done), found);
	struct str text = STR("");
	for (int k = 0; k < n; k++)
		text = arena_fmt(&keep, "%.*s%s%.*s", STR_ARG(text), k ? " " : "",
			STR_ARG(m->instructions[found[k]].name));
	assert_int_equal(hlo_async_start(m, find(m, done)), n ? found[0] : -1);
	return arena_z(&keep, text);
}

#define CONDITION(state)                                                                           \
	"cond {\n s = " state " parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"          \
	" n = s32[] constant(6)\n ROOT c = pred[] compare(i, n), direction=LT\n}\n"
#define COUNT(state)                                                                               \
	" s = " state " parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"                  \
	" one = s32[] constant(1)\n j = s32[] add(i, one)\n"

/* A gather that the next trip waits for, one before the loop and a done behind it. */
#define GATHER "(f32[2,4], f32[8,4])"
#define STATE  "(s32[], " GATHER ", f32[2,4])"
static const char gathers[] = "HloModule m, num_partitions=4\n" CONDITION(STATE) "body {\n" COUNT(
	STATE) " f = " GATHER " get-tuple-element(s), index=1\n"
	       " w = f32[8,4] all-gather-done(f)\n"
	       " p = f32[2,4] get-tuple-element(s), index=2\n"
	       " next = " GATHER " all-gather-start(p), replica_groups={}, dimensions={0}\n"
	       " ROOT r = " STATE " tuple(j, next, p)\n}\n"
	       "ENTRY e {\n p = f32[2,4] parameter(0)\n z = s32[] constant(0)\n"
	       " first = " GATHER " all-gather-start(p), replica_groups={}, dimensions={0}\n"
	       " init = " STATE " tuple(z, first, p)\n"
	       " loop = " STATE " while(init), condition=cond, body=body\n"
	       " last = " GATHER " get-tuple-element(loop), index=1\n"
	       " rest = f32[8,4] all-gather-done(last)\n"
	       " plain = " GATHER " all-gather-start(p), replica_groups={}, dimensions={0}\n"
	       " waited = f32[8,4] all-gather-done(plain)\n"
	       " ROOT r = f32[8,4] add(rest, waited)\n}\n";

static void from_trip_to_trip(void **state)
{
	(void)state;
	struct hlo_module *m = parse(gathers);
	struct hlo_collective c;
	assert_string_equal(starts(m, "w"), "next first");
	assert_string_equal(starts(m, "rest"), "next first");
	assert_string_equal(starts(m, "waited"), "plain");
	assert_string_equal(starts(m, "next"), "");
	assert_true(hlo_collective(m, find(m, "rest"), &keep, &c));
	assert_int_equal(c.message_bytes, 128);
	assert_int_equal(hlo_kind(m, find(m, "w")), KIND_ALL_GATHER);
}

/* As XLA rotates a pipeline's sends and receives; here with the start taken apart on its way. */
#define RECV "(f32[8], u32[], token[])"
#undef STATE
#define STATE "(s32[], " RECV ", f32[8])"
static const char rotated[] = "HloModule m, num_partitions=4\n" CONDITION(STATE) "body {\n" COUNT(
	STATE) " f = " RECV " get-tuple-element(s), index=1\n"
	       " got = (f32[8], token[]) recv-done(f), channel_id=1\n"
	       " x = f32[8] get-tuple-element(got), index=0\n"
	       " t = token[] after-all()\n"
	       " in = " RECV " recv(t), channel_id=1\n"
	       " data = f32[8] get-tuple-element(in), index=0\n"
	       " context = u32[] get-tuple-element(in), index=1\n"
	       " token = token[] get-tuple-element(in), index=2\n"
	       " again = " RECV " tuple(data, context, token)\n"
	       " ROOT r = " STATE " tuple(j, again, x)\n}\n"
	       "ENTRY e {\n p = f32[8] parameter(0)\n z = s32[] constant(0)\n t = token[] "
	       "after-all()\n"
	       " first = " RECV " recv(t), channel_id=1\n"
	       " init = " STATE " tuple(z, first, p)\n"
	       " loop = " STATE " while(init), condition=cond, body=body\n"
	       " last = " RECV " get-tuple-element(loop), index=1\n"
	       " ROOT rest = (f32[8], token[]) recv-done(last), channel_id=1\n}\n";

static void taken_apart(void **state)
{
	(void)state;
	struct hlo_module *m = parse(rotated);
	assert_string_equal(starts(m, "got"), "in first");
	assert_string_equal(starts(m, "rest"), "in first");
}

/* Two places in the state that change with every trip, and a third that never does. */
#undef STATE
#define STATE "(s32[], " GATHER ", " GATHER ", " GATHER ")"
static const char turns[] = "HloModule m, num_partitions=4\n" CONDITION(STATE) "body {\n" COUNT(
	STATE) " a = " GATHER " get-tuple-element(s), index=1\n"
	       " b = " GATHER " get-tuple-element(s), index=2\n"
	       " c = " GATHER " get-tuple-element(s), index=3\n"
	       " w = f32[8,4] all-gather-done(a)\n"
	       " never = f32[8,4] all-gather-done(c)\n"
	       " p = f32[2,4] constant({...})\n"
	       " next = " GATHER " all-gather-start(p), replica_groups={}, dimensions={0}\n"
	       " ROOT r = " STATE " tuple(j, b, next, c)\n}\n"
	       "ENTRY e {\n p = f32[2,4] parameter(0)\n z = s32[] constant(0)\n"
	       " one = " GATHER " all-gather-start(p), replica_groups={}, dimensions={0}\n"
	       " two = " GATHER " all-gather-start(p), replica_groups={}, dimensions={0}\n"
	       " init = " STATE " tuple(z, one, two, two)\n"
	       " ROOT loop = " STATE " while(init), condition=cond, body=body\n}\n";

static void places_that_turn(void **state)
{
	(void)state;
	struct hlo_module *m = parse(turns);
	assert_string_equal(starts(m, "w"), "one next two");
	assert_string_equal(starts(m, "never"), "two");
}

/* What is carried is no start, is nothing, or asks for an element that is not there. */
static const char strays[] = "HloModule m\n" CONDITION("(s32[], f32[8])") "body {\n" COUNT(
	"(s32[], f32[8])") " x = f32[8] get-tuple-element(s), index=1\n"
			   " none = f32[8] all-gather-done(x)\n"
			   " beyond = f32[8] get-tuple-element(s), index=7\n"
			   " lost = f32[8] all-gather-done(beyond)\n"
			   " ROOT r = (s32[], f32[8]) tuple(j, x)\n}\n"
			   "ENTRY e {\n p = f32[8] parameter(0)\n z = s32[] constant(0)\n"
			   " init = (s32[], f32[8]) tuple(z, p)\n"
			   " ROOT loop = (s32[], f32[8]) while(init), condition=cond, "
			   "body=body\n}\n";

static void no_pair(void **state)
{
	(void)state;
	struct hlo_module *m = parse(strays);
	assert_string_equal(starts(m, "none"), "");
	assert_string_equal(starts(m, "lost"), "");
}

/* Only what ran is known: a start that no done names, of the shape that the done takes. */
static void by_shape(void **state)
{
	static const struct str texts[] = {
		STR_INIT("%one = " GATHER " all-gather-start(f32[2,4] %p)"),
		STR_INIT("%named = " GATHER " all-gather-start(f32[2,4] %p)"),
		STR_INIT("%large = (f32[4,4], f32[16,4]) all-gather-start(f32[4,4] %q)"),
		STR_INIT("%reduce = f32[8,4] all-reduce-start(f32[8,4] %r)"),
		STR_INIT("%w = f32[8,4] all-gather-done(" GATHER " %get-tuple-element.7)"),
		STR_INIT("%own = f32[8,4] all-gather-done(" GATHER " %named)"),
		STR_INIT("%none = f32[2,4] all-gather-done((f32[1,4], f32[2,4]) %state.2)"),
	};
	static struct diag err;
	(void)state;
	struct hlo_module *m = hlo_text_ops(STR("jit_f"), texts, 7, &keep, &err);
	assert_non_null(m);
	assert_string_equal(starts(m, "w"), "one");
	assert_string_equal(starts(m, "own"), "named");
	assert_string_equal(starts(m, "none"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(from_trip_to_trip),
		cmocka_unit_test(taken_apart),
		cmocka_unit_test(places_that_turn),
		cmocka_unit_test(no_pair),
		cmocka_unit_test(by_shape),
	};
	return cmocka_run_group_tests(tests, keep_begin, keep_end);
}
