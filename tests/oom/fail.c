/*
 * Loaded before libc (LD_PRELOAD): fails one allocation of a program, the OOM_AT-th of all, or with
 * OOM_ON=1 that one and all behind it.  Without OOM_AT it writes how many there were to OOM_COUNT.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

static atomic_long made;
static long at;
static int and_on;

__attribute__((constructor)) static void begin(void)
{
	const char *number = getenv("OOM_AT"), *on = getenv("OOM_ON");
	at = number ? atol(number) : 0;
	and_on = on && *on == '1';
	made = 0; /* what the loader and other libraries began with is theirs */
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("OOM_COUNT");
	FILE *f = path && !at ? fopen(path, "w") : NULL;
	if (f) {
		fprintf(f, "%ld\n", (long)made);
		fclose(f);
	}
}

static int fails(void)
{
	long n = ++made;
	if (!at || n < at || (n > at && !and_on))
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t n)
{
	return fails() ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	return fails() ? NULL : __libc_realloc(p, n);
}

void *mmap(void *to, size_t n, int may, int how, int fd, off_t from)
{
	return fails() ? MAP_FAILED : (void *)syscall(SYS_mmap, to, n, may, how, fd, from);
}
