#!/bin/sh
# dist.sh SYSTEM: what a release holds for SYSTEM, linux or macos, for x86_64 and aarch64
# (ARCHITECTURES): in build/dist/ a tar file of the static programs and the manual, a wheel, the list
# of what is inside (CycloneDX), on Linux a .deb and an .rpm where there is rpmbuild, and SHA256SUMS.
# The first time builds the libraries, which takes minutes; the same commit gives the same bytes.
set -eu
cd "$(dirname "$0")/.."
system=$1
version=$(cat VERSION)
venv=build/packaging/venv
stamp=$(git log -1 --format=%ct)
mkdir -p build/packaging build/dist

if ! cmp -s packaging/requirements.txt "$venv/requirements.txt"; then
	python3 -m venv "$venv"
	"$venv/bin/pip" -q install -r packaging/requirements.txt
	cp packaging/requirements.txt "$venv/"
fi
zig=$("$venv/bin/python" -c 'import ziglang; print(ziglang.__path__[0])')
for arch in ${ARCHITECTURES:-x86_64 aarch64}; do
	case $system in
	linux) runtime=musl platform=manylinux_2_17_$arch.manylinux2014_$arch.musllinux_1_1_$arch ;;
	macos) runtime=compiler-rt platform=macosx_11_0_$(echo "$arch" | sed s/aarch64/arm64/) ;;
	esac
	name=rooflint-$version-$system-$arch
	tree=build/dist/$name
	rm -rf "$tree"
	PYTHON="$venv/bin/python" packaging/static.sh "$system-$arch" "$tree"
	licenses=$tree/share/doc/rooflint/licenses
	mkdir "$licenses"
	while read -r library rest; do
		[ "$library" = '#' ] || cp "build/packaging/sources/$library/debian/copyright" \
			"$licenses/$library"
	done <packaging/libraries
	cp "$zig/LICENSE" "$licenses/zig"
	[ "$runtime" != musl ] || cp "$zig/lib/libc/musl/COPYRIGHT" "$licenses/musl"
	python3 packaging/sbom.py "$tree" build/packaging/sources "$runtime" \
		>"$tree/share/doc/rooflint/sbom.cdx.json"
	find "$tree" -exec touch -h -d "@$stamp" {} +
	tar --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
		-C build/dist -c "$name" | gzip -n9 >"$tree.tar.gz"
	python3 packaging/wheel.py "$tree" "$platform" build/dist
	if [ "$system" = linux ]; then
		packaging/deb.sh "$tree" "$arch" build/dist
		! command -v rpmbuild >/dev/null || packaging/rpm.sh "$tree" "$arch" build/dist
	fi
	cp "$tree/share/doc/rooflint/sbom.cdx.json" "$tree.cdx.json"
done
cd build/dist
find . -maxdepth 1 -type f ! -name SHA256SUMS | LC_ALL=C sort | xargs sha256sum | sed 's,\./,,' >SHA256SUMS
cat SHA256SUMS
