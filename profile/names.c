/*
 * What producers call things: planes, lines, host events, copies and stats.
 */
#include "profile/xplane.h"

#include <assert.h>

static const struct str stat_names[STAT_COUNT] = {
#define X(id, name) STR_INIT(name),
	PROFILE_STATS(X)
#undef X
};

struct str stat_name_of(int id)
{
	assert(id >= 0 && id < STAT_COUNT);
	return stat_names[id];
}

int stat_id_of(struct str name)
{
	for (int i = 0; i < STAT_COUNT; i++)
		if (stat_names[i].len == name.len && str_eq(stat_names[i], name))
			return i;
	return -1;
}

/* "/device:TPU:3" -> 3, or -1 when something else follows the prefix. */
static int64_t ordinal_after(struct str name, struct str prefix)
{
	int64_t n;
	struct str rest = str_from_offset(name, prefix.len);
	struct str head, tail;

	/* " [1234]": the process a merged profile came from */
	if (str_cut(rest, ' ', &head, &tail) && !str_starts(tail, STR("[")))
		return -1;
	return str_to_i64(head, &n) && n >= 0 ? n : -1;
}

enum plane_class plane_class_of(struct str name, enum platform *platform, int64_t *ordinal)
{
	*ordinal = -1;
	if (str_starts(name, STR("/device:TPU:"))) {
		*platform = PLATFORM_TPU;
		if (str_contains(name, STR(" SparseCore")))
			return PLANE_SPARSE;
		*ordinal = ordinal_after(name, STR("/device:TPU:"));
		return *ordinal >= 0 ? PLANE_DEVICE : PLANE_OTHER;
	}
	if (str_starts(name, STR("/device:GPU:"))) {
		*ordinal = ordinal_after(name, STR("/device:GPU:"));
		return *ordinal >= 0 ? PLANE_DEVICE : PLANE_OTHER;
	}
	if (str_eq(name, STR("/host:metadata")))
		return PLANE_METADATA;
	if (str_eq(name, STR("/host:CPU")) || str_starts(name, STR("/host:CPU [")))
		return PLANE_HOST;
	if (str_eq(name, STR("Task Environment")))
		return PLANE_ENVIRONMENT;
	return PLANE_OTHER;
}

/* XProf derives lines when it re-saves a file; their ids start at this and are not ours to read. */
static bool id_is_derived(int64_t id)
{
	return id >= INT64_C(-559038737) && id < INT64_C(-559038737) + 1000;
}

enum lane_class lane_class_of(struct str name, enum plane_class plane, int64_t id)
{
	static const struct {
		struct str name;
		enum lane_class class;
	} device_lanes[] = {
		{ STR_INIT("XLA Ops"), LANE_OPS },
		{ STR_INIT("XLA Modules"), LANE_MODULES },
		{ STR_INIT("Steps"), LANE_STEPS },
		{ STR_INIT("Sparse Core Ops"), LANE_OPS },
		{ STR_INIT("Sparse Core Modules"), LANE_MODULES },
		{ STR_INIT("Sparse Core Steps"), LANE_STEPS },
	};

	if (plane == PLANE_HOST)
		return LANE_HOST;
	if ((plane != PLANE_DEVICE && plane != PLANE_SPARSE) || id_is_derived(id))
		return LANE_OTHER;
	for (ptrdiff_t i = 0; i < COUNT_OF(device_lanes); i++)
		if (str_eq(name, device_lanes[i].name))
			return device_lanes[i].class;
	return str_starts(name, STR("Stream #")) ? LANE_STREAM : LANE_OTHER;
}

/* How a host event's name tells its class; the first row that fits decides. */
enum match { STARTS, EQUALS, CONTAINS, ENDS, FRAME /* but for the line's number */ };
static const struct {
	enum match how;
	struct str text;
	enum host_class class;
} host_names[] = {
	{ STARTS, STR_INIT("end: "), HOST_OTHER }, /* twin of a CPU op */
	{ EQUALS, STR_INIT("MemoryAllocation"), HOST_ALLOCATION },
	{ EQUALS, STR_INIT("MemoryDeallocation"), HOST_DEALLOCATION },
	{ STARTS, STR_INIT("PjitFunction("), HOST_LAUNCH },
	{ STARTS, STR_INIT("backend_compile"), HOST_COMPILE },
	{ EQUALS, STR_INIT("TfrtTpuCompiler::Compile"), HOST_COMPILER },
	{ EQUALS, STR_INIT("CpuCompiler::RunBackend"), HOST_COMPILER },
	{ EQUALS, STR_INIT("GpuCompiler::RunBackend"), HOST_COMPILER },
	{ EQUALS, STR_INIT("XlaCompile"), HOST_COMPILE }, /* NVTX ranges of XLA */
	{ EQUALS, STR_INIT("XlaCompileBackend"), HOST_COMPILER },
	{ EQUALS, STR_INIT("D2H Dispatch"), HOST_TRANSFER },
	{ EQUALS, STR_INIT("H2D Dispatch"), HOST_TRANSFER },
	{ EQUALS, STR_INIT("tpu::System::TransferToDevice"), HOST_TRANSFER },
	{ EQUALS, STR_INIT("tpu::System::TransferFromDevice"), HOST_TRANSFER },
	{ STARTS, STR_INIT("DevicePutWithSharding"), HOST_TRANSFER },
	/* Python's tracer writes "$file.py:12 function"; tf.data and people's own annotations. */
	{ EQUALS, STR_INIT("$<unknown> __enter__"), HOST_WAIT }, /* of a lock */
	{ CONTAINS, STR_INIT(" __enter__"), HOST_SCOPE },
	{ CONTAINS, STR_INIT(" __exit__"), HOST_SCOPE },
	{ CONTAINS, STR_INIT("ad_checkpoint.py"), HOST_OTHER }, /* rematerialisation */
	{ CONTAINS, STR_INIT("checkpoint"), HOST_CHECKPOINT },
	{ EQUALS, STR_INIT("$builtins next"), HOST_INPUT },
	{ FRAME, STR_INIT("$queue.py: get"), HOST_QUEUE },    /* what puts waits for a reader */
	{ FRAME, STR_INIT("$queues.py: get"), HOST_QUEUE },   /* of another process */
	{ FRAME, STR_INIT("$_base.py: result"), HOST_QUEUE }, /* of a pool of threads */
	{ EQUALS, STR_INIT("$<unknown> get"), HOST_WAIT },    /* of a queue.SimpleQueue */
	{ FRAME, STR_INIT("$queue.py: put"), HOST_PUT },
	{ EQUALS, STR_INIT("$<unknown> acquire"), HOST_WAIT }, /* of a lock, a semaphore */
	{ EQUALS, STR_INIT("$<unknown> poll"), HOST_WAIT },
	{ STARTS, STR_INIT("$select "), HOST_WAIT },
	{ EQUALS, STR_INIT("$<unknown> accept"), HOST_WAIT },
	{ STARTS, STR_INIT("$<unknown> recv"), HOST_WAIT },
	{ FRAME, STR_INIT("$socket.py: recv"),
		HOST_WAIT }, /* of ZeroMQ, whose calls are not traced */
	{ FRAME, STR_INIT("$socket.py: recv_multipart"), HOST_WAIT },
	{ FRAME, STR_INIT("$poll.py: poll"), HOST_WAIT },
	{ EQUALS, STR_INIT("$posix read"), HOST_WAIT }, /* from another process */
	{ EQUALS, STR_INIT("$time sleep"), HOST_WAIT },
	{ STARTS, STR_INIT("next("), HOST_INPUT },
	{ ENDS, STR_INIT("__next__"), HOST_INPUT }, /* of a function, or "Loader.__next__" */
	/* A generator that goes on is called by its own name. */
	{ ENDS, STR_INIT(" __iter__"), HOST_INPUT },
	{ ENDS, STR_INIT("loader"), HOST_INPUT },
	{ ENDS, STR_INIT("batches"), HOST_INPUT },
	{ ENDS, STR_INIT("data_iter"), HOST_INPUT },
	{ ENDS, STR_INIT("data_iterator"), HOST_INPUT },
	{ ENDS, STR_INIT("data_generator"), HOST_INPUT },
	{ ENDS, STR_INIT("batch_iterator"), HOST_INPUT },
	{ ENDS, STR_INIT("batch_generator"), HOST_INPUT },
	/* A helper of the job's own that makes the batch, and not one that trains on it. */
	{ CONTAINS, STR_INIT(" next_batch"), HOST_INPUT },
	{ CONTAINS, STR_INIT(" get_batch"), HOST_INPUT },
	{ CONTAINS, STR_INIT(" load_batch"), HOST_INPUT },
	{ CONTAINS, STR_INIT(" make_batch"), HOST_INPUT },
	{ CONTAINS, STR_INIT(" read_batch"), HOST_INPUT },
	{ CONTAINS, STR_INIT(" fetch_batch"), HOST_INPUT },
	{ CONTAINS, STR_INIT(" sample_batch"), HOST_INPUT },
	{ CONTAINS, STR_INIT(" prepare_batch"), HOST_INPUT },
	{ CONTAINS, STR_INIT(" collate"), HOST_INPUT },
	{ CONTAINS, STR_INIT(" load_data"), HOST_INPUT },
	{ ENDS, STR_INIT(" load"), HOST_INPUT },
	{ STARTS, STR_INIT("IteratorGetNext"), HOST_INPUT },
	{ STARTS, STR_INIT("Iterator::"), HOST_INPUT },
	{ CONTAINS, STR_INIT(" block_until_ready"), HOST_SYNC },
	{ CONTAINS, STR_INIT(" device_get"), HOST_SYNC },
	/* Of an array: what float(), numpy.asarray(), .item() and .tolist() come to. */
	{ CONTAINS, STR_INIT(" _value"), HOST_SYNC },
	{ CONTAINS, STR_INIT(" __array__"), HOST_SYNC },
	{ FRAME, STR_INIT("$dispatch.py: check_special"), HOST_SYNC }, /* of jax_debug_nans */
	{ STARTS, STR_INIT("block_until_ready"), HOST_SYNC },
	{ EQUALS, STR_INIT("TfrtTpuBuffer::ToLiteral"), HOST_SYNC },
	{ CONTAINS, STR_INIT("pure_callback_impl"), HOST_CALLBACK },
	{ CONTAINS, STR_INIT("io_callback_impl"), HOST_CALLBACK },
	{ CONTAINS, STR_INIT("debug_callback_impl"), HOST_CALLBACK },
	/* These return when the copy is done, where the host's side of it is pageable (CUDA's "API
	 * synchronization behavior"). */
	{ EQUALS, STR_INIT("cudaMemcpy"), HOST_SYNC },
	{ EQUALS, STR_INIT("cudaMemcpyAsync"), HOST_SYNC },
	{ EQUALS, STR_INIT("cudaDeviceSynchronize"), HOST_SYNC },
	{ EQUALS, STR_INIT("cudaEventSynchronize"), HOST_SYNC },
	{ EQUALS, STR_INIT("cudaStreamSynchronize"), HOST_SYNC },
	{ EQUALS, STR_INIT("cuCtxSynchronize"), HOST_SYNC },
	{ EQUALS, STR_INIT("cuEventSynchronize"), HOST_SYNC },
	{ EQUALS, STR_INIT("cuStreamSynchronize"), HOST_SYNC },
	{ CONTAINS, STR_INIT(" start_trace"), HOST_PROFILER },
	{ CONTAINS, STR_INIT(" stop_trace"), HOST_PROFILER },
	{ FRAME, STR_INIT("$threading.py: _bootstrap"), HOST_THREAD },
	{ FRAME, STR_INIT("$threading.py: _bootstrap_inner"), HOST_THREAD },
	{ STARTS, STR_INIT("$"), HOST_FRAME },
	{ STARTS, STR_INIT("wait"), HOST_WAIT }, /* people's own annotations */
	{ ENDS, STR_INIT("_wait"), HOST_WAIT },
	{ STARTS, STR_INIT("idle"), HOST_WAIT },
};

static bool matches(enum match how, struct str name, struct str text)
{
	switch (how) {
	case STARTS:
		return str_starts(name, text);
	case EQUALS:
		return str_eq(name, text);
	case ENDS:
		return str_ends(name, text);
	case FRAME:
		return str_starts(name, str_head(text, str_find(text, STR(" ")))) &&
		       str_ends(name, str_from_offset(text, str_find(text, STR(" "))));
	default:
		return str_contains(name, text);
	}
}

enum host_class host_class_of(struct str name)
{
	for (ptrdiff_t i = 0; i < COUNT_OF(host_names); i++)
		if (matches(host_names[i].how, name, host_names[i].text))
			return host_names[i].class;
	return HOST_OTHER;
}

static const struct {
	struct str text;
	enum copy_direction direction;
} copy_names[] = {
	{ STR_INIT("MemcpyH2D"), COPY_H2D },
	{ STR_INIT("MemcpyD2H"), COPY_D2H },
	{ STR_INIT("MemcpyD2D"), COPY_D2D },
	{ STR_INIT("MemcpyP2P"), COPY_P2P },
	{ STR_INIT("MemcpyOther"), COPY_UNKNOWN },
	{ STR_INIT("CopyHostToDevice"), COPY_H2D },
	{ STR_INIT("CopyDeviceToHost"), COPY_D2H },
	{ STR_INIT("CopyDeviceToDevice"), COPY_D2D },
	{ STR_INIT("PeerToPeer"), COPY_P2P },
	{ STR_INIT("__amd_rocclr_copyBuffer"), COPY_UNKNOWN },
};

/* "kind_src:pageable kind_dst:device": what NVIDIA's details say of both ends. */
static enum copy_direction direction_of_details(struct str details)
{
	bool from_device = str_contains(details, STR("kind_src:device"));
	bool to_device = str_contains(details, STR("kind_dst:device"));

	if (!str_contains(details, STR("kind_src:")))
		return COPY_UNKNOWN;
	if (from_device && to_device)
		return COPY_D2D;
	return from_device ? COPY_D2H : to_device ? COPY_H2D : COPY_UNKNOWN;
}

enum copy_direction copy_direction_of(struct str kernel, struct str details)
{
	for (ptrdiff_t i = 0; i < COUNT_OF(copy_names); i++) {
		if (!str_starts(kernel, copy_names[i].text))
			continue;
		if (copy_names[i].direction != COPY_UNKNOWN)
			return copy_names[i].direction;
		return direction_of_details(details);
	}
	return details.len > 0 ? direction_of_details(details) : COPY_NONE;
}

bool module_name_of(struct str text, struct str *name, uint64_t *program)
{
	ptrdiff_t open = str_rfind_char(text, '(');

	*name = text;
	if (open < 0 || !str_ends(text, STR(")")))
		return false;
	struct str digits = str_from_offset(str_head(text, text.len - 1), open + 1);
	if (!str_to_u64(digits, program))
		return false;
	*name = str_head(text, open);
	return true;
}
