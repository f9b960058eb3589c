/*
 * How often a comparison with baselines is wrong, by simulation: power [SEED [NIGHTS [TABLE]]].
 *
 * Prints the tables of docs/statistics.md, which says what they mean; tests/bench/power.sh compares
 * the two.  A run is thirty steps on four nodes, and each step waits for the slowest one: noise of
 * 1% that remembers the step before (AR(1), 0.4), one in twenty up to ten times as wild, one node
 * slower than the others by up to 2%, and a warm-up that has not quite faded.  A fifth of the step
 * is exposed communication.  Runs differ by a normal factor.
 *
 * Runs are simulated once, read as measure/deltas.c reads them, and then drawn from; a slowdown
 * moves the logarithm of the step time.  So each night has one smallest slowdown that would fail
 * it, and all tables are made from these.  The decision is that of the rules as they ship: the low
 * end of the interval above 0, and a cost of at least 2% of the step.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "measure/baseline.h"

enum { NODES = 4, BASES = 20, STEPS = 30, STEPS_MAX = 100, POOL = 10000, NIGHTS = 10000 };

/* What a change must cost to fail: `matters` of the rule file. */
#define MATTERS 0.02

/* ---- chance ---------------------------------------------------------------------------------- */

static uint64_t state;

static double uniform(void)
{
	uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double normal(void)
{
	return sqrt(-2 * log(1 - uniform())) * cos(6.283185307179586 * uniform());
}

/* ---- runs ------------------------------------------------------------------------------------ */

enum figure { STEP_TIME, EXPOSED, FIGURES };

struct run {
	struct run_reading of[FIGURES];
	double mean, last; /* ln of the steps' mean, and of the last step */
};

/* Runs without noise between them. */
struct pool {
	struct run runs[POOL];
};

/* One in twenty is up to ten times as wild. */
static double wild(void)
{
	return normal() * (uniform() < 0.05 ? 1 + 9 * uniform() : 1);
}

static void simulate_node(ptrdiff_t steps, double slower, double *ret)
{
	double before = normal();
	for (ptrdiff_t i = 0; i < steps; i++) {
		before = 0.4 * before + sqrt(1 - 0.4 * 0.4) * wild();
		double step = 1 + slower + 0.01 * before + 0.02 * exp(-(double)i / 2);
		ret[i] = fmax(ret[i], step);
	}
}

static struct run simulate(ptrdiff_t steps, struct arena scratch)
{
	double times[STEPS_MAX] = { 0 }, shares[STEPS_MAX], sorted[STEPS_MAX];
	double exposed = 0, sum = 0;
	for (int node = 0; node < NODES; node++)
		simulate_node(steps, node ? 0 : 0.02 * uniform(), times);
	for (ptrdiff_t i = 0; i < steps; i++) {
		shares[i] = 0.2 * (1 + 0.05 * normal());
		exposed += times[i] * shares[i];
		sum += times[i];
	}
	memcpy(sorted, times, sizeof(sorted));
	double x = log(median(sorted, steps));
	return (struct run){ { reading_of(x, times, steps, true, scratch),
				     reading_of(exposed / sum, shares, steps, false, scratch) },
		log(sum / (double)steps), log(times[steps - 1]) };
}

static struct pool *pool_new(ptrdiff_t steps)
{
	struct arena scratch = arena_new(ARENA_SCRATCH_BYTES);
	struct pool *p = malloc(sizeof(*p));
	if (!p)
		abort();
	for (int i = 0; i < POOL; i++)
		p->runs[i] = simulate(steps, scratch);
	arena_free(&scratch);
	return p;
}

/* How runs differ: by a normal factor, and some ran on a host that is slower by 3 to 8%. */
struct world {
	const struct pool *pool;
	double between, slow_hosts;
};

static struct run draw(const struct world *w)
{
	struct run r = w->pool->runs[(int)(uniform() * POOL)];
	double by = log1p(w->between * normal());
	if (uniform() < w->slow_hosts)
		by += log1p(0.03 + 0.05 * uniform());
	r.of[STEP_TIME].x += by;
	r.mean += by;
	r.last += by;
	r.of[EXPOSED].x *= 1 + w->between * normal();
	return r;
}

/* ---- nights ---------------------------------------------------------------------------------- */

/* What a run is held against. */
struct sets {
	ptrdiff_t rolling;
	bool pinned; /* one run more, a set of its own */
};

struct night {
	double least, least_rolling, least_alone; /* smallest ln of a slowdown that fails it */
	bool exposed_fails, mean_fails, last_fails, cannot_tell;
};

/* The smallest change, on top of what chance brought, that is seen and matters. */
static double least_of(const struct run_reading *head, const struct run_readings *sets,
	ptrdiff_t count, ptrdiff_t at, struct noise_prior prior, double matters, double *ret_half)
{
	struct noise noise;
	*ret_half = noise_interval(head, sets, count, at, prior, BASELINE_ALPHA, INFINITY, &noise);
	return fmax(*ret_half, matters) - (head->x - readings_mean(sets[at]));
}

static ptrdiff_t drop(const bool *out, struct run_reading *items, ptrdiff_t count)
{
	ptrdiff_t n = 0;
	for (ptrdiff_t i = 0; i < count; i++)
		if (!out[i])
			items[n++] = items[i];
	return n;
}

/* As measure/deltas.c: settled together, the outlying left out by the step time. */
static struct night one_night(
	const struct world *w, struct sets sets, struct noise_prior prior, struct arena scratch)
{
	static const struct noise_prior none = { 0 };
	struct run_reading all[FIGURES][BASES + 2];
	struct run head = draw(w), base = head;
	bool out[BASES + 1];
	double mean = 0, half, ignored;
	ptrdiff_t rolling = sets.rolling, count = sets.pinned ? 2 : 1;
	ptrdiff_t total = 1 + rolling + (sets.pinned ? 1 : 0);
	for (ptrdiff_t i = 0; i < total; i++) {
		base = i ? draw(w) : head;
		mean += i && i <= rolling ? exp(base.mean) / (double)rolling : 0;
		for (int f = 0; f < FIGURES; f++)
			all[f][i] = base.of[f];
	}
	for (int f = 0; f < FIGURES; f++)
		noise_settle(all[f], total);
	const struct run_readings whole = { all[STEP_TIME] + 1, rolling };
	noise_outlying(whole, prior, BASELINE_ALPHA, scratch, out);
	struct night n = { 0 };
	for (int f = 0; f < FIGURES; f++) {
		struct run_reading pinned = all[f][total - 1];
		struct run_readings both[] = { { all[f] + 1, drop(out, all[f] + 1, rolling) },
			{ &pinned, 1 } };
		const struct run_reading *here = &all[f][0];
		if (f == EXPOSED) {
			for (ptrdiff_t s = 0; s < count; s++)
				n.exposed_fails |= least_of(here, both, count, s, prior, MATTERS,
							   &ignored) <= 0;
			continue;
		}
		double matters = -log1p(-MATTERS);
		n.least = n.least_rolling = least_of(here, both, count, 0, prior, matters, &half);
		n.cannot_tell = half > 0.15 && fabs(here->x - readings_mean(both[0])) <= half;
		if (both[0].count > 1)
			n.least_alone = least_of(here, both, count, 0, none, matters, &ignored);
		if (sets.pinned)
			n.least = fmin(
				n.least, least_of(here, both, count, 1, prior, matters, &ignored));
	}
	n.mean_fails = exp(head.mean) > 1.02 * mean;
	n.last_fails = exp(head.last) > 1.02 * exp(base.last);
	return n;
}

/* Shares of nights, and the smallest slowdowns in order. */
struct tally {
	double fails, exposed_fails, mean_fails, last_fails, cannot_tell;
	double *least, *least_rolling, *least_alone;
	int nights;
};

static struct tally simulate_nights(
	const struct world *w, struct sets sets, struct noise_prior prior, int nights)
{
	struct arena scratch = arena_new(ARENA_SCRATCH_BYTES);
	struct tally t = { .nights = nights };
	double **lists[] = { &t.least, &t.least_rolling, &t.least_alone };
	double one = 1.0 / nights;
	for (int i = 0; i < 3; i++)
		if (!(*lists[i] = malloc((size_t)nights * sizeof(double))))
			abort();
	for (int i = 0; i < nights; i++) {
		struct night n = one_night(w, sets, prior, scratch);
		t.fails += n.least <= 0 || n.exposed_fails ? one : 0;
		t.exposed_fails += n.exposed_fails ? one : 0;
		t.mean_fails += n.mean_fails ? one : 0;
		t.last_fails += n.last_fails ? one : 0;
		t.cannot_tell += n.cannot_tell ? one : 0;
		t.least[i] = n.least;
		t.least_rolling[i] = n.least_rolling;
		t.least_alone[i] = n.least_alone;
	}
	for (int i = 0; i < 3; i++)
		sort_numbers(*lists[i], nights);
	arena_free(&scratch);
	return t;
}

static void tally_free(struct tally *t)
{
	free(t->least);
	free(t->least_rolling);
	free(t->least_alone);
}

/* Percent of nights on which a slowdown fails. */
static double power(const double *least, int nights, double slower)
{
	int n = 0;
	while (n < nights && least[n] <= log1p(slower))
		n++;
	return 100.0 * n / nights;
}

/* The slowdown that four nights in five find, in percent. */
static double found(const struct tally *t)
{
	return 100 * expm1(t->least[(int)(0.8 * t->nights)]);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static const int counts[] = { 1, 2, 3, 5, 10, 20 };
enum { COUNTS = sizeof(counts) / sizeof(counts[0]) };

static struct sets rolling(int count)
{
	return (struct sets){ count, false };
}

/* What is promised where runs differ by at most this. */
#define PROMISED_NOISE 0.0151
static bool promise_kept = true;

static void promise(bool is_kept, const char *what, double between, int count)
{
	if (is_kept)
		return;
	fprintf(stderr, "power: %s, at a noise of %.2f%% and %d baselines\n", what, 100 * between,
		count);
	promise_kept = false;
}

static void print_all(const struct pool *pool, int nights)
{
	static const struct {
		double between, slow_hosts;
		const char *name;
	} rows[] = { { 0, 0, "0" }, { 0.005, 0, "0.5%" }, { 0.010, 0, "1%" }, { 0.015, 0, "1.5%" },
		{ 0.02, 0, "2%" }, { 0.03, 0, "3%" },
		{ 0.005, 0.05, "0.5%, one run in twenty on a slow host" } };
	printf("| noise between runs |");
	for (int c = 0; c < COUNTS; c++)
		printf(" %d |", counts[c]);
	printf("\n|---|");
	for (int c = 0; c < COUNTS; c++)
		printf("---|");
	puts("");
	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
		const struct world w = { pool, rows[r].between, rows[r].slow_hosts };
		printf("| %s |", rows[r].name);
		for (int c = 0; c < COUNTS; c++) {
			struct tally t = simulate_nights(
				&w, rolling(counts[c]), NOISE_PRIOR_DEFAULT, nights);
			printf(" %.2f%%; %.0f / %.0f / %.0f; %.1f |", 100 * t.fails,
				power(t.least, nights, 0.03), power(t.least, nights, 0.05),
				power(t.least, nights, 0.10), found(&t));
			promise(t.fails <= BASELINE_ALPHA || w.between > PROMISED_NOISE ||
					w.slow_hosts > 0,
				"more than 1% of quiet nights fail", w.between, counts[c]);
			tally_free(&t);
		}
		puts("");
	}
}

/* The same baselines without anything assumed: never more nights find a slowdown. */
static void print_alone(const struct pool *pool, int nights)
{
	static const double between[] = { 0, 0.0025, 0.005, 0.01, 0.015, 0.02 };
	printf("\n| noise between runs | 5 baselines: 3%% | 5%% | 10: 3%% | 5%% | 20: 3%% | 5%% "
	       "|\n|---|---|---|---|---|---|---|\n");
	for (size_t b = 0; b < sizeof(between) / sizeof(between[0]); b++) {
		const struct world w = { pool, between[b], 0 };
		printf("| %.2f%% |", 100 * between[b]);
		for (int c = 3; c < COUNTS; c++) {
			struct tally t = simulate_nights(
				&w, rolling(counts[c]), NOISE_PRIOR_DEFAULT, nights);
			for (int e = 3; e <= 5; e += 2) {
				double with = power(t.least, nights, e / 100.0);
				double alone = power(t.least_alone, nights, e / 100.0);
				printf(" %.0f%% (%.0f%%) |", with, alone);
				promise(with >= alone, "the assumption costs power", w.between,
					counts[c]);
			}
			tally_free(&t);
		}
		puts("");
	}
}

static void print_naive(const struct pool *pool, int nights)
{
	static const double between[] = { 0, 0.005, 0.01, 0.015, 0.02 };
	printf("\n| noise between runs | step time | exposed communication | both | 2%% on the "
	       "mean "
	       "of all steps | 2%% on the last step |\n|---|---|---|---|---|---|\n");
	for (size_t b = 0; b < sizeof(between) / sizeof(between[0]); b++) {
		const struct world w = { pool, between[b], 0 };
		struct tally t = simulate_nights(&w, rolling(5), NOISE_PRIOR_DEFAULT, nights);
		printf("| %.1f%% | %.2f%% | %.2f%% | %.2f%% | %.1f%% | %.1f%% |\n",
			100 * between[b], power(t.least, nights, 0), 100 * t.exposed_fails,
			100 * t.fails, 100 * t.mean_fails, 100 * t.last_fails);
		tally_free(&t);
	}
}

static void print_curves(const struct pool *pool, int nights)
{
	static const double effects[] = { 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.10, 0.12 };
	const struct world w = { pool, 0.005, 0 };
	puts("\n```mermaid\nxychart-beta\n"
	     "    title \"found, at a noise of 0.5%: 1, 2, 3, 5, 10 and 20 baselines\"\n"
	     "    x-axis \"slower by\" [\"1%\", \"2%\", \"3%\", \"4%\", \"5%\", \"6%\", \"8%\", "
	     "\"10%\", \"12%\"]\n"
	     "    y-axis \"nights that fail (%)\" 0 --> 100");
	for (int c = 0; c < COUNTS; c++) {
		struct tally t =
			simulate_nights(&w, rolling(counts[c]), NOISE_PRIOR_DEFAULT, nights);
		printf("    line [");
		for (size_t e = 0; e < sizeof(effects) / sizeof(effects[0]); e++)
			printf("%s%.0f", e ? ", " : "", power(t.least, nights, effects[e]));
		printf("]\n");
		tally_free(&t);
	}
	printf("```\n");
}

/* Against one run of as many steps. */
static void print_steps(const struct pool *ignored, int nights)
{
	static const int steps[] = { 2, 4, 8, 15, 16, 30, 100 };
	static const double between[] = { 0, 0.015 };
	(void)ignored;
	printf("\n| steps | noise between runs | quiet nights that fail | cannot tell | 10%% "
	       "slower | "
	       "17%% | 20%% |\n|---|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct pool *pool = pool_new(steps[i]);
		for (size_t b = 0; b < sizeof(between) / sizeof(between[0]); b++) {
			const struct world w = { pool, between[b], 0 };
			struct tally t =
				simulate_nights(&w, rolling(1), NOISE_PRIOR_DEFAULT, nights);
			printf("| %d | %.1f%% | %.2f%% | %.0f%% | %.0f%% | %.0f%% | %.0f%% |\n",
				steps[i], 100 * between[b], 100 * t.fails, 100 * t.cannot_tell,
				power(t.least, nights, 0.10), power(t.least, nights, 0.17),
				power(t.least, nights, 0.20));
			promise(t.fails <= BASELINE_ALPHA, "more than 1% of short runs fail",
				w.between, 1);
			tally_free(&t);
		}
		free(pool);
	}
}

/* Held against a pinned run and the last ones at once: a night fails when either says so. */
static void print_sets(const struct pool *pool, int nights)
{
	static const int many[] = { 5, 10, 20 };
	static const double between[] = { 0, 0.005, 0.01, 0.015 };
	printf("\n| noise between runs | rolling | quiet nights that fail | 3%% slower | by the "
	       "rolling ones alone | 5%% slower |\n|---|---|---|---|---|---|\n");
	for (size_t b = 0; b < sizeof(between) / sizeof(between[0]); b++)
		for (size_t c = 0; c < sizeof(many) / sizeof(many[0]); c++) {
			const struct world w = { pool, between[b], 0 };
			const struct sets both = { many[c], true };
			struct tally t = simulate_nights(&w, both, NOISE_PRIOR_DEFAULT, nights);
			printf("| %.1f%% | %d | %.2f%% | %.0f%% | %.0f%% | %.0f%% |\n",
				100 * between[b], many[c], 100 * t.fails,
				power(t.least, nights, 0.03), power(t.least_rolling, nights, 0.03),
				power(t.least, nights, 0.05));
			promise(t.fails <= BASELINE_ALPHA,
				"more than 1% of quiet nights fail with a pinned run", w.between,
				many[c]);
			tally_free(&t);
		}
}

/* A store with ten runs of each workload, whose noise differs by a factor from one to the next. */
static struct noise_prior store_prior(
	const struct pool *pool, double between, double spread, int workloads)
{
	struct workload_noise items[100];
	struct noise_prior prior = NOISE_PRIOR_DEFAULT;
	for (int i = 0; i < workloads; i++) {
		const struct world w = { pool, between * exp(spread * normal()), 0 };
		double x[10];
		for (int k = 0; k < 10; k++)
			x[k] = draw(&w).of[STEP_TIME].x;
		items[i] = workload_noise(x, 10);
	}
	if (!noise_prior_fit(items, workloads, &prior))
		abort();
	return prior;
}

static void print_store(const struct pool *pool, int nights)
{
	static const double between[] = { 0.003, 0.01, 0.02, 0.03 };
	static const double spreads[] = { 0, 0.4 };
	enum { STORES = 100, WORKLOADS = 30 };
	printf("\n| noise between runs | factor between workloads | taken | worth | 1 baseline: "
	       "quiet "
	       "nights that fail | found | 3: fail | found |\n|---|---|---|---|---|---|---|---|\n");
	for (size_t b = 0; b < sizeof(between) / sizeof(between[0]); b++)
		for (size_t s = 0; s < 2; s++) {
			double sd = 0, worth = 0, fails[2] = { 0 }, seen[2] = { 0 };
			for (int i = 0; i < STORES; i++) {
				struct noise_prior p =
					store_prior(pool, between[b], spreads[s], WORKLOADS);
				sd += p.sd / STORES;
				worth += p.worth / STORES;
				for (int c = 0; c < 2; c++) {
					const struct world w = { pool,
						between[b] * exp(spreads[s] * normal()), 0 };
					struct tally t = simulate_nights(
						&w, rolling(1 + 2 * c), p, nights / STORES);
					fails[c] += t.fails / STORES;
					seen[c] += found(&t) / STORES;
					tally_free(&t);
				}
			}
			printf("| %.1f%% | %.1f | %.1f%% | %.1f |", 100 * between[b],
				exp(spreads[s]), 100 * sd, worth);
			for (int c = 0; c < 2; c++)
				printf(" %.2f%% | %.1f%% |", 100 * fails[c], seen[c]);
			puts("");
		}
}

/* Each has chance of its own, so that one can be printed without the others. */
static void (*const tables[])(const struct pool *pool, int nights) = { print_all, print_alone,
	print_naive, print_curves, print_steps, print_sets, print_store };
enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 7;
	int nights = argc > 2 ? (int)strtol(argv[2], NULL, 10) : NIGHTS;
	int only = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 0;
	state = seed;
	struct pool *pool = pool_new(STEPS);
	for (int i = 0; i < TABLES; i++) {
		state = seed + 1 + (uint64_t)i;
		if (!only || only == i + 1)
			tables[i](pool, nights);
	}
	free(pool);
	return !promise_kept;
}
