/*
 * Secrets stay where they are: in environment variables.  Files, messages between programs and
 * the spool carry their names only.
 *
 * Names begin with ROOFLINT_, so that a rule file from a pull request cannot point at another
 * secret of the job.
 *
 * Refuses: printing, storing or copying a value.
 */
#ifndef BASE_SECRET_H
#define BASE_SECRET_H

#include "base/str.h"

#define SECRET_NAME_MAX 128

bool secret_name_ok(struct str name);	  /* ROOFLINT_ and more of A-Z, 0-9 and _ */
struct str secret_value(struct str name); /* missing when unset or empty, or no such name */

/* Takes them out of the environment, for a program that is to be started and needs none. */
void secret_forget(void);
/* From now on this process leaves no core file and cannot be looked into by others of its user. */
void secret_seal(void);

#endif
