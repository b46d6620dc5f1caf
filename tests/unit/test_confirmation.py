"""What fresh boots say of a suspicion, and what a week may call confirmed."""

from __future__ import annotations

import random

import pytest
import yaml

from mitigauge.core.effect import Effect, Verdict
from mitigauge.tracking.regressions.confirmation import (
    ALPHA,
    FALSE_SHARE,
    Pair,
    Suspicion,
    Told,
    enough_confirmed,
    impossible,
    likely,
    outcome,
    spec_text,
)
from mitigauge.tracking.trends.schemas import Cause, CauseKind


def suspicion(**more: object) -> Suspicion:
    values = {
        "regression_id": 7, "environment": "lab", "host": "spr-01", "mode": "vmscape/off",
        "workload": "syscall", "parameters": {"test": "basic"}, "metric": "time_per_call",
        "counted": False,
        "kernel_before": "7.2.0", "kernel_after": "7.3.0", "level_before": 100.0,
        "level_after": 105.0, "causes": [],
    }  # fmt: skip
    return Suspicion(**{**values, **more})  # type: ignore[arg-type]


def told(verdict: Verdict | None, value: float = 3.0, layouts: int = 1) -> Told:
    effect = Effect(value=value, low=value - 1, high=value + 1)
    return Told(verdict, effect, 24, layouts, 100.0, "")


def pair(*, counted: bool = False) -> Pair:
    return Pair("7.2.0", "7.3.0", "spr-01", counted)


def test_both_kernels_are_arms_of_one_mode_named_as_strings() -> None:
    """`off` is no boolean: YAML 1.1 readers would make one of it."""
    spec = yaml.safe_load(spec_text(suspicion(mode="vmscape/off")))
    [comparison] = spec["comparisons"]
    assert [(arm["name"], arm["kernel"]) for arm in comparison["arms"]] == [
        ("before", "7.2.0"), ("after", "7.3.0"),
    ]  # fmt: skip
    assert {arm["mode"] for arm in comparison["arms"]} == {"vmscape/off"}


@pytest.mark.parametrize(
    ("verdict", "state"),
    [
        (Verdict.WORSE, "confirmed"),
        (Verdict.SAME, "refuted"),
        (Verdict.BETTER, "refuted"),
        (Verdict.UNDECIDED, "undecided"),
        (None, "impossible"),
    ],
)
def test_each_verdict_says_one_thing(verdict: Verdict | None, state: str) -> None:
    answer = outcome(pair(), told(verdict, layouts=3), "the host was disturbed")
    assert answer.state == state
    assert answer.likely == ("the host was disturbed" if state == "refuted" else "")


@pytest.mark.parametrize(
    ("layouts", "counted", "state", "words"),
    [
        (3, False, "confirmed", "in 3 builds of each"),
        (1, False, "slower-builds", "slower in these two builds"),
        (2, False, "slower-builds", "it may be where their code lies"),
        # Of instructions no layout changes the number.
        (1, True, "confirmed", "side by side on spr-01"),
    ],
)
def test_in_real_time_two_builds_that_differ_confirm_nothing(
    layouts: int, counted: bool, state: str, words: str
) -> None:
    answer = outcome(pair(counted=counted), told(Verdict.WORSE, layouts=layouts), "")
    assert answer.state == state
    assert words in answer.why


@pytest.mark.parametrize(
    ("level", "words"),
    [
        (100.0, "disturbed for a while"),
        (101.0, "disturbed for a while"),
        (102.5, "cannot be told"),
        (104.0, "something other than the kernel changed"),
        (108.0, "something other than the kernel changed"),
        (None, "cannot be told"),
        (-1.0, "cannot be told"),
    ],
)
def test_the_old_kernel_s_level_of_today_tells_what_it_was(level: float | None, words: str) -> None:
    assert words in likely(suspicion(), level)


def test_what_changed_beside_the_kernel_stands_there() -> None:
    causes = [
        Cause(kind=CauseKind.KERNEL, what="kernel", before="7.2.0", after="7.3.0"),
        Cause(kind=CauseKind.MICROCODE, what="microcode", before="0x1", after="0x2"),
    ]
    said = likely(suspicion(causes=causes), 105.0)
    assert "microcode 0x1 to 0x2" in said
    assert "7.3.0" not in said
    assert "nothing of it is recorded" in likely(suspicion(), 105.0)


@pytest.mark.parametrize(
    "more", [{"kernel_before": ""}, {"kernel_after": ""}, {"kernel_after": "7.2.0"}]
)
def test_without_two_kernels_nothing_can_be_measured(more: dict[str, str]) -> None:
    assert impossible(suspicion(**more))
    assert impossible(suspicion()) == ""


@pytest.mark.parametrize(
    ("confirmed", "decided", "enough"),
    [(0, 0, False), (0, 9, False), (1, 1, True), (1, 5, True), (1, 6, False), (2, 10, True)],
)
def test_a_week_needs_one_of_five_confirmed(confirmed: int, decided: int, enough: bool) -> None:
    assert enough_confirmed(confirmed, decided) is enough


@pytest.mark.parametrize(("real", "power"), [(0, 0.0), (1, 0.9), (3, 0.5), (10, 0.9)])
def test_at_most_five_of_a_hundred_are_false_over_weeks(real: int, power: float) -> None:
    """40 suspicions a week of which so many are real; the mean share of false ones."""
    draw = random.Random(real)
    shares = []
    for _ in range(4000):
        true = sum(draw.random() < power for _ in range(real))
        false = sum(draw.random() < ALPHA for _ in range(40 - real))
        said = enough_confirmed(true + false, 40)
        shares.append(false / (true + false) if said else 0.0)
    assert sum(shares) / len(shares) <= FALSE_SHARE
    # Without the rule a fleet in which nothing changes has false ones in every third week.
    assert sum(false > 0 for false in shares) < 0.4 * len(shares)
