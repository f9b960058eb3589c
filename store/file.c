/*
 * Stores in a file of SQLite: opening it, to write or only to read.  See kind.h.
 *
 * Refuses: databases that are not stores, and stores of another schema.
 */
#include <sys/stat.h>

#include "store/kind.h"
#include "store/sqlite.h"

/* In the file's head, where file(1) and we tell it from other databases: "rflt". */
#define STORE_APPLICATION 0x72666c74

/* The id and version in the database's header; `tables` counts those in its schema. */
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

static bool check_head(const struct facts_db *d, const struct head *head, struct diag *err)
{
	if (!head->application && !head->tables)
		return true;
	if (head->application != STORE_APPLICATION)
		return diag_set(err, DIAG_STORE,
			"store '%.*s' is a database, but no store of rooflint's; name another file",
			STR_ARG(d->name));
	return head->version == FACTS_SCHEMA ||
	       diag_set(err, DIAG_STORE,
		       "store '%.*s' was made by another rooflint (schema %lld, and this one "
		       "knows %d); use that one, or name another file",
		       STR_ARG(d->name), (long long)head->version, FACTS_SCHEMA);
}

/* The head is read again under the lock: another writer may have been faster. */
static bool make(struct facts_db *d, struct diag *err)
{
	struct head head;
	struct str mark =
		arena_fmt(d->keep, "PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT",
			STORE_APPLICATION, FACTS_SCHEMA);
	if (!facts_db_execute(d, "BEGIN IMMEDIATE", err))
		return false;
	if (read_head(d, &head, err) && check_head(d, &head, err) && facts_db_make(d, err) &&
		/* for store_look */
		facts_db_execute(
			d, "CREATE INDEX IF NOT EXISTS runs_profile ON runs (profile)", err) &&
		facts_db_execute(d, mark.p, err))
		return true;
	sqlite3_exec(d->db, "ROLLBACK", NULL, NULL, NULL);
	return false;
}

/* ---- a file that cannot be written here ------------------------------------------------------ */

/* Size and age of a file; false when it is not there. */
static bool measure(struct str path, struct arena *keep, int64_t *bytes, int64_t *changed_ns)
{
	struct stat st;
	if (stat(arena_z(keep, path), &st))
		return false;
	*bytes = (int64_t)st.st_size;
	*changed_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	return true;
}

/* What its writer has put beside the file, and not yet into it or out of it again. */
static bool has_log(const struct facts_db *d)
{
	static const char *const endings[] = { "-wal", "-journal" };
	int64_t bytes, changed_ns;
	for (ptrdiff_t i = 0; i < COUNT_OF(endings); i++)
		if (measure(arena_fmt(d->keep, "%.*s%s", STR_ARG(d->name), endings[i]), d->keep,
			    &bytes, &changed_ns) &&
			bytes > 0)
			return true;
	return false;
}

/* "file:./fleet.db?immutable=1": what could have a meaning there is escaped. */
static struct str frozen_uri(struct str path, struct arena *keep)
{
	struct out *o = out_memory(keep);
	out_z(o, "file:");
	out_uri(o, path, true);
	out_z(o, "?immutable=1");
	return out_text(o);
}

/*
 * A file in write-ahead mode wants others beside it even from those who only read, and a read-only
 * directory takes none.  Then it is read without locks, as long as it stays as it is.
 */
static bool open_frozen(struct facts_db *d, struct str path, struct diag *err)
{
	const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
	if (!measure(path, d->keep, &d->frozen_bytes, &d->frozen_ns))
		return facts_db_fail(d, err);
	if (has_log(d))
		return diag_set(err, DIAG_STORE,
			"store '%.*s' cannot be written here, and a log beside it (-wal, -journal) "
			"has what its writer did not finish; open it once where it may be written",
			STR_ARG(d->name));
	sqlite3_close(d->db);
	d->db = NULL;
	return sqlite3_open_v2(arena_z(d->keep, frozen_uri(path, d->keep)), &d->db, flags, NULL) ==
		       SQLITE_OK ||
	       facts_db_fail(d, err);
}

/* What was read is what the file has: it was not written in between. */
static bool still_frozen(const struct facts_db *d, struct diag *err)
{
	int64_t bytes, changed_ns;
	if (!d->frozen_ns)
		return true;
	if (measure(d->name, d->keep, &bytes, &changed_ns) && bytes == d->frozen_bytes &&
		changed_ns == d->frozen_ns && !has_log(d))
		return true;
	return diag_set(err, DIAG_STORE, "store '%.*s' was written while it was read; try again",
		STR_ARG(d->name));
}

/* ---- opening --------------------------------------------------------------------------------- */

static bool look_at_head(struct facts_db *d, struct head *ret, struct diag *err)
{
	return facts_db_execute(d, "BEGIN", err) && read_head(d, ret, err) &&
	       facts_db_execute(d, "COMMIT", err);
}

static bool open_db(struct facts_db *d, enum store_use use, struct diag *err)
{
	struct head head;
	int flags = SQLITE_OPEN_READWRITE | (use == STORE_WRITE ? SQLITE_OPEN_CREATE : 0);
	/* SQLite has names of its own for files that are none: "" and ":memory:". */
	struct str path = str_starts(d->name, STR("/"))
				  ? d->name
				  : arena_fmt(d->keep, "./%.*s", STR_ARG(d->name));
	if (sqlite3_open_v2(arena_z(d->keep, path), &d->db, flags, NULL) != SQLITE_OK)
		return facts_db_fail(d, err);
	if (!facts_db_guard(d, err))
		return false;
	if (!look_at_head(d, &head, err)) {
		int code = sqlite3_errcode(d->db) & 0xff;
		bool can_freeze =
			use == STORE_READ && (code == SQLITE_CANTOPEN || code == SQLITE_READONLY);
		if (!can_freeze || !open_frozen(d, path, err) || !facts_db_guard(d, err) ||
			!look_at_head(d, &head, err))
			return false;
	}
	if (!check_head(d, &head, err))
		return false;
	if (use != STORE_WRITE && !head.application)
		return diag_set(err, DIAG_STORE,
			"store '%.*s' is empty; append to it once with this rooflint%s",
			STR_ARG(d->name),
			sqlite3_db_readonly(d->db, "main") ? ", where it may be written" : "");
	if (use == STORE_WRITE && !head.application && !make(d, err))
		return false;
	/*
	 * NORMAL loses the last runs when the machine (not the program) dies, never the file; they
	 * are judged again then.  WAL lets readers and a writer in together; it cannot be turned on
	 * while others are at work, and then somebody else will: without it they wait for each
	 * other.
	 */
	if (use == STORE_WRITE)
		sqlite3_exec(d->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
	return (use == STORE_READ || facts_db_execute(d, "PRAGMA synchronous = NORMAL", err)) &&
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

static bool file_ask(
	void *s, const struct question *q, answer_row_fn *take, void *arg, struct diag *err)
{
	return facts_db_ask(s, q, take, arg, err) && still_frozen(s, err);
}

/* In one piece, then the pages go back to the system. */
static bool file_prune(
	void *s, int64_t before_ns, bool superseded, int64_t *count, struct diag *err)
{
	static const char rest[] =
		"DELETE FROM verdicts WHERE run_id NOT IN (SELECT id FROM runs);"
		"DELETE FROM machines WHERE run_id NOT IN (SELECT id FROM runs);"
		"DELETE FROM kept WHERE hash NOT IN (SELECT hash FROM runs); COMMIT; VACUUM";
	struct facts_db *d = s;
	sqlite3_stmt *stmt = NULL;
	sqlite3_limit(d->db, SQLITE_LIMIT_ATTACHED, 1); /* VACUUM copies into one of its own */
	if (!facts_db_execute(d, "BEGIN IMMEDIATE", err))
		return false;
	bool ok = facts_db_statement(d,
		"DELETE FROM runs WHERE (captured_ns > 0 AND captured_ns < ?1) OR (?2 AND id NOT "
		"IN "
		"(SELECT max(id) FROM runs GROUP BY run, profile))",
		NULL, &stmt, err);
	if (ok) {
		sqlite3_bind_int64(stmt, 1, before_ns);
		sqlite3_bind_int(stmt, 2, superseded);
		ok = sqlite3_step(stmt) == SQLITE_DONE || facts_db_fail(d, err);
		*count = sqlite3_changes64(d->db);
	}
	sqlite3_finalize(stmt);
	if (ok && facts_db_execute(d, rest, err))
		return true;
	sqlite3_exec(d->db, "ROLLBACK", NULL, NULL, NULL);
	return false;
}

const struct store_kind file_store = { file_open, facts_db_append, NULL, file_ask, file_prune,
	facts_db_close };
