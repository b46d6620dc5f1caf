"""Ready-made specs for other hosts: each is still a spec, and only what was asked changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mitigauge.core.errors import InvalidInput
from mitigauge.core.settings import REPOSITORY
from mitigauge.core.yaml_file import parse_yaml
from mitigauge.measurement.experiments.adapt import adapt
from mitigauge.measurement.experiments.ready_made import ReadyMadeSpec, show_ready_made

SPECS = sorted((REPOSITORY / "experiments").glob("*.yml"))


def data(text: str) -> dict[str, Any]:
    return parse_yaml(text, "spec").data


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_only_environment_and_hosts_change(path: Path) -> None:
    spec = show_ready_made(path.stem)
    adapted = data(adapt(spec, "metal", ["epyc-1", "epyc-2"]))
    expected = data(spec.text)
    expected["environment"] = "metal"
    for comparison in expected["comparisons"]:
        comparison["hosts"] = ["epyc-1", "epyc-2"]
    assert adapted == expected


def test_every_arm_gets_the_kernel() -> None:
    text = adapt(show_ready_made("vmscape-cover-letter"), "metal", ["epyc-1"], "built/v8")
    arms = data(text)["comparisons"][0]["arms"]
    assert arms == [
        {"name": "off", "mode": "vmscape/off", "kernel": "built/v8"},
        {"name": "ibpb", "mode": "vmscape/ibpb", "kernel": "built/v8"},
        {"name": "bhb-clear", "mode": "vmscape/bhb-clear", "kernel": "built/v8"},
    ]
    # What the file said of itself is not true of this one.
    assert text.startswith(
        "# From experiments/vmscape-cover-letter.yml, for epyc-1 of metal.\nname:"
    )
    assert "copy it" not in text


def test_a_kernel_that_is_there_is_replaced_and_lists_of_lines_are_taken() -> None:
    text = """\
# Old.
name: x
environment: lab  # kept
comparisons:
  - name: a
    hosts:
      - one
      - two
    baseline: b
    arms:
      - name: b
        mode: vmscape/off
      - {name: c, mode: vmscape/off, kernel: 6.1.0}
    workloads: []
"""
    spec = ReadyMadeSpec(name="x", question="", environment="lab", text=text)
    adapted = adapt(spec, "metal", ["h"], "built/v9")
    assert "environment: metal  # kept\n" in adapted
    [comparison] = data(adapted)["comparisons"]
    assert comparison["hosts"] == ["h"]
    assert [arm["kernel"] for arm in comparison["arms"]] == ["built/v9", "built/v9"]
    assert comparison["workloads"] == []


@pytest.mark.parametrize("name", ["123", "0x10", "1e5", "07", "null", "True", "no", "7.20", "a.b"])
def test_a_name_stays_text(name: str) -> None:
    adapted = data(adapt(show_ready_made("vmscape-cover-letter"), "metal", [name], name))
    [comparison] = adapted["comparisons"]
    assert comparison["hosts"] == [name]
    assert {arm["kernel"] for arm in comparison["arms"]} == {name}


@pytest.mark.parametrize("name", ["a,b", "#x", "*a", "a: b", "~", "x, y", "a\nb", "", "]"])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="is no name of an environment, a host or a kernel"):
        adapt(show_ready_made("vmscape-cover-letter"), "metal", [name])


def test_a_comparison_without_arms_takes_no_kernel() -> None:
    spec = show_ready_made("attack-vectors")
    with pytest.raises(InvalidInput, match="has no arms that could be given a kernel"):
        adapt(spec, "metal", ["h"], "built/v9")
