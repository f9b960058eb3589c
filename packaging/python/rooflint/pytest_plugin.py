"""A pytest plugin: the fixture `rooflint_check`.

    def test_train_step_is_fast(rooflint_check, tmp_path):
        with rooflint.capture(tmp_path, steps=10) as steps:
            for _ in steps:
                state, loss = train_step(state, batch)
        rooflint_check(tmp_path)

The test fails with what rooflint says of the profile, as on a terminal.
"""

from __future__ import annotations

import os
from typing import Any, Callable

import pytest

from rooflint._check import Result, check


@pytest.fixture
def rooflint_check(request: pytest.FixtureRequest) -> Callable[..., Result]:
    """rooflint.check, but a verdict that is not good fails the test.

    Without `rules` it is the rooflint.yaml in the test's folder or above, up to pytest's root.
    """

    def find_rules() -> Any:
        folder, root = request.path.parent, request.config.rootpath
        while True:
            path = folder / "rooflint.yaml"
            if path.exists():
                return path
            if folder in (root, folder.parent):
                return None
            folder = folder.parent

    def run(*profiles: Any, **arguments: Any) -> Result:
        __tracebackhide__ = True
        if "rules" not in arguments:
            arguments["rules"] = find_rules()
        result = check(*profiles, **arguments)
        for report in result.reports:
            request.node.user_properties.append(
                ("rooflint:" + os.path.basename(report.profile), report.verdict))
        if not result.ok:
            pytest.fail(result.text, pytrace=False)
        return result

    return run
