/* This machine's own files as a tree.  See tree.h. */
#include "base/tree.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static bool local_look(const struct tree *t, struct str path, struct arena *scratch,
	struct tree_node *ret, struct diag *err)
{
	struct stat st;
	(void)t;
	*ret = (struct tree_node){ .kind = TREE_ABSENT };
	if (stat(arena_z(scratch, path), &st))
		return errno == ENOENT || errno == ENOTDIR ||
		       diag_set(err, DIAG_FILE_OPEN, "%.*s: %s", STR_ARG(path), strerror(errno));
	*ret = (struct tree_node){ S_ISDIR(st.st_mode) ? TREE_DIR : TREE_FILE, st.st_dev,
		st.st_ino };
	return true;
}

static bool local_list(const struct tree *t, struct str path, struct arena *keep,
	struct dir_entry **ret, ptrdiff_t *count, struct diag *err)
{
	(void)t;
	return dir_list(path, keep, ret, count, err);
}

static bool local_open(const struct tree *t, struct str path, struct arena *keep, struct input *ret,
	struct diag *err)
{
	(void)t;
	return input_open(path, keep, ret, err);
}

const struct tree tree_local = { local_look, local_list, local_open };
