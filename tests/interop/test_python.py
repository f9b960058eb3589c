"""The Python package, from a wheel of this build: its bytes, its list of files, and what check says.

packaging/test.sh tests the wheels of a release, with pip, pytest and jax.
"""
import base64
import csv
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
ROOFLINT = os.path.abspath(os.environ.get("ROOFLINT", os.path.join(TOP, "build", "rooflint")))
DEMO = os.path.join(TOP, "tests", "profiles", "demo")

SCRIPT = """
import json, sys, rooflint
result = rooflint.check(sys.argv[1])
report = result.report
print(json.dumps({
    "status": result.status, "verdict": report.verdict, "step": report.facts.step_time_s,
    "findings": [(f.rule, f.message, f.gain_s, len(f.evidence)) for f in result.findings],
    "rules": [(r.name, r.verdict) for r in report.results],
    "tables": {name: [t.total, len(list(t))] for name, t in report.tables.items()},
}))
try:
    rooflint.check(sys.argv[1], rules="no/such/file.yaml")
except rooflint.Error as e:
    sys.exit(0 if e.status == 2 and "no/such/file.yaml" in str(e) else str(e))
sys.exit("a rule file that is not there was taken")
"""


class Wheel(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        tree = os.path.join(self.dir, "tree")
        for folder in ("bin", "libexec/rooflint", "share/man/man1"):
            os.makedirs(os.path.join(tree, folder))
        shutil.copy(ROOFLINT, os.path.join(tree, "bin"))
        shutil.copy(os.path.join(os.path.dirname(ROOFLINT), "rooflint-http"),
                    os.path.join(tree, "libexec", "rooflint"))
        shutil.copy(os.path.join(TOP, "docs", "man", "rooflint.1"),
                    os.path.join(tree, "share", "man", "man1"))
        self.wheels = []
        for name in "ab":
            out = os.path.join(self.dir, name)
            os.mkdir(out)
            done = subprocess.run([sys.executable, os.path.join(TOP, "packaging", "wheel.py"), tree,
                                   "linux_x86_64", out], check=True, capture_output=True, text=True)
            self.wheels.append(done.stdout.strip())

    def test_same_bytes_and_a_record_that_holds(self):
        with open(self.wheels[0], "rb") as a, open(self.wheels[1], "rb") as b:
            self.assertEqual(hashlib.sha256(a.read()).digest(), hashlib.sha256(b.read()).digest())
        with zipfile.ZipFile(self.wheels[0]) as z:
            [record] = [n for n in z.namelist() if n.endswith("/RECORD")]
            rows = {row[0]: row for row in csv.reader(io.StringIO(z.read(record).decode()))}
            self.assertEqual(set(rows), set(z.namelist()))
            for name, digest, size in rows.values():
                if name == record:
                    continue
                body = z.read(name)
                told = base64.urlsafe_b64encode(hashlib.sha256(body).digest()).decode().rstrip("=")
                self.assertEqual((digest, size), ("sha256=" + told, str(len(body))), name)

    def test_check_says_what_report_json_says(self):
        place = os.path.join(self.dir, "place")
        with zipfile.ZipFile(self.wheels[0]) as z:
            z.extractall(place)
        [data] = [n for n in os.listdir(place) if n.endswith(".data")]
        os.rename(os.path.join(place, data, "scripts"), os.path.join(place, "bin"))
        os.chmod(os.path.join(place, "bin", "rooflint"), 0o755)
        done = subprocess.run([sys.executable, "-c", SCRIPT, DEMO], capture_output=True, text=True,
                              check=False, cwd=self.dir, env={**os.environ, "PYTHONPATH": place})
        self.assertEqual(done.returncode, 0, done.stderr)
        said = json.loads(done.stdout)
        path = os.path.join(self.dir, "report.json")
        status = subprocess.run([ROOFLINT, "check", "-q", "--json", path, DEMO], check=False,
                                capture_output=True).returncode
        with open(path, encoding="utf-8") as f:
            [report] = json.load(f)["reports"]
        self.assertEqual((said["status"], said["verdict"]), (status, report["verdict"]))
        self.assertEqual(said["step"], report["facts"]["step_time_s"])
        self.assertEqual(said["findings"], [[f["rule"], f["message"], f["gain_s"],
                                             len(f["evidence"])] for f in report["findings"]])
        self.assertEqual(said["rules"], [[r["name"], r["verdict"]] for r in report["results"]])
        self.assertEqual(said["tables"], {name: [t["total"], t["rows"]]
                                          for name, t in report["tables"].items()})


if __name__ == "__main__":
    unittest.main()
