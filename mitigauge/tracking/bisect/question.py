"""What a bisection is asked: which figure, where, how sure and at what cost. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from mitigauge.core.errors import InvalidInput

FEWEST_BOOTS = 16
MOST_BOOTS = 10_000
LONGEST_HOURS = 24.0 * 31
_NUMBER = re.compile(r"[+-]?(\d+)(\.\d+)?")


@dataclass(frozen=True, slots=True)
class Question:
    """A figure of one case, on hosts that are alike, and the budget of finding out.

    *metric*: empty for the workload's primary one. *minimum_effect_percent*: ends that differ by
    less are refused.
    """

    hosts: tuple[str, ...]
    workload: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    metric: str = ""
    environment: str = "lab"
    minimum_effect_percent: float = 0.5
    confidence: float = 0.95
    budget_boots: int = 300
    budget_hours: float = 48.0

    def __post_init__(self) -> None:
        _within("--boots", self.budget_boots, FEWEST_BOOTS, MOST_BOOTS)
        _within("--hours", self.budget_hours, 0.1, LONGEST_HOURS)
        _within("--confidence", self.confidence, 0.5, 0.9999)
        _within("--minimum-effect", self.minimum_effect_percent, 0.01, 1000.0)
        if not self.hosts:
            raise InvalidInput("no host is named", hint="Give --host; `mitigauge host list`.")

    @property
    def minimum_effect(self) -> float:
        """The same as a difference of natural logarithms."""
        return math.log1p(self.minimum_effect_percent / 100)


@dataclass(frozen=True, slots=True)
class StepArm:
    """One point as an arm: its name, mode, and kernel (empty: the host's own)."""

    name: str
    mode: str
    kernel: str = ""


def arm_name(point: int) -> str:
    """``p03``: what a point is called in experiments."""
    return f"p{point:02d}"


def point_of(arm: str) -> int:
    """The point of an arm's name. Raises ValueError for another name."""
    return int(arm.removeprefix("p"))


def step_text(
    asked: Question,
    arms: Sequence[StepArm],
    *,
    name: str,
    question: str,
    blocks: int,
    layouts: int = 1,
    profiled: bool = False,
) -> str:
    """The spec of one step, as YAML: its points as arms, the first one the baseline."""
    case: dict[str, Any] = {"workload": asked.workload, "cases": dict(asked.parameters)}
    if asked.metric:
        case["primary"] = [asked.metric]
    if profiled:
        case["profile"] = True
    comparison: dict[str, Any] = {
        "name": "points",
        "hosts": list(asked.hosts),
        "baseline": arms[0].name,
        "arms": [
            {"name": arm.name, "mode": arm.mode} | ({"kernel": arm.kernel} if arm.kernel else {})
            for arm in arms
        ],
        "workloads": [case],
    }
    if layouts > 1:
        comparison["layouts"] = layouts
    whole = {
        "name": name,
        "question": question,
        "environment": asked.environment,
        "blocks": blocks,
        "comparisons": [comparison],
    }
    # Quoted as YAML 1.2 wants it: a mode or a value may be called `off`.
    return str(yaml.safe_dump(whole, sort_keys=False, allow_unicode=True, width=96))


def parameters_of(words: Sequence[str]) -> dict[str, str | int | float]:
    """Parameters written ``name=value``. Raises InvalidInput for another form."""
    found: dict[str, str | int | float] = {}
    for word in words:
        name, sign, value = word.partition("=")
        if not sign or not name or name in found:
            raise InvalidInput(
                f"--case {word[:80]!r} is no parameter, or stands twice",
                hint="Give NAME=VALUE, for example --case test=basic.",
            )
        number = _NUMBER.fullmatch(value)
        found[name] = value if not number else float(value) if number[2] else int(value)
    return found


def _within(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise InvalidInput(f"{name} is {value:g}", hint=f"Give {low:g} to {high:g}.")
