/* base/text: the gate for hostile text, and guesses at what was meant. */
#include <string.h>

#include "base/out.h"
#include "base/text.h"
#include "tests/unit/keep.h"

#define BAD "\xef\xbf\xbd"

static void assert_cleaned(struct str from, struct str to)
{
	struct str clean = text_clean(&keep, from);
	assert_true(str_eq(clean, to));
	assert_true(text_is_clean(clean));
	assert_int_equal(text_is_clean(from), str_eq(from, to));
	assert_ptr_equal(text_clean(&keep, clean).p, clean.p);
}

static void unchanged(void **state)
{
	static const struct str good[] = { STR_INIT(""), STR_INIT("jit_step/layers_0/attn"),
		STR_INIT("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbd"),
		STR_INIT("\xed\x9f\xbf\xee\x80\x80"), STR_INIT("\xe0\xa0\x80\xf0\x90\x80\x80"),
		STR_INIT("<>&\"'") };
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_ptr_equal(text_clean(&keep, good[i]).p, good[i].p);
		assert_cleaned(good[i], good[i]);
	}
	assert_null(text_clean(&keep, (struct str){ NULL, 0 }).p);
	assert_true(text_is_clean((struct str){ NULL, 0 }));
}

static void controls(void **state)
{
	(void)state;
	assert_cleaned(STR("a\tb\nc\r\n"), STR("a b c  "));
	assert_cleaned(STR("a\0b"), STR("a" BAD "b"));
	assert_cleaned(STR("\x1b[31m"), STR(BAD "[31m"));
	assert_cleaned(STR("\x7f"), STR(BAD));
	assert_cleaned(STR("\xc2\x80\xc2\x9f\xc2\xa0"), STR(BAD BAD "\xc2\xa0"));
	assert_cleaned(STR("\xc2\x85"), STR(BAD));
}

static void invalid_utf8(void **state)
{
	(void)state;
	/* Continuation without lead; lead without continuation; lead at the end. */
	assert_cleaned(STR("\x80"), STR(BAD));
	assert_cleaned(STR("\xbf\xbf"), STR(BAD BAD));
	assert_cleaned(STR("\xc3x"), STR(BAD "x"));
	assert_cleaned(STR("\xc3"), STR(BAD));
	assert_cleaned(STR("\xe2\x82"), STR(BAD));
	assert_cleaned(STR("\xe2\x82x"), STR(BAD "x"));
	assert_cleaned(STR("\xf0\x9f\x98"), STR(BAD));
	assert_cleaned(STR("\xf0\x9f\x98\xc3\xa9"), STR(BAD "\xc3\xa9"));
	/* Overlong forms of '/', U+07FF and U+FFFF. */
	assert_cleaned(STR("\xc0\xaf"), STR(BAD BAD));
	assert_cleaned(STR("\xc1\xbf"), STR(BAD BAD));
	assert_cleaned(STR("\xe0\x9f\xbf"), STR(BAD BAD BAD));
	assert_cleaned(STR("\xf0\x8f\xbf\xbf"), STR(BAD BAD BAD BAD));
	/* Surrogates, beyond U+10FFFF, five- and six-byte leads. */
	assert_cleaned(STR("\xed\xa0\x80"), STR(BAD BAD BAD));
	assert_cleaned(STR("\xed\xbf\xbf"), STR(BAD BAD BAD));
	assert_cleaned(STR("\xf4\x90\x80\x80"), STR(BAD BAD BAD BAD));
	assert_cleaned(STR("\xf5\x80\x80\x80"), STR(BAD BAD BAD BAD));
	assert_cleaned(STR("\xf8\x88\x80\x80\x80"), STR(BAD BAD BAD BAD BAD));
	assert_cleaned(STR("\xfe\xff"), STR(BAD BAD));
}

static void noncharacters(void **state)
{
	(void)state;
	assert_cleaned(STR("\xef\xbf\xbe\xef\xbf\xbf"), STR(BAD BAD));
	assert_cleaned(STR("\xef\xb7\x90\xef\xb7\xaf\xef\xb7\xb0"), STR(BAD BAD "\xef\xb7\xb0"));
	assert_cleaned(STR("\xf0\x9f\xbf\xbe\xf4\x8f\xbf\xbf"), STR(BAD BAD));
}

static void forging(void **state)
{
	(void)state;
	/* LRM, RLM, ALM, LRE..RLO, LRI..PDI, line and paragraph separators. */
	assert_cleaned(STR("\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c"), STR(BAD BAD BAD));
	assert_cleaned(STR("a\xe2\x80\xae"
			   "b\xe2\x80\xaa"),
		STR("a" BAD "b" BAD));
	assert_cleaned(STR("\xe2\x81\xa6\xe2\x81\xa9"), STR(BAD BAD));
	assert_cleaned(STR("\xe2\x80\xa8\xe2\x80\xa9"), STR(BAD BAD));
	assert_cleaned(STR("mat\xef\xbb\xbfmul"), STR("mat" BAD "mul")); /* a byte order mark */
	/* Arabic letters themselves stay. */
	assert_cleaned(STR("\xd8\xa7\xd9\x84"), STR("\xd8\xa7\xd9\x84"));
}

static void cut_at_a_character(void **state)
{
	static char text[3 * TEXT_MAX];
	(void)state;
	memset(text, 'x', sizeof(text));
	assert_cleaned((struct str){ text, TEXT_MAX }, (struct str){ text, TEXT_MAX });
	struct str cut = text_clean(&keep, (struct str){ text, TEXT_MAX + 1 });
	assert_int_equal(cut.len, TEXT_MAX);
	assert_true(str_ends(cut, STR("xxx...")));
	for (ptrdiff_t lead = 0; lead < 4; lead++) {
		for (ptrdiff_t i = lead; i + 3 <= (ptrdiff_t)sizeof(text); i += 3)
			memcpy(text + i, "\xe2\x82\xac", 3);
		cut = text_clean(&keep, (struct str){ text, (ptrdiff_t)sizeof(text) });
		assert_true(text_is_clean(cut));
		assert_true(cut.len > TEXT_MAX - 3 && cut.len <= TEXT_MAX);
		assert_true(str_ends(cut, STR("\xac...")));
	}
}

/* A byte becomes three: the result is cut, whatever came in. */
static void grows_while_cleaned(void **state)
{
	static char text[TEXT_MAX];
	(void)state;
	memset(text, 0xff, sizeof(text));
	struct str cut = text_clean(&keep, (struct str){ text, TEXT_MAX });
	assert_true(cut.len <= TEXT_MAX && str_ends(cut, STR(BAD "...")));
	assert_true(text_is_clean(cut));
	struct str fits = text_clean(&keep, (struct str){ text, TEXT_MAX / 3 });
	assert_int_equal(fits.len, TEXT_MAX / 3 * 3);
}

static void any_bytes(void **state)
{
	uint64_t seed = 7;
	(void)state;
	for (int round = 0; round < 5000; round++) {
		char bytes[24];
		struct arena scratch = keep;
		for (size_t i = 0; i < sizeof(bytes); i++) {
			static const unsigned char likely[] = { 0xe2, 0x80, 0xae, 0xf0, 0x9f, 0xed,
				0xa0, 0xc2, 0x85, 'a' };
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			unsigned pick = (unsigned)(seed >> 60);
			bytes[i] = (char)(pick < 10 ? likely[pick] : seed >> 40);
		}
		struct str clean = text_clean(&scratch, (struct str){ bytes, round % 25 });
		assert_true(text_is_clean(clean));
	}
}

static void nearest(void **state)
{
	static const struct str words[] = { STR_INIT("time_share"), STR_INIT("overlap_ratio"),
		STR_INIT("assert"), STR_INIT("warn"), STR_INIT("GB/s") };
	(void)state;
	assert_true(str_eq(text_nearest(STR("time_shar"), words, 5), words[0]));
	assert_true(str_eq(text_nearest(STR("tiem_share"), words, 5), words[0]));
	assert_true(str_eq(text_nearest(STR("assret"), words, 5), words[2]));
	assert_true(str_eq(text_nearest(STR("wanr"), words, 5), words[3]));
	assert_true(str_eq(text_nearest(STR("Gb/s"), words, 5), words[4]));
	assert_null(text_nearest(STR("flops"), words, 5).p);
	assert_null(text_nearest(STR(""), words, 5).p);
	assert_null(text_nearest(STR("x"), words, 5).p);
	assert_null(text_nearest(STR("assert"), words, 0).p);
	/* At most a third: two of six, not two of five. */
	assert_non_null(text_nearest(STR("asserxx"), words, 5).p);
	assert_null(text_nearest(STR("wxxrn"), words, 5).p);
}

static void nearest_is_the_least(void **state)
{
	static const struct str words[] = { STR_INIT("matmuls"), STR_INIT("matmul"),
		STR_INIT("matmul") };
	static char long_word[200];
	(void)state;
	assert_ptr_equal(text_nearest(STR("matmul"), words, 3).p, words[1].p);
	assert_ptr_equal(text_nearest(STR("matmulz"), words, 3).p, words[0].p);
	memset(long_word, 'x', sizeof(long_word));
	struct str too_long = { long_word, sizeof(long_word) };
	assert_null(text_nearest(too_long, &too_long, 1).p);
	assert_null(text_nearest(STR("xxx"), &too_long, 1).p);
}

static void digits_drop(void **state)
{
	struct str plain = STR("fusion");
	(void)state;
	assert_ptr_equal(text_without_digits(&keep, plain).p, plain.p);
	assert_true(str_eq(text_without_digits(&keep, STR("fusion.123")),
		text_without_digits(&keep, STR("fusion.7"))));
	assert_true(str_eq(text_without_digits(&keep, STR("1a22b3")), STR("ab")));
	assert_true(str_eq(text_without_digits(&keep, STR("123")), STR("")));
	assert_null(text_without_digits(&keep, (struct str){ NULL, 0 }).p);
}

/* At most TEXT_BRIEF characters, of one byte or of three; never half of one. */
static void without_its_middle(void **state)
{
	static const char *const letters[] = { "a", "\xe2\x82\xac" };
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct out *o = out_memory(&keep);
		for (int n = 0; n < TEXT_BRIEF; n++)
			out_z(o, letters[i]);
		struct str full = arena_str(&keep, out_text(o));
		assert_ptr_equal(text_brief(&keep, full).p, full.p);
		struct str more = arena_fmt(&keep, "begin%.*send", STR_ARG(full));
		struct str cut = text_brief(&keep, more);
		assert_true(text_is_clean(cut));
		assert_true(str_starts(cut, STR("begin")) && str_ends(cut, STR("end")));
		assert_true(str_contains(cut, STR("...")));
		ptrdiff_t characters = 0;
		for (ptrdiff_t k = 0; k < cut.len; k++)
			characters += (cut.p[k] & 0xc0) != 0x80;
		assert_int_equal(characters, TEXT_BRIEF);
	}
	assert_null(text_brief(&keep, (struct str){ NULL, 0 }).p);
}

static void functions_of_cpp(void **state)
{
	static const char *const pairs[][2] = {
		{ "void at::native::add_kernel<int, 4>(int, float*)", "add_kernel" },
		{ "void at::native::(anonymous namespace)::cat<float, 2>(float*)", "cat" },
		{ "void at::native::<unnamed>::cat<at::native::four>(int)", "cat" },
		{ "void cutlass::Kernel2<cutlass_80_gemm_128x64>(T1::Params)",
			"cutlass_80_gemm_128x64" },
		{ "void cutlass::Kernel<cutlass::gemm::Gemm<A, 4>, int>(T1::Params)",
			"cutlass::gemm::Gemm" },
		{ "void cutlass::Kernel<(int)4>(float*)", "Kernel" },
		{ "void ns::Kernel<", "Kernel" }, { "ns::run(int)", "run" },
		{ "ns::Run (jit_f)", "Run" }, { "void k", "k" }, { "fusion.1", "fusion.1" },
		{ "dot(a, b)", "dot(a, b)" }, { "ns::", "ns::" }, { "", "" }
	};
	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		assert_string_equal(
			arena_z(&keep, text_function(str_from(pairs[i][0]))), pairs[i][1]);
}

static void words_of_a_shell(void **state)
{
	static const char *const pairs[][2] = { { "runs/2026-11-23/a_b.pb",
							"runs/2026-11-23/a_b.pb" },
		{ "my runs", "'my runs'" }, { "it's", "'it'\\''s'" }, { "$(x)", "'$(x)'" },
		{ "a;b", "'a;b'" }, { "~x", "'~x'" }, { "", "''" }, { "\xc3\xa4", "'\xc3\xa4'" } };
	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		assert_string_equal(
			arena_z(&keep, text_shell(&keep, str_from(pairs[i][0]))), pairs[i][1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unchanged),
		cmocka_unit_test(controls),
		cmocka_unit_test(invalid_utf8),
		cmocka_unit_test(noncharacters),
		cmocka_unit_test(forging),
		cmocka_unit_test(cut_at_a_character),
		cmocka_unit_test(grows_while_cleaned),
		cmocka_unit_test(any_bytes),
		cmocka_unit_test(nearest),
		cmocka_unit_test(nearest_is_the_least),
		cmocka_unit_test(digits_drop),
		cmocka_unit_test(without_its_middle),
		cmocka_unit_test(functions_of_cpp),
		cmocka_unit_test(words_of_a_shell),
	};
	return cmocka_run_group_tests(tests, keep_begin, keep_end);
}
