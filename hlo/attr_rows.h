/*
 * The attributes of an instruction that are looked into, one row each: name, what it is read into,
 * its reader in text_attr.c and its printer in print_attr.c.  Sorted by name.  Others are skipped
 * by the one and copied by the other.
 *
 * Private to those two files.
 */
#ifndef HLO_ATTR_ROWS_H
#define HLO_ATTR_ROWS_H

#include <stddef.h>

#define ATTR_AT(member) offsetof(struct hlo_instruction, member)

/* X(name, offset, reader, printer) */
#define HLO_ATTRS(X)                                                                               \
	X("algorithm", ATTR_AT(algorithm), algorithm, algorithm)                                   \
	X("backend_config", ATTR_AT(backend_config), config, config)                               \
	X("batch_group_count", ATTR_AT(batch_group_count), number, number)                         \
	X("body", 0, body, callees)                                                                \
	X("branch_computations", 0, callees, callees)                                              \
	X("called_computations", 0, callees, callees)                                              \
	X("calls", 0, callees, callees)                                                            \
	X("channel_id", ATTR_AT(channel_id), number, number)                                       \
	X("condition", 0, callees, callees)                                                        \
	X("custom_call_target", ATTR_AT(custom_call_target), string, string)                       \
	X("dim_labels", 0, dim_labels, dim_labels)                                                 \
	X("dimensions", ATTR_AT(dimensions), dims, dims)                                           \
	X("direction", ATTR_AT(direction), word, word)                                             \
	X("false_computation", 0, callees, callees)                                                \
	X("feature_group_count", ATTR_AT(feature_group_count), number, number)                     \
	X("frontend_attributes", 0, frontend, as_written)                                          \
	X("index", ATTR_AT(tuple_index), number, number)                                           \
	X("is_host_transfer", ATTR_AT(is_host_transfer), truth, truth)                             \
	X("kind", ATTR_AT(fusion_kind), word, word)                                                \
	X("lhs_batch_dims", 0, lhs_batch, lhs_batch)                                               \
	X("lhs_contracting_dims", 0, lhs_contracting, lhs_contracting)                             \
	X("lhs_ragged_dims", 0, lhs_ragged, lhs_ragged)                                            \
	X("metadata", 0, metadata, metadata)                                                       \
	X("operand_precision", ATTR_AT(precision), precision, precision)                           \
	X("replica_groups", ATTR_AT(groups), replica_groups, replica_groups)                       \
	X("rhs_batch_dims", 0, rhs_batch, rhs_batch)                                               \
	X("rhs_contracting_dims", 0, rhs_contracting, rhs_contracting)                             \
	X("rhs_group_dims", 0, rhs_group, rhs_group)                                               \
	X("scatter", 0, callees, callees)                                                          \
	X("select", 0, callees, callees)                                                           \
	X("source_target_pairs", ATTR_AT(source_target), pairs, pairs)                             \
	X("to_apply", 0, callees, callees)                                                         \
	X("true_computation", 0, callees, callees)                                                 \
	X("use_global_device_ids", ATTR_AT(use_global_device_ids), truth, truth)                   \
	X("window", 0, window, window)

/* metadata={op_name="..." source_file="..." source_line=3} */
#define HLO_METADATA_ATTRS(X)                                                                      \
	X("op_name", ATTR_AT(op_name), string, string)                                             \
	X("op_type", ATTR_AT(op_type), string, string)                                             \
	X("source_file", ATTR_AT(source.file), string, string)                                     \
	X("source_line", ATTR_AT(source.line), number, number)                                     \
	X("stack_frame_id", ATTR_AT(stack_frame), number, number)

/* window={size=3x3 pad=1_1x1_1} */
#define HLO_WINDOW_ATTRS(X)                                                                        \
	X("lhs_dilate", 0, window_lhs_dilate, window_lhs_dilate)                                   \
	X("pad", 0, window_pad, window_pad)                                                        \
	X("rhs_dilate", 0, window_rhs_dilate, window_rhs_dilate)                                   \
	X("rhs_reversal", 0, window_reversal, window_reversal)                                     \
	X("size", 0, window_size, window_size)                                                     \
	X("stride", 0, window_stride, window_stride)

#endif
