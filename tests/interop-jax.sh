#!/bin/sh
# Against JAX and XProf themselves: make interop-jax (minutes, and a machine that does little else).
#
# A virtual environment gets jax, flax, optax, xprof and a wheel of this build. Then, one after the
# other: the wheel's tests, with jobs that they record; docs/example, green and red; the jobs of
# tests/jobs recorded anew and held against their own clocks; planted faults, red, and their mended
# twins, green; what the builder writes against XProf's converters, number by number. The last line
# sums up.
#
# From the environment: O (build folder), ROOFLINT (the program), VENV (build/interop-jax).
set -u
cd "$(dirname "$0")/.." || exit 2
top=$(pwd)
venv=${VENV:-$top/build/interop-jax}
python=$venv/bin/python
box=$(mktemp -d) || exit 2
trap 'rm -rf "$box"' EXIT
passed=0 failed=0

# part NAME COMMAND...: run it; a line of totals that it ends with is added, else it counts as one.
part()
{
	name=$1
	shift
	printf '==> %s\n' "$name"
	"$@" >"$box/log" 2>&1
	status=$?
	counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed.*/\1 \2/p' "$box/log" | tail -n 1)
	[ -n "$counts" ] || counts=$([ "$status" -eq 0 ] && echo 1 0 || echo 0 1)
	[ "$status" -eq 0 ] || [ "${counts#* }" -gt 0 ] || counts="${counts% *} 1"
	[ "$status" -eq 0 ] || tail -n 40 "$box/log"
	printf '    %s passed, %s failed\n' "${counts% *}" "${counts#* }"
	passed=$((passed + ${counts% *})) failed=$((failed + ${counts#* }))
}

set -e
[ -x "$python" ] || python3 -m venv "$venv"
"$venv/bin/pip" -q install jax libtpu flax optax xprof pytest
mkdir -p "$box/tree/bin" "$box/tree/libexec/rooflint" "$box/tree/share/man/man1"
cp "$ROOFLINT" "$box/tree/bin/rooflint"
cp "$(dirname "$ROOFLINT")/rooflint-http" "$box/tree/libexec/rooflint/"
cp docs/man/rooflint.1 "$box/tree/share/man/man1/"
# For this machine's python: the program is linked with this machine's libraries.
tag=$("$python" -c 'import sysconfig; print(sysconfig.get_platform().replace("-", "_"))')
wheel=$(python3 packaging/wheel.py "$box/tree" "$tag" "$box")
"$venv/bin/pip" -q install --no-index --force-reinstall "$wheel"
"$venv/bin/pip" list 2>/dev/null | grep -iE '^(jax|jaxlib|flax|optax|xprof) '
set +e

export JAX_PLATFORMS=cpu PROFILES="${PROFILES:-$top/../shared/profiles}"
part 'the wheel' env TOP="$top" "$python" -m pytest -q -p no:cacheprovider \
	packaging/python/test_rooflint.py
part 'docs/example' packaging/test-example.sh "$python"
part 'jobs, recorded' sh -c "cd '$box' && '$python' '$top/tests/jobs/record.py' '$box/jobs'"
part 'jobs, against their clocks' python3 tests/jobs/compare.py --rooflint "$ROOFLINT" \
	--jobs "$box/jobs"
part 'planted faults' sh -c "cd '$box' && '$python' '$top/tests/jobs/faults.py' '$box/faults'"
part "XProf's converters" "$python" tests/oracle/opens.py --rooflint "$ROOFLINT"
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
