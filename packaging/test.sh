#!/bin/sh
# test.sh: what dist-linux.sh left in build/dist/, as its users meet it.  JAX=1 tests the recording of
# a job, too.  Minutes; a nightly and a release call it (make test-packaging).
set -eu
cd "$(dirname "$0")/.."
version=$(cat VERSION)
here=$(uname -m)
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT

echo '==> the same verdict on both architectures, byte by byte'
for arch in x86_64 aarch64; do
	rooflint=build/dist/rooflint-$version-linux-$arch/bin/rooflint
	[ "$arch" = "$here" ] || rooflint="qemu-$arch-static $rooflint"
	# shellcheck disable=SC2086 # qemu and the program
	$rooflint check -v --html "$box/$arch.html" --json "$box/$arch.json" tests/profiles/demo \
		>"$box/$arch.txt" && exit 1
	for file in html json txt; do
		cmp "$box/$arch.$file" "$box/x86_64.$file"
	done
	! strings -a "build/dist/rooflint-$version-linux-$arch/bin/rooflint" \
		"build/dist/rooflint-$version-linux-$arch/libexec/rooflint/rooflint-http" |
		grep -F "$PWD" || exit 1
done

echo '==> the certificates of each system'
packaging/test-authorities.py "build/dist/rooflint-$version-linux-$here/libexec/rooflint/rooflint-http"

echo '==> wheels'
for platform in manylinux_2_17 musllinux_1_1; do
	for arch in x86_64 aarch64; do
		pip=build/packaging/venv/bin/pip
		"$pip" -q download --no-deps --no-index --find-links build/dist \
			--only-binary :all: --platform "${platform}_$arch" -d "$box/$platform" rooflint
	done
done
packaging/test-python.sh build/dist/*"manylinux2014_$here"*.whl

echo '==> .deb and .rpm'
lintian --allow-root --fail-on error,warning build/dist/*.deb
if command -v rpm >/dev/null; then
	mkdir "$box/rpm"
	rpm --root "$box/rpm" --dbpath /var/lib/rpm --noscripts -i "build/dist/rooflint-$version-1.$here.rpm"
	"$box/rpm/usr/bin/rooflint" --version
fi

echo '==> the sources compile for macOS, where the formula builds them'
zig=$(build/packaging/venv/bin/python -c 'import ziglang; print(ziglang.__path__[0])')/zig
objects=$(for file in */*.c; do echo "$box/macos/${file%.c}.o"; done)
# shellcheck disable=SC2046,SC2086 # lists
PKG_CONFIG_LIBDIR=$(echo build/packaging/"$here"-*/prefix/lib/pkgconfig | tr ' ' :) \
	make -s UNAME=Darwin O="$box/macos" CC="$zig cc -target aarch64-macos" CFLAGS=-w $objects >/dev/null

echo '==> bare roots'
packaging/test-roots.sh build/dist
