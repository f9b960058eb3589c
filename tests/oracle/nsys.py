"""Exports of Nsight Systems: totals by SQL and plain loops, beside rooflint's tables.

What an op is, and to which instruction it belongs, is found here by looking at every range around
every launch.
"""

import bisect
import collections
import re
import sqlite3

SECOND = 1e9                                    # ns
DIRECTIONS = {1: "h2d", 2: "d2h", 3: "h2d", 4: "d2h", 5: "d2d", 6: "d2d", 7: "d2d", 8: "d2d",
              10: "p2p", 11: "h2d", 12: "d2h", 13: "d2d"}
MODULE = re.compile(r"^(?:TSL:)?XlaModule:#(?:prefix=(.*),)?hlo_module=([^,#]*)")
THUNK = re.compile(r"^(?:TSL:)?Thunk:#(?:name=(.*),)?hlo_op=([^,#]*)")
COMMS = re.compile(r"^nccl:_?([^,]*)")
TABLES = {"KERNEL": "NULL", "GRAPH_TRACE": "NULL", "MEMCPY": "copyKind", "MEMSET": "NULL"}


class Op:
    def __init__(self, device, start, end, name, direction, size, owner):
        self.device, self.start, self.end, self.name = device, start, end, name
        self.direction, self.size, self.owner = direction, size, owner


class Export:
    def __init__(self, path):
        self.db = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        self.db.row_factory = sqlite3.Row
        self.strings = dict(self.rows("SELECT id, value FROM StringIds")) \
            if self.has("StringIds") else {}
        self.ranges = self.read_ranges()
        self.comms = {}
        self.launches = self.read_launches()
        self.ops = [op for table in TABLES for op in self.read_ops(table)]

    def rows(self, sql):
        return [tuple(row) for row in self.db.execute(sql)]

    def has(self, table):
        return bool(self.rows(f"SELECT 1 FROM sqlite_master WHERE name = '{table}'"))

    def read_ranges(self):
        """By thread: (start, end, text), of XLA's ranges and of PyTorch's collectives alone."""
        found = collections.defaultdict(list)
        for row in self.db.execute("SELECT * FROM NVTX_EVENTS") if self.has("NVTX_EVENTS") else ():
            text = row["text"] or self.strings.get(row["textId"] if "textId" in row.keys() else None)
            if row["end"] is not None and text and any(p.match(text) for p in (MODULE, THUNK, COMMS)):
                found[row["globalTid"]].append((row["start"], row["end"], text))
        return found

    def read_launches(self):
        """(process, correlation) -> (module, instruction, scope) of the ranges around the call; and
        what PyTorch calls a collective of NCCL, innermost."""
        found = {}
        if not self.has("CUPTI_ACTIVITY_KIND_RUNTIME"):
            return found
        for tid, correlation, start in self.rows("SELECT globalTid, correlationId, start FROM "
                                                 "CUPTI_ACTIVITY_KIND_RUNTIME"):
            around = sorted((r for r in self.ranges.get(tid, ()) if r[0] <= start <= r[1]),
                            key=lambda r: (r[0], -r[1]))
            modules = [m for r in around if (m := MODULE.match(r[2]))]
            thunks = [t for r in around if (t := THUNK.match(r[2]))]
            comms = [c for r in around if (c := COMMS.match(r[2]))]
            if comms:
                self.comms[tid >> 24, correlation] = "nccl:" + comms[-1][1].replace("_", "-")
            if modules and thunks:
                scope = "/".join(filter(None, (modules[-1][1], thunks[-1][1])))
                found[tid >> 24, correlation] = modules[-1][2], thunks[-1][2], scope
        return found

    def read_ops(self, table):
        name = f"CUPTI_ACTIVITY_KIND_{table}"
        for row in self.db.execute(f"SELECT * FROM {name}") if self.has(name) else ():
            direction, size = None, 0
            if table == "KERNEL":
                called = self.strings[row["demangledName"]]
                if called.startswith("nccl"):
                    called = self.comms.get((row["globalPid"] >> 24, row["correlationId"]), called)
            elif table == "MEMCPY":
                direction, size = DIRECTIONS.get(row["copyKind"]), row["bytes"]
                called = "Memcpy" + (direction or "other").upper()
            else:
                called = {"MEMSET": "Memset"}.get(table) or f"CudaGraphExec:{row['graphId']}"
            owner = self.launches.get((row["globalPid"] >> 24, row["correlationId"]))
            yield Op(row["deviceId"], row["start"], row["end"], called, direction, size, owner)

    def by_device(self):
        found = collections.defaultdict(list)
        for op in self.ops:
            found[op.device].append((op.start, op.end))
        return found


def busy(intervals):
    total, reached = 0, min(intervals)[0]
    for start, end in sorted(intervals):
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return total


def compare_devices(report, capture, export, tables, closely):
    rows = tables.rows("SELECT device, events, window_s, busy_s FROM devices WHERE events > 0")
    rows = {int(row["device"].rsplit(":", 1)[1]): row for row in rows}
    devices = export.by_device()
    for column, value, same in (
            ("events", len, lambda a, b: a == b),
            ("window_s", lambda v: (max(e for _, e in v) - min(v)[0]) / SECOND, closely),
            ("busy_s", lambda v: busy(v) / SECOND, closely)):
        report.check(capture, f"devices.{column}", {d: value(v) for d, v in devices.items()},
                     {d: row[column] for d, row in rows.items()}, same)


def compare_window(report, capture, export, tables, closely):
    """Where nothing marks steps, everything counts: kernels by name, copies by direction."""
    times, counts = collections.Counter(), collections.Counter()
    moved, copied = collections.Counter(), collections.Counter()
    for op in export.ops:
        if op.direction:
            copied[op.direction] += 1
            moved[op.direction] += op.size
        times[tables.plain(op.name)] += op.end - op.start
        counts[tables.plain(op.name)] += 1
    rows = tables.by("SELECT name, sum(count) AS n, sum(time_s) AS t FROM ops GROUP BY name", "name")
    report.check(capture, "ops.count", {(name,): n for name, n in counts.items()},
                 {key: row["n"] for key, row in rows.items()})
    report.check(capture, "ops.time_s", {(name,): t / SECOND for name, t in times.items()},
                 {key: row["t"] for key, row in rows.items()}, closely)
    devices = len(export.by_device())
    rows = tables.by("SELECT direction, count, bytes FROM transfers WHERE count > 0", "direction")
    report.check(capture, "transfers.count", {(d,): n for d, n in copied.items()},
                 {key: row["count"] for key, row in rows.items()})
    report.check(capture, "transfers.bytes", {(d,): n / devices for d, n in moved.items() if n},
                 {key: row["bytes"] for key, row in rows.items() if row["bytes"]}, closely)


def compare_owners(report, capture, export, tables):
    owners = {tuple(map(tables.plain, op.owner)): True for op in export.ops if op.owner}
    rows = tables.by("SELECT module, name, scope FROM ops WHERE module IS NOT NULL AND "
                     "scope IS NOT NULL", "module", "name", "scope")
    report.check(capture, "ops' owners", owners, {key: True for key in rows})


def compare(report, capture, path, tables, closely):
    export = Export(path)
    compare_devices(report, capture, export, tables, closely)
    compare_owners(report, capture, export, tables)
    if tables.rows("SELECT steps_source FROM run")[0]["steps_source"] == "window":
        compare_window(report, capture, export, tables, closely)
