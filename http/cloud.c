/* Lists and objects, with all attempts.  See cloud.h. */
#include "http/cloud.h"

#include "base/frame.h"
#include "base/out.h"
#include "http/download.h"
#include "http/listing.h"

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

/* Where an answer's bytes go: an object into its file, all else into memory. */
struct attempt {
	struct keyring *keys;
	struct exchange x;
	struct checks checks;
	struct download download;
	struct out *text;
	ptrdiff_t most;
	bool to_file;
};

static bool take(void *arg, struct str bytes)
{
	struct attempt *a = arg;
	if (a->to_file && a->x.status == 200)
		return download_take(&a->download, bytes);
	bool fits = out_text(a->text).len + bytes.len <= a->most;
	out_str(a->text, fits ? bytes : STR(""));
	return fits || a->x.status != 200; /* of a refusal the beginning is enough */
}

static void take_header(void *arg, struct str name, struct str value)
{
	struct attempt *a = arg;
	checks_take(&a->checks, name, value);
}

static void alive(void *arg)
{
	struct attempt *a = arg;
	a->keys->alive(a->keys->alive_arg);
}

static void perform(struct call *c, struct attempt *a)
{
	a->x = (struct exchange){ .method = "GET", .url = arena_z(c->keep, c->url) };
	a->x.headers = c->headers;
	a->x.timeout_s = c->is_list ? LIST_S : 0;
	a->x.stall_s = c->r->stall_s;
	a->x.connect_ms = (long)(c->r->stall_s * 1000); /* or the usual limit, if that is shorter */
	a->x.authorities = c->authorities;
	a->x.is_trusted = true; /* its host is the cloud's own, or named by the environment */
	a->x.take = take;
	a->x.header = take_header;
	a->x.alive = alive;
	a->x.arg = a;
	a->text = out_memory(c->keep);
	a->most = c->is_list ? MAX_LIST : MAX_REFUSAL;
	exchange_run(c->clouds->keys.curl, &a->x);
}

/* ---- refusals -------------------------------------------------------------------------------- */

#define WRITTEN_ANEW "the object was written anew meanwhile; give the command again"

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
	{ 412, { NULL, 0 }, WRITTEN_ANEW },
	{ 429, { NULL, 0 }, "it is asked too often" },
};
enum { MEANINGS = COUNT_OF(meanings) };

static const char *meaning_of(long status, struct str word, bool is_list)
{
	for (int i = 0; i < MEANINGS; i++)
		if ((!meanings[i].status || meanings[i].status == status) &&
			(!meanings[i].word.p || str_eq(meanings[i].word, word)))
			return meanings[i].text;
	if (status == 404)
		return is_list ? "there is no such bucket; is its name right?"
			       : "the object was removed or written anew meanwhile; give the "
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

static struct str explain_code(struct call *c, const struct exchange *x, bool *lasting)
{
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

static void read_list(struct call *c, const struct attempt *a, struct answer *ret)
{
	struct diag err;
	cJSON *objects = cJSON_CreateArray();
	if (c->cloud->read_list(out_text(a->text), objects, &ret->next, c->keep, &err) &&
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
static void judge(struct call *c, struct attempt *a, struct answer *ret)
{
	bool lasting = false;
	ret->status = a->x.status;
	ret->outcome = a->x.code ? OUTCOME_LATER : outcome_of(a->x.status);
	if (a->x.code)
		ret->error = explain_code(c, &a->x, &lasting);
	else if (ret->outcome != OUTCOME_DELIVERED)
		ret->error = explain_status(c, a->x.status, out_text(a->text));
	else if (a->x.status != 200) /* 204, 206: nothing that was asked for */
		ret->error = explain_status(c, a->x.status, STR(""));
	else if (c->is_list)
		read_list(c, a, ret);
	if (ret->error.len && ret->outcome == OUTCOME_DELIVERED)
		ret->outcome = OUTCOME_REFUSED;
	if (lasting)
		ret->outcome = OUTCOME_REFUSED;
}

static void judge_download(struct call *c, struct attempt *a, struct answer *ret)
{
	struct diag err;
	const struct download *d = &a->download;
	bool ok = download_end(&a->download, &err), is_full = d->error != 0;
	struct str came = str_from(a->checks.version), listed = c->r->version;
	if (ret->outcome != OUTCOME_DELIVERED && !is_full && d->bytes <= d->expected)
		return;
	if (!is_full && came.len && listed.len && !str_eq(came, listed)) {
		ret->outcome = OUTCOME_REFUSED;
		ret->error = STR(WRITTEN_ANEW);
	} else if (!ok) {
		ret->outcome = is_full ? OUTCOME_REFUSED : OUTCOME_LATER;
		ret->error = arena_str(c->keep, str_from(err.text));
	}
}

/* True when the same request, made anew, is worth it at once. */
static bool attempt(struct call *c, struct answer *ret, double *retry_after_s)
{
	struct attempt a = { .keys = &c->clouds->keys, .to_file = !c->is_list };
	struct diag err;
	a.checks.version_header = c->cloud->version_header;
	*ret = (struct answer){ .outcome = OUTCOME_REFUSED };
	c->headers = NULL;
	bool ok = c->cloud->prepare(c, &err);
	if (ok && a.to_file)
		ok = download_begin(&a.download, c->r->to, (int64_t)c->r->bytes, &a.checks, &err);
	if (ok) {
		perform(c, &a);
		judge(c, &a, ret);
	} else {
		ret->error = arena_str(c->keep, str_from(err.text));
	}
	if (ok && a.to_file)
		judge_download(c, &a, ret);
	curl_slist_free_all(c->headers);
	*retry_after_s = a.x.retry_after_s;
	bool refused = ok && !a.x.code && a.x.status >= 300 && a.x.status < 500;
	return refused && c->cloud->learn && c->cloud->learn(c, &a.checks, out_text(a.text));
}

/* ---- all attempts ---------------------------------------------------------------------------- */

static void attempts(struct call *c, struct answer *ret)
{
	const struct keyring *k = &c->clouds->keys;
	double retry_after_s, wait;
	for (int count = 1, learnt = 0;; count++) {
		while (attempt(c, ret, &retry_after_s) && learnt++ < MAX_LEARNT)
			;
		ret->attempts = count;
		if (ret->outcome != OUTCOME_LATER || count >= (int)c->r->attempts)
			return;
		wait = retry_wait_s(count, retry_after_s);
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
