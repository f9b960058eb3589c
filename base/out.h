/*
 * Append-only output with a sticky error: write freely, check once at the end.
 *
 * To memory (an arena-backed buffer) or to a file descriptor through a buffer.  A file output is
 * written to a temporary name beside its target and renamed into place by out_close, so a reader
 * never sees half a document and a failed run leaves the old one.
 *
 * Refuses: the escaping of documents (the writers of report/ do it by construction).
 */
#ifndef BASE_OUT_H
#define BASE_OUT_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"

struct out;

struct out *out_memory(struct arena *keep);
struct out *out_fd(struct arena *keep, int fd); /* standard output and pipes; never closes fd */
/* A descriptor whose lines a CI's runner may read: none of them is a command to it. */
struct out *out_log(struct arena *keep, int fd);
/* "-" is standard output.  NULL and a diagnostic when the temporary file cannot be made. */
struct out *out_file(struct arena *keep, struct str path, struct diag *err);
/* Makes a folder in one that is there, unless it is there already. */
bool out_folder(struct str path, struct arena *keep, struct diag *err);

void out_str(struct out *o, struct str s);
void out_z(struct out *o, const char *z);
void out_char(struct out *o, char c);
/* Between the parts of a list: nothing where nothing was written yet.  Memory only; returns it. */
struct out *out_part(struct out *o, const char *between);
void out_repeat(struct out *o, char c, int64_t count);
void out_fmt(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Letters, digits and -._~ stay, and slashes of a path; others become %XX (RFC 3986). */
void out_uri(struct out *o, struct str s, bool is_path);
/* Each of the `special` characters as the text at its place; the others as they are. */
void out_replaced(struct out *o, struct str s, const char *special, const char *const *texts);
/*
 * A text in CSV, in quotes (RFC 4180).  A spreadsheet runs what begins like a formula, quoted or
 * not; behind an apostrophe it is text.
 */
bool csv_is_formula(struct str field);
void out_csv(struct out *o, struct str field);
/*
 * The words of a clean text, from column `at` on; lines that would pass `width` go on at `indent`.
 * A command in backticks is one word.  A blank in front joins it to what the line has.  Returns
 * the column where it ends.
 */
int out_words(struct out *o, struct str text, int at, int indent, int width);
void out_i64(struct out *o, int64_t value);
/* Shortest decimal text that reads back as the same double; never an exponent-free surprise:
 * integers below 1e15 print without exponent.  Not for NaN or infinity (the caller decides). */
void out_double(struct out *o, double value);

void out_flush(struct out *o);	    /* what was written goes out now; for a reader who waits */
struct str out_text(struct out *o); /* memory only: all that was written, borrowed */
/* Flush, sync and rename into place.  False with a diagnostic if anything failed on the way. */
bool out_close(struct out *o, struct diag *err);

/* All of the bytes, through interruptions; false with errno. */
bool write_all(int fd, struct str bytes);

/* Numbers as out_i64 and out_double write them, in the caller's buffer and ending in NUL: 20 digits
 * and sign, or "-2.2250738585072014e-308". */
enum { NUMBER_BYTES = 40 };
struct str number_i64(char buf[NUMBER_BYTES], int64_t value);
struct str number_double(char buf[NUMBER_BYTES], double value);
struct str double_text(struct arena *keep, double value);

#endif
