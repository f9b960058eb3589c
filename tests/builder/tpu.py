"""TPU device planes: one per chip, as libtpu writes them."""

import hlo
from wire import Message
from xspace import Plane, U

# line ids of real TPU planes
STEPS, MODULES, OPS, ASYNC, TRACEME = 1, 2, 3, 4, 6

FUSION_CATEGORIES = {
    "kLoop": "loop fusion",
    "kInput": "input fusion",
    "kOutput": "output fusion",
    "kCustom": "custom fusion",
}
FORMATTING = {"copy", "transpose", "reshape", "dynamic-reshape"}
SPACES = {0: 1, 1: 3}  # S(n) -> MemoryAccessBreakdown space: 1 HBM, 3 VMEM


def category(instruction):
    """hlo_category, with libtpu's refinements."""
    op = instruction.opcode
    if op == "fusion" and len(instruction.called) > 1:
        return "megacore fusion"
    if op == "fusion" and instruction.name.startswith("async-collective"):
        return "custom fusion"
    if op == "fusion":
        inner = {i.opcode for i in instruction.called[0].instructions}
        if "convolution" in inner:
            return "convolution fusion"
        for name, label in (
            ("all-reduce", "all-reduce fusion"),
            ("all-gather", "all-gather fusion"),
            ("reduce-scatter", "all-reduce-scatter fusion"),
        ):
            if name in inner:
                return label
        return FUSION_CATEGORIES[instruction.attrs["fusion_kind"]]
    if instruction.attrs.get("host_transfer"):
        return "host " + op
    if op in FORMATTING:
        return "data formatting"
    if op in hlo.ELEMENTWISE or op in hlo.TRANSCENDENTAL:
        return "non-fusion elementwise"
    return op


def breakdown(instruction, cores=1):
    """MemoryAccessBreakdown: reads (1) and writes (2) per memory space."""
    sums = {}
    for kind, space, size in hlo.accesses(instruction):
        if space in SPACES and size:
            key = (1 if kind == "read" else 2, SPACES[space])
            sums[key] = sums.get(key, 0) + size
    out = Message()
    for (kind, space), size in sorted(sums.items()):
        out.msg(1, Message().int(1, kind).int(2, space).int(3, size // cores))
    return bytes(out)


def source_stats(program, op):
    """source is the innermost frame, source_stack all of them."""
    stack = program.stack(op.spec)
    if not stack:
        return {}
    lines = [f"{path}:{line}:{column}\n" for path, line, column, _ in stack]
    return {"source": f"{stack[0][0]}:{stack[0][1]}", "source_stack": "".join(lines)}


def op_stats(program, op):
    """The stats of an op's metadata: cost per execution and provenance."""
    i = op.instruction
    stats = {"hlo_category": category(i), "program_id": U(program.id), "symbol_id": U(op.symbol)}
    if i.opcode != "custom-call" and not op.megacore:
        stats.update(cost_stats(i, 1 if op.whole else program.chip.get("cores", 1)))
    stats["shape_with_layout"] = i.shape.text()
    if i.op_name:
        stats["tf_op"] = i.op_name + ":"
    stats.update(source_stats(program, op))
    return stats


def cost_stats(i, cores=1):
    """A chip whose cores share every op counts a part on each of them."""
    size, flops = hlo.bytes_accessed(i) // cores, hlo.flops(i) // cores
    return {
        "flops": flops,
        "model_flops": flops,
        "bytes_accessed": size,
        "memory_access_breakdown": breakdown(i, cores),
        "raw_bytes_accessed": size,
    }


COSTS = set("flops model_flops bytes_accessed memory_access_breakdown raw_bytes_accessed".split())
PROVENANCE = {"tf_op", "source", "source_stack"}
PROGRAM_IDS = {"program_id", "symbol_id"}


def left_out(without):
    """Names of the stats that a scenario leaves out."""
    gone = set()
    for name, names in (
        ("costs", COSTS),
        ("provenance", PROVENANCE),
        ("program-ids", PROGRAM_IDS),
        ("device-clock", {"device_offset_ps", "device_duration_ps"}),
        ("run-ids", {"run_id", "_c", "_ct"}),
        ("collective-ids", {"all_reduce_unique_id"}),
        ("categories", {"hlo_category"}),
    ):
        gone |= names if name in without else set()
    return gone


def kept(stats, gone):
    return {name: value for name, value in stats.items() if name not in gone} if gone else stats


class Device:
    """The plane of one chip.  `base` is the profile's start on the global clock."""

    def __init__(self, scenario, host, local, base):
        self.s, self.local = scenario, local
        self.device = scenario.devices_of(host)[0] + local
        self.base = base
        self.skew = scenario.device_clock_skew
        self.plane = Plane(f"/device:TPU:{local}", 2 + 8 * local)
        self.gone = left_out(scenario.without)
        self.metadata = {}  # of ops
        self._plane_stats()

    def _plane_stats(self):
        chip, local = self.s.chip, self.local
        cores = self.s.cores
        core = Message().int(2, local).int(3, local % cores).int(4, local // cores)
        core.int(5, self.device // cores).int(6, self.device)
        self.plane.stats = {
            "core_details": bytes(core),
            "device_type_string": chip["device_type"],
            "peak_teraflops_per_second": chip["flops"] / 1e12,
            "peak_hbm_bw_gigabytes_per_second": chip["hbm"] / 1e9,
            "peak_cmem_rd_bw_gigabytes_per_second": 0.0,
            "peak_cmem_wr_bw_gigabytes_per_second": 0.0,
            "peak_vmem_rd_bw_gigabytes_per_second": chip.get("vmem_rd", 0) / 1e9,
            "peak_vmem_wr_bw_gigabytes_per_second": chip.get("vmem_wr", 0) / 1e9,
            "peak_sram_rd_bw_gigabytes_per_second": chip.get("vmem_rd", 0) / 1e9,
            "peak_sram_wr_bw_gigabytes_per_second": chip.get("vmem_wr", 0) / 1e9,
            "has_megacore": int(chip.get("megacore", 0)),
            "has_merged_vmem": int(chip.get("merged_vmem", 1)),
        }
        for gone, prefix in (
            ("plane-stats", ""),
            ("device-type", "device_type"),
            ("peaks", "peak_"),
        ):
            if gone in self.s.without:
                stats = self.plane.stats.items()
                self.plane.stats = {n: v for n, v in stats if not n.startswith(prefix)}
        if self.s.dropped_traces:
            self.plane.stats["dropped_traces"] = U(self.s.dropped_traces)

    def write(self, runs):
        """runs: those of this device, in order.  Returns the plane."""
        if self.s.steps_line != "none" and self.local not in self.s.no_steps_line:
            self._steps(runs)
        if "modules" not in self.s.without:
            self._modules(runs)
        if "ops" not in self.s.without:
            self._ops(runs)
            self._async(runs)
        self.plane.line(7, "TC Overlay")
        self._traceme(runs)
        return self.plane

    def _event(self, line, metadata, start, end, stats):
        """An event whose host times go through the mapping, jumps and all."""
        begin, stop = self._offset(start), self._offset(end)
        line.event(metadata, begin, max(0, stop - begin), kept(stats, self.gone))

    def _named(self, line, name, start, end, stats):
        self._event(line, self.plane.named(name), start, end, stats)

    def _offset(self, time):
        jumps = sum(by for at, length, by in self.s.clock_jumps if at <= time < at + length)
        return time - self.base + jumps

    def _clock(self, start, end):
        return {
            "device_offset_ps": U(start - self.base - self.skew),
            "device_duration_ps": U(end - start),
        }

    def _steps(self, runs):
        line = self.plane.line(STEPS, "Steps")
        numbers = sorted({r.step for r in runs})
        begin = {n: min(r.start for r in runs if r.step == n) for n in numbers}
        end = {n: max(r.end for r in runs if r.step == n) for n in numbers}
        for n in numbers:
            stop = end[n] if self.s.steps_line == "modules" else begin.get(n + 1, end[n])
            stats = {"step_num": n, **self._clock(begin[n], stop)}
            self._named(line, str(n), begin[n], stop, stats)

    def _modules(self, runs):
        line = self.plane.line(MODULES, "XLA Modules")
        for r in runs:
            self._named(
                line,
                r.program.full_name,
                r.start,
                r.end,
                {
                    "run_id": U(self.s.run_id(r)),
                    "replica_id": 0,
                    "queue_id": U(0),
                    "core_type": U(0),
                    "_ct": 12,
                    "_c": self.s.flow_id(r),
                    **self._clock(r.start, r.end),
                },
            )

    def op_metadata(self, program, op, display=None):
        key = (program.id, op.symbol, display)
        if key not in self.metadata:  # an op has millions of events
            self.metadata[key] = self.plane.metadata(
                key,
                hlo.instruction_text(op.instruction),
                display or op.instruction.name,
                kept(op_stats(program, op), self.gone),
            )
        return self.metadata[key]

    def _ops(self, runs):
        line = self.plane.line(OPS, "XLA Ops")
        halves = tuple(h for w, h in (("starts", "-start"), ("dones", "-done")) if w in self.s.without)
        for r in runs:
            for e in r.execs:
                if e.op.opcode.endswith(halves):
                    continue
                stats = self._clock(e.start, e.end)
                if hlo.base_opcode(e.op.opcode) in ("all-reduce", "all-to-all"):
                    stats["all_reduce_unique_id"] = U(self.s.collective_id(e.instance))
                if e.op.opcode == "custom-call":
                    stats.update(custom_call_stats(e.op.instruction))
                metadata = self.op_metadata(r.program, e.op)
                self._event(line, metadata, e.start, e.end, stats)

    def _async(self, runs):
        line = self.plane.line(ASYNC, "Async XLA Ops")
        if self.s.async_line == "first" and self.local:
            return
        flow = 616168000
        for r in runs:
            for start, done, begin, end in r.spans:
                flow += 1
                metadata = self.op_metadata(
                    r.program, start, "async-" + hlo.base_opcode(start.opcode)
                )
                self._event(
                    line,
                    metadata,
                    begin,
                    end,
                    {
                        "hlo_op": done.instruction.name,
                        "_a": 1,
                        "flow": U(flow),
                        "id": U(start.symbol),
                    },
                )

    def _traceme(self, runs):
        line = self.plane.line(TRACEME, "XLA TraceMe")
        for r in runs:
            line.add("barrier-cores", self._offset(r.start + 1250), 2555000)
            line.add("dependency-wait", self._offset(r.start + 2557500), 1250)


def sparse_core(scenario, host, local, base, runs):
    """A SparseCore's plane beside its chip's: one lookup in each program, else idle."""
    plane = Plane(f"/device:TPU:{local} SparseCore 0", 6 + 8 * local)
    core = Message().int(2, local).int(5, scenario.devices_of(host)[0] + local).int(7, 1)
    plane.stats = {"core_details": bytes(core)}
    modules, ops = plane.line(MODULES, "Sparse Core Modules"), plane.line(OPS, "Sparse Core Ops")
    for r in runs:
        start, length = r.start - base + 10**9, scenario.sparse_cores
        modules.event(plane.named(r.program.full_name), start, length, {})
        ops.event(plane.named("sparse_gather_offload.1"), start, length, {})
    return plane


def custom_call_stats(i):
    """A custom call has its cost on the event, not on its metadata."""
    return {"flops": hlo.flops(i), "model_flops": hlo.flops(i), "bytes_accessed": 0}
