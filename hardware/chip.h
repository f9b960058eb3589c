/*
 * Chips: what the hardware could do, each number with its source.
 *
 * One JSON file per chip under hardware/ (README.md there names every key), embedded at build
 * time; a user's own file needs no rebuild.  All figures are per chip; `chip_device` turns them
 * into those of one device plane, which may be half a chip: JAX shows TPU v2, v3 and TPU7x by core,
 * v4 and v5p by chip or by core (megacore), a MI250X by die.
 *
 * Refuses: peaks reported by the profile as truth.  The table wins; a difference is reported.
 */
#ifndef HARDWARE_CHIP_H
#define HARDWARE_CHIP_H

#include "base/arena.h"
#include "base/chip_hints.h"
#include "base/diag.h"
#include "base/kind.h"
#include "base/str.h"

enum chip_vendor { VENDOR_UNKNOWN, VENDOR_GOOGLE, VENDOR_NVIDIA, VENDOR_AMD, VENDOR_CPU };

enum chip_topology {
	TOPOLOGY_NONE = 1,
	TOPOLOGY_TORUS_2D,
	TOPOLOGY_TORUS_3D, /* TPU ICI */
	TOPOLOGY_SWITCH,   /* NVSwitch: full rate to any peer */
	TOPOLOGY_MESH,	   /* xGMI: a link to every other GPU of the node */
};

struct chip_number {
	double value;	   /* NaN unknown */
	struct str source; /* as written in the file; "not stated" for a bare number */
};

struct chip_conflict {
	struct str field, text; /* what sources disagree about; printed by `rooflint hardware` */
};

struct chip {
	struct str id;	 /* "tpu_v5e" */
	struct str name; /* "TPU v5e (v5 lite)" */
	enum chip_vendor vendor;
	struct str *aliases; /* device_type_string and device_kind spellings */
	ptrdiff_t alias_count;
	struct str arch;     /* "sm_90", "gfx942", "" */
	int cores_per_chip;  /* TensorCores or GCDs */
	int planes_per_chip; /* device planes a chip shows as: 1 or 2; 0 when either occurs */
	struct chip_number peak[DTYPE_COUNT]; /* dense FLOP/s (integer: OP/s) by operand dtype */
	struct chip_number f32_vector_flops;
	struct chip_number hbm_bytes, hbm_bps;
	struct chip_number on_chip_bytes; /* VMEM or L2 */
	enum chip_topology topology;
	struct chip_number link_bps; /* one link, one direction */
	int links, torus_axes;
	int torus_wrap;	    /* an axis wraps when its size is a multiple of this; 0 unknown */
	int torus_axis_max; /* chips along the longest axis of a whole pod; 0 unknown */
	struct chip_number scaleup_bps; /* per chip and direction inside the domain */
	int scaleup_domain;		/* chips; for a torus those of a whole pod */
	bool switch_reduces; /* the switch adds up (NVLink SHARP): an all-reduce may cost once */
	struct chip_number scaleout_bps; /* per chip: DCN or InfiniBand */
	struct chip_number pcie_bps;
	/* Share of the peak that good code reaches, with the source: 1.0 when nothing is known. */
	struct chip_number attainable_matmul, attainable_hbm, attainable_link, attainable_pcie;
	struct chip_number attainable_matmul_f8; /* as attainable_matmul unless the file says */
	/* What sets GPUs of one family apart; NaN or 0 when it does not matter. */
	int match_core_count, match_cc_major, match_cc_minor;
	double match_memory_lo, match_memory_hi; /* bytes */
	double match_clock_lo, match_clock_hi;	 /* Hz */
	struct chip_conflict *conflicts;
	ptrdiff_t conflict_count;
	struct str notes;
	struct str file, text; /* where it was read from, and what stands there */
};

/*
 * The embedded chips, sorted by id.  A file is read when its chip is first asked for, and a check
 * asks for one.  So a set changes while it is used, by one thread, and keeps what it read in
 * memory of its own until the process ends.
 */
struct embedded;
struct chip_set {
	struct arena own;
	struct chip_entry {
		const struct embedded *file;
		const struct chip *chip; /* NULL: not read yet */
		struct list words;	 /* in its file, before its figures */
	} * entries;
	ptrdiff_t count;
};

struct chip_set *chip_set_new(struct arena *keep);
const struct chip *chip_at(struct chip_set *set, ptrdiff_t i);
/* A chip by id, name or alias (see chip_name_eq), or from a file when `name` has a '/' or ends in
 * ".json", ".yaml" or ".yml".  An unknown name is an error with the nearest one. */
const struct chip *chip_find(struct chip_set *set, struct str name, struct diag *err);
/* NULL and a diagnostic with a caret. */
const struct chip *chip_parse(
	struct str file, struct str text, struct arena *keep, struct diag *err);
/* "TPU v5 lite", "tpu_v5-LITE" and "TPUv5lite" are one name: case, blanks, '-', '_' don't count. */
bool chip_name_eq(struct str a, struct str b);
/* The peak that others are compared by: bf16's; chips before it compute in f16. */
const struct chip_number *chip_peak16(const struct chip *c);
bool chip_is_called(const struct chip *c, struct str name); /* id, name or an alias */
/* Whether the text is one of the words: its names, its arch, its compute capability.  Cheap. */
bool chip_mentions(const struct chip_set *set, ptrdiff_t i, struct str text);

/* How a chip was recognised, or why not and what to do; the texts are for people. */
struct chip_match {
	const struct chip *chip; /* NULL: unknown */
	struct str why, todo;	 /* todo: which line to add to which file; missing: nothing */
};
struct chip_match chip_recognise(
	struct chip_set *set, const struct chip_hints *hints, struct arena *keep);

/*
 * One device plane of a chip: the chip's figures times `share` (cores on the plane over cores per
 * chip).  Where either occurs, the plane's own peaks decide: snapped to the nearer, and to the
 * chip when it has none (megacore is the default).  Drifts compare the plane's peaks with what they
 * are nearer to, core or chip: profilers have reported both.  An unknown chip gives one too.
 */
struct chip_device {
	const struct chip *chip;
	double share;	   /* 1, or 0.5 for a plane that is one of two cores */
	double peak_drift; /* plane's own peak over the table's; NaN when it has none */
	double hbm_drift;
};
struct chip_device chip_device(const struct chip *chip, const struct chip_hints *hints);

#endif
