"""The small language for what a fusion computes, one line per value:

    h  = maximum(multiply(a, b), 0)
    s  = dynamic-slice(big, i, 0, 0) : bf16[1,1024,8192]
    l  = reduce(multiply(d, d), 0) : f32[]
    out = tuple(h, l)

Calls are HLO opcodes; a dtype's name converts; a number is a constant of the
type and shape beside it.  A shape after `:` is for the outermost call and is
needed where the operands do not tell.
"""

import re

import hlo
from shapes import TYPES, Shape

TOKEN = re.compile(r"\s*([\w.-]+|[(),])")
ALIAS = {"exp": "exponential", "neg": "negate", "pow": "power"}


class Builder:
    """Adds the instructions of expression lines to a computation."""

    def __init__(self, computation, env, names, tpu=True):
        self.computation, self.env, self.names, self.tpu = computation, env, names, tpu
        self.meta = {}

    def line(self, text):
        target, rest = text.split("=", 1)
        body, _, shape = rest.partition(" : ")
        tokens = TOKEN.findall(body)
        value = self._parse(tokens, shape.strip())
        if tokens:
            raise ValueError(f"cannot read {text!r} at {tokens[0]!r}")
        self.env[target.strip()] = value
        return value

    def _parse(self, tokens, shape=""):
        word = tokens.pop(0)
        if not tokens or tokens[0] != "(":
            return self.env[word] if word in self.env else float(word)
        tokens.pop(0)
        args = []
        while tokens[0] != ")":
            args.append(self._parse(tokens))
            if tokens[0] == ",":
                tokens.pop(0)
        tokens.pop(0)
        return self._call(ALIAS.get(word, word), args, shape)

    def emit(self, opcode, shape, operands, **attrs):
        name = self.names(opcode)
        return self.computation.add(
            hlo.Instruction(name, opcode, shape, operands, **self.meta, **attrs)
        )

    def constant(self, value, shape):
        """A scalar constant, spread to the wanted shape when that is an array."""
        scalar = self.emit("constant", shape.like(dims=()), [], value=value)
        return self.emit("broadcast", shape, [scalar], dimensions=[]) if shape.dims else scalar

    def _call(self, opcode, args, text):
        values = [a for a in args if not isinstance(a, float)]
        if opcode in TYPES and opcode != "tuple":
            return self.emit("convert", values[0].shape.like(dtype=opcode), values)
        shape = Shape.parse(text, self.tpu) if text else None
        special = getattr(self, "_" + opcode.replace("-", "_"), None)
        if special:
            return special(args, shape)
        shape = shape or values[-1].shape.like()
        args = [a if not isinstance(a, float) else self.constant(a, shape) for a in args]
        return self.emit(opcode, shape, args)

    def _tuple(self, args, _):
        return self.emit("tuple", Shape.tuple(a.shape for a in args), args)

    def _compare(self, args, _):
        left = args[0]
        right = (
            args[1] if not isinstance(args[1], float) else self.constant(args[1], left.shape.like())
        )
        return self.emit("compare", left.shape.like(dtype="pred"), [left, right], direction="GT")

    def _broadcast(self, args, shape):
        dims = [
            i for i, d in enumerate(shape.dims) if args[0].shape.dims and d in args[0].shape.dims
        ]
        return self.emit(
            "broadcast", shape, args, dimensions=dims[-len(args[0].shape.dims) :] if dims else []
        )

    def _reduce(self, args, shape):
        """A sum over the dims that are missing from the result."""
        init = self.emit("constant", args[0].shape.like(dims=()), [], value=args[1])
        kept, dims = list(shape.dims), []
        for index, size in enumerate(args[0].shape.dims):
            if kept and size == kept[0]:
                kept.pop(0)
            else:
                dims.append(index)
        region = add_region(self.names, shape.dtype, self.tpu)
        return self.emit("reduce", shape, [args[0], init], called=[region], dimensions=dims)

    def _transpose(self, args, shape):
        """The permutation follows from the result's dims; without one, reversed."""
        dims = args[0].shape.dims
        shape = shape or args[0].shape.like(dims=dims[::-1])
        order, free = [], list(range(len(dims)))
        for size in shape.dims:
            order.append(next(i for i in reversed(free) if dims[i] == size))
            free.remove(order[-1])
        return self.emit("transpose", shape, args, dimensions=order)

    def _index(self, value):
        if not isinstance(value, float):
            return value
        return self.emit("constant", Shape.parse("s32[]", self.tpu), [], value=int(value))

    def _dynamic_slice(self, args, shape):
        operands = [args[0]] + [self._index(a) for a in args[1:]]
        return self.emit("dynamic-slice", shape, operands, slice_sizes=list(shape.dims))

    def _dynamic_update_slice(self, args, _):
        operands = args[:2] + [self._index(a) for a in args[2:]]
        return self.emit("dynamic-update-slice", args[0].shape, operands)

    def _dot(self, args, shape):
        """A plain dot [M,K] x [K,N] (the GPU's form)."""
        a, b = args
        shape = shape or a.shape.like(dims=(a.shape.dims[0], b.shape.dims[1]))
        return self.emit("dot", shape, args, dot=([1], [0]))


def add_region(names, dtype, tpu):
    """The `to_apply` of a sum."""
    region = hlo.Computation(names("region_add"))
    scalar = Shape.parse(f"{dtype}[]", tpu)
    a, b = (
        region.add(hlo.Instruction(names("arg"), "parameter", scalar, number=n)) for n in (0, 1)
    )
    region.add(hlo.Instruction(names("add"), "add", scalar, [a, b]))
    return region
