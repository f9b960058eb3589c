/* base/task: every index once on threads; processes in order, whatever becomes of a worker. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/task.h"

static struct diag err;

static void cpus(void **state)
{
	(void)state;
	assert_true(task_cpus() >= 1);
	assert_true(task_cpus() <= sysconf(_SC_NPROCESSORS_CONF));
}

struct counts {
	atomic_int seen[1000], now, most;
};

static void count_one(void *arg, ptrdiff_t index)
{
	struct counts *c = arg;
	int now = atomic_fetch_add(&c->now, 1) + 1;
	if (now > atomic_load(&c->most))
		atomic_store(&c->most, now);
	atomic_fetch_add(&c->seen[index], 1);
	atomic_fetch_sub(&c->now, 1);
}

static void threads(void **state)
{
	static const int how_many[] = { -1, 0, 1, 2, 7, 5000 };
	(void)state;
	for (size_t t = 0; t < sizeof(how_many) / sizeof(how_many[0]); t++) {
		static struct counts c;
		memset(&c, 0, sizeof(c));
		task_threads(count_one, &c, 1000, how_many[t]);
		for (int i = 0; i < 1000; i++)
			assert_int_equal(c.seen[i], 1);
		if (how_many[t] <= 1)
			assert_int_equal(c.most, 1);
	}
	task_threads(count_one, NULL, 0, 4);
}

/* What `done` saw. */
struct log {
	ptrdiff_t next;
	int failed;
	int64_t bytes;
	char why[256];
	int status;
	bool in_order;
};

static void note(void *arg, ptrdiff_t index, const struct job_result *result)
{
	struct log *l = arg;
	l->in_order = l->in_order && index == l->next;
	l->next = index + 1;
	if (result->ok) {
		/* The first bytes of each answer are its index. */
		int64_t own = -1;
		if (result->bytes.len >= (ptrdiff_t)sizeof(own))
			memcpy(&own, result->bytes.p, sizeof(own));
		l->in_order = l->in_order && own == index;
		l->bytes += result->bytes.len;
	} else {
		l->failed++;
		snprintf(l->why, sizeof(l->why), "%s", result->why);
	}
	l->status = result->status;
}

static struct str answer(ptrdiff_t index, ptrdiff_t len, struct arena *keep)
{
	int64_t own = index;
	char *p = arena_make(keep, char, len);
	memcpy(p, &own, sizeof(own));
	return (struct str){ p, len };
}

static struct log run(job_fn *job, ptrdiff_t count, int workers)
{
	struct log l = { .in_order = true };
	assert_true(task_processes(job, note, NULL, &l, count, workers, &err));
	assert_true(l.in_order);
	assert_int_equal(l.next, count);
	/* No zombies, no orphans: nothing is left to wait for. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	return l;
}

static struct str small_job(void *arg, ptrdiff_t index, struct arena *keep)
{
	(void)arg;
	return answer(index, 8 + index % 100, keep);
}

static void processes(void **state)
{
	(void)state;
	int64_t want = 0;
	for (int i = 0; i < 500; i++)
		want += 8 + i % 100;
	for (int workers = 0; workers < 6; workers++) {
		struct log l = run(small_job, 500, workers);
		assert_int_equal(l.failed, 0);
		assert_int_equal(l.bytes, want);
	}
	run(small_job, 0, 4);
	run(small_job, 1, 300);
}

/* Early jobs are slow and large: later answers must wait, and wait in bounded number. */
static struct str uneven_job(void *arg, ptrdiff_t index, struct arena *keep)
{
	struct timespec pause = { 0, index % 100 ? 0 : 30000000 };
	(void)arg;
	nanosleep(&pause, NULL);
	return answer(index, index % 50 ? 8 : 3 << 20, keep);
}

static void answers_out_of_order(void **state)
{
	(void)state;
	struct log l = run(uneven_job, 400, 3);
	assert_int_equal(l.failed, 0);
	assert_int_equal(l.bytes, 8 * (3 << 20) + 392 * 8);
}

static struct str crashing_job(void *arg, ptrdiff_t index, struct arena *keep)
{
	(void)arg;
	if (index % 10 == 3) {
		signal(SIGSEGV, SIG_DFL);
		raise(SIGSEGV);
	}
	return answer(index, 8, keep);
}

static void crashes_cost_one_job(void **state)
{
	(void)state;
	for (int workers = 1; workers < 4; workers++) {
		struct log l = run(crashing_job, 100, workers);
		assert_int_equal(l.failed, 10);
		assert_int_equal(l.bytes, 90 * 8);
		assert_string_equal(l.why, "killed by signal 11 (segmentation fault)");
		assert_int_equal(l.status, -1);
	}
}

static struct str leaving_job(void *arg, ptrdiff_t index, struct arena *keep)
{
	(void)arg, (void)keep;
	if (index == 0)
		_exit(7);
	return answer(index, 8, keep);
}

static void exits_are_told(void **state)
{
	(void)state;
	struct log l = run(leaving_job, 3, 2);
	assert_int_equal(l.failed, 1);
	assert_string_equal(l.why, "ended with status 7 and without an answer");
	assert_int_equal(run(leaving_job, 1, 1).status, 7);
}

static void give_up(void *arg, ptrdiff_t index)
{
	(void)arg;
	if (index == 700)
		_exit(77);
}

/* Memory runs out on any thread, while the others are at work. */
static struct str threaded_job(void *arg, ptrdiff_t index, struct arena *keep)
{
	(void)arg;
	if (index % 2)
		task_threads(give_up, NULL, 1000, 4);
	return answer(index, 8, keep);
}

static void a_thread_gives_up(void **state)
{
	(void)state;
	struct log l = run(threaded_job, 40, 2);
	assert_int_equal(l.failed, 20);
	assert_int_equal(l.bytes, 20 * 8);
	assert_int_equal(l.status, 77);
}

static struct str killed_job(void *arg, ptrdiff_t index, struct arena *keep)
{
	(void)arg, (void)index, (void)keep;
	raise(SIGKILL);
	return STR("");
}

static void all_die(void **state)
{
	(void)state;
	struct log l = run(killed_job, 20, 3);
	assert_int_equal(l.failed, 20);
	assert_non_null(strstr(l.why, "killed by signal 9"));
	assert_non_null(strstr(l.why, "memory"));
}

/* A frame's head written by hand into the one socket that a worker has. */
static struct str lying_job(void *arg, ptrdiff_t index, struct arena *keep)
{
	(void)arg;
	if (index == 1) {
		int64_t lie[2] = { 1, INT64_MAX };
		for (int fd = 3; fd < 64; fd++)
			(void)!write(fd, lie, sizeof(lie));
		pause();
	}
	return answer(index, 8, keep);
}

static void malformed_answers(void **state)
{
	(void)state;
	struct log l = run(lying_job, 4, 1);
	assert_int_equal(l.failed, 1);
	assert_string_equal(l.why, "its answer was malformed or too long");
}

static struct str empty_job(void *arg, ptrdiff_t index, struct arena *keep)
{
	(void)arg, (void)index, (void)keep;
	return (struct str){ NULL, 0 };
}

static void count_empty(void *arg, ptrdiff_t index, const struct job_result *result)
{
	(void)index;
	*(int *)arg += result->ok && result->bytes.len == 0;
}

static void empty_answers(void **state)
{
	int n = 0;
	(void)state;
	assert_true(task_processes(empty_job, count_empty, NULL, &n, 10, 2, &err));
	assert_int_equal(n, 10);
}

static struct str slow_job(void *arg, ptrdiff_t index, struct arena *keep)
{
	const struct timespec t = { index ? 0 : 2, 500000000 };
	(void)arg;
	nanosleep(&t, NULL);
	return answer(index, 8, keep);
}

static void no_answer(void *arg)
{
	(*(int *)arg)++;
}

static void count_done(void *arg, ptrdiff_t index, const struct job_result *result)
{
	(void)arg;
	(void)index;
	(void)result;
}

/* While one job takes long, and not while answers come. */
static void idle_seconds(void **state)
{
	int n = 0;
	(void)state;
	assert_true(task_processes(slow_job, count_done, no_answer, &n, 1, 1, &err));
	assert_int_equal(n, 2);
	n = 0;
	assert_true(task_processes(small_job, count_done, no_answer, &n, 50, 2, &err));
	assert_int_equal(n, 0);
}

static struct str dirty_job(void *arg, ptrdiff_t index, struct arena *keep)
{
	(void)arg;
	char *p = arena_make(keep, char, 2 << 20);
	for (ptrdiff_t i = 0; i < 2 << 20; i += 64)
		if (p[i])
			_exit(9);
	memset(p, 0xee, 2 << 20);
	return answer(index, 8, keep);
}

static void jobs_get_a_fresh_arena(void **state)
{
	(void)state;
	assert_int_equal(run(dirty_job, 20, 2).failed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpus),
		cmocka_unit_test(threads),
		cmocka_unit_test(processes),
		cmocka_unit_test(answers_out_of_order),
		cmocka_unit_test(crashes_cost_one_job),
		cmocka_unit_test(exits_are_told),
		cmocka_unit_test(a_thread_gives_up),
		cmocka_unit_test(all_die),
		cmocka_unit_test(malformed_answers),
		cmocka_unit_test(empty_answers),
		cmocka_unit_test(idle_seconds),
		cmocka_unit_test(jobs_get_a_fresh_arena),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
