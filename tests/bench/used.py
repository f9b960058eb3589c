#!/usr/bin/env python3
"""Runs a command and says what it used: seconds, processors' seconds, MB of its largest process.

What a process was before it executed its program counts, too, so large ones ask this small one.
"""
import os
import subprocess
import sys
import time


def used(command, **options):
    """The same of a command in a process of its own; None when it failed."""
    done = subprocess.run([sys.executable, "-S", os.path.abspath(__file__), *command],
                          stdout=subprocess.PIPE, check=False, **options)
    return None if done.returncode else tuple(float(word) for word in done.stdout.split())


def main():
    start = time.monotonic()
    child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    print(time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main())
