/* The tables behind kind.h. */
#include "base/kind.h"

#include "base/text.h"

static const struct op_kind_row {
	struct str name;
	enum activity activity;
} op_kinds[KIND_COUNT] = {
#define X(id, label, what) [KIND_##id] = { STR_INIT(label), what },
	OP_KINDS(X)
#undef X
};

static bool is_op_kind(enum op_kind k)
{
	return (unsigned)k < KIND_COUNT;
}

struct str op_kind_name(enum op_kind k)
{
	return op_kinds[is_op_kind(k) ? k : KIND_UNKNOWN].name;
}

enum op_kind op_kind_find(struct str name)
{
	const struct op_kind_row *row = NAMED(op_kinds, KIND_COUNT, name);
	return row ? (enum op_kind)(row - op_kinds) : KIND_UNKNOWN;
}

enum activity op_kind_activity(enum op_kind k)
{
	return op_kinds[is_op_kind(k) ? k : KIND_UNKNOWN].activity;
}

bool op_kind_multiplies(enum op_kind k)
{
	return k == KIND_MATMUL || k == KIND_CONVOLUTION || k == KIND_ATTENTION;
}

bool op_kind_is_vector(enum op_kind k)
{
	return k != KIND_UNKNOWN && k != KIND_CUSTOM && !op_kind_multiplies(k);
}

bool op_kind_is_collective(enum op_kind k)
{
	return k >= KIND_ALL_GATHER && k <= KIND_BROADCAST;
}

static const struct {
	struct str name;
	int bits;
	bool is_float;
} dtypes[DTYPE_COUNT] = {
#define X(id, label, width, real) { STR_INIT(label), width, real },
	DTYPES(X)
#undef X
};

static bool is_dtype(enum dtype t)
{
	return (unsigned)t < DTYPE_COUNT;
}

struct str dtype_name(enum dtype t)
{
	return dtypes[is_dtype(t) ? t : DTYPE_INVALID].name;
}

enum dtype dtype_find(struct str name)
{
	for (int t = DTYPE_INVALID + 1; t < DTYPE_COUNT; t++)
		if (str_eq(dtypes[t].name, name))
			return (enum dtype)t;
	return DTYPE_INVALID;
}

bool dtype_is_float(enum dtype t)
{
	return is_dtype(t) && dtypes[t].is_float;
}

enum dtype dtype_of_parts(enum dtype t)
{
	return t == DTYPE_C64 ? DTYPE_F32 : t == DTYPE_C128 ? DTYPE_F64 : t;
}

int dtype_bits(enum dtype t)
{
	return dtypes[is_dtype(t) ? t : DTYPE_INVALID].bits;
}

int dtype_storage_bits(enum dtype t)
{
	int bits = dtype_bits(t);
	return bits > 0 && bits < 8 ? 8 : bits;
}
