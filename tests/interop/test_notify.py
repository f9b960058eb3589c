"""Messages that arrive: rooflint and rooflint-http against a real HTTPS server on this machine.

Signatures are verified by the standardwebhooks package, where PyPI can be reached, and by Python's
hmac everywhere.
"""

import base64
import glob
import hashlib
import hmac
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import make_fleet  # noqa: E402
import packages  # noqa: E402
import server as https  # noqa: E402

TOP = packages.TOP
ROOFLINT = os.environ.get("ROOFLINT", os.path.join(TOP, "build", "rooflint"))
HTTP = os.path.join(os.path.dirname(ROOFLINT), "rooflint-http")
DEMO = os.path.join(TOP, "tests", "profiles", "demo")

PATH = "/services/T0SECRET/B0SECRET"
KEY = base64.b64encode(bytes(range(32))).decode()
OLD_KEY = base64.b64encode(bytes(range(1, 33))).decode()
SECRETS = ["T0SECRET", KEY, OLD_KEY]
KINDS = ["slack", "google-chat", "teams", "discord", "mattermost", "webhook"]
TRAP = "</script><img src=x onerror=alert(1)>"


class Notify(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.keys = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.keys)
        cls.authority = https.make_authority(cls.keys)
        if not cls.authority:
            raise unittest.SkipTest("needs the openssl program")
        if not os.access(HTTP, os.X_OK):
            raise unittest.SkipTest("needs " + HTTP)
        cls.report = os.path.join(cls.keys, "report.json")
        subprocess.run([ROOFLINT, "check", "-q", "--json", cls.report, DEMO], check=False,
                       capture_output=True, cwd=cls.keys)

    def setUp(self):
        self.box = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.box)
        self.spool = os.path.join(self.box, "spool")
        self.server = https.Server(self.keys)
        self.addCleanup(self.server.close)
        self.env = {
            "PATH": "/nonexistent",
            "HOME": self.box,
            "CURL_CA_BUNDLE": self.authority,
            "ROOFLINT_URL": f" https://127.0.0.1:{self.server.port}{PATH}\n",  # as pasted
            "ROOFLINT_KEY": "whsec_" + KEY,
        }
        for name in ("ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS"):
            if name in os.environ:
                self.env[name] = os.environ[name]

    def run_rooflint(self, *args, status=0):
        """Runs it, and looks for secrets in all that it left behind."""
        done = subprocess.run([ROOFLINT, *args], env=self.env, cwd=self.box, text=True,
                              capture_output=True, timeout=600, check=False)
        said = done.stdout + done.stderr
        for name in glob.glob(self.box + "/**", recursive=True):
            if os.path.isfile(name):
                self.assertLess(os.path.getsize(name), 1 << 20, name)  # a core
                with open(name, encoding="utf-8", errors="replace") as f:
                    said += f.read()
        for secret in SECRETS:
            self.assertNotIn(secret, said)
        self.assertNotIn("....T0", said)
        self.assertEqual(done.returncode, status, said)
        return done.stderr

    def tell(self, *args, status=0, to="webhook:ROOFLINT_URL:ROOFLINT_KEY"):
        return self.run_rooflint("notify", self.report, "--to", to, "--spool", self.spool, *args,
                                 status=status)

    def resend(self, status=0):
        return self.run_rooflint("notify", "--spool", self.spool, status=status)

    def waiting(self):
        return len(glob.glob(self.spool + "/*.json"))

    # ---- signatures ----------------------------------------------------------------------------

    def check_signature(self, headers, body, key):
        signed = b".".join([headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(),
                            body])
        mac = hmac.new(base64.b64decode(key), signed, hashlib.sha256).digest()
        self.assertIn("v1," + base64.b64encode(mac).decode(),
                      headers["webhook-signature"].split(" "))

    def test_signature(self):
        self.tell()
        path, headers, body = self.server.requests[0]
        self.assertEqual(path, PATH)
        self.assertEqual(headers["content-type"], "application/json")
        self.check_signature(headers, body, KEY)
        hub = hmac.new(("whsec_" + KEY).encode(), body, hashlib.sha256).hexdigest()
        self.assertEqual(headers["x-hub-signature-256"], "sha256=" + hub)
        self.assertLess(abs(int(headers["webhook-timestamp"]) - time.time()), 60)
        event = json.loads(body)
        self.assertEqual(event["type"], "rooflint.report")
        self.assertEqual(event["data"]["verdict"], "fail")
        self.assertEqual(event["data"]["items"][0]["rule"], "exposed-communication")

    def test_signature_by_standardwebhooks(self):
        packages.need("standardwebhooks")
        self.env["ROOFLINT_KEY"] = f"whsec_{KEY} whsec_{OLD_KEY}"
        self.tell()
        _, headers, body = self.server.requests[0]
        verify = ("import json, sys; from standardwebhooks.webhooks import Webhook\n"
                  "key, headers, body = json.load(sys.stdin)\n"
                  "print(Webhook(key).verify(body, headers)['type'])")
        for key, body_seen, good in [(KEY, body, True), (OLD_KEY, body, True),
                                     (KEY, body + b" ", False)]:
            done = subprocess.run(
                [packages.PYTHON, "-c", verify], text=True, capture_output=True, check=False,
                input=json.dumps(["whsec_" + key, {k.lower(): v for k, v in headers.items()},
                                  body_seen.decode()]))
            self.assertEqual(done.stdout.strip(), "rooflint.report" if good else "", done.stderr)

    def test_bad_key(self):
        self.env["ROOFLINT_KEY"] = "whsec_T0SECRET"
        self.assertIn("a signing key is", self.tell(status=5))
        self.assertEqual(self.server.requests, [])

    # ---- a fleet -------------------------------------------------------------------------------

    def audit(self, *args, status=0):
        return self.run_rooflint("audit", DEMO, "--spool", self.spool, "--notify",
                                 "webhook:ROOFLINT_URL:ROOFLINT_KEY", *args, status=status)

    def test_audit(self):
        self.assertIn("webhook: delivered", self.audit("--report-url", "https://ci.example/week"))
        _, headers, body = self.server.requests[0]
        self.check_signature(headers, body, KEY)
        event = json.loads(body)
        self.assertEqual(event["type"], "rooflint.fleet")
        self.assertEqual((event["data"]["runs"], event["data"]["judged_runs"]), (1, 1))
        self.assertGreater(event["data"]["chips_back"], 0)
        self.assertIn("oversized-all-gather", [item["rule"] for item in event["data"]["items"]])
        self.assertEqual(event["data"]["report_url"], "https://ci.example/week")

    def test_owners(self):
        """Each of two owners is told of their workloads alone, and has a page; sums are the fleet's."""
        make_fleet.COLUMNS = make_fleet.columns(os.path.join(TOP, "docs", "facts.md"))
        with open(os.path.join(self.box, "f.ndjson"), "w", encoding="utf-8") as file:
            for _, runs in make_fleet.fleet(20, 3, 3, 5):
                for line in (line for run in runs[-5:] for line in run):
                    known = {name: value for name, value in line.items() if value is not None}
                    file.write(json.dumps(known) + "\n")
        with open(os.path.join(self.box, "u.csv"), "w", encoding="utf-8") as file:
            file.write("workload,chip_hours,price\n")
            file.writelines(f"{w['name']},{10 * w['chips']},2\n"
                            for w, _ in make_fleet.fleet(20, 3, 3, 5))
        self.env["ROOFLINT_VISION"] = self.env["ROOFLINT_SPEECH"] = self.env["ROOFLINT_URL"]
        with open(os.path.join(self.box, "fleet.yaml"), "w", encoding="utf-8") as file:
            file.write("version: 1\nroutes:\n"
                       "  - { owner: vision, notify: 'webhook:ROOFLINT_VISION:ROOFLINT_KEY' }\n"
                       "  - { owner: speech, notify: 'webhook:ROOFLINT_SPEECH:ROOFLINT_KEY' }\n")
        self.run_rooflint("audit", "--merge", "f.ndjson", "--usage", "u.csv", "--spool", self.spool,
                          "--fleet", "fleet.yaml", "--html", "weekly.html", "--json", "weekly.json",
                          "--owner-pages", "--report-url", "https://ci.example/w/weekly.html")
        with open(os.path.join(self.box, "weekly.json"), encoding="utf-8") as file:
            report = json.load(file)
        rows = {row["group"]: row for row in report["by-owner"]}
        owners = {row["workload"]: row["owner"] for row in report["ranking"]}
        self.assertEqual(len(self.server.requests), 2)
        for _, headers, body in self.server.requests:
            self.check_signature(headers, body, KEY)
            data = json.loads(body)["data"]
            owner = "vision" if "vision" in data["title"] else "speech"
            for name in ("chips_back", "dollars_back", "chips", "workloads", "share"):
                self.assertAlmostEqual(data[name], rows[owner][name], places=9)
            wasted = [item for item in data["items"] if item["state"] == "waste"]
            self.assertEqual(len(wasted), 3)
            for item in wasted:
                self.assertEqual(owners[item["workload"]], owner)
                row, = [r for r in report["ranking"] if r["workload"] == item["workload"]]
                self.assertEqual(item["dollars"], row["dollars_back"])
            page = f"weekly-{owner}.html"
            self.assertEqual(data["report_url"], "https://ci.example/w/" + page)
            with open(os.path.join(self.box, page), encoding="utf-8") as file:
                text = file.read()
            for workload, of in owners.items():
                self.assertEqual(workload in text, of == owner)
            with open(os.path.join(self.box, "weekly.html"), encoding="utf-8") as file:
                self.assertIn(f'href="./{page}"', file.read())
        self.assertEqual(len(glob.glob(self.box + "/weekly-*.html")), 5)

    def test_audit_waits(self):
        """A week that could not be told is told later; it changes the status only when required."""
        self.server.answers = [(400, {}, b""), (200, {}, b"")]
        self.assertIn("it waits in", self.audit())
        self.assertEqual(self.waiting(), 1)
        self.resend()
        first, second = self.server.requests
        self.assertEqual(first[2], second[2])
        self.server.answers = [(400, {}, b"")]
        with open(os.path.join(self.box, "rules.yaml"), "w", encoding="ascii") as f:
            f.write("version: 1\nextends: recommended\nnotifications:\n  events:\n"
                    "    {kind: webhook, url_from: ROOFLINT_URL, required: true}\n")
        self.run_rooflint("audit", DEMO, "--spool", self.spool, "--rules", "rules.yaml", "--notify",
                          "events", status=5)

    # ---- retries -------------------------------------------------------------------------------

    def test_retry_after(self):
        self.server.answers = [(429, {"retry-after": "2"}, b"slow"), (200, {}, b"ok")]
        start = time.monotonic()
        self.tell()
        self.assertGreaterEqual(time.monotonic() - start, 2)
        first, second = self.server.requests
        self.assertEqual(first[1]["webhook-id"], second[1]["webhook-id"])
        self.assertEqual(first[2], second[2])
        self.assertGreater(second[1]["webhook-timestamp"], first[1]["webhook-timestamp"])
        self.check_signature(second[1], second[2], KEY)

    def test_retry_after_too_long(self):
        self.server.answers = [(503, {"retry-after": "3600"}, b"")]
        start = time.monotonic()
        self.assertIn("answered 503", self.tell(status=5))
        self.assertLess(time.monotonic() - start, 20)
        self.assertEqual((len(self.server.requests), self.waiting()), (1, 1))

    def test_server_error(self):
        self.server.answers = [(500, {}, b""), (502, {}, b""), (200, {}, b"")]
        self.assertIn("webhook: delivered", self.tell())
        self.assertEqual(len(self.server.requests), 3)
        self.assertEqual(self.waiting(), 0)

    # ---- refusals ------------------------------------------------------------------------------

    def test_redirect(self):
        self.server.answers = [(302, {"location": "/elsewhere"}, b"")]
        self.assertIn("redirects, which is not followed", self.tell(status=5))
        self.assertEqual([path for path, _, _ in self.server.requests], [PATH])
        self.assertEqual(self.waiting(), 1)

    def test_gone(self):
        self.server.answers = [(410, {}, b"")]
        self.assertIn("wants no more", self.tell(status=5))
        self.assertEqual((len(self.server.requests), self.waiting()), (1, 0))

    def test_client_error(self):
        self.server.answers = [(400, {}, b"invalid_blocks")]
        self.assertIn('answered 400: "invalid_blocks"', self.tell(status=5))
        self.assertEqual(len(self.server.requests), 1)

    def test_unknown_authority(self):
        del self.env["CURL_CA_BUNDLE"]
        self.assertIn("certificate could not be verified", self.tell(status=5))
        self.assertEqual(self.server.requests, [])

    def test_another_name(self):
        """The authority is known, and the certificate is for somebody else."""
        other = https.Server(self.keys, "127.0.0.3")
        self.addCleanup(other.close)
        self.env["ROOFLINT_HTTP_ALLOW"] = "127.0.0.3"
        self.env["ROOFLINT_URL"] = f"https://127.0.0.3:{other.port}{PATH}"
        self.assertIn("certificate could not be verified", self.tell(status=5))
        self.assertEqual(other.requests, [])

    def test_private_address(self):
        other = https.Server(self.keys, "127.0.0.2")
        self.addCleanup(other.close)
        self.env["ROOFLINT_URL"] = f"https://127.0.0.2:{other.port}{PATH}"
        self.assertIn("private network", self.tell(status=5))
        self.assertEqual(other.requests, [])
        self.env["ROOFLINT_HTTP_ALLOW"] = "chat.example,127.0.0.2"
        self.tell()
        self.assertEqual(len(other.requests), 1)

    def test_no_tls(self):
        self.env["ROOFLINT_URL"] = f"http://127.0.0.2:1{PATH}"
        self.assertIn("without TLS", self.tell(status=5))

    def test_unset(self):
        del self.env["ROOFLINT_URL"]
        self.assertIn("$ROOFLINT_URL is not set", self.tell(status=5))

    # ---- the spool -----------------------------------------------------------------------------

    def test_spool(self):
        port = self.server.port
        self.server.close()
        message = self.tell(status=5)
        self.assertIn("(5 attempts)", message)
        self.assertIn("it waits in", message)
        self.assertEqual(self.waiting(), 1)
        # It comes back, at another place, and is told once.
        again = https.Server(self.keys)
        self.addCleanup(again.close)
        self.assertNotEqual(again.port, port)
        self.env["ROOFLINT_URL"] = f"https://127.0.0.1:{again.port}{PATH}"
        self.assertIn("webhook: delivered", self.resend())
        self.assertIn("no message waits", self.resend())
        self.assertEqual(len(again.requests), 1)
        self.check_signature(again.requests[0][1], again.requests[0][2], KEY)
        self.server = again

    def test_spool_keeps_what_fails(self):
        self.server.answers = [(400, {}, b"")]
        self.tell(status=5)
        self.tell("--when", "always", status=5)
        self.server.answers = [(400, {}, b""), (200, {}, b"")]
        self.resend(status=5)
        self.assertEqual(self.waiting(), 1)
        self.resend()
        self.assertEqual(self.waiting(), 0)
        ids = [headers["webhook-id"] for _, headers, _ in self.server.requests]
        self.assertEqual(len(set(ids)), 2)
        self.assertEqual(sorted(ids.count(i) for i in set(ids)), [2, 3])

    def test_dead_server_is_asked_once(self):
        self.server.answers = [(400, {}, b"")]
        for _ in range(3):
            self.tell(status=5)
        self.server.requests.clear()
        self.server.answers = [(503, {"retry-after": "900"}, b"")]
        self.assertEqual(self.resend(status=5).count("not delivered"), 3)
        self.assertEqual((len(self.server.requests), self.waiting()), (1, 3))

    def test_several_at_once(self):
        self.server.answers = [(400, {}, b"")]
        for _ in range(3):
            self.tell(status=5)
        self.server.requests.clear()
        self.server.answers = [lambda r: time.sleep(0.3) or (200, {}, b"")]
        jobs = [subprocess.Popen([ROOFLINT, "notify", "-q", "--spool", self.spool], env=self.env,
                                 cwd=self.box) for _ in range(5)]
        self.assertEqual([job.wait(60) for job in jobs], [0] * 5)
        ids = [headers["webhook-id"] for _, headers, _ in self.server.requests]
        self.assertEqual((len(ids), len(set(ids)), self.waiting()), (3, 3, 0))

    def test_spool_is_private(self):
        self.server.answers = [(400, {}, b"")]
        self.tell(status=5)
        self.assertEqual(os.stat(self.spool).st_mode & 0o777, 0o700)

    # ---- secrets -------------------------------------------------------------------------------

    def test_answer_with_secret(self):
        self.server.answers = [(400, {}, b"no such hook: " + PATH.encode())]
        self.tell(status=5)
        self.server.answers = [(400, {}, b"bad key " + KEY.encode())]
        self.tell(status=5)
        self.server.answers = [(400, {}, b"." * 195 + b"T0SECRET" + PATH.encode())]
        self.tell(status=5)

    @staticmethod
    def is_ours(pid):
        """Other tests of this machine may be sending, too."""
        while pid not in ("0", "1", str(os.getpid())):
            try:
                with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
                    pid = f.read().rsplit(")", 1)[1].split()[1]
            except (OSError, IndexError):
                return False
        return pid == str(os.getpid())

    def processes(self):
        """Of each of ours that runs: its name, its number, its command line, its core limits."""
        for folder in glob.glob("/proc/[0-9]*"):
            try:
                with open(folder + "/cmdline", "rb") as f:
                    words = f.read()
                with open(folder + "/limits", encoding="ascii") as f:
                    core = [line for line in f if line.startswith("Max core")][0].split()[4:6]
            except (OSError, IndexError):
                continue
            name = os.path.basename(words.split(b"\0")[0].decode(errors="replace"))
            pid = os.path.basename(folder)
            if name in ("rooflint", "rooflint-http") and self.is_ours(pid):
                yield name, int(pid), words, core

    def need_cores(self):
        if not os.path.isdir("/proc/self"):
            self.skipTest("needs /proc")
        if resource.getrlimit(resource.RLIMIT_CORE)[1] == 0:
            self.skipTest("core files are off on this machine already")

    def test_processes(self):
        """While a message is on its way: no secret in an argument, no process that leaves a core."""
        seen = {}

        def look(_):
            for name, _, words, core in self.processes():
                seen.setdefault(name, []).append((words, core))
            return 200, {}, b""

        self.need_cores()
        self.server.answers = [look]
        self.tell()
        self.assertEqual(sorted(seen), ["rooflint", "rooflint-http"])
        # rooflint-http takes care of itself, whoever starts it.
        unlimited = resource.getrlimit(resource.RLIMIT_CORE)[1]
        resource.setrlimit(resource.RLIMIT_CORE, (unlimited, unlimited))
        self.ask({"id": 1, "method": "POST", "url_from": "ROOFLINT_URL"})
        self.assertEqual(len(seen["rooflint-http"]), 2)
        for words, core in sum(seen.values(), []):
            self.assertEqual(core, ["0", "0"])
            for secret in SECRETS:
                self.assertNotIn(secret.encode(), words)

    def test_crash(self):
        """Whichever dies on the way leaves no core, and the message is not lost."""
        self.need_cores()
        with open("/proc/sys/kernel/core_pattern", encoding="utf-8") as f:
            if "/" in f.read():
                self.skipTest("core files go elsewhere on this machine")
        unlimited = resource.getrlimit(resource.RLIMIT_CORE)[1]
        resource.setrlimit(resource.RLIMIT_CORE, (unlimited, unlimited))

        def crash(_):
            for name, pid, _, _ in self.processes():
                if name == "rooflint-http":
                    os.kill(pid, signal.SIGSEGV)
            return 200, {}, b""

        self.server.answers = [crash, (200, {}, b"")]
        self.tell(status=5)  # looks for secrets in all that is there now
        self.assertEqual(glob.glob(self.box + "/**/core*", recursive=True), [])
        self.assertEqual(self.waiting(), 1)
        self.resend()
        ids = {headers["webhook-id"] for _, headers, _ in self.server.requests}
        self.assertEqual((len(self.server.requests), len(ids)), (2, 1))

    # ---- check ---------------------------------------------------------------------------------

    def check(self, *args, status, required=False):
        rules = os.path.join(self.box, "rules.yaml")
        with open(rules, "w", encoding="utf-8") as f:
            f.write("version: 1\nextends: recommended\nnotifications:\n  team:\n    kind: slack\n"
                    f"    url_from: ROOFLINT_URL\n    required: {str(required).lower()}\n")
        return self.run_rooflint("check", DEMO, "--rules", rules, "--notify", "team", "--spool",
                                 self.spool, *args, status=status)

    def test_check(self):
        self.assertIn("team: delivered", self.check(status=1))
        self.assertEqual(len(self.server.requests), 1)
        self.assertIn("FAIL rooflint", json.loads(self.server.bodies()[0])["text"])

    def test_check_required(self):
        self.server.answers = [(400, {}, b"")]
        self.assertIn("warning RL503: team", self.check("--fail-on", "never", status=0))
        self.assertIn("error RL503: team",
                      self.check("--fail-on", "never", status=5, required=True))
        self.check(status=1, required=True)

    def test_check_previous(self):
        self.assertIn("nothing new, not sent", self.check("--previous", self.report, status=1))
        self.assertIn("delivered", self.check("--previous", self.report, "--notify-when",
                                              "always", status=1))
        self.assertIn("delivered", self.check(status=1))
        texts = [json.loads(body)["text"] for body in self.server.bodies()]
        self.assertIn("still failing", texts[0])
        self.assertIn("new failure", texts[1])

    def test_every_kind_keeps_text_text(self):
        with open(self.report, encoding="utf-8") as f:
            report = json.load(f)
        for finding in report["reports"][0]["findings"]:
            finding["name"] = finding["message"] = TRAP
        hostile = os.path.join(self.box, "hostile.json")
        with open(hostile, "w", encoding="utf-8") as f:
            json.dump(report, f)
        for kind in KINDS:
            self.run_rooflint("notify", hostile, "--to", kind + ":ROOFLINT_URL", "--spool",
                              self.spool)
        for kind, body in zip(KINDS, self.server.bodies()):
            text = json.dumps(json.loads(body))
            plain = kind in ("teams", "webhook")  # text by its place in the message
            self.assertEqual("<img" in text.replace("\\\\<img", ""), plain, kind)
            self.assertIn("onerror=alert(1)", text)

    # ---- rooflint-http alone -------------------------------------------------------------------

    def ask(self, *requests):
        frames = b"".join(json.dumps(dict(r, length=2)).encode() + b"\n{}" for r in requests)
        done = subprocess.run([HTTP], input=frames, env=self.env, capture_output=True,
                              timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        answers, rest = [], done.stdout
        while rest:
            line, rest = rest.split(b"\n", 1)
            head = json.loads(line)
            answers.append((head, rest[:head["length"]]))
            rest = rest[head["length"]:]
        return answers

    def test_frames(self):
        request = {"id": 1, "method": "POST", "url_from": "ROOFLINT_URL"}
        self.server.answers = [(200, {}, b"x" * 1000)]
        (one, body), (two, _), (three, short) = self.ask(
            request, dict(request, id=2, url="https://evil.example"),
            dict(request, id=3, answer_bytes=10))
        self.assertEqual((one["id"], one["outcome"], one["status"], len(body)),
                         (1, "delivered", 200, 1000))
        self.assertEqual((two["id"], two["outcome"]), (2, "refused"))
        self.assertIn("needs 'url' or 'url_from'", two["error"])
        self.assertEqual((three["id"], short), (3, b"x" * 10))

    def test_timeout(self):
        self.server.answers = [lambda r: time.sleep(3) or (200, {}, b"")]
        start = time.monotonic()
        (answer, _), = self.ask({"id": 1, "method": "POST", "url_from": "ROOFLINT_URL",
                                 "timeout_s": 0.3, "attempts": 2})
        self.assertEqual((answer["outcome"], answer["attempts"]), ("later", 2))
        self.assertLess(time.monotonic() - start, 3)

    def test_bodies_without_end(self):
        """With its status a message has arrived: it is not sent again, whatever comes behind."""
        def much(to):
            for _ in range(1 << 14):
                to.write(b"x" * (64 << 10))

        def slow(to):
            for _ in range(80):
                to.write(b"x")
                to.flush()
                time.sleep(0.1)

        request = {"id": 1, "method": "POST", "url_from": "ROOFLINT_URL", "timeout_s": 1}
        for body in (much, slow):
            for status, outcome, times in ((200, "delivered", 1), (404, "refused", 1),
                                           (503, "later", 2)):
                self.server.requests.clear()
                self.server.answers = [(status, {}, body)]
                start = time.monotonic()
                (answer, _), = self.ask(dict(request, attempts=2))
                self.assertEqual((answer["outcome"], answer["status"]), (outcome, status))
                self.assertEqual(len(self.server.requests), times)
                self.assertLess(time.monotonic() - start, 6)

    def test_the_deadline_is_of_all_attempts(self):
        self.server.answers = [lambda r: time.sleep(8) or (200, {}, b"")]
        start = time.monotonic()
        (answer, _), = self.ask({"id": 1, "method": "POST", "url_from": "ROOFLINT_URL",
                                 "timeout_s": 6, "deadline_s": 1})
        self.assertEqual(answer["outcome"], "later")
        self.assertLess(time.monotonic() - start, 4)

    def test_proxy(self):
        """A proxy is asked, as with curl; it sees where to, and nothing more."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        listener.settimeout(20)
        self.env["https_proxy"] = f"http://127.0.0.1:{listener.getsockname()[1]}"
        self.env["ROOFLINT_URL"] = f"https://hooks.example{PATH}"
        job = subprocess.Popen([HTTP], env=self.env, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
        job.stdin.write(b'{"id":1,"method":"POST","url_from":"ROOFLINT_URL","attempts":1}\n')
        job.stdin.close()
        peer, _ = listener.accept()
        asked = peer.recv(4096)
        peer.sendall(b"HTTP/1.1 403 Forbidden\r\n\r\n")
        peer.close()
        job.wait(20)
        job.stdout.close()
        self.assertTrue(asked.startswith(b"CONNECT hooks.example:443 "), asked)
        self.assertNotIn(b"T0SECRET", asked)

    def test_no_proxy(self):
        """A host that no_proxy names is asked itself."""
        self.env["https_proxy"] = "http://127.0.0.1:9"
        self.assertIn("not delivered", self.tell(status=5))
        self.env["no_proxy"] = "chat.example,127.0.0.1"
        self.assertIn("webhook: delivered", self.tell())
        self.assertEqual(len(self.server.requests), 1)

    def test_no_proxy_and_a_private_address(self):
        """What a proxy is not asked for may not lead into a private network."""
        self.env["https_proxy"] = "http://127.0.0.1:9"
        self.env["no_proxy"] = "10.0.0.0/8,.chat.example,private.example"
        self.env["ROOFLINT_URL"] = "https://127.0.0.2:1/x"
        job = subprocess.run([HTTP], env=self.env, capture_output=True, timeout=20, check=False,
                             input=b'{"id":1,"method":"POST","url_from":"ROOFLINT_URL","attempts":1}\n')
        self.assertIn(b"private network", job.stdout)


if __name__ == "__main__":
    unittest.main()
