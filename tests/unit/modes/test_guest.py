"""A guest's settings: asked of the workload, proven by its result."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from mitigauge.core.errors import InvalidInput
from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.catalog import Catalog
from pipelines.steps.parser import checked, timed_pass
from tests.fuzz.builders import spin_case
from tests.fuzz.results import BODY
from tests.loading import load

IRQCHIP = "machine.kernel_irqchip"
exits = load("workloads/exits/run")
parsing = load("workloads/exits/parse.py")


def body(**more: object) -> bytes:
    return json.dumps({**BODY, **more}).encode()


def test_a_result_whose_guest_got_what_was_asked_is_taken() -> None:
    asked = timed_pass(spin_case(), {IRQCHIP: "split"})
    assert checked(body(guest={IRQCHIP: "split"}), asked).body.guest == {IRQCHIP: "split"}


@pytest.mark.parametrize("told", [{}, {"guest": {}}, {"guest": {IRQCHIP: "on"}}])
def test_a_result_whose_guest_got_something_else_is_not(told: dict[str, object]) -> None:
    asked = timed_pass(spin_case(), {IRQCHIP: "split"})
    with pytest.raises(InvalidInput, match=f"to get {IRQCHIP} = split; it has"):
        checked(body(**told), asked)


def test_what_the_host_is_asked_names_the_settings() -> None:
    assert json.loads(timed_pass(spin_case(), {IRQCHIP: "on"}).to_json())["guest"] == {
        IRQCHIP: "on"
    }


def test_exits_takes_its_interrupt_controllers_and_nothing_else() -> None:
    assert exits.asked_of_guest({}) == {}
    assert exits.asked_of_guest({"guest": {IRQCHIP: "on"}}) == {IRQCHIP: "on"}
    assert Catalog().workloads["exits"].guest_settings == (IRQCHIP,)
    for wrong in ({"cpu": "EPYC"}, {IRQCHIP: "maybe"}):
        with pytest.raises(exits.contract.CaseError):
            exits.asked_of_guest({"guest": wrong})


def test_the_parser_repeats_what_the_guest_showed(tmp_path: Path) -> None:
    case = shutil.copytree(REPOSITORY / "workloads/exits/fixtures/to-userspace", tmp_path / "case")
    assert parsing.parse(case)["guest"] == {}
    record = json.loads((case / "run.json").read_text())
    (case / "run.json").write_text(json.dumps({**record, "guest": {IRQCHIP: "off"}}))
    assert parsing.parse(case)["guest"] == {IRQCHIP: "off"}
