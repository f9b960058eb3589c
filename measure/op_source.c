/* Lines of Python.  See op_source.h. */
#include "measure/op_source.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/input.h"
#include "base/map.h"
#include "base/text.h"

/* Frames looked at for the user's own line; Python stacks in HLO are cut at about this. */
#define FRAMES_MAX 64
/* Files looked for in a checkout, and folders of each: a job has some hundred of its own. */
#define FILES_MAX   4096
#define FOLDERS_MAX 32
/* A file of source is smaller. */
#define FILE_MAX_BYTES (4 << 20)

/* ---- the checkout ---------------------------------------------------------------------------- */

/* A file that a job saw, in the checkout; without a name it is not there. */
struct checkout_file {
	struct str name;    /* from the top on */
	ptrdiff_t newlines; /* in it: a later line is of another file */
};

struct checkout {
	struct str top, folder; /* as in measure_options */
	struct map known;	/* to the index of the file, since ops share theirs */
	struct checkout_file *files;
	ptrdiff_t count, cap;
	struct arena *keep;
};

struct checkout *checkout_new(const struct measure_options *o, struct arena *keep)
{
	struct checkout *c = arena_make(keep, struct checkout, 1);

	*c = (struct checkout){ .top = o->checkout, .folder = o->checkout_folder, .keep = keep };
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

static bool file_find(const struct checkout *c, struct str name, struct checkout_file *ret)
{
	struct arena scratch = *c->keep;
	struct str path = arena_fmt(&scratch, "%.*s/%.*s", STR_ARG(c->top), STR_ARG(name));
	enum { BLOCK = 1 << 16 };
	char *block = arena_room(&scratch, BLOCK);
	struct stat st;
	ptrdiff_t n;

	if (stat(path.p, &st) || !S_ISREG(st.st_mode) || st.st_size > FILE_MAX_BYTES)
		return false;
	int fd = open(path.p, O_RDONLY | O_CLOEXEC);
	ret->newlines = 0;
	while (fd >= 0 && (n = input_read_all(fd, block, BLOCK)) > 0)
		for (ptrdiff_t i = 0; i < n; i++)
			ret->newlines += block[i] == '\n';
	if (fd >= 0)
		close(fd);
	ret->name = fd >= 0 ? arena_str(c->keep, name) : MISSING;
	return fd >= 0;
}

/* By its longest tail, below the top or else below the working directory. */
static struct checkout_file file_of(const struct checkout *c, struct str file)
{
	struct str package = behind_packages(file), tail = package.p ? package : file, folder;
	struct checkout_file ret = { 0 };

	/* A name from a profile leads nowhere else: no byte that ends it early, no way up. */
	if (memchr(file.p, 0, (size_t)file.len) || str_contains(file, STR("..")))
		return ret;
	for (int i = 0; i < FOLDERS_MAX && tail.len; i++) {
		/* A module that is no part of a package may be anybody's. */
		if (package.p && str_find_char(tail, '/') < 0)
			break;
		bool is_name = tail.p[0] != '/';
		if ((is_name && file_find(c, tail, &ret)) ||
			(is_name && c->folder.len &&
				file_find(c,
					arena_fmt(c->keep, "%.*s/%.*s", STR_ARG(c->folder),
						STR_ARG(tail)),
					&ret)) ||
			!str_cut(tail, '/', &folder, &tail))
			break;
	}
	return ret;
}

static struct checkout_file checkout_file(struct checkout *c, struct str file)
{
	int32_t at = map_get(&c->known, file);

	if (at < 0) {
		if (c->count == FILES_MAX)
			return (struct checkout_file){ 0 };
		at = (int32_t)c->count;
		*arena_push(c->keep, c->files, c->count, c->cap) = file_of(c, file);
		map_put(&c->known, arena_str(c->keep, file), at, c->keep);
	}
	return c->files[at];
}

/* The last line may lack its newline. */
static bool has_line(struct checkout_file file, double line)
{
	return !(line > (double)file.newlines + 1);
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* "file:line" or "file:line:column": a file name may hold colons, numbers stand last. */
static bool source_split(struct str text, struct hlo_source *ret)
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
	*ret = (struct hlo_source){ .file = head, .line = number };
	return head.len > 0;
}

/* What the user's repository calls the file; missing for a file of others. */
static struct str user_name(const struct run *run, struct str file, double line)
{
	const struct measure_options *o = run->options;
	struct checkout_file found = { 0 };

	for (ptrdiff_t i = 0; i < o->source_root_count; i++) {
		const struct source_root *root = &o->source_roots[i];
		struct str rest = file;

		if (!str_take(&rest, root->seen) || !str_starts(rest, STR("/")) ||
			is_installed(rest))
			continue;
		str_take(&rest, STR("/"));
		if (root->kept.len)
			rest = path_join(root->kept, rest, run->keep);
		if (run->checkout)
			found = checkout_file(run->checkout, rest);
		return str_eq(found.name, rest) && !has_line(found, line) ? MISSING : rest;
	}
	if (run->checkout)
		found = checkout_file(run->checkout, file);
	return has_line(found, line) ? found.name : MISSING;
}

void op_source_user(const struct run *run, struct str file, double line, struct op_source *ret)
{
	if (ret->user_file.p || !file.len)
		return;
	struct str name = user_name(run, file, line);
	if (!name.len)
		return;
	ret->user_file = text_clean(run->keep, name);
	ret->user_line = line;
}

/* The next frame outward: one of installed packages gives way to the first that is of none. */
static void source_frame(
	const struct run *run, const struct hlo_source *frame, struct op_source *ret)
{
	double line = frame->line > 0 ? (double)frame->line : NAN;

	if (frame->file.len &&
		(!ret->file.p || (is_installed(ret->file) && !is_installed(frame->file)))) {
		ret->file = text_clean(run->keep, frame->file);
		ret->line = line;
		ret->function =
			frame->function.len ? text_clean(run->keep, frame->function) : MISSING;
	}
	op_source_user(run, frame->file, line, ret);
}

static void source_from_hlo(const struct run *run, const struct subject *s, struct op_source *ret)
{
	struct hlo_source frames[FRAMES_MAX];
	const struct hlo_instruction *i = subject_instruction(s);
	ptrdiff_t n = hlo_stack(program_hlo(s->program), i, frames, FRAMES_MAX);

	source_frame(run, &i->source, ret);
	for (ptrdiff_t k = 0; k < n; k++)
		source_frame(run, &frames[k], ret);
}

static void source_from_profile(
	const struct run *run, const struct subject *s, struct op_source *ret)
{
	struct str head, rest = s->said->source_stack;
	struct hlo_source frame = { 0 };

	if (!ret->file.p && source_split(s->said->source, &frame))
		source_frame(run, &frame, ret);
	while (rest.len > 0) {
		str_cut(rest, '\n', &head, &rest);
		if (source_split(head, &frame))
			source_frame(run, &frame, ret);
	}
}

void op_source_of(const struct run *run, const struct subject *s, struct op_source *ret)
{
	*ret = (struct op_source){ .line = NAN, .user_line = NAN };
	if (s->instruction >= 0)
		source_from_hlo(run, s, ret);
	source_from_profile(run, s, ret);
}
