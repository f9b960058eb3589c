"""Programs for TPUs, each with the FLOPs of its matmuls counted by hand.

A function takes the mesh's devices and returns (jitted function, shapes of its arguments, FLOPs of
one run of all devices together) and, where every op's cost is to be known, the bytes that ops of a
kind or opcode read and write.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

BF16, F32, S32 = jnp.bfloat16, jnp.float32, jnp.int32


def spec(mesh, shape, dtype, *axes):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, P(*axes)))


def mesh_of(devices, *axes):
    """mesh_of(devices, ("data", 4), ("model", 2))"""
    names, sizes = zip(*axes)
    return Mesh(np.array(devices).reshape(sizes), names)


def transformer(devices):
    """A train step: layers in a scan, weights sharded over data and gathered for use, heads and
    hidden units over model, momentum in f32, donated."""
    layers, batch, seq, width, heads, hidden, vocab = 4, 16, 1024, 2048, 16, 8192, 32768
    mesh = mesh_of(devices, ("data", len(devices) // 2), ("model", 2))
    shapes = {
        "qkv": ((layers, width, 3 * width), ("data", "model")),
        "out": ((layers, width, width), ("model", "data")),
        "up": ((layers, width, hidden), ("data", "model")),
        "down": ((layers, hidden, width), ("model", "data")),
    }

    def laid(x, *axes):
        return lax.with_sharding_constraint(x, NamedSharding(mesh, P("data", None, *axes)))

    def layer(x, w):
        b, t, d = x.shape
        q, k, v = jnp.split(x @ w["qkv"], 3, axis=-1)
        q, k, v = (laid(a.reshape(b, t, heads, d // heads), "model", None) for a in (q, k, v))
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k)
        mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, axis=-1), v)
        x = laid(x + mixed.reshape(b, t, d) @ w["out"], None)
        return laid(x + jax.nn.relu(laid(x @ w["up"], "model")) @ w["down"], None), None

    def loss(weights, table, tokens, targets):
        x, _ = lax.scan(layer, laid(table[tokens], None), weights)
        logits = laid(x @ table.T, "model").astype(F32)
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits),
                                             targets[..., None], axis=-1))

    def step(weights, table, momentum, tokens, targets):
        value, grads = jax.value_and_grad(loss)(weights, table, tokens, targets)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g.astype(F32), momentum, grads)
        weights = jax.tree.map(lambda w, m: (w - 0.01 * m).astype(BF16), weights, momentum)
        return value, weights, momentum

    weights = {k: spec(mesh, s, BF16, None, *axes) for k, (s, axes) in shapes.items()}
    momentum = {k: spec(mesh, s, F32, None, *axes) for k, (s, axes) in shapes.items()}
    ids = spec(mesh, (batch, seq), S32, "data", None)
    args = (weights, spec(mesh, (vocab, width), BF16, "model", "data"), momentum, ids, ids)
    tokens = batch * seq
    per_layer = (2 * tokens * width * (3 * width + width + 2 * hidden) +
                 2 * 2 * batch * seq * seq * width)
    flops = 3 * layers * per_layer + 2 * 2 * tokens * width * vocab
    out = jax.tree.map(lambda s: s.sharding, (weights, momentum))
    whole = NamedSharding(mesh, P())
    return jax.jit(step, donate_argnums=(0, 2), out_shardings=(whole, *out)), args, flops


def moe(devices):
    """Every token goes to one of the experts, a device each, and back: two all-to-alls."""
    n, tokens, width, hidden = len(devices), 4096, 2048, 8192
    mesh = mesh_of(devices, ("expert", n))

    @partial(jax.shard_map, mesh=mesh, in_specs=(P("expert"), P("expert"), P("expert")),
             out_specs=P("expert"))
    def step(x, up, down):
        sent = lax.all_to_all(x.reshape(n, -1, width), "expert", 0, 0)
        y = jax.nn.relu(sent.reshape(-1, width) @ up[0]) @ down[0]
        return lax.all_to_all(y.reshape(n, -1, width), "expert", 0, 0).reshape(-1, width)

    args = (spec(mesh, (n * tokens, width), BF16, "expert", None),
            spec(mesh, (n, width, hidden), BF16, "expert", None, None),
            spec(mesh, (n, hidden, width), BF16, "expert", None, None))
    return jax.jit(step), args, 2 * 2 * n * tokens * width * hidden


def pipeline(devices):
    """A stage a device; microbatches go from one to the next, round and round in a loop."""
    n, micro, rows, width = len(devices), 8, 1024, 4096
    turns = micro + n - 1
    mesh = mesh_of(devices, ("stage", n))

    @partial(jax.shard_map, mesh=mesh, in_specs=(P("stage"), P()), out_specs=P("stage"))
    def step(w, x):
        def turn(carry, i):
            first = lax.dynamic_index_in_dim(x, jnp.minimum(i, micro - 1), keepdims=False)
            mine = jnp.where(lax.axis_index("stage") == 0, first, carry)
            y = jax.nn.relu(mine @ w[0])
            return lax.ppermute(y, "stage", [(k, (k + 1) % n) for k in range(n)]), y
        start = lax.pcast(jnp.zeros((rows, width), BF16), "stage", to="varying")
        return lax.scan(turn, start, jnp.arange(turns))[1][-micro:]

    args = (spec(mesh, (n, width, width), BF16, "stage", None, None),
            spec(mesh, (micro, rows, width), BF16))
    return jax.jit(step), args, 2 * n * turns * rows * width * width


def collective_matmul(devices):
    """A product whose left side is gathered, and one whose result is scattered: XLA makes rounds
    of permutes of both."""
    n, rows, width, hidden = len(devices), 8192, 4096, 8192
    mesh = mesh_of(devices, ("model", n))
    rowwise = NamedSharding(mesh, P("model", None))

    def step(x, up, down):
        return jnp.tanh(x @ up) @ down

    args = (spec(mesh, (rows, width), BF16, "model", None),
            spec(mesh, (width, hidden), BF16, None, "model"),
            spec(mesh, (hidden, width), BF16, "model", None))
    return jax.jit(step, out_shardings=rowwise), args, 2 * 2 * rows * width * hidden


def resharding(devices):
    """Half of the devices' rows change places: one permute, some of whose pairs stay."""
    n, rows, width = len(devices), 8192, 1024
    mesh = mesh_of(devices, ("x", n))
    pairs = [(k, k) for k in range(0, n, 2)] + [(k, (k + 2) % n) for k in range(1, n, 2)]

    @partial(jax.shard_map, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    def step(x):
        return lax.ppermute(x, "x", pairs)

    return jax.jit(step), (spec(mesh, (n * rows, width), BF16, "x", None),), 0


def odd_ops(devices):
    """What the compiler's own report leaves out or counts for more: rows that are set, and not
    added; numbers of 64 bits, taken apart and joined; an approximate top-k; threefry."""
    rows, width, scores, bins = 512, 128, (256, 16384), 256
    mesh = mesh_of(devices[:1], ("x", 1))

    def step(table, at, new, x, found, key):
        bits = jax.random.bits(jax.random.wrap_key_data(key, impl="threefry2x32"), (1024, 1024))
        return (table.at[at].set(new), x * jnp.conj(x), lax.approx_max_k(found, 8), bits)

    args = (spec(mesh, (65536, width), BF16), spec(mesh, (rows,), S32),
            spec(mesh, (rows, width), BF16), spec(mesh, (512, 1024), jnp.complex64),
            spec(mesh, scores, F32), spec(mesh, (2,), jnp.uint32))
    size = 512 * 1024 * 8
    return jax.jit(step, donate_argnums=0), args, 0, {
        "scatter": 2 * rows * width * 2 + rows * 4,
        "custom-call": 2 * size + 2 * size,
    }


def pooling(devices):
    """The gradient of a max pool: a select-and-scatter, whose windows overlap."""
    rows, side, width = 64, 112, 64
    mesh = mesh_of(devices[:1], ("x", 1))

    def step(x, g):
        def pool(x):
            return lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        return jax.vjp(pool, x)[1](g)

    args = (spec(mesh, (rows, side, side, width), F32),
            spec(mesh, (rows, side // 2, side // 2, width), F32))
    elements = rows * side * side * width
    return jax.jit(step), args, 0, {"select-and-scatter": 4 * (2 * elements + elements // 4)}


PROGRAMS = (transformer, moe, pipeline, collective_matmul, resharding, odd_ops, pooling)
