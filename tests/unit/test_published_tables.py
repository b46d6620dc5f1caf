"""Every published figure has a spec that would measure it, and a short form that runs on the lab.

The published tables stand in experiments/claims/, a row for each figure with its source.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import pytest

from mitigauge.analysis.claims.files import ClaimEntry, ClaimFile, claim_files, read_claims
from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.checks import check_text
from mitigauge.measurement.experiments.spec_model import (
    ArmSpec,
    ComparisonSpec,
    ExperimentSpec,
    cases_of,
)
from mitigauge.measurement.modes.crossing import parts
from mitigauge.measurement.workloads.definitions import Value

CATALOG = Catalog()
LAB = "lab"
FILES = [read_claims(path) for path in claim_files()]
EVERY = [(file, entry) for file in FILES for entry in file.claims]
ROWS = [(file, entry) for file, entry in EVERY if entry.mode]
# Figures published: of each table in all, so that no row is lost from a file.
PUBLISHED = {
    "bhb-loop-variants": 10,
    "ibrs-ibpb-loss": 18,
    "mbec-exits": 2,
    "ovs-wakeups": 1,
    # Eight rows, and two latencies that are given in words.
    "vmscape-v7-desktop": 10,
    "vmscape-v8-iperf": 42,
}
# What no emulated host has, and why.
NOT_ON_THE_LAB = {
    ("desktop", "power"): "emulated processors count no energy",
}


@dataclass(frozen=True)
class Measured:
    """A case of a comparison in one of our specs."""

    spec: ExperimentSpec
    comparison: ComparisonSpec
    workload: str
    parameters: dict[str, Value]


def name_of(row: tuple[ClaimFile, ClaimEntry]) -> str:
    file, entry = row
    case = " ".join(str(value) for value in entry.case.values())
    return " ".join(
        filter(None, [file.name, case, entry.metric, entry.arm or entry.mode, entry.note])
    )


@cache
def measured() -> list[Measured]:
    """Every case of every spec that comes with us."""
    found = []
    for path in sorted((REPOSITORY / "experiments").glob("*.yml")):
        spec, _ = check_text(path.read_text(), name=path.name, catalog=CATALOG)
        for comparison in spec.comparisons:
            for wanted in comparison.workloads:
                workload = CATALOG.workloads[wanted.workload]
                found += [
                    Measured(spec, comparison, wanted.workload, case)
                    for case in cases_of(workload, wanted)
                ]
    return found


def of_metric(file: ClaimFile, entry: ClaimEntry) -> Iterator[Measured]:
    """Cases that give the claimed metric."""
    for one in measured():
        metrics = CATALOG.workloads[one.workload].metrics_of(one.parameters)
        if one.workload == file.workload and entry.metric in metrics:
            yield one


def is_arm(arm: ArmSpec, mode: str, name: str) -> bool:
    return arm.mode == mode and name in ("", arm.name)


def answers(one: Measured, file: ClaimFile, entry: ClaimEntry) -> bool:
    """Whether the case's comparison has both arms of the claim, and the case is the claimed one."""
    baseline = next(arm for arm in one.comparison.arms if arm.name == one.comparison.baseline)
    return (
        entry.case.items() <= one.parameters.items()
        and is_arm(baseline, file.baseline, file.baseline_arm)
        and any(is_arm(arm, entry.mode, entry.arm) for arm in one.comparison.arms)
    )


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_a_published_figure_has_a_spec_for_fitting_hosts(row: tuple[ClaimFile, ClaimEntry]) -> None:
    file, entry = row
    found = [
        one for one in of_metric(file, entry)
        if one.spec.environment != LAB and answers(one, file, entry)
    ]  # fmt: skip
    assert found, f"no spec of experiments/ measures {name_of(row)} against {file.baseline}"
    # What it is of is said beside it: the row's own claims file.
    text = (REPOSITORY / "experiments" / f"{found[0].spec.name}.yml").read_text()
    assert "claims/" in text or "cover letter" in text


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_a_published_figure_s_spec_has_a_short_form_on_the_lab(
    row: tuple[ClaimFile, ClaimEntry],
) -> None:
    file, entry = row
    if (file.workload, entry.metric) in NOT_ON_THE_LAB:
        return
    families = {family for family, _ in parts(file.baseline)}
    there = [
        one for one in of_metric(file, entry)
        if one.spec.environment == LAB and one.spec.name.startswith("lab-")
    ]  # fmt: skip
    assert there, f"nothing on the lab gives {file.workload} {entry.metric}"
    # Of the same case, as far as the lab has it, and of the same families, where it can be in them.
    if file.workload == "window":
        return
    close = [
        one for one in there
        if entry.case.items() <= one.parameters.items()
        and families <= {f for arm in one.comparison.arms for f, _ in parts(arm.mode)}
    ]  # fmt: skip
    assert close, f"no short form of {name_of(row)}"


def test_what_the_lab_lacks_is_lacking_there() -> None:
    for workload, metric in NOT_ON_THE_LAB:
        assert not [
            one for one in measured()
            if one.spec.environment == LAB and one.workload == workload
            and metric in CATALOG.workloads[workload].metrics_of(one.parameters)
        ]  # fmt: skip


def test_no_row_of_a_published_table_is_missing() -> None:
    counted = {file.name: len(file.claims) for file in FILES if file.name in PUBLISHED}
    assert counted == PUBLISHED


def test_what_cannot_be_set_up_says_why_and_what_can_is_of_the_same_thing() -> None:
    """Of the loss matrix of 2018: a barrier at each entry is none at switches of programs."""
    [losses] = [file for file in FILES if file.name == "ibrs-ibpb-loss"]
    reasons = [entry.without for entry in losses.claims if entry.without]
    assert len([why for why in reasons if "barrier at each entry" in why]) == 9
    assert len([why for why in reasons if "isolation of page tables" in why]) == 3
    assert {e.mode for e in losses.claims if e.mode} == {
        "ibrs/entry+ibpb/off",
        "ibrs/always+ibpb/off",
    }
    haswell = next(e for e in losses.claims if e.mode == "ibrs/entry+ibpb/off")
    # 16 % lost of an unpatched kernel's speed, where isolation alone lost 4 %.
    assert haswell.change == pytest.approx(100 * (0.84 / 0.96 - 1), abs=0.05)


def test_every_claim_is_of_a_known_workload_metric_and_mode() -> None:
    for file, entry in ROWS:
        workload = CATALOG.workloads[file.workload]
        assert entry.metric in workload.metrics, name_of((file, entry))
        assert set(entry.case) <= set(workload.parameters), name_of((file, entry))
        for mode in (file.baseline, entry.mode):
            for family, one in parts(mode):
                assert one in CATALOG.families[family].modes, mode
