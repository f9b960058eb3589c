"""Facts in ClickHouse: the same report as from SQLite, whatever happens on the way.

Needs Debian's clickhouse-server, which is started on this machine and ended again.
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
WORKLOADS, WEEKS, PER_WEEK = 40, 13, 3  # 1560 runs: several pages of a scan
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
        cls.env = {
            "PATH": "/nonexistent", "HOME": cls.dir, "ROOFLINT_CLICKHOUSE_USER": "writer",
            "ROOFLINT_CLICKHOUSE_PASSWORD": clickhouse.PASSWORD,
        }
        for name in ("ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS"):
            if name in os.environ:
                cls.env[name] = os.environ[name]
        cls.ddl = clickhouse.for_old(
            cls.run_rooflint(cls.env, "facts", "--format", "clickhouse").stdout.decode())
        cls.from_fleet = cls.by_sqlite(cls.fleet)
        cls.from_few = cls.by_sqlite(cls.few)

    @classmethod
    def write(cls, name, text):
        with open(os.path.join(cls.dir, name), "w", encoding="utf-8") as f:
            f.write(text)
        return f.name

    @classmethod
    def run_rooflint(cls, env, *args):
        return subprocess.run([ROOFLINT, *args], env=env, cwd=cls.dir, capture_output=True,
                              timeout=600, check=False)

    @classmethod
    def by_sqlite(cls, facts):
        store = facts + ".db"
        return cls.run_rooflint(cls.env, "audit", "--store", store, "--merge", facts, "--json",
                                "-").stdout

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

    def audit(self, *args, store=None, status=0, env=None):
        return self.run_it("audit", "--store", store or self.store, "--json", "-", *args,
                           status=status, env=env)

    def merge(self, facts, **more):
        return self.audit("--merge", facts, **more)

    def count(self, what="count()"):
        return int(self.one.ask(f"SELECT {what} FROM rooflint_facts", self.database))

    # ---- the same as SQLite --------------------------------------------------------------------

    def test_same_bytes(self):
        self.assertEqual(self.merge(self.fleet), self.from_fleet)
        self.assertEqual(self.count(), WORKLOADS * WEEKS * PER_WEEK)
        self.assertEqual(self.audit(), self.from_fleet)

    def test_again_changes_nothing(self):
        self.merge(self.few)
        self.assertEqual(self.merge(self.few), self.from_few)
        self.one.ask("OPTIMIZE TABLE rooflint_facts FINAL", self.database)
        self.assertEqual(self.count(), FEW)
        # Rows that no merge has made one yet.
        self.merge(self.few)
        self.assertEqual(self.count("uniq(hash)"), FEW)
        self.assertEqual(self.audit(), self.from_few)

    def test_check_records(self):
        def check(store):
            self.run_it("check", "-q", "--fail-on", "never", "--inconclusive", "pass", DEMO,
                        "--record", "--store", store)
            return self.audit(store=store)
        self.assertEqual(check(self.store), check(os.path.join(self.dir, "check.db")))
        self.assertEqual(self.count("length(verdicts.rule) > 10"), 1)

    def test_judged_once(self):
        first = self.audit(DEMO)
        self.assertEqual(self.audit(DEMO), first)
        self.assertEqual(self.count(), 1)

    def test_known_is_not_read_again(self):
        """A run is known by the ends of its files; that nobody read between them is seen by damage."""
        profile = shutil.copytree(DEMO, os.path.join(self.dir, "it's known"))
        first = self.audit(profile)
        for folder, _, names in os.walk(profile):
            for path in (os.path.join(folder, name) for name in names if name.endswith(".pb")):
                with open(path, "r+b") as file:
                    file.seek(os.path.getsize(path) // 2)
                    file.write(b"\xff" * 64)
        self.assertEqual(self.audit(profile), first)
        self.assertEqual(self.count(), 1)
        self.assertNotEqual(self.audit(profile, store=os.path.join(self.dir, "damaged.db")), first)

    # ---- a cluster -----------------------------------------------------------------------------

    def test_distributed(self):
        shard = self.ddl.replace("rooflint_facts", "rooflint_facts_shard", 1)
        for server in self.servers:
            server.ask("DROP TABLE IF EXISTS rooflint_facts", self.database)
            server.ask(shard, self.database)
            server.ask("CREATE TABLE rooflint_facts AS rooflint_facts_shard ENGINE = Distributed("
                       f"both, {self.database}, rooflint_facts_shard, cityHash64(hash))",
                       self.database)
        self.assertEqual(self.merge(self.fleet), self.from_fleet)
        parts = [int(server.ask("SELECT count() FROM rooflint_facts_shard", self.database))
                 for server in self.servers]
        self.assertEqual(sum(parts), WORKLOADS * WEEKS * PER_WEEK)
        self.assertGreater(min(parts), sum(parts) / 3)
        other = self.store.replace(str(self.one.port), str(self.servers[1].port))
        self.assertEqual(self.merge(self.fleet, store=other), self.from_fleet)

    # ---- what is wrong with it -----------------------------------------------------------------

    def test_password(self):
        for env in ({"ROOFLINT_CLICKHOUSE_PASSWORD": "no"},
                    {"ROOFLINT_CLICKHOUSE_USER": "nobody"}):
            self.assertIn("$ROOFLINT_CLICKHOUSE_USER and $ROOFLINT_CLICKHOUSE_PASSWORD",
                          self.audit(status=2, env=env))
        other = self.store + "?user_from=ROOFLINT_U&password_from=ROOFLINT_P"
        self.merge(self.few, store=other, env={
            "ROOFLINT_U": "writer", "ROOFLINT_P": clickhouse.PASSWORD,
            "ROOFLINT_CLICKHOUSE_USER": "nobody"})
        self.assertIn("$ROOFLINT_P is not set", self.audit(store=other, status=5,
                                                           env={"ROOFLINT_U": "writer"}))

    def test_reader(self):
        self.merge(self.few)
        reader = {"ROOFLINT_CLICKHOUSE_USER": "reader", "ROOFLINT_CLICKHOUSE_PASSWORD": ""}
        self.assertEqual(self.audit(env=reader), self.from_few)
        self.assertIn("lets that user only read", self.merge(self.few, status=2, env=reader))

    def test_no_table(self):
        self.assertIn("'none' is not there", self.audit(store=self.store + "?table=none", status=2))
        self.assertIn("has no such database", self.audit(store=self.store + "_none", status=2))

    def test_foreign_table(self):
        self.one.ask("CREATE TABLE foreign (hash String, n UInt8) ENGINE = Log", self.database)
        self.assertIn("is no store of rooflint's",
                      self.audit(store=self.store + "?table=foreign", status=2))
        self.one.ask("ALTER TABLE rooflint_facts MODIFY COLUMN mfu String", self.database)
        self.assertIn("'mfu' of 'rooflint_facts' is String and should be Nullable(Float64)",
                      self.merge(self.few, status=2))

    def test_lacking_column(self):
        self.one.ask("ALTER TABLE rooflint_facts DROP COLUMN verdicts.title", self.database)
        self.assertIn("table 'rooflint_facts' has no column 'verdicts.title'; `rooflint facts",
                      self.merge(self.few, status=2))

    def test_edited_row(self):
        self.audit(DEMO)
        self.one.ask("INSERT INTO rooflint_facts (hash, run, profile, version, captured) SELECT "
                     "'0', 'r', 'p', version, '2027-01-01T00:00:00.000Z' FROM rooflint_facts",
                     self.database)
        self.assertIn("a row (hash '0') is a run that does not fit its hash", self.audit(status=2))

    def test_newest_without_date(self):
        self.one.ask("INSERT INTO rooflint_facts (hash, run, profile, version) VALUES "
                     "('0', 'r', 'p', '2.9')", self.database)
        self.assertIn("no run with a date", self.audit(status=3))

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
        self.assertEqual(self.merge(self.few, **way), self.from_few)
        self.assertEqual({path.split("?")[0] for path, _, _ in proxy.requests}, {"/"})
        self.assertIn("certificate could not be verified", self.audit(store=way["store"], status=5))
        plain = way["store"].replace("clickhouses://127.0.0.1", "clickhouse://127.0.0.2")
        self.assertIn("without TLS", self.audit(store=plain, status=5))
        self.assertEqual(self.audit(store=way["store"].replace("houses:", "house:") + "?secure=1",
                                    env=way["env"]), self.from_few)

    def test_lost_answer(self):
        """A batch whose answer never came is sent again, and is there once."""
        def drop(request, number, status, body):
            if number == 2:  # the first insert, behind the table's columns
                request.connection.shutdown(socket.SHUT_RDWR)
            return status, {}, body
        _, way = self.between(drop)
        self.assertEqual(self.merge(self.few, **way), self.from_few)
        self.assertEqual(self.count("uniq(hash)"), FEW)

    def test_cut_answers(self):
        """Rows that are whole count, and what is missing is asked for again."""
        self.merge(self.fleet)
        _, way = self.between(lambda request, number, status, body:
                              (status, {}, body[:len(body) * 3 // 4] if len(body) > 9999 else body))
        self.assertEqual(self.audit(**way), self.from_fleet)

    def test_empty_answers(self):
        """Nothing is an answer only when the server says that there is nothing."""
        self.merge(self.few)
        _, way = self.between(lambda request, number, status, body:
                              (status, {}, b"" if len(body) > 9999 else body))
        self.assertIn("gave no rows where it has some", self.audit(status=5, **way))

    def test_bad_answers(self):
        self.merge(self.few)
        for cut, says in ((lambda body: body[:50], "ends inside a row"),
                          (lambda body: b"<html>" + body, "is not made of rows")):
            _, way = self.between(lambda request, number, status, body, cut=cut:
                                  (status, {}, cut(body) if len(body) > 9999 else body))
            self.assertIn(says, self.audit(status=5, **way))

    # ---- servers that are not there ------------------------------------------------------------

    def test_down(self):
        store = f"clickhouse://127.0.0.1:{clickhouse.free_port()}/d"
        start = time.monotonic()
        self.assertIn("RL704", self.audit(store=store, status=5))
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
            self.assertIn("RL704", self.audit(store=store, status=5))
            self.assertLess(time.monotonic() - start, 20)

    def test_killed_server(self):
        """Killed while batches come: run again, nothing is lost or there twice."""
        server = self.servers[0]
        killer = threading.Timer(0.25, server.kill)
        killer.start()
        done = self.run_rooflint(self.env, "audit", "--store", self.store, "--merge", self.fleet,
                                 "--json", "-")
        killer.join()
        self.assertIn(done.returncode, (0, 5))
        server.start()
        self.assertEqual(self.merge(self.fleet), self.from_fleet)
        self.assertEqual(self.count("uniq(hash)"), WORKLOADS * WEEKS * PER_WEEK)


if __name__ == "__main__":
    unittest.main()
