/*
 * A compiler's dump: which files of a directory belong to which program, by their names.
 *
 *	module_0042.jit_train_step.cpu_after_optimizations.txt
 *	`- number -'`-- program --'`--------- form ----------'
 *
 * The forms are those that XLA writes with --xla_dump_to, and XProf's PROGRAM(ID).hlo_proto.pb.
 * Any may be packed, with .gz behind its name, as --xla_dump_compress_protos does.
 * The number is that of the module in the process that compiled it, which on CPU and GPU is the
 * program id of a profile; on TPU it says nothing.  A name that may be cut in two ways is settled
 * by whoever reads the file: what the module calls itself counts.
 *
 * Refuses: looking below the directory, and into the files.
 */
#ifndef PROFILE_DUMP_H
#define PROFILE_DUMP_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/input.h"
#include "profile/profile.h"

/* A job compiles thousands of small programs, in a dozen files each. */
#define DUMP_MAX_MODULES 100000

enum dump_form {
	DUMP_PROTO,   /* *.hlo_proto.pb, *after_optimizations.hlo.pb */
	DUMP_TEXT,    /* *after_optimizations.txt */
	DUMP_BUFFERS, /* *after_optimizations-buffer-assignment.txt */
	DUMP_MEMORY,  /* *after_optimizations-memory-usage-report.txt */
	DUMP_FORMS
};

struct dump_module {
	struct str stem; /* "module_0042.jit_train_step.cpu_", to tell them apart */
	struct str name; /* what begins with the program's name: "jit_train_step.cpu_" */
	int64_t number;	 /* -1 unknown */
	struct str path[DUMP_FORMS]; /* missing: no such file */
	struct input input[DUMP_FORMS];
	bool open[DUMP_FORMS];
};

struct dump {
	struct str dir;
	struct dump_module *modules; /* by stem */
	ptrdiff_t count, cap;
};

/* Is it a program of its own, which can be judged: a text or a proto? */
bool dump_is_program(struct str name);

/* The dump in a directory; an empty one where there are no such files. */
bool dump_list(struct str dir, struct arena *keep, struct dump *ret, struct diag *err);
/* Only the module that this file is of. */
bool dump_of_file(struct str path, struct arena *keep, struct dump *ret, struct diag *err);
/*
 * As the profile of a run that has not happened: one device of `platform`, without events.  The
 * input becomes a list of the programs with a hash of each, which is what tells dumps apart: of one
 * that cannot be unpacked it is that of no bytes.
 */
void dump_profile(struct dump *d, enum platform platform, struct arena *keep, struct input *in,
	struct profile *ret);
/* False when a file that was opened shrank since. */
bool dump_check(const struct dump *d, struct diag *err);
void dump_close(struct dump *d);

/* May it be of that program?  Its own name, inside of the file, decides. */
bool dump_may_be(const struct dump_module *m, struct str program);
/* One file of a dump, unpacked. */
bool dump_open(struct str path, struct arena *keep, struct input *ret, struct diag *err);
/* The form that its program is read from: the proto before the text, as it has more to say. */
enum dump_form dump_program_form(const struct dump_module *m);
bool dump_has_program(const struct dump_module *m);
/* A file's bytes, good until dump_close; empty where the module has no such form. */
bool dump_bytes(struct dump_module *m, enum dump_form form, struct arena *keep, struct str *ret,
	struct diag *err);

#endif
