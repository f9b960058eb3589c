#!/bin/sh
# libFuzzer on every target, or on the ones named, for FUZZ_SECONDS each.  What is found stays in
# build/fuzz/; a crash belongs into tests/fuzz/corpus/<target>/ together with its fix.
set -eu
cd "$(dirname "$0")/.."
: "${O:?}" "${FUZZ_SECONDS:=60}"

[ $# -gt 0 ] || for source in tests/fuzz/fuzz_*.c; do
	target=$(basename "$source" .c)
	set -- "$@" "${target#fuzz_}"
done
failed=
for target in "$@"; do
	found=build/fuzz/$target
	seeds=tests/fuzz/corpus/$target
	mkdir -p "$found"
	set -- -max_total_time="$FUZZ_SECONDS" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
		-artifact_prefix="build/fuzz/$target-" "$found"
	[ ! -d "$seeds" ] || set -- "$@" "$seeds"
	[ ! -f "tests/fuzz/$target.dict" ] || set -- -dict="tests/fuzz/$target.dict" "$@"
	echo "fuzz $target: $FUZZ_SECONDS s"
	"$O/tests/fuzz/fuzz_$target" "$@" >"build/fuzz/$target.log" 2>&1 || failed="$failed $target"
	case " $failed " in
	*" $target "*) tail -n 40 "build/fuzz/$target.log" ;;
	*) sed -n 's/^stat::number_of_executed_units: */  runs /p' "build/fuzz/$target.log" ;;
	esac
done
[ -z "$failed" ] || { echo "fuzz: failed:$failed" >&2 && exit 1; }
