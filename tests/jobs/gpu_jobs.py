"""Jobs for one NVIDIA GPU, each with its own clock; jobs.py has those for virtual CPU devices.

    python gpu_jobs.py OUT [NAME...]

records each job in a process of its own and leaves OUT/NAME/plugins/profile/... and OUT/NAME/truth.json:
what the job's clock saw, and the FLOPs of its matmuls counted by hand.  SMALL=1 makes the shapes small, to
try the script on a CPU.
"""

import functools
import glob
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SMALL = bool(os.environ.get("SMALL"))
# What a job asks of XLA: with an empty list of commands no CUDA graph is made.
NO_GRAPHS = "--xla_gpu_enable_command_buffer="
FLAGS = {"train_no_graphs": NO_GRAPHS, "scan_layers_no_graphs": NO_GRAPHS, "cudnn_no_graphs": NO_GRAPHS,
         "decode_no_graphs": NO_GRAPHS, "scan_no_graphs": NO_GRAPHS,
         "search_graphs": "--xla_gpu_enable_command_buffer=FUSION,CUBLAS,CUBLASLT,CUSTOM_CALL,CUDNN,"
                          "DYNAMIC_SLICE_FUSION,CONDITIONAL,WHILE"}

os.environ.setdefault("JAX_PLATFORMS", "cpu" if SMALL else "cuda")
sys.path.insert(0, HERE)
from jobs import Job, json, time

import jax
import jax.numpy as jnp
import numpy as np
from jax.profiler import StepTraceAnnotation


def size(n):
    return max(n // 16, 16) if SMALL else n


def random(seed, shape, dtype=jnp.bfloat16, scale=0.02):
    return (scale * jax.random.normal(jax.random.key(seed), shape, jnp.float32)).astype(dtype)


# ---- a transformer ---------------------------------------------------------------------------------

WIDTH, HEADS, LENGTH, BATCH, LAYERS, WORDS = size(2048), 16, size(1024), 8, 2, size(32768)


def layer_params(seed, width=WIDTH):
    k = 10 * seed
    return {"qkv": random(k, (width, 3 * width)), "out": random(k + 1, (width, width)),
            "up": random(k + 2, (width, 4 * width)), "down": random(k + 3, (4 * width, width)),
            "norm1": jnp.ones((width,), jnp.bfloat16), "norm2": jnp.ones((width,), jnp.bfloat16)}


def rms_norm(x, scale):
    x32 = x.astype(jnp.float32)
    return (x32 * jax.lax.rsqrt(jnp.mean(x32 * x32, -1, keepdims=True) + 1e-6)).astype(x.dtype) * scale


def attention(q, k, v, implementation="xla"):
    return jax.nn.dot_product_attention(q, k, v, is_causal=True, implementation=implementation)


def layer(p, x, implementation="xla"):
    b, t, d = x.shape
    with jax.named_scope("attention"):
        q, k, v = jnp.split(rms_norm(x, p["norm1"]) @ p["qkv"], 3, -1)
        q, k, v = (a.reshape(b, t, HEADS, d // HEADS) for a in (q, k, v))
        x = x + attention(q, k, v, implementation).reshape(b, t, d) @ p["out"]
    with jax.named_scope("mlp"):
        return x + jax.nn.gelu(rms_norm(x, p["norm2"]) @ p["up"]) @ p["down"]


def model_params(layers=LAYERS, stacked=False):
    params = [layer_params(i + 1) for i in range(layers)]
    if stacked:
        params = jax.tree.map(lambda *a: jnp.stack(a), *params)
    return {"embed": random(7777, (WORDS, WIDTH)), "layers": params}


def loss_of(params, tokens, implementation="xla"):
    x = params["embed"][tokens]
    if isinstance(params["layers"], list):
        for p in params["layers"]:
            x = layer(p, x, implementation)
    else:
        step = jax.checkpoint(lambda x, p: (layer(p, x, implementation), None))
        x, _ = jax.lax.scan(step, x, params["layers"])
    logits = (x @ params["embed"].T).astype(jnp.float32)
    targets = jnp.roll(tokens, -1, 1)
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), targets[..., None], -1))


def adam_init(params):
    zeros = jax.tree.map(lambda p: jnp.zeros(p.shape, jnp.float32), params)
    return {"m": zeros, "v": jax.tree.map(jnp.copy, zeros), "w": jax.tree.map(
        lambda p: p.astype(jnp.float32), params)}


def train_step_of(implementation="xla"):
    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def train_step(params, state, tokens):
        loss, grads = jax.value_and_grad(loss_of)(params, tokens, implementation)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g.astype(jnp.float32), state["m"], grads)
        v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * jnp.square(g.astype(jnp.float32)), state["v"], grads)
        w = jax.tree.map(lambda w, m, v: w - 1e-4 * m / (jnp.sqrt(v) + 1e-8), state["w"], m, v)
        return jax.tree.map(lambda w, p: w.astype(p.dtype), w, params), {"m": m, "v": v, "w": w}, loss
    return train_step


def matmul_flops(implementation="xla"):
    """Of a training step: 6 per weight and token.  XLA's attention is two products of its own, and
    four for their gradients; cuDNN's is no matmul."""
    own = 12 * BATCH * LENGTH * LENGTH * WIDTH * LAYERS if implementation == "xla" else 0
    return 6 * BATCH * LENGTH * (LAYERS * 12 * WIDTH * WIDTH + WORDS * WIDTH) + own


def tokens_of(seed):
    return np.random.default_rng(seed).integers(0, WORDS, (BATCH, LENGTH), np.int32)


def train(job, steps=8, stacked=False, implementation="xla", python=False, load=None, marked=True):
    params = model_params(stacked=stacked)
    state, step = adam_init(params), train_step_of(implementation)
    tokens = jnp.asarray(tokens_of(0))
    for _ in range(3):
        params, state, loss = step(params, state, tokens)
    jax.block_until_ready(loss)
    if not stacked:  # XLA leaves out parts of what is computed again
        job.truth["flops_step"] = matmul_flops(implementation)
    with job.window(python=python):
        for i in range(steps):
            if load:
                with job.clock("load"):
                    tokens = load(i)
            with job.clock("step"):
                if marked:
                    with StepTraceAnnotation("train", step_num=i):
                        params, state, loss = step(params, state, tokens)
                        jax.block_until_ready(loss)
                else:
                    params, state, loss = step(params, state, tokens)
                    jax.block_until_ready(loss)


def train_marked(job):
    """A transformer, unrolled, Adam; marked steps; XLA's own choice of CUDA graphs."""
    train(job)


def train_no_graphs(job):
    """The same without CUDA graphs."""
    train(job)


def train_scan(job):
    """Layers in a scan, each computed again for its gradient; no marks; Python's calls are traced."""
    train(job, stacked=True, python=True, marked=False)


def scan_layers_no_graphs(job):
    """The same without CUDA graphs."""
    train(job, stacked=True, marked=False)


def train_cudnn(job):
    """Attention by cuDNN's kernels."""
    train(job, implementation="cudnn")


def cudnn_no_graphs(job):
    """The same without CUDA graphs."""
    train(job, implementation="cudnn")


def train_loader(job):
    """A loader that takes longer than a step: reading a file, and a generator around it."""
    def read_examples():
        time.sleep(0.05)
        return tokens_of(1)

    def batches():
        while True:
            yield jnp.asarray(read_examples())
    stream = batches()
    train(job, load=lambda i: next(stream), python=True)


def train_ahead(job):
    """Steps are launched one behind the other, and waited for once behind the loop; no marks."""
    params = model_params()
    state, step = adam_init(params), train_step_of()
    tokens = jnp.asarray(tokens_of(0))
    for _ in range(3):
        params, state, loss = step(params, state, tokens)
    jax.block_until_ready(loss)
    job.truth["flops_step"] = matmul_flops()
    job.truth["loop_steps"] = 12
    with job.window(), job.clock("loop"):
        for _ in range(12):
            params, state, loss = step(params, state, tokens)
        jax.block_until_ready(loss)


# ---- single kernels --------------------------------------------------------------------------------


def repeated(job, programs, times=8):
    """Each program by itself, `times` times, blocked; its clock under its own name."""
    for function, args, _ in programs.values():
        jax.block_until_ready(function(*args))
    with job.window():
        for name, (function, args, flops) in programs.items():
            job.truth.setdefault("flops", {})[name] = flops
            for _ in range(times):
                with job.clock(name):
                    jax.block_until_ready(function(*args))


def named(name, function):
    function.__name__ = name
    return jax.jit(function)


def matmuls(job):
    """One matmul in each type and precision, 2 M N K FLOPs each."""
    n = size(8192)
    programs = {}

    def add(name, dtype, n=n, precision=None, out=None, flops=2):
        def product(a, b):
            return jax.lax.dot(a, b, precision=precision, preferred_element_type=out)
        if jnp.issubdtype(dtype, jnp.integer):
            a = jnp.ones((n, n), dtype)
        elif jnp.issubdtype(dtype, jnp.complexfloating):
            a = jax.lax.complex(random(1, (n, n), jnp.float32), random(2, (n, n), jnp.float32))
        else:
            a = random(1, (n, n), dtype)
        b = a.T + jnp.zeros((), dtype)
        try:
            f = named(name, product)
            jax.block_until_ready(f(a, b))
            programs[name] = (f, (a, b), flops * n**3)
        except Exception as error:  # this device or version has no such product
            job.truth.setdefault("absent", {})[name] = str(error)[:200]

    add("bf16", jnp.bfloat16)
    add("f16", jnp.float16)
    add("f32_default", jnp.float32)
    add("f32_high", jnp.float32, precision="high")
    add("f32_highest", jnp.float32, precision="highest")
    add("tf32", jnp.float32, precision="TF32_TF32_F32")
    add("bf16_3x", jnp.float32, precision="BF16_BF16_F32_X3", flops=6)  # three products
    add("fp8_e4m3", jnp.float8_e4m3fn, out=jnp.bfloat16)
    add("int8", jnp.int8, out=jnp.int32)
    add("f64", jnp.float64, n=size(4096))
    add("complex64", jnp.complex64, n=size(4096), flops=8)
    add("small_bf16", jnp.bfloat16, n=size(512))
    repeated(job, programs)


def memory_bound(job):
    """Copies, transposes, reductions, gathers, updates in place, and transfers to and from the host."""
    n = size(16384)
    x = random(1, (n, n), jnp.float32)
    row = jnp.asarray(np.random.default_rng(0).permutation(n))
    programs = {
        "add_one": (named("add_one", lambda x: x + 1), (x,), None),
        "transposed": (named("transposed", lambda x: x.T + 0), (x,), None),
        "row_sum": (named("row_sum", lambda x: x.sum(1)), (x,), None),
        "column_sum": (named("column_sum", lambda x: x.sum(0)), (x,), None),
        "softmax": (named("softmax", lambda x: jax.nn.softmax(x, 1)), (x,), None),
        "gather_rows": (named("gather_rows", lambda x, r: x[r]), (x, row), None),
        "scatter_rows": (named("scatter_rows", lambda x, r: x.at[r].add(1.0)), (x, row), None),
        "update_slice": (named("update_slice", lambda x: x.at[5:9].set(0)), (x,), None),
        "cumsum": (named("cumsum", lambda x: jnp.cumsum(x, 1)), (x[:size(2048)],), None),
        "sort_rows": (named("sort_rows", lambda x: jnp.sort(x, 1)), (x[:size(1024)],), None),
    }
    host = np.ones((size(4096), size(4096)), np.float32)
    device = jax.block_until_ready(jnp.asarray(host))
    programs["to_device"] = (lambda a: jax.device_put(a), (host,), None)
    programs["to_host"] = (lambda a: np.asarray(a + 0), (device,), None)
    repeated(job, programs)


def convolutions(job):
    """Residual blocks of 3 x 3 convolutions in bf16, trained by SGD; marked steps."""
    n, side, channels, depth = 64, size(56) if not SMALL else 16, size(256), 4
    kernels = [random(i, (3, 3, channels, channels), scale=0.05) for i in range(depth)]
    x = random(99, (n, side, side, channels), scale=1.0)

    def loss_of_convolutions(kernels, x):
        for k in kernels:
            x = x + jax.nn.relu(jax.lax.conv_general_dilated(
                x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
        return jnp.mean(jnp.square(x.astype(jnp.float32)))

    @functools.partial(jax.jit, donate_argnums=0)
    def train_step(kernels, x):
        loss, grads = jax.value_and_grad(loss_of_convolutions)(kernels, x)
        return [k - 0.01 * g for k, g in zip(kernels, grads)], loss

    for _ in range(3):
        kernels, loss = train_step(kernels, x)
    jax.block_until_ready(loss)
    # At the edges a part of each kernel lies outside.
    taps = (3 * side - 2) ** 2
    job.truth["flops_step"] = 2 * n * taps * channels * channels * (3 * depth - 1)
    with job.window():
        for i in range(15):
            with job.clock("step"), StepTraceAnnotation("train", step_num=i):
                kernels, loss = train_step(kernels, x)
                jax.block_until_ready(loss)


def pallas(job):
    """A matmul and an attention written in Pallas, beside XLA's, in one marked step."""
    from jax.experimental import pallas as pl
    n, block = size(4096), 128 if not SMALL else 16
    try:
        from jax.experimental.pallas import triton as plgpu
        params = {"compiler_params": plgpu.CompilerParams(num_warps=8, num_stages=3)}
    except (ImportError, AttributeError):
        params = {}

    def kernel(a, b, out):
        def body(i, total):
            at = pl.ds(i * 32, 32)
            return total + pl.dot(a[:, at], b[at, :]) if hasattr(pl, "dot") else \
                total + jnp.dot(a[:, at], b[at, :], preferred_element_type=jnp.float32)
        total = jax.lax.fori_loop(0, n // 32, body, jnp.zeros((block, block), jnp.float32))
        out[:, :] = total.astype(out.dtype)

    def pallas_matmul(a, b):
        return pl.pallas_call(
            kernel, grid=(n // block, n // block), name="tiled_matmul", interpret=SMALL,
            in_specs=[pl.BlockSpec((block, n), lambda i, j: (i, 0)),
                      pl.BlockSpec((n, block), lambda i, j: (0, j))],
            out_specs=pl.BlockSpec((block, block), lambda i, j: (i, j)),
            out_shape=jax.ShapeDtypeStruct((n, n), a.dtype),
            cost_estimate=pl.CostEstimate(flops=2 * n**3, bytes_accessed=3 * 2 * n * n,
                                          transcendentals=0), **({} if SMALL else params))(a, b)

    @jax.jit
    def train_step(a, b):
        return jnp.tanh(pallas_matmul(a, b)) @ b

    a, b = random(1, (n, n)), random(2, (n, n))
    jax.block_until_ready(train_step(a, b))
    job.truth["flops_step"] = 2 * n**3  # XLA's; the other one is a custom call
    with job.window():
        for i in range(15):
            with job.clock("step"), StepTraceAnnotation("train", step_num=i):
                jax.block_until_ready(train_step(a, b))


def decode(job):
    """A server without marks: one token a step over a cache that is donated; small kernels."""
    layers, rows, cache_length = 2, 8, size(2048)
    params = model_params(layers)
    head = WIDTH // HEADS

    @functools.partial(jax.jit, donate_argnums=1)
    def decode_step(params, caches, token, at):
        x = params["embed"][token]
        fresh = []
        for p, (ck, cv) in zip(params["layers"], caches):
            q, k, v = jnp.split(rms_norm(x, p["norm1"]) @ p["qkv"], 3, -1)
            q, k, v = (a.reshape(rows, HEADS, head) for a in (q, k, v))
            ck = jax.lax.dynamic_update_index_in_dim(ck, k, at, 1)
            cv = jax.lax.dynamic_update_index_in_dim(cv, v, at, 1)
            score = jnp.einsum("bhd,bthd->bht", q, ck).astype(jnp.float32) * head**-0.5
            score = jnp.where(jnp.arange(cache_length) <= at, score, -1e30)
            mixed = jnp.einsum("bht,bthd->bhd", jax.nn.softmax(score).astype(x.dtype), cv)
            x = x + mixed.reshape(rows, WIDTH) @ p["out"]
            x = x + jax.nn.gelu(rms_norm(x, p["norm2"]) @ p["up"]) @ p["down"]
            fresh.append((ck, cv))
        return fresh, jnp.argmax(x @ params["embed"].T, -1).astype(jnp.int32)

    cache = (rows, cache_length, HEADS, head)
    caches = [(jnp.zeros(cache, jnp.bfloat16), jnp.zeros(cache, jnp.bfloat16)) for _ in range(layers)]
    token = jnp.zeros((rows,), jnp.int32)
    for i in range(4):
        caches, token = decode_step(params, caches, token, jnp.int32(i))
    jax.block_until_ready(token)
    positions = [jnp.int32(i) for i in range(4, 44)]
    with job.window():
        for at in positions:
            with job.clock("step"):
                caches, token = decode_step(params, caches, token, at)
                jax.block_until_ready(token)


def decode_no_graphs(job):
    """The same without CUDA graphs."""
    decode(job)


def scan(job):
    """A recurrent network of 32 small steps in a scan: nothing but launches; no marks."""
    width = size(512)
    w, x = random(1, (width, width)), random(2, (32, 32, width), scale=1.0)

    def loss_of_scan(w, x):
        def cell(h, x):
            h = jnp.tanh(h @ w + x)
            return h, h
        return jnp.mean(jnp.square(jax.lax.scan(cell, x[0], x)[1].astype(jnp.float32)))

    @functools.partial(jax.jit, donate_argnums=0)
    def train_step(w, x):
        loss, grad = jax.value_and_grad(loss_of_scan)(w, x)
        return w - 0.1 * grad, loss

    for _ in range(3):
        w, loss = train_step(w, x)
    jax.block_until_ready(loss)
    with job.window():
        for _ in range(12):
            with job.clock("step"):
                w, loss = train_step(w, x)
                jax.block_until_ready(loss)


def scan_no_graphs(job):
    """The same without CUDA graphs."""
    scan(job)


def eager(job):
    """Operations one by one, each a program of its own, as in a notebook; marked steps."""
    x = random(1, (size(2048), size(2048)))
    w = random(2, (size(2048), size(2048)))

    def step(x):
        y = x @ w
        y = y - y.mean()
        y = y / (jnp.abs(y).max() + 1e-6)
        return jax.nn.relu(y)

    jax.block_until_ready(step(step(x)))
    with job.window(python=True):
        for i in range(12):
            with job.clock("step"), StepTraceAnnotation("eager", step_num=i):
                x = step(x)
                jax.block_until_ready(x)


def search(job):
    """A server whose loop ends when the data says so, with a branch in it; no marks."""
    width, rows = size(2048), size(512)
    w, v = random(1, (width, width)), random(2, (width, width))

    @jax.jit
    def search_step(x, times):
        def body(state):
            i, x = state
            y = jnp.tanh(x @ w)
            y = jax.lax.cond(i % 4 == 3, lambda y: y @ v, lambda y: y * 0.5, y)
            return i + 1, y
        return jax.lax.while_loop(lambda state: state[0] < times, body, (jnp.int32(0), x))

    x = random(3, (rows, width))
    counts = [jnp.int32(n) for n in (8, 24, 16, 40)]
    for n in counts:
        jax.block_until_ready(search_step(x, n))
    counts *= 5
    # A round in four has the second product.  The first step warms up, the last one's end is not seen.
    rounds = [int(n) + int(n) // 4 for n in counts[1:-1]]
    job.truth["flops_step"] = 2 * rows * width * width * sum(rounds) / len(rounds)
    with job.window():
        for n in counts:
            with job.clock("step"):
                jax.block_until_ready(search_step(x, n))


def search_graphs(job):
    """The same; XLA may put loops and branches into graphs, and then makes none here."""
    search(job)


def offload(job):
    """Adam's moments live in the host's memory; a step takes them over and gives them back; marked."""
    width = size(4096)
    sharding = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    there = sharding if SMALL else sharding.with_memory_kind("pinned_host")
    w, x = random(1, (width, width)), random(2, (size(4096), width))
    moment = jax.device_put(jnp.zeros((width, width), jnp.float32), there)

    @functools.partial(jax.jit, donate_argnums=(0, 1), out_shardings=(sharding, there, sharding))
    def train_step(w, moment, x):
        loss, grad = jax.value_and_grad(
            lambda w: jnp.mean(jnp.square((jnp.tanh(x @ w) @ w).astype(jnp.float32))))(w)
        m = 0.9 * jax.device_put(moment, sharding) + 0.1 * grad.astype(jnp.float32)
        return w - (1e-3 * m).astype(w.dtype), jax.device_put(m, there), loss

    for _ in range(3):
        w, moment, loss = train_step(w, moment, x)
    jax.block_until_ready(loss)
    job.truth["bytes_each_way"] = 4 * width * width
    with job.window():
        for i in range(12):
            with job.clock("step"), StepTraceAnnotation("train", step_num=i):
                w, moment, loss = train_step(w, moment, x)
                jax.block_until_ready((moment, loss))


def two_threads(job):
    """A thread trains in marked steps, another one serves on the same device."""
    import threading
    n = size(4096)
    a, b = random(1, (n, n)), random(2, (n, n))
    train_step = named("train_step", lambda a: jnp.tanh(a @ b) @ b)
    serve_step = named("serve_step", lambda x: jnp.tanh(x @ b))
    x = random(3, (size(512), n))
    jax.block_until_ready((train_step(a), serve_step(x)))
    ended = threading.Event()

    def serve():
        while not ended.is_set():
            jax.block_until_ready(serve_step(x))
            time.sleep(0.001)

    with job.window():
        server = threading.Thread(target=serve)
        server.start()
        for i in range(20):
            with job.clock("step"), StepTraceAnnotation("train", step_num=i):
                jax.block_until_ready(train_step(a))
        ended.set()
        server.join()


JOBS = [train_marked, train_no_graphs, train_scan, scan_layers_no_graphs, train_cudnn, cudnn_no_graphs,
        train_loader, train_ahead, matmuls, decode, decode_no_graphs, pallas, scan, scan_no_graphs,
        memory_bound, convolutions, eager, search, search_graphs, offload, two_threads]


def run(name, out):
    job = Job(out)
    [function] = [f for f in JOBS if f.__name__ == name]
    job.truth["about"] = function.__doc__.splitlines()[0]
    job.truth["device"] = jax.devices()[0].device_kind
    function(job)
    with open(os.path.join(out, "truth.json"), "w", encoding="utf-8") as f:
        json.dump(job.truth, f, separators=(",", ":"), sort_keys=True)


# XSpace.planes, event_metadata, its value, stats, bytes_value, HloProto.hlo_module, computations, instructions, literal
CONSTANTS = (1, 4, 2, 5, 6, 1, 3, 2, 8)


def without(data, path):
    """A protobuf message without the fields at the end of a path: the values of constants are megabytes."""
    def varint(at):
        value = shift = 0
        while True:
            value |= (data[at] & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 0x80:
                return value, at

    out, at = bytearray(), 0
    while at < len(data):
        begin = at
        tag, at = varint(at)
        if tag & 7 != 2:
            at = varint(at)[1] if tag & 7 == 0 else at + (8 if tag & 7 == 1 else 4)
        else:
            size, at = varint(at)
            at += size
            if tag >> 3 == path[0]:
                if len(path) == 1:
                    continue
                inner = without(data[at - size:at], path[1:])
                out += data[begin:begin + 1]  # numbers below 16 take a byte
                size = len(inner)
                while size > 0x7F:
                    out.append(size & 0x7F | 0x80)
                    size >>= 7
                out.append(size)
                out += inner
                continue
        out += data[begin:at]
    return bytes(out)


def trim(out):
    for path in glob.glob(os.path.join(out, "plugins", "profile", "*", "*.xplane.pb")):
        with open(path, "rb") as f:
            data = f.read()
        with open(path, "wb") as f:
            f.write(without(data, CONSTANTS))


def main():
    if os.environ.get("JOB"):
        return run(os.environ["JOB"], sys.argv[1])
    for name in sys.argv[2:] or [f.__name__ for f in JOBS]:
        out = os.path.join(sys.argv[1], name)
        os.makedirs(out, exist_ok=True)
        began = time.monotonic()
        x64 = "1" if name == "matmuls" else "0"  # its f64
        done = subprocess.run([sys.executable, os.path.abspath(__file__), out], check=False,
                              env={**os.environ, "JOB": name, "XLA_FLAGS": FLAGS.get(name, ""),
                                   "JAX_ENABLE_X64": x64, "TF_CPP_MIN_LOG_LEVEL": "3"})
        trim(out)
        print("%-18s exit %d, %.0f s" % (name, done.returncode, time.monotonic() - began), flush=True)
    return 0


main()
