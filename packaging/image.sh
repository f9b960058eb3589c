#!/bin/sh
# image.sh FOLDER ARCHITECTURE TAG: a container image of the static programs in FOLDER, with podman,
# buildah or docker, whichever is there.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
case $2 in
x86_64) arch=amd64 ;;
aarch64) arch=arm64 ;;
esac
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
cp -r "$1/bin" "$1/libexec" "$1/share" "$here/Containerfile" "$context/"
cp /etc/ssl/certs/ca-certificates.crt "$context/"
mkdir -m 1777 "$context/tmp"
stamp=$(git -C "$here" log -1 --format=%ct)
for builder in podman buildah docker; do
	command -v "$builder" >/dev/null || continue
	[ "$builder" = docker ] || same=--timestamp="$stamp"
	# shellcheck disable=SC2086 # no word when there is none
	"$builder" build ${same:-} --platform "linux/$arch" -t "$3" -f "$context/Containerfile" \
		"$context"
	exit
done
echo 'image.sh: needs podman, buildah or docker' >&2
exit 2
