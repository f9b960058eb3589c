#!/usr/bin/env python3
"""The same program, compiled again after an edit that changed nothing: no identity may change.

    python3 tests/scenarios/recompiled.py [PROFILE...]

Rewrites captures as a recompile of an edited file would have left them: other numbers in the names
of instructions and computations, other ids of programs, every source line some lines further down,
a checkout elsewhere, metadata in another order, and another clock.  Then keys, fingerprints, test
cases and verdicts are the same, and `diff` joins every op.  ROOFLINT names the program.
"""

import glob
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path[:0] = [os.path.join(TESTS, "builder"), os.path.join(TESTS, "oracle"), HERE]
if sys.version_info < (3, 11):
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)

import build
import derive
import run as scenarios
from wire import Message, varint
from xplane import BYTES, FIXED64, FIXED32, VARINT, fields, text

# --- messages: what a field holds, where a recompile changes it -----------------------

NAME, LINE, PATH, PROGRAM = "name", "line", "path", "program"
STAT = {5: NAME, 6: "proto"}
EVENT_META = {1: PROGRAM, 2: NAME, 4: NAME, 5: STAT}
STAT_META = {2: NAME}
PLANE = {
    4: {1: PROGRAM, 2: EVENT_META},
    5: {2: STAT_META},
    6: STAT,
}
OP_METADATA = {3: PATH, 4: LINE, 12: NAME, 16: NAME, 17: LINE}
INSTRUCTION = {1: NAME, 7: OP_METADATA}
LOCATIONS = {3: LINE, 5: LINE}
MODULE = {
    2: NAME,
    3: {1: NAME, 2: INSTRUCTION},
    17: {1: PATH, 3: LOCATIONS},
}
HEAP_EVENT = {3: NAME, 4: NAME}
BUFFERS = {1: {3: {2: NAME}}, 4: {1: HEAP_EVENT}}
HLO_PROTO = {1: MODULE, 3: BUFFERS}

SHIFT = 3  # lines inserted above all others
ELSEWHERE = "/builds/7"


def put(out, number, wire, value):
    """A field as it was read."""
    kind = {VARINT: 0, FIXED64: 1, BYTES: 2, FIXED32: 5}[wire]
    out += varint(number << 3 | kind)
    if wire == VARINT:
        out += varint(value)
    elif wire == BYTES:
        out += varint(len(value)) + value
    else:
        out += value


# --- what a recompile does --------------------------------------------------------------


def hlo_names(module):
    """Names of instructions and computations of an HloModuleProto."""
    for number, _, computation in fields(module):
        if number != 3:
            continue
        for inner, _, value in fields(computation):
            if inner == 1:
                yield text(value)
            elif inner == 2:
                yield next(text(v) for n, _, v in fields(value) if n == 1)


def renumbered(name, taken):
    """Another number behind the name: fusion -> fusion.1003, fusion.2.clone.1 -> fusion.19.clone.10"""
    number = lambda found: found[1] + str(int(found[2]) * 7 + 3)
    new = re.sub(r"([._])(\d+)(?=\.|$)", number, name)
    if new == name:
        new = name + ".1003"
    while new in taken:
        new = re.sub(r"\d+$", lambda found: str(int(found[0]) + 1), new)
    return new


class Recompiled:
    """Rewrites the files of one capture."""

    def __init__(self, files):
        self.names, self.stats, self.middle, self.device_middle = {}, {}, 0, 0
        for module in (m for data in files for m in found_protos(data)):
            for name in hlo_names(module):
                self.rename(name)

    def file(self, data):
        out = bytearray()
        for number, wire, value in fields(data):
            put(out, number, wire, self.plane(value) if number == 1 else value)
        return bytes(out)

    def rename(self, name):
        if name in self.names or "param" in name:
            return
        new = renumbered(name, set(self.names.values()))
        self.names[name] = new
        self.names.setdefault(name.replace(".", "_"), new.replace(".", "_"))  # GPU kernels

    def program(self, number):
        return number + 5 if number > 1000 else number

    def name(self, words):
        if words in self.names:
            return self.names[words]
        named = lambda found: "%" + self.names.get(found[1], found[1])
        words = re.sub(r"%([\w.-]+)", named, words)
        return re.sub(r"(?<=\()(\d{4,})\)$", lambda f: f"{self.program(int(f[1]))})", words)

    def lines(self, words):
        """file:line or file:line:column, one or many."""
        moved = lambda found: f":{int(found[1]) + SHIFT}"
        return re.sub(r"(?<=\w):(\d+)", moved, words, count=0 if "\n" in words else 1)

    def stack(self, words):
        return "\n".join(self.lines(line) for line in words.split("\n"))

    def value(self, holds, value, plane):
        if holds == LINE:
            return value + SHIFT if value else value
        if holds == PROGRAM:
            return self.program(value) if plane == "/host:metadata" else value
        if holds == PATH:
            return (ELSEWHERE + "/" + text(value)).encode()
        if holds == "proto":
            return self.message(value, HLO_PROTO, plane) if is_proto(value) else value
        return self.name(text(value)).encode("utf-8", "surrogateescape")

    def message(self, data, schema, plane=""):
        out = bytearray()
        if schema is STAT:
            return self.stat(data, plane)
        for number, wire, value in fields(data):
            holds = schema.get(number)
            if isinstance(holds, dict):
                value = self.message(value, holds, plane)
            elif holds:
                value = self.value(holds, value, plane)
            put(out, number, wire, value)
        return bytes(out)

    def stat(self, data, plane):
        parts = list(fields(data))
        which = self.stats.get(next((v for n, _, v in parts if n == 1), 0), "")
        out = bytearray()
        for number, wire, value in parts:
            if number == 5 and which in ("source", "source_stack"):
                value = self.stack(text(value)).encode()
            elif number in (3, 4) and which == "program_id":
                value = self.program(value)
            elif number in STAT:
                value = self.value(STAT[number], value, plane)
            put(out, number, wire, value)
        return bytes(out)

    def plane(self, data):
        """The maps of metadata in the opposite order; as maps they have none."""
        parts = list(fields(data))
        name = next((text(v) for n, _, v in parts if n == 2), "")
        self.stats = dict(stat_name(v) for n, _, v in parts if n == 5)
        lines = [v for n, _, v in parts if n == 3]
        self.middle, self.device_middle = middles(lines, self.stats)
        maps = [p for p in parts if p[0] in (4, 5)]
        rest = [p for p in parts if p[0] not in (4, 5)]
        out = bytearray()
        for number, wire, value in rest + maps[::-1]:
            if number == 3:
                value = self.line(value, name)
            elif number in PLANE:
                value = self.message(value, PLANE[number], name)
            put(out, number, wire, value)
        return bytes(out)

    def line(self, data, plane):
        base_ps = base_of(data)
        out = bytearray()
        for number, wire, value in fields(data):
            put(out, number, wire, self.event(value, base_ps, plane) if number == 4 else value)
        return bytes(out)

    def event(self, data, base_ps, plane):
        """An event behind the middle of the plane is a nanosecond late: this is another run."""
        start, duration, device = times(data, self.stats)
        late = lambda at, middle: at + 1000 if at > middle else at
        begin = late(base_ps + start, self.middle) - base_ps
        end = late(base_ps + start + duration, self.middle) - base_ps
        on_device = device and [late(at, self.device_middle) for at in (device[0], sum(device))]
        out = bytearray()
        for number, wire, value in fields(data):
            if number == 2:
                value = begin
            elif number == 3:
                value = end - begin
            elif number == 4:
                value = self.message(value, STAT, plane)
                which = self.stats.get(next(v for n, _, v in fields(value) if n == 1), "")
                if on_device and which in DEVICE_TIMES:
                    at = on_device[0] if which == DEVICE_TIMES[0] else on_device[1] - on_device[0]
                    value = b"".join(b"" if n > 1 else b"\x08" + varint(v) for n, _, v in fields(value))
                    value += b"\x20" + varint(at)
            put(out, number, wire, value)
        return bytes(out)


DEVICE_TIMES = ("device_offset_ps", "device_duration_ps")


def stat_name(entry):
    """(id, name) of an entry of a plane's stat_metadata."""
    entry = {n: v for n, _, v in fields(entry)}
    inner = {n: v for n, _, v in fields(entry[2])}
    return entry.get(1, 0), text(inner.get(2, b""))


def base_of(line):
    return 1000 * next((v for n, _, v in fields(line) if n == 3), 0)


def times(event, stats):
    """Start and duration as the host saw them, and as the device did where it says."""
    start = duration = 0
    device = {}
    for number, _, value in fields(event):
        if number == 2:
            start = value
        elif number == 3:
            duration = value
        elif number == 4:
            stat = {n: v for n, _, v in fields(value)}
            if stats.get(stat.get(1, 0)) in DEVICE_TIMES:
                device[stats[stat[1]]] = stat.get(3, stat.get(4, 0))
    return start, duration, [device.get(k, 0) for k in DEVICE_TIMES] if device else None


def middles(lines, stats):
    """The middle of the events of a plane on the host's clock and on the device's."""
    host, device = [], []
    for line in lines:
        base_ps = base_of(line)
        for number, _, event in fields(line):
            if number == 4:
                start, duration, own = times(event, stats)
                host += [base_ps + start, base_ps + start + duration]
                device += [own[0], sum(own)] if own else []
    middle = lambda at: (min(at) + max(at)) // 2 if at else 0
    return middle(host), middle(device)


def is_proto(value):
    """HloProto: a module in field 1 that begins with its name, jit_something or SyncTensorsGraph.N."""
    try:
        number, wire, module = next(fields(value))
        parts = list(fields(module)) if (number, wire) == (1, BYTES) else []
        return parts[:1] != [] and parts[0][:2] == (1, BYTES) and (3, BYTES) in {p[:2] for p in parts}
    except (ValueError, IndexError, StopIteration):
        return False


def found_protos(data):
    for number, _, plane in fields(data):
        for inner, _, entry in fields(plane) if number == 1 else ():
            if inner != 4:
                continue
            for n, _, meta in fields(entry):
                for k, _, stat in fields(meta) if n == 2 else ():
                    for s, _, value in fields(stat) if k == 5 else ():
                        if s == 6 and is_proto(value):
                            yield next(fields(value))[2]


# --- what must be the same ------------------------------------------------------------


OUTPUTS = ("json", "sarif", "gitlab-quality", "junit")


class Capture:
    """A capture in a directory of its own, and what rooflint says of it, called there."""

    def __init__(self, directory, files):
        self.directory = directory
        os.makedirs(self.path("run"))
        for name, data in files.items():
            with open(self.path("run/" + name), "wb") as file:
                file.write(data)

    def path(self, name):
        return os.path.join(self.directory, name)

    def call(self, *words):
        return subprocess.run(
            [scenarios.program(), *words],
            cwd=self.directory,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )

    def rows(self, sql):
        done = self.call("query", "run", sql, "--format", "json")
        return [tuple(row.values()) for row in json.loads(done.stdout)]

    def check(self, *more):
        """Exit status, and the files that it wrote, read."""
        words = []
        for kind in OUTPUTS:
            words += ["--" + kind, kind]
        done = self.call("check", "--rules", "recommended", "-q", *words, *more, "run")
        said = {}
        for kind in OUTPUTS:
            with open(self.path(kind), encoding="utf-8") as file:
                said[kind] = file.read() if kind == "junit" else json.load(file)
        return done.returncode, said


KEYS = {
    "ops": "select key, family, count from ops",
    "families": "select family, kind, members from families",
    "collectives": "select key, family, kind from collectives",
    "edges": "select key, producer_kind from edges",
    "buffers": "select key, kind, bytes from buffers",
    "gaps": "select key, step, cause from gaps",
}


def identities(said):
    """What stands for a finding in each output."""
    report = said["json"]["reports"][0]
    results = said["sarif"]["runs"][0]["results"]
    return {
        "verdicts": [(r["name"], r["verdict"]) for r in report["results"]],
        "subjects": sorted((f["rule"], f["subject"]) for f in report["findings"]),
        "sarif": sorted(r["partialFingerprints"]["rooflint/v1"] for r in results),
        "gitlab": sorted(f["fingerprint"] for f in said["gitlab-quality"]),
        "junit": re.findall(r'<testcase name="([^"]*)" classname="([^"]*)"', said["junit"]),
    }


def expect(what, is_so):
    if not is_so:
        raise AssertionError(what)


def compare(box, files):
    """A capture against its recompiled self; AssertionError where an identity changed."""
    maker = Recompiled(files.values())
    changed = {name: maker.file(data) for name, data in files.items()}
    base, head = Capture(os.path.join(box, "base"), files), Capture(os.path.join(box, "head"), changed)
    names = [set(c.rows("select name from ops")) for c in (base, head)]
    if names[0] and maker.names:
        expect("the recompile renamed ops", names[0] != names[1])
    for table, sql in KEYS.items():
        had, has = (sorted(c.rows(sql), key=repr) for c in (base, head))
        expect(f"{table}: {different(had, has)}", had == has)
    _, said = base.check()
    status, again = head.check("--previous", base.path("json"), "--fail-on", "new")
    expect("nothing new fails", status != 1)
    had, has = identities(said), identities(again)
    for what in had:
        expect(f"{what}: {different(had[what], has[what])}", had[what] == has[what])
    if names[0]:
        told = head.call("diff", base.path("run"), head.path("run")).stdout
        joined = re.search(r"ops: (\d+ (slower|faster), )*\d+ the same", told)
        expect(f"diff joins every op: {told}", joined)


def different(had, has):
    return [x for x in had if x not in has][:2], [x for x in has if x not in had][:2]


# --- the captures ---------------------------------------------------------------------

BUILT = [
    "train-scan",
    "train-unrolled",
    "fsdp-exposed",
    "copy-before-matmul",
    "layer-copies",
    "nvidia-streams",
    "v5p-cores",
    "input-bound",
]


def read(paths):
    files = {}
    for path in paths:
        with open(path, "rb") as file:
            files[os.path.basename(path)] = file.read()
    return files


def runs(root):
    """{directory: its xplane.pb files} below a directory."""
    found = {}
    for path in sorted(glob.glob(os.path.join(root, "**", "*.xplane.pb"), recursive=True)):
        found.setdefault(os.path.dirname(path), []).append(path)
    return found


def captures(named):
    """(name, files) of what is compared: all captures at hand, and built ones."""
    real = os.environ.get("PROFILES") or os.path.join(TESTS, "..", "..", "shared", "profiles")
    roots = named or [os.path.join(TESTS, "profiles"), *glob.glob(os.path.join(real, "*-*"))]
    for root in sorted(roots):
        for directory, paths in runs(root).items():
            yield os.path.relpath(directory, root) + " of " + os.path.basename(root), read(paths)
    for name in [] if named else BUILT:
        spec = derive.load(scenarios.scenario_path(name))
        files = build.kept(spec)
        yield name, {os.path.basename(k): v for k, v in files.items() if k.endswith(".xplane.pb")}


def main(named):
    passed = failed = 0
    for name, files in captures(named):
        with tempfile.TemporaryDirectory() as box:
            try:
                compare(box, files)
                passed += 1
            except AssertionError as error:
                failed += 1
                print(f"FAIL recompiled: {name}: {error}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0 or not passed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
