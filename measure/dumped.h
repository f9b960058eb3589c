/*
 * Inside of measure/: modules from a compiler's dump (profile/dump.h), found by program.
 */
#ifndef MEASURE_DUMPED_H
#define MEASURE_DUMPED_H

#include "hlo/module.h"
#include "profile/dump.h"

struct program;

/*
 * The one module that may be this program, and what it was read from.  NULL with err->id DIAG_NONE
 * when the dump has none, else with the reason: it cannot be read, or more than one might be meant.
 */
struct dump_module *dumped_find(struct dump *d, const struct program *p, struct arena *keep,
	struct hlo_module **ret, struct diag *err);

/* A module with what the dump says of its memory. */
struct hlo_module *dumped_parse(struct dump_module *d, struct arena *keep, struct diag *err);
struct str dumped_file(const struct dump_module *d); /* its name, without directories */

#endif
