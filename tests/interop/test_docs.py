"""Every command that a page shows in a block of its own is run, as it stands, in a folder that holds
what the pages speak of.  Commands that name another host are not: their tests have servers."""
import glob
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
PAGES = ["README.md", "SKILL.md", "docs/*.md", "docs/example/README.md"]
ELSEWHERE = re.compile(r"[a-z0-9]+://|slack:|clickhouse-client|duckdb")
DEMO = os.path.join(TOP, "tests", "profiles", "demo")
for room in ("builder", "scenarios"):
    sys.path.insert(0, os.path.join(TOP, "tests", room))
MODULE = os.path.join(TOP, "tests", "profiles", "hlo", "scan_layers.v6e-2x4.hlo.txt")


def commands():
    """(page, command) of each block; a line that ends in a backslash goes on."""
    for page in sorted(p for pattern in PAGES for p in glob.glob(os.path.join(TOP, pattern))):
        with open(page, encoding="utf-8") as f:
            text = f.read().replace("\\\n", " ")
        # The lines of a list's item, too, are indented: behind its first.
        for block in re.findall(r"(?<=\n\n)(?:    .*\n)+(?=\n|\Z)", text):
            for command in re.findall(r"^    ((?:build/)?rooflint .*)$", block, re.M):
                yield os.path.relpath(page, TOP), command


def rooflint(*args, cwd):
    return subprocess.run([ROOFLINT, *args], cwd=cwd, capture_output=True, text=True, check=False)


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
        f.write(text)


def repository(here):
    """A repository with a week of runs, in which every name of the pages exists."""
    import derive
    import run as scenarios
    spec = derive.load(scenarios.scenario_path("train-scan"))
    days = ["last-week", "monday", "tuesday", "release", "today"]
    for day, name in enumerate(days):
        scenarios.write(derive.merged(spec, {
            "seed": day, "run": "2026_03_%02d_02_00_00" % (day + 1),
            "job": {"steps": 12, "start_unix_ns": (1772330400 + 86400 * day) * 10**9},
            "timing": {"step_gap": "%dus" % (460 + 100 * day)},
        }), os.path.join(here, "runs", name))
    for name in days:
        rooflint("check", "runs/" + name, "--json", name + ".json", cwd=here)
    for name in ("runs/nightly", "runs/better", "runs/pr-17", "LOGDIR", "data/runs/one"):
        shutil.copytree(os.path.join(here, "runs", "today"), os.path.join(here, name))
    for name in ("yesterday", "last"):
        shutil.copy(os.path.join(here, "release.json"), os.path.join(here, name + ".json"))
    shutil.copytree(DEMO, os.path.join(here, "tests", "profiles", "demo"))
    for name in ("build/rooflint", "bin/rooflint"):
        os.makedirs(os.path.join(here, os.path.dirname(name)))
        os.symlink(ROOFLINT, os.path.join(here, name))
    os.makedirs(os.path.join(here, ".github", "workflows"))
    shutil.copytree(os.path.join(TOP, "templates"), os.path.join(here, "pages"))
    os.mkdir(os.path.join(here, "dump"))
    for folder in (here, os.path.join(here, "dump")):
        shutil.copy(MODULE, os.path.join(folder, "module_0042.jit_step.after_optimizations.txt"))
    for store in ("facts.db", "fleet.db"):
        rooflint("check", "runs/monday", "--store", store, "--record", cwd=here)
    write(here, "part-1.ndjson", rooflint("facts", "runs/monday", cwd=here).stdout)
    write(here, "rooflint.yaml", "version: 1\nextends: recommended\n"
                                 "rules:\n  copy-share: { at_most: { fail: 5% } }\n")
    write(here, "rooflint.fleet.yaml", "version: 1\n")


@unittest.skipIf(sys.version_info < (3, 11), "the builder needs Python 3.11")
class Pages(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        repository(os.path.join(self.dir, "as it was"))

    def test_commands_run(self):
        ran = 0
        for page, command in commands():
            if ELSEWHERE.search(command):
                continue
            with self.subTest(page=page, command=command):
                here = os.path.join(self.dir, str(ran))
                shutil.copytree(os.path.join(self.dir, "as it was"), here, symlinks=True)
                line = command.replace(" /data/", " data/")
                path = os.path.join(here, "bin") + os.pathsep + os.environ["PATH"]
                done = subprocess.run(
                    ["bash", "-c", "set -o pipefail; " + line], cwd=here, text=True,
                    capture_output=True, check=False, stdin=subprocess.DEVNULL,
                    env={**os.environ, "PATH": path, "GIT_SHA": "0123abcd"})
                # A verdict is a fine end of a check; a mistake in the command is not.
                verdicts = (0, 1, 3, 4) if re.search(r" (check|audit) ", command) else (0,)
                self.assertIn(done.returncode, verdicts, done.stdout[-500:] + done.stderr)
            ran += 1
        self.assertGreater(ran, 25)

    def test_start(self):
        """The page for beginners from its first line to its last, in a folder that holds nothing."""
        here = os.path.join(self.dir, "start")
        os.makedirs(os.path.join(here, "tests", "profiles"))
        shutil.copytree(DEMO, os.path.join(here, "tests", "profiles", "demo"))
        with open(os.path.join(TOP, "docs", "start.md"), encoding="utf-8") as f:
            blocks = re.findall(r"(?:^    .*\n|^\n(?=    ))+", f.read(), re.M)
        statuses = []
        for line in (line.strip() for block in blocks for line in self.shell(block)):
            if "LOGDIR" in line:
                continue
            if line == "import rooflint" or "--baseline" in line:  # the job runs
                night = "monday" if line == "import rooflint" else "tuesday"
                shutil.copytree(os.path.join(self.dir, "as it was", "runs", night),
                                os.path.join(here, "runs", "today"), dirs_exist_ok=True)
            if line == "import rooflint":
                continue
            path = os.path.dirname(ROOFLINT) + os.pathsep + os.environ["PATH"]
            done = subprocess.run(["bash", "-c", line], cwd=here, text=True, check=False,
                                  capture_output=True, env={**os.environ, "PATH": path})
            statuses.append(done.returncode)
            self.assertIn(done.returncode, (0, 1) if " check " in line else (0,),
                          line + "\n" + done.stderr)
        self.assertGreater(len(statuses), 9)
        self.assertIn("--baseline", line)

    def shell(self, block):
        """The commands of a block; of a script in Python its first line."""
        lines = [line for line in block.splitlines() if line.strip()]
        script = lines[0].strip() == "import rooflint"
        return [x for x in lines[:1 if script else None] if not x.strip().startswith("pip ")]

    def test_site(self):
        packages.need("mkdocs-material")
        out = os.path.join(self.dir, "site")
        done = subprocess.run([packages.PYTHON, os.path.join(TOP, "packaging", "site.py"), ROOFLINT,
                               out], capture_output=True, text=True, check=False,
                              env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        lines = rooflint("rules", "list", "--rules", "recommended", cwd=TOP).stdout.splitlines()[1:]
        for rule in (line for line in lines if not line.startswith(" ")):  # a title may go on
            self.assertTrue(os.path.isfile(os.path.join(out, "rule", rule.split()[0] + ".html")))
        # A page that loads something tells another host who reads it.
        for page in glob.glob(os.path.join(out, "**", "*.html"), recursive=True):
            with open(page, encoding="utf-8") as f:
                self.assertNotRegex(f.read(), r'(?:src|<link[^>]*href)="https?://')


if __name__ == "__main__":
    unittest.main()
