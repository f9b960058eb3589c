"""The bytes of an XSpace, by the wire format alone.

Nothing here knows what an event means; measure.py does.  Every message is read whole: the
captures are small, and the shortest reader is the easiest one to believe.
"""

import struct

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


def varint(data, at):
    """An unsigned varint and the position after it."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
        shift += 7


def signed(value):
    """A varint's 64 bits as int64."""
    return value - (1 << 64) if value >> 63 else value


def fields(data):
    """(number, wire type, value) of each field: int, or a slice of bytes.

    Most varints are one byte long, and a call of varint() costs more than all that is done here.
    """
    at, end = 0, len(data)
    while at < end:
        key, at = (data[at], at + 1) if data[at] < 0x80 else varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == VARINT:
            value, at = (data[at], at + 1) if data[at] < 0x80 else varint(data, at)
        elif wire == BYTES:
            size, at = (data[at], at + 1) if data[at] < 0x80 else varint(data, at)
            if at + size > end:
                raise ValueError("a field is longer than its message")
            value, at = data[at:at + size], at + size
        elif wire == FIXED64:
            value, at = data[at:at + 8], at + 8
        elif wire == FIXED32:
            value, at = data[at:at + 4], at + 4
        else:
            raise ValueError(f"wire type {wire}")
        yield number, wire, value


def ints(wire, value):
    """A repeated int64 field, packed or one by one."""
    if wire == VARINT:
        return [signed(value)]
    found, at = [], 0
    while at < len(value):
        one, at = varint(value, at)
        found.append(signed(one))
    return found


def text(value):
    return bytes(value).decode("utf-8", "surrogateescape")


class Event:
    """One XEvent; times in ps since the profile's start."""
    __slots__ = ("name", "display", "meta", "start", "duration", "stats")

    def __init__(self, name, display, meta, start, duration, stats):
        self.name, self.display, self.meta = name, display, meta
        self.start, self.duration, self.stats = start, duration, stats

    @property
    def end(self):
        return self.start + self.duration


class Line:
    def __init__(self, line_id, name):
        self.id, self.name, self.events = line_id, name, []


class Plane:
    def __init__(self, name):
        self.name = name
        self.lines = {}       # id -> Line
        self.metadata = {}    # key -> (name, display name, stats)
        self.stats = {}


def _stat(data, names):
    """(name, value) of an XStat."""
    key, value = 0, None
    for number, _, field in fields(data):
        if number == 1:
            key = field
        elif number == 2:
            value = struct.unpack("<d", field)[0]
        elif number == 3:
            value = field
        elif number == 4:
            value = signed(field)
        elif number == 5:
            value = text(field)
        elif number == 6:
            value = bytes(field)
        elif number == 7:
            value = names.get(field, "")
    return names.get(key, str(key)), value


def _stats(parts, names):
    """A dictionary of stats; the first of a repeated name stays."""
    found = {}
    for part in parts:
        name, value = _stat(part, names)
        found.setdefault(name, value)
    return found


def _map_entry(data):
    key, value = 0, b""
    for number, _, field in fields(data):
        if number == 1:
            key = signed(field)
        elif number == 2:
            value = field
    return key, value


def _stat_names(parts):
    found = {}
    for part in parts:
        key, value = _map_entry(part)
        found[key] = next((text(f) for n, _, f in fields(value) if n == 2), "")
    return found


def _event_metadata(parts, names):
    found = {}
    for part in parts:
        key, value = _map_entry(part)
        name, display, stats = "", "", []
        for number, _, field in fields(value):
            if number == 2:
                name = text(field)
            elif number == 4:
                display = text(field)
            elif number == 5:
                stats.append(field)
        found[key] = (name, display, _stats(stats, names))
    return found


def _event(data, base_ps, metadata, names):
    """An Event, or None for an aggregated one, which has no start."""
    key = offset = duration = 0
    stats = []
    for number, _, field in fields(data):
        if number == 1:
            key = signed(field)
        elif number == 2:
            offset = signed(field)
        elif number == 3:
            duration = signed(field)
        elif number == 4:
            stats.append(field)
        elif number == 5:
            return None
    name, display, meta = metadata.get(key, ("", "", {}))
    return Event(name, display, meta, base_ps + offset, duration, _stats(stats, names))


def _line(data, plane, names):
    line_id, name, base, events = 0, "", 0, []
    for number, _, field in fields(data):
        if number == 1:
            line_id = signed(field)
        elif number == 2:
            name = text(field)
        elif number == 3:
            base = signed(field)
        elif number == 4:
            events.append(field)
    line = plane.lines.setdefault(line_id, Line(line_id, name))
    decoded = (_event(part, base * 1000, plane.metadata, names) for part in events)
    line.events += [event for event in decoded if event]


def _plane_name(data):
    return next((text(f) for n, _, f in fields(data) if n == 2), "")


def _plane(data, planes):
    """Decode one XPlane; parts with one name are one plane."""
    by_number = {3: [], 4: [], 5: [], 6: []}
    for number, _, field in fields(data):
        if number in by_number:
            by_number[number].append(field)
    name = _plane_name(data)
    plane = planes.setdefault(name, Plane(name))
    names = _stat_names(by_number[5])
    plane.metadata.update(_event_metadata(by_number[4], names))
    plane.stats.update(_stats(by_number[6], names))
    for part in by_number[3]:
        _line(part, plane, names)


def read_xspace(path):
    """The planes of a file by name, in file order."""
    with open(path, "rb") as file:
        data = file.read()
    planes = {}
    for number, _, field in fields(data):
        if number == 1:
            _plane(field, planes)
    return planes
