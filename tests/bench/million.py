#!/usr/bin/env python3
"""A week of a million runs in ClickHouse, and the audit of it: million.py [--runs N] [--weeks N]

The engine of today (chdb, from PyPI) makes the runs itself, fourteen weeks of them with their rules,
and answers behind a small HTTP server.  Told: seconds, the engine's and the
client's processor time, and bytes moved, packed as a server packs them.  Planted: one workload
in fifty takes another level for good, and has to be told.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../interop"))
import test_clickhouse_today as today  # noqa: E402

ROOFLINT = os.path.abspath(os.environ.get("ROOFLINT", os.path.join(HERE, "../../build/rooflint")))
END, WEEK = 1795132800, 604800  # 2026-11-20
WORKLOADS, RULES, EVERY = 2000, 14, 50
COLUMNS = """version, hash, run, profile, captured, captured_source, workload, owner, platform, chip,
chips, phase, judge, rules, tool, verdict, gain_s, steps, step_time_s, quality, captured_ns, step_ns,
share_e12, lo_e12, hi_e12, outcome, verdicts.rule, verdicts.verdict, verdicts.gain_s, verdicts.gain_e12,
verdicts.message, verdicts.title, verdicts.reason, verdicts.closed_gate, verdicts.subjects,
verdicts.findings, verdicts.note, verdicts.waiver_ends, verdicts.source_file, verdicts.source_line"""
RUN = """SELECT '2.9', lower(hex(sipHash128(n))), lower(hex(sipHash128(n, 1))),
concat('gs://fleet/', name, '/plugins/profile/', toString(n)),
formatDateTime(toDateTime({end} - back, 'UTC'), '%Y-%m-%dT%H:%i:%S.000Z'), 'profile', name,
concat('team-', toString(w % 40)), 'tpu', 'tpu_v5e', 64, 'train', 'j', 'recommended', '0', 'fail',
step * 0.2, 20, step, if(n % 97 = 0, 'hosts,steps', NULL), toInt64({end} - back) * 1000000000,
toInt64(step * 1e9), 200000000000, 400000000000, 500000000000,
if(n % 211 = 0, 'inconclusive: costed', 'judged'), arrayMap(i -> concat('rule-', toString(i)), r),
arrayMap(i -> if(i < 3, 'fail', 'pass'), r), arrayMap(i -> if(i < 3, step * 0.06, NULL), r),
arrayMap(i -> if(i < 3, 60000000000, NULL), r),
arrayMap(i -> if(i < 3, concat('costs ', toString(n % 50), '% of a step'), NULL), r), {nothing}
FROM (SELECT number + {first} AS n, number % {workloads} AS w, range({rules}) AS r,
concat('runs/team-', toString(w % 40), '/job-', toString(w)) AS name,
{week} * {ago} + intDiv(number * {week}, {runs}) AS back,
0.05 * (1 + w % 9) * (0.98 + 0.04 * (sipHash64(n) % 1000) / 1000)
* if(w % {every} = 7 AND back < 5 * {week}, 1.25, 1) AS step FROM numbers({runs}))"""


def fill(ask, runs, weeks):
    nothing = ", ".join(["arrayMap(i -> NULL, r)"] * 9)
    for ago in range(weeks):
        ask(f"INSERT INTO rooflint_facts ({COLUMNS}) " + RUN.format(
            end=END, first=ago * runs, workloads=WORKLOADS, rules=RULES, week=WEEK,
            ago=ago, runs=runs, every=EVERY, nothing=nothing))


def processor():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000000, help="a week")
    parser.add_argument("--weeks", type=int, default=14)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as box:
        engine = today.Engine(box)
        ask = engine.session.query
        for statement in ("CREATE DATABASE perf ENGINE = Atomic", "USE perf", "SET max_threads = 2"):
            ask(statement)
        table = subprocess.run([ROOFLINT, "facts", "--format", "clickhouse"], check=True,
                               stdout=subprocess.PIPE).stdout.decode()
        ask(table.split(";")[0])
        start = time.time()
        fill(ask, args.runs, args.weeks)
        print(f"made {args.runs * args.weeks} runs in {time.time() - start:.0f} s")
        server = today.serve(engine)
        store = f"clickhouse://127.0.0.1:{server.server_port}/perf?timeout=600"
        start, before = time.time(), processor()
        report = json.loads(subprocess.run(
            [ROOFLINT, "audit", "--store", store, "--until", "2026-11-20", "--json", "-"], check=True,
            stdout=subprocess.PIPE).stdout)
        client = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"audit: {time.time() - start:.1f} s; processors: engine {processor() - before:.1f} s, "
              f"client {client.ru_utime + client.ru_stime:.1f} s; "
              f"moved {engine.moved / 1e6:.1f} MB")
        runs = sum(row["runs"] for row in report["coverage"])
        print(f"{runs} runs in the window, {report['row_totals']['ranking']} workloads in the ranking, "
              f"{report['row_totals']['changes']} change points of {WORKLOADS // EVERY} planted")
        server.shutdown()


if __name__ == "__main__":
    main()
