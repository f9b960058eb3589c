"""What rooflint writes for CI systems, read by the programs it is written for, which must count the
same as report.json does; and every output rendered later, with the same bytes.

Consumers come from PyPI and npm (packages.py); each test is skipped where its own cannot be had.
"""

import collections
import gzip
import html.parser
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import packages  # noqa: E402

TOP = packages.TOP
ROOFLINT = os.environ.get("ROOFLINT", os.path.join(TOP, "build", "rooflint"))
CARRIED = os.path.join(TOP, "tests", "profiles")
EARLIER = os.path.join(TOP, "tests", "golden", "diff", "night-0.json")
CAPTURES = os.environ.get("PROFILES", os.path.join(TOP, "..", "shared", "profiles"))
BUILT = ["demo", "jax-cpu-train", "jax-cpu-ops", "jax-cpu-set", "nsys-jax"]
REAL = ["tpu-inference-2", "amd-te-fused-attn", "mi300-conv-08", "tpu-vllm-qwen-trace",
        "reactant-cyclops", "nsys-nvfuser"]
TRAP = "</script><img src=x onerror=alert(1)>"

# What one run writes, by the name of the file.
OUTPUTS = [
    ([], {"html": "--html", "json": "--json", "junit": "--junit", "sarif": "--sarif",
          "markdown": "--markdown", "openmetrics": "--openmetrics", "gitlab": "--gitlab-quality"}),
    (["--junit-flavor", "rich", "--markdown-size", "summary"],
     {"junit-rich": "--junit", "summary": "--markdown"}),
]


def profiles():
    paths = [os.path.join(CARRIED, name) for name in BUILT]
    paths += [os.path.join(CAPTURES, name) for name in REAL]
    return [path for path in paths if os.path.isdir(path)]


def rooflint(*args, **env):
    """Its status, and what it said."""
    done = subprocess.run([ROOFLINT, *args], env={**os.environ, **env}, capture_output=True,
                          check=False, timeout=1200)
    return done.returncode, done.stdout + done.stderr


def write(folder, command, source):
    """All outputs, by name, as `command` writes them of the profiles or the report in `source`."""
    files = {}
    for options, names in OUTPUTS:
        new = {name: os.path.join(folder, name) for name in names}
        words = [word for name in names for word in (names[name], new[name])]
        rooflint(command, "-q", *options, *words, *source)
        files.update(new)
    return files


def read(path):
    with open(path, "rb") as file:
        return file.read()


# ---- consumers -----------------------------------------------------------------------------------


class Consumers(unittest.TestCase):
    """One batch of all that can be read, and of one that cannot."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        paths = profiles() + [os.path.join(cls.folder.name, "nowhere")]
        cls.files = write(cls.folder.name, "check", paths)
        cls.reports = json.loads(read(cls.files["json"]))["reports"]

    def expected(self, count):
        """{profile: count(report)}"""
        return {report["profile"]: count(report) for report in self.reports}

    @staticmethod
    def cases(report):
        """How each rule's case ends in JUnit."""
        ends = collections.Counter()
        for rule in report["results"]:
            if rule["verdict"] in ("fail", "warn"):
                ends["failures" if rule["breaks"] else "passed"] += 1
            elif rule["verdict"] == "inconclusive" and rule["breaks"]:
                ends["errors"] += 1
            else:
                ends["passed" if rule["verdict"] == "pass" else "skipped"] += 1
        if report["error"]:
            ends["errors"] += 1
        return {"tests": sum(ends.values()), "failures": ends["failures"],
                "errors": ends["errors"], "skipped": ends["skipped"]}

    def test_junitparser(self):
        packages.need("junitparser")
        import junitparser  # pylint: disable=import-outside-toplevel
        for name in "junit", "junit-rich":
            suites = junitparser.JUnitXml.fromfile(self.files[name])
            told, seen = {}, {}
            for suite in suites:
                told[suite.name] = {key: getattr(suite, key) for key in
                                    ("tests", "failures", "errors", "skipped")}
                ends = collections.Counter(type(end).__name__ for case in suite
                                           for end in case.result)
                seen[suite.name] = {"tests": len(list(suite)), "failures": ends["Failure"],
                                    "errors": ends["Error"], "skipped": ends["Skipped"]}
            self.assertEqual(told, self.expected(self.cases))
            self.assertEqual(seen, told)
            names = [case.name for suite in suites for case in suite]
            self.assertEqual(len(set(names)), len(names))

    def test_sarif_tools(self):
        packages.need("sarif-tools")
        from sarif import loader  # pylint: disable=import-outside-toplevel
        levels = {"fail": "error", "warn": "warning", "waived": "note"}
        expected = collections.Counter(
            (finding["rule"], levels[finding["verdict"]]) for report in self.reports
            for finding in report["findings"] if finding["verdict"] in levels)
        file = loader.load_sarif_file(self.files["sarif"])
        self.assertEqual(file.get_distinct_tool_names(), ["rooflint"])
        self.assertEqual(file.get_result_count(), sum(expected.values()))
        self.assertEqual(
            collections.Counter((r["Code"], r["Severity"]) for r in file.get_records()), expected)

    def test_sarif_schema(self):
        packages.need("jsonschema")
        import jsonschema  # pylint: disable=import-outside-toplevel
        schema = json.loads(read(packages.sarif_schema()))
        document = json.loads(read(self.files["sarif"]))
        check = jsonschema.validators.validator_for(schema)(schema)
        self.assertEqual([e.message for e in check.iter_errors(document)], [])
        document["runs"][0]["results"][0]["level"] = "fatal"
        self.assertEqual(len(list(check.iter_errors(document))), 1)

    def test_prometheus(self):
        packages.need("prometheus_client")
        from prometheus_client import parser as older  # pylint: disable=import-outside-toplevel
        from prometheus_client.openmetrics import parser  # pylint: disable=import-outside-toplevel
        text = read(self.files["openmetrics"]).decode()
        for families in (parser.text_string_to_metric_families(text),
                         older.text_string_to_metric_families(text)):
            samples = {(sample.name, *sorted(sample.labels.items())): sample.value
                       for family in families for sample in family.samples}
            by_verdict = collections.Counter()
            for (name, *labels), value in samples.items():
                if name == "rooflint_rules":
                    by_verdict[dict(labels)["verdict"]] += value
            self.assertEqual(by_verdict, collections.Counter(
                rule["verdict"] for report in self.reports for rule in report["results"]))
            steps = sorted(value for (name, *_), value in samples.items()
                           if name == "rooflint_step_time_seconds")
            self.assertEqual(steps, sorted(
                report["facts"]["step_time_s"] for report in self.reports
                if report["facts"].get("step_time_s") is not None
                and report["facts"].get("steps_source") != "window"))

    def test_gitlab(self):
        """The shape that GitLab documents for code quality reports."""
        entries = json.loads(read(self.files["gitlab"]))
        for entry in entries:
            self.assertEqual(sorted(entry), ["check_name", "description", "fingerprint",
                                             "location", "severity"])
            self.assertIn(entry["severity"], ("info", "minor", "major", "critical", "blocker"))
            self.assertFalse(entry["location"]["path"].startswith(("/", "./")))
            self.assertGreaterEqual(entry["location"]["lines"]["begin"], 1)
        self.assertEqual(len({entry["fingerprint"] for entry in entries}), len(entries))
        failed = [entry["check_name"] for entry in entries if entry["severity"] == "major"]
        expected = [finding["rule"] for report in self.reports for finding in report["findings"]
                    if finding["verdict"] == "fail"]
        expected += ["profile-readable" for report in self.reports if report["error"]]
        self.assertEqual(sorted(failed), sorted(expected))


# ---- the same bytes ------------------------------------------------------------------------------


class Bytes(unittest.TestCase):
    def assert_same(self, one, other, what):
        for name in one:
            self.assertTrue(read(one[name]) == read(other[name]), f"{what}: {name}")

    def write(self, command, source):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return write(folder.name, command, source)

    def test_render_writes_what_check_wrote(self):
        """For each profile alone, for all in a batch, and against a baseline."""
        batches = [[path] for path in profiles()] + [profiles() + ["/nowhere"]]
        batches += [["--baseline", EARLIER, os.path.join(CARRIED, "demo")]]
        for paths in batches:
            checked = self.write("check", paths)
            self.assert_same(checked, self.write("render", [checked["json"]]), paths)

    def test_twice_and_with_more_processes(self):
        first = self.write("check", ["-j", "1", *profiles()])
        for jobs in "1", "2", "5":
            self.assert_same(first, self.write("check", ["-j", jobs, *profiles()]), jobs)

    def test_terminal_and_annotations(self):
        for path in profiles():
            with tempfile.TemporaryDirectory() as folder:
                report = os.path.join(folder, "report.json")
                summary = os.path.join(folder, "summary")
                for options in [], ["--github"], ["-v", "--color", "always"]:
                    env = {"GITHUB_STEP_SUMMARY": summary}
                    _, checked = rooflint("check", "--json", report, *options, path, **env)
                    of_check = read(summary) if options == ["--github"] else b""
                    if of_check:
                        os.unlink(summary)
                    _, rendered = rooflint("render", *options, report, **env)
                    # Where sources lie is asked of who checks; a report has its places.
                    hint = re.compile(rb"^rooflint: no finding's file is .*\n", re.M)
                    self.assertEqual(rendered, hint.sub(b"", checked), (path, options))
                    if of_check:
                        self.assertEqual(read(summary), of_check)


# ---- names that are markup -----------------------------------------------------------------------


class Tags(html.parser.HTMLParser):
    """Counts the elements of a page, and keeps its text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text = collections.Counter(), ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        assert not [name for name, _ in attrs if name.startswith("on")], attrs

    def handle_data(self, data):
        self.text += data


def with_op_named(name, folder):
    """A trace whose all-reduces have that name, as a profiler would have written it."""
    source = os.path.join(CARRIED, "jax-cpu-set")
    trace, = (os.path.join(at, file) for at, _, files in os.walk(source) for file in files
              if file.endswith(".trace.json.gz"))
    with gzip.open(trace) as file:
        document = json.load(file)
    for event in document["traceEvents"]:
        if event.get("name", "").startswith("all-"):
            event["name"] = event["args"]["hlo_op"] = name
    with gzip.open(os.path.join(folder, "host0.trace.json.gz"), "wt") as file:
        json.dump(document, file)


def hostile(report):
    """The report with every text that a profile may have brought turned to markup."""
    for finding in report["findings"]:
        finding.update(name=TRAP, message=TRAP, scope=TRAP, source_file=TRAP, subject=TRAP)
        for evidence in finding["evidence"]:
            if isinstance(evidence["value"], str):
                evidence["value"] = TRAP
    for table in list(report["tables"].values()) + list(report["plots"].values()):
        for name, values in table["columns"].items():
            if name in ("name", "lane", "module", "scope", "source_file", "device", "host", "op",
                        "before", "after", "host_call", "host_activity", "shape", "detail"):
                table["columns"][name] = [TRAP] * len(values)
    for note in report["notes"]:
        note["text"] = TRAP
    report["facts"].update(name=TRAP, model=TRAP, owner=TRAP, inputs=TRAP)
    report["profile"] = TRAP


class Markup(unittest.TestCase):
    """An op, a file or a host may be called anything: it stays text in every output."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.report = os.path.join(folder.name, "report.json")
        rooflint("check", "-q", "--json", cls.report, os.path.join(CARRIED, "demo"))
        document = json.loads(read(cls.report))
        hostile(document["reports"][0])
        with open(cls.report, "w", encoding="utf-8") as file:
            json.dump(document, file)
        cls.files = write(folder.name, "render", [cls.report])

    def text(self, name):
        return read(self.files[name]).decode()

    def test_page(self):
        page = Tags(self.text("html"))
        self.assertEqual((page.tags["img"], page.tags["script"]), (0, 1))
        self.assertGreater(page.text.count(TRAP), 20)

    def test_of_a_profile(self):
        """From the bytes that a profiler wrote to the page."""
        with tempfile.TemporaryDirectory() as folder:
            with_op_named(TRAP, folder)
            files = write(folder, "check", [folder])
            page = Tags(read(files["html"]).decode())
            self.assertIn(TRAP, json.dumps(json.loads(read(files["json"]))))
            self.assertEqual((page.tags["img"], page.tags["script"]), (0, 1))
            self.assertIn(TRAP, page.text)

    def test_markdown(self):
        packages.need("markdown-it-py")
        import markdown_it  # pylint: disable=import-outside-toplevel
        for name in "markdown", "summary":
            page = Tags(markdown_it.MarkdownIt("gfm-like", {"linkify": False})
                        .render(self.text(name)))
            self.assertEqual(set(page.tags) - {"h2", "p", "strong", "table", "thead", "tbody",
                                               "tr", "th", "td", "details", "summary", "b",
                                               "pre", "code"}, set())
            self.assertGreater(page.text.replace("\u200b", "").count(TRAP), 5, name)

    def test_sarif(self):
        """Only its Markdown could be markup; elsewhere a viewer shows text."""
        def strings(value, path=()):
            if isinstance(value, str):
                yield path, value
            elif isinstance(value, (dict, list)):
                items = value.items() if isinstance(value, dict) else enumerate(value)
                for key, item in items:
                    yield from strings(item, path + (key,))
        found = list(strings(json.loads(self.text("sarif"))))
        self.assertTrue([path for path, text in found if path[-1] == "text" and TRAP in text])
        for path, text in found:
            if "markdown" in path:
                self.assertNotIn("<img", text, path)
            if path[-1] == "uri":
                self.assertNotIn("<", text, path)

    def test_xml(self):
        for name in "junit", "junit-rich":
            root = xml.etree.ElementTree.fromstring(self.text(name))
            self.assertEqual({element.tag for element in root.iter()} -
                             {"testsuites", "testsuite", "testcase", "failure", "error", "skipped",
                              "system-out", "properties", "property"}, set())
            self.assertIn(TRAP, "".join(root.itertext()))

    def test_log_of_github(self):
        _, said = rooflint("render", "--github", self.report)
        commands = [line for line in said.decode().splitlines() if line.startswith("::")]
        self.assertGreater(len(commands), 1)
        for line in commands:
            self.assertRegex(line, "^::(error|warning|notice) [^<>]*::")


if __name__ == "__main__":
    unittest.main()
