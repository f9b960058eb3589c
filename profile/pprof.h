/*
 * A snapshot of live buffers: memory.prof, as jax.profiler.save_device_memory_profile writes it.
 *
 * It is a pprof profile, packed with gzip: samples with a count and bytes, a Python stack, and the
 * labels `kind` and `device`.  Old writers number devices and leave out the number 0; some give an
 * executable's size as -1, which here is unknown.  A snapshot says what lived when it was taken,
 * which is no peak.
 *
 * Refuses: any other use of pprof (CPU time, Go's heap).
 *
 * Source: profile.proto of pprof and real snapshots of JAX 2021 to 2025.
 */
#ifndef PROFILE_PPROF_H
#define PROFILE_PPROF_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/input.h"

struct live_frame {
	struct str function, file;
	int64_t line; /* 0 unknown */
};

/* What one stack keeps alive on one device. */
struct live_site {
	struct str kind;   /* "buffer", "executable" */
	struct str device; /* missing of executables */
	int64_t count;
	int64_t bytes;		   /* of all of them; -1 unknown */
	struct live_frame *frames; /* innermost first */
	ptrdiff_t frame_count;
};

struct live_snapshot {
	struct str name; /* of the file */
	struct live_site *sites;
	ptrdiff_t site_count;
	const struct diag *why; /* NULL, or why it could not be read */
};

/* What is kept is copied: the input may be closed. */
bool pprof_open(
	const struct input *in, struct arena *keep, struct live_snapshot *ret, struct diag *err);

#endif
