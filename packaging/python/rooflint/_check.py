"""rooflint.check: the program is run, and its report.json becomes dataclasses."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from typing import Iterator, Mapping, Optional, Sequence, Union

from rooflint._report import Document, Finding, Report

Path = Union[str, "os.PathLike[str]"]

USAGE = 2  # exit status: the command line or the rule file is wrong


class Error(Exception):
    """rooflint could not judge anything: what it said, and its exit status."""

    def __init__(self, text: str, status: int):
        super().__init__(text)
        self.status = status


@dataclasses.dataclass(frozen=True)
class Result:
    """What a check said: its exit status, its text as on a terminal, and report.json."""

    status: int
    text: str
    document: Document

    @property
    def ok(self) -> bool:
        """No rule failed, every profile could be read, and what must be judged was."""
        return self.status == 0

    @property
    def reports(self) -> Sequence[Report]:
        """One for each profile."""
        return self.document.reports

    @property
    def report(self) -> Report:
        """The report of the one profile that was checked."""
        [report] = self.document.reports
        return report

    @property
    def findings(self) -> Sequence[Finding]:
        """Of all profiles, the worst first within each."""
        return [f for r in self.document.reports for f in r.findings]


def _places() -> Iterator[str]:
    yield sysconfig.get_path("scripts")
    yield sysconfig.get_path("scripts", "nt_user" if os.name == "nt" else "posix_user")
    yield os.path.join(os.path.dirname(os.path.dirname(__file__)), "bin")  # pip --target
    yield os.path.dirname(sys.executable)


def binary() -> str:
    """The path of the program that this package brought."""
    for place in _places():
        path = os.path.join(place, "rooflint")
        if os.access(path, os.X_OK):
            return path
    found = shutil.which("rooflint")
    if not found:
        raise Error("the program rooflint is not there: install the wheel again", USAGE)
    return found


def _list(value: Union[None, Path, Sequence[Path]]) -> Sequence[str]:
    if value is None:
        return []
    if isinstance(value, (str, os.PathLike)):
        return [os.fspath(value)]
    return [os.fspath(v) for v in value]


def check(
    *profiles: Path,
    rules: Optional[Path] = None,
    baseline: Union[None, Path, Sequence[Path]] = None,
    previous: Union[None, Path] = None,
    job: Optional[Path] = None,
    hardware: Optional[Path] = None,
    hlo: Optional[Path] = None,
    set: Optional[Mapping[str, object]] = None,
    fail_on: Optional[str] = None,
    html: Optional[Path] = None,
    junit: Optional[Path] = None,
    options: Sequence[str] = (),
) -> Result:
    """Judge profiles as `rooflint check` does; its manual says what each argument means.

    `set` maps RULE.PARAM to a value, and `options` are given to the program as they are.
    Raises Error where the command line or the rule file is wrong.
    """
    command = [binary(), "check", "--color", "never"]
    for name, value in [("rules", rules), ("previous", previous), ("job", job),
                        ("hardware", hardware), ("hlo", hlo), ("fail-on", fail_on),
                        ("html", html), ("junit", junit)]:
        if value is not None:
            command += ["--" + name, os.fspath(value)]
    for one in _list(baseline):
        command += ["--baseline", one]
    for key, setting in (set or {}).items():
        command += ["--set", "%s=%s" % (key, setting)]
    with tempfile.TemporaryDirectory(prefix="rooflint-") as folder:
        path = os.path.join(folder, "report.json")
        command += ["--json", path, *options, "--", *_list(profiles)]
        ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             encoding="utf-8", errors="replace", check=False)
        if ran.returncode < 0 or not os.path.exists(path):
            raise Error(ran.stderr.strip() or "rooflint ended with %d" % ran.returncode,
                        ran.returncode)
        with open(path, encoding="utf-8") as f:
            document = Document.from_json(json.load(f))
    return Result(ran.returncode, ran.stdout + ran.stderr, document)
