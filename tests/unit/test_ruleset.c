/*
 * rules/ruleset: rule files read, merged, retuned, and above all refused: each mistake with its
 * file, line, column, caret and suggestion.
 */
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
#include <unistd.h>

#include "base/embed.h"
#include "base/input.h"
#include "base/out.h"
#include "rules/compile.h"
#include "rules/print.h"
#include "tests/unit/rules_text.h"

static struct arena keep;
static struct diag err;
static struct engine *engine;
static struct ruleset set;

static int fresh(void **state)
{
	(void)state;
	if (!keep.base)
		keep = arena_new(ARENA_RUN_BYTES);
	arena_clear(&keep);
	err = (struct diag){ .id = DIAG_NONE };
	engine = engine ? engine : engine_new(&err);
	return !engine;
}

static int done(void **state)
{
	(void)state;
	engine_free(engine);
	return 0;
}

#define assert_str(s, z) assert_string_equal(arena_z(&keep, (s)), (z))

/* A file whose one rule goes on behind this. */
#define RULE                                                                                       \
	"version: 1\n"                                                                             \
	"rules:\n"                                                                                 \
	"  r:\n"                                                                                   \
	"    from: families\n"

static const struct rule *parse(const char *yaml)
{
	if (!ruleset_parse(engine, STR("t.yaml"), str_from(yaml), &keep, &set, &err))
		fail_msg("%s", err.text);
	return set.items[set.count - 1];
}

static struct str identity(const char *yaml)
{
	parse(yaml);
	return rules_identity(&set, &keep);
}

/* A comment and another order of lines judge alike; another limit does not. */
static void identity_is_what_judges(void **state)
{
	struct str was = identity("version: 1\nmatters: { warn: 2% }\nrules:\n"
				  "  r: { from: ops, value: p50_s, at_most: 1 ms }\n");
	struct str moved = identity("version: 1\n# ours\nrules:\n  r:\n    from: ops\n"
				    "    at_most: 1 ms\n    value: p50_s\nmatters: { warn: 2% }\n");
	struct str other = identity("version: 1\nmatters: { warn: 2% }\nrules:\n"
				    "  r: { from: ops, value: p50_s, at_most: 2 ms }\n");

	(void)state;
	assert_true(str_eq(was, moved));
	assert_false(str_eq(was, other));
}

static void refused(const char *yaml, const char *error)
{
	assert_false(ruleset_parse(engine, STR("t.yaml"), str_from(yaml), &keep, &set, &err));
	assert_string_equal(err.text, error);
	assert_int_not_equal(err.id, DIAG_NONE);
}

/* ---- mistakes ----------------------------------------------------------------------------- */

struct mistake {
	const char *yaml, *error;
};

static const struct mistake the_document[] = {
	{ "rules:\n", "t.yaml:1:1: a rule file begins with 'version: 1'\n"
		      "  rules:\n"
		      "  ^~~~~\n"
		      "t.yaml:1:6: rules is empty; what belongs to it stands below, further to the "
		      "right\n"
		      "  rules:\n"
		      "       ^" },
	{ "version: '1'\n", "t.yaml:1:10: version is a number: write it without quotes\n"
			    "  version: '1'\n"
			    "           ^~~" },
	{ "version: 2\n", "t.yaml:1:10: this rooflint reads rule files of version 1\n"
			  "  version: 2\n"
			  "           ^" },
	{ "version: 1\n"
	  "rule:\n"
	  "  a: {}\n",
		"t.yaml:2:1: a rule file has no key 'rule'; did you mean 'rules'?\n"
		"  rule:\n"
		"  ^~~~" },
	{ "version: 1\n"
	  "banana: 1\n",
		"t.yaml:2:1: a rule file has no key 'banana'; it has version, extends, matters, "
		"noise, step, sets, groups, rules, costs, waivers, profiles and notifications\n"
		"  banana: 1\n"
		"  ^~~~~~" },
	{ "version: 1\n"
	  "extends: recommended\n"
	  "waivers: {}\n",
		"t.yaml:3:10: waivers is a list: each begins with '- rule: NAME'\n"
		"  waivers: {}\n"
		"           ^" },
	{ "version: 1\n"
	  "profiles: {}\n",
		"t.yaml:2:11: profiles is a list: each begins with '- match: GLOB'\n"
		"  profiles: {}\n"
		"            ^" },
	{ "- 1\n", "t.yaml:1:1: a rule file is a map with the keys version, extends and rules\n"
		   "  - 1\n"
		   "  ^" },
	{ "", "t.yaml: the file is empty; a rule file begins with 'version: 1'" },
	{ "version: 1\n"
	  "rules: []\n",
		"t.yaml:2:8: rules is a map from names to rules: my-rule: { from: ..., value: ..., "
		"at_most: ... }\n"
		"  rules: []\n"
		"         ^" },
	{ "version: 1\n"
	  "extends: [a]\n",
		"t.yaml:2:10: extends takes one name: a built-in rule set or a file\n"
		"  extends: [a]\n"
		"           ^" },
	{ "version: 1\n"
	  "extends: recomended\n",
		"t.yaml:2:10: there is no built-in rule set 'recomended'; did you mean "
		"'recommended'?\n"
		"  extends: recomended\n"
		"           ^~~~~~~~~~" },
	{ "extends: recomended\n"
	  "rules: { copy-share: { at_most: 5 %% } }\n"
	  "waivers: [{ rule: copy-share, at_most: 20%, owner: us, expires: 2027-01-31 }]\n"
	  "matter: { warn: 1% }\n",
		"t.yaml:1:1: a rule file begins with 'version: 1'\n"
		"  extends: recomended\n"
		"  ^~~~~~~\n"
		"t.yaml:1:10: there is no built-in rule set 'recomended'; did you mean "
		"'recommended'?\n"
		"  extends: recomended\n"
		"           ^~~~~~~~~~\n"
		"t.yaml:2:33: copy-share.at_most.fail: '5 %%' is no number with a unit, such as "
		"10%, 64 MiB, 250 us, 45 GB/s\n"
		"  rules: { copy-share: { at_most: 5 %% } }\n"
		"                                  ^~~~\n"
		"t.yaml:3:11: waiver: a waiver needs 'reason': why\n"
		"  waivers: [{ rule: copy-share, at_most: 20%, owner: us, expires: 2027-01-31 }]\n"
		"            ^\n"
		"t.yaml:4:1: a rule file has no key 'matter'; did you mean 'matters'?\n"
		"  matter: { warn: 1% }\n"
		"  ^~~~~~" },
	{ "version: 1\n"
	  "extends: mine\n",
		"t.yaml:2:10: there is no built-in rule set 'mine'; a file is written "
		"./name.yaml\n"
		"  extends: mine\n"
		"           ^~~~" },
	{ "version: 1\n"
	  "extends: ./mine.yaml\n",
		"t.yaml:2:10: extends: mine.yaml: there are no files here; a path begins at the "
		"folder of this file\n"
		"  extends: ./mine.yaml\n"
		"           ^~~~~~~~~~~" },
	{ "version: 1\n"
	  "rules:\n"
	  "\tr: {}\n",
		"t.yaml:3:1: tab character may not be used as indentation; indent with spaces\n"
		"  \tr: {}\n"
		"  ^" },
};

static const struct mistake rules_and_keys[] = {
	{ "version: 1\n"
	  "extends: recommended\n"
	  "rules:\n"
	  "  copy-shar: { params: { limit: 5% } }\n",
		"t.yaml:4:3: there is no rule 'copy-shar' to change, and as a new one it lacks "
		"from (a table) or select; did you mean 'copy-share'?\n"
		"    copy-shar: { params: { limit: 5% } }\n"
		"    ^~~~~~~~~" },
	{ "version: 1\n"
	  "extends: recommended\n"
	  "rules:\n"
	  "  cpoy-share: { fail: 3% }\n"
	  "  mine: { form: ops, value: time_share, at_most: 3% }\n",
		"t.yaml:4:3: there is no rule 'cpoy-share' to change, and as a new one it lacks "
		"from (a table) or select; did you mean 'copy-share'?\n"
		"    cpoy-share: { fail: 3% }\n"
		"    ^~~~~~~~~~\n"
		"t.yaml:4:17: cpoy-share: a rule has no key 'fail'; limits are at_most: { warn, "
		"fail }, or at_least\n"
		"    cpoy-share: { fail: 3% }\n"
		"                  ^~~~\n"
		"t.yaml:5:11: mine: a rule has no key 'form'; did you mean 'from'?\n"
		"    mine: { form: ops, value: time_share, at_most: 3% }\n"
		"            ^~~~" },
	{ "version: 1\n"
	  "extends: recommended\n"
	  "rules:\n"
	  "  copy-share: off\n",
		"t.yaml:4:15: copy-share: a rule is a map of keys, such as { at_most: 5% } or { "
		"severity: off }\n"
		"    copy-share: off\n"
		"                ^~~" },
	{ "version: 1\n"
	  "rules:\n"
	  "  Copy_Share: { from: run }\n",
		"t.yaml:3:3: a rule's name has small letters, digits and '-', at most 64\n"
		"    Copy_Share: { from: run }\n"
		"    ^~~~~~~~~~" },
	{ RULE "    title: x\n", "t.yaml:3:3: there is no rule 'r' to change, and as a new one it "
				 "lacks value (a number) and its limit, or assert\n"
				 "    r:\n"
				 "    ^" },
	{ RULE "    asert: p50_s < 1\n",
		"t.yaml:5:5: r: a rule has no key 'asert'; did you mean 'assert'?\n"
		"      asert: p50_s < 1\n"
		"      ^~~~~" },
	{ RULE "    assert: p50_s < 1\n"
	       "    near: 10%\n",
		"t.yaml:6:5: r: a rule has no key 'near'; it has group, title, from, select, "
		"where, value, unclear, at_most, at_least, assert, can_fail, only_warns, gain, "
		"places, params, matters, severity, needs, required, min_subjects, confirm, says, "
		"applies_to, message, advice_of, cause, fix, why, measured and wrong_when\n"
		"      near: 10%\n"
		"      ^~~~" },
	{ RULE "    assert: p50_s < :near\n"
	       "    params: { near: 1 s }\n"
	       "    near: 10 s\n",
		"t.yaml:7:5: r: a rule has no key 'near'; it has group, title, from, select, "
		"where, value, unclear, at_most, at_least, assert, can_fail, only_warns, gain, "
		"places, params, matters, severity, needs, required, min_subjects, confirm, says, "
		"applies_to, message, advice_of, cause, fix, why, measured and wrong_when\n"
		"      near: 10 s\n"
		"      ^~~~" },
	{ RULE "    assert: p50_s < 1\n"
	       "    advice_of: idel\n",
		"t.yaml:6:16: r: no rule 'idel' stands above\n"
		"      advice_of: idel\n"
		"                 ^~~~" },
	{ RULE "    assert:\n", "t.yaml:5:11: r.assert has no value\n"
				"      assert:\n"
				"            ^" },
	{ RULE "    assert: [a]\n", "t.yaml:5:13: r.assert takes one value\n"
				    "      assert: [a]\n"
				    "              ^" },
	{ RULE "    assert: p50_s < 1\n"
	       "    assert: p50_s < 2\n",
		"t.yaml:6:5: the key 'assert' stands here a second time; the first is on line "
		"5\n"
		"      assert: p50_s < 2\n"
		"      ^~~~~~" },
	{ RULE "    select: select 1 as x\n"
	       "    assert: x = 1\n",
		"t.yaml:5:13: r: it has either from or select\n"
		"      select: select 1 as x\n"
		"              ^~~~~~~~~~~~~" },
	{ "version: 1\n"
	  "rules:\n"
	  "  r:\n"
	  "    from: familys\n"
	  "    assert: p50_s < 1\n",
		"t.yaml:4:11: r.from: there is no table 'familys'; did you mean 'families'?\n"
		"      from: familys\n"
		"            ^~~~~~~" },
	{ "version: 1\n"
	  "rules:\n"
	  "  r:\n"
	  "    from: family\n"
	  "    assert: p50_s < 1\n",
		"t.yaml:4:11: r.from: there is no table 'family'; did you mean 'families'?\n"
		"      from: family\n"
		"            ^~~~~~" },
	{ "version: 1\n"
	  "rules:\n"
	  "  r:\n"
	  "    from: warehouse\n"
	  "    assert: p50_s < 1\n",
		"t.yaml:4:11: r.from: there is no table 'warehouse'; `rooflint tables` lists "
		"them\n"
		"      from: warehouse\n"
		"            ^~~~~~~~~" },
	{ RULE "    assert: p50_s < 1\n"
	       "    severity: err\n",
		"t.yaml:6:15: r.severity is off, warn or error; did you mean 'error'?\n"
		"      severity: err\n"
		"                ^~~" },
	{ RULE "    assert: p50_s < 1\n"
	       "    min_subjects: '3'\n",
		"t.yaml:6:19: r.min_subjects is a number: 0, 1, 2 ...; write it without quotes\n"
		"      min_subjects: '3'\n"
		"                    ^~~" },
	{ RULE "    assert: p50_s < 1\n"
	       "    min_subjects: -3\n",
		"t.yaml:6:19: r.min_subjects is a number: 0, 1, 2 ...\n"
		"      min_subjects: -3\n"
		"                    ^~" },
	{ RULE "    assert: p50_s < 1\n"
	       "    needs: all\n",
		"t.yaml:6:12: r: needs: there is no gate or set 'all'\n"
		"      needs: all\n"
		"             ^~~" },
	{ RULE "    assert: p50_s < 1\n"
	       "    needs: [r]\n",
		"t.yaml:6:13: r: needs: this rule is not of the group evidence: 'r'\n"
		"      needs: [r]\n"
		"              ^" },
	{ "version: 1\n"
	  "extends: recommended\n"
	  "rules:\n"
	  "  copy-share: { needs: [enough-step] }\n",
		"t.yaml:4:25: copy-share: needs: there is no gate or set 'enough-step'\n"
		"    copy-share: { needs: [enough-step] }\n"
		"                          ^~~~~~~~~~~" },
};

static const struct mistake limits[] = {
	{ RULE "    value: time_share\n"
	       "    at_most: 5\n",
		"t.yaml:6:14: r.at_most.fail is a ratio, as its value is: did you mean 5%? (5 is "
		"500%)\n"
		"      at_most: 5\n"
		"               ^" },
	{ RULE "    value: time_share\n"
	       "    at_most: { warn: 10%, fail: 5% }\n",
		"t.yaml:6:22: warn 10% lies beyond fail 5%: it could never warn\n"
		"      at_most: { warn: 10%, fail: 5% }\n"
		"                       ^~~" },
	{ RULE "    value: time_share\n"
	       "    at_least: { warn: 5%, fail: 10% }\n",
		"t.yaml:6:23: warn 5% lies beyond fail 10%: it could never warn\n"
		"      at_least: { warn: 5%, fail: 10% }\n"
		"                        ^~" },
	{ "version: 1\n"
	  "matters: { warn: 2%, fail: 1% }\n",
		"t.yaml:2:18: warn 2% lies beyond fail 1%: it could never warn\n"
		"  matters: { warn: 2%, fail: 1% }\n"
		"                   ^~" },
	{ "version: 1\n"
	  "matters: { memory: { fail: 3%, warn: 4% } }\n",
		"t.yaml:2:38: warn 4% lies beyond fail 3%: it could never warn\n"
		"  matters: { memory: { fail: 3%, warn: 4% } }\n"
		"                                       ^~" },
	{ "version: 1\n"
	  "extends: recommended\n"
	  "rules: { copy-share: { at_least: 1%, matters: { warn: 3% } } }\n",
		"t.yaml:3:34: copy-share.at_least: the rule has at_most: 8%, and another direction "
		"takes another value, too\n"
		"  rules: { copy-share: { at_least: 1%, matters: { warn: 3% } } }\n"
		"                                   ^~\n"
		"t.yaml:3:55: warn 3% lies beyond fail 2%: it could never warn\n"
		"  rules: { copy-share: { at_least: 1%, matters: { warn: 3% } } }\n"
		"                                                        ^~" },
	{ RULE "    value: time_share\n"
	       "    at_most: { wran: 10% }\n",
		"t.yaml:6:16: r.at_most has no key 'wran'; did you mean 'warn'?\n"
		"      at_most: { wran: 10% }\n"
		"                 ^~~~" },
	{ RULE "    value: time_share\n"
	       "    at_most: [5%]\n",
		"t.yaml:6:14: r.at_most is a number, or { warn: 3%, fail: 8% }\n"
		"      at_most: [5%]\n"
		"               ^" },
	{ RULE "    value: p50_s\n"
	       "    at_most: 5%\n",
		"t.yaml:6:14: r.at_most.fail is a time, as its value is, and '5%' is a ratio\n"
		"      at_most: 5%\n"
		"               ^~" },
	{ RULE "    value: p50_s\n"
	       "    at_most: 5\n",
		"t.yaml:6:14: r.at_most.fail is a time, as its value is, and '5' has no unit, as "
		"250 us, 64 MiB or 45 GB/s have\n"
		"      at_most: 5\n"
		"               ^" },
	{ RULE "    value: p50_s\n"
	       "    at_most: '5'\n",
		"t.yaml:6:14: r.at_most.fail is a number: write it without quotes\n"
		"      at_most: '5'\n"
		"               ^~~" },
	{ RULE "    value: p50_s\n", "t.yaml:3:3: there is no rule 'r' to change, and as a new one "
				     "it lacks the value's limit: at_most or at_least\n"
				     "    r:\n"
				     "    ^" },
	{ RULE "    value: name\n"
	       "    at_most: 5\n",
		"t.yaml:5:12: r.value: name is a text and no number\n"
		"      value: name\n"
		"             ^~~~" },
	{ RULE "    value: time_share\n"
	       "    at_most: 5%\n"
	       "    at_least: 5%\n",
		"t.yaml:7:15: r: it has either at_most or at_least\n"
		"      at_least: 5%\n"
		"                ^~" },
	{ RULE "    value: time_share\n"
	       "    assert: time_share < 0.1\n"
	       "    at_most: 5%\n",
		"t.yaml:6:13: r: it has either value or assert\n"
		"      assert: time_share < 0.1\n"
		"              ^~~~~~~~~~~~~~~~" },
	{ RULE "    assert: time_share < 0.1\n"
	       "    at_most: 5%\n",
		"t.yaml:6:14: r: a limit is of a value, and it has an assert\n"
		"      at_most: 5%\n"
		"               ^~" },
	{ RULE "    assert: time_share < 0.1\n"
	       "    unclear: 1 * time_share\n",
		"t.yaml:6:14: r: unclear is of a value, and it has an assert\n"
		"      unclear: 1 * time_share\n"
		"               ^~~~~~~~~~~~~~" },
	{ RULE "    value: time_share\n"
	       "    limit: 5%\n",
		"t.yaml:6:5: r: a rule has no key 'limit'; limits are at_most: { warn, fail }, or "
		"at_least\n"
		"      limit: 5%\n"
		"      ^~~~~" },
	{ RULE "    value: time_share <= 5%\n"
	       "    at_most: 5%\n",
		"t.yaml:5:26: r.value: '5%' is no number in SQL; write 0.05 or a param\n"
		"      value: time_share <= 5%\n"
		"                           ^~" },
	{ "version: 1\n"
	  "rules:\n"
	  "  r: { from: families, where: kind in ('a', 'b'), value: time_share, at_most: 5% }\n",
		"t.yaml:3:31: quote this expression: its comma ends it inside { }\n"
		"    r: { from: families, where: kind in ('a', 'b'), value: time_share, at_most: "
		"5% }\n"
		"                                ^~~~~~~~~~~~" },
	{ "version: 1\n"
	  "extends: recommended\n"
	  "rules:\n"
	  "  copy-share: { at_most: 5 }\n",
		"t.yaml:4:26: copy-share.at_most.fail is a ratio (8%): did you mean 5%? (5 is "
		"500%)\n"
		"    copy-share: { at_most: 5 }\n"
		"                           ^" },
	{ "version: 1\n"
	  "extends: recommended\n"
	  "rules:\n"
	  "  copy-share: { at_most: { warn: 9% } }\n",
		"t.yaml:4:34: warn 9% lies beyond fail 8%: it could never warn\n"
		"    copy-share: { at_most: { warn: 9% } }\n"
		"                                   ^~" },
	{ "version: 1\n"
	  "matters: { warn: 1, fail: 2% , memory: { warn: 5%, together: 1% } }\n",
		"t.yaml:2:18: matters.warn is a ratio: did you mean 1%? (1 is 100%)\n"
		"  matters: { warn: 1, fail: 2% , memory: { warn: 5%, together: 1% } }\n"
		"                   ^\n"
		"t.yaml:2:52: matters.memory has no key 'together'; it has warn and fail\n"
		"  matters: { warn: 1, fail: 2% , memory: { warn: 5%, together: 1% } }\n"
		"                                                     ^~~~~~~~" },
	{ "version: 1\n"
	  "noise: { assumed: 1 ms, wort: 4 }\n",
		"t.yaml:2:19: noise.assumed is a ratio, and '1 ms' is a time\n"
		"  noise: { assumed: 1 ms, wort: 4 }\n"
		"                    ^~~~\n"
		"t.yaml:2:25: noise has no key 'wort'; did you mean 'worth'?\n"
		"  noise: { assumed: 1 ms, wort: 4 }\n"
		"                          ^~~~" },
	{ "version: 1\n"
	  "matters: 5%\n"
	  "step: [a]\n",
		"t.yaml:2:10: matters is a map of keys, such as { warn: 1%, fail: 2%, "
		"together: 10% }\n"
		"  matters: 5%\n"
		"           ^~\n"
		"t.yaml:3:7: step takes one value\n"
		"  step: [a]\n"
		"        ^" },
};

static const struct mistake groups_and_places[] = {
	{ RULE "    group: computee\n"
	       "    assert: p50_s < 1\n",
		"t.yaml:5:12: r: there is no group 'computee'; did you mean 'compute'?\n"
		"      group: computee\n"
		"             ^~~~~~~~" },
	{ RULE "    group: mine\n"
	       "    assert: p50_s < 1\n",
		"t.yaml:5:12: r: there is no group 'mine': evidence, compute, communication, "
		"copies, waiting, memory, regression, or one of your own under groups:\n"
		"      group: mine\n"
		"             ^~~~" },
	{ RULE "    group: evidence\n"
	       "    assert: p50_s < 1\n"
	       "    needs: r\n",
		"t.yaml:7:12: r: a gate does not depend on other gates\n"
		"      needs: r\n"
		"             ^" },
	{ RULE "    group: evidence\n"
	       "    assert: p50_s < 1\n"
	       "    severity: off\n",
		"t.yaml:7:15: r: a gate cannot be switched off: what needs it would be judged "
		"without evidence; with severity: warn it closes nothing and still says what is "
		"missing\n"
		"      severity: off\n"
		"                ^~~" },
	{ RULE "    assert: p50_s < 1\n"
	       "    needs: a\n"
	       "sets: { a: [b], b: [a] }\n",
		"t.yaml:6:12: r: needs: the set 'a' names itself\n"
		"      needs: a\n"
		"             ^" },
	{ RULE "    assert: p50_s < 1\n"
	       "groups: { memroy: { severity: off } }\n",
		"t.yaml:6:11: no rule is of the group 'memroy'\n"
		"  groups: { memroy: { severity: off } }\n"
		"            ^~~~~~" },
	{ "version: 1\n"
	  "extends: recommended\n"
	  "groups: { memroy: { severity: off } }\n",
		"t.yaml:3:11: no rule is of the group 'memroy'; did you mean 'memory'?\n"
		"  groups: { memroy: { severity: off } }\n"
		"            ^~~~~~" },
	{ "version: 1\n"
	  "rules: { r: { group: compute, from: families, assert: p50_s < 1 } }\n"
	  "groups: { compute: { need: [] } }\n",
		"t.yaml:3:22: compute: a group has no key 'need'; did you mean 'needs'?\n"
		"  groups: { compute: { need: [] } }\n"
		"                       ^~~~" },
	{ RULE "    assert: p50_s < 1\n"
	       "    places: { from: famlies, value: time_share }\n",
		"t.yaml:6:21: r.places.from: there is no table 'famlies'; did you mean "
		"'families'?\n"
		"      places: { from: famlies, value: time_share }\n"
		"                      ^~~~~~~" },
	{ RULE "    assert: p50_s < 1\n"
	       "    places: { from: families }\n",
		"t.yaml:6:13: r: places have from (a table) or select, and value\n"
		"      places: { from: families }\n"
		"              ^" },
	{ RULE "    assert: p50_s < 1\n"
	       "    places: { from: families, value: time_shar }\n",
		"t.yaml:6:38: r.places.value: there is no column 'time_shar' here; did you "
		"mean 'time_share'?\n"
		"      places: { from: families, value: time_shar }\n"
		"                                       ^~~~~~~~~" },
	{ RULE "    assert: p50_s < 1\n"
	       "    fix: [{ when: p50_s > 1 }]\n",
		"t.yaml:6:11: r.fix: an advice needs 'do': what it says\n"
		"      fix: [{ when: p50_s > 1 }]\n"
		"            ^" },
	{ RULE "    assert: p50_s < 1\n"
	       "    fix: [{ wen: p50_s > 1, do: x }]\n",
		"t.yaml:6:13: r.fix: an advice has no key 'wen'; did you mean 'when'?\n"
		"      fix: [{ wen: p50_s > 1, do: x }]\n"
		"              ^~~" },
	{ RULE "    assert: p50_s < 1\n"
	       "    fix: [{ when: p50_z > 1, do: x }]\n",
		"t.yaml:6:19: r.fix: there is no column 'p50_z' here; did you mean 'p50_s'?\n"
		"      fix: [{ when: p50_z > 1, do: x }]\n"
		"                    ^~~~~" },
	{ RULE "    assert: p50_s < 1\n"
	       "    fix: [{ do: \"{p50_z}\" }]\n",
		"t.yaml:6:19: r.fix: there is no column 'p50_z' here; did you mean 'p50_s'?\n"
		"      fix: [{ do: \"{p50_z}\" }]\n"
		"                    ^~~~~" },
	{ RULE "    assert: p50_s < 1\n"
	       "    message: \"{p50_s + hbm_bytes} x\"\n",
		"t.yaml:6:24: r.message: p50_s is a time and hbm_bytes is a size in bytes; they "
		"cannot be added\n"
		"      message: \"{p50_s + hbm_bytes} x\"\n"
		"                         ^~~~~~~~~" },
	{ RULE "    assert: p50_s < 1\n"
	       "    message: \"{p50_s + } x\"\n",
		"t.yaml:6:23: r.message: not valid SQL: something is missing at the end, or a "
		"bracket too many\n"
		"      message: \"{p50_s + } x\"\n"
		"                        ^" },
};

/* All of a file at once, each with its place. */
static const struct mistake all_at_once[] = {
	{ "version: 1\n"
	  "rules:\n"
	  "  a: { from: famlies, assert: p50_s < 1 }\n"
	  "  b: { from: families, asert: p50_s < 1, severity: of }\n"
	  "  c: { from: families, where: kind = 'matmull', assert: p50_z < 1, gain: flops }\n"
	  "  d: { from: families, value: time_share, at_most: 5 }\n"
	  "waivers:\n"
	  "  - { rule: e }\n",
		"t.yaml:3:14: a.from: there is no table 'famlies'; did you mean 'families'?\n"
		"    a: { from: famlies, assert: p50_s < 1 }\n"
		"               ^~~~~~~\n"
		"t.yaml:4:24: b: a rule has no key 'asert'; did you mean 'assert'?\n"
		"    b: { from: families, asert: p50_s < 1, severity: of }\n"
		"                         ^~~~~\n"
		"t.yaml:4:52: b.severity is off, warn or error; did you mean 'off'?\n"
		"    b: { from: families, asert: p50_s < 1, severity: of }\n"
		"                                                     ^~\n"
		"t.yaml:5:38: c.where: kind is never 'matmull'; did you mean 'matmul'?\n"
		"    c: { from: families, where: kind = 'matmull', assert: p50_z < 1, gain: flops "
		"}\n"
		"                                       ^~~~~~~~~\n"
		"t.yaml:5:57: c.assert: there is no column 'p50_z' here; did you mean "
		"'p50_s'?\n"
		"    c: { from: families, where: kind = 'matmull', assert: p50_z < 1, gain: flops "
		"}\n"
		"                                                          ^~~~~\n"
		"t.yaml:5:74: c.gain: this is a number of FLOPs; a gain is seconds per step, or "
		"bytes; 'gain: value' says that the value is a share of the step\n"
		"    c: { from: families, where: kind = 'matmull', assert: p50_z < 1, gain: flops "
		"}\n"
		"                                                                           ^~~~~\n"
		"t.yaml:6:52: d.at_most.fail is a ratio, as its value is: did you mean 5%? (5 is "
		"500%)\n"
		"    d: { from: families, value: time_share, at_most: 5 }\n"
		"                                                     ^\n"
		"t.yaml:8:5: waiver: a waiver needs 'owner': who accepted it\n"
		"    - { rule: e }\n"
		"      ^\n"
		"t.yaml:8:5: waiver: a waiver needs 'reason': why\n"
		"    - { rule: e }\n"
		"      ^\n"
		"t.yaml:8:5: waiver: a waiver needs 'expires': its last day, such as 2027-01-31\n"
		"    - { rule: e }\n"
		"      ^\n"
		"t.yaml:8:13: there is no rule 'e' to waive\n"
		"    - { rule: e }\n"
		"              ^" },
	{ "version: 1\n"
	  "waiver:\n"
	  "rules:\n"
	  "  a: { from: run, value: steps, at_most: 5, wher: steps > 1 }\n"
	  "profiles:\n"
	  "  - { match: x, rules: { b: { severity: off } } }\n",
		"t.yaml:2:1: a rule file has no key 'waiver'; did you mean 'waivers'?\n"
		"  waiver:\n"
		"  ^~~~~~\n"
		"t.yaml:4:45: a: a rule has no key 'wher'; did you mean 'where'?\n"
		"    a: { from: run, value: steps, at_most: 5, wher: steps > 1 }\n"
		"                                              ^~~~\n"
		"t.yaml:6:26: there is no rule 'b' to change\n"
		"    - { match: x, rules: { b: { severity: off } } }\n"
		"                           ^" },
	/* What a wrong SELECT of places has for columns is not known, and no mistake. */
	{ "version: 1\n"
	  "rules:\n"
	  "  a:\n"
	  "    { from: run, value: steps, at_most: 5, places:\n"
	  "      { select: select kind as key from familes, value: 1 } }\n"
	  "waivers:\n"
	  "  - { rule: a, where: kind = 'copy', at_most: 2, owner: o, reason: r,\n"
	  "      expires: 2027-13-01 }\n",
		"t.yaml:5:41: a.places.select: there is no table 'familes'; did you mean "
		"'families'?\n"
		"        { select: select kind as key from familes, value: 1 } }\n"
		"                                          ^~~~~~~\n"
		"t.yaml:8:16: expires is a day, such as 2027-01-31\n"
		"        expires: 2027-13-01 }\n"
		"                 ^~~~~~~~~~" },
	{ "version: 1\n"
	  "rules:\n"
	  "  a:\n"
	  "    { from: run, value: steps, at_most: 5, places:\n"
	  "      { select: select kind as key from familes, value: 1 } }\n"
	  "waivers:\n"
	  "  - { rule: a, where: kind = 'copy', at_most: 2, owner: o, reason: r,\n"
	  "      expires: 2027-12-01 }\n",
		"t.yaml:5:41: a.places.select: there is no table 'familes'; did you mean "
		"'families'?\n"
		"        { select: select kind as key from familes, value: 1 } }\n"
		"                                          ^~~~~~~" },
};

static const struct mistake params[] = {
	{ RULE "    assert: p50_s < :t\n"
	       "    params: { t: 10 mss }\n",
		"t.yaml:6:18: r.t: '10 mss' has an unknown unit; did you mean 'ms'?\n"
		"      params: { t: 10 mss }\n"
		"                   ^~~~~~" },
	{ RULE "    assert: p50_s < :t\n"
	       "    params: { t: soon }\n",
		"t.yaml:6:18: r.t: 'soon' is no number with a unit, such as 10%, 64 MiB, 250 "
		"us, 45 GB/s\n"
		"      params: { t: soon }\n"
		"                   ^~~~" },
	{ RULE "    assert: p50_s < :t\n"
	       "    params: { t: '10' }\n",
		"t.yaml:6:18: r.t is a number: write it without quotes\n"
		"      params: { t: '10' }\n"
		"                   ^~~~" },
	{ RULE "    assert: p50_s < :t\n"
	       "    params: { t: 10% }\n",
		"t.yaml:5:21: r.assert: p50_s is a time and :t is a ratio; they cannot be "
		"compared\n"
		"      assert: p50_s < :t\n"
		"                      ^~" },
	{ RULE "    assert: p50_s < :tt\n"
	       "    params: { t: 10 ms }\n",
		"t.yaml:5:21: r.assert: the rule has no parameter 'tt'; declare it under "
		"params:\n"
		"      assert: p50_s < :tt\n"
		"                      ^~~" },
	{ RULE "    assert: p50_s < :limt\n"
	       "    params: { limit: 10 ms }\n",
		"t.yaml:5:21: r.assert: the rule has no parameter 'limt'; did you mean "
		"'limit'?\n"
		"      assert: p50_s < :limt\n"
		"                      ^~~~~" },
	{ RULE "    assert: p50_s < limit\n"
	       "    params: { limit: 10 ms }\n",
		"t.yaml:5:21: r.assert: a parameter is written :limit\n"
		"      assert: p50_s < limit\n"
		"                      ^~~~~" },
	{ RULE "    assert: p50_s < 1\n"
	       "    params: { t: 10 ms }\n",
		"t.yaml:6:15: r.params: no expression of the rule uses 't'\n"
		"      params: { t: 10 ms }\n"
		"                ^" },
	{ RULE "    assert: p50_s < 1\n"
	       "    params: [t]\n",
		"t.yaml:6:13: r.params is a map: { slack: 20 us, least: 64 MiB }\n"
		"      params: [t]\n"
		"              ^" },
	{ RULE "    assert: p50_s < :T\n"
	       "    params: { T: 10 ms }\n",
		"t.yaml:6:15: a parameter's name has small letters, digits and '_'\n"
		"      params: { T: 10 ms }\n"
		"                ^" },
	{ RULE "    assert: members < :count\n"
	       "    params: { count: 5 }\n",
		"t.yaml:6:15: r.params: 'count' is a column of families; give the parameter "
		"another name\n"
		"      params: { count: 5 }\n"
		"                ^~~~~" },
	{ RULE "    assert: members < :title\n"
	       "    params: { title: 5 }\n",
		"t.yaml:6:15: a parameter cannot be called 'title': rules have a key of that "
		"name\n"
		"      params: { title: 5 }\n"
		"                ^~~~~" },
	{ "version: 1\n"
	  "extends: recommended\n"
	  "rules:\n"
	  "  copy-share: { params: { limit: 5 } }\n",
		"t.yaml:4:27: copy-share.params: no expression of the rule uses 'limit'; limits "
		"are at_most: { warn, fail }, or at_least\n"
		"    copy-share: { params: { limit: 5 } }\n"
		"                            ^~~~~" },
	{ "version: 1\n"
	  "extends: recommended\n"
	  "rules:\n"
	  "  copy-share: { params: { limt: 5% } }\n",
		"t.yaml:4:27: copy-share.params: no expression of the rule uses 'limt'\n"
		"    copy-share: { params: { limt: 5% } }\n"
		"                            ^~~~" },
};

static const struct mistake names_in_sql[] = {
	{ RULE "    assert: p50 <= 1\n",
		"t.yaml:5:13: r.assert: there is no column 'p50' here; did you mean "
		"'p50_s'?\n"
		"      assert: p50 <= 1\n"
		"              ^~~" },
	{ RULE "    where: kind = 'matmul' and overlap < 0.1\n"
	       "    assert: p50_s < 1\n",
		"t.yaml:5:32: r.where: there is no column 'overlap' here; did you mean "
		"'overlap_ratio'?\n"
		"      where: kind = 'matmul' and overlap < 0.1\n"
		"                                 ^~~~~~~" },
	{ RULE "    assert: banana <= 1\n",
		"t.yaml:5:13: r.assert: there is no column 'banana' here; `rooflint tables "
		"families` lists them\n"
		"      assert: banana <= 1\n"
		"              ^~~~~~" },
	{ RULE "    assert: p50_s > run.step_time_s\n",
		"t.yaml:5:21: r.assert: table run is not in reach here; write (select "
		"step_time_s from run)\n"
		"      assert: p50_s > run.step_time_s\n"
		"                      ^~~~~~~~~~~~~~~" },
	{ RULE "    assert: p50_s > base_run.step_time_s\n",
		"t.yaml:5:21: r.assert: table base_run is not in reach here; write (select "
		"step_time_s from base_run)\n"
		"      assert: p50_s > base_run.step_time_s\n"
		"                      ^~~~~~~~~~~~~~~~~~~~" },
	{ RULE "    assert: families.p50_z < 1\n", "t.yaml:5:13: r.assert: there is no column "
						   "'families.p50_z' here; did you mean 'p50_s'?\n"
						   "      assert: families.p50_z < 1\n"
						   "              ^~~~~~~~~~~~~~" },
	{ RULE "    assert: p50_s > (select avg(p50_z) from ops)\n",
		"t.yaml:5:33: r.assert: there is no column 'p50_z' here; did you mean "
		"'p50_s'?\n"
		"      assert: p50_s > (select avg(p50_z) from ops)\n"
		"                                  ^~~~~" },
	{ RULE "    assert: name not in (values ('a'), (p50_z))\n",
		"t.yaml:5:41: r.assert: there is no column 'p50_z' here; did you mean "
		"'p50_s'?\n"
		"      assert: name not in (values ('a'), (p50_z))\n"
		"                                          ^~~~~" },
	{ RULE "    assert: p50_s > (select avg(p50_s) from op)\n",
		"t.yaml:5:45: r.assert: there is no table 'op'; did you mean 'ops'?\n"
		"      assert: p50_s > (select avg(p50_s) from op)\n"
		"                                              ^~" },
	{ RULE "    assert: roun(p50_s) < 1\n",
		"t.yaml:5:13: r.assert: there is no function roun() here; did you mean "
		"'round'?\n"
		"      assert: roun(p50_s) < 1\n"
		"              ^~~~" },
	{ RULE "    assert: random() < 1\n",
		"t.yaml:5:13: r.assert: there is no function random() here; there are abs, min, "
		"max, coalesce, ifnull, nullif, iif, round and more (docs/rules.md)\n"
		"      assert: random() < 1\n"
		"              ^~~~~~" },
	{ RULE "    assert: load_extension('x') is null\n",
		"t.yaml:5:13: r.assert: there is no function load_extension() here; there are abs, "
		"min, max, coalesce, ifnull, nullif, iif, round and more (docs/rules.md)\n"
		"      assert: load_extension('x') is null\n"
		"              ^~~~~~~~~~~~~~" },
	{ RULE "    assert: writefile('x', 'y') is null\n",
		"t.yaml:5:13: r.assert: there is no function writefile() here; there are abs, min, "
		"max, coalesce, ifnull, nullif, iif, round and more (docs/rules.md)\n"
		"      assert: writefile('x', 'y') is null\n"
		"              ^~~~~~~~~" },
	{ RULE "    assert: p50_s > avg(p50_s)\n",
		"t.yaml:5:21: r.assert: avg() runs over rows, and each row is judged by itself; "
		"for one number of all: from: run, and (select avg(...) from families)\n"
		"      assert: p50_s > avg(p50_s)\n"
		"                      ^~~" },
	/* SQL's own rule makes these aggregates of all rows, which would be judged as one. */
	{ RULE "    assert: (select max(families.p50_s) from devices) < 1\n",
		"t.yaml:5:21: r.assert: max() runs over rows, and each row is judged by itself; "
		"for one number of all: from: run, and (select max(...) from families)\n"
		"      assert: (select max(families.p50_s) from devices) < 1\n"
		"                      ^~~" },
	{ "version: 1\n"
	  "rules:\n"
	  "  r:\n"
	  "    select: select name, p50_s from ops\n"
	  "    assert: max(p50_s) < 1\n",
		"t.yaml:5:13: r.assert: max() runs over rows, and each row is judged by itself; "
		"compute it in the SELECT\n"
		"      assert: max(p50_s) < 1\n"
		"              ^~~" },
	{ "version: 1\n"
	  "rules:\n"
	  "  r:\n"
	  "    select: select name, p50_s from ops\n"
	  "    assert: p50_s < 1\n"
	  "    gain: (select sum(p50_s))\n",
		"t.yaml:6:19: r.gain: sum() runs over rows, and each row is judged by itself; "
		"compute it in the SELECT\n"
		"      gain: (select sum(p50_s))\n"
		"                    ^~~" },
	/* What a subquery computes is a text, as if it were computed where it is taken. */
	{ "version: 1\n"
	  "rules:\n"
	  "  r:\n"
	  "    select: select y from (select x || '' as y from (select cause as x from gaps))\n"
	  "    assert: y < 1\n",
		"t.yaml:5:17: r.assert: y is a text and 1 is a number; they cannot be compared\n"
		"      assert: y < 1\n"
		"                  ^" },
	{ "version: 1\n"
	  "rules:\n"
	  "  r:\n"
	  "    select: select y from (select z.y from (select cause || '' as y from gaps) as z)\n"
	  "    value: y\n"
	  "    at_most: 1\n",
		"t.yaml:5:12: r.value: y is a text and no number\n"
		"      value: y\n"
		"             ^" },
	/* Where two of that name differ, it stays a number. */
	{ "version: 1\n"
	  "rules:\n"
	  "  r:\n"
	  "    select: select y from (select 1 as y from (select cause || '' as y from gaps))\n"
	  "    assert: y glob 'a*'\n",
		"t.yaml:5:13: r.assert: y is a number; 'glob' compares texts\n"
		"      assert: y glob 'a*'\n"
		"              ^" },
	{ "version: 1\n"
	  "rules:\n"
	  "  r:\n"
	  "    select: select name, p50_z from ops\n"
	  "    assert: p50_s < 1\n",
		"t.yaml:4:26: r.select: there is no column 'p50_z' here; did you mean "
		"'p50_s'?\n"
		"      select: select name, p50_z from ops\n"
		"                           ^~~~~" },
	{ "version: 1\n"
	  "rules:\n"
	  "  r:\n"
	  "    select: select name, p50_s as slow from ops\n"
	  "    assert: p50_s < 1\n",
		"t.yaml:5:13: r.assert: there is no column 'p50_s' here; the SELECT has none of "
		"that name\n"
		"      assert: p50_s < 1\n"
		"              ^~~~~" },
	{ "version: 1\n"
	  "rules:\n"
	  "  r:\n"
	  "    select: select name from sqlite_master\n"
	  "    assert: name = 'x'\n",
		"t.yaml:4:30: r.select: there is no table 'sqlite_master'; `rooflint tables` lists "
		"them\n"
		"      select: select name from sqlite_master\n"
		"                               ^~~~~~~~~~~~~" },
	{ "version: 1\n"
	  "rules:\n"
	  "  r:\n"
	  "    select: select name from pragma_table_list\n"
	  "    assert: name = 'x'\n",
		"t.yaml:4:30: r.select: there is no table 'pragma_table_list'; `rooflint tables` "
		"lists them\n"
		"      select: select name from pragma_table_list\n"
		"                               ^~~~~~~~~~~~~~~~~" },
};

static const struct mistake types_in_sql[] = {
	{ RULE "    assert: kind > 3\n",
		"t.yaml:5:20: r.assert: kind is a text and 3 is a number; they cannot be "
		"compared\n"
		"      assert: kind > 3\n"
		"                     ^" },
	{ RULE "    assert: p50_s = 'x'\n",
		"t.yaml:5:21: r.assert: p50_s is a number and 'x' is a text; they cannot be "
		"compared\n"
		"      assert: p50_s = 'x'\n"
		"                      ^~~" },
	{ RULE "    assert: \"'x' <> p50_s\"\n",
		"t.yaml:5:14: r.assert: p50_s is a number and 'x' is a text; they cannot be "
		"compared\n"
		"      assert: \"'x' <> p50_s\"\n"
		"               ^~~" },
	{ RULE "    assert: kind = p50_s\n",
		"t.yaml:5:20: r.assert: kind is a text and p50_s is a number; they cannot be "
		"compared\n"
		"      assert: kind = p50_s\n"
		"                     ^~~~~" },
	{ RULE "    assert: kind between 'a' and 3\n",
		"t.yaml:5:34: r.assert: kind is a text and 3 is a number; they cannot be "
		"compared\n"
		"      assert: kind between 'a' and 3\n"
		"                                   ^" },
	{ RULE "    assert: kind = :limit\n"
	       "    params: { limit: 3 }\n",
		"t.yaml:5:20: r.assert: kind is a text and :limit is a number; they cannot be "
		"compared\n"
		"      assert: kind = :limit\n"
		"                     ^~~~~~" },
	{ RULE "    where: kind = 'matmull'\n"
	       "    assert: p50_s < 1\n",
		"t.yaml:5:19: r.where: kind is never 'matmull'; did you mean 'matmul'?\n"
		"      where: kind = 'matmull'\n"
		"                    ^~~~~~~~~" },
	{ RULE "    where: KIND <> 'matmull'\n"
	       "    assert: p50_s < 1\n",
		"t.yaml:5:20: r.where: kind is never 'matmull'; did you mean 'matmul'?\n"
		"      where: KIND <> 'matmull'\n"
		"                     ^~~~~~~~~" },
	{ RULE "    where: kind in ('matmul', 'convolutio')\n"
	       "    assert: p50_s < 1\n",
		"t.yaml:5:31: r.where: kind is never 'convolutio'; did you mean "
		"'convolution'?\n"
		"      where: kind in ('matmul', 'convolutio')\n"
		"                                ^~~~~~~~~~~~" },
	{ RULE "    where: kind not in ('matmul', 3)\n"
	       "    assert: p50_s < 1\n",
		"t.yaml:5:35: r.where: kind is a text and 3 is a number; they cannot be "
		"compared\n"
		"      where: kind not in ('matmul', 3)\n"
		"                                    ^" },
	{ RULE "    where: bound = 'gpu'\n"
	       "    assert: p50_s < 1\n",
		"t.yaml:5:20: r.where: bound is never 'gpu'; it is one of compute, memory, "
		"communication, host\n"
		"      where: bound = 'gpu'\n"
		"                     ^~~~~" },
	{ RULE "    where: bound glob 'gpu*'\n"
	       "    assert: p50_s < 1\n",
		"t.yaml:5:23: r.where: bound never matches 'gpu*'; it is one of compute, "
		"memory, communication, host\n"
		"      where: bound glob 'gpu*'\n"
		"                        ^~~~~~" },
	{ RULE "    where: p50_s like '1%'\n"
	       "    assert: p50_s < 1\n",
		"t.yaml:5:12: r.where: p50_s is a number; 'like' compares texts\n"
		"      where: p50_s like '1%'\n"
		"             ^~~~~" },
	{ RULE "    where: kind = (case when p50_s < 1 then 'a' end) and bound = 'x'\n"
	       "    assert: p50_s < 1\n",
		"t.yaml:5:66: r.where: bound is never 'x'; it is one of compute, memory, "
		"communication, host\n"
		"      where: kind = (case when p50_s < 1 then 'a' end) and bound = 'x'\n"
		"                                                                   ^~~" },
	{ RULE "    where: name\n"
	       "    assert: p50_s < 1\n",
		"t.yaml:5:12: r.where: name is a text and no condition; compare it with "
		"something\n"
		"      where: name\n"
		"             ^~~~" },
	{ RULE "    where: name and p50_s\n"
	       "    assert: p50_s < 1\n",
		"t.yaml:5:12: r.where: name is a text and no condition; compare it with "
		"something\n"
		"      where: name and p50_s\n"
		"             ^~~~" },
	{ RULE "    assert: name + 1 < 3\n",
		"t.yaml:5:13: r.assert: name is a text; '+' computes with numbers\n"
		"      assert: name + 1 < 3\n"
		"              ^~~~" },
	{ RULE "    assert: sqrt(name) < 3\n",
		"t.yaml:5:18: r.assert: sqrt() computes with numbers, and this is a text\n"
		"      assert: sqrt(name) < 3\n"
		"                   ^~~~" },
	{ RULE "    assert: p50_s = null\n",
		"t.yaml:5:19: r.assert: comparing with null is never true; write 'is null' or "
		"'is not null'\n"
		"      assert: p50_s = null\n"
		"                    ^" },
	{ RULE "    assert: efficiency > 1/2\n",
		"t.yaml:5:26: r.assert: 1/2 divides whole numbers and drops the rest; write "
		"1.0 / 2\n"
		"      assert: efficiency > 1/2\n"
		"                           ^~~" },
	{ RULE "    assert: efficiency <= 10%\n",
		"t.yaml:5:27: r.assert: '10%' is no number in SQL; write 0.1 or a param\n"
		"      assert: efficiency <= 10%\n"
		"                            ^~~" },
	{ RULE "    assert: p50_s <= 10 ms\n", "t.yaml:5:25: r.assert: a unit belongs into a "
					       "parameter: params: { slack: 10 ms }, then :slack\n"
					       "      assert: p50_s <= 10 ms\n"
					       "                          ^~" },
	{ RULE "    assert: p50_s <= 10ms\n",
		"t.yaml:5:24: r.assert: a unit belongs into a parameter: params: { slack: 10 "
		"ms }, then :slack\n"
		"      assert: p50_s <= 10ms\n"
		"                         ^~" },
	{ RULE "    assert: p50_s < hbm_bytes\n",
		"t.yaml:5:21: r.assert: p50_s is a time and hbm_bytes is a size in bytes; they "
		"cannot be compared\n"
		"      assert: p50_s < hbm_bytes\n"
		"                      ^~~~~~~~~" },
	{ RULE "    assert: p50_s + hbm_bytes < 1\n",
		"t.yaml:5:21: r.assert: p50_s is a time and hbm_bytes is a size in bytes; they "
		"cannot be added\n"
		"      assert: p50_s + hbm_bytes < 1\n"
		"                      ^~~~~~~~~" },
	{ RULE "    assert: p50_s * 2 < flops / 3\n",
		"t.yaml:5:25: r.assert: p50_s * 2 is a time and flops / 3 is a number of "
		"FLOPs; they cannot be compared\n"
		"      assert: p50_s * 2 < flops / 3\n"
		"                          ^~~~~~~~~" },
	{ "version: 1\n"
	  "rules:\n"
	  "  r:\n"
	  "    select: select key, p50_s / 2 as half_s, hbm_bytes from ops\n"
	  "    assert: half_s < hbm_bytes\n",
		"t.yaml:5:22: r.assert: half_s is a time and hbm_bytes is a size in bytes; "
		"they cannot be compared\n"
		"      assert: half_s < hbm_bytes\n"
		"                       ^~~~~~~~~" },
	{ RULE "    assert: exists (select 1 from ops as o where key = o.key)\n",
		"t.yaml:5:50: r.assert: key = o.key compares a column with itself: a bare name is "
		"a "
		"column of the subquery's own table; the judged row's is written with its table, "
		"as "
		"devices.host\n"
		"      assert: exists (select 1 from ops as o where key = o.key)\n"
		"                                                   ^~~~~~~~~~~" },
	{ RULE "    assert: p50_s < 1\n"
	       "    gain: flops\n",
		"t.yaml:6:11: r.gain: this is a number of FLOPs; a gain is seconds per step, or "
		"bytes; 'gain: value' says that the value is a share of the step\n"
		"      gain: flops\n"
		"            ^~~~~" },
	{ RULE "    assert: p50_s < 1\n"
	       "    gain: name\n",
		"t.yaml:6:11: r.gain: name is a text and no number\n"
		"      gain: name\n"
		"            ^~~~" },
};

static const struct mistake grammar[] = {
	{ RULE "    where: kind = \"matmul\"\n"
	       "    assert: p50_s < 1\n",
		"t.yaml:5:19: r.where: a text takes single quotes: 'matmul'\n"
		"      where: kind = \"matmul\"\n"
		"                    ^~~~~~~~" },
	{ RULE "    where: \"[kind] = 'matmul'\"\n"
	       "    assert: p50_s < 1\n",
		"t.yaml:5:13: r.where: names take no brackets, and a list takes parentheses: in "
		"('copy', 'matmul')\n"
		"      where: \"[kind] = 'matmul'\"\n"
		"              ^" },
	{ RULE "    assert: p50_s <\n", "t.yaml:5:19: r.assert: not valid SQL: something is "
					"missing at the end, or a bracket too many\n"
					"      assert: p50_s <\n"
					"                    ^" },
	{ RULE "    assert: p50_s < and 1\n",
		"t.yaml:5:21: r.assert: not valid SQL: near \"and\": syntax error\n"
		"      assert: p50_s < and 1\n"
		"                      ^~~" },
	{ RULE "    assert: p50_s 3 < 1\n", "t.yaml:5:19: r.assert: not valid SQL: near \"3\": "
					    "syntax error\n"
					    "      assert: p50_s 3 < 1\n"
					    "                    ^" },
	{ RULE "    assert: (p50_s < 1\n",
		"t.yaml:5:13: r.assert: this parenthesis is never closed\n"
		"      assert: (p50_s < 1\n"
		"              ^" },
	{ RULE "    assert: p50_s < 1) from ops; --\n",
		"t.yaml:5:22: r.assert: this parenthesis was never opened\n"
		"      assert: p50_s < 1) from ops; --\n"
		"                       ^" },
	{ RULE "    assert: p50_s < 1, 2\n",
		"t.yaml:5:22: r.assert: one expression is wanted, and this begins a second "
		"one\n"
		"      assert: p50_s < 1, 2\n"
		"                       ^" },
	{ RULE "    assert: p50_s < 1; select 1\n",
		"t.yaml:5:22: r.assert: one expression only, without ';'\n"
		"      assert: p50_s < 1; select 1\n"
		"                       ^" },
	{ RULE "    assert: p50_s < 1 -- always\n",
		"t.yaml:5:23: r.assert: SQL has no comments here\n"
		"      assert: p50_s < 1 -- always\n"
		"                        ^~" },
	{ RULE "    assert: kind = 'matmul\n",
		"t.yaml:5:20: r.assert: this quote is never closed, and texts take single quotes\n"
		"      assert: kind = 'matmul\n"
		"                     ^" },
	{ RULE "    assert: p50_s < ?1\n", "t.yaml:5:21: r.assert: a parameter is written :name\n"
					   "      assert: p50_s < ?1\n"
					   "                      ^" },
	{ RULE "    assert: p50_s < $x\n", "t.yaml:5:21: r.assert: a parameter is written :name\n"
					   "      assert: p50_s < $x\n"
					   "                      ^" },
	{ RULE "    assert: abs(p50_s, 1, 2) < 3\n",
		"t.yaml:5:13: r.assert: not valid SQL: wrong number of arguments to function "
		"abs()\n"
		"      assert: abs(p50_s, 1, 2) < 3\n"
		"              ^~~" },
	{ RULE "    assert: (p50_s, 1) < 3\n",
		"t.yaml:5:13: r.assert: not valid SQL: row value misused\n"
		"      assert: (p50_s, 1) < 3\n"
		"              ^~~~~~~~~~~~~~" },
	{ RULE "    assert: p50_s in (select name, key from ops)\n",
		"t.yaml:5:13: r.assert: not valid SQL: sub-select returns 2 columns - expected "
		"1\n"
		"      assert: p50_s in (select name, key from ops)\n"
		"              ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~" },
	{ RULE "    assert: p50_s < (with recursive a(x) as (select 1 union all select x from a) "
	       "select x from a)\n",
		"t.yaml:5:13: r.assert: not allowed here (not authorized): only reading the tables "
		"of the run is\n"
		"      assert: p50_s < (with recursive a(x) as (select 1 union all select x from "
		"a) select x from a)\n"
		"              "
		"^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~"
		"~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~" },
	{ RULE "    where: >-\n"
	       "      kind = 'matmul'\n"
	       "      and foo < 3\n"
	       "    assert: p50_s < 1\n",
		"t.yaml:7:11: r.where: there is no column 'foo' here; `rooflint tables families` "
		"lists them\n"
		"        and foo < 3\n"
		"            ^~~" },
	{ RULE "    where: kind = 'matmul'\n"
	       "      and foo < 3\n"
	       "    assert: p50_s < 1\n",
		"t.yaml:6:11: r.where: there is no column 'foo' here; `rooflint tables families` "
		"lists them\n"
		"        and foo < 3\n"
		"            ^~~" },
	{ RULE "    where: 'kind = ''matmull'''\n"
	       "    assert: p50_s < 1\n",
		"t.yaml:5:20: r.where: kind is never 'matmull'; did you mean 'matmul'?\n"
		"      where: 'kind = ''matmull'''\n"
		"                     ^~~~~~~~~~~" },
	{ "version: 1\n"
	  "rules:\n"
	  "  r:\n"
	  "    select: attach database 'x' as y\n"
	  "    assert: p50_s < 1\n",
		"t.yaml:4:13: r.select: a SELECT is wanted here\n"
		"      select: attach database 'x' as y\n"
		"              ^~~~~~" },
	{ "version: 1\n"
	  "rules:\n"
	  "  r:\n"
	  "    select: pragma table_info(x)\n"
	  "    assert: p50_s < 1\n",
		"t.yaml:4:13: r.select: a SELECT is wanted here\n"
		"      select: pragma table_info(x)\n"
		"              ^~~~~~" },
	{ "version: 1\n"
	  "rules:\n"
	  "  r:\n"
	  "    select: delete from ops\n"
	  "    assert: p50_s < 1\n",
		"t.yaml:4:13: r.select: a SELECT is wanted here\n"
		"      select: delete from ops\n"
		"              ^~~~~~" },
};

static const struct mistake messages[] = {
	{ RULE "    assert: p50_s < 1\n"
	       "    message: \"{name} {p50} x\"\n",
		"t.yaml:6:23: r.message: there is no column 'p50' here; did you mean 'p50_s'?\n"
		"      message: \"{name} {p50} x\"\n"
		"                        ^~~" },
	{ RULE "    assert: p50_s < 1\n"
	       "    message: \"{run.step_time}\"\n",
		"t.yaml:6:20: r.message: there is no column 'step_time' here; did you mean "
		"'step_time_s'?\n"
		"      message: \"{run.step_time}\"\n"
		"                     ^~~~~~~~~" },
	{ RULE "    assert: p50_s < 1\n"
	       "    message: \"{name} {p50_s:tim} x\"\n",
		"t.yaml:6:29: r.message: there is no format 'tim'; did you mean 'time'?\n"
		"      message: \"{name} {p50_s:tim} x\"\n"
		"                              ^~~" },
	{ RULE "    assert: p50_s < 1\n"
	       "    message: \"{name} {p50_s:hours} x\"\n",
		"t.yaml:6:29: r.message: there is no format 'hours'; there are time, percent, "
		"bytes, rate, flops, count, number, brief; p50_s alone is shown in its unit\n"
		"      message: \"{name} {p50_s:hours} x\"\n"
		"                              ^~~~~" },
	{ RULE "    assert: p50_s < 1\n"
	       "    message: \"{name} {p50_s:percent} x\"\n",
		"t.yaml:6:29: r.message: p50_s is a time; 'percent' shows ratios\n"
		"      message: \"{name} {p50_s:percent} x\"\n"
		"                              ^~~~~~~" },
	{ RULE "    assert: p50_s < 1\n"
	       "    message: \"{p50_s:time step} x\"\n",
		"t.yaml:6:22: r.message: only 'count' takes a noun, as in 'count step'\n"
		"      message: \"{p50_s:time step} x\"\n"
		"                       ^~~~~~~~~" },
	{ RULE "    assert: p50_s < 1\n"
	       "    message: \"{name:time} x\"\n",
		"t.yaml:6:21: r.message: name is a text and takes no format but 'brief'\n"
		"      message: \"{name:time} x\"\n"
		"                      ^~~~" },
	{ RULE "    assert: p50_s < 1\n"
	       "    message: \"{name\"\n",
		"t.yaml:6:15: r.message: this brace is never closed; a brace itself is written "
		"{{\n"
		"      message: \"{name\"\n"
		"                ^" },
	{ RULE "    assert: p50_s < 1\n"
	       "    message: \"{? of {bound}\"\n",
		"t.yaml:6:15: r.message: this part is never closed; a brace itself is written "
		"{{\n"
		"      message: \"{? of {bound}\"\n"
		"                ^~" },
	{ RULE "    assert: p50_s < 1\n"
	       "    message: \"{? of {? by {bound}}}\"\n",
		"t.yaml:6:21: r.message: a part that may be left out holds no other\n"
		"      message: \"{? of {? by {bound}}}\"\n"
		"                      ^~" },
	{ RULE "    assert: p50_s < 1\n"
	       "    message: \"name}\"\n",
		"t.yaml:6:19: r.message: this brace was never opened; a brace itself is "
		"written }}\n"
		"      message: \"name}\"\n"
		"                    ^" },
};
/* What people type who know another language, or are in a hurry. */
static const struct mistake in_a_hurry[] = {
	{ RULE "    where: kind = copy\n    assert: p50_s < 1\n",
		"t.yaml:5:19: r.where: a text takes single quotes: 'copy'\n"
		"      where: kind = copy\n"
		"                    ^~~~" },
	{ RULE "    where: dtype = bf16\n    assert: p50_s < 1\n",
		"t.yaml:5:20: r.where: a text takes single quotes: 'bf16'\n"
		"      where: dtype = bf16\n"
		"                     ^~~~" },
	{ RULE "    where: scope glob embed\n    assert: p50_s < 1\n",
		"t.yaml:5:23: r.where: a text takes single quotes: 'embed'\n"
		"      where: scope glob embed\n"
		"                        ^~~~~" },
	{ RULE "    where: kind in (copy, 'matmul')\n    assert: p50_s < 1\n",
		"t.yaml:5:21: r.where: a text takes single quotes: 'copy'\n"
		"      where: kind in (copy, 'matmul')\n"
		"                      ^~~~" },
	{ RULE "    where: scope glob *embed*\n    assert: p50_s < 1\n",
		"t.yaml:5:23: r.where: a text takes single quotes, as in glob '*embed*'\n"
		"      where: scope glob *embed*\n"
		"                        ^" },
	{ RULE "    where: scope = '*embed*'\n    assert: p50_s < 1\n",
		"t.yaml:5:20: r.where: '*' is a wildcard for glob alone: write glob '*embed*'\n"
		"      where: scope = '*embed*'\n"
		"                     ^~~~~~~~~" },
	{ RULE "    where: scope like '*embed*'\n    assert: p50_s < 1\n",
		"t.yaml:5:23: r.where: '*' is a wildcard for glob alone: write glob '*embed*'\n"
		"      where: scope like '*embed*'\n"
		"                        ^~~~~~~~~" },
	{ RULE "    where: scope glob '%embed%'\n    assert: p50_s < 1\n",
		"t.yaml:5:23: r.where: '%' is a wildcard for like alone: glob takes '*'\n"
		"      where: scope glob '%embed%'\n"
		"                        ^~~~~~~~~" },
	{ "version: 1\nrules:\n  r:\n    from: memory\n    assert: temp_bytes < 1\n"
	  "    message: \"{name} is too large\"\n",
		"t.yaml:6:16: r.message: there is no column 'name' here; `rooflint tables memory` "
		"lists them\n"
		"      message: \"{name} is too large\"\n"
		"                 ^~~~" },
	{ RULE "    where: time_share > 5\n    assert: p50_s < 1\n",
		"t.yaml:5:25: r.where: time_share is a ratio, 1 is all of it: write 0.05 for 5%\n"
		"      where: time_share > 5\n"
		"                          ^" },
	{ RULE "    assert: p50_s\n", "t.yaml:5:13: r.assert: p50_s is a time and no condition; "
				      "compare it with something\n"
				      "      assert: p50_s\n"
				      "              ^~~~~" },
	{ RULE "    value: p50_s > 1\n    at_most: 5%\n",
		"t.yaml:5:12: r.value: p50_s > 1 is yes or no, and no number; the limit of a "
		"number is at_most or at_least, and yes or no stands under assert\n"
		"      value: p50_s > 1\n"
		"             ^~~~~~~~~" },
	{ RULE "    value: hbm_bytes / 1e9\n    at_most: 16 GiB\n",
		"t.yaml:5:12: r.value: leave the 1e9 out: this is a size in bytes, and its limit "
		"is written with a unit, as 5 ms, 16 GiB or 30%\n"
		"      value: hbm_bytes / 1e9\n"
		"             ^~~~~~~~~~~~~~~" },
	{ RULE "    value: 1000 * p50_s\n    at_most: 5 ms\n",
		"t.yaml:5:12: r.value: leave the 1000 out: this is a time, and its limit is "
		"written with a unit, as 5 ms, 16 GiB or 30%\n"
		"      value: 1000 * p50_s\n"
		"             ^~~~~~~~~~~~" },
	{ RULE "    value: efficiency * 100\n    at_least: 60\n",
		"t.yaml:5:12: r.value: leave the 100 out: this is a ratio, and its limit is "
		"written with a unit, as 5 ms, 16 GiB or 30%\n"
		"      value: efficiency * 100\n"
		"             ^~~~~~~~~~~~~~~~" },
	{ RULE "    where: kind = 'copy' order by p50_s\n    assert: p50_s < 1\n",
		"t.yaml:5:26: r.where: not valid SQL: near \"order\": syntax error\n"
		"      where: kind = 'copy' order by p50_s\n"
		"                           ^~~~~" },
	{ RULE "    where: kind = 'copy' && p50_s > 1\n    assert: p50_s < 1\n",
		"t.yaml:5:26: r.where: '&&' is written 'and'\n"
		"      where: kind = 'copy' && p50_s > 1\n"
		"                           ^~" },
	{ RULE "    where: kind = `copy`\n    assert: p50_s < 1\n",
		"t.yaml:5:19: r.where: a text takes single quotes: 'copy'\n"
		"      where: kind = `copy`\n"
		"                    ^~~~~~" },
	{ RULE "    where: kind = \xe2\x80\x98"
	       "copy'\n    assert: p50_s < 1\n",
		"t.yaml:5:19: r.where: texts take straight quotes: 'bf16'\n"
		"      where: kind = ‘copy'\n"
		"                    ^" },
	{ RULE "    assert: idle_s < 1\n",
		"t.yaml:5:13: r.assert: there is no column 'idle_s' here; it is a column of steps: "
		"judge such rows (from: steps), or write (select ... from steps)\n"
		"      assert: idle_s < 1\n"
		"              ^~~~~~" },
	{ RULE "    value: (select max(exposed_share) from ops)\n    at_most: 5%\n",
		"t.yaml:5:24: r.value: there is no column 'exposed_share' here; it is a column of "
		"collectives: judge such rows (from: collectives), or write (select ... from "
		"collectives)\n"
		"      value: (select max(exposed_share) from ops)\n"
		"                         ^~~~~~~~~~~~~" },
	{ RULE "    where: value > 1\n    value: p50_s\n    at_most: 5 ms\n",
		"t.yaml:5:12: r.where: there is no column 'value' here; it is a key of the rule: "
		"write its expression out\n"
		"      where: value > 1\n"
		"             ^~~~~" },
	{ RULE "    value: p50_s\n    at_most: 5,000 us\n",
		"t.yaml:6:14: r.at_most.fail: '5,000 us' is no number with a unit, such as 10%, 64 "
		"MiB, 250 us, 45 GB/s; 5,000 is written 5000\n"
		"      at_most: 5,000 us\n"
		"               ^~~~~~~~" },
	{ RULE "    value: p50_s\n    at_most: '< 5 ms'\n",
		"t.yaml:6:14: r.at_most.fail: '< 5 ms' is no number with a unit, such as 10%, 64 "
		"MiB, 250 us, 45 GB/s\n"
		"      at_most: '< 5 ms'\n"
		"               ^~~~~~~~" },
	{ RULE "    value: p50_s\n    at_most: 5 ms\n    message: \"more than {at_most}\"\n",
		"t.yaml:7:26: r.message: there is no column 'at_most' here; the limits are :warn "
		"and :fail, and {warn} and {fail} in texts\n"
		"      message: \"more than {at_most}\"\n"
		"                           ^~~~~~~" },
	{ RULE "    value: p50_s\n    at_most: 5 ms\n    only_warns: scope glob '*embed*'\n",
		"t.yaml:7:17: r: only_warns tells people why can_fail is false of a row, and there "
		"is no can_fail\n"
		"      only_warns: scope glob '*embed*'\n"
		"                  ^~~~~~~~~~~~~~~~~~~~" },
	{ "version: 1\nrules:\n  r:\n  from: ops\n  value: p50_s\n  at_most: 5 ms\n",
		"t.yaml:3:4: r: a rule is empty; what belongs to it stands below, further to the "
		"right\n"
		"    r:\n"
		"     ^" },
	{ "version: 1\nrules:\n  r: { from: ops, value: p50_s, at_most: 5,000 us }\n",
		"t.yaml:3:42: r.at_most: write 5000 for 5,000: its comma ends it inside { }\n"
		"    r: { from: ops, value: p50_s, at_most: 5,000 us }\n"
		"                                           ^" },
	{ "version: 1\nrules:\nr: { from: ops, value: p50_s, at_most: 5 ms }\n",
		"t.yaml:2:6: rules is empty; what belongs to it stands below, further to the "
		"right\n"
		"  rules:\n"
		"       ^\n"
		"t.yaml:3:1: a rule file has no key 'r'; a rule stands below 'rules:', further to "
		"the right\n"
		"  r: { from: ops, value: p50_s, at_most: 5 ms }\n"
		"  ^" },
	{ "version: 1\nrules:\n  r: { from: ops join edges, value: p50_s, at_most: 5 ms }\n",
		"t.yaml:3:14: r.from: there is no table 'ops join edges'; more than one name is a "
		"query, and stands under select\n"
		"    r: { from: ops join edges, value: p50_s, at_most: 5 ms }\n"
		"               ^~~~~~~~~~~~~~" },
};
#define REFUSED(group)                                                                             \
	static void refuses_##group(void **state)                                                  \
	{                                                                                          \
		(void)state;                                                                       \
		for (size_t i = 0; i < sizeof(group) / sizeof(group[0]); i++)                      \
			refused(group[i].yaml, group[i].error);                                    \
	}
REFUSED(the_document)
REFUSED(rules_and_keys)
REFUSED(params)
REFUSED(limits)
REFUSED(groups_and_places)
REFUSED(all_at_once)
REFUSED(names_in_sql)
REFUSED(types_in_sql)
REFUSED(grammar)
REFUSED(messages)
REFUSED(in_a_hurry)

/* Every kind of mistake has its number in the catalogue. */
static void ids_of_mistakes(void **state)
{
	static const struct {
		const char *yaml;
		enum diag_id id;
	} cases[] = {
		{ "a: [", DIAG_RULE_SYNTAX },
		{ "version: 1\nrule: {}", DIAG_RULE_SCHEMA },
		{ RULE "    assert: p50 < 1", DIAG_RULE_NAME },
		{ RULE "    assert: p50_s < :t\n    params: { t: 1 lightyear }", DIAG_RULE_UNIT },
		{ RULE "    assert: p50_s <", DIAG_RULE_SQL },
		{ RULE "    assert: kind = 3", DIAG_RULE_TYPE },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_false(ruleset_parse(
			engine, STR("t.yaml"), str_from(cases[i].yaml), &keep, &set, &err));
		assert_int_equal(err.id, cases[i].id);
	}
}

/* SQL that the checks must leave alone: one false alarm makes them worthless. */
static void no_false_alarms(void **state)
{
	static const char *const conditions[] = {
		"p50_s < 1 or p50_s >= 1e-3 and not kind = 'copy'",
		"kind IN ('matmul', 'convolution') AND Time_Share >= .01",
		"kind || name = 'matmulfusion' and kind glob '*gather*' and kind not like 'a%'",
		"length(kind) > 3 and instr(name, 'dot') > 0 and lower(kind) = 'whatever'",
		"abs(p50_s - lo_s) / max(p50_s, 1e-9) <= 0.1 and min(flops, 3) is not null",
		"case kind when 'matmul' then p50_s < 1 else lo_s < 2 end",
		"case when p50_s < 1 then 1 else 0 end = 1",
		"p50_s between 0.1 * 2 and 3 and p50_s not between -1 and 0",
		"bound is null or bound is not 'memory' or scope notnull or p50_s not null",
		"coalesce(kind, 'copy') = 'copy' and ifnull(p50_s, 0) < 1 and nullif(p50_s, 0) < 1",
		"cast(p50_s as text) = '1' or cast(count as integer) % 2 = 0",
		"flops / p50_s < 1e15 and flops / hbm_bytes > 100 and hbm_bytes / p50_s < 3e12",
		"p50_s * time_share < 1 and 2 * p50_s < lo_s * (1 + 0.1) and p50_s / lo_s < 2",
		"exists (select 1 from ops where ops.family = families.family and ops.p50_s > 1)",
		"exists (select 1 from ops where family = families.family)",
		"exists (select 1 from families as f where family = families.family)",
		"exists (select 1 from families as f where f.family = families.family)",
		"p50_s < (select avg(o.p50_s) as mean from ops o where o.kind = 'matmul')",
		"family in (select family from ops as x left join edges e on e.consumer = x.name)",
		"p50_s > (with big as (select p50_s as t from ops where p50_s > 1) "
		"select max(t) from big)",
		"p50_s >= (select p50_s t from ops order by t desc nulls last limit 1 offset 1)",
		"(select count(*) from ops group by kind having count(distinct name) > 1) > 0",
		"p50_s < (select sum(time_s) from (select time_s from gaps union all "
		"select time_s from compiles))",
		"sqrt(p50_s) < pow(2, 3) and ln(2) > 0 and exp(1) < 3 and floor(p50_s) = 0",
		"iif(kind = 'matmul', p50_s, lo_s) < 1 and round(p50_s, 3) = 0",
		"p50_s is not distinct from lo_s and ~1 = -2 and +1 = 1 and 5.0 / 2 > 2",
		"(select max(padding_ratio) from ops where padding_ratio > 4) < 8",
	};
	char yaml[2048];
	(void)state;
	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
		snprintf(yaml, sizeof(yaml), RULE "    assert: >-\n      %s\n", conditions[i]);
		parse(yaml);
	}
	/* So many layers; no conversion of units. */
	parse(RULE "    value: 128 * p50_s\n    at_most: 5 ms\n");
}

/* ---- what is read ------------------------------------------------------------------------- */

static const struct rule_param *param(const struct rule *r, const char *name)
{
	for (ptrdiff_t i = 0; i < r->param_count; i++)
		if (str_eq(r->params[i].name, str_from(name)))
			return &r->params[i];
	fail_msg("no parameter %s", name);
	return NULL;
}

/* Of what ships, texts are compiled when a finding wants them, unless the file is a user's. */
static void what_ships_stands_as_a_users_file(void **state)
{
	static const char *const files[] = { "rules/recommended.yaml", "rules/strict.yaml",
		"rules/fleet.yaml" };

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct str text = arena_str(&keep, embed_find(str_from(files[i])));

		assert_true(text.len > 0 && !embed_of(text));
		if (!ruleset_parse(engine, STR("mine.yaml"), text, &keep, &set, &err))
			fail_msg("%s: %s", files[i], err.text);
	}
}

static void every_key(void **state)
{
	(void)state;
	const struct rule *r =
		parse("version: 1\n"
		      "matters: { warn: 2%, memory: { fail: 20% } }\n"
		      "noise: { assumed: 2%, worth: 6 }\n"
		      "step: train*\n"
		      "sets: { timed: g }\n"
		      "groups: { mine: { needs: [timed], severity: warn } }\n"
		      "rules:\n"
		      "  g: { group: evidence, from: run, assert: 'steps > 1' }\n"
		      "  r:\n"
		      "    group: mine\n"
		      "    title: Small enough\n"
		      "    from: families\n"
		      "    where: time_share >= :share\n"
		      "    value: p50_s / roofline_s - 1 - :slack / p50_s\n"
		      "    unclear: hi_s / lo_s - 1\n"
		      "    at_most: { warn: 10%, fail: 150% }\n"
		      "    can_fail: padded_bytes <= :size and hbm_bytes / p50_s > "
		      ":speed\n"
		      "    params: { share: 1%, slack: 250 us, size: 64 MiB, speed: "
		      "45 GB/s, n: 3 }\n"
		      "    gain: p50_s * per_step\n"
		      "    places: { from: ops, where: kind = 'copy', value: "
		      "time_share }\n"
		      "    matters: { fail: 3% }\n"
		      "    required: true\n"
		      "    min_subjects: 2\n"
		      "    confirm: 3\n"
		      "    message: \"{name}: {p50_s:time} {n:number} {fail} {value}\"\n"
		      "    cause: c\n"
		      "    fix: [{ when: p50_s > 1, do: f }, { do: g }]\n"
		      "    why: w\n"
		      "    measured: m\n"
		      "    wrong_when: x\n");
	assert_int_equal(set.count, 2);
	assert_true(set.items[0]->gate && !set.items[0]->gate_count);
	assert_str(set.items[0]->title.text, "g");
	assert_str(r->title.text, "Small enough");
	assert_ptr_equal(r->from, &table_defs[TABLE_families]);
	assert_ptr_equal(r->places.from, &table_defs[TABLE_ops]);
	assert_int_equal(r->severity, SEVERITY_WARN);
	assert_true(r->required && !r->gate && !r->at_least);
	assert_int_equal(r->gate_count, 1);
	assert_ptr_equal(r->gates[0], set.items[0]);
	assert_int_equal(r->min_subjects, 2);
	assert_int_equal(r->confirm, 3);
	assert_int_equal(r->param_count, PARAM_OWN + 5);
	assert_true(r->params[PARAM_WARN].value == 0.1);
	assert_true(r->params[PARAM_FAIL].value == 1.5);
	assert_true(param(r, "share")->value == 0.01 && param(r, "share")->unit == UNIT_RATIO);
	assert_true(param(r, "slack")->value == 250e-6);
	assert_int_equal(param(r, "slack")->unit, UNIT_SECONDS);
	assert_true(param(r, "size")->value == 67108864 && param(r, "size")->unit == UNIT_BYTES);
	assert_int_equal(param(r, "speed")->unit, UNIT_BYTES_PER_SECOND);
	assert_true(param(r, "n")->value == 3 && param(r, "n")->unit == UNIT_NONE);
	assert_str(param(r, "slack")->text, "250 us");
	assert_true(rule_matter(&set, r, MATTER_WARN) == 0.02);
	assert_true(rule_matter(&set, r, MATTER_FAIL) == 0.03);
	assert_true(rule_matter(&set, r, MATTER_TOGETHER) == 0.1);
	assert_true(rule_matter(&set, r, MATTER_MEMORY_FAIL) == 0.2);
	assert_true(set.noise_assumed.value == 0.02 && set.noise_worth.value == 6);
	assert_str(set.step.text, "train*");
	assert_int_equal(r->fix.count, 2);
	assert_str(advice_text(&r->fix), "g");
	assert_str(advice_text(&r->cause), "c");
	assert_str(r->wrong_when.text, "x");
	assert_str(r->title.origin.doc->file, "t.yaml");
	assert_int_equal(r->title.origin.node->line, 11);
	assert_int_equal(r->title.origin.node->column, 12);
}

static void defaults(void **state)
{
	(void)state;
	const struct rule *r = parse(RULE "    assert: p50_s < 1\n");
	assert_int_equal(r->severity, SEVERITY_ERROR);
	assert_true(!r->gate_count && !r->gate && !r->required);
	assert_null(r->message.text.p);
	assert_null(r->severity_origin.node);
	assert_true(rule_matter(&set, r, MATTER_WARN) == 0.01);
	parse("{\"version\": 1, \"rules\": {\"r\": {\"from\": \"run\", \"assert\": \"steps > "
	      "1\"}}}");
	assert_int_equal(set.count, 1);
	/* In JSON a number with a unit is a text. */
	r = parse("{\"version\": 1, \"rules\": {\"r\": {\"from\": \"ops\", \"value\": \"p50_s\", "
		  "\"at_most\": {\"warn\": \"5 ms\", \"fail\": \"1s\"}}}}");
	assert_true(r->params[PARAM_WARN].value == 0.005 && r->params[PARAM_FAIL].value == 1);
	/* A number alone is the failure's limit; a count takes a bare one. */
	r = parse(RULE "    value: members\n    at_least: 3\n");
	assert_true(r->at_least && r->params[PARAM_FAIL].value == 3);
	assert_null(r->params[PARAM_WARN].text.p);
}

/* Groups say what their rules do not say themselves; later files, what whole groups do. */
static void severities_of_groups(void **state)
{
	(void)state;
	parse("version: 1\n"
	      "groups: { memory: { severity: warn } }\n"
	      "rules:\n"
	      "  a: { group: memory, from: run, assert: mfu > 0 }\n"
	      "  b: { group: memory, from: run, assert: mfu > 0, severity: error }\n"
	      "  c: { group: copies, from: run, assert: mfu > 0 }\n");
	assert_int_equal(set.items[0]->severity, SEVERITY_WARN);
	assert_int_equal(set.items[1]->severity, SEVERITY_ERROR);
	assert_int_equal(set.items[2]->severity, SEVERITY_ERROR);
	parse("version: 1\n"
	      "extends: recommended\n"
	      "groups: { copies: { severity: off }, memory: { severity: warn } }\n"
	      "rules: { copy-share: { severity: error } }\n");
	for (ptrdiff_t i = 0; i < set.count; i++) {
		const struct rule *r = set.items[i];
		bool is_copies = str_eq(r->group.text, STR("copies"));

		if (str_eq(r->name, STR("copy-share")))
			assert_int_equal(r->severity, SEVERITY_ERROR);
		else if (is_copies || str_eq(r->group.text, STR("memory")))
			assert_int_equal(r->severity, is_copies ? SEVERITY_OFF : SEVERITY_WARN);
	}
}

#define MINE                                                                                       \
	"version: 1\n"                                                                             \
	"extends: recommended\n"                                                                   \
	"rules:\n"

static void retuning_what_is_inherited(void **state)
{
	(void)state;
	parse(MINE "  copy-share: { at_most: { fail: 5% } }\n"
		   "  slow-op: { severity: off }\n"
		   "  mine: { from: run, assert: mfu > 0.4 }\n");
	const struct rule *r = ruleset_rule(&set, STR("copy-share"));
	assert_true(param(r, "fail")->value == 0.05);
	assert_true(param(r, "warn")->value == 0.03);
	assert_str(param(r, "fail")->origin.doc->file, "t.yaml");
	assert_str(param(r, "warn")->origin.doc->file, "rules/recommended.yaml");
	assert_str(r->origin.doc->file, "rules/recommended.yaml");
	assert_str(r->title.origin.doc->file, "rules/recommended.yaml");
	assert_true(rule_is_from(r, STR("t.yaml")));
	assert_int_equal(ruleset_rule(&set, STR("slow-op"))->severity, SEVERITY_OFF);
	assert_ptr_equal(set.items[set.count - 1], ruleset_rule(&set, STR("mine")));
	assert_null(ruleset_rule(&set, STR("yours")));
	assert_int_equal(set.file_count, 2);
	assert_str(set.files[0], "t.yaml");
	assert_str(set.files[1], "rules/recommended.yaml");
	/* A warning looser than the new failure moves to it; a plain number is the failure. */
	parse(MINE "  copy-share: { at_most: 2% }\n");
	r = ruleset_rule(&set, STR("copy-share"));
	assert_true(param(r, "fail")->value == 0.02 && param(r, "warn")->value == 0.02);
	assert_str(param(r, "warn")->origin.doc->file, "t.yaml");
	parse(MINE "  copy-share: { at_most: { warn: 1% } }\n");
	r = ruleset_rule(&set, STR("copy-share"));
	assert_true(param(r, "fail")->value == 0.08 && param(r, "warn")->value == 0.01);
	/* A bare ratio takes the unit over. */
	parse(MINE "  copy-share: { at_most: 0.05 }\n");
	assert_int_equal(param(ruleset_rule(&set, STR("copy-share")), "fail")->unit, UNIT_RATIO);
	/* What takes the value's place takes its limits' place, too. */
	parse(MINE "  copy-share: { assert: share < 0.1 }\n");
	r = ruleset_rule(&set, STR("copy-share"));
	assert_null(r->value.text.p);
	assert_null(param(r, "fail")->text.p);
	/* And another value may have the other direction. */
	parse(MINE "  copy-share: { value: 1 - share, at_least: 1% }\n");
	r = ruleset_rule(&set, STR("copy-share"));
	assert_true(r->at_least && !param(r, "warn")->text.p);
}

/* ---- --set -------------------------------------------------------------------------------- */

static bool load_set(const char *name, const char *setting)
{
	struct str text = str_from(setting);
	const struct list settings = { &text, 1, 1 };

	return ruleset_load(engine, NULL, str_from(name), &settings, &keep, &set, &err);
}

/* Without a run a text has neither a field nor SQL left in it. */
static void assert_plain(const struct list *texts)
{
	for (ptrdiff_t i = 0; i < texts->count; i++)
		if (!texts->items[i].len || str_find_char(texts->items[i], '{') >= 0)
			fail_msg("%.*s", STR_ARG(texts->items[i]));
}

/* `rooflint explain` says of each: why, how it is measured, what to do, and when it is wrong. */
static void each_rule_explains_itself(void **state)
{
	struct rule_outline o;
	(void)state;
	assert_true(load_set("recommended", "copy-share.fail=8%"));
	for (ptrdiff_t i = 0; i < set.count; i++) {
		const struct rule *r = set.items[i];
		if (!r->why.text.len || !r->measured.text.len || !r->fix.count ||
			!r->wrong_when.text.len || !r->title.text.len)
			fail_msg("%.*s", STR_ARG(r->name));
		assert_true(rule_outline(&set, r, &keep, &o, &err));
		assert_true(o.fix.count <= r->fix.count && o.fix.count);
		assert_plain(&o.cause);
		assert_plain(&o.fix);
		assert_plain(&o.only_warns);
	}
}

static void settings(void **state)
{
	(void)state;
	assert_true(load_set("recommended", "copy-share.fail=5%"));
	const struct rule_param *fail = param(ruleset_rule(&set, STR("copy-share")), "fail");
	assert_true(fail->value == 0.05);
	assert_str(fail->text, "5%");
	assert_str(fail->origin.doc->file, "--set");
	assert_true(load_set("recommended", "copy-share.fail=2%")); /* the warning goes with it */
	assert_true(param(ruleset_rule(&set, STR("copy-share")), "warn")->value == 0.02);
	assert_true(load_set("recommended", "copy-share.at_most=5%"));
	assert_true(param(ruleset_rule(&set, STR("copy-share")), "fail")->value == 0.05);
	assert_true(load_set("recommended", "copy-share.at_most={ warn: 3%, fail: 5% }"));
	assert_true(param(ruleset_rule(&set, STR("copy-share")), "warn")->value == 0.03);
	assert_true(load_set("recommended", "copy-share.severity=off"));
	assert_int_equal(ruleset_rule(&set, STR("copy-share"))->severity, SEVERITY_OFF);
	assert_true(load_set("recommended", "slow-op.required=true"));
	assert_true(ruleset_rule(&set, STR("slow-op"))->required);
	assert_true(load_set("recommended", "slow-op.min_subjects=8"));
	assert_int_equal(ruleset_rule(&set, STR("slow-op"))->min_subjects, 8);
}

/* Limits of one rule are one setting, in whatever order they stand. */
static void settings_of_one_rule(void **state)
{
	static const struct {
		const char *texts[2];
		double warn; /* NaN: it lies beyond the failure */
	} cases[] = { { { "copy-share.warn=20%", "copy-share.fail=30%" }, 0.2 },
		{ { "copy-share.fail=30%", "copy-share.warn=20%" }, 0.2 },
		{ { "copy-share.warn=5%", "copy-share.fail=4%" }, NAN },
		{ { "copy-share.fail=4%", "copy-share.warn=5%" }, NAN } };
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct str texts[] = { str_from(cases[i].texts[0]), str_from(cases[i].texts[1]) };
		const struct list both = { texts, 2, 2 };
		bool ok = ruleset_load(engine, NULL, STR("recommended"), &both, &keep, &set, &err);
		assert_int_equal(ok, !isnan(cases[i].warn));
		if (ok)
			assert_true(param(ruleset_rule(&set, STR("copy-share")), "warn")->value ==
				    cases[i].warn);
		else
			assert_non_null(strstr(err.text, "warn 5% lies beyond fail 4%"));
	}
}

static void wrong_settings(void **state)
{
	static const struct {
		const char *setting, *error;
	} cases[] = {
		{ "copy-share", "--set copy-share: it takes rule.key=value, such as "
				"copy-share.fail=5%" },
		{ "copy-share=5", "--set copy-share=5: it takes rule.key=value, such as "
				  "copy-share.fail=5%" },
		{ "copy-shar.fail=5%",
			"--set:1:1: there is no rule 'copy-shar' to change; did you mean "
			"'copy-share'?\n"
			"  copy-shar: { at_most: { fail: 5% } }\n"
			"  ^~~~~~~~~" },
		{ "copy-share.fial=5%", "--set:1:25: rule copy-share has no limit or "
					"parameter 'fial'; did you mean "
					"'fail'?\n"
					"  copy-share: { params: { fial: 5% } }\n"
					"                          ^~~~" },
		{ "copy-share.fail=5 ms",
			"--set:1:32: copy-share.at_most.fail is a ratio (8%), and '5 ms' is a "
			"time\n"
			"  copy-share: { at_most: { fail: 5 ms } }\n"
			"                                 ^~~~" },
		{ "copy-share.fail=5",
			"--set:1:32: copy-share.at_most.fail is a ratio (8%): did you mean 5%? "
			"(5 is 500%)\n"
			"  copy-share: { at_most: { fail: 5 } }\n"
			"                                 ^" },
		{ "copy-share.fail=", "--set:1:30: copy-share.at_most.fail has no value\n"
				      "  copy-share: { at_most: { fail:  } }\n"
				      "                               ^" },
		{ "copy-share.warn=50%",
			"--set:1:32: warn 50% lies beyond fail 8%: it could never warn\n"
			"  copy-share: { at_most: { warn: 50% } }\n"
			"                                 ^~~" },
		{ "copy-share.severity=of",
			"--set:1:25: copy-share.severity is off, warn or error; did you mean "
			"'off'?\n"
			"  copy-share: { severity: of }\n"
			"                          ^~" },
		{ "matters.fail=5%", "--set:1:1: there is no rule 'matters' to change\n"
				     "  matters: { at_most: { fail: 5% } }\n"
				     "  ^~~~~~~" },
		{ "copy-share.assert=1",
			"--set:1:15: profiles and --set change limits, params, matters, "
			"severity, required, confirm and min_subjects of a rule, not 'assert'\n"
			"  copy-share: { assert: 1 }\n"
			"                ^~~~~~" },
		{ "copy-share.fail=[", "--set:1:34: mismatched flow mapping end\n"
				       "  copy-share: { at_most: { fail: [ } }\n"
				       "                                   ^" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_false(load_set("recommended", cases[i].setting));
		assert_string_equal(err.text, cases[i].error);
	}
}

/* ---- files -------------------------------------------------------------------------------- */

static char folder[64];
static int home; /* where the tests were started */

static int enter_folder(void **state)
{
	fresh(state);
	strcpy(folder, "/tmp/rooflint-test-XXXXXX"); /* style: a literal into a larger buffer */
	return !mkdtemp(folder) || chdir(folder);
}

static int leave_folder(void **state)
{
	char command[128];
	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return fchdir(home) || system(command); /* style: a test's own folder */
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static bool load(const char *path)
{
	return ruleset_load(engine, NULL, str_from(path), NULL, &keep, &set, &err);
}

static void extending_files(void **state)
{
	(void)state;
	mkdir("team", 0777);
	write_file("team/base.yaml", "version: 1\nrules:\n  a: { from: run, assert: mfu > :least, "
				     "params: { least: 40% } }\n");
	write_file("team/tpu.yaml", "version: 1\nextends: ./base.yaml\nrules:\n  b: { from: run, "
				    "assert: hfu > 0.5 }\n");
	write_file("mine.yaml", "version: 1\nextends: team/tpu.yaml\nrules:\n  a: { params: { "
				"least: 50% } }\n");
	assert_true(load("mine.yaml"));
	assert_int_equal(set.count, 2);
	assert_str(set.items[0]->name, "a");
	assert_true(set.items[0]->params[PARAM_OWN].value == 0.5);
	assert_int_equal(set.file_count, 3);
	assert_str(set.files[0], "mine.yaml");
	assert_str(set.files[1], "team/tpu.yaml");
	assert_str(set.files[2], "team/base.yaml");
	assert_str(set.items[0]->assert.origin.doc->file, "team/base.yaml");
}

/* What a file changes of a rule holds for those, too, that take their advice from it. */
static void advice_of_another(void **state)
{
	(void)state;
	write_file("base.yaml", "version: 1\nrules:\n"
				"  a: { from: run, assert: mfu > 0.4, cause: CA, fix: FA }\n"
				"  b: { from: run, assert: hfu > 0.4, fix: FB }\n"
				"  c: { from: run, assert: mfu > 0.1, advice_of: a, cause: CC }\n");
	write_file("fix.yaml", "version: 1\nextends: ./base.yaml\nrules:\n  a: { fix: NEW }\n");
	write_file("other.yaml",
		"version: 1\nextends: ./base.yaml\nrules:\n  c: { advice_of: b }\n");
	assert_true(load("fix.yaml"));
	assert_str(set.items[2]->fix.items[0].text.text, "NEW");
	assert_str(set.items[2]->cause.items[0].text.text, "CC");
	assert_true(load("other.yaml"));
	assert_str(set.items[2]->fix.items[0].text.text, "FB");
	assert_str(set.items[2]->cause.items[0].text.text, "CC");
}

/* What a rule file names must be one: an error would show its first line. */
static void extending_what_is_no_rule_file(void **state)
{
	(void)state;
	write_file("secret", "password: hunter2\n");
	write_file("nosy.yaml", "version: 1\nextends: ./secret\n");
	assert_false(load("nosy.yaml"));
	assert_null(strstr(err.text, "hunter2"));
	assert_non_null(strstr(err.text, "ends in .yaml"));
}

/* Nothing above the folder, by no name, and no line of what is no rule file. */
static void extending_strangers(void **state)
{
	static const struct {
		const char *extends, *error;
	} cases[] = {
		{ "../out.yaml", "lies below its own folder" },
		{ "./link.yaml", "lies below its own folder" },
		{ "sub/link.json", "lies below its own folder" },
		{ "./sub/../../out.yaml", "lies below its own folder" },
		{ "./token.yaml", "this is no rule file" },
		{ "./keys.json", "this is no rule file" },
		{ "./broken.yml", "this is no rule file" },
		{ "./pipe.yaml", "a regular file is needed" },
	};
	(void)state;
	mkdir("in", 0777);
	mkdir("sub", 0777);
	write_file("out.yaml", "version: 1\nhunter2: hunter2\n");
	write_file("in/token.yaml", "hunter2-hunter2\n");
	write_file("in/keys.json", "{ \"version\": 1, \"hunter2\": \"hunter2\" }\n");
	write_file("in/broken.yml", "version: 1\nhunter2: [\n");
	assert_int_equal(symlink("../out.yaml", "in/link.yaml"), 0);
	mkdir("in/sub", 0777);
	assert_int_equal(symlink("../../out.yaml", "in/sub/link.json"), 0);
	assert_int_equal(mkfifo("in/pipe.yaml", 0666), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		write_file("in/rooflint.yaml",
			arena_fmt(&keep, "version: 1\nextends: %s\n", cases[i].extends).p);
		assert_false(load("in/rooflint.yaml"));
		if (!strstr(err.text, cases[i].error) || strstr(err.text, "hunter2"))
			fail_msg("%s: %s", cases[i].extends, err.text);
	}
	assert_false(load("in/link.yaml")); /* the file itself, which a pull request can replace */
	assert_null(strstr(err.text, "hunter2"));
	assert_false(load("out.yaml")); /* but a user's own mistake is shown */
	assert_non_null(strstr(err.text, "hunter2"));
	write_file(
		"in/part.yaml", "version: 1\nrules: { a: { frm: run } }\n"); /* and a colleague's */
	write_file("in/rooflint.yaml", "version: 1\nextends: sub/same.yaml\n");
	assert_int_equal(symlink("../part.yaml", "in/sub/same.yaml"), 0);
	assert_false(load("in/rooflint.yaml"));
	assert_non_null(strstr(err.text, "frm"));
}

static void extending_in_circles(void **state)
{
	(void)state;
	write_file("a.yaml", "version: 1\nextends: ./b.yaml\n");
	write_file("b.yaml", "version: 1\nextends: a.yaml\n");
	assert_false(load("a.yaml"));
	assert_string_equal(err.text, "b.yaml:2:10: a.yaml extends itself\n"
				      "  extends: a.yaml\n"
				      "           ^~~~~~");
	write_file("c.yaml", "version: 1\nextends: x/../c.yaml\n");
	mkdir("x", 0777);
	assert_false(load("c.yaml"));
	assert_int_equal(err.id, DIAG_LIMIT);
	assert_non_null(strstr(err.text, "more than 16 files extend one another"));
	write_file("d.yaml", "version: 1\nextends: ./nowhere.yaml\n");
	assert_false(load("d.yaml"));
	assert_string_equal(err.text,
		"d.yaml:2:10: extends: cannot open 'nowhere.yaml': no such file or directory; a "
		"path begins at the folder of this file\n"
		"  extends: ./nowhere.yaml\n"
		"           ^~~~~~~~~~~~~~");
}

static void naming_a_set(void **state)
{
	(void)state;
	assert_false(load("recomended"));
	assert_string_equal(err.text, "cannot open 'recomended': no such file or directory\n"
				      "did you mean 'recommended'?");
	assert_false(load("nowhere/rooflint.yaml"));
	write_file("empty.yaml", "");
	assert_false(load("empty.yaml"));
	assert_false(load("."));
}

static void finding_the_file(void **state)
{
	(void)state;
	mkdir("x", 0777);
	mkdir("x/y", 0777);
	assert_null(ruleset_find(STR("."), &keep).p);
	write_file("rooflint.yaml", "version: 1\n");
	assert_str(ruleset_find(STR("."), &keep), "rooflint.yaml");
	assert_str(ruleset_find(STR(""), &keep), "rooflint.yaml");
	assert_str(ruleset_find(STR("x/y"), &keep), "x/y/../../rooflint.yaml");
	assert_int_equal(chdir("x/y"), 0);
	assert_str(ruleset_find(STR("."), &keep), "../../rooflint.yaml");
	mkdir("rooflint.yaml", 0777); /* a folder is no rule file */
	assert_str(ruleset_find(STR("."), &keep), "../../rooflint.yaml");
}

/* ---- the built-in sets -------------------------------------------------------------------- */

static void assert_prose(const struct rule *r, struct str text)
{
	if (!text.len || text.len > 700)
		fail_msg("%s: a text is missing or too long", arena_z(&keep, r->name));
}

static void recommended(void **state)
{
	static const char *const names[] = { "matmul-roofline", "oversized-all-gather",
		"copy-share", "peak-memory", "exposed-communication", "idle", "step-roofline",
		"data-quality" };
	(void)state;
	assert_true(load("recommended"));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_non_null(ruleset_rule(&set, str_from(names[i])));
	for (ptrdiff_t i = 0; i < set.count; i++) {
		const struct rule *r = set.items[i];

		assert_prose(r, r->title.text);
		assert_prose(r, r->message.text);
		assert_prose(r, r->why.text);
		assert_false(str_ends(r->title.text, STR(".")));
		for (int which = 0; which < 2; which++) {
			const struct advice_list *list = which ? &r->cause : &r->fix;

			assert_true(list->count > 0);
			for (ptrdiff_t k = 0; k < list->count; k++) {
				assert_prose(r, list->items[k].text.text);
				struct str text = list->items[k].text.text;
				struct str last = str_from_offset(
					text, str_rfind_char(str_trim(text), '\n') + 1);
				/* a sentence, or a command to copy */
				assert_true(
					str_ends(text, STR(".")) || str_starts(last, STR("  ")));
			}
		}
		assert_true(r->group.text.p != NULL);
	}
}

/* Rules over a table, or over a SELECT, that SQLite has seen whole. */
static ptrdiff_t statements(bool is_select)
{
	ptrdiff_t n = 0;

	for (ptrdiff_t i = 0; i < set.count; i++) {
		const struct listing *l = &set.items[i]->code->subjects;
		n += l->stmt && (l->select != NULL) == is_select;
	}
	return n;
}

/*
 * What ships is not shown to SQLite before a row is judged, but for SELECTs, whose columns only
 * SQLite knows: whole, unless they ask for columns of the run.  A copy of it, as any file, is.
 */
static void what_ships_is_checked_here(void **state)
{
	static const char *const names[] = { "recommended", "strict", "fleet" };
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_true(load(names[i]));
		assert_int_equal(statements(false), 0);
		ptrdiff_t selects = 0;
		for (ptrdiff_t k = 0; k < set.count; k++)
			selects += set.items[k]->select.text.p &&
				   !set.items[k]->code->subjects.run_columns.count;
		assert_int_equal(statements(true), selects);
		struct str text = embed_find(arena_fmt(&keep, "rules/%s.yaml", names[i]));
		if (!ruleset_parse(
			    engine, STR("copy.yaml"), arena_str(&keep, text), &keep, &set, &err))
			fail_msg("%s", err.text);
		if (!i)
			assert_int_equal(statements(false) + statements(true), set.count);
	}
}

static void strict_and_fleet(void **state)
{
	struct ruleset base;
	(void)state;
	assert_true(ruleset_load(engine, NULL, STR("recommended"), NULL, &keep, &base, &err));
	assert_true(load("strict"));
	assert_int_equal(set.file_count, 2);
	/* No limit is looser, and what strict says of a rule makes it stricter. */
	for (ptrdiff_t i = 0; i < set.count; i++) {
		const struct rule *is = set.items[i], *was = ruleset_rule(&base, is->name);
		bool is_stricter = !str_eq(is->can_fail.text, was->can_fail.text);
		assert_true(is->at_least == was->at_least);
		for (int k = PARAM_WARN; k <= PARAM_FAIL; k++) {
			double now = is->params[k].value, before = was->params[k].value;
			double by = is->at_least ? now - before : before - now;
			if (!isnan(before) && !(by >= 0))
				fail_msg("%.*s is looser", STR_ARG(is->name));
			is_stricter |= isnan(before) ? !isnan(now) : by > 0;
		}
		assert_true(is_stricter == rule_is_from(is, STR("rules/strict.yaml")));
	}
	for (int m = 0; m < MATTERS; m++)
		assert_true(set.matters[m].value <= base.matters[m].value);
	assert_true(load("fleet"));
	for (ptrdiff_t i = 0; i < set.count; i++)
		assert_true(set.items[i]->gate || set.items[i]->severity != SEVERITY_ERROR);
	assert_int_equal(set.file_count, 2);
}

static void too_many_rules(void **state)
{
	struct str text = STR("version: 1\nrules:\n");
	char *yaml = calloc(1, 64 * (RULES_MAX + 2));
	size_t n = (size_t)text.len;
	(void)state;
	memcpy(yaml, text.p, n);
	for (int i = 0; i <= RULES_MAX; i++)
		n += (size_t)sprintf(/* style: sized above */ yaml + n,
			"  r%d: { from: run, assert: mfu > 0 }\n", i);
	assert_false(ruleset_parse(engine, STR("t.yaml"), str_from(yaml), &keep, &set, &err));
	assert_int_equal(err.id, DIAG_LIMIT);
	free(yaml);
}

/* Each expression is fine, and SQLite refuses their sum: the rule is where that is. */
static void too_many_waivers(void **state)
{
	struct out *o = out_memory(&keep);
	(void)state;
	out_z(o, RULE "    assert: p50_s < 1\nwaivers:\n");
	for (int i = 0; i < 999; i++)
		out_z(o, "  - { rule: r, where: p50_s > 1, owner: me,\n"
			 "      reason: known, expires: 2027-01-31 }\n");
	assert_false(ruleset_parse(engine, STR("t.yaml"), out_text(o), &keep, &set, &err));
	assert_string_equal(err.text,
		"t.yaml:3:3: r: its expressions and its 999 waivers are too much for one "
		"statement: not valid SQL: too many columns in result set\n"
		"    r:\n"
		"    ^");
}

/* Deep nesting ends in a message, not in the stack. */
static void deep_nesting(void **state)
{
	static char yaml[20000];
	static const char *const openers[] = { "(", "-+", "not ", "(select ", "abs(" };
	(void)state;
	for (size_t i = 0; i < sizeof(openers) / sizeof(openers[0]); i++) {
		size_t n = (size_t)snprintf(yaml, sizeof(yaml), RULE "    assert: >-\n      ");

		for (int k = 0; k < 2000; k++)
			n += (size_t)snprintf(yaml + n, sizeof(yaml) - n, "%s", openers[i]);
		assert_false(
			ruleset_parse(engine, STR("t.yaml"), str_from(yaml), &keep, &set, &err));
	}
}

/* ---- the manual --------------------------------------------------------------------------- */

/* Each block of docs/rules.md that is marked as YAML is a rule file. */
static void examples_of_the_manual(void **state)
{
	struct input in;
	struct str rest, line, block = { NULL, 0 };
	int64_t number = 0, blocks = 0;
	(void)state;
	if (!input_open(STR("docs/rules.md"), &keep, &in, &err))
		skip(); /* not run from the repository's root */
	for (rest = in.bytes; rest.p; number++) {
		str_cut(rest, '\n', &line, &rest);
		if (str_eq(line, STR("```yaml"))) {
			block = str_head(rest, str_find(rest, STR("\n```")) + 1);
			struct str file = arena_fmt(&keep, "docs/rules.md+%lld", (long long)number);
			if (!ruleset_parse(engine, file, block, &keep, &set, &err))
				fail_msg("%s", err.text);
			blocks++;
		}
	}
	assert_true(blocks >= 5);
	input_close(&in);
}

int main(void)
{
	home = open(".", O_RDONLY);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(identity_is_what_judges, fresh),
		cmocka_unit_test_setup(refuses_the_document, fresh),
		cmocka_unit_test_setup(refuses_rules_and_keys, fresh),
		cmocka_unit_test_setup(refuses_params, fresh),
		cmocka_unit_test_setup(refuses_limits, fresh),
		cmocka_unit_test_setup(refuses_groups_and_places, fresh),
		cmocka_unit_test_setup(refuses_all_at_once, fresh),
		cmocka_unit_test_setup(refuses_names_in_sql, fresh),
		cmocka_unit_test_setup(refuses_types_in_sql, fresh),
		cmocka_unit_test_setup(refuses_grammar, fresh),
		cmocka_unit_test_setup(refuses_messages, fresh),
		cmocka_unit_test_setup(refuses_in_a_hurry, fresh),
		cmocka_unit_test_setup(ids_of_mistakes, fresh),
		cmocka_unit_test_setup(no_false_alarms, fresh),
		cmocka_unit_test_setup(what_ships_stands_as_a_users_file, fresh),
		cmocka_unit_test_setup(every_key, fresh),
		cmocka_unit_test_setup(defaults, fresh),
		cmocka_unit_test_setup(severities_of_groups, fresh),
		cmocka_unit_test_setup(retuning_what_is_inherited, fresh),
		cmocka_unit_test_setup(each_rule_explains_itself, fresh),
		cmocka_unit_test_setup(settings, fresh),
		cmocka_unit_test_setup(settings_of_one_rule, fresh),
		cmocka_unit_test_setup(wrong_settings, fresh),
		cmocka_unit_test_setup_teardown(extending_files, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(advice_of_another, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(
			extending_what_is_no_rule_file, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(extending_strangers, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(extending_in_circles, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(naming_a_set, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(finding_the_file, enter_folder, leave_folder),
		cmocka_unit_test_setup(recommended, fresh),
		cmocka_unit_test_setup(what_ships_is_checked_here, fresh),
		cmocka_unit_test_setup(strict_and_fleet, fresh),
		cmocka_unit_test_setup(too_many_rules, fresh),
		cmocka_unit_test_setup(too_many_waivers, fresh),
		cmocka_unit_test_setup(deep_nesting, fresh),
		cmocka_unit_test_setup(examples_of_the_manual, fresh),
	};
	return cmocka_run_group_tests(tests, NULL, done);
}
