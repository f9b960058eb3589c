/*
 * rooflint render: any output, later and elsewhere, from the report.json that check wrote.
 */
#include "cmd/output.h"
#include "session/previous.h"

struct render_settings {
	struct output_settings output;
};

static enum status render_run(struct context *c, const void *settings, const struct list *args)
{
	const struct render_settings *s = settings;
	struct report_set set;
	struct diag err;
	if (!output_settings_agree(&s->output, &err))
		return misused(&err);
	if (!report_load(args->items[0], c->keep, &set, &err))
		return fail(&err);
	return output_write(c, &s->output, &set) ? STATUS_OK : STATUS_DELIVERY;
}

static const struct option render_options[] = {
	OUTPUT_OPTIONS(struct render_settings),
	OPTIONS_END,
};

const struct command render_command = {
	.name = "render",
	.arguments = "REPORT.json",
	.summary = "write any output from a report.json",
	.details = "REPORT.json is what `rooflint check --json` wrote. Every output has the bytes "
		   "that check would have given it; without an option, the report is printed as "
		   "check prints it.\n"
		   "\n"
		   "Rendering judges nothing, so the exit status does not repeat the verdict:\n"
		   "  2  the command line is wrong\n"
		   "  3  REPORT.json could not be read\n"
		   "  5  an output file could not be written\n"
		   "  0  none of these",
	.options = render_options,
	.least = 1,
	.most = 1,
	.settings_bytes = sizeof(struct render_settings),
	.run = render_run,
};
