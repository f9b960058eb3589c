/*
 * Lists of buckets: what lies below a prefix, page by page, in stretches that are held one at a
 * time, and in ranges of names for shards.
 *
 * Refuses: finding runs, and fetching.  What is not read, and shows nothing but that its directory
 * is there, is not held.
 */
#ifndef SESSION_BUCKET_LIST_H
#define SESSION_BUCKET_LIST_H

#include "base/frame.h"
#include "profile/find.h"
#include "session/cache.h"
#include "session/shard.h"

/*
 * Of a list that is read in stretches so many objects are held, of 200 bytes each; more where a
 * run has more.
 */
#define BUCKET_STRETCH 50000
/* Of one that has to be looked at whole, as for the newest run: 2 GB. */
#define BUCKET_MAX_OBJECTS 10000000
/* Directories from which a shard's part begins, for each shard; and pages that they may cost. */
#define BUCKET_SHARD_PLACES 16
#define BUCKET_PLACE_PAGES  256
/*
 * A server decides how much is on a page.  Each page is a request, so a list of empty pages has to
 * end: this many may come, and beyond them as many as are a tenth full on average.
 */
#define BUCKET_FREE_PAGES 200
#define BUCKET_PAGE_LEAST 100

struct object {
	struct str path;    /* "s3://bucket/key" */
	struct str version; /* empty: a directory */
	int64_t bytes;
};

/* One stretch of a list. */
struct bucket {
	struct tree tree;
	struct arena *keep;	  /* of what all stretches of a list have in common */
	struct arena names, list; /* of the objects, and what they borrow */
	struct object *objects;	  /* sorted by path */
	ptrdiff_t count, cap;
	struct str origin; /* of the server */
	struct cache cache;
	double stall_s;
};

/* Where a list stands: it goes on behind the last name, by the server's own word or from there. */
struct listing {
	struct str prefix, shown;
	struct str until;     /* path of the first object that is not wanted; missing: none */
	struct str next;      /* what asks for the next page; missing: there is none */
	struct str last;      /* path of the greatest object that came; missing: none */
	struct str delimiter; /* "/": one level, with its directories; missing: all below */
	int64_t pages, objects, dirs;
	bool is_done;
};

/* A stretch without objects, of the same bucket as `like` where there is one. */
struct bucket *bucket_new(const struct bucket *like, struct arena *keep);
void bucket_end(struct bucket *b);

/* A request of rooflint-http; `shown` is what the user named: it begins whatever goes wrong. */
cJSON *bucket_request(const struct bucket *b, const char *method, struct str object);
bool bucket_ask(
	cJSON *head, struct str shown, struct arena *keep, struct frame *ret, struct diag *err);

/* The first object that does not sort before `path`; the object itself, or NULL. */
ptrdiff_t bucket_first(const struct bucket *b, struct str path);
const struct object *bucket_at(const struct bucket *b, struct str path);

struct listing list_below(struct str path, struct arena *keep);
/* Pages of it, until so many objects are held or none is left. */
bool list_some(struct bucket *b, struct listing *l, ptrdiff_t most, struct diag *err);
/* The job files above what was named, and of the directories that lead to `path`. */
bool list_job_files(struct bucket *b, struct str root, struct str path, struct diag *err);
/* The last of a list, or all of it; where it has none, the object of that name. */
bool list_end(struct bucket *b, struct str root, struct listing *l, struct diag *err);
/*
 * A list that goes on is cut behind what can be judged: what lies in the directories that lead to
 * the last object waits, as more may come for them, and is moved to *rest.  Job files are in both.
 */
bool list_cut(struct bucket *b, struct str root, struct listing *l, struct bucket *rest,
	struct diag *err);
/*
 * Each shard finds the same places at which the list may be divided, and lists what lies between
 * two of them.  False in *is_divided: there are too few, and each has to list the whole.
 */
bool list_divide(struct bucket *b, struct shard shard, struct listing *l, bool *is_divided,
	struct diag *err);

#endif
