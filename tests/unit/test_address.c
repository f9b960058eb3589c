/* store/: addresses of stores on servers. */
#include <stdlib.h>
#include <string.h>

#include "store/address.h"
#include "tests/unit/keep.h"

static struct diag err;

static int begin(void **state)
{
	unsetenv("ROOFLINT_CLICKHOUSE_USER");
	unsetenv("ROOFLINT_CLICKHOUSE_PASSWORD");
	return keep_begin(state);
}

static struct address parse(const char *text)
{
	struct address p;
	if (!address_parse(str_from(text), &keep, &p, &err))
		fail_msg("%s", err.text);
	return p;
}

static void addresses(void **state)
{
	static const struct {
		const char *text, *url;
	} cases[] = {
		{ "clickhouse://h/d", "http://h:8123/" },
		{ "clickhouses://h/d", "https://h:8443/" },
		{ "clickhouse://h/d?secure=1", "https://h:8443/" },
		{ "clickhouses://ch-1.example:9/d", "https://ch-1.example:9/" },
		{ "clickhouse://[::1]/d", "http://[::1]:8123/" },
		{ "clickhouse://[::1]:9/d", "http://[::1]:9/" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(arena_z(&keep, parse(cases[i].text).url), cases[i].url);
	assert_true(address_is_remote(STR("clickhouse://h/d")));
	assert_false(address_is_remote(STR("runs/fleet.db")));
}

static void settings(void **state)
{
	(void)state;
	struct address p = parse("clickhouse://h/d");
	assert_true(str_eq(p.table, STR("rooflint_facts")) && p.timeout_s == 60);
	assert_null(p.user_from.p);
	p = parse("clickhouse://h/d_1?table=t&timeout=9&user_from=ROOFLINT_U&password_from="
		  "ROOFLINT_P");
	assert_true(str_eq(p.database, STR("d_1")) && str_eq(p.table, STR("t")));
	assert_true(str_eq(p.user_from, STR("ROOFLINT_U")) && p.timeout_s == 9);
	assert_true(str_eq(p.password_from, STR("ROOFLINT_P")));
	setenv("ROOFLINT_CLICKHOUSE_USER", "u", 1);
	assert_true(str_eq(parse("clickhouse://h/d").user_from, STR("ROOFLINT_CLICKHOUSE_USER")));
	unsetenv("ROOFLINT_CLICKHOUSE_USER");
}

static void refused(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "mysql://h/d", "begins with neither" },
		{ "clickhouse://h", "names no database" },
		{ "clickhouse://h/", "names no database" },
		{ "clickhouse://h/a'b", "names no database" },
		{ "clickhouse:///d", "has no host" },
		{ "clickhouse://a b/d", "has no host" },
		{ "clickhouse://h:0/d", "has a port that is none" },
		{ "clickhouse://h:65536/d", "has a port that is none" },
		{ "clickhouse://h/d?table=a;b", "has a table=" },
		{ "clickhouse://h/d?secure=yes", "has a secure=" },
		{ "clickhouse://h/d?timeout=601", "has a timeout=" },
		{ "clickhouse://h/d?user_from=HOME", "has a user_from=" },
		{ "clickhouse://h/d?password=x", "none of table, secure" },
		{ "clickhouse://h/d?password_from=ROOFLINT_P", "a password and no user" },
	};
	struct address p;
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_false(address_parse(str_from(cases[i].text), &keep, &p, &err));
		if (!strstr(err.text, cases[i].why))
			fail_msg("no '%s' in: %s", cases[i].why, err.text);
	}
	/* A password that was given anyway is not repeated. */
	assert_false(address_parse(STR("clickhouse://me:hunter22@h/d"), &keep, &p, &err));
	assert_null(strstr(err.text, "hunter22"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses),
		cmocka_unit_test(settings),
		cmocka_unit_test(refused),
	};
	return cmocka_run_group_tests_name("place", tests, begin, keep_end);
}
