/* Events of rows, onto the lanes of GPUs and threads.  See nsys.h. */

#include "base/stats.h"
#include "profile/nsys.h"

/* Times of hostile files must leave room for sums, in picoseconds: three weeks. */
#define TIME_LIMIT_NS (INT64_MAX / 4 / 1000)
/* Launches inside of ranges, a capture of some minutes; 16 bytes each, twice. */
#define LAUNCHES_MAX (16 << 20)
/* The host's plane among those of GPUs, which count from 0. */
enum { HOST_PID = -1 };
/* GPUs of one host: the largest have sixteen, and each can be cut into seven. */
enum { GPUS_MAX = 256 };
/* Calls stand on a lane of their own beside their thread's ranges, since both nest. */
#define CALLS_LANE (INT64_C(1) << 62)
/* Names of kernels are templates written out: some have kilobytes, none says more after this. */
enum { NAME_MAX_BYTES = 4096 };

/* ---- times and texts ------------------------------------------------------------------------- */

/* What all rows of events begin with. */
enum { ROW_START, ROW_END };

/*
 * SQLite takes "12:00:03" as 12, which would move the row to where the capture begins.  To ask for
 * a type costs as much as the number, so only those are asked that a date, a time of day or a word
 * may have become.
 */
static bool has_times(const struct nsys_rows *r, int64_t start_ns, int64_t end_ns)
{
	enum { DATES_NS = 1000000 };
	if ((start_ns >= DATES_NS || nsys_is_number(r, ROW_START)) &&
		(end_ns > start_ns || nsys_is_number(r, ROW_END)))
		return true;
	nsys_db_doubt(r->db, r->table, "a row has text where a time was expected");
	return false;
}

/* Since 1970 in exports that were shifted; counted from the first event then. */
static bool place(struct nsys *n, const struct nsys_rows *r, int64_t *start_ns, int64_t *end_ns)
{
	*start_ns = nsys_int(r, ROW_START);
	*end_ns = nsys_int(r, ROW_END);
	if (!has_times(r, *start_ns, *end_ns))
		return false;
	if (!n->base_ns && *start_ns > TIME_LIMIT_NS)
		n->base_ns = *start_ns;
	bool wrong = __builtin_sub_overflow(*start_ns, n->base_ns, start_ns) ||
		     __builtin_sub_overflow(*end_ns, n->base_ns, end_ns) ||
		     *start_ns < -TIME_LIMIT_NS || *start_ns > TIME_LIMIT_NS ||
		     *end_ns < -TIME_LIMIT_NS || *end_ns > TIME_LIMIT_NS;
	if (wrong)
		nsys_db_doubt(n->db, r->table, "its times are more than 26 days apart");
	if (*end_ns < *start_ns)
		*end_ns = *start_ns;
	return !wrong;
}

static void strings_read(struct nsys *n)
{
	static const char *const columns[] = { "id", "value", NULL };
	struct nsys_rows r = nsys_rows_open(n->db, "StringIds", 2, columns);
	while (nsys_rows_next(&r)) {
		if (n->string_count >= XPLANE_MAX_NAMES) {
			nsys_db_doubt(n->db, "StringIds", "more than %d texts", XPLANE_MAX_NAMES);
			continue;
		}
		map_put_id(&n->string_of, nsys_int(&r, 0), (int32_t)n->string_count, n->scratch);
		*arena_push(n->scratch, n->strings, n->string_count, n->string_cap) =
			arena_str(n->scratch, str_head(nsys_text(&r, 1), NAME_MAX_BYTES));
	}
}

static struct str string_at(const struct nsys *n, int64_t id)
{
	int32_t i = map_get_id(&n->string_of, id);
	return i >= 0 ? n->strings[i] : MISSING;
}

/* The first column, from `column` on, whose number stands for a text. */
static struct str string_of_row(
	const struct nsys *n, const struct nsys_rows *r, int column, int count)
{
	for (int i = column; i < column + count; i++) {
		struct str s = string_at(n, nsys_int(r, i));
		if (s.len && !nsys_is_null(r, i))
			return s;
	}
	return STR("(unnamed)");
}

/* ---- events ---------------------------------------------------------------------------------- */

static struct trace_event *event_begin(
	struct nsys *n, struct str name, int64_t start_ns, int64_t end_ns)
{
	struct trace_event *e = &n->event;
	e->phase = 'X';
	e->name = name;
	e->start_ps = start_ns * 1000;
	e->duration_ps = (end_ns - start_ns) * 1000;
	e->present = 0;
	return e;
}

static void event_says(struct trace_event *e, enum stat_id stat, struct str text)
{
	if (!text.len)
		return;
	e->args[stat] = text;
	e->present |= UINT64_C(1) << stat;
}

static struct trace_lane *lane_named(
	struct nsys *n, int64_t pid, int64_t tid, const char *what, int64_t number)
{
	struct trace_lane *l = trace_lane_of(&n->trace, pid, tid);
	if (l && !l->name.len)
		trace_lane_name(l, arena_fmt(n->trace.keep, "%s%lld", what, (long long)number));
	return l;
}

/* ---- threads --------------------------------------------------------------------------------- */

/* Nsight packs a thread's number within its process behind the process. */
enum { THREAD_BITS = 0xffffff };

static void host_event(struct nsys *n, int64_t tid, struct str name, struct str what,
	int64_t start_ns, int64_t end_ns)
{
	int64_t number = tid & THREAD_BITS;
	struct trace_lane *l = lane_named(
		n, HOST_PID, tid, tid & CALLS_LANE ? "CUDA calls of thread " : "thread ", number);
	struct trace_event *e = event_begin(n, name, start_ns, end_ns);
	event_says(e, STAT_NAME, what);
	if (l)
		trace_write(&n->trace, l, e, NULL);
}

/* Ranges that were closed: push and pop, start and end; those two of a text file. */
static bool is_range(const struct nsys_rows *r, int column)
{
	int64_t type = nsys_int(r, column);
	return nsys_is_null(r, column) || type == 59 || type == 60 || type == 70 || type == 71;
}

static void ranges_read(struct nsys *n)
{
	static const char table[] = "NVTX_EVENTS";
	enum { TID = ROW_END + 1, TYPE, TEXT, TEXT_ID };
	static const char *const columns[] = { "start", "end", "globalTid", "eventType", "text",
		"textId", NULL };
	struct nsys_rows r = nsys_rows_open(n->db, table, 3, columns);
	while (nsys_rows_next(&r)) {
		int64_t start_ns, end_ns, tid = nsys_id(&r, TID) & ~CALLS_LANE;
		struct str text = nsys_text(&r, TEXT);
		if (!text.p)
			text = string_at(n, nsys_int(&r, TEXT_ID));
		if (!is_range(&r, TYPE) || !text.len || !place(n, &r, &start_ns, &end_ns))
			continue;
		int32_t note = nsys_note_of(&n->ranges, text);
		if (note < 0) {
			nsys_db_doubt(n->db, table, "more than %d texts", XPLANE_MAX_NAMES);
			continue;
		}
		const struct nsys_note *says = &n->ranges.notes[note];
		/* A step's range tells nothing of what the host is at. */
		if (says->kind != NOTE_STEP)
			host_event(n, tid, says->name,
				says->kind == NOTE_OTHER ? says->module : MISSING, start_ns,
				end_ns);
		struct nsys_range range = { tid, start_ns, end_ns, note, -1 };
		if (says->kind != NOTE_OTHER && !nsys_range_add(&n->ranges, range))
			nsys_db_doubt(n->db, table, "too many ranges; profile a shorter time");
	}
	nsys_ranges_sort(&n->ranges);
}

/* "cudaLaunchKernel_v7000": the version of the interface says nothing. */
static struct str without_version(struct str call)
{
	ptrdiff_t at = str_rfind_char(call, '_');
	struct str rest = str_from_offset(call, at + 1);
	int64_t version;
	return at > 0 && str_take(&rest, STR("v")) && str_to_i64(rest, &version)
		       ? str_head(call, at)
		       : call;
}

/* Old exports do not say which process an op belongs to. */
static int64_t launch_key(const struct nsys *n, int64_t pid, int64_t correlation)
{
	return trace_pair(n->by_process ? pid : 0, correlation);
}

static void calls_read(struct nsys *n)
{
	static const char table[] = "CUPTI_ACTIVITY_KIND_RUNTIME";
	enum { TID = ROW_END + 1, CORRELATION, NAME };
	static const char *const columns[] = { "start", "end", "globalTid", "correlationId",
		"nameId", NULL };
	struct nsys_rows r = nsys_rows_open(n->db, table, 4, columns);
	while (nsys_rows_next(&r)) {
		int64_t start_ns, end_ns, tid = nsys_id(&r, TID) & ~CALLS_LANE;
		if (!place(n, &r, &start_ns, &end_ns))
			continue;
		struct str name = without_version(string_of_row(n, &r, NAME, 1));
		n->launches +=
			str_contains(name, STR("Launch")) && !str_contains(name, STR("HostFunc"));
		host_event(n, tid | CALLS_LANE, name, MISSING, start_ns, end_ns);
		/* What it launches belongs to what it lies in. */
		int32_t range = nsys_range_at(&n->ranges, tid, start_ns);
		int64_t pid = tid & ~(int64_t)THREAD_BITS;
		if (range >= 0 && n->launch_of.count >= LAUNCHES_MAX)
			nsys_db_doubt(n->db, table,
				"more than %d launches inside of ranges; profile a shorter time",
				LAUNCHES_MAX);
		else if (range >= 0)
			map_put_id(&n->launch_of, launch_key(n, pid, nsys_int(&r, CORRELATION)),
				range, n->scratch);
	}
}

/* ---- GPUs ------------------------------------------------------------------------------------ */

/* CUDA's number of a GPU counts within its process. */
static void ordinals_read(struct nsys *n)
{
	static const char *const columns[] = { "pid", "cudaId", "gpuId", NULL };
	struct nsys_rows r = nsys_rows_open(n->db, "TARGET_INFO_CUDA_DEVICE", 3, columns);
	while (nsys_rows_next(&r)) {
		int64_t gpu = nsys_int(&r, 2);
		if (gpu >= 0 && gpu <= INT32_MAX)
			map_put_id(&n->gpu_of, trace_pair(nsys_int(&r, 0), nsys_int(&r, 1)),
				(int32_t)gpu, n->scratch);
	}
}

static int64_t gpu_of(const struct nsys *n, int64_t global_pid, int64_t ordinal)
{
	int32_t gpu = map_get_id(&n->gpu_of, trace_pair(global_pid >> 24 & 0xffffff, ordinal));
	return gpu >= 0 ? gpu : ordinal;
}

static struct nsys_device *device_of(struct nsys *n, int64_t gpu)
{
	for (ptrdiff_t i = 0; i < n->device_count; i++)
		if (n->devices[i].gpu == gpu)
			return &n->devices[i];
	struct trace_plane *plane =
		n->device_count < GPUS_MAX ? trace_plane_of(&n->trace, gpu) : NULL;
	if (!plane) {
		n->trace.limit = "GPUs";
		return NULL;
	}
	trace_plane_name(plane, arena_fmt(n->trace.keep, "/device:GPU:%lld", (long long)gpu));
	struct nsys_device *d = arena_push(n->scratch, n->devices, n->device_count, n->device_cap);
	*d = (struct nsys_device){ .gpu = gpu, .plane = plane };
	return d;
}

static void step_add(
	struct nsys *n, struct nsys_device *d, int32_t range, int64_t start_ns, int64_t end_ns)
{
	int32_t i = map_get_id(&d->step_of, range);
	if (i < 0) {
		i = (int32_t)d->step_count;
		map_put_id(&d->step_of, range, i, n->scratch);
		*arena_push(n->scratch, d->steps, d->step_count, d->step_cap) =
			(struct nsys_step){ range, start_ns, end_ns };
	}
	struct nsys_step *s = &d->steps[i];
	s->first_ns = start_ns < s->first_ns ? start_ns : s->first_ns;
	s->last_ns = end_ns > s->last_ns ? end_ns : s->last_ns;
}

/* "jit(f)/jit(main)" of the module and "layer/dot_general" of the thunk. */
static struct str scope_of(const struct nsys *n, int32_t module, int32_t thunk, struct arena *words)
{
	struct str head = module < 0 ? STR("") : nsys_note_at(&n->ranges, module)->scope;
	struct str scope = nsys_note_at(&n->ranges, thunk)->scope;
	if (head.len && scope.len)
		return arena_fmt(words, "%.*s/%.*s", STR_ARG(head), STR_ARG(scope));
	return head.len ? head : scope;
}

/* To which instruction, program and step it belongs, by the call that launched it. */
static void attribute(struct nsys *n, struct nsys_device *d, struct trace_event *e, int32_t range,
	struct arena *words)
{
	int32_t thunk = nsys_range_inner(&n->ranges, range, NOTE_THUNK);
	int32_t module = nsys_range_inner(&n->ranges, thunk < 0 ? range : thunk, NOTE_MODULE);
	int32_t step = nsys_range_outer(&n->ranges, range, NOTE_STEP);
	int32_t comms = nsys_range_inner(&n->ranges, range, NOTE_COMMS);
	if (comms >= 0 && str_starts(e->name, STR("nccl")))
		event_says(e, STAT_HLO_OP, nsys_note_at(&n->ranges, comms)->op);
	if (module >= 0) {
		const struct nsys_note *says = nsys_note_at(&n->ranges, module);
		uint64_t program;
		event_says(e, STAT_HLO_MODULE, says->module);
		if (str_to_u64(says->number, &program)) {
			event_says(e, STAT_PROGRAM_ID, says->number);
			trace_program(&n->trace, program, says->module, false);
		}
	}
	if (thunk >= 0) {
		event_says(e, STAT_HLO_OP, nsys_note_at(&n->ranges, thunk)->op);
		event_says(e, STAT_NAME, scope_of(n, module, thunk, words));
	}
	if (step >= 0)
		step_add(n, d, step, e->start_ps / 1000, (e->start_ps + e->duration_ps) / 1000);
}

/* What all that a GPU does begins with. */
enum { OP_DEVICE = ROW_END + 1, OP_STREAM, OP_CORRELATION, OP_PROCESS, OP_CONTEXT, OP_OWN };
#define OP_COLUMNS "start", "end", "deviceId", "streamId", "correlationId", "globalPid", "contextId"

/* A stream is a number within a context of a process. */
static struct trace_lane *stream_of(struct nsys *n, const struct nsys_rows *r, int64_t gpu)
{
	int64_t stream = nsys_id(r, OP_STREAM);
	uint64_t owner =
		hash_mix((uint64_t)nsys_int(r, OP_PROCESS)) + (uint64_t)nsys_int(r, OP_CONTEXT);
	int64_t tid = (int64_t)((hash_mix(owner) ^ (uint64_t)stream) & INT64_MAX);
	return lane_named(n, gpu, tid, "Stream #", stream);
}

/* ENUM_CUDA_MEMCPY_OPER, in the words of a profile of JAX; arrays are memory of the device. */
static const struct str copy_names[] = { STR_INIT("MemcpyOther"), STR_INIT("MemcpyH2D"),
	STR_INIT("MemcpyD2H"), STR_INIT("MemcpyH2D"), STR_INIT("MemcpyD2H"), STR_INIT("MemcpyD2D"),
	STR_INIT("MemcpyD2D"), STR_INIT("MemcpyD2D"), STR_INIT("MemcpyD2D"),
	STR_INIT("MemcpyOther"), STR_INIT("MemcpyP2P"), STR_INIT("MemcpyH2D"),
	STR_INIT("MemcpyD2H"), STR_INIT("MemcpyD2D") };
/* ENUM_CUDA_MEM_KIND */
static const char *const memory_names[] = { "pageable", "pinned", "device", "array", "managed",
	"device_static", "managed_static" };

#define COUNT(t) (int64_t)(sizeof(t) / sizeof((t)[0]))

static const char *memory_name(const struct nsys_rows *r, int column)
{
	int64_t kind = nsys_int(r, column);
	bool known = !nsys_is_null(r, column) && kind >= 0 && kind < COUNT(memory_names);
	return known ? memory_names[kind] : "unknown";
}

/* Columns that all of them have come first; see OP_OWN. */
enum { KERNELS, GRAPHS, COPIES, FILLS, SOURCES };
static const struct source {
	const char *table;
	const char *columns[NSYS_COLUMNS];
} sources[SOURCES] = {
	[KERNELS] = { "CUPTI_ACTIVITY_KIND_KERNEL",
		{ OP_COLUMNS, "demangledName", "shortName", "mangledName", NULL } },
	[GRAPHS] = { "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", { OP_COLUMNS, "graphId", NULL } },
	[COPIES] = { "CUPTI_ACTIVITY_KIND_MEMCPY",
		{ OP_COLUMNS, "bytes", "copyKind", "srcKind", "dstKind", NULL } },
	[FILLS] = { "CUPTI_ACTIVITY_KIND_MEMSET", { OP_COLUMNS, NULL } },
};

/* What a profile of JAX calls it, and says of a copy; texts may lie in the second arena. */
static struct str op_name(const struct nsys *n, int source, const struct nsys_rows *r,
	struct arena *words, struct str *details)
{
	enum { BYTES = OP_OWN, KIND, FROM, TO };
	int64_t kind;
	switch (source) {
	case KERNELS:
		return string_of_row(n, r, OP_OWN, 3);
	case GRAPHS: /* a whole CUDA graph, where its nodes were not traced */
		return arena_fmt(words, "CudaGraphExec:%lld", (long long)nsys_int(r, OP_OWN));
	case COPIES:
		*details = arena_fmt(words, "kind_src:%s kind_dst:%s size:%lld",
			memory_name(r, FROM), memory_name(r, TO), (long long)nsys_int(r, BYTES));
		kind = nsys_int(r, KIND);
		return copy_names[kind > 0 && kind < COUNT(copy_names) ? kind : 0];
	default:
		return STR("Memset");
	}
}

static void op_read(struct nsys *n, int source, const struct nsys_rows *r)
{
	struct arena words = n->words;
	struct str details = { NULL, 0 }, name = op_name(n, source, r, &words, &details);
	int64_t start_ns, end_ns;
	int64_t pid = nsys_int(r, OP_PROCESS), gpu = gpu_of(n, pid, nsys_id(r, OP_DEVICE));
	if (gpu < 0)
		nsys_db_doubt(
			n->db, r->table, "its devices count from %lld, not from 0", (long long)gpu);
	if (gpu < 0 || !place(n, r, &start_ns, &end_ns))
		return;
	struct nsys_device *d = device_of(n, gpu);
	struct trace_lane *l = d ? stream_of(n, r, gpu) : NULL;
	if (!l)
		return;
	struct trace_event *e = event_begin(n, name, start_ns, end_ns);
	event_says(e, STAT_MEMCPY_DETAILS, details);
	int32_t range = map_get_id(&n->launch_of, launch_key(n, pid, nsys_int(r, OP_CORRELATION)));
	if (range >= 0)
		attribute(n, d, e, range, &words);
	n->trace.profile->event_count++;
	trace_write(&n->trace, l, e, NULL);
}

/* All tables at once, by start, so that a stream's lane is in order when its tables are. */
static void ops_read(struct nsys *n)
{
	struct nsys_rows rows[SOURCES];
	bool more[SOURCES];
	for (int i = 0; i < SOURCES; i++) {
		rows[i] =
			nsys_rows_open(n->db, sources[i].table, OP_CORRELATION, sources[i].columns);
		more[i] = nsys_rows_next(&rows[i]);
	}
	for (;;) {
		int first = -1;
		for (int i = 0; i < SOURCES; i++)
			if (more[i] && (first < 0 || nsys_int(&rows[i], ROW_START) <
							     nsys_int(&rows[first], ROW_START)))
				first = i;
		if (first < 0)
			return;
		op_read(n, first, &rows[first]);
		more[first] = nsys_rows_next(&rows[first]);
	}
}

/* ---- steps ----------------------------------------------------------------------------------- */

static int by_first(const void *a, const void *b)
{
	const struct nsys_step *x = a, *y = b;
	int order = order_integers(x->first_ns, y->first_ns);
	return order ? order : order_integers(x->range, y->range);
}

/*
 * A step of a device goes from its first op to that of the next step, so that steps and the time
 * between them add up.  Where the last one would end is not recorded: it is left out, unless there
 * is no other.
 */
static void steps_write(struct nsys *n, struct nsys_device *d)
{
	enum { STEPS_LANE = 1 };
	struct trace_lane *l = trace_lane_of(&n->trace, d->gpu, -STEPS_LANE);
	if (!l)
		return;
	trace_lane_name(l, STR("Steps"));
	sort_by(d->steps, d->step_count, by_first);
	for (ptrdiff_t i = 0; i < d->step_count - (d->step_count > 1); i++) {
		const struct nsys_step *s = &d->steps[i];
		int64_t end_ns = i + 1 < d->step_count ? s[1].first_ns : s->last_ns;
		struct str number = nsys_note_at(&n->ranges, s->range)->number;
		struct str name = number.p ? number : nsys_note_at(&n->ranges, s->range)->name;
		struct trace_event *e = event_begin(n, name, s->first_ns, end_ns);
		event_says(e, STAT_STEP_NUM, number);
		trace_write(&n->trace, l, e, NULL);
	}
}

void nsys_read_rows(struct nsys *n)
{
	n->by_process = nsys_db_has_column(n->db, "CUPTI_ACTIVITY_KIND_KERNEL", "globalPid");
	trace_plane_name(trace_plane_of(&n->trace, HOST_PID), STR("/host:CPU"));
	strings_read(n);
	ranges_read(n);
	calls_read(n);
	ordinals_read(n);
	ops_read(n);
	for (ptrdiff_t i = 0; i < n->device_count; i++)
		if (n->devices[i].step_count) {
			steps_write(n, &n->devices[i]);
			n->trace.profile->steps_named = n->ranges.any_wanted;
		}
}
