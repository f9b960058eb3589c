/* What differs from a baseline, for pages.  See html.h. */
#include "report/op_change.h"
#include "report/comparison.h"
#include "report/html.h"
#include "report/template.h"

/* All of it, where the text shown has been cut. */
static struct str whole_of(struct str shown, struct str whole)
{
	return str_eq(shown, whole) ? MISSING : whole;
}

static struct html_change change_of(const struct changes_row *c, struct arena *keep)
{
	struct html_change ret = { .time = change_lost(c, keep),
		.value = arena_fmt(keep, "%.9g", c->lost_s),
		.tone = c->lost_s > 0 ? STR("bad") : STR("good"),
		.change = c->change,
		.name = change_name(c, CHANGE_BRIEF, keep),
		.text = change_sentence(c, CHANGE_BRIEF, keep),
		.place = change_place(c, CHANGE_BRIEF, keep) };
	ret.name_whole = whole_of(ret.name, change_name(c, CHANGE_WHOLE, keep));
	ret.text_whole = whole_of(ret.text, change_sentence(c, CHANGE_WHOLE, keep));
	ret.place_whole = whole_of(ret.place, change_place(c, CHANGE_WHOLE, keep));
	return ret;
}

struct template_list html_changes(
	const struct changes_row *rows, ptrdiff_t count, ptrdiff_t most, struct arena *keep)
{
	static const struct str titles[] = { STR_INIT("won"), STR_INIT("lost") };
	struct html_changes *items = arena_make(keep, struct html_changes, 2);
	ptrdiff_t n = 0;
	for (int losses = 1; losses >= 0; losses--) {
		struct picked_changes picked = changes_pick(rows, count, losses, most, keep);
		struct html_change *ops = arena_make(keep, struct html_change, picked.count);
		if (!picked.count)
			continue;
		struct html_changes *ret = &items[n++];
		*ret = (struct html_changes){ .title = titles[losses],
			.rows = LIST(ops, picked.count) };
		for (ptrdiff_t i = 0; i < picked.count; i++) {
			ops[i] = change_of(picked.items[i], keep);
			ret->has_places |= ops[i].place.len > 0;
		}
		if (picked.left_out)
			ret->more =
				arena_fmt(keep, "and %td more, of less time each", picked.left_out);
	}
	return LIST(items, n);
}

struct template_list html_comparison(const struct report *r, struct arena *keep)
{
	struct str *lines;
	ptrdiff_t count = comparison_lines(r, keep, &lines);
	struct html_note *items = arena_make(keep, struct html_note, count);
	for (ptrdiff_t i = 0; i < count; i++)
		items[i].text = lines[i];
	return LIST(items, count);
}
