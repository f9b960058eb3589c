/*
 * Reading and writing cJSON trees without its printer.  See json.h.
 *
 * cJSON's own printer indents by tabs, pads keys and prints 17 digits; json_text walks the tree
 * itself.  cJSON returns NULL when memory is out and ignores NULL items, so a document would lack
 * them: programs give it memory_get for its malloc.
 */
#include "base/json.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "base/utf8.h"

static bool is_blank(struct str s)
{
	return !str_trim(s).len;
}

/*
 * Where the error is, as an offset up to and with text.len.  cJSON moves an error at the end of the
 * text onto its last byte; with one blank more behind it the two can be told apart.
 */
static ptrdiff_t error_offset(struct str text)
{
	const char *at = NULL;
	char *longer = malloc((size_t)text.len + 1);
	if (!longer)
		return 0;
	memcpy(longer, text.p, (size_t)text.len);
	longer[text.len] = ' ';
	cJSON_Delete(cJSON_ParseWithLengthOpts(longer, (size_t)text.len + 1, &at, 0));
	ptrdiff_t offset = at ? at - longer : 0;
	free(longer);
	return offset;
}

static bool syntax_error(struct str file, struct str text, ptrdiff_t offset, struct diag *err)
{
	return diag_caret(err, DIAG_FILE_KIND, text_place_at(file, text, offset),
		offset >= text.len ? "the JSON text ends too early"
				   : "not valid JSON from here on");
}

cJSON *json_parse(struct str file, struct str text, struct diag *err)
{
	const char *end = text.p;
	if (text.len > JSON_MAX_BYTES) {
		diag_set(err, DIAG_LIMIT, "'%.*s' is larger than %lld MiB, the most read as JSON",
			STR_ARG(file), (long long)(JSON_MAX_BYTES >> 20));
		return NULL;
	}
	if (is_blank(text)) {
		diag_set(
			err, DIAG_FILE_EMPTY, "'%.*s' is empty, and JSON is needed", STR_ARG(file));
		return NULL;
	}
	cJSON *root = cJSON_ParseWithLengthOpts(text.p, (size_t)text.len, &end, 0);
	struct str rest = str_from_offset(text, end - text.p);
	if (root && is_blank(rest))
		return root;
	while (root && rest.len && str_trim(str_head(rest, 1)).len == 0)
		rest = str_from_offset(rest, 1);
	syntax_error(file, text, root ? text.len - rest.len : error_offset(text), err);
	cJSON_Delete(root);
	return NULL;
}

/* A C string that is valid UTF-8 whatever came in, so that the document is valid too. */
static char *utf8_copy(struct str s)
{
	char *copy = memory_get((size_t)s.len * 3 + 1), *to = copy;
	while (s.len) {
		uint32_t c;
		int n = utf8_next(s, &c);
		struct str piece = n > 0 && c ? str_head(s, n) : STR("\xef\xbf\xbd");
		memcpy(to, piece.p, (size_t)piece.len);
		to += piece.len;
		s = str_from_offset(s, n > 0 ? n : -n);
	}
	*to = 0;
	return copy;
}

cJSON *json_str(struct str value)
{
	if (!value.p)
		return cJSON_CreateNull();
	char *copy = utf8_copy(value);
	cJSON *item = cJSON_CreateString(copy);
	free(copy);
	return item;
}

cJSON *json_double(double value)
{
	char buf[NUMBER_BYTES];
	return isfinite(value) ? cJSON_CreateRaw(number_double(buf, value).p) : cJSON_CreateNull();
}

void json_add_str(cJSON *object, const char *key, struct str value)
{
	cJSON_AddItemToObject(object, key, json_str(value));
}

void json_add_double(cJSON *object, const char *key, double value)
{
	cJSON_AddItemToObject(object, key, json_double(value));
}

void json_add_i64(cJSON *object, const char *key, int64_t value)
{
	char buf[NUMBER_BYTES];
	cJSON_AddItemToObject(object, key, cJSON_CreateRaw(number_i64(buf, value).p));
}

void json_add_bool(cJSON *object, const char *key, bool value)
{
	cJSON_AddItemToObject(object, key, cJSON_CreateBool(value));
}

cJSON *json_add_object(cJSON *object, const char *key)
{
	return cJSON_AddObjectToObject(object, key);
}

cJSON *json_add_array(cJSON *object, const char *key)
{
	return cJSON_AddArrayToObject(object, key);
}

cJSON *json_push_object(cJSON *array)
{
	cJSON *item = cJSON_CreateObject();
	cJSON_AddItemToArray(array, item);
	return item;
}

static void put_string(struct out *o, const char *z)
{
	static const char named[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
	out_char(o, '"');
	for (; *z; z++) {
		const char *hit = strchr(named, *z);
		size_t plain = strcspn(z, "\"\\\x01\x02\x03\x04\x05\x06\x07\b\t\n\v\f\r\x0e\x0f"
					  "\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c"
					  "\x1d\x1e\x1f");
		if (plain) {
			out_str(o, (struct str){ z, (ptrdiff_t)plain });
			z += plain - 1;
		} else if (hit) {
			out_fmt(o, "\\%c", letters[hit - named]);
		} else {
			out_fmt(o, "\\u%04x", (unsigned char)*z);
		}
	}
	out_char(o, '"');
}

static void put_scalar(struct out *o, const cJSON *item)
{
	if (cJSON_IsString(item))
		put_string(o, item->valuestring);
	else if (cJSON_IsRaw(item))
		out_z(o, item->valuestring);
	else if (cJSON_IsNumber(item) && isfinite(item->valuedouble))
		out_double(o, item->valuedouble);
	else
		out_z(o, cJSON_IsTrue(item) ? "true" : cJSON_IsFalse(item) ? "false" : "null");
}

static bool is_container(const cJSON *item)
{
	return cJSON_IsArray(item) || cJSON_IsObject(item);
}

/* A column of numbers goes on one line; anything else gets a line per item. */
static bool is_numbers(const cJSON *array)
{
	const cJSON *item;
	if (!cJSON_IsArray(array))
		return false;
	cJSON_ArrayForEach(
		item, array) if (is_container(item) || cJSON_IsString(item)) return false;
	return true;
}

/* On one line when `depth` is below 0.  Depth is bounded: parsed trees by cJSON (1000), trees of
 * our own by their writers. */
static void put(struct out *o, const cJSON *item, int depth)
{
	bool object = cJSON_IsObject(item), on_line = depth < 0 || is_numbers(item);
	const cJSON *child;
	assert(item);
	if (!is_container(item)) {
		put_scalar(o, item);
		return;
	}
	out_char(o, object ? '{' : '[');
	cJSON_ArrayForEach(child, item)
	{
		if (child != item->child)
			out_z(o, on_line && depth >= 0 ? ", " : ",");
		if (!on_line) {
			out_char(o, '\n');
			out_repeat(o, ' ', 2 * (depth + 1));
		}
		if (object) {
			put_string(o, child->string);
			out_z(o, depth < 0 ? ":" : ": ");
		}
		put(o, child, depth < 0 ? depth : depth + 1);
	}
	if (item->child && !on_line) {
		out_char(o, '\n');
		out_repeat(o, ' ', 2 * depth);
	}
	out_char(o, object ? '}' : ']');
}

struct str json_text(const cJSON *item, struct arena *keep)
{
	struct out *o = out_memory(keep);
	put(o, item, 0);
	out_char(o, '\n');
	return out_text(o);
}

void json_write(cJSON *item, struct arena *keep, struct out *o)
{
	out_str(o, json_text(item, keep));
	cJSON_Delete(item);
}

/* ---- one item after the other ---------------------------------------------------------------- */

static void begin_line(struct json_stream *s, const char *key)
{
	if (!s->depth)
		return;
	out_z(s->out, s->has_items ? ",\n" : "\n");
	out_repeat(s->out, ' ', 2 * s->depth);
	if (key) {
		put_string(s->out, key);
		out_z(s->out, ": ");
	}
}

void json_open(struct json_stream *s, const char *key, char bracket)
{
	begin_line(s, key);
	out_char(s->out, bracket);
	s->depth++;
	s->has_items = false;
}

void json_item(struct json_stream *s, const char *key, const cJSON *item)
{
	begin_line(s, key);
	put(s->out, item, s->depth);
	s->has_items = true;
}

void json_items(struct json_stream *s, const cJSON *object)
{
	const cJSON *child;
	cJSON_ArrayForEach(child, object) json_item(s, child->string, child);
}

void json_close(struct json_stream *s, char bracket)
{
	s->depth--;
	if (s->has_items) {
		out_char(s->out, '\n');
		out_repeat(s->out, ' ', 2 * s->depth);
	}
	out_char(s->out, bracket);
	out_z(s->out, s->depth ? "" : "\n");
	s->has_items = true;
}

/* ---- one line -------------------------------------------------------------------------------- */

struct str json_compact(const cJSON *item, struct arena *keep)
{
	struct out *o = out_memory(keep);
	put(o, item, -1);
	return out_text(o);
}

void json_line(const cJSON *item, struct out *o)
{
	put(o, item, -1);
	out_char(o, '\n');
}

struct str json_get_str(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
	return cJSON_IsString(item) ? str_from(item->valuestring) : MISSING;
}

double json_get_double(const cJSON *object, const char *key)
{
	double value;
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
	if (cJSON_IsNumber(item))
		return item->valuedouble;
	if (cJSON_IsRaw(item) && str_to_double(str_from(item->valuestring), &value))
		return value;
	return NAN;
}
