/* By what a capture is known again. */
#include <stdlib.h>

#include "base/sha256.h"
#include "measure/run.h"

/*
 * Hashed at either end of a file.  Captures begin and end with names and times of their own, in
 * nanoseconds, and whole files of a fleet would have to be read once more for nothing.
 */
enum { END_BYTES = 4 << 10 };

static void add_file(struct sha256 *h, struct str bytes, struct arena *keep)
{
	sha256_field(h, arena_fmt(keep, "%td", bytes.len));
	sha256_field(h, str_head(bytes, END_BYTES));
	if (bytes.len > END_BYTES)
		sha256_field(h, str_from_offset(bytes, bytes.len - END_BYTES));
}

struct str capture_fingerprint(const struct profile *hosts, ptrdiff_t count, struct arena *keep)
{
	struct sha256 h = sha256_new();
	for (ptrdiff_t i = 0; i < count; i++) {
		sha256_field(&h, hosts[i].host);
		add_file(&h, hosts[i].input->bytes, keep);
		profile_drop(&hosts[i]);
	}
	return sha256_id(&h, keep);
}

struct mark {
	struct str id;
	const struct profile *host;
};

static int by_id(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;
	int order = str_cmp(x->id, y->id);
	return order ? order : str_cmp(x->host->host, y->host->host);
}

bool capture_twin(const struct profile *hosts, ptrdiff_t count, struct arena *keep,
	const struct profile *ret[2])
{
	struct mark *marks = arena_make(keep, struct mark, count + 1);
	ptrdiff_t n = 0;
	for (ptrdiff_t i = 0; i < count; i++) {
		struct sha256 h = sha256_new();
		if (hosts[i].input->bytes.len <= 2 * END_BYTES)
			continue;
		add_file(&h, hosts[i].input->bytes, keep);
		profile_drop(&hosts[i]);
		marks[n++] = (struct mark){ sha256_id(&h, keep), &hosts[i] };
	}
	qsort(marks, (size_t)n, sizeof(*marks), by_id);
	for (ptrdiff_t i = 1; i < n; i++)
		if (str_eq(marks[i - 1].id, marks[i].id)) {
			ret[0] = marks[i - 1].host;
			ret[1] = marks[i].host;
			return true;
		}
	return false;
}
