/*
 * What commands cost: cost RUNS COMMAND [ARG...] [-- COMMAND [ARG...]]...
 *
 * Runs the commands in turn, RUNS times round, so that a slow moment of the machine falls on all of
 * them.  Prints one line for each: median seconds start to exit, peak resident KiB, exit status,
 * and median processor seconds, which other work on the machine hardly changes.
 * The commands' own output is thrown away.
 */
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#define COMMANDS_MAX 16
#define RUNS_MAX     1000

extern char **environ;

struct command {
	char **argv;
	double seconds[RUNS_MAX], processor[RUNS_MAX];
	long peak_kib;
	int status;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds_of(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof(*values), by_value);
	return values[count / 2];
}

static void run(struct command *c, int round)
{
	posix_spawn_file_actions_t files;
	struct rusage used;
	double start;
	pid_t pid;
	int status;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
	start = now();
	if (posix_spawnp(&pid, c->argv[0], &files, NULL, c->argv, environ)) {
		fprintf(stderr, "cost: %s cannot be run\n", c->argv[0]);
		exit(2);
	}
	if (wait4(pid, &status, 0, &used) != pid)
		exit(2);
	c->seconds[round] = now() - start;
	c->processor[round] = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
	posix_spawn_file_actions_destroy(&files);
#ifdef __APPLE__
	used.ru_maxrss /= 1024; /* bytes there, KiB everywhere else */
#endif
	if (used.ru_maxrss > c->peak_kib)
		c->peak_kib = used.ru_maxrss;
	c->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	static struct command commands[COMMANDS_MAX];
	int runs = argc > 2 ? (int)strtol(argv[1], NULL, 10) : 0, count = 0;

	if (runs < 1 || runs > RUNS_MAX) {
		fprintf(stderr, "usage: cost RUNS COMMAND [ARG...] [-- COMMAND [ARG...]]...\n");
		return 2;
	}
	for (int i = 2; i < argc && count < COMMANDS_MAX; i++) {
		commands[count++].argv = argv + i;
		while (i < argc && strcmp(argv[i], "--"))
			i++;
		argv[i] = NULL;
	}
	for (int round = 0; round < runs; round++)
		for (int i = 0; i < count; i++)
			run(&commands[i], round);
	for (int i = 0; i < count; i++) {
		struct command *c = &commands[i];

		printf("%.6f %ld %d %.6f\n", median(c->seconds, runs), c->peak_kib, c->status,
			median(c->processor, runs));
	}
	return 0;
}
