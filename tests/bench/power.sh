#!/bin/sh
# The tables of docs/statistics.md, simulated again: they are those that the program prints.
#
# POWER names tests/bench/power.c's program; SEED and NIGHTS are its arguments (7, 10000).  With
# UPDATE=1 what it prints takes the place of what stands between the two marks.  Fails when they differ,
# or when the program does: more than 1% of quiet nights fail at a noise of up to 1.5%, or what is
# assumed costs power where there are five baselines.
set -eu
export LC_ALL=C
cd "$(dirname "$0")/../.."
page=docs/statistics.md
new=$(mktemp) old=$(mktemp)
trap 'rm -f "$new" "$old"' EXIT
status=0
"${POWER:?the program to run}" "${SEED:-7}" "${NIGHTS:-10000}" >"$new" || status=$?
if [ "${UPDATE:-}" ]; then
	awk -v new="$new" '
		/^<!-- end -->$/ { skip = 0 }
		!skip
		/^<!-- make bench-power -->$/ { while ((getline line <new) > 0) print line; skip = 1 }
		' "$page" >"$old"
	cat "$old" >"$page"
fi
sed -n '/^<!-- make bench-power -->$/,/^<!-- end -->$/p' "$page" | sed '1d;$d' >"$old"
diff -u "$old" "$new" && echo "$page: the numbers are those of the simulation"
exit "$status"
