"""XProf's own table of a real TPU v5p training step (hlo_stats), against `rooflint hlo`.

The rows hold each instruction's text and what XProf booked for it.  XProf's planes are cores and a
v5p chip has two, so it books half of an op's FLOPs to each, except for parts of a megacore fusion,
which run whole on one core.  Bodies of fusions, custom calls and loops are not in the text, so of
those only shapes and groups can be compared.
"""

import gzip
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

BITS = {"pred": 8, "s8": 8, "u8": 8, "bf16": 16, "f16": 16, "s16": 16, "u16": 16, "f32": 32, "s32": 32,
        "u32": 32, "f64": 64, "s64": 64, "u64": 64}
ARRAY = re.compile(r"\b([a-z]+[0-9]*)\[([0-9,]*)\]")
COLLECTIVES = ("all-gather", "all-reduce", "all-to-all")
CHIP = "tpu_v5p"


def rows_of(path):
    table = json.loads(gzip.decompress(path.read_bytes()))
    ids = [column["id"] for column in table["cols"]]
    for row in table["rows"]:
        yield dict(zip(ids, (cell.get("v") for cell in row["c"])))


def array_bytes(text):
    """Bytes of all arrays that a piece of text names."""
    return sum(math.prod(int(n) for n in dims.split(",") if n) * BITS[dtype] // 8
               for dtype, dims in ARRAY.findall(text) if dtype in BITS)


def parts_of(text):
    """Result type and operand list of `%name = type opcode(operands), attributes`."""
    typed = text.split(" = ", 1)[1]
    opened = re.search(r" [a-z][a-z0-9-]*\(", typed)
    depth, at = 1, opened.end()
    while depth:
        depth += {"(": 1, ")": -1}.get(typed[at], 0)
        at += 1
    return typed[:opened.start()], typed[opened.end():at - 1]


def group_size(text):
    """Members of a group, in either spelling of replica_groups."""
    iota = re.search(r"replica_groups=\[(\d+),(\d+)\]<=", text)
    if iota:
        return int(iota.group(2))
    listed = re.search(r"replica_groups=\{\{([0-9,]+)\}", text)
    return len(listed.group(1).split(",")) if listed else None


def booked_flops(row):
    """FLOPs of one execution over all cores, as XProf has them."""
    cores = 1 if ".in_megacore_fusion" in row["hlo_op_name"] else 2
    return cores * row["model_flop_rate"] * row["avg_time"] * 1e3    # GFLOP/s x us


def splash_flops(text):
    """Products of T x S scores, H wide, each 2 x T x S x H: two forward, three for the gradient of
    q, four for those of k and v.  XProf's own figures are ten times what the chip could do in that
    time.  None of another kernel."""
    for phase, products in (("_fwd", 2), ("_dq_", 3), ("_dkv_", 4)):
        if "splash_mha" + phase in text.split(" ")[0]:
            operands = text.partition("custom-call(")[2]
            q, k = re.findall(r"bf16\[([\d,]+)\]", operands)[:2]
            heads, queries, width = map(int, q.split(","))
            return products * 2 * heads * queries * int(k.split(",")[-2]) * width
    return None


def closely(ours, theirs):
    return ours is not None and theirs is not None and \
        math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-3)


def envelope(rooflint, text):
    command = [rooflint, "hlo", "--hardware", CHIP, "--format", "json", text]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr.strip()[:300]}")
    return json.loads(done.stdout)


# What docs/real-step.md says of the step that from_xprof.py builds from the table.
VERDICTS = {
    "update-excess": "fail", "exposed-communication": "warn", "matmul-roofline": "warn",
    "rooflines-known": "pass", "oversized-all-gather": "pass", "slow-op": "pass",
    "f32-matmul": "pass", "step-roofline": "pass", "idle": "pass", "faster-than-possible": "pass",
    "time-attributed": "pass", "hlo-present": "inconclusive", "copy-share": "inconclusive",
    "memory-bound-matmul": "inconclusive", "repeated-compute": "pass",
    "small-collectives": "inconclusive", "collective-roofline": "inconclusive",
    "repeated-all-gather": "inconclusive", "padding-waste": "inconclusive",
    "missed-donation": "inconclusive", "uneven-devices": "inconclusive",
    "recompiles": "inconclusive",
}
COMMUNICATION = ("all-gather", "all-reduce", "all-to-all", "all-reduce-scatter fusion")


def in_steps(row):
    """Mean microseconds of a core's whole step in an op: its mean time, as often as it ran."""
    cores = 4 if ".in_megacore_fusion" in row["hlo_op_name"] else 8
    layers = 16 if row["occurrences"] > 64 else 1
    return row["avg_self_time"] * layers * cores / 8


def compare_step(report, rooflint, folder):
    """The recommended rules on the step that the table tells of."""
    capture = folder.name
    rows = [row for row in rows_of(folder / "hlo_stats.json.gz")
            if row["program_id"] == "2041036616644817336" and row["category"] != "while"]
    step = sum(map(in_steps, rows)) + 240
    waiting = sum(in_steps(row) for row in rows if row["category"] in COMMUNICATION or
                  row["hlo_op_name"].startswith("async-collective-"))
    with tempfile.TemporaryDirectory() as box:
        builder = pathlib.Path(__file__).parents[1] / "builder" / "from_xprof.py"
        subprocess.run([sys.executable, builder, folder / "hlo_stats.json.gz", box], check=True)
        told = pathlib.Path(box, "report.json")
        subprocess.run([rooflint, "check", "-q", "--json", told, box], check=False,
                       stdout=subprocess.DEVNULL)
        found = json.loads(told.read_text())["reports"][0]
    verdicts = {rule["name"]: rule["verdict"] for rule in found["results"]}
    report.check(capture, "step.verdicts", VERDICTS,
                 {rule: verdicts.get(rule) for rule in VERDICTS})
    # The stacked dimension is the second of the layout {2,0,1}: each row of a tile waits for eight.
    advice = {"update-excess": "param_scan_axis=0", "exposed-communication": "overlaps collectives already"}
    fixes = {f["rule"]: f["fix"] for f in reversed(found["findings"]) if f["rule"] in advice}
    report.check(capture, "step.advice", advice, fixes, lambda ours, theirs: ours in theirs)
    facts = found["facts"]
    report.check(capture, "step.time_s", {"": step * 1e-6}, {"": facts["step_time_s"]},
                 lambda ours, theirs: math.isclose(ours, theirs, rel_tol=2e-3))
    report.check(capture, "step.comms_exposed_ratio", {"": waiting / step},
                 {"": facts["comms_exposed_ratio"]},
                 lambda ours, theirs: math.isclose(ours, theirs, rel_tol=2e-2))


def compare(report, rooflint, folder):
    capture = folder.name
    shapes, flops, groups, hidden = ({}, {}), ({}, {}), ({}, {}), 0
    for row in rows_of(folder / "hlo_stats.json.gz"):
        text, name = row["hlo_op_expression"], row["hlo_op_name"]
        try:
            found = envelope(rooflint, text)
        except RuntimeError as error:
            report.fail(capture, "hlo text", f"{name}: {error}")
            continue
        result, operands = parts_of(text)
        for side, piece in (("result", result), ("operands", operands)):
            shapes[0][name, side] = array_bytes(piece)
            shapes[1][name, side] = sum(shape["logical_bytes"] for shape in found.get(side, []))
        if row["category"] in COLLECTIVES:
            groups[0][name], groups[1][name] = group_size(text), found.get("group_size")
        elif found.get("flops") is None:
            hidden += 1
        else:
            splash = splash_flops(text)
            flops[0][name] = booked_flops(row) if splash is None else splash
            flops[1][name] = found["flops"]
    report.check(capture, "hlo.logical_bytes", *shapes)
    report.check(capture, "hlo.group_size", *groups)
    report.check(capture, "hlo.flops", *flops, closely)
    compare_step(report, rooflint, folder)
    report.skip(capture, "hlo.flops",
                f"{hidden} fusions, custom calls and loops: their bodies are not in the text")
