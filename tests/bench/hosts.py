#!/usr/bin/env python3
"""Hosts of one job that each run a large program of their own: hosts.py HOSTS TARGET

tests/builder's many-ops, of 20,000 ops, built once; each host has it under names of its own, which
are as long as the built ones.  Standard library only.
"""

import glob
import os
import shutil
import subprocess
import sys

BUILDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../builder")


def main(hosts, target):
    built = os.path.join(target, "built")
    run = os.path.join(target, "plugins/profile/run")
    os.makedirs(run)
    subprocess.run([sys.executable, os.path.join(BUILDER, "build.py"),
                    os.path.join(BUILDER, "scenarios/many-ops.toml"), built],
                   check=True, stdout=subprocess.DEVNULL)
    with open(glob.glob(built + "/plugins/profile/*/*.xplane.pb")[0], "rb") as f:
        space = f.read()
    shutil.rmtree(built)
    for i in range(hosts):
        own = space.replace(b"jit_train_step", b"jit_train_s%03d" % i)
        with open(os.path.join(run, "work-%03d.xplane.pb" % i), "wb") as f:
            f.write(own.replace(b"worker-0", b"work-%03d" % i))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
