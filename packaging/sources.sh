#!/bin/sh
# sources.sh FOLDER: the libraries' sources (packaging/libraries) into FOLDER, each patched by
# Debian and in a folder of its package's name.  They come from where this Debian 12's own packages
# come from.  apt checks what it fetches against Debian's signed
# lists, which holds for each file (--no-check: its packager's key adds nothing); it keeps its state below
# FOLDER, so the system's own lists stay as they are, and no root is needed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/apt/lists/partial" "$1/apt/parts"
cd "$1"
for list in /etc/apt/sources.list.d/*.sources; do
	[ ! -e "$list" ] || sed 's/^Types:.*/Types: deb-src/' "$list"
	echo
done >apt/parts/system.sources
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
	[ ! -e "$list" ] || sed -n 's/^deb /deb-src /p' "$list"
done >apt/parts/system.list
printf '%s "%s";\n' Dir::State "$PWD/apt" Dir::State::status /dev/null Dir::Cache "$PWD/apt" \
	Dir::Etc::sourcelist /dev/null Dir::Etc::sourceparts "$PWD/apt/parts" >apt.conf
export APT_CONFIG="$PWD/apt.conf"

updated=
update_lists()
{
	[ -n "$updated" ] || apt-get -q -q -o Acquire::Retries=3 update
	updated=1
}

if [ -n "${UPDATE:-}" ]; then
	update_lists
	while read -r name version module; do
		[ "$name" = '#' ] && echo "# $version $module" && continue
		version=$(apt-cache showsrc --only-source "$name" | sed -n 's/^Version: //p' |
			while read -r v; do
				dpkg --compare-versions "$v" gt "${newest:-0}" && newest=$v
				echo "$newest"
			done | tail -n 1)
		echo "$name $version $module"
	done <"$here/libraries" >libraries.new
	cat libraries.new >"$here/libraries"
fi

while read -r name version module; do
	[ "$name" != '#' ] || continue
	[ "$(cat "$name.version" 2>/dev/null)" != "$version" ] || continue
	update_lists
	apt-get -q -q -o Acquire::Retries=3 source --download-only "$name=$version" || {
		echo "sources.sh: Debian has no $name $version; UPDATE=1 takes today's versions" >&2
		exit 1
	}
	rm -rf "$name"
	dpkg-source -q --no-check -x "${name}_${version#*:}.dsc" "$name"
	echo "$version" >"$name.version"
done <"$here/libraries"
