"""What a writer of XSpace may do otherwise, and no reader may notice.

Each kind makes of a file's bytes others that say the same: protobuf leaves open in which order
fields stand, metadata ids are the writer's own, and what a reader does not know it passes over.
Events stay in their order, which every writer of XLA sorts.
"""

from damage import (
    EVENT_METADATA,
    EVENT_STATS,
    LINE_EVENTS,
    LINE_TIME,
    PLANE_EVENTS,
    PLANE_LINES,
    PLANE_NAME,
    PLANE_OWN,
    PLANE_STATS,
    PLANES,
    joined,
    number,
    places,
)
from read import one, parts

ENTRY_KEY, ENTRY_VALUE = 1, 2  # of a map
META_ID, META_NAME, META_STATS = 1, 2, 5
STAT_METADATA, STAT_STR, STAT_REF = 1, 5, 7
DAY_NS = 86_400 * 10**9


def within(message, field, change):
    """The parts of `message` with the bytes of each field `field` changed."""
    return [(n, k, change(v)) if (n, k) == (field, 2) else (n, k, v) for n, k, v in message]


def in_planes(change):
    def kind(data, rng):
        return joined(within(parts(data), PLANES, lambda plane: joined(change(parts(plane), rng))))

    return kind


def each_event(plane, change):
    def line(data):
        return joined(within(parts(data), LINE_EVENTS, lambda e: joined(change(parts(e)))))

    return within(plane, PLANE_LINES, line)


def shuffled(message, field, rng):
    at = places(message, field)
    out = list(message)
    for i, other in zip(at, rng.sample(at, len(at))):
        out[i] = message[other]
    return out


def with_ids(message, field, new):
    """Numbers of the field, by the table."""
    return [(n, k, new.get(v, v)) if (n, k) == (field, 0) else (n, k, v) for n, k, v in message]


def new_ids(plane, field, rng):
    """Another id for each entry of a map; those without one have 0."""
    old = {number(parts(v), ENTRY_KEY) for n, k, v in plane if (n, k) == (field, 2)}
    return dict(zip(sorted(old), rng.sample(range(1, 1 << 30), len(old))))


def entries_with_ids(plane, field, new):
    def entry(data):
        e = parts(data)
        key = new[number(e, ENTRY_KEY)]
        old = {number(e, ENTRY_KEY): key}
        e = within(e, ENTRY_VALUE, lambda m: joined(with_ids(parts(m), META_ID, old)))
        return joined([(ENTRY_KEY, 0, key)] + [p for p in e if p[0] != ENTRY_KEY])

    return within(plane, field, entry)


def each_stat(plane, change):
    """The stats of events, of their metadata and of the plane."""

    def meta(data):
        return joined(within(parts(data), META_STATS, change))

    plane = each_event(plane, lambda e: within(e, EVENT_STATS, change))
    plane = within(plane, PLANE_EVENTS, lambda e: joined(within(parts(e), ENTRY_VALUE, meta)))
    return within(plane, PLANE_OWN, change)


def event_ids(plane, rng):
    new = new_ids(plane, PLANE_EVENTS, rng)
    plane = entries_with_ids(plane, PLANE_EVENTS, new)
    return each_event(plane, lambda e: with_ids(e, EVENT_METADATA, new))


def stat_ids(plane, rng):
    new = new_ids(plane, PLANE_STATS, rng)
    plane = entries_with_ids(plane, PLANE_STATS, new)
    return each_stat(
        plane, lambda s: joined(with_ids(with_ids(parts(s), STAT_METADATA, new), STAT_REF, new))
    )


def spelled(plane, rng):
    """Texts that stand once as a stat's name stand where they are meant."""
    names = {}
    for n, k, v in plane:
        if (n, k) == (PLANE_STATS, 2):
            value = one(v, ENTRY_VALUE, b"")
            names[number(parts(v), ENTRY_KEY)] = one(value, META_NAME, b"")

    def stat(data):
        return joined(
            (STAT_STR, 2, names[v]) if (n, k) == (STAT_REF, 0) and v in names else (n, k, v)
            for n, k, v in parts(data)
        )

    return each_stat(plane, stat)


def field_order(plane, rng):
    """Of the plane, of its events and their stats."""
    plane = each_stat(plane, lambda s: joined(rng.sample(parts(s), len(parts(s)))))
    plane = each_event(plane, lambda e: rng.sample(e, len(e)))
    lines = shuffled(plane, PLANE_LINES, rng)
    return shuffled(shuffled(lines, PLANE_EVENTS, rng), PLANE_STATS, rng)[::-1]


def unknown_fields(plane, rng):
    news = [(200, 2, b"new"), (201, 0, 7), (202, 1, bytes(8)), (203, 5, bytes(4))]
    return each_event(plane, lambda e: e + [rng.choice(news)]) + news


def unknown_plane(data, rng):
    name = rng.choice([b"/device:CUSTOM:New", b"/host:new tracer"])
    line = joined([(2, 2, b"A line"), (LINE_EVENTS, 2, joined([(1, 0, 1), (2, 0, 5), (3, 0, 9)]))])
    entry = joined([(META_ID, 0, 1), (META_NAME, 2, b"new")])
    meta = joined([(ENTRY_KEY, 0, 1), (ENTRY_VALUE, 2, entry)])
    space = parts(data)
    plane = joined([(PLANE_NAME, 2, name), (PLANE_LINES, 2, line), (PLANE_EVENTS, 2, meta)])
    at = rng.choice([0, len(space)])
    return joined(space[:at] + [(PLANES, 2, plane)] + space[at:])


def later(plane, rng):
    def line(data):
        at = parts(data)
        rest = [p for p in at if p[0] != LINE_TIME]
        return joined([(LINE_TIME, 0, number(at, LINE_TIME) + DAY_NS)] + rest)

    return within(plane, PLANE_LINES, line)


KINDS = {
    "event-ids": in_planes(event_ids),
    "stat-ids": in_planes(stat_ids),
    "texts-spelled": in_planes(spelled),
    "field-order": in_planes(field_order),
    "unknown-fields": in_planes(unknown_fields),
    "unknown-plane": unknown_plane,
    "a-day-later": in_planes(later),
}
