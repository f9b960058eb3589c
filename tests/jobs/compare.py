#!/usr/bin/env python3
"""What rooflint says of each recorded job against what is true of it (truth.json).

    tests/jobs/compare.py --rooflint PROGRAM [--table | --readme]

A check that is not right yet stands in pending.txt, with the reason; one that stands there and is
right is a failure, too, so that the list can only shrink.  The last line is `N passed, N failed,
N skipped`; --table prints each number beside the truth.  README.md holds the worst error of each
sort of check: --readme writes it, and one that is not of today fails.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
STEP_SHARE, STEP_S = 0.02, 80e-6  # of a step's time; and what a dispatch may jitter
WAIT_POINTS = 0.05
UPLOAD_SHARE = 0.1  # the dispatch of the step that follows is in its gap

# A server's step is its execution.
SERVERS = ("decode",)
# Virtual devices begin a step when they get a processor: single steps jitter, and their mean
# does not.
MANY_DEVICES = ("block_after", "fsdp", "marked_stages", "moe", "pipeline", "processes", "stages",
                "unblocked")
# Steps of these jobs are of several sorts: which of them is judged, by position.
EVERY = {"alternating": (0, 2)}
# Work of the device between steps is no part of them; the host's is.
OTHER_WORK = ("evaluation", "prefill", "rounds")


# What runs the same program without CUDA graphs, where the profiler names the op of every kernel.
TWINS = {"h100_marked": "h100_no_graphs", "h100_decode": "h100_decode_no_graphs"}
TWIN_SHARE, TWIN_S = 0.1, 2e-6  # of an op's time, as two runs of it differ
# More work than a server's step on the device is its dispatch, which its clock holds and no step.
DISPATCHED = ("h100_decode", "h100_decode_no_graphs")


class Rooflint:
    def __init__(self, program, capture, chip=()):
        self.program, self.capture, self.chip = program, capture, chip

    def judged(self):
        """The findings, and the results of the rules."""
        with tempfile.NamedTemporaryFile(suffix=".json") as report:
            subprocess.run([self.program, "check", "-q", "--json", report.name, *self.chip,
                            self.capture],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            said = json.load(open(report.name, encoding="utf-8"))["reports"][0]
            return said["findings"], said["results"]

    def rows(self, sql, *options):
        out = subprocess.run([self.program, "query", "--format", "json", *options, self.capture,
                              sql], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if out.returncode:
            raise RuntimeError(out.stderr.decode())
        return json.loads(out.stdout)


def step_times(name, truth):
    """Seconds from a step's begin to the next one's, without other work between; the last lasts
    as long as its block."""
    clock = truth["clock_us"]
    if "loop_steps" in truth:  # one block for all of them
        [[begin, end]] = clock["loop"]
        return [(end - begin) * 1e-6 / truth["loop_steps"]] * truth["loop_steps"]
    steps = clock.get("step", [])
    if name in SERVERS:
        return [(end - begin) * 1e-6 for begin, end in steps]
    for before in ("load", "upload"):  # the device's work begins when the batch is there
        if before in clock:
            steps = [[block[1], step[1]] for block, step in zip(clock[before], steps)]
    other = [block for work in OTHER_WORK for block in clock.get(work, [])]
    times = []
    for (begin, end), after in zip(steps, steps[1:] + [None]):
        until = after[0] if after else end
        between = sum(e - b for b, e in other if begin <= b < until)
        times.append((until - begin - between) * 1e-6)
    first, every = EVERY.get(name, (0, 1))
    return times[first::every]


def close(seen, want, share=0.0, by=0.0):
    return seen is not None and abs(seen - want) <= max(share * abs(want), by)


def check_steps(name, truth, ask):
    times = step_times(name, truth)
    [run] = ask.rows("select steps, step_time_s from run")
    if len(times) < 3 or name in DISPATCHED:  # too few to call any of them steady
        return
    # The first of them warms up, the last one's end is not seen, and one may hold a compilation.
    least = len(times) - 2 - (name == "recompiling")
    yield ("steps", run["steps"], len(times),
           run["steps"] is not None and least <= run["steps"] <= len(times))
    seen, want = run["step_time_s"], statistics.median(times[1:-1])
    if name in MANY_DEVICES:
        [row] = ask.rows("select avg(global_s) as mean from steps where device = "
                         "(select device from steps limit 1) and host = "
                         "(select host from steps limit 1)")
        seen, want = row["mean"], statistics.mean(times[1:-1])
    yield "step time", seen, want, close(seen, want, STEP_SHARE, STEP_S)
    if name in MANY_DEVICES or name == "recompiling":
        return
    # All that shares and costs are of: uneven steps have another mean than median.
    [run] = ask.rows("select step_mean_s from run")
    want = statistics.mean(times[1:-1])
    yield ("mean step", run["step_mean_s"], want,
           close(run["step_mean_s"], want, STEP_SHARE, STEP_S))


def check_waits(name, truth, ask):
    """What the job spent on its next batch, between one step's work and the next's."""
    loads = truth["clock_us"].get("load")
    [run] = ask.rows("select input_wait_ratio as share from run")
    if name == "aside":  # its evaluation loads
        return
    if not loads:
        yield ("no loader", run["share"], 0.0,
               run["share"] is None or close(run["share"], 0.0, by=WAIT_POINTS))
        return
    want = sum(e - b for b, e in loads[2:]) / (loads[-1][1] - loads[1][1])
    yield "input_wait_ratio", run["share"], want, close(run["share"], want, by=WAIT_POINTS)


def check_outside(name, truth, ask):
    """Where short programs run outside the steps, the devices wait for nearly all of that time."""
    clock = truth["clock_us"]
    if name == "acting":
        [wait] = ask.rows("select wait_ratio as share, doing from waits where role = 'other'")
        begun = clock["step"][0][0]
        rounds = sum(end - begin for begin, end in clock["rounds"] if begin > begun)
        want = rounds / (clock["step"][-1][1] - begun)
        yield "other wait", wait["share"], want, close(wait["share"], want, by=WAIT_POINTS)
        yield "doing", wait["doing"], "turn", str(wait["doing"]).endswith(" turn")
    if name in ("serving", "requests"):  # by its own Python, and by its clients
        [wait] = ask.rows("select wait_ratio as share, doing from waits where role = 'other'")
        [run] = ask.rows("select window_s from run")
        want = sum(end - begin for begin, end in clock["host"][:-1]) * 1e-6 / run["window_s"]
        said = [f["rule"] for f in ask.judged()[0] if f["rule"].startswith("idle")]
        if name == "requests":
            yield "said", said, [], not said
            [wait] = ask.rows("select total(time_share) as share from phases where name = 'request'")
            want = sum(end - begin for begin, end in clock["request"][1:-1]) * 1e-6 / run["window_s"]
        else:
            yield "said", said, ["idle-outside"], said == ["idle-outside"]
            yield "doing", wait["doing"], "respond", str(wait["doing"]).endswith(" respond")
        yield "other wait", wait["share"], want, close(wait["share"], want, by=WAIT_POINTS)
    if name == "aside":  # the first batch in the step, the others outside: each of the one that loads
        told = sorted((w["role"], w["device"], w["doing"].split()[-1])
                      for w in ask.rows("select role, device, doing from waits"))
        want = [(role, "/device:CPU:0", "load_batch") for role in ("other", "step")]
        yield "told", told, want, told == want
        said = sorted(f["rule"] for f in ask.judged()[0] if f["rule"].startswith("idle"))
        yield "said", said, ["idle", "idle-outside"], said == ["idle", "idle-outside"]


def check_syncs(name, truth, ask):
    """A job that fetches its loss in each step waits for it; one that waits behind the loop does
    not."""
    [run] = ask.rows("select sync_wait_ratio as share, (select wait_ratio from devices) as waits "
                     "from run")
    if name == "sync":
        yield "sync_wait_ratio", run["share"], run["waits"], close(run["share"], run["waits"],
                                                                   by=0.02)
    elif "loop_steps" in truth:
        yield "sync_wait_ratio", run["share"], 0.0, close(run["share"], 0.0, by=0.02)


def check_causes(name, truth, ask):
    """A wait for a copy is a transfer's, and one that is in every step is not told of some."""
    uploads = truth["clock_us"].get("upload")
    if uploads:
        [row] = ask.rows("select total(time_s) as copied from gaps where cause = 'transfer'")
        want = sum(e - b for b, e in uploads[1:-1]) * 1e-6
        yield "copied", row["copied"], want, close(row["copied"], want, UPLOAD_SHARE)
    if name in ("host_work", "one_pause", "uploads"):
        [told] = [f["message"] for f in ask.judged()[0] if f["rule"] == "idle"]
        some = re.search(r"\d+ of \d+ steps", told)
        yield "told of some steps", some and some[0], None, not some
    if name == "environment":  # it launches many programs, and does not wait for them
        [fix] = [f["fix"] for f in ask.judged()[0] if f["rule"] == "idle"]
        yield "fix", fix, "not jax.jit", "jax.jit" not in fix


DTYPE_BYTES = {"pred": 1, "s8": 1, "u8": 1, "bf16": 2, "f16": 2, "f32": 4, "s32": 4, "u32": 4,
               "f64": 8}


def shape_bytes(text):
    total = 0
    for dtype, dims in re.findall(r"([a-z]+[0-9]*)\[([0-9,]*)\]", text):
        size = DTYPE_BYTES[dtype]
        for d in filter(None, dims.split(",")):
            size *= int(d)
        total += size
    return total


def group_of(line):
    """Size of a group, and how many: from a list, an iota or a mesh with named axes."""
    m = re.search(r"replica_groups=\[(\d+),(\d+)\]", line)
    if m:
        return int(m[2]), int(m[1])
    m = re.search(r"replica_groups=\{(\{.*?\})\}", line)
    if m:
        groups = re.findall(r"\{([0-9,]*)\}", m[1])
        return len(groups[0].split(",")), len(groups)
    m = re.search(r"replica_groups=mesh\[(.*?)\] ?\{(.*?)\}", line)
    if m:
        axes = {k: int(v) for k, v in re.findall(r"'(\w+)'=(\d+)", m[1])}
        size, whole = 1, 1
        for count in axes.values():
            whole *= count
        for axis in re.findall(r"'(\w+)'", m[2]):
            size *= axes[axis]
        return size, whole // size
    return None


def check_collectives(_name, truth, ask):
    """Kind, bytes of the message and groups, as the compiler's own text has them."""
    kinds = {"collective-permute": "permute"}
    for program in truth.get("programs", {}).values():
        for line in program["collectives"]:
            m = re.match(r"(?:ROOT )?%(\S+) = (.*?) ([a-z-]+?)(-start)?\(", line)
            rows = ask.rows("select kind, message_bytes, group_size, groups from collectives "
                            "where name = '%s'" % m[1])
            kind, want = kinds.get(m[3], m[3]), group_of(line)
            seen = rows[0] if rows else {}
            yield "%s kind" % m[1], seen.get("kind"), kind, seen.get("kind") == kind
            if kind == "all-gather" or kind == "all-reduce":
                size = shape_bytes(m[2])
                yield "%s bytes" % m[1], seen.get("message_bytes"), size, \
                    seen.get("message_bytes") == size
            if want and kind != "permute":
                groups = (seen.get("group_size"), seen.get("groups"))
                yield "%s groups" % m[1], groups, want, groups == want


def check_flops(_name, truth, ask):
    for module, program in truth.get("programs", {}).items():
        if program["flops"]:
            [row] = ask.rows("select total(flops * per_step) as flops from ops where kind = "
                             "'matmul' and module = '%s'" % module)
            [run] = ask.rows("select devices from run")
            seen = row["flops"] * run["devices"]
            yield "flops", seen, program["flops"], close(seen, program["flops"], 1e-9)


def check_matmuls(_name, truth, ask):
    """FLOPs of matmuls by hand, and no chip beats its peak."""
    if "flops_step" in truth:
        [row] = ask.rows("select total(flops * per_step) as flops from ops where "
                         "kind in ('matmul', 'convolution') and role = 'step'")
        yield ("step's flops", row["flops"], truth["flops_step"],
               close(row["flops"], truth["flops_step"], 1e-9))
    for module, flops in truth.get("flops", {}).items():
        if flops:
            [row] = ask.rows("select total(flops * per_step) as flops from ops where kind = 'matmul'",
                             "--step", "jit_" + module)
            yield module + " flops", row["flops"], flops, close(row["flops"], flops, 1e-9)


def check_graphs(name, _truth, ask):
    """Kernels of CUDA graphs are told apart, and take what they take without graphs."""
    if not name.startswith("h100_"):
        return
    [row] = ask.rows("select total(time_s) as whole, total(case when attribution = 'none' then "
                     "time_s end) as lost from ops")
    yield "told apart", row["lost"], 0.0, row["lost"] == 0
    if name in TWINS:
        ops = "select name, p50_s, time_s from ops where role = 'step'"
        twin = Rooflint(ask.program, os.path.join(HERE, TWINS[name]))
        other = {row["name"]: row["p50_s"] for row in twin.rows(ops)}
        rows = ask.rows(ops)
        like = sum(row["time_s"] for row in rows
                   if close(row["p50_s"], other.get(row["name"], 0.0), TWIN_SHARE, TWIN_S))
        whole = sum(row["time_s"] for row in rows)
        yield "ops as without graphs", like / whole, 1.0, like >= 0.99 * whole


# Work of the device in its blocks of the clock, but for the steps: how much of it there is.
OUTSIDE = {"evaluation_after": "evaluation", "rare_evaluation": "evaluation",
           "marked_evaluation": "evaluation", "numbered_marks": "evaluation",
           "decode": "prefill",
           "unmarked_evaluation": "evaluation", "rounds": "rounds"}
OUTSIDE_POINTS = 0.03
# Executions of programs in a step, by hand.
PROGRAMS = {"half_marked": 2, "rounds": 1, "eager": 20, "microbatches": 8, "recompiling": 1, "buckets": 1, "decode": 1, "accumulation": 8,
            "stages": 5, "marked_stages": 2, "alternating": 1, "load_class": 1, "checkpoint": 1, "checkpoint_asked": 1, "gan": 3, "speculative": 5,
            "distilling": 2}
# Programs that some device runs in steps, by hand: stages have their own.
IN_STEPS = {"stages": 6, "marked_stages": 3, "processes": 1}


def check_phases(name, truth, ask):
    """Phases add up to the window, all work has a name, and each sort can be judged by itself."""
    rows = ask.rows("select * from phases")
    [run] = ask.rows("select verdict_share, programs_per_step from run")
    whole = sum(row["time_s"] for row in rows)
    windows = [row["window_s"] for row in ask.rows("select window_s from devices")]
    yield "phases' sum", whole, windows[0], any(close(whole, w, 1e-9) for w in windows)
    unnamed = sum(row["time_s"] for row in rows if row["role"] != "wait" and not row["modules"])
    yield "without a name", unnamed / whole, 0.0, unnamed <= 0.05 * whole
    for row in rows:
        if row["step"] and row["marks"] and row["role"] != "step":
            [judged] = ask.rows("select step_time_s from run", "--step", row["step"])
            yield ("--step " + row["step"], judged["step_time_s"], row["p50_s"],
                   close(judged["step_time_s"], row["p50_s"], 0.05))
    clock = truth["clock_us"]
    if name in OUTSIDE:
        outside = sum(end - begin for begin, end in clock[OUTSIDE[name]])
        want = 1 - outside / (outside + sum(end - begin for begin, end in clock["step"]))
        yield ("verdict_share", run["verdict_share"], want,
               close(run["verdict_share"], want, by=OUTSIDE_POINTS))
        # Where the chip is known, rules judge what runs outside the steps, too.
        [all_of_it] = ask.rows("select verdict_share from run", *ask.chip)
        yield ("verdict_share, judged", all_of_it["verdict_share"], 1.0,
               close(all_of_it["verdict_share"], 1.0, by=OUTSIDE_POINTS))
    if name in PROGRAMS:
        yield ("programs of a step", run["programs_per_step"], PROGRAMS[name],
               run["programs_per_step"] == PROGRAMS[name])
    if name in IN_STEPS:
        [steps] = ask.rows("select count(*) as programs from programs where role = 'step'")
        yield ("programs of a step, all", steps["programs"], IN_STEPS[name],
               steps["programs"] == IN_STEPS[name])
    if "checkpoint" in clock:
        seen = sum(row["time_s"] for row in rows if row["name"] == "checkpoint")
        # The device has no more work behind the last one.
        want = sum(end - begin for begin, end in clock["checkpoint"][:-1]) * 1e-6
        yield "checkpoint", seen, want, close(seen, want, 0.03)
        # One that comes in some steps is named, with how many and what an average step pays.
        told = [f["message"] for f in ask.judged()[0] if f["rule"] == "idle"]
        m = re.search(r"writes a checkpoint .*: ([0-9.]+) ms in (\d+) of (\d+) steps, ([0-9.]+) ms a "
                      "step on average", told[0] if told else "")
        each, hit, of, mean = (float(x) for x in m.groups()) if m else (0, 0, 1, 0)
        yield "checkpoints named", hit, len(clock["checkpoint"]) - 1, \
            hit == len(clock["checkpoint"]) - 1
        yield "cost of each", each * 1e-3, want / hit if hit else 0, \
            hit and close(each * 1e-3, want / hit, 0.03)
        yield "of an average step", mean * 1e-3, want / of, close(mean * 1e-3, want / of, 0.03)


def check_costs(name, _truth, ask):
    """No finding, and no place of one, costs more than the whole."""
    [run] = ask.rows("select step_mean_s from run")
    findings, results = ask.judged()
    for r in results:
        if r["name"] == "step-roofline" and r["value"] is not None:
            yield "unexplained", r["value"], 0, r["value"] >= 0
    for f in findings:
        gain = f.get("gain_s")
        if gain:
            yield "cost of " + f["rule"], gain, run["step_mean_s"], gain <= run["step_mean_s"]
        if f["rule"] == "recompiles":  # the steps that it disturbs are not among those judged
            yield "recompiles outside the steps", f["of_window"], True, f["of_window"]
        if f["rule"] == "f32-matmul" and name == "moe":  # its all-to-alls wait for experts
            [row] = ask.rows("select total(p50_s * rate) as most from families "
                             "where kind in ('matmul', 'convolution')")
            yield "narrower matmuls", f["claimed_s"], row["most"], f["claimed_s"] <= row["most"]
    # Ops that run side by side take more than a step together, and none of them does.
    for table, share in (("families", "max(time_share)"), ("collectives", "total(exposed_share)"),
                         ("transfers", "total(step_share)")):
        [row] = ask.rows("select %s as share from %s" % (share, table))
        if row["share"]:
            yield "%s of a step" % table, row["share"], 1, row["share"] <= 1.0001


def check_floors(_name, _truth, ask):
    """What a program takes at least is never more than what it took."""
    for row in ask.rows("select module, p50_s, floor_s, serial_s from programs where floor_s > 0",
                        *ask.chip):
        yield "%s floor" % row["module"], row["floor_s"], row["p50_s"], \
            row["floor_s"] <= row["p50_s"]
        yield "%s serial" % row["module"], row["serial_s"], row["floor_s"], \
            row["serial_s"] >= row["floor_s"]
    [run] = ask.rows("select predicted_step_s as least, step_time_s from run", *ask.chip)
    if run["least"] is not None:
        yield "step floor", run["least"], run["step_time_s"], run["least"] <= run["step_time_s"]


# What a report may say that a capture lacks, and the jobs of which that is true.
LACKS = {
    "the program's HLO is not in the profile": ("no_hlo",),
    "the profile holds no events of the host": (),
    "nothing marks steps": ("initialisation",),
    "Put a jax.profiler.StepTraceAnnotation around each": ("initialisation",),
    "Record it with host tracing on": (),
    "1 step in the capture: none follows it, so its end is not known": ("one_step",),
    "its end is cut": (),
    "cannot be told: the job does not wait": (),
}


def check_sentences(name, _truth, ask):
    """What a capture lacks is said of it, and of no other."""
    out = subprocess.run([ask.program, "check", ask.capture, *ask.chip], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, check=False).stdout.decode()
    said = " ".join(out.split())
    for sentence, jobs in LACKS.items():
        want = name in jobs
        if want or sentence in said:
            yield sentence[:20], sentence in said, want, (sentence in said) == want


CHECKS = (check_steps, check_waits, check_outside, check_syncs, check_causes, check_collectives,
          check_flops, check_matmuls, check_graphs, check_phases, check_costs, check_floors, check_sentences)


# The worst error of each sort of check: by the end of the check's name, and how it is told.
OFF_BY = "% of it", lambda seen, want: 100 * abs(seen - want) / abs(want) if want else 0.0
POINTS = "points", lambda seen, want: 100 * abs((seen or 0.0) - want)
WRONG = "wrong", lambda seen, want: float(seen != want)
OF_BOUND = "% of the bound", lambda seen, want: 100 * seen / want if want else 0.0
COLUMNS = (
    ("step time", "step_time_s, against the job's clock", OFF_BY),
    ("mean step", "step_mean_s, against the job's clock", OFF_BY),
    ("input_wait_ratio", "input_wait_ratio of a job with a loader", POINTS),
    ("no loader", "input_wait_ratio of a job without one", POINTS),
    ("sync_wait_ratio", "sync_wait_ratio", POINTS),
    ("other wait", "waits outside the steps, against the job's clock", POINTS),
    ("verdict_share", "verdict_share, against the job's clock", POINTS),
    ("without a name", "device time without a role and a name", POINTS),
    ("programs of a step", "programs_per_step", WRONG),
    (" kind", "kind of a collective", WRONG),
    (" bytes", "bytes of a collective", WRONG),
    (" groups", "size and number of a collective's groups", WRONG),
    ("flops", "FLOPs of the matmuls", OFF_BY),
    ("checkpoint", "time in checkpoints", OFF_BY),
    (" floor", "floor_s and predicted_step_s, of what was measured", OF_BOUND),
)
BEGIN, END = "<!-- by compare.py --readme -->\n", "<!-- end -->\n"


def worst_table(seen):
    """Of (job, what, seen, want): a row for each column."""
    lines = ["| what | checks | worst | job |\n", "|---|---|---|---|\n"]
    for end, label, (unit, error) in COLUMNS:
        of = [(error(s, w), job) for job, what, s, w in seen if what.endswith(end)]
        worst, job = max(of, key=lambda pair: pair[0])
        lines.append("| %s | %d | %.3g %s | %s |\n" % (label, len(of), worst, unit,
                                                     job if worst else ""))
    return "".join(lines)


def readme_with(table):
    with open(os.path.join(HERE, "README.md"), encoding="utf-8") as f:
        text = f.read()
    before, rest = text.split(BEGIN)
    return text, before + BEGIN + table + END + rest.split(END)[1]


def short(value):
    return "%.6g" % value if isinstance(value, float) else str(value)


def read_pending():
    pending = {}
    with open(os.path.join(HERE, "pending.txt"), encoding="utf-8") as f:
        for line in f:
            line = line.split("#")[0].strip()
            if line:
                job, _, what = line.partition(": ")
                pending[job, what] = False
    return pending


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rooflint", required=True)
    parser.add_argument("--jobs", default=HERE)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--readme", action="store_true")
    args = parser.parse_args()
    passed = failed = skipped = 0
    told = []
    pending = read_pending()
    for job in sorted(os.listdir(args.jobs)):
        folder = os.path.join(args.jobs, job)
        if not os.path.exists(os.path.join(folder, "truth.json")):
            continue
        with open(os.path.join(folder, "truth.json"), encoding="utf-8") as f:
            truth = json.load(f)
        # Virtual devices are no chip of the table.
        chip = () if "device" in truth else ("--hardware", os.path.join(HERE, "host.yaml"))
        ask = Rooflint(args.rooflint, folder, chip)
        for check in CHECKS:
            for what, seen, want, right in check(job, truth, ask):
                is_pending = (job, what) in pending
                told.append((job, what, seen, want))
                if args.table:
                    print("%-18s %-20s %16s %16s %s" % (job, what, short(seen), short(want),
                                                        "" if right else "WRONG"))
                pending.pop((job, what), None)
                if right and is_pending:
                    print("FAIL %s: %s is right now; take it out of pending.txt" % (job, what))
                    failed += 1
                elif right:
                    passed += 1
                elif is_pending:
                    skipped += 1
                else:
                    print("FAIL %s: %s is %s, and %s is true" % (job, what, short(seen),
                                                                short(want)))
                    failed += 1
    for job, what in pending:
        print("FAIL pending.txt names '%s: %s', which is no check" % (job, what))
        failed += 1
    if args.jobs == HERE:
        old, new = readme_with(worst_table(told))
        if args.readme:
            with open(os.path.join(HERE, "README.md"), "w", encoding="utf-8") as f:
                f.write(new)
        elif old != new:
            print("FAIL README.md: its table is not of today; write it with --readme")
            failed += 1
        else:
            passed += 1
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    sys.exit(failed > 0)


main()
