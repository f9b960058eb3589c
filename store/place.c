/* Addresses of stores.  See place.h. */
#include "store/place.h"

#include "base/secret.h"

static const struct place defaults = { .table = STR_INIT("rooflint_facts"), .timeout_s = 60 };

bool place_is_remote(struct str text)
{
	return str_contains(text, STR("://"));
}

static bool fail(const struct place *p, struct diag *err, const char *what)
{
	return diag_set(err, DIAG_STORE,
		"store '%.*s' %s; an address is like "
		"clickhouses://host:8443/database?table=rooflint_facts",
		STR_ARG(p->text), what);
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_name(struct str s)
{
	for (ptrdiff_t i = 0; i < s.len; i++)
		if (!is_letter(s.p[i]) && (!i || !is_digit(s.p[i])))
			return false;
	return s.len > 0 && s.len <= PLACE_MAX_NAME;
}

/* A name, an IPv4 address, or an IPv6 address in brackets; curl looks closer. */
static bool is_host(struct str s)
{
	bool is_v6 = str_take(&s, STR("[")) && str_ends(s, STR("]"));
	if (is_v6)
		s = str_head(s, s.len - 1);
	for (ptrdiff_t i = 0; i < s.len; i++) {
		bool is_mark = str_find_char(is_v6 ? STR(":.") : STR(".-"), s.p[i]) >= 0;
		if (!is_letter(s.p[i]) && !is_digit(s.p[i]) && !is_mark)
			return false;
	}
	return s.len > 0;
}

/* ---- behind the question mark ---------------------------------------------------------------- */

static bool set_name(struct str value, struct str *ret)
{
	*ret = value;
	return is_name(value);
}

static bool set_table(struct place *p, struct str value)
{
	return set_name(value, &p->table);
}

static bool set_secure(struct place *p, struct str value)
{
	p->is_secure |= str_eq(value, STR("1"));
	return str_eq(value, STR("0")) || str_eq(value, STR("1"));
}

static bool set_user(struct place *p, struct str value)
{
	p->user_from = value;
	return secret_name_ok(value);
}

static bool set_password(struct place *p, struct str value)
{
	p->password_from = value;
	return secret_name_ok(value);
}

static bool set_timeout(struct place *p, struct str value)
{
	int64_t seconds = 0;
	bool ok = str_to_i64(value, &seconds) && seconds >= 1 && seconds <= PLACE_MAX_TIMEOUT;
	p->timeout_s = (double)seconds;
	return ok;
}

static const struct setting {
	struct str name;
	bool (*set)(struct place *p, struct str value);
	const char *what;
} settings[] = {
	{ STR_INIT("table"), set_table, "has a table= that is no name of letters, digits and _" },
	{ STR_INIT("secure"), set_secure, "has a secure= that is neither 0 nor 1" },
	{ STR_INIT("timeout"), set_timeout, "has a timeout= that is no seconds from 1 to 600" },
	{ STR_INIT("user_from"), set_user,
		"has a user_from= that names no variable (ROOFLINT_ and more of A-Z, 0-9 and _)" },
	{ STR_INIT("password_from"), set_password,
		"has a password_from= that names no variable (ROOFLINT_ and more of A-Z, 0-9 and "
		"_)" },
};

static bool apply(struct place *p, struct str word, struct diag *err)
{
	struct str name, value = STR("");
	str_cut(word, '=', &name, &value);
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (str_eq(name, settings[i].name))
			return settings[i].set(p, value) || fail(p, err, settings[i].what);
	return fail(p, err,
		"has a setting that is none of table, secure, timeout, user_from and "
		"password_from");
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool parse_authority(
	struct place *p, struct str authority, struct arena *keep, struct diag *err)
{
	int64_t port =
		p->is_secure ? 8443 : 8123; /* where a server listens unless it is told otherwise */
	ptrdiff_t colon = str_rfind_char(authority, ':');
	struct str host = authority;
	if (colon > str_rfind_char(authority, ']')) {
		host = str_head(authority, colon);
		if (!str_to_i64(str_from_offset(authority, colon + 1), &port) || port < 1 ||
			port > 65535)
			return fail(p, err, "has a port that is none");
	}
	if (!is_host(host))
		return fail(p, err, "has no host, or one that is none");
	p->url = arena_fmt(keep, "%s://%.*s:%lld/", p->is_secure ? "https" : "http", STR_ARG(host),
		(long long)port);
	return true;
}

/* The usual variables count where they are set; those that were named have to be. */
static void set_variables(struct place *p)
{
	static const struct str user = STR_INIT("ROOFLINT_CLICKHOUSE_USER"),
				password = STR_INIT("ROOFLINT_CLICKHOUSE_PASSWORD");
	if (!p->user_from.p && secret_value(user).p)
		p->user_from = user;
	if (!p->password_from.p && secret_value(password).p)
		p->password_from = password;
}

bool place_parse(struct str text, struct arena *keep, struct place *ret, struct diag *err)
{
	struct str rest = text, path, query, authority, word;
	*ret = defaults;
	ret->text = text;
	ret->is_secure = str_take(&rest, STR("clickhouses://"));
	if (str_find_char(text, '@') >= 0 || text.len > PLACE_MAX)
		return diag_set(err, DIAG_STORE,
			"the address of a store has at most %d bytes, and neither name nor "
			"password: those stand in $ROOFLINT_CLICKHOUSE_USER and "
			"$ROOFLINT_CLICKHOUSE_PASSWORD",
			PLACE_MAX);
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
	set_variables(ret);
	if (ret->password_from.p && !ret->user_from.p)
		return fail(ret, err, "has a password and no user: set ROOFLINT_CLICKHOUSE_USER");
	return parse_authority(ret, authority, keep, err);
}
