#!/bin/sh
# dist-linux.sh: what a release holds for Linux, for x86_64 and aarch64 (ARCHITECTURES): in
# build/dist/ a tar file of the static programs and the manual, a wheel, and SHA256SUMS.  The first
# time builds the libraries, which takes minutes; the same commit gives the same bytes.
set -eu
cd "$(dirname "$0")/.."
version=$(cat VERSION)
venv=build/packaging/venv
stamp=$(git log -1 --format=%ct)
mkdir -p build/packaging build/dist

if ! cmp -s packaging/requirements.txt "$venv/requirements.txt"; then
	python3 -m venv "$venv"
	"$venv/bin/pip" -q install -r packaging/requirements.txt
	cp packaging/requirements.txt "$venv/"
fi
for arch in ${ARCHITECTURES:-x86_64 aarch64}; do
	name=rooflint-$version-linux-$arch
	tree=build/dist/$name
	rm -rf "$tree"
	PYTHON="$venv/bin/python" packaging/static.sh "$arch" "$tree"
	mkdir -p "$tree/share/man/man1"
	cp docs/man/*.1 "$tree/share/man/man1/"
	cp LICENSE NEWS.md "$tree/"
	tar --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$stamp" \
		-C build/dist -c "$name" | gzip -n9 >"$tree.tar.gz"
	python3 packaging/wheel.py "$tree" \
		"manylinux_2_17_$arch.manylinux2014_$arch.musllinux_1_1_$arch" build/dist
done
cd build/dist && sha256sum ./*.tar.gz ./*.whl | sed 's,\./,,' >SHA256SUMS && cat SHA256SUMS
