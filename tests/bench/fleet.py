#!/usr/bin/env python3
"""A fleet to audit, and what that costs: fleet.py [--runs N]

Runs are copies of the profiles that the project carries, each with a host name of its own behind the
profile, so that no two are the same capture; one in five hundred is cut. Then:

  - the audit with a store: wall time, profiles per second, peak memory, size of the store;
  - the same, killed in the middle and run again: the same bytes;
  - seven shards, merged: the same bytes.

From the environment: ROOFLINT.
"""
import argparse
import glob
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOFLINT = os.environ.get("ROOFLINT", os.path.join(HERE, "../../build/rooflint"))
WINDOW = ["--since", "104w", "--until", "2027-01-01"]


def carried():
    """The files of each carried run, smallest first."""
    runs = []
    for run in glob.glob(os.path.join(HERE, "../profiles/*/plugins/profile/*")):
        files = sorted(glob.glob(run + "/*.xplane.pb"))
        runs.append([(os.path.basename(f), open(f, "rb").read()) for f in files])
    return sorted(runs, key=lambda files: sum(len(data) for _, data in files))


def make(root, count):
    """Writes the runs; returns their bytes."""
    sources, rng, total = carried(), random.Random(1), 0
    for i in range(count):
        day = f"2026_{1 + i // 28 % 12:02d}_{1 + i % 28:02d}"
        name = f"{day}_{i // 336 % 24:02d}_{i % 60:02d}_{i // 60 % 60:02d}"
        folder = f"{root}/team{i % 5}/job{i % 200:03d}/plugins/profile/{name}"
        os.makedirs(folder, exist_ok=True)
        for file, data in rng.choice(sources[:2]):
            host = f"host-{i}".encode()
            data += bytes([0x22, len(host)]) + host  # XSpace.hostnames
            if i % 500 == 77:
                data = data[:len(data) // 3]
            total += len(data)
            with open(f"{folder}/{file}", "wb") as out:
                out.write(data)
    return total


def audit(box, *args):
    subprocess.run([ROOFLINT, "audit", *args], cwd=box, stdout=subprocess.DEVNULL, check=True)


def same(box, name):
    with open(f"{box}/whole.json", "rb") as a, open(f"{box}/{name}", "rb") as b:
        return "same bytes" if a.read() == b.read() else "DIFFERENT BYTES"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10000)
    args = parser.parse_args()
    box = tempfile.mkdtemp()
    try:
        print(f"fleet: {args.runs} runs, {make(box + '/runs', args.runs) / 1e6:.0f} MB")
        before = time.monotonic()
        audit(box, "runs", "--store", "a.db", "--json", "whole.json", *WINDOW)
        wall = time.monotonic() - before
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"audit: {wall:.1f} s, {args.runs / wall:.0f} runs/s, "
              f"{used.ru_utime + used.ru_stime:.1f} s of processors, "
              f"{used.ru_maxrss / 1024:.0f} MB at most in a process, "
              f"store {os.path.getsize(box + '/a.db') / 1e6:.1f} MB")
        killed = subprocess.Popen([ROOFLINT, "audit", "runs", "--store", "b.db"], cwd=box,
                                  stdout=subprocess.DEVNULL)
        time.sleep(wall / 2)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        time.sleep(1)  # its workers end when they notice
        before = time.monotonic()
        audit(box, "runs", "--store", "b.db", "--json", "again.json", *WINDOW)
        print(f"killed after {wall / 2:.1f} s, then {time.monotonic() - before:.1f} s more: "
              f"{same(box, 'again.json')}")
        parts = [f"part{i}.ndjson" for i in range(1, 8)]
        for i, part in enumerate(parts, 1):
            audit(box, "runs", "--shard", f"{i}/7", "--facts", part)
        audit(box, "--merge", *parts, "--json", "parts.json", *WINDOW)
        print(f"seven shards: {same(box, 'parts.json')}")
    finally:
        shutil.rmtree(box)


if __name__ == "__main__":
    sys.exit(main())
