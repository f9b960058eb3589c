/*
 * Append-only output with a sticky error: write freely, check once at the end.
 *
 * To memory (an arena-backed buffer) or to a file descriptor through a buffer.  A file output is
 * written to a temporary name beside its target and renamed into place by out_close, so a reader
 * never sees half a document and a failed run leaves the old one.
 *
 * Refuses: escaping (the writers of report/ do it by construction).
 */
#ifndef BASE_OUT_H
#define BASE_OUT_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"

struct out;

struct out *out_memory(struct arena *keep);
struct out *out_fd(struct arena *keep, int fd); /* standard output and pipes; never closes fd */
/* "-" is standard output.  NULL and a diagnostic when the temporary file cannot be made. */
struct out *out_file(struct arena *keep, struct str path, struct diag *err);

void out_str(struct out *o, struct str s);
void out_z(struct out *o, const char *z);
void out_char(struct out *o, char c);
void out_repeat(struct out *o, char c, int64_t count);
void out_fmt(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void out_i64(struct out *o, int64_t value);
/* Shortest decimal text that reads back as the same double; never an exponent-free surprise:
 * integers below 1e15 print without exponent.  Not for NaN or infinity (the caller decides). */
void out_double(struct out *o, double value);

void out_flush(struct out *o);	    /* what was written goes out now; for a reader who waits */
struct str out_text(struct out *o); /* memory only: all that was written, borrowed */
/* Flush, sync and rename into place.  False with a diagnostic if anything failed on the way. */
bool out_close(struct out *o, struct diag *err);

/* The shortest round-trip text of a double, as out_double writes it. */
struct str double_text(struct arena *keep, double value);

#endif
