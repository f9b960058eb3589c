/* Files, annotations and the terminal's report.  See output.h. */
#include "cmd/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };
enum markdown_size { SIZE_COMMENT, SIZE_SUMMARY };

/* ---- the files ------------------------------------------------------------------------------- */

typedef bool write_fn(const struct report_set *set, const struct output_settings *s,
	struct arena *keep, struct out *out, struct diag *err);

static bool write_junit(const struct report_set *set, const struct output_settings *s,
	struct arena *keep, struct out *out, struct diag *err)
{
	return report_junit(set, (enum junit_flavor)s->junit_flavor, keep, out, err);
}

static bool write_json(const struct report_set *set, const struct output_settings *s,
	struct arena *keep, struct out *out, struct diag *err)
{
	(void)s;
	return report_json_write(set, keep, out, err);
}

static bool write_sarif(const struct report_set *set, const struct output_settings *s,
	struct arena *keep, struct out *out, struct diag *err)
{
	(void)s;
	return report_sarif(set, keep, out, err);
}

static bool write_gitlab(const struct report_set *set, const struct output_settings *s,
	struct arena *keep, struct out *out, struct diag *err)
{
	(void)s;
	return report_gitlab(set, keep, out, err);
}

static bool write_markdown(const struct report_set *set, const struct output_settings *s,
	struct arena *keep, struct out *out, struct diag *err)
{
	bool large = s->markdown_size == SIZE_SUMMARY;
	(void)err;
	report_markdown(set, large ? MARKDOWN_SUMMARY : MARKDOWN_COMMENT, keep, out);
	return true;
}

static bool write_openmetrics(const struct report_set *set, const struct output_settings *s,
	struct arena *keep, struct out *out, struct diag *err)
{
	(void)s;
	(void)err;
	report_openmetrics(set, keep, out);
	return true;
}

static bool write_html(const struct report_set *set, const struct output_settings *s,
	struct arena *keep, struct out *out, struct diag *err)
{
	const struct page_template *page = report_html_load(s->templates, keep, err);
	if (page)
		report_html(set, page, keep, out);
	return page != NULL;
}

/* In the order of writing. */
static const struct file_output {
	const char *option;
	ptrdiff_t path; /* in the settings */
	write_fn *write;
} files[] = {
	{ "json", offsetof(struct output_settings, json), write_json },
	{ "junit", offsetof(struct output_settings, junit), write_junit },
	{ "sarif", offsetof(struct output_settings, sarif), write_sarif },
	{ "gitlab-quality", offsetof(struct output_settings, gitlab), write_gitlab },
	{ "markdown", offsetof(struct output_settings, markdown), write_markdown },
	{ "openmetrics", offsetof(struct output_settings, openmetrics), write_openmetrics },
	{ "html", offsetof(struct output_settings, html), write_html },
};
enum { FILES = sizeof(files) / sizeof(files[0]) };

static struct str path_of(const struct output_settings *s, const struct file_output *file)
{
	return *(const struct str *)((const char *)s + file->path);
}

static bool takes_stdout(struct str path)
{
	return str_eq(path, STR("-"));
}

/* The option of the file that goes to standard output, from `first` on, or NULL. */
static const char *stdout_option(const struct output_settings *s, const char *besides)
{
	for (int i = 0; i < FILES; i++)
		if (takes_stdout(path_of(s, &files[i])) && files[i].option != besides)
			return files[i].option;
	return NULL;
}

/* Before anything is judged, since somebody may have edited them. */
static bool check_templates(const struct output_settings *s, struct diag *err)
{
	struct arena scratch = arena_new(ARENA_SCRATCH_BYTES);
	bool ok = !s->html.p || report_html_load(s->templates, &scratch, err) != NULL;
	arena_free(&scratch);
	return ok;
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
	return check_templates(s, err);
}

/* The document is whole before the file is touched; main closes standard output. */
static bool deliver(struct context *c, struct str path, struct str text)
{
	struct diag err;
	if (takes_stdout(path)) {
		out_str(c->out, text);
		return true;
	}
	struct out *o = out_file(c->keep, path, &err);
	if (o) {
		out_str(o, text);
		if (out_close(o, &err))
			return true;
	}
	print_error(&err);
	return false;
}

static bool write_file(struct context *c, const struct output_settings *s,
	const struct report_set *set, const struct file_output *file)
{
	struct diag err;
	struct str path = path_of(s, file);
	struct out *o = out_memory(c->keep);
	if (!path.p)
		return true;
	if (file->write(set, s, c->keep, o, &err))
		return deliver(c, path, out_text(o));
	print_error(&err);
	return false;
}

/* ---- the job summary ------------------------------------------------------------------------- */

/* What is left of the limit, which all that a step writes there counts against. */
static ptrdiff_t summary_room(off_t bytes)
{
	return bytes < MARKDOWN_SUMMARY ? MARKDOWN_SUMMARY - (ptrdiff_t)bytes : 0;
}

/* Behind what is there, and parted from it by an empty line. */
static void put_summary(
	struct context *c, const struct report_set *set, struct out *o, off_t before)
{
	struct out *text = out_memory(c->keep);
	report_markdown(set, summary_room(before + 2), c->keep, text);
	if (before && out_text(text).len)
		out_z(o, "\n\n");
	out_str(o, out_text(text));
}

static bool append_summary(struct context *c, const struct report_set *set, const char *path)
{
	struct stat st;
	struct diag err;
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	bool ok = fd >= 0 && !fstat(fd, &st);
	if (ok) {
		struct out *o = out_fd(c->keep, fd);
		put_summary(c, set, o, st.st_size);
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

static bool write_summary(
	struct context *c, const struct output_settings *s, const struct report_set *set)
{
	const char *path = getenv("GITHUB_STEP_SUMMARY");
	return !s->github || !path || !*path || append_summary(c, set, path);
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
		if (!set->items[i].error.p)
			return false;
	for (ptrdiff_t i = 0; i < set->count; i++)
		fprintf(stderr, "rooflint: error RL%d: %.*s\n", (int)set->items[i].error_id,
			STR_ARG(set->items[i].error));
	return true;
}

static void print_report(
	struct context *c, const struct output_settings *s, const struct report_set *set)
{
	struct diag err;
	bool is_taken = stdout_option(s, NULL) != NULL;
	int fd = is_taken ? STDERR_FILENO : STDOUT_FILENO;
	struct out *o = is_taken ? out_fd(c->keep, fd) : c->out;
	struct report_style style = {
		.color = wants_color(s, fd),
		.verbose = s->verbose,
		.quiet = s->quiet,
		.width = terminal_width(fd),
	};
	if (print_errors(set))
		return;
	if (s->github) {
		struct out *text = out_memory(c->keep);
		report_terminal(set, &style, c->keep, text);
		report_github_log(out_text(text), o);
	} else {
		report_terminal(set, &style, c->keep, o);
	}
	if (is_taken)
		out_close(o, &err);
}

bool output_write(struct context *c, const struct output_settings *s, const struct report_set *set)
{
	bool delivered = true;
	for (int i = 0; i < FILES; i++)
		delivered &= write_file(c, s, set, &files[i]);
	delivered &= write_summary(c, s, set);
	print_report(c, s, set);
	if (s->github)
		report_github(set, c->keep, c->out);
	return delivered;
}
