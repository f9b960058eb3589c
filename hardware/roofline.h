/*
 * The roofline: how long work must take at the least, and what holds it back.
 *
 * Pure arithmetic on a chip_device; no profile, no HLO.  Unknown inputs are NaN and give NaN.
 * Source: "How to Scale Your Model" (jax-ml.github.io/scaling-book), chapters roofline, sharding
 * and gpus; where a constant comes from elsewhere, roofline.c says so beside it.
 */
#ifndef HARDWARE_ROOFLINE_H
#define HARDWARE_ROOFLINE_H

#include "hardware/chip.h"

enum bound { BOUND_UNKNOWN, BOUND_COMPUTE, BOUND_MEMORY, BOUND_COMMS, BOUND_HOST };
struct str bound_name(enum bound b); /* "compute", "memory", "communication", "host" */

/* operand_precision HIGHEST: six bf16 products on a TPU, no TF32 on NVIDIA (XLA's IsTf32Allowed:
 * compute_precision <= 1, where HIGHEST is 2). */
enum { PASSES_HIGHEST = 6 };

double roofline_hbm_bps(const struct chip_device *d);
double roofline_pcie_bps(const struct chip_device *d); /* to the host, one way */

/* What one execution of an op does on one device; NaN where that is unknown. */
struct op_work {
	double flops;
	enum dtype dtype;
	int passes;
	bool is_vector; /* on the vector units: elementwise work and reductions */
	double hbm_bytes, host_bytes;
	enum f32_units f32_units; /* what multiplies f32, where an algorithm or a kernel tells */
	enum dtype slowest; /* what it may be multiplied in as well; DTYPE_INVALID: nothing else */
};
/* The type that stands in for one which a chip cannot multiply: the next wider that it can. */
enum dtype roofline_wider(const struct chip_device *d, enum dtype t);
/*
 * The dense peak for its FLOPs; NaN when the table has no such rate.
 *
 * `passes` is what an f32 dot's operand_precision asks for: DEFAULT 1, HIGH 3, HIGHEST 6.  A TPU
 * has no f32 engine and runs that many bf16 products.  NVIDIA runs f32 in TF32 up to HIGH and on
 * the vector units at HIGHEST, as XLA decides.  AMD multiplies f32 as f32 whatever it says.
 * Complex numbers have the rate of their parts.  This is the most that may be meant: where neither
 * an algorithm nor a kernel tells, NVIDIA's f32 up to HIGH may be multiplied as f32 as well.
 *
 * Vector units have one rate, f32's: XLA computes bf16 in f32 as well.  NaN for those of a TPU,
 * which are not published.
 */
double roofline_op_flops(const struct chip_device *d, const struct op_work *w);
struct str roofline_op_source(const struct chip_device *d, const struct op_work *w); /* its */
/* FLOPs per byte of HBM at which the two limits meet. */
double roofline_ridge(const struct chip_device *d, const struct op_work *w);

struct roofline {
	double t_math_s, t_hbm_s, t_comms_s, t_host_s; /* NaN where not applicable or unknown */
	double roofline_s;			       /* the largest of those known */
	double attainable_s; /* the same at the slowest rate that may be meant, times its share */
	enum bound bound, attainable_bound;
	const struct chip_number *attainable_share; /* of the latter's rate; NULL unknown */
};
extern const struct roofline roofline_unknown;
struct roofline roofline_op(const struct chip_device *d, const struct op_work *w);

enum link { LINK_UNKNOWN, LINK_ICI, LINK_NVLINK, LINK_XGMI, LINK_DCN };
struct str link_name(enum link l); /* "ici", "nvlink", "xgmi", "dcn" or missing */

/*
 * Expected time of one collective, as an interval because the topology is seldom in the profile:
 * lo is a bound no layout beats, hi what the plainest layout takes at the attainable link rate.
 * `topology_source` says what was assumed.
 */
struct collective_time {
	double lo_s, hi_s; /* NaN unknown; either may be known alone */
	double latency_s;  /* floor included in both */
	enum link link;
	struct str topology_source;
};

/* What the program says about the collective. */
struct collective_op {
	enum op_kind kind;
	/* All-gather: output; reduce-scatter, all-reduce, permute, broadcast: operand; all-to-all:
	 * the operand times the group, that is the array before it was split. */
	double message_bytes;
	int64_t group_size;   /* devices; 0 unknown */
	int64_t group_stride; /* between the ids of neighbours in a group; 0 unknown or uneven */
	bool between_slices;  /* TPU: every member is on a slice of its own */
	bool at_most;	      /* how much of the message is sent is data: perhaps nothing */
};

enum { TORUS_AXES = 3 };

/* What is known about the machines; 0 unknown. */
struct job_shape {
	int64_t chips, hosts;
	int64_t slices;		   /* TPU: tori that only the data centre network joins */
	int64_t torus[TORUS_AXES]; /* chips of a slice along each axis, from the first on */
};

struct collective_time roofline_collective(const struct chip_device *d,
	const struct collective_op *op, const struct job_shape *job, struct arena *keep);

#endif
