/*
 * Records: structs whose fields stand in one table, which whoever writes them, reads them or tells
 * others of them walks.  report.json is written and read by these tables and its schema is made of
 * them; templates are checked against them and filled from them.
 *
 * Struct and table come from one list:
 *
 *     #define PET(R, F) F(R, TEXT, name, "what it is called") F(R, LIST(leg), legs, "it walks on")
 *     RECORD_STRUCT(pet, PET);
 *     static RECORD(pet, "a pet", NULL, PET);
 *
 * A list is a pointer to records and, right behind it, how many.
 */
#ifndef BASE_RECORD_H
#define BASE_RECORD_H

#include <stddef.h>

#include "base/str.h"

enum record_type {
	RECORD_TEXT, /* struct str; none when missing, and in a template when empty */
	RECORD_REAL, /* double; none when NaN or infinite */
	RECORD_FLAG, /* bool */
	RECORD_LIST,
	/* Of templates alone. */
	RECORD_PICTURE, /* struct template_picture */
	/* Of report.json alone. */
	RECORD_WORD,	 /* an enum, by its word */
	RECORD_DIAG,	 /* enum diag_id, as "RL202"; null when there is none */
	RECORD_PART,	 /* a record in an object of its own; null when what it needs is empty */
	RECORD_INLINE,	 /* a record whose fields stand among the others */
	RECORD_CONSTANT, /* the same text in each document */
	/* These have a form of their own. */
	RECORD_VALUE,  /* struct evidence_value */
	RECORD_FACTS,  /* struct run_row *; NULL: nothing is known */
	RECORD_TABLES, /* struct tables of a struct report */
	RECORD_PLOTS,  /* struct plots */
};

/* The words of an enum.  `word` is missing for a value that this field never has. */
struct record_words {
	const char *name; /* of the schema's definition */
	struct str (*word)(int value);
	int count;
	const char *refusal; /* "which is not a unit" */
};

struct record_field {
	const char *name;
	enum record_type type;
	ptrdiff_t offset;    /* in the struct */
	const char *meaning; /* or NULL */
	bool is_needed;	     /* a reader refuses a document without it */
	union {
		const struct record *record; /* a list's items, or a part */
		const struct record_words *words;
		const char *text; /* a constant */
	};
};

struct record {
	const char *name, *meaning;
	ptrdiff_t bytes;		   /* of the struct */
	const struct record_field *fields; /* the last has no name */
};

#define RECORD_STRUCT(R, FIELDS)                                                                   \
	struct R {                                                                                 \
		FIELDS(R, RECORD_MEMBER)                                                           \
	}
#define RECORD(R, label, what, FIELDS)                                                             \
	const struct record R##_record = { label, what, (ptrdiff_t)sizeof(struct R),               \
		(const struct record_field[]){ FIELDS(R, RECORD_ROW){ 0 } } }

#define RECORD_MEMBER(R, kind, field, what) RECORD_MEMBER_##kind field;
#define RECORD_MEMBER_TEXT		    struct str
#define RECORD_MEMBER_NEEDED		    struct str
#define RECORD_MEMBER_REAL		    double
#define RECORD_MEMBER_FLAG		    bool
#define RECORD_MEMBER_PICTURE		    struct template_picture
#define RECORD_MEMBER_LIST(items)	    struct template_list
#define RECORD_MEMBER_WORD(type, words)	    enum type
#define RECORD_MEMBER_PART(of)		    struct of
#define RECORD_MEMBER_INLINE(of)	    struct of
#define RECORD_MEMBER_UNIT		    enum unit
#define RECORD_MEMBER_DIAG		    enum diag_id
#define RECORD_MEMBER_VALUE		    struct evidence_value
#define RECORD_MEMBER_FACTS		    struct run_row *
#define RECORD_MEMBER_TABLES		    struct tables
#define RECORD_MEMBER_PLOTS		    struct plots
#define RECORD_MEMBER_ITEMS(of)                                                                    \
	struct {                                                                                   \
		struct of *items;                                                                  \
		ptrdiff_t count;                                                                   \
	}

#define RECORD_ROW(R, kind, field, what)                                                           \
	{ .name = #field, .offset = offsetof(struct R, field), .meaning = what, RECORD_ROW_##kind },
/* Of a field whose key is another word. */
#define RECORD_NAMED(R, key, kind, field, what)                                                    \
	{ .name = key, .offset = offsetof(struct R, field), .meaning = what, RECORD_ROW_##kind },
#define RECORD_ROW_TEXT		    .type = RECORD_TEXT
#define RECORD_ROW_NEEDED	    .type = RECORD_TEXT, .is_needed = true
#define RECORD_ROW_REAL		    .type = RECORD_REAL
#define RECORD_ROW_FLAG		    .type = RECORD_FLAG
#define RECORD_ROW_PICTURE	    .type = RECORD_PICTURE
#define RECORD_ROW_LIST(items)	    .type = RECORD_LIST, .record = &items##_record
#define RECORD_ROW_ITEMS(of)	    .type = RECORD_LIST, .record = &of##_record
#define RECORD_ROW_WORD(kind, list) .type = RECORD_WORD, .words = &(list), .is_needed = true
#define RECORD_ROW_UNIT		    .type = RECORD_WORD, .words = &unit_words
#define RECORD_ROW_DIAG		    .type = RECORD_DIAG
#define RECORD_ROW_PART(of)	    .type = RECORD_PART, .record = &of##_record
#define RECORD_ROW_INLINE(of)	    .type = RECORD_INLINE, .record = &of##_record
#define RECORD_ROW_CONSTANT(value)  .type = RECORD_CONSTANT, .text = (value)
#define RECORD_ROW_VALUE	    .type = RECORD_VALUE
#define RECORD_ROW_FACTS	    .type = RECORD_FACTS
#define RECORD_ROW_TABLES	    .type = RECORD_TABLES
#define RECORD_ROW_PLOTS	    .type = RECORD_PLOTS

struct template_list {
	const void *items;
	ptrdiff_t count;
};
/* Of a list field, whatever the type of its items. */
static inline struct template_list record_items(const struct record_field *f, const void *record)
{
	return *(const struct template_list *)(const void *)((const char *)record + f->offset);
}

#endif
