/*
 * rooflint-http: all networking of rooflint, in a program of its own.
 *
 * It reads requests from standard input and writes answers to standard output, as frames
 * (base/frame.h), one after the other, until the input ends:
 *
 *     {"id":7,"method":"POST","url_from":"ROOFLINT_HOOK","message_id":"msg_1","length":2}\n{}
 *     {"id":7,"outcome":"delivered","status":200,"attempts":1,"length":2}\nok
 *
 * and lists and fetches what lies in buckets (cloud.h).
 *
 * It knows TLS, signatures, retries, limits and the clouds' credentials.  It knows nothing of what
 * is in a body, and of the program that reads profiles it needs nothing but base/.
 *
 * Refuses: http to any host but this one, addresses of private networks that were not
 * allowed by name, redirects, and telling a secret to any other than its server.
 */
#ifndef HTTP_H
#define HTTP_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/json.h"
#include "base/out.h"
#include "base/str.h"

#define HTTP_MAX_ANSWER	  ((ptrdiff_t)64 << 20) /* FRAME_MAX_BODY: it has to go back in a frame */
#define HTTP_MAX_ATTEMPTS 10
#define HTTP_MAX_SECONDS  600 /* a caller waits; who needs longer sends again later */

/* In the order of its keys in a request; a missing key has the value given here. */
struct request {
	double id;
	struct str method;	/* "POST", "LIST" or "FETCH" (cloud.h); required */
	struct str url;		/* the address, when nothing in it is secret; this or the next */
	struct str url_from;	/* name of the variable that holds it; of the first three */
	struct str secret_from; /* name of the variable with the signing keys; missing: unsigned */
	struct str user_from;	/* names of variables for basic authentication; missing: none */
	struct str password_from;
	struct str message_id;	 /* the same whenever the message is sent again; signed with it */
	struct str content_type; /* "application/json" */
	double timeout_s;	 /* of one attempt; 20 */
	double deadline_s;	 /* of all attempts and the waits between them; 90 */
	double attempts;	 /* 5 */
	double answer_bytes;	 /* what is kept of the answer's body; 4096 */
	struct str object;	 /* "s3://bucket/name"; of LIST, a prefix, and FETCH */
	struct str page;	 /* of LIST: the answer before this one called it next */
	struct str after;	 /* of LIST: names from there on; that one itself may come, too */
	struct str delimiter;	 /* of LIST: "/" gives one level, with its directories */
	struct str version, to; /* of FETCH: as it was listed; the file, which is there and empty */
	double bytes;		/* of FETCH: as it was listed */
	double stall_s;		/* of both: without a byte, until it is given up; 30 */
	struct str body;	/* what follows the line */
};

enum outcome {
	OUTCOME_DELIVERED, /* 2xx */
	OUTCOME_LATER,	   /* no answer, 408, 425, 429, 5xx: may go well another time */
	OUTCOME_REFUSED,   /* will not go well until somebody changes something */
	OUTCOME_GONE	   /* 410: whoever was there wants no more */
};

struct answer {
	enum outcome outcome;
	long status; /* of HTTP; 0: none came */
	int attempts;
	struct str error; /* what went wrong, without any part of the address or a key */
	struct str body;
	struct str next, origin; /* of LIST: the page after this one, and whose objects they are */
};

/* request.c */
bool request_read(const cJSON *head, struct str body, struct request *ret, struct diag *err);
cJSON *answer_write(const struct request *r, const struct answer *a);

/* address.c */
struct curl_sockaddr;
/* Why no request may go to this URL, or NULL.  *host is borrowed from `keep`. */
const char *address_refused(struct str url, struct arena *keep, struct str *host);
/*
 * Whether the environment has libcurl ask a proxy for this URL: the proxy is what is connected to
 * then, and it looks up the host itself.  Where that is not certain, it does not.
 */
bool address_is_proxied(struct str url, struct str host);
/* Whether the host may be reached at this address, which its name resolved to. */
bool address_allowed(struct str host, const struct curl_sockaddr *address);

/* sign.c.  Standard Webhooks: HMAC-SHA256 over "id.timestamp.body". */
#define SIGN_MIN_KEY 24
#define SIGN_MAX_KEY 64
/*
 * "v1,BASE64" for each key of `secret`, blanks between: several while keys are exchanged.  A key is
 * 24 to 64 bytes in Base64, with or without "whsec_" before it.  Missing, with an error, otherwise.
 */
struct str sign_standard(struct str secret, struct str id, int64_t timestamp, struct str body,
	struct arena *keep, struct diag *err);
/* "sha256=HEX" of the body alone, as GitHub signs; the key is the text of the first secret. */
struct str sign_hub(struct str secret, struct str body, struct arena *keep);

/* transfer.c: all attempts of one request, by a handle of libcurl that keeps its connections. */
void transfer(void *curl, const struct request *r, struct arena *keep, struct answer *ret);

#endif
