/* base/frame: whole messages, whatever the pieces they come in; anything else is told apart. */
#include <string.h>
#include <unistd.h>

#include "base/frame.h"
#include "base/secret.h"
#include "tests/unit/keep.h"

static struct diag err;

struct memory {
	struct str rest;
	ptrdiff_t piece; /* the most that is given at once */
};

static ptrdiff_t take(void *from, char *to, ptrdiff_t n)
{
	struct memory *m = from;
	struct str head = str_head(m->rest, n < m->piece ? n : m->piece);
	memcpy(to, head.p, (size_t)head.len);
	m->rest = str_from_offset(m->rest, head.len);
	return head.len;
}

static enum frame_state read_one(struct memory *m, struct frame *f)
{
	struct frame_source from = { take, m, STR("test") };
	return frame_read(&from, &keep, f, &err);
}

static void test_pieces(void **state)
{
	(void)state;
	for (ptrdiff_t piece = 1; piece < 12; piece++) {
		struct memory m = { STR("{\"id\":1,\"length\":5}\na\0\n{}{\"id\":2}\n"), piece };
		struct frame f;
		assert_int_equal(read_one(&m, &f), FRAME_WHOLE);
		assert_true(json_get_double(f.head, "id") == 1);
		assert_true(str_eq(f.body, STR("a\0\n{}")));
		frame_release(&f);
		assert_int_equal(read_one(&m, &f), FRAME_WHOLE);
		assert_true(json_get_double(f.head, "id") == 2);
		assert_int_equal(f.body.len, 0);
		frame_release(&f);
		assert_int_equal(read_one(&m, &f), FRAME_END);
	}
}

static void assert_bad(struct str bytes, const char *part)
{
	struct memory m = { bytes, 64 };
	struct frame f;
	assert_int_equal(read_one(&m, &f), FRAME_BAD);
	assert_null(f.head);
	if (!strstr(err.text, part))
		fail_msg("no '%s' in: %s", part, err.text);
}

static void test_bad(void **state)
{
	(void)state;
	static char endless[FRAME_MAX_HEAD + 10];
	memset(endless, ' ', sizeof(endless));
	assert_bad(STR("{\"id\":1"), "test: it ended inside a message");
	assert_bad(STR("{\"length\":5}\nabcd"), "test: it ended inside a message");
	assert_bad(STR("hello\n"), "test:1:1: not valid JSON");
	assert_bad(STR("[1]\n"), "a message is an object with a length up to 64 MiB");
	assert_bad(STR("{\"length\":-1}\n"), "length up to 64 MiB");
	assert_bad(STR("{\"length\":1.5}\n"), "length up to 64 MiB");
	assert_bad(STR("{\"length\":\"5\"}\nabcde"), "length up to 64 MiB");
	assert_bad(STR("{\"length\":67108865}\n"), "length up to 64 MiB");
	assert_bad(STR("{\"length\":1e300}\n"), "length up to 64 MiB");
	assert_bad((struct str){ endless, sizeof(endless) }, "longer than 64 KiB");
}

/* What is written can be read, through a real pipe. */
static void test_pipe(void **state)
{
	(void)state;
	int fds[2];
	struct frame f;
	struct frame_source from = { frame_read_fd, &fds[0], STR("pipe") };
	assert_int_equal(pipe(fds), 0);
	cJSON *head = cJSON_CreateObject();
	json_add_str(head, "text", STR("a\nb\"\xc3\xa9"));
	json_add_i64(head, "length", 4711); /* replaced */
	assert_true(frame_write(fds[1], head, STR("\n\n"), &keep, &err));
	cJSON_Delete(head);
	close(fds[1]);
	assert_int_equal(frame_read(&from, &keep, &f, &err), FRAME_WHOLE);
	assert_true(str_eq(json_get_str(f.head, "text"), STR("a\nb\"\xc3\xa9")));
	assert_true(str_eq(f.body, STR("\n\n")));
	frame_release(&f);
	assert_int_equal(frame_read(&from, &keep, &f, &err), FRAME_END);
	close(fds[0]);
}

static void test_names(void **state)
{
	(void)state;
	static const char *const good[] = { "ROOFLINT_A", "ROOFLINT_SLACK_URL_2" };
	static const char *const bad[] = { "", "ROOFLINT_", "ROOFLINT_a", "AWS_SECRET", "PATH",
		"XROOFLINT_A", "ROOFLINT_A=B", "ROOFLINT_A B" };
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(secret_name_ok(str_from(good[i])));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(secret_name_ok(str_from(bad[i])));
		assert_null(secret_value(str_from(bad[i])).p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_names),
	};
	return cmocka_run_group_tests_name("frame", tests, keep_begin, keep_end);
}
