/* Programs and ops of a run, each known once whatever plane or thread met it.  See subject.h. */
#include "measure/subject.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/stats.h"
#include "base/text.h"
#include "hlo/text.h"
#include "measure/dumped.h"

/* Distinct ops of all programs of a run; more share one subject, and `full` says so. */
#define SUBJECTS_MAX (4 << 20)

struct registry {
	const struct profile *hosts;
	ptrdiff_t host_count;
	struct map *listed;	     /* by host: its list of programs, by id */
	struct profile_texts *texts; /* by host, read when first asked for */
	struct map unlisted; /* the others, by name_hash: the first of those that share one */
	struct arena *keep;
	struct diag_list *notes;
	struct dump *dump; /* NULL: none */
	struct program **programs;
	ptrdiff_t program_count, program_cap;
	struct subject **subjects;
	ptrdiff_t subject_count, subject_cap;
	const struct subject **subjects_ranked; /* so many, */
	const struct program **programs_ranked;
	ptrdiff_t subjects_ranked_count, programs_ranked_count; /* as there were then */
	pthread_mutex_t lock;
	struct arena scratch;	 /* for what is looked up: each device asks for each op */
	struct kernels *kernels; /* asked under the lock, as is */
	struct shelf *shelf;
};

/* Programs. */

/*
 * Hosts of one job give a program the same id and name.  Its bytes may still differ a little: a
 * counter of the process, the order of a map's entries.  A program that differs by more is another.
 */
#define PROTO_SLACK 64

static int64_t name_hash(uint64_t id, struct str module)
{
	return (int64_t)(id ^ str_hash(module));
}

/* MAP_NONE: there is none.  Where no module is named the number alone says which it is. */
static int32_t program_named(
	const struct registry *r, const struct map *by_name, uint64_t id, struct str module)
{
	int32_t i = map_get_id(by_name, name_hash(id, module));

	while (i != MAP_NONE &&
		(r->programs[i]->id != id || (module.p && !str_eq(r->programs[i]->module, module))))
		i = r->programs[i]->next_of_hash;
	return i;
}

/* `by_name` is NULL for one that is not looked up by its name. */
static struct program *program_add(
	struct registry *r, struct map *by_name, uint64_t id, struct str module)
{
	struct program *p = arena_make(r->keep, struct program, 1);

	*arena_push(r->keep, r->programs, r->program_count, r->program_cap) = p;
	p->index = (int32_t)(r->program_count - 1);
	p->id = id;
	p->module = arena_str(r->keep, module); /* the file's own would keep pages of all files */
	p->kernels = r->kernels;
	p->hlo = shelved_new(r->shelf);
	p->next_of_hash = MAP_NONE;
	int32_t first =
		by_name ? map_put_id(by_name, name_hash(id, module), p->index, r->keep) : p->index;
	if (first != p->index) {
		p->next_of_hash = r->programs[first]->next_of_hash;
		r->programs[first]->next_of_hash = p->index;
	}
	return p;
}

static int32_t listed_program(struct registry *r, struct map *by_name, const struct profile *host,
	const struct hlo_entry *e)
{
	struct str module = text_clean(r->keep, e->name);
	int32_t known = program_named(r, by_name, e->program, module);
	ptrdiff_t differ = known == MAP_NONE ? 0 : r->programs[known]->proto.len - e->proto.len;

	if (known != MAP_NONE && differ <= PROTO_SLACK && differ >= -PROTO_SLACK)
		return known;
	struct program *p = program_add(r, known == MAP_NONE ? by_name : NULL, e->program, module);
	p->by_name = e->by_name;
	p->proto = e->proto;
	p->ops = e->ops;
	p->op_count = e->op_count;
	p->from = host;
	return p->index;
}

struct registry *registry_new(struct profile *hosts, ptrdiff_t host_count, struct dump *dump,
	struct kernels *kernels, struct arena *keep, struct diag_list *notes)
{
	struct registry *r = arena_make(keep, struct registry, 1);
	struct map by_name = { 0 }; /* of those that hosts list, by name_hash */

	*r = (struct registry){ .hosts = hosts,
		.host_count = host_count,
		.keep = keep,
		.notes = notes,
		.dump = dump,
		.kernels = kernels,
		.shelf = shelf_new(keep) };
	pthread_mutex_init(&r->lock, NULL);
	r->scratch = arena_new(ARENA_SCRATCH_BYTES);
	r->listed = arena_make(keep, struct map, host_count);
	r->texts = arena_make(keep, struct profile_texts, host_count);
	/* Hosts in order, so that numbers and texts do not depend on which thread came first. */
	for (ptrdiff_t h = 0; h < host_count; h++)
		for (ptrdiff_t i = 0; i < hosts[h].hlo_count; i++) {
			const struct hlo_entry *e = &hosts[h].hlo[i];
			if (map_get_id(&r->listed[h], (int64_t)e->program) == MAP_NONE)
				map_put_id(&r->listed[h], (int64_t)e->program,
					listed_program(r, &by_name, &hosts[h], e), keep);
		}
	return r;
}

void registry_free(struct registry *r)
{
	arena_free(&r->scratch);
	for (ptrdiff_t i = 0; i < r->program_count; i++)
		arena_free(&r->programs[i]->told);
	shelf_free(r->shelf);
	pthread_mutex_destroy(&r->lock);
}

/* The first op of a partial module that a whole one does not have; -1 when it has all of them. */
static ptrdiff_t first_absent(const struct hlo_module *partial, const struct hlo_module *whole)
{
	for (ptrdiff_t i = 0; i < partial->instruction_count; i++)
		if (partial->instructions[i].op != HLO_PARAMETER &&
			hlo_find_exact(whole, partial->instructions[i].name) < 0)
			return i;
	return -1;
}

/* What the profile's own module does not say, as far as the dump's is the same program. */
static struct hlo_module *complete_from_dump(struct registry *r, struct program *p,
	struct hlo_module *mine, struct hlo_module *m, const struct dump_module *from)
{
	ptrdiff_t absent = mine ? first_absent(mine, m) : -1;

	if (absent >= 0) {
		p->undumped = arena_fmt(r->keep, "%.*s is another program: it has no %.*s",
			STR_ARG(dumped_file(from)), STR_ARG(mine->instructions[absent].name));
	} else if (mine && !mine->partial) {
		mine->buffer_assignment = m->buffer_assignment;
		mine->buffers_note = m->buffers_note;
		mine->memory_note = m->memory_note;
	} else {
		p->dumped = dumped_file(from);
		return m;
	}
	return mine;
}

static struct hlo_module *program_from_dump(
	struct registry *r, struct program *p, struct hlo_module *mine)
{
	struct diag *err = arena_make(r->keep, struct diag, 1);
	struct hlo_module *m;
	struct str rest;

	if (!r->dump || (mine && !mine->partial && mine->buffer_assignment.len))
		return mine;
	const struct dump_module *from = dumped_find(r->dump, p, r->keep, &m, err);
	if (from)
		return complete_from_dump(r, p, mine, m, from);
	if (err->id != DIAG_NONE)
		str_cut(str_from(err->text), '\n', &p->undumped, &rest);
	return mine;
}

/*
 * A TPU names an op by its whole text: of a program without HLO that much is known.  Its hosts run
 * the same program, so the first that ran it says enough.
 */
static void find_texts(struct registry *r, struct program *p)
{
	for (ptrdiff_t h = 0; h < r->host_count && !p->op_count; h++) {
		struct profile_texts *t = &r->texts[h];
		if (!t->is_read)
			profile_texts_read(&r->hosts[h], r->keep, t);
		int32_t at = map_get_id(&t->by_id, (int64_t)p->id);
		if (at == MAP_NONE)
			continue;
		p->module = p->module.p ? p->module : t->items[at].module;
		p->ops = t->items[at].ops;
		p->op_count = t->items[at].count;
	}
}

static struct hlo_module *program_from_profile(struct registry *r, struct program *p)
{
	struct diag *err = arena_make(r->keep, struct diag, 1);

	if (p->proto.len == 0 && p->platform == HLO_TPU)
		find_texts(r, p);
	if (!p->module.p)
		p->module = arena_fmt(r->keep, "program %llu", (unsigned long long)p->id);
	if (p->proto.len == 0 && p->op_count == 0)
		return NULL;
	/* A dump may have more to say of it, which is not read again. */
	bool for_good = r->dump && r->dump->count > 0;
	struct hlo_module *m = p->proto.len > 0
				       ? shelved_read(p->hlo, p->from, p->proto, for_good, err)
				       : hlo_text_ops(p->module, p->ops, p->op_count, r->keep, err);
	if (!m)
		diag_note(r->notes, r->keep, err->id, "module %.*s: %s", STR_ARG(p->module),
			err->text);
	return m;
}

static void plan_know(struct program *p, const struct hlo_module *m, struct arena *keep)
{
	struct arena scratch = arena_new(ARENA_RUN_BYTES);
	struct diag *err = arena_make(keep, struct diag, 1);
	struct hlo_memory *plan = arena_make(keep, struct hlo_memory, 1);

	if (hlo_memory(m, 0, &scratch, plan, err)) {
		plan->live = NULL;
		plan->live_count = 0;
		p->plan = plan;
	} else if (err->id != DIAG_NONE) {
		p->plan_unread = err;
	}
	arena_free(&scratch);
}

/* What is asked of its HLO at once: a large one may be gone later. */
static void program_know(struct registry *r, struct program *p, struct hlo_module *m)
{
	if (!m)
		return;
	shelved_put(p->hlo, m);
	p->has_hlo = true;
	p->is_partial = m->partial;
	p->devices = hlo_devices(m);
	for (ptrdiff_t i = 0; i < m->instruction_count && !p->has_gradient; i++)
		p->has_gradient = hlo_is_backward(&m->instructions[i]);
	p->undonated_bytes = hlo_undonated_bytes(m, r->scratch);
	plan_know(p, m, r->keep);
}

static enum hlo_platform hlo_platform_of(enum platform p)
{
	return p == PLATFORM_TPU ? HLO_TPU : p == PLATFORM_CPU ? HLO_CPU : HLO_GPU;
}

static struct program *program_of(
	struct registry *r, const struct plane *plane, uint64_t id, struct str module)
{
	struct arena scratch = r->scratch;
	int32_t at = map_get_id(&r->listed[plane->profile - r->hosts], (int64_t)id);

	if (at == MAP_NONE) {
		struct str name = id == PROGRAM_UNKNOWN ? STR("(no program)")
				  : module.p		? text_clean(&scratch, module)
							: module;
		at = program_named(r, &r->unlisted, id, name);
		if (at == MAP_NONE)
			at = program_add(r, &r->unlisted, id, name)->index;
	}
	struct program *p = r->programs[at];
	/* Only programs that ran are parsed: profiles list all that were ever compiled. */
	if (!p->parsed) {
		p->parsed = true;
		p->platform = hlo_platform_of(plane->platform);
		program_know(r, p, program_from_dump(r, p, program_from_profile(r, p)));
		if (p->proto.len >= SHELF_LARGE) /* names are read again, and little else */
			profile_drop_part(p->from, p->proto);
	}
	return p;
}

const struct program *registry_listed(const struct registry *r, const struct plane *p, uint64_t id)
{
	int32_t at = map_get_id(&r->listed[p->profile - r->hosts], (int64_t)id);

	return at == MAP_NONE ? NULL : r->programs[at];
}

const struct hlo_module *registry_hlo(
	struct registry *r, const struct plane *p, const struct profile_op *said)
{
	pthread_mutex_lock(&r->lock);
	const struct hlo_module *ret = program_hlo(program_of(r, p, said->program, said->module));
	pthread_mutex_unlock(&r->lock);
	return ret;
}

void registry_keep_nodes(struct registry *r, struct plane *p, const int64_t *nodes,
	const struct str *ops, ptrdiff_t count)
{
	pthread_mutex_lock(&r->lock);
	struct graph_nodes *n = arena_make(r->keep, struct graph_nodes, 1);
	n->of_node = map_with_room(count, r->keep);
	n->ops = arena_make(r->keep, struct str, count);
	for (ptrdiff_t i = 0; i < count; i++) {
		map_put_id(&n->of_node, nodes[i], (int32_t)i, r->keep);
		n->ops[i] = ops[i];
	}
	pthread_mutex_unlock(&r->lock);
	p->nodes = n;
}

/* Subjects. */

static void subject_attribute(struct subject *s)
{
	const struct hlo_module *m = program_hlo(s->program);
	/* A name means something within its program; a memory copy needs none. */
	bool named = (s->said->hlo_op.len > 0 && s->program->id != PROGRAM_UNKNOWN) ||
		     s->said->copy != COPY_NONE;

	s->instruction = -1;
	s->attribution = named ? ATTRIBUTION_PROFILE : ATTRIBUTION_NONE;
	if (!m || s->said->hlo_op.len == 0)
		return;
	s->instruction = hlo_find_exact(m, s->said->hlo_op);
	s->attribution = s->said->is_scheduled ? ATTRIBUTION_SCHEDULE : ATTRIBUTION_EXACT;
	if (s->instruction >= 0)
		return;
	/* A neighbouring name in a dump may be that of another version's op. */
	s->instruction = s->program->dumped.p ? -1 : hlo_find(m, s->said->hlo_op);
	s->attribution = s->instruction >= 0 ? ATTRIBUTION_NAME : ATTRIBUTION_PROFILE;
}

/*
 * A custom fusion may end what another one began.  Where what fusions hold is not known their names
 * alone say so, and each is taken for what it took.
 */
static enum async_role async_role_of(const struct hlo_module *m, ptrdiff_t instruction)
{
	const struct hlo_instruction *i = &m->instructions[instruction];

	if (hlo_starts(i))
		return ASYNC_START;
	if (hlo_ends(i))
		return ASYNC_DONE;
	if (m->partial || i->op != HLO_FUSION)
		return ASYNC_NONE;
	if (hlo_begins_collective(m, instruction))
		return ASYNC_START;
	return hlo_async_start(m, instruction) >= 0 ? ASYNC_DONE : ASYNC_NONE;
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
	const struct hlo_module *m = program_hlo(s->program);

	s->kind = kind_decide(s->program, s->instruction, s->said, s->platform);
	s->groups_kernels = s->said->hlo_op.len > 0 &&
			    (s->platform == PLATFORM_AMD || s->platform == PLATFORM_NVIDIA);
	s->may_mark = s->said->hlo_op.len > 0;
	s->alone = true;
	s->program->has_gradient |= s->instruction < 0 && kernel_is_backward(s->said->name);
	if (s->instruction < 0)
		return;
	const struct hlo_instruction *i = &m->instructions[s->instruction];
	/* Under a loop's name a GPU tells in every round whether there is another. */
	s->may_mark = !m->computations[i->computation].in_loop &&
		      !(s->groups_kernels && i->op == HLO_WHILE);
	s->alone = !m->partial && runs_alone(m, &m->computations[i->computation]);
	/*
	 * On GPU the start's kernel is the transfer itself and a done has none.  A send is one half
	 * of what its recv tells whole.
	 */
	if (s->platform == PLATFORM_TPU && s->kind != KIND_SEND)
		s->async = async_role_of(m, s->instruction);
}

/*
 * A job may have many large programs.  What is said of their subjects has an arena of its own,
 * which registry_forget frees.
 */
static struct arena *told_arena(struct registry *r, struct program *p)
{
	if (p->proto.len < SHELF_LARGE)
		return r->keep;
	if (!p->told.base)
		p->told = arena_new(ARENA_RUN_BYTES);
	return &p->told;
}

/* The instruction is the identity where there is one: its spellings differ between profilers. */
static struct subject *subject_get(struct registry *r, const struct subject *like)
{
	struct arena scratch = r->scratch;
	struct program *p = like->program;
	struct str name = text_clean(&scratch, like->name);
	int32_t at = like->instruction < 0 ? map_get(&p->named, name)
		     : p->subjects	   ? p->subjects[like->instruction] - 1
					   : MAP_NONE;

	if (at != MAP_NONE)
		return r->subjects[at];
	if (r->subject_count >= SUBJECTS_MAX)
		return r->subjects[SUBJECTS_MAX - 1];
	struct subject *s = arena_make(r->keep, struct subject, 1);
	*s = *like;
	s->said = arena_make(told_arena(r, p), struct profile_op, 1);
	*s->said = *like->said;
	s->name = arena_str(r->keep, name);
	*arena_push(r->keep, r->subjects, r->subject_count, r->subject_cap) = s;
	s->index = (int32_t)(r->subject_count - 1);
	s->said_by = -1;
	if (s->instruction >= 0 && !p->subjects)
		p->subjects = arena_make(r->keep, int32_t, program_hlo(p)->instruction_count);
	if (s->instruction >= 0)
		p->subjects[s->instruction] = s->index + 1;
	else
		map_put(&p->named, s->name, s->index, r->keep);
	subject_understand(s);
	return s;
}

/* By its program alone: no event said anything of it yet. */
static struct subject *subject_of(
	struct registry *r, struct program *p, ptrdiff_t instruction, enum platform platform)
{
	struct str name = program_hlo(p)->instructions[instruction].name;
	struct profile_op said = { .hlo_op = name,
		.program = p->id,
		.flops = NAN,
		.model_flops = NAN,
		.bytes_accessed = NAN,
		.hbm_read_bytes = NAN,
		.hbm_write_bytes = NAN };
	struct subject like = { .program = p,
		.instruction = instruction,
		.name = name,
		.said = &said,
		.platform = platform,
		.attribution = ATTRIBUTION_EXACT };

	return subject_get(r, &like);
}

struct program *registry_plan(
	struct registry *r, int64_t number, struct hlo_module *hlo, enum platform platform)
{
	struct program *p = program_add(
		r, NULL, number < 0 ? 0 : (uint64_t)number, text_clean(r->keep, hlo->name));

	p->by_name = number < 0;
	p->parsed = true;
	p->platform = hlo_platform_of(platform);
	program_know(r, p, hlo);
	return p;
}

void registry_plan_op(struct registry *r, struct program *p, ptrdiff_t instruction, double runs,
	enum platform platform)
{
	subject_of(r, p, instruction, platform)->planned = runs;
}

static void subject_like(
	struct registry *r, const struct plane *p, struct profile_op *said, struct subject *ret)
{
	*ret = (struct subject){ .said = said, .platform = p->platform };
	ret->program = program_of(r, p, said->program, said->module);
	subject_attribute(ret);
	ret->name = ret->instruction >= 0  ? subject_instruction(ret)->name
		    : said->hlo_op.len > 0 ? said->hlo_op
					   : said->name;
}

struct subject *registry_subject(struct registry *r, const struct plane *p,
	const struct profile_op *said, enum op_kind *kind)
{
	struct profile_op own = *said;
	struct subject like;

	pthread_mutex_lock(&r->lock);
	subject_like(r, p, &own, &like);
	struct subject *s = subject_get(r, &like);
	/* A done needs its starts' subjects even when their events come later or never. */
	if (s->async == ASYNC_DONE && s->start_count == 0) {
		ptrdiff_t starts[HLO_MAX_STARTS];
		s->start_count = hlo_async_starts(program_hlo(s->program), s->instruction, starts);
		s->starts = arena_make(r->keep, int32_t, s->start_count);
		for (int k = 0; k < s->start_count; k++)
			s->starts[k] = subject_of(r, s->program, starts[k], s->platform)->index;
	}
	*kind = kind_decide(like.program, like.instruction, like.said, like.platform);
	pthread_mutex_unlock(&r->lock);
	return s;
}

/*
 * A library's call may copy what its kernels need, as a sort does the limits of its segments: it
 * is known by the kernels.
 */
static bool is_their_copy(const struct subject *s, const struct subject *like)
{
	return s->said->copy != COPY_NONE && like->said->copy == COPY_NONE &&
	       op_kind_activity(like->kind) == ACTIVITY_COMPUTE;
}

/* A plane may ask for any program that its host lists. */
static void plane_awaits(struct registry *r, const struct plane *p, int more)
{
	const struct profile *host = p->profile;

	for (ptrdiff_t i = 0; i < host->hlo_count; i++) {
		int32_t at = map_get_id(&r->listed[host - r->hosts], (int64_t)host->hlo[i].program);
		struct program *listed = r->programs[at];
		listed->awaited += more;
		shelved_hold(listed->hlo, listed->awaited > 0);
	}
}

void registry_settle(struct registry *r, const struct plane *p, int32_t order)
{
	struct subject like;

	pthread_mutex_lock(&r->lock);
	for (int32_t i = 0; i < p->op_count; i++) {
		subject_like(r, p, &p->ops[i], &like);
		struct subject *s = subject_get(r, &like);
		like.kind = kind_decide(s->program, s->instruction, like.said, s->platform);
		bool told = s->said_by >= 0 && s->said_by <= order;
		if (told && !(s->said_by == order && is_their_copy(s, &like)))
			continue;
		*s->said = *like.said;
		s->attribution = like.attribution;
		s->kind = like.kind;
		s->said_by = order;
	}
	plane_awaits(r, p, -1);
	pthread_mutex_unlock(&r->lock);
}

void registry_await(struct registry *r, const struct plane *p)
{
	plane_awaits(r, p, 1);
}

void registry_forget(struct registry *r, const struct subject *const *subjects, ptrdiff_t count)
{
	struct program *p = r->subjects[subjects[0]->index]->program;

	if (!p->told.base)
		return;
	for (ptrdiff_t i = 0; i < count; i++)
		r->subjects[subjects[i]->index]->said = NULL;
	arena_free(&p->told);
}

void registry_unsettle(struct registry *r)
{
	for (ptrdiff_t i = 0; i < r->subject_count; i++)
		r->subjects[i]->said_by = -1;
	for (ptrdiff_t i = 0; i < r->program_count; i++)
		r->programs[i]->awaited = 0;
}

const struct subject *registry_find(
	const struct registry *r, const struct program *p, ptrdiff_t instruction)
{
	int32_t at = p->subjects ? p->subjects[instruction] : 0;

	return at ? r->subjects[at - 1] : NULL;
}

bool registry_full(const struct registry *r)
{
	return r->subject_count >= SUBJECTS_MAX;
}

static int program_cmp(const void *a, const void *b)
{
	const struct program *x = *(const struct program *const *)a;
	const struct program *y = *(const struct program *const *)b;

	/* Programs of one id and name are listed by hosts, and numbered in their order. */
	return program_before(x, y)   ? -1
	       : program_before(y, x) ? 1
				      : order_integers(x->index, y->index);
}

static int subject_cmp(const void *a, const void *b)
{
	const struct subject *x = *(const struct subject *const *)a;
	const struct subject *y = *(const struct subject *const *)b;
	int order = program_cmp(&x->program, &y->program);

	order = order ? order : order_integers(x->instruction, y->instruction);
	return order ? order : str_cmp(x->name, y->name);
}

const struct subject *const *registry_subjects_ranked(struct registry *r)
{
	if (r->subjects_ranked_count == r->subject_count)
		return r->subjects_ranked;
	r->subjects_ranked = arena_make(r->keep, const struct subject *, r->subject_count);
	memcpy(r->subjects_ranked, r->subjects, (size_t)r->subject_count * sizeof(*r->subjects));
	sort_by(r->subjects_ranked, r->subject_count, subject_cmp);
	r->subjects_ranked_count = r->subject_count;
	return r->subjects_ranked;
}

const struct program *const *registry_programs_ranked(struct registry *r)
{
	if (r->programs_ranked_count == r->program_count)
		return r->programs_ranked;
	r->programs_ranked = arena_make(r->keep, const struct program *, r->program_count);
	memcpy(r->programs_ranked, r->programs, (size_t)r->program_count * sizeof(*r->programs));
	sort_by(r->programs_ranked, r->program_count, program_cmp);
	r->programs_ranked_count = r->program_count;
	return r->programs_ranked;
}

ptrdiff_t registry_subject_count(const struct registry *r)
{
	return r->subject_count;
}

struct subject *registry_subject_at(const struct registry *r, ptrdiff_t i)
{
	assert(i >= 0 && i < r->subject_count);
	return r->subjects[i];
}

ptrdiff_t registry_program_count(const struct registry *r)
{
	return r->program_count;
}

struct program *registry_program_at(const struct registry *r, ptrdiff_t i)
{
	assert(i >= 0 && i < r->program_count);
	return r->programs[i];
}
