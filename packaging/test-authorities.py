#!/usr/bin/env python3
"""test-authorities.py ROOFLINT-HTTP: the static program finds each system's certificates.

A root that is empty but for one file of authorities, where a system keeps it, and a server on this
machine that one of these vouches for. Without the file nothing is sent.
"""

import json
import os
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TOP, "tests", "interop"))
import server  # noqa: E402

PLACES = ["etc/ssl/certs/ca-certificates.crt", "etc/pki/tls/certs/ca-bundle.crt",
          "etc/ssl/ca-bundle.pem", "etc/ssl/cert.pem", None]


def write(root, name, data):
    path = os.path.join(root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)
    return path


def main(program):
    passed = failed = 0
    with open(program, "rb") as f:
        program = f.read()
    with tempfile.TemporaryDirectory() as folder:
        server.make_authority(folder)
        target = server.Server(folder)
        with open(os.path.join(folder, "ca.pem"), "rb") as f:
            authority = f.read()
        for i, place in enumerate(PLACES):
            root = os.path.join(folder, "root-%d" % i)
            os.chmod(write(root, "rooflint-http", program), 0o755)
            write(root, "etc/hosts", b"127.0.0.1 localhost\n")
            if place:
                write(root, place, authority)
            request = {"id": 1, "method": "POST", "length": 2, "timeout_s": 10, "attempts": 1,
                       "url": "https://localhost:%d/ok" % target.port}
            done = subprocess.run(
                ["unshare", "-r", "chroot", root, "/rooflint-http"], check=False,
                input=json.dumps(request).encode() + b"\n{}", capture_output=True,
                env={"ROOFLINT_HTTP_ALLOW": "localhost", "PATH": os.environ["PATH"]})
            answer = json.loads(done.stdout.split(b"\n")[0])
            arrived = answer["outcome"] == "delivered" and len(target.bodies()) == 1
            if arrived == bool(place) and len(target.bodies()) == arrived:
                passed += 1
            else:
                failed += 1
                print("FAIL", place, answer)
            del target.requests[:]
        target.close()
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(failed > 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
