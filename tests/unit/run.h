/*
 * cmocka, and a run that each test tells and measures anew.
 *
 *	#define TEST(f) cmocka_unit_test_setup_teardown(f, run_begin, run_end)
 */
#ifndef TESTS_UNIT_RUN_H
#define TESTS_UNIT_RUN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/xspace.h"

static struct xrun run;

static inline int run_begin(void **state)
{
	(void)state;
	xrun_begin(&run);
	return 0;
}

static inline int run_end(void **state)
{
	(void)state;
	xrun_end(&run);
	return 0;
}

#endif
