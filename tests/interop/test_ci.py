"""The pipelines of `rooflint init --ci`: valid for their systems, and played: a first run on the main
branch, a second that has it as baseline, and one that is slow."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import packages  # noqa: E402

TOP = packages.TOP
ROOFLINT = os.path.abspath(os.environ.get("ROOFLINT", os.path.join(TOP, "build", "rooflint")))
sys.path.insert(0, os.path.join(TOP, "tests", "builder"))
sys.path.insert(0, os.path.join(TOP, "tests", "scenarios"))
SCHEMAS = {"github": "vendor.github-workflows", "gitlab": "vendor.gitlab-ci",
           "buildkite": "vendor.buildkite"}
MAIN = {"GITHUB_REF": "refs/heads/main", "CI_COMMIT_BRANCH": "main", "CI_DEFAULT_BRANCH": "main",
        "BUILDKITE_BRANCH": "main", "BUILDKITE_PIPELINE_DEFAULT_BRANCH": "main"}


def component(**inputs):
    """templates/check/template.yml as GitLab includes it, with these inputs."""
    import json
    import yaml
    with open(os.path.join(TOP, "templates", "check", "template.yml"), encoding="utf-8") as f:
        header, body = f.read().split("\n---\n")
    known = yaml.safe_load(header)["spec"]["inputs"]
    assert set(inputs) <= set(known)

    def value(match):
        given = inputs.get(match[1], known[match[1]].get("default"))
        return given if isinstance(given, str) else json.dumps(given)
    return re.sub(r"\$\[\[ inputs\.([a-z]+) \]\]", value, body)


def pipeline(system, *more):
    if system == "component":
        return component(profile="runs", needs=["train"], options="--max-age 9000d")
    return subprocess.run([ROOFLINT, "init", "--ci", system, *more], capture_output=True, text=True,
                          check=True).stdout


def shell_of(system, text):
    """What the step that checks gives to its shell."""
    if system == "jenkins":
        *_, script = re.findall(r"sh '''(.*?)'''", text, re.S)
        return script
    import yaml
    document = yaml.safe_load(text)
    if system in ("gitlab", "component"):
        return "\n".join(document["rooflint"]["script"])
    if system == "buildkite":
        return document["steps"][1]["command"].replace("$$", "$")
    [step] = [s for s in document["jobs"]["rooflint"]["steps"] if s.get("name") == "check"]
    return step["run"]


class Pipelines(unittest.TestCase):
    def setUp(self):
        packages.need("check-jsonschema", "kubernetes-validate")
        self.dir = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def test_valid_for_their_systems(self):
        for system, schema in [*SCHEMAS.items(), ("component", SCHEMAS["gitlab"])]:
            path = os.path.join(self.dir, system + ".yml")
            with open(path, "w", encoding="utf-8") as f:
                f.write(pipeline(system, "--from", "runs/nightly-1"))
                if system == "component":
                    f.write("train:\n  script: [\"true\"]\n")
            done = subprocess.run(
                [packages.PYTHON, "-m", "check_jsonschema", "--builtin-schema", schema, path],
                capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        if shutil.which("actionlint"):
            subprocess.run(["actionlint", os.path.join(self.dir, "github.yml")], check=True)

    def test_slots_are_filled_and_words_are_plain(self):
        with open(os.path.join(TOP, "VERSION"), encoding="utf-8") as f:
            version = f.read().strip()
        for system in [*SCHEMAS, "jenkins"]:
            text = pipeline(system, "--from", "runs/nightly-1")
            self.assertIn("runs/nightly-1", text)
            self.assertIn("rooflint==" + version, text)
            self.assertNotRegex(text, r"@[A-Z]+@")
            self.assertIn('"$@"' if system != "buildkite" else '"$$@"', text)
            for path in ("a b", "$(id)", "'", "x;y", "-x", "a\nb", ""):
                done = subprocess.run([ROOFLINT, "init", "--ci", system, "--from", path],
                                      capture_output=True, check=False)
                self.assertEqual((done.returncode, done.stdout), (2, b""), path)

    def test_played(self):
        if sys.version_info < (3, 11):
            self.skipTest("the builder needs Python 3.11")
        import derive
        import run as scenarios
        tools = os.path.join(self.dir, "bin")
        os.mkdir(tools)
        for name in ("pip", "buildkite-agent"):
            with open(os.path.join(tools, name), "w", encoding="ascii") as f:
                f.write('#!/bin/sh\ncat >/dev/null 2>&1 </dev/stdin || :\n')
            os.chmod(os.path.join(tools, name), 0o755)
        os.symlink(ROOFLINT, os.path.join(tools, "rooflint"))
        spec = derive.load(scenarios.scenario_path("train-scan"))
        logs = []
        for night, slower in enumerate([1, 1, 1.3]):
            logs.append(os.path.join(self.dir, "logs-%d" % night))
            scenarios.write(derive.merged(spec, {
                "seed": night, "run": "2026_03_%02d_02_00_00" % (night + 1),
                "job": {"steps": 12, "start_unix_ns": (1772330400 + 86400 * night) * 10**9},
                "timing": {"step_gap": "%.0fus" % (460 + 152000 * (slower - 1) + 100 * night)},
            }), logs[-1])
        for system in [*SCHEMAS, "jenkins", "component"]:
            work = os.path.join(self.dir, system)
            os.makedirs(os.path.join(work, ".venv"))
            os.symlink(tools, os.path.join(work, ".venv", "bin"))
            script = shell_of(system, pipeline(system))
            for night, status in enumerate([0, 0, 1]):
                shutil.rmtree(os.path.join(work, "runs"), ignore_errors=True)
                shutil.copytree(logs[night], os.path.join(work, "runs"))
                done = subprocess.run(
                    ["bash", "-e", "-c", script], cwd=work, capture_output=True, text=True,
                    check=False, stdin=subprocess.DEVNULL, timeout=300,
                    env={"PATH": tools + ":" + os.environ["PATH"], "ROOFLINT_SLACK_URL": "", "ROOFLINT_PROFILE": "runs",
                         "ROOFLINT_OPTIONS": "--max-age 9000d", "ROOFLINT_BASELINES": "10",
                         **MAIN})
                self.assertEqual(done.returncode, status,
                                 (system, night, done.stdout[-800:], done.stderr))
                self.assertTrue(os.path.exists(os.path.join(work, "rooflint.html")), system)
            self.assertIn("slower", done.stdout, system)


if __name__ == "__main__":
    unittest.main()
