/* profile/dump: which files are of which program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "profile/dump.h"

static struct arena keep;
static struct diag err;
static char dir[] = "/tmp/rooflint-dump-XXXXXX";

static const char *const files[] = {
	"module_0042.jit_f.cpu_after_optimizations.txt",
	"module_0042.jit_f.cpu_after_optimizations-buffer-assignment.txt",
	"module_0042.jit_f.cpu_after_optimizations-memory-usage-report.txt",
	"module_0042.jit_f.cpu_after_optimizations-buffer-assignment-values.txt",
	"module_0042.jit_f.before_optimizations.txt",
	"module_0043.jit_f.1.sm_9.0_gpu_after_optimizations.hlo.pb",
	"module_0044.jit_g.after_optimizations.txt",
	"module_0044.jit_g.hlo_proto.pb",
	"jit_h(15).hlo_proto.pb",
	"jit_h.hlo_proto.pb",
	".after_optimizations.txt",
	"host.xplane.pb",
};
enum { FILES = sizeof(files) / sizeof(files[0]) };

static struct str path_of(const char *name)
{
	return arena_fmt(&keep, "%s/%s", dir, name);
}

static int setup(void **state)
{
	(void)state;
	keep = arena_new(ARENA_SCRATCH_BYTES);
	if (!mkdtemp(dir))
		return -1;
	for (int i = 0; i < FILES; i++) {
		FILE *f = fopen(path_of(files[i]).p, "w");
		if (!f || fputs(files[i], f) < 0 || fclose(f))
			return -1;
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (int i = 0; i < FILES; i++)
		unlink(path_of(files[i]).p);
	rmdir(dir);
	arena_free(&keep);
	return 0;
}

static const struct dump_module *module_at(const struct dump *d, const char *stem)
{
	for (ptrdiff_t i = 0; i < d->count; i++)
		if (str_eq(d->modules[i].stem, str_from(stem)))
			return &d->modules[i];
	fail_msg("no module %s", stem);
	return NULL;
}

static void test_names(void **state)
{
	static const struct {
		const char *stem;
		int64_t number;
		unsigned forms; /* bits by enum dump_form */
	} expected[] = {
		{ "module_0042.jit_f.cpu_", 42,
			1 << DUMP_TEXT | 1 << DUMP_BUFFERS | 1 << DUMP_MEMORY },
		{ "module_0043.jit_f.1.sm_9.0_gpu_", 43, 1 << DUMP_PROTO },
		{ "module_0044.jit_g", 44, 1 << DUMP_TEXT | 1 << DUMP_PROTO },
		{ "jit_h(15)", 15, 1 << DUMP_PROTO },
		{ "jit_h", -1, 1 << DUMP_PROTO },
	};
	(void)state;
	struct dump d;

	assert_true(dump_list(str_from(dir), &keep, &d, &err));
	assert_int_equal(d.count, sizeof(expected) / sizeof(expected[0]));
	for (ptrdiff_t i = 0; i < d.count; i++) {
		const struct dump_module *m = module_at(&d, expected[i].stem);
		assert_int_equal(m->number, expected[i].number);
		for (int k = 0; k < DUMP_FORMS; k++)
			assert_int_equal(m->path[k].p != NULL, expected[i].forms >> k & 1);
	}
	dump_close(&d);
}

static void test_programs(void **state)
{
	(void)state;
	struct dump d;

	assert_true(dump_list(str_from(dir), &keep, &d, &err));
	assert_true(dump_may_be(module_at(&d, "module_0042.jit_f.cpu_"), STR("jit_f")));
	assert_true(dump_may_be(module_at(&d, "module_0044.jit_g"), STR("jit_g")));
	assert_true(dump_may_be(module_at(&d, "jit_h(15)"), STR("jit_h")));
	assert_false(dump_may_be(module_at(&d, "jit_h"), STR("jit")));
	/* Both are possible: what stands in the file decides. */
	assert_true(dump_may_be(module_at(&d, "module_0043.jit_f.1.sm_9.0_gpu_"), STR("jit_f")));
	assert_true(dump_may_be(module_at(&d, "module_0043.jit_f.1.sm_9.0_gpu_"), STR("jit_f.1")));
	dump_close(&d);
}

static void test_bytes(void **state)
{
	(void)state;
	struct dump d;
	struct str bytes;

	assert_true(dump_of_file(path_of(files[0]), &keep, &d, &err));
	assert_int_equal(d.count, 1);
	assert_true(dump_bytes(&d.modules[0], DUMP_BUFFERS, &keep, &bytes, &err));
	assert_true(str_eq(bytes, str_from(files[1])));
	assert_true(dump_bytes(&d.modules[0], DUMP_PROTO, &keep, &bytes, &err));
	assert_int_equal(bytes.len, 0);
	dump_close(&d);
	assert_false(dump_of_file(path_of("host.xplane.pb"), &keep, &d, &err));
	assert_int_equal(err.id, DIAG_FILE_KIND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_bytes),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
