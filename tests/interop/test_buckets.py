"""Profiles in buckets: against a server of our own that checks signatures and misbehaves, and
against moto and a Google Cloud Storage emulator where a virtual environment has them."""

import base64
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import clouds  # noqa: E402
from together import load_tests  # noqa: E402, F401

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
ROOFLINT = os.environ.get("ROOFLINT", os.path.join(TOP, "build", "rooflint"))
HTTP = os.path.join(os.path.dirname(ROOFLINT), "rooflint-http")
RUN = os.path.join(TOP, "tests", "profiles", "demo", "plugins", "profile", "2026_03_14_09_26_53")
BEARER = "ya29.bearer-of-the-tests"
SECRETS = [clouds.SECRET, BEARER, "session-of-the-tests", "token-of-the-tests", "PRIVATE KEY",
           "password-of-the-tests"]
VENV = os.environ.get("ROOFLINT_TEST_VENV") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "rooflint-test-venv")


def demo():
    """The files of a run, by name."""
    found = {}
    for path in glob.glob(RUN + "/*.xplane.pb"):
        with open(path, "rb") as f:
            found[os.path.basename(path)] = f.read()
    return found


class Place(unittest.TestCase):
    """A folder with a cache and a clean environment, and a look for secrets after each run."""

    def setUp(self):
        if not os.access(HTTP, os.X_OK):
            self.skipTest("needs " + HTTP)
        self.box = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.box)
        self.cache = os.path.join(self.box, "cache")
        self.env = {"PATH": "/nonexistent", "HOME": self.box, "ROOFLINT_CACHE": self.cache,
                    "AWS_EC2_METADATA_DISABLED": "true", "NO_GCE_CHECK": "true"}
        for name in ("ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS"):
            if name in os.environ:
                self.env[name] = os.environ[name]

    def rooflint(self, *args, status=None, program=ROOFLINT):
        done = subprocess.run([program, *args], env=self.env, cwd=self.box, text=True,
                              capture_output=True, timeout=600, check=False)
        said = done.stdout + done.stderr
        for secret in SECRETS:
            self.assertNotIn(secret, said)
        if status is not None:
            self.assertEqual(done.returncode, status, said)
        return said

    def judge(self, *paths, status=1):
        """The demo's verdict is that a rule failed."""
        return self.rooflint("check", "-q", *paths, status=status)

    def refused(self, path, *parts):
        """One line, of the path, with all parts; nothing but whole objects stays in the cache."""
        said = self.judge(path, status=3)
        lines = [line for line in said.splitlines() if line.startswith("rooflint: error RL")]
        self.assertEqual(len(lines), 1, said)
        for part in (path, *parts):
            self.assertIn(part, " ".join(said.split()))
        self.assertEqual(self.kept(), [])
        return said

    def kept(self):
        names = os.listdir(self.cache) if os.path.isdir(self.cache) else []
        return sorted(n for n in names if not n.endswith(".sum"))

    def write(self, name, text):
        path = os.path.join(self.box, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path


class Served(Place):
    """A server of our own with a fleet's log, and keys for it in the environment."""

    def setUp(self):
        super().setUp()
        self.server = clouds.Server()
        self.addCleanup(self.server.close)
        run = {"log/plugins/profile/2026_03_14_09_26_53/" + k: v for k, v in demo().items()}
        self.server.objects["runs"] = {
            **run,
            "log/plugins/profile/2026_03_13_00_00_00/worker-0.xplane.pb": b"an older run",
            "log/plugins/profile/2026_03_14_09_26_53/worker-0.op_stats.pb": b"a result of XProf",
            "log/checkpoints/1/data": b"x" * 5000,
            "log/": b"",
        }
        self.env["ROOFLINT_S3_ENDPOINT"] = self.server.url
        self.sign_in()

    def sign_in(self):
        self.env["AWS_ACCESS_KEY_ID"] = clouds.KEY
        self.env["AWS_SECRET_ACCESS_KEY"] = clouds.SECRET

    def sign_out(self):
        del self.env["AWS_ACCESS_KEY_ID"], self.env["AWS_SECRET_ACCESS_KEY"]


class Own(Served):
    # ---- what goes well ------------------------------------------------------------------------

    def test_newest_run_alone(self):
        self.assertIn("s3://runs/log", self.judge("s3://runs/log/"))
        self.assertEqual(sorted(self.server.fetched), [
            "log/plugins/profile/2026_03_14_09_26_53/worker-0.xplane.pb",
            "log/plugins/profile/2026_03_14_09_26_53/worker-1.xplane.pb"])
        self.assertEqual(len(self.kept()), 2)
        self.judge("s3://runs/log")
        self.assertEqual(len(self.server.fetched), 2)  # the second time from the cache

    def test_same_as_local(self):
        local = self.rooflint("query", RUN, "SELECT name, time_s FROM families")
        self.assertEqual(self.rooflint("query", "s3://runs/log",
                                       "SELECT name, time_s FROM families"), local)

    def test_written_anew(self):
        self.judge("s3://runs/log")
        name = "log/plugins/profile/2026_03_14_09_26_53/worker-0.xplane.pb"
        self.server.objects["runs"][name] += b"\x1a\x00"  # another etag, and an empty host name
        self.rooflint("check", "-q", "s3://runs/log")
        self.assertEqual(self.server.fetched.count(name), 2)

    def test_one_object_and_its_job_file(self):
        where = "log/plugins/profile/2026_03_14_09_26_53/"
        self.server.objects["runs"]["log/rooflint.job.yaml"] = \
            b"version: 1\ncommit: 0123456789abcdef\n"
        for path in ("s3://runs/" + where + "worker-0.xplane.pb", "s3://runs/" + where,
                     "s3://runs/log"):
            said = self.rooflint("check", "-q", "--expect-commit", "fedcba9876", path, status=3)
            self.assertIn("0123456789abcdef", said)

    def test_many_pages_names_and_workers(self):
        objects = self.server.objects["runs"]
        for i in range(5):
            for name, body in demo().items():
                objects[f"fleet/job {i}+ü&/plugins/profile/2026_03_14_09_26_53/{name}"] = body
        self.server.page = 3
        said = self.rooflint("facts", "-j", "2", "s3://runs/fleet", status=0)
        runs = [r for r in map(json.loads, said.splitlines()) if r["record"] == "run"]
        self.assertEqual(len({r["profile"] for r in runs}), 5)
        self.assertTrue(any("job 3+ü&" in r["profile"] for r in runs))
        out = os.path.join(self.box, "audit.json")
        self.rooflint("audit", "--json", out, "s3://runs/fleet", status=0)

    def test_session_and_region(self):
        self.server.token = self.env["AWS_SESSION_TOKEN"] = "session-of-the-tests"
        self.server.region = "eu-north-1"
        self.judge("s3://runs/log")
        self.assertEqual(len(self.server.fetched), 2)

    def test_profile_file(self):
        self.sign_out()
        self.write(".aws/credentials", "# mine\n[other]\naws_access_key_id=no\n\n[team]\n"
                   f"aws_access_key_id = {clouds.KEY}\n"
                   f"aws_secret_access_key = {clouds.SECRET}\n")
        self.write(".aws/config", "[profile team]\nregion = eu-west-9\n")
        self.env["AWS_PROFILE"] = "team"
        self.server.region = "eu-west-9"
        self.judge("s3://runs/log")
        self.assertIn("/eu-west-9/s3/", self.server.asked[0][2]["authorization"])

    def test_metadata_server(self):
        self.sign_out()
        del self.env["AWS_EC2_METADATA_DISABLED"]
        self.env["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = self.server.url
        roles = "/latest/meta-data/iam/security-credentials/"

        def with_token(body):
            def answer(h):
                good = h.headers.get("x-aws-ec2-metadata-token") == "imds"
                h.reply(200 if good else 401, body if good else b"")
            return answer
        self.server.other = {
            "/latest/api/token": lambda h: h.reply(200 if h.command == "PUT" else 405, b"imds"),
            roles: with_token(b"builder\n"),
            roles + "builder": with_token(json.dumps({
                "AccessKeyId": clouds.KEY, "SecretAccessKey": clouds.SECRET,
                "Token": "session-of-the-tests"}).encode())}
        self.server.token = "session-of-the-tests"
        self.judge("s3://runs/log")

    def test_public(self):
        self.sign_out()
        self.server.public = True
        self.judge("s3://runs/log")

    def test_second_attempt(self):
        troubles = [lambda h, _: (h.refuse(503, "SlowDown"), True)[1], self.cut]
        self.server.trouble = lambda h, body: bool(troubles) and troubles.pop()(h, body)
        self.judge("s3://runs/log")
        self.assertEqual(len(self.server.fetched), 4)

    # ---- what is refused -----------------------------------------------------------------------

    def test_wrong_secret(self):
        self.env["AWS_SECRET_ACCESS_KEY"] = "another"
        self.refused("s3://runs/log", "403 SignatureDoesNotMatch", "$AWS_ACCESS_KEY_ID",
                     "the secret key does not belong to the access key")

    def test_unknown_key(self):
        self.env["AWS_ACCESS_KEY_ID"] = "AKIANOBODY"
        self.refused("s3://runs/log", "InvalidAccessKeyId", "not known there")

    def test_no_credentials(self):
        self.sign_out()
        self.refused("s3://runs/log", "the bucket is not public, and no credentials were found",
                     "$AWS_ACCESS_KEY_ID")

    def test_half_credentials(self):
        del self.env["AWS_SECRET_ACCESS_KEY"]
        self.refused("s3://runs/log", "is set without the other")
        self.assertEqual(self.server.asked, [])

    def test_nothing_there(self):
        self.refused("s3://nobody/log", "404 NoSuchBucket", "is its name right?")
        self.refused("s3://runs/lo", "nothing there", "did you mean 's3://runs/log/'?")
        self.refused("s3://x/log", "no bucket's name")

    def test_no_profile(self):
        self.refused("s3://runs/log/checkpoints", "no profile")

    # ---- servers that fail ---------------------------------------------------------------------

    @staticmethod
    def begin(h, body, count):
        """An answer that promises the body, and has its first bytes."""
        h.send_response(200)
        h.send_header("content-length", str(len(body)))
        h.end_headers()
        h.wfile.write(body[:count])
        h.wfile.flush()

    def cut(self, h, body):
        self.begin(h, body, len(body) // 2)
        h.close_connection = True
        return True

    def stall(self, seconds):
        return lambda h, body: (self.begin(h, body, 5000), time.sleep(seconds), True)[2]

    def test_truncated(self):
        self.server.trouble = self.cut
        self.refused("s3://runs/log/plugins/profile/2026_03_14_09_26_53/worker-0.xplane.pb",
                     "the connection ended before all bytes had come (3 attempts; try again later)")

    def test_short(self):
        self.server.trouble = lambda h, body: (h.reply(200, body[:1000]), True)[1]
        self.refused("s3://runs/log/plugins/profile/2026_03_14_09_26_53/worker-0.xplane.pb",
                     "only 1000 of 120236 bytes came")

    def test_flipped(self):
        def flip(h, body):
            import hashlib
            etag = '"' + hashlib.md5(body).hexdigest() + '"'
            h.reply(200, body[:-1] + bytes([body[-1] ^ 1]), [("etag", etag)])
            return True
        self.server.trouble = flip
        self.refused("s3://runs/log/plugins/profile/2026_03_14_09_26_53/worker-0.xplane.pb",
                     "checksum is not the one that the server gives")

    def test_silent(self):
        self.server.trouble = self.stall(60)
        self.env["ROOFLINT_HTTP_STALL"] = "1s"
        begun = time.time()
        self.refused("s3://runs/log/plugins/profile/2026_03_14_09_26_53/worker-0.xplane.pb",
                     "the server went silent: hardly a byte came for 1 s")
        self.assertLess(time.time() - begun, 40)

    def test_silent_from_the_start(self):
        self.server.s3 = lambda *args: time.sleep(60)
        self.env["ROOFLINT_HTTP_STALL"] = "1s"
        self.refused("s3://runs/log", "the server gave no answer in time")

    def test_nobody_listens(self):
        self.env["ROOFLINT_S3_ENDPOINT"] = "http://127.0.0.1:1"
        self.refused("s3://runs/log", "connect")

    def test_others_are_judged(self):
        self.server.trouble = self.cut
        said = self.judge(RUN, "s3://runs/log", status=1)
        self.assertIn("FAIL", said)
        self.assertIn("the connection ended", said)

    def test_interrupted(self):
        self.server.trouble = self.stall(20)
        with subprocess.Popen([ROOFLINT, "check", "s3://runs/log"], env=self.env, cwd=self.box,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as p:
            while not self.server.fetched:
                time.sleep(0.05)
            p.send_signal(signal.SIGKILL)
        self.assertEqual([n for n in self.kept() if not n.startswith(".new-")], [])
        self.server.trouble = None
        self.judge("s3://runs/log")

    # ---- the cache -----------------------------------------------------------------------------

    def test_limit(self):
        self.env["ROOFLINT_CACHE_LIMIT"] = "200 KiB"
        self.judge("s3://runs/log")
        self.assertEqual(len(self.kept()), 1)
        self.env["ROOFLINT_CACHE_LIMIT"] = "many"
        self.assertIn("$ROOFLINT_CACHE_LIMIT takes a size", self.judge("s3://runs/log", status=2))

    def test_an_audit_knows_runs_by_their_list(self):
        """On a machine without a cache what the store has is not fetched again; what changed is."""
        def audit():
            shutil.rmtree(self.cache, ignore_errors=True)
            before = len(self.server.fetched)
            self.rooflint("audit", "s3://runs/log", "--store", os.path.join(self.box, "fleet.db"),
                          status=0)
            return self.server.fetched[before:]

        damaged = ["log/plugins/profile/2026_03_13_00_00_00/worker-0.xplane.pb"]
        self.assertEqual([len(audit()), audit()], [3, damaged])  # it may be whole by now
        objects = self.server.objects["runs"]
        key = next(key for key in objects if "2026_03_14" in key and key.endswith(".xplane.pb"))
        objects[key] += b"\x22\x05other"
        self.assertEqual([len(audit()), audit()], [3, damaged])

    def test_damaged_entry(self):
        self.judge("s3://runs/log")
        for name in self.kept():
            os.truncate(os.path.join(self.cache, name), 10)
        self.judge("s3://runs/log")
        self.assertEqual(len(self.server.fetched), 4)
        for name in self.kept():  # of the same length
            with open(os.path.join(self.cache, name), "r+b") as f:
                f.seek(1000)
                f.write(b"damaged!")
        self.judge("s3://runs/log")
        self.assertEqual(len(self.server.fetched), 6)
        os.chmod(self.cache, 0o777)
        self.assertIn("others may write to the cache", self.judge("s3://runs/log", status=3))

    # ---- Google --------------------------------------------------------------------------------

    def google(self):
        self.env["ROOFLINT_GCS_ENDPOINT"] = self.server.url
        self.server.token = BEARER

    def token_server(self, key_pem):
        """Gives a token for a claim that the key has signed; openssl verifies."""
        def answer(h):
            body = h.rfile.read(int(h.headers["content-length"])).decode()
            form = dict(urllib.parse.parse_qsl(body))
            head, claim, sign = form["assertion"].split(".")
            pad = lambda s: base64.urlsafe_b64decode(s + "=" * (-len(s) % 4))  # noqa: E731
            public = self.write("public.pem", subprocess.run(
                ["openssl", "rsa", "-pubout"], input=key_pem, capture_output=True, check=True,
                text=True).stdout)
            with open(os.path.join(self.box, "sign"), "wb") as f:
                f.write(pad(sign))
            good = subprocess.run(
                ["openssl", "dgst", "-sha256", "-verify", public, "-signature", f.name],
                input=f"{head}.{claim}".encode(), capture_output=True, check=False)
            claim = json.loads(pad(claim))
            fine = good.returncode == 0 and claim["iss"] == "robot@x.iam" and \
                claim["exp"] - claim["iat"] == 3600 and claim["aud"].endswith("/token") and \
                form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer"
            h.reply(200 if fine else 400, json.dumps(
                {"access_token": BEARER, "expires_in": 3599} if fine else
                {"error": "invalid_grant"}).encode())
        self.server.other["/token"] = answer

    def service_account(self, claimed="robot@x.iam"):
        if not shutil.which("openssl"):
            self.skipTest("needs the openssl program")
        pem = subprocess.run(["openssl", "genpkey", "-algorithm", "RSA"], capture_output=True,
                             check=True, text=True).stdout
        self.token_server(pem)
        self.env["GOOGLE_APPLICATION_CREDENTIALS"] = self.write("key.json", json.dumps({
            "type": "service_account", "client_email": claimed, "private_key": pem,
            "private_key_id": "1", "token_uri": self.server.url + "/token"}))

    def test_google_service_account(self):
        self.google()
        self.service_account()
        self.judge("gs://runs/log")
        self.assertEqual(len(self.server.fetched), 2)

    def test_google_revoked(self):
        self.google()
        self.service_account("somebody@x.iam")
        self.refused("gs://runs/log", "400 invalid_grant", "key.json")

    def test_google_metadata(self):
        self.google()
        del self.env["NO_GCE_CHECK"]
        self.env["GCE_METADATA_HOST"] = f"127.0.0.1:{self.server.port}"
        path = "/computeMetadata/v1/instance/service-accounts/default/token"
        self.server.other[path] = lambda h: h.reply(
            200 if h.headers.get("metadata-flavor") == "Google" else 403,
            json.dumps({"access_token": BEARER, "expires_in": 3599}).encode())
        self.judge("gs://runs/log")

    def test_google_refusals(self):
        self.google()
        self.refused("gs://runs/log", "401 authError", "no credentials were found",
                     "$GOOGLE_APPLICATION_CREDENTIALS")
        self.env["GOOGLE_APPLICATION_CREDENTIALS"] = os.path.join(self.box, "none.json")
        self.refused("gs://runs/log", "$GOOGLE_APPLICATION_CREDENTIALS", "none.json")
        self.env["GOOGLE_APPLICATION_CREDENTIALS"] = self.write("odd.json", '{"type": "other"}')
        self.refused("gs://runs/log", "neither the key of a service account")
        self.server.public = True
        del self.env["GOOGLE_APPLICATION_CREDENTIALS"]
        self.refused("gs://nobody/log", "404 notFound", "no such bucket")

    def test_google_flipped(self):
        self.google()
        self.server.public = True
        self.server.trouble = lambda h, body: (h.reply(
            200, b"\x00" + body[1:], [("x-goog-hash", "crc32c=" + clouds.crc32c(body))]), True)[1]
        self.refused("gs://runs/log/plugins/profile/2026_03_14_09_26_53/worker-0.xplane.pb",
                     "checksum")

    def test_token_goes_nowhere_in_plain(self):
        self.env["ROOFLINT_GCS_ENDPOINT"] = "http://storage.example"
        self.refused("gs://runs/log", "ROOFLINT_GCS_ENDPOINT", "begins with http://")

    # ---- without rooflint-http -----------------------------------------------------------------

    def test_local_paths_start_nothing(self):
        alone = os.path.join(self.box, "rooflint")
        shutil.copy(ROOFLINT, alone)
        self.rooflint("check", "-q", RUN, program=alone, status=1)
        said = self.rooflint("check", "-q", "s3://runs/log", program=alone, status=3)
        self.assertIn("rooflint-http is neither beside rooflint nor", said)


def has(program):
    return os.access(os.path.join(VENV, "bin", program), os.X_OK)


class Emulators(Place):
    """Servers that other people wrote."""

    def start(self, *command):
        if not has(command[0]):
            self.skipTest(f"needs {command[0]} in {VENV}: python3 -m venv {VENV} && "
                          f"{VENV}/bin/pip install moto[server] gcp-storage-emulator")
        p = subprocess.Popen([os.path.join(VENV, "bin", command[0]), *command[1:]],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.box)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)

    @staticmethod
    def send(url, data, method="POST", kind="application/json"):
        end = time.time() + 30
        while True:
            try:
                return urllib.request.urlopen(urllib.request.Request(
                    url, data=data, method=method, headers={"content-type": kind}), timeout=20)
            except urllib.error.HTTPError:
                raise
            except OSError:
                if time.time() > end:
                    raise
                time.sleep(0.2)

    @staticmethod
    def free_port():
        import socket
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            return s.getsockname()[1]

    def test_moto(self):
        port = self.free_port()
        self.start("moto_server", "-H", "127.0.0.1", "-p", str(port))
        url = f"http://127.0.0.1:{port}"
        self.send(url + "/runs", b"", "PUT")
        for name, body in demo().items():
            self.send(url + "/runs/nightly%20%2B1/2026_03_14_09_26_53/" + name, body, "PUT",
                      "application/octet-stream")
        self.env.update(AWS_ENDPOINT_URL=url, AWS_ACCESS_KEY_ID=clouds.KEY,
                        AWS_SECRET_ACCESS_KEY=clouds.SECRET)
        self.judge("s3://runs/nightly +1")
        self.assertEqual(len(self.kept()), 2)
        self.cache = self.env["ROOFLINT_CACHE"] = os.path.join(self.box, "second")
        self.refused("s3://nobody/log", "404 NoSuchBucket")
        self.refused("s3://runs/nothing", "nothing there")
        self.roles("s3://runs/nightly +1")

    def roles(self, path):
        """Its service of roles reads what is asked, and answers in its own XML."""
        role = "arn:aws:iam::123456789012:role/reader"
        del self.env["AWS_ACCESS_KEY_ID"], self.env["AWS_SECRET_ACCESS_KEY"]
        self.env["AWS_WEB_IDENTITY_TOKEN_FILE"] = self.write("token", "a.b.c")
        self.env["AWS_ROLE_ARN"] = role
        self.judge(path)

    def test_gcs_emulator(self):
        port = self.free_port()
        self.start("gcp-storage-emulator", "start", "--host=127.0.0.1", f"--port={port}",
                   "--in-memory")
        url = f"http://127.0.0.1:{port}"
        self.send(url + "/storage/v1/b?project=test", b'{"name":"runs"}')
        for name, body in demo().items():
            key = urllib.parse.quote("nightly +1/2026_03_14_09_26_53/" + name, safe="")
            self.send(f"{url}/upload/storage/v1/b/runs/o?uploadType=media&name={key}", body,
                      kind="application/octet-stream")
        self.env["STORAGE_EMULATOR_HOST"] = f"127.0.0.1:{port}"
        self.judge("gs://runs/nightly +1")
        self.assertEqual(len(self.kept()), 2)
        self.cache = self.env["ROOFLINT_CACHE"] = os.path.join(self.box, "second")
        self.refused("gs://nobody/log", "404", "no such bucket")
        self.refused("gs://runs/nothing", "nothing there")


if __name__ == "__main__":
    unittest.main()
