"""rooflint: a linter for accelerator performance.

    import rooflint

    with rooflint.capture("runs/today", steps=10) as steps:
        for _ in steps:
            state, loss = train_step(state, batch)

    result = rooflint.check("runs/today", rules="rooflint.yaml")
    assert result.ok, result.text

It needs the standard library alone; `capture` needs jax.
"""

from rooflint._capture import Capture, capture
from rooflint._check import Error, Result, binary, check
from rooflint._report import Document, Finding, Report, Result as RuleResult, Table

__all__ = ["Capture", "Document", "Error", "Finding", "Report", "Result", "RuleResult", "Table",
           "binary", "capture", "check"]
