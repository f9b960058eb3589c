/* Filling: one walk over the tree, with the records at hand from the outermost in. */
#include "report/template_tree.h"

/* Records from the outermost to the one at hand. */
struct fill {
	struct xhtml *x;
	const void *records[TEMPLATE_MAX_SCOPES];
	int count;
};

static const void *cell(const struct fill *f, struct ref ref)
{
	return (const char *)f->records[f->count - 1 - ref.up] + ref.field->offset;
}

static struct str cell_str(const struct fill *f, struct ref ref)
{
	if (ref.field->kind == FIELD_FLAG)
		return *(const bool *)cell(f, ref) ? STR("yes") : str_from(NULL);
	return *(const struct str *)cell(f, ref);
}

static bool has_value(const struct fill *f, struct ref ref)
{
	switch (ref.field->kind) {
	case FIELD_LIST:
		return ((const struct template_list *)cell(f, ref))->count > 0;
	case FIELD_PICTURE:
		return ((const struct template_picture *)cell(f, ref))->draw != NULL;
	case FIELD_TEXT:
	case FIELD_FLAG:
		break;
	}
	return cell_str(f, ref).len > 0;
}

static struct str pattern_text(const struct fill *f, const struct pattern *p)
{
	struct out *o = out_memory(f->x->keep);
	for (ptrdiff_t i = 0; i < p->count; i++)
		out_str(o,
			p->parts[i].ref.field ? cell_str(f, p->parts[i].ref) : p->parts[i].literal);
	return out_text(o);
}

static void fill_attribute(const struct fill *f, const struct attribute *a)
{
	bool is_slot = a->value.count == 1 && a->value.parts[0].ref.field;
	if (is_slot && !has_value(f, a->value.parts[0].ref))
		return;
	bool is_flag = is_slot && a->value.parts[0].ref.field->kind == FIELD_FLAG;
	xhtml_attr_name(f->x, a->name, is_flag ? STR("") : pattern_text(f, &a->value));
}

static void fill_nodes(struct fill *f, const struct node *n);

static void fill_content(struct fill *f, const struct node *n)
{
	if (n->picture.field && has_value(f, n->picture)) {
		const struct template_picture *p = cell(f, n->picture);
		p->draw(p->what, f->x);
	}
	fill_nodes(f, n->child);
}

static void fill_element(struct fill *f, const struct node *n)
{
	xhtml_open(f->x, n->element);
	for (ptrdiff_t i = 0; i < n->attribute_count; i++)
		fill_attribute(f, &n->attributes[i]);
	fill_content(f, n);
	xhtml_close(f->x);
}

static void fill_one(struct fill *f, const struct node *n)
{
	if (n->only_if.field && !has_value(f, n->only_if))
		return;
	if (n->only_else.field && has_value(f, n->only_else))
		return;
	for (ptrdiff_t i = 0; i < n->text.count; i++)
		xhtml_text(f->x, n->text.parts[i].ref.field ? cell_str(f, n->text.parts[i].ref)
							    : n->text.parts[i].literal);
	if (n->raw.p)
		xhtml_raw(f->x, n->element, n->raw);
	else if (n->element.p)
		fill_element(f, n);
	else
		fill_content(f, n);
}

static void fill_each(struct fill *f, const struct node *n)
{
	const struct template_list *list = cell(f, n->each);
	ptrdiff_t bytes = n->each.field->record->bytes;
	f->count++;
	for (ptrdiff_t i = 0; i < list->count; i++) {
		f->records[f->count - 1] = (const char *)list->items + i * bytes;
		fill_one(f, n);
	}
	f->count--;
}

static void fill_nodes(struct fill *f, const struct node *n)
{
	for (; n; n = n->next)
		if (n->each.field)
			fill_each(f, n);
		else
			fill_one(f, n);
}

void page_template_fill(const struct page_template *t, const void *record, struct xhtml *x)
{
	struct fill f = { .x = x, .records = { record }, .count = 1 };
	xhtml_doctype(x);
	fill_nodes(&f, t->root);
	xhtml_close(x); /* nothing, when all is well */
}
