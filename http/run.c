/*
 * A program that prints keys, started as the clouds' own tools do: words, no shell.
 * See keyring.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "http/keyring.h"

#define TICK_MS 500
enum { FILES_MAX = 1024, NOT_FOUND = 127 };

/* ---- words ----------------------------------------------------------------------------------- */

bool words_split(struct str line, struct arena *keep, char ***ret)
{
	struct out *word = NULL; /* NULL: between words */
	char quote = 0;
	ptrdiff_t count = 0, cap = 0;
	*ret = NULL;
	for (ptrdiff_t i = 0; i <= line.len; i++) {
		char c = i < line.len ? line.p[i] : ' ',
		     next = i + 1 < line.len ? line.p[i + 1] : 0;
		if (!quote && (c == ' ' || c == '\t' || c == '\r' || c == '\n')) {
			if (word)
				*arena_push(keep, *ret, count, cap) =
					(char *)(uintptr_t)arena_z(keep, out_text(word));
			word = NULL;
			continue;
		}
		word = word ? word : out_memory(keep);
		if (i == line.len || (c == '\\' && !quote && i + 1 == line.len))
			return false;
		if (quote && c == quote)
			quote = 0;
		else if (!quote && (c == '\'' || c == '"'))
			quote = c;
		else if (c == '\\' && (!quote || (quote == '"' && (next == '"' || next == '\\'))))
			out_char(word, line.p[++i]);
		else
			out_char(word, c);
	}
	*arena_push(keep, *ret, count, cap) = NULL;
	return true;
}

/* ---- the child ------------------------------------------------------------------------------- */

/* What it says on its standard error may be a secret; connections of this process are not its. */
static void become(char *const *argv, int out)
{
	int null = open("/dev/null", O_RDWR);
	if (null < 0 || setpgid(0, 0) || dup2(null, STDIN_FILENO) < 0 ||
		dup2(out, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0)
		_exit(NOT_FOUND);
	for (int fd = STDERR_FILENO + 1; fd < FILES_MAX; fd++)
		close(fd);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	execvp(argv[0], argv);
	_exit(NOT_FOUND);
}

#define LATE "did not end in time; run it by hand to see what it waits for"

/* NULL, or why not all came. */
static const char *read_all(struct keyring *k, int fd, double until_s, struct out *o)
{
	char bytes[4096];
	while (now_s() < until_s) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		k->alive(k->alive_arg);
		if (poll(&p, 1, TICK_MS) <= 0)
			continue;
		ssize_t n = read(fd, bytes, sizeof(bytes));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return NULL;
		if (out_text(o).len + n > SMALL_BYTES)
			return "printed more than any keys have";
		out_str(o, (struct str){ bytes, n });
	}
	return LATE;
}

/* Its exit status; -1 when it had to be ended. */
static int end_child(pid_t pid, double until_s)
{
	int how = 0;
	pid_t done = 0;
	while (!done && now_s() < until_s) {
		done = waitpid(pid, &how, WNOHANG);
		if (!done)
			sleep_s(0.005);
	}
	if (done == pid)
		return WIFEXITED(how) ? WEXITSTATUS(how) : 128;
	kill(-pid, SIGKILL);
	while (waitpid(pid, &how, 0) < 0 && errno == EINTR)
		;
	return -1;
}

bool run_program(
	struct keyring *k, struct str line, double longest_s, struct str *ret, struct diag *err)
{
	int pipes[2];
	char **argv;
	double until_s = now_s() + longest_s;
	struct out *o = out_memory(k->keep);
	if (!words_split(line, k->keep, &argv) || !argv[0])
		return diag_set(err, DIAG_BUCKET, "a quote is left open in it");
	if (pipe(pipes))
		return diag_set(err, DIAG_LIMIT, "%s", strerror(errno));
	pid_t pid = fork();
	if (!pid)
		become(argv, pipes[1]);
	close(pipes[1]);
	const char *why = pid < 0 ? strerror(errno) : read_all(k, pipes[0], until_s, o);
	close(pipes[0]);
	int status = pid < 0 ? -1 : end_child(pid, why ? 0 : until_s);
	if (why || status < 0)
		return diag_set(err, DIAG_BUCKET, "%s", why ? why : LATE);
	*ret = out_text(o);
	if (status == NOT_FOUND)
		return diag_set(err, DIAG_BUCKET, "there is no such program");
	return !status ||
	       diag_set(err, DIAG_BUCKET,
		       "ended with status %d; run it by hand to see what it says", status);
}
