#!/usr/bin/env python3
"""Every scenario against every rule.

    python3 tests/scenarios/run.py [-v] [SCENARIO...]

Builds the scenarios of table.toml (tests/builder/scenarios) into a temporary
directory, lets `rooflint check` judge them and compares its verdicts with those
the table expects.  ROOFLINT names the program.  A cell marked as known is a gap
that is documented: it counts as skipped while it is there.

What a row states is counted, each cell once.  The verdicts that it leaves to the
defaults are compared too and count as one: nothing else was said.
"""

import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUILDER = os.path.join(os.path.dirname(HERE), "builder")
sys.path.insert(0, BUILDER)
if sys.version_info < (3, 11):
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)

import tomllib

import build
import derive

VERDICTS = {"pass": ".", "fail": "F", "warn": "w", "inconclusive": "?", "not-applicable": "-"}
OPEN = {"inconclusive", "not-applicable"}
ABSENT = "no such rule"


class Counts:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def line(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def program():
    """The rooflint to test, as an absolute path."""
    top = os.path.dirname(os.path.dirname(HERE))
    return os.path.abspath(
        os.environ.get("ROOFLINT") or os.path.join(top, os.environ.get("O", "build"), "rooflint")
    )


def write(spec, out):
    """Build a scenario's files below `out`."""
    for name, data in build.kept(spec).items():
        path = os.path.join(out, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)


def check(directory, more=()):
    """{rule: result}, {rule: first finding's message} and facts of `rooflint check`.

    "RULE fix" has the advice of that finding.

    Each result gets what its findings are credited with, in seconds per step.
    """
    report = os.path.join(directory, "report.json")
    command = [
        program(),
        "check",
        "--rules",
        "recommended",
        "-q",
        "--json",
        report,
        *more,
        directory,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
    if not os.path.exists(report):
        raise RuntimeError(
            f"status {done.returncode}: {done.stderr.strip() or done.stdout.strip()}"
        )
    with open(report, encoding="utf-8") as file:
        text = json.load(file)["reports"][0]
    if text.get("error"):
        raise RuntimeError(f"not read: {text['error']}")
    messages, credits = {}, collections.Counter()
    for finding in text["findings"]:
        messages.setdefault(finding["rule"], finding["message"])
        messages.setdefault(finding["rule"] + " fix", finding.get("fix") or "")
        credits[finding["rule"]] += finding.get("gain_s") or 0
    messages["notes"] = "\n".join(note["text"] for note in text.get("notes", []))
    results = {r["name"]: r | {"credit_s": credits[r["name"]]} for r in text["results"]}
    return results, messages, text["facts"]


def spec_of(row):
    """The scenario that a row of the table builds."""
    spec = derive.changed(derive.load(scenario_path(row["build"])), row.get("change", {}))
    return derive.merged(spec, row.get("spec", {}))


def write_row(row, out):
    write(spec_of(row), out)


def baselines(row, box):
    """Options that compare with the row's `baseline`: a scenario and the seeds of its runs."""
    base, more = row.get("baseline", {}), []
    for seed in base.get("seeds", ()):
        out = os.path.join(box, f"base-{seed}")
        spec = derive.merged(base.get("spec", {}), {"seed": seed, "run": f"2026_03_{seed}_09_26_53"})
        write_row({**base, "spec": spec}, out)
        more += ["--baseline", out]
    return more


def judged(row):
    """What `check` says about a row's scenario, or why it said nothing."""
    with tempfile.TemporaryDirectory() as box:
        out = os.path.join(box, "head")
        write_row(row, out)
        more = [*row.get("options", ()), *baselines(row, box)]
        if "rules" in row:
            more += ["--rules", os.path.join(out, "rules.yaml")]
            with open(more[-1], "w", encoding="utf-8") as file:
                file.write(row["rules"])
        try:
            return check(out, more)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            return str(error)


def scenario_path(name):
    return os.path.join(BUILDER, "scenarios", name + ".toml")


# --- the table ------------------------------------------------------------------------


def expectations(table, row):
    """{rule: (verdict, why)} of a scenario: the defaults, the blocks it names, its own cells."""
    out = {}
    for part in (table["default"], *(table["like"][name] for name in row.get("like", ())), row):
        for verdict in VERDICTS:
            for rule, why in part.get(verdict, {}).items():
                out[rule] = (verdict, why)
        if part.get("open") == "all":  # what the row does not name cannot be judged
            own = named(table, row)
            out = {r: c if r in own else ("open", row["why"]) for r, c in out.items()}
    return {r: c for r, c in out.items() if r not in row.get("ignore", [])}


def named(table, row):
    parts = [row, *(table["like"][name] for name in row.get("like", ()))]
    return {rule for part in parts for verdict in VERDICTS for rule in part.get(verdict, {})}


def verdict_of(results, rule):
    return results[rule]["verdict"] if rule in results else ABSENT


def describe(results, messages, rule):
    """What rooflint said about a rule."""
    reason = results.get(rule, {}).get("reason")
    return messages.get(rule) or reason or "(no message)"


class Table:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.toml = tomllib.load(file)
        self.counts, self.results, self.rules = Counts(), {}, []
        self.gaps, self.closed, self.unlisted = [], [], set()

    def row(self, name, row, judgement):
        """Compare one scenario with its row; its line of the matrix."""
        if isinstance(judgement, str):
            self.error(name, row, judgement)
            return
        results, messages, facts = judgement
        self.results[name] = results
        expected = expectations(self.toml, row)
        self.rules = self.rules or list(results)
        self.unlisted |= set(results) - set(expected) - set(row.get("ignore", []))
        marks = {rule: VERDICTS[results[rule]["verdict"]] for rule in results}
        wrong = False  # among what the row does not state
        for rule, (want, why) in expected.items():
            got, known = verdict_of(results, rule), row.get("known", {}).get(rule)
            right = got == want or (want == "open" and got in OPEN)
            if not right:
                marks[rule] = "*" if known else "!"
            if right and known:
                self.closed.append(f"{name}, {rule}")
            text = f"{name}, {rule}: expected {want}, got {got}: " \
                f"{describe(results, messages, rule)}\n       expected because {why}"
            if known or rule in named(self.toml, row):
                self.expect(right, text, known)
            elif not right:
                wrong = True
                print(f"FAIL {text}")
        self.counts.passed += not wrong
        self.counts.failed += wrong
        known = row.get("known", {})
        for rule, pattern in row.get("says", {}).items():  # a message must name the culprit
            said = describe(results, messages, rule)
            self.expect(re.search(pattern, said), f"{name}, {rule} does not say /{pattern}/: {said}",
                        known.get(rule + ".says"))
        for rule, pattern in row.get("advises", {}).items():  # what to do, of these causes alone
            said = messages.get(rule + " fix", "(nothing)")
            self.expect(re.search(pattern, said), f"{name}, {rule} does not advise /{pattern}/: {said}")
        credits = {rule: results[rule]["credit_s"] for rule in row.get("credits", {})}
        numbers = row.get("facts", {}) | row.get("credits", {})
        for fact, want in numbers.items():  # a real value may be 2% off
            got = (facts | credits).get(fact)
            close = isinstance(want, float) and abs(got - want) <= 0.02 * want
            self.expect(got == want or close, f"{name}, {fact} is {got}, expected {want}",
                        known.get(fact))
        print(f"  {name:24s} {''.join(marks.get(r, ' ') for r in self.rules)}", flush=True)

    def error(self, name, row, error):
        """rooflint refused; that can be what the scenario asks for."""
        refused = re.search(row.get("refused", "(?!)"), error)
        self.expect(refused, f"{name}: {error}")
        if refused:
            print(f"  {name:24s} refused: {error}")

    def expect(self, right, text, known=None):
        """Count one thing that the table states; `known` says why it does not hold today."""
        if right:
            self.counts.passed += 1
        elif known:
            self.counts.skipped += 1
            self.gaps.append(f"{text}\n       known: {known}")
        else:
            self.counts.failed += 1
            print(f"FAIL {text}")

    def same(self, name, other, row):
        """Two forms of one program: the same verdict of every rule."""
        if name not in self.results or other not in self.results:
            return
        mine, theirs = self.results[name], self.results[other]
        differ = [rule for rule in mine if verdict_of(mine, rule) != verdict_of(theirs, rule)]
        known = row.get("differs", {})
        for rule in set(differ) & set(known):
            self.expect(False, f"{name}, {rule} is not as in {other}", known[rule])
        self.expect(set(differ) <= set(known), f"{name} is the same program as {other}, but not in "
                    + ", ".join(f"{rule}: {verdict_of(mine, rule)}, not {verdict_of(theirs, rule)}"
                                for rule in differ if rule not in known))

    # --- nothing green by absence -----------------------------------------------------

    def removal(self, row, judgement):
        """A healthy scenario without one input: who needed it must not be green."""
        name = f"{row.get('base', 'train-scan')} without {row['name']}"
        if isinstance(judgement, str):
            self.expect(False, f"{name}: {judgement}")
            return
        results, messages, _ = judgement
        for rule in row["needed"]:
            problem = self.needed(row, rule, results, messages)
            self.expect(not problem, f"{name}, {rule} {problem}", row.get("known", {}).get(rule))
        for rule in row.get("kept", []):
            self.expect(verdict_of(results, rule) == "pass",
                        f"{name}, {rule} should not need it: {describe(results, messages, rule)}")
        open_rules = [r for r in results if results[r]["verdict"] in OPEN]
        print(f"  without {row['name']:30s} {len(open_rules)} of {len(results)} rules open")

    def needed(self, row, rule, results, messages):
        """What is wrong about a rule that lacks what it needs, or None."""
        verdict = verdict_of(results, rule)
        if verdict not in OPEN:
            return f"is {verdict}"
        # A gate that is open itself tells what is missing on behalf of those that wait for it.
        said = " ".join(
            describe(results, messages, r)
            for r in [rule, *results]
            if r in (rule, "data-quality")
            or (results[r]["gate"] and results[r]["verdict"] in OPEN | {"fail"})
        )
        if not re.search(row["named"], said, re.I):
            return f"is {verdict}, but nothing says /{row['named']}/: {said}"
        return None

    def all_removed(self, gone):
        """A rule that no removal asks about could be green by absence."""
        needed = {rule for row in gone for rule in row["needed"]}
        never = [rule for rule in self.rules if rule not in needed]
        self.expect(not never, f"nothing that these need is ever removed: {', '.join(never)}")

    # --- all of it --------------------------------------------------------------------

    def run(self, names, verbose):
        chosen = lambda name: not names or name in names
        rows = {n: {"build": n, **r} for n, r in self.toml["scenario"].items() if chosen(n)}
        gone = [r for r in self.toml.get("removal", []) if chosen(r["name"])]
        gone = [{"build": r.get("base", "train-scan"), **r} for r in gone]
        with concurrent.futures.ProcessPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
            judgements = pool.map(judged, [*rows.values(), *gone])
            for name, row in rows.items():
                self.row(name, row, next(judgements))
            for row in gone:
                self.removal(row, next(judgements))
        if not names:
            self.all_removed(gone)
        for name in self.results:
            if "same" in rows[name]:
                self.same(name, rows[name]["same"], rows[name])
        self.legend()
        if verbose:
            for text in self.gaps:
                print("gap  " + text)
        for text in self.closed:
            print(f"note: a known gap is closed, drop its mark: {text}")
        if self.unlisted:
            print("note: rules without an expectation: " + ", ".join(sorted(self.unlisted)))
        return self.counts

    def legend(self):
        print("\n  columns: " + " ".join(self.rules))
        print("  . pass  F fail  w warn  ? inconclusive  - not applicable  * known gap  ! wrong")


def main(argv):
    names = [a for a in argv if a != "-v"]
    if not os.access(program(), os.X_OK):
        print(f"no {program()}: build it first, or name it with ROOFLINT")
        return 2
    table = Table(os.path.join(HERE, "table.toml"))
    counts = table.run(names, "-v" in argv)
    if table.gaps:
        print(f"{len(table.gaps)} known gaps (-v shows them)")
    print(counts.line())
    return 1 if counts.failed or not counts.passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
