#!/bin/sh
# Print the C table of embedded files (base/embed.h) for the files named, sorted by name.
# POSIX tools only: a build needs neither python nor xxd.  A file that the folder INSTEAD has, too,
# is taken from there, under its own name.
set -eu
export LC_ALL=C

printf '#include "base/embed.h"\n\nconst struct embedded embedded_files[] = {\n'
count=0
if [ $# -gt 0 ]; then
	# Octal, because an octal escape ends by itself after three digits.
	for file in $(printf '%s\n' "$@" | sort -u); do
		from=$file
		[ ! -f "${INSTEAD:-}/$file" ] || from=$INSTEAD/$file
		bytes=$(($(wc -c <"$from")))
		printf '\t{ "%s",\n\t\t{ ""\n' "$file"
		od -A n -v -t o1 "$from" | sed -e 's/[^0-7]*$//' -e '/./!d' -e 's/[^0-7][^0-7]*/\\/g' \
			-e 's/^/\t\t\t"/' -e 's/$/"/'
		printf '\t\t, %d } },\n' "$bytes"
		count=$((count + 1))
	done
fi
printf '\t{ (const char *)0, { (const char *)0, 0 } },\n};\n'
printf 'const ptrdiff_t embedded_count = %d;\n' "$count"
