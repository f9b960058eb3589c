"""Kinds of damage: each yields damaged copies of a profile, without end.

A profile is {path: bytes}, its xplane.pb files.  A kind is given the profile and a source of
chance, and yields (the damaged profile, what was done).  It ends at once where the profile has
nothing of the kind.
"""

import read
import wire

PLANES, PLANE_NAME, PLANE_LINES, PLANE_EVENTS, PLANE_STATS, PLANE_OWN = 1, 2, 3, 4, 5, 6
LINE_NAME, LINE_TIME, LINE_EVENTS = 2, 3, 4
EVENT_METADATA, EVENT_OFFSET, EVENT_LENGTH, EVENT_STATS = 1, 2, 3, 4

ALLOCATOR = (b"MemoryAllocation", b"MemoryDeallocation")
COMPILER = (b"backend_compile", b"Compiler::", b"XlaCompile")


def joined(parts):
    out = bytearray()
    for field, kind, value in parts:
        out += wire.varint(field << 3 | kind)
        if kind == 0:
            out += wire.varint(value)
        elif kind == 2:
            out += wire.varint(len(value)) + value
        else:
            out += value
    return bytes(out)


def changed(parts, at, value):
    """The parts with one value replaced, or left out where it is None."""
    field, kind, _ = parts[at]
    return parts[:at] + ([] if value is None else [(field, kind, value)]) + parts[at + 1 :]


def places(parts, field):
    return [i for i, part in enumerate(parts) if part[0] == field and part[1] == 2]


def name_of(plane):
    return next((v.decode("utf-8", "replace") for n, k, v in plane if n == PLANE_NAME and k == 2), "")


# --- one plane -----------------------------------------------------------------------------------


def in_planes(fits, damage):
    """The kind that damages one plane of those that fit; `damage` may find nothing, None."""

    def kind(profile, rng):
        spaces = {path: read.parts(data) for path, data in sorted(profile.items())}
        found = []
        for path, space in spaces.items():
            for at in places(space, PLANES):
                plane = read.parts(space[at][2])
                if fits(plane):
                    found.append((path, at, plane))
        misses = 0
        while found and misses < 100:
            path, at, plane = rng.choice(found)
            bad = damage(plane, rng)
            misses += bad is None
            if bad is not None:
                data = joined(changed(spaces[path], at, joined(bad)))
                yield {**profile, path: data}, f"{name_of(plane)} of {path}"

    return kind


def has(part):
    return lambda plane: bool(places(plane, part))


def removed(part):
    """One field `part` of a plane."""
    return in_planes(has(part), lambda plane, rng: changed(plane, rng.choice(places(plane, part)), None))


def emptied(plane, rng):
    """All event metadata of a plane, or all its stat metadata."""
    part = rng.choice([PLANE_EVENTS, PLANE_STATS])
    return [p for p in plane if p[0] != part]


def line_emptied(plane, rng):
    at = rng.choice(places(plane, PLANE_LINES))
    return changed(plane, at, joined([p for p in read.parts(plane[at][2]) if p[0] != LINE_EVENTS]))


def number(parts, field):
    return next((v for n, k, v in parts if n == field and k == 0), 0)


def each_event(plane, lines, take):
    """The plane with what `take` makes of each event of these lines, None being nothing of it; or
    None where all stay."""
    out, any_changed = list(plane), False
    for at in lines:
        line = []
        for part in read.parts(plane[at][2]):
            if part[0] == LINE_EVENTS and part[1] == 2:
                event = take(read.parts(part[2]))
                any_changed |= event != part[2]
                if event is None:
                    continue
                part = (part[0], 2, event)
            line.append(part)
        out[at] = (PLANE_LINES, 2, joined(line))
    return out if any_changed else None


def event_ids_changed(plane, rng):
    """Every event of one name on a line refers to an entry that is not there."""
    at = rng.choice(places(plane, PLANE_LINES))
    ids = [number(read.parts(e), EVENT_METADATA) for e in read.many(plane[at][2], LINE_EVENTS)]
    gone = rng.choice(ids) if ids else 0

    def take(event):
        if number(event, EVENT_METADATA) == gone:
            event = [(f, t, 1 << 40 if f == EVENT_METADATA else v) for f, t, v in event]
        return joined(event)

    return each_event(plane, [at], take)


def event_stats_removed(plane, rng):
    """One stat of all events, or all stats, of a line."""
    at = rng.choice(places(plane, PLANE_LINES))
    ids = {number(read.parts(stat), 1) for e in read.many(plane[at][2], LINE_EVENTS)
           for stat in read.many(e, EVENT_STATS)}
    gone = {rng.choice(sorted(ids))} if ids and rng.random() < 0.8 else ids

    def take(event):
        return joined([p for p in event
                       if p[0] != EVENT_STATS or number(read.parts(p[2]), 1) not in gone])

    return each_event(plane, [at], take)


def named_ids(plane, words):
    """Of event metadata whose name has one of these words: ids by name."""
    out = {}
    for entry in read.many(b"".join(joined([p]) for p in plane if p[0] == PLANE_EVENTS), PLANE_EVENTS):
        name = read.one(read.one(entry, 2, b""), 2, b"")
        if any(word in name for word in words):
            out[name] = read.one(entry, 1, 0)
    return out


def all_events(ids, rng):
    return set(ids.values()), 1


def part_of_events(ids, rng):
    """Those of one name, or by chance, of which some stay."""
    if len(ids) > 1 and rng.random() < 0.5:
        return {rng.choice(sorted(ids.values()))}, 1
    return set(ids.values()), rng.choice([0.1, 0.5])


def events_of(words, which):
    def damage(plane, rng):
        ids = named_ids(plane, words)
        if not ids:
            return None
        gone, share = which(ids, rng)

        def take(event):
            hit = number(event, EVENT_METADATA) in gone and rng.random() < share
            return None if hit else joined(event)

        return each_event(plane, places(plane, PLANE_LINES), take)

    return in_planes(lambda plane: bool(named_ids(plane, words)), damage)


def span_removed(plane, rng):
    """The events that begin in a part of a line's time, or of all lines of the plane."""
    lines = places(plane, PLANE_LINES)
    if rng.random() < 0.5:
        lines = [rng.choice(lines)]
    starts = [number(read.parts(e), EVENT_OFFSET) for at in lines
              for e in read.many(plane[at][2], LINE_EVENTS)]
    if not starts:
        return None
    first, last = min(starts), max(starts)
    length = (last - first) * rng.choice([0.01, 0.05, 0.2, 0.5])
    begin = first + rng.random() * (last - first)

    def take(event):
        hit = begin <= number(event, EVENT_OFFSET) <= begin + length
        return None if hit else joined(event)

    return each_event(plane, lines, take)


def times(profile, take=None):
    """All events' (begin, end) in ps; with `take`, the profile of those that it keeps."""
    found, kept = [], {}
    for path, data in profile.items():
        space = read.parts(data)
        for at in places(space, PLANES):
            plane = read.parts(space[at][2])
            for line in places(plane, PLANE_LINES):
                parts = read.parts(plane[line][2])
                base, out = number(parts, LINE_TIME) * 1000, []
                for part in parts:
                    if part[0] == LINE_EVENTS and part[1] == 2:
                        event = read.parts(part[2])
                        begin = base + number(event, EVENT_OFFSET)
                        found.append((begin, begin + number(event, EVENT_LENGTH)))
                        if take and not take(*found[-1]):
                            continue
                    out.append(part)
                plane[line] = (PLANE_LINES, 2, joined(out))
            space[at] = (PLANES, 2, joined(plane))
        kept[path] = joined(space)
    return kept if take else found


def window(profile, rng):
    """What lies within a part of the time, as of a capture that was asked for at any moment."""
    events = times(profile)
    first, last = min(e[0] for e in events), max(e[1] for e in events)
    while True:
        begin = first + rng.uniform(0, 0.3) * (last - first)
        end = last - rng.uniform(0, 0.2) * (last - first)
        kept = times(profile, lambda a, b: a >= begin and b <= end)
        yield kept, f"{begin - first} to {end - first} ps"


def dug(data, rng):
    """The bytes without one of their fields, found by going down while that is a message."""
    parts = read.parts(data)
    inner = [i for i, p in enumerate(parts) if p[1] == 2 and len(p[2]) > 40]
    if inner and rng.random() < 0.85:
        at = rng.choices(inner, [len(parts[i][2]) for i in inner])[0]
        try:
            return joined(changed(parts, at, dug(parts[at][2], rng)))
        except (IndexError, KeyError):
            pass
    return joined(changed(parts, rng.randrange(len(parts)), None)) if parts else data


def holds_hlo(plane):
    return name_of(plane) == "/host:metadata"


def hlo_part(plane, rng):
    """A field at some depth: computations, instructions, buffers."""
    return read.parts(dug(joined(plane), rng))


def hlo_byte(plane, rng):
    """One byte of an entry, wherever it falls."""
    found = [i for i in places(plane, PLANE_EVENTS) if plane[i][2]]
    if not found:
        return None
    at = rng.choices(found, [len(plane[i][2]) for i in found])[0]
    return changed(plane, at, flipped(plane[at][2], rng))


# --- a file, the profile -------------------------------------------------------------------------


def flipped(data, rng):
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ rng.randrange(1, 256)]) + data[at + 1 :]


def in_files(damage):
    def kind(profile, rng):
        while True:
            path = rng.choice(sorted(profile))
            yield {**profile, path: damage(profile[path], rng)}, path

    return kind


def plane_removed(data, rng):
    space = read.parts(data)
    return joined(changed(space, rng.choice(places(space, PLANES)), None))


def host_removed(profile, rng):
    while len(profile) > 1:
        path = rng.choice(sorted(profile))
        yield {p: data for p, data in profile.items() if p != path}, path


KINDS = {
    "event-metadata": removed(PLANE_EVENTS),
    "stat-metadata": removed(PLANE_STATS),
    "all-metadata": in_planes(lambda plane: True, emptied),
    "event-ids": in_planes(has(PLANE_LINES), event_ids_changed),
    "event-stats": in_planes(has(PLANE_LINES), event_stats_removed),
    "plane-stats": removed(PLANE_OWN),
    "line": removed(PLANE_LINES),
    "line-events": in_planes(has(PLANE_LINES), line_emptied),
    "span": in_planes(has(PLANE_LINES), span_removed),
    "window": window,
    "plane": in_files(plane_removed),
    "host": host_removed,
    "hlo-part": in_planes(holds_hlo, hlo_part),
    "hlo-byte": in_planes(holds_hlo, hlo_byte),
    "allocator": events_of(ALLOCATOR, all_events),
    "allocator-part": events_of(ALLOCATOR, part_of_events),
    "compilation": events_of(COMPILER, all_events),
    "compilation-part": events_of(COMPILER, part_of_events),
    "byte": in_files(flipped),
    "tail": in_files(lambda data, rng: data[: rng.randrange(len(data))]),
}
