#!/usr/bin/env python3
"""Compile the programs of programs.py ahead of time for TPUs that are not there.

    python -m venv venv && venv/bin/pip install jax libtpu
    venv/bin/python compile.py OUT [CHIP.NAME...]

OUT/CHIP.NAME/ holds module.hlo.pb.gz, the HloProto with its buffer assignment, and truth.json:
what the compiler's report says of its memory, the FLOPs by hand, and the collectives of its text
with how often each runs.  Run it from a neutral directory: its path ends up in the modules.
"""

import glob
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CHIPS = {"v5e": "v5e:4x4", "v6e": "v6e:2x4", "v5p": "v5p:2x2x2"}
COLLECTIVES = ("all-gather", "all-reduce", "reduce-scatter", "all-to-all", "collective-permute")


def compile_one(chip, name):
    """In a process of its own, which XLA_FLAGS tells where to dump."""
    import jax
    from jax.experimental import topologies
    import programs
    devices = topologies.get_topology_desc(platform="tpu", topology_name=CHIPS[chip]).devices
    function, args, flops, *of_bytes = getattr(programs, name)(devices)
    executable = function.lower(*args).compile().runtime_executable()
    stats = executable.get_compiled_memory_stats()
    print(json.dumps({
        "chip": "tpu_" + chip, "devices": len(devices), "flops": flops,
        **({"bytes": of_bytes[0]} if of_bytes else {}),
        "arguments_bytes": stats.argument_size_in_bytes,
        "output_bytes": stats.output_size_in_bytes,
        "alias_bytes": stats.alias_size_in_bytes,
        "in_use_bytes": stats.peak_memory_in_bytes, "jax": jax.__version__,
    }))


def computations(text):
    """Name -> its lines, and the name of the entry."""
    found, entry, name = {}, None, None
    for line in text.splitlines():
        m = re.match(r"(ENTRY )?%?([\w.-]+) \(.*\{$", line)
        if m:
            name = m[2]
            entry = name if m[1] else entry
            found[name] = []
        elif name and line.startswith("  "):
            found[name].append(line.strip())
    return found, entry


def trips_of(condition, body):
    """Of a loop that counts from 0: its condition compares an element of the state with a
    constant, and its body adds one to it."""
    condition, body = "\n".join(condition), "\n".join(body)
    [end] = re.findall(r" constant\((\d+)\)", condition)
    [index] = re.findall(r"get-tuple-element\(.*index=(\d+)", condition)
    root = re.search(r"^ROOT .* tuple\((.*?)\)", body, re.M)[1]
    counter = re.findall(r"%([\w.-]+)", root)[int(index)]
    terms = re.search(r"^%" + re.escape(counter) + r" = .* add\((.*?)\)", body, re.M)[1]
    for term in re.findall(r"%([\w.-]+)", terms):
        step = re.search(r"^%" + re.escape(term) + r" = .* constant\((\d+)\)", body, re.M)
        if step:
            return -(-int(end) // int(step[1]))
    raise ValueError("a loop that does not count")


def runs_of(found, entry):
    """Computation -> how often it runs, and who calls it."""
    runs, callers = {entry: 0}, {entry: ""}

    def visit(name, times):
        runs[name] = runs.get(name, 0) + times
        for line in found[name]:
            callees = dict(re.findall(r"\b(body|condition|calls)=%?([\w.-]+)", line))
            called = callees.get("body", callees.get("calls"))
            if not called:
                continue
            trips = 1
            if "condition" in callees:
                trips = trips_of(found[callees["condition"]], found[called])
            callers[called] = re.match(r"(?:ROOT )?%(\S+) =", line)[1]
            visit(called, times * trips)
    visit(entry, 1)
    return runs, callers


def collectives(text):
    """One entry for each, where it begins: a TPU repeats one that is spread over several fusions
    in each of them, and where it ends."""
    found, entry = computations(text)
    runs, callers = runs_of(found, entry)
    ret = []
    for name, lines in found.items():
        if name.startswith("async_collective_fusion") or \
                callers.get(name, "").startswith("async-collective-done"):
            continue
        for line in lines:
            m = re.match(r"(?:ROOT )?%\S+ = .*? (" + "|".join(COLLECTIVES) + r")(-start)?\(", line)
            if m and runs.get(name):
                plain = re.split(r", (metadata|backend_config|frontend_attributes)=", line)[0]
                ret.append({"text": plain, "computation": name, "runs": runs[name]})
    return ret


def allocated(text):
    """Bytes in HBM (no colour) that the compiler's buffer assignment sets aside.  Thread-local
    ones are how computations see what others have allocated: the report's total counts them, and
    the compiler's own statistics do not."""
    return sum(int(size) for size, rest in
               re.findall(r"^allocation \d+: size (\d+)(.*)$", text, re.M)
               if ", color " not in rest and ", thread-local" not in rest)


def main(out, wanted):
    for chip in CHIPS:
        for name in ("transformer", "moe", "pipeline", "collective_matmul", "resharding",
                     "odd_ops", "pooling"):
            if wanted and chip + "." + name not in wanted:
                continue
            with tempfile.TemporaryDirectory() as dump:
                env = dict(os.environ, JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1",
                           XLA_FLAGS="--xla_dump_hlo_as_proto --xla_dump_hlo_as_text "
                                     "--xla_dump_to=" + dump, PYTHONPATH=HERE)
                said = subprocess.run([sys.executable, __file__, "--one", chip, name], env=env,
                                      stdout=subprocess.PIPE, check=True).stdout
                truth = json.loads(said)
                [proto] = glob.glob(dump + "/*.after_optimizations.hlo.pb")
                stem = proto[:-len(".hlo.pb")]
                with open(stem + ".txt", encoding="utf-8") as f:
                    truth["collectives"] = collectives(f.read())
                with open(stem + "-buffer-assignment.txt", encoding="utf-8") as f:
                    truth["allocated_bytes"] = allocated(f.read())
                folder = os.path.join(out, chip + "." + name)
                os.makedirs(folder, exist_ok=True)
                with open(proto, "rb") as f, \
                        open(os.path.join(folder, "module.hlo.pb.gz"), "wb") as raw, \
                        gzip.GzipFile("", "wb", 9, raw, 0) as to:
                    to.write(f.read())
                with open(os.path.join(folder, "truth.json"), "w", encoding="utf-8") as f:
                    json.dump(truth, f, indent=1, sort_keys=True)
                    f.write("\n")
            print(chip, name)


if sys.argv[1] == "--one":
    compile_one(*sys.argv[2:])
else:
    main(sys.argv[1], sys.argv[2:])
