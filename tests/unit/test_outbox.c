/* The spool: what is put in comes out once, in order, and no more than there should be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/input.h"
#include "session/outbox.h"

#define NOW 1763658000
#define DAY 86400

static struct arena keep;
static struct diag err;
static struct str dir;

static int begin(void **state)
{
	char name[] = "/tmp/spool.XXXXXX";
	(void)state;
	keep = arena_new(ARENA_RUN_BYTES);
	assert_non_null(mkdtemp(name));
	dir = arena_fmt(&keep, "%s/a/b", name);
	return 0;
}

static int end(void **state)
{
	struct str *names;
	ptrdiff_t count;
	(void)state;
	outbox_list(dir, &keep, &names, &count, &err);
	for (ptrdiff_t i = 0; i < count; i++)
		unlink(arena_fmt(&keep, "%.*s/%.*s", STR_ARG(dir), STR_ARG(names[i])).p);
	for (int i = 0; i < 3; i++) {
		rmdir(arena_z(&keep, dir));
		dir = str_head(dir, str_rfind_char(dir, '/'));
	}
	arena_free(&keep);
	return 0;
}

static struct letter letter(const char *id)
{
	return (struct letter){ .id = str_from(id),
		.target = STR("team"),
		.url_from = STR("ROOFLINT_URL"),
		.secret_from = STR("ROOFLINT_KEY"),
		.body = STR("{\"a\":\"\xc3\xa9\\n\"}") };
}

static void put(const char *id, int64_t now_s)
{
	struct letter l = letter(id);
	if (!outbox_put(dir, &l, now_s, &keep, &err))
		fail_msg("%s", err.text);
}

static ptrdiff_t list(struct str **names)
{
	ptrdiff_t count;
	assert_true(outbox_list(dir, &keep, names, &count, &err));
	return count;
}

static void test_once(void **state)
{
	(void)state;
	struct str *names;
	struct taken first, second;
	struct stat st;
	assert_int_equal(list(&names), 0); /* there is no directory yet */
	put("msg_b", NOW);
	put("msg_a", NOW + 1);
	assert_int_equal(list(&names), 2);
	assert_true(str_ends(names[0], STR("-msg_b.json")));
	assert_int_equal(stat(arena_z(&keep, dir), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);

	assert_int_equal(outbox_take(dir, names[0], &keep, &first, &err), TAKE_OK);
	assert_true(str_eq(first.letter.id, STR("msg_b")));
	assert_true(str_eq(first.letter.body, letter("x").body));
	assert_true(str_eq(first.letter.secret_from, STR("ROOFLINT_KEY")));
	assert_int_equal(outbox_take(dir, names[0], &keep, &second, &err), TAKE_GONE);
	outbox_keep(&first);
	assert_int_equal(outbox_take(dir, names[0], &keep, &second, &err), TAKE_OK);
	assert_true(outbox_done(&second, &err));
	assert_int_equal(outbox_take(dir, names[0], &keep, &first, &err), TAKE_GONE);
	assert_int_equal(list(&names), 1);
}

/* A holder that dies leaves no lock. */
static void test_dead_holder(void **state)
{
	(void)state;
	struct str *names;
	struct taken taken;
	assert_int_equal(list(&names), 1);
	pid_t pid = fork();
	if (!pid)
		_exit(outbox_take(dir, names[0], &keep, &taken, &err) == TAKE_OK ? 7 : 0);
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_int_equal(outbox_take(dir, names[0], &keep, &taken, &err), TAKE_OK);
	assert_true(outbox_done(&taken, &err));
}

static void test_maxima(void **state)
{
	(void)state;
	struct str *names;
	put("msg_old", NOW - 8 * DAY);
	put("msg_young", NOW - 6 * DAY);
	assert_int_equal(outbox_tidy(dir, NOW, &keep), 1);
	assert_int_equal(list(&names), 1);
	for (int i = 0; i < OUTBOX_MAX_LETTERS + 2; i++)
		put(arena_fmt(&keep, "msg_%d", i).p, NOW + i);
	assert_int_equal(outbox_tidy(dir, NOW, &keep), 3); /* msg_young, msg_0, msg_1 */
	assert_int_equal(list(&names), OUTBOX_MAX_LETTERS);
	assert_true(str_ends(names[0], STR("-msg_2.json")));
	assert_int_equal(outbox_tidy(dir, NOW + 20 * DAY, &keep), OUTBOX_MAX_LETTERS);
	assert_int_equal(list(&names), 0);
}

static void assert_no_letter(const char *text, const char *part)
{
	struct letter l;
	assert_false(letter_read(STR("f"), str_from(text), &keep, &l, &err));
	if (!strstr(err.text, part))
		fail_msg("no '%s' in: %s", part, err.text);
}

#define LETTER(id, url, secret)                                                                    \
	"{\"format\":\"rooflint-letter-1\",\"id\":\"" id "\",\"target\":\"t\",\"url_from\":\"" url \
	"\",\"secret_from\":\"" secret "\",\"body\":\"{}\"}"

static void test_letters(void **state)
{
	(void)state;
	struct letter l = letter("msg_1"), again;
	l.secret_from = str_from(NULL);
	assert_true(letter_read(STR("f"), letter_write(&l, &keep), &keep, &again, &err));
	assert_true(str_eq(again.body, l.body) && !again.secret_from.p);
	assert_true(letter_read(
		STR("f"), STR(LETTER("msg_1", "ROOFLINT_A", "ROOFLINT_B")), &keep, &again, &err));
	assert_no_letter("", "empty");
	assert_no_letter("{", "f:1:2");
	assert_no_letter("{}", "not a message of this rooflint");
	assert_no_letter(LETTER("msg_1\\r\\nx: y", "ROOFLINT_A", "ROOFLINT_B"), "not a message");
	assert_no_letter(LETTER("../x", "ROOFLINT_A", "ROOFLINT_B"), "not a message");
	assert_no_letter(
		"{\"format\":\"rooflint-letter-1\",\"id\":\"msg_1\",\"target\":\"\\u001b[31m\","
		"\"url_from\":\"ROOFLINT_A\",\"body\":\"{}\"}",
		"not a message");
	assert_no_letter(LETTER("msg_1", "HOME", "ROOFLINT_B"), "not a message");
	assert_no_letter(LETTER("msg_1", "ROOFLINT_A", "AWS_SECRET_ACCESS_KEY"), "not a message");
}

static void test_ids(void **state)
{
	(void)state;
	struct str a, b;
	struct letter l = letter("x"), again;
	assert_true(letter_new_id(&keep, &a, &err));
	assert_true(letter_new_id(&keep, &b, &err));
	assert_int_equal(a.len, 36);
	assert_false(str_eq(a, b));
	l.id = a;
	assert_true(letter_read(STR("f"), letter_write(&l, &keep), &keep, &again, &err));
}

static void test_homes(void **state)
{
	(void)state;
	setenv("HOME", "/home/x", 1);
	unsetenv("XDG_STATE_HOME");
	assert_true(str_eq(outbox_dir(STR("y"), &keep), STR("y")));
	assert_true(str_eq(
		outbox_dir(str_from(NULL), &keep), STR("/home/x/.local/state/rooflint/spool")));
	setenv("XDG_STATE_HOME", "/state", 1);
	assert_true(str_eq(outbox_dir(str_from(NULL), &keep), STR("/state/rooflint/spool")));
	unsetenv("XDG_STATE_HOME");
	unsetenv("HOME");
	assert_null(outbox_dir(str_from(NULL), &keep).p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_dead_holder),
		cmocka_unit_test(test_maxima),
		cmocka_unit_test(test_letters),
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_homes),
	};
	return cmocka_run_group_tests_name("outbox", tests, begin, end);
}
