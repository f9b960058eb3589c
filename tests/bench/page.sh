#!/bin/sh
# What a page costs: size and writing time for a thousand ops and a hundred steps (page.toml), beside
# the check alone, medians of 11 in turns.  From the environment: O, ROOFLINT.
set -eu
export LC_ALL=C
cd "$(dirname "$0")/../.."
top=$(pwd)
: "${O:?}" "${ROOFLINT:?}"
case $O in
/*) cost=$O/tests/bench/cost ;;
*) cost=$top/$O/tests/bench/cost ;;
esac
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
trap 'exit 130' INT TERM
cd "$box"

python3 "$top/tests/builder/build.py" "$top/tests/bench/page.toml" paged >/dev/null
"$cost" 11 "$ROOFLINT" check paged -- "$ROOFLINT" check --json page.json paged \
	-- "$ROOFLINT" check --html page.html paged -- "$ROOFLINT" render --html again.html page.json \
	>cost.txt
cmp page.html again.html

awk -v page="$(($(wc -c <page.html)))" -v json="$(($(wc -c <page.json)))" '
{ ms[FNR] = $1 * 1000; code[FNR] = $3 }
END {
	print "1137 ops, 100 steps, 23 MB, median of 11 in turns"
	printf "  rooflint check           %8.2f ms  exit %d\n", ms[1], code[1]
	printf "  rooflint check --json    %8.2f ms  exit %d  %.2f MB\n", ms[2], code[2], json / 1e6
	printf "  rooflint check --html    %8.2f ms  exit %d  %.2f MB\n", ms[3], code[3], page / 1e6
	printf "  rooflint render --html   %8.2f ms  exit %d\n", ms[4], code[4]
	exit !(code[3] ~ /^[014]$/ && code[4] == 0 && page < 2e6)
}' cost.txt
