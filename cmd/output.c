/* Files, annotations and the terminal's report.  See output.h. */
#include "cmd/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };
enum markdown_size { SIZE_COMMENT, SIZE_SUMMARY };

/* ---- the files ------------------------------------------------------------------------------- */

/* In the order of writing. */
enum file {
	FILE_JSON,
	FILE_JUNIT,
	FILE_SARIF,
	FILE_GITLAB,
	FILE_MARKDOWN,
	FILE_METRICS,
	FILE_HTML
};

static const struct file_output {
	const char *option;
	ptrdiff_t path; /* in the settings */
	/* NULL: by what else the settings say. */
	void (*write)(const struct report_set *set, struct arena *keep, struct out *o);
} files[] = {
	[FILE_JSON] = { "json", offsetof(struct output_settings, json), report_json_write },
	[FILE_JUNIT] = { "junit", offsetof(struct output_settings, junit), NULL },
	[FILE_SARIF] = { "sarif", offsetof(struct output_settings, sarif), report_sarif },
	[FILE_GITLAB] = { "gitlab-quality", offsetof(struct output_settings, gitlab),
		report_gitlab },
	[FILE_MARKDOWN] = { "markdown", offsetof(struct output_settings, markdown), NULL },
	[FILE_METRICS] = { "openmetrics", offsetof(struct output_settings, openmetrics),
		report_openmetrics },
	[FILE_HTML] = { "html", offsetof(struct output_settings, html), NULL },
};

static bool write_document(enum file file, const struct report_set *set,
	const struct output_settings *s, struct arena *keep, struct out *o, struct diag *err)
{
	const struct doc_template *page;
	if (files[file].write) {
		files[file].write(set, keep, o);
	} else if (file == FILE_JUNIT) {
		report_junit(set, (enum junit_flavor)s->junit_flavor, keep, o);
	} else if (file == FILE_MARKDOWN) {
		report_markdown(set,
			s->markdown_size == SIZE_SUMMARY ? MARKDOWN_SUMMARY : MARKDOWN_COMMENT,
			keep, o);
	} else {
		page = report_html_load(s->templates, keep, err);
		if (page)
			report_html(set, HTML_WHOLE, page, keep, o);
		return page != NULL;
	}
	return true;
}

/* A folder that is there, or whose name says that it is to be one. */
static bool is_folder(struct str path, struct arena *keep)
{
	struct stat st;
	return str_ends(path, STR("/")) || (!stat(arena_z(keep, path), &st) && S_ISDIR(st.st_mode));
}

/* Of one report the index is the page; of several it lists them, and each has its own. */
static bool write_pages(struct str dir, const struct output_settings *s,
	const struct report_set *set, struct diag *err)
{
	struct arena keep = arena_new(ARENA_RUN_BYTES), scratch = arena_new(ARENA_RUN_BYTES);
	const struct doc_template *page = report_html_load(s->templates, &keep, err);
	dir = path_trim(dir);
	bool ok = page && out_folder(dir, &keep, err);
	for (ptrdiff_t i = set->count > 1 ? -1 : 0; ok && i < set->count; i++) {
		bool is_index = i < 0 || set->count == 1;
		struct str name =
			is_index ? STR(HTML_INDEX) : report_html_name(&set->items[i], &scratch);
		struct out *o = out_file(&scratch,
			arena_fmt(&scratch, "%.*s/%.*s", STR_ARG(dir), STR_ARG(name)), err);
		const struct report_set one = { &set->items[i < 0 ? 0 : i], 1, set->tool_version };
		if (o && is_index)
			report_html(set, i < 0 ? HTML_LIST : HTML_WHOLE, page, &scratch, o);
		else if (o)
			report_html(&one, HTML_ONE, page, &scratch, o);
		ok = o && out_close(o, err);
		arena_clear(&scratch);
	}
	arena_free(&scratch);
	arena_free(&keep);
	return ok;
}

static struct str path_of(const struct output_settings *s, const struct file_output *file)
{
	return *(const struct str *)((const char *)s + file->path);
}

/* The option of the file that goes to standard output, from `first` on, or NULL. */
static const char *stdout_option(const struct output_settings *s, const char *besides)
{
	for (int i = 0; i < COUNT_OF(files); i++)
		if (str_eq(path_of(s, &files[i]), STR("-")) && files[i].option != besides)
			return files[i].option;
	return NULL;
}

bool output_settings_agree(const struct output_settings *s, struct diag *err)
{
	const char *one = stdout_option(s, NULL), *other = one ? stdout_option(s, one) : NULL;
	if (one && !other && s->github)
		other = "github";
	if (other)
		return diag_set(err, DIAG_USAGE,
			"--%s and --%s cannot both be written to standard output", one, other);
	if (s->quiet && s->verbose)
		return diag_set(err, DIAG_USAGE, "--quiet and --verbose exclude each other");
	/* Before anything is judged, since somebody may have edited them. */
	struct arena scratch = arena_new(ARENA_SCRATCH_BYTES);
	bool ok = !s->html.p || report_html_load(s->templates, &scratch, err) != NULL;
	arena_free(&scratch);
	return ok;
}

/* What goes to standard output main closes. */
static bool write_output(struct context *c, const struct output_settings *s,
	const struct report_set *set, enum file file)
{
	struct diag err;
	struct str path = path_of(s, &files[file]);
	struct out *text = out_memory(c->keep);
	if (!path.p)
		return true;
	bool is_pages = file == FILE_HTML && is_folder(path, c->keep);
	if (!(is_pages ? write_pages(path, s, set, &err)
		       : write_document(file, set, s, c->keep, text, &err))) {
		print_error(&err);
		return false;
	}
	if (!is_pages && !str_eq(path, STR("-")))
		return write_file(c->keep, path, out_text(text));
	out_str(c->out, out_text(text));
	return true;
}

/* ---- the job summary ------------------------------------------------------------------------- */

/* Behind what is there, and parted from it by an empty line. */
static bool append_summary(struct context *c, const struct report_set *set, const char *path)
{
	struct stat st;
	struct diag err;
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	bool ok = fd >= 0 && !fstat(fd, &st);
	if (ok) {
		struct out *o = out_fd(c->keep, fd), *text = out_memory(c->keep);
		/* All that a step writes there counts against the limit. */
		off_t before = st.st_size + 2;
		report_markdown(set,
			before < MARKDOWN_SUMMARY ? MARKDOWN_SUMMARY - (ptrdiff_t)before : 0,
			c->keep, text);
		if (st.st_size && out_text(text).len)
			out_z(o, "\n\n");
		out_str(o, out_text(text));
		ok = out_close(o, &err);
	} else {
		diag_set(&err, DIAG_OUTPUT, "cannot write '%s' ($GITHUB_STEP_SUMMARY): %s", path,
			strerror(errno));
	}
	if (fd >= 0)
		close(fd);
	if (!ok)
		print_error(&err);
	return ok;
}

/* ---- the terminal ---------------------------------------------------------------------------- */

static bool wants_color(const struct output_settings *s, int fd)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	if (s->color != COLOR_AUTO)
		return s->color == COLOR_ALWAYS;
	return isatty(fd) && !(no_color && *no_color) && !(term && !strcmp(term, "dumb"));
}

static int terminal_width(int fd)
{
	struct winsize size;
	return isatty(fd) && !ioctl(fd, TIOCGWINSZ, &size) ? size.ws_col : 0;
}

/* Nothing was judged: there is no report to print, only errors. */
static bool print_errors(const struct report_set *set)
{
	for (ptrdiff_t i = 0; i < set->count; i++)
		if (!set->items[i].error.text.p)
			return false;
	for (ptrdiff_t i = 0; i < set->count; i++)
		print_error_text((enum diag_id)set->items[i].error.id, set->items[i].error.text);
	return true;
}

static void print_report(
	struct context *c, const struct output_settings *s, const struct report_set *set)
{
	struct diag err;
	bool is_taken = stdout_option(s, NULL) != NULL;
	int fd = is_taken ? STDERR_FILENO : STDOUT_FILENO;
	struct out *o = is_taken ? out_log(c->keep, fd) : c->out;
	struct report_style style = {
		.color = wants_color(s, fd),
		.verbose = s->verbose,
		.quiet = s->quiet,
		.width = terminal_width(fd),
	};
	if (print_errors(set))
		return;
	report_terminal(set, &style, c->keep, o);
	if (is_taken)
		out_close(o, &err);
}

bool output_write(struct context *c, const struct output_settings *s, const struct report_set *set)
{
	bool delivered = true;
	const char *summary = getenv("GITHUB_STEP_SUMMARY");
	for (int i = 0; i < COUNT_OF(files); i++)
		delivered &= write_output(c, s, set, (enum file)i);
	if (s->github && summary && *summary)
		delivered &= append_summary(c, set, summary);
	print_report(c, s, set);
	if (s->github) {
		/* The runner must obey these: they pass beside c->out, which would disarm them. */
		struct out *meant = out_fd(c->keep, STDOUT_FILENO);
		out_flush(c->out);
		report_github(set, c->keep, meant);
		out_flush(meant);
	}
	return delivered;
}
