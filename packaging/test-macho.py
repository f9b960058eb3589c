#!/usr/bin/env python3
"""test-macho.py WHEEL...: the programs in wheels for macOS, read as its loader and kernel read them,
since they do not run here: for the processor and the release of macOS that the wheel's tag names, no
library but the system's, and a signature (arm64 demands one) whose hashes fit the bytes.
"""

import hashlib
import re
import struct
import sys
import zipfile

EXECUTE, PIE = 2, 0x200000
PROCESSORS = {"arm64": 0x100000c, "x86_64": 0x1000007}
LIBRARIES = {0xc, 0x80000018, 0x8000001f, 0x80000023}  # load, weak, reexport, upward
SIGNATURE, BUILD_VERSION, MACOS = 0x1d, 0x32, 1
SUPERBLOB, DIRECTORY, ADHOC, SHA256 = 0xfade0cc0, 0xfade0c02, 2, 2


def commands(data):
    count, = struct.unpack_from("<I", data, 16)
    at = 32
    for _ in range(count):
        kind, size = struct.unpack_from("<II", data, at)
        yield kind, data[at:at + size]
        at += size


def check_signature(data, start):
    magic, _, count = struct.unpack_from(">III", data, start)
    assert magic == SUPERBLOB
    places = [struct.unpack_from(">II", data, start + 12 + 8 * i)[1] for i in range(count)]
    [at] = [start + p for p in places if struct.unpack_from(">I", data, start + p)[0] == DIRECTORY]
    flags, hashes, _, _, slots, limit = struct.unpack_from(">IIIIII", data, at + 12)
    size, kind, _, page = struct.unpack_from("BBBB", data, at + 36)
    assert flags & ADHOC and kind == SHA256 and size == 32
    assert limit == start, "all bytes before the signature are signed"
    page = 1 << page
    assert slots == -(-limit // page)
    for i in range(slots):
        expected = data[at + hashes + size * i:][:size]
        assert hashlib.sha256(data[i * page:min(limit, (i + 1) * page)]).digest() == expected, i


def check(data, oldest, processor):
    magic, cpu, _, filetype, _, _, flags = struct.unpack_from("<IIIIIII", data)
    assert magic == 0xfeedfacf and cpu == PROCESSORS[processor]
    assert filetype == EXECUTE and flags & PIE
    libraries, signatures, versions = [], [], []
    for kind, body in commands(data):
        if kind in LIBRARIES:
            libraries.append(body[struct.unpack_from("<I", body, 8)[0]:].split(b"\0")[0].decode())
        elif kind == SIGNATURE:
            signatures.append(struct.unpack_from("<I", body, 8)[0])
        elif kind == BUILD_VERSION:
            versions.append(struct.unpack_from("<II", body, 8))
    assert libraries == ["/usr/lib/libSystem.B.dylib"], libraries
    assert versions == [(MACOS, oldest[0] << 16 | oldest[1] << 8)], versions
    assert len(signatures) == (processor == "arm64")
    for start in signatures:
        check_signature(data, start)


def main(wheels):
    passed = 0
    for wheel in wheels:
        tag = re.search(r"-py3-none-macosx_(\d+)_(\d+)_(arm64|x86_64)\.whl$", wheel)
        with zipfile.ZipFile(wheel) as z:
            programs = [n for n in z.namelist() if n.endswith(("scripts/rooflint", "rooflint-http"))]
            assert len(programs) == 2, programs
            for name in programs:
                assert z.getinfo(name).external_attr >> 16 & 0o111 == 0o111, name
                check(z.read(name), (int(tag[1]), int(tag[2])), tag[3])
                passed += 1
    print("%d programs for macOS" % passed)


if __name__ == "__main__":
    main(sys.argv[1:])
