#include "base/embed.h"

struct str embed_find(struct str name)
{
	for (const struct embedded *file = embedded_files; file->name; file++)
		if (str_eq(str_from(file->name), name))
			return file->text;
	return MISSING;
}

const struct embedded *embed_of(struct str text)
{
	for (ptrdiff_t i = 0; i < embedded_count; i++)
		if (embedded_files[i].text.p == text.p)
			return &embedded_files[i];
	return NULL;
}
