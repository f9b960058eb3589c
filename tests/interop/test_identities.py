"""Who asks for buckets: the ways by which the clouds' own tools come to keys, against services of
our own.  What they do with them is in test_buckets.py."""

import datetime
import json
import os
import sys
import time
import unittest
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import clouds  # noqa: E402
import test_buckets  # noqa: E402
from together import load_tests  # noqa: E402, F401

TOKEN = "token-of-the-tests"
SESSION = "session-of-the-tests"
ROLE = "arn:aws:iam::123456789012:role/reader"


def moment(seconds):
    at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def keys(token="Token", **more):
    return {"AccessKeyId": clouds.KEY, "SecretAccessKey": clouds.SECRET, token: SESSION,
            "Expiration": moment(3600), **more}


class Amazon(test_buckets.Served):
    def setUp(self):
        super().setUp()
        self.sign_out()
        self.server.token = SESSION
        self.env["AWS_ENDPOINT_URL_STS"] = self.server.url
        self.forms = []
        self.server.other["/"] = self.sts

    # ---- services ------------------------------------------------------------------------------

    def sts(self, h):
        """AssumeRoleWithWebIdentity."""
        body = h.rfile.read(int(h.headers["content-length"])).decode()
        form = dict(urllib.parse.parse_qsl(body))
        self.forms.append(form)
        if form["Action"] != "AssumeRoleWithWebIdentity" or form["RoleArn"] != ROLE or \
                form["Version"] != "2011-06-15" or form["WebIdentityToken"] != TOKEN or \
                h.headers["content-type"] != "application/x-www-form-urlencoded" or \
                "authorization" in h.headers:
            return h.refuse(403, "AccessDenied")
        return h.reply(200, (
            "<A xmlns='https://sts'><AssumeRoleWithWebIdentityResult><Credentials>"
            f"<AccessKeyId>{clouds.KEY}</AccessKeyId>"
            f"<SecretAccessKey>{clouds.SECRET}</SecretAccessKey>"
            f"<SessionToken>{SESSION}</SessionToken><Expiration>{moment(3600)}</Expiration>"
            "</Credentials></AssumeRoleWithWebIdentityResult></A>").encode())

    def config(self, text, mode=0o600):
        path = self.write(".aws/config", text)
        os.chmod(path, mode)

    def program(self, answer, *lines):
        """A program that prints the answer, with its arguments behind it in a file."""
        path = self.write("give keys.sh", "\n".join(
            ["#!/bin/sh", f"printf '%s\\n' \"$@\" >'{self.box}/arguments'",
             "echo token-of-the-tests >&2", *lines,
             f"cat <<'END'\n{json.dumps(answer)}\nEND", ""]))
        os.chmod(path, 0o700)
        self.env["PATH"] = os.environ["PATH"]
        return path

    def good(self):
        self.judge("s3://runs/log")
        self.assertEqual(len(self.server.fetched), 2)

    # ---- web identity --------------------------------------------------------------------------

    def test_web_identity_of_the_environment(self):
        self.env["AWS_WEB_IDENTITY_TOKEN_FILE"] = self.write("token", TOKEN + "\n")
        self.env.update(AWS_ROLE_ARN=ROLE, AWS_ROLE_SESSION_NAME="nightly job")
        self.good()
        self.assertEqual(len(self.forms), 1)  # kept while it lasts
        self.assertEqual(self.forms[0]["RoleSessionName"], "nightly job")

    def test_web_identity_of_a_profile(self):
        token = self.write("token", TOKEN)
        self.config(f"[profile ci]\nrole_arn = {ROLE}\nweb_identity_token_file = {token}\n")
        self.env["AWS_PROFILE"] = "ci"
        self.good()

    def test_web_identity_refused(self):
        self.env["AWS_WEB_IDENTITY_TOKEN_FILE"] = self.write("token", "another")
        self.refused("s3://runs/log", "$AWS_WEB_IDENTITY_TOKEN_FILE", "$AWS_ROLE_ARN is not set")
        self.env["AWS_ROLE_ARN"] = ROLE
        self.refused("s3://runs/log", "(STS) answered 403 AccessDenied", ROLE, "trust policy")
        self.env["AWS_WEB_IDENTITY_TOKEN_FILE"] = os.path.join(self.box, "none")
        self.refused("s3://runs/log", "token of the web identity", "none")
        self.env["AWS_WEB_IDENTITY_TOKEN_FILE"] = self.write("token", TOKEN)
        self.env["AWS_ENDPOINT_URL_STS"] = "http://sts.example"
        self.refused("s3://runs/log", "AWS_ENDPOINT_URL_STS", "begins with http://")
        self.assertEqual(self.server.listed, [])

    def test_ended_keys(self):
        self.env["AWS_WEB_IDENTITY_TOKEN_FILE"] = self.write("token", TOKEN)
        self.env["AWS_ROLE_ARN"] = ROLE
        self.server.other["/"] = lambda h: h.reply(200, (
            f"<A><AccessKeyId>{clouds.KEY}</AccessKeyId><SecretAccessKey>{clouds.SECRET}"
            f"</SecretAccessKey><Expiration>{moment(-5)}</Expiration></A>").encode())
        self.refused("s3://runs/log", "have ended already")
        self.server.other["/"] = lambda h: h.reply(200, b"<html>welcome</html>")
        self.refused("s3://runs/log", "no keys in it")

    # ---- what other tools do -------------------------------------------------------------------

    def test_roles_and_sso_name_the_command(self):
        said = "aws configure export-credentials --profile 'team' --format env", "credential_process"
        self.env["AWS_PROFILE"] = "team"
        self.config(f"[profile team]\nrole_arn = {ROLE}\nsource_profile = team\n"
                    "aws_access_key_id = AKIABASE\naws_secret_access_key = base/secret\n")
        self.refused("s3://runs/log", "'team'", "role_arn", *said)
        self.config("[profile team]\nsso_session = corp\nsso_account_id = 1\n")
        self.refused("s3://runs/log", "'team'", "SSO", *said)
        self.config("[profile team]\nsso_start_url = https://corp.example/start\n")
        self.refused("s3://runs/log", "'team'", "SSO", *said)
        self.assertEqual(self.forms, [])

    def test_keys_beside_sso(self):
        path = self.program(keys("SessionToken", Version=1))
        self.config(f'[default]\nsso_session = corp\ncredential_process = "{path}"\n')
        self.good()

    # ---- programs ------------------------------------------------------------------------------

    def test_process(self):
        path = self.program(keys("SessionToken", Version=1))
        self.config(f'[default]\ncredential_process = "{path}" --for \'a $HOME\' b\\ c ""\n')
        self.good()
        with open(os.path.join(self.box, "arguments"), encoding="utf-8") as f:
            self.assertEqual(f.read(), "--for\na $HOME\nb c\n\n")  # words, and no shell

    def test_process_fails(self):
        run = lambda: self.config(f'[default]\ncredential_process = "{path}"\n')  # noqa: E731
        path = self.program({}, "exit 3")
        run()
        said = self.refused("s3://runs/log", "credential_process", "ended with status 3", "by hand")
        self.assertNotIn(TOKEN, said)
        self.program({"Version": 1})
        self.refused("s3://runs/log", "no keys in it")
        self.program(keys(Expiration=moment(-1)))
        self.refused("s3://runs/log", "ended already")
        self.program({}, "head -c 3000000 /dev/zero")
        self.refused("s3://runs/log", "printed more than any keys have")
        path = "/nonexistent/program"
        run()
        self.refused("s3://runs/log", "there is no such program")
        self.config("[default]\ncredential_process = 'open\n")
        self.refused("s3://runs/log", "a quote is left open")

    def test_process_of_a_file_that_others_write(self):
        path = self.program(keys("SessionToken", Version=1))
        self.config(f'[default]\ncredential_process = "{path}"\n', mode=0o666)
        self.refused("s3://runs/log", "is not run", "others may write to it")
        self.assertFalse(os.path.exists(os.path.join(self.box, "arguments")))

    # ---- containers ----------------------------------------------------------------------------

    def container(self, token):
        self.server.other["/v1/credentials"] = lambda h: h.reply(
            200 if h.headers.get("authorization") == token else 403, json.dumps(keys()).encode())
        self.env["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = self.server.url + "/v1/credentials"

    def test_container(self):
        self.container(None)
        self.good()

    def test_pod(self):
        self.container(TOKEN)
        self.env["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = self.write("pod", TOKEN)
        self.good()

    def test_container_refused(self):
        self.container(TOKEN)
        self.refused("s3://runs/log", "role of this container", "answered 403")
        self.server.other["/v1/credentials"] = lambda h: time.sleep(30)
        self.refused("s3://runs/log", "role of this container: no answer came in time")
        self.env["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = "a\nb: c"
        self.refused("s3://runs/log", "more than one line")
        self.env["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = os.path.join(self.box, "none")
        self.refused("s3://runs/log", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "none")
        self.env["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://agent.example/v1"
        self.refused("s3://runs/log", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "begins with http://")
        self.env["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] = "@other.example/v1"
        self.refused("s3://runs/log", "does not begin with '/'")


class Google(test_buckets.Served):
    def setUp(self):
        super().setUp()
        self.env["ROOFLINT_GCS_ENDPOINT"] = self.server.url
        self.server.token = test_buckets.BEARER
        self.forms = []
        self.server.other["/v1/token"] = self.exchange
        self.server.other["/become"] = self.become
        self.given = "federated-of-the-tests"

    def exchange(self, h):
        form = dict(urllib.parse.parse_qsl(
            h.rfile.read(int(h.headers["content-length"])).decode()))
        self.forms.append(form)
        fine = form["subject_token"] == TOKEN and form["audience"] == "//iam/pool" and \
            form["grant_type"] == "urn:ietf:params:oauth:grant-type:token-exchange" and \
            form["subject_token_type"] == "urn:ietf:params:oauth:token-type:jwt"
        h.reply(200 if fine else 400, json.dumps(
            {"access_token": self.given, "expires_in": 3599} if fine else
            {"error": "invalid_grant", "error_description": TOKEN}).encode())

    def become(self, h):
        body = json.loads(h.rfile.read(int(h.headers["content-length"])))
        self.forms.append(body)
        fine = h.headers["authorization"] == "Bearer " + self.given and \
            body["lifetime"] == "3600s" and body["scope"][0].endswith("devstorage.read_only")
        h.reply(200 if fine else 403, json.dumps(
            {"accessToken": test_buckets.BEARER, "expireTime": moment(3600)} if fine else
            {"error": {"code": 403, "status": "PERMISSION_DENIED", "message": TOKEN}}).encode())

    def external(self, source, **more):
        self.env["GOOGLE_APPLICATION_CREDENTIALS"] = self.write("adc.json", json.dumps({
            "type": "external_account", "audience": "//iam/pool", "token_url":
            self.server.url + "/v1/token", "credential_source": source,
            "subject_token_type": "urn:ietf:params:oauth:token-type:jwt", **more}))

    def good(self):
        self.judge("gs://runs/log")
        self.assertEqual(len(self.server.fetched), 2)

    def test_federation_by_file(self):
        self.given = test_buckets.BEARER
        self.external({"file": self.write("token", TOKEN + "\n")})
        self.good()
        self.assertTrue(self.forms[0]["scope"].endswith("/devstorage.read_only"))
        self.assertEqual(len(self.forms), 1)

    def test_federation_and_impersonation(self):
        self.external({"file": self.write("token.json", json.dumps({"id": TOKEN})), "format": {
            "type": "json", "subject_token_field_name": "id"}},
            service_account_impersonation_url=self.server.url + "/become")
        self.good()
        self.assertTrue(self.forms[0]["scope"].endswith("/cloud-platform"))
        self.cache = self.env["ROOFLINT_CACHE"] = os.path.join(self.box, "second")
        self.given, become = "another", self.server.other["/become"]
        self.server.other["/become"] = lambda h: (setattr(self, "given", "x"), become(h))
        self.refused("gs://runs/log", "impersonation", "403 PERMISSION_DENIED",
                     "serviceAccountTokenCreator")

    def test_federation_by_url(self):
        self.given = test_buckets.BEARER
        self.server.other["/oidc"] = lambda h: h.reply(
            200 if h.headers.get("authorization") == "bearer job" else 401,
            json.dumps({"value": TOKEN}).encode())
        source = {"url": self.server.url + "/oidc?audience=x", "headers":
                  {"Authorization": "bearer job"}, "format":
                  {"type": "json", "subject_token_field_name": "value"}}
        self.external(source)
        self.good()
        self.cache = self.env["ROOFLINT_CACHE"] = os.path.join(self.box, "second")
        self.external({**source, "headers": {"Authorization": "no"}})
        self.refused("gs://runs/log", "adc.json", "credential_source", "answered 401")
        self.external({**source, "url": "http://elsewhere.example/"})
        self.refused("gs://runs/log", "credential_source", "begins with http://")

    def test_federation_refused(self):
        self.external({"file": os.path.join(self.box, "none")})
        self.refused("gs://runs/log", "adc.json", "credential_source", "none")
        self.external({"file": self.write("token", "")})
        self.refused("gs://runs/log", "no token is in its credential_source")
        self.external({"file": self.write("token", "another")})
        self.refused("gs://runs/log", "(STS) of Google answered 400 invalid_grant", "provider")
        self.external({"environment_id": "aws1", "url": "http://169.254.169.254/"})
        self.refused("gs://runs/log", "neither a file nor a url")
        self.external({"file": self.write("token", TOKEN)}, token_url="http://sts.example/token")
        self.refused("gs://runs/log", "begins with http://")
        self.external({"file": self.write("token", TOKEN)}, audience="")
        self.refused("gs://runs/log", "needs token_url and audience")

    def user(self):
        def answer(h):
            form = dict(urllib.parse.parse_qsl(
                h.rfile.read(int(h.headers["content-length"])).decode()))
            fine = form == {"grant_type": "refresh_token", "client_id": "me",
                            "client_secret": "my own", "refresh_token": TOKEN}
            h.reply(200 if fine else 400, json.dumps(
                {"access_token": self.given, "expires_in": 3599} if fine else
                {"error": "invalid_grant"}).encode())
        self.server.other["/token"] = answer
        return {"type": "authorized_user", "client_id": "me", "client_secret": "my own",
                "refresh_token": TOKEN, "token_uri": self.server.url + "/token"}

    def test_user_of_gcloud(self):
        self.given = test_buckets.BEARER
        self.write(".config/gcloud/application_default_credentials.json", json.dumps(self.user()))
        self.good()

    def test_user_without_a_token(self):
        self.env["CLOUDSDK_CONFIG"] = self.box
        self.write("application_default_credentials.json",
                   json.dumps({**self.user(), "refresh_token": ""}))
        self.refused("gs://runs/log", "no refresh_token in it")
        self.write("application_default_credentials.json",
                   json.dumps({**self.user(), "refresh_token": "old"}))
        self.refused("gs://runs/log", "400 invalid_grant", "revoked")

    def test_impersonation_of_gcloud(self):
        path = self.write("adc.json", json.dumps({
            "type": "impersonated_service_account", "delegates": ["robot"],
            "service_account_impersonation_url": self.server.url + "/become",
            "source_credentials": self.user()}))
        self.env["GOOGLE_APPLICATION_CREDENTIALS"] = path
        self.good()
        self.assertEqual(self.forms[-1]["delegates"], ["robot"])
        self.write("adc.json", json.dumps({"type": "impersonated_service_account"}))
        self.cache = self.env["ROOFLINT_CACHE"] = os.path.join(self.box, "second")
        self.refused("gs://runs/log", "needs service_account_impersonation_url")


if __name__ == "__main__":
    unittest.main()
