/*
 * Bytes to read: a mapped file, or memory.
 *
 * A mapped file that shrinks while it is read would raise SIGBUS; a process-wide handler (set by
 * the first input_open) maps zeros over the hole instead and marks the input, so readers keep
 * going on zeros and input_check tells the truth at the end.  Safe in threads.
 *
 * Consumed pages can be given back (input_drop), so that resident memory does not grow with the
 * file.  Empty files, directories, Git LFS pointers and gzip data are told apart here, by their
 * first bytes, in one place.
 */
#ifndef BASE_INPUT_H
#define BASE_INPUT_H

#include <sys/types.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"

enum input_kind {
	INPUT_UNKNOWN, /* any bytes */
	INPUT_EMPTY,
	INPUT_GZIP,    /* 1f 8b */
	INPUT_LFS,     /* "version https://git-lfs" pointer text */
	INPUT_SQLITE,  /* "SQLite format 3" */
	INPUT_TEXT,    /* first bytes are '{', '[' or "HloModule": a text where bytes were due */
	INPUT_MARKUP,  /* '<': a page that a server sent in place of the file */
	INPUT_PACKED,  /* zip, zstd, xz, bzip2 */
	INPUT_UTF16,   /* its byte order mark; '>' in some shells of Windows writes so */
	INPUT_MANGLED, /* binary that went through a text conversion: EF BF BD all over */
};

/* What a file is known again by: its length, and at the most so many bytes of either end. */
#define INPUT_END_BYTES (4 << 10)
struct input_ends {
	int64_t bytes;
	struct str head, tail;
};

struct input {
	struct str path;
	struct str bytes;
	enum input_kind kind;
	struct input_guard *guard; /* of a mapping; NULL for memory */
	struct input_ends was;	   /* of a file that was replaced; no head: it was not */
};

/* Map a regular file.  Directories, devices and unreadable files are errors with the reason. */
bool input_open(struct str path, struct arena *keep, struct input *ret, struct diag *err);
struct input input_memory(struct str name, struct str bytes);
/* False, with what to do, where the first bytes are those of something that nothing here reads. */
bool input_accept(const struct input *in, struct diag *err);
/* False when the file shrank under the reader: what was read since cannot be trusted. */
bool input_check(const struct input *in, struct diag *err);
/* Bytes in [from, to) of the file will not be needed soon.  No effect on memory inputs. */
void input_drop(const struct input *in, ptrdiff_t from, ptrdiff_t to);
void input_close(struct input *in);

/* All of a file that people write, copied and ended by NUL; beyond `max` bytes it is refused. */
bool input_text(
	struct str path, ptrdiff_t max, struct arena *keep, struct str *ret, struct diag *err);
/*
 * Whether the file that `path` names lies below the folder, all links followed; a path that leads
 * nowhere does, as opening it says so better.
 */
bool input_is_below(struct str folder, struct str path);
/* input_text of one that is open, and is closed. */
bool input_take_text(
	struct input *in, ptrdiff_t max, struct arena *keep, struct str *ret, struct diag *err);

/*
 * What a reader made of a file in place of its bytes, which are let go: memory, or a file without a
 * name.  The path stays, for messages.
 */
void input_replace(struct input *in, struct str bytes, struct arena *keep);
bool input_replace_file(struct input *in, int fd, struct arena *keep, struct diag *err);
/* Of the file, whatever took the place of its bytes. */
struct input_ends input_ends(const struct input *in);

/* Bytes of an open file, pipe or socket until `n` are there or it ends; -1: errno says why. */
ptrdiff_t input_read_all(int fd, void *to, ptrdiff_t n);

/* One directory's names, sorted bytewise, without "." and "..". */
struct dir_entry {
	struct str name;
	bool is_dir;
	int64_t bytes, mtime_ns;
	dev_t device; /* with inode: which file it is, by whatever name */
	ino_t inode;
};
bool dir_list(struct str path, struct arena *keep, struct dir_entry **ret, ptrdiff_t *count,
	struct diag *err);
/* The name in `dir` that may have been meant, with its folder; or missing. */
struct str path_guess(struct str dir, struct str name, struct arena *keep);
/* Adds to an error about a path that is not there which one may have been meant.  False. */
bool path_missing(struct str path, struct arena *keep, struct diag *err);
/*
 * A directory of this program's among the user's own: below what `variable` says, else below
 * `folder` of the home; missing when there is neither.
 */
struct str dir_of_user(
	const char *variable, const char *folder, const char *name, struct arena *keep);
/* The directory with all above it, for its owner only; there already is fine. */
bool dir_make(struct str path, struct arena *keep, struct diag *err);

/*
 * Where files are: below a directory of this machine, or somewhere that can be read like one.  A
 * kind of tree is a struct that begins with this one.  All errors name the path.
 */
enum tree_kind { TREE_ABSENT, TREE_FILE, TREE_DIR };

struct tree_node {
	enum tree_kind kind;
	dev_t device; /* as in struct dir_entry; inode 0 where there are no links */
	ino_t inode;
};

struct tree {
	bool (*look)(const struct tree *t, struct str path, struct arena *scratch,
		struct tree_node *ret, struct diag *err);
	/* As dir_list does. */
	bool (*list)(const struct tree *t, struct str path, struct arena *keep,
		struct dir_entry **ret, ptrdiff_t *count, struct diag *err);
	/* As input_open does; the input has the name that it has in the tree. */
	bool (*open)(const struct tree *t, struct str path, struct arena *keep, struct input *ret,
		struct diag *err);
	/* What changes when a file does, without opening it; NULL where nothing tells. */
	struct str (*version)(const struct tree *t, struct str path);
};
extern const struct tree tree_local;

#endif
