#!/usr/bin/env python3
"""Damage may make a verdict unknown, and never green.

    python3 tests/mutation/run.py [--all] [--each N] [KIND...]

Takes each profile that `rooflint check` fails (real captures and scenarios), removes or damages
one thing of it (damage.py), and judges it again.  What may come of it: still red (status 1), inconclusive (4),
refused (3).  A pass, or no more than a warning (0), is a green by absence: a failure of this test,
unless KNOWN says why nothing could tell.

And what a writer may do otherwise (rewrite.py) changes no number and no verdict of any capture,
and a capture of a part of a job (windows.py) says the same of that part.

Without --all a few runs of each kind, always the same, are made.  The seed is fixed.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(TOP, "tests", "builder"), os.path.join(TOP, "tests", "scenarios")]

import damage
import rewrite
import windows

SEED = 17
RED, INCONCLUSIVE, REFUSED, GREEN = "red", "inconclusive", "refused", "green"
OUTCOMES = {0: GREEN, 1: RED, 3: REFUSED, 4: INCONCLUSIVE}

# Without --all these of the scenarios, and, cut to windows, these and those of the jobs.
FEW = ("fsdp-exposed", "fsdp-exposed-unrolled", "input-bound")
FEW_CUT = ("inference", "input-bound", "nvidia-streams", "slow-evaluation")
FEW_JOBS = ("h100_decode", "h100_search", "rounds", "jax-cpu-set", "jax-cpu-train")

# A removal that leaves what a healthy capture looks like, and why: docs/security.md lists them.
KNOWN = {
    ("scenario expert-uneven", "plane"): "a device that was never recorded",
    ("scenario slow-evaluation", "span"): "an evaluation that did not run, of a single device",
    ("scenario recompiles", "span"): "a device that was not recorded while the host compiled",
    ("h100_convolutions", "span"): "its idle is 10.1% where 10.0% fails: a few steps fewer and it warns",
    ("h100_convolutions", "window"): "the same",
    ("scenario memory-leak", "window"): "what two steps leave, where four leave more than the limit",
    ("scenario slow-evaluation", "window"): "an evaluation that runs once only warns",
    ("scenario memory-leak", "plane"): "an allocator that was never recorded",
    ("scenario memory-leak", "allocator"): "an allocator that was never recorded",
    ("scenario memory-leak", "hlo-part"): "a program whose HLO was never recorded",
}

# --- red profiles ------------------------------------------------------------------------------


def program():
    return os.path.abspath(
        os.environ.get("ROOFLINT") or os.path.join(TOP, os.environ.get("O", "build"), "rooflint")
    )


def check(directory, *options):
    return subprocess.run(
        [program(), "check", "--rules", "recommended", "-q", *options],
        cwd=directory,
        capture_output=True,
        timeout=600,
        check=False,
    )


def captures(everything):
    """Folders of xplane.pb files of the real captures at hand, the smaller ones."""
    roots = [os.path.join(TOP, "tests", "profiles")]
    if everything:
        roots.append(os.path.join(TOP, "tests", "jobs"))
        roots.append(os.path.join(TOP, "..", "shared", "profiles"))
    for root in roots:
        for folder, _, names in sorted(os.walk(root)):
            profile = {}
            for name in sorted(n for n in names if n.endswith(".xplane.pb")):
                with open(os.path.join(folder, name), "rb") as file:
                    profile[name] = file.read()
            if profile and sum(map(len, profile.values())) < 4 << 20:
                yield os.path.relpath(folder, root), profile


def scenarios(fits):
    """Scenarios whose row of the table fits, of one profile and judged as usual."""
    import build
    import run as scenario_run
    import tomllib

    with open(os.path.join(TOP, "tests", "scenarios", "table.toml"), "rb") as file:
        table = tomllib.load(file)
    rows = [(n, r) for n, r in table["scenario"].items() if fits(n, r) and "baseline" not in r]
    for name, row in [(n, r) for n, r in rows if "rules" not in r and "options" not in r]:
        kept = build.kept(scenario_run.spec_of({"build": name, **row}))
        profile = {os.path.basename(path): data for path, data in kept.items()}
        whole = len(profile) == len(kept) and all(p.endswith(".xplane.pb") for p in profile)
        if whole and sum(map(len, profile.values())) < 8 << 20:
            yield "scenario " + name, profile


def write(profile, box):
    folder = os.path.join(box, "plugins", "profile", "2026_03_14_09_26_53")
    os.makedirs(folder)
    for path, data in profile.items():
        with open(os.path.join(folder, path), "wb") as file:
            file.write(data)


def judge(profile):
    with tempfile.TemporaryDirectory() as box:
        write(profile, box)
        return OUTCOMES.get(check(box).returncode, "broken")


# --- what changes nothing ----------------------------------------------------------------------


def said(profile):
    """All that was found, but for what is said of the files' bytes."""
    with tempfile.TemporaryDirectory() as box:
        write(profile, box)
        done = check(box, "--json", "-")
        report = json.loads(done.stdout)["reports"][0]
    numbers = {**report["facts"], "status": done.returncode, "inputs": "", "fingerprint": ""}
    return numbers, report["findings"], report["results"]


def rewritten(found):
    """Kinds that were noticed, and how many runs there were."""
    wrong, runs = [], 0
    for name, profile in found:
        before = said(profile)
        kinds = rewrite.KINDS if before[0]["status"] != 3 else {}
        for kind, change in kinds.items():
            rng = random.Random(f"{SEED} {name} {kind}")
            after = said({path: change(data, rng) for path, data in profile.items()})
            runs += 1
            if after != before:
                parts = zip(("numbers", "findings", "verdicts"), before, after)
                wrong.append(f"{kind} of {name}: other {', '.join(n for n, x, y in parts if x != y)}")
    return wrong, runs


# --- what a part of the time says --------------------------------------------------------------


def cut(everything, pool):
    """What parts of captures say otherwise: (not known, known), and how many there were."""
    found = [f for f in captures(True) if everything or f[0].split("/")[0] in FEW_JOBS]
    if sys.version_info >= (3, 11):
        found += scenarios(lambda name, row: everything or name in FEW_CUT)
    out, runs = windows.compared(found, pool, sys.modules[__name__])
    known = [o for o in out if o[0].split("/")[0] in windows.KNOWN]
    return [o for o in out if o not in known], known, runs


# --- the campaign ------------------------------------------------------------------------------


def runs(options, reds):
    for name, profile in reds:
        for kind in options.kinds:
            rng = random.Random(f"{SEED} {name} {kind}")
            made = damage.KINDS[kind](profile, rng)
            for i, (bad, what) in zip(range(options.each), made):
                yield name, kind, f"{i}: {what}", bad


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="every red profile, many runs")
    parser.add_argument("--each", type=int, help="runs of a kind on a profile")
    parser.add_argument("kinds", nargs="*", default=list(damage.KINDS), metavar="KIND")
    options = parser.parse_args()
    options.each = options.each or (40 if options.all else 3)
    options.kinds = options.kinds or list(damage.KINDS)
    found = list(captures(options.all))
    noticed, rewrites = rewritten(found) if options.kinds == list(damage.KINDS) else ([], 0)
    print(f"{rewrites} rewritten, {len(noticed)} noticed", *noticed, sep="\n")
    if sys.version_info >= (3, 11):
        found += scenarios(lambda name, row: "fail" in row and (options.all or name in FEW))
    counts, greens = collections.Counter(), []
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        unlike, unlike_known, cuts = cut(options.all, pool) if "window" in options.kinds else ([], [], 0)
        print(f"{cuts} cut, {len(unlike)} say otherwise, {len(unlike_known)} known to")
        print(*(f"{name}, {what}" for name, what in unlike), sep="\n", end="\n" if unlike else "")
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
    known = [g for g in greens if (g[0].split("/")[0], g[1]) in KNOWN]
    wrong = [g for g in greens if g not in known]
    for name, kind, what, outcome in wrong:
        print(f"{outcome}: {kind} {what} of {name}")
    wrong += noticed + unlike
    known += unlike_known
    total = sum(counts.values()) + rewrites + cuts - len(wrong) - len(known)
    print(f"{total} passed, {len(wrong)} failed, {len(known)} skipped")
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
