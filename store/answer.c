/* Lines of cells.  See answer.h. */
#include "store/answer.h"

static struct str plain_text(struct str cell, struct arena *keep)
{
	static const char codes[] = "t\tn\nr\rb\bf\f0\0";
	if (str_find_char(cell, '\\') < 0)
		return cell;
	struct out *o = out_memory(keep);
	for (ptrdiff_t i = 0; i < cell.len; i++) {
		char c = cell.p[i];
		if (c == '\\' && ++i < cell.len) {
			c = cell.p[i];
			for (size_t k = 0; k + 1 < sizeof(codes); k += 2)
				if (codes[k] == cell.p[i])
					c = codes[k + 1];
		}
		out_char(o, c);
	}
	return out_text(o);
}

enum answer_state answer_read(struct str body, int cells, struct arena *scratch,
	answer_row_fn *take, void *arg, struct diag *err)
{
	struct str line, cell, row[QUESTION_MAX_CELLS];
	arena_clear(scratch);
	while (str_cut(body, '\n', &line, &body)) {
		struct arena keep = *scratch; /* each row has its place */
		bool more = true;
		int count = 0;
		if (str_eq(line, STR("\\.")))
			return body.len ? ANSWER_BROKEN : ANSWER_WHOLE;
		for (; more && count < cells; count++) {
			more = str_cut(line, '\t', &cell, &line);
			row[count] = str_eq(cell, STR("\\N")) ? MISSING : plain_text(cell, &keep);
		}
		if (more || count < cells)
			return ANSWER_BROKEN;
		if (!take(arg, row, err))
			return ANSWER_LEFT;
	}
	return ANSWER_BROKEN;
}
