/* Filling: one walk over the tree, with the records at hand from the outermost in. */
#include "report/template_tree.h"

#include <math.h>

static const void *cell(const struct records *r, struct ref ref)
{
	return (const char *)r->items[r->count - 1 - ref.up] + ref.field->offset;
}

bool record_has(const struct records *r, struct ref ref)
{
	const void *at = cell(r, ref);
	switch (ref.field->type) {
	case RECORD_LIST:
		return record_list(r, ref).count > 0;
	case RECORD_PICTURE:
		return ((const struct template_picture *)at)->draw != NULL;
	case RECORD_REAL:
		return isfinite(*(const double *)at);
	case RECORD_FLAG:
		return *(const bool *)at;
	default:
		return ((const struct str *)at)->len > 0;
	}
}

struct str record_text(const struct records *r, struct ref ref)
{
	if (!record_has(r, ref))
		return str_from(NULL);
	if (ref.field->type == RECORD_FLAG)
		return STR("yes");
	if (ref.field->type == RECORD_REAL)
		return double_text(r->keep, *(const double *)cell(r, ref));
	return *(const struct str *)cell(r, ref);
}

struct template_list record_list(const struct records *r, struct ref ref)
{
	return *(const struct template_list *)cell(r, ref);
}

bool records_allow(const struct records *r, struct ref only_if, struct ref only_else)
{
	return (!only_if.field || record_has(r, only_if)) &&
	       (!only_else.field || !record_has(r, only_else));
}

void records_enter(struct records *r, struct ref list, ptrdiff_t index)
{
	r->items[r->count++] =
		(const char *)record_list(r, list).items + index * list.field->record->bytes;
}

/* ---- pages ----------------------------------------------------------------------------------- */

struct fill {
	struct xhtml *x;
	struct records r;
};

static void fill_attribute(const struct fill *f, const struct attribute *a)
{
	const struct part *parts = a->value.parts;
	bool is_slot = a->value.count == 1 && parts[0].ref.field;
	struct out *o = out_memory(f->x->keep);
	if (is_slot && !record_has(&f->r, parts[0].ref))
		return;
	bool is_flag = is_slot && parts[0].ref.field->type == RECORD_FLAG;
	for (ptrdiff_t i = 0; i < a->value.count && !is_flag; i++)
		out_str(o,
			parts[i].ref.field ? record_text(&f->r, parts[i].ref) : parts[i].literal);
	xhtml_attr_name(f->x, a->name, out_text(o));
}

static void fill_nodes(struct fill *f, const struct node *n);

static void fill_one(struct fill *f, const struct node *n)
{
	if (!records_allow(&f->r, n->only_if, n->only_else))
		return;
	for (ptrdiff_t i = 0; i < n->text.count; i++)
		xhtml_text(f->x, n->text.parts[i].ref.field
					 ? record_text(&f->r, n->text.parts[i].ref)
					 : n->text.parts[i].literal);
	if (n->raw.p) {
		xhtml_raw(f->x, n->element, n->raw);
		return;
	}
	if (n->element.p)
		xhtml_open(f->x, n->element);
	for (ptrdiff_t i = 0; i < n->attribute_count; i++)
		fill_attribute(f, &n->attributes[i]);
	if (n->picture.field && record_has(&f->r, n->picture)) {
		const struct template_picture *p = cell(&f->r, n->picture);
		p->draw(p->what, f->x);
	}
	fill_nodes(f, n->child);
	if (n->element.p)
		xhtml_close(f->x);
}

static void fill_nodes(struct fill *f, const struct node *n)
{
	for (; n; n = n->next) {
		ptrdiff_t count = n->each.field ? record_list(&f->r, n->each).count : 0;
		for (ptrdiff_t i = 0; i < count; i++) {
			records_enter(&f->r, n->each, i);
			fill_one(f, n);
			f->r.count--;
		}
		if (!n->each.field)
			fill_one(f, n);
	}
}

void page_template_fill(const struct page_template *t, const void *record, struct xhtml *x)
{
	struct fill f = { .x = x, .r = { .items = { record }, .count = 1, .keep = x->keep } };
	xhtml_doctype(x);
	fill_nodes(&f, t->root);
	xhtml_close(x); /* nothing, when all is well */
}
