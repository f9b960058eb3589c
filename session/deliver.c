/* Who is told what, and what happens when that fails.  See deliver.h. */
#include "session/deliver.h"

#include <time.h>

#include "base/secret.h"
#include "base/text.h"
#include "base/when.h"
#include "session/http_client.h"
#include "session/outbox.h"
#include "report/transition.h"

/* ---- the plan -------------------------------------------------------------------------------- */

static bool add_target(struct plan *p, const struct notice *notice, struct str templates,
	struct arena *keep, struct diag *err)
{
	struct target *t = arena_push(keep, p->targets, p->count, p->cap);
	t->notice = *notice;
	t->message = message_load(notice->kind, templates, keep, err);
	return t->message != NULL;
}

bool target_parse(struct str word, struct arena *keep, struct notice *ret, struct diag *err)
{
	struct str kinds[NOTICE_KINDS], kind, rest, url, secret;
	bool has_url = str_cut(word, ':', &kind, &rest);
	bool has_secret = str_cut(rest, ':', &url, &secret);
	for (int i = 0; i < NOTICE_KINDS; i++)
		kinds[i] = notice_kind_name((enum notice_kind)i);
	const struct str *found = NAMED(kinds, NOTICE_KINDS, kind);
	if (str_eq(kind, STR("https")) || str_eq(kind, STR("http")))
		return diag_set(err, DIAG_USAGE,
			"an address is a secret: put it into an environment variable, and name "
			"that, as in slack:ROOFLINT_SLACK_URL");
	/* What stands behind the colon is not repeated: it may be an address pasted by mistake. */
	if (!found || !has_url)
		return diag_set(err, DIAG_USAGE,
			"'%.*s' is no kind of target; KIND:VARIABLE has %.*s for a KIND",
			STR_ARG(kind), STR_ARG(words_joined(keep, kinds, NOTICE_KINDS, " or ")));
	if (!secret_name_ok(url) || (has_secret && !secret_name_ok(secret)))
		return diag_set(err, DIAG_USAGE,
			"in '%.*s:...', the name of an environment variable was expected behind "
			"the "
			"colon: ROOFLINT_ and more of A-Z, 0-9 and _",
			STR_ARG(kind));
	if (has_secret && found != &kinds[NOTICE_WEBHOOK])
		return diag_set(
			err, DIAG_USAGE, "only a webhook is signed, %.*s is not", STR_ARG(kind));
	*ret = (struct notice){
		.name = kind, .kind = (enum notice_kind)(found - kinds), .url_from = url
	};
	if (has_secret)
		ret->secret_from = secret;
	return true;
}

static bool add_word(struct plan *p, const struct ruleset *rules, struct str word,
	struct str templates, struct arena *keep, struct diag *err)
{
	const struct notice *known = NAMED(rules->notices, rules->notice_count, word);
	struct list names = { 0 };
	struct notice adhoc;
	if (known)
		return add_target(p, known, templates, keep, err);
	NAMES(&names, keep, rules->notices, rules->notice_count);
	/* Names have no colon; KIND:VARIABLE has one. */
	if (str_find_char(word, ':') >= 0)
		return target_parse(word, keep, &adhoc, err) &&
		       add_target(p, &adhoc, templates, keep, err);
	return diag_set(err, DIAG_USAGE,
		"there is no notification '%.*s' in %.*s%.*s (or name a kind and the variable "
		"that holds the address, as in slack:ROOFLINT_SLACK_URL)",
		STR_ARG(word), STR_ARG(rules->name),
		STR_ARG(did_you_mean(keep, word, names.items, names.count)));
}

/* A link that is longer leaves no room for what the message is about. */
enum { URL_MAX = 2000 };

bool plan_make(const struct notify_settings *s, const struct ruleset *rules, struct str templates,
	bool by_default, void (*tell)(struct str line), struct arena *keep, struct plan *ret,
	struct diag *err)
{
	*ret = (struct plan){ .report_url = s->report_url,
		.spool = outbox_dir(s->spool, keep),
		.when = s->when,
		.tell = tell };
	for (ptrdiff_t i = 0; i < s->to.count; i++)
		if (!add_word(ret, rules, s->to.items[i], templates, keep, err))
			return false;
	for (ptrdiff_t i = 0; by_default && !s->to.count && i < rules->notice_count; i++)
		if (!add_target(ret, &rules->notices[i], templates, keep, err))
			return false;
	if (ret->count)
		secret_seal(); /* from here on a hostile profile's crash leaves no environment */
	struct str url = s->report_url;
	bool is_web = str_starts(url, STR("https://")) || str_starts(url, STR("http://"));
	return !url.p || (is_web && url.len <= URL_MAX) ||
	       diag_set(err, DIAG_USAGE,
		       "--report-url begins with https:// or http:// and has at most %d bytes",
		       URL_MAX);
}

/* ---- one message ----------------------------------------------------------------------------- */

/* A pipeline waits: what has not had its turn by then waits in the spool, like what failed. */
enum { ROUND_S = 180 };
/* What one message may take. */
static const struct http_limits letter_limits = { 20, 90, 200 };

struct round {
	const struct plan *plan;
	struct http_client http;
	struct arena *keep;
	double start_s;
	struct str *down; /* variables whose servers gave no good answer in this round */
	ptrdiff_t down_count, down_cap;
	ptrdiff_t failed; /* messages that had to be delivered and were not */
};

enum delivery {
	DELIVERY_FAILED, /* keep the message */
	DELIVERY_DONE,
	DELIVERY_GONE /* the receiver wants no more, ever */
};

/* *why is what went wrong: clean text without secrets. */
static enum delivery send(struct round *r, const struct letter *l, struct str *why)
{
	struct diag err;
	struct frame f;
	cJSON *head = cJSON_CreateObject();
	json_add_str(head, "method", STR("POST"));
	json_add_str(head, "url_from", l->url_from);
	if (l->secret_from.p)
		json_add_str(head, "secret_from", l->secret_from);
	json_add_str(head, "message_id", l->id);
	bool came = http_client_ask(&r->http, head, l->body, &letter_limits, r->keep, &f, &err);
	cJSON_Delete(head);
	if (!came) {
		*why = arena_str(r->keep, str_from(err.text));
		return DELIVERY_FAILED;
	}
	struct str outcome = json_get_str(f.head, "outcome"), error = json_get_str(f.head, "error");
	struct str said = text_clean(r->keep, arena_str(r->keep, str_trim(f.body)));
	double attempts = json_get_double(f.head, "attempts");
	enum delivery ret = str_eq(outcome, STR("delivered")) ? DELIVERY_DONE
			    : str_eq(outcome, STR("gone"))    ? DELIVERY_GONE
							      : DELIVERY_FAILED;
	bool is_later = str_eq(outcome, STR("later"));
	*why = text_clean(r->keep, arena_str(r->keep, error.p ? error : STR("")));
	if (said.len)
		*why = arena_fmt(r->keep, "%.*s: \"%.*s\"", STR_ARG(*why), STR_ARG(said));
	if (attempts >= 2 && attempts < 1000)
		*why = arena_fmt(r->keep, "%.*s (%d attempts)", STR_ARG(*why), (int)attempts);
	if (ret == DELIVERY_FAILED && !is_later && !str_eq(outcome, STR("refused")))
		*why = STR("rooflint-http gave an answer without an outcome");
	if (is_later) /* as another message to the same server would */
		*arena_push(r->keep, r->down, r->down_count, r->down_cap) = l->url_from;
	frame_release(&f);
	return ret;
}

/* A server that does not answer is not asked for each of a thousand messages. */
static enum delivery carry(struct round *r, const struct letter *l, struct str *why)
{
	for (ptrdiff_t i = 0; i < r->down_count; i++)
		if (str_eq(r->down[i], l->url_from)) {
			*why = STR("the message before it could not be delivered either");
			return DELIVERY_FAILED;
		}
	if (now_s() - r->start_s <= ROUND_S)
		return send(r, l, why);
	*why = arena_fmt(r->keep, "others took more than %d s", ROUND_S);
	return DELIVERY_FAILED;
}

static void say(const struct round *r, struct str name, const char *what)
{
	if (!r->plan->quiet)
		r->plan->tell(arena_fmt(r->keep, "%.*s: %s", STR_ARG(name), what));
}

/* An error where the exit status tells it too. */
static void complain(struct round *r, bool is_required, struct str name, struct str what)
{
	r->failed += is_required;
	r->plan->tell(arena_fmt(r->keep, "%s RL%d: %.*s: %.*s", is_required ? "error" : "warning",
		(int)DIAG_DELIVERY, STR_ARG(name), STR_ARG(what)));
}

static void count_error(struct round *r, const struct diag *d)
{
	r->failed++;
	r->plan->tell(arena_fmt(r->keep, "error RL%d: %s", (int)d->id, d->text));
}

static void tidy(const struct round *r)
{
	ptrdiff_t dropped = outbox_tidy(r->plan->spool, (int64_t)time(NULL), r->keep);
	if (dropped)
		r->plan->tell(arena_fmt(r->keep,
			"%td undelivered message%s dropped: older than %d days, or more than %d",
			dropped, dropped == 1 ? " was" : "s were", OUTBOX_MAX_AGE_S / 86400,
			OUTBOX_MAX_LETTERS));
}

/* Where the message is now. */
static struct str put_away(const struct round *r, const struct letter *l)
{
	struct diag err;
	if (!r->plan->spool.p)
		return STR("it is lost, as there is no home for a spool; give --spool");
	if (!outbox_put(r->plan->spool, l, (int64_t)time(NULL), r->keep, &err))
		return arena_fmt(r->keep, "it is lost: %s", err.text);
	tidy(r);
	return arena_fmt(
		r->keep, "it waits in '%.*s' for `rooflint notify`", STR_ARG(r->plan->spool));
}

static void tell(struct round *r, const struct target *t, const struct message_source *source)
{
	const struct plan *plan = r->plan;
	const struct notice *n = &t->notice;
	enum notice_when when = plan->when ? (enum notice_when)(plan->when - 1) : n->when;
	bool is_required = n->required || plan->all_required;
	struct letter l = {
		.target = n->name, .url_from = n->url_from, .secret_from = n->secret_from
	};
	struct str why;
	struct diag err;
	if (!source->is_due[when]) {
		say(r, n->name, "nothing new, not sent");
		return;
	}
	if (!message_write(n->kind, t->message, source, plan->report_url, r->keep, &l.body, &err)) {
		complain(r, is_required, n->name, str_from(err.text));
		return;
	}
	enum delivery outcome = DELIVERY_FAILED;
	if (letter_new_id(r->keep, &l.id, &err))
		outcome = carry(r, &l, &why);
	else
		why = str_from(err.text);
	if (outcome == DELIVERY_DONE) {
		say(r, n->name, "delivered");
		return;
	}
	struct str where = outcome == DELIVERY_GONE
				   ? STR("it wants no more messages: take it out of the rule file")
				   : put_away(r, &l);
	complain(r, is_required, n->name,
		arena_fmt(r->keep, "not delivered: %.*s; %.*s", STR_ARG(why), STR_ARG(where)));
}

ptrdiff_t plan_deliver(
	const struct plan *p, const struct message_source *source, struct arena *keep)
{
	struct round r = { .plan = p, .keep = keep, .start_s = now_s() };
	for (ptrdiff_t i = 0; i < p->count; i++)
		tell(&r, &p->targets[i], source);
	http_client_close(&r.http);
	return r.failed;
}

ptrdiff_t plan_deliver_news(const struct plan *p, const struct report_set *set, struct arena *keep)
{
	if (!p->count)
		return 0;
	struct transitions found = transitions_of(set, p->previous, keep);
	struct message_source source = report_message(&found);
	return plan_deliver(p, &source, keep);
}

/* ---- what waits ------------------------------------------------------------------------------ */

static void resend(struct round *r, struct str name)
{
	struct taken t;
	struct diag err;
	struct str why;
	enum take taken = outbox_take(r->plan->spool, name, r->keep, &t, &err);
	if (taken == TAKE_BAD)
		count_error(r, &err);
	if (taken != TAKE_OK)
		return;
	enum delivery outcome = carry(r, &t.letter, &why);
	if (outcome == DELIVERY_FAILED) {
		outbox_keep(&t);
		complain(r, true, t.letter.target,
			arena_fmt(r->keep, "not delivered: %.*s; it stays in the spool",
				STR_ARG(why)));
		return;
	}
	say(r, t.letter.target,
		outcome == DELIVERY_DONE ? "delivered"
					 : "it wants no more messages; this one is dropped");
	if (!outbox_done(&t, &err))
		count_error(r, &err);
}

bool plan_resend(const struct plan *p, struct arena *keep, ptrdiff_t *ret, struct diag *err)
{
	struct round r = { .plan = p, .keep = keep, .start_s = now_s() };
	struct str *names;
	ptrdiff_t count;
	if (!p->spool.p)
		return diag_set(err, DIAG_USAGE, "there is no home for a spool; give --spool DIR");
	secret_seal();
	tidy(&r);
	if (!outbox_list(p->spool, keep, &names, &count, err))
		return false;
	if (!count && !p->quiet)
		p->tell(STR("no message waits"));
	for (ptrdiff_t i = 0; i < count; i++)
		resend(&r, names[i]);
	http_client_close(&r.http);
	*ret = r.failed;
	return true;
}
