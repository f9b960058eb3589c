#!/bin/sh
# test-roots.sh DIST: what DIST holds, installed in bare roots and brought to a red verdict on the demo:
# an empty folder, and Debian and Ubuntu releases as far as mmdebstrap can fetch them (ROOTS).  The
# last line counts.  Needs root, or a kernel that lets a user have namespaces.
set -eu
dist=$(cd "$1" && pwd)
top=$(cd "$(dirname "$0")/.." && pwd)
version=$(cat "$top/VERSION")
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
passed=0 failed=0 skipped=0
case $(uname -m) in
x86_64) arch=amd64 ;;
aarch64) arch=arm64 ;;
esac

# red NAME COMMAND...: the demo fails, by the rule that it should, and how long that took.
red()
{
	name=$1
	shift
	start=$(date +%s%N)
	"$@" check -q --markdown - /demo >"$box/said" 2>&1 && status=0 || status=$?
	ms=$((($(date +%s%N) - start) / 1000000))
	if [ "$status" -eq 1 ] && grep -q oversized-all-gather "$box/said"; then
		passed=$((passed + 1))
		echo "  $name: red in $ms ms"
	else
		failed=$((failed + 1))
		echo "FAIL $name: status $status"
		sed 's/^/    /' "$box/said"
	fi
}

# Nothing but the program: no libc, no /tmp, no /proc.
mkdir -p "$box/empty"
tar -xzf "$dist/rooflint-$version-linux-$(uname -m).tar.gz" --strip-components 1 -C "$box/empty"
cp -r "$top/tests/profiles/demo" "$box/empty/demo"
red 'empty root, tar' unshare -r chroot "$box/empty" /bin/rooflint

for suite in ${ROOTS:-bookworm trixie noble}; do
	root=$box/$suite
	if ! mmdebstrap --quiet --mode=root --variant=apt --include=python3-venv,man-db "$suite" \
		"$root" 2>"$box/log"; then
		echo "  $suite: skipped, $(tail -n 1 "$box/log")"
		skipped=$((skipped + 1))
		continue
	fi
	cp -r "$top/tests/profiles/demo" "$root/demo"
	cp "$dist"/*.whl "$dist/rooflint_${version}_$arch.deb" "$root/"
	chroot "$root" dpkg -i "/rooflint_${version}_$arch.deb" >"$box/log" || cat "$box/log"
	red "$suite, .deb" chroot "$root" rooflint
	chroot "$root" dpkg -P rooflint >"$box/log" || cat "$box/log"
	[ ! -e "$root/usr/libexec/rooflint" ] || { echo "FAIL $suite: files stay"; failed=$((failed + 1)); }
	chroot "$root" sh -c "python3 -m venv /v && /v/bin/pip -q install --no-index --find-links / rooflint"
	red "$suite, wheel" chroot "$root" /v/bin/rooflint
	rm -rf "$root"
done
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
