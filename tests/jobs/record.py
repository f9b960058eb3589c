#!/usr/bin/env python3
"""Record the jobs of jobs.py: one folder each, with the capture and what is true of it.

    python -m venv venv && venv/bin/pip install jax xprof
    venv/bin/python record.py OUT [NAME...]

Run it from a neutral directory: its path ends up in the captures.  OUT/NAME/ holds
plugins/profile/RUN/host0.xplane.pb and truth.json, which says what the job's own clock saw, what
the compiler's text says of its collectives, and what XProf makes of the capture.
"""

import glob
import json
import os
import shutil
import socket
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# What a job frees stays its own: to give pages back and take them again is up to a millisecond
# between a dispatch and its first op, in every other step.
KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(1 << 32), "MALLOC_MMAP_THRESHOLD_": str(1 << 32)}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def rename_host(space, name):
    """XSpace with its hostnames (field 4) replaced."""
    out, at = bytearray(), 0
    while at < len(space):
        start = at
        tag, at = varint(space, at)
        size, at = varint(space, at)
        at += size
        if tag >> 3 != 4:
            out += space[start:at]
    return bytes(out) + b"\x22" + bytes([len(name)]) + name.encode()


def xprof_says(paths):
    """Step time as XProf's overview has it, in ms; None where it finds no step."""
    from xprof.convert import raw_to_tool_data
    data, _ = raw_to_tool_data.xspace_to_tool_data(paths, "overview_page", {})
    for table in json.loads(data):
        average = table.get("p", {}).get("steptime_ms_average")
        if average:
            return {"step_ms": float(average)}
    return None


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def run(name, out):
    ranks = 2 if name in ("processes", "marked_stages") else 1
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    port = str(free_port())
    parts = [out if rank == 0 else out + ".%d" % rank for rank in range(ranks)]
    children = [subprocess.Popen(
        [sys.executable, os.path.join(HERE, "jobs.py"), name, part],
        env={**os.environ, **KEEP_MEMORY, "JOB_RANK": str(rank), "JOB_PORT": port,
             "XLA_FLAGS": "", "TF_CPP_MIN_LOG_LEVEL": "3"})
        for rank, part in enumerate(parts)]
    if any([c.wait(300) for c in children]):
        sys.exit("%s failed" % name)
    paths = []
    folder = os.path.dirname(glob.glob(out + "/plugins/profile/*/*.xplane.pb")[0])
    for rank, part in enumerate(parts):
        [path] = glob.glob(part + "/plugins/profile/*/*.xplane.pb")
        with open(path, "rb") as f:
            space = rename_host(f.read(), "host%d" % rank)
        os.remove(path)
        paths.append(os.path.join(folder, "host%d.xplane.pb" % rank))
        with open(paths[-1], "wb") as f:
            f.write(space)
    for part in parts[1:]:
        shutil.rmtree(part)
    for path in glob.glob(folder + "/*.trace.json.gz"):
        os.remove(path)
    with open(out + "/truth.json") as f:
        truth = json.load(f)
    truth["xprof"] = xprof_says(paths)
    for path in glob.glob(folder + "/*"):
        if not path.endswith(".xplane.pb"):
            os.remove(path)  # what XProf leaves beside a capture
    with open(out + "/truth.json", "w") as f:
        json.dump(truth, f, separators=(",", ":"), sort_keys=True)
        f.write("\n")
    print("%-18s %7d bytes" % (name, sum(map(os.path.getsize, paths))), truth["xprof"])


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    names = sys.argv[2:]
    if not names:
        sys.path.insert(0, HERE)
        with open(os.path.join(HERE, "jobs.py")) as f:
            names = f.read().split("JOBS = [")[1].split("]")[0].replace("\n", " ").split(",")
    for name in names:
        run(name.strip(), os.path.join(sys.argv[1], name.strip()))


main()
