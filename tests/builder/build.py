#!/usr/bin/env python3
"""Build a profile directory from a scenario.

    python3 tests/builder/build.py SCENARIO.toml OUTDIR [SCENARIO.toml OUTDIR]...

writes OUTDIR/plugins/profile/<run>/<host>.xplane.pb for each host, and beside them
rooflint.job.yaml when the scenario has a job_file.  The same scenario always gives
the same bytes.

The tests take captures from kept(), which builds each once: it keeps them in build/captures
by the hash of the scenario and of the builder.
"""

import fcntl
import functools
import hashlib
import json
import os
import pickle
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import derive
import host as host_planes
import scenario as scenarios
import sim
import tpu
import xspace


def tpu_planes(s, replay, host):
    """Planes in the order of real TPU files: devices, metadata, host, environment."""
    base = s.base(host)
    planes = []
    for local, device in enumerate(s.devices_of(host)):
        runs = [r for r in replay.runs if r.device == device]
        planes.append(tpu.Device(s, host, local, base).write(runs))
        if s.sparse_cores:
            planes.append(tpu.sparse_core(s, host, local, base, runs))
    end = max((r.end for r in replay.runs), default=base) + 5 * 10**9
    planes.append(host_planes.metadata_plane(s))
    planes.append(host_planes.HostPlane(s, host, base).write(replay.steps[host]))
    planes.append(host_planes.environment_plane(s, host, base, end))
    return planes


PLANES = {"/host:metadata": "hlo", "Task Environment": "environment", "/host:CPU": "host"}


def finished(s, planes):
    """The planes as they are saved: without what is left out, shuffled if asked."""
    for line in (line for plane in planes for line in plane.lines):
        line.shuffled = s.shuffled
    return [p for p in planes if PLANES.get(p.name) not in s.without]


def scenario_path(name):
    return os.path.join(HERE, "scenarios", name + ".toml")


def build(path):
    """{relative file name: bytes} of a scenario file."""
    return build_spec(derive.load(path))


def build_spec(spec):
    """The same of a scenario that is read already."""
    s = scenarios.Scenario(spec)
    files = {}
    if s.tpu:
        replay, planes_of = sim.Simulation(s).run(), tpu_planes
    else:
        import gpu

        replay, planes_of = gpu.Simulation(s).run(), gpu.planes
    for host, name in enumerate(s.hosts):
        if host not in s.missing_hosts:
            planes = finished(s, planes_of(s, replay, host))
            names = [] if "hostnames" in s.without else [name]
            data = xspace.write_space(planes, names, s.warnings, s.errors) * s.copies
            for other in s.followed_by:
                data += next(iter(build(scenario_path(other)).values()))
            run = s.host_runs.get(name, s.run)
            files[os.path.join("plugins", "profile", run, name + ".xplane.pb")] = data
    if "job_file" in spec:
        job = spec["job_file"].encode()
        files[os.path.join("plugins", "profile", s.run, "rooflint.job.yaml")] = job
    return files


KEPT = os.path.join(HERE, "..", "..", "build", "captures")
KEPT_DAYS = 7  # without being asked for


@functools.cache
def code():
    """What a capture comes from besides its scenario."""
    text = b""
    for name in sorted(os.listdir(HERE)):
        if name.endswith(".py") and not name.startswith("test_"):
            with open(os.path.join(HERE, name), "rb") as file:
                text += file.read()
    return text


def kept(spec):
    """What build_spec says, from KEPT if it was built before."""
    followed = [derive.load(scenario_path(name)) for name in scenarios.Scenario(spec).followed_by]
    digest = hashlib.sha256(code() + json.dumps([spec, followed], default=str).encode())
    path = os.path.join(KEPT, digest.hexdigest())
    os.makedirs(KEPT, exist_ok=True)
    with open(path, "a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # another group may be building the same
        file.seek(0)
        try:
            files = pickle.load(file)
            os.utime(path)
        except (EOFError, pickle.UnpicklingError):  # new, or a run was killed over it
            files = build_spec(spec)
            file.truncate(0)
            pickle.dump(files, file)
            forget()
    return files


def forget():
    """Delete what no test has asked for in KEPT_DAYS."""
    with os.scandir(KEPT) as entries:
        for entry in entries:
            if time.time() - entry.stat().st_mtime > KEPT_DAYS * 86400:
                os.remove(entry.path)


def main(argv):
    if len(argv) < 3 or len(argv) % 2 == 0:
        sys.stderr.write(__doc__)
        return 2
    for scenario, out in zip(argv[1::2], argv[2::2]):
        for name, data in kept(derive.load(scenario)).items():
            path = os.path.join(out, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(data)
            print(f"{path}: {len(data)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
