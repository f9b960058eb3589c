#!/usr/bin/env python3
"""Build a profile directory from a scenario.

    python3 tests/builder/build.py SCENARIO.toml OUTDIR

writes OUTDIR/plugins/profile/<run>/<host>.xplane.pb for each host, and beside them
rooflint.job.yaml when the scenario has a job_file.  The same scenario always gives
the same bytes.

With BUILT in the environment, what was built of a scenario is kept in that folder and
taken from there the next time: tests/run-all.sh builds a capture once for all groups.
"""

import fcntl
import hashlib
import json
import os
import pickle
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

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
    here = os.path.dirname(os.path.abspath(__file__))
    return os.path.join(here, "scenarios", name + ".toml")


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
            data = xspace.write_space(planes, [name], s.warnings, s.errors) * s.copies
            for other in s.followed_by:
                data += next(iter(build(scenario_path(other)).values()))
            run = s.host_runs.get(name, s.run)
            files[os.path.join("plugins", "profile", run, name + ".xplane.pb")] = data
    if "job_file" in spec:
        job = spec["job_file"].encode()
        files[os.path.join("plugins", "profile", s.run, "rooflint.job.yaml")] = job
    return files


def kept(spec):
    """What build_spec says, from the folder BUILT if it is there already."""
    folder = os.environ.get("BUILT")
    if not folder:
        return build_spec(spec)
    key = hashlib.sha256(json.dumps(spec, default=str).encode()).hexdigest()
    with open(os.path.join(folder, key), "a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # another group may be building the same
        file.seek(0)
        data = file.read()
        if data:
            return pickle.loads(data)
        files = build_spec(spec)
        file.write(pickle.dumps(files))
    return files


def main(argv):
    if len(argv) != 3:
        sys.stderr.write(__doc__)
        return 2
    for name, data in kept(derive.load(argv[1])).items():
        path = os.path.join(argv[2], name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
        print(f"{path}: {len(data)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
