#!/usr/bin/env python3
"""Grow a real XSpace to a given size: grow.py SOURCE BYTES TARGET [PLANES [host]]

Every line of every device plane repeats its events, each time later by the same
amount, on PLANES device planes, eight unless told; planes that the source lacks are
copies under another number.  The metadata plane stays as it is, and so does the host's,
unless it is to grow alike.  The first round is
the source's own bytes; in later rounds the times move (offset_ps and the device's
own clock, device_offset_ps) and so do the numbers that tell launches apart.

Standard library only.  Nothing is held but the source and one round of one line:
sizes are counted first, then written.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../builder"))
from wire import MASK64 as MASK, varint  # noqa: E402

CLOCK = "clock"
# Stats that move on with every round: a time, or the identity of a launch.
MOVING = {
    b"device_offset_ps": CLOCK, b"correlation_id": "correlation", b"run_id": "run",
    b"all_reduce_unique_id": "all_reduce", b"id": "flow", b"flow": "flow",
}
# A round moves values by a multiple of 128**LOW, so that the low LOW bytes of a varint stay and only
# its tail changes; neighbours share tails.  128**5 ps is 34 ms.
LOW = {CLOCK: 5}
LOW_IDS = 2


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value & MASK, at


def fields(data):
    """(number, value or bytes, the field's own bytes)"""
    at = 0
    while at < len(data):
        start = at
        tag, at = read_varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = read_varint(data, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            value, at = data[at:at + size], at + size
        elif kind == 2:
            size, at = read_varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            sys.exit("grow: wire type %d at byte %d" % (kind, start))
        if at > len(data):
            sys.exit("grow: a field ends beyond its message")
        yield tag >> 3, value, data[start:at]


def field(number, body):
    return varint(number << 3 | 2) + varint(len(body)) + body


class Slot:
    """A varint that moves: the group it moves with, its first value, what stands before it.

    `outer` is the tag of the message (a stat) that begins with `before` and ends with the varint,
    or None when the varint is the event's own."""

    def __init__(self, group, value, before, outer=None):
        self.group, self.value, self.before, self.outer = group, value, before, outer


class Line:
    def __init__(self, data, stat_names):
        self.head, self.events, self.base_ps = b"", [], 0
        for number, value, raw in fields(data):
            if number == 4:
                self.events.append((raw, self.items(value, stat_names)))
                continue
            self.head += raw
            if number == 3:
                self.base_ps = value * 1000
        self.template = self.widths = None

    @staticmethod
    def items(event, stat_names):
        """The event as constant bytes and slots."""
        items, seen_offset, aggregated = [], False, False
        for number, value, raw in fields(event):
            if number == 2:
                items.append(Slot(CLOCK, value, b"\x10"))
                seen_offset = True
                continue
            aggregated |= number == 5
            group = at = None
            if number == 4:
                parts = list(fields(value))
                name = stat_names.get(next((v for n, v, _ in parts if n == 1), 0), b"")
                if name in MOVING and parts[-1][0] in (3, 4) and len(parts) == 2:
                    group, at = MOVING[name], parts[-1]
            if group:
                before = parts[0][2] + varint(at[0] << 3)
                items.append(Slot(group, at[1], before, b"\x22"))
            else:
                items.append(raw)
        if not seen_offset and not aggregated:
            items.insert(1, Slot(CLOCK, 0, b"\x10"))
        return items

    def slots(self):
        return [i for _, items in self.events for i in items if isinstance(i, Slot)]

    def end_ps(self):
        end = self.base_ps
        for raw, _ in self.events:
            body = next(v for _, v, _ in fields(raw))
            times = {n: v for n, v, _ in fields(body) if n in (2, 3)}
            end = max(end, self.base_ps + times.get(2, 0) + times.get(3, 0))
        return end

    def prepare(self, steps):
        """Fix by how much each group moves; find the extremes, which decide about widths."""
        self.steps = steps
        self.original = b"".join(raw for raw, _ in self.events)
        self.low = {g: LOW.get(g, LOW_IDS) * 7 for g in steps}
        self.high_of = {}
        for slot in self.slots():
            self.high_of.setdefault(slot.group, []).append(slot.value >> self.low[slot.group])
        self.extremes = {g: (min(h), max(h)) for g, h in self.high_of.items()}
        self.order = [(s.group, s.value >> self.low[s.group]) for s in self.slots()]
        self.same = len(self.extremes) == 1 and CLOCK in self.extremes

    def moved(self, group, value, turn):
        return (value + turn * self.steps[group]) & MASK

    def widths_of(self, turn):
        """The width of every group's varints in this round, or None where they differ."""
        widths = []
        for group, (low, high) in self.extremes.items():
            step = turn * self.steps[group] >> self.low[group]
            narrow, wide = len(varint(low + step)), len(varint(high + step))
            if narrow != wide or high + step >= 1 << (64 - self.low[group]):
                return None
            widths.append((group, narrow))
        return tuple(widths)

    def encode(self, turn):
        """One round, event by event."""
        out = bytearray()
        for _, items in self.events:
            body = bytearray()
            for item in items:
                if not isinstance(item, Slot):
                    body += item
                    continue
                part = item.before + varint(self.moved(item.group, item.value, turn))
                body += item.outer + varint(len(part)) + part if item.outer else part
            out += field(4, body)
        return bytes(out)

    def build(self, widths):
        """The constant bytes around the tails of a round with these widths."""
        tail_of = dict(widths)
        self.template, pending = [], b""
        for _, items in self.events:
            pieces, size = [], 0  # bytes, or None for a tail
            for item in items:
                if not isinstance(item, Slot):
                    pieces.append(item)
                    size += len(item)
                    continue
                low, tail = self.low[item.group] // 7, tail_of[item.group]
                fixed = item.before + bytes(
                    item.value >> 7 * i & 127 | 128 for i in range(low))
                if item.outer:
                    fixed = item.outer + varint(len(fixed) + tail) + fixed
                pieces += [fixed, None]
                size += len(fixed) + tail
            pending += b"\x22" + varint(size)
            for piece in pieces:
                if piece is None:
                    self.template += [pending, None]
                    pending = b""
                else:
                    pending += piece
        self.template.append(pending)
        self.widths = widths
        self.tails = sum(tail_of[group] for group, _ in self.order)
        self.size = sum(len(p) for p in self.template if p is not None) + self.tails

    def round(self, turn, count_only=False):
        """The events' bytes of a round, or how many they are."""
        widths = self.widths_of(turn) if turn else None
        if widths is None:
            data = self.encode(turn) if turn else self.original
            return len(data) if count_only else data
        if widths != self.widths:
            self.build(widths)
        if count_only:
            return self.size
        by_group = {}
        for group, highs in self.high_of.items():
            step = turn * self.steps[group] >> self.low[group]
            by_group[group] = {h: varint(h + step) for h in set(highs)}
        if self.same:
            tails = by_group[CLOCK]
            self.template[1::2] = [tails[high] for _, high in self.order]
        else:
            self.template[1::2] = [by_group[group][high] for group, high in self.order]
        return b"".join(self.template)


class Plane:
    def __init__(self, data):
        self.data, self.name, self.lines = data, b"", []
        parts = list(fields(data))
        names = {}
        for number, value, _ in parts:
            if number == 2:
                self.name = value
            elif number == 5:
                entry = {n: v for n, v, _ in fields(value)}
                names[entry.get(1, 0)] = next(
                    (v for n, v, _ in fields(entry.get(2, b"")) if n == 2), b"")
        self.stat_names, self.parts = names, parts

    def is_device(self):
        return self.name.startswith((b"/device:TPU:", b"/device:GPU:"))

    def is_host(self):
        return self.name == b"/host:CPU"

    def load(self):
        self.lines = [Line(v, self.stat_names) for n, v, _ in self.parts if n == 3]
        return any(line.events for line in self.lines)

    def pieces(self, number):
        """The plane's fields in order, under another number if one is given; lines as Line."""
        lines = iter(self.lines)
        if number is not None:
            yield varint(1 << 3) + varint(number + 1)
        for n, _, raw in self.parts:
            if n == 2 and number is not None:
                yield field(2, self.name.rpartition(b":")[0] + b":%d" % number)
            elif n == 3:
                yield next(lines)
            elif n != 1 or number is None:
                yield raw


def steps_of(planes):
    """How far a round moves each group: beyond everything the round before has used."""
    values, lines = {CLOCK: []}, [line for plane in planes for line in plane.lines if line.events]
    for line in lines:
        values[CLOCK] += [line.base_ps, line.end_ps()]
        for slot in line.slots():
            if slot.group != CLOCK:
                values.setdefault(slot.group, []).append(slot.value)
    steps = {}
    for group, seen in values.items():
        unit = 128 ** LOW.get(group, LOW_IDS)
        spread = max(seen) - (0 if group == CLOCK else min(seen)) + 1
        # Numbers drawn at random over 64 bits: any step keeps them apart well enough.
        steps[group] = (spread // unit + 1) * unit if spread < 1 << 40 or group == CLOCK else unit
    return steps


def line_size(line, rounds):
    return len(line.head) + sum(line.round(turn, True) for turn in range(rounds))


def plane_size(plane, number, rounds, sizes):
    total = 0
    for piece in plane.pieces(number):
        if isinstance(piece, Line):
            size = sizes[piece]
            total += 1 + len(varint(size)) + size
        else:
            total += len(piece)
    return total


def grow(source, target_bytes, out, plane_count=8, with_host=False):
    with open(source, "rb") as f:
        data = f.read()
    space = [(n, Plane(v) if n == 1 else None, raw) for n, v, raw in fields(data)]
    devices = [p for n, p, _ in space if p and p.is_device() and p.load()]
    hosts = [p for n, p, _ in space if p and with_host and p.is_host() and p.load()]
    if not devices:
        sys.exit("grow: %s has no device plane with events" % source)
    devices = devices[:plane_count]
    grown = [(devices[i % len(devices)], i) for i in range(plane_count)] + [
        (host, None) for host in hosts]
    planes = [plane for plane, _ in grown]
    lines = {line: planes.count(plane) for plane in devices + hosts for line in plane.lines}
    steps = steps_of(devices + hosts)
    for line in lines:
        line.prepare(steps)

    kept = [raw for n, p, raw in space if not (p and (p.is_device() or p in hosts))]
    total = sum(map(len, kept)) + sum(
        plane_size(p, i, 0, dict.fromkeys(lines, 0)) for p, i in grown)
    sizes = {line: len(line.head) for line in lines}
    rounds = 0
    while total < target_bytes:
        for line, copies in lines.items():
            size = line.round(rounds, True)
            sizes[line] += size
            total += size * copies
        rounds += 1

    events = 0
    with open(out, "wb", 1 << 20) as f:
        done = False
        for n, p, raw in space:
            if not (p and (p.is_device() or p in hosts)):
                f.write(raw)
                continue
            if done:
                continue
            done = True
            for plane, number in grown:
                f.write(b"\x0a" + varint(plane_size(plane, number, rounds, sizes)))
                for piece in plane.pieces(number):
                    if not isinstance(piece, Line):
                        f.write(piece)
                        continue
                    f.write(b"\x1a" + varint(sizes[piece]) + piece.head)
                    for turn in range(rounds):
                        f.write(piece.round(turn))
                    events += len(piece.events) * rounds
        size = f.tell()
    print("%d bytes, %d device planes, %d rounds, %d events"
          % (size, plane_count, rounds, events))


if __name__ == "__main__":
    if len(sys.argv) < 4 or len(sys.argv) > 6 or sys.argv[5:] not in ([], ["host"]):
        sys.exit(__doc__)
    grow(sys.argv[1], int(sys.argv[2]), sys.argv[3], *map(int, sys.argv[4:5]),
         with_host=len(sys.argv) == 6)
