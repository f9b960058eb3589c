/*
 * Runs that a store has are not judged again: what a batch is to leave out.
 *
 * Before anything is judged the store is asked for the captures of all profiles that were found.
 * In its turn a run is looked for among those: by what the bucket's list says of its files, so that
 * none is fetched; of a run on a disk the files are opened, and their two ends are read.
 *
 * Refuses: judging; a run with a file that cannot be opened is not known.
 */
#ifndef SESSION_KNOWN_H
#define SESSION_KNOWN_H

#include "session/batch.h"
#include "store/runs.h"

/* A capture and its profile's name: 128 bits tell any number of them apart. */
struct known_id {
	unsigned char bytes[16];
};

struct known {
	struct known_id *ids; /* sorted when all are there */
	ptrdiff_t count, cap;
	struct store *store;
	struct str judge;
	int hosts_sample;
	struct arena keep; /* of the ids alone, so that they grow where they are */
};

/* `batch` has its options, and is run before known_end. */
void known_begin(struct known *k, struct store *store, struct str judge, struct batch *batch);
void known_end(struct known *k);

#endif
