# awk -f style.awk FILE...: what the compiler does not check.  Run it with LC_ALL=C.
#
# - calls that are banned everywhere, or outside the folders that own them
# - STR_ARG, which evaluates its argument twice, of something that changes a variable
# - function length: over 40 lines is listed, over 80 is an error unless the comment above the
#   function holds "style: one switch"
# - lines over 100 columns, blanks at the end, indentation by blanks
# Ends with the median and the 90th percentile of function lengths.
#
# A line whose comment holds "style:" and a reason may use a banned call: a library demands it.

BEGIN {
	split("strcpy strcat sprintf vsprintf gets strtok atoi atol atof alloca system popen tmpnam " \
		"setlocale", list)
	for (i in list)
		everywhere[list[i]] = 1
	split("printf fprintf vprintf vfprintf puts fputs putchar perror exit", list)
	for (i in list)
		outside_cmd[list[i]] = 1
	split("malloc calloc realloc free strdup strndup", list)
	for (i in list)
		outside_base[list[i]] = 1
}

FNR == 1 {
	in_comment = in_function = excused = 0
	folder = FILENAME
	sub(/\/.*/, "", folder)
	is_test = folder == "tests"
}

{
	if ($0 ~ /[ \t\r]$/)
		fail("blanks at the end of the line")
	if ($0 ~ /^\t*        / && !in_comment)
		fail("indentation is by tabs")
	if (columns($0) > 100)
		fail("longer than 100 columns")
	if ($0 ~ /style: one switch/)
		excused = 1
	reason = $0 ~ /style:/
	code = strip($0)
	if (!reason)
		check_calls(code)
	check_twice(code)
	measure(code)
}

# Width with tabs of 8; a UTF-8 character counts once.
function columns(line,    at, width)
{
	gsub(/[\200-\277]/, "", line)
	width = 0
	while ((at = index(line, "\t")) > 0) {
		width += at - 1
		width += 8 - width % 8
		line = substr(line, at + 1)
	}
	return width + length(line)
}

# The line without comments, strings and character constants; `in_comment` lasts over lines.
function strip(line,    out, at)
{
	out = ""
	for (;;) {
		if (in_comment) {
			at = index(line, "*/")
			if (!at)
				return out
			line = substr(line, at + 2)
			in_comment = 0
		}
		if (!match(line, /["']|\/\*|\/\//))
			return out line
		out = out substr(line, 1, RSTART - 1)
		if (substr(line, RSTART, 2) == "//")
			return out
		if (substr(line, RSTART, 2) == "/*") {
			line = substr(line, RSTART + 2)
			in_comment = 1
		} else {
			line = after_quote(substr(line, RSTART + 1), substr(line, RSTART, 1))
			out = out " "
		}
	}
}

function after_quote(line, quote,    c)
{
	while (line != "") {
		c = substr(line, 1, 1)
		if (c == "\\")
			line = substr(line, 2)
		line = substr(line, 2)
		if (c == quote)
			break
	}
	return line
}

# Every name before a parenthesis; one behind '.' or '>' is a member, not the library's.
function check_calls(code,    before, name)
{
	while (match(code, /[A-Za-z_][A-Za-z_0-9]*[ \t]*\(/)) {
		before = RSTART > 1 ? substr(code, RSTART - 1, 1) : ""
		name = substr(code, RSTART, RLENGTH - 1)
		sub(/[ \t]*$/, "", name)
		code = substr(code, RSTART + RLENGTH)
		if (before ~ /[.>]/)
			continue
		if (name in everywhere)
			fail(name "() is banned")
		else if (name in outside_cmd && folder != "cmd" && folder != "http" && !is_test)
			fail(name "() is for programs alone: a library returns its error")
		else if (name in outside_base && folder != "base" && !is_test)
			fail(name "() is for base/ alone: use an arena")
	}
}

function check_twice(code,    at, depth, c)
{
	while ((at = index(code, "STR_ARG(")) > 0) {
		code = substr(code, at + 8)
		depth = 1
		for (at = 1; depth > 0 && at <= length(code); at++) {
			c = substr(code, at, 1)
			depth += (c == "(") - (c == ")")
		}
		if (substr(code, 1, at - 1) ~ /\+\+|--|[^=!<>]=[^=]/)
			fail("STR_ARG() evaluates its argument twice, and this one changes a variable")
	}
}

# Functions open and close with a brace in the first column (.clang-format).
function measure(code)
{
	if (!in_function && code ~ /^[A-Za-z_].*\(/) {
		head = FNR
		name = code
		sub(/[ \t]*\(.*/, "", name)
		sub(/.*[^A-Za-z_0-9]/, "", name)
	}
	if (!in_function && code ~ /^\{/)
		in_function = 1
	else if (in_function && code ~ /^\}/) {
		in_function = 0
		note(name, FNR - head)
		excused = 0
	}
}

function note(name, lines)
{
	if (is_test)
		return
	lengths[lines]++
	functions++
	if (lines > 80 && !excused) {
		print FILENAME ":" head ": " name " is " lines " lines long, 80 is the limit"
		failed = 1
	} else if (lines > 40)
		long[++longs] = sprintf("  %3d %s:%d %s", lines, FILENAME, head, name)
}

function fail(what)
{
	print FILENAME ":" FNR ": " what
	failed = 1
}

function percentile(share,    n, seen)
{
	seen = 0
	for (n = 0; n < 100000; n++) {
		seen += lengths[n]
		if (seen >= share * functions)
			return n
	}
}

END {
	if (longs)
		print "functions over 40 lines:"
	for (i = 1; i <= longs; i++)
		print long[i]
	if (functions)
		printf "%d functions, median %d lines, 90th percentile %d\n", functions,
			percentile(0.5), percentile(0.9)
	exit failed
}
