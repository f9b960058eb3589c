"""The weekly audit of a generated fleet: the same bytes whatever the way, and what was planted."""
import contextlib
import datetime
import glob
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

import make_fleet
import packages

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../bench"))
from used import used  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ROOFLINT = os.environ.get("ROOFLINT", os.path.join(HERE, "../../build/rooflint"))
WORKLOADS, WEEKS, PER_WEEK = 100, 13, 3
OUTPUTS = ["--html", "--json", "--markdown", "--csv"]


def lines(runs):
    return "".join(json.dumps(line) + "\n" for run in runs for line in run)


class Fleet(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        make_fleet.COLUMNS = make_fleet.columns(os.path.join(HERE, "../../docs/facts.md"))
        cls.dir = tempfile.TemporaryDirectory()
        cls.fleet = list(make_fleet.fleet(WORKLOADS, WEEKS, PER_WEEK, 7))
        cls.runs = [run for _, runs in cls.fleet for run in runs]
        cls.whole = cls.write("whole", cls.runs)

    @classmethod
    def tearDownClass(cls):
        cls.dir.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.dir.name, name)

    @classmethod
    def write(cls, name, runs):
        with open(cls.path(name), "w", encoding="utf-8") as file:
            file.write(lines(runs))
        return cls.path(name)

    def audit(self, *args):
        """Everything that an audit writes, in one piece."""
        files = [self.path("out" + option) for option in OUTPUTS]
        options = [word for pair in zip(OUTPUTS, files) for word in pair]
        done = subprocess.run([ROOFLINT, "audit", *args, *options], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        written = done.stdout
        for file in files:
            with open(file, "rb") as stream:
                written += stream.read()
        return written

    def test_parts_in_any_order_are_the_whole(self):
        want = self.audit("--merge", self.whole)
        rng = random.Random(3)
        for count in (2, 7):
            runs = self.runs[:]
            rng.shuffle(runs)
            parts = [self.write(f"part{i}", runs[i::count]) for i in range(count)]
            self.assertEqual(self.audit("--merge", *parts), want)
            self.assertEqual(self.audit("--merge", *parts, parts[0], self.whole), want)

    def test_a_store_says_the_same(self):
        want = self.audit("--merge", self.whole)
        store = self.path("fleet.db")
        half = self.write("half", self.runs[::2])
        self.audit("--store", store, "--merge", half)
        self.assertEqual(self.audit("--store", store, "--merge", self.whole), want)
        before = os.path.getsize(store)
        self.assertEqual(self.audit("--store", store, "--merge", half, self.whole), want)
        self.assertEqual(self.audit("--store", store), want)
        self.assertEqual(os.path.getsize(store), before)

    @unittest.skipIf(os.environ.get("SAN"), "sanitizers need memory of their own")
    def test_memory_does_not_grow_with_runs(self):
        """3900 runs are 30 MB of records, which no process ever holds."""
        tenth = self.write("tenth", self.runs[::10])

        def peak(*args):
            _, _, megabytes = used([ROOFLINT, "audit", *args])
            return megabytes

        store = self.path("memory.db")
        for way in (["--merge"], ["--store", store, "--merge"]):
            self.assertLess(peak(*way, self.whole), peak(*way, tenth) + 8)
        self.assertLess(peak("--store", store), 32)

    def test_planted_changes_are_found_and_no_others(self):
        self.audit("--merge", self.whole)
        with open(self.path("out--json"), encoding="utf-8") as file:
            report = json.load(file)
        planted = {w["name"]: w["change"] for w, _ in self.fleet if w["change"]}
        found = {}
        for change in report["changes"]:
            self.assertNotIn(change["workload"], found)
            found[change["workload"]] = change
        self.assertEqual(set(found) - set(planted), set())
        self.assertEqual(set(planted) - set(found), set())
        for w, runs in self.fleet:
            if not w["change"]:
                continue
            usable = [run[0]["captured"] for run in runs if run[0]["verdict"] != "error"]
            truth = sum(run[0]["verdict"] != "error" for run in runs[:w["change"][0]])
            at = usable.index(found[w["name"]]["since"])
            self.assertLessEqual(abs(at - truth), 1, w["name"])
            self.assertAlmostEqual(found[w["name"]]["change"], w["change"][1] - 1, delta=0.02)

    def test_an_independent_sum_agrees(self):
        self.audit("--merge", self.whole)
        with open(self.path("out--json"), encoding="utf-8") as file:
            report = json.load(file)
        chips = back = 0
        for _, runs in self.fleet:
            week = [run[0] for run in runs if run[0]["verdict"] != "error" and
                    report["from"] < run[0]["captured"] <= report["to"]]
            if week:
                share = sum(r["gain_s"] / r["step_time_s"] for r in week) / len(week)
                chips += week[-1]["chips"]
                back += week[-1]["chips"] * share
        total = report["totals"][0]
        self.assertEqual(total["chips"], chips)
        self.assertAlmostEqual(total["chips_back"], back, places=6)
        self.assertAlmostEqual(sum(r["chips_back"] for r in report["ranking"]), back, places=6)
        self.assertAlmostEqual(sum(r["chips_back"] for r in report["by-owner"]), back, places=6)

    def test_slow_machines_are_recomputed(self):
        """The planted host and no other, with its cost, from the records by plain loops."""
        usage = self.path("usage.csv")
        with open(usage, "w", encoding="utf-8") as file:
            file.write("workload,chip_hours,price\n")
            file.writelines(f"{w['name']},{w['chips'] * 10},2\n" for w, _ in self.fleet)
        self.audit("--merge", self.whole, "--usage", usage)
        with open(self.path("out--json"), encoding="utf-8") as file:
            report = json.load(file)
        jobs, back = {}, {}
        for w, runs in self.fleet:
            week = [run for run in runs if run[0]["verdict"] != "error" and
                    report["from"] < run[0]["captured"] <= report["to"]]
            for run in week:
                worst = {}
                for d in run:
                    if d["record"] == "device" and d["slowness"] > worst.get(d["host"], (0, 0))[0]:
                        worst[d["host"]] = (d["slowness"], d["lost_s"] / run[0]["step_time_s"])
                slowest = max(worst, key=lambda host: worst[host][0], default=None)
                for host, (slowness, lost) in worst.items():
                    late, count = jobs.setdefault(host, {}).get(w["name"], (0, 0))
                    jobs[host][w["name"]] = (late + (slowness >= 1.05), count + 1)
                    if host == slowest and slowness >= 1.05:
                        back[host] = back.get(host, 0) + w["chips"] * lost / len(week)
        slow = {host: [2 * late > count for late, count in of.values()] for host, of in jobs.items()}
        expected = {host for host, is_slow in slow.items()
                    if sum(is_slow) >= 2 and 2 * sum(is_slow) > len(is_slow)}
        self.assertEqual(expected, {"host-late"})
        row, = report["machines"]
        self.assertEqual(row["host"], "host-late")
        self.assertIsNone(row["device"])
        self.assertEqual((row["workloads"], row["of_workloads"]),
                         (sum(slow["host-late"]), len(slow["host-late"])))
        self.assertEqual((row["slow_runs"], row["runs"]),
                         tuple(map(sum, zip(*jobs["host-late"].values()))))
        self.assertAlmostEqual(row["slowness"], 1.2, places=9)
        self.assertAlmostEqual(row["chips_back"], back["host-late"], places=6)
        self.assertAlmostEqual(row["chip_hours_back"], back["host-late"] * 10, places=6)
        self.assertAlmostEqual(row["dollars_back"], back["host-late"] * 20, places=6)

    def test_goodput_and_trend_are_recomputed(self):
        """From the records by plain loops: where the hours went, and twelve windows by chips."""
        usage, hours = self.path("hours.csv"), {}
        for i, (w, _) in enumerate(self.fleet):
            held = 10 * w["chips"]
            hours[w["name"]] = (held, held * (0.5 + 0.01 * (i % 40)) if i % 3 else None)
        with open(usage, "w", encoding="utf-8") as file:
            file.write("workload,chip_hours,price,running_hours\nghost,500,2,100\n")
            file.writelines(f"{name},{held},2,{ran or ''}\n" for name, (held, ran) in hours.items())
        self.audit("--merge", self.whole, "--usage", usage)
        with open(self.path("out--json"), encoding="utf-8") as file:
            report = json.load(file)
        end = datetime.datetime.fromisoformat(report["to"][:-1])

        def mean(values):
            known = [v for v in values if v is not None]
            return sum(known) / len(known) if known else None

        weeks, steps = [], []
        for ago in range(12):
            row = dict.fromkeys(("workloads", "runs", "chips", "back", "of_roofline", "weight"), 0)
            for w, runs in self.fleet:
                when = [datetime.datetime.fromisoformat(run[0]["captured"][:-1]) for run in runs]
                here = [run[0] for run, at in zip(runs, when) if run[0]["verdict"] != "error" and
                        0 <= (end - at).total_seconds() - ago * 604800 < 604800]
                if not here:
                    continue
                ratio = mean(run["roofline_ratio_lo"] for run in here)
                row["workloads"] += 1
                row["runs"] += len(here)
                row["chips"] += w["chips"]
                row["back"] += w["chips"] * mean(run["gain_s"] / run["step_time_s"] for run in here)
                row["of_roofline"] += w["chips"] * (ratio or 0)
                row["weight"] += w["chips"] if ratio else 0
                if ago == 0:
                    held, ran = hours[w["name"]]
                    steps.append(((ran or held) * mean(run["steps_ratio"] for run in here),
                                  ran or held, ratio))
            weeks.append(row)
        self.assertEqual(len(report["trend"]), 12)
        for told, row in zip(report["trend"], weeks):
            self.assertEqual([told[k] for k in ("workloads", "runs", "chips")],
                             [row[k] for k in ("workloads", "runs", "chips")])
            self.assertAlmostEqual(told["chips_back"], row["back"], places=6)
            self.assertAlmostEqual(told["roofline_ratio"], row["of_roofline"] / row["weight"],
                                   places=9)
        self.assertEqual(sum(row["changes"] for row in report["trend"]),
                         sum(c["since"] > (end - 12 * datetime.timedelta(7)).isoformat()
                             for c in report["changes"]))
        ideal = [(h, ratio) for h, _, ratio in steps if ratio]
        ran = [pair for pair in hours.values() if pair[1]] + [(500, 100)]
        expected = [(sum(held for held, _ in hours.values()) + 500,) * 2,
                    (sum(r for _, r in ran), sum(h for h, _ in ran)),
                    (sum(h for h, _, _ in steps), sum(of for _, of, _ in steps)),
                    (sum(h * ratio for h, ratio in ideal), sum(h for h, _ in ideal))]
        for told, (part, of) in zip(report["goodput"], expected, strict=True):
            self.assertAlmostEqual(told["chip_hours"], part, delta=1e-9 * part)
            self.assertAlmostEqual(told["of_hours"], of, delta=1e-9 * of)
            self.assertAlmostEqual(told["dollars"], 2 * part, delta=2e-9 * part)

    def test_a_sample_of_hosts_is_judged_once(self):
        """Known again by the hosts that were read; what is spoilt behind that is not looked at."""
        root = os.path.join(self.dir.name, "sampled")
        shutil.copytree(os.path.join(HERE, "../profiles/demo"), root)
        store = self.path("sampled.db")

        def judged():
            self.audit(root, "--store", store, "--hosts-sample", "1")
            with contextlib.closing(sqlite3.connect(store)) as db:
                return db.execute("select count(*), sum(hosts) from runs").fetchone()

        self.assertEqual(judged(), (1, 1))
        for name in glob.glob(root + "/plugins/profile/*/*.pb"):
            with open(name, "r+b") as file:
                file.seek(os.path.getsize(name) // 2)
                file.write(b"\xff" * 999)
        self.assertEqual(judged(), (1, 1))

    def captures(self, root, count):
        """Runs that are no copies of one another: each has a host's name of its own at its end."""
        for n in range(count):
            job = os.path.join(root, f"job-{n:03d}")
            shutil.copytree(os.path.join(HERE, "../profiles/jax-cpu-train"), job)
            name, = glob.glob(job + "/plugins/profile/*/*.xplane.pb")
            with open(name, "ab") as file:
                file.write(b"\x22\x08host-%03d" % n)  # XSpace.hostnames

    def test_killed_and_run_again(self):
        root, store, count = self.path("many"), self.path("killed.db"), 120
        self.captures(root, count)

        def remembered():
            with contextlib.suppress(sqlite3.Error), \
                    contextlib.closing(sqlite3.connect(store)) as db:
                return db.execute("select count(*) from runs").fetchone()[0]
            return 0

        job = subprocess.Popen([ROOFLINT, "audit", root, "--store", store],
                               stdout=subprocess.DEVNULL, start_new_session=True)
        while job.poll() is None and remembered() < count // 10:
            time.sleep(0.005)
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()
        self.assertLess(remembered(), count)
        want = self.audit(root, "--store", self.path("undisturbed.db"))
        self.assertTrue(self.audit(root, "--store", store) == want)
        self.assertEqual(remembered(), count)
        self.assertTrue(f"All {count} runs could be judged".encode() in want)

    def test_duckdb_counts_the_same(self):
        packages.need("duckdb")
        import duckdb
        self.audit("--merge", self.whole)
        with open(self.path("out--json"), encoding="utf-8") as file:
            report = json.load(file)
        rows = duckdb.execute(
            f"select rule, count(*) from (select rule, verdict, row_number() over "
            f"(partition by workload, rule order by captured desc) as age "
            f"from read_json('{self.whole}', format='newline_delimited', sample_size=-1) "
            f"where record = 'rule' and captured > '{report['from']}' and captured <= '{report['to']}') "
            f"where age = 1 and verdict = 'fail' group by rule").fetchall()
        self.assertEqual(dict(rows), {r["rule"]: r["workloads"] for r in report["rules"]})


if __name__ == "__main__":
    unittest.main()
