"""The spec that asks of a host how often another spec's verdicts are right there."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from mitigauge.core.errors import InvalidInput
from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.checks import check_text
from mitigauge.measurement.experiments.qualification import qualifying_spec

EXPERIMENTS = REPOSITORY / "experiments"
SPEC = """
name: two
question: Which?
environment: lab
blocks: 5
limits: [{metric: time, at_most_percent: 3}]
comparisons:
  - name: one
    hosts: [lab-amd, lab-intel]
    baseline: off
    arms: [{name: off, mode: vmscape/off}, {name: ibpb, mode: vmscape/ibpb}]
    workloads: [{workload: syscall, cases: {test: basic}, profile: {hz: 99}}]
  - name: elsewhere
    hosts: [lab-intel]
    baseline: off
    arms: [{name: off, mode: vmscape/off}, {name: ibpb, mode: vmscape/ibpb}]
    workloads: [{workload: syscall, cases: {test: basic}}]
"""


def qualified(text: str, host: str = "lab-amd", percent: int = 2) -> dict[str, Any]:
    return dict(yaml.safe_load(qualifying_spec(text, "two.yml", host, percent)))


def test_it_boots_nothing_but_the_baseline_of_what_is_measured_on_the_host() -> None:
    spec = qualified(SPEC, percent=5)
    assert (spec["name"], spec["environment"], spec["blocks"]) == ("qualify-two", "lab", 5)
    assert "limits" not in spec
    [comparison] = spec["comparisons"]
    assert comparison == {
        "name": "one", "hosts": ["lab-amd"], "baseline": "off", "aa": True, "slowed_percent": 5,
        "arms": [{"name": "off", "mode": "vmscape/off"}],
        "workloads": [{"workload": "syscall", "cases": {"test": "basic"}}],
    }  # fmt: skip


def test_a_crossed_baseline_is_one_arm_of_both_modes() -> None:
    arms = "    arms: [{name: off, mode: vmscape/off}, {name: ibpb, mode: vmscape/ibpb}]\n"
    crossed = SPEC.replace("baseline: off", "baseline: off.auto", 1).replace(
        arms, "    cross: [vmscape, mitigations]\n", 1
    )
    [comparison] = qualified(crossed)["comparisons"]
    assert comparison["arms"] == [{"name": "off.auto", "mode": "vmscape/off+mitigations/auto"}]


@pytest.mark.parametrize(
    ("text", "host", "expected"),
    [
        (SPEC, "lab-arm", "two.yml measures nothing on lab-arm"),
        (SPEC.replace("baseline: off", "baseline: none"), "lab-amd", "no arm that is its baseline"),
        ("comparisons: 3", "lab-amd", "no list of comparisons"),
        ("[]", "lab-amd", "two.yml"),
    ],
)
def test_what_it_cannot_ask_is_refused_by_name(text: str, host: str, expected: str) -> None:
    with pytest.raises(InvalidInput, match=expected):
        qualified(text, host)


def test_it_can_be_asked_of_every_ready_spec_of_the_lab_that_has_a_baseline() -> None:
    catalog = Catalog()
    asked = 0
    for path in sorted(EXPERIMENTS.glob("lab-*.yml")):
        text = path.read_text("utf-8")
        if "factorial:" in text:
            continue
        hosts = {host for of in yaml.safe_load(text)["comparisons"] for host in of["hosts"]}
        for host in hosts:
            made = qualifying_spec(text, path.name, host)
            check_text(made, name=path.name, catalog=catalog)
            asked += 1
    assert asked > 20
