"""A trace viewer's JSON as the planes that xplane.py makes of an XSpace.

The json module reads it whole; what an event's own HLO text says is read here by its letters.
"""

import bisect
import gzip
import json
import re

import xplane

PROGRAM_IN_NAME = re.compile(r"\((\d+)\)$")
ARRAY = re.compile(r"\b(pred|[a-z]+\d+\w*)\[([\d,]*)\](?:\{([^{}]*)\})?")
MATMUL_CATEGORIES = ("convolution fusion", "convolution", "dot")
COLLECTIVES = ("all-reduce", "all-gather", "all-to-all", "reduce-scatter", "collective-permute")


def load(path):
    data = path.read_bytes()
    document = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    return document if isinstance(document, list) else document["traceEvents"]


def value(text):
    """An argument, which is a text whatever it was."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def ps(microseconds):
    return round(microseconds * 1_000_000)


def make_event(event):
    args = {key: value(arg) if isinstance(arg, str) else arg
            for key, arg in event.get("args", {}).items()}
    args.pop("memory_access_breakdown", None)       # "<opaque bytes>"
    if "hlo_module" in args:
        args["module"] = args["hlo_module"]
    if "step_num" in args:
        args["_r"] = 1
    long_name = args.get("long_name")
    return xplane.Event(long_name or event["name"], event["name"] if long_name else "", args,
                        ps(event["ts"]), ps(event.get("dur", 0)), args)


def place_programs(plane):
    """On TPU an op belongs to the program whose module event it lies in, by the device's clock."""
    def clock(event):
        start = event.stats.get("device_offset_ps", event.start)
        return start, start + event.stats.get("device_duration_ps", event.duration)

    lines = {line.name: line for line in plane.lines.values()}
    if "XLA Modules" not in lines or "XLA Ops" not in lines:
        return
    runs = sorted(clock(event) + (PROGRAM_IN_NAME.search(event.name),)
                  for event in lines["XLA Modules"].events)
    starts = [run[0] for run in runs]
    for event in lines["XLA Ops"].events:
        at = clock(event)[0]
        i = bisect.bisect_right(starts, at) - 1
        if i >= 0 and at < runs[i][1] and runs[i][2]:
            event.stats["program_id"] = int(runs[i][2][1])


def read_trace(path):
    planes, by_pid, threads = {}, {}, {}
    events = load(path)
    for event in events:
        if event.get("ph") == "M" and event["name"] == "process_name":
            name = event["args"]["name"]
            by_pid[event["pid"]] = planes.setdefault(name, xplane.Plane(name))
        elif event.get("ph") == "M" and event["name"] == "thread_name":
            threads[event["pid"], event["tid"]] = event["args"]["name"]
    for event in events:
        if event.get("ph") != "X":
            continue
        key = event["tid"]
        name = threads.get((event["pid"], key), "")
        line = by_pid[event["pid"]].lines.setdefault(key, xplane.Line(key, name))
        line.events.append(make_event(event))
    for plane in planes.values():
        place_programs(plane)
    return planes


# ---- what the text of an instruction says -------------------------------------------------------

def split_text(text):
    """(result, opcode, operands) of "%name = result opcode(operands), attributes"."""
    _, _, rest = text.partition(" = ")
    end = closing(rest, 0) if rest.startswith("(") else rest.index(" ")
    result, rest = rest[:end], rest[end:].lstrip()
    opening = rest.index("(")
    return result, rest[:opening], rest[opening:closing(rest, opening)]


def closing(text, at):
    """The position behind the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if depth == 0:
            return i + 1
    raise ValueError("a bracket is not closed")


def bits(kind):
    return 8 if kind == "pred" else int(re.search(r"\d+", kind)[0])


def array_bytes(kind, dims):
    elements = 1
    for dim in filter(None, dims.split(",")):
        elements *= int(dim)
    return -(-elements * bits(kind) // 8)


def hbm_arrays(text):
    """Dense bytes of the arrays in a text that lie in HBM: those without a memory space."""
    return sum(array_bytes(kind, dims) for kind, dims, layout in ARRAY.findall(text)
               if "S(" not in layout)


def operand_texts(operands):
    """Each operand once, types and all."""
    found, depth, word = {}, 0, ""
    for letter in operands[1:-1] + ",":
        if letter == "," and depth == 0:
            found[word.split("%")[-1].strip()] = word
            word = ""
            continue
        depth += (letter in "([{") - (letter in ")]}")
        word += letter
    return found.values()


def fusion_bytes(event):
    """What a fusion moves from and to HBM at the most: no more than it touches, nor than is there."""
    result, _, operands = split_text(event.name)
    arrays = hbm_arrays(result) + sum(map(hbm_arrays, operand_texts(operands)))
    return min(arrays, event.meta["bytes_accessed"])


def collective(event):
    """(message bytes, group size) of a collective by its text; None of anything else."""
    result, opcode, operands = split_text(event.name)
    if opcode not in COLLECTIVES:
        return None
    groups = re.search(r"replica_groups=\{\{([\d,]+)\}", event.name)
    iota = re.search(r"replica_groups=\[\d+,(\d+)\]", event.name)
    size = len(groups[1].split(",")) if groups else int(iota[1]) if iota else None
    whole = result if opcode == "all-gather" else operands
    return sum(array_bytes(kind, dims) for kind, dims, _ in ARRAY.findall(whole)), size


class Module:
    """What the ops that ran tell of their program: their names, pairs and categories."""

    def __init__(self):
        self.home = {}                              # name -> an event
        self.starts = {}                            # done -> start

    def add(self, event):
        if not event.display or event.display in self.home:
            return
        self.home[event.display] = event
        _, opcode, operands = split_text(event.name)
        if opcode.endswith("-done"):
            self.starts[event.display] = operands.rstrip(")").split("%")[-1]

    def instruction_named(self, name):
        return name if name in self.home else None

    def runs_once(self, _):
        return True

    def alone(self, _):
        return False

    def starts_of(self, op):
        return [self.starts[op]] if op in self.starts else []

    def matmul_flops(self, op):
        """Not what they are, only that there are some: the profile says how many."""
        return 0 if self.home[op].meta.get("hlo_category") in MATMUL_CATEGORIES else None

    def kernel_flops(self, op):
        """2MNK of a quantised matmul: x [M, K], w [N, K]; None for any other kernel."""
        if not op.startswith("quantized_matmul_kernel"):
            return None
        (_, x, _), (_, w, _) = ARRAY.findall(split_text(self.home[op].name)[2])[:2]
        m, k = map(int, x.split(","))
        return 2 * m * k * int(w.split(",")[0])

    def planned_bytes(self):
        return None


def read_modules(planes):
    found = {}
    for plane in planes.values():
        for line in plane.lines.values():
            for event in line.events if line.name == "XLA Ops" else ():
                if "program_id" in event.stats and event.name.startswith("%"):
                    found.setdefault(str(event.stats["program_id"]), Module()).add(event)
    return found
