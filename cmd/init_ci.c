/*
 * rooflint init --ci: a pipeline that judges every run, for the systems that templates/ci/ has.
 *
 * A template is text with two slots; the profile's path is the only word of the user's in it.
 */
#include "base/embed.h"
#include "cmd/init_ci.h"
#include "cmd/shared.h"

static const struct system {
	const char *template, *place; /* where the system looks for it */
} systems[] = {
	[CI_GITHUB] = { "templates/ci/github.yml", ".github/workflows/rooflint.yml" },
	[CI_GITLAB] = { "templates/ci/gitlab.yml", ".gitlab-ci.yml" },
	[CI_JENKINS] = { "templates/ci/jenkins.groovy", "Jenkinsfile" },
	[CI_BUILDKITE] = { "templates/ci/buildkite.yml", ".buildkite/pipeline.yml" },
};

/* Letters that mean nothing to YAML, Groovy or a shell, wherever in a word they stand. */
static bool is_plain(struct str path)
{
	for (ptrdiff_t i = 0; i < path.len; i++) {
		char c = path.p[i];
		bool is_word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
			       (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '/';
		if (!is_word && (c != '-' || !i))
			return false;
	}
	return path.len > 0;
}

static void fill(struct out *o, struct str text, struct str profile)
{
	struct str before, slot;
	while (str_cut(text, '@', &before, &text)) {
		out_str(o, before);
		struct str rest = text;
		if (!str_cut(text, '@', &slot, &rest))
			slot = STR("");
		if (str_eq(slot, STR("PROFILE")))
			out_str(o, profile);
		else if (str_eq(slot, STR("VERSION")))
			out_z(o, ROOFLINT_VERSION);
		else {
			out_char(o, '@');
			continue;
		}
		text = rest;
	}
	out_str(o, before);
}

enum status init_ci(struct context *c, int system, struct str profile)
{
	const struct system *s = &systems[system];
	if (!profile.p)
		profile = STR("runs");
	if (!is_plain(profile))
		return misuse(
			"a pipeline takes a path of letters, digits and ._-/ for the profile, not "
			"'%.*s'",
			STR_ARG(profile));
	fill(c->out, embed_find(str_from(s->template)), profile);
	print_line(arena_fmt(
		c->keep, "this belongs into %s; train.py stands for your own job", s->place));
	return STATUS_OK;
}
