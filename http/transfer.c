/*
 * One request with all its attempts, by libcurl.
 *
 * An error never quotes libcurl's own message, which may hold parts of the address: it is made of
 * libcurl's general one, the status, and what we know.  What a server answers is passed on only
 * when nothing secret is in it.
 */
#include <math.h>
#include <time.h>

#include "base/out.h"
#include "base/secret.h"
#include "http/exchange.h"

#define SEARCHED	4096  /* of an answer for secrets, so that none is shown by half */
#define LEAST_S		0.001 /* libcurl takes 0 for no limit */
#define SHORTEST_SECRET 8     /* that is looked for in an answer: shorter texts occur by chance */

/* What one request keeps over its attempts. */
struct work {
	const struct request *r;
	struct arena *keep;
	struct str url, secret, user, password;
	struct str host; /* of the address */
	CURL *curl;
	double end_s; /* of all attempts */
	/* Of the last attempt. */
	struct out *body;
	ptrdiff_t body_len;
	double retry_after_s;
};

/* ---- one attempt ----------------------------------------------------------------------------- */

/* At the limit the transfer ends: what comes behind it may have no end. */
static bool take_body(void *arg, struct str bytes)
{
	struct work *w = arg;
	ptrdiff_t room = (ptrdiff_t)w->r->answer_bytes;
	room = (room < SEARCHED ? SEARCHED : room) - w->body_len;
	struct str kept = str_head(bytes, room > 0 ? room : 0);
	out_str(w->body, kept);
	w->body_len += kept.len;
	return kept.len == bytes.len;
}

static bool make_headers(struct curl_slist **list, struct work *w, struct diag *err)
{
	const struct request *r = w->r;
	int64_t now = (int64_t)time(NULL); /* of this attempt: receivers refuse old ones */
	*list = NULL;
	diag_set(err, DIAG_LIMIT, "no memory for a request");
	if (!header_add(list, "content-type", r->content_type, w->keep) ||
		!header_add(list, "expect", STR(""), w->keep))
		return false;
	if (!w->secret.p)
		return true;
	struct str standard = sign_standard(w->secret, r->message_id, now, r->body, w->keep, err);
	return standard.p && header_add(list, "webhook-id", r->message_id, w->keep) &&
	       header_add(list, "webhook-timestamp", arena_fmt(w->keep, "%lld", (long long)now),
		       w->keep) &&
	       header_add(list, "webhook-signature", standard, w->keep) &&
	       header_add(
		       list, "x-hub-signature-256", sign_hub(w->secret, r->body, w->keep), w->keep);
}

static bool tells(struct str text, struct str secret)
{
	return secret.len >= SHORTEST_SECRET && str_contains(text, secret);
}

/* Any part of the address behind the host: with most chat services, one of them is the key. */
static bool tells_address(const struct work *w, struct str text)
{
	if (!w->r->url_from.p)
		return false; /* it came without a secret */
	struct str rest = str_from_offset(w->url, str_find(w->url, STR("://")) + 3);
	rest = str_from_offset(rest, str_find_char(rest, '/'));
	for (ptrdiff_t at = 0, end = 0; end < rest.len; at = end + 1) {
		for (end = at; end < rest.len && str_find_char(STR("/?&=#"), rest.p[end]) < 0;)
			end++;
		struct str part = str_head(str_from_offset(rest, at), end - at);
		if (tells(text, part))
			return true;
	}
	return false;
}

static bool tells_secret(const struct work *w, struct str text)
{
	struct str rest = w->secret, key;
	for (bool more = rest.len > 0; more;) {
		more = str_cut(rest, ' ', &key, &rest);
		str_take(&key, STR("whsec_"));
		if (tells(text, key))
			return true;
	}
	return tells(text, w->password) || tells_address(w, text);
}

static struct answer attempt(struct work *w)
{
	struct answer a = { .outcome = OUTCOME_REFUSED };
	struct diag err;
	struct exchange x = { .method = arena_z(w->keep, w->r->method), .take = take_body };
	bool lasting;
	x.url = arena_z(w->keep, w->url);
	x.host = w->host;
	x.body = w->r->body;
	x.user = w->user.p ? arena_z(w->keep, w->user) : NULL;
	x.password = w->password.p ? arena_z(w->keep, w->password) : NULL;
	x.timeout_s = fmin(w->r->timeout_s, fmax(w->end_s - now_s(), LEAST_S));
	x.may_pack = w->r->answer_bytes > SEARCHED; /* rows of a store, not a word or two */
	x.arg = w;
	w->body = out_memory(w->keep);
	w->body_len = 0;
	bool ok = make_headers(&x.headers, w, &err);
	if (ok)
		exchange_run(w->curl, &x);
	curl_slist_free_all(x.headers);
	if (!ok) {
		a.error = arena_str(w->keep, str_from(err.text));
		return a;
	}
	w->retry_after_s = x.retry_after_s;
	/* With a status a message has arrived; only of rows that are asked for all must come. */
	bool is_answered = x.status >= 200 && (x.code == CURLE_WRITE_ERROR || !x.may_pack);
	if (x.code && !is_answered) {
		a.error = str_from(exchange_error(&x, &lasting));
		a.outcome = lasting ? OUTCOME_REFUSED : OUTCOME_LATER;
		return a;
	}
	a.status = x.status;
	a.outcome = outcome_of(x.status);
	if (x.status >= 300 && x.status < 400)
		a.error = STR("the server redirects, which is not followed; give the address it "
			      "leads to");
	else if (a.outcome != OUTCOME_DELIVERED)
		a.error = arena_fmt(w->keep, "the server answered %ld", x.status);
	if (!tells_secret(w, out_text(w->body)))
		a.body = str_head(out_text(w->body), (ptrdiff_t)w->r->answer_bytes);
	return a;
}

/* ---- all attempts ---------------------------------------------------------------------------- */

static void attempts(struct work *w, struct answer *ret)
{
	const char *why = address_refused(w->url, w->keep, &w->host);
	if (why) {
		ret->error = arena_fmt(w->keep, "the address%s%.*s %s",
			w->r->url_from.p ? " in $" : "", STR_ARG(w->r->url_from), why);
		ret->attempts = 1;
		return;
	}
	w->end_s = now_s() + w->r->deadline_s;
	for (int count = 1;; count++) {
		*ret = attempt(w);
		ret->attempts = count;
		if (ret->outcome != OUTCOME_LATER || count >= (int)w->r->attempts)
			return;
		double wait = retry_wait_s(count, w->retry_after_s);
		if (now_s() + wait >= w->end_s)
			return;
		sleep_s(wait);
	}
}

void transfer(void *curl, const struct request *r, struct arena *keep, struct answer *ret)
{
	struct work w = { .r = r, .keep = keep, .curl = curl, .url = r->url };
	struct str unset = { NULL, 0 };
	const struct {
		struct str name, *value;
	} values[] = { { r->url_from, &w.url }, { r->secret_from, &w.secret },
		{ r->user_from, &w.user }, { r->password_from, &w.password } };
	for (ptrdiff_t i = 0; i < COUNT_OF(values) && !unset.p; i++) {
		if (!values[i].name.p)
			continue;
		/* Blanks and newlines around a value come from how it was pasted. */
		*values[i].value = str_trim(secret_value(values[i].name));
		if (!values[i].value->p)
			unset = values[i].name;
	}
	*ret = (struct answer){ .outcome = OUTCOME_REFUSED };
	if (unset.p)
		ret->error = arena_fmt(keep, "$%.*s is not set", STR_ARG(unset));
	else
		attempts(&w, ret);
}
