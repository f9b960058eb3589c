"""What lies between a bucket and whoever reads it: proxies, certificates, an environment with empty
values; and that nothing which is secret is said on the way, however much is asked for."""

import http.client
import http.server
import json
import os
import select
import socket
import sys
import threading
import unittest
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import clouds  # noqa: E402
import server  # noqa: E402
import test_buckets  # noqa: E402
from together import load_tests  # noqa: E402, F401

PASSWORD = "password-of-the-tests"
SESSION = "session-of-the-tests"


class Proxy:
    """Leads to where it is told, or answers with `status`; remembers what it was asked."""

    def __init__(self):
        self.asked, self.status = [], 0
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_CONNECT(self):
                outer.asked.append((self.command, self.path, dict(self.headers)))
                if outer.status:
                    return self.answer(outer.status, b"no way", [("etag", '"of the proxy"')])
                host, _, port = self.path.rpartition(":")
                with socket.create_connection((host, int(port))) as there:
                    self.send_response(200)
                    self.send_header("etag", '"of the proxy"')
                    self.end_headers()
                    relay(self.connection, there)
                self.close_connection = True
                return None

            def do_GET(self):
                outer.asked.append((self.command, self.path, dict(self.headers)))
                if outer.status:
                    return self.answer(outer.status, b"no way")
                url = urllib.parse.urlsplit(self.path)
                there = http.client.HTTPConnection(url.netloc)
                there.putrequest("GET", self.path[len(f"http://{url.netloc}"):],
                                 skip_host=True, skip_accept_encoding=True)
                for name, value in self.headers.items():
                    if not name.lower().startswith("proxy-"):
                        there.putheader(name, value)
                there.endheaders()
                got = there.getresponse()
                body = got.read()
                there.close()
                return self.answer(got.status, body, [
                    h for h in got.getheaders() if h[0].lower() != "content-length"])

            answer = clouds.reply

            def log_message(self, *args):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.http.handle_error = lambda *_: None  # whoever hangs up
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()


def relay(one, other):
    """Bytes both ways, until either end closes."""
    while True:
        for ready in select.select([one, other], [], [])[0]:
            data = ready.recv(1 << 16)
            if not data:
                return
            (other if ready is one else one).sendall(data)


class Ways(test_buckets.Served):
    def setUp(self):
        super().setUp()
        self.proxy = Proxy()
        self.addCleanup(self.proxy.close)

    def secure(self, **certificate):
        """The same objects behind TLS, by an authority that nobody knows but by name."""
        ca = server.make_authority(self.box, **certificate)
        if not ca:
            self.skipTest("needs the openssl program")
        objects = self.server.objects
        self.server = clouds.Server(self.box)
        self.addCleanup(self.server.close)
        self.server.objects = objects
        self.env["ROOFLINT_S3_ENDPOINT"] = self.server.url
        self.env["CURL_CA_BUNDLE"] = ca

    # ---- certificates --------------------------------------------------------------------------

    def test_certificate(self):
        self.secure()
        self.judge("s3://runs/log")
        self.assertEqual(len(self.server.fetched), 2)

    def bad(self, *parts):
        self.refused("s3://runs/log", "the server's certificate could not be verified", *parts)
        self.assertEqual(self.server.asked, [])

    def test_certificate_of_nobody(self):
        self.secure()
        del self.env["CURL_CA_BUNDLE"]
        self.bad("it is not from an authority known here", "CURL_CA_BUNDLE")

    def test_authorities_of_aws(self):
        """AWS_CA_BUNDLE, else ca_bundle of the profile, comes before curl's."""
        self.secure()
        ca, none = self.env["CURL_CA_BUNDLE"], os.path.join(self.box, "none.pem")
        config = os.path.join(self.box, "aws-config")
        with open(config, "w", encoding="utf-8") as f:
            f.write(f"[profile far]\nca_bundle = {none}\n[profile near]\nca_bundle = {ca}\n")
        self.env.update(AWS_CONFIG_FILE=config, AWS_PROFILE="far")
        self.refused("s3://runs/log", "AWS_CA_BUNDLE", "cannot be read")
        self.env.update(CURL_CA_BUNDLE=none, AWS_CA_BUNDLE=ca)
        self.judge("s3://runs/log")
        del self.env["AWS_CA_BUNDLE"]
        self.env["AWS_PROFILE"] = "near"
        self.judge("s3://runs/log")

    def test_certificate_of_another(self):
        self.secure(names="DNS:bucket.example")
        self.bad("it is for another name than the address has")

    def test_certificate_that_has_ended(self):
        self.secure(days=-1)
        self.bad("it has expired or is not valid yet, or this machine's clock is wrong")

    def test_authorities_that_are_not_there(self):
        self.secure()
        self.env["CURL_CA_BUNDLE"] = os.path.join(self.box, "none.pem")
        self.refused("s3://runs/log", "CURL_CA_BUNDLE", "cannot be read")

    def test_no_tls_there(self):
        self.env["ROOFLINT_S3_ENDPOINT"] = self.server.url.replace("http:", "https:")
        self.refused("s3://runs/log", "SSL")

    # ---- proxies -------------------------------------------------------------------------------

    def test_proxy(self):
        self.secure()
        for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
            self.env[name] = self.proxy.url
            self.cache = self.env["ROOFLINT_CACHE"] = os.path.join(self.box, "by " + name)
            del self.proxy.asked[:]
            self.judge("s3://runs/log")
            del self.env[name]
            self.assertEqual({a[:2] for a in self.proxy.asked},
                             {("CONNECT", f"localhost:{self.server.port}")})
            for _, _, headers in self.proxy.asked:
                self.assertNotIn("authorization", {h.lower() for h in headers})

    def test_proxy_of_plain_addresses(self):
        self.env["http_proxy"] = self.proxy.url
        self.judge("s3://runs/log")
        self.assertEqual({a[0] for a in self.proxy.asked}, {"GET"})
        self.assertTrue(self.proxy.asked[0][1].startswith(self.server.url + "/runs/?"))

    def test_no_proxy(self):
        self.secure()
        self.env["HTTPS_PROXY"] = self.proxy.url
        for name, value in (("NO_PROXY", "example.com,localhost"), ("no_proxy", "*")):
            self.env[name] = value
            self.judge("s3://runs/log")
            del self.env[name]
        self.assertEqual(self.proxy.asked, [])

    def test_metadata_goes_past_proxies(self):
        self.env.update(ROOFLINT_GCS_ENDPOINT=self.server.url, http_proxy=self.proxy.url,
                        GCE_METADATA_HOST=f"127.0.0.1:{self.server.port}")
        del self.env["NO_GCE_CHECK"]
        self.server.token = test_buckets.BEARER
        path = "/computeMetadata/v1/instance/service-accounts/default/token"
        self.server.other[path] = lambda h: h.reply(200, json.dumps(
            {"access_token": test_buckets.BEARER, "expires_in": 3599}).encode())
        self.judge("gs://runs/log")
        self.assertTrue(self.proxy.asked)
        self.assertFalse([a for a in self.proxy.asked if "computeMetadata" in a[1]])

    def test_proxy_refuses(self):
        self.secure()
        self.env["HTTPS_PROXY"] = self.proxy.url.replace("//", f"//me:{PASSWORD}@")
        for status, part, attempts in (
                (407, "the proxy wants a user and a password, or others (HTTPS_PROXY)", 1),
                (403, "the proxy refused to lead to the server (HTTPS_PROXY, NO_PROXY)", 1),
                (502, "the proxy refused to lead to the server (HTTPS_PROXY, NO_PROXY)", 3)):
            self.proxy.status = status
            del self.proxy.asked[:]
            self.refused("s3://runs/log", part)
            self.assertGreaterEqual(len(self.proxy.asked), attempts)
        self.proxy.status = 0
        self.judge("s3://runs/log")
        self.assertIn("basic", self.proxy.asked[-1][2]["Proxy-Authorization"].lower())

    def test_proxy_of_plain_addresses_refuses(self):
        self.env["http_proxy"] = self.proxy.url
        self.proxy.status = 407
        self.refused("s3://runs/log", "the server answered 407: the proxy wants a user")

    def test_proxy_that_is_not_there(self):
        self.secure()
        self.env["HTTPS_PROXY"] = f"http://me:{PASSWORD}@127.0.0.1:1"
        self.refused("s3://runs/log", "connect")
        self.env["HTTPS_PROXY"] = f"http://me:{PASSWORD}@proxy.invalid:1"
        self.refused("s3://runs/log", "resolve proxy")

    # ---- the environment -----------------------------------------------------------------------

    EMPTY = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE",
             "AWS_DEFAULT_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL",
             "AWS_ENDPOINT_URL_S3", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN",
             "AWS_ROLE_SESSION_NAME", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE",
             "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
             "AWS_CONTAINER_AUTHORIZATION_TOKEN", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
             "GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_CONFIG", "STORAGE_EMULATOR_HOST",
             "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTPS_PROXY", "https_proxy",
             "http_proxy", "ALL_PROXY", "NO_PROXY", "ROOFLINT_HTTP_STALL",
             "ROOFLINT_CACHE_LIMIT", "XDG_CACHE_HOME"]

    def test_empty_values(self):
        """As CI systems set what a job has no secret for: as if they were not there."""
        self.env.update({name: "" for name in self.EMPTY})
        self.env["ROOFLINT_GCS_ENDPOINT"] = self.server.url
        self.refused("s3://runs/log", "no credentials were found")
        self.refused("gs://runs/log", "no credentials were found")
        self.write(".aws/credentials", f"[default]\naws_access_key_id = {clouds.KEY}\n"
                   f"aws_secret_access_key = {clouds.SECRET}\n")
        self.judge("s3://runs/log")
        self.server.public = True
        self.judge("gs://runs/log")

    def test_tabs_in_profile_files(self):
        self.sign_out()
        self.write(".aws/credentials", f"[team]\n\naws_access_key_id\t=\t{clouds.KEY}\t\n"
                   f"AWS_SECRET_ACCESS_KEY\t= {clouds.SECRET}\r\n")
        self.write(".aws/config", "[profile\tteam]\nregion\t=\teu-west-9\n")
        self.env["AWS_PROFILE"] = "team"
        self.server.region = "eu-west-9"
        self.judge("s3://runs/log")
        self.assertIn("/eu-west-9/s3/", self.server.asked[0][2]["authorization"])

    # ---- secrets -------------------------------------------------------------------------------

    OUTPUTS = ["--json", "--html", "--sarif", "--junit", "--markdown"]

    def loud(self, path, *parts, status):
        """With all that can be asked for: neither told, nor in a report, nor kept anywhere."""
        files = [x for o in self.OUTPUTS for x in (o, os.path.join(self.box, "report" + o))]
        said = self.rooflint("check", "-v", *files, path, status=status)
        for part in parts:
            self.assertIn(part, " ".join(said.split()))
        for folder, _, names in os.walk(self.box):
            for name in names:
                with open(os.path.join(folder, name), "rb") as f:
                    body = f.read()
                for secret in test_buckets.SECRETS if not folder.endswith(".aws") else []:
                    self.assertNotIn(secret.encode(), body, name)

    def test_secrets_of_amazon(self):
        self.env["AWS_SESSION_TOKEN"] = SESSION
        self.loud("s3://runs/log", status=1)
        self.server.token = "another"
        self.loud("s3://runs/log", "403 InvalidToken", "log in again", status=3)
        # A server that says back what it was told.
        self.server.s3 = lambda h, *_: h.reply(403, (
            f"<Error><Code>{SESSION} {clouds.SECRET}</Code><Message>{h.headers}</Message>"
            "</Error>").encode())
        self.loud("s3://runs/log", "the server answered 403", status=3)
        self.server.s3 = lambda h, *_: h.reply(
            200, str(h.headers).encode() + clouds.SECRET.encode())
        self.loud("s3://runs/log", "no list of objects", status=3)

    def test_secrets_of_google(self):
        self.env["ROOFLINT_GCS_ENDPOINT"] = self.server.url
        del self.env["NO_GCE_CHECK"]
        self.env["GCE_METADATA_HOST"] = f"127.0.0.1:{self.server.port}"
        path = "/computeMetadata/v1/instance/service-accounts/default/token"
        self.server.other[path] = lambda h: h.reply(200, json.dumps(
            {"access_token": test_buckets.BEARER, "expires_in": 3599}).encode())
        self.server.token = test_buckets.BEARER
        self.loud("gs://runs/log", status=1)
        self.server.token = "another"
        self.loud("gs://runs/log", "401 authError", "the service account of this machine", status=3)
        self.server.gcs = lambda h, *_: h.reply(403, json.dumps(
            {"error": {"message": str(h.headers), "errors": [{"reason": str(h.headers)}]}}).encode())
        self.loud("gs://runs/log", "the server answered 403", status=3)
        self.server.gcs = lambda h, *_: h.reply(200, str(h.headers).encode())
        self.loud("gs://runs/log", "no list of objects", status=3)

    def test_secrets_in_addresses(self):
        """A user and a password in an endpoint are sent, as they were given, and never told."""
        with_password = self.server.url.replace("//", f"//me:{PASSWORD}@")
        self.sign_out()
        self.server.public = True
        for endpoint in (with_password, with_password.replace("127.0.0.1", "nobody.invalid"),
                         with_password.replace("http:", "ftp:"), with_password + ":x"):
            self.env["ROOFLINT_S3_ENDPOINT"] = self.env["ROOFLINT_GCS_ENDPOINT"] = endpoint
            for scheme in ("s3", "gs"):
                said = self.rooflint("check", "-v", f"{scheme}://runs/log")
                self.assertIn(f"{scheme}://runs/log", said)

    def test_rubbish_of_a_program(self):
        self.sign_out()
        program = self.write("give.sh", f"#!/bin/sh\necho 'Welcome! {SESSION} {clouds.SECRET}'\n"
                             f"echo '{clouds.SECRET}' >&2\n")
        os.chmod(program, 0o700)
        os.chmod(self.write(".aws/config", f"[default]\ncredential_process = {program}\n"), 0o600)
        self.refused("s3://runs/log", "'default'", "credential_process", "no keys in it")
        self.assertEqual(self.server.asked, [])


if __name__ == "__main__":
    unittest.main()
