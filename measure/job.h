/*
 * The job file, rooflint.job.yaml: what only the owner of a run knows.
 *
 * No profile says how large the model is, how many tokens a step takes, which commit ran or whom
 * to ask.  The file lies beside the profile or is named with --job.  What it says fills columns
 * that are NULL without it; it never replaces what was measured.
 *
 * Refuses: guessing.  A figure that needs something the file does not say stays NaN.
 */
#ifndef MEASURE_JOB_H
#define MEASURE_JOB_H

#include "measure/phase.h"
#include "base/arena.h"
#include "base/diag.h"

#define JOB_FILE_NAME "rooflint.job.yaml"
/* Axes of a mesh, and labels: JAX meshes have up to seven axes, dashboards few labels. */
#define JOB_PAIRS_MAX 32

#define JOB_TORUS_AXES	   3
#define JOB_TORUS_SIDE_MAX 1024 /* the longest side of any pod is 32 */

/* Not said is 0. */
/* How the model's attention is counted: every pair of tokens, half of them, or not at all. */
enum job_attention { JOB_ATTENTION_UNSAID, JOB_FULL, JOB_CAUSAL, JOB_NO_ATTENTION };
/* What is kept for the backward pass: everything, the matmuls' results, or blocks' inputs. */
enum job_remat { JOB_REMAT_UNSAID, JOB_REMAT_NONE, JOB_REMAT_MATMULS, JOB_REMAT_BLOCK };
enum job_optimizer {
	JOB_OPTIMIZER_UNSAID,
	JOB_NO_OPTIMIZER,
	JOB_ADAM,
	JOB_ADAM_F32,
	JOB_ADAM_BF16,
	JOB_ADAFACTOR
};
enum job_zero { JOB_ZERO_UNSAID, JOB_ZERO_0, JOB_ZERO_1, JOB_ZERO_2, JOB_ZERO_3 };

/* Numbers are NaN and texts missing where the file says nothing. */
struct job_file {
	struct str workload, owner, commit, topology;
	struct str step;   /* which steps are judged: a pattern, as --step takes it */
	struct str labels; /* "branch=main,trigger=nightly" */
	struct job_versions {
		struct str jax, jaxlib, runtime;
	} versions;
	struct str mesh; /* "data=8,model=4" */
	struct job_axis {
		struct str name;
		double size;
	} axes[JOB_PAIRS_MAX]; /* the same, the outermost first */
	ptrdiff_t axis_count;
	int64_t torus[JOB_TORUS_AXES]; /* of a topology such as "4x8": chips along each axis */
	int phase;		       /* enum phase */
	double devices, hosts, slices, global_batch, tokens_per_step;
	struct job_model {
		struct str name;
		double params, active_params; /* active: per token, of a mixture of experts */
		double layers, heads, head_dim, hidden, seq_len, flops_per_token;
		int attention, remat;
	} model;
	struct job_pipeline {
		double stages, microbatches, repeats;
	} pipeline;
	struct job_memory {
		double expected_bytes;
		double weight_bytes, gradient_bytes, state_bytes; /* per parameter */
		double shards, model_shards, activation_bytes, extra_bytes;
		int optimizer, zero;
	} memory;
};

/* Mistakes are shown with a caret; what is missing for a figure that was begun is one too. */
bool job_parse(struct str file, struct str text, struct arena *keep, struct job_file *ret,
	struct diag *err);

/*
 * job_model.c: what the file's figures come to.  NaN where one is missing.
 *
 * Model FLOPs of a step, over all devices: 6P + 12LHQT a token in training, 2P + 4LHQT in
 * inference, the attention's term halved when causal (PaLM, appendix B, arxiv.org/abs/2204.02311).
 */
double job_model_flops(const struct job_file *j, enum phase phase);
/* The same with the forward pass that rematerialisation repeats: 8P + 16LHQT with whole blocks. */
double job_hardware_flops(const struct job_file *j, enum phase phase);
/* Chips of one slice, by its topology; 0 where that is words. */
double job_torus_chips(const struct job_file *j);
double job_tokens(const struct job_file *j); /* of a step */
/* Bytes on one of `devices` devices: state, activations, and whatever else was named. */
double job_memory_bytes(const struct job_file *j, double devices);
/*
 * The mesh axes along which groups of so many devices lie, whose ids are `stride` apart: "model",
 * or "data x model" for neighbours together.  JAX numbers a program's devices along the mesh, the
 * last axis first.  Missing when no axes fit.
 */
struct str job_axis_name(
	const struct job_file *j, int64_t group_size, int64_t stride, struct arena *keep);
/* Share of a pipeline's ticks in which a stage has no microbatch. */
double job_bubble(const struct job_file *j);

#endif
