"""action.yml, run as GitHub's runner would: expressions filled in, steps in their order with their
`if`, a cache, files for outputs, and the API of comments, which stand on this machine.

The story is one repository's: a first run, a second, a regression on a branch, the same pull request
again, one of a fork whose token may only read, and a run on the main branch that is slow.
"""
import hashlib
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import packages  # noqa: E402

TOP = packages.TOP
ROOFLINT = os.path.abspath(os.environ.get("ROOFLINT", os.path.join(TOP, "build", "rooflint")))
sys.path.insert(0, os.path.join(TOP, "tests", "builder"))
sys.path.insert(0, os.path.join(TOP, "tests", "scenarios"))


class Comments(http.server.BaseHTTPRequestHandler):
    """The API of comments; a token that is "reader" may not write."""

    def log_message(self, *_):
        pass

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def body(self):
        if self.headers["Authorization"] == "Bearer reader":
            self.answer(403, {"message": "Resource not accessible by integration"})
            return None
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]

    def do_GET(self):
        if not self.path.startswith("/repos/"):
            return super().send_error(404)
        page = int(re.search(r"[?&]page=(\d+)", self.path).group(1))
        return self.answer(200, self.server.comments[(page - 1) * 100:page * 100])

    def do_POST(self):
        body = self.body()
        if body is not None:
            self.server.comments.append({"id": 1000 + len(self.server.comments), "body": body,
                                         "user": {"type": "Bot"}})
            self.server.written.append("POST")
            self.answer(201, self.server.comments[-1])

    def do_PATCH(self):
        body = self.body()
        if body is not None:
            [mine] = [c for c in self.server.comments
                      if str(c["id"]) == self.path.rsplit("/", 1)[1]]
            mine["body"] = body
            self.server.written.append("PATCH")
            self.answer(200, mine)


def expression(text, names):
    """What `${{ text }}` or an `if` comes to: paths, literals, == and != joined by &&."""
    def value(word):
        word = word.strip()
        return word[1:-1] if word.startswith("'") else str(names.get(word, ""))

    if "==" not in text and "!=" not in text:
        return value(text)
    return all(value(left) == value(right) if op == "==" else value(left) != value(right)
               for left, op, right in (re.split(r"(==|!=)", part) for part in text.split("&&")))


class Runner:
    """One repository with its caches; `run` is one job with a fresh checkout."""

    def __init__(self, action, folder, api):
        self.action, self.folder, self.api = action, folder, api
        self.caches = []  # (key, branch, folder), the newest last
        self.jobs = 0

    def fill(self, text, names):
        return re.sub(r"\$\{\{(.*?)\}\}", lambda m: expression(m.group(1), names), str(text))

    def run(self, inputs, logs=None, ref="refs/heads/main", event_name="push", event=None):
        self.jobs += 1
        job = os.path.join(self.folder, "job-%d" % self.jobs)
        work, temp = os.path.join(job, "work"), os.path.join(job, "temp")
        os.makedirs(work)
        os.makedirs(temp)
        if logs:
            shutil.copytree(logs, os.path.join(work, "runs"))
        with open(os.path.join(job, "event.json"), "w", encoding="utf-8") as f:
            json.dump({"repository": {"default_branch": "main"}, **(event or {})}, f)
        names = {"github.run_id": 100 + self.jobs, "github.run_attempt": 1,
                 "github.token": "writer"}
        for name, declared in self.action["inputs"].items():
            names["inputs." + name] = inputs.get(name, self.fill(declared.get("default", ""),
                                                                 names))
        if set(inputs) - set(self.action["inputs"]):
            raise KeyError("the action has no such input: %s" % inputs)
        env = {
            "PATH": os.environ["PATH"], "HOME": job, "RUNNER_TEMP": temp, "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": TOP, "GITHUB_REF": ref, "GITHUB_EVENT_NAME": event_name,
            "GITHUB_EVENT_PATH": os.path.join(job, "event.json"),
            "GITHUB_REPOSITORY": "o/r", "GITHUB_API_URL": self.api,
            "GITHUB_SERVER_URL": self.api, "GITHUB_ACTION_REPOSITORY": "o/rooflint",
            "GITHUB_STEP_SUMMARY": os.path.join(job, "summary.md"),
        }
        said = {"status": "success", "uploads": [], "sarif": False, "saved": False, "log": ""}
        for number, step in enumerate(self.action["runs"]["steps"]):
            if said["status"] == "failure" or not expression(step.get("if", "'a' == 'a'"), names):
                continue
            options = {k: self.fill(v, names) for k, v in step.get("with", {}).items()}
            if "uses" in step:
                self.use(step["uses"].split("@")[0], options, work, ref, said)
                continue
            out = os.path.join(job, "out-%d" % number)
            path = os.path.join(job, "path-%d" % number)
            done = subprocess.run(
                ["bash", "-eo", "pipefail", "-c", step["run"]], cwd=work, text=True, check=False,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600,
                env={**env, "GITHUB_OUTPUT": out, "GITHUB_PATH": path,
                     **{k: self.fill(v, names) for k, v in step.get("env", {}).items()}})
            said["log"] += done.stdout
            if done.returncode:
                said["status"] = "failure"
            for file in (out, path):
                open(file, "a", encoding="utf-8").close()
            with open(path, encoding="utf-8") as f:
                for line in f:
                    env["PATH"] = line.strip() + ":" + env["PATH"]
            with open(out, encoding="utf-8") as f:
                for line in f:
                    name, _, value = line.rstrip("\n").partition("=")
                    names["steps.%s.outputs.%s" % (step["id"], name)] = value
        said["outputs"] = {name: self.fill(o["value"], names)
                           for name, o in self.action["outputs"].items()}
        said["summary"] = ""
        if os.path.exists(env["GITHUB_STEP_SUMMARY"]):
            with open(env["GITHUB_STEP_SUMMARY"], encoding="utf-8") as f:
                said["summary"] = f.read()
        return said

    def use(self, action, options, work, ref, said):
        where = os.path.join(work, options.get("path", "")) if action.startswith("actions/cache") \
            else None
        if action == "actions/cache/restore":
            # A branch sees its own caches and those of the default branch.
            for key, branch, folder in reversed(self.caches):
                if key.startswith(options["restore-keys"]) and branch in (ref, "refs/heads/main"):
                    shutil.copytree(folder, where)
                    break
        elif action == "actions/cache/save":
            kept = os.path.join(self.folder, "cache-%d" % len(self.caches))
            shutil.copytree(where, kept)
            self.caches.append((options["key"], ref, kept))
            said["saved"] = True
        elif action == "actions/upload-artifact":
            said["uploads"] = [os.path.basename(p) for p in options["path"].split()
                               if os.path.exists(p)]
        elif action == "github/codeql-action/upload-sarif":
            with open(options["sarif_file"], encoding="utf-8") as f:
                said["sarif"] = json.load(f)["version"] == "2.1.0"
        else:
            raise KeyError(action)


class Action(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        packages.need("kubernetes-validate")
        if sys.version_info < (3, 11):
            raise unittest.SkipTest("the builder needs Python 3.11")
        import yaml
        with open(os.path.join(TOP, "action.yml"), encoding="utf-8") as f:
            cls.action = yaml.safe_load(f)

    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Comments)
        self.server.comments = [{"id": i, "body": "hello <!-- rooflint: rooflint -->",
                                 "user": {"type": "User"}} for i in range(120)]
        self.server.written = []
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.runner = Runner(self.action, self.dir,
                             "http://127.0.0.1:%d" % self.server.server_port)

    def night(self, number, slower=1.0):
        import derive
        import run as scenarios
        gap = 60 + 400 + 152000 * (slower - 1) + 100 * number
        spec = derive.merged(derive.load(scenarios.scenario_path("train-scan")), {
            "seed": number, "run": "2026_03_%02d_02_00_00" % (number + 1),
            "job": {"steps": 12, "start_unix_ns": (1772330400 + 86400 * number) * 10**9},
            "timing": {"step_gap": "%.0fus" % gap},
        })
        logs = os.path.join(self.dir, "logs-%d" % number)
        scenarios.write(spec, logs)
        return logs

    def run_night(self, number, slower=1.0, inputs=None, **where):
        return self.runner.run({"profile": "runs", "program": ROOFLINT, "sarif": "true",
                                **(inputs or {})}, self.night(number, slower), **where)

    def test_story(self):
        first = self.run_night(0)
        self.assertEqual((first["status"], first["outputs"]["verdict"]), ("success", "pass"),
                         first["log"])
        self.assertNotIn("--baseline", first["log"])
        self.assertTrue(first["saved"] and first["sarif"] and first["summary"])
        self.assertEqual(first["uploads"], ["rooflint.html", "report.json", "rooflint.xml"])
        self.assertEqual(self.server.written, [])  # no pull request

        second = self.run_night(1)
        self.assertEqual(second["status"], "success", second["log"])
        self.assertIn("--baseline store:last=10", second["log"])
        self.assertTrue(second["saved"])

        pull = {"event_name": "pull_request", "ref": "refs/pull/7/merge",
                "event": {"pull_request": {"number": 7}}}
        slow = self.run_night(2, slower=1.3, **pull)
        self.assertEqual((slow["status"], slow["outputs"]["status"]), ("failure", "1"),
                         slow["log"])
        self.assertFalse(slow["saved"])
        self.assertEqual(len(slow["uploads"]), 3)
        self.assertTrue(slow["sarif"])
        self.assertIn("slower", slow["summary"])
        self.assertEqual(self.server.written, ["POST"])
        self.assertIn("slower", self.server.comments[-1]["body"])

        mended = self.run_night(3, **pull)
        self.assertEqual(mended["status"], "success", mended["log"])
        self.assertEqual(self.server.written, ["POST", "PATCH"])
        self.assertNotIn("slower than", self.server.comments[-1]["body"])
        self.assertEqual(len(self.server.comments), 121)

        fork = self.run_night(4, slower=1.3, inputs={"token": "reader"}, **pull)
        self.assertEqual((fork["status"], fork["outputs"]["status"]), ("failure", "1"))
        self.assertIn("::notice title=rooflint::no comment", fork["log"])
        self.assertEqual(self.server.written, ["POST", "PATCH"])
        self.assertIn("slower", fork["summary"])

        # A slow night on the main branch is no measure for the next one.
        bad = self.run_night(5, slower=1.3)
        self.assertEqual(bad["outputs"]["status"], "1")
        self.assertIn("::notice title=rooflint::this run is no baseline", bad["log"])
        self.assertNotIn("no baseline", second["log"] + slow["log"])
        self.assertEqual(len(self.runner.caches), 2)
        self.assertEqual(self.run_night(6, slower=1.3)["outputs"]["status"], "1")

    def test_without_baselines_nothing_is_kept(self):
        said = self.run_night(0, inputs={"baselines": "0", "comment": "false", "sarif": "false"})
        self.assertEqual((said["status"], said["saved"], said["sarif"]), ("success", False, False),
                         said["log"])
        self.assertNotIn("--store", said["log"])

    def test_unreadable_profile_fails_with_its_reason(self):
        said = self.runner.run({"profile": "no such folder", "program": ROOFLINT})
        self.assertEqual((said["status"], said["outputs"]["status"]), ("failure", "3"))
        self.assertEqual(said["outputs"]["verdict"], "error")

    def test_inputs_are_words_and_no_shell(self):
        said = self.run_night(0, inputs={"rules": "$(touch injected); x.yaml", "baselines": "0"})
        self.assertEqual(said["outputs"]["status"], "2")
        self.assertFalse(any("injected" in names for _, _, names in os.walk(self.dir)))

    def test_release_is_installed_and_its_digest_compared(self):
        with open(os.path.join(TOP, "VERSION"), encoding="utf-8") as f:
            version = f.read().strip()
        name = "rooflint-%s-linux-%s" % (version, os.uname().machine)
        place = os.path.join(self.dir, "release")
        os.makedirs(os.path.join(place, name, "bin"))
        shutil.copy(ROOFLINT, os.path.join(place, name, "bin", "rooflint"))
        tar = os.path.join(place, name + ".tar.gz")
        with tarfile.open(tar, "w:gz") as f:
            f.add(os.path.join(place, name), name)
        with open(tar, "rb") as f:
            digest = hashlib.sha256(f.read()).hexdigest()
        inputs = {"profile": "runs", "baselines": "0", "releases": "file://" + place}
        sums = os.path.join(place, "SHA256SUMS")
        for told, status in [(digest, "success"), ("0" * 64, "failure")]:
            with open(sums, "w", encoding="utf-8") as f:
                f.write("%s  %s.tar.gz\n" % (told, name))
            said = self.runner.run(inputs, self.night(0))
            self.assertEqual(said["status"], status, said["log"])
        self.assertIn("is not what SHA256SUMS of the release says", said["log"])

        said = self.runner.run({**inputs, "releases": "file:///no/such/release"}, self.night(0))
        self.assertEqual(said["status"], "failure")
        self.assertIn("rooflint: cannot fetch file:///no/such/release/SHA256SUMS", said["log"])
        self.assertNotIn("Traceback", said["log"])


if __name__ == "__main__":
    unittest.main()
