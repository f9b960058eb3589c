"""Facts in a recent ClickHouse: the same report as from SQLite.

Debian's server is of years ago; chdb (PyPI) is the engine of today without one.  So the engine stands
behind a small HTTP server here, which does with a request what a server does: the query is in the
address or the body, and what an INSERT takes is the rest.
"""
import glob
import gzip
import http.server
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import make_fleet  # noqa: E402
import packages  # noqa: E402
from test_fleet import lines  # noqa: E402

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
ROOFLINT = os.path.abspath(os.environ.get("ROOFLINT", os.path.join(TOP, "build", "rooflint")))
DEMO = os.path.join(TOP, "tests", "profiles", "demo")
WORKLOADS, WEEKS, PER_WEEK = 20, 13, 3  # 780 runs: eight pages of them
OF_HTTP = ("database", "query", "wait_end_of_query", "enable_http_compression")


def name_of(pid):
    with open(f"/proc/{pid}/comm", encoding="ascii") as file:
        return file.read().strip()


class Engine:
    """A session has one user: the requests of a thread of its own."""

    def __init__(self, folder):
        from chdb import session
        self.session, self.folder = session.Session(), folder

    def run(self, query, body):
        if body:
            path = os.path.join(self.folder, "body")
            with open(path, "wb") as file:
                file.write(body)
            head, _, form = query.rpartition(" FORMAT ")
            query = f"{head} FROM INFILE '{path}' FORMAT {form}"
        return self.session.query(query).bytes()

    asked = moved = 0
    change = staticmethod(lambda text: text)  # what stands between it and who asks

    def answer(self, url, body):
        self.asked += body.startswith(b"SELECT ") and b"CustomSeparated" in body
        asked = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))
        self.session.query(f"USE {asked['database']}")
        for name in asked.keys() - set(OF_HTTP):  # settings; one that is not known is refused
            self.session.query(f"SET {name} = {int(asked[name])}")
        if "query" in asked:
            return self.run(asked["query"], body)
        return self.run(body.decode(), None)


def serve(engine):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"] or 0))
            try:
                status, text = 200, engine.change(engine.answer(self.path, body))
            except Exception as error:  # chdb's own kinds
                status, text = 500, str(error).encode()
            self.send_response(status)
            if "gzip" in self.headers.get("accept-encoding", "") and len(text) > 999:
                text = gzip.compress(text, 1)
                self.send_header("content-encoding", "gzip")
            engine.moved += len(text) + len(body)
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *args):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Today(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        packages.need("chdb")
        cls.dir = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.dir.cleanup)
        make_fleet.COLUMNS = make_fleet.columns(os.path.join(TOP, "docs", "facts.md"))
        runs = [run for _, runs in make_fleet.fleet(WORKLOADS, WEEKS, PER_WEEK, 5) for run in runs]
        cls.facts = os.path.join(cls.dir.name, "facts.ndjson")
        with open(cls.facts, "w", encoding="utf-8") as file:
            file.write(lines(runs))
        cls.count = len(runs)
        cls.demo = os.path.join(cls.dir.name, "demo.ndjson")
        with open(cls.demo, "wb") as file:
            file.write(cls.rooflint("facts", DEMO))
        cls.engine = Engine(cls.dir.name)
        cls.ask("CREATE DATABASE perf ENGINE = Atomic")
        cls.ask("USE perf")
        for statement in cls.rooflint("facts", "--format", "clickhouse").decode().split(";"):
            if statement.strip():
                cls.ask(statement)
        cls.server = serve(cls.engine)
        cls.addClassCleanup(cls.server.shutdown)
        cls.store = f"clickhouse://127.0.0.1:{cls.server.server_port}/perf"

    def setUp(self):
        self.ask("TRUNCATE TABLE perf.rooflint_facts")
        self.engine.change = Engine.change

    @classmethod
    def ask(cls, query):
        return cls.engine.session.query(query).bytes().decode().strip()

    @classmethod
    def rooflint(cls, *args, status=0):
        """What it writes; where another status is expected, what it says."""
        done = subprocess.run([ROOFLINT, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=200, check=False)
        if done.returncode != status:
            raise AssertionError(f"{done.returncode}: {done.stderr.decode()}")
        return done.stderr.decode() if status else done.stdout

    def audit(self, *args, store=None):
        return self.rooflint("audit", "--store", store or self.store, "--json", "-", *args)

    def rows(self, what="count()"):
        return int(self.ask(f"SELECT {what} FROM perf.rooflint_facts"))

    def test_same_bytes(self):
        file = os.path.join(self.dir.name, "a.db")
        expected = self.audit("--merge", self.facts, store=file)
        self.assertEqual(self.audit("--merge", self.facts), expected)
        self.assertEqual(self.rows(), self.count)
        for _ in range(2):  # twice the rows, of which some are merged and some are not
            self.assertEqual(self.audit("--merge", self.facts), expected)
        self.assertEqual(self.rows("uniqExact(hash)"), self.count)
        self.ask("OPTIMIZE TABLE perf.rooflint_facts FINAL")
        self.assertEqual(self.rows(), self.count)
        self.assertEqual(self.audit(), expected)

    def test_questions_run_in_the_server(self):
        """What comes back is a row for each workload and day, not for each run and rule."""
        self.audit("--merge", self.facts)
        before, moved = self.engine.asked, self.engine.moved
        self.audit()
        self.assertGreater(self.engine.asked, before + 10)
        self.assertLess(self.engine.moved - moved, 100 * self.count)

    def test_a_slower_run_fails_as_with_a_file(self):
        """Nights that are recorded, then one that takes 18% longer: the same report and headline."""
        sys.path.insert(0, os.path.join(TOP, "tests", "scenarios"))
        import nights
        box = nights.Nights(os.path.join(self.dir.name, "nights"))
        runs = [box.build(night, branch="dev" if night == 3 else "main") for night in range(8)]
        slow, file = box.build(8, slower=1.18), box.store
        said = []
        for store in (file, self.store):
            box.store = store
            for run in runs:
                _, status, errors = box.record(run)
                self.assertNotIn("error", errors)
            seen = [box.check(slow, "--store", store, "--baseline", query)
                    for query in (nights.LAST5, "store:workload=none", "store:last=2,branch=dev")]
            self.assertEqual(seen[0][1], 1)
            self.assertIn("regression", box.headline + json.dumps(seen[0][0]["results"]))
            self.assertEqual(seen[0][0]["tables"]["deltas"]["columns"]["runs"][0], 5)
            said.append((seen, box.headline))
        self.assertEqual(said[0], said[1])
        # An audit's row of the same run, without what is kept, takes nothing away.
        self.ask("INSERT INTO perf.rooflint_facts SELECT * REPLACE (NULL AS kept, 0 AS kept_bytes) "
                 "FROM perf.rooflint_facts")
        for _ in range(2):
            self.assertEqual(box.check(slow, "--store", self.store, "--baseline", nights.LAST5),
                             said[0][0][0])
            self.ask("OPTIMIZE TABLE perf.rooflint_facts FINAL")
        self.assertEqual(self.rows("countIf(kept_bytes > 0)"), len(runs))

    def test_export(self):
        """Record by record what a file has, through pages, whole and of a window."""
        file = os.path.join(self.dir.name, "export.db")
        for store in (file, self.store):
            self.audit("--merge", self.facts, self.demo, store=store)
        self.audit("--merge", self.facts)  # twice, before any merge
        for window in ((), ("--since", "2026-02-01"),
                       ("--since", "2026-02-01", "--until", "2026-03-01")):
            exported = self.rooflint("store", "export", *window, file)
            self.assertEqual(self.rooflint("store", "export", *window, self.store), exported)
        self.assertIn(b'"record":"device"', self.rooflint("store", "export", self.store))

    def test_parquet(self):
        """The columnar form of the table, as docs/fleet.md asks for it, has every row."""
        self.audit("--merge", self.facts)
        with open(os.path.join(TOP, "docs", "fleet.md"), encoding="utf-8") as page:
            query, = re.findall('--query "(SELECT .* FORMAT Parquet)"', page.read())
        path = os.path.join(self.dir.name, "facts.parquet")
        self.ask("USE perf")
        with open(path, "wb") as file:
            file.write(self.engine.session.query(query).bytes())
        counts = "count(), uniqExact(hash)"
        read, kept = [self.engine.session.query(f"SELECT {counts} FROM {source}").bytes()
                      for source in (f"file('{path}', 'Parquet')", "perf.rooflint_facts")]
        self.assertEqual(read, kept)
        self.assertGreater(int(read.split(b",")[0]), 0)

    def test_edited_row(self):
        self.audit(DEMO)
        self.ask("INSERT INTO perf.rooflint_facts (hash, run, profile, version) SELECT "
                 "'0', 'r', 'p', version FROM perf.rooflint_facts")
        self.assertIn("a row of the store (hash '0') is a run that does not fit its hash",
                      self.rooflint("store", "export", self.store, status=2))

    def test_answers_that_are_not_whole(self):
        self.audit("--merge", self.facts)
        for change in (lambda text: text[:-1], lambda text: text[:len(text) * 3 // 4],
                       lambda text: b"<html>\n" + text, lambda text: b""):
            self.engine.change = lambda text, change=change: (
                change(text) if text.endswith(b"\n\\.\n") else text)
            self.assertIn("an answer that is not whole",
                          self.rooflint("store", "export", self.store, status=5))

    def test_an_independent_sum_agrees(self):
        """Recomputed by duckdb from the records."""
        duckdb = importlib.util.find_spec("duckdb") and importlib.import_module("duckdb")
        if not duckdb:
            self.skipTest("needs duckdb")
        report = json.loads(self.audit("--merge", self.facts))
        rows = f"read_json('{self.facts}', format='newline_delimited', sample_size=-1)"
        usable = (f"(select * from {rows} where record = 'run' and error_id is null and verdict <> "
                  "'inconclusive' and step_time_s > 0)")
        week = f"captured > '{report['from']}' and captured <= '{report['to']}'"
        expected = duckdb.execute(
            f"select workload, count(*), avg(least(1, greatest(0, gain_s / step_time_s))), avg(mfu), "
            f"avg(step_time_s), max(chips) from {usable} where {week} group by workload").fetchall()
        ranking = {row["workload"]: row for row in report["ranking"]}
        self.assertEqual(len(ranking), len(expected))
        for workload, runs, share, mfu, step, chips in expected:
            row = ranking[workload]
            self.assertEqual((row["runs"], row["chips"]), (runs, chips))
            self.assertAlmostEqual(row["share"], share, places=11)
            self.assertAlmostEqual(row["step_time_s"], step, places=9)
            self.assertAlmostEqual(row["chips_back"], share * chips, places=7)
            if mfu is not None:
                self.assertAlmostEqual(row["mfu"], mfu, places=11)
        outcomes = dict(duckdb.execute(
            f"select case when error_id is null then 'judged' else 'unreadable: ' || error_id end, "
            f"count(*) from {rows} where record = 'run' and {week} group by 1").fetchall())
        self.assertEqual({row["outcome"]: row["runs"] for row in report["coverage"]}, outcomes)

    def test_dashboard(self):
        """Each panel's query answers, and one is recomputed."""
        report = json.loads(self.audit("--merge", self.facts))
        with open(os.path.join(TOP, "docs", "fleet", "grafana.json"), encoding="utf-8") as file:
            panels = json.load(file)["panels"]
        moment = f"toDateTime('{report['to'][:19].replace('T', ' ')}', 'UTC')"
        begin = f"toDateTime('{report['from'][:19].replace('T', ' ')}', 'UTC')"
        self.ask("USE perf")
        for panel in panels:
            query = re.sub(r"\$__timeFilter\((.*?'UTC'\))\)", rf"\1 > {begin} AND \1 <= {moment}",
                           panel["targets"][0]["rawSql"])
            self.assertNotIn("$", query)
            rows = self.engine.session.query(query, "JSONEachRow").bytes().decode().splitlines()
            self.assertTrue(rows, panel["title"])
            if panel["id"] == 3:
                told = {row["workload"]: row["chips_back"] for row in map(json.loads, rows)}
        expected = {row["workload"]: row["chips_back"] for row in report["ranking"]}
        for workload, chips in told.items():
            self.assertAlmostEqual(chips, expected[workload], places=6)

    def test_judged_once(self):
        expected = self.audit(DEMO, store=os.path.join(self.dir.name, "b.db"))
        for _ in range(2):
            self.assertEqual(self.audit(DEMO), expected)
        self.assertEqual(self.rows(), 1)

    def test_nothing_waits_for_a_large_run(self):
        """Workers that stop answering: what was judged until then gets into the store."""
        root = os.path.join(self.dir.name, "slow")
        runs = 600  # seconds of two workers, who are to be stopped while they work
        for n in range(runs):
            job = os.path.join(root, f"job-{n:03d}")
            shutil.copytree(os.path.join(TOP, "tests", "profiles", "jax-cpu-train"), job)
            name, = glob.glob(job + "/plugins/profile/*/*.xplane.pb")
            with open(name, "ab") as file:
                file.write(b"\x22\x08host-%03d" % n)  # XSpace.hostnames
        begun = time.time()
        self.audit(DEMO, store=os.path.join(self.dir.name, "one.db"))
        some_runs = max(0.8, 2 * (time.time() - begun))  # with sanitizers one takes seconds
        audit = subprocess.Popen([ROOFLINT, "audit", root, "-j", "2", "--store", self.store],
                                 stdout=subprocess.DEVNULL)
        self.addCleanup(audit.kill)
        workers = []
        while len(workers) < 2 and audit.poll() is None:
            with open(f"/proc/{audit.pid}/task/{audit.pid}/children", encoding="ascii") as file:
                children = [int(pid) for pid in file.read().split()]
            workers = [pid for pid in children if name_of(pid) == "rooflint"]
        time.sleep(some_runs)
        for _ in range(50):
            for pid in workers:
                os.kill(pid, signal.SIGSTOP)
            time.sleep(0.2)
            with open(f"/proc/{audit.pid}/syscall", encoding="ascii") as file:
                if file.read().startswith("7 "):  # poll: neither stopped within its answer
                    break
            for pid in workers:
                os.kill(pid, signal.SIGCONT)
        rows, until = 0, time.time() + 20
        while not rows and time.time() < until:
            time.sleep(0.5)
            rows = self.rows()
        for pid in workers:
            os.kill(pid, signal.SIGCONT)
        self.assertEqual(audit.wait(600), 0)
        self.assertGreater(rows, 0)
        self.assertLess(rows, runs)
        self.assertEqual(self.rows("uniqExact(hash)"), runs)

    def test_cluster_tables_are_understood(self):
        """Nothing replicates here, so they are only parsed."""
        for statement in self.rooflint("facts", "--format", "clickhouse-cluster").decode().split(";"):
            if statement.strip():
                text = statement.replace("\\", "\\\\").replace("'", "\\'")
                self.assertIn("CREATE TABLE", self.ask(f"SELECT formatQuery('{text}')"))


if __name__ == "__main__":
    unittest.main()
