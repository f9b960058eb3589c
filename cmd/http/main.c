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
#include "cmd/http/http.h"

enum { EXIT_FINE = 0, EXIT_USAGE = 2, EXIT_INPUT = 3 };

static int fail(const struct diag *err)
{
	fprintf(stderr, "rooflint-http: error RL%d: %s\n", (int)err->id, err->text);
	return EXIT_INPUT;
}

/* A request that is none is answered, too: whoever wrote it waits. */
static cJSON *handle(void *curl, const struct frame *f, struct arena *keep, struct str *body)
{
	struct request r = { .id = json_get_double(f->head, "id") };
	struct answer a = { .outcome = OUTCOME_REFUSED };
	struct diag err;
	if (request_read(f->head, f->body, &r, &err))
		transfer(curl, &r, keep, &a);
	else
		a.error = arena_str(keep, str_from(err.text));
	*body = a.body;
	return answer_write(&r, &a);
}

static int serve(void *curl, struct arena *keep)
{
	int in = STDIN_FILENO;
	struct frame_source from = { frame_read_fd, &in, STR("standard input") };
	for (;;) {
		struct diag err;
		struct frame f;
		struct str body;
		enum frame_state state = frame_read(&from, keep, &f, &err);
		if (state != FRAME_WHOLE)
			return state == FRAME_END ? EXIT_FINE : fail(&err);
		cJSON *answer = handle(curl, &f, keep, &body);
		bool ok = frame_write(STDOUT_FILENO, answer, body, keep, &err);
		cJSON_Delete(answer);
		frame_release(&f);
		arena_clear(keep);
		if (!ok)
			return fail(&err);
	}
}

int main(int argc, char **argv)
{
	secret_seal();
	signal(SIGPIPE, SIG_IGN);
	if (argc > 1 && !strcmp(argv[1], "--version")) {
		puts("rooflint-http " ROOFLINT_VERSION);
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
	struct arena keep = arena_new(ARENA_RUN_BYTES);
	int status = serve(curl, &keep);
	arena_free(&keep);
	curl_easy_cleanup(curl);
	curl_global_cleanup();
	return status;
}
