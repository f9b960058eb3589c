/*
 * Collectives: what they move, among whom.
 *
 * Message sizes follow the usual ring arithmetic, V being the whole array: the result of an
 * all-gather, the operand of a reduce-scatter or all-reduce, all shards of an all-to-all together.
 * Who takes part follows XLA's collective_ops_utils (replica ids, partition ids or both, by
 * channel id and use_global_device_ids).
 */
#include "hlo/collective.h"

#include "base/saturate.h"
#include "hlo/inside.h"
#include "hlo/slices.h"
#include "hlo/walk.h"
#include "hlo/work.h"

/* V.  A start's result is (operands, results, ...); a ragged exchange's first operand is the data,
 * the next receives it, four say what goes where. */
static int64_t message_bytes(const struct hlo_module *m, const struct hlo_instruction *i,
	enum op_kind kind, int64_t group_size)
{
	ptrdiff_t operands = i->op == HLO_RAGGED_ALL_TO_ALL ? 1 : i->operand_count;
	int64_t sum = 0;
	if (kind == KIND_ALL_GATHER) {
		bool start = i->op == HLO_ALL_GATHER_START && i->shape.element_count >= 2;
		return shape_logical_bytes(start ? &i->shape.elements[1] : &i->shape);
	}
	for (ptrdiff_t k = 0; k < operands; k++) {
		const struct shape *operand = operand_shape(m, i, k);
		sum = sat_add(sum, operand ? shape_logical_bytes(operand) : 0);
	}
	return kind == KIND_ALL_TO_ALL && group_size ? sat_mul(sum, group_size) : sum;
}

static int64_t wire_bytes(enum op_kind kind, int64_t message, int64_t n)
{
	if (kind == KIND_PERMUTE || kind == KIND_BROADCAST)
		return n == 1 ? 0 : message;
	if (n <= 0)
		return 0;
	/* message (n - 1) / n to the byte below; by n first, so that nothing overflows. */
	int64_t once = message / n * (n - 1) + (message % n ? message % n - 1 : 0);
	if (kind == KIND_ALL_REDUCE)
		return sat_mul(once, 2);
	return kind == KIND_ALL_TO_ALL ? once / n : once;
}

static int64_t positive(int64_t n)
{
	return n > 0 ? n : 0;
}

/*
 * Replicas within a partition, partitions within a replica, replicas of all partitions, or devices:
 * what one id of a group stands for, and how often the groups are there side by side.  Without a
 * device assignment a single replica or partition is what JAX compiles for.
 */
static void groups_of(
	const struct hlo_module *m, const struct hlo_instruction *i, struct hlo_collective *c)
{
	int64_t r = positive(m->replica_count), p = positive(m->partition_count);
	int64_t everybody = r, per_id = 1, copies = p; /* by replica */
	bool reduces = c->kind == KIND_ALL_GATHER || c->kind == KIND_ALL_REDUCE ||
		       c->kind == KIND_REDUCE_SCATTER;
	if (i->groups.unreadable)
		return;
	if (i->channel_id && i->use_global_device_ids) {
		everybody = sat_mul(r, p);
		copies = 1;
	} else if (i->channel_id && reduces) {
		per_id = p;
		copies = 1;
	} else if (i->channel_id) {
		everybody = p;
		copies = r;
	}
	int64_t size = i->groups.group_size, count = i->groups.group_count;
	if (!size) {
		size = everybody;
		count = size ? 1 : 0;
	}
	c->group_size = sat_mul(size, per_id ? per_id : 1);
	c->groups = sat_mul(count, copies ? copies : 1);
}

static uint64_t distance(const struct hlo_dims *ids, ptrdiff_t from, ptrdiff_t to)
{
	return (uint64_t)ids->items[to] - (uint64_t)ids->items[from];
}

/* How many ids from the first on are as far apart as the first two. */
static ptrdiff_t row_length(const struct hlo_dims *ids)
{
	ptrdiff_t n = 1;
	while (n < ids->count && distance(ids, n - 1, n) == distance(ids, 0, 1))
		n++;
	return n;
}

/* Of neighbours that are all the same distance apart; else 0. */
static int64_t stride_of(const struct hlo_dims *ids)
{
	if (ids->count < 2 || row_length(ids) < ids->count)
		return 0;
	int64_t step = (int64_t)distance(ids, 0, 1);
	return step > 0 ? step : 0;
}

/* Two axes: rows of `inner` ids with one stride, rows a second stride apart. */
static struct str two_axes(const struct hlo_dims *ids, struct arena *keep)
{
	ptrdiff_t inner = ids->count > 3 ? row_length(ids) : 0;
	if (inner < 2 || ids->count % inner || inner == ids->count)
		return STR("irregular");
	uint64_t step = distance(ids, 0, 1), outer = distance(ids, 0, inner);
	for (ptrdiff_t k = 0; k < ids->count; k++)
		if (distance(ids, 0, k) !=
			(uint64_t)(k / inner) * outer + (uint64_t)(k % inner) * step)
			return STR("irregular");
	return arena_fmt(keep, "axes of %td and %td, strides %lld and %lld", ids->count / inner,
		inner, (long long)outer, (long long)step);
}

static void axis_of(const struct hlo_module *m, const struct hlo_instruction *i,
	struct hlo_collective *c, struct arena *keep)
{
	const struct hlo_dims *ids = &i->groups.first;
	int64_t devices = sat_mul(positive(m->replica_count), positive(m->partition_count));
	c->stride = stride_of(ids);
	if (!ids->count && c->group_size)
		c->stride = 1;
	if (!c->group_size)
		return;
	if (c->group_size == devices || (!ids->count && c->groups <= 1))
		c->axis = STR("all");
	else if (c->stride)
		c->axis = arena_fmt(keep, "axis of %lld, stride %lld", (long long)c->group_size,
			(long long)c->stride);
	else
		c->axis = c->group_size == 1 ? STR("none") : two_axes(ids, keep);
}

/* ---- permutes: a pair of one device with itself moves nothing -------------------------------- */

/* The devices that pairs join make a set: a chain, or a ring where its last sends to its first. */
struct joined {
	ptrdiff_t sets, rings;
	int64_t largest, smallest; /* devices of a set */
};

/* Disjoint sets over the devices that send or receive. */
struct device {
	int32_t parent; /* itself: it stands for its set, which has so many */
	int64_t devices, pairs;
};

static int32_t set_of(struct device *x, int32_t at)
{
	while (x[at].parent != at)
		at = x[at].parent = x[x[at].parent].parent;
	return at;
}

static int32_t device_of(struct map *ids, int64_t id, struct device *x, struct arena *scratch)
{
	int32_t next = (int32_t)ids->count, at = map_put_id(ids, id, next, scratch);
	if (at == next)
		x[at] = (struct device){ at, 1, 0 };
	return set_of(x, at);
}

static struct joined join_pairs(const struct hlo_instruction *i, struct arena scratch)
{
	struct joined ret = { .smallest = INT64_MAX };
	struct map ids = map_with_room(2 * i->pair_count, &scratch);
	struct device *x = arena_make(&scratch, struct device, 2 * i->pair_count);
	for (ptrdiff_t k = 0; k < i->pair_count; k++) {
		if (i->pairs[k].source == i->pairs[k].target)
			continue;
		int32_t a = device_of(&ids, i->pairs[k].source, x, &scratch);
		int32_t b = device_of(&ids, i->pairs[k].target, x, &scratch);
		x[a].pairs++;
		if (a == b)
			continue;
		int32_t large = x[a].devices < x[b].devices ? b : a, small = a + b - large;
		x[small].parent = large;
		x[large].devices += x[small].devices;
		x[large].pairs += x[small].pairs;
	}
	for (int32_t k = 0; k < ids.count; k++) {
		int64_t n = x[k].devices;
		if (x[k].parent != k)
			continue;
		ret.sets++;
		ret.rings += x[k].pairs == n;
		ret.largest = n > ret.largest ? n : ret.largest;
		ret.smallest = n < ret.smallest ? n : ret.smallest;
	}
	return ret;
}

static uint64_t apart(struct hlo_pair p)
{
	return p.source < p.target ? (uint64_t)p.target - (uint64_t)p.source
				   : (uint64_t)p.source - (uint64_t)p.target;
}

/* How far all pairs are apart, but for those that close a ring; 0 if they differ.  The direction
 * is that of all those pairs: 1 to higher ids, -1 to lower ones, 0 both. */
static int64_t shift_of(const struct hlo_instruction *i, int64_t ring, int *direction)
{
	uint64_t least = INT64_MAX;
	bool up = false, down = false;
	for (ptrdiff_t k = 0; k < i->pair_count; k++) {
		uint64_t d = apart(i->pairs[k]);
		least = d && d < least ? d : least;
	}
	for (ptrdiff_t k = 0; k < i->pair_count; k++) {
		uint64_t d = apart(i->pairs[k]);
		up |= d == least && i->pairs[k].source < i->pairs[k].target;
		down |= d == least && i->pairs[k].source > i->pairs[k].target;
		if (d && d != least && (d % least || d / least != (uint64_t)ring - 1))
			return 0;
	}
	*direction = up - down;
	return (int64_t)least;
}

static void pairs_of(const struct hlo_instruction *i, struct hlo_collective *c, struct arena *keep)
{
	if (!i->pair_count)
		return;
	struct joined all = join_pairs(i, *keep);
	c->groups = all.sets;
	c->group_size = all.sets ? all.largest : 1;
	c->axis = STR("none");
	if (!all.sets)
		return;
	bool alike = all.largest == all.smallest && (!all.rings || all.rings == all.sets);
	c->stride = shift_of(i, all.rings ? all.largest : 0, &c->direction);
	struct str stride =
		c->stride ? arena_fmt(keep, ", stride %lld", (long long)c->stride) : STR("");
	c->axis = arena_fmt(keep, "%s of %s%lld%.*s",
		!alike	    ? "sets"
		: all.rings ? "ring"
			    : "chain",
		alike ? "" : "up to ", (long long)all.largest, STR_ARG(stride));
}

/* From an operand back to where it comes from; longer ways have done work on the way. */
enum { MAX_WAY = 32 };

struct origin {
	ptrdiff_t instruction; /* -1 unknown */
	bool sliced;	       /* one layer's share of stacked arrays */
};

static struct origin origin_of(const struct hlo_module *m, ptrdiff_t instruction)
{
	const unsigned through = THROUGH_BITCASTS | THROUGH_RESHAPES | THROUGH_COPIES |
				 THROUGH_ELEMENTS | THROUGH_MOVES;
	struct origin o = { instruction, false };
	for (int n = 0; n < MAX_WAY; n++) {
		o.instruction = hlo_walk(m, o.instruction, through);
		if (o.instruction < 0)
			break;
		const struct hlo_instruction *i = &m->instructions[o.instruction];
		const struct hlo_inside *x = i->op == HLO_FUSION ? inside_of(m, i) : NULL;
		o.sliced |= i->op == HLO_DYNAMIC_SLICE || (x && x->slices);
		if (!i->operand_count || !(x ? x->only_hands_on : i->op == HLO_DYNAMIC_SLICE))
			break;
		o.instruction = i->operands[0];
	}
	return o;
}

/* How far behind an async-start without operands its update is looked for. */
enum { MAX_DISTANCE = 512 };

/* What the send gives that has the recv's token: they are two halves of one. */
static ptrdiff_t sent_with(const struct hlo_module *m, const struct hlo_instruction *recv)
{
	const struct hlo_computation *c = &m->computations[recv->computation];
	ptrdiff_t at = recv - m->instructions, end = c->first + c->count;
	ptrdiff_t from = at - MAX_DISTANCE > c->first ? at - MAX_DISTANCE : c->first;
	for (ptrdiff_t k = from; recv->operand_count && k < end && k < at + MAX_DISTANCE; k++) {
		const struct hlo_instruction *x = &m->instructions[k];
		if (x->op == HLO_SEND && x->operand_count > 1 &&
			x->operands[1] == recv->operands[0] && x->operands[1] >= 0)
			return x->operands[0];
	}
	return -1;
}

/*
 * What the collective works on, seen from outside its wrapper.  A start that takes nothing (TPU
 * SparseCore) gets its operand by the update that follows: async-update(start, operand).
 */
static ptrdiff_t argument(const struct hlo_module *m, const struct hlo_instruction *outer,
	const struct hlo_instruction *i)
{
	const struct hlo_computation *c = &m->computations[outer->computation];
	ptrdiff_t start = outer - m->instructions, end = c->first + c->count;
	if (i->op == HLO_RECV)
		return sent_with(m, i);
	if (outer->operand_count)
		return outer->operands[0];
	for (ptrdiff_t k = start + 1; k < end && k < start + MAX_DISTANCE; k++) {
		const struct hlo_instruction *x = &m->instructions[k];
		if (x->op == HLO_ASYNC_UPDATE && x->operand_count > 1 && x->operands[0] == start)
			return x->operands[1];
	}
	return i->operand_count ? i->operands[0] : -1;
}

/*
 * Parameters of the program, and slices of what a loop carries (one layer of stacked weights), are
 * parameters.
 */
static struct str operand_kind(const struct hlo_module *m, const struct hlo_instruction *outer,
	const struct hlo_instruction *i)
{
	struct origin o = origin_of(m, argument(m, outer, i));
	const struct hlo_instruction *from =
		o.instruction >= 0 ? &m->instructions[o.instruction] : NULL;
	if (from && from->op == HLO_PARAMETER && (from->computation == m->entry || o.sliced))
		return STR("parameter");
	if (hlo_is_backward(i) || (from && hlo_is_backward(from)))
		return STR("gradient");
	bool named = i->op_name.len || (from && from->op_name.len);
	return named ? STR("activation") : MISSING;
}

/* What a recv gets is its share of the result. */
static void between_slices(
	const struct hlo_instruction *i, struct hlo_collective *c, struct arena *keep)
{
	struct transfer_group g = transfer_group(i);
	const struct shape *got = shape_leaf(&i->shape, 0);
	bool shard = c->kind == KIND_REDUCE_SCATTER || c->kind == KIND_ALL_TO_ALL;
	c->between_slices = true;
	c->group_size = g.members;
	c->groups = g.groups;
	c->axis = g.members ? arena_fmt(keep, "%lld slices", (long long)g.members) : STR("slices");
	c->message_bytes = got ? shape_logical_bytes(got) : 0;
	if (shard && g.members)
		c->message_bytes = sat_mul(c->message_bytes, g.members);
}

static bool is_half(const struct hlo_module *m, ptrdiff_t instruction)
{
	const struct hlo_instruction *i = &m->instructions[instruction];
	if (i->op == HLO_FUSION)
		return collective_half(m, i) != HALF_NONE;
	return transfer_kind(i) != KIND_UNKNOWN || i->op == HLO_ASYNC_UPDATE || hlo_starts(i) ||
	       hlo_ends(i);
}

static void within_slice(const struct hlo_module *m, const struct hlo_instruction *i,
	struct hlo_collective *c, struct arena *keep)
{
	if (c->kind == KIND_PERMUTE) {
		pairs_of(i, c, keep);
	} else {
		groups_of(m, i, c);
		axis_of(m, i, c, keep);
	}
	c->message_bytes = message_bytes(m, i, c->kind, c->group_size);
	c->at_most = i->op == HLO_RAGGED_ALL_TO_ALL;
}

bool hlo_collective(const struct hlo_module *m, ptrdiff_t instruction, struct arena *keep,
	struct hlo_collective *ret)
{
	ptrdiff_t start = hlo_async_start(m, instruction);
	const struct hlo_instruction *outer = &m->instructions[start >= 0 ? start : instruction];
	ptrdiff_t inner = hlo_unwrap(m, outer - m->instructions);
	const struct hlo_instruction *i = &m->instructions[inner];
	enum op_kind kind = collective_kind(m, i);
	if (kind == KIND_UNKNOWN)
		return false;
	*ret = (struct hlo_collective){
		.kind = kind, .instruction = inner, .is_async = is_half(m, instruction)
	};
	if (i->op == HLO_RECV)
		between_slices(i, ret, keep);
	else
		within_slice(m, i, ret, keep);
	ret->wire_bytes = wire_bytes(kind, ret->message_bytes, ret->group_size);
	ret->operand_kind = operand_kind(m, outer, i);
	return true;
}
