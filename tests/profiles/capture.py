#!/usr/bin/env python3
"""Record the XLA:CPU profiles of this folder.

    mkdir /tmp/job && cp capture.py /tmp/job && cd /tmp/job
    python -m venv venv && venv/bin/pip install jax
    venv/bin/python capture.py train out/jax-cpu-train
    venv/bin/python capture.py ops out/jax-cpu-ops
    venv/bin/python capture.py set out/jax-cpu-set

Run it from a neutral directory, with Python's packages in it: its path ends up
in the profile. Each command writes out/<name>/plugins/profile/<run>/
host0.xplane.pb (+ trace.json.gz when it is small) and prints what was recorded.
The host name is replaced by host0. `set` leaves all that one job can: both
traces, memory.prof and an HLO dump.

No accelerator is needed: eight virtual CPU devices stand in for a slice.
"""

import glob
import gzip
import os
import shutil
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
DUMP = "dump"
if sys.argv[1:2] == ["set"]:
    os.environ["XLA_FLAGS"] += (" --xla_dump_to=%s --xla_dump_hlo_as_text"
                                " --xla_dump_hlo_as_proto"
                                " --xla_dump_hlo_module_re=jit_train_step" % DUMP)


import jax
import jax.numpy as jnp
import numpy as np
from jax.profiler import ProfileOptions, StepTraceAnnotation, TraceAnnotation
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

# Source files are recorded by name, without their folder.
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")

STEPS = 4
LAYERS, MODEL, BATCH, SEQ = 2, 128, 16, 64
SET_STEPS = 4
MAX_TRACE_JSON = 200_000


# ---- the training step ------------------------------------------------------


def make_train_step(mesh):
    """FSDP: each layer's matrix is cut along the mesh and gathered for use.

    The model is a transformer cut to the bone (one head, attention without a
    softmax, one dense matrix per layer), because every HLO op of every layer,
    step and device costs about 130 bytes of profile.
    """
    sharded = NamedSharding(mesh, P(None, None, "fsdp"))
    by_batch = NamedSharding(mesh, P("fsdp", None, None))
    whole = NamedSharding(mesh, P())

    def layer(x, w):
        with jax.named_scope("attention"):
            scores = jnp.einsum("bth,bsh->bts", x, x)
            x = x + jnp.einsum("bts,bsh->bth", scores, x)
        with jax.named_scope("dense"):
            w = jax.lax.with_sharding_constraint(w, whole)
            x = x + jnp.tanh(x @ w)
        return jax.lax.with_sharding_constraint(x, by_batch), None

    def loss_fn(params, x):
        x, _ = jax.lax.scan(jax.checkpoint(layer), x, params)
        return jnp.mean(x * x)

    def train_step(params, x):
        loss, grads = jax.value_and_grad(loss_fn)(params, x)
        return params - 0.1 * grads, loss

    step = jax.jit(train_step, in_shardings=(sharded, by_batch),
                   out_shardings=(sharded, whole), donate_argnums=0)
    return step, sharded, by_batch


def run_train(record):
    mesh = jax.make_mesh((8,), ("fsdp",), axis_types=(AxisType.Auto,))
    step, sharded, by_batch = make_train_step(mesh)
    rng = np.random.default_rng(0)
    params = 0.02 * rng.standard_normal((LAYERS, MODEL, MODEL), np.float32)
    params = jax.device_put(params, sharded)
    host = rng.standard_normal((STEPS + 1, BATCH, SEQ, MODEL), np.float32)
    params, loss = step(params, jax.device_put(host[STEPS], by_batch))
    jax.block_until_ready(loss)
    with record():
        for i in range(STEPS):
            with StepTraceAnnotation("train", step_num=i):
                x = jax.device_put(host[i], by_batch)
                params, loss = step(params, x)
                jax.block_until_ready(loss)


# ---- a step with every collective ---------------------------------------------


def make_set_step(mesh):
    """A transformer block over two axes, its communication written out.

    Tokens are cut along `seq`: keys come from the neighbour (collective-permute). The dense
    matrices are cut along `model`: tokens are gathered before them (all-gather) and their sums
    scattered behind them (reduce-scatter). Gradients are summed (all-reduce).
    """
    def attention(x):
        keys = jax.lax.ppermute(x, "seq", [(0, 1), (1, 0)])
        return x + jnp.einsum("bth,bsh,bsk->btk", x, keys, keys)

    def dense(x, w_in, w_out):
        whole = jax.lax.all_gather(x, "model", axis=1, tiled=True)
        return x + jax.lax.psum_scatter(jnp.tanh(whole @ w_in) @ w_out, "model",
                                        scatter_dimension=1, tiled=True)

    def loss_fn(params, x):
        with jax.named_scope("attention"):
            x = attention(x @ params["mix"])
        with jax.named_scope("dense"):
            x = dense(x, params["in"], params["out"])
        return jnp.mean(x * x)

    def local_step(params, x):
        loss, grads = jax.value_and_grad(loss_fn)(params, x)
        grads["mix"] = jax.lax.psum(grads["mix"], ("seq", "model"))
        grads["in"], grads["out"] = jax.lax.psum((grads["in"], grads["out"]), "seq")
        params = jax.tree.map(lambda p, g: p - 0.01 * g, params, grads)
        return params, jax.lax.pmean(loss, ("seq", "model"))

    specs = {"mix": P(), "in": P(None, "model"), "out": P("model", None)}
    by_tokens = P(None, ("seq", "model"), None)

    def train_step(params, x):
        return jax.shard_map(local_step, mesh=mesh, in_specs=(specs, by_tokens),
                             out_specs=(specs, P()), check_vma=False)(params, x)

    shardings = jax.tree.map(lambda s: NamedSharding(mesh, s), specs)
    return jax.jit(train_step, donate_argnums=0), shardings, NamedSharding(mesh, by_tokens)


def run_set(record):
    mesh = jax.make_mesh((2, 4), ("seq", "model"), axis_types=(AxisType.Auto,) * 2)
    step, shardings, by_tokens = make_set_step(mesh)
    rng = np.random.default_rng(0)
    sizes = {"mix": (MODEL, MODEL), "in": (MODEL, 4 * MODEL), "out": (4 * MODEL, MODEL)}
    params = {k: jax.device_put(0.02 * rng.standard_normal(s, np.float32), shardings[k])
              for k, s in sizes.items()}
    x = jax.device_put(rng.standard_normal((4, SEQ, MODEL), np.float32), by_tokens)
    params, loss = step(params, x)
    jax.block_until_ready(loss)
    with record():
        for i in range(SET_STEPS):
            with StepTraceAnnotation("train", step_num=i):
                params, loss = step(params, x)
                jax.block_until_ready(loss)
        jax.profiler.save_device_memory_profile("memory.prof")


# ---- single operations on one device -----------------------------------------


def named(name, function):
    function.__name__ = name  # the module becomes jit_<name>
    return jax.jit(function)


def run_ops(record):
    dot_f32 = named("dot_f32", lambda a, b: a @ b)
    dot_bf16 = named("dot_bf16", lambda a, b: a @ b)
    dot_s8 = named("dot_s8", lambda a, b: a @ b)
    batched = named("batched", lambda a, b: jnp.einsum("bij,bjk->bik", a, b))
    transpose = named("transpose", lambda a: a.T.copy())
    axpy = named("axpy", lambda a, b: 2.0 * a + b)
    softmax = named("softmax", lambda a: jax.nn.softmax(a, -1))
    total = named("total", lambda a: jnp.sum(a, 0))
    conv = named("conv", lambda x, k: jax.lax.conv_general_dilated(
        x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
    order = named("order", lambda a: jnp.sort(a, -1))
    power = named("power", lambda a, x: jax.lax.scan(
        lambda c, _: (jnp.tanh(a @ c), c[0, 0]), x, None, length=5))
    until = named("until", lambda x: jax.lax.while_loop(
        lambda c: jnp.sum(c) > 1.0, lambda c: c * 0.5 @ jnp.eye(64), x))
    either = named("either", lambda p, a: jax.lax.cond(p, lambda v: v @ v, lambda v: v + 1.0, a))

    f32 = jnp.ones((512, 512), jnp.float32)
    bf16 = jnp.ones((256, 256), jnp.bfloat16)
    s8 = jnp.ones((256, 256), jnp.int8)
    stack = jnp.ones((4, 128, 128), jnp.float32)
    image = jnp.ones((2, 28, 28, 8), jnp.float32)
    kernel = jnp.ones((3, 3, 8, 16), jnp.float32)
    small = jnp.full((64, 64), 0.01, jnp.float32)

    def all_once():
        out = [
            dot_f32(f32, f32), dot_bf16(bf16, bf16), dot_s8(s8, s8), batched(stack, stack),
            transpose(f32), axpy(f32, f32), softmax(f32), total(f32),
            conv(image, kernel), order(f32), power(small, small), until(small),
            either(True, small), either(False, small),
        ]
        jax.block_until_ready(out)

    late = named("late", lambda a: jnp.cos(a) @ a)
    all_once()
    with record():
        for _ in range(3):
            all_once()
        with TraceAnnotation("copies", note="host to device and back"):
            jax.device_get(jax.device_put(jax.device_get(f32), jax.devices()[1]))
        with TraceAnnotation("compile"):
            late(small).block_until_ready()


# ---- recording ---------------------------------------------------------------


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def rename_host(space):
    """XSpace with its hostnames (field 4) replaced by one: host0."""
    out, at = bytearray(), 0
    while at < len(space):
        start = at
        tag, at = varint(space, at)
        if tag & 7 != 2:
            sys.exit("not an XSpace: field %d has wire type %d" % (tag >> 3, tag & 7))
        size, at = varint(space, at)
        at += size
        if tag >> 3 != 4:
            out += space[start:at]
    return bytes(out) + b"\x22\x05host0"


def keep_set(folder):
    """What the job left beside the profile: live buffers, and of its dump what rooflint reads."""
    os.rename("memory.prof", os.path.join(folder, "memory.prof"))
    for name in ("after_optimizations.txt", "after_optimizations.hlo.pb", "buffer-assignment.txt",
                 "memory-usage-report.txt"):
        for path in glob.glob(os.path.join(DUMP, "*" + name)):
            shutil.copy(path, folder)


RUNS = {"train": run_train, "ops": run_ops, "set": run_set}


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in RUNS:
        sys.exit(__doc__)
    out = sys.argv[2]
    is_set = sys.argv[1] == "set"

    def record():
        options = ProfileOptions()
        options.python_tracer_level = 0
        options.host_tracer_level = 2
        options.enable_hlo_proto = True
        return jax.profiler.trace(out, create_perfetto_trace=is_set, profiler_options=options)

    RUNS[sys.argv[1]](record)

    for path in glob.glob(os.path.join(out, "plugins/profile/*/*.xplane.pb")):
        folder = os.path.dirname(path)
        with open(path, "rb") as f:
            space = rename_host(f.read())
        os.remove(path)
        with open(os.path.join(folder, "host0.xplane.pb"), "wb") as f:
            f.write(space)
        print("%s: %d bytes, gzip %d" % (folder, len(space), len(gzip.compress(space))))
    for path in glob.glob(os.path.join(out, "plugins/profile/*/*trace.json.gz")):
        if os.path.basename(path) == "perfetto_trace.json.gz":
            continue
        if os.path.getsize(path) < MAX_TRACE_JSON:
            os.rename(path, os.path.join(os.path.dirname(path), "host0.trace.json.gz"))
        else:
            print("dropped trace.json.gz of %d bytes" % os.path.getsize(path))
            os.remove(path)
    if is_set:
        keep_set(os.path.dirname(glob.glob(os.path.join(out, "plugins/profile/*/*.pb"))[0]))
    print("jax", jax.__version__, "jaxlib", jax.lib.__version__, "python", sys.version.split()[0])


main()
