/*
 * rooflint: find the command, read its options, run it, and see that its output arrived.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <libxml/xmlmemory.h>
#include <sqlite3.h>

#include "base/json.h"
#include "base/when.h"
#include "cmd/cmd.h"
#include "rules/ruleset.h"

const struct command *const commands[] = {
	&check_command,
	&diff_command,
	&render_command,
	&notify_command,
	&query_command,
	&tables_command,
	&hlo_command,
	&hardware_command,
	&rules_command,
	&init_command,
	&ratchet_command,
	&explain_command,
	&audit_command,
	&facts_command,
	&store_command,
	&completion_command,
	&mcp_command,
	&help_command,
	NULL,
};

bool write_file(struct arena *keep, struct str path, struct str text)
{
	struct diag err;
	struct out *o = out_file(keep, path, &err);
	if (o)
		out_str(o, text);
	if (o && out_close(o, &err))
		return true;
	print_error(&err);
	return false;
}

enum status status_of(enum diag_id id)
{
	switch ((int)id / 100) {
	case 3: /* rules and configuration */
	case 4: /* hardware named by the user */
		return STATUS_USAGE;
	case 7: /* stores and what else a fleet's owner gives */
		return id == DIAG_STORE_SERVER ? STATUS_DELIVERY : STATUS_USAGE;
	case 5:
		return id == DIAG_USAGE ? STATUS_USAGE : STATUS_DELIVERY;
	default:
		return STATUS_PROFILE;
	}
}

struct engine *load_engine(struct context *c, struct diag *err)
{
	if (!c->engine)
		c->engine = engine_new(err);
	return c->engine;
}

static struct out *messages;

void print_line(struct str line)
{
	out_fmt(messages, "rooflint: %.*s\n", STR_ARG(line));
	out_flush(messages);
}

void print_error_text(enum diag_id id, struct str text)
{
	if (!messages) { /* there was no memory for it */
		dprintf(STDERR_FILENO, "rooflint: error RL%d: %.*s\n", (int)id, STR_ARG(text));
		return;
	}
	out_fmt(messages, "rooflint: error RL%d: %.*s\n", (int)id, STR_ARG(text));
	out_flush(messages);
}

void print_error(const struct diag *d)
{
	print_error_text(d->id, str_from(d->text));
}

enum status fail(const struct diag *d)
{
	print_error(d);
	return status_of(d->id);
}

enum status misused(const struct diag *d)
{
	print_error(d);
	return STATUS_USAGE;
}

enum status misuse(const char *fmt, ...)
{
	struct diag err;
	char text[DIAG_BYTES];
	va_list args;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	diag_set(&err, DIAG_USAGE, "%s", text);
	return misused(&err);
}

void show_progress(ptrdiff_t done, ptrdiff_t count)
{
	enum { PER_SECOND = 10 }; /* as often as an eye can tell */
	static double start, shown;
	static ptrdiff_t first;
	double now = now_s();
	if (start <= 0) {
		start = now;
		first = done;
	}
	if (now - start < 1 || (done < count && now - shown < 1.0 / PER_SECOND))
		return;
	shown = now;
	double rate = (double)(done - first) / (now - start);
	fprintf(stderr, "\rrooflint: %td of %td profiles", done, count);
	if (rate > 0) {
		fprintf(stderr, ", %.*f/s", rate < 10 ? 1 : 0, rate);
		double left_s = (double)(count - done) / rate;
		if (left_s < 100)
			fprintf(stderr, ", %.0f s left", left_s);
		else if (left_s < 6000)
			fprintf(stderr, ", %.0f min left", left_s / 60);
		else
			fprintf(stderr, ", %.1f h left", left_s / 3600);
	}
	fprintf(stderr, "\033[K%s", done == count ? "\r\033[K" : "");
	fflush(stderr);
}

/* A file opened later must not become standard output because the caller had closed that. */
static void open_standard_files(void)
{
	int fd;
	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

/* The reader has closed the pipe (`| head`): not an error, and the verdict stands. */
static bool reader_is_gone(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	return poll(&p, 1, 0) == 1 && (p.revents & POLLERR);
}

static enum status close_output(struct out *o, enum status status)
{
	struct diag err;
	if (out_close(o, &err) || reader_is_gone(STDOUT_FILENO))
		return status;
	print_error(&err);
	return status == STATUS_OK || status == STATUS_EVIDENCE ? STATUS_DELIVERY : status;
}

static enum status run(struct context *c, const struct command *command, const struct list *words)
{
	struct diag err;
	struct list args = { 0 };
	bool help;
	void *settings = arena_alloc(c->keep, command->settings_bytes, alignof(max_align_t), 1);
	if (!options_parse(command, words, c->keep, settings, &args, &help, &err))
		return misused(&err);
	if (!help)
		return command->run(c, settings, &args);
	help_command_text(command, c->out);
	return STATUS_OK;
}

static enum status dispatch(struct context *c, struct list *words)
{
	struct diag err;
	if (!words->count) {
		help_program(messages);
		out_flush(messages);
		return STATUS_USAGE;
	}
	struct str name = words->items[0];
	if (str_eq(name, STR("--version")) || str_eq(name, STR("-V"))) {
		out_z(c->out, "rooflint " ROOFLINT_VERSION "\nbuilt with " ROOFLINT_LIBRARIES "\n");
		return STATUS_OK;
	}
	if (str_eq(name, STR("--help")) || str_eq(name, STR("-h")))
		name = STR("help");
	const struct command *command = command_find(name);
	words->items++;
	words->count--;
	if (command)
		return run(c, command, words);
	command_unknown(name, c->keep, &err);
	return misused(&err);
}

_Noreturn void give_up(const struct diag *d)
{
	print_error(d);
	_exit(STATUS_PROFILE);
}

static void end_when_full(ptrdiff_t bytes)
{
	struct diag err;
	if (!messages)
		diag_set(&err, DIAG_LIMIT, "no memory to begin with; give the process more");
	else
		diag_set(&err, DIAG_LIMIT,
			"more than %td MiB of memory would be needed; give fewer or smaller "
			"profiles",
			bytes >> 20);
	give_up(&err);
}

int run_words(struct arena *keep, struct list *words)
{
	struct context c = { .keep = keep, .out = out_log(keep, STDOUT_FILENO) };
	enum status status = close_output(c.out, dispatch(&c, words));
	engine_free(c.engine);
	return (int)status;
}

int main(int argc, char **argv)
{
	open_standard_files();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* ulimit -f: writing says so */
	arena_on_full(end_when_full);
	cJSON_InitHooks(&(cJSON_Hooks){ memory_get, free });
	xmlMemSetup(free, memory_get, memory_more, memory_copy);
	sqlite3_config(SQLITE_CONFIG_SINGLETHREAD); /* tasks read events, which it has none of */
	struct arena keep = arena_new(ARENA_RUN_BYTES);
	messages = out_log(&keep, STDERR_FILENO);
	struct list words = { 0 };
	for (int i = 1; i < argc; i++)
		list_add(&words, str_from(argv[i]), &keep);
	int status = run_words(&keep, &words);
	arena_free(&keep);
	return status;
}
