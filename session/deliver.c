/* Who is told what, and what happens when that fails.  See deliver.h. */
#include "base/text.h"
#include "session/deliver.h"

#include <time.h>

#include "base/secret.h"
#include "session/courier.h"
#include "report/news.h"

/* ---- the plan -------------------------------------------------------------------------------- */

static const struct notice *find_notice(const struct ruleset *rules, struct str name)
{
	for (ptrdiff_t i = 0; i < rules->notice_count; i++)
		if (str_eq(rules->notices[i].name, name))
			return &rules->notices[i];
	return NULL;
}

static bool add_target(struct plan *p, const struct notice *notice, struct str templates,
	struct arena *keep, struct diag *err)
{
	struct target *t = arena_push(keep, p->targets, p->count, p->cap);
	t->notice = *notice;
	t->message = message_load(notice->kind, templates, keep, err);
	return t->message != NULL;
}

static bool unknown_name(
	const struct ruleset *rules, struct str name, struct arena *keep, struct diag *err)
{
	struct str *names = arena_make(keep, struct str, rules->notice_count + 1);
	for (ptrdiff_t i = 0; i < rules->notice_count; i++)
		names[i] = rules->notices[i].name;
	return diag_set(err, DIAG_USAGE,
		"there is no notification '%.*s' in %.*s%.*s (or give KIND:VARIABLE; rooflint "
		"notify "
		"--help)",
		STR_ARG(name), STR_ARG(rules->name),
		STR_ARG(did_you_mean(name, names, rules->notice_count, keep)));
}

/* A name has no colon, as anything on the command line has that is none. */
static bool add_word(struct plan *p, const struct ruleset *rules, struct str word,
	struct str templates, struct arena *keep, struct diag *err)
{
	struct notice adhoc;
	const struct notice *notice = find_notice(rules, word);
	if (!notice && str_find_char(word, ':') < 0)
		return unknown_name(rules, word, keep, err);
	if (!notice && !notice_parse(word, keep, &adhoc, err))
		return false;
	return add_target(p, notice ? notice : &adhoc, templates, keep, err);
}

/* A link that is longer leaves no room for what the message is about. */
enum { URL_MAX = 2000 };

static bool check_url(struct str url, struct diag *err)
{
	bool is_web = str_starts(url, STR("https://")) || str_starts(url, STR("http://"));
	return !url.p || (is_web && url.len <= URL_MAX) ||
	       diag_set(err, DIAG_USAGE,
		       "--report-url begins with https:// or http:// and has at most %d bytes",
		       URL_MAX);
}

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
	return check_url(s->report_url, err);
}

/* ---- one message ----------------------------------------------------------------------------- */

/* A pipeline waits: what has not had its turn by then waits in the spool, like what failed. */
enum { ROUND_S = 180 };

struct round {
	const struct plan *plan;
	struct courier courier;
	struct arena *keep;
	double start_s;
	struct str *down; /* variables whose servers gave no good answer in this round */
	ptrdiff_t down_count, down_cap;
	ptrdiff_t failed; /* messages that had to be delivered and were not */
};

static double now_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool is_down(const struct round *r, struct str url_from)
{
	for (ptrdiff_t i = 0; i < r->down_count; i++)
		if (str_eq(r->down[i], url_from))
			return true;
	return false;
}

/* A server that does not answer is not asked for each of a thousand messages. */
static void carry(struct round *r, const struct letter *l, struct receipt *ret)
{
	*ret = (struct receipt){ .outcome = DELIVERY_FAILED };
	if (is_down(r, l->url_from)) {
		ret->why = STR("the message before it could not be delivered either");
	} else if (now_s() - r->start_s > ROUND_S) {
		ret->why = arena_fmt(r->keep, "others took more than %d s", ROUND_S);
	} else {
		courier_send(&r->courier, l, r->keep, ret);
		if (ret->is_down)
			*arena_push(r->keep, r->down, r->down_count, r->down_cap) = l->url_from;
	}
}

static bool is_required(const struct round *r, const struct notice *n)
{
	return n->required || r->plan->all_required;
}

static void count_failure(struct round *r, const struct notice *n)
{
	r->failed += is_required(r, n);
}

static void say(const struct round *r, struct str name, const char *what)
{
	if (!r->plan->quiet)
		r->plan->tell(arena_fmt(r->keep, "%.*s: %s", STR_ARG(name), what));
}

/* An error where the exit status tells it too. */
static void complain(const struct round *r, bool is_error, struct str name, struct str what)
{
	r->plan->tell(arena_fmt(r->keep, "%s RL%d: %.*s: %.*s", is_error ? "error" : "warning",
		(int)DIAG_DELIVERY, STR_ARG(name), STR_ARG(what)));
}

static void tell_error(const struct round *r, const struct diag *d)
{
	r->plan->tell(arena_fmt(r->keep, "error RL%d: %s", (int)d->id, d->text));
}

static struct str why_text(const struct receipt *receipt, struct arena *keep)
{
	if (receipt->attempts < 2)
		return receipt->why;
	return arena_fmt(keep, "%.*s (%d attempts)", STR_ARG(receipt->why), receipt->attempts);
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

static void send_new(struct round *r, const struct notice *n, struct str body)
{
	struct receipt receipt = { .outcome = DELIVERY_FAILED };
	struct letter l = { .target = n->name,
		.url_from = n->url_from,
		.secret_from = n->secret_from,
		.body = body };
	struct diag err;
	if (letter_new_id(r->keep, &l.id, &err))
		carry(r, &l, &receipt);
	else
		receipt.why = str_from(err.text);
	if (receipt.outcome == DELIVERY_DONE) {
		say(r, n->name, "delivered");
		return;
	}
	struct str where = receipt.outcome == DELIVERY_GONE
				   ? STR("it wants no more messages: take it out of the rule file")
				   : put_away(r, &l);
	count_failure(r, n);
	complain(r, is_required(r, n), n->name,
		arena_fmt(r->keep, "not delivered: %.*s; %.*s",
			STR_ARG(why_text(&receipt, r->keep)), STR_ARG(where)));
}

static enum notice_when when_of(const struct plan *p, const struct notice *n)
{
	return p->when ? (enum notice_when)(p->when - 1) : n->when;
}

static void tell(struct round *r, const struct target *t, const struct message_source *source)
{
	struct diag err;
	struct str body;
	if (!source->is_due[when_of(r->plan, &t->notice)]) {
		say(r, t->notice.name, "nothing new, not sent");
		return;
	}
	if (message_write(t->notice.kind, t->message, source, r->plan->report_url, r->keep, &body,
		    &err)) {
		send_new(r, &t->notice, body);
		return;
	}
	count_failure(r, &t->notice);
	complain(r, is_required(r, &t->notice), t->notice.name, str_from(err.text));
}

ptrdiff_t plan_deliver(
	const struct plan *p, const struct message_source *source, struct arena *keep)
{
	struct round r = { .plan = p, .keep = keep, .start_s = now_s() };
	for (ptrdiff_t i = 0; i < p->count; i++)
		tell(&r, &p->targets[i], source);
	courier_close(&r.courier);
	return r.failed;
}

ptrdiff_t plan_deliver_news(const struct plan *p, const struct report_set *set, struct arena *keep)
{
	if (!p->count)
		return 0;
	struct news news = news_of(set, p->previous, keep);
	struct message_source source = news_message(&news);
	return plan_deliver(p, &source, keep);
}

/* ---- what waits ------------------------------------------------------------------------------ */

static void resend(struct round *r, struct taken *t)
{
	struct receipt receipt;
	struct diag err;
	struct str name = t->letter.target;
	carry(r, &t->letter, &receipt);
	if (receipt.outcome == DELIVERY_FAILED) {
		r->failed++;
		outbox_keep(t);
		complain(r, true, name,
			arena_fmt(r->keep, "not delivered: %.*s; it waits on",
				STR_ARG(why_text(&receipt, r->keep))));
		return;
	}
	say(r, name,
		receipt.outcome == DELIVERY_DONE
			? "delivered"
			: "it wants no more messages; this one is dropped");
	if (!outbox_done(t, &err)) {
		r->failed++;
		tell_error(r, &err);
	}
}

static void take_and_resend(struct round *r, struct str name)
{
	struct taken taken;
	struct diag err;
	switch (outbox_take(r->plan->spool, name, r->keep, &taken, &err)) {
	case TAKE_OK:
		resend(r, &taken);
		break;
	case TAKE_GONE:
		break;
	case TAKE_BAD:
		r->failed++;
		tell_error(r, &err);
		break;
	}
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
		take_and_resend(&r, names[i]);
	courier_close(&r.courier);
	*ret = r.failed;
	return true;
}
