/* Lines of Python.  See op_source.h. */
#include "measure/op_source.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "base/map.h"
#include "base/text.h"

/* Frames looked at for the user's own line; Python stacks in HLO are cut at about this. */
#define FRAMES_MAX 64
/* Files looked for in a checkout, and folders of each: a job has some hundred of its own. */
#define FILES_MAX   4096
#define FOLDERS_MAX 32

/* ---- the checkout ---------------------------------------------------------------------------- */

/* What a file that a job saw is called in the checkout, kept since ops share their files. */
struct checkout {
	struct str top;
	struct map known;  /* to the index of its name */
	struct str *names; /* from the top on; missing: it is not there */
	ptrdiff_t count, cap;
	struct arena *keep;
};

struct checkout *checkout_new(struct str top, struct arena *keep)
{
	struct checkout *c = arena_make(keep, struct checkout, 1);

	*c = (struct checkout){ .top = top, .keep = keep };
	return c;
}

/* What stands behind the folder in which Python's own or other people's packages lie. */
static struct str behind_packages(struct str file)
{
	static const struct str folders[] = { STR_INIT("/site-packages/"),
		STR_INIT("/dist-packages/"), STR_INIT("/lib/python3") };

	for (int i = 0; i < COUNT_OF(folders); i++) {
		ptrdiff_t at = str_find(file, folders[i]);
		if (at >= 0)
			return str_from_offset(file, at + folders[i].len);
	}
	return MISSING;
}

bool is_installed(struct str file)
{
	return behind_packages(file).p;
}

static bool is_file_of(const struct checkout *c, struct str tail)
{
	struct arena scratch = *c->keep;
	struct stat st;
	struct str path = arena_fmt(&scratch, "%.*s/%.*s", STR_ARG(c->top), STR_ARG(tail));

	return !stat(path.p, &st) && S_ISREG(st.st_mode);
}

static struct str longest_tail(const struct checkout *c, struct str file)
{
	struct str package = behind_packages(file), tail = package.p ? package : file, folder;

	/* A name from a profile leads nowhere else: no byte that ends it early, no way up. */
	if (memchr(file.p, 0, (size_t)file.len) || str_contains(file, STR("..")))
		return MISSING;
	for (int i = 0; i < FOLDERS_MAX && tail.len; i++) {
		/* A module that is no part of a package may be anybody's. */
		if (package.p && str_find_char(tail, '/') < 0)
			break;
		if (tail.p[0] != '/' && is_file_of(c, tail))
			return tail;
		if (!str_cut(tail, '/', &folder, &tail))
			break;
	}
	return MISSING;
}

static struct str checkout_name(struct checkout *c, struct str file)
{
	int32_t at = map_get(&c->known, file);

	if (at < 0) {
		if (c->count == FILES_MAX)
			return MISSING;
		at = (int32_t)c->count;
		*arena_push(c->keep, c->names, c->count, c->cap) =
			arena_str(c->keep, longest_tail(c, file));
		map_put(&c->known, arena_str(c->keep, file), at, c->keep);
	}
	return c->names[at];
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* "file:line" or "file:line:column": a file name may hold colons, numbers stand last. */
static bool source_split(struct str text, struct str *file, double *line)
{
	ptrdiff_t colon = str_rfind_char(text, ':');
	int64_t number;

	if (colon <= 0 || !str_to_i64(str_from_offset(text, colon + 1), &number))
		return false;
	struct str head = str_head(text, colon);
	ptrdiff_t before = str_rfind_char(head, ':');
	int64_t first;
	if (before > 0 && str_to_i64(str_from_offset(head, before + 1), &first)) {
		head = str_head(head, before);
		number = first;
	}
	*file = head;
	*line = (double)number;
	return head.len > 0;
}

/* What the user's repository calls the file; missing for a file of others. */
static struct str user_name(const struct run *run, struct str file)
{
	const struct measure_options *o = run->options;

	for (ptrdiff_t i = 0; i < o->source_root_count; i++) {
		const struct source_root *root = &o->source_roots[i];
		struct str rest = file;

		if (!str_take(&rest, root->seen) || !str_starts(rest, STR("/")) ||
			is_installed(rest))
			continue;
		str_take(&rest, STR("/"));
		return root->kept.len ? arena_fmt(run->keep, "%.*s/%.*s", STR_ARG(root->kept),
						STR_ARG(rest))
				      : rest;
	}
	return run->checkout ? checkout_name(run->checkout, file) : MISSING;
}

void op_source_user(const struct run *run, struct str file, double line, struct op_source *ret)
{
	if (ret->user_file.p || !file.len)
		return;
	struct str name = user_name(run, file);
	if (!name.len)
		return;
	ret->user_file = text_clean(run->keep, name);
	ret->user_line = line;
}

static void source_from_hlo(const struct run *run, const struct subject *s, struct op_source *ret)
{
	struct hlo_source frames[FRAMES_MAX];
	const struct hlo_instruction *i = subject_instruction(s);
	ptrdiff_t n = hlo_stack(program_hlo(s->program), i, frames, FRAMES_MAX);

	if (i->source.file.len > 0) {
		ret->file = text_clean(run->keep, i->source.file);
		ret->line = i->source.line > 0 ? (double)i->source.line : NAN;
		if (i->source.function.len > 0)
			ret->function = text_clean(run->keep, i->source.function);
	}
	for (ptrdiff_t k = 0; k < n; k++)
		op_source_user(run, frames[k].file, (double)frames[k].line, ret);
	if (n == 0)
		op_source_user(run, i->source.file, ret->line, ret);
}

static void source_from_profile(
	const struct run *run, const struct subject *s, struct op_source *ret)
{
	struct str file, head, rest = s->said->source_stack;
	double line;

	if (!ret->file.p && source_split(s->said->source, &file, &line)) {
		ret->file = text_clean(run->keep, file);
		ret->line = line;
		op_source_user(run, file, line, ret);
	}
	while (rest.len > 0) {
		str_cut(rest, '\n', &head, &rest);
		if (source_split(head, &file, &line))
			op_source_user(run, file, line, ret);
	}
}

void op_source_of(const struct run *run, const struct subject *s, struct op_source *ret)
{
	*ret = (struct op_source){ .line = NAN, .user_line = NAN };
	if (s->instruction >= 0)
		source_from_hlo(run, s, ret);
	source_from_profile(run, s, ret);
}
