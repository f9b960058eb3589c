"""The definitions, applied to decoded bytes.  Everything is integer picoseconds until the end.

An execution is one run of an op on a device; a launch is one run of a program there.
"""

import collections
import itertools
import pathlib
import re
import statistics

import hlo
import trace
import xplane

SECOND = 1e12                                   # ps
TPU_PLANE = re.compile(r"/device:TPU:\d+$")
GPU_PLANE = re.compile(r"/device:GPU:\d+$")
PROGRAM_IN_NAME = re.compile(r"\((\d+)\)$")
DISTURBANCE = re.compile(r"backend_compile|\$.* (start|stop)_trace$")
CLOCK_SLACK = 200_000_000  # ps: host and device clocks agree to less
SERVER = re.compile(r"(?<![A-Za-z])(prefill|decode|generate|inference)(?![A-Za-z])")
TRANSFER = re.compile(r"Memcpy(H2D|D2H|D2D|P2P)|Copy(Host|Device)To(Host|Device)")
COPY_KERNEL = "__amd_rocclr_copyBuffer"         # how newer AMD profiles show a memory copy
HOLDERS = ("while", "call", "conditional")      # what their events cost is their bodies' cost
IN_HBM = 1                                      # memory_space of a breakdown entry


class Execution:
    """One run of an op: kernels of a GPU stream, or one event."""

    def __init__(self, program, op, start, last, host_start, time, event):
        self.program, self.op = program, op
        self.start, self.last = start, last
        self.host_start, self.time = host_start, time
        self.event = event
        self.kernels = {event.name}


class Step:
    """Stretches of a device's time, with other work cut out."""

    def __init__(self, number, stretches, host_start, host_end, complete=True):
        self.number, self.stretches = number, stretches
        self.host_start, self.host_end, self.complete = host_start, host_end, complete
        self.warmup = self.whole_window = False

    @property
    def end(self):
        return self.stretches[-1][1]

    @property
    def time(self):
        return sum(end - start for start, end in self.stretches)

    def holds(self, execution):
        return self.whole_window or any(start <= execution.start < end
                                        for start, end in self.stretches)


class Launch:
    """An execution of a program, from its first op to its last."""

    def __init__(self, program, start, end, host_start):
        self.program, self.start, self.end, self.host_start = program, start, end, host_start
        self.label = None


class Device:
    def __init__(self, host, name, kind):
        self.host, self.name, self.kind = host, name, kind
        self.intervals = []                      # of every op or kernel event
        self.spans = []                          # from an async op's start to the end of its done
        self.executions = []
        self.launches = collections.defaultdict(list)   # program -> [(start, host start)]
        self.module_counts = collections.Counter()      # program -> events on XLA Modules
        self.waits = {}               # XLA:CPU: launch -> when it was done
        self.done = {}                           # (program, start) of a launch -> the same
        self.steps = []
        self.steps_line = []

    @property
    def start(self):
        return min(start for start, _ in self.intervals)

    @property
    def end(self):
        return max([end for _, end in self.intervals] + list(self.done.values()))

    def busy(self):
        total, reached = 0, self.start
        for start, end in sorted(self.intervals + self.spans):
            total += max(0, end - max(start, reached))
            reached = max(reached, end)
        return total

    def runs_of(self, program):
        return self.module_counts[program] or len(self.launches.get(program, []))


# ---- programs -----------------------------------------------------------------------------------

def read_modules(planes):
    """Program id as text -> Module, from /host:metadata."""
    found = {}
    plane = planes.get("/host:metadata", xplane.Plane(""))
    for key, (name, _, stats) in plane.metadata.items():
        proto = stats.get("Hlo Proto") or stats.get("HLO Proto")
        if not proto:
            continue
        named = PROGRAM_IN_NAME.search(name)
        found[named[1] if named else str(key % (1 << 64))] = hlo.Module(proto)
    return found


def program_of(stats):
    """A trace's program is known by its module's name where there is no id."""
    return str(stats["program_id"] % (1 << 64)) if "program_id" in stats else stats.get("module")


def op_name(modules, program, name):
    """The instruction that a profiled name means, or the name itself."""
    module = modules.get(program)
    known = module.instruction_named(name) if module else None
    return known or name.removeprefix("%")


def find_launches(device, modules):
    """A program starts anew when its marker does: the first op seen that is in no loop."""
    markers = {}
    for execution in sorted(device.executions, key=lambda e: e.start):
        program, op = execution.program, execution.op
        if program is None:
            continue
        module = modules.get(program)
        once = not module or op not in module.home or module.runs_once(op)
        if once and markers.setdefault(program, op) == op:
            device.launches[program].append((execution.start, execution.host_start))


def find_spans(device, modules):
    """What an async pair moves is in flight from its start to the end of its done."""
    started = collections.defaultdict(list)
    for execution in sorted(device.executions, key=lambda e: e.start):
        module = modules.get(execution.program)
        starts = module.starts_of(execution.op) if module else []
        open_ones = [started[execution.program, s] for s in starts]
        oldest = min(filter(None, open_ones), default=None)
        if oldest:
            device.spans.append((oldest.pop(0), sum(device_clock(execution.event))))
        started[execution.program, execution.op].append(execution.start)


# ---- devices ------------------------------------------------------------------------------------

def device_clock(event):
    """Start and duration on the device's own clock, where the profile has it."""
    return (event.stats.get("device_offset_ps", event.start),
            event.stats.get("device_duration_ps", event.duration))


def self_times(spans):
    """Of (start, duration) in order of start, longer first: each less its direct children."""
    own = [duration for _, duration in spans]
    open_spans = []
    for i, (start, duration) in enumerate(spans):
        while open_spans:
            outer_start, outer_duration = spans[open_spans[-1]]
            if outer_start <= start and start + duration <= outer_start + outer_duration:
                own[open_spans[-1]] -= duration
                break
            open_spans.pop()
        open_spans.append(i)
    return own


def add_nested(device, events, modules, describe):
    """Events of one line that may hold each other; describe says (program, op name)."""
    events = sorted(events, key=lambda e: (device_clock(e)[0], -device_clock(e)[1]))
    spans = [device_clock(event) for event in events]
    for event, (start, duration), own in zip(events, spans, self_times(spans)):
        program, name = describe(event)
        op = op_name(modules, program, name)
        device.intervals.append((start, start + duration))
        device.executions.append(Execution(
            program, op, start, start + duration, event.start, own, event))


def describe_tpu(event):
    return program_of(event.meta), event.display or event.name


def describe_host(event):
    return program_of(event.stats), event.stats["hlo_op"]


def read_tpu(host, plane, modules):
    device = Device(host, plane.name, "tpu")
    for line in plane.lines.values():
        if line.name == "XLA Ops":
            add_nested(device, line.events, modules, describe_tpu)
        elif line.name == "XLA Modules":
            ids = (PROGRAM_IN_NAME.search(event.name) for event in line.events)
            device.module_counts.update(found[1] for found in ids if found)
        elif line.name == "Steps":
            device.steps_line = sorted(line.events, key=lambda e: device_clock(e)[0])
    find_launches(device, modules)
    find_spans(device, modules)
    return device


def read_gpu(host, plane, modules):
    device = Device(host, plane.name, "gpu")
    lines = [line for line in plane.lines.values() if line.name.startswith("Stream #")]
    events = [(event.start, -event.duration, i, event)
              for i, line in enumerate(lines) for event in line.events]
    add_streams(device, sorted(events, key=lambda e: e[:3]), modules)
    find_launches(device, modules)
    return device


def add_streams(device, events, modules):
    """Consecutive kernels of one instruction on one stream are one execution.

    A kernel's name that comes again begins the next one if another instruction of the program
    began in between, on any stream, or if no other one of its computation does any work.
    """
    last, began = {}, {}
    for _, _, stream, event in events:
        device.intervals.append((event.start, event.end))
        program, op = program_of(event.stats), event.name
        if "hlo_op" not in event.stats:
            device.executions.append(
                Execution(None, op, event.start, event.end, event.start, event.duration, event))
            last[stream] = None
            continue
        op = op_name(modules, program, event.stats["hlo_op"].split("::")[-1])
        before, module = last.get(stream), modules.get(program)
        same = before and (before.program, before.op) == (program, op)
        again = same and event.name in before.kernels and (
            not module or module.alone(op) or began.get(program) != op)
        began[program] = op
        if same and not again:
            before.time += event.duration
            before.last = max(before.last, event.end)
            before.kernels.add(event.name)
            continue
        last[stream] = Execution(
            program, op, event.start, event.end, event.start, event.duration, event)
        device.executions.append(last[stream])


def read_cpu(host, plane, modules):
    """XLA:CPU has no device plane: ops lie on host lines and say which device they belong to.
    Another event with the launch's number and its device lasts until the launch is done."""
    devices, waits = {}, {}
    for line in plane.lines.values():
        ops = collections.defaultdict(list)
        for event in line.events:
            if "hlo_op" in event.stats and "device_ordinal" in event.stats:
                ops[event.stats["device_ordinal"]].append(event)
            elif "run_id" in event.stats and "device_ordinal" in event.stats:
                waits[event.stats["device_ordinal"], event.stats["run_id"]] = event.end
        for ordinal, events in ops.items():
            device = devices.setdefault(ordinal, Device(host, f"/device:CPU:{ordinal}", "cpu"))
            add_nested(device, events, modules, describe_host)
    for ordinal, device in devices.items():
        device.waits = {run: end for (where, run), end in waits.items() if where == ordinal}
        find_runs(device)
    return [devices[ordinal] for ordinal in sorted(devices)]


def find_runs(device):
    starts = {}
    for execution in device.executions:
        key = execution.program, execution.event.stats["run_id"]
        starts[key] = min(starts.get(key, execution.start), execution.start)
    for (program, run), start in sorted(starts.items(), key=lambda item: item[1]):
        device.launches[program].append((start, start))
        if run in device.waits:
            device.done[program, start] = device.waits[run]


def read_devices(host, planes, modules):
    devices = [read_tpu(host, p, modules) for n, p in planes.items() if TPU_PLANE.match(n)]
    devices += [read_gpu(host, p, modules) for n, p in planes.items() if GPU_PLANE.match(n)]
    if not devices and "/host:CPU" in planes:
        devices = read_cpu(host, planes["/host:CPU"], modules)
    return [device for device in devices if device.intervals]


# ---- hosts --------------------------------------------------------------------------------------

class Host:
    """One file of a run."""

    def __init__(self, path):
        self.name = path.name.removesuffix(".xplane.pb").removesuffix(".trace.json.gz")
        if path.name.endswith(".xplane.pb"):
            planes = xplane.read_xspace(path)
            self.modules = read_modules(planes)
        else:
            planes = trace.read_trace(path)
            self.modules = trace.read_modules(planes)
        self.devices = read_devices(self.name, planes, self.modules)
        plane = planes.get("/host:CPU", xplane.Plane(""))
        self.events = [event for line in plane.lines.values() for event in line.events]

    def annotations(self):
        marks = [e for e in self.events if "_r" in e.stats and "step_num" in e.stats]
        return sorted(marks, key=lambda e: e.start)

    def disturbances(self):
        return [e for e in self.events if DISTURBANCE.match(e.name)]

    def compiles(self):
        return sum(e.name.startswith("backend_compile") for e in self.events)

    def allocators(self):
        """Allocator name or device number -> {peaks, capacity, samples}."""
        found = {}
        for event in self.events:
            if event.name in ("MemoryAllocation", "MemoryDeallocation"):
                note_allocator(found, event.stats)
        return found


def note_allocator(found, stats):
    name = next((stats[key] for key in ("allocator_name", "device_ordinal", "index_on_host")
                 if key in stats), "")
    row = found.setdefault(str(name), {"window": 0, "lifetime": 0, "capacity": 0})
    used = stats.get("bytes_reserved", 0) + stats.get("bytes_allocated", 0)
    row["window"] = max(row["window"], used)
    row["lifetime"] = max(row["lifetime"], stats.get("peak_bytes_in_use", 0))
    row["capacity"] = max(row["capacity"], used + stats.get("bytes_available", 0))


# ---- steps --------------------------------------------------------------------------------------

def launch_list(device):
    """All executions of programs on a device, in order."""
    found = []
    for program, starts in device.launches.items():
        starts = sorted(starts)
        launches = [Launch(program, start, device.done.get((program, start), start), host_start)
                    for start, host_start in starts]
        at = 0
        for execution in sorted(device.executions, key=lambda e: e.start):
            if execution.program != program or execution.start < starts[0][0]:
                continue
            while at + 1 < len(launches) and launches[at + 1].start <= execution.start:
                at += 1
            launches[at].end = max(launches[at].end, execution.last)
        found += launches
    return sorted(found, key=lambda launch: launch.start)


def cut_out(launches, begin, until):
    """[begin, until) without what belongs to no step and runs beside none of the step's work."""
    stretches, at, own_end = [], begin, begin
    inside = [launch for launch in launches if begin <= launch.start < until]
    for i, launch in enumerate(inside):
        if launch.label is not None:
            own_end = max(own_end, launch.end)
            continue
        if i and inside[i - 1].label is None:
            continue
        run = list(itertools.takewhile(lambda other: other.label is None, inside[i:]))
        behind = inside[i + len(run):]
        low = max(run[0].start, own_end)
        high = min(max(other.end for other in run), behind[0].start if behind else until)
        if high > low:
            stretches.append((at, low))
            at = high
    stretches.append((at, until))
    return [(start, end) for start, end in stretches if end > start]


def labelled_steps(launches, number_of, alone):
    """A step lasts until the next begins; the last ends with its own work and is not complete."""
    labels, shift = [], 0
    for launch in launches:
        shift = launch.host_start - launch.start
        if launch.label is not None and launch.label not in labels:
            labels.append(launch.label)
    begin = {label: min(x.start for x in launches if x.label == label) for label in labels}
    steps = []
    for i, label in enumerate(labels):
        own_end = max(x.end for x in launches if x.label == label)
        last = i + 1 == len(labels)
        until = own_end if last or alone else begin[labels[i + 1]]
        stretches = cut_out(launches, begin[label], until)
        steps.append(Step(number_of(label), stretches, begin[label] + shift, until + shift,
                          alone or not last))
    return steps


def smallest_period(names):
    for period in range(1, len(names) // 3 + 1):
        if all(a == b for a, b in zip(names, names[period:])):
            return period
    return None


def longest_wait(launches, period):
    """Where in the period the device waits longest, over all of its periods."""
    waits, reached = [0] * period, launches[0].end
    for i, launch in enumerate(launches[:len(launches) - len(launches) % period]):
        if i:
            waits[i % period] += max(0, launch.start - reached)
        reached = max(reached, launch.end)
    return waits.index(max(waits))


def end_is_unseen(device, steps):
    """The last mark ends with its work, and the two before it hold a wait: its own comes behind."""
    def wait(step):
        start = step.stretches[0][0]
        ends = [min(end, step.end) for begin, end in device.intervals if start <= begin < step.end]
        return step.end - max(ends, default=start)
    usual = min((wait(step) for step in steps[1:-1][-2:]), default=0)
    return usual > 0.01 * steps[-1].time and 2 * wait(steps[-1]) < usual


def line_steps(device):
    steps = []
    for i, event in enumerate(device.steps_line):
        start, duration = device_clock(event)
        number = event.stats.get("step_num", event.name)
        number = int(number) if str(number).isdigit() else i
        steps.append(Step(number, [(start, start + duration)], event.start, event.end))
    if steps and steps[-1].time * 2 < statistics.median(step.time for step in steps):
        steps[-1].complete = False
    elif steps and end_is_unseen(device, steps):
        steps[-1].complete = False
    return steps


def mark_warmup(steps, disturbances):
    for i, step in enumerate(steps):
        disturbed = any(e.start < step.host_end and e.end > step.host_start for e in disturbances)
        step.warmup = disturbed or (i == 0 and len(steps) >= 3)


class Run:
    """All hosts of a run directory, measured."""

    def __init__(self, folder):
        paths = sorted(pathlib.Path(folder).glob("*.xplane.pb"))
        self.is_trace = not paths
        paths = paths or sorted(pathlib.Path(folder).glob("*.trace.json.gz"))
        self.hosts = [Host(path) for path in paths]
        self.devices = [device for host in self.hosts for device in host.devices]
        self.modules = {}
        for host in self.hosts:
            self.modules.update(host.modules)
        self.main = self._main_program()
        self.source = self._find_steps()
        for host in self.hosts:
            for device in host.devices:
                mark_warmup(device.steps, host.disturbances())
        self.steady = self._steady_numbers()
        if not self.steady:
            self._whole_window()

    def _main_program(self):
        """Most self time among those launched at least twice on some device."""
        time = collections.Counter()
        for device in self.devices:
            for execution in device.executions:
                time[execution.program] += execution.time
        repeated = [p for p in time if p is not None
                    and any(device.runs_of(p) >= 2 for device in self.devices)]
        return max(repeated, key=lambda p: time[p], default=None)

    def _find_steps(self):
        if any(device.steps_line for device in self.devices):
            for device in self.devices:
                device.steps = line_steps(device)
            return "steps-line"
        for device in self.devices:
            device.all_launches = launch_list(device)
        if self._marked():
            return "annotation"
        self._periodic()
        return "program"

    def _name(self, program):
        return getattr(self.modules.get(program), "name", program)

    def _marked(self):
        """Work belongs to the mark of its host that it runs in, if the job waits there for it;
        else the marks must divide each program's executions."""
        found = False
        for host in self.hosts:
            marks = host.annotations()
            for device in host.devices:
                launches = device.all_launches
                for launch in launches:
                    inside = [i for i, mark in enumerate(marks)
                              if mark.start <= launch.host_start < mark.end]
                    launch.label = inside[0] if inside else None
                behind = [x for x in launches if x.label is not None and x.end - x.start
                          + x.host_start > marks[x.label].end + CLOCK_SLACK]
                idle = len(marks) - len({x.label for x in launches} - {None})
                if (20 * len(behind) > sum(x.label is not None for x in launches)
                        or 20 * idle > len(marks)):
                    self._by_order(launches, len(marks))
                device.steps = labelled_steps(
                    launches, lambda i, marks=marks: marks[i].stats["step_num"], False)
                found = found or bool(device.steps)
        return found

    @staticmethod
    def _by_order(launches, marks):
        by_program = collections.defaultdict(list)
        for launch in launches:
            launch.label = None
            by_program[launch.program].append(launch)
        for group in by_program.values():
            if marks and len(group) % marks == 0:
                for i, launch in enumerate(group):
                    launch.label = i // (len(group) // marks)

    def _periodic(self):
        """A period of the modules' sequence is a step; what is in none is left out, the least
        first.  A module's longest execution on each device does not count, so what ran once is in
        no period.  A server's step is one execution."""
        time = collections.Counter()
        for device in self.devices:
            lengths = collections.defaultdict(list)
            for launch in device.all_launches:
                lengths[self._name(launch.program)].append(launch.end - launch.start)
            for name, all_of_it in lengths.items():
                time[name] += sum(all_of_it) - max(all_of_it)
        names = [name for name, sum_ps in time.most_common() if sum_ps > 0]
        alone = bool(names) and bool(SERVER.search(str(names[0])))
        names = names[:1] if alone else names
        periods = []
        while names:
            kept = [[x for x in device.all_launches if self._name(x.program) in names]
                    for device in self.devices]
            periods = [smallest_period([self._name(x.program) for x in launches])
                       for launches in kept]
            if all(period for launches, period in zip(kept, periods) if launches):
                break
            names.pop()
        for device, launches, period in zip(self.devices, kept if names else [], periods):
            first = longest_wait(launches, period) if launches else 0
            for i, launch in enumerate(launches[first:]):
                launch.label = i // period
            device.steps = labelled_steps(device.all_launches, int, alone)

    def _steady_numbers(self):
        """Steps that are complete and not warm-up on every device that has them."""
        states = collections.defaultdict(list)
        for device in self.devices:
            for step in device.steps:
                states[step.number].append(step.complete and not step.warmup)
        return sorted(number for number, state in states.items() if all(state))

    def _whole_window(self):
        self.source, self.steady = "window", [0] if self.devices else []
        for device in self.devices:
            device.steps = [Step(0, [(device.start, device.end)], 0, device.end)]
            device.steps[0].whole_window = True

    # ---- what the tables hold ---------------------------------------------------------------

    def steady_steps(self, device):
        return [step for step in device.steps if step.number in self.steady]

    def step_time(self):
        """Median steady step of the device whose steps end last; the longest device's window."""
        with_steps = [device for device in self.devices if self.steady_steps(device)]
        if not with_steps:
            return None
        if self.source == "window":
            return max(device.steps[0].time for device in with_steps) / SECOND
        last = max(with_steps, key=lambda device: device.steps[-1].host_end)
        return statistics.median(step.time for step in self.steady_steps(last)) / SECOND

    def in_steps(self):
        """The programs of the steps; None where every program is."""
        if self.source in ("steps-line", "window"):
            return None
        return {launch.program for device in self.devices for launch in device.all_launches
                if launch.label is not None}

    def programs(self):
        """Program id -> (launches over all devices, planned bytes)."""
        launches = collections.Counter()
        for device in self.devices:
            for program in device.launches:  # a module event without ops leaves nothing to judge
                launches[program] += device.runs_of(program)
        return {p: (n, self.modules[p].planned_bytes() if p in self.modules else None)
                for p, n in launches.items() if n}

    def steady_executions(self):
        for device in self.devices:
            steps = self.steady_steps(device)
            for execution in device.executions:
                if any(step.holds(execution) for step in steps):
                    yield execution

    def other_executions(self):
        """Of the programs outside the steps, all but those that run beside a step's work."""
        ours = self.in_steps()
        for device in self.devices:
            for execution in device.executions:
                if (ours is not None and execution.program is not None
                        and execution.program not in ours
                        and not any(step.holds(execution) for step in device.steps)):
                    yield execution

    def ops(self):
        """(program, op) -> executions of the steady steps on all devices; outside them, all."""
        found = collections.defaultdict(list)
        for execution in [*self.steady_executions(), *self.other_executions()]:
            found[execution.program, execution.op].append(execution)
        return found

    def flops(self, program, op, execution):
        """Matmul and convolution FLOPs per execution; None for other ops."""
        module = self.modules.get(program)
        if not module or op not in module.home:
            return None
        kernel = module.kernel_flops(op) if hasattr(module, "kernel_flops") else None
        if kernel is not None:
            return kernel
        counted = module.matmul_flops(op)
        if counted is None or "hlo_category" not in execution.event.meta:
            return counted
        stats = execution.event.meta
        return stats.get("model_flops") or stats.get("flops")

    def transfers(self):
        """Direction -> (count, bytes or None) over all devices and steady steps."""
        found, ours = collections.defaultdict(list), self.in_steps()
        for execution in self.steady_executions():
            if ours is not None and execution.program is not None and execution.program not in ours:
                continue
            direction = transfer_direction(execution.event)
            if direction:
                found[direction].append(transfer_bytes(execution.event))
        return {direction: (len(sizes), None if None in sizes else sum(sizes))
                for direction, sizes in found.items()}

    def allocators(self):
        return {(host.name, name): row for host in self.hosts
                for name, row in host.allocators().items()}

    def compiles(self):
        return sum(host.compiles() for host in self.hosts)


EXACT_SAMPLES = 256
OCTAVE = 512


def bucket_middle(value):
    """The middle of a duration's bucket: each value below 1024 ps, then 512 buckets an octave."""
    if value < 2 * OCTAVE:
        return value
    shift = value.bit_length() - 1 - OCTAVE.bit_length() + 1
    low = value >> shift << shift
    return low + ((1 << shift) - 1) / 2


def median(values):
    """Exact up to 256 samples; beyond, durations stand for the middle of their bucket."""
    values = sorted(values)
    if len(values) <= EXACT_SAMPLES:
        return statistics.median(values)
    middles = [min(max(bucket_middle(v), values[0]), values[-1]) for v in values]
    return statistics.median(middles)


def times(executions):
    """count, total, median and longest of self times, in seconds."""
    values = [execution.time for execution in executions]
    return (len(values), sum(values) / SECOND, median(values) / SECOND, max(values) / SECOND)


def hbm_bytes(event):
    """HBM bytes of one execution as a TPU profile says; None elsewhere and for loops."""
    if event.meta.get("hlo_category") in HOLDERS:
        return None
    if isinstance(event.meta.get("memory_access_breakdown"), bytes):
        parts = hlo.messages(hlo.collect(event.meta["memory_access_breakdown"]), 1)
        return sum(hlo.one_int(p, 3) for p in parts if hlo.one_int(p, 2) == IN_HBM)
    return event.meta.get("bytes_accessed")


def transfer_direction(event):
    found = TRANSFER.match(event.name)
    if not found:
        copies = event.name.startswith(COPY_KERNEL) and "hlo_op" not in event.stats
        return "unknown" if copies or "memcpy_details" in event.stats else None
    return (found[1] or f"{found[2][0]}2{found[3][0]}").lower()


def transfer_bytes(event):
    found = re.search(r"\b(?:size|num_bytes):(\d+)", event.stats.get("memcpy_details", ""))
    return int(found[1]) if found else None
