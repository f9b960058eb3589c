/*
 * JSON to events: a value is scanned again from its beginning when the window ended inside it.  See
 * trace.h.
 */
#include <math.h>
#include <string.h>

#include "profile/trace.h"

/* ---- other people's traces ------------------------------------------------------------------- */

#define CAPTURE "capture with jax.profiler, which writes *.xplane.pb"

#define NSYS "profile the job with Nsight Systems, and give `nsys export --type sqlite` of it"

static const struct trace_foreign pytorch = { "a trace of the PyTorch profiler",
	"on NVIDIA " NSYS };
static const struct trace_foreign other = {
	"a trace of another profiler than JAX's, such as PyTorch's",
	CAPTURE "; of PyTorch on NVIDIA, " NSYS
};
static const struct trace_foreign rocprof = { "an export of rocprof", CAPTURE };
static const struct trace_foreign chrome = { "a trace of Chrome or of rocprof", CAPTURE };
static const struct trace_foreign own = { "a report of rooflint",
	"name the profile that it is of (reports are for `rooflint render`, --baseline and "
	"--previous)" };
static const struct trace_foreign xprof = { "a table that XProf made from a profile",
	"give the *.xplane.pb that it was made from" };

/* Keys beside the events that only others write. */
static const struct {
	struct str key;
	const struct trace_foreign *whose;
} foreign_keys[] = {
	{ STR_INIT("schemaVersion"), &pytorch },
	{ STR_INIT("deviceProperties"), &pytorch },
	{ STR_INIT("distributedInfo"), &pytorch },
	{ STR_INIT("traceName"), &pytorch },
	{ STR_INIT("rocprofiler-sdk-tool"), &rocprof },
	{ STR_INIT("otherData"), &chrome },
	{ STR_INIT("tables_version"), &own },
	{ STR_INIT("cols"), &xprof },
	{ STR_INIT("memoryProfilePerAllocator"), &xprof },
};

static void look_at_key(struct trace_reader *r, struct str key)
{
	for (ptrdiff_t i = 0; i < COUNT_OF(foreign_keys); i++)
		if (str_eq(foreign_keys[i].key, key))
			r->foreign = foreign_keys[i].whose;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Times of hostile files must leave room for sums: 26 days in picoseconds. */
#define TIME_LIMIT_PS (INT64_MAX / 4)

static bool time_slow(struct str number, int64_t *ret)
{
	double us;
	if (!str_to_double(number, &us) || !(fabs(us) < (double)TIME_LIMIT_PS / 1e6))
		return false;
	*ret = llround(us * 1e6);
	return true;
}

/* Up to eight digits, which are passed. */
static inline int take_digits(const char **at, const char *end, uint64_t *value)
{
	int n = str_digits((struct str){ *at, end - *at }, value);
	*at += n;
	return n;
}

/* Behind a point, if any: rounded at the seventh decimal, since writers print those of a double. */
static uint64_t part_ps(const char **at, const char *end)
{
	static const uint64_t scale[] = { 1000000, 100000, 10000, 1000, 100, 10, 1 };
	uint64_t part, rest;
	if (*at == end || **at != '.')
		return 0;
	++*at;
	int places = take_digits(at, end, &part);
	if (places <= 6)
		return part * scale[places];
	while (places == 8 && take_digits(at, end, &rest) == 8) {
	}
	return ((places == 8 ? part / 10 : part) + 5) / 10;
}

/*
 * Picoseconds of microseconds in decimals.  False for what is not written so, or has more than
 * twelve digits before the point.
 */
static bool time_ps(const char **at, const char *end, int64_t *ret)
{
	uint64_t whole;
	const char *p = *at;
	int n = take_digits(&p, end, &whole);
	for (int i = 0; n == 8 && i < 4 && p < end && is_digit(*p); i++)
		whole = whole * 10 + (uint64_t)(*p++ - '0');
	if (!n)
		return false;
	*ret = (int64_t)(whole * 1000000 + part_ps(&p, end));
	*at = p;
	return *ret < TIME_LIMIT_PS;
}

/* ---- events ---------------------------------------------------------------------------------- */

static inline int argument_slot(struct str key)
{
	unsigned char first = (unsigned char)key.p[0], last = (unsigned char)key.p[key.len - 1];
	return (first + 5 * last + 29 * (int)key.len) & 255;
}

static struct str argument_name(int arg)
{
	return arg == ARG_LONG_NAME ? STR("long_name") : stat_name_of(arg);
}

static int8_t *argument_of(struct trace_reader *r, struct str key)
{
	int slot = argument_slot(key);
	while (r->arg_of[slot] >= 0 && !str_eq(argument_name(r->arg_of[slot]), key))
		slot = (slot + 1) & 255;
	return &r->arg_of[slot];
}

static void index_arguments(struct trace_reader *r)
{
	memset(r->arg_of, -1, sizeof(r->arg_of));
	for (int i = 0; i < ARG_COUNT; i++)
		*argument_of(r, argument_name(i)) = (int8_t)i;
}

/* A text, or a number or whatever else as it is written. */
static bool scan_text(struct jscan *s, struct str *ret)
{
	if (jscan_blanks(s) && *s->at == '"')
		return jscan_string(s, ret);
	return jscan_value(s, ret);
}

static bool scan_argument(
	struct trace_reader *r, struct jscan *s, struct str key, struct trace_event *e)
{
	struct str value;
	if (!scan_text(s, &value))
		return false;
	int arg = key.len ? *argument_of(r, key) : -1;
	if (arg >= 0) {
		e->args[arg] = value;
		e->present |= UINT64_C(1) << arg;
	}
	return true;
}

static bool scan_args(struct trace_reader *r, struct jscan *s, struct trace_event *e)
{
	bool first = true;
	struct str key;
	if (!jscan_expect(s, '{', "'{' and the arguments"))
		return false;
	e->present = 0;
	while (jscan_member(s, &first, &key))
		if (!scan_argument(r, s, key, e))
			return false;
	return !s->more && !s->why;
}

/* As writers print it, in one go; false, with nothing done, for any other spelling. */
static bool scan_plain_time(struct jscan *s, int64_t *ret)
{
	const char *end = s->at;
	if (!time_ps(&end, s->end, ret) || end == s->end || !jscan_ends_word(*end))
		return false;
	s->at = end;
	return true;
}

static bool scan_time(struct jscan *s, int64_t *ret)
{
	struct str number;
	if (!jscan_blanks(s))
		return false;
	if (scan_plain_time(s, ret))
		return true;
	struct jscan before = *s;
	if (!jscan_word(s, &number))
		return false;
	if (time_slow(number, ret))
		return true;
	*s = before;
	return jscan_fail(s, "a time in microseconds, below 26 days");
}

/* Other writers use words for processes; theirs are not our planes. */
static bool scan_id(struct jscan *s, int64_t *ret)
{
	struct str id;
	if (!scan_text(s, &id))
		return false;
	if (!str_to_i64(id, ret))
		*ret = -1;
	return true;
}

static bool scan_phase(struct jscan *s, char *ret)
{
	struct str phase;
	if (!jscan_string(s, &phase))
		return false;
	*ret = phase.len == 1 ? phase.p[0] : '?';
	return true;
}

/* A key of at most eight bytes as a number, so that a switch tells keys apart. */
#define KEY2(a, b)	 ((uint64_t)(a) << 8 | (b))
#define KEY3(a, b, c)	 (KEY2(a, b) << 8 | (c))
#define KEY4(a, b, c, d) (KEY3(a, b, c) << 8 | (d))

static inline uint64_t key_number(struct str key)
{
	uint64_t n = 0;
	for (ptrdiff_t i = 0; i < key.len && i < 8; i++)
		n = n << 8 | (unsigned char)key.p[i];
	return key.len <= 8 ? n : 0;
}

/* JAX's events have no category; Kineto's all do.  Other keys may show others. */
static bool scan_other(struct trace_reader *r, struct jscan *s, struct str key)
{
	struct str value;
	if (str_eq(key, STR("cat")))
		r->foreign = &other;
	look_at_key(r, key);
	return !r->foreign && jscan_value(s, &value);
}

static bool scan_member(
	struct trace_reader *r, struct jscan *s, struct str key, struct trace_event *e)
{
	switch (key_number(key)) {
	case KEY2('p', 'h'):
		return scan_phase(s, &e->phase);
	case KEY3('p', 'i', 'd'):
		return scan_id(s, &e->pid);
	case KEY3('t', 'i', 'd'):
		return scan_id(s, &e->tid);
	case KEY2('t', 's'):
		return scan_time(s, &e->start_ps);
	case KEY3('d', 'u', 'r'):
		return scan_time(s, &e->duration_ps);
	case KEY4('n', 'a', 'm', 'e'):
		return scan_text(s, &e->name);
	case KEY4('a', 'r', 'g', 's'):
		return scan_args(r, s, e);
	default:
		return scan_other(r, s, key);
	}
}

static bool scan_event(struct trace_reader *r, struct jscan *s, struct trace_event *e)
{
	bool first = true;
	struct str key;
	e->phase = 0;
	e->pid = e->tid = -1;
	e->start_ps = e->duration_ps = 0;
	e->name = STR("");
	e->present = 0;
	if (!jscan_expect(s, '{', "'{' and an event"))
		return false;
	while (jscan_member(s, &first, &key))
		if (!scan_member(r, s, key, e))
			return false;
	return !s->more && !s->why;
}

/* ---- windows --------------------------------------------------------------------------------- */

/* Reads more bytes behind those not yet used; false at the end of the file, and on trouble. */
static bool refill(struct trace_reader *r)
{
	struct str unread = str_span(r->scan.at, r->scan.end);
	if (unread.len > STREAM_UNREAD) {
		r->why = "an event of less than 1 MiB";
		return false;
	}
	if (!stream_more(r->stream, unread.len, &r->window))
		return false;
	r->scan = jscan_open(r->window);
	return true;
}

/* After a scan that went wrong: true to scan again, with more bytes. */
static bool again(struct trace_reader *r, const struct jscan *s)
{
	if (r->foreign)
		return false;
	if (s->more && refill(r))
		return true;
	if (r->why)
		return false;
	r->why = s->more ? "more, where the JSON breaks off" : s->why ? s->why : "a trace";
	r->scan = *s;
	return false;
}

/* Over a value of any size beside the events. */
static bool skip_value(struct trace_reader *r)
{
	struct jscan_skip skip = { 0 };
	while (!jscan_skip(&r->scan, &skip)) {
		r->scan.more = true;
		struct jscan s = r->scan;
		if (r->scan.why || !again(r, &s))
			return false;
	}
	return true;
}

/* The next key beside the events; false behind the last. */
static bool next_key(struct trace_reader *r, struct str *key)
{
	for (;;) {
		struct jscan s = r->scan;
		bool first = r->first;
		bool any = jscan_member(&s, &first, key);
		if (any || (!s.more && !s.why)) {
			r->scan = s;
			r->first = first;
			return any;
		}
		if (!again(r, &s))
			return false;
	}
}

/* The next byte that is no blank; 0 on trouble. */
static char peek(struct trace_reader *r)
{
	for (;;) {
		struct jscan s = r->scan;
		if (jscan_blanks(&s)) {
			r->scan = s;
			return *s.at;
		}
		if (!again(r, &s))
			return 0;
	}
}

static bool take_bracket(struct trace_reader *r, char c, const char *why)
{
	char next = peek(r);
	if (next != c) {
		if (next)
			r->why = why;
		return false;
	}
	r->scan.at++;
	r->first = true;
	return true;
}

/* Up to the events; false when there are none (any more), or on trouble. */
static bool find_events(struct trace_reader *r)
{
	struct str key;
	while (next_key(r, &key)) {
		if (str_eq(key, STR("traceEvents")))
			return take_bracket(r, '[', "'[' and the events");
		look_at_key(r, key);
		if (r->foreign || !skip_value(r))
			return false;
	}
	return false;
}

/* The mark with which some editors begin UTF-8. */
static void skip_mark(struct trace_reader *r)
{
	struct str mark = STR("\xef\xbb\xbf");
	while (r->scan.end - r->scan.at < mark.len && refill(r)) {
	}
	if (str_starts((struct str){ r->scan.at, r->scan.end - r->scan.at }, mark))
		r->scan.at += mark.len;
}

bool trace_begin(struct trace_reader *r, const struct input *in, struct arena *keep)
{
	*r = (struct trace_reader){ .keep = keep, .stream = stream_open(in, keep) };
	r->window = STR("");
	r->scan = jscan_open(r->window);
	index_arguments(r);
	skip_mark(r);
	r->bare = peek(r) == '[';
	if (r->why)
		return false;
	if (r->bare)
		return take_bracket(r, '[', "a trace");
	if (!take_bracket(r, '{', "'{' or '[', with which a trace begins"))
		return false;
	if (find_events(r))
		return true;
	if (!r->why && !r->foreign)
		r->why = "traceEvents, which every trace has";
	return false;
}

/* Behind the events: other keys, and nothing behind those. */
static void finish(struct trace_reader *r)
{
	r->ended = true;
	if (!r->bare) {
		r->first = false;
		if (find_events(r))
			r->why = "one list of events, not two";
	}
	while (!r->why && !r->foreign) {
		struct jscan s = r->scan;
		if (jscan_blanks(&s)) {
			r->why = "nothing behind the trace";
			return;
		}
		r->scan = s;
		if (!refill(r))
			return;
	}
}

bool trace_next(struct trace_reader *r, struct trace_event *ret)
{
	while (!r->ended) {
		struct jscan s = r->scan;
		bool first = r->first;
		if (jscan_element(&s, &first) && scan_event(r, &s, ret)) {
			r->scan = s;
			r->first = false;
			return true;
		}
		if (!s.more && !s.why && !r->foreign) {
			r->scan = s;
			finish(r);
			return false;
		}
		if (!again(r, &s))
			return false;
	}
	return false;
}

bool trace_end(struct trace_reader *r, struct diag *err)
{
	if (!stream_end(r->stream, err))
		return false;
	if (r->foreign)
		return diag_set(err, DIAG_FILE_KIND, "%s, which is not read; %s", r->foreign->is,
			r->foreign->todo);
	if (!r->why)
		return true;
	long long at = stream_bytes(r->stream) - (long long)(r->scan.end - r->scan.at);
	return diag_set(err, DIAG_TRACE, "byte %lld of its JSON: expected %s%s", at, r->why,
		r->scan.more ? "; copy or capture it again" : "");
}

void trace_close(struct trace_reader *r)
{
	stream_close(r->stream);
}
