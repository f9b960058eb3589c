/*
 * What was read: the table of files, and the same in a line for the run.
 */
#include <math.h>

#include "base/text.h"
#include "base/unit.h"
#include "measure/writers.h"
#include "profile/pprof.h"

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
enum { FORMS = sizeof(forms) / sizeof(forms[0]) };

/* Modules whose HLO is in the file, not only their names. */
static double modules_of(const struct profile *p)
{
	double n = 0;

	for (ptrdiff_t i = 0; i < p->hlo_count; i++)
		n += p->hlo[i].proto.len > 0;
	return n;
}

static void file_row(const struct capture *in, struct tables *tables, const struct profile *p)
{
	struct files_row *row = table_new(tables, files, in->keep);

	struct str path = p->input->path;
	row->file = text_clean(in->keep, str_from_offset(path, str_rfind_char(path, '/') + 1));
	row->host = text_clean(in->keep, p->host);
	row->format = str_from(forms[p->format].word);
	if (p->writer.p)
		row->writer = text_clean(in->keep, p->writer);
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
		row = table_new(tables, files, in->keep);
		row->file = text_clean(in->keep, p->snapshots[i].name);
		row->format = STR("memory-prof");
	}
}

void fill_files(const struct capture *in, struct tables *tables)
{
	for (ptrdiff_t i = 0; i < in->host_count; i++)
		file_row(in, tables, &in->hosts[i]);
}

static struct str add(const struct capture *in, struct str list, double count, const char *what)
{
	if (!(count > 0))
		return list;
	return arena_fmt(
		in->keep, "%.*s%s%.0f %s", STR_ARG(list), list.len ? ", " : "", count, what);
}

/* Hosts of one job carry the same modules, so those of one are counted. */
struct str files_line(const struct capture *in, const struct swept *run)
{
	double counts[FORMS] = { 0 }, modules = 0, bytes = 0, snapshots = 0;
	struct str list = STR("");

	for (ptrdiff_t i = 0; i < in->host_count; i++) {
		counts[in->hosts[i].format]++;
		modules = fmax(modules, modules_of(&in->hosts[i]));
		bytes += (double)in->hosts[i].file_bytes;
		for (ptrdiff_t k = 0; k < in->hosts[i].snapshot_count; k++)
			snapshots += !in->hosts[i].snapshots[k].why;
	}
	for (int i = 0; i < FORMS; i++)
		list = add(in, list, counts[i], forms[i].file);
	if (counts[FORMAT_DUMP] > 0)
		return list; /* its files are read one by one, as programs need them */
	struct str size = unit_text(in->keep, bytes, UNIT_BYTES);
	list = arena_fmt(in->keep, "%.*s (%.*s)", STR_ARG(list), STR_ARG(size));
	list = add(in, list, modules, modules == 1 ? "HLO module" : "HLO modules");
	if (!(modules > 0)) /* where the HLO comes from when no file holds modules */
		list = arena_fmt(in->keep, "%.*s, %s", STR_ARG(list),
			!any_hlo(in, run)		   ? "no HLO"
			: run->main && run->main->dumped.p ? "HLO of a dump"
							   : "HLO text of the ops that ran");
	return add(in, list, snapshots, "memory.prof");
}
