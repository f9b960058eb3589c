/*
 * Inside of the trace reader: the JSON that JAX writes for trace viewers, as events.
 *
 *	{"displayTimeUnit":"ns", ..., "traceEvents":[ event, event, ..., {} ]}
 *
 *	{"ph":"M","pid":3,"name":"process_name","args":{"name":"/device:TPU:0"}}
 *	{"ph":"M","pid":3,"tid":3,"name":"thread_name","args":{"name":"XLA Ops"}}
 *	{"ph":"X","pid":3,"tid":3,"ts":12.5,"dur":1.25,"name":"add.1","args":{"tf_op":...}}
 *
 * A process is a plane of the xplane.pb, a thread a line, an argument a stat: its text whatever it
 * was.  Times are microseconds in decimals.  The file is read once, front to back; the strings of
 * an event are borrowed until the next one.
 *
 * trace_read.c makes events of the JSON, trace.c finds their planes, lanes and programs,
 * trace_write.c puts them aside as they were in the xplane.pb, trace_build.c makes the profile.
 *
 * Refuses: traces of other profilers, by name.
 *
 * Not for other folders.
 *
 * Source: XProf's trace_viewer JSON and real captures.
 */
#ifndef PROFILE_TRACE_H
#define PROFILE_TRACE_H

#include "profile/jscan.h"
#include "profile/stream.h"
#include "profile/spool.h"
#include "profile/xplane.h"

/* What events say: the stats of the xplane.pb, and what only traces call so. */
enum { ARG_LONG_NAME = STAT_COUNT, ARG_COUNT };
_Static_assert(ARG_COUNT <= 64, "a set of arguments is one 64-bit mask");

/* Texts are as written, with their escapes. */
struct trace_event {
	char phase; /* 'X' an event, 'M' a name; 0 of the empty object at the end */
	int64_t pid, tid;
	int64_t start_ps, duration_ps;
	struct str name;
	uint64_t present;
	struct str args[ARG_COUNT]; /* valid where present; the last of equal keys counts */
};

/* Somebody else's trace, in two phrases: whose, and what to do. */
struct trace_foreign {
	const char *is, *todo;
};

struct trace_reader {
	struct arena *keep;
	struct stream *stream;
	struct str window;
	struct jscan scan; /* of the window, before the next event */
	bool bare;	   /* an array without an object around it */
	bool first;	   /* before the first member of what is being read */
	bool ended;
	const struct trace_foreign *foreign; /* when it is not JAX's */
	const char *why;		     /* NULL, or what was expected */
	int8_t arg_of[256];		     /* by argument_slot: its number, -1 free */
};

/* Up to the first event.  The input must stay open. */
bool trace_begin(struct trace_reader *r, const struct input *in, struct arena *keep);
bool trace_next(struct trace_reader *r, struct trace_event *ret);
/* After either was false: true when the whole file was read. */
bool trace_end(struct trace_reader *r, struct diag *err);
void trace_close(struct trace_reader *r);

/* ---- what is known so far -------------------------------------------------------------------- */

struct trace_block {
	int64_t at, base_ps;
	ptrdiff_t len;
};

struct trace_lane {
	int64_t key; /* of process and thread */
	int64_t id;  /* the thread's */
	struct trace_plane *plane;
	struct str name;
	enum lane_class class;	      /* as far as names are known; see plane_class */
	enum plane_class plane_class; /* of the plane, when class was found */
	char *bytes;		      /* the block being filled */
	ptrdiff_t len, cap;
	int64_t base_ps, written;
	struct trace_block *blocks;
	ptrdiff_t block_count, block_cap;
};

struct trace_name {
	int64_t at; /* of the XEventMetadata in the spool */
	int32_t len, name, name_len;
	int32_t program; /* index into the profile's hlo, or -1 */
};

struct trace_run {
	int64_t start_ps, end_ps;
	uint64_t program;
	int32_t index; /* into the profile's hlo */
};

struct trace_plane {
	int64_t pid;
	struct str name;
	enum plane_class class;
	enum platform platform;
	struct map name_of; /* hash of what is said of an op -> index into names */
	struct trace_name *names;
	ptrdiff_t name_count, name_cap;
	struct map ref_of; /* hash of a text -> index into refs */
	struct str *refs;
	ptrdiff_t ref_count, ref_cap;
	uint64_t seen; /* stats that some event carries */
	bool amd;
	struct trace_run *runs; /* of the module lane, by start */
	ptrdiff_t run_count, run_cap;
};

struct trace {
	struct trace_reader reader;
	struct profile *profile;
	struct arena *keep, *scratch; /* the second for what dies when all is read */
	struct spool *spool;
	struct trace_plane **planes;
	ptrdiff_t plane_count, plane_cap;
	struct trace_lane **lanes;
	ptrdiff_t lane_count, lane_cap;
	struct map lane_of, program_of;
	struct trace_lane *last;
	ptrdiff_t hlo_cap;
	const char *limit; /* NULL, or what there is too much of */
	bool plain;	   /* texts of events are as they are, without JSON's escapes */
};

/* The id of the first stat in a part; texts that are referred to follow the last. */
enum { TRACE_STAT_ID = 1 };

/*
 * trace.c: a reader's beginning and end; between them it finds lanes and writes events.  The end
 * puts what was written into the input's place, unless reading went wrong.
 */
void trace_start(
	struct trace *t, struct profile *profile, struct arena *keep, struct arena *scratch);
bool trace_finish(struct trace *t, bool ok, struct input *in, struct diag *err);
/* Two numbers as one key. */
static inline int64_t trace_pair(int64_t a, int64_t b)
{
	return (int64_t)(hash_mix((uint64_t)a) ^ (uint64_t)b);
}
/* By the numbers of a process and a thread; NULL, with a limit set, when there are too many. */
struct trace_plane *trace_plane_of(struct trace *t, int64_t pid);
struct trace_lane *trace_lane_of(struct trace *t, int64_t pid, int64_t tid);
void trace_plane_name(struct trace_plane *p, struct str name);
void trace_lane_name(struct trace_lane *l, struct str name);
/* A program of the profile's list, by its id. */
int32_t trace_program(struct trace *t, uint64_t id, struct str name, bool by_name);

/* trace_write.c: an event of a lane, in an execution of a program or in none (NULL). */
void trace_write(struct trace *t, struct trace_lane *l, const struct trace_event *e,
	const struct trace_run *run);
void trace_flush(struct trace *t, struct trace_lane *l);

/* trace_build.c: once the spool has taken the input's place. */
bool trace_build(struct trace *t, struct diag *err);

#endif
