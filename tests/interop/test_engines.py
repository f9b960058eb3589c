"""Facts in engines that others run: what they count is what the records say.

duckdb and chdb come from PyPI (packages.py); pyspark, which is large and needs Java, is taken where it is
installed.  Each test that lacks its engine says so.
"""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import packages  # noqa: E402

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
ROOFLINT = os.path.abspath(os.environ.get("ROOFLINT", os.path.join(TOP, "build", "rooflint")))
CARRIED = os.path.join(TOP, "tests", "profiles")
NAMES = ["demo", "jax-cpu-ops", "jax-cpu-train", "jax-cpu-set"]
COPIES = 3
TOTALS = ("count(*), sum(chips), sum(step_time_s), sum(gain_s)", "record = 'run'")
FAILED = ("rule, count(*)", "record = 'rule' and verdict in ('fail', 'warn') group by rule")


def needs(name):
    return unittest.skipIf(importlib.util.find_spec(name) is None,
                           f"needs {name} (pip install {name})")


def rooflint_facts(paths):
    return subprocess.run([ROOFLINT, "facts", "-j", "1", *paths], check=True,
                          stdout=subprocess.PIPE).stdout.decode().splitlines()


class Engines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """A small tree of jobs, and what plain Python counts in its records."""
        cls.dir = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)
        cls.jobs = []
        for copy in range(COPIES):
            for name in NAMES:
                cls.jobs.append(os.path.join(cls.dir, f"team-{copy}", name))
                shutil.copytree(os.path.join(CARRIED, name), cls.jobs[-1])
        cls.lines = rooflint_facts(cls.jobs)
        cls.file = os.path.join(cls.dir, "facts.ndjson")
        with open(cls.file, "w", encoding="utf-8") as f:
            f.write("\n".join(cls.lines) + "\n")
        records = [json.loads(line) for line in cls.lines]
        runs = [r for r in records if r["record"] == "run"]
        cls.runs = len(runs)
        cls.totals = [len(runs)] + [sum(r.get(column, 0) for r in runs)
                                    for column in ("chips", "step_time_s", "gain_s")]
        cls.failed = {}
        for r in records:
            if r["record"] == "rule" and r["verdict"] in ("fail", "warn"):
                cls.failed[r["rule"]] = cls.failed.get(r["rule"], 0) + 1

    def check(self, totals, failed):
        self.assertEqual(self.runs, COPIES * len(NAMES))
        for seen, expected in zip(totals, self.totals, strict=True):
            self.assertAlmostEqual(seen, expected, places=9)
        self.assertEqual({rule: int(count) for rule, count in failed}, self.failed)

    def test_duckdb(self):
        packages.need("duckdb")
        import duckdb
        ask = "select {} from read_json('%s', format='newline_delimited') where {}" % self.file
        with duckdb.connect() as db:
            totals, failed = [db.execute(ask.format(*q)).fetchall() for q in (TOTALS, FAILED)]
        self.check(totals[0], failed)

    def test_parquet(self):
        """The command of docs/fleet.md, and what duckdb reads of the file that it writes."""
        packages.need("duckdb")
        import duckdb
        with open(os.path.join(TOP, "docs", "fleet.md"), encoding="utf-8") as page:
            copy = re.search(r'duckdb -c "(COPY .*)"$', page.read(), re.M).group(1)
        parquet = os.path.join(self.dir, "facts.parquet")
        self.assertIn("/dev/stdin", copy)
        with duckdb.connect() as db:
            db.execute(copy.replace("/dev/stdin", self.file).replace("facts.parquet", parquet))
            totals, failed = [db.execute(f"select {what} from '{parquet}' where {where}").fetchall()
                              for what, where in (TOTALS, FAILED)]
        self.check(totals[0], failed)

    @needs("pyspark")
    @unittest.skipIf(shutil.which("java") is None, "needs java")
    def test_spark(self):
        """Two executors in processes of their own, each running `rooflint facts` on its partitions."""
        from pyspark.sql import SparkSession
        os.environ["PYSPARK_PYTHON"] = sys.executable
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
        spark = (SparkSession.builder.master("local-cluster[2,1,1024]")
                 .config("spark.ui.enabled", "false").config("spark.driver.memory", "512m")
                 .config("spark.driver.host", "127.0.0.1")
                 .config("spark.executor.memory", "512m")
                 .config("spark.sql.shuffle.partitions", "2")
                 .config("spark.local.dir", self.dir).getOrCreate())
        try:
            program = ROOFLINT

            def judge(paths):
                return subprocess.run([program, "facts", "-j", "1", *paths], check=True,
                                      stdout=subprocess.PIPE).stdout.decode().splitlines()

            lines = spark.sparkContext.parallelize(self.jobs, 4).mapPartitions(judge)
            self.assertEqual(sorted(lines.collect()), sorted(self.lines))
            spark.read.json(lines).createOrReplaceTempView("facts")
            ask = "select {} from facts where {}"
            self.check(tuple(spark.sql(ask.format(*TOTALS)).first()),
                       [tuple(row) for row in spark.sql(ask.format(*FAILED)).collect()])
        finally:
            spark.stop()

    def test_clickhouse_of_today(self):
        """The records as they are, in a recent ClickHouse."""
        packages.need("chdb")
        from chdb import session
        s = session.Session()
        ask = "select {} from file('%s', 'JSONEachRow') where {} format JSONCompact" % self.file
        rows = [json.loads(str(s.query(ask.format(*q))))["data"] for q in (TOTALS, FAILED)]
        self.check([float(x) for x in rows[0][0]], rows[1])


if __name__ == "__main__":
    unittest.main()
