#!/bin/sh
# Run groups of tests and count them: tests/run-all.sh [unit golden fuzz builder oracle jobs modules xprof
# scenarios interop hostile]; all of them without arguments, where hostile is a part of interop
#
# Prints what failed, one line per group, and last `N passed, N failed[, N skipped]`.  Ends with 1
# when a test failed, when a program crashed or when there was nothing to run.
#
# Groups run side by side, and what ends first prints first; a group must not mind others beside it.
#
# From the environment: O (build folder), ROOFLINT (the program), SAN, UPDATE and CASES (golden),
# PROFILES (real captures; by default ../shared/profiles), JOBS, EMULATOR (before unit tests).
set -u
export LC_ALL=C
cd "$(dirname "$0")/.." || exit 2
top=$(pwd)

: "${O:=build}" "${JOBS:=2}" "${SAN:=}" "${EMULATOR:=}"
ROOFLINT=${ROOFLINT:-$top/$O/rooflint}
PROFILES=${PROFILES:-$top/../shared/profiles}
CARRIED=$top/tests/profiles
# What Python compiles is kept, apart from the sources: packages come without.
PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX=$top/build/pycache
UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export O ROOFLINT PROFILES CARRIED JOBS SAN EMULATOR UBSAN_OPTIONS
export PYTHONDONTWRITEBYTECODE PYTHONPYCACHEPREFIX

if [ "${1:-}" != --one ] && [ "${1:-}" != --suite ]; then
	work=$(mktemp -d) || exit 2
	trap 'rm -rf "$work"' EXIT
	trap 'exit 130' INT TERM
	LIMIT=
	! command -v timeout >/dev/null 2>&1 || LIMIT='timeout 1200'
	export LIMIT work
fi

# ---- groups: each prints its failures and ends with the line `N passed, N failed, N skipped` ------

totals='{ p += $1; f += $2; s += $3 } END { printf "%d passed, %d failed, %d skipped\n", p, f, s }'

# One line of counts from a cmocka program's TAP.  A program that died, stopped before its last test
# or ran none has failed once more than its tests say.
tap='
/^1\.\.[0-9]/ { planned += substr($0, 4) }
/^(not )?ok [0-9]+ # SKIP/ { s++; next }
/^not ok / { f++ }
/^ok / { p++ }
END { if (p + f + s < planned || p + f + s == 0 || (status && !f)) f++; print p + 0, f + 0, s + 0 }'

group_unit()
{
	for source in tests/unit/test_*.c; do
		[ ! -f "$source" ] || basename "$source" .c
	done >"$work/programs"
	# shellcheck disable=SC2016 # $1 is the inner shell's
	xargs -P "$JOBS" -I '{}' sh -c '
		CMOCKA_MESSAGE_OUTPUT=TAP $LIMIT $EMULATOR "$O/tests/unit/$1" >"$work/$1.tap" 2>&1
		echo $? >"$work/$1.status"' run '{}' <"$work/programs"
	while read -r program; do
		status=$(cat "$work/$program.status")
		counts=$(awk -v status="$status" "$tap" "$work/$program.tap")
		echo "$counts" >>"$work/unit.counts"
		case $counts in
		*' 0 '*) ;;
		*)
			echo "FAIL tests/unit/$program.c (status $status)"
			grep -v -e '^ok ' -e '# SKIP' "$work/$program.tap" | sed 's/^/    /'
			;;
		esac
	done <"$work/programs"
	cat "$work/unit.counts" 2>/dev/null | awk "$totals"
}

# With chips of their own (Makefile); SHIPPED is the program that users get.
group_golden()
{
	export SHIPPED="$ROOFLINT"
	ROOFLINT=$(dirname "$ROOFLINT")/rooflint-golden
	# shellcheck disable=SC2086 # a list of words
	sh tests/golden/run.sh ${CASES:-}
}

# A target takes its whole corpus in one process; after a failure each file gets its own, so that
# one crash does not hide the files behind it.
group_fuzz()
{
	for source in tests/fuzz/fuzz_*.c; do
		[ -f "$source" ] || continue
		target=$(basename "$source" .c)
		set --
		for file in "tests/fuzz/corpus/${target#fuzz_}"/*; do
			[ ! -f "$file" ] || set -- "$@" "$file"
		done
		if $LIMIT "$O/tests/fuzz/$target" "$@" >"$work/$target.out" 2>&1; then
			echo $(($# + 1)) 0 0 >>"$work/fuzz.counts"
			continue
		fi
		for file in '' "$@"; do
			# shellcheck disable=SC2086 # no file is the empty input
			$LIMIT "$O/tests/fuzz/$target" ${file:+"$file"} >"$work/$target.out" 2>&1
			status=$?
			if [ $status -eq 0 ]; then
				echo 1 0 0
			else
				echo 0 1 0
				echo "FAIL $O/tests/fuzz/$target $file (status $status)" >&2
				tail -n 40 "$work/$target.out" | sed 's/^/    /' >&2
			fi
		done >>"$work/fuzz.counts"
	done
	cat "$work/fuzz.counts" 2>/dev/null | awk "$totals"
}

# Python unittest suites: test*.py in a folder, standard library only.
unittest='
/^Ran [0-9]+ test/ { n = $2 }
/^(OK|FAILED)/ || /^NO TESTS RAN/ {
	if (match($0, /failures=[0-9]+/)) f += substr($0, RSTART + 9, RLENGTH - 9)
	if (match($0, /errors=[0-9]+/)) f += substr($0, RSTART + 7, RLENGTH - 7)
	if (match($0, /skipped=[0-9]+/)) s = substr($0, RSTART + 8, RLENGTH - 8)
}
END { if (status && !f) f = 1; p = n - f - s; print (p > 0 ? p : 0), f + 0, s + 0 }'

# python_suite FOLDER [MODULE...]: all of them when none is named
python_suite()
{
	folder=$1
	shift
	if ! command -v python3 >/dev/null 2>&1; then
		echo "skip $folder: needs python3"
		echo 0 0 1 | awk "$totals"
		return
	fi
	log=$(mktemp "$work/XXXXXX")
	[ $# -gt 0 ] || set -- discover
	(cd "$folder" && python3 -m unittest "$@" -v) >"$log" 2>&1
	status=$?
	[ $status -eq 0 ] || { echo "FAIL $folder" && sed 's/^/    /' "$log"; }
	sed -n "s,^\([^ ]*\) .* skipped '\(.*\)'\$,skip $folder/\1: \2,p" "$log"
	awk -v status=$status "$unittest" "$log" | awk "$totals"
}

group_builder()
{
	python_suite tests/builder
}

# An independent walk of the same bytes, compared number by number; prints its own totals last.
group_oracle()
{
	if ! command -v python3 >/dev/null 2>&1; then
		echo 'skip tests/oracle: needs python3'
		echo '0 passed, 0 failed, 1 skipped'
		return
	fi
	$LIMIT python3 tests/oracle/compare.py --rooflint "$ROOFLINT"
}

# Real jobs, each with its own clock, against what is said of them.
group_jobs()
{
	if ! command -v python3 >/dev/null 2>&1; then
		echo 'skip tests/jobs: needs python3'
		echo '0 passed, 0 failed, 1 skipped'
		return
	fi
	$LIMIT python3 tests/jobs/compare.py --rooflint "$ROOFLINT"
}

# Compiled programs, each with what its compiler and arithmetic say of it.
group_modules()
{
	if ! command -v python3 >/dev/null 2>&1; then
		echo 'skip tests/modules: needs python3'
		echo '0 passed, 0 failed, 1 skipped'
		return
	fi
	$LIMIT python3 tests/modules/compare.py --rooflint "$ROOFLINT"
}

# XProf reads what the builder writes; XPROF_PYTHON names a Python that has it.
group_xprof()
{
	python=${XPROF_PYTHON:-python3}
	if ! command -v "$python" >/dev/null 2>&1; then
		echo 'skip tests/oracle/opens.py: needs python3'
		echo '0 passed, 0 failed, 1 skipped'
		return
	fi
	$LIMIT "$python" tests/oracle/opens.py --rooflint "$ROOFLINT"
}

# Built situations against the verdict each rule should give.
group_scenarios()
{
	if ! command -v python3 >/dev/null 2>&1; then
		echo 'skip tests/scenarios: needs python3'
		echo '0 passed, 0 failed, 1 skipped'
		return
	fi
	for script in scenarios/run scenarios/told scenarios/written scenarios/nights scenarios/planted \
		scenarios/recompiled mutation/run oom/run; do
		$LIMIT python3 "tests/$script.py" >"$work/scenario.out" 2>&1
		sed '$d' "$work/scenario.out"
		tail -n 1 "$work/scenario.out" | awk '
			/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { print $1, $3, $5; next }
			{ print 0, 1, 0 }' >>"$work/scenarios.counts"
	done
	awk "$totals" "$work/scenarios.counts"
}

# What we write, in the hands of the programs it is written for; each is skipped where it is absent.
# A test waits more than it computes, so more run at a time than there are processors; the largest
# files take longest, and begin first.
group_interop()
{
	interop_packages
	# shellcheck disable=SC2016 # $1 is the inner shell's
	ls -S tests/interop/test_*.py | xargs -n 1 basename -s .py | xargs -P "$((JOBS + 1))" -I '{}' sh -c '
		sh tests/run-all.sh --suite tests/interop "$1" >"$work/suite.$1"' run '{}'
	sed -s '$d' "$work"/suite.*
	tail -q -n 1 "$work"/suite.* | awk '{ print $1, $3, $5 }' | awk "$totals"
}

interop_packages()
{
	! command -v python3 >/dev/null 2>&1 || python3 tests/interop/packages.py 2>&1
}

# The part of interop in which servers send what our C has to refuse: what sanitizers should see.
group_hostile()
{
	interop_packages
	python_suite tests/interop test_bucket_faults test_notify
}

# ---- the run ------------------------------------------------------------------------------------

# What a group has to say, and its counts for the sum.
one()
{
	"group_$1" >"$work/$1.out" 2>&1
	line=$(tail -n 1 "$work/$1.out")
	sed '$d' "$work/$1.out" >"$work/$1.said"
	group=$1
	# shellcheck disable=SC2086 # the words of `N passed, N failed, N skipped`
	set -- $line
	case $line in
	[0-9]*' passed, '[0-9]*' failed, '[0-9]*' skipped') ;;
	*)
		printf '%s\n' "$line" >>"$work/$group.said"
		set -- 0 passed, 1 failed, 0 skipped
		;;
	esac
	printf '%-8s %s passed, %s failed%s\n' "$group" "$1" "$3" \
		"$([ "$5" = 0 ] || echo ", $5 skipped")" >>"$work/$group.said"
	echo "$1 $3 $5" >"$work/$group.sum"
	cat "$work/$group.said"
}

if [ "${1:-}" = --one ]; then
	one "$2"
	exit 0
fi
if [ "${1:-}" = --suite ]; then
	shift
	python_suite "$@"
	exit 0
fi

# Those that take longest come first; interop, which waits more than it computes, beside JOBS others.
all='interop oracle scenarios jobs modules xprof unit golden builder fuzz'
[ $# -gt 0 ] || set -- $all
for group in "$@"; do
	case " $all hostile " in
	*" $group "*) ;;
	*)
		echo "run-all.sh: no group of tests is called '$group'" >&2
		exit 2
		;;
	esac
done
for group in hostile $all; do
	case " $* " in
	*" $group "*) echo "$group" ;;
	esac
done | xargs -P "$((JOBS + 1))" -n 1 sh tests/run-all.sh --one

passed=0 failed=0 skipped=0
for group in "$@"; do
	# A group that was killed has said nothing.
	counts=$(cat "$work/$group.sum" 2>/dev/null || echo 0 1 0)
	# shellcheck disable=SC2086 # three numbers
	set -- $counts
	passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
done
if [ $((passed + failed)) -eq 0 ]; then
	echo 'no tests were run' >&2
	failed=1
fi
tail=
[ $skipped -eq 0 ] || tail=", $skipped skipped"
echo "$passed passed, $failed failed$tail"
[ $failed -eq 0 ]
