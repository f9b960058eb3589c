/*
 * Documents of keys, read by table: rule files, chip files, job files, fleet files.
 *
 * A table says of each key how its value is read, where it goes and what it has to be.  A mistake
 * is shown with a caret, and with the nearest name where one may have been meant.  Reading ends at
 * the first mistake, or notes each of them and goes on behind it, up to MISTAKES_MAX.
 *
 * Refuses: judging what several keys say together, for which a table names a function.
 */
#ifndef BASE_KEYED_H
#define BASE_KEYED_H

#include "base/doc.h"
#include "base/unit.h"

#define MISTAKES_MAX 100 /* of a file: a reader mends twenty, and each is a search for its line */

/* Mistakes, to be told all at once. */
struct mistakes {
	struct mistake_at {
		struct diag_note note;
		struct text_place place;
		ptrdiff_t number; /* in the order they were found */
	} * items;
	ptrdiff_t count, cap;
};
/* What *err says is one more, unless it was said before.  Always false. */
bool mistake_note(struct mistakes *m, struct arena *keep, const struct diag *err);

/* A reading: what is read, and the struct that is filled. */
struct keyed {
	const struct doc *doc;
	struct arena *keep;
	enum diag_id mistake;
	struct diag *err;
	void *to;
	struct mistakes *mistakes; /* NULL: reading ends at the first */
	struct str owner;	   /* whose keys they are, in messages: "copy-share"; or missing */
	void *arg;		   /* the reader's own */
};

struct key {
	struct str name;
	bool (*read)(const struct keyed *r, const struct key *k, const struct doc_node *node);
	ptrdiff_t offset; /* in the struct */
	ptrdiff_t origin; /* of a struct origin there: which node set it; 0: that is not kept */
	bool required;
	/*
	 * What the value is: "bytes, as in 12 GiB".  For a choice of words: all of them, the first
	 * one empty when 0 means that none was given: "|full|none".  For a map: an example.
	 */
	const char *form;
	enum unit unit; /* of a number that may have one */
	bool whole;
	double min, max;
	const struct key *keys; /* of a map; a missing name ends them */
	/* Of a map whose keys are good: what they say together. */
	bool (*agree)(const struct keyed *r, const struct doc_node *map);
	const struct key *each; /* of entries and of arrays: what one is */
	/* Of an array or of entries at `offset`: where their count and room are, an item's size. */
	ptrdiff_t count, cap, item_bytes;
	const void *initial; /* what an item of an array is before; NULL: all zero */
	bool is_list;	     /* an entry of a list, else of a map by name */
	bool is_merged; /* an entry written anew changes the one of that name, else replaces it */
	bool (*is_name)(struct str s); /* of an entry's name: small letters, digits and '-' */
	/* Reads an entry that is no item; `name` is its key, or of a list the entry itself. */
	bool (*entry)(const struct keyed *r, const struct key *each, const struct doc_node *name,
		const struct doc_node *node);
	const char *instead; /* a key that this one stands for: a map has not both */
	struct str meaning;  /* for a schema */
	int flags;	     /* the reader's own */
};

#define KEYED(key, how, ...)                                                                       \
	{                                                                                          \
		.name = STR_INIT(key), .read = how, __VA_ARGS__                                    \
	}
#define KEYED_ARRAY(owner, items, number)                                                          \
	.offset = offsetof(owner, items), .count = offsetof(owner, number),                        \
	.item_bytes = sizeof(*((owner *)0)->items)
/* Items that grow; of a map they begin with their name. */
#define KEYED_ITEMS(owner, items, number, room)                                                    \
	KEYED_ARRAY(owner, items, number), .cap = offsetof(owner, room)
/* Behind the keys stand names that people try by mistake, with what to write instead. */
#define KEYED_NOT(key, says)                                                                       \
	{                                                                                          \
		.name = STR_INIT(key), .form = says                                                \
	}
#define KEYED_END                                                                                  \
	{                                                                                          \
		.name = { NULL, 0 }                                                                \
	}

/* Mistakes at a node.  Always false. */
#define keyed_fail(r, node, ...) keyed_fail_as(r, node, (r)->mistake, __VA_ARGS__)
bool keyed_fail_as(const struct keyed *r, const struct doc_node *node, enum diag_id id,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* "copy-share.severity" and what is said of it; the path alone. */
bool key_fail(const struct keyed *r, const struct key *k, const struct doc_node *node,
	enum diag_id id, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
struct str key_path(const struct keyed *r, struct str name);

/* Parses the text of a file into *doc, which r->doc is; repeated keys are mistakes like others. */
bool keyed_open(const struct keyed *r, struct doc *doc, struct str file, struct str text,
	const struct key *of);
/*
 * A map with the keys of `of`, in the order of the table, so that what a value is checked against
 * has been read.  `at` is the node that lacks what is required.
 */
bool keyed_map(const struct keyed *r, const struct key *of, const struct doc_node *at,
	const struct doc_node *map);
/* Whether a map has no other keys. */
bool keyed_names(const struct keyed *r, const struct key *of, const struct doc_node *map);
const struct key *key_named(const struct key *keys, struct str name); /* or NULL */
/* Reads one, and keeps which node set it. */
bool key_set(const struct keyed *r, const struct key *k, const struct doc_node *node);
/* A scalar that is not empty. */
bool key_scalar(const struct keyed *r, const struct key *k, const struct doc_node *node);
/* Bare, within its bounds, and whole if the key says so. */
bool keyed_number(
	const struct keyed *r, const struct key *k, const struct doc_node *node, double *ret);
void *key_slot(const struct keyed *r, const struct key *k);
struct origin *key_origin(const struct key *k, const void *of); /* or NULL */
#define KEY_WORDS_MAX 32 /* of a key at most 10, of a column 25; the longest table has 31 keys */
int key_words(const struct key *k, struct str ret[KEY_WORDS_MAX]);

/* For tables: how to read, and into what. */
#define KEY_READ(name)                                                                             \
	bool name(const struct keyed *r, const struct key *k, const struct doc_node *node)
KEY_READ(key_map);     /* into the struct at the offset, or the same */
KEY_READ(key_entries); /* a list or a map by name; `max` is how many at most, 0: any number */
KEY_READ(key_array);   /* a list of maps or values into an array; `max` is how many at most */
KEY_READ(key_text);    /* str */
KEY_READ(key_number);  /* double */
KEY_READ(key_int);     /* int */
KEY_READ(key_bool);    /* bool */
KEY_READ(key_word);    /* int */
KEY_READ(key_version); /* nothing: 1, of a file of this form */

#endif
