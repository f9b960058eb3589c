"""The performance test: pytest runs it as any other, and it fails with what rooflint says."""

import os

import jax
import train

# A CPU has no roofline, so what needs one cannot be judged there; on an accelerator it is.
OPTIONS = ["--inconclusive=pass"] if jax.default_backend() == "cpu" else []


def test_train_step(rooflint_check, tmp_path):
    train.run(tmp_path, slow=os.environ.get("SLOW") == "1")
    rooflint_check(tmp_path, options=OPTIONS)
