/* Lists and objects, with all attempts.  See cloud.h. */
#include "http/cloud.h"

#include "base/frame.h"
#include "base/out.h"

#define LIST_S		   60.0
#define MAX_LIST	   ((ptrdiff_t)16 << 20) /* 1000 names of 1 KiB, written out, in XML */
#define MAX_REFUSAL	   ((ptrdiff_t)64 << 10)
#define LONGEST_PATIENCE_S 60.0 /* a server that asks for a longer pause is asked another day */

enum {
	BUCKET_NAME_MAX = 222,
	MAX_LEARNT = 2,
	SHOWN = 100,	     /* bytes of a name in a message */
	MAX_NAME = 1024,     /* bytes of an object's, with both clouds */
	MAX_TOKEN = 8 << 10, /* it becomes a part of an address */
};

/* ---- names ----------------------------------------------------------------------------------- */

static const struct cloud *const all_clouds[] = { &cloud_s3, &cloud_gcs };

/* It becomes part of a host's name. */
static bool is_bucket_name(struct str s)
{
	return str_only(s, "a-zA-Z0-9._-") && s.len >= 3 && s.len <= BUCKET_NAME_MAX &&
	       s.p[0] != '.' && s.p[0] != '-';
}

static bool call_read(struct call *c, struct diag *err)
{
	for (ptrdiff_t i = 0; i < COUNT_OF(all_clouds); i++) {
		struct str rest = c->r->object;
		if (!str_take(&rest, all_clouds[i]->scheme))
			continue;
		c->cloud = all_clouds[i];
		str_cut(rest, '/', &c->bucket, &c->key);
		if (is_bucket_name(c->bucket))
			return true;
		return diag_set(err, DIAG_BUCKET,
			"'%.*s' is no bucket's name: 3 to %d letters, digits, '.', '-' and '_'",
			STR_ARG(str_head(c->bucket, 100)), BUCKET_NAME_MAX);
	}
	return diag_set(err, DIAG_BUCKET, "'object' is gs://BUCKET/NAME or s3://BUCKET/NAME");
}

/* ---- one attempt ----------------------------------------------------------------------------- */

static bool take(void *arg, struct str bytes)
{
	struct call *c = arg;
	if (!c->is_list && c->x.status == 200)
		return download_take(&c->download, bytes);
	bool fits = out_text(c->text).len + bytes.len <= (c->is_list ? MAX_LIST : MAX_REFUSAL);
	out_str(c->text, fits ? bytes : STR(""));
	return fits || c->x.status != 200; /* of a refusal the beginning is enough */
}

static void take_header(void *arg, struct str name, struct str value)
{
	struct call *c = arg;
	checks_take(&c->checks, name, value);
}

static void alive(void *arg)
{
	const struct keyring *keys = &((struct call *)arg)->clouds->keys;
	keys->alive(keys->alive_arg);
}

static void perform(struct call *c)
{
	c->x.method = "GET";
	c->x.timeout_s = c->is_list ? LIST_S : 0;
	c->x.stall_s = c->r->stall_s;
	c->x.connect_ms = (long)(c->r->stall_s * 1000); /* or the usual limit, if that is shorter */
	c->x.is_trusted = true; /* its host is the cloud's own, or named by the environment */
	c->x.take = take;
	c->x.header = take_header;
	c->x.alive = alive;
	c->x.arg = c;
	c->text = out_memory(c->keep);
	exchange_run(c->clouds->keys.curl, &c->x);
}

/* ---- refusals -------------------------------------------------------------------------------- */

#define OBJECT_REPLACED "the object was replaced meanwhile; give the command again"

/* What a status or the server's own word means for whoever asked; the first that fits. */
static const struct meaning {
	long status;	 /* 0: any */
	struct str word; /* missing: any */
	const char *text;
} meanings[] = {
	{ 0, STR_INIT("NoSuchBucket"), "there is no such bucket; is its name right?" },
	{ 0, STR_INIT("NoSuchKey"), "the object is not there any more" },
	{ 0, STR_INIT("InvalidAccessKeyId"), "the access key is not known there" },
	{ 0, STR_INIT("SignatureDoesNotMatch"),
		"the secret key does not belong to the access key" },
	{ 0, STR_INIT("ExpiredToken"), "the session has ended; log in again" },
	{ 0, STR_INIT("InvalidToken"), "the session token is not valid; log in again" },
	{ 0, STR_INIT("RequestTimeTooSkewed"), "this machine's clock is wrong" },
	{ 401, { NULL, 0 }, "they are not accepted" },
	{ 403, { NULL, 0 }, "they may not read it" },
	{ 407, { NULL, 0 }, "the proxy wants a user and a password" },
	{ 412, { NULL, 0 }, OBJECT_REPLACED },
	{ 429, { NULL, 0 }, "it is asked too often" },
};

static const char *meaning_of(long status, struct str word, bool is_list)
{
	for (ptrdiff_t i = 0; i < COUNT_OF(meanings); i++)
		if ((!meanings[i].status || meanings[i].status == status) &&
			(!meanings[i].word.p || str_eq(meanings[i].word, word)))
			return meanings[i].text;
	if (status == 404)
		return is_list ? "there is no such bucket; is its name right?"
			       : "the object was removed or replaced meanwhile; give the "
				 "command again";
	return status >= 300 && status < 400
		       ? "it leads elsewhere, which is not followed; is the endpoint right?"
		       : NULL;
}

static struct str explain_status(struct call *c, long status, struct str body)
{
	struct str word = c->cloud->refusal(body, c->keep);
	const char *means = meaning_of(status, word, c->is_list);
	struct out *o = out_memory(c->keep);
	out_fmt(o, "the server answered %ld", status);
	if (word.p)
		out_fmt(o, " %.*s", STR_ARG(word));
	if ((status == 401 || status == 403) && !c->from.p)
		out_fmt(o,
			": the bucket is not public, and no credentials were found (looked at: %s)",
			c->cloud->looked);
	else if (status == 401 || status == 403)
		out_fmt(o, ": credentials are from %.*s; %s", STR_ARG(c->from), means);
	else if (means)
		out_fmt(o, ": %s", means);
	return out_text(o);
}

static struct str explain_code(struct call *c, bool *lasting)
{
	const struct exchange *x = &c->x;
	const char *error = exchange_error(x, lasting);
	if (x->code == CURLE_OPERATION_TIMEDOUT && x->timeout_s > 0 && x->took_s >= x->timeout_s)
		return arena_fmt(c->keep, "a page of the list took longer than %.0f s", LIST_S);
	if (x->code == CURLE_OPERATION_TIMEDOUT && x->status)
		return arena_fmt(c->keep,
			"the server went silent: hardly a byte came for %.0f s; "
			"$ROOFLINT_HTTP_STALL may say a longer time",
			c->r->stall_s);
	if (x->code == CURLE_OPERATION_TIMEDOUT)
		return STR("the server gave no answer in time");
	if (x->code == CURLE_PARTIAL_FILE)
		return STR("the connection ended before all bytes had come");
	if (x->code == CURLE_WRITE_ERROR && c->is_list)
		return STR("a page of the list is larger than any can be");
	if (x->code == CURLE_WEIRD_SERVER_REPLY || x->code == CURLE_UNSUPPORTED_PROTOCOL)
		return STR("what came is no answer of HTTP");
	return str_from(error);
}

/* ---- one attempt, judged --------------------------------------------------------------------- */

/* What was asked for, and no more than goes on: names go into paths, and into messages. */
static bool check_list(
	const struct call *c, const cJSON *objects, struct str next, struct diag *err)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, objects)
	{
		struct str name = json_get_str(item, "name");
		if (name.len > MAX_NAME)
			return diag_set(err, DIAG_BUCKET,
				"the server's list has a name of %td bytes, and none has more than "
				"%d; is the endpoint a storage server?",
				name.len, MAX_NAME);
		if (!str_starts(name, c->key))
			return diag_set(err, DIAG_BUCKET,
				"the server's list has '%.*s', which does not begin with '%.*s' as "
				"it was asked; is the endpoint a storage server?",
				STR_ARG(str_head(name, SHOWN)), STR_ARG(str_head(c->key, SHOWN)));
	}
	return next.len <= MAX_TOKEN ||
	       diag_set(err, DIAG_BUCKET,
		       "the server's list goes on by a token of %td bytes, and at most %d are "
		       "taken; is the endpoint a storage server?",
		       next.len, MAX_TOKEN);
}

static void read_list(struct call *c, struct answer *ret)
{
	struct diag err;
	cJSON *objects = cJSON_CreateArray();
	if (c->cloud->read_list(out_text(c->text), objects, &ret->next, c->keep, &err) &&
		check_list(c, objects, ret->next, &err)) {
		ret->body = json_compact(objects, c->keep);
		ret->origin = c->origin;
	} else {
		*ret = (struct answer){ .outcome = OUTCOME_LATER, .status = ret->status };
		ret->error = arena_str(c->keep, str_from(err.text));
	}
	cJSON_Delete(objects);
}

/* All but the bytes of an object, which judge_download compares with what was to come. */
static void judge(struct call *c, struct answer *ret)
{
	bool lasting = false;
	ret->status = c->x.status;
	ret->outcome = c->x.code ? OUTCOME_LATER : outcome_of(c->x.status);
	if (c->x.code)
		ret->error = explain_code(c, &lasting);
	else if (ret->outcome != OUTCOME_DELIVERED)
		ret->error = explain_status(c, c->x.status, out_text(c->text));
	else if (c->x.status != 200) /* 204, 206: nothing that was asked for */
		ret->error = explain_status(c, c->x.status, STR(""));
	else if (c->is_list)
		read_list(c, ret);
	if (lasting || (ret->error.len && ret->outcome == OUTCOME_DELIVERED))
		ret->outcome = OUTCOME_REFUSED;
}

static void judge_download(struct call *c, struct answer *ret)
{
	struct diag err;
	const struct download *d = &c->download;
	bool ok = download_end(&c->download, &err), is_full = d->error != 0;
	struct str came = str_from(c->checks.version), listed = c->r->version;
	if (ret->outcome != OUTCOME_DELIVERED && !is_full && d->bytes <= d->expected)
		return;
	if (!is_full && came.len && listed.len && !str_eq(came, listed)) {
		ret->outcome = OUTCOME_REFUSED;
		ret->error = STR(OBJECT_REPLACED);
	} else if (!ok) {
		ret->outcome = is_full ? OUTCOME_REFUSED : OUTCOME_LATER;
		ret->error = arena_str(c->keep, str_from(err.text));
	}
}

/* True when the same request, made anew, is worth it at once. */
static bool attempt(struct call *c, struct answer *ret)
{
	struct diag err;
	c->checks = (struct checks){ .version_header = c->cloud->version_header };
	c->x = (struct exchange){ .headers = NULL };
	*ret = (struct answer){ .outcome = OUTCOME_REFUSED };
	bool ok = c->cloud->prepare(c, &err);
	if (ok && !c->is_list)
		ok = download_begin(&c->download, c->r->to, (int64_t)c->r->bytes, &c->checks, &err);
	if (ok) {
		perform(c);
		judge(c, ret);
	} else {
		ret->error = arena_str(c->keep, str_from(err.text));
	}
	if (ok && !c->is_list)
		judge_download(c, ret);
	curl_slist_free_all(c->x.headers);
	bool refused = ok && !c->x.code && c->x.status >= 300 && c->x.status < 500;
	return refused && c->cloud->learn && c->cloud->learn(c);
}

/* ---- all attempts ---------------------------------------------------------------------------- */

static void attempts(struct call *c, struct answer *ret)
{
	const struct keyring *k = &c->clouds->keys;
	double wait;
	for (int count = 1, learnt = 0;; count++) {
		while (attempt(c, ret) && learnt++ < MAX_LEARNT)
			;
		ret->attempts = count;
		if (ret->outcome != OUTCOME_LATER || count >= (int)c->r->attempts)
			return;
		wait = retry_wait_s(count, c->x.retry_after_s);
		if (wait > LONGEST_PATIENCE_S)
			break;
		/* Whoever waits for the answer is told so all the while. */
		for (; wait > 0; wait -= 1) {
			k->alive(k->alive_arg);
			sleep_s(wait < 1 ? wait : 1);
		}
	}
	ret->error = arena_fmt(c->keep, "%.*s; it wants to be asked again in %.0f s, not before",
		STR_ARG(ret->error), wait);
}

void cloud_run(struct clouds *all, const struct request *r, struct arena *keep, struct answer *ret)
{
	struct call c = { .clouds = all, .r = r, .keep = keep };
	struct diag err;
	c.is_list = str_eq(r->method, STR("LIST"));
	*ret = (struct answer){ .outcome = OUTCOME_REFUSED };
	if (call_read(&c, &err))
		attempts(&c, ret);
	else
		ret->error = arena_str(keep, str_from(err.text));
}
