/*
 * Objects in buckets of Google Cloud Storage ("gs://") and of S3 and what speaks like it ("s3://"):
 * lists of names, and objects fetched into a file.
 *
 *     {"id":1,"method":"LIST","object":"s3://bucket/runs/"}
 *     {"id":1,"outcome":"delivered","origin":"https://...","next":"...","length":N}\n
 *         [{"name":"runs/a.xplane.pb","bytes":12,"version":"..."}]
 *     {"id":2,"method":"FETCH","object":"s3://bucket/runs/a.xplane.pb","version":"...","bytes":12,
 *         "to":"/cache/.new"}
 *
 * While a request lasts, {"id":2,"outcome":"busy"} says now and then that it does.
 *
 * What is fetched is the version that was listed, whole: length and checksum are compared before
 * the answer says "delivered".  No redirect is followed; where S3 says that a bucket is in another
 * region, that region's own address is asked.
 *
 * Refuses: writing to a bucket, and saying anything of a key.
 */
#ifndef HTTP_CLOUD_H
#define HTTP_CLOUD_H

#include "http/download.h"
#include "http/keyring.h"

enum { CLOUD_MAX_REGIONS = 256 }; /* buckets of one batch whose region had to be learnt */

/* Lives as long as the program. */
struct clouds {
	struct keyring keys;
	struct bucket_region {
		struct str bucket, region;
	} regions[CLOUD_MAX_REGIONS];
	int region_count;
};

/* A LIST or a FETCH with all its attempts.  `alive` is called once a second while it lasts. */
void cloud_run(struct clouds *c, const struct request *r, struct arena *keep, struct answer *ret);

/* ---- what the clouds differ in: s3.c, gcs.c -------------------------------------------------- */

struct call {
	struct clouds *clouds;
	const struct cloud *cloud;
	const struct request *r;
	struct arena *keep;
	struct str bucket, key; /* the prefix, for a list */
	bool is_list;
	/* By prepare, with the address, the headers and what signs them in `x`. */
	struct str origin;
	struct str from; /* of the credentials; missing: there are none */
	/* Of the last attempt: an object's bytes go into its file, all else into memory. */
	struct exchange x;
	struct checks checks;
	struct download download;
	struct out *text;
};

struct cloud {
	struct str scheme;
	struct str version_header; /* of an object's bytes: the version that a list tells */
	const char *looked;	   /* where credentials are looked for */
	bool (*prepare)(struct call *c, struct diag *err);
	bool (*read_list)(struct str body, cJSON *ret, struct str *next, struct arena *keep,
		struct diag *err);
	struct str (*refusal)(struct str body, struct arena *keep);
	/* True when a refusal taught what makes the same request worth it again; or NULL. */
	bool (*learn)(struct call *c);
};
extern const struct cloud cloud_s3, cloud_gcs;

#endif
