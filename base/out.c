/* Append-only output to memory, a descriptor or a file put in place whole.  See out.h. */
#ifdef __linux__
#define _GNU_SOURCE /* O_TMPFILE */
#endif
#include "base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

enum { OUT_FD_BYTES = 64 << 10, OUT_MEMORY_BYTES = 256 };

struct out {
	struct arena *keep;
	char *bytes; /* memory: all of it; descriptors: what is not written yet */
	ptrdiff_t len, cap;
	int fd;		  /* -1: memory */
	int error;	  /* errno of the first failure; sticky */
	const char *path; /* for messages; NULL for a bare descriptor */
	const char *temp; /* to be renamed to `path`; NULL when `fd` is the target itself */
	bool is_nameless; /* `fd` gets `temp` for its name when it is whole */
	bool owns_fd;
	bool is_log; /* no line of it may be a command to a CI's runner */
	struct line {
		bool has_begun, has_colon;
		int hashes; /* at most 2; letters may stand between them and here */
	} line;
};

static struct out *out_new(struct arena *keep, int fd, ptrdiff_t cap)
{
	struct out *o = arena_make(keep, struct out, 1);
	*o = (struct out){ .keep = keep, .fd = fd, .cap = cap };
	o->bytes = arena_room(keep, cap);
	return o;
}

struct out *out_memory(struct arena *keep)
{
	return out_new(keep, -1, OUT_MEMORY_BYTES);
}

struct out *out_fd(struct arena *keep, int fd)
{
	return out_new(keep, fd, OUT_FD_BYTES);
}

struct out *out_log(struct arena *keep, int fd)
{
	struct out *o = out_fd(keep, fd);
	o->is_log = true;
	return o;
}

/* Beside `path`, so that the rename stays within one file system; until one is free. */
static bool name_next(struct out *o, int i)
{
	o->temp = arena_fmt(o->keep, "%s.%ld.%d.tmp", o->path, (long)getpid(), i).p;
	return i == 0 || (i < 100 && errno == EEXIST);
}

#ifdef O_TMPFILE
static const char *fd_path(struct arena *keep, int fd)
{
	return arena_fmt(keep, "/proc/self/fd/%d", fd).p;
}

/* A file without a name: of a run that is killed nothing stays. */
static int open_nameless(struct out *o)
{
	const char *slash = strrchr(o->path, '/');
	struct str folder = slash ? str_head(str_from(o->path), slash - o->path + 1) : STR(".");
	int fd = open(arena_z(o->keep, folder), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
	if (fd < 0 || !access(fd_path(o->keep, fd), F_OK))
		return fd;
	close(fd);
	return -1;
}

static bool give_name(struct out *o)
{
	const char *from = fd_path(o->keep, o->fd);
	for (int i = 0; name_next(o, i); i++)
		if (!linkat(AT_FDCWD, from, AT_FDCWD, o->temp, AT_SYMLINK_FOLLOW))
			return true;
	return false;
}
#else
static int open_nameless(struct out *o)
{
	(void)o;
	return -1;
}

static bool give_name(struct out *o)
{
	(void)o;
	return false;
}
#endif

static int open_temp(struct out *o)
{
	int fd = open_nameless(o);
	o->is_nameless = fd >= 0;
	for (int i = 0; fd < 0 && name_next(o, i); i++)
		fd = open(o->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return fd;
}

/* The file a link leads to: the link stays, what it points at is replaced. */
static const char *resolve(struct arena *keep, const char *path)
{
	char *real = realpath(path, NULL);
	if (!real)
		return path;
	const char *copy = arena_z(keep, str_from(real));
	free(real);
	return copy;
}

/* Open what will be written to: a temporary file, or the target itself if it cannot be replaced. */
static int open_target(struct out *o)
{
	struct stat st;
	bool exists = !stat(o->path, &st);
	if (exists && !S_ISREG(st.st_mode))
		return open(o->path, O_WRONLY | O_CLOEXEC);
	if (exists)
		o->path = resolve(o->keep, o->path);
	int fd = open_temp(o);
	/* A target whose mode cannot be kept is still better replaced than refused. */
	if (fd >= 0 && exists)
		(void)!fchmod(fd, st.st_mode & 0777);
	return fd;
}

/* What open says of a file whose folder is missing speaks of the file, so the folder is named. */
static bool refuse(struct str path, int error, struct diag *err, struct arena *keep)
{
	ptrdiff_t slash = str_rfind_char(path, '/');
	struct str folder = str_head(path, slash > 0 ? slash : 0);
	struct stat st;
	diag_set(err, DIAG_OUTPUT, "cannot write '%.*s': %s", STR_ARG(path), strerror(error));
	if (error == ENOENT && folder.len && stat(arena_z(keep, folder), &st))
		return diag_set(err, DIAG_OUTPUT,
			"cannot write '%.*s': the folder '%.*s' does not exist; create it, or name "
			"another path",
			STR_ARG(path), STR_ARG(folder));
	return false;
}

bool out_folder(struct str path, struct arena *keep, struct diag *err)
{
	return !mkdir(arena_z(keep, path), 0777) || errno == EEXIST ||
	       refuse(path, errno, err, keep);
}

struct out *out_file(struct arena *keep, struct str path, struct diag *err)
{
	if (str_eq(path, STR("-")))
		return out_log(keep, STDOUT_FILENO);
	struct out *o = out_fd(keep, -1);
	o->path = arena_z(keep, path);
	o->fd = open_target(o);
	o->owns_fd = true;
	return o->fd >= 0 || refuse(path, errno, err, keep) ? o : NULL;
}

bool write_all(int fd, struct str bytes)
{
	while (bytes.len > 0) {
		ssize_t n = write(fd, bytes.p, (size_t)bytes.len);
		if (n < 0 && errno != EINTR)
			return false;
		bytes = str_from_offset(bytes, n > 0 ? n : 0);
	}
	return true;
}

/*
 * A line that begins with "::" is a command to GitHub's runner, one that holds "##[", "##vso[" or
 * "##teamcity[" to older ones, Azure's and TeamCity's.  Runners trim lines, of Unicode's blanks,
 * too.  The last character of such a mark becomes '?', so that what stands below stays below.
 */
static void disarm(struct line *line, char *c)
{
	bool is_letter = (*c | 0x20) >= 'a' && (*c | 0x20) <= 'z';
	if (*c == '\n' || *c == '\r') {
		*line = (struct line){ 0 };
		return;
	}
	if ((*c == ':' && line->has_colon) || (*c == '[' && line->hashes == 2))
		*c = '?';
	line->has_colon = *c == ':' && !line->has_begun;
	line->has_begun |= *c > ' ' && *c < 0x7f;
	if (*c == '#')
		line->hashes += line->hashes < 2;
	else if (!is_letter || line->hashes < 2)
		line->hashes = 0;
}

static void flush(struct out *o)
{
	for (ptrdiff_t i = 0; i < o->len && o->is_log; i++)
		disarm(&o->line, &o->bytes[i]);
	if (!o->error && !write_all(o->fd, (struct str){ o->bytes, o->len }))
		o->error = errno;
	o->len = 0;
}

static void grow(struct out *o, ptrdiff_t more)
{
	ptrdiff_t cap = o->cap;
	while (cap - o->len < more)
		cap *= 2;
	char *bytes = arena_make(o->keep, char, cap);
	memcpy(bytes, o->bytes, (size_t)o->len);
	o->bytes = bytes;
	o->cap = cap;
}

void out_str(struct out *o, struct str s)
{
	while (s.len > 0) {
		if (o->fd < 0 && s.len > o->cap - o->len)
			grow(o, s.len);
		else if (o->len == o->cap)
			flush(o);
		struct str head = str_head(s, o->cap - o->len < s.len ? o->cap - o->len : s.len);
		memcpy(o->bytes + o->len, head.p, (size_t)head.len);
		o->len += head.len;
		s = str_from_offset(s, head.len);
	}
}

void out_z(struct out *o, const char *z)
{
	out_str(o, str_from(z));
}

void out_char(struct out *o, char c)
{
	out_str(o, (struct str){ &c, 1 });
}

struct out *out_part(struct out *o, const char *between)
{
	out_z(o, out_text(o).len ? between : "");
	return o;
}

void out_repeat(struct out *o, char c, int64_t count)
{
	while (count-- > 0)
		out_char(o, c);
}

void out_fmt(struct out *o, const char *fmt, ...)
{
	char small[4096];
	va_list args;
	va_start(args, fmt);
	int len = vsnprintf(small, sizeof(small), fmt, args);
	va_end(args);
	if (len < (int)sizeof(small)) {
		out_str(o, (struct str){ small, len });
		return;
	}
	char *big = memory_get((size_t)len + 1); /* a memory's text is never looked at for errors */
	va_start(args, fmt);
	vsnprintf(big, (size_t)len + 1, fmt, args);
	va_end(args);
	out_str(o, (struct str){ big, len });
	free(big);
}

void out_replaced(struct out *o, struct str s, const char *special, const char *const *texts)
{
	ptrdiff_t from = 0;
	for (ptrdiff_t i = 0; i < s.len; i++) {
		const char *found = s.p[i] ? strchr(special, s.p[i]) : NULL;
		if (!found)
			continue;
		out_str(o, str_head(str_from_offset(s, from), i - from));
		out_z(o, texts[found - special]);
		from = i + 1;
	}
	out_str(o, str_from_offset(s, from));
}

void out_uri(struct out *o, struct str s, bool is_path)
{
	for (ptrdiff_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.p[i], letter = c | 0x20;
		bool is_plain = (letter >= 'a' && letter <= 'z') || (c >= '0' && c <= '9') ||
				str_find_char(STR("-._~"), (char)c) >= 0 || (is_path && c == '/');
		out_fmt(o, is_plain ? "%c" : "%%%02X", c);
	}
}

bool csv_is_formula(struct str field)
{
	return field.len && str_find_char(STR("=+-@\t\r"), field.p[0]) >= 0;
}

void out_csv(struct out *o, struct str field)
{
	struct str head;
	out_z(o, csv_is_formula(field) ? "\"'" : "\"");
	for (bool more = true; more;) {
		more = str_cut(field, '"', &head, &field);
		out_str(o, head);
		out_z(o, more ? "\"\"" : "");
	}
	out_char(o, '"');
}

/* The next word; a command in backticks is one where a line has room for it, to be copied. */
static bool cut_word(struct str *text, int room, struct str *word)
{
	struct str all = *text, tail, rest;
	bool is_code = str_starts(all, STR("`"));
	ptrdiff_t end = is_code ? str_find_char(str_from_offset(all, 1), '`') : -1;
	bool more = str_cut(all, ' ', word, text);
	if (end < 0)
		return more;
	bool more_behind = str_cut(str_from_offset(all, end + 2), ' ', &tail, &rest);
	struct str whole = str_head(all, end + 2 + tail.len);
	if (text_columns(whole) > room)
		return more;
	*word = whole;
	*text = rest;
	return more_behind;
}

int out_words(struct out *o, struct str text, int at, int indent, int width)
{
	struct str word;
	bool first = at <= indent || !str_starts(text, STR(" "));
	for (bool more = true; more;) {
		more = cut_word(&text, width - indent, &word);
		int columns = text_columns(word);
		if (!columns)
			continue;
		if (at > indent && at + !first + columns > width) {
			out_char(o, '\n');
			out_repeat(o, ' ', indent);
			at = indent;
		} else if (!first) {
			out_char(o, ' ');
			at++;
		}
		out_str(o, word);
		at += columns;
		first = false;
	}
	return at;
}

struct str number_i64(char buf[NUMBER_BYTES], int64_t value)
{
	char *end = buf + NUMBER_BYTES - 1, *p = end;
	uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	*end = 0;
	do {
		*--p = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);
	if (value < 0)
		*--p = '-';
	return str_span(p, end);
}

void out_i64(struct out *o, int64_t value)
{
	char buf[NUMBER_BYTES];
	out_str(o, number_i64(buf, value));
}

/* "1e+16" -> "1e16", "1e-07" -> "1e-7": the same number on fewer bytes. */
static struct str tidy_exponent(char *z)
{
	char *e = strchr(z, 'e');
	if (!e)
		return str_from(z);
	char *to = e + 1, *from = e + 1;
	if (*from == '-')
		to++;
	from++;
	while (*from == '0' && from[1])
		from++;
	memmove(to, from, strlen(from) + 1);
	return str_from(z);
}

struct str number_double(char buf[NUMBER_BYTES], double value)
{
	if (fabs(value) < 1e15 && value == trunc(value) && !(value == 0 && signbit(value)))
		return number_i64(buf, (int64_t)value);
	/* Any decimal of 15 digits survives a double, except among the subnormals. */
	for (int digits = fabs(value) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
		snprintf(buf, NUMBER_BYTES, "%.*g", digits, value);
		if (strtod(buf, NULL) == value)
			break;
	}
	return tidy_exponent(buf);
}

void out_double(struct out *o, double value)
{
	char buf[NUMBER_BYTES];
	out_str(o, number_double(buf, value));
}

struct str double_text(struct arena *keep, double value)
{
	char buf[NUMBER_BYTES];
	return arena_str(keep, number_double(buf, value));
}

void out_flush(struct out *o)
{
	if (o->fd >= 0)
		flush(o);
}

struct str out_text(struct out *o)
{
	return (struct str){ o->bytes, o->len };
}

bool out_close(struct out *o, struct diag *err)
{
	bool is_new = o->temp || o->is_nameless;
	if (o->fd < 0)
		return !o->error;
	flush(o);
	/* Some file systems cannot sync; that is no failure to write. */
	if (is_new && !o->error && fsync(o->fd) && errno != EINVAL && errno != EROFS &&
		errno != ENOTSUP)
		o->error = errno;
	if (o->is_nameless && !o->error && !give_name(o))
		o->error = errno;
	if (o->owns_fd && close(o->fd) && !o->error)
		o->error = errno;
	if (is_new && !o->error && rename(o->temp, o->path))
		o->error = errno;
	if (o->temp && o->error)
		unlink(o->temp);
	o->owns_fd = o->is_nameless = false;
	o->temp = NULL;
	if (!o->error)
		return true;
	return diag_set(err, DIAG_OUTPUT, "cannot write %s%s%s: %s", o->path ? "'" : "",
		o->path ? o->path : "output", o->path ? "'" : "", strerror(o->error));
}
