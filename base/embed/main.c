/*
 * embed FILE...: the C table of embedded files (base/embed.h), sorted by name, on standard output.
 * What is a document is parsed here, with the reader that reads a user's, so that no start of the
 * program parses it again.  A file that the folder INSTEAD has, too, is taken from there, under its
 * own name.
 *
 * Part of the build: it runs on the machine that builds.
 */
#include <stdlib.h>

#include "base/doc.h"
#include "base/embed.h"
#include "base/input.h"
#include "base/out.h"

/* The parser looks here for what was parsed before. */
const struct embedded embedded_files[] = { { NULL, { NULL, 0 }, { NULL, { NULL, 0 } } } };
const ptrdiff_t embedded_count = 0;

/* Octal, because an octal escape ends by itself after three digits. */
static void write_bytes(struct out *o, struct str s)
{
	out_z(o, "{ \"");
	for (ptrdiff_t i = 0; i < s.len; i++)
		out_fmt(o, "%s\\%03o", i % 16 ? "" : "\"\n\"", (unsigned char)s.p[i]);
	out_fmt(o, "\", %td }", s.len);
}

/* From the top down, each node before its children; `texts` takes what the source does not hold. */
static void write_node(
	struct out *o, const struct doc *d, const struct doc_node *n, struct out *texts)
{
	bool is_scalar = n->kind == DOC_SCALAR;
	uintptr_t at = (uintptr_t)n->text.p - (uintptr_t)d->source.p;
	bool is_slice = is_scalar && at <= (uintptr_t)d->source.len;
	if (is_scalar && !is_slice) {
		at = (uintptr_t)out_text(texts).len;
		out_str(texts, n->text);
	}
	out_fmt(o, "{ %d, %d, %d, %d, %d, %d, %d, %d, %d },\n", n->kind, n->quoted, n->block,
		is_slice, (int)n->line, (int)n->column, (int)n->width, is_scalar ? (int)at : 0,
		(int)(is_scalar ? n->text.len : n->count));
	for (ptrdiff_t i = 0; i < n->count; i++)
		if (n->kind == DOC_LIST) {
			write_node(o, d, n->items[i], texts);
		} else {
			write_node(o, d, n->pairs[i].key, texts);
			write_node(o, d, n->pairs[i].value, texts);
		}
}

static bool is_document(struct str name, struct str text, struct arena *keep, struct doc *ret)
{
	struct diag ignored;
	return (str_ends(name, STR(".yaml")) || str_ends(name, STR(".json"))) &&
	       doc_parse(name, text, keep, ret, &ignored) && ret->root;
}

/* Its tree as a table of its own, then its line of the whole table. */
static bool write_file(struct out *trees, struct out *table, int index, const char *name,
	const char *instead, struct arena *keep, struct diag *err)
{
	struct doc doc;
	struct str text, path = str_from(name);
	struct str other = arena_fmt(keep, "%s/%s", instead ? instead : "/dev/null", name);
	if (!input_text(other, DOC_MAX_BYTES, keep, &text, err) &&
		!input_text(path, DOC_MAX_BYTES, keep, &text, err))
		return false;
	out_fmt(table, "{ \"%s\", ", name);
	write_bytes(table, text);
	if (is_document(path, text, keep, &doc)) {
		struct out *texts = out_memory(keep);
		out_fmt(trees, "static const struct doc_packed tree_%d[] = {\n", index);
		write_node(trees, &doc, doc.root, texts);
		out_z(trees, "};\n");
		out_fmt(table, ", { tree_%d, ", index);
		write_bytes(table, out_text(texts));
		out_z(table, " } },\n");
	} else {
		out_z(table, ", { 0, { 0, 0 } } },\n");
	}
	return true;
}

static int by_name(const void *a, const void *b)
{
	return str_cmp(str_from(*(char *const *)a), str_from(*(char *const *)b));
}

int main(int count, char **names)
{
	struct arena keep = arena_new(ARENA_RUN_BYTES);
	struct out *trees = out_memory(&keep), *table = out_memory(&keep);
	struct diag err;
	bool ok = true;
	qsort(names + 1, (size_t)count - 1, sizeof(*names), by_name);
	for (int i = 1; i < count && ok; i++)
		ok = write_file(trees, table, i, names[i], getenv("INSTEAD"), &keep, &err);
	struct out *o = out_fd(&keep, ok ? 1 : 2);
	if (!ok) {
		out_fmt(o, "%s\n", err.text);
		out_flush(o);
		return 1;
	}
	out_z(o, "#include \"base/embed.h\"\n");
	out_str(o, out_text(trees));
	out_z(o, "const struct embedded embedded_files[] = {\n");
	out_str(o, out_text(table));
	out_fmt(o, "{ 0, { 0, 0 }, { 0, { 0, 0 } } } };\nconst ptrdiff_t embedded_count = %d;\n",
		count - 1);
	return out_close(o, &err) ? 0 : 1;
}
