/*
 * Training or inference, as a program shows it.
 */
#ifndef MEASURE_PHASE_H
#define MEASURE_PHASE_H

#include "base/str.h"

struct program;
struct run;

/* In the order of PHASE_WORDS. */
enum phase { PHASE_UNKNOWN, PHASE_TRAIN, PHASE_INFERENCE };

/* By a word in the name of a module, a function or a mark. */
enum phase phase_of_name(struct str name);
/* "jit_evaluate": work beside training, by a word in its name. */
bool is_evaluation(struct str name);
/* A gradient is training, whatever the name; NULL is unknown. */
enum phase program_phase(const struct program *p);
/* Inference, as the job file says of the job, else as the program looks.  A server's step is one
 * execution of such a program. */
bool program_serves(const struct run *run, const struct program *p);

#endif
