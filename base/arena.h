/*
 * The only allocator: bump allocation, freed all at once.
 *
 * `struct arena *keep` in a signature is for what the caller keeps; a scratch arena is passed by
 * value, so that everything allocated from it dies when the callee returns.  Memory comes zeroed
 * (but for arena_room) and aligned.  Running out never returns NULL: it calls the handler set by
 * the program, which must not return (cmd/ ends the run of that one profile).
 *
 * Address space is reserved up front and committed by touching it, so a large cap costs nothing.
 * Where it is rationed (`ulimit -v`) an arena gets at most 1/64 of the ration, so that the first
 * ones leave room for those of all devices and threads; a reservation that fails is halved, down
 * to 8 MiB, below which the process is out of memory.
 * Under ASan every allocation is followed by a poisoned red zone.
 *
 * Refuses: freeing one object, resizing in place, sharing between threads (one arena a task).
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>

#include "base/branch.h"
#include "base/str.h"

struct arena {
	char *at, *end; /* the unused part */
	char *base;	/* first byte of the reservation; where clear() rewinds to */
};

/* 4 GiB: the metadata of one run with a million distinct ops fits in a tenth of it. */
#define ARENA_RUN_BYTES ((ptrdiff_t)4 << 30)
/* 256 MiB: what a single step of work may need beside the run's own arena. */
#define ARENA_SCRATCH_BYTES ((ptrdiff_t)256 << 20)

struct arena arena_new(ptrdiff_t bytes);
void arena_clear(struct arena *a); /* all of it is free again; pages go back to the system */
void arena_free(struct arena *a);  /* its first pages may wait for another of its size */

/* `count` objects of `size` bytes; overflow counts as running out. */
void *arena_alloc(struct arena *a, ptrdiff_t size, ptrdiff_t align, ptrdiff_t count);
#define arena_make(a, type, count)                                                                 \
	((type *)arena_alloc((a), (ptrdiff_t)sizeof(type), (ptrdiff_t)alignof(type), (count)))

/* Bytes that are not zeroed: of a large buffer only what is written to costs memory. */
char *arena_room(struct arena *a, ptrdiff_t bytes);

struct str arena_str(struct arena *a, struct str s); /* a copy, NUL-terminated */
const char *arena_z(struct arena *a, struct str s);  /* the same as a C string */
struct str arena_fmt(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
struct str arena_vfmt(struct arena *a, const char *fmt, va_list args);

/*
 * Make room for one more element in a growing array: returns the slot's address, zeroed, and
 * counts it.  Old storage stays in the arena (total waste is below the final size).
 */
void *arena_grow(struct arena *a, void **items, ptrdiff_t *count, ptrdiff_t *cap, ptrdiff_t size);
#define arena_push(a, items, count, cap)                                                           \
	(mostly((count) < (cap)) ? (void)memset(&(items)[(count)++], 0, sizeof(*(items)))          \
				 : (void)arena_grow((a), (void **)&(items), &(count), &(cap),      \
					   (ptrdiff_t)sizeof(*(items))),                           \
		&(items)[(count)-1])

/* One more string in a list. */
static inline void list_add(struct list *list, struct str s, struct arena *keep)
{
	*arena_push(keep, list->items, list->count, list->cap) = s;
}

/*
 * Called, on any thread, when an arena is full, with its size in bytes; or when none can be had,
 * with what all of them have reserved.  Must not return.
 */
typedef void arena_full_fn(ptrdiff_t bytes);
arena_full_fn *arena_on_full(arena_full_fn *handler); /* the one before */

/*
 * malloc, realloc and strdup for libraries that go on without what they did not get, so that a
 * document would lack a part: without memory it ends as when no arena can be had.
 */
_Noreturn void memory_gone(void);
void *memory_get(size_t bytes);
void *memory_more(void *p, size_t bytes);
char *memory_copy(const char *z);

#endif
