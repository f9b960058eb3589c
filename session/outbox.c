/* Undelivered messages in a directory.  See outbox.h. */
#include "session/outbox.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/input.h"
#include "base/json.h"
#include "base/out.h"
#include "base/secret.h"
#include "base/text.h"

enum { ID_BYTES = 16, LEFTOVER_S = 3600 /* a temporary file whose writer is gone */ };

/* ---- letters --------------------------------------------------------------------------------- */

bool letter_new_id(struct arena *keep, struct str *ret, struct diag *err)
{
	unsigned char random[ID_BYTES];
	struct out *o = out_memory(keep);
	if (getentropy(random, sizeof(random)))
		return diag_set(err, DIAG_DELIVERY, "no random numbers for a message's id: %s",
			strerror(errno));
	out_z(o, "msg_");
	for (int i = 0; i < ID_BYTES; i++)
		out_fmt(o, "%02x", random[i]);
	*ret = out_text(o);
	return true;
}

struct str letter_write(const struct letter *l, struct arena *keep)
{
	cJSON *o = cJSON_CreateObject();
	json_add_str(o, "format", STR("rooflint-letter-1"));
	json_add_str(o, "id", l->id);
	json_add_str(o, "target", l->target);
	json_add_str(o, "url_from", l->url_from);
	if (l->secret_from.p)
		json_add_str(o, "secret_from", l->secret_from);
	json_add_str(o, "body", l->body);
	struct str text = json_text(o, keep);
	cJSON_Delete(o);
	return text;
}

/* It becomes a header and part of a file's name. */
static bool is_id(struct str s)
{
	return str_take(&s, STR("msg_")) && s.len && s.len <= 64 && str_only(s, "0-9a-z");
}

static struct str get(const cJSON *o, const char *key, struct arena *keep)
{
	struct str s = json_get_str(o, key);
	return s.p ? arena_str(keep, s) : s;
}

bool letter_read(
	struct str file, struct str text, struct arena *keep, struct letter *ret, struct diag *err)
{
	if (text.len > OUTBOX_MAX_BYTES)
		return diag_set(err, DIAG_DELIVERY, "%.*s: longer than any message", STR_ARG(file));
	cJSON *o = json_parse(file, text, err);
	if (!o)
		return false;
	bool known = str_eq(json_get_str(o, "format"), STR("rooflint-letter-1"));
	*ret = (struct letter){ .id = get(o, "id", keep),
		.target = get(o, "target", keep),
		.url_from = get(o, "url_from", keep),
		.secret_from = get(o, "secret_from", keep),
		.body = get(o, "body", keep) };
	cJSON_Delete(o);
	/* The target is shown to people, and may not do anything to their screen. */
	bool is_shown = ret->target.len && ret->target.len <= 128 && text_is_clean(ret->target);
	return (known && is_shown && is_id(ret->id) && secret_name_ok(ret->url_from) &&
		       (!ret->secret_from.p || secret_name_ok(ret->secret_from)) &&
		       ret->body.len) ||
	       diag_set(err, DIAG_DELIVERY, "%.*s: not a message of this rooflint; remove the file",
		       STR_ARG(file));
}

/* ---- the directory --------------------------------------------------------------------------- */

struct str outbox_dir(struct str given, struct arena *keep)
{
	return given.p ? given
		       : dir_of_user("XDG_STATE_HOME", ".local/state", "rooflint/spool", keep);
}

/* "001763658000-msg_0123.json": sorted by name is sorted by age, and a copy keeps its age. */
static bool name_age(struct str name, int64_t *made_s)
{
	struct str digits, rest;
	return str_ends(name, STR(".json")) && str_cut(name, '-', &digits, &rest) &&
	       str_to_i64(digits, made_s);
}

bool outbox_put(
	struct str dir, const struct letter *l, int64_t now_s, struct arena *keep, struct diag *err)
{
	if (!dir_make(dir, keep, err))
		return false;
	struct str name = arena_fmt(keep, "%012lld-%.*s.json", (long long)now_s, STR_ARG(l->id));
	struct out *o = out_file(keep, path_join(dir, name, keep), err);
	if (!o)
		return false;
	out_str(o, letter_write(l, keep));
	return out_close(o, err);
}

bool outbox_list(
	struct str dir, struct arena *keep, struct str **ret, ptrdiff_t *count, struct diag *err)
{
	struct dir_entry *entries;
	ptrdiff_t entry_count, cap = 0;
	int64_t made_s;
	*ret = NULL;
	*count = 0;
	if (access(arena_z(keep, dir), F_OK))
		return true;
	if (!dir_list(dir, keep, &entries, &entry_count, err))
		return false;
	for (ptrdiff_t i = 0; i < entry_count; i++)
		if (!entries[i].is_dir && name_age(entries[i].name, &made_s))
			*arena_push(keep, *ret, *count, cap) = entries[i].name;
	return true;
}

ptrdiff_t outbox_tidy(struct str dir, int64_t now_s, struct arena *keep)
{
	struct dir_entry *entries;
	struct str *names;
	struct diag ignored;
	ptrdiff_t count, dropped = 0;
	if (!outbox_list(dir, keep, &names, &count, &ignored) || !count)
		return 0;
	for (ptrdiff_t i = 0; i < count; i++) {
		int64_t made_s = now_s;
		name_age(names[i], &made_s);
		if (count - i > OUTBOX_MAX_LETTERS || made_s < now_s - OUTBOX_MAX_AGE_S)
			dropped += !unlink(path_join(dir, names[i], keep).p);
	}
	/* What a writer left behind that was stopped. */
	if (!dir_list(dir, keep, &entries, &count, &ignored))
		return dropped;
	for (ptrdiff_t i = 0; i < count; i++)
		if (str_ends(entries[i].name, STR(".tmp")) && !entries[i].is_dir &&
			entries[i].mtime_ns / 1000000000 < now_s - LEFTOVER_S)
			unlink(path_join(dir, entries[i].name, keep).p);
	return dropped;
}

/* ---- taking one ------------------------------------------------------------------------------ */

/* The lock is on the file, not its name: one that was removed before we had it is gone. */
static bool lock(int fd)
{
	struct stat st;
	return !flock(fd, LOCK_EX | LOCK_NB) && !fstat(fd, &st) && st.st_nlink > 0;
}

enum take outbox_take(
	struct str dir, struct str name, struct arena *keep, struct taken *ret, struct diag *err)
{
	char *bytes = arena_make(keep, char, OUTBOX_MAX_BYTES + 1);
	*ret = (struct taken){ .path = path_join(dir, name, keep) };
	ret->fd = open(ret->path.p, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (ret->fd < 0 && errno == ENOENT)
		return TAKE_GONE;
	if (ret->fd < 0) {
		diag_set(err, DIAG_DELIVERY, "cannot open '%.*s': %s", STR_ARG(ret->path),
			strerror(errno));
		return TAKE_BAD;
	}
	if (!lock(ret->fd)) {
		close(ret->fd);
		return TAKE_GONE;
	}
	struct str text = { bytes, input_read_all(ret->fd, bytes, OUTBOX_MAX_BYTES + 1) };
	if (text.len < 0)
		diag_set(err, DIAG_DELIVERY, "cannot read '%.*s': %s", STR_ARG(ret->path),
			strerror(errno));
	else if (letter_read(ret->path, text, keep, &ret->letter, err))
		return TAKE_OK;
	close(ret->fd);
	return TAKE_BAD;
}

/* Removed while the lock is held, so that no other process takes it in between. */
bool outbox_done(struct taken *t, struct diag *err)
{
	bool ok = !unlink(t->path.p);
	if (!ok)
		diag_set(err, DIAG_OUTPUT,
			"'%.*s' was delivered and cannot be removed: %s; remove it, or it is sent "
			"again",
			STR_ARG(t->path), strerror(errno));
	close(t->fd);
	return ok;
}

void outbox_keep(struct taken *t)
{
	close(t->fd);
}
