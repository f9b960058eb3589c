/* A profile of an export of Nsight Systems.  See nsys.h. */
#include "profile/nsys.h"

#include <limits.h>
#include <math.h>

/* Messages of the profiler that are kept; the first is reported. */
enum { MESSAGES_MAX = 64 };

/* ---- what it is ------------------------------------------------------------------------------ */

/* Every export has some of these. */
static const char *const own_tables[] = { "StringIds", "ANALYSIS_FILE", "TARGET_INFO_SYSTEM_ENV",
	"META_DATA_EXPORT", "EXPORT_META_DATA", "CUPTI_ACTIVITY_KIND_KERNEL",
	"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "CUPTI_ACTIVITY_KIND_MEMCPY",
	"CUPTI_ACTIVITY_KIND_MEMSET" };

#define COUNT(t) (sizeof(t) / sizeof((t)[0]))

static bool has_any(const struct nsys_db *db, const char *const *tables, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (nsys_db_has(db, tables[i]))
			return true;
	return false;
}

static bool check_kind(const struct nsys_db *db, struct diag *err)
{
	if (has_any(db, own_tables, COUNT(own_tables)))
		return true;
	return diag_set(err, DIAG_FILE_KIND,
		"a database, but not of Nsight Systems: it has no table StringIds; make one with "
		"`nsys export --type sqlite REPORT.nsys-rep`");
}

/* ---- chips ----------------------------------------------------------------------------------- */

static int count_of(const struct nsys_rows *r, int column)
{
	int64_t n = nsys_int(r, column);
	return n < 0 ? 0 : n > INT_MAX ? INT_MAX : (int)n;
}

/* 0 stands for unknown in what older versions wrote. */
static double known_of(const struct nsys_rows *r, int column)
{
	double x = nsys_real(r, column);
	return x > 0 ? x : NAN;
}

/* What both tables of GPUs begin with. */
enum { GPU_ID, GPU_NAME, GPU_MAJOR, GPU_MINOR, GPU_CORES, GPU_MEMORY, GPU_OWN };

static struct chip_hints *chip_read(struct nsys *n, const struct nsys_rows *r)
{
	struct nsys_chip *chip = arena_push(n->scratch, n->chips, n->chip_count, n->chip_cap);
	struct chip_hints *c = &chip->says;
	chip->gpu = nsys_int(r, GPU_ID);
	*c = CHIP_HINTS_NONE;
	c->vendor = STR("Nvidia");
	c->device_name = arena_str(n->trace.keep, nsys_text(r, GPU_NAME));
	c->cc_major = count_of(r, GPU_MAJOR);
	c->cc_minor = count_of(r, GPU_MINOR);
	c->core_count = count_of(r, GPU_CORES);
	c->memory_bytes = known_of(r, GPU_MEMORY);
	return c;
}

/* Since the middle of 2021, with a clock in Hz and bytes a second; before, the units are not
 * documented, so those are left out. */
static void chips_read(struct nsys *n)
{
	static const char *const columns[] = { "id", "name", "computeMajor", "computeMinor",
		"smCount", "totalMemory", "clockRate", "memoryBandwidth", NULL };
	static const char *const old_columns[] = { "deviceId", "name", "computeCapabilityMajor",
		"computeCapabilityMinor", "numMultiprocessors", "globalMemorySize", NULL };
	struct nsys_rows r = nsys_rows_open(n->db, "TARGET_INFO_GPU", 1, columns);
	while (nsys_rows_next(&r) && n->chip_count < XPLANE_MAX_PLANES) {
		struct chip_hints *c = chip_read(n, &r);
		c->clock_hz = known_of(&r, GPU_OWN);
		c->memory_bps = known_of(&r, GPU_OWN + 1);
	}
	r = nsys_rows_open(n->db, "TARGET_INFO_CUDA_GPU", 1, old_columns);
	while (nsys_rows_next(&r) && n->chip_count < XPLANE_MAX_PLANES)
		chip_read(n, &r);
}

/* A plane's key is its GPU's number; the first row of a number counts. */
static void chips_apply(struct nsys *n)
{
	struct profile *profile = n->trace.profile;
	for (ptrdiff_t i = 0; i < profile->plane_count; i++)
		for (ptrdiff_t k = n->chip_count - 1; k >= 0; k--)
			if (profile->planes[i].class == PLANE_DEVICE &&
				profile->planes[i].ordinal == n->chips[k].gpu)
				profile->planes[i].chip = n->chips[k].says;
}

/* ---- the session ----------------------------------------------------------------------------- */

static int64_t positive_of(struct nsys *n, const char *table, const char *column)
{
	const char *const columns[] = { column, NULL };
	struct nsys_rows r = nsys_rows_open(
		n->db, nsys_db_has_column(n->db, table, column) ? table : "", 1, columns);
	int64_t found = 0;
	while (nsys_rows_next(&r))
		found = found ? found : nsys_int(&r, 0);
	return found > 0 ? found : 0;
}

static void session_read(struct nsys *n)
{
	struct profile *p = n->trace.profile;
	int64_t length_ns = positive_of(n, "ANALYSIS_DETAILS", "duration");
	p->start_ns = positive_of(n, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs");
	if (!p->start_ns || __builtin_add_overflow(p->start_ns, length_ns, &p->stop_ns))
		p->start_ns = p->stop_ns = 0;
}

/* Of a table of names and values: the last of that name, or the missing string. */
static struct str value_named(struct nsys *n, const char *table, struct str name)
{
	static const char *const columns[] = { "name", "value", NULL };
	struct str value = { NULL, 0 };
	struct nsys_rows r = nsys_rows_open(n->db, table, 2, columns);
	while (nsys_rows_next(&r))
		if (str_eq(nsys_text(&r, 0), name))
			value = arena_str(n->trace.keep, nsys_text(&r, 1));
	return value;
}

/* Of the machine's environment only these: variables of the shell stand in the same table. */
static void versions_read(struct nsys *n)
{
	static const char machine[] = "TARGET_INFO_SYSTEM_ENV";
	struct profile *p = n->trace.profile;
	struct arena *keep = n->trace.keep;
	struct str nsight = value_named(n, "META_DATA_EXPORT", STR("EXPORT_PRODUCT_VERSION"));
	struct str cuda = value_named(n, machine, STR("CudaDriverVersion"));
	struct str driver = value_named(n, machine, STR("NvDriverVersion"));
	uint64_t number; /* 12080 is CUDA 12.8 */
	if (nsight.p)
		p->writer = arena_fmt(keep, "Nsight Systems %.*s", STR_ARG(nsight));
	if (driver.p)
		p->versions.runtime = arena_fmt(keep, "driver %.*s", STR_ARG(driver));
	if (str_to_u64(cuda, &number) && number >= 1000)
		p->versions.runtime = arena_fmt(keep, "CUDA %llu.%llu%s%.*s",
			(unsigned long long)number / 1000, (unsigned long long)number % 1000 / 10,
			driver.p ? ", " : "", STR_ARG(p->versions.runtime));
}

/*
 * What a message is about has no number, and a loss may be a mere notice.  Most warnings are of
 * counters and samples that were not asked for.
 */
static bool is_loss(struct str text)
{
	static const struct str losses[] = { STR_INIT("Not all"), STR_INIT("ropped"),
		STR_INIT(" lost"), STR_INIT("be missing") };
	for (ptrdiff_t i = 0; i < COUNT_OF(losses); i++)
		if (str_contains(text, losses[i]))
			return true;
	return false;
}

/* About something that is not read: a container may not sample its CPUs, say. */
static bool is_aside(struct str text)
{
	static const struct str asides[] = { STR_INIT("CPU"), STR_INIT("ontext switch"),
		STR_INIT("Unified Memory"), STR_INIT("GPU Metrics"), STR_INIT("perf event"),
		STR_INIT("OpenGL"), STR_INIT("Vulkan"), STR_INIT("OS runtime") };
	for (ptrdiff_t i = 0; i < COUNT_OF(asides); i++)
		if (str_contains(text, asides[i]))
			return true;
	return false;
}

static void messages_read(struct nsys *n)
{
	enum { SEVERITY_ERROR = 3 };
	static const char *const columns[] = { "severity", "text", NULL };
	struct profile *p = n->trace.profile;
	ptrdiff_t cap = 0;
	struct nsys_rows r = nsys_rows_open(n->db, "DIAGNOSTIC_EVENT", 2, columns);
	while (nsys_rows_next(&r)) {
		int64_t severity = nsys_int(&r, 0);
		struct str text = nsys_text(&r, 1);
		bool counts = (severity == SEVERITY_ERROR || is_loss(text)) && !is_aside(text);
		if (counts && str_contains(text, STR("NVTX")))
			p->ranges_lost =
				p->ranges_lost.p ? p->ranges_lost : arena_str(n->trace.keep, text);
		else if (counts && p->warning_count < MESSAGES_MAX)
			*arena_push(n->trace.keep, p->warnings, p->warning_count, cap) =
				arena_str(n->trace.keep, text);
	}
}

/* ---- the profile ----------------------------------------------------------------------------- */

/* A driver that is newer than the profiler, or a profiler that ends before the program. */
static bool without_work(const struct nsys *n, struct diag *err)
{
	if (n->launches)
		return diag_set(err, DIAG_NSYS,
			"an export of Nsight Systems that holds %lld launch%s and nothing of what "
			"a GPU did; profile with an Nsight Systems as new as the GPU's driver, and "
			"let the program end before the profile",
			(long long)n->launches, n->launches == 1 ? "" : "es");
	return diag_set(err, DIAG_NSYS,
		"an export of Nsight Systems in which no work of a GPU was recorded; profile with "
		"`nsys profile --trace=cuda,nvtx`, while the program computes");
}

static bool read_all(struct nsys *n, struct str bytes, struct diag *err)
{
	if (!nsys_db_open(bytes, n->scratch, &n->db, err) || !check_kind(n->db, err))
		return false;
	session_read(n);
	versions_read(n);
	messages_read(n);
	chips_read(n);
	nsys_read_rows(n);
	if (!nsys_db_end(n->db, err))
		return false;
	if (n->trace.limit)
		return diag_set(err, DIAG_LIMIT, "the export has too many %s", n->trace.limit);
	return n->device_count > 0 || without_work(n, err);
}

bool nsys_open(struct input *in, struct str host, struct str step, struct arena *keep,
	struct profile *ret, struct diag *err)
{
	enum { WORDS_BYTES = 64 << 10 };
	struct arena scratch = arena_new(ARENA_RUN_BYTES), words = arena_new(WORDS_BYTES);
	struct nsys *n = arena_make(&scratch, struct nsys, 1);
	*ret = (struct profile){
		.format = FORMAT_NSYS, .input = in, .host = host, .file_bytes = in->bytes.len
	};
	trace_start(&n->trace, ret, keep, &scratch);
	n->trace.plain = true;
	n->scratch = n->ranges.keep = &scratch;
	n->ranges.wanted = step;
	n->words = words;
	bool ok = read_all(n, in->bytes, err);
	nsys_db_close(n->db);
	ok = trace_finish(&n->trace, ok, in, err);
	if (ok)
		chips_apply(n);
	arena_free(&words);
	arena_free(&scratch);
	return ok;
}
