"""The timing program on a host: the module that runs it there, and what is made of its answer.

The program and the module are the real ones; only the way to the host is left out.
"""

from __future__ import annotations

import json
import platform
import subprocess
from pathlib import Path
from typing import Any

import pytest

from mitigauge.core.errors import MitigaugeError
from pipelines.adapters.host_answers import PricesAnswer, typed
from pipelines.adapters.price_host import time_on_host
from pipelines.adapters.price_probe import Probe, compiled
from pipelines.host_control import LabFault
from tests.loading import load

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="events of x86")
module = load("ansible/roles/price_probe/library/price_probe.py")


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Probe:
    return compiled(tmp_path_factory.mktemp("tools"), is_static=True)


class Near:
    """A host whose module runs in this process; *change* is done to its answer."""

    def __init__(self, change: dict[str, Any] | None = None) -> None:
        self.change = change or {}

    def time_prices(self, program: Path, plan: Path, *, timeout_s: float) -> Any:
        words = json.loads(plan.read_text())
        return typed(PricesAnswer, module.answer(str(program), words, 30.0) | self.change, "prices")


def timed(probe: Probe, host: Near) -> Any:
    return time_on_host(probe, host, seconds=0.1, processes=1, seed=3)  # type: ignore[arg-type]


def test_the_program_needs_nothing_of_a_host(probe: Probe) -> None:
    """A program that is linked statically asks for no interpreter."""
    shown = subprocess.run(
        ["readelf", "--program-headers", probe.file], capture_output=True, text=True, check=True
    )
    assert "LOAD" in shown.stdout
    assert "INTERP" not in shown.stdout


def test_every_event_and_working_set_comes_back_under_its_name(probe: Probe) -> None:
    told = timed(probe, Near())
    assert told.runs.keys() == {event.event for event in told.listed}
    assert all(run.event == name for name, runs in told.runs.items() for run in runs)
    assert len(told.behind["branch-eviction"]) == 19
    assert "flags" in told.cpuinfo
    assert told.kernel == platform.release()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"lines": []}, "ran 0 of"),
        ({"lines": None}, "lines"),
        ({"cpuinfo": "x" * 20_001}, "cpuinfo"),
    ],
)
def test_an_answer_that_is_none_is_a_fault_of_the_lab(
    probe: Probe, change: dict[str, Any], said: str
) -> None:
    with pytest.raises(LabFault, match=said):
        timed(probe, Near(change))


@pytest.mark.parametrize(
    "line", ["! it ended with 139: ", "not JSON", '{"event": "another", "refused": "x"}', ""]
)
def test_a_line_that_is_no_figure_is_a_fault_that_names_the_event(probe: Probe, line: str) -> None:
    class Lying(Near):
        def time_prices(self, program: Path, plan: Path, *, timeout_s: float) -> Any:
            words = json.loads(plan.read_text())
            return {"lines": [line] * len(words), "cpuinfo": "", "caches": "", "kernel": "6"}

    with pytest.raises(MitigaugeError, match="host"):
        timed(probe, Lying())


def test_a_program_that_is_none_and_a_bad_word_are_told() -> None:
    assert module.printed("/nothing", [], 1.0).startswith("!")
    assert module.printed("/bin/false", [], 1.0).startswith("! it ended with 1")
    assert module.printed("/bin/sleep", ["5"], 0.05).startswith("!")
