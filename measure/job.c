/* Reading a job file: every key by table, every mistake with its place.  See job.h. */
#include "measure/job.h"

#include <math.h>
#include <stdarg.h>

#include "base/doc.h"
#include "base/text.h"
#include "base/unit.h"

enum job_type {
	JOB_VERSION,
	JOB_MAP,
	JOB_TEXT,
	JOB_WORD,   /* int: index into `words` from 1 */
	JOB_COUNT,  /* double: a whole number */
	JOB_NUMBER, /* double above 0 */
	JOB_BYTES,  /* double: with or without a unit */
	JOB_AXES,   /* struct str: "name=size,..." */
	JOB_LABELS, /* struct str: "name=text,..." */
};

struct job_key {
	struct str name;
	enum job_type type;
	ptrdiff_t offset; /* in struct job_file */
	const char *words;
	const struct job_key *keys; /* of a map; ends with a missing name */
};

struct job_reader {
	const struct doc *doc;
	struct arena *keep;
	struct job_file *job;
	struct diag *err;
};

#define AT(member) offsetof(struct job_file, member)
#define NAMED(name, type, member)                                                                  \
	{                                                                                          \
		STR_INIT(name), type, AT(member), NULL, NULL                                       \
	}

static const struct job_key model_keys[] = {
	NAMED("name", JOB_TEXT, model.name),
	NAMED("params", JOB_NUMBER, model.params),
	NAMED("active_params", JOB_NUMBER, model.active_params),
	NAMED("layers", JOB_COUNT, model.layers),
	NAMED("heads", JOB_COUNT, model.heads),
	NAMED("head_dim", JOB_COUNT, model.head_dim),
	NAMED("hidden", JOB_COUNT, model.hidden),
	NAMED("seq_len", JOB_COUNT, model.seq_len),
	{ STR_INIT("attention"), JOB_WORD, AT(model.attention), "full|causal|none", NULL },
	{ STR_INIT("remat"), JOB_WORD, AT(model.remat), "none|matmuls|block", NULL },
	NAMED("flops_per_token", JOB_NUMBER, model.flops_per_token),
	{ .name = { NULL, 0 } },
};

static const struct job_key version_keys[] = {
	NAMED("jax", JOB_TEXT, versions.jax),
	NAMED("jaxlib", JOB_TEXT, versions.jaxlib),
	NAMED("runtime", JOB_TEXT, versions.runtime),
	{ .name = { NULL, 0 } },
};

static const struct job_key pipeline_keys[] = {
	NAMED("stages", JOB_COUNT, pipeline.stages),
	NAMED("microbatches", JOB_COUNT, pipeline.microbatches),
	NAMED("repeats", JOB_COUNT, pipeline.repeats),
	{ .name = { NULL, 0 } },
};

static const struct job_key bytes_per_param_keys[] = {
	NAMED("weights", JOB_BYTES, memory.weight_bytes),
	NAMED("gradients", JOB_BYTES, memory.gradient_bytes),
	NAMED("state", JOB_BYTES, memory.state_bytes),
	{ .name = { NULL, 0 } },
};

static const struct job_key memory_keys[] = {
	NAMED("expected", JOB_BYTES, memory.expected_bytes),
	{ STR_INIT("optimizer"), JOB_WORD, AT(memory.optimizer),
		"none|adam|adam-f32|adam-bf16|adafactor", NULL },
	{ STR_INIT("bytes_per_param"), JOB_MAP, 0, NULL, bytes_per_param_keys },
	NAMED("shards", JOB_COUNT, memory.shards),
	{ STR_INIT("zero"), JOB_WORD, AT(memory.zero), "0|1|2|3", NULL },
	NAMED("model_shards", JOB_COUNT, memory.model_shards),
	NAMED("activations", JOB_BYTES, memory.activation_bytes),
	NAMED("extra", JOB_BYTES, memory.extra_bytes),
	{ .name = { NULL, 0 } },
};

static const struct job_key job_keys[] = {
	{ STR_INIT("version"), JOB_VERSION, 0, NULL, NULL },
	NAMED("workload", JOB_TEXT, workload),
	NAMED("owner", JOB_TEXT, owner),
	NAMED("commit", JOB_TEXT, commit),
	NAMED("labels", JOB_LABELS, labels),
	{ STR_INIT("versions"), JOB_MAP, 0, NULL, version_keys },
	{ STR_INIT("phase"), JOB_WORD, AT(phase), "train|inference", NULL },
	NAMED("devices", JOB_COUNT, devices),
	NAMED("hosts", JOB_COUNT, hosts),
	NAMED("slices", JOB_COUNT, slices),
	NAMED("topology", JOB_TEXT, topology),
	NAMED("mesh", JOB_AXES, mesh),
	NAMED("global_batch", JOB_COUNT, global_batch),
	NAMED("tokens_per_step", JOB_NUMBER, tokens_per_step),
	{ STR_INIT("model"), JOB_MAP, 0, NULL, model_keys },
	{ STR_INIT("pipeline"), JOB_MAP, 0, NULL, pipeline_keys },
	{ STR_INIT("memory"), JOB_MAP, 0, NULL, memory_keys },
	{ .name = { NULL, 0 } },
};

/* Keys of one map at the most, for the lists in messages. */
enum { KEYS_MAX = 24 };

/* ---- mistakes -------------------------------------------------------------------------------- */

static bool job_fail(const struct job_reader *r, const struct doc_node *node, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static bool job_fail(const struct job_reader *r, const struct doc_node *node, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	struct str text = arena_vfmt(r->keep, fmt, args);
	va_end(args);
	return diag_caret(r->err, DIAG_JOB_FILE, doc_place(r->doc, node), "%.*s", STR_ARG(text));
}

static struct str joined(struct arena *keep, const struct str *words, ptrdiff_t count)
{
	struct str all = count > 0 ? words[0] : STR("");

	for (ptrdiff_t i = 1; i < count; i++)
		all = arena_fmt(keep, "%.*s%s%.*s", STR_ARG(all), i + 1 < count ? ", " : " or ",
			STR_ARG(words[i]));
	return all;
}

/* The nearest of the words, or all of them. */
static bool unknown(const struct job_reader *r, const struct doc_node *node, const char *what,
	const struct str *words, ptrdiff_t count)
{
	struct str near = text_nearest(node->text, words, count);

	if (near.p)
		return job_fail(r, node, "unknown %s '%.*s'; did you mean '%.*s'?", what,
			STR_ARG(node->text), STR_ARG(near));
	return job_fail(r, node, "unknown %s '%.*s'; expected %.*s", what, STR_ARG(node->text),
		STR_ARG(joined(r->keep, words, count)));
}

/* ---- kinds of value -------------------------------------------------------------------------- */

static bool need_scalar(
	const struct job_reader *r, const struct job_key *key, const struct doc_node *node)
{
	if (node->kind != DOC_SCALAR)
		return job_fail(r, node, "%.*s takes one value", STR_ARG(key->name));
	if (!str_trim(node->text).len)
		return job_fail(r, node, "%.*s is empty; say it, or leave the line out",
			STR_ARG(key->name));
	return true;
}

/* Written bare, so that "1" and 1 never mean different things silently. */
static bool read_number(const struct job_reader *r, struct str name, const struct doc_node *node,
	bool whole, enum unit unit, double *ret)
{
	static const char *const wanted[] = { "a number above 0, as in 7e9",
		"a whole number from 1", "bytes, as in 12 GiB" };
	const char *expected = wanted[unit == UNIT_BYTES ? 2 : whole];
	struct str nearest;
	enum unit found;
	double value;

	if (node->kind != DOC_SCALAR || node->quoted ||
		!unit_parse(node->text, &value, &found, &nearest) ||
		(found != UNIT_NONE && found != unit))
		return job_fail(r, node, "%.*s is %s%s", STR_ARG(name), expected,
			node->quoted ? ", without quotes" : "");
	bool least = unit == UNIT_BYTES ? value >= 0 : value > 0;
	/* 2^53: beyond it doubles skip whole numbers, and no job has as many of anything. */
	if (!least || (whole && (value != floor(value) || value > 9007199254740992.0)))
		return job_fail(r, node, "%.*s is %s", STR_ARG(name), expected);
	*ret = value;
	return true;
}

static bool read_word(const struct job_reader *r, const struct job_key *key,
	const struct doc_node *node, int *ret)
{
	struct str words[KEYS_MAX], rest = str_from(key->words);
	ptrdiff_t count = 0;

	if (!need_scalar(r, key, node))
		return false;
	for (bool more = true; more && count < KEYS_MAX; count++)
		more = str_cut(rest, '|', &words[count], &rest);
	for (ptrdiff_t i = 0; i < count; i++)
		if (str_eq(node->text, words[i])) {
			*ret = (int)i + 1;
			return true;
		}
	return unknown(r, node, arena_z(r->keep, key->name), words, count);
}

static bool read_text(const struct job_reader *r, const struct job_key *key,
	const struct doc_node *node, struct str *ret)
{
	if (!need_scalar(r, key, node))
		return false;
	*ret = text_clean(r->keep, str_trim(node->text));
	return true;
}

static bool read_pair(const struct job_reader *r, const struct job_key *key,
	const struct doc_pair *pair, struct str *text, double *product)
{
	double size = 1;

	if (str_find_char(pair->key->text, ',') >= 0 || str_find_char(pair->key->text, '=') >= 0)
		return job_fail(
			r, pair->key, "a name in %.*s has neither ',' nor '='", STR_ARG(key->name));
	if (key->type == JOB_AXES &&
		!read_number(r, pair->key->text, pair->value, true, UNIT_NONE, &size))
		return false;
	if (pair->value->kind != DOC_SCALAR || str_find_char(pair->value->text, ',') >= 0)
		return job_fail(r, pair->value, "%.*s takes one value without ','",
			STR_ARG(pair->key->text));
	*text = arena_fmt(r->keep, "%.*s%s%.*s=%.*s", STR_ARG(*text), text->len ? "," : "",
		STR_ARG(pair->key->text), STR_ARG(pair->value->text));
	*product *= size;
	if (key->type == JOB_AXES)
		r->job->axes[r->job->axis_count++] =
			(struct job_axis){ text_clean(r->keep, pair->key->text), size };
	return true;
}

/* Axes say how many devices there are, too. */
static bool read_pairs(const struct job_reader *r, const struct job_key *key,
	const struct doc_node *node, struct str *ret)
{
	struct str text = STR("");
	double product = 1;

	if (node->kind != DOC_MAP || node->count == 0)
		return job_fail(r, node, "%.*s is a map: { %s }", STR_ARG(key->name),
			key->type == JOB_AXES ? "data: 8, model: 4" : "branch: main");
	if (node->count > JOB_PAIRS_MAX)
		return job_fail(r, node, "%.*s has more than %d entries", STR_ARG(key->name),
			JOB_PAIRS_MAX);
	for (ptrdiff_t i = 0; i < node->count; i++)
		if (!read_pair(r, key, &node->pairs[i], &text, &product))
			return false;
	*ret = text_clean(r->keep, text);
	if (key->type != JOB_AXES)
		return true;
	if (r->job->devices != product && !isnan(r->job->devices))
		return job_fail(r, node, "the mesh has %.0f devices, and devices is %.0f", product,
			r->job->devices);
	r->job->devices = product;
	return true;
}

static bool read_version(const struct job_reader *r, const struct doc_node *node)
{
	if (node->kind != DOC_SCALAR || node->quoted || !str_eq(node->text, STR("1")))
		return job_fail(r, node, "this rooflint reads job files of version 1");
	return true;
}

/* ---- maps ------------------------------------------------------------------------------------ */

static bool read_map(
	const struct job_reader *r, const struct doc_node *map, const struct job_key *keys);

static bool read_value(
	const struct job_reader *r, const struct job_key *key, const struct doc_node *node)
{
	void *at = (char *)r->job + key->offset;

	switch (key->type) {
	case JOB_VERSION:
		return read_version(r, node);
	case JOB_MAP:
		if (node->kind != DOC_MAP)
			return job_fail(r, node, "%.*s is a map of keys", STR_ARG(key->name));
		return read_map(r, node, key->keys);
	case JOB_TEXT:
		return read_text(r, key, node, at);
	case JOB_WORD:
		return read_word(r, key, node, at);
	case JOB_COUNT:
		return read_number(r, key->name, node, true, UNIT_NONE, at);
	case JOB_NUMBER:
		return read_number(r, key->name, node, false, UNIT_NONE, at);
	case JOB_BYTES:
		return read_number(r, key->name, node, false, UNIT_BYTES, at);
	case JOB_AXES:
	case JOB_LABELS:
		return read_pairs(r, key, node, at);
	}
	return true;
}

static bool unknown_key(
	const struct job_reader *r, const struct doc_node *key, const struct job_key *keys)
{
	struct str names[KEYS_MAX];
	ptrdiff_t count = 0;

	for (; keys[count].name.p && count < KEYS_MAX; count++)
		names[count] = keys[count].name;
	return unknown(r, key, "key", names, count);
}

/* In the order of the table, so that what one value is checked against has been read. */
static bool read_map(
	const struct job_reader *r, const struct doc_node *map, const struct job_key *keys)
{
	for (ptrdiff_t i = 0; i < map->count; i++) {
		const struct job_key *k = keys;
		while (k->name.p && !str_eq(k->name, map->pairs[i].key->text))
			k++;
		if (!k->name.p)
			return unknown_key(r, map->pairs[i].key, keys);
	}
	for (const struct job_key *k = keys; k->name.p; k++) {
		const struct doc_node *value = doc_get(map, k->name);
		if (value && !read_value(r, k, value))
			return false;
	}
	return true;
}

/* Every number that is not said is NaN. */
static void forget(struct job_file *job, const struct job_key *keys)
{
	for (const struct job_key *k = keys; k->name.p; k++) {
		if (k->type == JOB_MAP)
			forget(job, k->keys);
		if (k->type == JOB_COUNT || k->type == JOB_NUMBER || k->type == JOB_BYTES)
			*(double *)(void *)((char *)job + k->offset) = NAN;
	}
}

/* ---- what belongs together ------------------------------------------------------------------- */

static bool check_model(const struct job_reader *r, const struct doc_node *node)
{
	const struct job_model *m = &r->job->model;

	if (!isnan(m->active_params) && !(m->active_params <= m->params))
		return job_fail(r, doc_get(node, STR("active_params")),
			"active_params are those of params that a token passes through: at most as "
			"many");
	if (isnan(m->heads) != isnan(m->head_dim))
		return job_fail(r, node,
			"heads and head_dim go together; with neither, heads x head_dim is hidden");
	return true;
}

static bool check_pipeline(const struct job_reader *r, const struct doc_node *node)
{
	if (isnan(r->job->pipeline.stages) || isnan(r->job->pipeline.microbatches))
		return job_fail(r, node, "a pipeline has stages and microbatches");
	return true;
}

/* A figure that leaves half of the memory out would call a healthy run too large. */
static bool check_memory(const struct job_reader *r, const struct doc_node *node)
{
	const struct job_file *j = r->job;
	const struct job_memory *m = &j->memory;
	bool counted = m->optimizer || !isnan(m->weight_bytes);

	if (!isnan(m->expected_bytes) && counted)
		return job_fail(r, doc_get(node, STR("expected")),
			"memory is either expected, or counted from the optimizer");
	if (!isnan(m->expected_bytes))
		return true;
	if (!counted || isnan(j->model.params))
		return job_fail(r, node,
			"memory needs model.params and an optimizer (or bytes_per_param), or "
			"expected: BYTES");
	if (m->zero > JOB_ZERO_0 && isnan(m->shards))
		return job_fail(r, doc_get(node, STR("zero")),
			"zero says what is sharded; shards says over how many devices");
	if (!isnan(m->shards) && !m->zero)
		return job_fail(r, doc_get(node, STR("shards")),
			"shards needs zero: 1 (optimizer state), 2 (and gradients) or 3 (and "
			"weights, "
			"as FSDP does)");
	if (isnan(m->activation_bytes) && j->phase != JOB_INFERENCE &&
		isnan(job_memory_bytes(j, isnan(j->devices) ? 1 : j->devices)))
		return job_fail(r, node,
			"the activations need model.remat, layers, hidden and tokens_per_step; or "
			"give activations: BYTES of one device");
	return true;
}

/* "4x8", "v5p:4x4x8"; words are left alone. */
static void read_torus(struct job_file *j)
{
	struct str text = str_from_offset(j->topology, str_rfind_char(j->topology, ':') + 1), side;
	uint64_t sides[JOB_TORUS_AXES];
	int count = 0;

	for (bool more = text.len > 0; more; count++) {
		more = str_cut(text, 'x', &side, &text);
		if (count == JOB_TORUS_AXES || !str_to_u64(side, &sides[count]) || !sides[count] ||
			sides[count] > JOB_TORUS_SIDE_MAX)
			return;
	}
	for (int k = 0; count > 1 && k < count; k++)
		j->torus[k] = (int64_t)sides[k];
}

static const struct job_check {
	struct str name;
	bool (*check)(const struct job_reader *r, const struct doc_node *node);
} checks[] = {
	{ STR_INIT("model"), check_model },
	{ STR_INIT("pipeline"), check_pipeline },
	{ STR_INIT("memory"), check_memory },
};

bool job_parse(struct str file, struct str text, struct arena *keep, struct job_file *ret,
	struct diag *err)
{
	struct doc doc;
	struct job_reader r = { &doc, keep, ret, err };

	*ret = (struct job_file){ .phase = JOB_PHASE_UNSAID };
	forget(ret, job_keys);
	if (!doc_parse(file, text, keep, &doc, err))
		return false;
	if (!doc.root)
		return diag_set(err, DIAG_JOB_FILE,
			"%.*s: the file is empty; a job file begins with 'version: 1'",
			STR_ARG(file));
	if (doc.root->kind != DOC_MAP || !doc_get(doc.root, STR("version")))
		return job_fail(&r, doc.root, "a job file begins with 'version: 1'");
	if (!read_map(&r, doc.root, job_keys))
		return false;
	if (ret->topology.p)
		read_torus(ret);
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		const struct doc_node *node = doc_get(doc.root, checks[i].name);
		if (node && !checks[i].check(&r, node))
			return false;
	}
	return true;
}
