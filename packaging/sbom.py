#!/usr/bin/env python3
"""sbom.py FOLDER SOURCES RUNTIME: what is linked into the programs of FOLDER, as CycloneDX 1.6 on
stdout.

FOLDER/libraries names Debian's source packages and their versions; SOURCES holds what was fetched;
RUNTIME is the library of the compiler's package that is linked in.
"""

import hashlib
import json
import os
import sys
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))


def component(name, version, sources):
    upstream = version.rsplit("-", 1)[0].split(":")[-1]
    files = sorted(f for f in os.listdir(sources)
                   if f.startswith("%s_%s." % (name, upstream) + "orig.tar"))
    with open(os.path.join(sources, files[0]), "rb") as f:
        digest = hashlib.sha256(f.read()).hexdigest()
    return {
        "type": "library",
        "bom-ref": name,
        "name": name,
        "version": version,
        "purl": "pkg:deb/debian/%s@%s?arch=source" % (name, urllib.parse.quote(version, safe="")),
        "hashes": [{"alg": "SHA-256", "content": digest}],
    }


def main(folder, sources, runtime):
    with open(os.path.join(HERE, "..", "VERSION"), encoding="utf-8") as f:
        version = f.read().strip()
    with open(os.path.join(folder, "libraries"), encoding="utf-8") as f:
        libraries = [line.split() for line in f]
    root = {"type": "application", "bom-ref": "rooflint", "name": "rooflint", "version": version,
            "purl": "pkg:pypi/rooflint@" + version,
            "licenses": [{"license": {"id": "Apache-2.0"}}]}
    parts = [component(name, v, sources) for name, v in libraries]
    with open(os.path.join(HERE, "requirements.txt"), encoding="utf-8") as f:
        [zig] = [line.strip().split("==")[1] for line in f if line.startswith("ziglang==")]
    parts.append({"type": "library", "bom-ref": runtime, "name": runtime, "version": "of zig " + zig,
                  "purl": "pkg:pypi/ziglang@" + zig})
    json.dump({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": root},
        "components": parts,
        "dependencies": [{"ref": "rooflint", "dependsOn": [p["bom-ref"] for p in parts]}],
    }, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main(*sys.argv[1:])
