#!/usr/bin/env python3
"""What rooflint says of each compiled module against what is true of it (truth.json).

    tests/modules/compare.py --rooflint PROGRAM [--table]

The last line is `N passed, N failed, N skipped`; --table prints each number beside the truth.
"""

import argparse
import collections
import glob
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MEMORY_SHARE = 0.005
INDICES_SHARE = 0.02
KINDS = {"collective-permute": "permute"}
DTYPE_BYTES = {"pred": 1, "s8": 1, "u8": 1, "bf16": 2, "f16": 2, "f32": 4, "s32": 4, "u32": 4}


def ask(program, *args):
    out = subprocess.run([program, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         check=False)
    if out.returncode:
        raise RuntimeError(out.stderr.decode())
    return json.loads(out.stdout)


def arrays(text):
    """Bytes of each array of a type."""
    sizes = []
    for dtype, dims in re.findall(r"([a-z]+[0-9]*)\[([0-9,]*)\]", text):
        size = DTYPE_BYTES[dtype]
        for d in filter(None, dims.split(",")):
            size *= int(d)
        sizes.append(size)
    return sizes


def groups_of(line, devices):
    """Size of a group, and how many: from an iota, a list, a mesh; of pairs, who takes part."""
    m = re.search(r"replica_groups=\[(\d+),(\d+)\]", line)
    if m:
        return int(m[2]), int(m[1])
    m = re.search(r"replica_groups=\{(\{.*?\})\}", line)
    if m:
        groups = re.findall(r"\{([0-9,]*)\}", m[1])
        return len(groups[0].split(",")), len(groups)
    m = re.search(r"replica_groups=mesh\[(.*?)\] ?\{(.*?)\}", line)
    if m:
        axes = {k: int(v) for k, v in re.findall(r"'(\w+)'=(\d+)", m[1])}
        size = 1
        for axis in re.findall(r"'(\w+)'", m[2]):
            size *= axes[axis]
        return size, devices // size
    if "replica_groups={}" in line:
        return devices, 1
    return rings_of(re.findall(r"(\d+),(\d+)", re.search(r"pairs=\{(.*?)\}\}", line)[1]))


def rings_of(pairs):
    """Pairs of a permute form rings and chains: members of the largest, and how many.  Who sends
    to itself stands alone, and is free."""
    left = {int(a): int(b) for a, b in pairs if a != b}
    sizes = []
    for start in [a for a in left if a not in left.values()] + sorted(left):
        size, at = 0, start
        while at in left:
            size += 1
            at = left.pop(at)
        if size:
            sizes.append(size + (at != start))
    return max(sizes), len(sizes)


def collective_of(entry, devices):
    """(kind, bytes of the message, size of a group, groups), by the compiler's text."""
    line = entry["text"]
    m = re.match(r"(?:ROOT )?%\S+ = (.*?) ([a-z-]+?)(-start)?\(", line)
    opcode, sizes = m[2], arrays(m[1])
    size, count = groups_of(line, devices)
    kind = KINDS.get(opcode, opcode)
    if opcode == "all-reduce" and entry["computation"].startswith("all-reduce-scatter"):
        kind = "reduce-scatter"
    if m[3] and opcode in ("all-gather", "collective-permute"):
        message = sizes[1]  # operand, result, contexts
    else:
        message = sum(sizes)
    if opcode in ("reduce-scatter", "all-to-all"):
        message *= size
    return kind, message, size, count


def check_collectives(truth, seen):
    want = collections.Counter()
    for entry in truth["collectives"]:
        want[collective_of(entry, truth["devices"])] += entry["runs"]
    have = collections.Counter()
    for row in seen["collectives"]:
        have[row["kind"], row["message_bytes"], row["group_size"], row["groups"]] += \
            row["per_step"]
    for key in sorted(set(want) | set(have), key=str):
        yield "%s of %s B, %s x %s" % key, have[key], want[key], have[key] == want[key]


def check_flops(truth, seen):
    flops = truth["devices"] * sum(
        o["flops"] * o["per_step"] for o in seen["ops"] if o["kind"] == "matmul")
    yield "FLOPs", flops, truth["flops"], flops == truth["flops"]


def check_memory(truth, seen):
    [row] = seen["memory"]
    for name, want in (("compiled_bytes", truth["allocated_bytes"]),
                       ("arguments_bytes", truth["arguments_bytes"]),
                       ("output_bytes", truth["output_bytes"] - truth["alias_bytes"])):
        yield (name, row[name], want,
               row[name] is not None and abs(row[name] - want) <= MEMORY_SHARE * want)


def check_bytes(truth, seen):
    """Of ops of a kind or opcode, but for indices that a compiler copies and sorts as it likes; in
    such a program every op's FLOPs are known."""
    for what, want in truth.get("bytes", {}).items():
        have = sum((o["logical_bytes"] or 0) * o["per_step"] for o in seen["ops"]
                   if what in (o["kind"], o["opcode"]))
        yield "bytes of " + what, have, want, 0 <= have - want <= INDICES_SHARE * want
    if "bytes" in truth:
        unknown = [o["name"] for o in seen["ops"]
                   if o["flops"] is None and not o["opcode"].endswith("-start")]
        yield "ops of unknown FLOPs", len(unknown), 0, not unknown


def check_floor(truth, seen):
    """The floor is no less than its longest part, by hand, and serial no less than the floor."""
    [row] = seen["programs"]
    yield ("floor below serial", row["floor_s"], row["serial_s"],
           row["floor_s"] <= row["serial_s"])


CHECKS = (check_flops, check_collectives, check_memory, check_bytes, check_floor)


def look(program, folder, truth):
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "module.hlo_proto.pb")
        with gzip.open(os.path.join(folder, "module.hlo.pb.gz")) as f, open(path, "wb") as to:
            to.write(f.read())
        return {table: ask(program, "query", "--format", "json", "--hardware", truth["chip"],
                           path, "select * from " + table)
                for table in ("ops", "collectives", "memory", "programs")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rooflint", required=True)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    passed = failed = 0
    for path in sorted(glob.glob(os.path.join(HERE, "*", "truth.json"))):
        folder = os.path.dirname(path)
        name = os.path.basename(folder)
        if args.names and name not in args.names:
            continue
        with open(path, encoding="utf-8") as f:
            truth = json.load(f)
        seen = look(args.rooflint, folder, truth)
        for check in CHECKS:
            for what, have, want, right in check(truth, seen):
                if args.table:
                    print("%-22s %-50s %16s %16s%s" % (name, what, have, want,
                                                       "" if right else " WRONG"))
                if not right:
                    print("FAIL %s: %s is %s, and %s is true" % (name, what, have, want))
                passed += right
                failed += not right
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    sys.exit(failed > 0)


main()
