"""HLO modules: instructions, their cost, their text and their protos.

Costs follow XLA's own cost analysis: a matmul is 2*M*N*K, an elementwise op one
FLOP per element of its result, a transcendental none, bytes are the dense
operands plus the result, a slice counts what it touches, a fusion what its
computation does with its parameters, a while loop one iteration.
"""

import itertools
import math
import re
import struct

from shapes import Shape
from wire import Message

TRANSCENDENTAL = {
    "exponential",
    "log",
    "logistic",
    "power",
    "sqrt",
    "rsqrt",
    "cbrt",
    "tanh",
    "sine",
    "cosine",
    "exponential-minus-one",
    "log-plus-one",
    "atan2",
    "erf",
}
ELEMENTWISE = {
    "add",
    "subtract",
    "multiply",
    "divide",
    "maximum",
    "minimum",
    "negate",
    "abs",
    "sign",
    "select",
    "compare",
    "clamp",
    "convert",
    "and",
    "or",
    "xor",
    "not",
    "floor",
    "ceil",
}
SLICES = {"dynamic-slice", "slice", "gather"}
FREE = {"parameter", "constant", "bitcast", "get-tuple-element", "tuple", "after-all"}
COLLECTIVES = {
    "all-gather",
    "all-reduce",
    "reduce-scatter",
    "all-to-all",
    "collective-permute",
    "ragged-all-to-all",
    "collective-broadcast",
}


CHANNELS = {"send", "recv"}


def base_opcode(opcode):
    """`all-gather-start` and `all-gather-done` -> `all-gather`."""
    return re.sub(r"-(start|done)$", "", opcode)


class Groups:
    """Replica groups in one of three spellings: lists, iota, mesh axes."""

    def __init__(self, text, field=None):
        self.text, self.field = text, field

    def lists(self, devices):
        """The groups as lists of ids; empty means one group of everything."""
        if self.text.startswith("{"):
            rows = re.findall(r"\{([\d,]+)\}", self.text)
            return [[int(x) for x in r.split(",")] for r in rows] or [list(range(devices))]
        if self.text.startswith("mesh"):
            return self._mesh_lists()
        (count, size), dims, perm = self._iota()
        ids = transposed(dims, perm)
        return [ids[i * size : (i + 1) * size] for i in range(count)]

    def _iota(self):
        head, rest = self.text.split("<=")
        dims, perm = re.fullmatch(r"\[([\d,]+)\](?:T\(([\d,]+)\))?", rest).groups()
        dims = [int(d) for d in dims.split(",")]
        perm = [int(p) for p in perm.split(",")] if perm else list(range(len(dims)))
        return [int(x) for x in head.strip("[]").split(",")], dims, perm

    def _mesh(self):
        axes = [(n, int(s)) for n, s in re.findall(r"'(\w+)'=(\d+)", self.text)]
        used = re.findall(r"'(\w+)'", self.text.split("]")[1])
        return axes, [[n for n, _ in axes].index(u) for u in used]

    def _mesh_lists(self):
        axes, used = self._mesh()
        dims = [s for _, s in axes]
        rest = [i for i in range(len(dims)) if i not in used]
        ids = transposed(dims, rest + used)
        size = math.prod(dims[i] for i in used)
        return [ids[i : i + size] for i in range(0, len(ids), size)]

    def proto(self, out):
        """Into HloInstructionProto; `field` = 87 is the form of 2024-2025."""
        if self.text.startswith("mesh"):
            axes, used = self._mesh()
            mesh = Message()
            for name, size in axes:
                mesh.msg(1, Message().data(1, name).int(2, size))
            group = Message().msg(1, mesh)
            for index in used:
                group.msg(2, Message().int(1, index))
            out.msg(93, group)
        elif self.text.startswith("{"):
            rows = [] if self.text == "{}" else self.lists(0)
            groups = [Message().packed(1, row) for row in rows]
            if self.field == 87:
                listing = Message()
                for group in groups:
                    listing.msg(1, group)
                out.msg(87, listing)
            else:
                for group in groups:
                    out.msg(49, group)
        else:
            (count, size), dims, perm = self._iota()
            iota = Message().int(1, count).int(2, size).packed(3, dims).packed(4, perm)
            if self.field == 87:
                out.msg(87, Message().msg(2, iota))
            else:
                out.msg(92, iota)


def transposed(dims, perm):
    """arange(product(dims)) reshaped to dims, transposed by perm, flattened."""
    strides = [math.prod(dims[i + 1 :]) for i in range(len(dims))]
    ranges = [range(dims[p]) for p in perm]
    return [
        sum(i * strides[p] for i, p in zip(index, perm)) for index in itertools.product(*ranges)
    ]


class Instruction:
    """One HLO instruction.  attrs hold what only some opcodes have."""

    def __init__(
        self, name, opcode, shape, operands=(), called=(), op_name="", frame=0, source=None, **attrs
    ):
        self.name, self.opcode, self.shape = name, opcode, shape
        self.operands, self.called = list(operands), list(called)
        self.op_name, self.frame, self.source, self.attrs = op_name, frame, source, attrs
        self.id = 0


class Computation:
    def __init__(self, name, fusion=False):
        self.name, self.fusion = name, fusion
        self.instructions, self.root, self.id = [], None, 0

    def add(self, instruction):
        self.instructions.append(instruction)
        self.root = instruction
        return instruction

    def params(self):
        found = [i for i in self.instructions if i.opcode == "parameter"]
        return sorted(found, key=lambda i: i.attrs["number"])


# --- cost ---------------------------------------------------------------------


def matmul_sizes(instruction):
    """(M, N, K) of a 2-D convolution used as matmul, from its dim labels."""
    labels = instruction.attrs["dim_labels"]
    lhs, rest = labels.split("_")
    rhs = rest.split("->")[0]
    a, b = (o.shape.dims for o in instruction.operands[:2])
    return a[lhs.index("b")], b[rhs.index("o")], a[lhs.index("f")]


def flops(instruction):
    """FLOPs of one execution."""
    op = instruction.opcode
    if op == "convolution":
        m, n, k = matmul_sizes(instruction)
        return 2 * m * n * k
    if op == "dot":
        lhs = instruction.operands[0].shape.dims
        return (
            2
            * instruction.shape.elements()
            * math.prod(lhs[d] for d in instruction.attrs["dot"][0])
        )
    if op == "custom-call":
        return instruction.attrs.get("flops", 0)  # unknown to the compiler unless told
    if op in ELEMENTWISE:
        return instruction.shape.elements()
    if op == "reduce":
        return instruction.operands[0].shape.elements() - instruction.shape.elements()
    if op == "all-reduce":
        return instruction.shape.elements()
    if op == "fusion" and len(instruction.called) > 1:
        return 0
    if op in ("fusion", "call", "while"):
        return sum(flops(i) for c in instruction.called for i in c.instructions)
    return 0


def accesses(instruction):
    """[(kind, memory space, dense bytes)] with kind 'read' or 'write'."""
    op = instruction.opcode
    if op in FREE or op in ("while", "conditional"):
        return []
    if op == "fusion" and len(instruction.called) > 1:
        return []  # a megacore fusion: its parts count
    if op == "fusion" and instruction.name.startswith("async-collective"):
        return []
    if base_opcode(op) == "copy" and op != "copy":
        return copy_accesses(instruction)
    if op.endswith(("-start", "-done")) or op in CHANNELS:
        return []
    reads = []
    for index, operand in enumerate(instruction.operands):
        for leaf in operand.shape.leaves():
            reads.append(("read", leaf.space, read_bytes(instruction, index, leaf)))
    return reads + [("write", s, b) for s, b in result_bytes(instruction)]


def copy_accesses(instruction):
    """A copy's read is on the start when from HBM, its write on the done when to HBM."""
    start = instruction if instruction.opcode == "copy-start" else instruction.operands[0]
    target, origin = start.shape.parts[0], start.operands[0].shape
    if instruction.opcode == "copy-start":
        return [("read", origin.space, origin.dense_bytes())] if origin.space in (0, 1) else []
    return [("write", target.space, target.dense_bytes())] if target.space in (0, 1) else []


def read_bytes(instruction, index, leaf):
    """What an instruction reads of one operand."""
    if instruction.opcode == "fusion":
        param = instruction.called[0].params()[index]
        users = [i for i in instruction.called[0].instructions if param in i.operands]
        return min(leaf.dense_bytes(), sum(used_bytes(u, param) for u in users))
    return used_bytes(instruction, instruction.operands[index])


def used_bytes(user, operand):
    if user.opcode in SLICES and user.operands[0] is operand:
        return user.shape.dense_bytes()
    if user.opcode == "dynamic-update-slice" and user.operands[0] is operand:
        return 0
    return operand.shape.dense_bytes()


def result_bytes(instruction):
    """[(space, bytes)] of what is written; an in-place update writes the update."""
    root = instruction.called[0].root if instruction.opcode == "fusion" else instruction
    if root.opcode == "dynamic-update-slice":
        return [(instruction.shape.space, root.operands[1].shape.dense_bytes())]
    return [(leaf.space, leaf.dense_bytes()) for leaf in instruction.shape.leaves()]


def bytes_accessed(instruction):
    """What the compiler's cost analysis says; a copy counts on start and done."""
    if base_opcode(instruction.opcode) == "copy" and instruction.opcode != "copy":
        start = instruction if instruction.opcode == "copy-start" else instruction.operands[0]
        return start.operands[0].shape.dense_bytes()
    return sum(b for _, _, b in accesses(instruction))


def hbm_bytes(instruction, gpu=False):
    """Dense bytes to and from device memory; on a GPU S(1) is device memory too."""
    spaces = (0, 1, 2) if gpu else (0,)
    return sum(b for _, s, b in accesses(instruction) if s in spaces)


# --- text -----------------------------------------------------------------------


def instruction_text(instruction):
    """The HLO line as a TPU profile carries it: operands with their shapes."""
    args = [f"{o.shape.text()} %{o.name}" for o in instruction.operands]
    args = ", ".join(f"/*index={i}*/{a}" if i and i % 5 == 0 else a for i, a in enumerate(args))
    if instruction.opcode == "constant":
        args = literal_text(instruction.attrs["value"])
    if instruction.opcode == "parameter":
        args = str(instruction.attrs["number"])
    tail = ", ".join(attribute_texts(instruction))
    return f"%{instruction.name} = {instruction.shape.text()} {instruction.opcode}({args})" + (
        ", " + tail if tail else ""
    )


def literal_text(value):
    return f"{value:g}"


def braces(values):
    return "{" + ",".join(map(str, values)) + "}"


def attribute_texts(instruction):
    a, out = instruction.attrs, []
    if a.get("channel"):
        out.append(f"channel_id={a['channel']}")
    if a.get("groups"):
        out.append(f"replica_groups={a['groups'].text}")
    if a.get("pairs"):
        out.append("source_target_pairs={" + ",".join(braces(p) for p in a["pairs"]) + "}")
    if "dimensions" in a:
        out.append(f"dimensions={braces(a['dimensions'])}")
    if a.get("global_ids"):
        out.append("use_global_device_ids=true")
    if a.get("host_transfer"):
        out.append("is_host_transfer=true")
    if a.get("frontend"):
        pairs = ",".join(f'{k}="{v}"' for k, v in sorted(a["frontend"].items()))
        out.append(f"frontend_attributes={{{pairs}}}")
    if "dim_labels" in a:
        out.append(f"dim_labels={a['dim_labels']}")
    if "dot" in a:
        out.append(
            f"lhs_contracting_dims={braces(a['dot'][0])}, "
            f"rhs_contracting_dims={braces(a['dot'][1])}"
        )
    if "slice_sizes" in a:
        out.append(f"dynamic_slice_sizes={braces(a['slice_sizes'])}")
    if "direction" in a:
        out.append(f"direction={a['direction']}")
    if "tuple_index" in a:
        out.append(f"index={a['tuple_index']}")
    if "target" in a:
        out.append(f'custom_call_target="{a["target"]}"')
    if "fusion_kind" in a:
        out.append(f"kind={a['fusion_kind']}")
    return out + called_texts(instruction)


def called_texts(instruction):
    names = [f"%{c.name}" for c in instruction.called]
    if instruction.opcode == "conditional":
        return ["branch_computations={" + ", ".join(names[::-1]) + "}"]
    if instruction.opcode == "while":
        return [f"condition={names[1]}, body={names[0]}"]
    if not names:
        return []
    key = "calls" if instruction.opcode in ("fusion", "async-start") else "to_apply"
    return [f"{key}={names[0]}"]


# --- protos ---------------------------------------------------------------------


class Frames:
    """StackFrameIndexProto: interned files, functions, locations and frames."""

    def __init__(self):
        self.files, self.functions, self.locations, self.frames = [], [], [], []

    @staticmethod
    def _intern(table, value):
        if value not in table:
            table.append(value)
        return table.index(value) + 1

    def stack(self, entries):
        """entries = [(file, line, column, function)], innermost first; the id."""
        parent = 0
        for name, line, column, function in reversed(entries):
            where = (
                self._intern(self.files, name),
                self._intern(self.functions, function),
                line,
                column,
            )
            parent = self._intern(self.frames, (self._intern(self.locations, where), parent))
        return parent

    def proto(self):
        out = Message()
        for name in self.files:
            out.data(1, name)
        for name in self.functions:
            out.data(2, name)
        for file_id, function_id, line, column in self.locations:
            out.msg(3, Message().int(1, file_id).int(2, function_id).int(3, line).int(4, column))
        for location, parent in self.frames:
            out.msg(4, Message().int(1, location).int(2, parent))
        return out


class Module:
    """A compiled program: computations, the entry last, callees before callers."""

    def __init__(self, name, entry, module_id, partitions, tpu=True, wide_ids=False, frames=None):
        self.name, self.entry, self.id = name, entry, module_id
        self.partitions, self.tpu, self.wide_ids = partitions, tpu, wide_ids
        self.frames = frames or Frames()
        self.aliases = []  # [(output index, parameter number)]
        self.computations = []
        self.backend_config = None
        self._collect(entry)
        self._number()

    def _collect(self, computation):
        for instruction in computation.instructions:
            for callee in instruction.called:
                self._collect(callee)
        if computation not in self.computations:
            self.computations.append(computation)

    def _number(self):
        """Old files: small ids.  New ones: (computation id << 32) | index."""
        serial = itertools.count(1)
        for index, computation in enumerate(self.computations):
            if self.wide_ids:
                computation.id = index + 1
                for local, instruction in enumerate(computation.instructions):
                    instruction.id = computation.id << 32 | local
            else:
                for instruction in computation.instructions:
                    instruction.id = next(serial)
                computation.id = computation.root.id

    def proto(self):
        out = Message().data(1, self.name).data(2, self.entry.name)
        for computation in self.computations:
            out.msg(3, computation_proto(computation, self.tpu))
        out.msg(4, program_shape(self.entry)).int(5, self.id).int(6, self.entry.id)
        out.msg(7, self._schedule()).msg(8, self._aliases())
        devices = Message().int(1, 1).int(2, self.partitions)
        for device in range(self.partitions):
            devices.msg(3, Message().ints(1, [device]))
        return out.msg(15, devices).msg(17, self.frames.proto())

    def _schedule(self):
        out = Message()
        for c in self.computations:
            if not c.fusion:
                order = Message().packed(1, [i.id for i in c.instructions])
                out.msg(1, Message().int(1, c.id).msg(2, order))
        return out

    def _aliases(self):
        out = Message()
        for output, parameter in self.aliases:
            index = [output] if output is not None else []
            out.msg(1, Message().packed(1, index).int(2, parameter).int(4, 2))
        return out


def program_shape(computation):
    out, params = Message(), computation.params()
    for param in params:
        out.msg(1, param.shape.proto())
    out.msg(2, computation.root.shape.proto())
    for param in params:
        out.data(3, param.name, keep=True)
    return out


def computation_proto(computation, tpu):
    out = Message().data(1, computation.name)
    for instruction in computation.instructions:
        out.msg(2, instruction_proto(instruction, tpu))
    out.msg(4, program_shape(computation)).int(5, computation.id).int(6, computation.root.id)
    return out.int(7, int(computation.fusion))


def metadata_proto(instruction):
    """OpMetadata; `source` is (file, line) or None when only the frame is kept."""
    out = Message().data(1, instruction.op_name.rsplit("/", 1)[-1]).data(2, instruction.op_name)
    if instruction.source:
        out.data(3, instruction.source[0]).int(4, instruction.source[1])
    return out.int(15, instruction.frame)


def instruction_proto(instruction, tpu):
    """HloInstructionProto; fields 1, 2, 3, 7, 35, 68 and 82 are always there."""
    a, i = instruction.attrs, instruction
    out = (
        Message()
        .data(1, i.name)
        .data(2, i.opcode)
        .msg(3, i.shape.proto())
        .msg(7, metadata_proto(i))
    )
    if i.opcode == "constant":
        out.msg(8, literal_proto(i))
    out.int(9, a.get("number", 0)).data(11, a.get("fusion_kind", "")).int(
        13, a.get("tuple_index", 0)
    )
    out.packed(14, a.get("dimensions", []))
    if i.opcode == "convolution":
        out.msg(15, Message()).msg(16, convolution_proto(a["dim_labels"]))
    for start, limit in a.get("slice", []):
        out.msg(17, Message().int(1, start).int(2, limit).int(3, 1))
    out.packed(20, a.get("slice_sizes", [])).int(26, a.get("channel", 0)).data(
        28, a.get("target", "")
    )
    if "dot" in a:
        out.msg(30, Message().packed(1, a["dot"][0]).packed(2, a["dot"][1]))
    out.int(35, i.id, keep=True).packed(36, [o.id for o in i.operands])
    out.packed(38, [c.id for c in i.called]).data(43, a.get("backend_config", ""))
    out.int(47, int(bool(a.get("host_transfer"))))
    if i.opcode == "convolution":
        out.int(50, 1)
    if i.opcode in ("convolution", "dot"):
        out.msg(51, Message().packed(1, [0, 0]))
    for source, target in a.get("pairs", []):
        out.msg(52, Message().int(1, source).int(2, target))
    if i.opcode == "convolution":
        out.int(58, 1)
    frontend = Message()
    for key, value in sorted(a.get("frontend", {}).items()):
        frontend.msg(1, Message().data(1, key).data(2, value))
    out.data(63, a.get("direction", "")).msg(68, frontend)
    out.int(71, int(bool(a.get("global_ids"))))
    if i.opcode == "custom-call":
        out.int(77, a.get("api_version", 2))
    out.msg(82, Message())
    if a.get("groups"):
        a["groups"].proto(out)
    return out


def convolution_proto(labels):
    """ConvolutionDimensionNumbers of a matmul without spatial dimensions."""
    lhs, rest = labels.split("_")
    rhs, result = rest.split("->")
    return (
        Message()
        .int(3, rhs.index("i"))
        .int(4, rhs.index("o"))
        .int(7, lhs.index("b"))
        .int(8, lhs.index("f"))
        .int(9, result.index("b"))
        .int(10, result.index("f"))
    )


def literal_proto(instruction):
    """LiteralProto of a scalar."""
    value, dtype = instruction.attrs["value"], instruction.shape.dtype
    out = Message().msg(1, instruction.shape.proto())
    if dtype == "f32":
        return out.data(8, struct.pack("<f", value))
    if dtype == "bf16":
        return out.data(13, struct.pack("<f", value)[2:])
    return out.packed({"s32": 4, "u32": 6, "s64": 5, "pred": 2}.get(dtype, 4), [int(value)])
