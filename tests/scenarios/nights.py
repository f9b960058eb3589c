#!/usr/bin/env python3
"""Nights of one workload in a store, and what check says of the next one.

    python3 tests/scenarios/nights.py

Builds runs of the demo scenario that differ in seed, date, branch and speed, records them with
`check --record`, and asks for them with --baseline store:... and --notify.  ROOFLINT names the
program.
"""

import datetime
import glob
import http.server
import json
import os
import random
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "builder"))
if sys.version_info < (3, 11):
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)

import derive
import run as scenarios

FIRST = datetime.datetime(2026, 3, 1, 2, 0, 0, tzinfo=datetime.timezone.utc)
JOB = "version: 1\nworkload: lm\nlabels: {{ branch: {branch}, trigger: nightly }}\n"


class Nights:
    """A directory with runs of `lm`, one a night, and a store."""

    def __init__(self, out):
        self.out = out
        self.store = os.path.join(out, "facts.db")
        self.spec = derive.load(scenarios.scenario_path("demo"))
        self.rules = "recommended"

    def path(self, name):
        return os.path.join(self.out, name)

    def build(self, night, branch="main", slower=1.0, versions=None, steps=14, **changes):
        """The run's directory.  Nights differ by half a percent up and down, as machines do."""
        start = FIRST + datetime.timedelta(days=night)
        wobble = (0.3, -0.5, 0.1, 0.4, -0.2, -0.4, 0.5, 0.0)[night % 8] / 100
        gap = 60 + 32500 * ((1 + wobble) * slower - 1) + 400
        spec = derive.merged(
            self.spec,
            {
                "seed": 100 + night,
                "run": start.strftime("%Y_%m_%d_%H_%M_%S"),
                "job": {
                    "steps": steps,
                    "start_unix_ns": int(start.timestamp()) * 10**9,
                    "versions": versions or {},
                },
                "timing": {"step_gap": f"{gap:.0f}us"},
                "job_file": JOB.format(branch=branch),
                **changes,
            },
        )
        logs = self.path(f"lm-{branch}")
        scenarios.write(spec, logs)
        return os.path.join(logs, "plugins", "profile", spec["run"])

    def check(self, profile, *more, env=None):
        """report.json's report, the exit status, and what stood on standard error."""
        report = self.path("report.json")
        if os.path.exists(report):
            os.remove(report)
        command = [scenarios.program(), "check", "--rules", self.rules, "-q", "--json", report]
        done = subprocess.run(
            [*command, *more, profile],
            capture_output=True,
            text=True,
            timeout=1200,
            check=False,
            env={**os.environ, **(env or {})},
        )
        if not os.path.exists(report):
            return None, done.returncode, done.stderr
        shown = subprocess.run(
            [scenarios.program(), "render", report], capture_output=True, text=True, check=False
        )
        self.headline = " ".join(shown.stdout.split("\n\n")[0].split())
        with open(report, encoding="utf-8") as file:
            return json.load(file)["reports"][0], done.returncode, done.stderr

    def record(self, profile, *more, **kwargs):
        return self.check(profile, "--store", self.store, "--record", *more, **kwargs)


def table(report, name, without=()):
    """A table's columns as report.json has them."""
    columns = report["tables"].get(name, {}).get("columns", {})
    return {key: value for key, value in columns.items() if key not in without}


def verdicts(report):
    return {r["name"]: (r["verdict"], r["reason"]) for r in report["results"]}


def missing(report):
    """Why no earlier run was found."""
    checks = table(report, "quality")
    return checks["detail"][checks["name"].index("baseline-found")]


def notes(report):
    return " ".join(note["text"] for note in report["notes"])


# --- the cases ------------------------------------------------------------------------

LAST5 = "store:branch=main,last=5"


def expect(what, is_so):
    if not is_so:
        raise AssertionError(what)


def recorded(nights, count, **kwargs):
    """Nights 0 to count - 1, recorded; their report.json files."""
    files = []
    for night in range(count):
        run = nights.build(night, **kwargs)
        report, _, err = nights.record(run)
        expect(f"night {night}: {err}", report)
        files.append(nights.path(f"night-{night}.json"))
        os.replace(nights.path("report.json"), files[-1])
    return files


def same_as_reports(nights):
    """A query says of its runs what their report.json files say."""
    files = recorded(nights, 6)
    run = nights.build(6, slower=1.03)
    by_query, status, _ = nights.check(run, "--store", nights.store, "--baseline", LAST5)
    named = [word for file in files[:0:-1] for word in ("--baseline", file)]
    by_name, same_status, _ = nights.check(run, *named)
    expect("exit status", status == same_status)
    without = ("key", "against")
    expect("deltas", table(by_query, "deltas", without) == table(by_name, "deltas", without))
    expect("verdicts", verdicts(by_query) == verdicts(by_name))
    expect("a regression", verdicts(by_query)["step-regression"][0] == "fail")
    expect("five of them", set(table(by_query, "deltas")["runs"]) == {5})
    expect("against", set(table(by_query, "deltas")["against"]) == {LAST5})


def a_run_counts_once(nights):
    """Neither the run itself nor one that two judges recorded, and none from later on."""
    recorded(nights, 4)
    twice, _, err = nights.record(nights.build(2), "--set", "copy-share.fail=50%")
    expect(err, twice)
    asked = ("--store", nights.store, "--baseline", LAST5)
    report, _, _ = nights.check(nights.build(3), *asked)
    expect("three before", table(report, "deltas")["runs"][0] == 3)
    report, _, _ = nights.check(nights.build(1), *asked)
    expect("one before", table(report, "deltas")["runs"][0] == 1)
    report, _, _ = nights.check(nights.build(3), *asked[:3], "store:last=2")
    expect("the last two", table(report, "deltas")["runs"][0] == 2)


def another_branch(nights):
    """Labels choose; the first night of a branch is judged without a baseline, and says so."""
    recorded(nights, 3, branch="dev")
    run = nights.build(3)
    report, _, _ = nights.check(run, "--store", nights.store, "--baseline", LAST5)
    expect("no baseline", verdicts(report)["step-regression"][0] == "not-applicable")
    expect("nothing is compared", not table(report, "deltas"))
    expect("why", "of 3 earlier runs of lm in the store" in missing(report))
    expect(nights.headline, "; no earlier run to compare with" in nights.headline)
    report, _, _ = nights.check(run, "--store", nights.store, "--baseline", "store:trigger=nightly")
    expect("any branch", table(report, "deltas")["runs"][0] == 3)
    query = "store:workload=other"
    report, _, _ = nights.check(run, "--store", nights.store, "--baseline", query)
    expect("why", "holds no earlier run of other" in missing(report))


def parity(nights):
    """A night on another chip is left out and named."""
    recorded(nights, 3)
    odd = nights.build(3, chip={"name": "tpu-v6e"})
    expect("recorded", nights.record(odd)[0])
    run = nights.build(4)
    report, _, _ = nights.check(run, "--store", nights.store, "--baseline", LAST5)
    expect("three match", table(report, "deltas")["runs"][0] == 3)
    told = "a baseline was left out: the chip is tpu_v5e here and tpu_v6e in"
    expect(notes(report), told in notes(report) and "2026_03_04" in notes(report))


def others_do_not_count(nights):
    """The last three that fit, however many of another chip ran since."""
    recorded(nights, 4)
    for night in range(4, 8):
        odd = nights.build(night, chip={"name": "tpu-v6e"})
        expect("recorded", nights.record(odd)[0])
    run = nights.build(8)
    report, _, _ = nights.check(run, "--store", nights.store, "--baseline", "store:last=3")
    expect("three that fit", set(table(report, "deltas")["runs"]) == {3})
    expect("the others are named", notes(report).count("a baseline was left out: the chip is") == 4)
    report, _, _ = nights.check(
        nights.build(9, chip={"name": "tpu-v5p"}), "--store", nights.store, "--baseline", LAST5
    )
    gate = [r for r in report["findings"] if r["rule"] == "baseline-comparable"]
    expect(gate, "the chip is tpu_v5p here and tpu_v6e in" in gate[0]["message"])


def another_libtpu(nights):
    """The night that brought a new libtpu is judged, and that is the first thing told."""

    def versions(day):
        runtime = f"PJRT C API\nTFRT TPU v5 lite\nBuilt on {day}"
        return {"jax": "0.10.1", "jaxlib": "0.10.1", "tpu": runtime}

    for night in range(3):
        run = nights.build(night, versions=versions("Nov 1"))
        expect("recorded", nights.record(run)[0])
    run = nights.build(3, slower=1.05, versions=versions("Nov 9"))
    asked = ("--store", nights.store, "--baseline", LAST5)
    report, _, _ = nights.check(run, *asked)
    expect("judged", verdicts(report)["step-regression"][0] == "fail")
    told = "the runtime is TFRT TPU v5 lite, Built on Nov 9, was TFRT TPU v5 lite, Built on Nov 1"
    expect(report["notes"], report["notes"][0]["text"].startswith(told))
    expect("jax is the same", "JAX is" not in notes(report))


def pinned_and_rolling(nights):
    """What creeps hides from the last runs, and not from the first."""
    files = recorded(nights, 1)
    for night in range(1, 6):
        expect("recorded", nights.record(nights.build(night, slower=1.10))[0])
    run = nights.build(14, slower=1.10)
    asked = ("--store", nights.store, "--baseline", files[0])
    report, _, _ = nights.check(run, *asked, "--baseline", LAST5)
    rows = table(report, "deltas")
    steps = [i for i, metric in enumerate(rows["metric"]) if metric == "run.step_time_s"]
    expect(rows, [rows["against"][i] for i in steps] == [files[0], LAST5])
    expect(rows, [rows["runs"][i] for i in steps] == [1, 5])
    expect("noise of all of them", all(rows["noise_runs"][i] == 6 for i in steps))
    expect(rows["lo"], rows["lo"][steps[0]] > 0 > rows["lo"][steps[1]])
    expect("fails", verdicts(report)["step-regression"][0] == "fail")
    found = [f["message"] for f in report["findings"] if f["rule"] == "step-regression"]
    expect(found, len(found) == 1 and f"slower than {files[0]}: " in found[0])
    alone, _, _ = nights.check(run, "--baseline", files[0])
    expect("one is enough", verdicts(alone)["step-regression"][0] == "fail")


REGRESSIONS = """\
version: 1
extends: recommended
groups:
  compute: { severity: off }
  communication: { severity: off }
  waiting: { severity: off }
  memory: { severity: off }
"""


def one_is_enough(nights):
    """One baseline fails a large slowdown and says why; a quiet night, and one of few steps, too."""
    nights.rules = nights.path("regressions.yaml")
    with open(nights.rules, "w", encoding="utf-8") as file:
        file.write(REGRESSIONS)
    first = recorded(nights, 1)[0]
    _, status, _ = nights.check(nights.build(1, slower=1.185), "--baseline", first)
    expect("18.5% slower fails", status == 1)
    expect(nights.headline, "%: beyond the noise (1.0% between runs: assumed"
           in nights.headline)
    _, status, _ = nights.check(nights.build(2), "--baseline", first)
    expect("a quiet night passes", status == 0)
    expect(nights.headline, "since one baseline shows none); less than" in nights.headline)
    few, _, _ = nights.check(nights.build(3, slower=1.3, steps=6), "--baseline", first)
    steps = table(few, "run")["steps"][0]
    rows = table(few, "deltas")
    expect(f"{steps} steps are judged: {rows}", steps <= 5 and few["verdict"] == "fail")
    loud = nights.path("loud.yaml")
    with open(loud, "w", encoding="utf-8") as file:
        file.write(REGRESSIONS + "noise: { assumed: 10% }\n")
    nights.rules = loud
    _, status, _ = nights.check(nights.build(1, slower=1.185), "--baseline", first)
    expect("noise: of the rule file", status == 4 and "10.0% between runs: assumed" in nights.headline)


def none_alike(nights):
    """A named baseline on another chip: inconclusive, as the comparison was asked for."""
    nights.rules = nights.path("regressions.yaml")
    with open(nights.rules, "w", encoding="utf-8") as file:
        file.write(REGRESSIONS)
    odd = nights.build(0, chip={"name": "tpu-v6e"})
    _, status, _ = nights.check(nights.build(1), "--baseline", odd)
    expect(nights.headline, status == 4 and nights.headline.startswith("INCONCLUSIVE"))
    asked = ("--store", nights.store, "--record", "--baseline", LAST5)
    _, status, _ = nights.check(nights.build(1), *asked)
    expect(nights.headline, status == 0 and "no earlier run to compare with" in nights.headline)


def a_store_that_is_down(nights):
    """The comparison was asked for and is open; what needs none is judged as ever."""
    nights.rules = nights.path("regressions.yaml")
    with open(nights.rules, "w", encoding="utf-8") as file:
        file.write(REGRESSIONS)
    run = nights.build(0)
    with socket.socket() as held:  # bound, and nobody listens
        held.bind(("127.0.0.1", 0))
        asked = ("--store", f"clickhouse://127.0.0.1:{held.getsockname()[1]}/perf", "--baseline", LAST5)
        report, status, errors = nights.check(run, *asked)
        expect(nights.headline, status == 4 and not errors)
        expect(nights.headline, "connect to server" in nights.headline)
        expect("a regression is open", verdicts(report)["step-regression"][0] == "inconclusive")
        expect("and let pass when asked", nights.check(run, *asked, "--inconclusive", "pass")[1] == 0)
        nights.rules = "recommended"
        report, status, _ = nights.check(run, *asked)
        expect("limits fail", status == 1 and verdicts(report)["oversized-all-gather"][0] == "fail")
        # Beside one that is there, it is told of; the other is compared with.
        first = recorded(nights, 1)[0]
        report, _, _ = nights.check(nights.build(1, slower=1.185), *asked, "--baseline", first)
        expect(notes(report), "a baseline was left out: store 'clickhouse:" in notes(report))
        expect("fails", verdicts(report)["step-regression"][0] == "fail")


def too_much_to_keep(nights):
    """A run whose tables are more than a store keeps: its facts are recorded, and that is said."""
    noise, program = random.Random(1), nights.spec["program"]
    copies = [
        {"name": f"big{n}", "hlo_name": f"copy.{1000 + n}", "kind": "copy", "in": ["x"], "time": "2us",
         "out": "bf16[1,1024,8192]{1,2,0:T(8,128)(2,1)}", "at": "batch",
         "scope": "jit(train_step)/" + noise.randbytes(500).hex()}
        for n in range(1200)
    ]
    run = nights.build(0, steps=4, program={**program, "op": [*program["op"], *copies]})
    report, status, errors = nights.record(run)
    expect(status, status == 1 and report["verdict"] == "fail")
    expect(errors, "is recorded, but is no baseline for later runs" in errors)
    db = sqlite3.connect(nights.store)
    expect("facts", db.execute("select count(*) from runs").fetchone() == (1,))
    expect("nothing kept", db.execute("select count(*) from kept").fetchone() == (0,))
    report, _, _ = nights.check(nights.build(1), "--store", nights.store, "--baseline", LAST5)
    expect(missing(report), "no earlier run of lm that was recorded" in missing(report))


def a_store_knows_the_noise(nights):
    """Twenty workloads whose nights differ by a thousandth take the place of what is assumed."""
    recorded(nights, 1)
    db = sqlite3.connect(nights.store)
    columns = [row[1] for row in db.execute("PRAGMA table_info(runs)") if row[1] != "id"]
    row = dict(zip(columns, db.execute(f"SELECT {', '.join(columns)} FROM runs").fetchone()))

    def add(workloads):
        for workload in workloads:
            for night in range(8):
                moment = FIRST - datetime.timedelta(days=40 - night)
                wobble = ((workload * 7 + night * 5) % 11 - 5) / 5000
                name = f"w{workload}-{night}"
                new = row | {"workload": f"w{workload}", "run": name, "hash": name}
                new["captured"] = moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")
                new["step_time_s"] = row["step_time_s"] * (1 + wobble)
                marks = ", ".join("?" * len(columns))
                db.execute(f"INSERT INTO runs ({', '.join(columns)}) VALUES ({marks})",
                           [new[c] for c in columns])
        db.commit()

    asked = ("--store", nights.store, "--baseline", LAST5)
    add(range(19))
    report, _, _ = nights.check(nights.build(1), *asked)
    expect("nineteen are too few", set(table(report, "deltas")["noise_workloads"]) == {0, None})
    before = table(report, "deltas")["resolution"][0]
    add(range(19, 25))
    report, _, _ = nights.check(nights.build(1), *asked)
    expect("25 workloads", table(report, "deltas")["noise_workloads"][0] == 25)
    expect(nights.headline, "as 25 workloads of the store show" in nights.headline)
    expect("sees more", table(report, "deltas")["resolution"][0] < before)


def an_improvement(nights):
    """What became faster is told, and fails nothing."""
    recorded(nights, 6, slower=1.05)
    page = nights.path("summary.md")
    run = nights.build(6)
    asked = ("--store", nights.store, "--baseline", LAST5, "--markdown", page)
    report, _, _ = nights.check(run, *asked)
    expect("passes", verdicts(report)["step-regression"][0] == "pass")
    with open(page, encoding="utf-8") as file:
        told = [line for line in file if "a step takes" in line]
    expect(told, told and "% less): beyond the noise (" in told[0] and "5 runs" in told[0])


class Hook:
    """A webhook on this machine: what it was told."""

    def __init__(self):
        self.told = told = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                told.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        self.env = {"ROOFLINT_HOOK": f"http://127.0.0.1:{self.server.server_address[1]}/"}


LIMIT = """\
version: 1
rules:
  step-time:
    title: A step is short
    from: run
    assert: step_time_s <= :limit
    params: { limit: 33.5 ms }
"""


def change_of_state(nights):
    """Told when it begins to fail and when it ends; what a branch does is its own."""
    hook = Hook()
    nights.rules = nights.path("limit.yaml")
    with open(nights.rules, "w", encoding="utf-8") as file:
        file.write(LIMIT)

    def told(night, slower, branch="main"):
        hook.told.clear()
        run = nights.build(night, branch, slower)
        _, _, err = nights.record(run, "--notify", "webhook:ROOFLINT_HOOK", env=hook.env)
        expect(err, "error" not in err and "warning" not in err)
        return [item["state"] for body in hook.told for item in body["data"]["items"]]

    expect("good: nothing to tell", told(0, 1) == [])
    expect("fails: new", told(1, 1.1) == ["new"])
    expect("the same run once more is quiet", told(1, 1.1) == [])
    expect("still failing is quiet", told(2, 1.1) == [])
    expect("another branch has no part in it", told(3, 1, "dev") == [])
    expect("nor hides that it fails there", told(4, 1.1, "dev") == ["new"])
    expect("fixed", told(5, 1) == ["fixed"])
    expect("and stays", told(6, 1) == [])


def unreadable_nights(nights, job=None):
    """Two captures of a log directory cannot be read: that is told once, and its end once."""
    hook = Hook()
    nights.rules = nights.path("limit.yaml")
    with open(nights.rules, "w", encoding="utf-8") as file:
        file.write(LIMIT)
    if job:
        os.makedirs(nights.path("logs"))
        with open(nights.path("logs/rooflint.job.yaml"), "w", encoding="utf-8") as file:
            file.write(job)

    def judged():
        hook.told.clear()
        nights.record(nights.path("logs"), "--notify", "webhook:ROOFLINT_HOOK", env=hook.env)
        return [item["state"] for body in hook.told for item in body["data"]["items"]]

    def told(night, is_good):
        built = nights.build(night)
        run = os.path.join(nights.path("logs/plugins/profile"), os.path.basename(built))
        os.makedirs(run)
        with open(os.path.join(run, "host.xplane.pb"), "wb") as file:
            if is_good:
                with open(glob.glob(os.path.join(built, "*.xplane.pb"))[0], "rb") as source:
                    file.write(source.read())
        return judged()

    expect("good", told(1, True) == [])
    expect("begins: new", told(2, False) == ["new"])
    expect("judged again: quiet", judged() == [])
    expect("goes on: quiet", told(3, False) == [])
    expect("ends: fixed", told(4, True) == ["fixed"])
    expect("judged again: quiet", judged() == [])
    expect("and stays", told(5, True) == [])


def unreadable_nights_of_a_job(nights):
    """With a job file, an unreadable night is one of the workload that the file names."""
    unreadable_nights(nights, JOB.format(branch="main"))
    with sqlite3.connect(nights.store) as db:
        rows = db.execute("select distinct workload, labels from runs").fetchall()
    expect(rows, rows == [("lm", "branch=main,trigger=nightly")])
    with sqlite3.connect(nights.store) as db:
        rows = db.execute("select count(*) from runs where captured is null").fetchone()
    expect("all have a date", rows == (0,))


def mistakes(nights):
    """What a query cannot mean ends with status 2 before anything is judged."""
    recorded(nights, 1)
    run = nights.build(1)
    for words, why in (
        (("--baseline", LAST5), "name it with --store"),
        (("--baseline", "store:last=0", "--store", nights.store), "takes a number from 1 to 100"),
        (("--baseline", "store:main", "--store", nights.store), "is no key=value"),
        (
            ("--baseline", "store:verdict=bogus", "--store", nights.store),
            "'verdict=bogus' takes pass, warn, fail or inconclusive",
        ),
        (
            ("--baseline", "store:last=5,last=2", "--store", nights.store),
            "'last=2' is the second of its key; give each once",
        ),
        (
            ("--baseline", "store:commit=a,commit=b", "--store", nights.store),
            "'commit=b' is the second of its key",
        ),
        (
            ("--baseline", "store:branch=main,branch=dev", "--store", nights.store),
            "'branch=dev' is the second of its key",
        ),
        (("--baseline", LAST5, "--store", nights.path("none.db")), "cannot be opened"),
        (("--baseline", LAST5, "--store", "clickhouse://x/a-b"), "a-b"),
        (("--store", nights.store), "give one of these"),
    ):
        _, status, err = nights.check(run, *words)
        expect(f"{words}: {status} {err}", status == 2 and why in err)
    spoil(nights.store)
    report, status, _ = nights.check(run, "--store", nights.store, "--baseline", LAST5)
    told = [f["message"] for f in report["findings"] if f["rule"] == "baseline-comparable"]
    expect(told, status != 0 and len(told) == 1 and "is damaged" in told[0])
    expect("open", verdicts(report)["step-regression"][0] == "inconclusive")


def spoil(store):
    with sqlite3.connect(store) as db:
        db.execute("update kept set bytes = substr(bytes, 1, 100)")


CASES = [
    same_as_reports,
    a_run_counts_once,
    another_branch,
    parity,
    others_do_not_count,
    another_libtpu,
    pinned_and_rolling,
    one_is_enough,
    none_alike,
    a_store_that_is_down,
    too_much_to_keep,
    a_store_knows_the_noise,
    an_improvement,
    change_of_state,
    unreadable_nights,
    unreadable_nights_of_a_job,
    mistakes,
]


def main():
    failed = 0
    for case in CASES:
        with tempfile.TemporaryDirectory() as out:
            try:
                case(Nights(out))
            except AssertionError as error:
                failed += 1
                print(f"FAIL nights: {case.__name__}: {error}")
    print(f"{len(CASES) - failed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
