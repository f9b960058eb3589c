/* Requests and answers as heads of frames, by table. */
#include <math.h>
#include <string.h>

#include "base/secret.h"
#include "http/http.h"

static const struct request defaults = {
	.content_type = STR_INIT("application/json"),
	.timeout_s = 20,
	.deadline_s = 90,
	.attempts = 5,
	.answer_bytes = 4096,
	.stall_s = 30,
};

enum key_kind { KEY_TEXT, KEY_NUMBER, KEY_NAME, KEY_BYTES /* any text */ };

static const struct key {
	const char *name;
	enum key_kind kind;
	ptrdiff_t offset;
	const char *needed; /* the methods that need it, blanks between; NULL: none */
	double most;	    /* of a number */
} keys[] = {
	{ "id", KEY_NUMBER, offsetof(struct request, id), NULL, 1e15 },
	{ "method", KEY_TEXT, offsetof(struct request, method), NULL, 0 },
	{ "url", KEY_TEXT, offsetof(struct request, url), NULL, 0 },
	{ "url_from", KEY_NAME, offsetof(struct request, url_from), NULL, 0 },
	{ "secret_from", KEY_NAME, offsetof(struct request, secret_from), NULL, 0 },
	{ "user_from", KEY_NAME, offsetof(struct request, user_from), NULL, 0 },
	{ "password_from", KEY_NAME, offsetof(struct request, password_from), NULL, 0 },
	{ "message_id", KEY_TEXT, offsetof(struct request, message_id), NULL, 0 },
	{ "content_type", KEY_TEXT, offsetof(struct request, content_type), NULL, 0 },
	{ "timeout_s", KEY_NUMBER, offsetof(struct request, timeout_s), NULL, HTTP_MAX_SECONDS },
	{ "deadline_s", KEY_NUMBER, offsetof(struct request, deadline_s), NULL, HTTP_MAX_SECONDS },
	{ "attempts", KEY_NUMBER, offsetof(struct request, attempts), NULL, HTTP_MAX_ATTEMPTS },
	{ "answer_bytes", KEY_NUMBER, offsetof(struct request, answer_bytes), NULL,
		HTTP_MAX_ANSWER },
	{ "object", KEY_BYTES, offsetof(struct request, object), "LIST FETCH", 0 },
	{ "page", KEY_TEXT, offsetof(struct request, page), NULL, 0 },
	{ "after", KEY_BYTES, offsetof(struct request, after), NULL, 0 },
	{ "delimiter", KEY_TEXT, offsetof(struct request, delimiter), NULL, 0 },
	{ "version", KEY_TEXT, offsetof(struct request, version), NULL, 0 },
	{ "to", KEY_BYTES, offsetof(struct request, to), "FETCH", 0 },
	{ "bytes", KEY_NUMBER, offsetof(struct request, bytes), "FETCH", 1e15 },
	{ "stall_s", KEY_NUMBER, offsetof(struct request, stall_s), NULL, HTTP_MAX_SECONDS },
	{ "length", KEY_NUMBER, -1, NULL, 0 }, /* the frame's own */
};
enum { KEYS = COUNT_OF(keys) };

static bool read_value(const struct key *k, const cJSON *v, char *to, struct diag *err)
{
	struct str text = cJSON_IsString(v) ? str_from(v->valuestring) : MISSING;
	if (k->kind == KEY_NUMBER) {
		double n = cJSON_IsNumber(v) ? v->valuedouble : (double)NAN;
		*(double *)(void *)to = n;
		return (n >= 0 && n <= k->most) ||
		       diag_set(err, DIAG_DELIVERY, "'%s' is a number from 0 to %.0f", k->name,
			       k->most);
	}
	*(struct str *)(void *)to = text;
	if (k->kind == KEY_BYTES)
		return text.len > 0 || diag_set(err, DIAG_DELIVERY, "'%s' is a text", k->name);
	if (k->kind == KEY_NAME && !secret_name_ok(text))
		return diag_set(err, DIAG_DELIVERY,
			"'%s' is the name of an environment variable: ROOFLINT_ and more of A-Z, "
			"0-9 and _",
			k->name);
	/* What goes into a header must not end it. */
	return (text.len && str_only(text, " -~")) ||
	       diag_set(err, DIAG_DELIVERY, "'%s' is a text of plain ASCII", k->name);
}

bool request_read(const cJSON *head, struct str body, struct request *ret, struct diag *err)
{
	const cJSON *v;
	*ret = defaults;
	ret->body = body;
	cJSON_ArrayForEach(v, head)
	{
		const struct key *k = keys;
		while (k < keys + KEYS && strcmp(v->string, k->name) != 0)
			k++;
		if (k == keys + KEYS)
			return diag_set(
				err, DIAG_DELIVERY, "a request has no key '%.100s'", v->string);
		if (k->offset >= 0 && !read_value(k, v, (char *)ret + k->offset, err))
			return false;
	}
	const char *lacks = !cJSON_HasObjectItem(head, "id") ? "id" : "method";
	if (!cJSON_HasObjectItem(head, lacks))
		return diag_set(err, DIAG_DELIVERY, "a request needs '%s'", lacks);
	if (!str_is_among(ret->method, "POST LIST FETCH"))
		return diag_set(err, DIAG_DELIVERY, "'method' is POST, LIST or FETCH");
	if (str_eq(ret->method, STR("POST")) && !ret->url.p == !ret->url_from.p)
		return diag_set(err, DIAG_DELIVERY, "a request needs 'url' or 'url_from'");
	for (int i = 0; i < KEYS; i++)
		if (keys[i].needed && str_is_among(ret->method, keys[i].needed) &&
			!cJSON_HasObjectItem(head, keys[i].name))
			return diag_set(err, DIAG_DELIVERY, "a request needs '%s'", keys[i].name);
	if (ret->secret_from.p && !ret->message_id.p)
		return diag_set(err, DIAG_DELIVERY, "what is signed needs a 'message_id'");
	return true;
}

cJSON *answer_write(const struct request *r, const struct answer *a)
{
	static const struct str outcomes[] = { STR_INIT("delivered"), STR_INIT("later"),
		STR_INIT("refused"), STR_INIT("gone") };
	cJSON *head = cJSON_CreateObject();
	json_add_double(head, "id", r->id);
	json_add_str(head, "outcome", outcomes[a->outcome]);
	json_add_i64(head, "status", a->status);
	json_add_i64(head, "attempts", a->attempts);
	if (a->error.len)
		json_add_str(head, "error", a->error);
	if (a->next.p)
		json_add_str(head, "next", a->next);
	if (a->origin.p)
		json_add_str(head, "origin", a->origin);
	return head;
}
