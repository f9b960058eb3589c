#!/bin/sh
# What `make demo` shows: a check of the profile that the project carries, which must find the fault.
cd "$(dirname "$0")/.." || exit 2
echo '$ build/rooflint check tests/profiles/demo'
page=${TMPDIR:-/tmp}/rooflint-demo.html
build/rooflint check tests/profiles/demo --html "$page"
status=$?
echo
if [ $status -ne 1 ]; then
	echo "demo: expected exit status 1 (a rule failed), got $status" >&2
	exit 1
fi
echo 'Exit status 1: a rule failed, which would stop a pipeline here.'
echo "The page of it, with pictures: $page"
echo 'Now yours: build/rooflint check LOGDIR'
