#!/bin/sh
# Golden cases: tests/golden/run.sh [case...].  See README.md in this folder.
# The last line is `N passed, N failed, N skipped`.
set -u
export LC_ALL=C
golden=$(cd "$(dirname "$0")" && pwd) || exit 2
: "${JOBS:=2}" "${UPDATE:=}" "${LIMIT:=}"
: "${ROOFLINT:?the program to test}" "${SHIPPED:=$ROOFLINT}"
PROFILES=${PROFILES:-$golden/../../../shared/profiles}
CARRIED=${CARRIED:-$golden/../profiles}

# Expected against seen, as a diff; an expected file that is missing stands for an empty one.
compare()
{
	want=$golden/$1/$2
	[ -f "$want" ] || want=/dev/null
	if [ ! -f "$3" ]; then
		echo "$2 was not written"
		return
	fi
	diff -u -L "$1/$2" -L "$2 now" "$want" "$3"
}

# Keep `$3` as the case's file `$2`; an empty one is kept by having none.
rewrite()
{
	if [ -s "$3" ]; then
		cmp -s "$3" "$golden/$1/$2" || cp "$3" "$golden/$1/$2"
	else
		rm -f "$golden/$1/$2"
	fi
}

one()
{
	box=$WORK/boxes/$1
	mkdir -p "$box"
	if [ ! -f "$golden/$1/cmd" ]; then
		echo "FAIL golden/$1" >"$box/result"
		echo "    there is no $1/cmd" >>"$box/result"
		return
	fi
	if grep -q PROFILES "$golden/$1/cmd" && [ ! -d "$PROFILES" ]; then
		echo "skip golden/$1: needs the real captures of ../shared/profiles" >"$box/result"
		return
	fi
	cp -R "$golden/$1" "$box/here"
	(cd "$box/here" && mv cmd .. && rm -rf stdout stderr status expect)
	# Names that are the same on every machine, as they show up in messages.
	ln -s "$PROFILES" "$box/profiles"
	ln -s "$CARRIED" "$box/carried"
	(
		cd "$box/here" &&
			# shellcheck disable=SC2086 # LIMIT is a list of words
			env -i PATH="$WORK/bin:$PATH" HOME="$box" TMPDIR="$box" LC_ALL=C TZ=UTC0 \
				ROOFLINT=rooflint SHIPPED=rooflint-shipped PROFILES=../profiles CARRIED=../carried \
				ASAN_OPTIONS="${ASAN_OPTIONS:-}" LSAN_OPTIONS="${LSAN_OPTIONS:-}" \
				UBSAN_OPTIONS="${UBSAN_OPTIONS:-}" \
				$LIMIT sh ../cmd
	) >"$box/stdout" 2>"$box/stderr" </dev/null
	status=$?
	: >"$box/status"
	[ $status -eq 0 ] || echo $status >"$box/status"

	for file in stdout stderr status; do
		[ -z "$UPDATE" ] || rewrite "$1" $file "$box/$file"
		compare "$1" $file "$box/$file"
	done >"$box/diff"
	for file in $(cd "$golden/$1" && find expect -type f 2>/dev/null | sort); do
		[ -z "$UPDATE" ] || [ ! -f "$box/here/${file#expect/}" ] ||
			cp "$box/here/${file#expect/}" "$golden/$1/$file"
		compare "$1" "$file" "$box/here/${file#expect/}"
	done >>"$box/diff"
	if [ -s "$box/diff" ]; then
		echo "FAIL golden/$1" && sed 's/^/    /' "$box/diff"
	else
		echo "ok golden/$1"
	fi >"$box/result"
}

if [ "${1:-}" = --one ]; then
	one "$2"
	exit
fi

WORK=$(mktemp -d) || exit 2
trap 'rm -rf "$WORK"' EXIT
trap 'exit 130' INT TERM
export WORK UPDATE PROFILES CARRIED LIMIT
mkdir "$WORK/bin" || exit 2
ln -s "$ROOFLINT" "$WORK/bin/rooflint"
ln -s "$SHIPPED" "$WORK/bin/rooflint-shipped"

if [ $# -gt 0 ]; then
	printf '%s\n' "$@"
else
	(cd "$golden" && find . -name cmd -type f | sed -e 's,^\./,,' -e 's,/cmd$,,')
fi | sort >"$WORK/cases"
[ ! -s "$WORK/cases" ] || xargs -P "$JOBS" -n 1 sh "$golden/run.sh" --one <"$WORK/cases"
while read -r name; do
	cat "$WORK/boxes/$name/result"
done <"$WORK/cases" | awk '
/^ok / { passed++; next }
/^FAIL / { failed++ }
/^skip / { skipped++ }
{ print }
END {
	printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
	exit failed > 0
}'
