/*
 * What lies in the log directory, beside plugins/, and would have been read beside the profile:
 *
 *	logdir/memory.prof			jax.profiler.save_device_memory_profile
 *	logdir/module_0042.jit_f....txt		--xla_dump_to
 *	logdir/plugins/profile/RUN/
 *
 * It may be of another run of the job, so it is told of and not taken.
 */
#include "base/tree.h"
#include "session/load.h"

/* Of "logdir/plugins/profile/RUN", or a file in it; missing for any other path. */
static struct str log_dir_of(const struct loaded *l)
{
	struct str path = l->run.files[0].path, end = STR("plugins/profile");
	path = str_head(path, str_rfind_char(path, '/'));
	path = str_head(path, str_rfind_char(path, '/'));
	if (!str_ends(path, end))
		return str_from(NULL);
	path = str_head(path, path.len - end.len);
	if (!path.len)
		return STR(".");
	if (!str_ends(path, STR("/")))
		return str_from(NULL);
	return path.len > 1 ? str_head(path, path.len - 1) : path;
}

static bool has_programs(const struct loaded *l)
{
	for (ptrdiff_t i = 0; i < l->count; i++)
		for (ptrdiff_t k = 0; k < l->profiles[i].hlo_count; k++)
			if (l->profiles[i].hlo[k].proto.len)
				return true;
	return false;
}

void note_above(const struct loaded *l, const struct load_options *options, struct arena *keep,
	struct diag_list *notes)
{
	struct arena scratch = arena_new(ARENA_SCRATCH_BYTES);
	struct str dir = l->run.tree == &tree_local ? log_dir_of(l) : str_from(NULL);
	struct str dump = { NULL, 0 }, snapshot = { NULL, 0 };
	struct dir_entry *entries;
	struct diag ignored;
	ptrdiff_t count = 0;
	bool lacks_dump = !options->hlo.p && !l->dump.count && !has_programs(l);

	if (!dir.p || !dir_list(dir, &scratch, &entries, &count, &ignored))
		count = 0;
	for (ptrdiff_t i = 0; i < count; i++) {
		if (entries[i].is_dir || str_starts(entries[i].name, STR(".")))
			continue;
		if (!dump.p && lacks_dump && dump_is_program(entries[i].name))
			dump = entries[i].name;
		if (!snapshot.p && !l->run.snapshot_count &&
			str_ends(entries[i].name, STR(".prof")))
			snapshot = entries[i].name;
	}
	if (dump.p)
		diag_note(notes, keep, DIAG_FILE_KIND,
			"the profile has no HLO, and %.*s in the log directory was not taken for "
			"it; give --hlo %.*s if that is the run's",
			STR_ARG(dump), STR_ARG(dir));
	if (snapshot.p)
		diag_note(notes, keep, DIAG_FILE_KIND,
			"%.*s in the log directory was not read; lay it beside the run's "
			"*.xplane.pb if it is of that",
			STR_ARG(snapshot));
	arena_free(&scratch);
}
