/*
 * Files as a git ref has them.
 *
 * git runs as a child with fixed arguments and no shell; what it may print is bounded.  Only
 * committed blobs are read: no filter, no text conversion, no file of the working tree.
 */
#ifndef SESSION_GIT_H
#define SESSION_GIT_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"

/* A file by its path from the working directory. */
bool git_read(
	struct str ref, struct str path, struct arena *keep, struct str *ret, struct diag *err);

/* "rooflint.yaml" beside the working directory or above it, as the ref has it; missing: none. */
bool git_find_rules(struct str ref, struct arena *keep, struct str *ret, struct diag *err);

#endif
