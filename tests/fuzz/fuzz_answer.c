/* Any bytes as a server's answer: rows of as many cells as were asked for, which are the same when
 * they are written as an answer and read again. */
#include "store/answer.h"
#include "tests/fuzz/fuzz.h"

enum { CELLS = 2 };

static void put_cell(struct out *o, struct str cell)
{
	static const char codes[] = "t\tn\nr\rb\bf\f0\0\\\\";
	if (!cell.p)
		out_z(o, "\\N");
	for (ptrdiff_t i = 0; i < cell.len; i++) {
		char code = 0;
		for (size_t k = 0; k + 1 < sizeof(codes) - 1 && !code; k += 2)
			code = codes[k + 1] == cell.p[i] ? codes[k] : (char)0;
		if (code)
			out_char(o, '\\');
		out_char(o, code ? code : cell.p[i]);
	}
}

static bool put_row(void *arg, const struct str *cells, struct diag *err)
{
	(void)err;
	put_cell(arg, cells[0]);
	out_char(arg, '\t');
	put_cell(arg, cells[1]);
	out_char(arg, '\n');
	return true;
}

static enum answer_state rewrite(struct str body, struct arena *keep, struct str *ret)
{
	struct arena scratch = arena_new(ARENA_SCRATCH_BYTES);
	struct out *o = out_memory(keep);
	struct diag err;
	enum answer_state state = answer_read(body, CELLS, &scratch, put_row, o, &err);
	out_z(o, "\\.\n");
	*ret = out_text(o);
	arena_free(&scratch);
	return state;
}

static void fuzz(struct str bytes, struct arena *keep)
{
	struct str once, twice;
	rewrite(bytes, keep, &once);
	require(rewrite(once, keep, &twice) == ANSWER_WHOLE && str_eq(once, twice));
}
