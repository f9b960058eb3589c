/* measure/aggregate.h: sums of devices do not depend on their order, and outlive their arenas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "measure/aggregate.h"

enum { OPS = 3, PROGRAMS = 2, SAMPLES = 1000 };

static struct arena keep;

/* Device 1 is twice as slow, met one op more and one instance of its collective, op 1, less. */
static struct sweep swept(int device, struct arena *work)
{
	struct sweep s = { .op_cap = OPS + device, .program_cap = PROGRAMS, .steady_count = 4 };

	static struct plane plane;
	s.plane = &plane;
	s.ops = arena_make(work, struct op_total, s.op_cap);
	s.moving = arena_make(work, struct moving_total, s.op_cap);
	s.programs = arena_make(work, struct program_total, PROGRAMS);
	s.steps = arena_make(work, struct swept_step, 1);
	s.gaps.items = arena_make(work, struct swept_gap, 1);
	s.step_count = s.gaps.count = 1;
	s.steps[0].number = 7;
	s.gaps.items[0].step = 8;
	for (int64_t i = 0; i < SAMPLES; i++)
		dist_add(&s.ops[0].self, work, (1 + device) * (1000 + 10 * i));
	s.ops[OPS - 1 + device].nested = true;
	struct moving_total *c = &s.moving[1];
	for (int32_t i = 0; i < 3 - device; i++)
		*arena_push(work, c->spans_ps, c->count, c->cap) = 100 + 50 * device - i;
	c->exposed_ps = 5;
	c->done_self_ps = 9;
	dist_add(&c->span, work, 100);
	dist_add(&s.programs[1].dist, work, 300);
	s.programs[0].marker = 0;
	s.programs[1].marker = OPS - 1 + device;
	return s;
}

/* Adds the device, whose arena ends with its sweep. */
static struct sweep add(struct aggregate *j, int device)
{
	struct arena work = arena_new((ptrdiff_t)1 << 24);
	struct sweep s = swept(device, &work);

	aggregate_add(j, &s, 1);
	arena_free(&work);
	return s;
}

static void in_any_order(void **state)
{
	(void)state;
	struct aggregate *one = aggregate_new(&keep), *other = aggregate_new(&keep);
	add(one, 0);
	add(one, 1);
	add(other, 1);
	add(other, 0);
	struct op_total a = *aggregate_op(one, 0), b = *aggregate_op(other, 0);
	assert_int_equal(a.self.count, 2 * SAMPLES);
	assert_int_equal(a.self.sum, b.self.sum);
	assert_int_equal(a.self.run_base, b.self.run_base);
	assert_int_equal(a.self.run_count, b.self.run_count);
	for (int32_t i = 0; i < a.self.run_count; i++) {
		assert_int_equal(a.self.runs[i] == NULL, b.self.runs[i] == NULL);
		if (a.self.runs[i])
			assert_memory_equal(a.self.runs[i], b.self.runs[i],
				DIST_RUN * sizeof(*a.self.runs[i]));
	}
	assert_int_equal(aggregate_moving(one, 1)->exposed_ps, 10);
	assert_int_equal(aggregate_program(one, 1).count, 2);
	assert_int_equal(aggregate_program(other, 0).count, 0);
	aggregate_free(one);
	aggregate_free(other);
}

static void instances_of_all_devices(void **state)
{
	(void)state;
	for (int first = 0; first < 2; first++) {
		struct aggregate *j = aggregate_new(&keep);
		add(j, first);
		add(j, !first);
		struct aggregate_moving c = *aggregate_moving(j, 1);
		assert_int_equal(c.count, 3);
		assert_int_equal(c.instances[1].min_ps, 99);
		assert_int_equal(c.instances[1].max_ps, 149);
		assert_int_equal(c.instances[1].seen, 2);
		assert_int_equal(c.instances[2].min_ps, 98);
		assert_int_equal(c.instances[2].max_ps, 98);
		assert_int_equal(c.instances[2].seen, 1);
		assert_int_equal(c.done_self_ps, 18);
		assert_int_equal(c.span.count, 2);
		aggregate_free(j);
	}
}

static void what_a_device_keeps(void **state)
{
	(void)state;
	struct aggregate *j = aggregate_new(&keep);
	struct sweep s[] = { add(j, 0), add(j, 1) };
	for (int d = 0; d < 2; d++) {
		assert_null(s[d].ops);
		assert_null(s[d].moving);
		assert_int_equal(
			s[d].self_ps[0], (1 + d) * (SAMPLES * 1000 + 5 * SAMPLES * (SAMPLES - 1)));
		assert_int_equal(s[d].self_first, 0);
		assert_int_equal(s[d].self_count, 1);
		assert_int_equal(s[d].steps[0].number, 7);
		assert_int_equal(s[d].gaps.items[0].step, 8);
		assert_int_equal(s[d].programs[0].marker, 0);
		assert_int_equal(s[d].programs[1].marker, OPS - 1 + d);
	}
	assert_true(aggregate_op(j, OPS - 1)->nested);
	assert_true(aggregate_op(j, OPS)->nested);
	aggregate_free(j);
}

/* Of the ops of other programs, before and behind, there are no times. */
static void times_of_the_own_program(void **state)
{
	(void)state;
	struct aggregate *j = aggregate_new(&keep);
	struct arena work = arena_new((ptrdiff_t)1 << 24);
	struct sweep s = swept(2, &work);
	s.ops[0] = (struct op_total){ 0 };
	dist_add(&s.ops[1].self, &work, 30);
	dist_add(&s.ops[3].self, &work, 50);
	aggregate_add(j, &s, 1);
	arena_free(&work);
	assert_int_equal(s.self_first, 1);
	assert_int_equal(s.self_count, 3);
	assert_int_equal(s.self_ps[0], 30);
	assert_int_equal(s.self_ps[1], 0);
	assert_int_equal(s.self_ps[2], 50);
	aggregate_free(j);
}

/* Of many devices few steps each are kept; of the one that ends last, how long each was. */
static void steps_of_many_devices(void **state)
{
	enum { STEPS = 10 };
	static const int64_t shift_ps[] = { 0, 50, -50 };
	struct aggregate *j = aggregate_new(&keep);
	const int64_t *ps;
	(void)state;
	for (int device = 0; device < 3; device++) {
		struct arena work = arena_new((ptrdiff_t)1 << 24);
		struct plane *plane = arena_make(&keep, struct plane, 1);
		struct sweep s = swept(0, &work);
		plane->host_shift_ps = shift_ps[device];
		s.plane = plane;
		s.last_end_ps = 1000;
		s.steady_count = STEPS;
		s.step_count = 2 * STEPS;
		s.steps = arena_make(&work, struct swept_step, s.step_count);
		for (ptrdiff_t i = 0; i < s.step_count; i++) /* every other one is a warm-up */
			s.steps[i] = (struct swept_step){ .end_ps = 100 + device,
				.other_ps = 10,
				.number = i,
				.warmup = i % 2 == 0,
				.complete = true };
		aggregate_add(j, &s, 2);
		assert_int_equal(s.step_count, 4);
		assert_int_equal(s.steps[3].number, 3);
		arena_free(&work);
	}
	assert_int_equal(aggregate_steps(j, &ps), STEPS);
	for (int k = 0; k < STEPS; k++)
		assert_int_equal(ps[k], 91);
	aggregate_clear(j);
	assert_int_equal(aggregate_steps(j, &ps), 0);
	aggregate_free(j);
}

static void begun_anew(void **state)
{
	(void)state;
	struct aggregate *j = aggregate_new(&keep);
	add(j, 1);
	aggregate_clear(j);
	assert_int_equal(aggregate_op(j, 0)->self.count, 0);
	assert_int_equal(aggregate_moving(j, 1)->count, 0);
	assert_int_equal(aggregate_program(j, 1).count, 0);
	add(j, 0);
	assert_int_equal(aggregate_op(j, 0)->self.count, SAMPLES);
	aggregate_free(j);
}

static int begin(void **state)
{
	(void)state;
	keep = arena_new((ptrdiff_t)1 << 20);
	return 0;
}

static int end(void **state)
{
	(void)state;
	arena_free(&keep);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_any_order),
		cmocka_unit_test(instances_of_all_devices),
		cmocka_unit_test(what_a_device_keeps),
		cmocka_unit_test(times_of_the_own_program),
		cmocka_unit_test(steps_of_many_devices),
		cmocka_unit_test(begun_anew),
	};
	return cmocka_run_group_tests_name("joined", tests, begin, end);
}
