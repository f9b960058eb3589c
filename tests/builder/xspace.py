"""XSpace, XPlane, XLine, XEvent and stats, as the profilers write them.

Field numbers are those of the XSpace schema.  The order inside a plane is that
of real files: id, name, lines, event_metadata, stat_metadata, stats; readers
meet the events before the names.  Map entries come in hash order, not sorted.
"""

from wire import MASK64, Message, as_bytes


class U(int):
    """A stat value that goes out as uint64 (a plain int is int64)."""


class Ref(str):
    """A stat value that goes out as a reference into stat_metadata."""


def hash_order(key):
    """A fixed scramble (splitmix64) standing in for a hash map's order."""
    z = (key + 0x9E3779B97F4A7C15) & MASK64
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK64
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK64
    return z ^ z >> 31


def map_entry(field, key, message):
    return Message().msg(field, Message().int(1, key, keep=True).msg(2, message))


class Line:
    """One timeline.  timestamp_ns is its base; offsets of events are in ps."""

    def __init__(self, plane, line_id, name, timestamp_ns, display_name):
        self.plane, self.id, self.name = plane, line_id, name
        self.timestamp_ns, self.display_name = timestamp_ns, display_name
        self.events = []
        self.shuffled = False

    def event(self, metadata_id, offset_ps, duration_ps, stats=None):
        self.events.append((metadata_id, offset_ps, duration_ps, stats or {}))

    def add(self, name, offset_ps, duration_ps, stats=None):
        """An event whose metadata is only a name."""
        self.event(self.plane.named(name), offset_ps, duration_ps, stats)

    def write(self):
        out = Message().int(1, self.id).data(2, self.name).int(3, self.timestamp_ns)
        order = sorted(self.events, key=lambda e: (e[1], -e[2]))
        if self.shuffled:  # the events as threads hand them in: a few places off
            order = sorted(order, key=lambda e: hash_order(e[1]) % 64 * 10**8 + e[1])
        for mid, offset, duration, stats in order:
            event = Message().int(1, mid).int(2, offset, keep=True).int(3, duration)
            for name, value in stats.items():
                event.msg(4, self.plane.stat(name, value))
            out.msg(4, event)
        return out.data(11, self.display_name)


class Plane:
    def __init__(self, name, plane_id=0):
        self.name, self.id = name, plane_id
        self.lines, self.stats = [], {}
        self.raw_stats = []
        self._stat_ids, self._events, self._by_key = {}, {}, {}

    def line(self, line_id, name, timestamp_ns=0, display_name=""):
        self.lines.append(Line(self, line_id, name, timestamp_ns, display_name))
        return self.lines[-1]

    def stat_id(self, name):
        return self._stat_ids.setdefault(as_bytes(name), len(self._stat_ids) + 1)

    def stat(self, name, value):
        """One XStat; the Python type of the value picks the oneof field."""
        out = Message().int(1, self.stat_id(name))
        if isinstance(value, Ref):
            return out.int(7, self.stat_id(value), keep=True)
        if isinstance(value, U):
            return out.int(3, value, keep=True)
        if isinstance(value, (bool, int)):
            return out.int(4, int(value), keep=True)
        if isinstance(value, float):
            return out.double(2, value)
        if isinstance(value, (bytes, bytearray)):
            return out.data(6, value, keep=True)
        return out.data(5, value, keep=True)

    def named(self, name):
        """Metadata id of a plain name, interned."""
        return self.metadata(("name", as_bytes(name)), name)

    def metadata(self, key, name, display_name="", stats=None, number=None):
        """Metadata id for `key`, made on first use.

        `number` sets the map key itself: /host:metadata uses program ids.
        """
        if key not in self._by_key:
            number = len(self._events) + 1 if number is None else number
            self._by_key[key] = number
            self._events[number] = (name, display_name, stats or {})
        return self._by_key[key]

    def write(self):
        lines = [line.write() for line in self.lines]
        events = {n: self._metadata(n, *m) for n, m in self._events.items()}
        stats = [self.stat(n, v) for n, v in self.stats.items()] + self.raw_stats
        out = Message().int(1, self.id).data(2, self.name)
        for line in lines:
            out.msg(3, line)
        for number in sorted(events, key=hash_order):
            out.buf += bytes(map_entry(4, number, events[number]))
        names = {n: name for name, n in self._stat_ids.items()}
        for number in sorted(names, key=hash_order):
            entry = Message().int(1, number).data(2, names[number])
            out.buf += bytes(map_entry(5, number, entry))
        for stat in stats:
            out.msg(6, stat)
        return out

    def _metadata(self, number, name, display_name, stats):
        out = Message().int(1, number).data(2, name).data(4, display_name)
        for stat, value in stats.items():
            out.msg(5, self.stat(stat, value))
        return out


def write_space(planes, hostnames=(), warnings=(), errors=()):
    """The bytes of an .xplane.pb file: one bare XSpace."""
    out = Message()
    for plane in planes:
        out.msg(1, plane.write())
    for text in errors:
        out.data(2, text)
    for text in warnings:
        out.data(3, text)
    for text in hostnames:
        out.data(4, text)
    return bytes(out)
