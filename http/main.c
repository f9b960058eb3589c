/*
 * rooflint-http: requests in, answers out.  See http.h.
 *
 * Long-lived, so that authorities are read and connections are made once: it ends when its input
 * does.
 */
#include <curl/curl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/frame.h"
#include "base/secret.h"
#include "http/cloud.h"

enum { EXIT_FINE = 0, EXIT_USAGE = 2, EXIT_INPUT = 3 };

static int fail(const struct diag *err)
{
	fprintf(stderr, "rooflint-http: error RL%d: %s\n", (int)err->id, err->text);
	return EXIT_INPUT;
}

/* ---- a long wait is told --------------------------------------------------------------------- */

#define BUSY_S 5.0 /* whoever asked gives up after many times that */

struct busy {
	double id, last_s;
	struct arena *keep;
};

/* Whoever asked and is gone, killed perhaps, wants no answer, and no more bytes into the cache. */
static void say_busy(void *arg)
{
	struct busy *b = arg;
	struct arena scratch = *b->keep;
	struct diag ignored;
	if (now_s() < b->last_s + BUSY_S)
		return;
	b->last_s = now_s();
	cJSON *head = cJSON_CreateObject();
	json_add_double(head, "id", b->id);
	json_add_str(head, "outcome", STR("busy"));
	bool ok = frame_write(STDOUT_FILENO, head, STR(""), &scratch, &ignored);
	cJSON_Delete(head);
	if (!ok)
		_exit(EXIT_INPUT);
}

/* ---- requests -------------------------------------------------------------------------------- */

/* What lasts from one request to the next. */
struct server {
	void *curl;
	struct clouds clouds;
	struct busy busy;
	struct arena keep; /* of one request */
};

/* A malformed request is answered, too: its sender waits. */
static cJSON *handle(struct server *s, const struct frame *f, struct str *body)
{
	struct request r = { .id = json_get_double(f->head, "id") };
	struct answer a = { .outcome = OUTCOME_REFUSED };
	struct diag err;
	bool ok = request_read(f->head, f->body, &r, &err);
	s->busy = (struct busy){ r.id, now_s(), &s->keep };
	if (!ok)
		a.error = arena_str(&s->keep, str_from(err.text));
	else if (str_eq(r.method, STR("LIST")) || str_eq(r.method, STR("FETCH")))
		cloud_run(&s->clouds, &r, &s->keep, &a);
	else
		transfer(s->curl, &r, &s->keep, &a);
	*body = a.body;
	return answer_write(&r, &a);
}

static int serve(struct server *s)
{
	int in = STDIN_FILENO;
	struct frame_source from = { frame_read_fd, &in, STR("standard input") };
	for (;;) {
		struct diag err;
		struct frame f;
		struct str body;
		enum frame_state state = frame_read(&from, &s->keep, &f, &err);
		if (state != FRAME_WHOLE)
			return state == FRAME_END ? EXIT_FINE : fail(&err);
		cJSON *head = handle(s, &f, &body);
		bool ok = frame_write(STDOUT_FILENO, head, body, &s->keep, &err);
		cJSON_Delete(head);
		frame_release(&f);
		arena_clear(&s->keep);
		if (!ok)
			return fail(&err);
	}
}

int main(int argc, char **argv)
{
	secret_seal();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* ulimit -f: writing says so */
	if (argc > 1 && !strcmp(argv[1], "--version")) {
		printf("rooflint-http " ROOFLINT_VERSION "\n%s\n", curl_version());
		return EXIT_FINE;
	}
	if (argc > 1 || isatty(STDIN_FILENO)) {
		fputs("rooflint-http sends what rooflint tells it to, and is started by rooflint\n",
			stderr);
		return EXIT_USAGE;
	}
	void *curl = curl_global_init(CURL_GLOBAL_DEFAULT) ? NULL : curl_easy_init();
	if (!curl) {
		fputs("rooflint-http: error RL601: libcurl could not be started\n", stderr);
		return EXIT_INPUT;
	}
	struct arena lasting = arena_new(ARENA_SCRATCH_BYTES);
	struct server *s = arena_make(&lasting, struct server, 1);
	s->curl = curl;
	s->keep = arena_new(ARENA_RUN_BYTES);
	s->clouds.keys = (struct keyring){ .curl = curl, .keep = &lasting, .alive = say_busy };
	s->clouds.keys.alive_arg = &s->busy;
	int status = serve(s);
	arena_free(&s->keep);
	arena_free(&lasting);
	curl_easy_cleanup(curl);
	curl_global_cleanup();
	return status;
}
