/*
 * Programs from a compiler's dump, where the profile does not hold their HLO.
 *
 * A dump says by name alone which program it is of, so a join can be wrong: another version of the
 * job compiles a program of the same name.  What is taken must carry the program's own name and
 * hold every op that the profile names; two that might be meant are refused.
 */
#include "hlo/text.h"
#include "measure/dumped.h"
#include "measure/writers.h"

/* Programs of one name in a dump: each has to be read to tell them apart. */
enum { MAX_NAMESAKES = 16 };

static struct str file_name(const struct dump_module *d, enum dump_form form)
{
	return path_base(d->path[form]);
}

struct str dumped_file(const struct dump_module *d)
{
	return file_name(d, dump_program_form(d));
}

static bool read_note(struct dump_module *d, enum dump_form form, struct arena *keep,
	struct hlo_note *ret, struct diag *err)
{
	ret->file = file_name(d, form);
	return dump_bytes(d, form, keep, &ret->text, err);
}

struct hlo_module *dumped_parse(struct dump_module *d, struct arena *keep, struct diag *err)
{
	struct str bytes;
	enum dump_form form = dump_program_form(d);

	if (!dump_bytes(d, form, keep, &bytes, err))
		return NULL;
	struct hlo_module *m = form == DUMP_TEXT
				       ? hlo_text_parse(file_name(d, form), bytes, keep, err)
				       : hlo_module_parse(bytes, bytes, keep, err);
	if (!m && form == DUMP_PROTO)
		diag_context(err, "%.*s", STR_ARG(file_name(d, form)));
	if (!m || m->buffer_assignment.len)
		return m;
	bool ok = read_note(d, DUMP_BUFFERS, keep, &m->buffers_note, err) &&
		  read_note(d, DUMP_MEMORY, keep, &m->memory_note, err);
	return ok ? m : NULL;
}

static ptrdiff_t namesakes(
	struct dump *d, const struct program *p, struct dump_module *ret[MAX_NAMESAKES])
{
	ptrdiff_t n = 0;

	for (ptrdiff_t i = 0; i < d->count; i++) {
		struct dump_module *m = &d->modules[i];
		if (!dump_has_program(m) || !dump_may_be(m, p->module))
			continue;
		/* The number may be the program's id, and then there is no doubt. */
		if (!p->by_name && p->id != PROGRAM_UNKNOWN && m->number >= 0 &&
			(uint64_t)m->number == p->id) {
			ret[0] = m;
			return 1;
		}
		if (n < MAX_NAMESAKES)
			ret[n] = m;
		n++;
	}
	return n;
}

static bool same_bytes(struct dump_module *a, struct dump_module *b, struct arena *keep)
{
	struct str x, y;
	struct diag *ignored = arena_make(keep, struct diag, 1);

	return dump_program_form(a) == dump_program_form(b) &&
	       dump_bytes(a, dump_program_form(a), keep, &x, ignored) &&
	       dump_bytes(b, dump_program_form(b), keep, &y, ignored) && str_eq(x, y);
}

static bool refuse_two(const struct dump_module *a, const struct dump_module *b, struct diag *err)
{
	return diag_set(err, DIAG_HLO,
		"the dump has several programs of that name, %.*s and %.*s, and nothing says "
		"which one ran; leave only that one",
		STR_ARG(dumped_file(a)), STR_ARG(dumped_file(b)));
}

struct dump_module *dumped_find(struct dump *d, const struct program *p, struct arena *keep,
	struct hlo_module **ret, struct diag *err)
{
	struct dump_module *all[MAX_NAMESAKES], *found = NULL;
	ptrdiff_t n = d ? namesakes(d, p, all) : 0;

	err->id = DIAG_NONE;
	if (n > MAX_NAMESAKES && !refuse_two(all[0], all[1], err))
		return NULL;
	for (ptrdiff_t i = 0; i < n; i++) {
		struct hlo_module *m = dumped_parse(all[i], keep, err);
		if (!m)
			return NULL;
		if (!str_eq(m->name, p->module) || (found && same_bytes(found, all[i], keep)))
			continue;
		if (found && !refuse_two(found, all[i], err))
			return NULL;
		found = all[i];
		*ret = m;
	}
	return found;
}

/* ---- quality --------------------------------------------------------------------------------- */

/* Ops of a program that ran and are not in the module taken for it; `first` is one of them. */
static ptrdiff_t strangers(
	const struct run *run, const struct program *p, const struct subject **first)
{
	ptrdiff_t count = 0;

	for (ptrdiff_t i = 0; i < registry_subject_count(run->registry); i++) {
		const struct subject *s = registry_subject_at(run->registry, i);
		if (s->program != p || s->attribution != ATTRIBUTION_PROFILE)
			continue;
		if (!count || str_cmp(s->name, (*first)->name) < 0)
			*first = s;
		count++;
	}
	return count;
}

/* What the module that was joined has to do with the program, in `ok` or not; missing: none was. */
static struct str dump_verdict(const struct run *run, const struct program *p, bool *ok)
{
	const struct subject *first;
	ptrdiff_t count = p->dumped.p ? strangers(run, p, &first) : 0;

	*ok = !count;
	if (count)
		return arena_fmt(run->keep,
			"%.*s: ops that ran are not in %.*s, %td in all, as %.*s: it is of another "
			"version of the program",
			STR_ARG(p->module), STR_ARG(p->dumped), count, STR_ARG(first->name));
	return p->dumped.p ? arena_fmt(run->keep, "%.*s is %.*s, and holds all ops that ran",
				     STR_ARG(p->dumped), STR_ARG(p->module))
			   : MISSING;
}

/*
 * A dump that is of something else must not be joined in silence, and what could not be joined
 * spoils nothing.  Programs come in any order.
 */
void quality_dump(const struct run *run)
{
	struct str said = { NULL, 0 }, unread = { NULL, 0 };
	bool good = true;

	for (ptrdiff_t i = 0; i < registry_program_count(run->registry); i++) {
		const struct program *p = registry_program_at(run->registry, i);
		bool ok;
		struct str verdict = dump_verdict(run, p, &ok);
		if (p->undumped.p)
			verdict = arena_fmt(
				run->keep, "%.*s: %.*s", STR_ARG(p->module), STR_ARG(p->undumped));
		/*
		 * Nothing was joined, and nothing much is missing: the profile has the program
		 * itself, or it is one of the many small ones that share a name in a dump.
		 */
		if (p->undumped.p &&
			((p->has_hlo && !p->is_partial) || (run->main && p != run->main)))
			diag_note(run->notes, run->keep, DIAG_HLO, "%.*s", STR_ARG(verdict));
		else if (p->undumped.p && (!unread.p || str_cmp(verdict, unread) < 0))
			unread = verdict;
		if (p->undumped.p || !verdict.p || (ok && !good))
			continue;
		if (!said.p || ok != good || str_cmp(verdict, said) < 0)
			said = verdict;
		good &= ok;
	}
	if (unread.p)
		quality_add(run, "modules-read", false, "%.*s", STR_ARG(unread));
	if (said.p)
		quality_add(run, "dump-agrees", good, "%.*s", STR_ARG(said));
}
