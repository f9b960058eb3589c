"""The host's planes: /host:CPU, /host:metadata and Task Environment."""

from hostile import text
from program import picoseconds
from xspace import Plane, Ref, U

US = 10**6
LOSS_BYTES = 512  # what an allocator gives for a scalar
STACK_EXTRA = 16 << 20  # the runtime's own part of the reserved stack


class HostPlane:
    """Events of one host.  `base` is the profile's start on the global clock."""

    def __init__(self, scenario, host, base):
        self.s, self.host = scenario, host
        self.line_ns = 212990  # host lines start a little after the profile
        self.base = base + self.line_ns * 1000
        self.plane = Plane("/host:CPU")
        self.tid = 3116817 + 100000 * host
        self.main = self._thread("main", self.tid)
        self.workers = [
            self._thread("py_xla_execute", self.tid + 2034 + d) for d in range(scenario.per_host)
        ]
        self.producer = 4294967296

    def _thread(self, name, tid):
        return self.plane.line(tid, f"{name}/{tid}", self.line_ns, f"{name}/{tid}")

    def at(self, line, name, start, length, stats=None):
        """Host clocks count nanoseconds."""
        line.add(name, (start - self.base) // 1000 * 1000, length // 1000 * 1000, stats)

    def write(self, steps):
        if self.s.tpu:
            self.plane.stats["matrix_unit_utilization_percent"] = 0.0
        for record in steps:
            self._step(record)
        if self.s.tpu and "allocator" not in self.s.without:
            TpuAllocators(self).write(steps)
        for record in self.s.host_events:
            if record.get("host", self.host) == self.host:
                self.at(
                    self.main,
                    text(record["name"]),
                    picoseconds(record["start"]),
                    picoseconds(record.get("time", 0)),
                    record.get("stats"),
                )
        return self.plane

    def _step(self, record):
        if self.s.step_name and "annotations" not in self.s.without:
            self.at(
                self.main,
                text(self.s.step_name),
                record.start,
                record.end - record.start,
                {"_r": 1, "step_num": record.step},
            )
        for name, start, length in record.stalls:
            self.at(self.main, text(name), start, length)
        for program, start, length in record.compiles:
            self._compile(program, start, length)
        for program, start, end in record.launches:
            self._launch(record, program, start, end)

    def _compile(self, program, start, length):
        if "compiles" in self.s.without:
            return
        self.at(self.main, "lower_sharding_computation", start, length // 12)
        self.at(self.main, "backend_compile", start + length // 10, length - length // 8)
        compiler = "TfrtTpuCompiler::Compile" if self.s.tpu else "GpuCompiler::RunBackend"
        self.at(
            self.main,
            compiler,
            start + length // 9,
            length - length // 7,
            {"name": Ref(program.module_name)},
        )

    def _launch(self, record, program, start, end):
        call = f"PjitFunction({text(program.spec.get('function', 'f'))})"
        self.at(self.main, call, start, end - start)
        self.at(self.main, call, start + US, end - start - 2 * US)
        self.producer += 1
        if self.s.tpu:
            self._tpu_launch(record, program, start, end)
        else:
            number = next(r.number for r, _ in record.runs if r.program is program)
            self.at(
                self.main,
                "PjRtStreamExecutorLoadedExecutable::Execute",
                start + 60 * US,
                end - start - 110 * US,
                {"_pt": 5, "_p": number},
            )

    def _tpu_launch(self, record, program, start, end):
        flow = {"_pt": 5, "_p": self.producer}
        self.at(self.main, "ExecuteReplicated.__call__", start + 40 * US, end - start - 80 * US)
        self.at(
            self.main,
            "TfrtTpuLoadedExecutable::Execute",
            start + 60 * US,
            end - start - 110 * US,
            flow,
        )
        for run, enqueue in record.runs:
            if run.program is program:
                self._enqueue(run, enqueue)

    def _enqueue(self, run, enqueue):
        """The worker thread of one device: schedule, execute, enqueue."""
        local = run.device % self.s.per_host
        line, issue = self.workers[local], self.producer * 16 + local
        self.at(
            line,
            "Scheduled TfrtTpuLoadedExecutable::Execute",
            enqueue - 60 * US,
            100 * US,
            {"_ct": 5, "_c": self.producer},
        )
        self.at(line, "tpu::System::Execute", enqueue - 20 * US, 52 * US, {"_pt": 7, "_p": issue})
        self.at(
            line,
            "tpu::System::Execute=>IssueSequencedEvent",
            enqueue - 14 * US,
            42 * US,
            {"_ct": 7, "_c": issue},
        )
        self.at(
            line,
            "DoEnqueueProgram",
            enqueue,
            18 * US,
            {
                "continuation": 1,
                **({} if "run-ids" in self.s.without else {"run_id": self.s.run_id(run)}),
                "queue_id": 0,
                "device_ordinal": local,
                "core_type": 0,
                "_pt": 12,
                "_p": self.s.flow_id(run),
            },
        )


class TpuAllocators:
    """MemoryAllocation and MemoryDeallocation, per device.

    bytes_reserved is the running program's temp, bytes_allocated the live
    arrays, and the two with bytes_available add up to the chip's capacity.
    """

    def __init__(self, host):
        self.host, self.s = host, host.s
        program = self.s.programs[0].assignment
        self.reserved = program.temp() + STACK_EXTRA
        self.live = program.arguments() + self.s.other_live_bytes
        self.outputs = max(LOSS_BYTES, program.outputs())

    def write(self, steps):
        for local in range(self.s.chips_per_host):
            live, peak, addresses = self.live, self.live, []
            for record in steps:
                _, enqueue = next(
                    r for r in record.runs if r[0].device % self.s.per_host == local * self.s.cores
                )
                live += self.outputs
                peak = max(peak, live)
                addresses.append(
                    self.s.capacity - 33 * LOSS_BYTES - (record.step % 7) * self.outputs
                )
                self._event(
                    "MemoryAllocation",
                    local,
                    enqueue - 45 * US,
                    live,
                    peak,
                    addresses[-1],
                    self.outputs,
                )
                if self.s.leak_bytes:
                    live += self.s.leak_bytes
                    peak = max(peak, live)
                    self._event(
                        "MemoryAllocation",
                        local,
                        enqueue - 44 * US,
                        live,
                        peak,
                        (record.step + 1) * self.s.leak_bytes,
                        self.s.leak_bytes,
                    )
                if len(addresses) > 2:
                    live -= self.outputs
                    self._event(
                        "MemoryDeallocation", local, enqueue + 24 * US, live, peak, addresses.pop(0)
                    )

    def _event(self, name, local, start, live, peak, address, size=0):
        stats = {
            "index_on_host": local,
            "bytes_reserved": self.reserved,
            "bytes_allocated": live,
            "bytes_available": self.s.capacity - self.reserved - live,
            "fragmentation": 0,
            "peak_bytes_in_use": peak,
        }
        if size:
            stats.update({"requested_bytes": size, "allocation_bytes": size})
        stats["addr"] = address
        if size:
            stats.update(
                {"tf_op": Ref("dummy"), "id": 0, "data_type": 0, "shape": Ref("f32[]{:T(128)}")}
            )
        self.host.at(self.host.workers[local], name, start, 0, stats)


def metadata_plane(scenario):
    """/host:metadata: every module's HLO under its program id."""
    plane = Plane("/host:metadata")
    plane.stats = {f"{name}_version": text for name, text in scenario.versions.items()}
    if scenario.tpu:
        plane.metadata(
            "symbols",
            "SYMBOL_MAP:9887984828784582650",
            stats={"symbol_id": "9887984828784582650", "symbol_type": "SYMBOL_MAP"},
        )
    for program in scenario.programs:
        plane.metadata(
            program.id,
            program.full_name,
            stats={"Hlo Proto": program.hlo_proto()},
            number=program.id,
        )
    return plane


def environment_plane(scenario, host, base, end):
    """Task Environment: start and stop of the profile, Unix nanoseconds."""
    plane = Plane("Task Environment")
    start = scenario.start_unix_ns + base // 1000
    plane.stats = {
        "profile_start_time": U(start),
        "profile_stop_time": U(start + (end - base) // 1000),
    }
    return plane
