/*
 * Threads over slots, processes over jobs.  See task.h.
 *
 * A worker process and the parent share two pipes (no socket: the program makes none, for any
 * purpose).  The parent sends an index, the worker answers with a frame, and only then gets the
 * next index:
 *
 *     parent -> worker   int64 index
 *     worker -> parent   int64 index, int64 length, bytes
 *
 * A worker whose pipe ends has died; waitpid says how, and the job it was on is lost with that
 * reason.  A worker whose parent has died sees the same end and leaves.
 *
 * Results that must wait for an earlier one are kept on the heap and not in an arena, since they
 * come and go in an order of their own; so is everything else here.
 */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "base/task.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/input.h"
#include "base/out.h"

/* Threads and processes at once: past the cores of any machine that runs CI. */
enum { TASK_MAX = 256 };
/* Finished jobs that may wait for an earlier one, per worker: bounds what the parent holds. */
enum { WAITING_PER_WORKER = 64 };
/* Longest answer of one job: the facts of a run are some 100 kB, a whole report some MB. */
#define RESULT_BYTES ((int64_t)256 << 20)

static int cpus_allowed(void)
{
#ifdef __linux__
	cpu_set_t set;
	if (!sched_getaffinity(0, sizeof(set), &set))
		return CPU_COUNT(&set);
#endif
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	return n > 0 && n < 1 << 20 ? (int)n : 1;
}

/* A container's quota in whole processors, rounded up; 0 when there is none. */
static int cpus_quota(void)
{
	long long quota = 0, period = 0;
	FILE *f = fopen("/sys/fs/cgroup/cpu.max", "re");
	if (!f)
		return 0;
	int fields = fscanf(f, "%lld %lld", &quota, &period);
	fclose(f);
	if (fields != 2 || quota <= 0 || period <= 0 || quota / period >= 1 << 20)
		return 0;
	return (int)((quota + period - 1) / period);
}

int task_cpus(void)
{
	int allowed = cpus_allowed(), quota = cpus_quota();
	int n = quota && quota < allowed ? quota : allowed;
	return n > 0 ? n : 1;
}

struct crew {
	task_fn *fn;
	void *arg;
	ptrdiff_t count;
	_Atomic ptrdiff_t next;
};

static void *crew_run(void *arg)
{
	struct crew *c = arg;
	for (ptrdiff_t i; (i = atomic_fetch_add(&c->next, 1)) < c->count;)
		c->fn(c->arg, i);
	return NULL;
}

/* The calling thread works too, so a thread that cannot be started costs only time. */
void task_threads(task_fn *fn, void *arg, ptrdiff_t count, int threads)
{
	struct crew c = { .fn = fn, .arg = arg, .count = count };
	pthread_t started[TASK_MAX];
	int n = 0, most = threads < TASK_MAX ? threads : TASK_MAX;
	while (n < most - 1 && n < count - 1 && !pthread_create(&started[n], NULL, crew_run, &c))
		n++;
	crew_run(&c);
	while (n > 0)
		pthread_join(started[--n], NULL);
}

struct frame {
	int64_t index, len;
};

struct worker {
	pid_t pid;
	int answers;   /* read from the worker; -1: not running */
	int jobs;      /* written to it */
	ptrdiff_t job; /* -1: idle */
};

struct pool {
	job_fn *job;
	job_done_fn *done;
	job_idle_fn *idle;
	void *arg;
	struct waiting {
		bool is_here;		  /* finished, not reported */
		struct job_result result; /* its bytes are on the heap */
	} * slots;			  /* that of index i is in slot i % slot_count */
	ptrdiff_t slot_count;
	ptrdiff_t count, next, reported;
	struct worker workers[TASK_MAX];
	int wanted; /* workers to have while there are jobs left */
};

/* The whole life of a worker process. */
static _Noreturn void serve(const struct pool *p, int jobs, int answers)
{
	struct arena keep = arena_new(ARENA_RUN_BYTES);
	int64_t index;
	while (input_read_all(jobs, &index, sizeof(index)) == sizeof(index)) {
		struct str bytes = p->job(p->arg, (ptrdiff_t)index, &keep);
		struct frame head = { index, bytes.len };
		if (!write_all(answers, (struct str){ (const char *)&head, sizeof(head) }) ||
			!write_all(answers, bytes))
			break;
		arena_clear(&keep);
	}
	_exit(0);
}

static void pipe_close(const int ends[2])
{
	close(ends[0]);
	close(ends[1]);
}

/* Both pipes or none; errno says why not. */
static bool pipes_open(int jobs[2], int answers[2])
{
	if (pipe(jobs))
		return false;
	if (!pipe(answers))
		return true;
	int why = errno;
	pipe_close(jobs);
	errno = why;
	return false;
}

/* The parent's ends of all workers: were they to stay open in one, none would see it die. */
static void parent_ends_close(const struct pool *p)
{
	for (int i = 0; i < TASK_MAX; i++)
		if (p->workers[i].answers >= 0) {
			close(p->workers[i].answers);
			close(p->workers[i].jobs);
		}
}

static bool worker_start(struct pool *p, struct worker *w)
{
	int jobs[2], answers[2];
	if (!pipes_open(jobs, answers))
		return false;
	pid_t pid = fork();
	if (pid < 0) {
		int why = errno;
		pipe_close(jobs);
		pipe_close(answers);
		errno = why;
		return false;
	}
	if (!pid) {
		close(jobs[1]);
		close(answers[0]);
		parent_ends_close(p);
		serve(p, jobs[0], answers[1]);
	}
	close(jobs[0]);
	close(answers[1]);
	*w = (struct worker){ .pid = pid, .answers = answers[0], .jobs = jobs[1], .job = -1 };
	return true;
}

static int worker_reap(struct worker *w)
{
	int status = 0;
	close(w->jobs);
	close(w->answers);
	while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
		;
	*w = (struct worker){ .answers = -1, .job = -1 };
	return status;
}

static void finish(struct pool *p, ptrdiff_t index, struct job_result result)
{
	struct waiting *w = &p->slots[index % p->slot_count];
	*w = (struct waiting){ true, result };
	for (; (w = &p->slots[p->reported % p->slot_count])->is_here; p->reported++) {
		p->done(p->arg, p->reported, &w->result);
		free((char *)(uintptr_t)w->result.bytes.p);
		w->is_here = false;
	}
}

static void say_why(char *why, size_t size, int status)
{
	if (!WIFSIGNALED(status)) {
		snprintf(why, size, "ended with status %d and without an answer",
			WEXITSTATUS(status));
		return;
	}
	int number = WTERMSIG(status);
	const char *name = strsignal(number);
	snprintf(why, size, "killed by signal %d (%c%s)%s", number,
		lower_case(name ? name[0] : '?'), name && name[0] ? name + 1 : "",
		number == SIGKILL ? ", as happens when memory runs out" : "");
}

/* The worker is gone, or must go: its job is lost with the reason. */
static void worker_lost(struct pool *p, struct worker *w, const char *because)
{
	struct job_result result = { .ok = false, .status = -1 };
	ptrdiff_t job = w->job;
	int status = worker_reap(w);
	if (!because && WIFEXITED(status))
		result.status = WEXITSTATUS(status);
	if (because)
		snprintf(result.why, sizeof(result.why), "%s", because);
	else
		say_why(result.why, sizeof(result.why), status);
	if (job >= 0)
		finish(p, job, result);
}

/* A worker that has begun to answer does nothing else, so the rest is waited for. */
static void worker_read(struct pool *p, struct worker *w)
{
	struct frame head;
	struct job_result result = { .ok = true, .status = -1 };
	char *bytes = NULL;
	if (input_read_all(w->answers, &head, sizeof(head)) != sizeof(head)) {
		worker_lost(p, w, NULL);
		return;
	}
	if (head.index == w->job && head.len >= 0 && head.len <= RESULT_BYTES)
		bytes = malloc((size_t)head.len + 1);
	if (!bytes) {
		kill(w->pid, SIGKILL);
		worker_lost(p, w, "its answer was malformed or too long");
	} else if (input_read_all(w->answers, bytes, head.len) != head.len) {
		free(bytes);
		worker_lost(p, w, NULL);
	} else {
		result.bytes = (struct str){ bytes, (ptrdiff_t)head.len };
		w->job = -1;
		finish(p, (ptrdiff_t)head.index, result);
	}
}

static bool may_hand_out(const struct pool *p)
{
	return p->next < p->count && p->next - p->reported < p->slot_count;
}

/* Start what is missing and give every idle worker a job.  False when no worker is left. */
static bool hand_out(struct pool *p)
{
	int running = 0;
	for (int i = 0; i < p->wanted; i++) {
		struct worker *w = &p->workers[i];
		/* One that cannot be started is tried again after the next answer. */
		if (w->answers < 0 && (!may_hand_out(p) || !worker_start(p, w)))
			continue;
		running++;
		if (w->job >= 0 || !may_hand_out(p))
			continue;
		int64_t index = p->next;
		w->job = p->next++;
		/* If it fails the worker is dead, and its end of file comes next. */
		write_all(w->jobs, (struct str){ (const char *)&index, sizeof(index) });
	}
	return running > 0;
}

static void wait_for_answers(struct pool *p)
{
	enum { IDLE_MS = 1000 };
	struct pollfd polls[TASK_MAX];
	for (int i = 0; i < TASK_MAX; i++)
		polls[i] = (struct pollfd){ .fd = p->workers[i].answers, .events = POLLIN };
	int ready = poll(polls, TASK_MAX, p->idle ? IDLE_MS : -1);
	if (!ready)
		p->idle(p->arg);
	if (ready <= 0)
		return;
	for (int i = 0; i < TASK_MAX; i++)
		if (polls[i].fd >= 0 && polls[i].revents)
			worker_read(p, &p->workers[i]);
}

static bool pool_run(struct pool *p, struct diag *err)
{
	while (p->reported < p->count) {
		if (!hand_out(p))
			return diag_set(err, DIAG_WORKER, "cannot start a worker process: %s",
				strerror(errno));
		wait_for_answers(p);
	}
	return true;
}

bool task_processes(job_fn *job, job_done_fn *done, job_idle_fn *idle, void *arg, ptrdiff_t count,
	int workers, struct diag *err)
{
	int wanted = workers < 1 ? 1 : workers < TASK_MAX ? workers : TASK_MAX;
	ptrdiff_t slot_count = (ptrdiff_t)wanted * WAITING_PER_WORKER;
	struct pool *p = calloc(1, sizeof(*p));
	struct waiting *slots = calloc((size_t)slot_count, sizeof(*slots));
	if (!p || !slots) {
		free(p);
		free(slots);
		return diag_set(
			err, DIAG_LIMIT, "no memory to keep track of %lld jobs", (long long)count);
	}
	*p = (struct pool){ .job = job, .done = done, .idle = idle, .arg = arg, .count = count };
	p->slots = slots;
	p->slot_count = slot_count;
	p->wanted = wanted < count ? wanted : (int)count;
	for (int i = 0; i < TASK_MAX; i++)
		p->workers[i] = (struct worker){ .answers = -1, .job = -1 };
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
	sigaction(SIGPIPE, &ignore, &before);
	bool ok = pool_run(p, err);
	for (int i = 0; i < TASK_MAX; i++)
		if (p->workers[i].answers >= 0)
			worker_reap(&p->workers[i]);
	sigaction(SIGPIPE, &before, NULL);
	free(slots);
	free(p);
	return ok;
}
