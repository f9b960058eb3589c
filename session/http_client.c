/*
 * Talking to rooflint-http.  See http_client.h.
 *
 * The only place of this program that starts another (`make check-calls`).
 */
#include "session/http_client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

extern char **environ;

#define GRACE_MS   2000 /* to end by itself when its input is closed */
#define PATIENCE_S 30	/* beyond the deadline of all its attempts */
#define BUSY_S	   120	/* a request without limits says more often than this that it is at work */

enum { PROGRAM_PATH = 4096 };

/* ---- finding it ------------------------------------------------------------------------------ */

static struct str find_program(struct arena *keep)
{
	static const char *const places[] = { "rooflint-http",
		"../libexec/rooflint/rooflint-http" };
	char buf[PROGRAM_PATH];
#ifdef __APPLE__
	uint32_t size = PROGRAM_PATH;
	struct str own = str_from(_NSGetExecutablePath(buf, &size) ? NULL : buf);
#else
	ssize_t len = readlink("/proc/self/exe", buf, PROGRAM_PATH - 1);
	buf[len > 0 ? len : 0] = 0;
	struct str own = str_from(len > 0 ? buf : NULL);
#endif
	struct str folder = str_head(own, str_rfind_char(own, '/') + 1);
	for (ptrdiff_t i = 0; i < COUNT_OF(places) && folder.len; i++) {
		struct str path = arena_fmt(keep, "%.*s%s", STR_ARG(folder), places[i]);
		if (!access(path.p, X_OK))
			return path;
	}
	return MISSING;
}

/* ---- starting and ending it ------------------------------------------------------------------ */

static int spawn(const char *path, int in, int out, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	char name[] = "rooflint-http", *argv[] = { name, NULL };
	int error = posix_spawn_file_actions_init(&actions);
	if (error)
		return error;
	error = posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	if (!error)
		error = posix_spawn(pid, path, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

static bool make_pipe(int ends[2])
{
	return !pipe(ends) && fcntl(ends[0], F_SETFD, FD_CLOEXEC) >= 0 &&
	       fcntl(ends[1], F_SETFD, FD_CLOEXEC) >= 0;
}

static void close_both(const int ends[2])
{
	if (ends[0] >= 0)
		close(ends[0]);
	if (ends[1] >= 0)
		close(ends[1]);
}

static bool start(struct http_client *c, struct arena *keep, struct diag *err)
{
	int to[2] = { -1, -1 }, from[2] = { -1, -1 };
	struct str path = find_program(keep);
	if (!path.p)
		return diag_set(err, DIAG_DELIVERY,
			"rooflint-http is neither beside rooflint nor in ../libexec/rooflint");
	int error =
		make_pipe(to) && make_pipe(from) ? spawn(path.p, to[0], from[1], &c->pid) : errno;
	if (error) {
		c->pid = 0;
		close_both(to);
		close_both(from);
		return diag_set(err, DIAG_DELIVERY, "cannot start '%.*s': %s", STR_ARG(path),
			strerror(error));
	}
	close(to[0]);
	close(from[1]);
	c->owner = getpid();
	c->to = to[1];
	c->from = from[0];
	return true;
}

/* It ends when its input does; one that does not is ended. */
static void reap(struct http_client *c)
{
	struct timespec pause = { 0, 10 * 1000000L };
	for (int ms = 0; ms < GRACE_MS; ms += 10) {
		if (waitpid(c->pid, NULL, WNOHANG) == c->pid)
			return;
		nanosleep(&pause, NULL);
	}
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
}

void http_client_close(struct http_client *c)
{
	if (!c->pid)
		return;
	close(c->to);
	close(c->from);
	reap(c);
	c->pid = 0;
}

/* ---- one request ----------------------------------------------------------------------------- */

struct patience {
	int fd, ms;
};

/* Bytes that come in time; a program that hangs counts as one that has ended. */
static ptrdiff_t read_in_time(void *from, char *to, ptrdiff_t n)
{
	struct patience *patience = from;
	struct pollfd p = { .fd = patience->fd, .events = POLLIN };
	int ready;
	do
		ready = poll(&p, 1, patience->ms);
	while (ready < 0 && errno == EINTR);
	return ready > 0 ? frame_read_fd(&patience->fd, to, n) : -1;
}

/* The answer itself; that it takes its time is said as often as it likes. */
static bool read_answer(struct http_client *c, const struct http_limits *limits, struct arena *keep,
	struct frame *ret, struct diag *err)
{
	/* For an answer, or for a word that it takes its time. */
	double seconds = PATIENCE_S + (limits ? limits->deadline_s : BUSY_S);
	struct patience patience = { c->from, (int)(seconds * 1000) };
	struct frame_source from = { read_in_time, &patience, STR("rooflint-http") };
	for (;;) {
		enum frame_state state = frame_read(&from, keep, ret, err);
		if (state == FRAME_END)
			return diag_set(
				err, DIAG_DELIVERY, "rooflint-http ended without an answer");
		if (state == FRAME_BAD)
			return false;
		if (json_get_double(ret->head, "id") != c->last_id)
			break;
		if (!str_eq(json_get_str(ret->head, "outcome"), STR("busy")))
			return true;
		frame_release(ret);
	}
	frame_release(ret);
	return diag_set(err, DIAG_DELIVERY, "rooflint-http gave an answer to nothing asked");
}

bool http_client_ask(struct http_client *c, cJSON *head, struct str body,
	const struct http_limits *limits, struct arena *keep, struct frame *ret, struct diag *err)
{
	if (c->pid && c->owner != getpid()) { /* a parent's program answers the parent */
		close(c->to);
		close(c->from);
		c->pid = 0;
	}
	json_add_double(head, "id", ++c->last_id);
	if (limits) {
		json_add_double(head, "timeout_s", limits->timeout_s);
		json_add_double(head, "deadline_s", limits->deadline_s);
		json_add_i64(head, "answer_bytes", limits->answer_bytes);
	}
	if ((c->pid || start(c, keep, err)) && frame_write(c->to, head, body, keep, err) &&
		read_answer(c, limits, keep, ret, err))
		return true;
	http_client_close(c);
	return false;
}
