#!/usr/bin/env python3
"""Grow a real trace.json.gz to a given size: grow_trace.py SOURCE BYTES TARGET

Every event repeats, each round later by the same amount (ts, and the device's own
clock, device_offset_ps), until the packed file has BYTES.  Everything else stays,
so that the trace packs and reads like a real one of a longer run.

Standard library only; packed at zlib's lowest level, in one piece.
"""

import gzip
import re
import sys
import zlib

EVENT = re.compile(rb'("ts":)([0-9.e+-]+)|("device_offset_ps":")(\d+)')


def pieces(data):
    """Constant bytes and times in turns: (bytes, scale, time) with scale 0 for none."""
    at = 0
    for found in EVENT.finditer(data):
        scale = 1 if found.group(1) else 1_000_000
        head, number = (found.group(1), found.group(2)) if scale == 1 else (found.group(3),
                                                                            found.group(4))
        yield data[at:found.start()] + head, scale, float(number) if scale == 1 else int(number)
        at = found.end()
    yield data[at:], 0, 0


def main():
    source, size, target = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    data = gzip.open(source).read()
    first = data.index(b'{"ph":"X"')
    head, events, tail = data[:first], data[first:data.rindex(b"{}]")], b"{}]}"
    parts = list(pieces(events))
    times = [time for _, scale, time in parts if scale == 1]
    period = int(max(times) - min(times)) + 1000
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    with open(target, "wb") as out:
        written = out.write(packer.compress(head))
        rounds = 0
        while written < size:
            shift = rounds * period
            text = b"".join(
                piece if not scale else
                b"%s%.6f" % (piece, time + shift) if scale == 1 else
                b"%s%d" % (piece, time + shift * scale)
                for piece, scale, time in parts)
            written += out.write(packer.compress(text))
            rounds += 1
        out.write(packer.compress(tail))
        out.write(packer.flush())
    count = rounds * data.count(b'"ph":"X"')
    print(f"{rounds} rounds, {count / 1e6:.2f} million events")


main()
