/*
 * Errors as values: a stable id and a sentence a user can act on.
 *
 * A function that can fail returns false and fills a struct diag.  The text says what is wrong,
 * where (file and byte offset or line:column), what was expected and what to do; each caller may
 * put in front what it was doing.  Libraries never print and never exit.
 *
 * The ids are one catalogue (diag.c): shown to users as RL101, explained in docs/diagnostics.md.
 */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* X(name, number, what it means): 1xx input files, 2xx profiles, 3xx rules and configuration,
 * 4xx hardware, 5xx output, 6xx the program's own limits, 7xx stores and fleets. */
#define DIAG_CATALOGUE(X)                                                                          \
	X(FILE_OPEN, 101, "a file could not be opened or mapped")                                  \
	X(FILE_EMPTY, 102, "a file has no bytes")                                                  \
	X(FILE_SHRANK, 103, "a file became shorter while it was read")                             \
	X(FILE_KIND, 104, "a file is of a kind that is not read")                                  \
	X(NO_PROFILE, 105, "no profile was found where one was named")                             \
	X(STALE, 106, "a profile is not of the commit or the time that was asked for")             \
	X(BUCKET, 107, "a bucket could not be read")                                               \
	X(WIRE, 201, "bytes are not the protobuf message they should be")                          \
	X(XPLANE, 202, "a profile's content contradicts itself")                                   \
	X(HLO, 203, "an HLO module, or a cost of its ops, is not used as it stands")               \
	X(DIFFERS, 204, "what ran is not what ran for the baseline")                               \
	X(GZIP, 205, "packed data is damaged or was cut short")                                    \
	X(TRACE, 206, "a trace is not the JSON it should be")                                      \
	X(PPROF, 207, "a snapshot of live buffers is not the profile it should be")                \
	X(NSYS, 208, "a database is damaged, or not the Nsight Systems export it should be")       \
	X(RULE_SYNTAX, 301, "a rule or configuration file is not valid YAML")                      \
	X(RULE_SCHEMA, 302, "a rule file has an unknown or misplaced key, or a wrong type")        \
	X(RULE_NAME, 303, "a rule file names a rule, table or column that does not exist")         \
	X(RULE_UNIT, 304, "a value carries an unknown or unfitting unit")                          \
	X(RULE_SQL, 305, "a rule's expression is not valid SQL")                                   \
	X(RULE_TYPE, 306, "an expression compares a number with a text, or an unknown word")       \
	X(RULE_BUDGET, 307, "a rule's query ran past its budget")                                  \
	X(TEMPLATE, 308, "a template is not valid")                                                \
	X(WAIVER, 309, "a waiver has expired, was exceeded or waives nothing")                     \
	X(BASELINE, 310, "a baseline is the run itself, or cannot be used")                        \
	X(JOB_FILE, 311, "a job file is not valid")                                                \
	X(HARDWARE_FILE, 401, "a hardware file is not valid")                                      \
	X(HARDWARE_NAME, 402, "no chip of that name is known")                                     \
	X(OUTPUT, 501, "an output file could not be written")                                      \
	X(USAGE, 502, "the command line is not valid")                                             \
	X(DELIVERY, 503, "a message could not be delivered")                                       \
	X(LIMIT, 601, "a limit of the program was reached")                                        \
	X(WORKER, 602, "a worker process ended without an answer")                                 \
	X(STORE, 701, "a store of facts could not be used")                                        \
	X(FACTS, 702, "records of facts are damaged or of another version")                        \
	X(CHIP_HOURS, 703, "a table of chip-hours is not valid")                                   \
	X(STORE_SERVER, 704, "a server that keeps a store gave no good answer")                    \
	X(FLEET_FILE, 705, "a fleet file is not valid")

enum diag_id {
	DIAG_NONE,
#define X(name, number, text) DIAG_##name = number,
	DIAG_CATALOGUE(X)
#undef X
};

/* Of the catalogue, by a name like "RL201"; NULL: none is called so. */
struct diag_kind {
	enum diag_id id;
	struct str name, words;
};
const struct diag_kind *diag_kind(struct str name);

/* 3xx: of rules, job files and baselines; others say which file of a profile they are of. */
static inline bool diag_is_of_setup(enum diag_id id)
{
	return id / 100 == 3;
}

/* Longest diagnostic kept, in bytes: a sentence, a path of PATH_MAX and a caret excerpt. */
#define DIAG_BYTES 6144

/* Of a text that a user wrote: line and column count from 1, columns in bytes; width at least 1. */
struct text_place {
	struct str file;
	struct str source; /* the whole text */
	int64_t line, column, width;
};

/* Of the byte at an offset, up to and with its length. */
struct text_place text_place_at(struct str file, struct str source, ptrdiff_t offset);

struct diag {
	enum diag_id id;
	char text[DIAG_BYTES]; /* valid UTF-8, may span lines (caret excerpts), no final newline */
	struct text_place place; /* where diag_caret points to; line 0: nowhere */
};

/* Replace the diagnostic.  Always returns false, so that `return diag_set(...)` reads well. */
bool diag_set(struct diag *d, enum diag_id id, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Put "<context>: " in front.  Always returns false. */
bool diag_context(struct diag *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Put further lines behind (a hint, an excerpt).  Always returns false. */
bool diag_append(struct diag *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * An error in a text the user wrote: "file:line:column: message", then the line and a caret under
 * columns [column, column+width).  The line is cut to some 100 characters around the caret.
 */
bool diag_caret(struct diag *d, enum diag_id id, struct text_place place, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Warnings gathered on the way, each once (same id and text), at most 64; the rest are counted. */
struct arena;
struct diag_list {
	struct diag_note {
		enum diag_id id;
		struct str text;
	} items[64];
	int64_t count, dropped;
};
void diag_note(struct diag_list *list, struct arena *keep, enum diag_id id, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
