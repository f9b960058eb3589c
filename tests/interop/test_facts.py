"""Records of facts as a warehouse sees them: they load without a schema, and sums agree."""
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
