"""Generated requests, in short: see tests/fuzz/api.py for the long form."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine

from tests.api.conftest import planned
from tests.fuzz.api import end_all, fuzz


@pytest.mark.long("some thousand generated requests")
@pytest.mark.parametrize("caller", [pytest.param("nobody", marks=pytest.mark.deep), "admin"])
def test_no_generated_request_finds_a_fault(engine: Engine, home: Path, caller: str) -> None:
    planned(engine)
    end_all(engine)
    outcome = fuzz(engine, caller, examples=2, folder=home, seed=1)
    assert not outcome.failed, outcome.said
    assert len(outcome.requests) >= 20
    # What takes no parameter leaves little to vary; boundaries come on top of what is random.
    assert min(outcome.requests.values()) >= 1
    assert outcome.requests.total() > 400
