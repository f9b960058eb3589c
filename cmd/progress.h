/*
 * A line on the terminal while many profiles are judged: how many, how fast, how long still.
 */
#ifndef CMD_PROGRESS_H
#define CMD_PROGRESS_H

#include <stddef.h>

/* Nothing in the first second, so that short batches show nothing; gone when all are done. */
void show_progress(ptrdiff_t done, ptrdiff_t count);

#endif
