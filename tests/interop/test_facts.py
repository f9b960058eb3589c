"""Records of facts as a warehouse sees them: they load without a schema, and sums agree."""
import datetime
import json
import os
import subprocess
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


class Shape(unittest.TestCase):
    def test_every_record_has_the_same_scalar_columns(self):
        records = [json.loads(line) for line in facts().splitlines()]
        first = list(records[0])
        for record in records:
            self.assertEqual(list(record), first)
            for value in record.values():
                self.assertIn(type(value), (str, int, float, type(None)))
        self.assertEqual(sum(r["record"] == "run" for r in records), 4)


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
            self.assertEqual(list(record), [field.name for field in fields])
            for field in fields:
                if record[field.name] is not None:
                    self.assertIsInstance(record[field.name], self.PYTHON_TYPES[field.field_type])
            if record["captured"]:
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
            known = [r for r in records if r["record"] == "run" and r["chips"]]
            self.assertEqual(runs[:3], (4, 1, sum(r["chips"] for r in known)))
            self.assertAlmostEqual(runs[3], sum(r["step_time_s"] for r in known), places=12)
            joined = db.execute("select count(*) from facts rule join facts run using (hash) "
                                "where rule.record = 'rule' and run.record = 'run'").fetchone()[0]
            self.assertEqual(joined, sum(r["record"] == "rule" for r in records))


if __name__ == "__main__":
    unittest.main()
