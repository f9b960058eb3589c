/* Small answers and small files.  See keyring.h. */
#include <math.h>
#include <stdlib.h>

#include "base/out.h"
#include "base/when.h"
#include "http/keyring.h"
#include "http/listing.h"

/* A metadata server answers at once; elsewhere its address leads nowhere, which must not cost. */
#define NEAR_MS 1000L
#define NEAR_S	5.0
#define FAR_S	20.0

struct str env(const char *name)
{
	const char *value = getenv(name);
	return str_from(value && *value ? value : NULL);
}

static bool take(void *arg, struct str bytes)
{
	struct out *o = arg;
	bool fits = out_text(o).len + bytes.len <= SMALL_BYTES;
	out_str(o, fits ? bytes : STR(""));
	return fits;
}

long ask(struct keyring *k, const struct question *q, struct arena *keep, struct str *ret,
	struct diag *err)
{
	struct out *o = out_memory(keep);
	struct exchange x = { .method = q->method, .url = q->url, .headers = q->headers };
	bool lasting;
	x.body = q->body;
	x.connect_ms = q->is_metadata ? NEAR_MS : 0;
	x.timeout_s = q->is_metadata ? NEAR_S : FAR_S;
	x.is_trusted = true; /* named by the environment, or by the cloud's documentation */
	x.is_direct = q->is_metadata;
	x.authorities = q->authorities;
	x.take = take;
	x.arg = o;
	k->alive(k->alive_arg);
	exchange_run(k->curl, &x);
	curl_slist_free_all(q->headers);
	*ret = out_text(o);
	if (!x.code)
		return x.status;
	diag_set(err, DIAG_BUCKET, "%s",
		x.code == CURLE_OPERATION_TIMEDOUT ? "no answer came in time"
						   : exchange_error(&x, &lasting));
	return 0;
}

bool ask_well(struct keyring *k, const struct question *q, struct str *ret, struct diag *err)
{
	long status = ask(k, q, k->keep, ret, err);
	return status == 200 ||
	       (status && diag_set(err, DIAG_BUCKET, "the server answered %ld", status));
}

cJSON *parse_secret(struct str text)
{
	struct diag ignored;
	return json_parse(STR("credentials"), text, &ignored);
}

static struct str unquoted(struct str s)
{
	bool is_quoted = s.len >= 2 && (*s.p == '"' || *s.p == '\'') && s.p[s.len - 1] == *s.p;
	return is_quoted ? str_head(str_from_offset(s, 1), s.len - 2) : s;
}

/* At the first blank, which may be a tab. */
static bool cut_blank(struct str s, struct str *kind, struct str *name)
{
	struct str tail;
	str_cut(s, ' ', kind, &tail);
	str_cut(*kind, '\t', kind, &tail);
	*name = str_trim(str_from_offset(s, kind->len));
	return kind->len < s.len;
}

/* Between its brackets; "kind name" also as kind "name". */
static bool is_section(struct str said, struct str section)
{
	struct str kind, name, want_kind, want_name;
	if (str_eq(said, section))
		return true;
	return cut_blank(said, &kind, &name) && cut_blank(section, &want_kind, &want_name) &&
	       str_eq(kind, want_kind) && str_eq(unquoted(name), want_name);
}

/* "[name]", with what stands between the brackets. */
static bool take_header(struct str line, struct str *name)
{
	struct str rest;
	if (!str_take(&line, STR("[")))
		return false;
	str_cut(line, ']', name, &rest);
	*name = str_trim(*name);
	return true;
}

/*
 * Lines "key = value" below "[section]"; '#' and ';' begin comments; indented lines are nested.
 * Amazon's tools read the keys in either case.  False when there is no such section; *ret is
 * missing when it has no such key.
 */
static bool ini_read(struct str text, struct str section, struct str key, struct str *ret)
{
	struct str line, name, value;
	bool is_inside = false, is_there = false;
	*ret = MISSING;
	while (!ret->p && str_next(&text, '\n', &line)) {
		bool nested = str_starts(line, STR(" ")) || str_starts(line, STR("\t"));
		line = str_trim(line);
		if (take_header(line, &name))
			is_there |= is_inside = is_section(name, section);
		else if (is_inside && !nested && !str_starts(line, STR("#")) &&
			 !str_starts(line, STR(";")) && str_cut(line, '=', &name, &value) &&
			 str_eq_nocase(str_trim(name), key))
			*ret = str_trim(value);
	}
	return is_there;
}

bool ini_has(struct str text, struct str section)
{
	struct str ignored;
	return ini_read(text, section, STR(""), &ignored);
}

struct str ini_get(struct str text, struct str section, struct str key)
{
	struct str ret;
	ini_read(text, section, key, &ret);
	return ret;
}

struct str form_of(const struct field *fields, ptrdiff_t count, struct arena *keep)
{
	struct out *o = out_memory(keep);
	for (ptrdiff_t i = 0; i < count; i++) {
		struct str value = url_escape(fields[i].value, keep);
		if (fields[i].value.p)
			out_fmt(o, "%s%s=%.*s", out_text(o).len ? "&" : "", fields[i].name,
				STR_ARG(value));
	}
	return out_text(o);
}

/* Amazon's and Google's end in Z; what Python prints ends in +00:00. */
double moment_s(struct str text)
{
	char buffer[48];
	int64_t ns;
	struct str zero = STR("+00:00");
	if (str_ends(text, zero) && text.len < (ptrdiff_t)sizeof(buffer)) {
		snprintf(buffer, sizeof(buffer), "%.*sZ",
			STR_ARG(str_head(text, text.len - zero.len)));
		text = str_from(buffer);
	}
	return when_parse(text, &ns) ? (double)ns / 1e9 : (double)NAN;
}
