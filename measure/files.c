/*
 * The files of a capture: by what it is known again, the table of files, and the same in a line.
 */
#include <math.h>

#include "base/sha256.h"
#include "base/stats.h"
#include "base/text.h"
#include "base/unit.h"
#include "measure/writers.h"
#include "profile/pprof.h"

/*
 * Captures begin and end with names and times of their own, in nanoseconds, and whole files of a
 * fleet would have to be read once more for nothing.
 */
static void add_file(struct sha256 *h, const struct input *in, struct arena *keep)
{
	struct input_ends e = input_ends(in);
	sha256_field(h, arena_fmt(keep, "%lld", (long long)e.bytes));
	sha256_field(h, e.head);
	if (e.tail.len)
		sha256_field(h, e.tail);
}

struct str capture_fingerprint(const struct profile *hosts, ptrdiff_t count, struct arena *keep)
{
	struct sha256 h = sha256_new();
	for (ptrdiff_t i = 0; i < count; i++) {
		sha256_field(&h, hosts[i].host);
		add_file(&h, hosts[i].input, keep);
		profile_drop(&hosts[i]);
	}
	return sha256_id(&h, keep);
}

struct mark {
	struct input_ends ends;
	const struct profile *host;
};

static int ends_cmp(const struct input_ends *x, const struct input_ends *y)
{
	int order = order_integers(x->bytes, y->bytes);
	order = order ? order : str_cmp(x->head, y->head);
	return order ? order : str_cmp(x->tail, y->tail);
}

static int by_ends(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;
	int order = ends_cmp(&x->ends, &y->ends);
	return order ? order : str_cmp(x->host->host, y->host->host);
}

bool capture_twin(const struct profile *hosts, ptrdiff_t count, struct arena *keep,
	const struct profile *ret[2])
{
	struct mark *marks = arena_make(keep, struct mark, count + 1);
	ptrdiff_t n = 0, twin = 1;
	for (ptrdiff_t i = 0; i < count; i++) {
		struct input_ends ends = input_ends(hosts[i].input);
		if (ends.bytes > 2 * INPUT_END_BYTES)
			marks[n++] = (struct mark){ ends, &hosts[i] };
	}
	sort_by(marks, n, by_ends);
	while (twin < n && ends_cmp(&marks[twin - 1].ends, &marks[twin].ends))
		twin++;
	for (ptrdiff_t i = 0; i < count; i++)
		profile_drop(&hosts[i]);
	if (twin >= n)
		return false;
	ret[0] = marks[twin - 1].host;
	ret[1] = marks[twin].host;
	return true;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* By enum profile_format: the word of the table, and what people call such a file. */
static const struct form {
	const char *word, *file;
} forms[] = {
	[FORMAT_XPLANE] = { "xplane", "xplane.pb" },
	[FORMAT_RIEGELI] = { "riegeli", "xplane.riegeli" },
	[FORMAT_TRACE] = { "trace", "trace.json" },
	[FORMAT_NSYS] = { "nsys", "export of Nsight Systems" },
	[FORMAT_DUMP] = { "dump", "compiler's dump" },
};

/* Modules whose HLO is in the file, not only their names. */
static double modules_of(const struct profile *p)
{
	double n = 0;

	for (ptrdiff_t i = 0; i < p->hlo_count; i++)
		n += p->hlo[i].proto.len > 0;
	return n;
}

static void file_row(const struct run *run, const struct profile *p)
{
	struct files_row *row = table_new(run->tables, files, run->keep);

	struct str path = p->input->path;
	row->file = text_clean(run->keep, path_base(path));
	row->host = text_clean(run->keep, p->host);
	row->format = str_from(forms[p->format].word);
	if (p->writer.p)
		row->writer = text_clean(run->keep, p->writer);
	row->bytes = (double)p->file_bytes;
	row->planes = (double)p->plane_count;
	row->lanes = 0;
	/* A plane that shares another's lanes, as each of XLA:CPU's devices does, adds none. */
	for (ptrdiff_t i = 0; i < p->plane_count; i++)
		if (p->planes[i].platform != PLATFORM_CPU || p->planes[i].class != PLANE_DEVICE)
			row->lanes += (double)p->planes[i].lane_count;
	row->modules = modules_of(p);
	for (ptrdiff_t i = 0; i < p->snapshot_count; i++) {
		if (p->snapshots[i].why)
			continue; /* a note says so */
		row = table_new(run->tables, files, run->keep);
		row->file = text_clean(run->keep, p->snapshots[i].name);
		row->format = STR("memory-prof");
	}
}

void fill_files(const struct run *run)
{
	for (ptrdiff_t i = 0; i < run->host_count; i++)
		file_row(run, &run->hosts[i]);
}

static struct str add(const struct run *run, struct str list, double count, const char *what)
{
	if (!(count > 0))
		return list;
	return arena_fmt(
		run->keep, "%.*s%s%.0f %s", STR_ARG(list), list.len ? ", " : "", count, what);
}

/* Hosts of one job carry the same modules, so those of one are counted. */
struct str files_line(const struct run *run)
{
	double counts[COUNT_OF(forms)] = { 0 }, modules = 0, bytes = 0, snapshots = 0;
	struct str list = STR("");

	for (ptrdiff_t i = 0; i < run->host_count; i++) {
		counts[run->hosts[i].format]++;
		modules = fmax(modules, modules_of(&run->hosts[i]));
		bytes += (double)run->hosts[i].file_bytes;
		for (ptrdiff_t k = 0; k < run->hosts[i].snapshot_count; k++)
			snapshots += !run->hosts[i].snapshots[k].why;
	}
	for (ptrdiff_t i = 0; i < COUNT_OF(forms); i++)
		list = add(run, list, counts[i], forms[i].file);
	if (counts[FORMAT_DUMP] > 0)
		return list; /* its files are read one by one, as programs need them */
	struct str size = unit_text(run->keep, bytes, UNIT_BYTES);
	list = arena_fmt(run->keep, "%.*s (%.*s)", STR_ARG(list), STR_ARG(size));
	list = add(run, list, modules, modules == 1 ? "HLO module" : "HLO modules");
	if (!(modules > 0)) /* where the HLO comes from when no file holds modules */
		list = arena_fmt(run->keep, "%.*s, %s", STR_ARG(list),
			!any_hlo(run)			   ? "no HLO"
			: run->main && run->main->dumped.p ? "HLO of a dump"
							   : "HLO text of the ops that ran");
	return add(run, list, snapshots, "memory.prof");
}
