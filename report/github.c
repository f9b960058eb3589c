/*
 * GitHub workflow commands: an annotation on the user's line for what matters most.
 *
 * The runner shows ten errors, ten warnings and ten notices of a step and drops the others without
 * a word, so the first of the report's order are picked here, and one line says how many are not.
 */
#include "report/alert.h"

enum { GITHUB_MAX = 10 /* of each level, per step */ };

static const char *const commands[ALERT_LEVELS] = {
	[ALERT_ERROR] = "error",
	[ALERT_WARNING] = "warning",
	[ALERT_NOTE] = "notice",
};

#define DATA "%\r\n"

/* As the runner's toolkit does: %, CR and LF in a message, and in a property : and , too. */
static void put_escaped(struct out *o, struct str s, struct str special)
{
	for (ptrdiff_t i = 0; i < s.len; i++)
		if (str_find_char(special, s.p[i]) >= 0)
			out_fmt(o, "%%%02X", (unsigned char)s.p[i]);
		else
			out_char(o, s.p[i]);
}

static void put_command(struct out *o, const struct alert *a, struct arena *keep)
{
	out_fmt(o, "::%s ", commands[a->level]);
	if (a->in_source) {
		out_z(o, "file=");
		put_escaped(o, a->path, STR(DATA ":,"));
		out_fmt(o, ",line=%lld,", (long long)(a->line ? a->line : 1));
	}
	out_z(o, "title=");
	put_escaped(o, a->title, STR(DATA ":,"));
	out_z(o, "::");
	put_escaped(o, alert_text(a, keep), STR(DATA));
	out_char(o, '\n');
}

void report_github(const struct report_set *set, struct arena *keep, struct out *out)
{
	struct alerts all = alerts_of(set, keep);
	ptrdiff_t shown[ALERT_LEVELS] = { 0 }, left_out[ALERT_LEVELS] = { 0 };
	ptrdiff_t most[ALERT_LEVELS] = { GITHUB_MAX, GITHUB_MAX, GITHUB_MAX };
	bool is_cut = false;
	for (int level = 0; level < ALERT_LEVELS; level++)
		is_cut |= all.levels[level] > GITHUB_MAX;
	most[ALERT_NOTE] -= is_cut; /* the line that says so is a notice, too */
	for (ptrdiff_t i = 0; i < all.count; i++) {
		enum alert_level level = all.items[i].level;
		if (shown[level] == most[level]) {
			left_out[level]++;
			continue;
		}
		shown[level]++;
		put_command(out, &all.items[i], keep);
	}
	if (!is_cut)
		return;
	out_z(out, "::notice title=rooflint::left out here, last in the report:");
	for (int level = 0; level < ALERT_LEVELS; level++)
		if (left_out[level])
			out_fmt(out, " %td %s%s", left_out[level], commands[level],
				left_out[level] == 1 ? "" : "s");
	out_char(out, '\n');
}
