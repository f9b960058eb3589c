#!/bin/sh
# rpm.sh FOLDER ARCHITECTURE OUT: an .rpm of the static programs in FOLDER (packaging/rooflint.spec).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tree=$(cd "$1" && pwd) out=$(cd "$3" && pwd)
SOURCE_DATE_EPOCH=$(git -C "$here" log -1 --format=%ct)
export SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
rpmbuild --quiet -bb --target "$2-linux" --define "_topdir $work" --define "tree $tree" \
	--define "version $(cat "$here/../VERSION")" --define "stamp $SOURCE_DATE_EPOCH" \
	--define '_buildhost localhost' --define 'use_source_date_epoch_as_buildtime 1' \
	--define 'clamp_mtime_to_source_date_epoch 1' --define '_binary_payload w9.xzdio' \
	"$here/rooflint.spec"
cp "$work"/RPMS/*/*.rpm "$out/"
