/*
 * What a fleet's owner knows and no profile does: the chip-hours of each workload, and their price.
 *
 *     workload,chip_hours,price,running_hours
 *     runs/llama-70b,18432,1.20,17002
 *
 * CSV as RFC 4180 has it, with a header that names the columns, in any order; others are passed
 * over.  A workload may have several lines.  A price, or of how many of the
 * chip-hours the job was running, is not known where it is empty or not there.
 *
 * Refuses: guessing.  A number that is none, below zero or beyond its maximum, a column that comes
 * twice, a line longer than the header (1,200 is two fields) and a file that lists nothing are
 * errors that name the line.
 */
#ifndef STORE_USAGE_H
#define STORE_USAGE_H

#include "base/arena.h"
#include "base/diag.h"

struct usage {
	struct str workload;
	double chip_hours, price; /* dollars per chip-hour; NaN when not known */
	double running_hours;	  /* of the chip-hours; NaN when not known */
};

#define USAGE_MAX_FIELDS 64   /* columns of an accounting export */
#define USAGE_MAX_HOURS	 1e12 /* of a line: a million chips for a century */
#define USAGE_MAX_PRICE	 1e6  /* dollars per chip-hour: what a rack of them costs */

typedef bool usage_fn(void *arg, const struct usage *u, struct diag *err);
bool usage_read(struct str file, struct str text, usage_fn *take, void *arg, struct diag *err);

#endif
