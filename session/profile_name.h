/*
 * What a profile is called in reports, and so the workload that no job file names: the same however
 * its path was typed, since a store knows a workload by that.
 *
 * Refuses: following links.  A name is for people, and a link may be the one that they know.
 */
#ifndef SESSION_PROFILE_NAME_H
#define SESSION_PROFILE_NAME_H

#include "base/arena.h"
#include "base/str.h"

/*
 * Relative where it lies below this directory, else as it was given; without slashes at its end and
 * steps that lead nowhere ("./a", "a//b", "../here/a" in a directory called here).
 */
struct str profile_name(struct str path, struct arena *keep);

#endif
