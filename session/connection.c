/* Stores and how they are reached.  See connection.h. */
#include "session/connection.h"

#include <math.h>

#include "base/secret.h"
#include "store/address.h"

/* What is asked is the same when it is asked again, so attempts that fail are repeated. */
static void ask(
	void *arg, const struct store_question *q, struct arena *keep, struct store_answer *ret)
{
	struct connection *c = arg;
	/* Time for a second attempt behind one that stalled, as far as rooflint-http takes it. */
	double deadline_s = fmin(2 * q->timeout_s, ADDRESS_MAX_TIMEOUT);
	const struct http_limits limits = { q->timeout_s, deadline_s, q->answer_bytes };
	struct diag err;
	struct frame f;
	cJSON *head = cJSON_CreateObject();
	json_add_str(head, "method", STR("POST"));
	json_add_str(head, "url", q->url);
	json_add_str(head, "content_type", STR("application/octet-stream"));
	json_add_i64(head, "attempts", 3); /* a server that restarts; then the program tells */
	if (q->user_from.p)
		json_add_str(head, "user_from", q->user_from);
	if (q->password_from.p)
		json_add_str(head, "password_from", q->password_from);
	*ret = (struct store_answer){ 0 };
	if (http_client_ask(&c->http, head, q->body, &limits, keep, &f, &err)) {
		struct str why = json_get_str(f.head, "error");
		ret->body = f.body;
		if (!str_eq(json_get_str(f.head, "outcome"), STR("delivered")))
			ret->error = arena_str(keep, why.p ? why : STR("no answer"));
		frame_release(&f);
	} else {
		ret->error = arena_str(keep, str_from(err.text));
	}
	cJSON_Delete(head);
}

bool connection_open(struct connection *c, struct str place, enum store_use use, struct arena *keep,
	struct diag *err)
{
	const struct store_link link = { ask, c };
	*c = (struct connection){ 0 };
	if (address_is_remote(place))
		secret_seal(); /* before a hostile profile is opened */
	c->store = store_open(place, use, &link, keep, err);
	return c->store != NULL;
}

bool connection_flush(struct connection *c, struct diag *err)
{
	return !c->store || store_flush(c->store, err);
}

void connection_close(struct connection *c)
{
	store_close(c->store);
	http_client_close(&c->http);
	c->store = NULL;
}
