/* The tables behind kind.h. */
#include "base/kind.h"

static const struct {
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
	for (int k = 0; k < KIND_COUNT; k++)
		if (str_eq(op_kinds[k].name, name))
			return (enum op_kind)k;
	return KIND_UNKNOWN;
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

/* Source: xla_data.proto's PrimitiveType.  Types without bits have 0. */
static const struct {
	struct str name;
	int bits;
} dtypes[DTYPE_COUNT] = {
	[DTYPE_INVALID] = { STR_INIT("invalid"), 0 },
	[DTYPE_PRED] = { STR_INIT("pred"), 8 },
	[DTYPE_S8] = { STR_INIT("s8"), 8 },
	[DTYPE_S16] = { STR_INIT("s16"), 16 },
	[DTYPE_S32] = { STR_INIT("s32"), 32 },
	[DTYPE_S64] = { STR_INIT("s64"), 64 },
	[DTYPE_U8] = { STR_INIT("u8"), 8 },
	[DTYPE_U16] = { STR_INIT("u16"), 16 },
	[DTYPE_U32] = { STR_INIT("u32"), 32 },
	[DTYPE_U64] = { STR_INIT("u64"), 64 },
	[DTYPE_F16] = { STR_INIT("f16"), 16 },
	[DTYPE_F32] = { STR_INIT("f32"), 32 },
	[DTYPE_F64] = { STR_INIT("f64"), 64 },
	[DTYPE_TUPLE] = { STR_INIT("tuple"), 0 },
	[DTYPE_OPAQUE] = { STR_INIT("opaque"), 0 },
	[DTYPE_C64] = { STR_INIT("c64"), 64 },
	[DTYPE_BF16] = { STR_INIT("bf16"), 16 },
	[DTYPE_TOKEN] = { STR_INIT("token"), 0 },
	[DTYPE_C128] = { STR_INIT("c128"), 128 },
	[DTYPE_F8E5M2] = { STR_INIT("f8e5m2"), 8 },
	[DTYPE_F8E4M3FN] = { STR_INIT("f8e4m3fn"), 8 },
	[DTYPE_S4] = { STR_INIT("s4"), 4 },
	[DTYPE_U4] = { STR_INIT("u4"), 4 },
	[DTYPE_F8E4M3B11FNUZ] = { STR_INIT("f8e4m3b11fnuz"), 8 },
	[DTYPE_F8E5M2FNUZ] = { STR_INIT("f8e5m2fnuz"), 8 },
	[DTYPE_F8E4M3FNUZ] = { STR_INIT("f8e4m3fnuz"), 8 },
	[DTYPE_S2] = { STR_INIT("s2"), 2 },
	[DTYPE_U2] = { STR_INIT("u2"), 2 },
	[DTYPE_F8E4M3] = { STR_INIT("f8e4m3"), 8 },
	[DTYPE_F8E3M4] = { STR_INIT("f8e3m4"), 8 },
	[DTYPE_S1] = { STR_INIT("s1"), 1 },
	[DTYPE_U1] = { STR_INIT("u1"), 1 },
	[DTYPE_F4E2M1FN] = { STR_INIT("f4e2m1fn"), 4 },
	[DTYPE_F8E8M0FNU] = { STR_INIT("f8e8m0fnu"), 8 },
	[DTYPE_BUFFER] = { STR_INIT("buffer"), 0 },
	[DTYPE_F6E3M2FN] = { STR_INIT("f6e3m2fn"), 6 },
	[DTYPE_F6E2M3FN] = { STR_INIT("f6e2m3fn"), 6 },
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
	static const bool floats[DTYPE_COUNT] = { [DTYPE_F16] = true,
		[DTYPE_F32] = true,
		[DTYPE_F64] = true,
		[DTYPE_BF16] = true,
		[DTYPE_F8E5M2] = true,
		[DTYPE_F8E4M3FN] = true,
		[DTYPE_F8E4M3B11FNUZ] = true,
		[DTYPE_F8E5M2FNUZ] = true,
		[DTYPE_F8E4M3FNUZ] = true,
		[DTYPE_F8E4M3] = true,
		[DTYPE_F8E3M4] = true,
		[DTYPE_F4E2M1FN] = true,
		[DTYPE_F6E3M2FN] = true,
		[DTYPE_F6E2M3FN] = true };

	return is_dtype(t) && floats[t];
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
