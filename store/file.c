/* Stores in a file of SQLite.  See kind.h. */
#include "store/kind.h"
#include "store/sqlite.h"

/* In the file's head, where file(1) and we tell it from other databases: "rflt". */
#define STORE_APPLICATION 0x72666c74

static bool fail_kind(const struct facts_db *d, struct diag *err)
{
	return diag_set(err, DIAG_STORE,
		"store '%.*s' is a database, but no store of rooflint's; name another file",
		STR_ARG(d->name));
}

static bool fail_newer(const struct facts_db *d, int64_t version, struct diag *err)
{
	return diag_set(err, DIAG_STORE,
		"store '%.*s' was made by a newer rooflint (schema %lld, and this one knows %d); "
		"use that one, or name another file",
		STR_ARG(d->name), (long long)version, FACTS_SCHEMA);
}

struct head {
	int64_t application, version, tables;
};

/* In a transaction, so that no other writer makes the file in between. */
static bool read_head(struct facts_db *d, struct head *ret, struct diag *err)
{
	return facts_db_number(d, "PRAGMA application_id", &ret->application, err) &&
	       facts_db_number(d, "PRAGMA user_version", &ret->version, err) &&
	       facts_db_number(d, "SELECT count(*) FROM sqlite_schema", &ret->tables, err);
}

static bool look_at_head(struct facts_db *d, struct head *ret, struct diag *err)
{
	bool ok = facts_db_execute(d, "BEGIN", err) && read_head(d, ret, err);
	sqlite3_exec(d->db, "COMMIT", NULL, NULL, NULL);
	return ok;
}

static bool check_head(const struct facts_db *d, const struct head *head, struct diag *err)
{
	bool is_new = !head->application && !head->tables;
	if (!is_new && head->application != STORE_APPLICATION)
		return fail_kind(d, err);
	return head->version <= FACTS_SCHEMA || fail_newer(d, head->version, err);
}

static bool write_head(struct facts_db *d, struct diag *err)
{
	struct str sql = arena_fmt(d->keep, "PRAGMA application_id = %d; PRAGMA user_version = %d",
		STORE_APPLICATION, FACTS_SCHEMA);
	return facts_db_execute(d, sql.p, err);
}

/* For facts_db_look. */
static const char profile_index[] = "CREATE INDEX IF NOT EXISTS runs_profile ON runs (profile)";

/* The head is read again under the lock: another writer may have been faster. */
static bool make(struct facts_db *d, struct diag *err)
{
	struct head head;
	if (!facts_db_execute(d, "BEGIN IMMEDIATE", err))
		return false;
	if (read_head(d, &head, err) && check_head(d, &head, err) && facts_db_make(d, err) &&
		facts_db_execute(d, profile_index, err) && write_head(d, err) &&
		facts_db_execute(d, "COMMIT", err))
		return true;
	sqlite3_exec(d->db, "ROLLBACK", NULL, NULL, NULL);
	return false;
}

/*
 * NORMAL loses the last runs when the machine (not the program) dies, never the file; they are
 * judged again then.  WAL lets readers and a writer in together; it cannot be turned on while
 * others are at work, and then somebody else will: without it they wait for each other.
 */
static bool open_to_write(struct facts_db *d, const struct head *head, struct diag *err)
{
	if ((!head->application || head->version != FACTS_SCHEMA) && !make(d, err))
		return false;
	sqlite3_exec(d->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
	return facts_db_execute(d, "PRAGMA synchronous = NORMAL", err);
}

static bool open_to_read(struct facts_db *d, const struct head *head, struct diag *err)
{
	if (head->application && head->version == FACTS_SCHEMA)
		return true;
	return diag_set(err, DIAG_STORE, "store '%.*s' %s; append to it once with this rooflint",
		STR_ARG(d->name), head->application ? "was made by an older rooflint" : "is empty");
}

static bool open_db(struct facts_db *d, enum store_use use, struct diag *err)
{
	struct head head;
	int flags = use == STORE_READ ? SQLITE_OPEN_READWRITE
				      : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
	/* SQLite has names of its own for files that are none: "" and ":memory:". */
	struct str path = str_starts(d->name, STR("/"))
				  ? d->name
				  : arena_fmt(d->keep, "./%.*s", STR_ARG(d->name));
	if (sqlite3_open_v2(arena_z(d->keep, path), &d->db, flags, NULL) != SQLITE_OK)
		return facts_db_fail(d, err);
	return facts_db_guard(d, err) && look_at_head(d, &head, err) && check_head(d, &head, err) &&
	       (use == STORE_READ ? open_to_read : open_to_write)(d, &head, err) &&
	       facts_db_prepare(d, err);
}

static void *file_open(struct str path, enum store_use use, const struct store_link *link,
	struct arena *keep, struct diag *err)
{
	struct facts_db *d = arena_make(keep, struct facts_db, 1);
	(void)link;
	*d = (struct facts_db){ .name = path, .keep = keep };
	if (open_db(d, use, err))
		return d;
	facts_db_close(d);
	return NULL;
}

static bool file_append(void *s, const struct run_facts *f, struct diag *err)
{
	return facts_db_append(s, f, err);
}

/* What was appended is there already. */
static bool file_flush(void *s, struct diag *err)
{
	(void)s;
	(void)err;
	return true;
}

static bool file_scan(
	void *s, struct window window, run_facts_fn *take, void *arg, struct diag *err)
{
	return facts_db_scan(s, window, take, arg, err);
}

static bool file_look(void *s, struct str judge, const struct str *profiles, ptrdiff_t count,
	store_look_fn *take, void *arg, struct diag *err)
{
	return facts_db_look(s, judge, profiles, count, take, arg, err);
}

static bool file_keep(void *s, const struct run_facts *f, struct str bytes, struct diag *err)
{
	return facts_db_keep(s, f, bytes, err);
}

static bool file_recall(void *s, struct str workload, struct str until, run_kept_fn *take,
	void *arg, struct diag *err)
{
	return facts_db_recall(s, workload, until, take, arg, err);
}

static void file_close(void *s)
{
	facts_db_close(s);
}

const struct store_kind file_store = { file_open, file_append, file_flush, file_scan, file_look,
	file_keep, file_recall, file_close };
