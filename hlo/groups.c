/*
 * Replica groups: who takes part in a collective.
 *
 * Three spellings of one thing.  Only the first group is expanded:
 *
 *	ReplicaGroup		{{0,1},{2,3}}	(field 49, and inside field 87)
 *	IotaReplicaGroupList	[2,4]<=[4,2]T(1,0)	(field 92, and inside field 87)
 *	MeshAxesReplicaGroupList	mesh['a'=2,'b'=4] {'b'}	(field 93)
 *
 * No group at all, or one empty group, means one group of everybody.
 */
#include "hlo/internal.h"

#include "base/saturate.h"

/* An empty group is not counted. */
void groups_add(struct hlo_replica_groups *g, const struct hlo_dims *ids)
{
	if (!g->first.count)
		g->first = *ids;
	g->group_count += ids->count > 0;
	if (ids->count > g->group_size)
		g->group_size = ids->count;
}

static const struct read_rule group_table_rules[] = {
	[1] = READ_NUMBERS(struct hlo_dims, items, count),
};
READ_TABLE(group_table, "ReplicaGroup");

/* Of all but the first only the number of their members is kept. */
bool read_replica_group(struct reader *r, const struct wire_field *f, void *into)
{
	struct hlo_replica_groups *g = into;
	struct hlo_dims ids = { NULL, 0 };
	struct arena scratch = *r->keep;
	struct reader one = *r;
	if (g->first.count)
		one.keep = &scratch;
	if (!read_message(&one, &group_table, f->bytes, &ids))
		return false;
	if (ids.count > HLO_MAX_GROUP)
		return read_refuse(r, f->bytes, group_table.message, "the group is too large");
	groups_add(g, &ids);
	return true;
}

/*
 * The numbers 0 .. product(dims)-1 as an array of those dimensions, transposed, read in order:
 * element k of that list.
 */
struct iota {
	int64_t dims[MAX_AXES], strides[MAX_AXES]; /* after the transposition */
	ptrdiff_t rank;
	int64_t total;
};

static bool iota_init(struct iota *x, const struct hlo_dims *dims, const struct hlo_dims *perm)
{
	int64_t strides[MAX_AXES];
	if (dims->count > MAX_AXES || (perm->count && perm->count != dims->count))
		return false;
	x->rank = dims->count;
	x->total = 1;
	for (ptrdiff_t i = x->rank; i-- > 0;) {
		if (dims->items[i] <= 0)
			return false;
		strides[i] = x->total;
		x->total = sat_mul(x->total, dims->items[i]);
	}
	if (x->total > INT32_MAX)
		return false;
	uint64_t seen = 0;
	for (ptrdiff_t i = 0; i < x->rank; i++) {
		int64_t from = perm->count ? perm->items[i] : i;
		if (from < 0 || from >= x->rank || (seen >> from & 1))
			return false;
		seen |= (uint64_t)1 << from;
		x->dims[i] = dims->items[from];
		x->strides[i] = strides[from];
	}
	return true;
}

static int64_t iota_at(const struct iota *x, int64_t k)
{
	int64_t value = 0;
	for (ptrdiff_t i = x->rank; i-- > 0;) {
		value += k % x->dims[i] * x->strides[i];
		k /= x->dims[i];
	}
	return value;
}

static int64_t *first_new(
	struct arena *keep, struct hlo_replica_groups *g, int64_t groups, int64_t size)
{
	*g = (struct hlo_replica_groups){ .group_count = groups, .group_size = size };
	g->first.count = (ptrdiff_t)size;
	g->first.items = arena_make(keep, int64_t, (ptrdiff_t)size);
	return g->first.items;
}

/* A list that contradicts itself costs the group's size, not the module. */
static void unreadable(struct hlo_replica_groups *g)
{
	*g = (struct hlo_replica_groups){ .unreadable = true };
}

struct iota_proto {
	int64_t groups, size;
	struct hlo_dims dims, perm;
};

static const struct read_rule iota_table_rules[] = {
	[1] = READ_FIELD(INT, struct iota_proto, groups),
	[2] = READ_FIELD(INT, struct iota_proto, size),
	[3] = READ_DIMS(struct iota_proto, dims),
	[4] = READ_DIMS(struct iota_proto, perm),
};
READ_TABLE(iota_table, "IotaReplicaGroupListProto");

static bool groups_fit(int64_t groups, int64_t size, int64_t total)
{
	return groups > 0 && size > 0 && size <= HLO_MAX_GROUP && sat_mul(groups, size) == total;
}

void groups_of_iota(struct hlo_replica_groups *g, int64_t groups, int64_t size,
	const struct hlo_dims *dims, const struct hlo_dims *perm, struct arena *keep)
{
	struct iota x;
	if (!iota_init(&x, dims, perm) || !groups_fit(groups, size, x.total)) {
		unreadable(g);
		return;
	}
	int64_t *first = first_new(keep, g, groups, size);
	for (int64_t k = 0; k < size; k++)
		first[k] = iota_at(&x, k);
}

bool read_iota_groups(struct reader *r, const struct wire_field *f, void *into)
{
	struct iota_proto p = { 0 };
	if (!read_message(r, &iota_table, f->bytes, &p))
		return false;
	groups_of_iota(into, p.groups, p.size, &p.dims, &p.perm, r->keep);
	return true;
}

static const struct read_rule device_list_table_rules[] = {
	[1] = { .kind = READ_CALL, .read = read_replica_group },
	[2] = { .kind = READ_CALL, .read = read_iota_groups },
};
READ_SHARED(device_list_table, "CollectiveDeviceListProto");

static const struct read_rule axis_table_rules[] = {
	[2] = { .kind = READ_INT }, /* its size */
};
READ_TABLE(axis_table, "MeshAxis");

void mesh_add(struct mesh *m, int64_t size)
{
	if (m->axis_count == MAX_AXES || size <= 0 || size > INT32_MAX)
		m->bad = true;
	else
		m->sizes[m->axis_count++] = size;
}

static bool read_axis(struct reader *r, const struct wire_field *f, void *into)
{
	int64_t size = 0;
	if (!read_message(r, &axis_table, f->bytes, &size))
		return false;
	mesh_add(into, size);
	return true;
}

static const struct read_rule transform_table_rules[] = {
	[1] = READ_DIMS(struct mesh, reshape),
	[2] = READ_DIMS(struct mesh, perm),
};
READ_TABLE(transform_table, "MeshProto.IotaTransform");

static const struct read_rule mesh_table_rules[] = {
	[1] = { .kind = READ_CALL, .read = read_axis },
	[2] = READ_DIMS(struct mesh, device_ids),
	[3] = { .kind = READ_MESSAGE, .table = &transform_table },
};
READ_TABLE(mesh_table, "MeshProto");

static const struct read_rule part_table_rules[] = {
	[1] = READ_FIELD(INT, struct axis_ref, pre_size),
	[2] = READ_FIELD(INT, struct axis_ref, size),
};
READ_TABLE(part_table, "AxisRefProto.SubAxis");

static const struct read_rule ref_table_rules[] = {
	[1] = READ_FIELD(INT, struct axis_ref, axis),
	[2] = { .kind = READ_MESSAGE, .table = &part_table },
};
READ_TABLE(ref_table, "AxisRefProto");

/* The mesh comes first on the wire (field 1), so its axes are known here. */
void mesh_take(struct mesh *m, struct axis_ref ref)
{
	m->bad |= ref.axis < 0 || ref.axis >= m->axis_count || m->over_count == MAX_AXES;
	if (m->bad)
		return;
	int64_t full = m->sizes[ref.axis], inner = 1;
	if (!ref.size) {
		ref.pre_size = 1;
		ref.size = full;
	}
	/* A part divides its axis. */
	m->bad |= ref.pre_size < 1 || ref.size < 1 || ref.pre_size > full || ref.size > full ||
		  full % (ref.pre_size * ref.size);
	if (m->bad)
		return;
	for (ptrdiff_t i = ref.axis + 1; i < m->axis_count; i++)
		inner = sat_mul(inner, m->sizes[i]);
	m->over[m->over_count++] =
		(struct axis){ ref.size, sat_mul(inner, full / (ref.pre_size * ref.size)) };
}

static bool read_ref(struct reader *r, const struct wire_field *f, void *into)
{
	struct axis_ref ref = { 0 };
	if (!read_message(r, &ref_table, f->bytes, &ref))
		return false;
	mesh_take(into, ref);
	return true;
}

static const struct read_rule groups_table_rules[] = {
	[1] = { .kind = READ_MESSAGE, .table = &mesh_table },
	[2] = { .kind = READ_CALL, .read = read_ref },
};
READ_TABLE(groups_table, "MeshAxesReplicaGroupListProto");

/* How mesh positions become device ids: a list, a transposed iota, or as they are. */
static bool device_order(const struct mesh *m, int64_t total, struct iota *x)
{
	int64_t one[1] = { total };
	struct hlo_dims flat = { one, 1 }, none = { NULL, 0 };
	if (m->device_ids.count && m->device_ids.count != total)
		return false;
	bool ok =
		m->reshape.count ? iota_init(x, &m->reshape, &m->perm) : iota_init(x, &flat, &none);
	return ok && x->total == total;
}

void groups_of_mesh(struct hlo_replica_groups *g, const struct mesh *m, struct arena *keep)
{
	struct iota x;
	if (!m->axis_count && !m->bad)
		return; /* no mesh to speak of: everybody */
	/* XLA has no groups of one: where no axes are named, all of the mesh is one group. */
	int64_t total = 1, size = 1;
	for (ptrdiff_t i = 0; i < m->axis_count; i++)
		total = sat_mul(total, m->sizes[i]);
	for (ptrdiff_t i = 0; i < m->over_count; i++)
		size = sat_mul(size, m->over[i].size);
	if (!m->over_count)
		size = total;
	if (m->bad || !groups_fit(total / size, size, total) || !device_order(m, total, &x)) {
		unreadable(g);
		return;
	}
	int64_t *first = first_new(keep, g, total / size, size);
	for (int64_t k = 0; k < size; k++) {
		int64_t at = m->over_count ? 0 : k, rest = k;
		for (ptrdiff_t i = m->over_count; i-- > 0; rest /= m->over[i].size)
			at += rest % m->over[i].size * m->over[i].stride;
		at %= total; /* axes named twice could lead past the mesh */
		first[k] = m->device_ids.count ? m->device_ids.items[at] : iota_at(&x, at);
	}
}

bool read_mesh_groups(struct reader *r, const struct wire_field *f, void *into)
{
	struct mesh m = { 0 };
	if (!read_message(r, &groups_table, f->bytes, &m))
		return false;
	groups_of_mesh(into, &m, r->keep);
	return true;
}
