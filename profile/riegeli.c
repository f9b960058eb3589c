/*
 * Riegeli records, as XLA writes them when it profiles continuously (*.xplane.riegeli).
 *
 * Each record is a piece of the profile, an XSpace of its own; pieces one behind the other are an
 * XSpace again.  So the records are unpacked, compared with their hashes, and read as any
 * *.xplane.pb.
 *
 *	| block header | chunk header | data ... | block header | ... data | padding | chunk header
 *	0              24                        64 KiB
 *
 * A block header interrupts whatever stands at a multiple of the block's size, and is of use only
 * to those who do not read from the front.
 *
 * Refuses: transposed chunks, and other ways of packing than Brotli's, by name: XLA writes neither.
 *
 * Source: google/riegeli, doc/riegeli_records_file_format.md; XLA's SaveXSpaceChunk.
 */
#include <brotli/decode.h>

#include "profile/highway.h"
#include "profile/profile.h"
#include "profile/spool.h"

enum { BLOCK = 64 << 10, BLOCK_HEADER = 24, USABLE = BLOCK - BLOCK_HEADER, CHUNK_HEADER = 40 };
/* What Brotli needs for its largest window, twice over since it grows. */
#define BROTLI_BYTES ((ptrdiff_t)64 << 20)
/* As of gzip data (profile/stream): profiles pack to a tenth or so. */
#define RATIO_MAX  400
#define RATIO_FREE ((uint64_t)64 << 20)

struct chunk {
	uint64_t data_bytes, data_hash, records, bytes; /* bytes: of all records, unpacked */
	char type;
};

struct riegeli {
	const struct input *in;
	ptrdiff_t at;	     /* in the file */
	uint64_t left;	     /* of the chunk's data */
	struct highway hash; /* of what was read of it */
	const char *why;     /* NULL, or what is wrong at `at` */
	const char *foreign; /* NULL, or a form that is not read */
};

static bool wrong(struct riegeli *r, const char *why)
{
	if (!r->why)
		r->why = why;
	return false;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static const uint64_t hash_key[HIGHWAY_LANES] = { UINT64_C(0x2f696c6567656952),
	UINT64_C(0x0a7364726f636572), UINT64_C(0x2f696c6567656952), UINT64_C(0x0a7364726f636572) };

/* The next bytes in one piece, at most so many; none at the file's end. */
static struct str piece(struct riegeli *r, uint64_t most)
{
	enum { DROP = 1 << 20 };
	if (r->at % BLOCK == 0)
		r->at += BLOCK_HEADER;
	ptrdiff_t in_block = BLOCK - r->at % BLOCK;
	struct str s = str_head(str_from_offset(r->in->bytes, r->at),
		most < (uint64_t)in_block ? (ptrdiff_t)most : in_block);
	r->at += s.len;
	if (r->at % DROP == 0)
		input_drop(r->in, r->at - DROP, r->at);
	return s;
}

static struct str data_piece(struct riegeli *r, uint64_t most)
{
	struct str s = piece(r, most < r->left ? most : r->left);
	if (!s.len)
		wrong(r, r->left ? "the file breaks off" : "a chunk's data breaks off");
	r->left -= (uint64_t)s.len;
	highway_add(&r->hash, s);
	return s;
}

static bool data_varint(struct riegeli *r, uint64_t *ret)
{
	*ret = 0;
	for (int shift = 0; shift < 64; shift += 7) {
		struct str s = data_piece(r, 1);
		if (!s.len)
			return false;
		*ret |= (uint64_t)(*s.p & 0x7f) << shift;
		if (!(*s.p & 0x80))
			return true;
	}
	return wrong(r, "a number of more than 64 bits");
}

/* ---- headers --------------------------------------------------------------------------------- */

static uint64_t number(const char *p, int bytes)
{
	uint64_t x = 0;
	for (int i = bytes - 1; i >= 0; i--)
		x = x << 8 | (unsigned char)p[i];
	return x;
}

static bool header_read(struct riegeli *r, struct chunk *ret)
{
	char bytes[CHUNK_HEADER];
	ptrdiff_t n = 0;
	while (n < CHUNK_HEADER) {
		struct str s = piece(r, (uint64_t)(CHUNK_HEADER - n));
		if (!s.len)
			return wrong(r, "the file breaks off");
		for (ptrdiff_t i = 0; i < s.len; i++)
			bytes[n++] = s.p[i];
	}
	struct highway h = highway_new(hash_key);
	highway_add(&h, (struct str){ bytes + 8, CHUNK_HEADER - 8 });
	if (highway_end(&h) != number(bytes, 8))
		return wrong(r, "a chunk's header does not match its own checksum");
	*ret = (struct chunk){ .data_bytes = number(bytes + 8, 8),
		.data_hash = number(bytes + 16, 8),
		.type = bytes[24],
		.records = number(bytes + 25, 7),
		.bytes = number(bytes + 32, 8) };
	return true;
}

/* Where the next chunk begins: behind the data, not before there are as many bytes as records, and
 * neither inside of a block header nor right behind one.  Past the file's end for any nonsense. */
static ptrdiff_t chunk_end(const struct riegeli *r, ptrdiff_t begin, const struct chunk *c)
{
	uint64_t limit = (uint64_t)r->in->bytes.len, from = (uint64_t)begin;
	if (c->data_bytes > limit || c->records > limit)
		return (ptrdiff_t)limit + 1;
	uint64_t size = CHUNK_HEADER + c->data_bytes;
	uint64_t headers = (size + (from + USABLE - 1) % BLOCK) / USABLE;
	uint64_t end = from + size + headers * BLOCK_HEADER, least = from + c->records;
	uint64_t in_block = BLOCK - 1 - (least + BLOCK - 1) % BLOCK;
	if (in_block > USABLE - 1)
		least += in_block - (USABLE - 1);
	return (ptrdiff_t)(end > least ? end : least);
}

/* ---- chunks ---------------------------------------------------------------------------------- */

static void *brotli_take(void *arena, size_t bytes)
{
	return arena_room(arena, (ptrdiff_t)bytes);
}

static void brotli_give(void *arena, void *p)
{
	(void)arena, (void)p; /* all at once, when the arena is freed */
}

/* All output that there is; false when it is more than there should be. */
static bool output_put(struct riegeli *r, BrotliDecoderState *d, uint64_t *left, struct spool *to)
{
	size_t n = 0;
	const uint8_t *p = BrotliDecoderTakeOutput(d, &n);
	if (n > *left)
		return wrong(r, "a chunk unpacks to more than it says");
	spool_put(to, (struct str){ (const char *)p, (ptrdiff_t)n });
	*left -= n;
	return true;
}

static void unbrotli(struct riegeli *r, uint64_t bytes, struct spool *to)
{
	struct arena room = arena_new(BROTLI_BYTES);
	BrotliDecoderState *d = BrotliDecoderCreateInstance(brotli_take, brotli_give, &room);
	BrotliDecoderResult result = BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT;
	while (result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT && !r->why) {
		struct str s = data_piece(r, r->left);
		const uint8_t *next = (const uint8_t *)s.p;
		size_t in = (size_t)s.len, out = 0;
		do
			result = BrotliDecoderDecompressStream(d, &in, &next, &out, NULL, NULL);
		while (output_put(r, d, &bytes, to) &&
			result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT);
		if (result == BROTLI_DECODER_RESULT_ERROR || (!result && in) || !s.len)
			wrong(r, "the Brotli data is damaged");
	}
	if (bytes || r->left)
		wrong(r, "a chunk unpacks to less than it says");
	arena_free(&room);
}

/* Sizes of records, then the records: whose sizes do not matter to who reads them as one. */
static void simple_chunk(struct riegeli *r, const struct chunk *c, struct spool *to)
{
	uint64_t sizes, bytes = c->bytes;
	struct str packed = data_piece(r, 1);
	if (!packed.len || !data_varint(r, &sizes))
		return;
	while (sizes && !r->why)
		sizes -= (uint64_t)data_piece(r, sizes).len;
	if (r->why)
		return;
	if (bytes > RATIO_FREE && bytes / RATIO_MAX > c->data_bytes)
		wrong(r, "it unpacks to more than any profile holds");
	else if (*packed.p == 0 && bytes != r->left)
		wrong(r, "a chunk holds other data than it says");
	else if (*packed.p == 0) {
		while (r->left && !r->why)
			spool_put(to, data_piece(r, r->left));
	} else if (*packed.p != 'b')
		r->foreign = "records that are packed in another way than Brotli's";
	else if (data_varint(r, &bytes) && bytes != c->bytes)
		wrong(r, "a chunk states two sizes");
	else if (!r->why)
		unbrotli(r, bytes, to);
	if (!r->why && !r->foreign && highway_end(&r->hash) != c->data_hash)
		wrong(r, "a chunk does not match its own checksum");
}

/* Files of records one behind the other are one: signatures come again. */
static void chunk_unpack(struct riegeli *r, const struct chunk *c, struct spool *to)
{
	r->hash = highway_new(hash_key);
	r->left = c->data_bytes;
	if (c->type == 'r')
		simple_chunk(r, c, to);
	else if (c->type == 't')
		r->foreign = "transposed records";
	else if (c->type != 's' && c->type != 'm' && c->type != 'p')
		r->foreign = "records of a newer form";
}

/* All records of a file, appended to the spool. */
static bool unpack(const struct input *in, struct spool *to, struct diag *err)
{
	struct riegeli r = { .in = in };
	struct chunk c;
	while (r.at < in->bytes.len && !r.why && !r.foreign) {
		ptrdiff_t begin = r.at;
		if (!header_read(&r, &c))
			break;
		if (begin == 0 && c.type != 's')
			wrong(&r, "no signature of riegeli records");
		ptrdiff_t end = chunk_end(&r, begin, &c);
		if (end > in->bytes.len)
			wrong(&r, "the file breaks off");
		else
			chunk_unpack(&r, &c, to);
		if (!r.why)
			r.at = end;
	}
	if (r.foreign)
		return diag_set(err, DIAG_FILE_KIND,
			"%s, which are not read; have the profile captured as *.xplane.pb",
			r.foreign);
	return !r.why || diag_set(err, DIAG_WIRE, "riegeli records at byte %td: %s", r.at, r.why);
}

bool riegeli_open(struct input *in, struct str host, struct arena *keep, struct profile *ret,
	struct diag *err)
{
	struct arena scratch = arena_new(ARENA_SCRATCH_BYTES);
	struct spool *spool = spool_new(&scratch);
	int64_t bytes = in->bytes.len;
	bool ok = unpack(in, spool, err) && input_check(in, err);
	if (!ok)
		spool_drop(spool);
	ok = ok && spool_done(spool, in, keep, err) && xplane_open(in, host, keep, ret, err);
	arena_free(&scratch);
	ret->format = FORMAT_RIEGELI;
	ret->file_bytes = bytes;
	return ok;
}
