#!/bin/sh
# test-macos.sh DIST: on macOS, what DIST holds for it (dist.sh makes that on Linux): the signature, the
# wheel in a fresh environment with its tests, the tar file to a red verdict, and the formula, built
# and tested by Homebrew from the sources in DIST.
set -eu
dist=$(cd "$1" && pwd)
top=$(cd "$(dirname "$0")/.." && pwd)
version=$(cat "$top/VERSION")
arch=$(uname -m | sed s/arm64/aarch64/)
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT

# red PROGRAM: the demo fails, by the rule that it should.
red()
{
	"$1" check -q --markdown - "$top/tests/profiles/demo" >"$box/said" && exit 1
	grep oversized-all-gather "$box/said"
}

echo '==> wheel'
python3 -m venv "$box/venv"
"$box/venv/bin/pip" -q install --no-index --find-links "$dist" rooflint
"$box/venv/bin/pip" -q install "$(grep '^pytest==' "$top/packaging/requirements.txt")"
[ "$arch" != aarch64 ] || codesign --verify --verbose "$box/venv/bin/rooflint"
red "$box/venv/bin/rooflint"
(cd "$box" && TOP=$top "$box/venv/bin/python" -m pytest -q -p no:cacheprovider \
	"$top/packaging/python/test_rooflint.py")

echo '==> tar file'
tar -xzf "$dist/rooflint-$version-macos-$arch.tar.gz" -C "$box"
"$box/rooflint-$version-macos-$arch/bin/rooflint" --version
red "$box/rooflint-$version-macos-$arch/bin/rooflint"
# Messages over TLS to this machine, by rooflint-http.
ROOFLINT=$box/rooflint-$version-macos-$arch/bin/rooflint \
	python3 "$top/tests/interop/test_notify.py"

echo '==> formula'
brew tap-new --no-git rooflint/release
formula=$(brew --repository)/Library/Taps/rooflint/homebrew-release/Formula/rooflint.rb
sed "s|^  url .*|  url \"file://$dist/rooflint-$version.tar.gz\"|" "$dist/rooflint.rb" >"$formula"
HOMEBREW_NO_AUTO_UPDATE=1 brew install --build-from-source rooflint/release/rooflint
brew test rooflint/release/rooflint
brew uninstall rooflint/release/rooflint
brew untap rooflint/release
