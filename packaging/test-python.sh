#!/bin/sh
# test-python.sh WHEEL: the wheel as a user meets it: what its tags promise, its types, and its tests
# in a fresh virtual environment, with jax where JAX=1 lets that be fetched.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
wheel=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
tools=$top/build/packaging/venv/bin
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT

"$tools/auditwheel" show "$wheel" 2>/dev/null | grep 'requires no external shared libraries'
python3 -m venv "$box/venv"
"$box/venv/bin/pip" -q install --no-index "$wheel"
"$box/venv/bin/pip" -q install "$(grep '^pytest==' "$top/packaging/requirements.txt")" ${JAX:+jax flax optax}
"$tools/mypy" --strict --ignore-missing-imports --allow-untyped-decorators \
	--python-executable "$box/venv/bin/python" -p rooflint --cache-dir "$box/mypy"
cd "$box" # away from the sources
TOP=$top JAX_PLATFORMS=cpu "$box/venv/bin/python" -m pytest -q -p no:cacheprovider \
	"$top/packaging/python/test_rooflint.py"
[ -z "${JAX:-}" ] || "$top/packaging/test-example.sh" "$box/venv/bin/python"
