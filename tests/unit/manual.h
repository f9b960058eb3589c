/*
 * Pages of docs/ that tests make of what the program knows: UPDATE=1 writes them again.
 *
 * Included behind keep.h.
 */
#ifndef TESTS_UNIT_MANUAL_H
#define TESTS_UNIT_MANUAL_H

#include <stdlib.h>

#include "base/input.h"
#include "base/out.h"

/* As it is kept; a test that is run from elsewhere is skipped. */
static struct str manual_kept(const char *page)
{
	struct str text;
	struct diag err;
	if (!input_text(str_from(page), (ptrdiff_t)1 << 20, &keep, &text, &err))
		skip();
	return text;
}

static void manual_is(const char *page, struct str text)
{
	struct diag err;
	if (str_eq(manual_kept(page), text))
		return;
	if (!getenv("UPDATE"))
		fail_msg("%s is out of date: UPDATE=1 rewrites it", page);
	struct out *file = out_file(&keep, str_from(page), &err);
	out_str(file, text);
	assert_true(out_close(file, &err));
}

#endif
