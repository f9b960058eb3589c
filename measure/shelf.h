/*
 * The HLO of programs, as much of it as fits.
 *
 * An instruction takes half a kilobyte, and a job may have a large program for each of its hosts.
 * So large modules have a place on a shelf, each in an arena of its own.  When all of them take
 * too much, those that were asked for least lately are given up, and are read once more when they
 * are asked for again.  What a module handed out (instructions, shapes) is then gone: it is good
 * until the second large module after it is asked for.
 *
 * One at a time: who asks in threads has a lock.
 */
#ifndef MEASURE_SHELF_H
#define MEASURE_SHELF_H

#include "hlo/cost.h"
#include "profile/profile.h"

/* Bytes of a module's proto: a smaller one is kept with the run. */
#define SHELF_LARGE ((ptrdiff_t)1 << 20)
/* What modules on the shelf may take together: one of a hundred thousand instructions. */
#define SHELF_BYTES ((ptrdiff_t)64 << 20)

struct shelf;
struct shelf *shelf_new(struct arena *keep);
void shelf_free(struct shelf *s);

/* A program's module: none yet. */
struct shelved;
struct shelved *shelved_new(struct shelf *s);
/* Reads the module; `for_good`: it is never given up.  NULL with a diagnostic. */
struct hlo_module *shelved_read(struct shelved *m, const struct profile *from, struct str proto,
	bool for_good, struct diag *err);
/* The same of one that was read by others, and lives as long as the run. */
void shelved_put(struct shelved *m, struct hlo_module *hlo);
const struct hlo_module *shelved_hlo(struct shelved *m); /* NULL: it has none */
struct hlo_costs *shelved_costs(struct shelved *m, enum hlo_platform platform); /* when it has */
void shelved_hold(struct shelved *m, bool held); /* while it is held it is not given up */

#endif
