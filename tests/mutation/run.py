#!/usr/bin/env python3
"""Damage may make a verdict unknown, and never green.

    python3 tests/mutation/run.py [--all] [-v] [--each N] [KIND...]

Takes each profile that `rooflint check` fails (real captures and scenarios), removes or damages
one thing of it, and judges it again.  What may come of it: still red (status 1), inconclusive (4),
refused (3).  A pass, or no more than a warning (0), is a green by absence: a failure of this test,
unless KNOWN says why nobody could see it.

Without --all a few runs of each kind, always the same, are made.  The seed is fixed.
"""

import argparse
import collections
import concurrent.futures
import gzip
import os
import random
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(TOP, "tests", "builder"), os.path.join(TOP, "tests", "scenarios")]

import wire

SEED = 17
RED, INCONCLUSIVE, REFUSED, GREEN = "red", "inconclusive", "refused", "green"
OUTCOMES = {0: GREEN, 1: RED, 3: REFUSED, 4: INCONCLUSIVE}

# A removal that leaves what a healthy capture looks like, and why: docs/security.md lists them.
KNOWN = {
    ("scenario expert-uneven", "plane"): "a device that was never recorded",
    ("scenario memory-limit", "plane"): "an allocator that was never recorded",
    ("scenario memory-leak", "plane"): "an allocator that was never recorded",
    ("scenario memory-leak", "hlo-part"): "a program whose HLO was never recorded",
}

PLANES, PLANE_NAME, PLANE_LINES, PLANE_EVENTS, PLANE_STATS = 1, 2, 3, 4, 5
LINE_EVENTS, EVENT_METADATA = 4, 1


# --- the wire: fields as (number, type, value), value being a number or bytes ------------------


def number(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    out, at = [], 0
    while at < len(data):
        tag, at = number(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = number(data, at)
        elif kind == 2:
            length, at = number(data, at)
            value, at = data[at : at + length], at + length
        else:
            size = 8 if kind == 1 else 4
            value, at = data[at : at + size], at + size
        out.append((tag >> 3, kind, value))
    return out


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


def text_of(parts, field):
    return next((v.decode("utf-8", "replace") for n, k, v in parts if n == field and k == 2), "")


# --- kinds of damage: each yields damaged copies of an xplane.pb, without end ------------------


def in_planes(data, rng, part, damage):
    """Damage one field `part` of a plane that has some, chosen by chance."""
    space = fields(data)
    planes = [i for i in places(space, PLANES) if places(fields(space[i][2]), part)]
    while planes:
        at = rng.choice(planes)
        plane = fields(space[at][2])
        yield joined(changed(space, at, joined(damage(plane, rng.choice(places(plane, part)))))), (
            text_of(plane, PLANE_NAME)
        )


def removed(part):
    def kind(data, rng):
        yield from in_planes(data, rng, part, lambda plane, at: changed(plane, at, None))

    return kind


def plane_removed(data, rng):
    space = fields(data)
    while True:
        at = rng.choice(places(space, PLANES))
        yield joined(changed(space, at, None)), text_of(fields(space[at][2]), PLANE_NAME)


def metadata_emptied(data, rng):
    """All event metadata of a plane, or all its stat metadata."""
    space = fields(data)
    while True:
        at, part = rng.choice(places(space, PLANES)), rng.choice([PLANE_EVENTS, PLANE_STATS])
        plane = fields(space[at][2])
        if places(plane, part):
            rest = [p for p in plane if p[0] != part]
            yield joined(changed(space, at, joined(rest))), text_of(plane, PLANE_NAME)


def line_emptied(data, rng):
    def damage(plane, at):
        line = [p for p in fields(plane[at][2]) if p[0] != LINE_EVENTS]
        return changed(plane, at, joined(line))

    yield from in_planes(data, rng, PLANE_LINES, damage)


def event_id_changed(data, rng):
    """Every event of one name refers to an entry that is not there."""

    def damage(plane, at):
        line = fields(plane[at][2])
        ids = [dict((n, v) for n, k, v in fields(p[2]) if k == 0).get(1, 0) for p in line if p[0] == 4]
        gone = rng.choice(ids) if ids else 0
        out = []
        for n, k, v in line:
            if n == LINE_EVENTS and k == 2:
                event = fields(v)
                if (EVENT_METADATA, 0, gone) in event:
                    v = joined([(f, t, 1 << 40 if f == EVENT_METADATA else x) for f, t, x in event])
            out.append((n, k, v))
        return changed(plane, at, joined(out))

    yield from in_planes(data, rng, PLANE_LINES, damage)


def hlo_part_removed(data, rng):
    """A field of an entry of /host:metadata at some depth: computations, instructions, buffers."""
    space = fields(data)
    at = [i for i in places(space, PLANES) if b"/host:metadata" in space[i][2][:200]]
    while at:
        yield joined(changed(space, at[0], dug(space[at[0]][2], rng))), "/host:metadata"


def dug(data, rng):
    """The bytes without one of their fields, found by going down while that is a message."""
    parts = fields(data)
    inner = [i for i, p in enumerate(parts) if p[1] == 2 and len(p[2]) > 40]
    if inner and rng.random() < 0.85:
        at = rng.choices(inner, [len(parts[i][2]) for i in inner])[0]
        try:
            return joined(changed(parts, at, dug(parts[at][2], rng)))
        except (IndexError, ValueError):
            pass
    return joined(changed(parts, rng.randrange(len(parts)), None)) if parts else data


def bytes_flipped(data, rng):
    while True:
        at, to = rng.randrange(len(data)), rng.randrange(1, 256)
        yield data[:at] + bytes([data[at] ^ to]) + data[at + 1 :], f"byte {at}"


def tail_cut(data, rng):
    while True:
        at = rng.randrange(len(data))
        yield data[:at], f"at {at}"


KINDS = {
    "event-metadata": removed(PLANE_EVENTS),
    "stat-metadata": removed(PLANE_STATS),
    "all-metadata": metadata_emptied,
    "line": removed(PLANE_LINES),
    "line-events": line_emptied,
    "plane": plane_removed,
    "event-ids": event_id_changed,
    "hlo-part": hlo_part_removed,
    "byte": bytes_flipped,
    "tail": tail_cut,
}


# --- red profiles ------------------------------------------------------------------------------


def program():
    return os.path.abspath(
        os.environ.get("ROOFLINT") or os.path.join(TOP, os.environ.get("O", "build"), "rooflint")
    )


def status(directory):
    done = subprocess.run(
        [program(), "check", "--rules", "recommended", "-q", directory],
        capture_output=True,
        timeout=600,
        check=False,
    )
    return done.returncode


def captures(everything):
    """Files named *.xplane.pb of the real captures at hand, the smaller ones."""
    roots = [os.path.join(TOP, "tests", "profiles")]
    if everything:
        roots.append(os.path.join(TOP, "..", "shared", "profiles"))
    for root in roots:
        for folder, _, names in sorted(os.walk(root)):
            paths = [os.path.join(folder, n) for n in sorted(names) if n.endswith(".xplane.pb")]
            if len(paths) == 1 and os.path.getsize(paths[0]) < 4 << 20:
                with open(paths[0], "rb") as file:
                    yield os.path.relpath(folder, root), file.read()


def scenarios(everything):
    """Scenarios of one host that the table says fail."""
    import build
    import run as scenario_run
    import tomllib

    with open(os.path.join(TOP, "tests", "scenarios", "table.toml"), "rb") as file:
        table = tomllib.load(file)
    rows = [(n, r) for n, r in table["scenario"].items() if "fail" in r and "baseline" not in r]
    rows = [(n, r) for n, r in rows if "rules" not in r and "options" not in r]
    for name, row in rows if everything else rows[:2]:
        kept = build.kept(scenario_run.spec_of({"build": name, **row}))
        planes = [data for path, data in kept.items() if path.endswith(".xplane.pb")]
        if len(planes) == 1 and len(kept) == 1 and len(planes[0]) < 8 << 20:
            yield "scenario " + name, planes[0]


def judge(data):
    with tempfile.TemporaryDirectory() as box:
        folder = os.path.join(box, "plugins", "profile", "2026_03_14_09_26_53")
        os.makedirs(folder)
        with open(os.path.join(folder, "host0.xplane.pb"), "wb") as file:
            file.write(data)
        return OUTCOMES.get(status(box), "broken")


# --- the campaign ------------------------------------------------------------------------------


def runs(options, reds):
    for name, data in reds:
        for kind in options.kinds:
            rng = random.Random(f"{SEED} {name} {kind}")
            try:
                made = KINDS[kind](data, rng)
                for i, (bad, what) in zip(range(options.each), made):
                    yield name, kind, f"{i}: {what}", bad
            except IndexError:
                continue


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="every red profile, many runs")
    parser.add_argument("--each", type=int, help="runs of a kind on a profile")
    parser.add_argument("-v", action="store_true")
    parser.add_argument("kinds", nargs="*", default=list(KINDS), metavar="KIND")
    options = parser.parse_args()
    options.each = options.each or (40 if options.all else 3)
    options.kinds = options.kinds or list(KINDS)
    found = list(captures(options.all))
    if sys.version_info >= (3, 11):
        found += scenarios(options.all)
    counts, greens = collections.Counter(), []
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        verdicts = pool.map(judge, [data for _, data in found])
        reds = [f for f, verdict in zip(found, verdicts) if verdict == RED]
        # A few at a time: each holds a damaged copy.
        waiting = collections.deque()
        for name, kind, what, bad in runs(options, reds):
            waiting.append((name, kind, what, pool.submit(judge, bad)))
            if len(waiting) > 16:
                count(*waiting.popleft(), counts, greens)
        while waiting:
            count(*waiting.popleft(), counts, greens)
    table(options, reds, counts)
    known = [g for g in greens if (g[0], g[1]) in KNOWN]
    wrong = [g for g in greens if g not in known]
    for name, kind, what, outcome in wrong:
        print(f"{outcome}: {kind} {what} of {name}")
    total = sum(counts.values())
    print(f"{total - len(wrong) - len(known)} passed, {len(wrong)} failed, {len(known)} skipped")
    return 1 if wrong else 0


def count(name, kind, what, future, counts, greens):
    outcome = future.result()
    counts[kind, outcome] += 1
    if outcome not in (RED, INCONCLUSIVE, REFUSED):
        greens.append((name, kind, what, outcome))


def table(options, reds, counts):
    columns = (RED, INCONCLUSIVE, REFUSED, GREEN, "broken")
    print(f"{len(reds)} red profiles: " + ", ".join(name for name, _ in reds))
    print(f"{'kind':16}" + "".join(f"{c:>14}" for c in ("runs", *columns)))
    for kind in options.kinds:
        row = [counts[kind, c] for c in columns]
        print(f"{kind:16}" + "".join(f"{n:>14}" for n in (sum(row), *row)))


if __name__ == "__main__":
    sys.exit(main())
