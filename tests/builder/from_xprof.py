#!/usr/bin/env python3
"""A profile from XProf's table of ops: from_xprof.py HLO_STATS.json.gz OUTDIR

The only public record of a real TPU v5p training step is XProf's own table (hlo_stats): per op its
HLO text, category, scope, source line, mean self time, and rates.  This writes five steps of it on
eight cores of four chips, each op as often and as long as the table says, so that rules can be seen
on a real step.  What the table does not hold is not there: no HLO protos, no host, no allocator;
and the order of ops is the table's, so what ran beside what is not known: nothing overlaps.
"""

import gzip
import json
import pathlib
import sys

from wire import Message
from xspace import Plane, U, write_space

CORES, STEPS, WHOLE_STEPS, LAYERS = 8, 5, 4, 16
PROGRAM = 2041036616644817336           # jit_train_step; the others run before it
# One plane's peaks, as the capture had them: half a chip.
PEAK_TFLOPS, PEAK_HBM_GBPS = 233.4, 1382.4
IDLE_PS = 240_000_000                   # XProf's overview: 0.24 ms of each step
GIB = 1 << 30
READ, HBM = 1, 1


def rows_of(path):
    table = json.loads(gzip.decompress(pathlib.Path(path).read_bytes()))
    ids = [column["id"] for column in table["cols"]]
    for row in table["rows"]:
        yield dict(zip(ids, (cell.get("v") for cell in row["c"])))


def is_in_loop(row):
    """Counts are sums over cores and steps, of which four were whole: 32 is once a step, 512 (and up
    to 552, with the steps that were cut) once a layer, 256 once a layer on one core of two."""
    return row["occurrences"] > 2 * CORES * WHOLE_STEPS


def runs(row, core, layer):
    """Parts of a megacore fusion run on one core of a chip, here in turns."""
    return ".in_megacore_fusion" not in row["hlo_op_name"] or (core + layer) % 2 == 0


def metadata_stats(row, symbol):
    seconds = row["avg_self_time"] * 1e-6
    flops, hbm = row["model_flop_rate"] * 1e9 * seconds, row["hbm_bw"] * GIB * seconds
    part = Message().int(1, READ).int(2, HBM).int(3, round(hbm))
    stats = {"hlo_category": row["category"], "program_id": U(PROGRAM), "symbol_id": U(symbol)}
    if row["category"] != "custom-call":
        stats |= {"flops": round(flops), "model_flops": round(flops),
                  "bytes_accessed": round(row["measured_memory_bw"] * GIB * seconds),
                  "memory_access_breakdown": bytes(Message().msg(1, part))}
    if row["tf_op_name"]:
        stats["tf_op"] = row["tf_op_name"]
    if row["source_info"]:
        stats["source"] = row["source_info"]
    return stats


def self_ps(row):
    return round(row["avg_self_time"] * 1e6)


def loop_of(row, loops):
    """The forward pass and the backward pass are a loop each, the longer one the backward."""
    by_time = sorted(loops, key=lambda loop: loop["total_time"])
    return by_time["transpose(jvp" in (row["tf_op_name"] or "")]


def core_plane(core, rows):
    plane = Plane(f"/device:TPU:{core}", 2 + core)
    details = Message().int(2, core).int(3, core % 2).int(4, core // 2).int(5, core // 2)
    plane.stats = {
        "core_details": bytes(details.int(6, core)), "device_type_string": "TPU v5",
        "peak_teraflops_per_second": PEAK_TFLOPS,
        "peak_hbm_bw_gigabytes_per_second": PEAK_HBM_GBPS, "has_megacore": 1,
    }
    modules, ops = plane.line(2, "XLA Modules"), plane.line(3, "XLA Ops")
    once = [row for row in rows if not is_in_loop(row) and row["category"] != "while"]
    loops = [row for row in rows if row["category"] == "while"]
    now = 0

    def run(row, length):
        stats = {"device_offset_ps": U(now), "device_duration_ps": U(length)}
        ops.event(plane.metadata(row["hlo_op_name"], row["hlo_op_expression"],
                                 row["hlo_op_name"], metadata_stats(row, rows.index(row) + 1)),
                  now, length, stats)

    for step in range(STEPS):
        begin = now
        for row in (row for row in once if runs(row, core, 0)):
            run(row, self_ps(row))
            now += self_ps(row)
        for loop in loops:
            body = [row for layer in range(LAYERS) for row in rows
                    if is_in_loop(row) and loop_of(row, loops) is loop and runs(row, core, layer)]
            run(loop, sum(map(self_ps, body)))
            for row in body:
                run(row, self_ps(row))
                now += self_ps(row)
        modules.add(f"jit_train_step({PROGRAM})", begin, now - begin,
                    {"run_id": U(step + 1), "device_offset_ps": U(begin),
                     "device_duration_ps": U(now - begin)})
        now += IDLE_PS
    return plane


def build(table, out):
    rows = [row for row in rows_of(table) if row["program_id"] == str(PROGRAM)]
    folder = pathlib.Path(out, "plugins", "profile", "v5p-training")
    folder.mkdir(parents=True, exist_ok=True)
    planes = [core_plane(core, rows) for core in range(CORES)]
    (folder / "host-0.xplane.pb").write_bytes(
        write_space(planes + [Plane("/host:CPU", 1), Plane("Task Environment", 90)], ["host-0"]))


if __name__ == "__main__":
    build(*sys.argv[1:])
