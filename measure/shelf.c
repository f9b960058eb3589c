/* The HLO of programs, as much of it as fits.  See shelf.h. */
#include "measure/shelf.h"

struct shelved {
	struct shelf *shelf;
	struct hlo_module *hlo;	 /* NULL: none, or given up */
	struct hlo_costs *costs; /* NULL: not asked for yet */
	struct arena own;	 /* of a large one, while it is here */
	const struct profile *from;
	struct str proto; /* of a large one, which may be given up */
	ptrdiff_t instructions;
	bool held;
	int64_t asked; /* the clock when it last was */
};

struct shelf {
	struct arena *keep;
	struct shelved **large;
	ptrdiff_t count, cap;
	int64_t clock; /* one more whenever another module is asked for than before */
};

struct shelf *shelf_new(struct arena *keep)
{
	struct shelf *s = arena_make(keep, struct shelf, 1);

	s->keep = keep;
	return s;
}

static void give_up(struct shelved *m)
{
	arena_free(&m->own);
	m->hlo = NULL;
	m->costs = NULL;
	profile_drop_part(m->from, m->proto);
}

void shelf_free(struct shelf *s)
{
	for (ptrdiff_t i = 0; i < s->count; i++)
		arena_free(&s->large[i]->own);
}

/* The last two that were asked for stay: one may be held against the other. */
static void shelf_fit(struct shelf *s)
{
	for (;;) {
		struct shelved *oldest = NULL;
		ptrdiff_t bytes = 0;

		for (ptrdiff_t i = 0; i < s->count; i++) {
			struct shelved *m = s->large[i];
			if (!m->hlo)
				continue;
			bytes += m->own.at - m->own.base;
			if (!m->held && m->asked < s->clock - 1 &&
				(!oldest || m->asked < oldest->asked))
				oldest = m;
		}
		if (bytes <= SHELF_BYTES || !oldest)
			return;
		give_up(oldest);
	}
}

struct shelved *shelved_new(struct shelf *s)
{
	struct shelved *m = arena_make(s->keep, struct shelved, 1);

	m->shelf = s;
	return m;
}

void shelved_put(struct shelved *m, struct hlo_module *hlo)
{
	m->hlo = hlo;
	m->costs = NULL;
}

struct hlo_module *shelved_read(struct shelved *m, const struct profile *from, struct str proto,
	bool for_good, struct diag *err)
{
	struct shelf *s = m->shelf;
	bool is_large = !for_good && proto.len >= SHELF_LARGE;

	m->from = from;
	m->proto = proto;
	if (is_large)
		m->own = arena_new(ARENA_RUN_BYTES);
	m->hlo = hlo_module_parse(proto, from->input->bytes, is_large ? &m->own : s->keep, err);
	if (!is_large)
		return m->hlo;
	if (!m->hlo) {
		arena_free(&m->own);
		return NULL;
	}
	m->instructions = m->hlo->instruction_count;
	m->asked = ++s->clock;
	*arena_push(s->keep, s->large, s->count, s->cap) = m;
	shelf_fit(s);
	return m->hlo;
}

/* Its bytes are those of before, unless the file was changed meanwhile: then nothing is in it. */
static void read_again(struct shelved *m)
{
	struct diag ignored;

	m->own = arena_new(ARENA_RUN_BYTES);
	m->hlo = hlo_module_parse(m->proto, m->from->input->bytes, &m->own, &ignored);
	if (!m->hlo || m->hlo->instruction_count != m->instructions)
		m->hlo = hlo_module_blank(m->instructions, &m->own);
	m->asked = ++m->shelf->clock;
	shelf_fit(m->shelf);
}

const struct hlo_module *shelved_hlo(struct shelved *m)
{
	if (!m->instructions)
		return m->hlo;
	if (!m->hlo)
		read_again(m);
	else if (m->asked != m->shelf->clock)
		m->asked = ++m->shelf->clock;
	return m->hlo;
}

struct hlo_costs *shelved_costs(struct shelved *m, enum hlo_platform platform)
{
	const struct hlo_module *hlo = shelved_hlo(m);

	if (!m->costs)
		m->costs = hlo_costs_new(hlo, platform, m->instructions ? &m->own : m->shelf->keep);
	return m->costs;
}

void shelved_hold(struct shelved *m, bool held)
{
	m->held = held;
	if (!held)
		shelf_fit(m->shelf);
}
