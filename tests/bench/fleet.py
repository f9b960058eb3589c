#!/usr/bin/env python3
"""A fleet to audit, what that costs, and whether what was planted is found: fleet.py [--runs N]

Runs are real captures and scenarios of tests/builder, retold (retell.py) with noise of their own, so
that no two are the same: workloads of several owners, models and chips, over ten weeks.  Planted: step
times that take another level for good, rules that begin to be broken or are mended in the last week,
captures that are cut or are no profile at all.  Then:

  - the audit with a store: wall time, profiles per second, peak memory, size of the store; a tenth of
    the runs beside it, for how memory grows;
  - the same, killed in the middle and run again: the same bytes;
  - seven shards, merged: the same bytes;
  - what the report says, beside what was planted.

From the environment: ROOFLINT, PROFILES (real captures; without them there are the project's own).
"""
import argparse
import datetime
import glob
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "../..")
sys.path.insert(0, HERE)
import retell  # noqa: E402
from used import used  # noqa: E402

ROOFLINT = os.environ.get("ROOFLINT", os.path.join(TOP, "build/rooflint"))
PROFILES = os.environ.get("PROFILES") or os.path.join(TOP, "../shared/profiles")
BUILDER = os.path.join(TOP, "tests/builder")
END = datetime.datetime(2026, 11, 20, 12, tzinfo=datetime.timezone.utc)
WINDOW = ["--since", "7d", "--until", "2026-11-21"]
WEEKS, PER_WEEK = 10, 5
OWNERS = ["pretraining", "search-quality", "vision", "speech", "ads-ranking"]
MODELS = ["llama", "gemma", "mixtral", "vit"]
CAPTURES = ["mi300-conv-08", "mi300-elementwise-08", "amd-te-fused-attn", "jax-cpu-train"]
# A healthy program, the same with one thing spoilt, and the rule that tells.
PAIRS = [("train-scan", "input-bound", "idle"),
         ("train-scan", "slow-matmul", "matmul-roofline"),
         ("nvidia-streams", "nvidia-slow-nccl", "exposed-communication")]
LEVELS = [1.08, 1.25, 0.93]  # none makes anything faster than its roofline


class Source:
    """The files of a capture, retold on demand and kept by how."""

    def __init__(self, folder):
        self.files = [(os.path.basename(name), open(name, "rb").read())
                      for name in sorted(glob.glob(folder + "/plugins/profile/*/*.xplane.pb"))]
        self.told = {}

    def tell(self, factor):
        if factor not in self.told:
            told = [(name, retell.scaled(data, factor)) for name, data in self.files]
            self.told[factor] = [(name, data, retell.date_places(data)) for name, data in told]
        return self.told[factor]


def find_sources(box):
    """Real captures, and pairs of scenarios."""
    folders = [os.path.join(root, name) for name in CAPTURES
               for root in (PROFILES, os.path.join(TOP, "tests/profiles"))]
    real = [Source(folder) for folder in folders if os.path.isdir(folder)]
    built = {}
    for name in {name for pair in PAIRS for name in pair[:2]}:
        out = os.path.join(box, "scenarios", name)
        subprocess.run([sys.executable, f"{BUILDER}/build.py", f"{BUILDER}/scenarios/{name}.toml",
                        out], check=True, stdout=subprocess.DEVNULL)
        built[name] = Source(out)
    return real, [(built[good], built[bad], rule) for good, bad, rule in PAIRS]


class Workload:
    def __init__(self, number, count, real, pairs):
        rng = self.rng = random.Random(f"fleet {number}")
        self.name = f"{OWNERS[number % 5]}/{MODELS[number % 4]}-{number:03d}"
        self.owner, self.model = OWNERS[number % 5], MODELS[number % 4]
        self.count, self.number = count, number
        self.level_at = self.turns_at = None
        self.level, self.rule, self.turn = 1, None, None
        if number % 2:
            self.before, self.after, self.rule = pairs[number // 2 % len(pairs)]
            if number % 8 in (1, 7):
                self.turn = "new" if number % 8 == 1 else "fixed"
                self.turns_at = count - 4
            if self.turn == "fixed":
                self.before, self.after = self.after, self.before
        else:
            self.before = self.after = real[number // 2 % len(real)]
        if not self.turn and number % 5 == 2:
            self.level_at = rng.randrange(6, count - 4)
            self.level = rng.choice(LEVELS)

    def change_at(self):
        """The first run of another level of its step time, or None."""
        return self.level_at or self.turns_at

    def capture(self, n):
        source = self.after if self.turns_at is not None and n >= self.turns_at else self.before
        noise = round(max(-2.5, min(2.5, self.rng.gauss(0, 1))) * 2) / 2 * 0.008
        level = self.level if self.level_at is not None and n >= self.level_at else 1
        return source.tell(round(level * (1 + noise), 4))

    def when(self, n):
        hours = (self.count - 1 - n) * 7 * 24 / PER_WEEK + self.number % 24
        return END - datetime.timedelta(hours=hours, minutes=self.number % 60)


JOB = "version: 1\nowner: {owner}\nmodel: {{ name: {model} }}\n"


HUGE = 8 << 30  # bytes, of which few are on the disk


def poison(path, n):
    """Cut, no profile at all, or cut and larger than this machine's memory may be."""
    size = os.path.getsize(path)
    if n % 3 == 1:
        with open(path, "wb") as out:
            out.write(random.Random(n).randbytes(size))
    else:
        os.truncate(path, size // 3)
    if n % 3 == 2:
        os.truncate(path, HUGE)


def write_run(root, workload, n, is_poisoned):
    when = workload.when(n)
    folder = f"{root}/{workload.name}/plugins/profile/{when:%Y_%m_%d_%H_%M_%S}"
    os.makedirs(folder)
    with open(folder + "/rooflint.job.yaml", "w", encoding="ascii") as out:
        out.write(JOB.format(owner=workload.owner, model=workload.model))
    total = 0
    for name, data, places in workload.capture(n):
        ns = int(when.timestamp()) * 10**9
        data = retell.dated(data, places, ns - places[0][1] if places else 0)
        host = f"host-{workload.number}-{n}".encode()
        data += bytes([0x22, len(host)]) + host  # XSpace.hostnames
        with open(f"{folder}/{name}", "wb") as out:
            out.write(data)
        if is_poisoned:
            poison(f"{folder}/{name}", n)
        total += len(data)
    return total


def make(root, count):
    """Writes about that many runs; returns workloads with their poisoned runs, and bytes."""
    per_workload = WEEKS * PER_WEEK
    real, pairs = find_sources(root + "-sources")
    fleet, total, rng = [], 0, random.Random(1)
    for number in range(max(1, count // per_workload)):
        workload = Workload(number, per_workload, real, pairs)
        poisoned = {n for n in range(per_workload) if rng.random() < 0.01}
        total += sum(write_run(root, workload, n, n in poisoned) for n in range(per_workload))
        fleet.append((workload, poisoned))
    return fleet, total


# ---- the audit ----------------------------------------------------------------------------------


def audit(box, *args):
    """Seconds it took, its processors' seconds, and the largest process's MB."""
    return used([ROOFLINT, "audit", *args], cwd=box) or sys.exit(f"{args} failed")


def same(box, name):
    with open(f"{box}/whole.json", "rb") as a, open(f"{box}/{name}", "rb") as b:
        return "same bytes" if a.read() == b.read() else "DIFFERENT BYTES"


def measure(box, runs):
    wall, cpu, memory = audit(box, "runs", "--store", "a.db", "--json", "whole.json", *WINDOW)
    print(f"audit: {wall:.1f} s, {runs / wall:.0f} runs/s; {cpu:.1f} s of processors, "
          f"{cpu / runs * 1e3:.2f} ms a run; {memory:.0f} MB at most in a process; "
          f"store {os.path.getsize(box + '/a.db') / 1e6:.1f} MB")
    again, _, _ = audit(box, "runs", "--store", "a.db", "--json", "known.json", *WINDOW)
    print(f"again, with nothing new: {again:.1f} s: {same(box, 'known.json')}")
    return wall


def measure_part(box):
    """A tenth of the runs, and half of them: does memory grow?"""
    for name, every in (("a tenth", 10), ("half", 2)):
        parts = sorted(glob.glob(box + "/runs/*/*"))[::every]
        _, _, memory = audit(box, *parts, "--store", f"part-{every}.db", "--json", "part.json",
                             *WINDOW)
        print(f"{name} of the runs: {memory:.0f} MB at most in a process")


def killed(box, wall):
    job = subprocess.Popen([ROOFLINT, "audit", "runs", "--store", "b.db"], cwd=box,
                           stdout=subprocess.DEVNULL)
    time.sleep(wall / 2)
    job.send_signal(signal.SIGKILL)
    job.wait()
    time.sleep(1)  # its workers end when they notice
    more, _, _ = audit(box, "runs", "--store", "b.db", "--json", "again.json", *WINDOW)
    print(f"killed after {wall / 2:.1f} s, then {more:.1f} s more: {same(box, 'again.json')}")


def shards(box):
    parts = [f"part{i}.ndjson" for i in range(1, 8)]
    for i, part in enumerate(parts, 1):
        audit(box, "runs", "--shard", f"{i}/7", "--facts", part)
    audit(box, "--merge", *parts, "--json", "parts.json", *WINDOW)
    print(f"seven shards: {same(box, 'parts.json')}")


# ---- what was planted ---------------------------------------------------------------------------


def check_changes(report, fleet):
    found = {}
    for change in report["changes"]:
        found.setdefault(change["workload"], []).append(change)
    planted = exact = near = false = quiet = 0
    for workload, poisoned in fleet:
        changes = found.get("runs/" + workload.name, [])
        at = workload.change_at()
        if at is None:
            quiet += 1
            false += bool(changes)
            continue
        planted += 1
        usable = [workload.when(n) for n in range(workload.count) if n not in poisoned]
        truth = sum(n not in poisoned for n in range(at))
        places = [usable.index(datetime.datetime.fromisoformat(c["since"].replace("Z", "+00:00")))
                  for c in changes]
        exact += places == [truth]
        near += len(places) == 1 and abs(places[0] - truth) <= 1
    print(f"change points: of {planted} planted {near} found within one run and no others, {exact} "
          f"of them at the very run; false ones in {false} of {quiet} quiet workloads")


def check_problems(report, fleet):
    said = {(p["state"], p["workload"], p["rule"]) for p in report["problems"]}
    planted = {(w.turn, "runs/" + w.name, w.rule) for w, _ in fleet if w.turn}
    turned = {name for _, name, _ in planted}
    others = {name for _, name, _ in said} - turned
    print(f"new and fixed: of {len(planted)} planted {len(planted & said)} told; "
          f"{len(others)} of {len(fleet) - len(turned)} other workloads have some")


def check_coverage(report, fleet):
    week = [(w, n, n in bad) for w, bad in fleet for n in range(w.count)
            if w.when(n) > END - datetime.timedelta(days=6, hours=12)]
    runs = {row["outcome"].split(":")[0]: 0 for row in report["coverage"]}
    for row in report["coverage"]:
        runs[row["outcome"].split(":")[0]] += row["runs"]
    print(f"coverage: {sum(bad for _, _, bad in week)} poisoned runs of {len(week)} in the window; "
          f"told: {runs}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10000)
    parser.add_argument("--keep", metavar="DIR", help="leave the fleet and its reports there")
    args = parser.parse_args()
    box = os.path.abspath(args.keep) if args.keep else tempfile.mkdtemp()
    os.makedirs(box, exist_ok=True)
    try:
        start = time.monotonic()
        fleet, total = make(box + "/runs", args.runs)
        runs = sum(w.count for w, _ in fleet)
        print(f"fleet: {runs} runs of {len(fleet)} workloads, {total / 1e6:.0f} MB "
              f"({total / runs / 1e3:.0f} kB a run), made in {time.monotonic() - start:.0f} s")
        wall = measure(box, runs)
        measure_part(box)
        killed(box, wall)
        shards(box)
        with open(box + "/whole.json", encoding="utf-8") as file:
            report = json.load(file)
        check_changes(report, fleet)
        check_problems(report, fleet)
        check_coverage(report, fleet)
    finally:
        if not args.keep:
            shutil.rmtree(box)


if __name__ == "__main__":
    sys.exit(main())
