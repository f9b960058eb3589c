/* See record.h. */
#include "base/record.h"

struct template_list record_items(const struct record_field *f, const void *record)
{
	return *(const struct template_list *)(const void *)((const char *)record + f->offset);
}
