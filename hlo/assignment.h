/*
 * A buffer assignment as it was read, from a message or from a text.
 *
 * Private to hlo/.
 */
#ifndef HLO_ASSIGNMENT_H
#define HLO_ASSIGNMENT_H

#include "hlo/internal.h"
#include "hlo/memory.h"

/* Larger than the memory of any machine; sums of these saturate. */
#define MAX_BUFFER_BYTES ((int64_t)1 << 50)

struct buffer {
	int64_t id, size, color;
	struct str defined_at; /* a Location, read when it is asked for, */
	struct str name;       /* or what a text says in its place: the instruction */
	struct hlo_dims index; /* and which of its leaves */
	ptrdiff_t allocation;  /* index into allocations, -1 none */
	ptrdiff_t canonical;   /* whose memory it shares while alive */
	int64_t users;	       /* of its own memory, itself among them */
};

struct allocation {
	int64_t size, color;
	bool thread_local_, parameter, live_out, constant;
	struct str bytes;	 /* the message; empty of a text */
	struct hlo_dims members; /* ids of the buffers in it; none of a text, whose buffers know */
	ptrdiff_t largest;	 /* of them, -1 none */
};

struct assignment {
	struct reader *r;
	int64_t space;
	struct buffer *buffers;
	ptrdiff_t buffer_count;
	struct allocation *allocations;
	ptrdiff_t allocation_count;
	struct read_strs traces;
	struct map ids; /* of buffers */
};

/* memory_text.c: the assignment as text: allocations, and buffers that know theirs.  False with
 * err set where it was cut. */
bool assignment_of_text(struct assignment *a, const struct hlo_module *m);
/* The report's total of a memory space.  False where it names none, and then `err` is untouched. */
bool report_total(const struct hlo_note *note, int64_t space, int64_t *ret, struct diag *err);

#endif
