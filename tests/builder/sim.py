"""A discrete replay of the scenario: when every op ran on every device.

All times are picoseconds on one global clock.  Devices run the same program in
order; a synchronous collective ends together on all members of its group, so a
late device makes the others wait.  Async transfers queue on a link per device.
"""

import fnmatch
import random
from dataclasses import dataclass, field

from program import picoseconds

TICK_PS = 1250  # a TPU v5e's device clock ticks at 800 MHz
START_PS = 4 * TICK_PS  # issuing an async op
MODULE_LEAD_PS = 800 * TICK_PS
TAIL_PS = 80 * TICK_PS


def tick(ps):
    return round(ps / TICK_PS) * TICK_PS


@dataclass
class Exec:
    op: object
    start: int
    end: int
    instance: int = 0  # equal on all devices for one collective


@dataclass
class Run:
    """One execution of a program on one device."""

    program: object
    device: int
    step: int
    number: int
    start: int = 0
    end: int = 0
    execs: list = field(default_factory=list)
    spans: list = field(default_factory=list)  # (start op, done op, from, to)


@dataclass
class HostStep:
    """What the host did for one step: annotation, input wait, compile, launches."""

    step: int
    start: int
    end: int = 0
    stalls: list = field(default_factory=list)  # (name, start, duration)
    compiles: list = field(default_factory=list)  # (program, start, duration)
    launches: list = field(default_factory=list)  # (program, start, end)
    runs: list = field(default_factory=list)  # (Run, enqueue time)


class Noise:
    """Deterministic jitter: the same seed and place give the same factor."""

    def __init__(self, seed, jitter):
        self.seed, self.jitter = seed, jitter

    def factor(self, *place):
        if not self.jitter:
            return 1.0
        draw = random.Random("/".join(map(str, (self.seed, *place)))).gauss(0, 1)
        return 1 + self.jitter * max(-3.0, min(3.0, draw))


class Simulation:
    def __init__(self, scenario):
        self.s = scenario
        timing = scenario.timing
        self.noise = Noise(scenario.seed, scenario.jitter)
        self.gap = picoseconds(timing.get("op_gap", "0.25us"))
        self.step_gap = picoseconds(timing.get("step_gap", "40us"))
        self.ahead = timing.get("dispatch_ahead", 1)
        self.devices = list(range(scenario.devices))
        self.now = {d: picoseconds(timing.get("first_start", "8ms")) for d in self.devices}
        self.link = {d: 0 for d in self.devices}
        self.dma = {d: 0 for d in self.devices}
        self.network = {d: 0 for d in self.devices}  # between slices
        self.runs, self.steps = [], {h: [] for h in range(scenario.hosts_total)}
        self.instance, self.number, self.order = 0, 0, 0
        self.transfers = {}

    def run(self):
        ends = []
        for index in range(self.s.steps):
            step = self.s.first_step + index
            ready = ends[index - 1 - self.ahead] if index > self.ahead else {}
            self._step(step, index, ready)
            ends.append({h: max(self.now[d] for d in self.s.devices_of(h)) for h in self.steps})
        return self

    # the host side ------------------------------------------------------------------

    def _step(self, step, index, ready):
        hosts = {}
        for host in self.steps:
            before = self.steps[host][-1].end if self.steps[host] else picoseconds("3ms")
            start = max(before + picoseconds("60us"), ready.get(host, 0) + picoseconds("30us"))
            hosts[host] = self._host_step(step, host, start)
        for program in self.s.programs_at(step):
            for name, wait in self.s.waits_of(program):
                for record in hosts.values():
                    if name:
                        record.stalls.append((name, record.end, wait))
                    record.end += wait
                self._launch(program, step, hosts)
        for host, record in hosts.items():
            record.end += picoseconds("12us")
            self.steps[host].append(record)

    def _host_step(self, step, host, start):
        record = HostStep(step, start, start + picoseconds("15us"))
        for stall in self.s.stalls_at(step, host):
            length = round(picoseconds(stall["time"]) * self.noise.factor("stall", step, host))
            record.stalls.append((stall["name"], record.end, length))
            record.end += length
        for program, length in self.s.compiles_at(step):
            record.compiles.append((program, record.end, length))
            record.end += length
        return record

    def _launch(self, program, step, hosts):
        self.number += 1
        runs = {d: Run(program, d, step, self.number) for d in self.devices}
        for host, record in hosts.items():
            begin = record.end
            record.end += round(picoseconds("310us") * self.noise.factor("launch", step, host))
            # The call that launches a new program compiles it first.
            called = next((at for made, at, _ in record.compiles if made is program), begin)
            record.launches.append((program, called, record.end))
            for d in self.s.devices_of(host):
                enqueue = begin + picoseconds("180us") + d * picoseconds("9us")
                record.runs.append((runs[d], enqueue))
                start = max(self.now[d] + self.step_gap, enqueue + picoseconds("45us"))
                runs[d].start = tick(start)
                self.now[d] = runs[d].start + MODULE_LEAD_PS
        self._ops(program.ops, runs, step)
        for d, run in runs.items():
            run.end = self.now[d] = self.now[d] + TAIL_PS
            self.runs.append(run)

    # the device side ----------------------------------------------------------------

    def _ops(self, ops, runs, step):
        for op in ops:
            self.order += 1
            if op.on is not None:
                self._branch(op, runs, step)
            elif op.megacore:
                self._megacore(op, runs, step)
            elif op.trips:
                self._loop(op, runs, step)
            elif op.start_of:
                self._done(op, runs)
            elif op.starts:
                self._start(op, runs, step)
            elif op.collective:
                self._collective(op, runs, step)
            else:
                self._plain(op, runs, step)

    def _length(self, op, step, device):
        factor = self.noise.factor(step, self.order, device)
        for slow in self.s.slow:
            if (
                slow.get("device", device) == device
                and step in slow.get("steps", [step])
                and fnmatch.fnmatch(op.instruction.name, slow.get("op", "*"))
            ):
                factor *= slow["factor"]
        return max(TICK_PS, tick(op.duration_ps * factor))

    def _record(self, runs, device, op, start, end, instance=0):
        runs[device].execs.append(Exec(op, start, end, instance))
        self.now[device] = end

    def _begin(self, device):
        return tick(self.now[device] + self.gap * self.noise.factor("gap", self.order, device))

    def _plain(self, op, runs, step):
        for d in self.devices:
            start = self._begin(d)
            self._record(runs, d, op, start, start + self._length(op, step, d))

    def _loop(self, op, runs, step):
        starts = {d: self._begin(d) for d in self.devices}
        self.now.update(starts)
        holders = {d: Exec(op, starts[d], 0) for d in self.devices}
        for d in self.devices:
            runs[d].execs.append(holders[d])
        for _ in range(op.trips):
            self._ops(op.body, runs, step)
        for d in self.devices:
            self.now[d] += TICK_PS
            holders[d].end = self.now[d]

    def _branch(self, op, runs, step):
        """A conditional: its body runs on some devices, the others go on."""
        all_devices, holders = self.devices, {}
        for d in all_devices:
            holders[d] = Exec(op, self._begin(d), 0)
            runs[d].execs.append(holders[d])
            self.now[d] = holders[d].start
        self.devices = [d for d in all_devices if d in op.on]
        self._ops(op.body, runs, step)
        self.devices = all_devices
        for d in all_devices:
            self.now[d] += 4 * TICK_PS
            holders[d].end = self.now[d]

    def _megacore(self, op, runs, step):
        """One part per core; the cores of a chip leave together."""
        for first in self.devices[:: self.s.cores]:
            cores = range(first, first + self.s.cores)
            start = max(self._begin(d) for d in cores)
            ends = []
            for d, part in zip(cores, op.body):
                end = start + TICK_PS + self._length(part, step, d)
                runs[d].execs.append(Exec(op, start, 0))
                runs[d].execs.append(Exec(part, start + TICK_PS, end))
                ends.append(end)
            for d in cores:
                runs[d].execs[-2].end = self.now[d] = max(ends) + TICK_PS

    def _groups(self, op):
        groups = op.inner.attrs.get("groups")
        if not groups:
            return [self.devices]
        cores = self.s.cores  # groups hold chips, a plane is a core
        chips = groups.lists(self.s.devices // cores)
        return [[c * cores + k for c in group for k in range(cores)] for group in chips]

    def _across(self, slices):
        """A device and those of its place in the other slices."""
        size = len(self.devices) // slices
        return [self.devices[i::size] for i in range(size)]

    def _collective(self, op, runs, step):
        """Ends together: the last to arrive decides, the early ones wait."""
        self.instance += 1
        starts = {d: self._begin(d) for d in self.devices}
        for group in self._groups(op):
            length = self._length(op, step, group[0])
            end = max(starts[d] for d in group) + length
            for d in group:
                self._record(runs, d, op, starts[d], end, self.instance)

    def _start(self, op, runs, step):
        """Issue a transfer; it queues behind what its link still carries."""
        self.instance += 1
        begins = {d: self._begin(d) for d in self.devices}
        queue = self.network if op.slices else self.link if op.collective else self.dma
        groups = [[d] for d in self.devices]
        if op.slices:
            groups = self._across(op.slices)
        elif op.collective:
            groups = self._groups(op)
        for group in groups:
            length = self._length(op, step, group[0])
            free = max([begins[d] for d in group] + [queue[d] for d in group])
            for d in group:
                queue[d] = self.transfers[d, op] = free + length
                self._record(runs, d, op, begins[d], begins[d] + START_PS, self.instance)

    def _done(self, op, runs):
        for d in self.devices:
            start = self._begin(d)
            issued = next(e for e in reversed(runs[d].execs) if e.op in op.start_of)
            end = max(start + TICK_PS, self.transfers[d, issued.op])
            runs[d].spans.append((issued.op, op, issued.start, end))
            self._record(runs, d, op, start, end, issued.instance)
