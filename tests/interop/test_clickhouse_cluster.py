"""Facts on two ClickHouse servers that a ZooKeeper joins: all of them, each once.

The tables are made by what `rooflint facts --format clickhouse-cluster` prints, less what a server of
2018 does not know.  Needs Debian's clickhouse-server and zookeeper, which are started on this machine
and ended again.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import clickhouse  # noqa: E402
import make_fleet  # noqa: E402
from test_fleet import lines  # noqa: E402

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
ROOFLINT = os.environ.get("ROOFLINT", os.path.join(TOP, "build", "rooflint"))
WORKLOADS, WEEKS, PER_WEEK = 40, 13, 3
RUNS = WORKLOADS * WEEKS * PER_WEEK


class Cluster:
    """Tests for any cluster of two; `name` is the one that both servers belong to."""

    name = None

    @classmethod
    def setUpClass(cls):
        if not clickhouse.PROGRAM or not clickhouse.JARS or not clickhouse.JAVA:
            raise unittest.SkipTest("needs clickhouse-server, zookeeper and java")
        cls.dir = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)
        cls.facts = os.path.join(cls.dir, "facts.ndjson")
        make_fleet.COLUMNS = make_fleet.columns(os.path.join(TOP, "docs", "facts.md"))
        fleet = make_fleet.fleet(WORKLOADS, WEEKS, PER_WEEK, 11)
        cls.runs = [run for _, runs in fleet for run in runs]
        with open(cls.facts, "w", encoding="utf-8") as f:
            f.write(lines(cls.runs))
        cls.env = {"PATH": "/nonexistent", "HOME": cls.dir, "ROOFLINT_CLICKHOUSE_USER": "writer",
                   "ROOFLINT_CLICKHOUSE_PASSWORD": clickhouse.PASSWORD}
        for name in ("ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS"):
            if name in os.environ:
                cls.env[name] = os.environ[name]

    @classmethod
    def rooflint(cls, *args):
        return subprocess.run([ROOFLINT, *args], env=cls.env, cwd=cls.dir, capture_output=True,
                              timeout=600, check=False)

    def setUp(self):
        """A cluster of its own for each test: what replicas share outlives their tables."""
        folder = tempfile.mkdtemp(dir=self.dir)
        keeper = clickhouse.ZooKeeper(os.path.join(folder, "zookeeper"))
        self.addCleanup(keeper.close)
        ports = [(clickhouse.free_port(), clickhouse.free_port()) for _ in range(2)]
        self.servers = []
        for number in range(2):
            self.servers.append(clickhouse.Server(
                os.path.join(folder, f"server-{number}"), ports, number, keeper.port, self.name))
            self.addCleanup(self.servers[number].close)
            self.servers[number].ask("CREATE DATABASE perf")
        ddl = clickhouse.for_old(
            self.rooflint("facts", "--format", "clickhouse-cluster").stdout.decode())
        for server in self.servers:
            for statement in ddl.split(";"):
                if statement.strip():
                    server.ask(statement, "perf")

    def merge(self, number=0):
        """A server of 2018 takes them all, and then answers no question: status 2."""
        return self.rooflint("audit", "--merge", self.facts, "--json", "-", "--store",
                             f"clickhouse://127.0.0.1:{self.servers[number].port}/perf")

    def assert_whole(self, number=0):
        done = self.merge(number)
        self.assertIn(b"ClickHouse 22 or later", done.stderr)
        clickhouse.has_all(self, self.servers[number], self.runs, "perf")

    def count(self, server, what, table="rooflint_facts"):
        return int(server.ask(f"SELECT {what} FROM {table}", "perf"))

    def test_same_bytes_through_either_server(self):
        self.assert_whole()
        self.assert_whole(1)
        for server in self.servers:
            self.assertEqual(self.count(server, "uniqExact(hash)"), RUNS)
        self.assert_spread()

    def test_again_changes_nothing(self):
        for _ in range(3):
            self.assert_whole()
        for server in self.servers:
            if server.ask("SELECT is_leader FROM system.replicas") == "1":
                server.ask("OPTIMIZE TABLE rooflint_facts_shard FINAL", "perf")
        self.assertEqual(self.count(self.servers[0], "count()"), RUNS)

    def assert_killed(self, victim):
        """One of them is killed while batches come; afterwards nothing is lost or there twice."""
        for delay in (0.05, 0.15, 0.3):
            killer = threading.Timer(delay, self.servers[victim].kill)
            killer.start()
            done = self.merge()
            killer.join()
            self.assertIn(done.returncode, (2, 5), done.stderr)
            self.servers[victim].start()
            self.settle()
        done = self.merge()  # what is new in it may have gone to the other one
        self.assertTrue(done.returncode == 2 or b"RL704" in done.stderr, done.stderr)
        self.settle()
        self.assert_whole()
        self.assertEqual(self.count(self.servers[0], "uniqExact(hash)"), RUNS)

    def settle(self):
        """Until the one that was killed is a replica again, and has fetched what it missed: an
        insert that the other one knows already says yes before that.  An empty queue is not enough,
        as it is empty, too, before the replica has read the log."""
        for _ in range(600):
            states = [s.ask("SELECT count() FROM system.replicas WHERE NOT is_readonly "
                            "AND queue_size = 0 "
                            "AND (log_pointer > log_max_index OR log_max_index = 0)")
                      for s in self.servers]
            tables = [s.ask("SELECT count() FROM system.tables WHERE database = 'perf'")
                      for s in self.servers]
            if states == ["1", "1"] and tables == ["2", "2"]:
                return
            time.sleep(0.2)
        self.fail(f"a replica stays read-only or behind: {states} {tables}")

    def test_killed_entry(self):
        self.assert_killed(0)

    def test_killed_other(self):
        self.assert_killed(1)


class Shards(Cluster, unittest.TestCase):
    name = "both"

    def assert_spread(self):
        parts = [self.count(s, "uniqExact(hash)", "rooflint_facts_shard") for s in self.servers]
        self.assertEqual(sum(parts), RUNS)
        self.assertGreater(min(parts), RUNS / 3)


class Replicas(Cluster, unittest.TestCase):
    name = "twins"

    def assert_spread(self):
        for _ in range(1200):
            parts = [self.count(s, "uniqExact(hash)", "rooflint_facts_shard")
                     for s in self.servers]
            if parts == [RUNS, RUNS]:
                break
            time.sleep(0.1)
        self.assertEqual(parts, [RUNS, RUNS])


if __name__ == "__main__":
    unittest.main()
