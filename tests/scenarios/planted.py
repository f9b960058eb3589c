#!/usr/bin/env python3
"""One change planted in a program: it is the first thing that diff says.

    python3 tests/scenarios/planted.py

Pairs of built scenarios, and of dumps of real JAX programs (tests/profiles/planted).  ROOFLINT names
the program.
"""

import copy
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(TESTS, "builder"))
if sys.version_info < (3, 11):
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)

import derive
import run as scenarios


# --- built pairs ----------------------------------------------------------------------


def scenario(name):
    return derive.load(scenarios.scenario_path(name))


def spliced(spec, name, *ops):
    """The scenario with `ops` in place of the top-level op of that name."""
    spec = copy.deepcopy(spec)
    at = [op["name"] for op in spec["program"]["op"]].index(name)
    spec["program"]["op"][at : at + 1] = ops
    return spec


def op(spec, name):
    return next(op for op in spec["program"]["op"] if op["name"] == name)


def lost_fusion():
    """The loss squares in one fusion and sums in another."""
    base = scenario("tensor-parallel")
    whole = op(base, "loss_local")
    squares = {
        **whole,
        "name": "squares",
        "hlo_name": "multiply_fusion",
        "fusion": "loop",
        "body": ["a = f32(x)", "squares = multiply(a, a)"],
        "scope": "jit(train_step)/jvp(loss)/mul",
    }
    total = {**whole, "in": ["squares"], "body": ["loss = reduce(squares, 0) : f32[]"]}
    return base, spliced(base, "loss_local", squares, total)


def float32_matmul():
    """One matmul gets its operands as f32."""
    base = scenario("tensor-parallel")
    slow = op(base, "dh")

    def as_f32(name):
        return {
            "name": name + "32",
            "hlo_name": "convert_" + name,
            "kind": "fusion",
            "in": [name],
            "body": [f"{name}32 = f32({name})"],
            "roofline": 1.1,
            "scope": slow["scope"].replace("dot_general", "convert_element_type"),
            "at": slow["at"],
        }

    changed = {**slow, "in": ["x32", "down32"], "epilogue": ["dh = bf16(dot)"], "time": "17.6ms"}
    changed.pop("roofline")
    return base, spliced(base, "dh", as_f32("x"), as_f32("down"), changed)


def new_all_gather():
    """The gradient of the activations is gathered before it is used."""
    base = scenario("tensor-parallel")
    gather = {
        "name": "dw_up_all",
        "hlo_name": "all-gather.7",
        "kind": "all-gather",
        "in": ["dw_up"],
        "dim": 0,
        "time": "2.2ms",
        "scope": "jit(train_step)/transpose(jvp(layers))/dot_general",
        "at": "up",
    }
    return base, spliced(base, "dw_up", op(base, "dw_up"), gather)


BUILT = {
    # case: (pair, change and name of the first op, or words of the first sentence)
    "extra transpose": (lambda: pair("tensor-parallel", "copy-before-matmul"), ("new", "copy")),
    "lost fusion": (lost_fusion, ("split", "reduce_fusion")),
    "float32 matmul": (float32_matmul, ("new", "convolution_fusion.1")),
    "new all-gather": (new_all_gather, ("new", "all-gather")),
    "dropped donation": (lambda: pair("train-scan", "not-donated"), "memory peaks at 11.1 GiB"),
}


def pair(base, head):
    return scenario(base), scenario(head)


# --- real pairs -----------------------------------------------------------------------

DUMPS = os.path.join(TESTS, "profiles", "planted")
REAL = {
    "extra_transpose": ("new", "copy"),
    "lost_fusion": ("new", "elementwise"),
    "float32_matmul": ("changed", "matmul"),
    "new_all_gather": ("new", "all-gather"),
    "dropped_donation": ("new", "copy"),
}


def dump(case, out):
    """A directory with the module, as XLA would have dumped it."""
    os.makedirs(out)
    name = "module_0001.jit_step.after_optimizations.hlo.pb"
    shutil.copy(os.path.join(DUMPS, case + ".hlo.pb"), os.path.join(out, name))
    return out


# --- the diff -------------------------------------------------------------------------


def diff(base, head, *more):
    command = [scenarios.program(), "diff", "--format", "json", *more, base, head]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
    if done.returncode:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def first(said):
    """(change, kind) of the first op that lost time, and its name."""
    if not said["changes"] or said["changes"][0]["lost_s"] <= 0:
        return None
    change = said["changes"][0]
    return change["change"], change["kind"], change["name"]


def check(said, want):
    if isinstance(want, str):
        is_so = said["news"] and want in said["news"][0] and not first(said)
    else:
        is_so = first(said) and first(said)[0] == want[0] and want[1] in first(said)[1:]
    if not is_so:
        raise AssertionError(f"{first(said)} {said['news'][:1]}, not {want}")


def built_case(case, out):
    make, want = BUILT[case]
    sides = [os.path.join(out, side) for side in ("base", "head")]
    for spec, side in zip(make(), sides):
        scenarios.write(spec, side)
    check(diff(*sides), want)


def real_case(case, out):
    sides = dump("base", os.path.join(out, "base")), dump(case, os.path.join(out, "head"))
    check(diff(*sides, "--hardware", "v5e"), REAL[case])


def main():
    cases = [(built_case, case) for case in BUILT] + [(real_case, case) for case in REAL]
    failed = 0
    for run, case in cases:
        with tempfile.TemporaryDirectory() as out:
            try:
                run(case, out)
            except (AssertionError, subprocess.TimeoutExpired) as error:
                failed += 1
                print(f"FAIL planted: {run.__name__} {case}: {error}")
    print(f"{len(cases) - failed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
