/* By what a capture is known again. */
#include "base/sha256.h"
#include "measure/run.h"

/*
 * Hashed at either end of a file.  Captures begin and end with names and times of their own, in
 * nanoseconds, and whole files of a fleet would have to be read once more for nothing.
 */
enum { END_BYTES = 4 << 10 };

static void add_file(struct sha256 *h, const struct profile *p, struct arena *keep)
{
	struct str bytes = p->input->bytes;
	sha256_field(h, p->host);
	sha256_field(h, arena_fmt(keep, "%td", bytes.len));
	sha256_field(h, str_head(bytes, END_BYTES));
	if (bytes.len > END_BYTES)
		sha256_field(h, str_from_offset(bytes, bytes.len - END_BYTES));
}

struct str capture_fingerprint(const struct profile *hosts, ptrdiff_t count, struct arena *keep)
{
	struct sha256 h = sha256_new();
	for (ptrdiff_t i = 0; i < count; i++)
		add_file(&h, &hosts[i], keep);
	return sha256_id(&h, keep);
}
