#!/usr/bin/env python3
"""Faults of today's JAX, each beside its mended twin: the rule is red on one and green on the other.

    python faults.py OUT

Needs the wheel, jax and libtpu. A job runs on the CPU, recorded with rooflint.capture; a program is
compiled ahead of time for TPU v5e, which nobody has here. A rule that neither can carry is named,
and its fault stands in tests/scenarios. The last line counts.
"""

import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
RED, GREEN = ("fail", "warn"), ("pass", "not-applicable")
CHIP = "v5e:2x4"

os.environ["JAX_PLATFORMS"] = "cpu"
# There is no TPU whose machine could be asked.
os.environ.update(TPU_SKIP_MDS_QUERY="1", TPU_WORKER_HOSTNAMES="localhost",
                  TPU_ACCELERATOR_TYPE="v5litepod-8")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import rooflint  # noqa: E402
from jax.experimental import io_callback, topologies  # noqa: E402
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P  # noqa: E402


# ---- jobs: `slow` is the fault ----------------------------------------------------------------------


@jax.jit
def layers(x, weights):
    for w in weights:
        x = jnp.tanh(x @ w)
    return x


def weights():
    return [0.02 * jax.random.normal(key, (512, 512)) for key in jax.random.split(jax.random.key(0), 4)]


def record(out, step):
    with rooflint.capture(out, steps=12) as steps:
        for i in steps:
            kept = step(i)  # what nobody keeps is not waited for
    return kept


def idle(out, slow):
    """The next batch is read from a disk in between."""
    x, w = jnp.ones((2048, 512)), weights()

    def step(_):
        if slow:
            time.sleep(0.02)
        return layers(x, w)
    record(out, step)


def host_callbacks(out, slow):
    """The step asks Python on the host for a number."""
    def on_host(x):
        time.sleep(0.01)
        return x

    @jax.jit
    def asking(x, w):
        y = layers(x, w)
        return io_callback(on_host, jax.ShapeDtypeStruct((), y.dtype), y[0, 0]) + y if slow else y

    x, w = jnp.ones((2048, 512)), weights()
    record(out, lambda _: asking(x, w))


def recompiles(out, slow):
    """Every third batch has a length of its own."""
    w = weights()
    batches = {i: jnp.ones((2048 + 8 * max(i, 0) * (slow and i % 3 == 2), 512))
               for i in range(-3, 12)}
    record(out, lambda i: layers(batches[i], w))


# ---- programs: `slow` is the fault ------------------------------------------------------------------


def compiled(out, function, donate, *arrays):
    """A dump of the function for arrays of (shape, dtype, axes)."""
    devices = topologies.get_topology_desc(platform="tpu", topology_name=CHIP).devices
    mesh = jax.sharding.Mesh(devices, ("x",), axis_types=(AxisType.Auto,))
    arguments = [jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, P(*axes)))
                 for shape, dtype, axes in arrays]
    with jax.set_mesh(mesh):
        jax.jit(function, donate_argnums=donate).lower(*arguments).compile(
            compiler_options={"xla_dump_to": out, "xla_dump_hlo_as_proto": True})


def missed_donation(out, slow):
    """The new cache stands beside the old one."""
    def step(cache, x):
        return jax.lax.dynamic_update_slice(cache, x, (0, 0))
    compiled(out, step, () if slow else (0,), ((1 << 20, 4096), jnp.bfloat16, ("x",)),
             ((8, 4096), jnp.bfloat16, ()))


def padding_waste(out, slow):
    """A row of a tile has 128 numbers: one more takes the place of twice as many."""
    def step(x):
        return x * 2, x + 1
    side = 129 if slow else 128
    compiled(out, step, (), ((side, side, side, 64), jnp.float32, ()))


def memory_headroom(out, slow):
    """The state fills the memory to its last percent."""
    def step(state):
        return state * 2
    compiled(out, step, (0,), ((1 << 20, 7936 if slow else 4096), jnp.bfloat16, ()))


def memory_bound_matmul(out, slow):
    """A product of a few rows reads the whole weight for them."""
    def step(x, w):
        return x @ w
    compiled(out, step, (), ((8 if slow else 8192, 16384), jnp.bfloat16, ()),
             ((16384, 16384), jnp.bfloat16, ()))


JOBS = (idle, host_callbacks, recompiles)
PROGRAMS = (missed_donation, padding_waste, memory_headroom, memory_bound_matmul)


# ---- the verdicts -----------------------------------------------------------------------------------


def verdict(rule, out, hardware):
    results = rooflint.check(out, rules="recommended", hardware=hardware).report.results
    return next(r.verdict for r in results if r.name == rule)


def main(out):
    passed = failed = 0
    carried = set()
    for fault in JOBS + PROGRAMS:
        rule = fault.__name__.replace("_", "-")
        hardware = os.path.join(HERE, "host.yaml") if fault in JOBS else "v5e"
        carried.add(rule)
        for slow, wanted in ((True, RED), (False, GREEN)):
            folder = os.path.join(out, rule + ("" if slow else "-mended"))
            # A process of its own: what one side compiled the other would find.
            subprocess.run([sys.executable, __file__, folder, fault.__name__, str(int(slow))], check=True)
            said = verdict(rule, folder, hardware)
            if said in wanted:
                passed += 1
            else:
                failed += 1
                print("FAIL %s: %s is %s" % (os.path.basename(folder), rule, said))
    listed = subprocess.run([rooflint.binary(), "rules", "list", "--rules", "recommended"], check=True,
                            stdout=subprocess.PIPE, encoding="utf-8").stdout.splitlines()[1:]
    rows = [line.split() for line in listed if not line.startswith(" ")]  # a title may go on
    others = [row[0] for row in rows if row[2] != "gate"]
    print("not carried by a CPU or a compiler: " + ", ".join(r for r in others if r not in carried))
    print("%d passed, %d failed" % (passed, failed))
    return failed > 0


if __name__ == "__main__":
    if len(sys.argv) == 4:
        os.makedirs(sys.argv[1])
        globals()[sys.argv[2]](sys.argv[1], bool(int(sys.argv[3])))
    else:
        sys.exit(main(*sys.argv[1:]))
