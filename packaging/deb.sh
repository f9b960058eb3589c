#!/bin/sh
# deb.sh FOLDER ARCHITECTURE OUT: a Debian package of the static programs in FOLDER.  It depends on
# nothing, so that one file is for every release of Debian and Ubuntu.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tree=$1 out=$3
version=$(cat "$here/../VERSION")
case $2 in
x86_64) arch=amd64 ;;
aarch64) arch=arm64 ;;
esac
SOURCE_DATE_EPOCH=$(git -C "$here" log -1 --format=%ct)
export SOURCE_DATE_EPOCH
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
umask 022
chmod 755 "$root"
doc=$root/usr/share/doc/rooflint
mkdir -p "$root/DEBIAN" "$root/usr/bin" "$root/usr/libexec/rooflint" \
	"$root/usr/share/lintian/overrides"
install -m 755 "$tree/bin/rooflint" "$root/usr/bin/"
install -m 755 "$tree/libexec/rooflint/rooflint-http" "$root/usr/libexec/rooflint/"
cp -r "$tree"/share/* "$root/usr/share/"
gzip -n9 "$root"/usr/share/man/man1/*.1
mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions" # as Debian has it
rm "$doc/LICENSE" "$doc/NEWS.md"

# Its own licence, then the copyright files of what is linked in.
{
	cat <<-END
	Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
	Upstream-Name: rooflint
	Comment: The libraries that are linked in have their own licences, in licenses/ beside this file.

	Files: *
	Copyright: 2026 the authors of rooflint
	License: Apache-2.0
	 On Debian systems the licence is in /usr/share/common-licenses/Apache-2.0.
	END
} >"$doc/copyright"
{
	printf 'rooflint (%s) stable; urgency=medium\n\n' "$version"
	printf '  * What is new stands in NEWS.md of the sources.\n\n'
	printf ' -- rooflint <rooflint@users.noreply.github.com>  %s\n' "$(date -R -u -d "@$SOURCE_DATE_EPOCH")"
} | gzip -n9 >"$doc/changelog.gz"
cat >"$root/usr/share/lintian/overrides/rooflint" <<'END'
# One file for every release, and for machines without the libraries; a new release of rooflint
# carries what Debian mends in them (packaging/libraries).
rooflint: statically-linked-binary
rooflint: embedded-library
# A static program that is loaded anywhere looks like a library.
rooflint: shared-library-lacks-prerequisites
# It is no package of Debian, so there is no report that asked for it.
rooflint: initial-upload-closes-no-bugs
END
cat >"$root/DEBIAN/control" <<END
Package: rooflint
Version: $version
Architecture: $arch
Maintainer: rooflint <rooflint@users.noreply.github.com>
Installed-Size: $(du -sk --apparent-size "$root/usr" | cut -f1)
Section: devel
Priority: optional
Suggests: ca-certificates, git
Description: linter for accelerator performance
 rooflint reads the profiles that JAX and XLA jobs write, puts every op beside
 what the hardware could have done (its roofline), and judges the result with a
 rule file that lives in git. The verdict goes to the terminal, to JUnit XML, to
 a page with pictures, to chat and into the exit status.
END
(cd "$root" && find usr -type f -exec md5sum {} + | LC_ALL=C sort -k2 >DEBIAN/md5sums)
chmod -R u=rwX,go=rX "$root"
dpkg-deb --root-owner-group -Zxz --build "$root" "$out/rooflint_${version}_$arch.deb" >/dev/null
