"""One fleet to which all happens in a quarter: nights that do not come, a workload that stops, a slow
host, a doubled batch, another judge, an archived copy, a rename, hours that nobody ran, a clock that
is ahead.  Each is told as what it is, nothing else is, and every number is recomputed in SQLite of
Python's from the records that the store exports."""

import datetime
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import make_fleet  # noqa: E402

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
ROOFLINT = os.path.abspath(os.environ.get("ROOFLINT", os.path.join(TOP, "build", "rooflint")))
END = datetime.datetime(2026, 11, 20, 6)
NIGHTS = 70  # ten weeks; night 0 is the last one
JUDGED = {"judge": "generated", "tool": "0.1.0", "rules": "recommended"}
RULES = ("copy-share", "idle", "matmul-roofline")

FLEET_FILE = """
version: 1
expected:
  - { workload: "runs/steady-*", every: 1d }
aliases:
  - { from: runs/old-name, to: runs/new-name }
budgets:
  - { owner: blue, dollars: 100000 }
"""


class Made:
    """Records of the fleet, and what the checker has to know that no record says."""

    def __init__(self):
        self.lines = []
        for i in range(6):
            self.workload(f"runs/steady-{i}", chips=8 << i % 3)
        self.workload("runs/gaps", skip={1, 3})
        self.workload("runs/gone", skip=set(range(7)))
        self.workload("runs/long-gone", skip=set(range(14)))
        for i in range(4):
            self.workload(f"runs/on-slow-host-{i}", chips=16, slow=7)
        self.workload("runs/busy-host", chips=16, slow=7, host="host-busy")  # one job says nothing
        self.workload("runs/doubled", doubled=7)
        self.workload("runs/doubled-untold", doubled=7, batch=None)
        self.workload("runs/rejudged", judge=7)
        self.workload("runs/broken", fails={"idle": set(range(2))})
        self.workload("runs/again", fails={"idle": {0, 1, 8, 15, 16, 30, *range(50, 60)}})
        self.workload("runs/mended", fails={"idle": set(range(7, 70))})
        self.workload("runs/slower", slower=7)
        self.workload("runs/copied", archived=set(range(NIGHTS)))
        self.workload("runs/copied-once", archived={3})
        self.workload("runs/shelved", archived=set(range(14, 60)))
        self.workload("runs/new-name", called=lambda n: "runs/old-name" if n >= 21 else "runs/new-name")
        self.workload("runs/spoilt", unreadable={2})
        self.workload("runs/tomorrow")
        self.run("runs/tomorrow", -1, 8, 0.1, when=datetime.datetime(2031, 1, 1))
        self.run("runs/other-owner", 2, 4, 0.1, owner="red")

    def workload(self, name, chips=32, skip=(), slow=0, host="host-slow", doubled=0, judge=0,
                 slower=0, fails=None, archived=(), unreadable=(), **kept):
        index = len({line["workload"] for line in self.lines})
        for n in reversed(range(NIGHTS)):
            if n in skip:
                continue
            # No noise that would be news: a period of three nights, 0.2% wide.
            step = (0.05 + 0.01 * (index % 5)) * (1 + 0.001 * (n % 3 - 1))
            usual = step
            step *= 2 if n < doubled else 1.3 if n < slower else 180 / 152 if n < slow else 1
            self.run(kept.get("called", lambda _: name)(n), n, chips, step, index=index,
                     usual=usual,
                     batch=kept.get("batch", 2048 if n < doubled else 1024),
                     work=2 if n < doubled else 1, late=host if n < slow else None,
                     judge="another" if n < judge else None, limit=n < judge,
                     broken={r for r, nights in (fails or {}).items() if n in nights},
                     archived=n in archived, unreadable=n in unreadable)

    def run(self, workload, n, chips, step, index=0, usual=None, work=1, when=None, owner="blue",
            batch=1024, late=None, judge=None, limit=False, broken=(), archived=False, unreadable=False):
        when = when or END - datetime.timedelta(days=n, minutes=index)
        profile = f"{workload}/plugins/profile/{when:%Y_%m_%d_%H_%M_%S}"
        waste = 0.1 + 0.02 * (index % 4)
        base = {**JUDGED, "version": "2.9", "profile": profile, "workload": workload, "run": profile,
                "captured": f"{when:%Y-%m-%dT%H:%M:%S}.000Z", "captured_source": "profile",
                "hash": "h " + profile}
        if judge:
            base["judge"] = judge
        if unreadable:
            self.add(base, record="run", verdict="error", error_id="RL201", error="cut off")
            return
        base.update(owner=owner, chip="tpu_v5e", chips=chips, platform="tpu", phase="train",
                    model="m", global_batch=batch, tokens_per_step=batch and batch * 10)
        broken = {"copy-share", *broken, *(["matmul-roofline"] if limit else [])}
        copy = {**base, "profile": "archive/" + profile, "hash": "copy " + profile,
                "workload": "archive/" + workload}
        for one in (base, copy) if archived else (base,):
            self.add(one, record="run", verdict="fail", gain_s=step * waste, hosts=2, devices=8,
                     steps=20, step_time_s=step, step_mean_s=step, steps_ratio=0.9,
                     roofline_ratio_lo=0.5 * work * (usual or step) / step, judged_ratio=0.9,
                     mfu=(1.04 if n == 2 else 0.4) if index % 2 else None)  # of another job
            for rule in RULES:
                is_broken = rule in broken
                self.add(one, record="rule", rule=rule, title=rule + "!", subjects=3,
                         findings=int(is_broken), verdict="fail" if is_broken else "pass",
                         gain_s=step * waste / len(broken) if is_broken else None,
                         message="too much" if is_broken else None)
            for d in range(4):
                host = late if late and d == 3 else f"host-{index}-{d // 2}"
                slowness = 180 / 152 if late and d == 3 else 1.0
                self.add(one, record="device", host=host, device=f"/device:TPU:{d}",
                         slowness=slowness, lost_s=step * (1 - 1 / slowness) * 0.9)

    def add(self, base, **values):
        self.lines.append(make_fleet.record(base, **values))


class Week(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        make_fleet.COLUMNS = make_fleet.columns(os.path.join(TOP, "docs", "facts.md"))
        cls.dir = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.dir.cleanup)
        cls.made = Made()
        cls.write("facts.ndjson", "".join(json.dumps(line) + "\n" for line in cls.made.lines))
        cls.write("fleet.yaml", FLEET_FILE)
        cls.hours = {w: (1000.0 + 10 * i, 1.5) for i, w in enumerate(sorted(
            {line["workload"] for line in cls.made.lines
             if not line["workload"].startswith(("archive", "runs/old"))}))}
        cls.write("usage.csv", "workload,chip_hours,price\nruns/ghost,700,2\n" + "".join(
            f"{w},{hours},{price}\n" for w, (hours, price) in cls.hours.items()))
        done = cls.rooflint("audit", "--store", "s.db", "--merge", "facts.ndjson", "--fleet",
                            "fleet.yaml", "--usage", "usage.csv", "--json", "week.json", "--html",
                            "week.html", "--owner-pages")
        cls.said, cls.status = done.stdout, done.returncode
        with open(cls.path("week.json"), encoding="utf-8") as file:
            cls.report = json.load(file)
        cls.db = sqlite3.connect(":memory:")
        cls.addClassCleanup(cls.db.close)
        cls.load(cls.rooflint("store", "export", "s.db").stdout)

    @classmethod
    def path(cls, name):
        return os.path.join(cls.dir.name, name)

    @classmethod
    def write(cls, name, text):
        with open(cls.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    @classmethod
    def rooflint(cls, *args):
        return subprocess.run([ROOFLINT, *args], cwd=cls.dir.name, capture_output=True, text=True,
                              check=False, timeout=200)

    @classmethod
    def load(cls, exported):
        """Three tables, joined by hash; `week` has one usable run of each capture and its window."""
        columns = make_fleet.COLUMNS
        for record in ("run", "rule", "device"):
            cls.db.execute(f"create table {record}_facts ({', '.join(columns)})")
        for line in map(json.loads, exported.splitlines()):
            cls.db.execute(f"insert into {line['record']}_facts values ({', '.join('?' * len(columns))})",
                           [line.get(c) for c in columns])
        cls.db.execute("create table hours (workload, hours, price)")
        cls.db.executemany("insert into hours values (?, ?, ?)",
                           [(w, *rest) for w, rest in cls.hours.items()])
        span = f"(julianday('{cls.report['to']}') - julianday(captured)) / 7"
        cls.db.execute(
            f"create table week as select *, cast(floor({span} + 1e-9) as integer) as ago, "
            "gain_s / step_mean_s as share from (select *, iif(workload = 'runs/old-name', "
            "'runs/new-name', workload) as name from run_facts) "
            "where error_id is null and workload not like 'archive%' and captured <= "
            f"'{cls.report['to']}'")

    def sql(self, query):
        return self.db.execute(query).fetchall()

    def near(self, told, expected):
        self.assertEqual(len(told), len(expected))
        for a, b in zip(told, expected):
            if isinstance(b, float):
                self.assertAlmostEqual(a, b, delta=1e-8 * max(1, abs(b)))
            else:
                self.assertEqual(a, b)

    # ---- what is told, and nothing else ----------------------------------------------------------

    def test_window_and_future(self):
        self.assertEqual(self.report["to"], "2026-11-20T06:00:00.000Z")
        self.assertEqual([(q["check"], q["runs"]) for q in self.report["quality"]],
                         [("dated-after-window", 1)])
        self.assertIn("1 run is dated", self.said)
        self.assertEqual(self.status, 0, self.said)

    def test_missing(self):
        told = [(m["what"], m["workload"], m["due"] and m["due"][:10], m["is_new"])
                for m in self.report["missing"]]
        self.assertEqual(sorted(told, key=str), sorted([
            ("night", "runs/gaps", "2026-11-19", 1), ("night", "runs/gaps", "2026-11-17", 1),
            ("workload", "runs/gone", None, 1), ("workload", "runs/long-gone", None, 0),
            ("billed", "runs/ghost", None, None), ("billed", "runs/gone", None, None),
            ("billed", "runs/long-gone", None, None)], key=str))

    def test_machines(self):
        row, = self.report["machines"]
        self.assertEqual((row["host"], row["workloads"], row["of_workloads"]), ("host-slow", 4, 4))
        back, hours, money = self.sql(
            "select sum(chips * lost), sum(hours * lost), sum(hours * price * lost) from (select name, "
            "max(chips) as chips, avg(lost) as lost from (select w.name, w.chips, w.hash, "
            "max(d.lost_s) / w.step_mean_s as lost from week as w join device_facts as d using (hash) "
            "where ago = 0 and d.host = 'host-slow' group by w.hash) group by name) as n join hours "
            "on hours.workload = n.name")[0]
        self.near([row["chips_back"], row["chip_hours_back"], row["dollars_back"]],
                  [back, hours, money])

    def test_movers_and_changes(self):
        """The doubled batch is another step, and one that no job file tells is other work; a step that
        waits for a host is slower."""
        slow = {f"runs/on-slow-host-{i}" for i in range(4)} | {"runs/busy-host", "runs/slower"}
        self.assertEqual({m["workload"]: m["state"] for m in self.report["movers"]},
                         {**dict.fromkeys(slow, "slower"), "runs/doubled-untold": "other-work"})
        self.assertEqual({c["workload"]: round(c["work_change"], 3) for c in self.report["changes"]},
                         {**dict.fromkeys(slow, 0), "runs/doubled-untold": 1})
        self.assertIn("6 workloads slower, 0 faster, 1 at other work, 1 with another batch or on other "
                      "chips.", " ".join(self.said.split()))
        for m in self.report["movers"]:
            now, before = (self.sql(f"select avg(step_time_s) from week where ago = {ago} and "
                                    f"name = '{m['workload']}'")[0][0] for ago in (0, 1))
            self.near([m["now_s"], m["before_s"], m["change"]], [now, before, now / before - 1])

    def test_problems(self):
        told = {(p["state"], p["workload"], p["rule"]): (p["seen_before"], p["ran_before"])
                for p in self.report["problems"]}
        seen = lambda name: self.sql(  # noqa: E731
            "select count(distinct iif(r.verdict = 'fail', ago, null)), count(distinct ago) from week "
            f"join rule_facts as r using (hash) where name = '{name}' and ago > 0 and r.rule = 'idle'")
        self.assertEqual(told, {
            ("new", "runs/broken", "idle"): (0, 9), ("new", "runs/again", "idle"): (5, 9),
            ("fixed", "runs/mended", "idle"): (None, None),
            ("rejudged", "runs/rejudged", "matmul-roofline"): told[
                ("rejudged", "runs/rejudged", "matmul-roofline")]})
        self.assertEqual(seen("runs/again"), [(5, 9)])
        self.assertEqual(seen("runs/broken"), [(0, 9)])

    def test_copies_and_names(self):
        names = {r["workload"] for r in self.report["ranking"]}
        self.assertFalse({n for n in names if n.startswith(("archive", "runs/old"))})
        first = {r["workload"]: r["first_seen"] for r in self.report["ranking"]}
        self.assertEqual(first["runs/new-name"], first["runs/steady-0"])
        self.assertEqual({r["outcome"]: r["runs"] for r in self.report["coverage"]}, {
            "judged": self.sql("select count(*) from week where ago = 0")[0][0],
            "unreadable: bytes are not the protobuf message they should be": 1})

    # ---- every number ----------------------------------------------------------------------------

    def test_ranking(self):
        expected = self.sql(
            "select name, max(owner), avg(share) * max(chips), avg(share) * hours, "
            "avg(share) * hours * price, avg(share), avg(roofline_ratio_lo), "
            "avg(iif(mfu <= 1, mfu, null)), "
            "avg(step_time_s), max(chips), count(*) from week join hours on hours.workload = name "
            "where ago = 0 group by name order by 5 desc, name")
        columns = ("workload", "owner", "chips_back", "chip_hours_back", "dollars_back", "share",
                   "roofline_ratio", "mfu", "step_time_s", "chips", "runs")
        told = [[row[c] for c in columns] for row in self.report["ranking"]]
        self.assertEqual([round(row[4], 6) for row in told], [round(row[4], 6) for row in expected])
        for row, of in zip(sorted(told), sorted(expected)):
            self.near(row, list(of))
        before = dict(self.sql("select name, avg(share) from week where ago = 1 group by name"))
        for row in self.report["ranking"]:
            if row["workload"] != "runs/other-owner":
                self.assertAlmostEqual(row["share_before"], before[row["workload"]], places=9)
                self.assertEqual((row["seen_before"], row["ran_before"]), (9, 9))

    def test_totals_and_groups(self):
        total = self.report["totals"][0]
        parts = self.sql(
            "select owner, sum(share * chips), sum(share * hours), sum(share * hours * price), "
            "sum(share * hours) / sum(hours), sum(n), count(*) from (select name, max(owner) as owner, "
            "avg(share) as share, max(chips) as chips, count(*) as n from week where ago = 0 group by "
            "name) as w join hours on hours.workload = name group by owner order by owner")
        columns = ("group", "chips_back", "chip_hours_back", "dollars_back", "share", "runs", "workloads")
        for row, of in zip(sorted(([r[c] for c in columns] for r in self.report["by-owner"])), parts,
                           strict=True):
            self.near(row, list(of))
        for column, at in (("chips_back", 1), ("chip_hours_back", 2), ("dollars_back", 3)):
            self.assertAlmostEqual(total[column], sum(part[at] for part in parts), places=6)
        outside = 700 + sum(self.hours[w][0] for w in ("runs/gone", "runs/long-gone"))
        self.assertAlmostEqual(total["outside_hours"], outside)
        self.assertAlmostEqual(total["listed_hours"], 700 + sum(h for h, _ in self.hours.values()))
        self.assertEqual((total["new_problems"], total["fixed_problems"], total["rejudged"],
                          total["rejudged_workloads"], total["slower"], total["faster"]),
                         (2, 1, 1, 1, 6, 0))

    def test_trend(self):
        """A copy is no second workload in any window."""
        for ago, row in enumerate(self.report["trend"][:10]):
            of = self.sql(
                "select count(*), sum(n), sum(chips), sum(share * chips) from (select max(chips) as "
                "chips, count(*) as n, avg(share) as share from week where "
                f"ago = {ago} group by name)")[0]
            self.near([row[c] for c in ("workloads", "runs", "chips", "chips_back")], list(of))

    def test_rules(self):
        expected = self.sql(
            "select rule, count(*), sum(back), sum(back / chips * hours), sum(back / chips * hours * "
            "price) from (select name, rule, max(chips) as chips, max(chips) * sum(r.gain_s / "
            "step_mean_s) / (select count(*) from week as w where w.name = week.name and ago = 0) as "
            "back, max(iif(r.verdict = 'fail', captured, '')) = (select max(captured) from week as w "
            "where w.name = week.name and ago = 0) as is_broken from (select hash, name, chips, ago, "
            "step_mean_s, captured from week) as week join (select hash, rule, verdict, gain_s from "
            "rule_facts) as r using (hash) where ago = 0 group by name, rule) join hours on "
            "hours.workload = name where is_broken group by rule")
        self.assertEqual(len(expected), 3)
        told = sorted([r[c] for c in ("rule", "workloads", "chips_back", "chip_hours_back",
                                      "dollars_back")] for r in self.report["rules"])
        for row, of in zip(told, sorted(expected), strict=True):
            self.near(row, list(of))

    def test_one_owner(self):
        done = self.rooflint("audit", "--store", "s.db", "--owner", "red", "--usage", "usage.csv",
                             "--fleet", "fleet.yaml", "--json", "red.json")
        with open(self.path("red.json"), encoding="utf-8") as file:
            red = json.load(file)
        row, = red["ranking"]
        self.assertEqual(row, {**next(r for r in self.report["ranking"] if r["owner"] == "red"),
                               "rank": 1})
        self.assertEqual([red[k] for k in ("missing", "machines", "movers", "changes", "problems")],
                         [[]] * 5, done.stdout)
        with open(self.path("week-red.html"), encoding="utf-8") as file:
            page = file.read()
        self.assertNotIn("runs/steady", page)
        self.assertIn("What red runs is at 50.0% of its roofline", page)
        with open(self.path("week.html"), encoding="utf-8") as file:
            self.assertIn("1 machine is slow in several workloads: host-slow", file.read())


if __name__ == "__main__":
    unittest.main()
