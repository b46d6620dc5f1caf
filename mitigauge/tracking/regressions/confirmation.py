"""What fresh boots of two kernels say of a change that values over time showed. Pure.

A change point is a suspicion: in a series of values that depend on each other, on a host whose
firmware or neighbours change, some are false at any threshold. Boots of the kernel before and of
the kernel after, side by side on one host, are an experiment, and have its error rates.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mitigauge.core.documents import units
from mitigauge.core.effect import Effect, Verdict
from mitigauge.core.stats.terms import LAYOUTS
from mitigauge.measurement.workloads.definitions import Value
from mitigauge.tracking.bisect.question import Question, StepArm, step_text
from mitigauge.tracking.regressions.states import ConfirmationState
from mitigauge.tracking.trends.schemas import Cause, CauseKind

# Blocks that an experiment may take; it ends as soon as both are told apart, or are alike. Of these
# 99 % of steps of two deviations of a boot are found (bench.truth.confirmed).
BLOCKS = 20
ARMS = ("before", "after")
BOOTS = BLOCKS * len(ARMS)
# An experiment says *worse* of two kernels that are alike at most so often; and among all that a
# week calls confirmed at most so much may be false.
ALPHA = 0.01
FALSE_SHARE = 0.05
# Where the old kernel's level of today lies on the way from before (0) to after (1).
NEAR_BEFORE, NEAR_AFTER = 0.35, 0.65
# Causes that a sentence names.
MOST_CAUSES = 3


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A change point, as far as measuring it again needs it."""

    regression_id: int
    environment: str
    host: str
    mode: str
    workload: str
    parameters: Mapping[str, Value]
    metric: str
    counted: bool
    """Whether its host's time is instructions, which no layout moves."""
    kernel_before: str
    kernel_after: str
    level_before: float
    """In the metric's unit."""
    level_after: float
    causes: Sequence[Cause]


def impossible(of: Suspicion) -> str:
    """Why two kernels cannot tell it; empty where they can be measured."""
    if not of.kernel_before or not of.kernel_after:
        return "the kernel of the values before or after it is not known"
    if of.kernel_before == of.kernel_after:
        return f"the values before and after it ran on one kernel, {of.kernel_before}" + (
            f"; what changed: {_in_words(of.causes)}" if of.causes else ""
        )
    return ""


def spec_text(of: Suspicion, layouts: int = 1) -> str:
    """The experiment that tells it: both kernels as arms, in the mode of the trend.

    *layouts*: in how many builds, alike but for layout, each of them is booted.
    """
    asked = Question(
        (of.host,), of.workload, dict(of.parameters), of.metric, environment=of.environment
    )
    kernels = (of.kernel_before, of.kernel_after)
    arms = [StepArm(name, of.mode, kernel) for name, kernel in zip(ARMS, kernels, strict=True)]
    return step_text(
        asked, arms, name=f"confirm-{of.regression_id}", blocks=BLOCKS, layouts=layouts,
        question=f"Is {of.kernel_after} slower than {of.kernel_before}, as regression "
        f"{of.regression_id} says?",
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pair:
    """Two kernels that were booted side by side."""

    kernel_before: str
    kernel_after: str
    host: str
    counted: bool
    """Whether the host's time is instructions, which no layout moves."""

    def describe(self) -> str:
        """As a sentence names them."""
        return f"{self.kernel_after} against {self.kernel_before}, side by side on {self.host}"


@dataclass(frozen=True, slots=True)
class Told:
    """What the experiment came to."""

    verdict: Verdict | None
    """Of the kernel after, against the one before; None: there is none."""
    effect: Effect | None
    boots: int
    layouts: int
    """Builds of each kernel that they were spread over."""
    level: float | None
    """Of the kernel before, today; in the metric's unit."""
    faults: str
    """Why boots are missing, in their own words."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is said of the suspicion."""

    state: ConfirmationState
    why: str
    likely: str = ""


def outcome(pair: Pair, told: Told, explanation: str) -> Outcome:
    """What the boots say. *explanation*: what the change was likely to be if they refute it."""
    if told.effect is None or told.verdict is None:
        return Outcome(
            ConfirmationState.IMPOSSIBLE,
            f"no boots of both kernels could be compared: {told.faults or 'none was measured'}",
        )
    measured = f"{units.effect(told.effect)} over {told.boots} boots, {pair.describe()}"
    if told.verdict is Verdict.WORSE:
        return _slower(pair, told.layouts, measured)
    if told.verdict is Verdict.UNDECIDED:
        return Outcome(ConfirmationState.UNDECIDED, f"neither slower nor the same: {measured}")
    word = "the same" if told.verdict is Verdict.SAME else "faster"
    return Outcome(ConfirmationState.REFUTED, f"{word}: {measured}", explanation)


def _slower(pair: Pair, layouts: int, measured: str) -> Outcome:
    if pair.counted:
        return Outcome(ConfirmationState.CONFIRMED, f"slower: {measured}")
    # Two binaries that differ are no evidence of two sources that differ.
    if layouts >= LAYOUTS:
        spread = f"in {layouts} builds of each that differ in layout alone"
        return Outcome(ConfirmationState.CONFIRMED, f"slower: {measured}, {spread}")
    return Outcome(
        ConfirmationState.SLOWER_BUILDS,
        f"slower in these two builds: {measured}; it may be where their code lies. With each "
        f"kernel built in {LAYOUTS} layouts (`mitigauge kernel build --layouts "
        f"{LAYOUTS}`) it can be confirmed",
    )


def likely(of: Suspicion, level: float | None) -> str:
    """What a change was that two kernels do not show, by what the old one takes today."""
    place = _place(of, level)
    if place is None or NEAR_BEFORE <= place <= NEAR_AFTER:
        return "what it was cannot be told: the old kernel takes neither of both levels today"
    if place < NEAR_BEFORE:
        return (
            "the old kernel takes today what it took before the change: the host was disturbed for "
            "a while"
        )
    others = [cause for cause in of.causes if cause.kind is not CauseKind.KERNEL]
    known = f": {_in_words(others)}" if others else ", and nothing of it is recorded"
    return (
        "the old kernel takes today what was measured after the change: something other than the "
        f"kernel changed{known}"
    )


def _place(of: Suspicion, level: float | None) -> float | None:
    """From 0, as before, to 1, as after; None where that cannot be said."""
    values = (of.level_before, of.level_after, level or 0.0)
    if min(values) <= 0 or of.level_before == of.level_after:
        return None
    step = math.log(of.level_after / of.level_before)
    return math.log((level or 0.0) / of.level_before) / step


def _in_words(causes: Sequence[Cause]) -> str:
    told = [f"{cause.what} {cause.before} to {cause.after}" for cause in causes[:MOST_CAUSES]]
    more = len(causes) - len(told)
    return ", ".join(told) + (f" and {more} more" if more > 0 else "")


def enough_confirmed(confirmed: int, decided: int) -> bool:
    """Whether all that one week's experiments confirmed may be called so, of so many *decided*.

    e-BH (Wang and Ramdas, JRSS B 84, 2022): an experiment that says *worse* is an e-value of
    1 / ALPHA, and 0 otherwise; the k of m that are not 0 are taken where k / (ALPHA m) is 1 /
    FALSE_SHARE or more. The expected share of false ones is then FALSE_SHARE at most, however the
    experiments depend on each other.
    """
    return confirmed > 0 and confirmed * FALSE_SHARE >= decided * ALPHA
