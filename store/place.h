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
#ifndef STORE_PLACE_H
#define STORE_PLACE_H

#include "base/arena.h"
#include "base/diag.h"

#define PLACE_MAX	  1024 /* of the whole: a host has at most 255 bytes, names 64 each */
#define PLACE_MAX_NAME	  64
#define PLACE_MAX_TIMEOUT 600 /* what rooflint-http takes */

struct place {
	struct str text;		     /* as it was given, for messages */
	bool is_secure;			     /* with TLS */
	struct str url;			     /* "https://host:port/" */
	struct str database, table;	     /* letters, digits and _ */
	struct str user_from, password_from; /* names of variables; missing: none */
	double timeout_s;		     /* of one request; 60 */
};

/* Not a file: it has a scheme. */
bool place_is_remote(struct str text);
bool place_parse(struct str text, struct arena *keep, struct place *ret, struct diag *err);

#endif
