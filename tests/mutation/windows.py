"""A capture of a part of a job says of that part what the capture of the whole says of it.

Each capture is cut as by a profiler that was asked for at another moment: what is left are the
events that lie within a part of the time.  Its steps must be steps of the whole, found by the same
source, as long and as idle; and of an accelerator as much of them is a wait for the host.  Where
the part has too few executions for steps, it must be inconclusive.  Each program runs as often and
as long as its executions within the part, by the Modules lines where there are some, and at most
as those that the part cuts beside them; on a device that runs one after another, no longer in all
than the part.  Compared with each other, neither is slower.  All of it once more without HLO, which
some profilers leave out.
"""

import bisect
import json
import os
import subprocess
import tempfile

import damage
import read

# Shares of a capture's time that are left.
WINDOWS = ((0.02, 1), (0, 0.97), (0.13, 0.89), (0.3, 1), (0, 0.61), (0.41, 0.93))
# Of a step's length, and of all steps' time.  Of 20,678 steps in 1,434 parts 99.93% were the same to
# the picosecond, and the worst off by 0.33%; what is expected of a wait is an estimate, and of 878 the
# worst was off by 1.3 points.  What was mistaken was off by 34% and more, and by 6.9 points and more.
STEP_MARGIN, WAIT_MARGIN = 0.01, 0.03
# Of a window: what rounding makes of the sum of its programs.
SHARE_MARGIN = 1e-6
# Of so many executions the first warms up, and the last one's end was not seen.
EXECUTIONS_FEW = 3

# Captures, and the names of scenarios, whose parts say something else, and why.
KNOWN = {
    "block_after": "its annotations lie before what they launched: parts have one without the other",
    "unblocked": "the same",
    "distilling": "only HLO says that an update is a step: a norm behind every sixth makes one of six",
    "acting": "without HLO a round is the step, and a part with two of them has updates",
    "h100_memory_bound": "benchmarks one after another: in a part other programs repeat",
    "mi300-elementwise-08": "the same",
    "mi300-gemm-08": "the same",
    "jax-cpu-ops": "the same",
    "scenario two-captures": "two captures in a file, on two clocks",
    "scenario starved-evaluation": "an execution that the part cuts lasts until what comes behind its wait",
    "scenario starved-evaluation-marked": "the same",
    "scenario starved-inference": "the same",
    "scenario waiting-server": "the same",
    "scenario late-host": "of a part, too, one host's devices show an end of the last step, the other's none",
    "scenario one-step": "a part of the only step: without HLO nothing says that its rounds are none",
}

REFUSED, INCONCLUSIVE = 3, 4

MODULES = b"XLA Modules"

QUERY = """SELECT r.platform, r.steps_source AS source, r.devices, w.wait_ratio,
  (SELECT executions FROM programs ORDER BY time_s DESC LIMIT 1) AS executions,
  s.host, s.device, s.start_s, s.time_s, s.idle_s, s.is_complete > s.is_warmup AS is_steady
  FROM run r LEFT JOIN waits w ON w.role = 'step' LEFT JOIN steps s"""
PROGRAMS = "SELECT program, module, has_hlo, executions, time_s, time_share FROM programs"


class Timed:
    """A profile whose events are read once and cut often."""

    def __init__(self, profile):
        self.files = {path: [plane(p) for p in read.parts(data)] for path, data in profile.items()}
        times = [e for f in self.files.values() for _, lines in f for _, es in lines for e in es]
        self.first = min((e[0] for e in times), default=0)
        self.last = max((e[1] for e in times), default=0)
        self.runs = {}
        for data in profile.values():
            for _, _, value in (p for p in read.parts(data) if p[:2] == (damage.PLANES, 2)):
                for program, begin, finish in executions(read.parts(value)):
                    self.runs.setdefault(program, []).append((begin, finish))

    def between(self, begin, end):
        length = self.last - self.first
        return self.first + begin * length, self.first + end * length

    def cut(self, begin, end, hlo):
        """What lies between two shares of the time."""
        lo, hi = self.between(begin, end)
        return {
            path: damage.joined(
                (field, kind, value + b"".join(line_within(line, lo, hi) for line in lines))
                for (field, kind, value), lines in planes
                if hlo or (field, kind) != (damage.PLANES, 2) or not damage.holds_hlo(read.parts(value))
            )
            for path, planes in self.files.items()
        }


def plane(part):
    """(the plane but for its lines, [(a line but for its events, [(begin, end, bytes)])])."""
    if part[:2] != (damage.PLANES, 2):
        return part, []
    fields = read.parts(part[2])
    lines = [line(v) for n, k, v in fields if (n, k) == (damage.PLANE_LINES, 2)]
    return (*part[:2], damage.joined(f for f in fields if f[:2] != (damage.PLANE_LINES, 2))), lines


def line(data):
    fields, events = read.parts(data), []
    base = damage.number(fields, damage.LINE_TIME) * 1000
    for field in fields:
        if field[:2] == (damage.LINE_EVENTS, 2):
            event = read.parts(field[2])
            begin = base + damage.number(event, damage.EVENT_OFFSET)
            end = begin + damage.number(event, damage.EVENT_LENGTH)
            events.append((begin, end, damage.joined([field])))
    return damage.joined(f for f in fields if f[:2] != (damage.LINE_EVENTS, 2)), events


def executions(fields):
    """(program, begin, end) of a plane's Modules lines, whose events' names end with "(program)"."""
    names = {}
    for pair in (read.parts(v) for n, k, v in fields if (n, k) == (damage.PLANE_EVENTS, 2)):
        name = next((read.one(v, 2, b"") for n, _, v in pair if n == 2), b"")
        names[damage.number(pair, 1)] = name.decode("utf-8", "replace").rpartition("(")[2].rstrip(")")
    for data in (v for n, k, v in fields if (n, k) == (damage.PLANE_LINES, 2)):
        if read.one(data, damage.LINE_NAME) == MODULES:
            for begin, end, event in line(data)[1]:
                yield names[damage.number(read.parts(read.parts(event)[0][2]), damage.EVENT_METADATA)], begin, end


def line_within(line, lo, hi):
    rest, events = line
    body = rest + b"".join(data for begin, end, data in events if begin >= lo and end <= hi)
    return damage.joined([(damage.PLANE_LINES, 2, body)])


class Said:
    """What a profile says; `run` is the module that writes and checks it."""

    def __init__(self, profile, run):
        self.profile = profile
        with tempfile.TemporaryDirectory() as box:
            run.write(profile, box)
            done = run.check(box, "--json", "-")
            self.status, self.report = done.returncode, done.stdout
            rows, programs = (asked(run, box, question) for question in (QUERY, PROGRAMS))
        self.programs = {row["program"]: row for row in programs}
        self.row = rows[0] if rows else dict.fromkeys(("source", "wait_ratio"))
        self.steady, self.steps = [row for row in rows if row["is_steady"]], {}
        for row in sorted(rows, key=lambda s: s["start_s"] or 0):
            self.steps.setdefault((row["host"], row["device"]), []).append(row)

    def has_few(self):
        return self.row["source"] is None or (self.row["executions"] or 0) <= EXECUTIONS_FEW * self.row["devices"]


def asked(run, box, question):
    ask = [run.program(), "query", box, question, "--format", "json"]
    done = subprocess.run(ask, capture_output=True, timeout=600, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else []


def idle_of(steps):
    return sum(s["idle_s"] for s in steps) / (sum(s["time_s"] for s in steps) or 1)


def twins(whole, part):
    """Each step of a part with the step of the whole that it is.  The clocks differ by a shift that is
    not known: of all that make the first step one of the whole's, the one that fits best."""
    starts, best = [s["start_s"] for s in whole], None
    for first in whole:
        shift, pairs, off = first["start_s"] - part[0]["start_s"], [], 0
        for s in part:
            at = bisect.bisect(starts, s["start_s"] + shift)
            gap, twin = min((abs(starts[i] - s["start_s"] - shift), i) for i in (at - 1, at) if 0 <= i < len(whole))
            pairs.append((whole[twin], s))
            off += gap + abs(whole[twin]["time_s"] - s["time_s"])
        if best is None or off < best[0]:
            best = off, pairs
    return best[1]


def differs(whole, part):
    """What a part says otherwise; None where it agrees."""
    if part.row["source"] != whole.row["source"]:
        few = part.has_few() and part.status == INCONCLUSIVE
        return None if few else f"steps by {part.row['source']}, not {whole.row['source']}"
    there = []
    for device, steps in part.steps.items():
        steps = [s for s in steps if s["is_steady"]]
        for twin, step in twins(whole.steps[device], steps) if steps and device in whole.steps else ():
            there.append(twin)
            for word, column in (("long", "time_s"), ("idle", "idle_s")):
                if abs(twin[column] - step[column]) > STEP_MARGIN * twin["time_s"]:
                    return f"a step of {device[1]} is {step[column]:.4g} s {word}, not {twin[column]:.4g}"
    wait, all_wait = part.row["wait_ratio"], whole.row["wait_ratio"]
    if there and all_wait is not None and part.row["platform"] != "cpu":
        # Where these steps are more idle than all of them, they wait so much more.
        expected = all_wait + idle_of(there) - idle_of(whole.steady)
        if wait is None or abs(wait - expected) > WAIT_MARGIN:
            return f"waits {wait}, not {expected:.3f}"
    return None


def programs_differ(whole, part, timed, lo, hi, hlo):
    """What the programs of a part that lies between two moments say otherwise; None: nothing.
    Without HLO nothing says that rounds of a loop are none, where the part cuts the loop itself."""
    shares = [sum(p["time_share"] or 0 for p in said.programs.values()) for said in (whole, part)]
    if shares[1] > max(shares[0], 1) + SHARE_MARGIN:
        return f"programs take {shares[1]:.3f} of the window"
    for program, all_of in whole.programs.items():
        here = part.programs.get(program, {"executions": 0, "time_s": 0})
        runs, inside, touched = timed.runs.get(program, []), (0, 0), (all_of["executions"], all_of["time_s"])
        if len(runs) == all_of["executions"] and abs(counted(runs)[1] / all_of["time_s"] - 1) < STEP_MARGIN:
            inside = counted([(b, e) for b, e in runs if b >= lo and e <= hi])
            touched = counted([(max(b, lo), min(e, hi)) for b, e in runs if b < hi and e > lo])
        most = touched[0] if (hlo and all_of["has_hlo"]) or inside[0] else here["executions"]
        if not inside[0] <= here["executions"] <= most:
            return f"{all_of['module']} ran {here['executions']} times, not {inside[0]} to {touched[0]}"
        margin = STEP_MARGIN * all_of["time_s"] / all_of["executions"] * max(touched[0], 1)
        if not inside[1] - margin <= here["time_s"] <= touched[1] + margin:
            return f"{all_of['module']} ran for {here['time_s']:.4g} s, not {inside[1]:.4g} to {touched[1]:.4g}"
    return None


def counted(runs):
    return len(runs), sum(end - begin for begin, end in runs) / 1e12


def regresses(head, base, run):
    """Whether a profile is slower than another, by the rules."""
    with tempfile.TemporaryDirectory() as box:
        run.write(head.profile, box)
        with open(os.path.join(box, "base.json"), "wb") as file:
            file.write(base.report)
        done = run.check(box, "--json", "-", "--baseline", "base.json")
    results = json.loads(done.stdout)["reports"][0]["results"] if done.stdout else []
    return any((r["name"], r["verdict"]) == ("step-regression", "fail") for r in results)


def compared(found, pool, run):
    """What parts say otherwise, [(name, what)], and how many were compared."""

    def compare(name, timed, hlo):
        whole, out = Said(timed.cut(0, 1, hlo), run), []
        if whole.status == REFUSED or whole.row["source"] in (None, "window"):
            return [], 0
        for begin, end in WINDOWS:
            part = Said(timed.cut(begin, end, hlo), run)
            what = differs(whole, part) or programs_differ(whole, part, timed, *timed.between(begin, end), hlo)
            if not what and (regresses(part, whole, run) or regresses(whole, part, run)):
                what = "one is slower than the other"
            if what:
                out.append((name, f"{begin} to {end}{'' if hlo else ', without HLO'}: {what}"))
        return out, len(WINDOWS)

    def one(capture):
        if run.judge(capture[1]) == run.REFUSED:
            return [], 0
        timed = Timed(capture[1])
        both = [compare(capture[0], timed, hlo) for hlo in (True, False)]
        return both[0][0] + both[1][0], both[0][1] + both[1][1]

    done = list(pool.map(one, found))
    return [what for out, _ in done for what in out], sum(n for _, n in done)
