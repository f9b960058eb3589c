/*
 * Files that travel inside the program: rules/, hardware/ and templates/ as they stand in the
 * repository.  The table itself is written at build time (embed/main.c), with the trees of those
 * that are documents.
 *
 * Refuses: reading the disk.  Whether a user's file replaces an embedded one is cmd/'s decision.
 */
#ifndef BASE_EMBED_H
#define BASE_EMBED_H

#include "base/doc.h"

struct embedded {
	const char *name; /* path in the repository: "rules/recommended.yaml" */
	struct str text;  /* followed by a NUL */
	struct doc_tree tree;
};

extern const struct embedded embedded_files[]; /* sorted by name; ends with a NULL name */
extern const ptrdiff_t embedded_count;	       /* without that end */

struct str embed_find(struct str name); /* the file's text, or the missing string */
/* The file whose text stands at this very address, which a copy does not; or NULL. */
const struct embedded *embed_of(struct str text);

#endif
