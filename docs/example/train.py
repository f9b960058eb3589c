"""A small training job: two matrices, a loader, ten recorded steps.

    python train.py --profile runs              # a healthy run
    python train.py --profile runs --slow       # its loader keeps the device waiting
"""

import argparse
import time

import jax
import jax.numpy as jnp
import rooflint

WIDTH, TOKENS = 512, 512


@jax.jit
def train_step(weights, batch):
    def loss(w):
        return jnp.mean((jnp.tanh(batch @ w["up"]) @ w["down"] - batch) ** 2)

    gradient = jax.grad(loss)(weights)
    return jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradient)


def batches(slow):
    """What a loader does: the next batch, on the device."""
    batch = jnp.ones((TOKENS, WIDTH))
    while True:
        if slow:
            time.sleep(0.05)  # reads a file that it should have read before
        yield batch


def run(profile, slow=False):
    keys = jax.random.split(jax.random.key(0))
    weights = {"up": jax.random.normal(keys[0], (WIDTH, 4 * WIDTH)) * 0.02,
               "down": jax.random.normal(keys[1], (4 * WIDTH, WIDTH)) * 0.02}
    loader = batches(slow)
    with rooflint.capture(profile, steps=10, workload="example", global_batch=1,
                          tokens_per_step=TOKENS) as steps:
        for _ in steps:
            weights = train_step(weights, next(loader))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--profile", default="runs")
    parser.add_argument("--slow", action="store_true")
    options = parser.parse_args()
    run(options.profile, options.slow)
