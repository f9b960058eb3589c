/* Messages about a fleet: what they say, how long they are, and that facts stay text in them. */
#include <string.h>

#include "report/chat.h"
#include "report/message.h"
#include "report/fleet.h"
#include "tests/unit/facts_fixture.h"
#include "tests/unit/keep.h"

#define NONE   ((struct str){ NULL, 0 })
#define MARKUP "</b><img src=x> @everyone <!channel> [a](b)"

static const struct fleet_window week = { STR_INIT("2026-01-08T00:00:00.000Z"),
	STR_INIT("2026-01-15T00:00:00.000Z"), STR_INIT("2026-01-01T00:00:00.000Z") };
static struct diag err;

static struct fleet *fleet;
static struct fleet_pages pages;

static void take(struct run_facts *f)
{
	run_facts_seal(f, &keep);
	assert_true(fleet_take(fleet, f, &err));
}

/* A run whose one rule has that verdict. */
static struct run_facts run(const char *workload, int day, double step_time_s, const char *verdict)
{
	struct str captured = arena_fmt(&keep, "2026-01-%02dT00:00:00.000Z", day);
	struct run_facts f = fixture_run(&keep, str_from(workload), captured, step_time_s);
	run_rules(&f)->verdict = str_from(verdict);
	f.gain_s = run_rules(&f)->gain_s =
		str_eq(run_rules(&f)->verdict, STR("fail")) ? step_time_s / 4 : 0;
	run_rules(&f)->message = STR("copies 3 GiB");
	return f;
}

static void take_run(const char *workload, int day, double step_time_s, const char *verdict)
{
	struct run_facts f = run(workload, day, step_time_s, verdict);
	take(&f);
}

static void take_waiver(const char *workload, const char *ends)
{
	struct run_facts f = run(workload, 10, 1, "waived");
	run_rules(&f)->note = arena_fmt(&keep, "waived until %s by a: b", ends);
	run_rules(&f)->waiver_ends = str_from(ends);
	take(&f);
}

static struct fleet_report answer(void)
{
	struct fleet_report r;
	if (!fleet_ask(fleet, NULL, &week, STR("judge"), &keep, &r, &err))
		fail_msg("%s", err.text);
	r.tool_version = STR("0");
	return r;
}

static struct str write(enum notice_kind kind, const struct fleet_report *r)
{
	struct message_source source = fleet_message(r, &pages, &keep);
	struct doc_template *t = message_load(kind, NONE, &keep, &err);
	struct str text = NONE;
	if (!t || !message_write(kind, t, &source, STR("https://ci.example/weekly.html"), &keep,
			  &text, &err))
		fail_msg("%s", err.text);
	return text;
}

static void assert_has(struct str text, const char *part)
{
	if (!str_contains(text, str_from(part)))
		fail_msg("no '%s' in:\n%.*s", part, STR_ARG(text));
}

static void assert_lacks(struct str text, const char *part)
{
	if (str_contains(text, str_from(part)))
		fail_msg("'%s' in:\n%.*s", part, STR_ARG(text));
}

/* ---- what they say --------------------------------------------------------------------------- */

static void a_week(void **state)
{
	(void)state;
	take_run("same", 3, 1, "fail");
	take_run("same", 10, 1, "fail");
	take_run("slower", 3, 1, "pass");
	take_run("slower", 10, 1.5, "fail");
	take_run("mended", 3, 1, "fail");
	take_run("mended", 10, 0.8, "pass"); /* (0.5 + 0.5 / 1.5 + 0.5 / 0.8 + 0.5 + 0.5) / 5 */
	take_waiver("ends", "2026-01-20");
	take_waiver("lasts", "2026-03-20");
	struct run_facts lost = run("lost", 10, 1, "fail");
	lost.error_id = STR("RL201");
	lost.error = STR("cut off");
	take(&lost);
	struct fleet_report r = answer();
	struct fleet_answer *waivers = &r.answers[FLEET_WAIVERS];

	struct str text = write(NOTICE_SLACK, &r);
	assert_has(text, "rooflint: the fleet, 2026-01-08 00:00 to 2026-01-15 00:00 UTC*\\n"
			 "All fixes together give back the work of 4 of 40 chips");
	assert_has(text, "5 of 6 runs could be judged. The fleet runs at 49.2% (50.0% before) of "
			 "its roofline. 1 problem new, 1 fixed; 1 workload slower, 1 faster.");
	assert_has(text,
		"*2 of 8 chips could be had back: slower*\\ncopy-share costs most; found before "
		"in 0 of 1 window; 25.0% of its step time (0% before); 33.3% of its roofline; "
		"owner: team \\\"a");
	assert_has(text, "*copy-share: 4 chips in 2 workloads*\\nCopies are cheap; for example: "
			 "copies 3 GiB\"");
	assert_has(text, "*New: copy-share in slower*\\ncopies 3 GiB; costs 2 chips");
	assert_has(text, "*Slower by 50.0%: slower*\\n1.50 s per step, was 1.00 s; 2.67 chips lost;"
			 " copy-share costs most");
	assert_has(text, "*Faster by 20.0%: mended*\\n800 ms per step, was 1.00 s; 2 chips won");
	assert_has(
		text, "*Fixed: copy-share in mended*\\nit was: copies 3 GiB; gives back 2 chips");
	assert_has(text, "*Waiver ends 2026-01-20: copy-share in ends*\\nwaived until");
	assert_lacks(text, "2026-03-20");
	assert_has(text,
		"*1 run: unreadable: bytes are not the protobuf message they should be*\\ncut "
		"off");
	assert_has(text, "<https://ci.example/weekly.html|Open the report>");
	assert_has(text,
		"{\"type\":\"mrkdwn\",\"text\":\"<https://ci.example/weekly.html#ranking|Open>\"}");
	pages.dir = STR("runs");
	map_put(&pages.runs, r.answers[FLEET_RANKING].rows[0].run, 0, &keep);
	assert_has(write(NOTICE_WEBHOOK, &r), "\"url\":\"https://ci.example/runs/");
	pages = (struct fleet_pages){ 0 };

	waivers->rows[0].cells[fleet_column(waivers, STR("days_left"))].real = -3;
	assert_has(write(NOTICE_SLACK, &r), "*Waiver ended 2026-01-20: ");
	waivers->rows[0].cells[fleet_column(waivers, STR("days_left"))].real = -30;
	assert_lacks(write(NOTICE_SLACK, &r), "2026-01-20");

	text = write(NOTICE_WEBHOOK, &r);
	assert_has(text, "{\"type\":\"rooflint.fleet\",");
	assert_has(text,
		"\"from\":\"2026-01-08T00:00:00.000Z\",\"to\":\"2026-01-15T00:00:00.000Z\","
		"\"runs\":6,\"judged_runs\":5,\"workloads\":5,\"chips\":40,"
		"\"chips_back\":4,\"share\":0.1,\"roofline_ratio\":0.491666666666");
	assert_has(text, "\"counts\":{\"new\":1,\"fixed\":1,\"slower\":1,\"faster\":1}");
	assert_has(text, "{\"state\":\"slower\",\"rule\":\"copy-share\",\"workload\":\"slower\","
			 "\"owner\":\"team "
			 "\\\"a\\\"\",\"chips\":2.666666666666667,\"change\":0.5,\"url\":\"https://"
			 "ci.example/weekly.html#movers\"}");
	assert_lacks(text, "verdict");
}

static void with_usage(void **state)
{
	(void)state;
	take_run("a", 10, 1, "fail");
	assert_true(
		fleet_usage(fleet, STR("u"), STR("workload,chip_hours,price\na,1000,2\n"), &err));
	struct fleet_report r = answer();
	struct str text = write(NOTICE_SLACK, &r);
	assert_has(text, "8 chips; 250 of 1,000 chip-hours of the one workload in the "
			 "usage file, $500.00 of $2,000");
	assert_has(text, "*$500.00, 250 chip-hours could be had back: a*");
}

/* Of an op whose cost nobody knows, the ratio knows two ends. */
static void a_range(void **state)
{
	(void)state;
	struct run_facts f = run("a", 10, 1, "fail");
	take_run("a", 3, 1, "fail");
	f.roofline_ratio_hi = 0.75;
	take(&f);
	struct fleet_report r = answer();
	assert_has(
		write(NOTICE_SLACK, &r), "runs at 50.0% to 75.0% (50.0% before) of its roofline.");
	struct out *o = out_memory(&keep);
	report_fleet_text(&r, &keep, o);
	assert_has(out_text(o), "The fleet runs at 50.0% to 75.0% (50.0% before) of its roofline.");
}

static struct str told_with_usage(const char *csv)
{
	take_run("a", 10, 1, "fail");
	assert_true(fleet_usage(fleet, STR("u"), str_from(csv), &err));
	struct fleet_report r = answer();
	return write(NOTICE_SLACK, &r);
}

static void usage_of_more(void **state)
{
	(void)state;
	assert_has(told_with_usage("workload,chip_hours\na,1000\nb,1000\nc,8\n"),
		"8 chips; 250 of 2,008 chip-hours of 1 of the 3 workloads in the usage file; "
		"1,008 chip-hours have no usable run");
}

static void usage_of_others(void **state)
{
	(void)state;
	struct str text = told_with_usage("workload,chip_hours\n/mnt/a,1000\n");
	assert_has(text, "2 of 8 chips; the usage file lists none of these workloads");
	assert_has(text, "runs at 50.0% of its roofline.");
}

static void nothing_to_say(void **state)
{
	(void)state;
	struct fleet_report r = answer();
	for (int kind = 0; kind < NOTICE_KINDS; kind++) {
		struct str text = write((enum notice_kind)kind, &r);
		assert_has(text, kind == NOTICE_WEBHOOK ? "No run was found in this window."
							: "No usable run in this window");
		assert_lacks(text, "\"items\":[]");
		assert_lacks(text, "\"fields\":[]");
	}
}

/* ---- when ------------------------------------------------------------------------------------ */

static void is_due(void **state)
{
	(void)state;
	struct fleet_report r = answer();
	struct message_source s = fleet_message(&r, &pages, &keep);
	assert_true(s.is_due[NOTICE_ALWAYS]);
	assert_true(s.is_due[NOTICE_CHANGE]); /* a window without any run is the news */
	assert_true(s.is_due[NOTICE_FAILURE]);
}

static void is_due_when_quiet(void **state)
{
	(void)state;
	take_run("a", 10, 1, "pass");
	struct fleet_report r = answer();
	struct message_source s = fleet_message(&r, &pages, &keep);
	assert_true(s.is_due[NOTICE_CHANGE]);
	assert_false(s.is_due[NOTICE_FAILURE]);
}

static void is_due_when_broken(void **state)
{
	(void)state;
	take_run("a", 10, 1, "fail");
	struct fleet_report r = answer();
	assert_true(fleet_message(&r, &pages, &keep).is_due[NOTICE_FAILURE]);
}

/* ---- text stays text, and short -------------------------------------------------------------- */

/* Workloads of all sorts, in whose facts that text stands wherever there is one. */
static struct fleet_report filled(const char *text, int count)
{
	static const char *const verdicts[] = { "fail", "pass", "fail" };
	for (int i = 0; i < count; i++)
		for (int week_of = 0; week_of < 2; week_of++) {
			struct run_facts f = run(text, 3 + 7 * week_of,
				1 + week_of * (i % 3 - 1) * 0.2, verdicts[(i + week_of) % 3]);
			f.workload = arena_fmt(&keep, "%d%s", i, text);
			f.run = f.profile = arena_fmt(&keep, "%d/%d/%s", i, week_of, text);
			f.owner = run_rules(&f)->rule = run_rules(&f)->title =
				run_rules(&f)->message = str_from(text);
			if (i % 7 == 6)
				f.error_id = f.error = str_from(text);
			take(&f);
		}
	return answer();
}

static void stays_text(void **state)
{
	(void)state;
	struct fleet_report r = filled(MARKUP, 8);
	for (int i = 0; i < 2; i++) {
		struct str text = write(i ? NOTICE_GOOGLE_CHAT : NOTICE_SLACK, &r);
		assert_has(text, "&lt;img src=x&gt; @everyone &lt;!channel&gt;");
		assert_lacks(text, "<img");
		assert_lacks(text, "<!channel");
		text = write(i ? NOTICE_MATTERMOST : NOTICE_DISCORD, &r);
		assert_has(text, "<img");
		assert_lacks(text, "@everyone");
		assert_lacks(text, "[a](b)");
	}
	assert_has(write(NOTICE_TEAMS, &r), "\"text\":\"" MARKUP " costs most; ");
}

static void keeps_limits(void **state)
{
	(void)state;
	static char longest[5000];
	static const char *const fills[] = { "a", "@e", "<", "\"", "\xf0\x9f\x94\xa5", "a " };
	for (size_t f = 0; f < sizeof(fills) / sizeof(fills[0]); f++) {
		longest[0] = 0;
		for (size_t len = 0; len + 8 < sizeof(longest); len += strlen(fills[f]))
			strcpy(longest + len, fills[f]); /* style: a buffer of our own */
		fleet_free(fleet);
		assert_non_null(fleet = fleet_new(&keep, &err));
		struct fleet_report r = filled(longest, 30);
		for (int kind = 0; kind < NOTICE_KINDS; kind++) {
			struct str text = write((enum notice_kind)kind, &r);
			cJSON *root = json_parse(STR("m"), text, &err);
			assert_non_null(root);
			assert_null(chat_too_long(&chats[kind], root, text));
			assert_has(text, kind == NOTICE_WEBHOOK ? "\"state\":\"waste\""
								: "could be had back");
			assert_has(text, "more are left out here; the report has all.");
			cJSON_Delete(root);
		}
	}
}

/* Twice the work in 3.2 times as long is slower, in 1.9 times as long it is not. */
static void work_of_a_mover(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct run_facts f = run(i ? "w" : "v", 10, i ? 3.2 : 1.9, "pass");
		f.roofline_ratio_lo = 1 / f.step_time_s;
		take_run(i ? "w" : "v", 3, 1, "pass");
		take(&f);
	}
	struct fleet_report r = answer();
	struct str text = write(NOTICE_WEBHOOK, &r);
	assert_has(text, "{\"state\":\"slower\",\"workload\":\"w\"");
	assert_has(text, "{\"state\":\"other-work\",\"workload\":\"v\"");
	text = write(NOTICE_SLACK, &r);
	assert_has(text,
		"*Slower by 220%: w*\\n3.20 s per step, was 1.00 s; its roofline time rose "
		"by 100%; 5.5 chips lost");
	assert_has(text, "*Other work: v*\\n1.90 s per step, was 1.00 s; its roofline time rose by "
			 "100%: another batch or model, which the job file can say");
	assert_has(text, "1 workload slower, 0 faster, 1 at other work.");
}

/* With room for one of each sort there is one of each sort. */
static void no_sort_crowds_out_others(void **state)
{
	(void)state;
	struct fleet_report r = filled("x", 30);
	struct message_source s = fleet_message(&r, &pages, &keep);
	const struct message_room room = { 100, 100 };
	struct message m = s.make(s.of, 6, &room, &keep);
	const struct message_item *items = m.items.items;
	static const char *const states[] = { "waste", "rule", "new", "faster", "fixed",
		"unjudged" };
	assert_int_equal(m.items.count, 6);
	for (int i = 0; i < 6; i++)
		assert_string_equal(arena_z(&keep, items[i].state), states[i]);
}

static int begin(void **state)
{
	keep_begin(state);
	return (fleet = fleet_new(&keep, &err)) ? 0 : -1;
}

static int end(void **state)
{
	fleet_free(fleet);
	return keep_end(state);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(a_week),
		TEST(a_range),
		TEST(with_usage),
		TEST(usage_of_more),
		TEST(usage_of_others),
		TEST(nothing_to_say),
		TEST(is_due),
		TEST(is_due_when_quiet),
		TEST(is_due_when_broken),
		TEST(stays_text),
		TEST(keeps_limits),
		TEST(work_of_a_mover),
		TEST(no_sort_crowds_out_others),
	};
	return cmocka_run_group_tests_name("fleet_message", tests, NULL, NULL);
}
