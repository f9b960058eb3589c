/*
 * One profile file, opened: planes of lanes, and cursors that pull events from them.
 *
 * A reader opens a file and indexes it (planes, lanes, names); events are read only when a caller
 * pulls, each time it pulls, and are held nowhere.  All times are picoseconds.  Names of
 * planes, lines and stats as the producers spell them are known here and nowhere else.
 *
 * A lane's clock: TPU device lanes carry two, and the one here is the device's own, which does not
 * jump; plane.host_shift_ps relates it to the host's.  Everything else is on the host's clock.
 *
 * Refuses: judging which work an op does (measure/kind), HLO (its bytes are handed on unread).
 *
 * Source: tsl/profiler/protobuf/xplane.proto and XProf's xplane_schema names.
 */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include "base/arena.h"
#include "base/chip_hints.h"
#include "base/diag.h"
#include "base/input.h"
#include "base/map.h"
#include "base/saturate.h"
#include "base/str.h"

/* In the order of PLATFORM_WORDS (measure/columns.h). */
enum platform { PLATFORM_UNKNOWN, PLATFORM_TPU, PLATFORM_NVIDIA, PLATFORM_AMD, PLATFORM_CPU };

enum plane_class {
	PLANE_OTHER,
	PLANE_DEVICE, /* a TensorCore or GPU; on CPU, one ordinal's share of the host plane */
	PLANE_SPARSE, /* a SparseCore */
	PLANE_HOST,
	PLANE_METADATA, /* HLO protos */
	PLANE_ENVIRONMENT,
};

enum lane_class {
	LANE_OTHER,   /* derived, counters, empty: not read */
	LANE_OPS,     /* ops of a core (or a CPU thread): nested or one after the other */
	LANE_STREAM,  /* kernels or copies of a GPU stream; may overlap in part */
	LANE_MODULES, /* executions of programs */
	LANE_STEPS,   /* steps as the runtime marked them */
	LANE_HOST,    /* a host thread */
};

/* What a host event tells, by its name. */
enum host_class {
	HOST_OTHER,
	HOST_COMPILE,	 /* compiling a program */
	HOST_ALLOCATION, /* of device memory */
	HOST_TRANSFER,	 /* host to device or back */
	HOST_INPUT,	 /* getting the next batch */
	HOST_QUEUE,	 /* the same, or the next request, from another thread or process */
	HOST_PUT,	 /* handing an item on, and waiting for who takes it */
	HOST_WAIT,	 /* waiting for another thread, a message or a timer */
	HOST_SYNC,	 /* waiting for the device, or fetching a result */
	HOST_CALLBACK,	 /* Python that a program calls and waits for */
	HOST_COMPILER,	 /* the compiler proper, inside HOST_COMPILE: its stats name the module */
	HOST_PROFILER,	 /* the profiler's own start and stop */
	HOST_CHECKPOINT, /* writing the state of the job */
	HOST_SCOPE,	 /* a context manager's own work: its `next` is no loader's */
	HOST_LAUNCH,	 /* a jitted function is called: "PjitFunction(name)" */
	HOST_STEP,	 /* a step annotation (decided by its stats, not its name) */
	HOST_DEALLOCATION,
	HOST_FRAME,  /* a function of Python's that tells no more */
	HOST_THREAD, /* around all of a thread: some of them stand from the capture's begin */
	HOST_CLASSES
};

/* Stats somebody asks for; everything else is skipped undecoded.  X(id, name in the file) */
#define PROFILE_STATS(X)                                                                           \
	X(HLO_OP, "hlo_op")                                                                        \
	X(HLO_MODULE, "hlo_module")                                                                \
	X(PROGRAM_ID, "program_id")                                                                \
	X(CORRELATION_ID, "correlation_id")                                                        \
	X(RUN_ID, "run_id")                                                                        \
	X(DEVICE_OFFSET_PS, "device_offset_ps")                                                    \
	X(DEVICE_DURATION_PS, "device_duration_ps")                                                \
	X(MEMCPY_DETAILS, "memcpy_details")                                                        \
	X(NAME, "name")                                                                            \
	X(TF_OP, "tf_op")                                                                          \
	X(STEP_NUM, "step_num")                                                                    \
	X(ROOT, "_r")                                                                              \
	X(DEVICE_ORDINAL, "device_ordinal")                                                        \
	X(HLO_CATEGORY, "hlo_category")                                                            \
	X(FLOPS, "flops")                                                                          \
	X(MODEL_FLOPS, "model_flops")                                                              \
	X(BYTES_ACCESSED, "bytes_accessed")                                                        \
	X(MEMORY_ACCESS_BREAKDOWN, "memory_access_breakdown")                                      \
	X(SHAPE_WITH_LAYOUT, "shape_with_layout")                                                  \
	X(SOURCE, "source")                                                                        \
	X(SOURCE_STACK, "source_stack")                                                            \
	X(ALLOCATOR_NAME, "allocator_name")                                                        \
	X(INDEX_ON_HOST, "index_on_host")                                                          \
	X(BYTES_RESERVED, "bytes_reserved")                                                        \
	X(BYTES_ALLOCATED, "bytes_allocated")                                                      \
	X(BYTES_AVAILABLE, "bytes_available")                                                      \
	X(FRAGMENTATION, "fragmentation")                                                          \
	X(PEAK_BYTES_IN_USE, "peak_bytes_in_use")                                                  \
	X(HLO_PROTO, "Hlo Proto")                                                                  \
	X(HLO_PROTO_OLD, "HLO Proto")                                                              \
	X(DEVICE_TYPE_STRING, "device_type_string")                                                \
	X(PEAK_TFLOPS, "peak_teraflops_per_second")                                                \
	X(PEAK_HBM_GBPS, "peak_hbm_bw_gigabytes_per_second")                                       \
	X(CORE_DETAILS, "core_details")                                                            \
	X(DEVICE_VENDOR, "device_vendor")                                                          \
	X(GPU_DEVICE_NAME, "gpu_device_name")                                                      \
	X(CLOCK_RATE, "clock_rate")                                                                \
	X(CORE_COUNT, "core_count")                                                                \
	X(MEMORY_BANDWIDTH, "memory_bandwidth")                                                    \
	X(MEMORY_SIZE, "memory_size")                                                              \
	X(COMPUTE_CAP_MAJOR, "compute_cap_major")                                                  \
	X(COMPUTE_CAP_MINOR, "compute_cap_minor")                                                  \
	X(PROFILE_START_TIME, "profile_start_time")                                                \
	X(PROFILE_STOP_TIME, "profile_stop_time")                                                  \
	X(DROPPED_TRACES, "dropped_traces")                                                        \
	X(JAX_VERSION, "jax_version")                                                              \
	X(JAXLIB_VERSION, "jaxlib_version")                                                        \
	X(TPU_VERSION, "tpu_version")                                                              \
	X(GPU_VERSION, "gpu_version")                                                              \
	X(LIBTPU_VERSION, "libtpu_version")                                                        \
	X(CUDA_VERSION, "cuda_version")                                                            \
	X(ALLOCATION_BYTES, "allocation_bytes")                                                    \
	X(ADDR, "addr")                                                                            \
	X(CUDA_GRAPH_NODE_ID, "cuda_graph_node_id")

enum stat_id {
#define X(id, name) STAT_##id,
	PROFILE_STATS(X)
#undef X
		STAT_COUNT
};
_Static_assert(STAT_COUNT < 64, "a set of stats is one 64-bit mask, and STATS_LOST");
#define STAT_BIT(id) (UINT64_C(1) << STAT_##id)
/* In `present`: a stat or a text that it refers to is not in the file. */
#define STATS_LOST (UINT64_C(1) << 63)

struct stat_value {
	bool is_text, is_real;
	int64_t i64; /* integers, reals toward zero; a reference's index, -1 of other text */
	double real;
	struct str text; /* strings, references resolved, bytes */
};

struct stats {
	uint64_t present;		  /* STAT_BITs, STATS_LOST */
	struct stat_value at[STAT_COUNT]; /* valid where present */
};

/* In the order of DIRECTION_WORDS, behind the first. */
enum copy_direction { COPY_NONE, COPY_H2D, COPY_D2H, COPY_D2D, COPY_P2P, COPY_UNKNOWN };

#define PROGRAM_UNKNOWN UINT64_MAX

/* What the profile itself says of an op; missing or NaN where it does not. */
struct profile_op {
	struct str name;   /* TPU: the instruction; GPU: the kernel */
	struct str hlo_op; /* the instruction it belongs to; missing when not said */
	struct str text;   /* TPU: the instruction's HLO text */
	struct str module;
	uint64_t program; /* PROGRAM_UNKNOWN when not said; 0 is a program */
	struct str category, scope, source, source_stack, shape;
	enum copy_direction copy;
	bool pageable; /* a copy to or from memory of the host that is said to be pageable */
	double flops, model_flops, bytes_accessed;
	double hbm_read_bytes, hbm_write_bytes; /* of the breakdown; NaN without one */
	int64_t node;	   /* of the CUDA graph that launched it; 0 none, or told below */
	bool is_scheduled; /* hlo_op is what plane->nodes says */
};

/*
 * The instructions that nodes of CUDA graphs run.  The profile names none: it is found once for a
 * plane by who knows the program (measure/graphs.h), and holds for all that is read of it then.
 */
struct graph_nodes {
	struct map of_node; /* index into ops */
	struct str *ops;    /* missing: the kernel is known by its own name */
};

/*
 * CPU: the runtime waits until the launch `run` is done, which is no op.  XLA:CPU's ops end before
 * their work does, so that only this tells how long an execution lasts.
 */
#define OP_EXECUTION (-1)

/* An execution of an op or kernel on a device. */
struct op_event {
	int64_t start_ps, end_ps; /* end >= start */
	int32_t op;		  /* index into plane->ops, or OP_EXECUTION */
	int32_t lane;		  /* index into plane->lanes */
	int64_t bytes;		  /* moved by a memory copy; 0 when not said */
	int64_t run;		  /* CPU: the launch it belongs to; 0 elsewhere */
};

/* Any other event: markers and host events. */
struct event {
	int64_t start_ps, end_ps;
	struct str name;
	enum host_class host;
	struct stats stats; /* of those asked for */
};

/* Events that stand together in the file, and the time from the first begin to the last end. */
struct lane_piece {
	const char *at; /* it ends where the next one begins, or its chunk ends */
	int32_t chunk;
	int64_t start_ps, end_ps;
};

struct lane {
	struct str name;
	enum lane_class class;
	int64_t id;
	struct lane_chunk *chunks; /* parts of one timeline, in file order */
	ptrdiff_t chunk_count, chunk_cap;
	struct lane_piece *pieces; /* all of it, once a cursor has noted them, */
	ptrdiff_t piece_count, piece_cap;
	uint64_t classes; /* and which its events are of: bits 1 << host_class */
	int32_t thread;	  /* which of all hosts' it is, from 1, once hostfacts.c has seen it */
	int64_t bytes;	  /* size of its events in the file */
	bool sort;	  /* set by merge_end: read whole and sort before handing out */
};

struct plane_name; /* an event metadata entry */
struct plane_part;
struct spoken_table;

/* Events that refer to metadata of events, of stats, or to texts that the file does not hold. */
struct plane_lost {
	int64_t events, time_ps; /* their own times, which may overlap */
	int64_t of_events;	 /* so many were read */
};

struct plane {
	struct profile *profile;
	struct str name;
	enum plane_class class;
	enum platform platform;
	int64_t ordinal; /* device number in its name; -1 */
	struct lane *lanes;
	ptrdiff_t lane_count, lane_cap;
	struct map lane_map;	  /* by id and name, for opening */
	struct plane_name *names; /* those of CPU ordinals are the host plane's */
	ptrdiff_t name_count;
	bool learns; /* its names are known only between plane_learn and plane_forget */
	struct plane_part *parts; /* pieces with this name, each with its own maps */
	ptrdiff_t part_count, part_cap;
	struct chip_hints chip;
	int64_t dropped_events;
	bool stats_lost;	/* of the plane itself or of its metadata */
	struct plane_lost lost; /* of device ops; known when a merge has come to its end */
	int64_t host_shift_ps;	/* host clock = lane clock + this */
	/* Ops met so far; on GPU the table grows while cursors read, so one task reads a plane. */
	struct profile_op *ops;
	ptrdiff_t op_count, op_cap;
	struct map op_keys;	     /* of kernels; those of a TPU are known by their names alone */
	struct spoken_table *spoken; /* GPU: what events said so far (kernels.c) */
	struct arena *keep;	     /* where ops go: plane_learn's */
	const struct graph_nodes *nodes; /* NULL: not looked for */
};

struct hlo_entry {
	uint64_t program;
	bool by_name;	  /* the file has no ids: this one stands for the name */
	struct str name;  /* module name without "(id)" */
	struct str proto; /* bytes of the HloProto; missing when only listed */
	struct str *ops;  /* HLO text of the ops that ran, where that is all there is */
	ptrdiff_t op_count;
};

/* What the file says of the software that ran; missing where it does not. */
struct profile_versions {
	struct str jax, jaxlib;
	struct str runtime; /* in its own words: libtpu's build; CUDA or ROCm; the driver */
};

struct live_snapshot; /* profile/pprof.h */

/* Of a compiler's dump (dump.h) nothing ran: there is a plane and nothing on it. */
enum profile_format { FORMAT_XPLANE, FORMAT_RIEGELI, FORMAT_TRACE, FORMAT_NSYS, FORMAT_DUMP };

/* Is the trace beside an xplane of the same capture? */
enum trace_kin { TRACE_UNTOLD, TRACE_SAME, TRACE_OTHER };

struct profile {
	enum profile_format format;
	struct input *input;
	struct str host;    /* from the file name */
	struct str machine; /* as the file names its host; missing or empty: it does not */
	int64_t file_bytes; /* of the file, whatever took the place of its bytes */
	struct str writer;  /* who wrote it, with a version; missing where it does not tell */
	struct profile_versions versions;
	struct plane *planes;
	ptrdiff_t plane_count;
	struct hlo_entry *hlo;
	ptrdiff_t hlo_count;
	struct str *errors, *warnings; /* what the profiler itself reported */
	ptrdiff_t error_count, warning_count;
	struct str ranges_lost; /* the first report that ranges of NVTX are missing, and no work */
	int64_t start_ns, stop_ns; /* Unix time of the session; 0 unknown */
	struct str trace_beside;   /* a trace of the same host that was not read; missing: none */
	enum trace_kin trace_kin;
	bool steps_named;   /* its Steps lines are of the ranges that the user names as steps */
	bool devices_mixed; /* XLA:CPU: no op says which of the process's devices ran it */
	bool has_end; /* the host's name behind all planes, or a Task Environment plane is there */
	int captures; /* profiles that stand one behind the other in the file: 1, or damage */
	int repeated; /* planes that are there again, byte for byte: they were read once */
	int64_t event_count;		       /* of a trace; exporters stop at a round number */
	const struct live_snapshot *snapshots; /* of the run directory; with its first host */
	ptrdiff_t snapshot_count;
};

/* Index an xplane.pb.  Borrows from the input, which must outlive the profile. */
bool xplane_open(struct input *in, struct str host, struct arena *keep, struct profile *ret,
	struct diag *err);

/* The same of its pieces in riegeli records.  The input's bytes are replaced by what they hold. */
bool riegeli_open(struct input *in, struct str host, struct arena *keep, struct profile *ret,
	struct diag *err);

/*
 * Read a trace viewer's export, *.trace.json.gz or its JSON.  It has no HLO modules, no chip and at
 * most TRACE_CAPS events; programs and costs are taken from what its events say of themselves.  The
 * input's bytes are replaced by what was read.
 */
bool trace_open(struct input *in, struct str host, struct arena *keep, struct profile *ret,
	struct diag *err);
/*
 * Read an export of Nsight Systems, `nsys export --type sqlite`.  It has no HLO modules and no
 * memory events; programs are known by XLA's NVTX ranges, steps by ranges that say so.  The input's
 * bytes are replaced by what was read.
 */
/* `step`: which NVTX ranges are the steps, as a pattern; missing: their words tell. */
bool nsys_open(struct input *in, struct str host, struct str step, struct arena *keep,
	struct profile *ret, struct diag *err);
/* By the threads that a trace's first bytes name; other formats name none. */
enum trace_kin trace_kin_of(const struct input *in, const struct profile *p);
/* Did the exporter stop at its limit, and leave out what came later? */
bool trace_is_capped(const struct profile *p);

/*
 * Programs as a TPU's planes name them, which is what is left of one whose HLO was not recorded:
 * the name that its executions have, or a missing one, and the HLO texts of its ops, each once.
 */
struct program_texts {
	struct str module;
	struct str *ops;
	ptrdiff_t count, cap;
	struct map met; /* of the reading alone */
};

struct profile_texts {
	bool is_read;
	struct program_texts *items;
	ptrdiff_t count, cap;
	struct map by_id;
};
void profile_texts_read(const struct profile *p, struct arena *keep, struct profile_texts *ret);

/* "jit_f(123)" -> "jit_f", 123; false for a name without a number. */
bool module_name_of(struct str text, struct str *name, uint64_t *program);

/*
 * What names of events stand for is learned by the task that reads a device's plane, into its own
 * arena, and forgotten before that is cleared: names of all planes of all hosts are more than a
 * job's memory should grow by.  Ops are met in between, and forgotten with the names.
 */
void plane_learn(struct plane *p, struct arena *keep);
void plane_forget(struct plane *p);
/* Does some event of the plane say which node of a CUDA graph it is? */
bool plane_has_graphs(const struct plane *p);
/* Give back the memory of its bytes in the file, or of all of them; they can be read again. */
void plane_drop(const struct plane *p);
void profile_drop(const struct profile *p);
void profile_drop_part(const struct profile *p, struct str bytes); /* some of the file's */

/*
 * Ops and kernels of one device plane, merged over its OPS and STREAM lanes by start time (longer
 * first on a tie, so a parent precedes its children).  Small disorder within a lane is mended; a
 * lane that stays out of order stops the merge, and merge_end marks the plane's lanes to be sorted.
 */
struct merge;
struct merge *merge_new(struct plane *p, struct arena *keep);
/* The next events, `most` or fewer, good until the next call; their number, 0 at the end. */
ptrdiff_t merge_run(struct merge *m, ptrdiff_t most, const struct op_event **ret);
/* One of them; NULL at the end. */
const struct op_event *merge_next(struct merge *m);
/* After that: true at the end; false with err set when the bytes are bad; false with err->id
 * DIAG_NONE when a lane is out of order: begin again, once, since where one lane is a mess so are
 * others, and now every lane is sorted. */
bool merge_end(const struct merge *m, struct diag *err);
void merge_free(struct merge *m);

/*
 * The events of a merge read by a thread of its own, until ahead_end, which comes before merge_end;
 * NULL when there is no thread to be had.  Meanwhile the arena that the plane was learned with is
 * the reader's, and ops are not in the plane but in ahead_ops: those of the events so far.
 */
struct ahead;
struct ahead *ahead_new(struct merge *m, struct plane *p, struct arena *keep);
ptrdiff_t ahead_run(struct ahead *a, const struct op_event **ret); /* as merge_run */
const struct profile_op *ahead_ops(const struct ahead *a);
void ahead_end(struct ahead *a);

/* Events of one lane in file order, with the stats in `want` decoded; of a plane that has not been
 * learned without their names. */
struct cursor;
struct cursor *cursor_new(
	const struct plane *p, const struct lane *l, uint64_t want, struct arena *keep);
/* Skip, undecoded, events whose name has no class in `classes` (bits 1 << host_class).  Step
 * annotations are found by their stats: include 1 << HOST_STEP to have them classed. */
void cursor_only(struct cursor *c, uint64_t classes);
/* Note in the lane, while it is read, where its events of any moment are found again. */
void cursor_note(struct cursor *c, struct lane *l, struct arena *keep);
/*
 * The lane without most of the events that meet none of these spans, which are in order and do not
 * overlap; all of a lane that was not noted.
 */
struct time_span {
	int64_t start_ps, end_ps;
};
struct lane lane_within(
	const struct lane *l, const struct time_span *spans, ptrdiff_t count, struct arena *keep);
bool cursor_next(struct cursor *c, struct event *ret);
/* How many events a lane has, or `most` if there are more; damage ends the count. */
int64_t lane_events(const struct lane *l, int64_t most);
/*
 * Where the next event stands that is asked for, NULL as cursor_next is false; and to read it, by
 * another cursor of this lane.  Memory of the file's bytes is not given back.  What was lost of
 * this event is the other cursor's.
 */
const char *cursor_find(struct cursor *c, struct event *scratch);
bool cursor_read(struct cursor *c, const char *found, struct event *ret);
/*
 * A lane as parts of some `bytes` each, in order, which can be read side by side.  Where an event
 * begins is a guess: when it is wrong the part before it ends with damage, and so it is wrong
 * whenever a part does.  Then the lane is read as it is.
 */
struct lane_part {
	struct lane lane;
	struct str bytes; /* all of it, */
	int32_t chunk;	  /* of this one */
};
struct lane_part *lane_parts(const struct profile *of, const struct lane *l, ptrdiff_t bytes,
	struct arena *keep, ptrdiff_t *count);
/* What was noted in a part, behind what was noted in the parts before it. */
void lane_join(struct lane *l, const struct lane_part *part, struct arena *keep);
/* What was lost of the events so far; times are not summed. */
struct plane_lost cursor_lost(const struct cursor *c);
bool cursor_end(const struct cursor *c, struct diag *err);

#endif
