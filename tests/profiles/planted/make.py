#!/usr/bin/env python3
"""Compile one step for TPUs as it is, and five times with one change planted in it.

    python -m venv venv && venv/bin/pip install jax==0.10.2 libtpu==0.0.42.1
    mkdir /tmp/planted && cp make.py /tmp/planted && cd /tmp/planted
    /path/to/venv/bin/python make.py out

Writes out/<case>.hlo.pb, the HloProto of the scheduled module.  No TPU is needed.  Run it from a
neutral directory: file names end up in the module.
"""

import glob
import os
import shutil
import sys
import tempfile

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["TPU_SKIP_MDS_QUERY"] = "1"
os.environ["TPU_WORKER_HOSTNAMES"] = "localhost"
os.environ["TPU_ACCELERATOR_TYPE"] = "v5litepod-8"

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import topologies
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

# Source files are recorded by name, without their folder.
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")

BATCH, SEQ, MODEL, HIDDEN = 64, 512, 2048, 8192


def ffw(params, x, case):
    """Two matmuls with an activation that the compiler fuses into the first."""
    up, down = jax.lax.with_sharding_constraint(params["up"], P()), params["down"]
    h = jnp.einsum("bsm,mh->bsh", x, up, precision=precision(case))
    return jnp.einsum("bsh,hm->bsm", jax.nn.relu(h).astype(jnp.bfloat16), down)


def compute_dtype(case):
    return jnp.float32 if case == "float32_matmul" else jnp.bfloat16


def precision(case):
    return jax.lax.Precision.HIGHEST if case == "float32_matmul" else None


def norm(x, scale, case):
    """Elementwise work that is one fusion, unless something stands in between."""
    x = x.astype(jnp.float32)
    x = x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)
    if case == "lost_fusion":
        x = jax.lax.optimization_barrier(x)
    return (x * scale).astype(compute_dtype(case))


def make_step(case):
    def step(params, cache, x, position):
        y = x + ffw(params, norm(x, params["scale"], case), case)
        cache = jax.lax.dynamic_update_slice(cache, y[:, :1], (0, position, 0))
        logits = norm(y, params["scale"], "base")
        if case == "extra_transpose":
            logits = jnp.swapaxes(logits, 0, 2)
        return cache, logits

    return step


def arguments(mesh, case):
    def array(shape, dtype, *spec):
        return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, P(*spec)))

    rows = "x" if case == "new_all_gather" else None
    params = {
        "up": array((MODEL, HIDDEN), compute_dtype(case), rows, None),
        "down": array((HIDDEN, MODEL), jnp.bfloat16),
        "scale": array((MODEL,), jnp.float32),
    }
    cache = array((BATCH, 32 * SEQ, MODEL), jnp.bfloat16, "x")
    return params, cache, array((BATCH, SEQ, MODEL), jnp.bfloat16, "x"), array((), jnp.int32)


CASES = (
    "base",
    "extra_transpose",
    "lost_fusion",
    "float32_matmul",
    "new_all_gather",
    "dropped_donation",
)


def compile_case(case, mesh, out):
    with tempfile.TemporaryDirectory() as dump:
        options = {"xla_dump_to": dump, "xla_dump_hlo_as_proto": True}
        donated = () if case == "dropped_donation" else (1,)
        step = jax.jit(make_step(case), donate_argnums=donated)
        step.lower(*arguments(mesh, case)).compile(compiler_options=options)
        (proto,) = glob.glob(os.path.join(dump, "*jit_step*after_optimizations.hlo.pb")) or glob.glob(
            os.path.join(dump, "*jit_step*.hlo_proto.pb")
        ) or [sorted(glob.glob(os.path.join(dump, "*")))]
        shutil.copy(proto, os.path.join(out, case + ".hlo.pb"))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    os.makedirs(sys.argv[1], exist_ok=True)
    devices = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x4").devices
    mesh = Mesh(np.array(devices), ("x",), axis_types=(AxisType.Auto,))
    for case in CASES:
        with jax.sharding.use_mesh(mesh) if hasattr(jax.sharding, "use_mesh") else jax.set_mesh(mesh):
            compile_case(case, mesh, sys.argv[1])


main()
