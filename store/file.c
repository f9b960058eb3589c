/* Stores in a file of SQLite.  See kind.h. */
#include <sys/stat.h>

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
	/* After a failure the file is closed, and its code is looked at (can_not_be_shared). */
	return facts_db_execute(d, "BEGIN", err) && read_head(d, ret, err) &&
	       facts_db_execute(d, "COMMIT", err);
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
	return diag_set(err, DIAG_STORE, "store '%.*s' %s; append to it once with this rooflint%s",
		STR_ARG(d->name), head->application ? "was made by an older rooflint" : "is empty",
		sqlite3_db_readonly(d->db, "main") ? ", where it may be written" : "");
}

/* ---- a file that nobody may write here ------------------------------------------------------ */

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
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
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
	for (ptrdiff_t i = 0; i < path.len; i++) {
		unsigned char c = (unsigned char)path.p[i], letter = c | 0x20;
		bool is_plain = (letter >= 'a' && letter <= 'z') || (c >= '0' && c <= '9') ||
				str_find_char(STR("/-._"), (char)c) >= 0;
		out_fmt(o, is_plain ? "%c" : "%%%02X", c);
	}
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

/* What was read is what the file has: nobody has written it in between. */
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

static bool can_not_be_shared(const struct facts_db *d)
{
	int code = sqlite3_errcode(d->db) & 0xff;
	return code == SQLITE_CANTOPEN || code == SQLITE_READONLY;
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
	if (!facts_db_guard(d, err))
		return false;
	if (!look_at_head(d, &head, err) &&
		!(use == STORE_READ && can_not_be_shared(d) && open_frozen(d, path, err) &&
			facts_db_guard(d, err) && look_at_head(d, &head, err)))
		return false;
	return check_head(d, &head, err) &&
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
	return facts_db_scan(s, window, take, arg, err) && still_frozen(s, err);
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
	return facts_db_recall(s, workload, until, take, arg, err) && still_frozen(s, err);
}

static void file_close(void *s)
{
	facts_db_close(s);
}

const struct store_kind file_store = { file_open, file_append, file_flush, file_scan, file_look,
	file_keep, file_recall, file_close };
