/*
 * A cursor over HLO text: blanks, names, numbers, quoted strings, balanced brackets.
 *
 * Errors are sticky: after the first, every call is false or empty and `wrong` stays where it was.
 *
 * Private to hlo/.
 */
#ifndef HLO_SCAN_H
#define HLO_SCAN_H

#include "hlo/internal.h"

struct scan {
	struct str text;
	ptrdiff_t at;
	struct arena *keep;
	const char *why; /* NULL, or what is wrong at `wrong` */
	ptrdiff_t wrong;
};

static inline char scan_peek(const struct scan *s)
{
	return s->at < s->text.len ? s->text.p[s->at] : 0;
}

struct str scan_since(const struct scan *s, ptrdiff_t from); /* up to the cursor */
bool scan_fail(struct scan *s, const char *why);	     /* always false */
bool scan_fail_at(struct scan *s, ptrdiff_t at, const char *why);
/* What is wrong, with a caret.  Always false. */
bool scan_tell(const struct scan *s, struct str file, struct diag *err);
bool scan_take(struct scan *s, struct str word);
bool scan_expect(struct scan *s, struct str word, const char *why);

void scan_blanks(struct scan *s); /* within a line; comments are blanks */
void scan_space(struct scan *s);  /* and line ends */
void scan_rest_of_line(struct scan *s);

/* Up to a blank, a bracket, a comma, '=' or a quote; without a leading '%'.  May be empty. */
struct str scan_name(struct scan *s);
bool scan_i64(struct scan *s, int64_t *ret);
/* A string in double quotes with C's escapes undone; the slice itself when it has none. */
struct str scan_string(struct scan *s);
/* Over a value of whatever kind: to the next ',' or line end outside of all brackets, or to the
 * bracket that closes what the value is in.  Returns it. */
struct str scan_value(struct scan *s);

/* Over one value of a list whose elements are separated by blanks. */
void scan_element(struct scan *s);
/* After '{': true at each further element, false at '}' or an error.  Commas are optional. */
bool scan_more(struct scan *s);
/* "1,2}" up to the bracket `end`, and "{1,2}" */
bool scan_numbers(struct scan *s, struct str end, struct hlo_dims *ret);
bool scan_dims(struct scan *s, struct hlo_dims *ret);

/* text_attr.c: a value whose text is of a grammar of its own, and where it is read to.  Tables of
 * them are sorted by name. */
struct scan_attr {
	struct str name;
	bool (*read)(struct scan *s, void *into);
	ptrdiff_t offset; /* of what it is read into */
};
/* "{name=value name=value}" by the table's names; others are skipped. */
bool scan_pairs(struct scan *s, const struct read_table *t, void *into);
/* ", name=value, name=value"; the same, the rows before the table. */
bool scan_list(struct scan *s, const struct scan_attr *rows, ptrdiff_t count,
	const struct read_table *t, void *into);

/* shape_text.c */
bool scan_shape(struct scan *s, struct shape *ret);

/* text_attr.c: what follows an instruction's operands.  Callees are offsets of their names. */
bool scan_attributes(struct scan *s, struct hlo_instruction *i);

#endif
