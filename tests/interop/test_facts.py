"""Records of facts as a warehouse sees them: they load without a schema, and sums agree."""
import datetime
import json
import os
import subprocess
import sys
import tempfile
import unittest

import packages

HERE = os.path.dirname(os.path.abspath(__file__))
ROOFLINT = os.environ.get("ROOFLINT", os.path.join(HERE, "../../build/rooflint"))
PROFILES = os.path.join(HERE, "../profiles")


def facts():
    names = ["demo", "jax-cpu-ops", "jax-cpu-train", "nowhere"]
    paths = [os.path.join(PROFILES, name) for name in names]
    return subprocess.run([ROOFLINT, "facts", *paths], stdout=subprocess.PIPE, check=True).stdout


def columns():
    """In the manual's order."""
    with open(os.path.join(HERE, "../../docs/facts.md"), encoding="utf-8") as file:
        return [line.split("`")[1] for line in file if line.startswith("| `")]


class Shape(unittest.TestCase):
    def test_records_have_known_scalars_in_one_order(self):
        records = [json.loads(line) for line in facts().splitlines()]
        order = columns()
        for record in records:
            self.assertEqual([name for name in order if name in record], list(record))
            for value in record.values():
                self.assertIn(type(value), (str, int, float))
            self.assertEqual("workload" in record, record["record"] == "run")
        self.assertEqual(sum(r["record"] == "run" for r in records), 4)

    def test_a_run_of_16_devices_is_short(self):
        """15 kB, whatever was measured of it: devices that a capture lacks are added to its size."""
        longest = len(json.dumps({
            "record": "device", "hash": "0" * 32, "host": "t1v-n-0123456789-w-10.example.internal",
            "device": "/device:TPU:15", "slowness": 1.0123456789012345,
            "lost_s": 0.012345678901234567}, separators=(",", ":"))) + 1
        sizes = []
        for line in facts().splitlines(keepends=True):
            record = json.loads(line)
            if record["record"] == "run":
                sizes.append(16 * longest)
            sizes[-1] += len(line) - (longest if record["record"] == "device" else 0)
        self.assertLess(max(sizes), 15000)


@unittest.skipIf(sys.version_info < (3, 11), "the builder needs tomllib")
class Devices(unittest.TestCase):
    def facts_of(self, scenario, folder):
        path = os.path.join(folder, scenario)
        builder = os.path.join(HERE, "../builder")
        subprocess.run([sys.executable, os.path.join(builder, "build.py"),
                        os.path.join(builder, "scenarios", scenario + ".toml"), path],
                       check=True, stdout=subprocess.DEVNULL)
        text = subprocess.run([ROOFLINT, "facts", path], check=True, stdout=subprocess.PIPE).stdout
        return [json.loads(line) for line in text.splitlines()]

    def test_what_waiting_costs(self):
        """Against the same job without the slow device: the difference of the two step times."""
        with tempfile.TemporaryDirectory() as folder:
            even = self.facts_of("train-scan", folder)
            step = even[0]["step_time_s"]
            for name, slow in (("straggler-host", 2), ("straggler-chip", 1)):
                run, *rest = self.facts_of(name, folder)
                devices = [r for r in rest if r["record"] == "device"]
                self.assertEqual(len(devices), 4)
                for d in devices[:slow]:
                    self.assertEqual(d["host"], "worker-1")
                    lost = run["step_time_s"] - step
                    self.assertAlmostEqual(d["lost_s"], lost, delta=0.02 * lost)
                rule, = [r for r in rest if r.get("rule") == "uneven-devices"]
                if slow == 2:  # of one chip a part is credited to the communication that waits
                    self.assertAlmostEqual(rule["gain_s"], lost, delta=0.02 * lost)
                for d in devices[slow:]:
                    self.assertLess(d["lost_s"], 0.001 * step)


class BigQuery(unittest.TestCase):
    """Its service is not to be had here: its own client reads the schema, and records fit that."""

    PYTHON_TYPES = {"STRING": str, "FLOAT64": (int, float), "TIMESTAMP": str}

    def test_records_fit_the_schema(self):
        packages.need("google-cloud-bigquery")
        from google.cloud.bigquery import SchemaField
        text = subprocess.run([ROOFLINT, "facts", "--format", "bigquery"], check=True,
                              stdout=subprocess.PIPE).stdout
        fields = [SchemaField.from_api_repr(field) for field in json.loads(text)]
        for field in fields:
            self.assertEqual(field.to_standard_sql().type.type_kind.value, field.field_type)
            self.assertEqual(field.mode, "NULLABLE")
            self.assertRegex(field.name, "^[a-z_]+$")
        moments = [field.name for field in fields if field.field_type == "TIMESTAMP"]
        self.assertEqual(moments, ["captured"])
        for record in map(json.loads, facts().splitlines()):
            self.assertLessEqual(set(record), {field.name for field in fields})
            for field in fields:
                if field.name in record:
                    self.assertIsInstance(record[field.name], self.PYTHON_TYPES[field.field_type])
            if record.get("captured"):
                datetime.datetime.strptime(record["captured"], "%Y-%m-%dT%H:%M:%S.%fZ")


class Duckdb(unittest.TestCase):
    def test_loads_as_it_is(self):
        packages.need("duckdb")
        import duckdb
        with tempfile.NamedTemporaryFile(suffix=".ndjson") as file:
            file.write(facts())
            file.flush()
            db = duckdb.connect()
            db.execute(f"create table facts as select * from '{file.name}'")
            types = dict(db.execute("select column_name, data_type from information_schema.columns "
                                    "where table_name = 'facts'").fetchall())
            self.assertEqual(types["captured"], "TIMESTAMP WITH TIME ZONE")
            self.assertEqual(types["step_time_s"], "DOUBLE")
            self.assertEqual(types["error"], "VARCHAR")
            runs = db.execute("select count(*), count(error), sum(chips), sum(step_time_s) "
                              "from facts where record = 'run'").fetchone()
            records = [json.loads(line) for line in facts().splitlines()]
            known = [r for r in records if r["record"] == "run" and r.get("chips")]
            self.assertEqual(runs[:3], (4, 1, sum(r["chips"] for r in known)))
            self.assertAlmostEqual(runs[3], sum(r["step_time_s"] for r in known), places=12)
            joined = db.execute("select count(*) from facts rule join facts run using (hash) "
                                "where rule.record = 'rule' and run.record = 'run'").fetchone()[0]
            self.assertEqual(joined, sum(r["record"] == "rule" for r in records))


if __name__ == "__main__":
    unittest.main()
