/*
 * Profiles told by a test: an XSpace laid out as the producers do, and the run measured from it.
 *
 *	struct xspace *host = xrun_host(&run, "worker-0");
 *	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
 *	struct xline *ops = x_line(tpu, "XLA Ops");
 *	x_op(tpu, "fusion.1", X_STATS(x_int("program_id", 7)));
 *	x_event(ops, "fusion.1", 0, 100, NULL);
 *	xrun_measure(&run);
 *	assert_number(xrun_op(&run, "fusion.1")->time_s, 100 * US);
 *
 * All times are whole microseconds.  Names are borrowed: literals, or texts of the run's arena.
 * A wrong call ends the test.
 */
#ifndef TEST_XSPACE_H
#define TEST_XSPACE_H

#include "measure/run.h"
#include "tests/unit/pb.h"

#define US 1e-6 /* seconds per microsecond */

struct xspace; /* a file */
struct xplane;
struct xline;

/* A stat of a plane, an event or an event's metadata; a list of them ends with a NULL name. */
struct xstat {
	const char *name;
	enum { XSTAT_IS_INT, XSTAT_IS_REAL, XSTAT_IS_TEXT, XSTAT_IS_REF, XSTAT_IS_BYTES } type;
	int64_t number;
	double real;
	struct str text;
};

#define X_STATS(...)                                                                               \
	(const struct xstat[])                                                                     \
	{                                                                                          \
		__VA_ARGS__,                                                                       \
		{                                                                                  \
			.name = NULL                                                               \
		}                                                                                  \
	}

struct xstat x_int(const char *name, int64_t value);
struct xstat x_real(const char *name, double value);
struct xstat x_text(const char *name, const char *value);
/* One whose name is not in the file. */
struct xstat x_unnamed(void);
/* A text that the plane keeps once; NULL: one that is not in the file. */
struct xstat x_ref(const char *name, const char *value);
struct xstat x_bytes(const char *name, struct str value);

struct xspace *xspace_new(struct arena *keep);
struct str xspace_done(const struct xspace *x);
void x_error(struct xspace *x, const char *text);    /* what the profiler itself complains of */
void x_hostname(struct xspace *x, const char *name); /* behind the planes, */
void x_behind(struct xspace *x, struct str plane);   /* and one more plane behind it */

struct xplane *x_plane(struct xspace *x, const char *name, const struct xstat *stats);
struct xline *x_line(struct xplane *p, const char *name);
void x_line_at(struct xline *l, int64_t timestamp_us); /* events count from here; before any */

/* Metadata of events: what they are called, and what is said once for all of them. */
void x_name(
	struct xplane *p, const char *name, const char *display_name, const struct xstat *stats);
/* An event of [from, to); its name needs no x_name when nothing else is to be said of it.  With a
 * NULL name it refers to metadata that is not in the file. */
void x_event(struct xline *l, const char *name, int64_t from_us, int64_t to_us,
	const struct xstat *stats);

/* ---- what producers write -------------------------------------------------------------------- */

struct xplane *x_tpu(struct xspace *x, int ordinal, const char *device_type);
/* An instruction of a TPU plane: events are called by its short name. */
void x_op(struct xplane *p, const char *instruction, const struct xstat *stats);
struct xplane *x_gpu(struct xspace *x, int ordinal, const char *device_name);
struct xplane *x_host(struct xspace *x); /* the plane of the host's threads */
/* A program's HLO; `proto` is an HloProto or a module of pb.h. */
void x_hlo(struct xspace *x, const char *module, uint64_t program, struct str proto);

/* ---- a run ----------------------------------------------------------------------------------- */

#define XRUN_HOSTS 4

struct xrun {
	struct arena keep;
	struct xspace *files[XRUN_HOSTS];
	const char *names[XRUN_HOSTS];
	ptrdiff_t count;
	struct measure_options options; /* the embedded chips, one thread */
	struct tables tables;
	struct measured *measured; /* until the next one, or the end */
	struct diag_list notes;
	struct diag err;
};

void xrun_begin(struct xrun *r);
void xrun_end(struct xrun *r);
/* One more host, with the plane that closes a whole file. */
struct xspace *xrun_host(struct xrun *r, const char *name);
/* False when a profile is refused: r->err says why. */
bool xrun_try(struct xrun *r);
bool xrun_profiles(struct xrun *r, struct profile *profiles, ptrdiff_t count); /* opened ones */
void xrun_measure(struct xrun *r); /* the same, and a refusal ends the test */

/* The row of a table by what names it. */
const struct run_row *xrun_row(const struct xrun *r);
const struct ops_row *xrun_op(const struct xrun *r, const char *name);
const struct families_row *xrun_family(const struct xrun *r, const char *name);
const struct programs_row *xrun_program(const struct xrun *r, const char *module);
const struct collectives_row *xrun_collective(const struct xrun *r, const char *name);
const struct transfers_row *xrun_transfer(const struct xrun *r, const char *direction);
const struct devices_row *xrun_device(const struct xrun *r, const char *device);
const struct memory_row *xrun_memory(const struct xrun *r, const char *device);
const struct quality_row *xrun_quality(const struct xrun *r, const char *name);
/* Every cell of every table, a row a line. */
struct str xrun_text(struct xrun *r);

/* Times within a part in 10^9, since they went through sums of doubles; NULL is never equal. */
#define assert_number(got, want) x_assert_number(#got, (got), (want), __FILE__, __LINE__)
#define assert_unknown(got)	 x_assert_unknown(#got, (got), __FILE__, __LINE__)
#define assert_text(got, want)	 x_assert_text(#got, (got), (want), __FILE__, __LINE__)
#define assert_has(got, part)	 x_assert_has(#got, (got), (part), __FILE__, __LINE__)

void x_assert_number(const char *what, double got, double want, const char *file, int line);
void x_assert_unknown(const char *what, double got, const char *file, int line);
/* `want` NULL: the text is NULL. */
void x_assert_text(const char *what, struct str got, const char *want, const char *file, int line);
void x_assert_has(const char *what, struct str got, const char *part, const char *file, int line);

#endif
