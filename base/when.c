/* Moments and spans.  See when.h. */
#include "base/when.h"

#include <time.h>

#define NS_PER_S INT64_C(1000000000)
#define DAY_S	 INT64_C(86400)

/* Year, month, day, hour, minute and second as the calendar has them; false where it does not. */
static bool seconds_of(const int64_t at[6], int64_t *ret)
{
	struct tm said = { .tm_year = (int)at[0] - 1900,
		.tm_mon = (int)at[1] - 1,
		.tm_mday = (int)at[2],
		.tm_hour = (int)at[3],
		.tm_min = (int)at[4],
		.tm_sec = (int)at[5] };
	struct tm meant = said;
	*ret = timegm(&meant);
	return meant.tm_mon == said.tm_mon && meant.tm_mday == said.tm_mday &&
	       meant.tm_hour == said.tm_hour && meant.tm_min == said.tm_min &&
	       meant.tm_sec == said.tm_sec;
}

static bool moment_ns(const int64_t at[6], int64_t fraction_ns, int64_t *ret_ns)
{
	int64_t seconds;
	if (at[0] < 1970 || at[0] > 2261 || !seconds_of(at, &seconds))
		return false;
	*ret_ns = seconds * NS_PER_S + fraction_ns;
	return true;
}

struct str when_text(struct arena *keep, int64_t ns)
{
	char text[sizeof("2026-03-14T09:26:53") + 8];
	time_t seconds = (time_t)(ns / NS_PER_S);
	struct tm at;
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", gmtime_r(&seconds, &at));
	return arena_fmt(keep, "%s.%03lldZ", text, (long long)(ns % NS_PER_S / 1000000));
}

/* Exactly `digits` digits from the front of *s. */
static bool take_digits(struct str *s, int digits, int64_t *ret)
{
	struct str head = str_head(*s, digits);
	*s = str_from_offset(*s, digits);
	bool has_sign = head.len && (head.p[0] == '+' || head.p[0] == '-');
	return head.len == digits && !has_sign && str_to_i64(head, ret);
}

/* The parts of a moment in a row, each but the first behind its separator. */
static bool take_parts(struct str *s, const char *separators, int64_t *parts, int count)
{
	for (int i = 0; i < count; i++)
		if ((i && !str_take(s, (struct str){ separators + i - 1, 1 })) ||
			!take_digits(s, i ? 2 : 4, &parts[i]))
			return false;
	return true;
}

static bool take_fraction(struct str *s, int64_t *ret_ns)
{
	int64_t digit, scale = NS_PER_S / 10;
	struct str rest = *s;
	*ret_ns = 0;
	if (!str_take(&rest, STR(".")))
		return true;
	if (!take_digits(&rest, 1, &digit))
		return false;
	do {
		*ret_ns += digit * scale;
		scale /= 10;
		*s = rest;
	} while (take_digits(&rest, 1, &digit));
	return true;
}

bool when_parse(struct str text, int64_t *ret_ns)
{
	int64_t parts[6] = { 0 }, fraction = 0;
	bool is_date = text.len == 10;
	if (!take_parts(&text, "--T::", parts, is_date ? 3 : 6) ||
		(!is_date && (!take_fraction(&text, &fraction) || !str_take(&text, STR("Z")))))
		return false;
	return !text.len && moment_ns(parts, fraction, ret_ns);
}

bool when_is_day(struct str text)
{
	int64_t parts[6] = { 0 }, ignored;
	return take_parts(&text, "--", parts, 3) && !text.len && seconds_of(parts, &ignored);
}

bool when_parse_run(struct str name, int64_t *ret_ns)
{
	int64_t parts[6] = { 0 };
	return take_parts(&name, "_____", parts, 6) && !name.len && moment_ns(parts, 0, ret_ns);
}

static const struct {
	char unit;
	int64_t seconds;
} spans[] = { { 'm', 60 }, { 'h', 3600 }, { 'd', DAY_S }, { 'w', 7 * DAY_S } };

bool span_parse(struct str text, int64_t *ret_ns)
{
	const int64_t most_s = INT64_C(36525) * DAY_S;
	int64_t count;
	if (text.len < 2 || !str_to_i64(str_head(text, text.len - 1), &count) || count < 1)
		return false;
	for (ptrdiff_t i = 0; i < COUNT_OF(spans); i++)
		if (spans[i].unit == text.p[text.len - 1] && count <= most_s / spans[i].seconds) {
			*ret_ns = count * spans[i].seconds * NS_PER_S;
			return true;
		}
	return false;
}

double now_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
