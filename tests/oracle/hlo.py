"""An HloProto as far as the oracle needs it: who calls whom, matmul FLOPs, planned memory."""

import functools
import json
import math
import re

from xplane import fields, ints, signed, text

ALLOC, FREE, SHARE_WITH = 0, 1, 2
HBM = 0                              # the memory space whose bytes are counted
# Opcodes that name values and launch nothing.
IDLE = ("add-dependency", "after-all", "bitcast", "constant", "domain", "get-dimension-size",
        "get-tuple-element", "opt-barrier", "parameter", "partition-id", "replica-id",
        "set-dimension-size", "tuple")
INLINED = ("fusion", "call", "async-start")   # their computation runs once per execution


def collect(data):
    """Every field of a message: number -> list of (wire type, value)."""
    found = {}
    for number, wire, value in fields(data):
        found.setdefault(number, []).append((wire, value))
    return found


def one_int(found, number, default=0):
    return signed(found[number][-1][1]) if number in found else default


def one_text(found, number):
    return text(found[number][-1][1]) if number in found else ""


def one_message(found, number):
    return collect(found[number][-1][1]) if number in found else {}


def messages(found, number):
    return [collect(value) for _, value in found.get(number, [])]


def all_ints(found, number):
    return [n for wire, value in found.get(number, []) for n in ints(wire, value)]


class Shape:
    def __init__(self, found):
        self.dims = all_ints(found, 3)
        self.parts = [Shape(part) for part in messages(found, 4)]

    def array(self):
        """The shape itself, or the first of a tuple: what a library call computes."""
        return self.parts[0].array() if self.parts else self

    def elements(self):
        return math.prod(self.dims)


class Instruction:
    def __init__(self, found):
        self.found = found
        self.name = one_text(found, 1)
        self.opcode = one_text(found, 2)
        self.shape = Shape(one_message(found, 3))
        self.id = one_int(found, 35)
        self.operands = all_ints(found, 36)
        self.called = all_ints(found, 38)
        self.element = one_int(found, 13)        # of a tuple, that a get-tuple-element takes
        self.target = one_text(found, 28)


class Computation:
    def __init__(self, found):
        self.id = one_int(found, 5)
        self.instructions = [Instruction(part) for part in messages(found, 2)]
        self.by_id = {i.id: i for i in self.instructions}
        self.root = self.by_id.get(one_int(found, 6))

    def operand(self, instruction, index):
        return self.by_id[instruction.operands[index]].shape.array()


class Module:
    """The HloProto's module and its buffer assignment."""

    def __init__(self, data):
        found = collect(data)
        module = one_message(found, 1)
        self.name = one_text(module, 1)
        self.entry = one_int(module, 6)
        computations = [Computation(part) for part in messages(module, 3)]
        self.computations = {c.id: c for c in computations}
        self.home = {i.name: c for c in computations for i in c.instructions}
        self.by_name = {i.name: i for c in computations for i in c.instructions}
        self.buffers = one_message(found, 3)

    # ---- names ------------------------------------------------------------------------------

    def instruction_named(self, name):
        """The instruction a profiled op name means: exact, without %, without .N, with -start."""
        bare = name.removeprefix("%")
        stripped = re.sub(r"\.\d+$", "", bare)
        for candidate in (name, bare, stripped, bare + "-start", stripped + "-start"):
            if candidate in self.home:
                return candidate
        return None

    def instruction(self, name):
        return self.by_name[name]

    @functools.cached_property
    def once(self):
        """Computations that the entry reaches without a loop between."""
        seen, todo = set(), [self.entry]
        while todo:
            computation = todo.pop()
            if computation in seen or computation not in self.computations:
                continue
            seen.add(computation)
            for instruction in self.computations[computation].instructions:
                if instruction.opcode != "while":
                    todo += instruction.called
        return seen

    def runs_once(self, name):
        return self.home[name].id in self.once

    def alone(self, name):
        """No other instruction of its computation does any work."""
        if name not in self.home:
            return True
        return sum(i.opcode not in IDLE for i in self.home[name].instructions) < 2

    def starts_of(self, name):
        """The starts of the async pairs whose done this may be; none for any other op.

        A loop may carry what is in flight: then one start stands before it and one in its body.
        """
        if name not in self.home or not self.instruction(name).opcode.endswith("-done"):
            return []
        home = self.home[name]
        found, seen = [], set()
        todo = [(home, home.by_id[self.instruction(name).operands[0]], ())]
        while todo:
            home, value, path = todo.pop()
            if value is None or (value.name, path) in seen:
                continue
            seen.add((value.name, path))
            if value.opcode.endswith("-start"):
                found.append(value.name)
            todo += self._came_from(home, value, path)
        return found

    def _came_from(self, home, value, path):
        """Where element `path` of a value was made: through tuples and the state of loops."""
        operands = [home.by_id[o] for o in value.operands]
        if value.opcode == "get-tuple-element":
            return [(home, operands[0], (value.element, *path))]
        if value.opcode == "tuple" and path:
            return [(home, operands[path[0]], path[1:])]
        if value.opcode == "while":
            bodies = [self.computations[c] for c in value.called]
            return [(home, operands[0], path)] + [(b, b.root, path) for b in bodies]
        if value.opcode == "parameter":
            return [(c, i, path) for c in self.computations.values() for i in c.instructions
                    if i.opcode == "while" and home.id in i.called]
        return []

    # ---- FLOPs ------------------------------------------------------------------------------

    def matmul_flops(self, name):
        """FLOPs of the dots and convolutions in one execution; None when there are none."""
        return self._flops(self.home[name], self.instruction(name))

    def _flops(self, home, instruction):
        if instruction.opcode in INLINED:
            inner = [self._flops(self.computations[c], i) for c in instruction.called
                     for i in self.computations[c].instructions]
            counted = [flops for flops in inner if flops is not None]
            return sum(counted) if counted else None
        if instruction.opcode in ("dot", "ragged-dot"):
            return dot_flops(home, instruction)
        if instruction.opcode == "convolution":
            return convolution_flops(home, instruction, ("lhs", "rhs", "result"))
        if instruction.opcode == "custom-call":
            return library_flops(home, instruction)
        return None

    # ---- memory -----------------------------------------------------------------------------

    def planned_bytes(self):
        """HBM the compiler allocates: what lives throughout, and what temporaries share."""
        if not self.buffers:
            return None
        allocations = [a for a in map(Allocation, messages(self.buffers, 3))
                       if a.color == HBM and not a.thread_local]
        sizes = {one_int(b, 1): one_int(b, 2) for b in messages(self.buffers, 1)}
        return sum(a.size for a in allocations
                   if not a.lasting or any(sizes[b] for b in a.assigned))


class Allocation:
    def __init__(self, found):
        self.size = one_int(found, 2)
        self.color = one_int(found, 8)
        self.assigned = [one_int(part, 1) for part in messages(found, 9)]
        self.thread_local = bool(one_int(found, 3))     # a runtime's scratch, not the device's
        self.lasting = any(one_int(found, n) for n in (5, 7, 12))   # parameter, output, constant


# ---- FLOPs of one instruction -------------------------------------------------------------------

def dot_flops(home, instruction):
    dims = one_message(instruction.found, 30)
    if instruction.opcode == "ragged-dot":
        dims = one_message(one_message(instruction.found, 90), 1)
    return product_flops(home, instruction, all_ints(dims, 1))


def product_flops(home, instruction, lhs_contracting):
    lhs = home.operand(instruction, 0)
    depth = math.prod(lhs.dims[d] for d in lhs_contracting)
    return 2 * instruction.shape.array().elements() * depth


def library_flops(home, instruction):
    """A custom call that is a matmul or a convolution; None for any other."""
    if instruction.target.startswith("__cublas$"):
        config = json.loads(one_text(instruction.found, 43))["gemm_backend_config"]
        dims = config["dot_dimension_numbers"].get("lhs_contracting_dimensions", [])
        return product_flops(home, instruction, [int(d) for d in dims])
    roles = {
        "__cudnn$convForward": ("lhs", "rhs", "result"),
        "__cudnn$convForwardGraph": ("lhs", "rhs", "result"),
        "__cudnn$convBiasActivationForward": ("lhs", "rhs", "result"),
        "__cudnn$convBackwardInput": ("result", "rhs", "lhs"),
        "__cudnn$convBackwardFilter": ("lhs", "result", "rhs"),
    }.get(instruction.target)
    return convolution_flops(home, instruction, roles) if roles else None


def convolution_flops(home, instruction, roles):
    """2 x input features per group x output features x batch per group x valid positions."""
    shapes = {"lhs": home.operand(instruction, 0), "rhs": home.operand(instruction, 1),
              "result": instruction.shape.array()}
    image, _, output = (shapes[role].dims for role in roles)
    numbers = one_message(instruction.found, 16)
    windows = messages(one_message(instruction.found, 15), 1)
    features = image[one_int(numbers, 8)] // max(1, one_int(instruction.found, 50))
    batch = image[one_int(numbers, 7)] // max(1, one_int(instruction.found, 58))
    positions = math.prod(
        valid_positions(image[i], output[o], window) for i, o, window in
        zip(all_ints(numbers, 11), all_ints(numbers, 12), windows))
    return 2 * features * output[one_int(numbers, 10)] * batch * positions


def valid_positions(size, outputs, window):
    """Pairs of kernel and output position that meet an element, not padding or a hole."""
    taps, stride = one_int(window, 1), one_int(window, 2, 1) or 1
    low = one_int(window, 3)
    spread, hole = one_int(window, 5, 1) or 1, one_int(window, 6, 1) or 1
    valid = 0
    for tap in range(taps):
        for place in range(outputs):
            at = place * stride - low + tap * spread
            valid += at % hole == 0 and 0 <= at // hole < size
    return valid
