/* Addresses of stores.  See address.h. */
#include "store/address.h"

#include "base/secret.h"
#include "base/text.h"

static const struct address defaults = { .table = STR_INIT("rooflint_facts"), .timeout_s = 60 };

bool address_is_remote(struct str text)
{
	return str_contains(text, STR("://"));
}

static bool fail(const struct address *p, struct diag *err, const char *what)
{
	return diag_set(err, DIAG_STORE,
		"store '%.*s' %s; an address is like "
		"clickhouses://host:8443/database?table=rooflint_facts",
		STR_ARG(p->text), what);
}

static bool is_name(struct str s)
{
	return s.len > 0 && s.len <= ADDRESS_MAX_NAME && !is_digit(s.p[0]) &&
	       str_only(s, "a-zA-Z0-9_");
}

/* A name, an IPv4 address, or an IPv6 address in brackets; curl looks closer. */
static bool is_host(struct str s)
{
	bool is_v6 = str_take(&s, STR("[")) && str_ends(s, STR("]"));
	if (is_v6)
		s = str_head(s, s.len - 1);
	return s.len > 0 && str_only(s, is_v6 ? "a-zA-Z0-9_:." : "a-zA-Z0-9_.-");
}

/* ---- behind the question mark ---------------------------------------------------------------- */

enum setting_kind { NAME, VARIABLE, FLAG, SECONDS };

static const struct setting {
	struct str name;
	enum setting_kind kind;
	ptrdiff_t offset; /* in struct address */
	const char *fault;
} settings[] = {
	{ STR_INIT("table"), NAME, offsetof(struct address, table),
		"has a table= that is no name of letters, digits and _" },
	{ STR_INIT("secure"), FLAG, offsetof(struct address, is_secure),
		"has a secure= that is neither 0 nor 1" },
	{ STR_INIT("timeout"), SECONDS, offsetof(struct address, timeout_s),
		"has a timeout= that is no seconds from 1 to 600" },
	{ STR_INIT("user_from"), VARIABLE, offsetof(struct address, user_from),
		"has a user_from= that names no variable (ROOFLINT_ and more of A-Z, 0-9 and _)" },
	{ STR_INIT("password_from"), VARIABLE, offsetof(struct address, password_from),
		"has a password_from= that names no variable (ROOFLINT_ and more of A-Z, 0-9 and "
		"_)" },
};

static bool set(struct address *p, const struct setting *s, struct str value)
{
	void *at = (char *)p + s->offset;
	bool is_one = str_eq(value, STR("1"));
	int64_t seconds = 0;
	switch (s->kind) {
	case NAME:
		*(struct str *)at = value;
		return is_name(value);
	case VARIABLE:
		*(struct str *)at = value;
		return secret_name_ok(value);
	case FLAG:
		*(bool *)at |= is_one;
		return is_one || str_eq(value, STR("0"));
	case SECONDS:
		if (!str_to_i64(value, &seconds) || seconds < 1 || seconds > ADDRESS_MAX_TIMEOUT)
			return false;
		*(double *)at = (double)seconds;
		return true;
	}
	return false;
}

static bool apply(struct address *p, struct str word, struct diag *err)
{
	struct str name, value = STR("");
	str_cut(word, '=', &name, &value);
	const struct setting *s = NAMED(settings, COUNT_OF(settings), name);
	if (s)
		return set(p, s, value) || fail(p, err, s->fault);
	return fail(p, err,
		"has a setting that is none of table, secure, timeout, user_from and "
		"password_from");
}

/* ---- the whole ------------------------------------------------------------------------------- */

bool address_parse(struct str text, struct arena *keep, struct address *ret, struct diag *err)
{
	static const struct str user = STR_INIT("ROOFLINT_CLICKHOUSE_USER"),
				password = STR_INIT("ROOFLINT_CLICKHOUSE_PASSWORD");
	struct str rest = text, path, query, authority, word;
	*ret = defaults;
	ret->text = text;
	ret->is_secure = str_take(&rest, STR("clickhouses://"));
	if (str_find_char(text, '@') >= 0 || text.len > ADDRESS_MAX)
		return diag_set(err, DIAG_STORE,
			"the address of a store has at most %d bytes, and neither name nor "
			"password: those stand in $ROOFLINT_CLICKHOUSE_USER and "
			"$ROOFLINT_CLICKHOUSE_PASSWORD",
			ADDRESS_MAX);
	if (!ret->is_secure && !str_take(&rest, STR("clickhouse://")))
		return fail(ret, err, "begins with neither clickhouse:// nor clickhouses://");
	bool more = str_cut(rest, '?', &path, &query);
	str_cut(path, '/', &authority, &ret->database);
	if (!is_name(ret->database))
		return fail(ret, err, "names no database of letters, digits and _");
	while (more) {
		more = str_cut(query, '&', &word, &query);
		if (!apply(ret, word, err))
			return false;
	}
	/* The usual variables count where they are set; those that were named have to be. */
	if (!ret->user_from.p && secret_value(user).p)
		ret->user_from = user;
	if (!ret->password_from.p && secret_value(password).p)
		ret->password_from = password;
	if (ret->password_from.p && !ret->user_from.p)
		return fail(ret, err, "has a password and no user: set ROOFLINT_CLICKHOUSE_USER");
	int64_t port =
		ret->is_secure ? 8443 : 8123; /* where servers listen unless told otherwise */
	ptrdiff_t colon = str_rfind_char(authority, ':');
	struct str host = authority;
	if (colon > str_rfind_char(authority, ']')) {
		host = str_head(authority, colon);
		if (!str_to_i64(str_from_offset(authority, colon + 1), &port) || port < 1 ||
			port > 65535)
			return fail(ret, err, "has a port that is none");
	}
	if (!is_host(host))
		return fail(ret, err, "has no host, or one that is none");
	ret->url = arena_fmt(keep, "%s://%.*s:%lld/", ret->is_secure ? "https" : "http",
		STR_ARG(host), (long long)port);
	return true;
}
