/* base/sha256: the standard's own vectors, and fields that cannot run into each other. */
#include "base/out.h"
#include "base/sha256.h"
#include "tests/unit/keep.h"

static struct str id_of(struct str text, ptrdiff_t piece)
{
	struct sha256 h = sha256_new();
	for (ptrdiff_t at = 0; at < text.len; at += piece)
		sha256_add(&h, str_head(str_from_offset(text, at), piece));
	return sha256_id(&h, &keep);
}

#define assert_id(text, piece, id) assert_true(str_eq(id_of((text), (piece)), STR(id)))

/* FIPS 180-4's examples, the first half of each digest. */
static void vectors(void **state)
{
	(void)state;
	struct out *o = out_memory(&keep);
	assert_id(STR(""), 1, "e3b0c44298fc1c149afbf4c8996fb924");
	assert_id(STR("abc"), 64, "ba7816bf8f01cfea414140de5dae2223");
	assert_id(STR("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), 7,
		"248d6a61d20638b8e5c026930c3e6039");
	out_repeat(o, 'a', 1000000);
	assert_id(out_text(o), 1000, "cdc76e5c9914fb9281a1c7e284d73e67");
}

static void fields(void **state)
{
	(void)state;
	struct sha256 a = sha256_new(), b = sha256_new();
	sha256_field(&a, STR("ab"));
	sha256_field(&a, STR("c"));
	sha256_field(&b, STR("a"));
	sha256_field(&b, STR("bc"));
	assert_false(str_eq(sha256_id(&a, &keep), sha256_id(&b, &keep)));
}

/* printf 'alert(1)' | openssl dgst -sha256 -binary | base64 */
static void source_of_a_policy(void **state)
{
	(void)state;
	struct sha256 h = sha256_new(), none = sha256_new();
	sha256_add(&h, STR("alert(1)"));
	assert_true(str_eq(sha256_source(&h, &keep),
		STR("sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI=")));
	/* STR_ARG evaluates what it is given more than once. */
	assert_true(str_eq(sha256_source(&h, &keep), sha256_source(&h, &keep)));
	assert_true(str_eq(sha256_source(&none, &keep),
		STR("sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors),
		cmocka_unit_test(fields),
		cmocka_unit_test(source_of_a_policy),
	};
	return cmocka_run_group_tests_name("sha256", tests, keep_begin, keep_end);
}
