/* Rows of the tables that tell templates what a record holds.  Private to report/. */
#ifndef REPORT_FIELDS_H
#define REPORT_FIELDS_H

#include "report/template.h"

#define TEXT(record, field, meaning)                                                               \
	{                                                                                          \
#field, FIELD_TEXT, offsetof(struct record, field), NULL, meaning                  \
	}
#define FLAG(record, field, meaning)                                                               \
	{                                                                                          \
#field, FIELD_FLAG, offsetof(struct record, field), NULL, meaning                  \
	}
#define PICTURE(record, field, meaning)                                                            \
	{                                                                                          \
#field, FIELD_PICTURE, offsetof(struct record, field), NULL, meaning               \
	}
#define MANY(record, field, items, meaning)                                                        \
	{                                                                                          \
#field, FIELD_LIST, offsetof(struct record, field), &items, meaning                \
	}
#define END                                                                                        \
	{                                                                                          \
		0                                                                                  \
	}
#define RECORD(label, record, fields)                                                              \
	static const struct template_record record##_record = { label,                             \
		(ptrdiff_t)sizeof(struct record), fields }

#endif
