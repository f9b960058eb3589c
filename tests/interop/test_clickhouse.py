"""Facts into a ClickHouse of years ago: it has them all, each once, whatever happens on the way.

Its SQL is not the one that questions are asked in (test_clickhouse_today.py has them); so what came is
counted by the server itself.  Needs Debian's clickhouse-server, which is started on this machine and
ended again.
"""

import http.client
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import clickhouse  # noqa: E402
import make_fleet  # noqa: E402
import server as https  # noqa: E402
from test_fleet import lines  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.abspath(os.path.join(HERE, "..", ".."))
ROOFLINT = os.environ.get("ROOFLINT", os.path.join(TOP, "build", "rooflint"))
DEMO = os.path.join(TOP, "tests", "profiles", "demo")
WORKLOADS, WEEKS, PER_WEEK = 40, 13, 3  # 1560 runs
OLD = "takes runs and knows no SQL that questions are asked in: ClickHouse 22 or later answers them"
FEW = 60  # runs, where a batch is enough


class ClickHouse(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not clickhouse.PROGRAM:
            raise unittest.SkipTest("needs clickhouse-server")
        cls.dir = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)
        ports = [(clickhouse.free_port(), clickhouse.free_port()) for _ in range(2)]
        cls.servers = []
        for number in range(2):
            cls.servers.append(
                clickhouse.Server(os.path.join(cls.dir, f"server-{number}"), ports, number))
            cls.addClassCleanup(cls.servers[number].close)
        cls.one = cls.servers[0]
        make_fleet.COLUMNS = make_fleet.columns(os.path.join(TOP, "docs", "facts.md"))
        runs = [run for _, runs in make_fleet.fleet(WORKLOADS, WEEKS, PER_WEEK, 5) for run in runs]
        cls.fleet = cls.write("fleet", lines(runs))
        cls.few = cls.write("few", lines(runs[:FEW]))
        cls.runs = runs
        cls.env = {
            "PATH": "/nonexistent", "HOME": cls.dir, "ROOFLINT_CLICKHOUSE_USER": "writer",
            "ROOFLINT_CLICKHOUSE_PASSWORD": clickhouse.PASSWORD,
        }
        for name in ("ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS"):
            if name in os.environ:
                cls.env[name] = os.environ[name]
        cls.ddl = clickhouse.for_old(
            cls.run_rooflint(cls.env, "facts", "--format", "clickhouse").stdout.decode())

    @classmethod
    def write(cls, name, text):
        with open(os.path.join(cls.dir, name), "w", encoding="utf-8") as f:
            f.write(text)
        return f.name

    @classmethod
    def run_rooflint(cls, env, *args):
        return subprocess.run([ROOFLINT, *args], env=env, cwd=cls.dir, capture_output=True,
                              timeout=600, check=False)

    def setUp(self):
        """An empty table of its own for each test."""
        self.database = "d_" + self._testMethodName
        for server in self.servers:
            server.ask(f"DROP DATABASE IF EXISTS {self.database}")
            server.ask(f"CREATE DATABASE {self.database}")
        self.one.ask(self.ddl, self.database)
        self.store = f"clickhouse://127.0.0.1:{self.one.port}/{self.database}"

    def run_it(self, *args, status=0, env=None):
        """Runs it; what it says holds no secret, and no more than a line when it fails."""
        done = self.run_rooflint(dict(self.env, **(env or {})), *args)
        said = done.stderr.decode()
        self.assertNotIn(clickhouse.PASSWORD, said + done.stdout.decode())
        self.assertEqual(done.returncode, status, said)
        self.assertEqual(said.count("\n"), 1 if status else 0, said)
        return said if status else done.stdout

    def merge(self, facts, store=None, status=2, env=None, says=OLD):
        """Every run goes into the store, and then no question can be asked, unless all fails before."""
        said = self.run_it("audit", "--store", store or self.store, "--json", "-", "--merge", facts,
                           status=status, env=env)
        self.assertIn(says, said)

    def assert_all(self, runs=None):
        clickhouse.has_all(self, self.one, runs or self.runs, self.database)

    def count(self, what="count()"):
        return int(self.one.ask(f"SELECT {what} FROM rooflint_facts", self.database))

    # ---- what it takes -------------------------------------------------------------------------

    def test_every_cell(self):
        self.merge(self.fleet)
        self.assert_all()
        self.assertEqual(self.count(), len(self.runs))

    def test_again_changes_nothing(self):
        for _ in range(3):
            self.merge(self.few)
        self.assert_all(self.runs[:FEW])
        self.one.ask("OPTIMIZE TABLE rooflint_facts FINAL", self.database)
        self.assertEqual(self.count(), FEW)

    def test_check_records(self):
        """With what is kept for a later run, which stays when the same run comes without it."""
        check = ["check", "-q", "--fail-on", "never", "--inconclusive", "pass", DEMO, "--store",
                 self.store]
        self.run_it(*check, "--record")
        self.assertEqual(self.count("length(verdicts.rule) > 10 AND kept_bytes = length(kept)"), 1)
        kept = self.count("kept_bytes")
        self.assertGreater(kept, 1000)
        columns = "hash, run, profile, version, captured_ns, workload"
        self.one.ask(f"INSERT INTO rooflint_facts ({columns}) SELECT {columns} FROM rooflint_facts",
                     self.database)
        self.one.ask("OPTIMIZE TABLE rooflint_facts FINAL", self.database)
        self.assertEqual(self.count("kept_bytes"), kept)

    def test_answers_nothing(self):
        """One line says which version does, whatever is asked."""
        self.merge(self.few)
        for args in (["audit"], ["audit", DEMO], ["store", "export", self.store]):
            done = self.run_rooflint(self.env, *args, *(
                [] if "export" in args else ["--store", self.store]))
            self.assertIn(OLD, done.stderr.decode())
            self.assertGreater(done.returncode, 1)
        # What fails needs no baseline to fail; the comparison is open, and says why.
        done = self.run_rooflint(self.env, "check", DEMO, "--baseline", "store:last=2",
                                 "--store", self.store)
        self.assertIn(OLD, " ".join(done.stdout.decode().split()))
        self.assertEqual(done.returncode, 1)
        self.assert_all(self.runs[:FEW])

    # ---- a cluster -----------------------------------------------------------------------------

    def test_distributed(self):
        shard = self.ddl.replace("rooflint_facts", "rooflint_facts_shard", 1)
        for server in self.servers:
            server.ask("DROP TABLE IF EXISTS rooflint_facts", self.database)
            server.ask(shard, self.database)
            server.ask("CREATE TABLE rooflint_facts AS rooflint_facts_shard ENGINE = Distributed("
                       f"both, {self.database}, rooflint_facts_shard, cityHash64(hash))",
                       self.database)
        self.merge(self.fleet)
        parts = [int(server.ask("SELECT count() FROM rooflint_facts_shard", self.database))
                 for server in self.servers]
        self.assertEqual(sum(parts), len(self.runs))
        self.assertGreater(min(parts), sum(parts) / 3)
        other = self.store.replace(str(self.one.port), str(self.servers[1].port))
        self.merge(self.fleet, store=other)
        self.assert_all()

    # ---- what is wrong with it -----------------------------------------------------------------

    def test_password(self):
        for env in ({"ROOFLINT_CLICKHOUSE_PASSWORD": "no"},
                    {"ROOFLINT_CLICKHOUSE_USER": "nobody"}):
            self.merge(self.few, env=env,
                       says="$ROOFLINT_CLICKHOUSE_USER and $ROOFLINT_CLICKHOUSE_PASSWORD")
        other = self.store + "?user_from=ROOFLINT_U&password_from=ROOFLINT_P"
        self.merge(self.few, store=other, env={
            "ROOFLINT_U": "writer", "ROOFLINT_P": clickhouse.PASSWORD,
            "ROOFLINT_CLICKHOUSE_USER": "nobody"})
        self.assert_all(self.runs[:FEW])
        self.merge(self.few, store=other, status=5, env={"ROOFLINT_U": "writer"},
                   says="$ROOFLINT_P is not set")

    def test_reader(self):
        reader = {"ROOFLINT_CLICKHOUSE_USER": "reader", "ROOFLINT_CLICKHOUSE_PASSWORD": ""}
        self.merge(self.few, env=reader, says="lets that user only read")

    def test_no_table(self):
        self.merge(self.few, store=self.store + "?table=none", says="'none' is not there")
        self.merge(self.few, store=self.store + "_none", says="has no such database")

    def test_foreign_table(self):
        self.one.ask("CREATE TABLE foreign (hash String, n UInt8) ENGINE = Log", self.database)
        self.merge(self.few, store=self.store + "?table=foreign", says="is no store of rooflint's")
        self.one.ask("ALTER TABLE rooflint_facts MODIFY COLUMN mfu String", self.database)
        self.merge(self.few, says="'mfu' of 'rooflint_facts' is String and should be "
                   "Nullable(Float64)")

    def test_lacking_column(self):
        self.one.ask("ALTER TABLE rooflint_facts DROP COLUMN verdicts.title", self.database)
        self.merge(self.few, says="table 'rooflint_facts' has no column 'verdicts.title'; "
                   "`rooflint facts")

    # ---- what is between -----------------------------------------------------------------------

    def between(self, change, **more):
        """A store behind somebody who may change answers: change(number, status, body)."""
        keys = tempfile.mkdtemp(dir=self.dir)
        authority = https.make_authority(keys)
        if not authority:
            self.skipTest("needs the openssl program")
        proxy = https.Server(keys)
        self.addCleanup(proxy.close)

        def forward(request):
            path, headers, body = proxy.requests[-1]
            connection = http.client.HTTPConnection("127.0.0.1", self.one.port, timeout=60)
            connection.request("POST", path, body, {"authorization": headers["authorization"]})
            answer = connection.getresponse()
            status, text = answer.status, answer.read()
            connection.close()
            return change(request, len(proxy.requests), status, text)

        proxy.answers = [forward]
        store = f"clickhouses://127.0.0.1:{proxy.port}/{self.database}"
        return proxy, dict(more, store=store, env={"CURL_CA_BUNDLE": authority})

    def test_tls(self):
        proxy, way = self.between(lambda request, number, status, body: (status, {}, body))
        self.merge(self.few, **way)
        self.assert_all(self.runs[:FEW])
        self.assertEqual({path.split("?")[0] for path, _, _ in proxy.requests}, {"/"})
        self.merge(self.few, store=way["store"], status=5, says="certificate could not be verified")
        plain = way["store"].replace("clickhouses://127.0.0.1", "clickhouse://127.0.0.2")
        self.merge(self.few, store=plain, status=5, says="without TLS")
        self.merge(self.few, store=way["store"].replace("houses:", "house:") + "?secure=1",
                   env=way["env"])

    def test_lost_answer(self):
        """A batch whose answer never came is sent again, and is there once."""
        def drop(request, number, status, body):
            if number == 2:  # the first insert, behind the table's columns
                request.connection.shutdown(socket.SHUT_RDWR)
            return status, {}, body
        _, way = self.between(drop)
        self.merge(self.few, **way)
        self.assert_all(self.runs[:FEW])

    # ---- servers that are not there ------------------------------------------------------------

    def test_down(self):
        store = f"clickhouse://127.0.0.1:{clickhouse.free_port()}/d"
        start = time.monotonic()
        self.merge(self.few, store=store, status=5, says="RL704")
        check = ["check", "-q", "--record", "--store", store, DEMO]
        done = self.run_rooflint(self.env, *check)
        self.assertEqual((done.returncode, done.stderr.count(b"RL704")), (1, 1))
        done = self.run_rooflint(self.env, *check, "--fail-on", "never")
        self.assertEqual((done.returncode, done.stderr.count(b"RL704")), (5, 1))
        self.assertLess(time.monotonic() - start, 30)

    def test_stalls(self):
        with socket.create_server(("127.0.0.1", 0)) as deaf:
            store = f"clickhouse://127.0.0.1:{deaf.getsockname()[1]}/d?timeout=1"
            start = time.monotonic()
            self.merge(self.few, store=store, status=5, says="RL704")
            self.assertLess(time.monotonic() - start, 20)

    def test_killed_server(self):
        """Killed while batches come: run again, nothing is lost or there twice."""
        server = self.servers[0]
        killer = threading.Timer(0.25, server.kill)
        killer.start()
        done = self.run_rooflint(self.env, "audit", "--store", self.store, "--merge", self.fleet,
                                 "--json", "-")
        killer.join()
        self.assertIn(done.returncode, (2, 5))
        server.start()
        self.merge(self.fleet)
        self.assert_all()
        self.assertEqual(self.count("uniq(hash)"), WORKLOADS * WEEKS * PER_WEEK)


if __name__ == "__main__":
    unittest.main()
