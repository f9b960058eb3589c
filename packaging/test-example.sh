#!/bin/sh
# test-example.sh PYTHON: docs/example as its README goes, with a python that has jax, pytest and the
# wheel: green, and red with the reason when its loader is slow.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
cp -r "$top/docs/example/." "$box"
cd "$box"
export JAX_PLATFORMS=cpu
"$1" train.py --profile runs
"$(dirname "$1")/rooflint" check -q runs --inconclusive=pass
"$(dirname "$1")/rooflint" check -q runs && status=0 || status=$?
[ "$status" -eq 4 ] || { echo "test-example.sh: status $status on a CPU, not 4" >&2 && exit 1; }
"$1" -m pytest -q -p no:cacheprovider
if SLOW=1 "$1" -m pytest -q -p no:cacheprovider >log; then
	cat log
	echo 'test-example.sh: a slow loader is green' >&2
	exit 1
fi
grep -q '^FAIL  ' log && grep -q 'waits for the host\|next batch' log
