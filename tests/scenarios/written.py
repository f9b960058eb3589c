#!/usr/bin/env python3
"""One program written in two ways: one verdict.

    python3 tests/scenarios/written.py [-v]

Takes scenarios of table.toml and writes their programs otherwise: loops written out, ops under other
names, one op in pieces, many in one, a transpose inside of a fusion, groups of devices in another
spelling.  Every rule must come to the same verdict; where the work itself moves from one kind of op
to another (a transpose that is fused), the run must.  ROOFLINT names the program.
"""

import concurrent.futures
import copy
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "builder"))
if sys.version_info < (3, 11):
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)

import tomllib

import derive
import run as scenarios
from program import picoseconds


def ops_of(spec):
    """All ops, however deep."""
    todo = [op for program in derive.programs(spec) for op in program["op"]]
    while todo:
        op = todo.pop(0)
        yield op
        todo += op.get("op", [])


def lists_of(spec):
    """All lists that hold ops."""
    return [p["op"] for p in derive.programs(spec)] + [o["op"] for o in ops_of(spec) if "op" in o]


# --- ways of writing ------------------------------------------------------------------


def unrolled(spec):
    for op in ops_of(spec):
        if op["kind"] == "while":
            op["kind"] = "unrolled"


def renamed(spec):
    for number, op in enumerate(ops_of(spec)):
        if op["kind"] in ("matmul", "fusion", "copy"):
            op["hlo_name"] = f"fusion.{9000 + number}"
    for name, stack in spec["source"]["stacks"].items():
        spec["source"]["stacks"][name] = [line.replace(".py:", "_v2.py:1") for line in stack]


def respelled(groups):
    def change(spec):
        for op in ops_of(spec):
            if op["kind"].startswith(("all-", "reduce-scatter")):
                op["groups"] = groups

    return change


def in_pieces(*names, of=2):
    """Each op of these names as several, one behind the other, that share its time."""

    def change(spec):
        for items in lists_of(spec):
            for op in [op for op in items if op["name"] in names]:
                at = items.index(op)
                time = picoseconds(op["time"]) // of
                last = {**op, "time": time}
                items[at : at + 1] = [
                    {**last, "name": f"{op['name']}_{i}", "hlo_name": f"{op['hlo_name']}_{i}"}
                    for i in range(1, of)
                ] + [last]

    return change


def larger(spec):
    """Half as many products of twice as many rows, in as much time."""
    for op in ops_of(spec):
        if op["kind"] == "while":
            op["trips"] //= 2
        if op["name"] == "y":
            op["time"] = 2 * picoseconds(op["time"])
    spec["program"]["param"][0]["shape"] = "bf16[1024,1024]"


def one_fusion(spec):
    """The copy as a fusion around a transpose."""
    for op in ops_of(spec):
        if op["name"] == "h0" and op["kind"] == "copy":
            op.update(kind="fusion", body=["t = copy(x) : bf16[4096,8192]{0,1:T(8,128)(2,1)}"])
            op.pop("out"), op.pop("epilogue", None)


def alone(spec):
    """Transposes that are fused with nothing."""
    for op in ops_of(spec):
        if op["name"] in ("t1", "t2", "t3"):
            op.update(kind="op", opcode="transpose", out="bf16[4096,4096]", body=None)
            op["attrs"] = {"dimensions": [1, 0]}


# (scenario, what is done, by what, whether every rule or only the run must agree)
PAIRS = [
    ("slow-matmul", "unrolled", unrolled, True),
    ("slow-links", "unrolled", unrolled, True),
    ("straggler-chip", "unrolled", unrolled, True),
    ("tensor-parallel", "unrolled", unrolled, True),
    ("thin-batch", "unrolled", unrolled, True),
    ("tiny-messages", "unrolled", unrolled, True),
    ("remat-twice", "unrolled", unrolled, True),
    ("f32-matmul", "unrolled", unrolled, True),
    ("multi-slice-slow", "unrolled", unrolled, True),
    ("half-speed", "unrolled", unrolled, True),
    ("small-matmuls", "unrolled", unrolled, True),
    ("pallas-few", "unrolled", unrolled, True),
    ("slow-updates", "unrolled", unrolled, True),
    ("slow-evaluation", "unrolled", unrolled, True),
    ("slow-matmul", "renamed", renamed, True),
    ("fsdp-exposed", "renamed", renamed, True),
    ("layer-copies", "renamed", renamed, True),
    ("tiny-messages", "renamed", renamed, True),
    ("fused-transposes", "renamed", renamed, True),
    ("layer-copies", "in pieces", in_pieces("down_shard"), True),
    ("copy-before-matmul", "in pieces", in_pieces("h0", of=5), True),
    ("fused-transposes", "in pieces", in_pieces("t1", "t2", "t3", of=3), True),
    ("python-callback", "in pieces", in_pieces("logged", of=9), True),
    ("small-matmuls", "half as many, twice as large", larger, True),
    ("copy-before-matmul", "one fusion", one_fusion, True),
    ("fused-transposes", "not fused", alone, False),
    ("fsdp-exposed", "groups as a list", respelled("{{0,1,2,3}}"), True),
    ("tensor-parallel", "groups as a list", respelled("{{0,1,2,3}}"), True),
]


def case(number):
    """What differs between the two ways, in words; or None."""
    name, what, write, every = PAIRS[number]
    with open(os.path.join(HERE, "table.toml"), "rb") as file:
        row = {"build": name, **tomllib.load(file)["scenario"][name]}
    spec = scenarios.spec_of(row)
    other = copy.deepcopy(spec)
    write(other)
    if other == spec:
        return f"{name}, {what}: the program is the same, so nothing was tried"
    sides = []
    for side in (spec, other):
        with tempfile.TemporaryDirectory() as out:
            scenarios.write(side, out)
            results, _, _ = scenarios.check(out)
            sides.append({rule: r["verdict"] for rule, r in results.items()})
    if not every:
        sides = [{"the run": "fail" in s.values() and "fail" or "warn" in s.values() and "warn"}
                 for s in sides]
    differ = [f"{rule}: {sides[0][rule]}, {sides[1][rule]}" for rule in sides[0]
              if sides[0][rule] != sides[1][rule]]
    return f"{name}, {what}: " + "; ".join(differ) if differ else None


def main(argv):
    failed = 0
    with concurrent.futures.ProcessPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        for pair, problem in zip(PAIRS, pool.map(case, range(len(PAIRS)))):
            failed += problem is not None
            if problem:
                print(f"FAIL written: {problem}")
            elif "-v" in argv:
                print(f"  {pair[0]}, {pair[1]}: the same")
    print(f"{len(PAIRS) - failed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
