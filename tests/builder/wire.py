"""Protobuf wire format: the writing half, for tests.

Only what the profile and HLO messages need: varints, doubles, length-delimited
fields and packed repeated integers.
"""

import struct

MASK64 = (1 << 64) - 1


# Most varints of a profile are tags, lengths and ids; a long scenario asks for millions of them.
# Those of 14 bits, and 14 bits of a longer one.
SHORT = [bytes([v]) for v in range(1 << 7)]
SHORT += [bytes([v & 127 | 128, v >> 7]) for v in range(1 << 7, 1 << 14)]
MORE = [bytes([v & 127 | 128, v >> 7 | 128]) for v in range(1 << 14)]


def varint(value):
    """One base-128 varint; a negative int64 takes ten bytes, as in C++."""
    if 0 <= value < 1 << 14:
        return SHORT[value]
    value &= MASK64
    out = b""
    while value >= 1 << 14:
        out += MORE[value & (1 << 14) - 1]
        value >>= 14
    return out + SHORT[value]


def as_bytes(value):
    """UTF-8, or the raw bytes that a lone surrogate stands for."""
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value


class Message:
    """A message under construction.  Fields appear in the order of the calls."""

    def __init__(self):
        self.buf = bytearray()

    def int(self, number, value, keep=False):
        """A varint field.  Zero is left out, as proto3 does, unless keep."""
        if value or keep:
            self.buf += SHORT[number << 3]
            self.buf += varint(value)
        return self

    def double(self, number, value):
        self.buf += SHORT[number << 3 | 1] + struct.pack("<d", value)
        return self

    def float(self, number, value):
        self.buf += SHORT[number << 3 | 5] + struct.pack("<f", value)
        return self

    def data(self, number, value, keep=False):
        """A string or bytes field.  Empty is left out unless keep."""
        if value or keep:
            value = as_bytes(value)
            self.buf += SHORT[number << 3 | 2]
            self.buf += varint(len(value))
            self.buf += value
        return self

    def msg(self, number, message):
        """A submessage, written even when empty (presence matters)."""
        return self.data(number, getattr(message, "buf", message), keep=True)

    def packed(self, number, values):
        """A packed repeated integer field; an empty list writes nothing."""
        return self.data(number, b"".join(map(varint, values)))

    def ints(self, number, values):
        """A repeated integer field, one tag per value (unpacked)."""
        for value in values:
            self.int(number, value, keep=True)
        return self

    def __bytes__(self):
        return bytes(self.buf)
