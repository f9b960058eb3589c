/* HTML5 written element by element.  See xhtml.h. */
#include "report/xhtml.h"

#include "report/model.h"

struct xhtml xhtml_new(struct out *out, struct arena *keep)
{
	return (struct xhtml){ .out = out, .keep = keep };
}

struct xhtml xhtml_aside(const struct xhtml *x)
{
	return (struct xhtml){ .out = out_memory(x->keep), .keep = x->keep, .svg_depth = 1 };
}

/* The elements that HTML5 gives no end tag. */
static bool is_void(struct str element)
{
	return str_is_among(
		element, "area base br col embed hr img input link meta source track wbr");
}

static void end_tag(struct xhtml *x)
{
	if (x->in_tag)
		out_char(x->out, '>');
	x->in_tag = false;
}

void xhtml_doctype(struct xhtml *x)
{
	out_z(x->out, "<!DOCTYPE html>\n");
}

/* Past the limit elements are left out; templates are refused long before (template_page.c). */
void xhtml_open(struct xhtml *x, struct str name)
{
	end_tag(x);
	if (x->depth >= XHTML_MAX_DEPTH)
		return;
	out_char(x->out, '<');
	out_str(x->out, name);
	x->open[x->depth++] = name;
	x->in_tag = true;
	if (x->svg_depth || str_eq(name, STR("svg")))
		x->svg_depth++;
}

void xhtml_close(struct xhtml *x)
{
	if (!x->depth)
		return;
	struct str name = x->open[--x->depth];
	bool is_empty = x->in_tag;
	if (x->svg_depth && is_empty)
		out_char(x->out, '/'); /* in foreign content, as in XML, this closes */
	end_tag(x);
	if (!(x->svg_depth ? is_empty : is_void(name)))
		out_fmt(x->out, "</%.*s>", STR_ARG(name));
	if (x->svg_depth)
		x->svg_depth--;
}

void xhtml_take(struct xhtml *x, const struct xhtml *aside)
{
	end_tag(x);
	out_str(x->out, out_text(aside->out));
}

/* Newlines in an attribute are kept by every parser. */
static void escape(struct xhtml *x, struct str s)
{
	static const char *const texts[] = { "&lt;", "&gt;", "&amp;", "&quot;", "&#39;" };
	out_replaced(x->out, s, "<>&\"'", texts);
}

void xhtml_attr(struct xhtml *x, struct str name, struct str value)
{
	if (!x->in_tag)
		return;
	out_char(x->out, ' ');
	out_str(x->out, name);
	out_z(x->out, "=\"");
	escape(x, clean_lines(x->keep, value));
	out_char(x->out, '"');
}

void xhtml_text(struct xhtml *x, struct str text)
{
	if (!text.len)
		return;
	end_tag(x);
	escape(x, clean_lines(x->keep, text));
}

/* "</" ends it, "<!" begins what some parsers read on as a comment. */
bool xhtml_is_raw(struct str text)
{
	return !str_contains(text, STR("</")) && !str_contains(text, STR("<!"));
}

void xhtml_raw(struct xhtml *x, struct str element, struct str text)
{
	xhtml_open(x, element);
	end_tag(x);
	if (xhtml_is_raw(text))
		out_str(x->out, text);
	xhtml_close(x);
}
