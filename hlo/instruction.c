/*
 * One HloInstructionProto, by the field numbers of XLA's hlo.proto.
 *
 * What costs nothing to leave is left: arrays of constants, shardings, attributes of rare ops.
 */
#include "hlo/internal.h"

static const struct read_rule metadata_table_rules[] = {
	[2] = READ_BOTH(STR, struct hlo_instruction, op_name),
	[3] = READ_FIELD(STR, struct hlo_instruction, source.file, AS("source_file")),
	[4] = READ_FIELD(INT, struct hlo_instruction, source.line, AS("source_line")),
	[15] = READ_FIELD(INT, struct hlo_instruction, stack_frame, AS("stack_frame_id")),
};
READ_TABLE(metadata_table, "OpMetadata");

static bool read_result_shape(struct reader *r, const struct wire_field *f, void *into)
{
	struct shape_slot *slot = shape_slot(r->cache, f->bytes);
	if (!slot->bytes.p && !read_shape(r, f->bytes, &slot->shape))
		return false;
	slot->bytes = f->bytes;
	*(struct shape *)into = slot->shape;
	return true;
}

static const struct read_rule dot_table_rules[] = {
	[1] = READ_DIMS(struct hlo_dot, lhs_contracting, AS("lhs_contracting_dims")),
	[3] = READ_DIMS(struct hlo_dot, lhs_batch, AS("lhs_batch_dims")),
};
READ_TABLE(dot_table, "DotDimensionNumbers");

static const struct read_rule ragged_table_rules[] = {
	[1] = { .kind = READ_MESSAGE, .table = &dot_table },
	[2] = READ_DIMS(struct hlo_dot, lhs_ragged, AS("lhs_ragged_dims")),
};
READ_TABLE(ragged_table, "RaggedDotDimensionNumbers");

static const struct read_rule convolution_table_rules[] = {
	[4] = READ_FIELD(INT, struct hlo_convolution, kernel_output_feature),
	[6] = READ_DIMS(struct hlo_convolution, kernel_spatial),
	[7] = READ_FIELD(INT, struct hlo_convolution, input_batch),
	[8] = READ_FIELD(INT, struct hlo_convolution, input_feature),
	[11] = READ_DIMS(struct hlo_convolution, input_spatial),
	[12] = READ_DIMS(struct hlo_convolution, output_spatial),
};
READ_TABLE(convolution_table, "ConvolutionDimensionNumbers");

static const struct read_rule window_dim_table_rules[] = {
	[1] = READ_BOTH(INT, struct hlo_window_dim, size),
	[2] = READ_BOTH(INT, struct hlo_window_dim, stride),
	[3] = READ_FIELD(INT, struct hlo_window_dim, padding_low, AS("pad")),
	[5] = READ_FIELD(INT, struct hlo_window_dim, window_dilation, AS("rhs_dilate")),
	[6] = READ_FIELD(INT, struct hlo_window_dim, base_dilation, AS("lhs_dilate")),
};
READ_SHARED(window_dim_table, "WindowDimension");

static void at_least_one(int64_t *value)
{
	if (*value < 1)
		*value = 1;
}

void instruction_bound(struct hlo_instruction *i)
{
	at_least_one(&i->feature_group_count);
	at_least_one(&i->batch_group_count);
	if (i->channel_id < 0)
		i->channel_id = 0;
	for (ptrdiff_t k = 0; k < i->window_rank; k++) {
		at_least_one(&i->window[k].stride);
		at_least_one(&i->window[k].window_dilation);
		at_least_one(&i->window[k].base_dilation);
	}
}

static const struct read_rule window_table_rules[] = {
	[1] = READ_ELEMENTS(window_dim_table, struct hlo_instruction, window, window_rank),
};
READ_TABLE(window_table, "Window");

static const struct read_rule precision_table_rules[] = {
	[1] = READ_DIMS(struct hlo_instruction, precision),
	[2] = READ_FIELD(INT, struct hlo_instruction, algorithm),
};
READ_TABLE(precision_table, "PrecisionConfig");

static const struct read_rule pair_table_rules[] = {
	[1] = READ_FIELD(INT, struct hlo_pair, source),
	[2] = READ_FIELD(INT, struct hlo_pair, target),
};
READ_TABLE(pair_table, "SourceTarget");

static const struct read_rule slice_table_rules[] = {
	[1] = READ_FIELD(INT, struct hlo_slice_dim, start),
	[2] = READ_FIELD(INT, struct hlo_slice_dim, limit),
	[3] = READ_FIELD(INT, struct hlo_slice_dim, stride),
};
READ_TABLE(slice_table, "SliceDimensions");

/* LiteralProto's fields 4 to 7 are s32s, s64s, u32s and u64s, packed or not; a scalar has one. */
static bool read_literal(struct reader *r, const struct wire_field *f, void *into)
{
	struct hlo_instruction *i = into;
	struct wire w = wire_open(f->bytes);
	struct wire_field inner;
	while (f->bytes.len && wire_next(&w, &inner)) {
		if (inner.number < 4 || inner.number > 7)
			continue;
		struct wire_list list = wire_list(&inner);
		uint64_t value;
		if (!wire_list_next(&list, &value))
			continue;
		i->has_value = true;
		i->value = (int64_t)value;
	}
	return !w.why || wire_error(&w, r->whole, "LiteralProto", r->err);
}

/* A oneof: the last of the two on the wire is meant, and id 0 is an id. */
static bool read_payload(struct reader *r, const struct wire_field *f, void *into)
{
	struct hlo_instruction *i = into;
	struct wire w = wire_open(f->bytes);
	struct wire_field inner;
	while (f->bytes.len && wire_next(&w, &inner)) {
		if (inner.number == 1 && inner.type == WIRE_LEN) {
			if (!i->backend_config.len)
				i->backend_config = inner.bytes;
			i->backend_payload = 0;
		} else if (inner.number == 2 && inner.type == WIRE_VARINT) {
			i->backend_payload = inner.num < INT32_MAX ? (int64_t)inner.num + 1 : 0;
		}
	}
	return !w.why || wire_error(&w, r->whole, "Payload", r->err);
}

struct frontend_pair {
	struct str key, value;
};

static const struct read_rule frontend_pair_table_rules[] = {
	[1] = READ_FIELD(STR, struct frontend_pair, key),
	[2] = READ_FIELD(STR, struct frontend_pair, value),
};
READ_TABLE(frontend_pair_table, "FrontendAttributes.MapEntry");

/* By their keys alone. */
static const struct read_rule transfer_table_rules[] = {
	READ_FIELD(STR, struct hlo_transfer, type, AS("_xla_megascale_transfer_type")),
	READ_FIELD(STR, struct hlo_transfer, target, AS("_xla_megascale_target")),
};
READ_SHARED(transfer_table, "FrontendAttributes");

static bool read_frontend_pair(struct reader *r, const struct wire_field *f, void *into)
{
	struct frontend_pair pair = { .key = { NULL, 0 } };
	if (!read_message(r, &frontend_pair_table, f->bytes, &pair))
		return false;
	const struct read_rule *rule = read_named(&transfer_table, pair.key);
	if (rule)
		*(struct str *)(void *)((char *)into + rule->offset) = pair.value;
	return true;
}

static const struct read_rule frontend_table_rules[] = {
	[1] = { .kind = READ_CALL, .read = read_frontend_pair },
};
READ_TABLE(frontend_table, "FrontendAttributes");

/* The opcode, field 2, is before them on the wire. */
static bool read_frontend(struct reader *r, const struct wire_field *f, void *into)
{
	struct hlo_instruction *i = into;
	if (!str_eq(i->opcode, STR("send")) && !str_eq(i->opcode, STR("recv")))
		return true;
	if (!i->transfer)
		i->transfer = arena_make(r->keep, struct hlo_transfer, 1);
	bool ok = read_message(r, &frontend_table, f->bytes, i->transfer);
	if (!i->transfer->type.len)
		i->transfer = NULL;
	return ok;
}

static const struct read_rule instruction_table_rules[] = {
	[1] = READ_FIELD(STR, struct hlo_instruction, name),
	[2] = READ_FIELD(STR, struct hlo_instruction, opcode),
	[3] = READ_BY(read_result_shape, struct hlo_instruction, shape),
	[7] = { .kind = READ_MESSAGE, .table = &metadata_table, AS("metadata") },
	[8] = { .kind = READ_CALL, .read = read_literal },
	[9] = READ_FIELD(INT, struct hlo_instruction, parameter_number),
	[13] = READ_FIELD(INT, struct hlo_instruction, tuple_index, AS("index")),
	[15] = { .kind = READ_MESSAGE, .table = &window_table },
	[16] = READ_MADE(convolution_table, struct hlo_instruction, convolution),
	[17] = READ_ELEMENTS(slice_table, struct hlo_instruction, slice, slice_rank),
	[26] = READ_BOTH(INT, struct hlo_instruction, channel_id),
	[28] = READ_BOTH(STR, struct hlo_instruction, custom_call_target),
	[30] = READ_MADE(dot_table, struct hlo_instruction, dot),
	[32] = READ_DIMS(struct hlo_instruction, fft_length, AS("fft_length")),
	[35] = READ_FIELD(INT, struct hlo_instruction, id),
	[36] = READ_NUMBERS(struct hlo_instruction, operands, operand_count),
	[38] = READ_NUMBERS(struct hlo_instruction, called, called_count),
	[43] = READ_BOTH(STR, struct hlo_instruction, backend_config),
	[47] = READ_BOTH(BOOL, struct hlo_instruction, is_host_transfer),
	[49] = READ_BY(read_replica_group, struct hlo_instruction, groups),
	[50] = READ_BOTH(INT, struct hlo_instruction, feature_group_count),
	[51] = { .kind = READ_MESSAGE, .table = &precision_table },
	[52] = READ_ELEMENTS(pair_table, struct hlo_instruction, pairs, pair_count),
	[58] = READ_BOTH(INT, struct hlo_instruction, batch_group_count),
	[63] = READ_BOTH(STR, struct hlo_instruction, direction),
	[68] = { .kind = READ_CALL, .read = read_frontend },
	[71] = READ_BOTH(BOOL, struct hlo_instruction, use_global_device_ids),
	[87] = { .kind = READ_MESSAGE,
		.table = &device_list_table,
		.offset = offsetof(struct hlo_instruction, groups) },
	[90] = READ_MADE(ragged_table, struct hlo_instruction, dot),
	[92] = READ_BY(read_iota_groups, struct hlo_instruction, groups),
	[93] = READ_BY(read_mesh_groups, struct hlo_instruction, groups),
	[99] = { .kind = READ_CALL, .read = read_payload },
};
READ_SHARED(instruction_table, "HloInstructionProto");

bool read_instruction(struct reader *r, struct str message, struct hlo_instruction *ret)
{
	if (!read_message(r, &instruction_table, message, ret)) {
		if (ret->name.len)
			diag_context(r->err, "instruction %.*s", STR_ARG(ret->name));
		return false;
	}
	ret->op = opcode_find(ret->opcode);
	instruction_bound(ret);
	return true;
}
