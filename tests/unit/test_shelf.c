/* measure/shelf: large modules are given up and read again; changed bytes leave nothing in them. */
#include <string.h>

#include "measure/shelf.h"
#include "tests/unit/pb.h"
#include "tests/unit/keep.h"

/* Their proto is larger than SHELF_LARGE; two such modules do not fit into SHELF_BYTES. */
enum { INSTRUCTIONS = 100000 };

static struct shelf *shelf;
static struct input input;
static struct profile profile = { .input = &input };
static char *proto; /* of all */
static ptrdiff_t proto_len;

static struct shelved *read_one(void)
{
	struct diag err;
	struct shelved *m = shelved_new(shelf);

	assert_non_null(shelved_read(m, &profile, (struct str){ proto, proto_len }, false, &err));
	return m;
}

static void proto_make(void)
{
	struct pb computation = pb_new(&keep), module = pb_new(&keep);

	for (int i = 0; i < INSTRUCTIONS; i++) {
		struct arena scratch = arena_new(1 << 16);
		struct pb one = pb_new(&scratch);
		pb_text(&one, 2, "add");
		pb_int(&one, 35, i + 1);
		pb_bytes(&computation, 2, pb_done(&one));
		arena_free(&scratch);
	}
	pb_int(&computation, 5, 1);
	pb_int(&computation, 6, INSTRUCTIONS); /* the root */
	pb_bytes(&module, 3, pb_done(&computation));
	proto_len = pb_done(&module).len;
	proto = arena_make(&keep, char, proto_len);
	memcpy(proto, pb_done(&module).p, (size_t)proto_len);
	input.bytes = (struct str){ proto, proto_len };
}

static int setup(void **state)
{
	(void)state;
	keep = arena_new(ARENA_RUN_BYTES);
	shelf = shelf_new(&keep);
	proto_make();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	shelf_free(shelf);
	arena_free(&keep);
	return 0;
}

static void read_again(void **state)
{
	(void)state;
	struct shelved *first = read_one();
	assert_true(proto_len >= SHELF_LARGE);
	read_one();
	read_one(); /* the first one's place is given up */
	const struct hlo_module *m = shelved_hlo(first);
	assert_int_equal(m->instruction_count, INSTRUCTIONS);
	assert_int_equal(m->instructions[INSTRUCTIONS - 1].op, HLO_ADD);
	assert_ptr_equal(shelved_hlo(first), m);
	assert_non_null(shelved_costs(first, HLO_TPU));
}

static void held(void **state)
{
	(void)state;
	struct shelved *first = read_one();
	const struct hlo_module *m = shelved_hlo(first);
	shelved_hold(first, true);
	read_one();
	read_one();
	memset(proto, 0, (size_t)proto_len);
	assert_ptr_equal(shelved_hlo(first), m);
	assert_int_equal(shelved_hlo(first)->instructions[0].op, HLO_ADD);
}

static void changed_bytes(void **state)
{
	(void)state;
	struct shelved *first = read_one();
	read_one();
	read_one();
	memset(proto, 0, (size_t)proto_len);
	const struct hlo_module *m = shelved_hlo(first);
	assert_int_equal(m->instruction_count, INSTRUCTIONS);
	assert_int_equal(m->instructions[INSTRUCTIONS - 1].op, HLO_OP_UNKNOWN);
	struct hlo_cost cost = hlo_cost(shelved_costs(first, HLO_TPU), INSTRUCTIONS - 1);
	assert_true(cost.logical_bytes == 0);
	assert_int_equal(hlo_find(m, STR("add")), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(read_again, setup, teardown),
		cmocka_unit_test_setup_teardown(held, setup, teardown),
		cmocka_unit_test_setup_teardown(changed_bytes, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
