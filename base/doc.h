/*
 * YAML 1.2 and JSON documents with exact positions, as a tree of our own.
 *
 * The only user of libfyaml.  Aliases, anchors, tags and merge keys are refused, repeated keys are
 * errors behind which reading goes on, and depth and size have limits.  Every node knows where it
 * stands in the text, so that a mistake can be shown with a caret.
 *
 * Refuses: typing scalars.  "1" and 1 differ only in doc_node.quoted; the reader of a key decides.
 */
#ifndef BASE_DOC_H
#define BASE_DOC_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"

enum doc_kind { DOC_SCALAR, DOC_LIST, DOC_MAP };

struct doc_node {
	enum doc_kind kind;
	bool quoted;	 /* scalar in ' or ", or a block scalar */
	bool block;	 /* scalar in | or > style: `text` is not a slice of the source */
	bool flow;	 /* list or map in brackets */
	struct str text; /* scalar's value */
	int64_t line, column, width; /* of the first line of the node, from 1 */
	struct doc_pair *pairs;	     /* map, in file order */
	struct doc_node **items;     /* list */
	ptrdiff_t count;	     /* pairs or items */
};

struct doc_pair {
	struct doc_node *key, *value; /* the key is a scalar; an empty value is an empty scalar */
};

struct doc {
	struct str file, source;
	struct doc_node *root; /* NULL for an empty document, and for one that could not be read */
	struct doc_repeat {
		const struct doc_node *key, *first;
	} * repeats; /* keys that stand in a map already, map by map */
	ptrdiff_t repeat_count, repeat_cap;
};

/* Where a value is written; all zero: nowhere, it was not said. */
struct origin {
	const struct doc *doc;
	const struct doc_node *node;
};

/* A tree that the build wrote (base/embed): nodes from the top down, each before its children. */
struct doc_packed {
	uint8_t kind, quoted, block, is_slice;	/* is_slice: of the source, else of `texts` */
	int32_t line, column, width, at, count; /* at and bytes of a scalar's text; or children */
};
struct doc_tree {
	const struct doc_packed *nodes; /* NULL: no document */
	struct str texts;
};

#define DOC_MAX_BYTES ((ptrdiff_t)4 << 20) /* a rule file larger than this is generated data */
#define DOC_MAX_DEPTH 32

/* False with a diagnostic; when only keys are repeated, all the same with the whole document. */
bool doc_parse(
	struct str file, struct str source, struct arena *keep, struct doc *ret, struct diag *err);
/* That a key is repeated, which has no other effect.  Always false. */
bool doc_tell_repeat(const struct doc *d, const struct doc_repeat *repeat, struct diag *err);
/* The value of `key` in a map, or NULL; NULL for another kind of node too. */
const struct doc_node *doc_get(const struct doc_node *map, struct str key);
/* Whether it is a text without quotes that leaves parentheses open, as at a comma inside { }. */
bool doc_is_open(const struct doc_node *n);
#define DOC_CUT "quote this expression: its comma ends it inside { }"
struct text_place doc_place(const struct doc *d, const struct doc_node *n);
/* A place inside a one-line scalar: `offset` bytes into its value, `width` bytes long. */
struct text_place doc_place_in(
	const struct doc *d, const struct doc_node *n, ptrdiff_t offset, ptrdiff_t width);

#endif
