/*
 * A profile from what was put aside: blocks are the chunks of lanes, entries the names of planes.
 * See trace.h.
 */
#include "profile/trace.h"

static struct str piece(const struct trace *t, int64_t at, ptrdiff_t len)
{
	return str_head(str_from_offset(t->profile->input->bytes, (ptrdiff_t)at), len);
}

static void stats_build(struct trace *t, const struct trace_plane *from, struct plane_part *part)
{
	ptrdiff_t count = STAT_COUNT + from->ref_count;
	int64_t *ids = arena_make(t->keep, int64_t, count);
	part->known = from->seen;
	part->texts = arena_make(t->keep, struct str, count);
	for (ptrdiff_t i = 0; i < count; i++) {
		ids[i] = TRACE_STAT_ID + i;
		part->texts[i] = i < STAT_COUNT ? stat_name_of((int)i) : from->refs[i - STAT_COUNT];
	}
	part->stats = map_of_ids(ids, NULL, count, t->keep);
}

static void names_build(struct trace *t, const struct trace_plane *from, struct plane *p)
{
	int64_t *ids = arena_make(t->keep, int64_t, from->name_count);
	p->names = arena_make(t->keep, struct plane_name, from->name_count);
	p->name_count = from->name_count;
	for (ptrdiff_t i = 0; i < from->name_count; i++) {
		const struct trace_name *n = &from->names[i];
		ids[i] = i;
		p->names[i] = (struct plane_name){ .entry = piece(t, n->at, n->len),
			.name = piece(t, n->at + n->name, n->name_len),
			.id = i,
			.op = -1 };
		if (p->class == PLANE_HOST)
			p->names[i].host = (int8_t)host_class_of(p->names[i].name);
	}
	p->parts[0].names = map_of_ids(ids, NULL, from->name_count, t->keep);
}

static void lane_build(struct trace *t, const struct trace_lane *from, struct plane *p)
{
	struct lane *l = arena_push(t->keep, p->lanes, p->lane_count, p->lane_cap);
	*l = (struct lane){ .name = from->name, .id = from->id };
	l->class = lane_class_of(l->name, p->class, l->id);
	l->chunks = arena_make(t->keep, struct lane_chunk, from->block_count);
	l->chunk_count = l->chunk_cap = from->block_count;
	l->bytes = from->written;
	for (ptrdiff_t i = 0; i < from->block_count; i++)
		l->chunks[i] = (struct lane_chunk){ .base_ps = from->blocks[i].base_ps,
			.bytes = piece(t, from->blocks[i].at, from->blocks[i].len) };
}

/* A GPU's maker is not told; the names of AMD's own kernels tell. */
static void plane_build(struct trace *t, struct trace_plane *from, struct plane *p)
{
	*p = (struct plane){ .profile = t->profile, .name = from->name, .keep = t->keep };
	p->class = plane_class_of(p->name, &p->platform, &p->ordinal);
	if (p->class == PLANE_DEVICE && p->platform == PLATFORM_UNKNOWN)
		p->platform = from->amd ? PLATFORM_AMD : PLATFORM_NVIDIA;
	p->chip = CHIP_HINTS_NONE;
	p->parts = arena_make(t->keep, struct plane_part, 1);
	p->part_count = p->part_cap = 1;
	stats_build(t, from, &p->parts[0]);
	names_build(t, from, p);
	for (ptrdiff_t i = 0; i < t->lane_count; i++)
		if (t->lanes[i]->plane == from)
			lane_build(t, t->lanes[i], p);
}

/* Texts of ops go to the programs they were met in, each once, in the order of the file. */
static void programs_build(struct trace *t)
{
	struct profile *profile = t->profile;
	ptrdiff_t *caps_of = arena_make(t->scratch, ptrdiff_t, profile->hlo_count);
	struct map seen = { 0 };
	for (ptrdiff_t i = 0; i < t->plane_count; i++)
		for (ptrdiff_t k = 0; k < t->planes[i]->name_count; k++) {
			const struct trace_name *n = &t->planes[i]->names[k];
			if (n->program < 0)
				continue;
			struct hlo_entry *h = &profile->hlo[n->program];
			struct str text = piece(t, n->at + n->name, n->name_len);
			int64_t key = (int64_t)hash_mix(h->program ^ str_hash(text));
			if (map_get_id(&seen, key) >= 0)
				continue;
			map_put_id(&seen, key, 0, t->scratch);
			*arena_push(t->keep, h->ops, h->op_count, caps_of[n->program]) = text;
		}
}

bool trace_build(struct trace *t, struct diag *err)
{
	struct profile *profile = t->profile;
	profile->planes = arena_make(t->keep, struct plane, t->plane_count);
	profile->plane_count = t->plane_count;
	for (ptrdiff_t i = 0; i < t->plane_count; i++) {
		plane_build(t, t->planes[i], &profile->planes[i]);
		if (!plane_shift(&profile->planes[i], profile->input->bytes, err))
			return false;
	}
	programs_build(t);
	return cpu_planes(profile, t->keep, err);
}
