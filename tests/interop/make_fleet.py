#!/usr/bin/env python3
"""Facts of a fleet that never ran: seeded, with changes planted where the test knows of them.

    make_fleet.py [--workloads N] [--weeks N] [--per-week N] [--seed N] >facts.ndjson

The records say that a newer minor version wrote them, so their hashes are taken as they are.
"""
import argparse
import datetime
import hashlib
import json
import math
import random

OWNERS = ["pretraining", "search-quality", "vision", "speech", "ads-ranking", None]
MODELS = ["llama", "gemma", "mixtral", "vit", None]
CHIPS = [("tpu_v5e", 0.42), ("tpu_v5p", 0.55), ("tpu_v6e", 0.5), ("h100_sxm", 0.48), (None, None)]
RULES = [
    ("oversized-all-gather", "All-gathers do not eat the step"),
    ("matmul-roofline", "Matmuls run within 10% of their roofline"),
    ("copy-share", "Copies that only change a layout stay small"),
    ("exposed-communication", "Communication hides behind compute"),
    ("idle", "The devices do not wait for the host"),
]
COLUMNS = None


def workload(i, rng, weeks, per_week):
    """One workload: what it is, and where its step time takes another level."""
    chip, ratio = CHIPS[i % len(CHIPS)] if i % 11 else CHIPS[0]
    runs = weeks * per_week
    change = None
    if i % 4 == 1:  # planted: slower or faster for good, three runs from either end
        at = rng.randrange(4, runs - 3)
        change = (at, rng.choice([0.8, 0.9, 1.08, 1.25]))
    return {
        "index": i,
        "name": f"runs/{OWNERS[i % len(OWNERS)] or 'misc'}/{MODELS[i % len(MODELS)] or 'job'}-{i:03d}",
        "owner": OWNERS[i % len(OWNERS)], "model": MODELS[i % len(MODELS)], "chip": chip,
        "ratio": ratio, "chips": [8, 16, 64, 256, 1024, 4][i % 6], "step": 0.02 * (1 + i % 9),
        "change": change, "waste": 0.03 + 0.5 * rng.random() ** 2,
        "rules": rng.sample(range(len(RULES)), 2), "mfu": i % 3 == 0,
    }


def record(base, **values):
    line = dict.fromkeys(COLUMNS)
    line.update(base)
    line.update(values)
    return line


def run_of(w, n, when, rng, poisoned):
    name = when.strftime("%Y_%m_%d_%H_%M_%S")
    step = w["step"] * math.exp(rng.gauss(0, 0.008))
    if w["change"] and n >= w["change"][0]:
        step *= w["change"][1]
    waste = min(0.9, w["waste"] * math.exp(rng.gauss(0, 0.05)))
    base = {
        "version": "2.9", "profile": f"{w['name']}/plugins/profile/{name}",
        "captured": when.strftime("%Y-%m-%dT%H:%M:%S.000Z"), "captured_source": "profile",
        "workload": w["name"], "judge": "generated", "rules": "recommended", "tool": "0.1.0",
    }
    base["run"] = hashlib.sha256(base["profile"].encode()).hexdigest()[:32]
    base["hash"] = hashlib.sha256(f"{base['run']} {step} {waste}".encode()).hexdigest()[:32]
    if poisoned:
        base["captured_source"] = "name"
        return [record(base, record="run", verdict="error", error_id="RL201",
                       error=f"{base['profile']}: length runs past the end")]
    base.update(owner=w["owner"], model=w["model"], chip=w["chip"], chips=w["chips"], phase="train",
                platform="tpu" if (w["chip"] or "").startswith("tpu") else "nvidia")
    broken = w["rules"] if n % 7 else w["rules"][:1]
    lines = [record(base, record="run", verdict="fail", gain_s=step * waste, hosts=1, devices=8,
                    steps=20, steps_ratio=0.9 + 0.01 * (n % 7), step_time_s=step,
                    step_mean_s=step, idle_ratio=waste / 3,
                    roofline_ratio_lo=w["ratio"] and w["ratio"] * (1 - waste),
                    mfu=(w["ratio"] or 0.4) * 0.8 if w["mfu"] else None,
                    quality="hosts" if n % 13 == 5 else None)]
    for i, (rule, title) in enumerate(RULES):
        cost = step * waste * (0.7, 0.3)[broken.index(i)] if i in broken else None
        lines.append(record(base, record="rule", rule=rule, title=title,
                            verdict="fail" if i in broken else "pass", gain_s=cost, subjects=4,
                            findings=2 if i in broken else 0,
                            message=f"{rule} costs {waste:.0%} of a step" if i in broken else None))
    for d in range(8 if w["chip"] else 0):  # one host of the fleet is late wherever it is
        host = f"host-{(w['index'] + n) % 9}" if d < 4 else "host-late"
        slowness = 1.2 if host == "host-late" and w["index"] % 3 else 1 + 0.01 * rng.random()
        lines.append(record(base, record="device", host=host, device=f"/device:TPU:{d % 4}",
                            slowness=slowness, lost_s=step / 2 * (1 - 1 / slowness)))
    return lines


def fleet(workloads, weeks, per_week, seed):
    """Yields (workload, its runs); each run is a list of records."""
    end = datetime.datetime(2026, 11, 20, 6, 0, 0)
    for i in range(workloads):
        rng = random.Random(f"{seed} {i}")
        w = workload(i, rng, weeks, per_week)
        count = weeks * per_week
        runs = []
        for n in range(count):
            back = (count - 1 - n) * 7 * 86400 // per_week + i * 60
            when = end - datetime.timedelta(seconds=back)
            runs.append(run_of(w, n, when, rng, rng.random() < 0.02))
        yield w, runs


def columns(manual):
    """Names in their order, from docs/facts.md."""
    with open(manual, encoding="utf-8") as file:
        return [line.split("`")[1] for line in file if line.startswith("| `")]


def main():
    global COLUMNS
    import os
    import sys
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workloads", type=int, default=40)
    parser.add_argument("--weeks", type=int, default=12)
    parser.add_argument("--per-week", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    COLUMNS = columns(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/facts.md"))
    for _, runs in fleet(args.workloads, args.weeks, args.per_week, args.seed):
        for run in runs:
            for line in run:
                sys.stdout.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
