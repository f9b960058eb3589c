#include "base/embed.h"

struct str embed_find(struct str name)
{
	ptrdiff_t low = 0, high = embedded_count;

	while (low < high) {
		ptrdiff_t mid = low + (high - low) / 2;
		int order = str_cmp(name, str_from(embedded_files[mid].name));

		if (order == 0)
			return embedded_files[mid].text;
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return (struct str){ NULL, 0 };
}

const struct embedded *embed_of(struct str text)
{
	for (ptrdiff_t i = 0; i < embedded_count; i++)
		if (embedded_files[i].text.p == text.p)
			return &embedded_files[i];
	return NULL;
}
