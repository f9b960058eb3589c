/* Names of a compiler's dump.  See dump.h. */
#include "profile/dump.h"

#include <assert.h>
#include <stdlib.h>

#include "base/out.h"
#include "base/stats.h"
#include "base/text.h"
#include "profile/stream.h"

/* Of a file unpacked: the text of a program of a million instructions. */
#define DUMP_BYTES ((int64_t)1 << 30)

/* The first that fits: the longer endings stand before those they end in. */
static const struct ending {
	struct str text;
	enum dump_form form;
} endings[] = {
	{ STR_INIT("after_optimizations-buffer-assignment.txt"), DUMP_BUFFERS },
	{ STR_INIT("after_optimizations-memory-usage-report.txt"), DUMP_MEMORY },
	{ STR_INIT("after_optimizations.txt"), DUMP_TEXT },
	{ STR_INIT("after_optimizations.hlo.pb"), DUMP_PROTO },
	{ STR_INIT(".hlo_proto.pb"), DUMP_PROTO },
};
enum { ENDINGS = sizeof(endings) / sizeof(endings[0]) };

/* A file's name as if it were not packed. */
static struct str unpacked(struct str name)
{
	static const struct str gz = STR_INIT(".gz");
	return str_ends(name, gz) ? str_head(name, name.len - gz.len) : name;
}

static const struct ending *ending_of(struct str file)
{
	struct str name = unpacked(file);
	for (int i = 0; i < ENDINGS; i++)
		if (str_ends(name, endings[i].text) && name.len > endings[i].text.len)
			return &endings[i];
	return NULL;
}

/* TPU programs have nothing between their name's '.' and the ending. */
static struct str stem_of(struct str file, const struct ending *e)
{
	struct str name = unpacked(file), stem = str_head(name, name.len - e->text.len);
	return str_ends(stem, STR(".")) ? str_head(stem, stem.len - 1) : stem;
}

/* Is a file of that name a part of a dump?  Any form will do. */
static bool dump_is_file(struct str name)
{
	return ending_of(name) && !str_starts(name, STR("."));
}

bool dump_is_program(struct str name)
{
	const struct ending *e = ending_of(name);
	return dump_is_file(name) && (e->form == DUMP_TEXT || e->form == DUMP_PROTO);
}

/* "module_0042." in front */
static bool take_number(struct str *name, int64_t *ret)
{
	struct str rest = *name, digits;
	if (!str_take(&rest, STR("module_")) || !str_cut(rest, '.', &digits, &rest) ||
		!str_to_i64(digits, ret) || *ret < 0)
		return false;
	*name = rest;
	return true;
}

/* "(15)" behind, which is the program's id. */
static bool cut_id(struct str *name, int64_t *ret)
{
	ptrdiff_t open = str_rfind_char(*name, '(');
	struct str id = str_from_offset(*name, open + 1);
	if (open <= 0 || !str_ends(id, STR(")")) || !str_to_i64(str_head(id, id.len - 1), ret) ||
		*ret < 0)
		return false;
	*name = str_head(*name, open);
	return true;
}

static struct dump_module module_of(struct str stem)
{
	struct dump_module m = { .stem = stem, .name = stem, .number = -1 };
	if (!take_number(&m.name, &m.number))
		cut_id(&m.name, &m.number);
	return m;
}

static bool add_file(
	struct dump *d, struct map *stems, struct str name, struct arena *keep, struct diag *err)
{
	const struct ending *e = ending_of(name);
	assert(e); /* by dump_is_file */
	struct str stem = stem_of(name, e);
	int32_t at = map_get(stems, stem);
	if (at == MAP_NONE) {
		if (d->count >= DUMP_MAX_MODULES)
			return diag_set(err, DIAG_LIMIT,
				"%.*s: more than %d programs in one dump; name a directory with "
				"those of the job",
				STR_ARG(d->dir), DUMP_MAX_MODULES);
		at = (int32_t)d->count;
		map_put(stems, stem, at, keep);
		*arena_push(keep, d->modules, d->count, d->cap) = module_of(stem);
	}
	d->modules[at].path[e->form] = path_join(d->dir, name, keep);
	return true;
}

bool dump_list(struct str dir, struct arena *keep, struct dump *ret, struct diag *err)
{
	struct dir_entry *entries;
	ptrdiff_t count;
	struct map stems = { 0 };
	*ret = (struct dump){ .dir = dir };
	if (!dir_list(dir, keep, &entries, &count, err))
		return false;
	for (ptrdiff_t i = 0; i < count; i++)
		if (!entries[i].is_dir && dump_is_file(entries[i].name) &&
			!add_file(ret, &stems, entries[i].name, keep, err))
			return false;
	sort_by(ret->modules, ret->count, names_order);
	return true;
}

bool dump_of_file(struct str path, struct arena *keep, struct dump *ret, struct diag *err)
{
	struct str name = path_base(path);
	const struct ending *e = ending_of(name);
	if (!e || !dump_list(path_parent(path), keep, ret, err))
		return e || diag_set(err, DIAG_FILE_KIND, "%.*s: not a file of a compiler's dump",
				    STR_ARG(path));
	struct dump_module only = { .stem = stem_of(name, e) };
	ret->modules = bsearch(&only, ret->modules, (size_t)ret->count, sizeof(only), names_order);
	ret->count = ret->modules ? 1 : 0;
	return true;
}

enum dump_form dump_program_form(const struct dump_module *m)
{
	return m->path[DUMP_PROTO].p ? DUMP_PROTO : DUMP_TEXT;
}

bool dump_has_program(const struct dump_module *m)
{
	return m->path[dump_program_form(m)].p != NULL;
}

void dump_profile(struct dump *d, enum platform platform, struct arena *keep, struct input *in,
	struct profile *ret)
{
	struct out *list = out_memory(keep);
	struct diag ignored;
	for (ptrdiff_t i = 0; i < d->count; i++) {
		struct dump_module *m = &d->modules[i];
		struct str bytes;
		if (!dump_has_program(m))
			continue;
		dump_bytes(m, dump_program_form(m), keep, &bytes, &ignored);
		out_fmt(list, "%.*s %td %016llx\n", STR_ARG(m->stem), bytes.len,
			(unsigned long long)str_hash(bytes));
	}
	*in = input_memory(d->dir, out_text(list));
	*ret = (struct profile){ .format = FORMAT_DUMP, .input = in, .host = STR("dump") };
	ret->planes = arena_make(keep, struct plane, 1);
	ret->plane_count = 1;
	ret->planes[0] = (struct plane){ .profile = ret,
		.name = STR("each device"),
		.class = PLANE_DEVICE,
		.platform = platform,
		.ordinal = -1,
		.chip = CHIP_HINTS_NONE };
}

bool dump_check(const struct dump *d, struct diag *err)
{
	for (ptrdiff_t i = 0; i < d->count; i++)
		for (int k = 0; k < DUMP_FORMS; k++)
			if (d->modules[i].open[k] && !input_check(&d->modules[i].input[k], err))
				return false;
	return true;
}

void dump_close(struct dump *d)
{
	for (ptrdiff_t i = 0; i < d->count; i++)
		for (int k = 0; k < DUMP_FORMS; k++)
			if (d->modules[i].open[k])
				input_close(&d->modules[i].input[k]);
	d->count = 0;
}

bool dump_may_be(const struct dump_module *m, struct str program)
{
	struct str rest = m->name;
	return str_take(&rest, program) && (!rest.len || rest.p[0] == '.');
}

bool dump_open(struct str path, struct arena *keep, struct input *ret, struct diag *err)
{
	struct str bytes;
	if (!input_open(path, keep, ret, err))
		return false;
	if (ret->kind != INPUT_GZIP)
		return true;
	if (stream_all(ret, DUMP_BYTES, keep, &bytes, err)) {
		input_replace(ret, bytes, keep);
		return true;
	}
	input_close(ret);
	return diag_context(err, "%.*s", STR_ARG(path));
}

bool dump_bytes(struct dump_module *m, enum dump_form form, struct arena *keep, struct str *ret,
	struct diag *err)
{
	*ret = STR("");
	if (m->path[form].p && !m->open[form] &&
		!dump_open(m->path[form], keep, &m->input[form], err))
		return false;
	m->open[form] = m->path[form].p != NULL;
	if (m->open[form])
		*ret = m->input[form].bytes;
	return true;
}
