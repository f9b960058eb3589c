/*
 * cmocka, with the headers that it wants before its own, and an arena for the tests of a program.
 *
 *	cmocka_run_group_tests(tests, keep_begin, keep_end)
 *
 * Included last: in other headers `keep` is a parameter.
 */
#ifndef TESTS_UNIT_KEEP_H
#define TESTS_UNIT_KEEP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"

static struct arena keep;

static inline int keep_begin(void **state)
{
	(void)state;
	keep = arena_new(ARENA_RUN_BYTES);
	return 0;
}

static inline int keep_end(void **state)
{
	(void)state;
	arena_free(&keep);
	return 0;
}

#endif
