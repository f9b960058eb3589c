/*
 * The fields that templates of the weekly page may use.  docs/templates.md is this list; a test
 * compares them.
 */
#include "report/fields.h"
#include "report/fleet_view.h"

static const struct template_field tile_fields[] = {
	TEXT(fleet_tile, label, "what is counted: \"Step time\""),
	TEXT(fleet_tile, value, "how much: \"32.5 ms\""),
	TEXT(fleet_tile, note, "a remark in small print"),
	TEXT(fleet_tile, section, "anchor of the section that has it in parts"),
	END,
};
RECORD("a number of the fleet", fleet_tile, tile_fields);

static const struct template_field column_fields[] = {
	TEXT(html_column, name, "its head"),
	TEXT(html_column, meaning, "what stands in it"),
	FLAG(html_column, is_number, "its cells are numbers"),
	END,
};
RECORD("a column of the fleet", html_column, column_fields);

static const struct template_field value_fields[] = {
	TEXT(fleet_value, text, "the value with its unit"),
	TEXT(fleet_value, whole, "all of it, when it was cut"),
	TEXT(fleet_value, tone, "\"bad\" or \"good\" where that can be said"),
	FLAG(fleet_value, is_number, "it is a number"),
	FLAG(fleet_value, is_short, "it is a text too short to be broken into lines"),
	PICTURE(fleet_value, picture, "the same, drawn"),
	END,
};
RECORD("a value", fleet_value, value_fields);

static const struct template_field line_fields[] = {
	TEXT(fleet_line, page, "the page of the run that it tells of, where there is one"),
	TEXT(fleet_line, head, "the name it goes by"),
	TEXT(fleet_line, head_whole, "all of it, when it was cut"),
	MANY(fleet_line, cells, fleet_value_record, "its values"),
	END,
};
RECORD("a line", fleet_line, line_fields);

static const struct template_field section_fields[] = {
	TEXT(fleet_section, id, "its anchor"),
	TEXT(fleet_section, title, "what is asked"),
	TEXT(fleet_section, about, "what a line is, and how they are sorted"),
	TEXT(fleet_section, none, "what it means that there are no lines"),
	TEXT(fleet_section, more, "how many lines are not shown"),
	FLAG(fleet_section, is_narrow, "it fits beside another"),
	MANY(fleet_section, columns, html_column_record, "heads of the columns"),
	MANY(fleet_section, lines, fleet_line_record, "the answer"),
	END,
};
RECORD("a section", fleet_section, section_fields);

static const struct template_field page_fields[] = {
	TEXT(fleet_page, title, "for the window"),
	TEXT(fleet_page, window, "from when to when"),
	TEXT(fleet_page, before, "begin of the window before, which this one is compared with"),
	TEXT(fleet_page, coverage, "how many of the runs could be judged"),
	TEXT(fleet_page, goodput, "how near to its roofline the fleet runs"),
	TEXT(fleet_page, promise, "what all fixes together give back"),
	TEXT(fleet_page, news,
		"how many problems are new and fixed, and workloads slower and faster"),
	TEXT(fleet_page, problems, "its first half, where there is a window to compare with"),
	TEXT(fleet_page, moves, "its second half"),
	TEXT(fleet_page, cpus, "how many workloads ran on CPUs alone"),
	TEXT(fleet_page, version, "of rooflint"),
	TEXT(fleet_page, weight, "what ratios of several workloads are weighted by"),
	FLAG(fleet_page, has_mfu, "the MFU of some workload is known"),
	FLAG(fleet_page, has_usage, "chip-hours are known"),
	MANY(fleet_page, tiles, fleet_tile_record, "the numbers at the top"),
	TEXT(fleet_page, chips_about, "what is drawn there"),
	PICTURE(fleet_page, chips, "the workloads that would give back most"),
	MANY(fleet_page, main, fleet_section_record, "what to do first"),
	MANY(fleet_page, groups, fleet_section_record, "the fleet by chip, owner, model and size"),
	MANY(fleet_page, rest, fleet_section_record, "what moved, and how good the data is"),
	END,
};
const struct template_record fleet_page_record = { "the weekly page",
	(ptrdiff_t)sizeof(struct fleet_page), page_fields };
