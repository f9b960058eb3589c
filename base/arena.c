/* Bump allocation from reserved address space.  See arena.h. */
#include "base/arena.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif

/*
 * The first bytes of a reservation hold its mark.  Up to there it may have been written to; behind
 * it are the kernel's zeros, which we do not touch.  By-value copies share the mark.
 *
 *     base                    at               mark                end
 *     [mark][object][object]  | written before | never handed out  |
 *
 * Under ASan a red zone follows each object, and the bytes ahead of it are poisoned as far as the
 * mark: poisoning (and above all unpoisoning) a whole reservation would touch an eighth of it as
 * shadow memory.  What a scratch user left behind is poisoned, too.
 */
enum { MARK_BYTES = 64 };

static char **mark_of(const struct arena *a)
{
	return (char **)(void *)a->base;
}

#ifdef HAS_ASAN
#include <sanitizer/asan_interface.h>

/* No spares: what is used behind its end is to be found. */
enum { RED_ZONE = 32, POISONED_AHEAD = 4096, SPARES_KEPT = 0 };
#else
#define ASAN_POISON_MEMORY_REGION(p, bytes)   ((void)(p), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(p, bytes) ((void)(p), (void)(bytes))

/* Freed reservations that wait for another use: a run of eight devices takes about as many. */
enum { RED_ZONE = 0, POISONED_AHEAD = 0, SPARES_KEPT = 16 };
#endif

/* Returns how far it has poisoned. */
static char *asan_hand_out(const struct arena *a, char *p, ptrdiff_t bytes)
{
	ptrdiff_t ahead = a->end - (p + bytes);
	if (ahead > POISONED_AHEAD)
		ahead = POISONED_AHEAD;
	ASAN_UNPOISON_MEMORY_REGION(p, (size_t)bytes);
	ASAN_POISON_MEMORY_REGION(p + bytes, (size_t)ahead);
	return p + bytes + ahead;
}

/* Kept by arena_clear: an arena used again at once should not fault its first pages in again. */
#define ARENA_KEPT_BYTES ((ptrdiff_t)1 << 18)
/* Below this a reservation is not worth halving further: the address space is gone. */
#define ARENA_LEAST_BYTES ((ptrdiff_t)8 << 20)
/* Arenas that a limited address space should have room for. */
#define ARENA_SHARES 64

static void full_default(ptrdiff_t bytes)
{
	(void)bytes;
	abort();
}

static arena_full_fn *on_full = full_default;

arena_full_fn *arena_on_full(arena_full_fn *handler)
{
	arena_full_fn *before = on_full;
	on_full = handler ? handler : full_default;
	return before;
}

static _Noreturn void full(const struct arena *a)
{
	on_full(a->end - a->base);
	abort();
}

static _Atomic ptrdiff_t reserved; /* by all arenas there are */

/* `bytes`, or the share of a limited address space if that is less. */
static ptrdiff_t share_of(ptrdiff_t bytes)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return bytes;
	rlim_t share = limit.rlim_cur / ARENA_SHARES;
	if (share < (rlim_t)ARENA_LEAST_BYTES)
		share = (rlim_t)ARENA_LEAST_BYTES;
	share -= share % 4096;
	return (rlim_t)bytes > share ? (ptrdiff_t)share : bytes;
}

/* ---- spares: each of thousands of runs in a worker would fault the same pages in ------------- */

static struct spare {
	char *base; /* NULL: none */
	ptrdiff_t size;
} spares[SPARES_KEPT + 1]; /* no array is empty */
static atomic_flag spares_busy = ATOMIC_FLAG_INIT;

static void spares_lock(void)
{
	while (atomic_flag_test_and_set_explicit(&spares_busy, memory_order_acquire))
		continue; /* it is held for a look at every spare at the longest */
}

static void spares_unlock(void)
{
	atomic_flag_clear_explicit(&spares_busy, memory_order_release);
}

/* A block of that size that was kept; or NULL. */
static char *spare_take(ptrdiff_t size)
{
	char *base = NULL;
	spares_lock();
	for (int i = 0; i < SPARES_KEPT && !base; i++)
		if (spares[i].base && spares[i].size == size) {
			base = spares[i].base;
			spares[i].base = NULL;
		}
	spares_unlock();
	return base;
}

static bool spare_put(char *base, ptrdiff_t size)
{
	bool found = false;
	spares_lock();
	for (int i = 0; i < SPARES_KEPT && !found; i++)
		if (!spares[i].base) {
			spares[i] = (struct spare){ base, size };
			found = true;
		}
	spares_unlock();
	return found;
}

/* When address space runs out. */
static bool spares_release(void)
{
	bool any = false;
	spares_lock();
	for (int i = 0; i < SPARES_KEPT; i++)
		if (spares[i].base) {
			munmap(spares[i].base, (size_t)spares[i].size);
			spares[i].base = NULL;
			any = true;
		}
	spares_unlock();
	return any;
}

/* ---- arenas ---------------------------------------------------------------------------------- */

/* With its mark, which a spare has kept.  NULL: that much cannot be had. */
static char *reserve(ptrdiff_t size)
{
	char *spare = spare_take(size);
	if (spare)
		return spare;
	do {
		void *p = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (p != MAP_FAILED) {
			/* Written first: a page that is read first is faulted in twice. */
			*(char **)p = (char *)p + MARK_BYTES;
			return p;
		}
	} while (spares_release());
	return NULL;
}

_Noreturn void memory_gone(void)
{
	on_full(reserved);
	abort();
}

void *memory_more(void *p, size_t bytes)
{
	void *more = realloc(p, bytes ? bytes : 1);
	if (!more)
		memory_gone();
	return more;
}

void *memory_get(size_t bytes)
{
	return memory_more(NULL, bytes);
}

char *memory_copy(const char *z)
{
	size_t bytes = strlen(z) + 1;
	return memcpy(memory_get(bytes), z, bytes);
}

struct arena arena_new(ptrdiff_t bytes)
{
	ptrdiff_t least = bytes < ARENA_LEAST_BYTES ? bytes : ARENA_LEAST_BYTES;
	for (ptrdiff_t n = share_of(bytes); n >= least; n /= 2) {
		char *p = reserve(n);
		if (p) {
			struct arena a = { p + MARK_BYTES, p + n, p };
			reserved += n;
			return a;
		}
	}
	memory_gone();
}

static void give_back(const struct arena *a)
{
	ptrdiff_t used = *mark_of(a) - a->base;
	if (used > ARENA_KEPT_BYTES)
		madvise(a->base + ARENA_KEPT_BYTES, (size_t)(used - ARENA_KEPT_BYTES),
			MADV_DONTNEED);
}

void arena_clear(struct arena *a)
{
	if (!a->base)
		return;
	a->at = a->base + MARK_BYTES;
	give_back(a);
	ASAN_POISON_MEMORY_REGION(a->at, (size_t)(*mark_of(a) - a->at));
}

void arena_free(struct arena *a)
{
	if (a->base) {
		ptrdiff_t size = a->end - a->base;
		ASAN_UNPOISON_MEMORY_REGION(a->base, (size_t)(*mark_of(a) - a->base));
		give_back(a);
		if (!spare_put(a->base, size))
			munmap(a->base, (size_t)size);
		reserved -= size;
	}
	*a = (struct arena){ NULL, NULL, NULL };
}

/* Up to `end` it is handed out. */
static void mark(const struct arena *a, char *end)
{
	if (*mark_of(a) < end)
		*mark_of(a) = end;
}

/* Not zeroed. */
static char *take(struct arena *a, ptrdiff_t size, ptrdiff_t align, ptrdiff_t count)
{
	ptrdiff_t pad = (ptrdiff_t)(-(uintptr_t)a->at & (uintptr_t)(align - 1));
	ptrdiff_t room = a->end - a->at - pad - RED_ZONE;
	if (!a->base || room < 0 || count < 0 || (size > 0 && count > room / size))
		full(a);
	char *p = a->at + pad;
	ptrdiff_t bytes = size * count;
	a->at = p + bytes + RED_ZONE;
	mark(a, asan_hand_out(a, p, bytes));
	return p;
}

void *arena_alloc(struct arena *a, ptrdiff_t size, ptrdiff_t align, ptrdiff_t count)
{
	char *written = a->base ? *mark_of(a) : NULL;
	char *p = take(a, size, align, count); /* which refuses what would overflow */

	if (p < written)
		memset(p, 0, (size_t)(written - p < size * count ? written - p : size * count));
	return p;
}

char *arena_room(struct arena *a, ptrdiff_t bytes)
{
	return take(a, 1, alignof(max_align_t), bytes);
}

const char *arena_z(struct arena *a, struct str s)
{
	char *p = arena_make(a, char, s.len + 1);
	if (s.len)
		memcpy(p, s.p, (size_t)s.len);
	return p;
}

struct str arena_str(struct arena *a, struct str s)
{
	return s.p ? (struct str){ arena_z(a, s), s.len } : s;
}

/* Most texts are short, and written once. */
struct str arena_vfmt(struct arena *a, const char *fmt, va_list args)
{
	char small[4096];
	va_list again;
	va_copy(again, args);
	int len = vsnprintf(small, sizeof(small), fmt, again);
	va_end(again);
	if (len < 0)
		full(a);
	char *p = take(a, 1, 1, (ptrdiff_t)len + 1);
	if (len < (int)sizeof(small))
		memcpy(p, small, (size_t)len + 1);
	else
		vsnprintf(p, (size_t)len + 1, fmt, args);
	return (struct str){ p, len };
}

struct str arena_fmt(struct arena *a, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	struct str s = arena_vfmt(a, fmt, args);
	va_end(args);
	return s;
}

/* Twice the room: where the array is, when it is the arena's latest, else at a new place. */
static char *grown(struct arena *a, char *old, ptrdiff_t count, ptrdiff_t *cap, ptrdiff_t size)
{
	ptrdiff_t more = *cap ? *cap : 4;

	if (more > PTRDIFF_MAX / 2)
		full(a);
	*cap = more * 2;
	if (!RED_ZONE && old && a->at == old + more * size && (a->end - a->at) / size >= more) {
		a->at += more * size;
		mark(a, a->at);
		return old;
	}
	char *p = take(a, size, alignof(max_align_t), *cap);
	if (count)
		memcpy(p, old, (size_t)(count * size));
	return p;
}

/*
 * `items` is the address of a pointer to any type, so it is read and written bytewise: an lvalue
 * of type void * would break the aliasing rules.  An element is zeroed when it is handed out, so
 * that the room for others costs address space only.
 */
void *arena_grow(struct arena *a, void **items, ptrdiff_t *count, ptrdiff_t *cap, ptrdiff_t size)
{
	char *old;
	memcpy(&old, items, sizeof(old));
	if (*count >= *cap) {
		old = grown(a, old, *count, cap, size);
		memcpy(items, &old, sizeof(old));
	}
	char *slot = old + *count * size;
	++*count;
	return memset(slot, 0, (size_t)size);
}
