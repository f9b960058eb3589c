/* profile/highway: the authors' own vectors, and in pieces the same. */
#include <stdalign.h>

#include "profile/highway.h"
#include "tests/unit/keep.h"

static const uint64_t key[] = { UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908),
	UINT64_C(0x1716151413121110), UINT64_C(0x1f1e1d1c1b1a1918) };

/* Of the bytes 0, 1, 2, ...: from the reference implementation's tests. */
static const struct vector {
	ptrdiff_t len;
	uint64_t hash;
} vectors[] = {
	{ 0, UINT64_C(0x907a56de22c26e53) },
	{ 1, UINT64_C(0x7eab43aac7cddd78) },
	{ 2, UINT64_C(0xb8d0569ab0b53d62) },
	{ 3, UINT64_C(0x5c6befab8a463d80) },
	{ 4, UINT64_C(0xf205a46893007eda) },
	{ 5, UINT64_C(0x2b8a1668e4a94541) },
	{ 7, UINT64_C(0x4d02ae1738f59482) },
	{ 8, UINT64_C(0xe1205108e55f3171) },
	{ 15, UINT64_C(0x40793f86a449f33b) },
	{ 16, UINT64_C(0xcfab3489f97eb832) },
	{ 17, UINT64_C(0x19fe67d2c8c5c0e2) },
	{ 19, UINT64_C(0x75d9518e2371c504) },
	{ 20, UINT64_C(0x38ad9b1141d3dd16) },
	{ 24, UINT64_C(0x205f615aea59e51e) },
	{ 27, UINT64_C(0x512175b5b70da91d) },
	{ 31, UINT64_C(0x9fc7007ccf035a68) },
	{ 32, UINT64_C(0xa0c964d9ecd580fc) },
	{ 33, UINT64_C(0x2c90f73ca03181fc) },
	{ 47, UINT64_C(0x1326bac06b911e08) },
	{ 48, UINT64_C(0xb926168d2b154f34) },
	{ 63, UINT64_C(0xab8eebe9bf2139a0) },
	{ 64, UINT64_C(0x75542c5d4cd2a6ff) },
};
enum { VECTORS = sizeof(vectors) / sizeof(vectors[0]), BYTES = 64 };

static char bytes[BYTES];

static int count_up(void **state)
{
	(void)state;
	for (int i = 0; i < BYTES; i++)
		bytes[i] = (char)i;
	return 0;
}

static void reference(void **state)
{
	(void)state;
	for (int i = 0; i < VECTORS; i++) {
		struct highway h = highway_new(key);
		highway_add(&h, (struct str){ bytes, vectors[i].len });
		assert_true(highway_end(&h) == vectors[i].hash);
	}
}

static void in_pieces(void **state)
{
	(void)state;
	for (ptrdiff_t step = 1; step < BYTES; step++) {
		struct highway h = highway_new(key);
		for (ptrdiff_t at = 0; at < BYTES; at += step)
			highway_add(&h,
				str_head(str_from_offset((struct str){ bytes, BYTES }, at), step));
		assert_true(highway_end(&h) == vectors[VECTORS - 1].hash);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reference),
		cmocka_unit_test(in_pieces),
	};
	return cmocka_run_group_tests(tests, count_up, NULL);
}
