"""Modes that do all that another one does, and more: they may cost, and cannot win by that."""

from __future__ import annotations

import pytest

from mitigauge.analysis.verdicts.cells import SECOND_LOOK, cells_of
from mitigauge.analysis.verdicts.judgement import Answer, ArmValues, CaseQuestion, Design
from mitigauge.core.stats.verdicts import judge
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.metric import CaseMetric
from mitigauge.measurement.modes.crossing import outdoes
from mitigauge.measurement.modes.families import ModeFamily

FAMILIES = Catalog().families
METRIC = CaseMetric(unit="ns", direction="lower", title="t", primary=True, delta_percent=1.0)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("vmscape/ibpb", "vmscape/off", True),
        ("vmscape/bhb-clear", "vmscape/off", True),
        ("vmscape/bhb-clear", "vmscape/ibpb", False),
        ("vmscape/off", "vmscape/ibpb", False),
        ("vmscape/off", "vmscape/off", False),
        ("l1d-flush/always", "l1d-flush/never", True),
        ("pti/on", "vmscape/off", False),
        ("pti/on+vmscape/ibpb", "vmscape/off+pti/off", True),
        ("pti/off+vmscape/ibpb", "pti/off+vmscape/off", True),
        ("pti/off+vmscape/ibpb", "pti/on+vmscape/off", False),
    ],
)
def test_what_does_more_than_another(one: str, other: str, *, expected: bool) -> None:
    assert outdoes(one, other, FAMILIES) is expected


@pytest.mark.parametrize(
    ("above", "problem"), [("b", "would do more than itself"), ("x", "no mode 'x'")]
)
def test_an_order_that_is_none_is_refused(above: str, problem: str) -> None:
    state = {"expect": [{"file": "f", "equals": "s"}]}
    modes = {"a": {**state, "more_than": above}, "b": {**state, "more_than": "a"}}
    with pytest.raises(ValueError, match=problem):
        ModeFamily.model_validate({"family": "f", "title": "t", "modes": modes})


@pytest.mark.parametrize("factor", [0.95, 1.05])
@pytest.mark.parametrize("outdoing", [True, False])
def test_a_costlier_mode_that_wins_is_marked(*, factor: float, outdoing: bool) -> None:
    noise = [1.0, 1.001, 0.999, 1.0005]
    means = {0: {b: 100 * v for b, v in enumerate(noise, 1)},
             1: {b: 100 * factor * v for b, v in enumerate(reversed(noise), 1)}}  # fmt: skip
    verdicts = judge(means, baseline=0, direction="lower", planned_blocks=4)
    values = {arm: ArmValues(means=of) for arm, of in means.items()}
    design = Design([0, 1], 0, 4, outdoing=frozenset({1} if outdoing else ()))
    judged = Answer(CaseQuestion(1, "time", METRIC), values, verdicts)
    cell = cells_of([judged], design, {})[1]
    assert cell.verdict == ("better" if factor < 1 else "worse")
    assert (SECOND_LOOK in cell.note) is (outdoing and factor < 1)
