/* base/wire: varints to the last bit, every truncation, and errors that name the byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/wire.h"

#define WIRE(literal) wire_open(STR(literal))

static struct diag err;

static void encode(uint8_t *to, ptrdiff_t *len, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		to[(*len)++] = (uint8_t)(value | 0x80);
	to[(*len)++] = (uint8_t)value;
}

/* Every length of varint, read with room behind it and at the very end of its message. */
static void varints(void **state)
{
	(void)state;
	for (int bit = 0; bit < 64; bit++) {
		for (int tail = 0; tail < 12; tail++) {
			for (int less = 0; less < 2; less++) {
				uint8_t bytes[40] = { 0 };
				ptrdiff_t len = 0;
				uint64_t got, want = ((uint64_t)1 << bit) - (uint64_t)less;
				encode(bytes, &len, want);
				struct wire w =
					wire_open((struct str){ (const char *)bytes, len + tail });
				assert_true(wire_varint(&w, &got));
				assert_true(got == want);
				assert_int_equal(w.at - bytes, len);
			}
		}
	}
}

static void longest_varint(void **state)
{
	uint64_t got = 0;
	(void)state;
	struct wire w = WIRE("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	assert_true(wire_varint(&w, &got));
	assert_true(got == UINT64_MAX);
	assert_false(wire_varint(&w, &got));
	assert_null(w.why);
	/* Zeros written long are still zero. */
	w = WIRE("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00xxxxxx");
	assert_true(wire_varint(&w, &got));
	assert_int_equal(got, 0);
}

static void varints_refused(void **state)
{
	uint64_t got;
	(void)state;
	struct wire w = WIRE("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02");
	assert_false(wire_varint(&w, &got));
	assert_non_null(strstr(w.why, "64 bits"));
	w = WIRE("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01zzzzzzz");
	assert_false(wire_varint(&w, &got));
	assert_non_null(strstr(w.why, "64 bits"));
	w = WIRE("\x01\x80\x80");
	assert_true(wire_varint(&w, &got));
	assert_false(wire_varint(&w, &got));
	assert_non_null(strstr(w.why, "past the end"));
	assert_false(wire_varint(&w, &got));
	/* Eight continuation bytes and then nothing. */
	w = WIRE("\x80\x80\x80\x80\x80\x80\x80\x80");
	assert_false(wire_varint(&w, &got));
	assert_non_null(w.why);
}

/* 1: 150, 2: "abc", 3: fixed64, 4: fixed32, 16: -1, 2: "" */
static const char message[] = "\x08\x96\x01\x12\x03"
			      "abc\x19\x00\x00\x00\x00\x00\x00\xf0\x3f\x25\x01\x00\x00\x80"
			      "\x80\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x12\x00";
enum { MESSAGE_BYTES = sizeof(message) - 1 };

static void fields(void **state)
{
	struct wire_field f;
	(void)state;
	struct wire w = wire_open((struct str){ message, MESSAGE_BYTES });
	assert_true(wire_next(&w, &f));
	assert_int_equal(f.number, 1);
	assert_int_equal(f.type, WIRE_VARINT);
	assert_int_equal(f.num, 150);
	assert_true(wire_next(&w, &f));
	assert_int_equal(f.type, WIRE_LEN);
	assert_true(str_eq(f.bytes, STR("abc")));
	assert_true(wire_next(&w, &f));
	assert_int_equal(f.type, WIRE_I64);
	assert_true(wire_double(f.num) == 1.0);
	assert_true(wire_next(&w, &f));
	assert_int_equal(f.type, WIRE_I32);
	assert_true(f.num == 0x80000001u);
	assert_true(wire_next(&w, &f));
	assert_int_equal(f.number, 16);
	assert_true((int64_t)f.num == -1);
	assert_true(wire_next(&w, &f));
	assert_int_equal(f.bytes.len, 0);
	assert_false(wire_next(&w, &f));
	assert_null(w.why);
}

/* Where whole fields end; a cut there is a shorter message, a cut elsewhere an error. */
static bool is_field_end(ptrdiff_t n)
{
	return n == 0 || n == 3 || n == 8 || n == 17 || n == 22 || n == 34 || n == 36;
}

static void every_truncation(void **state)
{
	(void)state;
	for (ptrdiff_t n = 0; n <= MESSAGE_BYTES; n++) {
		struct wire_field f;
		char cut[MESSAGE_BYTES + 1];
		memcpy(cut, message, (size_t)n);
		struct wire w = wire_open((struct str){ cut, n });
		while (wire_next(&w, &f))
			;
		assert_int_equal(w.why == NULL, is_field_end(n));
		assert_true(is_field_end((const char *)w.at - cut));
		/* Sticky, and the cursor stays on the tag. */
		const uint8_t *at = w.at;
		assert_false(wire_next(&w, &f));
		assert_ptr_equal(w.at, at);
	}
}

static void assert_refused(struct str bytes, const char *part)
{
	struct wire_field f;
	struct wire w = wire_open(bytes);
	assert_false(wire_next(&w, &f));
	assert_non_null(w.why);
	assert_non_null(strstr(w.why, part));
	assert_ptr_equal(w.at, bytes.p);
}

static void refused(void **state)
{
	(void)state;
	assert_refused(STR("\x00\x01"), "number 0");
	assert_refused(STR("\x80\x00\x01"), "number 0");
	assert_refused(STR("\x0b"), "group");
	assert_refused(STR("\x0c"), "group");
	assert_refused(STR("\x0e"), "unknown wire type");
	assert_refused(STR("\x0f"), "unknown wire type");
	assert_refused(STR("\x80\x80\x80\x80\x10\x01"), "field number");
	assert_refused(STR("\x0a\x05"
			   "abcd"),
		"length");
	/* 2^64 - 1 and 2^63: neither wraps the cursor around. */
	assert_refused(STR("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "length");
	assert_refused(STR("\x0a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), "length");
	assert_refused(STR("\x09\x01\x02\x03\x04\x05\x06\x07"), "past the end");
	assert_refused(STR("\x0d\x01\x02\x03"), "past the end");
}

static void largest_field_number(void **state)
{
	struct wire_field f;
	(void)state;
	struct wire w = WIRE("\xf8\xff\xff\xff\x0f\x01");
	assert_true(wire_next(&w, &f));
	assert_int_equal(f.number, 536870911);
}

static void nothing_to_read(void **state)
{
	struct wire_field f;
	uint64_t num;
	(void)state;
	struct wire w = wire_open((struct str){ NULL, 0 });
	assert_false(wire_next(&w, &f));
	assert_false(wire_varint(&w, &num));
	assert_null(w.why);
}

static void repeated(void **state)
{
	static const uint64_t want[] = { 5, 1, 300, 7 };
	struct wire_field f;
	uint64_t num;
	int count = 0;
	(void)state;
	struct wire w = WIRE("\x08\x05\x0a\x03\x01\xac\x02\x0a\x00\x08\x07");
	while (wire_next(&w, &f)) {
		struct wire_list list = wire_list(&f);
		while (wire_list_next(&list, &num))
			assert_int_equal(num, want[count++]);
		assert_null(list.packed.why);
	}
	assert_null(w.why);
	assert_int_equal(count, 4);
}

static void repeated_broken(void **state)
{
	struct wire_field f;
	uint64_t num = 0;
	struct str whole = STR("\x0a\x03\x01\x02\x80\x08\x01");
	(void)state;
	struct wire w = wire_open(whole);
	assert_true(wire_next(&w, &f));
	struct wire_list list = wire_list(&f);
	assert_true(wire_list_next(&list, &num) && wire_list_next(&list, &num));
	assert_false(wire_list_next(&list, &num));
	assert_int_equal(num, 2);
	assert_false(wire_error(&list.packed, whole, "Dims", &err));
	assert_string_equal(err.text, "Dims at byte 4: a number runs past the end of its message");
	assert_true(wire_next(&w, &f)); /* the outer cursor stands behind the field */
}

static void errors_name_the_byte_of_the_file(void **state)
{
	struct wire_field f, g;
	struct str whole = STR("\x08\x01\x12\x04\x08\x01\x12\x09");
	(void)state;
	struct wire w = wire_open(whole);
	assert_true(wire_next(&w, &f));
	assert_true(wire_next(&w, &f));
	struct wire inner = wire_open(f.bytes);
	assert_true(wire_next(&inner, &g));
	assert_false(wire_next(&inner, &g));
	assert_false(wire_error(&inner, whole, "XPlane", &err));
	assert_int_equal(err.id, DIAG_WIRE);
	assert_string_equal(err.text, "XPlane at byte 6: length runs past the end of its message");
	/* The outer cursor did not move. */
	assert_false(wire_next(&w, &f));
	assert_null(w.why);
}

/* Any bytes whatever: the cursor stays within, and the loop ends. */
static void noise(void **state)
{
	uint64_t seed = 1;
	(void)state;
	for (int round = 0; round < 20000; round++) {
		char bytes[32];
		for (size_t i = 0; i < sizeof(bytes); i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			bytes[i] = (char)(seed >> 56);
		}
		struct str s = { bytes, round % 33 };
		struct wire_field f;
		struct wire w = wire_open(s);
		int count = 0;
		while (wire_next(&w, &f))
			count++;
		assert_true(count <= 16);
		assert_true((const char *)w.at >= s.p && (const char *)w.at <= s.p + s.len);
		assert_int_equal(w.why == NULL, (const char *)w.at == s.p + s.len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(varints),
		cmocka_unit_test(longest_varint),
		cmocka_unit_test(varints_refused),
		cmocka_unit_test(fields),
		cmocka_unit_test(every_truncation),
		cmocka_unit_test(refused),
		cmocka_unit_test(largest_field_number),
		cmocka_unit_test(nothing_to_read),
		cmocka_unit_test(repeated),
		cmocka_unit_test(repeated_broken),
		cmocka_unit_test(errors_name_the_byte_of_the_file),
		cmocka_unit_test(noise),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
