/*
 * Where files are: below a directory of this machine, or somewhere that can be read like one.
 *
 * Refuses: writing, and knowing what is in the files.
 */
#ifndef BASE_TREE_H
#define BASE_TREE_H

#include "base/input.h"

enum tree_kind { TREE_ABSENT, TREE_FILE, TREE_DIR };

struct tree_node {
	enum tree_kind kind;
	dev_t device; /* as in struct dir_entry; inode 0 where there are no links */
	ino_t inode;
};

/* A kind of tree is a struct that begins with this one.  All errors name the path. */
struct tree {
	bool (*look)(const struct tree *t, struct str path, struct arena *scratch,
		struct tree_node *ret, struct diag *err);
	/* As dir_list does. */
	bool (*list)(const struct tree *t, struct str path, struct arena *keep,
		struct dir_entry **ret, ptrdiff_t *count, struct diag *err);
	/* As input_open does; the input has the name that it has in the tree. */
	bool (*open)(const struct tree *t, struct str path, struct arena *keep, struct input *ret,
		struct diag *err);
};
extern const struct tree tree_local;

#endif
