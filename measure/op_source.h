/*
 * Where an op stands in Python: the innermost line outside of installed packages (where there is
 * none, the innermost of all), and the line of the user's own that led there.
 *
 * A file is the user's when it lies below a --source-root.  Without one, when it is a file of the
 * checkout around the working directory: the job saw the same files below another folder, or
 * installed, so what counts is the longest tail of its path that is there, with the line in it.
 */
#ifndef MEASURE_OP_SOURCE_H
#define MEASURE_OP_SOURCE_H

#include "measure/swept.h"

struct op_source {
	struct str file, function; /* missing when unknown */
	double line;		   /* NaN when unknown */
	struct str user_file; /* of the first frame in the user's repository, from its top on */
	double user_line;
};
void op_source_of(const struct run *run, const struct subject *s, struct op_source *ret);
/* One more frame of a stack, innermost first. */
void op_source_user(const struct run *run, struct str file, double line, struct op_source *ret);

/* Python's own library, or a package that pip or the system installed. */
bool is_installed(struct str file);

struct checkout *checkout_new(const struct measure_options *o, struct arena *keep);

#endif
