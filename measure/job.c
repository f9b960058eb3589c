/* Reading a job file: every key by table, every mistake with its place.  See job.h. */
#include "measure/job.h"

#include <float.h>
#include <math.h>

#include "base/keyed.h"
#include "base/text.h"

#define AT(member) .offset = offsetof(struct job_file, member)
#define NUMBER(name, member)                                                                       \
	KEYED(name, key_number, AT(member), .min = DBL_MIN, .max = DBL_MAX,                        \
		.form = "a number above 0, as in 7e9")
/* 2^53: beyond it doubles skip whole numbers, and no job has as many of anything. */
#define COUNT(name, member)                                                                        \
	KEYED(name, key_number, AT(member), .whole = true, .min = 1, .max = 9007199254740992.0,    \
		.form = "a whole number from 1")
#define BYTES(name, member)                                                                        \
	KEYED(name, key_number, AT(member), .unit = UNIT_BYTES, .max = DBL_MAX,                    \
		.form = "bytes, as in 12 GiB")
#define TEXT(name, member)	  KEYED(name, key_text, AT(member))
#define WORD(name, member, words) KEYED(name, key_word, AT(member), .form = words)

/* "data=8,model=4"; *text has the pairs before. */
static bool add_pair(
	const struct keyed *r, const struct key *k, const struct doc_pair *pair, struct str *text)
{
	struct str name = pair->key->text;

	if (str_find_char(name, ',') >= 0 || str_find_char(name, '=') >= 0)
		return keyed_fail(
			r, pair->key, "a name in %.*s has neither ',' nor '='", STR_ARG(k->name));
	if (pair->value->kind != DOC_SCALAR || str_find_char(pair->value->text, ',') >= 0)
		return keyed_fail(
			r, pair->value, "%.*s takes one value without ','", STR_ARG(name));
	*text = arena_fmt(r->keep, "%.*s%s%.*s=%.*s", STR_ARG(*text), text->len ? "," : "",
		STR_ARG(name), STR_ARG(pair->value->text));
	return true;
}

static bool read_pairs(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	struct str *to = (void *)((char *)r->to + k->offset), text = STR("");

	if (node->kind != DOC_MAP || node->count == 0)
		return keyed_fail(r, node, "%.*s is a map: %s", STR_ARG(k->name), k->form);
	if (node->count > JOB_PAIRS_MAX)
		return keyed_fail(
			r, node, "%.*s has more than %d entries", STR_ARG(k->name), JOB_PAIRS_MAX);
	for (ptrdiff_t i = 0; i < node->count; i++)
		if (!add_pair(r, k, &node->pairs[i], &text))
			return false;
	*to = text_clean(r->keep, text);
	return true;
}

/* Axes say how many devices there are, too. */
static bool read_mesh(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	struct job_file *job = r->to;
	double product = 1;

	if (!read_pairs(r, k, node))
		return false;
	for (ptrdiff_t i = 0; i < node->count; i++) {
		struct job_axis *axis = &job->axes[job->axis_count++];
		struct key size = COUNT("", devices);
		size.name = node->pairs[i].key->text;
		axis->name = text_clean(r->keep, size.name);
		if (!keyed_number(r, &size, node->pairs[i].value, &axis->size))
			return false;
		product *= axis->size;
	}
	if (job->devices != product && !isnan(job->devices))
		return keyed_fail(r, node, "the mesh has %.0f devices, and devices is %.0f",
			product, job->devices);
	job->devices = product;
	return true;
}

/* ---- what belongs together ------------------------------------------------------------------- */

static bool check_model(const struct keyed *r, const struct doc_node *node)
{
	const struct job_file *j = r->to;
	const struct job_model *m = &j->model;

	if (!isnan(m->active_params) && !(m->active_params <= m->params))
		return keyed_fail(r, doc_get(node, STR("active_params")),
			"active_params are those of params that a token passes through: at most as "
			"many");
	if (isnan(m->heads) != isnan(m->head_dim))
		return keyed_fail(r, node,
			"heads and head_dim go together; with neither, heads x head_dim is hidden");
	return true;
}

static bool check_pipeline(const struct keyed *r, const struct doc_node *node)
{
	const struct job_file *j = r->to;

	if (isnan(j->pipeline.stages) || isnan(j->pipeline.microbatches))
		return keyed_fail(r, node, "a pipeline has stages and microbatches");
	return true;
}

/* A figure that leaves half of the memory out would call a healthy run too large. */
static bool check_memory(const struct keyed *r, const struct doc_node *node)
{
	const struct job_file *j = r->to;
	const struct job_memory *m = &j->memory;
	bool counted = m->optimizer || !isnan(m->weight_bytes);

	if (!isnan(m->expected_bytes) && counted)
		return keyed_fail(r, doc_get(node, STR("expected")),
			"memory is either expected, or counted from the optimizer");
	if (!isnan(m->expected_bytes))
		return true;
	if (!counted || isnan(j->model.params))
		return keyed_fail(r, node,
			"memory needs model.params and an optimizer (or bytes_per_param), or "
			"expected: BYTES");
	if (m->zero > JOB_ZERO_0 && isnan(m->shards))
		return keyed_fail(r, doc_get(node, STR("zero")),
			"zero says what is sharded; shards says over how many devices");
	if (!isnan(m->shards) && !m->zero)
		return keyed_fail(r, doc_get(node, STR("shards")),
			"shards needs zero: 1 (optimizer state), 2 (and gradients) or 3 (and "
			"weights, as FSDP does)");
	if (isnan(m->activation_bytes) && j->phase != PHASE_INFERENCE &&
		isnan(job_memory_bytes(j, isnan(j->devices) ? 1 : j->devices)))
		return keyed_fail(r, node,
			"the activations need model.remat, layers, hidden and tokens_per_step; or "
			"give activations: BYTES of one device");
	return true;
}

/* ---- the tables ------------------------------------------------------------------------------ */

static const struct key model_keys[] = {
	TEXT("name", model.name),
	NUMBER("params", model.params),
	NUMBER("active_params", model.active_params),
	COUNT("layers", model.layers),
	COUNT("heads", model.heads),
	COUNT("head_dim", model.head_dim),
	COUNT("hidden", model.hidden),
	COUNT("seq_len", model.seq_len),
	WORD("attention", model.attention, "|full|causal|none"),
	WORD("remat", model.remat, "|none|matmuls|block"),
	NUMBER("flops_per_token", model.flops_per_token),
	KEYED_END,
};

static const struct key version_keys[] = {
	TEXT("jax", versions.jax),
	TEXT("jaxlib", versions.jaxlib),
	TEXT("runtime", versions.runtime),
	KEYED_END,
};

static const struct key pipeline_keys[] = {
	COUNT("stages", pipeline.stages),
	COUNT("microbatches", pipeline.microbatches),
	COUNT("repeats", pipeline.repeats),
	KEYED_END,
};

static const struct key bytes_per_param_keys[] = {
	BYTES("weights", memory.weight_bytes),
	BYTES("gradients", memory.gradient_bytes),
	BYTES("state", memory.state_bytes),
	KEYED_END,
};

static const struct key memory_keys[] = {
	BYTES("expected", memory.expected_bytes),
	WORD("optimizer", memory.optimizer, "|none|adam|adam-f32|adam-bf16|adafactor"),
	KEYED("bytes_per_param", key_map, .keys = bytes_per_param_keys),
	COUNT("shards", memory.shards),
	WORD("zero", memory.zero, "|0|1|2|3"),
	COUNT("model_shards", memory.model_shards),
	BYTES("activations", memory.activation_bytes),
	BYTES("extra", memory.extra_bytes),
	KEYED_END,
};

static const struct key job_keys[] = {
	KEYED("version", key_version, .form = "job files", .required = true),
	TEXT("workload", workload),
	TEXT("owner", owner),
	TEXT("commit", commit),
	KEYED("labels", read_pairs, AT(labels), .form = "{ branch: main }"),
	KEYED("versions", key_map, .keys = version_keys),
	WORD("phase", phase, "|train|inference"),
	TEXT("step", step),
	COUNT("devices", devices),
	COUNT("hosts", hosts),
	COUNT("slices", slices),
	TEXT("topology", topology),
	KEYED("mesh", read_mesh, AT(mesh), .form = "{ data: 8, model: 4 }"),
	COUNT("global_batch", global_batch),
	NUMBER("tokens_per_step", tokens_per_step),
	KEYED("model", key_map, .keys = model_keys, .agree = check_model),
	KEYED("pipeline", key_map, .keys = pipeline_keys, .agree = check_pipeline),
	KEYED("memory", key_map, .keys = memory_keys, .agree = check_memory),
	KEYED_END,
};

static const struct key job_document = { .name = STR_INIT("a job file"), .keys = job_keys };

/* Every number that is not said is NaN. */
static void forget(struct job_file *job, const struct key *keys)
{
	for (const struct key *k = keys; k->name.p; k++) {
		if (k->keys)
			forget(job, k->keys);
		if (k->read == key_number)
			*(double *)(void *)((char *)job + k->offset) = NAN;
	}
}

/* ---- the whole ------------------------------------------------------------------------------- */

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

bool job_parse(struct str file, struct str text, struct arena *keep, struct job_file *ret,
	struct diag *err)
{
	struct doc doc;
	const struct keyed r = {
		.doc = &doc, .keep = keep, .mistake = DIAG_JOB_FILE, .err = err, .to = ret
	};

	*ret = (struct job_file){ .phase = PHASE_UNKNOWN };
	forget(ret, job_keys);
	if (!keyed_open(&r, &doc, file, text, &job_document) ||
		!keyed_map(&r, &job_document, doc.root, doc.root))
		return false;
	if (ret->topology.p)
		read_torus(ret);
	return true;
}
