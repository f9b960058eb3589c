#include "measure/subject.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/text.h"

/* Distinct ops of all programs of a run; twice what the largest known step has. */
#define SUBJECTS_MAX (4 << 20)

struct registry {
	struct arena *keep;
	struct diag_list *notes;
	struct profile *hosts;
	ptrdiff_t host_count;
	struct program **programs;
	ptrdiff_t program_count, program_cap;
	struct subject **subjects;
	ptrdiff_t subject_count, subject_cap;
	int32_t *slots; /* subjects by (program, instruction or name); -1 empty */
	uint64_t mask;
	pthread_mutex_t lock;
};

static void slots_resize(struct registry *r, uint64_t slots);

struct registry *registry_new(
	struct profile *hosts, ptrdiff_t host_count, struct arena *keep, struct diag_list *notes)
{
	struct registry *r = arena_make(keep, struct registry, 1);

	*r = (struct registry){
		.keep = keep, .notes = notes, .hosts = hosts, .host_count = host_count
	};
	pthread_mutex_init(&r->lock, NULL);
	slots_resize(r, 256);
	return r;
}

void registry_free(struct registry *r)
{
	pthread_mutex_destroy(&r->lock);
}

static uint64_t subject_hash(const struct program *p, ptrdiff_t instruction, struct str name)
{
	uint64_t h = instruction >= 0 ? (uint64_t)instruction : str_hash(name);

	h = (h ^ (uint64_t)(uint32_t)p->index << 40) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 31;
}

static void slots_resize(struct registry *r, uint64_t slots)
{
	r->mask = slots - 1;
	r->slots = arena_make(r->keep, int32_t, (ptrdiff_t)slots);
	for (uint64_t i = 0; i < slots; i++)
		r->slots[i] = -1;
	for (ptrdiff_t i = 0; i < r->subject_count; i++) {
		const struct subject *s = r->subjects[i];
		uint64_t at = subject_hash(s->program, s->instruction, s->name) & r->mask;
		while (r->slots[at] >= 0)
			at = (at + 1) & r->mask;
		r->slots[at] = (int32_t)i;
	}
}

static int32_t *subject_slot(
	struct registry *r, const struct program *p, ptrdiff_t instruction, struct str name)
{
	uint64_t at = subject_hash(p, instruction, name) & r->mask;

	for (; r->slots[at] >= 0; at = (at + 1) & r->mask) {
		const struct subject *s = r->subjects[r->slots[at]];
		if (s->program == p && s->instruction == instruction &&
			(instruction >= 0 || str_eq(s->name, name)))
			break;
	}
	return &r->slots[at];
}

static const struct hlo_entry *hlo_entry_of(const struct profile *host, uint64_t id)
{
	for (ptrdiff_t i = 0; i < host->hlo_count; i++)
		if (host->hlo[i].program == id)
			return &host->hlo[i];
	return NULL;
}

static bool same_bytes(struct str a, struct str b)
{
	return a.len == b.len && (a.p == b.p || str_eq(a, b));
}

static bool scope_is_backward(struct str op_name)
{
	return str_contains(op_name, STR("transpose(jvp"));
}

static void program_hlo(struct registry *r, struct program *p, const struct profile *host)
{
	static _Thread_local struct diag err;

	p->hlo = hlo_module_parse(p->proto, host->input->bytes, r->keep, &err);
	if (!p->hlo) {
		diag_note(
			r->notes, r->keep, err.id, "module %.*s: %s", STR_ARG(p->module), err.text);
		return;
	}
	p->costs = hlo_costs_new(p->hlo, p->platform, r->keep);
	for (ptrdiff_t i = 0; i < p->hlo->instruction_count && !p->has_gradient; i++)
		p->has_gradient = scope_is_backward(p->hlo->instructions[i].op_name);
}

static enum hlo_platform hlo_platform_of(enum platform p)
{
	return p == PLATFORM_TPU ? HLO_TPU : p == PLATFORM_CPU ? HLO_CPU : HLO_GPU;
}

/* Equal ids with equal HLO are one program, on however many hosts. */
static struct program *program_of(
	struct registry *r, const struct plane *plane, uint64_t id, struct str module)
{
	const struct hlo_entry *e = id == PROGRAM_UNKNOWN ? NULL : hlo_entry_of(plane->profile, id);
	struct str proto = e ? e->proto : (struct str){ 0 };

	for (ptrdiff_t i = 0; i < r->program_count; i++)
		if (r->programs[i]->id == id && same_bytes(r->programs[i]->proto, proto))
			return r->programs[i];
	struct program *p = arena_make(r->keep, struct program, 1);
	*arena_push(r->keep, r->programs, r->program_count, r->program_cap) = p;
	p->index = (int32_t)(r->program_count - 1);
	p->id = id;
	p->module = text_clean(r->keep, e ? e->name : module.p ? module : STR("(no program)"));
	p->proto = proto;
	p->platform = hlo_platform_of(plane->platform);
	if (proto.len > 0)
		program_hlo(r, p, plane->profile);
	return p;
}

static void subject_attribute(struct subject *s)
{
	const struct hlo_module *m = s->program->hlo;

	/* A memory copy needs no instruction to be known for what it is. */
	bool named = s->said.hlo_op.len > 0 || s->said.copy != COPY_NONE;

	s->instruction = -1;
	s->attribution = named ? ATTRIBUTION_PROFILE : ATTRIBUTION_NONE;
	if (!m || s->said.hlo_op.len == 0)
		return;
	s->instruction = hlo_find_exact(m, s->said.hlo_op);
	s->attribution = ATTRIBUTION_EXACT;
	if (s->instruction >= 0)
		return;
	s->instruction = hlo_find(m, s->said.hlo_op);
	s->attribution = s->instruction >= 0 ? ATTRIBUTION_NAME : ATTRIBUTION_PROFILE;
}

static enum async_role async_role_of(struct str opcode)
{
	if (str_ends(opcode, STR("-start")))
		return ASYNC_START;
	return str_ends(opcode, STR("-done")) ? ASYNC_DONE : ASYNC_NONE;
}

/* Counting stops at two: only one op or several matters. */
static bool runs_alone(const struct hlo_module *m, const struct hlo_computation *c)
{
	int work = 0;

	for (ptrdiff_t i = c->first; i < c->first + c->count && work < 2; i++)
		work += opcode_rule(m->instructions[i].op) != HLO_RULE_FREE;
	return work < 2;
}

static void subject_understand(struct subject *s)
{
	const struct hlo_module *m = s->program->hlo;

	s->kind = kind_decide(s->program, s->instruction, &s->said, s->platform);
	s->start = -1;
	s->groups_kernels = s->said.hlo_op.len > 0 &&
			    (s->platform == PLATFORM_AMD || s->platform == PLATFORM_NVIDIA);
	s->may_mark = s->said.hlo_op.len > 0;
	s->alone = true;
	if (s->instruction < 0)
		return;
	const struct hlo_instruction *i = &m->instructions[s->instruction];
	s->may_mark = !m->computations[i->computation].in_loop;
	s->alone = runs_alone(m, &m->computations[i->computation]);
	/* On GPU the start's kernel is the transfer itself and a done has none. */
	if (s->platform == PLATFORM_TPU)
		s->async = async_role_of(i->opcode);
}

static struct subject *subject_add(struct registry *r, const struct subject *like)
{
	struct subject *s = arena_make(r->keep, struct subject, 1);

	*s = *like;
	s->name = text_clean(r->keep, s->name);
	*arena_push(r->keep, r->subjects, r->subject_count, r->subject_cap) = s;
	s->index = (int32_t)(r->subject_count - 1);
	subject_understand(s);
	if ((uint64_t)r->subject_count * 2 > r->mask)
		slots_resize(r, (r->mask + 1) * 4);
	else
		*subject_slot(r, s->program, s->instruction, s->name) = s->index;
	return s;
}

static struct subject *subject_get(struct registry *r, const struct subject *like)
{
	int32_t at = *subject_slot(r, like->program, like->instruction, like->name);

	return at >= 0 ? r->subjects[at] : subject_add(r, like);
}

/* A done needs its start's subject even when the start's event comes later or never. */
static void subject_pair(struct registry *r, struct subject *done)
{
	ptrdiff_t start = hlo_async_start(done->program->hlo, done->instruction);

	if (start < 0)
		return;
	struct subject like = { .program = done->program,
		.instruction = start,
		.name = done->program->hlo->instructions[start].name,
		.said = { .hlo_op = done->program->hlo->instructions[start].name,
			.program = done->said.program,
			.flops = NAN,
			.model_flops = NAN,
			.bytes_accessed = NAN,
			.hbm_read_bytes = NAN,
			.hbm_write_bytes = NAN },
		.platform = done->platform,
		.attribution = ATTRIBUTION_EXACT };
	done->start = subject_get(r, &like)->index;
}

static struct subject *subject_resolve(struct registry *r, const struct plane *p, int32_t op)
{
	const struct profile_op *said = &p->ops[op];
	struct subject like = { .said = *said, .platform = p->platform };

	like.program = program_of(r, p, said->program, said->module);
	subject_attribute(&like);
	like.name = like.instruction >= 0  ? like.program->hlo->instructions[like.instruction].name
		    : said->hlo_op.len > 0 ? said->hlo_op
					   : said->name;
	ptrdiff_t before = r->subject_count;
	struct subject *s = subject_get(r, &like);
	if (r->subject_count == before && s->said.name.p == NULL)
		s->said = *said; /* it was made for its done; now its own words are known */
	if (s->async == ASYNC_DONE && s->start < 0)
		subject_pair(r, s);
	return s;
}

struct subject *registry_subject(struct registry *r, const struct plane *p, int32_t op)
{
	pthread_mutex_lock(&r->lock);
	struct subject *s = subject_resolve(r, p, op);
	pthread_mutex_unlock(&r->lock);
	return s;
}

ptrdiff_t registry_subject_count(const struct registry *r)
{
	return r->subject_count;
}

struct subject *registry_subject_at(const struct registry *r, ptrdiff_t i)
{
	return r->subjects[i];
}

ptrdiff_t registry_program_count(const struct registry *r)
{
	return r->program_count;
}

struct program *registry_program_at(const struct registry *r, ptrdiff_t i)
{
	return r->programs[i];
}
