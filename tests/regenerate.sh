#!/bin/sh
# Write everything again that the program or the tests write themselves: make regenerate.
#
# Pages, man pages and schemas in docs/, the examples in README.md and docs/hlo.md, tests/profiles/demo,
# and what golden cases expect.  The tests compare what is committed with the same sources: golden
# cases `pages` and `hlo-page`, test_report_json and test_builder.
#
# From the environment: O (build folder), ROOFLINT (the program), CASES.
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."
top=$(pwd)
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT

# keep FILE: the text on stdin in place of it, if it is another.
keep()
{
	cat >"$new/text"
	cmp -s "$new/text" "$1" && return
	cp "$new/text" "$1"
	echo "  wrote $1"
}

"$ROOFLINT" rules schema recommended | keep docs/rules.schema.json
for test in report_json report_html tables facts; do
	UPDATE=1 "$O/tests/unit/test_$test" >"$new/log" 2>&1 || { cat "$new/log" && exit 1; }
done
mkdir "$new/man"
tests/man.sh "$ROOFLINT" docs/man "$new/man"
for page in "$new"/man/*.1; do
	keep "docs/man/${page##*/}" <"$page"
done

# As many lines of the demo's report as README.md shows.
"$ROOFLINT" check tests/profiles/demo >"$new/demo" || :
awk -v demo="$new/demo" '/^    FAIL/ { shown = 1 }
/^    make test$/ {
	while (shown++ < lines && (getline line <demo) > 0)
		print line == "" ? "" : "    " line
	print ""
	shown = 0
}
shown { lines++ }
!shown { print }' README.md | keep README.md

# Each command of the page with what it prints.
ln -s "$ROOFLINT" "$new/rooflint"
PATH=$new:$PATH awk '/^    \$ rooflint / {
	print
	said = substr($0, 7)
	while ((said | getline line) > 0)
		print "    " line
	close(said)
	shown = 1
	next
}
!/^    / { shown = 0 }
!shown { print }' docs/hlo.md | keep docs/hlo.md

python3 tests/builder/build.py tests/builder/scenarios/demo.toml "$new/demo-built" >/dev/null
for file in $(cd "$new/demo-built" && find . -type f); do
	keep "tests/profiles/demo/$file" <"$new/demo-built/$file"
done

O=$O ROOFLINT=$ROOFLINT UPDATE=1 CASES=${CASES:-} "$top/tests/run-all.sh" golden
