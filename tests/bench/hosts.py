#!/usr/bin/env python3
"""Hosts of one job that each run a large program of their own: hosts.py HOSTS TARGET

tests/builder's many-ops, of 20,000 ops, with other shapes and another module for each host.  Takes
some fifteen seconds of processor time a host.  Standard library only.
"""

import glob
import os
import shutil
import subprocess
import sys

BUILDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../builder")


def main(hosts, target):
    with open(os.path.join(BUILDER, "scenarios/many-ops.toml"), encoding="utf-8") as f:
        scenario = f.read()
    run = os.path.join(target, "plugins/profile/run")
    os.makedirs(run)
    for i in range(hosts):
        one = os.path.join(target, "one")
        text = scenario.replace('"worker-0"', '"worker-%d"' % i)
        text = text.replace('module = "jit_train_step"', 'module = "jit_train_step_%d"' % i)
        text = text.replace("f32[64,1024]", "f32[64,%d]" % (1024 + 128 * i))
        with open(one + ".toml", "w", encoding="utf-8") as f:
            f.write(text)
        subprocess.run([sys.executable, os.path.join(BUILDER, "build.py"), one + ".toml", one],
                       check=True, stdout=subprocess.DEVNULL)
        os.rename(glob.glob(one + "/plugins/profile/*/*.xplane.pb")[0],
                  os.path.join(run, "worker-%d.xplane.pb" % i))
        shutil.rmtree(one)
        os.remove(one + ".toml")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
