"""rooflint.capture: a profile of a few steps that every gate accepts, and its job file."""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import subprocess
from typing import Any, Iterator, Mapping, Optional, Union

Path = Union[str, "os.PathLike[str]"]


class Capture:
    """The steps of a capture: iterate over it, and run one step each time. See `capture`."""

    def __init__(self, logdir: Path, steps: int, warmup: int, name: str, block: Optional[bool],
                 job: Mapping[str, Any]):
        if steps < 1 or warmup < 1:
            raise ValueError("steps and warmup are at least 1: the first step compiles")
        import jax

        self._jax: Any = jax
        self.logdir = os.fspath(logdir)
        # The profiler names a file after its machine, so processes of one machine would write one.
        self._written = self.logdir
        if jax.process_count() > 1:
            self._written = os.path.join(self.logdir, f".process-{jax.process_index()}")
        self.steps = steps
        self.warmup = warmup
        self.name = name
        # XLA:CPU records no launch, so work is told by the step that waited for it.
        self.block = jax.default_backend() == "cpu" if block is None else block
        self.job = dict(job)
        self._recording = False
        self._finished = False

    def __iter__(self) -> Iterator[int]:
        """The numbers of the steps, from 0 without the warm-up, whose steps are negative."""
        for i in range(-self.warmup, 0):
            yield i
        self._wait()
        self._start()
        try:
            for i in range(self.steps):
                with self._jax.profiler.StepTraceAnnotation(self.name, step_num=i):
                    yield i
                    if self.block:
                        self._wait()
            self._finished = True
        finally:
            self.stop()

    def _wait(self) -> None:
        """All that was dispatched is done."""
        self._jax.block_until_ready(self._jax.live_arrays())
        self._jax.effects_barrier()

    def _start(self) -> None:
        os.makedirs(self.logdir, exist_ok=True)
        if self._jax.process_index() == 0:
            self._write_job()
        self._jax.profiler.start_trace(self._written)
        self._recording = True

    def stop(self) -> None:
        """End the recording, also in the middle; nothing when it ended."""
        if self._recording:
            self._recording = False
            self._wait()
            self._jax.profiler.stop_trace()
            if self._written != self.logdir:
                self._gather()

    def _gather(self) -> None:
        """Move what this process wrote to the others', with its number in the names."""
        for folder, _, files in os.walk(self._written):
            to = os.path.join(self.logdir, os.path.relpath(folder, self._written))
            os.makedirs(to, exist_ok=True)
            for name in files:
                host, dot, ending = name.partition(".")
                os.replace(os.path.join(folder, name),
                           os.path.join(to, f"{host}-{self._jax.process_index()}{dot}{ending}"))
        shutil.rmtree(self._written)

    def _write_job(self) -> None:
        # JSON is YAML. Written before the profile, which is found with it from its first byte on.
        path = os.path.join(self.logdir, "rooflint.job.yaml")
        with open(path + ".new", "w", encoding="utf-8") as f:
            json.dump(self.job, f, indent=2)
            f.write("\n")
        os.replace(path + ".new", path)

    def __enter__(self) -> Capture:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.stop()
        if kind is None and not self._finished:
            raise RuntimeError("rooflint.capture: the loop over its steps did not run to its end, "
                               "so the profile lacks steps")


def _commit() -> Optional[str]:
    """The commit that runs: what the CI system says, else git; None for a changed checkout."""
    for variable in ("GITHUB_SHA", "CI_COMMIT_SHA", "BUILDKITE_COMMIT", "GIT_COMMIT"):
        if os.environ.get(variable):
            return os.environ[variable]
    try:
        said = subprocess.run(["git", "status", "--porcelain=v2", "--branch",
                               "--untracked-files=no"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, encoding="utf-8", timeout=10,
                              check=True).stdout.splitlines()
    except (OSError, subprocess.SubprocessError):
        return None
    if any(not line.startswith("#") for line in said):
        return None
    oid = said[0].split()[-1] if said else ""
    return oid if len(oid) >= 40 else None


def _versions(jax: Any) -> Mapping[str, str]:
    return {"jax": jax.__version__, "jaxlib": importlib.metadata.version("jaxlib"),
            "runtime": jax.extend.backend.get_backend().platform_version.splitlines()[0]}


def capture(
    logdir: Path,
    steps: int = 10,
    *,
    warmup: int = 3,
    name: str = "train",
    block: Optional[bool] = None,
    workload: Optional[str] = None,
    owner: Optional[str] = None,
    commit: Optional[str] = None,
    phase: Optional[str] = None,
    mesh: Any = None,
    global_batch: Optional[int] = None,
    tokens_per_step: Optional[int] = None,
    model: Optional[Mapping[str, Any]] = None,
    memory: Optional[Mapping[str, Any]] = None,
    labels: Optional[Mapping[str, str]] = None,
    job: Optional[Mapping[str, Any]] = None,
) -> Capture:
    """Record `steps` steps of a job into `logdir`, after `warmup` steps that are not recorded.

        with rooflint.capture("runs/today", steps=10, mesh=mesh, global_batch=64) as steps:
            for _ in steps:
                state, loss = train_step(state, batch)

    Each step is marked with its number. The recording begins when the warm-up's work is done, and
    ends when that of the last step is; with `block` (by default on the CPU) each step waits for
    its own. Keep what a step returns: work whose results are all thrown away cannot be waited for,
    and may be missing in the profile. `mesh` is a jax Mesh or a mapping of axes to sizes; `model`,
    `memory` and `labels` are as in the job file (docs/job.md), and `job` holds any other of its
    keys. Of a job of several processes each calls this with the same `logdir`, also where several
    share a machine; process 0 writes the job file.
    """
    import jax
    import jax.extend

    said = {
        "version": 1,
        "workload": workload,
        "owner": owner,
        "commit": commit or _commit(),
        "phase": phase or ("train" if name == "train" else None),
        "devices": jax.device_count(),
        "hosts": jax.process_count(),
        "mesh": None if mesh is None else {k: int(v) for k, v in
                                           getattr(mesh, "shape", mesh).items()},
        "global_batch": global_batch,
        "tokens_per_step": tokens_per_step,
        "model": model,
        "memory": memory,
        "labels": labels,
        "versions": _versions(jax),
        **(job or {}),
    }
    return Capture(logdir, steps, warmup, name, block,
                   {k: v for k, v in said.items() if v is not None})
