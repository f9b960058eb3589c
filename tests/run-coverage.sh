#!/bin/sh
# Line coverage after a run of instrumented programs: tests/run-coverage.sh BUILD-FOLDER SOURCE...
set -eu
cd "$(dirname "$0")/.."
build=$1
shift
for source in "$@"; do
	data=$build/${source%.c}.gcda
	if [ -f "$data" ]; then
		gcov -n -o "${data%/*}" "$source" 2>/dev/null
	else
		printf "File '%s'\nLines executed:0.00%% of %d\n" "$source" \
			"$(grep -c '[;{}]' "$source")"
	fi
done | awk -F "[':% ]+" '
/^File / { file = $2; next }
/^Lines executed/ && file ~ /^[a-z]+\/[a-z_0-9]+\.c$/ && !(file in seen) {
	seen[file] = 1
	room = file
	sub(/\/.*/, "", room)
	hit = $3 * $5 / 100
	lines[room] += $5; hits[room] += hit; all += $5; allhit += hit
	printf "%6.1f%% of %5d  %s\n", $3, $5, file
}
{ file = "" }
END {
	for (room in lines) printf "%6.1f%% of %5d  %s/\n", 100 * hits[room] / lines[room], lines[room], room | "sort -k4"
	close("sort -k4")
	if (all) printf "%6.1f%% of %5d  all\n", 100 * allhit / all, all
}'
