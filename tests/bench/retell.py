"""A capture told faster, slower or on another day: every time in an XSpace, multiplied or moved.

What ran stays as it was: names, HLO, FLOPs and bytes.  Durations and distances of events are
multiplied, on the host's clock and on the device's own; a capture's day is moved where it says one.
"""

from grow import field, fields, read_varint, varint

SCALED = {b"device_offset_ps", b"device_duration_ps"}
DATED = {b"profile_start_time", b"profile_stop_time"}
DATE_BYTES = 9  # of a varint of nanoseconds since 1970, from 1970 to 2262 but for its first years


def stat_names(plane):
    names = {}
    for number, entry, _ in fields(plane):
        if number == 5:
            entry = {n: v for n, v, _ in fields(entry)}
            names[entry.get(1, 0)] = next(
                (v for n, v, _ in fields(entry.get(2, b"")) if n == 2), b"")
    return names


def scaled_stat(stat, factor, names):
    parts = list(fields(stat))
    name = names.get(next((v for n, v, _ in parts if n == 1), 0))
    if name not in SCALED:
        return stat
    return b"".join(varint(n << 3) + varint(round(v * factor)) if n in (3, 4) else raw
                    for n, v, raw in parts)


def scaled_event(event, factor, names):
    out = b""
    for number, value, raw in fields(event):
        if number in (2, 3):
            raw = varint(number << 3) + varint(round(value * factor))
        elif number == 4:
            raw = field(4, scaled_stat(value, factor, names))
        out += raw
    return out


def scaled_line(line, factor, names, origin_ns):
    out = []
    for number, value, raw in fields(line):
        if number == 3 and value:
            raw = varint(3 << 3) + varint(origin_ns + round((value - origin_ns) * factor))
        elif number == 9:
            raw = varint(9 << 3) + varint(round(value * factor))
        elif number == 4:
            raw = field(4, scaled_event(value, factor, names))
        out.append(raw)
    return b"".join(out)


def begin_ns(space):
    """Of the earliest line that has a clock."""
    times = [value for plane in planes(space) for n, line, _ in fields(plane) if n == 3
             for number, value, _ in fields(line) if number == 3 and value]
    return min(times, default=0)


def planes(space):
    return [value for number, value, _ in fields(space) if number == 1]


def scaled(space, factor):
    """The same capture, `factor` times as long."""
    origin_ns, out = begin_ns(space), []
    for number, plane, raw in fields(space):
        if number == 1:
            names = stat_names(plane)
            raw = field(1, b"".join(
                field(3, scaled_line(value, factor, names, origin_ns)) if n == 3 else part
                for n, value, part in fields(plane)))
        out.append(raw)
    return b"".join(out)


def date_places(space):
    """Where the bytes of its dates begin: [(place, nanoseconds)]."""
    found = []
    for plane in planes(space):
        names = stat_names(plane)
        for number, stat, raw in fields(plane):
            parts = {n: v for n, v, _ in fields(stat)} if number == 6 else {}
            if names.get(parts.get(1)) not in DATED:
                continue
            at = space.index(raw) + len(raw) - DATE_BYTES
            ns, end = read_varint(space, at)
            if ns == parts.get(3, parts.get(4)) and end - at == DATE_BYTES:
                found.append((at, ns))
    return found


def dated(space, places, moved_ns):
    """The same capture on another day; `places` are date_places(space)."""
    out = bytearray(space)
    for at, ns in places:
        out[at:at + DATE_BYTES] = varint(ns + moved_ns)
    return bytes(out)
