/*
 * Signature Version 4 of Amazon Web Services.
 *
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 *
 * Refuses: clocks, headers of its own, and escaping: path and query come as they will be sent.
 */
#ifndef HTTP_SIGV4_H
#define HTTP_SIGV4_H

#include "base/arena.h"

/* Of a body that has no bytes. */
#define SIGV4_EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

struct sigv4_key {
	struct str id, secret, region, service;
};
struct sigv4_header {
	struct str name, value; /* the name in lower case, the value without blanks around it */
};
struct sigv4_request {
	struct str method, path, query;	    /* the query's parts in order of their names */
	const struct sigv4_header *headers; /* in order of their names; "x-amz-date" is one */
	ptrdiff_t header_count;
	struct str stamp;	 /* "20130524T000000Z" */
	struct str payload_hash; /* SHA-256 of the body in hexadecimal */
};
/* The value of the header "authorization". */
struct str sigv4_sign(
	const struct sigv4_key *key, const struct sigv4_request *r, struct arena *keep);

#endif
