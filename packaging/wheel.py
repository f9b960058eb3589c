#!/usr/bin/env python3
"""wheel.py FOLDER PLATFORM OUT: a wheel with the programs of FOLDER (as dist.sh leaves them).

PLATFORM is the wheel's platform tag.  On Linux a static program runs under every libc, so one wheel
carries the tags of glibc and of musl.  The programs go to PATH (bin) and to libexec, where rooflint looks
for rooflint-http; the same inputs give the same bytes.
"""

import base64
import hashlib
import os
import subprocess
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)

LICENSES = os.path.join("share", "doc", "rooflint", "licenses")

METADATA = """\
Metadata-Version: 2.4
Name: rooflint
Version: {version}
Summary: A linter for accelerator performance: judges the profiles of JAX and XLA jobs
License-Expression: Apache-2.0
{licenses}Requires-Python: >=3.9
Classifier: Environment :: Console
Classifier: Framework :: Pytest
Classifier: Intended Audience :: Developers
Classifier: Topic :: Software Development :: Quality Assurance
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

{readme}"""

WHEEL = """\
Wheel-Version: 1.0
Generator: rooflint
Root-Is-Purelib: false
"""

ENTRY_POINTS = """\
[pytest11]
rooflint = rooflint.pytest_plugin
"""


def read(*path):
    with open(os.path.join(*path), "rb") as f:
        return f.read()


def license_names(folder):
    """Of the libraries that are linked in; none where the system's are used."""
    path = os.path.join(folder, LICENSES)
    return sorted(os.listdir(path)) if os.path.isdir(path) else []


def contents(folder, version, platform):
    """(name in the wheel, bytes, mode) of every file but RECORD."""
    package = os.path.join(HERE, "python", "rooflint")
    data, info = "rooflint-%s.data" % version, "rooflint-%s.dist-info" % version
    for name in sorted(os.listdir(package)):
        if name.endswith((".py", "py.typed")) and name != "_report.py":
            yield "rooflint/" + name, read(package, name), 0o644
    yield "rooflint/_report.py", subprocess.run(
        [sys.executable, os.path.join(HERE, "python", "models.py"),
         os.path.join(TOP, "docs", "report.schema.json")], stdout=subprocess.PIPE,
        check=True).stdout, 0o644
    yield data + "/scripts/rooflint", read(folder, "bin", "rooflint"), 0o755
    yield data + "/data/libexec/rooflint/rooflint-http", \
        read(folder, "libexec", "rooflint", "rooflint-http"), 0o755
    for root, _, names in sorted(os.walk(os.path.join(folder, "share"))):
        if os.path.basename(root) not in ("rooflint", "licenses"):
            for name in sorted(names):
                yield "%s/data/%s/%s" % (data, os.path.relpath(root, folder), name), \
                    read(root, name), 0o644
    licenses = "".join("License-File: %s\n" % name for name in ["LICENSE"] + license_names(folder))
    readme = read(HERE, "python", "README.md").decode()
    yield info + "/METADATA", METADATA.format(
        version=version, licenses=licenses, readme=readme).encode(), 0o644
    tags = "".join("Tag: py3-none-%s\n" % tag for tag in platform.split("."))
    yield info + "/WHEEL", (WHEEL + tags).encode(), 0o644
    yield info + "/entry_points.txt", ENTRY_POINTS.encode(), 0o644
    yield info + "/licenses/LICENSE", read(TOP, "LICENSE"), 0o644
    for name in license_names(folder):
        yield info + "/licenses/" + name, read(folder, LICENSES, name), 0o644
    doc = os.path.join(folder, "share", "doc", "rooflint")
    if os.path.exists(os.path.join(doc, "sbom.cdx.json")):
        yield info + "/sboms/rooflint.cdx.json", read(doc, "sbom.cdx.json"), 0o644


def main(folder, platform, out):
    version = read(TOP, "VERSION").decode().strip()
    record = ""
    path = os.path.join(out, "rooflint-%s-py3-none-%s.whl" % (version, platform))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        def add(name, body, mode):
            entry = zipfile.ZipInfo(name)  # 1980, whatever the clock says
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(entry, body)

        for name, body, mode in contents(folder, version, platform):
            digest = base64.urlsafe_b64encode(hashlib.sha256(body).digest()).decode().rstrip("=")
            record += "%s,sha256=%s,%d\n" % (name, digest, len(body))
            add(name, body, mode)
        name = "rooflint-%s.dist-info/RECORD" % version
        add(name, (record + name + ",,\n").encode(), 0o644)
    print(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
