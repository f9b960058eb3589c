/*
 * rooflint mcp: the Model Context Protocol on standard input and output, for coding agents.
 *
 * A tool is a command of this program with a few of its options.  Each call runs in a process of
 * its own: a profile that ends it, or fills its memory, costs one answer.
 *
 * Refuses: paths outside the roots that the command line names, wherever a link leads; options that
 * write a file, start a program or open a connection (no tool has one); answers that would fill the
 * agent's context.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "base/text.h"
#include "base/when.h"
#include "cmd/shared.h"

enum {
	LINE_MAX_BYTES = 1 << 20, /* a request: an HLO instruction or a query, not a module */
	ANSWER_MAX_BYTES =
		32 * 1024, /* some eight thousand tokens: a part of any agent's context */
	CALL_MAX_S = 300,  /* clients have given up by then */
	WORDS_MAX = 16,	   /* options and arguments of a tool's command */
	ROWS_MAX = 100,	   /* of a top list: what an agent reads, not what it computes with */
	ROWS = 20,
	PARSE_ERROR = -32700, /* these four are JSON-RPC's */
	INVALID_REQUEST = -32600,
	UNKNOWN_METHOD = -32601,
	INVALID_PARAMS = -32602,
};

/* ---- the tools ------------------------------------------------------------------------------- */

enum param_kind {
	PARAM_END,
	PARAM_PATH,   /* below a root */
	PARAM_EITHER, /* a path below a root if there is such a file, else a word or a text */
	PARAM_TEXT,   /* anything: SQL, a name */
	PARAM_LIST,   /* a top list of `lists` */
	PARAM_ROWS,   /* how long the list is */
};

struct param {
	enum param_kind kind;
	const char *name;
	const char *option; /* of the command; NULL: an argument by its place */
	bool required;
	const char *help;
};

struct tool {
	struct str name;
	const char *command;
	const char *words[2]; /* options it always has */
	const char *help;
	struct param params[6];
};

#define PROFILE_PARAM                                                                              \
	{                                                                                          \
		PARAM_PATH, "profile", NULL, true,                                                 \
			"log directory, run directory or file of the profile, below a root"        \
	}
#define HARDWARE_PARAM                                                                             \
	{                                                                                          \
		PARAM_EITHER, "hardware", "hardware", false,                                       \
			"the chip, where it is not recognised or to ask what if: a name or a file" \
	}
#define STEP_PARAM                                                                                 \
	{                                                                                          \
		PARAM_TEXT, "step", "step", false,                                                 \
			"which steps are judged, where the job has several sorts: a pattern"       \
	}
#define RULES_PARAM                                                                                \
	{                                                                                          \
		PARAM_EITHER, "rules", "rules", false,                                             \
			"a rule file, or recommended, strict or fleet"                             \
	}

static const struct tool tools[] = {
	{ STR_INIT("check"), "check", { "-v", NULL },
		"Judge a profile by the rules: what is slow, where, what it costs per step, and "
		"what to do about it. Start here.",
		{ PROFILE_PARAM, RULES_PARAM,
			{ PARAM_PATH, "baseline", "baseline", false,
				"an earlier profile, or the report.json of one, to compare with" },
			HARDWARE_PARAM, STEP_PARAM } },
	{ STR_INIT("top"), "query", { "--format=csv", NULL },
		"The heaviest rows of a profile in one list, as CSV in seconds and bytes.",
		{ PROFILE_PARAM,
			{ PARAM_LIST, "list", NULL, true,
				"families: ops alike; ops; collectives; buffers: memory at the "
				"peak; gaps: idle time" },
			{ PARAM_ROWS, "rows", NULL, false, "how many, 20 by default" },
			HARDWARE_PARAM, STEP_PARAM } },
	{ STR_INIT("query"), "query", { "--format=csv", NULL },
		"Any question about a profile in SQL (SQLite) over the tables that `tables` "
		"describes, as CSV in seconds, bytes and FLOPs. Put a LIMIT.",
		{ PROFILE_PARAM, { PARAM_TEXT, "sql", NULL, true, "one SELECT" }, HARDWARE_PARAM,
			STEP_PARAM } },
	{ STR_INIT("diff"), "diff", { NULL },
		"What changed between two runs: the step, and op by op, the largest loss first.",
		{ { PARAM_PATH, "base", NULL, true, "the earlier profile, or its report.json" },
			{ PARAM_PATH, "head", NULL, true, "the later one" }, HARDWARE_PARAM,
			STEP_PARAM } },
	{ STR_INIT("explain"), "explain", { NULL },
		"What a rule demands, why, and how to mend what it finds.",
		{ { PARAM_TEXT, "rule", NULL, true, "its name, as check prints it" },
			RULES_PARAM } },
	{ STR_INIT("tables"), "tables", { NULL },
		"The columns of a table with unit and meaning; without a name, of all.",
		{ { PARAM_TEXT, "table", NULL, false, "run, ops, families, collectives, ..." } } },
	{ STR_INIT("hlo"), "hlo", { NULL },
		"The back of the envelope: bytes, FLOPs and least time of a shape (bf16[32,1024]), "
		"a product (bf16[8,4] x bf16[4,8]), an HLO instruction, or a module in a file.",
		{ { PARAM_EITHER, "what", NULL, true, "the text, or a file below a root" },
			HARDWARE_PARAM } },
};

static const struct top_list {
	struct str name;
	const char *sql;
} lists[] = {
	{ STR_INIT("families"),
		"SELECT name, kind, members, per_step, time_share, p50_s, roofline_s, cost_bound, "
		"efficiency, bound, gain_s, shape, source_file, source_line FROM families ORDER BY "
		"time_s DESC" },
	{ STR_INIT("ops"),
		"SELECT name, kind, program, per_step, time_share, p50_s, roofline_s, "
		"cost_bound, efficiency, bound, gain_s, shape, source_file, source_line FROM ops "
		"ORDER BY time_s DESC" },
	{ STR_INIT("collectives"),
		"SELECT name, kind, axis, group_size, message_bytes, per_step, exposed_s, "
		"exposed_share, transfer_s, expected_hi_s, source_file, source_line FROM "
		"collectives ORDER BY exposed_s DESC" },
	{ STR_INIT("buffers"),
		"SELECT op, kind, shape, bytes, padding_ratio, share, source_file, source_line "
		"FROM buffers ORDER BY bytes DESC" },
	{ STR_INIT("gaps"),
		"SELECT device, step, start_s, time_s, cause, host_call, host_activity, before, "
		"after "
		"FROM gaps ORDER BY time_s DESC" },
};

static cJSON *schema_of(const struct tool *t)
{
	cJSON *schema = cJSON_CreateObject();
	json_add_str(schema, "type", STR("object"));
	cJSON *properties = json_add_object(schema, "properties");
	cJSON *required = json_add_array(schema, "required");
	for (const struct param *p = t->params; p->kind != PARAM_END; p++) {
		cJSON *property = json_add_object(properties, p->name);
		json_add_str(
			property, "type", p->kind == PARAM_ROWS ? STR("integer") : STR("string"));
		json_add_str(property, "description", str_from(p->help));
		cJSON *words = p->kind == PARAM_LIST ? json_add_array(property, "enum") : NULL;
		for (ptrdiff_t i = 0; words && i < COUNT_OF(lists); i++)
			cJSON_AddItemToArray(words, json_str(lists[i].name));
		if (p->kind == PARAM_ROWS) {
			json_add_i64(property, "minimum", 1);
			json_add_i64(property, "maximum", ROWS_MAX);
		}
		if (p->required)
			cJSON_AddItemToArray(required, json_str(str_from(p->name)));
	}
	json_add_bool(schema, "additionalProperties", false);
	return schema;
}

static cJSON *list_tools(void)
{
	cJSON *result = cJSON_CreateObject(), *array = json_add_array(result, "tools");
	for (ptrdiff_t i = 0; i < COUNT_OF(tools); i++) {
		cJSON *tool = cJSON_CreateObject();
		json_add_str(tool, "name", tools[i].name);
		json_add_str(tool, "description", str_from(tools[i].help));
		cJSON_AddItemToObject(tool, "inputSchema", schema_of(&tools[i]));
		cJSON *hints = json_add_object(tool, "annotations");
		json_add_bool(hints, "readOnlyHint", true);
		json_add_bool(hints, "openWorldHint", false);
		cJSON_AddItemToArray(array, tool);
	}
	return result;
}

/* ---- arguments ------------------------------------------------------------------------------- */

struct server {
	const struct list *roots; /* absolute, without links */
	struct arena *keep;	  /* of one request */
	struct out *out;
};

static bool is_below(const struct list *roots, struct str path)
{
	for (ptrdiff_t i = 0; i < roots->count; i++) {
		struct str root = roots->items[i], rest = path;
		if (str_take(&rest, root) &&
			(!rest.len || rest.p[0] == '/' || str_eq(root, STR("/"))))
			return true;
	}
	return false;
}

/* The path without links, a relative one from the first root that has it; false: none is there. */
static bool find_path(const struct server *s, struct str path, struct str *ret)
{
	char real[PATH_MAX];
	bool is_absolute = path.len && path.p[0] == '/';
	for (ptrdiff_t i = 0; i < (is_absolute ? 1 : s->roots->count); i++) {
		struct str whole = is_absolute
					   ? path
					   : arena_fmt(s->keep, "%.*s/%.*s",
						     STR_ARG(s->roots->items[i]), STR_ARG(path));
		if (whole.len < PATH_MAX && realpath(arena_z(s->keep, whole), real)) {
			*ret = arena_str(s->keep, str_from(real));
			return true;
		}
	}
	return false;
}

static bool take_path(const struct server *s, const struct param *p, struct str value,
	struct str *ret, struct diag *err)
{
	if (find_path(s, value, ret)) {
		if (is_below(s->roots, *ret))
			return true;
		return diag_set(err, DIAG_USAGE, "%s: '%.*s' is not below a root of this server",
			p->name, STR_ARG(value));
	}
	*ret = value;
	/* What lies in the working directory would be opened in its stead. */
	if (p->kind == PARAM_EITHER && access(arena_z(s->keep, value), F_OK))
		return true;
	return diag_set(err, DIAG_USAGE, "%s: there is no '%.*s' below a root of this server",
		p->name, STR_ARG(value));
}

static bool take_text(const struct server *s, const struct param *p, const cJSON *value,
	struct str *ret, struct diag *err)
{
	const char *said = cJSON_GetStringValue(value);
	if (!said)
		return diag_set(err, DIAG_USAGE, "%s is a text: %s", p->name, p->help);
	*ret = str_from(said);
	if (p->kind == PARAM_PATH || p->kind == PARAM_EITHER)
		return take_path(s, p, *ret, ret, err);
	if (p->kind != PARAM_LIST)
		return true;
	const struct top_list *list = NAMED(lists, COUNT_OF(lists), *ret);
	*ret = list ? str_from(list->sql) : *ret;
	return list || diag_set(err, DIAG_USAGE, "there is no list '%s': %s", said, p->help);
}

static bool known_arguments(const struct tool *t, const cJSON *given, struct diag *err)
{
	const cJSON *item;
	if (given && !cJSON_IsObject(given))
		return diag_set(
			err, DIAG_USAGE, "the arguments of %.*s are an object", STR_ARG(t->name));
	cJSON_ArrayForEach(item, given)
	{
		const struct param *p = t->params;
		while (p->kind != PARAM_END && strcmp(p->name, item->string))
			p++;
		if (p->kind == PARAM_END)
			return diag_set(err, DIAG_USAGE, "%.*s has no argument '%s'",
				STR_ARG(t->name), item->string);
	}
	return true;
}

/* The command line of a call. */
static bool command_words(const struct server *s, const struct tool *t, const cJSON *given,
	struct list *words, struct diag *err)
{
	struct str places[WORDS_MAX], value;
	ptrdiff_t place_count = 0;
	double rows;
	if (!known_arguments(t, given, err))
		return false;
	list_add(words, str_from(t->command), s->keep);
	for (ptrdiff_t i = 0; i < 2 && t->words[i]; i++)
		list_add(words, str_from(t->words[i]), s->keep);
	for (const struct param *p = t->params; p->kind != PARAM_END; p++) {
		const cJSON *item = cJSON_GetObjectItemCaseSensitive(given, p->name);
		if (p->kind == PARAM_ROWS) {
			rows = cJSON_IsNumber(item) ? item->valuedouble : ROWS;
			if (!(rows >= 1 && rows <= ROWS_MAX))
				return diag_set(err, DIAG_USAGE, "rows is from 1 to %d", ROWS_MAX);
			places[place_count - 1] = arena_fmt(s->keep, "%.*s LIMIT %d",
				STR_ARG(places[place_count - 1]), (int)rows);
			continue;
		}
		if (!item || cJSON_IsNull(item)) {
			if (!p->required)
				continue;
			return diag_set(err, DIAG_USAGE, "%.*s needs %s: %s", STR_ARG(t->name),
				p->name, p->help);
		}
		if (!take_text(s, p, item, &value, err))
			return false;
		if (p->option)
			list_add(words, arena_fmt(s->keep, "--%s=%.*s", p->option, STR_ARG(value)),
				s->keep);
		else
			places[place_count++] = value;
	}
	list_add(words, STR("--"), s->keep);
	for (ptrdiff_t i = 0; i < place_count; i++)
		list_add(words, places[i], s->keep);
	return true;
}

/* ---- a call ---------------------------------------------------------------------------------- */

/* In the process of a call: what the command prints goes to the pipe, errors too. */
static _Noreturn void run_call(struct list *words, int pipe)
{
	struct arena keep = arena_new(ARENA_RUN_BYTES);
	int nothing = open("/dev/null", O_RDONLY);
	setpgid(0, 0);
	if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(pipe, STDOUT_FILENO) < 0 ||
		dup2(pipe, STDERR_FILENO) < 0)
		_exit(STATUS_DELIVERY);
	close(pipe);
	_exit(run_words(&keep, words));
}

/* What comes, and how many bytes of it did not fit; false when time was up. */
static bool read_answer(int fd, char *buf, ptrdiff_t *len, ptrdiff_t *left)
{
	char rest[4096];
	double end_s = now_s() + CALL_MAX_S;
	*len = *left = 0;
	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		double wait_s = end_s - now_s();
		int ready = wait_s > 0 ? poll(&p, 1, (int)(wait_s * 1000) + 1) : 0;
		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0)
			return false;
		bool fits = *len < ANSWER_MAX_BYTES;
		ssize_t n = fits ? read(fd, buf + *len, (size_t)(ANSWER_MAX_BYTES - *len))
				 : read(fd, rest, sizeof(rest));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return true;
		*(fits ? len : left) += n;
	}
}

/* Whole lines where there are some, and always whole characters. */
static ptrdiff_t whole_lines(struct str text)
{
	ptrdiff_t n = text.len;
	while (n > 0 && text.p[n - 1] != '\n')
		n--;
	if (n)
		return n;
	for (n = text.len; n > 0 && ((unsigned char)text.p[n - 1] & 0xc0) == 0x80;)
		n--;
	return n ? n - 1 : 0;
}

static cJSON *tool_result(struct str text, bool is_error)
{
	cJSON *result = cJSON_CreateObject(), *item = cJSON_CreateObject();
	json_add_str(item, "type", STR("text"));
	json_add_str(item, "text", text);
	cJSON_AddItemToArray(json_add_array(result, "content"), item);
	json_add_bool(result, "isError", is_error);
	return result;
}

static cJSON *told(struct server *s, int how, bool in_time, struct str text, ptrdiff_t left)
{
	struct out *o = out_memory(s->keep);
	if (left) {
		ptrdiff_t n = whole_lines(text);
		left += text.len - n;
		text = str_head(text, n);
	}
	out_str(o, text);
	if (left)
		out_fmt(o, "... and %td bytes more; ask for less (LIMIT, rows, one table)\n", left);
	if (!in_time)
		out_fmt(o, "no answer in %d s; ask for less\n", CALL_MAX_S);
	else if (!WIFEXITED(how))
		out_fmt(o, "the process that ran this ended by signal %d\n", WTERMSIG(how));
	bool is_error = !in_time || !WIFEXITED(how) || WEXITSTATUS(how) == STATUS_USAGE ||
			WEXITSTATUS(how) == STATUS_PROFILE || WEXITSTATUS(how) == STATUS_DELIVERY;
	return tool_result(out_text(o), is_error);
}

static cJSON *call(struct server *s, struct list *words)
{
	char *buf = arena_make(s->keep, char, ANSWER_MAX_BYTES);
	ptrdiff_t len, left;
	int fds[2], how = 0;
	if (pipe(fds))
		return tool_result(STR("this server has no file descriptors left"), true);
	pid_t pid = fork();
	if (!pid) {
		close(fds[0]);
		run_call(words, fds[1]);
	}
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return tool_result(STR("this machine starts no more processes"), true);
	}
	bool in_time = read_answer(fds[0], buf, &len, &left);
	if (!in_time)
		kill(-pid, SIGKILL);
	close(fds[0]);
	while (waitpid(pid, &how, 0) < 0 && errno == EINTR)
		;
	return told(s, how, in_time, (struct str){ buf, len }, left);
}

static cJSON *call_tool(struct server *s, const cJSON *params, struct diag *err)
{
	struct str name = json_get_str(params, "name");
	struct list words = { 0 };
	const struct tool *t = NAMED(tools, COUNT_OF(tools), name);
	if (!t) {
		diag_set(err, DIAG_USAGE, "there is no tool '%.*s'", STR_ARG(name));
		return NULL;
	}
	/* An agent that reads what is wrong with its words mends them. */
	if (!command_words(
		    s, t, cJSON_GetObjectItemCaseSensitive(params, "arguments"), &words, err))
		return tool_result(str_from(err->text), true);
	return call(s, &words);
}

/* ---- the protocol ---------------------------------------------------------------------------- */

/* Versions whose words for tools are the same; the client's is taken, else the newest. */
static const char *const versions[] = { "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05" };

static cJSON *initialize(const cJSON *params)
{
	struct str asked = json_get_str(params, "protocolVersion"), version = str_from(versions[0]);
	for (ptrdiff_t i = 0; i < COUNT_OF(versions); i++)
		if (str_eq(asked, str_from(versions[i])))
			version = asked;
	cJSON *result = cJSON_CreateObject();
	json_add_str(result, "protocolVersion", version);
	json_add_object(json_add_object(result, "capabilities"), "tools");
	cJSON *info = json_add_object(result, "serverInfo");
	json_add_str(info, "name", STR("rooflint"));
	json_add_str(info, "version", STR(ROOFLINT_VERSION));
	json_add_str(result, "instructions",
		STR("Judges profiles of JAX and XLA jobs against what the hardware can do. Call "
		    "check first, then top or query for numbers, explain for what a rule means."));
	return result;
}

static void send_answer(struct server *s, const cJSON *id, const char *key, cJSON *value)
{
	cJSON *answer = cJSON_CreateObject();
	json_add_str(answer, "jsonrpc", STR("2.0"));
	cJSON_AddItemToObject(answer, "id", id ? cJSON_Duplicate(id, true) : cJSON_CreateNull());
	cJSON_AddItemToObject(answer, key, value);
	json_line(answer, s->out);
	out_flush(s->out);
	cJSON_Delete(answer);
}

static void send_error(struct server *s, const cJSON *id, int code, struct str message)
{
	cJSON *error = cJSON_CreateObject();
	json_add_i64(error, "code", code);
	json_add_str(error, "message", message);
	send_answer(s, id, "error", error);
}

static void handle(struct server *s, const cJSON *request)
{
	const cJSON *id = cJSON_GetObjectItemCaseSensitive(request, "id");
	const cJSON *params = cJSON_GetObjectItemCaseSensitive(request, "params");
	struct str method = json_get_str(request, "method");
	struct diag err;
	cJSON *result = NULL;
	if (!cJSON_IsObject(request) || (id && !cJSON_IsString(id) && !cJSON_IsNumber(id))) {
		send_error(s, NULL, INVALID_REQUEST, STR("a request is an object with an id"));
		return;
	}
	if (!id || !method.p) /* a notification, or the answer to a question that was not asked */
		return;
	if (str_eq(method, STR("initialize")))
		result = initialize(params);
	else if (str_eq(method, STR("ping")))
		result = cJSON_CreateObject();
	else if (str_eq(method, STR("tools/list")))
		result = list_tools();
	else if (!str_eq(method, STR("tools/call"))) {
		send_error(s, id, UNKNOWN_METHOD, STR("no such method"));
		return;
	} else if (!(result = call_tool(s, params, &err))) {
		send_error(s, id, INVALID_PARAMS, str_from(err.text));
		return;
	}
	send_answer(s, id, "result", result);
}

static void handle_line(struct server *s, struct str line)
{
	struct diag err;
	if (!str_trim(line).len)
		return;
	cJSON *request = json_parse(STR("request"), line, &err);
	if (request)
		handle(s, request);
	else
		send_error(s, NULL, PARSE_ERROR, str_from(err.text));
	cJSON_Delete(request);
	arena_clear(s->keep);
}

/* Lines from standard input until it ends.  Of one that is too long the rest is passed over. */
static void serve(struct server *s, char *buf)
{
	ptrdiff_t len = 0;
	bool skipping = false;
	for (;;) {
		char *end = memchr(buf, '\n', (size_t)len);
		if (end) {
			if (!skipping)
				handle_line(s, (struct str){ buf, end - buf });
			skipping = false;
			len -= end + 1 - buf;
			memmove(buf, end + 1, (size_t)len);
			continue;
		}
		if (len == LINE_MAX_BYTES) {
			if (!skipping)
				send_error(s, NULL, INVALID_REQUEST,
					STR("a request has at most 1 MiB"));
			skipping = true;
			len = 0;
		}
		ssize_t n = read(STDIN_FILENO, buf + len, (size_t)(LINE_MAX_BYTES - len));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		len += n;
	}
}

static enum status mcp_run(struct context *c, const void *settings, const struct list *args)
{
	struct arena keep = arena_new(ARENA_SCRATCH_BYTES);
	struct list roots = { 0 };
	char real[PATH_MAX];
	(void)settings;
	for (ptrdiff_t i = 0; i < args->count || !i; i++) {
		struct str root = args->count ? args->items[i] : STR(".");
		if (!realpath(arena_z(c->keep, root), real))
			return misuse("cannot serve '%.*s': %s", STR_ARG(root), strerror(errno));
		list_add(&roots, arena_str(c->keep, str_from(real)), c->keep);
	}
	struct server s = { &roots, &keep, c->out };
	serve(&s, arena_make(c->keep, char, LINE_MAX_BYTES));
	arena_free(&keep);
	return STATUS_OK;
}

const struct command mcp_command = {
	.name = "mcp",
	.arguments = "[ROOT...]",
	.summary = "answer a coding agent's questions (Model Context Protocol)",
	.details =
		"An agent's client starts it and speaks on standard input and output. Its tools "
		"are check, top, query, diff, explain, tables and hlo. They read what lies below a "
		"ROOT (the working directory without any), write nothing, and open no connection. "
		"For example, in the client's configuration:\n"
		"\n"
		"  { \"command\": \"rooflint\", \"args\": [\"mcp\", \"/data/runs\"] }",
	.least = 0,
	.most = -1,
	.options = no_options,
	.run = mcp_run,
};
