/*
 * A cursor over JSON in a window of bytes that may end anywhere.
 *
 * Values are delivered as the bytes they are written in; nothing is allocated or copied.  When the
 * window ends before a value does, `more` is set and the caller scans that value again with more
 * bytes behind it; when the bytes are no JSON, `why` is set.  Both are sticky: every later call is
 * false.  At a failure `at` is where the trouble is.
 *
 * Reads a little of documents too large to hold.  base/json.h reads small ones whole.
 *
 * Refuses: comments, single quotes, unquoted keys.  A number is taken as it is, to be judged by who
 * reads it.
 */
#ifndef PROFILE_JSCAN_H
#define PROFILE_JSCAN_H

#include "base/arena.h"
#include "base/str.h"

/* Brackets inside one another; events of traces have three. */
#define JSCAN_MAX_DEPTH 512

struct jscan {
	const char *at, *end;
	bool more;
	const char *why; /* NULL, or what was expected at `at` */
};

static inline struct jscan jscan_open(struct str window)
{
	return (struct jscan){ window.p, window.p + window.len, false, NULL };
}

/* Over blanks; false when the window ends. */
static inline bool jscan_blanks(struct jscan *s)
{
	while (s->at < s->end && (unsigned char)*s->at <= ' ')
		s->at++;
	s->more |= s->at >= s->end;
	return !s->more && !s->why;
}

/* `c`, behind blanks; false without an error when something else stands there. */
static inline bool jscan_take(struct jscan *s, char c)
{
	if (!jscan_blanks(s) || *s->at != c)
		return false;
	s->at++;
	return true;
}

static inline bool jscan_fail(struct jscan *s, const char *why)
{
	if (!s->more && !s->why)
		s->why = why;
	return false;
}

static inline bool jscan_expect(struct jscan *s, char c, const char *why)
{
	return jscan_take(s, c) || jscan_fail(s, why);
}

/* What may stand behind a number. */
static inline bool jscan_ends_word(char c)
{
	return c == ',' || c == '}' || c == ']' || (unsigned char)c <= ' ';
}

/* A string's inside, with its escapes. */
bool jscan_string(struct jscan *s, struct str *ret);
/* A number, true, false or null. */
bool jscan_word(struct jscan *s, struct str *ret);
/* Any value, as it is written. */
bool jscan_value(struct jscan *s, struct str *ret);

/*
 * After '{' or '[': true at each further member, false behind the closing bracket or on trouble.
 * `*first` is true before the first call.  A key's colon is taken with it.
 */
bool jscan_member(struct jscan *s, bool *first, struct str *key);
bool jscan_element(struct jscan *s, bool *first);

/* The text that a string's inside stands for; itself when it has no escapes. */
struct str jscan_text(struct str inside, struct arena *keep);

/*
 * Over a value of any size, window by window: false while it goes on, with all of the window used.
 * `*skip` is all zeros before the first byte.
 */
struct jscan_skip {
	int64_t depth;
	bool begun, in_string, escaped;
};
bool jscan_skip(struct jscan *s, struct jscan_skip *skip);

#endif
