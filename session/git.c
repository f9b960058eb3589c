/* Running git.  See git.h. */
#include "session/git.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/doc.h"
#include "base/input.h"
#include "base/secret.h"

/* ---- the child ------------------------------------------------------------------------------ */

/* What git says on its standard error may quote the repository: the message is ours. */
static void become_git(const char *const *argv, int out)
{
	int null = open("/dev/null", O_RDWR);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
		dup2(null, STDERR_FILENO) < 0)
		_exit(127);
	secret_forget();
	execvp(argv[0], (char *const *)(void *)argv);
	_exit(127);
}

/*
 * Standard output of git, up to one byte more than a rule file may have; *status is its exit
 * status, 127 when it could not be started.
 */
static bool run_git(
	const char *const *argv, struct arena *keep, struct str *ret, int *status, struct diag *err)
{
	int pipes[2], how;
	if (pipe(pipes))
		return diag_set(err, DIAG_LIMIT, "git cannot be started: %s", strerror(errno));
	pid_t pid = fork();
	if (!pid)
		become_git(argv, pipes[1]);
	close(pipes[1]);
	char *bytes = arena_make(keep, char, DOC_MAX_BYTES + 1);
	ptrdiff_t len = pid > 0 ? input_read_all(pipes[0], bytes, DOC_MAX_BYTES + 1) : 0;
	*ret = (struct str){ bytes, len > 0 ? len : 0 };
	close(pipes[0]); /* a child that has more to say ends by SIGPIPE */
	if (pid < 0)
		return diag_set(err, DIAG_LIMIT, "git cannot be started: %s", strerror(errno));
	while (waitpid(pid, &how, 0) < 0 && errno == EINTR)
		;
	*status = WIFEXITED(how) ? WEXITSTATUS(how) : 128;
	if (*status == 127)
		return diag_set(err, DIAG_USAGE, "--rules-from needs git, which is not installed");
	return true;
}

/* ---- what is asked of it -------------------------------------------------------------------- */

/* Nothing that git would take for an option, a range or a path. */
static bool check_ref(struct str ref, struct diag *err)
{
	bool odd = !ref.len || ref.p[0] == '-' || str_find_char(ref, ':') >= 0 ||
		   str_contains(ref, STR(".."));
	for (ptrdiff_t i = 0; i < ref.len; i++)
		odd |= (unsigned char)ref.p[i] <= ' ';
	return !odd ||
	       diag_set(err, DIAG_USAGE, "--rules-from %.*s: it takes a branch, a tag or a commit",
		       STR_ARG(ref));
}

/* *found is false when the ref has no such file. */
static bool read_blob(struct str ref, struct str path, struct arena *keep, struct str *ret,
	bool *found, struct diag *err)
{
	struct str name = arena_fmt(keep, "%.*s:%s%.*s", STR_ARG(ref),
		str_starts(path, STR(".")) ? "" : "./", STR_ARG(path));
	const char *const argv[] = { "git", "cat-file", "blob", name.p, NULL };
	int status;
	if (!run_git(argv, keep, ret, &status, err))
		return false;
	*found = !status || ret->len > DOC_MAX_BYTES;
	return true;
}

bool git_read(
	struct str ref, struct str path, struct arena *keep, struct str *ret, struct diag *err)
{
	bool found;
	if (!check_ref(ref, err))
		return false;
	if (str_starts(path, STR("/")))
		return diag_set(err, DIAG_USAGE,
			"%.*s: with --rules-from, name the rule file by its path from this "
			"directory",
			STR_ARG(path));
	if (!read_blob(ref, path, keep, ret, &found, err))
		return false;
	if (!found)
		return diag_set(err, DIAG_FILE_OPEN,
			"git has no '%.*s' in '%.*s' (is the ref fetched, and this its "
			"repository?)",
			STR_ARG(path), STR_ARG(ref));
	if (ret->len > DOC_MAX_BYTES)
		return diag_set(err, DIAG_LIMIT, "%.*s: larger than %lld bytes", STR_ARG(path),
			(long long)DOC_MAX_BYTES);
	return true;
}

/* A ref that is not there has no rule file either, which must not mean the built-in rules. */
static bool verify_ref(struct str ref, struct arena *keep, struct diag *err)
{
	struct str commit = arena_fmt(keep, "%.*s^{commit}", STR_ARG(ref)), hash;
	const char *const argv[] = { "git", "rev-parse", "--verify", "--quiet", commit.p, NULL };
	int status;
	if (!run_git(argv, keep, &hash, &status, err))
		return false;
	return !status || diag_set(err, DIAG_USAGE,
				  "--rules-from %.*s: git knows no such ref here; fetch it first",
				  STR_ARG(ref));
}

/* "../" for each folder between this one and the top of the repository. */
static bool folders_up(struct arena *keep, ptrdiff_t *ret, struct diag *err)
{
	static const char *const argv[] = { "git", "rev-parse", "--show-prefix", NULL };
	struct str prefix;
	int status;
	*ret = 0;
	if (!run_git(argv, keep, &prefix, &status, err))
		return false;
	if (status)
		return diag_set(err, DIAG_USAGE, "--rules-from: this is no git repository");
	for (ptrdiff_t i = 0; i < prefix.len; i++)
		*ret += prefix.p[i] == '/';
	return true;
}

bool git_find_rules(struct str ref, struct arena *keep, struct str *ret, struct diag *err)
{
	struct str path = STR("rooflint.yaml");
	ptrdiff_t up;
	*ret = MISSING;
	if (!check_ref(ref, err) || !folders_up(keep, &up, err) || !verify_ref(ref, keep, err))
		return false;
	for (ptrdiff_t i = 0; i <= up; i++) {
		struct arena scratch = *keep;
		struct str text;
		bool found;
		if (!read_blob(ref, path, &scratch, &text, &found, err))
			return false;
		if (found) {
			*ret = path;
			return true;
		}
		path = arena_fmt(keep, "../%.*s", STR_ARG(path));
	}
	return true;
}
