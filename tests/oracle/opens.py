#!/usr/bin/env python3
"""XProf opens what the builder writes, and tells the same story.

    python3 tests/oracle/opens.py --rooflint build/rooflint [-v] [SCENARIO...]

Builds each scenario and lets XProf (PyPI, `pip install xprof`) and rooflint read the same files:
otherwise builder and reader could share one misreading.  Compared are the mean times of the ops that
XProf ranks first, and the median step.  XProf takes the whole window, rooflint the steady steps, so
what only waits is left out: collectives, dones and what holds other ops.  Needs xprof in this Python,
and skips without it.
"""

import argparse
import glob
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "tests" / "builder" / "scenarios"
OPS = 12                    # compared of each scenario, the heaviest
NEAR = 0.05                 # of a mean over other steps, with 0.3% of noise and a warm-up
STEP = re.compile(r"(?:Step time = |duration: )([\d.]+) ms")
REFUSED = ("hostile",)      # names that are no UTF-8: XProf's own JSON breaks
WAITS = ("all-", "reduce-scatter", "collective", "ragged", "host ", "copy-", "async", "while", "conditional",
         "call", "megacore", "Unknown")


def xprof():
    """XProf's converter, or None."""
    if sys.version_info < (3, 11):
        return None
    sys.path[:] = [p for p in sys.path if p != str(pathlib.Path(__file__).parent)]  # it has an xprof.py
    try:
        from xprof.convert import raw_to_tool_data
    except ImportError:
        return None
    return raw_to_tool_data


class Counts:
    def __init__(self, verbose):
        self.verbose, self.passed, self.failed, self.skipped = verbose, 0, 0, 0

    def check(self, scenario, what, theirs, ours, near=NEAR):
        ok = ours is not None and abs(ours - theirs) <= near * theirs
        self.passed, self.failed = self.passed + ok, self.failed + (not ok)
        if not ok or self.verbose:
            print(f"{'ok  ' if ok else 'FAIL'} {scenario:22} {what}: XProf {theirs:.6g}, rooflint {ours}",
                  flush=True)

    def skip(self, scenario, why):
        self.skipped += 1
        print(f"skip {scenario:22} {why}")


def quiet():
    """XProf logs every step of its own."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def build(path, out):
    sys.path.insert(0, str(ROOT / "tests" / "builder"))
    import build as builder
    for name, data in builder.kept(builder.derive.load(str(path))).items():
        target = pathlib.Path(out, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return sorted(glob.glob(f"{out}/plugins/profile/*/*.xplane.pb"))


def rows_of(table):
    ids = [column["id"] for column in table["cols"]]
    return [dict(zip(ids, (cell.get("v") for cell in row["c"]))) for row in table["rows"]]


def theirs_of(tool, paths):
    """XProf's ops by name, heaviest first, and its median step in seconds; 0 without."""
    ops, page = (json.loads(tool.xspace_to_tool_data(paths, name, {})[0])
                 for name in ("hlo_stats", "overview_page"))
    graph = next((p for p in page if "step_time_graph_column_ids" in p.get("p", {})), {"rows": []})
    cells = [str(cell.get("v")) for row in graph["rows"] for cell in row["c"]]
    steps = [float(found.group(1)) / 1e3 for found in map(STEP.search, cells) if found]
    return {row["hlo_op_name"]: row for row in rows_of(ops)}, statistics.median(steps or [0])


def query(rooflint, run, sql):
    said = subprocess.run([rooflint, "query", run, sql, "--format", "json"], capture_output=True,
                          check=True, text=True)
    return json.loads(said.stdout)


def compare(counts, scenario, rooflint, run, theirs, step):
    run_row = query(rooflint, run, "select steps, step_time_s, steps_source, platform from run")[0]
    platform = run_row["platform"]
    ours = {}                   # name -> means: theirs are told apart by name alone
    for row in query(rooflint, run, "select name, mean_s from ops where mean_s > 0"):
        ours.setdefault(row["name"], []).append(row["mean_s"])
    if run_row["steps"] and run_row["steps_source"] != "window" and step:
        counts.check(scenario, "step", step, run_row["step_time_s"])
    heavy = [row for row in theirs.values() if not row["category"].startswith(WAITS)][:OPS]
    for row in heavy:
        mean = row["avg_self_time"] / 1e6
        mine = min(ours.get(row["hlo_op_name"], ()), key=lambda s: abs(s - mean), default=None)
        if mine and platform == "nvidia":  # it counts kernels, of which an execution may have several
            mean *= max(1, round(mine / mean))
        counts.check(scenario, row["hlo_op_name"], mean, mine)
    if not heavy:
        counts.skip(scenario, "XProf has no ops of it")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rooflint", default=os.environ.get("ROOFLINT", str(ROOT / "build" / "rooflint")))
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("scenarios", nargs="*")
    options = parser.parse_args()
    counts, tool = Counts(options.verbose), xprof()
    if not tool:
        counts.skip("all scenarios", "needs xprof of PyPI in this Python")
    quiet()
    for path in sorted(SCENARIOS.glob("*.toml")) if tool else []:
        if path.stem in REFUSED or (options.scenarios and path.stem not in options.scenarios):
            continue
        with tempfile.TemporaryDirectory() as out:
            paths = build(path, out)
            try:
                theirs, step = theirs_of(tool, paths)
            except Exception as error:  # whatever XProf raises, it did not open the file
                counts.failed += 1
                print(f"FAIL {path.stem:22} XProf does not open it: {error}")
                continue
            compare(counts, path.stem, options.rooflint, out, theirs, step)
    print(f"{counts.passed} passed, {counts.failed} failed, {counts.skipped} skipped")
    return 1 if counts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
