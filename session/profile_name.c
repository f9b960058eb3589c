/* Names of profiles.  See profile_name.h. */
#include "session/profile_name.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/out.h"

/* Without "." and empty steps.  ".." behind a name stays: the name may be a link. */
static struct str tidy_path(struct str path, struct arena *keep)
{
	struct out *o = out_memory(keep);
	bool is_absolute = str_starts(path, STR("/"));
	struct str part;
	while (str_next(&path, '/', &part)) {
		if (!part.len || str_eq(part, STR(".")))
			continue;
		out_fmt(o, "%s%.*s", is_absolute || out_text(o).len ? "/" : "", STR_ARG(part));
	}
	if (out_text(o).len)
		return out_text(o);
	return is_absolute ? STR("/") : STR(".");
}

/* The part of a tidy path below a directory; missing where it does not lie there. */
static struct str below(struct str path, struct str dir)
{
	if (!str_take(&path, dir))
		return MISSING;
	if (!path.len)
		return STR(".");
	return str_take(&path, STR("/")) && path.len ? path : MISSING;
}

/* This directory as its user came to it, through links; missing: the shell does not say it. */
static struct str logical_cwd(void)
{
	const char *pwd = getenv("PWD");
	struct stat said, here;
	bool is_here = pwd && *pwd == '/' && !stat(pwd, &said) && !stat(".", &here) &&
		       said.st_dev == here.st_dev && said.st_ino == here.st_ino;
	return is_here ? str_from(pwd) : MISSING;
}

struct str profile_name(struct str path, struct arena *keep)
{
	char buf[4096];
	struct str cwd = str_from(getcwd(buf, sizeof(buf))), name = { NULL, 0 };
	if (str_contains(path, STR("://"))) /* a bucket: its slashes are part of names */
		return arena_str(keep, path_trim(path));
	path = tidy_path(path, keep);
	if (cwd.p && str_starts(path, STR("../"))) {
		struct str up = cwd, rest = path; /* cwd is without links, so a step up is known */
		while (up.len && str_take(&rest, STR("../")))
			up = str_head(up, str_rfind_char(up, '/'));
		name = below(arena_fmt(keep, "%.*s/%.*s", STR_ARG(up), STR_ARG(rest)), cwd);
	} else if (cwd.p && str_starts(path, STR("/")))
		name = below(path, cwd);
	if (!name.p && str_starts(path, STR("/")) && (cwd = logical_cwd()).p)
		name = below(path, cwd);
	return arena_str(keep, name.p ? name : path);
}
