#!/bin/sh
# test.sh: what dist.sh left in build/dist/ for both systems, as its users meet it.  JAX=1 tests the recording of
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
for platform in manylinux_2_17_x86_64 manylinux_2_17_aarch64 musllinux_1_1_x86_64 \
	musllinux_1_1_aarch64 macosx_14_0_arm64 macosx_13_0_x86_64; do
	build/packaging/venv/bin/pip -q download --no-deps --no-index --find-links build/dist \
		--only-binary :all: --platform "$platform" -d "$box/wheels" rooflint
done
build/packaging/venv/bin/twine check --strict build/dist/*.whl
packaging/test-python.sh build/dist/*"manylinux2014_$here"*.whl

echo '==> .deb and .rpm'
lintian --allow-root --fail-on error,warning build/dist/*.deb
if command -v rpm >/dev/null; then
	mkdir "$box/rpm"
	rpm --root "$box/rpm" --dbpath /var/lib/rpm --noscripts -i "build/dist/rooflint-$version-1.$here.rpm"
	"$box/rpm/usr/bin/rooflint" --version
fi

echo '==> macOS: the wheels, and the formula as Homebrew would call it'
python3 packaging/test-macho.py build/dist/*-macosx_*.whl
.ci/deps
make -s dist
packaging/formula.sh https://example.org/rooflint "build/rooflint-$version.tar.gz" >"$box/rooflint.rb"
ruby packaging/test-formula.rb "$box/rooflint.rb" "build/rooflint-$version.tar.gz"

echo '==> bare roots'
packaging/test-roots.sh build/dist
