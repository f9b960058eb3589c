/*
 * What a host's threads tell: step annotations, compilations, allocator figures, the profiler's
 * own time.  One walk over the host lanes; everything is reduced on the way.
 */
#ifndef MEASURE_HOSTFACTS_H
#define MEASURE_HOSTFACTS_H

#include "base/arena.h"
#include "base/diag.h"
#include "measure/memory_curve.h"
#include "profile/profile.h"

struct host_span {
	int64_t start_ps, end_ps; /* host clock */
	int64_t number;		  /* step_num of an annotation */
	struct str name;	  /* clean */
	int32_t host, thread;
};

struct host_spans {
	struct host_span *items; /* by host, then start */
	ptrdiff_t count, cap, dropped;
	struct host_span *unions; /* the same time as disjoint spans, for looking up */
	ptrdiff_t union_count;
};

struct allocator {
	struct str name; /* clean */
	int32_t host;
	int64_t samples;
	int64_t capacity_bytes;	     /* reserved + allocated + available, at the peak */
	int64_t window_peak_bytes;   /* max of reserved + allocated */
	int64_t lifetime_peak_bytes; /* max of the allocator's own peak */
	int64_t lowest_bytes;	     /* least allocated at any sample: what lived all along */
	double fragmentation;	     /* largest reported; NaN if never */
	int64_t jumps;	    /* samples that do not follow from the one before: some are missing */
	struct curve *used; /* reserved + allocated over time; NULL past ALLOCATOR_CURVES */
};

struct host_facts {
	struct host_spans steps, compiles, profiler;
	struct host_spans launches;   /* by the name of the jitted function */
	struct list launched;	      /* each name once, */
	struct map launch_names;      /* by it */
	struct allocator *allocators; /* in order of first appearance */
	ptrdiff_t allocator_count, allocator_cap;
	struct plane_lost lost; /* over all hosts */
};

/* Annotations and compilations kept: a day of steps at one a second, on ten hosts. */
#define HOST_SPANS_MAX 1000000
/* Allocators of one run: one for each device of the largest hosts, and a few more. */
#define ALLOCATORS_MAX 65536
/* Of one host's, so many samples are held against each other: a step has a few for each device. */
#define ALLOCATIONS_MAX (1 << 17)
/* Of those, the first have their use over time kept: ten kilobytes each, for one picture. */
#define ALLOCATOR_CURVES 256

bool host_facts_read(struct profile *hosts, ptrdiff_t host_count, int threads, struct arena *keep,
	struct host_facts *ret, struct diag *err);

/* Does any span overlap [from, to)?  Logarithmic: it is asked once for every step. */
bool host_spans_meet(const struct host_spans *s, int32_t host, int64_t from_ps, int64_t to_ps);

#endif
