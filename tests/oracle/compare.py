#!/usr/bin/env python3
"""Compare rooflint's tables with an independent walk of the same bytes.

    python3 tests/oracle/compare.py --rooflint build/rooflint [--verbose] [CAPTURE...]

One line per capture and quantity, then `N passed, N failed, N skipped`, which counts captures;
status 1 when any failed.
Times agree within 1e-9 of their value; counts, FLOPs and bytes exactly.  Captures are compared
JOBS at a time.
"""

import argparse
import concurrent.futures
import functools
import gzip
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import measure  # noqa: E402
import nsys  # noqa: E402
import trace  # noqa: E402
import xplane  # noqa: E402
import xprof  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
CARRIED = ROOT / "tests" / "profiles"
SHARED = ROOT.parent / "shared" / "profiles"
SCENARIOS = ROOT / "tests" / "builder" / "scenarios"
TIME_TOLERANCE = 1e-9
SHOWN = 5                                  # differences per line without --verbose
MATMULS = ("matmul", "convolution")


class Report:
    def __init__(self, verbose):
        self.verbose, self.lines, self.captures = verbose, [], {}

    def add(self, part):
        """What another process found, told."""
        for line in part.lines:
            print(line, flush=True)
        for capture, words in part.captures.items():
            self.captures.setdefault(capture, set()).update(words)

    def totals(self):
        """Captures that passed, failed, and had nothing to compare."""
        words = self.captures.values()
        failed = sum("FAIL" in found for found in words)
        skipped = sum(found == {"skip"} for found in words)
        return len(words) - failed - skipped, failed, skipped

    def line(self, word, capture, quantity, detail):
        self.captures.setdefault(capture, set()).add(word)
        self.lines.append(f"{word:4}  {capture:22}  {quantity:24}  {detail}")

    def skip(self, capture, quantity, why):
        self.line("skip", capture, quantity, why)

    def fail(self, capture, quantity, why):
        self.line("FAIL", capture, quantity, why)

    def check(self, capture, quantity, expected, found, same=None):
        """Two dictionaries by subject; a subject that one side lacks counts as None."""
        same = same or exactly
        if not expected and not found:
            self.skip(capture, quantity, "neither side has any")
            return
        wrong = [(key, expected.get(key), found.get(key)) for key in {**expected, **found}
                 if not same(expected.get(key), found.get(key))]
        if not wrong:
            self.line("pass", capture, quantity, f"{len(expected)} values")
            return
        self.fail(capture, quantity, f"{len(wrong)} of {len(expected)} differ")
        for key, ours, theirs in wrong if self.verbose else wrong[:SHOWN]:
            self.lines.append(f"        {label(key)}: oracle {ours}, rooflint {theirs}")


def label(key):
    return " ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def exactly(expected, found):
    return expected == found


def closely(expected, found):
    if expected is None or found is None:
        return expected is found
    return math.isclose(expected, found, rel_tol=TIME_TOLERANCE, abs_tol=1e-18)


def overlapping(expected, found):
    """In a trace neighbours overlap by a picosecond at times, which rooflint gives to one only."""
    return closely(expected, found) or (
        None not in (expected, found) and -2.5e-12 < found - expected <= 0)


def plain(name):
    """A name for joining: rooflint cleans what a document could not hold."""
    return re.sub(r"[^A-Za-z0-9_.:/-]", "", name or "")


def number(name):
    """The device's number in a plane's or an allocator's name."""
    found = re.findall(r"\d+", name or "")
    return int(found[-1]) if found else None


class Tables:
    """rooflint's side."""

    plain = staticmethod(plain)

    def __init__(self, rooflint, folder):
        self.rooflint, self.folder = rooflint, folder

    def rows(self, sql):
        command = [self.rooflint, "query", str(self.folder), sql, "--format", "json"]
        done = subprocess.run(command, capture_output=True, timeout=1200, check=False)
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise RuntimeError(f"exit status {done.returncode}: {said[:300]}")
        return json.loads(done.stdout)

    def by(self, sql, *keys):
        """Rows by the plain text of the key columns."""
        return {tuple(plain(str(row[key] or "")) for key in keys): row for row in self.rows(sql)}


def pick(rows, column):
    return {key: row[column] for key, row in rows.items()}


# ---- one function per table ---------------------------------------------------------------------

def compare_run(report, capture, run, tables):
    row = tables.rows("SELECT steps, steps_source, main_program, step_time_s, devices FROM run")[0]
    report.check(capture, "run.devices", {"": len(run.devices)}, {"": row["devices"]})
    if not run.devices:
        return
    steady = 0 if run.source == "window" else len(run.steady)
    report.check(capture, "run.steps", {"": steady}, {"": row["steps"]})
    report.check(capture, "run.steps_source", {"": run.source}, {"": row["steps_source"]})
    report.check(capture, "run.step_time_s", {"": run.step_time()}, {"": row["step_time_s"]},
                 closely)
    module = run.modules.get(run.main)
    names = (run.main, module and module.name)
    report.check(capture, "run.main_program", {"": names}, {"": row["main_program"]},
                 lambda ours, theirs: any(plain(n) == plain(theirs) for n in ours))


def compare_devices(report, capture, run, tables):
    rows = tables.rows("SELECT host, device, events, steps, window_s, busy_s FROM devices")
    rows = {(row["host"], number(row["device"])): row for row in rows}
    ours = {(device.host, number(device.name)): device for device in run.devices}
    sides = (
        ("events", lambda d: len(d.intervals), exactly),
        ("steps", lambda d: len(run.steady_steps(d)), exactly),
        ("window_s", lambda d: (d.end - d.start) / measure.SECOND, closely),
        ("busy_s", lambda d: d.busy() / measure.SECOND, closely),
    )
    for column, value, same in sides:
        expected = {key: value(device) for key, device in ours.items()}
        report.check(capture, "devices." + column, expected, pick(rows, column), same)


def compare_steps(report, capture, run, tables):
    rows = {(row["host"], number(row["device"]), row["step"]): row for row in
            tables.rows("SELECT host, device, step, time_s, is_warmup, is_complete FROM steps")}
    steps = {(device.host, number(device.name), step.number): step
             for device in run.devices for step in device.steps}
    sides = {
        "is_complete": {key: int(step.complete) for key, step in steps.items()},
        "is_warmup": {key: int(step.warmup) for key, step in steps.items()},
    }
    for column, expected in sides.items():
        report.check(capture, "steps." + column, expected, pick(rows, column))
    whole = {key: step.time / measure.SECOND for key, step in steps.items() if step.complete}
    found = {key: row["time_s"] for key, row in rows.items() if row["is_complete"]}
    report.check(capture, "steps.time_s", whole, found, closely)


def compare_programs(report, capture, run, tables):
    rows = tables.by("SELECT program, executions, compiled_bytes FROM programs", "program")
    ours = {(plain(program),): values for program, values in run.programs().items()}
    for i, column in enumerate(("executions", "compiled_bytes")):
        expected = {key: values[i] for key, values in ours.items()}
        report.check(capture, "programs." + column, expected, pick(rows, column))


def compare_ops(report, capture, run, tables):
    rows = tables.by("SELECT program, name, kind, count, time_s, p50_s, max_s, flops, hbm_bytes "
                     "FROM ops WHERE count > 0", "program", "name")
    ours = {(plain(program), plain(op)): (program, op, executions)
            for (program, op), executions in run.ops().items()}
    times = {key: measure.times(executions) for key, (_, _, executions) in ours.items()}
    for i, column in enumerate(("count", "time_s", "p50_s", "max_s")):
        expected = {key: values[i] for key, values in times.items()}
        same = overlapping if run.is_trace else closely
        report.check(capture, "ops." + column, expected, pick(rows, column),
                     same if i else exactly)
    compare_flops(report, capture, run, ours, rows)
    compare_hbm(report, capture, run, ours, rows)


def compare_flops(report, capture, run, ours, rows):
    expected = {}
    for key, (program, op, executions) in ours.items():
        flops = run.flops(program, op, executions[0])
        if flops is not None:
            expected[key] = flops
    found = {key: row["flops"] for key, row in rows.items()
             if key in expected or row["kind"] in MATMULS}
    report.check(capture, "ops.flops", expected, found)


def compare_hbm(report, capture, run, ours, rows):
    """Only a TPU's profile says what an op moves; of a trace's, what is known of fusions."""
    if not any(device.kind == "tpu" for device in run.devices):
        return
    if run.is_trace:
        events = {key: executions[0].event for key, (_, _, executions) in ours.items()}
        expected = {key: trace.fusion_bytes(event) for key, event in events.items()
                    if event.name.startswith("%") and " fusion(" in event.name}
        found = {key: rows[key]["hbm_bytes"] for key in expected}
        report.check(capture, "ops.hbm_bytes of fusions", expected, found)
        return
    expected = {key: measure.hbm_bytes(executions[0].event)
                for key, (_, _, executions) in ours.items()}
    report.check(capture, "ops.hbm_bytes", expected, pick(rows, "hbm_bytes"))


def compare_collectives(report, capture, run, tables):
    """By the text of the ops; a program's own HLO is not walked here."""
    if not run.is_trace:
        return
    rows = tables.by("SELECT program, name, message_bytes, group_size FROM collectives",
                     "program", "name")
    ours = {(plain(program), plain(op)): trace.collective(executions[0].event)
            for (program, op), executions in run.ops().items()
            if executions[0].event.name.startswith("%")}
    ours = {key: found for key, found in ours.items() if found}
    for i, column in enumerate(("message_bytes", "group_size")):
        report.check(capture, "collectives." + column,
                     {key: found[i] for key, found in ours.items()}, pick(rows, column))


def compare_memory(report, capture, run, tables):
    """Device allocators only; one without a number in its name manages host memory."""
    columns = {"window": "window_peak_bytes", "lifetime": "lifetime_peak_bytes",
               "capacity": "capacity_bytes"}
    rows = {(row["host"], number(row["device"])): row for row in
            tables.rows("SELECT host, device, window_peak_bytes, lifetime_peak_bytes, "
                        "capacity_bytes FROM memory WHERE samples > 0")}
    rows = {key: row for key, row in rows.items() if key[1] is not None}
    ours = {(host, number(name)): row for (host, name), row in run.allocators().items()
            if number(name) is not None}
    for name, column in columns.items():
        expected = {key: row[name] for key, row in ours.items()}
        report.check(capture, "memory." + column, expected, pick(rows, column))


def compare_host(report, capture, run, tables):
    count = tables.rows("SELECT count(*) AS n FROM compiles")[0]["n"]
    report.check(capture, "compiles", {"": run.compiles()}, {"": count})
    if not any(device.kind == "gpu" for device in run.devices):
        return
    rows = tables.by("SELECT direction, count, bytes FROM transfers WHERE count > 0", "direction")
    ours = {(direction,): values for direction, values in run.transfers().items()}
    device_steps = sum(len(run.steady_steps(device)) for device in run.devices)
    report.check(capture, "transfers.count", {key: n for key, (n, _) in ours.items()},
                 pick(rows, "count"))
    report.check(capture, "transfers.bytes",
                 {key: size and size / device_steps for key, (_, size) in ours.items()},
                 pick(rows, "bytes"), closely)


COMPARISONS = (compare_run, compare_devices, compare_steps, compare_programs, compare_ops,
               compare_collectives, compare_memory, compare_host)


# ---- captures -----------------------------------------------------------------------------------

def newest_run(capture):
    """The folder of a capture's newest run that holds xplane files, or None."""
    runs = sorted({path.parent for path in capture.glob("plugins/profile/*/*.xplane.pb")})
    return runs[-1] if runs else None


def run_folders(root):
    """(name, newest run folder) of every capture below that holds xplane files."""
    for capture in sorted(path for path in root.iterdir() if path.is_dir()):
        run = newest_run(capture)
        if run:
            yield capture.name, run


def trace_folders(root, folder):
    """(name, run folder, folder of the xplane or None) of every run that has a trace.

    Where an xplane stands beside it the trace is read from a copy, as the xplane would win.
    """
    folder.mkdir()
    for path in sorted(root.glob("*/plugins/profile/*/*.trace.json.gz")):
        run, name = path.parent, f"{path.parents[3].name} {path.parent.name[-8:]} json"
        if not list(run.glob("*.xplane.pb")):
            yield name, run, None
            continue
        copy = folder / path.parents[3].name
        copy.mkdir()
        shutil.copy(path, copy)
        yield name, copy, run


def cross_check(report, rooflint, capture, folder, other):
    """The trace and the xplane of one run tell the same of what both hold."""
    queries = {
        "devices": ("SELECT device, events, window_s, busy_s FROM devices", "device"),
        "ops": ("SELECT module, name, count, time_s, p50_s, max_s FROM ops", "module"),
        "programs": ("SELECT module, executions FROM programs", "module"),
        "run": ("SELECT devices, steps, steps_source, step_time_s FROM run", "steps_source"),
    }
    for table, (sql, key) in queries.items():
        sides = [Tables(rooflint, side).by(sql, key) for side in (other, folder)]
        report.check(capture, f"{table} as in the xplane", *sides,
                     lambda ours, theirs: bool(ours and theirs) and all(
                         ours[c] == theirs[c] or closely(ours[c], theirs[c]) for c in ours))


def built(scenarios, folder):
    """(name, run folder) of the builder's scenarios that hold xplane files.

    By a process of its own, for all of them: its modules have names that ours have, too.
    """
    outs = {scenario.stem: folder / scenario.stem for scenario in scenarios}
    words = [word for pair in zip(scenarios, outs.values()) for word in pair]
    if words:
        subprocess.run([sys.executable, SCENARIOS.parent / "build.py", *words], check=True,
                       stdout=subprocess.DEVNULL)
    for name, out in outs.items():
        if run := newest_run(out):
            yield name, run


def compare(report, rooflint, capture, folder):
    run, tables = measure.Run(folder), Tables(rooflint, folder)
    for comparison in COMPARISONS:
        try:
            comparison(report, capture, run, tables)
        except (RuntimeError, LookupError, ValueError, subprocess.TimeoutExpired) as error:
            report.fail(capture, comparison.__name__, f"{type(error).__name__}: {error}")


# ---- snapshots of live buffers ------------------------------------------------------------------

def live_totals(path):
    """(kind, device) -> (count, bytes) of a memory.prof, by the wire format alone."""
    data, strings, samples = gzip.decompress(path.read_bytes()), [], []
    for number, _, value in xplane.fields(data):
        if number == 2:
            samples.append(value)
        elif number == 6:
            strings.append(xplane.text(value))
    found = {}
    for sample in samples:
        values, labels = [], {}
        for number, wire, value in xplane.fields(sample):
            if number == 2:
                values += xplane.ints(wire, value)
            elif number == 3:
                label = {n: v for n, _, v in xplane.fields(value)}
                labels[strings[label[1]]] = strings[label[2]] if 2 in label else label.get(3, 0)
        key = labels["kind"], str(labels.get("device", ""))
        count, size = found.get(key, (0, 0))
        found[key] = count + values[0], size + values[1]
    return found


def compare_snapshots(report, rooflint, root, folder):
    """Each beside the profile that the project carries, as memory.prof in its run."""
    for path in sorted(root.glob("pprof-memory/*.prof")):
        run = folder / path.stem
        shutil.copytree(next(CARRIED.glob("demo/plugins/profile/*")), run)
        shutil.copy(path, run / "memory.prof")
        rows = Tables(rooflint, run).rows("SELECT kind, coalesce(device, '') AS device, "
                                          "sum(count) AS n, sum(bytes) AS b FROM live GROUP BY 1, 2")
        report.check(path.stem, "live", live_totals(path),
                     {(row["kind"], row["device"]): (row["n"], row["b"]) for row in rows})


# ---- exports of Nsight Systems -------------------------------------------------------------------

def compare_exports(report, rooflint, root, wanted):
    for path in sorted(root.glob("nsys-*/*.sqlite")):
        name = f"{path.parent.name} {path.stem}"
        if not wanted or path.parent.name in wanted or name in wanted:
            nsys.compare(report, name, path, Tables(rooflint, path), closely)


def tasks(wanted, folder):
    """(function, its arguments) of all comparisons; `folder` is for what has to be made."""
    def chosen(name):
        return not wanted or name in wanted

    for name, run in run_folders(CARRIED):
        if chosen(name):
            yield compare, name, run
    yield compare_exports, CARRIED, wanted
    scenarios = [scenario for scenario in sorted(SCENARIOS.glob("*.toml"))
                 if scenario.stem != "demo" and chosen(scenario.stem)]  # demo is carried
    for name, run in built(scenarios, folder):
        yield compare, name, run
    if not SHARED.is_dir():
        return
    for name, run in run_folders(SHARED):
        if chosen(name):
            yield compare, name, run
    yield compare_exports, SHARED, wanted
    yield xprof.compare, SHARED / "xprof-golden-tpu-training"
    for name, run, other in trace_folders(SHARED, folder / "traces"):
        if chosen(name):
            yield compare, name, run
        if other:
            yield cross_check, name, run, other
    yield compare_snapshots, SHARED, folder / "snapshots"


def found_by(verbose, rooflint, task):
    """In a process of its own."""
    report = Report(verbose)
    task[0](report, rooflint, *task[1:])
    return report


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rooflint", default=str(ROOT / "build" / "rooflint"))
    parser.add_argument("--verbose", action="store_true", help="every difference, not the first")
    parser.add_argument("captures", nargs="*", help="names of captures; default all")
    options = parser.parse_args()
    report = Report(options.verbose)
    find = functools.partial(found_by, options.verbose, str(pathlib.Path(options.rooflint).resolve()))
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ProcessPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        for part in pool.map(find, tasks(options.captures, pathlib.Path(folder))):
            report.add(part)
    if not SHARED.is_dir():
        absent = Report(options.verbose)
        absent.skip("shared", "-", "../shared/profiles is absent: real captures were not compared")
        report.add(absent)
    passed, failed, skipped = report.totals()
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
