"""The manifests in docs/fleet: valid for those who run them, and each gives one machine's report.

Schedulers are played: every part runs the manifest's own script in the environment that it would have
there, in a directory of its own, with a `rooflint` and a calendar in PATH.
"""
import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import packages  # noqa: E402

TOP = packages.TOP
ROOFLINT = os.path.abspath(os.environ.get("ROOFLINT", os.path.join(TOP, "build", "rooflint")))
FLEET = os.path.join(TOP, "docs", "fleet")
CARRIED = os.path.join(TOP, "tests", "profiles")
NAMES = ["demo", "jax-cpu-train", "jax-cpu-ops", "jax-cpu-set"]
TODAY = "2026-11-21"
DATE = f'#!/bin/sh\ncase $* in *+%F) echo {TODAY} ;; *) exit 1 ;; esac\n'
# Where Buildkite's agent shows an annotation.
AGENT = """#!/bin/sh
case "$1 $2" in
'annotate --style') cat >"$ARTIFACTS/annotation.md" ;;
*) exit 1 ;;
esac
"""


def manifest(name):
    import yaml
    with open(os.path.join(FLEET, name), encoding="utf-8") as file:
        return yaml.safe_load(file)


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o755)


class Manifests(unittest.TestCase):
    def setUp(self):
        packages.need("kubernetes-validate")
        self.dir = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.bin, self.artifacts = self.folder("bin"), self.folder("artifacts")
        write(os.path.join(self.bin, "date"), DATE)
        write(os.path.join(self.bin, "buildkite-agent"), AGENT)
        write(os.path.join(self.bin, "rooflint"), f'#!/bin/sh\nexec "{ROOFLINT}" "$@"\n')
        for team in "ab":
            for name in NAMES:
                shutil.copytree(os.path.join(CARRIED, name),
                                os.path.join(self.dir, "runs", team, name))
        self.env = {name: os.environ[name] for name in os.environ
                    if name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "HOME")}
        self.env.update(PATH=self.bin + ":" + os.environ["PATH"], ARTIFACTS=self.artifacts,
                        FLEET_RUNS=os.path.join(self.dir, "runs"))

    def folder(self, name):
        path = os.path.join(self.dir, name)
        os.makedirs(path)
        return path

    def shell(self, command, cwd, **env):
        done = subprocess.run(command, cwd=cwd, env={**self.env, **env}, check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def assert_whole(self, page, roots):
        """The report that one machine writes."""
        whole = os.path.join(self.dir, "whole.html")
        cwd = self.bin if os.path.isabs(roots) else self.dir
        self.shell([ROOFLINT, "audit", roots, "--until", TODAY, "--html", whole], cwd)
        with open(whole, "rb") as one, open(page, "rb") as other:
            text = other.read()
            self.assertEqual(one.read(), text)
        self.assertIn(b"jax-cpu-train", text)

    def assert_valid(self, name, schema):
        packages.need("check-jsonschema")
        done = subprocess.run(
            [packages.PYTHON, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}",
             os.path.join(FLEET, name)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    # ---- those whose machines share a store: here a file ---------------------------------------

    def test_kubernetes(self):
        import kubernetes_validate
        import yaml
        with open(os.path.join(FLEET, "kubernetes.yaml"), encoding="utf-8") as file:
            judge, report = yaml.safe_load_all(file)
        env = {"STORE": os.path.join(self.dir, "fleet.db"), "RUNS": "runs"}
        for resource in judge, report:
            kubernetes_validate.validate(resource, kubernetes_validate.latest_version(), strict=True)
        job = judge["spec"]["jobTemplate"]["spec"]
        container, = job["template"]["spec"]["containers"]
        for index in range(job["completions"]):
            self.shell([*container["command"], *container["args"]], self.dir,
                       ROOFLINT_SHARD_COUNT=str(job["completions"]),
                       JOB_COMPLETION_INDEX=str(index), **env)
        container, = report["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
        script = container["args"][0].replace("cd /report", f"cd {self.artifacts}")
        self.shell([*container["command"], script], "/", **env)
        self.assert_whole(os.path.join(self.artifacts, "weekly.html"), "runs")

    def test_github(self):
        self.assert_valid("github.yml", "github-workflows")
        jobs = manifest("github.yml")["jobs"]
        store, summary = os.path.join(self.dir, "fleet.db"), os.path.join(self.dir, "summary.md")
        write(os.path.join(self.artifacts, "rooflint.fleet.yaml"), "version: 1\n")
        for shard in jobs["judge"]["strategy"]["matrix"]["shard"]:
            script = jobs["judge"]["steps"][0]["run"].replace("gs://fleet/runs", "runs")
            self.shell(["bash", "-ec", script.replace("${{ matrix.shard }}", str(shard))], self.dir,
                       STORE=store)
        script, = [step["run"] for step in jobs["report"]["steps"] if "run" in step]
        self.shell(["bash", "-ec", script], self.artifacts, STORE=store, GITHUB_STEP_SUMMARY=summary)
        self.assert_whole(os.path.join(self.artifacts, "weekly.html"), "runs")
        self.assertTrue(os.path.getsize(summary))

    def test_one_machine(self):
        """cron's line and systemd's, with their escapes undone, on a machine that has the paths."""
        with open(os.path.join(FLEET, "cron"), encoding="utf-8") as file:
            audit, prune = [line.split("perf  ", 1)[1] for line in file if "  perf  " in line]
        with open(os.path.join(FLEET, "rooflint-audit.service"), encoding="utf-8") as file:
            line, = [line for line in file if line.startswith("ExecStart=")]
        unit = line.split("-c '", 1)[1].rstrip().rstrip("'").replace("%%", "%")
        write(os.path.join(self.dir, "fleet.yaml"), "version: 1\n")
        for number, script in enumerate((audit.replace("\\%", "%"), unit)):
            page = os.path.join(self.dir, f"{number}", "weekly.html")
            os.makedirs(os.path.dirname(page))
            for path, here in (("/data/runs", "runs"), ("/etc/rooflint.fleet.yaml", "fleet.yaml"),
                               ("/var/lib/rooflint", str(number)), ("$STATE_DIRECTORY", str(number)),
                               ("/srv/www", str(number)), ("/var/log", str(number))):
                script = script.replace(path, here)
            self.shell(["sh", "-ec", script], self.dir)
            self.assert_whole(page, "runs")
        script = prune.replace("\\%", "%").replace("/var/lib/rooflint", "0").replace("/var/log", "0")
        write(os.path.join(self.bin, "date"), "#!/bin/sh\necho 2020-01-01\n")
        self.shell(["sh", "-ec", script], self.dir)
        with open(os.path.join(self.dir, "0", "rooflint-prune.log"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "0 judged runs forgotten\n")

    # ---- a store, too --------------------------------------------------------------------------

    def known(self):
        """What has been judged is judged once: the store tells how many runs it has."""
        with contextlib.closing(sqlite3.connect(self.env["STORE"])) as db:
            return db.execute("select count(*), count(distinct run || profile) from runs").fetchone()

    def test_slurm(self):
        script = os.path.join(FLEET, "slurm.sh")
        self.shell(["bash", "-n", script], "/")
        shutil.copy(script, os.path.join(self.dir, "spooled"))  # slurmd runs a copy
        self.env["STORE"] = os.path.join(self.dir, "fleet.db")
        for week in range(2):
            for index in range(16):
                self.shell(["sh", "spooled", "runs"], self.dir, SLURM_ARRAY_TASK_ID=str(index),
                           SLURM_ARRAY_TASK_COUNT="16", SLURM_ARRAY_TASK_MIN="0",
                           SLURM_ARRAY_TASK_MAX="15", SLURM_ARRAY_TASK_STEP="1",
                           SLURM_CPUS_PER_TASK="4")
            self.assertEqual(*self.known(), week)
        self.shell(["sh", "spooled", "--report"], self.dir)
        self.assert_whole(os.path.join(self.dir, "report", "weekly.html"), "runs")

    def test_gitlab(self):
        self.assert_valid("gitlab.yml", "gitlab-ci")
        pipeline = manifest("gitlab.yml")
        self.env["STORE"] = os.path.join(self.dir, "fleet.db")
        part, report = pipeline["audit-part"], pipeline["audit-report"]
        self.assertEqual([part["stage"], report["stage"]], pipeline["stages"])
        for index in range(1, part["parallel"] + 1):
            self.shell(["bash", "-eo", "pipefail", "-c", "\n".join(part["script"])],
                       self.folder(f"job-{index}"), CI_NODE_INDEX=str(index),
                       CI_NODE_TOTAL=str(part["parallel"]))
        self.shell(["bash", "-eo", "pipefail", "-c", "\n".join(report["script"])], self.artifacts)
        for name in report["artifacts"]["paths"]:
            self.assertTrue(os.path.exists(os.path.join(self.artifacts, name)), name)
        self.assert_whole(os.path.join(self.artifacts, "weekly.html"), self.env["FLEET_RUNS"])

    def test_buildkite(self):
        self.assert_valid("buildkite.yml", "buildkite")
        part, _, report = manifest("buildkite.yml")["steps"]
        self.env["STORE"] = os.path.join(self.dir, "fleet.db")
        for index in range(part["parallelism"]):
            self.shell(["bash", "-ec", part["command"].replace("$$", "$")],
                       self.folder(f"job-{index}"), BUILDKITE_PARALLEL_JOB=str(index),
                       BUILDKITE_PARALLEL_JOB_COUNT=str(part["parallelism"]))
        cwd = self.folder("report")
        self.shell(["bash", "-ec", report["command"].replace("$$", "$")], cwd)
        self.assert_whole(os.path.join(cwd, report["artifact_paths"]), self.env["FLEET_RUNS"])
        with open(os.path.join(self.artifacts, "annotation.md"), encoding="utf-8") as file:
            self.assertTrue(file.read().startswith("# Fleet, "))


if __name__ == "__main__":
    unittest.main()
