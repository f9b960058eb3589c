#!/usr/bin/env python3
"""A check with its page beside XProf's tools that answer the same questions: beside_xprof.py XPLANE_PB

    python -m venv venv && venv/bin/pip install xprof
    venv/bin/python tests/bench/beside_xprof.py grown.xplane.pb     # grow.py makes one

The two take turns, three times; each is a process of its own.  Told are the medians of elapsed and
processor time and of peak memory, and which of XProf's tools gave an answer.  XProf keeps what it made
of a capture beside it, so it gets a fresh folder each time.

From the environment: ROOFLINT.
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOFLINT = os.environ.get("ROOFLINT", os.path.join(HERE, "../../build/rooflint"))
TOOLS = ("overview_page", "framework_op_stats", "hlo_stats", "roofline_model", "memory_profile")
TURNS = 3
XPROF = """
import sys
from xprof.convert import raw_to_tool_data
for tool in sys.argv[2:]:
    answer, _ = raw_to_tool_data.xspace_to_tool_data([sys.argv[1]], tool, {})
    print(tool, len(answer or b""))
"""


def measured(command):
    """Elapsed and processor seconds, peak bytes, and what it wrote."""
    begin = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        said = child.stdout.read().decode()
        _, _, used = os.wait4(child.pid, 0)
        child.returncode = 0
    return (time.perf_counter() - begin, used.ru_utime + used.ru_stime,
            used.ru_maxrss * 1024, said)


def main():
    capture = sys.argv[1]
    turns = {"rooflint": [], "xprof": []}
    for _ in range(TURNS):
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(folder, "plugins", "profile", "run", "host.xplane.pb")
            os.makedirs(os.path.dirname(copy))
            shutil.copy(capture, copy)
            page = os.path.join(folder, "page.html")
            turns["rooflint"].append(measured([ROOFLINT, "check", copy, "--html", page]))
            turns["xprof"].append(measured([sys.executable, "-c", XPROF, copy, *TOOLS]))
    print(turns["xprof"][0][3].strip().replace("\n", ", "))
    for name, rows in turns.items():
        elapsed, processor, memory = (statistics.median(r[i] for r in rows) for i in range(3))
        print(f"{name:9} {elapsed:6.2f} s elapsed, {processor:6.2f} s of processors, "
              f"{memory / 2**20:5.0f} MiB")


if __name__ == "__main__":
    main()
