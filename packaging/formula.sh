#!/bin/sh
# formula.sh HOMEPAGE SOURCES.tar.gz: the Homebrew formula of a release, on stdout.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
sed -e "s|@HOMEPAGE@|$1|g" -e "s|@VERSION@|$(cat "$here/../VERSION")|g" \
	-e "s|@SHA256@|$(sha256sum "$2" | cut -d' ' -f1)|" "$here/rooflint.rb"
