"""The spec that asks of a host how often another spec's verdicts are right there."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from mitigauge.core.errors import InvalidInput
from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.checks import check_text
from mitigauge.measurement.experiments.qualification import fewest_looked_at, qualifying_spec

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
    assert re.fullmatch(r"qualify-two-[0-9a-f]{8}", spec["name"])
    assert (spec["environment"], spec["blocks"]) == ("lab", 5)
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


def test_specs_that_ask_something_else_have_other_names_and_the_same_one_has_the_same() -> None:
    """Rates are kept by the name of the experiments."""
    long = "a" * 60
    names = [
        qualified(SPEC.replace("name: two", f"name: {long}").replace("blocks: 5", f"blocks: {n}"))
        for n in (5, 6, 5)
    ]
    one, other, again = (spec["name"] for spec in names)
    assert one == again != other
    assert len(one) <= 60


def test_what_comparisons_ask_alike_is_asked_once() -> None:
    # A profile is left out, so that both ask the same.
    assert [each["name"] for each in qualified(SPEC, host="lab-intel")["comparisons"]] == ["one"]
    unlike = SPEC.replace("  - name: elsewhere\n", "  - name: elsewhere\n    blocks: 7\n")
    names = [each["name"] for each in qualified(unlike, host="lab-intel")["comparisons"]]
    assert names == ["one", "elsewhere"]


@pytest.mark.parametrize("blocks", [2, 5])
def test_too_few_blocks_to_tell_anything_are_remarked(blocks: int) -> None:
    text = qualifying_spec(SPEC.replace("blocks: 5", f"blocks: {blocks}"), "two.yml", "lab-amd")
    assert fewest_looked_at(text) == blocks
    unsaid = qualifying_spec(SPEC.replace("blocks: 5\n", ""), "two.yml", "lab-amd")
    assert fewest_looked_at(unsaid) == 4


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
