/* The map: keys of both sorts, growing, and ids that are spread badly. */
#include "base/map.h"
#include "tests/unit/keep.h"

static void strings(void **state)
{
	struct map m = { 0 };
	(void)state;
	assert_int_equal(map_get(&m, STR("")), MAP_NONE);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(map_put(&m, arena_fmt(&keep, "key %d", i), i, &keep), i);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(map_get(&m, arena_fmt(&keep, "key %d", i)), i);
	assert_int_equal(map_get(&m, STR("key")), MAP_NONE);
	assert_int_equal(map_get(&m, STR("")), MAP_NONE);
	assert_int_equal(map_put(&m, STR("key 7"), 8, &keep), 7); /* the first wins */
	/* A missing string is an empty one. */
	assert_int_equal(map_put(&m, (struct str){ 0 }, 5, &keep), 5);
	assert_int_equal(map_get(&m, STR("")), 5);
}

static void numbers(void **state)
{
	static const int64_t ids[] = { 0, -1, INT64_MIN, INT64_MAX, 42 };
	struct map m = { 0 };
	(void)state;
	assert_int_equal(map_get_id(&m, 0), MAP_NONE);
	for (int i = 0; i < 5; i++)
		assert_int_equal(map_put_id(&m, ids[i], i, &keep), i);
	for (int i = 0; i < 5; i++)
		assert_int_equal(map_get_id(&m, ids[i]), i);
	assert_int_equal(map_put_id(&m, 42, 9, &keep), 4);
	assert_int_equal(map_get_id(&m, 43), MAP_NONE);
}

/* Ids at any distance from each other: bounded probing, or this takes minutes. */
static void strewn_ids(void **state)
{
	static const int shifts[] = { 12, 20, 24, 32, 40, 47 };
	enum { IDS = 60000 };
	(void)state;
	int64_t *ids = arena_make(&keep, int64_t, IDS);
	for (size_t k = 0; k < sizeof(shifts) / sizeof(shifts[0]); k++) {
		for (int64_t i = 0; i < IDS; i++)
			ids[i] = i << shifts[k];
		struct map m = map_of_ids(ids, NULL, IDS, &keep);
		for (int i = 0; i < IDS; i++)
			assert_int_equal(map_get_id(&m, ids[i]), i);
		assert_int_equal(map_get_id(&m, -1), -1);
	}
	ids[7] = ids[3]; /* the first of equal ones wins */
	struct map m = map_of_ids(ids, NULL, 100, &keep);
	assert_int_equal(map_get_id(&m, ids[3]), 3);
}

static int64_t steps(const struct map *m)
{
	int64_t sum = 0;
	for (uint64_t i = 0; i <= m->mask; i++) {
		const struct map_slot *s = &m->slots[i];
		if (s->value)
			sum += (int64_t)((i - map_home(m, s->text, s->key)) & m->mask);
	}
	return sum;
}

/* Keys of one public hash, as a file can have them: in one chain they would take half a million
 * steps. */
static void chosen_collisions(void **state)
{
	enum { KEYS = 1000, SAME_BITS = 0xfff };
	struct map ids = { 0 }, texts = { 0 };
	(void)state;
	int count = 0;
	for (int64_t id = 0; count < KEYS; id++)
		if (!(hash_mix((uint64_t)id) & SAME_BITS))
			map_put_id(&ids, id, count++, &keep);
	assert_true(steps(&ids) < KEYS);
	count = 0;
	for (int64_t i = 0; count < KEYS; i++) {
		char text[sizeof(i)];
		memcpy(text, &i, sizeof(i));
		struct str key = { text, sizeof(text) };
		if (!(str_hash_quick(key, 0) & SAME_BITS))
			map_put(&texts, arena_str(&keep, key), count++, &keep);
	}
	assert_true(steps(&texts) < KEYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings),
		cmocka_unit_test(numbers),
		cmocka_unit_test(strewn_ids),
		cmocka_unit_test(chosen_collisions),
	};
	return cmocka_run_group_tests(tests, keep_begin, keep_end);
}
