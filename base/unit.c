/* Units: reading "64 MiB" and writing "6.02 ms".  See unit.h. */
#include "base/unit.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "base/text.h"

/*
 * One unit a unit is `mul` / `div` base units.  Small units divide, so that "7%" is the double
 * nearest to 0.07, which 7 * 0.01 is not.  `shown` rows, smallest first, are what unit_text picks
 * from: memory in binary units, rates in decimal ones, as vendors state both.
 */
struct scale {
	struct str name;
	double mul, div;
	enum unit unit;
	bool shown;
};

#define KI	 1024.0
#define MI	 (1024.0 * KI)
#define GI	 (1024.0 * MI)
#define TI	 (1024.0 * GI)
#define PI_BYTES (1024.0 * TI)

static const struct scale scales[] = {
	{ STR_INIT("%"), 1, 100, UNIT_RATIO, false },
	{ STR_INIT("x"), 1, 1, UNIT_RATIO, false }, /* 2x is 200% */
	{ STR_INIT("$"), 1, 1, UNIT_DOLLARS, false },
	{ STR_INIT("ns"), 1, 1e9, UNIT_SECONDS, true },
	{ STR_INIT("us"), 1, 1e6, UNIT_SECONDS, true },
	{ STR_INIT("\xc2\xb5s"), 1, 1e6, UNIT_SECONDS, false }, /* micro sign */
	{ STR_INIT("\xce\xbcs"), 1, 1e6, UNIT_SECONDS, false }, /* Greek mu */
	{ STR_INIT("ms"), 1, 1e3, UNIT_SECONDS, true },
	{ STR_INIT("s"), 1, 1, UNIT_SECONDS, true },
	{ STR_INIT("min"), 60, 1, UNIT_SECONDS, true },
	{ STR_INIT("h"), 3600, 1, UNIT_SECONDS, true },
	{ STR_INIT("d"), 86400, 1, UNIT_SECONDS, false },
	{ STR_INIT("B"), 1, 1, UNIT_BYTES, true },
	{ STR_INIT("kB"), 1e3, 1, UNIT_BYTES, false },
	{ STR_INIT("KB"), 1e3, 1, UNIT_BYTES, false },
	{ STR_INIT("MB"), 1e6, 1, UNIT_BYTES, false },
	{ STR_INIT("GB"), 1e9, 1, UNIT_BYTES, false },
	{ STR_INIT("TB"), 1e12, 1, UNIT_BYTES, false },
	{ STR_INIT("PB"), 1e15, 1, UNIT_BYTES, false },
	{ STR_INIT("KiB"), KI, 1, UNIT_BYTES, true },
	{ STR_INIT("MiB"), MI, 1, UNIT_BYTES, true },
	{ STR_INIT("GiB"), GI, 1, UNIT_BYTES, true },
	{ STR_INIT("TiB"), TI, 1, UNIT_BYTES, true },
	{ STR_INIT("PiB"), PI_BYTES, 1, UNIT_BYTES, true },
	{ STR_INIT("FLOP"), 1, 1, UNIT_FLOPS, true },
	{ STR_INIT("kFLOP"), 1e3, 1, UNIT_FLOPS, true },
	{ STR_INIT("MFLOP"), 1e6, 1, UNIT_FLOPS, true },
	{ STR_INIT("GFLOP"), 1e9, 1, UNIT_FLOPS, true },
	{ STR_INIT("TFLOP"), 1e12, 1, UNIT_FLOPS, true },
	{ STR_INIT("PFLOP"), 1e15, 1, UNIT_FLOPS, true },
	{ STR_INIT("EFLOP"), 1e18, 1, UNIT_FLOPS, true },
	{ STR_INIT("B/s"), 1, 1, UNIT_BYTES_PER_SECOND, true },
	{ STR_INIT("kB/s"), 1e3, 1, UNIT_BYTES_PER_SECOND, true },
	{ STR_INIT("KB/s"), 1e3, 1, UNIT_BYTES_PER_SECOND, false },
	{ STR_INIT("MB/s"), 1e6, 1, UNIT_BYTES_PER_SECOND, true },
	{ STR_INIT("GB/s"), 1e9, 1, UNIT_BYTES_PER_SECOND, true },
	{ STR_INIT("TB/s"), 1e12, 1, UNIT_BYTES_PER_SECOND, true },
	{ STR_INIT("PB/s"), 1e15, 1, UNIT_BYTES_PER_SECOND, true },
	{ STR_INIT("KiB/s"), KI, 1, UNIT_BYTES_PER_SECOND, false },
	{ STR_INIT("MiB/s"), MI, 1, UNIT_BYTES_PER_SECOND, false },
	{ STR_INIT("GiB/s"), GI, 1, UNIT_BYTES_PER_SECOND, false },
	{ STR_INIT("TiB/s"), TI, 1, UNIT_BYTES_PER_SECOND, false },
	{ STR_INIT("FLOP/s"), 1, 1, UNIT_FLOPS_PER_SECOND, true },
	{ STR_INIT("kFLOP/s"), 1e3, 1, UNIT_FLOPS_PER_SECOND, true },
	{ STR_INIT("MFLOP/s"), 1e6, 1, UNIT_FLOPS_PER_SECOND, true },
	{ STR_INIT("GFLOP/s"), 1e9, 1, UNIT_FLOPS_PER_SECOND, true },
	{ STR_INIT("TFLOP/s"), 1e12, 1, UNIT_FLOPS_PER_SECOND, true },
	{ STR_INIT("PFLOP/s"), 1e15, 1, UNIT_FLOPS_PER_SECOND, true },
	{ STR_INIT("EFLOP/s"), 1e18, 1, UNIT_FLOPS_PER_SECOND, true },
};

static const struct unit_words {
	const char *name, *noun;
} unit_words[] = {
	[UNIT_NONE] = { "none", "a number" },
	[UNIT_COUNT] = { "count", "a count" },
	[UNIT_RATIO] = { "ratio", "a ratio" },
	[UNIT_SECONDS] = { "seconds", "a time" },
	[UNIT_BYTES] = { "bytes", "a size in bytes" },
	[UNIT_FLOPS] = { "FLOPs", "a number of FLOPs" },
	[UNIT_BYTES_PER_SECOND] = { "bytes/s", "a rate in bytes/s" },
	[UNIT_FLOPS_PER_SECOND] = { "FLOP/s", "a rate in FLOP/s" },
	[UNIT_BOOL] = { "bool", "a flag" },
	[UNIT_DOLLARS] = { "dollars", "an amount of money" },
};

const char *unit_name(enum unit u)
{
	return unit_words[(ptrdiff_t)u < COUNT_OF(unit_words) ? u : UNIT_NONE].name;
}

const char *unit_noun(enum unit u)
{
	return unit_words[(ptrdiff_t)u < COUNT_OF(unit_words) ? u : UNIT_NONE].noun;
}

static struct str nearest_unit(struct str word)
{
	struct str names[COUNT_OF(scales)];
	for (int i = 0; i < COUNT_OF(scales); i++)
		names[i] = scales[i].name;
	return text_nearest(word, names, COUNT_OF(scales));
}

bool unit_parse(struct str text, double *ret, enum unit *ret_unit, struct str *nearest)
{
	double number;
	if (nearest)
		*nearest = MISSING;
	text = str_trim(text);
	bool dollars = str_take(&text, STR("$"));
	ptrdiff_t len = str_number(text);
	struct str name = str_trim(str_from_offset(text, len));
	if (!str_to_double(str_head(text, len), &number) || (dollars && name.len))
		return false;
	*ret = number;
	*ret_unit = dollars ? UNIT_DOLLARS : UNIT_NONE;
	if (!name.len)
		return true;
	for (int i = 0; i < COUNT_OF(scales); i++) {
		if (!str_eq(name, scales[i].name))
			continue;
		*ret = number * scales[i].mul / scales[i].div;
		*ret_unit = scales[i].unit;
		return !isinf(*ret);
	}
	if (nearest)
		*nearest = nearest_unit(name);
	return false;
}

/* Number texts are short but for a stray double of 300 digits, which goes to %g. */
enum { NUMBER_BYTES = 48 };

/* Decimals that leave three significant digits after rounding: 9.996 is "10.0". */
static int decimals(double magnitude)
{
	if (magnitude >= 99.95)
		return 0;
	if (magnitude >= 9.995)
		return 1;
	if (magnitude >= 0.9995)
		return 2;
	return magnitude >= 0.09995 ? 3 : 4;
}

static void three_digits(char buf[NUMBER_BYTES], double value)
{
	double magnitude = fabs(value);
	if (value == 0)
		snprintf(buf, NUMBER_BYTES, "0");
	else if (magnitude < 1e-2 || magnitude >= 1e15)
		snprintf(buf, NUMBER_BYTES, "%.3g", value);
	else
		snprintf(buf, NUMBER_BYTES, "%.*f", decimals(magnitude), value);
}

/* A number without unit: integers as they are, others to three digits without padding zeros. */
static void plain_number(char buf[NUMBER_BYTES], double value)
{
	double magnitude = fabs(value);
	if (magnitude < 1e15 && (value == trunc(value) || magnitude >= 999.5))
		snprintf(buf, NUMBER_BYTES, "%.0f", value == 0 ? 0 : value);
	else
		snprintf(buf, NUMBER_BYTES, "%.3g", value);
}

/* The largest unit that shows at least 1 after rounding, else the smallest. */
static const struct scale *scale_for(double value, enum unit u)
{
	const struct scale *best = NULL;
	for (int i = 0; i < COUNT_OF(scales); i++) {
		const struct scale *s = &scales[i];
		if (s->unit != u || !s->shown)
			continue;
		if (!best || fabs(value) * s->div / s->mul >= 0.9995)
			best = s;
	}
	assert(best);
	return best;
}

static struct str scaled_text(struct arena *keep, double value, enum unit u)
{
	char buf[NUMBER_BYTES];
	if (value == 0)
		return arena_fmt(keep, "0 %s", u == UNIT_SECONDS ? "s" : scale_for(0, u)->name.p);
	const struct scale *s = scale_for(value, u);
	double count = value * s->div / s->mul;
	/* Bytes below a KiB are whole, and "512 B" says so. */
	if (s->mul == 1 && s->div == 1 && count == trunc(count) && u != UNIT_SECONDS)
		plain_number(buf, count);
	else
		three_digits(buf, count);
	return arena_fmt(keep, "%s %s", buf, s->name.p);
}

/* Two decimals are enough below 10%: a thousandth of a percent decides nothing. */
static struct str ratio_text(struct arena *keep, double value)
{
	double percent = value * 100, magnitude = fabs(percent);
	if (value == 0)
		return STR("0%");
	if (magnitude < 0.005)
		return value < 0 ? STR(">-0.01%") : STR("<0.01%");
	if (magnitude >= 1e15)
		return arena_fmt(keep, "%.3g%%", percent);
	return arena_fmt(keep, "%.*f%%", decimals(magnitude < 1 ? 1 : magnitude), percent);
}

static struct str number_text(struct arena *keep, double value)
{
	char buf[NUMBER_BYTES];
	plain_number(buf, value);
	return arena_fmt(keep, "%s", buf);
}

static struct str dollars_text(struct arena *keep, double value)
{
	double magnitude = fabs(value);
	return arena_fmt(keep, magnitude < 1e15 ? "%s$%.*f" : "%s$%.*e", value < 0 ? "-" : "",
		magnitude < 999.995 ? 2 : 0, magnitude);
}

struct str unit_text(struct arena *keep, double value, enum unit u)
{
	if (isnan(value))
		return STR("unknown");
	if (isinf(value))
		return value < 0 ? STR("-infinite") : STR("infinite");
	switch (u) {
	case UNIT_RATIO:
		return ratio_text(keep, value);
	case UNIT_BOOL:
		return value != 0 ? STR("yes") : STR("no");
	case UNIT_DOLLARS:
		return dollars_text(keep, value);
	case UNIT_SECONDS:
	case UNIT_BYTES:
	case UNIT_FLOPS:
	case UNIT_BYTES_PER_SECOND:
	case UNIT_FLOPS_PER_SECOND:
		return scaled_text(keep, value, u);
	case UNIT_NONE:
	case UNIT_COUNT:
		break;
	}
	return number_text(keep, value);
}

struct str unit_exact(struct arena *keep, double value, enum unit u)
{
	struct str best = MISSING, plain = arena_fmt(keep, "%.6g", value);
	if (u == UNIT_RATIO)
		return arena_fmt(keep, "%.6g%%", value * 100);
	for (int i = 0; i < COUNT_OF(scales) && u != UNIT_DOLLARS; i++) {
		const struct scale *s = &scales[i];
		double count = value * s->div / s->mul;
		if (s->unit != u)
			continue;
		struct str text = arena_fmt(keep, "%.6g %s", count, s->name.p);
		if (s->mul == 1 && s->div == 1)
			plain = text;
		if (fabs(count) >= 1 && fabs(count) < 1000 && (!best.p || text.len < best.len))
			best = text;
	}
	return best.p ? best : plain;
}
