"""Buffer assignment of a scheduled module: who lives where, and when.

Parameters have an allocation each, a donated one is shared with the output that
takes its place, and everything else of the entry computation lives in one temp
allocation per memory space, placed first-fit by its lifetime.  Sizes are padded.
"""

from wire import Message

THREAD_LOCAL_BYTES = 32
ALIGNMENT = 512
VIEWS = {"bitcast", "get-tuple-element", "tuple"}


def aligned(size):
    return -(-size // ALIGNMENT) * ALIGNMENT


class Buffer:
    def __init__(self, number, instruction, computation, index, shape):
        self.id, self.instruction, self.index = number, instruction, index
        self.computation = computation
        self.size, self.space = shape.padded_bytes(), shape.space
        self.born = self.dies = 0
        self.offset = 0


class Assignment:
    """Made from a module; knows the sizes an allocator would see."""

    def __init__(self, module):
        self.module, self.entry = module, module.entry
        self.buffers, self.allocations, self.traces = [], [], []
        self._owner = {}  # instruction -> the buffers behind its value
        self._order = []  # instructions in time, a loop's body before the loop
        self._make_buffers(self.entry)
        self._lifetimes()
        self._allocate()

    # who owns the bytes of a value: views own nothing
    def _views(self, i):
        if i.opcode == "get-tuple-element":
            return self._owner[i.operands[0]][i.attrs["tuple_index"]]
        if i.opcode == "tuple":
            return [self._owner[o] for o in i.operands]
        if i.opcode == "while":
            return self._owner[i.operands[0]]
        if i.opcode.endswith("-done"):
            start = self._owner[i.operands[0]]
            if i.opcode == "recv-done":
                return [start[0], start[2]]  # data and token
            pick = {"copy-done": 0, "send-done": 2}.get(i.opcode, 1)
            return start[pick] if isinstance(start, list) else start
        return self._owner[i.operands[0]]

    def _make_buffers(self, computation):
        for i in computation.instructions:
            if i.opcode == "while":
                self._owner[i.called[0].params()[0]] = self._owner[i.operands[0]]
                self._make_buffers(i.called[0])
            self._order.append(i)
            if i in self._owner:
                continue
            if i.opcode in VIEWS or i.opcode == "while" or i.opcode.endswith("-done"):
                self._owner[i] = self._views(i)
            elif (i.opcode.endswith("-start") or i.opcode == "send") and i.shape.parts:
                self._owner[i] = self._start(i, computation)
            elif i.shape.parts is not None:
                self._owner[i] = [
                    self._new(i, computation, [n], p) for n, p in enumerate(i.shape.parts)
                ]
            else:
                self._owner[i] = self._new(i, computation, [], i.shape)

    def _start(self, i, computation):
        """An async start's tuple refers to its operand and owns the rest."""
        source = self._owner[i.operands[0]]
        operand_at = 1 if i.opcode == "copy-start" else 0
        return [
            source if n == operand_at else self._new(i, computation, [n], p)
            for n, p in enumerate(i.shape.parts)
        ]

    def _new(self, instruction, computation, index, shape):
        self.buffers.append(Buffer(len(self.buffers) + 1, instruction, computation, index, shape))
        return self.buffers[-1]

    @staticmethod
    def _flat(owner):
        if isinstance(owner, list):
            return [b for part in owner for b in Assignment._flat(part)]
        return [owner]

    def _lifetimes(self):
        for time, i in enumerate(self._order):
            for operand in i.operands:
                for buffer in self._flat(self._owner[operand]):
                    buffer.dies = max(buffer.dies, time)
        times = {i: t for t, i in enumerate(self._order)}
        for buffer in self.buffers:
            buffer.born = times[buffer.instruction]
            buffer.dies = max(buffer.dies, buffer.born)

    def _allocate(self):
        self._add(THREAD_LOCAL_BYTES, 0, [], thread_local=True)
        outputs = self._flat(self._owner[self.entry.root])
        aliases = dict((p, o) for o, p in self.module.aliases)
        taken = set()
        for param in self.entry.params():
            number, mine = param.attrs["number"], self._flat(self._owner[param])
            shared = []
            if number in aliases:
                shared = [outputs[aliases[number] or 0]]
                taken.update(shared)
            for buffer in mine:
                size = buffer.size
                self._add(
                    size,
                    buffer.space,
                    [(b, 0) for b in [buffer] + shared if b.size],
                    parameter=number,
                    live_out=bool(shared) or buffer in outputs,
                )
                taken.add(buffer)
        for buffer in outputs:
            if buffer not in taken:
                self._add(buffer.size, buffer.space, [(buffer, 0)], live_out=True)
                taken.add(buffer)
        rest = [b for b in self.buffers if b not in taken]
        for constant in [b for b in rest if b.instruction.opcode == "constant"]:
            self._add(constant.size, constant.space, [(constant, 0)], constant=True)
        rest = [b for b in rest if b.instruction.opcode != "constant"]
        for space in sorted({b.space for b in rest}):
            self._temp([b for b in rest if b.space == space], space)

    def _add(self, size, space, assigned, **flags):
        self.allocations.append(
            {
                "index": len(self.allocations),
                "size": size,
                "space": space,
                "assigned": assigned,
                **flags,
            }
        )

    def _temp(self, buffers, space):
        high = 0
        placed, live = [], []
        for buffer in sorted(buffers, key=lambda b: (b.born, b.id)):
            live = [p for p in live if buffer.born <= p.dies]
            spans = sorted((p.offset, p.offset + aligned(p.size)) for p in live)
            offset = 0
            for low, end in spans:
                if offset + aligned(buffer.size) <= low:
                    break
                offset = max(offset, end)
            buffer.offset = offset
            placed.append(buffer)
            live.append(buffer)
            high = max(high, offset + aligned(buffer.size))
        self._add(high, space, [(b, b.offset) for b in placed], temp=True)
        events = [(b.born, 0, b.id, b) for b in buffers] + [(b.dies, 1, b.id, b) for b in buffers]
        self.traces.append((self.allocations[-1]["index"], sorted(events, key=lambda e: e[:3])))

    def total(self, space=0, **flags):
        """Bytes of the allocations of one memory space with all given flags."""
        return sum(
            a["size"]
            for a in self.allocations
            if a["space"] == space and all(bool(a.get(f)) == v for f, v in flags.items())
        )

    def arguments(self, space=0):
        return sum(a["size"] for a in self.allocations if a["space"] == space and "parameter" in a)

    def outputs(self, space=0):
        """Outputs that are not donated parameters."""
        return sum(
            a["size"]
            for a in self.allocations
            if a["space"] == space and a.get("live_out") and "parameter" not in a
        )

    def temp(self, space=0):
        return self.total(space, temp=True)

    def proto(self):
        out = Message()
        for b in self.buffers:
            where = Message().packed(3, b.index).int(4, b.instruction.id)
            out.msg(1, Message().int(1, b.id).int(2, b.size).msg(3, where).int(4, b.space))
        for a in self.allocations:
            out.msg(3, self._allocation(a))
        for index, events in self.traces:
            trace = Message()
            for _, kind, _, b in events:
                trace.msg(
                    1,
                    Message()
                    .int(1, kind)
                    .int(2, b.id)
                    .data(3, b.computation.name)
                    .data(4, b.instruction.name),
                )
            out.msg(4, trace.int(3, index))
        return out

    @staticmethod
    def _allocation(a):
        out = (
            Message().int(1, a["index"]).int(2, a["size"]).int(3, int(bool(a.get("thread_local"))))
        )
        if "parameter" in a:
            out.int(5, 1).int(6, a["parameter"])
        out.int(7, int(bool(a.get("live_out")))).int(8, a["space"])
        for buffer, offset in a["assigned"]:
            out.msg(9, Message().int(1, buffer.id).int(2, offset).int(3, buffer.size))
        return out.int(12, int(bool(a.get("constant"))))


def hlo_proto(module, assignment):
    """HloProto: the module and its buffer assignment."""
    return bytes(Message().msg(1, module.proto()).msg(3, assignment.proto()))
