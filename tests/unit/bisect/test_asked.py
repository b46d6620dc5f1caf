"""What a bisection is asked, the specs of its steps, and files of arms."""

from __future__ import annotations

import pytest

from mitigauge.core.errors import InvalidInput
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.spec import read_spec
from mitigauge.tracking.bisect.question import (
    Question,
    StepArm,
    arm_name,
    parameters_of,
    point_of,
    step_text,
)
from mitigauge.tracking.bisect.sources import from_arms
from tests.specs import CATALOG, HOSTS

ASKED = Question(("alpha",), "spin", {"size": 1})


def test_a_step_is_a_spec_like_any_other() -> None:
    arms = [StepArm("p00", "knob/off"), StepArm("p04", "knob/on", "7.2.12-mg0123456789")]
    text = step_text(ASKED, arms, name="bisect-1-step-2", question="Is it before?", blocks=3,
                     profiled=True)  # fmt: skip
    spec = read_spec(text, name="step", catalog=CATALOG, hosts=HOSTS)
    [comparison] = spec.comparisons
    assert (comparison.baseline, spec.blocks_of(comparison)) == ("p00", 3)
    assert [(arm.mode, arm.kernel) for arm in comparison.arms] == [
        ("knob/off", ""), ("knob/on", "7.2.12-mg0123456789"),
    ]  # fmt: skip
    assert comparison.workloads[0].profile is not None


@pytest.mark.parametrize("point", [0, 7, 99, 100, 4096])
def test_a_point_is_known_by_its_arm_s_name(point: int) -> None:
    assert point_of(arm_name(point)) == point


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ({"budget_boots": 3}, "--boots is 3"),
        ({"budget_hours": float("nan")}, "--hours is nan"),
        ({"confidence": 1.0}, "--confidence is 1"),
        ({"minimum_effect_percent": -1}, "--minimum-effect is -1"),
        ({"hosts": ()}, "no host is named"),
    ],
)
def test_what_cannot_be_asked_is_refused(said: dict[str, object], value: str) -> None:
    with pytest.raises(InvalidInput, match=value):
        Question(**{"hosts": ("alpha",), "workload": "spin", **said})  # type: ignore[arg-type]


def test_parameters_are_words_or_numbers() -> None:
    assert parameters_of(["test=basic", "size=3", "seconds=0.5"]) == {
        "test": "basic", "size": 3, "seconds": 0.5,
    }  # fmt: skip
    for wrong in (["basic"], ["=x"], ["a=1", "a=2"]):
        with pytest.raises(InvalidInput, match="is no parameter, or stands twice"):
            parameters_of(wrong)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("arms: []", "arms.yml:1"),
        ("arms: [{name: a, mode: knob/off}]", "arms.yml:1"),
        ("arms:\n - {name: a, mode: x/y}\n - {name: b, mode: x/y}\n", "arm 'b' is the same"),
        ("arms:\n - {name: a, mode: x/y}\n - {name: b, mode: x/z}\n - {name: c, mode: x/y}\n",
         "the first and the last arm are the same"),
        ("arms:\n - {name: a, mode: x/y, speed: 3}\n - {name: b, mode: x/z}\n", "speed"),
    ],
)  # fmt: skip
def test_a_file_of_arms_that_makes_no_sense_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        from_arms(text, "arms.yml", ASKED)
    assert said in refused.value.message


def test_the_lab_s_own_file_of_arms_is_one() -> None:
    from mitigauge.core.settings import REPOSITORY

    text = (REPOSITORY / "tests" / "fixtures" / "bisect-modes.yml").read_text()
    draft = from_arms(text, "arms.yml", ASKED)
    assert [change.title for change in draft.changes] == [
        "plain to counted", "counted to cleared", "cleared to both",
    ]  # fmt: skip
    assert {mode for place in draft.places for mode in place.mode.split("+")} <= set(
        Catalog().mode_names
    )
