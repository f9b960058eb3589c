/*
 * Documents of keys, read by table: chip files, job files.
 *
 * A table says of each key how its value is read, where it goes and what it has to be.  A mistake
 * is shown with a caret, and with the nearest name where one may have been meant.
 *
 * Refuses: judging what several keys say together.
 */
#ifndef BASE_KEYED_H
#define BASE_KEYED_H

#include "base/doc.h"
#include "base/unit.h"

/* A reading: what is read, and the struct that is filled. */
struct keyed {
	const struct doc *doc;
	struct arena *keep;
	enum diag_id mistake;
	struct diag *err;
	void *to;
};

struct key {
	struct str name;
	bool (*read)(const struct keyed *r, const struct key *k, const struct doc_node *node);
	ptrdiff_t offset; /* in the struct */
	bool required;
	const struct key *keys; /* of a map; a missing name ends them */
	/* What the value is: "bytes, as in 12 GiB"; of a word, all of them: "full|none". */
	const char *form;
	enum unit unit; /* of a number that may have one */
	bool whole;
	double min, max;
};

#define KEYED(key, how, ...)                                                                       \
	{                                                                                          \
		.name = STR_INIT(key), .read = how, __VA_ARGS__                                    \
	}
#define KEYED_END                                                                                  \
	{                                                                                          \
		.name = { NULL, 0 }                                                                \
	}

bool keyed_fail(const struct keyed *r, const struct doc_node *node, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* In the order of the table, so that what a value is checked against has been read. */
bool keyed_map(const struct keyed *r, struct str what, const struct key *keys,
	const struct doc_node *node);
/* Bare, within its bounds, and whole if the key says so. */
bool keyed_number(
	const struct keyed *r, const struct key *k, const struct doc_node *node, double *ret);

/* For tables: how to read, and into what. */
bool key_map(const struct keyed *r, const struct key *k, const struct doc_node *node);
bool key_text(const struct keyed *r, const struct key *k, const struct doc_node *node); /* str */
bool key_number(
	const struct keyed *r, const struct key *k, const struct doc_node *node); /* double */
bool key_int(const struct keyed *r, const struct key *k, const struct doc_node *node);
bool key_bool(const struct keyed *r, const struct key *k, const struct doc_node *node);
bool key_word(
	const struct keyed *r, const struct key *k, const struct doc_node *node); /* int, from 1 */

#endif
