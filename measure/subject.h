/*
 * Programs and subjects: what the ops of a profile are, resolved once.
 *
 * A subject is an op of a program, whatever kernels it ran as and on whichever device.  The
 * registry ties the profile's words (program id, instruction, kernel) to the HLO and settles kind
 * and cost.  Threads sweep planes at the same time, so looking up a new op takes the registry's
 * lock; a plane remembers what it has looked up.
 *
 * Numbers of programs and subjects depend on which thread came first: nothing that is written out
 * may depend on them.
 */
#ifndef MEASURE_SUBJECT_H
#define MEASURE_SUBJECT_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "hlo/collective.h"
#include "hlo/memory.h"
#include "measure/kernels.h"
#include "measure/shelf.h"
#include "profile/dump.h"

enum attribution {
	ATTRIBUTION_NONE,     /* a kernel of no known instruction */
	ATTRIBUTION_PROFILE,  /* the profile names an instruction whose HLO is not there */
	ATTRIBUTION_NAME,     /* found in the HLO under a neighbouring name */
	ATTRIBUTION_SCHEDULE, /* by its place in a CUDA graph: graphs.h */
	ATTRIBUTION_EXACT,    /* found in the HLO by its name */
};

/* Half of an asynchronous pair. */
enum async_role { ASYNC_NONE, ASYNC_START, ASYNC_DONE };

/* What a program ran for; in the order of WORK_WORDS. */
enum role {
	ROLE_STEP,    /* the judged steps */
	ROLE_OTHER,   /* evaluation, checkpoints, initialisation, steps of another sort */
	ROLE_SERVING, /* requests of a server, but for the judged ones */
	ROLES
};

struct program {
	int32_t index;
	uint64_t id;	       /* PROGRAM_UNKNOWN: ops without program */
	struct str module;     /* clean */
	bool by_name;	       /* the id stands for the name and says nothing */
	struct str label;      /* in place of an id that another program has too; or missing */
	struct str proto;      /* bytes of the first host that lists it, */
	const struct str *ops; /* or the texts of its ops */
	ptrdiff_t op_count;
	const struct profile *from; /* whose file they stand in; NULL where there are none */
	bool parsed;		    /* the proto was tried */
	struct shelved *hlo;	    /* what program_hlo gives */
	bool has_hlo;		    /* it is in the profile, and understood */
	bool is_partial;	    /* what it has is, as a module may be */
	double devices;		    /* hlo_devices of it; 0 unknown */
	struct hlo_memory *plan;    /* for device memory, without what lives; NULL: none, or */
	struct diag *plan_unread;   /* it cannot be read, and why */
	int64_t undonated_bytes;
	int awaited;		 /* by so many planes, which may still ask for it */
	struct str dumped;	 /* the dump's file that it is from; missing: the profile's own */
	struct str undumped;	 /* why the dump's module was not taken; missing: no reason */
	struct kernels *kernels; /* what is known of custom calls; may be NULL */
	enum hlo_platform platform;
	bool has_gradient;    /* some op is of a backward pass */
	enum role role;	      /* once the steps are known */
	int32_t *subjects;    /* by instruction: the subject's index + 1; NULL: none was met */
	struct map named;     /* the subjects that no instruction is known of */
	struct arena told;    /* of a large one: what is said of its subjects */
	int32_t next_of_hash; /* registry's: another one whose id and module have the same hash */
};

/* NULL where none is known.  That of a large program is there for as long as shelf.h says. */
static inline const struct hlo_module *program_hlo(const struct program *p)
{
	return shelved_hlo(p->hlo);
}

/* Of a program that has HLO. */
static inline struct hlo_costs *program_costs(const struct program *p)
{
	return shelved_costs(p->hlo, p->platform);
}

/* An order that does not depend on which thread met a program first. */
static inline bool program_before(const struct program *a, const struct program *b)
{
	return a->id != b->id ? a->id < b->id : str_cmp(a->module, b->module) < 0;
}

struct subject {
	struct profile_op *said; /* after registry_settle: by the first device that ran it, */
	int32_t said_by;	 /* this one; -1 not settled */
	int32_t index;
	struct program *program;
	ptrdiff_t instruction; /* of program_hlo(program), or -1 */
	struct str name;       /* instruction, or kernel; clean */
	enum platform platform;
	enum op_kind kind;
	enum attribution attribution;
	enum async_role async;
	int32_t *starts; /* of a done: subjects of those that it may end */
	int start_count;
	bool groups_kernels; /* GPU: consecutive kernels are one execution */
	bool alone;	     /* no other op of its computation runs: executions may touch */
	bool may_mark;	     /* may mark the begin of an execution: not inside a loop */
	double planned;	     /* executions a step of a program that has not run; else 0 */
};

/* NULL where no HLO is known. */
static inline const struct hlo_instruction *subject_instruction(const struct subject *s)
{
	return s->instruction < 0 ? NULL : &program_hlo(s->program)->instructions[s->instruction];
}

struct registry;

/*
 * Modules of all hosts; parsed when first needed.  What they lack is taken from the dump, NULL for
 * none.  `notes` gets what could not be understood.
 */
struct registry *registry_new(struct profile *hosts, ptrdiff_t host_count, struct dump *dump,
	struct kernels *kernels, struct arena *keep, struct diag_list *notes);
void registry_free(struct registry *r);

/*
 * The subject of an op of a plane, and the kind of this very op: planes may say different things
 * of one subject, and what a sweep counts must not depend on who came first.  Safe in threads.
 */
struct subject *registry_subject(struct registry *r, const struct plane *p,
	const struct profile_op *said, enum op_kind *kind);
/* The HLO of an op's program, parsed when it is first asked for; NULL where none is known. */
const struct hlo_module *registry_hlo(
	struct registry *r, const struct plane *p, const struct profile_op *said);
/* Gives a plane a copy of what its nodes run, for as long as the registry lasts. */
void registry_keep_nodes(struct registry *r, struct plane *p, const int64_t *nodes,
	const struct str *ops, ptrdiff_t count);
/* The program that goes by this id on a plane, whether it ran or not; NULL where none is listed. */
const struct program *registry_listed(const struct registry *r, const struct plane *p, uint64_t id);
/*
 * What is said of a subject is what the first plane said, whichever comes here first: `order` is
 * the plane's.  For each once its sweep is done, while it knows its ops.  Safe in threads.
 */
void registry_settle(struct registry *r, const struct plane *p, int32_t order);
void registry_unsettle(struct registry *r); /* before planes are swept, maybe again, */
void registry_await(struct registry *r, const struct plane *p); /* this one among them */
/* What was said of these subjects, all of one program, was taken: it may be NULL from now on. */
void registry_forget(struct registry *r, const struct subject *const *subjects, ptrdiff_t count);
/*
 * Of a program that has not run: itself, by the number it has in its dump, -1 for none, and an
 * instruction with how often it runs in one run of the program.
 */
struct program *registry_plan(
	struct registry *r, int64_t number, struct hlo_module *hlo, enum platform platform);
void registry_plan_op(struct registry *r, struct program *p, ptrdiff_t instruction, double runs,
	enum platform platform);
/* The subject of an instruction, or NULL when it never ran. */
const struct subject *registry_find(
	const struct registry *r, const struct program *p, ptrdiff_t instruction);
bool registry_full(const struct registry *r); /* later ops were lumped together */

ptrdiff_t registry_subject_count(const struct registry *r);
struct subject *registry_subject_at(const struct registry *r, ptrdiff_t i);
ptrdiff_t registry_program_count(const struct registry *r);
struct program *registry_program_at(const struct registry *r, ptrdiff_t i);
/*
 * The same in an order that does not depend on which thread came first.  A sum of doubles goes by
 * this order: its last digits depend on it.
 */
const struct subject *const *registry_subjects_ranked(struct registry *r);
const struct program *const *registry_programs_ranked(struct registry *r);

/* measure/kind.c: the one place that decides what sort of work an op does. */
enum op_kind kind_decide(const struct program *program, ptrdiff_t instruction,
	const struct profile_op *said, enum platform platform);
/* The type that a library's kernel multiplies, by its name; DTYPE_INVALID: it does not tell. */
enum dtype kernel_dtype(struct str kernel);
/* The framework whose own kernels are called so, in the words of FRAMEWORK_WORDS; or missing. */
struct str kernel_framework(struct str kernel);
/* Does its name say that it is of a backward pass or an optimizer? */
bool kernel_is_backward(struct str kernel);

#endif
