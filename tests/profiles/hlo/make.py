#!/usr/bin/env python3
"""Compile small JAX programs ahead of time and keep what XLA made of them.

    python -m venv venv && venv/bin/pip install jax libtpu
    mkdir /tmp/hlo && cp make.py /tmp/hlo && cd /tmp/hlo
    /path/to/venv/bin/python make.py v5e:2x4 out [case...]

The target is a TPU topology (v4:2x2x1, v5e:2x4, v5p:2x2x2, v6e:2x4, ...), one
of several slices (v5e:2x4*2) or cpu. No TPU is needed. For each case, out/<case>.<target> gets

    .hlo.pb         HloProto: the scheduled module and its buffer assignment
    .hlo.txt        the same module as text
    .json           cost_analysis() and memory_analysis() of the executable

Run it from a neutral directory: file names end up in the module.
"""

import glob
import json
import os
import shutil
import sys
import tempfile

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["TPU_SKIP_MDS_QUERY"] = "1"
os.environ["TPU_WORKER_HOSTNAMES"] = "localhost"
os.environ["TPU_ACCELERATOR_TYPE"] = "v5litepod-8"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import topologies
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

# Source files are recorded by name, without their folder.
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")

SDS = jax.ShapeDtypeStruct


def jit(function, **options):
    """jax.jit, with the module named after the case that calls this."""
    function.__name__ = sys._getframe(1).f_code.co_name
    return jax.jit(function, **options)


def sds(mesh, shape, dtype, *spec):
    return SDS(shape, dtype, sharding=NamedSharding(mesh, P(*spec)))


def mesh_of(devices, names=("x",), shape=None):
    n = shape or (len(devices),)
    return Mesh(np.array(devices).reshape(n), names, axis_types=(AxisType.Auto,) * len(n))


def matmul_bf16(devs):
    m = mesh_of(devs[:1])
    return jit(lambda a, b: a @ b), (sds(m, (1024, 2048), jnp.bfloat16), sds(m, (2048, 4096), jnp.bfloat16))


def matmul_f32_highest(devs):
    m = mesh_of(devs[:1])
    f = lambda a, b: jnp.matmul(a, b, precision=jax.lax.Precision.HIGHEST)
    return jit(f), (sds(m, (1024, 2048), jnp.float32), sds(m, (2048, 4096), jnp.float32))


def conv(devs):
    m = mesh_of(devs[:1])
    f = lambda x, k: jax.lax.conv_general_dilated(x, k, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return jit(f), (sds(m, (32, 56, 56, 128), jnp.bfloat16), sds(m, (3, 3, 128, 256), jnp.bfloat16))


def fsdp_train(devs, layers=2, d=1024, ff=4096, batch=16, seq=512, heads=8):
    mesh = mesh_of(devs, ("fsdp",))
    by_batch = NamedSharding(mesh, P("fsdp", None, None))

    def layer(x, w):
        with jax.named_scope("attention"):
            q, k, v = (a.reshape(*a.shape[:2], heads, -1) for a in jnp.split(x @ w["qkv"], 3, -1))
            s = jnp.einsum("btnh,bsnh->bnts", q, k).astype(jnp.float32) * (d // heads) ** -0.5
            p = jax.nn.softmax(s, -1).astype(x.dtype)
            x = x + jnp.einsum("bnts,bsnh->btnh", p, v).reshape(x.shape) @ w["out"]
        with jax.named_scope("mlp"):
            x = x + jax.nn.gelu(x @ w["up"]) @ w["down"]
        return jax.lax.with_sharding_constraint(x, by_batch), None

    def loss(params, x):
        p16 = jax.tree.map(lambda a: a.astype(jnp.bfloat16), params)
        x, _ = jax.lax.scan(jax.checkpoint(layer), x, p16)
        return jnp.mean(jnp.square(x.astype(jnp.float32)))

    spec = {"qkv": (layers, d, 3 * d), "out": (layers, d, d), "up": (layers, d, ff), "down": (layers, ff, d)}
    params = {k: sds(mesh, s, jnp.float32, None, "fsdp", None) for k, s in spec.items()}

    def train_step(params, x):
        l, g = jax.value_and_grad(loss)(params, x)
        return jax.tree.map(lambda p, g: p - 0.01 * g, params, g), l

    sh = jax.tree.map(lambda s: s.sharding, params)
    f = jit(train_step, donate_argnums=0, out_shardings=(sh, NamedSharding(mesh, P())))
    return f, (params, sds(mesh, (batch, seq, d), jnp.bfloat16, "fsdp", None, None))


def fsdp_unrolled(devs):
    """Two dense layers, not in a loop: gathers and scatters of the entry computation."""
    mesh = mesh_of(devs, ("fsdp",))
    d, ff, batch = 2048, 8192, 8192

    def loss(params, x):
        for w1, w2 in params:
            x = x + jax.nn.relu(x @ w1) @ w2
        return jnp.mean(jnp.square(x.astype(jnp.float32)))

    def train_step(params, x):
        l, g = jax.value_and_grad(loss)(params, x)
        return jax.tree.map(lambda p, g: p - (0.01 * g).astype(p.dtype), params, g), l

    w = [(sds(mesh, (d, ff), jnp.bfloat16, "fsdp", None), sds(mesh, (ff, d), jnp.bfloat16, "fsdp", None))] * 2
    sh = jax.tree.map(lambda s: s.sharding, w)
    f = jit(train_step, donate_argnums=0, out_shardings=(sh, NamedSharding(mesh, P())))
    return f, (w, sds(mesh, (batch, d), jnp.bfloat16, "fsdp", None))


def fsdp_one_layer(devs):
    """One dense layer and its gradients: small enough to read."""
    mesh = mesh_of(devs, ("fsdp",))
    d, ff, batch = 2048, 8192, 8192

    def loss(w, x):
        y = jax.nn.relu(x @ w[0]) @ w[1]
        return jnp.mean(jnp.square(y.astype(jnp.float32)))

    def train_step(w, x):
        l, g = jax.value_and_grad(loss)(w, x)
        return jax.tree.map(lambda p, g: p - (0.01 * g).astype(p.dtype), w, g), l

    w = (sds(mesh, (d, ff), jnp.bfloat16, "fsdp", None), sds(mesh, (ff, d), jnp.bfloat16, "fsdp", None))
    sh = jax.tree.map(lambda s: s.sharding, w)
    f = jit(train_step, donate_argnums=0, out_shardings=(sh, NamedSharding(mesh, P())))
    return f, (w, sds(mesh, (batch, d), jnp.bfloat16, "fsdp", None))


def fsdp_scan(devs):
    """Dense layers in a scan with rematerialisation."""
    mesh = mesh_of(devs, ("fsdp",))
    n, d, ff, batch = 4, 1024, 4096, 4096

    def layer(x, w):
        x = x + jax.nn.relu(x @ w["up"]) @ w["down"]
        return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("fsdp", None))), None

    def loss(w, x):
        x, _ = jax.lax.scan(jax.checkpoint(layer), x, w)
        return jnp.mean(jnp.square(x.astype(jnp.float32)))

    def train_step(w, x):
        l, g = jax.value_and_grad(loss)(w, x)
        return jax.tree.map(lambda p, g: p - (0.01 * g).astype(p.dtype), w, g), l

    w = {"up": sds(mesh, (n, d, ff), jnp.bfloat16, None, "fsdp", None),
         "down": sds(mesh, (n, ff, d), jnp.bfloat16, None, "fsdp", None)}
    sh = jax.tree.map(lambda s: s.sharding, w)
    f = jit(train_step, donate_argnums=0, out_shardings=(sh, NamedSharding(mesh, P())))
    return f, (w, sds(mesh, (batch, d), jnp.bfloat16, "fsdp", None))


def scan_layers(devs):
    mesh = mesh_of(devs[:1])
    d, n, b = 1024, 12, 2048

    def f(w, x):
        def body(x, w):
            return x + jnp.tanh(x @ w), None
        return jax.lax.scan(body, x, w)[0]
    return jit(f), (sds(mesh, (n, d, d), jnp.bfloat16), sds(mesh, (b, d), jnp.bfloat16))


def moe_all_to_all(devs):
    mesh = mesh_of(devs, ("expert",))
    n = len(devs)
    d, ff, tokens = 512, 2048, 1024

    def f(x, w1, w2):
        # x: this shard's tokens, sorted into one bucket per expert.
        x = jax.lax.all_to_all(x, "expert", 0, 0, tiled=True)
        h = jax.nn.silu(x.reshape(-1, d) @ w1[0]) @ w2[0]
        return jax.lax.all_to_all(h.reshape(n, -1, d), "expert", 0, 0, tiled=True)

    g = jax.shard_map(f, mesh=mesh, in_specs=(P("expert"), P("expert"), P("expert")), out_specs=P("expert"))
    return jit(g), (sds(mesh, (n * n, tokens // n, d), jnp.bfloat16, "expert", None, None),
                        sds(mesh, (n, d, ff), jnp.bfloat16, "expert", None, None),
                        sds(mesh, (n, ff, d), jnp.bfloat16, "expert", None, None))


def ring_permute(devs):
    mesh = mesh_of(devs, ("x",))
    n = len(devs)

    def f(x, w):
        def body(i, c):
            x, acc = c
            nxt = jax.lax.ppermute(x, "x", [(j, (j + 1) % n) for j in range(n)])
            return nxt, acc + x @ w
        return jax.lax.fori_loop(0, n, body, (x, jnp.zeros((x.shape[0], w.shape[1]), x.dtype)))[1]
    g = jax.shard_map(f, mesh=mesh, in_specs=(P("x"), P(None, "x")), out_specs=P("x"), check_vma=False)
    return jit(g), (sds(mesh, (8 * 1024, 1024), jnp.bfloat16, "x", None), sds(mesh, (1024, 8 * 1024), jnp.bfloat16, None, "x"))


def host_offload(devs):
    mesh = mesh_of(devs[:1])
    dev = NamedSharding(mesh, P(), memory_kind="device")
    host = NamedSharding(mesh, P(), memory_kind="pinned_host")

    def f(x, w):
        y = jnp.tanh(x @ w)
        return jax.device_put(y, host), jnp.sum(y.astype(jnp.float32))
    return jit(f, out_shardings=(host, dev)), (sds(mesh, (4096, 1024), jnp.bfloat16), sds(mesh, (1024, 1024), jnp.bfloat16))


def pallas_matmul(devs):
    from jax.experimental import pallas as pl
    mesh = mesh_of(devs[:1])
    m, k, n, bm, bk, bn = 1024, 1024, 1024, 256, 1024, 256

    def kernel(a, b, o):
        o[...] = jnp.dot(a[...], b[...], preferred_element_type=jnp.float32).astype(o.dtype)

    def f(a, b):
        return pl.pallas_call(
            kernel, out_shape=SDS((m, n), a.dtype), grid=(m // bm, n // bn),
            in_specs=[pl.BlockSpec((bm, k), lambda i, j: (i, 0)), pl.BlockSpec((k, bn), lambda i, j: (0, j))],
            out_specs=pl.BlockSpec((bm, bn), lambda i, j: (i, j)),
            cost_estimate=pl.CostEstimate(flops=2 * m * n * k, bytes_accessed=2 * (m * k + k * n + m * n), transcendentals=0),
            name="matmul_kernel")(a, b)
    return jit(f), (sds(mesh, (m, k), jnp.bfloat16), sds(mesh, (k, n), jnp.bfloat16))


def over_slices(devs):
    """Gradients of data parallelism over slices, and each collective between them."""
    slices = 1 + max(d.slice_index for d in devs)
    mesh = mesh_of(devs, ("slice", "fsdp"), (slices, len(devs) // slices))
    n = slices

    def exchange(x):
        return (jax.lax.ppermute(x, "slice", [(i, (i + 1) % n) for i in range(n)]),
                jax.lax.all_gather(x, "slice"), jax.lax.psum_scatter(x, "slice", tiled=True),
                jax.lax.all_to_all(x, "slice", 0, 0, tiled=True))

    def f(w, x, e):
        grad = jax.grad(lambda w: jnp.mean(jnp.square(jnp.tanh(x @ w))))(w)
        spec = P("slice", "fsdp")
        moved = jax.shard_map(exchange, mesh=mesh, in_specs=spec, check_vma=False,
                              out_specs=(spec, P("slice", None, "fsdp"), spec, spec))(e)
        return w - 0.1 * grad, moved
    rows = NamedSharding(mesh, P("fsdp", None))
    return jit(f, out_shardings=(rows, None)), (
        SDS((4096, 4096), jnp.bfloat16, sharding=rows),
        sds(mesh, (8192, 4096), jnp.bfloat16, ("slice", "fsdp"), None),
        sds(mesh, (512, 1024), jnp.float32, "slice", "fsdp"))


CASES = [
    matmul_bf16, matmul_f32_highest, conv, scan_layers, fsdp_one_layer, fsdp_scan, fsdp_unrolled,
    fsdp_train, moe_all_to_all, ring_permute, host_offload, pallas_matmul,
    over_slices,
]


def compile_case(case, target, devs, out):
    stem = os.path.join(out, "%s.%s" % (case.__name__, target.replace(":", "-").replace("*", "x")))
    function, args = case(devs)
    with tempfile.TemporaryDirectory() as dump:
        compiled = function.lower(*args).compile(compiler_options={
            "xla_dump_to": dump, "xla_dump_hlo_as_proto": True, "xla_dump_hlo_as_text": True})
        # CPU: module_*.cpu_after_optimizations, TPU: module_*.after_optimizations
        name = "module_*.jit_%s.*after_optimizations" % case.__name__
        for suffix in (".hlo.pb", ".txt"):
            found = [p for p in glob.glob(os.path.join(dump, name + suffix))]
            if len(found) != 1:
                raise RuntimeError("%d dumps %s%s" % (len(found), name, suffix))
            shutil.copyfile(found[0], stem + (".hlo.txt" if suffix == ".txt" else suffix))
        if os.environ.get("KEEP_DUMPS"):
            shutil.copytree(dump, os.path.join(os.environ["KEEP_DUMPS"], os.path.basename(stem)),
                            dirs_exist_ok=True)
    cost, memory = compiled.cost_analysis(), compiled.memory_analysis()
    with open(stem + ".json", "w") as f:
        json.dump({
            "case": case.__name__, "target": target, "device_kind": devs[0].device_kind,
            "devices": len(devs), "jax": jax.__version__, "cost_analysis": dict(sorted(cost.items())),
            "memory_analysis": {k: getattr(memory, k) for k in dir(memory)
                                if k.endswith("_in_bytes")},
        }, f, indent=1)
        f.write("\n")
    print(stem, os.path.getsize(stem + ".hlo.pb"), "flops", cost.get("flops"))


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    target, out, only = sys.argv[1], sys.argv[2], sys.argv[3:]
    os.makedirs(out, exist_ok=True)
    if target == "cpu":
        devs = jax.devices("cpu")
    else:
        name, _, slices = target.partition("*")
        devs = list(topologies.get_topology_desc(
            platform="tpu", topology_name=name, num_slices=int(slices or 1)).devices)
    for case in CASES:
        if not only or case.__name__ in only:
            try:
                compile_case(case, target, devs, out)
            except Exception as e:
                print(case.__name__, target, "failed:", str(e)[:300])


main()
