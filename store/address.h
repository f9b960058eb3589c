/*
 * Where a store on a server is, as the command line says it:
 *
 *     clickhouse://host[:port]/database[?table=NAME&timeout=SECONDS&...]
 *
 * With TLS as clickhouses:// or with secure=1.  Names and passwords stand in environment variables,
 * ROOFLINT_CLICKHOUSE_USER and ROOFLINT_CLICKHOUSE_PASSWORD or those that user_from and
 * password_from name.
 *
 * Refuses: a password in the address, and names that a query would have to quote.
 */
#ifndef STORE_ADDRESS_H
#define STORE_ADDRESS_H

#include "base/arena.h"
#include "base/diag.h"

#define ADDRESS_MAX	    1024 /* of the whole: a host has at most 255 bytes, names 64 each */
#define ADDRESS_MAX_NAME    64
#define ADDRESS_MAX_TIMEOUT 600 /* what rooflint-http takes */

struct address {
	struct str text;		     /* as it was given, for messages */
	bool is_secure;			     /* with TLS */
	struct str url;			     /* "https://host:port/" */
	struct str database, table;	     /* letters, digits and _ */
	struct str user_from, password_from; /* names of variables; missing: none */
	double timeout_s;		     /* of one request; 60 */
};

/* Not a file: it has a scheme. */
bool address_is_remote(struct str text);
bool address_parse(struct str text, struct arena *keep, struct address *ret, struct diag *err);

#endif
