"""Buckets whose servers, networks, names and caches are at their worst: the same for both clouds.
Whatever happens is told in one line, in time, and the cache holds whole objects or none."""

import email.utils
import hashlib
import itertools
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import clouds  # noqa: E402
import test_buckets  # noqa: E402
from together import load_tests  # noqa: E402, F401

RUN = "log/plugins/profile/2026_03_14_09_26_53/"
FIRST = RUN + "worker-0.xplane.pb"
ATTEMPTS = 3
LATER = f"({ATTEMPTS} attempts; try again later)"

# ---- faults: functions of a handler and the body that it should send, which answer themselves ----


def end(h, *pieces):
    """These bytes, and the connection's end."""
    for piece in pieces:
        h.wfile.write(piece)
        h.wfile.flush()
    h.close_connection = True
    return True


def head(body, *lines):
    return "\r\n".join(["HTTP/1.1 200 OK", f"content-length: {len(body)}", *lines, "", ""]).encode()


def cut(count):
    """Only the first bytes of a right answer; of a negative number all but so many."""
    return lambda h, body: end(h, (head(body) + body)[:count])


def cut_in_body(part):
    return lambda h, body: end(h, head(body), body[:int(len(body) * part)])


def reset(h, body):
    """Not an end but a break: what was sent before it may be lost, too."""
    h.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    end(h, head(body), body[:len(body) // 2])
    h.connection.close()
    return True


def without_length(h, body):
    return end(h, b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n", body[:-1])


def chunks_cut(h, body):
    return end(h, b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
               b"%x\r\n" % len(body), body, b"\r\n")


def length_of(text):
    return lambda h, body: end(
        h, f"HTTP/1.1 200 OK\r\ncontent-length: {text}\r\n\r\n".encode(), body)


def page_of_a_portal(h, _):
    h.reply(200, b"<html><body>Please log in</body></html>", [("content-type", "text/html")])
    return True


def endless(h, body):
    """As it was listed, and on and on."""
    h.wfile.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n" + body)
    try:
        for _ in range(100000):
            h.wfile.write(bytes(1 << 16))
    finally:
        h.close_connection = True
    return True


def silent_after(count):
    def fault(h, body):
        end(h, (head(body) + body)[:count])
        time.sleep(20)
        return True
    return fault


def dripping(h, body):
    """Never quite silent."""
    h.wfile.write(head(body))
    for i in range(200):
        h.wfile.write(body[i:i + 1])
        h.wfile.flush()
        time.sleep(0.1)
    h.close_connection = True
    return True


def status(code, word="", headers=()):
    def fault(h, _):
        is_google = h.path.startswith("/storage/")
        body = '{"error":{"errors":[{"reason":"%s"}]}}' if is_google else \
            "<Error><Code>%s</Code></Error>"
        h.reply(code, (body % word).encode() if word else b"", headers)
        return True
    return fault


def each(*faults):
    """Another fault at each attempt; behind the last one all is well."""
    left = list(faults)
    return lambda h, body: bool(left) and left.pop(0)(h, body)


def always(*faults):
    """One after the other, for ever: libcurl itself tries again when a connection that it had kept
    was closed before an answer began."""
    left = itertools.cycle(faults)
    return lambda h, body: next(left)(h, body)


CUTS = [
    (cut(0), cut(5), cut(20)),
    (cut(-1), cut_in_body(0), cut_in_body(0.5)),
    (without_length, chunks_cut, reset),
    (length_of("many"), length_of("-1"), length_of("100")),
]


class Faults(test_buckets.Served):
    scheme = ""

    def setUp(self):
        super().setUp()
        self.log = self.scheme + "://runs/log"
        self.first = self.scheme + "://runs/" + FIRST
        self.objects = self.server.objects["runs"]

    def whole(self):
        """What is kept are objects, byte by byte, and nothing else."""
        good = {hashlib.sha256(body).hexdigest() for body in self.objects.values()}
        for name in self.kept():
            with open(os.path.join(self.cache, name), "rb") as f:
                self.assertIn(hashlib.sha256(f.read()).hexdigest(), good)

    def well(self, path=None):
        self.judge(path or self.log)
        self.assertTrue(self.kept())
        self.whole()

    def quick(self, seconds, path, *parts):
        """Refused, in time."""
        begun = time.monotonic()
        said = self.refused(path, *parts)
        self.assertLess(time.monotonic() - begun, seconds)
        return said

    # ---- cut short -----------------------------------------------------------------------------

    def test_object_cut(self):
        for faults in CUTS:
            before = len(self.server.fetched)
            self.server.trouble = always(*faults)
            self.refused(self.first, LATER)
            self.assertGreaterEqual(len(self.server.fetched), before + ATTEMPTS)
        self.server.trouble = length_of("many")
        self.refused(self.first, "what came is no answer of HTTP", LATER)
        self.server.trouble = each(cut(-1), reset)
        self.well()

    def test_list_cut(self):
        for faults in CUTS:
            self.server.list_trouble = each(*faults)
            self.refused(self.log, LATER)
        self.server.list_trouble = each(cut(-1), chunks_cut)
        self.well()

    def test_list_whole_by_its_length_alone(self):
        shorter = lambda n: lambda h, body: (h.reply(200, body[:n]), True)[1]  # noqa: E731
        self.server.list_trouble = each(shorter(0), shorter(100), shorter(-1))
        self.refused(self.log, "no list of objects, or was cut short", "endpoint", LATER)
        self.server.list_trouble = each(page_of_a_portal, page_of_a_portal, page_of_a_portal)
        self.refused(self.log, "no list of objects", "does nothing in between answer for it?")

    def test_object_of_another_length(self):
        longer = lambda h, body: (h.reply(200, body + b"x"), True)[1]  # noqa: E731
        self.server.trouble = each(page_of_a_portal, endless, longer)
        self.refused(self.first, "more came than the 120236 bytes that were listed", LATER)
        self.server.trouble = each(longer, endless, page_of_a_portal)
        self.refused(self.first, "only 39 of 120236 bytes came", LATER)

    def test_object_flipped(self):
        def flip(h, body):
            sums = [("etag", '"' + hashlib.md5(body).hexdigest() + '"'),
                    ("x-goog-hash", "crc32c=" + clouds.crc32c(body))]
            h.reply(200, body[:7] + bytes([body[7] ^ 1]) + body[8:],
                    sums[:1] if self.scheme == "s3" else sums[1:])
            return True
        self.server.trouble = flip
        self.refused(self.first, "their checksum is not the one that the server gives", LATER)

    # ---- silent --------------------------------------------------------------------------------

    def test_object_silent(self):
        self.env["ROOFLINT_HTTP_STALL"] = "1s"
        self.server.trouble = each(silent_after(0), silent_after(10), silent_after(30000))
        self.quick(20, self.first, "the server went silent", "1 s", "$ROOFLINT_HTTP_STALL", LATER)
        self.server.trouble = each(dripping, silent_after(-1), dripping)
        self.quick(20, self.first, "the server went silent", LATER)

    def test_list_silent(self):
        self.env["ROOFLINT_HTTP_STALL"] = "1s"
        self.server.list_trouble = each(silent_after(60), dripping, silent_after(0))
        self.quick(20, self.log, "the server gave no answer in time", LATER)

    def test_nobody_accepts(self):
        """A machine that takes no more connections answers nothing at all."""
        self.env["ROOFLINT_HTTP_STALL"] = "1s"
        full = socket.socket()
        self.addCleanup(full.close)
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(4):
            waiting = socket.socket()
            self.addCleanup(waiting.close)
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        self.at(f"http://127.0.0.1:{full.getsockname()[1]}")
        self.quick(20, self.log, "the server gave no answer in time", LATER)

    # ---- statuses ------------------------------------------------------------------------------

    def test_refusals_are_final(self):
        for code in (400, 403, 416):
            self.server.trouble = self.server.list_trouble = status(code, "oddWord")
            before = len(self.server.asked)
            self.refused(self.log, f"the server answered {code} oddWord")
            self.assertEqual(len(self.server.asked), before + 1)

    def test_failures_are_tried_again(self):
        for code in (408, 429, 500, 502, 503, 504):
            self.server.list_trouble = each(status(code), status(500, "oddWord"))
            self.server.trouble = each(status(503), status(code))
            self.cache = self.env["ROOFLINT_CACHE"] = os.path.join(self.box, str(code))
            self.well(self.first)

    def test_failures_that_stay(self):
        for code, part in ((429, "it is asked too often"), (500, ""), (503, "")):
            self.server.list_trouble = status(code, "oddWord")
            before = len(self.server.listed)
            self.refused(self.log, f"the server answered {code} oddWord", part, LATER)
            self.assertEqual(len(self.server.listed), before + ATTEMPTS)

    def test_retry_after(self):
        soon = email.utils.formatdate(time.time() + 4, usegmt=True)
        self.server.list_trouble = each(status(503, headers=[("retry-after", "3")]))
        self.server.trouble = each(status(429, headers=[("retry-after", soon)]))
        begun = time.monotonic()
        self.well()
        self.assertGreater(time.monotonic() - begun, 3)
        self.server.list_trouble = status(503, headers=[("retry-after", "7200")])
        self.cache = self.env["ROOFLINT_CACHE"] = os.path.join(self.box, "second")
        self.quick(5, self.log, "the server answered 503",
                   "it wants to be asked again in 7200 s, not before")

    def test_redirects(self):
        for code in (301, 302, 303, 307, 308):
            away = status(code, headers=[("location", self.server.url + "/elsewhere")])
            self.server.trouble = self.server.list_trouble = away
            before = len(self.server.asked)
            self.refused(self.log, f"the server answered {code}", "which is not followed",
                         "is the endpoint right?")
            self.assertEqual(len(self.server.asked), before + 1)
        self.server.list_trouble = None
        self.refused(self.first, "which is not followed")
        self.assertFalse([a for a in self.server.asked if "elsewhere" in a[1]])

    # ---- lists ---------------------------------------------------------------------------------

    def test_pages(self):
        self.server.page = 1
        self.well()
        self.assertGreaterEqual(len(self.server.listed), len(self.objects))

    def test_whole_bucket(self):
        self.well(self.scheme + "://runs/")
        self.assertEqual(self.server.listed[0], "")

    def test_pages_without_objects(self):
        """Each with another token: such a list has no end."""
        tokens = itertools.count(10**7)
        self.answer_lists(lambda: ([], f"{next(tokens):08}"))
        self.quick(60, self.log, "pages of the server's list hold 0 objects")
        self.assertLess(next(tokens), 10**7 + 400)

    def test_names_that_nobody_asked_for(self):
        self.answer_lists(lambda: (["elsewhere/x"], ""))
        self.quick(20, self.log, "has 'elsewhere/x', which does not begin with")
        self.answer_lists(lambda: (["runs/" + "x" * (1 << 20)], ""))
        self.quick(20, self.log, "has a name of 1048581 bytes, and none has more than 1024")
        self.answer_lists(lambda: ([], "t" * 100000))
        self.quick(20, self.log, "goes on by a token of 100000 bytes")

    def answer_lists(self, page):
        """Lists are what `page` says: names and what asks for the next."""
        def answer(h, _):
            names, token = page()
            if self.scheme == "gs":
                more = {"nextPageToken": token} if token else {}
                items = [{"name": n, "size": "1", "generation": "1"} for n in names]
                text = json.dumps({**more, "items": items})
            else:
                items = "".join(f"<Contents><Key>{n}</Key><ETag>1</ETag><Size>1</Size></Contents>"
                                for n in names)
                more = f"<NextContinuationToken>{token}</NextContinuationToken>" if token else ""
                text = f"<ListBucketResult>{more}{items}</ListBucketResult>"
            h.reply(200, text.encode())
            return True
        self.server.list_trouble = answer

    def test_pages_in_a_ring(self):
        names = sorted(self.objects)
        self.server.page = 1
        self.server.next_of = lambda after: names[0]  # the second page, again and again
        self.quick(20, self.log, "the server's list goes round in a ring")
        self.server.next_of = lambda after: names[0] if after == names[-2] else after
        self.quick(20, self.log, "the server's list goes round in a ring")
        self.assertLess(len(self.server.listed), 10 * len(names))

    # ---- objects that change -------------------------------------------------------------------

    def after_the_list(self, change):
        """Of what is below that name there is one before, which is empty."""
        def trouble(h, body):
            h.reply(200, body)
            change()
            return True
        self.server.list_trouble = each(lambda *_: False, trouble)

    def test_changed_behind_the_list(self):
        for body in (b"x" * len(self.objects[FIRST]), b"x" * 10, b""):
            self.after_the_list(lambda b=body: self.objects.update({FIRST: b}))
            before = len(self.server.fetched)
            self.refused(self.first, "replaced meanwhile; give the command again")
            self.assertEqual(len(self.server.fetched), before)
            self.objects[FIRST] = test_buckets.demo()["worker-0.xplane.pb"]

    def test_changed_and_the_server_does_not_look(self):
        """It knows no conditions and sends what there is now."""
        other = b"x" * len(self.objects[FIRST])
        self.server.trouble = lambda h, _: (h.reply(200, other, [
            ("etag", '"' + hashlib.md5(other).hexdigest() + '"'),
            ("x-goog-generation", clouds.generation(other))]), True)[1]
        self.refused(self.first, "replaced meanwhile; give the command again")

    def test_removed_behind_the_list(self):
        self.after_the_list(lambda: self.objects.pop(FIRST))
        self.refused(self.first, "404")

    # ---- names ---------------------------------------------------------------------------------

    NAMES = ["a b", "100%", "%2e%2e", "a+b=c", "ü/ß/日本", "..", "x/../../etc", ".", "a\\b", "~", "'",
             'quo"te', "<&amp;>", "a?b#c", ":", "k" * 900, "tab\there", "line\nhere", "\x1b[31mred"]

    def test_names(self):
        for name in self.NAMES:
            with self.subTest(name):
                self.objects.clear()
                path = f"{name}/{RUN}worker-0.xplane.pb"
                self.objects[path] = test_buckets.demo()["worker-0.xplane.pb"]
                begun = len(self.server.fetched)
                said = self.judge(f"{self.scheme}://runs/{name}")
                said += self.judge(f"{self.scheme}://runs/{path}")
                self.assertEqual(self.server.fetched[begun:], [path])
                self.assertNotIn("\x1b", said)
                self.whole()
        for path, _, files in os.walk(self.box):
            self.assertTrue(path.startswith(self.cache) or not files, (path, files))

    def test_names_in_errors(self):
        for name in ("line\nhere\x1b[31m", "k" * 1000):
            said = self.judge(f"{self.scheme}://runs/{name}", status=3)
            self.assertNotIn("\x1b", said)
            self.assertIn("nothing there", said)

    def test_names_without_a_directory(self):
        """Nothing between two slashes: no directory, but one object that is named is read."""
        self.objects["/log/one.xplane.pb"] = self.objects[FIRST]
        self.well(self.scheme + "://runs//log/one.xplane.pb")
        self.objects["log//" + FIRST] = b"of no directory"
        self.judge(self.log)
        self.assertNotIn("log//" + FIRST, self.server.fetched)

    def test_no_bytes(self):
        self.objects["empty/one.xplane.pb"] = b""
        said = self.judge(self.scheme + "://runs/empty", status=3)
        self.assertIn(self.scheme + "://runs/empty/one.xplane.pb", said)
        self.assertIn("RL102", said)
        self.whole()

    # ---- programs that end, and programs together ----------------------------------------------

    def begin(self, *args):
        p = subprocess.Popen([test_buckets.ROOFLINT, "check", "-q", *args], env=self.env,
                             cwd=self.box, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True)
        self.addCleanup(p.stdout.close)
        return p

    def until(self, what, seconds=30):
        last = time.monotonic() + seconds
        while not what():
            self.assertLess(time.monotonic(), last)
            time.sleep(0.02)

    def program(self, pid):
        """The rooflint-http that this process has started; None: not yet, or no more."""
        done = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,comm="], env={"PATH": os.defpath},
                              capture_output=True, text=True, check=True).stdout
        found = [line.split() for line in done.splitlines()]
        return next((int(w[0]) for w in found if w[1] == str(pid) and w[2] == "rooflint-http"),
                    None)

    @staticmethod
    def runs(pid):
        done = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], env={"PATH": os.defpath},
                              capture_output=True, text=True, check=False).stdout.strip()
        return done != "" and not done.startswith("Z")

    def test_killed(self):
        """Nobody is left behind that goes on to fetch, and what is there is never half of it."""
        self.server.trouble = dripping
        p = self.begin(self.log)
        self.until(lambda: self.server.fetched and self.program(p.pid))
        program = self.program(p.pid)
        p.send_signal(signal.SIGKILL)
        p.wait()
        self.until(lambda: not self.runs(program), 15)
        self.assertTrue(all(name.startswith(".new-") for name in self.kept()))
        self.server.trouble = None
        self.judge(self.log)
        for name in [n for n in self.kept() if n.startswith(".new-")]:
            os.unlink(os.path.join(self.cache, name))
        self.assertEqual(len(self.kept()), 2)
        self.whole()

    def test_program_killed(self):
        self.server.trouble = silent_after(30000)
        p = self.begin(self.first)
        self.until(lambda: self.server.fetched and self.program(p.pid))
        os.kill(self.program(p.pid), signal.SIGKILL)
        said = p.communicate(timeout=30)[0]
        self.assertEqual(p.returncode, 3, said)
        self.assertIn(self.first + ": rooflint-http ended without an answer", said)
        self.assertEqual(self.kept(), [])
        self.server.trouble = None
        self.well()

    def test_several_at_once(self):
        gate = threading.Barrier(3, timeout=30)
        waits = lambda h, body: gate.wait() and False  # noqa: E731
        self.server.trouble = each(waits, waits, waits)
        for p in [self.begin(self.first) for _ in range(3)]:
            said = p.communicate(timeout=60)[0]
            self.assertEqual(p.returncode, 1, said)
        self.assertEqual(self.server.fetched, [FIRST] * 3)
        self.assertEqual(len(self.kept()), 1)
        self.whole()

    # ---- the cache -----------------------------------------------------------------------------

    def test_file_too_large(self):
        """`ulimit -f` kills who does not look; here it is an error as a full disk is."""
        done = subprocess.run(["sh", "-c", 'ulimit -f 64; exec "$@"', "sh", test_buckets.ROOFLINT,
                               "check", "-q", self.first], env={**self.env, "PATH": os.defpath},
                              capture_output=True, text=True, check=False)
        said = " ".join(done.stderr.split())
        self.assertEqual(done.returncode, 3, said)
        self.assertIn(self.first + ": cannot write to the cache", said)
        self.assertIn("$ROOFLINT_CACHE names another directory", said)
        self.assertEqual(self.kept(), [])
        self.assertEqual(len(self.server.fetched), 1)

    def mounted(self, mount, *paths, status):
        """With a file system of its own at the cache."""
        os.makedirs(self.cache, exist_ok=True)
        env = {**self.env, "PATH": "/usr/sbin:/sbin:" + os.defpath, "AT": self.cache}
        unshare = ["unshare", "-rm", "sh", "-ec"]
        try:
            subprocess.run([*unshare, mount], env=env, capture_output=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            self.skipTest("needs unshare(1), and leave to mount in a namespace of its own")
        done = subprocess.run([*unshare, mount + '\n"$@"; s=$?; ls -A "$AT"; exit $s', "sh",
                               test_buckets.ROOFLINT, "check", "-q", *paths], env=env, text=True,
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return " ".join(done.stderr.split()), done.stdout.split()

    def test_disk_full(self):
        said, kept = self.mounted('mount -t tmpfs -o mode=700,size=64k none "$AT"', self.first, status=3)
        self.assertIn(self.first + ": cannot write to the cache", said)
        self.assertIn("No space left on device; $ROOFLINT_CACHE names another directory", said)
        self.assertEqual(kept, [])
        self.assertEqual(len(self.server.fetched), 1)

    def test_read_only(self):
        mount = 'mount --bind "$AT" "$AT"; mount -o remount,ro,bind "$AT"'
        said, _ = self.mounted(mount, self.first, status=3)
        self.assertIn(self.first + ": cannot make a file in the cache", said)
        self.assertIn("$ROOFLINT_CACHE names another directory", said)
        self.judge(self.first)
        self.mounted(mount, self.first, status=1)  # what is there already is enough
        self.assertEqual(len(self.server.fetched), 1)

    def test_no_directory(self):
        self.env["ROOFLINT_CACHE"] = os.path.join(self.write("file", ""), "cache")
        said = " ".join(self.judge(self.first, status=3).split())
        self.assertIn("name another directory in $ROOFLINT_CACHE", said)
        self.assertIn("Not a directory", said)
        self.assertEqual(self.server.asked, [])


class Amazon(Faults):
    scheme = "s3"

    def at(self, url):
        self.env["ROOFLINT_S3_ENDPOINT"] = url

    def test_regions_in_a_ring(self):
        where = {"us-east-1": "eu-north-1", "eu-north-1": "us-east-1"}

        def away(h, *_):
            asked = h.headers["authorization"].split("/")[2]
            h.refuse(301, "PermanentRedirect", [("x-amz-bucket-region", where[asked]),
                                                ("location", self.server.url)])
        self.server.s3 = away
        self.quick(10, self.log, "the server answered 301 PermanentRedirect")
        self.assertLess(len(self.server.asked), 5)

    def test_region_that_is_none(self):
        for odd in ("evil.example/", "a@b", "", "x" * 40):
            self.server.s3 = lambda h, *_, odd=odd: h.refuse(
                301, "PermanentRedirect", [("x-amz-bucket-region", odd)])
            before = len(self.server.asked)
            self.refused(self.log, "the server answered 301 PermanentRedirect")
            self.assertEqual(len(self.server.asked), before + 1)

    def test_list_that_goes_on_without_saying_how(self):
        def old(h, body):
            h.reply(200, body.replace(b"<IsTruncated>false", b"<IsTruncated>true"))
            return True
        self.server.list_trouble = old
        self.refused(self.log, "the server's list goes on, but it does not say how")

    def test_names_that_are_not_escaped(self):
        """A server that does not know encoding-type sends names as they are."""
        path = f"a+b%41/{RUN}worker-0.xplane.pb"
        self.objects[path] = self.objects[FIRST]

        def plain(h, body):
            h.reply(200, body.replace(b"<EncodingType>url</EncodingType>", b"")
                    .replace(b"%2B", b"+").replace(b"%25", b"%"))
            return True
        self.server.list_trouble = plain
        self.judge("s3://runs/a+b%41")
        self.assertEqual(self.server.fetched, [path])


class Google(Faults):
    scheme = "gs"

    def setUp(self):
        super().setUp()
        self.server.public = True
        self.at(self.server.url)

    def at(self, url):
        self.env["ROOFLINT_GCS_ENDPOINT"] = url

    def test_checksums(self):
        """The stronger one counts; one that cannot be one is a wrong one."""
        for value in ("crc32c=AAAAAA==", "md5=AAAAAAAAAAAAAAAAAAAAAA==", "md5=?", "crc32c="):
            self.server.trouble = lambda h, b, v=value: (h.reply(
                200, b, [("x-goog-hash", v)]), True)[1]
            if value == "crc32c=":
                self.judge(self.first)
                continue
            self.refused(self.first, "checksum", LATER)
            self.assertEqual(self.kept(), [])


del Faults

if __name__ == "__main__":
    unittest.main()
