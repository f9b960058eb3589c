"""GPU planes: streams of kernels and copies, as the CUPTI and ROCm tracers save them.

There is no op line and no cost in such files: a kernel names its HLO op, module
and program in stats that refer to strings, and a correlation id joins it to the
host's launch.  One HLO op may be several kernels.  Op `kernels` in a scenario:
[{name = "...", share = 0.9, grid = "132,1,1", block = "384,1,1"}].
"""

import hlo
from hostile import text
from program import picoseconds
from sim import HostStep, Noise, Run
from xspace import Plane, Ref, U

US = 10**6
STREAMS = {"compute": 13, "comms": 16, "h2d": 14, "d2h": 15}
NCCL = {
    "all-gather": "AllGather_RING_LL",
    "all-reduce": "AllReduce_Sum_bf16_RING_LL",
    "reduce-scatter": "ReduceScatter_Sum_bf16_RING_LL",
    "all-to-all": "SendRecv",
    "collective-permute": "SendRecv",
}
COPY_CALLS = {
    "MemcpyH2D": "cuMemcpyHtoDAsync",
    "MemcpyD2H": "cuMemcpyDtoHAsync",
    "MemcpyD2D": "cuMemcpyDtoDAsync",
}
AMD_COPIES = {
    "MemcpyH2D": "CopyHostToDevice",
    "MemcpyD2H": "CopyDeviceToHost",
    "MemcpyD2D": "CopyDeviceToDevice",
}
LAUNCH_PS = 5 * US  # host time per launch
LATENCY_PS = 4 * US  # from launch to the earliest start


class Kernel:
    """One thing on a stream, and its launch on the host."""

    def __init__(self, name, stream, start, end, launch, op=None, details="", **more):
        self.name, self.stream, self.start, self.end, self.launch = name, stream, start, end, launch
        self.op, self.details = op, details
        self.kind = more.get("kind", "Compute")
        self.number = 0


class Simulation:
    """Launches in program order; streams run at their own pace and wait for each other."""

    def __init__(self, scenario):
        self.s = scenario
        self.noise = Noise(scenario.seed, scenario.jitter)
        self.devices = list(range(scenario.devices))
        first = picoseconds(scenario.timing.get("first_start", "4ms"))
        self.free = {(d, n): first for d in self.devices for n in STREAMS.values()}
        self.host_free = {d: first for d in self.devices}
        self.gap = picoseconds(scenario.timing.get("op_gap", "1.2us"))
        self.kernels = {d: [] for d in self.devices}
        self.runs, self.steps = [], {h: [] for h in range(scenario.hosts_total)}
        self.order = self.number = 0
        self.flights = {}  # (device, start op) -> end of its transfer

    def run(self):
        ends = []
        for index in range(self.s.steps):
            step = self.s.first_step + index
            ready = ends[index - 2] if index > 1 else {}
            self._step(step, ready)
            ends.append(
                {h: max(self._drained(d) for d in self.s.devices_of(h)) for h in self.steps}
            )
        for kernels in self.kernels.values():
            kernels.sort(key=lambda k: k.launch)
            for number, kernel in enumerate(kernels, 1):
                kernel.number = number
        return self

    def _drained(self, device):
        return max(self.free[device, n] for n in STREAMS.values())

    def _step(self, step, ready):
        records = {}
        for host in self.steps:
            before = self.steps[host][-1].end if self.steps[host] else picoseconds("3ms")
            start = max(before, ready.get(host, 0)) + 40 * US
            record = records[host] = HostStep(step, start, start + 20 * US)
            for stall in self.s.stalls_at(step, host):
                record.stalls.append((stall["name"], record.end, picoseconds(stall["time"])))
                record.end += picoseconds(stall["time"])
            for program, length in self.s.compiles_at(step):
                record.compiles.append((program, record.end, length))
                record.end += length
        for program in self.s.programs_at(step):
            self._launch(program, step, records)
        for host, record in records.items():
            self.steps[host].append(record)

    def _launch(self, program, step, records):
        self.number += 1
        runs = {}
        for host, record in records.items():
            begin = record.end
            record.end += 260 * US
            record.launches.append((program, begin, record.end))
            for d in self.s.devices_of(host):
                self.host_free[d] = max(self.host_free[d] + 120 * US, begin + 120 * US)
                runs[d] = Run(program, d, step, self.number, self.host_free[d])
                record.runs.append((runs[d], self.host_free[d]))
        self._transfers("before", step)
        self._ops(program.ops, step)
        self._transfers("after", step)
        for d, run in runs.items():
            run.end = self.host_free[d]
            self.runs.append(run)

    def _transfers(self, when, step):
        """Host copies: `before` ones must land before the first kernel starts."""
        for t in self.s.transfers:
            if t.get("when", "before") != when or step not in t.get("steps", [step]):
                continue
            kind = t["direction"]
            for d in self.devices:
                stream = STREAMS[kind]
                length = round(
                    t["bytes"] / t["gbps"] * 1000 * self.noise.factor("copy", step, d, t["bytes"])
                )
                ready = self.free[d, STREAMS["compute"]] if kind == "d2h" else 0
                name = "Memcpy" + kind.upper()
                kernel = self._put(
                    d,
                    name,
                    stream,
                    length,
                    ready,
                    kind=name,
                    details=copy_details(kind, t["bytes"], d),
                )
                if kind == "h2d" and t.get("wait", True):
                    self.free[d, STREAMS["compute"]] = max(
                        self.free[d, STREAMS["compute"]], kernel.end
                    )

    def _put(self, device, name, stream, length, ready=0, op=None, details="", kind="Compute"):
        launch = self.host_free[device]
        self.host_free[device] += LAUNCH_PS
        start = max(launch + LATENCY_PS, self.free[device, stream] + self.gap, ready)
        start, end = start // 1000 * 1000, (start + max(length, 1000)) // 1000 * 1000
        self.free[device, stream] = end
        kernel = Kernel(name, stream, start, end, launch, op, details, kind=kind)
        self.kernels[device].append(kernel)
        return kernel

    def _ops(self, ops, step):
        for op in ops:
            self.order += 1
            if op.trips:
                for _ in range(op.trips):
                    self._ops(op.body, step)
            elif op.start_of:
                self._done(op)
            elif op.collective:
                self._collective(op, step)
            else:
                self._plain(op, step)

    def _length(self, op, step, device):
        factor = self.noise.factor(step, self.order, device)
        for slow in self.s.slow:
            if slow.get("device", device) == device and step in slow.get("steps", [step]):
                factor *= slow["factor"]
        return op.duration_ps * factor

    def _plain(self, op, step):
        kernels = op.spec.get("kernels", [{"name": op.spec.get("kernel", default_kernel(op))}])
        for d in self.devices:
            length = self._length(op, step, d)
            for k in kernels:
                kind = "MemcpyD2D" if op.opcode == "copy" else "Compute"
                details = (
                    copy_details("d2d", op.instruction.shape.dense_bytes(), d)
                    if kind != "Compute"
                    else self._details(k)
                )
                self._put(
                    d,
                    text(k["name"]),
                    STREAMS["compute"],
                    round(length * k.get("share", 1.0)),
                    0,
                    op,
                    details,
                    kind,
                )

    def _collective(self, op, step):
        """A start goes to the communication stream; all members end together."""
        sync = not op.opcode.endswith("-start")
        stream = STREAMS["compute" if sync else "comms"]
        groups = op.instruction.attrs.get("groups")
        for group in groups.lists(self.s.devices) if groups else [self.devices]:
            length = round(self._length(op, step, group[0]))
            starts = [
                max(
                    self.host_free[d] + LATENCY_PS,
                    self.free[d, stream] + self.gap,
                    self.free[d, STREAMS["compute"]],
                )
                for d in group
            ]
            end = max(starts) + length
            for d, start in zip(group, starts):
                name = (
                    "ncclDevKernel_"
                    + NCCL[hlo.base_opcode(op.opcode)]
                    + "(ncclDevKernelArgsStorage<4096ul>)"
                )
                self._put(
                    d,
                    name,
                    stream,
                    end - start,
                    start,
                    op,
                    self._details({"grid": "24,1,1", "block": "544,1,1", "regs": 96}),
                )
                self.flights[d, op] = end

    def _details(self, k):
        return amd_details(k) if self.s.chip["vendor"] == "AMD" else kernel_details(k)

    def _done(self, op):
        """The compute stream waits for the other one; no kernel of its own."""
        for d in self.devices:
            key = d, STREAMS["compute"]
            self.free[key] = max(self.free[key], self.flights[d, op.start_of[0]])


def default_kernel(op):
    return op.instruction.name.replace(".", "_").replace("-", "_")


def kernel_details(k):
    """The NVIDIA form of kernel_details."""
    return (
        f"regs:{k.get('regs', 64)} static_shared:{k.get('static_shared', 0)} "
        f"dynamic_shared:{k.get('dynamic_shared', 0)} grid:{k.get('grid', '1024,1,1')} "
        f"block:{k.get('block', '256,1,1')} occ_pct:{k.get('occ_pct', 100)}"
    )


def amd_details(k):
    """The form of the ROCm tracer; it begins with a blank."""
    return (
        f" grid:{k.get('grid', '1024,1,1')} block:{k.get('block', '256,1,1')} private_mem:0 "
        f"group_mem:{k.get('dynamic_shared', 0)} occ_pct:0"
    )


def copy_details(kind, size, device):
    source, target = {
        "h2d": ("pinned", "device"),
        "d2h": ("device", "pinned"),
        "d2d": ("device", "device"),
    }[kind]
    return f"kind_src:{source} kind_dst:{target} size:{size} dest:{device} async:1"


def names_of(kernel, program):
    """Stats that say which HLO op a kernel belongs to; host copies have none."""
    if kernel.op is None or kernel.op.spec.get("graph"):  # in a CUDA graph: no names
        return {}
    i = kernel.op.instruction
    stats = {
        "tf_op": Ref("XlaModule:"),
        "hlo_op": Ref(i.name),
        "hlo_module": Ref(program.module_name),
        "program_id": program.id,
    }
    if i.op_name:
        stats["name"] = Ref(i.op_name)
    return stats


class Device:
    """The plane of one GPU."""

    def __init__(self, scenario, host, local, base):
        self.s, self.local = scenario, local
        self.device = scenario.devices_of(host)[0] + local
        self.ns = 216823
        self.base = base + self.ns * 1000
        self.plane = Plane(f"/device:GPU:{local}", local)
        chip = scenario.chip
        self.amd = chip["vendor"] == "AMD"
        self.plane.stats = {
            "device_vendor": chip["vendor"],
            "clock_rate": chip["clock_khz"],
            "core_count": chip["sms"],
            "memory_bandwidth": U(int(chip.get("bandwidth_stat", chip["hbm"]))),
            "memory_size": U(chip["memory"]),
            "compute_cap_major": chip["cap"][0],
            "compute_cap_minor": chip["cap"][1],
        }
        if "name" in chip:
            self.plane.stats["gpu_device_name"] = chip["name"]
        if "plane-stats" in scenario.without:
            self.plane.stats = {"device_vendor": chip["vendor"]}

    def write(self, kernels, program_of):
        if "ops" in self.s.without:
            kernels = []
        for stream in sorted({k.stream for k in kernels}):
            mine = [k for k in kernels if k.stream == stream]
            kinds = ",".join(sorted({self._kind(k) for k in mine}, reverse=True))
            line = self.plane.line(stream, f"Stream #{stream}({kinds})", self.ns)
            for k in mine:
                line.add(
                    self._name(k),
                    k.start - self.base,
                    k.end - k.start,
                    self._stats(k, program_of(k)),
                )
        return self.plane

    def _name(self, k):
        if not self.amd:
            return k.name
        return AMD_COPIES.get(k.name, k.name + ".kd")

    def _kind(self, k):
        """The type in the stream's name."""
        if not self.amd:
            return k.kind
        return "Kernel" if k.kind == "Compute" else "MemcpyOther"

    def _stats(self, k, program):
        stats = {"correlation_id": U(k.number)}
        if not self.amd:
            stats["context_id"] = f"$${self.local + 1}"
        if k.kind == "Compute":
            if not self.amd:
                stats["theoretical_occupancy_pct"] = 100.0
            stats["kernel_details"] = Ref(k.details)
        else:
            stats["memcpy_details"] = Ref(k.details)
        stats.update(names_of(k, program))
        return stats


class Launches:
    """The host's side: executors, thunks and driver calls, per device."""

    def __init__(self, host_plane):
        self.h, self.s = host_plane, host_plane.s

    def write(self, local, runs, kernels, program_of):
        api = self.h.plane.line(
            self.h.tid + 500 + local,
            f"Host Threads/{self.h.tid + 500 + local}",
            self.h.line_ns,
            f"Host Threads/{self.h.tid + 500 + local}",
        )
        line = self.h.workers[local]
        for run in runs:
            length = run.end - run.start
            module = run.program.module_name
            self.h.at(
                line,
                "PjRtStreamExecutorLoadedExecutable::ExecuteHelper",
                run.start - 40 * US,
                length + 60 * US,
            )
            self.h.at(
                line,
                "PjRtStreamExecutorLoadedExecutable::EnqueueExecution",
                run.start - 30 * US,
                length + 45 * US,
                {"_ct": 5, "_c": run.number},
            )
            self.h.at(
                line,
                "GpuExecutable::ExecuteThunks",
                run.start - 4 * US,
                length + 8 * US,
                {"module_name": Ref(module)},
            )
            self.h.at(line, module + ":XLA GPU module", run.start - 2 * US, length + 4 * US)
            if "allocator" not in self.s.without:
                self._memory(local, run)
        for k in kernels:
            self._launch(api, line, local, k, program_of(k))

    def _launch(self, api, line, local, k, program):
        """On NVIDIA the thunk's event joins the kernel, on AMD the driver call does."""
        join = {"device_id": local, "correlation_id": U(k.number)}
        call = "cuLaunchKernelEx" if k.kind == "Compute" else COPY_CALLS[k.kind]
        if self.s.chip["vendor"] == "AMD":
            call, thunk, join = (
                "hip" + call[2:].removesuffix("Ex"),
                None,
                {**join, **names_of(k, program)},
            )
        else:
            thunk, join = {**join, "context_id": f"$${local + 1}"}, None
        if k.op is not None or thunk:
            name = (
                k.op.instruction.name
                if k.op
                else "H2D Dispatch" if k.kind == "MemcpyH2D" else "D2H Dispatch"
            )
            self.h.at(line, name, k.launch, LAUNCH_PS - US, thunk)
        self.h.at(api, call, k.launch + US // 2, 3 * US, join)

    def _memory(self, local, run):
        """BFC allocations: the temp buffer and the outputs of each execution."""
        made = run.program.assignment
        live, temp = made.arguments() + self.s.other_live_bytes, made.temp() + made.outputs()
        self._event(local, "MemoryAllocation", run.start - 25 * US, live + temp, temp, live + temp)
        self._event(local, "MemoryDeallocation", run.end + 10 * US, live, temp, live + temp)

    def _event(self, local, name, at, allocated, size, peak):
        stats = {
            "allocator_name": Ref(f"GPU_{local}_bfc"),
            "bytes_reserved": 0,
            "bytes_allocated": allocated,
            "bytes_available": self.s.capacity * 3 // 4 - allocated,
            "fragmentation": 0,
            "peak_bytes_in_use": peak,
            "requested_bytes": size,
            "allocation_bytes": size,
            "addr": 140535490682368 + local,
            "tf_op": Ref("(null)"),
            "id": 0,
            "region_type": Ref("(null)"),
            "data_type": 0,
        }
        self.h.at(self.h.workers[local], name, at, 0, stats)


def planes(s, replay, host):
    """Planes in the order of real GPU files: metadata, devices, host, environment."""
    import host as host_planes

    base = s.base(host)
    host_plane = host_planes.HostPlane(s, host, base)
    launches = Launches(host_plane)
    made = [host_planes.metadata_plane(s)]
    for local, device in enumerate(s.devices_of(host)):
        runs = [r for r in replay.runs if r.device == device]
        kernels = replay.kernels[device]
        owner = {op: r.program for r in runs for op in r.program.all_ops()}
        program_of = lambda k: owner.get(k.op)
        made.append(Device(s, host, local, base).write(kernels, program_of))
        launches.write(local, runs, kernels, program_of)
    made.append(host_plane.write(replay.steps[host]))
    end = max((k.end for ks in replay.kernels.values() for k in ks), default=base) + 5 * 10**9
    made.append(host_planes.environment_plane(s, host, base, end))
    return made
