#!/bin/sh
# Manual pages in roff, of what the program's own --help prints: man.sh ROOFLINT OLD NEW.
#
# NEW gets a page for each command, and the program's own page, which is OLD's but for its commands.
set -eu
export LC_ALL=C
rooflint=$1 old=$2 new=$3
page='
function roff(s)
{
	gsub(/\\/, "\\e", s)
	gsub(/-/, "\\-", s)
	return (s ~ /^[.\047]/ ? "\\&" : "") s
}
NR == 1 { # usage: rooflint hlo [options] TEXT|FILE
	name = $3
	has_options = $4 == "[options]"
	sub(/^usage: rooflint [a-z]+ ?(\[options\] ?)?/, "")
	arguments = roff($0)
	next
}
part == 0 && NR > 2 && !NF { # the summary is over
	part = 1
	if (entry) {
		printf ".TP\n\\fBrooflint\\-%s\\fR(1) %s\n%s\n", name, arguments, roff(summary)
		exit
	}
	printf ".TH ROOFLINT\\-%s 1 \"\" \"rooflint\"\n", name
	printf ".SH NAME\nrooflint\\-%s \\- %s\n.SH SYNOPSIS\n", name, roff(summary)
	printf "\\fBrooflint %s\\fR%s %s\n", name, has_options ? " [\\fIoptions\\fR]" : "", arguments
	print ".SH DESCRIPTION"
	next
}
part == 0 && NF { summary = summary (summary ? " " : "") $0 }
part == 1 && /^Options:/ {
	if (literal)
		print ".fi"
	if (!told)
		print roff(summary)
	if (has_options)
		print ".SH OPTIONS"
	part = 2
	next
}
part == 1 && !NF { gap = told }
part == 1 && NF {
	if (literal != /^ /)
		print /^ / ? ".PP\n.nf" : ".fi"
	else if (gap)
		print literal ? "" : ".PP"
	literal = /^ /
	gap = 0
	told = 1
	print roff($0)
}
part == 2 && /^  -h, --help/ { exit }
part == 2 && /^  (-[a-z],|   ) --/ { # its name, its argument, and what help has room for beside them
	match($0, /--[a-z-]+( [^ ]+)?/)
	option = substr($0, RSTART, RLENGTH)
	text = substr($0, RSTART + RLENGTH)
	split(option, words, " ")
	print ".TP"
	if (/^  -/)
		printf "\\fB\\-%s\\fR, ", substr($0, 4, 1)
	printf "\\fB%s\\fR%s\n", roff(words[1]), words[2] ? " \\fI" roff(words[2]) "\\fR" : ""
	sub(/^ +/, "", text)
	if (text)
		print roff(text)
	next
}
part == 2 && NF {
	sub(/^ +/, "")
	print roff($0)
}
END {
	if (!entry)
		print ".SH SEE ALSO\n\\fBrooflint\\fR(1)"
}'
commands=$("$rooflint" --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p')
for command in $commands; do
	"$rooflint" "$command" --help | awk "$page" >"$new/rooflint-$command.1"
done
{
	sed '/^\.SH COMMANDS/q' "$old/rooflint.1"
	for command in $commands; do
		"$rooflint" "$command" --help | awk -v entry=1 "$page"
	done
	sed -n '/^\.SH EXIT STATUS/,$p' "$old/rooflint.1"
} >"$new/rooflint.1"
