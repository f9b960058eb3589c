/* The tables of the fields that page templates may use.  See html.h. */
#include "report/html.h"

#define X(scope, R, label, FIELDS) scope RECORD(R, label, NULL, FIELDS);
HTML_RECORDS(X)
