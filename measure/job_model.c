/*
 * What a job file's figures come to: FLOPs, memory, the bubble.  See job.h.
 *
 * Sources: "How to Scale Your Model" (jax-ml.github.io/scaling-book), chapters transformers and
 * training; PaLM (arxiv.org/abs/2204.02311), appendix B; ZeRO (arxiv.org/abs/1910.02054).
 */
#include <math.h>

#include "measure/job.h"

double job_torus_chips(const struct job_file *j)
{
	double chips = 1;

	for (int k = 0; k < JOB_TORUS_AXES; k++)
		chips *= j->torus[k] > 0 ? (double)j->torus[k] : 1;
	return j->torus[0] > 0 ? chips : 0;
}

double job_tokens(const struct job_file *j)
{
	return isnan(j->tokens_per_step) ? j->global_batch * j->model.seq_len : j->tokens_per_step;
}

/* FLOPs of attention for one token, forward: two matmuls against seq_len tokens. */
static double attention_flops(const struct job_model *m)
{
	/* Most models make heads x head_dim their hidden size. */
	double width = isnan(m->heads) ? m->hidden : m->heads * m->head_dim;
	double all = 4 * m->layers * width * m->seq_len;

	return m->attention == JOB_NO_ATTENTION ? 0 : m->attention == JOB_CAUSAL ? all / 2 : all;
}

double job_model_flops(const struct job_file *j, enum phase phase)
{
	const struct job_model *m = &j->model;
	double params = isnan(m->active_params) ? m->params : m->active_params;
	/* The backward pass is two matmuls for each one of the forward pass. */
	double passes = phase == PHASE_TRAIN ? 3 : phase == PHASE_INFERENCE ? 1 : NAN;

	if (!isnan(m->flops_per_token))
		return m->flops_per_token * job_tokens(j);
	return passes * (2 * params + attention_flops(m)) * job_tokens(j);
}

double job_hardware_flops(const struct job_file *j, enum phase phase)
{
	double model = job_model_flops(j, phase);

	if (phase == PHASE_INFERENCE)
		return model;
	if (j->model.remat == JOB_REMAT_UNSAID)
		return NAN;
	/* Whole blocks: a second forward pass beside one forward and two backward.  With the
	 * matmuls kept only elementwise work is repeated, which neither figure counts. */
	return j->model.remat == JOB_REMAT_BLOCK ? model * 4 / 3 : model;
}

/*
 * Bytes a parameter takes: weights, gradients, and the optimizer's state with its f32 copy of the
 * weights where there is one.  Adafactor's second moment is a row and a column, about nothing.
 */
static const struct per_param {
	double weights, gradients, state;
} per_param[] = {
	[JOB_NO_OPTIMIZER] = { 2, 0, 0 },
	[JOB_ADAM] = { 2, 2, 12 },
	[JOB_ADAM_F32] = { 4, 4, 8 },
	[JOB_ADAM_BF16] = { 2, 2, 4 },
	[JOB_ADAFACTOR] = { 2, 2, 4 },
};

static double state_bytes(const struct job_file *j)
{
	const struct job_memory *m = &j->memory;
	struct per_param b = per_param[m->optimizer];

	b.weights = isnan(m->weight_bytes) ? b.weights : m->weight_bytes;
	b.gradients = isnan(m->gradient_bytes) ? b.gradients : m->gradient_bytes;
	b.state = isnan(m->state_bytes) ? b.state : m->state_bytes;
	b.state /= m->zero >= JOB_ZERO_1 ? m->shards : 1;
	b.gradients /= m->zero >= JOB_ZERO_2 ? m->shards : 1;
	b.weights /= m->zero >= JOB_ZERO_3 ? m->shards : 1;
	double each = b.weights + b.gradients + b.state;
	return each * j->model.params / (isnan(m->model_shards) ? 1 : m->model_shards);
}

/*
 * Arrays of tokens x hidden in bf16 that a layer keeps: about twenty with everything, seven with
 * the matmuls' results, one with the block's input.
 */
static double activation_bytes(const struct job_file *j, double devices)
{
	static const double arrays[] = { [JOB_REMAT_UNSAID] = NAN,
		[JOB_REMAT_NONE] = 20,
		[JOB_REMAT_MATMULS] = 7,
		[JOB_REMAT_BLOCK] = 1 };
	const struct job_model *m = &j->model;

	if (!isnan(j->memory.activation_bytes))
		return j->memory.activation_bytes;
	if (j->phase == PHASE_INFERENCE)
		return 0;
	return arrays[m->remat] * 2 * m->layers * m->hidden * job_tokens(j) / devices;
}

double job_memory_bytes(const struct job_file *j, double devices)
{
	const struct job_memory *m = &j->memory;

	if (!isnan(m->expected_bytes))
		return m->expected_bytes;
	if (!m->optimizer && isnan(m->weight_bytes))
		return NAN;
	return state_bytes(j) + activation_bytes(j, devices) +
	       (isnan(m->extra_bytes) ? 0 : m->extra_bytes);
}

struct str job_axis_name(
	const struct job_file *j, int64_t group_size, int64_t stride, struct arena *keep)
{
	for (ptrdiff_t i = 0; i < j->axis_count && group_size > 1; i++) {
		/* Axes from `i` on that together have so many devices, and what is after them. */
		double size = j->axes[i].size, after = 1;
		struct str name = j->axes[i].name;
		for (ptrdiff_t k = i + 1; k < j->axis_count; k++) {
			if (size >= (double)group_size) {
				after *= j->axes[k].size;
				continue;
			}
			size *= j->axes[k].size;
			name = arena_fmt(
				keep, "%.*s x %.*s", STR_ARG(name), STR_ARG(j->axes[k].name));
		}
		if (size == (double)group_size && after == (double)stride && name.len)
			return name;
	}
	return MISSING;
}

double job_bubble(const struct job_file *j)
{
	const struct job_pipeline *p = &j->pipeline;
	double idle = p->stages - 1, repeats = isnan(p->repeats) ? 1 : p->repeats;

	/* GPipe and 1F1B alike; in a circular one a microbatch comes round `repeats` times. */
	return idle / (p->microbatches * repeats + idle);
}
