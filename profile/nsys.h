/*
 * Inside of the reader of Nsight Systems' exports: `nsys export --type sqlite`.
 *
 *	StringIds			texts, by number
 *	NVTX_EVENTS			ranges of threads: XLA's modules and thunks, people's steps
 *	CUPTI_ACTIVITY_KIND_RUNTIME	calls of host threads; a launch is one
 *	CUPTI_ACTIVITY_KIND_KERNEL,	what a GPU's streams did; its correlation number is that of
 *	_MEMCPY, _MEMSET, _GRAPH_TRACE	the call that launched it
 *	TARGET_INFO_GPU			what the GPUs are
 *
 * A row becomes the event that the JAX profiler would have written of it, and goes the way of a
 * trace's events (trace.h): a plane for each GPU, a lane for each stream, a lane for each thread.
 * An op belongs to the innermost thunk and module of XLA around its launch, and to the outermost
 * range that somebody called a step.
 *
 * Tables are exported only when they have rows, and columns came over the years; what is missing
 * is unknown.  Times are nanoseconds since the session began.
 *
 * nsys_db.c reads rows, nsys_ranges.c knows what ranges mean, nsys_rows.c makes events of rows,
 * nsys.c puts the profile together.
 *
 * Not for other folders.
 *
 * Source: real exports of schemas 3.16 to 3.25, NVIDIA's "SQLite Export Schema Reference" of 2021.5
 * for what came before, and XLA's annotations (backends/gpu/runtime/annotation.cc).
 */
#ifndef PROFILE_NSYS_H
#define PROFILE_NSYS_H

#include "profile/nsys_db.h"
#include "profile/trace.h"

/* What the text of a range says.  Texts are missing where it does not. */
struct nsys_note {
	enum note_kind {
		NOTE_OTHER,
		NOTE_MODULE, /* an execution of a program, being launched */
		NOTE_THUNK,  /* an instruction of it */
		NOTE_STEP,   /* a step, as somebody called it */
		NOTE_COMMS,  /* a collective that PyTorch asks NCCL for: op says which */
	} kind;
	bool is_wanted;	   /* the user names it as the step */
	struct str text;   /* as it was written, but for the number of PyTorch's op */
	struct str name;   /* as the host's timeline shows it */
	struct str module; /* the program's, also of XLA's compilations */
	struct str op;
	struct str scope;  /* of a module what its ops have in common, of a thunk the rest */
	struct str number; /* the program's, or the step's if it has one; digits */
};

/* A range that ops are laid to: an execution of a module, a thunk, a step. */
struct nsys_range {
	int64_t tid, start_ns, end_ns;
	int32_t note;
	int32_t parent; /* the one around it on its thread; -1 */
};

struct nsys_ranges {
	struct arena *keep;
	struct str wanted;  /* pattern of the ranges that are the steps; missing: by their words */
	bool any_wanted;    /* such a range is there */
	struct map note_of; /* hash of a text -> index into notes */
	struct nsys_note *notes;
	ptrdiff_t note_count, note_cap;
	struct nsys_range *items; /* once sorted: by thread, start, and the longer first */
	ptrdiff_t count, cap;
};

/* Of a text as it stands in the database; -1 when there are too many. */
int32_t nsys_note_of(struct nsys_ranges *r, struct str text);
/* False when there are too many. */
bool nsys_range_add(struct nsys_ranges *r, struct nsys_range range);
/* After the last was added. */
void nsys_ranges_sort(struct nsys_ranges *r);
/* The innermost range around a moment of a thread; -1. */
int32_t nsys_range_at(const struct nsys_ranges *r, int64_t tid, int64_t at_ns);
/* From a range outwards, itself included: the first, or the last, of a kind; -1. */
int32_t nsys_range_inner(const struct nsys_ranges *r, int32_t range, enum note_kind kind);
int32_t nsys_range_outer(const struct nsys_ranges *r, int32_t range, enum note_kind kind);
const struct nsys_note *nsys_note_at(const struct nsys_ranges *r, int32_t range);

/* What a device did for a step. */
struct nsys_step {
	int32_t range;
	int64_t first_ns, last_ns;
};

struct nsys_device {
	int64_t gpu; /* Nsight's number for it, the same in all processes */
	struct trace_plane *plane;
	struct map step_of; /* range -> index into steps */
	struct nsys_step *steps;
	ptrdiff_t step_count, step_cap;
};

struct nsys_chip {
	int64_t gpu;
	struct chip_hints says;
};

struct nsys {
	struct trace trace;
	struct nsys_db *db;
	struct arena *scratch;
	struct arena words;	  /* for one row's texts: copied, so that they are forgotten */
	struct trace_event event; /* the one being written */
	struct map string_of;	  /* number -> index into strings */
	struct str *strings;
	ptrdiff_t string_count, string_cap;
	struct nsys_ranges ranges;
	struct map launch_of; /* process and correlation -> innermost range */
	bool by_process;      /* ops say which process they are of */
	int64_t launches;     /* calls that give a GPU work */
	struct nsys_device *devices;
	ptrdiff_t device_count, device_cap;
	struct map gpu_of; /* process and CUDA's number there -> Nsight's number */
	struct nsys_chip *chips;
	ptrdiff_t chip_count, chip_cap;
	int64_t base_ns; /* taken off all times: 0, or a moment where they count since 1970 */
};

/* nsys_rows.c: everything that goes onto lanes. */
void nsys_read_rows(struct nsys *n);

#endif
