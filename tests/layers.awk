# awk -f layers.awk layers.txt FILE...: report every include that layers.txt does not allow.

FNR == NR {
	if ($1 ~ /:$/) {
		folder = substr($1, 1, length($1) - 1)
		known[folder] = 1
		for (i = 2; i <= NF; i++)
			may[folder, $i] = 1
	}
	next
}

FNR == 1 {
	here = FILENAME
	sub(/\/.*/, "", here)
	if (!(here in known))
		fail(here "/ is not listed in tests/layers.txt")
}

/^[ \t]*#[ \t]*include[ \t]*"/ {
	there = $0
	sub(/^[^"]*"/, "", there)
	if (there !~ /\//)
		fail("an include names its folder: \"" here "/" there)
	sub(/\/.*/, "", there)
	if (there !~ /"/ && there != here && !((here, there) in may))
		fail(here "/ may not include " there "/")
}

function fail(what)
{
	print FILENAME ":" FNR ": " what
	failed = 1
}

END { exit failed }
