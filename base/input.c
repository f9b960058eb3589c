/*
 * Mapped files, safe against shrinking, and what kind of bytes they hold.  See input.h.
 *
 *     guards: [begin, end) of every mapping, in a fixed array that a signal handler may read
 *     SIGBUS at an address within one -> zero pages from there to the end, guard->shrank = 1
 *     SIGBUS elsewhere                -> the handler that was there before, and the fault again
 */
#include "base/input.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

/* Files mapped at once: all hosts of the largest jobs known, ten times over. */
enum { GUARDS = 32768 };
/* A mapping of so many bytes is kept: faulting it in again costs more than its pages. */
#define KEPT_BYTES ((ptrdiff_t)1 << 19)
/* Names in one directory: a fleet's largest holds some ten thousand runs. */
enum { DIR_ENTRIES = 1 << 20 };

/*
 * `device` and `inode` find the file again in input_check: a cut within the last page raises no
 * signal.  No descriptor stays open, since a job has more hosts than a process may have files.
 */
struct input_guard {
	_Atomic uintptr_t begin, end;
	atomic_int used, shrank;
	dev_t device;
	ino_t inode;
};

static struct input_guard guards[GUARDS];
static struct sigaction before;
static uintptr_t page_bytes = 4096;

static struct input_guard *guard_of(uintptr_t address)
{
	for (int i = 0; i < GUARDS; i++)
		if (address >= atomic_load(&guards[i].begin) &&
			address < atomic_load(&guards[i].end))
			return &guards[i];
	return NULL;
}

/*
 * Pages behind the fault are behind the end of the file as well, so all of them become zeros.
 * mmap is not on POSIX's list of async-signal-safe functions, but is a bare system call on every
 * libc we build with, and the fault is synchronous: it interrupts a load, never the allocator.
 */
static void on_sigbus(int signal_number, siginfo_t *info, void *context)
{
	(void)context;
	int saved = errno;
	uintptr_t address = (uintptr_t)info->si_addr;
	struct input_guard *g = guard_of(address);
	uintptr_t page = address & ~(page_bytes - 1);
	if (g) {
		atomic_store(&g->shrank, 1);
		void *zeros = mmap((void *)page, atomic_load(&g->end) - page, PROT_READ,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
		if (zeros == MAP_FAILED)
			g = NULL;
	}
	if (!g)
		sigaction(signal_number, &before, NULL);
	errno = saved;
}

static void install(void)
{
	struct sigaction action;
	memset(&action, 0, sizeof(action));
	action.sa_sigaction = on_sigbus;
	action.sa_flags = SA_SIGINFO | SA_ONSTACK;
	sigemptyset(&action.sa_mask);
	long size = sysconf(_SC_PAGESIZE);
	if (size > 0)
		page_bytes = (uintptr_t)size;
	sigaction(SIGBUS, &action, &before);
}

static struct input_guard *guard_take(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, install);
	/* Begin behind the last one taken, so that opening n files is not n^2 tries. */
	static atomic_uint last;
	unsigned first = atomic_fetch_add(&last, 1);
	for (unsigned i = 0; i < GUARDS; i++) {
		struct input_guard *g = &guards[(first + i) % GUARDS];
		int unused = 0;
		if (!atomic_compare_exchange_strong(&g->used, &unused, 1))
			continue;
		atomic_store(&g->shrank, 0);
		return g;
	}
	return NULL;
}

/* Marks of a UTF-8 replacement character in the first 64 KiB that make a file a mangled one.  A
 * binary profile that went through a text conversion has one in every few bytes; text in other
 * languages has next to none. */
enum { MANGLED_WINDOW = 64 << 10, MANGLED_LEAST = 16, MANGLED_SPACING = 64 };

static bool is_mangled(struct str bytes)
{
	struct str rest = str_head(bytes, MANGLED_WINDOW);
	ptrdiff_t size = rest.len, count = 0, at;
	while ((at = str_find(rest, STR("\xef\xbf\xbd"))) >= 0) {
		rest = str_from_offset(rest, at + 3);
		count++;
	}
	return count >= MANGLED_LEAST && count > size / MANGLED_SPACING;
}

/*
 * By first bytes.  Text is safe to tell from a protobuf message: '{', '[' and '<' as tags would be
 * groups; the archives' would be fields of numbers that no profile begins with.  Blanks are not
 * skipped, since a newline is the usual first tag of a message.
 */
static enum input_kind sniff(struct str bytes)
{
	static const struct {
		struct str magic;
		enum input_kind kind;
	} magics[] = {
		{ STR_INIT("\x1f\x8b"), INPUT_GZIP },
		{ STR_INIT("version https://git-lfs"), INPUT_LFS },
		{ STR_INIT("SQLite format 3"), INPUT_SQLITE },
		{ STR_INIT("{"), INPUT_TEXT },
		{ STR_INIT("["), INPUT_TEXT },
		{ STR_INIT("<"), INPUT_MARKUP },
		{ STR_INIT("HloModule"), INPUT_TEXT },
		{ STR_INIT("PK\x03\x04"), INPUT_PACKED },
		{ STR_INIT("\x28\xb5\x2f\xfd"), INPUT_PACKED },
		{ STR_INIT("\xfd"
			   "7zXZ"),
			INPUT_PACKED },
		{ STR_INIT("BZh"), INPUT_PACKED },
		{ STR_INIT("\xff\xfe"), INPUT_UTF16 },
		{ STR_INIT("\xfe\xff"), INPUT_UTF16 },
	};
	if (!bytes.len)
		return INPUT_EMPTY;
	str_take(&bytes, STR("\xef\xbb\xbf"));
	for (ptrdiff_t i = 0; i < COUNT_OF(magics); i++)
		if (str_starts(bytes, magics[i].magic))
			return magics[i].kind;
	return is_mangled(bytes) ? INPUT_MANGLED : INPUT_UNKNOWN;
}

/* By enum input_kind; a kind that is not listed may be what is wanted. */
static const struct refused {
	enum diag_id id;
	const char *text;
} refused[] = {
	[INPUT_EMPTY] = { DIAG_FILE_EMPTY, "the file has no bytes; whoever wrote it was stopped, "
					   "so capture or copy it again" },
	[INPUT_LFS] = { DIAG_FILE_KIND, "a Git LFS pointer at byte 0; fetch the file it stands for "
					"with `git lfs pull`" },
	[INPUT_MARKUP] = { DIAG_FILE_KIND,
		"HTML or XML at byte 0: what a server answered in place of the file; download it "
		"again, with the right to read it" },
	[INPUT_PACKED] = { DIAG_FILE_KIND, "a packed file by its first bytes, whatever its name; "
					   "unpack it and name what comes out" },
	[INPUT_UTF16] = { DIAG_FILE_KIND, "UTF-16 text at byte 0, as '>' writes it in some shells "
					  "of Windows; copy the original again, as binary" },
	[INPUT_MANGLED] = { DIAG_FILE_KIND,
		"its bytes went through a text conversion (EF BF BD all over), which cannot be "
		"undone; copy the original again, as binary" },
};

bool input_accept(const struct input *in, struct diag *err)
{
	if ((int)in->kind >= COUNT_OF(refused) || !refused[in->kind].text)
		return true;
	return diag_set(err, refused[in->kind].id, "%s", refused[in->kind].text);
}

struct input input_memory(struct str name, struct str bytes)
{
	return (struct input){ .path = name, .bytes = bytes, .kind = sniff(bytes) };
}

static bool cannot_open(struct str path, const char *why, struct diag *err)
{
	return diag_set(err, DIAG_FILE_OPEN, "cannot open '%.*s': %s", STR_ARG(path), why);
}

/* What a file is if it is not a regular one, or NULL. */
static const char *not_regular(const struct stat *st)
{
	if (S_ISREG(st->st_mode))
		return NULL;
	return S_ISDIR(st->st_mode) ? "it is a directory, and a file is needed"
				    : "it is a device or a pipe, and a regular file is needed";
}

static bool map(int fd, const struct stat *st, struct input *ret, struct diag *err)
{
	ptrdiff_t size = (ptrdiff_t)st->st_size;
	struct input_guard *g = guard_take();
	if (!g)
		return diag_set(err, DIAG_LIMIT,
			"cannot open '%.*s': %d files are open already, the most at a time",
			STR_ARG(ret->path), GUARDS);
	char *p = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED) {
		int why = errno;
		atomic_store(&g->used, 0);
		return cannot_open(ret->path, strerror(why), err);
	}
	madvise(p, (size_t)size, MADV_SEQUENTIAL);
	g->device = st->st_dev;
	g->inode = st->st_ino;
	/* `end` first: a guard counts once both are set, and [0, end) must never match. */
	atomic_store(&g->begin, UINTPTR_MAX);
	atomic_store(&g->end, (uintptr_t)p + (uintptr_t)size);
	atomic_store(&g->begin, (uintptr_t)p);
	ret->bytes = (struct str){ p, size };
	ret->guard = g;
	return true;
}

bool input_open(struct str path, struct arena *keep, struct input *ret, struct diag *err)
{
	struct stat st;
	*ret = (struct input){ .path = arena_str(keep, path), .bytes = STR_INIT("") };
	if (!path.len || str_find_char(path, '\0') >= 0)
		return cannot_open(path, "not a file name", err);
	/* Not blocking: opening a pipe would wait for its writer. */
	int fd = open(ret->path.p, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return cannot_open(
			path, errno == ENOENT ? "no such file or directory" : strerror(errno), err);
	const char *why = fstat(fd, &st) ? strerror(errno) : not_regular(&st);
	bool ok = why ? cannot_open(path, why, err) : !st.st_size || map(fd, &st, ret, err);
	close(fd); /* a mapping outlives its descriptor */
	if (ok)
		ret->kind = sniff(ret->bytes);
	return ok;
}

bool input_check(const struct input *in, struct diag *err)
{
	struct stat st;
	if (!in->guard)
		return true;
	/* Another file of this name, or none, leaves the mapped one as it was. */
	bool same = !stat(in->path.p, &st) && st.st_dev == in->guard->device &&
		    st.st_ino == in->guard->inode;
	bool short_now = same && st.st_size < in->bytes.len;
	if (!short_now && !atomic_load(&in->guard->shrank))
		return true;
	return diag_set(err, DIAG_FILE_SHRANK,
		"'%.*s' became shorter while it was read (it had %lld bytes at first); "
		"wait until its writer is done, or read a copy",
		STR_ARG(in->path), (long long)in->bytes.len);
}

void input_drop(const struct input *in, ptrdiff_t from, ptrdiff_t to)
{
	if (!in->guard || in->bytes.len <= KEPT_BYTES)
		return;
	ptrdiff_t page = (ptrdiff_t)page_bytes;
	from = from < 0 ? 0 : from;
	to = to > in->bytes.len ? in->bytes.len : to;
	from = (from + page - 1) / page * page;
	to = to / page * page;
	if (from < to)
		madvise((char *)(uintptr_t)in->bytes.p + from, (size_t)(to - from), MADV_DONTNEED);
}

void input_close(struct input *in)
{
	struct input_guard *g = in->guard;
	if (g) {
		atomic_store(&g->end, 0);
		munmap((void *)(uintptr_t)in->bytes.p, (size_t)in->bytes.len);
		atomic_store(&g->used, 0);
	}
	*in = (struct input){ .path = in->path, .bytes = STR_INIT("") };
}

bool input_text(
	struct str path, ptrdiff_t max, struct arena *keep, struct str *ret, struct diag *err)
{
	struct input in;
	if (!input_open(path, keep, &in, err))
		return path_missing(path, keep, err);
	return input_take_text(&in, max, keep, ret, err);
}

bool input_take_text(
	struct input *in, ptrdiff_t max, struct arena *keep, struct str *ret, struct diag *err)
{
	bool ok = in->bytes.len <= max ||
		  diag_set(err, DIAG_LIMIT, "%.*s: larger than %lld KiB, the most read of it",
			  STR_ARG(in->path), (long long)(max >> 10));
	if (ok)
		*ret = arena_str(keep, in->bytes);
	ok = ok && input_check(in, err);
	input_close(in);
	return ok;
}

ptrdiff_t input_read_all(int fd, void *to, ptrdiff_t n)
{
	ptrdiff_t len = 0;
	while (len < n) {
		ssize_t got = read(fd, (char *)to + len, (size_t)(n - len));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (!got)
			break;
		len += got;
	}
	return len;
}

bool input_is_below(struct str folder, struct str path)
{
	char top[PATH_MAX], file[PATH_MAX], z[PATH_MAX];
	snprintf(z, sizeof(z), "%.*s", STR_ARG(path));
	if (path.len >= PATH_MAX || folder.len >= PATH_MAX || !realpath(z, file))
		return true;
	snprintf(z, sizeof(z), "%.*s", STR_ARG(folder));
	if (!realpath(z, top))
		return false;
	struct str rest = str_from(file);
	return str_take(&rest, str_from(top)) &&
	       (str_starts(rest, STR("/")) || str_eq(str_from(top), STR("/")));
}

struct input_ends input_ends(const struct input *in)
{
	struct str all = in->bytes;
	ptrdiff_t tail = all.len > INPUT_END_BYTES ? all.len - INPUT_END_BYTES : all.len;

	if (in->was.head.p)
		return in->was;
	return (struct input_ends){ all.len, str_head(all, INPUT_END_BYTES),
		str_from_offset(all, tail) };
}

void input_replace(struct input *in, struct str bytes, struct arena *keep)
{
	struct input_ends was = input_ends(in);
	was.head = arena_str(keep, was.head);
	was.tail = arena_str(keep, was.tail);
	input_close(in);
	in->bytes = bytes;
	in->was = was;
}

bool input_replace_file(struct input *in, int fd, struct arena *keep, struct diag *err)
{
	struct stat st;
	input_replace(in, STR(""), keep);
	if (fstat(fd, &st))
		return cannot_open(in->path, strerror(errno), err);
	return !st.st_size || map(fd, &st, in, err);
}

/* Nanoseconds since 1970, held within int64_t: file systems may claim any year. */
static int64_t time_ns(struct timespec t)
{
	const int64_t most = INT64_MAX / 1000000000 - 1;
	int64_t seconds = (int64_t)t.tv_sec;
	seconds = seconds > most ? most : seconds < -most ? -most : seconds;
	return seconds * 1000000000 + (int64_t)t.tv_nsec;
}

/* A name that leads nowhere is listed without size, so that opening it says why. */
static struct dir_entry describe(int fd, const char *name, struct arena *keep)
{
	struct stat st;
	struct dir_entry e = { .name = arena_str(keep, str_from(name)) };
	if (fstatat(fd, name, &st, 0))
		return e;
	e.is_dir = S_ISDIR(st.st_mode);
	e.bytes = (int64_t)st.st_size;
	e.mtime_ns = time_ns(st.st_mtim);
	e.device = st.st_dev;
	e.inode = st.st_ino;
	return e;
}

static bool list(DIR *dir, struct str path, struct arena *keep, struct dir_entry **ret,
	ptrdiff_t *count, struct diag *err)
{
	ptrdiff_t cap = 0;
	for (;;) {
		errno = 0;
		struct dirent *entry = readdir(dir);
		if (!entry && errno)
			return cannot_open(path, strerror(errno), err);
		if (!entry)
			return true;
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (*count == DIR_ENTRIES)
			return diag_set(err, DIAG_LIMIT, "'%.*s' holds more than %d names",
				STR_ARG(path), DIR_ENTRIES);
		*arena_push(keep, *ret, *count, cap) = describe(dirfd(dir), entry->d_name, keep);
	}
}

bool dir_list(struct str path, struct arena *keep, struct dir_entry **ret, ptrdiff_t *count,
	struct diag *err)
{
	*ret = NULL;
	*count = 0;
	DIR *dir = opendir(arena_z(keep, path));
	if (!dir)
		return cannot_open(path, strerror(errno), err);
	bool ok = list(dir, path, keep, ret, count, err);
	closedir(dir);
	if (*count)
		qsort(*ret, (size_t)*count, sizeof(**ret), names_order);
	return ok;
}

struct str dir_of_user(
	const char *variable, const char *folder, const char *name, struct arena *keep)
{
	const char *given = getenv(variable), *home = getenv("HOME");
	if (given && *given == '/')
		return arena_fmt(keep, "%s/%s", given, name);
	return home && *home == '/' ? arena_fmt(keep, "%s/%s/%s", home, folder, name) : MISSING;
}

bool dir_make(struct str path, struct arena *keep, struct diag *err)
{
	for (ptrdiff_t at = 1; at <= path.len; at++) {
		if (at < path.len && path.p[at] != '/')
			continue;
		if (mkdir(arena_z(keep, str_head(path, at)), 0700) && errno != EEXIST)
			return diag_set(err, DIAG_OUTPUT, "cannot make the directory '%.*s': %s",
				STR_ARG(path), strerror(errno));
	}
	return true;
}

/* ---- this machine's own files as a tree ------------------------------------------------------ */

static bool local_look(const struct tree *t, struct str path, struct arena *scratch,
	struct tree_node *ret, struct diag *err)
{
	struct stat st;
	(void)t;
	*ret = (struct tree_node){ .kind = TREE_ABSENT };
	if (stat(arena_z(scratch, path), &st))
		return errno == ENOENT || errno == ENOTDIR ||
		       diag_set(err, DIAG_FILE_OPEN, "%.*s: %s", STR_ARG(path), strerror(errno));
	*ret = (struct tree_node){ S_ISDIR(st.st_mode) ? TREE_DIR : TREE_FILE, st.st_dev,
		st.st_ino };
	return true;
}

static bool local_list(const struct tree *t, struct str path, struct arena *keep,
	struct dir_entry **ret, ptrdiff_t *count, struct diag *err)
{
	(void)t;
	return dir_list(path, keep, ret, count, err);
}

static bool local_open(const struct tree *t, struct str path, struct arena *keep, struct input *ret,
	struct diag *err)
{
	(void)t;
	return input_open(path, keep, ret, err);
}

const struct tree tree_local = { local_look, local_list, local_open, NULL };

struct str path_guess(struct str dir, struct str name, struct arena *keep)
{
	struct dir_entry *entries;
	struct diag ignored;
	ptrdiff_t count;
	if (!dir_list(dir, keep, &entries, &count, &ignored))
		return MISSING;
	struct str *names = arena_make(keep, struct str, count);
	for (ptrdiff_t i = 0; i < count; i++)
		names[i] = entries[i].name;
	struct str nearest = text_nearest(name, names, count);
	/* Of a link that leads nowhere the name itself is nearest. */
	return nearest.p && !str_eq(nearest, name) ? path_join(dir, nearest, keep) : MISSING;
}

bool path_missing(struct str path, struct arena *keep, struct diag *err)
{
	struct str near = MISSING;
	if (path.len && access(arena_z(keep, path), F_OK))
		near = path_guess(path_parent(path), path_base(path), keep);
	return near.p && diag_append(err, "did you mean '%.*s'?", STR_ARG(near));
}
