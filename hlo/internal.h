/* What the files of hlo/ share about modules.  Private to hlo/. */
#ifndef HLO_INTERNAL_H
#define HLO_INTERNAL_H

#include "hlo/module.h"
#include "hlo/read.h"

/* instruction.c: one HloInstructionProto.  Operands and callees are ids until module.c resolves. */
bool read_instruction(struct reader *r, struct str message, struct hlo_instruction *ret);

/* Of an instruction, and of a dimension of its window: fields that both readers know by name. */
extern const struct read_table instruction_table, window_dim_table;
/* Of a send's or recv's frontend attributes. */
extern const struct read_table transfer_table;

/* The same for both readers: what old writers spell 0 is 1, and no channel is below 0. */
void instruction_bound(struct hlo_instruction *i);

/* module.c: how many devices it is compiled for. */
extern const struct read_table devices_table;
/* What both readers end with, once operands, callees and roots are indices. */
bool module_finish(struct hlo_module *m, struct arena *keep, struct diag *err);

/* groups.c: replica groups in their four spellings. */
read_fn read_replica_group; /* ReplicaGroup: one of several */
extern const struct read_table device_list_table;
read_fn read_iota_groups; /* IotaReplicaGroupListProto */
read_fn read_mesh_groups; /* MeshAxesReplicaGroupListProto */

/* The same from text.  Numbers that contradict each other make the groups unreadable. */
enum { MAX_AXES = 64 }; /* meshes have a handful of axes; a transposition has as many */
struct mesh {
	int64_t sizes[MAX_AXES];
	ptrdiff_t axis_count;
	struct hlo_dims device_ids, reshape, perm;
	struct axis { /* an axis or a part of one: indices `stride` apart in the mesh's order */
		int64_t size, stride;
	} over[MAX_AXES]; /* what the groups run over, major first */
	ptrdiff_t over_count;
	bool bad;
};
struct axis_ref {
	int64_t axis, pre_size, size; /* size 0: the whole axis */
};
void mesh_add(struct mesh *m, int64_t size);
void mesh_take(struct mesh *m, struct axis_ref ref);
void groups_add(struct hlo_replica_groups *g, const struct hlo_dims *ids);
void groups_of_iota(struct hlo_replica_groups *g, int64_t groups, int64_t size,
	const struct hlo_dims *dims, const struct hlo_dims *perm, struct arena *keep);
void groups_of_mesh(struct hlo_replica_groups *g, const struct mesh *m, struct arena *keep);

/* frames.c: StackFrameIndexProto, or the tables of a text dump.  Ids count from 1. */
struct hlo_frames {
	struct read_strs files, functions;
	struct frame_location {
		int64_t file, function, line;
	} * locations;
	struct frame {
		int64_t location, parent;
	} * frames;
	ptrdiff_t location_count, frame_count;
};
extern const struct read_table frames_table;
struct hlo_frames *frames_parse(struct reader *r, struct str message); /* NULL: r->err */
struct hlo_source frames_source(const struct hlo_frames *f, int64_t stack_frame);

/* index.c */
void index_names(struct hlo_module *m, struct arena *keep);

#endif
