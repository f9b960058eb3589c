"""A scenario file, read and completed with defaults."""

import derive
from hostile import text
from program import Program, fingerprint, picoseconds

# Peaks per chip, dense: FLOP/s of bf16 (fp16), HBM and VMEM bytes/s, the memory
# that an allocator may use in bytes.  VMEM is 0 where no capture tells.
CHIPS = {
    "tpu-v5e": {
        "platform": "tpu",
        "device_type": "TPU v5 Lite",
        "flops": 197e12,
        "hbm": 819e9,
        "capacity": 16911433728,
    },
    "tpu-v5p": {
        "platform": "tpu",
        "device_type": "TPU v5",
        "flops": 459e12,
        "hbm": 2765e9,
        "megacore": 1,
        "capacity": 102005473280,
    },
    # As captures of v5p show it: a plane per core, each half a chip.
    "tpu-v5p-core": {
        "platform": "tpu",
        "device_type": "TPU v5",
        "flops": 233.4e12,
        "hbm": 1382.4e9,
        "cores": 2,
        "capacity": 102005473280,
    },
    "tpu-v6e": {
        "platform": "tpu",
        "device_type": "TPU v6 Lite",
        "flops": 918e12,
        "hbm": 1637.993152512e9,
        "vmem_rd": 23296.0099876864e9,
        "vmem_wr": 16128.031693209601e9,
        "capacity": 33550237696,
    },
    "h100": {
        "platform": "gpu",
        "vendor": "Nvidia",
        "name": "NVIDIA H100 80GB HBM3",
        "flops": 989.4e12,
        "hbm": 3352e9,
        "memory": 85017755648,
        "sms": 132,
        "clock_khz": 1980000,
        "cap": (9, 0),
    },
    "a100": {
        "platform": "gpu",
        "vendor": "Nvidia",
        "name": "NVIDIA A100-SXM4-80GB",
        "flops": 312e12,
        "hbm": 2039e9,
        "memory": 84987740160,
        "sms": 108,
        "clock_khz": 1410000,
        "cap": (8, 0),
    },
    "mi300x": {
        "platform": "gpu",
        "vendor": "AMD",
        "flops": 1307.4e12,
        "hbm": 5300e9,
        "memory": 206141652992,
        "sms": 304,
        "clock_khz": 2100000,
        "cap": (9, 4),
        "bandwidth_stat": 2662400000000,
    },
}

# What `[file] without` can leave out of a profile.
OPTIONAL = {
    "hlo",  # /host:metadata
    "annotations",  # StepTraceAnnotation
    "plane-stats",  # device type, peaks, core details
    "device-type",
    "peaks",
    "allocator",  # memory events
    "device-clock",  # device_offset_ps, device_duration_ps
    "environment",  # the closing plane, which old runtimes do not write
    "hostnames",  # the closing field
    "run-ids",
    "collective-ids",
    "costs",  # flops, bytes, breakdown
    "provenance",  # tf_op, source
    "categories",  # hlo_category
    "starts",  # the begins of async pairs
    "dones",  # their ends
    "program-ids",
    "modules",  # the line XLA Modules
    "ops",  # the line XLA Ops, or a GPU's kernels
    "compiles",  # the host's events of compilation
    "host",  # /host:CPU
}


class Scenario:
    def __init__(self, spec):
        job = spec["job"]
        self.name, self.seed = spec["name"], spec.get("seed", 1)
        self.run, self.jitter = spec.get("run", "2026_03_14_09_26_53"), spec.get("jitter", 0.003)
        self.chip = dict(CHIPS[spec["chip"]["name"]], **spec["chip"].get("override", {}))
        self.tpu = self.chip["platform"] == "tpu"
        self.hosts, self.chips_per_host = job["hosts"], job["chips_per_host"]
        self.hosts_total = len(self.hosts)
        self.missing_hosts = job.get("missing_hosts", [])
        self.host_runs = job.get("host_runs", {})  # folders of hosts whose clocks differ
        self.cores = self.chip.get("cores", 1)  # planes per chip
        self.per_host = self.chips_per_host * self.cores
        self.devices = self.hosts_total * self.per_host
        self.steps, self.first_step = job.get("steps", 10), job.get("first_step", 0)
        self.step_name = job.get("step_name", "train")
        self.start_unix_ns = job.get("start_unix_ns", 1773480413000000000)
        self.versions = job.get("versions", {})  # of jax, jaxlib, tpu, gpu
        self.host_start_skew = picoseconds(job.get("host_start_skew", "1.7ms"))
        self._files(spec.get("file", {}))
        self._memory(spec.get("memory", {}))
        self.timing, self.slow = spec.get("timing", {}), spec.get("slow", [])
        self.stalls, self.host_events = spec.get("stall", []), spec.get("host_event", [])
        self.repeats = spec.get("repeat", [])
        self.recompiles, self.transfers = spec.get("recompile", []), spec.get("transfer", [])
        self._programs(spec)

    def _files(self, spec):
        """What the profiler itself does: lines, clocks, warnings."""
        self.steps_line = spec.get("steps_line", "contiguous")
        self.no_steps_line = spec.get("no_steps_line", [])  # devices of a host that lack it
        self.async_line = spec.get("async_line", "first")
        self.device_clock_skew = picoseconds(spec.get("device_clock_skew", "402.075us"))
        self.warnings = [text(t) for t in spec.get("warnings", [])]
        self.errors = [text(t) for t in spec.get("errors", [])]
        self.dropped_traces = spec.get("dropped_traces", 0)
        self.copies = spec.get("copies", 1)  # of the whole, one behind the other in the file
        self.followed_by = spec.get("followed_by", [])  # other scenarios' first files, in the same file
        self.sparse_cores = picoseconds(spec.get("sparse_cores", 0))  # a plane for each chip's
        self.without, self.shuffled = set(spec.get("without", [])), spec.get("shuffled", False)
        unknown = self.without - OPTIONAL
        if unknown:
            raise ValueError(f"[file] without: {', '.join(sorted(unknown))}?")
        self.clock_jumps = [
            tuple(picoseconds(j[k]) for k in ("at", "for", "by"))
            for j in spec.get("clock_jump", [])
        ]

    def _memory(self, spec):
        self.capacity = spec.get("capacity", self.chip.get("capacity", self.chip.get("memory", 0)))
        self.other_live_bytes = spec.get("other_live_bytes", 0)
        self.leak_bytes = spec.get("leak_bytes", 0)  # kept by every step

    def _programs(self, spec):
        source = spec.get("source", {})
        make = lambda p, copy: Program(
            p,
            self.chip,
            self.devices // self.cores,
            source.get("stacks", {}),
            source.get("root", "/home/user/train"),
            copy,
        )
        specs = spec["program"] if isinstance(spec["program"], list) else [spec["program"]]
        self.main = [make(p, 0) for p in specs]
        self.programs = list(self.main)
        for index, r in enumerate(self.recompiles):
            r["made"] = make(specs[r.get("program", 0)], index + 1)
            self.programs.append(r["made"])

    # questions -------------------------------------------------------------------

    def devices_of(self, host):
        return list(range(host * self.per_host, (host + 1) * self.per_host))

    def base(self, host):
        """The start of a host's profile on the global clock, ps."""
        return host * self.host_start_skew

    def programs_at(self, step):
        """What runs in a step; a recompiled program replaces its original."""
        out = []
        for index, program in enumerate(self.main):
            if step not in program.spec.get("at_steps", [step]):
                continue
            for r in self.recompiles:
                if r.get("program", 0) == index and step >= r["step"]:
                    program = r["made"]
            out.append(program)
        return out

    def waits_of(self, program):
        """What the host does before each run of a program in a step that has it, and how long."""
        return next(([("", 0)] + [(r.get("name", ""), picoseconds(r["wait"]))] * (r["times"] - 1)
                     for r in self.repeats if self.main[r["program"]] is program), [("", 0)])

    def stalls_at(self, step, host):
        return [
            s for s in self.stalls if step in s.get("steps", [step]) and s.get("host", host) == host
        ]

    def compiles_at(self, step):
        return [(r["made"], picoseconds(r["time"])) for r in self.recompiles if r["step"] == step]

    # ids that join host and device -------------------------------------------------

    def run_id(self, run):
        """Differs per device for the same launch, as on real hosts."""
        return 17 * (run.device + 1) + run.number

    def flow_id(self, run):
        return fingerprint(self.name, run.device, run.number) >> 1

    def collective_id(self, instance):
        return instance << 16 | 1


def load(path):
    return Scenario(derive.load(path))
