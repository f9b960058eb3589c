/*
 * What rooflint adds to cJSON: numbers that survive, and errors with positions.
 *
 * cJSON prints doubles with up to 17 digits and loses 64-bit integers; here numbers go in as raw,
 * shortest round-trip text, NaN as null, and ids as strings.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <cjson/cJSON.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/out.h"

#define JSON_MAX_BYTES ((ptrdiff_t)256 << 20) /* a report.json of a fleet-sized batch */

/* Parse a document; a syntax error names file, line and column.  Free with cJSON_Delete. */
cJSON *json_parse(struct str file, struct str text, struct diag *err);

void json_add_str(cJSON *object, const char *key, struct str value); /* missing -> null */
void json_add_double(cJSON *object, const char *key, double value);  /* NaN, inf -> null */
void json_add_i64(cJSON *object, const char *key, int64_t value);
void json_add_bool(cJSON *object, const char *key, bool value);
cJSON *json_add_object(cJSON *object, const char *key);
cJSON *json_add_array(cJSON *object, const char *key);
cJSON *json_push_object(cJSON *array);
cJSON *json_double(double value); /* an item for an array */
cJSON *json_str(struct str value);

/* Two-space indented text with a final newline, the same bytes on every machine. */
struct str json_text(const cJSON *item, struct arena *keep);
/* Written, and freed. */
void json_write(cJSON *item, struct arena *keep, struct out *o);

/*
 * The same text of a document that is too large for a tree: an object or an array is opened, its
 * items are written one after the other, and it is closed.  `key` is NULL in an array and outside.
 */
struct json_stream {
	struct out *out;
	int depth;
	bool has_items; /* in what is open */
};
void json_open(struct json_stream *s, const char *key, char bracket);
void json_item(struct json_stream *s, const char *key, const cJSON *item);
void json_items(struct json_stream *s, const cJSON *object); /* all of them */
void json_close(struct json_stream *s, char bracket);

/* The same on one line of its own, for records. */
void json_line(const cJSON *item, struct out *o);
struct str json_compact(const cJSON *item, struct arena *keep); /* without its newline */

struct str json_get_str(const cJSON *object, const char *key); /* missing when absent or null */
double json_get_double(const cJSON *object, const char *key);  /* NaN when absent or null */

#endif
