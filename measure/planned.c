/*
 * Programs that have not run: what a compiler's dump and a chip say of them.
 *
 * Each is taken to run once a step, on every device alike; the one that would take longest is the
 * main program.  What it takes at least (programs.c) is a floor under the step, and no forecast.
 */
#include <math.h>

#include "base/map.h"
#include "base/text.h"
#include "measure/dumped.h"
#include "measure/writers.h"

/* What was met of a dump: it may have a hundred thousand modules. */
struct met {
	bool *is_numbered; /* by module: its number is its own */
	struct map names;  /* of programs: the first of that name */
	int32_t *next;	   /* by program: another of its name */
};

/* Numbers begin anew in every process that dumps there, and some files have none. */
static struct met met_begin(const struct dump *d, struct arena *keep)
{
	struct met met = { .is_numbered = arena_make(keep, bool, d->count),
		.next = arena_make(keep, int32_t, d->count) };
	struct map numbers = { 0 };

	for (ptrdiff_t i = 0; i < d->count; i++) {
		if (!dump_has_program(&d->modules[i]) || d->modules[i].number < 0)
			continue;
		int32_t first = map_put_id(&numbers, d->modules[i].number, (int32_t)i, keep);
		met.is_numbered[i] = first == i;
		met.is_numbered[first] = first == i;
	}
	return met;
}

/* The program that this module is again; NULL: none. */
static const struct program *met_before(
	const struct run *run, const struct met *met, const struct hlo_module *hlo)
{
	for (int32_t i = map_get(&met->names, hlo->name); i != MAP_NONE; i = met->next[i]) {
		const struct program *p = registry_program_at(run->registry, i);
		if (hlo_same(program_hlo(p), hlo))
			return p;
	}
	return NULL;
}

static void met_add(struct met *met, const struct program *p, struct arena *keep)
{
	int32_t first = map_put(&met->names, program_hlo(p)->name, p->index, keep);

	met->next[p->index] = first == p->index ? MAP_NONE : met->next[first];
	if (first != p->index)
		met->next[first] = p->index;
}

static void plan_program(
	const struct run *run, struct met *met, struct dump_module *from, struct hlo_module *hlo)
{
	struct program *p = registry_plan(run->registry, from->number, hlo, run->platform);
	int64_t unknown;
	const double *runs = hlo_runs(hlo, run->keep, &unknown);

	p->dumped = dumped_file(from);
	if (!met->is_numbered[from - run->options->dump->modules])
		p->label = text_clean(run->keep, from->stem);
	met_add(met, p, run->keep);
	for (ptrdiff_t i = 0; i < hlo->instruction_count; i++) {
		double n = runs[hlo->instructions[i].computation];
		if (n > 0 && hlo_is_work(hlo, i))
			registry_plan_op(run->registry, p, i, n, run->platform);
	}
}

/* Modules that were compiled again, as every process of a job does and every new shape may. */
struct twins {
	ptrdiff_t count;
	const struct dump_module *first;
	const struct program *of; /* the program that the first is again */
};

static void note_twins(const struct run *run, const struct twins *t)
{
	if (t->count == 1)
		diag_note(run->notes, run->keep, DIAG_HLO, "%.*s is %.*s again: it counts once",
			STR_ARG(dumped_file(t->first)), STR_ARG(t->of->dumped));
	else if (t->count > 1)
		diag_note(run->notes, run->keep, DIAG_HLO,
			"%td modules were compiled before, and each counts once: %.*s is %.*s "
			"again, for one",
			t->count, STR_ARG(dumped_file(t->first)), STR_ARG(t->of->dumped));
}

/* What each program takes at least, as far as the size of the job is known. */
static struct program_facts *program_floors(const struct run *run)
{
	ptrdiff_t n = registry_subject_count(run->registry);
	ptrdiff_t programs = registry_program_count(run->registry);
	const struct subject *const *ops = registry_subjects_ranked(run->registry);
	struct op_facts *facts = arena_make(run->work, struct op_facts, n);
	struct program_facts *ret = arena_make(run->work, struct program_facts, programs);
	struct op_costing ignored;

	for (ptrdiff_t i = 0; i < programs; i++)
		ret[i] = program_facts_of(run, NULL, NULL, 0);
	for (ptrdiff_t first = 0, i = 0; i < n; i++) {
		facts[i] = op_facts_of(run, ops[i], &ignored);
		if (i + 1 < n && ops[i + 1]->program == ops[i]->program)
			continue;
		ret[ops[i]->program->index] =
			program_facts_of(run, ops + first, facts + first, i + 1 - first);
		first = i + 1;
	}
	return ret;
}

/* Without one program the plan may look smaller than it is; without all, it says nothing. */
bool plan_programs(struct run *run, struct diag *err)
{
	struct dump *d = run->options->dump;
	struct met met = met_begin(d, run->keep);
	struct twins twins = { 0 };
	ptrdiff_t unread = 0;

	run->first = &run->devices[0];
	for (ptrdiff_t i = 0; i < d->count; i++) {
		if (!dump_has_program(&d->modules[i]))
			continue;
		struct diag said;
		struct hlo_module *hlo = dumped_parse(&d->modules[i], run->keep, &said);
		if (!hlo) {
			if (!unread++)
				*err = said;
			continue;
		}
		const struct program *twin = met_before(run, &met, hlo);
		if (!twin)
			plan_program(run, &met, &d->modules[i], hlo);
		else if (!twins.count++) {
			twins.first = &d->modules[i];
			twins.of = twin;
		}
	}
	if (unread && !registry_program_count(run->registry))
		return false;
	if (unread)
		quality_add(run, "modules-read", false, "%td of %td modules left out: %s", unread,
			d->count, err->text);
	note_twins(run, &twins);
	run->shape = run_shape_of(run);
	const struct program_facts *floors = program_floors(run);
	double most = 0;
	/* The main program is the longest; of equals, the first by name. */
	for (ptrdiff_t i = 0; i < registry_program_count(run->registry); i++) {
		double seconds = floors[i].floor_s;
		if (run->main && !(seconds > most))
			continue;
		run->main = registry_program_at(run->registry, i);
		most = isnan(seconds) ? 0 : seconds;
	}
	for (ptrdiff_t i = 0; i < registry_program_count(run->registry); i++) {
		struct program *p = registry_program_at(run->registry, i);
		p->role = p == run->main ? ROLE_STEP : ROLE_OTHER;
	}
	run->shape = run_shape_of(run); /* the main program tells how large the job is: once more */
	return true;
}

/* XLA names what it compiled for CPUs and GPUs so; what it names otherwise may be for any. */
static const struct {
	struct str part;
	bool vendors[VENDOR_CPU + 1];
	const char *machines;
} compiled_for[] = {
	{ STR_INIT("cpu_after_optimizations"), { [VENDOR_CPU] = true }, "CPUs" },
	{ STR_INIT("gpu_after_optimizations"), { [VENDOR_NVIDIA] = true, [VENDOR_AMD] = true },
		"GPUs" },
};

/* What one machine's compiler fused, laid out and kept is not what another's would. */
static void quality_compiled_for(const struct run *run)
{
	const struct chip *chip = run->options->chip;

	for (ptrdiff_t i = 0; chip && i < COUNT_OF(compiled_for); i++) {
		if (!str_contains(run->main->dumped, compiled_for[i].part))
			continue;
		bool same = compiled_for[i].vendors[chip->vendor];
		quality_add(run, "compiled-for", same, "%.*s was compiled for %s%s",
			STR_ARG(text_clean(run->keep, run->main->dumped)), compiled_for[i].machines,
			same ? ""
			     : ": fusions, layouts and memory are not those of the chip that "
			       "--hardware names");
	}
}

void quality_plan(const struct run *run, const struct programs *programs)
{
	int64_t loops = 0;

	quality_add(run, "full-profile", false,
		"a compiler's dump: nothing ran, so nothing is measured");
	if (!run->main)
		return;
	const struct program_facts p = programs->of[run->main->index];
	hlo_runs(program_hlo(run->main), run->keep, &loops);
	quality_add(run, "prediction", !p.unknown && !loops,
		"%.*s: what its longest resource has to do, each of %lld ops at its roofline and "
		"collectives at their least; %lld ops of unknown cost are free, and %lld loops of "
		"unknown length run once",
		STR_ARG(run->main->module), (long long)p.known, (long long)p.unknown,
		(long long)loops);
	quality_compiled_for(run);
}
