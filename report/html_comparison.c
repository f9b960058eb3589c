/* What differs from a baseline, for pages.  See html.h. */
#include <math.h>

#include "report/op_change.h"
#include "base/stats.h"
#include "report/prose.h"
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
	struct html_change ret = { .time = signed_time_text(keep, c->lost_s),
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

/* Rows of a report come by size, those of a diff by loss. */
static int by_loss(const void *a, const void *b)
{
	const struct changes_row *x = *(const struct changes_row *const *)a,
				 *y = *(const struct changes_row *const *)b;
	int order = order_numbers(y->lost_s, x->lost_s);
	return order ? order : str_cmp(x->key, y->key);
}

static int by_gain(const void *a, const void *b)
{
	return -by_loss(a, b);
}

/* Of the largest change; what is less is counted, and not shown. */
#define TRIFLE 1e-3

struct template_list html_changes(
	const struct changes_row *rows, ptrdiff_t count, ptrdiff_t most, struct arena *keep)
{
	static const struct str titles[] = { STR_INIT("won"), STR_INIT("lost") };
	struct html_changes *lists = arena_make(keep, struct html_changes, 2);
	ptrdiff_t n = 0;
	double most_s = 0;
	for (ptrdiff_t i = 0; i < count; i++)
		most_s = fmax(most_s, rows[i].size_s);
	for (int losses = 1; losses >= 0; losses--) {
		const struct changes_row **picked =
			arena_make(keep, const struct changes_row *, count);
		ptrdiff_t all = 0;
		for (ptrdiff_t i = 0; i < count; i++)
			if (losses ? rows[i].lost_s > 0 : rows[i].lost_s < 0)
				picked[all++] = &rows[i];
		if (!all)
			continue;
		sort_by(picked, all, losses ? by_loss : by_gain);
		ptrdiff_t shown = most && all > most ? most : all;
		while (shown > 1 && picked[shown - 1]->size_s < TRIFLE * most_s)
			shown--;
		struct html_change *ops = arena_make(keep, struct html_change, shown);
		struct html_changes *ret = &lists[n++];
		*ret = (struct html_changes){ .title = titles[losses], .rows = LIST(ops, shown) };
		for (ptrdiff_t i = 0; i < shown; i++) {
			ops[i] = change_of(picked[i], keep);
			ret->has_places |= ops[i].place.len > 0;
		}
		if (all > shown)
			ret->more = arena_fmt(keep, "and %td more, of less time each", all - shown);
	}
	return LIST(lists, n);
}

struct template_list html_comparison(const struct report *r, struct arena *keep)
{
	struct list lines = comparison_lines(r, keep);
	struct html_note *items = arena_make(keep, struct html_note, lines.count);
	for (ptrdiff_t i = 0; i < lines.count; i++)
		items[i].text = lines.items[i];
	return LIST(items, lines.count);
}
