/*
 * Inside of measure/: the stages of a run while it is asked for more (plots.h).  For run.c alone.
 */
#ifndef MEASURE_MEASURED_H
#define MEASURE_MEASURED_H

#include "measure/writers.h"

struct measured {
	struct run run;
	struct programs programs;
};

#endif
