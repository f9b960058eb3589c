#!/usr/bin/env python3
"""How well change points are found: changes.py [--workloads N]

Histories of step times with noise of several sorts, some with a planted change, go through
`rooflint audit` as facts.  Told are, for each sort of noise: of a hundred quiet histories those in which
a change was seen; and for each size of a planted change how many were found within one run of the
truth, with no other change beside it.

From the environment: ROOFLINT.
"""
import argparse
import datetime
import json
import math
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../interop"))
import make_fleet  # noqa: E402

ROOFLINT = os.environ.get("ROOFLINT", os.path.join(HERE, "../../build/rooflint"))
RUNS = 65  # thirteen weeks of working days
END = datetime.datetime(2026, 11, 20)
SIZES = [0.03, 0.05, 0.10, 0.25]
MOST = 900  # workloads of an audit: its report has at most a thousand rows


def normal(percent):
    return lambda rng: (rng.gauss(0, percent / 100) for _ in range(RUNS))


def heavy_tails(rng):
    """Student's t with three degrees of freedom, scaled to 1%."""
    for _ in range(RUNS):
        chi = sum(rng.gauss(0, 1) ** 2 for _ in range(3))
        yield 0.01 * rng.gauss(0, 1) / math.sqrt(chi / 3)


def outliers(rng):
    """Every twentieth run is a third slower: another tenant, a slow disk."""
    return (rng.gauss(0, 0.01) + (0.3 if rng.random() < 0.05 else 0) for _ in range(RUNS))


def related(rng):
    """Each run is like the one before it: the same rack for some days."""
    x = 0
    for _ in range(RUNS):
        x = 0.3 * x + rng.gauss(0, 0.01)
        yield x


NOISES = [("normal, 0.5%", normal(0.5)), ("normal, 1%", normal(1)), ("normal, 2%", normal(2)),
          ("normal, 3%", normal(3)), ("heavy tails, 1%", heavy_tails),
          ("1% with 5% outliers", outliers), ("1%, alike from run to run", related)]


def records(number, rng, noise, size):
    """A workload's runs; with a size, where its change is."""
    at = rng.randrange(4, RUNS - 3) if size else None
    sign = rng.choice([1, -1])
    lines = []
    for n, x in enumerate(noise(rng)):
        step = 0.1 * math.exp(x) * ((1 + size) ** sign if size and n >= at else 1)
        when = END - datetime.timedelta(days=(RUNS - 1 - n) * 7 / 5, minutes=number)
        name = f"w{number:04d}/plugins/profile/{when:%Y_%m_%d_%H_%M_%S}"
        lines.append(make_fleet.record(
            {}, record="run", version="2.9", hash=f"{number:08x}{n:024x}",
            run=f"{number:08x}{n:024x}", profile=name, captured=f"{when:%Y-%m-%dT%H:%M:%S.000Z}",
            captured_source="profile", workload=f"w{number:04d}", judge="j", rules="r", tool="t",
            verdict="pass", gain_s=0, hosts=1, devices=8, chips=8, steps=9, step_time_s=step))
    return at, lines


def audited(box, seed, workloads, noise, size):
    """[(truth or None, places of the changes that were seen)]"""
    rng, truths = random.Random(seed), []
    path = os.path.join(box, "facts.ndjson")
    with open(path, "w", encoding="ascii") as file:
        for number in range(workloads):
            at, lines = records(number, rng, noise, size)
            truths.append((at, [line["captured"] for line in lines]))
            file.writelines(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run([ROOFLINT, "audit", "--merge", path, "--json", "-"], check=True,
                          stdout=subprocess.PIPE)
    seen = {}
    for change in json.loads(done.stdout)["changes"]:
        seen.setdefault(change["workload"], []).append(change["since"])
    return [(at, [days.index(since) for since in seen.get(f"w{number:04d}", [])])
            for number, (at, days) in enumerate(truths)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workloads", type=int, default=MOST, help=f"at most {MOST}")
    args = parser.parse_args()
    make_fleet.COLUMNS = make_fleet.columns(os.path.join(HERE, "../../docs/facts.md"))
    count = min(args.workloads, MOST)
    print(f"{count} histories of {RUNS} runs in each cell")
    heads = [f"{size:.0%} found" for size in SIZES]
    print("| noise | quiet ones with a change, of 100 | " + " | ".join(heads) + " |")
    print("|---|--:|" + "--:|" * len(SIZES))
    with tempfile.TemporaryDirectory() as box:
        for name, noise in NOISES:
            false = sum(bool(seen) for _, seen in audited(box, name, count, noise, None))
            row = [f"{100 * false / count:.2f}"]
            for size in SIZES:
                rows = audited(box, f"{name} {size}", count, noise, size)
                good = sum(len(seen) == 1 and abs(seen[0] - at) <= 1 for at, seen in rows)
                row.append(f"{100 * good / count:.1f}%")
            print(f"| {name} | " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
