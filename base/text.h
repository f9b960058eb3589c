/*
 * Text for people: cleaning what a profile says, and guessing what a user meant.
 *
 * Op names, paths and scopes come from untrusted files.  text_clean is the one gate
 * through which they reach a table or a report: its result is valid UTF-8 without control
 * characters, noncharacters or bidirectional overrides, so every writer may rely on it.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "base/arena.h"
#include "base/str.h"

/* Longest text kept from a profile, in bytes; HLO text of one instruction can exceed a megabyte. */
#define TEXT_MAX 4096

/*
 * Valid UTF-8 without C0/C1 controls (tab and newline become a space), U+FFFE/FFFF, surrogates,
 * bidi controls; bad bytes become U+FFFD; cut at a character within TEXT_MAX with "...".
 * Returns `s` itself when nothing had to change; a missing string stays missing.
 */
struct str text_clean(struct arena *keep, struct str s);
bool text_is_clean(struct str s);
/* Characters of a clean text; a terminal's cells but for East Asian text. */
int text_columns(struct str clean);

/* Columns of a line for people, where no terminal says another. */
enum { TEXT_WIDTH = 80 };

/* Of a name or a shape in a sentence: this much tells most kernels apart, and is a line or two. */
#define TEXT_BRIEF 100

/*
 * A clean text in at most so many characters: "..." stands for what is left out behind three
 * quarters of them.  A kernel's name says first what it does, and last what it takes.
 */
struct str text_brief(struct arena *keep, struct str clean);
/*
 * The name alone of a function in C++, as CUDA and HIP write those of kernels: "add_kernel" of
 * "void at::native::add_kernel<int, 4>(int, float*)".  Of one that is called just Kernel, as all of
 * CUTLASS are, it is what it is a kernel of.  Any other text is itself.
 */
struct str text_function(struct str name);
/* Cut at a character within `bytes`, with "..." when cut. */
struct str text_cut(struct arena *keep, struct str clean, ptrdiff_t bytes);

/* The name itself in the folder ".". */
struct str path_join(struct str dir, struct str name, struct arena *keep);

/* One word of a command line, in quotes where a shell would read more into it. */
struct str text_shell(struct arena *keep, struct str s);

/*
 * The candidate nearest to `word` (edit distance with transpositions, at most a third of its
 * length), or the missing string.  For "did you mean".
 */
struct str text_nearest(struct str word, const struct str *candidates, ptrdiff_t count);
/* "; did you mean 'x'?" with the nearest, or with one that contains the word; or nothing. */
struct str did_you_mean(
	struct arena *keep, struct str word, const struct str *candidates, ptrdiff_t count);

/* "a, b and c", by what stands before the last: " and ", " or ", ", ". */
struct str words_joined(
	struct arena *keep, const struct str *words, ptrdiff_t count, const char *last);
/* In their order, with this between them; `texts` is sorted. */
struct str text_sorted(struct arena *keep, struct str *texts, ptrdiff_t count, const char *between);

/* The words of "a|b|c"; the caller promises at most `most`. */
ptrdiff_t text_words(struct str form, struct str *ret, ptrdiff_t most);
/* Of items that begin with their name, each of so many bytes: the one of that name, or NULL. */
void *text_named(const void *items, ptrdiff_t count, size_t bytes, struct str name);
#define NAMED(items, count, name) text_named(items, count, sizeof(*(items)), name)
/* The order of two of them, by their names, for sort_by. */
int names_order(const void *a, const void *b);
/* Their names, added to a list. */
void text_names(
	struct list *ret, struct arena *keep, const void *items, ptrdiff_t count, size_t bytes);
#define NAMES(ret, keep, items, count) text_names(ret, keep, items, count, sizeof(*(items)))

/* A pattern of digits drops out: "fusion.123" and "fusion.7" have the same text_without_digits. */
struct str text_without_digits(struct arena *keep, struct str s);

#endif
