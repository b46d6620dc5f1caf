"""Each workload's parser reads what was recorded, started as a worker starts it."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from mitigauge.core.settings import REPOSITORY
from mitigauge.storage.files.confinement import run_confined
from pipelines.steps.parser import PARSER_LIMITS

WORKLOADS = REPOSITORY / "workloads"
RECORDED = sorted(path.parent for path in WORKLOADS.glob("*/fixtures/*/case.json"))


def test_every_workload_has_a_recorded_pass() -> None:
    parsers = {path.parent.name for path in WORKLOADS.glob("*/parse.py")}
    assert {path.parent.parent.name for path in RECORDED} == parsers


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda path: f"{path.parts[-3]}-{path.name}")
def test_a_recorded_pass_is_read(recorded: Path) -> None:
    parser = recorded.parent.parent / "parse.py"
    printed = run_confined(parser, [recorded], name="parse.py", limits=PARSER_LIMITS)
    assert orjson.loads(printed)["metrics"]
