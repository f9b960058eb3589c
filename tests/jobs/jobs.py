"""The jobs: small JAX programs, each with one habit of real ones, on virtual CPU devices.

    python jobs.py NAME OUT

runs one and leaves OUT/plugins/profile/... and OUT/truth.json: what the job's own clock saw.
record.py runs them all; a job is a function below, whose first line says what it is.

The clock stands in the job, outside the profiler: `with clock("step")` notes when a block began
and ended, in microseconds since the window opened.  A block that ends with block_until_ready lasts
as long as its work.
"""

import concurrent.futures
import contextlib
import functools
import json
import multiprocessing.connection
import os
import queue
import sys
import threading
import time

DEVICES = {"fsdp": 4, "moe": 8, "pipeline": 4, "stages": 2, "unblocked": 8, "processes": 1,
           "aside": 2}

os.environ.setdefault("JAX_PLATFORMS", "cpu")  # gpu_jobs.py names another
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + (
    " --xla_force_host_platform_device_count=%d" % (
        DEVICES.get(sys.argv[1] if len(sys.argv) > 1 else "", 1)))

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback
from jax.profiler import ProfileOptions, StepTraceAnnotation
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

# Source files are recorded by name, without their folder.
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")


class Job:
    """What a job function is given: the clock, the window, and where facts go."""

    def __init__(self, out):
        self.out = out
        self.truth = {"clock_us": {}}

    @contextlib.contextmanager
    def window(self, python=False, host=2, hlo=True):
        options = ProfileOptions()
        options.python_tracer_level = int(python)
        options.host_tracer_level = host
        options.enable_hlo_proto = hlo
        with jax.profiler.trace(self.out, profiler_options=options):
            self.begin = time.perf_counter_ns()
            yield
            self.truth["window_us"] = (time.perf_counter_ns() - self.begin) // 1000

    @contextlib.contextmanager
    def clock(self, name):
        begin = time.perf_counter_ns()
        yield
        end = time.perf_counter_ns()
        self.truth["clock_us"].setdefault(name, []).append(
            [(begin - self.begin) // 1000, (end - self.begin) // 1000])

    def program(self, name, lowered, flops=None):
        """Keep what the compiler made of a program: its collectives, as its text says them."""
        text = lowered.compile().as_text()
        kinds = ("all-gather", "all-reduce", "reduce-scatter", "all-to-all", "collective-permute")
        lines = [line.strip().split(", metadata=")[0].split(", backend_config=")[0]
                 for line in text.splitlines()
                 if any(" %s(" % k in line or " %s-start(" % k in line for k in kinds)]
        self.truth.setdefault("programs", {})[name] = {"collectives": lines, "flops": flops}


# ---- a model --------------------------------------------------------------------------------------


def mlp(width, depth):
    keys = jax.random.split(jax.random.key(0), depth)
    return [0.02 * jax.random.normal(k, (width, width), jnp.float32) for k in keys]


def mlp_loss(params, x):
    for w in params:
        x = jnp.tanh(x @ w)
    return jnp.mean(x * x)


@functools.partial(jax.jit, donate_argnums=0)
def train_step(params, x):
    loss, grads = jax.value_and_grad(mlp_loss)(params, x)
    return [p - 0.1 * g for p, g in zip(params, grads)], loss


@jax.jit
def evaluate(params, x):
    return mlp_loss(params, x)


def mlp_flops(rows, width, depth):
    """Of a training step: forward 2MNK a layer, backward twice that, but for the first layer's
    input, whose gradient nobody takes."""
    return 2 * rows * width * width * (3 * depth - 1)


def rows(n, width, seed=0):
    return np.random.default_rng(seed).standard_normal((n, width), np.float32)


def batch(n, width, seed=0):
    """On the device, and large: the clock begins a step when it is dispatched, rooflint with its
    first op, and what lies between them differs from step to step by some 0.1 ms."""
    return jax.block_until_ready(jnp.asarray(rows(8 * n, width, seed)))


# ---- what a step is -------------------------------------------------------------------------------


def buckets(job):
    """Four lengths of sequences, one program each, 40 marked steps in no order."""
    width, lengths = 384, [128, 192, 256, 384]
    params = mlp(width, 4)
    for n in lengths:
        params, loss = train_step(params, batch(n, width))
    order = np.random.default_rng(7).integers(0, 4, 40)
    data = {n: batch(n, width) for n in lengths}
    with job.window():
        for i, b in enumerate(order):
            with job.clock("step"), StepTraceAnnotation("train", step_num=i):
                params, loss = train_step(params, data[lengths[b]])
                jax.block_until_ready(loss)


def rare_evaluation(job):
    """40 marked steps, an unmarked evaluation behind every tenth."""
    width = 384
    params = mlp(width, 4)
    x, test = batch(192, width), batch(1024, width, 1)
    params, loss = train_step(params, x)
    evaluate(params, test).block_until_ready()
    with job.window():
        for i in range(40):
            with job.clock("step"), StepTraceAnnotation("train", step_num=i):
                params, loss = train_step(params, x)
                jax.block_until_ready(loss)
            if i % 10 == 9:
                with job.clock("evaluation"):
                    evaluate(params, test).block_until_ready()


def evaluation_after(job):
    """40 marked steps, then one long evaluation."""
    width = 384
    params = mlp(width, 4)
    x, test = batch(128, width), batch(4096, width, 1)
    params, loss = train_step(params, x)
    evaluate(params, test).block_until_ready()
    with job.window():
        for i in range(40):
            with job.clock("step"), StepTraceAnnotation("train", step_num=i):
                params, loss = train_step(params, x)
                jax.block_until_ready(loss)
        with job.clock("evaluation"):
            evaluate(params, test).block_until_ready()


def train_and_evaluate(job, train, evaluation):
    """The names of the annotations, by the number of the step."""
    width = 384
    params = mlp(width, 4)
    x, test = batch(192, width), batch(768, width, 1)
    params, loss = train_step(params, x)
    evaluate(params, test).block_until_ready()
    with job.window():
        for i in range(30):
            with job.clock("step"), StepTraceAnnotation(train(i), step_num=i):
                params, loss = train_step(params, x)
                jax.block_until_ready(loss)
            if i % 5 == 4:
                with job.clock("evaluation"), StepTraceAnnotation(evaluation(i), step_num=i):
                    evaluate(params, test).block_until_ready()


def marked_evaluation(job):
    """30 marked steps and 6 marked evaluations, each with a name of its own."""
    train_and_evaluate(job, lambda i: "train", lambda i: "eval")


def numbered_marks(job):
    """Each annotation has its number in its name, too: 30 steps and 6 evaluations."""
    train_and_evaluate(job, lambda i: f"step_{100 + i}", lambda i: f"eval_{i}")


def alternating(job):
    """A generator's and a discriminator's program take turns, each in a step of its own."""
    width = 384

    def step_of(name, depth):
        def step(params, x):
            loss, grads = jax.value_and_grad(mlp_loss)(params, x)
            return [p - 0.1 * g for p, g in zip(params, grads)], loss
        step.__name__ = name
        return jax.jit(step), mlp(width, depth)

    generator, g = step_of("generator_step", 3)
    discriminator, d = step_of("discriminator_step", 5)
    x = batch(192, width)
    g, loss = generator(g, x)
    d, loss = discriminator(d, x)
    with job.window():
        for i in range(40):
            with job.clock("step"), StepTraceAnnotation("train", step_num=i):
                if i % 2:
                    g, loss = generator(g, x)
                else:
                    d, loss = discriminator(d, x)
                jax.block_until_ready(loss)


def recompiling(job):
    """After 26 of 40 marked steps the batch grows, and the step is compiled again."""
    width = 384
    params = mlp(width, 4)
    x, larger = batch(192, width), batch(224, width)
    params, loss = train_step(params, x)
    with job.window():
        for i in range(40):
            with job.clock("step"), StepTraceAnnotation("train", step_num=i):
                params, loss = train_step(params, x if i < 26 else larger)
                jax.block_until_ready(loss)


def one_step(job):
    """One whole step is in the window."""
    width = 384
    params = mlp(width, 4)
    x = batch(192, width)
    params, loss = train_step(params, x)
    with job.window():
        with job.clock("step"), StepTraceAnnotation("train", step_num=0):
            params, loss = train_step(params, x)
            jax.block_until_ready(loss)


def unmarked(job):
    """30 steps of one program, without a mark."""
    width = 384
    params = mlp(width, 4)
    x = batch(192, width)
    params, loss = train_step(params, x)
    with job.window():
        for _ in range(30):
            with job.clock("step"):
                params, loss = train_step(params, x)
                jax.block_until_ready(loss)


def eager(job):
    """20 unmarked steps of a loop that is not jitted: a program for each operation."""
    width = 512
    params = mlp(width, 2)
    x = batch(512, width)

    def step(params):
        h = jnp.tanh(x @ params[0])
        y = jnp.tanh(h @ params[1])
        g = y * (1 - y * y)
        g1 = h.T @ g
        g0 = x.T @ ((g @ params[1].T) * (1 - h * h))
        return [params[0] - 0.01 * g0, params[1] - 0.01 * g1]

    jax.block_until_ready(step(params))
    with job.window():
        for _ in range(20):
            with job.clock("step"):
                params = step(params)
                jax.block_until_ready(params)


def accumulating():
    """Four gradients, an accumulation behind all but the first, and one update."""
    width = 384
    params = mlp(width, 4)

    @jax.jit
    def gradients(params, x):
        return jax.grad(mlp_loss)(params, x)

    @jax.jit
    def accumulate(total, grads):
        return [t + g for t, g in zip(total, grads)]

    @jax.jit
    def update(params, grads):
        return [p - 0.1 * g for p, g in zip(params, grads)]

    data = [batch(96, width, i) for i in range(4)]

    def step(params):
        total = gradients(params, data[0])
        for x in data[1:]:
            total = accumulate(total, gradients(params, x))
        return update(params, total)

    return params, step


def microbatches(job):
    """40 unmarked steps of four gradients each and one update."""
    params, step = accumulating()
    jax.block_until_ready(step(params))
    with job.window():
        for _ in range(40):
            with job.clock("step"):
                params = step(params)
                jax.block_until_ready(params)


def decode(job):
    """A server: every request has one prefill and ten or so steps of decoding, without a mark."""
    width, depth = 512, 4
    params = mlp(width, depth)

    def serve(name):
        def run(params, x):
            for w in params:
                x = jnp.tanh(x @ w)
            return x[-2048:]
        run.__name__ = name
        return jax.jit(run)

    prefill, step = serve("prefill"), serve("decode")
    prompts = [batch(n, width) for n in (512, 768, 1024)]
    for p in prompts:
        jax.block_until_ready(step(params, prefill(params, p)))
    with job.window():
        for r in range(6):
            with job.clock("prefill"):
                y = prefill(params, prompts[r % 3]).block_until_ready()
            for _ in range(8 + r):
                y = step(params, y)
                with job.clock("step"):  # of an execution: it was dispatched just now
                    y.block_until_ready()


def stages(job):
    """Two pipeline stages, programs of their own on a device each: 40 unmarked steps of two
    microbatches, forward, backward and an update."""
    width = 384
    devices = jax.devices()

    def forward(params, x):
        for w in params:
            x = jnp.tanh(x @ w)
        return x

    def backward(params, x, g):
        _, pull = jax.vjp(forward, params, x)
        return pull(g)

    def update(params, a, b):
        return [p - 0.01 * (x + y) for p, x, y in zip(params, a, b)]

    def programs(stage):
        made = []
        for f in (forward, backward, update):
            def named(*args, f=f):
                return f(*args)
            named.__name__ = "%s%d" % (f.__name__, stage)
            made.append(jax.jit(named))
        return made

    (f0, b0, u0), (f1, b1, u1) = programs(0), programs(1)
    p0, p1 = (jax.device_put(mlp(width, 3), d) for d in devices)
    data = [jax.device_put(rows(192, width, i), devices[0]) for i in range(2)]

    def step(p0, p1):
        hidden = [jax.device_put(f0(p0, x), devices[1]) for x in data]
        out = [f1(p1, h) for h in hidden]
        back = [b1(p1, h, o) for h, o in zip(hidden, out)]
        g0 = [b0(p0, x, jax.device_put(g, devices[0]))[0] for x, (_, g) in zip(data, back)]
        return u0(p0, *g0), u1(p1, *(g for g, _ in back))

    jax.block_until_ready(step(p0, p1))
    with job.window():
        for _ in range(40):
            with job.clock("step"):
                p0, p1 = step(p0, p1)
                jax.block_until_ready((p0, p1))


# ---- many devices ---------------------------------------------------------------------------------


def fsdp(job):
    """A transformer whose parameters are cut over four devices, scanned over its layers."""
    layers, width, batch, seq = 2, 128, 16, 64
    mesh = jax.make_mesh((4,), ("fsdp",), axis_types=(AxisType.Auto,))
    sharded = NamedSharding(mesh, P(None, None, "fsdp"))
    by_batch = NamedSharding(mesh, P("fsdp", None, None))
    whole = NamedSharding(mesh, P())

    def layer(x, w):
        with jax.named_scope("attention"):
            scores = jax.nn.softmax(jnp.einsum("bth,bsh->bts", x, x) / width ** 0.5)
            x = x + jnp.einsum("bts,bsh->bth", scores, x)
        with jax.named_scope("dense"):
            w = jax.lax.with_sharding_constraint(w, whole)
            x = x + jnp.tanh(x @ w)
        return jax.lax.with_sharding_constraint(x, by_batch), None

    def loss_fn(params, x):
        x, _ = jax.lax.scan(layer, x, params)
        return jnp.mean(x * x)

    def step_fn(params, x):
        loss, grads = jax.value_and_grad(loss_fn)(params, x)
        return params - 0.1 * grads, loss

    step = jax.jit(step_fn, in_shardings=(sharded, by_batch), out_shardings=(sharded, whole))
    params = jax.device_put(0.02 * rows(layers * width, width).reshape(layers, width, width), sharded)
    x = jax.device_put(rows(batch * seq, width).reshape(batch, seq, width), by_batch)
    job.program("jit_step_fn", step.lower(params, x))
    params, loss = step(params, x)
    jax.block_until_ready(loss)
    with job.window():
        for i in range(40):
            with job.clock("step"), StepTraceAnnotation("train", step_num=i):
                params, loss = step(params, x)
                jax.block_until_ready(loss)


def moe(job):
    """Tokens go to eight experts and back: two all-to-alls a step."""
    mesh = jax.make_mesh((8,), ("expert",), axis_types=(AxisType.Auto,))
    tokens, width = 4096, 256

    def local(w, x):
        x = jax.lax.all_to_all(x, "expert", split_axis=0, concat_axis=1, tiled=True)
        x = jnp.tanh(x @ w[0])
        x = jax.lax.all_to_all(x, "expert", split_axis=1, concat_axis=0, tiled=True)
        return x

    def step_fn(w, x):
        return jax.shard_map(local, mesh=mesh, in_specs=(P("expert"), P("expert")),
                             out_specs=P("expert"), check_vma=False)(w, x)

    step = jax.jit(step_fn)
    w = jax.device_put(0.02 * rows(8 * width, width).reshape(8, width, width),
                       NamedSharding(mesh, P("expert")))
    x = jax.device_put(rows(tokens, width).reshape(8 * 8, tokens // 64, width),
                       NamedSharding(mesh, P("expert")))
    job.program("jit_step_fn", step.lower(w, x), 8 * 2 * (tokens // 8) * width * width)
    jax.block_until_ready(step(w, x))
    with job.window():
        for i in range(40):
            with job.clock("step"), StepTraceAnnotation("train", step_num=i):
                jax.block_until_ready(step(w, x))


def pipeline(job):
    """Four stages of one SPMD program pass activations on with collective-permute."""
    mesh = jax.make_mesh((4,), ("stage",), axis_types=(AxisType.Auto,))
    width, micro = 384, 4

    def local(w, x):
        index = jax.lax.axis_index("stage")

        def tick(carry, m):
            fed = jnp.where(index == 0, x[0, jnp.minimum(m, micro - 1)], carry)
            y = jnp.tanh(fed @ w[0])
            return jax.lax.ppermute(y, "stage", [(i, i + 1) for i in range(3)]), y

        _, ys = jax.lax.scan(tick, jnp.zeros_like(x[0, 0]), jnp.arange(micro + 3))
        return ys[None, -micro:]

    step = jax.jit(jax.shard_map(local, mesh=mesh, in_specs=(P("stage"), P(None)),
                                 out_specs=P("stage"), check_vma=False))
    w = jax.device_put(0.02 * rows(4 * width, width).reshape(4, width, width),
                       NamedSharding(mesh, P("stage")))
    x = jnp.asarray(rows(micro * 256, width).reshape(1, micro, 256, width))
    job.program("jit_local", step.lower(w, x), 4 * (micro + 3) * 2 * 256 * width * width)
    jax.block_until_ready(step(w, x))
    with job.window():
        for i in range(40):
            with job.clock("step"), StepTraceAnnotation("train", step_num=i):
                jax.block_until_ready(step(w, x))


def unblocked(job):
    """Eight devices, and the host waits only behind the first and the last of 41 marked steps."""
    mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
    width = 256
    by_batch, whole = NamedSharding(mesh, P("data")), NamedSharding(mesh, P())
    step = jax.jit(lambda p, x: train_step(p, x), in_shardings=(whole, by_batch))
    params = jax.device_put(mlp(width, 3), whole)
    x = jax.device_put(rows(512, width), by_batch)
    params, loss = step(params, x)
    jax.block_until_ready(loss)
    with job.window():
        with StepTraceAnnotation("train", step_num=0):
            params, loss = step(params, x)
            jax.block_until_ready(loss)
        job.truth["loop_steps"] = 40
        with job.clock("loop"):
            for i in range(1, 41):
                with StepTraceAnnotation("train", step_num=i):
                    params, loss = step(params, x)
            jax.block_until_ready(loss)


def processes(job):
    """Two processes of one device each, that sum their gradients over gloo."""
    port, rank = int(os.environ["JOB_PORT"]), int(os.environ["JOB_RANK"])
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize("127.0.0.1:%d" % port, 2, rank)
    mesh = jax.make_mesh((2,), ("data",), axis_types=(AxisType.Auto,))
    width = 256
    by_batch, whole = NamedSharding(mesh, P("data")), NamedSharding(mesh, P())
    params = [jax.make_array_from_process_local_data(whole, np.asarray(w)) for w in mlp(width, 3)]
    x = jax.make_array_from_process_local_data(by_batch, rows(128, width, rank))
    step = jax.jit(lambda p, x: train_step(p, x), in_shardings=(whole, by_batch),
                   out_shardings=(whole, whole))
    job.program("jit__lambda_", step.lower(params, x))
    params, loss = step(params, x)
    jax.block_until_ready(loss)
    with job.window():
        for i in range(40):
            with job.clock("step"), StepTraceAnnotation("train", step_num=i):
                params, loss = step(params, x)
                jax.block_until_ready(loss)


def marked_stages(job):
    """Two processes, a stage of a pipeline each with programs of its own, that mark the same steps."""
    at, rank = ("127.0.0.1", int(os.environ["JOB_PORT"])), int(os.environ["JOB_RANK"])
    width = 384
    params, x = mlp(width, 3), batch(48, width)

    def first_forward(params, x):
        for w in params:
            x = jnp.tanh(x @ w)
        return x

    def first_update(params, x, g):
        return [p - 0.01 * d for p, d in zip(params, jax.vjp(first_forward, params, x)[1](g)[0])]

    def last_step(params, x):
        loss, (grads, g) = jax.value_and_grad(mlp_loss, argnums=(0, 1))(params, x)
        return [p - 0.1 * d for p, d in zip(params, grads)], g, loss

    forward, update, last = (jax.jit(f) for f in (first_forward, first_update, last_step))
    jax.block_until_ready((update(params, x, forward(params, x)), last(params, x)))
    if rank == 0:
        with multiprocessing.connection.Listener(at) as listener:
            other = listener.accept()
    else:
        other = connect(at)
    with job.window():
        other.send(None)
        other.recv()  # both windows are open
        for i in range(14):
            with job.clock("step"), StepTraceAnnotation("train", step_num=i):
                if rank == 0:
                    other.send(np.asarray(forward(params, x)))
                    params = update(params, x, other.recv())
                    jax.block_until_ready(params)
                    other.recv()
                else:
                    params, g, loss = last(params, other.recv())
                    other.send(np.asarray(g))
                    jax.block_until_ready(params)
                    other.send(float(loss))


def connect(at):
    """A listener may not be there yet."""
    for _ in range(600):
        try:
            return multiprocessing.connection.Client(at)
        except ConnectionRefusedError:
            time.sleep(0.1)
    sys.exit("the other process is not there")


# ---- what a device waits for ----------------------------------------------------------------------

LOADS, LOAD_S = 8, 0.012
SHUFFLED = np.random.default_rng(3).standard_normal(800_000)


def make_batch(i):
    """Some ten milliseconds in which the processor sorts what it has read."""
    np.sort(SHUFFLED)
    return rows(192, 384, i)


def load_loop(job, batches):
    params = mlp(384, 4)
    params, loss = train_step(params, rows(192, 384))
    with job.window(python=True):
        it = iter(batches)
        for i in range(LOADS):
            with job.clock("step"), StepTraceAnnotation("train", step_num=i):
                with job.clock("load"):
                    x = next(it)
                params, loss = train_step(params, x)
                jax.block_until_ready(loss)


def load_generator(job):
    """The batches come from a generator."""
    load_loop(job, (make_batch(i) for i in range(LOADS)))


def load_class(job):
    """The batches come from an object with __next__, that calls others."""

    class Reader:
        def read(self, i):
            return make_batch(i)

    class Loader:
        def __init__(self):
            self.reader, self.i = Reader(), 0

        def __iter__(self):
            return self

        def __next__(self):
            self.i += 1
            return self.reader.read(self.i)

    load_loop(job, Loader())


def load_sleep(job):
    """A helper sleeps, as one that waits for a disk does."""

    def fetch(i):
        time.sleep(LOAD_S)
        return rows(192, 384, i)

    class Storage:
        def __iter__(self):
            return (fetch(i) for i in range(LOADS))

    load_loop(job, Storage())


def load_queue(job):
    """A thread fills a queue, too slowly."""
    ready = queue.Queue(2)

    def fill():
        for i in range(LOADS):
            time.sleep(LOAD_S)
            ready.put(rows(192, 384, i))

    class Loader:
        def __iter__(self):
            threading.Thread(target=fill, daemon=True).start()
            return self

        def __next__(self):
            return ready.get()

    load_loop(job, Loader())


def load_pool(job):
    """A thread of a pool makes the next batch, and the loop takes its result."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:

        class Loader:
            def __init__(self):
                self.i = 0
                self.next = pool.submit(self.make)

            def make(self):
                time.sleep(LOAD_S)
                self.i += 1
                return rows(192, 384, self.i)

            def take(self):
                batch, self.next = self.next.result(), pool.submit(self.make)
                return batch

        params = mlp(384, 2)
        params, loss = train_step(params, rows(192, 384))
        with job.window(python=True):
            loader = Loader()
            for i in range(LOADS):
                with job.clock("step"), StepTraceAnnotation("train", step_num=i):
                    with job.clock("load"):
                        x = loader.take()
                    params, loss = train_step(params, x)
                    jax.block_until_ready(loss)


def load_hidden(job):
    """No loader in its name: the step's own helper prepares the batch on the host."""
    params = mlp(384, 4)
    params, loss = train_step(params, rows(192, 384))

    def prepare(i):
        return make_batch(i)

    with job.window(python=True):
        for i in range(LOADS):
            with job.clock("step"), StepTraceAnnotation("train", step_num=i):
                with job.clock("load"):
                    x = prepare(i)
                params, loss = train_step(params, x)
                jax.block_until_ready(loss)


def sync(job):
    """float(loss) in each step, then some work of the host before the next."""
    params = mlp(384, 4)
    x = batch(192, 384)
    params, loss = train_step(params, x)
    with job.window(python=True):
        for i in range(12):
            with job.clock("step"), StepTraceAnnotation("train", step_num=i):
                params, loss = train_step(params, x)
                with job.clock("sync"):
                    value = float(loss)
                assert value == value


def block_after(job):
    """Steps are dispatched without a wait but behind the first; one block_until_ready ends the loop."""
    params = mlp(384, 4)
    x = batch(192, 384)
    params, loss = train_step(params, x)
    params, loss = train_step(params, x)
    jax.block_until_ready(loss)
    with job.window(python=True):
        with StepTraceAnnotation("train", step_num=0):
            params, loss = train_step(params, x)
            jax.block_until_ready(loss)
        job.truth["loop_steps"] = 30
        with job.clock("loop"):
            for i in range(1, 31):
                with StepTraceAnnotation("train", step_num=i):
                    params, loss = train_step(params, x)
            jax.block_until_ready(loss)


def callbacks(job):
    """Each step asks the host for something in its middle."""

    def on_host(x):
        time.sleep(0.004)
        return x

    @jax.jit
    def step(params, x):
        h = jnp.tanh(x @ params[0])
        h = io_callback(on_host, jax.ShapeDtypeStruct(h.shape, h.dtype), h)
        return jnp.mean(jnp.tanh(h @ params[1]))

    params = mlp(384, 2)
    x = batch(192, 384)
    step(params, x).block_until_ready()
    with job.window():
        for i in range(12):
            with job.clock("step"), StepTraceAnnotation("train", step_num=i):
                step(params, x).block_until_ready()


def checkpoint(job):
    """Every fifth of 30 marked steps is followed by a checkpoint."""
    params = mlp(384, 4)
    x = batch(192, 384)
    params, loss = train_step(params, x)

    def save_checkpoint(params):
        with open(os.devnull, "wb") as f:
            for p in params:
                np.save(f, np.asarray(p))
        time.sleep(0.03)  # a disk

    with job.window(python=True):
        for i in range(30):
            with job.clock("step"), StepTraceAnnotation("train", step_num=i):
                params, loss = train_step(params, x)
                jax.block_until_ready(loss)
            if i % 5 == 4:
                with job.clock("checkpoint"):
                    save_checkpoint(params)


def no_hlo(job):
    """Marked steps without the programs' HLO."""
    params = mlp(384, 4)
    x = batch(192, 384)
    params, loss = train_step(params, x)
    with job.window(hlo=False):
        for i in range(12):
            with job.clock("step"), StepTraceAnnotation("train", step_num=i):
                params, loss = train_step(params, x)
                jax.block_until_ready(loss)


def no_tracers(job):
    """Marked steps under the quietest tracers: the host's at level 1, Python's off."""
    params = mlp(384, 4)
    x = batch(192, 384)
    params, loss = train_step(params, x)
    jax.block_until_ready(loss)
    with job.window(host=1):
        for i in range(12):
            with job.clock("step"), StepTraceAnnotation("train", step_num=i):
                params, loss = train_step(params, x)
                jax.block_until_ready(loss)


def accumulation(job):
    """40 marked steps of four gradients each, an accumulation behind all but the first, one update."""
    params, step = accumulating()
    jax.block_until_ready(step(params))
    with job.window():
        for i in range(40):
            with job.clock("step"), StepTraceAnnotation("train", step_num=i):
                params = step(params)
                jax.block_until_ready(params)


def compiles_first(job):
    """The window opens before the first of 15 marked steps, which compiles; a logger runs a small
    program each third step."""
    params = mlp(320, 3)
    x = batch(160, 320)

    @functools.partial(jax.jit, donate_argnums=0)
    def fresh_step(params, x):
        loss, grads = jax.value_and_grad(mlp_loss)(params, x)
        return [p - 0.2 * g for p, g in zip(params, grads)], loss

    @jax.jit
    def log_norm(params):
        return sum(jnp.vdot(p, p) for p in params)

    jax.block_until_ready((params, log_norm(params)))
    with job.window():
        for i in range(15):
            with job.clock("step"), StepTraceAnnotation("train", step_num=i):
                params, loss = fresh_step(params, x)
                if i % 3 == 2:
                    jax.block_until_ready(log_norm(params))
                jax.block_until_ready(loss)


def epochs(job):
    """Marks around marks: two epochs of ten steps, with an evaluation of three batches behind each,
    each batch marked."""
    params = mlp(320, 4)
    x, y = batch(160, 320), batch(320, 320)
    params, loss = train_step(params, x)
    jax.block_until_ready(evaluate(params, y))
    with job.window():
        for epoch in range(2):
            with StepTraceAnnotation("epoch", step_num=epoch):
                for i in range(10):
                    with job.clock("step"), StepTraceAnnotation("train", step_num=10 * epoch + i):
                        params, loss = train_step(params, x)
                        jax.block_until_ready(loss)
                for i in range(3):
                    with job.clock("evaluation"), StepTraceAnnotation("validate", step_num=i):
                        evaluate(params, y).block_until_ready()


def unmarked_evaluation(job):
    """30 unmarked steps, and an evaluation behind every fifth."""
    params = mlp(320, 4)
    x, y = batch(160, 320), batch(640, 320)
    params, loss = train_step(params, x)
    jax.block_until_ready(evaluate(params, y))
    with job.window():
        for i in range(30):
            with job.clock("step"):
                params, loss = train_step(params, x)
                jax.block_until_ready(loss)
            if i % 5 == 4:
                with job.clock("evaluation"):
                    evaluate(params, y).block_until_ready()


def half_marked(job):
    """The marks stand around the gradient alone; the update is launched behind them."""
    params = mlp(320, 2)
    x = batch(256, 320)

    @jax.jit
    def gradients(params, x):
        return jax.grad(mlp_loss)(params, x)

    @jax.jit
    def update(params, grads):
        return [p - 0.1 * g for p, g in zip(params, grads)]

    params = jax.block_until_ready(update(params, gradients(params, x)))
    with job.window():
        for i in range(15):
            with job.clock("step"):
                with StepTraceAnnotation("train", step_num=i):
                    grads = jax.block_until_ready(gradients(params, x))
                params = jax.block_until_ready(update(params, grads))


def checkpoint_asked(job):
    """Behind each of 20 marked steps a manager is asked for a checkpoint, and writes every fifth."""
    params = mlp(320, 2)
    x = batch(256, 320)
    params, loss = train_step(params, x)

    def save_checkpoint(i):
        if i % 5 == 4:
            time.sleep(0.03)  # a disk
        until = time.perf_counter() + 1e-4
        while time.perf_counter() < until:
            pass

    with job.window(python=True):
        for i in range(20):
            with job.clock("step"), StepTraceAnnotation("train", step_num=i):
                params, loss = train_step(params, x)
                jax.block_until_ready(loss)
            with job.clock("checkpoint") if i % 5 == 4 else contextlib.nullcontext():
                save_checkpoint(i)


def rounds(job):
    """25 unmarked steps; behind every fifth a program adds the weights to their average, and behind
    every tenth others look at some samples."""
    params = mlp(320, 2)
    x = batch(256, 320)
    params, loss = train_step(params, x)

    @jax.jit
    def average(total, params):
        return [0.9 * t + 0.1 * p for t, p in zip(total, params)]

    @jax.jit
    def generate(params, x):
        for w in params:
            x = jnp.tanh(x @ w)
        return x

    total, seen = average(params, params), jnp.asarray(x)
    jax.block_until_ready((total, generate(params, seen)))
    with job.window():
        for i in range(25):
            with job.clock("step"):
                params, loss = train_step(params, x)
                jax.block_until_ready(loss)
            if i % 5 == 4:
                with job.clock("rounds"):
                    total = jax.block_until_ready(average(total, params))
            if i % 10 == 9:
                with job.clock("rounds"):
                    for _ in range(3):
                        seen = jax.block_until_ready(generate(params, seen))


def gan(job):
    """No marks: the discriminator trains twice, then the generator, by another program."""
    width = 320
    x = batch(96, width)

    def network(name, depth):
        def train(params, x):
            loss, grads = jax.value_and_grad(mlp_loss)(params, x)
            return [p - 0.1 * g for p, g in zip(params, grads)], loss
        train.__name__ = name
        return jax.jit(train), mlp(width, depth)

    generator_step, generator = network("generator_step", 3)
    discriminator_step, discriminator = network("discriminator_step", 4)
    jax.block_until_ready((generator_step(generator, x), discriminator_step(discriminator, x)))
    with job.window():
        for _ in range(25):
            with job.clock("step"):
                for _ in range(2):
                    discriminator, lost = discriminator_step(discriminator, x)
                generator, loss = generator_step(generator, x)
                jax.block_until_ready((lost, loss))


def speculative(job):
    """No marks: a small model drafts four times, then a large one verifies."""
    width = 384
    small, large = mlp(width, 1), mlp(width, 4)
    x = batch(64, width)

    def model(name):
        def forward(params, x):
            for w in params:
                x = jnp.tanh(x @ w)
            return x
        forward.__name__ = name
        return jax.jit(forward)

    draft, verify = model("draft"), model("verify")
    jax.block_until_ready((draft(small, x), verify(large, x)))
    with job.window():
        for _ in range(30):
            with job.clock("step"):
                drafted = x
                for _ in range(4):
                    drafted = draft(small, drafted)
                x = jax.block_until_ready(verify(large, drafted))


def host_work(job):
    """5 ms of the host's own work behind each step; it is no loader."""
    params, x = mlp(320, 3), batch(96, 320)
    params, loss = train_step(params, x)
    jax.block_until_ready(loss)

    def update_metrics():
        time.sleep(0.005)

    with job.window(python=True):
        for _ in range(30):
            with job.clock("step"):
                params, loss = train_step(params, x)
                jax.block_until_ready(loss)
                update_metrics()


def uploads(job):
    """Each step puts its batch on the device and waits for it: the runtime copies in its own thread."""
    rows = np.ones((2048, 4096), np.float32)
    w = jnp.ones((4096, 16))
    project = jax.jit(lambda x, w: jnp.tanh(x @ w))
    project(rows, w).block_until_ready()
    with job.window(python=True):
        for i in range(25):
            with job.clock("step"), StepTraceAnnotation("train", step_num=i):
                with job.clock("upload"):
                    x = jax.device_put(rows, may_alias=False)
                    x.block_until_ready()
                project(x, w).block_until_ready()


def one_pause(job):
    """6 ms of the host's own work behind each step, and 250 ms behind one of them."""
    params, x = mlp(320, 2), batch(96, 320)
    params, loss = train_step(params, x)
    jax.block_until_ready(loss)

    def update_metrics(i):
        time.sleep(0.25 if i == 8 else 0.006)

    with job.window(python=True):
        for i in range(20):
            with job.clock("step"):
                params, loss = train_step(params, x)
                loss.block_until_ready()
                update_metrics(i)


def environment(job):
    """Reinforcement learning: each step acts five times in an environment of 3 ms, then trains."""
    params, seen, x = mlp(256, 2), batch(8, 256), batch(192, 256)

    @jax.jit
    def act(params, x):
        for w in params:
            x = jnp.tanh(x @ w)
        return x

    act(params, seen)
    params, loss = train_step(params, x)
    jax.block_until_ready(loss)

    def step_environment(actions):
        time.sleep(0.003)
        return actions + seen

    with job.window(python=True):
        for i in range(7):
            with job.clock("step"), StepTraceAnnotation("iteration", step_num=i):
                observed = seen
                for _ in range(5):
                    observed = step_environment(np.asarray(act(params, observed)))
                params, loss = train_step(params, x)
                loss.block_until_ready()


def distilling(job):
    """No marks: a teacher runs ahead of the student, which learns; a norm for the log behind every
    sixth, op by op."""
    width = 384
    teacher, params, x = mlp(width, 2), mlp(width, 2), batch(128, width)

    @jax.jit
    def teach(params, x):
        for w in params:
            x = jnp.tanh(x @ w)
        return x

    @functools.partial(jax.jit, donate_argnums=0)
    def learn(params, x, told):
        loss, grads = jax.value_and_grad(lambda p: mlp_loss(p, x) - jnp.mean(told))(params)
        return [p - 0.1 * g for p, g in zip(params, grads)], loss

    def log(params):
        return float(jnp.sum(jnp.square(params[0])))

    params, loss = learn(params, x, teach(teacher, x))
    log(params)
    with job.window():
        for i in range(18):
            with job.clock("step"):
                params, loss = learn(params, x, teach(teacher, x))
                jax.block_until_ready(loss)
            if i % 6 == 5:
                with job.clock("rounds"):
                    log(params)


def load_for(job):
    """The loop goes over a generator, which nobody asks for its next batch by name."""
    params = mlp(384, 4)
    params, loss = train_step(params, rows(192, 384))

    def data_generator():
        for i in range(LOADS):
            with job.clock("load"):
                x = make_rows(i)
            yield x

    def make_rows(i):
        np.sort(SHUFFLED)
        return rows(192, 384, i)

    with job.window(python=True):
        begin = time.perf_counter_ns()
        for i, x in enumerate(data_generator()):
            with StepTraceAnnotation("train", step_num=i):
                params, loss = train_step(params, x)
                jax.block_until_ready(loss)
            end = time.perf_counter_ns()
            job.truth["clock_us"].setdefault("step", []).append(
                [(t - job.begin) // 1000 for t in (begin, end)])
            begin = end


def loader_ahead(job):
    """A thread scales the batches on the device, and waits for room in its queue; the job waits for
    5 ms of its own work behind each step."""
    params, steps = mlp(384, 4), 20
    ready = queue.Queue(2)
    scale = jax.jit(lambda x: 0.5 * x)
    params, loss = train_step(params, scale(rows(192, 384)))
    jax.block_until_ready(loss)

    def fill():
        for i in range(steps + 3):
            time.sleep(0.002)  # so that it is the step that its work meets
            ready.put(scale(rows(192, 384, i)))

    def update_metrics():
        time.sleep(0.005)

    threading.Thread(target=fill, daemon=True).start()
    while not ready.full():
        time.sleep(0.01)
    with job.window(python=True):
        for _ in range(steps):
            with job.clock("step"):
                params, loss = train_step(params, ready.get())
                jax.block_until_ready(loss)
                update_metrics()


def initialisation(job):
    """No step yet: weights from a key, zeros for each of them, one evaluation, one norm."""
    with job.window():
        params = jax.jit(lambda: mlp(64, 6))()
        zeros = [jnp.zeros_like(p) for p in params]
        loss = evaluate(params, jnp.ones((32, 64)))
        norm = jax.jit(lambda params: sum(jnp.sum(p * p) for p in params))(params)
        jax.block_until_ready((zeros, loss, norm))


def acting(job):
    """Unmarked reinforcement learning: 12 waits for an environment, then 12 updates."""
    params, seen, x = mlp(128, 2), batch(8, 128), [batch(48, 128, i) for i in range(4)]
    act = jax.jit(lambda params, x: jnp.tanh(x @ params[0]))
    params, loss = train_step(params, x[0])
    act(params, seen).block_until_ready()

    def turn():  # an environment
        time.sleep(0.002)

    with job.window(python=True):
        for _ in range(5):
            with job.clock("rounds"):
                observed = act(params, seen).block_until_ready()
                for _ in range(12):
                    turn()
                    observed = act(params, observed).block_until_ready()
            for i in range(12):
                with job.clock("step"):
                    params, loss = train_step(params, x[i % 4])
                    loss.block_until_ready()


def aside(job):
    """Two devices train together; behind each fourth step one of them evaluates, and loads each batch."""
    mesh = jax.make_mesh((2,), ("data",), axis_types=(AxisType.Auto,))
    whole, rows_of = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
    params = jax.device_put(mlp(256, 2), whole)
    x = jax.device_put(batch(96, 256), rows_of)
    first, tests = jax.devices()[0], [batch(8, 256, i) for i in range(3)]

    def load_batch(i):
        time.sleep(0.004)
        return jax.device_put(tests[i], first)

    def evaluate_all(params):
        own = [p.addressable_shards[0].data for p in params]
        return [evaluate(own, load_batch(i)).block_until_ready() for i in range(3)]

    params, loss = train_step(params, x)
    evaluate_all(params)
    with job.window(python=True):
        for i in range(24):
            with StepTraceAnnotation("train", step_num=i):
                params, loss = train_step(params, x)
                loss.block_until_ready()
            if i % 4 == 3:
                evaluate_all(params)


def engine():
    """A server's program, and what its own Python makes of what that returns."""
    width = 512
    params, x = mlp(width, 4), batch(64, width)

    @jax.jit
    def decode(params, x):
        for w in params:
            x = jnp.tanh(x @ w)
        return x

    def respond(logits, count):
        tokens = np.asarray(logits)[:16].argmax(-1)
        text = 0
        for i in range(count):  # no call that the tracer would record
            text = (text * 31 + i) % 65521
        return "%d %d" % (text, tokens[0])

    respond(decode(params, x), 1)
    return lambda x: decode(params, x), x, respond


def serving(job):
    """A server whose batch is always full: its own Python works between executions, unmarked."""
    decode, x, respond = engine()
    with job.window(python=True):
        for _ in range(20):
            with job.clock("dispatch"):  # and the execution
                x = decode(x).block_until_ready()
            with job.clock("host"):
                respond(x, 200000)


def requests(job):
    """The same server waits for requests in a queue, and has little to do for each."""
    decode, x, respond = engine()
    waiting = queue.Queue()

    def client():
        for i in range(20):
            time.sleep((10, 25, 40)[i % 3] * 1e-3)
            waiting.put(i)
        waiting.put(None)

    with job.window(python=True):
        threading.Thread(target=client).start()
        while True:
            with job.clock("request"):
                if waiting.get() is None:
                    break
            with job.clock("dispatch"):  # and the execution
                x = decode(x).block_until_ready()
            with job.clock("host"):
                respond(x, 1000)


JOBS = [buckets, rare_evaluation, evaluation_after, marked_evaluation, numbered_marks,
        alternating, recompiling,
        one_step, unmarked, eager, microbatches, decode, stages, fsdp, moe, pipeline, unblocked,
        processes, load_generator, load_class, load_sleep, load_queue, load_hidden, sync,
        block_after, callbacks, checkpoint, no_hlo, no_tracers, accumulation,
        compiles_first, epochs, unmarked_evaluation, rounds, half_marked, load_pool,
        checkpoint_asked, gan, speculative, host_work, uploads, one_pause,
        environment, initialisation, marked_stages, distilling, load_for, loader_ahead, acting,
        aside, serving, requests]


def main():
    name, out = sys.argv[1:]
    function = {f.__name__: f for f in JOBS}[name]
    job = Job(out)
    job.truth["about"] = function.__doc__.splitlines()[0]
    function(job)
    if int(os.environ.get("JOB_RANK", 0)) == 0:
        with open(os.path.join(out, "truth.json"), "w") as f:
            json.dump(job.truth, f)


if __name__ == "__main__":
    main()
