/*
 * profile/riegeli: an XSpace in records says what it says by itself, however it is packed and
 * wherever block headers fall; and what is cut, changed or of another form is refused.
 */
#include <brotli/encode.h>
#include <string.h>

#include "profile/highway.h"
#include "tests/unit/xspace.h"
#include "tests/unit/keep.h"

enum { BLOCK = 64 << 10, BLOCK_HEADER = 24 };

static struct diag err;
static struct input in;
static struct profile profile;

static int clear(void **state)
{
	(void)state;
	input_close(&in);
	arena_clear(&keep);
	return 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

static uint64_t hash_of(struct str bytes)
{
	static const uint64_t key[] = { UINT64_C(0x2f696c6567656952), UINT64_C(0x0a7364726f636572),
		UINT64_C(0x2f696c6567656952), UINT64_C(0x0a7364726f636572) };
	struct highway h = highway_new(key);
	highway_add(&h, bytes);
	return highway_end(&h);
}

static void fixed(struct pb *b, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		*arena_push(b->keep, b->p, b->len, b->cap) = (char)(value >> (8 * i));
}

/* Between blocks comes a header: at the file's beginning of the first chunk, of 64 bytes. */
static void put(struct pb *file, struct str bytes)
{
	while (bytes.len) {
		if (file->len % BLOCK == 0) {
			struct pb header = pb_new(&keep);
			fixed(&header, 0, 8);
			fixed(&header, 64, 8);
			fixed(file, hash_of(pb_done(&header)), 8);
			pb_raw(file, pb_done(&header));
		}
		struct str head = str_head(bytes, BLOCK - file->len % BLOCK);
		pb_raw(file, head);
		bytes = str_from_offset(bytes, head.len);
	}
}

static void put_chunk(struct pb *file, char type, struct str data, int64_t records, int64_t bytes)
{
	struct pb header = pb_new(&keep), whole = pb_new(&keep);
	fixed(&header, (uint64_t)data.len, 8);
	fixed(&header, hash_of(data), 8);
	fixed(&header, (uint64_t)(unsigned char)type, 1);
	fixed(&header, (uint64_t)records, 7);
	fixed(&header, (uint64_t)bytes, 8);
	fixed(&whole, hash_of(pb_done(&header)), 8);
	pb_raw(&whole, pb_done(&header));
	put(file, pb_done(&whole));
	put(file, data);
}

static struct str brotli(struct str bytes)
{
	size_t n = BrotliEncoderMaxCompressedSize((size_t)bytes.len);
	struct pb b = pb_new(&keep);
	uint8_t *to = arena_make(&keep, uint8_t, (ptrdiff_t)n);
	assert_true(BrotliEncoderCompress(
		6, 22, BROTLI_MODE_GENERIC, (size_t)bytes.len, (const uint8_t *)bytes.p, &n, to));
	pb_varint(&b, (uint64_t)bytes.len);
	pb_raw(&b, (struct str){ (char *)to, (ptrdiff_t)n });
	return pb_done(&b);
}

/* A file of one record, up to the end of its last block, as XLA writes each piece. */
static void put_file(struct pb *file, struct str record, char packing)
{
	struct pb size = pb_new(&keep), data = pb_new(&keep);
	pb_varint(&size, (uint64_t)record.len);
	struct str sizes = packing == 'b' ? brotli(pb_done(&size)) : pb_done(&size);
	fixed(&data, (uint64_t)(unsigned char)packing, 1);
	pb_varint(&data, (uint64_t)sizes.len);
	pb_raw(&data, sizes);
	pb_raw(&data, packing == 'b' ? brotli(record) : record);
	put_chunk(file, 's', STR(""), 0, 0);
	put_chunk(file, 'r', pb_done(&data), 1, record.len);
	ptrdiff_t left = BLOCK - file->len % BLOCK - 40;
	struct str zeros = { arena_make(&keep, char, BLOCK), left > 0 ? left : left + BLOCK };
	if (left < 0)
		zeros.len -= BLOCK_HEADER;
	put_chunk(file, 'p', zeros, 0, 0);
	assert_int_equal(file->len % BLOCK, 0);
}

/* Some events of one TPU; their names cannot be packed much. */
static struct str space(int from, int events)
{
	struct xspace *x = xspace_new(&keep);
	struct xplane *tpu = x_tpu(x, 0, "TPU v5 lite");
	struct xline *ops = x_line(tpu, "XLA Ops");
	for (int i = from; i < from + events; i++) {
		uint64_t name = (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15);
		x_event(ops,
			arena_fmt(&keep, "op.%016llx%016llx", (unsigned long long)name,
				(unsigned long long)(name * name))
				.p,
			10 * i, 10 * i + 5, NULL);
	}
	return xspace_done(x);
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool open_bytes(struct str bytes)
{
	in = input_memory(STR("h.xplane.riegeli"), bytes);
	return riegeli_open(&in, STR("h"), &keep, &profile, &err);
}

static void check_events(int want)
{
	assert_int_equal(profile.format, FORMAT_RIEGELI);
	assert_int_equal(profile.plane_count, 1);
	struct plane *p = &profile.planes[0];
	plane_learn(p, &keep);
	struct merge *m = merge_new(p, &keep);
	const struct op_event *e;
	int n = 0;
	for (; (e = merge_next(m)); n++)
		assert_int_equal(e->start_ps, n * INT64_C(10000000));
	assert_true(merge_end(m, &err));
	merge_free(m);
	assert_int_equal(n, want);
}

/* The bytes with which every such file begins are in the format's description. */
static void test_signature(void **state)
{
	(void)state;
	static const unsigned char first[] = { 0x83, 0xaf, 0x70, 0xd1, 0x0d, 0x88, 0x4a, 0x3f, 0, 0,
		0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0, 0x91, 0xba, 0xc2, 0x3c, 0x92, 0x87,
		0xe1, 0xa9, 0, 0, 0, 0, 0, 0, 0, 0, 0xe1, 0x9f, 0x13, 0xc0, 0xe9, 0xb1, 0xc3, 0x72,
		0x73, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
	struct pb file = pb_new(&keep);
	put_chunk(&file, 's', STR(""), 0, 0);
	assert_int_equal(file.len, sizeof(first));
	assert_memory_equal(file.p, first, sizeof(first));
	assert_false(open_bytes(pb_done(&file)));
	assert_non_null(strstr(err.text, "no XPlane in 0 bytes"));
}

static void test_records(void **state)
{
	(void)state;
	/* Less than a block, and many: packed and as they are. */
	static const int sizes[] = { 1, 40, 3000 };
	for (int i = 0; i < 6; i++) {
		struct pb file = pb_new(&keep);
		put_file(&file, space(0, sizes[i / 2]), i % 2 ? 'b' : 0);
		if (!open_bytes(pb_done(&file)))
			fail_msg("%d: %s", i, err.text);
		check_events(sizes[i / 2]);
		assert_int_equal(profile.file_bytes, file.len);
		input_close(&in);
	}
}

/* Pieces of one profile, each appended as a file of its own. */
static void test_pieces(void **state)
{
	(void)state;
	struct pb file = pb_new(&keep);
	put_file(&file, space(0, 2000), 'b');
	put_file(&file, space(2000, 500), 'b');
	put_file(&file, space(2500, 3), 0);
	if (!open_bytes(pb_done(&file)))
		fail_msg("%s", err.text);
	check_events(2503);
}

static void check_refused(struct str bytes, enum diag_id id, const char *part)
{
	if (open_bytes(bytes))
		fail_msg("read: no %s", part);
	assert_int_equal(err.id, id);
	if (!strstr(err.text, part))
		fail_msg("'%s' says nothing of '%s'", err.text, part);
}

static void test_damaged(void **state)
{
	(void)state;
	struct pb file = pb_new(&keep);
	put_file(&file, space(0, 6000), 'b');
	struct str whole = pb_done(&file);
	assert_true(whole.len > 2 * BLOCK);
	for (ptrdiff_t n = 1; n < whole.len; n += 997)
		check_refused(str_head(whole, n), DIAG_WIRE, "breaks off");
	/* Any byte of headers and records, but for those of block headers and padding. */
	for (ptrdiff_t at = 24; at < 2 * BLOCK; at += 1013) {
		bool counts = at % BLOCK >= BLOCK_HEADER;
		file.p[at] ^= 0x20;
		if (counts)
			check_refused(whole, DIAG_WIRE, "riegeli records at byte");
		else
			assert_true(open_bytes(whole));
		file.p[at] ^= 0x20;
		input_close(&in);
	}
	check_refused(STR("no riegeli, but long enough to be a header of a file of them, or two"),
		DIAG_WIRE, "checksum");
}

static void test_other_forms(void **state)
{
	(void)state;
	struct pb file = pb_new(&keep), packed = pb_new(&keep), bare = pb_new(&keep);
	put_chunk(&file, 's', STR(""), 0, 0);
	put_chunk(&file, 't', STR("bx"), 1, 1);
	check_refused(pb_done(&file), DIAG_FILE_KIND, "transposed records");
	put_chunk(&packed, 's', STR(""), 0, 0);
	put_chunk(&packed, 'r', STR("z\1\1xyz"), 1, 1);
	check_refused(pb_done(&packed), DIAG_FILE_KIND, "another way than Brotli");
	put_chunk(&bare, 'r', STR("\0\1\1x"), 1, 1);
	check_refused(pb_done(&bare), DIAG_WIRE, "no signature");
}

/* Chunks whose checksums are right, and that say what cannot be. */
static void test_hostile(void **state)
{
	(void)state;
	struct str bomb = { arena_make(&keep, char, 256 << 20), 256 << 20 };
	const struct {
		struct str data;
		int64_t bytes;
		const char *why;
	} cases[] = {
		{ STR(""), 0, "breaks off" },
		{ STR("\0\5\1x"), 1, "breaks off" },
		{ STR("\0\1\1xx"), 1, "holds other" },
		{ STR("\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), 1, "64 bits" },
		{ STR("b\1\1\5xyz"), 1, "two sizes" },
		{ STR("b\1\1\1xyz"), 1, "riegeli records at byte" },
		{ arena_fmt(&keep, "b%c%c", 1, 1), 0, "riegeli records at byte" },
		{ brotli(bomb), bomb.len, "riegeli records at byte" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pb file = pb_new(&keep);
		put_chunk(&file, 's', STR(""), 0, 0);
		put_chunk(&file, 'r', cases[i].data, 1, cases[i].bytes);
		check_refused(pb_done(&file), DIAG_WIRE, cases[i].why);
	}
	struct pb data = pb_new(&keep), file = pb_new(&keep);
	pb_raw(&data, STR("b\0"));
	pb_raw(&data, brotli(bomb));
	put_chunk(&file, 's', STR(""), 0, 0);
	put_chunk(&file, 'r', pb_done(&data), 1, bomb.len);
	check_refused(pb_done(&file), DIAG_WIRE, "more than any profile");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_signature, clear),
		cmocka_unit_test_teardown(test_records, clear),
		cmocka_unit_test_teardown(test_pieces, clear),
		cmocka_unit_test_teardown(test_damaged, clear),
		cmocka_unit_test_teardown(test_other_forms, clear),
		cmocka_unit_test_teardown(test_hostile, clear),
	};
	return cmocka_run_group_tests(tests, keep_begin, keep_end);
}
