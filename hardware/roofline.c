/*
 * Peaks, rooflines and expected collective times.  See roofline.h.
 *
 * Collectives: every member of a group of n has to pass (n-1)/n of the message (twice for an
 * all-reduce) through its links.  lo divides that by all links the best layout of n chips can
 * offer, hi by what the plainest layout offers: one unwrapped axis, whose last chip has a single
 * link.  Between the two lies every layout; which one it was is seldom in a profile.
 */
#include "hardware/roofline.h"

#include <math.h>

#include "base/saturate.h"

struct str bound_name(enum bound b)
{
	static const struct str names[] = { STR_INIT("unknown"), STR_INIT("compute"),
		STR_INIT("memory"), STR_INIT("communication"), STR_INIT("host") };
	return names[(unsigned)b <= BOUND_HOST ? b : BOUND_UNKNOWN];
}

/* ---- compute and memory ------------------------------------------------------------------- */

/* A TPU without an f32 engine multiplies f32 as bf16, so many times over. */
static bool splits_f32(const struct chip *c, enum dtype t)
{
	return dtype_of_parts(t) == DTYPE_F32 && c->vendor == VENDOR_GOOGLE &&
	       isnan(c->peak[DTYPE_F32].value);
}

static bool is_f32(const struct op_work *w)
{
	return dtype_of_parts(w->dtype) == DTYPE_F32;
}

static const struct chip_number *matrix_peak(const struct chip *c, const struct op_work *w)
{
	bool whole = w->f32_units == F32_FULL ||
		     (w->f32_units == F32_ANY && w->passes >= PASSES_HIGHEST);
	if (splits_f32(c, w->dtype) || (is_f32(w) && w->f32_units == F32_BF16))
		return &c->peak[DTYPE_BF16];
	if (is_f32(w) && c->vendor == VENDOR_NVIDIA && whole)
		return &c->f32_vector_flops;
	return &c->peak[dtype_of_parts(w->dtype)];
}

/* Products that are made for one. */
static double products(const struct chip *c, const struct op_work *w)
{
	bool tf32 = w->f32_units == F32_TF32 && c->vendor == VENDOR_NVIDIA;
	bool split = splits_f32(c, w->dtype) || (is_f32(w) && (tf32 || w->f32_units == F32_BF16));
	return split && w->passes > 1 ? w->passes : 1;
}

enum dtype roofline_wider(const struct chip_device *d, enum dtype t)
{
	static const enum dtype floats[] = { DTYPE_F4E2M1FN, DTYPE_F6E3M2FN, DTYPE_F8E4M3FN,
		DTYPE_BF16 };
	static const enum dtype integers[] = { DTYPE_S4, DTYPE_S8, DTYPE_BF16 };
	const enum dtype *row = dtype_is_float(t) ? floats : integers;
	int count = dtype_is_float(t) ? 4 : 3;

	if (!d->chip || (unsigned)t >= DTYPE_COUNT || !isnan(d->chip->peak[t].value))
		return t;
	for (int k = 0; k < count; k++)
		if (dtype_bits(row[k]) > dtype_bits(t) && !isnan(d->chip->peak[row[k]].value))
			return row[k];
	return t;
}

/* How much faster than in its slowest type. */
static double dtype_slack(const struct chip *c, const struct op_work *w)
{
	double fast = matrix_peak(c, w)->value, slow = c->peak[w->slowest].value;

	return w->slowest != DTYPE_INVALID && fast > slow ? fast / slow : 1;
}

/* How much faster than it may be meant: f32 as TF32, where nothing tells, over f32 as f32. */
static double f32_slack(const struct chip *c, const struct op_work *w)
{
	double whole = c->f32_vector_flops.value, peak = matrix_peak(c, w)->value;
	bool open =
		is_f32(w) && !w->is_vector && c->vendor == VENDOR_NVIDIA && w->f32_units == F32_ANY;
	return open && peak > whole ? peak / whole : 1;
}

double roofline_hbm_bps(const struct chip_device *d)
{
	return d->chip ? d->chip->hbm_bps.value * d->share : NAN;
}

double roofline_pcie_bps(const struct chip_device *d)
{
	return d->chip ? d->chip->pcie_bps.value * d->share : NAN;
}

double roofline_op_flops(const struct chip_device *d, const struct op_work *w)
{
	const struct chip *c = d->chip;
	if (!c || (!w->is_vector && (unsigned)w->dtype >= DTYPE_COUNT))
		return NAN;
	if (w->is_vector)
		return c->f32_vector_flops.value * d->share;
	return matrix_peak(c, w)->value / products(c, w) * d->share;
}

double roofline_ridge(const struct chip_device *d, const struct op_work *w)
{
	return roofline_op_flops(d, w) / roofline_hbm_bps(d);
}

struct str roofline_op_source(const struct chip_device *d, const struct op_work *w)
{
	if (!d->chip || (unsigned)w->dtype >= DTYPE_COUNT)
		return MISSING;
	return w->is_vector ? d->chip->f32_vector_flops.source : matrix_peak(d->chip, w)->source;
}

/* 8-bit floats are measured farther below their peak than 16-bit ones: a share of their own. */
static const struct chip_number *attainable_math(const struct chip *c, const struct op_work *w)
{
	static const struct chip_number whole = { 1, STR_INIT("nothing known") };
	enum dtype t = w->dtype;
	bool is_f8 = dtype_bits(t) == 8 && t != DTYPE_S8 && t != DTYPE_U8 && t != DTYPE_PRED;
	if (w->is_vector)
		return &whole;
	return is_f8 ? &c->attainable_matmul_f8 : &c->attainable_matmul;
}

const struct roofline roofline_unknown = { .t_math_s = NAN,
	.t_hbm_s = NAN,
	.t_comms_s = NAN,
	.t_host_s = NAN,
	.roofline_s = NAN,
	.attainable_s = NAN };

/* Takes a resource's time at its peak into the roofline.  The longest time binds; the attainable
 * one is `slack` times as long, at the resource's attainable share. */
static void limit(struct roofline *r, enum bound b, double seconds, double slack,
	const struct chip_number *share)
{
	double attainable_s = seconds * slack / share->value;
	if (!(r->roofline_s >= seconds) && !isnan(seconds)) {
		r->roofline_s = seconds;
		r->bound = seconds > 0 ? b : BOUND_UNKNOWN;
	}
	if (!(r->attainable_s >= attainable_s) && !isnan(seconds)) {
		r->attainable_s = attainable_s;
		r->attainable_bound = seconds > 0 ? b : BOUND_UNKNOWN;
		r->attainable_share = share;
	}
}

/*
 * What an op takes that does nothing, where real captures show one: a fusion of
 * a scalar on v5p takes 0.51 us, a fill of a few elements on H100 1.4 us, a conversion of a scalar
 * on MI355X 3.0 us (2.1 and 2.8 on MI300X).  No op of a program can attain less.
 */
static double start_s(const struct chip *c)
{
	static const double starts[] = {
		[VENDOR_GOOGLE] = 0.5e-6,
		[VENDOR_NVIDIA] = 1.4e-6,
		[VENDOR_AMD] = 2.8e-6,
	};

	return (size_t)c->vendor < sizeof(starts) / sizeof(starts[0]) ? starts[c->vendor] : 0;
}

struct roofline roofline_op(const struct chip_device *d, const struct op_work *w)
{
	const struct chip *c = d->chip;
	struct roofline r = roofline_unknown;
	if (!c)
		return r;
	r.t_math_s = w->flops == 0 ? 0 : w->flops / roofline_op_flops(d, w);
	r.t_hbm_s = w->hbm_bytes / roofline_hbm_bps(d);
	if (w->host_bytes > 0) {
		r.t_host_s = w->host_bytes / roofline_pcie_bps(d);
		if (isnan(r.t_host_s)) /* by far the slowest way: the others say nothing */
			return r;
	}
	limit(&r, BOUND_HOST, r.t_host_s, 1, &c->attainable_pcie);
	limit(&r, BOUND_COMPUTE, r.t_math_s, f32_slack(c, w) * dtype_slack(c, w),
		attainable_math(c, w));
	limit(&r, BOUND_MEMORY, r.t_hbm_s, 1, &c->attainable_hbm);
	if (isnan(r.t_math_s) && r.bound == BOUND_UNKNOWN) /* no byte of it in HBM */
		r.roofline_s = r.attainable_s = NAN;
	r.attainable_s += start_s(c);
	return r;
}

/* ---- collectives: what a member has to pass ----------------------------------------------- */

/* More devices than any job has; a larger group is a misread module. */
#define GROUP_MAX ((int64_t)1 << 20)

/* Bytes each of m members takes in over the message's bytes, out of a group of n. */
static double passed(enum op_kind kind, double m, double n)
{
	switch (kind) {
	case KIND_ALL_GATHER:
	case KIND_REDUCE_SCATTER:
		return (m - 1) / m;
	case KIND_ALL_REDUCE:
		return 2 * (m - 1) / m;
	case KIND_ALL_TO_ALL:
		return (m - 1) / (n * n);
	case KIND_PERMUTE:
	case KIND_BROADCAST:
		return m > 1 ? 1 : 0;
	default:
		return NAN;
	}
}

/*
 * What latency a step adds.  ICI: about 1 us a hop, and 8 us seen over 3 hops (scaling book,
 * sharding).  GPUs, at most: NCCL's own tuning constants for rings with the Simple protocol
 * (src/graph/tuning.cc: base 8.4, NVLink 3.4, network 14 us a step); at least: the 1 us barrier of
 * a one-shot kernel.
 */
#define ICI_HOP_LO_S	  1e-6
#define ICI_HOP_HI_S	  (8e-6 / 3)
#define GPU_LO_S	  1e-6
#define GPU_BASE_HI_S	  8.4e-6
#define GPU_STEP_HI_S	  3.4e-6
#define NETWORK_STEP_HI_S 14e-6

/* A part of the group on one island (a pod slice, a node), as far as asked. */
struct ask {
	const struct chip_device *d;
	const struct collective_op *op;
	const struct job_shape *job;
	double members; /* of the island */
};

struct span {
	double lo_s, hi_s;	       /* the transfer alone */
	double floor_lo_s, floor_hi_s; /* latency */
};

/* ---- torus -------------------------------------------------------------------------------- */

/* Chips of one torus, a whole pod at most; 0 unknown. */
static int64_t slice_chips(const struct ask *a)
{
	int64_t pod = a->d->chip->scaleup_domain;
	int64_t chips = a->job->chips / (a->job->slices ? a->job->slices : 1);
	return chips < pod ? chips : pod;
}

static int64_t power(int64_t base, int exponent)
{
	int64_t result = 1;
	while (exponent-- > 0)
		result *= base;
	return result;
}

/* Every axis of the slice wraps: whole cubes of torus_wrap chips along each side. */
static bool wraps_everywhere(const struct chip *c, int64_t slice)
{
	return c->torus_wrap && slice > 0 && slice % power(c->torus_wrap, c->torus_axes) == 0;
}

/* Some axis may wrap.  Where only a pod's full length does, one side is enough. */
static bool may_wrap(const struct chip *c, int64_t slice)
{
	if (!c->torus_wrap)
		return false;
	if (slice <= 0 || wraps_everywhere(c, slice))
		return true;
	return c->torus_wrap == c->torus_axis_max && slice % c->torus_wrap == 0;
}

/* Prime factors of n, as far as `most` of them. */
static int factors(int64_t n, int most)
{
	int count = 0;
	for (int64_t p = 2; p * p <= n && count < most; p++)
		for (; n % p == 0 && count < most; n /= p)
			count++;
	return count + (n > 1 && count < most);
}

/*
 * Links that the worst placed chip has in the best layout of n chips: two along an axis that
 * wraps, one along another (the chip at its end).  An axis takes a factor of n.
 */
static int best_links(const struct chip *c, int64_t n, bool wrap)
{
	int axes = c->torus_axes, best = 0;
	for (int wrapped = 0; wrapped <= axes; wrapped++) {
		int links = 2 * wrapped + factors(n, axes - wrapped);
		best = links > best ? links : best;
		if (!wrap || n % c->torus_wrap)
			break;
		n /= c->torus_wrap;
	}
	return best;
}

/* All-to-all is bound by the cut through the longest axis of `side` chips: V/4 has to cross it
 * either way, over n/side links, or twice as many if the axis wraps. */
static double cut_s(double message, double n, double side, double link_bps, bool wrap)
{
	return message / 4 / (n / side * (wrap ? 2 : 1) * link_bps);
}

/* The longest axis is at least this long, whatever the layout of n chips. */
static double cube_side(const struct chip *c, double n)
{
	return ceil(pow(n, 1.0 / c->torus_axes) - 1e-9);
}

/* ---- torus of known sides ----------------------------------------------------------------- */

/* Chips of the slice by its sides; 0 where they are not known, or are another slice's. */
static int64_t sides_chips(const struct ask *a)
{
	int64_t chips = a->job->torus[0];
	for (int k = 1; k < TORUS_AXES; k++)
		chips *= a->job->torus[k] > 0 ? a->job->torus[k] : 1;
	return chips > 0 && chips == slice_chips(a) ? chips : 0;
}

static int64_t side(const struct ask *a, int axis)
{
	return a->job->torus[axis] > 0 ? a->job->torus[axis] : 1;
}

/* An axis of a whole pod wraps at its full length, one of cubes where all sides are cubes'. */
static bool side_wraps(const struct ask *a, int axis)
{
	const struct chip *c = a->d->chip;
	if (!c->torus_wrap || c->torus_wrap == c->torus_axis_max)
		return c->torus_wrap && side(a, axis) == c->torus_wrap;
	for (int k = 0; k < c->torus_axes; k++)
		if (side(a, k) % c->torus_wrap)
			return false;
	return true;
}

/* How a group may lie: so many chips along each axis. */
struct block {
	int64_t at[TORUS_AXES];
};

static bool is_ring(const struct ask *a, const struct block *b, int axis)
{
	return b->at[axis] > 2 && b->at[axis] == side(a, axis) && side_wraps(a, axis);
}

/* Links of the worst placed chip; plain: of one line, or of rings where every axis is one. */
static int block_links(const struct ask *a, const struct block *b, bool plain)
{
	int links = 0;
	bool rings = true;
	for (int k = 0; k < TORUS_AXES; k++) {
		if (b->at[k] < 2)
			continue;
		links += is_ring(a, b, k) ? 2 : 1;
		rings &= is_ring(a, b, k);
	}
	return plain ? 1 + rings : links;
}

/* The slowest cut of an all-to-all. */
static double block_cut_s(const struct ask *a, const struct block *b, double n, double rate)
{
	double slowest = 0;
	for (int k = 0; k < TORUS_AXES; k++)
		if (b->at[k] > 1)
			slowest = fmax(slowest, cut_s(a->op->message_bytes, n, (double)b->at[k],
							rate, is_ring(a, b, k)));
	return slowest;
}

/* What all ways to lay n chips on the torus come to. */
struct blocks {
	int most_links, least_links; /* of the best; of the plain ones on whole axes */
	double fastest_s, slowest_s; /* of an all-to-all, likewise, at one byte a second */
	bool is_any, is_whole;
};

static void note_block(const struct ask *a, const struct block *b, double n, struct blocks *x)
{
	int links = block_links(a, b, false), plain = block_links(a, b, true);
	double cut = block_cut_s(a, b, n, 1);
	bool whole = true;
	for (int k = 0; k < TORUS_AXES; k++)
		whole &= b->at[k] == 1 || b->at[k] == side(a, k);
	x->most_links = x->is_any && x->most_links > links ? x->most_links : links;
	x->fastest_s = x->is_any ? fmin(x->fastest_s, cut) : cut;
	x->is_any = true;
	if (!whole && x->is_whole)
		return;
	bool first = whole && !x->is_whole; /* axes are not cut in pieces where they need not be */
	x->least_links =
		!first && x->least_links && x->least_links < plain ? x->least_links : plain;
	x->slowest_s = first ? cut : fmax(x->slowest_s, cut);
	x->is_whole |= whole;
}

/* None where the sides are not known or do not hold n chips. */
static struct blocks blocks_of(const struct ask *a, double n)
{
	struct blocks x = { .is_any = false };
	if (!sides_chips(a))
		return x;
	int64_t chips = (int64_t)n;
	for (int64_t i = 1; i <= side(a, 0); i++)
		for (int64_t j = 1; j <= side(a, 1); j++) {
			struct block b = { { i, j, chips / (i * j) } };
			if (i * j * b.at[2] == chips && b.at[2] <= side(a, 2))
				note_block(a, &b, n, &x);
		}
	return x;
}

/* ---- torus, whatever is known -------------------------------------------------------------- */

static double members_lo_s(const struct ask *a, double chips, bool wrap)
{
	const struct chip *c = a->d->chip;
	double v = a->op->message_bytes;
	if (chips <= 1)
		return v * passed(a->op->kind, a->members, a->members) / roofline_hbm_bps(a->d);
	if (a->op->kind == KIND_PERMUTE)
		return v / (c->torus_axes * c->link_bps.value);
	struct blocks known = blocks_of(a, chips);
	if (a->op->kind == KIND_ALL_TO_ALL && known.is_any)
		return known.fastest_s / c->link_bps.value;
	if (a->op->kind == KIND_ALL_TO_ALL)
		return cut_s(v, chips, cube_side(c, chips), c->link_bps.value,
			wrap && chips >= c->torus_wrap);
	int links = known.is_any ? known.most_links : best_links(c, (int64_t)a->members, wrap);
	return v * passed(a->op->kind, chips, chips) / (links * c->link_bps.value);
}

/*
 * At least: the members share chips if they can (two cores each).  On a single chip nothing
 * crosses a link, and memory is the bound.  With megacore a plane is a core and a member a chip,
 * and an all-to-all is faster over more chips.
 */
static double torus_lo_s(const struct ask *a, bool wrap)
{
	double chips = ceil(a->members * a->d->share);
	return fmin(members_lo_s(a, chips, wrap), members_lo_s(a, a->members, wrap));
}

/* At most: one axis, each chip's links shared by its planes. */
static double torus_hi_s(const struct ask *a, double side, bool ring)
{
	const struct chip *c = a->d->chip;
	double rate = c->link_bps.value * c->attainable_link.value * a->d->share;
	struct blocks known = blocks_of(a, ceil(a->members * a->d->share));
	if (a->op->kind == KIND_ALL_TO_ALL && known.is_any && a->d->share == 1)
		return known.slowest_s / rate;
	if (known.is_any)
		ring = known.least_links == 2;
	if (a->op->kind == KIND_ALL_TO_ALL)
		return cut_s(a->op->message_bytes, a->members, side, rate, ring);
	if (a->op->kind == KIND_PERMUTE)
		ring = false;
	return a->op->message_bytes * passed(a->op->kind, a->members, a->members) /
	       (rate * (ring ? 2 : 1));
}

/* The group is the whole slice and every axis of it wraps. */
static bool is_whole_ring(const struct ask *a)
{
	int64_t slice = slice_chips(a);
	return wraps_everywhere(a->d->chip, slice) && a->members * a->d->share == (double)slice;
}

static struct span torus(const struct ask *a)
{
	const struct chip *c = a->d->chip;
	double n = a->members, most = c->torus_axis_max ? c->torus_axis_max : n;
	double side = fmin(n, most), axes = n > most ? c->torus_axes : 1;
	double cube = pow(ceil(n * a->d->share), 1.0 / c->torus_axes);
	double hops = a->op->kind == KIND_PERMUTE ? 1 : floor(c->torus_axes * cube / 2 + 1e-9);
	double twice = a->op->kind == KIND_ALL_REDUCE ? 2 : 1;
	return (struct span){
		.lo_s = torus_lo_s(a, may_wrap(c, slice_chips(a))),
		.hi_s = torus_hi_s(a, side, is_whole_ring(a)),
		.floor_lo_s = ICI_HOP_LO_S * fmax(1, hops),
		.floor_hi_s = ICI_HOP_HI_S * axes * (side - 1) * twice,
	};
}

/* ---- switch and mesh ---------------------------------------------------------------------- */

static double gpu_bps(const struct ask *a)
{
	const struct chip *c = a->d->chip;
	if (c->topology == TOPOLOGY_SWITCH)
		return c->scaleup_bps.value * a->d->share;
	double peers = a->op->kind == KIND_PERMUTE ? 1 : a->members - 1;
	return peers * c->link_bps.value * a->d->share;
}

static struct span gpu(const struct ask *a)
{
	const struct chip *c = a->d->chip;
	bool reduces = c->switch_reduces && a->op->kind == KIND_ALL_REDUCE;
	double twice = a->op->kind == KIND_ALL_REDUCE ? 2 : 1;
	double time = a->op->message_bytes *
		      passed(a->op->kind, a->members, (double)a->op->group_size) / gpu_bps(a);
	return (struct span){
		.lo_s = reduces ? time / 2 : time,
		.hi_s = time / c->attainable_link.value,
		.floor_lo_s = GPU_LO_S,
		.floor_hi_s = GPU_BASE_HI_S + GPU_STEP_HI_S * (a->members - 1) * twice,
	};
}

/* ---- islands and the network between them -------------------------------------------------- */

/*
 * An island is what the fast links join: a TPU slice, a node, a rack.  A server holds at most 16
 * GPUs, so a smaller domain ends with the server and a larger one is a rack of several.
 */
#define SERVER_GPUS_MAX 16

static int64_t island_devices(const struct ask *a)
{
	const struct chip *c = a->d->chip;
	int64_t chips = c->scaleup_domain;
	int64_t known = 0;
	if (c->torus_axes)
		known = slice_chips(a);
	else if (chips <= SERVER_GPUS_MAX && a->job->hosts)
		known = ceil_div(a->job->chips, a->job->hosts);
	if (known && known < chips)
		chips = known;
	return (int64_t)((double)chips / a->d->share + 0.5);
}

/* Islands the job has; 0 unknown.  Of more devices than an island holds it has several. */
static int64_t islands(const struct ask *a, int64_t devices)
{
	if (a->d->chip->torus_axes)
		return a->job->slices;
	if (a->job->hosts == 1)
		return 1;
	int64_t all = (int64_t)((double)a->job->chips / a->d->share + 0.5);
	return a->job->hosts || all > devices ? ceil_div(all, devices) : 0;
}

struct spread {
	int64_t least, most; /* islands that the group touches */
};

/*
 * The ids of a group with an even stride are known to lie on so many islands; without one, all of
 * them may lie together or each alone.  The pairs of a permute may all stay on their islands.
 */
static struct spread spread_of(const struct ask *a)
{
	int64_t n = a->op->group_size, stride = a->op->group_stride;
	int64_t size = island_devices(a), all = islands(a, size);
	struct spread s = { ceil_div(n, size), ceil_div(n, size) };
	if (a->op->between_slices)
		return (struct spread){ n, n };
	bool is_even = stride > 0 && stride <= GROUP_MAX;
	if (all > 1) {
		s.most = is_even ? ceil_div((n - 1) * stride + 1, size) : all;
		s.most = s.most < n ? s.most : n;
		s.most = s.most > s.least ? s.most : s.least;
		s.least = is_even ? s.most : s.least;
	}
	if (a->op->kind == KIND_PERMUTE)
		s.least = 1;
	return s;
}

/* The part between islands, over the network cards of the members on one of them. */
static double network_s(const struct ask *a, int64_t count)
{
	double n = (double)a->op->group_size, v = a->op->message_bytes;
	double rate = a->d->chip->scaleout_bps.value * a->d->share;
	if (count <= 1)
		return 0;
	if (a->op->kind == KIND_ALL_TO_ALL)
		return v * (n - a->members) / (n * n) / rate;
	double cards = a->op->kind == KIND_PERMUTE ? 1 : a->members;
	return v * passed(a->op->kind, (double)count, n) / (cards * rate);
}

static struct span island_span(const struct ask *a)
{
	if (a->members <= 1)
		return (struct span){ 0, 0, 0, 0 };
	return a->d->chip->torus_axes ? torus(a) : gpu(a);
}

static struct collective_time times(struct ask a, struct spread s)
{
	struct collective_time t = { .lo_s = NAN };
	double n = (double)a.op->group_size, network;
	a.members = ceil(n / (double)s.least);
	struct span best = island_span(&a);
	t.latency_s = best.floor_lo_s;
	network = network_s(&a, s.least);
	if (a.op->at_most)
		best.lo_s = network = 0;
	t.lo_s = isnan(network) ? NAN : fmax(fmax(best.lo_s, t.latency_s), network);
	a.members = ceil(n / (double)s.most);
	struct span worst = island_span(&a);
	t.hi_s = worst.hi_s + worst.floor_hi_s + NETWORK_STEP_HI_S * (double)(s.most - 1) +
		 network_s(&a, s.most) / a.d->chip->attainable_link.value;
	return t;
}

/* ---- what was assumed, for people --------------------------------------------------------- */

struct str link_name(enum link l)
{
	static const struct str names[] = { [LINK_UNKNOWN] = { NULL, 0 },
		[LINK_ICI] = STR_INIT("ici"),
		[LINK_NVLINK] = STR_INIT("nvlink"),
		[LINK_XGMI] = STR_INIT("xgmi"),
		[LINK_DCN] = STR_INIT("dcn") };

	return names[l];
}

/* Between the chips of an island. */
static enum link link_inside(const struct chip *c)
{
	if (c->topology == TOPOLOGY_MESH)
		return LINK_XGMI;
	return c->torus_axes ? LINK_ICI : LINK_NVLINK;
}

static const char *sides_text(const struct ask *a, struct arena *keep)
{
	struct str text = arena_fmt(keep, "%lld", (long long)side(a, 0));
	for (int k = 1; k < TORUS_AXES && a->job->torus[k] > 0; k++)
		text = arena_fmt(keep, "%.*sx%lld", STR_ARG(text), (long long)a->job->torus[k]);
	return arena_z(keep, text);
}

static struct str torus_text(const struct ask *a, struct arena *keep)
{
	const struct chip *c = a->d->chip;
	bool wrap = may_wrap(c, slice_chips(a));
	struct blocks known = blocks_of(a, ceil(a->members * a->d->share));
	if (known.is_any)
		return arena_fmt(keep,
			"ici, %.0f chips of a slice of %s by the job file: between %d link%s of "
			"the "
			"worst placed chip and %s%s",
			ceil(a->members * a->d->share), sides_text(a, keep), known.most_links,
			known.most_links == 1 ? "" : "s",
			known.least_links == 2 ? "rings" : "one line",
			known.is_whole ? " over whole axes" : "");
	if (is_whole_ring(a))
		return arena_fmt(
			keep, "ici, rings over all %d axes of the whole slice", c->torus_axes);
	return arena_fmt(keep, "ici, between up to %d axes%s and one unwrapped axis of %.0f",
		c->torus_axes, wrap ? " that may wrap" : "", a->members);
}

static struct str island_text(const struct ask *a, struct arena *keep)
{
	const struct chip *c = a->d->chip;
	if (c->torus_axes)
		return torus_text(a, keep);
	return arena_fmt(keep, "%.*s, %.0f of a domain of %d", STR_ARG(link_name(link_inside(c))),
		a->members, c->scaleup_domain);
}

static struct str assumed(struct ask a, struct spread s, struct arena *keep)
{
	double share = a.d->chip->attainable_link.value * 100;
	if (a.op->between_slices)
		return arena_fmt(keep,
			"dcn, between %lld slices that the program names, each chip with its share "
			"of the network; hi at %.0f%% of it",
			(long long)s.most, share);
	a.members = ceil((double)a.op->group_size / (double)s.least);
	struct str inner = island_text(&a, keep);
	if (s.most > 1)
		return arena_fmt(keep, "%.*s; over %s%lld %s by network; hi at %.0f%% of the links",
			STR_ARG(inner), s.least < s.most ? "up to " : "", (long long)s.most,
			a.d->chip->torus_axes ? "slices" : "domains", share);
	return arena_fmt(keep, "%.*s%s; hi at %.0f%% of the link", STR_ARG(inner),
		a.d->chip->torus_axes || a.job->hosts > 0 ? "" : ", hosts not known", share);
}

/* Without counts that contradict the group: the profile of one host knows only its own chips. */
static struct job_shape believed(const struct job_shape *job, double group_chips)
{
	const struct job_shape none = { .chips = 0 };
	if (job->chips < 0 || job->hosts < 0 || job->slices < 0)
		return none;
	if (job->chips > GROUP_MAX || (job->chips && (double)job->chips < group_chips))
		return none;
	return *job;
}

static struct collective_time unknown(struct str why)
{
	return (struct collective_time){ NAN, NAN, NAN, LINK_UNKNOWN, why };
}

struct collective_time roofline_collective(const struct chip_device *d,
	const struct collective_op *op, const struct job_shape *job, struct arena *keep)
{
	struct job_shape shape = believed(job, (double)op->group_size * d->share);
	struct ask a = { d, op, &shape, 0 };
	if (!d->chip)
		return unknown(STR("the chip is not known"));
	if (op->group_size < 1 || op->group_size > GROUP_MAX)
		return unknown(STR("the group's size is not known"));
	if (!(op->message_bytes >= 0))
		return unknown(STR("the message's size is not known"));
	if (isnan(passed(op->kind, 2, 2)))
		return unknown(STR("no formula for this kind of collective"));
	if (op->group_size == 1)
		return unknown(STR("a group of one moves nothing"));
	if (d->chip->topology == TOPOLOGY_NONE)
		return unknown(arena_fmt(
			keep, "%.*s gives no links between chips", STR_ARG(d->chip->file)));
	struct spread s = spread_of(&a);
	struct collective_time t = times(a, s);
	t.link = s.least > 1 ? LINK_DCN : link_inside(d->chip);
	t.topology_source = assumed(a, s, keep);
	if (op->at_most)
		t.topology_source = arena_fmt(
			keep, "%.*s, were all of it sent, evenly", STR_ARG(t.topology_source));
	return t;
}
