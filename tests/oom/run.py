#!/usr/bin/env python3
"""Every allocation fails in turn: what comes is an error, or what came without the failure.

    python3 tests/oom/run.py [--all] [COMMAND...]

Runs check, query, render and audit on a small profile once for each allocation that they make,
and that one fails (fail.c).  A signal is a failure of this test; so is other output without a word about it.
Without --all a few are picked, always the same.
"""

import argparse
import collections
import concurrent.futures
import os
import random
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
DEMO = os.path.join(TOP, "tests", "profiles", "demo")
PICKED = 30  # of each command
ROOFLINT = os.path.abspath(
    os.environ.get("ROOFLINT") or os.path.join(TOP, os.environ.get("O", "build"), "rooflint")
)
STATUSES = range(6)  # those that the manual names

COMMANDS = {
    "check": ["check", "-j1", "--rules", "recommended", "--json", "-", DEMO],
    "page": ["check", "-j1", "--rules", "recommended", "-q", "--html", "-", DEMO],
    "query": ["query", "--format", "csv", DEMO, "select name, time_s from ops order by name"],
    "render": ["render", "--markdown", "-", "--junit", "/dev/null", "report.json"],
    "audit": ["audit", "-j1", "--json", "-", DEMO],
}


def build(box):
    """The library that fails; None where there is no compiler, or libc is not glibc."""
    library = os.path.join(box, "fail.so")
    compiler = os.environ.get("CC", "cc").split()[-1]
    done = subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library,
                           os.path.join(HERE, "fail.c")], capture_output=True, check=False)
    return library if done.returncode == 0 else None


def run(box, library, command, **more):
    env = {"PATH": os.environ["PATH"], "HOME": box, "LD_PRELOAD": library, "TZ": "UTC0"}
    env.update({name: str(value) for name, value in more.items()})
    with tempfile.TemporaryDirectory(dir=box) as folder:
        shutil.copy(os.path.join(box, "report.json"), folder)
        done = subprocess.run([ROOFLINT, *COMMANDS[command]], env=env, cwd=folder, check=False,
                              capture_output=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def look(box, library, command, at, on, well):
    """What is wrong, or None; and its kind."""
    status, out, err = run(box, library, command, OOM_AT=at, OOM_ON=on)
    if status not in STATUSES:
        return "died", f"{command}: allocation {at}{' and all behind' if on else ''}: {status}"
    if (status, out) == well[:2]:
        return "same", None
    if not err and status == well[0] and b"memory" not in out:
        return "other", f"{command}: allocation {at}: other output, and no error"
    return "error", None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="every allocation (an hour)")
    parser.add_argument("--picked", type=int, default=PICKED, help="how many of each command")
    parser.add_argument("commands", nargs="*", default=list(COMMANDS))
    options = parser.parse_args()
    rng, passed, wrong = random.Random(17), 0, []
    with tempfile.TemporaryDirectory() as box:
        library = build(box)
        if not library or not sys.platform.startswith("linux") or os.environ.get("SAN"):
            print("skip tests/oom: needs a C compiler and glibc, and no sanitizer")
            print("0 passed, 0 failed, 1 skipped")
            return 0
        subprocess.run([ROOFLINT, "check", "--rules", "recommended", "-q", "--json",
                        os.path.join(box, "report.json"), DEMO], capture_output=True, check=False)
        for command in options.commands:
            count_path = os.path.join(box, "count")
            well = run(box, library, command, OOM_COUNT=count_path)
            with open(count_path, encoding="ascii") as file:
                count = int(file.read())
            tries = [(n, on) for n in range(1, count + 1) for on in (0, 1)]
            if not options.all:  # nothing from the start on, too
                tries = tries[:2] + rng.sample(tries[2:], min(options.picked, len(tries)) - 2)
            kinds = collections.Counter()
            with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
                for kind, what in pool.map(
                        lambda t: look(box, library, command, *t, well), tries):
                    kinds[kind] += 1
                    if what:
                        wrong.append(what)
            passed += kinds["same"] + kinds["error"]
            print(f"{command}: {count} allocations, {len(tries)} runs, {dict(kinds)}", flush=True)
    for what in wrong[:40]:
        print(what)
    print(f"{passed} passed, {len(wrong)} failed, 0 skipped")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
