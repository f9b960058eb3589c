#!/usr/bin/env python3
"""Databases as `nsys export --type sqlite` writes them, for tests.

    python3 tests/builder/nsys.py [--old] [--steps] [--torch] OUT.sqlite

A JAX job on two GPUs: a compilation, then STEPS executions of one program, launched thunk by thunk
by a thread for each GPU.  --old writes the tables of early 2021, --steps NVTX ranges named
"step N" around the launches.  --torch is a PyTorch job instead: no program, the backward pass on a
thread of its own, a batch from pageable memory, and a loss that is read in each step.  The same
arguments and SQLite give the same bytes.
"""

import argparse
import pathlib
import sqlite3

PID = 4242
GLOBAL_PID = PID << 24
STEPS = 6
STEP_NS = 1_000_000

# Thunk, kernel, stream, when it is launched and runs in a step, and how long; nanoseconds.
OPS = (
    ("layer/dot_general", "fusion.1", "void gemm_fusion<(int)128>(float*)", 7, 10_000, 300_000),
    ("layer/add", "add.2", "loop_add_fusion", 7, 320_000, 50_000),
    (None, "all-reduce-start", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 20, 380_000, 200_000),
    ("loss/reduce_sum", "reduce.3", "input_reduce_fusion", 7, 600_000, 30_000),
)

NEW = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
CREATE TABLE ANALYSIS_DETAILS (globalVid INTEGER, duration INTEGER NOT NULL);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, totalMemory INTEGER,
    memoryBandwidth INTEGER, clockRate INTEGER, smCount INTEGER, computeMajor INTEGER,
    computeMinor INTEGER);
CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL,
    eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER,
    returnValue INTEGER, callchainId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL,
    deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER,
    streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
    demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL,
    deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,
    correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL,
    srcKind INTEGER, dstKind INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL,
    text TEXT, globalTid INTEGER, textId INTEGER, domainId INTEGER);
"""

OLD = """
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE TARGET_INFO_CUDA_GPU (id INTEGER PRIMARY KEY, deviceId INT NOT NULL, name TEXT NOT NULL,
    computeCapabilityMajor INT, computeCapabilityMinor INT, numMultiprocessors INT,
    globalMemorySize INT, coreClockRate INT, globalMemoryBandwidth INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT NOT NULL, end INT NOT NULL,
    eventClass INT NOT NULL, globalTid INT NOT NULL, correlationId INT NOT NULL,
    nameId INT NOT NULL, returnValue INT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT NOT NULL, end INT NOT NULL,
    deviceId INT NOT NULL, contextId INT NOT NULL, streamId INT NOT NULL,
    correlationId INT NOT NULL, globalPid INT NOT NULL, demangledName INT NOT NULL,
    shortName INT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT NOT NULL, end INT NOT NULL,
    deviceId INT NOT NULL, contextId INT NOT NULL, streamId INT NOT NULL,
    correlationId INT NOT NULL, globalPid INT NOT NULL, bytes INT NOT NULL, copyKind INT NOT NULL);
CREATE TABLE NVTX_EVENTS (start INT NOT NULL, end INT, eventType INT NOT NULL, text TEXT,
    globalTid INT);
"""


class Export:
    def __init__(self, out, old):
        pathlib.Path(out).unlink(missing_ok=True)
        self.db = sqlite3.connect(out, isolation_level=None)
        self.db.execute("PRAGMA page_size=1024")
        self.db.execute("PRAGMA journal_mode=MEMORY")
        self.db.execute("BEGIN")
        for statement in (OLD if old else NEW).split(";")[:-1]:
            self.db.execute(statement)
        self.old, self.strings, self.correlation = old, {}, 100

    def insert(self, table, **values):
        has = {row[1] for row in self.db.execute(f"PRAGMA table_info({table})")}
        values = {name: value for name, value in values.items() if name in has}
        marks = ", ".join("?" * len(values))
        self.db.execute(f'INSERT INTO {table} ({", ".join(values)}) VALUES ({marks})',
                        tuple(values.values()))

    def string(self, text):
        if text not in self.strings:
            self.strings[text] = len(self.strings) + 1
            self.insert("StringIds", id=self.strings[text], value=text)
        return self.strings[text]

    def range(self, tid, start, end, text):
        by_id = {} if self.old else {"textId": self.string(text), "domainId": 1}
        self.insert("NVTX_EVENTS", start=start, end=end, eventType=59, globalTid=GLOBAL_PID + tid,
                    text=text if self.old else None, **by_id)

    def call(self, tid, start, end, name):
        self.correlation += 1
        self.insert("CUPTI_ACTIVITY_KIND_RUNTIME", start=start, end=end, eventClass=1,
                    globalTid=GLOBAL_PID + tid, correlationId=self.correlation,
                    nameId=self.string(name), returnValue=0)

    def op(self, table, gpu, stream, start, length, **values):
        self.insert("CUPTI_ACTIVITY_KIND_" + table, start=start, end=start + length, deviceId=gpu,
                    contextId=gpu + 1, streamId=stream, correlationId=self.correlation,
                    globalPid=GLOBAL_PID, **values)


def about(export):
    common = {"name": "NVIDIA H100 80GB HBM3"}
    for gpu in range(2):
        if export.old:
            export.insert("TARGET_INFO_CUDA_GPU", deviceId=gpu, **common, numMultiprocessors=132,
                          computeCapabilityMajor=9, computeCapabilityMinor=0,
                          globalMemorySize=84942979072, coreClockRate=1980000,
                          globalMemoryBandwidth=3352320000)
            continue
        export.insert("TARGET_INFO_GPU", vmId=0, id=gpu, **common, totalMemory=84942979072,
                      memoryBandwidth=3352320000000, clockRate=1980000000, smCount=132,
                      computeMajor=9, computeMinor=0)
        export.insert("TARGET_INFO_CUDA_DEVICE", gpuId=gpu, cudaId=gpu, pid=PID)
    if not export.old:
        export.insert("META_DATA_EXPORT", name="EXPORT_PRODUCT_VERSION", value="2026.1.1.204")
        export.insert("META_DATA_EXPORT", name="EXPORT_SCHEMA_VERSION", value="3.24.14")
        export.insert("ANALYSIS_DETAILS", duration=100 * STEP_NS)
        export.insert("TARGET_INFO_SESSION_START_TIME", utcEpochNs=1801386000000000000,
                      utcTime="2027-01-31T09:00:00", localTime="2027-01-31T09:00:00")


def step(export, gpu, number, start, named):
    tid = 10 + gpu
    end = start + 790_000              # the host waits outside of the module
    if named:
        export.range(tid, start - 500, start + 895_000, f"step {number}")
    export.range(tid, start, end, "XlaModule:#prefix=jit(train)/jit(main),hlo_module=jit_train,"
                                  "program_id=7#")
    for name, op, kernel, stream, at, length in OPS:
        launch = start + at - 5_000
        said = f"name={name},hlo_op={op}" if name else f"hlo_op={op}"
        export.range(tid, launch, launch + 3_000, f"Thunk:#{said}#")
        export.call(tid, launch + 1_000, launch + 2_000, "cudaLaunchKernelExC_v11060")
        export.op("KERNEL", gpu, stream, start + at, length + 1_000 * gpu,
                  demangledName=export.string(kernel), shortName=export.string(kernel[:8]))
    export.call(tid, start + 700_000, start + 702_000, "cudaMemcpyAsync_v3020")
    export.op("MEMCPY", gpu, 21, start + 705_000, 40_000, bytes=1_000_000, copyKind=1, srcKind=1,
              dstKind=2)
    export.call(tid, start + 800_000, start + 890_000, "cudaStreamSynchronize_v3020")


TORCH_NS = 1_800_000
TORCH_OPS = (
    (10, "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNN", 7, 300_000),
    (10, "void flash::flash_fwd_kernel<cutlass::bfloat16_t>(flash::Flash_fwd_params)", 7, 100_000),
    (20, "void flash::flash_bwd_dq_dk_dv_kernel<cutlass::bfloat16_t>(Flash_bwd_params)", 7, 200_000),
    (20, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096>)", 20, 400_000),
)


def torch_step(export, gpu, number, start):
    """The copy of the batch blocks the thread; so does that of the loss, and then the host is late."""
    main, backward, copied = 10 + gpu, 20 + gpu, start + 200_000
    export.call(main, start - 5_000, copied, "cudaMemcpyAsync_v3020")
    export.op("MEMCPY", gpu, 7, start, 200_000, bytes=1_200_000, copyKind=1, srcKind=0, dstKind=2)
    at, launch = copied + 10_000, copied + 1_000
    for tid, kernel, stream, length in TORCH_OPS:
        export.call(main if tid == 10 else backward, launch, launch + 2_000, "cudaLaunchKernel_v7000")
        export.op("KERNEL", gpu, stream, at, length, demangledName=export.string(kernel),
                  shortName=export.string(kernel[:8]))
        at, launch = at + length, launch + 4_000
    export.call(main, launch, at + 6_000, "cudaMemcpyAsync_v3020")
    export.op("MEMCPY", gpu, 7, at, 2_000, bytes=4, copyKind=2, srcKind=2, dstKind=0)
    export.range(main, start - 10_000, start + TORCH_NS - 20_000, f"iteration {number}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--old", action="store_true")
    parser.add_argument("--steps", action="store_true")
    parser.add_argument("--torch", action="store_true")
    parser.add_argument("out")
    options = parser.parse_args()
    export = Export(options.out, options.old)
    about(export)
    module = "module=jit_train,program_id=7"
    if not options.torch:
        export.range(9, 100_000, 1_900_000, f"XlaCompile:#{module}#")
        export.range(9, 200_000, 1_700_000, f"XlaCompileBackend:#{module}#")
    for number in range(STEPS):
        for gpu in range(2):
            if options.torch:
                torch_step(export, gpu, number, (number + 1) * TORCH_NS + gpu * 2_000)
            else:
                step(export, gpu, number, (number + 2) * STEP_NS + gpu * 2_000, options.steps)
    export.db.execute("COMMIT")
    export.db.execute("VACUUM")
    export.db.close()


if __name__ == "__main__":
    main()
