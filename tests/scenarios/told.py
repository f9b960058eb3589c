#!/usr/bin/env python3
"""One job told in many ways: by the host's marks, by Steps lines, by Modules lines, by its ops alone.

    python3 tests/scenarios/told.py [SCENARIO...]

Whatever tells where a step begins and ends, the same rules find the same.  The reference is the
job whose host marks its steps, on devices without lines of their own.  ROOFLINT names the program.
"""

import copy
import itertools
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "builder"))
if sys.version_info < (3, 11):
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)

import derive
import run as scenarios

TPU = ["input-bound", "straggler-chip", "slow-evaluation", "inference"]
GPU = ["nvidia-slow-nccl"]
# A line's mark that holds an evaluation, which hides the wait for the next batch, is another sort of
# step; beside host marks it is a step that waits for nothing.
NOT_ALIKE = {("slow-evaluation", "stalling")}
LINES = ["none", "modules", "contiguous"]
MARKS = [True, False]
MODULES = [True, False]


def compiling(spec):
    """Each step but the first compiles for 5 ms, a thing that a healthy job hides."""
    first = spec["job"].get("first_step", 0)
    spec["recompile"] = [{"step": first + i, "time": "5ms"} for i in range(1, spec["job"]["steps"])]


def stalling(spec):
    spec["stall"] = spec.get("stall", []) + [{"name": "next(iterator)", "time": "20ms"}]


def skewed(spec):
    spec["file"]["device_clock_skew"] = "3ms"


HAPPENS = {"as it is": lambda spec: None, "compiling": compiling, "stalling": stalling,
           "on another clock": skewed}


def told(spec, is_marked, line, has_modules):
    spec = copy.deepcopy(spec)
    if not is_marked:
        spec["job"]["step_name"] = ""
    spec["file"]["steps_line"] = line
    if not has_modules:
        spec["file"]["without"] = spec["file"].get("without", []) + ["modules"]
    return spec


def judged(spec, out):
    scenarios.write(spec, out)
    done = subprocess.run([scenarios.program(), "check", "-q", "--json", "-", out], text=True,
                          capture_output=True, timeout=600, check=False)
    report = json.loads(done.stdout)["reports"][0]
    found = {r["name"]: r["verdict"] for r in report["results"] if r["verdict"] in ("fail", "warn")}
    return report["verdict"], found, report["facts"]


def differences(this, reference):
    verdict, found, facts = this
    if (verdict, found) != reference[:2]:
        yield f"{verdict} {found}, not {reference[0]} {reference[1]}"
    for name, slack in ("step_mean_s", 0.01 * reference[2]["step_mean_s"]), ("idle_ratio", 0.005):
        if not abs(facts[name] - reference[2][name]) <= slack:
            yield f"{name} is {facts[name]}, not {reference[2][name]}"


def ways(base, happens):
    has_lines = base not in GPU and (base, happens) not in NOT_ALIKE
    return itertools.product(MARKS, LINES if has_lines else LINES[:1], MODULES)


def main():
    passed = failed = 0
    for base, happens in itertools.product(sys.argv[1:] or TPU + GPU, HAPPENS):
        spec = derive.load(scenarios.scenario_path(base))
        spec.setdefault("file", {})
        HAPPENS[happens](spec)
        reference = None
        for way in ways(base, happens):
            with tempfile.TemporaryDirectory() as out:
                this = judged(told(spec, *way), out)
            if not reference:
                reference = this
                continue
            wrong = list(differences(this, reference))
            passed += not wrong
            failed += bool(wrong)
            for what in wrong:
                print(f"FAIL told: {base}, {happens}, marked {way[0]}, line {way[1]}, "
                      f"modules {way[2]}: {what}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
