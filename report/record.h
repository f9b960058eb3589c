/*
 * The records of report.json, described once: json.c writes by these tables, json_read.c reads by
 * them, schema.c tells them to others.  Private to report/.
 *
 * A record is a struct of report.h.  Its fields stand in the order of the document.
 */
#ifndef REPORT_RECORD_H
#define REPORT_RECORD_H

#include "report/model.h"

enum record_type {
	RECORD_TEXT,	 /* struct str; null when missing */
	RECORD_REAL,	 /* double; null when NaN or infinite */
	RECORD_FLAG,	 /* bool */
	RECORD_WORD,	 /* an enum, by its word */
	RECORD_DIAG,	 /* enum diag_id, as "RL202"; null when there is none */
	RECORD_LIST,	 /* a pointer to records, and how many */
	RECORD_PART,	 /* fields of the same struct, in an object of their own */
	RECORD_CONSTANT, /* the same text in each document */
	/* These have a form of their own. */
	RECORD_VALUE,  /* of struct report_evidence */
	RECORD_FACTS,  /* of struct report */
	RECORD_TABLES, /* struct tables */
	RECORD_PLOTS,  /* struct plots */
};

/* The words of an enum.  `word` is missing for a value that this field never has. */
struct record_words {
	const char *name; /* of the schema's definition */
	struct str (*word)(int value);
	int count;
	const char *refusal; /* "which is not a unit" */
};

struct record;

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
	ptrdiff_t count_offset; /* of a list */
};

struct record {
	const char *name, *meaning;
	ptrdiff_t bytes;		   /* of the struct */
	const struct record_field *fields; /* the last has no name */
	const char *needs; /* a part is null when this field of it, a text or a list, is empty */
};

#define REPORT_FORMAT "rooflint-report"
extern const struct record document_record; /* of struct report_set */

/* In the order of the schema. */
extern const struct record error_record, report_record, finding_record, evidence_record,
	around_record, neighbour_record, place_record, result_record, note_record;
extern const struct record_words verdict_words, report_verdict_words, unit_words, role_words;

/* A set of tables: what the document calls it, and how many rows each may have. */
struct shelf {
	const char *name, *meaning;
	const struct table_def *defs;
	int count, most;
};
extern const struct shelf tables_shelf, plots_shelf;

#endif
