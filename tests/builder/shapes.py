"""Shapes with layout: the text form, dense and padded sizes, the proto form."""

import math
import re

from wire import Message

# name: (PrimitiveType number, bits)
TYPES = {
    "pred": (1, 8),
    "s8": (2, 8),
    "s16": (3, 16),
    "s32": (4, 32),
    "s64": (5, 64),
    "u8": (6, 8),
    "u16": (7, 16),
    "u32": (8, 32),
    "u64": (9, 64),
    "f16": (10, 16),
    "f32": (11, 32),
    "f64": (12, 64),
    "tuple": (13, 0),
    "opaque": (14, 0),
    "c64": (15, 64),
    "bf16": (16, 16),
    "token": (17, 0),
    "c128": (18, 128),
    "f8e5m2": (19, 8),
    "f8e4m3fn": (20, 8),
    "s4": (21, 4),
    "u4": (22, 4),
    "f8e4m3": (28, 8),
    "f4e2m1fn": (32, 4),
    "f8e8m0fnu": (33, 8),
}

TEXT = re.compile(
    r"(\w+)\[([\d,]*)\](?:\{([\d,]*)(?::((?:T(?:\([\d,*]+\))+)?)(?:S\((\d+)\))?)?\})?"
    r"(?:S\((\d+)\))?"
)


def tpu_tiles(dtype, dims, minor_to_major):
    """The default tiles of a TPU array, from the captures."""
    bits = TYPES[dtype][1]
    pack = {16: [(2, 1)], 8: [(4, 1)], 4: [(8, 1)]}.get(bits, [])
    if bits == 0:
        return []
    if not dims:
        return [({32: 128, 16: 256, 8: 512}.get(bits, 128),)]
    minor = dims[minor_to_major[0]]
    if len(dims) == 1:
        if bits != 32:
            return [(1024,), (128,)] + pack
        return [(next((t for t in (128, 256, 512) if minor <= t), 1024),)]
    second = dims[minor_to_major[1]]
    rows = next((r for r in (1, 2, 4) if second <= r), 8)
    return [(max(rows, 32 // bits if bits < 32 else 1), 128)] + pack


class Shape:
    """An array or a tuple of shapes.  space is S(n): 0 HBM, 1 VMEM, 5 host."""

    def __init__(self, dtype, dims=(), minor_to_major=None, tiles=(), space=0, parts=None):
        self.dtype, self.dims, self.space = dtype, tuple(dims), space
        self.m2m = tuple(range(len(dims) - 1, -1, -1)) if minor_to_major is None else minor_to_major
        self.tiles, self.parts = [tuple(t) for t in tiles], parts

    @classmethod
    def tuple(cls, parts):
        return cls("tuple", parts=list(parts))

    @classmethod
    def parse(cls, text, tpu=True):
        """`bf16[8,128]`, with layout `{1,0:T(8,128)(2,1)S(1)}` when it matters.

        Without tiles a TPU shape gets the default ones; `f32[8]S(5)` sets only
        the memory space.  `(a, b)` is a tuple.
        """
        text = text.strip()
        if text.startswith("("):
            return cls.tuple(cls.parse(m.group(0), tpu) for m in TEXT.finditer(text))
        match = TEXT.fullmatch(text)
        if not match or match.group(1) not in TYPES:
            raise ValueError(f"not a shape: {text!r}")
        dtype, dims, order, tiles, space, space2 = match.groups()
        dims = [int(d) for d in dims.split(",") if d]
        m2m = tuple(int(d) for d in order.split(",") if d) if order is not None else None
        shape = cls(dtype, dims, m2m, space=int(space or space2 or 0))
        if tiles:
            shape.tiles = [
                tuple(int(x) for x in t.split(",")) for t in re.findall(r"\(([\d,]+)\)", tiles)
            ]
        elif tpu:
            shape.tiles = tpu_tiles(dtype, shape.dims, shape.m2m)
        return shape

    def like(self, dims=None, dtype=None, space=None):
        """The same shape with other dims or dtype and the default layout."""
        dims = self.dims if dims is None else dims
        out = Shape(dtype or self.dtype, dims, space=self.space if space is None else space)
        if self.tiles:
            out.tiles = tpu_tiles(out.dtype, out.dims, out.m2m)
        return out

    def leaves(self):
        if self.parts is None:
            return [self]
        return [leaf for part in self.parts for leaf in part.leaves()]

    def elements(self):
        return (
            sum(leaf.elements() for leaf in self.parts)
            if self.parts is not None
            else math.prod(self.dims)
        )

    def dense_bytes(self):
        """Bytes of the elements alone; a tuple's table of pointers is free."""
        if self.parts is not None:
            return sum(part.dense_bytes() for part in self.parts)
        return max(1, TYPES[self.dtype][1] // 8) * self.elements() if TYPES[self.dtype][1] else 0

    def padded_bytes(self):
        """Bytes in memory: the physical dims padded up to whole tiles."""
        if self.parts is not None:
            return sum(part.padded_bytes() for part in self.parts)
        phys = [self.dims[d] for d in reversed(self.m2m)]
        for tile in self.tiles:
            phys = [1] * (len(tile) - len(phys)) + phys
            head, tail = phys[: len(phys) - len(tile)], phys[len(phys) - len(tile) :]
            phys = head + [-(-d // t) for d, t in zip(tail, tile)] + list(tile)
        return math.prod(phys) * max(1, TYPES[self.dtype][1] // 8)

    def text(self, layout=True):
        if self.parts is not None:
            return "(" + ", ".join(self._part(i, p, layout) for i, p in enumerate(self.parts)) + ")"
        base = f"{self.dtype}[{','.join(map(str, self.dims))}]"
        attrs = "".join("(" + ",".join(map(str, t)) + ")" for t in self.tiles)
        attrs = ("T" + attrs if attrs else "") + (f"S({self.space})" if self.space else "")
        if not layout or not (self.dims or attrs):
            return base
        return base + "{" + ",".join(map(str, self.m2m)) + (":" + attrs if attrs else "") + "}"

    @staticmethod
    def _part(index, part, layout):
        mark = f"/*index={index}*/" if index and index % 5 == 0 else ""
        return mark + part.text(layout)

    def proto(self):
        """ShapeProto."""
        out = Message().int(2, TYPES[self.dtype][0])
        if self.parts is not None:
            for part in self.parts:
                out.msg(4, part.proto())
            return out
        out.packed(3, self.dims)
        layout = Message().packed(1, self.m2m)
        for tile in self.tiles:
            layout.msg(6, Message().packed(1, tile))
        layout.int(8, self.space)
        if self.tiles:
            layout.int(16, 1)
        return out.msg(5, layout).packed(6, [0] * len(self.dims))
