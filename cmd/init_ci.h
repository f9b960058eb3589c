/*
 * rooflint init --ci: a pipeline that judges every run.
 */
#ifndef CMD_INIT_CI_H
#define CMD_INIT_CI_H

#include "cmd/cmd.h"

enum ci { CI_NONE, CI_GITHUB, CI_GITLAB, CI_JENKINS, CI_BUILDKITE };
#define CI_WORDS "none|github|gitlab|jenkins|buildkite"

/* Print it, for the profile's path in the pipeline; missing: runs. */
enum status init_ci(struct context *c, int system, struct str profile);

#endif
