#!/usr/bin/env python3
"""Checks of the profile builder, by a reader that shares nothing with the writer.

python3 tests/builder/test_builder.py
"""

import os
import struct
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
if sys.version_info < (3, 11):
    raise unittest.SkipTest("the builder reads TOML with Python 3.11's tomllib")

import build
import derive
import hlo
import hostile
import read
import scenario
from read import fields, many, one
from shapes import Shape
from wire import Message, as_bytes, varint

MATMUL = 2 * 1024 * 8192 * 16384


def scenario_file(name):
    return os.path.join(HERE, "scenarios", name + ".toml")


class Plane:
    """A decoded plane: lines of (name, offset, duration, stats)."""

    def __init__(self, data):
        self.data = data
        self.name = one(data, 2, b"").decode("utf-8", "replace")
        self.strings = {one(e, 1, 0): one(one(e, 2), 2, b"") for e in many(data, 5)}
        self.metadata = {one(e, 1, 0): one(e, 2) for e in many(data, 4)}
        self.lines = {one(x, 2, b"").decode(): x for x in many(data, 3)}
        self.stats = self.read_stats(data, 6)

    def read_stats(self, data, number):
        out = {}
        for stat in many(data, number):
            kind, value = fields(stat)[-1]
            if kind == 2:
                value = struct.unpack("<d", value)[0]
            if kind == 7:
                value = self.strings[value]
            out[self.strings[one(stat, 1)].decode()] = value
        return out

    def events(self, line):
        out = []
        for e in many(self.lines[line], 4):
            meta = self.metadata[one(e, 1)]
            name = one(meta, 4) or one(meta, 2, b"")
            stats = {**self.read_stats(meta, 5), **self.read_stats(e, 4)}
            out.append((name.decode("utf-8", "replace"), one(e, 2), one(e, 3, 0), stats))
        return out


def planes(data):
    return {p.name: p for p in map(Plane, many(data, 1))}


class Wire(unittest.TestCase):
    def test_varints(self):
        for value in (0, 1, 127, 128, 300, 2**63 - 1, 2**64 - 1):
            self.assertEqual(read.varint(varint(value), 0)[0], value)
        self.assertEqual(len(varint(-1)), 10)

    def test_message(self):
        data = bytes(
            Message().int(1, 5).int(2, 0).int(3, 0, keep=True).data(4, "x").packed(5, [1, 300])
        )
        self.assertEqual(fields(data), [(1, 5), (3, 0), (4, b"x"), (5, b"\x01\xac\x02")])

    def test_hostile_text(self):
        self.assertEqual(hostile.text("plain"), "plain")
        self.assertEqual(as_bytes(hostile.text(r"a\xff\e[31m\n\\")), b"a\xff\x1b[31m\n\\")
        self.assertEqual(hostile.text(r"\*3{ab}"), "ababab")


class Shapes(unittest.TestCase):
    """Padded sizes: the worked table of tiled layouts."""

    def test_padding(self):
        for text, size in {
            "f32[3,5]{1,0:T(2,2)}": 96,
            "bf16[3,5]{1,0:T(8,128)(2,1)}": 2048,
            "bf16[32,32,8192]{2,1,0:T(8,128)(2,1)S(1)}": 16 << 20,
            "f32[]{:T(128)}": 512,
            "bf16[1000]{0:T(1024)(128)(2,1)}": 2048,
            "f32[4,128,128,9,18]{4,3,0,2,1:T(8,128)}": 512 << 20,
        }.items():
            shape = Shape.parse(text)
            self.assertEqual(shape.padded_bytes(), size, text)
            self.assertEqual(shape.text(), text)

    def test_dense(self):
        self.assertEqual(Shape.parse("(bf16[2,3], f32[4])").dense_bytes(), 28)


class Costs(unittest.TestCase):
    def test_groups(self):
        for text, first in {
            "{{0,2},{1,3}}": [0, 2],
            "[2,4]<=[8]": [0, 1, 2, 3],
            "[16,8]<=[8,16]T(1,0)": [0, 16, 32, 48, 64, 80, 96, 112],
            "mesh['a'=2,'b'=4] {'a'}": [0, 4],
            "{}": [0, 1, 2, 3],
        }.items():
            self.assertEqual(hlo.Groups(text).lists(4)[0], first, text)

    def test_demo_program(self):
        program = scenario.load(scenario_file("demo")).programs[0]
        ops = {op.spec["name"]: op.instruction for op in program.ops}
        self.assertEqual(hlo.flops(ops["y"]), MATMUL)
        self.assertEqual(hlo.flops(ops["h"]), MATMUL + 1024 * 16384)
        self.assertEqual(hlo.flops(ops["dw1"]), MATMUL)
        self.assertEqual(hlo.hbm_bytes(ops["y"]), 2 * (1024 * 16384 + 16384 * 8192 + 1024 * 8192))
        self.assertEqual(hlo.hbm_bytes(ops["x"]), 2 * 2 * 1024 * 8192 + 4)  # a slice, not 8 GiB
        self.assertEqual(ops["w1_all"].shape.dims, (8192, 16384))
        self.assertEqual(hlo.flops(ops["w1_all"]), 0)

    def test_demo_memory(self):
        made = scenario.load(scenario_file("demo")).programs[0].assignment
        state = 2 * 1024 * 16384 * (2 + 4 + 4 + 4)
        self.assertEqual(made.arguments(), (8 << 30) + state + 512)
        self.assertEqual(made.outputs(), 512)  # the loss; the rest is donated
        self.assertGreater(made.temp(), 2 * 8192 * 16384)


class Profiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.built = {
            name: build.build(scenario_file(name))
            for name in ("demo", "tpu-scan", "nvidia-streams")
        }

    def test_deterministic(self):
        self.assertEqual(self.built["demo"], build.build(scenario_file("demo")))

    def test_demo_is_the_committed_one(self):
        root = os.path.join(HERE, "..", "profiles", "demo")
        for name, data in self.built["demo"].items():
            with open(os.path.join(root, name), "rb") as file:
                self.assertEqual(file.read(), data, name)
            self.assertLess(len(data), 300_000)

    def test_demo_device(self):
        self.assertEqual(len(self.built["demo"]), 2)
        found = planes(self.built["demo"]["plugins/profile/2026_03_14_09_26_53/worker-1.xplane.pb"])
        device = found["/device:TPU:2"]
        self.assertEqual(device.stats["peak_teraflops_per_second"], 197.0)
        self.assertEqual(dict(fields(device.stats["core_details"])), {2: 2, 4: 2, 5: 6, 6: 6})
        self.assertEqual(
            [e[0] for e in device.events("Steps")], [str(n) for n in range(1200, 1210)]
        )
        ops = device.events("XLA Ops")
        self.assertEqual(len(ops), 10 * 16)
        matmul = next(e for e in ops if e[0] == "convolution_fusion.1")
        self.assertEqual(matmul[3]["flops"], MATMUL)
        self.assertEqual(matmul[3]["hlo_category"], b"convolution fusion")
        self.assertAlmostEqual(matmul[2] / 1e9, 1.43, delta=0.02)
        gathers = sum(e[2] for e in ops if e[0].startswith("all-gather"))
        self.assertAlmostEqual(gathers / 1e9 / 10, 12.0, delta=0.1)
        modules = device.events("XLA Modules")
        for (_, start, length, _), after in zip(ops, ops[1:]):
            self.assertLessEqual(start + length, after[1])
        self.assertLess(
            1 - sum(e[2] for e in ops) / (modules[-1][1] + modules[-1][2] - modules[0][1]), 0.02
        )

    def test_demo_joins(self):
        """Every module run has its launch on the host, and its HLO."""
        for data in self.built["demo"].values():
            found = planes(data)
            host = found["/host:CPU"]
            launches = {}
            for line in host.lines:
                for name, _, _, stats in host.events(line):
                    if name == "DoEnqueueProgram":
                        launches[stats["device_ordinal"], stats["run_id"]] = stats["_p"]
            for local in range(4):
                for _, _, _, stats in found[f"/device:TPU:{local}"].events("XLA Modules"):
                    self.assertEqual(launches[local, stats["run_id"]], stats["_c"])
            steps = [
                e
                for e in host.events("main/" + next(iter(host.lines)).split("/")[1])
                if e[0] == "train"
            ]
            self.assertEqual([e[3]["step_num"] for e in steps], list(range(1200, 1210)))
            program = found["/device:TPU:0"].events("XLA Ops")[0][3]["program_id"]
            meta = found["/host:metadata"]
            proto = meta.read_stats(meta.metadata[program], 5)["Hlo Proto"]
            self.assertEqual(one(one(proto, 1), 1), b"jit_train_step")

    def test_demo_allocator(self):
        for data in self.built["demo"].values():
            host = planes(data)["/host:CPU"]
            totals = {
                sum(s[k] for k in ("bytes_reserved", "bytes_allocated", "bytes_available"))
                for line in host.lines
                for n, _, _, s in host.events(line)
                if n.startswith("Memory")
            }
            self.assertEqual(totals, {16911433728})

    def test_scan_nesting(self):
        (data,) = self.built["tpu-scan"].values()
        ops = planes(data)["/device:TPU:0"].events("XLA Ops")
        loop = next(e for e in ops if e[0] == "while.3")
        inside = [e for e in ops if loop[1] < e[1] < loop[1] + loop[2]]
        self.assertEqual(len(inside), 8 * 10)
        self.assertLessEqual(max(e[1] + e[2] for e in inside), loop[1] + loop[2])
        spans = planes(data)["/device:TPU:0"].events("Async XLA Ops")
        self.assertEqual({e[0] for e in spans}, {"async-all-gather", "async-copy"})
        modules = {e[0] for e in planes(data)["/device:TPU:0"].events("XLA Modules")}
        self.assertEqual(len(modules), 2)  # compiled again

    def test_hostile(self):
        """One host is missing, a slow chip makes the rest wait, names keep their bytes."""
        built = build.build(scenario_file("hostile"))
        self.assertEqual([os.path.basename(n) for n in built], ["h-0.xplane.pb", "h-2.xplane.pb"])
        data = built["plugins/profile/2026_03_14_09_26_53/h-2.xplane.pb"]
        self.assertEqual(many(data, 2), [b"<script>alert(1)</script> \xff\xfe"])
        found = planes(data)
        self.assertNotIn("Steps", found["/device:TPU:0"].lines)
        slow, fast = (found[f"/device:TPU:{n}"].events("XLA Ops") for n in (0, 1))
        self.assertGreater(slow[0][2], 1.2 * fast[0][2])
        self.assertGreater(fast[1][2], slow[1][2] + 0.2 * fast[0][2])  # it waits
        self.assertEqual(fast[1][1] + fast[1][2], slow[1][1] + slow[1][2])
        self.assertIn(b"matmul\xc3(", found["/device:TPU:0"].data)
        host = planes(built["plugins/profile/2026_03_14_09_26_53/h-0.xplane.pb"])["/host:CPU"]
        self.assertTrue(
            any(e[0].startswith("next(\x1b]0;") for line in host.lines for e in host.events(line))
        )

    def test_gpu_streams(self):
        (data,) = self.built["nvidia-streams"].values()
        found = planes(data)
        device = found["/device:GPU:1"]
        self.assertIn("Stream #14(MemcpyH2D)", device.lines)
        compute, comms = device.events("Stream #13(Compute)"), device.events("Stream #16(Compute)")
        reduce_ = comms[0]
        self.assertTrue(
            any(e[1] < reduce_[1] + reduce_[2] and reduce_[1] < e[1] + e[2] for e in compute)
        )
        ids = [e[3]["correlation_id"] for line in device.lines for e in device.events(line)]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertEqual(compute[0][3]["hlo_op"], b"cublas-gemm.1")


def built(name, **changes):
    """The first host's planes of a scenario, with changes to its tables."""
    spec = derive.merged(derive.load(scenario_file(name)), changes)
    return planes(next(iter(build.build_spec(spec).values())))


class Scenarios(unittest.TestCase):
    """What the scenarios are made with, on the small training step."""

    def test_change(self):
        spec = {"program": {"op": [{"name": "a", "op": [{"name": "b", "x": 1}]}]}}
        self.assertEqual(derive._change(spec["program"], "b", {"x": 2}), 1)
        self.assertEqual(spec["program"]["op"][0]["op"][0]["x"], 2)
        derive._change(spec["program"], "b", {"drop": True})
        self.assertEqual(spec["program"]["op"][0]["op"], [])

    def test_unrolled_is_the_same_work(self):
        scan, flat = built("train-scan"), built("train-unrolled")
        totals, counts = [], []
        for found in (scan, flat):
            ops = found["/device:TPU:0"].events("XLA Ops")
            leaves = [e for e in ops if not e[0].startswith("while")]
            totals.append(sum(e[2] for e in leaves))
            counts.append(len(leaves))
        self.assertEqual(*counts)
        self.assertAlmostEqual(totals[0] / totals[1], 1, delta=0.001)
        modules = [found["/device:TPU:0"].metadata for found in (scan, flat)]
        self.assertGreater(len(modules[1]), 3 * len(modules[0]))

    def test_conditional(self):
        """A stage without a microbatch runs no matmul and waits in the permute."""
        found = built("pipeline")
        first, last = (found[f"/device:TPU:{d}"].events("XLA Ops") for d in (0, 3))
        tick = "convolution_fusion.0"
        self.assertIn(tick, [e[0] for e in first])
        self.assertNotIn(tick, [e[0] for e in last])
        wait = next(e for e in last if e[0] == "collective-permute-done.0")
        self.assertGreater(wait[2], 5 * 10**9)

    def test_cores(self):
        """Two planes a chip: half of each op, but for the parts of a megacore fusion."""
        found = built("v5p-cores")
        details = [dict(fields(found[f"/device:TPU:{d}"].stats["core_details"])) for d in (1, 2)]
        self.assertEqual([d.get(4, 0) for d in details], [0, 1])
        ops = [found[f"/device:TPU:{d}"].events("XLA Ops") for d in (0, 1)]
        flops = {e[0]: e[3].get("flops") for e in ops[0] + ops[1]}
        whole = 2 * 8192 * 4096 * 16384
        self.assertEqual(flops["fusion.71.in_megacore_fusion.1"], whole)
        self.assertLess(flops["add_convolution_fusion"], 0.51 * whole)
        parts = [{e[0] for e in o if "in_megacore" in e[0]} for o in ops]
        self.assertTrue(parts[0] and parts[1] and not parts[0] & parts[1])

    def test_clock_jumps(self):
        """The mapping to host time jumps, the device's own clock does not."""
        plain, jumps = (
            built(n)["/device:TPU:0"].events("XLA Ops") for n in ("train-scan", "clock-jumps")
        )
        clock = lambda e: (e[3]["device_offset_ps"], e[3]["device_duration_ps"])
        self.assertEqual(sorted(map(clock, plain)), sorted(map(clock, jumps)))
        self.assertTrue(any(e[2] == 0 for e in jumps))
        self.assertGreater(max(e[1] for e in jumps), min(e[1] for e in plain))

    def test_shuffled(self):
        offsets = [e[1] for e in built("shuffled-lines")["/device:TPU:0"].events("XLA Ops")]
        self.assertNotEqual(offsets, sorted(offsets))

    def test_without(self):
        """Each input can be left out."""
        self.assertNotIn("/host:metadata", built("train-scan", file={"without": ["hlo"]}))
        self.assertNotIn("Task Environment", built("cut-file"))
        bare = built("train-scan", file={"without": ["device-clock", "costs", "plane-stats"]})
        device = bare["/device:TPU:0"]
        names = {name for e in device.events("XLA Ops") for name in e[3]}
        self.assertFalse(names & {"flops", "device_offset_ps"})
        self.assertEqual(device.stats, {})
        with self.assertRaises(ValueError):
            built("train-scan", file={"without": ["sense"]})

    def test_cuda_graph(self):
        compute = built("nvidia-graphs")["/device:GPU:0"].events("Stream #13(Compute)")
        self.assertNotIn("hlo_op", compute[0][3])
        self.assertTrue(any("hlo_op" in e[3] for e in compute))

    def test_names_are_unique(self):
        twin = {"name": "h", "kind": "matmul", "in": ["x", "w"], "time": 1}
        spec = derive.load(scenario_file("hostile"))
        spec["program"]["op"] += [dict(twin, hlo_name="a"), dict(twin, hlo_name="a")]
        with self.assertRaises(ValueError):
            build.build_spec(spec)


if __name__ == "__main__":
    unittest.main()
